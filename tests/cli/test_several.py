"""`--keep-going` and `-L`: several Scheme programs, and libraries that lie elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Kleene


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Programs that are right, wrong, and use a library of another folder."""
    (tmp_path / "lib" / "my").mkdir(parents=True)
    library = "(define-library (my lib) (import (scheme base)) (export inc)"
    (tmp_path / "lib" / "my" / "lib.sld").write_text(f"{library} (begin (define (inc x) (+ x 1))))")
    (tmp_path / "good.scm").write_text("(define (f x) x)\n(f 1)\n")
    (tmp_path / "bad.scm").write_text("(car\n")
    (tmp_path / "user.scm").write_text("(import (scheme base) (my lib))\n(inc 2)\n")
    return tmp_path


def test_libraries_are_found_where_one_says(kleene: Kleene, folder: Path) -> None:
    absent = kleene("cfa", "user.scm", cwd=folder)
    assert (absent.returncode, "scheme/no-library" in absent.stderr) == (1, True)
    found = kleene("cfa", "user.scm", "-L", "absent", "-Llib", cwd=folder)
    assert (found.returncode, found.stdout.split()[:2]) == (0, ["procedures", "1,"])


def test_the_folder_of_the_program_comes_first(kleene: Kleene, folder: Path) -> None:
    (folder / "my").mkdir()
    (folder / "my" / "lib.scm").write_text("(define-library (my lib) (export))")
    done = kleene("cfa", "user.scm", "-L", "lib", cwd=folder)
    assert "scheme/" not in done.stderr
    assert done.stdout.startswith("procedures   0")


def test_an_error_in_one_program_keeps_no_other_back(kleene: Kleene, folder: Path) -> None:
    done = kleene("ir", "bad.scm", "good.scm", "user.scm", "--keep-going", "-Llib", cwd=folder)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.endswith(".scm:")] == [
        "bad.scm:",
        "good.scm:",
        "user.scm:",
    ]
    assert "(define f" in done.stdout
    assert done.stderr.startswith("bad.scm:1:1: error[scheme/unclosed]")


def test_as_json_it_is_one_value(kleene: Kleene, folder: Path) -> None:
    done = kleene("cfa", "bad.scm", "good.scm", "--keep-going", "--json", cwd=folder)
    answers = json.loads(done.stdout)["files"]
    assert (done.returncode, list(answers)) == (1, ["bad.scm", "good.scm"])
    assert answers["bad.scm"]["errors"][0]["id"] == "scheme/unclosed"
    assert "call_graph" in answers["good.scm"]


def test_all_good_programs_are_a_success(kleene: Kleene, folder: Path) -> None:
    assert kleene("cfa", "good.scm", "good.scm", "--keep-going", cwd=folder).returncode == 0


@pytest.mark.parametrize("option", ["--export", "--sarif", "--call-graph"])
def test_several_programs_write_no_single_file(kleene: Kleene, folder: Path, option: str) -> None:
    done = kleene("cfa", "good.scm", "bad.scm", "--keep-going", option, "x.json", cwd=folder)
    assert (done.returncode, (folder / "x.json").exists()) == (2, False)


def test_options_for_scheme_are_refused_elsewhere(kleene: Kleene, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    assert kleene("ir", tmp_path / "a.c", "-L", ".").returncode == 2
    assert kleene("points-to", tmp_path / "a.c", "--keep-going").returncode == 2
