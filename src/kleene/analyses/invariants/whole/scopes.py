"""Which locals are used, by their own name, where their lifetime may have ended?

    int *p; { int x = 3; p = &x; }  return *p;      p is x: LLVM has left out the variable p

Forward over sets of locals: `llvm.lifetime.end` adds one, and `alloca` and `llvm.lifetime.start`
take it away. A phi uses its operands where it stands; what comes in behind an end is in the set.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.ir import Program


def uses_behind_end(program: Program, origins: I64, locals_: I32) -> list[tuple[int, int]]:
    """Return the instructions that may use a local behind its end, each with the local.

    Args:
        program: where they are from.
        origins: what the address is computed from that a value is, by value.
        locals_: the values (alloca) that are asked about.
    """
    table = program.instructions
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    values = table.operands
    found = np.zeros(len(values), np.int64)
    is_value = values >= 0
    found[is_value] = origins[values[is_value]]
    chosen = np.isin(found, locals_) & is_value
    events: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rows = owner[chosen]
    for block, row, local in zip(
        table.block[rows].tolist(), rows.tolist(), found[chosen].tolist(), strict=True
    ):
        events[block].append((row, local))
    return _late(program, events)


def _late(program: Program, events: dict[int, list[tuple[int, int]]]) -> list[tuple[int, int]]:
    offsets, targets = program.successors
    begins, ends = program.begins_storage, program.ends_storage
    before: dict[int, set[int]] = defaultdict(set)
    late: dict[tuple[int, int], None] = {}
    waiting = [block for block, used in events.items() if any(ends[row] for row, _ in used)]
    while waiting:
        block = waiting.pop()
        now = set(before[block])
        for row, local in events.get(block, ()):
            if ends[row]:
                now.add(local)
            elif begins[row]:
                now.discard(local)
            elif local in now:
                late[row, local] = None
        for target in targets[offsets[block] : offsets[block + 1]].tolist():
            if not now <= before[target]:
                before[target] |= now
                waiting.append(target)
    return list(late)
