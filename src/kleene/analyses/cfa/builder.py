"""Constraints on Scheme data: the layer above `ConstraintBuilder` that knows tags and gates.

A node of `NONE` holds nothing: no constraint is added on it.

**Gates** make what unreachable code does count for nothing. A token is passed along with every
call, beginning at the top level, so that a procedure's node `here` holds it once the procedure can
be called. The token is an allocation with an object for each gate, and the contents of that object
are the node behind the gate: `gated(n, here)` loads from it, and so holds what n holds if the code
around is reached at all, and else nothing. Only what has an effect elsewhere goes through a gate:
callees, assigned values, written data, raised conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kleene.analyses.cfa.contexts import Context, Contexts
from kleene.analyses.cfa.index import ROOT
from kleene.analyses.cfa.layouts import FIELDS, ArgumentLayout, DataLayouts, Tag
from kleene.base.arrays import I32
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.builder import ConstraintBuilder, Images, Origins
from kleene.solvers.inclusion.check import check
from kleene.solvers.inclusion.problem import NONE

# What a function object is: a lambda, a primitive used as a value, what `call/cc` passes, what
# `make-parameter` returns, a procedure of text that the analysis does not see, a procedure by a
# name that nothing defines, or no procedure of the program at all.
LAMBDA, INSTANCE, CONTINUATION, PARAMETER, TEXT, UNBOUND, HIDDEN = range(7)
EVERYWHERE = -2  # the `here` of code that is always reached


class SchemeBuilder:
    """Adds constraints on the variables of a program, which are the first nodes.

    Data, procedures among them, are known by their allocations. `rules` takes the constraints; the
    notes on an allocation are the row that makes it and, for procedures, what they are; on a
    function, what it is; on a call, the number of arguments (NONE where that is not known), the
    callee's node before its gate, the number of its context, and the procedure it is code of. The
    origin of a call is its site.
    """

    def __init__(self, core: Core, layout: ArgumentLayout, contexts: Contexts) -> None:
        self.rules = ConstraintBuilder(
            core.n_variables,
            allocation=("row", "kind", "which"),
            function=("kind", "which"),
            call=("size", "operator", "context", "procedure"),
        )
        self.n_rows = core.n_rows
        self.layout = layout
        self.contexts = contexts
        self.context: Context = ()  # of the code that constraints are added for
        self.owner = ROOT  # the procedure whose code that is
        self.layouts = DataLayouts()
        self.node = self.rules.node
        self.token = self.node()
        self._gates: list[int] = []  # the nodes behind them
        self._labels: list[int] = []  # of sites that are no rows
        self._context_ids: dict[Context, int] = {}

    def here(self) -> int:
        """Return a new node for the token of a procedure, or NONE where all code counts."""
        return self.node() if self.layout.head else NONE

    def copy(self, destination: int, source: int) -> None:
        """Let all that is at `source` be at `destination`."""
        if source != NONE and source != destination:
            self.rules.copy(destination, source)

    def union(self, nodes: Iterable[int]) -> int:
        """Return a node that holds what any of these hold."""
        some = sorted({node for node in nodes if node != NONE})
        if len(some) < 2:
            return some[0] if some else NONE
        result = self.node()
        for node in some:
            self.rules.copy(result, node)
        return result

    def gated(self, node: int, here: int) -> int:
        """Return a node with the same values, but none while the code around is not reached."""
        if node == NONE or here == EVERYWHERE or not self.layout.head:
            return node
        self._gates.append(node)
        pointer, result = self.node(), self.node()
        self.rules.offset(pointer, here, len(self._gates))
        self.rules.load(result, pointer)
        return result

    def data(self, tag: Tag, values: Sequence[int], row: int) -> tuple[int, list[int]]:
        """Return new data with these values in its fields, and the nodes of the fields."""
        cells = [self.node() for _ in values]
        for cell, value in zip(cells, values, strict=True):
            self.copy(cell, value)
        return self._allocation(tag, cells or [NONE], row), cells

    def box(self, tag: Tag, content: int) -> int:
        """Return new data that holds what is at a node, and lets it be put there."""
        return self._allocation(tag, [content], NONE)

    def held(self, data: int) -> int:
        """Return a new node that holds data."""
        node = self.node()
        self.rules.address(node, data)
        return node

    def list_of(self, items: int, tail: int, row: int) -> int:
        """Return a node with a list of such items, one pair for all of its spine."""
        pair, (car, cdr) = self.data("pair", [NONE, tail], row)
        self.copy(car, items)
        self.rules.address(cdr, pair)
        return self.held(pair)

    def field(self, tag: Tag, offset: int, node: int) -> int:
        """Return a node with what a field holds in the data at `node`."""
        if node == NONE:
            return NONE
        cell, result = self.node(), self.node()
        self.rules.offset(cell, node, self.layouts.amount(tag, offset))
        self.rules.load(result, cell)
        return result

    def get(self, name: str, node: int) -> int:
        """Return a node with what the field of that name holds."""
        return self.field(*FIELDS[name], node)

    def put(self, tag: Tag, offset: int, node: int, value: int) -> None:
        """Let the field hold what is at `value` as well, in all data at `node`."""
        if node != NONE and value != NONE:
            cell = self.node()
            self.rules.offset(cell, node, self.layouts.amount(tag, offset))
            self.rules.store(cell, value)

    def spine(self, node: int) -> int:
        """Return a node with the pairs of a list, and what it ends in."""
        if node == NONE:
            return NONE
        every = self.node()
        self.copy(every, node)
        self.copy(every, self.get("cdr", every))
        return every

    def procedure(self, n_objects: int, what: tuple[int, int], row: int) -> int:
        """Return new data that is a procedure, with an object for each of its contexts."""
        return self._allocation("procedure", [NONE] * n_objects, row, what)

    def function(
        self,
        data: int,
        offset: int,
        formals: list[int],
        result: int,
        rest: int,
        what: tuple[int, int],
    ) -> None:
        """Let calls of an object of data pass arguments to these formals, and return this."""
        self.rules.function(formals, result, rest, data, offset, *what)

    def closure(self, formals: list[int], result: int, rest: int, what: tuple[int, int]) -> int:
        """Return a new procedure that is the same in all contexts."""
        made = self.procedure(1, what, what[1] if what[0] == CONTINUATION else NONE)
        self.function(made, 0, formals, result, rest, what)
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
        label = site if site < self.n_rows else self._labels[site - self.n_rows]
        context = (label, *self.context)
        number = self._context_ids.setdefault(context, len(self._context_ids))
        chosen = self._chosen(self.gated(callee, here), context)
        self.rules.call(chosen, actuals, result, site, size, callee, number, self.owner)
        return result

    def _chosen(self, callee: int, context: Context) -> int:
        """Return a node with the callees' copies for the context of a call."""
        offset = self.contexts.offset.get(context[: self.contexts.depth], 0)
        if not offset:
            return callee
        copies = self.node()
        self.rules.offset(copies, callee, offset)
        return copies

    def token_at(self, here: int) -> int:
        """Return the node that calls in such code pass on as their token."""
        return self.token if here == EVERYWHERE else here

    def finish(self) -> tuple[Problem, Origins]:
        """Return all constraints, checked; the objects of the token are the last ones."""
        if self.layout.head:
            self.rules.address(self.token, self._allocation("token", [NONE, *self._gates], NONE))
        images = Images(self.rules.layouts(), *self.layouts.tables())
        problem, origins = self.rules.finish(images=images)
        check(problem)
        return problem, origins

    def procedures(self, problem: Problem) -> dict[int, tuple[int, int]]:
        """Return what each object is that is the first of a procedure."""
        notes = self.rules.notes("allocation")
        known = np.flatnonzero(notes["kind"] != NONE)
        what = zip(notes["kind"][known].tolist(), notes["which"][known].tolist(), strict=True)
        return dict(zip(problem.allocation_offsets[known].tolist(), what, strict=True))

    def rows_of_objects(self, problem: Problem) -> I32:
        """Return the row that makes each object, or NONE."""
        row = self.rules.notes("allocation")["row"].astype(np.int32)
        return np.repeat(row, np.diff(problem.allocation_offsets))

    def call_contexts(self) -> list[Context]:
        """Return the context of each call: the call, and the context of the code it is in."""
        known = list(self._context_ids)
        return [known[number] for number in self.rules.notes("call")["context"].tolist()]

    def _allocation(
        self, tag: Tag, contents: list[int], row: int, what: tuple[int, int] = (NONE, NONE)
    ) -> int:
        layout = self.layouts.layout(tag, len(contents))
        return self.rules.allocation(contents, layout, row, *what)
