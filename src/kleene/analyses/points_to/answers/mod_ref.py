"""Which objects may a function or an instruction read and write, with all that it calls?

Loads, stores and atomics count with the bytes they touch. A call of code that is not here counts
by what it is given: all storage that its pointer arguments lead to, directly or through pointers in
it, is read, and written too unless the declaration promises not to; of many functions the library
says that they write only to what some arguments point to directly. LLVM's own intrinsics touch only
what they are given directly. A call that passes a struct by value reads it, to copy it. An
external without a model may also touch all that escaped, and call every function that did; so may
inline assembly touch it, and instructions not understood.

**Regions.** Accesses through pointers with equal sets touch the same objects: such accesses form a
*group*. Objects that are in the same groups are a *region*: no access tells them apart. What a
function touches is one bit for each region, and what it touches with all it calls is the union
over the call graph, component by component, callees first. In sqlite3 17,907 objects are in 4,281
regions, and the unions over all functions take 0.05 s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.aliases import accesses_of
from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.answers.sets import Solved, unpacked
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I32, I64, U64, Bools, Ints, distinct, offsets_of, ragged
from kleene.graphs import Graph, Rows, strong_components
from kleene.ir.codes import (
    CALLS,
    ArgumentFlag,
    ConstantKind,
    GlobalFlag,
    Opcode,
    Passing,
    ValueKind,
)
from kleene.results.call_graph import CallGraph

_READS = (Opcode.LOAD, Opcode.ATOMICRMW, Opcode.CMPXCHG)
_WRITES = (Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG)
# Intrinsics that say something about memory, and neither read nor write it.
_IDLE = (b"llvm.lifetime.", b"llvm.invariant.", b"llvm.dbg.", b"llvm.assume", b"llvm.prefetch")


@dataclass(frozen=True, slots=True, eq=False)
class Effects:
    """What each of several functions or instructions may read and write, as numbers of objects.

    `reads[i]` and `writes[i]` ascend. Where `unknown[i]` holds, code outside the program may run:
    all that escaped is listed, and it may touch things outside the program besides.
    """

    reads: Rows
    writes: Rows
    unknown: Bools

    def __len__(self) -> int:
        return len(self.unknown)


@dataclass(frozen=True, slots=True, eq=False)
class DirectAccesses:
    """What single instructions touch; calls of code that is here are left out.

    Attributes:
        row: the instruction of each access; one may make several.
        group: which objects it may touch, a row of `groups`.
        is_write: whether it may write there; else it may read.
        groups: the objects of each group, ascending.
        has_outside: per group, whether it also has everything that code outside knows.
    """

    row: I64
    group: I32
    is_write: Bools
    groups: Rows
    has_outside: Bools


@dataclass(frozen=True, slots=True, eq=False)
class AccessGroups:
    """Loads, stores and atomics through pointers with equal sets, of equally many bytes.

    Attributes:
        of_access: the group of each row of `accesses_of`.
        held: the objects that the pointers of each group hold.
        n_bytes: how many bytes a group's accesses touch.
        is_unknown: per group, whether its pointers may also hold what is not known.
    """

    of_access: I64
    held: Rows
    n_bytes: I64
    is_unknown: Bools


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Objects that are in the same groups, and which regions each group consists of.

    Attributes:
        of_object: the region of each object; -1 for one that nothing touches, or without bytes.
        members: the objects of each region, ascending.
        of_group: the regions of each group, ascending, without those of `outside`.
        outside: the regions of what code outside knows, ascending.
        is_variable: per region, whether it may be written.
    """

    of_object: I32
    members: Rows
    of_group: Rows
    outside: I32
    is_variable: Bools

    def __len__(self) -> int:
        return len(self.members)


class EffectFinder:
    """Finds what functions and instructions of a solved program touch."""

    def __init__(self, solved: Solved, graph: CallGraph, geometry: Geometry) -> None:
        self._program, self._system = solved.program, solved.system
        self._solution, self._solved = solved.solution, solved
        self.graph, self._geometry = graph, geometry

    def of_functions(self, functions: Iterable[int]) -> Effects:
        """Return what each function touches, with all it may call."""
        rows = np.fromiter(functions, np.int64)
        reads, writes = self.function_bits
        return self._effects(reads[rows], writes[rows])

    def of_instructions(self, rows: Iterable[int]) -> Effects:
        """Return what each instruction touches; a call, with all that it may reach."""
        return self._effects(*self.instruction_bits(np.fromiter(rows, np.int64)))

    def instruction_bits(self, rows: I64) -> tuple[U64, U64]:
        """Return which regions each instruction may read and write, as `function_bits` does."""
        return self.bits_of(rows, is_write=False), self.bits_of(rows, is_write=True)

    def bits_of(self, rows: I64, *, is_write: bool) -> U64:
        """Return which regions each instruction may read, or write, as `function_bits` does."""
        accesses = self.direct
        order = np.argsort(rows, kind="stable")
        chosen = np.flatnonzero(accesses.is_write == is_write)
        first = np.searchsorted(rows[order], accesses.row[chosen], side="left")
        last = np.searchsorted(rows[order], accesses.row[chosen], side="right")
        access, place = ragged(first, last)
        own = self._group_bits[accesses.group[chosen[access]]]
        call, function = self._called(rows)
        of_function = self.function_bits[int(is_write)]
        found: U64 = _united(order[place], own, len(rows))
        found |= _united(call, of_function[function], len(rows))
        return found

    def _called(self, rows: I64) -> tuple[I64, I64]:
        """Return which functions each instruction calls, the outside among them, as pairs."""
        graph = self.graph
        order = np.argsort(rows, kind="stable")
        sites = np.flatnonzero(graph.call >= 0)
        first = np.searchsorted(rows[order], graph.call[sites], side="left")
        last = np.searchsorted(rows[order], graph.call[sites], side="right")
        site, place = ragged(first, last)
        site, place = sites[site], order[place]
        pair, target = ragged(graph.target_offsets[site], graph.target_offsets[site + 1])
        leaving = place[graph.may_leave[site]]
        return (
            np.concatenate([place[pair], leaving]),
            np.concatenate([graph.targets[target], np.full(len(leaving), graph.n_functions)]),
        )

    @cached_property
    def function_bits(self) -> tuple[U64, U64]:
        """Per function, and last for the outside: which regions it may read and write, as bits.

        The bit behind those of all regions says that code outside may run.
        """
        accesses, graph = self.direct, self.graph
        function = self._program.instruction_function[accesses.row]
        ends = graph.links()
        calls = Graph.from_edges(graph.n_functions + 1, *ends)
        found = []
        for is_write in (False, True):
            keys = np.flatnonzero(accesses.is_write == is_write)
            pairs = distinct(function[keys].astype(np.int64) << 32 | accesses.group[keys])
            own = self._group_bits[pairs & 0xFFFFFFFF]
            bits = _united(pairs >> 32, own, graph.n_functions + 1)
            bits[-1] |= self._outside_bits
            _set(bits, np.array([graph.n_functions]), np.array([len(self.regions)]))
            found.append(_reached(calls, bits))
        return found[0], found[1]

    def touched_by(self, objects: I64, n_bytes: I64) -> tuple[I64, I64]:
        """Return which objects an access of so many bytes at each object may touch, as CSR."""
        return self._geometry.touched_by(objects, n_bytes)

    def _effects(self, reads: U64, writes: U64) -> Effects:
        regions = self.regions
        unknown = _has(reads, len(regions))
        return Effects(self.objects(reads), self.objects(writes, only_variables=True), unknown)

    def objects(self, bits: U64, *, only_variables: bool = False) -> Rows:
        """Return the objects of each row of bits, ascending."""
        regions = self.regions
        row, region = set_bits(bits, len(regions))
        if only_variables:
            keep = regions.is_variable[region]
            row, region = row[keep], region[keep]
        offsets = regions.members.offsets
        which, place = ragged(offsets[region], offsets[region + 1])
        keys = np.sort(row[which] << 32 | regions.members.values[place])
        starts = np.searchsorted(keys >> 32, np.arange(len(bits) + 1))
        return Rows(starts.astype(np.int64), (keys & 0xFFFFFFFF).astype(np.int32))

    # Regions

    @cached_property
    def regions(self) -> Regions:
        """The regions of all groups."""
        is_data, is_variable = self._data
        groups, n_objects = self.direct.groups, len(self._system.locations)
        outside = np.flatnonzero(self._solved.known_outside & is_data)
        every: list[Ints] = [groups.values, outside, np.flatnonzero(is_variable)]
        owner = np.repeat(
            np.arange(len(groups) + 2),
            np.append(groups.lengths(), [len(part) for part in every[1:]]),
        )
        objects: Ints = np.concatenate(every)
        of_object, n_regions = _classes(owner, objects, n_objects, len(groups) + 1)
        members = np.flatnonzero(of_object >= 0).astype(np.int32)
        by_region = Rows.group(of_object[members], n_regions, members)
        explicit = owner < len(groups)
        keys = distinct(owner[explicit] << 32 | of_object[objects[explicit]])
        offsets = np.searchsorted(keys >> 32, np.arange(len(groups) + 1))
        of_group = Rows(offsets.astype(np.int64), (keys & 0xFFFFFFFF).astype(np.int32))
        in_outside = distinct(of_object[outside])
        first = by_region.values[by_region.offsets[:-1]]
        return Regions(of_object, by_region, of_group, in_outside, is_variable[first])

    @cached_property
    def _group_bits(self) -> U64:
        """Per group: its regions, as bits."""
        of_group = self.regions.of_group
        bits = _no_bits(len(of_group), len(self.regions) + 1)
        _set(bits, np.repeat(np.arange(len(of_group)), of_group.lengths()), of_group.values)
        bits[self.direct.has_outside] |= self._outside_bits
        return bits

    @cached_property
    def _outside_bits(self) -> U64:
        outside = self.regions.outside
        bits = _no_bits(1, len(self.regions) + 1)
        _set(bits, np.zeros(len(outside), np.int64), outside)
        found: U64 = bits[0]
        return found

    # Groups

    @cached_property
    def direct(self) -> DirectAccesses:
        """What single instructions touch."""
        parts = [
            self._loads_and_stores, self._given_outside, self._own_storage, self._passed_by_value
        ]  # fmt: skip
        n_before, columns = 0, []
        for row, group, is_write, groups, _ in parts:
            columns.append((row, group + n_before, is_write))
            n_before += len(groups)
        is_data = self._data[0]
        objects = np.concatenate([part[3].values for part in parts])
        lengths = np.concatenate([part[3].lengths() for part in parts])
        owner = np.repeat(np.arange(n_before), lengths)
        keep = is_data[objects]
        return DirectAccesses(
            np.concatenate([c[0] for c in columns]),
            np.concatenate([c[1] for c in columns]).astype(np.int32),
            np.concatenate([c[2] for c in columns]),
            Rows(offsets_of(np.bincount(owner[keep], minlength=n_before)), objects[keep]),
            np.concatenate([part[4] for part in parts]),
        )

    @cached_property
    def access_groups(self) -> AccessGroups:
        """The groups of loads, stores and atomics: the first ones of `direct`."""
        table, solution = accesses_of(self._program), self._solution
        sizes, size = np.unique(table.n_bytes, return_inverse=True)
        n_sizes = max(len(sizes), 1)
        key = solution.row_of[table.pointer].astype(np.int64) * n_sizes + size
        key = key * 2 + solution.unknown[table.pointer]
        groups, of_access = np.unique(key, return_inverse=True)
        held = unpacked(solution, (groups >> 1) // n_sizes)
        n_bytes: I64 = sizes[(groups >> 1) % n_sizes]
        return AccessGroups(of_access, held, n_bytes, groups & 1 != 0)

    @cached_property
    def _loads_and_stores(self) -> tuple[I64, I64, Bools, Rows, Bools]:
        """Loads, stores and atomics: rows, groups, which write; the groups, with the unknown."""
        table, groups = accesses_of(self._program), self.access_groups
        group, touched = groups.of_access, self._geometry.touched_rows(groups.held, groups.n_bytes)
        reads = np.isin(table.opcode, _READS)
        writes = np.isin(table.opcode, _WRITES)
        is_write = np.append(np.zeros(int(reads.sum()), bool), np.ones(int(writes.sum()), bool))
        return (
            np.concatenate([table.row[reads], table.row[writes]]),
            np.concatenate([group[reads], group[writes]]),
            is_write,
            touched,
            groups.is_unknown,
        )

    @cached_property
    def _given_outside(self) -> tuple[I64, I64, Bools, Rows, Bools]:
        """What code outside is given: the same columns as those of loads and stores."""
        row, node, is_far, may_write = self._arguments_outside()
        solution = self._solution
        columns = np.stack([solution.row_of[node], solution.unknown[node], is_far])
        groups, group = np.unique(columns, axis=1, return_inverse=True)
        group = group.reshape(-1)
        allocations = self._led_to(groups[0], groups[1].astype(bool), groups[2].astype(bool))
        which, allocation = set_bits(allocations, len(self._system.allocations))
        offsets = self._system.problem.allocation_offsets
        owner, objects = ragged(offsets[allocation], offsets[allocation + 1])
        lengths = np.bincount(which[owner], minlength=groups.shape[1])
        # Assembly and instructions not understood are code outside, besides what they are given.
        strange = self._not_understood
        n_groups = groups.shape[1] + 1
        return (
            np.concatenate([row, row[may_write], strange, strange]),
            np.concatenate([group, group[may_write], np.full(2 * len(strange), n_groups - 1)]),
            np.repeat(
                [False, True, False, True],
                [len(row), int(may_write.sum()), len(strange), len(strange)],
            ),
            Rows(offsets_of(np.append(lengths, 0)), objects.astype(np.int32)),
            np.append(np.zeros(n_groups - 1, bool), True),
        )

    @cached_property
    def _own_storage(self) -> tuple[I64, I64, Bools, Rows, Bools]:
        """The storage that externals keep for themselves: the same columns."""
        table, program = self._system.allocations, self._program
        rows, callees = self.calls_out
        flags = program.globals.flags[program.function_table.value]
        touches = flags[callees] & GlobalFlag.READ_NONE == 0
        rows, callees = rows[touches], callees[touches]
        own = np.flatnonzero(table.kind == AllocationKind.STATIC)
        site = table.site[own]
        called = program.function_table.value[callees]
        order = np.argsort(site, kind="stable")
        first = np.searchsorted(site[order], called, side="left")
        last = np.searchsorted(site[order], called, side="right")
        call, place = ragged(first, last)
        offsets = self._system.problem.allocation_offsets
        lengths = (offsets[own + 1] - offsets[own]).astype(np.int64)
        objects = ragged(offsets[own], offsets[own + 1])[1].astype(np.int32)
        row, group = rows[call].astype(np.int64), order[place]
        is_write = np.repeat([False, True], len(row))
        groups = Rows(offsets_of(lengths), objects)
        return np.tile(row, 2), np.tile(group, 2), is_write, groups, np.zeros(len(own), bool)

    @cached_property
    def _passed_by_value(self) -> tuple[I64, I64, Bools, Rows, Bools]:
        """The structs that calls copy for their callees, which they read: the same columns.

        The callee's own accesses are to its copy.
        """
        program, solution = self._program, self._solution
        passed, table = program.passed, program.instructions
        chosen = np.flatnonzero(passed.passing == Passing.BYVAL)
        at = passed.operand[chosen].astype(np.int64)
        row = np.searchsorted(table.offsets, at, side="right") - 1
        pointer = table.operands[at]
        held = unpacked(solution, solution.row_of[pointer])
        n_bytes = program.types.size[passed.type[chosen]].astype(np.int64)
        touched = self._geometry.touched_rows(held, n_bytes)
        group = np.arange(len(at))
        return row, group, np.zeros(len(at), bool), touched, solution.unknown[pointer]

    def _arguments_outside(self) -> tuple[I64, I64, Bools, Bools]:
        """Return the pointers that code outside is given: calls, nodes, whether far, and written.

        Far: what is in memory there is followed too.
        """
        program, table = self._program, self._program.instructions
        flags = program.globals.flags[program.function_table.value]
        rows, callees = self.calls_out
        chosen = (flags[callees] & GlobalFlag.READ_NONE == 0) & np.isin(
            table.opcode[rows], list(CALLS)
        )
        rows, callees = rows[chosen].astype(np.int64), callees[chosen]
        symbols = program.globals.name[program.function_table.value]
        is_llvm = program.strings.begin_with(symbols, b"llvm.")
        idle = np.zeros(len(symbols), bool)
        for prefix in _IDLE:
            idle |= program.strings.begin_with(symbols, prefix)
        rows, callees = rows[~idle[callees]], callees[~idle[callees]]
        call, place = ragged(table.offsets[rows] + 1, table.offsets[rows + 1])
        value = table.operands[place].astype(np.int64)
        position = place - table.offsets[rows[call]] - 1
        first = program.function_table.argument_offsets[callees[call]]
        is_formal = position < program.function_table.argument_offsets[callees[call] + 1] - first
        promised = np.zeros(len(value), program.arguments.flags.dtype)
        promised[is_formal] = program.arguments.flags[(first + position)[is_formal]]
        may_write = promised & ArgumentFlag.READ_ONLY == 0
        may_write &= flags[callees[call]] & GlobalFlag.READ_ONLY == 0
        is_known = self._system.written.is_known[callees]
        function, argument = self._system.written.arguments.T.astype(np.int64)
        is_written = np.isin(
            callees[call].astype(np.int64) << 32 | position, function << 32 | argument
        )
        is_near = np.flatnonzero(may_write & is_known[call] & is_written)
        may_write &= ~is_known[call]
        strange = self._not_understood
        other, other_place = ragged(table.offsets[strange], table.offsets[strange + 1])
        is_far = np.concatenate(
            [~is_llvm[callees[call]], np.zeros(len(is_near), bool), np.ones(len(other), bool)]
        )
        may_write = np.append(may_write, np.ones(len(is_near) + len(other), bool))
        row = np.concatenate([rows[call], rows[call[is_near]], strange[other]])
        value = np.concatenate([value, value[is_near], table.operands[other_place]])
        low, high = program.bases[ValueKind.BLOCK], program.bases[ValueKind.INSTRUCTION]
        keep = self._system.may_hold_pointer[value] & ~((value >= low) & (value < high))
        return row[keep], value[keep], is_far[keep], may_write[keep]

    @cached_property
    def _not_understood(self) -> I64:
        """The calls of inline assembly, and instructions that the reader did not understand."""
        program, table = self._program, self._program.instructions
        calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        constant = table.operands[table.offsets[calls]] - program.bases[ValueKind.CONSTANT]
        is_constant = (constant >= 0) & (constant < len(program.constants))
        is_constant[is_constant] = (
            program.constants.kind[constant[is_constant]] == ConstantKind.ASSEMBLY
        )
        opaque = np.flatnonzero(np.isin(table.opcode, (Opcode.OPAQUE, Opcode.VA_ARG)))
        return np.concatenate([calls[is_constant], opaque])

    def _led_to(self, rows: I64, unknown: Bools, is_far: Bools) -> U64:
        """Return the allocations that pointers lead to, as bits; far: through pointers in them.

        They are reached in a graph of allocations, sets of objects and what code outside knows:

            allocation → the set of what one of its locations holds → allocations of these
        """
        solution, problem = self._solution, self._system.problem
        allocation = self._system.locations.allocation
        n_allocations = len(self._system.allocations)
        has_contents = np.flatnonzero(problem.contents >= 0)
        contents = problem.contents[has_contents]
        sets, which = np.unique(
            np.concatenate([rows, solution.row_of[contents]]), return_inverse=True
        )
        held = unpacked(solution, sets)
        outside = n_allocations + len(sets)
        known_outside = distinct(allocation[self._solved.known_outside])
        is_unknown = solution.unknown[contents]
        sources: list[Ints] = [
            allocation[has_contents],
            allocation[has_contents][is_unknown],
            n_allocations + np.repeat(np.arange(len(sets)), held.lengths()),
            np.full(len(known_outside), outside),
        ]
        targets: list[Ints] = [
            n_allocations + which[len(rows) :],
            np.full(int(is_unknown.sum()), outside),
            allocation[held.values],
            known_outside,
        ]
        ends = np.concatenate(sources).astype(np.int32), np.concatenate(targets).astype(np.int32)
        graph = Graph.from_edges(outside + 1, *ends).simple()
        bits = _no_bits(outside + 1, n_allocations)
        _set(bits, np.arange(n_allocations), np.arange(n_allocations))
        far = _reached(graph, bits)
        near = bits
        of_set = np.repeat(np.arange(len(sets)), held.lengths())
        _set(near, n_allocations + of_set, allocation[held.values])
        _set(near, np.full(len(known_outside), outside), known_outside)
        start = n_allocations + which[: len(rows)]
        found = np.where(is_far[:, None], far[start], near[start])
        also = np.where(is_far[:, None], far[outside], near[outside])
        return np.where(unknown[:, None], found | also, found)

    @cached_property
    def _data(self) -> tuple[Bools, Bools]:
        """Per object: whether it has bytes to read, and whether these may be written."""
        locations, table = self._system.locations, self._system.allocations
        is_function = (table.kind == AllocationKind.FUNCTION)[locations.allocation]
        is_data = (locations.n_bytes > 0) & ~is_function
        flags = np.zeros(self._program.n_values + 1, np.uint32)  # the last: of no value
        flags[: len(self._program.globals)] = self._program.globals.flags
        is_global = table.kind == AllocationKind.GLOBAL
        is_constant = is_global & (flags[table.site] & GlobalFlag.CONSTANT != 0)
        return is_data, is_data & ~is_constant[locations.allocation]

    @cached_property
    def calls_out(self) -> tuple[I32, I32]:
        """The calls (instruction, function) of functions without a body, intrinsics included."""
        program, graph = self._program, self.graph
        table = program.instructions
        is_body = np.diff(program.function_table.block_offsets) > 0
        rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        called = table.operands[table.offsets[rows]]
        rows = rows[is_named := called < len(program.globals)]
        by_name = program.globals.function[called[is_named]]
        is_found = np.repeat((graph.callee >= 0) & (graph.call >= 0), graph.n_targets)
        through = np.repeat(graph.call, graph.n_targets)[is_found]
        instruction = np.concatenate([rows, through])
        function = np.concatenate([by_name, graph.targets[is_found]])
        chosen = (function >= 0) & ~is_body[function]
        return instruction[chosen].astype(np.int32), function[chosen].astype(np.int32)


# Rows of bits: bit b of row r is bit b % 64 of word [r, b // 64].


def set_bits(bits: U64, n_bits: int) -> tuple[I64, I64]:
    """Return (row, bit) of every bit below `n_bits` that is set, by row."""
    shape = len(bits), 8 * bits.shape[1]
    as_bytes = np.ascontiguousarray(bits).astype("<u8").view(np.uint8).reshape(shape)
    row, bit = np.nonzero(np.unpackbits(as_bytes, axis=1, count=n_bits, bitorder="little"))
    return row, bit


def _no_bits(n_rows: int, n_bits: int) -> U64:
    return np.zeros((n_rows, (n_bits + 63) // 64), np.uint64)


def _set(bits: U64, rows: Ints, which: Ints) -> None:
    """Set bits, given by row and number."""
    word = np.uint64(1) << (which.astype(np.uint64) & np.uint64(63))
    np.bitwise_or.at(bits, (rows, which >> 6), word)


def _has(bits: U64, which: int) -> Bools:
    found: Bools = bits[:, which >> 6] >> np.uint64(which & 63) & np.uint64(1) != 0
    return found


def _united(keys: Ints, bits: U64, n_keys: int) -> U64:
    """Return for each key the union of the rows that have it."""
    found = np.zeros((n_keys, bits.shape[1]), np.uint64)
    if len(keys):
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        found[ordered[starts]] = np.bitwise_or.reduceat(bits[order], starts, axis=0)
    return found


def _reached(graph: Graph, bits: U64) -> U64:
    """Return for each node the union of the bits of all nodes that it reaches, itself included."""
    components = strong_components(graph)
    found = _united(components.component, bits, components.n_components)
    between = components.condensation()
    for component in range(components.n_components - 1, -1, -1):  # callees before callers
        targets = between.successors(component)
        if len(targets):
            found[component] |= np.bitwise_or.reduce(found[targets], axis=0)
    reached: U64 = found[components.component]
    return reached


def _classes(owner: I64, objects: Ints, n_objects: int, n_groups: int) -> tuple[I32, int]:
    """Return the class of each object, equal for objects of equal owners, and how many there are.

    Owners ascend. Objects without an owner below `n_groups` have no class: -1. Owners are compared
    by a sum of random numbers first; equal sums are then compared owner by owner, since an
    accident would merge what accesses tell apart.
    """
    order = np.argsort(objects, kind="stable")
    by_object, owners = objects[order], owner[order]
    lengths = np.bincount(by_object, minlength=n_objects)
    offsets = offsets_of(lengths)
    weight = np.random.default_rng(0).integers(0, 1 << 64, int(owner.max(initial=0)) + 1, np.uint64)
    some = np.flatnonzero(np.bincount(objects[owner < n_groups], minlength=n_objects))
    found = np.full(n_objects, -1, np.int32)
    if not len(some):
        return found, 0
    sums = np.zeros(n_objects, np.uint64)
    present = np.flatnonzero(lengths)
    sums[present] = np.add.reduceat(weight[owners], offsets[present])
    _, first, number = np.unique(sums[some], return_index=True, return_inverse=True)
    like = some[first][number]
    place = ragged(offsets[some], offsets[some + 1])[1]
    others = ragged(offsets[like], offsets[like] + lengths[some])[1]
    assert (lengths[some] == lengths[like]).all(), "sums of random numbers met by accident"
    assert (owners[place] == owners[others]).all(), "sums of random numbers met by accident"
    found[some] = number
    return found, len(first)
