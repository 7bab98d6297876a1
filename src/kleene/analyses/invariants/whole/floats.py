"""Intervals of the floating-point numbers of a whole program, for those that are asked about.

A number is what its instruction computes, of integers what facts on values say; a number from
memory, from a caller, or that depends on itself is any. Where it is asked about, comparisons on the
edges that dominate the place are known, too: whoever comes there has last passed such an edge after
the number was computed, since the instruction of the number dominates the edge.
"""

from __future__ import annotations

import numpy as np

from kleene.algebra.float_interval import FORMATS, FloatFormat, FloatInterval
from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.expressions import Kind
from kleene.analyses.invariants.floats import ARITHMETIC, LOOSE, computed, ends_that_fit, n_operands
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.values import rank_of_constant
from kleene.ir.codes import ConstantKind, Flag, Opcode, Predicate, TypeKind, ValueKind

_DEEPEST = 40  # numbers of numbers
_ORDERED = {  # what holds of the left operand: it is at most, or at least, the right one
    Predicate.OLT: (True, False), Predicate.OLE: (True, False), Predicate.OEQ: (True, True),
    Predicate.OGT: (False, True), Predicate.OGE: (False, True),
}  # fmt: skip
_SWAPPED = {
    Predicate.OLT: Predicate.OGT, Predicate.OLE: Predicate.OGE, Predicate.OGT: Predicate.OLT,
    Predicate.OGE: Predicate.OLE, Predicate.OEQ: Predicate.OEQ,
}  # fmt: skip


class FloatRanges:
    """The intervals of the floating-point numbers of a program, each found when it is asked for."""

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table, self._bases = self._program.instructions, self._program.bases
        self._known: dict[int, FloatInterval] = {}
        self._sources, _ = context.split.flow.blocks.edges()

    def format(self, value: int) -> FloatFormat | None:
        """Return the format of a value; None if it is no floating-point number that is followed."""
        types, type_id = self._program.types, int(self._program.value_types[value])
        if types.kind[type_id] != TypeKind.FLOAT:
            return None
        return FORMATS.get(self._program.strings[int(types.name[type_id])])

    def of(self, value: int, depth: int = 0) -> FloatInterval | None:
        """Return the numbers that a value may be, wherever it is."""
        format = self.format(value)
        if format is None:
            return None
        if value not in self._known:
            self._known[value] = FloatInterval.top(format)  # what depends on itself is any
            if depth < _DEEPEST:
                found = self._of(value, format, depth + 1)
                self._known[value] = FloatInterval.top(format) if found is None else found
        return self._known[value]

    def at(self, row: int, place: int) -> FloatInterval | None:
        """Return the numbers that an operand of an instruction may be there."""
        value = int(self._table.operands[self._table.offsets[row] + place])
        found = self.of(value)
        if found is None:
            return None
        flow = self._context.split.flow
        node = int(flow.tree.idom[self._table.block[row]])
        while node >= 0:
            edge = node - flow.blocks.n_nodes
            if edge >= 0:
                found = self._behind(edge, value, found)
            node = int(flow.tree.idom[node])
        return found

    # Values

    def _of(self, value: int, format: FloatFormat, depth: int) -> FloatInterval | None:
        constant = value - self._bases[ValueKind.CONSTANT]
        if 0 <= constant < len(self._program.constants):
            return self._constant(constant, format)
        row = value - self._bases[ValueKind.INSTRUCTION]
        if row < 0 or self._table.flags[row] & LOOSE:
            return None
        opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
        flags = int(self._table.flags[row])
        if opcode in ARITHMETIC:
            return self._computed(ARITHMETIC[Opcode(opcode)], format, operands, flags, depth)
        if opcode in (Opcode.SITOFP, Opcode.UITOFP):
            return self._of_integer(row, format, is_unsigned=opcode == Opcode.UITOFP)
        if opcode == Opcode.CALL:
            operation = model_of(self._program, operands[0]).computes
            given = operands[1 : 1 + n_operands(operation)]
            is_alike = all(self.format(one) == format for one in given)
            if not operation or not is_alike or len(given) < n_operands(operation):
                return None
            return self._computed(operation, format, given, flags, depth)
        if opcode in (Opcode.SELECT, Opcode.PHI):
            chosen = operands[1:] if opcode == Opcode.SELECT else operands[::2]
            found = FloatInterval.bottom(format)
            for one in chosen:
                made = self._computed("copy", format, [one], flags, depth)
                if made is None:
                    return None
                found = found.join(made)
            return found
        return None

    def _constant(self, row: int, format: FloatFormat) -> FloatInterval | None:
        kind = int(self._program.constants.kind[row])
        rank = 0 if kind in (ConstantKind.ZERO, ConstantKind.NULL) else None
        if kind == ConstantKind.FLOAT:
            rank = rank_of_constant(self._program, row)
        return None if rank is None else FloatInterval.of_range(format, rank, rank)

    def _computed(
        self, operation: str, format: FloatFormat, operands: list[int], flags: int, depth: int
    ) -> FloatInterval | None:
        given = [self.of(one, depth) for one in operands]
        known = tuple(one for one in given if one is not None)
        return computed(operation, format, known, flags) if len(known) == len(given) else None

    def _of_integer(self, row: int, format: FloatFormat, *, is_unsigned: bool) -> FloatInterval:
        """Return the numbers of an integer's facts; of bits that are not tracked, all of them."""
        value = int(self._table.operands[self._table.offsets[row]])
        name = int(self._context.split.operand[self._table.offsets[row]])
        fact = self._context.fact(name)
        width = int(self._program.types.bits[self._program.value_types[value]])
        ends = Kind(width, is_unsigned).low, Kind(width, is_unsigned).high
        is_tracked = bool(self._context.is_tracked(np.array([name]))[0])
        if is_tracked and fact.has_value and not self._context.facts.may_be_undefined[name]:
            ends = (fact.least, fact.most) if is_unsigned else (fact.low, fact.high)
        return FloatInterval.around(format, *ends)

    # Comparisons

    def _behind(self, edge: int, value: int, found: FloatInterval) -> FloatInterval:
        """Return the numbers of a value that an edge is taken with."""
        source = int(self._sources[edge])
        row = int(self._program.blocks.instruction_offsets[source + 1]) - 1
        operands = self._table.operands_of(row).tolist()
        if self._table.opcode[row] != Opcode.BR or len(operands) != 3 or operands[1] == operands[2]:
            return found
        target = int(self._context.split.flow.blocks.targets[edge])
        holds = operands[1] == self._bases[ValueKind.BLOCK] + target
        return self._where(operands[0], holds, value, found)

    def _where(
        self, condition: int, holds: bool, value: int, found: FloatInterval
    ) -> FloatInterval:
        """Return the numbers of a value for which a condition holds, or does not."""
        row = condition - self._bases[ValueKind.INSTRUCTION]
        is_plain = row >= 0 and not self._table.flags[row] & (Flag.NNAN | Flag.NINF)
        if not is_plain or self._table.opcode[row] != Opcode.FCMP:
            return found
        left, right = self._table.operands_of(row).tolist()
        predicate = int(self._table.sub[row])
        predicate = predicate if holds else Predicate.TRUE - predicate
        is_unordered = predicate > Predicate.ORD
        if is_unordered:  # NaN, or not what the ordered opposite says: that it says itself
            predicate = _opposite(Predicate.TRUE - predicate)
        if value not in (left, right) or predicate not in _ORDERED:
            is_test = predicate == Predicate.ORD and value in (left, right)
            return found.meet(_numbers(found.format)) if is_test and not is_unordered else found
        if value == right and left != right:
            left, right = right, left
            predicate = _SWAPPED[Predicate(predicate)]
        limit = self.of(right)
        if left == right or limit is None or not limit.has_number:
            return found
        at_most, at_least = _ORDERED[Predicate(predicate)]
        strict = predicate in (Predicate.OLT, Predicate.OGT)
        most = limit.high - strict if at_most else found.format.infinity
        least = limit.low + strict if at_least else -found.format.infinity
        if is_unordered and limit.has_nan:
            return found  # the other one may be NaN: nothing follows
        return found.meet(FloatInterval(found.format, least, most, is_unordered))


def _opposite(predicate: int) -> int:
    """Return the ordered predicate that holds of numbers where another one does not."""
    return {
        Predicate.OLT: Predicate.OGE, Predicate.OGE: Predicate.OLT, Predicate.OGT: Predicate.OLE,
        Predicate.OLE: Predicate.OGT, Predicate.ONE: Predicate.OEQ, Predicate.OEQ: Predicate.ONE,
    }.get(Predicate(predicate), Predicate.FALSE)  # fmt: skip


def _numbers(format: FloatFormat) -> FloatInterval:
    return FloatInterval(format, -format.infinity, format.infinity)


def fit(found: FloatInterval, kind: Kind) -> tuple[bool, bool]:
    """Return whether all of some numbers fit an integer of a kind, and whether none does."""
    least, most = ends_that_fit(found.format, kind)
    inside = FloatInterval(found.format, least, most)
    return found <= inside, found.meet(inside).is_bottom()


__all__ = ["FloatRanges", "fit"]
