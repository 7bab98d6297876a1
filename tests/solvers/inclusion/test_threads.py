"""Threads change how long a solve takes, never its answer; and none of them outlives it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np
import pytest

from kleene.solvers.inclusion import Problem, Solution, cpu, difference, reference
from kleene.solvers.inclusion.cpu import solver, state
from kleene.solvers.inclusion.generate import points_to_like, random_cps, van_horn_mairson
from kleene.solvers.inclusion.threads import Threads
from tests.solvers.inclusion.registry import solve_by_iterations
from tests.solvers.inclusion.strategies import large_problem


def by_shards(problem: Problem, threads: int, **options: object) -> Solution:
    """Solve with a shard for each thread, however small the problem is."""
    return solve_by_iterations(problem, threads, split_words=0, **options)


def tables(found: Solution) -> list[np.ndarray]:
    """Return all that an answer consists of."""
    rows = [found.row_of, found.rows.offsets, found.rows.index, found.rows.word]
    return [*rows, found.unknown, found.escaped, found.call_edges, found.calls_outside]


@pytest.mark.parametrize("make", [large_problem, lambda number: points_to_like(5000, 9000, number)])
def test_answers_are_the_same_bytes_for_any_number_of_threads(
    make: Callable[[int], Problem],
) -> None:
    for number in range(5):
        problem = make(number)
        expected = tables(by_shards(problem, 1))
        for threads in (2, 3, 64):
            for ours, theirs in zip(tables(by_shards(problem, threads)), expected, strict=True):
                assert np.array_equal(ours, theirs), f"problem {number}, {threads} threads"


@pytest.mark.parametrize("seed", [1, 3])
def test_two_threads_find_what_one_finds_on_a_large_graph(seed: int) -> None:
    problem = points_to_like(100_000, 200_000, seed)
    assert difference(cpu.solve(problem, threads=1), cpu.solve(problem, threads=2)) is None


def test_threads_join_where_sets_are_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A chain of small sets stays with one thread; a dense closure is divided, late."""
    dense, chain = random_cps(1_000, 1), van_horn_mairson(300)
    assert cpu.solve(chain, threads=4).statistics["shards"] == 1
    monkeypatch.setattr(solver, "SPLIT_WORDS", 50_000)
    monkeypatch.setattr(solver, "WORDS_A_VISIT", 2)
    divided = cpu.solve(dense, threads=2)
    assert divided.statistics["shards"] == 2
    assert difference(divided, cpu.solve(dense)) is None
    monkeypatch.setattr(solver, "WORDS_A_VISIT", 1 << 20)
    assert cpu.solve(dense, threads=2).statistics["shards"] == 1


@contextmanager
def no_thread_left() -> Iterator[None]:
    """Fail if a thread lives on; one that was interrupted while it was started ends by itself."""
    before = set(threading.enumerate())
    yield
    patience = 6000
    while patience and set(threading.enumerate()) - before:
        time.sleep(0.01)
        patience -= 1
    assert set(threading.enumerate()) <= before


def by_shards_for_ever(problem: Problem, threads: int) -> None:
    while True:
        by_shards(problem, threads)


def test_an_interrupt_between_iterations_leaves_no_thread() -> None:
    def interrupt(_row: object) -> None:
        raise KeyboardInterrupt

    with no_thread_left(), pytest.raises(KeyboardInterrupt):
        by_shards(large_problem(2), 3, trace=interrupt)


def test_an_interrupt_at_any_time_leaves_no_thread_and_no_lock() -> None:
    """The clock rings, sooner or later, while a problem is solved again and again."""
    problem = random_cps(1_500, 1)
    by_shards(problem, 2)  # compiled by now

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for rung in range(12):
            with no_thread_left():
                signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.003 * rung)
                with pytest.raises(KeyboardInterrupt):
                    by_shards_for_ever(problem, 2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert difference(by_shards(problem, 2), cpu.solve(problem)) is None


@pytest.mark.parametrize("in_main", [True, False])
def test_no_memory_in_one_thread_ends_them_all(
    in_main: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "FIRST_WORDS", 1)
    monkeypatch.setattr(state, "FIRST_ROWS", 4)
    more_words = solver.more_words

    def fail(shard: state.Shard) -> state.Shard:
        if (threading.current_thread() is threading.main_thread()) == in_main:
            raise MemoryError
        return more_words(shard)

    problem = large_problem(1)
    monkeypatch.setattr(solver, "more_words", fail)
    with no_thread_left(), pytest.raises(MemoryError):
        by_shards_for_ever(problem, 3)  # which thread takes which shard is up to the system
    monkeypatch.setattr(solver, "more_words", more_words)
    assert difference(by_shards(problem, 3), reference.solve(problem)) is None


def test_a_piece_that_raises_is_heard() -> None:
    def fail() -> None:
        raise ValueError("one piece")

    with Threads(2) as threads, pytest.raises(ValueError, match="one piece"):
        threads.run([fail, int, int])


def test_pieces_give_their_results_in_order() -> None:
    with Threads(3) as threads:
        assert threads.run([lambda i=i: i * i for i in range(7)]) == [i * i for i in range(7)]


def test_who_left_a_class_does_not_grow_with_it() -> None:
    """A and B hold S; A becomes like C, which holds S and x; later B alone gains y."""
    s1, s2, s3, x, y, z, q, r, t = range(9)
    contents = np.arange(9, dtype=np.int32)  # node n is what object n contains
    a, b, c, in_a, in_b, in_c, p, u, v = range(9, 18)
    same = [(node, o) for node in (a, b, c) for o in (s1, s2, s3)]
    addresses = [*same, (c, x), (y, z), (p, q), (q, x), (u, r), (r, t), (t, y)]
    loads = [(in_a, a), (in_b, b), (in_c, c), (a, p), (v, u), (b, v)]
    node, o = np.array(addresses, np.int32).T
    to, pointer = np.array(loads, np.int32).T
    problem = Problem(
        18,
        contents=contents,
        allocation_offsets=np.arange(10, dtype=np.int32),
        address_node=np.ascontiguousarray(node),
        address_object=np.ascontiguousarray(o),
        load_destination=np.ascontiguousarray(to),
        load_pointer=np.ascontiguousarray(pointer),
    )
    found = cpu.solve(problem)
    assert difference(found, reference.solve(problem)) is None
    assert z in found.of(in_b)
    assert z not in found.of(in_a)
