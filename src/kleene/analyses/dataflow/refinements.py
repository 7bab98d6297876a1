"""What is known of values behind a branch: `x < 10` of x, and of what x was computed from.

A *refinement* is an edge, a value and a name: along the edge, the fact of the name holds of the
value. It starts with conditions of branches, which are 1 or 0, and goes from a value to what it was
computed from, as long as the operation can be undone:

    %c = icmp slt %x, 10                %x: REFINE(%x, 10; slt)
    %t = zext i8 %b                     %b: TRUNCATE(fact of %t)
    %t = and %x, %y                     %x: the bits of the fact of %t that are 1 in %y
    %t = or %x, %y                      %x: REFINE(%x, fact of %t; ule)
    %t = add %x, 5                      %x: SUBTRACT(fact of %t, 5)
    %c = and i1 %d, %e    (is true)     both are 1
    %c = phi i1 [false, …], [%d, …]     %d is 1, and so are the conditions on the way to the φ

A value of SSA form is the same at all its uses, so that any name of it may be read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import I64, Bools, Ints, offsets_of, ragged
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, Opcode, ValueKind
from kleene.ir.codes import Predicate as IrPredicate
from kleene.solvers.dataflow import SWAPPED, ConstraintBuilder, Operator, Predicate
from kleene.transforms.splitting import ControlFlow, SplitProgram
from kleene.transforms.splitting.program import EntryConditions, values_assumed

_DEEPEST = 8  # how many operations are undone
_LOOKED_THROUGH = np.zeros(len(Opcode), bool)
_LOOKED_THROUGH[[
    Opcode.FREEZE, Opcode.PTRTOINT, Opcode.INTTOPTR, Opcode.BITCAST, Opcode.ZEXT, Opcode.SEXT,
    Opcode.TRUNC, Opcode.ADD, Opcode.SUB, Opcode.XOR, Opcode.AND, Opcode.OR,
]] = True  # fmt: skip
# The solver's predicate by the program's; -1 for those of floating point.
PREDICATE = np.full(len(IrPredicate), -1, np.int64)
for _word in ("EQ", "NE", "ULT", "UGE", "UGT", "ULE", "SLT", "SGE", "SGT", "SLE"):
    PREDICATE[IrPredicate[_word]] = Predicate[_word]


@dataclass(frozen=True, eq=False)
class Refinements:
    """Rows of an edge, a value and a name whose fact holds of the value there.

    Attributes:
        edge: of the control-flow graph; behind those, n_edges + instruction for `llvm.assume`.
        value: of the program.
        fact: a name.
        above: a block that must be dominated by the value's definition, strictly; -1 for none.
    """

    edge: I64
    value: I64
    fact: I64
    above: I64

    @classmethod
    def of(cls, edge: I64, value: I64, fact: I64) -> Refinements:
        """Return refinements that hold without more ado."""
        return cls(edge, value, fact, np.full(len(edge), -1, np.int64))

    @classmethod
    def join(cls, parts: list[Refinements]) -> Refinements:
        """Return all rows of some refinements."""
        columns = zip(*((p.edge, p.value, p.fact, p.above) for p in parts), strict=True)
        return cls(*(np.concatenate(c) for c in columns))

    def chosen(self, rows: Ints | Bools) -> Refinements:
        """Return some of the rows."""
        return Refinements(self.edge[rows], self.value[rows], self.fact[rows], self.above[rows])

    def __len__(self) -> int:
        return len(self.edge)


class _Search:
    """Goes from conditions to what they were computed from, level by level."""

    def __init__(
        self, split: SplitProgram, build: ConstraintBuilder, width: I64, true: int, false: int
    ) -> None:
        self._split = split
        self._program: Program = split.program
        self._table = split.program.instructions
        self._operand = split.operand
        self._build, self._width = build, width
        self._true, self._false = true, false
        base = split.program.bases
        self._first = base[ValueKind.INSTRUCTION]
        self._constants = base[ValueKind.CONSTANT], base[ValueKind.ARGUMENT]
        self._entries = EntryConditions.of(self._program)

    def all(self, start: Refinements) -> Refinements:
        found, level = [start], start
        for _ in range(_DEEPEST):
            if not len(level):
                break
            level = self._below(level)
            found.append(level)
        return Refinements.join(found)

    def _below(self, level: Refinements) -> Refinements:
        """Return what holds of the operands of the values, where these are instructions."""
        level = level.chosen(level.value >= self._first)
        row = level.value - self._first
        opcode = self._table.opcode[row]
        parts: list[Refinements] = []
        is_true, is_false = level.fact == self._true, level.fact == self._false
        decided = is_true | is_false
        known: Bools = decided & (opcode == Opcode.ICMP)
        parts += self._compares(level.chosen(known), is_true[known])
        for code in (Opcode.AND, Opcode.OR):
            both = (opcode == code) & (is_true if code == Opcode.AND else is_false)
            parts += [self._same(level.chosen(both), place) for place in (0, 1)]
        parts.append(self._phis(level.chosen(decided & (opcode == Opcode.PHI))))
        parts += self._selects(level, opcode == Opcode.SELECT, is_true, is_false)
        flips = (opcode == Opcode.XOR) & decided & self._is_constant(row, 1)
        if flips.any():
            one = level.chosen(flips)
            other = np.where(is_true[flips], self._false, self._true)
            parts.append(self._same(Refinements(one.edge, one.value, other, one.above), 0))
        same = np.isin(opcode, [Opcode.FREEZE, Opcode.PTRTOINT, Opcode.INTTOPTR, Opcode.BITCAST])
        same &= self._width[self._operands(row, 0, same)] == self._width[level.value]
        parts.append(self._same(level.chosen(same), 0))
        parts += self._undone(level.chosen(~decided), opcode[~decided])
        found = Refinements.join(parts)
        return found.chosen(~self._is_known(found.value))

    def _operands(self, row: I64, place: int, has: Bools | None = None) -> I64:
        """Return the values that are operands of instructions, at a place that they have."""
        at = self._table.offsets[row] + (place if has is None else place * has)
        last = np.maximum(len(self._table.operands) - 1, 0)
        return self._table.operands[np.minimum(at, last)].astype(np.int64)

    def _names(self, row: I64, place: int) -> I64:
        """Return what operands are called where they are read."""
        return self._operand[self._table.offsets[row] + place].astype(np.int64)

    def _is_known(self, values: I64) -> Bools:
        found: Bools = values < self._constants[1]
        return found

    def _is_constant(self, row: I64, place: int) -> Bools:
        n_operands = self._table.offsets[row + 1] - self._table.offsets[row]
        has = n_operands > place
        values = self._operands(row, place, has)
        found: Bools = has & (values >= self._constants[0]) & (values < self._constants[1])
        return found

    def _is_of_use(self, edge: I64, value: I64) -> Bools:
        """Return which facts a name wants, or may tell of what the value is computed from."""
        found = self._split.has_name(edge, value)
        row = value - self._first
        inner = row >= 0
        found[inner] |= _LOOKED_THROUGH[self._table.opcode[row[inner]]]
        return found

    def _same(self, level: Refinements, place: int) -> Refinements:
        """Return that what holds of values holds of an operand of theirs."""
        operand = self._operands(level.value - self._first, place)
        return Refinements(level.edge, operand, level.fact, level.above)

    def _made(
        self,
        level: Refinements,
        place: int,
        operator: int,
        operands: I64,
        attribute: Ints | int = 0,
    ) -> Refinements:
        """Return facts of an operand, computed by new names from others."""
        value = self._operands(level.value - self._first, place)
        keep = self._is_of_use(level.edge, value)
        level, value, operands = level.chosen(keep), value[keep], operands[keep]
        attribute = attribute[keep] if isinstance(attribute, np.ndarray) else attribute
        names = self._build.names(len(level))
        width = self._width[value]
        self._build.define(names, operator, operands, width=width, attribute=attribute)
        return Refinements(level.edge, value, names, level.above)

    def _compares(self, level: Refinements, is_true: Bools) -> list[Refinements]:
        row = level.value - self._first
        predicate = PREDICATE[self._table.sub[row]]
        usable = (predicate >= 0) & (self._width[self._operands(row, 0)] > 0)
        level, row, is_true = level.chosen(usable), row[usable], is_true[usable]
        predicate = predicate[usable] ^ ~is_true
        left, right = self._names(row, 0), self._names(row, 1)
        parts = [
            self._made(level, 0, Operator.REFINE, np.stack([left, right], axis=1), predicate),
            self._made(
                level, 1, Operator.REFINE, np.stack([right, left], axis=1),
                np.array(SWAPPED)[predicate],
            ),
        ]  # fmt: skip
        # zext i1 %c to i32 != 0: the condition again
        operand = self._operands(row, 0)
        inner = operand - self._first
        is_cast = inner >= 0
        is_cast[is_cast] = np.isin(self._table.opcode[inner[is_cast]], [Opcode.ZEXT, Opcode.SEXT])
        zero = self._program.constants
        constant = self._operands(row, 1) - self._constants[0]
        is_zero = self._is_constant(row, 1)
        is_zero[is_zero] = (zero.payload[constant[is_zero]] == 0) & (
            self._width[self._operands(row, 1)[is_zero]] > 0
        )
        plain = is_cast & is_zero & (predicate <= Predicate.NE)
        inner = inner[plain]
        source = self._operands(inner, 0)
        is_bit = self._width[source] == 1
        chosen = np.flatnonzero(plain)[is_bit]
        fact = np.where(predicate[chosen] == Predicate.NE, self._true, self._false)
        above = level.above[chosen]
        parts.append(Refinements(level.edge[chosen], source[is_bit], fact, above))
        return parts

    def _phis(self, level: Refinements) -> Refinements:
        """`phi [false, …], [c, …]` is true: c was, and control came that way (`a && b`).

        Then the conditions hold, too, under which control goes there. What they say holds of
        values that have not been computed anew since.
        """
        level = level.chosen(level.above < 0)  # one φ on the way is enough
        row = level.value - self._first
        owner, place = ragged(self._table.offsets[row], self._table.offsets[row + 1])
        nth = place - self._table.offsets[row][owner]
        owner, place = owner[nth % 2 == 0], place[nth % 2 == 0]
        value = self._table.operands[place].astype(np.int64)
        is_constant = (value >= self._constants[0]) & (value < self._constants[1])
        constants = self._program.constants
        at = value[is_constant] - self._constants[0]
        wanted = (level.fact == self._true)[owner]
        may_be = np.ones(len(value), bool)
        may_be[is_constant] = constants.kind[at] != ConstantKind.INT
        may_be[is_constant] |= constants.payload[at] & 1 == wanted[is_constant]
        n_left = np.bincount(owner[may_be], minlength=len(row))
        only = may_be & (n_left[owner] == 1)
        above = self._table.block[row].astype(np.int64)
        source = self._table.operands[place[only] + 1] - self._program.bases[ValueKind.BLOCK]
        nth, entered = self._entries.above(source.astype(np.int64))
        which = owner[only][nth]
        fact = np.where(self._entries.holds[entered], self._true, self._false)
        taken = Refinements(level.edge[which], self._entries.value[entered], fact, above[which])
        which = owner[only & ~is_constant]
        chosen = value[only & ~is_constant]
        own = Refinements(level.edge[which], chosen, level.fact[which], above[which])
        return Refinements.join([own, taken])

    def _selects(
        self, level: Refinements, is_select: Bools, is_true: Bools, is_false: Bools
    ) -> list[Refinements]:
        """`select c, x, false` is `c and x`, `select c, true, y` is `c or y`."""
        row = level.value - self._first
        parts = []
        for place, other, is_decided, wanted in ((2, 1, is_true, 0), (1, 2, is_false, -1)):
            chosen = is_select & is_decided & self._is_constant(row, place)
            at = self._operands(row[chosen], place) - self._constants[0]
            payload = self._program.constants.payload[at]
            both = np.flatnonzero(chosen)[(payload & 1) == (wanted & 1)]
            parts += [self._same(level.chosen(both), p) for p in (0, other)]
        return parts

    def _undone(self, level: Refinements, opcode: Ints) -> list[Refinements]:
        """Return facts of operands of casts, and of arithmetic with a constant."""
        row = level.value - self._first
        parts = []
        fact = level.fact[:, None]
        tracked = self._width[self._operands(row, 0)] > 0 if len(row) else np.zeros(0, bool)
        for codes, operator in (
            ((Opcode.ZEXT, Opcode.SEXT), Operator.TRUNCATE),
            ((Opcode.TRUNC,), Operator.LOW_BITS),
        ):
            chosen = np.isin(opcode, codes) & tracked
            parts.append(self._made(level.chosen(chosen), 0, operator, fact[chosen]))
        for code, operator in (
            (Opcode.ADD, Operator.SUBTRACT),
            (Opcode.SUB, Operator.ADD),
            (Opcode.XOR, Operator.XOR),
        ):
            chosen = (opcode == code) & tracked & self._is_constant(row, 1)
            pairs = np.stack([level.fact[chosen], self._names(row[chosen], 1)], axis=1)
            parts.append(self._made(level.chosen(chosen), 0, operator, pairs))
        # t = x & y has the bits of x where y is 1; t = x | y is at least x, as an unsigned number.
        for place in (0, 1):
            chosen = (opcode == Opcode.AND) & tracked
            pairs = np.stack([level.fact[chosen], self._names(row[chosen], 1 - place)], axis=1)
            parts.append(self._made(level.chosen(chosen), place, Operator.BITS_WHERE, pairs))
            chosen = (opcode == Opcode.OR) & tracked
            pairs = np.stack([self._names(row[chosen], place), level.fact[chosen]], axis=1)
            found = self._made(level.chosen(chosen), place, Operator.REFINE, pairs, Predicate.ULE)
            parts.append(found)
        chosen = (opcode == Opcode.SUB) & tracked & self._is_constant(row, 0)  # c - x
        pairs = np.stack([self._names(row[chosen], 0), level.fact[chosen]], axis=1)
        parts.append(self._made(level.chosen(chosen), 1, Operator.SUBTRACT, pairs))
        return parts


def refinements(
    split: SplitProgram, build: ConstraintBuilder, width: I64, true: int, false: int
) -> Refinements:
    """Return what holds of values along the edges of branches and switches.

    Args:
        split: the program.
        build: gets the names of facts.
        width: of each value, in bits; 0 where nothing is known of it.
        true: the name of the bit 1.
        false: the name of the bit 0.
    """
    table, first = split.program.instructions, split.program.bases[ValueKind.ARGUMENT]
    last = split.program.blocks.instruction_offsets[1:].astype(np.int64) - 1
    opcode = table.opcode[last] if len(last) else np.empty(0, np.uint8)
    n_operands = np.diff(table.offsets)[last] if len(last) else np.empty(0, np.int64)
    begin = split.flow.blocks.offsets
    branches = np.flatnonzero((opcode == Opcode.BR) & (n_operands == 3))
    at = table.offsets[last[branches]]
    condition = table.operands[at].astype(np.int64)
    edge = begin[branches]
    start = [
        Refinements.of(edge, condition, np.full(len(edge), true)),
        Refinements.of(edge + 1, condition, np.full(len(edge), false)),
    ]
    # Behind `llvm.assume` its condition holds: the condition is among what it tells of.
    assumed, rows = values_assumed(split.program)
    is_condition = assumed == table.operands[table.offsets[rows] + 1]
    sites = split.flow.blocks.n_edges + rows[is_condition]
    start.append(Refinements.of(sites, assumed[is_condition], np.full(len(sites), true)))
    blocks = np.flatnonzero(opcode == Opcode.SWITCH)
    blocks = blocks[width[table.operands[table.offsets[last[blocks]]]] > 0]
    value = table.operands[table.offsets[last[blocks]]].astype(np.int64)
    which, edge, number = switch_cases(split.program, split.flow, blocks)
    start.append(Refinements.of(edge, value[which], number))
    # Behind the default, the value is none of them.
    payload = split.program.constants.payload[number - split.program.bases[ValueKind.CONSTANT]]
    ordered = np.lexsort((payload, which))
    counts = np.bincount(which, minlength=len(blocks))
    offsets = offsets_of(1 + counts)
    operands = np.empty(int(offsets[-1]), np.int64)
    is_first = np.zeros(len(operands), bool)
    is_first[offsets[:-1]] = True
    operands[is_first] = split.operand[table.offsets[last[blocks]]]
    operands[~is_first] = number[ordered]
    others = build.names(len(blocks))
    build.define(others, Operator.EXCLUDE, operands, offsets=offsets, width=width[value])
    start.append(Refinements.of(begin[blocks], value, others))
    begun = Refinements.join(start)
    found = _Search(split, build, width, true, false).all(begun.chosen(begun.value >= first))
    return found.chosen(_is_still_so(split, found))


def switch_cases(program: Program, flow: ControlFlow, blocks: I64) -> tuple[I64, I64, I64]:
    """Return the cases of switches: which of the blocks, the edge, and the constant (a value)."""
    table = program.instructions
    row = program.blocks.instruction_offsets[blocks + 1].astype(np.int64) - 1
    which, place = ragged(table.offsets[row] + 2, table.offsets[row + 1])
    nth = place - (table.offsets[row] + 2)[which]
    which, place, nth = which[nth % 2 == 0], place[nth % 2 == 0], nth[nth % 2 == 0] >> 1
    edge = flow.blocks.offsets[blocks][which] + 1 + nth
    return which, edge, table.operands[place].astype(np.int64)


def _is_still_so(split: SplitProgram, found: Refinements) -> Bools:
    """Return which values are still what they were when a φ took over a condition about them.

    Let a value x be defined in a block that strictly dominates the block of the φ, which dominates
    the branch. If x were computed anew between the condition and the edge to the φ, or between the
    φ and the branch, that path could be taken from the start without passing the condition, or
    the φ: but these dominate the edge, and the branch. Conditions on the way to the φ are tested by
    branches that dominate the edge; nothing but the blocks behind them lies between.
    """
    program, tree = split.program, split.flow.tree
    row = found.value - program.bases[ValueKind.INSTRUCTION]
    asked = (found.above >= 0) & (row >= 0)
    block = program.instructions.block[row[asked]]
    above = found.above[asked]
    inside = (tree.pre[block] <= tree.pre[above]) & (tree.pre[above] <= tree.last[block])
    holds = np.ones(len(found), bool)
    holds[asked] = inside & (block != above) & (tree.pre[block] >= 0)
    return holds
