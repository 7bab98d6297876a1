"""Whole programs nobody here wrote, built as their users build them, run, and compared.

    python -m tests.analyses.invariants.outside LOG lua -- -e 'print(1)' -- script.lua
    python -m tests.analyses.invariants.outside --domain=partitioned LOG lua -- script.lua

The log is that of `tests.analyses.points_to.outside`; `-` and a file of C are taken too. Every
value that was seen has to be in its range, every block that ran has to be reachable, and no operand
of a check that is safe may have been one that fails it. What is wrong is listed, and the exit code
is then 1. With a domain, all functions are looked at again, and what that says is compared.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from kleene.analyses.invariants.checks import CheckKind, CheckResult, Verdict
from kleene.analyses.invariants.plan import DOMAINS
from kleene.analyses.invariants.whole import WholeRun, interpret
from kleene.analyses.invariants.whole.second_look import SecondLook
from kleene.analyses.invariants.whole.sites import FAILS, KINDS, MAY_FAIL, SAFE, UNREACHABLE
from kleene.ir import Program
from kleene.ir.codes import ADDRESS_OPERAND, CALLS, Opcode, ValueKind
from kleene.ir.views import span_of
from tests.analyses.dataflow.observing import Observed, build, run
from tests.analyses.dataflow.outside import database_of, load

Answer = tuple[CheckKind, int, Verdict]  # with the row of the instruction
_OPERAND = {CheckKind.DIVISION: 1, CheckKind.SHIFT: 1}
_VERDICTS = {
    Verdict.SAFE: SAFE, Verdict.MAY_FAIL: MAY_FAIL, Verdict.FAILS: FAILS,
    Verdict.UNREACHABLE: UNREACHABLE,
}  # fmt: skip


def check(
    text: str,
    program: Program,
    runs: list[list[str]],
    folder: Path,
    *,
    libraries: Sequence[str] = (),
    cxx: bool = False,
    domain: str = "",
    others: Sequence[CheckResult] = (),
) -> tuple[WholeRun, int, list[str]]:
    """Return what was found, how many names were seen, and what is wrong with it or with others."""
    found = interpret(program, domain="octagon")
    if domain:
        look_again(found, domain)
    observed = Observed(found.context)
    binary, seen = folder / "observed", folder / "seen"
    seen.unlink(missing_ok=True)
    build(observed.instrumented(text), binary, libraries, cxx=cxx)
    rows = np.empty(0)
    for words in runs:
        given, arguments = b"", words
        if words and words[-1].startswith("<"):
            given, arguments = Path(words[-1][1:]).read_bytes(), words[:-1]
        _, rows = run(binary, seen, *arguments, given=given)
    given_by_others = [(one.kind, one.instruction, one.verdict) for one in others]
    wrong = [*observed.wrong(rows)]
    wrong += failed([*answers(found), *given_by_others], observed, rows)
    return found, int((rows["n_seen"] > 0).sum()), wrong


def look_again(found: WholeRun, domain: str) -> int:
    """Replace verdicts by those of a second look; return how many checks it has proved."""
    look = SecondLook(found, DOMAINS[: DOMAINS.index(domain) + 1], 0.0)
    look.look(range(len(found.context.program.function_table)), lambda _: True)
    n_proved = 0
    for check, answer in look.answers.items():
        found.checks.verdict[check] = _VERDICTS[answer.verdict]
        n_proved += answer.verdict in (Verdict.SAFE, Verdict.UNREACHABLE)
    return n_proved


def answers(found: WholeRun) -> Iterator[Answer]:
    """Yield the answers of a whole program."""
    checks, verdicts = found.checks, {code: verdict for verdict, code in _VERDICTS.items()}
    columns = (checks.kind, checks.row, checks.verdict)
    for kind, row, verdict in zip(*(one.tolist() for one in columns), strict=True):
        yield KINDS[kind], row, verdicts[verdict]


def failed(checks: Iterable[Answer], observed: Observed, rows: np.ndarray) -> Iterator[str]:
    """Yield checks of which a run has shown that the answer is another one."""
    program, table = observed.program, observed.program.instructions
    for kind, row, verdict in checks:
        span = span_of(program, int(table.span[row]))
        at = f"{row} (line {span.line})" if span is not None else f"{row}"
        if verdict is Verdict.UNREACHABLE and was_reached(observed, rows, row):
            yield f"{kind.value} at {at} was called unreachable"
        if verdict is Verdict.FAILS and went_on(observed, rows, row):
            yield f"{kind.value} at {at} was called one that always fails"
        place = _OPERAND.get(kind)
        if verdict is Verdict.SAFE and kind is CheckKind.NULL and table.opcode[row] not in CALLS:
            place = ADDRESS_OPERAND[Opcode(int(table.opcode[row]))]
        if verdict is not Verdict.SAFE or place is None or table.opcode[row] in CALLS:
            continue
        seen = rows[int(observed.context.split.operand[table.offsets[row] + place])]
        n_here = rows["n_seen"][observed.first_block_slot + int(table.block[row])]
        is_wrong = 0 < seen["n_seen"] <= n_here and (  # else also in runs past it
            seen["least"] == 0
            if kind is not CheckKind.SHIFT
            else seen["most"] >= observed.width[row + program.bases[ValueKind.INSTRUCTION]]
        )
        if is_wrong:
            yield f"{kind.value} at {at} was called safe"


def was_reached(observed: Observed, rows: np.ndarray, row: int) -> bool:
    """Return whether a run has come to an instruction, so far as was seen.

    It has come into the block, and behind what is called there before, which may not return.
    """
    table, block = observed.program.instructions, int(observed.program.instructions.block[row])
    if not rows["n_seen"][observed.first_block_slot + block]:
        return False
    first = int(observed.program.blocks.instruction_offsets[block])
    calls = first + np.flatnonzero(np.isin(table.opcode[first:row], list(CALLS)))
    return not len(calls) or went_on(observed, rows, int(calls[-1]))


def went_on(observed: Observed, rows: np.ndarray, row: int) -> bool:
    """Return whether a run was seen behind an instruction, in its block."""
    table = observed.program.instructions
    names = [
        name
        for later, found in observed.after.items()
        if later >= row and table.block[later] == table.block[row]
        for name in found
    ]
    return bool((rows["n_seen"][names] > 0).any())


def main(words: list[str]) -> int:
    """Build, run and compare; return the exit code."""
    domain = words.pop(0).removeprefix("--domain=") if words[0].startswith("--domain=") else ""
    log, executable, *rest = words
    runs: list[list[str]] = []
    for word in rest:
        if word == "--":
            runs.append([])
        else:
            runs[-1].append(word)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        libraries, cxx, database = [], False, Path(executable)
        if log != "-":
            database, libraries, cxx = database_of(Path(log), Path(executable), folder)
        text, program = load(database)
        found, n_seen, wrong = check(
            text, program, runs, folder, libraries=libraries, cxx=cxx, domain=domain
        )
        print(
            f"{executable}: {len(program.instructions)} instructions, {len(found.checks)} checks,"
            f" {n_seen} names seen, {len(wrong)} wrong"
        )
        print("\n".join(wrong[:40]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
