"""Machine integers against every concrete result: exhaustively at 4 bits, sampled up to 64."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.algebra import Interval, Octagon, variable
from kleene.algebra.machine_integers import (
    PREDICATES,
    MachineInterval,
    assign,
    assume,
    cast,
    negated,
)

Concrete = Callable[[int, int, int], int | None]
POISON = -(10**9)  # any value may come out


def signed(value: int, width: int) -> int:
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    return value % (1 << width)


def division(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def sdiv(x: int, y: int, width: int) -> int | None:
    return None if y == 0 or (x == -(1 << width - 1) and y == -1) else division(x, y)


def srem(x: int, y: int, width: int) -> int | None:
    return None if sdiv(x, y, width) is None else x - y * division(x, y)


def of_unsigned(compute: Callable[[int, int], int | None]) -> Concrete:
    def concrete(x: int, y: int, width: int) -> int | None:
        return compute(unsigned(x, width), unsigned(y, width))

    return concrete


def shift(compute: Callable[[int, int, int], int]) -> Concrete:
    def concrete(x: int, y: int, width: int) -> int | None:
        by = unsigned(y, width)
        return POISON if by >= width else compute(x, by, width)

    return concrete


CONCRETE: dict[str, Concrete] = {
    "add": lambda x, y, _: x + y,
    "sub": lambda x, y, _: x - y,
    "mul": lambda x, y, _: x * y,
    "and_": lambda x, y, _: x & y,
    "or_": lambda x, y, _: x | y,
    "xor": lambda x, y, _: x ^ y,
    "udiv": of_unsigned(lambda x, y: x // y if y else None),
    "urem": of_unsigned(lambda x, y: x % y if y else None),
    "sdiv": sdiv,
    "srem": srem,
    "shl": shift(lambda x, by, _: x << by),
    "lshr": shift(lambda x, by, width: unsigned(x, width) >> by),
    "ashr": shift(lambda x, by, _: x >> by),
}
EXACT = CONCRETE.keys() - {"mul", "urem", "srem"}
COMPARE = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le}
COMPARE |= {"gt": operator.gt, "ge": operator.ge}


def holds(predicate: str, x: int, y: int, width: int) -> bool:
    if predicate.startswith("u"):
        x, y = unsigned(x, width), unsigned(y, width)
    return COMPARE[predicate if predicate in ("eq", "ne") else predicate[1:]](x, y)


def intervals(width: int) -> list[MachineInterval]:
    values = range(-(1 << width - 1), 1 << width - 1)
    return [MachineInterval(width, low, high) for low in values for high in values if low <= high]


def least_around(results: list[int | None], width: int) -> MachineInterval:
    """Return the best abstraction of concrete results."""
    if POISON in results:
        return MachineInterval.top(width)
    found = [signed(one, width) for one in results if one is not None]
    if not found:
        return MachineInterval.bottom(width)
    return MachineInterval(width, min(found), max(found))


def table_of(name: str, width: int) -> dict[tuple[int, int], int | None]:
    values = range(-(1 << width - 1), 1 << width - 1)
    return {(x, y): CONCRETE[name](x, y, width) for x in values for y in values}


def ends(found: list[int | None], width: int) -> tuple[int, int]:
    one = least_around(found, width)
    return one.low, one.high


def best_of(table: dict[tuple[int, int], int | None], width: int) -> dict[object, MachineInterval]:
    """Return the best abstraction for every pair of intervals, joined from smaller ones."""
    best: dict[object, MachineInterval] = {}
    rows: dict[object, MachineInterval] = {}
    for a in intervals(width):
        for y in range(-(1 << width - 1), 1 << width - 1):
            before = rows.get((a.low, a.high - 1, y), MachineInterval.bottom(width))
            rows[a.low, a.high, y] = before.join(least_around([table[a.high, y]], width))
        for b in intervals(width):
            before = best.get((a, b.low, b.high - 1), MachineInterval.bottom(width))
            best[a, b.low, b.high] = before.join(rows[a.low, a.high, b.high])
    return best


@pytest.mark.parametrize("name", sorted(CONCRETE))
def test_every_operation_on_every_interval_of_four_bits(name):
    width = 4
    table = table_of(name, width)
    best = best_of(table, width)
    for a in intervals(width):
        for b in intervals(width):
            found, least = getattr(a, name)(b), best[a, b.low, b.high]
            assert least <= found, (a, b)
            products = _fits(a, b) if name == "mul" else b.is_constant() and "rem" in name
            if name in EXACT or products:
                assert found == least, (a, b)


def _fits(a: MachineInterval, b: MachineInterval) -> bool:
    full = MachineInterval.top(a.width)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return full.low <= min(corners) and max(corners) <= full.high


@pytest.mark.parametrize("name", ["add", "sub", "mul", "shl"])
@pytest.mark.parametrize("flags", [("nsw",), ("nuw",), ("nsw", "nuw")])
def test_flags_leave_out_results_that_wrap_and_no_others(name, flags):
    width = 3
    for a in intervals(width):
        for b in intervals(width):
            found = getattr(a, name)(b, **dict.fromkeys(flags, True))
            kept = []
            for x in range(a.low, a.high + 1):
                for y in range(b.low, b.high + 1):
                    kept += _unwrapped(name, x, y, flags, width)
            least = least_around(kept, width)
            assert least <= found, (a, b)
            if name != "mul" and len(flags) == 1:
                assert found == least, (a, b)


def _unwrapped(name, x, y, flags, width) -> list[int]:
    result = CONCRETE[name](x, y, width)
    if result == POISON:
        return [POISON]
    plain = CONCRETE[name](unsigned(x, width), unsigned(y, width), width)
    if "nsw" in flags and signed(result, width) != result:
        return []
    return [] if "nuw" in flags and not 0 <= plain < 1 << width else [result]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", sorted(CONCRETE))
def test_one_and_two_bits(name, width):
    best = best_of(table_of(name, width), width)
    for a in intervals(width):
        for b in intervals(width):
            found = getattr(a, name)(b)
            assert best[a, b.low, b.high] <= found, (a, b)
            assert name not in EXACT or found == best[a, b.low, b.high]


@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons_and_guards_are_exact(predicate):
    width = 3
    for a in intervals(width):
        for b in intervals(width):
            pairs = [(x, y) for x in range(a.low, a.high + 1) for y in range(b.low, b.high + 1)]
            kept = [pair for pair in pairs if holds(predicate, *pair, width)]
            some, every = bool(kept), len(kept) == len(pairs)
            assert a.compare(predicate, b) is (None if some and not every else every)
            x, y = a.assume(predicate, b)
            assert x == least_around([pair[0] for pair in kept], width)
            assert y == least_around([pair[1] for pair in kept], width)


@pytest.mark.parametrize("width", [1, 3, 4])
def test_casts_are_exact(width):
    for a in intervals(width):
        values = range(a.low, a.high + 1)
        for to in range(1, width + 1):
            assert a.trunc(to) == least_around(list(values), to)
        for to in (width + 1, 9):
            assert a.sext(to) == least_around(list(values), to)
            assert a.zext(to) == least_around([unsigned(x, width) for x in values], to)


def test_nothing_gives_nothing():
    nothing, some = MachineInterval.bottom(8), MachineInterval.of(8, 1, 3)
    for name in CONCRETE:
        assert getattr(nothing, name)(some).is_bottom(), name
        assert getattr(some, name)(nothing).is_bottom(), name
    assert nothing.zext(16).is_bottom()
    assert nothing.trunc(4).is_bottom()
    assert nothing.sext(16).is_bottom()
    assert nothing.neg().is_bottom()
    assert some.compare("eq", nothing) is None
    assert some.sdiv(MachineInterval.constant(8, 0)).is_bottom()


def test_worked_examples():
    x = MachineInterval.of(8, 100, 120)
    assert x.add(MachineInterval.constant(8, 10)).is_top()  # 110..130: 127 and -128 are both in
    assert x.add(MachineInterval.constant(8, 30)) == MachineInterval(8, -126, -106)
    assert x.add(MachineInterval.constant(8, 10), nsw=True) == MachineInterval(8, 110, 127)
    assert MachineInterval.of(8, -3, 5).zext(16) == MachineInterval(16, 0, 255)
    assert MachineInterval.of(8, -3, -1).zext(16) == MachineInterval(16, 253, 255)
    assert MachineInterval.of(32, 0, 1000).and_(MachineInterval.constant(32, 7)).high == 7
    assert MachineInterval.constant(8, -128).neg() == MachineInterval.constant(8, -128)
    assert str(x) == "100..120 (i8)"
    with pytest.raises(ValueError, match="8 and 16 bits"):
        x.add(x.sext(16))
    with pytest.raises(ValueError, match="no predicate"):
        x.assume("lt", x)


def test_negated_predicates_are_the_others():
    for predicate in PREDICATES:
        for x in range(-2, 2):
            for y in range(-2, 2):
                assert holds(predicate, x, y, 2) != holds(negated(predicate), x, y, 2)


def test_widening_ends_and_narrowing_comes_back():
    x = MachineInterval.constant(32, 0)
    for _ in range(3):
        x = x.widen(x.add(MachineInterval.constant(32, 1)).join(x), thresholds=[100])
    assert x == MachineInterval(32, 0, 2**31 - 1) or x == MachineInterval.top(32)
    one = MachineInterval(32, 0, 10).widen(MachineInterval(32, 0, 11), thresholds=[5, 100])
    assert one == MachineInterval(32, 0, 100)
    wide = MachineInterval(32, 0, 10).widen(MachineInterval(32, -1, 11))
    assert wide.is_top()
    assert wide.narrow(MachineInterval(32, 0, 64)) == MachineInterval(32, 0, 64)


@st.composite
def machine_intervals(draw, width):
    full = MachineInterval.top(width)
    some = st.one_of(st.integers(full.low, full.high), st.integers(-5, 5))
    low, high = sorted((draw(some), draw(some)))
    return MachineInterval(width, low, high), draw(st.integers(low, high))


@pytest.mark.parametrize("width", [8, 32, 64])
@given(data=st.data())
def test_every_result_is_in_at_larger_widths(width, data):
    (a, x), (b, y) = data.draw(machine_intervals(width)), data.draw(machine_intervals(width))
    for name, concrete in CONCRETE.items():
        result = concrete(x, y, width)
        found = getattr(a, name)(b)
        assert found.is_top() or result is None or result in found, name
        assert result != POISON or found.is_top()
    for predicate in PREDICATES:
        if holds(predicate, x, y, width):
            assert x in a.assume(predicate, b)[0]
            assert y in a.assume(predicate, b)[1]
            assert a.compare(predicate, b) is not False
    for to in (1, width // 2, width):
        assert signed(x, to) in a.trunc(to)
    assert unsigned(x, width) in a.zext(2 * width)


def test_an_octagon_keeps_relations_where_nothing_overflows():
    value = Octagon.of_constraints("0 <= i, i <= n - 1, n <= 1000")
    after = assign(value, "i", "add", "i", 1, 32)
    assert after.satisfies("i <= n")
    assert after.satisfies("i >= 1")
    assert not assign(value, "i", "add", "i", 1, 10).satisfies("i <= n")  # 512 wraps around
    assert assign(value, "i", "add", "i", 1, 10).bound("i") == (-512, 511)


def test_bounds_checks_read_as_unsigned_relate():
    value = Octagon.top("i n").meet("n >= 0")
    inside = assume(value, "ult", "i", "n", 64)
    assert inside.satisfies("0 <= i <= n - 1")
    assert assume(value, "ugt", "n", "i", 64) == inside
    outside = assume(value, "uge", "i", "n", 64)
    assert not outside.satisfies("i >= n")  # a negative i is large
    assert assume(inside, "uge", "i", "n", 64).is_bottom()


def test_casts_in_octagons():
    value = Octagon.of_constraints("0 <= x <= 300", integers="x y")
    assert cast(value, "y", "zext", "x", 32, 64).satisfies("x == y")
    assert cast(value, "y", "trunc", "x", 32, 16).satisfies("x == y")
    assert cast(value, "y", "trunc", "x", 32, 8).bound("y") == (-128, 127)
    low = Octagon.of_constraints("-2 <= x <= -1", integers="x y")
    assert cast(low, "y", "zext", "x", 8, 32).bound("y") == (254, 255)
    assert cast(low, "y", "sext", "x", 8, 32).satisfies("x == y")


@given(data=st.data())
@pytest.mark.parametrize("domain", [Interval, Octagon])
def test_lifted_operations_hold_every_concrete_run(domain, data):
    width = 4
    points = data.draw(st.lists(st.tuples(*[st.integers(-8, 7)] * 3), min_size=1, max_size=3))
    value = domain.bottom("x y z")
    for x, y, z in points:
        value |= domain.of_box({"x": (x, x), "y": (y, y), "z": (z, z)})
    x, y, _ = point = data.draw(st.sampled_from(points))
    target = data.draw(st.sampled_from("xyz"))
    b = data.draw(st.sampled_from(["x", "y", 3, -1, 13]))
    second = {"x": x, "y": y}.get(b, b)
    for name, concrete in CONCRETE.items():
        result = concrete(x, signed(second, width), width)
        after = assign(value, target, name.rstrip("_"), "x", b, width)
        if result is not None and result != POISON:
            moved = dict(zip("xyz", point, strict=True)) | {target: signed(result, width)}
            assert after.contains(moved), (name, value, b)
    for predicate in PREDICATES:
        if holds(predicate, x, signed(second, width), width):
            kept = assume(value, predicate, "x", b, width)
            assert kept.contains(dict(zip("xyz", point, strict=True))), (predicate, value, b)
    for to in (2, 4, 7):
        for name in ("trunc",) if to <= width else ("sext", "zext"):
            after = cast(value, target, name, "x", width, to)
            result = signed(unsigned(x, width) if name == "zext" else x, to)
            assert after.contains(dict(zip("xyz", point, strict=True)) | {target: result}), name


def test_variables_by_id():
    value = assume(Octagon.top(2).meet(variable(1) >= 0), "ult", variable(0), variable(1), 64)
    assert value.satisfies(variable(0) < variable(1))
    after = assign(value, 0, "add", variable(0), 1, 64)
    assert after.satisfies(variable(0) <= variable(1))
