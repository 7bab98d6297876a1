"""Draws the README's picture of generated kernels: their times beside the C's on all cores.

The numbers are those of `benchmarks/results/kernels_cuda.json`. `pytest tests/docs --update-golden`
writes `kernels.svg`.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "kernels_cuda.json"
PICTURE = ROOT / "docs" / "kernels.svg"
SHOWN = ("gemm", "correlation", "convolve", "heat_3d", "jacobi_2d", "gemver", "floyd_warshall")

CALL = "k = kleene.load('gemm.c').kernels();  k.gemm(ni, nj, nk, alpha, beta, c, a, b)"
WIDTH, LEFT, BAR, ROW, TOP = 820, 130, 13, 44, 74
OURS, THEIRS, TEXT, FAINT = "#2a6f97", "#c8b6a6", "#1f2933", "#5f6b76"


def drawn(results: dict[str, Any]) -> str:
    """Return the picture as SVG."""
    rows = {row["input"]: row for row in results["rows"]}
    shown = [rows[name] for name in SHOWN if name in rows and rows[name]["theirs"]]
    times = [row[side]["median_s"] for row in shown for side in ("ours", "theirs")]
    low = 10.0 ** math.floor(math.log10(min(times)))
    high = max(times)
    scale = (WIDTH - LEFT - 150) / math.log10(high / low)
    height = TOP + ROW * len(shown) + 46
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(16, 28, CALL, TEXT, 'font-family="monospace" font-size="14"'),
        f'<rect x="16" y="44" width="{BAR}" height="{BAR}" fill="{OURS}"/>',
        _text(36, 55, "generated kernels, arrays on the GPU", FAINT),
        f'<rect x="290" y="44" width="{BAR}" height="{BAR}" fill="{THEIRS}"/>',
        _text(310, 55, "the same C, its proven loops on 16 threads", FAINT),
    ]
    for number, row in enumerate(shown):
        y = TOP + ROW * number
        parts.append(_text(LEFT - 10, y + 18, row["input"], TEXT, 'text-anchor="end"'))
        for shift, side, colour in ((0, "ours", OURS), (BAR + 2, "theirs", THEIRS)):
            seconds = row[side]["median_s"]
            length = max(2.0, scale * math.log10(seconds / low))
            parts.append(
                f'<rect x="{LEFT}" y="{y + shift}" width="{length:.1f}" height="{BAR}"'
                f' fill="{colour}"/>'
            )
            told = _time(seconds)
            if side == "ours":
                told += f", {row['theirs']['median_s'] / seconds:.0f}x faster"
            parts.append(_text(LEFT + length + 6, y + shift + 11, told, FAINT))
    where = results["machine"].split(", Python")[0]
    below = f"times on a scale of powers of ten; {where}; {results['date']}"
    parts.append(_text(16, height - 14, below, FAINT, 'font-size="10"'))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}" fill="{colour}" {more}>{escape(text)}</text>'


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


if __name__ == "__main__":
    PICTURE.write_text(drawn(json.loads(RESULTS.read_text())), encoding="utf-8")
