"""C files whose comments say the verdict on each of their loops."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kleene.frontends.c.loops import read
from kleene.frontends.c.source import Source
from kleene.ir.loops.tables import LoopTable
from kleene.ir.loops.tree import Unit
from kleene.transforms.loops import tables

PROGRAMS = Path(__file__).parents[2] / "programs"
_WANTED = re.compile(
    r"/[/*] (PAR|PRIV|COPY|RED|SEQ|MAY)\b(?:, after \w+)?(?: if ([^*]*?))?\s*(?:\*/|$)"
)


@dataclass(frozen=True)
class Wanted:
    """The verdict, and the pointers between which overlap has to be checked."""

    verdict: str
    pointers: frozenset[str]


def wanted(file: Path) -> dict[int, Wanted]:
    """Return what comments want of the loops, by line."""
    found = {}
    for line, text in enumerate(file.read_text().splitlines(), 1):
        if match := _WANTED.search(text):
            found[line] = Wanted(match[1], frozenset((match[2] or "").split()))
    return found


@cache
def unit_of(code: str) -> Unit:
    """Return a C file with this text, read once in a run of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.c"
        file.write_text(code)
        return unit(file)


def unit(file: Path) -> Unit:
    (found,) = read([Source(str(file), "c++" if file.suffix == ".cpp" else "c")])
    return found


def loop_tables(file: Path) -> list[LoopTable]:
    return tables(unit(file))
