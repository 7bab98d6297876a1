"""The plain-text format of public points-to graphs.

The first line has the number of variables and that of constraints, each further line one
constraint: `id source destination type offset`. Numbers stand between blanks, tabs or commas; empty
lines and lines that start with # are skipped. We read a line, with s and d for its two variables
and k for the offset, as

    0  d = &s + k     1  d = s + k     2  d = *(s + k)     3  *(d + k) = s

Variable v is node v and object v, and node v is the contents of object v. The format does not say
where objects end: an object whose address is taken (as the s of a type 0) is taken to have the
variables behind it as fields, up to the next such object, but none that the largest offset of the
file does not reach. Loads and stores with an offset get a node of their own behind the variables,
one for each pair of pointer and offset.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64
from kleene.base.errors import SourceError, Span
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import Problem

_FIELDS = ("id", "source", "destination", "type", "offset")
_SOURCE, _DESTINATION, _TYPE, _OFFSET = 1, 2, 3, 4
_ADDRESS, _COPY, _LOAD, _STORE = range(4)
_HUGE = 1 << 40  # any number beyond int32 will do: it is refused by its value


def read_text(path: Path | str) -> Problem:
    """Return the problem in a text file, checked."""
    try:
        text = np.frombuffer(Path(path).read_bytes(), np.uint8)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SourceError(Span(str(path)), "inclusion/unreadable", message) from None
    n_variables, rows = _rows(str(path), text)
    return _problem(n_variables, rows)


def _rows(path: str, text: NDArray[np.uint8]) -> tuple[int, I64]:
    """Return the number of variables and the constraints; raise for the first wrong line."""
    values = np.empty(len(text) // 2 + 1, np.int64)
    line_of = np.empty(len(text) // 2 + 1, np.int64)
    n_values, line, column = _numbers(text, values, line_of)

    def fail(line: int, column: int, message: str) -> SourceError:
        return SourceError(Span(path, line, column), "inclusion/bad-text", message)

    if line:
        raise fail(line, column, "a number is due here")
    values, line_of = values[:n_values], line_of[:n_values]
    lines, n_in_line = np.unique(line_of, return_counts=True)
    if not lines.size or n_in_line[0] != 2:
        first = int(lines[0]) if lines.size else 1
        raise fail(first, 1, "the first line has two numbers: variables and constraints")
    if (wrong := np.flatnonzero(n_in_line[1:] != 5)).size:
        row = int(wrong[0]) + 1
        message = f"{n_in_line[row]} numbers, but a constraint has five: {' '.join(_FIELDS)}"
        raise fail(int(lines[row]), 1, message)
    n_variables, n_rows = values[:2].tolist()
    if len(lines) - 1 != n_rows:
        message = f"{n_rows} constraints are promised, {len(lines) - 1} follow"
        raise fail(int(lines[0]), 1, message)
    rows = values[2:].reshape(-1, 5)
    last, most = n_variables - 1, np.iinfo(np.int32).max
    behind = np.where(rows[:, _TYPE] == _ADDRESS, last - rows[:, _SOURCE], most)
    for field, high, meaning in (
        (_SOURCE, last, f"one of {n_variables} variables"),
        (_DESTINATION, last, f"one of {n_variables} variables"),
        (_TYPE, 3, "a type from 0 to 3"),
        (_OFFSET, behind, "an offset from 0 to the last variable"),
    ):
        bad = (rows[:, field] < 0) | (rows[:, field] > high)
        if bad.any():
            row = int(bad.argmax())
            line = int(lines[row + 1])
            column, word = _word(text, line, field)
            raise fail(line, column, f"the {_FIELDS[field]} is {word}: {meaning} is due")
    return n_variables, rows


@CompilationUnit(__file__).entry_point
def _numbers(text: NDArray[np.uint8], values: I64, line_of: I64) -> tuple[int, int, int]:
    """Write all numbers and their lines; return their count, and line and column of a bad byte."""
    n_values = 0
    line, line_start, place = 1, 0, 0
    while place < len(text):
        byte = text[place]
        if byte == 10:  # \n
            line += 1
            line_start = place + 1
        elif byte == 35 and place == line_start:  # #
            while place + 1 < len(text) and text[place + 1] != 10:
                place += 1
        elif byte == 45 or 48 <= byte <= 57:  # - 0 to 9
            sign = -1 if byte == 45 else 1
            if sign < 0:
                place += 1
            first, value = place, 0
            while place < len(text) and 48 <= text[place] <= 57:
                value = min(10 * value + text[place] - 48, _HUGE)
                place += 1
            ends = place == len(text) or text[place] in (9, 10, 13, 32, 44)
            if place == first or not ends:
                return n_values, line, place - line_start + 1
            values[n_values] = sign * value
            line_of[n_values] = line
            n_values += 1
            continue
        elif byte not in (9, 13, 32, 44):  # \t \r blank comma
            return n_values, line, place - line_start + 1
        place += 1
    return n_values, 0, 0


def _word(text: NDArray[np.uint8], line: int, field: int) -> tuple[int, str]:
    """Return the column where a field of a line begins, and its text."""
    words = bytes(text).split(b"\n")[line - 1].decode("ascii")
    found = list(re.finditer(r"[^\s,]+", words))[field]
    return found.start() + 1, found[0]


def _problem(n_variables: int, rows: I64) -> Problem:
    _id, source, destination, type_, offset = rows.T
    by_type = [type_ == t for t in range(4)]
    moved = by_type[_COPY] & (offset > 0)
    plain = by_type[_COPY] & (offset == 0)
    far = (by_type[_LOAD] | by_type[_STORE]) & (offset > 0)
    pointer = np.where(by_type[_STORE], destination, source)
    pairs, place = np.unique(
        np.stack([pointer[far], offset[far]], axis=1), axis=0, return_inverse=True
    )
    pointer[far] = n_variables + place.ravel()
    load, store, address = by_type[_LOAD], by_type[_STORE], by_type[_ADDRESS]
    temporaries = n_variables + np.arange(len(pairs))
    columns = {
        "contents": np.arange(n_variables),
        "allocation_offsets": _allocations(
            n_variables, source[address], int(offset.max(initial=0))
        ),
        "address_node": destination[address],
        "address_object": source[address] + offset[address],
        "copy_destination": destination[plain],
        "copy_source": source[plain],
        "load_destination": destination[load],
        "load_pointer": pointer[load],
        "store_pointer": pointer[store],
        "store_source": source[store],
        "offset_destination": np.append(destination[moved], temporaries),
        "offset_source": np.append(source[moved], pairs[:, 0]),
        "offset_amount": np.append(offset[moved], pairs[:, 1]),
    }
    as_int32: dict[str, I32] = {name: c.astype(np.int32) for name, c in columns.items()}
    problem = Problem(n_variables + len(pairs), **as_int32)
    check(problem)
    return problem


def _allocations(n_variables: int, taken: I64, largest_offset: int) -> I64:
    """Return where the allocations start: at objects whose address is taken, and behind fields."""
    starts = np.ones(n_variables + 1, bool)
    heads = np.append(np.unique(taken), n_variables)
    ends = np.minimum(heads[1:], heads[:-1] + largest_offset + 1)
    inside = np.zeros(n_variables + 2, np.int64)
    np.add.at(inside, heads[:-1] + 1, 1)
    np.add.at(inside, ends, -1)
    starts[np.cumsum(inside)[: n_variables + 1] > 0] = False
    return np.flatnonzero(starts)
