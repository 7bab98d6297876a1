"""The annotated-source page of analyses that answer with a call graph."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from kleene.base.errors import Span
from kleene.base.source_text import relative_path
from kleene.reports.html import Cell, Link, Note, Section, page
from kleene.results import CallGraph, Finding

_SHOWN_TARGETS = 12


def call_graph_page(
    title: str,
    graph: CallGraph,
    where: Callable[[int], Span | None],
    *,
    files: Iterable[str],
    root: str | os.PathLike[str],
    findings: Sequence[Finding],
    subtitle: str,
) -> str:
    """Return a page with the calls whose targets had to be found, beside their lines.

    Args:
        title: what was analysed.
        graph: who may call whom.
        where: returns where a function is defined.
        files: the sources of the program; those outside `root` are not shown.
        root: the folder that paths are shown from.
        findings: what is the matter.
        subtitle: one line of numbers.
    """
    notes: list[Note] = []
    rows: list[tuple[Cell, ...]] = []
    n_in_line = Counter((one.span.file, one.span.line) for one in graph.indirect if one.span)
    for site in graph.indirect:
        span = site.span
        if span is None:
            continue
        targets = graph.targets_of(site.id).tolist()
        links = [_link(graph.name(target), where(target)) for target in targets[:_SHOWN_TARGETS]]
        more = len(targets) - _SHOWN_TARGETS
        links += [Link(f"{more} more", "", 0)] if more > 0 else []
        links += [Link("what escapes", "", 0)] if site.may_leave else []
        links = links or [Link("nothing that fits", "", 0)]
        is_alone = n_in_line[span.file, span.line] == 1
        text = "may call" if is_alone else f"the call at {span.column} may call"
        notes.append(Note(span.file, span.line, text, tuple(links)))
        here = Link(f"{relative_path(span.file, root)}:{span.line}", span.file, span.line)
        rows.append((here, site.caller, site.kind.value, tuple(links)))
    text = "Calls through pointers or variables, and calls that libraries make."
    columns = ("call", "in", "kind", "may call")
    sections = [Section("Call graph", columns, rows, text)] if rows else []
    if len(graph.escaped_ids):
        escaped = graph.escaped_ids.tolist()
        called = [(_link(graph.name(function), where(function)),) for function in escaped]
        text = (
            "Functions whose addresses leave the program: code outside may call them at any time."
        )
        sections.append(Section("Called from outside", ("function",), called, text))
    inside = [file for file in files if not os.path.isabs(relative_path(file, root))]
    return page(
        title,
        sources=inside,
        root=root,
        notes=notes,
        findings=findings,
        sections=sections,
        subtitle=subtitle,
    )


def _link(name: str, span: Span | None) -> Link:
    return Link(name, span.file, span.line) if span else Link(name, "", 0)
