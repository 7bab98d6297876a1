"""What generated kernels are measured beside: kernels by hand, and calls of CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from kernels_cuda_programs import N_BINS


def hand_written(name: str, m: dict[str, Any], launch: Any) -> Callable[[], None]:
    """Return the call of kernels that were written by hand."""
    i32, p = np.int32, m

    def parts(count: int, size: int) -> int:
        return -(-count // size)

    def gemm() -> None:
        ni, nj, nk = m["ni"], m["nj"], m["nk"]
        sizes = (i32(ni), i32(nj), i32(nk), np.float64(m["alpha"]), np.float64(m["beta"]))
        launch("gemm", (parts(nj, 64), parts(ni, 128)), (256,), (*sizes, p["c"], p["a"], p["b"]))

    def jacobi_2d() -> None:
        n = m["n"]
        grid = (parts(n - 2, 32), parts(n - 2, 8))
        for _ in range(m["steps"]):
            launch("jacobi", grid, (32, 8), (i32(n), p["a"], p["b"]))
            launch("jacobi", grid, (32, 8), (i32(n), p["b"], p["a"]))

    def atax() -> None:
        rows, columns = m["m"], m["n"]
        m["y"][:columns] = 0
        sizes = (i32(rows), i32(columns))
        launch("atax_rows", (parts(rows, 8),), (256,), (*sizes, p["a"], p["x"], p["ax"]))
        grid = (parts(columns, 256), parts(rows, 128))
        launch("atax_columns", grid, (256,), (*sizes, p["a"], p["ax"], p["y"]))

    def correlation() -> None:
        columns, rows = m["m"], m["n"]
        m["mean"][:columns] = 0
        m["deviation"][:columns] = 0
        sizes, grid = (i32(columns), i32(rows)), (parts(columns, 128), parts(rows, 128))
        args = (p["data"], p["mean"])
        launch("column_sums", grid, (128,), (*sizes, i32(0), *args, p["mean"]))
        launch("column_sums", grid, (128,), (*sizes, i32(1), *args, p["deviation"]))
        grid = (parts(columns, 32), parts(rows, 8))
        args = (*sizes, p["data"], p["mean"], p["deviation"])
        launch("standardise", grid, (32, 8), args)
        launch("finish", (parts(columns, 128),), (128,), (*sizes, p["mean"], p["deviation"]))
        n_tiles = parts(columns, 64)
        launch("products", (n_tiles, n_tiles), (256,), (*sizes, p["data"], p["corr"]))

    def floyd_warshall() -> None:
        n = m["n"]
        grid = (parts(n, 32), parts(n, 8))
        for k in range(n):
            launch("floyd_round", grid, (32, 8), (i32(n), i32(k), p["path"]))

    def convolve() -> None:
        height, width, size = m["height"], m["width"], m["size"]
        grid = (parts(width - size + 1, 32), parts(height - size + 1, 8))
        sizes = (i32(height), i32(width), i32(size))
        launch("convolve", grid, (32, 8), (*sizes, p["picture"], p["filter"], p["out"]))

    calls = (gemm, jacobi_2d, atax, correlation, floyd_warshall, convolve)
    return {one.__name__: one for one in calls}[name]


def by_library(name: str, m: dict[str, Any], one: dict[str, Any]) -> Any:
    """Return the CuPy calls that compute the same, if a few do."""
    import cupy

    shaped = {}
    for own, kind, _ in one["parameters"]:
        if kind == "array":
            extents = [m[e] if isinstance(e, str) else int(e) for e in one["rows"][own]]
            shaped[own] = m[own] if not extents else m[own].reshape(-1, *extents)
    s = type("Shaped", (), shaped)
    calls = {
        "gemm": lambda: 1.2 * (s.a[: m["ni"]] @ s.b[: m["nk"]]) + 1.2 * s.c[: m["ni"]],
        "two_products": lambda: 1.2 * (s.a @ s.b) @ s.c + 1.2 * s.d,
        "atax": lambda: s.a[: m["m"]].T @ (s.a[: m["m"]] @ s.x[: m["n"]]),
        "bicg": lambda: (s.a[: m["n"]].T @ s.r[: m["n"]], s.a[: m["n"]] @ s.p[: m["m"]]),
        "mvt": lambda: (s.a @ s.y1, s.a.T @ s.y2),
        "gesummv": lambda: 1.2 * (s.a @ s.x) + 1.2 * (s.b @ s.x),
        "syrk": lambda: 1.2 * (s.a @ s.a.T) + 1.2 * s.c,
        "syr2k": lambda: 1.2 * (s.a @ s.b.T + s.b @ s.a.T) + 1.2 * s.c,
        "covariance": lambda: cupy.cov(s.data, rowvar=False),
        "correlation": lambda: cupy.corrcoef(s.data, rowvar=False),
        "cholesky": lambda: cupy.linalg.cholesky(s.a[: m["n"]]),
        "prefix_sums": lambda: cupy.cumsum(s.a, dtype=s.a.dtype),
        "greatest": lambda: s.a.max(),
        "place": lambda: s.a.argmax(),
        "histogram": lambda: cupy.bincount(s.keys, minlength=N_BINS),
    }
    return calls.get(name)
