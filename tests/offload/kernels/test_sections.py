"""Sections and parameters of loops as kernels: the card's vectors, and rules against what runs."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.offload.kernels.loop_programs import unit_of

pytest.importorskip("islpy", reason="sections need the package islpy")


from kleene.algebra.symbolic import Sign
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.parameters import Basis, Parameter, parameters_of
from kleene.offload.kernels.sections import Section, sign_in
from kleene.offload.kernels.verdicts import verdicts_of
from kleene.transforms.loops import tables


@cache
def parameters(code: str) -> dict[str, Parameter]:
    """Return the parameters of the first loop of the last function."""
    table = tables(unit_of(code))[-1]
    facts = facts_of(table, ())
    found = parameters_of(facts, table.loops[0], verdicts_of(table)[0])
    return {one.name: one for one in found}


def shown(found: dict[str, Parameter]) -> dict[str, str]:
    """Return direction and section of each parameter: what goes in, unless it only comes out."""
    return {
        name: f"{one.direction} {one.copy_in or one.copy_out}"
        if not one.is_scalar
        else one.direction
        for name, one in found.items()
    }


def at(section: Section | None, **values: int) -> tuple[Any, Any]:
    """Return the first byte and the end for numbers."""
    assert section is not None
    assert section.first is not None
    assert section.end is not None
    return section.first.evaluate(values), section.end.evaluate(values)


def test_casts_are_told_in_bytes() -> None:
    code = """int in[10], out[15];
    void f(void) { for (int i = 0; i < 15; i++) { char *aux = (char *)in; out[i] = aux[i]; } }"""
    found = parameters(code)
    assert shown(found) == {"in": "in [0, 15)", "out": "out [0, 60)"}
    assert all(one.copy_in is None or one.copy_in.is_exact for one in found.values())


MATRIX = """typedef struct { int *data; int size; } matrix_t;
void add(int *a, int *b, matrix_t *c, int N) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      c->data[i*N + j] = a[i*N + j] + b[i*N + j]; }"""


def test_a_nested_output() -> None:
    found = parameters(MATRIX)
    assert shown(found) == {
        "N": "in",
        "a": "in [0, 4*N*N)",
        "b": "in [0, 4*N*N)",
        "c": "in [0, 8)",
        "c->data": "out [0, 4*N*N)",
    }
    assert [one.nested_in for one in found.values()] == ["", "", "", "", "c"]
    assert found["a"].basis is Basis.PROVED
    assert found["c->data"].basis is Basis.ASSUMED
    assert "no overlap of c and c->data" in found["c->data"].assumptions


def test_what_is_written_comes_out_though_it_is_not_live() -> None:
    code = "void init(int *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }"
    assert shown(parameters(code)) == {"n": "in", "a": "out [0, 4*n)"}


def test_a_loaded_pointer_is_nested_and_not_local() -> None:
    code = "void f(int **pp, int n) { for (int i = 0; i < n; i++) { int *p = pp[i]; p[0] = i; } }"
    found = parameters(code)
    assert shown(found) == {"n": "in", "pp": "in [0, 8*n)", "pp[i]": "out [0, 4)"}
    assert found["pp[i]"].nested_in == "pp"


def test_strides_leave_holes_that_go_in() -> None:
    code = """void f(int *a, int *b, int *c, int n) {
      for (int i = -n; i < n; i += 4) a[i + 2*n] = b[i + n] + c[i + n]; }"""
    found = parameters(code)
    assert {name: one.direction for name, one in found.items()} == {
        "n": "in", "a": "inout", "b": "in", "c": "in",
    }  # fmt: skip
    for n, last in ((200, 596), (199, 595)):  # elements; a section ends after the last one
        assert at(found["a"].copy_out, n=n) == (4 * n, 4 * last + 4)
    assert at(found["b"].copy_in, n=200) == (0, 1584 + 4)


WINDOW = """void f(int size, int slice, int *in, int *out) {
  for (int i = 0; i < size; i++) { int x = 0;
    for (int k = i - slice; k < i + slice; k++) {
      int idx = (k >= 0 && k < size) ? slice + k : size + k; x += in[idx]; }
    out[i] = x; } }"""


def test_incomparable_sizes_are_compared_in_the_answer() -> None:
    found = parameters(WINDOW)
    assert shown(found)["in"] == "in [4*min(size - slice, slice), 8*size + 4*slice - 4)"
    assert shown(found)["out"] == "out [0, 4*size)"
    exact = {(1000, 3): (3, 2001), (1000, 8): (8, 2006), (10, 8): (2, 26), (10, 20): (-10, 38)}
    exact |= {(5, 2): (2, 10)}
    for (size, slice_), (first, last) in exact.items():
        assert at(found["in"].copy_in, size=size, slice=slice_) == (4 * first, 4 * last + 4)
    # One interval cannot say that of the two halves of a negated `&&` one is empty here.
    assert at(found["in"].copy_in, size=100, slice=1) == (4, 4 * 199 + 4)


def test_products_of_counters_are_ranged_over() -> None:
    code = """void f(int *in, int *out, int n) { for (int i = 0; i < n; i++) {
      char *aux = (char *)in; int k = i * i; out[i] = aux[k]; } }"""
    found = parameters(code)
    assert at(found["in"].copy_in, n=7) == (0, 36 + 1)
    assert at(found["out"].copy_out, n=7) == (0, 4 * 6 + 4)


def test_a_second_induction_variable() -> None:
    """Its range is [10, n + 9]: a listing that adds the counter at the body's end has [10, n]."""
    code = """void f(int *a, int *b, int n) { int k = 10;
      for (int i = 0; i < n; i++) { b[i] = a[k]; k++; } }"""
    assert at(parameters(code)["a"].copy_in, n=5) == (40, 4 * 14 + 4)


def test_rows_of_an_image() -> None:
    code = """int f(int n, int m, int *img) { int sum = 0; for (int i = 0; i < n; i++) {
      int row_idx = i * n; int *row = img + row_idx;
      for (int j = 0; j < m; j++) { int val = row[j]; sum = sum + val; } } return sum; }"""
    found = parameters(code)
    assert at(found["img"].copy_in, n=4, m=3) == (0, 4 * (3 * 4 + 2) + 4)
    assert found["sum"].direction == "inout"


def test_calls_are_followed_with_their_arguments() -> None:
    code = """int g(int x) { return 2*x + 4; }
    void f(int n, int *a, int *b, int *c, int *d) { for (int i = 0; i < n; i++) {
      int s = a[g(i)] + b[g(i*n)]; for (int k = 0; k < 10; k++) s += c[g(k)]; d[i] = s; } }"""
    found = parameters(code)
    assert at(found["c"].copy_in) == (16, 88 + 4)
    assert at(found["b"].copy_in, n=5) == (16, 4 * (2 * 20 + 4) + 4)


CONVOLUTION = """
typedef struct { int width, height; unsigned char *pixmap; } image_t;
typedef struct { int width, height; signed char *pixmap; } filter_t;
void convolve(image_t *image, image_t *out_image, filter_t *filter, double gain) {
  int x, y, fx, fy;
  for (y = 0; y < image->height; y++) for (x = 0; x < image->width*3; x += 3) {
    unsigned char *out_row = &out_image->pixmap[y*image->width*3]; int red = 0, grn = 0, blu = 0;
    for (fy = 0; fy < filter->height; fy++) { int py = y + fy - filter->height/2;
      unsigned char *in_row = &image->pixmap[py*image->width*3];
      for (fx = 0; fx < filter->width; fx++) { int px = x + 3*(fx - filter->width/2);
        int coeff = filter->pixmap[fx + fy*filter->width];
        int off = GUARD;
        red += off ? 0 : in_row[px+0]*coeff; grn += off ? 0 : in_row[px+1]*coeff;
        blu += off ? 0 : in_row[px+2]*coeff; } }
    out_row[x+0] = red*gain; out_row[x+1] = grn*gain; out_row[x+2] = blu*gain; } }
"""
GUARD = "px < 0 || px >= image->width*3 || py < 0 || py >= image->height"


def sizes(i_w: int, i_h: int, f_w: int, f_h: int) -> dict[str, int]:
    names = ("image->width", "image->height", "filter->width", "filter->height")
    return dict(zip(names, (i_w, i_h, f_w, f_h), strict=True))


def test_a_guarded_convolution_reads_the_image_alone() -> None:
    found = parameters(CONVOLUTION.replace("GUARD", GUARD))
    assert found["gain"].direction == "in"
    for image in ("image->pixmap", "out_image->pixmap"):
        section = found[image].copy_in or found[image].copy_out
        assert str(section) == "[0, 3*image->height*image->width)"
    assert str(found["filter->pixmap"].copy_in) == "[0, filter->height*filter->width)"
    assert found["image->pixmap"].direction == "in"
    assert found["out_image->pixmap"].is_out
    assert found["image"].copy_in is not None
    assert found["image->pixmap"].nested_in == "image"


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [
        ((8, 6, 3, 3), -27, 170),
        ((8, 6, 4, 4), -54, 170),
        ((16, 12, 5, 5), -102, 677),
        ((16, 12, 5, 3), -54, 629),
        ((9, 7, 4, 6), -87, 245),
    ],
)
def test_halves_of_a_filter_are_rounded(
    size: tuple[int, int, int, int], low: int, high: int
) -> None:
    found = parameters(CONVOLUTION.replace("GUARD", "0"))
    assert at(found["image->pixmap"].copy_in, **sizes(*size)) == (low, high + 1)


def test_narrow_values_bound_a_subscript() -> None:
    code = "void f(unsigned char *p, int *h, int n) { for (int i = 0; i < n; i++) h[p[i]]++; }"
    assert shown(parameters(code))["h"] == "inout [0, 1024)"


def test_unknown_subscripts_mean_the_whole_array_if_its_size_is_known() -> None:
    code = (
        "int a[50]; void f(int *to, int *b, int n) { for (int i = 0; i < n; i++) b[i] = a[to[i]]; }"
    )
    found = parameters(code)["a"]
    assert str(found.copy_in) == "[0, 200)"
    assert found.basis is Basis.ASSUMED
    assert found.assumptions == ("subscripts of a stay inside of it",)
    unknown = parameters(code.replace("int a[50]; void f(", "void f(int *a, "))["a"]
    assert unknown.copy_in is not None
    assert not unknown.copy_in.is_bounded


def test_half_of_an_array_is_copied_if_half_is_used() -> None:
    code = "double a[100]; void f(double *b) { for (int i = 50; i < 100; i++) b[i - 50] = a[i]; }"
    assert shown(parameters(code)) == {"a": "in [400, 800)", "b": "out [0, 400)"}


def test_a_triangle_does_not_write_whole_rows() -> None:
    code = """void f(int n, double a[][n]) {
      for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i][j] = 0; }"""
    found = parameters(code)["a"]
    assert (found.direction, str(found.copy_out)) == ("inout", "[0, 8*n*n)")
    whole = parameters(code.replace("j <= i", "j < n"))["a"]
    assert (whole.direction, str(whole.copy_out)) == ("out", "[0, 8*n*n)")


def test_what_an_iteration_reads_of_its_own_does_not_go_in() -> None:
    code = """void f(int n, double *a, double *b) { for (int i = 0; i < n; i++) { a[i] = 0;
      for (int k = 0; k < 5; k++) a[i] += b[k]; } }"""
    assert parameters(code)["a"].direction == "out"
    assert parameters(code.replace("a[i] = 0;", ""))["a"].direction == "inout"


def test_counters_and_temporaries_are_no_parameters() -> None:
    code = """double w[9]; void f(int n, double *a) { int i, j, k = 3; double t;
      for (i = 0; i < n; i++) for (j = 0; j < 4; j++) { t = a[i] + j; a[i] = t * k; } }"""
    assert list(parameters(code)) == ["n", "a", "k"]


def test_invariance_is_of_contents_not_of_addresses() -> None:
    """`out[0]` has a fixed address, and other values while `out[i]` is written."""
    code = """void f(int n, int *out, int *b) {
      for (int i = 0; i < n; i++) { out[i] = 3; b[i + out[0]] = 1; } }"""
    found = parameters(code)["b"]
    assert found.copy_out is not None
    assert not found.copy_out.is_bounded


@pytest.mark.parametrize(
    ("guard", "sign"),
    [
        ("a < b", Sign.ANY),
        ("a < b && b <= 0", Sign.NEGATIVE),
        ("a < b && b == 1", Sign.ANY),  # a = 0 is below 1: it is not negative for sure
        ("a >= b && b == -1", Sign.ANY),  # a = 0 is not below -1: it is not positive for sure
        ("a >= b && b > 0", Sign.POSITIVE),
        ("a + b > c && c >= b", Sign.POSITIVE),
        ("!(a + b > c) && c - b > 0", Sign.ANY),  # a = 1, b = -6, c = -5
        ("!(a + b > c) && c < b", Sign.NEGATIVE),
        ("3 * a > 0", Sign.POSITIVE),
        ("a == p->field", Sign.ANY),  # a field has any sign; only its address has one
    ],
)
def test_signs_that_conditions_prove(guard: str, sign: Sign) -> None:
    code = f"""struct s {{ int field; }}; void f(int a, int b, int c, int n, int *q, struct s *p) {{
      if ({guard}) for (int i = 0; i < n; i++) q[i] = a; }}"""
    (table,) = tables(unit_of(code))
    facts = facts_of(table, ())
    assert sign_in(facts, table.loops[0].context, table.parameters["a"]) == sign


def test_a_value_that_changes_in_the_loop_is_no_size() -> None:
    """The first value and that of later iterations meet at the loop's head: neither is it."""
    code = """void f(int n, int t, int *restrict a, const int *restrict b) {
      for (int i = 0; i < n; i++) { a[i + t] = 1; if (b[i] > 0) t = b[i]; } }"""
    section = parameters(code)["a"].copy_out
    assert section is not None
    assert not section.is_bounded
