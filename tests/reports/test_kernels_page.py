"""The page of loops: verdicts in the margins, tables of kernels, pictures that a browser draws."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.offload.kernels.loop_programs import PROGRAMS, unit
from tests.reports.test_html import read

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import Kernels
from kleene.offload.plans.beside import beside
from kleene.offload.plans.machine import H200
from kleene.reports import pictures
from kleene.reports.kernels_page import kernels_page

STENCIL = PROGRAMS.parents[1] / "examples" / "loops" / "stencil.c"


def made() -> str:
    result = Kernels().verdicts_on([unit(STENCIL)])
    generated = beside(result, {"n": 1000}, H200)
    for one in generated:
        one["measured_s"] = 0.00125 if one["function"] == "shift" else None
    return kernels_page(
        "Loops",
        {**result.as_json(), "generated": generated},
        findings=result.findings(),
        files=[str(STENCIL)],
        root=STENCIL.parent,
        subtitle="6 loops",
    )


def test_the_page_has_verdicts_movements_accesses_and_pictures() -> None:
    text = made()
    found = read(text)
    words = " ".join("".join(found.text).split())
    assert not found.wrong
    for wanted in (
        "the loop of t is sequential: signal[1] flows to a later iteration",
        "signal[1] written at t=0, i=1",
        "signal[i - 1]: coalesced, stride 8; 2 lines, 8 sectors",
        "Data movement",
        "[8, 8*n - 8)",
        "parallel if no overlap of next and signal",
        "x = i of max(2, n) - 2",
        "NOT_AFFINE",
        "void shift(",  # beside its kernel
        "__global__ void shift_i(",
        "for n=1000 predicted: ",
        "measured: 1.25 ms",
        "sizes are missing: steps",
    ):
        assert wanted in words, wanted
    for title in ("Generated kernels", "Loops", "Kernels", "Memory accesses", "Shared memory"):
        assert f"<h2>{title}</h2>" in text
    assert text.count("<figure>") == 3  # a dependence, the sectors of a warp, a tile
    for svg in re.findall("<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(svg)


@pytest.mark.tools
def test_a_browser_draws_the_pictures(chromium: Callable[..., str], tmp_path: Path) -> None:
    text = made()
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    shown = chromium(tmp_path, "--dump-dom", page.as_uri())
    tags = [tag for tag, _ in read(shown).tags]
    assert tags == [tag for tag, _ in read(text).tags]
    assert tags.count("svg") == 3
    assert tags.count("pre") >= 4  # the C and the kernels of functions, side by side
    picture = tmp_path / "page.png"
    chromium(tmp_path, f"--screenshot={picture}", "--window-size=1280,2400", page.as_uri())
    assert picture.stat().st_size > 10_000


WITNESS = {
    "element": "a[1][2]<b>",
    "write": {"iteration": {"i": 1, "j": 2}},
    "read": {"iteration": {"i": 2, "j": 1}},
}


def test_an_arrow_leads_from_the_write_to_the_read() -> None:
    drawn = pictures.dependence(WITNESS)
    root = ElementTree.fromstring(drawn)
    tag = "{http://www.w3.org/2000/svg}"
    dots = [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in root.iter(f"{tag}circle")]
    write, read_ = dots[-2:]
    (line,) = root.iter(f"{tag}line")
    assert (float(line.attrib["x1"]), float(line.attrib["y1"])) == write
    assert write[0] > read_[0], "a smaller j is further left"
    assert write[1] < read_[1], "a larger i is further down"
    assert "a[1][2]&lt;b&gt;" in drawn


@pytest.mark.parametrize(
    ("stride", "size", "lines", "sectors"),
    [(4, 4, 1, 4), (8, 4, 2, 8), (128, 4, 32, 32), (0, 8, 1, 1), (-4, 4, 1, 4), (3, 1, 1, 3)],
)
def test_filled_sectors_are_those_that_a_warp_touches(
    stride: int, size: int, lines: int, sectors: int
) -> None:
    drawn = pictures.warp(stride, size, "a[i]")
    assert f"a[i]: {lines} lines, {sectors} sectors" in drawn
    root = ElementTree.fromstring(drawn)
    boxes = [one for one in root.iter() if one.attrib.get("height") == "14"]
    filled = [one for one in boxes if one.attrib["fill"] != "none"]
    assert (len(boxes), len(filled)) == (4 * lines, sectors)


def test_a_tile_fills_the_cells_of_its_block() -> None:
    root = ElementTree.fromstring(pictures.tile([34, 10], [32, 8], "a"))
    cells = [one for one in root.iter() if one.attrib.get("height") == "8"]
    assert len(cells) == 340
    assert sum(one.attrib["fill"] != "none" for one in cells) == 256
