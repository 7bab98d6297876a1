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

from collections import Counter
from dataclasses import replace

import numpy as np

from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.memory import memory_accesses_of
from kleene.base.arrays import I64
from kleene.ir import Program
from kleene.ir.codes import CASTS, Flag, Opcode, ValueKind
from kleene.transforms.memory_ssa import MemoryAccesses, MemoryRole, memory_ssa
from kleene.transforms.splitting import ControlFlow
from kleene.transforms.splitting.program import control_flow

_PURE = frozenset({Opcode.GETELEMENTPTR, *CASTS})


def forwarded(program: Program, points_to: PointsToResult) -> Program:
    """Return the program with operands that are equal to earlier ones replaced by these.

    Instructions stay where they are, and have the same rows.
    """
    return _Numbering(program, points_to).program()


class _Numbering:
    def __init__(self, program: Program, points_to: PointsToResult) -> None:
        self._program, self._points_to = program, points_to
        table = program.instructions
        self._first = program.bases[ValueKind.INSTRUCTION]
        self._flow: ControlFlow = control_flow(program)
        self._opcode, self._type = table.opcode.tolist(), table.type.tolist()
        self._about, self._offsets = table.about.tolist(), table.offsets.tolist()
        self._operands, self._block = table.operands.tolist(), table.block.tolist()
        changes = table.flags & (Flag.VOLATILE | Flag.ATOMIC) != 0
        self._changes = changes.tolist()
        self._function = program.instruction_function.tolist()

    def program(self) -> Program:
        """Return the program with other operands."""
        candidates = self._candidates()
        if not len(candidates):
            return self._program
        self._read(candidates)
        same = self._same()
        if not same:
            return self._program
        leader = np.arange(self._program.n_values)
        for value, other in same.items():
            leader[value] = other
        table = self._program.instructions
        operands = leader[table.operands].astype(np.int32)
        # The instruction itself keeps what it has: only users change.
        return replace(self._program, instructions=replace(table, operands=operands))

    def _order(self) -> I64:
        """Return the instructions that may be equal to others, along the dominator tree."""
        wanted = np.isin(self._program.instructions.opcode, [*_PURE, Opcode.LOAD, Opcode.STORE])
        rows = np.flatnonzero(wanted)
        pre = self._flow.tree.pre[self._program.instructions.block[rows]]
        rows, pre = rows[pre >= 0], pre[pre >= 0]
        found: I64 = rows[np.argsort(pre, kind="stable")]
        return found

    def _candidates(self) -> I64:
        """Return the loads from addresses that are accessed again, if memory never changed."""
        number: dict[tuple[object, ...], int] = {}
        of_value: dict[int, int] = {}
        seen: Counter[tuple[int, int]] = Counter()
        loads = []
        for row in self._order().tolist():
            opcode = self._opcode[row]
            operands = self._operands[self._offsets[row] : self._offsets[row + 1]]
            if opcode == Opcode.STORE:
                seen[self._function[row], of_value.get(operands[1], operands[1])] += 1
                continue
            inner = tuple(of_value.get(operand, operand) for operand in operands)
            key = (opcode, self._type[row], self._about[row], self._function[row], inner)
            found = number.setdefault(key, self._first + row)
            of_value[self._first + row] = found
            if opcode == Opcode.LOAD and not self._changes[row]:
                seen[self._function[row], inner[0]] += 1
                loads.append((row, inner[0]))
        return np.array([row for row, at in loads if seen[self._function[row], at] > 1], np.int64)

    def _read(self, candidates: I64) -> None:
        """Find the names of memory that the candidates read, and the stores that define them."""
        points_to = self._points_to
        every = memory_accesses_of(points_to, points_to.effects, points_to.aliases)
        keep = (every.role != MemoryRole.READ) | np.isin(every.instruction, candidates)
        chosen = MemoryAccesses(
            every.instruction[keep], every.group[keep], every.role[keep], every.groups,
            every.is_exact, every.n_locations,
        )  # fmt: skip
        memory = memory_ssa(self._flow, chosen)
        names: dict[int, list[int]] = {}
        for row, name in zip(
            memory.reads.instruction.tolist(), memory.reads.name.tolist(), strict=True
        ):
            names.setdefault(row, []).append(name)
        self._names = {row: tuple(sorted(some)) for row, some in names.items()}
        self._writer = dict(
            zip(memory.writes.name.tolist(), memory.writes.instruction.tolist(), strict=True)
        )

    def _same(self) -> dict[int, int]:
        """Return the values that are equal to others, which dominate them."""
        tree = self._flow.tree
        pre, last = tree.pre.tolist(), tree.last.tolist()
        leaders: dict[tuple[object, ...], list[int]] = {}
        same: dict[int, int] = {}
        for row in self._order().tolist():
            opcode = self._opcode[row]
            if opcode == Opcode.STORE:
                continue
            operands = self._operands[self._offsets[row] : self._offsets[row + 1]]
            inner = tuple(same.get(operand, operand) for operand in operands)
            key: tuple[object, ...] = (opcode, self._type[row], self._about[row], inner)
            if opcode == Opcode.LOAD:
                if self._changes[row] or row not in self._names or -1 in self._names[row]:
                    continue
                if (stored := self._stored(row, inner[0], same)) >= 0:
                    same[self._first + row] = stored
                    continue
                key = (*key, self._names[row])
            here = self._block[row]
            found = leaders.setdefault(key, [])
            while (
                found
                and not pre[self._block[found[-1]]] <= pre[here] <= last[self._block[found[-1]]]
            ):
                found.pop()  # the dominator tree is left: it does not come back
            if found:
                same[self._first + row] = self._first + found[-1]
            else:
                found.append(row)
        return same

    def _stored(self, row: int, address: int, same: dict[int, int]) -> int:
        """Return the value that the one store behind all names of a load has stored there; -1."""
        writers = {self._writer.get(name, -1) for name in self._names[row]}
        if len(writers) != 1 or (store := writers.pop()) < 0:
            return -1
        if self._opcode[store] != Opcode.STORE or self._changes[store]:
            return -1
        value, pointer = self._operands[self._offsets[store] : self._offsets[store + 1]]
        if same.get(pointer, pointer) != address:
            return -1
        if int(self._program.value_types[value]) != self._type[row]:
            return -1
        return int(same.get(value, value))
