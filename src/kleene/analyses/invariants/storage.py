"""What is known of storage beyond single cells: what was written, what is freed, what arrays hold.

`track` adds operations on further variables of objects, before accesses are resolved:

    prefix      of an array whose elements are accessed by index, or of a field of its elements: how
                many from the first on have been written. Storing at index i = prefix makes it
                i + 1; reading at i < prefix is reading something that was written.
    elements    a value for all elements below prefix alike: whatever is known of it holds for each.
                Storing joins; the first store replaces what was there when prefix was 0.
    written     whether a part at a constant offset, or the whole, was written
    freed       whether the object was freed
    ended       whether the lifetime of a local has ended, if it may be used behind that

An address is known by the value that made it, and values of the IR stand for what they last were:
of storage that is made several times, in a loop, the variables are about the last one made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.constant_tables import ConstantTables
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Both,
    Condition,
    Form,
    Kind,
    Relation,
    Unknown,
    only,
)
from kleene.analyses.invariants.flat import (
    ENDED,
    FREED,
    Access,
    Block,
    Cell,
    End,
    Escape,
    FlatFunction,
    Site,
    ended,
    freed,
)
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.operations import (
    AnyValue,
    Assign,
    Check,
    Choose,
    Guard,
    Observe,
    Operation,
)
from kleene.analyses.invariants.strings import LENGTH
from kleene.analyses.invariants.transfer import always
from kleene.analyses.invariants.written import (
    ELEMENTS,
    PREFIX,
    SIZES,
    Array,
    Part,
    Written,
    constant_source,
    defined_parts,
    divided,
    written_flag,
)
from kleene.ir import Program

_NAMES = {FREED: "freed", ENDED: "ended", PREFIX: "written", ELEMENTS: "each", LENGTH: "length"}
_COUNT = Kind(64, False)


@dataclass(frozen=True)
class MayFree(Operation):
    """A call that may free storage: of one object, or of any that others know of."""

    object: int | None
    condition: Condition = Unknown()  # noqa: RUF009 (immutable)


@dataclass(frozen=True)
class Filled(Operation):
    """A call has written so many bytes at a place; none of a negative number."""

    object: int
    offset: Form | None
    length: Form


@dataclass(frozen=True)
class Element(Operation):
    """Say of an element that was read what is known of all that were written.

    Attributes:
        read: the variable that was read.
        missing: positive where the element may not be one that was written.
        elements: the variable for all of them.
    """

    read: Form
    missing: Form
    elements: Form

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        if always(numbers, Relation(self.missing, "le")):
            low, high = numbers.bounds(self.elements)
            numbers.assume_at_most_zero(self.read.shifted(-high))
            if not numbers.is_empty:
                numbers.assume_at_most_zero(self.read.scaled(-1).shifted(low))
        return numbers


def name_of(cell: Cell, name: str) -> str:
    """Return what a variable of an object of this name is called; empty of one of its parts."""
    if cell.size > 0:
        return ""
    first = -cell.size // SIZES if cell.offset in _NAMES else cell.offset
    part = f"{name}@{first}" if first or cell.offset not in _NAMES else name
    return f"{_NAMES.get(cell.offset, 'written')}({part})"


def track(program: Program, flat: FlatFunction) -> None:
    """Add the variables above, checks on them, and what constant tables hold."""
    _Tracking(program, flat).run()


class _Tracking:
    def __init__(self, program: Program, flat: FlatFunction) -> None:
        self._program, self._flat = program, flat
        accesses: dict[int, list[Access]] = defaultdict(list)
        self._frees = False
        for block in flat.blocks:
            for one in block.operations:
                if isinstance(one, Access) and one.object is not None and not one.is_aspect:
                    accesses[one.object].append(one)
                self._frees |= isinstance(one, MayFree)
        self._local = {
            object
            for object in accesses
            if flat.objects[object].base is not None and not flat.objects[object].is_exposed
        }
        untold = {  # calls have written to these, and how many bytes is not known
            object
            for object in self._local
            for one in accesses[object]
            if one.is_store and one.size < 0 and not one.is_new and one.length is None
        }
        filled = {
            one.object for block in flat.blocks for one in block.operations
            if isinstance(one, Filled)
        }  # fmt: skip
        self._told = self._local - (untold - filled)
        self._written = Written(program, flat, {one: accesses[one] for one in self._local})
        self._tables = ConstantTables(program, flat)
        self._sites = {(one.kind, one.instruction): i for i, one in enumerate(flat.sites)}
        for array in (one for found in self._written.arrays.values() for one in found):
            flat.kinds[array.prefix] = _COUNT
            if array.kind is not None:
                flat.kinds[array.elements] = array.kind
        for object, parts in self._written.parts.items():
            flat.kinds.update(dict.fromkeys((written_flag(object, part) for part in parts), BOOL))
        flat.kinds.update(dict.fromkeys(map(ended, _used_behind_end(flat)), BOOL))

    def run(self) -> None:
        """Add the operations."""
        for block in self._flat.blocks:
            operations: list[Operation] = []
            origins: list[tuple[int, int]] = []
            for operation, origin in zip(block.operations, block.origins, strict=True):
                made = list(self._around(operation, origin[1]))
                operations += made
                origins += [origin] * len(made)
            block.operations, block.origins = operations, origins

    def _around(self, operation: Operation, row: int) -> Iterator[Operation]:
        if isinstance(operation, MayFree):
            yield from self._may_free(operation)
        elif isinstance(operation, Escape):
            yield operation
            if operation.everything:
                for array in (one for found in self._written.arrays.values() for one in found):
                    if array.kind is not None:
                        yield AnyValue(array.elements)
        elif isinstance(operation, Filled):
            if operation.offset == ZERO:
                for array in self._written.arrays.get(operation.object, ()):
                    yield from self._grown(array, operation.length)
        elif isinstance(operation, End):
            if (key := ended(operation.object)) in self._flat.kinds:
                yield Assign(key, ONE)
        elif not isinstance(operation, Access) or operation.is_aspect:
            yield operation
        elif operation.is_new:
            yield from self._made(operation)
        else:
            yield from self._alive(operation, row)
            if operation.is_store:
                yield operation
                yield from self._stored(operation)
            else:
                yield from self._loaded(operation, row)

    # Lifetimes

    def _may_free(self, operation: MayFree) -> Iterator[Operation]:
        objects: Iterable[int] = range(len(self._flat.objects))
        if operation.object is not None:
            objects = (operation.object,)
        for object in objects:
            key = freed(object)
            if key not in self._flat.kinds:
                continue
            if operation.object is not None or self._flat.objects[object].is_exposed:
                yield Choose(key, operation.condition, ONE, only(key))

    def _alive(self, access: Access, row: int) -> Iterator[Operation]:
        if access.object is None:
            return
        key = freed(access.object)
        if self._frees and key in self._flat.kinds:
            place = self._site(CheckKind.FREED, row, "the storage was not freed before")
            yield Check(place, Relation(only(key), "eq"))
        key = ended(access.object)
        if key in self._flat.kinds:
            place = self._site(CheckKind.FREED, row, "the lifetime of the local has not ended")
            yield Check(place, Relation(only(key), "eq"))

    # Objects

    def _made(self, access: Access) -> Iterator[Operation]:
        """Begin anew: nothing was written, or zeros everywhere."""
        yield access
        assert access.object is not None
        if (key := ended(access.object)) in self._flat.kinds:
            yield Assign(key, ZERO)
        is_zero = access.source == ZERO
        for array in self._written.arrays.get(access.object, ()):
            size = self._flat.objects[access.object].size
            length = None if size is None else divided(size, array.stride)
            yield Assign(array.prefix, length if is_zero and length is not None else ZERO)
            if array.kind is not None:
                yield Assign(array.elements, ZERO)  # of no elements anything is true
        for part in sorted(self._written.parts.get(access.object, ())):
            yield Assign(written_flag(access.object, part), ONE if is_zero else ZERO)

    def _stored(self, access: Access) -> Iterator[Operation]:
        if access.object is None:
            return
        arrays = self._written.arrays.get(access.object, ())
        if access.copied is not None and access.copied[0] in self._told:
            yield from self._copied(access, arrays)
            return
        if access.size < 0:
            yield from self._filled(access, arrays)
            return
        if access.defined:
            yield from self._stored_in_parts(access, arrays)
            return
        for array in arrays:
            yield from self._element_stored(access, array)
            if (index := array.index_of(access)) is not None:
                is_next = Relation(index.plus(only(array.prefix), -1), "eq")
                yield Choose(array.prefix, is_next, index.shifted(1), only(array.prefix))
        is_local = access.object in self._written.parts
        if is_local and access.offset is not None and not access.offset.terms:
            yield Assign(written_flag(access.object, (access.offset.constant, access.size)), ONE)

    def _stored_in_parts(self, access: Access, arrays: Iterable[Array]) -> Iterator[Operation]:
        """Let a store have written what has no value, or may have none, in some of its bytes."""
        assert access.object is not None
        for array in arrays:
            index = array.index_of(access)
            if array.kind is not None:
                yield AnyValue(array.elements)
            if index is None:
                yield Assign(array.prefix, ZERO)
            else:
                is_inside = Relation(index.plus(only(array.prefix), -1), "le")
                yield Choose(array.prefix, is_inside, index, only(array.prefix))
        defined = dict(defined_parts(access))
        for part in sorted(self._written.parts.get(access.object, ())):
            if part in defined:
                yield Assign(written_flag(access.object, part), defined[part])
            elif _may_lose(access, part):
                yield Assign(written_flag(access.object, part), ZERO)

    def _element_stored(self, access: Access, array: Array) -> Iterator[Operation]:
        if array.kind is None or not array.may_have(access):
            return
        is_one = access.offset is not None and access.kind == array.kind
        if not isinstance(access.source, Form) or not is_one:
            yield AnyValue(array.elements)
            return
        is_first = Relation(only(array.prefix), "eq")
        yield Choose(array.elements, is_first, access.source, only(array.elements))
        yield Choose(array.elements, Unknown(), access.source, only(array.elements))

    def _filled(self, access: Access, arrays: Iterable[Array]) -> Iterator[Operation]:
        """Let a call have written bytes: from the first element on, or anywhere."""
        assert access.object is not None
        length, source = access.length, access.source
        parts = self._written.parts.get(access.object, ())
        for array in arrays:
            is_start = access.offset == ZERO
            if array.kind is not None:
                if source == ZERO and is_start:
                    is_first = Relation(only(array.prefix), "eq")
                    yield Choose(array.elements, is_first, ZERO, only(array.elements))
                    yield Choose(array.elements, Unknown(), ZERO, only(array.elements))
                else:
                    yield AnyValue(array.elements)
            if length is not None and is_start:
                yield from self._grown(array, length)
            elif length is not None and (index := array.filled_by(access)) is not None:
                yield from self._grown(array, length, index)
        for offset, size in sorted(parts):
            if length is None or access.offset is None or access.offset.terms or length.terms:
                continue
            start = access.offset.constant
            if start <= offset and offset + size <= start + length.constant:
                yield Assign(written_flag(access.object, (offset, size)), ONE)

    def _copied(self, access: Access, arrays: Iterable[Array]) -> Iterator[Operation]:
        """Let a call have copied bytes: those have a value that had one where they come from."""
        assert access.object is not None
        assert access.copied is not None
        source, at = access.copied
        every = self._written.is_written(source, at, access.length)
        constant = constant_source(access)
        for array in arrays:
            if array.kind is not None:
                yield AnyValue(array.elements)
            same = [one for one in self._written.arrays.get(source, ()) if one[:3] == array[:3]]
            n_elements = None if access.length is None else divided(access.length, array.stride)
            if same and n_elements is not None and access.offset == at == ZERO:
                copied = only(same[0].prefix)
                every_one: Condition = Relation(n_elements.plus(copied, -1), "le")
                yield Choose(array.prefix, every_one, only(array.prefix), copied)
                yield from self._grown(array, access.length or ZERO, if_=every_one)
                continue
            yield Choose(array.prefix, every, only(array.prefix), ZERO)
            index = array.filled_by(access)
            if access.length is not None and index is not None:
                yield from self._grown(array, access.length, index, if_=every)
        for part in sorted(self._written.parts.get(access.object, ())):
            key = written_flag(access.object, part)
            if constant is None or source == access.object:
                yield Choose(key, every, only(key), ZERO)
                continue
            start, length, shift = constant
            low, high = max(start + shift, part[0]), min(start + length + shift, sum(part))
            if low < high:
                is_whole = (low, high) == (part[0], sum(part))
                written = self._written.is_written(
                    source, Form((), low - shift), Form((), high - low)
                )
                yield Choose(key, written, ONE if is_whole else only(key), ZERO)

    def _grown(
        self, array: Array, length: Form, index: Form = ZERO, if_: Condition | None = None
    ) -> Iterator[Operation]:
        """Let bytes be written from the first, or from an index on, at least so many."""
        n_elements = divided(length, array.stride)
        if n_elements is not None:
            end = index.plus(n_elements)
            is_more: Condition = Relation(only(array.prefix).plus(end, -1), "le")
            if index != ZERO:  # nothing in between may be left out
                is_more = Both(is_more, Relation(index.plus(only(array.prefix), -1), "le"))
            if if_ is not None:
                is_more = Both(is_more, if_)
            yield Choose(array.prefix, is_more, end, only(array.prefix))

    def _loaded(self, access: Access, row: int) -> Iterator[Operation]:
        if access.object is None:
            yield access
            return
        arrays = self._written.arrays.get(access.object, ())
        if access.object in self._told:
            place = self._site(CheckKind.UNINITIALISED, row, "what is read was written before")
            whole = self._written.has_value(access)
            yield Check(place, whole, is_stop=False)  # any value is read
        yield access
        if access.target is None or access.kind is None:
            return
        read = only(access.target)
        followed = [one for one in arrays if one.kind == access.kind]
        if followed and (index := followed[0].index_of(access)) is not None:
            missing = index.plus(only(followed[0].prefix), -1).shifted(1)
            yield Element(read, missing, only(followed[0].elements))
        elif (range_ := self._tables.range(access)) is not None:
            low, high = range_
            yield Guard(Relation(read.scaled(-1).shifted(low), "le"))
            yield Guard(Relation(read.shifted(-high), "le"))

    def _site(self, kind: CheckKind, row: int, message: str) -> int:
        place = self._sites.setdefault((kind, row), len(self._flat.sites))
        if place == len(self._flat.sites):
            self._flat.sites.append(Site(kind, row, message))
        return place


def _used_behind_end(flat: FlatFunction) -> set[int]:
    """Return the objects that are used where, on some path, their lifetime has ended.

    Forward over sets of objects: `End` adds one, and where its storage begins it is taken away.
    """
    before: list[set[int]] = [set() for _ in flat.blocks]
    found: set[int] = set()
    waiting = [
        place for place, block in enumerate(flat.blocks)
        if any(isinstance(one, End) for one in block.operations)
    ]  # fmt: skip
    while waiting:
        place = waiting.pop()
        after = _ended_after(flat.blocks[place], before[place], found)
        for edge in flat.blocks[place].edges:
            if not after <= before[edge.target]:
                before[edge.target] |= after
                waiting.append(edge.target)
    return found


def _ended_after(block: Block, before: set[int], used: set[int]) -> set[int]:
    """Return the objects that have ended behind a block, and add those used in it to `used`."""
    now = set(before)
    for one in block.operations:
        if isinstance(one, End):
            now.add(one.object)
        elif isinstance(one, Access) and one.object in now and not one.is_aspect:
            if one.is_new:
                now.discard(one.object)
            else:
                used.add(one.object)
    return now


def _may_lose(access: Access, part: Part) -> bool:
    """Return whether a store may leave bytes of a part of its object without a value."""
    if access.offset is None or access.offset.terms:
        return True
    return any(
        form != ONE and start < part[0] + part[1] and part[0] < start + size
        for (start, size), form in defined_parts(access)
    )


__all__ = ["Element", "Filled", "MayFree", "track"]
