"""How many bits does each variable need?

**Forwards** bounds and known bits say which numbers a value may be (Stephenson, Babb and
Amarasinghe 2000). **Backwards**, a bit of a value is *demanded* if a demanded bit of another value,
or an effect, depends on it (Mahlke and others 2001):

    demanded[x] = all bits, if an effect uses x;  OR over users u of x: bits(u, demanded[u])

    u = x & c       demanded[u] & c                u = x + y, x * y   all bits up to the highest one
    u = x << c      demanded[u] >> c               u = trunc x        demanded[u]
    u = sext x      those of x, and its sign if a higher one is       u = (x < 0)        the sign

Sets of bits join by union; the least solution is asked for. Both directions are solved on their
own, and the smaller width is told.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.places import Places
from kleene.base.arrays import I64, U64, Ints, csr, ragged
from kleene.ir.codes import ConstantKind, Opcode, Predicate, ValueKind
from kleene.results import Table
from kleene.solvers.dataflow.codes import ONES, ZEROS

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_SAME = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE, Opcode.XOR, Opcode.TRUNC, Opcode.BITCAST)
_UPWARDS = (Opcode.ADD, Opcode.SUB, Opcode.MUL)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
_PURE = (*_SAME, *_UPWARDS, *_SHIFTS, Opcode.AND, Opcode.OR, Opcode.ZEXT, Opcode.SEXT, Opcode.ICMP)


def answer(context: Context) -> Answer:
    """Return the widths of all variables where they get values."""
    places, facts = Places(context), context.facts
    names, variable, line = places.names, places.variable, places.line
    keep = context.is_tracked(names) & (line > 0)
    names, variable, line = names[keep], variable[keep], line[keep]
    program = context.program
    function = program.variables.function[variable]
    order = np.lexsort((names, line, variable, function))
    names, variable, line = names[order], variable[order], line[order]
    bits = demanded(context)[context.split.value_of(names)]
    rows = [facts[int(name)] for name in names]
    needed = [int(one).bit_length() for one in bits.tolist()]
    return Answer(
        [],
        {
            "bit_widths": Table(
                {
                    "function": [
                        program.functions[int(f)].name for f in program.variables.function[variable]
                    ],
                    "variable": [program.strings[int(s)] for s in program.variables.name[variable]],
                    "line": line,
                    "width": [fact.width for fact in rows],
                    "forwards": [fact.n_bits for fact in rows],
                    "demanded": needed,
                    "n_bits": [
                        min(fact.n_bits, one) for fact, one in zip(rows, needed, strict=True)
                    ],
                }
            )
        },
    )


def demanded(context: Context) -> U64:
    """Return which bits of each value matter, as a pattern; of others than integers all 64."""
    return _Demand(context).solved()


class _Demand:
    def __init__(self, context: Context) -> None:
        self.context, program = context, context.program
        table, self.first = program.instructions, program.bases[ValueKind.INSTRUCTION]
        width = context.values.width
        self.mask = np.where(
            width >= 64, _ALL, (_ONE << np.minimum(width, 63).astype(np.uint64)) - _ONE
        )
        self.mask[width == 0] = _ALL
        self.width = width
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        place = np.arange(len(owner)) - table.offsets[owner]
        value = table.operands.astype(np.int64)
        self.bits = np.zeros(program.n_values, np.uint64)
        self._constants(context)
        # A condition of a select, and what is compared but for its sign, matters as a whole.
        is_pure = np.isin(table.opcode[owner], _PURE) & (width[self.first + owner] > 0)
        is_pure &= width[value] > 0
        is_pure &= ~((table.opcode[owner] == Opcode.SELECT) & (place == 0))
        is_pure &= ~(np.isin(table.opcode[owner], _SHIFTS) & (place == 1))
        is_block = (value >= program.bases[ValueKind.BLOCK]) & (value < self.first)
        effects = np.flatnonzero(~is_pure & ~is_block)
        # What a pure operation that is not listed computes matters, as far as is known.
        self.bits[value[effects]] = self.mask[value[effects]]
        pure = np.flatnonzero(is_pure)
        self.user, self.operand, self.place = owner[pure], value[pure], place[pure]
        self.offsets, order = csr(self.user, len(table))
        if order is not None:
            self.user, self.operand, self.place = (
                column[order] for column in (self.user, self.operand, self.place)
            )

    def _constants(self, context: Context) -> None:
        """Bits of operands that are known: where an `and` has a 0, or an `or` a 1."""
        rows = context.facts.rows
        known = context.values.width > 0
        values = np.arange(context.program.n_values)
        self.zeros = np.where(known, rows[values, ZEROS].view(np.uint64), np.uint64(0))
        self.ones = np.where(known, rows[values, ONES].view(np.uint64), np.uint64(0))
        # What is never computed has no bits that are known.
        has_value = context.facts.has_value[: len(values)]
        self.zeros[~has_value] = self.ones[~has_value] = 0
        # Facts about a value of the program hold wherever it is; what a constant is, always does.
        constants, first = context.program.constants, context.program.bases[ValueKind.CONSTANT]
        self.number = np.full(len(values), -1, np.int64)
        at = np.flatnonzero(constants.kind == ConstantKind.INT)
        self.number[first + at] = constants.payload[at]

    def solved(self) -> U64:
        waiting = np.flatnonzero(self.bits[self.first :])
        while len(waiting):
            _, edge = ragged(self.offsets[waiting], self.offsets[waiting + 1])
            operand, more = self.operand[edge], self._through(edge)
            new = more & ~self.bits[operand] != 0
            operand, more = operand[new], more[new]
            np.bitwise_or.at(self.bits, operand, more)
            found = np.unique(operand[operand >= self.first])
            waiting = found - self.first
        return self.bits

    def _through(self, edge: I64) -> U64:
        """Return the bits of operands that the demanded bits of their users depend on."""
        table = self.context.program.instructions
        row, operand = self.user[edge], self.operand[edge]
        code, wanted = table.opcode[row], self.bits[self.first + row]
        other = table.operands[table.offsets[row] + np.where(self.place[edge] == 0, 1, 0)]
        other = np.where(np.diff(table.offsets)[row] > 1, other, operand)
        mask = self.mask[operand]
        found = wanted.copy()
        # A bit that both have as 0 is demanded of the second one: not both may be dropped.
        is_second = self.place[edge] == 1
        for opcode, bits in ((Opcode.AND, self.zeros), (Opcode.OR, self.ones)):
            spared = bits[other] & np.where(is_second, ~bits[operand], _ALL)
            found = np.where(code == opcode, wanted & ~spared, found)
        found = np.where(np.isin(code, _UPWARDS), _filled(wanted), found)
        sign = (_ONE << (np.maximum(self.width[operand], 1) - 1).astype(np.uint64)) * _ONE
        is_wider = wanted & ~mask != 0
        found = np.where(
            code == Opcode.SEXT, (wanted & mask) | np.where(is_wider, sign, np.uint64(0)), found
        )
        found = self._shifted(found, code, row, wanted, mask, sign)
        is_sign = (code == Opcode.ICMP) & (self.place[edge] == 0) & (self.number[other] == 0)
        is_sign &= np.isin(table.sub[row], (Predicate.SLT, Predicate.SGE))
        found = np.where(code == Opcode.ICMP, np.where(is_sign, sign, mask), found)
        return np.where(wanted == 0, np.uint64(0), found & mask)

    def _shifted(self, found: U64, code: Ints, row: I64, wanted: U64, mask: U64, sign: U64) -> U64:
        table = self.context.program.instructions
        is_shift = np.isin(code, _SHIFTS)
        at = np.minimum(table.offsets[row] + 1, len(table.operands) - 1)
        by = self.number[table.operands[at]]
        known = (by >= 0) & (by < 64)
        count = np.where(known, by, 0).astype(np.uint64)
        left, right = wanted >> count, (wanted << count) & mask
        lost = wanted & ~(mask >> count) != 0
        right_signed = right | np.where(lost, sign, np.uint64(0))
        moved = np.select(
            [code == Opcode.SHL, code == Opcode.LSHR], [left, right], default=right_signed
        )
        return np.where(is_shift, np.where(known, moved, mask), found)


def _filled(bits: U64) -> U64:
    """Return patterns with all bits up to the highest one."""
    found = bits.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        found |= found >> np.uint64(shift)
    return found


CLIENT = Client("How many bits does each variable need?", answer)
