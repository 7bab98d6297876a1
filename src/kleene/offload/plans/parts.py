"""A function part by part, for arrays that do not fit into the memory of a GPU.

    for (i = 0; i < n; i++)           part_first <= i < part_end:
      for (j...) c[i][j] = ...        rows part_first to part_end of c, and all of b

A loop over a range of its iterations is a function of its own, with the range as two more
parameters. It goes through the same analysis as every other one, which tells the sections of its
arrays. Ranges are executed one after the other, as the loop is written: what one writes is back in
the arrays of NumPy before the next begins. So are several loops of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kleene.codegen import python, runtime
from kleene.codegen.plan import CannotError, Plan
from kleene.codegen.text import assigned_in, symbols_in
from kleene.codegen.trees import binary, counted, first_use, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Expression, Function, Symbol, Unit
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import Verdict, verdicts_of
from kleene.transforms.loops import tables


class InParts(Protocol):
    """A generated function that may be called with memory on the GPU for its sections alone."""

    plan: Plan

    def __call__(self, *args: Any, device: str) -> Any:
        """Call the function."""

    def execute_part(self, args: Sequence[Any]) -> None:
        """Call the function on the GPU."""


Generate = Callable[[Function, Analysed], InParts]


@dataclass(frozen=True)
class Part:
    """A loop as a function of its range: `made` has two parameters more, `part_first, part_end`."""

    made: InParts
    low: Expression
    high: Expression


def parts_of(plan: Plan, analysed: Analysed, generate: Generate) -> tuple[Part, ...]:
    """Return the loops of a function, each as a function of a range of its iterations.

    Args:
        plan: the function's.
        analysed: its loops.
        generate: makes a function that can be called.

    Raises:
        CannotError: the function is more than parallel loops, or one of them has other steps than
            launches of kernels; the reason is its text.
    """
    loops: list[tree.Loop] = []
    for one in plan.body:
        if isinstance(one, tree.Loop):
            loops.append(one)
        elif not isinstance(one, tree.Declare) or one.symbol.type.kind == "array":
            raise CannotError(f"line {one.place.line} is outside of its loops")
    if plan.result.kind != "void":
        raise CannotError("it returns a value")
    verdicts = {one.place: one.verdict for one in analysed.verdicts}
    return tuple(_part(plan, one, verdicts.get(one.place), generate) for one in loops)


def _part(plan: Plan, loop: tree.Loop, verdict: Verdict | None, generate: Generate) -> Part:
    form = counted(loop)
    where = f"the loop of line {loop.place.line}"
    if verdict not in (Verdict.PAR, Verdict.PRIV):
        raise CannotError(f"{where} is not parallel")
    if form is None or form.step != 1 or form.is_descending:
        raise CannotError(f"{where} does not count up by 1")
    parameters = set(plan.parameters)
    # The loop's own variables begin anew in each range: iterations of a parallel loop that read a
    # variable have written it before. What comes from outside of the loop are parameters alone.
    if assigned_in(loop) & parameters:
        raise CannotError(f"{where} changes a parameter")
    if symbols_in((form.low, form.high)) - parameters:
        raise CannotError(f"the range of {where} is not told by parameters")
    for symbol in symbols_in(loop) - parameters:
        if first_use((loop,), symbol) == "read":
            raise CannotError(f"{where} reads {symbol.name} of the code before it")
    taken = {one.name for one in symbols_in(loop) | parameters}
    ends = tuple(_new(name, form.variable, taken) for name in ("part_first", "part_end"))
    function = _function(plan, loop, form.variable, ends)
    (table,) = tables(Unit(function.place.file, (function,)))
    made = generate(function, Analysed(table, (), tuple(verdicts_of(table))))
    steps = made.plan
    if not steps.steps or steps.snapshots or any(steps.host_nests()) or any(steps.scans()):
        raise CannotError(f"{where} has other steps than kernels")
    return Part(made, form.low, form.high)


def _new(name: str, like: Symbol, taken: set[str]) -> Symbol:
    while name in taken:
        name += "_"
    return Symbol(name, like.type, like.place, "parameter")


def _function(plan: Plan, loop: tree.Loop, variable: Symbol, ends: tuple[Symbol, ...]) -> Function:
    first, end = ends
    init = tuple(
        replace(one, value=read(first)) if isinstance(one, tree.Assign) else one
        for one in loop.init
    )
    test = binary("<", read(variable), read(end))
    declared = tuple(one for one in plan.body if isinstance(one, tree.Declare))
    return Function(
        plan.function,
        loop.place,
        tree.Type("void", "void"),
        (*plan.parameters, *ends),
        (*declared, replace(loop, init=init, test=test)),
    )


def executed(plan: Plan, parts: Sequence[Part], args: Sequence[Any]) -> str:
    """Execute loops in ranges for which the GPU has memory; return why the CPU did some, if so.

    A range that does not fit is halved. Where one iteration does not fit, the CPU does what is left
    of the loop.
    """
    text = python.values_source(plan, "ends", [end for one in parts for end in (one.low, one.high)])
    names: dict[str, Any] = dict(runtime.NAMESPACE)
    exec(text, names)
    ends = names["ends"](*args)
    told = ""
    for number, part in enumerate(parts):
        first, high = int(ends[2 * number]), int(ends[2 * number + 1])
        size = high - first
        while first < high:
            end = min(high, first + size)
            try:
                part.made.execute_part((*args, first, end))
                first = end
            except runtime.NotExecutedError as error:
                size = (end - first) // 2
                if not size:
                    part.made(*args, first, high, device="cpu")
                    line = part.made.plan.body[-1].place.line
                    told = f"for an iteration of line {line} {error}".rstrip()
                    first = high
    return told
