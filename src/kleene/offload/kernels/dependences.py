"""Dependences between iterations of a loop, exactly where subscripts and guards are affine.

For a loop, an earlier iteration x and a later one y (of the same iteration of all loops around):

| question | answer |
|---|---|
| do x and y conflict? | accesses to the same element, at least one of them a write |
| is a read of y exposed? | no write of y comes before it that writes its element for sure |
| does a value flow from x to y? | y has an exposed read of an element that x writes |

Then the last write before the exposed read is not in y, and not before the loop, so that it is in
an iteration from x to y: without such a pair no value flows between iterations at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kleene.base.expression import ZERO, Expression, Monomial, of
from kleene.ir.loops.symbols import LoopSymbol, loops_of
from kleene.ir.loops.tables import (
    SOMEWHERE,
    Access,
    Compare,
    Condition,
    InRange,
    LoopRow,
    LoopTable,
    Path,
    Root,
    comparisons,
    symbols_of_condition,
)
from kleene.offload.delinearise import delinearised, within
from kleene.offload.kernels.budget import Budget, BudgetError
from kleene.offload.kernels.formulas import NotAffineError, Scope, Side, before, overlap

MAX_OPERATIONS = 1_500_000  # of isl for one loop: about a second
MAX_CHARACTERS = 400_000  # of formulas about one loop: about a second
MAX_PROOF_OPERATIONS = 100_000  # for one fact about a function
MAX_CHEAP_OPERATIONS = 5_000  # for most facts, of which there may be many
MAX_DEAR_PROOFS = 20  # in one function: then only what is cheap is proved about it
MAX_PAIRS = 4_000  # of accesses in one loop


@dataclass
class Conflict:
    """Two accesses that may touch the same element in iterations x < y."""

    first: Access
    second: Access
    is_exact: bool
    has_products: bool
    pairs: Any  # isl.Set over counters of x, then of y
    scope: Scope


@dataclass
class Facts:
    """What of a table is proved before any loop is asked about."""

    table: LoopTable
    assumed: tuple[Condition, ...]
    pairs: Budget = field(default_factory=lambda: Budget(MAX_OPERATIONS, MAX_CHARACTERS))
    bounds: Budget = field(default_factory=lambda: Budget(MAX_OPERATIONS, MAX_CHARACTERS))
    proofs: Budget = field(default_factory=lambda: Budget(MAX_PROOF_OPERATIONS, MAX_CHARACTERS))
    broken: frozenset[Condition] = frozenset()
    unusable: frozenset[int] = frozenset()
    wraps: set[int] = field(default_factory=set)  # sequences of accesses that may wrap
    paths: dict[int, Path | None] = field(default_factory=dict)  # by sequence, if not as written
    loose: dict[int, str] = field(default_factory=dict)  # by sequence: shapes not proved
    taken: dict[int, str] = field(default_factory=dict)  # by sequence: bounds taken for granted
    products: dict[Monomial, str] = field(default_factory=dict)
    registry: dict[str, LoopSymbol] = field(default_factory=dict)  # what parameters stand for
    proved: dict[str, bool] = field(default_factory=dict)  # by the formula
    n_dear: int = 0  # proofs that took more than MAX_CHEAP_OPERATIONS

    @cached_property
    def rows(self) -> dict[int, LoopRow]:
        """The loops by number."""
        return {row.number: row for row in self.table.loops}

    def path(self, access: Access) -> Path | None:
        """Return the subscripts of an access that can be relied on."""
        if access.sequence in self.wraps:
            return None
        return self.paths.get(access.sequence, access.path)

    def path_in_words(self, access: Access) -> Path | None:
        """Return the subscripts of an access as the program has them, if it has any."""
        is_known = access.path is not None and SOMEWHERE not in access.path
        return access.path if is_known else self.path(access)

    def prove(self, context: Iterable[Condition], wanted: Iterable[Condition]) -> bool:
        """Return whether `wanted` is proved to hold whenever `context` does.

        Conditions about other symbols are left out. A proof that takes too long is none.
        """
        wanted = list(wanted)
        side = Side(Scope(frozenset(), self.unusable, self.products), "y")
        held = side.context(_relevant((*self.assumed, *context), wanted), self.broken)
        try:
            refuted = " or ".join(f"not {side.condition(one)}" for one in wanted)
        except NotAffineError:
            return False
        held += [*side.defined.values(), *_ranges(side.scope.parameters), f"({refuted})"]
        key = " and ".join(held)
        if key not in self.proved:
            self.proved[key] = self._is_refuted(side, held)
        return self.proved[key]

    def renew(self) -> None:
        """Begin with another loop: what it asks has its own budget."""
        self.pairs.renew()
        self.bounds.renew()

    def _is_refuted(self, side: Side, held: list[str]) -> bool:
        """Return whether isl sees that nothing holds, first with few operations."""
        import islpy as isl

        for operations in (MAX_CHEAP_OPERATIONS, MAX_PROOF_OPERATIONS):
            if operations > MAX_CHEAP_OPERATIONS:
                if self.n_dear >= MAX_DEAR_PROOFS:
                    break
                self.n_dear += 1
            self.proofs.renew(operations)
            with suppress(BudgetError, isl.Error):
                return bool(self.proofs.make_set([], side.defined, held).is_empty())
        return False


def _relevant(context: Iterable[Condition], wanted: Iterable[Condition]) -> list[Condition]:
    """Return the conditions that have symbols in common with `wanted`, or with one that has."""
    symbols = set().union(*(symbols_of_condition(one) for one in wanted))
    waiting = [(one, symbols_of_condition(one)) for one in context]
    found: list[Condition] = []
    while True:
        near = [one for one in waiting if one[1] & symbols]
        if not near:
            return found
        waiting = [one for one in waiting if not one[1] & symbols]
        found += [one for one, _ in near]
        symbols = symbols.union(*(own for _, own in near))


def _ranges(parameters: dict[str, LoopSymbol]) -> list[str]:
    """Return what the types of atoms say about them."""
    low = [f"{name} >= {atom.low}" for name, atom in parameters.items() if atom.low is not None]
    high = [f"{name} <= {atom.high}" for name, atom in parameters.items() if atom.high is not None]
    return low + high


def _signs(parameters: dict[str, LoopSymbol]) -> list[str]:
    return [f"{name} >= 0" for name, atom in parameters.items() if atom.low == 0]


def facts_of(table: LoopTable, assumed: tuple[Condition, ...]) -> Facts:
    """Return the table with every obligation proved, or what hangs on it marked."""
    facts = Facts(table, assumed)
    broken: set[Condition] = set()
    for row in table.loops:
        _check_conditions(facts, row.context, broken)
    for row in table.loops:
        if not all(facts.prove(row.context, _bounds(one)) for one in row.obligations):
            facts.unusable |= {row.number}
    for access in table.accesses:
        _check_conditions(facts, access.context, broken)
        if not all(facts.prove(access.context, _bounds(one)) for one in access.obligations):
            facts.wraps.add(access.sequence)
    _count_in_elements(facts)
    _delinearise(facts)
    _check_extents(facts)
    return facts


def _count_in_elements(facts: Facts) -> None:
    """Give subscripts to accesses that have none but whose bytes are known, as after a cast.

    `((double *)p)[i]` touches the bytes 8*i ... 8*i + 7 of what p points to. If every access to a
    root touches as many bytes, at a multiple of their number, then bytes/8 are subscripts: two
    accesses share a byte exactly if they are equal.
    """
    by_root: dict[Root, list[Access]] = {}
    for one in facts.table.accesses:
        by_root.setdefault(one.root, []).append(one)
    for accesses in by_root.values():
        if all(one.path is not None and SOMEWHERE not in one.path for one in accesses):
            continue
        sizes = {one.n_bytes for one in accesses}
        offsets = [one.offset for one in accesses]
        size = sizes.pop() if len(sizes) == 1 else None
        if not size or any(one is None or not one.over(size).is_integer for one in offsets):
            continue
        for access, offset in zip(accesses, offsets, strict=True):
            assert offset is not None
            facts.paths[access.sequence] = (offset.over(size),)


def _delinearise(facts: Facts) -> None:
    """Take linearised subscripts apart where every part is proved to stay within its extent."""
    by_nest: dict[tuple[Root, int], list[Access]] = {}
    for access in facts.table.accesses:
        if access.loops and facts.path(access) and not access.root.extents:
            by_nest.setdefault((access.root, access.loops[0]), []).append(access)
    for (root, _), accesses in by_nest.items():
        for position in range(max(len(facts.path(one) or ()) for one in accesses)):
            chosen = [one for one in accesses if _subscript(facts, one, position) is not None]
            subscripts = [_subscript(facts, one, position) for one in chosen]
            found = delinearised([one for one in subscripts if one is not None])
            if found is None:
                continue
            parts, extents = found
            wanted = [within(one, extents) for one in parts]
            if all(
                facts.prove(access.context, conditions)
                for access, conditions in zip(chosen, wanted, strict=True)
            ):
                for access, split in zip(chosen, parts, strict=True):
                    path = facts.path(access) or ()
                    facts.paths[access.sequence] = (*path[:position], *split, *path[position + 1 :])
            else:
                shape = "".join(f"[{one}]" for one in extents)
                for access in chosen:
                    facts.loose[access.sequence] = f"{root.name} is not proved to be [...]{shape}"
            break


def _subscript(facts: Facts, access: Access, position: int) -> Expression | None:
    path = facts.path(access) or ()
    step = path[position] if position < len(path) else None
    return None if isinstance(step, str) else step


def _check_extents(facts: Facts) -> None:
    """Note the subscripts of arrays in arrays that are not proved to stay within their row.

    C leaves it undefined if they do not, so that they may be compared one by one, and this is said.
    A pointer that moves over the rows of an array is common, though: then nothing is compared.
    """
    known: dict[object, bool] = {}
    for access in facts.table.accesses:
        steps = access.path or ()
        if sum(not isinstance(one, str) for one in steps) < 2 or access.sequence in facts.paths:
            continue
        extents = access.root.extents
        if any(isinstance(one, str) for one in steps) or len(steps) > len(extents) + 1:
            extents = (None,) * len(steps)
        for step, extent in zip(steps[1:], extents, strict=False):
            key = (step, extent, access.context)
            if key not in known:
                known[key] = _is_within(facts, access, step, extent)
            if not known[key]:
                if access.through_pointer:
                    facts.wraps.add(access.sequence)
                text = f"the subscripts of {access.root.name} stay within its rows"
                facts.taken.setdefault(access.sequence, text)


def _is_within(
    facts: Facts, access: Access, step: Expression | str, extent: Expression | None
) -> bool:
    if isinstance(step, str):
        return True
    return extent is not None and facts.prove(access.context, within((ZERO, step), (extent,)))


def _bounds(one: InRange) -> tuple[Condition, Condition]:
    return Compare(">=", one.value - one.low), Compare(">=", -one.value + one.high)


def _check_conditions(facts: Facts, context: tuple[Condition, ...], broken: set[Condition]) -> None:
    """Mark the comparisons that hang on obligations which the conditions before do not prove."""
    for number, one in enumerate(context):
        for leaf in comparisons(one):
            if not leaf.obligations or leaf in broken:
                continue
            wanted = [bound for each in leaf.obligations for bound in _bounds(each)]
            if not facts.prove(context[:number], wanted):
                broken.add(leaf)
                facts.broken = frozenset(broken)


class LoopDependences:
    """The dependences of one loop of a table."""

    def __init__(self, facts: Facts, row: LoopRow) -> None:
        self._facts = facts
        self.row = row
        self.inside = facts.table.descendants(row.number)
        accesses = facts.table.inside(row.number)
        self.accesses = [one for one in accesses if row.number not in one.root.declared_in]
        self.written = {one.root for one in self.accesses if one.is_write}
        self._conflicts: dict[tuple[Access, Access], Conflict | None] = {}
        self._exposed: dict[Access, Any] = {}
        self._n_pairs = 0

    def of(self, root: Root) -> list[Access]:
        """Return the accesses to a root: of those alike, the first."""
        found: dict[object, Access] = {}
        for one in self.accesses:
            if one.root is root:
                what = one.is_write, one.update, one.together
                key = (self._facts.path(one), one.context, one.loops, *what)
                found.setdefault(key, one)
        return list(found.values())

    def conflicts(self, root: Root) -> list[Conflict]:
        """Return the pairs of accesses to `root` that may conflict, earlier iteration first."""
        accesses = self.of(root)
        pairs = [(a, b) for a in accesses for b in accesses if a.is_write or b.is_write]
        self._n_pairs += len(pairs)
        if self._n_pairs > MAX_PAIRS:
            raise BudgetError(f"{self._n_pairs} pairs of accesses")
        found = [self.conflict(a, b) for a, b in pairs]
        return [one for one in found if one is not None]

    def conflict(self, first: Access, second: Access) -> Conflict | None:
        """Return when `first` in an iteration and `second` in a later one touch one element."""
        key = (first, second)
        if key not in self._conflicts:
            self._conflicts[key] = self._found_conflict(first, second)
        return self._conflicts[key]

    def _found_conflict(self, first: Access, second: Access) -> Conflict | None:
        facts = self._facts
        if self._is_apart(facts.path(first), facts.path(second)):
            return None
        scope = Scope(self.inside, facts.unusable, facts.products, facts.registry)
        left, right = Side(scope, "x"), Side(scope, "y")
        same = overlap(facts.path(first), left, facts.path(second), right)
        if same is None:
            return None
        x, y = left.counter(self.row.number), right.counter(self.row.number)
        held = [f"{x} < {y}", same, *self._context(first, left), *self._context(second, right)]
        held += [*left.defined.values(), *right.defined.values(), *_signs(scope.parameters)]
        dims = [*self._dims(first, left), *self._dims(second, right)]
        hidden = {*left.changing, *right.changing, *left.defined, *right.defined}
        pairs = facts.pairs.make_set(dims, hidden, held)
        if pairs.is_empty():
            return None
        is_exact = left.is_exact and right.is_exact
        has_products = left.has_products or right.has_products
        return Conflict(first, second, is_exact, has_products, pairs, scope)

    def _is_apart(self, first: Path | None, second: Path | None) -> bool:
        """Return whether two paths differ in any two iterations, without asking isl.

        They do if one subscript is the same sum c*i + r in both, with the loop's counter i, c != 0
        and r the same in all iterations: then c*x + r = c*y + r only for x = y.
        """
        if first is None or second is None or self.row.number in self._facts.unusable:
            return False
        for one, other in zip(first, second, strict=False):
            if isinstance(one, str) or isinstance(other, str):
                if one != other or one == SOMEWHERE:
                    return False
            elif one == other:
                factor = one.coefficient(self.row.counter)
                if factor is not None and factor.integer:
                    rest = one - factor * of(self.row.counter)
                    if not loops_of(rest) & self.inside:
                        return True
        return False

    def _context(self, access: Access, side: Side) -> list[str]:
        facts = self._facts
        return side.context((*facts.assumed, *access.context), facts.broken)

    def _dims(self, access: Access, side: Side) -> list[str]:
        return [side.counter(loop) for loop in access.loops if loop in self.inside]

    def exposed(self, read: Access) -> Any:
        """Return the iterations in which `read` may see what an iteration did not write itself."""
        if read not in self._exposed:
            self._exposed[read] = self._found_exposed(read)
        return self._exposed[read]

    def _found_exposed(self, read: Access) -> Any:
        """Take away from the iterations of a read those in which a write covers it.

        The atoms of an instance of the read are parameters here. A write covers it if it happens
        for sure: its atoms must be those of the read, because they change in no loop but those
        whose counter both share.
        """
        facts = self._facts
        scope = Scope(self.inside, facts.unusable, facts.products, facts.registry)
        side = Side(scope, "y", self.inside)
        held = [*self._context(read, side), *_signs(scope.parameters)]
        steps = side.steps(facts.path(read))
        dims = self._dims(read, side)
        remaining = facts.pairs.make_set(dims, side.defined, [*held, *side.defined.values()])
        if steps is not None and None not in steps:
            for write in self.of(read.root):
                if write.is_write and facts.path(write) is not None:
                    remaining = self._uncovered(remaining, read, write)
        changing = [name for name, atom in scope.parameters.items() if atom.loops & self.inside]
        changing += [
            name
            for monomial, name in facts.products.items()
            if loops_of(Expression({monomial: 1})) & self.inside
        ]
        return _without(remaining, changing)

    def _uncovered(self, remaining: Any, read: Access, write: Access) -> Any:
        shared = [a for a, b in zip(read.loops, write.loops, strict=False) if a == b]
        common = frozenset(shared) & self.inside
        for same in {frozenset([self.row.number]), common}:
            cover = self._cover(read, write, same)
            if cover is not None:
                remaining = remaining.subtract(cover)
        return remaining

    def _cover(self, read: Access, write: Access, same: frozenset[int]) -> Any:
        facts = self._facts
        scope = Scope(self.inside, facts.unusable, facts.products, facts.registry)
        of_read, of_write = Side(scope, "y", self.inside), Side(scope, "x", same)
        read_path, write_path = facts.path(read), facts.path(write)
        if read_path is None or write_path is None or len(write_path) > len(read_path):
            return None  # a part of what is read is not all of it
        if SOMEWHERE in write_path or SOMEWHERE in read_path[: len(write_path)]:
            return None
        touched = overlap(read_path, of_read, write_path, of_write)
        held = self._context(write, of_write)
        if touched is None or not of_write.is_exact or not of_read.exact:
            return None
        order = before(write, of_write, read, of_read, facts.rows, self.row.number)
        held += [touched, order, *of_write.defined.values(), *of_read.defined.values()]
        dims = self._dims(read, of_read)
        own = set(self._dims(write, of_write)) - set(dims)
        hidden = {*own, *of_write.defined, *of_read.defined}
        return facts.pairs.make_set(dims, hidden, held)

    def flow(self, conflict: Conflict) -> Any:
        """Return the pairs of a write and a later read in which a value may flow."""
        import islpy as isl

        exposed = self.exposed(conflict.second)
        n_before = conflict.pairs.dim(isl.dim_type.set) - exposed.dim(isl.dim_type.set)
        lifted = exposed.insert_dims(isl.dim_type.set, 0, n_before)
        return conflict.pairs.intersect(lifted)

    def reaches_every_iteration(self, write: Access) -> bool:
        """Return whether a write to a scalar happens in each iteration of the loop."""
        facts = self._facts
        scope = Scope(self.inside, facts.unusable, facts.products, facts.registry)
        all_, some = Side(scope, "y", self.inside), Side(scope, "y", frozenset([self.row.number]))
        every = all_.context((*facts.assumed, *self.row.context), facts.broken)
        held = self._context(write, some)
        if not some.is_exact:
            return False
        (dim, *own) = self._dims(write, some)
        happens = facts.pairs.make_set(
            [dim], {*own, *some.defined}, [*held, *some.defined.values()]
        )
        needed = facts.pairs.make_set([dim], all_.defined, [*every, *all_.defined.values()])
        return bool(needed.subtract(happens).is_empty())


def _without(found: Any, names: list[str]) -> Any:
    """Return a set whatever the values of some parameters."""
    import islpy as isl

    for name in names:
        position = found.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0:
            found = found.project_out(isl.dim_type.param, position, 1)
    return found
