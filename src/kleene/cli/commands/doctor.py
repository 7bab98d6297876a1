"""`kleene doctor`: what this machine offers, and the reason for what it does not."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kleene
from kleene.base import tidy
from kleene.base.cache import Cache, default_folder
from kleene.cli.commands.cache import facts_of, rows_of
from kleene.cli.output import emit, emit_json, rows
from kleene.cli.shared import AsJson
from kleene.reports.svg import svg_problem

_ANSWER_WITHIN_S = 30
_CLANG = re.compile(r"clang(-\d+)?")


def run(*, as_json: AsJson = False) -> None:
    """Say what this machine offers: compilers, GPU, cache, versions.

    Example: kleene doctor --json

    Whatever is missing is named with the reason. Only a compiler is needed, and one comes with
    Kleene; Graphviz draws SVGs; a GPU makes large problems faster.
    """
    facts = _facts()
    if as_json:
        emit_json(facts)
    else:
        emit([_text(facts)])


def _facts() -> dict[str, Any]:
    from llvmlite.binding import llvm_version_info

    from kleene.frontends.c.compiler import HEADERS
    from kleene.kernels.launch import gpu_problem

    return {
        "kleene": kleene.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version(name) for name in ("numpy", "numba", "llvmlite")},
        "llvm": ".".join(str(number) for number in llvm_version_info),
        "headers": str(HEADERS),
        "compilers": _compilers(),
        "graphviz": {"problem": svg_problem()},
        "gpu": {"problem": gpu_problem()},
        "cache": facts_of(Cache(default_folder())),
    }


def _text(facts: dict[str, Any]) -> str:
    """Return the facts as rows for people."""
    return rows(
        [
            ("Kleene", facts["kleene"]),
            ("Python", f"{facts['python']} on {facts['platform']}"),
            *((name, found) for name, found in facts["packages"].items()),
            ("LLVM", f"{facts['llvm']} (reads bitcode up to this version)"),
            ("headers", f"{facts['headers']} (kleene.h, for -I of other compilers)"),
            *(_compiler_row(compiler) for compiler in facts["compilers"]),
            ("Graphviz", _yes_or_why(facts["graphviz"]["problem"])),
            ("GPU", _yes_or_why(facts["gpu"]["problem"])),
            *((f"cache {name}", value) for name, value in rows_of(facts["cache"])),
        ]
    )


def _compiler_row(compiler: dict[str, Any]) -> tuple[str, object]:
    suffix = " (used by default)" if compiler["default"] else ""
    return f"compiler {compiler['name']}", (compiler["version"] or compiler["problem"]) + suffix


def _yes_or_why(problem: str | None) -> str:
    return "found" if problem is None else f"no: {problem}"


def _compilers() -> list[dict[str, object]]:
    """Return every compiler Kleene can be told to use; `$KLEENE_CC`, if set, is the default."""
    chosen = os.environ.get("KLEENE_CC")
    found = [_asked("zig cc", [sys.executable, "-P", "-m", "ziglang", "cc"], default=not chosen)]
    if chosen:
        found.append(_asked(chosen, shlex.split(chosen), default=True))
    found += [_asked(str(path), [str(path)], default=False) for path in _clangs()]
    return found


def _clangs() -> list[Path]:
    """Return the clangs on the PATH, in its order."""
    folders = [Path(part) for part in os.get_exec_path() if Path(part).is_dir()]
    files = (path for folder in folders for path in sorted(folder.iterdir()))
    return [path for path in files if _CLANG.fullmatch(path.name) and os.access(path, os.X_OK)]


def _asked(name: str, command: list[str], *, default: bool) -> dict[str, object]:
    """Return what a compiler answers to `--version`, or why it does not."""
    answer, problem = None, None
    try:
        ran = _run([*command, "--version"])
    except OSError as error:
        problem = f"cannot be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        problem = f"did not answer within {_ANSWER_WITHIN_S} s"
    else:
        lines = ran.stdout.decode(errors="replace").splitlines()
        answer = next(iter(lines), None) if ran.returncode == 0 else None
        problem = None if answer else f"exit code {ran.returncode} for --version"
    return {"name": name, "version": answer, "problem": problem, "default": default}


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    """Return what a command says; zig's scratch folders go where they leave no trace."""
    with tidy.scratch() as scratch:
        names = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")
        environment = os.environ | {name: str(scratch) for name in names}
        return tidy.run(command, timeout=_ANSWER_WITHIN_S, env=environment)
