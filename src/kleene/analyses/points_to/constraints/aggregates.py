"""Structs that travel as one value: a node for each of their elements.

Clang returns a struct of two words (a `std::string_view`, a pair of iterators, a pointer to a
member) as one value, `{ptr, i64}`. Besides the node of the value, which holds what any element
holds, each element has a node of its own: so the length of a string never holds its address.

    %r = call {ptr, i64} @view()          r.0, r.1 ⊇ what view returns as its elements 0 and 1
    %n = extractvalue %r, 1               n ⊇ r.1
    %s = insertvalue %r, %p, 0            s.0 ⊇ p, s.1 ⊇ r.1

Where a value comes from elsewhere (an argument, a call through a pointer or of a model), each
element may be what the whole holds.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.functions import CallTable, FunctionTable
from kleene.base.arrays import I64
from kleene.ir.codes import CALLS, Opcode, ValueKind

_JOINS = (Opcode.PHI, Opcode.SELECT, Opcode.FREEZE)


def generate_aggregates(
    builder: PointerBuilder, functions: FunctionTable, direct: CallTable
) -> None:
    """Add what the elements of structs take from others; `direct` calls return as is written."""
    columns = builder.columns
    base = columns.program.bases[ValueKind.INSTRUCTION]
    values = np.flatnonzero(columns.is_split[base:]) + base
    if len(values):
        _Elements(builder, functions, direct, values).generate()


class _Elements:
    def __init__(
        self, builder: PointerBuilder, functions: FunctionTable, direct: CallTable, values: I64
    ) -> None:
        self.builder, self.functions, self.columns = builder, functions, builder.columns
        self.program = builder.columns.program
        self.base = self.program.bases[ValueKind.INSTRUCTION]
        types = self.program.types
        counts = np.diff(types.offsets)[self.program.value_types[values]].tolist()
        self.n_elements = dict(zip(values.tolist(), counts, strict=True))
        self.first = {value: int(builder.nodes(n)[0]) for value, n in self.n_elements.items()}
        self.result_of: dict[int, int] = {}  # function: node of the first element it returns
        self.called = dict(zip(direct.row.tolist(), direct.function.tolist(), strict=True))

    def generate(self) -> None:
        """Add the flows into every element, and out of it."""
        for value in self.n_elements:
            self._define(value, value - self.base)
        self._extract()
        self._store()
        self._return()

    def _element(self, value: int, index: int) -> int:
        """Return the node of an element: that of the whole where the elements have none."""
        return self.first[value] + index if value in self.first else value

    def _results(self, function: int, n_elements: int) -> int:
        if function not in self.result_of:
            self.result_of[function] = int(self.builder.nodes(n_elements)[0])
        return self.result_of[function]

    def _copy(self, to: int, source: int, index: int, row: int) -> None:
        if self.columns.flows[source]:
            self.builder.copy(to, self._element(source, index), row)

    def _define(self, value: int, row: int) -> None:
        table, n_elements = self.program.instructions, self.n_elements[value]
        opcode, operands = int(table.opcode[row]), table.operands_of(row).tolist()
        first = self.first[value]
        if opcode == Opcode.INSERTVALUE:
            position = int(self.columns.constant(np.array(operands[2:]))[1][0])
            for index in range(n_elements):
                if index != position:
                    self._copy(first + index, operands[0], index, row)
            if self.columns.flows[operands[1]]:
                self.builder.copy(first + position, operands[1], row)
        elif opcode in _JOINS:
            joined = operands[1:] if opcode == Opcode.SELECT else operands
            for source in joined:
                for index in range(n_elements):
                    self._copy(first + index, source, index, row)
        elif opcode == Opcode.LOAD:
            offsets = self.program.types.field_offsets_of(int(self.program.value_types[value]))
            nodes = np.arange(first, first + n_elements)
            at = self.builder.at_offset(np.full(n_elements, operands[0]), offsets, 0, row)
            self.builder.load(nodes, at, row)
        elif opcode in CALLS and row in self.called:
            source = self._results(self.called[row], n_elements)
            self.builder.copy(first + np.arange(n_elements), source + np.arange(n_elements), row)
        else:
            self.builder.copy(first + np.arange(n_elements), value, row)

    def _extract(self) -> None:
        rows = self.columns.rows(Opcode.EXTRACTVALUE)
        rows = rows[self.columns.is_split[self.columns.operand(rows, 0)]]
        rows = rows[self.columns.flows[self.columns.results(rows)]]
        index = self.columns.constant(self.columns.operand(rows, 1))[1]
        whole = self.columns.operand(rows, 0).tolist()
        source = [self._element(v, i) for v, i in zip(whole, index.tolist(), strict=True)]
        self.builder.copy(self.columns.results(rows), np.array(source, np.int64), rows)

    def _store(self) -> None:
        rows = self.columns.rows(Opcode.STORE)
        stored = self.columns.operand(rows, 0)
        rows = rows[self.columns.is_split[stored]]
        for row in rows.tolist():
            value, pointer = self.program.instructions.operands_of(row).tolist()[:2]
            offsets = self.program.types.field_offsets_of(int(self.program.value_types[value]))
            at = self.builder.at_offset(np.full(len(offsets), pointer), offsets, 0, row)
            self.builder.store(at, self.first[value] + np.arange(len(offsets)), row)

    def _return(self) -> None:
        rows = self.columns.rows(Opcode.RET)
        rows = rows[np.diff(self.program.instructions.offsets)[rows] > 0]
        value = self.columns.operand(rows, 0)
        is_struct = self.columns.split_types[self.program.value_types[value]]
        for row, source in zip(rows[is_struct].tolist(), value[is_struct].tolist(), strict=True):
            function = int(self.program.instruction_function[row])
            if function in self.result_of:
                type_id = int(self.program.value_types[source])
                for index in range(int(np.diff(self.program.types.offsets)[type_id])):
                    self._copy(self.result_of[function] + index, source, index, row)
