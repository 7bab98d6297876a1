"""Findings on the command line: options, files, the section of a summary, the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import kleene
from kleene.cli.exit_codes import ExitCode
from kleene.cli.options import option
from kleene.cli.output import emit, write_whole

if TYPE_CHECKING:
    from kleene.base.errors import Span
    from kleene.results import CallGraph, Finding

_SHOWN = 8

OnlyFindings = Annotated[
    bool,
    option("--findings", help="Print the findings alone; exit code 3 if there are faults."),
]
SarifFile = Annotated[
    Path | None,
    option("--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0."),
]
HtmlFile = Annotated[
    Path | None,
    option("--html", metavar="FILE", help="Write a page: sources, findings, calls."),
]


def root_of(files: Iterable[str]) -> str:
    """Return the folder that reports name files from: this one, or what all files share."""
    here = os.getcwd()
    paths = [os.path.abspath(file) for file in files]
    if not paths or any(os.path.commonpath([here, path]) == here for path in paths):
        return here
    return os.path.commonpath([os.path.dirname(path) for path in paths])


def section(found: Sequence[Finding], root: str) -> Iterator[str]:
    """Yield the findings for a summary: the worst of them, and how many there are."""
    from kleene.reports import text
    from kleene.results import Severity

    if not found:
        return
    order = list(Severity)
    worst = [one for one in found if one.suppressed is None]
    worst.sort(key=lambda one: (order.index(one.severity), one.order))
    yield "\nFindings\n"
    for one in worst[:_SHOWN]:
        yield "".join(f"  {line}\n" for line in text.rendered(one, root).splitlines())
    if len(worst) > _SHOWN:
        yield f"  and {len(worst) - _SHOWN} more: see --findings\n"
    yield f"  {text.summary(found)}\n"


def print_alone(found: Sequence[Finding], root: str) -> None:
    """Print the findings and nothing else."""
    from kleene.reports import text

    emit(text.findings(found, root))


def write_sarif(
    path: Path, found: Sequence[Finding], rules: ModuleType, analysis: str, root: str
) -> None:
    """Write the findings of an analysis, whose rules are given, as SARIF."""
    from kleene.base import json
    from kleene.reports import sarif
    from kleene.results import rules_in

    version = kleene.__version__
    log = sarif.log(found, rules_in(rules), root, analysis=analysis, version=version)
    write_whole(path, json.dumps(log) + "\n")


def write_page(
    path: Path,
    found: Sequence[Finding],
    graph: CallGraph,
    where: Callable[[int], Span | None],
    files: Sequence[str],
    *,
    title: str,
    root: str,
) -> None:
    """Write the page of an analysis."""
    from kleene.reports.pages import call_graph_page
    from kleene.reports.text import summary

    page = call_graph_page(
        title, graph, where, files=files, root=root, findings=found, subtitle=summary(found)
    )
    write_whole(path, page)


def end(found: Iterable[Finding]) -> None:
    """End the command with exit code 3 if there is a fault that no comment silences."""
    if any(one.suppressed is None and one.severity.is_fault for one in found):
        raise SystemExit(ExitCode.FINDINGS)
