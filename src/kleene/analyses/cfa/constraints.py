"""A program as an inclusion problem, and what the numbers in it stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.cfa.builder import LAMBDA
from kleene.analyses.cfa.contexts import Context, Contexts, called
from kleene.analyses.cfa.frames import Frames
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.shapes import Tag
from kleene.base.arrays import I32
from kleene.base.collector import paused_collector
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion import Problem, Solution


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintSystem:
    """What a program says about its procedures, and what the numbers in it stand for.

    A *site* is the row of a call. A primitive that is used as a value has a site of its own, n_rows
    and more: the calls it makes belong to whoever calls it.
    """

    core: Core
    index: Index
    problem: Problem
    contexts: Contexts
    counts_reachable: bool
    nodes_of: list[list[int]]  # per variable: its nodes
    variable_of: dict[int, int]  # per node of a variable
    row_of: dict[int, int]  # per node of an expression: its row
    here_of: dict[int, list[int]]  # per lambda that makes closures: the nodes of its tokens
    n_data: int  # objects but for the token's
    object_row: I32  # per object: the row that makes it, or NONE
    procedures: dict[int, tuple[int, int]]  # objects that are procedures: what a function is
    function_kind: I32  # LAMBDA, INSTANCE, OTHER
    function_row: I32  # the lambda's row, or the instance's site
    call_site: I32
    call_size: I32  # arguments, or NONE where that is not known
    call_operator: I32  # nodes
    call_context: list[Context]  # the call, and the context of the code it is in
    lets: I32  # (n, 2): call and lambda rows
    evaluations: tuple[tuple[int, int], ...]  # sites of `eval` and `load`, and of their texts
    instances: dict[int, str]  # primitives used as values, by their sites
    shapes: dict[tuple[Tag, int], int]
    hidden: frozenset[int] = frozenset()  # objects that are no values of the program

    @property
    def is_lambda(self) -> NDArray[np.bool_]:
        """Whether each function is a lambda of the program, in one of its contexts."""
        found: NDArray[np.bool_] = self.function_kind == LAMBDA
        return found

    def foresaw(self, solution: Solution) -> bool:
        """Return whether the contexts of all calls of a solution had been found before."""
        return not self.contexts.depth or all(
            self.contexts.has(row, self.call_context[call]) for call, row in called(self, solution)
        )


def generate(index: Index, counts_reachable: bool, contexts: Contexts) -> ConstraintSystem:
    """Return the constraints of a program; see `CFA` for what `counts_reachable` means."""
    with paused_collector():
        work = Frames(index, counts_reachable, contexts)
        work.write()
        return _system(work)


def _system(work: Frames) -> ConstraintSystem:
    """Return the constraints, and what their numbers stand for."""
    w, index = work.builder, work.index
    n_allocations = w.rules.n_allocations  # but for the token
    problem, origins = w.finish()
    function, call = w.rules.notes("function"), w.rules.notes("call")
    nodes_of = work.nodes_of()
    variable_of = {node: v for v, nodes in enumerate(nodes_of) for node in nodes}
    return ConstraintSystem(
        core=index.core,
        index=index,
        problem=problem,
        contexts=work.contexts,
        counts_reachable=work.counts_reachable,
        nodes_of=nodes_of,
        variable_of=variable_of,
        row_of={node: row for node, row in work.row_of.items() if node not in variable_of},
        here_of=work.here_of,
        n_data=int(problem.allocation_offsets[n_allocations]),
        object_row=w.rows_of_objects(problem),
        procedures=w.procedures(problem),
        function_kind=function["kind"].astype(np.int32),
        function_row=function["which"].astype(np.int32),
        call_site=origins.call,
        call_size=call["size"].astype(np.int32),
        call_operator=call["operator"].astype(np.int32),
        call_context=w.call_contexts(),
        lets=np.array(sorted(work.lets.items()), np.int32).reshape(-1, 2),
        evaluations=tuple(sorted(set(work.primitives.evaluations))),
        instances=work.instances,
        shapes=w.shapes.shapes,
    )
