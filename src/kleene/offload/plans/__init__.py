"""Which steps does a generated program have, and which sections of arrays does it move?"""

from __future__ import annotations

from dataclasses import replace

from kleene.base.errors import SourceError
from kleene.codegen.plan import CannotError, HostLoop, Kernel, Plan, all_steps
from kleene.ir.loops.tree import Function, Unit
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import verdicts_of
from kleene.offload.plans.call import FallbackWarning, GeneratedFunction
from kleene.offload.plans.expanded import expanded
from kleene.offload.plans.in_place import in_place
from kleene.offload.plans.mappings import chosen
from kleene.offload.plans.schedule import Scheduler, check_written
from kleene.transforms.loops import tables

__all__ = ["CannotError", "FallbackWarning", "GeneratedFunction", "generated", "plan_of"]


def plan_of(function: Function, analysed: Analysed, *, n_axes: int = 3) -> Plan:
    """Return the plan of a function; one without steps has the reason why not.

    Args:
        function: its tree.
        analysed: the verdicts on its loops.
        n_axes: how many loops of a nest may be on the grid.

    Raises:
        CannotError: something in the function cannot be written at all.
    """
    check_written(function)
    facts = facts_of(analysed.table, analysed.conditions)
    try:
        plan = Scheduler(function, analysed, facts, n_axes).plan()
    except CannotError as error:
        return Scheduler(function, analysed, facts).sequential(str(error))
    if _has_host_loop(plan):
        for changed in (in_place(function, facts), expanded(function, analysed)):
            other = None if changed is None else _planned(changed, analysed, n_axes)
            if other is not None and _most_axes(other) > _most_axes(plan):
                given = {name: one for name, one in plan.arrays.items() if one.extent is None}
                plan = replace(other, body=plan.body, arrays={**other.arrays, **given})
    return chosen(plan)


def _planned(changed: Function, analysed: Analysed, n_axes: int) -> Plan | None:
    """Return the plan of a function in another form, if there is one."""
    (table,) = tables(Unit(changed.place.file, (changed,)))
    verdicts = tuple(verdicts_of(table, analysed.conditions))
    reanalysed = replace(analysed, table=table, verdicts=verdicts)
    again = facts_of(table, analysed.conditions)
    try:
        return Scheduler(changed, reanalysed, again, n_axes).plan()
    except CannotError:
        return None


def _has_host_loop(plan: Plan) -> bool:
    return any(isinstance(one, HostLoop) for one in all_steps(plan.steps))


def _most_axes(plan: Plan) -> int:
    return max((len(one.axes) for one in plan.kernels() if isinstance(one, Kernel)), default=0)


def generated(function: Function, analysed: Analysed) -> GeneratedFunction:
    """Return a function that can be called.

    Raises:
        SourceError: `kernels/not-generated`, something in it cannot be written.
    """
    try:
        made = GeneratedFunction(plan_of(function, analysed), analysed, plan_of)
        assert made.c  # everything that it says can be written
        if made.plan.steps:
            assert made.cuda
            assert made.python
    except CannotError as error:
        message = f"'{function.name}' cannot be generated: {error}"
        raise SourceError(function.place, "kernels/not-generated", message) from None
    return made
