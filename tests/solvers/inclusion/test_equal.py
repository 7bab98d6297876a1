"""Every solver gives the oracle's answer, set for set, and keeps the laws of least answers."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.solvers.inclusion import (
    BY_LAYOUT,
    NONE,
    TO_OUTSIDE,
    Problem,
    Rows,
    Solution,
    cpu,
    difference,
    reference,
)
from kleene.solvers.inclusion.builder import ConstraintBuilder
from tests.solvers.inclusion.registry import OF_ALL_RULES, Solver
from tests.solvers.inclusion.strategies import problem_of, random_problem

# Three depths: a developer's run, CI's, and by hand or at night all of them, for minutes
DEPTH = 2 if os.environ.get("KLEENE_DEEP") else 1 if os.environ.get("CI") else 0
ALL = 10_000
# A kernel on the host runner takes milliseconds a launch; so do threads of a tiny problem.
N_PROBLEMS = {
    "paper-andersen": (200, 400, ALL),
    "paper-eigencfa": (200, 400, ALL),
    "cpu": (300, 1_000, ALL),
    "cpu-shards": (100, 400, ALL),
    "cpu-classes": (200, 600, ALL),
    "cpu-shards-classes": (100, 400, ALL),
    "cpu-split-late": (100, 400, ALL),
    "cuda": (10, 60, ALL),
    "hybrid": (10, 40, ALL),
    "paper-sharing": (10, 40, ALL),
}

of_all_rules = pytest.mark.parametrize("solver", OF_ALL_RULES, indirect=True)


def test_random_problems(rival: Solver) -> None:
    for number in range(N_PROBLEMS[rival.name][DEPTH]):
        problem = rival.language.by_number(number)
        found = difference(rival.solve(problem), reference.solve(problem))
        assert found is None, f"problem {number}: {found}"


def test_random_problems_ask_for_something() -> None:
    """Most answers say more than the address rows do, and many calls find their targets."""
    problems = [random_problem(number) for number in range(200)]
    answers = [reference.solve(problem) for problem in problems]
    pairs = zip(problems, answers, strict=True)
    assert sum(answer.n_facts > len(problem.address_node) for problem, answer in pairs) > 100
    assert sum(len(answer.call_edges) > 0 for answer in answers) > 40
    assert sum(answer.unknown.any() for answer in answers) > 30


@given(data=st.data())
def test_drawn_problems(data: st.DataObject, rival: Solver) -> None:
    problem = data.draw(rival.language.problems)
    assert difference(rival.solve(problem), reference.solve(problem)) is None


@given(data=st.data())
def test_solving_twice_gives_the_same_and_leaves_the_problem_alone(
    data: st.DataObject, solver: Solver
) -> None:
    problem = data.draw(solver.language.problems)
    columns = {name: column.copy() for name, column in problem.columns().items()}
    assert difference(solver.solve(problem), solver.solve(problem)) is None
    for name, column in problem.columns().items():
        assert np.array_equal(column, columns[name]), f"the solver wrote to {name}"


@given(data=st.data())
def test_more_constraints_never_shrink_anything(data: st.DataObject, solver: Solver) -> None:
    problem = data.draw(solver.language.problems)
    small, large = solver.solve(thinned(problem, data)), solver.solve(problem)
    assert not (small.unknown & ~large.unknown).any()
    assert not (small.escaped & ~large.escaped).any()
    for node in range(problem.n_nodes):
        assert np.isin(small.of(node), large.of(node)).all()


@given(data=st.data())
def test_renumbering_permutes_the_answer(data: st.DataObject, solver: Solver) -> None:
    problem = data.draw(solver.language.problems)
    nodes = np.array(data.draw(st.permutations(range(problem.n_nodes))), np.int32)
    order = data.draw(st.permutations(range(len(problem.allocation_offsets) - 1)))
    again, objects = renumbered(problem, nodes, order)
    plain, moved = solver.solve(problem), solver.solve(again)
    assert difference(permuted(plain, nodes, objects), moved) is None


def thinned(problem: Problem, data: st.DataObject) -> Problem:
    """Return the problem without some rows of two of its tables."""
    changes = {}
    for names in (("copy_destination", "copy_source"), ("address_node", "address_object")):
        n_rows = len(getattr(problem, names[0]))
        kept = np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)), bool)
        changes |= {name: getattr(problem, name)[kept] for name in names}
    n_flags = data.draw(st.integers(0, len(problem.flags)))
    changes |= {"flagged_node": problem.flagged_node[:n_flags], "flags": problem.flags[:n_flags]}
    return replace(problem, **changes)


_NO_NODES = ("offset_amount", "flags", "allocation_layout", "image_rows", "images")


def renumbered(problem: Problem, nodes: np.ndarray, order: list[int]) -> tuple[Problem, np.ndarray]:
    """Return the problem with node n called nodes[n] and allocations in that order; and objects."""
    bounds = problem.allocation_offsets
    places = [np.arange(bounds[a], bounds[a + 1]) for a in order]
    old = np.concatenate([np.empty(0, np.int64), *places]).astype(np.int64)
    objects = np.empty(problem.n_objects, np.int32)
    objects[old] = np.arange(problem.n_objects)
    changes: dict[str, np.ndarray] = {}
    for name, column in problem.columns().items():
        if name in ("address_object", "function_object", "constant_object"):
            changes[name] = objects[column]
        elif name not in _NO_NODES and not name.endswith("offsets"):
            changes[name] = np.append(nodes, np.int32(NONE))[column]
    changes["contents"] = changes["contents"][old]
    if len(problem.allocation_layout):
        changes["allocation_layout"] = problem.allocation_layout[order]
    sizes = np.diff(bounds)[np.array(order, np.int64)]
    changes["allocation_offsets"] = np.append(0, np.cumsum(sizes)).astype(np.int32)
    return replace(problem, **changes), objects


def permuted(plain: Solution, nodes: np.ndarray, objects: np.ndarray) -> Solution:
    """Return the answer as it reads after renumbering."""
    inverse = np.argsort(nodes)
    sets = [sorted(objects[plain.rows.objects(int(r))].tolist()) for r in plain.row_of[inverse]]
    return replace(
        plain,
        row_of=np.arange(len(nodes), dtype=np.int32),
        rows=Rows.of_sets(sets),
        unknown=plain.unknown[inverse],
        escaped=plain.escaped[np.argsort(objects)],
    )


@of_all_rules
def test_images_depend_on_the_layout(solver: Solver) -> None:
    """Kind 0 steps on in layout 0, forks in layout 1, drops what is in layout 2; kind 1 is ANY."""
    problem = problem_of(
        3,
        contents=[NONE] * 6,
        allocation_offsets=[0, 2, 5, 6],
        address_node=[0, 0, 0],
        address_object=[0, 3, 5],
        offset_destination=[1, 2],
        offset_source=[0, 0],
        offset_amount=[BY_LAYOUT, BY_LAYOUT - 1],
        allocation_layout=[0, 1, 2],
        image_rows=[0, 2, 5, NONE, NONE, NONE],
        image_offsets=[0, 1, 2, 2, 4, 4, 4],
        images=[1, 1, 0, 2],
    )
    answer = solver.solve(problem)
    sets = [answer.rows.objects(int(row)).tolist() for row in answer.row_of]
    assert sets == [[0, 3, 5], [1, 2, 4], [0, 1, 2, 3, 4, 5]]


@of_all_rules
@pytest.mark.parametrize("amount", [None, 0, 1])
def test_no_fact_supports_itself(solver: Solver, amount: int | None) -> None:
    """p = *q and q = p, while an object o contains itself: o at p would put o at p."""
    p, q, inside = 0, 1, 2
    b = ConstraintBuilder()
    for _ in (p, q, inside):
        b.node()
    b.address(inside, b.allocation([inside]))
    b.load(p, q)
    b.copy(q, p) if amount is None else b.offset(q, p, amount)
    answer = solver.solve(b.problem())
    assert [answer.of(node).tolist() for node in (p, q, inside)] == [[], [], [0]]


@of_all_rules
def test_stores_change_no_constant_contents(solver: Solver) -> None:
    """p = {a, t}, *p = q, x = *p: t keeps what it has, and x sees that and what a got."""
    p, q, x, in_a, in_t = range(5)
    b = ConstraintBuilder()
    for _ in range(5):
        b.node()
    a, t, first, second = (b.allocation([node]) for node in (in_a, in_t, NONE, NONE))
    for node, object in ((p, a), (p, t), (q, second), (in_t, first)):
        b.address(node, object)
    b.constant(t)
    b.store(p, q)
    b.load(x, p)
    answer = solver.solve(b.problem())
    assert [answer.of(node).tolist() for node in (in_a, in_t, x)] == [[3], [2], [2, 3]]


def test_the_outside_changes_no_constant_contents() -> None:
    p, in_a, in_t = range(3)
    b = ConstraintBuilder()
    for _ in range(3):
        b.node()
    a, t, first = (b.allocation([node]) for node in (in_a, in_t, NONE))
    for node, object in ((p, a), (p, t), (in_t, first)):
        b.address(node, object)
    b.constant(t)
    b.flag(p, TO_OUTSIDE)
    for solve in (reference.solve, cpu.solve):
        answer = solve(b.problem())
        assert answer.escaped.tolist() == [True, True, True]
        assert answer.unknown.tolist() == [False, True, False]


@pytest.mark.parametrize("problem", [Problem(0), Problem(3)], ids=["nothing", "nodes alone"])
def test_empty_problems(problem: Problem, rival: Solver) -> None:
    answer = rival.solve(problem)
    assert difference(answer, reference.solve(problem)) is None
    assert answer.n_facts == 0


@of_all_rules
def test_the_worked_example_of_the_points_to_paper(solver: Solver) -> None:
    """x = &a; y = x; b = *y; z = x + 2; *z = b, with a a struct of three fields."""
    x, y, z, b, a = 0, 1, 2, 3, 4  # the nodes of a's fields are a, a + 1 and a + 2
    problem = problem_of(
        7,
        contents=[a, a + 1, a + 2],
        allocation_offsets=[0, 3],
        address_node=[x],
        address_object=[0],
        copy_destination=[y],
        copy_source=[x],
        load_destination=[b],
        load_pointer=[y],
        offset_destination=[z],
        offset_source=[x],
        offset_amount=[2],
        store_pointer=[z],
        store_source=[b],
    )
    answer = solver.solve(problem)
    assert [answer.of(node).tolist() for node in (x, y, z, b)] == [[0], [0], [2], []]


@of_all_rules
@pytest.mark.parametrize(
    ("planted", "holders"),
    [
        ("x", {"x", "y"}),  # the copy edge y -> x, and none from y to x
        ("y", {"y"}),
        ("a", {"a", "b", "a+2"}),  # b -> a by the load, a+2 -> b by the store
        ("b", {"b", "a+2"}),
        ("a+2", {"a+2"}),
    ],
)
def test_the_copy_edges_of_the_worked_example(
    solver: Solver, planted: str, holders: set[str]
) -> None:
    """The edges a solver found show in where a token goes that is planted at one of their ends."""
    name = {"x": 0, "y": 1, "z": 2, "b": 3, "a": 4, "a+1": 5, "a+2": 6}
    token = 3
    problem = problem_of(
        7,
        contents=[4, 5, 6, NONE],
        allocation_offsets=[0, 3, 4],
        address_node=[name["x"], name[planted]],
        address_object=[0, token],
        copy_destination=[name["y"]],
        copy_source=[name["x"]],
        load_destination=[name["b"]],
        load_pointer=[name["y"]],
        offset_destination=[name["z"]],
        offset_source=[name["x"]],
        offset_amount=[2],
        store_pointer=[name["z"]],
        store_source=[name["b"]],
    )
    answer = solver.solve(problem)
    found = {n for n, node in name.items() if token in answer.of(node)}
    assert (
        found - {"z"} == holders
    )  # the offset takes a token along too, and its field is the only one
    assert ("z" in found) == (planted == "x")


def test_the_running_example_of_the_flow_paper(solver: Solver) -> None:
    """((λ1 (v1 w1) (v1 v1 w1)) (λ2 (v2 w2) (w2 v2 w2)) (λ3 (v3 w3) (v3 v3 v3)))."""
    v1, v2, v3, w1, w2, w3, l1, l2, l3 = range(9)
    problem = problem_of(
        9,
        contents=[NONE] * 3,
        address_node=[l1, l2, l3],
        address_object=[0, 1, 2],
        function_object=[0, 1, 2],
        formals=[[v1, w1], [v2, w2], [v3, w3]],
        call_callee=[v1, w2, v3, l1],
        actuals=[[v1, w1], [v2, w2], [v3, v3], [l2, l3]],
    )
    answer = solver.solve(problem)
    store = [answer.of(node).tolist() for node in (v1, w1, v2, w2, v3, w3)]
    assert store == [[1], [2], [1], [1, 2], [1], [1, 2]]
    assert answer.call_edges.tolist() == [[0, 1], [1, 1], [1, 2], [2, 1], [3, 0]]
    assert not answer.unknown.any()
    assert not answer.calls_outside.any()
