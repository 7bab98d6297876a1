"""Threads share work: each share is done once, after all phases before it, by whoever comes."""

import os

import numpy as np
import pytest

from kleene.kernels import minplus
from kleene.kernels.compiled import CompilationUnit
from kleene.kernels.minplus.cpu import closure, shares
from kleene.kernels.minplus.cpu.shares import can_begin, done, end, next_share
from kleene.kernels.minplus.cpu.tiles import CLOSED
from tests.kernels.minplus.octagon_inputs import random_octagon

N_PHASES, N_SHARES = 50, 8


@CompilationUnit(__file__, shares.__file__).entry_point
def take_all(counts, in_order, end_at, state):
    number = next_share(state)
    while number < len(counts):
        before = number // N_SHARES * N_SHARES
        if not can_begin(state, before):
            break
        in_order[number] = counts[:before].sum() == before
        counts[number] += 1
        if number == end_at:
            end(state)
        done(state)
        number = next_share(state)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_share_is_done_once_and_phases_in_order(n_threads):
    counts, in_order = np.zeros(N_PHASES * N_SHARES, np.int64), np.zeros(N_PHASES * N_SHARES, bool)

    def work(state):
        take_all(counts, in_order, -1, state)

    assert shares.work_together(work, len(counts), n_threads)
    assert (counts == 1).all()
    assert in_order.all()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_work_may_end_early(n_threads):
    counts, in_order = np.zeros(N_PHASES * N_SHARES, np.int64), np.zeros(N_PHASES * N_SHARES, bool)
    end_at = 3 * N_SHARES

    def work(state):
        take_all(counts, in_order, end_at, state)

    assert not shares.work_together(work, len(counts), n_threads)
    assert (counts[: 3 * N_SHARES] == 1).all()
    assert not counts[4 * N_SHARES :].any()


def close_on_three(m):
    return closure.close_large(m, m.dtype, False, 3)


def test_nobody_is_waited_for(monkeypatch):
    monkeypatch.setattr(shares._Helpers, "ask", lambda *_: None)
    m = random_octagon(40, np.float64, np.random.default_rng(1), 0.5)
    expected = m.copy()
    assert minplus.close(expected)
    assert close_on_three(m) == CLOSED
    assert np.array_equal(m, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own():
    m = random_octagon(40, np.float64, np.random.default_rng(2), 0.5)
    again, helpers = m.copy(), shares._helpers()
    assert close_on_three(m) == CLOSED
    child = os.fork()
    if child == 0:
        same = close_on_three(again) == CLOSED and np.array_equal(m, again)
        os._exit(0 if same and shares._helpers() is not helpers else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
