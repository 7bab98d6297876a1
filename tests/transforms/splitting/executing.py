"""Runs a function along a random path, with its variables and with their split names beside."""

from __future__ import annotations

import numpy as np

from kleene.transforms.splitting import NameKind, Splitting
from tests.transforms.splitting.functions import Function

UNDEFINED = -1


def check_path(function: Function, names: Splitting, rng: np.random.Generator, n_steps: int) -> int:
    """Follow a random path; every use must read, by name, the value that the variable has.

    Returns how many uses were compared. A definition gives its variable a number never seen before.
    φ, σ and copies move values between names, those of one point at the same time.
    """
    flow, accesses = function.flow, function.accesses()
    by_point: dict[int, list[int]] = {}
    for name in np.flatnonzero(names.kind != NameKind.PROGRAM).tolist():
        by_point.setdefault(int(names.point[name]), []).append(name)
    rows: dict[int, list[int]] = {}
    for row, point in enumerate(accesses.point.tolist()):
        rows.setdefault(point, []).append(row)
    variables: dict[int, int] = {}
    named: dict[int, int] = {UNDEFINED: UNDEFINED}
    n_compared = fresh = 0

    def move(point: int, incoming: int = 0) -> None:
        moved = {
            name: named.get(names.operands_of(name)[incoming], UNDEFINED)
            for name in by_point.get(point, [])
        }
        named.update(moved)

    def run(point: int) -> None:
        nonlocal n_compared, fresh
        for row in rows.get(point, []):
            variable = int(accesses.variable[row])
            if accesses.role[row] == 1:
                n_compared += 1
                name = int(names.name[row])
                assert named.get(name, UNDEFINED) == variables.get(variable, UNDEFINED)
        moved = {
            name: named.get(names.operands_of(name)[0], UNDEFINED)
            for name in by_point.get(point, [])
        }
        for row in rows.get(point, []):
            if accesses.role[row] == 0:
                fresh += 1
                variables[int(accesses.variable[row])] = named[int(names.name[row])] = fresh
        named.update(moved)

    block, edge = 0, -1
    offsets, into = flow.incoming
    for _ in range(n_steps):
        if edge >= 0:
            incoming = into[offsets[block] : offsets[block + 1]].tolist().index(edge)
            move(flow.into(block), incoming)
        if edge < 0:
            run(flow.into(block))
        for place in range(int(flow.first[block]), int(flow.first[block + 1])):
            run(place)
        leaving = range(int(flow.blocks.offsets[block]), int(flow.blocks.offsets[block + 1]))
        if not leaving:
            break
        edge = int(rng.choice(leaving))
        move(flow.along(edge))
        move(flow.at_end_of(edge))
        block = int(flow.blocks.targets[edge])
    return n_compared
