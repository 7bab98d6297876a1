"""From debug metadata to spans and variables, a column at a time.

References between nodes are kept plus one (0 is none); `_follow` takes that off.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.frontends.c.reader.metadata import (
    BLOCK,
    FILE,
    GLOBAL,
    GLOBAL_EXPRESSION,
    LOCAL,
    LOCATION,
    M_ARGUMENT,
    M_BASE,
    M_COLUMN,
    M_DIRECTORY,
    M_FILE,
    M_FILENAME,
    M_INLINED,
    M_KIND,
    M_LINE,
    M_NAME,
    M_SCOPE,
    M_VARIABLE,
    SUBPROGRAM,
)
from kleene.ir.tables import Spans


class SpanBuilder:
    """Spans as they are asked for: locations first, then where things are declared."""

    def __init__(self, nodes: I64, text: Callable[[int], str], add: Callable[[str], int]) -> None:
        """Take the nodes, symbols as text, and a way to make a symbol."""
        self._nodes = nodes
        self._files = self._paths(text, add)
        self._rows: list[I64] = []
        self._n_rows = 0

    def locations(self, nodes: I64) -> I32:
        """Return the span of each location node; -1 stays -1. To be called once, and first."""
        assert not self._rows
        used = self._with_callers(nodes[nodes >= 0])
        place = np.full(len(self._nodes) + 1, -1, np.int64)
        place[used] = np.arange(len(used))
        rows = self._nodes[used]
        scope = _follow(rows[:, M_SCOPE])
        inlined = place[_follow(rows[:, M_INLINED])]
        self._append(scope, rows[:, M_LINE], rows[:, M_COLUMN], inlined)
        return place[nodes].astype(np.int32)

    def declarations(self, nodes: I64) -> I32:
        """Return a span for what each node declares; -1 where it says no line."""
        rows = self._nodes[nodes]
        known = (nodes >= 0) & (rows[:, M_LINE] > 0) & (rows[:, M_FILE] > 0)
        spans = np.full(len(nodes), -1, np.int64)
        spans[known] = self._n_rows + np.arange(int(known.sum()))
        chosen = nodes[known]
        nothing = np.zeros(len(chosen), np.int64)
        self._append(chosen, rows[known, M_LINE], nothing, nothing - 1)
        return spans.astype(np.int32)

    def table(self) -> Spans:
        """Return all spans asked for."""
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, 5), np.int64)
        return Spans(*(np.ascontiguousarray(column, np.int32) for column in rows.T))

    def _append(self, scope: I64, line: I64, column: I64, inlined: I64) -> None:
        """Add rows; the file and the function are those of the scope."""
        file = self._files[_follow(self._nodes[scope, M_FILE])]
        columns = (file, line, column, self._functions(scope), inlined)
        self._rows.append(np.stack(columns, axis=1))
        self._n_rows += len(scope)

    def _functions(self, scope: I64) -> I64:
        """Return the name of the function around each scope, as a symbol."""
        outermost = self._outermost[scope]
        is_function = self._nodes[outermost, M_KIND] == SUBPROGRAM
        return np.where(is_function, self._nodes[outermost, M_NAME], 0)

    @cached_property
    def _outermost(self) -> I64:
        """The scope that is in no other within its function, for each node."""
        nodes = self._nodes
        around = np.arange(len(nodes))
        inner = np.isin(nodes[:, M_KIND], (BLOCK, LOCAL)) & (nodes[:, M_SCOPE] > 0)
        around[inner] = _follow(nodes[inner, M_SCOPE])
        for _ in range(len(nodes).bit_length()):  # pointer doubling
            further = around[around]
            if np.array_equal(further, around):
                break
            around = further
        return around

    def _with_callers(self, nodes: I64) -> I64:
        """Return the location nodes given and those they are inlined at, each once."""
        used = np.zeros(len(self._nodes), bool)
        used[nodes[self._nodes[nodes, M_KIND] == LOCATION]] = True
        fresh = np.flatnonzero(used)
        while len(fresh):
            callers = _follow(self._nodes[fresh, M_INLINED])
            fresh = np.unique(callers[callers >= 0])
            fresh = fresh[~used[fresh]]
            used[fresh] = True
        return np.flatnonzero(used)

    def _paths(self, text: Callable[[int], str], add: Callable[[str], int]) -> I64:
        """Return for each node the symbol of its path, where it is a file; the last is for -1."""
        paths = np.zeros(len(self._nodes) + 1, np.int64)
        for node in np.flatnonzero(self._nodes[:, M_KIND] == FILE):
            name = text(self._nodes[node, M_FILENAME])
            folder = text(self._nodes[node, M_DIRECTORY])
            paths[node] = add(os.path.normpath(os.path.join(folder, name)) if name else "")
        return paths


def variable_nodes(nodes: I64, attached: I64) -> I64:
    """Return the variable node behind each attached expression node; others stay."""
    through = (attached >= 0) & (nodes[attached, M_KIND] == GLOBAL_EXPRESSION)
    return np.where(through, _follow(nodes[attached, M_VARIABLE]), attached)


def names(nodes: I64, chosen: I64) -> I32:
    """Return the source name of each node as a symbol, 0 for -1."""
    return np.where(chosen >= 0, nodes[chosen, M_NAME], 0).astype(np.int32)


def types(nodes: I64, chosen: I64) -> I64:
    """Return the type node of each variable node, -1 for none."""
    is_variable = (chosen >= 0) & np.isin(nodes[chosen, M_KIND], (GLOBAL, LOCAL))
    return np.where(is_variable, _follow(nodes[chosen, M_BASE]), -1)


def argument_numbers(nodes: I64, chosen: I64) -> I32:
    """Return which parameter each variable node is, 0 for none."""
    return nodes[chosen, M_ARGUMENT].astype(np.int32)


def _follow(references: I64) -> I64:
    """Return the nodes referred to, -1 for none."""
    return references - 1
