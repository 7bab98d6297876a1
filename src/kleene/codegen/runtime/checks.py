"""Whether arguments of a call fit the parameters, with errors that name the parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kleene.codegen.runtime.arithmetic import single


class ArgumentError(TypeError):
    """An argument that does not fit its parameter.

    Attributes:
        id: what is wrong, a name that stays the same: `kernels/array-too-small`.
        parameter: which one; empty if it is the number of them.
        place: where the parameter is declared, if that is known.
        hint: what would fit.
    """

    def __init__(
        self, id: str, message: str, hint: str, parameter: str = "", place: str = ""
    ) -> None:
        at = f"{place}: " if place else ""
        super().__init__(f"{at}error[{id}]: {message}; {hint}")
        self.id, self.parameter, self.place, self.hint = id, parameter, place, hint


class Prepared:
    """What is known of a call before it runs; arrays themselves are not kept.

    Attributes:
        values: scalars in their types, None for arrays; in the order of the parameters.
        arrays: positions of arrays with their names.
        sections: of each array the bytes that go in, that come out, that are used for sure.
        overlap: two arrays that share storage though they must not.
        is_there: whether all arrays are on the GPU.
    """

    def __init__(
        self,
        values: list[Any],
        arrays: list[tuple[int, str]],
        sections: Mapping[str, Any],
        overlap: tuple[str, str] | None,
        is_there: bool,
    ) -> None:
        self.values, self.arrays, self.sections = values, arrays, sections
        self.overlap, self.is_there = overlap, is_there

    def given(self, args: Sequence[Any]) -> list[Any]:
        """Return the arguments of a call, scalars in their types."""
        found = list(self.values)
        for position, _ in self.arrays:
            found[position] = args[position]
        return found


class Arguments:
    """The checks of a function's arguments; what a call like an earlier one needs is kept."""

    def __init__(
        self,
        function: str,
        parameters: Sequence[tuple[str, str, str]],
        overlaps: Sequence[tuple[str, str]],
        sections: Callable[..., Mapping[str, Any]],
        places: Mapping[str, str] | None = None,
    ) -> None:
        self.function, self.parameters, self.overlaps = function, parameters, overlaps
        self.sections, self.places = sections, places or {}
        self._known: dict[Any, Prepared] = {}

    def prepared(self, args: Sequence[Any]) -> Prepared:
        """Return what is known of a call, if all arguments fit.

        The checks hang on types, sizes, addresses and the values of scalars: where these are those
        of an earlier call, so is the answer.

        Raises:
            ArgumentError: there are too many or too few; one is of a wrong type, not contiguous,
                too small, or read-only though it is written.
        """
        key: Any = None
        found = None
        try:
            key = tuple([_seen(one) for one in args])
            found = self._known.get(key)
        except (TypeError, AttributeError):  # what is no argument at all: say so below
            key = None
        if found is None:
            found = self._checked(args)
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            if key is not None:
                self._known[key] = found
        return found

    def _checked(self, args: Sequence[Any]) -> Prepared:
        if len(args) != len(self.parameters):
            names = ", ".join(name for name, _, _ in self.parameters)
            message = f"{self.function} takes {len(self.parameters)} arguments, not {len(args)}"
            hint = f"call {self.function}({names})"
            raise ArgumentError("kernels/argument-count", message, hint)
        given: dict[str, Any] = {}
        for (name, kind, dtype), value in zip(self.parameters, args, strict=True):
            is_scalar = kind == "scalar"
            given[name] = (self._scalar if is_scalar else self._array)(name, dtype, value)
        whole = [n for n, kind, dtype in self.parameters if kind == "scalar" and _is_whole(dtype)]
        sections = self.sections(*(given[name] for name in whole))
        for name, moved in sections.items():
            self._check_section(name, given[name], moved)
        arrays = [(n, one[0]) for n, one in enumerate(self.parameters) if one[1] == "array"]
        is_there = all(is_on_gpu(given[name]) for _, name in arrays)
        overlap = overlapping(self.overlaps, given)
        values = [None if one[1] == "array" else given[one[0]] for one in self.parameters]
        return Prepared(values, arrays, sections, overlap, is_there)

    def _argument_error(self, id: str, name: str, message: str, hint: str) -> ArgumentError:
        text = f"{self.function}: argument '{name}' {message}"
        return ArgumentError(id, text, hint, name, self.places.get(name, ""))

    def _array(self, name: str, dtype: str, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and not is_on_gpu(value):
            message = f"must be an array of {dtype}, not {type(value).__name__}"
            raise self._argument_error(
                "kernels/not-an-array", name, message, f"numpy.asarray(x, '{dtype}') is one"
            )
        if value.dtype != np.dtype(dtype):
            message = f"is an array of {value.dtype}, not of {dtype}"
            raise self._argument_error(
                "kernels/wrong-dtype", name, message, f"x.astype('{dtype}') converts it"
            )
        if not value.flags.c_contiguous:
            hint = "numpy.ascontiguousarray makes a copy that is"
            raise self._argument_error("kernels/not-contiguous", name, "is not contiguous", hint)
        if value.nbytes and address_of(value) % value.dtype.alignment:
            hint = "x.copy() lies at an address that is one"
            message = f"does not begin at a multiple of {value.dtype.alignment} bytes"
            raise self._argument_error("kernels/not-aligned", name, message, hint)
        return value

    def _scalar(self, name: str, dtype: str, value: Any) -> Any:
        kind = np.dtype(dtype)
        hint = f"pass a number that a {dtype} holds"
        try:
            if isinstance(value, (str, bytes, complex, np.complexfloating)) or np.ndim(value):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            message = f"must be a number of {dtype}, not {value!r}"
            raise self._argument_error("kernels/not-a-number", name, message, hint) from None
        if kind.kind == "f":
            return single(number) if kind.itemsize == 4 else number
        limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if not number.is_integer() or not limits[0] <= int(value) <= limits[1]:
            raise self._argument_error(
                "kernels/out-of-range", name, f"is {value}, which is no {dtype}", hint
            )
        return int(value)

    def _check_section(self, name: str, array: Any, moved: tuple[Any, ...]) -> None:
        """Check that an array holds every byte that the function uses for sure."""
        first, end = moved[2]
        if first < 0:
            message = "is used before its beginning"
            hint = "check the sizes: a subscript is below 0"
            raise self._argument_error("kernels/array-used-before", name, message, hint)
        if end > array.nbytes:
            needed = -(-end // array.dtype.itemsize)
            message = f"has {array.size} elements, {needed} are needed"
            hint = f"pass at least {needed}, or smaller sizes"
            raise self._argument_error("kernels/array-too-small", name, message, hint)
        if moved[1] != (0, 0) and not getattr(array.flags, "writeable", True):
            hint = "pass a copy, which can be written"
            raise self._argument_error(
                "kernels/array-read-only", name, "is written, but read-only", hint
            )


_MAX_KNOWN = 256  # kinds of calls that are kept


def _is_whole(dtype: str) -> bool:
    return np.dtype(dtype).kind in "iub"


def _seen(value: Any) -> Any:
    """Return what the checks look at: of an array its type, size, address and flags."""
    if isinstance(value, np.ndarray):
        told = value.__array_interface__["data"]
        return (value.dtype, value.nbytes, told, value.flags.c_contiguous)
    if isinstance(value, (int, float, np.generic)):
        # Equal numbers are converted to the same, but 0.0 and -0.0 are equal, too.
        return value if value else (value, math.copysign(1.0, value))
    return (value.dtype, value.nbytes, value.data.ptr, value.flags.c_contiguous, value.device.id)


def is_on_gpu(value: Any) -> bool:
    """Return whether a value is an array of CuPy."""
    return hasattr(value, "dtype") and hasattr(getattr(value, "data", None), "ptr")


def address_of(array: Any) -> int:
    """Return where an array begins, in the memory that it is in."""
    found: int = array.data.ptr if is_on_gpu(array) else array.ctypes.data
    return found


def overlapping(
    pairs: Sequence[tuple[str, str]], given: Mapping[str, Any]
) -> tuple[str, str] | None:
    """Return a pair of arrays that share storage, if there is one."""
    ends = {}
    for name in {name for pair in pairs for name in pair}:
        array = given[name]
        start = address_of(array)
        ends[name] = (start, start + array.nbytes, is_on_gpu(array))
    for first, second in pairs:
        a, b = ends[first], ends[second]
        if a[2] == b[2] and a[0] < b[1] and b[0] < a[1]:
            return first, second
    return None
