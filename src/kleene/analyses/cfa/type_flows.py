"""The types that expressions and variables begin with, and where they flow from there."""

from __future__ import annotations

import numpy as np

from kleene.analyses.cfa.builder import CONTINUATION, HIDDEN, INSTANCE, LAMBDA
from kleene.analyses.cfa.narrowing import Facts
from kleene.analyses.cfa.reach import Reach
from kleene.analyses.cfa.type_sets import ANY, BITS, OPEN, UNIONS, several, signatures, type_of
from kleene.base.arrays import I32, distinct
from kleene.ir.scheme import core as columns
from kleene.solvers.inclusion.problem import NONE


class Flows:
    """The types that rows and variables begin with, and where they flow from there.

    Nodes are the rows, then the variables. Edge e lets types `kept[e]` flow from `source[e]` to
    `target[e]`.
    """

    def __init__(self, reach: Reach, facts: list[Facts | None]) -> None:
        self._reach, self._system, self._index = reach, reach.system, reach.system.index
        core = self._core = reach.system.core
        self._n_rows = core.n_rows
        self._parts: list[tuple[I32, I32]] = []
        self.masks = np.zeros(core.n_rows + core.n_variables, np.int32)
        self._sizes = np.diff(core.operand_offsets)
        self._first = np.append(core.operands, NONE)[core.operand_offsets[:-1]]  # operand, or any
        self._globals()
        self._leaves()
        self._forms()
        self._primitive_calls()
        self._calls()
        source, target = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        kept = np.full(len(source), ANY, np.int32)
        self.source, self.target, self.kept = self._with_reads(source, target, kept, facts)

    def _with_reads(
        self, source: I32, target: I32, kept: I32, facts: list[Facts | None]
    ) -> tuple[I32, I32, I32]:
        """Return the edges with those from variables to the rows that read them."""
        rows = np.flatnonzero(self._core.kind == columns.VARIABLE).astype(np.int32)
        variables = self._core.reference[rows]
        narrowed = np.full(len(rows), ANY, np.int32)
        for number, (row, variable) in enumerate(
            zip(rows.tolist(), variables.tolist(), strict=True)
        ):
            if (told := facts[row]) is not None and variable in told:
                narrowed[number] = told[variable]
        return (
            np.concatenate([source, variables + self._n_rows]),
            np.concatenate([target, rows]),
            np.concatenate([kept, narrowed]),
        )

    def _flow(self, source: I32, target: I32) -> None:
        self._parts.append((source.astype(np.int32), target.astype(np.int32)))

    def _globals(self) -> None:
        """Let globals begin as primitives; text that is evaluated may give them any value."""
        core, variables = self._core, self.masks[self._n_rows :]
        is_global = core.owner == NONE
        is_open = not {"eval", "load"}.isdisjoint(core.primitives)
        variables[is_global & (core.starts_as != NONE)] = BITS["procedure"]
        variables[is_global & (is_open | ~core.is_defined & (core.starts_as == NONE))] = ANY

    def _leaves(self) -> None:
        core = self._core
        is_constant = core.kind == columns.CONSTANT
        of_constant = np.array([type_of(value) for value in core.constants] or [0], np.int32)
        self.masks[: self._n_rows][is_constant] = of_constant[core.reference[is_constant]]
        is_procedure = (core.kind == columns.LAMBDA) | (core.kind == columns.PRIMITIVE)
        self.masks[: self._n_rows][is_procedure] = BITS["procedure"]
        rest = (core.reference + core.n_bound - 1)[(core.kind == columns.LAMBDA) & core.has_rest]
        self.masks[self._n_rows + rest] |= UNIONS["list"]

    def _forms(self) -> None:
        """Let operands flow to what they are the value of, and to what they are bound to."""
        core, n_rows, operands = self._core, self._n_rows, self._core.operands
        parent = np.repeat(np.arange(n_rows, dtype=np.int32), self._sizes)
        place = np.arange(len(operands)) - core.operand_offsets[parent]
        kind, is_last = core.kind[parent], place == self._sizes[parent] - 1
        reference = core.reference[parent]
        is_let = np.array(self._index.is_let, np.bool_)[self._first[parent]] & (
            kind == columns.CALL
        )
        is_value = (kind == columns.IF) & (place > 0) | (kind == columns.SEQUENCE) & is_last
        is_value |= (kind == columns.LETREC) & is_last
        self._flow(operands[is_value], parent[is_value])
        bound = (kind == columns.LETREC) & ~is_last
        self._flow(operands[bound], n_rows + (reference + place)[bound])
        given = (kind == columns.DEFINE) | (kind == columns.SET)
        self._flow(operands[given], n_rows + reference[given])
        passed = is_let & (place > 0)
        formal = core.reference[self._first[parent]] + place - 1
        self._flow(operands[passed], n_rows + formal[passed])
        lets = parent[is_let & (place == 0)]
        self._flow(self._first[self._first[lets]], lets)
        is_unknown = (core.kind == columns.DEFINE) | (core.kind == columns.SET)
        is_unknown |= (core.kind == columns.SEQUENCE) & (self._sizes == 0)
        self.masks[:n_rows][is_unknown] = ANY

    def _primitive_calls(self) -> None:
        core = self._core
        calls = np.flatnonzero(core.kind == columns.CALL)
        calls = calls[core.kind[self._first[calls]] == columns.PRIMITIVE]
        which = core.reference[self._first[calls]]
        results = [signatures().get(name, OPEN).result for name in core.primitives] or [0]
        self.masks[calls] = np.array(results, np.int32)[which]
        if "values" in core.primitives:
            calls = calls[which == core.primitives.index("values")]
            for row in calls.tolist():
                operands = self._index.below(row)[1:]
                self.masks[row] = 0 if len(operands) == 1 else several(len(operands))
            single = calls[self._sizes[calls] == 2]
            self._flow(core.operands[core.operand_offsets[single] + 1], single)

    def _calls(self) -> None:
        """Let arguments flow to formals and results back, by the calls that are known.

        Calls that primitives, evaluated text or code outside make pass arguments of any type.
        """
        s, core, n_rows = self._system, self._core, self._n_rows
        site, function = self._callees()
        is_written = (site < n_rows).copy()
        is_written[is_written] = core.kind[self._first[site[is_written]]] != columns.PRIMITIVE
        kind, which = s.function_kind[function], s.function_which[function]
        is_lambda = kind == LAMBDA
        self._pass_any(np.unique(which[is_lambda & ~is_written]))
        known = is_lambda & is_written
        self._pass(site[known], which[known])
        self._flow(self._first[which[known]], site[known])
        others = is_written & ~is_lambda & (kind != CONTINUATION)
        for at, what, number in zip(
            site[others].tolist(), kind[others].tolist(), which[others].tolist(), strict=True
        ):
            name = s.instances[number] if what == INSTANCE else ""
            self.masks[at] |= signatures().get(name, OPEN).result
        # A call that calls nothing fails, which is one finding: what comes behind has its own.
        calls = np.flatnonzero(core.kind == columns.CALL)
        is_let = np.array(self._index.is_let, np.bool_)[self._first[calls]]
        is_open = ~is_let & (core.kind[self._first[calls]] != columns.PRIMITIVE)
        self.masks[np.setdiff1d(calls[is_open], site)] = ANY

    def _callees(self) -> tuple[I32, I32]:
        """Return sites and what they may call, each lambda once, though in many contexts."""
        s, (call, function) = self._system, self._reach.solution.call_edges.T
        chosen = self._reach.fits & (s.function_kind[function] != HIDDEN)
        site = s.call_site[call[chosen]].astype(np.int64)
        site[site < 0] = np.iinfo(np.int32).max  # no call of the program
        first = _first_alike(s.function_kind, s.function_which)[function[chosen]]
        pairs = distinct(site << 32 | first)
        return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)

    def _pass_any(self, lambdas: I32) -> None:
        """Pass arguments of any type to lambdas; a rest stays a list."""
        formals, _, _ = self._fixed_formals(lambdas)
        self.masks[self._n_rows + formals] = ANY

    def _pass(self, sites: I32, lambdas: I32) -> None:
        formals, pair, place = self._fixed_formals(lambdas)
        operands = self._core.operands[self._core.operand_offsets[sites[pair]] + 1 + place]
        self._flow(operands, self._n_rows + formals)

    def _fixed_formals(self, lambdas: I32) -> tuple[I32, I32, I32]:
        """Return the formals of lambdas but for rests, whose each is, and which of them."""
        n_fixed = self._core.n_bound[lambdas] - self._core.has_rest[lambdas]
        pair = np.repeat(np.arange(len(lambdas), dtype=np.int32), n_fixed)
        place = np.arange(len(pair)) - (np.cumsum(n_fixed) - n_fixed)[pair]
        return self._core.reference[lambdas[pair]] + place.astype(np.int32), pair, place


def _first_alike(kind: I32, which: I32) -> I32:
    """Return for each function the first with the same kind and number: others are contexts."""
    keys = kind.astype(np.int64) << 32 | (which.astype(np.int64) & 0xFFFFFFFF)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    found: I32 = first[inverse].astype(np.int32)
    return found
