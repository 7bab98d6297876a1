"""`kleene dataflow`: which numbers values may be, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kleene.base.device import Device
from kleene.cli.findings import Reporting, print_alone, root_of, section
from kleene.cli.functions import picked
from kleene.cli.options import UsageError, option
from kleene.cli.output import emit, emit_json, rows
from kleene.cli.shared import AsJson, OnDevice, Threads
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.analyses.dataflow import DataflowResult
    from kleene.base.errors import Span
    from kleene.results import Finding

_WHY = {"value": "", "join": " (joined)", "branch": " (behind a branch)", "use": " (used)"}
_FILES = "The question, then C or C++ files, folders, .bc, .ll, or a database."


@dataclass(frozen=True, kw_only=True)
class Question(CSources):
    """What is asked, and of which program: the first word is the client."""

    files: Annotated[list[str], option(help=_FILES, metavar="CLIENT FILES", show_default=False)]
    client = "ranges"

    def __post_init__(self) -> None:
        from kleene.analyses.dataflow.clients import available

        client, *files = self.files
        if client not in available():
            raise UsageError(f"there is no question '{client}', only {', '.join(available())}")
        if not files:
            raise UsageError(f"name the files to ask about {client}")
        object.__setattr__(self, "client", client)
        object.__setattr__(self, "files", files)


def run(
    sources: Question,
    *,
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    explain: Annotated[
        str | None,
        option("--explain", metavar="NAME", help="Why is function.variable at most that much?"),
    ] = None,
    reporting: Reporting,
    stats: Annotated[bool, option("--stats", help="Print counts only.")] = False,
    library: Annotated[
        bool, option("--library", help="Others call the program: it need not have a main.")
    ] = False,
    models: Annotated[
        list[Path] | None,
        option("--models", metavar="FILE", help="What functions do to pointers and to data."),
    ] = None,
    sources_of: Annotated[
        list[str] | None,
        option("--source", metavar="F[:PLACE]", help="Its result, or argument, is from outside."),
    ] = None,
    sinks: Annotated[
        list[str] | None,
        option("--sink", metavar="F:PLACE[:USE]", help="That argument must not be from outside."),
    ] = None,
    sanitisers: Annotated[
        list[str] | None, option("--sanitiser", metavar="F", help="Its result is harmless.")
    ] = None,
    wraps: Annotated[
        bool, option("--wraps", help="Count overflow that C leaves undefined as machines do.")
    ] = False,
    alone: Annotated[
        bool, option("--alone", help="Look at every function alone: no arguments, no memory.")
    ] = False,
    context: Annotated[
        int,
        option(
            "--context", metavar="N", help="1: calls of one function have results of their own."
        ),
    ] = 0,
    device: OnDevice = Device.AUTO,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Ask which numbers variables may be, where nulls and outside data get, and what is dead.

    Example: kleene dataflow null examples/lookup --findings

    The first word is the question:

    - allocations: which sizes of allocations may overflow?
    - bit-widths: how many bits does each variable need?
    - bounds: which accesses to arrays are inside?
    - classes: of which classes may the object of a virtual call be?
    - constants: which variables are always one number?
    - dead-code: which code is never reached?
    - dead-stores: which values are never read?
    - division: which divisors may be 0?
    - null: which pointers that may be null are dereferenced?
    - ranges: which numbers may each variable be, and which conditions are always the same?
    - taint: which data from outside gets to commands, formats or sizes?
    - uninitialised: which variables are used before they have a value?

    Facts follow branches, calls, and memory whose writes are all known.
    """
    from kleene.analyses.dataflow import Dataflow

    program = sources.load()
    chosen = {function.row for function in picked(program, functions)} if functions else None
    analysis = Dataflow(
        sources.client,
        library=library,
        wraps=wraps,
        whole_program=not alone,
        models=tuple(models or ()),
        roles=tuple(_roles(sources_of or [], sinks or [], sanitisers or [])),
        context=context,
    )
    result = analysis.run(program, device=device, threads=threads)
    found, root = _findings(result, sources.title, reporting)
    if chosen is not None:
        names = {program.functions[row].name for row in chosen}
        found = [one for one in found if one.function in names]
    explanation = result.explain(explain) if explain is not None else None
    if as_json:
        emit_json(_plain(result, found, root, explanation, chosen))
    elif explanation is not None:
        from kleene.reports.explanation import explanation as written

        emit([written(explanation)])
    elif reporting.only_findings:
        print_alone(found, root)
    elif stats:
        emit([rows(result.statistics.items())])
    else:
        facts = "".join(_text(result, chosen))
        told = "".join(section(found, root))
        emit([facts, told if facts else told.lstrip("\n")] if facts or told else ["no findings\n"])
    reporting.end(found)


def _roles(sources: list[str], sinks: list[str], sanitisers: list[str]) -> Iterator[str]:
    """Yield lines of models for what the command line says of functions."""
    for text in sources:
        name, _, place = text.partition(":")
        yield f"{name}: taints {place.replace('return', 'result') or 'result'}"
    for text in sinks:
        name, place, use = [*text.split(":"), "", ""][:3]
        if not place:
            raise UsageError(f"say which argument of {name} is the sink: {name}:0 is the first")
        yield f"{name}: trusts {place} as {use or 'sink'}"
    for name in sanitisers:
        yield f"{name}: cleans result"


def _findings(result: DataflowResult, name: str, reporting: Reporting) -> tuple[list[Finding], str]:
    """Return the findings and the folder their files are named from; write the files asked for."""
    from kleene.analyses.dataflow import rules
    from kleene.analyses.points_to.findings import SOURCES, files_of

    program, found = result.context.program, result.findings()
    files = files_of(program)
    root = root_of(file for file in files if file.endswith(SOURCES))

    def where(function: int) -> Span | None:
        return program.functions[function].span

    graph = lambda: result.context.points_to.call_graph()  # noqa: E731
    title = f"Dataflow analysis of {name}: {result.client}"
    reporting.write(found, files, graph, where, rules=rules, title=title, root=root)
    return found, root


def _chosen_rows(result: DataflowResult, table: Any, chosen: set[int] | None) -> Iterator[Any]:
    names = None
    if chosen is not None:
        names = {result.context.program.functions[row].name for row in chosen}
    columns = list(table.columns)
    place = columns.index("function") if "function" in columns else -1
    for row in table.rows():
        if names is None or place < 0 or row[place] in names:
            yield row


def _text(result: DataflowResult, chosen: set[int] | None) -> Iterator[str]:
    """Yield the facts that say something, function by function."""
    for name, other in result.tables().items():
        if name != "ranges":
            yield from _columns(list(other.columns), list(_chosen_rows(result, other, chosen)))
    table = result.tables().get("ranges")
    if table is None:
        return
    function, last = None, ""
    for row in _chosen_rows(result, table, chosen):
        name, variable, line, why, text = row[:5]
        if text == "any":
            continue
        if name != function:
            yield f"{name}\n"
            function = name
        written = f"  {line:5}  {variable}: {text}{_WHY[why]}\n"
        if written != last:
            yield written
        last = written


def _columns(heads: list[str], rows: list[Any]) -> Iterator[str]:
    """Yield the rows of a table under its heads, each once where several in a row are alike."""
    if not rows:
        return
    words = [[word.replace("_", " ") for word in heads]]
    words += [[_word(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    for line, _ in groupby(words):
        cells = (word.ljust(width) for word, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"


def _word(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(cell) if cell != "" else "-"


def _plain(
    result: DataflowResult,
    found: list[Finding],
    root: str,
    explanation: Any,
    chosen: set[int] | None,
) -> dict[str, object]:
    """Return everything as data."""
    from kleene.results import findings_json

    value: dict[str, object] = {
        "client": result.client,
        "statistics": result.statistics,
        "findings": findings_json(found, root),
    }
    for name, table in result.tables().items():
        columns = list(table.columns)
        value[name] = [
            dict(zip(columns, row, strict=True)) for row in _chosen_rows(result, table, chosen)
        ]
    if explanation is not None:
        value["explanation"] = explanation.as_json()
    return value
