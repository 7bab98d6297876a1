"""Checks and invariants as people read them: text, and a page with verdicts in the margin."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kleene.base.errors import excerpt
from kleene.base.source_text import relative_path
from kleene.reports.html import Cell, Link, Note, Section, page

if TYPE_CHECKING:
    from kleene.analyses.invariants.checks import CheckResult
    from kleene.analyses.invariants.facts import Facts
    from kleene.analyses.invariants.result import InvariantsResult


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
    for one in sorted(unproved, key=lambda one: one.verdict.value != "fails always"):
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


def count_lines(result: InvariantsResult) -> Iterator[str]:
    """Yield a table: how many checks of each kind have which verdict."""
    counts = Counter((one.kind.value, one.verdict.value) for one in result.checks)
    kinds = list(dict.fromkeys(one.kind.value for one in result.checks))
    verdicts = [one for one in result.counts() if any(counts[kind, one] for kind in kinds)]
    rows = [["check", *verdicts]]
    rows += [[kind, *(f"{counts[kind, one]:,}" for one in verdicts)] for kind in sorted(kinds)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for name, *numbers in rows:
        cells = [one.rjust(width) for one, width in zip(numbers, widths[1:], strict=True)]
        yield "  ".join([name.ljust(widths[0]), *cells]) + "\n"
    yield summary(result) + "\n"


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
        Note(one.span.file, one.span.line, f"{one.kind.value}: {one.verdict.value}")
        for one in result.checks
        if one.span and one.is_proved
    ]
    notes += [Note(file, line, text) for (file, line), text in _invariants(result).items()]
    rows: list[tuple[Cell, ...]] = [
        (
            Link(f"{relative_path(one.span.file, root)}:{one.span.line}", one.span.file,
                 one.span.line) if one.span else "",
            one.kind.value, one.verdict.value, one.message, one.proved_by or one.state,
        )
        for one in result.checks
    ]  # fmt: skip
    counts = ", ".join(f"{n} {name}" for name, n in result.counts().items() if n)
    columns = ("place", "check", "verdict", "what was asked", "domain, or what is known")
    return page(
        f"Invariants of {title}",
        sources=[one for one in files if not os.path.isabs(relative_path(one, root))],
        root=root,
        notes=notes,
        findings=result.findings(),
        sections=[Section("Checks", columns, rows)],
        subtitle=f"{len(result.checks)} checks: {counts}",
    )


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
