"""What the instructions of a function do to the bytes that must have been written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from kleene.analyses.invariants.models import Model, Touch
from kleene.analyses.invariants.whole.addresses import constant_numbers
from kleene.analyses.invariants.whole.masks import ALL, MOST, before, read_mask, written_mask
from kleene.analyses.invariants.whole.origins import Origins, Place
from kleene.analyses.invariants.whole.reading import EVERYTHING
from kleene.ir.codes import CALLS, Opcode, ValueKind

# Where bytes are: so far behind an origin, by its number, None where that varies; or at places.
Source = tuple[int | frozenset[Place], int | None]


class Event(NamedTuple):
    """What happens to masks; `number` is that of an origin."""

    kind: int
    number: int = 0
    mask: int = 0
    distance: int = 0
    sources: tuple[Source, ...] = ()
    functions: tuple[int, ...] = ()
    row: int = -1


STARTS = 0  # an origin is new storage, with nothing written
EMPTIES = 1  # nothing of an origin is written any more
WRITES = 2  # `mask` is written
COPIES = 3  # of `mask`, those of the source are written, at `distance`, and no others
RESULT = 4  # an origin is what `functions` return
PASSES = 5  # `functions` get the sources as arguments; they return if there is a `mask`
ESCAPES = 6  # its address is handed on
LOOKS = 7  # whoever knows the address of some allocations, `mask`, may read what is there
RETURNS = 8  # the function returns the source
READS = 9  # the load `row` reads `mask` of the source; 0: bytes that are not known
CLEARS = 10  # `mask` has no value any more
SPOILS = 11  # those of `mask` that the first source has not written have no value at the second
ENDED = 12  # `functions` that got the sources have returned with signs in `mask`
_UNDO = (STARTS, EMPTIES, COPIES, CLEARS)
_ALLOCA, _LOAD, _STORE, _RET, _PHI = (
    int(one) for one in (Opcode.ALLOCA, Opcode.LOAD, Opcode.STORE, Opcode.RET, Opcode.PHI)
)


class Events:
    """Reads the events of a function, and numbers its origins.

    Attributes:
        numbers: of origins.
        looks: the allocations that the function reads, or hands on pointers to, through pointers
            that it has from memory.
        by_block: the events.
    """

    def __init__(
        self,
        origins: Origins,
        function: int,
        rows: list[list[int]],
        hands_on: Callable[[frozenset[Place]], None],
    ) -> None:
        self._origins, self._storage, self._hands_on = origins, origins.storage, hands_on
        self._table, self._first = origins.table, origins.first
        self._opcodes, self._types, self._sizes = origins.opcodes, origins.types, origins.sizes
        self._rows, self._looked = rows, 0
        offsets = origins.program.function_table.argument_offsets
        self.arguments = range(*offsets[function : function + 2].tolist())
        self._base = origins.program.bases[ValueKind.ARGUMENT]
        self.numbers: dict[int, int] = {}
        self.looks = 0
        self._ends: dict[int, list[Event]] = defaultdict(list)  # φ behind blocks
        self.by_block = {block: list(self._read(block)) for block in origins.flow.blocks(function)}
        for block, events in self._ends.items():
            self.by_block[block] += events
        for block in origins.flow.blocks(function):
            self._tell_outcomes(self.by_block[block])
        self._drop_looks()

    def _tell_outcomes(self, events: list[Event]) -> None:
        """Let blocks behind calls begin with what the signs of results tell."""
        for place, event in enumerate(events):
            if event.kind != PASSES or not event.mask:
                continue
            given = {base for base, _ in event.sources if isinstance(base, int)}
            undone = {one.number for one in events[place:] if one.kind in _UNDO}
            if given and not given & undone:
                for target, signs in self._origins.outcomes.after(event.row, event.functions):
                    self.by_block[target].insert(0, event._replace(kind=ENDED, mask=signs))

    def _drop_looks(self) -> None:
        """Keep events at which others look only where an address was handed on."""
        of = {number: origin for origin, number in self.numbers.items()}
        found = {
            event.number
            for events in self.by_block.values()
            for event in events
            if event.kind == ESCAPES
        }
        self.handed = [
            (one, self._origins.of[of[one]]) for one in sorted(found) if of[one] in self._origins.of
        ]
        known = 0
        for _, allocations in self.handed:
            for one in allocations:
                known |= 1 << one
        for block, events in self.by_block.items():
            if any(one.kind == LOOKS for one in events):
                self.by_block[block] = [
                    one for one in events if one.kind != LOOKS or one.mask & known
                ]

    def number(self, value: int) -> int | None:
        """Return the number of an address's origin; None if it has no mask."""
        origin = self._origins.origin[value]
        if origin not in self._origins.of and origin - self._base not in self.arguments:
            return None
        return self.numbers.setdefault(origin, len(self.numbers))

    def _source(self, row: int, position: int) -> Source:
        """Return where the bytes are that an operand points to."""
        value = self._storage.operands(row)[position]
        number = self.number(value)
        if number is not None:
            return number, self._origins.distance[value]
        held = self._origins.unwritten(value) if self._origins.may_hold[value] else frozenset()
        if held:
            self._looked |= self._origins.allocations_of(held)
            if self._opcodes[row] != _LOAD:  # that hands nothing on
                self._hands_on(held)
        return held, None

    def _read(self, block: int) -> Iterator[Event]:
        handed = self._origins.handed
        for row in self._rows[block]:
            opcode = self._opcodes[row]
            for value, position in handed.get(row, ()):
                yield from self._hand(row, opcode, value, position)
            self._looked = 0
            events = list(self._instruction(row, opcode))
            if self._looked:
                self.looks |= self._looked
                yield Event(LOOKS, mask=self._looked)
            yield from events

    def _instruction(self, row: int, opcode: int) -> Iterator[Event]:
        if opcode == _ALLOCA:
            if (number := self.number(self._first + row)) is not None:
                yield from self._start(self._first + row, number)
        elif opcode == _LOAD:
            yield from self._load(row)
        elif opcode == _STORE:
            yield from self._store(row)
        elif opcode in CALLS:
            yield Event(LOOKS, mask=EVERYTHING, row=row)
            yield from self._call(row)
        elif opcode == _RET:
            yield Event(LOOKS, mask=self._origins.outlives)
            has_value = bool(self._storage.operands(row))
            sources = (self._source(row, 0),) if has_value else ()
            yield Event(RETURNS, sources=sources, row=row)

    def _start(self, value: int, number: int) -> Iterator[Event]:
        """Begin with new storage; that of a loop's iteration before is not followed any more."""
        if value >= self._first and self._origins.may_repeat(value - self._first):
            for one in self._origins.of[value]:
                yield Event(LOOKS, mask=1 << one)
        yield Event(STARTS, number, self._origins.beyond(value))

    def _hand(self, row: int, opcode: int, value: int, position: int) -> Iterator[Event]:
        """Hand an address on from here on; of φ, where its operand comes from."""
        flow = self._origins.flow
        if (number := self.number(value)) is None:
            return
        formals = self._origins.formals(row, position)
        if formals is not None and not any(self._origins.captured[one] for one in formals):
            return
        if opcode == _PHI:
            source = self._storage.operands(row)[position + 1]
            block = source - self._origins.program.bases[ValueKind.BLOCK]
            if block in flow.predecessors(self._origins.blocks[row]):
                self._ends[block].append(Event(ESCAPES, number))
        else:
            yield Event(ESCAPES, number)

    def _range(self, value: int, row: int, place: int, size: int) -> tuple[int, int] | None:
        """Return from where to where, behind its origin, bytes at an address are accessed."""
        reach = self._origins.reach(value)
        found = None if reach is None else (reach[0], reach[1] + size)
        if self._origins.origin[value] in self._origins.of:
            inside = self._origins.bytes_of(row, place, size)
            if inside is not None and found is not None:
                return max(inside[0], found[0]), min(inside[1], found[1])
            return inside or found
        return found

    def _load(self, row: int) -> Iterator[Event]:
        value = self._storage.operands(row)[0]
        source, size = self._source(row, 0), self._sizes[self._types[self._first + row]]
        base, distance = source
        mask = 0
        if not isinstance(base, int):
            mask = read_mask(0, max(size, 0))
        elif size > 0 and (found := self._range(value, row, 0, size)) is not None:
            mask = read_mask(*found) if 0 <= found[0] < found[1] else 0
            source = (base, 0)
        yield Event(READS, mask=mask, sources=(source,), row=row)
        if isinstance(base, int) and distance is not None and mask > 0:
            yield Event(WRITES, base, mask)

    def _store(self, row: int) -> Iterator[Event]:
        stored, address = self._storage.operands(row)
        size = self._sizes[self._types[stored]]
        number, distance = self.number(address), self._origins.distance[address]
        if number is None or size <= 0:
            return
        lost = int(self._origins.undefined.stored[stored])
        if distance is not None and distance >= 0:
            mask = written_mask(distance, distance + size)
            cleared = before(lost, distance) if size <= 64 else ALL if lost else 0
            if mask & ~cleared:
                yield Event(WRITES, number, mask & ~cleared, row=row)
            if mask & cleared:
                yield Event(CLEARS, number, mask & cleared, row=row)
        elif lost:
            yield Event(CLEARS, number, ALL, row=row)

    def _call(self, row: int) -> Iterator[Event]:
        _, *arguments = self._storage.operands(row)
        functions = tuple(self._storage.targets.get(row, ()))
        leaves = self._origins.leaves[row]
        model = self._origins.models.get(row) or self._storage.model(row)
        numbers = [self.number(one) for one in arguments]
        if (self._storage.callee(row) or "").startswith("llvm.lifetime.start"):
            for value, one in zip(arguments, numbers, strict=True):
                if one is not None:
                    yield Event(EMPTIES, one, self._origins.beyond(self._origins.origin[value]))
            return
        if functions:
            sources = tuple(self._source(row, 1 + place) for place in range(len(arguments)))
            returns = int(not leaves)
            yield Event(PASSES, mask=returns, sources=sources, functions=functions, row=row)
        elif leaves and self._ends_for_certain(row):
            if numbers[0] is not None and self._origins.distance[arguments[0]] == 0:
                yield Event(WRITES, numbers[0], ALL)  # nothing is read there any more
        elif leaves and model.is_unknown:
            yield from (Event(WRITES, one, ALL) for one in numbers if one is not None)
        elif leaves:
            yield from self._modelled(row, model, arguments)
        if (number := self.number(self._first + row)) is not None:
            yield from self._start(self._first + row, number)
            if functions and not leaves:
                yield Event(RESULT, number, functions=functions)

    def _ends_for_certain(self, row: int) -> bool:
        """Return whether a call ends what it gets, as `realloc` does not where it fails."""
        name = self._storage.callee(row) or ""
        return self._storage.freed(row) == 0 and not name.startswith("realloc")

    def _modelled(self, row: int, model: Model, arguments: list[int]) -> Iterator[Event]:
        """Yield what a function of the library writes for certain."""
        is_copy = model.string is not None and model.string.how == "copies"
        for touch in model.touches:
            if not touch.is_write or touch.argument >= len(arguments):
                continue
            address = arguments[touch.argument]
            if touch.size and max(touch.size.arguments, default=0) >= len(arguments):
                continue
            number, distance = self.number(address), self._origins.distance[address]
            n_bytes = self._n_bytes(touch, arguments)
            mask = 0
            if number is not None and distance is not None and distance >= 0:
                mask = written_mask(distance, distance + n_bytes) if n_bytes > 0 else 0
                if distance == 0 and self._is_whole(address, touch, arguments):
                    mask = ALL
            if model.string is not None and is_copy:
                source = self._source(row, 1 + model.string.source)
                if mask:
                    assert number is not None
                    assert distance is not None
                    yield Event(COPIES, number, mask, distance, (source,))
                if not mask or self._origins.origin[address] not in self._origins.of:
                    yield self._leaves(row, address, n_bytes, source)
            elif mask:
                assert number is not None
                yield Event(WRITES, number, mask)

    def _leaves(self, row: int, address: int, n_bytes: int, source: Source) -> Event:
        """Let bytes without a value get into a struct that is returned, and nowhere else."""
        if self._origins.is_for_result(address):
            places = self._origins.places(address)
            mask = (1 << n_bytes) - 1 if 0 < n_bytes <= MOST else ALL
            return Event(SPOILS, mask=mask, sources=(source, (places, None)))
        base, distance = source
        if isinstance(base, int) and distance is not None and n_bytes > 0:
            mask = read_mask(distance, distance + n_bytes) if distance >= 0 else 0
            return Event(READS, mask=mask, sources=((base, 0),), row=row)
        mask = read_mask(0, n_bytes) if n_bytes > 0 and not isinstance(base, int) else 0
        return Event(READS, mask=mask, sources=(source,), row=row)

    def _n_bytes(self, touch: Touch, arguments: list[int]) -> int:
        """Return how many bytes a call writes; 0 if that is not known."""
        size = touch.size
        if size is None or not touch.is_exact or size.lengths or size.room is not None:
            return 0
        given = np.array([arguments[one] for one in size.arguments], np.int64)
        is_number, found = constant_numbers(self._origins.program, given)
        return size.constant + int(np.prod(found)) if is_number.all() else 0

    def _is_whole(self, address: int, touch: Touch, arguments: list[int]) -> bool:
        """Return whether the library was asked for as many bytes as a call writes."""
        row = self._origins.origin[address] - self._first
        if row < 0 or self._opcodes[row] not in CALLS or not touch.is_exact:
            return False
        asked, size = self._storage.model(row).heap, touch.size
        if asked is None or size is None or asked.constant > size.constant:
            return False
        if asked.lengths or size.lengths or size.room is not None:
            return False
        made = self._storage.operands(row)[1:]
        if max(asked.arguments, default=0) >= len(made):
            return False
        return [made[one] for one in asked.arguments] == [arguments[one] for one in size.arguments]
