"""Integers of a program as sums of at most two others, and conditions as bounds of such sums.

A value is read as signed and exactly: `a + b` is a sum only where it does not wrap around, by its
flags or by what is known of a and b. In SSA form such a sum holds wherever the value may be used:
whoever comes to a use after a or b has been computed anew has passed the value's instruction again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.ir.codes import ConstantKind, Flag, Opcode, Predicate, TypeKind, ValueKind
from kleene.transforms.splitting.program import EntryConditions

_SIGNED = {
    Predicate.SLT: (True, True), Predicate.SLE: (True, False),
    Predicate.SGT: (False, True), Predicate.SGE: (False, False),
}  # fmt: skip
_UNSIGNED = {
    Predicate.ULT: (True, True), Predicate.ULE: (True, False),
    Predicate.UGT: (False, True), Predicate.UGE: (False, False),
}  # fmt: skip
_DEEPEST = 6  # conditions of conditions
_LARGEST = 1 << 40

Terms = tuple[tuple[int, int], ...]  # values and 1 or -1, values ascending


class Sum(NamedTuple):
    """A constant and at most two values, each added or subtracted."""

    terms: Terms
    constant: int


class Bound(NamedTuple):
    """A sum of one or two values that is at most a number; or, if it `differs`, is not that."""

    terms: Terms
    most: int
    differs: bool = False


def added(a: Sum, b: Sum, sign: int) -> Sum | None:
    """Return a + b, or a - b; None if there are more than two terms or other factors."""
    factors = dict(a.terms)
    for value, factor in b.terms:
        factors[value] = factors.get(value, 0) + sign * factor
    terms = tuple(sorted((value, factor) for value, factor in factors.items() if factor))
    if len(terms) > 2 or any(abs(factor) != 1 for _, factor in terms):
        return None
    return Sum(terms, a.constant + sign * b.constant)


def at_most(a: Sum, b: Sum, less: int) -> Bound | None:
    """Return a + less <= b as a bound of a sum; None if it is not one, or says nothing."""
    difference = added(a, b, -1)
    if difference is None or not difference.terms:
        return None
    most = -difference.constant - less
    return Bound(difference.terms, most) if abs(most) < _LARGEST else None


class Sums:
    """The sums that values of a program are."""

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table = self._program.instructions
        self._bases = self._program.bases
        self._known: dict[int, Sum | None] = {}
        self.low, self.high = context.facts.low, context.facts.high
        self._may_be_undefined = context.facts.may_be_undefined
        self._names = context.split.operand
        self._width = context.values.width
        self._is_integer = self._program.types.kind == TypeKind.INT
        self._entries = EntryConditions.of(self._program)

    def width(self, value: int) -> int:
        """Return the bits of an integer; 0 for what is none, or too wide."""
        is_integer = self._is_integer[self._program.value_types[value]]
        return int(self._width[value]) if is_integer else 0

    def range(self, name: int) -> tuple[int, int]:
        """Return the least and the greatest number of a name."""
        return int(self.low[name]), int(self.high[name])

    def name(self, row: int, place: int) -> int:
        """Return the name of an operand."""
        return int(self._names[self._table.offsets[row] + place])

    def of(self, value: int) -> Sum | None:
        """Return what a value is; None if nothing is known of it."""
        if value not in self._known:
            self._known[value] = None  # a cycle goes through a φ, which is a value of its own
            self._known[value] = self._of(value)
        return self._known[value]

    def _of(self, value: int) -> Sum | None:
        width = self.width(value)
        if width <= 1:
            return None
        if self._bases[ValueKind.CONSTANT] <= value < self._bases[ValueKind.ARGUMENT]:
            low, high = self.range(value)
            kind = self._program.constants.kind[value - self._bases[ValueKind.CONSTANT]]
            is_number = kind in (ConstantKind.INT, ConstantKind.ZERO, ConstantKind.NULL)
            return Sum((), low) if is_number and low == high else None
        row = value - self._bases[ValueKind.INSTRUCTION]
        found = self._computed(row, width) if row >= 0 else None
        return found or Sum(((value, 1),), 0)

    def _computed(self, row: int, width: int) -> Sum | None:
        opcode = int(self._table.opcode[row])
        if opcode in (Opcode.ADD, Opcode.SUB):
            return self.exact(row, opcode, width)
        if opcode not in (Opcode.SEXT, Opcode.ZEXT, Opcode.TRUNC, Opcode.FREEZE):
            return None
        operand = int(self._table.operands[self._table.offsets[row]])
        low, high = self.range(self.name(row, 0))
        half = 1 << width - 1
        if opcode == Opcode.ZEXT and low < 0:
            return None
        if opcode == Opcode.TRUNC and not (-half <= low and high < half):
            return None
        if opcode == Opcode.FREEZE and self._may_be_undefined[operand]:
            return None
        return self.of(operand)

    def exact(self, row: int, opcode: int, width: int) -> Sum | None:
        """Return a sum or difference that does not wrap around."""
        a, b = self._table.operands_of(row).tolist()
        left, right = self.of(a), self.of(b)
        if left is None or right is None:
            return None
        sign = 1 if opcode == Opcode.ADD else -1
        if self._context.wraps or not self._table.flags[row] & Flag.NSW:
            (a_low, a_high), (b_low, b_high) = (self.range(self.name(row, k)) for k in (0, 1))
            ends = sorted((sign * b_low, sign * b_high))
            half = 1 << width - 1
            if a_low + ends[0] < -half or a_high + ends[1] >= half:
                return None
        found = added(left, right, sign)
        return found if found is None or abs(found.constant) < _LARGEST else None

    # Conditions

    def bounds(self, condition: int, holds: bool, depth: int = 0) -> list[Bound]:
        """Return what follows where a condition holds, or where it does not."""
        row = condition - self._bases[ValueKind.INSTRUCTION]
        if row < 0 or depth > _DEEPEST:
            return []
        opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
        if opcode == Opcode.ICMP:
            return self._compared(row, operands, holds, depth)
        if opcode in (Opcode.AND, Opcode.OR) and holds == (opcode == Opcode.AND):
            return [one for part in operands for one in self.bounds(part, holds, depth + 1)]
        if opcode == Opcode.XOR and self._is_true(operands[1]):
            return self.bounds(operands[0], not holds, depth + 1)
        if opcode == Opcode.PHI:
            return self._chosen(row, holds, depth)
        if opcode == Opcode.SELECT:
            chosen, yes, no = operands
            if holds and self._is_false(no):  # chosen && yes
                return [one for part in (chosen, yes) for one in self.bounds(part, True, depth + 1)]
            if not holds and self._is_true(yes):  # not (chosen || no)
                return [one for part in (chosen, no) for one in self.bounds(part, False, depth + 1)]
        return []

    def _chosen(self, row: int, holds: bool, depth: int) -> list[Bound]:
        """Return what follows where a φ of conditions has a value that comes along one edge alone.

        Then the conditions on the way to that edge hold, too; of values, that is, that are defined
        above the φ, and so have not been computed anew since.
        """
        table, is_other = self._table, self._is_false if holds else self._is_true
        operands = table.operands_of(row).tolist()
        pairs = zip(operands[::2], operands[1::2], strict=True)
        left = [one for one in pairs if not is_other(one[0])]
        if len(left) != 1:
            return []
        value, source = left[0]
        found = self.bounds(value, holds, depth + 1)
        entries, at = self._entries, np.array([source - self._bases[ValueKind.BLOCK]])
        for block in entries.above(at)[1].tolist():
            found += self.bounds(int(entries.value[block]), bool(entries.holds[block]), depth + 1)
        return [one for one in found if all(self._is_above(value, row) for value, _ in one.terms)]

    def _is_above(self, value: int, row: int) -> bool:
        """Return whether a value is defined in a block that strictly dominates an instruction's."""
        inner = value - self._bases[ValueKind.INSTRUCTION]
        if inner < 0:
            return True
        block, here = int(self._table.block[inner]), int(self._table.block[row])
        return block != here and bool(self._context.split.flow.tree.dominates(block, here))

    def _is_true(self, value: int) -> bool:
        is_constant = self._bases[ValueKind.CONSTANT] <= value < self._bases[ValueKind.ARGUMENT]
        return is_constant and bool(self.low[value] == self.high[value] == -1)

    def _is_false(self, value: int) -> bool:
        is_constant = self._bases[ValueKind.CONSTANT] <= value < self._bases[ValueKind.ARGUMENT]
        return is_constant and bool(self.low[value] == self.high[value] == 0)

    def _compared(self, row: int, operands: list[int], holds: bool, depth: int) -> list[Bound]:
        predicate = int(self._table.sub[row])
        if self._width[operands[0]] == 1 and self.width(operands[0]) == 1:
            if self._is_false(operands[1]) and predicate in (Predicate.EQ, Predicate.NE):
                return self.bounds(operands[0], holds == (predicate == Predicate.NE), depth + 1)
            return []
        a, b = self.of(operands[0]), self.of(operands[1])
        if a is None or b is None:
            return []
        if predicate in (Predicate.EQ, Predicate.NE):
            if holds == (predicate == Predicate.EQ):
                return _some(at_most(a, b, 0), at_most(b, a, 0))
            found = at_most(a, b, 0)
            if found is None or len(found.terms) < 2:  # of one value, facts say as much
                return []
            return [found._replace(differs=True)]
        if predicate in _SIGNED:
            is_less, is_strict = _SIGNED[Predicate(predicate)]
            return _some(_ordered(a, b, is_less == holds, is_strict == holds))
        if predicate not in _UNSIGNED:
            return []
        # Of unsigned comparisons: a < b with 0 <= b as a signed number is 0 <= a < b.
        is_less, is_strict = _UNSIGNED[Predicate(predicate)]
        small, large = (0, 1) if is_less == holds else (1, 0)
        if self.low[self.name(row, large)] < 0:
            return []
        sums = (a, b)
        zero = at_most(Sum((), 0), sums[small], 0)
        return _some(at_most(sums[small], sums[large], int(is_strict == holds)), zero)


def _ordered(a: Sum, b: Sum, is_less: bool, is_strict: bool) -> Bound | None:
    return at_most(a, b, int(is_strict)) if is_less else at_most(b, a, int(is_strict))


def _some(*found: Bound | None) -> list[Bound]:
    return [one for one in found if one is not None]


__all__ = ["Bound", "Sum", "Sums", "added", "at_most"]
