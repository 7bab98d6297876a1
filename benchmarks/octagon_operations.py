"""What does each operation of the octagon library cost, beside PPL's?

Both are called from Python, PPL through ctypes, with closed octagons, and with expressions and
constraints made before the clock runs. PPL's octagons are of double; ours have float64 bounds
rounded upwards, and beside that exact integers. PPL closes lazily: after every operation its
octagon is closed, in the time, as ours always are. "In place" changes a builder, and PPL's octagon;
"new value" leaves the old one as it was: PPL copies it first. Values keep a table of their parts
once it was needed: a join or comparison of components of 8 finds it there, as the second one of any
two values does; "both new" makes the tables of both anew.

Inputs: "dense", where every bound on two variables says more than those on each; two random
constraints a variable, "sparse"; all constraints inside of components of 8.

Recorded (field notes of the project: APRON and ELINA, doubles, n = 1024, another machine): on dense
octagons guard 101 and 39 ms, x := y + c 109 and 29 ms, x := x + c 4.4 and 2.5 ms, join 6.7 and
3.7 ms, widening 6.0 and 5.5 ms, inclusion 9.3 and 2.6 ms; on components of 8, ELINA's guard 569 ms,
its x := y + c 586 ms, its x := x + c 569 ms.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks import ppl
from benchmarks.harness import Measurement, Table, measure, seconds
from benchmarks.ppl_operations import Rival
from kleene import Octagon
from kleene.algebra import Linear, expression, variables
from kleene.algebra.builder import Builder
from kleene.algebra.dbm import converted, magnitude, stored
from kleene.algebra.partition import Kinds
from kleene.kernels import minplus

SIZES = (64, 128, 256, 512, 1024)
KINDS = ("dense", "sparse", "components of 8")
BLOCK = 8
CALLS = 50  # of a short operation in one measurement
REPEAT = 21
ROUNDS = 5  # of ours and PPL's in turn: what else the machine does then slows both
SLOW_S = 0.005  # what takes longer is called once in a measurement
X, Y = "x0001", "x0002"
N_BRANCH = 200  # variables of a state that is joined with one that differs in one of them


def cells(kind: str, n: int, seed: int) -> np.ndarray:
    """Return bounds around a random integer point, not closed; on single variables wide ones."""
    random = np.random.default_rng(seed)
    point = random.integers(-20, 21, n)
    ends = np.stack([point, -point], axis=1).reshape(-1)
    i, j = stored(n)
    kept = i != j
    if kind == "sparse":  # two constraints a variable
        kept &= random.random(len(i)) < 1 / n
    elif kind == "components of 8":
        kept &= i // (2 * BLOCK) == j // (2 * BLOCK)
    else:  # a star around the first variable: closed, it bounds all differences and sums
        kept &= (j >> 1 == 0) & (i >> 1 != 0)
    m = minplus.top(n, np.int64)
    slack = random.integers(0, 20, len(i)) + np.where(i ^ 1 == j, 200, 0)
    if kind == "dense":  # wide enough for no bound on two to follow from those on each
        slack = random.integers(20, 41, len(i)) + np.where((i ^ j) & 1, 40, 0)
    m[kept] = (ends[j] - ends[i] + slack)[kept]
    return m


def octagon(m: np.ndarray, kind: str, start: Octagon) -> Octagon:
    """Return the octagon of these bounds, of the variables and numbers of `start`."""
    n, floats = minplus.n_variables(len(m)), start.is_float
    names = tuple(start.variables)
    builder = start.builder()
    step = BLOCK if kind == "components of 8" else n
    for first in range(0, n, step):
        part = np.full(minplus.size(step), 0, m.dtype)
        minplus.select(part, m, np.arange(first, first + step))
        dtype = np.float64 if floats else minplus.exact_dtype(step, magnitude(part))
        part = converted(part, np.dtype(dtype))
        assert minplus.close(part, tighten=not floats)
        builder.store(names[first : first + step], part, 1, Kinds(not floats, False))
    return builder.build()


def rival_of(m: np.ndarray, names: tuple[str, ...]) -> Rival:
    """Return PPL's, closed."""
    made = Rival(ppl.Octagon.of(m), names)
    made.close()
    return made


def per_call(fn: Callable[[], Any], calls: int) -> Measurement:
    """Return the times of one call of many."""

    def many() -> Any:
        for _ in range(calls - 1):
            fn()
        return fn()

    found = measure(many, repeat=REPEAT)
    times = {name: value / calls for name, value in found.times().items() if name != "first_s"}
    return replace(found, **times)


def in_turn(
    ours: Callable[[], Measurement], theirs: Callable[[], Measurement] | None
) -> tuple[Measurement, Measurement | None]:
    """Return the times of both: in several rounds, where PPL's are short."""
    if theirs is None:
        return ours(), None
    rounds = [(ours(), theirs())]
    while len(rounds) < ROUNDS and rounds[0][1].median_s < SLOW_S:
        rounds.append((ours(), theirs()))
    mine, others = zip(*rounds, strict=True)
    return together(mine), together(others)


def together(found: Sequence[Measurement]) -> Measurement:
    """Return the median, least and greatest of several measurements."""
    return replace(
        found[0],
        median_s=median(one.median_s for one in found),
        min_s=min(one.min_s for one in found),
        max_s=max(one.max_s for one in found),
    )


@dataclass
class Case:
    """One operation on both; `ours` is given a builder or a value, `theirs` an octagon."""

    name: str
    ours: Callable[[Any, Octagon], Any]
    theirs: Callable[[Rival, Rival], Any]
    in_place: bool = True
    again: bool = True  # whether it can be done again and again, and costs the same


def cases(a: Octagon, rival: Rival | None) -> list[Case]:
    """Return the operations, for octagons like `a`."""
    low, high = a.bound(f"{X} - {Y}")
    tight = expression(f"{X} - {Y}") - int((max(low, -50) + min(high, 50)) // 2)
    wide = expression(f"{X} - {Y}") - (10_000 if high > 10_000 else int(high))
    found = [
        _guard("guard x - y <= c", tight, rival, again=False),
        _assignment("x := x + c", expression(f"{X} + 3"), rival),
        _assignment("x := y + c", expression(f"{Y} + 3"), rival),
        _assignment("x := c", expression("3"), rival),
        Case("forget x", lambda builder, _: builder.forget(X), lambda one, _: one.forget(X)),
        Case("join", lambda one, b: one.join(b), Rival.join, in_place=False),
        Case("meet", lambda one, b: one.meet(b), Rival.meet, in_place=False, again=False),
    ]
    if high <= 10_000:
        found.insert(1, _guard("guard that holds", wide, rival, again=True))
    if len(a.table().parts) == 1:
        found.append(Case("join in place", lambda builder, b: builder.join(b), Rival.join))
    return found


def _guard(name: str, value: Linear, rival: Rival | None, *, again: bool) -> Case:
    constraint, theirs = value <= 0, rival and rival.prepared_guard(value)
    return Case(
        name, lambda builder, _: builder.guard(constraint), lambda one, _: theirs(one), again=again
    )


def _assignment(name: str, value: Linear, rival: Rival | None) -> Case:
    theirs = rival and rival.prepared_image(X, value)
    return Case(name, lambda builder, _: builder.set(X, value), lambda one, _: theirs(one))


def own_builder(a: Octagon) -> Builder[Octagon]:
    """Return a builder that has its own copy of the component of x."""
    builder = a.builder()
    builder.set(X, X)
    return builder


def ours_of(case: Case, a: Octagon, b: Octagon, calls: int) -> Measurement:
    """Return our times, and the value that comes out."""
    if not case.in_place:
        return per_call(lambda: case.ours(a, b), calls if case.again else 1)
    builder = own_builder(a)
    case.ours(builder, b)
    value = builder.build()
    if case.again:
        changed = own_builder(a)
        return replace(per_call(lambda: case.ours(changed, b), calls), result=value)
    found = measure(lambda one: case.ours(one, b), repeat=7, setup=lambda: own_builder(a))
    return replace(found, result=value)


def theirs_of(case: Case, a: Rival, b: Rival, calls: int) -> Measurement:
    """Return PPL's times, and the octagon that comes out."""

    def done(one: Rival) -> Rival:
        case.theirs(one, b)
        one.close()
        return one

    repeat = 7 if len(a.names) <= 256 else 3 if len(a.names) <= 512 else 2
    if not case.again and case.in_place:
        return measure(done, repeat=repeat, setup=a.copy)
    if not case.again:
        return measure(lambda: done(a.copy()), repeat=repeat)
    changed = a.copy()
    again = (lambda: done(changed)) if case.in_place else (lambda: done(a.copy()))
    first = measure(done, repeat=1, setup=a.copy)
    if first.median_s > SLOW_S:
        return replace(measure(again, repeat=repeat), result=first.result)
    return replace(per_call(again, calls), result=first.result)


def agree(ours: Octagon, theirs: Rival) -> bool:
    """Return whether bounds of some pairs of variables are the same; the doubles are exact here."""
    if ours.is_bottom() or not theirs.close():
        return ours.is_bottom() and not theirs.close()
    return all(mine == other for mine, other in _some_bounds(ours, theirs))


def _some_bounds(ours: Octagon, theirs: Rival) -> list[tuple[float, float]]:
    ends = np.random.default_rng(0).integers(0, 2 * len(theirs.names), (60, 2)).tolist()
    ends += [[2, 4], [3, 5], [2, 5], [4, 2]]  # of x and y
    found = []
    for i, j in ends:
        if i >> 1 != j >> 1:
            x, y = theirs.names[j >> 1], theirs.names[i >> 1]
            mine = ours.pair(x, -1 if j & 1 else 1, y, 1 if i & 1 else -1)
            found.append((float(mine), theirs.inner.bound(i, j)))
    return found


def measured(table: Table, kind: str, n: int) -> None:
    """Add a row for each operation."""
    names = tuple(f"x{k:04}" for k in range(n))
    starts = Octagon.top(reals=names, floats=True), Octagon.top(names)
    given = [cells(kind, n, seed) for seed in (n, n + 1)]
    (a, b), exact = ([octagon(m, kind, start) for m in given] for start in starts)
    rivals = [] if ppl.problem() else [rival_of(m, names) for m in given]
    calls = max(1, CALLS * 64 // n)
    for case in cases(a, rivals[0] if rivals else None):
        extra = {"exact integers": seconds(ours_of(case, *exact, calls).median_s)}
        name = f"{kind}: {case.name}" + (", in place" if case.in_place else ", new value")
        name = name.replace("in place, in place", "in place")
        ours, theirs = in_turn(
            partial(ours_of, case, a, b, calls),
            partial(theirs_of, case, *rivals, calls) if rivals else None,
        )
        add(table, name, n, ours, theirs, agree, extra)
    if kind == "components of 8":
        first_join(table, kind, n, a, b, exact)
    pairs(table, kind, n, a, b, exact, rivals)


def add(
    table: Table,
    name: str,
    n: int,
    ours: Measurement,
    theirs: Measurement | None,
    same: Callable[[Any, Any], bool],
    extra: dict[str, str],
) -> None:
    """Add a row, with PPL's times where there are."""
    if theirs is None:
        table.row(input=name, size=f"n = {n}", ours=ours, **extra)
        return
    table.row(
        input=name, size=f"n = {n}", ours=ours, rival="PPL double", theirs=theirs,
        agree=same(ours.result, theirs.result), **extra,
    )  # fmt: skip


def first_join(
    table: Table, kind: str, n: int, a: Octagon, b: Octagon, exact: list[Octagon]
) -> None:
    """Add a row for a join of two values that were never joined or compared."""

    def joined(one: Octagon, other: Octagon) -> Measurement:
        def fresh() -> tuple[Octagon, Octagon]:
            return one.builder().build(), other.builder().build()

        return measure(lambda both: both[0].join(both[1]), setup=fresh)

    extra = {"exact integers": seconds(joined(*exact).median_s)}
    table.row(input=f"{kind}: join, both new", size=f"n = {n}", ours=joined(a, b), **extra)


def joins_of_branches(table: Table) -> None:
    """Add rows for joining states that differ in the component of one variable, as branches do.

    In components of 8, and in a box, whose components are single variables; by names, and by ids.
    """
    names = tuple(f"x{k:04}" for k in range(N_BRANCH))
    for keys, start in (("names", Octagon.top(names)), ("ids", Octagon.top(N_BRANCH))):
        first = tuple(start.variables)[3]
        by_eights = octagon(cells("components of 8", N_BRANCH, 1), "components of 8", start)
        box = start.meet(*(one <= k for k, one in enumerate(variables(start.variables))))
        for kind, a in (("components of 8", by_eights), ("box", box)):
            b = a.assign(first, Linear.of(7))
            ours = per_call(partial(_joined_anew, a, b), CALLS)
            table.row(
                input=f"{kind}: join of branches, by {keys}", size=f"n = {N_BRANCH}", ours=ours
            )


def _joined_anew(a: Octagon, b: Octagon) -> Octagon:
    """Return the join of new values: no table of their parts is kept yet."""
    return a.builder().build().join(b.builder().build())


def pairs(
    table: Table,
    kind: str,
    n: int,
    a: Octagon,
    b: Octagon,
    exact: list[Octagon],
    rivals: list[Rival],
) -> None:
    """Add the rows of operations on a value and a greater one."""
    wider, grown = a.join(b), exact[0].join(exact[1])
    both, theirs = None, None
    if rivals:
        both = rivals[0].copy()
        both.join(rivals[1])
        both.close()
        widening = Case("widening", a.widen, lambda x, y: x.widen(y), in_place=False, again=False)
        theirs = theirs_of(widening, both, rivals[0], 1)
    extra = {"exact integers": seconds(measure(lambda: exact[0].widen(grown)).median_s)}
    ours = measure(lambda: a.widen(wider))
    add(table, f"{kind}: widening, bounds beyond 2", n, ours, theirs, _around, extra)
    calls = max(1, CALLS * 64 // n)
    for name, large in (("inclusion that holds", "wider"), ("inclusion that does not", "other")):
        ours_large = wider if large == "wider" else b
        exact_large = grown if large == "wider" else exact[1]
        took = per_call(lambda big=exact_large: exact[0] <= big, calls).median_s
        big = both if large == "wider" else rivals and rivals[1]
        ours, theirs = in_turn(
            partial(per_call, lambda big=ours_large: a <= big, calls),
            partial(per_call, partial(big.includes, rivals[0]), calls) if big else None,
        )
        extra = {"exact integers": seconds(took)}
        same = lambda x, y: bool(x) == bool(y)  # noqa: E731
        add(table, f"{kind}: {name}", n, ours, theirs, same, extra)


def _around(ours: Octagon, theirs: Rival) -> bool:
    """Return whether no bound of ours is below PPL's, which may stop at -2, -1, 0, 1 and 2."""
    return all(mine >= other for mine, other in _some_bounds(ours, theirs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--kinds", default=",".join(KINDS))
    chosen = parser.parse_args()
    table = Table("octagon_operations", __doc__.splitlines()[0])
    for kind in chosen.kinds.split(","):
        for n in map(int, chosen.sizes.split(",")):
            measured(table, kind, n)
    joins_of_branches(table)
    table.save()
    if reason := ppl.problem():
        print(reason)


if __name__ == "__main__":
    main()
