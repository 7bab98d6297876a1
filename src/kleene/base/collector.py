"""A pause of Python's cyclic collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collector() -> Iterator[None]:
    """Let no collection run inside the block: for loops that make many objects and no garbage.

    The collector looks at all objects again and again while their number grows, which doubles the
    time of reading (benchmarks/scheme_reader.py).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
