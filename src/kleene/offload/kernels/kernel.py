"""A loop nest as a GPU kernel: which loops become its grid, what moves, how memory is accessed.

The nest begins with the outermost loop that may run in parallel. A loop inside joins the grid, up
to three in all, if it is alone at its level, parallel too, has a trip count that the loops around
do not change, and what stands between the loops may be computed again by every thread:

    for (i...) { s[i] += 1; for (j...) b[i*m + j] = s[i]; }     the increment would happen m times

Loops further inside stay loops of each thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kleene.algebra.symbolic import Expression, Symbol, of
from kleene.base.errors import Span
from kleene.ir.loops.symbols import loops_of
from kleene.ir.loops.tables import Compare, LoopRow, LoopTable
from kleene.offload.kernels.dependences import Facts
from kleene.offload.kernels.parallel import ParallelLoop, visit_outermost
from kleene.offload.kernels.parameters import Basis, Parameter, parameters_of
from kleene.offload.kernels.patterns import AccessPattern, Axis, Patterns
from kleene.offload.kernels.sharing import SharedMemory, Sharing
from kleene.offload.kernels.trips import trip_count
from kleene.offload.kernels.verdicts import Culprit, LoopVerdict, Verdict

_MAX_AXES = 3
BLOCKS = {1: (256,), 2: (32, 8), 3: (32, 4, 2)}


@dataclass(frozen=True)
class Kernel:
    """What is known of one loop nest as a kernel. Expressions are in the program's own names."""

    function: str
    place: Span
    end_line: int
    axes: tuple[Axis, ...]  # outermost first
    mapping: tuple[str, ...]  # loops on x, y, z with the fewest requests
    costs: tuple[tuple[tuple[str, ...], Expression], ...]  # lines of a warp by mapping, in all
    block: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    accesses: tuple[AccessPattern, ...]
    sharing: tuple[Sharing, ...]
    callees: tuple[str, ...]
    reasons: tuple[Culprit, ...]  # why no further loop is on the grid
    assumptions: tuple[str, ...] = ()
    names: Mapping[Symbol, Expression] = field(default_factory=dict)  # counters as people read them
    values: tuple[tuple[str, int], ...] = ()
    basis: Basis = Basis.PROVED

    def readable(self, value: Expression) -> Expression:
        """Return an expression with loop variables in place of counters."""
        return value.substitute(self.names)


def reasons_against(table: LoopTable, row: LoopRow, verdict: LoopVerdict) -> tuple[Culprit, ...]:
    """Return why a loop cannot become a kernel; nothing if it can."""
    found: list[Culprit] = []
    if verdict.verdict is Verdict.SEQ:
        element = verdict.witness.write.element if verdict.witness else "a value"
        detail = f"{element} flows from an iteration to a later one"
        found.append(Culprit("CARRIED_DEP", detail, verdict.place))
    found += verdict.culprits
    reduced = verdict.reduced
    for access in table.inside(row.number):
        symbol = access.root.symbol
        if not access.is_write or symbol is None or symbol.storage not in ("global", "static"):
            continue
        is_scalar = symbol.type.kind not in ("array", "record", "pointer")
        if access.root.kind == "variable" and is_scalar and symbol.name not in reduced:
            culprit = Culprit("WRITES_GLOBAL", f"{symbol.name} is a global variable", access.place)
            if culprit.detail not in [one.detail for one in found]:
                found.append(culprit)
    return tuple(found)


def kernels_of(
    facts: Facts, verdicts: Iterable[LoopVerdict], block: tuple[int, ...] | None = None
) -> list[Kernel]:
    """Return the kernels of a function: its outermost loops that may become one."""
    found: list[Kernel] = []

    def visit(loop: ParallelLoop) -> bool:
        if reasons_against(facts.table, loop.row, loop.verdict):
            return False
        found.append(_Nest(loop).kernel(block))
        return True

    visit_outermost(facts, verdicts, visit)
    return found


class _Nest:
    """One nest on its way to a kernel."""

    def __init__(self, loop: ParallelLoop) -> None:
        self._loop = loop
        self._facts = loop.facts
        self._rows = [loop.row]
        self._reasons: list[Culprit] = []
        while len(self._rows) < _MAX_AXES and self._extend():
            pass

    # The grid

    def _extend(self) -> bool:
        """Add the loop inside of the innermost one to the grid, or note why not."""
        outer = self._rows[-1]
        children = [one for one in self._facts.table.loops if one.parent == outer.number]
        if not children:
            return False
        reason = self._against(outer, children)
        if reason is not None:
            self._reasons.append(reason)
            return False
        self._rows.append(children[0])
        return True

    def _against(self, outer: LoopRow, children: list[LoopRow]) -> Culprit | None:
        first = children[0]
        if len(children) > 1:
            detail = f"{len(children)} loops are inside of the loop in line {outer.place.line}"
            return Culprit("MULTIPLE_INNER", detail, children[1].place)
        verdict = self._loop.verdicts.get(first.place)
        if first.is_inlined or verdict is None:
            detail = "the loop is inside of a called function"
            return Culprit("INNER_NOT_IMMEDIATE", detail, first.place)
        own = first.context.index(Compare(">=", of(first.counter)))
        if own > len(outer.context):
            return Culprit("INNER_NOT_IMMEDIATE", "the loop is inside of a condition", first.place)
        if verdict.verdict not in (Verdict.PAR, Verdict.PRIV):
            detail = f"the loop of {first.variable or first.kind} is {verdict.verdict.value}"
            return Culprit("INNER_CARRIED_DEP", detail, first.place)
        trips = trip_count(first)
        if trips is None:
            return Culprit("NOT_NORMALIZABLE", "no trip count", first.place)
        if loops_of(trips) & {one.number for one in self._rows}:
            detail = f"its trip count {self._shown(trips)} changes in the loops around"
            return Culprit("INNER_BOUND_VARIES", detail, first.place)
        return self._against_between(outer, first)

    def _against_between(self, outer: LoopRow, inner: LoopRow) -> Culprit | None:
        """Return what of the code between two loops cannot be computed by every thread."""
        table = self._facts.table
        written_inside = {one.root for one in table.inside(inner.number) if one.is_write}
        private = {one.name for one in self._loop.verdict.privates if not one.last}
        for access in table.inside(outer.number):
            symbol = access.root.symbol
            if inner.number in access.loops or (symbol is not None and symbol in inner.inductions):
                continue
            is_own = outer.number in access.root.declared_in or access.root.name in private
            if access.is_write and not is_own:
                detail = f"{access.text} is written outside of the inner loop"
                return Culprit("OUTER_WRITES", detail, access.place)
            if not access.is_write and access.root in written_inside:
                detail = f"{access.text} is read outside of the inner loop, which writes it"
                return Culprit("OUTER_READS", detail, access.place)
        return None

    # Names

    def _names(self) -> dict[Symbol, Expression]:
        """Return counters as loop variables: `i - first` for a step of 1, `#i` for others."""
        found: dict[Symbol, Expression] = {}
        for row in self._facts.table.loops:
            name = row.variable or f"line{row.place.line}"
            step = None if row.step is None else row.step.integer
            if row.start is not None and step in (1, -1):
                found[row.counter] = (of(name) - row.start) * step
            else:
                found[row.counter] = of(f"#{name}")
        for _ in found:  # first values of inner loops have counters of outer ones
            found = {one: value.substitute(found) for one, value in found.items()}
        return found

    def _shown(self, value: Expression) -> Expression:
        return value.substitute(self._names())

    # The model

    def kernel(self, block: tuple[int, ...] | None) -> Kernel:
        """Return the nest as a kernel."""
        axes = []
        for row in self._rows:
            trips = trip_count(row)
            variable = row.variable or f"line{row.place.line}"
            axes.append(Axis(variable, row.counter, trips or of(f"trips({variable})"), row.place))
        shape = block if block and len(block) == len(axes) else BLOCKS[len(axes)]
        patterns = Patterns(self._facts, self._rows, axes)
        order = patterns.best_order()
        accesses = patterns.in_order(order)
        shared = SharedMemory(self._facts, self._rows, order, shape)
        return Kernel(
            self._loop.verdict.function,
            self._loop.verdict.place,
            self._loop.verdict.end_line,
            tuple(axes),
            tuple(one.variable for one in order),
            tuple((tuple(a.variable for a in one), c) for one, c in patterns.costs.items()),
            shape,
            parameters_of(self._facts, self._loop.row, self._loop.verdict),
            accesses,
            tuple(shared.of(accesses)),
            tuple(sorted(self._loop.row.callees)),
            tuple(self._reasons),
            tuple(self._loop.verdict.assumptions),
            self._names(),
        )
