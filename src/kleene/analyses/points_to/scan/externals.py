"""Functions that the program calls and does not contain: modelled, or unknown."""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.library import Library, Model
from kleene.analyses.points_to.model import External
from kleene.analyses.points_to.scan.calls import CallTable
from kleene.analyses.points_to.scan.columns import Bits, Columns
from kleene.analyses.points_to.scan.functions import FunctionTable, state_outside
from kleene.analyses.points_to.scan.heap import Heap
from kleene.analyses.points_to.scan.models import Models, Sites
from kleene.analyses.points_to.scan.sheet import Sheet
from kleene.ir.codes import GlobalFlag
from kleene.solvers.inclusion import FROM_OUTSIDE, NONE, TO_OUTSIDE


class Externals:
    """Writes calls that leave the program."""

    def __init__(
        self, columns: Columns, sheet: Sheet, functions: FunctionTable, heap: Heap, models: Models
    ) -> None:
        self.columns, self.sheet, self.functions = columns, sheet, functions
        self.heap, self.models = heap, models

    def model_of(self, function: int, library: Library) -> Model | None:
        """Return the model that calls of a function follow, if any."""
        name = self.functions.name[function]
        inside = self.functions.is_defined[function]
        return library.override(name) if inside else library.find(name)

    def leaves(self, calls: CallTable, library: Library) -> Bits:
        """Return which calls are for certain of a function outside, or modelled by the user."""
        found = np.zeros(len(self.functions.name) + 1, bool)  # the last is for -1
        found[:-1] = ~self.functions.is_defined
        for function in np.unique(calls.function[calls.function >= 0]).tolist():
            found[function] |= self.model_of(function, library) is not None
        return found[calls.function]

    def state(self, calls: CallTable, library: Library) -> tuple[External, ...]:
        """Write the calls, and declared functions called by address; return who is called."""
        order = np.argsort(calls.function, kind="stable")
        n_functions = len(self.functions.name)
        starts = np.searchsorted(calls.function[order], np.arange(n_functions + 1))
        found = []
        for function in range(n_functions):
            is_called = starts[function] < starts[function + 1]
            if not is_called and self.functions.is_defined[function]:
                continue
            group = calls.only(order[starts[function] : starts[function + 1]])
            model = self.model_of(function, library)
            self._state(function, group, model)
            if is_called and not (self.functions.is_intrinsic[function] and model is not None):
                name = self.functions.name[function]
                found.append(External(name, model is not None, len(group)))
        return tuple(sorted(found, key=lambda e: (e.is_modelled, -e.n_calls, e.name)))

    def _state(self, function: int, group: CallTable, model: Model | None) -> None:
        program = self.columns.program
        value = int(program.function_table.value[function])
        is_taken = program.globals.flags[value] & GlobalFlag.ADDRESS_TAKEN
        if is_taken and not self.functions.is_defined[function]:
            self._stub(function, value, model)
        if not len(group):
            return
        if model is None:
            state_outside(self.columns, self.sheet, group)
            return
        site = self.columns.results(group.row)
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
            self.sheet.flag(taken[taken >= 0], TO_OUTSIDE)
            self.sheet.flag(result[result >= 0], FROM_OUTSIDE)
            return
        one, none = np.array([value]), np.array([NONE])
        arguments = self.columns.program.bases[2] + np.arange(first, end)
        shape = np.array([self.heap.shapes.raw(-1)])
        sites = Sites(
            *(value, none, one, result, np.array([0, end - first]), arguments, none, shape, none)
        )
        self.models.apply(model, sites)
