"""A plain interpreter of the IR: what really happens, for random answers of unknown functions.

It knows nothing of the analysis. `Execution` calls `enter` whenever a block begins, and `fail`
whenever something happens that a check is about.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kleene.ir import Program
from kleene.ir.codes import CALLS, ConstantKind, Flag, Opcode, Predicate, TypeKind, ValueKind


class StopError(Exception):
    """The run is over: an end, an error, or too many steps."""


@dataclass
class Frame:
    """A function under execution."""

    function: int
    call: int
    parent: Frame | None
    values: dict[int, Any] = field(default_factory=dict)
    depth: int = 0


@dataclass(frozen=True)
class Pointer:
    """An address: an object and an offset; the null pointer has no object."""

    object: int
    offset: int


NULL = Pointer(-1, 0)
DEEPEST = 30


def signed(value: int, width: int) -> int:
    half = 1 << width - 1
    return (value + half) % (1 << width) - half


class Execution:
    """One run of `main`; `choose(width)` gives the value of an unknown integer."""

    def __init__(
        self,
        program: Program,
        choose: Callable[[int], int],
        enter: Callable[[Frame, int], None],
        fail: Callable[[str, int], None],
        most_steps: int = 3000,
    ) -> None:
        self.program, self.choose, self.enter, self.fail = program, choose, enter, fail
        self.table = program.instructions
        self.base = program.bases[ValueKind.INSTRUCTION]
        self.steps_left = most_steps
        self.objects: list[dict[tuple[int, int], Any]] = []
        self.sizes: list[int] = []
        self.of_global: dict[int, int] = {}

    def run(self, function: int) -> None:
        first, end = self.program.function_table.argument_offsets[function : function + 2].tolist()
        frame = Frame(function, -1, None)
        for row in range(first, end):
            value = self.program.value(ValueKind.ARGUMENT, row)
            width = self.width(value)
            frame.values[value] = self.choose(width) if width else NULL
        with suppress(StopError):
            self.call(frame)

    def width(self, value: int) -> int:
        type_id = int(self.program.value_types[value])
        types = self.program.types
        return int(types.bits[type_id]) if types.kind[type_id] == TypeKind.INT else 0

    def call(self, frame: Frame) -> Any:
        block = int(self.program.function_table.block_offsets[frame.function])
        before = -1
        while True:
            before, block, result = block, *self.block(frame, before, block)
            if block < 0:
                return result

    def block(self, frame: Frame, before: int, block: int) -> tuple[int, Any]:
        first = int(self.program.blocks.instruction_offsets[block])
        phis = {}
        row = first
        while self.table.opcode[row] == Opcode.PHI:
            operands = self.table.operands_of(row).tolist()
            for value, source in zip(operands[::2], operands[1::2], strict=True):
                if source == self.program.value(ValueKind.BLOCK, before):
                    phis[self.base + row] = self.value(frame, value)
                    break
            row += 1
        frame.values.update(phis)
        self.enter(frame, block)
        while True:
            self.steps_left -= 1
            if self.steps_left < 0:
                raise StopError
            opcode = int(self.table.opcode[row])
            operands = self.table.operands_of(row).tolist()
            if opcode == Opcode.RET:
                return -1, self.value(frame, operands[0]) if operands else None
            if opcode == Opcode.UNREACHABLE:
                raise StopError
            if opcode in (Opcode.BR, Opcode.SWITCH):
                target = self.target(frame, opcode, operands)
                return target - self.program.bases[ValueKind.BLOCK], None
            frame.values[self.base + row] = self.instruction(frame, row, opcode, operands)
            row += 1

    def target(self, frame: Frame, opcode: int, operands: list[int]) -> int:
        if opcode == Opcode.BR:
            if len(operands) == 1:
                return operands[0]
            return operands[1] if self.value(frame, operands[0]) & 1 else operands[2]
        value = self.value(frame, operands[0])
        width = self.width(operands[0])
        for case, target in zip(operands[2::2], operands[3::2], strict=True):
            if signed(self.value(frame, case), width) == signed(value, width):
                return target
        return operands[1]

    def value(self, frame: Frame, value: int) -> Any:
        """Return integers as the unsigned reading of their bits."""
        if value in frame.values:
            return frame.values[value]
        kind, row = self.program.locate(value)
        if kind == ValueKind.GLOBAL:
            return Pointer(self.global_object(value), 0)
        assert kind == ValueKind.CONSTANT, value
        table, width = self.program.constants, self.width(value)
        constant = int(table.kind[row])
        if constant in (ConstantKind.UNDEF, ConstantKind.POISON):
            return self.choose(width) if width else NULL
        if constant == ConstantKind.EXPRESSION:
            operands = table.operands_of(row).tolist()
            assert table.opcode[row] == Opcode.GETELEMENTPTR
            return self.element(frame, operands, int(table.about[row]))
        if not width:
            return NULL
        if constant in (ConstantKind.NULL, ConstantKind.ZERO):
            return 0
        return int(table.payload[row]) % (1 << width)

    def global_object(self, value: int) -> int:
        if value not in self.of_global:
            size = int(self.program.types.size[self.program.globals.type[value]])
            self.of_global[value] = self.new_object(size)
            initializer = int(self.program.globals.initializer[value])
            if initializer >= 0:
                self.fill(self.of_global[value], 0, initializer)
        return self.of_global[value]

    def fill(self, object: int, offset: int, value: int) -> None:
        row = value - self.program.bases[ValueKind.CONSTANT]
        if not 0 <= row < len(self.program.constants):
            return
        table, types = self.program.constants, self.program.types
        type_id = int(table.type[row])
        if table.kind[row] == ConstantKind.AGGREGATE:
            for place, one in enumerate(table.operands_of(row).tolist()):
                if types.kind[type_id] == TypeKind.STRUCT:
                    at = int(types.field_offsets_of(type_id)[place])
                else:
                    at = place * int(types.size[types.elements_of(type_id)[0]])
                self.fill(object, offset + at, one)
        elif table.kind[row] in (ConstantKind.ZERO, ConstantKind.NULL):
            self.objects[object]["zero"] = True  # type: ignore[index]
        elif self.width(value):
            size = int(types.size[type_id])
            self.objects[object][offset, size] = int(table.payload[row]) % (1 << 8 * size)

    def new_object(self, size: int) -> int:
        self.objects.append({})
        self.sizes.append(size)
        return len(self.objects) - 1

    def instruction(self, frame: Frame, row: int, opcode: int, operands: list[int]) -> Any:
        value = self.base + row
        if opcode in CALLS:
            return self.call_instruction(frame, row, operands)
        if Opcode.ADD <= opcode <= Opcode.XOR:
            return self.binary(frame, row, opcode, operands)
        if opcode == Opcode.ICMP:
            return int(self.compare(frame, row, operands))
        if opcode in (Opcode.ZEXT, Opcode.TRUNC, Opcode.SEXT):
            given = self.value(frame, operands[0])
            if opcode == Opcode.SEXT:
                given = signed(given, self.width(operands[0]))
            return given % (1 << self.width(value))
        if opcode == Opcode.SELECT:
            return self.value(frame, operands[1 if self.value(frame, operands[0]) & 1 else 2])
        if opcode in (Opcode.FREEZE, Opcode.BITCAST):
            return self.value(frame, operands[0])
        if opcode == Opcode.ALLOCA:
            each = int(self.program.types.size[self.table.about[row]])
            count = self.value(frame, operands[0]) if operands else 1
            return Pointer(self.new_object(each * count), 0)
        if opcode == Opcode.GETELEMENTPTR:
            return self.element(frame, operands, int(self.table.about[row]))
        if opcode == Opcode.LOAD:
            return self.load(frame, row, operands)
        if opcode == Opcode.STORE:
            return self.store(frame, row, operands)
        raise NotImplementedError(Opcode(opcode))

    def binary(self, frame: Frame, row: int, opcode: int, operands: list[int]) -> int:
        width = self.width(self.base + row)
        a, b = (self.value(frame, one) for one in operands)
        x, y = signed(a, width), signed(b, width)
        flags = int(self.table.flags[row])
        if opcode in (Opcode.UDIV, Opcode.UREM, Opcode.SDIV, Opcode.SREM) and b == 0:
            self.fail("division", row)
            raise StopError
        if opcode in (Opcode.SHL, Opcode.LSHR, Opcode.ASHR) and b >= width:
            self.fail("shift", row)
            raise StopError
        results = {
            Opcode.ADD: lambda: x + y, Opcode.SUB: lambda: x - y, Opcode.MUL: lambda: x * y,
            Opcode.AND: lambda: a & b, Opcode.OR: lambda: a | b, Opcode.XOR: lambda: a ^ b,
            Opcode.SHL: lambda: x << b, Opcode.LSHR: lambda: a >> b, Opcode.ASHR: lambda: x >> b,
            Opcode.UDIV: lambda: a // b, Opcode.UREM: lambda: a % b,
            Opcode.SDIV: lambda: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
            Opcode.SREM: lambda: abs(x) % abs(y) * (-1 if x < 0 else 1),
        }  # fmt: skip
        result: int = results[Opcode(opcode)]()
        overflows = result != signed(result, width) and width > 1
        is_forbidden = flags & Flag.NSW or opcode in (Opcode.SDIV, Opcode.SREM)
        if opcode in (Opcode.SDIV, Opcode.SREM):
            overflows = x == -(1 << width - 1) and y == -1
        if overflows and is_forbidden and opcode not in (Opcode.UDIV, Opcode.LSHR, Opcode.UREM):
            self.fail("overflow", row)
            raise StopError
        return result % (1 << width)

    def compare(self, frame: Frame, row: int, operands: list[int]) -> bool:
        a, b = (self.value(frame, one) for one in operands)
        predicate = Predicate(int(self.table.sub[row]))
        if isinstance(a, Pointer):
            return (a == b) == (predicate == Predicate.EQ)
        width = self.width(operands[0])
        if predicate in (Predicate.SGT, Predicate.SGE, Predicate.SLT, Predicate.SLE):
            a, b = signed(a, width), signed(b, width)
        return {
            Predicate.EQ: a == b, Predicate.NE: a != b,
            Predicate.SGT: a > b, Predicate.UGT: a > b, Predicate.SGE: a >= b,
            Predicate.UGE: a >= b, Predicate.SLT: a < b, Predicate.ULT: a < b,
            Predicate.SLE: a <= b, Predicate.ULE: a <= b,
        }[predicate]  # fmt: skip

    def element(self, frame: Frame, operands: list[int], type_id: int) -> Pointer:
        pointer = self.value(frame, operands[0])
        offset, types = pointer.offset, self.program.types
        for place, index in enumerate(operands[1:]):
            number = signed(self.value(frame, index), self.width(index))
            if place and types.kind[type_id] == TypeKind.STRUCT:
                offset += int(types.field_offsets_of(type_id)[number])
                type_id = int(types.elements_of(type_id)[number])
                continue
            if place:
                type_id = int(types.elements_of(type_id)[0])
            offset += number * int(types.size[type_id])
        return Pointer(pointer.object, offset)

    def access(self, row: int, pointer: Pointer, size: int) -> None:
        if pointer.object < 0:
            self.fail("null", row)
            raise StopError
        if not 0 <= pointer.offset <= self.sizes[pointer.object] - size:
            self.fail("bounds", row)
            raise StopError

    def load(self, frame: Frame, row: int, operands: list[int]) -> Any:
        pointer = self.value(frame, operands[0])
        value = self.base + row
        size = int(self.program.types.size[self.program.value_types[value]])
        self.access(row, pointer, size)
        content = self.objects[pointer.object]
        width = self.width(value)
        missing = NULL if not width else 0 if content.get("zero") else self.choose(width)  # type: ignore[call-overload]
        return content.setdefault((pointer.offset, size), missing)

    def store(self, frame: Frame, row: int, operands: list[int]) -> None:
        pointer = self.value(frame, operands[1])
        size = int(self.program.types.size[self.program.value_types[operands[0]]])
        self.access(row, pointer, size)
        self.objects[pointer.object][pointer.offset, size] = self.value(frame, operands[0])

    def call_instruction(self, frame: Frame, row: int, operands: list[int]) -> Any:
        callee = operands[0]
        arguments = [self.value(frame, one) for one in operands[1:] if self.is_plain(one)]
        assert callee < len(self.program.globals), "a call through a pointer"
        function = int(self.program.globals.function[callee])
        name = self.program.functions[function].name
        if name in ("__assert_fail", "reach_error", "__VERIFIER_error"):
            self.fail("assert", row)
            raise StopError
        if name in ("exit", "abort"):
            raise StopError
        if name in ("__VERIFIER_assume", "kleene_assume") and not arguments[0]:
            raise StopError
        if name == "kleene_check" and not arguments[0]:
            self.fail("assert", row)
            raise StopError
        if name == "malloc":
            is_there = self.choose(3) != 0
            return Pointer(self.new_object(arguments[0]), 0) if is_there else NULL
        blocks = self.program.function_table.block_offsets[function : function + 2].tolist()
        if blocks[0] == blocks[1]:
            width = self.width(self.base + row)
            return self.choose(width) if width else NULL
        inner = Frame(function, row, frame, depth=frame.depth + 1)
        if inner.depth > DEEPEST:
            raise StopError
        first = int(self.program.function_table.argument_offsets[function])
        for place, one in enumerate(arguments):
            inner.values[self.program.value(ValueKind.ARGUMENT, first + place)] = one
        return self.call(inner)

    def is_plain(self, value: int) -> bool:
        kind, row = self.program.locate(value)
        if kind == ValueKind.CONSTANT:
            return self.program.constants.kind[row] != ConstantKind.METADATA
        return True
