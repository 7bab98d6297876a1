"""Generated functions beside the C that they were generated from, with their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kleene.base import progress
from kleene.base.errors import SourceError
from kleene.base.files import read_file
from kleene.offload.plans.call import GeneratedFunction
from kleene.offload.plans.machine import Machine

if TYPE_CHECKING:
    from kleene.offload.kernels import KernelsResult


def beside(
    result: KernelsResult, sizes: Mapping[str, int], machine: Machine | None
) -> list[dict[str, Any]]:
    """Return the functions of a result as plain data: the C, the kernels, and their times.

    Args:
        result: the verdicts.
        sizes: values of scalar parameters by name; a function of which some are missing has no
            times, and `missing` names them.
        machine: whose speeds to take. The times are measured too if it was measured here.
    """
    found = []
    names = list(dict.fromkeys(one.table.function for one in result.functions))
    with progress.task("functions", len(names)) as advance:
        for name in names:
            try:
                found.append(_one(result.generated(name), sizes, machine))
            except SourceError as error:
                found.append({"function": name, "reason": error.message, "kernels": ""})
            advance(1)
    return found


def _one(
    made: GeneratedFunction, sizes: Mapping[str, int], machine: Machine | None
) -> dict[str, Any]:
    plan = made.plan
    line = min((one.place.line for one in plan.body), default=1)
    line = min([line, *(one.place.line for one in plan.parameters if one.place.line > 0)])
    told: dict[str, Any] = {
        "function": plan.function,
        "file": plan.file,
        "line": line,
        "source": _source(plan.file, line),
        "kernels": made.cuda if plan.steps else "",
        "reason": plan.reason,
        "missing": [],
        "no_times": "",
        "sizes": {},
        "predicted": None,
        "measured_s": None,
    }
    if not plan.steps:
        return told
    scalars = [one for one in plan.parameters if one.name not in plan.arrays]
    told["missing"] = [
        one.name for one in scalars if one.type.kind == "int" and one.name not in sizes
    ]
    if told["missing"]:
        return told
    told["sizes"] = {one.name: sizes[one.name] for one in scalars if one.name in sizes}
    try:
        predicted = made.predict(machine, **told["sizes"])
    except OverflowError as error:  # of launches, or of loops of the host
        told["no_times"] = str(error)
        return told
    told["predicted"] = {
        "kernels_s": predicted.kernels_s,
        "transfer_s": predicted.transfer_s,
        "core_s": predicted.core_s,
        "threads_s": predicted.threads_s,
        "pays": predicted.pays,
        "machine": predicted.machine.name,
        "is_measured": predicted.machine.is_measured,
        "kernels": [asdict(one) for one in predicted.kernels],
        "lines": predicted.lines(),
    }
    if machine is not None and machine.is_measured:
        try:
            told["measured_s"] = made.measured_s(**told["sizes"])
        except SourceError as error:
            told["no_times"] = error.message
    return told


def _source(file: str, first: int) -> str:
    """Return the lines of a function: to the next one that begins with a brace."""
    lines = read_file(file).decode(errors="replace").splitlines()[first - 1 :]
    ends = [n for n, one in enumerate(lines) if one.startswith("}")]
    return "\n".join(lines[: ends[0] + 1 if ends else len(lines)])
