"""The README's picture of generated kernels is drawn from the benchmark's results."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from docs.kernels_picture import PICTURE, RESULTS, drawn


def test_the_picture_is_that_of_the_results(update_golden: bool) -> None:
    wanted = drawn(json.loads(RESULTS.read_text(encoding="utf-8")))
    if update_golden:
        PICTURE.write_text(wanted, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == wanted


def test_longer_times_have_longer_bars() -> None:
    def row(name: str, ours: float, theirs: float) -> dict[str, object]:
        return {"input": name, "ours": {"median_s": ours}, "theirs": {"median_s": theirs}}

    rows = [row("gemm", 0.002, 0.2), row("heat_3d", 0.01, 1.0)]
    text = drawn({"rows": rows, "machine": "A, 2 cores, Python 3", "date": "2026-01-01"})
    root = ElementTree.fromstring(text)
    bars = [float(one.get("width") or 0) for one in root if one.get("height") == "13"][2:]
    assert bars[1] > bars[0]
    assert bars[1] - bars[0] == pytest.approx(bars[3] - bars[2], abs=0.2)  # both a hundredfold
    assert "100x faster" in text
