"""Storage of a whole program that begins with nothing written, and who hands its address on.

An *origin* is a value that is the start of such storage: a local, what an allocator returns, an
argument that was passed by value.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.library import calls_by_model
from kleene.analyses.invariants.whole.addresses import AddressSums, address_sums
from kleene.analyses.invariants.whole.flow import Flow
from kleene.analyses.invariants.whole.masks import ALL, MOST, written_mask
from kleene.analyses.invariants.whole.outcomes import Outcomes
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.analyses.invariants.whole.storage import Storage
from kleene.analyses.invariants.whole.undefined_values import owners, undefined_values
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, Bools, Ints
from kleene.ir.codes import CALLS, GlobalFlag, Opcode, Passing, ValueKind
from kleene.ir.padding import padding_of

_ADDS = (Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)
_STAYS = (*_ADDS, Opcode.LOAD, Opcode.ICMP, Opcode.ALLOCA)  # they hand no address on
_UNDEFINED = (
    b"malloc", b"realloc", b"reallocarray", b"aligned_alloc", b"memalign", b"valloc", b"pvalloc",
    b"posix_memalign", b"alloca",
)  # fmt: skip
_FAR = 1 << 40
_UNKNOWN = 256  # bytes of storage that are followed, where nobody knows how many there are
Place = tuple[int, int]  # an allocation, and bytes behind its start; -1: any number


class Origins:
    """Where addresses come from, and where they go.

    Attributes:
        origin: of each value, what its address is computed from.
        distance: of each value, how many bytes behind its origin it is; None where that varies.
        of: the origins, and the allocations of each.
        not_followed: allocations whose address is not the value of their site.
        undefined: which values may be undefined.
        captured: of each argument, whether its function may hand it on.
    """

    def __init__(self, context: Context, storage: Storage, flow: Flow, pointers: Pointers) -> None:
        self.context, self.storage, self.flow, self._pointers = context, storage, flow, pointers
        self.may_hold = context.points_to.system.may_hold_pointer
        self.program, self.table = context.program, context.program.instructions
        self.first = self.program.bases[ValueKind.INSTRUCTION]
        self.outcomes = Outcomes(context, flow)
        self.first_argument = self.program.bases[ValueKind.ARGUMENT]
        self.opcodes: list[int] = self.table.opcode.tolist()
        self.blocks: list[int] = self.table.block.tolist()
        self.types: list[int] = self.program.value_types.tolist()
        self.sizes: list[int] = self.program.store_size.tolist()
        self.leaves: list[bool] = context.calls.may_return_any.tolist()
        self.models = {
            call: model for model, calls in calls_by_model(self.program) for call in calls.tolist()
        }
        self._has_offset = pointers.offset.has_value
        self._of_set: dict[int, frozenset[Place]] = {}
        self._all_of_set: dict[int, frozenset[Place]] = {}
        self._same_places: dict[frozenset[Place], frozenset[Place]] = {}
        self._width_of = cache(self._width_of_places)
        self._bits: dict[frozenset[Place], int] = {}
        self._find_places()
        self.not_followed: list[int] = []
        self.of = self._origins()
        self.undefined = undefined_values(context, flow)
        self.captured = self._captured_arguments()

    def may_be_unwritten(self, value: int) -> bool:
        """Return whether an address may be of storage that begins with nothing written."""
        return self.origin[value] in self.of or bool(self.unwritten(value))

    # Addresses

    def _find_places(self) -> None:
        """Find the origin of each address, and its distance from there."""
        program, table = self.program, self.table
        n_values = program.n_values
        origin, distance = np.arange(n_values), np.zeros(n_values, np.int64)
        varies = np.zeros(n_values, bool)
        rows = np.flatnonzero(np.isin(table.opcode, _ADDS))
        origin[rows + self.first] = table.operands[table.offsets[rows]]
        rows = np.flatnonzero(table.opcode == Opcode.GETELEMENTPTR)
        starts, ends = table.offsets[rows].astype(np.int64), table.offsets[rows + 1]
        sums = address_sums(program, table.operands, starts, ends, table.about[rows])
        is_plain = sums.is_known.copy()
        is_plain[sums.row] = False
        distance[rows + self.first] = np.where(is_plain, sums.constant, 0)
        varies[rows + self.first] = ~is_plain
        low, high = distance.copy(), distance.copy()
        self._add_terms(rows, sums, low, high)
        for _ in range(n_values.bit_length()):
            distance = distance + distance[origin]
            low, high = low + low[origin], high + high[origin]
            varies |= varies[origin]
            origin = origin[origin]
            distance[np.abs(distance) > _FAR] = _FAR  # code that nothing reaches
            low, high = np.maximum(low, -_FAR), np.minimum(high, _FAR)
        self._low: list[int] = low.tolist()
        self._high: list[int] = high.tolist()
        self.origin: list[int] = origin.tolist()
        self.distance: list[int | None] = [
            None if one else number
            for one, number in zip(varies.tolist(), distance.tolist(), strict=True)
        ]

    def _add_terms(self, rows: Ints, sums: AddressSums, low: I64, high: I64) -> None:
        """Add what facts say of the terms of addresses to their least and greatest distance."""
        facts, names = self.context.facts, self.context.split.operand[sums.place].astype(np.int64)
        is_known = self.context.is_tracked(names) & facts.has_value[names]
        ends = np.stack([facts.low[names], facts.high[names]])
        ends = np.clip(np.where(is_known, ends, [[-_FAR], [_FAR]]), -_FAR, _FAR)
        ends = np.clip(ends.astype(object) * sums.stride.astype(object), -_FAR, _FAR)
        value = rows[sums.row] + self.first
        constant = np.zeros(len(low), np.int64)
        constant[rows + self.first] = sums.constant
        for column, end, none in ((low, ends.min(0), -_FAR), (high, ends.max(0), _FAR)):
            column[np.unique(value)] = constant[np.unique(value)]
            np.add.at(column, value, end.astype(np.int64))
            column[rows[~sums.is_known] + self.first] = none
            np.clip(column, -_FAR, _FAR, out=column)

    def reach(self, value: int) -> tuple[int, int] | None:
        """Return how many bytes behind its origin an address is at least and at most."""
        low, high = self._low[value], self._high[value]
        return (low, high) if 0 <= low <= high < _FAR else None

    def _origins(self) -> dict[int, list[int]]:
        """Return the values whose storage begins with nothing written, and their allocations."""
        system = self.context.points_to.system
        kind, site = system.allocations.kind, system.allocations.site
        made = np.isin(kind, (AllocationKind.STACK, AllocationKind.HEAP, AllocationKind.COPY))
        found: dict[int, list[int]] = defaultdict(list)
        self._is_start = np.zeros(len(kind), bool)
        for allocation in np.flatnonzero(made).tolist():
            if kind[allocation] == AllocationKind.HEAP and not self._begins_unwritten(allocation):
                continue
            value = int(site[allocation])
            is_pointer = value >= 0 and self._holds(value, allocation)
            self._is_start[allocation] = True
            if is_pointer:
                found[value].append(allocation)
            else:
                self.not_followed.append(allocation)
        return dict(found)

    def _begins_unwritten(self, allocation: int) -> bool:
        """Return whether an allocator may leave storage as it was; of unknown ones, it may."""
        points_to, names = self.context.points_to, self.program.globals
        callee = int(points_to.system.allocations.callee[allocation])
        if not 0 <= callee < len(names):
            return True
        if sources := points_to.allocators.get(callee):
            return any(
                name in _UNDEFINED or name.startswith((b"_Znwm", b"_Znam")) for name in sources
            )
        return not names.flags[callee] & GlobalFlag.DECLARATION

    def _holds(self, value: int, allocation: int) -> bool:
        """Return whether a pointer may hold an allocation."""
        points_to = self.context.points_to
        objects = points_to.solution.rows.objects(int(points_to.solution.row_of[value]))
        return allocation in points_to.system.locations.allocation[objects]

    def unwritten(self, value: int) -> frozenset[Place]:
        """Return where a pointer may point, in allocations that begin with nothing written."""
        return self._found(value, self._is_start, self._of_set)

    def places(self, value: int) -> frozenset[Place]:
        """Return where a pointer may point, in allocations of the program."""
        return self._found(value, np.ones_like(self._is_start), self._all_of_set)

    def _found(
        self, value: int, is_asked: Bools, known: dict[int, frozenset[Place]]
    ) -> frozenset[Place]:
        solution = self.context.points_to.solution
        key = int(solution.row_of[value]) * 2 + int(solution.unknown[value])
        if key not in known:
            locations = self.context.points_to.system.locations
            objects = solution.rows.objects(key // 2)
            objects = objects[is_asked[locations.allocation[objects]]]
            is_exact = (locations.stride[objects] == 0) & (locations.byte[objects] >= 0)
            byte = np.where(is_exact, locations.byte[objects], -1)
            found = set(zip(locations.allocation[objects].tolist(), byte.tolist(), strict=True))
            if key & 1:
                outside = self._known_outside[is_asked[self._known_outside]]
                found |= {(one, -1) for one in outside.tolist()}
            places = frozenset(found)
            known[key] = self._same_places.setdefault(places, places)  # compared by identity first
        return known[key]

    @cached_property
    def _known_outside(self) -> Ints:
        """The allocations that an unknown pointer may point to."""
        points_to = self.context.points_to
        return np.unique(points_to.system.locations.allocation[points_to.escaped])

    def is_for_result(self, value: int) -> bool:
        """Return whether an address is where the caller wants a struct that is returned."""
        argument = self.origin[value] - self.first_argument
        passing = self.program.arguments.passing
        return 0 <= argument < len(passing) and bool(passing[argument] == Passing.SRET)

    def are_unwritten(self, values: Ints) -> Bools:
        """Return which addresses have a mask, or may be of storage with nothing written."""
        solution = self.context.points_to.solution
        key = solution.row_of[values].astype(np.int64) * 2 + solution.unknown[values]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        found = [bool(self.unwritten(value)) for value in values[first].tolist()]
        may_hold: Bools = self.may_hold[values]
        return self.has_mask[values] | np.array(found, bool)[which] & may_hold

    def bytes_of(self, row: int, place: int, size: int) -> tuple[int, int] | None:
        """Return the least and the greatest byte, and one more, of its object that are accessed."""
        name = int(self.context.split.operand[self.table.offsets[row] + place])
        offset = self._pointers.offset
        low, high = int(offset.low[name]), int(offset.high[name])
        if not self._has_offset[name] or low < 0 or high >= 1 << 40:
            return None
        return low, high + size

    def width(self, origin: int) -> int:
        """Return how many bytes of storage are followed."""
        if origin not in self.of:
            return self._width_of(self.unwritten(origin))
        return self._width_of(frozenset((one, 0) for one in self.of[origin]))

    def _width_of_places(self, places: frozenset[Place]) -> int:
        allocations = self.context.points_to.system.allocations
        sizes = [int(allocations.n_bytes[one]) - byte if byte >= 0 else -1 for one, byte in places]
        return min(max((_UNKNOWN if one < 0 else one for one in sizes), default=_UNKNOWN), MOST)

    def beyond(self, origin: int) -> int:
        """Return the mask of what needs no value: padding, and what is behind the storage's end.

        Of the end nothing is said if that is not known.
        """
        row, padding = origin - self.first, 0
        if row >= 0 and self.opcodes[row] == Opcode.ALLOCA:
            for byte in padding_of(self.program, int(self.table.about[row])):
                padding |= written_mask(byte, byte + 1)
        n_bytes = self.context.points_to.system.allocations.n_bytes[self.of[origin]]
        if (n_bytes < 0).any() or (n_bytes > MOST).any():
            return padding
        return padding | ALL << int(n_bytes.max())

    def allocations_of(self, places: frozenset[Place]) -> int:
        """Return the allocations of places as one integer."""
        found = self._bits.get(places)
        if found is None:
            found = 0
            for one, _ in places:
                found |= 1 << one
            self._bits[places] = found
        return found

    @cached_property
    def outlives(self) -> int:
        """The allocations that stay where the function ends that makes them, as one integer."""
        kind, found = self.context.points_to.system.allocations.kind, 0
        for one in np.flatnonzero(kind == AllocationKind.HEAP).tolist():
            found |= 1 << one
        return found

    def may_repeat(self, row: int) -> bool:
        """Return whether an instruction may make storage more than once while its function runs."""
        block = self.blocks[row]
        return bool(self.flow.predecessors(block))

    # Arguments whose address is handed on

    def _captured_arguments(self) -> Bools:
        """Return the arguments that a function may store, return or choose, or others it calls."""
        base = self.program.bases[ValueKind.ARGUMENT]
        found = np.zeros(len(self.program.arguments), bool)
        passed: dict[int, list[int]] = defaultdict(list)  # argument of a callee: those of callers
        for row, handed in self.handed.items():
            if not self.flow.is_followed[self.table.block[row]]:
                continue
            for value, position in handed:
                argument = self.origin[value] - base
                if not 0 <= argument < len(found):
                    continue
                formals = self.formals(row, position)
                if formals is None:
                    found[argument] = True
                for one in formals or ():
                    passed[one].append(argument)
        waiting = np.flatnonzero(found).tolist()
        while waiting:
            for one in passed[waiting.pop()]:
                if not found[one]:
                    found[one] = True
                    waiting.append(one)
        return found

    @cached_property
    def has_mask(self) -> Bools:
        """Whether the origin of a value is an argument, or begins with nothing written."""
        is_origin = np.zeros(self.program.n_values, bool)
        is_origin[list(self.of)] = True
        first = self.program.bases[ValueKind.ARGUMENT]
        is_origin[first : first + len(self.program.arguments)] = True
        return is_origin[self.origin]

    @cached_property
    def handed(self) -> dict[int, list[tuple[int, int]]]:
        """Where addresses with a mask are handed on: by instruction, values and their positions."""
        owner, place = owners(self.program)
        value, opcode = self.table.operands, self.table.opcode[owner]
        goes = self.may_hold[value] & self.has_mask[value] & ~np.isin(opcode, _STAYS)
        goes &= (opcode != Opcode.STORE) | (place == 0)
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        columns = (owner[goes], value[goes], place[goes])
        for row, one, position in zip(*(column.tolist() for column in columns), strict=True):
            found[row].append((one, position))
        return dict(found)

    def formals(self, row: int, position: int) -> list[int] | None:
        """Return the arguments of callees that an operand is passed to; None if it is handed on."""
        if self.table.opcode[row] not in CALLS or position == 0:
            return None
        functions = self.storage.targets.get(row, [])
        if self.context.calls.may_return_any[row]:
            model = self.models.get(row)
            if model is None or model.is_unknown or functions or model.keeps == position - 1:
                return None
            if model.returns == position - 1:
                return None
            return []
        offsets = self.program.function_table.argument_offsets
        found = []
        for one in functions:
            argument = int(offsets[one]) + position - 1
            if argument >= offsets[one + 1]:
                return None
            found.append(argument)
        return found
