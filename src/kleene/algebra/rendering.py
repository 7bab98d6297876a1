"""A value as constraints, as text and LaTeX, and two of its variables as a picture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from html import escape
from math import inf
from typing import Any

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.linear import Bound, Constraint, Linear, Variable, in_order, label
from kleene.algebra.partition import Component
from kleene.algebra.state import State, fact_of
from kleene.kernels.minplus import infinity

Terms = tuple[tuple[Variable, Fraction], ...]
FALSE = Constraint(Linear((), Fraction(1), Fraction(1)))  # 1 <= 0


def constraints(state: State, minimal: bool) -> tuple[Constraint, ...]:
    """Return constraints that say what the state says; of an empty one, 1 <= 0."""
    if state.is_empty:
        return (FALSE,)
    found = (
        constraint
        for component in state.partition
        for constraint in _of_component(component, minimal, state.are_integers(component.names))
    )
    return tuple(sorted(found, key=lambda one: (len(one.row.terms), one.row.terms)))


def _of_component(component: Component, minimal: bool, tighten: bool) -> Iterator[Constraint]:
    """Yield the constraints of one component."""
    n, m, scale = len(component.names), component.cells, component.scale
    i, j = dbm.stored(n)
    component = component.here()
    chosen = (i != j) & (component.cells != infinity(m.dtype))
    if minimal:
        if m.dtype != dbm.FLOAT and not tighten:  # halves are compared: they must be exact
            m, scale = dbm.with_room(m, n, factor=2), 2 * scale
        chosen &= dbm.minimal(m)
    for at in np.flatnonzero(chosen).tolist():
        row, column = int(i[at]), int(j[at])
        yield _constraint(component, column, row)


def _constraint(component: Component, j: int, i: int) -> Constraint:
    """Return what the cell of V'[j] - V'[i] says."""
    signs, bound = fact_of(component.names, i, j, component.bound(j, i))
    terms = in_order({name: Fraction(sign) for name, sign in signs})
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
    signed = (f" {'+' if factor > 0 else minus} {label(name)}" for name, factor in others)
    return label(first) + "".join(signed)


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


Point = tuple[Fraction, Fraction]
_SIZE, _MARGIN = 320, 40
_DIRECTIONS = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]


def polygon(
    state: State, x: Variable, y: Variable, view: tuple[Bound, ...] | None = None
) -> list[Point]:
    """Return the corners of the points of x and y that lie in view, in order; none if none do.

    `view` is (left, right, below, above); without it, all that is bounded is in view.
    """
    left, right, below, above = (Fraction(end) for end in view or frame(state, x, y))
    found = [(left, below), (right, below), (right, above), (left, above)]
    for a, b in _DIRECTIONS:
        bound = state.upper(((x, a), (y, b)))
        if isinstance(bound, Fraction):
            found = list(_clipped(found, a, b, bound))
    return [] if state.is_empty else list(dict.fromkeys(found))


def _clipped(corners: list[Point], a: int, b: int, bound: Fraction) -> Iterable[Point]:
    """Yield the corners of the part where a*x + b*y <= bound."""
    for at, here in enumerate(corners):
        before = corners[at - 1]
        inside, was_inside = (a * p[0] + b * p[1] - bound for p in (here, before))
        if inside * was_inside < 0:
            share = was_inside / (was_inside - inside)
            yield (
                before[0] + share * (here[0] - before[0]),
                before[1] + share * (here[1] - before[1]),
            )
        if inside <= 0:
            yield here


def frame(state: State, x: Variable, y: Variable) -> tuple[Bound, ...]:
    """Return left, right, below, above: what the bounds leave, and a margin; 10 where none is."""
    return (
        *_span(-state.single(x, -1), state.single(x, 1)),
        *_span(-state.single(y, -1), state.single(y, 1)),
    )


def _span(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    low = low if low != -inf else (high if high != inf else Fraction(0)) - 10
    high = high if high != inf else low + 20
    margin = max((high - low) / 8, Fraction(1, 2))
    return low - margin, high + margin


def svg(state: State, x: Variable, y: Variable, view: tuple[Bound, ...] | None = None) -> str:
    """Return a picture of two variables as SVG; where a side has no bound it runs out of view."""
    left, right, below, above = view = tuple(view or frame(state, x, y))
    across, up = (_SIZE - 2 * _MARGIN) / (right - left), (_SIZE - 2 * _MARGIN) / (above - below)

    def place(point: Point) -> str:
        column = _MARGIN + float((point[0] - left) * across)
        return f"{column:.2f},{_SIZE - _MARGIN - float((point[1] - below) * up):.2f}"

    corners = " ".join(place(point) for point in polygon(state, x, y, view))
    inner = _SIZE - 2 * _MARGIN
    labels = [
        (_SIZE / 2, _SIZE - 8, "middle", label(x)),
        (8, _SIZE / 2, "start", label(y)),
        (_MARGIN, _SIZE - 24, "middle", f"{float(left):.4g}"),
        (_SIZE - _MARGIN, _SIZE - 24, "middle", f"{float(right):.4g}"),
        (_MARGIN - 4, _SIZE - _MARGIN, "end", f"{float(below):.4g}"),
        (_MARGIN - 4, _MARGIN, "end", f"{float(above):.4g}"),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}"'
            f' width="{_SIZE}" height="{_SIZE}" font-family="sans-serif" font-size="11">',
            f'<rect x="{_MARGIN}" y="{_MARGIN}" width="{inner}" height="{inner}" fill="#fff"'
            ' stroke="#999"/>',
            f'<polygon points="{corners}" fill="#2a6f97" fill-opacity="0.35" stroke="#2a6f97"'
            ' stroke-width="2"/>',
            *(
                f'<text x="{column}" y="{row}" text-anchor="{anchor}">{escape(text)}</text>'
                for column, row, anchor, text in labels
            ),
            "</svg>",
        ]
    )


def draw(
    state: State, x: Variable, y: Variable, axes: Any, view: tuple[Bound, ...] | None = None
) -> None:
    """Draw two variables on the axes of matplotlib."""
    view = tuple(view or frame(state, x, y))
    corners = polygon(state, x, y, view)
    axes.fill([float(p[0]) for p in corners], [float(p[1]) for p in corners], alpha=0.35)
    axes.set(xlabel=label(x), ylabel=label(y))
    axes.set_xlim(float(view[0]), float(view[1]))
    axes.set_ylim(float(view[2]), float(view[3]))
