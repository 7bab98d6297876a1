"""What holds in a program, and which checks are safe."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.invariants import rules
from kleene.analyses.invariants.checks import CheckResult, Origin, Verdict
from kleene.analyses.invariants.facts import Facts, facts_at, first_of_line, lines_of
from kleene.analyses.invariants.solve import Run
from kleene.analyses.invariants.statements import Shape
from kleene.base.errors import SourceError
from kleene.base.source_text import relative_path
from kleene.ir import Program
from kleene.results import Finding, Table, apply_suppressions, rules_in

if TYPE_CHECKING:
    from kleene.analyses.invariants.annotations import Annotations
    from kleene.analyses.invariants.whole import WholeRun


@dataclass
class FunctionResult:
    """The answer for one function and what was inlined into it.

    Attributes:
        name: of the function.
        runs: what each domain found, the most precise last; none if the function was refused.
        domain: the last domain that was run.
        notes: what was not followed, and what was given up for lack of time.
    """

    name: str
    runs: list[Run] = field(default_factory=list)
    domain: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class InvariantsResult:
    """What holds at every point of a program.

    Attributes:
        program: what was analysed.
        functions: the answers, one for each function that was analysed on its own.
        checks: all checks, by place.
        assumed: what is taken for granted of all runs.
        whole: what is known of values, where all functions were looked at together.
    """

    program: Program
    functions: list[FunctionResult]
    checks: list[CheckResult]
    assumed: tuple[str, ...]
    whole: WholeRun | None = None

    def __repr__(self) -> str:
        counts = ", ".join(f"{n} {name}" for name, n in self.counts().items() if n)
        return f"<InvariantsResult of {self.program.name!r}: {counts or 'no checks'}>"

    def check_results(self, kinds: Iterable[str] = ()) -> list[CheckResult]:
        """Return the checks and their verdicts, those of some kinds only if any are given."""
        wanted = set(kinds)
        return [one for one in self.checks if not wanted or one.kind.value in wanted]

    def counts(self) -> dict[str, int]:
        """Return how many checks have each verdict."""
        found = Counter(one.verdict for one in self.checks)
        return {verdict.value: found[verdict] for verdict in Verdict}

    def at(self, place: str) -> list[Facts]:
        """Return what holds in front of a line, given as `file.c:12`; one for each way there.

        Raises:
            SourceError: `invariants/no-such-place`, no code that was analysed stands there.
        """
        file, _, number = place.rpartition(":")
        found: list[Facts] = []
        if number.isdigit() and self.whole is not None:
            for row in first_of_line(self.program, file, int(number)):
                found.append(self.whole.places.at(row))
        elif number.isdigit():
            last = self._last_line(file, int(number))
            for function in self.functions:
                for run in function.runs[-1:]:
                    for block, row in lines_of(self.program, run, file, int(number), last):
                        found.append(facts_at(self.program, run, block, row))
        if not found:
            message = f"no code that was analysed stands at '{place}'"
            raise SourceError(None, "invariants/no-such-place", message, self._near(file, number))
        return found

    def _near(self, file: str, number: str) -> str:
        """Return a hint for a place where there is no code."""
        spans = self.program.spans
        names = {symbol: self.program.strings[symbol] for symbol in set(spans.file.tolist())}
        symbols = [symbol for symbol, name in names.items() if file and name.endswith(file)]
        if not symbols:
            short = sorted({os.path.basename(name) for name in names.values() if name})
            return f"write FILE:LINE, such as {short[0]}:12" if short else "write FILE:LINE"
        lines = np.unique(spans.line[np.isin(spans.file, symbols)])
        lines = lines[lines > 0]
        if not number.isdigit() or not len(lines):
            return f"write {file}:12"
        before, after = lines[lines < int(number)][-1:], lines[lines > int(number)][:1]
        near = " and ".join(f"{file}:{line}" for line in [*before.tolist(), *after.tolist()])
        return f"the nearest lines with code: {near}"

    def _last_line(self, file: str, line: int) -> int:
        """Return where the statement ends that begins at a line; the line itself if none does."""
        symbols = sorted(set(self.program.spans.file.tolist()))
        for name in (self.program.strings[symbol] for symbol in symbols):
            if name.endswith(file) and os.path.isfile(name):
                with open(name, encoding="utf-8", errors="replace") as source:
                    places = Shape(source.read()).statements.values()
                return max((one.last for one in places if one.line == line), default=line)
        return line

    def explain(self, check: CheckResult) -> str:
        """Return why a check has its verdict, as lines of text."""
        lines = [str(check)]
        if check.is_proved:
            lines.append(f"  proved with {check.proved_by or 'no domain: nothing leads here'}")
            return "\n".join(lines)
        lines.append(f"  known there: {check.state or 'nothing'}")
        lines += [f"  {check.lost}"] if check.lost else []
        for function in self.functions:
            lines += [f"  note: {note}" for note in function.notes]
        return "\n".join(lines)

    def origins(self) -> list[Origin]:
        """Return what leaves checks open, those that leave most first; of whole programs only."""
        if self.whole is None:
            return []
        wanted = {(one.kind, one.instruction) for one in self.checks if not one.is_proved}
        return self.whole.causes.origins(wanted)

    def annotations(self) -> Annotations:
        """Return what holds in front of statements, as C, ACSL, a witness, or data."""
        from kleene.analyses.invariants.annotations import Annotations

        return Annotations(self)

    def findings(self) -> list[Finding]:
        """Return a finding for each check that is not proved, suppressions applied."""
        from kleene import analyses

        found = []
        for one in self.checks:
            if one.is_proved:
                continue
            open_rule = rules.UNKNOWN if one.is_unknown else rules.MAY_FAIL
            rule = rules.FAILS if one.verdict is Verdict.FAILS else open_rule
            found.append(Finding(rule, one.span, finding_message(one), one.function))
        files = sorted({one.span.file for one in self.checks if one.span})
        every = sorted(found, key=lambda one: one.order)
        return apply_suppressions(every, files, rules_in(rules), analyses.all_rules)

    def tables(self) -> dict[str, Table]:
        """Return the checks as a table."""
        checks = self.checks
        return {
            "checks": Table(
                {
                    "kind": [one.kind.value for one in checks],
                    "verdict": [one.verdict.value for one in checks],
                    "file": [one.span.file if one.span else "" for one in checks],
                    "line": [one.span.line if one.span else 0 for one in checks],
                    "column": [one.span.column if one.span else 0 for one in checks],
                    "function": [one.function for one in checks],
                    "message": [one.message for one in checks],
                    "proved_by": [one.proved_by for one in checks],
                    "state": [one.state for one in checks],
                    "lost": [one.lost for one in checks],
                }
            )
        }

    def as_json(self, root: str | os.PathLike[str] = ".") -> dict[str, object]:
        """Return everything as plain data, with paths from the folder `root` on."""
        return {
            "assumptions": list(self.assumed),
            "counts": self.counts(),
            "checks": [_check_json(one, root) for one in self.checks],
            "origins": [_origin_json(one, root) for one in self.origins()],
            "functions": [
                {"name": one.name, "domain": one.domain or None, "notes": one.notes}
                for one in self.functions
            ],
        }


def finding_message(one: CheckResult) -> str:
    """Return what is reported of a check that is not proved."""
    says = "is never so here" if one.verdict is Verdict.FAILS else "may not be so"
    why = f" ({one.lost})" if one.lost else ""
    return f"{one.kind.value}: {one.message}: {says}{why}"


def _check_json(one: CheckResult, root: str | os.PathLike[str]) -> dict[str, object]:
    span = one.span
    return {
        "kind": one.kind.value,
        "verdict": one.verdict.value,
        "file": relative_path(span.file, root) if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "function": one.function,
        "message": one.message,
        "proved_by": one.proved_by or None,
        "state": one.state or None,
        "lost": one.lost or None,
    }


def _origin_json(one: Origin, root: str | os.PathLike[str]) -> dict[str, object]:
    file, line = one.place or (None, None)
    return {
        "text": one.text,
        "file": relative_path(file, root) if file else None,
        "line": line,
        "checks": one.counts,
    }


def by_place(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return checks in the order of the source."""

    def place(one: CheckResult) -> tuple[str, int, int, int]:
        span = one.span
        return (span.file, span.line, span.column, 0) if span else ("", 0, 0, one.instruction)

    return sorted(checks, key=lambda one: (*place(one), one.kind.value))
