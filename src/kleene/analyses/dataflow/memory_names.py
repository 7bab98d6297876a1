"""What is in memory, as names: what loads read, stores and calls write.

Two descriptions of memory meet here. One holds at any time, for a whole program:

    group      what all stores through pointers of one set store, or all calls outside write
    region     what is ever in a region: what it starts with, and what all groups write
    load       of a group: what is ever in one of its regions

The other follows control within a function, for regions that it overwrites: memory SSA. The entry
of a function has what is ever in a region; an overwrite replaces it, a weak write adds to it.

A load is *exact* if every access that touches its regions begins where it begins and has as many
bytes: what it reads is then what was stored. Of others, only that something comes from there is
known: enough for taint, and nothing for numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kleene.analyses.dataflow.memory import FRESH, ZEROED, Initialisers, releases
from kleene.analyses.dataflow.memory import ZERO as ZERO_AT_START
from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.aliases import accesses_of
from kleene.analyses.points_to.answers.mod_ref import DirectAccesses
from kleene.analyses.points_to.answers.sets import unpacked
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind
from kleene.base.arrays import I64, Bools, Ints, csr, distinct, offsets_of, ragged
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    Flag,
    Opcode,
)
from kleene.transforms.memory_ssa import MemorySSA
from kleene.transforms.splitting import NameKind, SplitProgram

ZERO, UNDEFINED, ANY = -2, -3, -4  # instead of an operand: the number 0, no value yet, any value


@dataclass(frozen=True, eq=False)
class MemoryNames:
    """Names for what is in memory, numbered from 0, and where they have their contents from.

    Attributes:
        offsets: where the operands of each name begin.
        operands: names of `split`; behind these, from `split.n_names` on, names of memory; or
            ZERO, UNDEFINED or ANY.
        guard: of each operand, the block (or, behind all blocks, the edge) from which it comes;
            -1 where it always may.
        instruction: that defines the name; -1 for regions, groups and entries, and of φ.
        is_outside: whether code outside writes it: a call of a function without a body.
        load: instructions.
        load_offsets: where the names that each load may read begin.
        loaded: names of memory, numbered from 0.
        is_exact: per load, whether it reads what was stored.
        n_bytes: per name, how many bytes it has if these are always read and written as a whole; 0.
        region: per name, a region of points-to that it is, or one of them; -1 for groups and calls.
        outside: the name of what an unknown pointer may lead to.
        memory: the names within functions.
        constant_names: the names of regions, and of loads of these alone, that nothing can write.
    """

    split: SplitProgram
    offsets: I64
    operands: I64
    guard: I64
    instruction: I64
    is_outside: Bools
    load: I64
    load_offsets: I64
    loaded: I64
    is_exact: Bools
    n_bytes: I64
    region: I64
    outside: int
    memory: MemorySSA
    constant_names: I64

    @property
    def n_names(self) -> int:
        """How many names of memory there are."""
        return len(self.offsets) - 1


class _Names:
    """Collects names and their operands."""

    def __init__(self) -> None:
        self.n_names = 0
        self._owner: list[I64] = []
        self._operand: list[I64] = []
        self._guard: list[I64] = []

    def add(self, count: int) -> int:
        """Return the first of so many new names."""
        self.n_names += count
        return self.n_names - count

    def come_from(self, names: Ints, operands: Ints | int, guard: Ints | int = -1) -> None:
        """Add an operand to each name."""
        columns = np.broadcast_arrays(np.asarray(names), operands, guard)
        for part, column in zip((self._owner, self._operand, self._guard), columns, strict=True):
            part.append(column.astype(np.int64, copy=False))

    def table(self) -> tuple[I64, I64, I64]:
        """Return offsets, operands and guards."""
        owner, operand, guard = (
            np.concatenate([np.empty(0, np.int64), *part])
            for part in (self._owner, self._operand, self._guard)
        )
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=self.n_names)
        return offsets_of(counts), operand[order], guard[order]


def memory_names(split: SplitProgram, points_to: PointsToResult) -> MemoryNames:
    """Return the names of what is in memory, and what loads read."""
    return _Generator(split, points_to).run()


def uniform_bytes(program: Program, points_to: PointsToResult) -> I64:
    """Return per region how many bytes every access that touches it has; 0 if they differ.

    They must begin where its objects begin: a pointer that holds the object, and no other one
    by which the access could touch it. Calls of code outside do not count: what they write is
    any value. Neither does what an unknown pointer touches have a size.
    """
    solution, regions = points_to.solution, points_to.regions
    accesses = accesses_of(program)
    unknown = solution.unknown[accesses.pointer]
    columns = np.stack([solution.row_of[accesses.pointer], accesses.n_bytes])
    sets = np.unique(columns, axis=1)
    held = unpacked(solution, sets[0])
    owner = np.repeat(np.arange(sets.shape[1]), held.lengths())
    pairs = distinct(held.values.astype(np.int64) << 32 | sets[1][owner])
    objects, n_bytes = pairs >> 32, pairs & 0xFFFFFFFF
    offsets, touched = points_to.effects.touched_by(objects, n_bytes)
    at = np.repeat(np.arange(len(pairs)), np.diff(offsets))
    of_object = regions.of_object
    n_regions = len(regions)
    locations = points_to.system.locations
    low, high = np.full(n_regions, 1 << 40, np.int64), np.zeros(n_regions, np.int64)
    region = of_object[touched]
    known = region >= 0
    np.minimum.at(low, region[known], n_bytes[at[known]])
    np.maximum.at(high, region[known], n_bytes[at[known]])
    is_whole = (low == high) & (high > 0)
    beside = known & (touched != objects[at])
    is_whole[region[beside]] = False
    vague = known & (locations.byte[objects[at]] == UNKNOWN_OFFSET)
    is_whole[region[vague]] = False
    if unknown.any():
        is_whole[regions.outside] = False
    return np.where(is_whole, high, 0)


class _Generator:
    def __init__(self, split: SplitProgram, points_to: PointsToResult) -> None:
        self.split, self.points_to = split, points_to
        self.program: Program = split.program
        self.table = self.program.instructions
        direct: DirectAccesses = points_to.effects.direct
        keep = ~releases(self.program, direct.row.astype(np.int64))
        self.direct = replace(
            direct, row=direct.row[keep], group=direct.group[keep], is_write=direct.is_write[keep]
        )
        self.regions = points_to.regions
        self.names = _Names()
        self.base = split.n_names

    def run(self) -> MemoryNames:
        self.n_bytes = uniform_bytes(self.program, self.points_to)
        names, regions, groups = self.names, self.regions, self.regions.of_group
        self.region = names.add(len(regions))
        self.stored = names.add(len(groups))
        self.called = names.add(len(groups))
        self.loaded = names.add(len(groups))
        self.outside = names.add(1)
        self._initial_values()
        self._stores()
        call_row = self._calls_outside()
        self._regions()
        memory = self.points_to.memory_ssa(only_overwritten=True)
        first = names.add(memory.names.n_names)
        self._versions(memory, first)
        load, load_offsets, loaded, is_exact = self._loads(memory, first)
        instruction = np.full(names.n_names, -1, np.int64)
        is_outside = np.zeros(names.n_names, bool)
        calls = np.arange(len(call_row)) + self.first_call
        instruction[calls], is_outside[calls] = call_row, True
        instruction[first + memory.writes.name] = memory.writes.instruction
        n_bytes = np.zeros(names.n_names, np.int64)
        n_bytes[self.region : self.region + len(regions)] = self.n_bytes
        region = np.full(names.n_names, -1, np.int64)
        region[self.region : self.region + len(regions)] = np.arange(len(regions))
        of_variable = memory.locations.values[memory.locations.offsets[:-1]]
        region[first:] = of_variable[memory.names.variable]
        n_bytes[first:] = self.n_bytes[region[first:]]
        return MemoryNames(
            self.split, *names.table(), instruction, is_outside, load, load_offsets, loaded,
            is_exact, n_bytes, region, self.outside, memory, self._constants(),
        )  # fmt: skip

    def _constants(self) -> I64:
        """Return the names of regions that nothing can write, and of loads of these alone."""
        groups, is_variable = self.regions.of_group, self.regions.is_variable
        owner = np.repeat(np.arange(len(groups)), groups.lengths())
        changes = np.bincount(owner[is_variable[groups.values]], minlength=len(groups)) > 0
        changes |= self.direct.has_outside
        return np.concatenate(
            [self.region + np.flatnonzero(~is_variable), self.loaded + np.flatnonzero(~changes)]
        )

    # Regions

    def _initial_values(self) -> None:
        """What a region starts with: initialisers of globals, zeros, nothing."""
        system = self.points_to.system
        table, locations = system.allocations, system.locations
        members = self.regions.members
        objects = members.values
        region = np.repeat(np.arange(len(members)), members.lengths())
        kind = table.kind[locations.allocation[objects]]
        names = self.region + region
        self.names.come_from(self.region + self.regions.outside, ANY)
        is_heap = kind == AllocationKind.HEAP
        callee = table.callee[locations.allocation[objects]]
        is_undefined = (kind == AllocationKind.STACK) | (is_heap & self._made_by(callee, FRESH))
        self.names.come_from(_each(names[is_undefined]), UNDEFINED)
        is_zero = is_heap & self._made_by(callee, ZEROED)
        self.names.come_from(_each(names[is_zero]), ZERO)
        is_global = kind == AllocationKind.GLOBAL
        self.names.come_from(_each(names[~is_undefined & ~is_zero & ~is_global]), ANY)
        owner, start = self._initialisers(objects[is_global], region[is_global])
        self.names.come_from(self.region + owner, start)

    def _initialisers(self, objects: Ints, region: I64) -> tuple[I64, I64]:
        """Return regions of globals, and what is there at first: values of the program."""
        program, system = self.program, self.points_to.system
        table, locations = system.allocations, system.locations
        allocation = locations.allocation[objects]
        site, width = table.site[allocation], self.n_bytes[region]
        is_unsure = width == 0
        reader = Initialisers(program)
        owner: list[int] = []
        start: list[int] = []
        columns = (
            region, site, locations.byte[objects], locations.stride[objects],
            table.n_bytes[allocation], width,
        )  # fmt: skip
        for one, *about in zip(*(column[~is_unsure].tolist() for column in columns), strict=True):
            found = {
                value if value >= 0 else ZERO if value == ZERO_AT_START else ANY
                for value in reader.at(*about)
            }
            owner += [one] * len(found)
            start += sorted(found)
        others = distinct(region[is_unsure])
        return (
            np.append(np.array(owner, np.int64), others),
            np.append(np.array(start, np.int64), np.full(len(others), ANY)),
        )

    def _made_by(self, callee: Ints, some: frozenset[bytes]) -> Bools:
        """Return which allocators take storage from some, and from others of known contents."""
        found = [
            allocator
            for allocator, sources in self.points_to.allocators.items()
            if sources <= FRESH | ZEROED and sources & some
        ]
        return np.isin(callee, found)

    def _stores(self) -> None:
        """A group has what its stores store; atomic operations, any value."""
        direct = self.direct
        rows, group = direct.row[direct.is_write], direct.group[direct.is_write]
        opcode = self.table.opcode[rows]
        is_store = opcode == Opcode.STORE
        value = self.split.operand[self.table.offsets[rows[is_store]]].astype(np.int64)
        guard = self.table.block[rows[is_store]]
        self.names.come_from(self.stored + group[is_store], value, guard)
        other = np.isin(opcode, (Opcode.ATOMICRMW, Opcode.CMPXCHG, Opcode.OPAQUE, Opcode.VA_ARG))
        self.names.come_from(_each(self.stored + group[other]), ANY)

    def _calls_outside(self) -> I64:
        """Give each call of code outside a name: what it writes; it may come from what it reads."""
        direct = self.direct
        is_call = np.isin(self.table.opcode[direct.row], list(CALLS))
        calls = distinct(direct.row[is_call & direct.is_write])
        self.first_call = self.names.add(len(calls))
        self.names.come_from(self.first_call + np.arange(len(calls)), ANY)
        reads = is_call & ~direct.is_write & np.isin(direct.row, calls)
        name = self.first_call + np.searchsorted(calls, direct.row[reads])
        self.names.come_from(name, self.base + self.loaded + direct.group[reads])
        return calls

    def _regions(self) -> None:
        """A region has what groups and calls write to it; a load reads all regions of a group."""
        direct, groups = self.direct, self.regions.of_group
        owner = np.repeat(np.arange(len(groups)), groups.lengths())
        is_store = direct.is_write & ~np.isin(self.table.opcode[direct.row], list(CALLS))
        is_stored = np.zeros(len(groups), bool)
        is_stored[direct.group[is_store]] = True
        chosen = is_stored[owner]
        self.names.come_from(
            self.region + groups.values[chosen], self.base + self.stored + owner[chosen]
        )
        # All that calls write to a group is one name: both may be thousands, calls and regions.
        is_call = direct.is_write & np.isin(self.table.opcode[direct.row], list(CALLS))
        group = direct.group[is_call]
        call = self.first_call + np.searchsorted(distinct(direct.row[is_call]), direct.row[is_call])
        self.names.come_from(self.called + group, self.base + call)
        is_called = np.zeros(len(groups), bool)
        is_called[group] = True
        chosen = is_called[owner]
        self.names.come_from(
            self.region + groups.values[chosen], self.base + self.called + owner[chosen]
        )
        self.names.come_from(self.loaded + owner, self.base + self.region + groups.values)
        # What an unknown pointer may lead to is one name, for all groups that have it.
        outside = np.full(len(self.regions.outside), self.outside)
        self.names.come_from(outside, self.base + self.region + self.regions.outside)
        self.names.come_from(np.array([self.outside]), ANY)
        wide = np.flatnonzero(direct.has_outside)
        self.names.come_from(self.loaded + wide, self.base + self.outside)
        stores = wide[is_stored[wide]]
        between = self.names.add(1)  # of all stores through unknown pointers
        self.names.come_from(np.full(len(stores), between), self.base + self.stored + stores)
        self.names.come_from(self.region + self.regions.outside, self.base + between)

    # Names within functions

    def _versions(self, memory: MemorySSA, first: int) -> None:
        """Memory SSA: entries, φ, and what instructions write."""
        names, flow = memory.names, self.split.flow
        locations = memory.locations
        variable = np.repeat(np.arange(len(locations)), locations.lengths())
        # An entry has the number of its variable.
        self.names.come_from(first + variable, self.base + self.region + locations.values)
        phis = np.flatnonzero(names.kind == NameKind.PHI)
        owner, place = ragged(names.offsets[phis], names.offsets[phis + 1])
        operand = names.operands[place]
        block = flow.node_of(names.point[phis])
        offsets, edges = flow.incoming
        edge = edges[offsets[block[owner]] + place - names.offsets[phis][owner]]
        known = operand >= 0
        self.names.come_from(
            first + phis[owner[known]],
            self.base + first + operand[known],
            flow.blocks.n_nodes + edge[known].astype(np.int64),
        )
        writes = memory.writes
        weak = writes.before >= 0
        self.names.come_from(first + writes.name[weak], self.base + first + writes.before[weak])
        opcode = self.table.opcode[writes.instruction]
        is_store = opcode == Opcode.STORE
        row = writes.instruction[is_store]
        value = self.split.operand[self.table.offsets[row]].astype(np.int64)
        self.names.come_from(first + writes.name[is_store], value)
        begins = self.program.begins_storage[writes.instruction]
        self.names.come_from(first + writes.name[begins], UNDEFINED)
        # Calls and all others: what is ever there.
        rest = np.flatnonzero(~is_store & ~begins)
        pair, place = ragged(
            locations.offsets[writes.variable[rest]], locations.offsets[writes.variable[rest] + 1]
        )
        self.names.come_from(
            first + writes.name[rest[pair]], self.base + self.region + locations.values[place]
        )

    def _loads(self, memory: MemorySSA, first: int) -> tuple[I64, I64, I64, Bools]:
        """Return what loads read: their rows, names as CSR, and which are exact.

        A volatile or atomic load may read what no instruction of its function wrote.
        """
        direct = self.direct
        is_load = (self.table.opcode[direct.row] == Opcode.LOAD) & ~direct.is_write
        rows, group = direct.row[is_load], direct.group[is_load]
        changes = self.table.flags[rows] & (Flag.VOLATILE | Flag.ATOMIC) != 0
        in_names = np.isin(rows, memory.reads.instruction) & ~np.isin(rows, memory.partial)
        in_names &= ~changes
        reads = memory.reads
        chosen = np.isin(reads.instruction, rows[in_names]) & (reads.name >= 0)
        row = np.concatenate([rows[~in_names], reads.instruction[chosen]])
        name = np.concatenate([self.loaded + group[~in_names], first + reads.name[chosen]])
        place = np.searchsorted(rows, row)
        offsets, order = csr(place, len(rows))
        groups = self.regions.of_group
        size = self.program.store_size[self.table.type[rows]]
        which, at = ragged(groups.offsets[group], groups.offsets[group + 1])
        differs = self.n_bytes[groups.values[at]] != size[which]
        is_exact = np.bincount(which[differs], minlength=len(rows)) == 0
        is_exact &= ~direct.has_outside[group]
        is_volatile = self.table.flags[rows] & Flag.VOLATILE != 0
        is_exact &= ~is_volatile  # a device, or a debugger
        return rows, offsets, name if order is None else name[order], is_exact


def _each(names: Ints) -> I64:
    return distinct(names.astype(np.int64))
