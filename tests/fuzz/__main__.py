"""Feed targets with many bad inputs: `python -m tests.fuzz TARGET... --cases N [--seed S]`.

With the package `atheris` (`pip install atheris`) and `--coverage` inputs are chosen by what they
reach of Kleene's own code; else, and for targets in which LLVM runs, seeds are spoilt at random.
The cases run in processes of 2,000, so that a crash costs one of them and names its input.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path

from kleene.base.errors import SourceError
from tests.fuzz.mutation import spoilt
from tests.fuzz.targets import TARGETS, Target

_BATCH = 2000
_HANGS_AFTER_S = 20.0
_SAID_EACH = 50


def main() -> None:
    """Run what the command line asks for; the exit code is 1 if something failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("targets", nargs="+", choices=[*TARGETS])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--batch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    if given.batch:
        sys.exit(_batch(TARGETS[given.targets[0]], given.cases, given.seed, given.kept))
    is_bad = False
    for name in given.targets:
        if given.coverage:
            _by_coverage(name, given.cases, given.seed)
        else:
            is_bad |= _at_random(name, given.cases, given.seed, given.kept)
    sys.exit(is_bad)


def _at_random(name: str, n_cases: int, seed: int, kept: Path) -> bool:
    n_done = n_failed = n_crashed = 0
    start_s = time.monotonic()
    while n_done < n_cases:
        count = min(_BATCH, n_cases - n_done)
        words = ["--cases", str(count), "--seed", str(seed), "--kept", str(kept), "--batch"]
        command = [sys.executable, "-m", "tests.fuzz", name, *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        told = [line.split() for line in done.stdout.splitlines() if line.startswith("case ")]
        n_done += int(told[-1][1]) if told else 1
        n_failed += int(told[-1][2]) if told else 1
        n_crashed += done.returncode < 0
        n_failed += done.returncode > 0  # a case took too long, and ended the process
        seed += 1
    took_s = time.monotonic() - start_s
    print(f"{name}: {n_done} cases, {n_failed} failed, {n_crashed} crashes, {took_s:.0f} s")
    is_fault = n_crashed and not TARGETS[name].may_crash
    return bool(n_failed or is_fault)


def _batch(target: Target, n_cases: int, seed: int, kept: Path) -> int:
    """Run cases; say after each hundred, and before a crash, how many there were."""
    import faulthandler

    chance, seeds, n_failed, shown = random.Random(seed), target.seeds(), 0, set[str]()
    for raw in seeds:  # what they need is compiled now: that is no hang
        with suppress(SourceError):
            target.case(raw)
    kept.mkdir(exist_ok=True)
    current = kept / f"current-{os.getpid()}"
    for number in range(n_cases):
        data = spoilt(seeds, chance)
        if target.is_native:
            current.write_bytes(data)  # what it was at, should it crash
        if target.is_native or number % _SAID_EACH == 0:
            print(f"case {number + 1} {n_failed}", flush=True)
        faulthandler.dump_traceback_later(_HANGS_AFTER_S * (10 if target.is_slow else 1), exit=True)
        start_s = time.monotonic()
        try:
            target.case(data)
        except SourceError as error:
            error.render()
        except BaseException:
            n_failed += 1
            words = traceback.format_exc()
            if (last := "\n".join(words.splitlines()[-3:])) not in shown:
                shown.add(last)
                (kept / f"{target.case.__name__}-{seed}-{number}").write_bytes(data)
                print(words, file=sys.stderr)
        if (took_s := time.monotonic() - start_s) > _HANGS_AFTER_S / 4 and not target.is_slow:
            print(f"slow: {took_s:.1f} s: {data[:200]!r}", file=sys.stderr)
    print(f"case {n_cases} {n_failed}", flush=True)
    current.unlink(missing_ok=True)
    return 0


def _by_coverage(name: str, n_cases: int, seed: int) -> None:
    """Let atheris choose the inputs; it ends the process at the first failure.

    It adds to the code of every function, which Numba then cannot compile: loops are interpreted.
    """
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    import atheris  # type: ignore[import-not-found]

    target = TARGETS[name]
    corpus = Path(f"fuzz-corpus-{name}")
    corpus.mkdir(exist_ok=True)

    def case(data: bytes) -> None:
        with suppress(SourceError):
            target.case(data)

    with atheris.instrument_imports(include=["kleene"]):
        for number, raw in enumerate(target.seeds()):
            (corpus / f"seed-{number}").write_bytes(raw)
            case(raw)  # imports what it needs
    words = [sys.argv[0], f"-runs={n_cases}", f"-seed={seed}", "-max_len=4000", "-timeout=60"]
    atheris.Setup([*words, "-rss_limit_mb=4000", str(corpus)], case)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
