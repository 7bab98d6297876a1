"""Draws the pictures of the page on loops as kernels, from what Kleene says about an example.

`pytest tests/docs --update-golden` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kleene
from kleene.reports import pictures

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "explanation"
EXAMPLE = ROOT / "examples" / "loops" / "plate.c"


def drawn() -> dict[str, str]:
    """Return each picture by its file's name."""
    result = kleene.load(EXAMPLE).kernels()
    found: dict[str, Any] = json.loads(result.to_json())
    relax = next(one for one in found["loops"] if one["function"] == "relax")
    step, turn = (
        next(one for one in found["kernels"] if one["function"] == name)
        for name in ("step", "turn")
    )
    write, tile = turn["accesses"][1], step["sharing"][0]
    sizes = [int(size) for size in tile["tile"]]
    return {
        "loops-dependence.svg": pictures.dependence(relax["witness"]),
        "loops-coalesced.svg": pictures.warp(int(write["stride"]), write["bytes"], write["text"]),
        "loops-strided.svg": pictures.warp(8 * 16, 8, "from[(i * n) + j], n = 16"),
        "loops-tile.svg": pictures.tile(sizes, step["block"], f"{tile['root']}, a block of 32 x 8"),
    }
