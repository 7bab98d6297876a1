"""The shortest chain of flows that carries an object to a node.

A search backwards, breadth first, over facts of the solution: from (node, object) to a row that
takes the object's address.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.base.arrays import Bools
from kleene.solvers.inclusion.why.flows import OUTSIDE, Flow, Flows

Fact = tuple[int, int]  # node, object


def chain(flows: Flows, nodes: list[int], objects: list[int], n_nodes: int) -> list[Flow] | None:
    """Return the shortest flows from an address to one of the facts asked for, or None."""
    frontier: dict[int, set[int]] = {}  # nodes by object
    for object in objects:
        holders = flows.holders(object)
        if start := {node for node in nodes if holders[node]}:
            frontier[object] = start
    reached: dict[Fact, Flow | None] = {(n, o): None for o, ns in frontier.items() for n in ns}
    fresh = {object: flows.holders(object) for object in frontier}
    while frontier:
        for object, level in frontier.items():
            for flow in flows.addresses(_bits(level, n_nodes), object):
                return _path(flow, reached)
        frontier = _next(flows, frontier, reached, fresh, n_nodes)
    return None


def _next(
    flows: Flows,
    frontier: dict[int, set[int]],
    reached: dict[Fact, Flow | None],
    fresh: dict[int, Bools],
    n_nodes: int,
) -> dict[int, set[int]]:
    """Return the facts that those of the frontier follow from, and were not met before."""
    found: dict[int, set[int]] = {}
    for object, level in frontier.items():
        if object not in fresh:
            fresh[object] = flows.holders(object)
        for flow in _into(flows, level, object, fresh[object], n_nodes):
            fact = (flow.source, flow.from_object)
            if fact not in reached:
                reached[fact] = flow
                found.setdefault(flow.from_object, set()).add(flow.source)
                if flow.from_object == object and flow.source != OUTSIDE:
                    fresh[object][flow.source] = False
    return found


def _into(flows: Flows, level: set[int], object: int, fresh: Bools, n_nodes: int) -> Iterator[Flow]:
    nodes = _bits(level, n_nodes)
    yield from flows.into(nodes, object, fresh)
    yield from flows.by_offsets(nodes, object)
    if OUTSIDE in level:
        yield from flows.escaping(object)


def _path(first: Flow, reached: dict[Fact, Flow | None]) -> list[Flow]:
    """Return the flows from an address row up to the fact asked for."""
    path = [first]
    while (flow := reached[path[-1].node, path[-1].object]) is not None:
        path.append(flow)
    return path


def _bits(nodes: set[int], n_nodes: int) -> Bools:
    bits = np.zeros(n_nodes, bool)
    bits[[node for node in nodes if node >= 0]] = True
    return bits
