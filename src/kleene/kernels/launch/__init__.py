"""Where CUDA C++ runs: on a GPU through CuPy, or thread by thread on the host.

A wrapper asks `current()` for its array module and loads its `.cu` with `load()`; it cannot tell
the two places apart. The host runner is a checker (slow, exact, sees races) and never chosen by
itself: `with on_host(): ...` chooses it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from kleene.base.errors import SourceError
from kleene.kernels.launch import gpu
from kleene.kernels.launch.api import Backend, Module, Source

__all__ = [
    "Backend",
    "Module",
    "Source",
    "chosen",
    "current",
    "gpu_free_bytes",
    "gpu_problem",
    "load",
    "on_host",
]

_chosen: ContextVar[Backend | None] = ContextVar("_chosen", default=None)


def gpu_problem() -> str | None:
    """Return why no GPU can be used, or None if one can."""
    return gpu.problem()


def gpu_free_bytes() -> int:
    """Return the GPU memory nobody holds now; ask `gpu_problem` first."""
    return gpu.free_bytes()


def current() -> Backend:
    """Return the place CUDA kernels run now: the GPU, unless `on_host` chose the host runner."""
    if place := _chosen.get():
        return place
    if reason := gpu_problem():
        note = "use the device 'cpu', or 'auto' to let Kleene choose"
        raise SourceError(None, "kernels/no-gpu", f"no GPU can be used: {reason}", note)
    return gpu.Gpu()


def chosen() -> Backend | None:
    """Return the place that `on_host` chose, if it did."""
    return _chosen.get()


@contextmanager
def on_host(seed: int = 0) -> Iterator[Backend]:
    """Run CUDA kernels inside the block on the host; a seed other than 0 shuffles the threads."""
    from kleene.kernels.launch.host import Host

    token = _chosen.set(Host(seed))
    try:
        yield current()
    finally:
        _chosen.reset(token)


def load(path: Path, **defines: object) -> Module:
    """Return the `.cu` at `path`, compiled for `current()` with `-DNAME=value` for each define."""
    return _load(current(), Source.of(path, **defines))


@cache
def _load(backend: Backend, source: Source) -> Module:
    return backend.load(source)
