"""Which integers of a program are read as signed, and which as unsigned.

LLVM's integers have no sign, but what is done with them tells how the source meant them. Values
that flow into each other, or are compared, get one reading. No reading is wrong; one may be more
precise.
"""

from __future__ import annotations

from collections import defaultdict

from kleene.ir import Program
from kleene.ir.codes import CALLS, Flag, Opcode, Predicate, ValueKind

_LINKED = {
    Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.UDIV,
    Opcode.SDIV, Opcode.UREM, Opcode.SREM, Opcode.ICMP, Opcode.FREEZE,
}  # fmt: skip
_UNSIGNED = {Opcode.UDIV, Opcode.UREM, Opcode.LSHR, Opcode.UITOFP}
_SIGNED = {Opcode.SDIV, Opcode.SREM, Opcode.ASHR, Opcode.SITOFP, Opcode.SEXT}
_ARITHMETIC = {Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL}
_ALWAYS = 1000  # weight of what decides alone: an overflow that C forbids


class Readings:
    """The reading of each value of some functions: `is_unsigned`."""

    def __init__(self, program: Program, functions: list[int]) -> None:
        self._program = program
        self._parent: dict[int, int] = {}
        self._weight: dict[int, int] = defaultdict(int)  # positive: signed
        self._constants = program.bases[ValueKind.CONSTANT], program.bases[ValueKind.ARGUMENT]
        for function in functions:
            self._read(function)
        total: dict[int, int] = defaultdict(int)
        for value, weight in self._weight.items():
            total[self._find(value)] += weight
        self._total = total

    def is_unsigned(self, value: int) -> bool:
        """Return whether a value is kept as the unsigned reading of its bits."""
        return value in self._parent and self._total[self._find(value)] < 0

    def _read(self, function: int) -> None:
        program = self._program
        table, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
        blocks = program.function_table.block_offsets[function : function + 2]
        first, end = program.blocks.instruction_offsets[blocks].tolist()
        opcodes, flags = table.opcode[first:end].tolist(), table.flags[first:end].tolist()
        offsets, subs = table.offsets[first : end + 1].tolist(), table.sub[first:end].tolist()
        operands = table.operands[offsets[0] : offsets[-1]].tolist()
        result = int(program.function_table.value[function])
        for i, opcode in enumerate(opcodes):
            of_i = operands[offsets[i] - offsets[0] : offsets[i + 1] - offsets[0]]
            self._read_one(base + first + i, opcode, subs[i], flags[i], of_i, result)

    def _read_one(
        self, value: int, opcode: int, sub: int, flags: int, operands: list[int], function: int
    ) -> None:
        if opcode in _LINKED:
            self._link(*operands)
            if opcode != Opcode.ICMP:
                self._link(value, operands[0])
                self._link(value, operands[1] if len(operands) > 1 else value)
        elif opcode in (Opcode.SHL, Opcode.LSHR, Opcode.ASHR):
            self._link(value, operands[0])
        elif opcode == Opcode.PHI:
            self._link(value, *operands[::2])
        elif opcode == Opcode.SELECT:
            self._link(value, *operands[1:])
        elif opcode in CALLS:
            self._link_call(value, operands)
        elif opcode == Opcode.RET and operands:
            self._link(-2 - function, operands[0])
        elif opcode == Opcode.STORE:
            self._link(-2 - self._program.n_values - operands[1], operands[0])
        elif opcode == Opcode.LOAD:
            self._link(-2 - self._program.n_values - operands[0], value)
        self._weigh(value, opcode, sub, flags, operands)

    def _weigh(self, value: int, opcode: int, sub: int, flags: int, operands: list[int]) -> None:
        if opcode in _ARITHMETIC:
            self._weight[value] += _ALWAYS if flags & Flag.NSW else -1
            self._find(value)
        elif opcode in _UNSIGNED or opcode in _SIGNED:
            for one in (value, *operands[:1]):
                if not self._is_constant(one):
                    self._find(one)
                    self._weight[one] += 2 if opcode in _SIGNED else -2
        elif opcode == Opcode.ZEXT:
            self._find(operands[0])
            self._weight[operands[0]] -= 2
        elif opcode == Opcode.ICMP and sub not in (Predicate.EQ, Predicate.NE):
            is_signed = sub in (Predicate.SGT, Predicate.SGE, Predicate.SLT, Predicate.SLE)
            for one in operands:
                if not self._is_constant(one):
                    self._find(one)
                    self._weight[one] += 2 if is_signed else -2

    def _link_call(self, value: int, operands: list[int]) -> None:
        program = self._program
        callee = operands[0]
        if callee >= len(program.globals) or (row := int(program.globals.function[callee])) < 0:
            return
        self._link(-2 - callee, value)
        first, end = program.function_table.argument_offsets[row : row + 2].tolist()
        formals = range(first, end)
        for formal, actual in zip(formals, operands[1:], strict=False):
            self._link(program.value(ValueKind.ARGUMENT, formal), actual)

    def _link(self, *values: int) -> None:
        kept = [self._find(one) for one in values if not self._is_constant(one)]
        for one in kept[1:]:
            self._parent[self._find(one)] = self._find(kept[0])

    def _is_constant(self, value: int) -> bool:
        return self._constants[0] <= value < self._constants[1]

    def _find(self, value: int) -> int:
        parent = self._parent
        parent.setdefault(value, value)
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value
