"""The driver: runs the compiled loops until nothing is new, and gives them the space they need.

Compiled loops come back to Python when space or their share of work runs out, so that Ctrl-C is
heard within a fraction of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from types import TracebackType

import numpy as np

from kleene.solvers.inclusion.cpu import Trace, classes, fire, order, space, sweep
from kleene.solvers.inclusion.cpu.answer import answer
from kleene.solvers.inclusion.cpu.rules import N_DIRECT, Rules, rules_of
from kleene.solvers.inclusion.cpu.state import (
    CLASSES,
    DONE,
    EXTRA,
    FACTS,
    MORE_EDGES,
    MORE_FACTS,
    MORE_NODES,
    MORE_WORDS,
    NODES,
    WORDS,
    WORK,
    Shard,
    new_graph,
    new_shard,
)
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution

WORK_A_CALL = 50_000_000  # words: about 0.1 s
ORDER_SHARE = 3  # order anew when one edge in so many is new; 1 to 8 measured much the same


class Waves:
    """One solve of a reduced problem."""

    def __init__(
        self,
        problem: Problem,
        threads: int = 1,
        trace: Trace | None = None,
        *,
        n_direct: int = N_DIRECT,
    ) -> None:
        self.problem, self.trace = problem, trace
        self.rules = rules_of(problem, n_direct)
        self.graph = space.with_first_facts(new_graph(self.rules), self.rules)
        self.shards = _shards(self.rules, threads)
        self.pool = ThreadPoolExecutor(len(self.shards)) if len(self.shards) > 1 else None
        self.is_stopped = False
        self.seconds = {"order": 0.0, "sweep": 0.0, "fire": 0.0, "answer": 0.0}
        self.n_waves = self.n_orders = self.n_found = self.n_merged = 0

    def __enter__(self) -> Waves:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _place: TracebackType | None,
    ) -> None:
        """Leave no thread behind: each stops when its loop comes back to Python."""
        self.is_stopped = True
        if self.pool:
            self.pool.shutdown()

    def solution(self) -> Solution:
        """Return the least answer."""
        merged = self._order()
        first = end = 0  # the new edges: their sources are to send all they hold
        while True:
            self._propagate(first, end, merged)
            first = int(self.graph.n[EXTRA])
            self._fire()
            end = int(self.graph.n[EXTRA])
            self.n_waves += 1
            self.n_found += end - first
            if self.trace:
                self.trace(self._statistics())
            if first == end and self.graph.n[FACTS] == 0:
                return self._answer()
            is_old = end * ORDER_SHARE > len(self.graph.targets)
            merged = self._order() if is_old else order.NOTHING_MERGED

    def _order(self) -> order.Merged:
        """Put the graph in order; return which nodes were merged."""
        with self._timed("order"):
            self.graph, merged = order.ordered(self.graph, self.rules)
        self.n_orders += 1
        self.n_merged += len(merged.gone)
        return merged

    def _propagate(self, first: int, end: int, merged: order.Merged) -> None:
        """Let every shard send what is new; each by its own thread."""
        with self._timed("sweep"):
            jobs = [(i, first, end, merged) for i in range(len(self.shards))]
            if self.pool:
                list(self.pool.map(self._sweep, jobs))
            else:
                self._sweep(jobs[0])
        self.graph.n[FACTS] = 0

    def _sweep(self, job: tuple[int, int, int, order.Merged]) -> None:
        """Merge, send and propagate in one shard."""
        i, first, end, merged = job
        graph, shard = self.graph, self.shards[i]
        shard = space.enough_cells(shard, graph, end - first + len(merged.edge_source))
        at = 0
        while (at := order.merge(graph, shard, *merged[:2], at)) < len(merged.gone):
            shard = space.more_words(shard)
        at = 0
        while (at := sweep.inject_facts(graph, shard, at)) < graph.n[FACTS]:
            shard = space.more_words(shard)
        new = slice(first, end)
        sweep.inject_edges(graph, shard, graph.extra_source[new], graph.extra_target[new])
        sweep.inject_edges(graph, shard, merged.edge_source, merged.edge_target)
        while (why := sweep.sweep(graph, shard, WORK_A_CALL)) != DONE and not self.is_stopped:
            if why == MORE_WORDS:
                shard = space.more_words(shard)
        self.shards[i] = shard

    def _fire(self) -> None:
        """Apply the rules to what grew, shard by shard: they share the graph."""
        with self._timed("fire"):
            for i in range(len(self.shards)):
                classes.group(self.graph, self.shards[i])
                while (why := fire.fire(self.graph, self.rules, self.shards[i])) != DONE:
                    if why == MORE_EDGES:
                        self.graph = space.more_edges(self.graph)
                    elif why == MORE_FACTS:
                        self.graph = space.more_facts(self.graph)
                    elif why == MORE_NODES:
                        self.graph, self.shards = space.more_nodes(self.graph, self.shards)
                    else:
                        self.shards[i] = space.more_classes(self.shards[i])

    def _answer(self) -> Solution:
        statistics = self._statistics()
        with self._timed("answer"):
            state = self.problem, self.rules, self.graph, self.shards
            found = answer(*state, self._in_parts, statistics)
        statistics["answer_s"] = self.seconds["answer"]
        return found

    def _in_parts(self, n: int, work: Callable[[slice], None]) -> None:
        """Do n items of work, by all threads."""
        n_parts = 4 * len(self.shards) if self.pool else 1  # more than threads: parts differ
        ends = np.linspace(0, n, n_parts + 1).astype(int).tolist()
        parts = [slice(first, end) for first, end in pairwise(ends)]
        list((self.pool.map if self.pool else map)(work, parts))

    def _statistics(self) -> dict[str, float]:
        """Return the counts so far."""
        return {f"{name}_s": seconds for name, seconds in self.seconds.items()} | {
            "waves": self.n_waves,
            "orders": self.n_orders,
            "nodes": self.problem.n_nodes,
            "nodes_merged": self.n_merged,
            "nodes_with_ports": int(self.graph.n[NODES]),
            "edges_found": self.n_found,
            "edges": len(self.graph.targets),
            "classes": sum(int(s.n[CLASSES]) for s in self.shards),
            "words_sent": sum(int(s.n[WORK]) for s in self.shards),
            "words_held": sum(int(s.n[WORDS]) for s in self.shards),
        }

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start


def _shards(rules: Rules, threads: int) -> list[Shard]:
    """Return a shard per thread, fewer if there are fewer words."""
    n_words = max(1, (rules.n_objects + 63) // 64)
    n_shards = max(1, min(threads, n_words))
    ends = np.linspace(0, n_words, n_shards + 1).astype(int).tolist()
    return [new_shard(rules, low, high) for low, high in pairwise(ends)]
