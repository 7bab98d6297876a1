"""The verdicts on all loops of a program, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kleene.base import json
from kleene.base.errors import SourceError
from kleene.ir.loops.tables import Condition, LoopTable
from kleene.offload.kernels.findings import clauses, finding_of
from kleene.offload.kernels.inputs import ConflictingInput
from kleene.offload.kernels.plain import culprits_json, kernel_json, place_json
from kleene.offload.kernels.transformations import Transformation
from kleene.offload.kernels.verdicts import Culprit, LoopVerdict, Verdict
from kleene.offload.kernels.witness import Instance, Witness
from kleene.results import Finding, Table
from kleene.transforms.loops import callable_from

if TYPE_CHECKING:
    from kleene.ir.loops.tree import Function, Unit
    from kleene.offload.kernels.kernel import Kernel
    from kleene.offload.plans.call import GeneratedFunction


@dataclass(frozen=True, slots=True)
class Analysed:
    """The loops of one function with their verdicts, and the conditions that these hold under."""

    table: LoopTable
    conditions: tuple[Condition, ...]
    verdicts: tuple[LoopVerdict, ...]


@dataclass(frozen=True, repr=False)
class KernelsResult:
    """The loops of a program in source order, each with its verdict.

    Attributes:
        functions: those with loops, each with its verdicts.
        assumed: what is taken for granted of all runs.
        units: the sources, from which functions are generated: `result.gemm(...)` calls `gemm`.
    """

    functions: tuple[Analysed, ...]
    assumed: tuple[str, ...]
    units: tuple[Unit, ...] = ()

    def __repr__(self) -> str:
        counts = Counter(one.verdict.value for one in self.loops)
        said = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
        return f"<KernelsResult of {len(self.functions)} functions: loops {said or 'none'}>"

    def __getattr__(self, name: str) -> GeneratedFunction:
        """Return the function of that name, to be called with its proven loops in parallel."""
        if not name.startswith("_") and name in self._by_name:
            return self.generated(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """Return the attributes, and the functions that can be called."""
        return [*super().__dir__(), *self._by_name]

    @cached_property
    def _by_name(self) -> dict[str, Function]:
        named = {one.table.function for one in self.functions}
        return {one.name: one for u in self.units for one in u.functions if one.name in named}

    @cached_property
    def _generated(self) -> dict[str, GeneratedFunction]:
        return {}

    def _callable_from(self, function: Function) -> dict[str, Function]:
        unit = next(one for one in self.units if function in one.functions)
        return callable_from(unit, self.units)

    def generated(self, name: str) -> GeneratedFunction:
        """Return a function with loops, to be called with those that are proved in parallel.

        Raises:
            SourceError: `kernels/unknown-name`, there is no such function with loops;
                `kernels/not-generated`, something in it cannot be written as C or CUDA C++.
        """
        from kleene.offload.plans import generated

        if name not in self._generated:
            function = self._by_name.get(name)
            analysed = next((one for one in self.functions if one.table.function == name), None)
            if function is None or analysed is None:
                message = f"there is no function '{name}' with loops"
                raise SourceError(None, "kernels/unknown-name", message)
            self._generated[name] = generated(function, analysed, self._callable_from(function))
        return self._generated[name]

    @cached_property
    def loops(self) -> tuple[LoopVerdict, ...]:
        """The verdicts on all loops."""
        return tuple(one for function in self.functions for one in function.verdicts)

    def only(self, names: Collection[str]) -> KernelsResult:
        """Return the result for the functions with some names."""
        chosen = tuple(one for one in self.functions if one.table.function in names)
        return KernelsResult(chosen, self.assumed, self.units)

    def kernels(
        self,
        values: Mapping[str, int] | None = None,
        *,
        trips: Mapping[int, int] | None = None,
        block: tuple[int, ...] | None = None,
    ) -> tuple[Kernel, ...]:
        """Return the loop nests that may become GPU kernels: what moves, how memory is accessed.

        Args:
            values: numbers of parameters and of loads (`"image->width"`) by name; facts then hold
                for these numbers.
            trips: counts of iterations by the lines of loops, as a profile observes them; sizes
                that lead to them are computed, and there is one kernel for each solution.
            block: threads of a block in x, y, z; nests with another number of loops on the grid
                keep the usual shape.

        Raises:
            SourceError: `kernels/unknown-name`, a name or line is of no function with loops.
        """
        from kleene.offload.kernels.instances import kernels_in, sizes_of

        names = {name for one in self.functions for name in sizes_of(one.table)}
        lines = {row.place.line for one in self.functions for row in one.table.loops}
        unknown = [f"'{name}' names no size" for name in values or () if name not in names]
        unknown += [f"line {line} begins no loop" for line in trips or () if line not in lines]
        if unknown and self.functions:
            raise SourceError(None, "kernels/unknown-name", unknown[0])
        return tuple(
            kernel
            for one in self.functions
            for kernel in kernels_in(
                one.table, one.conditions, one.verdicts, values=values, trips=trips, block=block
            )
        )

    def against(self, loop: LoopVerdict) -> tuple[Culprit, ...]:
        """Return why a loop cannot become a kernel, nothing if it can."""
        from kleene.offload.kernels.kernel import reasons_against

        for function in self.functions:
            if loop in function.verdicts:
                rows = {one.place: one for one in function.table.loops}
                return reasons_against(function.table, rows[loop.place], loop)
        return ()

    def at(self, line: int, file: str | None = None) -> list[LoopVerdict]:
        """Return the loops that begin in a line; `file` is how the place's file ends."""
        return [
            one
            for one in self.loops
            if one.place.line == line and one.place.file.endswith(file or "")
        ]

    def counts(self) -> dict[str, int]:
        """Return how many loops have each verdict."""
        found = Counter(one.verdict for one in self.loops)
        return {verdict.value: found[verdict] for verdict in Verdict}

    def findings(self) -> list[Finding]:
        """Return a note for each loop: one that is not parallel is no fault of the program."""
        return sorted((finding_of(one) for one in self.loops), key=lambda one: one.order)

    def tables(self) -> dict[str, Table]:
        """Return the loops as a table."""
        loops = self.loops
        return {
            "loops": Table(
                {
                    "function": [one.function for one in loops],
                    "file": [one.place.file for one in loops],
                    "line": [one.place.line for one in loops],
                    "column": [one.place.column for one in loops],
                    "depth": [one.depth for one in loops],
                    "variable": [one.variable for one in loops],
                    "verdict": [one.verdict.value for one in loops],
                }
            )
        }

    def loop_rows(self) -> list[dict[str, object]]:
        """Return each loop as plain data."""
        return [
            loop_json(one) | {"clauses": clauses(one), "against": culprits_json(self.against(one))}
            for one in self.loops
        ]

    def as_json(self, kernels: Iterable[Kernel] | None = None) -> dict[str, object]:
        """Return everything as plain data, with these kernels instead of those for all sizes."""
        chosen = self.kernels() if kernels is None else kernels
        return {
            "assumptions": list(self.assumed),
            "counts": self.counts(),
            "loops": self.loop_rows(),
            "kernels": [kernel_json(one) for one in chosen],
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.as_json())


def loop_json(loop: LoopVerdict) -> dict[str, object]:
    """Return a verdict as plain data."""
    return {
        "function": loop.function,
        **place_json(loop.place),
        "end_line": loop.end_line,
        "depth": loop.depth,
        "kind": loop.kind,
        "variable": loop.variable,
        "verdict": loop.verdict.value,
        "private": [asdict(one) for one in loop.privates],
        "copy": loop.copies,
        "reductions": [asdict(one) for one in loop.reductions],
        "scans": [asdict(one) for one in loop.scans],
        "inductions": loop.inductions,
        "if_no_overlap": [list(pair) for pair in loop.no_overlap],
        "apart_by_points_to": [list(pair) for pair in loop.apart],
        "overlap_checks": [None if one is None else one.text for one in loop.overlap_checks],
        "assumptions": loop.assumptions,
        "witness": None if loop.witness is None else _witness(loop.witness),
        "reasons": culprits_json(loop.culprits),
        "conflicting_input": _conflict(loop.conflicting_input),
        "transformations": [_transformation(one) for one in loop.transformations],
    }


def _transformation(one: Transformation) -> dict[str, object]:
    return {
        "kind": one.kind,
        "detail": one.detail,
        "inner": None if one.inner is None else place_json(one.inner),
        "factor": one.factor,
        "parts": [{"lines": list(p.lines), "is_parallel": p.is_parallel} for p in one.parts],
        "expanded": list(one.expanded),
        "points": [str(point) for point in one.points],
        "sunk": list(one.sunk),
    }


def _conflict(found: ConflictingInput | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "parameters": dict(found.parameters),
        "memory": dict(found.memory),
        "element": found.first.element,
        "first": _instance(found.first),
        "second": _instance(found.second),
    }


def _witness(witness: Witness) -> dict[str, object]:
    return {
        "parameters": dict(witness.parameters),
        "element": witness.write.element,
        "write": _instance(witness.write),
        "read": _instance(witness.read),
    }


def _instance(one: Instance) -> dict[str, object]:
    return {"iteration": dict(one.variables), **place_json(one.place)}
