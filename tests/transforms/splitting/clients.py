"""Small analyses, each solved point by point (dense) and name by name (sparse).

Dense facts are kept for every pair of a variable and a point, are iterated until nothing changes,
and are the oracle. Sparse ones are constraints on names, solved by `kleene.solvers.dataflow`: bits
by `solve_bits`, constants by `solve_lattice`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.solvers.dataflow import BitConstraints, solve_bits, solve_lattice
from kleene.transforms.splitting import NameKind, Role, Splitting
from tests.transforms.splitting.functions import Function

Fact = int  # a set, as bits


class Client:
    """A function with its accesses by point."""

    def __init__(self, function: Function) -> None:
        self.function, self.flow, self.accesses = function, function.flow, function.accesses()
        self.variables = sorted(set(self.accesses.variable.tolist()))
        self.rows: dict[tuple[int, Role], list[int]] = {}
        columns = zip(self.accesses.point.tolist(), self.accesses.role.tolist(), strict=True)
        for row, (point, role) in enumerate(columns):
            self.rows.setdefault((point, Role(role)), []).append(row)

    def used(self, point: int) -> list[int]:
        """Return the uses at a point."""
        return self.rows.get((point, Role.USE), [])

    def defined(self, point: int) -> list[int]:
        """Return the definitions at a point."""
        return self.rows.get((point, Role.DEFINITION), [])

    def variable(self, row: int) -> int:
        """Return the variable of an access."""
        return int(self.accesses.variable[row])

    def places(self, block: int) -> range:
        """Return the instructions of a block."""
        return range(*self.flow.first[block : block + 2].tolist())

    def edges(self, block: int) -> range:
        """Return the edges out of a block."""
        return range(*self.flow.blocks.offsets[block : block + 2].tolist())

    def reachable(self, names: Splitting) -> list[int]:
        """Return the names where control may come."""
        moment = self.flow.moment_of(names.point, np.ones(names.n_names, bool))
        return np.flatnonzero(moment >= 0).tolist()


def flat(lists: Sequence[Iterable[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of names as CSR, without -1."""
    known = [[name for name in some if name >= 0] for some in lists]
    offsets = np.cumsum([0, *map(len, known)])
    return offsets, np.array([name for some in known for name in some], np.int32)


class Forward(Client):
    """Bits that a variable may have where control comes by.

    What an instruction defines has its own bits, and those of what it uses.

    Args:
        generates: the bits of a definition, by its access.
        cleans: the bits that a definition does not take from what is used, by its access.
        after_use: the bits that a variable does not have behind its use.
        along: the bits that a tested variable does not have behind an edge.
    """

    def __init__(
        self,
        function: Function,
        generates: Callable[[int], Fact],
        cleans: Callable[[int], Fact] = lambda _: 0,
        after_use: Fact = 0,
        along: Callable[[int], Fact] = lambda _: 0,
    ) -> None:
        super().__init__(function)
        self.generates, self.cleans, self.after_use = generates, cleans, after_use
        self.along = along

    def dense(self) -> dict[int, Fact]:
        """Return for each use (an access) what holds of its variable just before."""
        flow = self.flow
        before = {b: dict.fromkeys(self.variables, 0) for b in range(flow.blocks.n_nodes)}
        reached = {0}
        found: dict[int, Fact] = {}
        changed = True
        while changed:
            changed = False
            for block in sorted(reached):
                now = dict(before[block])
                if block == 0:
                    self._step(flow.into(0), now, {})
                for place in self.places(block):
                    self._step(place, now, found)
                for edge in self.edges(block):
                    target = int(flow.blocks.targets[edge])
                    if target not in reached:
                        reached.add(target)
                        changed = True
                    for variable in self.variables:
                        fact = now[variable]
                        if flow.is_fork[block] and variable in self.function.tests[block]:
                            fact &= ~self.along(edge)
                        if fact & ~before[target][variable]:
                            before[target][variable] |= fact
                            changed = True
        return found

    def _step(self, point: int, now: dict[int, Fact], found: dict[int, Fact]) -> None:
        taken = 0
        for row in self.used(point):
            found[row] = now[self.variable(row)]
            taken |= found[row]
        for row in self.used(point):
            now[self.variable(row)] &= ~self.after_use
        for row in self.defined(point):
            now[self.variable(row)] = self.generates(row) | taken & ~self.cleans(row)

    def sparse(self, names: Splitting) -> dict[int, Fact]:
        """Return the same by names."""
        gen = np.zeros(names.n_names, np.uint64)
        kill = np.zeros(names.n_names, np.uint64)
        operands: list[list[int]] = [[] for _ in range(names.n_names)]
        defined = self.accesses.rows(Role.DEFINITION)
        sources, _ = self.flow.blocks.edges()
        for name in self.reachable(names):
            kind, point = names.kind[name], int(names.point[name])
            variable = int(names.variable[name])
            operands[name] = names.operands_of(name)
            if kind == NameKind.PROGRAM:
                row = int(defined[name])
                gen[name], kill[name] = self.generates(row), self.cleans(row)
                operands[name] = [int(names.name[use]) for use in self.used(point)]
            elif kind == NameKind.SIGMA:
                edge = point - self.flow.along(0)
                if variable in self.function.tests[int(sources[edge])]:
                    kill[name] = self.along(edge)
            elif kind == NameKind.COPY and variable in map(self.variable, self.used(point)):
                kill[name] = self.after_use
        facts = [*solve_bits(BitConstraints(gen, kill, *flat(operands))).tolist(), 0]
        return {row: facts[int(names.name[row])] for row in self.accesses.rows(Role.USE).tolist()}


class Classes(Client):
    """Backwards: which methods are called on a value from here on, by instructions as bits.

    `a = b` passes a value on; other instructions call their method on what they use.
    """

    def passes_on(self, place: int) -> bool:
        """Return whether an instruction is `a = b`."""
        return len(self.used(place)) == len(self.defined(place)) == 1

    def method(self, place: int) -> Fact:
        """Return what an instruction calls."""
        return 0 if self.passes_on(place) else 1 << place % 60

    def dense(self) -> dict[int, Fact]:
        """Return for each use what is called on its value, by itself and later."""
        flow = self.flow
        into = {b: dict.fromkeys(self.variables, 0) for b in range(flow.blocks.n_nodes)}
        found: dict[int, Fact] = {}
        changed = True
        while changed:
            changed = False
            for block in reversed(range(flow.blocks.n_nodes)):
                now = dict.fromkeys(self.variables, 0)
                for target in flow.blocks.successors(block).tolist():
                    for variable in self.variables:
                        now[variable] |= into[target][variable]
                for place in reversed(self.places(block)):
                    called = self.method(place)
                    for row in self.defined(place):
                        called |= now[self.variable(row)] if self.passes_on(place) else 0
                        now[self.variable(row)] = 0
                    for row in self.used(place):
                        now[self.variable(row)] |= called
                        found[row] = now[self.variable(row)]
                if now != into[block]:
                    into[block], changed = now, True
        return found

    def sparse(self, names: Splitting) -> dict[int, Fact]:
        """Return the same by names: the fact of a name comes from what reads it."""
        gen = np.zeros(names.n_names + 1, np.uint64)
        users: list[list[int]] = [[] for _ in range(names.n_names + 1)]
        rows = self.accesses.rows(Role.USE).tolist()
        for row in rows:
            name, place = int(names.name[row]), int(self.accesses.point[row])
            gen[name] |= np.uint64(self.method(place))
            if self.passes_on(place):
                users[name].append(int(names.name[self.defined(place)[0]]))
        for name in range(names.n_names):
            for operand in names.operands_of(name):
                users[operand].append(name)
        facts = solve_bits(BitConstraints(gen, np.zeros_like(gen), *flat(users))).tolist()
        return {row: facts[int(names.name[row])] for row in rows if names.name[row] >= 0}


@dataclass(frozen=True)
class Constant:
    """No value, one of 0, 1, 2, or any: all of them."""

    values: frozenset[int] = frozenset()

    def __le__(self, other: Constant) -> bool:
        return self.values <= other.values

    def join(self, other: Constant) -> Constant:
        """Return the least constant above both."""
        both = self.values | other.values
        return Constant(both) if len(both) < 2 else ANY

    def meet(self, other: Constant) -> Constant:
        """Return the greatest constant below both."""
        return Constant(self.values & other.values)

    @property
    def is_any(self) -> bool:
        """Whether nothing is known."""
        return len(self.values) > 1


NONE, ANY = Constant(), Constant(frozenset({0, 1, 2}))


class ConditionalConstants(Client):
    """Constants along edges that can be taken.

    A fork that tests a variable goes its first way where the variable is the block's number, modulo
    3, and one of the others where it is not. The last instruction of the block uses the variable.
    """

    def transfer(self, place: int, used: list[Constant]) -> Constant:
        """Return what an instruction makes of facts: a constant, a copy, or a sum; modulo 3."""
        if not used:
            return Constant(frozenset({place % 3}))
        if len(used) == 1:
            return used[0]
        if NONE in used:
            return NONE
        if any(fact.is_any for fact in used):
            return ANY
        return Constant(frozenset({(place + sum(min(fact.values) for fact in used)) % 3}))

    def parameter(self, variable: int) -> Constant:
        """Return what is known of a parameter."""
        return Constant(frozenset({1})) if variable else ANY

    def tested(self, block: int) -> int | None:
        """Return the variable that a fork tests."""
        tests = self.function.tests[block]
        return tests[0] if self.flow.is_fork[block] and tests else None

    def along(self, block: int, edge: int, fact: Constant) -> Constant:
        """Return what is known of a tested variable behind an edge; nothing if not taken."""
        is_first = edge == self.edges(block)[0]
        number = Constant(frozenset({block % 3}))
        if is_first:
            return fact.meet(number)
        return NONE if fact == number else fact

    def dense(self) -> dict[int, Constant]:
        """Return for each use where control may come what is known of its variable."""
        before = {0: dict.fromkeys(self.variables, NONE)}
        found: dict[int, Constant] = {}
        changed = True
        while changed:
            changed = False
            for block in sorted(before):
                now = dict(before[block])
                for row in self.defined(self.flow.into(block)):
                    now[self.variable(row)] = self.parameter(self.variable(row))
                for place in self.places(block):
                    used = self.used(place)
                    found |= {row: now[self.variable(row)] for row in used}
                    for row in self.defined(place):
                        now[self.variable(row)] = self.transfer(place, [found[u] for u in used])
                for edge in self.edges(block):
                    behind, tested = dict(now), self.tested(block)
                    if tested is not None:
                        behind[tested] = self.along(block, edge, now[tested])
                        if behind[tested] == NONE:
                            continue
                    target = int(self.flow.blocks.targets[edge])
                    old = before.get(target)
                    new = {v: f.join(old[v]) for v, f in behind.items()} if old else behind
                    if new != old:
                        before[target], changed = new, True
        return found

    def sparse(self, names: Splitting) -> dict[int, Constant]:
        """Return the same by names; blocks and edges are names too, of a value where control comes.

        They are numbered behind the others, blocks first.
        """
        flow, n_names = self.flow, names.n_names
        n_blocks = flow.blocks.n_nodes
        sources, _ = flow.blocks.edges()
        node = flow.node_of(names.point).tolist()
        rules: dict[int, tuple[list[int], Callable[[Sequence[Constant]], Constant]]] = {}

        def edge_name(edge: int) -> int:
            return n_names + n_blocks + edge

        def joined(pairs: list[tuple[int, int]], facts: Sequence[Constant]) -> Constant:
            found = NONE
            for operand, edge in pairs:
                if operand >= 0 and facts[edge] != NONE:
                    found = found.join(facts[operand])
            return found

        into = {b: [edge_name(int(e)) for e in flow.edges_into(np.array([b]))[1]]
                for b in range(n_blocks)}  # fmt: skip
        for block in range(n_blocks):
            rules[n_names + block] = (
                into[block],
                lambda facts, b=block: (
                    ANY if b == 0 or any(facts[e] != NONE for e in into[b]) else NONE
                ),
            )
            tested = self.tested(block)
            test = -1
            if tested is not None:
                last = self.used(self.places(block)[-1])
                test = next(int(names.name[r]) for r in last if self.variable(r) == tested)
            for edge in self.edges(block):
                rules[edge_name(edge)] = (
                    [n_names + block, test],
                    lambda facts, b=block, e=edge, t=test, by=tested: (
                        ANY
                        if facts[n_names + b] != NONE
                        and (by is None or (t >= 0 and self.along(b, e, facts[t]) != NONE))
                        else NONE
                    ),
                )
        for name in range(n_names):
            point, operands = int(names.point[name]), names.operands_of(name)
            if names.kind[name] == NameKind.PHI:
                pairs = list(zip(operands, into[node[name]], strict=True))
                rule = lambda facts, p=pairs: joined(p, facts)  # noqa: E731
                operands = [*operands, *into[node[name]]]
            elif names.kind[name] == NameKind.SIGMA:
                edge = point - flow.along(0)
                rule = lambda facts, e=edge, o=operands[0]: (  # noqa: E731
                    self.along(int(sources[e]), e, facts[o])
                    if facts[edge_name(e)] != NONE
                    else NONE
                )
                operands = [*operands, edge_name(edge)]
            elif point >= flow.n_instructions:
                rule = lambda _, v=int(names.variable[name]): self.parameter(v)  # noqa: E731
            else:
                used = [int(names.name[row]) for row in self.used(point)]
                rule = lambda facts, u=used, p=point, b=node[name]: (  # noqa: E731
                    self.transfer(p, [facts[o] if o >= 0 else NONE for o in u])
                    if facts[n_names + b] != NONE
                    else NONE
                )
                operands = [*used, n_names + node[name]]
            rules[name] = (operands, rule)
        columns = flat([rules[name][0] for name in range(len(rules))])
        facts = solve_lattice(*columns, lambda name, facts: rules[name][1](facts), NONE)
        block = flow.node_of(self.accesses.point)
        return {
            row: facts[int(names.name[row])] if names.name[row] >= 0 else NONE
            for row in self.accesses.rows(Role.USE).tolist()
            if facts[n_names + int(block[row])] != NONE
        }
