"""Sections, overlaps and tiles: the colour convolution, and random accesses against enumeration."""

from __future__ import annotations

import random
from itertools import product

import pytest

from kleene.algebra.symbolic import (
    ANYTHING,
    UNREACHABLE,
    Expression,
    Range,
    Sign,
    Signs,
    Symbol,
    of,
    symbols,
)
from kleene.offload.delinearise import divided
from kleene.offload.memory import (
    ByteAccess,
    Tile,
    block_section,
    group,
    overlap,
    section,
    tiled,
)
from kleene.offload.memory.tiles import group_sections

x, y, fx, fy, i_w, i_h, f_w, f_h, bx, by, n, m = symbols("x y fx fy i_w i_h f_w f_h bx by n m")
X, Y, FX, FY = Symbol("x"), Symbol("y"), Symbol("fx"), Symbol("fy")
SIZES = Signs(dict.fromkeys(("i_w", "i_h", "f_w", "f_h", "bx", "by", "n", "m"), Sign.POSITIVE))
GRID = SIZES.also(dict.fromkeys((X, Y, FX, FY), Sign.NOT_NEGATIVE))
WINDOW = {FX: f_w, FY: f_h}
BLOCK = {X: bx, Y: by}
half_w, half_h = f_w // 2, f_h // 2


def colour(c: int) -> ByteAccess:
    """Return the read of one colour of a pixel in the window around (x, y)."""
    return ByteAccess("image", 3 * i_w * (y + fy - half_h) + 3 * x + 3 * (fx - half_w) + c, 1)


def tile_of(c: int) -> Tile:
    found = tiled(colour(c), [X, Y], [FX, FY])
    assert found is not None
    return found


def test_the_convolution_is_a_plane_of_pixels() -> None:
    columns, rows = tile_of(1).dimensions
    assert (columns.stride, columns.axis, columns.inner) == (of(3), X, ((FX, 1),))
    assert (rows.stride, rows.axis, rows.inner) == (3 * i_w, Y, ((FY, 1),))
    assert (columns.first, rows.first) == (-half_w, -half_h)
    assert (tile_of(1).low, tile_of(1).high) == (1, 1)


def test_columns_and_rows_of_a_block() -> None:
    (tile,) = group([tile_of(0), tile_of(1), tile_of(2)])
    assert tile.columns(WINDOW, BLOCK) == Range(-3 * half_w, 3 * bx + 3 * (f_w - 1 - half_w) - 1)
    assert tile.dimensions[1].span(WINDOW, BLOCK) == Range(-half_h, by + f_h - 2 - half_h)


@pytest.mark.parametrize(
    ("block", "window", "n_bytes"),
    [
        ((16, 16), (5, 5), 1200),
        ((16, 16), (3, 3), 972),
        ((4, 4), (3, 3), 108),
        ((32, 8), (7, 7), 1596),
        ((16, 16), (4, 4), 1083),
    ],
)
def test_bytes_of_a_block(block: tuple[int, int], window: tuple[int, int], n_bytes: int) -> None:
    values = {"bx": block[0], "by": block[1], "f_w": window[0], "f_h": window[1], "i_w": 1024}
    (tile,) = group([tile_of(0), tile_of(1), tile_of(2)])
    assert tile.n_bytes(WINDOW, BLOCK).evaluate(values) == n_bytes


def test_a_tile_is_much_less_than_its_linear_section() -> None:
    values = {"bx": 16, "by": 16, "f_w": 5, "f_h": 5, "i_w": 1024, "x": 0, "y": 0}
    assert sum(tile_of(c).n_bytes(WINDOW, BLOCK).evaluate(values) for c in range(3)) == 3480
    thread = section(colour(0).offset, WINDOW, GRID)
    last = section(colour(2).offset, WINDOW, GRID)
    whole = block_section(Range(thread.low, last.high), BLOCK, GRID)
    assert whole.low is not None
    assert whole.high is not None
    assert (whole.high - whole.low + 1).evaluate(values) == 58428


@pytest.mark.parametrize(
    ("sizes", "low", "high"),
    [
        ((8, 6, 3, 3), -27, 170),
        ((8, 6, 4, 4), -54, 170),
        ((16, 12, 5, 5), -102, 677),
        ((16, 12, 5, 3), -54, 629),
        ((9, 7, 4, 6), -87, 245),
    ],
)
def test_section_of_the_image(sizes: tuple[int, int, int, int], low: int, high: int) -> None:
    """Halves of odd filters round down: a formula with rational halves is too short by a row."""
    loops = {**WINDOW, X: i_w, Y: i_h}
    values = dict(zip(("i_w", "i_h", "f_w", "f_h"), sizes, strict=True))
    first, last = section(colour(0).offset, loops, SIZES), section(colour(2).offset, loops, SIZES)
    assert first.low is not None
    assert last.high is not None
    assert (first.low.evaluate(values), last.high.evaluate(values)) == (low, high)


def test_overlap_of_windows() -> None:
    values = {"f_w": 5, "f_h": 3}
    assert tile_of(0).overlap(X, WINDOW).evaluate(values) == 12
    assert tile_of(0).overlap(Y, WINDOW).evaluate(values) == 10


def test_all_threads_share_the_filter() -> None:
    thread = section(fx + fy * f_w, WINDOW, GRID)
    assert thread == Range.of(0, f_w * f_h - 1)
    assert overlap(thread, X, GRID) == overlap(thread, Y, GRID) == thread
    assert block_section(thread, BLOCK, GRID) == thread


def test_neighbours_with_an_element_each_share_nothing() -> None:
    assert overlap(Range.single(4 * x), X, GRID) == UNREACHABLE
    assert overlap(ANYTHING, X, GRID) == ANYTHING


def test_a_bound_may_grow_along_one_axis_alone() -> None:
    """Asking for one direction in all axes would refuse `constant in y, increasing in x`."""
    assert block_section(Range.of(x, x + 3), BLOCK, GRID) == Range.of(x, x + bx + 2)
    turned = block_section(Range.of(x - y, x - y), BLOCK, GRID)
    assert turned == Range.of(x - y - by + 1, x + bx - 1 - y)


def test_a_bound_without_direction_is_no_bound() -> None:
    assert block_section(Range.of((x - 4) ** 2, 4 * x), BLOCK, GRID) == Range.of(
        None, 4 * x + 4 * bx - 4
    )
    assert section((fx - 3) ** 2, {FX: n}, SIZES) == ANYTHING


def test_three_dimensions() -> None:
    z = of("z")
    access = ByteAccess("a", 8 * (n * m * (z + 1) + m * (y + 2 * fy) + x - 1), 8)
    tile = tiled(access, [X, Y, Symbol("z")], [FY])
    assert tile is not None
    assert [str(d.stride) for d in tile.dimensions] == ["8", "8*m", "8*m*n"]
    assert [d.first for d in tile.dimensions] == [of(-1), of(0), of(1)]
    assert tile.dimensions[1].inner == ((FY, 2),)


@pytest.mark.parametrize(
    "offset",
    [4 * x * x, 4 * x * y, 4 * x + 6 * y, 4 * n * x + 4 * m * y, 4 * x + 4 * y, 8 * x + 4 * m],
)
def test_no_planes(offset: Expression) -> None:
    assert tiled(ByteAccess("a", offset, 4), [X, Y], []) is None


def test_division_of_polynomials() -> None:
    random_ = random.Random(6)
    for _ in range(300):
        divisor = random_.choice([n, n + 2, 4 * n, 4 * n + 8, of(3), n * m])
        value = sum(
            (random_.randint(-9, 9) * n**i * m**j for i, j in product(range(3), range(2))),
            start=of(0),
        )
        quotient, rest = divided(value, divisor)
        assert quotient * divisor + rest == value
        assert divided(value * divisor, divisor) == (value, of(0))


def test_addresses_of_random_tiles_are_inside() -> None:
    random_ = random.Random(7)
    n_found = 0
    for _ in range(300):
        steps = [random_.choice([-2, -1, 1, 2, 3]) for _ in "12"]
        element = random_.choice([1, 3, 4])
        width = random_.choice([n, n + 2, 2 * n])
        row = y + steps[0] * fy + random_.randint(-3, 3)
        column = x + steps[1] * fx + random_.randint(-3, 3)
        access = ByteAccess("a", element * (width * row + column) + random_.randrange(element), 1)
        tile = tiled(access, [X, Y], [FX, FY])
        if tile is None:
            continue
        n_found += 1
        sizes = {
            "n": random_.randint(1, 9),
            "f_w": random_.randint(1, 3),
            "f_h": random_.randint(1, 3),
        }
        sizes |= {"bx": 3, "by": 2}
        spans = [d.span(WINDOW, BLOCK) for d in tile.dimensions]
        lows = [int(s.low.evaluate(sizes)) for s in spans if s.low is not None]
        highs = [int(s.high.evaluate(sizes)) for s in spans if s.high is not None]
        strides = [int(d.stride.evaluate(sizes)) for d in tile.dimensions]
        inside = {
            sum(stride * place for stride, place in zip(strides, places, strict=True)) + byte
            for places in product(*(range(a, b + 1) for a, b in zip(lows, highs, strict=True)))
            for byte in range(tile.low, tile.high + 1)
        }
        for i, j, k, h in product(range(3), range(2), range(sizes["f_w"]), range(sizes["f_h"])):
            address = access.offset.evaluate({**sizes, "x": i, "y": j, "fx": k, "fy": h})
            assert address in inside
        assert tile.n_bytes(WINDOW, BLOCK).evaluate(sizes) >= len(inside) or element > 1
    assert n_found > 150


def test_sections_close_to_each_other_merge() -> None:
    near = [
        ("a", Range.of(4 * n, 8 * n)),
        ("a", Range.of(4 * n + 1, 8 * n + 2)),
        ("b", Range.of(0, 4)),
    ]
    assert group_sections(near, 16) == [("a", Range.of(4 * n, 8 * n + 2)), ("b", Range.of(0, 4))]
    assert len(group_sections([("a", Range.of(0, 4)), ("a", Range.of(n, n + 4))], 16)) == 2
