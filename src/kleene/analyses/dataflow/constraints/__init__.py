"""The constraints on all values of a program: instruction by instruction, a column at a time.

Names are numbered so:

    values of the program (a block's has a value if control reaches it)
    new names of live-range splitting
    edges of the control-flow graph
    helpers: facts behind branches, results of functions, memory

An edge that is the only one out of its block has the block's name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.dataflow.call_sites import Names, by_call_site
from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.constraints.control import control, returns
from kleene.analyses.dataflow.constraints.instructions import instructions, partly_defined
from kleene.analyses.dataflow.constraints.interprocedural import passed
from kleene.analyses.dataflow.constraints.new_names import new_names
from kleene.analyses.dataflow.constraints.stored import memory
from kleene.analyses.dataflow.constraints.writer import Writer, widths_of
from kleene.analyses.dataflow.memory import Cells
from kleene.analyses.dataflow.versions import Versions
from kleene.base.arrays import I64
from kleene.solvers.dataflow import Constraints
from kleene.transforms.splitting import SplitProgram

__all__ = ["ValueConstraints", "generate", "partly_defined", "widths_of"]


@dataclass(frozen=True, eq=False)
class ValueConstraints:
    """The constraints of a program, and what their names stand for.

    Attributes:
        split: the program with its names.
        constraints: the table.
        width: of each value, in bits; 0 where nothing is said about it.
        edge_name: of each edge of the control-flow graph.
        result_name: of each function's result; -1 for a declaration.
        cell_name: of what is ever in each cell.
        written_name: of what is written to memory; several times where several instructions do.
        written_row: the instruction that writes it.
    """

    split: SplitProgram
    constraints: Constraints
    width: I64
    edge_name: I64
    result_name: I64
    cell_name: I64
    written_name: I64
    written_row: I64


def generate(
    split: SplitProgram,
    calls: Calls,
    cells: Cells | None,
    *,
    trusts_flags: bool,
    context: int = 0,
    versions: Versions | None = None,
) -> ValueConstraints:
    """Return the constraints of a program.

    Args:
        split: the program, with names for what is learnt about its values.
        calls: who passes what to whom.
        cells: memory whose writes are all known; None to follow no memory.
        trusts_flags: whether what the program promises, such as no overflow, holds.
        context: 1 for results of functions by call site.
        versions: what is in memory after each store; None to know only what is ever there.
    """
    writer = Writer(split, calls, cells, versions, trusts_flags=trusts_flags)
    writer.start_with_any()
    returns(writer)
    control(writer)
    instructions(writer)
    passed(writer)
    first_shared = writer.build.n_names
    memory(writer)
    end_shared = writer.build.n_names
    new_names(writer)
    found = writer.build.constraints()
    if context:
        is_shared = np.zeros(found.n_names, bool)
        is_shared[first_shared:end_shared] = True
        names = Names(
            split, writer.edge_name, writer.result_name, writer.returns_name, writer.end_name,
            writer.width, is_shared,
        )  # fmt: skip
        found = by_call_site(found, names, calls)
    none = np.empty(0, np.int64)
    written = [np.concatenate([none, *column]) for column in zip(*writer.written, strict=True)]
    return ValueConstraints(
        split, found, writer.width, writer.edge_name, writer.result_name, writer.cell_name,
        *(written or [none, none]),
    )  # fmt: skip
