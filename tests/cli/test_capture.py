"""`kleene capture`: databases that the other commands read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kleene.cli.exit_codes import ExitCode
from tests.cli.conftest import Kleene

BUILD = "cc -DN=1 -c one.c -o a.o && cc -DN=2 -c one.c -o b.o && cc -o p a.o && cc -o sub/p b.o"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with a source, and a compiler that makes nothing."""
    (tmp_path / "one.c").write_text("int main(void) { return N; }\n")
    (tmp_path / "sub").mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cc").write_text("#!/bin/sh\n")
    (tools / "cc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    return tmp_path


def test_each_program_has_its_database(kleene: Kleene, project: Path) -> None:
    done = kleene("capture", "--", "/bin/sh", "-c", BUILD, cwd=project)
    assert done.returncode == ExitCode.CLEAN, done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["captured/compile_commands.json", "2", "files", "all", "that", "was", "compiled"],
        ["captured/p.json", "1", "files", "p"],
        ["captured/sub-p.json", "1", "files", "sub/p"],
    ]
    for name, value in (("p", 1), ("sub-p", 2)):
        shown = kleene("ir", f"captured/{name}.json", cwd=project)
        assert f"ret i32 {value} " in shown.stdout


def test_json_alone_is_on_stdout(kleene: Kleene, project: Path) -> None:
    words = ["-o", "made", "--json", "--", "/bin/sh", "-c", f"echo built; {BUILD}"]
    done = kleene("capture", *words, cwd=project)
    found = json.loads(done.stdout)
    assert [one["database"] for one in found["databases"]][1:] == ["made/p.json", "made/sub-p.json"]
    assert "built" in done.stderr


def test_a_build_that_fails_writes_nothing(kleene: Kleene, project: Path) -> None:
    done = kleene("capture", "--", "/bin/sh", "-c", f"{BUILD}; exit 2", cwd=project)
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert "error[c/build-failed]" in done.stderr
    assert not (project / "captured").exists()
