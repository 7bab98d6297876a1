"""Packs on a GPU: a block for each, as many at once as their states have room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.base.arrays import I64, U8, Bools, offsets_of
from kleene.kernels import launch
from kleene.kernels.octagon_flow import codes

if TYPE_CHECKING:
    from kleene.kernels.octagon_flow import FlowProblem

_FILE = Path(__file__).with_name("octagon_flow.cu")
THREADS = 64
_NAMES = (
    "MOST_VARIABLES", "SET", "ASSIGN", "ASSUME", "CHECK", "FAIL", "INFINITE", "LARGEST", "WIDEST",
    "LEAVES", "ENDS",
)  # fmt: skip


def solve(
    problem: FlowProblem, budget: I64, keeps_states: bool, most_bytes: int
) -> tuple[Bools, Bools, I64, I64 | None, U8 | None]:
    """Return what `FlowSolution` has."""
    backend = launch.current()
    xp = backend.xp
    defines = {name: getattr(codes, name) for name in _NAMES}
    large = {name: f"{value}LL" for name, value in defines.items() if value > 99}
    module = launch.load(_FILE, THREADS=THREADS, **(defines | large))
    columns = [xp.asarray(column) for column in problem.columns()]
    sizes, n_nodes = problem.state_sizes, problem.n_nodes
    proved = xp.ones(max(problem.n_checks, 1), np.uint8)
    given_up = xp.zeros(problem.n_packs, np.uint8)
    counts = xp.zeros(problem.n_packs, np.int64)
    on_device = xp.asarray(budget)
    found: list[tuple[Any, Any]] = []
    for begin, end in _batches(sizes, 1 << 62 if keeps_states else most_bytes):
        state_at, node_at = np.zeros((2, problem.n_packs), np.int64)
        state_at[begin:end] = offsets_of(sizes[begin:end])[:-1]
        node_at[begin:end] = offsets_of(n_nodes[begin:end])[:-1]
        n_here = int(n_nodes[begin:end].sum())
        states = xp.empty(int(sizes[begin:end].sum()), np.int64)
        reached = xp.empty(n_here, np.uint8)
        due, visits = xp.empty(n_here, np.uint8), xp.empty(n_here, np.int64)
        module.launch(
            "solve_packs", (end - begin,), (THREADS,),
            (np.int32(begin), *columns, xp.asarray(state_at), xp.asarray(node_at), on_device,
             states, reached, due, visits, proved, given_up, counts),
        )  # fmt: skip
        found.append((states, reached))
    before = _to_host(backend, found[0][0]) if keeps_states and found else None
    seen = _to_host(backend, found[0][1]) if keeps_states and found else None
    return (
        _to_host(backend, proved)[: problem.n_checks].astype(bool),
        _to_host(backend, given_up).astype(bool),
        _to_host(backend, counts),
        before,
        seen,
    )


def _batches(sizes: I64, most_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of packs whose states fit into so many bytes together; one at least."""
    total = np.cumsum(8 * sizes)
    found, begin = [], 0
    while begin < len(sizes):
        before = int(total[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(total, before + most_bytes, side="right")))
        found.append((begin, end))
        begin = end
    return found


def _to_host(backend: launch.Backend, array: Any) -> Any:
    out = np.empty(array.shape, array.dtype)
    backend.to_host(array, out)
    return out
