"""Random whole programs of parts that share globals, compared with sanitizers and with traced runs.

    python -m tests.analyses.invariants.composed [FIRST [END]]

`parts.txt` has parts with holes: out-parameters, growing arrays, wrapped allocators, tables of
functions, state machines, strings, streams, unions, copies of structs. A program is five of them,
and a `main` that makes calls of them in any order. What is wrong is listed, and the exit code is 1.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.analyses.dataflow.outside import load

from .outside import check
from .sanitized import N_RUNS, NUMBERS, first_failures, variant, write, wrong

FILE = Path(__file__).with_name("parts.txt")
# As the driver of `sanitized.py`, but a run gets its seed from its input.
_FROM_STDIN = (
    NUMBERS
    + r"""
__attribute__((constructor)) static void start(void) {
  char text[16] = {0};
  if (read(0, text, sizeof text - 1) < 1) _exit(98);
  begin(atol(text));
}
"""
)
N_PARTS = 5
N_CALLS = (6, 16)


class Biased(random.Random):
    """A source that often chooses the first text of a hole, which is the one without a defect."""

    def __init__(self, seed: int, bias: float) -> None:
        super().__init__(seed)
        self._bias = bias

    def choice(self, seq: Sequence[Any]) -> Any:
        """Return the first with some probability, else any."""
        return seq[0] if self.random() < self._bias else super().choice(seq)


def parts() -> dict[str, tuple[str, list[str]]]:
    """Return the functions of each part, and its calls, by name."""
    found = {}
    for one in FILE.read_text().split("\n//// ")[1:]:
        name, _, text = one.partition("\n")
        functions, _, calls = text.partition("\nmain:\n")
        found[name] = (functions, calls.strip().splitlines())
    return found


def program_of(seed: int) -> str:
    """Return the text of a program; all of its holes are filled."""
    source = random.Random(seed)
    every = parts()
    shared, _ = every.pop("shared")
    chosen = source.sample(sorted(every), N_PARTS)
    calls = [one for name in chosen for one in every[name][1]]
    main = []
    for _ in range(source.randrange(*N_CALLS)):
        call = source.choice(calls)
        kind = source.random()
        if kind < 0.15:
            call = f"if (IN > {source.randrange(-1, 6)}) {{ {call} }}"
        elif kind < 0.3:
            call = f"for (int turn = 0; turn < {source.randrange(2, 4)}; turn++) {{ {call} }}"
        main.append(f"  {call}")
    if source.random() < 0.3:
        main = ["  for (int round = 0; round < 3; round++) {", *main, "  }"]
    lines = [
        shared, *(every[name][0] for name in chosen),
        "int main(void) {", "  int r = 0;", *main, "  return r & 1; }",
    ]  # fmt: skip
    biased = Biased(seed, source.choice((0.0, 0.5, 0.8, 0.95)))
    return variant("\n".join(lines) + "\n", biased)


def all_wrong(file: Path, n_runs: int = N_RUNS) -> Iterator[str]:
    """Yield what is wrong with the answers for a program."""
    failed = first_failures(file, n_runs)
    yield from wrong(file, n_runs, failed, ("whole", "second look"))
    seeds = [seed for seed in range(n_runs // 8) if seed not in failed]
    yield from wrong_in_traces(file, seeds)


def wrong_in_traces(file: Path, seeds: Sequence[int]) -> Iterator[str]:
    """Yield what traced runs show to be wrong with facts and with answers of a second look.

    None of the runs may fail: after a failure anything may happen.
    """
    driver = file.with_name("stdin.c")
    driver.write_text(_FROM_STDIN)
    runs = []
    for seed in seeds:
        given = file.with_name(f"seed{seed}")
        given.write_text(str(seed))
        runs.append([f"<{given}"])
    if runs:
        text, program = load(file)
        *_, found = check(
            text, program, runs, file.parent, libraries=[str(driver)], domain="predicates"
        )
        yield from (f"{file.name}: {one}" for one in found)


def main(words: list[str]) -> int:
    """Compare programs with their runs; return the exit code."""
    first, end = (int(one) for one in (*words, *("0", "20")[len(words) :]))
    folder = Path(tempfile.mkdtemp(prefix="composed"))
    n_wrong = 0
    for seed in range(first, end):
        file = write(folder, "composed", seed, 0, text=program_of(seed))
        for text in all_wrong(file):
            print(text, flush=True)
            n_wrong += 1
    print(f"{end - first} programs in {folder}, {n_wrong} wrong")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
