"""The driver: runs the compiled loops until nothing is new, and gives them the space they need.

Compiled loops come back to Python when space or their share of work runs out, so that Ctrl-C and
a lost race are heard within some hundredths of a second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.answer import answer
from kleene.solvers.inclusion.cpu.classes import more_classes
from kleene.solvers.inclusion.cpu.complex import adopt, process
from kleene.solvers.inclusion.cpu.constraints import N_DIRECT, Rules, rules_of, spread
from kleene.solvers.inclusion.cpu.cycles import ordered
from kleene.solvers.inclusion.cpu.propagation import find_unknown, leave_out, propagate
from kleene.solvers.inclusion.cpu.sets import more_words, part_of
from kleene.solvers.inclusion.cpu.state import (
    Merged,
    enough_cells,
    more_edges,
    more_facts,
    new_graph,
    new_shard,
    room_to_adopt,
)
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution, Trace
from kleene.solvers.inclusion.threads import ALONE, NEVER, Stop, Threads

WORK_A_CALL = 4_000_000  # words: about 10 ms
SPLIT_WORDS = 6_000_000  # sent by one thread before others join: about 50 ms, and joining takes 10
SPLIT_WORDS_OPEN = 30_000_000  # the same in open programs
WORDS_A_VISIT = 64  # of a set, for each thread that joins; two gained a tenth at best where 57
DENSE = 16.0  # where news spread to so many nodes, several threads begin
DENSE_WORDS = 1_400_000  # that sets may take, for each of them
ORDER_SHARE = 3  # order anew when one edge in so many is new; 1 to 8 measured much the same


class Solver:
    """One solve of a reduced problem, by as many threads as there are shards.

    Args:
        problem: the reduced problem.
        threads: those that may work.
        trace: is given the statistics after each iteration.
        stop: is looked at between calls of compiled loops.
        n_direct: sets of so many objects have edges of their own, larger ones those of a class.
        split_words: how many words one thread sends before all join; by default as it pays.
    """

    def __init__(
        self,
        problem: Problem,
        threads: Threads = ALONE,
        trace: Trace | None = None,
        *,
        stop: Stop = NEVER,
        n_direct: int = N_DIRECT,
        split_words: int | None = None,
    ) -> None:
        self.problem, self.threads, self.trace, self.stop = problem, threads, trace, stop
        self.rules = rules_of(problem, n_direct)
        self.graph = new_graph(self.rules)
        n = min(threads.n, _n_dense(problem, self.rules)) if split_words is None else 1
        self.shards = [new_shard(self.rules, first, n) for first in range(n)]
        self.split_words = split_words
        names = ("order", "sweep", "process", "adopt", "split", "answer")
        self.seconds = dict.fromkeys(names, 0.0)
        self.n_iterations = self.n_orders = self.n_found = self.n_merged = 0

    def solution(self) -> Solution:
        """Return the least answer."""
        merged = self._order()
        first = end = 0  # the new edges: their sources are to send all they hold
        while True:
            self.stop.look()
            pieces = [
                partial(self._iteration, i, first, end, merged) for i in range(len(self.shards))
            ]
            for sweep_s, process_s in self.threads.run(pieces):
                self.seconds["sweep"] += sweep_s / len(self.shards)
                self.seconds["process"] += process_s / len(self.shards)
            first = int(self.graph.n[state.EXTRA])
            self._adopt()
            end = int(self.graph.n[state.EXTRA])
            self.n_iterations += 1
            self.n_found += end - first
            if self.trace:
                self.trace(self._statistics())
            if first == end and self.graph.n[state.FACTS] == 0:
                return self._answer()
            self._split()
            is_old = end * ORDER_SHARE > len(self.graph.targets)
            merged = self._order() if is_old else state.NOTHING_MERGED

    def _split(self) -> None:
        """Let other threads join, if that pays: each gets its words of every set.

        What threads divide are words. Visits of nodes and lists of edges each has to repeat: there
        must be `WORDS_A_VISIT` for each. How large sets become is not to be seen in a problem, so
        one thread begins. In an open program only the thread with the word of U knows at once which
        nodes are unknown, and others carry what those could do without till the iteration ends: of
        nginx one thread sends 18 million words, 16 from the start 126, from 2 million on 101.
        """
        whole = self.shards[0]
        sent, visits = int(whole.n[state.WORK]), int(whole.n[state.VISITS])
        n, least = (sent - 16 * visits) // (WORDS_A_VISIT * max(visits, 1)), self.split_words
        if least is None:
            least = SPLIT_WORDS if self.rules.outside < 0 else SPLIT_WORDS_OPEN
        else:
            n = self.threads.n
        n = min(n, self.threads.n, int(whole.n[state.SET_WORDS]))
        if len(self.shards) > 1 or n < 2 or sent < least:
            return
        with self._timed("split"):
            find_unknown(self.graph, whole, self.graph.is_unknown[: int(self.graph.n[state.NODES])])
            parts = [partial(part_of, whole, self.rules, first, n) for first in range(n)]
            self.shards = self.threads.run(parts)
            self.shards[0].n[state.WORK], self.shards[0].n[state.VISITS] = sent, visits

    def _order(self) -> Merged:
        """Put the graph in order; return which nodes were merged."""
        with self._timed("order"):
            self.graph, merged = ordered(self.graph, self.rules)
        self.n_orders += 1
        self.n_merged += merged.n_gone
        return merged

    def _iteration(self, i: int, first: int, end: int, merged: Merged) -> tuple[float, float]:
        """Propagate in one shard and apply the rules to what grew; return how long each took."""
        start_s = time.perf_counter()
        graph, shard = self.graph, self.shards[i]
        shard = enough_cells(shard, graph, end - first + merged.n_edges)
        while (why := propagate(graph, shard, merged, first, end, WORK_A_CALL)) != state.DONE:
            if why == state.MORE_WORDS:
                shard = more_words(shard)
            self.stop.look()
            if self.threads.is_ending:
                return 0.0, 0.0
        sent_s = time.perf_counter()
        while (why := process(graph, self.rules, shard)) != state.DONE:
            if why == state.MORE_EDGES:
                shard = more_edges(shard)
            elif why == state.MORE_FACTS:
                shard = more_facts(shard)
            else:
                shard = more_classes(shard)
        self.shards[i] = shard
        return sent_s - start_s, time.perf_counter() - sent_s

    def _adopt(self) -> None:
        """Let the graph have the edges, nodes and facts that the shards found."""
        with self._timed("adopt"):
            self.graph.n[state.FACTS] = 0
            self.graph, self.shards = room_to_adopt(self.graph, self.shards)
            n_known = int(self.graph.n[state.NODES])
            for shard in self.shards:
                adopt(self.graph, shard, n_known)

    def _answer(self) -> Solution:
        statistics = self._statistics()
        with self._timed("answer"):
            self._leave_out()
            found_in = self.problem, self.rules, self.graph, self.shards
            several = self.threads if len(self.shards) > 1 else ALONE
            found = answer(*found_in, several, statistics)
        statistics["answer_s"] = self.seconds["answer"]
        return found

    def _leave_out(self) -> None:
        """Let no unknown node hold what escaped: equal answers are equal rows then."""
        if self.rules.outside < 0:
            return
        (owner,) = (shard for shard in self.shards if shard.n[state.UNKNOWN_BIT] >= 0)
        is_unknown = np.zeros(int(self.graph.n[state.NODES]), np.uint8)
        find_unknown(self.graph, owner, is_unknown)
        for i, shard in enumerate(self.shards):
            node = 0
            while True:
                without = np.full(int(shard.n[state.ROWS]), -1, np.int32)
                node = leave_out(shard, is_unknown, without, node)
                if node == len(is_unknown):
                    break
                shard = more_words(shard)
            self.shards[i] = shard

    def _statistics(self) -> dict[str, float]:
        """Return the counts so far."""
        return {f"{name}_s": seconds for name, seconds in self.seconds.items()} | {
            "iterations": self.n_iterations,
            "orders": self.n_orders,
            "nodes": self.problem.n_nodes,
            "nodes_merged": self.n_merged,
            "nodes_with_class_nodes": int(self.graph.n[state.NODES]),
            "edges_found": self.n_found,
            "edges": len(self.graph.targets),
            "classes": sum(int(s.n[state.CLASSES]) for s in self.shards),
            "shards": len(self.shards),
            "visits": sum(int(s.n[state.VISITS]) for s in self.shards),
            "words_sent": sum(int(s.n[state.WORK]) for s in self.shards),
            "words_held": sum(int(s.n[state.WORDS]) for s in self.shards),
        }

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start


def _n_dense(problem: Problem, rules: Rules) -> int:
    """Return how many threads should begin: several in dense closures of closed programs.

    Much of their work is in the first iterations: with all threads from the start, two were 1.8
    times as fast as one on 8,000 lambdas, joined later 1.2 times. What sets may take are a word for
    every node and 64 functions, which meet wherever calls are made, and one for four times as many
    other objects.
    """
    n_words = rules.n_nodes * (3 * len(rules.function_result) + rules.n_objects) // (4 * 64)
    is_dense = rules.outside < 0 and n_words >= 2 * DENSE_WORDS and spread(problem) >= DENSE
    return min(n_words // DENSE_WORDS, -(-rules.n_objects // 64)) if is_dense else 1
