"""Why are points-to sets of real programs larger or smaller than SVF's? One thing off at a time.

SVF takes code that it does not see to do nothing, so the first step makes ours do the same; what
follows is switched off on top of that, each alone. None but the first row of a program is an answer
to rely on: the others say what a rule costs. How sets are counted is said in `set_sizes` and `svf`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from harness import Table, measure
from set_sizes import set_sizes
from svf import Svf, svf_of

import kleene
from kleene.analyses.points_to import PointsTo
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.library import builtin
from kleene.ir import Program
from kleene.ir.codes import GlobalFlag, GlobalKind, TypeKind
from kleene.solvers import inclusion

HERE = Path(__file__).parent
DATA = Path(os.environ.get("KLEENE_DATA") or HERE.parents[1] / "shared" / "data") / "bitcode"
PROGRAMS = ("dc", "bc", "curl", "htop", "lua", "libcurl.so", "nginx")
LIBRARIES = ("libcurl.so",)
POOLS = {"nginx": ("ngx_palloc", "ngx_pnalloc", "ngx_pcalloc", "ngx_pmemalign")}
CONSTRAINTS = "kleene.analyses.points_to.constraints"
WRAPPERS = "kleene.analyses.points_to.constraints.heap.find_wrappers"


def _any_callee(_builder: PointerBuilder, callee: Any, *_: object) -> Any:
    return callee


def _pointers_alone(columns: Columns) -> Any:
    return np.asarray(columns.program.types.kind == TypeKind.POINTER)


def _stay(builder: PointerBuilder, destination: Any, source: Any, origin: Any = -1) -> None:
    builder.copy(destination, source, origin)


def _nothing(*_: object) -> None:
    return None


@contextmanager
def _seen_by_nobody() -> Iterator[None]:
    with patch(f"{CONSTRAINTS}.storage.generate_exports", _nothing):
        yield


def _none_found(*_: object) -> dict[int, Any]:
    return {}


PLAIN_WRAPPERS = "allocation wrappers are functions like others"
TABLES = {  # of these SVF loses the contents, or some of them: see `svf`
    "arrays of pointers begin with nothing in them": TypeKind.POINTER,
    "arrays of structs begin with nothing in them": TypeKind.STRUCT,
}
OFF: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    PLAIN_WRAPPERS: lambda: patch(WRAPPERS, _none_found),
    "a call reaches functions of any number of arguments": lambda: patch.object(
        PointerBuilder, "callable_with", _any_callee
    ),
    "integers hold no addresses": lambda: patch.object(Columns, "_is_wide", _pointers_alone),
    "an offset of unknown amount stays": lambda: patch.object(
        PointerBuilder, "unknown_offset", _stay
    ),
    "structs and memory are not copied": lambda: patch.object(
        PointerBuilder, "copy_bytes", _nothing
    ),
    "calls through pointers do nothing": lambda: patch(
        f"{CONSTRAINTS}.functions.generate_indirect", _nothing
    ),
}


def main() -> None:
    if not DATA.exists():
        sys.exit(f"the programs are not in {DATA}: set KLEENE_DATA to the folder that has bitcode/")
    table = Table("points_to_precision", "Why do points-to sets differ in size from SVF's?")
    for name in PROGRAMS:
        program = kleene.load(DATA / f"{name}.bc")
        ask(table, name, program, svf_of(name, DATA / f"{name}.bc"))
    table.save()


def ask(table: Table, name: str, program: Program, svf: Svf) -> None:
    """Add the rows of a program."""
    library = name in LIBRARIES
    add(table, name, "as analysed", program, PointsTo(library=library), svf)
    with tempfile.TemporaryDirectory() as folder, _seen_by_nobody():
        models = Path(folder) / "nothing.txt"
        models.write_text(nothing(program, library))
        closed = PointsTo(library=library, models=(models,))
        add(table, name, "unknown code does nothing", program, closed, svf)
        for what, switch in OFF.items():
            with switch():
                add(table, name, f"and {what}", program, closed, svf)
        for what, element in TABLES.items():
            bare = without_tables(program, element)
            add(table, name, f"and {what}", bare, closed, svf)
            with OFF[PLAIN_WRAPPERS]():
                add(table, name, f"and {what}, and {PLAIN_WRAPPERS}", bare, closed, svf)
        if wrappers := POOLS.get(name):
            pools = PointsTo(library=library, models=(models,), wrappers=wrappers)
            add(table, name, "and calls of pools have storage of their own", program, pools, svf)


def without_tables(program: Program, element: TypeKind) -> Program:
    """Return the program with no initialiser for global arrays of such elements."""
    types, table = program.types, program.globals
    arrays = np.flatnonzero(types.kind == TypeKind.ARRAY)
    chosen = [row for row in arrays if types.kind[types.elements_of(int(row))[0]] == element]
    initializer = table.initializer.copy()
    initializer[np.isin(table.type, chosen)] = -1
    return replace(program, globals=replace(table, initializer=initializer))


def nothing(program: Program, library: bool) -> str:
    """Return models by which what the program does not show does nothing, and contains nothing."""
    externals = PointsTo(library=library).constraints(program).externals
    functions = ["dlsym", *(external.name for external in externals if not external.is_modelled)]
    table = program.globals
    is_outside = (table.kind == GlobalKind.VARIABLE) & (table.flags & GlobalFlag.DECLARATION != 0)
    names = (program.strings[int(table.name[row])] for row in np.flatnonzero(is_outside))
    variables = [name for name in names if builtin().find(name) is None]
    lines = [f"{' '.join(functions)}: nothing"]
    lines += [f"{' '.join(variables)}: holds _"] if variables else []
    return "\n".join(lines) + "\n"


def add(table: Table, name: str, what: str, program: Program, analysis: PointsTo, svf: Svf) -> None:
    """Add one row."""
    system = analysis.constraints(program)
    solved = measure(lambda: inclusion.solve(system.problem, device="cpu", threads=1), repeat=1)
    found = set_sizes(program, system, solved.result)
    table.row(
        input=f"{name}: {what}",
        size=f"{system.problem.n_constraints} constraints",
        ours=solved,
        **{
            "unknown": found["unknown_share"],
            "average, as SVF counts": found["average_likened"],
            "SVF average": svf.average_pointers,
            "ours / SVF": found["average_likened"] / svf.average_pointers,
            "functions among them": found["average_functions"],
            "of all nodes": found["average_likened_of_all"],
            "SVF of all nodes": svf.average,
            "allocations": found["average_allocations"],
            "locations": found["average_locations"],
            "targets of calls": found["n_targets"],
            "calls that leave": found["n_leaving"],
            "SVF targets": svf.n_targets,
        },
    )


if __name__ == "__main__":
    main()
