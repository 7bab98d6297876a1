"""A problem written row by row, for analyses that find their constraints one at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from kleene.base.arrays import I32
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import ANY, NONE, Problem


class Builder:
    """Numbers nodes, objects and functions, and collects the rows of the tables."""

    def __init__(self) -> None:
        self.n_nodes = 0
        self._columns: defaultdict[str, list[int]] = defaultdict(list)
        for name in ("allocation_offsets", "formal_offsets", "actual_offsets"):
            self._columns[name].append(0)

    def node(self) -> int:
        """Return a new node, which holds nothing yet."""
        self.n_nodes += 1
        return self.n_nodes - 1

    def object(self, contents: Sequence[int] = (NONE,)) -> int:
        """Return the first object of a new allocation: one for each contents node given."""
        first = len(self._columns["contents"])
        self._columns["contents"] += contents
        self._columns["allocation_offsets"].append(first + len(contents))
        return first

    def function(
        self, formals: Sequence[int] = (), result: int = NONE, rest: int = NONE, object: int = NONE
    ) -> int:
        """Return the object, new unless given, that is a function with these nodes."""
        place = self.object() if object == NONE else object
        self._rows(function_object=place, function_result=result, function_rest=rest)
        self._columns["formals"] += formals
        self._columns["formal_offsets"].append(len(self._columns["formals"]))
        return place

    def address(self, node: int, object: int) -> None:
        """Ask for object ∈ pts(node)."""
        self._rows(address_node=node, address_object=object)

    def copy(self, destination: int, source: int) -> None:
        """Ask for pts(source) ⊆ pts(destination)."""
        self._rows(copy_destination=destination, copy_source=source)

    def load(self, destination: int, pointer: int) -> None:
        """Ask for what the objects at `pointer` contain to be at `destination`."""
        self._rows(load_destination=destination, load_pointer=pointer)

    def store(self, pointer: int, source: int) -> None:
        """Ask for the objects at `pointer` to contain what is at `source`."""
        self._rows(store_pointer=pointer, store_source=source)

    def offset(self, destination: int, source: int, amount: int = ANY) -> None:
        """Ask for what lies `amount` objects behind those at `source` to be at `destination`."""
        self._rows(offset_destination=destination, offset_source=source, offset_amount=amount)

    def call(self, callee: int, actuals: Sequence[int] = (), result: int = NONE) -> int:
        """Ask for what is at `callee` to be called; return the call's number."""
        self._rows(call_callee=callee, call_result=result)
        self._columns["actuals"] += actuals
        self._columns["actual_offsets"].append(len(self._columns["actuals"]))
        return len(self._columns["call_callee"]) - 1

    def flag(self, node: int, flags: int) -> None:
        """Let a node exchange values with the outside: FROM_OUTSIDE, TO_OUTSIDE or both."""
        self._rows(flagged_node=node, flags=flags)

    def problem(self) -> Problem:
        """Return all rows so far as a checked problem."""
        columns = {name: _column(rows) for name, rows in self._columns.items()}
        problem = Problem(self.n_nodes, **columns)
        check(problem)
        return problem

    def _rows(self, **values: int) -> None:
        for name, value in values.items():
            self._columns[name].append(value)


def _column(rows: list[int]) -> I32:
    """Return the rows as int32 where they fit; `check` refuses what does not."""
    column = np.array(rows, None if rows else np.int32)
    fits = column.dtype.kind == "i" and np.array_equal(column.astype(np.int32), column)
    return column.astype(np.int32) if fits else column
