"""Leaving split form: φ, σ and parallel copies as moves, one after the other.

Every name gets storage of its own. The names of one point are defined at the same time:

    x = φ(…, y)  ∥  y = φ(…, x)    on the edge that the operands come along:  t ← x; x ← y; y ← t

so moves are put into an order in which nothing is overwritten that is still to be read. A cycle
needs a temporary; one is enough, since a cycle is done before the next one is begun. Moves of a φ
are on the edges into its block, not at the end of the block before: a critical edge then has
storage for what only it changes, and no value is lost on the other way out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kleene.base.arrays import I64
from kleene.transforms.splitting.split import NameKind, Splitting


@dataclass(frozen=True, eq=False)
class Moves:
    """What takes the place of φ, σ and copies: `target ← source`, in the order of rows.

    Attributes:
        point: where: behind an instruction, on an edge, or at the end of an edge. By rising point.
        target: a name; `n_names` is the temporary.
        source: a name, or the temporary.
    """

    point: I64
    target: I64
    source: I64


def moves(names: Splitting) -> Moves:
    """Return the moves that do what φ, σ and copies do.

    Operands may have been replaced since, also by names of other variables (copies propagated),
    as long as the definition of each dominates the place where it is read. Nothing is moved for
    an operand that no definition reaches.
    """
    flow, lengths = names.flow, np.diff(names.offsets)
    target = np.repeat(np.arange(names.n_names), lengths)
    is_phi = names.kind[target] == NameKind.PHI
    point = names.point[target]
    phis = names.kind == NameKind.PHI
    point[is_phi] = flow.at_end_of(0) + flow.edges_into(flow.node_of(names.point[phis]))[1]
    keep = (names.operands >= 0) & (names.operands != target)
    point, target, source = point[keep], target[keep], names.operands[keep]
    # Copies at the end of an edge come before the φ behind it.
    group = 2 * point + is_phi[keep]
    order = np.argsort(group, kind="stable")
    point, target, source, group = (column[order] for column in (point, target, source, group))
    read = group * names.n_names + source
    overwritten = np.isin(group * names.n_names + target, read)
    if overwritten.any():
        rows: list[tuple[int, int, int]] = []
        ends = np.flatnonzero(np.diff(group, prepend=-1, append=-1))
        for first, end in pairwise(ends.tolist()):
            parallel = dict(
                zip(target[first:end].tolist(), source[first:end].tolist(), strict=True)
            )
            at = int(point[first])
            rows += [(at, *move) for move in in_sequence(parallel, names.n_names)]
        point, target, source = np.array(rows, np.int64).T
    return Moves(point, target, source)


def in_sequence(parallel: dict[int, int], temporary: int) -> list[tuple[int, int]]:
    """Return (target, source) one after the other, for moves {target: source} at the same time."""
    waiting = dict(parallel)
    n_reads: dict[int, int] = {}
    for source in waiting.values():
        n_reads[source] = n_reads.get(source, 0) + 1
    free = [target for target in waiting if not n_reads.get(target)]
    found: list[tuple[int, int]] = []
    while waiting:
        if not free:  # What is left are cycles: each target is read by one other.
            target = next(iter(waiting))
            found.append((temporary, target))
            reader = next(t for t, source in waiting.items() if source == target)
            waiting[reader] = temporary
            free.append(target)
        target = free.pop()
        source = waiting.pop(target)
        found.append((target, source))
        n_reads[source] = n_reads.get(source, 0) - 1
        if source in waiting and not n_reads[source]:
            free.append(source)
    return found
