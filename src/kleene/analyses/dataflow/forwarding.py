"""Loads of what a register has: two loads of one field, a load of what was just stored.

`if (s->p) use(*s->p)` loads `s->p` twice. What the test tells is about the first load; it holds of
the second if nothing wrote there in between. Memory SSA tells that: both loads have the same names
of memory, and the same address. Then the program may as well use the first one twice:

    %a = load %s.p                  %a = load %s.p
    br (%a != null) …               br (%a != null) …
    %b = load %s.p                  %b = load %s.p        nothing uses it any more
    use %b                          use %a

Values are numbered along the dominator tree: instructions of one operation with equal operands are
equal. A load equals the store before it if every name of memory that it reads was defined by the
store, at the same address.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kleene.analyses.dataflow import numbering
from kleene.analyses.dataflow.numbering import LOAD, OTHER, PURE, STORE
from kleene.analyses.points_to import PointsToResult
from kleene.base.arrays import I32, I64, U8, distinct
from kleene.ir import Program
from kleene.ir.codes import CASTS, Flag, Opcode, ValueKind
from kleene.kernels import compiled
from kleene.transforms.memory_ssa import LoadNames, load_names
from kleene.transforms.splitting import ControlFlow

_PURE = (*CASTS, *range(Opcode.ADD, Opcode.FADD), Opcode.GETELEMENTPTR, Opcode.ICMP, Opcode.SELECT)
_INTERPRETED_S_A_ROW = 1e-5


def forwarded(program: Program, points_to: PointsToResult, flow: ControlFlow) -> Program:
    """Return the program with operands that are equal to earlier ones replaced by these.

    Instructions stay where they are, and have the same rows.
    """
    finder = _Finder(program, flow)
    loads = finder.candidates()
    if not len(loads):
        return program
    leader = finder.leaders(load_names(flow, points_to.memory_accesses, loads))
    operands = leader[program.instructions.operands]
    return replace(program, instructions=replace(program.instructions, operands=operands))


class _Finder:
    """Finds equal values of a program."""

    def __init__(self, program: Program, flow: ControlFlow) -> None:
        self._program, self._flow = program, flow
        table = program.instructions
        is_pure = np.isin(table.opcode, _PURE)
        stays = table.flags & (Flag.VOLATILE | Flag.ATOMIC) == 0
        kind = np.where(is_pure, np.uint8(PURE), np.uint8(OTHER))
        kind[(table.opcode == Opcode.LOAD) & stays] = LOAD
        kind[(table.opcode == Opcode.STORE) & stays] = STORE
        self._kind: U8 = kind
        # One number for the operation and its types, and one for the promises of what is computed.
        operation = table.opcode.astype(np.int64) << 56 | table.sub.astype(np.int64) << 48
        self._about: I64 = operation | table.type.astype(np.int64) << 24 | (table.about + 1)
        self._flags: I64 = np.where(is_pure, table.flags, 0).astype(np.int64)
        rows = np.flatnonzero(kind != OTHER)
        pre = flow.tree.pre[table.block[rows]]
        rows, pre = rows[pre >= 0], pre[pre >= 0]
        self._order: I64 = rows[np.argsort(pre, kind="stable")]

    def _leaders(self, name: I64, writer: I64) -> I32:
        program, table, tree = self._program, self._program.instructions, self._flow.tree
        with compiled.sized(len(self._order) * _INTERPRETED_S_A_ROW, numbering.UNIT):
            return numbering.leaders(
                self._order, self._kind, self._about, self._flags, table.offsets, table.operands,
                table.type, program.value_types, table.block, tree.pre, tree.last,
                program.bases[ValueKind.INSTRUCTION], name, writer, program.n_values,
            )  # fmt: skip

    def candidates(self) -> I64:
        """Return the loads from addresses that are accessed again, if memory never changed."""
        table = self._program.instructions
        leader = self._leaders(np.zeros(len(table), np.int64), np.empty(0, np.int64))
        rows = self._order[self._kind[self._order] >= LOAD]
        is_load = self._kind[rows] == LOAD
        address = leader[table.operands[table.offsets[rows] + ~is_load]]
        n_slots = 1 << (2 * len(rows)).bit_length()
        with compiled.sized(len(rows) * _INTERPRETED_S_A_ROW, numbering.UNIT):
            function = self._program.instruction_function[rows]
            several = numbering.counted(function, address.astype(np.int64), n_slots)
        return distinct(rows[is_load & several])

    def leaders(self, memory: LoadNames) -> I32:
        """Return what values are equal to, if loads read these names of memory."""
        name = np.full(len(self._kind), -1, np.int64)
        name[memory.load] = memory.name
        is_other = (self._kind == LOAD) & (name < 0)
        self._kind = np.where(is_other, OTHER, self._kind).astype(np.uint8)
        return self._leaders(name, memory.writer)
