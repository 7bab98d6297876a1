"""Which sections of an array does a whole function use, in its integer parameters?

Everything used goes in, so that what is not written in a section that comes out stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kleene.algebra.symbolic import Expression, Sign, Signs, Symbol, of
from kleene.codegen import runtime
from kleene.codegen.plan import Plan, Section
from kleene.ir.loops import tree
from kleene.ir.loops.symbols import LoopSymbol
from kleene.ir.loops.tables import Access, Compare
from kleene.offload.kernels.budget import BudgetError
from kleene.offload.kernels.dependences import Facts, facts_of
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.sections import section_of
from kleene.offload.kernels.trips import trips_if_any

Bytes = tuple[int, int]  # from the first to before the end


def sections_of(facts: Facts, symbol: tree.Symbol) -> dict[str, tuple[Section, ...] | None]:
    """Return the sections of a parameter's array by "in" and "out"; None has no bounds."""
    accesses = [
        one
        for one in facts.table.accesses
        if one.root.symbol is symbol and one.root.kind == "pointer"
    ]
    writes = [one for one in accesses if one.is_write]
    return {"in": _all(facts, accesses), "out": _all(facts, writes)}


def sections_for(
    analysed: Analysed, plan: Plan, sizes: Mapping[str, int]
) -> dict[str, tuple[Bytes | None, Bytes | None, Bytes]]:
    """Return the bytes of each array that go in, come out, and are needed, for one call's sizes.

    Numbers decide what formulas leave open: whether a filter's size is above 0, say.
    """
    table = analysed.table
    known = {symbol: sizes[name] for name, symbol in table.parameters.items() if name in sizes}
    given = tuple(Compare("==", of(symbol) - value) for symbol, value in known.items())
    facts = facts_of(table, (*analysed.conditions, *given))
    found = {}
    for name, array in plan.arrays.items():
        if array.symbol not in plan.parameters:
            continue
        moved = sections_of(facts, array.symbol)
        used = moved["in"]
        exact = tuple(one for one in used or () if one.is_exact)
        needed = _hull(exact, known)
        found[name] = (_hull(used, known), _hull(moved["out"], known), needed or (0, 0))
    return found


def _hull(sections: Iterable[Section] | None, values: Mapping[LoopSymbol, int]) -> Bytes | None:
    """Return the bytes from the first to the end of sections, with numbers for their symbols."""
    if sections is None:
        return None
    pieces = []
    for one in sections:
        sizes = [each.substitute(dict(values)).integer for each in (one.first, one.end, *one.trips)]
        known = [each for each in sizes if each is not None]
        if len(known) < len(sizes):
            return None
        pieces.append((min([1, *known[2:]]), known[0], known[1]))
    return runtime.hull(pieces)


def _all(facts: Facts, accesses: Iterable[Access]) -> tuple[Section, ...] | None:
    by_loops: dict[object, list[Access]] = {}
    found: list[Section] = []
    for one in accesses:
        if one.loops:
            by_loops.setdefault((one.loops, one.context, one.offset), []).append(one)
        elif one.offset is None or one.n_bytes is None or not _is_known(facts, [one.offset]):
            return None
        else:
            found.append(Section(one.offset, one.offset + one.n_bytes, (), not one.context))
    pieces = [_Piece(facts, ones) for ones in by_loops.values()]
    exact = [piece for piece in pieces if piece.section is not None and piece.section.is_exact]
    for piece in pieces:
        if piece.section is None:
            return None
        if piece.section.is_exact or not any(piece.is_within(other) for other in exact):
            found.append(piece.section)
    return tuple(dict.fromkeys(found))


class _Piece:
    """The accesses to an array at one place of a nest, and under one condition."""

    def __init__(self, facts: Facts, accesses: list[Access]) -> None:
        self._facts = facts
        self._accesses = accesses
        self._loops = accesses[0].loops
        bounds = self._bounds(accesses)
        self.section = None if bounds is None else self._section(*bounds)

    def is_within(self, other: _Piece) -> bool:
        """Return whether another piece, whose loops are around these, has all that is used here."""
        mine, its = self.section, other.section
        if self._loops[: len(other._loops)] != other._loops or mine is None or its is None:
            return False
        signs = Signs().also({s: Sign.POSITIVE for one in its.trips for s in _alone(one)})
        return signs.at_most(its.first, mine.first) and signs.at_most(mine.end, its.end)

    def _bounds(self, accesses: list[Access]) -> tuple[Expression, Expression, bool] | None:
        import islpy as isl

        self._facts.renew()
        try:
            found = section_of(self._facts, self._facts.rows[self._loops[0]], accesses)
        except (BudgetError, isl.Error):
            return None
        if found.first is None or found.end is None:
            return None
        return found.first, found.end, found.is_exact

    def _section(self, first: Expression, end: Expression, is_exact: bool) -> Section | None:
        """Return the section for calls in which all loops around have iterations.

        It is exact if that is known before them, and if nothing else decides about the accesses.
        """
        rows = [self._facts.rows[number] for number in self._loops]
        trips = [trips_if_any(row) for row in rows]
        known = [one for one in trips if one is not None and _is_known(self._facts, [one])]
        if not _is_known(self._facts, [first, end]):
            return None
        needed = [one for one in known if one.integer is None or one.integer <= 0]
        is_plain = len(self._accesses[0].context) == len(rows[-1].context)
        is_exact = is_exact and is_plain and len(known) == len(trips)
        return Section(first, end, tuple(dict.fromkeys(needed)), is_exact)


def _alone(value: Expression) -> list[Symbol]:
    """Return the symbol that an expression is, if it is one."""
    symbols = list(value.symbols())
    return symbols if len(symbols) == 1 and value == of(symbols[0]) else []


def _is_known(facts: Facts, values: Iterable[Expression]) -> bool:
    """Return whether values are told by the function's integer parameters alone."""
    parameters = facts.table.parameters
    return all(
        parameters.get(symbol.name) is symbol for value in values for symbol in value.symbols()
    )
