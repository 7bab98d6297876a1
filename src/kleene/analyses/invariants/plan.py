"""Which domains follow which variables: packs, templates, flags and thresholds of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import gcd

from kleene.analyses.invariants.compile import Code
from kleene.analyses.invariants.expressions import (
    BOOL,
    Both,
    Condition,
    Either,
    Form,
    Kind,
    Relation,
    Same,
    forms_of,
    keys_of,
    negation,
)
from kleene.analyses.invariants.layout import Layout
from kleene.analyses.invariants.operations import (
    AnyValue,
    Assign,
    Binary,
    Check,
    Choose,
    Guard,
    Wrap,
)
from kleene.analyses.invariants.partition import MOST_STATES
from kleene.analyses.invariants.solve import Plan

DOMAINS = ("interval", "octagon", "relational", "partitioned", "predicates")
_LARGEST_PACK = 16
_MOST_TEMPLATES = 6
_MOST_GAUGES = 4
_MOST_MARKS = 3
_MOST_VALUES = 4  # of a flag
_MOST_FLAGS = 4
_MOST_PREDICATES = 3  # of a loop
_MOST_SPLITS = 2
_MOST_THRESHOLDS = 16
_MOST_BOUNDS = 8  # thresholds farther from 0, of one variable
_MOST_FIRST = 6  # thresholds that are assigned outside of edges
_MOST_WAYS = 3  # blocks that are kept apart by the way to them


def plan_of(code: Code, domain: str, gauges: Sequence[Form] = (), unroll: int = 0) -> Plan:
    """Return how to run a function's code with one of the `DOMAINS`; `gauges` are templates, too.

    In each domain, the first `unroll` iterations of every loop are kept apart inside of the loop.

    interval     intervals and residues, Booleans apart
    octagon      and octagons, one for each pack of variables that occur together
    relational   and linear equalities, and templates: forms of the program's own conditions, and
                 of what its loops add
    partitioned  and states apart by flags, and by whether loops have run before
    predicates   and states apart by flags, by conditions of loops where these begin, by tests of
                 unknown values, and by the way to a block that several tests lead to
    """
    kinds, names = list(code.kinds), list(code.names)
    level = DOMAINS.index(domain)
    packs = _packs(code) if level >= 1 else []
    templates = _templates(code, gauges, packs, kinds, names) if level >= 2 else {}
    layout = Layout(
        kinds,
        names,
        packs,
        templates,
        has_equalities=level >= 2,
        modular_bits=_modular_bits(code) if level >= 2 else 0,
    )
    apart = _Apart(code, layout)
    if level == 3:
        apart.by_first_rounds()
    if level >= 4:
        apart.by_predicates()
        apart.by_unknown_values()
        apart.by_ways()
    flags = _flags(code, level >= 3, tuple(apart.own))
    if unroll:
        counts = apart.by_iterations(unroll)
        flags = [(*known, *counts.get(block, ())) for block, known in enumerate(flags)]
    return Plan(
        layout,
        flags,
        _thresholds(code, with_far=level <= 1),
        marks=apart.marks,
        splits=apart.splits,
        iterations=apart.iterations,
        most_states=MOST_STATES * (unroll + 1),
    )


def _modular_bits(code: Code) -> int:
    """Return the fewest bits, 32 or more, of integers that may wrap around."""
    widths = [
        one.kind.width
        for operations in code.operations
        for one in operations
        if isinstance(one, Wrap) and one.kind.width >= 32
    ]
    return min(widths, default=0)


def conditions(code: Code) -> Iterator[Condition]:
    """Yield the conditions of edges, guards and checks."""
    for step in code.steps:
        if step.condition is not None:
            yield step.condition
        yield from (condition for _, condition in step.flags)
    for operations in code.operations:
        for one in operations:
            if isinstance(one, (Guard, Check, Choose)):
                yield one.condition


def _related(code: Code) -> Iterator[tuple[int, ...]]:
    """Yield groups of variables that occur together."""
    for condition in conditions(code):
        for form in forms_of(condition):
            yield form.keys
    for step in code.steps:
        for key, form in step.assignments:
            yield (key, *form.keys)
    for operations in code.operations:
        for one in operations:
            if isinstance(one, (Assign, Wrap)):
                yield (one.target, *one.form.keys)
            elif isinstance(one, (Binary, Choose)):
                yield (one.target, *one.left.keys, *one.right.keys)


def _packs(code: Code) -> list[tuple[int, ...]]:
    """Return disjoint packs of variables that occur together, or in the same loops.

    A pack grows by the pairs that occur together most often, up to a size that closes quickly.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for group in _related(code):
        chosen = sorted({key for key in group if _is_packed(code.kinds[key])})
        counts.update(combinations(chosen, 2))
    for step in code.steps:  # what one loop changes is often related, though never compared
        changed = sorted({key for key, _ in step.assignments if _is_packed(code.kinds[key])})
        counts.update(combinations(changed, 2))
    pack_of: dict[int, set[int]] = {}
    for (a, b), _ in counts.most_common():
        left, right = pack_of.setdefault(a, {a}), pack_of.setdefault(b, {b})
        if left is not right and len(left) + len(right) <= _LARGEST_PACK:
            left |= right
            for key in right:
                pack_of[key] = left
    unique = {id(pack): pack for pack in pack_of.values() if len(pack) > 1}
    return [tuple(sorted(pack)) for pack in unique.values()]


def _is_packed(kind: Kind) -> bool:
    """Return whether octagons may hold a variable: ranks of floating-point numbers are too large.

    That of 1.0 is 1023 * 2**52, and octagons keep twice the bounds, in 64 bits.
    """
    return kind != BOOL and kind.format is None


def _templates(
    code: Code,
    gauges: Sequence[Form],
    packs: list[tuple[int, ...]],
    kinds: list[Kind],
    names: list[str],
) -> dict[int, Form]:
    """Return variables for forms that octagons do not hold; each joins the pack of its own."""
    found: dict[int, Form] = {}
    seen: set[tuple[tuple[object, int], ...]] = set()
    place_of = {key: place for place, pack in enumerate(packs) for key in pack}
    mined = [(form, _MOST_TEMPLATES) for form in _candidates(code)]
    for form, most in (*mined, *((form, _MOST_TEMPLATES + _MOST_GAUGES) for form in gauges)):
        places = {place_of.get(key, -1) for key in form.keys}
        is_new = form.terms not in seen and form.scaled(-1).terms not in seen
        if len(places) != 1 or -1 in places or not is_new or len(found) >= most:
            continue
        seen.add(form.terms)
        place = places.pop()
        number = len(kinds)
        bits = sum(abs(factor) for _, factor in form.terms).bit_length()
        widest = max(kinds[key].width for key in form.keys)
        kinds.append(Kind(widest + bits + 1, False))
        names.append("")
        packs[place] = (*packs[place], number)
        found[number] = Form(form.terms)
    return found


def _candidates(code: Code) -> Iterator[Form]:
    """Yield forms of conditions that are no octagonal constraints, coefficients coprime."""
    for condition in conditions(code):
        if isinstance(condition, Relation | Both | Either | Same):
            for form in forms_of(condition):
                if len(form.terms) < 2:
                    continue
                divisor = gcd(*(factor for _, factor in form.terms))
                terms = tuple((key, factor // divisor) for key, factor in form.terms)
                if len(terms) > 2 or any(abs(factor) != 1 for _, factor in terms):
                    yield Form(terms)


def _flags(code: Code, all_flags: bool, always: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the variables that states are kept apart by in each block."""
    chosen = {flag for step in code.steps for flag, _ in step.flags}
    if all_flags:
        chosen.update(_few_valued(code))
    ordered = sorted(chosen)[:_MOST_FLAGS] if all_flags else sorted(chosen)
    return [
        (*always, *(flag for flag in ordered if flag in code.live[block]))
        for block in range(len(code.operations))
    ]


def _few_valued(code: Code) -> Iterator[int]:
    """Yield variables that edges set to a few numbers, or to conditions, and nothing else sets."""
    values: dict[int, set[int]] = {}
    others: set[int] = set()
    for step in code.steps:
        others.update(step.anything)
        for flag, _ in step.flags:
            values.setdefault(flag, set()).update((0, 1))
        for key, form in step.assignments:
            if form.terms:
                others.add(key)
            else:
                values.setdefault(key, set()).add(form.constant)
    for operations in code.operations:
        for one in operations:
            if isinstance(one, (Choose, Assign)):
                is_flag = isinstance(one, Choose) and not (one.left.terms or one.right.terms)
                if not is_flag:
                    others.add(one.target)
            elif one.sets is not None:
                others.add(one.sets)
    for key, found in values.items():
        if key not in others and 2 <= len(found) <= _MOST_VALUES:
            yield key


class _Apart:
    """What states are kept apart by, besides flags: variables of the analysis' own."""

    def __init__(self, code: Code, layout: Layout) -> None:
        self._code, self._layout = code, layout
        self.own: list[int] = []
        self.marks: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.splits: dict[tuple[int, int], list[tuple[int, Condition]]] = {}
        self.iterations: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._pairs = sorted({(step.source, step.target) for step in code.steps})
        self._loops = {head: frozenset(blocks) for head, blocks in code.loops.items()}

    def _new(self, kind: Kind = BOOL) -> int:
        self._layout.kinds.append(kind)
        self._layout.names.append("")
        self.own.append(len(self._layout.kinds) - 1)
        return self.own[-1]

    def by_first_rounds(self) -> None:
        """Tell the first iteration of each of some loops from the others."""
        for head in list(self._loops)[:_MOST_MARKS]:
            mark = self._new()
            for source, target in self._pairs:
                if target == head:
                    again = int(source in self._loops[head])
                    self.marks.setdefault((source, target), []).append((mark, again))

    def by_iterations(self, most: int) -> dict[int, list[int]]:
        """Count the iterations of each loop up to `most`; return, by block, the counts there.

        Behind a loop its iterations are not told apart.
        """
        counts: dict[int, list[int]] = {}
        for head, blocks in self._loops.items():
            count = self._new(Kind(32, True))
            for block in blocks:
                counts.setdefault(block, []).append(count)
            for source, target in self._pairs:
                if target == head and source in blocks:
                    self.iterations.setdefault((source, target), []).append((count, most))
                elif target == head:
                    self.marks.setdefault((source, target), []).append((count, 0))
        return counts

    def by_predicates(self) -> None:
        """Tell states apart where a loop begins, by conditions that are tested inside."""
        for head in list(self._loops)[:_MOST_MARKS]:
            for condition in self._tested(head)[:_MOST_PREDICATES]:
                mark = self._new()
                for pair in self._pairs:
                    if pair[1] == head:
                        self.splits.setdefault(pair, []).append((mark, condition))

    def _tested(self, head: int) -> list[Condition]:
        """Return conditions of branches that stay inside of a loop, each or its negation once."""
        inside, live = self._loops[head], self._code.live[head]
        found: dict[Condition, None] = {}
        for step in self._code.steps:
            if step.source not in inside or step.target not in inside or step.condition is None:
                continue
            for one in _atoms(step.condition):
                is_new = one not in found and negation(one) not in found
                leaves = any(
                    other.source == step.source and other.target not in inside
                    for other in self._code.steps
                )
                if is_new and not leaves and set(keys_of(one)) <= live:
                    found[one] = None
        return list(found)

    def by_unknown_values(self) -> None:
        """Tell states apart by what is tested of a value from outside, from where it comes in."""
        tests = [
            one
            for condition in conditions(self._code)
            for one in _atoms(condition)
            if len(one.form.terms) == 1 and one.sign != "le"
        ]
        in_loops = frozenset().union(*self._loops.values())
        n_splits = 0
        for block, operations in enumerate(self._code.operations):
            if block in in_loops:
                continue
            for operation in operations:
                if not isinstance(operation, AnyValue) or n_splits == _MOST_SPLITS:
                    continue
                about = [one for one in tests if one.form.keys == (operation.target,)]
                if about and self._split_behind(block, about[0]):
                    n_splits += 1

    def _split_behind(self, block: int, condition: Condition) -> bool:
        keys = set(keys_of(condition))
        chosen = [
            pair for pair in self._pairs if pair[0] == block and keys <= self._code.live[pair[1]]
        ]
        if chosen:
            mark = self._new()
            for pair in chosen:
                self.splits.setdefault(pair, []).append((mark, condition))
        return bool(chosen)

    def by_ways(self) -> None:
        """Tell states apart by the edge that led to a block behind several tests, as of `&&`.

        Where a loop begins they are joined again.
        """
        into: dict[int, list[tuple[int, int]]] = {}
        for step in self._code.steps:
            if step.condition is not None or step.flags:
                into.setdefault(step.target, []).append((step.source, step.target))
        chosen = [block for block, edges in into.items() if len(set(edges)) > 1]
        for block in [one for one in chosen if one not in self._loops][:_MOST_WAYS]:
            mark = self._new(Kind(8, True))
            for number, pair in enumerate(sorted(set(into[block]))[:MOST_STATES]):
                self.marks.setdefault(pair, []).append((mark, number))
            for pair in self._pairs:
                if pair[1] in self._loops:
                    self.marks.setdefault(pair, []).append((mark, 0))


def _atoms(condition: Condition) -> Iterator[Relation]:
    """Yield the comparisons with 0 that a condition is made of."""
    if isinstance(condition, Relation):
        yield condition
    elif isinstance(condition, Both | Either):
        yield from _atoms(condition.left)
        yield from _atoms(condition.right)
    elif isinstance(condition, Same):
        yield from _atoms(condition.left)


def _thresholds(code: Code, *, with_far: bool) -> tuple[int, ...]:
    """Return the numbers that the program compares with or assigns, and their neighbours.

    Those near 0 are first: each may cost an iteration. The domains for which an iteration is cheap
    get the bounds of single variables that are left out by that, too, as `n < 4096`.
    """
    found: set[int] = {0, 1, -1}

    def add(number: int) -> None:
        found.update((number - 1, number, number + 1))

    ranks: set[int] = set()
    bounds: set[int] = set()
    for condition in conditions(code):
        for one in _atoms(condition):
            if one.sign == "le" and len(one.form.terms) == 1:
                bound = -one.form.constant // one.form.terms[0][1]
                bounds.update((bound, bound + 1))  # x < n, and n itself for x + 1
        for form in forms_of(condition):
            if form.terms and code.kinds[form.keys[0]].format is not None:
                if len(form.terms) == 1:
                    ranks.update((-form.constant * form.terms[0][1], form.constant))
            elif form.terms:
                divisor = form.terms[0][1] if len(form.terms) == 1 else 1
                add(-form.constant // divisor)
                add(form.constant // divisor)
    for step in code.steps:
        for key, form in step.assignments:
            if not form.terms and code.kinds[key].format is not None:
                ranks.add(form.constant)
            elif not form.terms:
                add(form.constant)
    first = {  # what memory holds first, and the lengths of constant strings
        one.form.constant
        for operations in code.operations
        for one in operations
        if isinstance(one, Assign) and not one.form.terms and code.kinds[one.target] != BOOL
    }
    near = _some(found)
    far = _some(bounds.difference(near), _MOST_BOUNDS if with_far else 0)
    return tuple(sorted({*near, *far, *_some(ranks), *_some(first, _MOST_FIRST)}))


def _some(numbers: Iterable[int], most: int = _MOST_THRESHOLDS) -> list[int]:
    """Return the numbers that are nearest to 0, if there are too many."""
    return sorted(numbers, key=abs)[:most]
