"""The interpreter that judges the analysis does what the compiled program does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kleene import load

from .generator import generated
from .interpreter import Execution
from .test_truth import defined
from .truth import chooser

HARNESS = """
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static jmp_buf back;
static const unsigned *given;
unsigned unknown_unsigned(void) { return *given++; }
int unknown(void) { return (int)unknown_unsigned(); }
double unknown_double(void) { return 0.0; }  // of no run that is compared
void __assert_fail(const char *a, const char *b, unsigned c, const char *d) { longjmp(back, 1); }
struct run { void (*function)(int, int); int n; unsigned values[400]; };
static const struct run runs[] = {RUNS};
int main(void) {
  for (unsigned k = 0; k < sizeof runs / sizeof *runs; k++) {
    memset(cells, 0, sizeof cells);
    memcpy(words, "words\\0\\0", 8);
    given = runs[k].values + 2;
    if (setjmp(back)) { puts("fails"); continue; }
    runs[k].function((int)runs[k].values[0], (int)runs[k].values[1]);
    puts(given == runs[k].values + runs[k].n ? "ends" : "asks for another number of values");
  }
}
"""


def test_interpreted_and_compiled_runs_end_alike(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the package ziglang compiles and links")
    text = generated(range(12), seed=7)
    file = tmp_path / "generated.c"
    file.write_text(text)
    program = load(file)
    runs, expected = [], []
    for function in defined(program):
        name = program.functions[function].name
        if not re.fullmatch(r"[fg]\d+", name) or keeps_state(text, name):
            continue
        for seed in range(3):
            asked, failed = interpreted(program, function, seed)
            if failed in ("", "assert") and len(asked) < 400:
                values = ", ".join(f"{value}u" for value in asked)
                runs.append(f"{{{name}, {len(asked)}, {{{values}}}}}")
                expected.append("fails" if failed else "ends")
    assert {*expected} == {"fails", "ends"}
    (tmp_path / "runs.c").write_text(text + HARNESS.replace("RUNS", ",\n".join(runs)))
    binary = tmp_path / "runs"
    words = [sys.executable, "-m", "ziglang", "cc", "-w", "-O0", "-fno-sanitize=undefined"]
    subprocess.run([*words, tmp_path / "runs.c", "-o", binary, "-lm"], check=True, timeout=300)
    done = subprocess.run([binary], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines() == expected


def keeps_state(text: str, name: str) -> bool:
    """Return whether a function has a static variable, which a run leaves to the next."""
    return "static" in text.partition(f"void {name}(")[2].partition("\n}")[0]


def interpreted(program: object, function: int, seed: int) -> tuple[list[int], str]:
    """Return the values that a run asked for and how it failed.

    "steps" if it did not end; "draws" if it asked for others than integers of 32 bits, which the
    harness does not give: memory that was never written, whether there is storage, doubles.
    """
    asked: list[int] = []
    failed = [""]
    choose = chooser(seed)

    def choose_and_keep(width: int) -> int:
        asked.append(choose(width))
        if width != 32:
            failed[0] = "draws"
        return asked[-1]

    def fail(kind: str, row: int) -> None:
        failed[0] = failed[0] or kind

    execution = Execution(program, choose_and_keep, lambda frame, block: None, fail)  # type: ignore[arg-type]
    execution.run(function)
    return asked, failed[0] or ("steps" if execution.steps_left < 0 else "")
