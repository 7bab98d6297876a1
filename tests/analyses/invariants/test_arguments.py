"""What `main` gets: `argc` strings and a null pointer, unless the program writes there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load

from .test_checks import wrong_verdicts

ARGUMENTS = Path(__file__).with_name("arguments.c")
HEAD = "extern void others(char **); static char **kept; int printf(const char *, ...);\n"


def test_verdicts_are_as_expected() -> None:
    assert not wrong_verdicts(load(ARGUMENTS).invariants(), ARGUMENTS)


@pytest.mark.parametrize(
    "changes",
    ["others(argv);", "kept = argv; others(0);", "char **p = argv; *p++ = 0;"],
)
def test_arguments_that_may_be_written_are_any_pointers(tmp_path: Path, changes: str) -> None:
    file = tmp_path / "changed.c"
    file.write_text(
        f"{HEAD}int main(int argc, char **argv) {{ {changes} return argc > 0 ? **argv : 0; }}"
    )
    result = load(file).invariants(checks=("null",))
    assert "may fail" in {one.verdict.value for one in result.checks}


def test_arguments_of_a_main_that_is_called_are_any(tmp_path: Path) -> None:
    file = tmp_path / "again.c"
    file.write_text(
        "int main(int argc, char **argv) { if (argc == 7) return main(3, argv + 4);"
        " return argc > 0 ? **argv : argc; }"
    )
    found = {one.verdict.value for one in load(file).invariants(checks=("null", "bounds")).checks}
    assert found == {"may fail"}
