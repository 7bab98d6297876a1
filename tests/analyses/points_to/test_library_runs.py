"""The models of the C library against the library itself.

Each program of tests/programs/library calls functions and shows pointers, a line each (`PROBE`).
Whatever two lines showed one address when it ran, the answer must say that they may alias.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to.constraints import generate
from kleene.analyses.points_to.library import of_lines
from kleene.analyses.points_to.library.language import parse_models
from kleene.analyses.points_to.result import PointsToResult
from kleene.ir import Program
from kleene.ir.codes import Opcode, ValueKind
from kleene.solvers import inclusion

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "library").glob("*.c"))
LIBRARY = Path(str(files("kleene.analyses.points_to.library"))) / "models"
FIRST_PAGE = 4096  # no address: null, and small numbers that functions return as pointers


@dataclass(frozen=True)
class Observed:
    """A program, and the lines that showed each address when it ran."""

    source: Path
    program: Program
    shown: dict[int, set[int]]


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda path: path.stem)
def observed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return observe(request.param, tmp_path_factory.mktemp("library"))


def observe(source: Path, folder: Path) -> Observed:
    return Observed(source, kleene.load(source, cache=False), run(source, folder))


def run(source: Path, folder: Path) -> dict[int, set[int]]:
    """Return the lines that showed each address."""
    executable = folder / source.stem
    compiler = [sys.executable, "-m", "ziglang", "cc", "-w", "-O0", "-fno-sanitize=undefined"]
    libraries = ("-rdynamic", "-lpthread", "-ldl", "-lrt")
    subprocess.run([*compiler, "-o", executable, source, *libraries], check=True, timeout=120)
    ended = subprocess.run(
        [executable], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    shown = defaultdict(set)
    for line, address in re.findall(r"^(\d+) ([0-9a-f]+)$", ended.stderr, re.MULTILINE):
        if int(address, 16) >= FIRST_PAGE:
            shown[int(address, 16)].add(int(line))
    return shown


def probes(program: Program) -> dict[int, int]:
    """Return the value that each line shows."""
    table, bases = program.instructions, program.bases
    probe = list(program.names.globals).index("probe")
    calls = map(table.operands_of, np.flatnonzero(table.opcode == Opcode.CALL).tolist())
    line_of = program.constants.payload
    return {
        int(line_of[line - bases[ValueKind.CONSTANT]]): int(pointer)
        for callee, line, pointer in (call for call in calls if call[0] == probe)
    }


def answered(program: Program, folder: Path, *models: str) -> PointsToResult:
    """Return the answer for a program; to show a pointer is to do nothing with it."""
    file = folder / "models.txt"
    file.write_text("\n".join(["probe: nothing", *models]))
    return program.points_to(device="cpu", models=(file,))


def denied(result: PointsToResult, observed: Observed) -> list[str]:
    """Return the equalities that were seen and are not in the answer."""
    source, shown = observed.source, observed.shown.values()
    value, text = probes(result.program), source.read_text("utf-8").splitlines()
    pairs = {pair for lines in shown for pair in combinations_with_replacement(sorted(lines), 2)}
    return [
        f"{source.name}:{x} {text[x - 1].strip()} == :{y} {text[y - 1].strip()}"
        for x, y in sorted(pairs)
        if not result.may_alias(value[x], value[y])
    ]


def test_every_equality_that_a_run_shows_is_in_the_answer(observed: Observed, tmp_path: Path):
    result = answered(observed.program, tmp_path)
    n_lines = len(set().union(*observed.shown.values()))
    assert n_lines > 0.8 * len(probes(result.program)), "most probes are reached, and show one"
    assert denied(result, observed) == []


def test_a_function_without_a_model_may_do_all_that_it_does(observed: Observed):
    """With the models of compiler intrinsics alone, every equality is in the answer too.

    That nobody looks up symbols of a program by name is assumed, and said; of a library it is not.
    """
    texts = [(LIBRARY / "00_llvm.txt").read_text("utf-8"), "probe: nothing"]
    intrinsics, probe = (of_lines(parse_models(text, "")) for text in texts)
    models, by_name = intrinsics.with_user(probe), observed.source.stem == "symbols"
    system = generate(observed.program, models=models, library_mode=by_name)
    solution = inclusion.solve(system.problem, device="cpu")
    assert {e.name for e in system.externals if e.is_modelled} == {"probe"}
    assert any("symbols by name" in text for text in system.assumptions) != by_name
    assert denied(PointsToResult(observed.program, system, solution), observed) == []


def test_a_model_left_out_is_noticed(tmp_path: Path):
    """The check has teeth: with the models of time taken away, equalities are denied."""
    observed = observe(next(path for path in PROGRAMS if path.stem == "time"), tmp_path)
    models = "localtime gmtime ctime asctime: returns static"
    found = denied(answered(observed.program, tmp_path, models), observed)
    assert any("gmtime" in line for line in found)
    assert any("asctime" in line for line in found)


EXCUSED = re.compile(
    "|".join(
        [
            r"__\w+_chk|__isoc\d\d_\w+|__register_atfork|\w+_internal",  # made by headers
            r"__cxa_\w+|call_once|v?wprintf|v?wscanf",  # are others in C++, C11 and wide characters
            r"getpass|getdate|ptsname|crypt(_r)?|getspnam|mq_.*|dlmopen|dlvsym",  # need a set-up
            r"_obstack_\w+",  # are called by macros of obstack.h
            r"strnstr|strtou?q|getwd|sys_errlist|(wcs|str)l(cpy|cat)",  # not in today's library
            r"_*(IO_)?(un)?f?(get|put)w?c(har)?|__(und|ov)erflow|__uflow|[gp][eu]tw",  # one byte
            r"\w+_unlocked|ioctl",  # are as those that lock; needs a driver
        ]
    )
)


def test_every_model_that_gives_or_keeps_pointers_is_run():
    """A model of the C library that is not `nothing` is called by a program, or is excused."""
    names = ("10_c.txt", "20_posix.txt", "22_gnu.txt")
    texts = [(LIBRARY / name).read_text("utf-8") for name in names]
    models = {
        name: model
        for text in texts
        for names, model in parse_models(text, "")
        for name in names
        if model
    }
    words = set(re.findall(r"\b\w+\b", " ".join(p.read_text("utf-8") for p in PROGRAMS)))
    run = {model for name, model in models.items() if name in words}
    left = {name for name, model in models.items() if name not in words and model not in run}
    assert {name for name in left if not EXCUSED.fullmatch(name)} == set()
