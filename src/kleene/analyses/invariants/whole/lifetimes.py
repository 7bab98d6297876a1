"""Is storage that a whole program uses, or frees, still alive?

Two analyses answer. What may have ended (`Storage`) only grows along a path, so the first asks
which ends lie on some path to a point: from the entry of its function on, and before each call.

The second follows pointers that must be alive: roots whose storage is there, on every path,

    p = malloc(n), int x     from there on
    q = p->next              if nothing that q may hold has ended on any path
    *p                       behind it, since a run ends where its check fails
    p = φ(q, r)              if q and r are, where they come from
    argument, result         if what all callers pass is, what all callees return is

until a call that may end what the root may hold. It starts with all roots, and takes away what is
not so: the greatest solution is true of every run, by induction on its length. Of functions that
code outside calls, arguments are assumed to be alive.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.whole.addresses import accesses
from kleene.analyses.invariants.whole.flow import Flow, States
from kleene.analyses.invariants.whole.storage import ALIVE, Storage
from kleene.ir.codes import CALLS, Opcode, ValueKind

# What happens to roots, which are bits of a state; and who looks at it.
_LIVE = 0  # bits
_GONE = 1  # bits
_ENDS = 2  # a set of allocations: of all roots that may hold one of them
_COPIES = 3  # bits; bits that must all be set
_RESULT = 4  # bits; the functions that return it
_PASSES = 5  # nothing; the functions that are called; bits of each argument, not all 0
_RETURNS = 6  # bits; nothing; nothing; whether it is a local of the function
_USES = 7  # an instruction; a root, of which something may have ended; its bit
_Event = tuple[int, int, int | list[int], list[int] | int, bool]
_PHI, _SELECT, _RET = int(Opcode.PHI), int(Opcode.SELECT), int(Opcode.RET)


class Lifetimes:
    """Which pointers are alive where they are used."""

    def __init__(self, context: Context, storage: Storage, flow: Flow) -> None:
        self.context, self.storage, self.flow = context, storage, flow
        self.program, self.table = context.program, context.program.instructions
        self.used = self._used()
        self.rows = self._rows()
        self.argument_offsets = self.program.function_table.argument_offsets.tolist()
        self.opcodes: list[int] = self.table.opcode.tolist()
        self.entry = storage.ended_before_entry
        self._into = {row: self._ended_into(row) for row in flow.functions}
        self._propagate()
        self.may_hold: list[bool] = context.points_to.system.may_hold_pointer.tolist()
        self.arguments = [True] * len(self.program.arguments)  # that are alive
        self.results = [True] * len(self.program.function_table)  # whose results are
        self._functions = {row: _Function(self, row, self._into[row]) for row in flow.functions}
        self._solve()
        self._alive = {
            key: is_alive
            for function in self._functions.values()
            for key, is_alive in function.answers()
        }

    def is_alive(self, row: int, pointer: int) -> bool:
        """Return whether the storage of a pointer is there whenever an instruction uses it."""
        root = self.storage.root(pointer)
        return root == ALIVE or self._alive.get((row, root), True)  # not reached, or not ended

    def _used(self) -> dict[int, list[int]]:
        """Return the pointers that instructions access memory through, by instruction."""
        found: dict[int, list[int]] = defaultdict(list)
        rows, places, _ = accesses(self.program)
        values = self.table.operands[places]
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            found[row].append(value)
        return found

    def _rows(self) -> list[list[int]]:
        """Return, by block, the instructions that use, end, return or make pointers."""
        opcode, first = self.table.opcode, self.program.bases[ValueKind.INSTRUCTION]
        may_hold = self.context.points_to.system.may_hold_pointer
        counts = may_hold[first : first + len(opcode)].copy()
        counts |= np.isin(opcode, (*CALLS, Opcode.RET))
        counts[list(self.used)] = True
        rows = np.flatnonzero(counts)
        ends = np.searchsorted(rows, self.program.blocks.instruction_offsets)
        every: list[int] = rows.tolist()
        return [every[start:end] for start, end in pairwise(ends.tolist())]

    # What may have ended

    def _ended_into(self, function: int) -> dict[int, int]:
        """Return what may have ended where each block begins, since its function began."""
        flow, blocks = self.flow, self.flow.blocks(function)
        own = {}
        for block in blocks:
            ended = 0
            for call in flow.calls(block):
                ended |= self.storage.ended_by_call(call)
            own[block] = ended
        into = dict.fromkeys(blocks, 0)
        waiting = blocks[::-1]
        while waiting:
            block = waiting.pop()
            state = into[block] | own[block]
            for target in flow.successors(block):
                if state & ~into[target]:
                    into[target] |= state
                    waiting.append(target)
        return into

    def _propagate(self) -> None:
        """Let functions begin with what has ended where they are called."""
        storage, entry = self.storage, self.entry
        before: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for function, into in self._into.items():
            for block, ended in into.items():
                for call in self.flow.calls(block):
                    before[function] += [(one, ended) for one in storage.targets.get(call, ())]
                    ended |= storage.ended_by_call(call)
        waiting = list(before)
        while waiting:
            function = waiting.pop()
            for target, ended in before[function]:
                new = entry[function] | ended
                if new & ~entry[target]:
                    entry[target] |= new
                    waiting += [target] if target in before else []

    # What must be alive

    def _solve(self) -> None:
        functions = self._functions
        callers: dict[int, set[int]] = defaultdict(set)
        for call, targets in self.storage.targets.items():
            for target in targets:
                callers[target].add(int(self.program.instruction_function[call]))
        waiting = set(functions)
        while waiting:
            changed: set[int] = set()
            for row in sorted(waiting):
                returns_alive, passed = functions[row].run()
                if self.results[row] and not returns_alive:
                    self.results[row] = False
                    changed |= callers[row]
                for argument, function in passed:
                    if self.arguments[argument]:
                        self.arguments[argument] = False
                        changed.add(function)
            waiting = changed & functions.keys()


class _Function(States[_Event]):
    """A function's roots as bits of a state, and its events by block."""

    CHANGES = frozenset((_COPIES, _RESULT))
    TELLS = frozenset((_PASSES, _RETURNS))

    def __init__(self, owner: Lifetimes, function: int, into: dict[int, int]) -> None:
        self._owner, self._function = owner, function
        self._storage, self._program = owner.storage, owner.program
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._may_hold = owner.may_hold
        self._bits: dict[int, int] = {}  # by root
        self._held: dict[int, int] = {}  # by bit, what the root may hold
        self._known: dict[int, int] = {}  # bits of pointers
        self._killed: dict[int, int] = {}  # bits by set of allocations
        self._phis: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        before = owner.entry[function]
        events = {block: self._read(block, ended | before) for block, ended in into.items()}
        self._every = (1 << len(self._bits)) - 1
        self._begin(owner.flow, events)

    def _bit(self, value: int) -> int:
        """Return the bit of a pointer's root; 0 of one that is always alive, or no pointer."""
        found = self._known.get(value)
        if found is None:
            found = 0
            root = self._storage.root(value) if self._may_hold[value] else ALIVE
            if root != ALIVE and (held := self._storage.held(root)):
                if root not in self._bits:
                    self._bits[root] = 1 << len(self._bits)
                    self._held[self._bits[root]] = held
                found = self._bits[root]
            self._known[value] = found
        return found

    def _read(self, block: int, ended: int) -> list[_Event]:
        """Return the events of a block, before which some allocations may have ended."""
        events: list[_Event] = []
        opcodes, operands_of, may_hold = self._owner.opcodes, self._storage.operands, self._may_hold
        goes_on = self._owner.context.wraps  # where an access failed
        for row in self._owner.rows[block]:
            value, opcode = self._first + row, opcodes[row]
            for pointer in self._owner.used.get(row, ()):
                events += self._use(row, pointer, ended)
                if not goes_on and (bit := self._bit(pointer)):
                    events.append((_LIVE, bit, 0, 0, False))
            if opcode in CALLS:
                events += self._call(row, ended)
                ended |= self._storage.ended_by_call(row)
            elif opcode == _RET:
                events += self._return(operands_of(row))
            elif not may_hold[value] or not (bit := self._bit(value)):
                continue
            elif opcode == _PHI:
                operands = operands_of(row)
                base = self._program.bases[ValueKind.BLOCK]
                for operand, source in zip(operands[::2], operands[1::2], strict=True):
                    self._phis[source - base, block].append((bit, self._bit(operand)))
            elif opcode == _SELECT:
                _, yes, no = operands_of(row)
                events.append((_COPIES, bit, self._bit(yes) | self._bit(no), 0, False))
            elif self._storage.root(value) == value:
                is_gone = self._held[bit] & ended and value not in self._storage.mortal
                kind = _GONE if is_gone else _LIVE
                events.append((kind, bit, 0, 0, False))
        return events

    def _return(self, returned: list[int]) -> Iterator[_Event]:
        """Yield what is returned: locals of the function end there."""
        if returned and self._may_hold[returned[0]]:
            ends = self._storage.held(returned[0]) & self._storage.locals[self._function]
            if (bit := self._bit(returned[0])) or ends:
                yield (_RETURNS, bit, 0, 0, bool(ends))

    def _use(self, row: int, pointer: int, ended: int) -> Iterator[_Event]:
        if (bit := self._bit(pointer)) and self._held[bit] & ended:
            yield (_USES, row, self._storage.root(pointer), bit, False)

    def _call(self, row: int, ended: int) -> Iterator[_Event]:
        """Yield what a call does: it uses its arguments, ends storage, and returns a pointer."""
        storage = self._storage
        _, *arguments = storage.operands(row)
        if self._program.begins_storage[row]:
            yield (_LIVE, self._bit(arguments[0]), 0, 0, False)
            return
        if self._program.ends_storage[row]:
            yield (_ENDS, storage.ended_by_call(row), 0, 0, False)
            return
        for one in arguments:
            yield from self._use(row, one, ended)
        targets = storage.targets.get(row, [])
        bits = [self._bit(one) for one in arguments]
        if targets and any(bits):
            yield (_PASSES, 0, targets, bits, False)
        if one := storage.ended_by_call(row):
            yield (_ENDS, one, 0, 0, False)
        value = self._first + row
        if not self._may_hold[value] or not (bit := self._bit(value)):
            return
        if not self._owner.context.calls.may_return_any[row]:
            yield (_RESULT, bit, targets, 0, False)
            return
        returned = storage.model(row).returns
        if returned is not None and returned < len(arguments) and not targets:
            yield (_COPIES, bit, self._bit(arguments[returned]), 0, False)
            return
        ended |= storage.ended_by_call(row)
        is_alive = storage.is_new(row) or not self._held[bit] & ended
        yield (_RESULT if is_alive else _GONE, bit, targets, 0, False)

    # The state: a set of roots that are alive

    def run(self) -> tuple[bool, list[tuple[int, int]]]:
        """Find the roots that are alive where blocks begin, and tell others what is not.

        Return whether what the function returns is alive, and the arguments of others, with their
        functions, that it passes what may have ended to.
        """
        offsets = self._owner.argument_offsets
        is_alive, passed_ended = True, []
        for (kind, bits, targets, passed, ends), state in self._told(self._lower()):
            if kind == _RETURNS:
                is_alive = is_alive and state & bits == bits and not ends
            elif kind == _PASSES:
                assert isinstance(targets, list)
                assert isinstance(passed, list)
                ended = [place for place, bits in enumerate(passed) if state & bits != bits]
                for target in targets if ended else ():
                    first, end = offsets[target], offsets[target + 1]
                    passed_ended += [(first + one, target) for one in ended if first + one < end]
        return is_alive, passed_ended

    def _start(self) -> int:
        """Return the roots that are alive at the entry: arguments, and constants."""
        base, arguments = self._program.bases[ValueKind.ARGUMENT], self._owner.arguments
        found = 0
        for root, bit in self._bits.items():
            if root < base:
                is_alive = not self._held[bit] & self._owner.entry[self._function]
            else:
                is_alive = root - base < len(arguments) and arguments[root - base]
            found |= bit if is_alive else 0
        return found

    def _joined(self, block: int) -> int:
        state = self._start() if block == self._blocks[0] else self._every
        for source in self._flow.predecessors(block):
            before = self._out.get(source)
            if before is None:
                continue
            after = before
            for bit, operand in self._phis.get((source, block), ()):
                after = after | bit if before & operand == operand else after & ~bit
            state &= after
        return state

    def _effect(self, event: _Event) -> tuple[int, int]:
        kind, bits, *_ = event
        if kind == _LIVE:
            return -1, bits
        if kind == _GONE:
            return ~bits, 0
        return (~self._of_ended(bits), 0) if kind == _ENDS else (-1, 0)

    def _after(self, event: _Event, state: int) -> int:
        kind, bits, other, _, _ = event
        if kind == _COPIES:
            assert isinstance(other, int)
            is_alive = state & other == other
        elif kind == _RESULT:
            assert isinstance(other, list)
            is_alive = all(self._owner.results[one] for one in other)
        else:
            return state
        return state | bits if is_alive else state & ~bits

    def _of_ended(self, ended: int) -> int:
        """Return the roots that may hold one of some allocations."""
        if ended not in self._killed:
            found = [bit for bit, held in self._held.items() if held & ended]
            self._killed[ended] = sum(found)
        return self._killed[ended]

    def answers(self) -> Iterator[tuple[tuple[int, int], bool]]:
        """Yield, by instruction and root, whether it is alive where something may have ended."""
        for (_, row, root, bit, _), state in self._asked(_USES):
            assert isinstance(root, int)
            assert isinstance(bit, int)
            yield (row, root), state & bit == bit
