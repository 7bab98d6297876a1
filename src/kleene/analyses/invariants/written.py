"""Which variables say what was written of an object, and what they say of an access.

Arrays and parts are found from the accesses of a function; see `storage` for what they are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import gcd
from typing import NamedTuple

from kleene.analyses.invariants.expressions import (
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
from kleene.analyses.invariants.flat import Access, Cell, FlatFunction
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.ir.padding import padding_of

PREFIX, ELEMENTS = -2, -3  # offsets of cells that are no bytes, beside those of `flat`
SIZES = 1 << 16  # of an element
_LONGEST_CHAIN = 4  # of copies, whose parts are told apart
Part = tuple[int, int]  # offset and size


class Array(NamedTuple):
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


class Written:
    """What is followed of the objects of a function.

    Attributes:
        arrays: by object, what is read by index.
        parts: by object, what is written at constant offsets.
    """

    def __init__(
        self, program: Program, flat: FlatFunction, accesses: dict[int, list[Access]]
    ) -> None:
        self._program, self._flat = program, flat
        self.arrays = {one: self._found_arrays(one, found) for one, found in accesses.items()}
        self.parts = {one: self._found_parts(one, found) for one, found in accesses.items()}
        self._pass_parts_on([one for found in accesses.values() for one in found])

    def _found_arrays(self, object: int, found: list[Access]) -> list[Array]:
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
            Array(
                stride, first, size, found.pop() if is_apart and len(found) == 1 else None,
                Cell(object, PREFIX, -first * SIZES - size),
                Cell(object, ELEMENTS, -first * SIZES - size),
            )
            for (first, size), found in sorted(kinds.items())
            if first + size <= stride and size < SIZES
        ]  # fmt: skip

    def _found_parts(self, object: int, found: list[Access]) -> set[Part]:
        """Return the parts, offset and size, of an object that are written at constant offsets.

        The whole is among them if it may begin with zeros.
        """
        parts, whole = set[Part](), self._flat.objects[object].size
        for one in found:
            length = Form((), one.size) if one.size > 0 else one.length
            if one.is_new and one.source == ZERO:
                length = whole
            if not one.is_store or length is None or one.offset is None:
                continue
            is_constant = not length.terms and not one.offset.terms and length.constant > 0
            if is_constant and one.offset.constant >= 0:
                parts.add((one.offset.constant, length.constant))
                parts |= {part for part, _ in defined_parts(one)}
        return parts

    def _pass_parts_on(self, accesses: list[Access]) -> None:
        """Let what is copied to have the parts of what is copied."""
        for _ in range(_LONGEST_CHAIN):
            for one in accesses:
                if one.copied is None or (source := constant_source(one)) is None:
                    continue
                start, length, shift = source
                self.parts[one.object or 0] |= {
                    (offset + shift, size)
                    for offset, size in self.parts.get(one.copied[0], ())
                    if start <= offset and offset + size <= start + length
                }

    def is_written(self, object: int, offset: Form | None, length: Form | None) -> Condition:
        """Return that bytes of an object that is followed have a value."""
        if offset is None or length is None:
            return Always(False)
        place = None if length.terms else offset
        found: Condition = Always(False)
        for written in self._covering(Access(None, object, place, length.constant, False)):
            found = Either(written, found)
        fields: dict[int, list[Array]] = defaultdict(list)
        for array in self.arrays[object]:
            fields[array.stride].append(array)
        for stride, arrays in fields.items():
            ends = [0, *(one.first + one.size for one in arrays)]
            is_dense = [*(one.first for one in arrays), stride] == ends
            end = divided(offset.plus(length), stride)
            if end is not None and is_dense:
                less = [Relation(end.plus(only(one.prefix), -1), "le") for one in arrays]
                found = Either(_all_of(less), found)
        return found

    def has_value(self, access: Access) -> Condition:
        """Return that the bytes of a load were written, which they may be otherwise, too."""
        assert access.object is not None
        found: Condition = Unknown()  # what is not known may be written, too
        for written in self._covering(access):
            found = Either(written, found)
        for array in self.arrays.get(access.object, ()):
            if (index := array.last_of(access)) is not None:
                found = Either(Relation(index.plus(only(array.prefix), -1).shifted(1), "le"), found)
        return found

    def _covering(self, access: Access) -> Iterator[Condition]:
        """Yield conditions under which all bytes of an access were written at constant offsets.

        That is one part that has them all, or some that have them together, but for padding.
        """
        assert access.object is not None
        object, parts = self._flat.objects[access.object], self.parts.get(access.object, set())
        if access.offset is None or access.offset.terms:
            if object.size is not None and (whole := (0, object.size.constant)) in parts:
                yield from () if object.size.terms else (_is_set(access.object, whole),)
            return
        start, end = access.offset.constant, access.offset.constant + access.size
        single = [part for part in sorted(parts) if part[0] <= start and end <= sum(part)]
        yield from (_is_set(access.object, part) for part in single)
        at, some, padding = start, list[Part](), self._padding(access.object)
        while at < end:
            inside = [part for part in parts if part[0] == at and sum(part) <= end]
            if not inside and at not in padding:
                return
            some += [max(inside)] if inside else []
            at = sum(some[-1]) if inside else at + 1
        if some and some != single[:1]:
            yield _all_of(_is_set(access.object, part) for part in some)

    def _padding(self, object: int) -> frozenset[int]:
        """Return the bytes of a local that are in none of its members."""
        base, first = self._flat.objects[object].base, self._program.bases[ValueKind.INSTRUCTION]
        table = self._program.instructions
        row = -1 if base is None else base.value - first
        if row < 0 or table.opcode[row] != Opcode.ALLOCA:
            return frozenset()
        return padding_of(self._program, int(table.about[row]))


def written_flag(object: int, part: Part) -> Cell:
    """Return the variable that is 1 where a part of an object was written."""
    return Cell(object, part[0], -part[1])


def _is_set(object: int, part: Part) -> Relation:
    return Relation(only(written_flag(object, part)), "ne")


def defined_parts(access: Access) -> Iterator[tuple[Part, Form]]:
    """Yield the parts of an object that a store gives a value, and 1 where it does, else 0."""
    if access.offset is None or access.offset.terms:
        return
    start = access.offset.constant
    for size, form in access.defined:
        yield (start, size), form
        start += size


def constant_source(access: Access) -> tuple[int, int, int] | None:
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


def divided(form: Form, by: int) -> Form | None:
    """Return a whole quotient; None if it is not one."""
    if gcd(form.divisor, form.constant) % by:
        return None
    return Form(tuple((key, factor // by) for key, factor in form.terms), form.constant // by)


__all__ = [
    "ELEMENTS",
    "PREFIX",
    "SIZES",
    "Array",
    "Part",
    "Written",
    "constant_source",
    "defined_parts",
    "divided",
    "written_flag",
]
