"""LLVM bitcode to a `Program`: bytes to records, records to tables, tables to columns.

`bitstream` takes the bytes apart, `records` finds out what the module has, `functions` reads all
records in compiled loops into one array of tables, `columns` makes a `Program` of that; `module`
is the way through. `read` takes what our own LLVM has written; `read_given` takes files of others,
if all of it is understood and nothing is to be upgraded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kleene.frontends.c import bitcode

if TYPE_CHECKING:
    from kleene.ir.program import Program

VERSION = 9  # of the tables that come out: to be raised whenever they change for some module


def read(raw: bytes) -> Program:
    """Return the program of bitcode that our own LLVM has written.

    Raises:
        SourceError: `c/unread`; there is something in it that this reader does not know.
    """
    from kleene.frontends.c.reader.module import read_own

    return read_own(raw)


def read_given(raw: bytes) -> Program | None:
    """Return the program of a bitcode file, or None if LLVM is to read it first."""
    version = re.match(r"LLVM(\d+)", bitcode.producer(raw) or "")
    if not version or int(version[1]) not in bitcode.UNDERSTOOD_MAJORS:
        return None
    from kleene.frontends.c.reader import module

    return module.read_given(raw, int(version[1]))


def warm() -> None:
    """Load, or compile, the loops of this reader."""
    from kleene.frontends.c.reader import module

    module.warm()


__all__ = ["VERSION", "read", "read_given", "warm"]
