"""Every call that guile makes lies in the answer: its expanded code is traced (`trace.scm`)."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from kleene import scheme
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.primitives import table
from tests.frontends.scheme.helpers import PROGRAMS

PATHS = sorted(PROGRAMS.glob("*.scm"))
TRACE = Path(__file__).with_name("trace.scm")
GUILE = shutil.which("guile")
# Procedures of guile with two names.
SAME = {
    "call-with-current-continuation": "call/cc",
    "inexact->exact": "exact",
    "exact->inexact": "inexact",
}

pytestmark = [
    pytest.mark.tools,
    pytest.mark.skipif(GUILE is None, reason="guile is not installed"),
]


def traced(path: Path, folder: Path) -> list[list[str]]:
    """Return the lines that `trace.scm` writes about a program."""
    log = folder / "trace.txt"
    command = [GUILE, "--no-auto-compile", "--r7rs", "-s", str(TRACE), str(path), str(log)]
    subprocess.run(command, capture_output=True, timeout=120, check=False, cwd=path.parent)
    return [line.split() for line in log.read_text(encoding="utf-8").splitlines()]


def rows_by_place(core, kinds):
    """Return the rows of these kinds in the program's own file, by line and column."""
    found = defaultdict(list)
    last = core.sources.all[0]
    for row in range(core.root):
        if core.kind[row] in kinds and core.sources.source_of(int(core.at[row])) is last:
            span = core.span(row)
            found[span.line, span.column].append(row)
    return found


def lambdas_at(core, place, lambdas, calls):
    """Return the lambdas that begin at a place, or are clauses of the case-lambda there."""
    found = set(lambdas[place])
    for row in calls[place]:
        if name_at(core, row) == "%case-lambda":
            found.update(core.below(row)[1:])
    return found


def name_at(core, call):
    """Return the primitive that a call names; forms such as `guard` turn into one with a %."""
    operator = core.below(call)[0]
    is_primitive = core.kind[operator] == columns.PRIMITIVE
    return core.primitives[core.reference[operator]] if is_primitive else ""


def is_plain(core, calls):
    """Return whether one call was written there: forms and macros turn into others in guile."""
    is_form = any(name_at(core, call).startswith("%") for call in calls)
    return len(calls) == 1 and core.at[core.below(calls[0])[0]] > core.at[calls[0]] and not is_form


def is_record_procedure(core, row):
    """Return whether a lambda is one that `define-record-type` made: guile puts it in place."""
    if row < 0 or core.kind[row] != columns.LAMBDA:
        return False
    body = core.below(row)[0]
    return core.kind[body] == columns.CALL and name_at(core, body).startswith("%record")


def unforeseen(core, lines, **options):
    """Return what guile did that the analysis does not know of, and how much was compared."""
    result = core.cfa(device="cpu", **options)
    calls = rows_by_place(core, {columns.CALL})
    lambdas = rows_by_place(core, {columns.LAMBDA})
    reached = {target for targets in result.reach.targets.values() for target in targets}
    missed, n_compared = [], 0
    for what, *rest in lines:
        place = int(rest[0]), int(rest[1])
        if what == "enter":
            rows = lambdas_at(core, place, lambdas, calls)
            is_known = bool(rows & reached)
        else:
            rows = set(calls[place] if is_plain(core, calls[place]) else ())
            targets = result.targets(list(rows))
            if what == "call":
                other = int(rest[2]), int(rest[3])
                entered = lambdas_at(core, other, lambdas, calls)
                rows = rows if entered else set()
                is_known = bool({target.row for target in targets} & entered)
            else:
                name = SAME.get(rest[2], rest[2])
                is_record = any(is_record_procedure(core, target.row) for target in targets)
                is_named = any(name_at(core, row) for row in rows)
                rows = rows if name in table() and not is_record and not is_named else set()
                is_known = name in {SAME.get(target.name, target.name) for target in targets}
        if rows:
            n_compared += 1
            if not is_known:
                missed.append(" ".join([what, *rest]))
    return missed, n_compared


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_guile_calls_is_foreseen(path, tmp_path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(";guile: "):
            pytest.skip(f"guile {line[8:]}")
    lines = traced(path, tmp_path)
    core = scheme.load(path)
    for options in ({}, {"m": 1}):
        missed, n_compared = unforeseen(core, lines, **options)
        assert missed == []
    is_all_macros = path.stem == "macro_macros"
    assert n_compared > 2 or is_all_macros, "places of guile and of the analysis do not meet"
