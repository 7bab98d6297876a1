"""How many of the calls that a C++ program made on its own lines the answer lists.

A call through a pointer that ran is *missed* if the answer neither lists its target nor says that
the call may reach unknown code; *known* if it lists the target; else *unknown*.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.frontends.c.compiler import Options
from kleene.ir.codes import ValueKind
from kleene.runtime import pointer_trace
from kleene.runtime.pointer_trace import About, Run
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.observing import answer, instrumented, load

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


@dataclass(frozen=True)
class Library:
    """A C++ library: the words that compile with its headers, and those that link with it."""

    compiles: tuple[str, ...] = ()
    links: tuple[str, ...] = ()  # none: the library of the bundled compiler


def libstdcxx() -> Library | None:
    """Return the libstdc++ of this machine, None if it has no headers of one."""
    target = f"{platform.machine()}-linux-gnu"
    found = [path for path in Path("/usr/include/c++").glob("*") if path.name.isdigit()]
    libraries = [Path(f"/usr/lib/{target}/{name}") for name in ("libstdc++.so.6", "libgcc_s.so.1")]
    if not found or not all(library.exists() for library in libraries):
        return None
    headers = max(found, key=lambda path: int(path.name))
    of_machine = Path(f"/usr/include/{target}/c++/{headers.name}")
    version = ("-target", f"{target}.{platform.libc_ver()[1]}")
    folders = ("-isystem", str(headers), "-isystem", str(of_machine))
    return Library(
        (*version, "-nostdinc++", *folders), (*version, *(str(library) for library in libraries))
    )


def calls_of(source: Path, folder: Path, library: Library | None = None) -> Calls:
    """Return the calls of a C++ program, compiled with a C++ library, run and compared."""
    library = library or Library()
    loaded = load(source, options=Options(standards=("c++20",), flags=library.compiles))
    system, solution = answer(loaded.program)
    own = replace(loaded, text=with_own_copies(loaded.text), needs_cxx=not library.links)
    run = pointer_trace.run(instrumented(own, system, folder, flags=library.links))
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
    r"^define (?:linkonce_odr|weak_odr|available_externally) (?:hidden )?"
    r"(.*@_ZZ?N?K?(?:S[tabdios]|9__gnu_cxx).*\))( .*\{)$",
    re.MULTILINE,
)
_TABLE = re.compile(
    r"^(@_ZT[VTC]N?S[tabdios]\w* = )(?:linkonce_odr|weak_odr|available_externally) (?:hidden )?"
    r"(.*?), comdat(?:\([^)]*\))?(.*)$",
    re.MULTILINE,
)


def with_own_copies(text: str) -> str:
    """Return a module whose functions and virtual tables of the library are its own.

    The C++ library has the same inline functions and would call the module's instead: what its
    code does with them is no part of the program, and what models say of it.
    """
    text = _TABLE.sub(r"\1internal \2\3", text)
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
