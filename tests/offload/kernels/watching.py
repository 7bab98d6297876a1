"""Loops that are run, with the bytes that every access touches: the oracle of sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kleene.base.expression import Symbol
from kleene.ir.loops import tree
from kleene.ir.loops.tables import LoopRow, LoopTable, Root
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.sections import Section, section_of
from tests.offload.kernels.interpreter import (
    Address,
    Interpreter,
    Object,
    TooLongError,
    UndefinedError,
)
from tests.offload.kernels.oracle import arguments

FIELDS = {"x": 0, "y": 4}  # of `struct pair { int x, y; }`
Counters = tuple[tuple[tuple[int, int], int], ...]  # place of each loop around, and its counter


class Watcher(Interpreter):
    """A run that notes all accesses, with the counters of the loops around them."""

    def __init__(self, functions: Mapping[str, tree.Function]) -> None:
        super().__init__(functions, max_steps=20_000)
        self._around: list[list[Any]] = []
        self.noted: dict[tuple[Counters, Address, bool], None] = {}

    def _iterate(self, node: tree.Loop, begin: Callable[[], None]) -> None:
        entry = [(node.place.line, node.place.column), -1]
        self._around.append(entry)

        def counted() -> None:
            entry[1] += 1
            begin()

        try:
            super()._iterate(node, counted)
        finally:
            self._around.pop()

    def _note(self, address: Address, is_write: bool, place: Any) -> None:
        super()._note(address, is_write, place)
        around = tuple((where, count) for where, count in self._around)
        self.noted[around, address, is_write] = None


def byte_offset(root: Object, path: tuple[Any, ...]) -> tuple[int, int]:
    """Return where an address is in its object, and the size of the element there."""
    kind, offset = root.type, 0
    assert kind is not None
    steps = list(path)
    if root.name.endswith("[]"):
        assert kind.n_bytes is not None
        offset = steps.pop(0) * kind.n_bytes
    for step in steps:
        if isinstance(step, str):
            offset, kind = offset + FIELDS[step], tree.Type("int", "int", 32)
            continue
        kind = kind.target
        assert kind is not None
        assert kind.n_bytes is not None
        offset += step * kind.n_bytes
    assert kind.n_bytes is not None
    return offset, kind.n_bytes


@dataclass
class Tally:
    """How much was really compared."""

    n_inside: int = 0
    n_unbounded: int = 0  # a section without bounds holds every byte
    n_unknown: int = 0  # bounds hang on values that the run does not tell
    n_through_others: int = 0  # pointers that are not followed
    n_sections: int = 0
    n_exact: int = 0


@dataclass
class Sections:
    """The sections of all loops of a function, made when asked for."""

    facts: Facts
    made: dict[object, Section] = field(default_factory=dict)

    def of(self, row: LoopRow, root: Root, is_write: bool, tally: Tally) -> Section:
        key = row.number, root, is_write
        if key not in self.made:
            inside = self.facts.table.inside(row.number)
            chosen = [one for one in inside if one.root is root and one.is_write == is_write]
            self.made[key] = section_of(self.facts, row, chosen)
            tally.n_sections += 1
            tally.n_exact += self.made[key].is_exact
        return self.made[key]


def check_sections(
    functions: Mapping[str, tree.Function],
    table: LoopTable,
    sections: Sections,
    numbers: Mapping[str, int],
    tally: Tally,
) -> None:
    """Assert that every byte touched in a run lies in the section of every loop around."""
    function = functions[table.function]
    run = Watcher(functions)
    with suppress(UndefinedError, TooLongError):  # what was noted before counts
        run.call(function.name, arguments(function, run, numbers, None))
    rows = {(one.place.line, one.place.column): one for one in table.loops}
    values: dict[Symbol, int] = {
        table.parameters[name]: value for name, value in numbers.items() if name in table.parameters
    }
    for around, (storage, path), is_write in run.noted:
        if not path:
            continue
        for depth, (where, _) in enumerate(around):
            row = rows[where]
            outer = {rows[place].counter: count for place, count in around[:depth]}
            root = _root(table, row, storage, is_write)
            if root is None:
                tally.n_through_others += 1
                continue
            section = sections.of(row, root, is_write, tally)
            if section.first is None or section.end is None:
                tally.n_unbounded += 1
                continue
            offset, size = byte_offset(storage, path)
            bounds = [one.substitute({**values, **outer}) for one in (section.first, section.end)]
            first, end = (one.number for one in bounds)
            if section.assumptions and not 0 <= offset < (storage.type.n_bytes or 0):  # type: ignore[union-attr]
                continue  # C leaves it undefined, and the section says so
            if first is None or end is None:
                tally.n_unknown += 1
                continue
            tally.n_inside += 1
            assert first <= offset < offset + size <= end, (
                f"{table.function} line {row.place.line}: {storage.name}{path} is at {offset},"
                f" not in {section} = [{first}, {end}) for {numbers}, {outer}"
            )


def _root(table: LoopTable, row: LoopRow, storage: Object, is_write: bool) -> Root | None:
    """Return the root that stands for an object, or None if only a pointer leads to it."""
    inside = [one.root for one in table.inside(row.number) if one.is_write == is_write]
    kind = "pointer" if storage.name.endswith("[]") else "variable"
    name = storage.name.removesuffix("[]")
    named = [one for one in inside if one.symbol and (one.kind, one.name) == (kind, name)]
    if named:
        return named[0]
    others = [one for one in inside if one.kind == "unknown" or one.symbol is None]
    assert others, f"nothing in line {row.place.line} touches {storage.name}"
    return None
