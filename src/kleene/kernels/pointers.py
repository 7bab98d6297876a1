"""Bare pointers to the elements of arrays, inside compiled code.

Numba passes an array as seven values, counts who holds it by atomic instructions, and asks of every
signed index whether it is negative; a pointer is one value, and its index is taken as it is. It has
no length and no second dimension: lengths stand beside the arrays, and tables are columns.

- `as_pointers` makes a pointer of an array, and of each one in a named tuple of arrays; numbers in
  the tuple stay as they are. A solver's state is a tuple of some fifty arrays, which every device
  function is given: with counted references it took nine times as long. The caller of the entry
  point holds the arrays meanwhile. The entry point hands its arrays over and does nothing else with
  them: with the length of an array taken as well, Numba's count of references came out one too low,
  and the heap was damaged.
- `pointer(array, at)` points to an element, `advance` goes on from there; `at_address` and
  `address_of` turn pointers into numbers and back. Who made the array says `keep(array)` after the
  last use of a pointer: Numba sees no use of the array in those.

Interpreted, `as_pointers` leaves the arrays as they are, and any other pointer is a `Pointer`.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from kleene.kernels.compiled import intrinsic

Tables = TypeVar("Tables")
_MOST_BYTES = 1 << 40  # beyond an address: it says where elements begin, and not where they end


def _types() -> Any:
    return import_module("numba.types")  # only compiled code needs it


class Pointer:
    """The elements of an array from one of them on: a bare pointer, where code is interpreted."""

    __slots__ = ("array", "at")

    def __init__(self, array: Any, at: int) -> None:
        self.array, self.at = array, at

    @property
    def dtype(self) -> Any:
        """The type of elements."""
        return self.array.dtype

    def __getitem__(self, k: int) -> Any:
        return self.array[self.at + k]

    def __setitem__(self, k: int, value: Any) -> None:
        self.array[self.at + k] = value

    def part(self, begin: int, length: int) -> Any:
        """Return the elements from `begin` on, to be read and written."""
        return self.array[self.at + begin : self.at + begin + length]


def _build_pointer(_context: Any, array: Any, _at: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        data = context.make_array(array)(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return _types().CPointer(array.dtype)(array, _types().int64), build


@intrinsic(_build_pointer)
def pointer(array: Any, at: int) -> Any:
    """Return where element `at` of the array is."""
    return Pointer(array, at)


def _build_keep(_context: Any, array: Any) -> Any:
    def build(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return context.get_dummy_value()

    return _types().none(array), build


@intrinsic(_build_keep)
def keep(array: Any) -> None:
    """Hold an array until here: Numba frees it after its last use, and sees no use of pointers."""


def _build_advance(_context: Any, pointer: Any, _at: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, _types().int64), build


@intrinsic(_build_advance)
def advance(pointer: Any, at: int) -> Any:
    """Return the pointer `at` elements on."""
    return Pointer(pointer.array, pointer.at + at)


def _build_at_address(_context: Any, like: Any, _address: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[1], arguments[0].type)

    return like(like, _types().int64), build


@intrinsic(_build_at_address)
def at_address(like: Any, address: int) -> Any:
    """Return an address as a pointer to elements of the same type as those of `like`."""
    memory: Any = (ctypes.c_char * _MOST_BYTES).from_address(int(address))
    return Pointer(np.frombuffer(memory, like.dtype), 0)


def _build_address_of(_context: Any, at: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], context.get_value_type(_types().int64))

    return _types().int64(at), build


@intrinsic(_build_address_of)
def address_of(at: Any) -> int:
    """Return a pointer as a number."""
    return int(at.array.ctypes.data) + int(at.at) * int(at.dtype.itemsize)


def _pointer_kind(kind: Any) -> Any:
    """Return the type that stands for `kind` where nothing is counted."""
    types = _types()
    if isinstance(kind, types.Array):
        return types.CPointer(kind.dtype)
    if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        return types.NamedTuple([_pointer_kind(k) for k in kind.types], kind.instance_class)
    return kind


def _value(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value of type `_pointer_kind(kind)` for one of type `kind`."""
    types = _types()
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, builder, value).data
    if isinstance(kind, (types.NamedTuple, types.NamedUniTuple)):
        parts = [
            _value(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(kind.types)
        ]
        return context.make_tuple(builder, _pointer_kind(kind), parts)
    return value


def _as_pointers(_context: Any, arrays: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _value(context, builder, arrays, arguments[0])

    return _pointer_kind(arrays)(arrays), build


@intrinsic(_as_pointers)
def as_pointers(arrays: Tables) -> Tables:
    """Return the array, or named tuple of arrays; in compiled code each array is its pointer."""
    return arrays
