"""Was what a whole program reads from memory written before?

Of each *origin* (a local, what an allocator returns, an argument) the bytes are followed that must
have been written, on every path: bit k of a mask is for byte k behind the origin, and the last bit
for all bytes from `N_BYTES` on.

    struct s x;                  none
    x.a = 1;                     those of a
    memset(&x, 0, sizeof x);     all
    fill(&x);                    those that `fill` has written whenever it returns
    y = x;                       of y, those that were of x
    read(&x)                     in `read`, those that all callers have written

A pointer that comes from memory, or is one of several, reads what was written before the address of
its object was first handed on: stored, returned, chosen among others. What is from outside was
written there; a function outside that nobody knows writes all that it is handed. What was read once
counts as written: other reads get the same.

Masks start full, and bytes are taken away that some path, call or caller does not write: the
greatest solution is true of every run, by induction on its length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kleene.analyses.invariants.models import Model
from kleene.analyses.invariants.whole.addresses import constant_numbers
from kleene.analyses.invariants.whole.flow import States
from kleene.analyses.invariants.whole.origins import Origins, Place
from kleene.ir.codes import CALLS, Opcode, ValueKind

N_BYTES = 256
ALL = (1 << N_BYTES + 1) - 1
# Where bytes are: so far behind an origin, by its number, None where that varies; or at places.
_Source = tuple[int | frozenset[Place], int | None]


class _Event(NamedTuple):
    """What happens to masks; `number` is that of an origin."""

    kind: int
    number: int = 0
    mask: int = 0
    distance: int = 0
    sources: tuple[_Source, ...] = ()
    functions: tuple[int, ...] = ()
    row: int = 0


_STARTS = 0  # an origin has nothing but `mask` written
_WRITES = 1  # `mask` is written
_COPIES = 2  # of `mask`, those of the source are written, at `distance`
_RESULT = 3  # an origin is what `functions` return
_CALLS = 4  # `functions` get the sources as arguments; they return if there is a `mask`
_ESCAPES = 5  # its address is known to others
_RETURNS = 6  # the function returns the source
_READS = 7  # the load `row` reads `mask` of the source; 0: bytes that are not known
_CLEARS = 8  # `mask` has no value any more
_ALLOCA, _LOAD, _STORE, _RET, _PHI = (
    int(one) for one in (Opcode.ALLOCA, Opcode.LOAD, Opcode.STORE, Opcode.RET, Opcode.PHI)
)


def range_mask(low: int, high: int) -> int:
    """Return the mask of the bytes from `low` on, and before `high`."""
    if high > N_BYTES:
        return ALL >> low << low if low <= N_BYTES else 1 << N_BYTES
    return (1 << high) - (1 << low)


def behind(mask: int, offset: int) -> int:
    """Return the mask of a pointer `offset` bytes behind an origin with a mask."""
    if not offset >= 0:
        return 0
    rest = ALL >> max(N_BYTES - offset, 0) << max(N_BYTES - offset, 0) if mask >> N_BYTES else 0
    return (mask & ALL >> 1) >> offset | rest


def before(mask: int, offset: int) -> int:
    """Return the mask of an origin, of which a pointer `offset` bytes behind it has a mask."""
    if not offset >= 0:
        return 0
    if mask == ALL:
        return range_mask(offset, N_BYTES + 1) if offset <= N_BYTES else 0
    return (mask & ALL >> 1) << offset & ALL >> 1


class Contents:
    """Which loads read only what was written before."""

    def __init__(self, origins: Origins) -> None:
        self.origins, self.flow, self.program = origins, origins.flow, origins.program
        n_arguments, n_functions = len(self.program.arguments), len(self.program.function_table)
        self.argument_offsets = self.program.function_table.argument_offsets.tolist()
        self.entry = [ALL] * n_arguments  # written where the function begins
        self.written = [ALL] * n_arguments  # written where it ends
        self.returned = [ALL] * n_functions  # written of what it returns
        # By allocation, what was written before its address was handed on.
        self.escaped = {one: ALL for found in origins.of.values() for one in found}
        self.escaped.update(dict.fromkeys(origins.not_followed, 0))
        # Functions that hand on or copy what is at some places, and these by allocation.
        self.readers: dict[frozenset[Place], set[int]] = defaultdict(set)
        self._of_places: dict[frozenset[Place], int] = {}
        self.callers: dict[int, set[int]] = defaultdict(set)
        for call, targets in origins.storage.targets.items():
            for target in targets:
                self.callers[target].add(int(self.program.instruction_function[call]))
        self.opcodes: list[int] = origins.table.opcode.tolist()
        self.blocks: list[int] = origins.table.block.tolist()
        self.types: list[int] = self.program.value_types.tolist()
        self.sizes: list[int] = self.program.types.size.tolist()
        self.leaves: list[bool] = origins.context.calls.may_return_any.tolist()
        self.rows = self._rows()
        self.functions = {row: _Function(self, row) for row in self.flow.functions}
        self._held_in: dict[int, list[frozenset[Place]]] = defaultdict(list)
        for places in self.readers:
            for one in {allocation for allocation, _ in places}:
                self._held_in[one].append(places)
        self._solve()
        self._is_written = {
            row: is_written
            for function in self.functions.values()
            for row, is_written in function.answers()
        }

    def is_written(self, row: int) -> bool:
        """Return whether the bytes that a load reads were written before."""
        return self._is_written.get(row, True)  # not reached, or written by others

    def _rows(self) -> list[list[int]]:
        """Return, by block, the instructions that have events."""
        origins, table = self.origins, self.origins.table
        found = np.isin(table.opcode, (*CALLS, Opcode.RET))
        found[list(origins.handed)] = True
        rows = np.flatnonzero(table.opcode == Opcode.ALLOCA)
        found[rows] = origins.has_mask[rows + origins.first]
        rows = np.flatnonzero(table.opcode == Opcode.STORE)
        found[rows] |= origins.has_mask[table.operands[table.offsets[rows] + 1]]
        rows = np.flatnonzero(table.opcode == Opcode.LOAD)
        found[rows] = origins.are_unwritten(table.operands[table.offsets[rows]])
        rows = np.flatnonzero(found)
        ends = np.searchsorted(rows, self.program.blocks.instruction_offsets)
        every: list[int] = rows.tolist()
        return [every[start:end] for start, end in pairwise(ends.tolist())]

    def at_places(self, places: frozenset[Place]) -> int:
        """Return the bytes that are written behind a pointer to one of some places."""
        found = self._of_places.get(places)
        if found is None:
            found, escaped = ALL, self.escaped
            for one, byte in places:
                if (mask := escaped[one]) != ALL:
                    found &= behind(mask, byte)
                    if not found:
                        break
            self._of_places[places] = found
        return found

    def escape(self, allocation: int, mask: int) -> Iterator[set[int]]:
        """Hand an address on with a mask; yield the functions for which this makes it less."""
        if self.escaped[allocation] & ~mask:
            self.escaped[allocation] &= mask
            for places in self._held_in.get(allocation, ()):
                self._of_places.pop(places, None)
                yield self.readers[places]

    def passed(
        self, functions: tuple[int, ...], sources: tuple[_Source, ...]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the functions of a call, their arguments, and the position of each."""
        offsets = self.argument_offsets
        for function in functions:
            first, end = offsets[function], offsets[function + 1]
            for position in range(min(end - first, len(sources))):
                yield function, first + position, position

    def written_by(self, functions: tuple[int, ...], position: int) -> int:
        """Return what all of some functions write behind an argument before they return."""
        offsets, found = self.argument_offsets, ALL
        for function in functions:
            first, end = offsets[function], offsets[function + 1]
            is_there = first + position < end and function in self.functions
            found &= self.written[first + position] if is_there else 0
        return found

    def _solve(self) -> None:
        waiting = set(self.functions)
        while waiting:  # in rounds: what is handed on anywhere is known to all in the next one
            changed: set[int] = set()
            for row in sorted(waiting):
                changed |= self.functions[row].run()
            waiting = changed & self.functions.keys()


class _Function(States[_Event]):
    """A function's origins, each with a mask in one large integer, and its events by block."""

    CHANGES = frozenset((_COPIES, _RESULT, _CALLS))
    TELLS = frozenset((_ESCAPES, _RETURNS, _CLEARS))

    def __init__(self, owner: Contents, function: int) -> None:
        self._owner, self._origins, self._function = owner, owner.origins, function
        self._table, self._first = owner.origins.table, owner.origins.first
        self._arguments = range(
            *(owner.program.function_table.argument_offsets[function : function + 2].tolist())
        )
        self._base = owner.program.bases[ValueKind.ARGUMENT]
        self._numbers: dict[int, int] = {}
        self._ends: dict[int, list[_Event]] = defaultdict(list)  # φ behind blocks
        blocks = owner.flow.blocks(function)
        found = {block: list(self._read(block)) for block in blocks}
        for block, events in self._ends.items():
            found[block] += events
        self._every = (1 << len(self._numbers) * (N_BYTES + 1)) - 1
        self._begin(owner.flow, found)

    def _number(self, value: int) -> int | None:
        """Return the number of an address's origin; None if it has no mask."""
        origin = self._origins.origin[value]
        if origin not in self._origins.of and origin - self._base not in self._arguments:
            return None
        return self._numbers.setdefault(origin, len(self._numbers))

    def _source(self, row: int, position: int) -> _Source:
        """Return where the bytes are that an operand points to."""
        owner = self._owner
        value = self._origins.storage.operands(row)[position]
        number = self._number(value)
        if number is not None:
            return number, self._origins.distance[value]
        held = self._origins.unwritten(value) if self._origins.may_hold[value] else frozenset()
        if held and owner.opcodes[row] not in (_LOAD, _STORE):  # these hand nothing on
            owner.readers[held].add(self._function)
        return held, None

    # Events

    def _read(self, block: int) -> Iterator[_Event]:
        owner, handed = self._owner, self._origins.handed
        for row in owner.rows[block]:
            opcode = owner.opcodes[row]
            for value, position in handed.get(row, ()):
                yield from self._hand(row, opcode, value, position)
            if opcode == _ALLOCA:
                if (number := self._number(self._first + row)) is not None:
                    yield _Event(_STARTS, number)
            elif opcode == _LOAD:
                yield from self._load(row)
            elif opcode == _STORE:
                yield from self._store(row)
            elif opcode in CALLS:
                yield from self._call(row)
            elif opcode == _RET:
                has_value = bool(self._origins.storage.operands(row))
                yield _Event(_RETURNS, sources=(self._source(row, 0),) if has_value else ())

    def _hand(self, row: int, opcode: int, value: int, position: int) -> Iterator[_Event]:
        """Let an address be known to others from here on; of φ, where its operand comes from."""
        owner = self._owner
        if (number := self._number(value)) is None:
            return
        formals = self._origins.formals(row, position)
        if formals is not None and not any(self._origins.captured[one] for one in formals):
            return
        if opcode == _PHI:
            source = self._origins.storage.operands(row)[position + 1]
            block = source - owner.program.bases[ValueKind.BLOCK]
            if block in owner.flow.predecessors(owner.blocks[row]):
                self._ends[block].append(_Event(_ESCAPES, number))
        else:
            yield _Event(_ESCAPES, number)

    def _load(self, row: int) -> Iterator[_Event]:
        owner = self._owner
        source, size = self._source(row, 0), owner.sizes[owner.types[self._first + row]]
        base, distance = source
        mask = 0
        if not isinstance(base, int):
            mask = range_mask(0, max(size, 0))
        elif distance is not None:
            mask = range_mask(distance, distance + size) if distance >= 0 and size > 0 else 0
            source = (base, 0)
        elif self._is_start(row) and size > 0:
            found = self._origins.bytes_of(row, 0, size)
            mask = 0 if found is None else range_mask(*found)
            source = (base, 0)
        yield _Event(_READS, mask=mask, sources=(source,), row=row)
        if isinstance(base, int) and distance is not None and mask:
            yield _Event(_WRITES, base, mask & ALL >> 1)

    def _is_start(self, row: int) -> bool:
        """Return whether the origin of what is loaded is the start of its object."""
        value = self._origins.storage.operands(row)[0]
        return self._origins.origin[value] in self._origins.of

    def _store(self, row: int) -> Iterator[_Event]:
        owner = self._owner
        stored = self._origins.storage.operands(row)[0]
        size = owner.sizes[owner.types[stored]]
        number, distance = self._source(row, 1)
        if not isinstance(number, int) or distance is None or distance < 0 or size <= 0:
            return
        mask = range_mask(distance, distance + size) & ALL >> 1
        is_undefined = bool(self._origins.is_undefined[stored])
        yield _Event(_CLEARS if is_undefined else _WRITES, number, mask, row=row)

    def _call(self, row: int) -> Iterator[_Event]:
        owner = self._owner
        _, *arguments = self._origins.storage.operands(row)
        functions = tuple(self._origins.storage.targets.get(row, ()))
        leaves = owner.leaves[row]
        model = self._origins.models.get(row) or self._origins.storage.model(row)
        numbers = [self._number(one) for one in arguments]
        if (self._origins.storage.callee(row) or "").startswith("llvm.lifetime.start"):
            yield from (_Event(_STARTS, one) for one in numbers if one is not None)
            return
        if functions:
            sources = tuple(self._source(row, 1 + place) for place in range(len(arguments)))
            yield _Event(_CALLS, mask=int(not leaves), sources=sources, functions=functions)
        elif leaves and model.is_unknown:
            yield from (_Event(_WRITES, one, ALL) for one in numbers if one is not None)
        elif leaves:
            yield from self._modelled(row, model, arguments)
        if (number := self._number(self._first + row)) is not None:
            is_ours = bool(functions) and not leaves
            yield _Event(_RESULT if is_ours else _STARTS, number, functions=functions)

    def _modelled(self, row: int, model: Model, arguments: list[int]) -> Iterator[_Event]:
        """Yield what a function of the library writes for certain."""
        owner = self._owner
        for touch in model.touches:
            size = touch.size
            if not touch.is_write or not touch.is_exact or touch.argument >= len(arguments):
                continue
            number, distance = self._source(row, 1 + touch.argument)
            if not isinstance(number, int) or distance is None or distance < 0 or size is None:
                continue
            if size.lengths or size.room is not None or max(size.arguments) >= len(arguments):
                continue
            given = [arguments[one] for one in size.arguments]
            is_number, found = constant_numbers(owner.program, np.array(given, np.int64))
            n_bytes = size.constant + int(np.prod(found)) if is_number.all() else 0
            mask = range_mask(distance, distance + n_bytes) & ALL >> 1 if n_bytes > 0 else 0
            if distance == 0 and self._is_whole(arguments[touch.argument], given, n_bytes):
                mask = ALL
            if model.string is not None and model.string.how == "copies":
                source = self._source(row, 1 + model.string.source)
                yield _Event(_COPIES, number, mask, distance, (source,))
            elif mask:
                yield _Event(_WRITES, number, mask)

    def _is_whole(self, address: int, given: list[int], n_bytes: int) -> bool:
        """Return whether so many bytes are all of the object that begins at an address."""
        origin = self._origins.origin[address]
        if origin not in self._origins.of:
            return False
        total = self._origins.context.points_to.system.allocations.n_bytes[self._origins.of[origin]]
        if (total >= 0).all() and (total <= n_bytes).all():
            return True
        row = origin - self._first
        is_call = row >= 0 and self._table.opcode[row] in CALLS
        return is_call and given == self._table.operands_of(row)[1:].tolist()

    # Masks

    def _of(self, state: int, number: int) -> int:
        return state >> number * (N_BYTES + 1) & ALL

    def _with(self, state: int, number: int, mask: int) -> int:
        return state | mask << number * (N_BYTES + 1)

    def _without(self, state: int, number: int) -> int:
        return state & ~(ALL << number * (N_BYTES + 1))

    def _mask(self, state: int, source: _Source) -> int:
        """Return the bytes behind a pointer that are written."""
        base, distance = source
        if isinstance(base, int):
            mask = self._of(state, base)
            return mask if mask == ALL else behind(mask, -1 if distance is None else distance)
        return self._owner.at_places(base)

    def _start(self) -> int:
        state = 0
        for origin, number in self._numbers.items():
            if origin - self._base in self._arguments:
                state = self._with(state, number, self._owner.entry[origin - self._base])
        return state

    def run(self) -> set[int]:
        """Find the masks where blocks begin; return the functions that are to be run again."""
        return self._tell(self._lower())

    def _joined(self, block: int) -> int:
        state = self._start() if block == self._blocks[0] else self._every
        for source in self._flow.predecessors(block):
            state &= self._out.get(source, self._every)
        return state

    def _effect(self, event: _Event) -> tuple[int, int]:
        if event.kind == _WRITES:
            return -1, self._with(0, event.number, event.mask)
        if event.kind == _CLEARS:
            return ~self._with(0, event.number, event.mask | ALL ^ ALL >> 1), 0
        return (self._without(-1, event.number), 0) if event.kind == _STARTS else (-1, 0)

    def _after(self, event: _Event, state: int) -> int:
        kind, number = event.kind, event.number
        if kind == _COPIES:
            mask = before(self._mask(state, event.sources[0]), event.distance)
            return self._with(state, number, mask & event.mask)
        if kind == _RESULT:
            mask = ALL
            for function in event.functions:
                mask &= self._owner.returned[function]
            return self._with(self._without(state, number), number, mask)
        if kind == _CALLS and event.mask:
            for position, (base, distance) in enumerate(event.sources):
                if isinstance(base, int) and distance is not None:
                    mask = self._owner.written_by(event.functions, position)
                    state = self._with(state, base, before(mask, distance))
        return state

    def _tell(self, blocks: list[int]) -> set[int]:
        """Take away from what others know; return those for whom something has changed."""
        owner = self._owner
        changed: set[int] = set()
        origins = {number: origin for origin, number in self._numbers.items()}
        for event, state in self._told(blocks):
            if event.kind == _CALLS:
                for function, argument, position in owner.passed(event.functions, event.sources):
                    mask = self._mask(state, event.sources[position])
                    if owner.entry[argument] & ~mask:
                        owner.entry[argument] &= mask
                        changed.add(function)
            elif event.kind == _ESCAPES:
                mask = self._of(state, event.number)
                for allocation in self._origins.of.get(origins[event.number], ()):
                    changed.update(*owner.escape(allocation, mask))
            elif event.kind == _CLEARS:  # in what others may know, too
                for allocation in self._origins.of.get(origins[event.number], ()):
                    changed.update(*owner.escape(allocation, ALL & ~event.mask))
            elif event.kind == _RETURNS and self._returns(event, state):
                changed |= owner.callers[self._function]
        return changed

    def _returns(self, event: _Event, state: int) -> bool:
        """Tell what is written where the function returns; return whether that is less."""
        owner, is_changed = self._owner, False
        for argument in self._arguments:
            number = self._numbers.get(argument + self._base)
            mask = owner.entry[argument] if number is None else self._of(state, number)
            is_changed |= bool(owner.written[argument] & ~mask)
            owner.written[argument] &= mask
        for source in event.sources:
            mask = self._mask(state, source)
            is_changed |= bool(owner.returned[self._function] & ~mask)
            owner.returned[self._function] &= mask
        return is_changed

    def answers(self) -> Iterator[tuple[int, bool]]:
        """Yield of each load whether it reads what was written."""
        for event, state in self._asked(_READS):
            mask = self._mask(state, event.sources[0])
            yield event.row, mask == ALL or bool(event.mask and not event.mask & ~mask)
