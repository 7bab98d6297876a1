"""Every command ends with a code of the one table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kleene.cli import discover
from kleene.cli.exit_codes import ExitCode
from tests.cli.conftest import Kleene

ROOT = Path(__file__).resolve().parents[2]
SHAPES = [str(ROOT / "examples" / "shapes")]
SHOP = [str(ROOT / "examples" / "scheme" / "shop.scm")]
NO_INPUT = {"cache", "doctor", "warm"}  # nothing of the user's can be at fault
SEARCH = [str(ROOT / "examples" / "invariants" / "search.c")]
CLEAN = {  # other commands take C
    "capture": ["--", "sh", "-c", f"cc -c {SHAPES[0]}/main.c"],
    "cfa": SHOP,
    "dataflow": ["ranges", *SHAPES],
    "invariants": SEARCH,
    **{name: [] for name in NO_INPUT},
}
FAULTY = {
    "capture": ["--", "false"],
    "cfa": ["absent.scm"],
    "cfg": [*SHAPES, "--function", "absent"],
    "dataflow": ["ranges", "absent.c"],
}


# `warm` compiles all there is, for a minute; its own tests run what it does.
@pytest.mark.parametrize("name", sorted({*discover.available()} - {"warm"}))
def test_a_command_that_finds_nothing_wrong_is_clean(
    kleene: Kleene, name: str, tmp_path: Path
) -> None:
    if name == "kernels":
        pytest.importorskip("islpy", reason="verdicts need the package islpy")
    done = kleene(name, *CLEAN.get(name, SHAPES), cwd=tmp_path)
    assert done.returncode == ExitCode.CLEAN, done.stderr


@pytest.mark.parametrize("name", sorted({*discover.available()} - NO_INPUT))
def test_an_input_at_fault(kleene: Kleene, name: str) -> None:
    done = kleene(name, *FAULTY.get(name, ["absent.c"]))
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert "error[" in done.stderr


@pytest.mark.parametrize("name", discover.available())
def test_wrong_usage(kleene: Kleene, name: str) -> None:
    assert kleene(name, "--no-such-option").returncode == ExitCode.WRONG_USAGE
    assert kleene(name, "--timeout", "soon").returncode == ExitCode.WRONG_USAGE


def test_an_assertion_that_fails_is_a_finding(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "aliases.c"
    file.write_text(
        "void NOALIAS(void *, void *);\nint main(void) { int a; NOALIAS(&a, &a); return a; }\n"
    )
    assert kleene("points-to", file, "--check").returncode == ExitCode.FINDINGS


def test_the_documented_table_is_this_one() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == [str(code.value) for code in ExitCode]
