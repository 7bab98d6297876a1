"""C and C++ constructs and what they become: each source in `tests/golden/ir` beside its IR.

Accept a change with `pytest tests/ir/test_golden.py --update-golden`, and review the difference.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kleene
from kleene.ir import Program, dump, parse, problems, same
from kleene.ir.tables import Strings

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "ir"
SOURCES = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".c", ".cpp"))


def relative(program: Program) -> Program:
    """Return the program with paths relative to the golden folder, so that they fit everywhere."""
    prefix = f"{FOLDER}/"
    texts = [program.strings.raw(symbol) for symbol in range(len(program.strings))]
    strings = Strings.of([text.removeprefix(prefix.encode()) for text in texts])
    return replace(program, name=program.name.removeprefix(prefix), strings=strings)


@pytest.fixture(scope="module")
def loaded() -> dict[str, Program]:
    return {}


def load(name: str, loaded: dict[str, Program]) -> Program:
    if name not in loaded:
        loaded[name] = relative(kleene.load(FOLDER / name))
    program = loaded[name]
    if not program.triple.startswith("x86_64"):
        pytest.skip(
            f"the golden files are for x86-64, and this machine compiles for {program.triple}"
        )
    return program


@pytest.mark.parametrize("name", SOURCES)
def test_source_becomes_ir(name: str, loaded: dict[str, Program], update_golden: bool) -> None:
    program = load(name, loaded)
    assert problems(program) == []
    assert program.notices == []
    golden, text = FOLDER / f"{name}.ir", dump(program)
    if update_golden:
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("name", SOURCES)
def test_golden_text_is_the_program(name: str, loaded: dict[str, Program]) -> None:
    golden = (FOLDER / f"{name}.ir").read_text()
    assert same(load(name, loaded), parse(golden)) is None


@pytest.mark.data
def test_a_measured_program_round_trips(shared_data: Path) -> None:
    program = kleene.load(shared_data / "bitcode" / "dc.bc")
    assert problems(program) == []
    assert same(program, parse(dump(program))) is None
