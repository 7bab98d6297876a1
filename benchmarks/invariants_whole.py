"""How long do whole programs take with intervals and with packed octagons, and what is proved?

Programs are given as bitcode: loading is not in the times, points-to and all else is. A program
without a `main` is a library: whatever others can see may be called with any arguments. The peak
is that of the whole process, loading included, in a process of its own for each program.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from harness import Measurement, Table, measure

import kleene
from kleene.analyses.invariants import InvariantsResult

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("dc", "bc", "htop", "lua", "nginx", "sqlite3")
REPEAT = 2


def share(result: InvariantsResult) -> str:
    """Return the share of checks proved, by kind."""
    total = Counter(one.kind.value for one in result.checks)
    proved = Counter(one.kind.value for one in result.checks if one.is_proved)
    return ", ".join(f"{kind} {100 * proved[kind] // n} %" for kind, n in sorted(total.items()))


def one(name: str, domain: str) -> None:
    """Analyse one program and print what comes of it as JSON."""
    program = kleene.load(DATA / "bitcode" / f"{name}.bc")
    run = partial(program.invariants, domain=domain, whole_program=True, device="cpu")
    measured = measure(run, repeat=REPEAT)
    result = measured.result
    n_proved = sum(check.is_proved for check in result.checks)
    found = {
        **measured.times(),
        "n_instructions": len(program.instructions),
        "n_checks": len(result.checks),
        "n_proved": n_proved,
        "share": share(result),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }
    print(json.dumps(found))


def main() -> None:
    """Analyse all programs, each in a process of its own."""
    if len(sys.argv) == 3:
        one(*sys.argv[1:])
        return
    table = Table("invariants_whole", __doc__.partition("\n")[0])
    for name in PROGRAMS:
        for domain in ("interval", "octagon"):
            words = [sys.executable, __file__, name, domain]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            times = (found[key] for key in ("first_s", "median_s", "min_s", "max_s"))
            table.row(
                input=name,
                size=f"{found['n_instructions']} instructions",
                domain=domain,
                ours=Measurement(*times),
                checks=found["n_checks"],
                proved=f"{100 * found['n_proved'] / found['n_checks']:.1f} %",
                by_kind=found["share"],
                peak=f"{found['peak_gb']:.2f} GB",
            )
    table.save()


if __name__ == "__main__":
    main()
