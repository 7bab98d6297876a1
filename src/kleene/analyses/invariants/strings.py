"""Lengths of strings as variables: how many bytes are in front of the first that is 0.

    length(object)    of the string that begins where a local, a global or an allocation does; its
                      size if no byte of it is 0
    length(pointer)   of the string that a pointer to an unknown object points to, by the variable
                      for whether the pointer is null

`follow_lengths` adds what accesses do to the lengths that someone has asked for. With L the length
and a byte v stored at index i,

    v == 0, i >= 0     makes it min(L, i);
    v == 0, i < 0      leaves it as it is;
    v != 0, i == L     makes it something greater than i;
    v != 0, i != L     leaves it as it is.

Any other write to the object, and for unknown pointers any write to what others may know of, makes
it anything. A byte read at index i, before anything is written, is not 0 if i < L, and 0 if i == L:
so a loop `for (i = 0; s[i]; i++)` keeps i <= L.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kleene.analyses.invariants.expressions import ZERO, Form, Key, Kind, Relation, only
from kleene.analyses.invariants.flat import Access, Base, Cell, Escape, FlatFunction
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.objects import Address
from kleene.analyses.invariants.operations import AnyValue, Assign, Guard, Observe, Operation
from kleene.analyses.invariants.transfer import assume, set_form, set_range
from kleene.ir import Program
from kleene.ir.codes import ConstantKind, GlobalFlag
from kleene.ir.views import Constant

LENGTH = -4  # the offset of a cell that is no bytes, beside those of `flat` and `storage`
LONGEST = 1 << 40  # bytes of a string, at most
_OF_POINTER = -(1 << 59)
_COUNT = Kind(64, False)


def length_of_object(flat: FlatFunction, object: int) -> Cell:
    """Return the variable for the length of the string that an object begins with."""
    key = Cell(object, LENGTH, 0)
    flat.kinds[key] = _COUNT
    return key


def length_of(flat: FlatFunction, address: Address) -> Key | None:
    """Return the variable for the length of the string at an address; None if there is none."""
    if address.offset != ZERO:
        return None
    return length_from_start(flat, address)


def length_from_start(flat: FlatFunction, address: Address) -> Key | None:
    """Return the variable for the length of the string that begins where offsets are 0."""
    if address.object is not None:
        return length_of_object(flat, address.object)
    if address.root is None:
        return None
    key = Base(address.root.context, _OF_POINTER - address.root.value)
    flat.kinds[key] = _COUNT
    return key


def pointer_of(key: Base) -> Base | None:
    """Return the pointer whose string's length a variable is; None if it is no length."""
    value = _OF_POINTER - key.value
    return Base(key.context, value) if 0 <= value < 1 << 40 else None


@dataclass(frozen=True)
class ByteStored(Operation):
    """Set the length of a string to what a byte, stored at an index, makes of it.

    Attributes:
        target: the length.
        length: it, before.
        index: where the byte is stored.
        most: the size of the object.
        byte: what is stored; None if nothing is known of it.
    """

    target: Key
    length: Form
    index: Form
    most: Form
    byte: Form | None

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step, of all cases together."""
        found = [made for made in self._cases(numbers) if not made.is_empty]
        if not found:
            numbers.is_empty = True
            return numbers
        whole = found[0]
        for one in found[1:]:
            whole = whole.join(one)
        return whole

    def _cases(self, numbers: Numbers) -> Iterator[Numbers]:
        target: int = self.target
        zero, other = numbers.copy(), numbers.copy()
        if self.byte is not None:
            zero = assume(zero, Relation(self.byte, "eq"))
            other = assume(other, Relation(self.byte, "ne"))
        before = self.index.plus(self.length, -1)  # i - L
        if not zero.is_empty:
            yield assume(zero.copy(), Relation(before.scaled(-1), "le"))  # L <= i
            made = assume(zero, Relation(before.shifted(1), "le"))
            if not made.is_empty:  # in front of the string, which unknown objects may have
                yield assume(made.copy(), Relation(self.index.shifted(1), "le"))
                made = assume(made, Relation(self.index.scaled(-1), "le"))
            if not made.is_empty:
                set_form(made, target, self.index)
                yield made
        if not other.is_empty:
            for sign in (1, -1):
                yield assume(other.copy(), Relation(before.scaled(sign).shifted(1), "le"))
            made = assume(other, Relation(before, "eq"))
            if not made.is_empty:
                set_range(made, target, (0, LONGEST))
                if target not in self.index.keys:
                    beyond = self.index.plus(only(target), -1).shifted(1)
                    made = assume(made, Relation(beyond, "le"))
            if not made.is_empty:
                yield assume(made, Relation(only(target).plus(self.most, -1), "le"))


def follow_lengths(program: Program, flat: FlatFunction, *, is_main: bool) -> None:
    """Add what the operations of a function do to the lengths of strings."""
    keys = [key for key in flat.kinds if _is_length(key)]
    if keys:
        _Lengths(program, flat, keys, is_main).run()


def _is_length(key: Key) -> bool:
    if isinstance(key, Cell):
        return key.offset == LENGTH and key.size == 0
    return isinstance(key, Base) and pointer_of(key) is not None


class _Lengths:
    def __init__(
        self, program: Program, flat: FlatFunction, keys: list[Key], is_main: bool
    ) -> None:
        self._program, self._flat, self._is_main = program, flat, is_main
        self._of_object = {key.object: key for key in keys if isinstance(key, Cell)}
        self._of_pointers = [key for key in keys if isinstance(key, Base)]
        self._by_pointer = {pointer_of(key): key for key in self._of_pointers}

    def run(self) -> None:
        for block in self._flat.blocks:
            operations: list[Operation] = []
            origins: list[tuple[int, int]] = []
            for operation, origin in zip(block.operations, block.origins, strict=True):
                made = [operation, *self._behind(operation)]
                operations += made
                origins += [origin] * len(made)
            block.operations, block.origins = operations, origins
            for edge in block.edges:
                edge.assignments += [
                    (self._by_pointer[key], None)
                    for key, _ in edge.assignments
                    if key in self._by_pointer
                ]
        first = [one for object in self._of_object for one in self._first(object)]
        first += [AnyValue(key, (0, LONGEST)) for key in self._of_pointers]
        entry = self._flat.blocks[0]
        entry.operations[:0] = first
        entry.origins[:0] = [(0, -1)] * len(first)

    def _first(self, object: int) -> Iterator[Operation]:
        """Yield what is known where the function begins: of constants, and of globals in `main`."""
        storage = self._flat.objects[object]
        number = self._initial(storage.value) if storage.value >= 0 else None
        if number is not None and (storage.is_constant or self._is_main):
            yield Assign(self._of_object[object], Form((), number))
        else:
            yield from self._anything(object)

    def _initial(self, value: int) -> int | None:
        """Return the length of the string that a global is initialised with."""
        table = self._program.globals
        initializer = int(table.initializer[value])
        if initializer < 0 or table.flags[value] & GlobalFlag.EXTERNALLY_INITIALIZED:
            return None
        row = initializer - self._program.bases[1]
        constants = self._program.constants
        if 0 <= row < len(constants) and constants.kind[row] == ConstantKind.ZERO:
            return 0
        view = self._program.value_view(initializer)
        if not isinstance(view, Constant) or view.string is None or b"\0" not in view.string:
            return None
        return view.string.index(b"\0")

    def _anything(self, object: int) -> Iterator[Operation]:
        """Yield that a length may be any up to the size of its object."""
        key, size = self._of_object[object], self._flat.objects[object].size
        yield AnyValue(key, (0, LONGEST))
        if size is not None:
            yield Guard(Relation(only(key).plus(size, -1), "le"))

    def _behind(self, operation: Operation) -> Iterator[Operation]:
        if operation.sets in self._by_pointer:  # another pointer
            yield AnyValue(self._by_pointer[operation.sets], (0, LONGEST))
        elif isinstance(operation, Escape):
            yield from self._others(everything=operation.everything)
        elif isinstance(operation, Access) and operation.is_new:
            yield from self._made(operation)
        elif isinstance(operation, Access) and operation.is_store and not operation.is_aspect:
            yield from self._stored(operation)

    def _made(self, access: Access) -> Iterator[Operation]:
        if access.object not in self._of_object:
            return
        assert access.object is not None
        size = self._flat.objects[access.object].size
        if access.source == ZERO and size is not None and not size.terms and size.constant > 0:
            yield Assign(self._of_object[access.object], ZERO)
        else:
            yield from self._anything(access.object)

    def _others(
        self, *, everything: bool = False, besides: Key | None = None
    ) -> Iterator[Operation]:
        """Yield what a write to an unknown place does: to all that others may know of."""
        for object in self._of_object:
            storage = self._flat.objects[object]
            is_known = storage.is_global or storage.is_exposed
            if everything or (is_known and not storage.is_constant):
                yield from self._anything(object)
        yield from (AnyValue(key, (0, LONGEST)) for key in self._of_pointers if key != besides)

    def _stored(self, access: Access) -> Iterator[Operation]:
        byte = access.source if isinstance(access.source, Form) else None
        if access.object is None:
            is_byte = access.size == 1 and access.offset is not None
            mine = self._by_pointer.get(access.root) if is_byte else None
            yield from self._others(besides=mine)
            if mine is not None and access.offset is not None:
                yield ByteStored(mine, only(mine), access.offset, Form((), LONGEST), byte)
            return
        storage = self._flat.objects[access.object]
        if storage.is_global or storage.is_exposed:
            yield from (AnyValue(key, (0, LONGEST)) for key in self._of_pointers)
        key = self._of_object.get(access.object)
        if key is None:
            return
        n_bytes = Form((), access.size) if access.length is None else access.length
        is_first = access.offset == ZERO and not n_bytes.terms and n_bytes.constant > 0
        if access.size == 1 and access.offset is not None and storage.size is not None:
            yield ByteStored(key, only(key), access.offset, storage.size, byte)
        elif access.source == ZERO and is_first:
            yield Assign(key, ZERO)
        else:
            yield from self._anything(access.object)


__all__ = [
    "LENGTH", "LONGEST", "ByteStored", "follow_lengths", "length_of", "length_of_object",
    "pointer_of",
]  # fmt: skip
