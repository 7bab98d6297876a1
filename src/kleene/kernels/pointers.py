"""Arrays, and named tuples of them, as bare pointers inside compiled code.

Numba passes an array as seven values, counts who holds it by atomic instructions, and asks of every
signed index whether it is negative; a pointer is one value, and its index is taken as it is. A
solver's state is a tuple of some fifty arrays, which every device function is given: with pointers
it solved 1.4 times as fast as with uncounted arrays on nginx, 1.3 times on sqlite3 and on a dense
closure of 8,000 lambdas (interleaved medians); with counted ones it took nine times as long. The
reader of C runs as fast either way, and is compiled in three quarters of the time.

A pointer has no length and no second dimension. Device functions that ask for these are
`no_refcount` ones.

The caller of the entry point holds the arrays meanwhile. The entry point hands its arrays over and
does nothing else with them: with the length of an array taken as well, Numba's count of references
came out one too low, and the heap was damaged.
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


def _as_pointers(_context: Any, arrays: Any) -> Any:
    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _value(context, builder, arrays, arguments[0])

    return _pointer(arrays)(arrays), build


@intrinsic(_as_pointers)
def as_pointers(arrays: Tables) -> Tables:
    """Return the array, or named tuple of arrays; in compiled code each array is its pointer."""
    return arrays
