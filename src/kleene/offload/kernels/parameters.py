"""What a kernel is given and gives back: scalars, and sections of arrays, that go in and come out.

Storage goes in if an iteration may read a byte of it that it did not write itself, and comes out if
it is written and may be used after the loop. A section that comes out is copied as a whole: if not
every byte of it is written for sure, the others must have gone in before.

Pointers that are loaded from other storage (`c->data`, `rows[i]`) are nested: what they point to
has to be copied apart, and the loaded pointers replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kleene.algebra.symbolic import Expression
from kleene.ir.loops.symbols import LoopSymbol
from kleene.ir.loops.tables import Access, LoopRow, Root
from kleene.offload.kernels.budget import BudgetError
from kleene.offload.kernels.dependences import Facts, LoopDependences
from kleene.offload.kernels.formulas import NotAffineError
from kleene.offload.kernels.sections import AccessBounds, Section, affine, section_of
from kleene.offload.kernels.verdicts import LoopVerdict


class Basis(StrEnum):
    """Why a fact is believed."""

    PROVED = "proved"  # for every run
    ASSUMED = "assumed"  # for every run in which what is listed with it holds
    OBSERVED = "observed"  # for runs with the loop counts of a profile


@dataclass(frozen=True, slots=True)
class Parameter:
    """A scalar or storage that a kernel needs.

    `copy_in` and `copy_out` are the sections that are moved, None if none is; a scalar has neither,
    and `is_in` and `is_out` tell.
    """

    name: str
    is_in: bool
    is_out: bool
    copy_in: Section | None = None
    copy_out: Section | None = None
    nested_in: str = ""  # the storage whose pointers lead to it
    is_scalar: bool = False
    basis: Basis = Basis.PROVED
    assumptions: tuple[str, ...] = ()

    @property
    def direction(self) -> str:
        """`in`, `out` or `inout`."""
        return {(True, False): "in", (False, True): "out"}.get((self.is_in, self.is_out), "inout")


def parameters_of(facts: Facts, row: LoopRow, verdict: LoopVerdict) -> tuple[Parameter, ...]:
    """Return the parameters of a loop as a kernel, in the order in which it uses them first."""
    found = _Classification(facts, row, verdict)
    return tuple(one for root in found.roots() if (one := found.parameter(root)) is not None)


class _Classification:
    """The parameters of one loop."""

    def __init__(self, facts: Facts, row: LoopRow, verdict: LoopVerdict) -> None:
        self._facts = facts
        self._row = row
        self._verdict = verdict
        self._loop = LoopDependences(facts, row)
        self._inductions = {
            symbol
            for one in facts.table.loops
            if one.number in self._loop.inside
            for symbol in one.inductions
        }

    def roots(self) -> list[Root]:
        """Return what the loop touches and what was there before it."""
        return list(dict.fromkeys(one.root for one in self._loop.accesses))

    def parameter(self, root: Root) -> Parameter | None:
        """Return a root as a parameter; None if it is private to the loop."""
        accesses = [one for one in self._loop.accesses if one.root is root]
        if _is_scalar(root, accesses):
            return self._scalar(root, accesses)
        return self._storage(root, accesses)

    def _scalar(self, root: Root, accesses: list[Access]) -> Parameter | None:
        symbol = root.symbol
        assert symbol is not None
        if symbol.type.kind == "pointer" or symbol in self._row.inductions:
            return None  # what it points to is a parameter; a counter is the thread's
        reads = [one for one in accesses if not one.is_write]
        is_in = any(self._is_exposed(one) for one in self._distinct(reads))
        is_reduced = root.name in self._verdict.reduced
        is_in |= any(root.name in one.kept for one in self._verdict.reductions)  # it may stay
        is_kept = any(one.name == root.name and one.last for one in self._verdict.privates)
        is_out = is_reduced or is_kept
        if symbol in self._inductions and not is_in:
            return None
        return Parameter(root.name, is_in, is_out, is_scalar=True) if is_in or is_out else None

    def _storage(self, root: Root, accesses: list[Access]) -> Parameter | None:
        reads = [one for one in accesses if not one.is_write]
        writes = [one for one in accesses if one.is_write]
        entering = [one for one in self._distinct(reads) if self._is_exposed(one)]
        is_out = bool(writes) and is_used_later(self._facts, self._row, root)
        if is_out and not self._writes_all(writes):
            entering = [*entering, *writes]
        if not entering and not is_out:
            return None
        copy_in = section_of(self._facts, self._row, entering) if entering else None
        copy_out = section_of(self._facts, self._row, writes) if is_out else None
        assumptions = self._assumptions(root, [one for one in (copy_in, copy_out) if one])
        basis = Basis.ASSUMED if assumptions else Basis.PROVED
        name = root.source.name if root.source is not None else ""
        return Parameter(
            root.name, bool(entering), is_out, copy_in, copy_out, name, False, basis, assumptions
        )

    def _assumptions(self, root: Root, sections: list[Section]) -> tuple[str, ...]:
        """Return what sections hang on: bounds of arrays, and loads that must stay the same."""
        found = {text: None for one in sections for text in one.assumptions}
        bounds = [bound for one in sections for bound in (one.first, one.end) if bound is not None]
        loads = any(
            isinstance(one, LoopSymbol) and one.kind == "load"
            for bound in bounds
            for one in bound.symbols()
        )
        if loads or root.source is not None:
            for first, second in self._verdict.no_overlap:
                found[f"no overlap of {first} and {second}"] = None
        return tuple(found)

    def _distinct(self, accesses: list[Access]) -> list[Access]:
        found: dict[object, Access] = {}
        for one in accesses:
            found.setdefault((self._facts.path(one), one.offset, one.context, one.loops), one)
        return list(found.values())

    def _is_exposed(self, read: Access) -> bool:
        import islpy as isl

        try:
            return not self._loop.exposed(read).is_empty()
        except (BudgetError, isl.Error):
            return True

    def _writes_all(self, writes: list[Access]) -> bool:
        """Return whether every byte between the first and the last one written is written."""
        import islpy as isl

        bounds = [AccessBounds(self._facts, self._row, one) for one in self._distinct(writes)]
        if any(one.bounds() is None for one in bounds):
            return False
        for question in (_is_dense, _fills_rows):
            try:
                if question(bounds):
                    return True
            except (NotAffineError, BudgetError, isl.Error):
                continue
        return False


def _is_scalar(root: Root, accesses: Iterable[Access]) -> bool:
    symbol = root.symbol
    is_variable = root.kind == "variable" and symbol is not None
    return (
        is_variable
        and symbol is not None
        and symbol.type.kind not in ("array", "record")
        and all(one.path == () for one in accesses)
    )


def is_used_later(facts: Facts, row: LoopRow, root: Root) -> bool:
    """Return whether what a loop leaves in some storage may be read after it."""
    if root.kind != "variable" or root.is_exposed:
        return True
    return any(
        one.root is root and not one.is_write and row.number not in one.loops
        for one in facts.table.accesses
    )


def _is_dense(accesses: list[AccessBounds]) -> bool:
    """Return whether writes with affine offsets together leave no byte out."""
    union: Any = None
    for one in accesses:
        size = one.access.n_bytes
        assert one.access.offset is not None
        assert size is not None
        written, side = one.touched(affine(one.access.offset), size)
        if not side.is_exact:
            return False
        union = written if union is None else union.union(written)
    return bool(union.polyhedral_hull().to_set().subtract(union).is_empty())


def _fills_rows(accesses: list[AccessBounds]) -> bool:
    """Return whether one write with digits writes whole rows, all between the first and last.

    Σ digit·stride takes every multiple of the last stride between its ends if all digits but the
    first take every value below their extents, whatever the digits before, and the first takes
    every value between its ends. No byte is left out if the last stride is the element's size.
    """
    if len(accesses) > 1:
        return False
    (one,) = accesses
    digits = one.digits()
    if digits is None or digits.strides[-1] != one.access.n_bytes:
        return False
    import islpy as isl

    written, side = one.touched(digits)
    if not side.is_exact:
        return False
    n_dimensions = len(digits.parts)
    first = written.project_out(isl.dim_type.set, 1, n_dimensions - 1)
    if not first.polyhedral_hull().to_set().subtract(first).is_empty():
        return False
    dims = [f"d{place}" for place in range(n_dimensions)]
    within = [
        f"0 <= {dim} and {dim} < {side.polynomial(extent)}"
        for dim, extent in zip(dims[1:], digits.extents, strict=True)
    ]
    whole = one.facts.bounds.make_set(dims, [], within)
    lifted = first.insert_dims(isl.dim_type.set, 1, n_dimensions - 1)
    return bool(lifted.intersect(whole).subtract(written).is_empty())


def n_bytes_moved(parameters: Iterable[Parameter]) -> tuple[Expression | None, Expression | None]:
    """Return the bytes that go in and that come out; None if a section has no bound."""
    totals: list[Expression | None] = []
    listed = list(parameters)
    for sections in ([one.copy_in for one in listed], [one.copy_out for one in listed]):
        sizes = [one.n_bytes for one in sections if one is not None]
        known = [one for one in sizes if one is not None]
        totals.append(sum(known, start=Expression({})) if len(known) == len(sizes) else None)
    return totals[0], totals[1]
