"""The verdict on each loop: may its iterations run in any order, and after what change?

| verdict | meaning |
|---|---|
| PAR | in any order, as it is written |
| PRIV | if every iteration has its own copy of some variables or arrays |
| COPY | if iterations read some arrays as they were before the loop |
| RED | if partial results of `x = x op e` are combined |
| SEQ | a value flows from one iteration to a later one: there is a witness |
| MAY | neither was proved: there is a culprit |

A verdict holds under the assumptions and overlap checks that are listed with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kleene.base.errors import Span
from kleene.ir.loops.tables import Access, Condition, LoopRow, LoopTable, Refusal, Root, Together
from kleene.offload.kernels.budget import BudgetError
from kleene.offload.kernels.dependences import Conflict, Facts, LoopDependences, facts_of
from kleene.offload.kernels.inputs import ConflictingInput, conflicting_input
from kleene.offload.kernels.overlaps import OverlapCheck, Sections
from kleene.offload.kernels.pointers import Pointers
from kleene.offload.kernels.scans import Scan, scan_of
from kleene.offload.kernels.transformations import Separated, Transformation, Transformations
from kleene.offload.kernels.witness import Witness, witness_of

SIGNED = "signed arithmetic does not overflow"


class Verdict(StrEnum):
    """What may be done with a loop."""

    PAR = "PAR"
    PRIV = "PRIV"
    COPY = "COPY"
    RED = "RED"
    SEQ = "SEQ"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class Private:
    """A variable or array of which every iteration needs a copy of its own."""

    name: str
    is_array: bool = False
    is_first: bool = False  # it begins with the value from before the loop
    last: str = ""  # "last iteration", or "last writing iteration", whose value is used later
    is_counter: bool = False  # of a loop inside: every paralleliser makes it private by itself


@dataclass(frozen=True, slots=True)
class Reduction:
    """A variable or array that iterations add to, or the like.

    With "argmax" and "argmin" the variables of `kept` hold what goes with the extremum; of
    iterations with the same value the one named by `ties` decides.
    """

    operator: str
    name: str
    is_array: bool
    is_floating: bool  # another order of operations rounds differently
    kept: tuple[str, ...] = ()
    ties: str = ""  # "first iteration" or "last iteration"


@dataclass(frozen=True, slots=True)
class Culprit:
    """Why neither a verdict of parallel nor a witness was found."""

    code: str
    detail: str
    place: Span


@dataclass(slots=True)
class LoopVerdict:
    """The verdict on one loop, with everything that it hangs on."""

    function: str
    place: Span
    end_line: int
    depth: int
    variable: str
    kind: str
    verdict: Verdict = Verdict.PAR
    privates: list[Private] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    inductions: list[str] = field(default_factory=list)
    no_overlap: list[tuple[str, str]] = field(default_factory=list)
    overlap_checks: list[OverlapCheck | None] = field(default_factory=list)  # of each such pair
    apart: list[tuple[str, str]] = field(default_factory=list)  # proved by points-to sets
    assumptions: list[str] = field(default_factory=list)
    witness: Witness | None = None
    culprits: list[Culprit] = field(default_factory=list)
    transformations: list[Transformation] = field(default_factory=list)
    conflicting_input: ConflictingInput | None = None
    scans: list[Scan] = field(default_factory=list)

    @property
    def reduced(self) -> set[str]:
        """The names of what is reduced, and of what is kept with an extremum."""
        return {name for one in self.reductions for name in (one.name, *one.kept)}


def verdicts_of(
    table: LoopTable,
    assumed: tuple[Condition, ...] = (),
    *,
    no_alias: bool = False,
    pointers: Pointers | None = None,
) -> list[LoopVerdict]:
    """Return the verdict on every loop of a function, in source order.

    Args:
        table: the loops and accesses of the function.
        assumed: conditions on its parameters that are taken to hold.
        no_alias: whether different pointers are taken to point to different storage.
        pointers: what the program's points-to sets say of them.
    """
    import islpy as isl

    facts = facts_of(table, assumed)
    found: list[LoopVerdict] = []
    decisions: list[_Decision] = []
    for row in table.loops:
        if row.is_inlined:  # its own function has a table
            continue
        made = _blank(table, row)
        found.append(made)
        facts.renew()
        try:
            decision = _Decision(facts, row, made, no_alias, pointers)
            decision.decide()
            decisions.append(decision)
        except (BudgetError, isl.Error) as error:
            detail = str(error).partition("\n")[0]
            made.culprits.append(Culprit("BUDGET", f"isl gave up: {detail}", row.place))
            made.verdict = Verdict.MAY
            made.witness = None
    separated = {one.row.number: one.separated() for one in decisions}
    for decision in decisions:
        facts.renew()
        with suppress(BudgetError, isl.Error):  # nothing is found, then
            decision.transform(separated)
        with suppress(BudgetError, isl.Error):
            decision.search_input()
    return found


def _blank(table: LoopTable, row: LoopRow) -> LoopVerdict:
    rows = {one.number: one for one in table.loops}
    depth, parent = 0, row.parent
    while parent >= 0:
        depth, parent = depth + 1, rows[parent].parent
    return LoopVerdict(row.function, row.place, row.end_line, depth, row.variable, row.kind)


class _Decision:
    """One loop on its way to a verdict."""

    def __init__(
        self,
        facts: Facts,
        row: LoopRow,
        made: LoopVerdict,
        no_alias: bool,
        pointers: Pointers | None,
    ) -> None:
        self._facts = facts
        self.row = self._row = row
        self._made = made
        self._no_alias = no_alias
        self._pointers = pointers
        self._loop = LoopDependences(facts, row)
        self._is_sequential = False
        self._privates: dict[Root, Private] = {}
        self._blamed: list[Root] = []  # whose conflicts stand in the way
        self._hides_conflicts = False  # not all of them are known

    def separated(self) -> Separated:
        """Return the variables and arrays of which every iteration has a copy."""
        temporary = {r for r, one in self._privates.items() if not one.is_first and not one.last}
        counters = {root for root, one in self._privates.items() if one.is_counter}
        is_parallel = self._made.verdict in (Verdict.PAR, Verdict.PRIV)
        own = frozenset(self._privates)
        return Separated(is_parallel, own, frozenset(temporary), frozenset(counters))

    def transform(self, separated: dict[int, Separated]) -> None:
        """Find changes of a loop that is not parallel under which it is."""
        is_open = self._made.verdict in (Verdict.SEQ, Verdict.MAY) and bool(self._blamed)
        if not is_open or self._row.refusals or self._hides_conflicts or not self._row.is_counted:
            return
        search = Transformations(self._facts, self._loop, self.separated(), self._blamed)
        self._made.transformations += search.found(separated)

    def search_input(self) -> None:
        """Find an input for which iterations of a loop conflict, if that is not proved."""
        if self._made.verdict is Verdict.MAY and self._blamed and not self._hides_conflicts:
            conflicts = [one for root in self._blamed for one in self._loop.conflicts(root)]
            self._made.conflicting_input = conflicting_input(self._facts, self._loop, conflicts)

    def decide(self) -> None:
        """Fill in the verdict."""
        made, row = self._made, self._row
        made.culprits += [_refused(one) for one in row.refusals]
        if row.number in self._facts.unusable:
            detail = f"{row.variable} may wrap around"
            made.culprits.append(Culprit("NOT_NORMALIZABLE", detail, row.place))
            self._hides_conflicts = True
        self._check_overlaps()
        for root in sorted(self._loop.written, key=lambda one: one.number):
            if root.kind != "unknown" and not root.loops & self._loop.inside:
                self._judge(root)
        made.inductions = [
            f"{symbol.name} += {step}"
            for symbol, step in row.inductions.items()
            if symbol.name != row.variable
        ]
        made.assumptions = sorted({*made.assumptions, *row.assumptions, *self._loose()})
        made.verdict = self._summary()
        if self._blamed and not row.refusals and not self._hides_conflicts:
            scans = [scan_of(self._loop, root) for root in self._blamed]
            made.scans = [one for one in scans if one is not None] if None not in scans else []

    def _summary(self) -> Verdict:
        made = self._made
        if self._is_sequential:
            return Verdict.SEQ
        if made.culprits:
            return Verdict.MAY
        if made.reductions:
            return Verdict.RED
        if made.copies:
            return Verdict.COPY
        if made.inductions or any(not one.is_counter for one in made.privates):
            return Verdict.PRIV
        return Verdict.PAR

    def _loose(self) -> Iterable[str]:
        """Return what was taken for granted about subscripts of what the loop writes."""
        for one in self._loop.accesses:
            if one.root in self._loop.written and one.sequence in self._facts.taken:
                yield self._facts.taken[one.sequence]

    # Different roots

    def _check_overlaps(self) -> None:
        """Find the pointers whose storage may be that of others, where one of them is written."""
        roots = list({one.root: one for one in self._loop.accesses})
        written = [one for one in roots if one in self._loop.written]
        for root in roots:
            if self._changes(root) and self._meets_another(root, written):
                self._blame_pointer(root)
        settled = [one for one in roots if not self._changes(one)]
        pairs: dict[tuple[str, str], list[tuple[Root, Root]]] = {}
        for number, one in enumerate(settled):
            for other in settled[number + 1 :]:
                if one not in self._loop.written and other not in self._loop.written:
                    continue
                first, second = sorted([one, other], key=lambda root: root.name)
                names = (first.name, second.name)
                if not _may_overlap(one, other):
                    if one.is_restrict or other.is_restrict:
                        self._made.assumptions.append("restrict pointers do not overlap others")
                elif self._are_apart(one, other):
                    self._made.apart = sorted({*self._made.apart, names})
                else:
                    pairs.setdefault(names, []).append((first, second))
        if self._no_alias:
            if pairs:
                self._made.assumptions.append("different pointers do not overlap")
            return
        self._made.no_overlap = sorted(pairs)
        sections = Sections(self._facts, self._loop)
        checks = [_overlap_check(sections, pairs[one]) for one in sorted(pairs)]
        self._made.overlap_checks = checks

    def _meets_another(self, root: Root, written: list[Root]) -> bool:
        """Return whether a pointer that changes may reach what it, or another, writes."""
        return root in self._loop.written or any(
            _may_overlap(root, one) and not self._are_apart(root, one) for one in written
        )

    def _are_apart(self, first: Root, second: Root) -> bool:
        table = self._facts.table
        return self._pointers is not None and self._pointers.are_apart(table, first, second)

    def _changes(self, root: Root) -> bool:
        return root.kind == "unknown" or bool(root.loops & self._loop.inside)

    def _blame_pointer(self, root: Root) -> None:
        access = next(one for one in self._loop.accesses if one.root is root)
        self._hides_conflicts = True
        detail = f"{access.text} may point to storage that other iterations use"
        culprit = Culprit("UNKNOWN_POINTER", detail, access.place)
        if culprit not in self._made.culprits:
            self._made.culprits.append(culprit)

    # One root

    def _judge(self, root: Root) -> None:
        conflicts = self._loop.conflicts(root)
        if not conflicts:
            return
        if (update := _one_update(conflicts)) is not None:
            operator, together = update
            if together is None:
                self._reduce(root, operator)
                return
            if self._is_chosen(update):
                if root is together.roots[0]:
                    self._reduce(root, f"arg{operator}", together)
                return
        flowing = [one for one in conflicts if one.first.is_write and not one.second.is_write]
        for conflict in flowing:
            pairs = self._loop.flow(conflict)
            if not pairs.is_empty():
                self._blame(root, conflict, pairs)
                return
        self._separate(root, conflicts)

    def _reduce(self, root: Root, operator: str, together: Together | None = None) -> None:
        accesses = self._loop.of(root)
        is_array = any(one.path != () for one in accesses)
        is_floating = any(one.is_floating for one in accesses if one.update)
        kept: tuple[str, ...] = ()
        ties = ""
        if together is not None:
            kept = tuple(one.name for one in together.roots[1:])
            ties = f"{'first' if together.is_first else 'last'} iteration"
            is_floating = False  # values are compared, not computed
        found = Reduction(operator, root.name, is_array, is_floating, kept, ties)
        self._made.reductions.append(found)

    def _is_chosen(self, update: tuple[str, Together | None]) -> bool:
        """Return whether nothing but one kind of choice uses an extremum and what goes with it.

        If another statement changed or read one of the variables, it would have to see what the
        iterations before chose.
        """
        _, together = update
        assert together is not None
        return all(_one_update(self._loop.conflicts(one)) == update for one in together.roots)

    def _blame(self, root: Root, conflict: Conflict, pairs: Any) -> None:
        writes = [one for one in self._loop.of(root) if one.is_write]
        is_certain = (
            conflict.is_exact
            and not conflict.has_products
            and all(self._is_exact(one) for one in writes)
        )
        self._blamed.append(root)
        witness = witness_of(self._facts, self._row, conflict, pairs) if is_certain else None
        if witness is not None:
            self._is_sequential = True
            self._made.witness = self._made.witness or witness
            return
        self._made.culprits.append(self._suspect(root, conflict))

    def _is_exact(self, access: Access) -> bool:
        """Return whether it is known when and where an access happens."""
        same = self._loop.conflict(access, access)
        return same is None or same.is_exact

    def _suspect(self, root: Root, conflict: Conflict) -> Culprit:
        for access in (conflict.first, conflict.second):
            if access.sequence in self._facts.wraps:
                return Culprit("WRAPS", f"the subscript of {access.text} may wrap", access.place)
            if access.sequence in self._facts.loose:
                return Culprit("LINEARISED", self._facts.loose[access.sequence], access.place)
            if not self._is_exact(access):
                detail = f"{access.text} is not affine, or not always executed"
                return Culprit("NOT_AFFINE", detail, access.place)
        detail = f"{conflict.first.text} and {conflict.second.text} may be the same"
        return Culprit("NOT_AFFINE", detail, conflict.second.place)

    def _separate(self, root: Root, conflicts: list[Conflict]) -> None:
        """No value flows: copies of the root take the remaining conflicts away."""
        accesses = self._loop.of(root)
        reads = [one for one in accesses if not one.is_write]
        is_exposed = any(not self._loop.exposed(one).is_empty() for one in reads)
        is_scalar = all(one.path == () for one in accesses)
        for one in conflicts:
            is_last_unknown = one.first.is_write and one.second.is_write and not one.is_exact
            if is_last_unknown and not is_scalar and self._is_used_later(root):
                self._blamed.append(root)
                self._made.culprits.append(self._suspect(root, one))
                return
        if is_exposed and not is_scalar:
            self._made.copies.append(root.name)
            return
        is_counter = root.symbol is not None and any(
            root.symbol in row.inductions
            for row in self._facts.table.loops
            if row.number in self._loop.inside and row is not self._row
        )
        last = self._last(root, accesses, is_scalar) if self._is_used_later(root) else ""
        private = Private(root.name, not is_scalar, is_exposed, last, is_counter)
        self._made.privates.append(private)
        self._privates[root] = private

    def _is_used_later(self, root: Root) -> bool:
        if root.kind != "variable" or root.is_exposed:
            return True
        return any(
            one.root is root and not one.is_write and self._row.number not in one.loops
            for one in self._facts.table.accesses
        )

    def _last(self, root: Root, accesses: list[Access], is_scalar: bool) -> str:
        writes = [one for one in accesses if one.is_write]
        if is_scalar and any(self._loop.reaches_every_iteration(one) for one in writes):
            return "last iteration"
        return "last writing iteration"


def _overlap_check(sections: Sections, roots: list[tuple[Root, Root]]) -> OverlapCheck | None:
    if len(roots) > 1:
        return None  # one name for several pointers
    return sections.overlap_check(*roots[0])


def _refused(refusal: Refusal) -> Culprit:
    return Culprit(refusal.reason.value, refusal.detail, refusal.place)


def _may_overlap(first: Root, second: Root) -> bool:
    """Return whether two roots may be the same storage, or share some."""
    if first.kind == "variable" and second.kind == "variable":
        return False
    for one in (first, second):
        if one.kind == "variable" and not one.is_exposed:
            return False
    return not (first.is_restrict or second.is_restrict)


def _one_update(conflicts: list[Conflict]) -> tuple[str, Together | None] | None:
    """Return the operation if all conflicts are between updates with the same one."""
    updates = {(one.update, one.together) for c in conflicts for one in (c.first, c.second)}
    operator, together = updates.pop() if len(updates) == 1 else (None, None)
    return None if operator is None else (operator, together)
