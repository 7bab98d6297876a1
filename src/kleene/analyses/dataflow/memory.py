"""Memory as names: one for all that is ever in some bytes, whoever writes there and whenever.

Points-to divides storage into abstract locations, and regions of these that no access tells apart.
What a load reads is then the join of what its locations hold at the start and of all that is stored
there. That is only so where every write is known and goes exactly there: a *cell* is a region in
which

- no code outside can write: its address has not escaped, and no call hands it out;
- every write is a store of one size, at the start of the location, of bytes that belong to no other
  one; or it fills storage with one byte (`memset`); `free` ends storage, and no program may read
  there behind it;
- the contents at the start are known: those of a global's initialiser, zeros of `calloc`, nothing
  in locals and what `malloc` returns.

All other loads may read anything. Nothing here depends on the order of writes, so that threads and
signals change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.aliases import accesses_of
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind
from kleene.base.arrays import I64, Bools, distinct, offsets_of, ragged
from kleene.graphs import Rows
from kleene.ir import Program
from kleene.ir.codes import REPLACEABLE, ConstantKind, GlobalFlag, Opcode, TypeKind, ValueKind

UNDEFINED = -1  # nothing was written yet
UNKNOWN = -2  # some value that is not known
FRESH = frozenset({b"malloc", b"aligned_alloc", b"memalign", b"valloc", b"_Znwm", b"_Znam"})
ZEROED = frozenset({b"calloc"})
_RELEASE = {b"free", b"cfree", b"free_sized", b"free_aligned_sized"}
_DELETE = (b"_ZdlPv", b"_ZdaPv")  # operator delete, and delete[], of all signatures


def releases(program: Program, rows: I64) -> Bools:
    """Return which instructions are calls that give storage back: `free`, `delete`.

    What they leave there is nothing that a program may read: C11, 7.22.3.
    """
    table = program.instructions
    found = np.isin(table.opcode[rows], (Opcode.CALL, Opcode.INVOKE))
    callee = table.operands[table.offsets[rows[found]]]
    symbol = program.globals.name[np.minimum(callee, len(program.globals) - 1)]
    is_one = np.zeros(len(symbol), bool)
    for name in distinct(symbol).tolist():
        text = program.strings.raw(name)
        is_one |= (symbol == name) & (text in _RELEASE or text.startswith(_DELETE))
    found[found] = is_one & (callee < len(program.globals))
    return found


@dataclass(frozen=True, eq=False)
class Stored:
    """One write to a group of cells: a value of the program, or bytes that are all alike.

    Attributes:
        group: which group of locations is written.
        row: the instruction.
        fill: the byte that fills the storage; -1 for a store of a value.
    """

    group: I64
    row: I64
    fill: I64


@dataclass(frozen=True, eq=False)
class Cells:
    """What is known of memory.

    Attributes:
        region: of each cell, by points-to.
        n_bytes: of each cell; a region has one for each size that it is read with.
        start: constants that cells hold at the start, as (cell, constant), (cell, UNDEFINED) or
            (cell, 0 as a number) in three columns: cell, value, kind.
        written: which groups write to cells, as (cell, group) pairs.
        stores: what is written to groups.
        loads: instructions that read cells only.
        read: which cells each of these reads, in the order of `loads`.
    """

    region: I64
    n_bytes: I64
    start_cell: I64
    start_value: I64
    written_cell: I64
    written_group: I64
    stores: Stored
    loads: I64
    read: Rows


def cells_of(program: Program, points_to: PointsToResult) -> Cells:
    """Return the cells of a program."""
    return _Finder(program, points_to).cells()


class _Finder:
    def __init__(self, program: Program, points_to: PointsToResult) -> None:
        self._program, self._points_to = program, points_to
        self._system, self._solution = points_to.system, points_to.solution
        self._effects = points_to.effects
        self._locations = self._system.locations

    def cells(self) -> Cells:
        accesses, keys = accesses_of(self._program), self._effects.access_groups
        group, held, n_groups = keys.of_access, keys.held, len(keys.n_bytes)
        n_bytes, is_unknown = keys.n_bytes, keys.is_unknown
        is_write = accesses.opcode != Opcode.LOAD
        writes = np.zeros(n_groups, bool)
        writes[group[is_write]] = True
        owner = np.repeat(np.arange(n_groups), held.lengths())
        inexact, spoils = self._inexact(held.values.astype(np.int64), n_bytes[owner], writes[owner])
        is_exact = np.bincount(owner[inexact], minlength=n_groups) == 0
        regions = self._effects.regions
        is_bad = spoils | self._points_to.known_outside | ~self._starts_known()
        fills = self._fills(is_bad, n_groups)
        region_of = regions.of_object
        bad = np.zeros(len(regions), bool)
        touched = np.flatnonzero(is_bad & (region_of >= 0))
        bad[region_of[touched]] = True
        # One size for all stores of a region.
        of_group = regions.of_group
        pair_group = np.repeat(np.arange(len(of_group)), of_group.lengths())
        pair_region = of_group.values.astype(np.int64)
        stored = (pair_group < n_groups) & np.append(
            writes, np.zeros(len(of_group) - n_groups, bool)
        )[pair_group]
        size = np.zeros(len(regions), np.int64)
        size[pair_region[stored]] = n_bytes[pair_group[stored]]
        differs = size[pair_region[stored]] != n_bytes[pair_group[stored]]
        bad[pair_region[stored][differs]] = True
        # Loads whose regions are all good and of its size.
        reads = np.zeros(n_groups, bool)
        is_load = ~is_write & (self._program.instructions.flags[accesses.row] & (3 << 8) == 0)
        reads[group[is_load]] = True
        mine = pair_group < n_groups
        wrong = bad[pair_region[mine]] | (
            (size[pair_region[mine]] != 0) & (size[pair_region[mine]] != n_bytes[pair_group[mine]])
        )
        n_wrong = np.bincount(pair_group[mine][wrong], minlength=n_groups)
        n_regions = np.bincount(pair_group[mine], minlength=n_groups)
        good = reads & is_exact & ~is_unknown & (n_wrong == 0) & (n_regions > 0)
        # Cells: (region, size) pairs that good loads read.
        read = mine.copy()
        read[mine] = good[pair_group[mine]]
        keyed = pair_region[read] << 32 | n_bytes[pair_group[read]]
        cells = distinct(keyed)
        cell = np.searchsorted(cells, keyed)
        chosen = is_load & good[group]
        start = np.searchsorted(pair_group[read], group[chosen])
        end = np.searchsorted(pair_group[read], group[chosen], side="right")
        _, place = ragged(start, end)
        read_rows = Rows(offsets_of(end - start), cell[place].astype(np.int32))
        cell_region, cell_bytes = cells >> 32, cells & 0xFFFFFFFF
        start_cell, start_value = self._starts(cell_region, cell_bytes)
        written = stored | np.isin(pair_group, fills.group)
        order = np.argsort(pair_region[written], kind="stable")
        by_region, groups = pair_region[written][order], pair_group[written][order]
        low, high = (
            np.searchsorted(by_region, cell_region),
            np.searchsorted(by_region, cell_region, side="right"),
        )
        written_cell, place = ragged(low, high)
        stores = Stored(
            np.concatenate([group[is_write], fills.group]),
            np.concatenate([accesses.row[is_write], fills.row]),
            np.concatenate([np.full(int(is_write.sum()), -1), fills.fill]),
        )
        return Cells(
            cell_region, cell_bytes, start_cell, start_value, written_cell, groups[place], stores,
            accesses.row[chosen], read_rows,
        )  # fmt: skip

    def _inexact(self, objects: I64, n_bytes: I64, is_write: Bools) -> tuple[Bools, Bools]:
        """Return which accesses touch other locations than the one they begin at.

        Also which objects are written so.
        """
        pairs, which = np.unique(objects << 32 | n_bytes, return_inverse=True)
        starts, touched = self._effects.touched_by(pairs >> 32, pairs & 0xFFFFFFFF)
        lengths = np.diff(starts)
        owner = np.repeat(np.arange(len(pairs)), lengths)
        is_own = touched == (pairs >> 32)[owner]
        n_others = np.bincount(owner[~is_own], minlength=len(pairs))
        single = (n_others == 0) & (self._locations.byte[pairs >> 32] != UNKNOWN_OFFSET)
        stride = self._locations.stride[pairs >> 32]
        single &= (stride == 0) | (stride >= pairs & 0xFFFFFFFF)
        written = np.zeros(len(pairs), bool)
        written[which[is_write]] = True
        spoils = np.zeros(len(self._locations), bool)
        spoils[touched[(written & ~single)[owner]]] = True
        return ~single[which], spoils

    def _starts_known(self) -> Bools:
        """Return the objects whose contents at the start are known."""
        table = self._system.allocations
        known = (table.kind == AllocationKind.GLOBAL) | (table.kind == AllocationKind.STACK)
        callees = [
            callee
            for callee, sources in self._points_to.allocators.items()
            if sources <= FRESH | ZEROED
        ]
        known |= (table.kind == AllocationKind.HEAP) & np.isin(table.callee, callees)
        found: Bools = known[self._locations.allocation]
        return found

    def _fills(self, is_bad: Bools, n_groups: int) -> Stored:
        """Return the calls of memset with a constant; mark what all others outside may write."""
        direct, program = self._effects.direct, self._program
        table = program.instructions
        others = np.flatnonzero((direct.group >= n_groups) & direct.is_write)
        others = others[~releases(program, direct.row[others].astype(np.int64))]
        row, group = direct.row[others], direct.group[others].astype(np.int64)
        is_call = np.isin(table.opcode[row], (Opcode.CALL, Opcode.INVOKE))
        callee = table.operands[table.offsets[row]]
        is_fill = is_call & (callee < len(program.globals))
        symbol = program.globals.name[np.minimum(callee, len(program.globals) - 1)]
        is_fill &= program.strings.begin_with(symbol, b"llvm.memset.")
        at = np.minimum(table.offsets[row] + 2, len(table.operands) - 1)
        constant = table.operands[at].astype(np.int64) - program.bases[ValueKind.CONSTANT]
        is_fill &= (constant >= 0) & (constant < len(program.constants))
        is_fill[is_fill] = program.constants.kind[constant[is_fill]] == ConstantKind.INT
        is_fill &= ~direct.has_outside[group]
        fill = np.zeros(len(row), np.int64)
        fill[is_fill] = program.constants.payload[constant[is_fill]] & 255
        for one in np.flatnonzero(is_fill).tolist():
            is_fill[one] = self._mark_cut(int(row[one]), is_bad)
        bad_groups = distinct(group[~is_fill])
        _, place = ragged(direct.groups.offsets[bad_groups], direct.groups.offsets[bad_groups + 1])
        is_bad[direct.groups.values[place]] = True
        return Stored(group[is_fill], row[is_fill].astype(np.int64), fill[is_fill])

    def _mark_cut(self, row: int, is_bad: Bools) -> bool:
        """Mark the objects of which a memset fills a part alone; return whether all are known.

        The address must be one byte of each allocation, and the length a constant. Objects that
        begin before the first byte filled and end behind it, or likewise at the end, are cut; so
        are rows of elements if not all of them are filled.
        """
        program, table = self._program, self._program.instructions
        _, pointer, _, length, *_ = table.operands_of(row).tolist()
        constant = length - program.bases[ValueKind.CONSTANT]
        if self._solution.unknown[pointer] or not 0 <= constant < len(program.constants):
            return False
        if program.constants.kind[constant] != ConstantKind.INT:
            return False
        n_filled = int(program.constants.payload[constant])
        held = self._solution.rows.objects(int(self._solution.row_of[pointer]))
        locations, offsets = self._locations, self._system.problem.allocation_offsets
        allocations = locations.allocation[held]
        if (locations.byte[held] < 0).any() or (locations.stride[held] != 0).any():
            return False
        if len(np.unique(allocations)) < len(allocations):
            return False
        for start, allocation in zip(locations.byte[held].tolist(), allocations, strict=True):
            objects = np.arange(offsets[allocation], offsets[allocation + 1])
            low, size = locations.byte[objects], locations.n_bytes[objects]
            end = start + n_filled
            is_cut = (low < start) & (low + size > start) | (low < end) & (low + size > end)
            total = int(self._system.allocations.n_bytes[allocation])
            is_whole = start == 0 and 0 <= total <= end
            is_cut |= (locations.stride[objects] != 0) & (not is_whole)
            is_bad[objects[is_cut]] = True
        return True

    def _starts(self, regions: I64, n_bytes: I64) -> tuple[I64, I64]:
        """Return what cells hold at the start: pairs of a cell and a value.

        Values are constants of the program, or UNDEFINED, UNKNOWN or `zero(bytes)`.
        """
        members = self._effects.regions.members
        owner, place = ragged(members.offsets[regions], members.offsets[regions + 1])
        objects = members.values[place].astype(np.int64)
        table, locations = self._system.allocations, self._locations
        allocation = locations.allocation[objects]
        kind = table.kind[allocation]
        found: list[tuple[int, int]] = []
        reader = Initialisers(self._program)
        is_heap = kind == AllocationKind.HEAP
        for cell in distinct(owner[kind == AllocationKind.STACK]).tolist():
            found.append((cell, UNDEFINED))
        for index in np.flatnonzero(is_heap).tolist():
            sources = self._points_to.allocators.get(int(table.callee[allocation[index]]), FRESH)
            found += [(int(owner[index]), ZERO)] * bool(sources & ZEROED)
            found += [(int(owner[index]), UNDEFINED)] * bool(sources - ZEROED)
        for index in np.flatnonzero(kind == AllocationKind.GLOBAL).tolist():
            cell, obj = int(owner[index]), int(objects[index])
            total = int(table.n_bytes[allocation[index]])
            site = int(table.site[allocation[index]])
            values = reader.at(
                site, int(locations.byte[obj]), int(locations.stride[obj]), total,
                int(n_bytes[cell]),
            )  # fmt: skip
            found += [(cell, value) for value in values]
        pairs = np.array(sorted(set(found)), np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


ZERO = -3  # the number 0


class Initialisers:
    """Reads constants out of the initialisers of globals.

    An initialiser is flattened once: its leaves by rising byte, and the ranges that are all zero.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._first = program.bases[ValueKind.CONSTANT]
        self._size = program.store_size[np.maximum(program.value_types, 0)]
        self._flat: dict[int, tuple[I64, I64, I64, I64, I64]] = {}

    def at(self, variable: int, byte: int, stride: int, total: int, n_bytes: int) -> list[int]:
        """Return what is at a byte, or at every `stride` from there on: values of the program."""
        table = self._program.globals
        value = int(table.initializer[variable])
        if value < 0 or byte < 0 or (stride > 0 and total < 0):
            return [UNKNOWN]
        is_other = table.flags[variable] & GlobalFlag.EXTERNALLY_INITIALIZED != 0
        if is_other or table.linkage[variable] in REPLACEABLE:
            return [UNKNOWN]
        if value not in self._flat:
            self._flat[value] = self._flattened(value)
        leaf_at, leaf_bytes, leaf, zero_from, zero_to = self._flat[value]
        end = byte + 1 if stride == 0 else total - n_bytes + 1
        wanted = np.arange(byte, end, stride or 1)
        found = np.full(len(wanted), UNKNOWN, np.int64)
        if len(leaf_at):
            place = np.minimum(np.searchsorted(leaf_at, wanted), len(leaf_at) - 1)
            hits = (leaf_at[place] == wanted) & (leaf_bytes[place] == n_bytes)
            found[hits] = leaf[place[hits]]
        if len(zero_from):
            place = np.maximum(np.searchsorted(zero_from, wanted, side="right") - 1, 0)
            inside = (zero_from[place] <= wanted) & (wanted + n_bytes <= zero_to[place])
            found[inside] = ZERO
        return distinct(found).tolist() if len(found) else [UNKNOWN]

    def _flattened(self, value: int) -> tuple[I64, I64, I64, I64, I64]:
        """Return the leaves (byte, size, value), and from where to where there are zeros."""
        program, types, constants = self._program, self._program.types, self._program.constants
        none = np.empty(0, np.int64)
        leaves: list[tuple[I64, I64, I64]] = [(none, none, none)]
        zeros: list[tuple[int, int]] = []
        waiting = [(value, 0)]
        while waiting:
            value, base = waiting.pop()
            row, size = value - self._first, int(self._size[value])
            kind = int(constants.kind[row]) if 0 <= row < len(constants) else -1
            if kind in (ConstantKind.ZERO, ConstantKind.NULL):
                zeros.append((base, base + size))
            elif kind == ConstantKind.AGGREGATE:
                type_id = int(program.value_types[value])
                parts = constants.operands_of(row).astype(np.int64)
                if types.kind[type_id] == TypeKind.STRUCT:
                    offsets = types.field_offsets_of(type_id)
                else:
                    element = types.elements_of(type_id)[0]
                    offsets = np.arange(len(parts)) * int(types.size[element])
                at = parts - self._first
                is_constant = (at >= 0) & (at < len(constants))
                is_number = is_constant & (
                    constants.kind[np.where(is_constant, at, 0)] == ConstantKind.INT
                )
                plain = is_number | ~is_constant
                leaves.append(
                    (base + offsets[plain], self._size[parts[plain]].astype(np.int64), parts[plain])
                )
                rest = zip(parts[~plain].tolist(), offsets[~plain].tolist(), strict=True)
                waiting += [(part, base + offset) for part, offset in rest]
            elif kind == ConstantKind.STRING:
                text = np.frombuffer(program.strings.raw(int(constants.payload[row])), np.uint8)
                codes = number(0) - text.astype(np.int64)
                leaves.append((base + np.arange(len(text)), np.ones(len(text), np.int64), codes))
            elif kind in (-1, ConstantKind.INT, ConstantKind.EXPRESSION):
                leaves.append(tuple(np.array([x], np.int64) for x in (base, size, value)))  # type: ignore[arg-type]
        at, size_of, leaf = (np.concatenate(column) for column in zip(*leaves, strict=True))
        order = np.argsort(at, kind="stable")
        ranges = np.array(sorted(zeros), np.int64).reshape(-1, 2)
        return at[order], size_of[order], leaf[order], ranges[:, 0], ranges[:, 1]


def number(byte: int) -> int:
    """Return how a byte of a text is written among values: below all other codes."""
    return -16 - byte


def byte_of(code: int) -> int:
    """Return the byte that `number` wrote."""
    return -16 - code
