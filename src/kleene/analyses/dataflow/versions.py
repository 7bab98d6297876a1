"""What is in memory after each store: memory SSA for numbers.

Cells (`memory`) have all that is ever in some bytes. In a function that overwrites these bytes,
more is known: a load reads what the last store on each way to it has left there,

    g = x; if (c) g = 3;        one of x and 3, whatever others write to g at other times
    for (g = 0; g < 9; g++)     the load at the head reads φ(0, g + 1)

and, from the entry of the function or behind a call that may write there, all that is ever there.
Variables of memory SSA have numbers only if every access to them begins at their first byte and has
as many bytes (`memory_names.uniform_bytes`): what is read is then what was stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.dataflow.memory_names import uniform_bytes
from kleene.analyses.points_to import PointsToResult
from kleene.base.arrays import I64, distinct, ragged
from kleene.graphs import Rows
from kleene.ir import Program
from kleene.ir.codes import Flag, Opcode
from kleene.transforms.memory_ssa import MemorySSA


@dataclass(frozen=True, eq=False)
class Versions:
    """Names of memory that loads read.

    Attributes:
        memory: the names, and what defines them.
        n_bytes: of each variable of `memory`; 0 where accesses to it differ.
        loads: instructions that read such variables only.
        read: the names that each of these reads, in the order of `loads`.
    """

    memory: MemorySSA
    n_bytes: I64
    loads: I64
    read: Rows


def versions_of(program: Program, points_to: PointsToResult) -> Versions:
    """Return what loads read of what their function has overwritten somewhere."""
    memory = points_to.memory_ssa(only_overwritten=True)
    table, locations = program.instructions, memory.locations
    of_region = uniform_bytes(program, points_to)[locations.values]
    variable = np.repeat(np.arange(len(locations)), locations.lengths())
    low = np.full(len(locations), 1 << 40, np.int64)
    high = np.zeros(len(locations), np.int64)
    np.minimum.at(low, variable, of_region)
    np.maximum.at(high, variable, of_region)
    n_bytes = np.where(low == high, high, 0)
    direct = points_to.effects.direct
    is_load = (table.opcode[direct.row] == Opcode.LOAD) & ~direct.is_write
    is_load &= ~direct.has_outside[direct.group]
    loads = distinct(direct.row[is_load].astype(np.int64))
    loads = loads[table.flags[loads] & (Flag.VOLATILE | Flag.ATOMIC) == 0]
    loads = loads[~np.isin(loads, memory.partial)]
    # Others may come back to a call of `setjmp`, with what was written since.
    twice = np.flatnonzero(table.flags & Flag.RETURNS_TWICE != 0)
    is_calling = np.isin(table.opcode[twice], (Opcode.CALL, Opcode.INVOKE))
    functions = program.instruction_function
    loads = loads[~np.isin(functions[loads], functions[twice[is_calling]])]
    reads = memory.reads
    starts = np.searchsorted(reads.instruction, loads)
    ends = np.searchsorted(reads.instruction, loads, side="right")
    owner, place = ragged(starts, ends)
    size = program.store_size[table.type[loads]]
    wrong = (n_bytes[reads.variable[place]] != size[owner]) | (reads.name[place] < 0)
    is_good = (np.bincount(owner[wrong], minlength=len(loads)) == 0) & (ends > starts)
    keep = is_good[owner]
    number = np.cumsum(is_good) - 1
    names = Rows.group(
        number[owner[keep]].astype(np.int32),
        int(is_good.sum()),
        reads.name[place[keep]].astype(np.int32),
    )
    return Versions(memory, n_bytes, loads[is_good], names)
