"""Arrays as bare pointers, inside compiled code.

Numba counts references to every array of a tuple at every call and every access. With tuples of
thirty arrays a solve took 1.27 s and compiling 97 s, against 0.14 s and 20 s with pointers, which
nobody counts. The caller of the outermost compiled function holds the arrays meanwhile.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # Numba publishes no types
_types: Any = types


def _pointers(_context: Any, arrays: Any) -> Any:
    def pointer(kind: Any) -> Any:
        return _types.CPointer(kind.dtype) if isinstance(kind, types.Array) else kind

    result = _types.NamedTuple([pointer(kind) for kind in arrays.types], arrays.instance_class)

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        values = []
        for i, kind in enumerate(arrays.types):
            value = builder.extract_value(arguments[0], i)
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
            values.append(value)
        return context.make_tuple(builder, result, values)

    return result(arrays), build


pointers = _intrinsic(_pointers)  # of a named tuple's arrays: the same tuple, each as its pointer
