"""Rounds until nothing changes, and a sweep where rounds take small steps."""

from __future__ import annotations

import time

from kleene.solvers.inclusion.cuda.rounds import ROUNDS_PER_LOOK
from kleene.solvers.inclusion.cuda.sweep import Sweeps
from kleene.solvers.inclusion.solution import Trace

# News that travel a long chain step by step change as many rows in each round. If their number did
# not halve in half of this many rounds, the flows are listed, ordered and swept along at once,
# provided that rounds have taken as long already as all orderings and this one will.
PATIENCE = 16
SECONDS_PER_FLOW = 5e-8  # to order, by row and flow: a few take 3e-8, millions 3e-7


def close(rounds: Sweeps, trace: Trace | None = None) -> dict[str, float]:
    """Close the rows under all rules; return how many rounds, sweeps and strips it took."""
    rounds.start()
    history: list[int] = []  # changed rows, by round since the last sweep was thought of
    n_rounds = n_sweeps = 0
    start_s, ordering_s = time.perf_counter(), 0.0
    while True:
        rounds.times = [] if trace else None
        changed = rounds.some_rounds()
        if trace and rounds.times:
            for number, (n_changed, times) in enumerate(zip(changed, rounds.times, strict=False)):
                trace({"round": n_rounds + number, "changed_rows": n_changed, **times})
        n_rounds += len(changed)
        history += changed
        if len(changed) < ROUNDS_PER_LOOK:
            return {"rounds": n_rounds, "sweeps": n_sweeps, "strips": rounds.n_visited()}
        if len(history) >= PATIENCE and 2 * history[-1] > history[-PATIENCE // 2]:
            before_s = time.perf_counter()
            left_s = before_s - start_s - 2 * ordering_s
            n_sweeps += rounds.sweep(int(left_s / SECONDS_PER_FLOW) - rounds.tables.n_rows)
            ordering_s += time.perf_counter() - before_s
            history = []
