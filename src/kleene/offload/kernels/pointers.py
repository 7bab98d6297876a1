"""Pointers that never point to the same storage, by the points-to sets of the whole program.

A parameter holds what the callers pass: those in the program, if it has a `main`, and else callers
outside for every function that they can reach. If no allocation is both in the set of one pointer
and in that of another, nothing that is reached from the one by moving inside its storage is reached
from the other. Callers outside the program make a set unknown; two unknown sets may share storage
that is outside, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.loops.tables import LoopTable, Root
from kleene.ir.loops.tree import Symbol, Unit


@dataclass(frozen=True)
class Pointees:
    """The allocations that a pointer may point to; `is_unknown`: and others, outside."""

    allocations: frozenset[int]
    is_unknown: bool = False


@dataclass
class Pointers:
    """What parameters and global variables of a program stand for in its points-to sets."""

    program: Program
    units: Iterable[Unit]
    _known: dict[tuple[int, Symbol], Pointees | None] = field(default_factory=dict)

    @cached_property
    def _result(self) -> Any:
        defined = [one.name for one in self.program.functions if not one.is_declaration]
        return self.program.points_to(library="main" not in defined)

    @cached_property
    def _positions(self) -> dict[Symbol, int]:
        """The places of parameters among their function's."""
        return {
            symbol: number
            for unit in self.units
            for function in unit.functions
            for number, symbol in enumerate(function.parameters)
        }

    @cached_property
    def _functions(self) -> dict[tuple[str, str, int], list[Any]]:
        """The program's functions by name, file and line."""
        found: dict[tuple[str, str, int], list[Any]] = {}
        for one in self.program.functions:
            if not one.is_declaration and one.span is not None:
                file = os.path.basename(one.span.file)
                found.setdefault((one.source_name, file, one.span.line), []).append(one)
        return found

    def are_apart(self, table: LoopTable, first: Root, second: Root) -> bool:
        """Return whether two roots of a function's loops are different storage in every call."""
        one, other = self._pointees(table, first), self._pointees(table, second)
        if one is None or other is None or (one.is_unknown and other.is_unknown):
            return False
        return not one.allocations & other.allocations

    def _pointees(self, table: LoopTable, root: Root) -> Pointees | None:
        symbol = root.symbol
        if symbol is None:
            return None
        key = (id(table), symbol)
        if key not in self._known:
            self._known[key] = self._found(table, root, symbol)
        return self._known[key]

    def _found(self, table: LoopTable, root: Root, symbol: Symbol) -> Pointees | None:
        if root.kind == "pointer" and symbol.storage == "parameter":
            return self._of_parameter(table, symbol)
        if root.kind == "variable" and symbol.storage == "global":
            try:
                return Pointees(self._allocations(self._result.object_ids(symbol.name)))
            except SourceError:
                return None
        return None

    def _of_parameter(self, table: LoopTable, symbol: Symbol) -> Pointees | None:
        file = os.path.basename(table.place.file)
        named = self._functions.get((table.function, file, table.place.line), [])
        position = self._positions.get(symbol)
        if len(named) != 1 or position is None:
            return None
        arguments = list(named[0].arguments)
        n_parameters = sum(
            len(one.parameters)
            for unit in self.units
            for one in unit.functions
            if symbol in one.parameters
        )
        if len(arguments) != n_parameters:
            return None  # records that are passed in several registers, or through a pointer
        held = self._result.of(arguments[position])
        return Pointees(self._allocations(held.ids), held.unknown)

    def _allocations(self, objects: Any) -> frozenset[int]:
        return frozenset(self._result.system.locations.allocation[objects].tolist())
