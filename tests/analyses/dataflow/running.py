"""Runs small programs of the IR in plain Python, and remembers who wrote each byte of memory.

Integers, pointers and structs in memory; calls, loops, `malloc`, `calloc`, `free`, memcpy and
memset. Addresses are numbers that depend on nothing but the program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Opcode, Predicate, TypeKind, ValueKind

SIGNED = {Predicate.SGT, Predicate.SGE, Predicate.SLT, Predicate.SLE}
COMPARE: dict[int, Callable[[int, int], bool]] = {
    Predicate.EQ: lambda a, b: a == b, Predicate.NE: lambda a, b: a != b,
    Predicate.UGT: lambda a, b: a > b, Predicate.UGE: lambda a, b: a >= b,
    Predicate.ULT: lambda a, b: a < b, Predicate.ULE: lambda a, b: a <= b,
    Predicate.SGT: lambda a, b: a > b, Predicate.SGE: lambda a, b: a >= b,
    Predicate.SLT: lambda a, b: a < b, Predicate.SLE: lambda a, b: a <= b,
}  # fmt: skip
BINARY: dict[int, Callable[[int, int], int]] = {
    Opcode.ADD: lambda a, b: a + b, Opcode.SUB: lambda a, b: a - b,
    Opcode.MUL: lambda a, b: a * b, Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b, Opcode.XOR: lambda a, b: a ^ b,
    Opcode.SHL: lambda a, b: a << min(b, 64), Opcode.LSHR: lambda a, b: a >> b,
    Opcode.UDIV: lambda a, b: a // b, Opcode.UREM: lambda a, b: a % b,
}  # fmt: skip


class StoppedError(Exception):
    """The program does what is not understood here, or too much."""


@dataclass
class Frame:
    """One activation of a function."""

    function: int
    number: int
    instruction: int = -1
    values: dict[int, int] = field(default_factory=dict)


@dataclass
class Machine:
    """A program that runs.

    `writers` has for each byte the activations and instructions on the stack when it was written,
    `on_load` is told (instruction, address, bytes, value).
    """

    program: Program
    n_steps: int = 20_000
    memory: dict[int, int] = field(default_factory=dict)
    writers: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    stack: list[Frame] = field(default_factory=list)
    on_load: Callable[[int, int, int, int], None] = lambda *_: None
    on_value: Callable[[int, int], None] = lambda *_: None
    next_address: int = 1 << 20
    n_frames: int = 0

    def __post_init__(self) -> None:
        table, types = self.program.globals, self.program.types
        self.address_of = {}
        for value in range(len(table)):
            self.address_of[value] = self.reserve(max(int(types.size[table.type[value]]), 1))
        for value, address in self.address_of.items():
            if table.kind[value] == 0 and table.initializer[value] >= 0:
                self._place(address, int(table.initializer[value]))

    def reserve(self, n_bytes: int) -> int:
        address, self.next_address = self.next_address, self.next_address + n_bytes + 64
        self.next_address += -self.next_address % 16
        return address

    def _place(self, address: int, value: int) -> None:
        """Write a constant to memory, as the loader does."""
        program, types = self.program, self.program.types
        type_id = int(program.value_types[value])
        kind, row = program.locate(value)
        code = int(program.constants.kind[row]) if kind == ValueKind.CONSTANT else -1
        size = int(types.size[type_id])
        if code in (ConstantKind.ZERO, ConstantKind.NULL):
            self.memory.update({address + k: 0 for k in range(size)})
        elif code == ConstantKind.STRING:
            text = program.strings.raw(int(program.constants.payload[row]))
            self.memory.update({address + k: byte for k, byte in enumerate(text)})
        elif code == ConstantKind.AGGREGATE:
            elements = program.constants.operands_of(row).tolist()
            if types.kind[type_id] == TypeKind.STRUCT:
                starts = types.field_offsets_of(type_id).tolist()
            else:
                step = int(types.size[types.elements_of(type_id)[0]])
                starts = [k * step for k in range(len(elements))]
            for start, element in zip(starts, elements, strict=True):
                self._place(address + start, element)
        elif types.kind[type_id] in (TypeKind.INT, TypeKind.POINTER):
            number = self.constant(value)
            self.memory.update({address + k: number >> 8 * k & 255 for k in range(size)})

    def constant(self, value: int) -> int:
        kind, row = self.program.locate(value)
        if kind == ValueKind.GLOBAL:
            return self.address_of[value]
        table = self.program.constants
        code = table.kind[row]
        if code == ConstantKind.INT:
            return int(table.payload[row]) & self._mask(value)
        if code in (ConstantKind.NULL, ConstantKind.ZERO, ConstantKind.UNDEF, ConstantKind.POISON):
            return 0
        if code == ConstantKind.EXPRESSION and table.opcode[row] == Opcode.GETELEMENTPTR:
            operands = [int(v) for v in table.operands_of(row)]
            return self._element(int(table.about[row]), operands, self.constant)
        raise StoppedError(f"constant {value}")

    def _mask(self, value: int) -> int:
        type_id = int(self.program.value_types[value])
        types = self.program.types
        if types.kind[type_id] == TypeKind.POINTER:
            return (1 << 64) - 1
        if types.kind[type_id] != TypeKind.INT:
            raise StoppedError("a type")
        return (1 << int(types.bits[type_id])) - 1

    def _signed(self, number: int, value: int) -> int:
        width = self._mask(value).bit_length()
        return number - (number >> (width - 1) << width)

    def _element(self, type_id: int, operands: list[int], read: Callable[[int], int]) -> int:
        types = self.program.types
        address = read(operands[0])
        index = self._signed(read(operands[1]), operands[1])
        address += index * int(types.size[type_id])
        for operand in operands[2:]:
            index = self._signed(read(operand), operand)
            if types.kind[type_id] == TypeKind.STRUCT:
                address += int(types.field_offsets_of(type_id)[index])
                type_id = int(types.elements_of(type_id)[index])
            else:
                type_id = int(types.elements_of(type_id)[0])
                address += index * int(types.size[type_id])
        return address & ((1 << 64) - 1)

    def read(self, value: int) -> int:
        if value < self.program.bases[ValueKind.ARGUMENT]:
            return self.constant(value)
        return self.stack[-1].values[value]

    def load(self, address: int, n_bytes: int) -> int:
        if any(address + k not in self.memory for k in range(n_bytes)):
            raise StoppedError("memory that is not there, or undefined")
        return sum(self.memory[address + k] << 8 * k for k in range(n_bytes))

    def store(self, address: int, n_bytes: int, number: int) -> None:
        who = tuple((frame.number, frame.instruction) for frame in self.stack)
        for k in range(n_bytes):
            self.memory[address + k] = number >> 8 * k & 255
            self.writers[address + k] = who

    def call(self, function: int, arguments: list[int]) -> int:
        """Run a function and return its result."""
        program, table = self.program, self.program.function_table
        first, last = table.block_offsets[function : function + 2].tolist()
        if first == last:
            return self._outside(function, arguments)
        if len(self.stack) > 60:
            raise StoppedError("a deep stack")
        self.n_frames += 1
        frame = Frame(function, self.n_frames)
        start = int(table.argument_offsets[function]) + program.bases[ValueKind.ARGUMENT]
        frame.values.update({start + k: number for k, number in enumerate(arguments)})
        for value, number in frame.values.items():
            self.on_value(value, number)
        self.stack.append(frame)
        try:
            return self._run(frame, int(first))
        finally:
            self.stack.pop()

    def _run(self, frame: Frame, block: int) -> int:
        program, code = self.program, self.program.instructions
        before = -1
        while True:
            first, last = program.blocks.instruction_offsets[block : block + 2].tolist()
            phis = {}
            for row in range(first, last):
                if code.opcode[row] != Opcode.PHI:
                    break
                operands = code.operands_of(row).tolist()
                at = operands[1::2].index(before + program.bases[ValueKind.BLOCK])
                phis[row + program.bases[ValueKind.INSTRUCTION]] = self.read(operands[2 * at])
            frame.values.update(phis)
            for value, number in phis.items():
                self.on_value(value, number)
            for row in range(first + len(phis), last):
                frame.instruction = row
                self.n_steps -= 1
                if self.n_steps < 0:
                    raise StoppedError("too long")
                target = self._step(frame, row)
                if target is None:
                    continue
                if target < 0:
                    operands = code.operands_of(row).tolist()
                    return self.read(operands[0]) if operands else 0
                before, block = block, target
                break

    def _step(self, frame: Frame, row: int) -> int | None:
        """Run an instruction; return the next block if it ends its own, -1 if the function."""
        program, code = self.program, self.program.instructions
        opcode, operands = int(code.opcode[row]), [int(v) for v in code.operands_of(row)]
        value = row + program.bases[ValueKind.INSTRUCTION]
        block = program.bases[ValueKind.BLOCK]
        types, type_id = program.types, int(code.type[row])
        if opcode == Opcode.RET:
            return -1
        if opcode == Opcode.BR:
            if len(operands) == 1:
                return operands[0] - block
            return operands[1 if self.read(operands[0]) else 2] - block
        if opcode == Opcode.SWITCH:
            chosen = self.read(operands[0])
            cases = dict(zip(map(self.constant, operands[2::2]), operands[3::2], strict=True))
            return cases.get(chosen, operands[1]) - block
        if opcode == Opcode.STORE:
            size = int(types.size[program.value_types[operands[0]]])
            number = self.read(operands[0])
            self._mask(operands[0])
            self.store(self.read(operands[1]), size, number)
            return None
        if opcode == Opcode.LOAD:
            size, address = int(types.size[type_id]), self.read(operands[0])
            result = self.load(address, size) & self._mask(value)
            self.on_load(row, address, size, result)
        elif opcode == Opcode.ALLOCA:
            result = self.reserve(int(types.size[code.about[row]]) * self.read(operands[0]))
        elif opcode == Opcode.GETELEMENTPTR:
            result = self._element(int(code.about[row]), operands, self.read)
        elif opcode in BINARY:
            result = BINARY[opcode](self.read(operands[0]), self.read(operands[1]))
        elif opcode in (Opcode.SDIV, Opcode.SREM, Opcode.ASHR):
            a = self._signed(self.read(operands[0]), operands[0])
            b = self._signed(self.read(operands[1]), operands[1])
            quotient = a >> b if opcode == Opcode.ASHR else abs(a) // abs(b)
            if opcode != Opcode.ASHR and (a < 0) != (b < 0):
                quotient = -quotient
            result = a - quotient * b if opcode == Opcode.SREM else quotient
        elif opcode == Opcode.ICMP:
            pair = [self.read(v) for v in operands]
            if Predicate(code.sub[row]) in SIGNED:
                pair = [self._signed(n, v) for n, v in zip(pair, operands, strict=True)]
            result = int(COMPARE[int(code.sub[row])](*pair))
        elif opcode == Opcode.SELECT:
            result = self.read(operands[1 if self.read(operands[0]) else 2])
        elif opcode == Opcode.SEXT:
            result = self._signed(self.read(operands[0]), operands[0])
        elif opcode in (Opcode.TRUNC, Opcode.ZEXT, Opcode.PTRTOINT, Opcode.INTTOPTR,
                        Opcode.BITCAST, Opcode.FREEZE):  # fmt: skip
            result = self.read(operands[0])
        elif opcode == Opcode.CALL:
            result = self._called(operands)
            if types.kind[type_id] == TypeKind.VOID:
                return None
        else:
            raise StoppedError(Opcode(opcode).name)
        frame.values[value] = result & self._mask(value)
        self.on_value(value, frame.values[value])
        return None

    def _called(self, operands: list[int]) -> int:
        address = self.read(operands[0])
        functions = {
            self.address_of[int(v)]: row
            for row, v in enumerate(self.program.function_table.value.tolist())
        }
        if address not in functions:
            raise StoppedError("a call of what is no function")
        name = self.program.strings[
            int(self.program.globals.name[self.program.function_table.value[functions[address]]])
        ]
        if name.startswith(("llvm.dbg", "llvm.lifetime", "llvm.assume")):
            return 0
        return self.call(functions[address], [self.read(v) for v in operands[1:]])

    def _outside(self, function: int, arguments: list[int]) -> int:
        program = self.program
        name = program.strings[int(program.globals.name[program.function_table.value[function]])]
        if name == "malloc":
            return self.reserve(arguments[0])
        if name == "calloc":
            address = self.reserve(arguments[0] * arguments[1])
            self.store(address, arguments[0] * arguments[1], 0)
            return address
        if name.startswith(("llvm.memcpy", "llvm.memmove")):
            number = [self.memory.get(arguments[1] + k) for k in range(arguments[2])]
            for k, byte in enumerate(number):
                if byte is not None:
                    self.store(arguments[0] + k, 1, byte)
            return 0
        if name.startswith("llvm.memset"):
            for k in range(arguments[2]):
                self.store(arguments[0] + k, 1, arguments[1])
            return 0
        if name == "free":
            return 0
        raise StoppedError(name)
