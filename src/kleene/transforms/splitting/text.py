"""A split function as text: its instructions with the names they read, φ, σ and copies between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from kleene.base.arrays import Bools
from kleene.ir.text.body import Body
from kleene.transforms.splitting.program import SplitProgram
from kleene.transforms.splitting.split import NameKind


class FunctionText:
    """Writes one function; `%x/2` is the second name of the value `%x`."""

    def __init__(self, split: SplitProgram, function: int) -> None:
        program = split.program
        self._split, self._function = split, function
        self._first, self._end = program.function_table.block_offsets[
            function : function + 2
        ].tolist()
        flow = split.flow
        node = flow.node_of(split.point)
        sources = flow.sources
        edge = np.maximum(node - flow.blocks.n_nodes, 0)
        block = np.where(node < flow.blocks.n_nodes, node, sources[edge] if len(sources) else 0)
        inside: Bools = (block >= self._first) & (block < self._end)
        self._rows = np.flatnonzero(inside)

    @cached_property
    def _names(self) -> dict[int, str]:
        """What the new names are called: their value's, and a number by place in the function."""
        split, plain = self._split, self._split.program.printer.body(self._function)
        moment = split.flow.moment_of(split.point[self._rows], np.ones(len(self._rows), bool))
        counts: dict[int, int] = defaultdict(lambda: 1)
        names = {}
        for row in self._rows[np.argsort(moment, kind="stable")].tolist():
            value = int(split.value[row])
            counts[value] += 1
            names[split.program.n_values + row] = f"{plain.operand(value)}/{counts[value]}"
        return names

    @cached_property
    def _body(self) -> Body:
        split = self._split
        return split.program.printer.renamed(self._function, split.operand, self._names)

    @cached_property
    def _by_point(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for row in self._rows.tolist():
            found[int(self._split.point[row])].append(row)
        return found

    def lines(self) -> Iterator[str]:
        """Yield the function."""
        yield self._split.program.printer.signature(self._function)
        for block in range(self._first, self._end):
            if block > self._first:
                yield ""
            yield self._body.label(block)
            yield from (f"  {line}" for line in self.block(block))
        yield "}"

    def block(self, block: int) -> Iterator[str]:
        """Yield the φ, instructions, copies and σ of a block."""
        flow = self._split.flow
        yield from (self._phi(row, block) for row in self._by_point[flow.into(block)])
        for instruction in range(int(flow.first[block]), int(flow.first[block + 1])):
            yield self._body.instruction(instruction)
            yield from map(self._copy, self._by_point[instruction])
        for edge in range(*flow.blocks.offsets[block : block + 2].tolist()):
            target = self._label(int(flow.blocks.targets[edge]))
            for point in (flow.along(edge), flow.at_end_of(edge)):
                yield from (f"{self._copy(row)} to {target}" for row in self._by_point[point])

    def _label(self, block: int) -> str:
        return self._body.label(block).partition(":")[0]

    def _phi(self, row: int, block: int) -> str:
        flow, split = self._split.flow, self._split
        offsets, edges = flow.incoming
        sources = flow.sources
        operands = split.operands[split.offsets[row] : split.offsets[row + 1]].tolist()
        from_edges = edges[offsets[block] : offsets[block + 1]].tolist()
        pairs = ", ".join(
            f"[{self._operand(operand)}, {self._label(int(sources[edge]))}]"
            for operand, edge in zip(operands, from_edges, strict=True)
        )
        return f"{self._name(row)} = phi {pairs}"

    def _copy(self, row: int) -> str:
        split = self._split
        word = "sigma" if split.kind[row] == NameKind.SIGMA else "copy"
        return (
            f"{self._name(row)} = {word} {self._operand(int(split.operands[split.offsets[row]]))}"
        )

    def _name(self, row: int) -> str:
        return self._names[self._split.program.n_values + row]

    def _operand(self, name: int) -> str:
        return self._body.operand(name) if name >= 0 else "undef"
