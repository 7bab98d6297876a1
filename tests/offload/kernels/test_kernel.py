"""Loop nests as kernels: the grid, friendliness, requests of a warp, shared memory, instances."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.offload.kernels.loop_programs import unit_of
from tests.offload.kernels.test_sections import CONVOLUTION, GUARD, MATRIX, WINDOW

pytest.importorskip("islpy", reason="kernels need the package islpy")

from kleene.offload.kernels import Kernels, KernelsResult
from kleene.offload.kernels.instances import counted, kernels_in
from kleene.offload.kernels.kernel import Kernel
from kleene.offload.kernels.parameters import Basis
from kleene.offload.kernels.patterns import AccessPattern
from kleene.offload.kernels.trips import trip_count
from kleene.offload.memory.coalescing import bank_conflicts
from kleene.transforms.loops import tables

IMAGE = {"image->width": 1024, "image->height": 768, "filter->width": 5, "filter->height": 5}


@cache
def result(code: str) -> KernelsResult:
    return Kernels().verdicts_on([unit_of(code)])


def kernel(code: str, **options: object) -> Kernel:
    (found,) = result(code).kernels(**options)  # type: ignore[arg-type]
    return found


def access(found: Kernel, text: str) -> AccessPattern:
    return next(one for one in found.accesses if one.text.startswith(text))


def codes(code: str) -> list[str]:
    """Return why the first loop is no kernel."""
    found = result(code)
    return [one.code for one in found.against(found.loops[0])]


# The grid


def test_trips_of_a_loop_that_ends_before_it_begins() -> None:
    """`i <= n` from -n on: max(2*n, 0) + 1 would be 1 for n = -3."""
    code = "void f(int n, int *a) { for (int i = -n; i <= n; i++) a[i + n] = 0; }"
    trips = trip_count(tables(unit_of(code))[0].loops[0])
    assert trips is not None
    assert [trips.evaluate({"n": n}) for n in (-3, 0, 2)] == [0, 1, 5]


def test_three_loops_on_the_grid() -> None:
    code = """void f(int n, double a[][n][n], double b[][n][n]) { for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) b[i][j][k] = a[i][j][k]; }"""
    found = kernel(code)
    assert [one.variable for one in found.axes] == ["i", "j", "k"]
    assert found.mapping[0] == "k"
    assert found.block == (32, 4, 2)


SUNK = """void f(int n, int m, int *restrict s, int b[][m]) { for (int i = 0; i < n; i++) {
  OUTER for (int j = 0; j < m; j++) b[i][j] = INNER; } }"""


@pytest.mark.parametrize(
    ("outer", "inner", "reason"),
    [
        ("", "1", None),
        ("int t = 2*s[i];", "t", None),
        ("s[i] += 1;", "s[i]", "OUTER_WRITES"),  # would happen m times
        ("int t = b[i][0];", "t", "OUTER_READS"),  # another thread of the row writes it
    ],
)
def test_code_between_loops_is_only_sunk_if_it_is_pure(
    outer: str, inner: str, reason: str | None
) -> None:
    found = kernel(SUNK.replace("OUTER", outer).replace("INNER", inner))
    assert [one.code for one in found.reasons] == ([reason] if reason else [])
    assert len(found.axes) == (1 if reason else 2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for (j = 0; j < n; j++) a[i*n + j] = 0; for (j = 0; j < n; j++) b[i*n + j] = 0;",
         "MULTIPLE_INNER"),
        ("if (c[i]) for (j = 0; j < n; j++) a[i*n + j] = 0;", "INNER_NOT_IMMEDIATE"),
        ("clear(a + i*n, n);", "INNER_NOT_IMMEDIATE"),
        ("for (j = 1; j < n; j++) a[i*n + j] = a[i*n + j - 1];", "INNER_CARRIED_DEP"),
        ("for (j = 0; j < i; j++) a[i*n + j] = 0;", "INNER_BOUND_VARIES"),
        ("for (j = 0; j < n; j++) a[i*n + j] = 0;", None),
    ],
)  # fmt: skip
def test_why_an_inner_loop_is_not_on_the_grid(body: str, reason: str | None) -> None:
    code = f"""void clear(int *p, int n) {{ for (int k = 0; k < n; k++) p[k] = 0; }}
    void f(int n, int *restrict a, int *restrict b, int *restrict c) {{
      int j; for (int i = 0; i < n; i++) {{ {body} }} }}"""
    found = [one for one in result(code).kernels() if one.function == "f"]
    assert [one.code for one in found[0].reasons] == ([reason] if reason else [])


# Friendliness

FRIENDLY = (
    "void f(int n, double *restrict a, double *restrict b) {{ for (int i = 1; i < n; i++) {} }}"
)


@pytest.mark.parametrize(
    ("before", "body", "reason"),
    [
        ("", "a[i] = a[i - 1];", "CARRIED_DEP"),
        ("", "{ if (a[i] > 0) break; a[i] = 1; }", "EARLY_EXIT"),
        ("", "{ if (a[i] > 0) i++; a[i] = 1; }", "NOT_NORMALIZABLE"),
        ("int total;", "{ total = i; a[i] = total; }", "WRITES_GLOBAL"),
        ("int next(void) { static int k; return k++; }", "a[i] = next();", "STATIC_IN_CALLEE"),
        ("double other(int);", "a[i] = other(i);", "CALL_NOT_ALLOWED"),
        ("double (*p)(int);", "a[i] = p(i);", "FUNCTION_POINTER"),
    ],
)
def test_reasons_against_a_kernel(before: str, body: str, reason: str) -> None:
    code = before + "\n" + FRIENDLY.format(body)
    found = result(code)
    (loop,) = [one for one in found.loops if one.function == "f"]
    assert reason in [one.code for one in found.against(loop)]
    assert not found.kernels()


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("", "a[i] = b[i - 1];"),
        ("", "{ if (b[i] > 0) continue; a[i] = 1; }"),
        ("int total;", "a[i] = total;"),
        ("int total;", "total += i;"),  # a reduction is combined, not written
        ("double total[100];", "total[i] = a[i];"),  # an array is passed
        ("int next(int k) { return k + 1; }", "a[i] = next(i);"),
        ("double sqrt(double);", "a[i] = sqrt(b[i]);"),
    ],
)
def test_friendly_loops(before: str, body: str) -> None:
    code = before + "\n" + FRIENDLY.format(body)
    assert codes(code) == []
    assert len(result(code).kernels()) == 1


def test_callees_are_listed() -> None:
    code = "double sqrt(double); double half(double x) { return sqrt(x) / 2; }\n"
    assert kernel(code + FRIENDLY.format("a[i] = half(b[i]);")).callees == (
        "half",
        "sqrt",
    )


# Requests of a warp


def test_matrix_addition_is_turned() -> None:
    found = kernel(MATRIX)
    assert found.mapping == ("j", "i")
    one = access(found, "a[")
    assert (one.kind, one.stride, one.requests, one.sectors, one.factor) == (
        "coalesced",
        4,
        1,
        4,
        1,
    )
    by_row = next(requests for order, requests, _ in one.by_mapping if order == ("i", "j"))
    assert [by_row.evaluate({"N": n}) for n in (16, 32, 1024)] == [16, 32, 32]


@pytest.mark.parametrize(
    ("size", "lines", "sectors"), [(16, 16, 32), (32, 32, 32), (100, 32, 32), (1024, 32, 32)]
)
def test_instances_count_each_thread(size: int, lines: int, sectors: int) -> None:
    found = kernel(MATRIX, values={"N": size}, block=(32, 1))
    assert access(found, "a[").counted == (1, 4)
    (turned,) = kernels_in_order(("i", "j"), size, (32, 1))
    assert turned.counted == (lines, sectors)


def kernels_in_order(
    order: tuple[str, ...], size: int, block: tuple[int, int]
) -> list[AccessPattern]:
    """Return the access to `a` counted for a mapping of choice."""
    found = replace(kernel(MATRIX, values={"N": size}), mapping=order, block=block)
    return [counted(found, access(found, "a["))]


def test_blocks_of_sixteen_rows() -> None:
    found = kernel(MATRIX, values={"N": 1024}, block=(16, 16))
    assert access(found, "a[").counted == (2, 4)
    assert kernels_in_order(("i", "j"), 1024, (16, 16))[0].counted == (16, 16)


def test_calls_keep_their_arguments_apart() -> None:
    code = """int g(int x) { return 2*x + 4; }
    void f(int n, int *a, int *b, int *c, int *d) { for (int i = 0; i < n; i++) {
      int s = a[g(i)] + b[g(i*n)]; for (int k = 0; k < 10; k++) s += c[g(k)]; d[i] = s; } }"""
    found = kernel(code)
    assert access(found, "a[").requests == 2
    assert str(access(found, "b[").factor) == "2*n"
    assert access(found, "c[").kind == "broadcast"
    (shared,) = [one for one in found.sharing if one.root == "c"]
    assert dict(shared.overlaps)["i"] == 10
    counted = kernel(code, values={"n": 64}, block=(256,))
    assert access(counted, "a[").counted == (3, 9)  # the model's two, and one for the start


def test_two_roots_are_as_bad_as_can_be() -> None:
    code = """void f(int n, int c, int *a, int *b, int *restrict d) { for (int i = 0; i < n; i++) {
      int *p; int at; if (c) { p = a; at = i; } else { p = b; at = 2*i; } d[i] = p[at]; } }"""
    assert access(kernel(code), "p[").requests == 32
    same = code.replace("p = b", "p = a")
    assert access(kernel(same), "p[").requests == 2  # the worse of two offsets


def test_a_sign_that_is_not_known_is_assumed_and_said() -> None:
    code = """void f(int n, int s, int *restrict a, int *restrict b) {
      for (int i = 0; i < n; i++) a[i] = b[i*s]; }"""
    one = access(kernel(code), "b[")
    assert (one.basis, one.assumptions) == (Basis.ASSUMED, ("s > 0",))
    assert str(one.factor) == "s"
    known = code.replace("for (int i", "if (s > 0) for (int i")
    assert access(kernel(known), "b[").basis is Basis.PROVED


def test_loads_in_subscripts_are_irregular() -> None:
    code = "void f(unsigned char *p, int *h, int n) { for (int i = 0; i < n; i++) h[p[i]]++; }"
    one = access(kernel(code), "h[")
    assert (one.kind, one.requests) == ("irregular", 32)


def test_no_mapping_helps_a_transposition() -> None:
    code = """void f(int N, int *restrict in, int *restrict out) {
      for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) out[j*N + i] = in[i*N + j]; }"""
    found = kernel(code)
    assert len({str(cost) for _, cost in found.costs}) == 1
    (staged,) = found.sharing
    assert (staged.kind, staged.root) == ("staging", "in")
    assert [one.number for one in staged.tile] == [33, 32]
    assert staged.n_bytes == 33 * 32 * 4
    assert staged.conflicts == 1
    assert bank_conflicts(4 * 32 * t for t in range(32)) == 32, "without the padding"


# Shared memory


def test_the_convolution_is_turned_and_its_window_shared() -> None:
    found = kernel(CONVOLUTION.replace("GUARD", GUARD))
    assert found.mapping == ("x", "y")
    one = access(found, "in_row[px + 0]")
    by_row = next(requests for order, requests, _ in one.by_mapping if order == ("y", "x"))
    widths = {8: 6, 32: 24, 43: 32, 1024: 32}
    for width, lines in widths.items():
        assert by_row.evaluate({"image->width": width, "#6": 0}) in (lines, lines - 1)
    assert (one.requests, one.sectors) == (1, 3)
    assert access(found, "filter->pixmap").kind == "broadcast"
    image, window = (
        next(one for one in found.sharing if one.root == root)
        for root in ("image->pixmap", "filter->pixmap")
    )
    assert len(image.texts) == 3, "the colours are grouped"
    assert {str(size) for _, size in window.overlaps} == {"filter->height*filter->width"}
    values = {"filter->width": 5, "filter->height": 3}
    overlaps = {name: size and size.evaluate(values) for name, size in image.overlaps}
    assert overlaps == {"x": 12, "y": 10}


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
def test_bytes_of_a_tile(block: tuple[int, int], window: tuple[int, int], n_bytes: int) -> None:
    values = IMAGE | dict(zip(("filter->width", "filter->height"), window, strict=True))
    code = CONVOLUTION.replace("GUARD", GUARD)
    found = kernel(code, values=values, block=block)
    assert next(one for one in found.sharing if one.root == "image->pixmap").n_bytes == n_bytes


def test_a_stencil_needs_one_tile() -> None:
    code = """void f(int n, double a[][n], double b[][n]) {
      for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
        b[i][j] = a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1] + a[i][j]; }"""
    (tile,) = kernel(code).sharing
    assert [one.number for one in tile.tile] == [34, 10]
    assert tile.n_bytes == 34 * 10 * 8
    assert tile.conflicts == 1


# Instances


def test_a_profile_gives_every_size_that_fits() -> None:
    code = """void f(int *a, int *b, int *c, int n) {
      for (int i = -n; i < n; i += 4)\n a[i + 2*n] = b[i + n] + c[i + n]; }"""
    found = result(code).kernels(trips={2: 100})
    assert [dict(one.values) for one in found] == [{"n": 199}, {"n": 200}]
    parameters = {one.name: one for one in found[1].parameters}
    assert str(parameters["a"].copy_out) == "[800, 2388)"
    assert str(parameters["b"].copy_in) == "[0, 1588)"
    assert all(one.basis is Basis.OBSERVED for one in found[1].parameters)


@pytest.mark.parametrize(
    ("size", "slice_", "first", "last"),
    [(1000, 3, 3, 2001), (1000, 8, 8, 2006), (10, 8, 2, 26), (10, 20, -10, 38), (5, 2, 2, 10),
     (100, 1, 1, 100)],
)  # fmt: skip
def test_numbers_sharpen_sections(size: int, slice_: int, first: int, last: int) -> None:
    found = kernel(WINDOW, values={"size": size, "slice": slice_})
    (one,) = [one for one in found.parameters if one.name == "in"]
    assert str(one.copy_in) == f"[{4 * first}, {4 * last + 4})"
    assert one.basis is Basis.ASSUMED


def test_kernels_of_one_table() -> None:
    """Loads that are not told by values stay symbols."""
    found = result(CONVOLUTION.replace("GUARD", GUARD))
    (function,) = found.functions
    (one,) = kernels_in(
        function.table, function.conditions, function.verdicts, values={"image->width": 64}
    )
    assert {symbol.name for symbol in one.axes[0].trips.symbols()} == {"image->height"}
    assert one.axes[1].trips == 64
