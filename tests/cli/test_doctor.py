"""`kleene doctor` names what is there, and the reason for what is not."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from kleene.cli.commands import doctor
from tests.cli.conftest import Kleene


def fake_compiler(path: Path, script: str) -> Path:
    """Return an executable shell script at `path`."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_the_facts(kleene: Kleene) -> None:
    done = kleene("doctor", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["python"] == platform.python_version()
    assert set(facts["packages"]) == {"llvmlite", "numba", "numpy"}
    assert int(facts["llvm"].split(".")[0]) >= 14
    assert facts["compilers"][0]["version"].startswith("clang version")
    assert "kleene_assume" in Path(facts["headers"], "kleene.h").read_text()
    assert facts["gpu"]["problem"] is None or facts["gpu"]["problem"]


def test_the_rows(kleene: Kleene) -> None:
    done = kleene("doctor")
    assert done.returncode == 0
    heads = [line.split("  ")[0] for line in done.stdout.splitlines()]
    assert {"Kleene", "Python", "LLVM", "compiler zig cc", "Graphviz", "GPU"} <= set(heads)
    assert {"cache folder", "cache entries", "cache writable"} <= set(heads)


def test_it_leaves_no_trace(
    kleene: Kleene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert kleene("doctor").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_clangs_on_the_path_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = fake_compiler(tmp_path / "clang-19", "echo clang version 19.1.0; echo more")
    fake_compiler(tmp_path / "clang-format", "echo not a compiler")
    broken = fake_compiler(tmp_path / "clang", "exit 3")
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'absent'}")
    monkeypatch.delenv("KLEENE_CC", raising=False)
    zig, bad, good = doctor._compilers()
    assert zig["default"]
    assert bad == {
        "name": str(broken),
        "version": None,
        "problem": "exit code 3 for --version",
        "default": False,
    }
    assert good == {
        "name": str(wanted),
        "version": "clang version 19.1.0",
        "problem": None,
        "default": False,
    }


def test_a_chosen_compiler_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("KLEENE_CC", "no-such-clang")
    zig, chosen = doctor._compilers()
    assert not zig["default"]
    assert chosen["default"]
    assert chosen["problem"] == "cannot be run: No such file or directory"
    assert doctor._compiler_row(chosen) == (
        "compiler no-such-clang",
        "cannot be run: No such file or directory (used by default)",
    )
