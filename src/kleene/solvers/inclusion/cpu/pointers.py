"""Arrays as bare pointers, inside compiled code.

Numba counts references to every array of a tuple at every call and every access. With tuples of
thirty arrays a solve took 1.27 s and compiling 97 s, against 0.14 s and 20 s with pointers, which
nobody counts. The caller of the outermost compiled function holds the arrays meanwhile; that
function hands its tuples over and does nothing else with them: with the length of an array taken
as well, Numba's count came out one too low, and the heap was damaged.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

from kleene.kernels.compiled import intrinsic

Tables = TypeVar("Tables")


def _pointer(kind: Any) -> Any:
    """Return the type that stands for `kind` where nothing is counted."""
    types: Any = import_module("numba.types")
    if isinstance(kind, types.Array):
        return types.CPointer(kind.dtype)
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple([_pointer(k) for k in kind.types], kind.instance_class)
    return kind


def _value(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value of type `_pointer(kind)` for one of type `kind`."""
    types: Any = import_module("numba.types")
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, builder, value).data
    if isinstance(kind, types.NamedTuple):
        parts = [
            _value(context, builder, part, builder.extract_value(value, i))
            for i, part in enumerate(kind.types)
        ]
        return context.make_tuple(builder, _pointer(kind), parts)
    return value


def _pointers(_context: Any, arrays: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _value(context, builder, arrays, arguments[0])

    return _pointer(arrays)(arrays), build


@intrinsic(_pointers)
def pointers(arrays: Tables) -> Tables:
    """Return the named tuple, in compiled code with each array as its pointer."""
    return arrays
