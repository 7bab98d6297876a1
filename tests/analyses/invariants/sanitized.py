"""Compare checks and printed invariants with sanitizers: idioms of C, in variants, on many inputs.

    python -m tests.analyses.invariants.sanitized [COUNT [SEED [NAME,NAME]]]

`idioms.txt` has programs with holes: `«3|4»` is one of the texts, chosen at random, `«N:3|4»` has a
name, and `«N»` repeats what was chosen. Some variants are defective; the sanitizers of gcc or clang
(with clang also reads of what was never written) say which, and where. A line where a run fails may
not be called safe, in any mode, and what is printed as asserts must hold on all these runs. What is
wrong is listed, with the folder of the programs, and the exit code is then 1.

Only the first failure of a run counts: checks are answered as if those before them held. Reports of
what no check is about (a shift of a negative number, a null reference) end a run without a word.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kleene import load
from kleene.analyses.invariants import CheckResult, Verdict

FILE = Path(__file__).with_name("idioms.txt")
N_RUNS = 150
_COMPILERS = ("clang", "clang-14", "gcc")
_SYMBOLIZERS = ("llvm-symbolizer", "llvm-symbolizer-14", "addr2line")
_UNDEFINED = "address,undefined,float-cast-overflow"
_NOT_ASKED = "alignment,object-size,pointer-overflow,vptr,shift-base,bool,enum"
_EAGER = ["-mllvm", "-msan-eager-checks=1"]  # of arguments and results, too
_SETTINGS = "symbolize=0:detect_leaks=0:allocator_may_return_null=1"
_HEADERS = """alloca assert ctype errno iso646 limits setjmp signal stdarg stddef stdint stdio
stdlib string time unistd"""
_PRELUDE = "".join(f"#include <{one}.h>\n" for one in _HEADERS.split()) + (
    "int __VERIFIER_nondet_int(void);\n#define IN __VERIFIER_nondet_int()\n"
)
NUMBERS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long long state;
static int left = 300;
static unsigned next(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state >> 33;
}
int __VERIFIER_nondet_int(void) {
  static const int ends[] = {-2147483647 - 1, 2147483647, -2147483647, 2147483646, 1 << 30,
                             32, 64, 255, 256, -128, 127, 128, 65535, 31, 63, 1000};
  if (left-- == 0) _exit(0);
  unsigned kind = next() % 20;
  if (kind < 11) return (int)(next() % 12) - 2;
  if (kind < 16) return (int)(next() % 80) - 20;
  if (kind < 18) return ends[next() % (sizeof ends / sizeof *ends)];
  return (int)(next() << 3) ^ (int)next();
}
static void begin(long seed) {
  state = seed * 2654435761u + 12345;
  for (int i = 0; i < 5; i++) next();
  alarm(2);
  if (!freopen("/dev/null", "r", stdin)) _exit(0);
}
"""
# Forks a process for each input: many are needed, and a sanitizer ends its process.
_DRIVER = (
    NUMBERS
    + r"""
int idiom(int, char **);
int main(int argc, char **argv) {
  char name[] = "idiom", *words[] = {name, 0};
  dup2(1, 2);
  for (long seed = 0; seed < atol(argv[1]); seed++) {
    printf("\n@@@@\n");
    fflush(stdout);
    if (fork() == 0) {
      begin(seed);
      exit(idiom(1, words) ? 1 : 0);
    }
    int status;
    wait(&status);
  }
}
"""
)
_INCLUDED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C" int idiom(int, char **);
#endif
#define main idiom
#define HOLDS(e) do { if (!(e)) { \
  printf("\nVIOLATED: %d: %s\n", __LINE__, #e); fflush(stdout); _exit(0); } } while (0)
"""
_MODES: dict[str, dict[str, Any]] = {
    "single": {},
    "whole": {"whole_program": True},
    "second look": {"whole_program": True, "domain": "predicates"},
}
_KINDS = (  # what a report says, and the kinds of checks of which one has to be open
    ("signed integer overflow|negation of .* cannot|by -1 cannot", {"overflow"}),
    ("runtime error: division by zero", {"division"}),
    ("shift exponent", {"shift"}),
    ("outside the range of representable", {"conversion"}),
    ("double-free|attempting free", {"freed"}),
    ("use-after", {"freed", "bounds"}),
    ("(?:load of|store to|access within|through) null pointer|null pointer passed", {"null"}),
    ("SEGV on unknown address 0x0000000000[0-9a-f]{2} ", {"null"}),
    ("SEGV", {"bounds", "null"}),
    ("buffer-(?:over|under)flow|negative-size|stack-underflow", {"bounds"}),
    ("index -?[0-9]+ out of bounds", {"bounds"}),
    ("Assertion `", {"assert"}),
    ("use-of-uninitialized-value", {"uninitialised"}),
)


@dataclass(frozen=True)
class Failure:
    """Where a run failed, and the kinds of checks that this is about."""

    line: int
    kinds: frozenset[str]
    text: str


def idioms() -> dict[str, str]:
    """Return the texts with holes, by name."""
    parts = FILE.read_text().split("\n//// ")[1:]
    return {name: text for name, _, text in (one.partition("\n") for one in parts)}


def variant(text: str, source: random.Random) -> str:
    """Return a text with its holes filled."""
    chosen: dict[str, str] = {}

    def fill(hole: re.Match[str]) -> str:
        name, colon, texts = hole[1].partition(":")
        if hole[1] in chosen:
            return chosen[hole[1]]
        if not (colon and name.isidentifier()):
            return source.choice(hole[1].split("|"))
        return chosen.setdefault(name, source.choice(texts.split("|")))

    return re.sub("«([^»]*)»", fill, text)


def write(folder: Path, name: str, number: int, seed: int, *, text: str = "") -> Path:
    """Write a variant of an idiom, or of a text, where it can be built."""
    text = variant(text or idioms()[name], random.Random(f"{name} {number} {seed}"))
    is_cxx = text.startswith("// C++")
    file = folder / f"{name}_{number}{'.cpp' if is_cxx else '.c'}"
    file.write_text(text if is_cxx else _PRELUDE + text)
    prepare(folder)
    return file


def prepare(folder: Path) -> None:
    """Write what programs in a folder are built with."""
    (folder / "included.h").write_text(_INCLUDED)
    (folder / "driver.c").write_text(_DRIVER)


def sanitizers() -> str | None:
    """Return the compiler that has them, if there is one."""
    return tool(_COMPILERS)


def tool(names: Sequence[str]) -> str | None:
    """Return the first program that there is."""
    return next((found for one in names if (found := shutil.which(one))), None)


def build(file: Path, checked: str = _UNDEFINED, *, is_exact: bool = False) -> Path:
    """Compile a program with sanitizers and the driver.

    Args:
        file: the program.
        checked: names of sanitizers.
        is_exact: whether runs also end at an index outside of its array.
    """
    compiler, driver = sanitizers(), file.with_name("driver.c")
    assert compiler is not None
    kind = checked.partition(",")[0]
    binary = file.with_suffix(f".{kind}{'_exact' * is_exact}")
    runner = driver.with_suffix(f".{kind}.o")
    off = f"-fno-sanitize={_NOT_ASKED}{'' if is_exact else ',bounds'}"
    words = [compiler, "-w", "-g", "-O0", f"-fsanitize={checked}", off]
    words += ["-fno-sanitize-recover=all"] if kind == "address" else []
    words += _EAGER if kind == "memory" else []
    included = ["-include", str(file.with_name("included.h"))]
    libraries = ["-lm", "-lpthread", *(["-lstdc++"] if file.suffix == ".cpp" else [])]
    commands = [
        [*words, "-c", str(driver), "-o", str(runner)],
        [*words, *included, str(file), "-x", "none", str(runner), "-o", str(binary), *libraries],
    ]
    for command in commands[runner.exists() :]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
    return binary


def outputs(binary: Path, n_runs: int) -> list[str]:
    """Return what each run of a program printed."""
    settings = {
        "ASAN_OPTIONS": f"{_SETTINGS}:detect_stack_use_after_return=1",
        "UBSAN_OPTIONS": _SETTINGS,
        "MSAN_OPTIONS": _SETTINGS,
    }
    words = [str(binary), str(n_runs)]
    done = subprocess.run(words, capture_output=True, timeout=600, env=settings)
    return done.stdout.decode(errors="replace").split("\n@@@@\n")[1:]


def failures(binary: Path, source: str, n_runs: int) -> dict[int, Failure | None]:
    """Return the runs that failed, and how; None where no check is about it."""
    found = outputs(binary, n_runs)
    offsets = rf"{re.escape(binary.name)}\+0x([0-9a-f]+)\)"
    lines = lines_of(binary, sorted(set(re.findall(offsets, "".join(found)))), source)
    result: dict[int, Failure | None] = {}
    for run, report in enumerate(found):
        if not re.search("runtime error|ERROR: |WARNING: Mem|Assertion `", report):
            continue
        result[run] = None
        if "use-after-scope" in report and source.endswith(".c"):
            continue  # the end of a scope is followed in C++; of C it is said that it is not
        pattern, kinds = next((one for one in _KINDS if re.search(one[0], report)), ("", {""}))
        told = re.search(rf"{re.escape(source)}:(\d+):[^\n]*(?:runtime error|Assertion)", report)
        at = [int(told[1])] if told else [lines.get(one, 0) for one in re.findall(offsets, report)]
        if pattern and any(at):
            text = re.search(pattern, report)
            assert text is not None
            result[run] = Failure(next(one for one in at if one), frozenset(kinds), text[0])
    return result


def first_failures(file: Path, n_runs: int) -> dict[int, Failure | None]:
    """Return the runs that failed, but for those that were outside of an array before.

    An index far outside is in another object, and no failure for the sanitizer of addresses; one
    outside of an array in a larger object is none for the checks. Without a place, and so None, is
    what follows from a value that was never written.
    """
    exact = failures(build(file, is_exact=True), file.name, n_runs)
    found = failures(build(file), file.name, n_runs)
    for run, one in found.items():
        before = exact.get(run)
        if one is not None and before is not None and before.line != one.line:
            found[run] = None
    if "clang" in (sanitizers() or "") and file.suffix == ".c":
        for run, one in failures(build(file, "memory"), file.name, n_runs).items():
            if one is not None and "uninitialised" not in one.kinds:
                continue  # a crash, which the others tell more of
            other = found.get(run)
            if run not in found and run not in exact:
                found[run] = one
            elif other is not None and "null" in other.kinds:
                found[run] = None  # a pointer that was never written may have been null
    return found


def lines_of(binary: Path, offsets: list[str], source: str) -> dict[str, int]:
    """Return the lines of those addresses that are in the source."""
    symbolizer = tool(_SYMBOLIZERS)
    if not offsets or symbolizer is None:
        return {}
    is_llvm = "llvm" in symbolizer
    words = [f"--obj={binary}", "--no-inlines", "--functions=none"] if is_llvm else ["-e", binary]
    given = [f"0x{one}" for one in offsets]
    done = subprocess.run([symbolizer, *words, *given], capture_output=True, text=True, timeout=100)
    places = [one for one in done.stdout.split("\n") if one]
    pattern = re.compile(rf"(?:^|/){re.escape(source)}:(\d+)")
    pairs = zip(offsets, map(pattern.search, places), strict=True)
    return {offset: int(match[1]) for offset, match in pairs if match}


def is_called_safe(failure: Failure, checks: Sequence[CheckResult]) -> bool:
    """Return whether a failure contradicts the checks of a program.

    Where there is no check of the kind, nothing is said. What was never written is used, for
    clang, behind the computation that has the check.
    """
    is_late = "uninitialised" in failure.kinds
    asked = [
        one
        for one in checks
        if one.kind.value in failure.kinds
        and (is_late or (one.span is not None and one.span.line == failure.line))
    ]
    return bool(asked) and all(one.verdict in (Verdict.SAFE, Verdict.UNREACHABLE) for one in asked)


def wrong(
    file: Path,
    n_runs: int = N_RUNS,
    found: Mapping[int, Failure | None] | None = None,
    modes: Sequence[str] = tuple(_MODES),
) -> Iterator[str]:
    """Yield what is wrong with the answers for a program, of which `found` runs fail."""
    asserted = file.with_name(f"asserted_{file.name}")
    found = first_failures(file, n_runs) if found is None else found
    program, written = load(file), set[str]()
    for mode in modes:
        result = program.invariants(**_MODES[mode])
        for one in set(found.values()) - {None}:
            assert one is not None
            if is_called_safe(one, result.checks):
                yield f"{mode} {file.name}:{one.line}: {one.text}, and it is called safe"
        printed = result.annotations()
        names = [one for one in printed.files if one.endswith(f"/{file.name}")]
        if file.suffix == ".cpp" or not names:
            continue
        text = printed.asserts(names[0], call="HOLDS").partition("\n#line 1\n")[2]
        if text in written:
            continue
        written.add(text)
        asserted.write_text(text)
        for report in sorted(set(outputs(build(asserted, is_exact=True), n_runs))):
            if match := re.search(r"VIOLATED: \d[^\n]*", report):
                yield f"{mode} {file.name}: {match[0]}"


def main(words: list[str]) -> int:
    """Compare variants of all idioms; return the exit code."""
    count, seed = (int(one) for one in (*words[:2], *("1", "0")[len(words[:2]) :]))
    names = words[2].split(",") if len(words) > 2 else list(idioms())
    folder = Path(tempfile.mkdtemp(prefix="idioms"))
    n_wrong = 0
    for number in range(count):
        for name in names:
            for text in wrong(write(folder, name, number, seed)):
                print(text, flush=True)
                n_wrong += 1
    print(f"{count * len(names)} programs in {folder}, {n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
