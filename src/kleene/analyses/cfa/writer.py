"""The constraints of a program under construction: nodes, data with fields, calls, and gates.

A node of `NONE` holds nothing: constraints on it are not written.

**Gates** make what unreachable code does count for nothing. A token is passed along with every
call, beginning at the top level, so that a procedure's node `here` holds it once the procedure can
be called. The token is an allocation with a place for each gate, and the contents of that place is
the node behind the gate: `gated(n, here)` loads from it, and so holds what n holds, if the code
around is reached at all, and else nothing. Only what has an effect elsewhere goes through a gate:
callees, assigned values, written data, raised conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from kleene.analyses.cfa.calling import Layout
from kleene.analyses.cfa.contexts import Context, Contexts
from kleene.analyses.cfa.shapes import FIELDS, Shapes, Tag
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import NONE

LAMBDA, INSTANCE, OTHER = range(3)  # what a function object is
EVERYWHERE = -2  # the `here` of code that is always reached


class Writer:
    """Columns that grow."""

    def __init__(self, core: Core, layout: Layout, contexts: Contexts) -> None:
        self.n_nodes = core.n_variables
        self.n_rows = core.n_rows
        self.layout = layout
        self.contexts = contexts
        self.context: Context = ()  # of the code that is being written
        self.shapes = Shapes()
        self.token = self.node()
        self.contents: list[int] = []
        self.allocation_ends = [0]
        self.allocation_layout: list[int] = []
        self.object_row: list[int] = []  # per object: the row that makes it
        self.addresses: list[tuple[int, int]] = []
        self.copies: list[tuple[int, int]] = []
        self.loads: list[tuple[int, int]] = []
        self.stores: list[tuple[int, int]] = []
        self.offsets: list[tuple[int, int, int]] = []
        self.procedures: dict[int, tuple[int, int]] = {}  # what each object is that is one
        self.functions: list[tuple[int, int, int]] = []  # object, result, rest
        self.function_is: list[tuple[int, int]] = []  # LAMBDA and row, INSTANCE and site, ...
        self.formal_ends = [0]
        self.formals: list[int] = []
        self.calls: list[tuple[int, int]] = []  # callee, result
        self.call_site: list[int] = []
        self.call_size: list[int] = []  # arguments, or NONE where that is not known
        self.call_operator: list[int] = []  # the callee's node before its gate
        self.call_context: list[Context] = []
        self.actual_ends = [0]
        self.actuals: list[int] = []
        self.gates: list[int] = []
        self._labels: list[int] = []  # of sites that are no rows

    def node(self) -> int:
        """Return a new node."""
        self.n_nodes += 1
        return self.n_nodes - 1

    def here(self) -> int:
        """Return a new node for the token of a procedure, or NONE where all code counts."""
        return self.node() if self.layout.head else NONE

    def copy(self, destination: int, source: int) -> None:
        """Let all that is at `source` be at `destination`."""
        if source != NONE and source != destination:
            self.copies.append((destination, source))

    def union(self, nodes: Iterable[int]) -> int:
        """Return a node that holds what any of these hold."""
        some = sorted({node for node in nodes if node != NONE})
        if len(some) < 2:
            return some[0] if some else NONE
        result = self.node()
        self.copies += [(result, node) for node in some]
        return result

    def gated(self, node: int, here: int) -> int:
        """Return a node with the same values, but none while the code around is not reached."""
        if node == NONE or here == EVERYWHERE or not self.layout.head:
            return node
        self.gates.append(node)
        pointer, result = self.node(), self.node()
        self.offsets.append((pointer, here, len(self.gates)))
        self.loads.append((result, pointer))
        return result

    def data(self, tag: Tag, values: Sequence[int], row: int) -> tuple[int, list[int]]:
        """Return new data with these values in its fields, and the nodes of the fields."""
        cells = [self.node() for _ in values]
        for cell, value in zip(cells, values, strict=True):
            self.copy(cell, value)
        return self._object(tag, cells or [NONE], row), cells

    def box(self, tag: Tag, content: int) -> int:
        """Return new data that holds what is at a node, and lets it be put there."""
        return self._object(tag, [content], NONE)

    def held(self, object: int) -> int:
        """Return a new node that holds an object."""
        node = self.node()
        self.addresses.append((node, object))
        return node

    def list_of(self, items: int, tail: int, row: int) -> int:
        """Return a node with a list of such items, one pair for all of its spine."""
        pair, (car, cdr) = self.data("pair", [NONE, tail], row)
        self.copy(car, items)
        self.addresses.append((cdr, pair))
        return self.held(pair)

    def field(self, tag: Tag, place: int, node: int) -> int:
        """Return a node with what a field holds in the data at `node`."""
        if node == NONE:
            return NONE
        cell, result = self.node(), self.node()
        self.offsets.append((cell, node, self.shapes.amount(tag, place)))
        self.loads.append((result, cell))
        return result

    def get(self, name: str, node: int) -> int:
        """Return a node with what the field of that name holds."""
        return self.field(*FIELDS[name], node)

    def put(self, tag: Tag, place: int, node: int, value: int) -> None:
        """Let the field hold what is at `value` as well, in all data at `node`."""
        if node != NONE and value != NONE:
            cell = self.node()
            self.offsets.append((cell, node, self.shapes.amount(tag, place)))
            self.stores.append((cell, value))

    def spine(self, node: int) -> int:
        """Return a node with the pairs of a list, and what it ends in."""
        if node == NONE:
            return NONE
        every = self.node()
        self.copy(every, node)
        self.copy(every, self.get("cdr", every))
        return every

    def procedure(self, n_places: int, what: tuple[int, int], row: int) -> int:
        """Return a new object for a procedure, the first of so many places."""
        made = self._object("procedure", [NONE] * n_places, row)
        self.procedures[made] = what
        return made

    def function(
        self, object: int, formals: list[int], result: int, rest: int, what: tuple[int, int]
    ) -> None:
        """Let calls of an object pass arguments to these formals, and return this result."""
        self.functions.append((object, result, rest))
        self.function_is.append(what)
        self.formals += formals
        self.formal_ends.append(len(self.formals))

    def closure(self, formals: list[int], result: int, rest: int, what: tuple[int, int]) -> int:
        """Return the object of a new procedure that is the same in all contexts."""
        made = self.procedure(1, what, NONE if what[0] == INSTANCE else what[1])
        self.function(made, formals, result, rest, what)
        return made

    def site(self, label: int) -> int:
        """Return a new site that is no row; `label` is the call that contexts know it by."""
        self._labels.append(label)
        return self.n_rows + len(self._labels) - 1

    def call(self, callee: int, actuals: list[int], site: int, size: int, here: int) -> int:
        """Return the node of a call's result; NONE where nothing is called."""
        if callee == NONE:
            return NONE
        result = self.node()
        self.calls.append((self._chosen(self.gated(callee, here), site), result))
        self.call_operator.append(callee)
        self.call_site.append(site)
        self.call_size.append(size)
        self.actuals += actuals
        self.actual_ends.append(len(self.actuals))
        return result

    def _chosen(self, callee: int, site: int) -> int:
        """Return a node with the callees' copies for the context of a call."""
        label = site if site < self.n_rows else self._labels[site - self.n_rows]
        context = (label, *self.context)
        self.call_context.append(context)
        place = self.contexts.place.get(context[: self.contexts.depth], 0)
        if not place:
            return callee
        copies = self.node()
        self.offsets.append((copies, callee, place))
        return copies

    def token_at(self, here: int) -> int:
        """Return the node that calls in such code pass on as their token."""
        return self.token if here == EVERYWHERE else here

    def problem(self) -> Problem:
        """Return all constraints as a checked problem."""
        if self.layout.head:
            self.addresses.append((self.token, self._object("token", [NONE, *self.gates], NONE)))
        image_rows, image_offsets, landings = self.shapes.tables()
        columns = {
            **_table("address", ("node", "object"), self.addresses),
            **_table("copy", ("destination", "source"), self.copies),
            **_table("load", ("destination", "pointer"), self.loads),
            **_table("store", ("pointer", "source"), self.stores),
            **_table("offset", ("destination", "source", "amount"), self.offsets),
            **_table("function", ("object", "result", "rest"), self.functions),
            **_table("call", ("callee", "result"), self.calls),
        }
        for name, values in (
            ("contents", self.contents),
            ("allocation_offsets", self.allocation_ends),
            ("allocation_layout", self.allocation_layout),
            ("formal_offsets", self.formal_ends),
            ("formals", self.formals),
            ("actual_offsets", self.actual_ends),
            ("actuals", self.actuals),
        ):
            columns[name] = np.array(values, np.int32)
        problem = Problem(
            self.n_nodes,
            image_rows=image_rows,
            image_offsets=image_offsets,
            images=landings,
            **columns,
        )
        check(problem)
        return problem

    def _object(self, tag: Tag, contents: list[int], row: int) -> int:
        first = len(self.contents)
        self.contents += contents
        self.allocation_ends.append(len(self.contents))
        self.allocation_layout.append(self.shapes.shape(tag, len(contents)))
        self.object_row += [row] * len(contents)
        return first


def _table(
    table: str, names: tuple[str, ...], rows: Sequence[tuple[int, ...]]
) -> dict[str, np.ndarray]:
    """Return the columns of a table by their names."""
    flat = np.fromiter(chain.from_iterable(rows), np.int32, len(rows) * len(names))
    columns = flat.reshape(-1, len(names)).T
    return {
        f"{table}_{name}": np.ascontiguousarray(column)
        for name, column in zip(names, columns, strict=True)
    }
