"""Where φ, σ and copies go, what every use then reads, and which of them are dead.

For a variable `v` with points I↓ and I↑ at which information begins, and with the iterated
dominance frontier DF⁺ and post-dominance frontier pDF⁺ over blocks and edges:

    S↑ = Out(pDF⁺(I↑))                 a join of I↑ counts as the edges into it
    S↓ = In(DF⁺(S↑ ∪ I↓ ∪ Defs(v)))    a fork counts as the edges out of it, and of I↑ forks count
                                       too: their σ make names that may meet again

At each point of I↓ ∪ I↑ ∪ S↑ ∪ S↓ that does not define `v`, a join gets a φ, a fork a σ on each
of its edges, and an instruction or edge a parallel copy behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np

from kleene.base.arrays import I32, I64, U8, Ints, csr, distinct, offsets_of, ragged
from kleene.kernels.compiled import is_interpreting
from kleene.kernels.threads import side_by_side
from kleene.transforms.splitting.flow import Accesses, ControlFlow, Role
from kleene.transforms.splitting.strategies import Points, Strategy, strategy_named

_WORTH_A_THREAD = 50_000  # accesses: some milliseconds


class NameKind(IntEnum):
    """What defines a name."""

    PROGRAM = 0  # the program does
    PHI = 1  # operands: one for each edge into the block, by rising number
    SIGMA = 2  # on an edge; operand: what the variable is before the branch
    COPY = 3  # beside an instruction, or at the end of an edge; operand: what comes before


@dataclass(frozen=True, eq=False)
class Splitting:
    """The names of variables.

    Attributes:
        variable: the variable of each name; names of the program come first, as their accesses do.
        kind: what defines each name, a `NameKind`.
        point: where: of a φ In(b), of a σ its edge.
        offsets: where the operands of each name begin.
        operands: names, -1 for none: no definition reaches there, or the variable is dead.
        name: what each access uses or defines; -1 for tests, and where nothing reaches.
    """

    flow: ControlFlow
    variable: I32
    kind: U8
    point: I64
    offsets: I64
    operands: I64
    name: I64

    @property
    def n_names(self) -> int:
        """How many names there are."""
        return len(self.variable)

    def operands_of(self, name: int) -> list[int]:
        """Return the operands of a name."""
        return [int(o) for o in self.operands[self.offsets[name] : self.offsets[name + 1]]]

    def name_at(self, variable: int, point: int, *, after: bool = False) -> int:
        """Return the name that holds a variable before (or just after) a point; -1 for none.

        It is the nearest definition that dominates the point, wherever the variable is live.
        """
        tree = self.flow.tree
        names = np.flatnonzero(self.variable == variable)
        defined = self.flow.moment_of(self.point[names], np.ones(len(names), bool))
        node = self.flow.node_of(self.point[names])
        asked = np.array([point], np.int64)
        here = int(self.flow.node_of(asked)[0])
        moment = int(self.flow.moment_of(asked, np.array([after]))[0]) + after
        dominates = (tree.pre[node] <= tree.pre[here]) & (tree.pre[here] <= tree.last[node])
        found = np.flatnonzero(dominates & (defined >= 0) & (defined < moment))
        return int(names[found[np.argmax(defined[found])]]) if len(found) else -1


def split(
    flow: ControlFlow,
    accesses: Accesses,
    strategy: str | Strategy | Points = "essa",
    *,
    threads: int = 1,
) -> Splitting:
    """Return the variables' names, such that no fact of the strategy changes within a live range.

    Args:
        flow: the control flow.
        accesses: definitions, uses and tests of all variables. Parameters are defined at the
            point In(entry).
        strategy: one of `STRATEGIES` by name, or where to split.
        threads: of the CPU, at most; one where more would not pay. The names are the same.
    """
    chosen = strategy_named(strategy) if isinstance(strategy, str) else strategy
    points = chosen if isinstance(chosen, Points) else chosen.points(flow, accesses)
    n_shares = min(threads, len(accesses.variable) // _WORTH_A_THREAD)
    if n_shares <= 1 or is_interpreting():  # which holds Python's lock
        return _split(flow, accesses, points)
    shares = _shares(accesses, points, n_shares)
    _ = flow.frontiers, flow.incoming, flow.is_fork, flow.is_join  # all need them
    parts = side_by_side(n_shares, *(partial(_split, flow, *share[1:]) for share in shares))
    return _joined(flow, accesses, [share[0] for share in shares], parts)


def _split(flow: ControlFlow, accesses: Accesses, points: Points) -> Splitting:
    """Return the names of variables, with splits at these points."""
    inserted = _without_definitions(flow, accesses, *_placed(flow, accesses, points))
    return _pruned(_renamed(flow, accesses, *inserted), accesses)


def _shares(accesses: Accesses, points: Points, n: int) -> list[tuple[I64, Accesses, Points]]:
    """Return shares of the variables with about as many accesses each, by rising number.

    A share is the rows of its accesses, these, and its points. What variables are called depends
    on nothing but their own accesses and points.
    """
    before = np.cumsum(np.bincount(accesses.variable))
    starts = np.searchsorted(before, np.arange(1, n) * (before[-1] / n)) + 1
    of_access, of_down, of_up = (
        np.searchsorted(starts, column, side="right")
        for column in (accesses.variable, points.down_variable, points.up_variable)
    )
    found = []
    for share in range(n):
        rows = np.flatnonzero(of_access == share)
        down, up = of_down == share, of_up == share
        found.append(
            (
                rows,
                Accesses(accesses.variable[rows], accesses.point[rows], accesses.role[rows]),
                Points(
                    points.down_variable[down], points.down_point[down],
                    points.up_variable[up], points.up_point[up],
                ),
            )
        )  # fmt: skip
    return found


def _joined(
    flow: ControlFlow, accesses: Accesses, rows: list[I64], parts: list[Splitting]
) -> Splitting:
    """Return the names of all shares in the order that they have without shares.

    Names of the program come as their accesses do, then φ, σ and copies, each by variable: those
    of a share are together there.
    """
    name = np.full(len(accesses.variable), -1, np.int64)
    defined = accesses.rows(Role.DEFINITION)
    n_defined = len(defined)
    rank = np.full(len(accesses.variable), -1, np.int64)
    rank[defined] = np.arange(n_defined)
    numbers = []  # of the names of each share, among all
    for own, part in zip(rows, parts, strict=True):
        number = np.empty(part.n_names + 1, np.int64)
        is_program = part.kind == NameKind.PROGRAM
        number[:-1][is_program] = rank[own[rank[own] >= 0]]
        number[-1] = -1  # of no name
        numbers.append(number)
    end = n_defined
    for kind in (NameKind.PHI, NameKind.SIGMA, NameKind.COPY):
        for number, part in zip(numbers, parts, strict=True):
            chosen = np.flatnonzero(part.kind == kind)
            number[chosen] = end + np.arange(len(chosen))
            end += len(chosen)
    variable, kinds = np.empty(end, np.int32), np.empty(end, np.uint8)
    point, lengths = np.empty(end, np.int64), np.empty(end, np.int64)
    for own, number, part in zip(rows, numbers, parts, strict=True):
        at = number[:-1]
        variable[at], kinds[at], point[at] = part.variable, part.kind, part.point
        lengths[at] = np.diff(part.offsets)
        name[own] = number[part.name]
    offsets = offsets_of(lengths)
    operands = np.empty(int(offsets[-1]), np.int64)
    for number, part in zip(numbers, parts, strict=True):
        _, places = ragged(offsets[number[:-1]], offsets[number[:-1] + 1])
        operands[places] = number[part.operands]
    return Splitting(flow, variable, kinds, point, offsets, operands, name)


def _placed(flow: ControlFlow, accesses: Accesses, points: Points) -> tuple[I64, I64]:
    """Return the variables and points at which something is to be inserted, each pair once."""
    from kleene.transforms.splitting import cpu

    columns = (accesses.variable, points.down_variable, points.up_variable)
    n_variables = 1 + max((int(c.max()) for c in columns if len(c)), default=-1)
    up = _useful(flow, points.up_variable, points.up_point)
    down = _useful(flow, points.down_variable, points.down_point)
    defined = accesses.rows(Role.DEFINITION)
    parts = (up[1] >= flow.out_of(0)) & (up[1] < flow.along(0))
    begin = _concatenated(
        down,
        (up[0][parts], up[1][parts]),
        (accesses.variable[defined].astype(np.int64), accesses.point[defined]),
    )
    asked = _distinct(flow, *_concatenated(up, down))
    is_out = (asked[1] >= flow.out_of(0)) & (asked[1] < flow.along(0))
    out = (asked[0][is_out], flow.node_of(asked[1][is_out]))
    back, frontiers = flow.nodes.reverse(), flow.frontiers
    post = flow.post_frontiers if len(up[0]) else frontiers
    join_variable, join, fork_variable, fork, is_live = cpu.placement(
        back.offsets, back.targets, flow.nodes.offsets, flow.nodes.targets,
        frontiers.offsets, frontiers.targets, post.offsets, post.targets,
        *flow.ordered(accesses)[1:],
        *_grouped(n_variables, *_edges_of_joins(flow, *up)),
        *_grouped(n_variables, *_edges_of_forks(flow, *begin)),
        *_grouped(n_variables, *out),
    )  # fmt: skip
    keep = ~is_out
    keep[is_out] = is_live
    is_fork = flow.is_fork[fork]
    return _distinct(
        flow,
        *_concatenated(
            (asked[0][keep], asked[1][keep]),
            (fork_variable[is_fork], fork[is_fork] + flow.out_of(0)),
            (join_variable, join + flow.into(0)),
        ),
    )


def _grouped(n_variables: int, variable: I64, node: I64) -> tuple[I64, I64]:
    """Return the nodes of each variable, as CSR."""
    offsets, order = csr(variable, n_variables)
    return offsets, node if order is None else node[order]


def _useful(flow: ControlFlow, variable: Ints, point: Ints) -> tuple[I64, I64]:
    """Return the pairs without In and Out of blocks where no edges meet or part."""
    n_blocks = flow.blocks.n_nodes
    counts = np.concatenate([flow.is_join, flow.is_fork])
    beyond = point - flow.n_instructions
    is_end = (beyond >= 0) & (beyond < 2 * n_blocks)
    keep = ~is_end
    keep[is_end] = counts[beyond[is_end]]
    return variable[keep].astype(np.int64), point[keep].astype(np.int64)


def _edges_of_joins(flow: ControlFlow, variable: I64, point: I64) -> tuple[I64, I64]:
    """Return variables and nodes: a point's block, and for a join the edges into it."""
    node = flow.node_of(point)
    is_join = (point >= flow.into(0)) & (point < flow.out_of(0))
    rows, edges = flow.edges_into(node[is_join])
    ends = edges + flow.blocks.n_nodes
    return _concatenated((variable[~is_join], node[~is_join]), (variable[is_join][rows], ends))


def _edges_of_forks(flow: ControlFlow, variable: I64, point: I64) -> tuple[I64, I64]:
    """Return variables and nodes: a point's block, and for a fork the edges out of it."""
    node = flow.node_of(point)
    is_fork = (point >= flow.out_of(0)) & (point < flow.along(0))
    rows, edges = flow.edges_out_of(node[is_fork])
    ends = edges + flow.blocks.n_nodes
    return _concatenated((variable[~is_fork], node[~is_fork]), (variable[is_fork][rows], ends))


def _concatenated(*pairs: tuple[I64, I64]) -> tuple[I64, I64]:
    return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])


def _distinct(flow: ControlFlow, variable: I64, point: I64) -> tuple[I64, I64]:
    """Return the pairs by variable and point, each once."""
    keys = distinct(variable * flow.n_points + point)
    return keys // flow.n_points, keys % flow.n_points


def _without_definitions(
    flow: ControlFlow, accesses: Accesses, variable: I64, point: I64
) -> tuple[I64, I64]:
    """Return the pairs, which are sorted, at which the program does not define the variable."""
    defined = accesses.rows(Role.DEFINITION)
    pairs = variable * flow.n_points + point
    known = accesses.variable[defined].astype(np.int64) * flow.n_points + accesses.point[defined]
    place = np.minimum(np.searchsorted(pairs, known), max(len(pairs) - 1, 0))
    keep = np.ones(len(pairs), bool)
    keep[place[pairs[place] == known] if len(pairs) else []] = False
    return variable[keep], point[keep]


def _renamed(flow: ControlFlow, accesses: Accesses, variable: I64, point: I64) -> Splitting:
    """Return the names with φ, σ and copies at the given points."""
    from kleene.transforms.splitting import cpu

    defined, used = accesses.rows(Role.DEFINITION), accesses.rows(Role.USE)
    at_join = (point >= flow.into(0)) & (point < flow.out_of(0))
    at_fork = (point >= flow.out_of(0)) & (point < flow.along(0))
    at_code = ~at_join & ~at_fork
    copied = point[at_code]
    fork_rows, fork_edges = flow.edges_out_of(flow.node_of(point[at_fork]))
    phi_rows, phi_edges = flow.edges_into(flow.node_of(point[at_join]))
    names = [
        (NameKind.PROGRAM, accesses.variable[defined].astype(np.int64), accesses.point[defined]),
        (NameKind.PHI, variable[at_join], point[at_join]),
        (NameKind.SIGMA, variable[at_fork][fork_rows], flow.along(0) + fork_edges),
        (
            NameKind.COPY,
            variable[at_code],
            np.where(copied < flow.along(0), copied, copied + flow.blocks.n_edges),
        ),
    ]
    name_variable, name_point = _concatenated(*(part[1:] for part in names))
    kind = np.repeat([part[0] for part in names], [len(part[1]) for part in names])
    n_operands = np.ones(len(kind), np.int64)
    n_operands[kind == NameKind.PROGRAM] = 0
    n_operands[kind == NameKind.PHI] = np.bincount(phi_rows, minlength=int(at_join.sum()))
    # Reads: uses of the program, then the operands of names in their order.
    read_variable, read_point = _concatenated(
        (accesses.variable[used].astype(np.int64), accesses.point[used]),
        (variable[at_join][phi_rows], flow.at_end_of(0) + phi_edges),
        (variable[at_fork][fork_rows], point[at_fork][fork_rows]),
        (variable[at_code], copied),
    )
    all_variables = np.concatenate([name_variable, read_variable])
    is_definition = np.arange(len(all_variables)) < len(name_variable)
    moment = flow.moment_of(np.concatenate([name_point, read_point]), is_definition)
    n_variables = int(all_variables.max(initial=-1)) + 1
    order = cpu.ordered(all_variables, n_variables, moment, flow.n_moments)
    last = flow.end_of(flow.node_of(name_point))
    found = cpu.versions(order, all_variables, moment, last, len(read_variable))
    name = np.full(len(accesses.variable), -1, np.int64)
    name[defined] = np.arange(len(defined))
    name[used] = found[: len(used)]
    return Splitting(
        flow, name_variable.astype(np.int32), kind.astype(np.uint8), name_point,
        offsets_of(n_operands), found[len(used) :], name,
    )  # fmt: skip


def _pruned(names: Splitting, accesses: Accesses) -> Splitting:
    """Return the names without those that no definition of the program reaches, or no use reads."""
    from kleene.transforms.splitting import cpu

    n_names = names.n_names
    owner = np.repeat(np.arange(n_names), np.diff(names.offsets))
    known = names.operands >= 0
    source, target = names.operands[known], owner[known]
    is_program = names.kind == NameKind.PROGRAM
    defined = is_program.copy()
    offsets, order = csr(source, n_names)
    cpu.closure(offsets, target if order is None else target[order], defined)
    used = np.zeros(n_names, bool)
    read = names.name[accesses.rows(Role.USE)]
    used[read[read >= 0]] = True
    # A definition of the program computes its value from others: the chain to its uses ends there.
    offsets, order = csr(target, n_names)
    cpu.closure(offsets, source if order is None else source[order], used)
    live = defined & used
    keep = live | is_program
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    number_if_live = np.append(np.where(live, number, -1), -1)
    kept = keep[owner]
    return Splitting(
        names.flow,
        names.variable[keep],
        names.kind[keep],
        names.point[keep],
        offsets_of(np.diff(names.offsets)[keep]),
        number_if_live[names.operands[kept]],
        np.append(number, -1)[names.name],
    )
