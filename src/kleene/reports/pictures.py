"""Pictures of loops, drawn as SVG: dependences over iterations, sectors of a warp, tiles.

They are made of rectangles, circles, lines and text alone, in the colours of the page around them
(`currentColor` and its variables), so that they are readable by day and night; where a picture
stands by itself, these have defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NewType

Svg = NewType("Svg", str)  # made here: all text in it is escaped

_WARP = 32
_SECTOR = 32
_INK, _DIM, _MARK, _BACK = "#3b4252", "#9aa3b2", "#0b57b4", "#dbe7f7"
_MOST = 12  # iterations of an axis that are drawn


def dependence(witness: Mapping[str, Any]) -> Svg:
    """Return the iterations of a loop nest as dots, with an arrow from the write to the read.

    A nest of one loop is a row; of two or more, the innermost two loops that both accesses share
    are drawn, the outer of them downwards.
    """
    write, read = (dict(witness[name]["iteration"]) for name in ("write", "read"))
    shared = [name for name in write if name in read]
    rows = shared[-2] if len(shared) > 1 else None
    columns = shared[-1]
    across = _axis([write[columns], read[columns]])
    down = _axis([write[rows], read[rows]]) if rows is not None else [0]
    step, left, top = 34, 54, 40
    parts = [_text(left, 16, f"{witness['element']}: written, then read", _INK)]
    for place, value in enumerate(across):
        parts.append(_text(left + step * place, top - 6, str(value), _DIM, "middle"))
    parts.append(_text(left + step * len(across) - 12, top - 6, columns, _DIM))
    for row, value in enumerate(down):
        y = top + 12 + step * row
        if rows is not None:
            label = f"{rows} = {value}" if row == 0 else str(value)
            parts.append(_text(left - 16, y + 4, label, _DIM, "end"))
        parts += [_circle(left + step * place, y, 4, _DIM) for place in range(len(across))]

    def at(point: Mapping[str, int]) -> tuple[float, float]:
        y = down.index(point[rows]) if rows is not None else 0
        return left + step * across.index(point[columns]), top + 12 + step * y

    parts += [_circle(*at(write), 7, _MARK), _circle(*at(read), 7, _MARK, filled=False)]
    parts.append(_arrow(at(write), at(read)))
    return _svg(max(300, left + step * len(across) + 40), top + 24 + step * len(down), parts)


def _axis(values: Sequence[int]) -> list[int]:
    """Return consecutive iterations around some: those between them are left out if many."""
    low, high = min(values), max(values)
    if high - low < _MOST:
        return list(range(low, high + 2))
    return [low, low + 1, high - 1, high]


def warp(stride: int, size: int, text: str = "") -> Svg:
    """Return 32 threads above the sectors that they touch, `stride` bytes apart.

    Sectors of 32 bytes are boxes, four to a line of 128 bytes; those touched are filled. The lowest
    address begins a line.
    """
    addresses = [stride * thread for thread in range(_WARP)]
    first = min(addresses)
    touched = sorted({(a + byte - first) // _SECTOR for a in addresses for byte in (0, size - 1)})
    n_lines = min(32, touched[-1] // 4 + 1)
    per_row = 8
    n_rows = -(-n_lines // per_row)
    box, gap, left, top = 18.0, 8.0, 8.0, 92.0
    width = left * 2 + per_row * (4 * box + gap)
    spread = (width - 2 * left) / _WARP
    lines = {one // 4 for one in touched}
    title = f"{text}: {len(lines)} lines, {len(touched)} sectors" if text else ""
    parts = [_text(left, 16, title, _INK), _text(left, 34, "threads 0 to 31", _DIM)]

    def place(sector: int) -> tuple[float, float]:
        line = sector // 4
        x = left + (line % per_row) * (4 * box + gap) + sector % 4 * box
        return x, top + (line // per_row) * (box + 10)

    for thread, address in enumerate(addresses):
        x = left + spread * (thread + 0.5)
        parts.append(_rectangle(x - 3, 40, 6, 6, _MARK, filled=True))
        sector = (address - first) // _SECTOR
        if sector // 4 < n_lines:
            to_x, to_y = place(sector)
            parts.append(_line(x, 47, to_x + box / 2, to_y, _DIM))
    for sector in range(4 * n_lines):
        x, y = place(sector)
        is_touched = sector in touched
        parts.append(_rectangle(x, y, box, 14, _MARK if is_touched else _DIM, is_touched))
    return _svg(width, top + n_rows * (box + 10) + 8, parts)


def tile(sizes: Sequence[int], block: Sequence[int], text: str = "") -> Svg:
    """Return the elements of a tile as cells, those of the block's own threads filled.

    `sizes` are the elements in a row and the number of rows; more rows than fit are left out.
    """
    columns, rows = (*sizes, 1)[:2]
    own_columns, own_rows = (*block, 1)[:2]
    shown_columns, shown_rows = min(columns, 72), min(rows, 40)
    cell, left, top = 9.0, 8.0, 28.0
    before = (max(0, (columns - own_columns)) // 2, max(0, rows - own_rows) // 2)
    parts = [_text(left, 16, text, _INK)]
    for row in range(shown_rows):
        for column in range(shown_columns):
            is_own = (
                before[0] <= column < before[0] + own_columns
                and before[1] <= row < before[1] + own_rows
            )
            x, y = left + cell * column, top + cell * row
            parts.append(_rectangle(x, y, cell - 1, cell - 1, _MARK if is_own else _DIM, is_own))
    width = max(320.0, left * 2 + cell * shown_columns)
    return _svg(width, top + cell * shown_rows + 8, parts)


def _svg(width: float, height: float, parts: Iterable[str]) -> Svg:
    body = "\n".join(part for part in parts if part)
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img"'
        f' font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


def _text(x: float, y: float, text: str, colour: str, anchor: str = "start") -> str:
    if not text:
        return ""
    words = escape(text, quote=True)
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def _circle(x: float, y: float, radius: float, colour: str, *, filled: bool = True) -> str:
    fill = colour if filled else _BACK
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{colour}"/>'


def _rectangle(
    x: float, y: float, width: float, height: float, colour: str, filled: bool = False
) -> str:
    fill = colour if filled else "none"
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"'
        f' stroke="{colour}"/>'
    )


def _line(x: float, y: float, to_x: float, to_y: float, colour: str) -> str:
    ends = f'x1="{x:g}" y1="{y:g}" x2="{to_x:g}" y2="{to_y:g}"'
    return f'<line {ends} stroke="{colour}" stroke-width="0.6"/>'


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Return an arrow that ends at the rim of a circle of radius 7."""
    (x, y), (to_x, to_y) = start, end
    length = max(1.0, ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5)
    dx, dy = (to_x - x) / length, (to_y - y) / length
    tip_x, tip_y = to_x - 8 * dx, to_y - 8 * dy
    ends = f'x1="{x:g}" y1="{y:g}" x2="{tip_x:.1f}" y2="{tip_y:.1f}"'
    wings = [
        f"{tip_x:.1f},{tip_y:.1f}",
        f"{tip_x - 8 * dx + 4 * dy:.1f},{tip_y - 8 * dy - 4 * dx:.1f}",
        f"{tip_x - 8 * dx - 4 * dy:.1f},{tip_y - 8 * dy + 4 * dx:.1f}",
    ]
    return (
        f'<line {ends} stroke="{_MARK}" stroke-width="2"/>\n'
        f'<polygon points="{" ".join(wings)}" fill="{_MARK}"/>'
    )
