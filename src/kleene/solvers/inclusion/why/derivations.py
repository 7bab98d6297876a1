"""Derivations of facts: the shortest ones, checked."""

from __future__ import annotations

from itertools import pairwise

from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Solution
from kleene.solvers.inclusion.why.chain import chain
from kleene.solvers.inclusion.why.flows import OUTSIDE, Flow, Flows, Rule


class Derivations:
    """Finds the shortest derivations of facts of one solved problem."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self._n_nodes = problem.n_nodes
        self._solution = solution
        self._flows = Flows(problem, solution)

    def shortest(self, nodes: list[int], objects: list[int]) -> list[Flow] | None:
        """Return the fewest flows by which one of the nodes comes to hold one of the objects.

        None if no node holds an object.
        """
        found = chain(self._flows, nodes, objects, self._n_nodes)
        assert found is None or self.holds(found, nodes, objects), "a derivation that does not hold"
        return found

    def holds(self, found: list[Flow], nodes: list[int], objects: list[int]) -> bool:
        """Return whether flows are a derivation of one of the facts asked for.

        The first takes an address, each begins with the fact that the one before ends with, every
        fact is one of the solution, and the last is one that was asked for.
        """
        linked = all((a.node, a.object) == (b.source, b.from_object) for a, b in pairwise(found))
        held = {object: self._flows.holders(object) for object in {flow.object for flow in found}}
        facts = all(
            self._solution.escaped[flow.object]
            if flow.node == OUTSIDE
            else held[flow.object][flow.node]
            for flow in found
        )
        ends = found[-1].node in nodes and found[-1].object in objects
        return linked and facts and ends and found[0].rule is Rule.ADDRESS
