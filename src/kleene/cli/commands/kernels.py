"""`kleene kernels`: which loops may run in parallel, and why not the others."""

from __future__ import annotations

from typing import Annotated

from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, note
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources


def run(
    sources: CSources,
    *,
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    assume: Annotated[
        list[str] | None,
        option("--assume", metavar="CONDITION", help="A fact about parameters: 'n > 0'."),
    ] = None,
    no_alias: Annotated[
        bool, option("--no-alias", help="Different pointers point to different storage.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find out which loops may run in parallel, and why not the others.

    Example: kleene kernels examples/loops/stencil.c

    A loop is PAR (parallel), PRIV (with private copies), COPY (on a snapshot), RED (a reduction),
    SEQ (sequential: two iterations and the element they share are printed) or MAY (not proved, with
    what stands in the way). Pointers that may overlap are named: check them before.
    """
    from kleene.cli.functions import check_names
    from kleene.offload.kernels import Kernels

    units = sources.loops()
    result = Kernels(tuple(assume or ()), no_alias).verdicts_on(units)
    if functions:
        check_names(functions, [one.name for unit in units for one in unit.functions])
        result = result.only(functions)
    if as_json:
        emit_json(result.as_json())
        return
    from kleene.reports.kernels import lines

    emit(lines(result.loop_rows()))
    counts = ", ".join(f"{n} {name}" for name, n in result.counts().items() if n)
    note(f"{len(result.loops)} loops{f': {counts}' if counts else ''}; {result.assumed[0]}")
