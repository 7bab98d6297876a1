"""Storage of a whole program that begins with nothing written, and who hands its address on.

An *origin* is a value that is the start of such storage: a local, what an allocator returns, an
argument that was passed by value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.library import calls_by_model
from kleene.analyses.invariants.whole.addresses import address_sums
from kleene.analyses.invariants.whole.flow import Flow
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.analyses.invariants.whole.storage import Storage
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import Bools
from kleene.ir.codes import CALLS, ConstantKind, GlobalFlag, Opcode, ValueKind

_ADDS = (Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)
_STAYS = (*_ADDS, Opcode.LOAD, Opcode.ICMP, Opcode.ALLOCA)  # they hand no address on
_UNDEFINED = (
    "malloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "valloc", "pvalloc",
    "posix_memalign", "alloca",
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
        names = self.program.globals
        callee = int(self.context.points_to.system.allocations.callee[allocation])
        if not 0 <= callee < len(names):
            return True
        name = self.program.strings[int(names.name[callee])]
        has_body = not names.flags[callee] & GlobalFlag.DECLARATION
        return has_body or name in _UNDEFINED or name.startswith(("_Znwm", "_Znam"))

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
        program, table = self.program, self.table
        found = np.zeros(program.n_values, bool)
        constants = program.constants
        first = program.bases[ValueKind.CONSTANT]
        is_none = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
        found[first : first + len(constants)] = is_none
        if not is_none.any():
            return found
        sources, targets = [], []
        for row in np.flatnonzero(np.isin(table.opcode, (Opcode.PHI, Opcode.SELECT))).tolist():
            block = int(table.block[row])
            operands = table.operands_of(row).tolist()
            if table.opcode[row] == Opcode.SELECT:
                given = operands[1:]
            else:
                base, reached = program.bases[ValueKind.BLOCK], self.flow.predecessors(block)
                pairs = zip(operands[::2], operands[1::2], strict=True)
                given = [value for value, source in pairs if source - base in reached]
            sources += given
            targets += [self.first + row] * len(given)
        for call, functions in self.storage.targets.items():
            arguments = table.operands_of(call)[1:].tolist()
            for function in functions:
                start, end = program.function_table.argument_offsets[function : function + 2]
                base = program.bases[ValueKind.ARGUMENT]
                for place, value in zip(range(start, end), arguments, strict=False):
                    sources.append(value)
                    targets.append(base + place)
                for block in self.flow.blocks(function):
                    row = self.flow.rows(block)[1] - 1
                    if table.opcode[row] == Opcode.RET and len(table.operands_of(row)):
                        sources.append(int(table.operands_of(row)[0]))
                        targets.append(self.first + call)
        source, target = np.array(sources, np.int64), np.array(targets, np.int64)
        while True:
            new = target[found[source] & ~found[target]]
            if not len(new):
                return found
            found[new] = True

    # Arguments whose address is handed on

    def _captured_arguments(self) -> Bools:
        """Return the arguments that a function may store, return or choose, or others it calls."""
        base = self.program.bases[ValueKind.ARGUMENT]
        found = np.zeros(len(self.program.arguments), bool)
        passed: dict[int, list[int]] = defaultdict(list)  # argument of a callee: those of callers
        offsets = self.program.function_table.argument_offsets.tolist()
        for function in self.flow.functions:
            first, end = offsets[function], offsets[function + 1]
            for block in self.flow.blocks(function):
                for row, value, position in self.handed(block):
                    argument = self.origin[value] - base
                    if not first <= argument < end:
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

    def handed(self, block: int) -> Iterator[tuple[int, int, int]]:
        """Yield where a block hands an address on: the instruction, the value and its position."""
        first, end = self.flow.rows(block)
        may_hold = self.may_hold
        opcodes = self.table.opcode[first:end].tolist()
        for row, opcode in zip(range(first, end), opcodes, strict=True):
            if opcode in _STAYS:
                continue
            operands = self.table.operands_of(row).tolist()
            if opcode == Opcode.STORE:
                operands = operands[:1]
            for position, value in enumerate(operands):
                if may_hold[value]:
                    yield row, value, position

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
