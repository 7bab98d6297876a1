"""`kleene points-to`: what pointers may hold, and whom calls may reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kleene.base.device import Device
from kleene.cli.drawing import check_picture, write_call_graph
from kleene.cli.exit_codes import ExitCode
from kleene.cli.findings import Reporting, print_alone, root_of, section
from kleene.cli.options import option
from kleene.cli.output import check_suffix, emit, emit_json, note, rows, write_whole
from kleene.cli.shared import AsJson, OnDevice, Threads
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.analyses.points_to import PointsTo, PointsToResult
    from kleene.analyses.points_to.answers.statistics import Phase
    from kleene.base.errors import Span
    from kleene.ir import Program
    from kleene.results import Finding

_TABLES = (".parquet", ".json")


def run(
    sources: CSources,
    *,
    queries: Annotated[
        list[str] | None,
        option("--query", metavar="NAME", help="What may this pointer hold?"),
    ] = None,
    explain: Annotated[
        tuple[str, str] | None,
        option("--explain", metavar="POINTER OBJECT", help="How does OBJECT reach POINTER?"),
    ] = None,
    check: Annotated[
        bool, option("--check", help="Check calls of MAYALIAS, NOALIAS and the like.")
    ] = False,
    reporting: Reporting,
    stats: Annotated[bool, option("--stats", help="Print counts only.")] = False,
    graph_file: Annotated[
        Path | None,
        option(
            "--call-graph", metavar="FILE", help="Write the call graph: .svg, .dot, .csv or .json."
        ),
    ] = None,
    export_file: Annotated[
        Path | None,
        option("--export", metavar="FILE", help="Write every set: .parquet or .json."),
    ] = None,
    library: Annotated[
        bool, option("--library", help="Others call the program: it need not have a main.")
    ] = False,
    wrappers: Annotated[
        list[str] | None,
        option("--wrapper", metavar="NAME", help="A function that allocates for callers."),
    ] = None,
    models: Annotated[
        list[Path] | None,
        option("--models", metavar="FILE", help="What functions outside the program do."),
    ] = None,
    arguments: Annotated[
        str,
        option(
            "--arguments",
            metavar="RULE",
            help="Which functions can a call pass its arguments to? auto, exact, types or any.",
        ),
    ] = "auto",
    no_pointers_in_bytes: Annotated[
        bool,
        option("--no-pointers-in-bytes", help="No pointer comes back from files, pipes, texts."),
    ] = False,
    device: OnDevice = Device.AUTO,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find out what each pointer may hold and whom each call may reach.

    Example: kleene points-to examples/events --query main.handle

    Pointers are called main.p, list.c:42:p (at that line), main.%7 (a register), table (a global);
    objects event.target, main.buffer, heap@list.c:12:9. Without --query, --explain, --check or
    --stats a summary is printed.
    """
    from kleene.analyses.points_to import PointsTo

    check_picture(graph_file)
    check_suffix(export_file, _TABLES)
    program, phases = _loaded(sources)
    analysis = PointsTo(
        library=library,
        wrappers=tuple(wrappers or ()),
        models=tuple(models or ()),
        arguments=arguments,
        pointers_in_bytes=not no_pointers_in_bytes,
    )
    result = _solved(program, analysis, device, threads, quiet=as_json)
    if graph_file is not None:
        write_call_graph(result.call_graph(), graph_file)
    if export_file is not None:
        _write_table(result, export_file)
    phases += result.phases
    answers = _answers(result, queries or [], explain, check=check)
    found, root = _findings(result, sources.title, reporting)
    if as_json:
        emit_json(_plain(result, phases, answers, found, root))
    elif reporting.only_findings:
        print_alone(found, root)
    elif stats:
        from kleene.reports.points_to import counts

        emit([rows(counts(result.statistics))])
    else:
        _print(result, phases, answers)
        if not answers:
            emit(section(found, root))
    if any(not one.passed for one in answers.get("checks", ())):
        raise SystemExit(ExitCode.FINDINGS)
    reporting.end(found)


def _loaded(sources: CSources) -> tuple[Program, list[Phase]]:
    from kleene.analyses.points_to.answers.statistics import timed

    phases: list[Phase] = []
    with timed("load", phases):
        program = sources.load()
    return program, phases


def _solved(
    program: Program,
    analysis: PointsTo,
    device: Device,
    threads: int | None,
    *,
    quiet: bool,
) -> PointsToResult:
    if not quiet and not len(program.variables):
        note("the program has no debug information: pointers are registers, as in main.%7")
    announce = None if quiet else lambda plan: note(f"solving on {plan}")
    return analysis.run(program, device=device, threads=threads, announce=announce)


def _answers(
    result: PointsToResult, queries: list[str], explain: tuple[str, str] | None, *, check: bool
) -> dict[str, Any]:
    """Return what was asked for, by the name of the question."""
    found: dict[str, Any] = {}
    if queries:
        found["queries"] = {name: result.of(name) for name in queries}
    if explain is not None:
        found["explanation"] = result.explain(*explain)
    if check:
        found["checks"] = result.checks()
    return found


def _findings(result: PointsToResult, name: str, reporting: Reporting) -> tuple[list[Finding], str]:
    """Return the findings and the folder their files are named from; write the files asked for."""
    from kleene.analyses.points_to import rules
    from kleene.analyses.points_to.findings import SOURCES, files_of

    program, found = result.program, result.findings()
    files = files_of(program)
    root = root_of(file for file in files if file.endswith(SOURCES))

    def where(function: int) -> Span | None:
        return program.functions[function].span

    title = f"Points-to analysis of {name}"
    reporting.write(found, files, result.call_graph, where, rules=rules, title=title, root=root)
    return found, root


def _print(result: PointsToResult, phases: list[Phase], answers: dict[str, Any]) -> None:
    from kleene.reports import points_to as report
    from kleene.reports.explanation import explanation

    if not answers:
        emit(report.summary(result, phases))
    for name, found in answers.get("queries", {}).items():
        emit([report.query(name, found)])
    if "explanation" in answers:
        emit([explanation(answers["explanation"])])
    if "checks" in answers:
        emit(f"{one}\n" for one in answers["checks"])
        n_failed = sum(not one.passed for one in answers["checks"])
        note(f"{len(answers['checks'])} assertions, {n_failed} failed")


def _plain(
    result: PointsToResult,
    phases: list[Phase],
    answers: dict[str, Any],
    found: list[Finding],
    root: str,
) -> dict[str, object]:
    """Return everything as data."""
    from kleene.results import findings_json

    graph, statistics = result.call_graph(), replace(result.statistics, phases=tuple(phases))
    value: dict[str, object] = {
        "statistics": statistics.as_json(),
        "findings": findings_json(found, root),
        "calls": [site.as_json() for site in graph.indirect],
        "escaped": list(graph.escaped),
        "outside": graph.outside_as_json(),
        "symbols": result.naming.written.symbols(),
    }
    if "queries" in answers:
        value["queries"] = {name: found.as_json() for name, found in answers["queries"].items()}
    if "explanation" in answers:
        value["explanation"] = answers["explanation"].as_json()
    if "checks" in answers:
        value["checks"] = [one.as_json() for one in answers["checks"]]
    return value


def _write_table(result: PointsToResult, path: Path) -> None:
    if path.suffix == ".json":
        write_whole(path, result.to_json() + "\n")
    else:
        result.tables()["points_to"].to_parquet(path)
