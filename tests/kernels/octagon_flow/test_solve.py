"""Every state of a random walk through a problem satisfies the solution, on every device."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from kleene.base.device import Device
from kleene.kernels import compiled, launch
from kleene.kernels.launch import host
from kleene.kernels.octagon_flow import FlowGraphs, FlowProblem, FlowSolution, predicted_s, solve
from kleene.kernels.octagon_flow.codes import ASSIGN, ASSUME, CHECK, EXCLUDE, FAIL, INFINITE, SET
from kleene.kernels.octagon_flow.sparse import sparse

needs_the_host_runner = pytest.mark.skipif(host.problem() is not None, reason=str(host.problem()))
DEEP = os.environ.get("KLEENE_DEEP") == "1"
N_PROBLEMS = 300 if DEEP else 25
Operation = tuple[int, int, int, int, int]


def counting(most: int = 2**31 - 1) -> FlowProblem:
    """`i = 0; while (i < n) i++;` with 0 <= n: behind it i == n, and i < n does not hold."""
    graphs = FlowGraphs(
        np.array([0, 4]),
        np.array([0, 0, 2, 3, 4]),
        np.array([0, 2, 1, 1], np.int32),
        np.array([0, 1, 3, 4, 4]),
        np.array([1, 2, 3, 1], np.int32),
        np.array([0, 1, 0, 0], np.uint8),
    )
    operations: list[Operation] = [
        (SET, 0, 0, 0, 0),
        (ASSIGN, 0, 0, 1, 1),
        (ASSUME, 0, 3, 0, -1),
        (ASSUME, 2, 1, 0, 0),
        (CHECK, 0, 3, 0, 0),
        (CHECK, 2, 1, 0, 0),
        (CHECK, 0, 3, 1, -1),
    ]
    columns = (np.ascontiguousarray(one) for one in np.array(operations, np.int64).T)
    return FlowProblem(
        graphs,
        np.array([0]),
        np.array([2]),
        np.array([-most - 1, 0]),
        np.array([most, most]),
        np.array([0, 1, 2, 3, 4]),
        np.array([4, 4, 4, 4, 7]),
        *columns,
        2,
    )


def test_a_counting_loop_ends_at_its_limit() -> None:
    solution = solve(counting(), device=Device.CPU)
    assert solution.proved.tolist() == [True, False]
    assert not solution.is_given_up.any()


def test_a_loop_until_two_numbers_are_equal_stays_below() -> None:
    """`i = 0; do … while (++i != n);` with 1 <= n: inside, i < n."""
    graphs = FlowGraphs(
        np.array([0, 3]),
        np.array([0, 0, 2, 3]),
        np.array([0, 1, 1], np.int32),
        np.array([0, 1, 3, 3]),
        np.array([1, 1, 2], np.int32),
        np.array([0, 1, 0], np.uint8),
    )
    operations: list[Operation] = [
        (SET, 0, 0, 0, 0),
        (EXCLUDE, 0, 3, 0, -1),
        (ASSIGN, 0, 0, 1, 1),
        (CHECK, 0, 3, 0, -1),
        (CHECK, 0, 3, 1, -2),
    ]
    columns = (np.ascontiguousarray(one) for one in np.array(operations, np.int64).T)
    problem = FlowProblem(
        graphs,
        np.array([0]),
        np.array([2]),
        np.array([-(2**31), 1]),
        np.array([2**31 - 1, 2**31 - 1]),
        np.array([0, 1, 3, 3]),
        np.array([3, 3, 5, 5]),
        *columns,
        2,
    )
    assert solve(problem, device=Device.CPU).proved.tolist() == [True, False]


def test_what_takes_too_long_proves_nothing() -> None:
    solution = solve(counting(), device=Device.CPU, visits=-3)
    assert solution.is_given_up.all()
    assert not solution.proved.any()


def random_problem(seed: int, *, has_few_operations: bool = False) -> FlowProblem:
    """Return packs on one random graph."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 7))
    pairs = {(max(0, int(rng.integers(node))), node) for node in range(1, n_nodes)}
    for _ in range(int(rng.integers(1, 5))):
        source, target = int(rng.integers(n_nodes)), int(rng.integers(1, n_nodes))
        pairs.add((source, target))
    edges = sorted(pairs, key=lambda one: (one[1], one[0]))
    source, target = np.array(edges, np.int64).T
    heads = np.zeros(n_nodes, np.uint8)
    heads[target[source >= target]] = 1
    by_source = np.argsort(source, kind="stable")
    graphs = FlowGraphs(
        np.array([0, n_nodes]),
        np.searchsorted(target, np.arange(n_nodes + 1)),
        source.astype(np.int32),
        np.searchsorted(source[by_source], np.arange(n_nodes + 1)),
        target[by_source].astype(np.int32),
        heads,
    )
    n_packs = 3
    n_variables = rng.integers(1, 4, n_packs)
    n_checks = 0
    edge_ops, node_ops = [], []
    lists: tuple[list[Operation], list[Operation]] = ([], [])
    for n in n_variables.tolist():
        for place, (starts, n_places) in enumerate(((edge_ops, len(edges)), (node_ops, n_nodes))):
            starts.append(len(lists[place]))
            for _ in range(n_places):
                n_here = int(rng.random() < 0.3) if has_few_operations else int(rng.integers(0, 3))
                for _ in range(n_here):
                    one, n_checks = random_operation(rng, n, place == 1, n_checks)
                    lists[place].append(one)
                starts.append(len(lists[place]))
    every = np.array([*lists[0], *lists[1]], np.int64).reshape(-1, 5).T
    return FlowProblem(
        graphs,
        np.zeros(n_packs, np.int64),
        n_variables,
        np.full(n_variables.sum(), -60),
        np.full(n_variables.sum(), 60),
        np.array(edge_ops),
        np.array(node_ops) + len(lists[0]),
        *(np.ascontiguousarray(one) for one in every),
        n_checks,
    )


def random_operation(
    rng: np.random.Generator, n: int, is_node: bool, n_checks: int
) -> tuple[Operation, int]:
    codes = (
        SET,
        ASSIGN,
        ASSIGN,
        ASSUME,
        ASSUME,
        EXCLUDE,
        *((CHECK, CHECK, FAIL) if is_node else ()),
    )
    code = int(rng.choice(codes))
    number = int(rng.integers(-4, 6))
    more = number + int(rng.integers(0, 2))
    variable, literal = int(rng.integers(n)), int(rng.integers(2 * n))
    if code == SET:
        return (SET, variable, 0, number, more), n_checks
    if code == ASSIGN:
        return (ASSIGN, variable, literal, number, more), n_checks
    second = int(rng.integers(2 * n)) if rng.random() < 0.7 else -1
    if second >> 1 == literal >> 1:
        second = -1
    if code == ASSUME:
        return (ASSUME, literal, second, 0, number + 6), n_checks
    if code == EXCLUDE:
        return (EXCLUDE, literal, second, 0, number), n_checks
    return (code, literal, second, n_checks, number + 8), n_checks + 1


class Walk:
    """One random run of a pack; `seen` has its states before nodes, `failed` the checks."""

    def __init__(self, problem: FlowProblem, pack: int, seed: int) -> None:
        self.problem, self.pack, self.rng = problem, pack, np.random.default_rng(seed)
        self.failed: set[int] = set()
        self.seen: list[tuple[int, list[int]]] = []
        n = int(problem.n_variables[pack])
        state = self.rng.integers(-8, 9, n).tolist()
        node = 0
        graphs = problem.graphs
        n_edges = len(graphs.edge_source)
        edge_base = pack * (n_edges + 1)
        node_base = pack * (len(graphs.is_head) + 1)
        for _ in range(30):
            if any(not -60 <= value <= 60 for value in state):
                return
            self.seen.append((node, list(state)))
            if not self.apply(state, problem.node_ops[node_base + node :][:2]):
                return
            out = [
                (edge, target)
                for target in range(len(graphs.is_head))
                for edge in range(graphs.in_offsets[target], graphs.in_offsets[target + 1])
                if graphs.edge_source[edge] == node
            ]
            if not out:
                return
            edge, node = out[int(self.rng.integers(len(out)))]
            if not self.apply(state, problem.edge_ops[edge_base + edge :][:2]):
                return

    def apply(self, state: list[int], ends: np.ndarray) -> bool:
        """Change a state by operations; return whether it goes on."""
        p = self.problem
        for at in range(int(ends[0]), int(ends[1])):
            code, first, second = int(p.code[at]), int(p.first[at]), int(p.second[at])
            low, high = int(p.least[at]), int(p.most[at])
            if code == SET:
                state[first] = int(self.rng.integers(low, high + 1))
            elif code == ASSIGN:
                state[first] = literal(state, second) + int(self.rng.integers(low, high + 1))
            elif code == FAIL:
                self.failed.add(low)
            else:
                total = literal(state, first) + (literal(state, second) if second >= 0 else 0)
                if code == CHECK and total > high:
                    self.failed.add(low)
                if (code == ASSUME and total > high) or (code == EXCLUDE and total == high):
                    return False
        return True


def literal(state: list[int], number: int) -> int:
    return -state[number >> 1] if number & 1 else state[number >> 1]


def matrices(problem: FlowProblem, solution: FlowSolution) -> Iterator[np.ndarray]:
    """Yield for each pack what holds before its nodes."""
    assert solution.before is not None
    begin = 0
    for n, size in zip(problem.n_variables.tolist(), problem.state_sizes.tolist(), strict=True):
        n_nodes, w = len(problem.graphs.is_head), 2 * n
        yield solution.before[begin : begin + n_nodes * w * w].reshape(n_nodes, w, w)
        begin += size


def violated(matrix: np.ndarray, state: list[int]) -> bool:
    ends = np.array([sign * value for value in state for sign in (1, -1)])
    difference = ends[None, :] - ends[:, None]
    return bool(((matrix < INFINITE) & (difference > matrix)).any())


def test_random_walks_stay_inside() -> None:
    n_seen = n_failed = n_proved = 0
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed)
        solution = solve(problem, device=Device.CPU, keeps_states=True, visits=200)
        assert solution.reached is not None
        n_proved += int(solution.proved.sum())
        reached = solution.reached.reshape(problem.n_packs, -1)
        for pack, found in enumerate(matrices(problem, solution)):
            if solution.is_given_up[pack]:
                continue
            for walk in (Walk(problem, pack, 100 * seed + k) for k in range(40)):
                for node, state in walk.seen:
                    n_seen += 1
                    assert reached[pack, node], (seed, pack, node)
                    assert not violated(found[node], state), (seed, pack, node, state)
                assert not solution.proved[list(walk.failed)].any(), (seed, pack)
                n_failed += len(walk.failed)
    assert n_seen > 1000
    assert n_failed > 50
    assert n_proved > 10


def test_a_wrong_state_is_noticed() -> None:
    assert violated(np.array([[0, 4], [4, 0]]), [3])  # 2x <= 4
    assert not violated(np.array([[0, 4], [4, 0]]), [-2])


@pytest.mark.parametrize(
    "place",
    [
        "compiled",
        "interpreted",
        pytest.param("cuda-host", marks=needs_the_host_runner),
        "threads",
    ],
)
def test_places_agree(place: str) -> None:
    for seed in range(6):
        problem = random_problem(1000 + seed)
        expected = solve(problem, device=Device.CPU, keeps_states=True)
        is_cuda = place == "cuda-host"
        with (
            launch.on_host(seed) if is_cuda else nullcontext(),
            compiled.interpreted(place != "compiled"),
        ):
            if place == "threads":
                found = solve(problem, device=Device.CPU, threads=3)
            else:
                device = Device.CUDA if is_cuda else Device.CPU
                found = solve(problem, device=device, keeps_states=True)
        assert np.array_equal(found.proved, expected.proved)
        assert np.array_equal(found.n_evaluations, expected.n_evaluations)
        if found.before is None or expected.before is None:
            continue
        assert found.reached is not None
        assert expected.reached is not None
        assert np.array_equal(found.reached, expected.reached)
        n_nodes = len(problem.graphs.is_head)
        for pack, (a, b) in enumerate(
            zip(matrices(problem, found), matrices(problem, expected), strict=True)
        ):
            is_there = expected.reached.reshape(-1, n_nodes)[pack] != 0
            assert np.array_equal(a[is_there], b[is_there])


def test_nodes_that_change_nothing_are_left_out() -> None:
    n_left_out = 0
    for seed in range(N_PROBLEMS):
        problem = random_problem(seed, has_few_operations=True)
        kept, nodes = sparse(problem)
        n_left_out += int(problem.n_nodes.sum()) - len(nodes)
        whole = solve(problem, device=Device.CPU, keeps_states=True, visits=200)
        found = solve(kept, device=Device.CPU, keeps_states=True, visits=200)
        assert found.reached is not None
        assert found.before is not None
        parts = np.split(nodes, np.cumsum(kept.n_nodes)[:-1])
        at = state = 0
        for pack, part in enumerate(parts):
            w = 2 * int(kept.n_variables[pack])
            for place, node in enumerate(part.tolist()):
                walks = [Walk(problem, pack, 100 * seed + k) for k in range(10)]
                seen = [one for walk in walks for here, one in walk.seen if here == node]
                begin = state + place * w * w
                matrix = found.before[begin : begin + w * w].reshape(w, w)
                assert not seen or found.reached[at + place]
                assert not any(violated(matrix, one) for one in seen), (seed, pack, node)
            at += len(part)
            state += int(kept.state_sizes[pack])
        asked = ~(whole.is_given_up.any() | found.is_given_up.any())
        if asked and not problem.graphs.is_head.any():
            assert np.array_equal(whole.proved, found.proved)
    assert n_left_out > N_PROBLEMS


@needs_the_host_runner
def test_batches_of_a_gpu_agree() -> None:
    """States that do not fit together are taken in turns."""
    from kleene.kernels.octagon_flow import cuda

    problem = random_problem(7)
    budget = 16 * problem.n_nodes + 16
    with launch.on_host():
        whole = cuda.solve(problem, budget, False, 1 << 30)
        parts = cuda.solve(problem, budget, False, 1)
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[2], parts[2])


def test_auto_leaves_small_problems_to_the_cpu() -> None:
    assert solve(replace(counting())).device is Device.CPU


def test_a_gpu_is_for_many_packs_and_not_for_long_ones() -> None:
    """A GPU has a block for each pack, but is slower than a core at nodes one by one."""
    one = counting()
    n_nodes = int(one.n_nodes[0])
    many = replace(
        one, graph=np.zeros(5000, np.int64), n_variables=np.repeat(one.n_variables, 5000)
    )
    assert predicted_s(many, 16)[1] < predicted_s(many, 16)[0] < predicted_s(many, 1)[0]
    long = replace(one, graphs=replace(one.graphs, nodes=np.array([0, 5000 * n_nodes])))
    assert predicted_s(long, 16)[0] < predicted_s(long, 16)[1]
