"""From what a call is given to the parameters: records give fields, global variables have names."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from kleene.codegen.runtime.checks import ArgumentError

Fields = Sequence[tuple[Sequence[str], str]]


class Binding:
    """The arguments of a function.

    Each is (name, whether it is a global variable, its values if these are known, its fields): of a
    record the names that lead to each field, `("filter", "gain")`, else None. With these is the
    type of a number that the function leaves there, after the call; else nothing.
    """

    def __init__(
        self,
        function: str,
        given: Sequence[tuple[str, bool, Any, Fields | None]],
        places: Mapping[str, str] | None = None,
    ) -> None:
        self.function, self.given, self.places = function, given, places or {}
        self.own = [name for name, is_global, _, _ in given if not is_global]
        self.is_plain = all(not each[1] and each[3] is None for each in given)
        self.has_results = any(dtype for each in given for _, dtype in each[3] or ())

    def __call__(self, args: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """Return a value for each parameter.

        Raises:
            ArgumentError: there are too many or too few; a name is none of the function; a record
                has no such field.
        """
        if self.is_plain and not named:
            return args
        if len(args) > len(self.own):
            message = f"{self.function} takes {len(self.own)} arguments, not {len(args)}"
            raise ArgumentError("kernels/argument-count", message, self._hint())
        held = dict(zip(self.own, args, strict=False))
        for name, value in named.items():
            if name in held or name not in [each[0] for each in self.given]:
                text = "is given twice" if name in held else "is no argument"
                message = f"{self.function}: '{name}' {text}"
                raise ArgumentError("kernels/argument-name", message, self._hint(), name)
            held[name] = value
        found: list[Any] = []
        for name, is_global, initial, fields in self.given:
            if name not in held and initial is None:
                what = "the global variable" if is_global else "the argument"
                message = f"{self.function}: {what} '{name}' is not given"
                raise ArgumentError("kernels/argument-count", message, self._hint(), name)
            value = held.get(name, initial)
            if fields is None:
                found.append(value)
                continue
            for path, dtype in fields:
                field = self._field(name, value, path)
                found.append(np.zeros(1, dtype) if dtype else field)
        return found

    def leave(self, args: Sequence[Any], named: Mapping[str, Any], values: Sequence[Any]) -> None:
        """Set the fields of records to what a call has left in them."""
        if not self.has_results:
            return
        held = {**dict(zip(self.own, args, strict=False)), **named}
        position = 0
        for name, _, _, fields in self.given:
            for path, dtype in fields or [((), "")]:
                if dtype:
                    record = self._field(name, held[name], path[:-1])
                    if isinstance(record, (MutableMapping, np.ndarray, np.void)):
                        record[path[-1]] = values[position][0].item()
                    else:
                        setattr(record, path[-1], values[position][0].item())
                position += 1

    def _hint(self) -> str:
        texts = [
            name if not is_global else f"{name}=..."
            for name, is_global, initial, _ in self.given
            if initial is None
        ]
        return f"call {self.function}({', '.join(texts)})"

    def _field(self, name: str, value: Any, path: Sequence[str]) -> Any:
        """Return what a record has under some names: of a dictionary, or of any object."""
        for position, one in enumerate(path):
            try:
                is_keyed = isinstance(value, (Mapping, np.ndarray, np.void))
                value = value[one] if is_keyed else getattr(value, one)
            except (KeyError, IndexError, ValueError, AttributeError):
                field = ".".join(path[: position + 1])
                message = f"{self.function}: argument '{name}' has no field '{field}'"
                hint = f"pass a dictionary or an object with '{field}'"
                place = self.places.get(name, "")
                error = ArgumentError("kernels/field-missing", message, hint, name, place)
                raise error from None
        return value
