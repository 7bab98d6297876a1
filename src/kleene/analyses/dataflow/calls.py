"""Who passes what to whom: calls of functions that are defined here, and who else may call them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, Bools
from kleene.ir import Program
from kleene.ir.codes import CALLS, REPLACEABLE, Opcode


@dataclass(frozen=True, eq=False)
class Calls:
    """Calls of the program, resolved.

    Attributes:
        call: instructions, one row for each function that may be reached.
        function: functions that are defined here.
        is_open: per function, whether code outside may call it, with any arguments.
        may_return_any: per instruction, whether it is a call that may reach code outside.
        keeps_result: per function, whether callers may rely on its body: no linker replaces it.
        declared: pairs of a call and a function without a body that it may reach.
    """

    call: I64
    function: I64
    is_open: Bools
    may_return_any: Bools
    keeps_result: Bools
    declared: I64

    @classmethod
    def within_functions(cls, program: Program) -> Calls:
        """Return no calls at all: every function is open, every call may return anything."""
        n_functions = len(program.function_table)
        is_call = np.isin(program.instructions.opcode, list(CALLS))
        none, each = np.empty(0, np.int64), np.ones(n_functions, bool)
        return cls(none, none, each, is_call, each, none.reshape(0, 2))

    @classmethod
    def of(cls, program: Program, points_to: PointsToResult) -> Calls:
        """Return the calls that points-to resolved.

        A function is open if it is an entry, if its address has escaped, or if a model of the
        library calls it: then a rule has no call of the program, or is a callback.
        """
        system, solution = points_to.system, points_to.solution
        n_functions = len(program.function_table)
        is_defined = np.diff(program.function_table.block_offsets) > 0
        objects = system.problem.function_object
        allocation = system.locations.allocation[objects]
        rows = program.globals.function[system.allocations.site[allocation]].astype(np.int64)
        rows[system.allocations.kind[allocation] == AllocationKind.STATIC] = -1
        origin = system.origins.call.astype(np.int64)
        by_model = origin < 0
        by_model[system.callbacks.reshape(-1, 2)[:, 1]] = True
        by_model[system.virtual_callbacks.reshape(-1, 2)[:, 0]] = True
        rule, target = solution.call_edges[:, 0], rows[solution.call_edges[:, 1]]
        overriders = system.overriders.reshape(-1, 2)
        rule = np.concatenate([rule, overriders[:, 0]])
        target = np.concatenate([target, overriders[:, 1]])
        is_open = np.zeros(n_functions, bool)
        is_open[entries_of(program)] = True
        escaped = rows[solution.escaped[objects]]
        is_open[escaped[escaped >= 0]] = True
        called_back = target[by_model[rule]]
        is_open[called_back[called_back >= 0]] = True
        direct = system.direct_calls.reshape(-1, 2).astype(np.int64)
        call = np.concatenate([direct[:, 0], origin[rule]])
        function = np.concatenate([direct[:, 1], target])
        is_call = np.isin(program.instructions.opcode, list(CALLS))
        may_return_any = is_call.copy()
        may_return_any[call[call >= 0]] = False
        leaves = np.concatenate([np.zeros(len(direct), bool), by_model[rule]])
        leaves |= function < 0
        leaves[function >= 0] |= ~is_defined[function[function >= 0]]
        may_return_any[call[leaves & (call >= 0)]] = True
        outside = origin[solution.calls_outside]
        may_return_any[outside[outside >= 0]] = True
        may_return_any &= is_call
        keep = ~leaves & (call >= 0)
        keep[keep] &= program.instructions.opcode[call[keep]] != Opcode.OPAQUE
        pairs = np.unique(np.stack([call[keep], function[keep]], axis=1), axis=0)
        linkage = program.globals.linkage[program.function_table.value]
        keeps_result = ~np.isin(linkage, list(REPLACEABLE))
        is_declared = (call >= 0) & (function >= 0)
        is_declared[is_declared] = ~is_defined[function[is_declared]]
        declared = np.unique(np.stack([call[is_declared], function[is_declared]], axis=1), axis=0)
        return cls(pairs[:, 0], pairs[:, 1], is_open, may_return_any, keeps_result, declared)
