"""Two variables of a value as a polygon, and as a picture in SVG or with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from math import inf
from typing import Any

from kleene.algebra.linear import Bound
from kleene.algebra.state import State

Point = tuple[Fraction, Fraction]
_SIZE, _MARGIN = 320, 40
_DIRECTIONS = [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]


def polygon(state: State, x: str, y: str, view: tuple[Bound, ...] | None = None) -> list[Point]:
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


def frame(state: State, x: str, y: str) -> tuple[Bound, ...]:
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


def svg(state: State, x: str, y: str, view: tuple[Bound, ...] | None = None) -> str:
    """Return a picture of two variables as SVG; where a side has no bound it runs out of view."""
    left, right, below, above = view = tuple(view or frame(state, x, y))
    across, up = (_SIZE - 2 * _MARGIN) / (right - left), (_SIZE - 2 * _MARGIN) / (above - below)

    def place(point: Point) -> str:
        column = _MARGIN + float((point[0] - left) * across)
        return f"{column:.2f},{_SIZE - _MARGIN - float((point[1] - below) * up):.2f}"

    corners = " ".join(place(point) for point in polygon(state, x, y, view))
    inner = _SIZE - 2 * _MARGIN
    labels = [
        (_SIZE / 2, _SIZE - 8, "middle", x),
        (8, _SIZE / 2, "start", y),
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


def draw(state: State, x: str, y: str, axes: Any, view: tuple[Bound, ...] | None = None) -> None:
    """Draw two variables on the axes of matplotlib."""
    view = tuple(view or frame(state, x, y))
    corners = polygon(state, x, y, view)
    axes.fill([float(p[0]) for p in corners], [float(p[1]) for p in corners], alpha=0.35)
    axes.set(xlabel=x, ylabel=y)
    axes.set_xlim(float(view[0]), float(view[1]))
    axes.set_ylim(float(view[2]), float(view[3]))
