"""`kleene cfa`: which procedures a Scheme program's calls may reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kleene.base.device import Device
from kleene.cli.drawing import check_picture, write_call_graph
from kleene.cli.findings import Reporting, print_alone, root_of, section
from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson, OnDevice, Threads
from kleene.cli.sources import SchemeSources
from kleene.reports import cfa as report

if TYPE_CHECKING:
    from kleene.analyses.cfa import CFAResult
    from kleene.base.errors import Span
    from kleene.ir.scheme import Core
    from kleene.results import Finding


def run(
    sources: SchemeSources,
    *,
    flows: Annotated[
        list[str] | None,
        option("--flows", metavar="NAME", help="What may this variable hold?"),
    ] = None,
    calls: Annotated[
        list[str] | None,
        option("--calls", metavar="LINE:COLUMN", help="Whom may this call reach?"),
    ] = None,
    callers: Annotated[
        str | None, option("--callers", metavar="NAME", help="Who may call this procedure?")
    ] = None,
    depth: Annotated[
        int, option("--depth", min=1, help="Through how many calls, for --callers.")
    ] = 1,
    why: Annotated[
        tuple[str, str] | None,
        option("--why", metavar="CALL TARGET", help="How does TARGET come to be called?"),
    ] = None,
    graph_file: Annotated[
        Path | None,
        option(
            "--call-graph", metavar="FILE", help="Write the call graph: .svg, .dot, .csv or .json."
        ),
    ] = None,
    export_file: Annotated[
        Path | None, option("--export", metavar="FILE", help="Write everything as JSON.")
    ] = None,
    reporting: Reporting,
    diff: Annotated[
        Path | None,
        option("--diff", metavar="OLD", help="Which calls are new since this version?"),
    ] = None,
    m: Annotated[
        int, option("--m", min=0, max=2, help="Tell contexts apart by so many calls.")
    ] = 0,
    polyvariant_let: Annotated[
        bool, option("--polyvariant-let", help="Tell calls of local procedures apart.")
    ] = False,
    may: Annotated[
        bool, option("--may", help="Report what may be wrong, too, such as arity of one of many.")
    ] = False,
    library: Annotated[
        bool, option("--library", help="Let code outside call all that the file defines.")
    ] = False,
    every_call: Annotated[
        bool, option("--every-call", help="Let code count that nothing reaches, too.")
    ] = False,
    pipeline: Annotated[
        str,
        option("--pipeline", help="direct, or eigencfa: by CPS; with --every-call."),
    ] = "direct",
    device: OnDevice = Device.AUTO,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find out which procedures each call of a Scheme program may reach.

    Example: kleene cfa examples/scheme/shop.scm --calls 16:9

    A variable is called by its name, or 12:name if line 12 binds it; a call by the location where
    it begins. Without --flows, --calls, --callers, --why or --diff a summary is printed.
    """
    from kleene.analyses.cfa import CFA

    check_picture(graph_file)

    def analysed(core: Core) -> CFAResult:
        options = {
            "m": m,
            "polyvariant_let": polyvariant_let,
            "pipeline": pipeline,
            "library": library,
        }
        analysis = CFA(reachable_only=not every_call, **options)  # type: ignore[arg-type]
        announce = None if as_json else lambda plan: note(f"solving on {plan}")
        return analysis.run(core, device=device, threads=threads, announce=announce)

    result = analysed(sources.load())
    if graph_file is not None:
        write_call_graph(result.call_graph(), graph_file)
    if export_file is not None:
        write_whole(export_file, result.to_json() + "\n")
    answers: dict[str, Any] = {
        "flows": {name: result.flows(name) for name in flows or ()},
        "calls": {location: result.calls(location) for location in calls or ()},
    }
    if callers is not None:
        answers["callers"] = result.callers(callers, depth)
    if why is not None:
        answers["why"] = result.why(*why)
    if diff is not None:
        old = analysed(replace(sources, files=[str(diff)]).load())
        answers["diff"] = old.call_graph().difference(result.call_graph())
    answers = {name: answer for name, answer in answers.items() if answer != {}}
    found, root = _findings(result, reporting, may)
    if as_json:
        emit_json(report.as_json(answers) if answers else result.as_json())
    elif reporting.only_findings:
        print_alone(found, root)
    elif answers:
        emit(report.answers(answers))
    else:
        emit([*report.summary(result), *section(found, root)])
    reporting.end(found)


def _findings(result: CFAResult, reporting: Reporting, may: bool) -> tuple[list[Finding], str]:
    """Return the findings and the folder their files are named from; write the files asked for."""
    from kleene.analyses.cfa import rules
    from kleene.analyses.cfa.findings import files_of

    naming, found, files = result.naming, result.findings(may=may), files_of(result.core)
    root = root_of(files)

    def where(function: int) -> Span | None:
        row = naming.target(naming.targets[function]).row
        return naming.span(naming.call_location(row)) if row >= 0 else None

    title = f"Control-flow analysis of {Path(files[-1]).name}"
    reporting.write(found, files, result.call_graph, where, rules=rules, title=title, root=root)
    return found, root
