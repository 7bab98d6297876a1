"""Why a pointer holds an object: every step is an instance of a rule, and the chain is shortest."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.solvers.inclusion import FROM_OUTSIDE, TO_OUTSIDE, Problem, Solution, reference
from kleene.solvers.inclusion.why import OUTSIDE, Derivations, Flow, Rule
from tests.solvers.inclusion.strategies import random_problem

EVENTS = Path(__file__).resolve().parents[3] / "examples" / "events"


def holds(solution: Solution, node: int, object: int) -> bool:
    if node == OUTSIDE:
        return bool(solution.escaped[object])
    return object in solution.of(node).tolist()


def follows(problem: Problem, solution: Solution, flow: Flow) -> bool:
    """Whether a flow is an instance of a rule, told rule by rule from the problem's definition."""
    p, row = problem, flow.row
    node, source, via = flow.node, flow.source, flow.via
    same = flow.object == flow.from_object
    if flow.rule == Rule.ADDRESS:
        return (p.address_node[row], p.address_object[row]) == (node, flow.object)
    if flow.rule == Rule.COPY:
        return same and (p.copy_destination[row], p.copy_source[row]) == (node, source)
    if flow.rule == Rule.LOAD:
        from_there = (
            solution.unknown[via]
            if source == OUTSIDE
            else source in p.contents[solution.of(via)].tolist()
        )
        return bool(same and from_there) and (p.load_destination[row], p.load_pointer[row]) == (
            node,
            via,
        )
    if flow.rule == Rule.STORE:
        to_there = (
            solution.unknown[via]
            if node == OUTSIDE
            else node in p.contents[solution.of(via)].tolist()
        )
        return bool(to_there) and (p.store_pointer[row], p.store_source[row]) == (via, source)
    if flow.rule == Rule.OFFSET:
        state = reference._State(problem)  # type: ignore[attr-defined]
        amount = int(p.offset_amount[row])
        is_unknown = same and solution.unknown[source] and solution.escaped[flow.object]
        is_there = is_unknown or flow.object in state.images(flow.from_object, amount)
        return bool(is_there) and (
            p.offset_destination[row],
            p.offset_source[row],
        ) == (node, source)
    if flow.rule in (Rule.ARGUMENT, Rule.RESULT):
        return is_call_flow(problem, solution, flow)
    if flow.rule == Rule.ENTER:
        return source == OUTSIDE and is_open(problem, solution, node, FROM_OUTSIDE)
    return node == OUTSIDE and is_open(problem, solution, source, TO_OUTSIDE)


def is_call_flow(p: Problem, solution: Solution, flow: Flow) -> bool:
    call = flow.row
    actuals = p.actuals[p.actual_offsets[call] : p.actual_offsets[call + 1]].tolist()
    if OUTSIDE in (flow.node, flow.source):
        inside = (
            flow.source in actuals if flow.node == OUTSIDE else flow.node == p.call_result[call]
        )
        return bool(solution.calls_outside[call]) and inside
    for function in solution.call_edges[solution.call_edges[:, 0] == call, 1].tolist():
        formals = p.formals[p.formal_offsets[function] : p.formal_offsets[function + 1]].tolist()
        rest = [int(p.function_rest[function])] * len(actuals)
        pairs = list(zip((formals + rest), actuals, strict=False))
        result = int(p.call_result[call]), int(p.function_result[function])
        if (flow.node, flow.source) in (pairs if flow.rule == Rule.ARGUMENT else [result]):
            return True
    return False


def is_open(p: Problem, solution: Solution, node: int, flag: int) -> bool:
    """Whether the outside reads (TO) or writes (FROM) a node."""
    flagged = p.flagged_node[(p.flags & flag) != 0]
    escaped = solution.escaped[p.function_object]
    found = [flagged, p.contents[solution.escaped]]
    if flag == TO_OUTSIDE:
        found.append(p.function_result[escaped])
    else:
        found += [
            p.function_rest[escaped],
            p.formals[np.repeat(escaped, np.diff(p.formal_offsets))],
        ]
    return node in np.concatenate(found).tolist()


@given(seed=st.integers(0, 2**32 - 1))
def test_a_fact_has_a_chain_of_rule_instances_and_nothing_else_has(seed: int) -> None:
    problem = random_problem(seed)
    solution = reference.solve(problem)
    derivations = Derivations(problem, solution)
    rng = np.random.default_rng(seed)
    for _ in range(12):
        if not problem.n_objects or not problem.n_nodes:
            return
        node, object = int(rng.integers(problem.n_nodes)), int(rng.integers(problem.n_objects))
        found = derivations.shortest([node], [object])
        assert (found is not None) == holds(solution, node, object)
        if found is None:
            continue
        assert found[0].rule == Rule.ADDRESS
        assert (found[-1].node, found[-1].object) == (node, object)
        for before, after in pairwise(found):
            assert (before.node, before.object) == (after.source, after.from_object)
        for flow in found:
            assert holds(solution, flow.node, flow.object)
            assert follows(problem, solution, flow), flow


@pytest.fixture(scope="module")
def events() -> PointsToResult:
    return kleene.load(EVENTS).points_to(device="cpu")


def test_a_callback_through_a_list_on_the_heap(events: PointsToResult) -> None:
    found = events.explain("run_all.%9", "redraw")
    assert [step.location for step in found.steps] == [
        "handlers.c:13:3",
        "queue.c:17:14",
        "queue.c:27:5",
    ]
    assert [step.rule for step in found.steps] == [Rule.COPY, Rule.STORE, Rule.LOAD]
    assert "later.run is stored in heap@queue.c:15:25" in str(found)


def test_an_initialiser_is_a_step_of_its_own(events: PointsToResult) -> None:
    first = events.explain("main.handle", "on_key").steps[0]
    assert (first.location, first.text) == ("handlers.c:23", "table is initialised with on_key")


def test_steps_through_copies_of_memory_have_no_nameless_stations(events: PointsToResult) -> None:
    found = events.explain("redraw.context", "editor")
    assert all("on the way" not in step.text for step in found.steps)
    assert "main.events[0].target gets __const.main.events.target" in [
        step.text for step in found.steps
    ]


def test_what_is_not_held_is_not_explained(events: PointsToResult) -> None:
    with pytest.raises(kleene.SourceError) as error:
        events.explain("main.handle", "redraw")
    assert error.value.id == "points-to/no-such-fact"
    assert "on_key" in error.value.notes[0]
