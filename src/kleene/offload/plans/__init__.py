"""Which steps does a generated program have, and which sections of arrays does it move?"""

from __future__ import annotations

from kleene.base.errors import SourceError
from kleene.codegen.plan import CannotError, Plan
from kleene.ir.loops.tree import Function
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.result import Analysed
from kleene.offload.plans.call import FallbackWarning, GeneratedFunction
from kleene.offload.plans.cost import chosen
from kleene.offload.plans.schedule import Scheduler

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
    facts = facts_of(analysed.table, analysed.conditions)
    try:
        return chosen(Scheduler(function, analysed, facts, n_axes).plan())
    except CannotError as error:
        return Scheduler(function, analysed, facts).sequential(str(error))


def generated(function: Function, analysed: Analysed) -> GeneratedFunction:
    """Return a function that can be called.

    Raises:
        SourceError: `kernels/not-generated`, something in it cannot be written.
    """
    try:
        made = GeneratedFunction(plan_of(function, analysed), analysed)
        assert made.c  # everything that it says can be written
        if made.plan.steps:
            assert made.cuda
            assert made.python
    except CannotError as error:
        message = f"'{function.name}' cannot be generated: {error}"
        raise SourceError(function.place, "kernels/not-generated", message) from None
    return made
