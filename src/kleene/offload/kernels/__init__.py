"""Which loops may run in parallel, after what change, and why not the others?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from kleene.base import progress
from kleene.base.device import Device
from kleene.base.errors import SourceError
from kleene.ir import Program
from kleene.ir.loops.tables import Condition, LoopTable
from kleene.ir.loops.tree import Unit
from kleene.offload.kernels import assumptions
from kleene.offload.kernels.pointers import Pointers
from kleene.offload.kernels.result import Analysed, KernelsResult
from kleene.offload.kernels.verdicts import SIGNED, LoopVerdict, Verdict, verdicts_of
from kleene.transforms.loops import tables

__all__ = ["ANALYSIS", "Kernels", "KernelsResult", "LoopVerdict", "Verdict"]


@dataclass(frozen=True, slots=True)
class Kernels:
    """Which loops of a program may run in parallel, and why not the others?

    Loops are read from the sources that the program was loaded from. A verdict of parallel holds
    under the overlap checks and assumptions listed with it; one of sequential has two iterations
    as its witness; whatever is not proved is MAY.

    Attributes:
        assume: comparisons of integer parameters that hold for every call: "n > 0". One that names
            no parameter of a function says nothing about it.
        no_alias: take different pointers to point to different storage.
        points_to: ask the points-to sets of the program which pointers do. Then all callers of a
            function must be in the program, or its pointers are unknown.
    """

    assume: tuple[str, ...] = ()
    no_alias: bool = False
    points_to: bool = False

    def run(
        self, program: Program, *, device: Device | str = Device.AUTO, threads: int | None = None
    ) -> KernelsResult:
        """Return the verdict on every loop; neither `device` nor `threads` matters.

        Raises:
            SourceError: the program was not loaded from C or C++ sources, the package islpy is
                missing, or an assumption cannot be read or names no parameter.
        """
        reader = getattr(program, "loop_reader", None)
        units = reader() if reader is not None else []
        return self.verdicts_on(units, Pointers(program, units) if self.points_to else None)

    def verdicts_on(self, units: Iterable[Unit], pointers: Pointers | None = None) -> KernelsResult:
        """Return the verdict on every loop of these units."""
        if find_spec("islpy") is None:
            message = "the package 'islpy' is not installed"
            raise SourceError(None, "kernels/no-islpy", message, "pip install islpy")
        listed = list(units)
        if not listed:
            message = "there is no C or C++ source to read loops from"
            raise SourceError(None, "kernels/no-source", message, "bitcode has lost them")
        found = [table for unit in listed for table in tables(unit, listed)]
        assumed = self._assumed(found)
        made: list[Analysed] = []
        with progress.task("loops", len(found)) as advance:
            for table, conditions in zip(found, assumed, strict=True):
                verdicts = verdicts_of(table, conditions, no_alias=self.no_alias, pointers=pointers)
                made.append(Analysed(table, conditions, tuple(verdicts)))
                advance(1)
        return KernelsResult(tuple(made), (SIGNED, *self.assume), tuple(listed))

    def _assumed(self, found: list[LoopTable]) -> list[tuple[Condition, ...]]:
        made: list[list[Condition]] = [[] for _ in found]
        for text in self.assume:
            comparisons = assumptions.parsed(text)
            n_used = 0
            for table, conditions in zip(found, made, strict=True):
                try:
                    held = [
                        one
                        for comparison in comparisons
                        for one in assumptions.conditions(comparison, table.parameters)
                    ]
                except assumptions.UnknownNameError:
                    continue
                conditions += held
                n_used += 1
            if found and not n_used:
                message = f"'{text}' names no integer parameter of a function with loops"
                raise SourceError(None, "kernels/unknown-name", message)
        return [tuple(one) for one in made]


ANALYSIS = Kernels
