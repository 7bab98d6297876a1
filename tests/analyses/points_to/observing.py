"""A program compiled, analysed, run and compared: the pipeline of every run-time check."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from kleene.analyses.points_to import PointsTo
from kleene.analyses.points_to.memory_model import ConstraintSystem
from kleene.frontends.c import reader, worker
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.units import gather
from kleene.ir import Program
from kleene.runtime import pointer_trace
from kleene.runtime.pointer_trace import Run
from kleene.solvers.inclusion import Solution
from tests.analyses.points_to.covering import Coverage, made_by
from tests.analyses.points_to.watching import watch_of
from tests.frontends.c.pipeline import NO_CACHE, printed

_UNDEFINED = re.compile(r"\[ (?:undef|poison), %")
PROGRAMS = Path(__file__).parents[2] / "programs" / "c"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module's text, and the program read from the same module."""

    text: str
    program: Program
    needs_cxx: bool


def load(*sources: Path, options: Options | None = None) -> Loaded:
    """Return the one module that the sources make; linked in this process, which is quicker."""
    units = gather(
        discover([str(source) for source in sources]),
        options=options or Options(),
        cc=None,
        cache=NO_CACHE,
        jobs=None,
        normalise=False,
    )
    raw, *_ = worker.build(units)
    needs_cxx = any(source.suffix == ".cpp" for source in sources)
    return Loaded(printed(raw), reader.read(raw), needs_cxx)


def answer(program: Program, *, library: bool = False) -> tuple[ConstraintSystem, Solution]:
    """Return what a program says, and its solution on the CPU."""
    result = PointsTo(library=library).run(program, device="cpu")
    return result.system, result.solution


def instrumented(
    loaded: Loaded, system: ConstraintSystem, folder: Path, *, flags: tuple[str, ...] = ()
) -> Path:
    """Return an executable that shows what it does; `system` says which calls make storage."""
    watch = watch_of(loaded.program, *made_by(loaded.program, system))
    executable = folder / "observed"
    # What a phi takes from nowhere is whatever lay in a register: no address that was made.
    text = _UNDEFINED.sub(r"[ zeroinitializer, %", loaded.text)
    text = pointer_trace.instrument(text, watch)
    pointer_trace.build(text, executable, cxx=loaded.needs_cxx, flags=flags)
    return executable


def observe(loaded: Loaded, system: ConstraintSystem, folder: Path) -> Run:
    """Return what a run without arguments shows."""
    return pointer_trace.run(instrumented(loaded, system, folder))


def misses(loaded: Loaded, system: ConstraintSystem, solution: Solution, run: Run) -> str:
    """Return what the answer does not cover, a line each."""
    return "\n".join(Coverage(loaded.program, system, solution).misses(run))


def assert_covers(loaded: Loaded, system: ConstraintSystem, solution: Solution, run: Run) -> None:
    """Fail with the misses, if there are any."""
    if found := misses(loaded, system, solution, run):
        pytest.fail(f"{found.count(chr(10)) + 1} facts are not covered:\n{found[:4000]}")
