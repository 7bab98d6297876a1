"""Findings on the command line: options, files, the section of a summary, the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class Reporting:
    """Where the findings of an analysis go; each field is an option of the command line."""

    only_findings: Annotated[
        bool,
        option("--findings", help="Print the findings alone; exit code 3 if there are faults."),
    ] = False
    sarif_file: Annotated[
        Path | None,
        option("--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0."),
    ] = None
    html_file: Annotated[
        Path | None,
        option("--html", metavar="FILE", help="Write a page: sources, findings, calls."),
    ] = None

    def write(
        self,
        found: Sequence[Finding],
        files: Sequence[str],
        graph: Callable[[], CallGraph],
        where: Callable[[int], Span | None],
        *,
        rules: ModuleType,
        title: str,
        root: str,
    ) -> None:
        """Write the files asked for.

        Args:
            found: all findings.
            files: the sources.
            graph: makes the call graph, whose functions `where` places in the sources.
            where: is asked for functions by id.
            rules: the module with the rules of the analysis, in its package.
            title: of the page.
            root: the folder that files are named from.
        """
        if self.sarif_file is not None:
            write_sarif(self.sarif_file, found, rules, root)
        if self.html_file is not None:
            from kleene.reports.pages import call_graph_page
            from kleene.reports.text import summary

            page = call_graph_page(
                title,
                graph(),
                where,
                files=files,
                root=root,
                findings=found,
                subtitle=summary(found),
            )
            write_whole(self.html_file, page)

    def end(self, found: Iterable[Finding]) -> None:
        """End the command with exit code 3 if it was to report, and no comment silences a fault."""
        if self == Reporting():
            return
        if any(one.suppressed is None and one.severity.is_fault for one in found):
            raise SystemExit(ExitCode.FINDINGS)


def write_sarif(file: Path, found: Sequence[Finding], rules: ModuleType, root: str) -> None:
    """Write findings as SARIF; `rules` is the module with the rules of the analysis."""
    from kleene.base import json
    from kleene.reports import sarif
    from kleene.results import rules_in

    analysis = rules.__name__.split(".")[-2].replace("_", "-")
    version = kleene.__version__
    log = sarif.log(found, rules_in(rules), root, analysis=analysis, version=version)
    write_whole(file, json.dumps(log) + "\n")


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
