"""Packs on a GPU: a block for each, as many at once as their states have room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.base.arrays import I64, U8, Bools, offsets_of, ragged
from kleene.kernels import launch
from kleene.kernels.octagon_flow import codes

if TYPE_CHECKING:
    from kleene.kernels.octagon_flow import FlowProblem

_FILE = Path(__file__).with_name("octagon_flow.cu")
THREADS = 160  # one for each cell of the largest matrix: 32 takes 2.5 times as long on an H200
_NAMES = (
    "MOST_VARIABLES", "SET", "ASSIGN", "ASSUME", "CHECK", "FAIL", "EXCLUDE", "INFINITE", "LARGEST",
    "WIDEST", "LEAVES", "ENDS",
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
    # The longest packs first, so that none is left alone at the end.
    order = np.argsort(-problem.state_sizes, kind="stable")
    sizes, n_nodes = problem.state_sizes[order], problem.n_nodes[order]
    proved = xp.ones(max(problem.n_checks, 1), np.uint8)
    given_up = xp.zeros(problem.n_packs, np.uint8)
    counts = xp.zeros(problem.n_packs, np.int64)
    on_device = xp.asarray(budget)
    found: list[tuple[Any, Any]] = []
    for begin, end in _batches(sizes, 1 << 62 if keeps_states else most_bytes):
        state_at, node_at = np.zeros((2, problem.n_packs), np.int64)
        state_at[order[begin:end]] = offsets_of(sizes[begin:end])[:-1]
        node_at[order[begin:end]] = offsets_of(n_nodes[begin:end])[:-1]
        n_here = int(n_nodes[begin:end].sum())
        states = xp.empty(int(sizes[begin:end].sum()), np.int64)
        reached = xp.empty(n_here, np.uint8)
        due, visits = xp.empty(n_here, np.uint8), xp.empty(n_here, np.int64)
        module.launch(
            "solve_packs", (end - begin,), (THREADS,),
            (np.int32(begin), xp.asarray(order), *columns, xp.asarray(state_at),
             xp.asarray(node_at), on_device, states, reached, due, visits, proved, given_up,
             counts),
        )  # fmt: skip
        found.append((states, reached))
    before = seen = None
    if keeps_states and found:
        before = _in_order(_to_host(backend, found[0][0]), sizes, order)
        seen = _in_order(_to_host(backend, found[0][1]), n_nodes, order)
    return (
        _to_host(backend, proved)[: problem.n_checks].astype(bool),
        _to_host(backend, given_up).astype(bool),
        _to_host(backend, counts),
        before,
        seen,
    )


def _in_order(column: Any, sizes: I64, order: I64) -> Any:
    """Return the parts of a column, which come in some order of packs, by pack."""
    starts = np.empty(len(order), np.int64)
    starts[order] = offsets_of(sizes)[:-1]
    lengths = np.empty(len(order), np.int64)
    lengths[order] = sizes
    return column[ragged(starts, starts + lengths)[1]]


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
