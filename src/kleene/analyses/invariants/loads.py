"""Loads and operations whose result was there before: values that need no variable.

    if (text[i] >= 'a' && text[i] <= 'z') n[text[i] - 'a']++;
    while (a % b != 0) { int rest = a % b; a = b; b = rest; }

reads one byte three times, and computes one remainder twice. A load is given the value v that an
earlier load of the same address and type had, or that was stored there, if it was so on all ways
that lead here, and nothing on them may have written to memory since (available expressions); an
operation is given that of an earlier one on the same operands. Of `while (a && b)`, which tests a
phi that is false on the way from `a`, that way does not lead into the loop.

That operands and addresses are the same is seen from what they are computed from: by the same
operations from the same values x. That v and each x have not been executed anew meanwhile, with
another result, is since they dominate the earlier access or operation, of which there is one on
each way: if a way led from x to the load and not through such an access, then so would a way from
the entry to the first execution of x, where no access is yet, and on from there; and nothing would
be available.
"""

from __future__ import annotations

from kleene.analyses.invariants.library import gives_memory_to_streams, model_of
from kleene.ir import Program
from kleene.ir.codes import CALLS, ConstantKind, Flag, Opcode, ValueKind

_PURE = {
    Opcode.GETELEMENTPTR, Opcode.SEXT, Opcode.ZEXT, Opcode.TRUNC, Opcode.BITCAST, Opcode.ADD,
    Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.UDIV,
    Opcode.SDIV, Opcode.UREM, Opcode.SREM, Opcode.LSHR, Opcode.ASHR,
}  # fmt: skip
REPEATABLE = {
    Opcode.ADD, Opcode.SUB, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.UDIV, Opcode.SDIV,
    Opcode.UREM, Opcode.SREM, Opcode.LSHR, Opcode.ASHR,
}  # fmt: skip
_RESULT = -1  # stands for a type where the value is the result of an operation
_WRITES = {Opcode.LOAD, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG, Opcode.FENCE}  # not plain
_Known = dict[tuple[int, int], int]  # the value at an address (its number), by type; results


def repeated_values(program: Program, function: int) -> dict[int, int]:
    """Return, by rows of a function, the values that loads and operations are known to give."""
    return _Repeated(program, function).found


class _Repeated:
    def __init__(self, program: Program, function: int) -> None:
        self._program, self._table = program, program.instructions
        self._first = program.bases[ValueKind.INSTRUCTION]
        self._constants = program.bases[ValueKind.CONSTANT], program.bases[ValueKind.ARGUMENT]
        self._first_block = program.bases[ValueKind.BLOCK]
        self._numbers: dict[object, int] = {}  # a value that stands for all computed alike
        self._number_of: dict[int, int] = {}
        self.found: dict[int, int] = {}
        self._has_memory_streams = gives_memory_to_streams(program)
        self._run(*program.function_table.block_offsets[function : function + 2].tolist())

    def _run(self, first: int, end: int) -> None:
        """Find what is available where each block begins: the most that all ways agree on."""
        at: dict[tuple[int, int], _Known] = {(-1, first): {}}  # behind edges that were come to
        into: dict[int, set[int]] = {first: {-1}}
        todo = [first]
        while todo:
            block = todo.pop()
            for target in self._targets(block):
                ways = [w for w in into[block] if self._may_lead(w, block, target)]
                if not ways:
                    continue
                known = self._block(block, _agreed([at[way, block] for way in ways]))
                if at.get((block, target)) != known:
                    at[block, target] = known
                    into.setdefault(target, set()).add(block)
                    todo.append(target)
        self.found.clear()
        for block, sources in into.items():
            self._block(block, _agreed([at[source, block] for source in sources]))

    def _targets(self, block: int) -> list[int]:
        offsets, targets = self._program.successors
        return list(dict.fromkeys(targets[offsets[block] : offsets[block + 1]].tolist()))

    def _may_lead(self, source: int, block: int, target: int) -> bool:
        """Return whether a run may come to `block` from `source`, and go on to `target`.

        Where `block` only tests the phi of `a && b` or `a || b`, and that is a constant on the edge
        from `source`, a run takes one way out of it.
        """
        rows = range(*self._program.blocks.instruction_offsets[block : block + 2].tolist())
        operands = self._table.operands_of(rows[-1]).tolist()
        if self._table.opcode[rows[-1]] != Opcode.BR or len(operands) != 3:
            return True
        tested = operands[0] - self._first
        if tested not in rows or self._table.opcode[tested] != Opcode.PHI:
            return True
        values = self._table.operands_of(tested).tolist()
        for value, came_from in zip(values[::2], values[1::2], strict=True):
            if came_from == source + self._first_block:
                number = self._boolean(value)
                return number is None or operands[1 if number else 2] == target + self._first_block
        return True

    def _boolean(self, value: int) -> bool | None:
        """Return what a constant of one bit is; None of what is no constant."""
        table, row = self._program.constants, value - self._constants[0]
        if not self._constants[0] <= value < self._constants[1]:
            return None
        kind = int(table.kind[row])
        if kind in (ConstantKind.NULL, ConstantKind.ZERO):
            return False
        return bool(int(table.payload[row]) & 1) if kind == ConstantKind.INT else None

    def _block(self, block: int, known: _Known) -> _Known:
        """Go through a block with what is known at addresses; return what is known at its end."""
        table, types = self._table, self._program.value_types
        first, end = self._program.blocks.instruction_offsets[block : block + 2].tolist()
        for row in range(first, end):
            opcode, value = int(table.opcode[row]), self._first + row
            is_plain = not int(table.flags[row]) & (Flag.VOLATILE | Flag.ATOMIC)
            if opcode == Opcode.LOAD and is_plain:
                key = self._number(int(table.operands_of(row)[0])), int(types[value])
                if key in known:
                    self.found[row] = known[key]
                else:
                    known[key] = value
            elif opcode == Opcode.STORE and is_plain:
                stored, place = table.operands_of(row).tolist()
                known = _results(known)
                if not self._constants[0] <= stored < self._constants[1]:
                    known[self._number(place), int(types[stored])] = stored
            elif opcode in REPEATABLE:
                earlier = known.setdefault((self._number(value), _RESULT), value)
                if earlier != value:
                    self.found[row] = earlier
            elif self._may_write(row, opcode):
                known = _results(known)
            elif opcode in CALLS:
                known = {key: old for key, old in known.items() if not self._is_library(key[0])}
        return known

    def _may_write(self, row: int, opcode: int) -> bool:
        if opcode not in CALLS:
            return opcode in _WRITES
        if self._has_memory_streams:
            return True
        model = model_of(self._program, int(self._table.operands_of(row)[0]))
        is_told = not model.is_unknown and model.format is None and model.keeps is None
        return not is_told or model.frees is not None or any(t.is_write for t in model.touches)

    def _is_library(self, value: int) -> bool:
        """Return whether a pointer is into storage of the C library: `errno`, what it returns.

        Functions that write to nothing else write there.
        """
        row, table = value - self._first, self._table
        while row >= 0 and table.opcode[row] in (Opcode.GETELEMENTPTR, Opcode.BITCAST):
            row = int(table.operands_of(row)[0]) - self._first
        if row < 0 or table.opcode[row] not in CALLS:
            return False
        return model_of(self._program, int(table.operands_of(row)[0])).place is not None

    def _number(self, value: int) -> int:
        """Return the value that stands for all that are computed like this one."""
        if value not in self._number_of:
            self._number_of[value] = value
            row, table = value - self._first, self._table
            if row >= 0 and table.opcode[row] in _PURE:
                operands = tuple(self._number(one) for one in table.operands_of(row).tolist())
                key = (
                    int(table.opcode[row]), int(self._program.value_types[value]),
                    int(table.about[row]), int(table.flags[row]), operands,
                )  # fmt: skip
                self._number_of[value] = self._numbers.setdefault(key, value)
        return self._number_of[value]


def _agreed(ways: list[_Known]) -> _Known:
    """Return what is known on all of some ways."""
    agreed = set(ways[0].items())
    return dict(agreed.intersection(*(way.items() for way in ways[1:])))


def _results(known: _Known) -> _Known:
    """Return what is known where memory may have been written to."""
    return {key: value for key, value in known.items() if key[1] == _RESULT}
