"""Checks and invariants as people read them: text, and a page with verdicts in the margin."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kleene.analyses.invariants.checks import CheckResult, Verdict
from kleene.analyses.invariants.result import finding_message
from kleene.base.errors import excerpt
from kleene.base.source_text import relative_path
from kleene.reports.html import Badge, Link, Note, Section, page
from kleene.results import Severity

_MOST_ORIGINS = 10  # that are printed

if TYPE_CHECKING:
    from kleene.analyses.invariants.facts import Facts
    from kleene.analyses.invariants.result import InvariantsResult


_MOST_ROWS = 2_000  # of checks that are proved: a page with more of them has none
_MOST_PROVED = 20  # more checks that are proved are only counted, unless all are asked for
_COLOURS = {"fails always": "1;31", "may fail": "1;33", "safe": "32", "unreachable": "36"}
_VERDICT = re.compile(rf"^(\S.*?: )({'|'.join(_COLOURS)})(?=: )")


def check_lines(
    result: InvariantsResult, root: str | os.PathLike[str], *, lists_all: bool = False
) -> Iterator[str]:
    """Yield checks that are not proved, each with its line and what is known there; then the rest.

    Those that always fail come first. Of proved checks there is a line each, as long as these are
    few, or all are asked for; equal ones of a line are counted.
    """
    unproved = [one for one in result.checks if not one.is_proved]
    for one in sorted(unproved, key=lambda one: one.verdict is not Verdict.FAILS):
        yield _unproved(one, root)
    proved = Counter(_head(one, root) for one in result.checks if one.is_proved)
    lists_all = lists_all or len(proved) <= _MOST_PROVED
    for line, n_times in proved.items() if lists_all else ():
        yield f"{line}{f' ({n_times} times)' if n_times > 1 else ''}\n"
    yield f"{summary(result)}{'' if lists_all else ' (--all-checks lists the proved ones)'}\n"


def _head(one: CheckResult, root: str | os.PathLike[str], *, with_column: bool = False) -> str:
    """Return a check as a line: place, verdict, kind, what was asked, the domain that proved it."""
    place = f"in {one.function}"
    if one.span:
        column = f":{one.span.column}" if with_column and one.span.column else ""
        place = f"{relative_path(one.span.file, root)}:{one.span.line}{column}"
    by = f" [{one.proved_by}]" if one.proved_by else ""
    return f"{place}: {one.verdict.value}: {one.kind.value}: {one.message}{by}"


def _unproved(one: CheckResult, root: str | os.PathLike[str]) -> str:
    lines = [_head(one, root, with_column=True), *(excerpt(one.span) if one.span else ())]
    if one.state:
        lines.append(f"    known: {'nothing' if one.state == 'true' else one.state}")
    lines += [f"    {one.lost}"] if one.lost else []
    return "\n".join(lines) + "\n"


def summary(result: InvariantsResult) -> str:
    """Return how many checks there are, and how many of each verdict."""
    counts = [f"{n:,} {name}" for name, n in result.counts().items() if n]
    n_checks = len(result.checks)
    head = f"{n_checks:,} check{'' if n_checks == 1 else 's'}"
    return f"{head}: {', '.join(counts)}" if counts else f"{head} of these kinds"


def painted(text: str) -> str:
    """Return the text of a check with its verdict in colour, as terminals show it."""
    return _VERDICT.sub(lambda found: f"{found[1]}\x1b[{_COLOURS[found[2]]}m{found[2]}\x1b[m", text)


def _counts(result: InvariantsResult) -> list[tuple[str, ...]]:
    """Return a table with its head: how many checks of each kind have which verdict."""
    counts = Counter((one.kind.value, one.verdict.value) for one in result.checks)
    kinds = list(dict.fromkeys(one.kind.value for one in result.checks))
    verdicts = [one for one in result.counts() if any(counts[kind, one] for kind in kinds)]
    rows = [("check", *verdicts)]
    rows += [(kind, *(f"{counts[kind, one]:,}" for one in verdicts)) for kind in sorted(kinds)]
    return rows


def count_lines(result: InvariantsResult) -> Iterator[str]:
    """Yield a table: how many checks of each kind have which verdict, and the sums."""
    rows = _counts(result)
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for name, *numbers in rows:
        cells = [one.rjust(width) for one, width in zip(numbers, widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *cells]) + "\n"
    yield summary(result) + "\n"


def origin_lines(result: InvariantsResult, root: str | os.PathLike[str]) -> Iterator[str]:
    """Yield what leaves most checks of a whole program open, a line each."""
    found = result.origins()
    if found:
        yield "\nleft open by\n"
    for one in found[:_MOST_ORIGINS]:
        where = f" ({relative_path(one.place[0], root)}:{one.place[1]})" if one.place else ""
        yield f"{one.n_checks:,} checks: {one.text}{where}\n"
    if (rest := sum(one.n_checks for one in found[_MOST_ORIGINS:])) > 0:
        yield f"{rest:,} checks: {len(found) - _MOST_ORIGINS:,} others\n"


def place_lines(asked: Mapping[str, Iterable[Facts]]) -> Iterator[str]:
    """Yield what holds at each place that was asked for."""
    for place, found in asked.items():
        for facts in found:
            way = " > ".join((*facts.calls, facts.function))
            yield f"{place} ({way}): {facts}\n"


def invariants_page(
    title: str, result: InvariantsResult, files: Iterable[str], root: str | os.PathLike[str]
) -> str:
    """Return the annotated sources: verdicts, and invariants where loops and branches begin."""
    notes = [
        Note(file, line, text, is_code=True) for (file, line), text in _invariants(result).items()
    ]
    notes += [*_proved_notes(result), *_unproved_notes(result)]
    said = {relative_path(one.file, root) for one in notes}
    return page(
        f"Invariants of {title}",
        sources=[one for one in files if relative_path(one, root) in said],
        root=root,
        notes=notes,
        sections=list(_sections(result, root)),
        subtitle=summary(result),
        lists_findings=False,
    )


def _sections(result: InvariantsResult, root: str | os.PathLike[str]) -> Iterator[Section]:
    """Yield the tables above the sources: counts, checks, and what is assumed."""
    head, *counts = _counts(result)
    yield Section("Verdicts", head, counts)
    unproved, proved = [], []
    suppression = _suppressed(result)
    for one in result.checks:
        text = f"{relative_path(one.span.file, root)}:{one.span.line}" if one.span else ""
        place = Link(text, one.span.file, one.span.line) if one.span else f"in {one.function}"
        row = (place, _badge(one), one.kind.value, one.message)
        if one.is_proved:
            proved.append((*row, one.proved_by))
        else:
            unproved.append((*row, _known(one), one.lost + suppression(one)))
    columns = ("place", "verdict", "check", "what was checked")
    if unproved:
        last = ("known before it", "missing for a proof")
        yield Section("Not proved", (*columns, *last), unproved, filters=(1, 2))
    if proved and len(proved) <= _MOST_ROWS:
        yield Section("Proved", (*columns, "domain"), proved, is_folded=True)
    told = [*result.assumed, *dict.fromkeys(text for one in result.functions for text in one.notes)]
    yield Section(
        "Assumptions and notes", ("of all runs",), [(one,) for one in told], is_folded=True
    )


def _badge(one: CheckResult) -> Badge:
    known = {Verdict.FAILS: Severity.ERROR, Verdict.MAY_FAIL: Severity.WARNING}
    if one.is_proved:
        return Badge(one.verdict.value, "good")
    return Badge(one.verdict.value, Severity.NOTE if one.is_unknown else known[one.verdict])


def _known(one: CheckResult) -> str:
    return "nothing" if one.state == "true" else one.state


def _suppressed(result: InvariantsResult) -> Callable[[CheckResult], str]:
    """Return what says of a check that a comment suppresses it."""
    reasons = {
        (one.span, one.message): one.suppressed
        for one in result.findings()
        if one.suppressed is not None
    }

    def told(one: CheckResult) -> str:
        key = one.span, finding_message(one)
        return f" [suppressed: {reasons[key] or 'no reason given'}]" if key in reasons else ""

    return told


def _unproved_notes(result: InvariantsResult) -> Iterator[Note]:
    suppression = _suppressed(result)
    for one in result.checks:
        if one.span and not one.is_proved:
            text = f"{one.kind.value}: {one.message}{f' ({one.lost})' if one.lost else ''}"
            text += suppression(one)
            shown_with = (one.verdict.value, one.kind.value)
            yield Note(
                one.span.file, one.span.line, text,
                badge=_badge(one), span=one.span, shown_with=shown_with,
            )  # fmt: skip


def _proved_notes(result: InvariantsResult) -> Iterator[Note]:
    """Yield a note for each line and verdict, with the kinds of checks and how many there are."""
    kinds: dict[tuple[str, int, str], Counter[str]] = {}
    for one in result.checks:
        if one.span and one.is_proved:
            key = one.span.file, one.span.line, one.verdict.value
            kinds.setdefault(key, Counter())[one.kind.value] += 1
    for (file, line, verdict), counts in kinds.items():
        names = (f"{name} ({n})" if n > 1 else name for name, n in counts.items())
        yield Note(file, line, ", ".join(names), badge=Badge(verdict, "good"))


def _invariants(result: InvariantsResult) -> dict[tuple[str, int], str]:
    """Return what holds where blocks of the source begin, and behind calls, by place."""
    from kleene.analyses.invariants.facts import facts_at

    found: dict[tuple[str, int], str] = {}
    program = result.program
    for function in result.functions:
        for run in function.runs[-1:]:
            for block, flat in enumerate(run.code.flat.blocks):
                if flat.context or run.values[block].is_bottom():
                    continue
                end = int(program.blocks.instruction_offsets[flat.row + 1])
                spans = (program.instruction_view(row).span for row in range(flat.first, end))
                span = next((one for one in spans if one and one.line), None)
                if span is not None:
                    text = str(facts_at(program, run, block, flat.first))
                    found.setdefault((span.file, span.line), text)
    return {place: text for place, text in found.items() if text != "true"}
