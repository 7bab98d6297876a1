"""Draws the picture of the front page: the example's source, and what Kleene says about its calls.

The answer is that of the README's console block, which the tests compare with what the command
prints; the source is read from `examples/events`. `pytest tests/docs --update-golden` writes
`front.svg`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "front.svg"
SHOWN = {"handlers.c": (13, 23, 24, 26), "main.c": (13, 25, 26, 28, 29), "queue.c": (17, 27)}

WIDTH, LINE, CHARACTER = 1120, 19, 7.25
LEFT, RIGHT, MIDDLE, TOP = 24, 640, 558, 58
ALSO = (
    "also: what each pointer may hold, aliases, effects, and",
    "the statements behind each answer; text, JSON, Parquet, DOT",
)
CALL, REASON = "#fde9c8", "#d8e8fb"

_CALL = re.compile(r"^  (\S+?:\d+):\d+: (.+)$")
_TARGET = re.compile(r"^    (\w+) +(\S+?:\d+)(?::\d+)?  .*$")


@dataclass(frozen=True, slots=True)
class Call:
    """A call through a pointer: its place and text, and its targets with the lines behind them."""

    place: str
    text: str
    targets: tuple[tuple[str, str], ...]


def documented_calls(readme: str) -> list[Call]:
    """Return the calls in the first console block of the README."""
    block = readme.split("```console", 1)[1].split("```", 1)[0]
    found: list[Call] = []
    for line in block.splitlines():
        if call := _CALL.match(line):
            found.append(Call(call[1], call[2], ()))
        elif found and (target := _TARGET.match(line)):
            last = found.pop()
            found.append(Call(last.place, last.text, (*last.targets, (target[1], target[2]))))
    return found


def drawn() -> str:
    """Return the picture as SVG."""
    calls = documented_calls((ROOT / "README.md").read_text(encoding="utf-8"))
    colours = {call.place: CALL for call in calls}
    colours = {place: REASON for call in calls for _, place in call.targets} | colours
    source, n_source = _source(colours)
    answer, n_answer = _answer(calls)
    height = TOP + LINE * max(n_source, n_answer) + 24
    middle = height / 2 + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" height="{height:g}" font-size="12">',
        "<title>Three C files go in; whom each call through a pointer may reach, and why, comes "
        "out</title>",
        f'<rect width="{WIDTH}" height="{height:g}" rx="10" fill="#ffffff"/>',
        f'<rect x="8" y="36" width="484" height="{height - 44:g}" rx="6" fill="#f6f8fa"/>',
        f'<rect x="624" y="36" width="488" height="{height - 44:g}" rx="6" fill="#f6f8fa"/>',
        _text(LEFT, 25, "in: C, C++, bitcode, compile_commands.json", weight=600),
        _text(RIGHT, 25, "out: whom each call through a pointer may reach, and why", weight=600),
        *source,
        *answer,
        _text(RIGHT, height - 46, ALSO[0]),
        _text(RIGHT, height - 28, ALSO[1]),
        '<g fill="none" stroke="#57606a" stroke-width="2">'
        f'<path d="M510 {middle:g}H604"/><path d="M597 {middle - 6:g}l9 6l-9 6"/></g>',
        _text(MIDDLE, middle - 14, "kleene points-to", anchor="middle", size=11, weight=600),
        _text(MIDDLE, middle + 20, "tables, constraints,", anchor="middle", size=11),
        _text(MIDDLE, middle + 34, "least fixed point", anchor="middle", size=11),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _source(colours: dict[str, str]) -> tuple[list[str], int]:
    """Return the shown lines of the example, those that the answer names in colour."""
    parts: list[str] = []
    row = 0
    for name, numbers in SHOWN.items():
        lines = (ROOT / "examples" / "events" / name).read_text(encoding="utf-8").splitlines()
        parts.append(_code(LEFT, row, f"/* {name} */", fill="#57606a"))
        row += 1
        for number in numbers:
            colour = colours.get(f"{name}:{number}")
            text = f"{number:>3}  {lines[number - 1].strip()}"
            if len(text) > 63:
                text = text[:60] + "..."
            parts.append(_code(LEFT, row, text, colour))
            row += 1
        row += 1
    return parts, row - 1


def _answer(calls: list[Call]) -> tuple[list[str], int]:
    parts: list[str] = []
    row = 0
    for call in calls:
        parts.append(_code(RIGHT, row, f"{call.text}    {call.place}", CALL))
        row += 1
        for name, place in call.targets:
            parts.append(_code(RIGHT + 16, row, f"may call {name:<10} because of", None))
            parts.append(_code(RIGHT + 16 + 31 * CHARACTER, row, place, REASON))
            row += 1
        row += 1
    return parts, row - 1


def _code(x: float, row: int, text: str, colour: str | None = None, fill: str = "#1f2328") -> str:
    """Return one line of code, on a ground of `colour`."""
    y = TOP + LINE * row
    width = len(text) * CHARACTER
    ground = (
        f'<rect x="{x - 4:g}" y="{y - 13:g}" width="{width + 8:g}" height="18" rx="3" '
        f'fill="{colour}"/>'
        if colour
        else ""
    )
    return (
        f'{ground}<text x="{x:g}" y="{y}" xml:space="preserve" textLength="{width:g}" '
        f'font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" '
        f'fill="{fill}">{escape(text)}</text>'
    )


def _text(
    x: float, y: float, text: str, anchor: str = "start", size: int = 13, weight: int = 400
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="system-ui,Segoe UI,Helvetica,DejaVu Sans,'
        f'sans-serif" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="#1f2328">{escape(text)}</text>'
    )
