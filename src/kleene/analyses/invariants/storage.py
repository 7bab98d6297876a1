"""What is known of storage beyond single cells: what was written, what is freed, what arrays hold.

`track` adds operations on further variables of objects, before accesses are resolved:

    prefix      of an array whose elements are accessed by index: how many from the first on have
                been written. Storing at index i = prefix makes it i + 1; reading at i < prefix is
                reading something that was written.
    elements    a value for all elements below prefix alike: whatever is known of it holds for each.
                Storing joins; the first store replaces what was there when prefix was 0.
    written     whether a part at a constant offset was written
    freed       whether the object was freed
    ended       whether the lifetime of a local has ended, if it may be used behind that

An address is known by the value that made it, and values of the IR stand for what they last were:
of storage that is made several times, in a loop, the variables are about the last one made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.constant_tables import ConstantTables
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Condition,
    Either,
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
from kleene.ir import Program

_PREFIX, _ELEMENTS = -2, -3  # offsets of cells that are no bytes, beside those of `flat`
_NAMES = {FREED: "freed", ENDED: "ended", _PREFIX: "written", _ELEMENTS: "each", LENGTH: "length"}
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
    if cell.size < 0:
        return f"written({name}@{cell.offset})"
    return f"{_NAMES[cell.offset]}({name})"


class _Array(NamedTuple):
    """An object whose elements are followed together.

    Attributes:
        size: of an element.
        kind: of an element; None if only `prefix` is followed.
        prefix: the variable for how many elements were written from the first on.
        elements: the variable for all of these.
    """

    size: int
    kind: Kind | None
    prefix: Cell
    elements: Cell

    def index_of(self, offset: Form | None) -> Form | None:
        """Return an offset as an index."""
        if offset is None:
            return None
        terms = tuple((key, factor // self.size) for key, factor in offset.terms)
        return Form(terms, offset.constant // self.size)


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
        self._arrays = dict(self._found_arrays(accesses))
        self._parts = {object: self._constant_parts(accesses[object]) for object in self._local}
        self._tables = ConstantTables(program, flat)
        self._sites = {(one.kind, one.instruction): i for i, one in enumerate(flat.sites)}
        for array in self._arrays.values():
            flat.kinds[array.prefix] = _COUNT
            if array.kind is not None:
                flat.kinds[array.elements] = array.kind
        for object, parts in self._parts.items():
            flat.kinds.update(dict.fromkeys((_written(object, part) for part in parts), BOOL))
        flat.kinds.update(dict.fromkeys(map(ended, _used_behind_end(flat)), BOOL))

    def _found_arrays(self, accesses: dict[int, list[Access]]) -> Iterator[tuple[int, _Array]]:
        for object in self._local:
            found = accesses[object]
            sizes = {one.size for one in found if one.size > 0}
            has_index = any(one.offset is not None and one.offset.terms for one in found)
            if len(sizes) != 1 or not has_index:
                continue
            (size,) = sizes
            if any(_divisor(one.offset) % size for one in found if one.size > 0):
                continue
            # Loads whose value is known otherwise have no kind.
            loads = [one for one in found if one.size > 0 and not one.is_store]
            kinds = {one.kind for one in loads if one.kind is not None}
            kind = kinds.pop() if len(kinds) == 1 else None
            prefix, elements = Cell(object, _PREFIX, 0), Cell(object, _ELEMENTS, 0)
            yield object, _Array(size, kind, prefix, elements)

    def _constant_parts(self, found: list[Access]) -> set[tuple[int, int]]:
        """Return the parts, offset and size, of an object that are written at constant offsets."""
        return {
            (one.offset.constant, one.size)
            for one in found
            if one.is_store and one.size > 0 and one.offset is not None and not one.offset.terms
        }

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
                for one in self._arrays.values():
                    if one.kind is not None:
                        yield AnyValue(one.elements)
        elif isinstance(operation, Filled):
            array = self._arrays.get(operation.object)
            if array is not None and operation.offset == ZERO:
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
        array, is_zero = self._arrays.get(access.object), access.source == ZERO
        if array is not None:
            size = self._flat.objects[access.object].size
            length = None if size is None else _divided(size, array.size)
            yield Assign(array.prefix, length if is_zero and length is not None else ZERO)
            if array.kind is not None:
                yield Assign(array.elements, ZERO)  # of no elements anything is true
        for part in sorted(self._parts.get(access.object, ())):
            yield Assign(_written(access.object, part), ONE if is_zero else ZERO)

    def _stored(self, access: Access) -> Iterator[Operation]:
        if access.object is None:
            return
        array = self._arrays.get(access.object)
        if access.size < 0:
            yield from self._filled(access, array)
            return
        if access.has_value != ONE:
            yield from self._stored_nothing(access, array)
            return
        if array is not None:
            index = array.index_of(access.offset)
            yield from self._element_stored(access, array)
            if index is not None:
                is_next = Relation(index.plus(only(array.prefix), -1), "eq")
                yield Choose(array.prefix, is_next, index.shifted(1), only(array.prefix))
        if access.object in self._parts and access.offset is not None and not access.offset.terms:
            yield Assign(_written(access.object, (access.offset.constant, access.size)), ONE)

    def _stored_nothing(self, access: Access, array: _Array | None) -> Iterator[Operation]:
        """Let a store have written, perhaps, what has no value."""
        assert access.object is not None
        if array is not None:
            index = array.index_of(access.offset)
            if array.kind is not None:
                yield AnyValue(array.elements)
            if index is None:
                yield Assign(array.prefix, ZERO)
            else:
                is_inside = Relation(index.plus(only(array.prefix), -1), "le")
                yield Choose(array.prefix, is_inside, index, only(array.prefix))
        for part in sorted(self._parts.get(access.object, ())):
            is_same = access.offset == Form((), part[0]) and access.size == part[1]
            if is_same:
                yield Assign(_written(access.object, part), access.has_value)
            elif _may_overlap(access, part):
                yield Assign(_written(access.object, part), ZERO)

    def _element_stored(self, access: Access, array: _Array) -> Iterator[Operation]:
        if array.kind is None:
            return
        if not isinstance(access.source, Form) or access.kind != array.kind:
            yield AnyValue(array.elements)
            return
        is_first = Relation(only(array.prefix), "eq")
        yield Choose(array.elements, is_first, access.source, only(array.elements))
        yield Choose(array.elements, Unknown(), access.source, only(array.elements))

    def _filled(self, access: Access, array: _Array | None) -> Iterator[Operation]:
        """Let a call have written bytes: from the first element on, or anywhere."""
        assert access.object is not None
        length, source = access.length, access.source
        parts = self._parts.get(access.object, ())
        if array is not None:
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
        for offset, size in sorted(parts):
            if length is None or access.offset is None or access.offset.terms or length.terms:
                continue
            start = access.offset.constant
            if start <= offset and offset + size <= start + length.constant:
                yield Assign(_written(access.object, (offset, size)), ONE)

    def _grown(self, array: _Array, length: Form) -> Iterator[Operation]:
        """Let the first bytes be written, at least so many."""
        n_elements = _divided(length, array.size)
        if n_elements is not None:
            is_more = Relation(only(array.prefix).plus(n_elements, -1), "le")
            yield Choose(array.prefix, is_more, n_elements, only(array.prefix))

    def _loaded(self, access: Access, row: int) -> Iterator[Operation]:
        if access.object is None:
            yield access
            return
        array = self._arrays.get(access.object)
        index = array.index_of(access.offset) if array is not None else None
        if access.object in self._told:
            condition = self._has_value(access, array, index)
            if condition is not None:
                place = self._site(CheckKind.UNINITIALISED, row, "what is read was written before")
                whole = Either(condition, Unknown())  # what is not known may be written, too
                yield Check(place, whole, is_stop=False)  # any value is read
        yield access
        if access.target is None or access.kind is None:
            return
        read = only(access.target)
        if array is not None and array.kind == access.kind and index is not None:
            missing = index.plus(only(array.prefix), -1).shifted(1)
            yield Element(read, missing, only(array.elements))
        elif (range_ := self._tables.range(access)) is not None:
            low, high = range_
            yield Guard(Relation(read.scaled(-1).shifted(low), "le"))
            yield Guard(Relation(read.shifted(-high), "le"))

    def _has_value(
        self, access: Access, array: _Array | None, index: Form | None
    ) -> Condition | None:
        """Return that the bytes of a load were written; None if writes are not told apart."""
        found: Condition | None = None
        if array is not None:
            if index is None:
                return Unknown()
            found = Relation(index.plus(only(array.prefix), -1).shifted(1), "le")
        if access.object in self._parts and access.offset is not None and not access.offset.terms:
            part = access.offset.constant, access.size
            assert access.object is not None
            if part in self._parts[access.object]:
                written = Relation(only(_written(access.object, part)), "ne")
                found = written if found is None else Either(written, found)
        return found

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


def _written(object: int, part: tuple[int, int]) -> Cell:
    """Return the variable that is 1 where a part of an object was written."""
    return Cell(object, part[0], -part[1])


def _may_overlap(access: Access, part: tuple[int, int]) -> bool:
    """Return whether an access may touch a part, offset and size, of its object."""
    if access.offset is None or access.offset.terms:
        return True
    start = access.offset.constant
    return start < part[0] + part[1] and part[0] < start + access.size


def _divisor(offset: Form | None) -> int:
    return 0 if offset is None else gcd(offset.divisor, offset.constant)


def _divided(form: Form, by: int) -> Form | None:
    """Return a whole quotient; None if it is not one."""
    if gcd(form.divisor, form.constant) % by:
        return None
    return Form(tuple((key, factor // by) for key, factor in form.terms), form.constant // by)


__all__ = ["Element", "Filled", "MayFree", "track"]
