"""Float intervals hold what a machine computes, and are no wider than rounding makes them."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.algebra.float_interval import FORMATS, FloatFormat, FloatInterval

TYPES = {"half": np.float16, "float": np.float32, "double": np.float64}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod,
    "fmin": np.fmin, "fmax": np.fmax, "copysign": np.copysign,
}  # fmt: skip
UNARY = {
    "neg": np.negative, "sqrt": np.sqrt, "fabs": np.abs, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "roundeven": np.rint, "rint": np.rint,
}  # fmt: skip
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.1, 3.0, 65504.0, 6e-8, 3.4e38)


def numbers(name: str) -> st.SearchStrategy[float]:
    width = FORMATS[name].width
    assert width in (16, 32, 64)
    anything = st.floats(width=width)  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        known = [float(TYPES[name](one)) for one in SPECIAL]
    return st.one_of(st.sampled_from(known), anything)


def interval(name: str, found: list[float]) -> FloatInterval:
    """Return the least interval around some numbers."""
    made = FloatInterval.bottom(FORMATS[name])
    for one in found:
        rank = FORMATS[name].rank(one)
        made = made.join(FloatInterval.of_range(FORMATS[name], rank, rank))
    return made


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_ranks_are_the_order_of_numbers(name: str, data: st.DataObject) -> None:
    a, b = data.draw(numbers(name)), data.draw(numbers(name))
    format = FORMATS[name]
    if a == a and b == b:
        assert (a < b) == (format.rank(a) < format.rank(b))
    for one in (a, b):
        code = {"half": "<e", "float": "<f", "double": "<d"}[name]
        bits = int.from_bytes(struct.pack(code, one), "little")
        assert format.rank_of_bits(bits) == format.rank(one)
        if math.isfinite(one):
            assert format.value(format.rank(one)) == Fraction(one)


@pytest.mark.parametrize("name", FORMATS)
def test_neighbours_are_one_rank_apart(name: str) -> None:
    """Of every format, so also of those that no machine here computes with."""
    format = FORMATS[name]
    for rank in (0, 1, (1 << format.precision - 1) - 1, 1 << format.precision - 1,
                 format.infinity >> 1, format.infinity - 2):  # fmt: skip
        low, high = format.value(rank), format.value(rank + 1)
        middle = (low + high) / 2
        assert low < high
        assert (format.below(low), format.above(high)) == (rank, rank + 1)
        assert (format.below(middle), format.above(middle)) == (rank, rank + 1)
        assert (format.below(-middle), format.above(-middle)) == (-rank - 1, -rank)
    beyond = format.value(format.infinity - 1) * 2
    assert (format.below(beyond), format.above(beyond)) == (format.infinity - 1, format.infinity)


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_results_of_the_machine_are_in(name: str, data: st.DataObject) -> None:
    few = st.lists(numbers(name), min_size=1, max_size=3)
    left, right = data.draw(few), data.draw(few)
    a, b = interval(name, left), interval(name, right)
    make = TYPES[name]
    with np.errstate(all="ignore"):
        for word, function in BINARY.items():
            found = getattr(a, word)(b)
            for x in left:
                for y in right:
                    result = float(function(make(x), make(y)))
                    assert result in found, (word, x, y, found)
        for word, function in UNARY.items():
            found = getattr(a, word)()
            for x in left:
                assert float(function(make(x))) in found, (word, x, found)
        for other, convert in TYPES.items():
            for x in left:
                assert float(convert(make(x))) in a.cast(FORMATS[other]), (other, x)


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_one_operation_is_at_most_one_rank_wide(name: str, data: st.DataObject) -> None:
    """Outward rounding of one number gives two neighbours, or the number itself if it is exact."""
    x, y = data.draw(numbers(name)), data.draw(numbers(name))
    a, b = interval(name, [x]), interval(name, [y])
    for word in ("add", "sub", "mul", "sqrt", *(["div"] if y != 0 else [])):
        found = getattr(a, word)(*([] if word == "sqrt" else [b]))
        assert found.high - found.low <= 1
        assert found.has_nan != found.has_number
    ends = FloatFormat.value
    if math.isfinite(x) and math.isfinite(y):
        exact, found = Fraction(x) + Fraction(y), a.add(b)
        if max(abs(found.low), abs(found.high)) < a.format.infinity:
            assert ends(a.format, found.low) <= exact <= ends(a.format, found.high)


def test_fused_products_are_in() -> None:
    """1 + 2**-30 squared is 1 + 2**-29 + 2**-60: nearest loses the last bit, `fma` does not."""
    x = FloatInterval.around(FORMATS["double"], 1 + Fraction(1, 1 << 30), 1 + Fraction(1, 1 << 30))
    one = FloatInterval.around(FORMATS["double"], 1, 1)
    tail = FloatInterval.around(FORMATS["double"], Fraction(1, 1 << 29), Fraction(1, 1 << 29))
    fused = x.fma(x, one.neg().sub(tail))
    assert 0.0 in fused  # rounded twice
    assert 2.0**-60 in fused  # rounded once


@given(st.integers(-(1 << 70), 1 << 70), st.integers(0, 1 << 40))
def test_integers_go_there_and_back(low: int, size: int) -> None:
    for format in FORMATS.values():
        made = FloatInterval.around(format, low, low + size)
        ends = made.truncated()
        if not made.has_infinity():
            assert ends is not None
            assert ends[0] <= low
            assert low + size <= ends[1]


def test_the_lattice() -> None:
    format = FORMATS["double"]
    a, b = interval("double", [0.0, 1.0]), interval("double", [0.5, 2.0])
    nan = interval("double", [math.nan])
    assert a <= a.join(b)
    assert b <= a.join(b)
    assert not a.join(b) <= a
    assert a.meet(b) == interval("double", [0.5, 1.0])
    assert a.meet(nan).is_bottom()
    assert math.nan in a.join(nan)
    assert a.widen(a.join(b), [format.rank(10.0)]).high == format.rank(10.0)
    assert a.widen(a.join(b)).high == format.infinity
    assert nan.range() == (format.nan, format.nan)
    assert [format.show(format.rank(one)) for one in (0.5, 0.1, -math.inf)] == [
        "0.5", "0.1", "-INFINITY",
    ]  # fmt: skip
