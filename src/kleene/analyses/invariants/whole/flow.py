"""The blocks of a whole program that a run may reach, and the ways between them."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.ir.codes import CALLS


class Flow:
    """Control flow along edges that a run may take."""

    def __init__(self, context: Context) -> None:
        program = context.program
        self._offsets = program.function_table.block_offsets.tolist()
        self._rows = program.blocks.instruction_offsets.tolist()
        self._is_reached = context.block_is_reached.tolist()
        self._successors: dict[int, list[int]] = defaultdict(list)
        self._predecessors: dict[int, list[int]] = defaultdict(list)
        sources, targets = context.split.flow.blocks.edges()
        kept = np.flatnonzero(context.edge_is_reached)
        for source, target in zip(sources[kept].tolist(), targets[kept].tolist(), strict=True):
            if target not in self._successors[source]:  # several cases of a switch
                self._successors[source].append(target)
                self._predecessors[target].append(source)
        self._calls: dict[int, list[int]] = defaultdict(list)
        calls = np.flatnonzero(np.isin(program.instructions.opcode, tuple(CALLS)))
        of_call = program.instructions.block[calls]
        for call, block in zip(calls.tolist(), of_call.tolist(), strict=True):
            self._calls[block].append(call)
        self._blocks: dict[int, list[int]] = {}

    @cached_property
    def functions(self) -> list[int]:
        """The functions that are reached."""
        n_functions = len(self._offsets) - 1
        return [row for row in range(n_functions) if self.blocks(row)]

    def blocks(self, function: int) -> list[int]:
        """Return the blocks of a function that are reached, in reverse postorder."""
        if function not in self._blocks:
            self._blocks[function] = self._ordered(function)
        return self._blocks[function]

    def _ordered(self, function: int) -> list[int]:
        first, end = self._offsets[function], self._offsets[function + 1]
        if first == end or not self._is_reached[first]:
            return []
        order: list[int] = []
        seen = {first}
        stack = [(first, iter(self._successors[first]))]
        while stack:
            block, left = stack[-1]
            target = next((one for one in left if one not in seen), None)
            if target is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(target)
                stack.append((target, iter(self._successors[target])))
        return order[::-1]

    def rows(self, block: int) -> tuple[int, int]:
        """Return the first instruction of a block, and the end."""
        return self._rows[block], self._rows[block + 1]

    def calls(self, block: int) -> list[int]:
        """Return the calls in a block."""
        return self._calls.get(block, [])

    def successors(self, block: int) -> list[int]:
        """Return where a run may go from a block."""
        return self._successors.get(block, [])

    def predecessors(self, block: int) -> list[int]:
        """Return where a run may come from."""
        return self._predecessors.get(block, [])
