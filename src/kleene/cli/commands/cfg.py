"""`kleene cfg`: a function's control flow as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kleene.cli.drawing import check_picture, write_svg
from kleene.cli.functions import picked
from kleene.cli.options import option
from kleene.cli.output import emit, emit_json, write_whole
from kleene.cli.shared import AsJson
from kleene.cli.sources import CSources

if TYPE_CHECKING:
    from kleene.ir import Block, Function
    from kleene.results.drawing import Graph


def run(
    sources: CSources,
    *,
    function: Annotated[
        str, option("--function", metavar="NAME", help="The function to draw.")
    ] = "main",
    dot_file: Annotated[
        Path | None, option("--dot", metavar="FILE", help="Write DOT to this file.")
    ] = None,
    svg_file: Annotated[
        Path | None,
        option("--svg", metavar="FILE", help="Write SVG to this file; needs Graphviz."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the control flow of one function.

    Example: kleene cfg examples/shapes/*.c --function main --svg main.svg

    Without --dot or --svg the graph is printed in DOT. Where Graphviz is missing, --svg is an
    error.
    """
    check_picture(svg_file and svg_file.with_suffix(".svg"))
    program = sources.load()
    (chosen,) = picked(program, [function])
    graph = control_flow(chosen, lambda block: map(str, block.instructions))
    if dot_file is not None:
        write_whole(dot_file, graph.dot())
    if svg_file is not None:
        write_svg(graph.dot(), svg_file)
    if as_json:
        emit_json(graph.as_json())
    elif dot_file is None and svg_file is None:
        emit([graph.dot()])


def control_flow(function: Function, lines: Callable[[Block], Iterable[str]]) -> Graph:
    """Return the blocks of a function, with the lines of each, as nodes, and its jumps as edges."""
    from kleene.results.drawing import Edge, Graph, Node

    nodes = [
        Node(block.name, "\n".join([f"{block}:", *(f"  {line}" for line in lines(block))]))
        for block in function.blocks
    ]
    edges = [
        Edge(block.name, successor.name, label)
        for block in function.blocks
        for successor, label in zip(block.successors, _labels(block), strict=True)
    ]
    return Graph(function.name, tuple(nodes), tuple(edges))


def _labels(block: Block) -> list[str]:
    """Return when each successor of `block` is taken, in their order."""
    from kleene.ir.codes import Opcode

    end, n_successors = block.terminator, len(block.successors)
    if end is not None and end.opcode == Opcode.BR and n_successors == 2:
        return ["true", "false"]
    if end is not None and end.opcode == Opcode.SWITCH:
        return ["default", *(str(case) for case in end.operands[2::2])]
    if end is not None and end.opcode == Opcode.INVOKE:
        return ["", "unwind"]
    return [""] * n_successors
