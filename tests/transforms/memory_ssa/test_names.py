"""Names of memory beside reaching definitions, location by location and point by point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kleene.transforms.memory_ssa import (
    MemoryAccesses,
    MemoryRole,
    MemorySSA,
    load_names,
    memory_ssa,
)
from kleene.transforms.splitting import ControlFlow, NameKind

READ, WRITE, OVERWRITE = MemoryRole.READ, MemoryRole.WRITE, MemoryRole.OVERWRITE
ENTRY = -1
Reaching = dict[int, frozenset[int]]  # per location: definitions, or ENTRY


def reaching_definitions(flow: ControlFlow, accesses: MemoryAccesses) -> list[Reaching | None]:
    """Return which definitions reach each instruction; None where control does not."""
    rows: dict[int, list[int]] = {}
    for row, instruction in enumerate(accesses.instruction.tolist()):
        rows.setdefault(instruction, []).append(row)
    into: dict[int, Reaching] = {
        int(entry): {location: frozenset({ENTRY}) for location in range(accesses.n_locations)}
        for entry in flow.entries
    }
    before: list[Reaching | None] = [None] * flow.n_instructions
    waiting = [int(entry) for entry in flow.entries]
    while waiting:
        block = waiting.pop()
        here = dict(into[block])
        for instruction in range(int(flow.first[block]), int(flow.first[block + 1])):
            before[instruction] = dict(here)
            written, replaced = set(), set()
            for row in rows.get(instruction, []):
                group = set(accesses.groups[int(accesses.group[row])].tolist())
                if accesses.role[row] != READ:
                    written |= group
                if accesses.role[row] == OVERWRITE:
                    replaced |= group
            for location in written:
                kept = frozenset() if location in replaced else here[location]
                here[location] = kept | {instruction}
        for target in flow.blocks.successors(block).tolist():
            old = into.get(target)
            new = here if old is None else {loc: old[loc] | here[loc] for loc in here}
            if new != old:
                into[target] = dict(new)
                waiting.append(target)
    return before


def definitions_of(found: MemorySSA, name: int) -> frozenset[int]:
    """Return the instructions that a name leads to, or ENTRY."""
    names, n_variables = found.names, found.n_variables
    seen, waiting, definitions = {-1}, [name], set()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        waiting += found.sources[one].tolist()
        if names.kind[one] == NameKind.PROGRAM:
            is_entry = one < n_variables
            definitions.add(ENTRY if is_entry else int(found.writes.instruction[one - n_variables]))
    return frozenset(definitions)


def random_program(
    rng: np.random.Generator, coarse: tuple[int, ...] = ()
) -> tuple[ControlFlow, MemoryAccesses]:
    """Return functions side by side, of any control flow, and any accesses."""
    n_functions, n_locations = int(rng.integers(1, 4)), int(rng.integers(1, 7))
    sizes: list[int] = []
    edges: list[tuple[int, int]] = []
    entries = []
    for _ in range(n_functions):
        first, n_blocks = len(sizes), int(rng.integers(1, 7))
        entries.append(first)
        sizes += rng.integers(0, 4, n_blocks).tolist()
        for block in range(first, first + n_blocks):
            n_out = int(rng.choice([0, 1, 1, 2, 2, 3])) if n_blocks > 1 else 0
            targets = rng.integers(first + 1, first + n_blocks, n_out) if n_out else []
            edges += [(block, int(target)) for target in targets]
    flow = ControlFlow.of(sizes, edges)
    flow = ControlFlow(flow.blocks, np.array(entries, np.int32), flow.first)
    groups = [
        np.flatnonzero(rng.random(n_locations) < rng.choice([0.2, 0.5, 1])).tolist()
        for _ in range(6)
    ]
    rows = []
    for instruction in range(flow.n_instructions):
        for _ in range(int(rng.integers(0, 3))):
            role = MemoryRole(int(rng.integers(0, 3)))
            rows.append((instruction, int(rng.integers(0, len(groups))), role))
    return flow, MemoryAccesses.of(rows, groups, n_locations, coarse)


@pytest.mark.parametrize("seed", range(4))
def test_names_lead_to_the_definitions_that_reach_a_read(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_compared = 0
    for _ in range(150):
        flow, accesses = random_program(rng)
        found = memory_ssa(flow, accesses)
        before = reaching_definitions(flow, accesses)
        reads = found.reads
        for row in range(len(reads.instruction)):
            expected = before[int(reads.instruction[row])]
            if expected is None:
                assert reads.name[row] == -1
                continue
            told = definitions_of(found, int(reads.name[row]))
            for location in found.locations[int(reads.variable[row])].tolist():
                assert told == expected[location]
                n_compared += 1
    assert n_compared > 500


def test_coarse_groups_lead_to_these_definitions_and_more() -> None:
    rng = np.random.default_rng(7)
    n_variables, n_exact = 0, 0
    for _ in range(150):
        flow, accesses = random_program(rng, coarse=(0, 1, 2))
        found = memory_ssa(flow, accesses)
        n_variables += found.n_variables
        n_exact += memory_ssa(flow, replace(accesses, is_exact=np.ones(6, bool))).n_variables
        before = reaching_definitions(flow, accesses)
        for row in range(len(found.reads.instruction)):
            expected = before[int(found.reads.instruction[row])]
            if expected is not None:
                told = definitions_of(found, int(found.reads.name[row]))
                for location in found.locations[int(found.reads.variable[row])].tolist():
                    assert told >= expected[location]
    assert n_variables < n_exact


def test_names_of_what_is_overwritten_are_the_same_without_the_others() -> None:
    rng = np.random.default_rng(8)
    n_partial = n_compared = 0
    for _ in range(100):
        flow, accesses = random_program(rng)
        found = memory_ssa(flow, accesses, only_overwritten=True)
        whole = memory_ssa(flow, accesses)
        n_partial += len(found.partial)
        told: dict[tuple[int, int], frozenset[int]] = {}
        for row, variable in enumerate(found.reads.variable.tolist()):
            for location in found.locations[variable].tolist():
                key = int(found.reads.instruction[row]), location
                told[key] = definitions_of(found, int(found.reads.name[row]))
        starts = flow.first[np.append(flow.entries, flow.blocks.n_nodes)]
        overwritten: set[tuple[int, int]] = set()
        for row in np.flatnonzero(accesses.role == OVERWRITE).tolist():
            function = int(np.searchsorted(starts, accesses.instruction[row], "right")) - 1
            group = accesses.groups[int(accesses.group[row])].tolist()
            overwritten |= {(function, location) for location in group}
        for row, variable in enumerate(whole.reads.variable.tolist()):
            instruction = int(whole.reads.instruction[row])
            function = int(np.searchsorted(starts, instruction, "right")) - 1
            for location in whole.locations[variable].tolist():
                if (function, location) in overwritten:
                    expected = definitions_of(whole, int(whole.reads.name[row]))
                    assert told.pop((instruction, location)) == expected
                    n_compared += 1
                else:
                    assert instruction in found.partial
        assert not told
    assert min(n_partial, n_compared) > 50


@pytest.mark.parametrize("seed", range(2))
def test_variables_are_what_no_access_of_a_function_tells_apart(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(60):
        flow, accesses = random_program(rng)
        found = memory_ssa(flow, accesses)
        starts = flow.first[np.append(flow.entries, flow.blocks.n_nodes)]
        for function in range(len(flow.entries)):
            inside = (accesses.instruction >= starts[function]) & (
                accesses.instruction < starts[function + 1]
            )
            signature: dict[int, set[int]] = {}
            needed: set[int] = set()
            for row in np.flatnonzero(inside).tolist():
                for location in accesses.groups[int(accesses.group[row])].tolist():
                    signature.setdefault(location, set()).add(int(accesses.group[row]))
                    needed |= {location} if accesses.role[row] == READ else set()
            expected: dict[frozenset[int], set[int]] = {}
            for location in needed:
                expected.setdefault(frozenset(signature[location]), set()).add(location)
            variables = np.flatnonzero(found.function == function).tolist()
            told = [set(found.locations[variable].tolist()) for variable in variables]
            assert sorted(map(sorted, told)) == sorted(map(sorted, expected.values()))


def test_a_weak_write_keeps_what_was_and_an_overwrite_does_not() -> None:
    flow = ControlFlow.of([5], [])
    rows = [(0, 0, WRITE), (1, 1, OVERWRITE), (1, 1, WRITE), (2, 0, WRITE), (3, 0, READ)]
    found = memory_ssa(flow, MemoryAccesses.of(rows, [[0, 1], [0]], 2))
    (first, second) = (definitions_of(found, int(name)) for name in found.read_by(3))
    assert {first, second} == {frozenset({1, 2}), frozenset({ENTRY, 0, 2})}
    assert len(found.written_by(2)) == 2
    assert len(found.read_by(4)) == 0


def test_nothing_at_all_has_no_names() -> None:
    found = memory_ssa(ControlFlow.of([0], []), MemoryAccesses.of([], [], 0))
    assert found.n_variables == found.names.n_names == 0


@pytest.mark.parametrize("seed", range(3))
def test_loads_of_one_name_find_memory_unchanged(seed: int) -> None:
    """On random walks, since a load of the same name that dominates; and who wrote last is told."""
    rng = np.random.default_rng(seed)
    n_same = n_written = 0
    for _ in range(120):
        flow, accesses = random_program(rng)
        by_row: dict[int, list[int]] = {}
        for row, instruction in enumerate(accesses.instruction.tolist()):
            by_row.setdefault(instruction, []).append(row)
        reading = {i: [r for r in rows if accesses.role[r] == READ] for i, rows in by_row.items()}
        loads = [i for i, rows in reading.items() if len({int(accesses.group[r]) for r in rows})]
        # One access of each group for each load.
        keep = np.ones(len(accesses.role), bool)
        for rows in reading.values():
            groups = [int(accesses.group[r]) for r in rows]
            keep[[r for n, r in enumerate(rows) if groups[n] in groups[:n]]] = False
        some = MemoryAccesses(
            accesses.instruction[keep], accesses.group[keep], accesses.role[keep], accesses.groups,
            accesses.is_exact, accesses.n_locations,
        )  # fmt: skip
        found = load_names(flow, some, np.array(sorted(loads), np.int64))
        name = dict(zip(found.load.tolist(), found.name.tolist(), strict=True))
        touches = {
            i: sorted({x for r in rows for x in accesses.groups[int(accesses.group[r])].tolist()})
            for i, rows in reading.items()
        }
        tree, block_of = flow.tree, np.repeat(np.arange(flow.blocks.n_nodes), np.diff(flow.first))
        for _ in range(6):
            version, writer = dict.fromkeys(range(accesses.n_locations), 0), {}
            seen: dict[int, tuple[int, ...]] = {}
            block = int(rng.choice(flow.entries))
            for step in range(12):
                for i in range(int(flow.first[block]), int(flow.first[block + 1])):
                    if i in name:
                        assert name[i] >= 0
                        now = tuple(version[x] for x in touches[i])
                        for other, then in seen.items():
                            above, here = block_of[other], block_of[i]
                            dominates = tree.pre[above] <= tree.pre[here] <= tree.last[above]
                            dominates &= above != here or other < i
                            if name[other] == name[i] and dominates:
                                assert touches[other] == touches[i]
                                assert then == now
                                n_same += 1
                        if found.writer[name[i]] >= 0:
                            last = {writer[x] for x in touches[i] if x in writer}
                            assert max(last, key=lambda w: w[0])[1] == found.writer[name[i]]
                            n_written += 1
                        seen[i] = now
                    for row in by_row.get(i, []):
                        if accesses.role[row] != READ:
                            for x in accesses.groups[int(accesses.group[row])].tolist():
                                version[x] += 1
                                writer[x] = (step * 100 + i - int(flow.first[block]), i)
                targets = flow.blocks.successors(block).tolist()
                if not targets:
                    break
                block = int(rng.choice(targets))
    assert n_same > 20
    assert n_written > 100
