"""Pointers that never point to the same storage, by the points-to sets of the whole program.

A parameter holds what the callers pass: those in the program, if it has a `main`, and else callers
outside for every function that they can reach. If no allocation is both in the set of one pointer
and in that of another, nothing that is reached from the one by moving inside its storage is reached
from the other. Callers outside the program make a set unknown; two unknown sets may share storage
that is outside, too. A pointer that is loaded, `x->data`, holds what is in memory there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.loops.tables import LoopTable, Root
from kleene.ir.loops.tree import Symbol, Unit


@dataclass(frozen=True)
class Pointees:
    """The objects that a pointer may point to; `is_unknown`: and others, outside."""

    objects: frozenset[int]
    is_unknown: bool = False


@dataclass
class Pointers:
    """What pointers of a program's loops stand for in its points-to sets."""

    program: Program
    units: Iterable[Unit]
    _known: dict[tuple[int, Root], Pointees | None] = field(default_factory=dict)

    @cached_property
    def _result(self) -> Any:
        defined = [one.name for one in self.program.functions if not one.is_declaration]
        return self.program.points_to(library="main" not in defined)

    @cached_property
    def _positions(self) -> dict[Symbol, tuple[int, int]]:
        """The places of parameters among their function's, and how many there are."""
        return {
            symbol: (number, len(function.parameters))
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
        return not self._allocations(one.objects) & self._allocations(other.objects)

    def _pointees(self, table: LoopTable, root: Root) -> Pointees | None:
        key = (id(table), root)
        if key not in self._known:
            self._known[key] = self._found(table, root)
        return self._known[key]

    def _found(self, table: LoopTable, root: Root) -> Pointees | None:
        symbol = root.symbol
        if root.source is not None:
            return self._loaded(table, root.source, root.source_byte)
        if symbol is None:
            return None
        if root.kind == "pointer" and symbol.storage == "parameter":
            return self._of_parameter(table, symbol)
        if root.kind == "variable" and symbol.storage == "global":
            return self._of_global(symbol.name)
        return None

    def _of_global(self, name: str) -> Pointees | None:
        """Return the first byte of a global variable."""
        try:
            objects = self._result.object_ids(name)
        except SourceError:
            return None
        first = objects[self._locations.byte[objects] == 0]
        if len(self._allocations(objects)) != 1 or not len(first):
            return None
        return Pointees(frozenset(first.tolist()))

    def _of_parameter(self, table: LoopTable, symbol: Symbol) -> Pointees | None:
        file = os.path.basename(table.place.file)
        named = self._functions.get((table.function, file, table.place.line), [])
        found = self._positions.get(symbol)
        if len(named) != 1 or found is None:
            return None
        position, n_parameters = found
        arguments = list(named[0].arguments)
        if len(arguments) != n_parameters:
            return None  # records that are passed in several registers, or through a pointer
        return self._held(arguments[position])

    def _held(self, pointer: Any) -> Pointees:
        held = self._result.of(pointer)
        return Pointees(frozenset(held.ids.tolist()), held.unknown)

    # Pointers in memory

    def _loaded(self, table: LoopTable, source: Root, byte: int | None) -> Pointees | None:
        """Return what a pointer holds that is `byte` bytes behind the beginning of a root."""
        base = self._pointees(table, source)
        if base is None or byte is None or source.loops:
            return None
        contents = self._result.system.problem.contents
        objects: set[int] = set()
        is_unknown = base.is_unknown
        for one in base.objects:
            cells = self._cells(one, byte)
            nodes = contents[cells]
            nodes = nodes[nodes >= 0]  # a pointer is kept where a field begins
            if not len(nodes):
                return None  # no field begins there: another layout may be meant
            for node in nodes.tolist():
                held = self._held(node)
                objects |= held.objects
                is_unknown |= held.is_unknown
        return Pointees(frozenset(objects), is_unknown)

    def _cells(self, base: int, byte: int) -> Any:
        """Return the objects that may hold what lies `byte` bytes behind an object.

        An exact object is one address b, and others of its allocation at b + byte are meant. One
        that repeats stands for b + k*stride: whatever repeats with the same stride lies there if it
        is congruent. Objects of another stride may lie anywhere.
        """
        from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET  # slow to import

        locations = self._locations
        of_base = {name: int(getattr(locations, name)[base]) for name in ("byte", "stride")}
        same = np.flatnonzero(locations.allocation == locations.allocation[base])
        bytes_, strides = locations.byte[same], locations.stride[same]
        if of_base["byte"] == UNKNOWN_OFFSET:
            return same
        apart = bytes_ - (of_base["byte"] + byte)
        if of_base["stride"] == 0:
            step = np.maximum(strides, 1)
            meant = np.where(strides == 0, apart == 0, apart % step == 0)
        else:
            step = of_base["stride"]
            is_like = (strides == 0) | (strides == step)
            meant = np.where(is_like, apart % step == 0, True)
        return same[meant & (bytes_ != UNKNOWN_OFFSET)]

    @property
    def _locations(self) -> Any:
        return self._result.system.locations

    def _allocations(self, objects: Iterable[int]) -> frozenset[int]:
        return frozenset(self._locations.allocation[list(objects)].tolist())
