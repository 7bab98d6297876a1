"""Published algorithms, as printed: baselines for benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kleene.base.arrays import I32
from kleene.kernels import bits
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers.inclusion.cpu.answer import call_edges
from kleene.solvers.inclusion.problem import Problem
from kleene.solvers.inclusion.solution import Rows, Solution

_HERE = Path(__file__).parent
_ROOM = _HERE.parent
_UNIT = CompilationUnit(_HERE, _ROOM / "problem.py", _ROOM / "cuda" / "tables.py", bits.__file__)
entry_point, device_function = _UNIT.entry_point, _UNIT.device_function


def closed(problem: Problem, row_of: I32, rows: Rows, statistics: Mapping[str, float]) -> Solution:
    """Return the answer to a problem without an outside world."""
    return Solution(
        row_of=row_of,
        rows=rows,
        unknown=np.zeros(problem.n_nodes, bool),
        escaped=np.zeros(problem.n_objects, bool),
        call_edges=call_edges(problem, rows, row_of),
        calls_outside=np.zeros(problem.n_calls, bool),
        statistics=statistics,
    )
