"""What the result of a call tells of how its function has ended: below 0, 0 or above.

if (read_header(f, &h) < 0) return -1;
use(&h);                                  what `read_header` writes where it returns 0 or more
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.whole.addresses import constant_numbers
from kleene.analyses.invariants.whole.flow import Flow
from kleene.ir.codes import Opcode, Predicate, ValueKind

_HOLDS = {
    Predicate.EQ: operator.eq,
    Predicate.NE: operator.ne,
    Predicate.SLT: operator.lt,
    Predicate.SLE: operator.le,
    Predicate.SGT: operator.gt,
    Predicate.SGE: operator.ge,
}
_FAR = 1 << 64
SIGNS = (1, 2, 4)  # bits for results below 0, 0, and above
ANY = 7


class Outcomes:
    """Finds the signs of results, by facts on them."""

    def __init__(self, context: Context, flow: Flow) -> None:
        self._context, self._flow, self._program = context, flow, context.program
        self._bases = self._program.bases
        self._types = self._program.value_types

    @cached_property
    def _result_types(self) -> dict[int, set[int]]:
        """By function, the types that it returns values of."""
        program, table = self._program, self._program.instructions
        rows = np.flatnonzero((table.opcode == Opcode.RET) & (np.diff(table.offsets) > 0))
        types = self._types[table.operands[table.offsets[rows]]].tolist()
        found: dict[int, set[int]] = {}
        for function, one in zip(program.instruction_function[rows].tolist(), types, strict=True):
            found.setdefault(function, set()).add(one)
        return found

    def _signs(self, name: int) -> int:
        """Return the signs that a value may have."""
        if not self._context.is_tracked(np.array([name]))[0]:
            return ANY
        fact = self._context.fact(name)
        is_zero = fact.low <= 0 <= fact.high and fact.least == 0
        return (fact.low < 0) | is_zero << 1 | (fact.high > 0) << 2 if fact.has_value else 0

    def returned(self, row: int) -> list[tuple[int | None, int]]:
        """Return the signs with which a function returns; and the block before, if that matters."""
        table = self._program.instructions
        operands = table.operands_of(row).tolist()
        place, block = int(table.offsets[row]), int(table.block[row])
        if not operands:
            return [(None, ANY)]
        phi = operands[0] - self._bases[ValueKind.INSTRUCTION]
        if phi < 0 or table.opcode[phi] != Opcode.PHI or table.block[phi] != block:
            return [(None, self._signs(int(self._context.split.operand[place])))]
        place, before = int(table.offsets[phi]), table.operands_of(phi).tolist()[1::2]
        reached = self._flow.predecessors(block)
        found = []
        for nth, source in enumerate(before):
            if source - self._bases[ValueKind.BLOCK] in reached:
                name = int(self._context.split.operand[place + 2 * nth])
                found.append((source - self._bases[ValueKind.BLOCK], self._signs(name)))
        return found

    def after(self, call: int, functions: tuple[int, ...]) -> Iterator[tuple[int, int]]:
        """Yield the blocks behind that of a call where a test tells the sign of its result.

        Functions that are called by another type may return what is read otherwise.
        """
        table = self._program.instructions
        own = {int(self._types[call + self._bases[ValueKind.INSTRUCTION]])}
        if any(self._result_types.get(one, own) != own for one in functions):
            return
        block = int(table.block[call])
        end = self._flow.rows(block)[1] - 1
        operands = table.operands_of(end).tolist()
        if table.opcode[end] != Opcode.BR or len(operands) != 3 or operands[1] == operands[2]:
            return
        tested = self._tested(operands[0], call + self._bases[ValueKind.INSTRUCTION])
        for target, signs in zip(operands[1:], tested, strict=True):
            target -= self._bases[ValueKind.BLOCK]
            if signs != ANY and self._flow.predecessors(target) == [block]:
                yield target, signs

    def _tested(self, condition: int, result: int) -> tuple[int, int]:
        """Return the signs of a result where a condition holds, and where it does not."""
        table, row = self._program.instructions, condition - self._bases[ValueKind.INSTRUCTION]
        if row < 0 or table.opcode[row] != Opcode.ICMP:
            return ANY, ANY
        left, right = table.operands_of(row).tolist()
        is_number, number = constant_numbers(self._program, np.array([right]))
        holds = _HOLDS.get(Predicate(int(table.sub[row])))
        if left != result or not is_number[0] or holds is None:
            return ANY, ANY
        limit, yes, no = int(number[0]), 0, 0
        for one in (-_FAR, limit - 1, limit, limit + 1, -1, 0, 1, _FAR):  # all that may differ
            sign = SIGNS[(one > 0) - (one < 0) + 1]
            yes, no = (yes | sign, no) if holds(one, limit) else (yes, no | sign)
        return yes, no
