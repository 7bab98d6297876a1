"""Files that this process makes of generated text: libraries from C, and sources as they are."""

from __future__ import annotations

import atexit
import ctypes
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from kleene.base import tidy
from kleene.base.cache import Cache, default_folder, key_of
from kleene.base.errors import SourceError

_OPTIONS = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-fno-sanitize=all"]


@cache
def _folder() -> Path:
    """Return this process's folder of generated files; it goes when the process does."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(tidy.scratch())


def written(text: str, suffix: str) -> Path:
    """Return a file with a text."""
    folder = _folder() / key_of(text)
    folder.mkdir(exist_ok=True)
    path = folder / f"kernels{suffix}"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def compiled(text: str) -> Any:
    """Return C as a library of this process, compiled by the bundled compiler; cached by content.

    Raises:
        SourceError: the compiler is not installed, or does not take the text.
    """
    from kleene.kernels.launch.host_build import compiler

    zig = compiler()
    if zig is None:
        message = "the package 'ziglang' is not installed"
        raise SourceError(None, "kernels/no-compiler", message, "pip install ziglang")
    key = key_of(text, *_OPTIONS)
    path = _folder() / f"{key}.so"
    if not path.exists():
        path.write_bytes(_library([str(zig), "cc", *_OPTIONS], text, key))
    return ctypes.CDLL(str(path))


def _not_compiled(complaint: str) -> SourceError:
    first = complaint.partition("\n")[0].partition("error: ")[2] or complaint.strip()
    message = f"the generated C does not compile: {first}"
    hint = "rename what is named as in the C library; else report it"
    return SourceError(None, "kernels/not-compiled", message, hint)


def _library(command: list[str], text: str, key: str) -> bytes:
    cache_ = Cache(default_folder())
    payload = cache_.get("generated", key)
    if payload is None:
        with tidy.scratch() as scratch:
            (scratch / "generated.c").write_text(text, encoding="utf-8")
            names = ["generated.c", "-o", "generated.so", "-lm", "-lpthread"]
            done = tidy.run([*command, *names], cwd=str(scratch))
            if done.returncode:
                raise _not_compiled(done.stderr.decode(errors="replace"))
            payload = (scratch / "generated.so").read_bytes()
        cache_.put("generated", key, payload)
    return payload
