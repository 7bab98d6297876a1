"""`kleene kernels`: which loops may run in parallel, and why not the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from kleene.cli.findings import root_of, write_sarif
from kleene.cli.options import UsageError, option
from kleene.cli.output import emit, emit_json, note, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.offload.kernels import KernelsResult
    from kleene.offload.kernels.kernel import Kernel

Key = TypeVar("Key", str, int)


class Emitted(StrEnum):
    """What is written for parallel loops."""

    OPENMP = "openmp"
    CUDA = "cuda"
    C = "c"
    PYTHON = "python"


class Whose(StrEnum):
    """Whose speeds predictions take."""

    H200 = "h200"
    HERE = "here"


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
    points_to: Annotated[
        bool,
        option("--points-to", help="Tell pointers apart by the points-to sets of the program."),
    ] = False,
    values: Annotated[
        list[str] | None,
        option("--set", metavar="NAME=NUMBER", help="A size, for kernels with numbers: n=1000."),
    ] = None,
    trips: Annotated[
        list[str] | None,
        option("--trips", metavar="LINE=COUNT", help="A loop's iterations, as a profile has them."),
    ] = None,
    block: Annotated[
        str | None, option("--block", metavar="SHAPE", help="Threads of a block: 256, 32x8.")
    ] = None,
    device: Annotated[
        Whose | None,
        option(
            "--device",
            help="Predict calls with the sizes of --set: on an H200, or on the GPU here, measured.",
        ),
    ] = None,
    html_file: Annotated[
        Path | None, option("--html", metavar="FILE", help="Write a page: sources and pictures.")
    ] = None,
    sarif_file: Annotated[
        Path | None, option("--sarif", metavar="FILE", help="Write verdicts as SARIF notes.")
    ] = None,
    emitted: Annotated[
        Emitted | None,
        option(
            "--emit",
            help="Print instead: a patch with directives, or functions in parallel as a file.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find out which loops may run in parallel, why not the others, and what a GPU would move.

    Example: kleene kernels examples/loops/stencil.c

    A loop is PAR (parallel), PRIV (with private copies), COPY (on a snapshot), RED (a reduction),
    SEQ (sequential: two iterations and the element they share are printed) or MAY (not proved, with
    what stands in the way). Pointers that may overlap are named: check them before. For each nest
    that may become a kernel: bytes that go in and come out, and memory requests of a warp.
    """
    from kleene.cli.functions import check_names
    from kleene.offload.kernels import Kernels

    analysis = Kernels(tuple(assume or ()), no_alias, points_to)
    if points_to:
        program = sources.load()
        units = program.loop_reader() if program.loop_reader is not None else []
        result = analysis.run(program)
    else:
        units = sources.loops()
        result = analysis.verdicts_on(units)
    if functions:
        check_names(functions, [one.name for unit in units for one in unit.functions])
        result = result.only(functions)
    if emitted is Emitted.OPENMP:
        _emit_openmp(result)
        return
    if emitted is not None:
        _emit_generated(result, emitted)
        return
    sizes = numbers(values or [], "--set", str)
    kernels = result.kernels(
        sizes,
        trips=numbers(trips or [], "--trips", int),
        block=None if block is None else shape(block),
    )
    functions_beside: list[dict[str, Any]] = []
    if device is not None or html_file is not None:
        functions_beside = _beside(result, sizes, device)
    _write(result, kernels, sources.title, html_file, sarif_file, functions_beside)
    if as_json:
        more = {} if device is None else {"generated": functions_beside}
        emit_json({**result.as_json(kernels), **more})
        return
    _print(result, kernels)
    if device is not None:
        _print_times(functions_beside)


def _beside(
    result: KernelsResult, sizes: dict[str, int], device: Whose | None
) -> list[dict[str, Any]]:
    """Return generated functions beside their C, with times."""
    from kleene.kernels import launch
    from kleene.offload.plans.beside import beside
    from kleene.offload.plans.machine import H200, calibrated

    if device is Whose.HERE:
        launch.current()  # an error if no GPU answers
        note("speeds are measured once for each GPU, in about ten seconds, and kept")
    return beside(result, sizes, calibrated() if device is Whose.HERE else H200)


def _print_times(functions: list[dict[str, Any]]) -> None:
    for one in functions:
        if one.get("predicted") is not None:
            sizes = ", ".join(f"{name}={value}" for name, value in one["sizes"].items())
            lines = ["", f"call of {one['function']}, {sizes}"]
            lines += [f"  {line}" for line in one["predicted"]["lines"]]
            if one["measured_s"] is not None:
                lines.append(f"  measured: {1e3 * one['measured_s']:.4g} ms of kernels")
            emit(f"{line}\n" for line in lines)
        elif one.get("missing"):
            given = " ".join(f"--set {name}=1000" for name in one["missing"])
            note(f"{one['function']}: no times without its sizes: {given}")
        elif one.get("no_times"):
            note(f"{one['function']}: no times: {one['no_times']}")
        else:
            note(f"{one['function']}: no kernels: {one['reason']}")


def _emit_openmp(result: KernelsResult) -> None:
    from kleene.offload.kernels.openmp import directives, patch

    found = directives(result)
    emit([patch(found, root_of(sorted({one.place.file for one in found})))])
    for one in found:
        if not one.text:
            note(f"{one.place}: no directive: {one.reason}")
    note(f"{sum(bool(one.text) for one in found)} directives")


def _emit_generated(result: KernelsResult, kind: Emitted) -> None:
    from kleene.base import progress
    from kleene.base.errors import SourceError
    from kleene.offload.plans.files import file_of

    made = []
    names = list(dict.fromkeys(one.table.function for one in result.functions))
    with progress.task("functions", len(names)) as advance:
        for name in names:
            try:
                made.append(result.generated(name))
            except SourceError as error:
                note(error.message)
            advance(1)
    text, reasons = file_of([one.plan for one in made], kind.value)
    emit([text])
    for reason in reasons:
        note(reason)
    for one in made:
        if not one.plan.steps:
            note(f"{one.plan.function} is executed as it is written: {one.plan.reason}")


def numbers(given: Iterable[str], option_name: str, kind: Callable[[str], Key]) -> dict[Key, int]:
    """Return what was given as NAME=NUMBER."""
    found = {}
    for text in given:
        name, _, value = text.rpartition("=")
        try:
            found[kind(name.strip())] = int(value)
        except ValueError:
            raise UsageError(f"{option_name} {text}: write a name, '=' and a number") from None
        if not name.strip():
            raise UsageError(f"{option_name} {text}: write a name, '=' and a number")
    return found


def shape(text: str) -> tuple[int, ...]:
    """Return the threads of a block: 1 to 3 numbers with 'x' between them, at most 1024 in all."""
    try:
        found = tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= 3 or min(found) < 1 or math.prod(found) > 1024:
        raise UsageError(f"--block {text}: write 256, 32x8 or 8x8x4, at most 1024 threads")
    return found


def _print(result: KernelsResult, kernels: Iterable[Kernel]) -> None:
    from kleene.offload.kernels.plain import kernel_json
    from kleene.reports.kernels import kernel_lines, lines

    emit(lines(result.loop_rows()))
    emit(kernel_lines(kernel_json(one) for one in kernels))
    counts = ", ".join(f"{n} {name}" for name, n in result.counts().items() if n)
    note(f"{len(result.loops)} loops{f': {counts}' if counts else ''}; {result.assumed[0]}")


def _write(
    result: KernelsResult,
    kernels: tuple[Kernel, ...],
    title: str,
    html_file: Path | None,
    sarif_file: Path | None,
    functions: list[dict[str, Any]],
) -> None:
    """Write the files asked for."""
    if html_file is None and sarif_file is None:
        return
    found = result.findings()
    files = sorted({one.place.file for one in result.loops})
    root = root_of(files)
    if sarif_file is not None:
        from kleene.offload.kernels import rules

        write_sarif(sarif_file, found, rules, root)
    if html_file is not None:
        from kleene.reports.kernels_page import kernels_page

        counts = ", ".join(f"{n} {name}" for name, n in result.counts().items() if n)
        page = kernels_page(
            f"Loops of {title}",
            {**result.as_json(kernels), "generated": functions},
            findings=found,
            files=files,
            root=root,
            subtitle=f"{len(result.loops)} loops: {counts}; {len(kernels)} kernels",
        )
        write_whole(html_file, page)
