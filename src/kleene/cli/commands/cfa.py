"""`kleene cfa`: which procedures a Scheme program's calls may reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kleene.base.device import Device
from kleene.cli.drawing import CALL_GRAPHS, write_call_graph
from kleene.cli.output import check_suffix, emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.solving import OnDevice, Threads
from kleene.cli.sources import SchemeSources
from kleene.reports import cfa as report

if TYPE_CHECKING:
    from kleene.analyses.cfa import CFAResult
    from kleene.ir.scheme import Core


def run(
    sources: SchemeSources,
    *,
    flows: Annotated[
        list[str] | None,
        typer.Option("--flows", metavar="NAME", help="What may this variable hold?"),
    ] = None,
    calls: Annotated[
        list[str] | None,
        typer.Option("--calls", metavar="LINE:COLUMN", help="Whom may this call reach?"),
    ] = None,
    callers: Annotated[
        str | None, typer.Option("--callers", metavar="NAME", help="Who may call this procedure?")
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", min=1, help="Through how many calls, for --callers.")
    ] = 1,
    why: Annotated[
        tuple[str, str] | None,
        typer.Option("--why", metavar="CALL TARGET", help="How does TARGET come to be called?"),
    ] = None,
    graph_file: Annotated[
        Path | None,
        typer.Option(
            "--call-graph", metavar="FILE", help="Write the call graph: .svg, .dot, .csv or .json."
        ),
    ] = None,
    export_file: Annotated[
        Path | None, typer.Option("--export", metavar="FILE", help="Write everything as JSON.")
    ] = None,
    diff: Annotated[
        Path | None,
        typer.Option("--diff", metavar="OLD", help="Which calls are new since this version?"),
    ] = None,
    m: Annotated[
        int, typer.Option("--m", min=0, max=2, help="Tell contexts apart by so many calls.")
    ] = 0,
    polyvariant_let: Annotated[
        bool, typer.Option("--polyvariant-let", help="Tell calls of local procedures apart.")
    ] = False,
    every_call: Annotated[
        bool, typer.Option("--every-call", help="Let code count that nothing reaches, too.")
    ] = False,
    pipeline: Annotated[
        str,
        typer.Option("--pipeline", help="direct, or eigencfa: by CPS; with --every-call."),
    ] = "direct",
    device: OnDevice = Device.AUTO,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find out which procedures each call of a Scheme program may reach.

    Example: kleene cfa examples/scheme/shop.scm --calls 16:9

    A variable is called by its name, or 12:name if line 12 binds it; a call by the place where it
    begins. Without --flows, --calls, --callers, --why or --diff a summary is printed.
    """
    check_suffix(graph_file, CALL_GRAPHS)

    def analysed(core: Core) -> CFAResult:
        options = {"m": m, "polyvariant_let": polyvariant_let, "pipeline": pipeline}
        return _analysed(core, device, threads, reachable_only=not every_call, **options)

    result = analysed(sources.load())
    if not as_json:
        note(f"solving on {result.solution.plan}")
    if graph_file is not None:
        write_call_graph(result.call_graph(), graph_file)
    if export_file is not None:
        write_whole(export_file, result.to_json() + "\n")
    answers: dict[str, Any] = {
        "flows": {name: result.flows(name) for name in flows or ()},
        "calls": {place: result.calls(place) for place in calls or ()},
    }
    if callers is not None:
        answers["callers"] = result.callers(callers, depth)
    if why is not None:
        answers["why"] = result.why(*why)
    if diff is not None:
        old = analysed(replace(sources, files=[str(diff)]).load())
        answers["diff"] = old.call_graph().difference(result.call_graph())
    answers = {name: answer for name, answer in answers.items() if answer != {}}
    if as_json:
        emit_json(report.as_json(answers) if answers else result.as_json())
    else:
        emit(report.answers(answers) if answers else report.summary(result))


def _analysed(core: Core, device: Device, threads: int | None, **options: Any) -> CFAResult:
    from kleene.analyses.cfa import CFA

    return CFA(**options).run(core, device=device, threads=threads)
