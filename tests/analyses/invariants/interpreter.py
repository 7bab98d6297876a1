"""A plain interpreter of the IR: what really happens, for random answers of unknown functions.

It knows nothing of the analysis. `Execution` calls `enter` whenever a block begins, `fail` whenever
something happens that a check is about, and `passed` behind every instruction that did not stop it.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    AtomicOperation,
    ConstantKind,
    Flag,
    GlobalKind,
    Opcode,
    Passing,
    Predicate,
    TypeKind,
    ValueKind,
)


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
    locals: list[int] = field(default_factory=list)  # objects


@dataclass(frozen=True)
class Pointer:
    """An address: an object and an offset; the null pointer has no object."""

    object: int
    offset: int


@lru_cache(maxsize=2)
def widths(program: Program) -> list[int]:
    """Return the bits of each value that is an integer; 0 of others."""
    types = program.types
    bits = np.where(types.kind == TypeKind.INT, types.bits, 0)
    return np.append(bits, 0)[program.value_types].tolist()


class Undefined(int):
    """A value that nobody gave: any, but to compute with it is an error."""


NULL = Pointer(-1, 0)
DEEPEST = 30
COMPUTES = {
    *range(Opcode.ADD, Opcode.SREM + 1), Opcode.XOR, Opcode.ASHR, Opcode.ICMP, Opcode.SEXT,
    Opcode.GETELEMENTPTR, Opcode.BR, Opcode.SWITCH,
}  # fmt: skip
MEANT = {
    "__assert_fail": "fail", "reach_error": "fail", "__VERIFIER_error": "fail",
    "exit": "stop", "abort": "stop", "__VERIFIER_assume": "assume", "kleene_assume": "assume",
    "kleene_check": "check", "llvm.memcpy.p0.p0.i64": "memcpy", "llvm.memmove.p0.p0.i64": "memcpy",
    "memmove": "memcpy", "llvm.memset.p0.i64": "memset", "llvm.abs.i32": "abs", "labs": "abs",
    "llvm.abs.i64": "abs", "llvm.lifetime.start.p0": "nothing", "llvm.lifetime.end.p0": "nothing",
    "fgetc": "getchar", "getc": "getchar", "recv": "read",
    "llvm.stacksave.p0": "stack", "llvm.stackrestore.p0": "nothing",
    "__isoc99_scanf": "scanf", "__isoc23_scanf": "scanf", "random": "rand",
}  # fmt: skip
# The stream of a function, which is not null.
STREAMS = {
    "fgetc": 0, "getc": 0, "fgets": 2, "fread": 3, "fwrite": 3, "fprintf": 0, "fputs": 1,
    "fputc": 1, "fclose": 0, "feof": 0, "ferror": 0,
}  # fmt: skip
EXCHANGES: dict[AtomicOperation, Callable[[int, int], int]] = {
    AtomicOperation.XCHG: lambda old, given: given,
    AtomicOperation.ADD: operator.add,
    AtomicOperation.SUB: operator.sub,
    AtomicOperation.AND: operator.and_,
    AtomicOperation.OR: operator.or_,
    AtomicOperation.XOR: operator.xor,
}
PRESENT = {
    "memcpy": (0, 1), "memset": (0,), "strnlen": (0,), "strncpy": (0, 1), "read": (1,),
    "fread": (0,), "fgets": (0,),
}  # fmt: skip


REALS = {
    "sqrt": np.sqrt, "fabs": np.fabs, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "nearbyint": np.rint, "roundeven": np.rint, "fmin": np.fmin, "fmax": np.fmax,
    "minnum": np.fmin, "maxnum": np.fmax, "copysign": np.copysign, "fmod": np.fmod, "sin": np.sin,
    "cos": np.cos, "tanh": np.tanh, "exp": np.exp, "cosh": np.cosh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "hypot": np.hypot, "log": np.log,
}  # fmt: skip


def signed(value: int, width: int) -> int:
    half = 1 << width - 1
    return (value + half) % (1 << width) - half


def rounded(value: float, bits: int) -> float:
    """Return a number as a float of so many bits."""
    if bits == 64:
        return value
    if bits != 32:
        raise StopError  # no other formats are computed with here
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:  # beyond the greatest float: Python refuses it
        return math.copysign(math.inf, value)


def divided(a: float, b: float) -> float:
    """Return the quotient of IEEE 754."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


class Execution:
    """One run of `main`; `choose(width)` gives the value of an unknown integer.

    With `ends_locals` it is a fault to use the locals of a function that is over; with
    `strings_end` a run stops, without a fault, where a string has no end in its object; with
    `ends_unwritten` it stops, after the fault, where it reads storage that nobody has written, and
    where one of some calls, `checked_copies`, copies a byte of it; with `ends_outside` it stops at
    calls of functions outside of the program, but for those of this file and
    `__VERIFIER_nondet_*`.
    """

    def __init__(
        self,
        program: Program,
        choose: Callable[[int], int],
        enter: Callable[[Frame, int], None],
        fail: Callable[[str, int], None],
        most_steps: int = 3000,
        passed: Callable[[Frame, int], None] = lambda frame, row: None,
        *,
        ends_locals: bool = False,
        strings_end: bool = False,
        ends_unwritten: bool = False,
        ends_outside: bool = False,
        checked_copies: frozenset[int] = frozenset(),
    ) -> None:
        self.program, self.choose, self.enter, self.fail = program, choose, enter, fail
        self.passed = passed
        self._ends_locals, self._strings_end = ends_locals, strings_end
        self._ends_unwritten, self._ends_outside = ends_unwritten, ends_outside
        self._checked_copies = checked_copies
        self.table = program.instructions
        self.base = program.bases[ValueKind.INSTRUCTION]
        self.steps_left = most_steps
        self._widths = widths(program)
        self.objects: list[list[Any]] = []  # of each byte a number, part of a pointer, or None
        self.freed: set[int] = set()
        self.heap: set[int] = set()
        self.of_global: dict[int, int] = {}
        self.error: Pointer | None = None  # where `errno` is

    def run(self, function: int) -> None:
        first, end = self.program.function_table.argument_offsets[function : function + 2].tolist()
        frame = Frame(function, -1, None)
        for row in range(first, end):
            value = self.program.value(ValueKind.ARGUMENT, row)
            frame.values[value] = self.unknown(value)
        with suppress(StopError):
            self.call(frame)

    def width(self, value: int) -> int:
        return self._widths[value]

    def float_bits(self, value: int) -> int:
        type_id = int(self.program.value_types[value])
        types = self.program.types
        return int(types.bits[type_id]) if types.kind[type_id] == TypeKind.FLOAT else 0

    def call(self, frame: Frame) -> Any:
        block = int(self.program.function_table.block_offsets[frame.function])
        before = -1
        while True:
            before, block, result = block, *self.block(frame, before, block)
            if block < 0:
                self.freed.update(frame.locals if self._ends_locals else ())
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
            if opcode in COMPUTES:
                used = operands[:1] if opcode in (Opcode.BR, Opcode.SWITCH) else operands
                if any(isinstance(self.value(frame, one), Undefined) for one in used
                       if not self.program.bases[3] <= one < self.base):  # fmt: skip
                    self.fail("uninitialised", row)
            if opcode in (Opcode.BR, Opcode.SWITCH):
                target = self.target(frame, opcode, operands)
                return target - self.program.bases[ValueKind.BLOCK], None
            frame.values[self.base + row] = self.instruction(frame, row, opcode, operands)
            self.passed(frame, row)
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
            if self.program.globals.kind[value] != GlobalKind.VARIABLE:
                self.of_global.setdefault(value, self.new_object(0))
                return Pointer(self.of_global[value], 0)
            return Pointer(self.global_object(value), 0)
        assert kind == ValueKind.CONSTANT, value
        table, width = self.program.constants, self.width(value)
        constant = int(table.kind[row])
        if constant in (ConstantKind.UNDEF, ConstantKind.POISON):
            drawn = self.unknown(value)
            return Undefined(drawn) if isinstance(drawn, int) else drawn
        if constant == ConstantKind.EXPRESSION:
            operands = table.operands_of(row).tolist()
            if table.opcode[row] != Opcode.GETELEMENTPTR:
                raise StopError
            return self.element(frame, operands, int(table.about[row]))
        if constant == ConstantKind.FLOAT:
            return struct.unpack("<d", struct.pack("<q", int(table.payload[row])))[0]
        if not width:
            return NULL if not self.float_bits(value) else 0.0
        if constant in (ConstantKind.NULL, ConstantKind.ZERO):
            return 0
        return int(table.payload[row]) % (1 << width)

    def global_object(self, value: int) -> int:
        if value not in self.of_global:
            size = int(self.program.types.size[self.program.globals.type[value]])
            initializer = int(self.program.globals.initializer[value])
            self.of_global[value] = self.new_object(size, 0)
            name = self.program.strings[int(self.program.globals.name[value])]
            if initializer < 0 and name in ("stdin", "stdout", "stderr"):
                stream = Pointer(self.new_object(8, 0), 0)
                self.objects[self.of_global[value]][:] = [(stream, place) for place in range(size)]
            elif initializer < 0:
                width = 8 * max(size, 0)
                drawn = self.choose(width) if width else 0
                self.objects[self.of_global[value]][:] = drawn.to_bytes(width // 8, "little")
            else:
                self.fill(self.of_global[value], 0, initializer)
        return self.of_global[value]

    def fill(self, object: int, offset: int, value: int) -> None:
        """Write an initializer, of which zeros are there already."""
        row = value - self.program.bases[ValueKind.CONSTANT]
        table, types = self.program.constants, self.program.types
        is_constant = 0 <= row < len(table)
        if is_constant and table.kind[row] == ConstantKind.STRING:
            text = self.program.strings[int(table.payload[row])]
            found = text if isinstance(text, bytes) else text.encode("latin-1")
            self.objects[object][offset : offset + len(found)] = list(found)
        elif is_constant and table.kind[row] == ConstantKind.AGGREGATE:
            type_id = int(table.type[row])
            for place, one in enumerate(table.operands_of(row).tolist()):
                if types.kind[type_id] == TypeKind.STRUCT:
                    at = int(types.field_offsets_of(type_id)[place])
                else:
                    at = place * int(types.size[types.elements_of(type_id)[0]])
                self.fill(object, offset + at, one)
        elif not is_constant or table.kind[row] not in (ConstantKind.ZERO, ConstantKind.NULL):
            size = int(self.program.store_size[self.program.value_types[value]])
            content = self.content_of(value, self.value(Frame(-1, -1, None), value), size)
            self.objects[object][offset : offset + size] = content

    def new_object(self, size: int, byte: int | None = None) -> int:
        self.objects.append([byte] * size)
        return len(self.objects) - 1

    def content_of(self, value: int, given: Any, size: int) -> list[Any]:
        """Return the bytes of a value: numbers, or parts of a pointer."""
        if isinstance(given, Pointer):
            return [0] * size if given == NULL else [(given, place) for place in range(size)]
        if isinstance(given, float):
            return list(struct.pack("<d" if size == 8 else "<f", given))
        return list((given % (1 << 8 * size)).to_bytes(size, "little"))

    def value_of(self, row: int, content: list[Any]) -> Any:
        """Return what a load gets from bytes; those never written are reported and drawn."""
        value = self.base + row
        type_id = int(self.program.value_types[value])
        kind = self.program.types.kind[type_id]
        if None in content:
            self.fail("uninitialised", row)
            if self._ends_unwritten:
                raise StopError
            content = [self.choose(8) if one is None else one for one in content]
        if kind == TypeKind.POINTER:
            if all(isinstance(one, tuple) for one in content):
                return content[0][0]
            if not any(content):
                return NULL
            raise StopError  # a pointer made of numbers
        content = [self.choose(8) if isinstance(one, tuple) else one for one in content]
        if kind == TypeKind.FLOAT:
            if len(content) not in (4, 8):
                raise StopError
            (found,) = struct.unpack("<d" if len(content) == 8 else "<f", bytes(content))
            return found
        return int.from_bytes(bytes(content), "little") % (1 << self.width(value))

    def instruction(self, frame: Frame, row: int, opcode: int, operands: list[int]) -> Any:
        value = self.base + row
        if opcode in CALLS:
            return self.call_instruction(frame, row, operands)
        if Opcode.ADD <= opcode <= Opcode.XOR:
            return self.binary(frame, row, opcode, operands)
        if Opcode.FADD <= opcode <= Opcode.FREM or opcode == Opcode.FNEG:
            return self.real(frame, row, opcode, operands)
        if opcode == Opcode.FCMP:
            return int(self.compare_reals(frame, row, operands))
        if Opcode.FPTRUNC <= opcode <= Opcode.SITOFP:
            return self.convert(frame, row, opcode, operands[0])
        if opcode == Opcode.ICMP:
            return int(self.compare(frame, row, operands))
        if opcode in (Opcode.ZEXT, Opcode.TRUNC, Opcode.SEXT):
            given = self.value(frame, operands[0])
            if opcode == Opcode.SEXT:
                given = signed(given, self.width(operands[0]))
            return given % (1 << self.width(value))
        if opcode == Opcode.SELECT:
            return self.value(frame, operands[1 if self.value(frame, operands[0]) & 1 else 2])
        if opcode == Opcode.BITCAST and self.float_bits(value) != self.float_bits(operands[0]):
            size = int(self.program.types.size[self.program.value_types[value]])
            given = self.value(frame, operands[0])
            return self.value_of(row, self.content_of(operands[0], given, size))
        if opcode in (Opcode.FREEZE, Opcode.BITCAST):
            return self.value(frame, operands[0])
        if opcode == Opcode.ALLOCA:
            each = int(self.program.types.size[self.table.about[row]])
            count = self.value(frame, operands[0]) if operands else 1
            frame.locals.append(len(self.objects))
            return Pointer(self.new_object(each * count), 0)
        if opcode == Opcode.GETELEMENTPTR:
            return self.element(frame, operands, int(self.table.about[row]))
        if opcode == Opcode.LOAD:
            return self.load(frame, row, operands)
        if opcode == Opcode.STORE:
            return self.store(frame, row, operands)
        if opcode in (Opcode.ATOMICRMW, Opcode.CMPXCHG):
            return self.exchange(frame, row, opcode, operands)
        if opcode == Opcode.EXTRACTVALUE:
            place = self.value(frame, operands[1])
            return self.value(frame, operands[0])[place]
        if opcode == Opcode.PTRTOINT:
            pointer = self.value(frame, operands[0])
            return (((pointer.object + 1) << 24) + pointer.offset) % (1 << self.width(value))
        if opcode == Opcode.INTTOPTR:
            number = self.value(frame, operands[0])
            place = (number >> 24) - 1
            if number and not 0 <= place < len(self.objects):
                raise StopError  # no object is there
            return Pointer(place, number % (1 << 24)) if number else NULL
        raise NotImplementedError(Opcode(opcode))

    def real(self, frame: Frame, row: int, opcode: int, operands: list[int]) -> float:
        given = [self.value(frame, one) for one in operands]
        if opcode == Opcode.FNEG:
            return -given[0]
        a, b = given
        if opcode == Opcode.FREM:
            result = math.nan if math.isinf(a) or b == 0 or a != a or b != b else math.fmod(a, b)
        else:
            result = {
                Opcode.FADD: lambda: a + b, Opcode.FSUB: lambda: a - b, Opcode.FMUL: lambda: a * b,
                Opcode.FDIV: lambda: divided(a, b),
            }[Opcode(opcode)]()  # fmt: skip
        return rounded(result, self.float_bits(self.base + row))

    def compare_reals(self, frame: Frame, row: int, operands: list[int]) -> bool:
        a, b = (self.value(frame, one) for one in operands)
        predicate = Predicate(int(self.table.sub[row]))
        if a != a or b != b:
            return predicate >= Predicate.UNO
        return {
            1: a == b, 2: a > b, 3: a >= b, 4: a < b, 5: a <= b, 6: a != b, 7: True, 0: False,
        }[predicate & 7]  # fmt: skip

    def convert(self, frame: Frame, row: int, opcode: int, operand: int) -> Any:
        given, value = self.value(frame, operand), self.base + row
        if opcode in (Opcode.FPTRUNC, Opcode.FPEXT):
            return rounded(given, self.float_bits(value))
        if opcode in (Opcode.UITOFP, Opcode.SITOFP):
            if opcode == Opcode.SITOFP:
                given = signed(given, self.width(operand))
            return self.of_integer(given, self.float_bits(value))
        width = self.width(value)
        low, high = (
            (0, 1 << width) if opcode == Opcode.FPTOUI else (-1 << width - 1, 1 << width - 1)
        )
        if given != given or math.isinf(given) or not low <= math.trunc(given) < high:
            self.fail("conversion", row)
            raise StopError
        return math.trunc(given) % (1 << width)

    def of_integer(self, given: int, bits: int) -> float:
        """Return the nearest float, ties to even: NumPy rounds once, as the machine does."""
        made = np.array([given], np.uint64 if given > 0 else np.int64)
        return float(made.astype(np.float32 if bits == 32 else np.float64)[0])

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
        if isinstance(a, Pointer) and predicate in (Predicate.EQ, Predicate.NE):
            return (a == b) == (predicate == Predicate.EQ)
        if isinstance(a, Pointer):
            if a.object != b.object:
                raise StopError  # undefined
            a, b = a.offset, b.offset
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
        if pointer.object in self.freed:
            self.fail("freed", row)
            raise StopError
        if not 0 <= pointer.offset <= len(self.objects[pointer.object]) - size:
            self.fail("bounds", row)
            raise StopError

    def load(self, frame: Frame, row: int, operands: list[int]) -> Any:
        pointer = self.value(frame, operands[0])
        value = self.base + row
        size = int(self.program.store_size[self.program.value_types[value]])
        self.access(row, pointer, size)
        found = self.objects[pointer.object][pointer.offset : pointer.offset + size]
        made = self.value_of(row, found)
        if None in found:  # later loads get what this one got
            content = self.content_of(value, made, size)
            self.objects[pointer.object][pointer.offset : pointer.offset + size] = content
        return made

    def store(self, frame: Frame, row: int, operands: list[int]) -> None:
        pointer = self.value(frame, operands[1])
        size = int(self.program.store_size[self.program.value_types[operands[0]]])
        self.access(row, pointer, size)
        content = self.content_of(operands[0], self.value(frame, operands[0]), size)
        self.objects[pointer.object][pointer.offset : pointer.offset + size] = content

    def exchange(self, frame: Frame, row: int, opcode: int, operands: list[int]) -> Any:
        """Run an atomic update of an integer; a comparison gives what was there, and if it held."""
        pointer, *given = (self.value(frame, one) for one in operands)
        width = self.width(operands[1])
        size = int(self.program.store_size[self.program.value_types[operands[1]]])
        self.access(row, pointer, size)
        content = self.objects[pointer.object][pointer.offset : pointer.offset + size]
        if not width or not all(isinstance(one, int) for one in content):
            raise StopError  # pointers, and what was never written
        old = int.from_bytes(bytes(content), "little") % (1 << width)
        if opcode == Opcode.CMPXCHG:
            new = given[1] if old == given[0] else old
        else:
            new = EXCHANGES[AtomicOperation(int(self.table.sub[row]))](old, given[0])
        content = self.content_of(operands[1], new % (1 << width), size)
        self.objects[pointer.object][pointer.offset : pointer.offset + size] = content
        return (old, int(old == given[0])) if opcode == Opcode.CMPXCHG else old

    def call_instruction(self, frame: Frame, row: int, operands: list[int]) -> Any:
        arguments = [self.value(frame, one) for one in operands[1:] if self.is_plain(one)]
        callee = operands[0]
        if callee >= len(self.program.globals):
            pointer = self.value(frame, callee)
            named = [one for one, made in self.of_global.items() if made == pointer.object]
            if pointer == NULL:
                self.fail("null", row)
                raise StopError
            if not named or self.program.globals.function[named[0]] < 0:
                raise StopError  # no function is there
            callee = named[0]
        function = int(self.program.globals.function[callee])
        name = self.program.functions[function].name
        model = getattr(
            self, "call_" + MEANT.get(name, name.split(".p0")[0].replace(".", "_")), None
        )
        if name in STREAMS and arguments[STREAMS[name]] == NULL:
            self.fail("null", row)
            raise StopError
        if model is not None:
            for place in PRESENT.get(model.__name__.removeprefix("call_"), ()):
                if arguments[place] == NULL:  # forbidden even for no bytes at all
                    self.fail("null", row)
                    raise StopError
            return model(row, *arguments)
        blocks = self.program.function_table.block_offsets[function : function + 2].tolist()
        if (
            self._ends_outside
            and blocks[0] == blocks[1]
            and not name.startswith("__VERIFIER_nondet")
        ):
            raise StopError
        if blocks[0] == blocks[1] and self.float_bits(self.base + row):
            return self.real_function(row, name, arguments)
        if blocks[0] == blocks[1]:
            return self.unknown(self.base + row)
        inner = Frame(function, row, frame, depth=frame.depth + 1)
        if inner.depth > DEEPEST:
            raise StopError
        first, end = self.program.function_table.argument_offsets[function : function + 2].tolist()
        for place, one in zip(range(first, end), arguments, strict=False):
            if self.program.arguments.passing[place] == Passing.BYVAL:
                one = Pointer(len(self.objects), one.offset)
                self.objects.append(list(self.objects[arguments[place - first].object]))
            inner.values[self.program.value(ValueKind.ARGUMENT, place)] = one
        return self.call(inner)

    def real_function(self, row: int, name: str, arguments: list[Any]) -> float:
        """Return what a function of `math.h` does, and any number of another one."""
        bits = self.float_bits(self.base + row)
        plain = name.removeprefix("llvm.").split(".")[0]
        if plain.removesuffix("f") in REALS and bits == 32:
            plain = plain.removesuffix("f")
        if plain in ("fma", "fmuladd", "fmaf"):
            a, b, c = arguments
            is_fused = plain != "fmuladd" or self.choose(1)
            if is_fused and all(map(math.isfinite, arguments)):
                exact = Fraction(a) * Fraction(b) + Fraction(c)
                if abs(exact) < Fraction(2) ** 1000:
                    return rounded(float(exact), bits)
            return rounded(rounded(a * b, bits) + c, bits)
        if plain not in REALS:
            return self.draw_float(bits)
        made = np.float32 if bits == 32 else np.float64
        with np.errstate(all="ignore"):
            return float(REALS[plain](*(made(one) for one in arguments)))

    def call_llvm_is_fpclass_f64(self, row: int, given: float, mask: int) -> int:
        """Return whether a number is of one of LLVM's classes; all NaN are quiet here."""
        sign, size = math.copysign(1, given), abs(given)
        place = 0 if size == 0 else 1 if size < 2.0**-1022 else 2 if size < math.inf else 3
        bit = 1 if given != given else 6 + place if sign > 0 else 5 - place
        return mask >> bit & 1

    def unknown(self, value: int) -> Any:
        """Return what a function outside of the program may return."""
        type_id = int(self.program.value_types[value])
        if self.program.types.kind[type_id] == TypeKind.FLOAT:
            bits = int(self.program.types.bits[type_id])
            return self.draw_float(bits)
        width = self.width(value)
        return self.choose(width) if width else NULL

    def draw_float(self, bits: int) -> float:
        kind = self.choose(3)
        if kind == 0:
            return (math.inf, -math.inf, math.nan, -0.0)[self.choose(2)]
        if kind < 5:
            return signed(self.choose(8), 8) / (1 + self.choose(4))
        found = struct.unpack("<d", self.choose(64).to_bytes(8, "little"))[0]
        return rounded(found, bits)

    # Functions of the C library, as the standard has them

    def call_fail(self, row: int, *arguments: Any) -> None:
        self.fail("assert", row)
        raise StopError

    def call_stop(self, row: int, *arguments: Any) -> None:
        raise StopError

    def call_assume(self, row: int, holds: int) -> None:
        if not holds:
            raise StopError

    def call_check(self, row: int, holds: int) -> None:
        if not holds:
            self.call_fail(row)

    def call_nothing(self, row: int, *arguments: Any) -> None:
        pass

    def call_stack(self, row: int) -> Pointer:
        return Pointer(self.new_object(1), 0)

    def call_malloc(self, row: int, size: int) -> Pointer:
        is_there = self.choose(3) != 0 and size < 1 << 20
        return self.allocated(size, None) if is_there else NULL

    def allocated(self, size: int, byte: int | None) -> Pointer:
        self.heap.add(len(self.objects))
        return Pointer(self.new_object(size, byte), 0)

    def call_calloc(self, row: int, count: int, each: int) -> Pointer:
        is_there = self.choose(3) != 0 and count * each < 1 << 20
        return self.allocated(count * each, 0) if is_there else NULL

    def call_realloc(self, row: int, old: Pointer, size: int) -> Pointer:
        made = self.call_malloc(row, size)
        if made != NULL and old != NULL:
            content = self.objects[old.object]
            self.objects[made.object][: len(content)] = content[:size]
            self.call_free(row, old)
        return made

    def call_free(self, row: int, pointer: Pointer) -> None:
        if pointer == NULL:
            return
        if pointer.object in self.freed:
            self.fail("freed", row)
            raise StopError
        if pointer.offset or pointer.object not in self.heap:
            self.fail("freed", row)
            raise StopError
        self.freed.add(pointer.object)

    def bytes_at(self, row: int, pointer: Pointer, size: int) -> list[Any]:
        if size:
            self.access(row, pointer, size)
        return self.objects[pointer.object][pointer.offset : pointer.offset + size]

    def write(self, row: int, pointer: Pointer, content: list[Any]) -> Pointer:
        if content:
            self.access(row, pointer, len(content))
            self.objects[pointer.object][pointer.offset : pointer.offset + len(content)] = content
        return pointer

    def call_memcpy(self, row: int, to: Pointer, source: Pointer, size: int, *_: Any) -> Pointer:
        if size >= 1 << 20:
            self.access(row, to, size)
        content = self.bytes_at(row, source, size)
        if row in self._checked_copies and None in content:
            self.fail("uninitialised", row)
            raise StopError
        return self.write(row, to, content)

    def call_memset(self, row: int, to: Pointer, byte: int, size: int, *_: Any) -> Pointer:
        if size >= 1 << 20:
            self.access(row, to, size)
        return self.write(row, to, [byte % 256] * size)

    def text(self, row: int, pointer: Pointer, most: int | None = None) -> list[Any]:
        """Return the bytes of a string in front of its end, or of at most so many."""
        found: list[Any] = []
        while most is None or len(found) < most:
            at = Pointer(pointer.object, pointer.offset + len(found))
            if found and self._strings_end and at.offset == len(self.objects[at.object]):
                raise StopError  # which is assumed not to happen
            (byte,) = self.bytes_at(row, at, 1)
            if not isinstance(byte, int):
                raise StopError  # never written: any text
            if byte == 0:
                break
            found.append(byte)
        return found

    def call_strlen(self, row: int, pointer: Pointer) -> int:
        return len(self.text(row, pointer))

    def call_strnlen(self, row: int, pointer: Pointer, most: int) -> int:
        return len(self.text(row, pointer, most))

    def call_strcpy(self, row: int, to: Pointer, source: Pointer) -> Pointer:
        return self.write(row, to, [*self.text(row, source), 0])

    def call_strncpy(self, row: int, to: Pointer, source: Pointer, size: int) -> Pointer:
        found = self.text(row, source, size)
        if size >= 1 << 20:
            self.access(row, to, size)
        return self.write(row, to, found + [0] * (size - len(found)))

    def call_strcat(self, row: int, to: Pointer, source: Pointer) -> Pointer:
        end = Pointer(to.object, to.offset + len(self.text(row, to)))
        self.write(row, end, [*self.text(row, source), 0])
        return to

    def call_strchr(self, row: int, pointer: Pointer, byte: int) -> Pointer:
        found = [*self.text(row, pointer), 0]
        if byte % 256 not in found:
            return NULL
        return Pointer(pointer.object, pointer.offset + found.index(byte % 256))

    def call_read(self, row: int, file: int, to: Pointer, size: int) -> int:
        n = signed(self.choose(8), 8) % (min(size, 1 << 16) + 2) - 1
        self.write(row, to, [self.choose(8) for _ in range(n)])
        return n % (1 << 64)

    def call_fread(self, row: int, to: Pointer, size: int, count: int, file: Pointer) -> int:
        n = self.choose(8) % (min(count, 1 << 16) + 1)
        self.write(row, to, [self.choose(8) for _ in range(n * size)])
        return n if size else 0

    def call_fgets(self, row: int, to: Pointer, size: int, file: Pointer) -> Pointer:
        size = signed(size, 32)
        if size < 2 or self.choose(2) == 0:
            return NULL
        n = self.choose(4) % size
        return self.write(row, to, [1 + self.choose(6) for _ in range(n)] + [0])

    def call_strdup(self, row: int, pointer: Pointer) -> Pointer:
        return self.copied(self.text(row, pointer))

    def call_strndup(self, row: int, pointer: Pointer, most: int) -> Pointer:
        return self.copied(self.text(row, pointer, most))

    def copied(self, content: list[Any]) -> Pointer:
        if self.choose(3) == 0:
            return NULL
        made = self.allocated(len(content) + 1, 0)
        self.objects[made.object][: len(content)] = content
        return made

    def call_strncmp(self, row: int, a: Pointer, b: Pointer, most: int) -> int:
        one, other = self.text(row, a, most), self.text(row, b, most)
        return ((one > other) - (one < other)) % (1 << 32)

    def call_strcmp(self, row: int, a: Pointer, b: Pointer) -> int:
        one, other = self.text(row, a), self.text(row, b)
        return ((one > other) - (one < other)) % (1 << 32)

    def call_fputs(self, row: int, pointer: Pointer, file: Pointer) -> int:
        self.text(row, pointer)
        return self.choose(8)

    def call___errno_location(self, row: int) -> Pointer:
        if self.error is None:
            self.error = Pointer(self.new_object(4, 0), 0)
        return self.error

    def call_puts(self, row: int, pointer: Pointer) -> int:
        self.text(row, pointer)
        return self.choose(8)

    def printed(self, row: int, form: Pointer, given: tuple[Any, ...]) -> list[int]:
        """Return the bytes that a format makes: of text, `%%`, `%d`, `%5d`, `%s` and `%.5s`."""
        text, left, found = bytes(self.text(row, form)), list(given), list[int]()
        for part in re.findall(rb"[^%]+|%%|%\d*d|%(?:\.\d+)?s|%", text):
            if part == b"%":
                raise StopError  # another conversion
            if part == b"%%" or part[:1] != b"%":
                found += part[:1] if part == b"%%" else part
            elif part.endswith(b"d"):
                if not isinstance(left[0], int):
                    raise StopError  # undefined
                found += b"%*d" % (int(part[1:-1] or 0), signed(left.pop(0), 32))
            elif (pointer := left.pop(0)) == NULL:
                raise StopError  # undefined, and "(null)" as a rule
            else:
                found += self.text(row, pointer, int(part[2:-1]) if b"." in part else None)
        return found

    def call_printf(self, row: int, form: Pointer, *rest: Any) -> int:
        return len(self.printed(row, form, rest))

    def call_sprintf(self, row: int, to: Pointer, form: Pointer, *rest: Any) -> int:
        found = self.printed(row, form, rest)
        self.write(row, to, [*found, 0])
        return len(found)

    def call_snprintf(self, row: int, to: Pointer, size: int, form: Pointer, *rest: Any) -> int:
        found = self.printed(row, form, rest)
        self.write(row, to, [*found[: size - 1], 0] if size else [])
        return len(found)

    def call_scanf(self, row: int, form: Pointer, *rest: Pointer) -> int:
        """Read single bytes of each argument anew, or none; as many or fewer are counted."""
        for one in rest:
            self.write(row, one, [self.choose(8)])
        return (self.choose(8) % (len(rest) + 2) - 1) % (1 << 32)

    def call_rand(self, row: int) -> int:
        return self.choose(31)

    def call_getchar(self, row: int, *_: Any) -> int:
        return (self.choose(9) % 257 - 1) % (1 << 32)

    def call_abs(self, row: int, given: int, *_: Any) -> int:
        width = self.width(self.base + row)
        if given == 1 << width - 1:
            raise StopError
        return abs(signed(given, width))

    def call_toupper(self, row: int, given: int) -> int:
        value = signed(given, 32)
        if not -1 <= value <= 255:
            raise StopError
        return ord(chr(given).upper()) if 97 <= value <= 122 else given

    def call_tolower(self, row: int, given: int) -> int:
        value = signed(given, 32)
        if not -1 <= value <= 255:
            raise StopError
        return value + 32 if 65 <= value <= 90 else given

    def call_max(self, row: int, a: int, b: int) -> int:
        return self.chosen(row, a, b, "max")

    def chosen(self, row: int, a: int, b: int, name: str) -> int:
        width = self.width(self.base + row)
        function = max if name.endswith("max") else min
        if name.startswith("u"):
            return function(a, b)
        return function(signed(a, width), signed(b, width)) % (1 << width)

    def is_plain(self, value: int) -> bool:
        kind, row = self.program.locate(value)
        if kind == ValueKind.CONSTANT:
            return self.program.constants.kind[row] != ConstantKind.METADATA
        return True
