"""Run-time checks that pointers do not overlap, with the elements that a loop uses of each.

    for (i = 0; i < n; i++) a[i] = b[i + 1];      a + n <= b + 1 || b + n + 1 <= a

The least and greatest subscript come from isl, over all iterations of the loop. Where they have
several formulas, for several ranges of the parameters, the least and the greatest of these are
taken: the check may fail where nothing overlaps, and never holds where something does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kleene.base.expression import Expression, maximum, minimum, of
from kleene.ir.loops.tables import Access, Root
from kleene.offload.kernels.affine import expression_of
from kleene.offload.kernels.dependences import Facts, LoopDependences, make_set
from kleene.offload.kernels.formulas import NotAffineError, Scope, Side

_NAME = re.compile(r"\w+((->|\.)\w+)*")
_SUBSCRIPT = "c1000000y"  # the name of the subscript in formulas


@dataclass(frozen=True, slots=True)
class Section:
    """The elements `low` ... `high` of what `pointer` points to; `n_bytes` is that of one."""

    pointer: str
    low: Expression
    high: Expression
    n_bytes: int


@dataclass(frozen=True, slots=True)
class OverlapCheck:
    """Two sections that must not overlap."""

    first: Section
    second: Section

    @property
    def text(self) -> str:
        """The condition in C that they do not."""
        is_same = self.first.n_bytes == self.second.n_bytes
        parts = [
            f"{_end(one, is_same)} <= {_moved(other.pointer, other.low, is_same)}"
            for one, other in ((self.first, self.second), (self.second, self.first))
        ]
        return " || ".join(parts)


def _end(section: Section, is_same: bool) -> str:
    return _moved(section.pointer, section.high + 1, is_same)


def _moved(pointer: str, by: Expression, is_same: bool) -> str:
    """Return a pointer so many elements further on; in bytes if elements are not of one size."""
    amount = str(by) if len(by.terms) == 1 else f"({by})"
    moved = pointer if by == 0 else f"{pointer} + {amount}"
    if is_same:
        return moved
    return f"(char *)({moved})" if by != 0 else f"(char *){moved}"


def overlap_check(
    facts: Facts, loop: LoopDependences, first: Root, second: Root
) -> OverlapCheck | None:
    """Return the check that what a loop uses of two roots does not overlap, if it can be said."""
    sections = [_section(facts, loop, root) for root in (first, second)]
    if sections[0] is None or sections[1] is None:
        return None
    return OverlapCheck(sections[0], sections[1])


def _section(facts: Facts, loop: LoopDependences, root: Root) -> Section | None:
    accesses = [one for one in loop.accesses if one.root is root]
    sizes = {one.n_bytes for one in accesses}
    (n_bytes, *others) = sizes
    if n_bytes is None or others or root.loops or _NAME.fullmatch(root.name) is None:
        return None
    if root.kind == "variable" and all(one.path == () for one in accesses):
        return Section(f"&{root.name}", of(0), of(0), n_bytes)
    lows: list[Expression] = []
    highs: list[Expression] = []
    for access in loop.of(root):
        bounds = _bounds(facts, loop, access)
        if bounds is None:
            return None
        lows += bounds[0]
        highs += bounds[1]
    if not lows:
        return None  # nothing is used at all
    return Section(root.name, minimum(lows), maximum(highs), n_bytes)


def _bounds(
    facts: Facts, loop: LoopDependences, access: Access
) -> tuple[list[Expression], list[Expression]] | None:
    """Return what the subscript of an access is least and greatest: one of these."""
    path = access.path
    if path is None or len(path) != 1 or isinstance(path[0], str) or access.sequence in facts.wraps:
        return None
    scope = Scope(loop.inside, facts.unusable, facts.products, facts.registry)
    side = Side(scope, "y")
    held = side.context((*facts.assumed, *access.context), facts.broken)
    try:
        held.append(f"{_SUBSCRIPT} = {side.polynomial(path[0])}")
    except NotAffineError:
        return None
    if side.has_products or side.changing & _used(side.polynomial(path[0])):
        return None
    counters = [side.counter(one) for one in access.loops if one in loop.inside]
    hidden = {*counters, *side.changing, *side.defined}
    used = make_set(facts.context, [_SUBSCRIPT], hidden, [*held, *side.defined.values()])
    if used.is_empty():
        return [], []
    lows, highs = _pieces(facts, used, is_low=True), _pieces(facts, used, is_low=False)
    return None if lows is None or highs is None else (lows, highs)


def _used(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _pieces(facts: Facts, used: Any, *, is_low: bool) -> list[Expression] | None:
    """Return the formulas of the least or greatest element of a set; None if it has none."""
    import islpy as isl

    bounded = used.dim_has_any_lower_bound if is_low else used.dim_has_any_upper_bound
    if not bounded(isl.dim_type.set, 0):
        return None
    found = []
    for _, one in (used.dim_min(0) if is_low else used.dim_max(0)).get_pieces():
        value = expression_of(facts, one)
        if value is None:
            return None
        found.append(value)
    return found
