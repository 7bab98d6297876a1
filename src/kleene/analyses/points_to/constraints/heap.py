"""Storage made at run time: which calls make it, how large, with what layout; calls of wrappers.

The layout is found from how the code uses the pointer that it gets. The pointer is followed through
phi, select, casts, freeze and locals that are stored to once; its uses as a base of address
arithmetic name a struct or element type, or a constant number of bytes.

- Structs: storage of these, one or many by the size that was asked for.
- One scalar type and no bytes: an array of it.
- Otherwise storage of unknown type, with fields at those bytes.

A wrong guess costs precision alone where storage is divided: fields are found by address, whatever
the type. What it does assume is that arrays within a type that the code names are arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise

import numpy as np

from kleene.analyses.points_to.compiled import entry_point
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import CallTable, FunctionTable
from kleene.analyses.points_to.constraints.wrappers import Allocator, find_wrappers
from kleene.analyses.points_to.layouts import Layouts
from kleene.analyses.points_to.library import heap_of
from kleene.analyses.points_to.library.language import Argument, Returns
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I32, I64, U8, Bools
from kleene.base.demangling import demangled, without_parameters
from kleene.base.errors import SourceError, raise_all
from kleene.ir.codes import Opcode, TypeKind, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import NONE

_MOST_STRUCTS = 8  # of one size: more of them tell nothing


class HeapAllocations:
    """The calls and locals whose storage is shaped by its use, each with its size."""

    def __init__(
        self,
        builder: PointerBuilder,
        functions: FunctionTable,
        calls: CallTable,
        named: Sequence[str],
    ) -> None:
        self.builder, self.functions, self.calls = builder, functions, calls
        self.columns, self.layouts = builder.columns, builder.object_layouts
        columns = self.columns
        allocators = self._modelled()
        by_user = self._named(named, functions)
        self.wrappers = find_wrappers(columns, calls, allocators, functions.is_defined)
        self.named_by_user = [f for f in by_user if f not in self.wrappers]
        self.wrappers |= {f: Allocator(None) for f in self.named_by_user}
        self.allocators = {*allocators, *self.wrappers}  # functions: each call makes new storage
        self.modelled = set(allocators)
        n_instructions = len(columns.program.instructions)
        self.n_bytes = np.full(n_instructions, -1)
        self.element_bytes = np.full(n_instructions, -1)  # of a number of elements not known
        for function, allocator in (allocators | self.wrappers).items():
            group = calls.only(calls.function == function)
            self.n_bytes[group.row] = self._product(group, allocator)
            if allocator.factors is not None:
                self.element_bytes[group.row] = allocator.scale
        sized = [function for function, a in allocators.items() if a.factors]
        self._layout = self._layouts([*sized, *self.wrappers])
        self.clones = np.full(n_instructions, NONE)  # per maker: node of what callers have for it

    def _modelled(self) -> dict[int, Allocator]:
        """Return the modelled functions that return new storage."""
        found = {}
        for function in range(len(self.functions.name)):
            model = self.functions.model[function] or ()
            heap = heap_of(model)
            returned = {e.term for e in model if isinstance(e, Returns)} - {heap}
            if heap is not None and all(isinstance(term, Argument) for term in returned):
                positions = tuple(t.position for t in returned if isinstance(t, Argument))
                found[function] = Allocator(heap.factors or None, returned=positions)
        return found

    @staticmethod
    def _named(named: Sequence[str], functions: FunctionTable) -> list[int]:
        """Return the functions that the user calls wrappers; of C++, all of a name."""
        errors, found = [], list[int]()
        defined = {
            name: row for row, name in enumerate(functions.name) if functions.is_defined[row]
        }
        for name in named:
            if name in defined:
                found.append(defined[name])
                continue
            full = {symbol: demangled(symbol) or symbol for symbol in defined}
            written = {symbol: {text, without_parameters(text)} for symbol, text in full.items()}
            if rows := [defined[symbol] for symbol, texts in written.items() if name in texts]:
                found += rows
                continue
            near = get_close_matches(name, [min(texts, key=len) for texts in written.values()], n=1)
            notes = [f"did you mean '{near[0]}'?"] if near else []
            message = f"the program defines no function '{name}'"
            errors.append(SourceError(None, "points-to/no-such-wrapper", message, *notes))
        raise_all(errors)
        return found

    def _product(self, group: CallTable, allocator: Allocator) -> I64:
        """Return the size that each call asks for, -1 where it is no constant."""
        if allocator.factors is None or allocator.scale <= 0:
            return np.full(len(group), -1)
        total = np.full(len(group), allocator.scale)
        for position in allocator.factors:
            there = group.offsets[:-1] + position < group.offsets[1:]
            value = np.zeros(len(group), np.int64)
            value[there] = group.actuals[(group.offsets[:-1] + position)[there]]
            known, amount = self.columns.constant(value)
            total = np.where(known & (total > 0) & (amount > 0), total * amount, -1)
        return total

    def _layouts(self, makers: Sequence[int]) -> I64:
        """Return the layout of the storage that each instruction makes, -1 where it makes none.

        Storage of the library's own making (a file, a string) is not looked into: it is cells.
        """
        columns = self.columns
        locals_ = columns.rows(Opcode.ALLOCA)
        known, count = columns.constant(columns.operand(locals_, 0))
        locals_ = locals_[~(known & (count == 1))]
        rows = np.concatenate([self.calls.row[np.isin(self.calls.function, makers)], locals_])
        found = np.full(len(self.n_bytes), -1)
        found[rows] = self._by_use(rows, self.n_bytes[rows])
        return found

    def _by_use(self, rows: I64, n_bytes: I64) -> I64:
        """Return the layout of storage by its use where it is made, or by the wrapper's own use.

        Where neither tells, storage of a struct's size has fields where such structs have some. It
        need not be one, so none of their arrays is taken for an array. Storage of n * k bytes, for
        a constant k, is elements of k bytes.
        """
        program = self.columns.program
        raw = {size: self.layouts.raw(size) for size in set(n_bytes.tolist())}
        bare = np.array([raw[size] for size in n_bytes.tolist()], np.int64)
        found, makers = bare.copy(), rows.copy()
        while len(open_ := np.flatnonzero((found == bare) & (makers >= 0))):
            values = self.columns.results(makers[open_])
            found[open_] = heap_layouts(program, self.layouts, values, n_bytes[open_])
            makers[open_] = [self._maker(row) for row in makers[open_].tolist()]
        for position in np.flatnonzero((found == bare) & (n_bytes > 0)).tolist():
            found[position] = self._by_size(int(n_bytes[position]), int(bare[position]))
        element = self.element_bytes[rows]
        for position in np.flatnonzero((found == bare) & (n_bytes < 0) & (element > 0)).tolist():
            found[position] = self.layouts.elements(int(element[position]))
        return found

    def _maker(self, row: int) -> int:
        """Return the call in a wrapper that makes what a call of the wrapper gives, or -1."""
        wrapper = self.wrappers.get(int(self.calls.function_at[row]))
        return wrapper.makers[0] if wrapper and len(wrapper.makers) == 1 else -1

    def _by_size(self, n_bytes: int, otherwise: int) -> int:
        types = self.columns.program.types
        structs = np.flatnonzero((types.kind == TypeKind.STRUCT) & (types.size == n_bytes))
        if not 0 < len(structs) <= _MOST_STRUCTS:
            return otherwise
        return self.layouts.raw(n_bytes, self.layouts.field_bytes_of(structs.tolist()))

    def layout_of(self, rows: I64) -> I64:
        """Return the layout of the storage that instructions make."""
        found = self._layout[rows]
        return np.where(found < 0, self.layouts.cells(), found) if (found < 0).any() else found

    def named(self) -> list[str]:
        """Return the functions that are wrappers because the user says so."""
        return [self.functions.name[function] for function in self.named_by_user]

    def made_by(self) -> I32:
        """Return pairs (allocator, modelled allocator that its storage comes from): functions."""
        found = {(function, function) for function in self.modelled}
        for function in self.wrappers:
            waiting, seen = [function], {function}
            while waiting:
                makers = self.wrappers[waiting.pop()].makers
                for inner in self.calls.function_at[list(makers)].tolist():
                    if inner in self.modelled:
                        found.add((function, inner))
                    elif inner not in seen:
                        seen.add(inner)
                        waiting.append(inner)
        return np.array(sorted(found), np.int32).reshape(-1, 2)

    def returning_new(self) -> I32:
        """Return the wrappers that return new storage or null, and nothing else."""
        found = [
            function
            for function, wrapper in self.wrappers.items()
            if wrapper.makers and not wrapper.returned and not wrapper.others
        ]
        return np.array(sorted(found), np.int32)

    def is_wrapped(self, calls: CallTable) -> Bools:
        """Return which calls are of wrappers."""
        found: Bools = np.isin(calls.function, list(self.wrappers))
        return found

    def generate_clones(self) -> None:
        """Add what calls of wrappers hold: storage of their own."""
        builder = self.builder
        node = {function: builder.node() for function in self.wrappers}
        for function, wrapper in self.wrappers.items():
            group = self.calls.only(self.calls.function == function)
            value = self.columns.results(group.row)
            own = builder.allocate(
                *(AllocationKind.HEAP, value, self.layout_of(group.row)),
                callee=self.columns.program.function_table.value[function],
                type=self.layouts.structs_of(self.layout_of(group.row)),
                n_bytes=self.n_bytes[group.row],
            )
            builder.address(value, own, 0, group.row)
            builder.address(node[function], own)
            self._inside(function, wrapper, node[function])
            for position in wrapper.returned:
                there = group.offsets[:-1] + position < group.offsets[1:]
                actual = group.actuals[(group.offsets[:-1] + position)[there]]
                builder.copy(value[there], actual, group.row[there])
            for other in wrapper.others:
                builder.copy(value, other, group.row)
            callers = self.columns.program.instruction_function[group.row].tolist()
            for maker, caller in zip(group.row.tolist(), callers, strict=True):
                if caller in self.wrappers and maker in self.wrappers[caller].makers:
                    builder.copy(node[function], node[caller])  # it makes what its own calls hold

    def _inside(self, function: int, wrapper: Allocator, clones: int) -> None:
        """Let the body of a wrapper work on the storage of all its calls."""
        if function not in self.named_by_user:
            makers = np.array(wrapper.makers, np.int64)
            self.builder.copy(self.columns.results(makers), clones)
            self.clones[makers] = clones
            return
        table = self.columns.program.instructions
        rets = self.columns.rows(Opcode.RET)
        rets = rets[self.columns.program.instruction_function[rets] == function]
        rets = rets[table.offsets[rets + 1] > table.offsets[rets]]
        returned = self.columns.operand(rets, 0)
        # Constants stay what they are.
        inside = returned >= self.columns.program.bases[ValueKind.ARGUMENT]
        self.builder.copy(returned[inside], clones)


_BYTE = 8  # bits
_MOST_COPIES = 1 << 8  # of one pointer: enough is known then
_UNKNOWN = -(1 << 62)  # an index that is no constant
_COPIES = tuple(
    int(code) for code in (Opcode.PHI, Opcode.FREEZE, Opcode.BITCAST, Opcode.ADDRSPACECAST)
)
_SELECT, _GEP = int(Opcode.SELECT), int(Opcode.GETELEMENTPTR)
_LOAD, _STORE = int(Opcode.LOAD), int(Opcode.STORE)


def heap_layouts(program: Program, layouts: Layouts, values: I64, n_bytes: I64) -> I32:
    """Return the layout of the storage behind each value, of so many bytes each (-1: unknown)."""
    site, row = _uses_of(program, values)
    types = program.types
    about = layouts.innermost[program.instructions.about[row]]
    amount = _constant_indices(program, row)
    in_bytes = (types.kind[about] == TypeKind.INT) & (types.bits[about] == _BYTE)
    is_offset = in_bytes & (amount != _UNKNOWN)
    uses = np.stack([site, is_offset, np.where(is_offset, amount, about)], axis=1)
    uses = _sorted_once(uses[~is_offset | (amount > 0)])
    bounds = np.searchsorted(uses[:, 0], np.arange(len(values) + 1)).tolist()
    by_site = [uses[low:high, 1:] for low, high in pairwise(bounds)]
    sizes = n_bytes.tolist()
    found = [_layout(layouts, *pair) for pair in zip(by_site, sizes, strict=True)]
    return np.array(found, np.int32)


def _layout(layouts: Layouts, uses: I64, n_bytes: int) -> int:
    """Return the layout of storage by its uses: rows of (whether in bytes, the bytes or a type)."""
    offsets = [amount for in_bytes, amount in uses.tolist() if in_bytes]
    wanted = [type_id for in_bytes, type_id in uses.tolist() if not in_bytes]
    structs = [type_id for type_id in wanted if layouts.types.kind[type_id] == TypeKind.STRUCT]
    if structs:
        return layouts.merged(structs, offsets, n_bytes)
    if len(wanted) == 1 and not offsets:
        return layouts.merged(wanted, [], n_bytes)
    return layouts.raw(n_bytes, offsets)


def _sorted_once(rows: I64) -> I64:
    """Return the rows in order, equal ones once."""
    rows = rows[np.lexsort(rows.T[::-1])]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[is_new]


def _constant_indices(program: Program, rows: I64) -> I64:
    """Return the index of address arithmetic that has one constant one, else _UNKNOWN."""
    table = program.instructions
    is_constant, index = Columns(program).constant(table.operands[table.offsets[rows] + 1])
    is_constant &= np.diff(table.offsets)[rows] == 2
    return np.where(is_constant, index, _UNKNOWN)


def _uses_of(program: Program, values: I64) -> tuple[I64, I64]:
    """Return the site and the instruction of each address computed from a value's copies."""
    table, (offsets, users) = program.instructions, program.users
    return _follow(
        values.astype(np.int64),
        program.bases[ValueKind.INSTRUCTION],
        locals_stored_once(program),
        *(offsets, users, table.opcode, table.offsets, table.operands),
    )


def locals_stored_once(program: Program) -> Bools:
    """Return which values are locals that are stored to once."""
    table, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    stores = np.flatnonzero(table.opcode == Opcode.STORE)
    pointers = table.operands[table.offsets[stores] + 1]
    is_slot: Bools = np.bincount(pointers, minlength=program.n_values) == 1
    is_slot[:base] = False
    is_slot[base:] &= table.opcode == Opcode.ALLOCA
    return is_slot


@entry_point
def _follow(
    values: I64,
    base: int,
    is_slot: Bools,
    user_offsets: I32,
    users: I32,
    opcode: U8,
    operand_offsets: I32,
    operands: I32,
) -> tuple[I64, I64]:
    """Do as `_uses_of` says; `base` is the value of the first instruction."""
    seen = np.full(len(is_slot), -1, np.int64)  # the last site whose copies a value was among
    copies = np.empty(len(is_slot), np.int64)
    sites, rows = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for site in range(len(values)):
        seen[values[site]] = site
        copies[0] = values[site]
        n_copies, done = 1, 0
        while done < min(n_copies, _MOST_COPIES):
            value = copies[done]
            done += 1
            for use in range(user_offsets[value], user_offsets[value + 1]):
                user = users[use]
                code, first = opcode[user], operands[operand_offsets[user]]
                copy = -1
                if is_slot[value]:  # holds a copy
                    copy = base + user if code == _LOAD else -1
                elif code == _GEP and first == value:
                    sites.append(np.int64(site))
                    rows.append(np.int64(user))
                elif code in _COPIES or (code == _SELECT and first != value):
                    copy = base + user
                elif code == _STORE and is_slot[operands[operand_offsets[user] + 1]]:
                    copy = operands[operand_offsets[user] + 1]
                if copy >= 0 and seen[copy] != site:
                    seen[copy] = site
                    copies[n_copies] = copy
                    n_copies += 1
    return np.array(sites, np.int64), np.array(rows, np.int64)
