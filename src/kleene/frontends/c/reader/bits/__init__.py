"""LLVM bitcode to a `Program`, without LLVM: bits to records, records to the reader's tables.

What comes out is what `reader` makes of LLVM's print of the same file. Whatever is not understood
in full (another LLVM's file, a record that is not known, damage) is not for this reader: `read`
then returns None, and LLVM is the judge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kleene.frontends.c import bitcode
from kleene.frontends.c.reader.bits.upgrades import MAJORS

if TYPE_CHECKING:
    from kleene.ir.program import Program


def read(raw: bytes) -> Program | None:
    """Return the program of a bitcode file, or None if it is not for this reader."""
    version = re.match(r"LLVM(\d+)", bitcode.producer(raw) or "")
    if not version or int(version[1]) not in MAJORS:
        return None
    from kleene.frontends.c.reader.bits.whole import read_whole

    return read_whole(raw, int(version[1]))


__all__ = ["read"]
