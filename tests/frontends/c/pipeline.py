"""The pipeline from paths to one module, the module as LLVM prints it, and ready-made inputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm

from kleene.base.cache import Cache
from kleene.base.errors import SourceError
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.linking import link
from kleene.frontends.c.units import gather

NO_CACHE = Cache(None)


def raw_of(
    *paths: object,
    options: Options | None = None,
    only: tuple[str, ...] = (),
    cc: str | None = None,
    cache: Cache = NO_CACHE,
    jobs: int | None = None,
    normalise: bool = False,
) -> bytes:
    """Return the bitcode of the module that `paths` make."""
    found = discover([os.fspath(path) for path in paths], only)  # type: ignore[call-overload]
    units = gather(
        found, options=options or Options(), cc=cc, cache=cache, jobs=jobs, normalise=normalise
    )
    return link(units)


def text_of(*paths: object, **options: object) -> str:
    """Return the text of the module that `paths` make."""
    return printed(raw_of(*paths, **options))  # type: ignore[arg-type]


def bitcode(text: str) -> bytes:
    """Return the bitcode of a text."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    raw: bytes = module.as_bitcode()
    return raw


def printed(raw: bytes) -> str:
    """Return what LLVM prints of bitcode, in a context of its own, where no name is taken.

    Loads from `@kleene.unset` are `undef`, as the reader has them.
    """
    return without_unset(str(llvm.parse_bitcode(raw, llvm.create_context())))


def without_unset(text: str) -> str:
    """Return LLVM's text of a module without `@kleene.unset`, and what reads or writes it."""
    text = re.sub(r"\n@kleene\.unset = [^\n]*", "", text)
    text = re.sub(r"\n  (?:tail )?call void @llvm\.memcpy[^\n]*@kleene\.unset[^\n]*", "", text)
    text = re.sub(r"\n  store ptr [^\n]*, ptr @kleene\.unset[^\n]*", "", text)
    functions = re.split(r"(?=\ndefine )", text)
    for number, function in enumerate(functions):
        pattern = r"\n  (%\S+) = load [^\n]*@kleene\.unset[^\n]*"
        names = re.findall(pattern, function)
        function = re.sub(pattern, "", function)
        for name in names:
            function = re.sub(rf"{re.escape(name)}(?![-\w.$])", "undef", function)
        functions[number] = function
    return "".join(functions)


def problem(*paths: object, **options: object) -> SourceError:
    """Return the error that loading `paths` gives."""
    try:
        text_of(*paths, **options)  # type: ignore[arg-type]
    except SourceError as error:
        return error
    raise AssertionError("it loads")


def zig(source: Path, output: Path, *flags: str) -> Path:
    """Return `output`, compiled from `source` outside Kleene."""
    command = [sys.executable, "-m", "ziglang", "cc", *flags, "-c", str(source), "-o", str(output)]
    folders = {name: str(output.parent) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    subprocess.run(command, check=True, env=os.environ | folders)
    return output
