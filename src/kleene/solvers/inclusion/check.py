"""Problems that are none are refused before anything is solved: table, row and value are named.

Three stages, each only if the one before found nothing: the columns are int32 arrays; the columns
of a table are equally long and its offsets cut it up; every value means something. A stage costs a
few passes over the columns, and reports the first bad row of each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, distinct, ragged
from kleene.base.errors import SourceError, raise_all
from kleene.solvers.inclusion.problem import BY_LAYOUT, FROM_OUTSIDE, NONE, TO_OUTSIDE, Problem

_TABLES = (
    ("address_node", "address_object"),
    ("copy_destination", "copy_source"),
    ("load_destination", "load_pointer"),
    ("store_pointer", "store_source"),
    ("offset_destination", "offset_source", "offset_amount"),
    ("function_object", "function_result", "function_rest"),
    ("call_callee", "call_result"),
    ("flagged_node", "flags"),
)
_NODES = (
    *("address_node", "copy_destination", "copy_source", "load_destination", "load_pointer"),
    *("store_pointer", "store_source", "offset_destination", "offset_source"),
    *("call_callee", "flagged_node"),
)
_NODES_OR_NONE = (
    *("contents", "function_result", "function_rest", "formals", "call_result", "actuals"),
)
_OBJECTS = ("address_object", "function_object", "constant_object")


def check(problem: Problem) -> None:
    """Raise one error for each column that makes `problem` meaningless."""
    for stage in (_kinds, _lengths, _values):
        raise_all(stage(problem))


def _kinds(problem: Problem) -> Iterator[SourceError]:
    n_nodes: object = problem.n_nodes
    if not isinstance(n_nodes, int) or not 0 <= n_nodes <= np.iinfo(np.int32).max:
        message = f"n_nodes is {n_nodes!r}: it must be an int from 0 to 2^31 - 1"
        yield SourceError(None, "inclusion/bad-size", message)
    for name, column in problem.columns().items():
        if (found := _kind(column)) != "an int32 array":
            message = f"{name} is {found}: it must be an int32 array of one dimension"
            yield SourceError(None, "inclusion/bad-column", message)


def _kind(column: object) -> str:
    if not isinstance(column, np.ndarray):
        return f"a {type(column).__name__}"
    if column.dtype != np.int32:
        return f"an array of {column.dtype}"
    if column.ndim != 1:
        return f"an array of {column.ndim} dimensions"
    return "an int32 array" if column.flags.c_contiguous else "a view with strides"


def _lengths(problem: Problem) -> Iterator[SourceError]:
    columns = problem.columns()
    for names in _TABLES:
        lengths = [len(columns[name]) for name in names]
        if len(set(lengths)) > 1:
            rows = ", ".join(f"{n} has {length}" for n, length in zip(names, lengths, strict=True))
            yield SourceError(None, "inclusion/bad-length", f"rows of one table differ: {rows}")
    n_allocations = max(len(problem.allocation_offsets) - 1, 0)
    n_rows = max(len(problem.image_offsets) - 1, 0)
    for name, owners, n_owners, what, length in (
        ("allocation_offsets", "allocations", n_allocations, "objects", problem.n_objects),
        ("image_offsets", "rows", n_rows, "images", len(problem.images)),
        ("formal_offsets", "functions", problem.n_functions, "formals", len(problem.formals)),
        ("actual_offsets", "calls", problem.n_calls, "actuals", len(problem.actuals)),
    ):
        if wrong := _cut(columns[name], owners, n_owners, what, length):
            yield SourceError(None, "inclusion/bad-offsets", f"{name}: {wrong}")


def _cut(offsets: I32, owners: str, n_owners: int, what: str, n_rows: int) -> str | None:
    """Return what keeps `offsets` from cutting the rows into one part for each owner."""
    if len(offsets) != n_owners + 1:
        return f"{len(offsets)} rows, but {n_owners} {owners} need {n_owners + 1}"
    if offsets[0] != 0:
        return f"row 0 holds {offsets[0]}: the first offset is 0"
    if (falls := np.flatnonzero(offsets[1:] < offsets[:-1])).size:
        row = int(falls[0]) + 1
        return f"row {row} holds {offsets[row]}, less than {offsets[row - 1]} before it"
    if offsets[-1] != n_rows:
        return f"row {n_owners} holds {offsets[-1]}, but there are {n_rows} {what}"
    return None


def _values(problem: Problem) -> Iterator[SourceError]:
    columns = problem.columns()
    n_nodes, n_objects = problem.n_nodes, problem.n_objects
    for name in (*_NODES, *_NODES_OR_NONE):
        low = NONE if name in _NODES_OR_NONE else 0
        meaning = f"which is none of {n_nodes} nodes"
        yield from _range(columns, "inclusion/no-such-node", name, low, n_nodes - 1, meaning)
    for name in _OBJECTS:
        meaning = f"which is none of {n_objects} objects"
        yield from _range(columns, "inclusion/no-such-object", name, 0, n_objects - 1, meaning)
    yield from _images(problem, columns)
    meaning, most = "which is no amount, ANY or offset kind", np.iinfo(np.int32).max
    least = BY_LAYOUT + 1 - problem.n_offset_kinds
    yield from _range(columns, "inclusion/bad-amount", "offset_amount", least, most, meaning)
    meaning, most = "which is no sum of known flags", FROM_OUTSIDE | TO_OUTSIDE
    yield from _range(columns, "inclusion/bad-flags", "flags", 0, most, meaning)
    yield from _twice(problem.function_object)
    bad = np.isin(problem.constant_object, problem.function_object)
    if bad.any():
        meaning = "which is a function: these have no constant contents"
        yield _bad(
            problem.constant_object, "inclusion/constant-function", "constant_object", bad, meaning
        )


def _images(problem: Problem, columns: dict[str, I32]) -> Iterator[SourceError]:
    """Refuse images outside their allocation, or layouts of more than one size."""
    layout, sizes = problem.allocation_layout, np.diff(problem.allocation_offsets)
    if not len(layout) and not len(problem.image_rows):
        return
    if len(layout) != len(sizes) or len(problem.image_rows) % max(problem.n_layouts, 1):
        message = (
            f"{len(sizes)} allocations have {len(layout)} layouts, and {problem.n_layouts} layouts"
            f" {len(problem.image_rows)} rows: a layout for each allocation, a row for each layout"
        )
        yield SourceError(None, "inclusion/bad-length", message)
        return
    meaning = "which is no layout"
    if found := list(
        _range(columns, "inclusion/bad-image", "allocation_layout", 0, len(layout), meaning)
    ):
        yield from found
        return
    size = np.zeros(problem.n_layouts, np.int64)
    size[layout] = sizes
    if (size[layout] != sizes).any():
        meaning = "but allocations of that layout differ in size"
        yield _bad(
            layout, "inclusion/bad-image", "allocation_layout", size[layout] != sizes, meaning
        )
    sizes_of_rows = np.tile(size, problem.n_offset_kinds)
    ends = problem.image_rows + sizes_of_rows
    bad = (problem.image_rows < NONE) | (problem.image_rows >= 0) & (
        ends >= len(problem.image_offsets)
    )
    if bad.any():
        meaning = f"but there are {len(problem.image_offsets) - 1} rows of images"
        yield _bad(problem.image_rows, "inclusion/bad-image", "image_rows", bad, meaning)
        return
    largest = np.full(len(problem.image_offsets) - 1, np.iinfo(np.int32).max, np.int64)
    used = problem.image_rows >= 0
    blocks = distinct(problem.image_rows[used].astype(np.int64) << 32 | sizes_of_rows[used])
    row, n_places = blocks >> 32, blocks & 0xFFFFFFFF
    owner, place = ragged(row, row + n_places)
    np.minimum.at(largest, place, n_places[owner])  # where blocks overlap, the least counts
    most = np.repeat(largest, np.diff(problem.image_offsets))
    bad = problem.images.view(np.uint32) >= most  # what is negative is large
    if bad.any():
        meaning = "which is outside the allocation"
        yield _bad(problem.images, "inclusion/bad-image", "images", bad, meaning)


def _range(
    columns: dict[str, I32], id: str, name: str, low: int, high: int, meaning: str
) -> Iterator[SourceError]:
    column = columns[name]
    if column.size and not low <= column.min() <= column.max() <= high:
        yield _bad(column, id, name, (column < low) | (column > high), meaning)


def _twice(objects: I32) -> Iterator[SourceError]:
    order = np.argsort(objects, kind="stable")
    again = objects[order][1:] == objects[order][:-1]
    if again.any():
        bad = np.zeros(len(objects), bool)
        bad[order[1:][again]] = True
        meaning = "which is a function already"
        yield _bad(objects, "inclusion/function-twice", "function_object", bad, meaning)


def _bad(column: I32, id: str, name: str, bad: NDArray[np.bool_], meaning: str) -> SourceError:
    row, n_more = int(bad.argmax()), int(np.count_nonzero(bad)) - 1
    notes = [f"{n_more} more rows of {name} are wrong likewise"] if n_more else []
    return SourceError(None, id, f"{name}: row {row} holds {column[row]}, {meaning}", *notes)
