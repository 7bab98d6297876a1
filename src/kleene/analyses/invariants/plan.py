"""Which domains follow which variables: packs, templates, flags and thresholds of a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
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
)
from kleene.analyses.invariants.numbers import Layout
from kleene.analyses.invariants.operations import Assign, Binary, Check, Choose, Guard, Wrap
from kleene.analyses.invariants.solve import Plan
from kleene.graphs import Graph, weak_topological_order

DOMAINS = ("interval", "octagon", "relational", "partitioned")
_LARGEST_PACK = 16
_MOST_TEMPLATES = 6
_MOST_MARKS = 3
_MOST_VALUES = 4  # of a flag
_MOST_FLAGS = 4


def plan_of(code: Code, domain: str) -> Plan:
    """Return how to run a function's code with one of the `DOMAINS`.

    interval     intervals and residues, Booleans apart
    octagon      and octagons, one for each pack of variables that occur together
    relational   and linear equalities, and templates: forms of the program's own conditions
    partitioned  and states apart by flags, and by whether loops have run before
    """
    kinds, names = list(code.kinds), list(code.names)
    level = DOMAINS.index(domain)
    packs = _packs(code) if level >= 1 else []
    templates = _templates(code, packs, kinds, names) if level >= 2 else {}
    marks, back_edges = _marks(code, kinds, names) if level >= 3 else ({}, frozenset())
    layout = Layout(kinds, names, packs, templates, has_equalities=level >= 2)
    return Plan(
        layout,
        _flags(code, level >= 3, marks),
        _thresholds(code),
        marks=marks,
        back_edges=back_edges,
    )


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
        chosen = sorted({key for key in group if code.kinds[key] != BOOL})
        counts.update(combinations(chosen, 2))
    for step in code.steps:  # what one loop changes is often related, though never compared
        changed = sorted({key for key, _ in step.assignments if code.kinds[key] != BOOL})
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


def _templates(
    code: Code, packs: list[tuple[int, ...]], kinds: list[Kind], names: list[str]
) -> dict[int, Form]:
    """Return variables for forms that octagons do not hold; each joins the pack of its own."""
    found: dict[int, Form] = {}
    seen: set[tuple[tuple[object, int], ...]] = set()
    place_of = {key: place for place, pack in enumerate(packs) for key in pack}
    for form in _candidates(code):
        places = {place_of.get(key, -1) for key in form.keys}
        is_new = form.terms not in seen and form.scaled(-1).terms not in seen
        if len(places) != 1 or -1 in places or not is_new or len(found) == _MOST_TEMPLATES:
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


def _flags(code: Code, all_flags: bool, marks: dict[int, int]) -> list[tuple[int, ...]]:
    """Return the variables that states are kept apart by in each block."""
    chosen = {flag for step in code.steps for flag, _ in step.flags}
    if all_flags:
        chosen.update(_few_valued(code))
    ordered = sorted(chosen)[:_MOST_FLAGS] if all_flags else sorted(chosen)
    always = tuple(sorted(marks.values()))
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


def _marks(
    code: Code, kinds: list[Kind], names: list[str]
) -> tuple[dict[int, int], frozenset[tuple[int, int]]]:
    """Return a flag for each of the first loops, and the edges that lead back."""
    pairs = sorted({(step.source, step.target) for step in code.steps})
    n_blocks = len(code.operations)
    graph = Graph.from_edges(n_blocks, [p[0] for p in pairs], [p[1] for p in pairs])
    order = weak_topological_order(graph)
    place = {node: i for i, node in enumerate(order.order.tolist())}
    ends = order.end.tolist()
    heads = [node for node, i in place.items() if ends[i] > i]
    marks = {}
    for head in heads[:_MOST_MARKS]:
        marks[head] = len(kinds)
        kinds.append(BOOL)
        names.append("")
    back = {
        (source, target)
        for source, target in pairs
        if target in marks
        and place.get(source, -1) >= place[target]
        and place.get(source, -1) < ends[place[target]]
    }
    return marks, frozenset(back)


def _thresholds(code: Code) -> tuple[int, ...]:
    """Return the numbers that the program compares with or assigns, and their neighbours."""
    found: set[int] = {0, 1, -1}

    def add(number: int) -> None:
        found.update((number - 1, number, number + 1))

    for condition in conditions(code):
        for form in forms_of(condition):
            if form.terms:
                divisor = abs(form.terms[0][1]) if len(form.terms) == 1 else 1
                add(-form.constant // divisor)
                add(form.constant // divisor)
    for step in code.steps:
        for _, form in step.assignments:
            if not form.terms:
                add(form.constant)
    return tuple(sorted(_some(found)))


def _some(numbers: Iterable[int], most: int = 40) -> list[int]:
    """Return the numbers that are nearest to 0, if there are too many."""
    return sorted(numbers, key=abs)[:most]
