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
    from kleene.frontends.c.reader.bits.whole import read_given

    return read_given(raw, int(version[1]))


def read_own(raw: bytes) -> Program:
    """Return the program of bitcode that our own LLVM has written.

    Raises:
        SourceError: `c/unread`; there is something in it that this reader does not know.
    """
    from kleene.frontends.c.reader.bits import whole

    return whole.read_own(raw)


def warm() -> None:
    """Load, or compile, the loops of this reader."""
    from kleene.frontends.c.reader.bits import whole

    whole.warm()


__all__ = ["read", "read_own", "warm"]
