"""Kernels for numbers: what a profile, or the user, says about sizes, put into a kernel's facts.

Loop counts of a profile are equations: `(n + 1) / 2 = 100` means n = 199 or n = 200, and both are
given. Facts are then found anew with the numbers as conditions, which may be sharper than numbers
put into the answer for all runs, and hold for these numbers alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kleene.algebra.symbolic import Expression, Symbol, of, solve
from kleene.ir.loops.symbols import LoopSymbol
from kleene.ir.loops.tables import Compare, Condition, LoopTable, all_symbols, symbols_of_condition
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.kernel import Kernel, kernels_of
from kleene.offload.kernels.parameters import Basis, Parameter
from kleene.offload.kernels.patterns import AccessPattern
from kleene.offload.kernels.sections import Section
from kleene.offload.kernels.trips import trip_count
from kleene.offload.kernels.verdicts import LoopVerdict
from kleene.offload.memory.coalescing import LINE, SECTOR, ByteAccess, GridMapping, touched

Values = dict[Symbol, int]


def kernels_in(
    table: LoopTable,
    conditions: tuple[Condition, ...],
    verdicts: tuple[LoopVerdict, ...],
    *,
    values: Mapping[str, int] | None = None,
    trips: Mapping[int, int] | None = None,
    block: tuple[int, ...] | None = None,
) -> list[Kernel]:
    """Return the kernels of a function.

    Args:
        table: the loops and accesses of the function.
        conditions: what is taken to hold of its parameters.
        verdicts: on its loops.
        values: numbers of parameters and of loads (`image->width`), by their names.
        trips: counts of iterations, by the lines of loops: what a profile observed.
        block: the shape of a block, x first; the usual one if its dimensions do not fit.
    """
    found: list[Kernel] = []
    for fixed, basis in _known(table, values or {}, trips or {}):
        equal = tuple(Compare("==", of(symbol) - value) for symbol, value in fixed.items())
        facts = facts_of(table, (*conditions, *equal))
        for kernel in kernels_of(facts, verdicts, block):
            found.append(_at(kernel, fixed, basis) if fixed else kernel)
    return found


def _known(
    table: LoopTable, values: Mapping[str, int], trips: Mapping[int, int]
) -> Iterator[tuple[Values, Basis]]:
    """Yield the numbers of symbols: one way for each solution of the loop counts."""
    given: Values = {
        one: values[one.name]
        for one in _symbols(table)
        if one.name in values and not one.loops and one.kind != "counter"
    }
    counts = [(row, trips[row.place.line]) for row in table.loops if row.place.line in trips]
    equations: list[tuple[Expression, int]] = []
    for row, count in counts:
        expected = trip_count(row)
        if expected is not None:
            equations.append((expected.substitute(given), count))
    if not equations:
        yield given, Basis.ASSUMED if given else Basis.PROVED
        return
    for solution in solve(equations):
        numbers = {symbol: value.integer for symbol, value in solution.values.items()}
        solved = {symbol: value for symbol, value in numbers.items() if value is not None}
        yield given | solved, Basis.OBSERVED


def sizes_of(table: LoopTable) -> set[str]:
    """Return the names of what has one value in a call: parameters, and loads from before loops."""
    return {one.name for one in _symbols(table) if not one.loops and one.kind != "counter"}


def _symbols(table: LoopTable) -> set[LoopSymbol]:
    """Return the symbols of a table's offsets, guards and bounds."""
    found = set(table.parameters.values())
    conditions = [one for row in table.loops for one in row.context]
    for access in table.accesses:
        conditions += access.context
        if access.offset is not None:
            found |= all_symbols(access.offset)
    for condition in set(conditions):
        found |= symbols_of_condition(condition)
    return found


def _at(kernel: Kernel, values: Values, basis: Basis) -> Kernel:
    """Return a kernel's facts for numbers, and the lines and sectors of a warp counted."""

    def number(value: Expression) -> Expression:
        return value.substitute(values)

    def section(one: Section | None) -> Section | None:
        return None if one is None else one.substitute(values)

    def parameter(one: Parameter) -> Parameter:
        moved = section(one.copy_in), section(one.copy_out)
        return replace(one, copy_in=moved[0], copy_out=moved[1], basis=basis)

    def pattern(one: AccessPattern) -> AccessPattern:
        offsets = tuple(number(offset) for offset in one.offsets)
        stride = None if one.stride is None else number(one.stride)
        found = replace(
            one,
            offsets=offsets,
            stride=stride,
            requests=number(one.requests),
            sectors=number(one.sectors),
            factor=number(one.factor),
            by_mapping=tuple((o, number(r), number(s)) for o, r, s in one.by_mapping),
            basis=basis,
        )
        return counted(kernel, found)

    sharing = tuple(
        replace(
            one,
            n_bytes=None if one.n_bytes is None else number(one.n_bytes),
            tile=tuple(map(number, one.tile)),
            overlaps=tuple((v, None if e is None else number(e)) for v, e in one.overlaps),
        )
        for one in kernel.sharing
    )
    return replace(
        kernel,
        axes=tuple(replace(one, trips=number(one.trips)) for one in kernel.axes),
        costs=tuple((order, number(cost)) for order, cost in kernel.costs),
        parameters=tuple(map(parameter, kernel.parameters)),
        accesses=tuple(map(pattern, kernel.accesses)),
        sharing=sharing,
        names={symbol: number(value) for symbol, value in kernel.names.items()},
        values=tuple(sorted((symbol.name, value) for symbol, value in values.items())),
        basis=basis,
    )


def counted(kernel: Kernel, pattern: AccessPattern) -> AccessPattern:
    """Return an access with what the first warp of the first block touches, thread by thread.

    Loops inside of a thread are in their first iteration, and storage begins at a line.
    """
    by_name = {one.variable: one.counter for one in kernel.axes}
    axes = [Symbol(f"thread.{letter}") for letter in "xyz"[: len(kernel.mapping)]]
    put: dict[Symbol, Expression | int] = {
        by_name[name]: of(axis) for name, axis in zip(kernel.mapping, axes, strict=True)
    }
    put |= {one: 0 for one in kernel.names if one not in put}
    offsets = [offset.substitute(put) for offset in pattern.offsets]
    if not offsets or any(offset.symbols() - set(axes) for offset in offsets):
        return pattern
    accesses = [ByteAccess(pattern.root, offset, pattern.n_bytes or 1) for offset in offsets]
    grid = GridMapping(tuple(axes), kernel.block)
    lines, sectors = (
        max(touched([one], grid, {}, granule=granule) for one in accesses)
        for granule in (LINE, SECTOR)
    )
    return replace(pattern, counted=(lines, sectors))
