"""The pipeline of the paper on EigenCFA: binary CPS and abstract encodings, then calls alone.

`transforms.scheme` turns a program into lambdas with two formals and calls with two arguments. To
the engine a lambda is an object and a function, a variable is a node, and so is a lambda as an
expression: there are addresses, functions and calls, which is what the paper's own algorithm takes.
Its sets are those of the program's variables; what the encodings add is not shown.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kleene.analyses.cfa.builder import CONTINUATION, HIDDEN, INSTANCE, LAMBDA
from kleene.analyses.cfa.constraints import ConstraintSystem
from kleene.analyses.cfa.index import Index
from kleene.base.arrays import I32
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.problem import NONE
from kleene.transforms.scheme import Terms, terms_of


def problem_of(terms: Terms) -> Problem:
    """Return the inclusion problem of a program in binary CPS; nodes are its expressions."""
    lambdas = np.arange(terms.n_lambdas, dtype=np.int32)
    none = np.full(len(lambdas), NONE, np.int32)
    return Problem(
        terms.n_variables + terms.n_lambdas,
        contents=none,
        allocation_offsets=np.arange(len(lambdas) + 1, dtype=np.int32),
        address_node=terms.n_variables + lambdas,
        address_object=lambdas,
        function_object=lambdas,
        function_result=none,
        function_rest=none,
        formal_offsets=2 * np.arange(len(lambdas) + 1, dtype=np.int32),
        formals=np.stack([terms.var1, terms.var2], axis=1).ravel(),
        call_callee=terms.fun,
        call_result=np.full(len(terms.fun), NONE, np.int32),
        actual_offsets=2 * np.arange(len(terms.fun) + 1, dtype=np.int32),
        actuals=np.stack([terms.arg1, terms.arg2], axis=1).ravel(),
    )


def generate(core: Core) -> ConstraintSystem:
    """Return what a program says by way of binary CPS; every call of it counts.

    Raises:
        SourceError: the program is not in the paper's language (`cps/no-form`).
    """
    terms, index = terms_of(core), Index(core)
    n_lambdas, origin = terms.n_lambdas, terms.lambda_origin
    kind, which, instances = _functions(core, origin)
    nodes_of: list[list[int]] = [[] for _ in core.names]
    for node in np.flatnonzero(terms.variable_origin != NONE).tolist():
        nodes_of[terms.variable_origin[node]].append(node)
    known = np.flatnonzero(origin != NONE).tolist()
    calls = np.flatnonzero(core.kind == columns.CALL).tolist()
    operators = [index.below(row)[0] for row in calls]
    lets = [pair for pair in zip(calls, operators, strict=True) if index.is_let[pair[1]]]
    n_operands = np.diff(core.operand_offsets)
    return ConstraintSystem(
        core,
        index,
        problem=replace(problem_of(terms), allocation_layout=np.zeros(n_lambdas, np.int32)),
        nodes_of=nodes_of,
        variable_of={node: v for v, nodes in enumerate(nodes_of) for node in nodes},
        row_of={terms.n_variables + n: int(origin[n]) for n in known},
        n_data=n_lambdas,
        object_row=origin,
        procedures={n: (int(kind[n]), int(which[n])) for n in known},
        function_kind=kind,
        function_which=which,
        call_site=terms.call_origin,
        call_size=np.where(terms.call_origin < 0, NONE, n_operands[terms.call_origin] - 1),
        call_operator=terms.fun,
        lets=np.array(lets, np.int32).reshape(-1, 2),
        instances=instances,
        layouts={("procedure", 1): 0},
        hidden=frozenset(np.flatnonzero(origin == NONE).tolist()),
    )


def _functions(core: Core, origin: I32) -> tuple[I32, I32, dict[int, str]]:
    """Return what each lambda is, of which row, and the names of primitives by their sites."""
    kinds = {columns.LAMBDA: LAMBDA, columns.PRIMITIVE: INSTANCE, columns.CALL: CONTINUATION}
    kind = np.full(len(origin), HIDDEN, np.int32)
    for column, function in kinds.items():  # what `call/cc` passes stands for the call
        kind[(origin != NONE) & (core.kind[origin] == column)] = function
    is_primitive = kind == INSTANCE
    which, instances = origin.copy(), dict[int, str]()
    for site, number in enumerate(np.flatnonzero(is_primitive).tolist(), core.n_rows):
        which[number] = site
        instances[site] = core.primitives[core.reference[origin[number]]]
    return kind, which, instances
