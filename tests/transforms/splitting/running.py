"""Runs functions: with their variables, and with the storage of names that moves leave.

What an instruction defines is computed from its number and what it uses. An instruction that uses
one variable and defines one is a copy: `a = b`. Which way control goes is computed from all that
was read so far, so that one wrong value leads elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kleene.transforms.splitting import Moves, NameKind, Role, Splitting
from tests.transforms.splitting.functions import Code, Function

_PRIME, _MASK = 1_000_003, (1 << 40) - 1
_UNDEFINED = -1  # storage that is never written


@dataclass
class Step:
    """An instruction with its number; a move that stands for none has -1, and is not observed."""

    number: int
    uses: list[int]
    defines: list[int]


@dataclass
class Runnable:
    """Blocks of steps, and where each goes on to; of blocks that stand for edges there is one."""

    blocks: list[list[Step]]
    successors: list[list[int]]
    start: list[Step]


def is_copy(code: Code) -> bool:
    """Return whether an instruction is `a = b`."""
    return len(code.uses) == len(code.defines) == 1


def mixed(*numbers: int) -> int:
    """Return a number made of some."""
    found = 7
    for number in numbers:
        found = ((found ^ number) * _PRIME + (found >> 20)) & _MASK
    return found


def run(program: Runnable, path: int, n_steps: int) -> list[int]:
    """Return the values that instructions read, one after the other."""
    held: dict[int, int] = {}
    read: list[int] = []
    so_far = path

    def make(step: Step) -> None:
        nonlocal so_far
        values = [held.get(name, _UNDEFINED) for name in step.uses]
        if step.number >= 0:
            read.extend(values)
            so_far = mixed(so_far, step.number, *values)
        if len(values) == len(step.defines) == 1:
            held[step.defines[0]] = values[0]
        else:
            for nth, name in enumerate(step.defines):
                held[name] = mixed(step.number, nth, *values)

    for step in program.start:
        make(step)
    block = 0
    for _ in range(2 * n_steps):
        for step in program.blocks[block]:
            make(step)
        ways = program.successors[block]
        if not ways:
            break
        if len(ways) > 1:
            so_far = mixed(so_far, block)
        block = ways[(so_far >> 9) % len(ways)]
    return read


def original(function: Function) -> Runnable:
    """Return the function with its variables as storage; edges are blocks without steps."""
    return _runnable(function, lambda _, variable: variable, {})


def destroyed(function: Function, names: Splitting, left: Moves) -> Runnable:
    """Return the function with a name as storage for each variable, and with moves."""
    accesses = function.accesses()
    called: dict[tuple[int, int, int], int] = {}
    for row, name in enumerate(names.name.tolist()):
        key = (int(accesses.role[row]), int(accesses.point[row]), int(accesses.variable[row]))
        called[key] = name
    at: dict[int, list[Step]] = {}
    for point, target, source in zip(left.point, left.target, left.source, strict=True):
        at.setdefault(int(point), []).append(Step(-1, [int(source)], [int(target)]))
    return _runnable(function, lambda key, variable: called[*key, variable], at)


def _runnable(function, storage, at) -> Runnable:
    flow, number, blocks, successors = function.flow, 0, [], []
    n_blocks = flow.blocks.n_nodes
    for block, codes in enumerate(function.blocks):
        steps = []
        for code in codes:
            uses = [storage((Role.USE, number), variable) for variable in code.uses]
            defines = [storage((Role.DEFINITION, number), variable) for variable in code.defines]
            steps += [Step(number, uses, defines), *at.get(number, [])]
            number += 1
        blocks.append(steps)
        edges = range(*flow.blocks.offsets[block : block + 2].tolist())
        successors.append([n_blocks + edge for edge in edges])
    for edge, target in enumerate(flow.blocks.targets.tolist()):
        blocks.append([*at.get(flow.along(edge), []), *at.get(flow.at_end_of(edge), [])])
        successors.append([target])
    entry = flow.into(0)
    given = [storage((Role.DEFINITION, entry), variable) for variable in function.parameters]
    start = [Step(number + nth, [], [name]) for nth, name in enumerate(given)]
    return Runnable(blocks, successors, start)


def propagated(function: Function, names: Splitting) -> Splitting:
    """Return names where what is read is the source of copies, σ, and of `a = b` in the function.

    Names of different variables then meet in one φ, and φ may read each other.
    """
    accesses, codes = function.accesses(), [c for block in function.blocks for c in block]
    source = {
        name: names.operands_of(name)[0]
        for name in range(names.n_names)
        if names.kind[name] in (NameKind.SIGMA, NameKind.COPY)
    }
    used = {
        int(accesses.point[row]): int(names.name[row]) for row in accesses.rows(Role.USE).tolist()
    }
    for row in accesses.rows(Role.DEFINITION).tolist():
        point = int(accesses.point[row])
        if point < len(codes) and is_copy(codes[point]):
            source[int(names.name[row])] = used[point]

    def root(name: int) -> int:
        seen = {name}
        while source.get(name, -1) >= 0 and source[name] not in seen:
            name = source[name]
            seen.add(name)
        return name

    is_used = np.zeros(len(accesses.role), bool)
    is_used[accesses.rows(Role.USE)] = True
    found = names.name.copy()
    found[is_used] = [root(name) for name in names.name[is_used].tolist()]
    operands = np.array([root(name) for name in names.operands.tolist()], np.int64)
    return replace(names, operands=operands, name=found)
