"""What branches on the way to a place have tested: pointers, and results of calls.

Names know what was tested of a value itself. Here it is about what follows for others:

    a = &p->field; if (p) use(a);               the address was computed before the test
    if (open(&p) != OK) return; use(p);         where the call fails, it has left p null
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.arrays import I64, csr
from kleene.ir.codes import CALLS, CASTS, ConstantKind, Opcode, Predicate, ValueKind

if TYPE_CHECKING:
    from kleene.analyses.dataflow.context import Context

_FEW = 4
_DEEPEST = 6  # operations between a call's result and the condition
_OPPOSITE: dict[int, int] = {
    Predicate.NE: Predicate.EQ, Predicate.UGE: Predicate.ULT, Predicate.ULE: Predicate.UGT,
    Predicate.SGE: Predicate.SLT, Predicate.SLE: Predicate.SGT,
}  # fmt: skip
_IS_CALL, _IS_LOAD, _IS_CONDITION = 1, 2, 3
_PART = np.zeros(len(Opcode), np.uint8)  # what an instruction is to a condition computed from it
_PART[[Opcode.ICMP, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.SELECT, Opcode.PHI,
       Opcode.FREEZE, *CASTS]] = _IS_CONDITION  # fmt: skip
_PART[list(CALLS)], _PART[Opcode.LOAD] = _IS_CALL, _IS_LOAD


class Tested:
    """Branches by the blocks that they dominate."""

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table, self._flow = context.program.instructions, context.split.flow
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._reached: dict[int, set[int]] = {}
        self._expected: dict[int, bool] = {}
        self._asked: dict[int, set[tuple[tuple[int, ...], bool]]] = {}
        self._computed_from: dict[int, tuple[list[int], list[int]]] = {}
        self._part = _PART[self._table.opcode].tobytes()

    @cached_property
    def _branches(self) -> tuple[list[int], list[int], bytes]:
        """Of each block and edge: its dominator; the condition it is entered under, and whether so.

        Blocks, and edges that no branch with a condition leaves, have -1 for the condition.
        """
        blocks, table = self._flow.blocks, self._table
        condition = np.full(self._flow.nodes.n_nodes, -1, np.int64)
        is_true = np.zeros(len(condition), bool)
        branches = self._context.branches
        last = self._program.blocks.instruction_offsets[branches + 1].astype(np.int64) - 1
        for nth in (0, 1):
            edge = blocks.n_nodes + blocks.offsets[branches] + nth
            condition[edge], is_true[edge] = table.operands[table.offsets[last]], nth == 0
        return self._flow.tree.idom.tolist(), condition.tolist(), is_true.tobytes()

    def conditions(self, block: int) -> Iterator[tuple[int, bool]]:
        """Yield the conditions that hold, or not, wherever control comes to a block."""
        above, condition, is_true = self._branches
        node = block
        while node >= 0:
            if condition[node] >= 0:
                yield condition[node], is_true[node] != 0
            node = above[node]

    def may_come(self, operand: int, phi: int, block: int) -> bool:
        """Return whether what a φ takes from its n-th block before may be there at another block.

        It may not if the two are behind opposite outcomes of one condition:
        `if (k) p = &x; … if (k) use(p);`
        """
        before = int(self._table.operands_of(phi)[2 * operand + 1])
        before -= self._program.bases[ValueKind.BLOCK]
        start, end = self._flow.blocks.offsets[before : before + 2].tolist()
        here = self._table.block[phi]
        edges = [e for e in range(start, end) if self._flow.blocks.targets[e] == here]
        there = self._outcomes(block)
        n_blocks = self._flow.blocks.n_nodes
        return any(
            not any((key, not is_true) in there for key, is_true in self._outcomes(n_blocks + edge))
            for edge in edges
        )

    def _outcomes(self, node: int) -> set[tuple[tuple[int, ...], bool]]:
        """Return what has been asked on the way to a node, and the answers."""
        if node not in self._asked:
            found: set[tuple[tuple[int, ...], bool]] = set()
            for condition, is_true in self.conditions(node):
                row = condition - self._first
                key: tuple[int, ...] = (condition,)
                if row >= 0 and self._table.opcode[row] == Opcode.ICMP:
                    predicate = int(self._table.sub[row])
                    if predicate in _OPPOSITE:
                        predicate, is_true = _OPPOSITE[predicate], not is_true
                    key = (predicate, *self._table.operands_of(row).tolist())
                found.add((key, is_true))
            self._asked[node] = found
        return self._asked[node]

    def is_not_null(self, value: int, block: int) -> bool:
        """Return whether a pointer was found not to be null wherever control comes to a block."""
        return any(
            self._says_not_null(condition, value, is_true=is_true)
            for condition, is_true in self.conditions(block)
        )

    def _says_not_null(self, condition: int, value: int, *, is_true: bool) -> bool:
        program, row = self._program, condition - self._first
        if row < 0:
            return False
        opcode, operands = self._table.opcode[row], self._table.operands_of(row).tolist()
        if opcode == Opcode.ICMP:
            if value not in operands:
                return False
            kind, at = program.locate(operands[1] if operands[0] == value else operands[0])
            is_null = kind == ValueKind.CONSTANT and program.constants.kind[at] == ConstantKind.NULL
            wanted = Predicate.NE if is_true else Predicate.EQ
            return bool(is_null and self._table.sub[row] == wanted)
        if opcode == Opcode.SELECT:  # `c && d` is select c, d, false; `c || d` select c, true, d
            constant = operands.pop(2 if is_true else 1)
            if program.locate(constant)[0] != ValueKind.CONSTANT:
                return False
        elif opcode != (Opcode.AND if is_true else Opcode.OR):
            return False
        return any(self._says_not_null(one, value, is_true=is_true) for one in operands)

    def calls(self, block: int) -> set[int]:
        """Return the calls whose results were tested before control comes to a block."""
        return {row for calls, _ in self._leaves(block) for row in calls}

    def is_status_of(self, call: int, block: int) -> bool:
        """Return whether memory that a call may write was tested, behind it and before a block."""
        table, tree = self._table, self._flow.tree
        here = int(table.block[call])
        loads = [
            row
            for _, read in self._leaves(block)
            for row in read
            if (row > call if table.block[row] == here else True)
            and tree.dominates(here, int(table.block[row]))
        ]
        if not loads:
            return False
        rows = np.array(sorted({call, *loads}), np.int64)
        reads, writes = self._context.points_to.effects.instruction_bits(rows)
        written = writes[np.searchsorted(rows, call)]
        return any(bool((reads[np.searchsorted(rows, one)] & written).any()) for one in loads)

    def is_expected(self, function: int) -> bool:
        """Return whether most calls of a function test whether its result is null.

        Of fewer than four calls that is not asked.
        """
        if function not in self._expected:
            calls, program = self._context.calls, self._program
            rows = calls.call[calls.function == function]
            offsets, users = program.users
            n_tested = 0
            for row in rows.tolist():
                value = self._first + row
                users_of = users[offsets[value] : offsets[value + 1]]
                n_tested += bool((self._table.opcode[users_of] == Opcode.ICMP).any())
            self._expected[function] = len(rows) < _FEW or 2 * n_tested > len(rows)
        return self._expected[function]

    def _leaves(self, block: int) -> Iterator[tuple[list[int], list[int]]]:
        """Yield, for each condition before a block, the calls and the loads it is computed from."""
        for condition, _ in self.conditions(block):
            if condition not in self._computed_from:
                self._computed_from[condition] = self._leaves_of(condition)
            yield self._computed_from[condition]

    def _leaves_of(self, condition: int) -> tuple[list[int], list[int]]:
        calls, loads = set(), set()
        waiting = [(condition, 0)]
        while waiting:
            value, depth = waiting.pop()
            row = value - self._first
            if row < 0 or depth > _DEEPEST:
                continue
            part = self._part[row]
            if part == _IS_CALL:
                calls.add(row)
            elif part == _IS_LOAD:
                loads.add(row)
            elif part == _IS_CONDITION:
                waiting += [(one, depth + 1) for one in self._table.operands_of(row).tolist()]
        return sorted(calls), sorted(loads)

    def reaches(self, call: int, function: int) -> bool:
        """Return whether a call may run a function, at once or by further calls."""
        calls = self._context.calls
        chosen = calls.function[calls.call == call].tolist()
        return any(function in self._reached_from(one) for one in chosen)

    def _reached_from(self, function: int) -> set[int]:
        if function not in self._reached:
            offsets, callees = self._callees
            found, waiting = {function}, [function]
            while waiting:
                one = waiting.pop()
                more = set(callees[offsets[one] : offsets[one + 1]].tolist()) - found
                found |= more
                waiting += more
            self._reached[function] = found
        return self._reached[function]

    @cached_property
    def _callees(self) -> tuple[I64, I64]:
        calls, program = self._context.calls, self._program
        caller = program.instruction_function[calls.call].astype(np.int64)
        pairs = np.unique(np.stack([caller, calls.function], axis=1), axis=0)
        offsets, order = csr(pairs[:, 0], len(program.function_table))
        return offsets, pairs[:, 1] if order is None else pairs[order, 1]
