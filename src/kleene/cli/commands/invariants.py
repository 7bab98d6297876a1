"""`kleene invariants`: what holds at every point, and which checks are safe."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import kleene
from kleene.base.errors import SourceError
from kleene.base.source_text import relative_path
from kleene.cli.exit_codes import ExitCode
from kleene.cli.findings import root_of, write_sarif
from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.analyses.invariants import InvariantsResult
    from kleene.ir import Program

_MOST_LINES = 1_000  # more checks are counted, unless all are asked for


def run(
    sources: CSources,
    *,
    checks: Annotated[
        list[str] | None,
        option(
            "--checks",
            metavar="KINDS",
            help="assert, overflow, division, shift, bounds, null, uninitialised, freed, dead-code:"
            " some, with commas between.",
        ),
    ] = None,
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    domain: Annotated[
        str,
        option(
            "--domain",
            metavar="NAME",
            help="The last to try: interval, octagon, relational, partitioned, predicates.",
        ),
    ] = "predicates",
    whole_program: Annotated[
        bool | None,
        option(
            "--whole-program/--by-function",
            help="All functions together, or each by itself with callees laid in.",
            show_default="together from 3,000 instructions on",
        ),
    ] = None,
    places: Annotated[
        list[str] | None,
        option("--at", metavar="FILE:LINE", help="What holds in front of this line?"),
    ] = None,
    emitted: Annotated[
        str,
        option(
            "--emit",
            metavar="FORM",
            help="What holds in front of all statements: asserts or acsl (the source with them),"
            " witness (YAML of SV-COMP), json.",
        ),
    ] = "",
    wraps: Annotated[
        bool, option("--wrap", help="Signed overflow wraps around (-fwrapv); no check for it.")
    ] = False,
    time_s: Annotated[
        float,
        option(
            "--time-per-function",
            metavar="SECONDS",
            help="Then the result of cheaper domains stands.",
        ),
    ] = 0.0,
    stats: Annotated[
        bool | None,
        option(
            "--stats/--all-checks",
            help="A table of verdicts, or a line for each check.",
            show_default="a table from 1,000 checks on",
        ),
    ] = None,
    sarif_file: Annotated[
        Path | None, option("--sarif", metavar="FILE", help="Write what is not proved as SARIF.")
    ] = None,
    html_file: Annotated[
        Path | None, option("--html", metavar="FILE", help="Write a page: sources and verdicts.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove assertions, accesses and arithmetic of C safe, or say which may fail.

    Example: kleene invariants examples/invariants/search.c

    Each check is safe, may fail, fails always or is unreachable; a check that is not proved comes
    with what is known there. Unknown functions return any value. Exit code 3 if a check is not
    proved.
    """
    from kleene.analyses.invariants import Invariants

    kinds = [one for text in checks or () for one in text.split(",") if one]
    analysis = Invariants(
        domain=domain,
        checks=tuple(kinds),
        functions=tuple(functions or ()),
        wraps=wraps,
        time_s=time_s,
        whole_program=whole_program,
    )
    program = sources.load()
    result = analysis.run(program)
    root = root_of(_files(program))
    _write(result, sources.title, sarif_file, html_file, root)
    if emitted:
        emit([_emitted(result, emitted, root)])
        return
    asked = {place: result.at(place) for place in places or ()}
    if as_json:
        plain = result.as_json(root)
        plain["at"] = {place: [str(one) for one in found] for place, found in asked.items()}
        emit_json(plain)
    else:
        from kleene.reports.invariants import check_lines, count_lines, place_lines

        is_table = len(result.checks) >= _MOST_LINES if stats is None else stats
        lines = count_lines(result) if is_table else check_lines(result, root)
        emit(place_lines(asked) if asked else lines)
        _print_notes(result)
        if is_table and stats is None and not asked:
            note("each check is shown by --all-checks, --function NAME, --html or --json")
    found = result.findings()
    if not asked and any(one.suppressed is None and one.severity.is_fault for one in found):
        raise SystemExit(ExitCode.FINDINGS)


def _files(program: Program) -> list[str]:
    symbols = sorted(set(program.spans.file.tolist()))
    return [program.strings[symbol] for symbol in symbols]


def _emitted(result: InvariantsResult, form: str, root: str) -> str:
    """Return what holds in front of statements, in one of the forms."""
    annotations = result.annotations()
    if form == "json":
        return json.dumps(annotations.data(root), indent=2) + "\n"
    if form == "witness":
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return annotations.witness(created, kleene.__version__, root)
    if form not in ("asserts", "acsl"):
        message = f"there is no form '{form}'"
        note_ = "there are asserts, acsl, witness, json"
        raise SourceError(None, "invariants/no-such-form", message, note_)
    files = [one for one in annotations.files if not os.path.isabs(relative_path(one, root))]
    if len(files) != 1:
        message = f"{form} are written for one source at a time, and there are {len(files)}"
        raise SourceError(None, "invariants/several-sources", message, "give one file")
    return annotations.asserts(files[0]) if form == "asserts" else annotations.acsl(files[0])


def _print_notes(result: InvariantsResult) -> None:
    for function in result.functions:
        for text in function.notes:
            note(text)
    counts = ", ".join(f"{n} {name}" for name, n in result.counts().items() if n)
    assumed = "; ".join(result.assumed)
    note(f"{len(result.checks)} checks{f': {counts}' if counts else ''}; {assumed}")


def _write(
    result: InvariantsResult,
    title: str,
    sarif_file: Path | None,
    html_file: Path | None,
    root: str,
) -> None:
    """Write the files asked for."""
    if sarif_file is not None:
        from kleene.analyses.invariants import rules

        write_sarif(sarif_file, result.findings(), rules, root)
    if html_file is not None:
        from kleene.reports.invariants import invariants_page

        write_whole(html_file, invariants_page(title, result, _files(result.program), root))
