"""`kleene ssa`: names of values that facts hold for, by a strategy of live-range splitting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kleene.cli.commands.cfg import control_flow
from kleene.cli.drawing import check_picture, write_svg
from kleene.cli.functions import picked
from kleene.cli.options import UsageError, option
from kleene.cli.output import emit, emit_json, rows, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.ir import Function
    from kleene.transforms.splitting import SplitProgram


def run(
    sources: CSources,
    *,
    strategy: Annotated[
        str,
        option(
            "--strategy",
            metavar="NAME",
            help="ssa, essa, ccp, ssi, ssu, hochstadt, mahlke, stephenson or null.",
        ),
    ] = "essa",
    functions: Annotated[
        list[str] | None,
        option("--function", metavar="NAME", help="Only this function; may be repeated."),
    ] = None,
    stats: Annotated[bool, option("--stats", help="Print counts, not the text.")] = False,
    dot_file: Annotated[
        Path | None, option("--dot", metavar="FILE", help="Write one function's DOT to this file.")
    ] = None,
    svg_file: Annotated[
        Path | None,
        option("--svg", metavar="FILE", help="Write one function's SVG; needs Graphviz."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Split the live ranges of values, so that an analysis can keep a fact by name.

    Example: kleene ssa examples/shapes/*.c --strategy essa --function release

    A strategy says where an analysis learns something: essa at definitions and branches, null at
    dereferences too. There a value gets a new name, %x/2: by a phi where several meet, by a sigma
    behind a branch, by a copy behind an instruction.
    """
    from kleene.transforms.splitting import STRATEGIES, split_program
    from kleene.transforms.splitting.text import FunctionText

    if strategy not in STRATEGIES:
        raise UsageError(f"there is no strategy '{strategy}', only {', '.join(STRATEGIES)}")
    is_picture = dot_file is not None or svg_file is not None
    if is_picture and len(functions or []) != 1:
        raise UsageError("a picture shows one function: name it with --function")
    check_picture(svg_file and svg_file.with_suffix(".svg"))
    program = sources.load()
    chosen = picked(program, functions)
    split = split_program(program, strategy)
    if is_picture:
        text = FunctionText(split, chosen[0].row)
        dot = control_flow(chosen[0], lambda block: text.block(block.row)).dot()
        if dot_file is not None:
            write_whole(dot_file, dot)
        if svg_file is not None:
            write_svg(dot, svg_file)
    if as_json:
        emit_json(_json(split, strategy, [] if stats else chosen))
    elif stats:
        emit([rows(_stats(split).items())])
    elif not is_picture:
        emit(_text(split, chosen))


def _stats(split: SplitProgram) -> dict[str, int]:
    from kleene.transforms.splitting import NameKind

    counts = {kind: int((split.kind == kind).sum()) for kind in NameKind}
    return {
        "instructions": len(split.program.instructions),
        "phi": counts[NameKind.PHI],
        "sigma": counts[NameKind.SIGMA],
        "copies": counts[NameKind.COPY],
    }


def _text(split: SplitProgram, functions: list[Function]) -> Iterator[str]:
    from kleene.transforms.splitting.text import FunctionText

    for place, function in enumerate(functions):
        text = "\n".join(FunctionText(split, function.row).lines())
        yield f"\n{text}\n" if place else f"{text}\n"


def _json(split: SplitProgram, strategy: str, functions: list[Function]) -> dict[str, Any]:
    from kleene.transforms.splitting.text import FunctionText

    found: dict[str, Any] = {"strategy": strategy, "stats": _stats(split)}
    if functions:
        found["functions"] = [
            {"name": f.name, "lines": list(FunctionText(split, f.row).lines())} for f in functions
        ]
    return found
