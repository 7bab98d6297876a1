"""Where bounds are lost: which constraint is the first that leaves a name without one.

A fact's bound is followed from a name to the operands that it comes from, until one has it from no
operand: memory that anybody writes, an argument of code outside, a sum that wraps around. That
one is the *origin* of the bound.

    n = *cell           high(n) is anything         origin: nothing bounds what is in memory
    i = φ(0, k)         high(i) = high(k)
    k = i/2 + 1         high(k) = high(i/2) + 1
    i/2 = i < n         high(i/2) = high(n) - 1     so the origin of high(i) is `n = *cell`

Nodes are bounds of names: four of each. An edge leads from a bound to one that follows from it; of
a join only from the bound that is the widest. Origins are nodes that no edge leads to, and those
that have their bound from a constant: a null pointer that is stored, a test `i <= 100`. Each other
node gets the origin that is the fewest steps away, by one search from all origins together. What is
left is a loop that nothing outside of it has made so wide: it widened itself.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kleene.base.arrays import I64, Bools, Ints, csr, ragged
from kleene.solvers.dataflow import Constraints, Operator, ValueFacts

_COPIES = (Operator.JOIN, Operator.FREEZE, Operator.MEET)
_FIRST_ONLY = (Operator.REFINE, Operator.EXCLUDE)
_LESS = (
    Operator.SIGNED_MIN, Operator.SIGNED_MAX, Operator.UNSIGNED_MIN, Operator.UNSIGNED_MAX,
)  # fmt: skip
_BY_FIRST = (
    Operator.UNSIGNED_DIVIDE, Operator.SIGNED_DIVIDE, Operator.SHIFT_RIGHT,
    Operator.SHIFT_RIGHT_SIGNED, Operator.TRUNCATE,
)  # fmt: skip
_BY_SECOND = (Operator.UNSIGNED_REMAINDER, Operator.SIGNED_REMAINDER)
_BITWISE = (Operator.AND, Operator.OR, Operator.XOR)


class Bound(IntEnum):
    """One end of what a name may be."""

    LOW = 0  # the least signed number
    HIGH = 1  # the greatest signed number
    LEAST = 2  # the least unsigned number: whether it may be 0
    MOST = 3  # the greatest unsigned number


_Follows = dict[Bound, tuple[tuple[Bound, ...], tuple[Bound, ...]]]
_LOW, _HIGH, _LEAST, _MOST = Bound
# Which bounds of operands a bound of the result follows from: by operand, the first and second.
_ADDED: _Follows = {
    _LOW: ((_LOW,), (_LOW,)), _HIGH: ((_HIGH,), (_HIGH,)),
    _LEAST: ((_LOW,), (_LOW,)), _MOST: ((_MOST,), (_MOST,)),
}  # fmt: skip
_SUBTRACTED: _Follows = {
    _LOW: ((_LOW,), (_HIGH,)), _HIGH: ((_HIGH,), (_LOW,)),
    _LEAST: ((_LOW,), (_HIGH,)), _MOST: ((_LOW,), (_HIGH,)),
}  # fmt: skip
_MULTIPLIED: _Follows = {
    _LOW: ((_LOW, _HIGH), (_LOW, _HIGH)), _HIGH: ((_HIGH, _LOW), (_HIGH, _LOW)),
    _LEAST: ((_LEAST,), (_LEAST,)), _MOST: ((_MOST,), (_MOST,)),
}  # fmt: skip
_SAME: _Follows = {one: ((one,), (one,)) for one in Bound}
_SIGN_EXTENDED: _Follows = {**_SAME, _MOST: ((_LOW, _HIGH), ())}
_ZERO_EXTENDED: _Follows = {**_SAME, _LOW: ((_LEAST,), ()), _HIGH: ((_MOST,), ())}
_ARITHMETIC: dict[Operator, _Follows] = {
    Operator.ADD: _ADDED, Operator.SUBTRACT: _SUBTRACTED, Operator.MULTIPLY: _MULTIPLIED,
    Operator.SHIFT_LEFT: _MULTIPLIED, **dict.fromkeys(_BITWISE, _SAME),
}  # fmt: skip
_EXTENSIONS: dict[Operator, _Follows] = {
    Operator.SIGN_EXTEND: _SIGN_EXTENDED,
    Operator.ZERO_EXTEND: _ZERO_EXTENDED,
}


class Losses:
    """The origins of bounds in one system of constraints.

    Args:
        constraints: the system.
        facts: its solution.
        has_place: which names stand somewhere in the program; others are helpers.
        first_helper: helpers begin here; of them, those that may be anything are like constants.
        names: of which bounds are asked; what they follow from is looked at, and no more.
    """

    def __init__(
        self,
        constraints: Constraints,
        facts: ValueFacts,
        has_place: Bools,
        first_helper: int,
        names: Ints,
    ) -> None:
        self._table, self._facts = constraints, facts
        self.n_names = len(constraints.operator)
        self._has_place = has_place
        operator = constraints.operator
        self._is_constant: Bools = operator == Operator.CONSTANT
        self._is_constant |= (operator == Operator.ANY) & (np.arange(self.n_names) >= first_helper)
        # What an access tells: it says less than what the pointer comes from.
        self._is_fact: Bools = operator == Operator.GIVEN
        self._is_fact[:first_helper] = False
        self._is_wide = np.array([self._wide(bound) for bound in Bound])
        self._find(np.unique(names))

    def _wide(self, bound: Bound) -> Bools:
        """Return which names have nearly no bound: one 16th from the end, for tests `i < n`."""
        facts, width = self._facts, self._table.width.astype(np.uint64)
        half = (np.uint64(1) << np.maximum(width, 1) - np.uint64(1)).astype(np.uint64)
        edge = (half - (half >> np.uint64(4))).astype(np.float64)
        if bound is _LOW:
            found = facts.low <= -edge
        elif bound is _HIGH:
            found = facts.high >= edge - 1
        elif bound is _LEAST:
            found = facts.least == 0
        else:
            found = facts.most.astype(np.float64) >= 2 * edge - 1
        return np.asarray(found, bool)

    def _of(self, bound: Bound) -> Ints:
        columns = (self._facts.low, self._facts.high, self._facts.least, self._facts.most)
        return columns[bound]

    # The graph

    def _find(self, names: I64) -> None:
        """Find origins of all that the bounds of some names follow from."""
        table = self._table
        names = self._behind(names)
        owner, place = ragged(table.offsets[names], table.offsets[names + 1])
        nth = place - table.offsets[names][owner]
        owner, operand = names[owner], table.operands[place].astype(np.int64)
        has_value = self._facts.has_value
        keep = has_value[owner] & has_value[operand]
        keep[keep] &= self._guarded(place[keep], nth[keep], owner[keep])
        owner, operand, nth = owner[keep], operand[keep], nth[keep]
        groups = self._grouped(owner, operand, nth)
        parts = [edge for bound in Bound for one in groups for edge in self._edges(bound, *one)]
        source, target = (
            np.concatenate([np.empty(0, np.int64), *one]) for one in zip(*parts, strict=True)
        )
        n_nodes = len(Bound) * self.n_names
        is_constant = self._is_constant[source % self.n_names]
        begins = np.zeros(n_nodes, bool)
        is_number = table.operator[source % self.n_names] == Operator.CONSTANT
        begins[target[is_number]] = True
        others = np.ones(n_nodes, bool)  # which nobody is known to have written
        others[target[~is_constant]] = False
        begins[target[is_constant & ~is_number]] |= others[target[is_constant & ~is_number]]
        self._begins = begins
        source, target = source[~is_constant], target[~is_constant]
        is_followed = np.zeros(n_nodes, bool)
        is_followed[target] = True
        asked = (np.arange(len(Bound))[:, None] * self.n_names + names).reshape(-1)
        origins = asked[begins[asked] | ~is_followed[asked]]
        self.end_names = np.unique(origins % self.n_names)
        self.widens = np.zeros(n_nodes, bool)
        self._came = np.full(n_nodes, -1, np.int64)
        self._origin = np.full(n_nodes, -1, np.int64)
        self._anchor = np.full(n_nodes, -1, np.int64)
        offsets, order = csr(source, n_nodes)
        targets = target if order is None else target[order]
        self._search(offsets, targets, origins)
        is_left = asked[self._origin[asked] < 0]
        if len(is_left):  # loops: those names that something comes in to are widened there
            is_join = np.isin(table.operator[is_left % self.n_names], (Operator.PHI, Operator.JOIN))
            heads = is_left[is_join] if is_join.any() else is_left
            self.widens[heads] = True
            self._search(offsets, targets, np.concatenate([heads, is_left]))

    def _grouped(self, owner: I64, operand: I64, nth: I64) -> list[tuple[I64, I64, I64]]:
        """Return operands apart for operators that hand on a value, and for others."""
        code = self._table.operator[owner]
        plain = np.isin(code, (*_COPIES, *_FIRST_ONLY, *_LESS, Operator.PHI, Operator.SELECT))
        plain |= code == Operator.ADDRESS
        others = np.isin(code, (*_ARITHMETIC, *_EXTENSIONS, *_BY_FIRST, *_BY_SECOND))
        return [(owner[one], operand[one], nth[one]) for one in (plain, others)]

    def _behind(self, names: I64) -> I64:
        """Return names, and all that they follow from."""
        seen = np.zeros(self.n_names, bool)
        seen[names] = True
        waiting = names.astype(np.int64)
        while len(waiting):
            _, place = ragged(self._table.offsets[waiting], self._table.offsets[waiting + 1])
            operands = self._table.operands[place]
            waiting = np.unique(operands[~seen[operands]]).astype(np.int64)
            seen[waiting] = True
        return np.flatnonzero(seen)

    def _guarded(self, place: I64, nth: I64, owner: I64) -> Bools:
        """Return which operands count: those of φ only where control may come from there."""
        is_phi = self._table.operator[owner] == Operator.PHI
        is_value = ~is_phi | (nth % 2 == 0)
        last = len(self._table.operands) - 1
        guard = self._table.operands[np.minimum(place + 1, last)]
        is_last = place + 1 >= self._table.offsets[owner + 1]
        found: Bools = is_value & (~is_phi | is_last | self._facts.has_value[guard])
        return found

    def _edges(self, bound: Bound, owner: I64, operand: I64, nth: I64) -> list[tuple[I64, I64]]:
        """Return from which bounds of operands one of the results follows, as nodes."""
        code = self._table.operator[owner]
        is_copy = np.isin(code, (*_COPIES, Operator.PHI)) | (code == Operator.SELECT) & (nth > 0)
        is_copy |= np.isin(code, (*_FIRST_ONLY, Operator.ADDRESS)) & (nth == 0)
        is_copy |= np.isin(code, _LESS) | (code == Operator.REFINE) & (nth == 1)
        is_copy[is_copy] = self._is_alike(bound, owner[is_copy], operand[is_copy])
        is_copy &= ~self._is_fact[operand]
        is_copy |= (code == Operator.MEET) & (nth == 0) & self._is_fact[self._second_of(owner)]
        found = [self._nodes(bound, bound, owner, operand, is_copy)]
        if is_copy.any():  # of one group
            return found
        found += self._extended(bound, owner, operand, code)
        is_wide, is_number = self._is_wide, self._is_constant[operand]
        follows = is_wide[bound][operand] | ~is_wide[bound][owner]
        is_first = np.isin(code, _BY_FIRST) & (nth == 0) & follows
        is_second = np.isin(code, _BY_SECOND) & (nth == 1) & ~is_number & (bound != _LEAST)
        found.append(self._nodes(bound, bound, owner, operand, (is_first & ~is_number) | is_second))
        for operator, operands_of in _ARITHMETIC.items():
            is_mine = (code == operator) & ~is_number
            if operator in _BITWISE:  # a mask that bounds the result is where its bound is from
                is_mine &= is_wide[bound][owner]
            for position, bounds in enumerate(operands_of[bound]):
                for place, other in enumerate(bounds):
                    chosen = is_mine & (nth == position)
                    if place:  # of a product: the other end of a factor, if that is what is far
                        chosen &= self._is_far(other, bound, operand)
                    elif bound is not _LEAST:
                        chosen &= is_wide[other][operand] | ~is_wide[bound][owner]
                    found.append(self._nodes(other, bound, owner, operand, chosen))
        return found

    def _second_of(self, owner: I64) -> I64:
        """Return the second operands of names, or the first of those that have one."""
        at = np.minimum(self._table.offsets[owner] + 1, self._table.offsets[owner + 1] - 1)
        return self._table.operands[at].astype(np.int64)

    def _extended(
        self, bound: Bound, owner: I64, operand: I64, code: Ints
    ) -> list[tuple[I64, I64]]:
        return [
            self._nodes(other, bound, owner, operand, code == operator)
            for operator, operands_of in _EXTENSIONS.items()
            for other in operands_of[bound][0]
        ]

    def _is_alike(self, bound: Bound, owner: I64, operand: I64) -> Bools:
        """Return which names have the bound of their operand, but for 1."""
        values = self._of(bound)
        mine, other = values[owner], values[operand]
        near = (mine == other) | (mine == other + 1) | (mine == other - 1)
        if bound is _LEAST:
            near = (mine == 0) & (other == 0)
        found: Bools = near | self._is_wide[bound][owner] & self._is_wide[bound][operand]
        return found

    def _is_far(self, bound: Bound, other: Bound, names: I64) -> Bools:
        """Return which names are further from 0 at one end than at another."""
        far, near = (np.abs(self._of(one)[names].astype(np.float64)) for one in (bound, other))
        found: Bools = far > near
        return found

    def _nodes(
        self, source: Bound, target: Bound, owner: I64, operand: I64, chosen: Bools
    ) -> tuple[I64, I64]:
        n = self.n_names
        return source * n + operand[chosen], target * n + owner[chosen]

    # The search

    def _search(self, offsets: I64, targets: I64, origins: I64) -> None:
        """Give nodes the nearest origin, and where the way from there first has a place."""
        for some in (origins[self.widens[origins]], origins):
            new = some[self._origin[some] < 0]
            self._origin[new] = new
            self._anchor[new] = np.where(self._has_place[new % self.n_names], new, -1)
            waiting = new
            while len(waiting):
                which, edge = ragged(offsets[waiting], offsets[waiting + 1])
                node, source = targets[edge], waiting[which]
                is_new = self._origin[node] < 0
                node, first = np.unique(node[is_new], return_index=True)
                source = source[is_new][first]
                self._origin[node] = self._origin[source]
                self._came[node] = source
                here = np.where(self._has_place[node % self.n_names], node, -1)
                before = self._anchor[source]
                self._anchor[node] = np.where(before >= 0, before, here)
                waiting = node

    def origins(self, bounds: Ints, names: Ints) -> tuple[I64, I64]:
        """Return the origins of bounds, and the nearest nodes to them that have a place, or -1.

        A node is a bound times the number of names, plus the name.
        """
        nodes = np.asarray(bounds, np.int64) * self.n_names + names
        return self._origin[nodes], self._anchor[nodes]

    def operator_of(self, name: int) -> int:
        """Return the operator of a name's constraint."""
        return int(self._table.operator[name])

    def is_given(self, names: I64) -> Bools:
        """Return which names have facts from another system."""
        found: Bools = self._table.operator[names] == Operator.GIVEN
        return found

    def low_of(self, name: int) -> int:
        """Return the least number that a name may be."""
        return int(self._facts.low[name])

    def constants_of(self, node: int) -> list[int]:
        """Return the constants among the operands that a bound may be from; names, as operands."""
        bound, name = divmod(node, self.n_names)
        if not self._begins[node]:
            return []
        operands = self._table.operands_of(name).astype(np.int64)
        operands = operands[self._is_constant[operands] & self._facts.has_value[operands]]
        is_alike = self._is_alike(Bound(bound), np.full(len(operands), name), operands)
        return [int(one) for one in operands[is_alike]]
