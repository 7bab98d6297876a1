"""Random functions of the IR over numbers of 4 bits, and their facts point by point: an oracle.

A dense solver keeps a fact for every value at the start of every block. It shares the operators
with the solver of constraints, and nothing else: no names, no splitting, no components.
"""

from __future__ import annotations

import random

import numpy as np

from kleene.analyses.dataflow.constraints import ValueConstraints
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.solvers.dataflow import STRIDE, SWAPPED, Operator, rows
from kleene.solvers.dataflow.comparisons import refine
from kleene.solvers.dataflow.transfer import evaluate

_OPERATIONS = ["add", "sub", "mul", "and", "or", "xor", "lshr", "udiv", "urem", "shl"]
_PREDICATES = ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]
_VARIABLES = "abc"


class RandomFunction:
    """A function of structured statements over three variables, as text."""

    def __init__(self, seed: int) -> None:
        self.chance, self.n_values, self.n_blocks = random.Random(seed), 0, 0
        self.blocks: list[list[str]] = []
        self.block = self._open()
        self.value = {name: f"%{name}" for name in _VARIABLES}
        self._statements(3, 0)
        self.blocks[self.block].append(f"ret {self.value['a']}")

    @property
    def text(self) -> str:
        bodies = (
            f"^b{number}:\n" + "".join(f"  {line}\n" for line in lines)
            for number, lines in enumerate(self.blocks)
        )
        arguments = ", ".join(f"%{name}: i4" for name in _VARIABLES)
        return f"define @f({arguments}) -> i4 {{\n{''.join(bodies)}}}\n"

    def _open(self) -> int:
        self.blocks.append([])
        return len(self.blocks) - 1

    def _new(self) -> str:
        self.n_values += 1
        return f"%v{self.n_values}"

    def _operand(self) -> str:
        if self.chance.random() < 0.4:
            return f"i4 {self.chance.choice([0, 1, 2, 3, 5, 7, -1, -3, -8])}"
        return self.value[self.chance.choice(_VARIABLES)]

    def _statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.chance.random()
            if kind < 0.45 or depth >= 2:
                made, left = self._new(), self.value[self.chance.choice(_VARIABLES)]
                operation = self.chance.choice(_OPERATIONS)
                self._add(f"{made}: i4 = {operation} {left}, {self._operand()}")
                self.value[self.chance.choice(_VARIABLES)] = made
            elif kind < 0.75:
                self._if(depth)
            else:
                self._while(depth)

    def _add(self, line: str) -> None:
        self.blocks[self.block].append(line)

    def _condition(self) -> str:
        made, left = self._new(), self.value[self.chance.choice(_VARIABLES)]
        predicate = self.chance.choice(_PREDICATES)
        self._add(f"{made}: i1 = icmp {predicate} {left}, {self._operand()}")
        return made

    def _if(self, depth: int) -> None:
        condition, start = self._condition(), self.block
        ends = []
        before = dict(self.value)
        arms = [self._open(), self._open()]
        self.blocks[start].append(f"br {condition}, ^b{arms[0]}, ^b{arms[1]}")
        for arm in arms:
            self.block, self.value = arm, dict(before)
            self._statements(self.chance.randint(0, 2), depth + 1)
            ends.append((self.block, dict(self.value)))
        join = self._open()
        for block, _ in ends:
            self.blocks[block].append(f"br ^b{join}")
        self.block = join
        for name in _VARIABLES:
            values = [values[name] for _, values in ends]
            if values[0] != values[1]:
                made = self._new()
                pairs = ", ".join(f"[{v}, ^b{b}]" for (b, _), v in zip(ends, values, strict=True))
                self._add(f"{made}: i4 = phi {pairs}")
                self.value[name] = made

    def _while(self, depth: int) -> None:
        start, before = self.block, dict(self.value)
        head = self._open()
        self.blocks[start].append(f"br ^b{head}")
        self.block = head
        made = {name: self._new() for name in _VARIABLES}
        self.value = dict(made)
        condition = self._condition()
        body, behind = self._open(), self._open()
        self._add(f"br {condition}, ^b{body}, ^b{behind}")
        self.block = body
        self._statements(self.chance.randint(1, 2), depth + 1)
        self._add(f"br ^b{head}")
        phis = [
            f"{made[name]}: i4 = phi [{before[name]}, ^b{start}], [{last}, ^b{self.block}]"
            for name, last in self.value.items()
        ]
        self.blocks[head][:0] = phis
        self.block, self.value = behind, made


def dense(program: Program, plain: ValueConstraints) -> dict[tuple[int, int], list[int]]:
    """Return the fact of each operand (instruction, place) where control comes.

    `plain` are constraints of the program without splitting.
    """
    c = plain.constraints
    columns = [x.tolist() for x in (c.operator, c.width, c.attribute, c.offsets, c.operands)]
    given, n = c.given.tolist(), c.n_names
    table, flow = program.instructions, plain.split.flow
    first, result = program.bases[ValueKind.INSTRUCTION], n * STRIDE
    start = [0] * (n + 2) * STRIDE
    for name in range(program.bases[ValueKind.BLOCK]):
        evaluate(start, name * STRIDE, name, *columns, given)
    before: dict[int, list[int]] = {0: start}
    found: dict[tuple[int, int], list[int]] = {}
    changed = True
    while changed:
        changed = False
        for block in sorted(before):
            now = list(before[block])
            for row in range(*flow.first[block : block + 2].tolist()):
                operands = table.operands_of(row).tolist()
                if table.opcode[row] == Opcode.PHI:
                    continue
                for place, operand in enumerate(operands):
                    found[row, place] = now[operand * STRIDE : operand * STRIDE + STRIDE]
                if table.opcode[row] not in (Opcode.BR, Opcode.RET):
                    evaluate(now, result, first + row, *columns, given)
                    _put(now, (first + row) * STRIDE, now, result)
            for nth, edge in enumerate(range(*flow.blocks.offsets[block : block + 2].tolist())):
                behind = _along(program, table, now, block, nth, edge, flow, result, columns)
                target = int(flow.blocks.targets[edge])
                if behind is not None:
                    changed |= _joined(before, target, behind, columns[1], n)
    return found


def _put(to, at, source, start):
    to[at : at + STRIDE] = source[start : start + STRIDE]


def _along(program, table, now, block, nth, edge, flow, result, columns):
    """Return the facts behind an edge; None where it is not taken."""
    first = program.bases[ValueKind.INSTRUCTION]
    last = int(flow.first[block + 1]) - 1
    operands = table.operands_of(last).tolist()
    behind = list(now)
    if len(operands) == 3:
        condition = operands[0]
        row = condition - first
        if not rows.holds(now, condition * STRIDE, 1 - nth, 1):
            return None
        rows.set_constant(
            behind, condition * STRIDE, 1, -(1 - nth), 1 | now[condition * STRIDE + 6]
        )
        a, b = table.operands_of(row).tolist()
        predicate = columns[2][condition] ^ nth
        assert columns[0][condition] == Operator.COMPARE
        for x, y, p in ((a, b, predicate), (b, a, SWAPPED[predicate])):
            refine(now, result, p, x * STRIDE, y * STRIDE, 4)
            if x >= program.bases[ValueKind.ARGUMENT]:
                _put(behind, result, now, result)
                rows.meet(behind, x * STRIDE, result, 4)
    target = int(flow.blocks.targets[edge])
    after = list(behind)
    for row in range(*flow.first[target : target + 2].tolist()):
        if table.opcode[row] == Opcode.PHI:
            pairs = table.operands_of(row).tolist()
            sources = [p - program.bases[ValueKind.BLOCK] for p in pairs[1::2]]
            _put(after, (first + row) * STRIDE, behind, pairs[::2][sources.index(block)] * STRIDE)
    return after


def _joined(before, target, behind, width, n):
    if target not in before:
        before[target] = list(behind)
        return True
    mine, old = before[target], list(before[target])
    for name in range(n):
        at = name * STRIDE
        if mine[at : at + STRIDE] != behind[at : at + STRIDE]:
            _put(mine, n * STRIDE, behind, at)
            rows.join(mine, at, n * STRIDE)
            rows.reduce(mine, at, width[name])
    same = mine[: n * STRIDE] == old[: n * STRIDE]
    return not same


def without_rounding(constraints):
    """Return constraints whose bounds are never rounded: there are few numbers of 4 bits."""
    chosen = np.full(constraints.n_names, -1, np.int32)
    none = np.zeros(0, np.int64)
    constraints.__dict__["thresholds"] = (chosen, np.zeros(1, np.int64), none, none)
    return constraints
