"""Where names are in the source: variables, lines, and why a name was made."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.base.arrays import I64, ragged
from kleene.ir.codes import Binding, Opcode, ValueKind
from kleene.transforms.splitting import NameKind


class Places:
    """The variables of the source and the names that hold them, in rows.

    Attributes:
        names: of values.
        variable: what the source calls the value.
        line: from which line on.
        why: a code of `WHY`.
    """

    WHY: ClassVar[tuple[str, ...]] = ("value", "join", "branch", "use")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._program = context.program
        names, variable, line, why = zip(self._bound(), self._inserted(), strict=True)
        self.names: I64 = np.concatenate(names)
        self.variable: I64 = np.concatenate(variable)
        self.line: I64 = np.concatenate(line)
        self.why: I64 = np.concatenate(why)

    @cached_property
    def _bindings(self) -> tuple[I64, I64, I64]:
        """The values that are variables: value, variable, instruction from which on it is."""
        table = self._program.bindings
        rows = np.flatnonzero(
            (table.kind != Binding.DECLARE) & (table.exact != 0) & (table.value >= 0)
        )
        value = table.value[rows].astype(np.int64)
        computed = value >= self._program.bases[ValueKind.ARGUMENT]
        rows, value = rows[computed], value[computed]
        return value, table.variable[rows].astype(np.int64), table.before[rows].astype(np.int64)

    def line_of(self, instructions: I64) -> I64:
        """Return the source lines of instructions, or of the next ones of their block; 0."""
        table, spans = self._program.instructions, self._program.spans
        found = np.zeros(len(instructions), np.int64)
        at = instructions.copy()
        end = self._program.blocks.instruction_offsets[table.block[at] + 1] if len(at) else at
        for _ in range(8):
            open_ = (found == 0) & (at < end)
            if not open_.any():
                break
            span = table.span[at[open_]]
            found[open_] = np.where(span >= 0, spans.line[np.maximum(span, 0)], 0)
            at = at + 1
        return found

    def _bound(self) -> tuple[I64, I64, I64, I64]:
        value, variable, before = self._bindings
        is_argument = value < self._program.bases[ValueKind.BLOCK]
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        line = self.line_of(np.where(is_argument, before, np.maximum(row, 0)))
        return value, variable, line, np.zeros(len(value), np.int64)

    def _inserted(self) -> tuple[I64, I64, I64, I64]:
        """Names of splitting, for each variable that their value is."""
        split, flow = self._context.split, self._context.split.flow
        value, variable, _ = self._bindings
        pairs = np.unique(np.stack([value, variable]), axis=1)
        low = np.searchsorted(pairs[0], split.value)
        high = np.searchsorted(pairs[0], split.value, side="right")
        which, place = ragged(low, high)
        node = flow.node_of(split.point[which])
        edge = np.maximum(node - flow.blocks.n_nodes, 0)
        target = flow.blocks.targets[edge] if flow.blocks.n_edges else node
        block = np.where(node >= flow.blocks.n_nodes, target, node)
        first = self._program.blocks.instruction_offsets[block].astype(np.int64)
        is_copy = split.kind[which] == NameKind.COPY
        at_code = is_copy & (split.point[which] < flow.n_instructions)
        row = np.where(at_code, split.point[which], first)
        why = np.choose(split.kind[which], [0, 1, 2, 3])
        return which + self._program.n_values, pairs[1][place], self.line_of(row), why

    @staticmethod
    def compared(context: Context, condition: int) -> str:
        """Return what a condition compares, with the ranges of variables: `x is 0..9`."""
        program, first = context.program, context.program.bases[ValueKind.INSTRUCTION]
        table, row = program.instructions, condition - first
        if row < 0 or table.opcode[row] != Opcode.ICMP:
            return ""
        words = []
        for place in (0, 1):
            at = int(table.offsets[row]) + place
            value, name = int(table.operands[at]), int(context.split.operand[at])
            if value < program.bases[ValueKind.ARGUMENT] or not context.values.width[value]:
                continue
            called = program.variables_of(value) or program.variables_of(_uncast(context, value))
            fact = context.fact(name)
            if called and fact.has_value:
                words.append(f"{called[0]} is {fact}")
        return ", ".join(words)


def _uncast(context: Context, value: int) -> int:
    """Return the value that extensions and truncations were made of."""
    program, first = context.program, context.program.bases[ValueKind.INSTRUCTION]
    table = program.instructions
    while value >= first and table.opcode[value - first] in (
        Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.FREEZE,
    ):  # fmt: skip
        value = int(table.operands[table.offsets[value - first]])
    return value
