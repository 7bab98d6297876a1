"""Problems in files: `.npz` with one int32 array a column, compressed."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from kleene.base.arrays import I32
from kleene.base.errors import SourceError, Span
from kleene.base.files import read_file, write_file
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import COLUMNS, Problem

FORMAT = 4
# What the zip and array readers raise on bytes that are no archive of arrays.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, ValueError, TypeError, SyntaxError),
    *(NotImplementedError, RuntimeError, OverflowError, MemoryError),
)


def save(problem: Problem, path: Path | str) -> None:
    """Write a problem to one file; `load` gives it back."""
    head = np.array([FORMAT, problem.n_nodes], np.int64)
    arrays: dict[str, Any] = {"head": head, **problem.columns()}
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    try:
        write_file(path, archive.getvalue())
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        raise SourceError(Span(str(path)), "inclusion/cannot-write", message) from None


def load(path: Path | str) -> Problem:
    """Return the problem in a file that `save` wrote, checked."""
    span = Span(str(path))
    try:
        arrays = _arrays(read_file(path))
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SourceError(span, "inclusion/unreadable", message) from None
    except _DAMAGE:
        message = "the file is damaged, or holds no inclusion problem"
        raise SourceError(span, "inclusion/bad-file", message) from None
    head = arrays.pop("head", np.empty(0)).tolist()
    if len(head) != 2 or head[0] != FORMAT or sorted(arrays) != sorted(COLUMNS):
        message = f"the file holds no inclusion problem of format {FORMAT}"
        raise SourceError(span, "inclusion/bad-format", message)
    problem = Problem(int(head[1]), **arrays)
    check(problem)
    return problem


def _arrays(raw: bytes) -> dict[str, I32]:
    """Return the arrays of an archive; bytes are compared with their checksums before use."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
        }
