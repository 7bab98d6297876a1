"""How threads share work: in phases of equal numbers of shares, handed out one after another.

Whoever asks gets the next share, and may begin when all shares of the phases before are done. So
whoever holds the first unfinished share never waits, and no thread is waited for: one that comes
late, or never, finds less to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep

import numpy as np

from kleene.base.arrays import I64
from kleene.kernels.compiled import is_interpreting
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point, instruction
from kleene.kernels.pointers import Pointer, pointer

_APART = 16  # elements from one counter to the next: two cache lines, which some CPUs fetch at once
TAKEN, _DONE, _ENDED = 0, _APART, 2 * _APART
SHARES_A_THREAD = 4  # so that a thread that is held up does not hold up the others for long


_lock = Lock()  # of interpreted threads


@instruction
def add_to(counter: Pointer, value: int) -> int:
    """Return what the counter was before `value` was added, as seen by all threads."""
    with _lock:
        before = int(counter[0])
        counter[0] = before + value
    return before


@instruction
def seen(counter: Pointer) -> int:
    """Return what the counter is, and see all that was written before it came to be that."""
    return int(counter[0])


@instruction
def give_way() -> None:
    """Let another thread run here, if one wants to."""
    sleep(0)


def counters() -> I64:
    """Return the counters of work that is about to begin."""
    return np.zeros(3 * _APART, np.int64)


@device_function
def next_share(state: I64) -> int:
    """Return the number of the next share, over all phases."""
    return add_to(pointer(state, TAKEN), 1)


@device_function
def can_begin(state: I64, n_before: int) -> bool:
    """Wait for the first `n_before` shares; return False if all work was ended meanwhile."""
    while seen(pointer(state, _DONE)) < n_before:
        if seen(pointer(state, _ENDED)):
            return False
        give_way()
    return not seen(pointer(state, _ENDED))


@device_function
def done(state: I64) -> None:
    """Say that one more share is done."""
    add_to(pointer(state, _DONE), 1)


@device_function
def end(state: I64) -> None:
    """Say that no share need be done any more."""
    add_to(pointer(state, _ENDED), 1)


@entry_point
def complete(state: I64, n_shares: int) -> bool:
    """Wait for all shares; return whether they were done, rather than ended."""
    return can_begin(state, n_shares)


class _Helpers:
    """Threads that wait for work, as many as were ever asked for."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Callable[[], None]] = SimpleQueue()  # far quicker than an executor
        self.n_threads = 0

    def ask(self, work: Callable[[], None], n_threads: int) -> None:
        while self.n_threads < n_threads:
            self.n_threads += 1
            Thread(target=self._serve, name="kleene-minplus", daemon=True).start()
        for _ in range(n_threads):
            self.asked.put(work)

    def _serve(self) -> None:
        while True:
            self.asked.get()()


@cache
def _helpers() -> _Helpers:
    return _Helpers()


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def n_threads() -> int:
    """Return how many threads Numba was told to use; one, where entry points are interpreted."""
    return 1 if is_interpreting() else int(import_module("numba").get_num_threads())


def work_together(work: Callable[[I64], None], n_shares: int, n_threads: int) -> bool:
    """Run `work` on counters, here and on other threads as they are free, until all is done.

    Returns whether all shares were done, rather than ended.
    """
    state = counters()
    if n_threads > 1:
        _helpers().ask(partial(work, state), n_threads - 1)
    work(state)
    return complete(state, n_shares)
