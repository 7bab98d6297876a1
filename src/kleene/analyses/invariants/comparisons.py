"""Comparisons of the IR as conditions on forms, with what they say about an operand's operands."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from kleene.algebra.float_interval import FloatFormat
from kleene.analyses.invariants.expressions import (
    ZERO,
    Always,
    Both,
    Compared,
    Condition,
    Congruent,
    Either,
    Form,
    Implied,
    Kind,
    Relation,
    Same,
    Unknown,
    negation,
    only,
)
from kleene.analyses.invariants.floats import LOOSE, compared, of_classes
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.objects import Address
from kleene.analyses.invariants.strings import length_from_start
from kleene.ir.codes import CALLS, Flag, Opcode, Predicate, ValueKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.values import Values

_WORDS = {
    Predicate.EQ: "eq", Predicate.NE: "ne", Predicate.SLT: "slt", Predicate.SLE: "sle",
    Predicate.SGT: "sgt", Predicate.SGE: "sge", Predicate.ULT: "ult", Predicate.ULE: "ule",
    Predicate.UGT: "ugt", Predicate.UGE: "uge",
}  # fmt: skip


_MAY_WRITE = {*CALLS, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG}


class Comparisons:
    """The conditions of `icmp` and `fcmp`, by the expressions of the values compared."""

    def __init__(self, values: Values) -> None:
        self._values, self._table = values, values.program.instructions
        self._first_instruction = values.program.bases[ValueKind.INSTRUCTION]

    def condition(self, context: int, row: int, operands: list[int]) -> Condition:
        """Return the condition of the comparison `row` of two numbers, bits or pointers."""
        if self._table.opcode[row] == Opcode.FCMP:
            return self._floats(context, row, *operands)
        predicate = _WORDS[Predicate(int(self._table.sub[row]))]
        left, right = operands
        if self._values.is_pointer(left):
            return self._pointers(context, predicate, left, right)
        if self._values.width(left) == 1:
            return self._bits(context, predicate, left, right)
        if not self._values.width(left):
            return Unknown()
        kind = self._values.kind(left if self._values.constant(left) is None else right)
        a, b = self._values.number(context, left, kind), self._values.number(context, right, kind)
        if a is None or b is None:
            return Unknown()
        plain = _compared(predicate, a, b, kind)
        is_read_alike = predicate in ("eq", "ne") or predicate.startswith("u") == kind.is_unsigned
        if not b.terms and is_read_alike:
            end = self._end_of_string(context, row, left, predicate, b.constant)
            if end is not None:
                return Same(end, plain)
        if predicate in ("eq", "ne") and not b.terms:
            extra = self._values.flag_condition(a, b.constant) or self._remainder(
                context, left, b.constant
            )
            if extra is not None:
                return Same(extra, plain) if predicate == "eq" else Same(negation(extra), plain)
        square = None if b.terms else self._square(context, left, predicate, b.constant)
        return plain if square is None else Same(square, plain)

    def _end_of_string(
        self, context: int, row: int, value: int, predicate: str, number: int
    ) -> Condition | None:
        """Return what follows from a comparison of a byte at index i of a string with a number.

        With L the length of the string: 0 is behind L or at L, and what is not 0 is not at L. In
        front of a string whose object is not known there may be a 0, too. That
        holds while nothing is written, so the byte must be read in the block that the comparison
        ends, with nothing between that may write.
        """
        load = value - self._first_instruction
        if load >= 0 and self._table.opcode[load] in (Opcode.SEXT, Opcode.ZEXT):
            load = int(self._table.operands_of(load)[0]) - self._first_instruction
        if load < 0 or self._table.opcode[load] != Opcode.LOAD or not self._is_tested(row, load):
            return None
        if self._values.width(self._first_instruction + load) != 8:
            return None
        address = self._values.address(context, int(self._table.operands_of(load)[0]))
        holds_of_zero = {
            "eq": number == 0, "ne": number != 0, "lt": number > 0, "le": number >= 0,
            "gt": number < 0, "ge": number <= 0,
        }[predicate[-2:]]  # fmt: skip
        zeros: Condition = Always(True)
        others: Condition = Always(True)  # where 0 is not among what it may be
        is_exact = predicate in ("eq", "ne") and number == 0
        for unless, one in _pointed(address):
            is_end = self._is_end(one)
            if is_end is None:
                return None
            if is_exact:
                zeros = _both(zeros, _either(unless, is_end[0]))
            others = _both(others, _either(unless, is_end[1]))
        return Implied(zeros, others) if holds_of_zero else Implied(others, zeros)

    def _is_end(self, address: Address) -> tuple[Condition, Condition] | None:
        """Return what holds where a byte is 0, and where it is not, by the length of its string."""
        flat = self._values.flat
        length = length_from_start(flat, address)
        if length is None or address.offset is None:
            return None
        if address.object is not None and flat.objects[address.object].size is None:
            return None
        behind = only(length).plus(address.offset, -1)  # L - i
        is_end: Condition = Relation(behind, "le")
        if address.object is None:  # what is in front of the string tells nothing
            is_end = Either(Relation(address.offset.shifted(1), "le"), is_end)
        return is_end, Relation(behind, "ne")

    def _is_tested(self, row: int, load: int) -> bool:
        """Return whether a comparison of what is loaded is the test that its block ends with."""
        table, program = self._table, self._values.program
        block = int(table.block[row])
        end = int(program.blocks.instruction_offsets[block + 1]) - 1
        test = self._first_instruction + row
        if table.block[load] != block or table.opcode[end] != Opcode.BR:
            return False
        if int(table.operands_of(end)[0]) != test or table.flags[load] & Flag.VOLATILE:
            return False
        between = set(table.opcode[load + 1 : end].tolist())
        function = int(program.instruction_function[row])
        blocks = program.function_table.block_offsets[function : function + 2]
        first, last = program.blocks.instruction_offsets[blocks].tolist()
        used = table.operands[table.offsets[first] : table.offsets[last]]
        is_used_once = np.count_nonzero(used == test) == 1
        return is_used_once and not between & _MAY_WRITE

    def _floats(self, context: int, row: int, left: int, right: int) -> Condition:
        format, predicate = self._values.format(left), int(self._table.sub[row])
        if format is None:
            return Unknown()
        kind, flags = Kind.of_format(format), int(self._table.flags[row])
        a, b = self._values.number(context, left, kind), self._values.number(context, right, kind)
        if a is None or b is None:
            return Unknown()
        plain = compared(predicate, a, b, format, flags)
        size = self._absolute(context, left, kind)
        is_limit = not b.terms and 0 <= b.constant <= format.infinity
        if size is None or not is_limit or flags & (Flag.NNAN | Flag.NINF):
            return plain
        return self._of_absolute(predicate, size, b, format) or plain

    def is_of_class(self, context: int, operands: list[int]) -> Condition | None:
        """Return the condition of `llvm.is.fpclass`: a number is of one of some classes."""
        _, value, mask = operands
        format, classes = self._values.format(value), self._values.constant(mask)
        if format is None or classes is None:
            return None
        form = self._values.number(context, value, Kind.of_format(format))
        return None if form is None else of_classes(form, format, classes)

    def _absolute(self, context: int, value: int, kind: Kind) -> Form | None:
        """Return x if a value is the absolute value of x."""
        row = value - self._first_instruction
        if row < 0 or self._table.opcode[row] != Opcode.CALL:
            return None
        operands = self._table.operands_of(row).tolist()
        is_fabs = model_of(self._values.program, operands[0]).computes == "fabs"
        is_plain = not self._table.flags[row] & (Flag.NNAN | Flag.NINF | LOOSE)
        return self._values.number(context, operands[1], kind) if is_fabs and is_plain else None

    def _of_absolute(
        self, predicate: int, x: Form, limit: Form, format: FloatFormat
    ) -> Condition | None:
        """Return what a comparison of |x| with a number says about x.

        For 0 <= c: |x| < c is -c < x < c; |x| != c, of numbers, is x != c and x != -c. Infinity
        may be the limit: that is how some compilers ask `isfinite` and `isinf`.
        """
        if predicate > Predicate.ORD:
            found = self._of_absolute(Predicate.TRUE - predicate, x, limit, format)
            return None if found is None else negation(found)
        opposite = limit.scaled(-1)
        if predicate in (Predicate.OLT, Predicate.OLE):
            swapped = Predicate.OGT if predicate == Predicate.OLT else Predicate.OGE
            above = compared(swapped, x, opposite, format, 0)
            return Both(compared(predicate, x, limit, format, 0), above)
        if predicate == Predicate.ONE and limit.constant == format.infinity:
            return self._of_absolute(Predicate.OLT, x, limit, format)  # nothing is above infinity
        if predicate == Predicate.ONE:
            below = compared(predicate, x, opposite, format, 0)
            return Both(compared(predicate, x, limit, format, 0), below)
        if predicate in (Predicate.OEQ, Predicate.OGT, Predicate.OGE):
            swapped = {
                Predicate.OEQ: Predicate.OEQ, Predicate.OGT: Predicate.OLT,
                Predicate.OGE: Predicate.OLE,
            }[Predicate(predicate)]  # fmt: skip
            below = compared(swapped, x, opposite, format, 0)
            return Either(compared(predicate, x, limit, format, 0), below)
        return None

    def _bits(self, context: int, predicate: str, left: int, right: int) -> Condition:
        if predicate not in ("eq", "ne"):
            return Unknown()
        a, b = self._values.condition(context, left), self._values.condition(context, right)
        differ: Condition = Either(Both(a, negation(b)), Both(negation(a), b))
        if isinstance(b, Always):
            differ = negation(a) if b.holds else a
        return differ if predicate == "ne" else negation(differ)

    def _pointers(self, context: int, predicate: str, left: int, right: int) -> Condition:
        """Return what a comparison of pointers says: with null, or of offsets in one object."""
        a, b = self._values.address(context, left), self._values.address(context, right)
        for one, other in ((a, b), (b, a)):
            if predicate in ("eq", "ne") and other.is_present == Always(False):
                return one.is_present if predicate == "ne" else negation(one.is_present)
        distance = a.distance(b)
        if distance is None:
            return self._chosen(predicate, a, b)
        if a.is_present == b.is_present:
            return _compared(predicate.replace("u", "s"), distance, ZERO, Kind(64, False))
        if predicate not in ("eq", "ne"):
            return Unknown()
        here = Both(Both(a.is_present, b.is_present), Relation(distance, "eq"))
        equal = Either(here, Both(negation(a.is_present), negation(b.is_present)))
        return equal if predicate == "eq" else negation(equal)

    def _chosen(self, predicate: str, a: Address, b: Address) -> Condition:
        """Return what it says that a pointer into one of several objects is not another pointer.

        If it points into the same object, then not to the same place. Where it is the other one,
        nothing is said: the end of an object may be where another one begins.
        """
        if predicate not in ("eq", "ne"):
            return Unknown()
        differ: Condition = Always(True)
        for unless, one in _pointed(a):
            for other_unless, other in _pointed(b):
                distance = one.distance(other)
                if distance is not None:
                    is_null = _either(negation(a.is_present), negation(b.is_present))
                    apart = _either(is_null, Relation(distance, "ne"))
                    differ = _both(differ, _either(_either(unless, other_unless), apart))
        if differ == Always(True):
            return Unknown()
        return Implied(Always(True), differ) if predicate == "eq" else Implied(differ, Always(True))

    def _remainder(self, context: int, value: int, rest: int) -> Condition | None:
        """Return what x % k == rest says about x; exactly that, or nothing."""
        row = value - self._first_instruction
        if row < 0 or self._table.opcode[row] not in (Opcode.UREM, Opcode.SREM):
            return None
        dividend, divisor = self._table.operands_of(row).tolist()
        kind = self._values.kind(dividend)
        by, form = self._values.constant(divisor), self._values.number(context, dividend, kind)
        is_exact = kind.is_unsigned == (self._table.opcode[row] == Opcode.UREM)
        if by is None or form is None or by <= 1 or not is_exact or not 0 <= rest < by:
            return None
        return Congruent(form, by, rest) if kind.is_unsigned or rest == 0 else None

    def _square(self, context: int, value: int, predicate: str, number: int) -> Condition | None:
        """Return what a comparison of x * x with a number says about x.

        x * x <= d is -r <= x <= r for the whole root r of d: signed overflow is excluded before.
        """
        row = value - self._first_instruction
        is_product = row >= 0 and self._table.opcode[row] == Opcode.MUL
        if self._values.wraps or not is_product or not self._table.flags[row] & Flag.NSW:
            return None
        left, right = self._table.operands_of(row).tolist()
        form = self._values.number(context, left, self._values.kind(left))
        if left != right or form is None or predicate not in ("slt", "sle", "sgt", "sge"):
            return None
        most = number - (predicate in ("slt", "sge"))
        inside: Condition = Always(False)
        if most >= 0:
            root = isqrt(most)
            below = Relation(form.scaled(-1).shifted(-root), "le")
            inside = Both(below, Relation(form.shifted(-root), "le"))
        return inside if predicate in ("slt", "sle") else negation(inside)


def _pointed(address: Address) -> list[tuple[Condition, Address]]:
    """Return where an address may point, each behind a condition with which it does not."""
    choice = address.choice
    if choice is None or choice.which is None:
        return [(Always(False), address)]
    return [(negation(choice.is_case(*case)), address.into(*case)) for case in choice.cases()]


def _both(left: Condition, right: Condition) -> Condition:
    if Always(False) in (left, right):
        return Always(False)
    return left if right == Always(True) else right if left == Always(True) else Both(left, right)


def _either(left: Condition, right: Condition) -> Condition:
    if Always(True) in (left, right):
        return Always(True)
    is_left = right == Always(False)
    return left if is_left else right if left == Always(False) else Either(left, right)


def _compared(predicate: str, left: Form, right: Form, kind: Kind) -> Condition:
    """Return a comparison of two forms of one kind."""
    difference = left.plus(right, -1)
    if predicate in ("eq", "ne"):
        return Relation(difference, predicate)
    if predicate.startswith("u") != kind.is_unsigned:
        return Compared(predicate, left, right, kind)
    if predicate.endswith(("lt", "le")):
        return Relation(difference.shifted(predicate.endswith("lt")), "le")
    return Relation(difference.scaled(-1).shifted(predicate.endswith("gt")), "le")
