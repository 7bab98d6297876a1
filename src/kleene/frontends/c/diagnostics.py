"""What did clang say? Its errors as ours: its place, its words, an id, and what may be missing."""

from __future__ import annotations

import itertools
import os
import re

from kleene.base.errors import SourceError, Span

_PLACED = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<kind>[a-z ]+): (?P<text>.*)"
)
_CRASHED = re.compile(
    r"clang frontend command failed (with exit code \d+|due to signal.*?)(?= \(use|$)"
    r"|PLEASE (submit|append) .*|fatal error: error in backend.*",
    re.MULTILINE,
)
_MISSING = {  # what a project's own build would have given
    re.compile(r"'.*' file not found.*"): "name its folder with includes= (-I)",
    re.compile(
        r"call to undeclared .*|.*undeclared identifier '[A-Z0-9_]+'"
    ): "it may need a macro, defines= (-D)",
}
_BUILD = (
    "or run the project's build once, which makes files and knows flags: kleene capture -- make"
)
_UNPLACED = re.compile(r"(?:[\w.+-]+: )?(?:fatal )?error: (?P<text>.*)")


def errors(output: str, file: str, directory: str | None) -> list[SourceError]:
    """Return the errors in what clang printed while it compiled `file` in `directory`.

    A note of clang's goes with the error before it. Where clang names no place, the place is the
    file; where it names no error, the error is its last line.
    """
    found: list[tuple[Span, str, list[str]]] = []
    for line in output.splitlines():
        if placed := _PLACED.fullmatch(line):
            span = _span(placed, directory)
            if placed["kind"] in ("error", "fatal error"):
                found.append((span, placed["text"], []))
            elif placed["kind"] == "note" and found:
                found[-1][2].append(f"{span}: {placed['text']}")
        elif unplaced := _UNPLACED.fullmatch(line):
            found.append((Span(file), unplaced["text"], []))
    if not found:
        found.append((Span(file), _last_line(output), []))
    if directory is None:  # and the file is not from a compilation database: told once
        ways = (
            (n, way) for _, text, n in found for w, way in _MISSING.items() if w.fullmatch(text)
        )
        for notes, way in itertools.islice(ways, 1):
            notes.append(f"{way}, {_BUILD}")
    return [SourceError(span, "c/does-not-compile", text, *notes) for span, text, notes in found]


def crash(status: int, output: str, file: str) -> SourceError | None:
    """Return the error that the compiler crashed on `file`, if it did: that is nobody's mistake."""
    if not (status < 0 or status > 128 or _CRASHED.search(output)):
        return None
    first = next(iter(found[0] for found in [_CRASHED.search(output)] if found), f"status {status}")
    return SourceError(
        Span(file),
        "c/compiler-crashed",
        f"the compiler crashed: {first}",
        "the file may be right: leave it out, or name another clang with cc= (--cc) or $KLEENE_CC",
    )


def _span(placed: re.Match[str], directory: str | None) -> Span:
    file = os.path.join(directory, placed["file"]) if directory else placed["file"]
    return Span(file, int(placed["line"]), int(placed["column"]))


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "the compiler failed without a word"
