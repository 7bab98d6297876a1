"""`kleene invariants`: what holds at every point, and which checks are safe."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import kleene
from kleene.base.errors import SourceError, Span
from kleene.base.source_text import relative_path
from kleene.cli.exit_codes import ExitCode
from kleene.cli.findings import root_of, write_sarif
from kleene.cli.options import UsageError, option
from kleene.cli.output import emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.analyses.invariants import InvariantsResult
    from kleene.analyses.invariants.annotations import Annotations
    from kleene.ir import Program

_INTO_SOURCES = ("asserts", "acsl")  # forms of invariants
_MOST_LINES = 1_000  # more checks are counted, unless all are asked for


def run(
    sources: CSources,
    *,
    checks: Annotated[
        list[str] | None,
        option(
            "--checks",
            metavar="KINDS",
            help="Only these kinds, with commas between: assert, overflow, division, shift,"
            " conversion, bounds, null, uninitialised, freed; and dead-code, which is not checked"
            " unless named.",
            show_default="all but dead-code",
        ),
    ] = None,
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Analyse only this function; may be repeated."),
    ] = None,
    domain: Annotated[
        str,
        option(
            "--domain",
            metavar="NAME",
            help="The most precise domain to try: interval, octagon, relational, partitioned,"
            " predicates. Cheaper ones go first.",
            show_default="predicates; for whole programs octagon",
        ),
    ] = "",
    unroll: Annotated[
        int,
        option(
            "--unroll",
            metavar="N",
            min=0,
            help="Analyse the first N iterations of each loop one by one.",
        ),
    ] = 0,
    whole_program: Annotated[
        bool | None,
        option(
            "--whole-program/--by-function",
            help="Analyse all functions together, or each on its own with its callees inlined.",
            show_default="together above 3,000 instructions",
        ),
    ] = None,
    places: Annotated[
        list[str] | None,
        option("--at", metavar="FILE:LINE", help="Print the invariant before this line."),
    ] = None,
    emitted: Annotated[
        str,
        option(
            "--emit",
            metavar="FORM",
            help="Print the invariants of all statements as asserts or acsl (inserted into the"
            " source), witness (YAML of SV-COMP), or json.",
        ),
    ] = "",
    output: Annotated[
        Path | None,
        option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="With --emit asserts or acsl: write all sources to this folder.",
        ),
    ] = None,
    wraps: Annotated[
        bool,
        option("--wrap", help="Let signed overflow wrap around (-fwrapv) instead of checking it."),
    ] = False,
    time_s: Annotated[
        float,
        option(
            "--time-per-function",
            metavar="SECONDS",
            help="Stop refining a function after so long, and keep what cheaper domains proved.",
            show_default="no limit",
        ),
    ] = 0.0,
    stats: Annotated[
        bool | None,
        option(
            "--stats/--all-checks",
            help="Print a table of verdicts, or a line for every check.",
            show_default="a table from 1,000 checks on; else all that are not proved",
        ),
    ] = None,
    sarif_file: Annotated[
        Path | None,
        option("--sarif", metavar="FILE", help="Write what is not proved as SARIF 2.1.0."),
    ] = None,
    html_file: Annotated[
        Path | None,
        option(
            "--html", metavar="FILE", help="Write a page: the sources with invariants and verdicts."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that assertions, accesses and arithmetic of C are safe, or say which may fail.

    Example: kleene invariants examples/invariants/search.c

    Each check is safe, may fail, fails always or is unreachable. A check that is not proved comes
    first, with the constraints known before it and the one that would have proved it. Functions
    without a body may return any value. Exit code 0 if all checks are proved, 3 if some are not.
    """
    from kleene.analyses.invariants import Invariants

    kinds = [one for text in checks or () for one in text.split(",") if one]
    analysis = Invariants(
        domain=domain,
        checks=tuple(kinds),
        functions=tuple(functions or ()),
        unroll=unroll,
        wraps=wraps,
        time_s=time_s,
        whole_program=whole_program,
    )
    _check_form(emitted, output)
    program = sources.load()
    result = analysis.run(program)
    root = root_of(_files(program))
    _write(result, sources.title, sarif_file, html_file, root)
    if output is not None:
        _write_sources(result.annotations(), emitted, output, root)
        return
    if emitted:
        emit([_emitted(result, emitted, root)])
        return
    asked = {place: result.at(place) for place in places or ()}
    if as_json:
        plain = result.as_json(root)
        plain["at"] = {place: [str(one) for one in found] for place, found in asked.items()}
        emit_json(plain)
    else:
        from kleene.reports.invariants import (
            check_lines,
            count_lines,
            origin_lines,
            painted,
            place_lines,
        )

        is_table = len(result.checks) >= _MOST_LINES if stats is None else stats
        if asked:
            emit(place_lines(asked))
        elif is_table:
            emit(count_lines(result))
            emit(origin_lines(result, root))
        else:
            emit(check_lines(result, root, lists_all=stats is False), painted)
        _print_notes(result)
        if is_table and stats is None and not asked:
            note("each check is shown by --all-checks, --function NAME, --html or --json")
    if not asked and any(one.suppressed is None for one in result.findings()):
        raise SystemExit(ExitCode.FINDINGS)


def _files(program: Program) -> list[str]:
    symbols = sorted(set(program.spans.file.tolist()))
    return [program.strings[symbol] for symbol in symbols]


def _check_form(form: str, output: Path | None) -> None:
    if form and form not in (*_INTO_SOURCES, "witness", "json"):
        message = f"there is no form '{form}'"
        note_ = "there are asserts, acsl, witness, json"
        raise SourceError(None, "invariants/no-such-form", message, note_)
    if output is not None and form not in _INTO_SOURCES:
        raise UsageError("--output is for --emit asserts and --emit acsl")


def _write_sources(annotations: Annotations, form: str, folder: Path, root: str) -> None:
    """Write the sources with what holds in them, as they lie below their common folder."""
    texts = {
        folder / relative_path(file, root): _into_source(annotations, form, file)
        for file in _sources(annotations, root)
    }
    for path in texts:
        if path.exists() and any(path.samefile(one) for one in annotations.files):
            message = "a source would be written over"
            raise SourceError(
                Span(str(path)), "invariants/over-source", message, "give another folder"
            )
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    note(f"{len(texts)} sources are written to {folder}")


def _sources(annotations: Annotations, root: str) -> list[str]:
    """Return the sources below a folder; headers of the system are none of these."""
    return [one for one in annotations.files if not os.path.isabs(relative_path(one, root))]


def _into_source(annotations: Annotations, form: str, file: str) -> str:
    return annotations.asserts(file) if form == "asserts" else annotations.acsl(file)


def _emitted(result: InvariantsResult, form: str, root: str) -> str:
    """Return what holds in front of statements, in one of the forms."""
    annotations = result.annotations()
    if form == "json":
        return json.dumps(annotations.data(root), indent=2) + "\n"
    if form == "witness":
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return annotations.witness(created, kleene.__version__, root)
    files = _sources(annotations, root)
    if len(files) != 1:
        message = f"one source can be printed, and there are {len(files)}"
        note_ = "give a folder to write them to: --output FOLDER"
        raise SourceError(None, "invariants/several-sources", message, note_)
    return _into_source(annotations, form, files[0])


def _print_notes(result: InvariantsResult) -> None:
    for text in dict.fromkeys(text for one in result.functions for text in one.notes):
        note(text)
    for text in result.assumed:
        note(f"assumed: {text}")


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
