"""Small functions of C++ that only move pointers: each of their calls has constraints of its own.

`std::unique_ptr` reads, moves and stores its pointer by functions that all unique pointers of a
type share. With one set for `this` of all calls, each would hold what any of them holds:

    T *get(this):           return this->pointer;        the result of every call: all pointers
    move(this, other):      this->pointer = other->pointer;

A function has a *summary*, if it is seldom more than this: what it returns, and what it stores
where, as expressions over its arguments,

    e = argument i │ value v │ e + n bytes │ *e │ e or e

and a call by name adds constraints for these with its own actuals in the place of arguments.
Whatever else a function does (other calls, arithmetic, copies of memory) stays in its body as it
is, and what comes of it is a *value* in expressions. The body keeps its nodes, and gets the actuals
of all calls, so every set in it covers all runs; but stores that a summary has are left out there.
That needs that all calls are by name: nobody has the function's address, or enters it.

A function that calls one with a summary has what comes of that in its own; cycles have none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.construction import Construction
from kleene.analyses.points_to.constraints.functions import (
    CallTable,
    FunctionTable,
    function_of_value,
    is_visible,
)
from kleene.analyses.points_to.constraints.type_tests import TypeTests
from kleene.analyses.points_to.constraints.values import gep_offsets
from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.offset_edges import EdgeKind
from kleene.base.arrays import I64, Bools, Ints
from kleene.ir.codes import CALLS, GlobalFlag, Opcode, Passing, TypeFlag, TypeKind, ValueKind

_MOST_INSTRUCTIONS = 48  # of a function with a summary
_MOST_PARTS = 12  # of an expression
_MOST_STORES = 6
_MANGLED = b"_Z"
# Members of an enumeration take ten times as long to look up as numbers.
_COPIES = (int(Opcode.BITCAST), int(Opcode.ADDRSPACECAST), int(Opcode.FREEZE))
_LOAD, _STORE, _RET, _GEP = (
    *(int(Opcode.LOAD), int(Opcode.STORE), int(Opcode.RET), int(Opcode.GETELEMENTPTR)),
)
_PHI, _SELECT, _CALLS = int(Opcode.PHI), int(Opcode.SELECT), tuple(int(code) for code in CALLS)


class Expression(NamedTuple):
    """What a value is, in terms of the arguments of a function; see the module."""

    kind: str  # argument, value, offset, load, either
    number: int = 0  # argument, value, or bytes
    of: tuple[Expression, ...] = ()
    edge: int = EdgeKind.ELEMENTS

    @property
    def has_argument(self) -> bool:
        """Whether an argument is a part of it."""
        return self.kind == "argument" or any(part.has_argument for part in self.of)

    @property
    def n_parts(self) -> int:
        """How many expressions it consists of."""
        return 1 + sum(part.n_parts for part in self.of)

    def with_arguments(self, actuals: list[Expression | None]) -> Expression | None:
        """Return it with the actuals of a call in the place of arguments; None: it is nothing."""
        if self.kind == "argument":
            return actuals[self.number] if self.number < len(actuals) else None
        parts = tuple(part.with_arguments(actuals) for part in self.of)
        known = tuple(part for part in parts if part is not None)
        return self._replace(of=known) if known or not self.of else None


class Store(NamedTuple):
    """A pointer is stored."""

    address: Expression
    value: Expression


@dataclass(slots=True)
class Summary:
    """What calls of a function do."""

    result: Expression | None = None
    stores: list[Store] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)  # instructions: the stores, if its own


class Accessors:
    """The functions that have summaries, and their calls."""

    def __init__(
        self,
        builder: PointerBuilder,
        functions: FunctionTable,
        calls: CallTable,
        tests: TypeTests,
        construction: Construction,
        excluded: Ints,
        library_mode: bool,
    ) -> None:
        self._builder, self._columns = builder, builder.columns
        self._program = self._columns.program
        self._functions, self._tests = functions, tests
        self._base = self._program.bases[ValueKind.INSTRUCTION]
        self._first_argument = self._program.bases[ValueKind.ARGUMENT]
        self._passed_on: set[int] = set()  # calls whose stores are in the summary of the caller
        self._summaries: dict[int, Summary | None] = {}
        self._values: dict[int, Expression | None] = {}
        self._is_open = self._may_have(construction, excluded, library_mode)
        if not self._is_open.any():
            return
        code = self._program.instructions
        self._opcode: list[int] = code.opcode.tolist()
        self._first: list[int] = code.offsets.tolist()  # operand of each instruction
        self._operands: list[int] = code.operands.tolist()
        self._callee: list[int] = calls.function_at.tolist()
        for function in np.flatnonzero(self._is_open).tolist():
            self._summary(function)

    def _may_have(self, construction: Construction, excluded: Ints, library_mode: bool) -> Bools:
        """Return which functions are small, and called by name alone."""
        program, table = self._program, self._program.function_table
        names = program.globals.name[table.value]
        first = program.blocks.instruction_offsets[table.block_offsets]
        found: Bools = program.strings.begin_with(names, _MANGLED)
        found &= (np.diff(first) > 0) & (np.diff(first) <= _MOST_INSTRUCTIONS)
        is_variadic = program.types.flags[program.globals.type[table.value]] & TypeFlag.VARARG != 0
        found &= ~is_variadic & ~np.array([m is not None for m in self._functions.model], bool)
        owner = np.repeat(np.arange(len(table)), np.diff(table.argument_offsets))
        found[owner[program.arguments.passing == Passing.BYVAL]] = False
        found[[*construction.complete_this, *construction.destructors]] = False
        found[excluded] = found[entries_of(program)] = False
        is_taken = program.globals.flags & GlobalFlag.ADDRESS_TAKEN != 0
        if library_mode:
            is_taken |= is_visible(self._columns)
        function = function_of_value(self._columns)  # of aliases, too
        found[function[is_taken & (function >= 0)]] = False
        return found

    def _summary(self, function: int) -> Summary | None:
        """Return the summary of a function; None while it is being made, and if it has none."""
        if function < 0 or function in self._summaries or not self._is_open[function]:
            return self._summaries.get(function)
        self._summaries[function] = None
        program, found, results = self._program, Summary(), list[Expression | None]()
        passed_on = []
        for row in range(*self._rows_of(function)):
            opcode = self._opcode[row]
            if opcode == _STORE:
                self._add_store(row, found)
            elif opcode == _RET:
                results += [self._expression(value) for value in self._operands_of(row)]
            elif opcode in _CALLS and (called := self._summary(self._callee[row])):
                own, _ = self._divided(called.stores, row)
                found.stores += own
                passed_on.append(row)
        if len(found.stores) > _MOST_STORES:
            return None
        signature = int(program.globals.type[program.function_table.value[function]])
        if program.types.kind[program.types.elements_of(signature)[0]] == TypeKind.POINTER:
            found.result = _either(results)
        self._passed_on.update(passed_on)
        self._summaries[function] = found
        return found

    def _rows_of(self, function: int) -> tuple[int, int]:
        blocks = self._program.function_table.block_offsets[function : function + 2]
        first, end = self._program.blocks.instruction_offsets[blocks].tolist()
        return first, end

    def _operands_of(self, row: int) -> list[int]:
        return self._operands[self._first[row] : self._first[row + 1]]

    def _add_store(self, row: int, found: Summary) -> None:
        """Add a store to a summary, if an argument says where it goes."""
        value, pointer = self._operands_of(row)
        if pointer in self._locals or not self._moves_pointer[value] or not self._aligned[row]:
            return
        address, stored = self._expression(pointer), self._expression(value)
        if address is not None and stored is not None and address.has_argument:
            found.stores.append(Store(address, stored))
            found.replaced.append(row)

    @cached_property
    def _moves_pointer(self) -> list[bool]:
        """Per value: it is a pointer, and holds something."""
        types, program = self._program.types, self._program
        is_pointer = types.kind[program.value_types] == TypeKind.POINTER
        found: list[bool] = (is_pointer & self._columns.flows).tolist()
        return found

    @cached_property
    def _flows(self) -> list[bool]:
        found: list[bool] = self._columns.flows.tolist()
        return found

    @cached_property
    def _aligned(self) -> list[bool]:
        """Per instruction: what it accesses lies at multiples of a word, if it is as large."""
        log2 = self._program.instructions.align.astype(np.int64) - 1
        found = (log2 < 0) | (1 << np.maximum(log2, 0) >= self._columns.word_bytes)
        aligned: list[bool] = found.tolist()
        return aligned

    def _divided(self, stores: list[Store], row: int) -> tuple[list[Store], list[Store]]:
        """Return what stores of a call are in the caller: over its arguments, and others."""
        if not stores:
            return [], []
        actuals = [self._expression(value) for value in self._operands_of(row)[1:]]
        own, others = list[Store](), list[Store]()
        for store in stores:
            address, value = (part.with_arguments(actuals) for part in store)
            if address is not None and value is not None:
                (own if address.has_argument else others).append(Store(address, value))
        return own, others

    def _expression(self, value: int) -> Expression | None:
        """Return what a value is over the arguments of its function; None: it holds nothing."""
        if value not in self._values:
            self._values[value] = Expression("value", value)  # in a cycle
            self._values[value] = self._found(value)
        return self._values[value]

    def _found(self, value: int) -> Expression | None:
        program, row = self._program, value - self._base
        if not self._flows[value]:
            return None
        plain = Expression("value", value)
        if not self._moves_pointer[value]:
            return plain
        if row < 0:
            argument = value - self._first_argument
            if not 0 <= argument < len(program.arguments):
                return plain
            function = (
                int(np.searchsorted(program.function_table.argument_offsets, argument, "right")) - 1
            )
            first = int(program.function_table.argument_offsets[function])
            return Expression("argument", argument - first)
        found = self._computed(row, plain)
        return found if found is None or found.n_parts <= _MOST_PARTS else plain

    def _computed(self, row: int, plain: Expression) -> Expression | None:
        """Return what an instruction computes; `plain` if that is no matter of its operands."""
        value, opcode, operands = row + self._base, self._opcode[row], self._operands_of(row)
        if value in self._tests.class_of:
            return plain
        if opcode in _COPIES:
            return self._expression(operands[0])
        if opcode == _LOAD:
            if operands[0] in self._locals:
                return self._expression(self._locals[operands[0]])
            address = self._expression(operands[0])
            return None if address is None else Expression("load", of=(address,))
        if opcode == _GEP and value in self._steps:
            source = self._expression(operands[0])
            step, edge = self._steps[value]
            return None if source is None else Expression("offset", step, (source,), edge)
        if opcode in _CALLS:
            called = self._summary(self._callee[row])
            if called is not None and called.result is not None:
                return called.result.with_arguments([self._expression(v) for v in operands[1:]])
        if opcode == _PHI:
            low, high = self._program.bases[ValueKind.BLOCK], self._base
            values = [v for v in operands if not low <= v < high]
            return _either([self._expression(v) for v in values])
        if opcode == _SELECT:
            return _either([self._expression(v) for v in operands[1:3]])
        return plain

    @cached_property
    def _locals(self) -> dict[int, int]:
        """The locals that are stored to once, and otherwise only loaded; and what is stored."""
        columns, program = self._columns, self._program
        is_slot = np.zeros(program.n_values, bool)
        is_slot[columns.results(columns.rows(Opcode.ALLOCA))] = True
        stores = columns.rows(Opcode.STORE)
        is_slot &= np.bincount(columns.operand(stores, 1), minlength=program.n_values) == 1
        is_slot[columns.operand(stores, 0)] = False
        others = [code for code in Opcode if code not in (Opcode.LOAD, Opcode.STORE)]
        is_slot[columns.all_operands(columns.rows(*others))[1]] = False
        stores = stores[is_slot[columns.operand(stores, 1)]]
        types = program.value_types[columns.operand(stores, 0)]
        stores = stores[program.types.kind[types] == TypeKind.POINTER]
        pairs = (columns.operand(stores, 1).tolist(), columns.operand(stores, 0).tolist())
        loads = columns.rows(Opcode.LOAD)
        types = program.value_types[columns.results(loads)]
        others = columns.operand(loads, 0)[program.types.kind[types] != TypeKind.POINTER]
        found = dict(zip(*pairs, strict=True))
        for local in others.tolist():
            found.pop(local, None)
        return found

    @cached_property
    def _steps(self) -> dict[int, tuple[int, int]]:
        """For each address that is a constant number of bytes behind another: (bytes, edge)."""
        columns, table = self._columns, self._program.instructions
        rows = columns.rows(Opcode.GETELEMENTPTR)
        about, starts = table.about[rows], table.offsets[rows]
        constant, strides, _ = gep_offsets(
            self._program, starts, table.offsets[rows + 1], table.operands, about
        )
        varies = strides.any(axis=1)
        behind = np.isin(table.operands[starts], columns.results(rows[varies]))
        in_bytes = (self._program.types.size[about] == 1) & (constant > 1)
        edge = np.where(in_bytes, int(EdgeKind.BYTES), int(EdgeKind.ELEMENTS))
        chosen = ~varies & ~behind
        pairs = zip(constant[chosen].tolist(), edge[chosen].tolist(), strict=True)
        return dict(zip(columns.results(rows[chosen]).tolist(), pairs, strict=True))

    @cached_property
    def replaced(self) -> I64:
        """The stores (instructions) that calls add, and the bodies need not."""
        rows = [row for summary in self._summaries.values() if summary for row in summary.replaced]
        return np.array(sorted(rows), np.int64)

    def gives_result(self, calls: CallTable) -> Bools:
        """Return which calls have their results by summaries."""
        found = {f for f, s in self._summaries.items() if s is not None and s.result is not None}
        return np.isin(calls.function, list(found))

    def generate(self, calls: CallTable) -> None:
        """Add what calls of functions with summaries do."""
        if not self._summaries:
            return
        constraints = _Constraints(self._builder)
        chosen = [f for f, summary in self._summaries.items() if summary is not None]
        flows = self._flows
        picked = np.isin(calls.function, chosen)
        pairs = (calls.row[picked].tolist(), calls.function[picked].tolist())
        for row, function in zip(*pairs, strict=True):
            summary = self._summaries[function]
            assert summary is not None
            caller = int(self._program.instruction_function[row])
            first = self._first_argument + int(
                self._program.function_table.argument_offsets[caller]
            )
            constraints.begin(row, first)
            values = self._operands_of(row)[1:]
            actuals = [Expression("value", v) if flows[v] else None for v in values]
            if row in self._passed_on:
                _, stores = self._divided(summary.stores, row)
            else:
                filled = (tuple(part.with_arguments(actuals) for part in s) for s in summary.stores)
                stores = [Store(to, value) for to, value in filled if to and value]
            for store in stores:
                constraints.store(store)
            if summary.result is not None and flows[self._base + row]:
                result = summary.result.with_arguments(actuals)
                if result is not None:
                    constraints.copy(self._base + row, result)
        constraints.finish()


def _either(found: list[Expression | None]) -> Expression | None:
    """Return an expression that is any of some."""
    known = tuple(dict.fromkeys(one for one in found if one is not None))
    return Expression("either", of=known) if len(known) > 1 else known[0] if known else None


class _Constraints:
    """Constraints for expressions, as rows; equal expressions of a call have one node."""

    def __init__(self, builder: PointerBuilder) -> None:
        self._builder, self._first = builder, builder.n_nodes
        self._n_nodes = 0
        self._copies, self._loads, self._stores = (list[tuple[int, int, int]]() for _ in range(3))
        self._offsets: list[tuple[int, int, int, int, int]] = []

    def begin(self, row: int, first_argument: int) -> None:
        """Begin with a call; `first_argument` (a value) is that of the caller."""
        self._row, self._first_argument = row, first_argument
        self._nodes: dict[Expression, int] = {}

    def copy(self, to: int, value: Expression) -> None:
        """Let a node hold an expression."""
        self._copies.append((to, self._node(value), self._row))

    def store(self, store: Store) -> None:
        """Store an expression."""
        self._stores.append((self._node(store.address), self._node(store.value), self._row))

    def _node(self, value: Expression) -> int:
        if value.kind == "value":
            return value.number
        if value.kind == "argument":
            return self._first_argument + value.number
        if value not in self._nodes:
            node = self._nodes[value] = self._first + self._n_nodes
            self._n_nodes += 1
            parts = [self._node(part) for part in value.of]
            if value.kind == "load":
                self._loads.append((node, parts[0], self._row))
            elif value.kind == "offset" and value.number:
                self._offsets.append((node, parts[0], value.number, value.edge, self._row))
            else:
                self._copies += [(node, part, self._row) for part in parts]
        return self._nodes[value]

    def finish(self) -> None:
        """Add all that was collected."""
        builder = self._builder
        made = builder.nodes(self._n_nodes)
        assert not len(made) or made[0] == self._first
        for add, rows in (
            *((builder.copy, self._copies), (builder.load, self._loads)),
            (builder.store, self._stores),
        ):
            if rows:
                add(*np.array(rows, np.int64).T)
        if self._offsets:
            to, source, constant, edge, row = np.array(self._offsets, np.int64).T
            strides = np.zeros((len(to), 1), np.int64)
            builder.offset_edges(to, source, constant, strides, edge, row)
