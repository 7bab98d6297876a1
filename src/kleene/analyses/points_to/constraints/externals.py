"""Functions that the program calls and does not contain: modelled, or unknown."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.calls import CallTable
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import FunctionTable, generate_outside
from kleene.analyses.points_to.constraints.heap import Heap
from kleene.analyses.points_to.constraints.models import Models, Sites
from kleene.analyses.points_to.library import Model
from kleene.analyses.points_to.memory_model import External
from kleene.base.arrays import I64, Bools
from kleene.ir.codes import GlobalFlag
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE


class Externals:
    """Writes calls that leave the program."""

    def __init__(
        self,
        columns: Columns,
        builder: PointerBuilder,
        functions: FunctionTable,
        heap: Heap,
        models: Models,
    ) -> None:
        self.columns, self.builder, self.functions = columns, builder, functions
        self.heap, self.models = heap, models

    def leaves(self, calls: CallTable) -> Bools:
        """Return which calls are for certain of a function outside, or modelled by the user."""
        is_modelled = [model is not None for model in self.functions.model]
        found = np.append(~self.functions.is_defined | is_modelled, False)  # the last is for -1
        return found[calls.function]

    def generate(self, calls: CallTable) -> tuple[External, ...]:
        """Write the calls, and declared functions called by address; return who is called."""
        functions = self.functions
        is_modelled = np.array([model is not None for model in functions.model], bool)
        generate_outside(self.columns, self.builder, calls.only(~is_modelled[calls.function]))
        counts = np.bincount(calls.function, minlength=len(functions.name))
        order, ends = np.argsort(calls.function, kind="stable"), np.cumsum(counts)
        for function in np.flatnonzero((counts > 0) | ~functions.is_defined).tolist():
            own = order[ends[function] - counts[function] : ends[function]]
            self._generate(function, calls, own)
        shown = np.flatnonzero((counts > 0) & ~(functions.is_intrinsic & is_modelled)).tolist()
        found = [External(functions.name[f], bool(is_modelled[f]), int(counts[f])) for f in shown]
        return tuple(sorted(found, key=lambda e: (e.is_modelled, -e.n_calls, e.name)))

    def _generate(self, function: int, calls: CallTable, own: I64) -> None:
        """Write a function that is outside or modelled, and its own calls if it is modelled."""
        program, model = self.columns.program, self.functions.model[function]
        value = int(program.function_table.value[function])
        is_taken = program.globals.flags[value] & GlobalFlag.ADDRESS_TAKEN
        if is_taken and not self.functions.is_defined[function]:
            self._stub(function, value, model)
        if model and len(own):
            self._apply(model, value, calls.only(own))

    def _apply(self, model: Model, value: int, group: CallTable) -> None:
        """Write what calls of a function do, as a model has it."""
        program, site = self.columns.program, self.columns.results(group.row)
        sites = Sites(
            *(value, group.row, site, np.where(self.columns.tracked[site], site, NONE)),
            *(group.offsets, group.actuals),
            self.functions.variadic[program.instruction_function[group.row]],
            *(self.heap.shape_of(group.row), self.heap.n_bytes[group.row]),
        )
        self.models.apply(model, sites)

    def _stub(self, function: int, value: int, model: Model | None) -> None:
        """Write what a function from outside does when it is called by its address."""
        table, functions = self.columns.program.function_table, self.functions
        first, end = table.argument_offsets[function : function + 2].tolist()
        result = functions.result[[function]]
        if model is None:
            taken = np.append(functions.formal[first:end], functions.rest[function])
            self.builder.flag(taken[taken >= 0], TO_OUTSIDE)
            self.builder.flag(result[result >= 0], FROM_OUTSIDE)
            return
        one, none = np.array([value]), np.array([NONE])
        arguments = self.columns.program.bases[2] + np.arange(first, end)
        shape = np.array([self.heap.shapes.raw(-1)])
        sites = Sites(
            *(value, none, one, result, np.array([0, end - first]), arguments, none, shape, none)
        )
        self.models.apply(model, sites)
