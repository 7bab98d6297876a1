"""What people write otherwise than plans need it: each is generated, and compared with the C."""

from __future__ import annotations

import os
import types
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")
pytest.importorskip("ziglang", reason="the bundled compiler compiles what is called")
if not hasattr(os, "fork"):
    pytest.skip("there are no processes that fork", allow_module_level=True)

import kleene
from kleene.codegen.runtime import ArgumentError
from kleene.offload.plans import FallbackWarning, files
from tests.offload.plans import outside
from tests.offload.plans.random_idioms import program

HEAD = """
#include <math.h>
#include <stddef.h>
#include <string.h>
struct filter { float gain; int n; float *memory; float taps[8]; };
struct state { struct filter *first; struct filter own; int rows; };
enum { THREE = 3 };
static const short table[2][4] = {{1, -2, THREE}, {7}};
static const float weights[] = {0.1, 1, -2.5f, 4};
static const int scale = -4;
int bins[16];
double shift;
static float clipped(float x, float low) { if (x < low) return low; return x; }
static int mixed(int a, int b) { int c = a; if (b > 3) { c -= b; } else c = 2 * b; return c ^ 5; }
static void halved(float *x, int n) { int i; for (i = 0; i < n; i++) x[i] *= 0.5f; }
static void minimum(const int *at, int *least) { if (*at < *least) *least = *at; }
"""
# Each must have kernels.
IDIOMS = {
    "early return": """void @(int n, float *a) {
      if (n <= 0) return;
      for (int i = 0; i < n; i++) a[i] = i; }""",
    "return code": """int @(int n, int m, float *a) {
      if (n > 8) return -1;
      for (int i = 0; i < m; i++) a[i] += n;
      if (m == 5) return m;
      return 0; }""",
    "return or not": """int @(int n, int m, int *a) {
      if (n > 2) { for (int i = 0; i < n; i++) a[i] = i; if (m < 3) return 1; a[0] = 7; }
      for (int i = 0; i < m; i++) a[i] += 3;
      return 2; }""",
    "null": """int @(int n, float *a, const float *w) {
      if (!a || w == NULL) return -1;
      if (w) for (int i = 0; i < n; i++) a[i] *= w[i];
      return n; }""",
    "null or not": """void @(int n, float *a, const float *w) {
      if (!w) { for (int i = 0; i < n; i++) a[i] = 1; }
      else { for (int i = 0; i < n; i++) a[i] *= w[i]; } }""",
    "globals": """void @(int n, double *a, float *b) {
      for (int i = 0; i < n; i++) {
        a[i] += shift * scale; b[i] = weights[i & 3] + table[1][i & 3]; } }""",
    "written global": """void @(int n, const int *k) {
      for (int i = 0; i < n; i++) bins[k[i] & 15] += 1; }""",
    "static table": """void @(int n, double *a) {
      static const double own[3] = {0.5, 2};
      for (int i = 0; i < n; i++) a[i] *= own[i % 3]; }""",
    "record": """int @(struct state *s, const float *x, float *y) {
      if (s == NULL) return -1;
      for (int i = 0; i < s->own.n; i++) {
        y[i] = x[i] * s->first->gain + s->own.taps[i & 7];
        for (int j = 0; j < s->rows; j++) y[i] += s->first->memory[j]; }
      return 0; }""",
    "moving": """void @(int n, const float *a, float *b) { while (n-- > 0) *b++ = 2 * *a++; }""",
    "moving rows": """void @(int n, int m, const float *a, float *b) {
      float *end = b + n;
      while (b < end) { float s = 0; for (int j = 0; j < m; j++) s += *a++; *b++ = s; } }""",
    "strides": """int @(const short *p, int n, int stride, int rows) {
      int s = 0, x, y;
      for (y = 0; y < rows; y++, p += stride) for (x = 0; x < n; x++) s += p[x];
      return s; }""",
    "backwards": """void @(int n, const int *a, int *b) {
      const int *p = a + n - 1;
      for (int i = 0; i < n; i++) b[i] = *p--; }""",
    "step inside": """void @(const unsigned *s, int n, unsigned char *d) {
      const unsigned *const end = s + n;
      while (s != end) {
        const unsigned a = *s++; *d++ = a >> 8; *d++ = a & 255; d[0] = s[0] & 3; d++; } }""",
    "unsigned count": "void @(unsigned n, const short *a, int *b) { while (n--) *b++ = *a++ * n; }",
    "two counters": """void @(int n, int *a) {
      int i, j;
      for (i = 0, j = n; i < n; i++, j -= 2) a[i] = j * 3 + i; }""",
    "counter after": """int @(int n, int *a) {
      int i; for (i = 0; i < n; i++) a[i] = 2 * i; return i; }""",
    "down after": "int @(int n, int *a) { int i; for (i = n; i > 0; i--) a[i] = i; return i; }",
    "later start": "void @(int n, int i, int *a) { for (; i < n; i++) a[i] = i; }",
    "called": """void @(int n, float *a, int *b) {
      for (int i = 0; i < n; i++) { a[i] = clipped(a[i] * 2, -1); b[i] = mixed(b[i], i); } }""",
    "called loop": "void @(int n, int m, float *a, float *b) { halved(a, n); halved(b + 2, m); }",
    "called pointer": """int @(int n, const int *a) {
      int least = 1000;
      for (int i = 0; i < n; i++) minimum(&a[i], &least);
      return least; }""",
    "set and copied": """void @(int n, unsigned char *a, float *b, const float *c) {
      memset(a, 3, n); memcpy(b, c, n * sizeof(*b)); (void)n;
      for (int i = 0; i < n; i++) b[i] += a[i]; }""",
    "number behind a pointer": """double @(int *n, double *x) {
      int i1 = *n, i; double most = 0.; --x;
      for (i = 1; i <= i1; ++i) { double d = fabs(x[i]); most = most > d ? most : d; }
      return most; }""",
    "at least once": """int @(int n, int m, const float *x, float *y) {
      int c = 0, j;
      do { float s = 0; for (j = 0; j < m; j++) s += x[c * m + j]; y[c] = s; } while (++c < n);
      return c; }""",
    "record in other words": """void @(struct state *s, float *y) {
      const struct filter *const own = &s->own; struct filter *first = s->first;
      for (int i = 0; i < own->n; i++) y[i] = first->gain * own->gain; }""",
    "untyped record": """int @(void *given, int *y) {
      struct filter *f = (struct filter *)given;
      for (int i = 0; i < f->n; i++) y[i] += i;
      return f->n; }""",
    "left in a record": """int @(struct filter *f, const float *a, int n) {
      float s = 0;
      if (n < 3) return -1;
      for (int i = 0; i < n; i++) s += a[i];
      f->gain = s / n; f->n += n;
      return f->n; }""",
    "choices": """void @(int n, const short *a, unsigned char *b) {
      for (int i = 0; i < n; i++) { int v = a[i] + 7; b[i] = v < 0 ? 0 : v > 255 ? 255 : v; } }""",
}


def text_of(idioms: dict[str, str]) -> str:
    functions = [one.replace("@", name.replace(" ", "_")) for name, one in idioms.items()]
    return HEAD + "\n".join(functions)


N_RANDOM = 8


def test_idioms_are_generated_as_the_c_has_them(tmp_path: Path, monkeypatch):
    """One file has them all, and some random functions: it is compiled once."""
    file = tmp_path / "idioms.c"
    file.write_text(text_of(IDIOMS) + program(0, N_RANDOM))
    monkeypatch.setattr(outside, "N_TRIALS", 2)
    found = outside.Found()
    outside.check_file(str(file), [], found)
    assert not found.wrong
    assert found.n_functions == len(IDIOMS) + N_RANDOM
    assert found.n_parallel >= len(IDIOMS) + 2, found.reasons
    assert not {one.split()[0] for one in found.reasons} - {"(refused:", "(the"}, found.reasons
    assert found.n_compared >= 1.5 * len(IDIOMS), found.reasons
    assert found.n_overlapping > 20


@pytest.mark.parametrize("seed", range(1, 100) if "KLEENE_DEEP" in os.environ else [])
def test_random_idioms_are_generated_as_the_c_has_them(tmp_path: Path, seed):
    file = tmp_path / "random.c"
    file.write_text(program(seed, 16))
    found = outside.Found()
    outside.check_file(str(file), [], found)
    assert not found.wrong
    assert found.n_compared > 48, found.reasons


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory):
    file = tmp_path_factory.mktemp("idioms") / "idioms.c"
    names = ("record", "globals", "moving", "written global", "left in a record")
    file.write_text(text_of({name: IDIOMS[name] for name in names}))
    return kleene.load(str(file)).kernels()


def record(n: int) -> dict[str, object]:
    taps, memory = np.arange(8, dtype="float32"), np.ones(2, "float32")
    own = types.SimpleNamespace(n=n, taps=taps)
    return {"own": own, "first": {"gain": 2.0, "memory": memory}, "rows": 2}


def test_a_record_is_a_dictionary_or_an_object(loaded):
    x, y = np.ones(4, "float32"), np.zeros(4, "float32")
    assert loaded.record(record(4), x, y) == 0
    np.testing.assert_array_equal(y, [4, 5, 6, 7])
    assert repr(loaded.record) == "<generated record(s, x, y)>"


def test_fields_hold_what_a_call_leaves_in_them(loaded):
    a = np.arange(5, dtype="float32")
    named, keyed = types.SimpleNamespace(gain=0.0, n=7), {"gain": 0.0, "n": 7}
    for one in (named, keyed):
        assert loaded.left_in_a_record(one, a, 5) == 12
    assert (named.gain, named.n) == (keyed["gain"], keyed["n"]) == (2.0, 12)
    assert loaded.left_in_a_record(keyed, a, 2) == -1
    assert keyed == {"gain": 2.0, "n": 12}


def test_return_codes_are_the_hosts(loaded):
    """No thread of the device is started for them, and nothing is fetched from there."""
    assert "run.scalar" not in loaded.record.python
    assert "run.fetch" not in loaded.record.python


def test_global_variables_are_named(loaded):
    a, b = np.ones(3), np.zeros(3, "float32")
    loaded.globals(3, a, b, shift=2.0)
    np.testing.assert_array_equal(a, [-7, -7, -7])
    np.testing.assert_allclose(b, [7.1, 1, -2.5], rtol=1e-6)
    bins = np.zeros(16, "int32")
    loaded.written_global(3, np.array([1, 17, 2], "int32"), bins=bins)
    np.testing.assert_array_equal(bins[:4], [0, 2, 1, 0])


def test_constant_tables_may_be_given(loaded):
    a, b = np.ones(1), np.zeros(1, "float32")
    loaded.globals(1, a, b, shift=0.0, weights=np.full(4, 9, "float32"))
    assert b[0] == 16


@pytest.mark.parametrize(
    ("call", "id", "parameter", "text"),
    [
        (lambda k: k.record({"own": {}}, 1, 1), "kernels/field-missing", "s", "no field 'own.n'"),
        (
            lambda k: k.globals(1, 1, 1),
            "kernels/argument-count",
            "shift",
            "call globals(n, a, b, shift=...)",
        ),
        (lambda k: k.globals(1, 1, 1, 1), "kernels/argument-count", "", "takes 3 arguments, not 4"),
        (lambda k: k.moving(1, 1, c=1), "kernels/argument-name", "c", "is no argument"),
        (lambda k: k.moving(1, 1, a=1), "kernels/argument-name", "a", "is given twice"),
        (lambda k: k.moving(1, a=1), "kernels/argument-count", "b", "'b' is not given"),
    ],
)
def test_what_does_not_fit_names_the_argument(loaded, call, id, parameter, text):
    with pytest.raises(ArgumentError) as caught:
        call(loaded)
    assert (caught.value.id, caught.value.parameter) == (id, parameter)
    assert text in str(caught.value)


def test_arrays_of_records_and_globals_are_checked(loaded):
    s = record(4)
    x = np.ones(4, "float32")
    s["first"]["memory"] = x
    with pytest.warns(FallbackWarning, match="y and s_first_memory|s_first_memory and y"):
        loaded.record(s, np.ones(4, "float32"), x)
    with pytest.raises(ArgumentError, match="'s_first_memory' has 1 elements, 2 are needed"):
        loaded.record(record(4) | {"first": {"gain": 1.0, "memory": x[:1]}}, x, x.copy())


def test_tables_are_moved_as_a_whole(loaded):
    with pytest.raises(ArgumentError, match="'weights' has 3 elements, 4 are needed"):
        loaded.globals(
            1, np.ones(1), np.ones(1, "float32"), shift=0.0, weights=np.ones(3, "float32")
        )
    text, left = files.file_of([loaded.globals.plan, loaded.record.plan], "cuda")
    assert not left
    assert "record_i" in text


def test_a_file_that_stands_alone_has_the_tables(loaded):
    text, _ = files.file_of([loaded.globals.plan], "python")
    assert "('shift', True, None, None)" in text
    assert "('table', True, np.array([1, -2, 3, 0, 7, 0, 0, 0], 'int16'), None)" in text
    compile(text, "globals.py", "exec")


REFUSED = {
    "one record or two": """void @(struct filter *p, struct filter *q, int *a) {
      p->n = 3; for (int i = 0; i < q->n; i++) a[i] = 0; }""",
    "written scalar": "void @(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 0; shift = n; }",
    "returned inside": """int @(int n, int *a) {
      for (int i = 0; i < n; i++) { a[i] = 0; if (i > 3) return 1; } return 0; }""",
    "kept": """void @(int n, int *a) {
      static int calls; calls++; for (int i = 0; i < n; i++) a[i] = calls; }""",
    "two arrays": """void @(int n, int *a, int *b, int c) {
      int *p = c ? a : b; for (int i = 0; i < n; i++) p[i] = 0; }""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_such_form_is_refused(tmp_path: Path, name):
    file = tmp_path / "a.c"
    file.write_text(text_of({name: REFUSED[name]}))
    result = kleene.load(str(file)).kernels()
    with pytest.raises(kleene.SourceError) as caught:
        result.generated(name.replace(" ", "_"))
    assert caught.value.id == "kernels/not-generated"
