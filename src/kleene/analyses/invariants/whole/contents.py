"""Was what a whole program reads from memory written before?

Of each *origin* (a local, what an allocator returns, an argument) the bytes are followed that must
have been written, on every path: bit k of a mask is for byte k behind the origin.

    struct s x;                  none
    x.a = 1;                     those of a
    memset(&x, 0, sizeof x);     all
    fill(&x);                    those that `fill` has written whenever it returns
    y = x;                       of y, those that were of x
    read(&x)                     in `read`, those that all callers have written

The address of an object is *handed on* where it is stored, returned, or chosen among others. A
pointer that comes from memory, or is one of several, reads what was written before anybody could
look there:

    list->s = s;                 the address is handed on
    s->a = 1;
    puts("made");                no code of the program runs meanwhile
    show(list);                  may read from `list->s`, where a is written
    return;                      whoever runs now may read what was written until here

Other threads and handlers of signals look at once. What is from outside was written there; a
function outside that nobody knows writes all that it is handed. What was read once counts as
written: other reads get the same.

Masks start full, and bytes are taken away that some path, call or caller does not write: the
greatest solution is true of every run, by induction on its length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kleene.analyses.invariants.whole.content_events import (
    CLEARS,
    COPIES,
    EMPTIES,
    ENDED,
    ESCAPES,
    LOOKS,
    PASSES,
    READS,
    RESULT,
    RETURNS,
    SPOILS,
    STARTS,
    WRITES,
    Event,
    Events,
    Source,
)
from kleene.analyses.invariants.whole.flow import States
from kleene.analyses.invariants.whole.masks import ALL, before, behind, packed, unpacked
from kleene.analyses.invariants.whole.origins import Origins, Place
from kleene.analyses.invariants.whole.outcomes import ANY, SIGNS
from kleene.analyses.invariants.whole.reading import Reading
from kleene.ir.codes import CALLS, Opcode


class Contents:
    """Which loads read only what was written before."""

    def __init__(self, origins: Origins) -> None:
        self.origins, self.program = origins, origins.program
        n_arguments, n_functions = len(self.program.arguments), len(self.program.function_table)
        self.argument_offsets = self.program.function_table.argument_offsets.tolist()
        self.entry = [ALL] * n_arguments  # written where the function begins
        # Written where it ends, by the sign of its result.
        self.written = {sign: [ALL] * n_arguments for sign in SIGNS}
        self.returned = [ALL] * n_functions  # written of what it returns
        # By allocation, what was written whenever others may look at it.
        self.escaped = {one: ALL for found in origins.of.values() for one in found}
        self.escaped.update(dict.fromkeys(origins.not_followed, 0))
        self.spoilt: dict[int, int] = {}  # by allocation, what may get bytes without a value
        self._spoilt_at: dict[frozenset[Place], int] = {}
        # Functions that hand on or copy what is at some places, and these by allocation.
        self.readers: dict[frozenset[Place], set[int]] = defaultdict(set)
        self._of_places: dict[frozenset[Place], int] = {}
        self.callers: dict[int, set[int]] = defaultdict(set)
        for call, targets in origins.storage.targets.items():
            for target in targets:
                self.callers[target].add(int(self.program.instruction_function[call]))
        self.functions = self._functions()
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
        """Return whether the bytes that a load reads, or a call copies, were written before."""
        return self._is_written.get(row, True)  # not reached, or written by others

    def copies(self) -> list[int]:
        """Return the calls that copy bytes to where it is not followed whether they have values."""
        opcodes = self.origins.opcodes
        return sorted(row for row in self._is_written if opcodes[row] in CALLS)

    def _functions(self) -> dict[int, _Function]:
        origins, rows = self.origins, self._rows()
        own, found = [0] * len(self.program.function_table), {}
        for function in origins.flow.functions:

            def hands_on(places: frozenset[Place], function: int = function) -> None:
                self.readers[places].add(function)

            found[function] = Events(origins, function, rows, hands_on)
            own[function] = found[function].looks
        self.reading = Reading(origins.context, origins.storage, own)
        return {function: _Function(self, function, events) for function, events in found.items()}

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
        """Let others read what is in a mask; yield the functions for which this makes it less."""
        if self.escaped[allocation] & ~mask:
            self.escaped[allocation] &= mask
            for places in self._held_in.get(allocation, ()):
                self._of_places.pop(places, None)
                yield self.readers[places]

    def spoil(self, places: frozenset[Place], mask: int) -> Iterator[set[int]]:
        """Let bytes have no value at one of some places; yield the functions that this is for."""
        for one, byte in places:
            spoilt = mask << byte if byte >= 0 else ALL
            before = self.spoilt.get(one, 0)
            if spoilt & ~before:
                self.spoilt[one] = before | spoilt
                self._spoilt_at.clear()
                yield set(self.functions)  # whoever follows it: this is rare
                if one in self.escaped:
                    yield from self.escape(one, ~spoilt)

    def spoilt_at(self, places: frozenset[Place]) -> int:
        """Return the bytes behind a pointer to one of some places that may have no value."""
        found = self._spoilt_at.get(places)
        if found is None:
            found = 0
            for one, byte in places:
                if spoilt := self.spoilt.get(one, 0):
                    found |= spoilt >> byte if byte >= 0 else ALL
            self._spoilt_at[places] = found
        return found

    def passed(
        self, functions: tuple[int, ...], sources: tuple[Source, ...]
    ) -> Iterator[tuple[int, int, int]]:
        """Yield the functions of a call, their arguments, and the position of each."""
        offsets = self.argument_offsets
        for function in functions:
            first, end = offsets[function], offsets[function + 1]
            for position in range(min(end - first, len(sources))):
                yield function, first + position, position

    def written_by(self, event: Event, signs: int) -> Iterator[tuple[int, int]]:
        """Yield what all functions of a call write behind its arguments: numbers and masks.

        They write that before they return with some signs.
        """
        offsets = self.argument_offsets
        for position, (base, distance) in enumerate(event.sources):
            if not isinstance(base, int) or distance is None:
                continue
            found = ALL
            for function in event.functions:
                first, end = offsets[function], offsets[function + 1]
                is_there = first + position < end and function in self.functions
                for sign in SIGNS:
                    if signs & sign:
                        found &= self.written[sign][first + position] if is_there else 0
            yield base, before(found, distance)

    def _solve(self) -> None:
        waiting = set(self.functions)
        while waiting:  # in iterations: what is handed on anywhere is known to all in the next one
            changed: set[int] = set()
            for row in sorted(waiting):
                changed |= self.functions[row].run()
            waiting = changed & self.functions.keys()


class _Function(States[Event]):
    """A function's origins in one large integer.

    Of each there is a mask; and of those whose address the function hands on, one more, of what is
    written on all ways that have handed it on.
    """

    CHANGES = frozenset((COPIES, ENDED, ESCAPES, RESULT, PASSES))
    TELLS = frozenset((CLEARS, ESCAPES, LOOKS, RETURNS, SPOILS))

    def __init__(self, owner: Contents, function: int, events: Events) -> None:
        self._owner, self._origins, self._function = owner, owner.origins, function
        self._arguments, self._numbers = events.arguments, events.numbers
        self._handed = events.handed
        self._base = owner.origins.first_argument
        self._of_number = {number: origin for origin, number in events.numbers.items()}
        self._widths: list[int] = []
        self._places: list[int] = []
        handed = [number for number, _ in events.handed]
        self._public = {number: len(events.numbers) + n for n, number in enumerate(handed)}
        place = 0
        for origin in (*events.numbers, *(self._of_number[one] for one in handed)):
            self._widths.append(self._origins.width(origin))
            self._places.append(place)
            place += self._widths[-1] + 1
        self._every = (1 << place) - 1
        self._seen: dict[int, int] = {}  # by what was looked at: all states then, met
        self._begin(owner.origins.flow, events.by_block)

    # Masks

    def _of(self, state: int, number: int) -> int:
        width = self._widths[number]
        mask = unpacked(state >> self._places[number] & (2 << width) - 1, width)
        if self._owner.spoilt and number in self._of_number:
            places = self._origins.places(self._of_number[number])
            mask &= ~self._owner.spoilt_at(places)
        return mask

    def _field(self, number: int, mask: int) -> int:
        return packed(mask, self._widths[number]) << self._places[number]

    def _both(self, number: int, mask: int) -> int:
        """Return the bits of an origin, and of what is written on ways that hand it on."""
        more = self._field(self._public[number], mask) if number in self._public else 0
        return self._field(number, mask) | more

    def _mask(self, state: int, source: Source) -> int:
        """Return the bytes behind a pointer that are written."""
        base, distance = source
        if isinstance(base, int):
            mask = self._of(state, base)
            return mask if mask == ALL else behind(mask, -1 if distance is None else distance)
        return self._owner.at_places(base)

    def _start(self) -> int:
        """Return the state at the entry: of storage that is not made yet, all that one likes."""
        state = self._every
        for origin, number in self._numbers.items():
            if origin - self._base in self._arguments:
                mask = self._owner.entry[origin - self._base]
                state &= ~self._field(number, ALL) | self._field(number, mask)
        return state

    def run(self) -> set[int]:
        """Find the masks where blocks begin; return the functions that are to be run again."""
        return self._tell(self._lower())

    def _joined(self, block: int) -> int:
        state = self._start() if block == self._blocks[0] else self._every
        for source in self._flow.predecessors(block):
            state &= self._out.get(source, self._every)
        return state

    def _effect(self, event: Event) -> tuple[int, int]:
        kind, number = event.kind, event.number
        if kind == WRITES:
            return -1, self._both(number, event.mask)
        if kind == CLEARS:
            return ~self._both(number, event.mask), 0
        if kind == STARTS:
            own, both = self._field(number, ALL), self._both(number, ALL)
            return ~both, both & ~own | self._field(number, event.mask)
        if kind == EMPTIES:
            return ~self._field(number, ALL), self._field(number, event.mask)
        return -1, 0

    def _after(self, event: Event, state: int) -> int:
        kind, number = event.kind, event.number
        if kind == ESCAPES and number in self._public:
            public = self._public[number]
            return state & (
                ~self._field(public, ALL) | self._field(public, self._of(state, number))
            )
        if kind == COPIES:
            mask = before(self._mask(state, event.sources[0]), event.distance)
            return state & ~self._both(number, event.mask) | self._both(number, mask & event.mask)
        if kind == RESULT:
            mask = ALL
            for function in event.functions:
                mask &= self._owner.returned[function]
            return state | self._both(number, mask)
        if kind == ENDED or (kind == PASSES and event.mask):
            signs = event.mask if kind == ENDED else ANY
            for base, mask in self._owner.written_by(event, signs):
                state |= self._both(base, mask)
        return state

    def _tell(self, blocks: list[int]) -> set[int]:
        """Take away from what others know; return those for whom something has changed."""
        owner = self._owner
        changed: set[int] = set()
        at_any_time = owner.reading.at_any_time
        for event, state in self._told(blocks):
            if event.kind == PASSES:
                for function, argument, position in owner.passed(event.functions, event.sources):
                    mask = self._mask(state, event.sources[position])
                    if owner.entry[argument] & ~mask:
                        owner.entry[argument] &= mask
                        changed.add(function)
            elif event.kind == SPOILS:
                (places, _), mask = event.sources[1], event.mask
                assert isinstance(places, frozenset)
                changed.update(*owner.spoil(places, mask & ~self._mask(state, event.sources[0])))
            elif event.kind == LOOKS:
                changed |= self._looked_at(state, event)
            elif event.kind in (ESCAPES, CLEARS):
                is_cleared = event.kind == CLEARS  # in what others may know, too
                mask = ALL & ~event.mask if is_cleared else self._of(state, event.number)
                for one in self._origins.of.get(self._of_number[event.number], ()):
                    if is_cleared or at_any_time >> one & 1:
                        changed.update(*owner.escape(one, mask))
            elif event.kind == RETURNS and self._returns(event, state):
                changed |= owner.callers[self._function]
        return changed

    def _looked_at(self, state: int, event: Event) -> set[int]:
        """Let others read what they know; return those for whom something has changed.

        That takes away what a state has not, so only what all states before had can be news.
        """
        changed: set[int] = set()
        looked = event.mask if event.row < 0 else self._owner.reading.by_call[event.row]
        seen = self._seen.get(looked, self._every)
        news = seen & ~state
        if not looked or not news:
            return changed
        self._seen[looked] = seen & state
        for number, allocations in self._handed:
            public = self._public[number]
            if news >> self._places[public] & (2 << self._widths[public]) - 1:
                mask = self._of(state, public)
                for one in allocations:
                    if looked >> one & 1:
                        changed.update(*self._owner.escape(one, mask))
        return changed

    def _returns(self, event: Event, state: int) -> bool:
        """Tell what is written where the function returns; return whether that is less."""
        owner, is_changed = self._owner, False
        block = self._origins.blocks[event.row]
        for source_block, signs in self._origins.outcomes.returned(event.row):
            ending = state
            if source_block is not None:
                ending = self._through(block, self._out.get(source_block, self._every))
            for argument in self._arguments:
                number = self._numbers.get(argument + self._base)
                mask = owner.entry[argument] if number is None else self._of(ending, number)
                for sign in SIGNS:
                    written = owner.written[sign]
                    if signs & sign and written[argument] & ~mask:
                        is_changed = True
                        written[argument] &= mask
        for source in event.sources:
            mask = self._mask(state, source)
            is_changed |= bool(owner.returned[self._function] & ~mask)
            owner.returned[self._function] &= mask
        return is_changed

    def answers(self) -> Iterator[tuple[int, bool]]:
        """Yield of each load whether it reads what was written."""
        for event, state in self._asked(READS):
            mask = self._mask(state, event.sources[0])
            yield event.row, mask == ALL or bool(event.mask and not event.mask & ~mask)
