"""The SSI property of split functions, point by point (Tavares et al., 2014, section 3).

- VERSION and SPLIT-MEET: wherever a variable is live, one name of it comes along all paths; where
  several come together, a φ makes one of them. What a use reads is that name.
- SPLIT-DEF: where information begins (a point of the strategy) and the variable is live behind it,
  a name begins.
- INFO: no name is inserted where its variable is dead, and none that no definition reaches.

LINK is a matter of constraints: which facts a transfer function reads (`kleene.solvers.dataflow`).
"""

from __future__ import annotations

import numpy as np

from kleene.transforms.splitting import Accesses, ControlFlow, NameKind, Points, Role, Splitting


def check_property(flow: ControlFlow, accesses: Accesses, points: Points, names: Splitting) -> int:
    """Assert the property; return how many names were seen at points."""
    by_point: dict[int, list[int]] = {}
    for name, point in enumerate(names.point.tolist()):
        by_point.setdefault(point, []).append(name)
    rows: dict[int, list[int]] = {}
    for row, point in enumerate(accesses.point.tolist()):
        rows.setdefault(point, []).append(row)
    live = live_behind(flow, rows, accesses)
    state: dict[int, dict[int, frozenset[int]]] = {}
    entry = {int(v): frozenset({-1}) for v in np.unique(accesses.variable)}
    waiting = [int(e) for e in flow.entries]
    for block in waiting:
        state[block] = dict(entry)
    seen: dict[int, frozenset[int]] = {}
    offsets, into = flow.incoming
    n_seen = 0

    def define(point: int, here: dict[int, frozenset[int]]) -> None:
        for name in by_point.get(point, []):
            here[int(names.variable[name])] = frozenset({name})

    while waiting:
        block = waiting.pop()
        here = dict(state[block])
        define(flow.into(block), here)
        for place in range(int(flow.first[block]), int(flow.first[block + 1])):
            for row in rows.get(place, []):
                if accesses.role[row] == Role.USE:
                    seen[row] = here[int(accesses.variable[row])]
            define(place, here)
        for edge in range(int(flow.blocks.offsets[block]), int(flow.blocks.offsets[block + 1])):
            along = dict(here)
            define(flow.along(edge), along)
            define(flow.at_end_of(edge), along)
            target = int(flow.blocks.targets[edge])
            phis = {int(names.variable[n]) for n in by_point.get(flow.into(target), [])
                    if names.kind[n] == NameKind.PHI}  # fmt: skip
            for name in by_point.get(flow.into(target), []):
                if names.kind[name] == NameKind.PHI:
                    place = into[offsets[target] : offsets[target + 1]].tolist().index(edge)
                    operand = names.operands_of(name)[place]
                    arrived = along[int(names.variable[name])]
                    assert operand == -1 or arrived == {operand}
            old = state.get(target)
            new = {
                v: frozenset() if v in phis else (along[v] | old[v] if old else along[v])
                for v in along
            }
            if new != old:
                state[target] = new
                waiting.append(target)
    for row, told in seen.items():  # VERSION, SPLIT-MEET
        name = int(names.name[row])
        assert told - {-1} == ({name} if name >= 0 else set()), (row, told, name)
        n_seen += 1
    reached = set(state)
    wanted = [*zip(points.down_variable.tolist(), points.down_point.tolist(), strict=True),
              *zip(points.up_variable.tolist(), points.up_point.tolist(), strict=True)]  # fmt: skip
    for variable, point in wanted:  # SPLIT-DEF
        if flow.out_of(0) <= point < flow.along(0):
            block = point - flow.out_of(0)
            edges = range(int(flow.blocks.offsets[block]), int(flow.blocks.offsets[block + 1]))
            if block in reached and len(edges) > 1 and names.name_at(variable, point) >= 0:
                for edge in edges:
                    held = [n for n in by_point.get(flow.along(edge), [])
                            if names.variable[n] == variable]  # fmt: skip
                    assert held or (variable, flow.along(edge)) not in live, (variable, edge)
        if point < flow.into(0) and (variable, point) in live:
            block = int(flow.node_of(np.array([point]))[0])
            held = [n for n in by_point.get(point, []) if names.variable[n] == variable]
            if block in reached and _is_defined(flow, accesses, names, variable, point):
                assert held, (variable, point)
    used = set(names.operands[names.operands >= 0].tolist()) | set(names.name[names.name >= 0])
    for name in np.flatnonzero(names.kind != NameKind.PROGRAM).tolist():  # INFO
        assert name in used, "a dead name"
        assert any(operand >= 0 for operand in names.operands_of(name)), "an undefined name"
    return n_seen


def _is_defined(
    flow: ControlFlow, accesses: Accesses, names: Splitting, variable: int, point: int
) -> bool:
    """Return whether a definition of the program reaches a point."""
    return names.name_at(variable, point) >= 0


def live_behind(
    flow: ControlFlow, rows: dict[int, list[int]], accesses: Accesses
) -> set[tuple[int, int]]:
    """Return (variable, point) where it is live just behind an instruction, or on an edge."""
    live_in: dict[int, set[int]] = {block: set() for block in range(flow.blocks.n_nodes)}
    found: set[tuple[int, int]] = set()
    is_changed = True
    while is_changed:
        is_changed = False
        for block in range(flow.blocks.n_nodes):
            live: set[int] = set()
            for edge in range(int(flow.blocks.offsets[block]), int(flow.blocks.offsets[block + 1])):
                along = set(live_in[int(flow.blocks.targets[edge])])
                for row in rows.get(flow.along(edge), []):
                    along |= (
                        {int(accesses.variable[row])} if accesses.role[row] == Role.USE else set()
                    )
                found |= {(variable, flow.along(edge)) for variable in along}
                live |= along
            for place in reversed(range(int(flow.first[block]), int(flow.first[block + 1]))):
                found |= {(variable, place) for variable in live}
                for role, change in ((Role.DEFINITION, live.discard), (Role.USE, live.add)):
                    for row in rows.get(place, []):
                        if accesses.role[row] == role:
                            change(int(accesses.variable[row]))
            if live != live_in[block]:
                live_in[block], is_changed = live, True
    return found
