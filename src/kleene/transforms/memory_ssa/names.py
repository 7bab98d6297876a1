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
