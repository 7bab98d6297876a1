"""What does each operation of the octagon library cost, beside PPL's?

Ours has float64 bounds rounded upwards, as PPL's octagons of double are compared with; guards,
assignments and `forget` change a draft in place, as PPL does. "New value, exact" is the same on
integers, a new value each time, the old one kept. PPL closes lazily: where an operation leaves its
octagon open, closing it is timed too, as it is with ours. Inputs: a bound on every difference (one
dense block), two random constraints a variable, and all constraints inside of blocks of 8.

Recorded (field notes of the project: APRON and ELINA, doubles, n = 1024, another machine): on dense
octagons guard 101 and 39 ms, x := y + c 109 and 29 ms, x := x + c 4.4 and 2.5 ms, join 6.7 and
3.7 ms, widening 6.0 and 5.5 ms, inclusion 9.3 and 2.6 ms; on blocks of 8, ELINA's guard 569 ms, its
x := y + c 586 ms, its x := x + c 569 ms.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks import ppl
from benchmarks.harness import Table, measure, seconds
from benchmarks.ppl_operations import Rival
from kleene import Octagon
from kleene.algebra import Linear, expression
from kleene.algebra.cells import stored
from kleene.algebra.edit import Editor
from kleene.kernels import minplus

SIZES = (64, 256, 1024)
LARGEST_PPL = {"all differences": 256, "sparse": 256, "blocks of 8": 1024}
BLOCK = 8
CALLS = 20  # of a short operation in one measurement


def cells(kind: str, n: int, seed: int) -> np.ndarray:
    """Return bounds around a random integer point, not closed; on single variables wide ones."""
    random = np.random.default_rng(seed)
    point = random.integers(-20, 21, n)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    i, j = stored(n)
    kept = i != j
    if kind == "sparse":  # two constraints a variable
        kept &= random.random(len(i)) < 1 / n
    elif kind == "blocks of 8":
        kept &= i // (2 * BLOCK) == j // (2 * BLOCK)
    else:  # bounds on sums as well would leave little more than a box when closed
        kept &= (i ^ j) & 1 == 0
    m = minplus.top(n, np.int64)
    slack = random.integers(0, 20, len(i)) + np.where(i ^ 1 == j, 200, 0)
    m[kept] = (ends[j] - ends[i] + slack)[kept]
    return m


def octagon(m: np.ndarray, kind: str, *, floats: bool) -> Octagon:
    """Return the octagon of these bounds."""
    n = minplus.n_variables(len(m))
    names = tuple(f"x{k}" for k in range(n))
    options: dict[str, Any] = {"reals": names, "floats": True} if floats else {"integers": names}
    draft = Octagon.top(**options).edit()
    step = BLOCK if kind == "blocks of 8" else n
    for start in range(0, n, step):
        part = np.full(minplus.size(step), 0, m.dtype)
        minplus.select(part, m, np.arange(start, start + step))
        dtype = np.float64 if floats else minplus.exact_dtype(step, int(minplus.magnitude(part)))
        part = minplus.convert(np.empty(len(part), dtype), part)
        assert minplus.close(part, tighten=not floats)
        draft.store(names[start : start + step], part, 1)
    return draft.done()


def rival_of(m: np.ndarray) -> Rival:
    """Return PPL's, closed."""
    names = tuple(f"x{k}" for k in range(minplus.n_variables(len(m))))
    made = Rival(ppl.Octagon.of(m), names)
    made.close()
    return made


@dataclass
class Case:
    """An operation: ours in place or on two values, ours exact, and PPL's."""

    name: str
    ours: Callable[[Any], Any]
    exact: Callable[[Octagon, Octagon], Any]
    theirs: Callable[[Rival, Rival], Any]
    is_in_place: bool = True


def cases(a: Octagon) -> list[Case]:
    """Return the operations, for octagons like `a`."""
    low, high = a.bound("x1 - x2")
    middle = Fraction(int((max(low, -50) + min(high, 50)) / 2))
    guard = expression("x1 - x2") - middle
    move, copy = expression("x1 + 3"), expression("x2 + 3")
    return [
        Case(
            "guard x - y <= c",
            lambda draft: draft.guard(guard <= 0),
            lambda one, _: one.meet(guard <= 0),
            lambda rival, _: rival.guard(guard),
        ),
        _assignment("x := x + c", move),
        _assignment("x := y + c", copy),
        Case(
            "forget x",
            lambda draft: draft.forget("x1"),
            lambda one, _: one.forget("x1"),
            lambda rival, _: rival.forget("x1"),
        ),
        Case("join", lambda b: a.join(b), Octagon.join, Rival.join, False),
        Case("meet", lambda b: a.meet(b), Octagon.meet, Rival.meet, False),
    ]


def _assignment(name: str, value: Linear) -> Case:
    return Case(
        name,
        lambda draft: draft.set("x1", value),
        lambda one, _: one.assign("x1", value),
        lambda rival, _: rival.assign("x1", value),
    )


def own_draft(a: Octagon) -> Editor[Octagon]:
    """Return a draft that has its own copy of the block of x1."""
    draft = a.edit()
    draft.set("x1", "x1")
    return draft


def closing(operation: Callable[[Rival, Rival], Any], other: Rival) -> Callable[[Rival], Rival]:
    def done(rival: Rival) -> Rival:
        operation(rival, other)
        rival.close()
        return rival

    return done


def agree(ours: Octagon, theirs: Rival) -> bool:
    """Return whether bounds of some pairs of variables are the same; the doubles are exact here."""
    random = np.random.default_rng(0)
    n = len(theirs.names)
    if ours.is_bottom() or not theirs.close():
        return ours.is_bottom() and not theirs.close()
    for i, j in random.integers(0, 2 * n, (60, 2)).tolist():
        if i >> 1 != j >> 1:
            x, y = theirs.names[j >> 1], theirs.names[i >> 1]
            mine = ours.pair(x, -1 if j & 1 else 1, y, 1 if i & 1 else -1)
            if float(mine) != theirs.inner.bound(i, j):
                return False
    return True


def measured(table: Table, kind: str, n: int) -> None:
    """Add a row for each operation."""
    given = [cells(kind, n, seed) for seed in (n, n + 1)]
    a, b = (octagon(m, kind, floats=True) for m in given)
    exact = [octagon(m, kind, floats=False) for m in given]
    rivals = [rival_of(m) for m in given] if n <= LARGEST_PPL[kind] and not ppl.problem() else []
    for case in cases(a):
        setup = (lambda: own_draft(a)) if case.is_in_place else (lambda: b)
        ours = measure(_done(case), repeat=9, setup=setup)
        extra = {"new value, exact": seconds(_per_call(case, *exact))}
        add(table, f"{kind}: {case.name}", n, ours, extra, case, rivals)
    wider = a.join(b)
    both = rivals[0].copy() if rivals else None
    if both:
        both.join(rivals[1])
        both.close()
    pair = [both, rivals[0]] if both else []
    ours = measure(a.widen, repeat=9, setup=lambda: wider)
    grown = exact[0].join(exact[1])
    extra = {"new value, exact": seconds(measure(exact[0].widen, setup=lambda: grown).min_s)}
    widening = Case("widening", a.widen, Octagon.widen, lambda x, y: x.widen(y), False)
    add(table, f"{kind}: widening, bounds beyond 2", n, ours, extra, widening, pair)
    ours = measure(a.__le__, repeat=9, setup=lambda: wider)
    extra = {"new value, exact": seconds(measure(exact[0].__le__, setup=lambda: grown).min_s)}
    if not both:
        table.row(input=f"{kind}: inclusion", size=f"n = {n}", ours=ours, **extra)
        return
    theirs = measure(lambda other: both.includes(other), repeat=5, setup=lambda: rivals[0])
    same = bool(theirs.result) == bool(ours.result)
    table.row(
        input=f"{kind}: inclusion", size=f"n = {n}", ours=ours, rival="PPL double",
        theirs=theirs, agree=same, **extra,
    )  # fmt: skip


def _done(case: Case) -> Callable[[Any], Any]:
    if not case.is_in_place:
        return case.ours

    def done(draft: Any) -> Any:
        case.ours(draft)
        return draft

    return done


def _per_call(case: Case, a: Octagon, b: Octagon) -> float:
    return measure(lambda: [case.exact(a, b) for _ in range(CALLS)], repeat=5).min_s / CALLS


def add(
    table: Table, name: str, n: int, ours: Any, extra: dict[str, str], case: Case, rivals: list[Any]
) -> None:
    """Add a row, with PPL's times where there are."""
    if not rivals:
        table.row(input=name, size=f"n = {n}", ours=ours, **extra)
        return
    theirs = measure(
        closing(case.theirs, rivals[1]), repeat=1 if n > 256 else 5, setup=rivals[0].copy
    )
    value = ours.result.done() if isinstance(ours.result, Editor) else ours.result
    same = agree(value, theirs.result) if case.name != "widening" else _around(value, theirs.result)
    table.row(
        input=name, size=f"n = {n}", ours=ours, rival="PPL double", theirs=theirs, agree=same,
        **extra,
    )  # fmt: skip


def _around(ours: Octagon, theirs: Rival) -> bool:
    """Return whether no bound of ours is below PPL's, which may stop at -2, -1, 0, 1 and 2."""
    ends = np.random.default_rng(0).integers(0, 2 * len(theirs.names), (60, 2)).tolist()
    return all(
        ours.pair(
            theirs.names[j >> 1], -1 if j & 1 else 1, theirs.names[i >> 1], 1 if i & 1 else -1
        )
        >= theirs.inner.bound(i, j)
        for i, j in ends
        if i >> 1 != j >> 1
    )


def main() -> None:
    table = Table("octagon_operations", __doc__.splitlines()[0])
    for kind in LARGEST_PPL:
        for n in SIZES:
            measured(table, kind, n)
    table.save()
    if reason := ppl.problem():
        print(reason)


if __name__ == "__main__":
    main()
