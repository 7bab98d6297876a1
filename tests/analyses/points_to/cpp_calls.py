"""How many of the calls that a C++ program made on its own lines the answer lists.

A call through a pointer that ran is *missed* if the answer neither lists its target nor says that
the call may reach unknown code; *known* if it lists the target; else *unknown*.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.frontends.c.compiler import Options
from kleene.ir.codes import ValueKind
from kleene.runtime.pointer_trace import About, Run
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.observing import answer, load, observe

PROGRAMS = Path(__file__).parents[2] / "programs" / "cpp"


@dataclass(frozen=True)
class Calls:
    """What one run showed, and what the answer says of it."""

    status: int
    output: bytes
    missed: tuple[str, ...]  # every kind of fact, in words
    n_known: int  # executed (call, target) pairs on the program's own lines
    n_unknown: int
    n_lost: int
    n_listed: int  # targets that the answer lists at those calls
    unknown_pointers: float  # the share of values that may be unknown, of those that ran

    @property
    def known_share(self) -> float:
        """The share of executed pairs that the answer lists."""
        return self.n_known / max(self.n_known + self.n_unknown + self.n_lost, 1)

    @property
    def targets_per_executed(self) -> float:
        """How many targets are listed for each that ran."""
        return self.n_listed / max(self.n_known, 1)


def calls_of(source: Path, folder: Path) -> Calls:
    """Return the calls of a C++ program, run and compared."""
    loaded = load(source, options=Options(standards=("c++20",)))
    system, solution = answer(loaded.program)
    run = observe(replace(loaded, text=with_own_copies(loaded.text)), system, folder)
    coverage = Coverage(loaded.program, system, solution)
    found, listed = _counted(coverage, run, source.name)
    values = np.unique(run.facts["value"][run.facts["what"] == About.VALUE])
    return Calls(
        run.status,
        run.output,
        tuple(coverage.misses(run)),
        found["known"],
        found["unknown"],
        found["lost"],
        listed,
        float(solution.unknown[values].mean()),
    )


_SHARED = re.compile(
    r"^define (?:linkonce_odr|weak_odr|available_externally) (?:hidden )?(.*@_ZN?K?St.*\))( .*\{)$",
    re.MULTILINE,
)


def with_own_copies(text: str) -> str:
    """Return a module whose functions of the library are its own.

    The C++ library has the same inline functions and would call the module's instead: what its
    code does with them is no part of the program, and what models say of it.
    """
    return _SHARED.sub(lambda f: f"define internal {f[1]}{re.sub(' comdat[^ ]*', '', f[2])}", text)


def _counted(coverage: Coverage, run: Run, file: str) -> tuple[Counter[str], int]:
    """Return executed pairs on the lines of `file` by their kind, and the targets listed there."""
    program, system = coverage.program, coverage.system
    base, found, sites = program.bases[ValueKind.INSTRUCTION], Counter[str](), set()
    for fact in run.facts[run.facts["what"] == About.CALL]:
        row = int(fact["value"]) - base
        span = program.value_view(int(fact["value"])).span
        kind, site, _ = fact["at"].tolist()
        if span is None or Path(span.file).name != file or kind != AllocationKind.FUNCTION:
            continue
        rules = np.flatnonzero(system.origins.call == row)
        sites.add(row)
        if site in coverage.targets(rules):
            found["known"] += 1
        else:
            is_open = bool(coverage.solution.calls_outside[rules].any())
            found["unknown" if is_open else "lost"] += 1
    rules = [np.flatnonzero(system.origins.call == row) for row in sorted(sites)]
    return found, sum(len(coverage.targets(rule)) for rule in rules)
