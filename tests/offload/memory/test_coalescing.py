"""Requests of a warp: the card's vectors, and symbols against counting."""

from __future__ import annotations

import random

import pytest

from kleene.algebra.symbolic import Expression, Sign, Signs, Symbol, of, symbols
from kleene.offload.memory import (
    ByteAccess,
    GridMapping,
    bank_conflicts,
    best_mapping,
    coalescing,
    touched,
)

a, n, x, y, i, j = symbols("a n x y i j")
X, Y = Symbol("x"), Symbol("y")
GRID = Signs({"x": Sign.NOT_NEGATIVE, "y": Sign.NOT_NEGATIVE, "n": Sign.POSITIVE})
ROW = GridMapping((X, Y), (32, 1))


def ints(offset: Expression) -> list[ByteAccess]:
    return [ByteAccess("p", offset, 4)]


def counted(
    offset: Expression, mapping: GridMapping = ROW, granule: int = 128, **values: int
) -> int:
    return touched(ints(offset), mapping, {"y": 0, "x": 0, **values}, granule=granule)


def test_matrix_addition_by_rows_and_by_columns() -> None:
    by_row = coalescing(ints(4 * n * x + 4 * y), X, GRID)
    assert by_row.factor == n
    assert by_row.requests.evaluate({"n": 16}) == 16
    assert by_row.requests.evaluate({"n": 1024}) == 32
    by_column = coalescing(ints(4 * n * y + 4 * x), X, GRID)
    assert (by_column.factor, by_column.requests) == (of(1), of(1))
    for size, lines, sectors in [(16, 16, 32), (32, 32, 32), (100, 32, 32), (1024, 32, 32)]:
        assert counted(4 * n * x + 4 * y, n=size) == lines
        assert counted(4 * n * x + 4 * y, granule=32, n=size) == sectors
        assert counted(4 * n * y + 4 * x, n=size) == 1
        assert counted(4 * n * y + 4 * x, granule=32, n=size) == 4
    square = GridMapping((X, Y), (16, 16))
    assert counted(4 * n * y + 4 * x, square, n=1024) == 2
    assert counted(4 * n * y + 4 * x, square, granule=32, n=1024) == 4
    assert counted(4 * n * x + 4 * y, square, n=1024) == 16


def test_element_offsets_are_not_bytes() -> None:
    """The printed factor n/4 is that of one-byte elements."""
    of_bytes = coalescing([ByteAccess("p", n * x + y, 1)], X, GRID)
    assert of_bytes.factor == n.over(4)


def test_offsets_that_are_not_monotone_are_counted() -> None:
    valley = ints(4 * (x - 16) ** 2)
    assert coalescing(valley, X, GRID).requests == 9
    assert len({4 * (place - 16) ** 2 for place in range(32)}) == 17  # cells, which are not lines
    wrapped = ints(4 * GRID.remainder(x, of(7)))
    assert coalescing(wrapped, X, GRID).requests == 1
    square = coalescing(ints(4 * x * x), X, GRID)
    assert square.factor * 128 == 256 * x + 4096
    assert counted(4 * x * x) == 24
    assert square.requests.evaluate({"x": 0}) >= 24


def test_a_warp_has_thirty_two_threads_not_thirty_three() -> None:
    """Of 128 bytes a thread apart, 32 threads need 32 lines, and 4 bytes apart one."""
    assert coalescing(ints(4 * x), X, GRID).requests == 1
    assert coalescing(ints(128 * x), X, GRID).requests == 32


def test_a_sign_is_assumed_and_said() -> None:
    found = coalescing(ints(4 * x * a), X, GRID)
    assert found.assumed == {Symbol("a")}
    assert found.factor == a
    assert coalescing(ints(4 * x), X, GRID).assumed == frozenset()


def test_alternatives() -> None:
    one, two = ByteAccess("a", 4 * x, 4), ByteAccess("b", 4 * y, 4)
    assert coalescing([one, two], X, GRID).requests == 32
    assert coalescing([one, ByteAccess("a", 128 * x, 4)], X, GRID).requests == 32
    assert coalescing([one, ByteAccess("a", of(0), 4)], X, GRID).requests == 1


def test_warps_of_a_block() -> None:
    wide = GridMapping((X, Y), (64, 2))
    rows = [
        {tuple(wide.coordinates(t).values()) for t in range(32 * w, 32 * w + 32)} for w in range(4)
    ]
    assert [(min(r), max(r)) for r in rows] == [
        ((0, 0), (31, 0)),
        ((32, 0), (63, 0)),
        ((0, 1), (31, 1)),
        ((32, 1), (63, 1)),
    ]
    square = GridMapping((X, Y), (16, 16))
    assert {square.coordinates(t)["y"] for t in range(32)} == {0, 1}


def test_alignment_counts() -> None:
    """a[2*i + 4]: two lines by the model, three because the base is 16 bytes off; nine sectors."""
    stride_two = ints(8 * x + 16)
    assert coalescing(stride_two, X, GRID).requests == 2
    assert touched(stride_two, ROW, {"y": 0}) == 3
    assert touched(stride_two, ROW, {"y": 0}, granule=32) == 9


def test_best_mapping_turns_a_matrix() -> None:
    accesses = [ints(4 * n * i + 4 * j)] * 3
    signs = Signs({"n": Sign.POSITIVE, "i": Sign.NOT_NEGATIVE, "j": Sign.NOT_NEGATIVE})
    order, cost = best_mapping(accesses, [Symbol("i"), Symbol("j")], signs)
    assert order == (Symbol("j"), Symbol("i"))
    assert cost[order] == 3


def test_no_mapping_helps_a_transposition() -> None:
    accesses = [ints(4 * n * i + 4 * j), ints(4 * n * j + 4 * i)]
    signs = Signs({"n": Sign.POSITIVE, "i": Sign.NOT_NEGATIVE, "j": Sign.NOT_NEGATIVE})
    order, cost = best_mapping(accesses, [Symbol("i"), Symbol("j")], signs)
    assert order == (Symbol("i"), Symbol("j"))
    assert len(set(cost.values())) == 1


@pytest.mark.parametrize(
    ("stride", "times"),
    [(0, 1), (1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)],
)
def test_banks(stride: int, times: int) -> None:
    assert bank_conflicts(4 * stride * thread for thread in range(32)) == times


def test_banks_of_bytes() -> None:
    assert bank_conflicts(3 * thread for thread in range(32)) == 1


def test_symbols_agree_with_counting() -> None:
    """For aligned affine accesses of one warp the model is never below the lines counted by more
    than the one that a misaligned start costs, and exact where the stride fills whole lines.
    """
    random_ = random.Random(5)
    for _ in range(1000):
        stride, start = random_.choice([0, 1, 2, 3, 4, 8, 16, 32, 40]), random_.randrange(64)
        quadratic = random_.random() < 0.2
        offset = 4 * (stride * x + start + (x * x if quadratic else 0) - stride * n)
        size = random_.randint(0, 50)
        model = coalescing(ints(offset), X, GRID).requests.evaluate({"n": size, "x": 0, "y": 0})
        exact = counted(offset, n=size)
        assert exact <= model + 1
        if (
            not quadratic
            and stride
            and 128 % (4 * stride) == 0
            and start * 4 % 128 == 0
            and stride * size * 4 % 128 == 0
        ):
            assert exact == model


def test_sectors_agree_with_counting() -> None:
    """Of aligned elements the model's sectors are those counted where strides fill whole sectors,
    and else never fewer than one below.
    """
    random_ = random.Random(8)
    n_equal = 0
    for _ in range(1000):
        size = random_.choice([1, 2, 4, 8])
        stride = size * random_.choice([0, 1, 2, 3, 4, 5, 8, 16, 33])
        first = 32 * random_.randrange(8)
        accesses = [ByteAccess("p", stride * x + first, size)]
        model = coalescing(accesses, X, GRID).sectors.evaluate({"x": 0})
        exact = touched(accesses, ROW, {"y": 0}, granule=32)
        assert exact <= model <= exact + 1
        if stride == 0 or 32 % stride == 0 or stride % 32 == 0:
            assert model == exact
            n_equal += 1
    assert n_equal > 300
