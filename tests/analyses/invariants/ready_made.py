"""Compare answers with runs of programs that need no input: of compilers' tests, or of Csmith.

    python -m tests.analyses.invariants.ready_made [--time=60] FOLDER-OR-FILE ...

Each program is built with sanitizers and run. Where that fails, no mode may call the check safe.
Where it does not, the run is traced: every value has to be in its range, what ran has to be
reachable, and no check may be one that fails always; printed asserts have to hold. What is wrong
is listed, and the exit code is then 1. Programs that do not compile, or take longer, are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kleene import SourceError
from tests.analyses.dataflow.outside import load

from .outside import check
from .sanitized import first_failures, prepare, wrong

_BEGUN = "PROGRAM"
_OLD = ("int", "function-declaration")  # what C once had
_ALLOWED = "".join(f'#pragma clang diagnostic ignored "-Wimplicit-{one}"\n' for one in _OLD)


def programs(places: list[str]) -> Iterator[Path]:
    """Yield the files of C and C++ in folders, and those named."""
    for place in map(Path, places):
        found = sorted(place.iterdir()) if place.is_dir() else [place]
        yield from (one for one in found if one.suffix in (".c", ".cpp", ".C"))


def all_wrong(file: Path) -> Iterator[str]:
    """Yield what is wrong with the answers for a program."""
    try:
        text, program = load(file)
    except SourceError as error:
        yield f"{_BEGUN} not loaded: {str(error).splitlines()[0]}"
        return
    try:
        failed = first_failures(file, 1)
    except AssertionError as error:  # the compiler's words
        yield f"{_BEGUN} not built: {str(error).splitlines()[:1]}"
        return
    yield f"{_BEGUN} {'fails' if failed else 'runs'}"
    yield from wrong(file, 1, failed)
    if failed:
        return
    single = program.invariants().checks
    *_, found = check(
        text, program, [[]], file.parent, cxx=file.suffix != ".c", domain="predicates",
        others=single,
    )  # fmt: skip
    # What has no value may be anything, and is copied with the rest of its struct.
    yield from (f"{file.name}: {one}" for one in found if ": undefined [" not in one)


def in_a_process(file: Path, limit: int) -> list[str]:
    """Return what is wrong, or that it took too long or ended in an error of our own."""
    with tempfile.TemporaryDirectory(prefix="ready") as name:
        folder, told = Path(name), Path(name) / "told"
        copy = folder / re.sub(r"\.C$", ".cpp", file.name)
        copy.write_bytes(_ALLOWED.encode() + file.read_bytes())
        for header in file.parent.glob("*.h"):
            shutil.copy(header, folder)
        prepare(folder)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            signal.alarm(limit)
            with told.open("w") as log:
                try:
                    for text in all_wrong(copy):
                        print(text, file=log, flush=True)
                except Exception as error:  # any is a finding
                    place = traceback.extract_tb(error.__traceback__)[-1]
                    print(f"raised {error!r} at {place.filename}:{place.lineno}", file=log)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        lines = told.read_text().splitlines() if told.exists() else []
        if os.WIFSIGNALED(status):
            is_late = os.WTERMSIG(status) == signal.SIGALRM
            lines.append(f"{_BEGUN} too slow" if is_late else f"died of {os.WTERMSIG(status)}")
        return lines


def main(words: list[str]) -> int:
    """Compare programs with their runs; return the exit code."""
    limit = int(words.pop(0).partition("=")[2]) if words[0].startswith("--time=") else 60
    kinds: Counter[str] = Counter()
    n_wrong = 0
    for file in programs(words):
        for line in in_a_process(file, limit):
            if line.startswith(_BEGUN):
                kinds[line.removeprefix(_BEGUN).partition(":")[0].strip()] += 1
                if "runs" not in line and "fails" not in line:
                    print(f"({file}: {line.removeprefix(_BEGUN).strip()})", flush=True)
            else:
                n_wrong += 1
                print(f"{file}: {line}", flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in kinds.items()), f"{n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
