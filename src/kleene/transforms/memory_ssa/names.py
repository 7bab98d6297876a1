"""Memory variables, and the names that each function's reads and writes have for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools, Ints, distinct, offsets_of, ragged
from kleene.graphs import Rows
from kleene.kernels import compiled
from kleene.transforms.splitting import Accesses, ControlFlow, Role, Splitting, split

_INTERPRETED_S_A_VISIT = 2e-6  # of a location in a group of a function, as plain Python


class MemoryRole(IntEnum):
    """What an access does to the locations of its group."""

    READ = 0
    WRITE = 1  # it may: every location may also keep what it has
    OVERWRITE = 2  # every location gets a new value, in all its bytes, whenever it is executed


@dataclass(frozen=True, eq=False)
class MemoryAccesses:
    """What instructions do to memory.

    Attributes:
        instruction: of each access; one may make several, and reads before it writes.
        group: which locations it may touch: a row of `groups`.
        role: a `MemoryRole`.
        groups: the locations of each group, each once.
        is_exact: per group, whether variables are told apart by it. Where they are not, an access
            touches a variable if it touches one location of it: of what a call writes, all that
            matters is mostly known then, and there are fewer names.
        n_locations: locations are the numbers from 0 to this.
    """

    instruction: I64
    group: I32
    role: U8
    groups: Rows
    is_exact: Bools
    n_locations: int

    @classmethod
    def of(
        cls,
        rows: list[tuple[int, int, MemoryRole]],
        groups: list[list[int]],
        n_locations: int,
        coarse: tuple[int, ...] = (),
    ) -> MemoryAccesses:
        """Return the accesses of the given instructions, groups and roles; some not exact."""
        columns = np.array(rows, np.int64).reshape(-1, 3)
        group, role = columns[:, 1].astype(np.int32), columns[:, 2].astype(np.uint8)
        is_exact = ~np.isin(np.arange(len(groups)), coarse)
        return cls(columns[:, 0], group, role, Rows.from_lists(groups), is_exact, n_locations)


@dataclass(frozen=True, eq=False)
class MemoryReads:
    """The names that instructions read, by instruction and variable."""

    instruction: I64
    variable: I32
    name: I64  # -1 where no path leads


@dataclass(frozen=True, eq=False)
class MemoryWrites:
    """The names that instructions define, by instruction and variable."""

    instruction: I64
    variable: I32
    name: I64
    before: I64  # what the variable was; -1 where it is overwritten, and where no path leads


@dataclass(frozen=True, eq=False)
class MemorySSA:
    """Memory variables of all functions and their names.

    Attributes:
        names: the names; those of kind PROGRAM are the entries of variables first, one for each
            variable in their order, and then the `writes`, in theirs.
        function: of each variable; functions are numbered by their entries.
        locations: of each variable.
        reads: what each reading instruction reads.
        writes: what each writing instruction defines. Locations that a function does not read
            itself have no variable there.
        partial: instructions, ascending, that also read locations without a variable, because
            their function never overwrites them.
    """

    names: Splitting
    function: I32
    locations: Rows
    reads: MemoryReads
    writes: MemoryWrites
    partial: I64

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.function)

    def read_by(self, instruction: int) -> I64:
        """Return the names that an instruction may read."""
        first, last = np.searchsorted(self.reads.instruction, [instruction, instruction + 1])
        return self.reads.name[first:last]

    def written_by(self, instruction: int) -> I64:
        """Return the names that an instruction defines."""
        first, last = np.searchsorted(self.writes.instruction, [instruction, instruction + 1])
        return self.writes.name[first:last]

    @cached_property
    def sources(self) -> Rows:
        """The names that each name may have its value from: operands of φ, weak writes' before."""
        names = self.names
        owner = np.repeat(np.arange(names.n_names), np.diff(names.offsets))
        weak = np.flatnonzero(self.writes.before >= 0)
        known = names.operands >= 0
        keys = np.concatenate([owner[known], self.writes.name[weak]])
        values = np.concatenate([names.operands[known], self.writes.before[weak]])
        return Rows.group(keys.astype(np.int32), names.n_names, values.astype(np.int32))


def memory_ssa(
    flow: ControlFlow, accesses: MemoryAccesses, *, only_overwritten: bool = False
) -> MemorySSA:
    """Return the names of memory variables.

    Args:
        flow: the control flow; blocks of a function are consecutive, from its entry on.
        accesses: what instructions do to memory.
        only_overwritten: whether only those locations have names in a function that it overwrites
            somewhere. An analysis that starts each function with all that a location may hold
            at any time learns nothing from names of others: weak writes add to what they have.
    """
    entries = np.sort(flow.entries)
    function = np.searchsorted(entries, flow.node_of(accesses.instruction), side="right") - 1
    row, pair_offsets, variables, owned, of_variable, is_partial = _variables(
        accesses, function.astype(np.int64), len(entries), only_overwritten
    )
    access, place = ragged(pair_offsets[row], pair_offsets[row + 1])
    variable, role = variables[place], accesses.role[access]
    instruction = accesses.instruction[access]
    is_read = role == MemoryRole.READ
    reads = _pairs(instruction[is_read], variable[is_read])
    writes = _pairs(instruction[~is_read], variable[~is_read])
    over = role == MemoryRole.OVERWRITE
    overwritten = _pairs(instruction[over], variable[over])
    is_weak = ~np.isin(writes, overwritten)
    n_variables = len(of_variable)
    into = flow.into(0) + entries[of_variable].astype(np.int64)
    parts: list[tuple[Ints, Ints, int]] = [
        (np.arange(n_variables), into, Role.DEFINITION),
        (writes & 0xFFFFFFFF, writes >> 32, Role.DEFINITION),
        (reads & 0xFFFFFFFF, reads >> 32, Role.USE),
        ((writes & 0xFFFFFFFF)[is_weak], (writes >> 32)[is_weak], Role.USE),
    ]
    names = split(
        flow,
        Accesses(
            np.concatenate([part[0] for part in parts]).astype(np.int32),
            np.concatenate([part[1] for part in parts]).astype(np.int64),
            np.repeat([part[2] for part in parts], [len(part[0]) for part in parts]).astype(
                np.uint8
            ),
        ),
        "ssa",
    )
    ends = np.cumsum([len(part[0]) for part in parts])
    before = np.full(len(writes), -1, np.int64)
    before[is_weak] = names.name[ends[2] :]
    return MemorySSA(
        names,
        of_variable.astype(np.int32),
        owned,
        MemoryReads(
            reads >> 32, (reads & 0xFFFFFFFF).astype(np.int32), names.name[ends[1] : ends[2]]
        ),
        MemoryWrites(
            writes >> 32,
            (writes & 0xFFFFFFFF).astype(np.int32),
            names.name[ends[0] : ends[1]],
            before,
        ),
        distinct(accesses.instruction[is_partial[row] & (accesses.role == MemoryRole.READ)]),
    )


def _same_groups(groups: Rows) -> I64:
    """Return for each group one that has the same locations in the same order: the first known.

    Groups are compared with the one whose sum of numbers, one by location, is the same.
    """
    numbers = np.random.default_rng(0).integers(1, 1 << 62, int(groups.values.max(initial=0)) + 1)
    before = np.concatenate([[0], np.cumsum(numbers[groups.values])])
    total = before[groups.offsets[1:]] - before[groups.offsets[:-1]]
    _, first, which = np.unique(total, return_index=True, return_inverse=True)
    like = first[which]
    lengths = groups.lengths()
    same = lengths[like] == lengths
    owner, place = ragged(groups.offsets[:-1][same], groups.offsets[1:][same])
    at = groups.offsets[like[same]][owner] + place - groups.offsets[:-1][same][owner]
    differs = groups.values[place] != groups.values[at]
    rows = np.flatnonzero(same)
    same[rows[owner[differs]]] = False
    return np.where(same, like, np.arange(len(groups)))


def _variables(
    accesses: MemoryAccesses, function: I64, n_functions: int, only_overwritten: bool
) -> tuple[I64, I64, I64, Rows, I64, Bools]:
    """Return the variables that each access touches, as CSR over pairs of a function and a group.

    The columns are: which pair each access is, the offsets of the pairs' variables, these; the
    locations of each variable, and its function; and which pairs have locations without variables.
    """
    from kleene.transforms.memory_ssa import cpu

    keys = function << 32 | accesses.group
    pairs = distinct(keys)
    row = np.searchsorted(pairs, keys)
    is_read = np.zeros(len(pairs), bool)
    is_read[row[accesses.role == MemoryRole.READ]] = True
    # An access overwrites a variable only if it overwrites all of its locations.
    is_exact = accesses.is_exact[pairs & 0xFFFFFFFF]
    is_overwritten = np.zeros(len(pairs), bool)
    is_overwritten[row[accesses.role == MemoryRole.OVERWRITE]] = True
    is_exact |= is_overwritten
    offsets = np.searchsorted(pairs >> 32, np.arange(n_functions + 1))
    n_visits = int(accesses.groups.lengths()[pairs & 0xFFFFFFFF].sum())
    with compiled.sized(_INTERPRETED_S_A_VISIT * n_visits, cpu.UNIT):
        row_of, variable, owner, owned, of_variable, is_partial = cpu.partition(
            offsets.astype(np.int64), pairs & 0xFFFFFFFF, is_read, is_overwritten, is_exact,
            accesses.groups.offsets, accesses.groups.values, accesses.n_locations,
            only_overwritten,
        )  # fmt: skip
    by_variable = Rows.group(owner.astype(np.int32), len(of_variable), owned.astype(np.int32))
    pair_offsets = offsets_of(np.bincount(row_of, minlength=len(pairs)))
    return row, pair_offsets, variable, by_variable, of_variable, is_partial


def _pairs(instruction: I64, variable: I64) -> I64:
    """Return pairs of an instruction and a variable, ascending, each once."""
    found: I64 = distinct(instruction << 32 | variable)
    return found


@dataclass(frozen=True, eq=False)
class LoadNames:
    """What loads read, as one name each: two that read the same name find memory unchanged.

    Attributes:
        load: instructions, ascending.
        name: what each of them reads; -1 where no path leads.
        writer: of each name, the instruction that defines it; -1 for entries and φ.
    """

    load: I64
    name: I64
    writer: I64


def load_names(flow: ControlFlow, accesses: MemoryAccesses, loads: I64) -> LoadNames:
    """Return what some loads read; a write that may touch one of their locations ends a name.

    Loads of a function that may read the same locations share a variable. There are fewer of these
    than of `memory_ssa`, which has one for each set of locations that no access tells apart.
    """
    from kleene.transforms.memory_ssa import cpu

    entries = np.sort(flow.entries)
    function_of = np.searchsorted(entries, flow.node_of(accesses.instruction), side="right") - 1
    is_read = accesses.role == MemoryRole.READ
    reads = np.flatnonzero(is_read & np.isin(accesses.instruction, loads))
    reads = reads[np.lexsort((accesses.group[reads], accesses.instruction[reads]))]
    rows, first, counts = np.unique(
        accesses.instruction[reads], return_index=True, return_counts=True
    )
    assert counts.max(initial=0) <= 2, "a load reads by its pointer, and what is unknown of that"
    group = _same_groups(accesses.groups)[accesses.group[reads]]
    other = np.where(counts > 1, group[np.minimum(first + 1, len(group) - 1)], -1)
    keys = np.stack([function_of[reads[first]], group[first], other])
    variables, which = np.unique(keys, axis=1, return_inverse=True)
    which = which.reshape(-1)
    written = np.flatnonzero(~is_read)
    pair_keys = function_of[written] << 32 | accesses.group[written]
    pairs = distinct(pair_keys)
    n_functions = len(entries)
    n_visits = int(accesses.groups.lengths()[pairs & 0xFFFFFFFF].sum())
    with compiled.sized(_INTERPRETED_S_A_VISIT * n_visits, cpu.UNIT):
        large, bits = cpu.large_groups(
            accesses.groups.offsets, accesses.groups.values, accesses.n_locations
        )
        pair_of, touched = cpu.touched(
            np.searchsorted(variables[0], np.arange(n_functions + 1)).astype(np.int64),
            variables[1], variables[2],
            np.searchsorted(pairs >> 32, np.arange(n_functions + 1)).astype(np.int64),
            pairs & 0xFFFFFFFF, accesses.groups.offsets, accesses.groups.values, large, bits,
            (accesses.n_locations >> 5) + 1,
        )  # fmt: skip
    offsets = offsets_of(np.bincount(pair_of, minlength=len(pairs)))
    pair = np.searchsorted(pairs, pair_keys)
    access, place = ragged(offsets[pair], offsets[pair + 1])
    writes = _pairs(accesses.instruction[written[access]], touched[place])
    n_variables = variables.shape[1]
    parts: list[tuple[Ints, Ints, int]] = [
        (
            np.arange(n_variables),
            flow.into(0) + entries[variables[0]].astype(np.int64),
            Role.DEFINITION,
        ),
        (writes & 0xFFFFFFFF, writes >> 32, Role.DEFINITION),
        (which, rows, Role.USE),
    ]
    names = split(
        flow,
        Accesses(
            np.concatenate([part[0] for part in parts]).astype(np.int32),
            np.concatenate([part[1] for part in parts]).astype(np.int64),
            np.repeat([part[2] for part in parts], [len(part[0]) for part in parts]).astype(
                np.uint8
            ),
        ),
        "ssa",
    )
    end = n_variables + len(writes)
    writer = np.full(names.n_names + 1, -1, np.int64)  # the last is for -1
    writer[names.name[n_variables:end]] = writes >> 32
    writer[-1] = -1
    return LoadNames(rows, names.name[end:], writer)
