"""Three small analyses, each solved point by point (dense) and name by name (sparse).

Facts are sets, as bits of an integer, and join by union; `None` stands for "nothing reaches here".
Dense facts are kept for every pair of a variable and a point, and are the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from kleene.transforms.splitting import NameKind, Role, Splitting
from tests.transforms.splitting.functions import Function

Fact = int
MAYBE_NULL, NOT_NULL = 2, 1


class Forward:
    """What may be known of a variable where control comes by.

    Args:
        defines: the fact of a definition, by its access.
        after_use: what a use at an instruction makes of a fact.
        along: what a tested fact is behind an edge.
    """

    def __init__(
        self,
        function: Function,
        defines: Callable[[int], Fact],
        after_use: Callable[[Fact], Fact],
        along: Callable[[int, Fact], Fact],
    ) -> None:
        self.function, self.flow, self.accesses = function, function.flow, function.accesses()
        self.defines, self.after_use, self.along = defines, after_use, along

    def dense(self) -> dict[int, Fact]:
        """Return for each use (an access) what holds of its variable just before."""
        flow, variables = self.flow, sorted(set(self.accesses.variable.tolist()))
        before = {b: dict.fromkeys(variables, 0) for b in range(flow.blocks.n_nodes)}
        reached = {0}
        found: dict[int, Fact] = {}
        changed = True
        while changed:
            changed = False
            for block in sorted(reached):
                now = dict(before[block])
                if block == 0:
                    self._step(flow.into(0), now, {})
                for place in range(*flow.first[block : block + 2].tolist()):
                    self._step(place, now, found)
                for edge in range(*flow.blocks.offsets[block : block + 2].tolist()):
                    target = int(flow.blocks.targets[edge])
                    if target not in reached:
                        reached.add(target)
                        changed = True
                    for variable in variables:
                        fact = now[variable]
                        if flow.is_fork[block] and variable in self.function.tests[block]:
                            fact = self.along(edge, fact)
                        if fact & ~before[target][variable]:
                            before[target][variable] |= fact
                            changed = True
        return found

    def _step(self, point: int, now: dict[int, Fact], found: dict[int, Fact]) -> None:
        rows = np.flatnonzero(self.accesses.point == point).tolist()
        for row in rows:
            if self.accesses.role[row] == Role.USE:
                found[row] = now[int(self.accesses.variable[row])]
        for row in rows:
            if self.accesses.role[row] == Role.USE:
                variable = int(self.accesses.variable[row])
                now[variable] = self.after_use(found[row])
        for row in rows:
            if self.accesses.role[row] == Role.DEFINITION:
                now[int(self.accesses.variable[row])] = self.defines(row)

    def sparse(self, names: Splitting) -> dict[int, Fact]:
        """Return the same by names."""
        facts = [0] * names.n_names + [0]
        defined = self.accesses.rows(Role.DEFINITION)
        used = {
            (int(v), int(p))
            for v, p, r in zip(
                self.accesses.variable, self.accesses.point, self.accesses.role, strict=True
            )
            if r == Role.USE
        }
        reachable = self.flow.moment_of(names.point, np.ones(names.n_names, bool)) >= 0
        for _ in count():
            before = list(facts)
            for name in np.flatnonzero(reachable).tolist():
                kind, point = names.kind[name], int(names.point[name])
                fact = 0
                for operand in names.operands_of(name):
                    fact |= facts[operand]
                if kind == NameKind.PROGRAM:
                    fact = self.defines(int(defined[name]))
                elif kind == NameKind.SIGMA:
                    edge = point - self.flow.along(0)
                    source = int(self.flow.blocks.edges()[0][edge])
                    if int(names.variable[name]) in self.function.tests[source]:
                        fact = self.along(edge, fact)
                elif kind == NameKind.COPY and (int(names.variable[name]), point) in used:
                    fact = self.after_use(fact)
                facts[name] |= fact
            if facts == before:
                break
        rows = self.accesses.rows(Role.USE).tolist()
        return {row: facts[int(names.name[row])] for row in rows}


def dense_backward(function: Function) -> dict[int, Fact]:
    """Return for each use the set of uses that may come from there on, itself among them."""
    flow, accesses = function.flow, function.accesses()
    variables = sorted(set(accesses.variable.tolist()))
    into = {b: dict.fromkeys(variables, 0) for b in range(flow.blocks.n_nodes)}
    found: dict[int, Fact] = {}
    changed = True
    while changed:
        changed = False
        for block in reversed(range(flow.blocks.n_nodes)):
            now = dict.fromkeys(variables, 0)
            for target in flow.blocks.successors(block).tolist():
                for variable in variables:
                    now[variable] |= into[target][variable]
            for place in reversed(range(*flow.first[block : block + 2].tolist())):
                rows = np.flatnonzero(accesses.point == place).tolist()
                for row in rows:
                    if accesses.role[row] == Role.DEFINITION:
                        now[int(accesses.variable[row])] = 0
                for row in rows:
                    if accesses.role[row] == Role.USE:
                        now[int(accesses.variable[row])] |= 1 << place
                        found[row] = now[int(accesses.variable[row])]
            if now != into[block]:
                into[block], changed = now, True
    return found


def sparse_backward(function: Function, names: Splitting) -> dict[int, Fact]:
    """Return the same by names: what reads a name is what its fact comes from."""
    accesses = function.accesses()
    facts = [0] * names.n_names + [0]
    rows = accesses.rows(Role.USE).tolist()
    while True:
        before = list(facts)
        for row in rows:
            facts[int(names.name[row])] |= 1 << int(accesses.point[row])
        for name in range(names.n_names):
            for operand in names.operands_of(name):
                facts[operand] |= facts[name]
        facts[-1] = 0
        if facts == before:
            return {row: facts[int(names.name[row])] for row in rows}
