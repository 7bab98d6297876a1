"""How long do whole programs take with intervals and with packed octagons, and what is proved?

Programs are given as bitcode: loading is not in the times, points-to and all else is. A program
without a `main` is a library: whatever others can see may be called with any arguments. The peak
is that of the whole process, loading included, in a process of its own for each program. Checks
that are not proved are counted by what is not known: the pointer (neither where it points in its
object nor how large that is), the object's end (some bytes of it were accessed before, and no more
is known), the index (object and size are known), the value in memory, the argument, the result of
a call, or arithmetic of these.
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
from kleene.analyses.invariants.checks import CheckKind
from kleene.ir.codes import ADDRESS_OPERAND, CALLS, Opcode, ValueKind

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("dc", "bc", "htop", "lua", "nginx", "sqlite3")
REPEAT = 2
LARGE = 1 << 40


def share(result: InvariantsResult) -> str:
    """Return the share of checks proved, by kind."""
    total = Counter(one.kind.value for one in result.checks)
    proved = Counter(one.kind.value for one in result.checks if one.is_proved)
    return ", ".join(f"{kind} {100 * proved[kind] // n} %" for kind, n in sorted(total.items()))


def causes(result: InvariantsResult) -> str:
    """Return why checks are not proved: what is not known, the most frequent first."""
    assert result.whole is not None
    context, pointers = result.whole.context, result.whole.pointers
    table, first = context.program.instructions, context.program.bases[ValueKind.INSTRUCTION]
    found: Counter[str] = Counter()
    for check in result.checks:
        if check.is_proved:
            continue
        row, kind = check.instruction, check.kind
        opcode = Opcode(int(table.opcode[row]))
        if kind is CheckKind.BOUNDS and opcode in ADDRESS_OPERAND:
            name = int(context.split.operand[table.offsets[row] + ADDRESS_OPERAND[opcode]])
            offset, size = pointers.offset[name], pointers.size[name]
            if size.low <= -LARGE:
                found["bounds: pointer"] += 1
            elif size.high >= LARGE:
                found["bounds: end of object"] += 1
            else:
                found["bounds: index" if offset.low != offset.high else "bounds: offset"] += 1
            continue
        place = {CheckKind.DIVISION: 1, CheckKind.SHIFT: 1}.get(kind, 0)
        place = ADDRESS_OPERAND.get(opcode, place) if kind is CheckKind.NULL else place
        value = int(table.operands[table.offsets[row] + place])
        made = Opcode(int(table.opcode[value - first])) if value >= first else None
        what = {Opcode.LOAD: "memory", Opcode.CALL: "call", None: "argument"}.get(made, "computed")
        found[f"{kind.value}: {what if opcode not in CALLS else 'library'}"] += 1
    return ", ".join(f"{cause} {n}" for cause, n in found.most_common(8))


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
        "open": causes(result),
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
                not_proved=found["open"],
                peak=f"{found['peak_gb']:.2f} GB",
            )
    table.save()


if __name__ == "__main__":
    main()
