"""Contexts: which calls of a procedure are told apart, and where their copies are found.

The context of a call is the call itself, then the context of the code that makes it, cut to m. This
is m-CFA (Might, Smaragdakis and Van Horn, PLDI 2010): the m topmost frames of the stack. A
procedure's code is written down once for each of its contexts, with variables and data of its own.

Which contexts there are is not known before the analysis. But those of length m are among the calls
that the solution with m - 1 has found, in the contexts where it found them: they grow by solving.

A closure is an allocation with an object for each context of its procedure, and what flows through
the program is the first. A call in context c goes on to the object at `offset[c]`, whichever
procedure it meets: contexts in which one procedure can be called have different offsets. Procedures
with a single context have a single object, which every offset leads to.

**A budget** bounds what is written down: above it, the procedures that take most have one context,
and are *merged*. What is found then may be more than shorter contexts have found, so calls may come
in contexts that these did not show. They are for the context (), which all procedures have then, as
their first object and wherever no other context has one; or they meet the object of another
context. Either is the procedure's own code: nothing is lost.

**Captures** say which variables of other procedures a procedure needs, and which of them are
assigned. Only variables of procedures that are written down more than once are asked for: all
others are one node, whoever reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.cfa.index import ROOT, Index
from kleene.ir.scheme import core as columns

if TYPE_CHECKING:
    from kleene.analyses.cfa.constraints import ConstraintSystem
    from kleene.solvers.inclusion import Solution

Context = tuple[int, ...]  # calls, the last first: rows, or labels of other sites


@dataclass(frozen=True, slots=True, eq=False)
class Contexts:
    """The contexts of each lambda; one that is not in `of` was never called, or all have one."""

    depth: int = 0  # calls in the longest context
    of: dict[int, dict[Context, int]] = field(default_factory=dict)  # with their offsets
    offset: dict[Context, int] = field(default_factory=dict)  # that calls go on to, if not to 0
    n_objects: dict[int, int] = field(default_factory=dict)  # of closures with several
    merged: frozenset[int] = frozenset()  # lambdas that would have had too many

    def has(self, row: int, call: Context) -> bool:
        """Return whether a call of a lambda, in whatever context, has a copy of it."""
        found = self.of.get(row, {(): 0} if self.merged else {})
        return call[: self.depth] in found or () in found

    def are_many(self, row: int) -> bool:
        """Return whether a lambda's code is written down more than once."""
        return row in self.n_objects


def longer(
    system: ConstraintSystem, solution: Solution, depth: int, only_local: bool, budget: int
) -> Contexts:
    """Return the contexts that a solution's calls make, within a budget.

    With `only_local`, all contexts are one but for local procedures. The budget is how much may be
    written down: rows of code, and objects of closures. Where the contexts would take more, the
    procedures that take most have one context.
    """
    s, pairs = system, sorted(called(system, solution))
    local = _local(s.index) if only_local else set()
    one = {row for _, row in pairs if row not in local} if only_local else set()
    before = s.contexts.merged
    merged = before | _too_many(s.index, _found(s, pairs, depth, one | before), budget)
    found = _found(s, pairs, depth, one | merged)
    if not s.counts_reachable:  # code that is no longer called counts in the contexts it had
        for row in s.contexts.of.keys() - found.keys():
            found[row] = {()} if row in merged else set(s.contexts.of[row])
    several = {row: contexts for row, contexts in found.items() if len(contexts) > 1}
    offset = _offsets(several, int(bool(merged)))
    of = {
        row: {context: offset[context] if row in several else 0 for context in sorted(contexts)}
        for row, contexts in found.items()
    }
    if merged:
        of = {row: {(): 0, **(known if row in several else {})} for row, known in of.items()}
    n_objects = {row: 1 + max(of[row].values()) for row in several}
    offset = {context: where for context, where in offset.items() if where}
    return Contexts(depth, of, offset, n_objects, merged)


def _found(
    s: ConstraintSystem, pairs: list[tuple[int, int]], depth: int, one: Set[int]
) -> dict[int, set[Context]]:
    """Return the contexts of each lambda, given its calls and the lambdas that have only one.

    A call in the code of such a lambda has the context of that code: the call, and nothing else.
    """
    found: dict[int, set[Context]] = {}
    for call, row in pairs:
        length = 0 if row in one else 1 if s.call_procedure[call] in one else depth
        found.setdefault(row, set()).add(s.call_context[call][:length])
    return found


def _too_many(index: Index, found: dict[int, set[Context]], budget: int) -> set[int]:
    """Return the procedures to be left without contexts so that the rest keeps to a budget.

    A procedure with n contexts is written down n times, r rows each. Each of the f frames that its
    lambda stands in makes closures of their own, with n objects each, which are functions with
    formals. So it takes n * (r + 3 * f), and f is the number of contexts of the procedure around:
    merging that one makes the procedures in it cheaper as well.
    """
    n_rows = Counter(index.procedure)
    inside: dict[int, list[int]] = {}
    for row in found:
        inside.setdefault(index.procedure[row], []).append(row)
    size = {row: len(contexts) for row, contexts in found.items()}

    def cost(row: int) -> int:
        return size[row] * (n_rows[row] + 3 * size.get(index.procedure[row], 1))

    total, merged = sum(map(cost, found)), set[int]()
    heap = [(-cost(row), row) for row in found]
    heapify(heap)
    while total > budget and heap:
        before, row = heappop(heap)
        now = cost(row)
        if size[row] == 1 or row in merged:
            continue
        if now < -before:  # the one around was merged since
            heappush(heap, (-now, row))
            continue
        around = [row, *inside.get(row, ())]
        total -= sum(map(cost, around))
        size[row] = 1
        merged.add(row)
        total += sum(map(cost, around))
    return merged


def called(system: ConstraintSystem, solution: Solution) -> Iterable[tuple[int, int]]:
    """Return the calls of a solution and the lambdas they meet, each pair once."""
    call, function = solution.call_edges.T
    row = np.where(system.is_lambda[function], system.function_which[function], -1)
    pairs = np.unique(call[row >= 0].astype(np.int64) << 32 | row[row >= 0])
    return zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True)


def _local(index: Index) -> set[int]:
    """Return the lambdas that a `let`, `letrec` or inner `define` gives a name."""
    found: set[int] = set()
    for row in np.flatnonzero(index.core.kind == columns.LETREC).tolist():
        found.update(index.below(row)[:-1])
    for row in np.flatnonzero(index.core.kind == columns.CALL).tolist():
        operator, *values = index.below(row)
        if index.is_let[operator]:
            found.update(values)
    return {row for row in found if index.kind[row] == columns.LAMBDA}


def _offsets(several: dict[int, set[Context]], first: int) -> dict[Context, int]:
    """Return an offset for each context from the first on, no two the same for one lambda.

    Contexts that several lambdas share choose first, so that the others can fill what is left.
    """
    sharing: dict[Context, list[int]] = {}
    for row, contexts in several.items():
        for context in contexts:
            sharing.setdefault(context, []).append(row)
    taken = dict.fromkeys(several, (1 << first) - 1)  # a bit for each offset
    offset: dict[Context, int] = {}
    for context in sorted(sharing, key=lambda context: (-len(sharing[context]), context)):
        every = 0
        for row in sharing[context]:
            every |= taken[row]
        lowest = ~every & (every + 1)
        for row in sharing[context]:
            taken[row] |= lowest
        offset[context] = lowest.bit_length() - 1
    return offset


@dataclass(frozen=True, slots=True, eq=False)
class Captures:
    """Variables by the lambda whose closures capture them, or whose code binds them."""

    captured: dict[int, list[int]]
    own: dict[int, list[int]]
    boxed: set[int]  # variables that are assigned: closures capture a box


def captures_of(index: Index, contexts: Contexts) -> Captures:
    """Return the captured variables of a program with these contexts."""
    core = index.core
    binder = [ROOT if owner < 0 else index.inside(owner) for owner in core.owner.tolist()]
    own: dict[int, list[int]] = {}
    for variable, procedure in enumerate(binder):
        if contexts.are_many(procedure):
            own.setdefault(procedure, []).append(variable)
    captured: dict[int, set[int]] = {}
    if own:
        is_use = (core.kind == columns.VARIABLE) | (core.kind == columns.SET)
        for row in np.flatnonzero(is_use).tolist():
            variable, procedure = index.reference[row], index.procedure[row]
            if contexts.are_many(binder[variable]):
                _capture(captured, variable, procedure, binder[variable], index.procedure)
    boxed = {v for variables in own.values() for v in variables if core.is_assigned[v]}
    return Captures({row: sorted(found) for row, found in captured.items()}, own, boxed)


def _capture(
    captured: dict[int, set[int]], variable: int, procedure: int, binder: int, around: list[int]
) -> None:
    """Let all procedures from the one that uses a variable up to its binder's capture it."""
    while procedure != binder and variable not in captured.setdefault(procedure, set()):
        captured[procedure].add(variable)
        procedure = around[procedure]


def captured_anywhere(index: Index) -> set[int]:
    """Return the lambdas that use variables of procedures around them."""
    core, captured = index.core, dict[int, set[int]]()
    binder = [ROOT if owner < 0 else index.inside(owner) for owner in core.owner.tolist()]
    is_use = (core.kind == columns.VARIABLE) | (core.kind == columns.SET)
    for row in np.flatnonzero(is_use).tolist():
        variable = index.reference[row]
        if binder[variable] != ROOT:
            _capture(captured, variable, index.procedure[row], binder[variable], index.procedure)
    return {row for row, variables in captured.items() if variables}
