"""Why checks of a whole program are open: the bound that each lacks, and where that was lost first.

A check lacks one bound of one operand: that a pointer is not 0, that an offset has an upper end,
that an object has at least so many bytes. `losses` follows it to its origin, through memory and
calls, and `origin_texts` says that in words.

    p[i] = 0;                 the offset of p[i] has no upper end
    i = q->n                  as i has none
    q->n = n                  which is read from where main.c:9 stores n
    n = read_number()         of which nothing is known: the origin

Nothing is computed before somebody asks; then it is for all checks at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kleene.analyses.dataflow.refinements import PREDICATE
from kleene.analyses.invariants.checks import CheckKind, Origin
from kleene.analyses.invariants.whole.losses import Bound, Losses
from kleene.analyses.invariants.whole.origin_texts import End, OriginTexts, System
from kleene.analyses.invariants.whole.pointers import pointer_names
from kleene.analyses.invariants.whole.sites import FAILS, KINDS, MAY_FAIL
from kleene.base.arrays import I64, Bools
from kleene.ir.codes import Opcode, ValueKind
from kleene.solvers.dataflow import SWAPPED, Predicate, ValueFacts

if TYPE_CHECKING:
    from kleene.analyses.invariants.whole import WholeRun

_LARGE = 1 << 40
_MANY = 1 << 30  # bytes: a count that nothing bounds
_SIGNS = {
    Predicate.EQ: "==", Predicate.NE: "!=", Predicate.ULT: "<", Predicate.ULE: "<=",
    Predicate.UGT: ">", Predicate.UGE: ">=", Predicate.SLT: "<", Predicate.SLE: "<=",
    Predicate.SGT: ">", Predicate.SGE: ">=",
}  # fmt: skip
_LACKS = {  # what x lacks where `x P y` is not known
    Predicate.ULT: Bound.MOST, Predicate.ULE: Bound.MOST, Predicate.UGT: Bound.LEAST,
    Predicate.UGE: Bound.LEAST, Predicate.SLT: Bound.HIGH, Predicate.SLE: Bound.HIGH,
    Predicate.SGT: Bound.LOW, Predicate.SGE: Bound.LOW, Predicate.NE: Bound.LEAST,
}  # fmt: skip
_LEAVES = (CheckKind.FREED, CheckKind.UNINITIALISED, CheckKind.CONVERSION)


class _Lacking(NamedTuple):
    """What a check lacks: a bound of a name in a system, or nothing of that kind (-1)."""

    system: int
    bound: int
    name: int


_NONE = _Lacking(-1, 0, -1)


class Causes:
    """The causes of the open checks of one run."""

    def __init__(self, run: WholeRun) -> None:
        self._run, self._context, self._checks = run, run.context, run.checks
        self._program, self._table = run.context.program, run.context.program.instructions
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._split = run.context.split
        self._texts = OriginTexts(run.context)
        self._facts = {
            System.VALUES: run.context.facts, System.OFFSETS: run.pointers.offset,
            System.SIZES: run.pointers.size,
        }  # fmt: skip

    # Answers

    def lost(self, check: int) -> str:
        """Return why a check, by its number in `Checks`, is open: a sentence with its place."""
        origin = self._origin(check)
        return f"{self._needed(check)} is not known: {origin.sentence}"

    def origins(self, wanted: Container[tuple[CheckKind, int]] | None = None) -> list[Origin]:
        """Return what leaves checks open, those that leave most first.

        Args:
            wanted: kinds and instructions of the checks to count; all if None.
        """
        kinds: dict[str, Counter[str]] = defaultdict(Counter)
        places: dict[str, tuple[str, int] | None] = {}
        checks = np.flatnonzero(self._is_open)
        if wanted is not None:
            columns = (self._checks.kind[checks].tolist(), self._checks.row[checks].tolist())
            pairs = zip(*columns, strict=True)
            checks = checks[np.array([(KINDS[kind], row) in wanted for kind, row in pairs], bool)]
        _, first, which = np.unique(
            self._keys(checks), axis=0, return_index=True, return_inverse=True
        )
        n_kinds = len(KINDS)
        counts = np.bincount(
            which.reshape(-1) * n_kinds + self._checks.kind[checks], minlength=len(first) * n_kinds
        ).reshape(-1, n_kinds)
        for check, of_kinds in zip(checks[first].tolist(), counts.tolist(), strict=True):
            end = self._origin(check)
            places.setdefault(end.group, end.place)
            for kind, n_checks in zip(KINDS, of_kinds, strict=True):
                if n_checks:
                    kinds[end.group][kind.value] += n_checks
        order = sorted(kinds, key=lambda one: (-kinds[one].total(), one))
        return [Origin(one, places[one], dict(sorted(kinds[one].items()))) for one in order]

    def _keys(self, checks: I64) -> I64:
        """Return rows that are alike for checks that have one origin."""
        found = np.zeros((len(checks), 5), np.int64)
        kind, row = self._checks.kind[checks].astype(np.int64), self._checks.row[checks]
        system, end, anchor = (column[checks] for column in self._ends)
        found[:, 0], found[:, 1], found[:, 2], found[:, 3] = -1, kind, row, system
        has_end = end >= 0
        found[has_end, 0] = 0
        found[has_end, 1], found[has_end, 2] = end[has_end], anchor[has_end]
        found[:, 4] = np.where(has_end & (anchor < 0), row, 0)
        storage = self._texts.storage_keys(row, self._checks.name[checks])
        is_load = self._table.opcode[row] == Opcode.LOAD
        of_storage = (kind == KINDS.index(CheckKind.FREED)) | is_load & (
            kind == KINDS.index(CheckKind.UNINITIALISED)
        )
        found[of_storage, 0] = -2
        found[of_storage, 2] = storage[of_storage]
        for one in System:  # what is read from the same storage
            losses = self._losses[one]
            mine = np.flatnonzero(has_end & (system == one) & (anchor >= 0))
            at = anchor[mine] % losses.n_names - self._first
            is_read = (at >= 0) & (at < len(self._table))
            is_read[is_read] = self._table.opcode[at[is_read]] == Opcode.LOAD
            is_read &= ~losses.widens[end[mine]]
            if one is System.VALUES:
                cells = self._context.values.cell_name
                is_read &= ~np.isin(end[mine] % losses.n_names, cells)
            found[mine[is_read], 0], found[mine[is_read], 1] = -3, 0
            unnamed = np.full(int(is_read.sum()), -1, np.int64)
            found[mine[is_read], 2] = self._texts.storage_keys(at[is_read], unnamed)
        return found

    @cached_property
    def _ends(self) -> tuple[I64, I64, I64]:
        """Of each check, the system of its origin, the node, and the nearest one with a place.

        The node is -1 where there is none.
        """
        n_checks = len(self._checks)
        system, bound, name = (np.full(n_checks, -1, np.int64) for _ in range(3))
        asked = {check: one for check, one in self._lacking.items() if one.system >= 0}
        rows = np.fromiter(asked, np.int64, len(asked))
        if len(rows):
            columns = np.array(list(asked.values()), np.int64).T
            system[rows], bound[rows], name[rows] = columns
        end, anchor = np.full(n_checks, -1, np.int64), np.full(n_checks, -1, np.int64)
        for one in (System.OFFSETS, System.SIZES, System.VALUES):
            mine, losses = np.flatnonzero(system == one), self._losses[one]
            end[mine], anchor[mine] = losses.origins(bound[mine], name[mine])
            if one is not System.VALUES:  # numbers go on among values
                at = end[mine] % losses.n_names
                goes_on = at < len(self._is_pointer)
                goes_on[goes_on] = ~self._is_pointer[at[goes_on]]
                goes_on &= losses.is_given(at)
                mine = mine[goes_on]
                system[mine], name[mine] = System.VALUES, at[goes_on]
                bound[mine] = end[mine] // losses.n_names
        return system, end, anchor

    @cached_property
    def _is_open(self) -> Bools:
        return np.isin(self._checks.verdict, (MAY_FAIL, FAILS))

    # What checks lack

    @cached_property
    def _lacking(self) -> dict[int, _Lacking]:
        """What each open check lacks."""
        found: dict[int, _Lacking] = {}
        kind, checks = self._checks.kind, self._checks
        for one in CheckKind:
            rows = np.flatnonzero(self._is_open & (kind == KINDS.index(one)))
            if one is CheckKind.NULL:
                made = self._all(rows, Bound.LEAST, checks.name[rows])
            elif one is CheckKind.DIVISION:
                made = self._all(rows, Bound.LEAST, self._operand(rows, 1))
            elif one is CheckKind.SHIFT:
                made = self._all(rows, Bound.MOST, self._operand(rows, 1))
            elif one is CheckKind.OVERFLOW:
                made = self._overflow(rows)
            elif one is CheckKind.BOUNDS:
                made = self._bounds(rows)
            elif one is CheckKind.ASSERT:
                made = {row: self._asserted(row) for row in rows.tolist()}
            else:
                made = dict.fromkeys(rows.tolist(), _NONE)
            found.update(made)
        return found

    def _all(self, rows: I64, bound: Bound, names: I64) -> dict[int, _Lacking]:
        pairs = zip(rows.tolist(), names.tolist(), strict=True)
        return {row: _Lacking(System.VALUES, bound, name) for row, name in pairs}

    def _operand(self, checks: I64, place: int) -> I64:
        at = self._table.offsets[self._checks.row[checks]] + place
        return self._split.operand[at].astype(np.int64)

    def _overflow(self, rows: I64) -> dict[int, _Lacking]:
        """The operand that is further from 0 on the side where the result is too large."""
        facts = self._context.facts
        left, right = self._operand(rows, 0), self._operand(rows, 1)
        opcode = self._table.opcode[self._checks.row[rows]]
        a_low, a_high, b_low, b_high = (
            column.astype(np.float64)
            for column in (facts.low[left], facts.high[left], facts.low[right], facts.high[right])
        )
        is_difference, is_sum = opcode == Opcode.SUB, opcode == Opcode.ADD
        b_low, b_high = (
            np.where(is_difference, -b_high, b_low), np.where(is_difference, -b_low, b_high),
        )  # fmt: skip
        is_above = np.where(is_sum | is_difference, a_high + b_high >= -(a_low + b_low), True)
        is_left = np.where(is_above, a_high >= b_high, a_low <= b_low)
        is_product = ~is_sum & ~is_difference
        far_a, far_b = np.maximum(a_high, -a_low), np.maximum(b_high, -b_low)
        is_left = np.where(is_product, far_a >= far_b, is_left) | (opcode == Opcode.SHL)
        is_above = np.where(
            is_product, np.where(is_left, a_high >= -a_low, b_high >= -b_low), is_above
        )
        is_left |= np.isin(opcode, (Opcode.SDIV, Opcode.SREM))
        is_above &= ~np.isin(opcode, (Opcode.SDIV, Opcode.SREM))
        is_high = is_above ^ (is_difference & ~is_left)
        name = np.where(is_left, left, right)
        bound = np.where(is_high, Bound.HIGH, Bound.LOW)
        columns = zip(rows.tolist(), bound.tolist(), name.tolist(), strict=True)
        return {row: _Lacking(System.VALUES, one, which) for row, one, which in columns}

    def _bounds(self, rows: I64) -> dict[int, _Lacking]:
        """The lower end of the offset, the number of bytes, the size, or the offset's upper end."""
        offset, size = self._facts[System.OFFSETS], self._facts[System.SIZES]
        name, n_bytes = self._checks.name[rows], self._checks.n_bytes[rows]
        count = self._checks.count[rows]
        is_counted = (count >= 0) & ((n_bytes < 0) | (n_bytes >= _MANY))
        low, least = offset.low[name], size.low[name]
        is_in_front = ~offset.has_value[name] | (low < 0)
        is_unmeasured = (n_bytes < 0) & ~is_counted & ~is_in_front
        is_small = ~size.has_value[name] | (least < np.minimum(n_bytes, _LARGE)) | (least <= 0)
        system = np.select(
            [is_in_front, is_counted, is_unmeasured, is_small],
            [System.OFFSETS, System.VALUES, -1, System.SIZES], System.OFFSETS,
        )  # fmt: skip
        bound = np.select(
            [is_in_front, is_counted, is_small], [Bound.LOW, Bound.MOST, Bound.LOW], Bound.HIGH
        )
        about = np.where(~is_in_front & is_counted, count, name)
        columns = (rows, system, bound, about)
        return {
            row: _Lacking(*rest)
            for row, *rest in zip(*(one.tolist() for one in columns), strict=True)
        }

    def _asserted(self, check: int) -> _Lacking:
        found = self._comparison(check)
        if found is None:
            name = int(self._checks.name[check])
            return _Lacking(System.VALUES, Bound.LEAST, name) if name >= 0 else _NONE
        row, predicate = found
        at = int(self._table.offsets[row])
        left, right = self._split.operand[at : at + 2].tolist()
        if left < self._program.bases[ValueKind.ARGUMENT]:
            left, right, predicate = right, left, Predicate(SWAPPED[predicate])
        facts = self._context.facts
        if predicate is Predicate.EQ:
            bound = Bound.HIGH if facts.high[left] > facts.high[right] else Bound.LOW
        elif predicate is Predicate.NE and facts.least[right] != 0:
            bound = Bound.HIGH
        else:
            bound = _LACKS[predicate]
        if not self._context.values.width[self._table.operands[at]]:
            return _NONE
        return _Lacking(System.VALUES, bound, left)

    def _comparison(self, check: int) -> tuple[int, Predicate] | None:
        """Return the comparison that has to hold for a check to be passed, and how."""
        name = int(self._checks.name[check])
        if name >= 0:
            value, holds = int(self._split.value_of(np.array([name]))[0]), True
        else:
            found = self._branch(int(self._table.block[self._checks.row[check]]))
            if found is None:
                return None
            value, holds = found[0], not found[1]
        for _ in range(8):
            row = value - self._first
            if row < 0:
                return None
            opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
            if opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.FREEZE):
                value = operands[0]
                continue
            if opcode != Opcode.ICMP or PREDICATE[self._table.sub[row]] < 0:
                return None
            predicate = Predicate(int(PREDICATE[self._table.sub[row]]) ^ (not holds))
            inner = operands[0] - self._first
            is_test = self._context.facts.most[operands[1]] == 0 and inner >= 0
            if is_test and self._table.opcode[inner] in (Opcode.ZEXT, Opcode.ICMP):
                value, holds = operands[0], predicate is Predicate.NE
                continue
            return row, predicate
        return None

    def _branch(self, block: int) -> tuple[int, bool] | None:
        """Return the condition of the last branch that every way to a block passes, and its value.

        None if it is not one of two ways.
        """
        flow = self._split.flow
        n_blocks, node = flow.blocks.n_nodes, block
        sources, targets = flow.blocks.edges()
        while (parent := int(flow.tree.idom[node])) >= 0 and parent != node:
            if parent >= n_blocks:
                source, target = int(sources[parent - n_blocks]), int(targets[parent - n_blocks])
                last = int(self._program.blocks.instruction_offsets[source + 1]) - 1
                operands = self._table.operands_of(last).tolist()
                if self._table.opcode[last] == Opcode.BR and len(operands) == 3:
                    is_first = operands[1] - self._program.bases[ValueKind.BLOCK] == target
                    return operands[0], is_first
            node = parent
        return None

    # Origins

    @cached_property
    def _losses(self) -> dict[int, Losses]:
        """The origins in each system; what is asked of values comes from the other two as well."""
        asked: dict[int, list[int]] = {one: [] for one in System}
        for one in self._lacking.values():
            if one.system >= 0:
                asked[one.system].append(one.name)
        found: dict[int, Losses] = {}
        n_values = self._context.values.constraints.n_names
        is_pointer = pointer_names(self._context)
        for system in (System.OFFSETS, System.SIZES, System.VALUES):
            facts = self._facts[system]
            made = found[system] = self._losses_of(system, facts, np.array(asked[system], np.int64))
            names = made.end_names
            numbers = names[names < n_values]
            asked[System.VALUES] += numbers[~is_pointer[numbers]].tolist()
        self._is_pointer = is_pointer
        return found

    def _losses_of(self, system: System, facts: ValueFacts, names: I64) -> Losses:
        constraints = facts.constraints
        has_place = np.zeros(constraints.n_names, bool)
        n_names = self._split.n_names
        values = self._split.value_of(np.arange(n_names))
        is_local = values >= self._program.bases[ValueKind.INSTRUCTION]
        first = self._program.bases[ValueKind.ARGUMENT]
        is_local |= (values >= first) & (values < self._program.bases[ValueKind.BLOCK])
        has_place[:n_names] = is_local
        if system is System.VALUES:
            has_place[self._context.values.written_name] = True
        return Losses(constraints, facts, has_place, n_names, names)

    def _origin(self, check: int) -> End:
        """Return the origin of a check, in words."""
        lacking = self._lacking[check]
        kind = KINDS[int(self._checks.kind[check])]
        row, name = int(self._checks.row[check]), int(self._checks.name[check])
        if kind in _LEAVES or lacking.system < 0:
            return self._texts.of_check(kind, row, name)
        system, end, anchor = (int(column[check]) for column in self._ends)
        return self._texts.of(System(system), end, anchor, lacking.name, self._losses[system], row)

    # What is needed

    def _needed(self, check: int) -> str:
        kind = KINDS[int(self._checks.kind[check])]
        lacking, row = self._lacking[check], int(self._checks.row[check])
        if kind in _LEAVES or (kind is CheckKind.BOUNDS and lacking.system < 0):
            words = {
                CheckKind.FREED: "that the storage is still there",
                CheckKind.UNINITIALISED: "that it was written",
                CheckKind.CONVERSION: "that it fits",
            }
            return words.get(kind, "the number of bytes")
        if kind is CheckKind.ASSERT:
            return self._asserted_text(check)
        if kind is CheckKind.BOUNDS:
            n_bytes = int(self._checks.n_bytes[check])
            if lacking.system == System.VALUES:
                return f"an upper bound of {self._texts.named(lacking.name, 'the number of bytes')}"
            if lacking.system == System.OFFSETS and lacking.bound == Bound.LOW:
                return "0 <= offset"
            size = self._facts[System.SIZES].low[lacking.name]
            is_known = lacking.system == System.OFFSETS and 0 <= n_bytes <= size < _LARGE
            return f"offset <= {size - n_bytes}" if is_known else f"offset + {n_bytes} <= size"
        default = {
            CheckKind.NULL: "", CheckKind.DIVISION: "the divisor",
            CheckKind.SHIFT: "the shift",
        }.get(kind, "the operand")  # fmt: skip
        called = self._texts.named(lacking.name, default)
        if not called:
            return "that the pointer is not null"
        if kind is CheckKind.SHIFT:
            width = int(self._context.values.width[self._first + row])
            return f"{called} <= {width - 1}"
        if kind is CheckKind.OVERFLOW:
            return self._limit(row, lacking, called)
        return f"{called} != 0"

    def _limit(self, row: int, lacking: _Lacking, called: str) -> str:
        """Return the bound that an operand of a sum needs, if the other one has one."""
        facts = self._context.facts
        at, opcode = int(self._table.offsets[row]), int(self._table.opcode[row])
        names = self._split.operand[at : at + 2].tolist()
        half = 1 << int(self._context.values.width[self._first + row]) - 1
        other = names[1] if names[0] == lacking.name else names[0]
        low, high = int(facts.low[other]), int(facts.high[other])
        is_high = lacking.bound == Bound.HIGH
        if opcode == Opcode.SUB and lacking.name == names[0]:
            low, high = -high, -low
        limit = half - 1 - high if is_high else -half - low
        is_sum = opcode in (Opcode.ADD, Opcode.SUB) and names[0] != names[1]
        is_sum &= opcode == Opcode.ADD or lacking.name == names[0]
        if not is_sum or abs(limit) < half >> 4:
            return f"{'an upper' if is_high else 'a lower'} bound of {called}"
        return f"{called} <= {limit}" if is_high else f"{limit} <= {called}"

    def _asserted_text(self, check: int) -> str:
        found = self._comparison(check)
        if found is None:
            return "the condition"
        row, predicate = found
        at = int(self._table.offsets[row])
        left, right = (
            self._texts.named(one, "a value") for one in self._split.operand[at : at + 2].tolist()
        )
        return f"{left} {_SIGNS[predicate]} {right}"
