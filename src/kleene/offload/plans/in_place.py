"""Scalar replacement undone: sums in a variable are done in the element that they end in.

    w = a[i][j];                                      a[i][j] = a[i][j];
    for (k...) w -= a[i][k] * a[k][j];                for (k...) a[i][j] -= a[i][k] * a[k][j];
    a[i][j] = w / a[j][j];                            a[i][j] = a[i][j] / a[j][j];

The variable `w` orders all terms of one element before those of the next one. Without it, the terms
of one k can be added to all elements at once, as factorizations do. Both compute the same if

- nothing between the first and the last statement touches the element, which is asked of isl,
- the last statement does not read it as it was before, and assigns it for sure,
- the variable has the element's type, and nothing reads it later.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from kleene.base.errors import Span
from kleene.codegen.text import assigned_in, symbols_in
from kleene.codegen.trees import is_live, mapped, places_in, reads
from kleene.ir.loops import tree
from kleene.ir.loops.tables import LoopRow
from kleene.ir.loops.tree import Block, Element, Function, Symbol, Variable
from kleene.offload.kernels.dependences import Facts
from kleene.offload.plans.axes import Questions
from kleene.offload.plans.nests import Following, loops_directly_in

_LEAST_DEPTH = 3  # of a nest that has another order


def in_place(function: Function, facts: Facts) -> Function | None:
    """Return a function with such variables replaced by elements; None if there are none."""
    if any(isinstance(one, tree.Call) for one in tree.walk(function.body)):
        return None  # what it touches has no place in this function
    body = _Search(facts).block(function.body, (), None)
    return None if body == function.body else replace(function, body=body)


class _Search:
    """A function, and what is asked about it."""

    def __init__(self, facts: Facts) -> None:
        self._accesses = facts.table.accesses
        self._rows = {row.place: row for row in facts.table.loops if not row.is_inlined}
        self._questions = Questions(facts)

    def block(self, block: Block, following: Following, row: LoopRow | None) -> Block:
        """Return statements of one iteration of a loop, changed; `following` is what comes next."""
        made: list[tree.Statement] = []
        position = 0
        while position < len(block):
            one = block[position]
            rest: Following = ((block[position + 1 :], False), *following)
            end = None if row is None else self._end(block, position, following, row)
            if end is not None:
                made += _moved(block[position : end + 1])
                position = end + 1
                continue
            if isinstance(one, tree.Loop) and (row is not None or _depth(one) >= _LEAST_DEPTH):
                again: Following = ((one.step, True), (one.body, True), *rest)
                one = replace(one, body=self.block(one.body, again, self._rows.get(one.place)))
            elif isinstance(one, tree.If):
                then, otherwise = (self.block(b, rest, row) for b in (one.then, one.otherwise))
                one = replace(one, then=then, otherwise=otherwise)
            made.append(one)
            position += 1
        return tuple(made)

    def _end(self, block: Block, position: int, following: Following, row: LoopRow) -> int | None:
        """Return where the statement is that assigns the sum that begins here to an element."""
        first = block[position]
        if not isinstance(first, tree.Assign) or not isinstance(first.target, Variable):
            return None
        own = first.target.symbol
        if own.storage != "local" or own.is_exposed or reads(first.value, own):
            return None
        for end in range(position + 1, len(block)):
            last = block[end]
            if isinstance(last, tree.Declare | tree.Loop):
                continue
            between = block[position + 1 : end]
            if not isinstance(last, tree.Assign) or not isinstance(last.target, Element):
                return None
            rest: Following = ((block[end + 1 :], False), *following)
            is_right = reads(last.value, own) and not is_live(rest, own)
            is_right = is_right and self._is_untouched(last, between, own, row)
            return end if is_right and any(isinstance(s, tree.Loop) for s in between) else None
        return None

    def _is_untouched(self, last: tree.Assign, between: Block, own: Symbol, row: LoopRow) -> bool:
        """Return whether nothing in between touches the element that is assigned last."""
        target = last.target
        changed = assigned_in(between) | {own}
        if target.type != own.type or symbols_in(target) & changed:
            return False
        if any(one == target for one in tree.walk(last.value)):
            return False
        written = [a for a in self._accesses if a.place == target.place and a.is_write]
        if len(written) != 1 or written[0].root.kind == "unknown":
            return False
        (write,) = written
        places = places_in(between)
        touched = [a for a in self._accesses if a.place in places and a.path != ()]
        return not any(
            one.root.kind == "unknown"
            or (one.root is write.root and not self._questions.never_meet(write, one, row))
            for one in touched
        )


def _depth(loop: tree.Loop) -> int:
    """Return how many loops are in each other."""
    return 1 + max(map(_depth, loops_directly_in(loop.body)), default=0)


def _placed(node: Any, place: Span) -> Any:
    """Return a location as if it was written elsewhere: accesses are told apart by that."""
    if not isinstance(node, tree.Expression | tree.Location):
        return node
    inner = [one.name for one in fields(node) if one.name not in ("type", "place")]
    return replace(node, place=place, **{n: _placed(getattr(node, n), place) for n in inner})


def _moved(block: Block) -> Block:
    """Return the statements of a sum with the element in place of the variable."""
    first, last = block[0], block[-1]
    assert isinstance(first, tree.Assign)
    assert isinstance(last, tree.Assign)
    assert isinstance(first.target, Variable)
    own, target = first.target.symbol, last.target

    def change(node: Any) -> Any:
        if isinstance(node, Variable) and node.symbol is own:
            return _placed(target, node.place)
        return node

    made: Block = mapped(block, change)
    return tuple(
        one
        for one in made
        if not (
            isinstance(one, tree.Assign)
            and isinstance(one.value, tree.Read)
            and one.value.location == one.target
        )
    )
