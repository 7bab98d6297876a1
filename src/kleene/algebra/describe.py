"""A value as constraints, and constraints as text and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf

import numpy as np

from kleene.algebra import cells as kernel
from kleene.algebra.block import Block
from kleene.algebra.linear import Bound, Constraint, Linear, in_order
from kleene.algebra.state import State

Terms = tuple[tuple[str, Fraction], ...]
FALSE = Constraint(Linear((), Fraction(1), Fraction(1)))  # 1 <= 0


def constraints(state: State, minimal: bool) -> tuple[Constraint, ...]:
    """Return constraints that say what the state says; of an empty one, 1 <= 0."""
    if state.is_empty:
        return (FALSE,)
    found = (
        constraint
        for block in state.blocks
        for constraint in _of_block(block, minimal, state.are_integers(block.names))
    )
    return tuple(sorted(found, key=lambda one: (len(one.row.terms), one.row.terms)))


def _of_block(block: Block, minimal: bool, tighten: bool) -> Iterator[Constraint]:
    """Yield the constraints of one block."""
    n, m, scale = len(block.names), block.cells, block.scale
    i, j = kernel.stored(n)
    block = block.here()
    chosen = (i != j) & (block.cells != kernel.infinity(m.dtype))
    if minimal:
        if m.dtype != kernel.FLOAT and not tighten:  # halves are compared: they must be exact
            m, scale = kernel.with_room(m, n, factor=2), 2 * scale
        chosen &= kernel.minimal(m, tighten)
    for at in np.flatnonzero(chosen).tolist():
        row, column = int(i[at]), int(j[at])
        yield _constraint(block, column, row)


def _constraint(block: Block, j: int, i: int) -> Constraint:
    """Return what the cell of V'[j] - V'[i] says."""
    bound = block.bound(j, i)
    plus, minus = block.names[j >> 1], block.names[i >> 1]
    signs = Fraction(-1 if j & 1 else 1), Fraction(1 if i & 1 else -1)
    if plus == minus:
        return Constraint(Linear(((plus, signs[0]),), -bound / 2, -bound / 2))
    terms = in_order({plus: signs[0], minus: signs[1]})
    return Constraint(Linear(terms, -bound, -bound))


def text(state: State) -> str:
    """Return the value in one line: its smallest set of constraints, in braces."""
    if state.is_empty:
        return "{false}"
    return "{" + ", ".join(lines(state)) + "}"


def lines(state: State, at_most: str = "<=", equal: str = "==", minus: str = "-") -> list[str]:
    """Return a smallest set of constraints, two that bound one sum as one line."""
    bounds: dict[Terms, dict[int, Bound]] = {}
    for constraint in constraints(state, minimal=True):
        terms = constraint.linear.terms
        sign = 1 if terms[0][1] > 0 else -1
        key = tuple((name, factor * sign) for name, factor in terms)
        bounds.setdefault(key, {})[sign] = -constraint.linear.high
    return [_line(terms, ends, at_most, equal, minus) for terms, ends in bounds.items()]


def _line(terms: Terms, ends: dict[int, Bound], at_most: str, equal: str, minus: str) -> str:
    low, high = -ends.get(-1, inf), ends.get(1, inf)
    body = _sum(terms, minus)
    if low == high:
        return f"{body} {equal} {number(high)}"
    if high == inf and terms[-1][1] < 0:  # -2 <= x - y is y - x <= 2
        turned = tuple((name, -factor) for name, factor in reversed(terms))
        return f"{_sum(turned, minus)} {at_most} {number(-low)}"
    if low == -inf:
        return f"{body} {at_most} {number(high)}"
    if high == inf:
        return f"{number(low)} {at_most} {body}"
    return f"{number(low)} {at_most} {body} {at_most} {number(high)}"


def _sum(terms: Terms, minus: str) -> str:
    (first, _), *others = terms
    return first + "".join(f" {'+' if factor > 0 else minus} {name}" for name, factor in others)


def number(value: Bound) -> str:
    """Return a bound as text: an integer, or a fraction."""
    return str(value)


def latex(state: State) -> str:
    r"""Return the value as LaTeX: constraints joined by \land, or \bot, or \top."""
    if state.is_empty:
        return r"\bot"
    shown = lines(state, r"\le", "=")
    return r" \land ".join(map(_latex_line, shown)) or r"\top"


def _latex_line(line: str) -> str:
    return " ".join(_latex_word(word) for word in line.split(" "))


def _latex_word(word: str) -> str:
    """Return a name or a number for LaTeX: one letter stays, a longer name is set upright."""
    top, slash, below = word.partition("/")
    if slash and below.isdigit():
        sign = "-" if top.startswith("-") else ""
        return rf"{sign}\frac{{{top.lstrip('-')}}}{{{below}}}"
    if len(word) > 1 and (word[0].isalpha() or word[0] == "_"):
        return r"\mathit{" + word.replace("_", r"\_").replace("#", r"\#").replace("$", r"\$") + "}"
    return word
