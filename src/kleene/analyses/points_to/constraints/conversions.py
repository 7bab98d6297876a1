"""Which functions does a program convert to a type that takes other arguments?

C has it that a call passes what the function takes (C11, 6.5.2.2), and a call through a pointer
reaches, of the functions that its pointer may hold, those of the same number of parameters. Real
programs convert, all the same: `visit(list, (visitor)free)` calls free with two arguments. A
conversion leaves no trace in LLVM's code, where all pointers have one type, but its use does. A
function of n parameters is *converted*, and then a call of any number of arguments reaches it, if

1. a direct call passes it another number: declarations of several files disagree;
2. its address is put where, by assignments, arguments and results, through variables and fields
   that the code names, it flows to calls with other numbers, and to none with its own (`flowing`,
   before anything is solved): so is `free` above, though another call may pass it one argument;
3. it is held by calls with other numbers only (`held`, after solving): its address came there
   through memory of no known type, and there is nobody else to call it.

A call that holds functions, but none of its number, reaches all that it holds: there is nobody else
to be called. After 3, and after such calls are found, the constraints are solved again.

A call without a prototype (`int (*f)()`), and one of a function of variable arguments, reaches all
functions; so does what a model, or code outside, calls. What is left to be assumed: a function that
some calls pass the right number of arguments is not also called, through memory of no known type,
with another number at calls that have targets of that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.constraints.assumptions import Assumptions
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import (
    ArgumentRule,
    CallTable,
    FunctionTable,
    named_arguments,
)
from kleene.analyses.points_to.constraints.reachability import spread
from kleene.analyses.points_to.memory_model import ConstraintSystem
from kleene.base.arrays import I64, U64, Bools, Ints, distinct
from kleene.ir.codes import GlobalKind, Opcode, TypeFlag, TypeKind, ValueKind
from kleene.ir.program import Program
from kleene.ir.tables import Constants, Instructions
from kleene.solvers.inclusion import Solution


def n_parameters(program: Program) -> I64:
    """Return how many arguments each function takes, -1 for any number."""
    table = program.function_table
    is_variadic = program.types.flags[program.globals.type[table.value]] & TypeFlag.VARARG != 0
    return np.where(is_variadic, -1, np.diff(table.argument_offsets)).astype(np.int64)


# Before solving


def flowing(builder: PointerBuilder, functions: FunctionTable, calls: CallTable) -> Bools:
    """Return the functions that direct calls, or flows to calls by name, show to be converted."""
    columns = builder.columns
    takes = n_parameters(columns.program)
    n_passed, is_variadic = named_arguments(columns, calls)
    found = np.zeros(len(takes), bool)
    direct = (calls.function >= 0) & ~calls.is_indirect
    function = calls.function[direct]
    differs = (takes[function] >= 0) & (takes[function] != np.diff(calls.offsets)[direct])
    found[function[differs]] = True
    chosen = calls.is_indirect & ~is_variadic
    if chosen.any():
        flows = _Flows(builder)
        flows.spread(calls.callee[chosen], _bit(n_passed[chosen]))
        for put, numbers in flows.functions():
            is_other = (takes[put] >= 0) & (numbers & _bit(takes[put]) == 0)
            found[put[is_other & (numbers != 0)]] = True
    return found & ~functions.is_intrinsic


def _bit(number: I64) -> U64:
    """Return sets of one number each; numbers from 63 on are one."""
    return np.uint64(1) << np.clip(number, 0, 63).astype(np.uint64)


class _Flows:
    """The numbers of arguments that each node is called with, wherever its value flows by names.

    Nodes are those of the constraints, and behind them one for each variable and field that loads
    and stores name: a global or local variable, and field f of struct type T wherever it is.
    """

    def __init__(self, builder: PointerBuilder) -> None:
        self._program = builder.columns.program
        self._fields = _Fields(builder.columns, builder.n_nodes)
        copies, loads, stores = (builder.rows(name) for name in ("copy", "load", "store"))
        self._copied = copies["copy_destination"], copies["copy_source"]
        self._loaded = loads["load_destination"], loads["load_pointer"]
        written = self._fields.slots(stores["store_pointer"])
        self._stored = written[written >= 0], stores["store_source"][written >= 0]
        self._filled = self._fields.filled(builder)
        self._numbers = np.zeros(self._fields.n_nodes, np.uint64)

    def spread(self, callees: I64, numbers: U64) -> None:
        """Take numbers of arguments from what is called to all that flows there."""
        np.bitwise_or.at(self._numbers, callees, numbers)
        while True:
            self._step(*self._copied)
            loaded, pointer = self._loaded
            is_called = self._numbers[loaded] != 0
            slot = self._fields.slots(pointer[is_called])
            named = slot >= 0
            if not self._step(loaded[is_called][named], slot[named]):
                return
            self._step(*self._stored)

    def functions(self) -> Iterator[tuple[Ints, U64]]:
        """Yield functions (rows), and the numbers of arguments where their addresses are put."""
        function_of = self._program.globals.function
        for to, source in (self._copied, self._stored, self._filled):
            named = np.flatnonzero(source < len(function_of))
            named = named[function_of[source[named]] >= 0]
            yield function_of[source[named]], self._numbers[to[named]]

    def _step(self, destination: Ints, source: Ints) -> bool:
        """Give sources the numbers of their destinations; return whether that changed any."""
        changed = False
        while True:
            numbers = self._numbers[destination]
            new = np.flatnonzero(numbers & ~self._numbers[source])
            if not len(new):
                return changed
            np.bitwise_or.at(self._numbers, source[new], numbers[new])
            changed = True


class _Fields:
    """The variables and fields that addresses name, as numbers from `first` on."""

    def __init__(self, columns: Columns, first: int) -> None:
        self._columns, self._first, program = columns, first, columns.program
        self._is_pointers = _are_pointers(program)
        self.n_nodes = first + program.n_values + len(program.types.elements)

    def slots(self, pointers: Ints) -> I64:
        """Return the variable or field that each pointer is the address of; -1: none is named."""
        is_value = pointers < self._columns.program.n_values
        found = np.full(len(pointers), -1)
        found[is_value] = self._named(pointers[is_value])
        return found

    def _named(self, pointers: Ints) -> I64:
        program = self._columns.program
        found = np.full(len(pointers), -1)
        is_global = pointers < len(program.globals)
        kinds = program.globals.kind[np.where(is_global, pointers, 0)]
        is_local = self._columns.opcode_of(pointers) == Opcode.ALLOCA
        own = (is_global & (kinds == GlobalKind.VARIABLE)) | is_local
        found[own] = self._first + pointers[own]
        bases = program.bases
        for first, end, table in (
            (bases[ValueKind.CONSTANT], bases[ValueKind.ARGUMENT], program.constants),
            (bases[ValueKind.INSTRUCTION], program.n_values, program.instructions),
        ):
            inside = np.flatnonzero((pointers >= first) & (pointers < end))
            rows = pointers[inside] - first
            chosen = table.opcode[rows] == Opcode.GETELEMENTPTR
            found[inside[chosen]] = self._elements(table, rows[chosen])
        return found

    def filled(self, builder: PointerBuilder) -> tuple[I64, I64]:
        """Return pairs (variable or field, function) of the functions in initial values."""
        program, fills = self._columns.program, builder.rows("fill")
        n_globals = len(program.globals)
        is_function = np.append(program.globals.function >= 0, False)
        chosen = is_function[np.minimum(fills["source"], n_globals)]
        site = builder.notes("allocation")["site"][fills["allocation"][chosen]]
        function, byte = fills["source"][chosen], fills["offset"][chosen]
        of_global = (site >= 0) & (site < n_globals)
        site, function, byte = site[of_global], function[of_global], byte[of_global]
        type_id = program.globals.type[site]
        field = self._fields_at(type_id.tolist(), byte.tolist())
        variable = np.where((byte == 0) | self._is_pointers[type_id], self._first + site, -1)
        to, source = np.append(variable, field), np.append(function, function)
        return to[to >= 0], source[to >= 0]

    def _elements(self, table: Instructions | Constants, rows: Ints) -> I64:
        """Return what getelementptr leads to: the last field it names, or an array's variable."""
        types, operands = self._columns.program.types, table.operands
        type_id = table.about[rows].astype(np.int64)
        position, end = table.offsets[rows] + 2, table.offsets[rows + 1]
        base = operands[table.offsets[rows]]
        is_array = self._is_pointers[type_id] & (base < len(self._columns.program.globals))
        found = np.where(is_array, self._first + base, -1)
        while (inside := position < end).any():
            index = operands[np.where(inside, position, 0)]
            is_constant, number = self._columns.constant(index)
            is_struct = inside & (types.kind[type_id] == TypeKind.STRUCT) & is_constant
            element = types.offsets[type_id] + np.where(is_struct, number, 0)
            field = self._first + self._columns.program.n_values + element
            found = np.where(is_struct, field, found)
            has_parts = inside & np.isin(types.kind[type_id], (TypeKind.STRUCT, TypeKind.ARRAY))
            type_id = np.where(has_parts, types.elements[np.where(has_parts, element, 0)], type_id)
            position = position + 1
        return found

    def _fields_at(self, type_ids: list[int], bytes_: list[int]) -> I64:
        """Return the fields of the innermost structs at bytes of types; -1 where there is none."""
        types, first = self._columns.program.types, self._first + self._columns.program.n_values
        struct, array = int(TypeKind.STRUCT), int(TypeKind.ARRAY)

        @cache
        def field_at(type_id: int, byte: int) -> int:
            """Return the field at a byte of a type that is no array."""
            parts = types.elements_of(type_id).tolist() if types.kind[type_id] == struct else []
            if not parts:
                return -1
            starts = types.field_offsets_of(type_id)
            field = int(np.searchsorted(starts, byte, side="right")) - 1
            inner = field_at(*element(parts[field], byte - int(starts[field])))
            return inner if inner >= 0 else first + int(types.offsets[type_id]) + field

        def element(type_id: int, byte: int) -> tuple[int, int]:
            while types.kind[type_id] == array:
                type_id = element_of[type_id]
                byte %= max(size[type_id], 1)
            return type_id, byte

        size = types.size.tolist()
        element_of = {
            row: int(types.elements[types.offsets[row]])
            for row in np.flatnonzero(types.kind == array).tolist()
        }
        pairs = zip(type_ids, bytes_, strict=True)
        return np.array([field_at(*element(*pair)) for pair in pairs], np.int64)


def _are_pointers(program: Program) -> Bools:
    """Return which types are pointers, or arrays of nothing else."""
    types = program.types
    found: Bools = types.kind == TypeKind.POINTER
    arrays = np.flatnonzero(types.kind == TypeKind.ARRAY)
    spread(found, arrays, types.elements[types.offsets[arrays]])
    return found


# After solving


class Held(NamedTuple):
    """What calls through pointers hold, by the number of arguments."""

    converted: I64  # functions (rows) that are converted, and were not known to be
    open_calls: I64  # calls (instructions) that reach all they hold, and were not known to
    n_left_out: int  # functions that some call holds and, for their number, does not reach


def held(program: Program, system: ConstraintSystem, solution: Solution, rule: str) -> Held:
    """Return the functions that are converted, as the calls that hold them show."""
    rows, types = _function_rows(program, system), program.globals.type
    takes = n_parameters(program)[rows]
    if rule == ArgumentRule.TYPES:
        takes = np.where(takes < 0, takes, types[program.function_table.value[rows]])
    takes[system.is_converted[rows]] = -1
    calls = _Calls.of(program, system, solution, rule)
    is_exact = calls.accepts(takes)
    has_caller = solution.escaped[system.problem.function_object].copy()
    has_caller[solution.call_edges[:, 1]] = True
    n_sites = int(calls.site.max(initial=-1)) + 1
    is_open = np.bincount(calls.site, minlength=n_sites) > 0
    is_open[calls.site[is_exact]] = False
    has_caller[calls.function[is_open[calls.site]]] = True
    converted = distinct(rows[calls.function[~is_exact & ~has_caller[calls.function]]])
    known = calls.written_site < n_sites
    opened = calls.written[known][is_open[calls.written_site[known]]]
    left_out = distinct(calls.function[~is_exact & ~is_open[calls.site]])
    return Held(converted.astype(np.int64), opened.astype(np.int64), len(left_out))


def assumed(rule: str, system: ConstraintSystem, held: Held) -> Iterator[str]:
    """Yield what is assumed of calls, where that leaves a function out."""
    if rule == ArgumentRule.ANY or not held.n_left_out:
        return
    what = "types" if rule == ArgumentRule.TYPES else "numbers of arguments"
    n_converted = int(system.is_converted.sum())
    but = f", but for {n_converted} that the program converts" if n_converted else ""
    functions = "1 function" if held.n_left_out == 1 else f"{held.n_left_out} functions"
    yield Assumptions.CALLS.said(f"{functions} that calls of other {what}", but)


class _Calls(NamedTuple):
    """Pairs of a call with a signature, and a function that its pointer holds."""

    site: I64  # distinct (row of the solution, signature)
    function: I64  # of the problem
    signature: I64  # a number of arguments, or a type
    written: Ints  # the calls (instructions)
    written_site: Ints  # and the site that each is

    @classmethod
    def of(
        cls, program: Program, system: ConstraintSystem, solution: Solution, rule: str
    ) -> _Calls:
        call = system.origins.call
        is_callback = np.zeros(len(call), bool)
        is_callback[system.callbacks.reshape(-1, 2)[:, 1]] = True
        written = call[~is_callback & (call >= 0)]
        signature = program.instructions.about[written]
        is_filtered = program.types.flags[signature] & TypeFlag.VARARG == 0
        written = written[is_filtered & ~np.isin(written, system.open_calls)]
        signature = program.instructions.about[written]
        n_passed = np.diff(program.types.offsets)[signature] - 1
        passed = signature if rule == ArgumentRule.TYPES else n_passed
        table = program.instructions
        row = solution.row_of[table.operands[table.offsets[written]]]
        every = row.astype(np.int64) << 32 | passed
        key = distinct(every)
        rows, numbers = key >> 32, key & 0xFFFFFFFF
        function_of = np.full(system.problem.n_objects, -1)
        function_of[system.problem.function_object] = np.arange(system.problem.n_functions)
        each, which = np.unique(rows, return_inverse=True)
        sets = [function_of[solution.rows.objects(r)] for r in each.tolist()]
        # C++ calls virtual functions by their types: others do not reach them.
        is_plain = np.append(~system.only_in_tables[_function_rows(program, system)], False)
        sets = [functions[is_plain[functions]] for functions in sets]
        lengths = np.array([len(functions) for functions in sets], np.int64)[which]
        function = np.concatenate([np.empty(0, np.int64), *(sets[i] for i in which.tolist())])
        site = np.repeat(np.arange(len(key)), lengths)
        return cls(site, function, numbers[site], written, np.searchsorted(key, every))

    def accepts(self, takes: I64) -> Bools:
        """Return which functions have the signature of the call, or any."""
        wanted = takes[self.function]
        found: Bools = (wanted < 0) | (wanted == self.signature)
        return found


def _function_rows(program: Program, system: ConstraintSystem) -> Ints:
    """Return for each function of the problem its row among the program's functions."""
    allocation = system.locations.allocation[system.problem.function_object]
    return program.globals.function[system.allocations.site[allocation]]
