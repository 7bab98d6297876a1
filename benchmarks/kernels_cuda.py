"""How fast are generated kernels, beside C, kernels written by hand, cuBLAS and a naive mapping?

    python benchmarks/kernels_cuda.py write FOLDER             where kleene and its packages are
    python benchmarks/kernels_cuda.py run FOLDER OUT.json ...  where the GPU is: NumPy, CuPy suffice
    python benchmarks/kernels_cuda.py table OUT.json ...       predicts, and writes the results

`write` generates the thirty computations and six more (kernels, the Python that launches them, the
C compiled for any x86-64 with AVX2), the same with the outermost parallel loop alone on the grid,
and some with every order of loops on the grid and several shapes of blocks. `run` compares each
with the C as it is written, and times it. `--only best,hand` chooses what to time, `--programs
gemm,atax` what to write or run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kernels_cuda_programs import PARTS


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["write", "run", "table"])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--programs", default="")
    given = parser.parse_args()
    only = {one for one in given.programs.split(",") if one}
    if given.mode == "write":
        from kernels_cuda_write import write

        write(*given.paths, only)
    elif given.mode == "run":
        from kernels_cuda_measure import run

        run(*given.paths, set(given.only.split(",")), only)
    else:
        from kernels_cuda_results import table

        table(*given.paths)


if __name__ == "__main__":
    main()
