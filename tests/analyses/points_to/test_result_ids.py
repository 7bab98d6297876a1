"""Questions by number: columns say what single questions by name say, and what brute force says."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.sets import ObjectSet
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind
from kleene.ir import Global
from kleene.ir.codes import CALLS, GlobalFlag, Opcode
from kleene.results.call_graph import OUTSIDE
from tests.analyses.points_to.compiled import solved

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "programs" / "c"
CASES = [
    *((ROOT / "examples" / name, library) for name, library in product(
        ("events", "shapes", "animals"), (False, True)
    )),
    *((PROGRAMS / f"{name}.c", False) for name in (
        "hash_table", "nested_arrays", "bytes_over_arrays", "union_views", "opaque_external",
        "varargs", "callbacks", "by_value", "vectors", "atomics", "recursion",
    )),
]  # fmt: skip
N_SAMPLE = 24


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].stem}-{case[1]}")
def result(request: pytest.FixtureRequest) -> PointsToResult:
    path, library = request.param
    found: PointsToResult = kleene.load(path).points_to(device="cpu", library=library)
    return found


def sample(result: PointsToResult) -> np.ndarray:
    """Some registers that are pointers, spread over the program."""
    pointers = result.pointers
    return pointers[:: max(1, len(pointers) // N_SAMPLE)]


def held(result: PointsToResult, node: int) -> set[int]:
    """All that a node may hold, from the solution alone."""
    return set(result.solution.of(node).tolist())


def reached(result: PointsToResult, node: int) -> set[int]:
    """All that a node may hold; an unknown one, also what code outside knows."""
    outside = result.known_outside if result.solution.unknown[node] else []
    return held(result, node) | set(np.flatnonzero(outside).tolist())


def addresses(result: PointsToResult, object: int) -> set[int] | None:
    """The bytes at which accesses of an object begin; None for any byte of its storage."""
    table = result.system.locations
    byte, stride = int(table.byte[object]), int(table.stride[object])
    if byte == UNKNOWN_OFFSET:
        return None
    allocation = int(table.allocation[object])
    first, end = result.system.problem.allocation_offsets[allocation : allocation + 2].tolist()
    exact = [int(table.byte[o]) for o in range(first, end) if not table.stride[o]]
    last = min((b for b in exact if b > byte), default=byte + 64 * max(stride, 1))
    return {byte} if not stride else set(range(byte, last, stride))


def widest(result: PointsToResult, value: int) -> int:
    """The bytes of the widest access made directly through a value, at least 1."""
    most = 1
    for user in result.program.value_view(value).users:
        operands = [operand.id for operand in user.operands]
        if user.opcode == Opcode.LOAD:
            most = max(most, user.type.size_bytes)
        elif user.opcode == Opcode.STORE and operands[1] == value:
            most = max(most, user.operands[0].type.size_bytes)
        elif user.opcode in (Opcode.ATOMICRMW, Opcode.CMPXCHG) and operands[0] == value:
            accessed = user.operands[1 if user.opcode == Opcode.ATOMICRMW else 2]
            most = max(most, accessed.type.size_bytes)
    return most


def touch(result: PointsToResult, left: int, n: int, right: int, m: int) -> bool:
    """Whether n bytes at one object and m at another overlap, byte by byte."""
    allocation = result.system.locations.allocation
    if allocation[left] != allocation[right]:
        return False
    ours, theirs = addresses(result, left), addresses(result, right)
    if ours is None or theirs is None:
        return True
    return any(a < b + m and b < a + n for a in ours for b in theirs)


def test_sets_are_the_single_sets(result: PointsToResult) -> None:
    values = sample(result)
    found = result.sets(values)
    assert len(found) == len(values)
    assert (np.diff(found.offsets) == [len(found[i]) for i in range(len(found))]).all()
    for i, value in enumerate(values.tolist()):
        every = set(found[i].tolist()) | (
            set(found.escaped.tolist()) if found.unknown[i] else set()
        )
        assert every == held(result, value)
        single = result.of(value)
        assert every == set(single.ids.tolist())
        assert found.unknown[i] == single.unknown
        assert found[i].tolist() == sorted(set(found[i].tolist()))
        assert single == result.of(result.program.value_view(value))
        if every or single.unknown:
            assert single == result.of(result.naming.value(value))


def test_variables_are_groups_of_nodes(result: PointsToResult) -> None:
    names = [result.naming.readable(value) for value in sample(result).tolist()]
    names = [name for name in names if not name.startswith("&") and askable(result, name)]
    found = result.sets(names)
    for i, name in enumerate(names):
        nodes = result.node_ids(name).tolist()
        known = set().union(*(held(result, node) for node in nodes))
        assert known == set(result.of(name).ids.tolist())
        assert set(found[i].tolist()) <= known
        assert found.unknown[i] == any(result.solution.unknown[node] for node in nodes)
    if names:
        together = result.may_alias(names, names[::-1])
        singles = [result.may_alias(a, b) for a, b in zip(names, names[::-1], strict=True)]
        assert together.tolist() == singles


def askable(result: PointsToResult, name: str) -> bool:
    try:
        result.of(name)
    except kleene.SourceError:
        return False
    return True


def test_aliases_are_the_single_aliases_and_those_of_bytes(result: PointsToResult) -> None:
    values = sample(result)
    left, right = (side.ravel() for side in np.meshgrid(values, values))
    may, must = result.may_alias(left, right), result.must_alias(left, right)
    known_outside = set(np.flatnonzero(result.known_outside).tolist())
    unknown = result.solution.unknown
    for i, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        assert may[i] == result.may_alias(a, b), (a, b)
        assert must[i] == result.must_alias(a, b), (a, b)
        assert may[i] or not must[i]
        ours, theirs = held(result, a), held(result, b)
        n, m = widest(result, a), widest(result, b)
        touches = any(touch(result, o, n, p, m) for o in ours for p in theirs)
        outside = bool(unknown[a] and unknown[b])  # both may be one thing outside the program
        assert may[i] or not (touches or outside), (a, b)
        if not known_outside & (ours | theirs) and not any_rows(result, ours, theirs):
            assert may[i] == (touches or outside), (a, b)


def any_rows(result: PointsToResult, ours: set[int], theirs: set[int]) -> bool:
    """Whether both hold elements of arrays, whose ends the analysis does not compare."""
    stride = result.system.locations.stride
    return any(stride[o] for o in ours) and any(stride[o] for o in theirs)


def test_effects_of_functions_are_the_single_ones(result: PointsToResult) -> None:
    functions = [f for f in result.program.functions if not f.is_declaration]
    effects = result.mod_ref(np.array([f.row for f in functions]))
    for i, function in enumerate(functions):
        single = result.mod_ref(function.name)
        for objects, names in ((effects.reads, single.reads), (effects.writes, single.writes)):
            assert [result.naming.object(o) for o in objects[i].tolist()] == known(names)
        assert effects.unknown[i] == single.reads.unknown == single.writes.unknown
        assert result.mod_ref(function).writes == single.writes


def known(found: ObjectSet) -> list[str]:
    return [object.name for object in found.known]


def test_a_function_touches_what_its_instructions_touch(result: PointsToResult) -> None:
    """Directly or by a call, and no more: effects of instructions add up to those of functions."""
    for function in result.program.functions:
        if function.is_declaration:
            continue
        rows = [instruction.row for instruction in function.instructions]
        parts, whole = result.mod_ref_of_instructions(rows), result.mod_ref([function.row])
        for each, all_of_it in ((parts.reads, whole.reads), (parts.writes, whole.writes)):
            assert set(each.values.tolist()) == set(all_of_it[0].tolist()), function.name
        assert parts.unknown.any() == whole.unknown[0]


def test_an_access_touches_the_bytes_that_it_may_touch(result: PointsToResult) -> None:
    table, locations = result.program.instructions, result.system.locations
    rows = np.flatnonzero(np.isin(table.opcode, [Opcode.LOAD, Opcode.STORE]))
    rows = rows[:: max(1, len(rows) // N_SAMPLE)]
    effects = result.mod_ref_of_instructions(rows)
    for i, row in enumerate(rows.tolist()):
        view = result.program.instruction_view(row)
        is_load = view.opcode == Opcode.LOAD
        pointer = view.operands[0 if is_load else 1].id
        n_bytes = max((view if is_load else view.operands[0]).type.size_bytes, 1)
        touched = set((effects.reads if is_load else effects.writes)[i].tolist())
        assert not len((effects.writes if is_load else effects.reads)[i])
        objects = {o for p in reached(result, pointer) for o in storage(result, p)}
        expected = {
            o
            for o in objects
            if locations.n_bytes[o] > 0
            and any(
                touch(result, p, n_bytes, o, int(locations.n_bytes[o]))
                for p in reached(result, pointer)
            )
        }
        assert touched <= expected | rows_of(result, objects)
        assert {o for o in expected if may_change(result, o, is_load)} <= touched
        names = [result.naming.object(o) for o in effects.reads[i].tolist()]
        assert known(result.mod_ref(view).reads) == names


def storage(result: PointsToResult, object: int) -> range:
    allocation = int(result.system.locations.allocation[object])
    return range(*result.system.problem.allocation_offsets[allocation : allocation + 2].tolist())


def rows_of(result: PointsToResult, objects: set[int]) -> set[int]:
    return {o for o in objects if result.system.locations.stride[o]}


def may_change(result: PointsToResult, object: int, is_load: bool) -> bool:
    """Whether an object is data, and for a store no constant."""
    allocation = int(result.system.locations.allocation[object])
    kind = result.system.allocations.kind[allocation]
    if kind == AllocationKind.FUNCTION:
        return False
    if is_load or kind != AllocationKind.GLOBAL:
        return True
    variable = result.program.value_view(int(result.system.allocations.site[allocation]))
    assert isinstance(variable, Global)
    return GlobalFlag.CONSTANT not in variable.flags


def test_call_sites_are_columns(result: PointsToResult) -> None:
    graph, program = result.call_graph(), result.program
    calls = {row for row, opcode in enumerate(program.instructions.opcode) if opcode in CALLS}
    for site in graph.sites:
        row, targets = int(graph.call[site.id]), graph.targets_of(site.id).tolist()
        assert row in calls or row == -1
        if row >= 0:
            assert site.caller == result.naming.function(program.instruction_view(row).function.row)
            assert site.id in graph.sites_in(int(graph.caller[site.id]))
        assert site.known == tuple(result.naming.function(f) for f in targets)
        for function in targets:
            assert int(graph.caller[site.id]) in [*graph.caller_ids(function).tolist(), -1]
            if row >= 0:
                assert function in graph.callee_ids(int(graph.caller[site.id]))


def test_a_graph_within_a_function_is_what_it_reaches(result: PointsToResult) -> None:
    graph = result.call_graph()
    for function in graph.functions[:6]:
        part = graph.within(function)
        reached = set(graph.reachable(function))
        reached |= {OUTSIDE} if graph.reached(graph.id(function))[-1] else set()
        assert {site.caller for site in part.sites} <= reached
        every = replace(graph, entries=graph.entries[:0]).edges
        expected = [e for e in every if e.caller in reached]
        assert set(part.edges) == set(expected)
        assert part.reachable(function) == graph.reachable(function)


def test_reachable_functions_are_those_that_steps_reach(result: PointsToResult) -> None:
    """By the definition: close a set under callees, what escapes, and opaque functions."""
    graph = result.call_graph()
    for start in graph.functions:
        found, waiting = {start}, [start]
        while waiting:
            name = waiting.pop()
            following = set(graph.escaped if name == OUTSIDE else graph.callees(name))
            waiting += following - found
            found |= following
        assert set(graph.reachable(start)) == found - {OUTSIDE}, start


def test_a_points_to_graph_has_the_sets_of_a_function(result: PointsToResult) -> None:
    for function in result.program.functions:
        found = result.graph(function)
        edges = set(found.edges())
        for i, value in enumerate(found.values.tolist()):
            assert result.naming.function_of(value) == function.row
            name = result.naming.value(value)
            assert {o for v, o in edges if v == name} == {
                *(result.naming.object(o) for o in result.sets([value])[0].tolist()),
                *(["unknown"] if found.held.unknown[i] else []),
            }
        reached = set(found.objects.tolist())
        assert set(found.held.objects.tolist()) | set(found.contents.objects.tolist()) <= reached
        assert found.to_dot().count(" -> ") == len(found.edges())


def test_numbers_of_nothing_are_refused(tmp_path: Path) -> None:
    result = solved(tmp_path, "int main(void) { int *p = 0; return p == 0; }\n")
    for question in (
        lambda: result.of(-1),
        lambda: result.sets(np.array([0, 1 << 20])),
        lambda: result.may_alias(0, 1 << 20),
        lambda: result.mod_ref(99),
        lambda: result.pointed_by(1 << 20),
    ):
        with pytest.raises(IndexError, match="is a number from 0 to"):
            question()
    assert len(result.sets(np.empty(0, np.int32))) == 0
    assert result.may_alias([], []).tolist() == []
    assert len(result.mod_ref([])) == 0
