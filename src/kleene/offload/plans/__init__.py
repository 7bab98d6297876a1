"""Which steps does a generated program have, and which sections of arrays does it move?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kleene.base.errors import SourceError
from kleene.base.expression import ZERO, of
from kleene.codegen.plan import (
    CannotError,
    Given,
    HostLoop,
    Kernel,
    Plan,
    Reduction,
    Section,
    all_steps,
)
from kleene.ir.loops.tree import Function, Unit
from kleene.offload.kernels.dependences import facts_of
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import verdicts_of
from kleene.offload.plans.call import FallbackWarning, GeneratedFunction
from kleene.offload.plans.expanded import expanded
from kleene.offload.plans.in_place import in_place
from kleene.offload.plans.mappings import chosen
from kleene.offload.plans.normal_form import normalised
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


def generated(
    function: Function, analysed: Analysed, functions: Mapping[str, Function]
) -> GeneratedFunction:
    """Return a function that can be called; it may call `functions` by their names.

    Raises:
        SourceError: `kernels/not-generated`, something in it cannot be written.
    """
    try:
        return _generated(function, analysed, functions)
    except CannotError as error:
        message = f"'{function.name}' cannot be generated: {error}"
        raise SourceError(function.place, "kernels/not-generated", message) from None


def _generated(
    function: Function, analysed: Analysed, functions: Mapping[str, Function]
) -> GeneratedFunction:
    """Return the function as it is written, if all its loops become kernels; or normalised."""
    made, error = _tried(function, analysed)
    if made is not None and made.plan.steps and not any(True for _ in made.plan.host_nests()):
        return made
    other = None
    try:
        other = normalised(function, analysed, functions)
    except CannotError as refused:
        error = refused
    if other is not None:
        better, other_error = _tried(other.function, other.analysed, other.given)
        if better is not None and (made is None or _n_launches(better) > _n_launches(made)):
            return better
        error = other_error or error
    if made is not None:
        return made
    assert error is not None
    raise error


def _with_sizes(plan: Plan) -> Plan:
    """Return a plan that moves arrays of records and globals as a whole, if no formula says less.

    How many elements they have is said by the program.
    """
    known = {one.parameter: one.n_elements for one in plan.given}
    known |= {each.symbol: each.n_elements for one in plan.given for each in one.fields}
    arrays = dict(plan.arrays)
    for name, array in plan.arrays.items():
        n_elements, size = known.get(array.symbol), array.element.n_bytes
        if n_elements is None or size is None:
            continue
        whole = (Section(ZERO, of(n_elements * size)),)
        kept_in, kept_out = (
            found if found is not None and all(one.is_exact for one in found) else whole
            for found in (array.copy_in, array.copy_out)
        )
        copy_out = kept_out if array.is_written else array.copy_out
        arrays[name] = replace(array, copy_in=kept_in, copy_out=copy_out)
    return replace(plan, arrays=arrays)


def _n_launches(made: GeneratedFunction) -> int:
    return sum(isinstance(one, Reduction) or bool(one.axes) for one in made.plan.kernels())


def _tried(
    function: Function, analysed: Analysed, given: tuple[Given, ...] = ()
) -> tuple[GeneratedFunction | None, CannotError | None]:
    """Return a function if everything that it says can be written, or else why not."""
    try:
        plan = _with_sizes(replace(plan_of(function, analysed), given=given))
        made = GeneratedFunction(plan, analysed, plan_of)
        assert made.c
        if made.plan.steps:
            assert made.cuda
            assert made.python
    except CannotError as error:
        return None, error
    return made, None
