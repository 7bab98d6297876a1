"""Control flow with program points, and what happens to variables there.

Points are numbered. With instructions `i`, blocks `b` and edges `e` of the control-flow graph:

    i                               at and just after an instruction
    n_instructions + b              In(b): where the edges into block `b` meet
    n_instructions + n_blocks + b   Out(b): where the edges out of block `b` part
    n_instructions + 2 n_blocks + e on edge `e`, and n_edges later at its end

Every edge counts as a node between its ends. A definition on an edge then needs no rule of its own:
the edge dominates what only it leads to, and critical edges are ordinary. Within a node, uses and
definitions follow each other in slots:

    block   0 φ │ 2k+2 use, 2k+3 definition of the block's k-th instruction │ … │ last: use of σ
    edge    0 σ │ 1 use by a φ of the program │ 2 copy │ 3 use by an inserted φ
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools, Ints, ragged
from kleene.graphs import (
    DominatorTree,
    Graph,
    dominance_frontiers,
    dominators,
    post_dominators,
)


class Role(IntEnum):
    """What happens to a variable at a point."""

    DEFINITION = 0  # at In(b): by a φ that the program has, or by the caller at the entry
    USE = 1  # on an edge: by a φ that the program has
    TEST = 2  # at Out(b): the branch tells something about the variable
    EQUALITY_TEST = 3  # … namely whether it is equal to something
    DERIVED_TEST = 4  # … by what is computed from it, as of `x` in `(x & 3) == 0`


@dataclass(frozen=True, eq=False)
class Accesses:
    """What happens to variables, one row each; an instruction uses before it defines."""

    variable: I32
    point: I64
    role: U8

    @classmethod
    def of(cls, rows: list[tuple[int, int, Role]]) -> Accesses:
        """Return the accesses of the given variables, points and roles."""
        columns = np.array(rows, np.int64).reshape(-1, 3)
        return cls(columns[:, 0].astype(np.int32), columns[:, 1], columns[:, 2].astype(np.uint8))

    def rows(self, *roles: Role) -> I64:
        """Return the rows with one of some roles."""
        wanted = np.zeros(len(Role), bool)
        wanted[list(roles)] = True
        return np.flatnonzero(wanted[self.role])


@dataclass(frozen=True, eq=False)
class ControlFlow:
    """The blocks of one function, or of many side by side, and where their edges lead.

    Attributes:
        blocks: the control-flow graph; repeated edges are several edges.
        entries: the first blocks of the functions.
        first: where the instructions of each block begin, and their number at the end.
    """

    blocks: Graph
    entries: I32
    first: I64

    @classmethod
    def of(cls, sizes: list[int], edges: list[tuple[int, int]], entry: int = 0) -> ControlFlow:
        """Return the flow of a function with so many instructions in each block."""
        ends = np.array(edges, np.int64).reshape(-1, 2)
        graph = Graph.from_edges(len(sizes), ends[:, 0], ends[:, 1])
        first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(graph, np.array([entry], np.int32), first)

    @property
    def n_instructions(self) -> int:
        """How many instructions there are."""
        return int(self.first[-1])

    @property
    def n_points(self) -> int:
        """How many program points there are."""
        return self.n_instructions + 2 * self.blocks.n_nodes + 2 * self.blocks.n_edges

    def into(self, block: int) -> int:
        """Return the point In(block)."""
        return self.n_instructions + block

    def out_of(self, block: int) -> int:
        """Return the point Out(block)."""
        return self.n_instructions + self.blocks.n_nodes + block

    def along(self, edge: int) -> int:
        """Return the point on an edge, given by its place in the graph's targets."""
        return self.n_instructions + 2 * self.blocks.n_nodes + edge

    def at_end_of(self, edge: int) -> int:
        """Return the point at the end of an edge."""
        return self.along(edge) + self.blocks.n_edges

    @cached_property
    def nodes(self) -> Graph:
        """The graph of blocks and edges: `source → n_blocks + edge → target`."""
        sources, targets = self.blocks.edges()
        n_blocks, n_edges = self.blocks.n_nodes, self.blocks.n_edges
        between = np.arange(n_blocks, n_blocks + n_edges, dtype=np.int32)
        return Graph.from_edges(
            n_blocks + n_edges,
            np.concatenate([sources, between]),
            np.concatenate([between, targets]),
        )

    @cached_property
    def sources(self) -> I32:
        """The block that each edge leaves."""
        return self.blocks.edges()[0]

    @cached_property
    def incoming(self) -> tuple[I64, I32]:
        """The edges into each block, by rising number, as CSR."""
        back = self.nodes.reverse()
        end = int(back.offsets[self.blocks.n_nodes])
        return (
            back.offsets[: self.blocks.n_nodes + 1],
            back.targets[:end] - np.int32(self.blocks.n_nodes),
        )

    @cached_property
    def is_join(self) -> Bools:
        """Which blocks have two incoming edges or more."""
        return np.diff(self.incoming[0]) >= 2

    @cached_property
    def is_fork(self) -> Bools:
        """Which blocks have two outgoing edges or more."""
        return np.diff(self.blocks.offsets) >= 2

    @cached_property
    def tree(self) -> DominatorTree:
        """Who dominates whom, among blocks and edges."""
        return dominators(self.nodes, self.entries)

    @cached_property
    def frontiers(self) -> Graph:
        """The dominance frontiers of blocks and edges; their members are joins."""
        return dominance_frontiers(self.nodes, self.tree)

    @cached_property
    def post_frontiers(self) -> Graph:
        """The post-dominance frontiers; their members are forks, and ends of endless loops."""
        return dominance_frontiers(self.nodes.reverse(), post_dominators(self.nodes))

    @cached_property
    def _block(self) -> I64:
        """The block of each instruction."""
        return np.repeat(np.arange(self.blocks.n_nodes), np.diff(self.first))

    def positions_of(self, points: Ints, is_definition: Bools) -> tuple[I64, I64]:
        """Return the block or edge of each point, and the slot of a use or definition there."""
        from kleene.transforms.splitting import cpu

        return cpu.positions(
            points.astype(np.int64, copy=False), is_definition, self._block, self.first,
            self.blocks.n_edges,
        )  # fmt: skip

    def node_of(self, points: Ints) -> I64:
        """Return the block or edge of each point."""
        return self.positions_of(points, np.zeros(len(points), bool))[0]

    def slot_of(self, points: Ints, is_definition: Bools) -> I64:
        """Return the place of a use or definition among those of its node."""
        return self.positions_of(points, is_definition)[1]

    @cached_property
    def _n_slots(self) -> I64:
        """How many slots each node has."""
        return np.append(2 * np.diff(self.first) + 3, np.full(self.blocks.n_edges, 4))

    @cached_property
    def _starts(self) -> I64:
        """Where the slots of each node begin, if all are counted by the tree's preorder."""
        starts = np.full(self.nodes.n_nodes, -1, np.int64)
        sizes = self._n_slots[self.tree.preorder]
        starts[self.tree.preorder] = np.cumsum(sizes) - sizes
        return starts

    def moment_of(self, points: Ints, is_definition: Bools) -> I64:
        """Return when each use or definition comes in the tree's preorder; -1 if unreachable."""
        node, slot = self.positions_of(points, is_definition)
        start = self._starts[node]
        return np.where(start < 0, -1, start + slot)

    @property
    def n_moments(self) -> int:
        """How many moments there are at most."""
        return int(self._n_slots.sum())

    def end_of(self, nodes: Ints) -> I64:
        """Return the last moment that each node dominates; -1 if it is unreachable."""
        found = np.full(len(nodes), -1, np.int64)
        is_reached = self.tree.pre[nodes] >= 0
        end = self.tree.preorder[self.tree.last[nodes[is_reached]]]
        found[is_reached] = self._starts[end] + self._n_slots[end] - 1
        return found

    def ordered(self, accesses: Accesses) -> tuple[I64, I64, I64, Bools]:
        """Return uses and definitions by variable, node and slot.

        The columns are their rows, variables and nodes, and which are definitions.
        """
        from kleene.transforms.splitting import cpu

        rows = accesses.rows(Role.DEFINITION, Role.USE)
        is_definition = accesses.role[rows] == Role.DEFINITION
        node, slot = self.positions_of(accesses.point[rows], is_definition)
        variable = accesses.variable[rows].astype(np.int64)
        begin = np.cumsum(self._n_slots) - self._n_slots
        order = cpu.ordered(
            variable, int(variable.max(initial=-1)) + 1, begin[node] + slot, self.n_moments
        )
        return rows[order], variable[order], node[order], is_definition[order]

    def edges_out_of(self, blocks: Ints) -> tuple[I64, I64]:
        """Return the edges out of some blocks, beside the row of their block among these."""
        return ragged(self.blocks.offsets[blocks], self.blocks.offsets[blocks + 1])

    def edges_into(self, blocks: Ints) -> tuple[I64, I64]:
        """Return the edges into some blocks, beside the row of their block among these."""
        offsets, edges = self.incoming
        rows, places = ragged(offsets[blocks], offsets[blocks + 1])
        return rows, edges[places].astype(np.int64)
