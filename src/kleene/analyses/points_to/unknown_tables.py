"""Which virtual tables of the program an object has whose table is not known.

An object comes from a function without model, from outside as an argument of a library's function,
or was given away and may have been made anew. Its table is unknown then, and a virtual call on it
may leave the program. It may as well reach the program's own functions: those at its slot in

- every table for the class of its type test, or every table if it has no test (`type_tests`),
- that escaped, or whose symbol other modules see: `Base *make()` elsewhere may make an object of a
  class that it has from a header.

So an unknown table holds the address points of these tables, too. Solutions do not list functions
that escaped at calls that may leave; `overriders` does, at these calls.

Without metadata an address point is where the functions of a table begin:

    … offsets │ offset to the top │ type │ functions …     once for each base that has a table
                                         ▲ address point
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.class_tables import ClassTables
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import is_visible
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import I32
from kleene.ir.codes import GlobalFlag, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import Solution

_TABLE = b"_ZTV"
_ANY_CLASS = -1


class Read(NamedTuple):
    """A call rule that calls a function which it loads behind a table."""

    rule: int
    table: int  # value that is the table, or the address of a slot
    amount: int  # from there to the slot, as in a `Problem`


class UnknownTables:
    """The tables that virtual calls may read where they read an unknown one."""

    def __init__(self, program: Program, system: ConstraintSystem, untested: Iterable[int]) -> None:
        """`untested` are tables (values) that virtual calls read; they may have no type test."""
        self._program, self._system = program, system
        base = program.bases[ValueKind.INSTRUCTION]
        self._class = {value: class_ for value, _, class_ in system.tested.tolist()}
        for value in untested:
            caller = program.function_table.value[program.instruction_function[value - base]]
            if not program.globals.flags[caller] & GlobalFlag.TYPE_TESTS:
                self._class.setdefault(value, _ANY_CLASS)

    def __contains__(self, value: int) -> bool:
        return value in self._class

    def every(self) -> Iterator[tuple[int, int]]:
        """Yield (value, location of a table) of all that may ever be read."""
        return (
            (value, o) for value, class_ in self._class.items() for o, _ in self._points[class_]
        )

    def held(self, solution: Solution) -> Iterator[tuple[int, int]]:
        """Yield (value, location of a table) of what unknown tables may be."""
        for value in self._class:
            if solution.unknown[value]:
                yield from ((value, o) for o in self._held_by(value, solution))

    def _held_by(self, value: int, solution: Solution) -> Iterator[int]:
        for o, copies in self._points[self._class[value]]:
            if not len(copies) or solution.escaped[copies].any():
                yield o

    def overriders(
        self,
        reads: Iterable[Read],
        solution: Solution,
        at_slot: Callable[[int, int], frozenset[int]],
    ) -> I32:
        """Return (call rule, function) of all functions that calls may reach by unknown tables.

        `at_slot(o, amount)` are the functions `amount` behind a location.
        """
        found: set[tuple[int, int]] = set()
        for rule, value, amount in reads:
            if solution.calls_outside[rule] and solution.unknown[value]:
                for o in self._held_by(value, solution):
                    found |= {(rule, function) for function in at_slot(o, amount)}
        return np.array(sorted(found), np.int32).reshape(-1, 2)

    @cached_property
    def _points(self) -> dict[int, list[tuple[int, I32]]]:
        """The address points (locations) by class, each with the first locations of its tables.

        These are several where a table is a passing one, too (`constraints.construction`), and none
        if other modules see the table in any case.
        """
        points, found = self._program.address_points, defaultdict[int, list[tuple[int, I32]]](list)
        columns = (points.table.tolist(), points.byte.tolist(), points.type.tolist())
        visible = is_visible(Columns(self._program))
        passing = {table.allocation for table in self._system.passing_tables}
        first = self._system.problem.allocation_offsets
        for variable, byte, class_ in chain(zip(*columns, strict=True), self._by_layout()):
            own = self._allocations[variable]
            is_seen = visible[variable] and own[0] not in passing
            copies = first[own[:0] if is_seen else own]
            found[class_] += [(o, copies) for o in self._locations_at(own[0], byte)]
        return found

    def _by_layout(self) -> Iterator[tuple[int, int, int]]:
        """Yield (table, byte, any class) of the address points of all tables."""
        program, tables = self._program, ClassTables(self._program)
        if _ANY_CLASS not in self._class.values():
            return
        functions = set(program.function_table.value.tolist())
        is_table = program.strings.begin_with(program.globals.name, _TABLE)
        for variable in np.flatnonzero(is_table).tolist():
            words, was_function = tables.words(variable), False
            for byte in sorted(words):
                word = words[byte]
                is_function = isinstance(word, tuple) and word[0] in functions
                if is_function and not was_function:
                    yield variable, byte, _ANY_CLASS
                was_function = is_function

    @cached_property
    def _allocations(self) -> dict[int, list[int]]:
        """The allocations of each global variable, its own first."""
        table, found = self._system.allocations, defaultdict[int, list[int]](list)
        for row in np.flatnonzero(table.kind == AllocationKind.GLOBAL).tolist():
            found[int(table.site[row])].append(row)
        return {site: sorted(rows, key=table.part.__getitem__) for site, rows in found.items()}

    def _locations_at(self, allocation: int, byte: int) -> list[int]:
        """Return the location at a byte of a table; all that it has, if none begins there."""
        offsets = self._system.problem.allocation_offsets
        first, end = offsets[allocation : allocation + 2].tolist()
        locations = self._system.locations
        exact = (locations.byte[first:end] == byte) & (locations.stride[first:end] == 0)
        at = first + np.flatnonzero(exact)
        return at.tolist() or list(range(first, end))
