"""OpenMP directives: clauses, refusals, and patched programs that give the same results."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offload.kernels.loop_programs import unit

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from kleene.offload.kernels import Kernels
from kleene.offload.kernels.openmp import Directive, directives, patch

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
enum { N = 400 };
static long h[16];
struct grid { int width; int *cells; };

void add(int n, const int *a, const int *b, int *c) {
  for (int i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}
void fill(struct grid *g, int rows) {
  int i, j;
  for (i = 0; i < rows; i++)
    for (j = 0; j < g->width; j++)
      g->cells[i * g->width + j] = i * 31 + j;
}
int last(int n, const int *restrict a, int *restrict b) {
  int i, t = 0, scratch[4];
  for (i = 0; i < n; i++) {
    t = a[i] * 2;
    scratch[0] = t; scratch[1] = t + 1;
    b[i] = scratch[0] * scratch[1];
  }
  return i * 1000 + t;
}
long sums(int n, const int *a, long *total) {
  long best = -1;
  int k = 7, x = 0;
  for (int i = 0; i < n; i++) { *total += a[i]; if (a[i] > best) best = a[i]; x ^= a[i] + k; }
  return best * 3 + x;
}
void bins(int n, const int *a) { for (int i = 0; i < n; i++) h[a[i] & 15] += i; }
void triangle(int n, double m[][N]) {
  for (int i = 0; i < n; i++) {
    double row = i * 0.5;
    for (int j = 0; j <= i; j++) m[i][j] = row + j;
  }
}
void square(int n, int k, double m[][N]) {
  for (int i = 0; i < n; i++) { /* rows */
    for (int j = 1; j < k; j++) {
      m[i][j] *= 2;
    }
  }
}
void shift(int n, int *a) { for (int i = 0; i < n - 1; i++) a[i] = a[i + 1]; }

static double m[N][N];
int main(void) {
  int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), *c = malloc(N * sizeof *c);
  for (int i = 0; i < N; i++) { a[i] = i * 7919 % 1000; b[i] = i; c[i] = 0; }
  long total = 5, check = 0;
  add(N, a, b, c);
  add(N - 1, a, b, a + 1);  /* each sum is read by the next */
  struct grid g = {20, malloc(20 * 10 * sizeof(int))}, none = {0, 0};
  fill(&g, 10);
  fill(&none, 3);
  fill(NULL, 0);
  printf("%d %ld\\n", last(N, a, b), sums(N, a, &total));
  bins(N, c);
  triangle(N, m);
  square(N, 30, m);
  shift(N, c);
  for (int i = 0; i < N; i++) check = check * 31 % 1000003 + a[i] + b[i] + c[i] + (long)m[i][i / 2];
  for (int i = 0; i < 200; i++) check += g.cells[i];
  for (int i = 0; i < 16; i++) check += h[i] * i;
  printf("%ld %ld\\n", total, check);
  return 0;
}
"""


def found_in(tmp_path: Path, code: str) -> list[Directive]:
    file = tmp_path / "a.c"
    file.write_text(code)
    return directives(Kernels().verdicts_on([unit(file)]))


def texts(tmp_path: Path, code: str) -> list[str]:
    return [one.text or one.reason for one in found_in(tmp_path, code)]


def test_clauses(tmp_path: Path) -> None:
    found = texts(tmp_path, PROGRAM)
    assert found[0].startswith("omp parallel for if((")
    assert "(char *)c + 4*(long long)n <= (char *)a + 0" in found[0]
    fill = found[1]
    assert fill.startswith("omp parallel for private(j) if((long long)rows > 0 && "), "no collapse"
    assert "(char *)(g->cells)" in fill
    assert "omp parallel for private(scratch) lastprivate(t, i)" in found
    sums = next(one for one in found if "total" in one)
    assert "reduction(+:total[0:1]) reduction(max:best) reduction(^:x)" in sums
    assert any(one.startswith("omp parallel for reduction(+:h)") for one in found)
    assert "it needs a snapshot of a" in found
    assert "omp parallel for collapse(2)" in found


def test_what_the_test_of_the_loop_loads_is_loaded_without_a_guard(tmp_path: Path) -> None:
    code = """struct v { int n; double *data; }; void f(struct v *x, double *y) {
      for (int i = 0; i < x->n; i++) x->data[i] = y[i]; }"""
    (found,) = texts(tmp_path, code)
    assert found.startswith("omp parallel for if((long long)(x->n) > 0 && (")
    assert "(char *)(x->data) + 8*(long long)(x->n) <= (char *)y + 0" in found
    guarded = code.replace("x->data[i] = y[i]", "if (y[i] > 0) x->data[i] = y[i]")
    assert "x->data is not always loaded" in texts(tmp_path, guarded)[0]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("int k = 3; for (int i = 0; i < n; i++) { a[k] = i; k += 2; }", "write k += 2 as"),
        ("for (int i = 0; i < n; i++) { if (a[i] > 0) t = a[i]; }  a[0] = t;",
         "keeps the value of the last iteration that writes it"),
        ("int i = 0; while (i < n) { a[i] = 0; i++; }", "it is not written as a for loop"),
        ("for (int i = 0, j = 9; i < n; i++) a[i] = j;", "its head is not"),
        ("for (int i = 0; i < n; i++) b[c[i]] += 1;", "the section of b has no bounds"),
        ("int *p = g; for (int i = 0; i < n; i++) p[i & 7] += 1;", "p[i & 7] leads to g"),
        ("for (int i = 0; i < n; i++) { T = i; a[i] = use(); }", "may use the global T"),
        ("#pragma omp parallel for\n for (int i = 0; i < n; i++) a[i] = 0;", "has a directive"),
        ("n = n / 2; for (int i = 0; i < n; i++) a[i] = c[i];", "n has no name before the loop"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, code: str, reason: str) -> None:
    head = "int g[8], T; int use(void) { return T; }\n"
    arguments = "int n, int t, int *restrict a, int *restrict b, const int *c"
    if "c[i];" in code:
        arguments = arguments.replace("*restrict a", "*a").replace("const int *c", "int *c")
    found = found_in(tmp_path, f"{head}void f({arguments}) {{\n{code}\n}}")
    assert [one.text for one in found] == [""]
    assert reason in found[0].reason


def patched(tmp_path: Path) -> Path:
    """Return the program with its directives, put in by `patch`."""
    program = shutil.which("patch")
    if program is None:
        pytest.skip("patch is not installed")
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "a.c"
    found = found_in(tmp_path / "sub", PROGRAM)
    assert sum(bool(one.text) for one in found) >= 8
    text = patch(found, tmp_path)
    assert text.startswith("--- a/sub/a.c\n+++ b/sub/a.c\n")
    subprocess.run(
        [program, "-p1", "--fuzz=0"], input=text, text=True, cwd=tmp_path, check=True, timeout=60
    )
    return file


def test_the_patched_program_compiles(tmp_path: Path) -> None:
    file = patched(tmp_path)
    assert file.read_text().count("omp parallel for") >= 8
    command = [sys.executable, "-m", "ziglang", "cc", "-fopenmp", "-Wall", "-Werror", "-c"]
    command += ["-Wno-unused", str(file), "-o", str(tmp_path / "a.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_the_patched_program_gives_the_same_results(tmp_path: Path) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed: the bundled compiler has no OpenMP runtime")
    file = patched(tmp_path)
    plain = tmp_path / "plain.c"
    plain.write_text(PROGRAM)
    outputs = []
    for source, threads in ((plain, "1"), (file, "1"), (file, "4"), (file, "7")):
        binary = tmp_path / f"{source.stem}{threads}"
        subprocess.run(
            [gcc, "-O1", "-fopenmp", str(source), "-o", str(binary)], check=True, timeout=120
        )
        run = subprocess.run(
            [str(binary)], env={"OMP_NUM_THREADS": threads}, capture_output=True, timeout=60
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert len(set(outputs)) == 1, outputs


def test_a_file_without_a_last_newline_and_loops_inside_of_lines(tmp_path: Path) -> None:
    code = "void f(int n, int *a) { for (int i = 0; i < n; i++) a[i] = 0; }"
    text = patch(found_in(tmp_path, code), tmp_path)
    assert '+void f(int n, int *a) { _Pragma("omp parallel for") for (int i = 0;' in text
    assert text.count("\\ No newline at end of file") == 2
