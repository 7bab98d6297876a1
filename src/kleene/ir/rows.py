"""Sequences of views that are made when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from kleene.ir.program import Program
    from kleene.ir.views import Function

Item = TypeVar("Item")


class Rows(Sequence[Item]):
    """Consecutive rows of a table, as views."""

    def __init__(self, program: Program, rows: range, view: Callable[[Program, int], Item]) -> None:
        self._program, self._rows, self._view = program, rows, view

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Rows[Item]:
        chosen = self._rows[index]
        if isinstance(chosen, range):
            return Rows(self._program, chosen, self._view)
        return self._view(self._program, chosen)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"[{', '.join(map(str, self))}]"


class FunctionRows(Rows["Function"]):
    """The functions of a program, by place or by name; it goes through functions, not names."""

    @overload
    def __getitem__(self, index: int | str) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[Function]: ...
    def __getitem__(self, index: int | str | slice) -> Function | Rows[Function]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        found = self.get(index)
        if found is None:
            raise KeyError(f"the program has no function '{index}'")
        return found

    def get(self, name: str) -> Function | None:
        """Return the function of that name, or None."""
        row = self._by_name.get(name.encode("utf-8", "surrogateescape"))
        return None if row is None else self._view(self._program, row)

    def __contains__(self, item: object) -> bool:
        return self.get(item) is not None if isinstance(item, str) else super().__contains__(item)

    @cached_property
    def _by_name(self) -> dict[bytes, int]:
        symbols = self._program.globals.name[self._program.function_table.value].tolist()
        return {self._program.strings.raw(symbol): row for row, symbol in enumerate(symbols)}
