"""Run-time checks that pointers do not overlap, with the elements that a loop uses of each.

    for (i = 0; i < n; i++) a[i] = b[i + 1];      a + n <= b + 1 || b + n + 1 <= a

The least and greatest subscript come from the section of bytes that the loop touches, which may be
larger than needed: the check may fail where nothing overlaps, and never holds where something does.
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
class Elements:
    """The elements `low` ... `high` of what `pointer` points to; `n_bytes` is that of one."""

    pointer: str
    low: Expression
    high: Expression
    n_bytes: int


@dataclass(frozen=True, slots=True)
class OverlapCheck:
    """Two sections that must not overlap."""

    first: Elements
    second: Elements

    @property
    def text(self) -> str:
        """The condition in C that they do not."""
        is_same = self.first.n_bytes == self.second.n_bytes
        parts = [
            f"{_end(one, is_same)} <= {_moved(other.pointer, other.low, is_same)}"
            for one, other in ((self.first, self.second), (self.second, self.first))
        ]
        return " || ".join(parts)


def _end(section: Elements, is_same: bool) -> str:
    return _moved(section.pointer, section.high + 1, is_same)


def _moved(pointer: str, by: Expression, is_same: bool) -> str:
    """Return a pointer so many elements further on; in bytes if elements are not of one size."""
    amount = str(by) if len(by.terms) == 1 else f"({by})"
    moved = pointer if by == 0 else f"{pointer} + {amount}"
    if is_same:
        return moved
    return f"(char *)({moved})" if by != 0 else f"(char *){moved}"


class Sections:
    """The elements of each root that one loop uses, each found once."""

    def __init__(self, facts: Facts, loop: LoopDependences) -> None:
        self._facts = facts
        self._loop = loop
        self._known: dict[Root, Elements | None] = {}

    def overlap_check(self, first: Root, second: Root) -> OverlapCheck | None:
        """Return the check that what the loop uses of two roots does not overlap, if it can."""
        one, other = self._of(first), self._of(second)
        return None if one is None or other is None else OverlapCheck(one, other)

    def _of(self, root: Root) -> Elements | None:
        if root not in self._known:
            self._known[root] = self._found(root)
        return self._known[root]

    def _found(self, root: Root) -> Elements | None:
        facts = self._facts
        accesses = [one for one in self._loop.accesses if one.root is root]
        (n_bytes, *others) = {one.n_bytes for one in accesses}
        if n_bytes is None or others or root.loops or _NAME.fullmatch(root.name) is None:
            return None
        if root.kind == "variable" and all(one.path == () for one in accesses):
            return Elements(f"&{root.name}", of(0), of(0), n_bytes)
        section = section_of(facts, self._loop.row, accesses)
        if section.first is None or section.end is None or section.assumptions:
            return None
        bounds = [section.first.over(n_bytes), section.end.over(n_bytes) - 1]
        if not all(one.is_integer for one in bounds):
            return None
        variables = variables_of(facts)
        low, high = (one.substitute(variables) for one in bounds)
        counters = {row.counter for row in facts.table.loops}
        if (low.symbols() | high.symbols()) & counters:
            return None  # of a loop around that does not count up by 1
        return Elements(root.name, low, high, n_bytes)
