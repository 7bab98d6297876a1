"""Run-time checks that pointers do not overlap, with the elements that a loop uses of each.

    for (i = 0; i < n; i++) a[i] = b[i + 1];      a + n <= b + 1 || b + n + 1 <= a

The ends come from the section of bytes that the loop touches, which may be larger than needed: the
check may fail where nothing overlaps, and never holds where something does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kleene.base.expression import Expression, of
from kleene.ir.loops.tables import Root
from kleene.offload.kernels.affine import variables_of
from kleene.offload.kernels.dependences import Facts, LoopDependences
from kleene.offload.kernels.sections import section_of

_NAME = re.compile(r"\w+((->|\.)\w+)*")


@dataclass(frozen=True, slots=True)
class Bytes:
    """The bytes `first` ... `end - 1` from where `pointer` points to.

    `n_bytes` is the size of what the pointer's type says it points to, None if that is unknown:
    adding 1 to the pointer moves it so far.
    """

    pointer: str
    first: Expression
    end: Expression
    n_bytes: int | None


@dataclass(frozen=True, slots=True)
class OverlapCheck:
    """Two sections that must not overlap."""

    first: Bytes
    second: Bytes

    @property
    def text(self) -> str:
        """The condition in C that they do not: in elements if both have whole ones of one size."""
        sections = (self.first, self.second)
        sizes = {one.n_bytes for one in sections}
        size = sizes.pop() if len(sizes) == 1 else None
        bounds = [bound for one in sections for bound in (one.first, one.end)]
        if size is None or not all(one.over(size).is_integer for one in bounds):
            size = 0
        parts = [
            f"{_moved(one.pointer, one.end, size)} <= {_moved(other.pointer, other.first, size)}"
            for one, other in (sections, sections[::-1])
        ]
        return " || ".join(parts)


def _moved(pointer: str, by: Expression, size: int) -> str:
    """Return a pointer so many bytes further on, as elements of `size` bytes if that is not 0."""
    moved = by.over(size) if size else by
    start = pointer if size else f"(char *){pointer}"
    if moved == 0:
        return start
    return f"{start} + {moved if len(moved.terms) == 1 else f'({moved})'}"


class Sections:
    """The bytes of each root that one loop uses, each found once."""

    def __init__(self, facts: Facts, loop: LoopDependences) -> None:
        self._facts = facts
        self._loop = loop
        self._known: dict[Root, Bytes | None] = {}

    def overlap_check(self, first: Root, second: Root) -> OverlapCheck | None:
        """Return the check that what the loop uses of two roots does not overlap, if it can."""
        one, other = self._of(first), self._of(second)
        return None if one is None or other is None else OverlapCheck(one, other)

    def _of(self, root: Root) -> Bytes | None:
        if root not in self._known:
            self._known[root] = self._found(root)
        return self._known[root]

    def _found(self, root: Root) -> Bytes | None:
        facts = self._facts
        accesses = [one for one in self._loop.accesses if one.root is root]
        if root.loops or _NAME.fullmatch(root.name) is None:
            return None
        if root.kind == "variable" and all(one.path == () for one in accesses):
            size = accesses[0].n_bytes
            return None if size is None else Bytes(f"&{root.name}", of(0), of(size), size)
        section = section_of(facts, self._loop.row, accesses)
        if section.first is None or section.end is None or section.assumptions:
            return None
        variables = variables_of(facts)
        first, end = (one.substitute(variables) for one in (section.first, section.end))
        counters = {row.counter for row in facts.table.loops}
        if (first.symbols() | end.symbols()) & counters:
            return None  # of a loop around that does not count up by 1
        is_record = root.symbol is not None and root.symbol.type.kind == "record"
        return Bytes(f"&{root.name}" if is_record else root.name, first, end, root.n_bytes)
