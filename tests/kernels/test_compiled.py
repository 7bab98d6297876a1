"""How loops are compiled: once each, kept on disk, and never out of date."""

from __future__ import annotations

import ast
import dis
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from contextvars import ContextVar
from importlib import import_module, util
from itertools import count
from pathlib import Path
from pkgutil import walk_packages
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import kleene
from kleene.base import progress
from kleene.kernels import compiled
from kleene.kernels.compiled import CompilationUnit, EntryPoint, plain, wide

HELPER = """\
from kleene.kernels.compiled import CompilationUnit
unit = CompilationUnit(__file__.rpartition("/")[0])
{content}
"""
STEP = "@unit.device_function\ndef step(count):\n    return count + {}\n"
MAIN = """\
from helper import unit, step
@unit.entry_point
def run(count):
    return step(count)
@unit.entry_point
def twice(count):
    return run(count) + run(count)
"""
ASK = """\
import sys
sys.path.insert(0, sys.argv[1])
import main, helper
from kleene.kernels import machine_code
print(main.run(40), sum(main.run.dispatcher.stats.cache_hits.values()),
      bool(machine_code.device_function.cache_info().currsize), "numba.np.linalg" in sys.modules)
"""


def asked(folder: Path) -> list[str]:
    """Return the result, hits on disk, and whether device functions and compiler were needed."""
    command = [sys.executable, "-c", ASK, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_a_changed_device_function_is_compiled_anew(tmp_path: Path) -> None:
    """The entry's own file stays as it was: Numba alone would answer with the old code."""
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER.format(content=STEP.format(1)))
    assert asked(tmp_path) == ["41", "0", "True", "True"]
    assert asked(tmp_path) == ["41", "1", "False", "False"]  # no device function, and no compiler
    (tmp_path / "helper.py").write_text(HELPER.format(content=STEP.format(2)))
    assert asked(tmp_path) == ["42", "0", "True", "True"]


def without_a_file() -> Any:
    """Return a function that Numba cannot keep."""
    names: dict[str, Any] = {}
    exec("def double(count):\n    return 2 * count", names)
    return names["double"]


def test_compiled_code_calls_what_was_kept(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER.format(content=STEP.format(1)))
    for code in ("main.run(1)", "main.run(1); print(main.twice(40))", "print(main.twice(40))"):
        command = [sys.executable, "-c", f"import main; {code}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == ("82\n" if "twice" in code else "")


def test_machine_code_under_anothers_name_or_damaged_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN.replace("run(count) + run(count)", "count - 1"))
    (tmp_path / "helper.py").write_text(HELPER.format(content=STEP.format(1)))
    cache = tmp_path / "cache"
    environment = os.environ | {"KLEENE_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", "import main; print(main.run(40), main.twice(40))"]

    def answer() -> str:
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert answer() == "41 39\n"
    one, other = sorted(cache.rglob("main.*"))
    swapped = {one: other.read_bytes(), other: one.read_bytes()}
    for file, raw in swapped.items():
        file.write_bytes(raw)
    assert answer() == "41 39\n"
    for file in (one, other):
        raw = bytearray(file.read_bytes())
        raw[len(raw) // 2] ^= 1
        file.write_bytes(raw)
    assert answer() == "41 39\n"


def test_machine_code_that_cannot_be_kept_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text(HELPER.format(content=STEP.format(1)))
    code = (
        "from kleene.cli.guard import guarded\n"
        "def body():\n    import main\n    print(main.run(40), main.twice(40))\n"
        "guarded(body)()\n"
    )
    environment = os.environ | {"KLEENE_CACHE_DIR": "/dev/null/absent"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "41 82\n")
    assert done.stderr.startswith("note: machine code cannot be kept (/dev/null/absent/")
    assert "set KLEENE_CACHE_DIR" in done.stderr
    assert len(done.stderr.splitlines()) == 1


MAKER = """\
import sys
import numpy as np
from kleene.kernels.compiled import CompilationUnit
@CompilationUnit(__file__).entry_point
def ones(count):
    made = np.ones(count, np.int64)
    if count > 3:
        raise ValueError("too many")
    return made
try:
    ones(4)
except ValueError as error:
    print(error, ones(3).sum(), "numba.np.arrayobj" in sys.modules)
"""


def test_loading_imports_nothing(tmp_path: Path) -> None:
    """Arrays and errors are made by code that comes from Numba's modules, which stay away."""
    (tmp_path / "maker.py").write_text(MAKER)
    for is_compiled in (True, False):
        command = [sys.executable, "-c", "import maker"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == f"too many 3 {is_compiled}\n"


def test_nowhere_to_keep() -> None:
    assert CompilationUnit().entry_point(without_a_file())(21) == 42


def first_of(values: np.ndarray, at: int) -> int:  # type: ignore[type-arg]
    """Compiled by the tests below."""
    return int(values[at])


@pytest.mark.parametrize(("rule", "n_codes"), [(wide, 1), (plain, 2)])
def test_which_types_count(rule, n_codes) -> None:  # type: ignore[no-untyped-def]
    entry: Any = CompilationUnit(rule=rule).entry_point(first_of)
    for at in (1, np.int32(1)):
        assert entry(np.arange(3), at) == 1
    assert len(entry.dispatcher.overloads) == n_codes


def test_compiling_is_reported() -> None:
    reported = []

    def sink(title: str, _total: int | None) -> nullcontext[progress.Advance]:
        reported.append(title)
        return nullcontext(lambda _steps: None)

    entry = CompilationUnit().entry_point(without_a_file())
    with progress.showing(sink):
        assert [entry(1), entry(2)] == [2, 4]
    assert reported == ["compiling double, this once"]


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompilationUnit:
    """A unit with a source of its own, in a process that has interpreted nothing yet."""
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_spent_s", 0.0)
    monkeypatch.setattr(compiled, "_interpreting", ContextVar("none", default=None))
    (tmp_path / "one.py").write_text("ONE = 1\n")
    return CompilationUnit(tmp_path / "one.py")


def is_interpreted(unit: CompilationUnit, seconds: float) -> bool:
    with compiled.sized(seconds, unit):
        return compiled.is_interpreting()


def test_small_inputs_are_interpreted_and_large_ones_not(unit: CompilationUnit) -> None:
    assert [is_interpreted(unit, seconds) for seconds in (0.1, 4.9, 5.1)] == [True, True, False]
    unit.mark_ready()
    assert [is_interpreted(unit, seconds) for seconds in (0.1, 0.15, 0.4)] == [True, True, False]
    unit.is_in_use = True
    assert not is_interpreted(unit, 0.001)


def test_many_small_inputs_are_a_large_one(
    unit: CompilationUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that has interpreted for as long as loading takes, loads."""
    monkeypatch.setattr(compiled, "process_time", count(step=0.11).__next__)
    unit.mark_ready()
    assert [is_interpreted(unit, 0.05) for _ in range(3)] == [True, True, False]


def test_entry_points_decide_by_their_arguments(tmp_path: Path, unit: CompilationUnit) -> None:
    """Unless a caller has decided: small arrays are left to plain Python, large ones are not."""
    seen = []

    def look(_array: Any) -> None:
        seen.append(compiled.is_interpreting())

    unit.interpreted_s = compiled.linear(1e-3)
    entry = unit.entry_point(look)
    entry.dispatcher = look
    for n_elements in (10, 10_000):
        entry(np.zeros(n_elements))
    with compiled.interpreted(False):
        entry(np.zeros(10))
    unit.is_in_use = True
    entry(np.zeros(10))
    assert seen == [True, False, False, False]


def test_what_processes_lose_adds_up(
    unit: CompilationUnit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiled, "process_time", count(step=2.2).__next__)
    taken = []
    for _ in range(12):
        monkeypatch.setattr(compiled, "_spent_s", 0.0)  # as in a process of its own
        taken.append(is_interpreted(CompilationUnit(tmp_path / "one.py"), 1.0))
    assert taken == [True] * 11 + [False]  # 2 s each: past 20 s with the eleventh
    (tmp_path / "one.py").write_text("ONE = 2\n")  # nothing is known of other sources
    assert is_interpreted(CompilationUnit(tmp_path / "one.py"), 1.0)


def test_many_short_calls_lose_as_much_as_a_long_one(
    unit: CompilationUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "process_time", count(step=0.05).__next__)
    for _ in range(20):
        assert is_interpreted(unit, 0.05)
    assert 0.5 < unit.loss_s() < 1.0


def test_short_runs_lose_nothing(unit: CompilationUnit) -> None:
    assert is_interpreted(unit, 0.1)
    assert unit.loss_s() == 0.0


def test_where_nothing_can_be_written_nothing_is_noted(
    unit: CompilationUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "process_time", count(step=100).__next__)
    unit.folder = Path("/dev/null/none")
    assert is_interpreted(unit, 1.0)
    assert unit.loss_s() == 0.0


@pytest.mark.parametrize("chosen", [False, True])
def test_what_a_caller_chose_holds_inside(unit: CompilationUnit, chosen: bool) -> None:
    for seconds in (0.001, 100.0):
        with compiled.interpreted(chosen):
            assert is_interpreted(unit, seconds) == chosen


def modules() -> list[ModuleType]:
    """Return every module that has compiled functions."""
    names = [found.name for found in walk_packages(kleene.__path__, "kleene.")]
    files = ((name, util.find_spec(name)) for name in names)
    texts = {name: Path(spec.origin).read_text() for name, spec in files if spec and spec.origin}
    return [import_module(name) for name, text in texts.items() if ".compiled import" in text]


def compiled_functions(module: ModuleType) -> list[tuple[Any, CompilationUnit]]:
    """Return the compiled functions that a module defines, with their units."""
    found = [
        (value.py_func, value.unit) if isinstance(value, EntryPoint) else (value, None)
        for value in vars(module).values()
    ]
    return [
        (function, unit or compiled.device_functions[function])
        for function, unit in found
        if unit or (isinstance(function, FunctionType) and function in compiled.device_functions)
        if function.__module__ == module.__name__
    ]


def needed(module: ModuleType) -> Iterator[tuple[str, Path]]:
    """Yield the names from elsewhere that end up in compiled code, and the files they are from.

    They are those that its compiled functions name, and those that its constants are made of.
    """
    assert module.__file__
    tree = ast.parse(Path(module.__file__).read_text())
    taken = {
        name.asname or name.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kleene.")
        for name in node.names
    }
    used = {
        str(step.argval)
        for function, _ in compiled_functions(module)
        for step in dis.get_instructions(function)
        if step.opname == "LOAD_GLOBAL"
    }
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.For):
            used |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    for name in used & set(taken):
        origin = import_module(str(taken[name]))
        value = getattr(module, name)
        origin = value if isinstance(value, ModuleType) else origin
        yield name, Path(str(origin.__file__))


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_every_source_counts(module: ModuleType) -> None:
    """What ends up in compiled code is among the sources whose change has it compiled anew."""
    for function, unit in compiled_functions(module):
        files = set(unit.files)
        assert Path(str(module.__file__)) in files
        missing = [(name, file) for name, file in needed(module) if file not in files]
        assert not missing, function.__qualname__


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_arrays_handed_over_as_pointers_are_not_used_otherwise(module: ModuleType) -> None:
    """Numba's count of references came out one too low where they were: see `kernels.pointers`."""
    assert module.__file__
    for function in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(function, ast.FunctionDef):
            names = [one.id for one in ast.walk(function) if isinstance(one, ast.Name)]
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "as_pointers":
                    assert names.count(ast.unparse(call.args[0])) == 1, function.name


def test_nothing_is_compiled_outside_a_unit() -> None:
    """Nothing is compiled outside a compilation unit."""
    folder = Path(kleene.__path__[0])
    texts = ((file, file.read_text()) for file in folder.rglob("*.py"))
    assert [file.name for file, text in texts if "import njit" in text] == ["machine_code.py"]
