"""The computations of the benchmark of generated kernels, and their sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "tests" / "programs" / "polybench"
SIZES: dict[str, tuple[int, ...]] = {  # integer parameters in their order
    "two_products": (2048,) * 4,
    "three_products": (2048,) * 5,
    "adi": (10, 1024),
    "atax": (8192, 8192),
    "bicg": (8192, 8192),
    "cholesky": (400,),
    "correlation": (2048, 2048),
    "covariance": (2048, 2048),
    "deriche": (4096, 4096),
    "doitgen": (64, 64, 256),
    "durbin": (4000,),
    "fdtd_2d": (50, 4096, 4096),
    "floyd_warshall": (1024,),
    "gemm": (4096, 4096, 4096),
    "gemver": (8192,),
    "gesummv": (8192,),
    "gramschmidt": (1024, 512),
    "heat_3d": (50, 256),
    "jacobi_1d": (200, 4_000_000),
    "jacobi_2d": (100, 4096),
    "lu": (400,),
    "ludcmp": (400,),
    "mvt": (8192,),
    "nussinov": (1024,),
    "seidel_2d": (4, 1024),
    "symm": (1024, 1024),
    "syr2k": (2048, 2048),
    "syrk": (2048, 2048),
    "trisolv": (4000,),
    "trmm": (1024, 1024),
    "matrix_add": (8192,),
    "prefix_sums": (1 << 26,),
    "greatest": (8192,),
    "place": (8192,),
    "histogram": (1 << 26,),
    "convolve": (4096, 4096, 5),
}
# One core would need more than some seconds for these: it gets smaller ones.
ONE_CORE: dict[str, tuple[int, ...]] = {
    "two_products": (512,) * 4,
    "three_products": (512,) * 5,
    "correlation": (512, 512),
    "covariance": (512, 512),
    "gemm": (1024, 1024, 1024),
    "syr2k": (768, 768),
    "syrk": (768, 768),
    "heat_3d": (10, 256),
    "fdtd_2d": (10, 4096, 4096),
    "jacobi_1d": (40, 4_000_000),
    "jacobi_2d": (20, 4096),
}
RANKED = ("matrix_add", "gemm", "syrk", "jacobi_2d", "heat_3d", "gesummv", "floyd_warshall")
RANKED_SIZES: dict[str, tuple[int, ...]] = {
    "gemm": (1024, 1024, 1024),
    "syrk": (1024, 1024),
    "jacobi_2d": (10, 4096),
    "heat_3d": (4, 256),
    "floyd_warshall": (512,),
}
BLOCKS = {2: [(32, 8), (16, 16), (64, 4), (128, 2)], 3: [(32, 4, 2), (64, 2, 2), (16, 4, 4)]}
BY_HAND = ("gemm", "jacobi_2d", "atax", "correlation", "floyd_warshall", "convolve")
SMALL = 37
BUDGET_S = 1.5  # of the repeats of one variant of one computation
BOUND = 1e-6  # of a difference, relative to the largest element: durbin's is the greatest
ADDED = {  # besides the thirty
    "matrix_add": """
void matrix_add(int n, const int a[restrict n][n], const int b[restrict n][n],
                int c[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      c[i][j] = a[i][j] + b[i][j];
}
""",
    "prefix_sums": """
void prefix_sums(int n, const int *restrict a, int *restrict b) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += a[i];
    b[i] = s;
  }
}
""",
    "greatest": """
void greatest(int n, const double a[restrict n][n], double *restrict most) {
  double m = a[0][0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (a[i][j] > m) m = a[i][j];
  most[0] = m;
}
""",
    "place": """
void place(int n, const double a[restrict n][n], int *restrict at) {
  double m = a[0][0];
  int row = 0, column = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (a[i][j] > m) {
        m = a[i][j];
        row = i;
        column = j;
      }
  at[0] = row;
  at[1] = column;
}
""",
    "histogram": """
void histogram(int n, const int *restrict keys, int *restrict counts) {
  for (int i = 0; i < n; i++) counts[keys[i]]++;
}
""",
}
N_BINS = 256  # of the histogram
PARTS = ["small", "best", "kernels", "naive", "threads", "core", "library", "transfers", "hand"]
PARTS += ["ranked"]


def functions_of(folder: Path) -> list[tuple[Path, Any, Any]]:
    """Return the file, the tree and the verdicts of every computation."""
    from kleene.frontends.c.loops import read
    from kleene.frontends.c.source import Source
    from kleene.offload.kernels import Kernels

    files = sorted(PROGRAMS.glob("*.c"))
    for name, text in ADDED.items():
        files.append(folder / f"{name}.c")
        files[-1].write_text(text)
    files.append(ROOT / "examples" / "loops" / "convolution.c")
    units = read([Source(str(one), "c") for one in files])
    verdicts = Kernels(("size > 0",)).verdicts_on(units[-1:]).functions
    verdicts = [*Kernels().verdicts_on(units[:-1]).functions, *verdicts]
    by_name = {one.table.function: one for one in verdicts}
    found = []
    for file, unit in zip(files, units, strict=True):
        (function,) = unit.functions
        found.append((file, function, by_name[function.name]))
    return found
