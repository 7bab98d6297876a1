"""Which sections of an array does a whole function use, in its integer parameters?

Everything used goes in, so that what is not written in a section that comes out stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable

from kleene.base.expression import Expression
from kleene.codegen.plan import Section
from kleene.ir.loops.tables import Access
from kleene.ir.loops.tree import Symbol
from kleene.offload.kernels.budget import BudgetError
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.sections import section_of
from kleene.offload.kernels.trips import trips_if_any


def sections_of(facts: Facts, symbol: Symbol) -> dict[str, tuple[Section, ...] | None]:
    """Return the sections of a parameter's array by "in" and "out"; None has no bounds."""
    accesses = [
        one
        for one in facts.table.accesses
        if one.root.symbol is symbol and one.root.kind == "pointer"
    ]
    writes = [one for one in accesses if one.is_write]
    return {"in": _all(facts, accesses), "out": _all(facts, writes)}


def _all(facts: Facts, accesses: Iterable[Access]) -> tuple[Section, ...] | None:
    by_loop: dict[int, list[Access]] = {}
    found: list[Section] = []
    for one in accesses:
        if one.loops:
            by_loop.setdefault(one.loops[0], []).append(one)
        elif one.offset is None or one.n_bytes is None or not _is_known(facts, [one.offset]):
            return None
        else:
            found.append(Section(one.offset, one.offset + one.n_bytes))
    for number, ones in by_loop.items():
        section = _of_loop(facts, number, ones)
        if section is None:
            return None
        found.append(section)
    return tuple(dict.fromkeys(found))


def _of_loop(facts: Facts, number: int, accesses: list[Access]) -> Section | None:
    import islpy as isl

    row = facts.rows[number]
    facts.renew()
    try:
        section = section_of(facts, row, accesses)
    except (BudgetError, isl.Error):
        return None
    trips = trips_if_any(row)
    bounds = [section.first, section.end, trips]
    known = [one for one in bounds if one is not None]
    if len(known) < len(bounds) or not _is_known(facts, known):
        return None
    return Section(known[0], known[1], known[2], section.is_exact)


def _is_known(facts: Facts, values: Iterable[Expression]) -> bool:
    """Return whether values are told by the function's integer parameters alone."""
    parameters = facts.table.parameters
    return all(
        parameters.get(symbol.name) is symbol for value in values for symbol in value.symbols()
    )
