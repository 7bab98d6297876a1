"""A process that reads bitcode, one file after the other, watched from outside.

`Child` sends a file and waits for one line: `ok`, `none` for what LLVM is to read first, the id of
a `SourceError`, or what else went wrong. It is read as a file of another LLVM, and if that gives
none, as one of our own. The process guards the end of every table of the
reader with a mark: Numba checks no bounds, and a row written past its table's end would land in
the next table unseen. With `checked` the reader is compiled with bounds checks on top (most of a
minute).
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kleene.base.errors import SourceError
from kleene.frontends.c import reader
from kleene.frontends.c.reader import state, tables
from kleene.ir.verifier import problems

TIME_S = 60
MARK = 0x5EA1ED
N_MARKED = 16


TABLES = range(tables.TYPES, tables.CONSTANT_TABLE + 1)
KNOWN = range(state.TYPE_OF, state.TAGS + 1)


class Guard:
    """Marks at the end of each table of a heap; `cells` hold where the tables begin."""

    def __init__(self, heap: Any, cells: range = TABLES) -> None:
        bases = sorted(int(heap[cell]) for cell in cells)
        tables = [base for base in bases if base >= int(heap[cells[0]])]
        ends = [*tables[1:], len(heap)]
        self.heap = heap
        self.places = np.concatenate([np.arange(end - N_MARKED, end) for end in ends])
        heap[self.places] = MARK

    def is_whole(self) -> bool:
        """Return whether nothing was written over the marks."""
        return bool((self.heap[self.places] == MARK).all())


def _guard(module: Any, cells: range, guards: list[Guard]) -> None:
    """Have all that this module allocates guarded."""
    allocate = module.allocate

    def guarded(*arguments: Any) -> Any:
        heap = allocate(*arguments)
        guards.append(Guard(heap, cells))
        return heap

    module.allocate = guarded


def serve(answer_to: Callable[[bytes], str]) -> None:
    """Answer every file on stdin."""
    guards: list[Guard] = []
    _guard(tables, TABLES, guards)
    _guard(state, KNOWN, guards)
    while size := sys.stdin.buffer.read(8):
        text = sys.stdin.buffer.read(struct.unpack("<q", size)[0])
        guards.clear()
        answer = answer_to(text)
        if not all(guard.is_whole() for guard in guards):
            answer = "a table overflowed"
        print(answer, flush=True)


def _answer(raw: bytes) -> str:
    try:
        given = reader.read_given(raw)
        if given is not None:
            return f"ok {len(given.instructions)}" if not problems(given) else "an invalid program"
        reader.read(raw)
    except SourceError as error:
        return "none" if error.id in ("c/unread", "ir/data-layout") else error.id
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
    return "none"


class Child:
    """The process, from outside."""

    def __init__(self, folder: Path, *, checked: bool, first: bytes) -> None:
        """Start it; `first` is read with time to compile."""
        extra = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)} if checked else {}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.frontends.c.reader.reading"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | extra,
            cwd=Path(__file__).parents[4],
        )
        self.read(first)  # compiles
        self.time_s = TIME_S

    time_s = 600

    def read(self, text: bytes) -> str:
        """Return how reading the text went; a crash or a hang is an assertion."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(struct.pack("<q", len(text)) + text)
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.time_s)
        assert ready, "the reader hangs"
        answer = self.process.stdout.readline().decode().strip()
        assert answer, f"the reader died with {self.process.wait()}"
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()


if __name__ == "__main__":
    serve(_answer)
