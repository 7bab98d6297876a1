"""Checks and invariants as people read them: text, and a page with verdicts in the margin."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kleene.base.source_text import relative_path
from kleene.reports.html import Cell, Link, Note, Section, page

if TYPE_CHECKING:
    from kleene.analyses.invariants.facts import Facts
    from kleene.analyses.invariants.result import InvariantsResult


def check_lines(result: InvariantsResult, root: str | os.PathLike[str]) -> Iterator[str]:
    """Yield a line for each check; those that are not proved with what is known there."""
    for one in result.checks:
        where = f"{relative_path(one.span.file, root)}:{one.span.line}: " if one.span else ""
        by = f" [{one.proved_by}]" if one.proved_by else ""
        yield f"{where}{one.verdict.value}: {one.kind.value}: {one.message}{by}\n"
        if not one.is_proved and one.state:
            yield f"    known: {'nothing' if one.state == 'true' else one.state}\n"
        if one.lost:
            yield f"    {one.lost}\n"


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
