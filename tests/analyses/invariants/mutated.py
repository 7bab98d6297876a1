"""Real programs with defects planted at random, run with sanitizers, and compared with the answers.

    python -m tests.analyses.invariants.mutated DATABASE COUNT SEED -- -kc FILE -- -dc FILE.bz2

Of a program of one folder, a line is changed: a constant by one, `<` to `<=`, `&&` to `||`, and so
on. Where a run ends with a report, the function of that place is looked at again, with the facts of
the whole program, by all domains. The check may be safe in neither look. What fails is listed, and
which of it is called safe; the exit code is then 1. The sources are changed in a copy.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kleene import load

from .sanitized import _KINDS, _NOT_ASKED, Failure, is_called_safe, sanitizers

# Not `bounds` of arrays: it knows of arrays in structs what no check is about.
_CHECKED = "address,undefined,float-cast-overflow"
_OFF = f"-fno-sanitize={_NOT_ASKED},bounds,alignment"
_CHANGES = (
    (r"(?<![<>=!-])<(?![<=])", "<="), ("<=", "<"), (r"(?<![<>=!-])>(?![>=])", ">="), (">=", ">"),
    ("==", "!="), ("!=", "=="), ("&&", "||"), (r"\|\|", "&&"), (r" \+ ", " - "), (" - ", " + "),
    (r"\b0\b", "1"), (r"\b1\b", "0"), (r"\b1\b", "2"), (r"\b(\d+)\b", r"\g<1>0"),
    (r"\+\+", ""), ("--", ""), ("(?<![=!<>]) = [^=;]+;", " = 0;"), (r"\+=", "-="),
    (r"\bif \(", "if (0 && "), (r"\bif \(", "if (1 || "), (r"\bbreak;", ";"), (r"\breturn;", ";"),
)  # fmt: skip
_LIMIT_S = 10


class Change(NamedTuple):
    """A line of a source that is made another."""

    file: Path
    line: int
    before: str
    after: str


class Mutants:
    """Builds and runs a program with changes."""

    def __init__(self, database: Path, runs: list[list[str]], folder: Path) -> None:
        entries = json.loads(database.read_text())
        (root,) = {Path(one["directory"]) for one in entries}
        self.root = folder / "program"
        shutil.copytree(root, self.root, symlinks=True)
        self.database, self.runs = folder / "compile_commands.json", runs
        text = json.dumps(entries).replace(f'"{root}', f'"{self.root}')
        self.database.write_text(text)
        self.entries = json.loads(text)
        self.files = [self.root / one["file"] for one in self.entries]
        self.binary = folder / "mutant"

    def change(self, source: random.Random) -> Change | None:
        """Return a change of some line in the body of a function; None if none can be made."""
        file = source.choice(self.files)
        lines = file.read_text(errors="surrogateescape").split("\n")
        number = source.randrange(len(lines))
        pattern, to = source.choice(_CHANGES)
        line = lines[number]
        places = list(re.finditer(pattern, line))
        if not line.startswith((" ", "\t")) or not places or line.lstrip()[:1] in ("*", "/", '"'):
            return None
        place = source.choice(places)
        after = line[: place.start()] + place.expand(to) + line[place.end() :]
        return Change(file, number + 1, line, after) if after != line else None

    def write(self, change: Change, line: str) -> None:
        """Put a line where a change is."""
        lines = change.file.read_text(errors="surrogateescape").split("\n")
        lines[change.line - 1] = line
        change.file.write_text("\n".join(lines), errors="surrogateescape")

    def build(self, changed: Path | None, checked: str = _CHECKED) -> bool:
        """Compile one source, or all, and link; return whether that went well."""
        compiler = sanitizers()
        assert compiler is not None
        flags = [compiler, "-w", "-g", "-O0", f"-fsanitize={checked}", _OFF]
        flags += ["-fno-sanitize-recover=all"]
        objects = [str(one.with_suffix(f".{checked.partition(',')[0]}.o")) for one in self.files]
        for entry, file, made in zip(self.entries, self.files, objects, strict=True):
            if changed in (None, file):
                kept = [one for one in entry["arguments"] if one.startswith(("-D", "-I", "-std"))]
                words = [*flags, *kept, "-c", str(file), "-o", made]
                if subprocess.run(words, cwd=self.root, capture_output=True).returncode:
                    return False
        words = [*flags, *objects, "-lm", "-ldl", "-o", str(self.binary)]
        return not subprocess.run(words, capture_output=True).returncode

    def reads_unwritten(self) -> bool:
        """Return whether some run uses what was never written: then anything may happen."""
        if "clang" not in (sanitizers() or "") or not self.build(None, "memory"):
            return False
        found = self.failure()
        return found is not None and "uninitialised" in found[1].kinds

    def failure(self) -> tuple[str, Failure] | None:
        """Run; return the source and the failure of the first run that fails, if a check has it."""
        settings = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=0"}
        settings["ASAN_OPTIONS"] += ":allocator_may_return_null=1:detect_stack_use_after_return=1"
        for words in self.runs:
            try:
                done = subprocess.run(
                    [str(self.binary), *words], capture_output=True, cwd=self.root, env=settings,
                    timeout=_LIMIT_S, stdin=subprocess.DEVNULL,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                continue
            report = done.stderr.decode(errors="replace")
            pattern, kinds = next((one for one in _KINDS if re.search(one[0], report)), ("", {""}))
            if not pattern:
                continue
            known = "|".join(re.escape(one.name) for one in self.root.iterdir())
            place = re.search(rf"(?:^|[/ ])({known}):(\d+)(?::|$)", report, re.MULTILINE)
            text = re.search(pattern, report)
            if place is not None and text is not None:
                return place[1], Failure(int(place[2]), frozenset(kinds), text[0])
        return None

    def wrong(self, file: str, failure: Failure) -> Iterator[str]:
        """Yield the looks that contradict a failure."""
        program = load(self.database)
        first = program.invariants(whole_program=True)
        here = [
            one
            for one in first.checks
            if one.span and one.span.line == failure.line and Path(one.span.file).name == file
        ]
        if is_called_safe(failure, here):
            yield "whole"
        names = sorted({one.function for one in here})
        if not names:
            return
        again = program.invariants(whole_program=True, functions=names).checks
        if is_called_safe(failure, [o for o in again if o.span and Path(o.span.file).name == file]):
            yield "second look"


def main(words: list[str]) -> int:
    """Change, build, run and compare; return the exit code."""
    database, count, seed, *rest = words
    runs: list[list[str]] = []
    for word in rest:
        if word == "--":
            runs.append([])
        else:
            runs[-1].append(word)
    source, n_built, n_failed, n_wrong = random.Random(int(seed)), 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        mutants = Mutants(Path(database), runs, Path(name))
        assert mutants.build(None), "the program cannot be built with sanitizers"
        assert mutants.failure() is None, f"it fails as it is: {mutants.failure()}"
        while n_built < int(count):
            change = mutants.change(source)
            if change is None:
                continue
            mutants.write(change, change.after)
            if mutants.build(change.file):
                n_built += 1
                found = mutants.failure()
                if found is not None:
                    n_failed += 1
                    place = f"{change.file.name}:{change.line}"
                    print(
                        f"change {n_built}, {place}: {found[1].text} at {found[0]}:{found[1].line}"
                    )
                    looks = list(mutants.wrong(*found))
                    if looks and not mutants.reads_unwritten():
                        n_wrong += 1
                        print(f"  is called safe ({', '.join(looks)}): {change.after.strip()}")
            mutants.write(change, change.before)
            mutants.build(change.file)
    print(f"{database}: {n_built} changes, {n_failed} fail, {n_wrong} wrong answers")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
