"""Octagons from and to square matrices of bounds, as other tools keep them.

Row and column 2k stand for variable k, 2k+1 for its negation; entry [i][j] bounds V'[j] - V'[i].
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from kleene.algebra.draft import Draft, Fact
from kleene.algebra.linear import Bound, exactly
from kleene.algebra.state import State
from kleene.base.errors import SourceError


def read(draft: Draft, names: Sequence[str], matrix: Any) -> None:
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
    facts = [_fact(names, values, i, j) for i in range(n) for j in range((i | 1) + 1)]
    if any(bound < 0 for terms, bound in facts if not terms):
        draft.clear()
    draft.impose([fact for fact in facts if fact[0]])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _fact(names: Sequence[str], values: list[list[Bound]], i: int, j: int) -> Fact:
    """Return what entry [i][j] says; with no variables, on the diagonal."""
    bound = values[i][j]
    if bound != values[j ^ 1][i ^ 1]:
        message = f"entries [{i}][{j}] and [{j ^ 1}][{i ^ 1}] bound the same but differ"
        raise SourceError(None, "algebra/bad-matrix", message)
    if bound == -inf:
        raise SourceError(None, "algebra/bad-number", f"entry [{i}][{j}] is minus infinity")
    if i == j:
        return (), bound
    plus = names[j >> 1], -1 if j & 1 else 1
    if i == j ^ 1:
        return (plus,), bound / 2
    return (plus, (names[i >> 1], 1 if i & 1 else -1)), bound


def write(state: State, names: Sequence[str]) -> list[list[Bound]]:
    """Return the closed matrix of some variables; -infinity everywhere of an empty state."""
    n = 2 * len(names)
    if state.is_empty:
        return [[-inf] * n for _ in range(n)]
    near = state.here()
    return [[_entry(near, names, i, j) for j in range(n)] for i in range(n)]


def _entry(state: State, names: Sequence[str], i: int, j: int) -> Bound:
    x, sign = names[j >> 1], -1 if j & 1 else 1
    if i == j:
        return exactly(0)
    if i == j ^ 1:
        return 2 * state.single(x, sign)
    return state.pair(x, sign, names[i >> 1], 1 if i & 1 else -1)
