"""Storage of a whole program that begins with nothing written, and who hands its address on.

An *origin* is a value that is the start of such storage: a local, what an allocator returns, an
argument that was passed by value.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.values_needed import (
    PASSES_ON,
    are_words,
    must_have_values,
    temporaries,
)
from kleene.analyses.invariants.library import calls_by_model
from kleene.analyses.invariants.whole.addresses import address_sums
from kleene.analyses.invariants.whole.flow import Flow
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.analyses.invariants.whole.storage import Storage
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, Bools, Ints, offsets_of
from kleene.ir.codes import CALLS, ConstantKind, GlobalFlag, Opcode, ValueKind

_ADDS = (Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)
_STAYS = (*_ADDS, Opcode.LOAD, Opcode.ICMP, Opcode.ALLOCA)  # they hand no address on
_UNDEFINED = (
    b"malloc", b"realloc", b"reallocarray", b"aligned_alloc", b"memalign", b"valloc", b"pvalloc",
    b"posix_memalign", b"alloca",
)  # fmt: skip
Place = tuple[int, int]  # an allocation, and bytes behind its start; -1: any number


class Origins:
    """Where addresses come from, and where they go.

    Attributes:
        origin: of each value, what its address is computed from.
        distance: of each value, how many bytes behind its origin it is; None where that varies.
        of: the origins, and the allocations of each.
        not_followed: allocations whose address is not the value of their site.
        is_undefined: of each value, whether it may be undefined.
        captured: of each argument, whether its function may hand it on.
    """

    def __init__(self, context: Context, storage: Storage, flow: Flow, pointers: Pointers) -> None:
        self.context, self.storage, self.flow, self._pointers = context, storage, flow, pointers
        self.may_hold = context.points_to.system.may_hold_pointer
        self.program, self.table = context.program, context.program.instructions
        self.first = self.program.bases[ValueKind.INSTRUCTION]
        self.models = {
            call: model for model, calls in calls_by_model(self.program) for call in calls.tolist()
        }
        self._has_offset = pointers.offset.has_value
        self._of_set: dict[int, frozenset[Place]] = {}
        self._find_places()
        self.not_followed: list[int] = []
        self.of = self._origins()
        self.is_undefined = self._may_be_undefined()
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
        for _ in range(n_values.bit_length()):
            distance = distance + distance[origin]
            varies |= varies[origin]
            origin = origin[origin]
            distance[np.abs(distance) > 1 << 40] = 1 << 40  # code that nothing reaches
        self.origin: list[int] = origin.tolist()
        self.distance: list[int | None] = [
            None if one else number
            for one, number in zip(varies.tolist(), distance.tolist(), strict=True)
        ]

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
        solution = self.context.points_to.solution
        key = int(solution.row_of[value]) * 2 + int(solution.unknown[value])
        if key not in self._of_set:
            locations = self.context.points_to.system.locations
            objects = solution.rows.objects(key // 2)
            objects = objects[self._is_start[locations.allocation[objects]]]
            is_exact = (locations.stride[objects] == 0) & (locations.byte[objects] >= 0)
            byte = np.where(is_exact, locations.byte[objects], -1)
            found = set(zip(locations.allocation[objects].tolist(), byte.tolist(), strict=True))
            if key & 1:
                outside = np.unique(locations.allocation[self.context.points_to.escaped])
                found |= {(one, -1) for one in outside[self._is_start[outside]].tolist()}
            self._of_set[key] = frozenset(found)
        return self._of_set[key]

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

    # Values that nobody gave

    def _may_be_undefined(self) -> Bools:
        """Return the values that may be undefined, by φ, choices, arguments and results."""
        program = self.program
        found = np.zeros(program.n_values, bool)
        constants = program.constants
        first = program.bases[ValueKind.CONSTANT]
        is_none = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
        found[first : first + len(constants)] = is_none
        if not is_none.any():
            return found
        parts = (self._chosen(), self._computed(), self._passed(), self._returned())
        source, target = (np.concatenate(one) for one in zip(*parts, strict=True))
        while True:
            new = target[found[source] & ~found[target]]
            if not len(new):
                return found
            found[new] = True

    def _chosen(self) -> tuple[I64, I64]:
        """Return what φ and choices get, on ways that a run may go, and their values."""
        table, (owner, place) = self.table, self._owners
        opcode = table.opcode[owner]
        chosen = np.flatnonzero((opcode == Opcode.SELECT) & (place > 0))
        phis = np.flatnonzero((opcode == Opcode.PHI) & (place % 2 == 0))
        before = table.operands[phis + 1] - self.program.bases[ValueKind.BLOCK]
        phis = phis[self.flow.are_edges(before, table.block[owner[phis]])]
        is_constant = table.operands[phis] < self.program.bases[ValueKind.ARGUMENT]
        phis = phis[~(temporaries(self.program)[owner[phis]] & is_constant)]
        given = np.concatenate((chosen, phis))
        return table.operands[given].astype(np.int64), owner[given] + self.first

    def _computed(self) -> tuple[I64, I64]:
        """Return what has no value where an operand has none, which is no fault, and the operand.

        All else that is computed of such an operand is behind a check.
        """
        table, (owner, _) = self.table, self._owners
        chosen = np.isin(table.opcode, PASSES_ON) & ~are_words(self.program)
        given = np.flatnonzero(chosen[owner])
        return table.operands[given].astype(np.int64), owner[given] + self.first

    def _passed(self) -> tuple[I64, I64]:
        """Return what calls pass to functions with a body, and the arguments there.

        What must have a value is checked at the call.
        """
        table, calls = self.table, self.context.calls
        offsets = self.program.function_table.argument_offsets.astype(np.int64)
        call, function = calls.call.astype(np.int64), calls.function.astype(np.int64)
        length = np.minimum(np.diff(table.offsets)[call] - 1, np.diff(offsets)[function])
        pair, place = _within(length)
        at = table.offsets[call][pair] + 1 + place
        given = table.operands[at].astype(np.int64)
        formal = self.program.bases[ValueKind.ARGUMENT] + offsets[function][pair] + place
        chosen = ~must_have_values(self.program)[at]
        return given[chosen], formal[chosen]

    def _returned(self) -> tuple[I64, I64]:
        """Return what functions return, and the calls that get it: no scalars, as above."""
        table, calls = self.table, self.context.calls
        has_value = (table.opcode == Opcode.RET) & (np.diff(table.offsets) > 0)
        first = table.offsets[:-1][has_value]
        has_value[has_value] = ~must_have_values(self.program)[first]
        rows = np.flatnonzero(has_value & self.flow.is_followed[table.block])
        n_functions = len(self.program.function_table)
        count = np.bincount(self.program.instruction_function[rows], minlength=n_functions)
        function = calls.function.astype(np.int64)
        pair, place = _within(count[function])
        row = rows[offsets_of(count)[function][pair] + place]  # they are in order of functions
        given = table.operands[table.offsets[row]].astype(np.int64)
        return given, self.first + calls.call.astype(np.int64)[pair]

    @cached_property
    def _owners(self) -> tuple[I64, I64]:
        """Of each operand, the instruction that it belongs to, and its position there."""
        return _within(np.diff(self.table.offsets))

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
        owner, place = self._owners
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


def _within(lengths: I64) -> tuple[I64, I64]:
    """Return, of rows of some lengths one after the other, the row and the place of each entry."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    return row, np.arange(len(row)) - offsets_of(lengths)[row]
