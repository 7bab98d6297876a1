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
from math import gcd
from typing import NamedTuple

from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.constant_tables import ConstantTables
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Always,
    Both,
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
from kleene.ir.codes import Opcode, ValueKind
from kleene.ir.padding import padding_of

_PREFIX, _ELEMENTS = -2, -3  # offsets of cells that are no bytes, beside those of `flat`
_NAMES = {FREED: "freed", ENDED: "ended", _PREFIX: "written", _ELEMENTS: "each", LENGTH: "length"}
_COUNT = Kind(64, False)
_SIZES = 1 << 16  # of an element
_LONGEST_CHAIN = 4  # of copies, whose parts are told apart


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
    first = -cell.size // _SIZES if cell.offset in _NAMES else cell.offset
    part = f"{name}@{first}" if first or cell.offset not in _NAMES else name
    return f"{_NAMES.get(cell.offset, 'written')}({part})"


class _Array(NamedTuple):
    """A part of an object that comes again and again, and is followed together.

    Attributes:
        stride: from one to the next.
        first: where the first is.
        size: of each.
        kind: of each; None if only `prefix` is followed.
        prefix: the variable for how many were written from the first on.
        elements: the variable for all of these.
    """

    stride: int
    first: int
    size: int
    kind: Kind | None
    prefix: Cell
    elements: Cell

    def index_of(self, access: Access) -> Form | None:
        """Return which of them is accessed; None if it is not known, or another part."""
        return self._index(access.offset, self.first) if access.size == self.size else None

    def may_have(self, access: Access) -> bool:
        """Return whether it may be one of them that is accessed, if no access is of two."""
        return access.offset is None or self._index(access.offset, self.first) is not None

    def last_of(self, access: Access) -> Form | None:
        """Return which of them is accessed, or the last of several that lie side by side."""
        offset = access.offset
        if self.stride != self.size or offset is None or offset.terms or offset.constant < 0:
            return self.index_of(access)
        return Form((), (offset.constant + access.size - 1 - self.first) // self.stride)

    def filled_by(self, access: Access) -> Form | None:
        """Return the first of those that a call has written, which begins with one of them."""
        return self._index(access.offset, 0)

    def _index(self, offset: Form | None, first: int) -> Form | None:
        if offset is None or gcd(offset.divisor, offset.constant - first) % self.stride:
            return None
        terms = tuple((key, factor // self.stride) for key, factor in offset.terms)
        return Form(terms, (offset.constant - first) // self.stride)


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
        self._arrays = {one: self._found_arrays(one, accesses[one]) for one in self._local}
        self._parts = {one: self._found_parts(one, accesses[one]) for one in self._local}
        self._pass_parts_on([one for object in self._local for one in accesses[object]])
        self._tables = ConstantTables(program, flat)
        self._sites = {(one.kind, one.instruction): i for i, one in enumerate(flat.sites)}
        for array in (one for found in self._arrays.values() for one in found):
            flat.kinds[array.prefix] = _COUNT
            if array.kind is not None:
                flat.kinds[array.elements] = array.kind
        for object, parts in self._parts.items():
            flat.kinds.update(dict.fromkeys((_written(object, part) for part in parts), BOOL))
        flat.kinds.update(dict.fromkeys(map(ended, _used_behind_end(flat)), BOOL))

    def _found_arrays(self, object: int, found: list[Access]) -> list[_Array]:
        """Return what is read by index: elements, or fields of elements."""
        known = [one for one in found if one.offset is not None and one.size > 0]
        stride = gcd(*(one.offset.divisor for one in known if one.offset is not None))
        if not stride:
            return []
        sizes = {one.size for one in found if one.size > 0}
        divisor = gcd(stride, *(_divisor(one.offset) for one in found if one.size > 0))
        is_apart = len(sizes) == 1 and divisor % min(sizes) == 0  # no access is of two of them
        kinds: dict[tuple[int, int], set[Kind]] = defaultdict(set)
        for one in known:
            if one.offset is not None and (one.offset.terms or not one.is_store):
                # Loads whose value is known otherwise have no kind.
                read = {one.kind} if one.kind is not None and not one.is_store else set()
                kinds[one.offset.constant % stride, one.size] |= read
        return [
            _Array(
                stride, first, size, found.pop() if is_apart and len(found) == 1 else None,
                Cell(object, _PREFIX, -first * _SIZES - size),
                Cell(object, _ELEMENTS, -first * _SIZES - size),
            )
            for (first, size), found in sorted(kinds.items())
            if first + size <= stride and size < _SIZES
        ]  # fmt: skip

    def _found_parts(self, object: int, found: list[Access]) -> set[tuple[int, int]]:
        """Return the parts, offset and size, of an object that are written at constant offsets.

        The whole is among them if it may begin with zeros.
        """
        parts, whole = set[tuple[int, int]](), self._flat.objects[object].size
        for one in found:
            length = Form((), one.size) if one.size > 0 else one.length
            if one.is_new and one.source == ZERO:
                length = whole
            if not one.is_store or length is None or one.offset is None:
                continue
            if not length.terms and not one.offset.terms and one.offset.constant >= 0:
                parts.add((one.offset.constant, length.constant))
                parts |= {part for part, _ in _defined_parts(one)}
        return parts

    def _pass_parts_on(self, accesses: list[Access]) -> None:
        """Let what is copied to have the parts of what is copied."""
        for _ in range(_LONGEST_CHAIN):
            for one in accesses:
                if one.copied is None or (source := _constant_source(one)) is None:
                    continue
                start, length, shift = source
                self._parts[one.object or 0] |= {
                    (offset + shift, size)
                    for offset, size in self._parts.get(one.copied[0], ())
                    if start <= offset and offset + size <= start + length
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
                for array in (one for found in self._arrays.values() for one in found):
                    if array.kind is not None:
                        yield AnyValue(array.elements)
        elif isinstance(operation, Filled):
            if operation.offset == ZERO:
                for array in self._arrays.get(operation.object, ()):
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
        for array in self._arrays.get(access.object, ()):
            size = self._flat.objects[access.object].size
            length = None if size is None else _divided(size, array.stride)
            yield Assign(array.prefix, length if is_zero and length is not None else ZERO)
            if array.kind is not None:
                yield Assign(array.elements, ZERO)  # of no elements anything is true
        for part in sorted(self._parts.get(access.object, ())):
            yield Assign(_written(access.object, part), ONE if is_zero else ZERO)

    def _stored(self, access: Access) -> Iterator[Operation]:
        if access.object is None:
            return
        arrays = self._arrays.get(access.object, ())
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
        if access.object in self._parts and access.offset is not None and not access.offset.terms:
            yield Assign(_written(access.object, (access.offset.constant, access.size)), ONE)

    def _stored_in_parts(self, access: Access, arrays: Iterable[_Array]) -> Iterator[Operation]:
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
        defined = dict(_defined_parts(access))
        for part in sorted(self._parts.get(access.object, ())):
            if part in defined:
                yield Assign(_written(access.object, part), defined[part])
            elif _may_lose(access, part):
                yield Assign(_written(access.object, part), ZERO)

    def _element_stored(self, access: Access, array: _Array) -> Iterator[Operation]:
        if array.kind is None or not array.may_have(access):
            return
        is_one = access.offset is not None and access.kind == array.kind
        if not isinstance(access.source, Form) or not is_one:
            yield AnyValue(array.elements)
            return
        is_first = Relation(only(array.prefix), "eq")
        yield Choose(array.elements, is_first, access.source, only(array.elements))
        yield Choose(array.elements, Unknown(), access.source, only(array.elements))

    def _filled(self, access: Access, arrays: Iterable[_Array]) -> Iterator[Operation]:
        """Let a call have written bytes: from the first element on, or anywhere."""
        assert access.object is not None
        length, source = access.length, access.source
        parts = self._parts.get(access.object, ())
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
                yield Assign(_written(access.object, (offset, size)), ONE)

    def _copied(self, access: Access, arrays: Iterable[_Array]) -> Iterator[Operation]:
        """Let a call have copied bytes: those have a value that had one where they come from."""
        assert access.object is not None
        assert access.copied is not None
        source, at = access.copied
        every = self._is_written(source, at, access.length)
        constant = _constant_source(access)
        for array in arrays:
            if array.kind is not None:
                yield AnyValue(array.elements)
            same = [one for one in self._arrays.get(source, ()) if one[:3] == array[:3]]
            n_elements = None if access.length is None else _divided(access.length, array.stride)
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
        for part in sorted(self._parts.get(access.object, ())):
            key = _written(access.object, part)
            if constant is None or source == access.object:
                yield Choose(key, every, only(key), ZERO)
                continue
            start, length, shift = constant
            low, high = max(start + shift, part[0]), min(start + length + shift, sum(part))
            if low < high:
                is_whole = (low, high) == (part[0], sum(part))
                written = self._is_written(source, Form((), low - shift), Form((), high - low))
                yield Choose(key, written, ONE if is_whole else only(key), ZERO)

    def _is_written(self, object: int, offset: Form | None, length: Form | None) -> Condition:
        """Return that bytes have a value: of what is not followed, they are assumed to have one."""
        if object not in self._told:
            return Always(True)
        if offset is None or length is None:
            return Always(False)
        place = None if length.terms else offset
        found: Condition = Always(False)
        for some in self._covering(Access(None, object, place, length.constant, False)):
            written = [Relation(only(_written(object, part)), "ne") for part in some]
            found = Either(_all_of(written), found)
        fields: dict[int, list[_Array]] = defaultdict(list)
        for array in self._arrays[object]:
            fields[array.stride].append(array)
        for stride, arrays in fields.items():
            ends = [0, *(one.first + one.size for one in arrays)]
            is_dense = [*(one.first for one in arrays), stride] == ends
            end = _divided(offset.plus(length), stride)
            if end is not None and is_dense:
                less = [Relation(end.plus(only(one.prefix), -1), "le") for one in arrays]
                found = Either(_all_of(less), found)
        return found

    def _grown(
        self, array: _Array, length: Form, index: Form = ZERO, if_: Condition | None = None
    ) -> Iterator[Operation]:
        """Let bytes be written from the first, or from an index on, at least so many."""
        n_elements = _divided(length, array.stride)
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
        arrays = self._arrays.get(access.object, ())
        if access.object in self._told:
            place = self._site(CheckKind.UNINITIALISED, row, "what is read was written before")
            whole = self._has_value(access, arrays)
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

    def _has_value(self, access: Access, arrays: Iterable[_Array]) -> Condition:
        """Return that the bytes of a load were written, which they may be otherwise, too."""
        assert access.object is not None
        found: Condition = Unknown()  # what is not known may be written, too
        for some in self._covering(access):
            written: Condition = Always(True)
            for part in some:
                this = Relation(only(_written(access.object, part)), "ne")
                written = Both(written, this) if len(some) > 1 else this
            found = Either(written, found)
        for array in arrays:
            if (index := array.last_of(access)) is not None:
                found = Either(Relation(index.plus(only(array.prefix), -1).shifted(1), "le"), found)
        return found

    def _covering(self, access: Access) -> Iterator[list[tuple[int, int]]]:
        """Yield parts that have all bytes of an access: single ones, or some beside padding."""
        assert access.object is not None
        object, parts = self._flat.objects[access.object], self._parts.get(access.object, set())
        if access.offset is None or access.offset.terms:
            if object.size is not None and (whole := (0, object.size.constant)) in parts:
                yield from [] if object.size.terms else [[whole]]
            return
        start, end = access.offset.constant, access.offset.constant + access.size
        single = [[part] for part in sorted(parts) if part[0] <= start and end <= sum(part)]
        yield from single
        at, some, padding = start, list[tuple[int, int]](), self._padding(access.object)
        while at < end:
            inside = [part for part in parts if part[0] == at and sum(part) <= end]
            if not inside and at not in padding:
                return
            some += [max(inside)] if inside else []
            at = sum(some[-1]) if inside else at + 1
        if some and some not in single:
            yield some

    def _padding(self, object: int) -> frozenset[int]:
        """Return the bytes of a local that are in none of its members."""
        base, first = self._flat.objects[object].base, self._program.bases[ValueKind.INSTRUCTION]
        table = self._program.instructions
        row = -1 if base is None else base.value - first
        if row < 0 or table.opcode[row] != Opcode.ALLOCA:
            return frozenset()
        return padding_of(self._program, int(table.about[row]))

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


def _defined_parts(access: Access) -> Iterator[tuple[tuple[int, int], Form]]:
    """Yield the parts of an object that a store gives a value, and 1 where it does, else 0."""
    if access.offset is None or access.offset.terms:
        return
    start = access.offset.constant
    for size, form in access.defined:
        yield (start, size), form
        start += size


def _may_lose(access: Access, part: tuple[int, int]) -> bool:
    """Return whether a store may leave bytes of a part of its object without a value."""
    if access.offset is None or access.offset.terms:
        return True
    return any(
        form != ONE and start < part[0] + part[1] and part[0] < start + size
        for (start, size), form in _defined_parts(access)
    )


def _constant_source(access: Access) -> tuple[int, int, int] | None:
    """Return where the bytes begin that a call copies, how many, and how far they are moved."""
    if access.copied is None or access.offset is None or access.length is None:
        return None
    source = access.copied[1]
    if source is None or source.terms or access.offset.terms or access.length.terms:
        return None
    return source.constant, access.length.constant, access.offset.constant - source.constant


def _all_of(conditions: Iterable[Condition]) -> Condition:
    found: Condition = Always(True)
    for one in conditions:
        found = one if found == Always(True) else Both(found, one)
    return found


def _divisor(offset: Form | None) -> int:
    return 0 if offset is None else gcd(offset.divisor, offset.constant)


def _divided(form: Form, by: int) -> Form | None:
    """Return a whole quotient; None if it is not one."""
    if gcd(form.divisor, form.constant) % by:
        return None
    return Form(tuple((key, factor // by) for key, factor in form.terms), form.constant // by)


__all__ = ["Element", "Filled", "MayFree", "track"]
