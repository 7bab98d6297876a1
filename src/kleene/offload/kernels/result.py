"""The verdicts on all loops of a program, as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from kleene.base import json
from kleene.base.errors import Span
from kleene.offload.kernels.inputs import ConflictingInput
from kleene.offload.kernels.transformations import Transformation
from kleene.offload.kernels.verdicts import LoopVerdict, Verdict
from kleene.offload.kernels.witness import Instance, Witness
from kleene.results import Finding, Table


@dataclass(frozen=True, slots=True)
class KernelsResult:
    """The loops of a program in source order, each with its verdict."""

    loops: tuple[LoopVerdict, ...]
    assumed: tuple[str, ...]

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
        """Return nothing: a loop that is not parallel is no fault of the program."""
        return []

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
        return [loop_json(one) for one in self.loops]

    def as_json(self) -> dict[str, object]:
        """Return everything as plain data."""
        return {
            "assumptions": list(self.assumed),
            "counts": self.counts(),
            "loops": self.loop_rows(),
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.as_json())


def loop_json(loop: LoopVerdict) -> dict[str, object]:
    """Return a verdict as plain data."""
    return {
        "function": loop.function,
        **_place(loop.place),
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
        "assumptions": loop.assumptions,
        "witness": None if loop.witness is None else _witness(loop.witness),
        "reasons": [
            {"code": one.code, "detail": one.detail, **_place(one.place)} for one in loop.culprits
        ],
        "conflicting_input": _conflict(loop.conflicting_input),
        "transformations": [_transformation(one) for one in loop.transformations],
    }


def _place(place: Span) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "column": place.column}


def _transformation(one: Transformation) -> dict[str, object]:
    return {
        "kind": one.kind,
        "detail": one.detail,
        "inner": None if one.inner is None else _place(one.inner),
        "factor": one.factor,
        "parts": [{"lines": list(p.lines), "is_parallel": p.is_parallel} for p in one.parts],
        "expanded": list(one.expanded),
        "points": [str(point) for point in one.points],
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
    return {"iteration": dict(one.variables), **_place(one.place)}
