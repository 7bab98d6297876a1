"""How threads share work: in phases of equal numbers of shares, handed out one after another.

Whoever asks gets the next share, and may begin when all shares of the phases before are done. So
whoever holds the first unfinished share never waits, and no thread is waited for: one that comes
late, or never, finds less to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from queue import SimpleQueue
from threading import Lock, Thread
from time import sleep
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from kleene.kernels.compiled import intrinsic
from kleene.kernels.minplus.cpu.compiled import device_function, entry_point
from kleene.kernels.minplus.cpu.scalar import pointer

_APART = 16  # elements from one counter to the next: two cache lines, which some CPUs fetch at once
TAKEN, _DONE, _ENDED = 0, _APART, 2 * _APART
SHARES_A_THREAD = 4  # so that a thread that is held up does not hold up the others for long


def _add_to(_context: Any, counter: Any, value: Any) -> Any:
    """Return what the counter was before `value` was added, as seen by all threads."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", arguments[0], arguments[1], "seq_cst")

    return types.int64(counter, types.int64), build


def _seen(_context: Any, counter: Any) -> Any:
    """Return what the counter is, and see all that was written before it came to be that."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(arguments[0], "acquire", align=8, typ=ir.IntType(64))

    return types.int64(counter), build


def _give_way(_context: Any) -> Any:
    """Let another thread run here, if one wants to."""

    def build(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        if hasattr(os, "sched_yield"):
            kind = ir.FunctionType(ir.IntType(32), [])
            module, name = builder.module, "sched_yield"
            builder.call(module.globals.get(name) or ir.Function(module, kind, name), [])
        return context.get_dummy_value()

    return types.none(), build


_lock = Lock()  # of interpreted threads


@intrinsic(_add_to)
def _add(counter: Any, value: int) -> Any:
    """Return what the counter was before `value` was added, as seen by all threads."""
    with _lock:
        before = int(counter[0])
        counter[0] = before + value
    return before


@intrinsic(_seen)
def _now(counter: Any) -> Any:
    """Return what the counter is, and see all that was written before it came to be that."""
    return int(counter[0])


@intrinsic(_give_way)
def _yield() -> None:
    """Let another thread run here, if one wants to."""
    sleep(0)


def counters() -> Any:
    """Return the counters of work that is about to begin."""
    return np.zeros(3 * _APART, np.int64)


@device_function
def next_share(state: Any) -> int:
    """Return the number of the next share, over all phases."""
    return _add(pointer(state, TAKEN), 1)


@device_function
def can_begin(state: Any, n_before: int) -> bool:
    """Wait for the first `n_before` shares; return False if all work was ended meanwhile."""
    while _now(pointer(state, _DONE)) < n_before:
        if _now(pointer(state, _ENDED)):
            return False
        _yield()
    return not _now(pointer(state, _ENDED))


@device_function
def done(state: Any) -> None:
    """Say that one more share is done."""
    _add(pointer(state, _DONE), 1)


@device_function
def end(state: Any) -> None:
    """Say that no share need be done any more."""
    _add(pointer(state, _ENDED), 1)


@entry_point
def complete(state: Any, n_shares: int) -> bool:
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


def work_together(work: Callable[[Any], None], n_shares: int, n_threads: int) -> bool:
    """Run `work` on counters, here and on other threads as they are free, until all is done.

    Returns whether all shares were done, rather than ended.
    """
    state = counters()
    if n_threads > 1:
        _helpers().ask(partial(work, state), n_threads - 1)
    work(state)
    return complete(state, n_shares)
