"""Values as JSON and as bytes.

Both hold the variables and, component after component, the bounds with their scale. Bounds are
closed anew when they are read, so that nobody's file can make an answer wrong that follows from its
bounds.

`read_matrix` and `write_matrix` are for square matrices of bounds, as other tools keep them: row
and column 2k stand for variable k, 2k+1 for its negation; entry [i][j] bounds V'[j] - V'[i].
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from kleene.algebra import dbm
from kleene.algebra.linear import Bound, Variable, exactly
from kleene.algebra.partition import Component
from kleene.algebra.state import Fact, State, fact_of
from kleene.algebra.transfer import TransferFunctions
from kleene.base.errors import SourceError
from kleene.kernels.minplus import infinity, size

VERSION = 2
_MAGIC = b"kleene-octagon\n"


def as_data(state: State, domain: str) -> dict[str, Any]:
    """Return the value as plain data, ready for JSON."""
    return {
        "version": VERSION,
        "domain": domain,
        "integers": [name for name, is_integer in state.variables.items() if is_integer],
        "reals": [name for name, is_integer in state.variables.items() if not is_integer],
        "floats": state.is_float,
        "empty": state.is_empty,
        "components": [_as_data(component) for component in state.partition],
    }


def _as_data(component: Component) -> dict[str, Any]:
    """Return a component as data: integers, floats in hexadecimal, None for no bound."""
    free = infinity(component.cells.dtype)
    is_float = component.cells.dtype == dbm.FLOAT
    plain = [None if x == free else x for x in component.cells.tolist()]
    cells = [x if x is None else x.hex() for x in plain] if is_float else plain
    return {"names": list(component.names), "scale": component.scale, "cells": cells}


def read_components(builder: TransferFunctions, data: dict[str, Any]) -> None:
    """Add the bounds of every component.

    Raises:
        SourceError: `algebra/bad-data`.
    """
    try:
        if data["empty"]:
            builder.clear()
        for component in data["components"]:
            builder.impose(_facts(component))
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise bad_data(f"a component is malformed: {error}") from None


def _facts(component: dict[str, Any]) -> list[Fact]:
    names, scale, cells = component["names"], component["scale"], component["cells"]
    if len(cells) != size(len(names)):
        raise ValueError(f"{len(names)} variables have {size(len(names))} cells, not {len(cells)}")
    i, j = (column.tolist() for column in dbm.stored(len(names)))
    return [
        fact_of(names, row, column, _bound(value, scale))
        for row, column, value in zip(i, j, cells, strict=True)
        if value is not None and row != column
    ]


def _bound(value: Any, scale: int) -> Bound:
    bound = exactly(float.fromhex(value) if isinstance(value, str) else value) / scale
    if bound in (inf, -inf):
        raise ValueError("a bound is infinite")
    return bound


def checked(data: Any, domain: str) -> dict[str, Any]:
    """Return the data if it is of this domain and version.

    Raises:
        SourceError: `algebra/bad-data`.
    """
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise bad_data("this is no value of this version of Kleene")
    if data.get("domain") != domain:
        raise bad_data(f"this is a value of {data.get('domain')!r}, not of {domain!r}")
    return data


def bad_data(why: str) -> SourceError:
    """Return the error for data that is no value."""
    return SourceError(None, "algebra/bad-data", why, "`to_json` and `to_bytes` write what is read")


def to_text(data: dict[str, Any]) -> str:
    """Return the data as JSON."""
    return json.dumps(data, separators=(",", ":"))


def of_text(text: str | bytes) -> Any:
    """Return the data of JSON.

    Raises:
        SourceError: `algebra/bad-data`.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise bad_data(f"this is not JSON: {error}") from None


def to_bytes(data: dict[str, Any]) -> bytes:
    """Return the data in few bytes."""
    return _MAGIC + zlib.compress(to_text(data).encode())


def of_bytes(packed: bytes) -> Any:
    """Return the data of `to_bytes`.

    Raises:
        SourceError: `algebra/bad-data`.
    """
    if not packed.startswith(_MAGIC):
        raise bad_data("these bytes are no value of Kleene's")
    try:
        return of_text(zlib.decompress(packed.removeprefix(_MAGIC)))
    except zlib.error as error:
        raise bad_data(f"the bytes are damaged: {error}") from None


def read_matrix(builder: TransferFunctions, names: Sequence[Variable], matrix: Any) -> None:
    """Add the bounds of a coherent matrix.

    Raises:
        SourceError: `algebra/bad-matrix` for a wrong shape, or entries for one bound that differ;
            `algebra/bad-number` for NaN.
    """
    n = 2 * len(names)
    try:
        rows = [list(row) for row in matrix]
    except TypeError:
        rows = []
    if len(rows) != n or any(len(row) != n for row in rows):
        message = f"{len(names)} variables take a matrix of {n} rows and columns"
        raise SourceError(None, "algebra/bad-matrix", message)
    values = [[exactly(_plain(x)) for x in row] for row in rows]
    facts = [_entry_fact(names, values, i, j) for i in range(n) for j in range((i | 1) + 1)]
    if any(bound < 0 for terms, bound in facts if not terms):
        builder.clear()
    builder.impose([fact for fact in facts if fact[0]])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _entry_fact(names: Sequence[Variable], values: list[list[Bound]], i: int, j: int) -> Fact:
    """Return what entry [i][j] says; with no variables, on the diagonal."""
    bound = values[i][j]
    if bound != values[j ^ 1][i ^ 1]:
        message = f"entries [{i}][{j}] and [{j ^ 1}][{i ^ 1}] bound the same but differ"
        raise SourceError(None, "algebra/bad-matrix", message)
    if bound == -inf:
        raise SourceError(None, "algebra/bad-number", f"entry [{i}][{j}] is minus infinity")
    return fact_of(names, i, j, bound)


def write_matrix(state: State, names: Sequence[Variable]) -> list[list[Bound]]:
    """Return the closed matrix of some variables; -infinity everywhere of an empty state."""
    n = 2 * len(names)
    if state.is_empty:
        return [[-inf] * n for _ in range(n)]
    near = state.here()
    return [[_entry(near, names, i, j) for j in range(n)] for i in range(n)]


def _entry(state: State, names: Sequence[Variable], i: int, j: int) -> Bound:
    x, sign = names[j >> 1], -1 if j & 1 else 1
    if i == j:
        return exactly(0)
    if i == j ^ 1:
        return 2 * state.single(x, sign)
    return state.pair(x, sign, names[i >> 1], 1 if i & 1 else -1)
