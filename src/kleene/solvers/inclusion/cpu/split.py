"""One shard becomes several, between two waves: each takes its words of every row.

Classes are not taken along. Whoever was joined to a port stays joined, and a class is made anew
for a set that grows: that asks for some edges twice, and is right.
"""

from __future__ import annotations

import numpy as np

from kleene.solvers.inclusion.cpu.rows import reclaim
from kleene.solvers.inclusion.cpu.rules import Rules
from kleene.solvers.inclusion.cpu.state import (
    COVER,
    ROWS,
    WORDS,
    WORK,
    Shard,
    new_shard,
)
from kleene.solvers.inclusion.offline.compiled import entry


def split(rules: Rules, s: Shard, n_shards: int) -> list[Shard]:
    """Return shards that hold together what one held."""
    reclaim(s)
    room = 2 * int(s.n[ROWS]), 2 * int(s.n[WORDS])
    parts = [new_shard(rules, len(s.node_row), i, n_shards, *room) for i in range(n_shards)]
    for part in parts:
        part.n[WORK] = s.n[WORK] // n_shards
        part.n[COVER] = s.n[COVER]
        _deal(s, part)
    return parts


@entry
def _deal(s: Shard, part: Shard) -> None:
    """Give a part its words of all rows; rows without any become the empty one."""
    number = np.zeros(s.n[ROWS], np.int32)
    n_rows, at = 1, 0
    for row in range(1, s.n[ROWS]):
        first = at
        for i in range(s.row_start[row], s.row_start[row] + s.row_length[row]):
            if s.indices[i] % part.step == part.first:
                part.indices[at] = s.indices[i] // part.step
                part.words[at] = s.words[i]
                at += 1
        if at > first:
            part.row_start[n_rows] = first
            part.row_length[n_rows] = at - first
            part.row_owned[n_rows] = s.row_owned[row]
            number[row] = n_rows
            n_rows += 1
    part.n[ROWS] = n_rows
    part.n[WORDS] = at
    for node in range(len(s.node_row)):
        part.node_row[node] = number[s.node_row[node]]
    for trigger in range(len(s.trigger_row)):
        part.trigger_row[trigger] = number[s.trigger_row[trigger]]
