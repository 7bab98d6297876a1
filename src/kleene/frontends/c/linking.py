"""Units to the bitcode of one verified module, by LLVM in a process of its own.

LLVM ends its process on some inputs (a failed assertion, a fatal error, a stack overflow); here
that is an error with the file's name. The child also has a time and a memory limit, and takes its
memory with it when it goes. `worker` is the other side.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from kleene.base.errors import SourceError, Span, raise_all
from kleene.base.tidy import running
from kleene.frontends.c.exchange import MARK, Unit

_COMMAND = (sys.executable, "-P", "-m", "kleene.frontends.c.worker")
_MIN_TIME_S = 60
_TIME_S_PER_MB = 30  # an 8 MB module takes 2.4 s on an idle core
_MIN_MEMORY_BYTES = 4 << 30
_MEMORY_PER_BYTE = 400  # an 8 MB module takes 0.4 GB


def link(units: Sequence[Unit]) -> bytes:
    """Return the bitcode of the one module that `units` make, as our LLVM writes it."""
    with linking(units) as finish:
        return finish()[0]


@contextmanager
def linking(units: Sequence[Unit]) -> Iterator[Callable[[], list[bytes]]]:
    """Start LLVM on `units`; the `with` block gets the function that waits for their bitcode.

    It returns that of the one module that they make, and behind it, if there is more than one unit,
    that of each which is to be normalised, after that.
    """
    n_bytes = sum(len(unit.raw) for unit in units)
    limit_s = _MIN_TIME_S + _TIME_S_PER_MB * n_bytes / 1e6
    with (
        tempfile.TemporaryFile() as request,
        tempfile.TemporaryFile() as answer,
        tempfile.TemporaryFile() as complaints,
    ):
        _ask(units, _MIN_MEMORY_BYTES + _MEMORY_PER_BYTE * n_bytes, request)
        with running(_COMMAND, stdin=request, stdout=answer, stderr=complaints) as child:
            yield lambda: _modules(units, child, limit_s, answer, complaints)


def _ask(units: Sequence[Unit], memory_bytes: int, request: IO[bytes]) -> None:
    heads = [
        {
            "file": unit.file,
            "form": unit.form,
            "normalise": unit.normalise,
            "n_bytes": len(unit.raw),
        }
        for unit in units
    ]
    request.write(json.dumps({"memory_bytes": memory_bytes, "units": heads}).encode() + b"\n")
    request.writelines(unit.raw for unit in units)
    request.seek(0)


def _modules(
    units: Sequence[Unit],
    child: subprocess.Popen[bytes],
    limit_s: float,
    answer: IO[bytes],
    complaints: IO[bytes],
) -> list[bytes]:
    """Return the child's modules; its errors, or how it died, are raised."""
    if problem := _problem(child, limit_s):
        complaints.seek(0)
        raise _death(units, problem, complaints.read().decode(errors="replace"))
    answer.seek(0)
    head = json.loads(answer.readline())
    raise_all(_error(found) for found in head["errors"])
    return [answer.read(n_bytes) for n_bytes in head["n_bytes"]]


def _problem(child: subprocess.Popen[bytes], limit_s: float) -> str | None:
    """Return how the child failed, or None if it answered."""
    try:
        status = child.wait(limit_s)
    except subprocess.TimeoutExpired:
        return f"took longer than {limit_s:.0f} s"
    if status < 0:
        return f"crashed with {signal.Signals(-status).name}"
    return f"gave up with status {status}" if status else None


def _death(units: Sequence[Unit], problem: str, complaints: str) -> SourceError:
    """Return the error that names the unit the child was at."""
    lines = complaints.splitlines()
    marks = [line.removeprefix(MARK) for line in lines if line.startswith(MARK)]
    said = [line for line in lines if line.strip() and not line.startswith(MARK)]
    at = marks[-1] if marks else ""
    is_reading = at.isdigit()
    culprit = units[int(at)] if is_reading else units[0] if len(units) == 1 else None
    span = Span(culprit.file) if culprit else None
    doing = "reading this file" if is_reading else "making one module of the files"
    # A traceback is our fault and no user's, unless memory ran out in Python and not in LLVM.
    assert "Traceback" not in complaints or "MemoryError" in complaints, complaints
    notes = [f"its words: {said[-1 if 'Traceback' in complaints else 0].strip()}"] if said else []
    return SourceError(span, "c/reader-crashed", f"LLVM {problem} while {doing}", *notes)


def _error(found: dict[str, Any]) -> SourceError:
    """Return the error whose `as_json` is `found`."""
    span = None
    if found["file"] is not None:
        span = Span(found["file"], found["line"] or 0, found["column"] or 0)
    return SourceError(span, found["id"], found["message"], *found["notes"])
