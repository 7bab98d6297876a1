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

from kleene.base.arrays import I32, I64
from kleene.base.errors import SourceError, Span
from kleene.base.files import read_file
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import Problem

_FIELDS = ("id", "source", "destination", "type", "offset")
_SOURCE, _DESTINATION, _TYPE, _OFFSET = 1, 2, 3, 4
_ADDRESS, _COPY, _LOAD, _STORE = range(4)
_HUGE = 1 << 40  # any number beyond int32 will do: it is refused by its value
# Ends at the first byte of a word that makes it no number
_NO_NUMBER = re.compile(rb"(?<![^\s,])(?:-?+[0-9]*+(?=[^\s,])|-(?![^\s,]))")


def read_text(path: Path | str) -> Problem:
    """Return the problem in a text file, checked."""
    try:
        text = read_file(path)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise SourceError(Span(str(path)), "inclusion/unreadable", message) from None
    n_variables, rows = _rows(str(path), re.sub(rb"(?m)^#.*", b"", text))
    return _problem(n_variables, rows)


def _rows(path: str, text: bytes) -> tuple[int, I64]:
    """Return the number of variables and the constraints; raise for the first wrong line."""

    def fail(line: int, column: int, message: str) -> SourceError:
        return SourceError(Span(path, line, column), "inclusion/bad-text", message)

    if bad := _NO_NUMBER.search(text):
        line, column = (
            text.count(b"\n", 0, bad.end()) + 1,
            bad.end() - text.rfind(b"\n", 0, bad.end()),
        )
        raise fail(line, column, "a number is due here")
    words = {line: found for line, found in enumerate(map(_words, text.split(b"\n")), 1) if found}
    lines = list(words)
    if not lines or len(words[lines[0]]) != 2:
        first = lines[0] if lines else 1
        raise fail(first, 1, "the first line has two numbers: variables and constraints")
    for line in lines[1:]:
        if len(words[line]) != 5:
            message = f"{len(words[line])} numbers, but a constraint has five: {' '.join(_FIELDS)}"
            raise fail(line, 1, message)
    n_variables, n_rows = map(_number, words[lines[0]])
    if not 0 <= n_variables <= np.iinfo(np.int32).max:
        raise fail(lines[0], 1, f"there can be no {words[lines[0]][0].decode()[:20]} variables")
    if len(lines) - 1 != n_rows:
        message = f"{n_rows} constraints are promised, {len(lines) - 1} follow"
        raise fail(lines[0], 1, message)
    numbers = [_number(word) for line in lines[1:] for word in words[line]]
    rows = np.array(numbers, np.int64).reshape(-1, 5)
    last, most = n_variables - 1, np.iinfo(np.int32).max
    behind = np.where(rows[:, _TYPE] == _ADDRESS, last - rows[:, _SOURCE], most)
    for field, high, meaning in (
        (_SOURCE, last, f"one of {n_variables} variables"),
        (_DESTINATION, last, f"one of {n_variables} variables"),
        (_TYPE, 3, "a type from 0 to 3"),
        (_OFFSET, behind, "an offset from 0 to the last variable"),
    ):
        wrong = (rows[:, field] < 0) | (rows[:, field] > high)
        if wrong.any():
            line = lines[int(wrong.argmax()) + 1]
            word = list(re.finditer(rb"[^\s,]+", text.split(b"\n")[line - 1]))[field]
            message = f"the {_FIELDS[field]} is {word[0].decode()}: {meaning} is due"
            raise fail(line, word.start() + 1, message)
    return n_variables, rows


def _number(word: bytes) -> int:
    """Return a number; for one of more digits than Python reads another that is refused too."""
    digits = word.lstrip(b"-0")
    if len(digits) > 12:
        return -_HUGE if word.startswith(b"-") else _HUGE
    return int(word)


def _words(line: bytes) -> list[bytes]:
    return line.replace(b",", b" ").split()


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
