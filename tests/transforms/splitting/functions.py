"""Small functions over named variables, and their split form as text, for the tests."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from kleene.transforms.splitting import Accesses, ControlFlow, NameKind, Role, Splitting


@dataclass
class Code:
    """One instruction: `defines = f(uses)`."""

    uses: tuple[int, ...] = ()
    defines: tuple[int, ...] = ()


@dataclass
class Function:
    """Blocks of instructions, edges, and which variables the branch at the end of a block tests."""

    blocks: list[list[Code]]
    edges: list[tuple[int, int]]
    tests: dict[int, list[int]] = field(default_factory=dict)
    parameters: tuple[int, ...] = ()

    @property
    def flow(self) -> ControlFlow:
        return ControlFlow.of([len(block) for block in self.blocks], self.edges)

    def accesses(self) -> Accesses:
        flow, rows, place = self.flow, [], 0
        rows += [(variable, flow.into(0), Role.DEFINITION) for variable in self.parameters]
        for number, block in enumerate(self.blocks):
            for code in block:
                rows += [(variable, place, Role.USE) for variable in code.uses]
                rows += [(variable, place, Role.DEFINITION) for variable in code.defines]
                place += 1
            tested = self.tests.get(number, [])
            rows += [(variable, flow.out_of(number), Role.TEST) for variable in tested]
        return Accesses.of(rows)


def parsed(text: str) -> tuple[Function, dict[str, int], dict[str, int]]:
    """Return a function from lines `label: defined = used used -> label label ? tested`.

    Every line is a block of one instruction; also the numbers of variables and labels.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    labels = {line.split(":")[0]: number for number, line in enumerate(lines)}
    variables: dict[str, int] = {}

    def numbers(words: str) -> tuple[int, ...]:
        return tuple(variables.setdefault(word, len(variables)) for word in words.split())

    blocks, edges, tests = [], [], {}
    for number, line in enumerate(lines):
        rest, _, tested = line.split(":")[1].partition("?")
        code, _, targets = rest.partition("->")
        defined, _, used = code.partition("=") if "=" in code else ("", "", code)
        blocks.append([Code(numbers(used), numbers(defined))])
        edges += [(number, labels[target]) for target in targets.split()]
        tests[number] = list(numbers(tested))
    return Function(blocks, sorted(edges), tests), variables, labels


def text_of(function: Function, names: Splitting, variables: dict[str, int]) -> list[str]:
    """Return what defines the names, with names numbered by block, as in `v2 = σ(v1) on 1→2`."""
    words = {number: word for word, number in variables.items()}
    flow = function.flow
    sources, targets = flow.blocks.edges()
    node = flow.node_of(names.point)
    edge = node - flow.blocks.n_nodes
    after = np.where(edge < 0, node, sources[edge] + 0.5 if len(sources) else 0)
    slot = flow.slot_of(names.point, np.ones(names.n_names, bool))
    order = np.lexsort((slot, edge, after, names.variable))
    called: dict[int, str] = {-1: "⊥"}
    counts: dict[int, int] = defaultdict(int)
    for name in order.tolist():
        variable = int(names.variable[name])
        counts[variable] += 1
        called[name] = f"{words[variable]}{counts[variable]}"
    lines = []
    for name in order.tolist():
        kind = NameKind(names.kind[name])
        operands = ",".join(called[o] for o in names.operands_of(name))
        along = int(edge[name])
        where = f"{node[name]}" if along < 0 else f"{sources[along]}→{targets[along]}"
        sign = {"PROGRAM": "", "PHI": "φ", "SIGMA": "σ", "COPY": "copy"}[kind.name]
        lines.append(
            f"{called[name]} = {sign}({operands}) at {where}"
            if sign
            else f"{called[name]} at {where}"
        )
    return lines


def random_function(rng: np.random.Generator, n_blocks: int = 8, n_variables: int = 3) -> Function:
    """Return any control flow: loops with several entries, dead blocks, repeated edges, no exit."""
    edges = []
    for block in range(n_blocks):
        n_out = int(rng.choice([0, 1, 1, 2, 2, 2, 3]))
        edges += [(block, int(target)) for target in rng.integers(1, n_blocks, n_out)]

    def some(most: int) -> tuple[int, ...]:
        return tuple({int(v) for v in rng.integers(0, n_variables, rng.integers(0, most + 1))})

    blocks = [[Code(some(2), some(1)) for _ in range(rng.integers(0, 4))] for _ in range(n_blocks)]
    tests = {block: list(some(2)) for block in range(n_blocks)}
    return Function(blocks, edges, tests, some(2))
