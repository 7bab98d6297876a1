"""The constraints on all values of a program: instruction by instruction, a column at a time.

Names are numbered so:

    values of the program (a block's has a value if control reaches it)
    new names of live-range splitting
    edges of the control-flow graph
    helpers: facts behind branches, results of functions, memory

An edge that is the only one out of its block has the block's name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kleene.analyses.dataflow.call_sites import Names, by_call_site
from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.memory import UNDEFINED, UNKNOWN, ZERO, Cells, byte_of
from kleene.analyses.dataflow.refinements import PREDICATE, Refinements, refinements, switch_cases
from kleene.base.arrays import I64, Bools, Ints, csr, distinct, offsets_of, ragged
from kleene.ir import Program
from kleene.ir import codes as ir
from kleene.ir.codes import (
    ArgumentFlag,
    ConstantKind,
    GlobalKind,
    Linkage,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.solvers.dataflow import (
    ConstraintBuilder,
    Constraints,
    Flag,
    Operator,
    Predicate,
    ValueFact,
    packed,
)
from kleene.transforms.splitting import NameKind, SplitProgram
from kleene.transforms.splitting.program import phi_edges

_ARITHMETIC = {
    Opcode.ADD: Operator.ADD, Opcode.SUB: Operator.SUBTRACT, Opcode.MUL: Operator.MULTIPLY,
    Opcode.UDIV: Operator.UNSIGNED_DIVIDE, Opcode.SDIV: Operator.SIGNED_DIVIDE,
    Opcode.UREM: Operator.UNSIGNED_REMAINDER, Opcode.SREM: Operator.SIGNED_REMAINDER,
    Opcode.SHL: Operator.SHIFT_LEFT, Opcode.LSHR: Operator.SHIFT_RIGHT,
    Opcode.ASHR: Operator.SHIFT_RIGHT_SIGNED, Opcode.AND: Operator.AND, Opcode.OR: Operator.OR,
    Opcode.XOR: Operator.XOR,
}  # fmt: skip
_CASTS = {
    Opcode.TRUNC: Operator.TRUNCATE, Opcode.ZEXT: Operator.ZERO_EXTEND,
    Opcode.SEXT: Operator.SIGN_EXTEND,
}  # fmt: skip
_BITWISE = (Opcode.AND, Opcode.OR, Opcode.XOR)
# What hands on words of which only bits are defined, until a bitwise operation looks at them.
_PASS_PARTS = (
    Opcode.PHI, Opcode.SELECT, Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL, Opcode.LSHR,
    Opcode.ASHR, *_CASTS,
)  # fmt: skip
_SAME = (Opcode.BITCAST, Opcode.PTRTOINT, Opcode.INTTOPTR, Opcode.PTRTOADDR)
_INTRINSICS = {
    b"llvm.umin.": Operator.UNSIGNED_MIN, b"llvm.umax.": Operator.UNSIGNED_MAX,
    b"llvm.smin.": Operator.SIGNED_MIN, b"llvm.smax.": Operator.SIGNED_MAX,
}  # fmt: skip
_COUNTS = (b"llvm.ctpop.", b"llvm.ctlz.", b"llvm.cttz.")
_NUMBER, _ANY_VALUE, _NO_VALUE = range(3)


@dataclass(frozen=True, eq=False)
class ValueConstraints:
    """The constraints of a program, and what their names stand for.

    Attributes:
        split: the program with its names.
        constraints: the table.
        width: of each value, in bits; 0 where nothing is said about it.
        edge_name: of each edge of the control-flow graph.
        result_name: of each function's result; -1 for a declaration.
    """

    split: SplitProgram
    constraints: Constraints
    width: I64
    edge_name: I64
    result_name: I64


class Generator:
    """Writes the constraints of one program."""

    def __init__(
        self,
        split: SplitProgram,
        calls: Calls,
        cells: Cells | None,
        *,
        trusts_flags: bool,
        context: int = 0,
    ) -> None:
        self.split, self.calls, self.trusts_flags = split, calls, trusts_flags
        self.cells, self.context = cells, context
        self._shared: dict[tuple[int, int, int], int] = {}
        self.program: Program = split.program
        self.table = self.program.instructions
        self.build = ConstraintBuilder()
        self.build.names(split.n_names)
        self.width = widths_of(self.program)
        self.bases = self.program.bases
        self.is_tracked = self.width > 0
        self.true, self.false = (int(name) for name in self.build.names(2))
        self.build.define([self.true], Operator.CONSTANT, attribute=-1)
        self.build.define([self.false], Operator.CONSTANT, attribute=0)

    def run(self) -> ValueConstraints:
        """Return the constraints."""
        self._start_with_any()
        self._globals_and_constants()
        self._returns()
        self._control()
        self._arithmetic()
        self._casts()
        self._others()
        self._phis()
        self._addresses()
        self._calls()
        first_shared = self.build.n_names
        self._memory()
        end_shared = self.build.n_names
        self._new_names()
        found = self.build.constraints()
        if self.context:
            is_shared = np.zeros(found.n_names, bool)
            is_shared[first_shared:end_shared] = True
            names = Names(
                self.split, self.edge_name, self.result_name, self.returns_name, self.end_name,
                self.width, is_shared,
            )  # fmt: skip
            found = by_call_site(found, names, self.calls)
        return ValueConstraints(self.split, found, self.width, self.edge_name, self.result_name)

    # What most constraints need

    def rows(self, *opcodes: Opcode) -> I64:
        """Return the instructions with one of some opcodes whose result is tracked."""
        chosen = np.isin(self.table.opcode, opcodes)
        return np.flatnonzero(chosen & self.is_tracked[self.bases[ValueKind.INSTRUCTION] :])

    def name(self, rows: I64) -> I64:
        """Return the names of results."""
        return rows + self.bases[ValueKind.INSTRUCTION]

    def operand(self, rows: I64, place: int) -> I64:
        """Return the names of operands."""
        return self.split.operand[self.table.offsets[rows] + place].astype(np.int64)

    def operand_value(self, rows: I64, place: int) -> I64:
        """Return the values that operands are."""
        return self.table.operands[self.table.offsets[rows] + place].astype(np.int64)

    def define(self, rows: I64, operator: Ints | int, operands: I64, attribute: Ints | int) -> None:
        """Give the results of instructions their constraints."""
        width = self.width[self.name(rows)]
        self.build.define(self.name(rows), operator, operands, width=width, attribute=attribute)

    def block_name(self, blocks: Ints) -> I64:
        """Return the names that say whether control reaches blocks."""
        return blocks.astype(np.int64) + self.bases[ValueKind.BLOCK]

    # Values that are not computed

    def _start_with_any(self) -> None:
        values = np.arange(self.program.n_values)
        self.build.define(values, Operator.ANY, width=np.where(self.is_tracked, self.width, 64))

    def _globals_and_constants(self) -> None:
        program, table = self.program, self.program.globals
        can_be_null = (table.linkage == Linkage.EXTERN_WEAK) | (table.space != 0)
        can_be_null |= (table.kind == GlobalKind.ALIAS) | (table.kind == GlobalKind.IFUNC)
        is_function = table.kind == GlobalKind.FUNCTION
        n_zeros = np.where(is_function, 0, np.maximum(table.align.astype(np.int64) - 1, 0))
        for zeros in np.unique(n_zeros).tolist():
            chosen = np.flatnonzero(~can_be_null & (n_zeros == zeros))
            self._give(chosen, _not_zero(64, zeros))
        constants = program.constants
        value = np.arange(len(constants)) + self.bases[ValueKind.CONSTANT]
        tracked = self.is_tracked[value]
        is_number = (constants.kind == ConstantKind.INT) & (constants.flags & ir.Flag.WIDE == 0)
        is_zero = (constants.kind == ConstantKind.NULL) | (constants.kind == ConstantKind.ZERO)
        chosen = tracked & (is_number | is_zero)
        number = np.where(is_number, constants.payload, 0)
        width = self.width[value]
        shift = 64 - np.maximum(width, 1)
        number = (number << shift) >> shift
        self.build.define(
            value[chosen], Operator.CONSTANT, width=width[chosen], attribute=number[chosen]
        )
        # An address inside a global, by a constant expression.
        inside = tracked & (constants.kind == ConstantKind.EXPRESSION)
        inside &= (constants.opcode == Opcode.GETELEMENTPTR) & (
            constants.flags & ir.Flag.INBOUNDS != 0
        )
        rows = np.flatnonzero(inside)
        base = constants.operands[constants.offsets[rows]].astype(np.int64)
        is_global = base < len(table)
        rows, base = rows[is_global], base[is_global]
        known = ~can_be_null[base] & self.trusts_flags
        self._give(value[rows[known]], _not_zero(64, 0))

    def _give(self, names: Ints, fact: ValueFact) -> None:
        """Give names a fact."""
        if len(names):
            number = int(self.build.given(packed([fact]))[0])
            self.build.define(names, Operator.GIVEN, width=fact.width, attribute=number)

    # Control

    def _returns(self) -> None:
        """Control comes to the end of a block if it comes to the block and all calls in it return.

        A call returns if one of the functions that it reaches comes to a return; code outside may.
        Calls that end in an exception or a jump go on elsewhere: at an unwind edge or a `setjmp`.
        """
        program, calls = self.program, self.calls
        n_functions, n_blocks = len(program.function_table), len(program.blocks)
        self.end_name = self.block_name(np.arange(n_blocks))
        has_body = np.diff(program.function_table.block_offsets) > 0
        returns = np.full(n_functions, -1, np.int64)
        returns[has_body] = self.build.names(int(has_body.sum()))
        self.returns_name = returns
        usable = ~calls.may_return_any[calls.call] & calls.keeps_result[calls.function]
        spoiled = np.zeros(len(self.table), bool)
        spoiled[calls.call[~usable]] = True
        keep = ~spoiled[calls.call]
        call, function = calls.call[keep], calls.function[keep]
        rows, which = np.unique(call, return_inverse=True)
        offsets, order = csr(which, len(rows))
        function = function if order is None else function[order]
        counts = np.diff(offsets)
        returning = returns[function[offsets[:-1]]]
        several = np.flatnonzero(counts > 1)
        returning[several] = self.build.names(len(several))
        _, place = ragged(offsets[several], offsets[several + 1])
        self.build.define(
            returning[several], Operator.JOIN, returns[function[place]],
            offsets=offsets_of(counts[several]),
        )  # fmt: skip
        block = self.table.block[rows].astype(np.int64)
        offsets, order = csr(block, n_blocks)
        returning = returning if order is None else returning[order]
        counts = np.diff(offsets)
        with_calls = np.flatnonzero(counts > 0)
        begin = offsets_of(counts[with_calls] + 1)
        operands = np.empty(int(begin[-1]), np.int64)
        is_first = np.zeros(len(operands), bool)
        is_first[begin[:-1]] = True
        operands[is_first] = self.block_name(with_calls)
        operands[~is_first] = returning
        self.end_name[with_calls] = self.build.names(len(with_calls))
        self.build.define(self.end_name[with_calls], Operator.MEET, operands, offsets=begin)
        ends = np.flatnonzero(self.table.opcode == Opcode.RET)
        owner = program.instruction_function[ends].astype(np.int64)
        offsets, order = csr(owner, n_functions)
        ends = ends if order is None else ends[order]
        counts = np.diff(offsets)
        has = np.flatnonzero(has_body & (counts > 0))
        self.build.define(
            returns[has], Operator.JOIN, self.end_name[self.table.block[ends]],
            offsets=offsets_of(counts[has]),
        )  # fmt: skip
        never = returns[has_body & (counts == 0)]
        self.build.define(never, Operator.NOTHING)

    def _control(self) -> None:
        """Blocks are reached along edges, or by calls; edges if their condition may hold."""
        program, flow = self.program, self.split.flow
        sources, _ = flow.blocks.edges()
        last = program.blocks.instruction_offsets[1:].astype(np.int64) - 1
        opcode = self.table.opcode[last] if len(last) else np.empty(0, np.uint8)
        n_operands = np.diff(self.table.offsets)[last] if len(last) else np.empty(0, np.int64)
        self.edge_name = self.end_name[sources]
        first_edge = flow.blocks.offsets
        invokes = np.flatnonzero(opcode == Opcode.INVOKE)
        unwinds = first_edge[invokes] + 1  # the second way out is taken without a return
        self.edge_name[unwinds] = self.block_name(invokes)
        branches = np.flatnonzero((opcode == Opcode.BR) & (n_operands == 3))
        condition = self.operand(last[branches], 0)
        for nth, number in ((0, -1), (1, 0)):
            names = self.build.names(len(branches))
            self.edge_name[first_edge[branches] + nth] = names
            pairs = np.stack([self.end_name[branches], condition], axis=1)
            self.build.define(names, Operator.WHEN, pairs, attribute=number)
        self._switches(np.flatnonzero(opcode == Opcode.SWITCH), last)
        offsets, edges = flow.incoming
        names = self.block_name(np.arange(len(program.blocks)))
        has_edge = np.diff(offsets) > 0
        self.build.define(
            names[has_edge], Operator.JOIN, self.edge_name[edges],
            offsets=offsets_of(np.diff(offsets)[has_edge]),
        )  # fmt: skip
        self.build.define(names[~has_edge], Operator.NOTHING)
        self._entries()

    def _switches(self, blocks: I64, last: I64) -> None:
        constants, first = self.program.constants, self.bases[ValueKind.CONSTANT]
        blocks = blocks[self.is_tracked[self.operand_value(last[blocks], 0)]]
        value, here = self.operand(last[blocks], 0), self.end_name[blocks]
        which, edge, case = switch_cases(self.program, self.split.flow, blocks)
        names = self.build.names(len(case))
        self.edge_name[edge] = names
        pairs = np.stack([here[which], value[which]], axis=1)
        payload = constants.payload[case - first]
        self.build.define(names, Operator.WHEN, pairs, attribute=payload)
        offsets = offsets_of(2 + np.bincount(which, minlength=len(blocks)))
        operands = np.empty(int(offsets[-1]), np.int64)
        is_case = np.ones(len(operands), bool)
        is_case[offsets[:-1]] = is_case[offsets[:-1] + 1] = False
        operands[offsets[:-1]], operands[offsets[:-1] + 1] = here, value
        operands[is_case] = case
        others = self.build.names(len(blocks))
        self.edge_name[self.split.flow.blocks.offsets[blocks]] = others
        self.build.define(others, Operator.WHEN_OTHER, operands, offsets=offsets)

    def _entries(self) -> None:
        """The first block of a function is reached if code outside calls it, or a call here is."""
        table, calls = self.program.function_table, self.calls
        entry = table.block_offsets[:-1].astype(np.int64)
        has_body = np.diff(table.block_offsets) > 0
        self.build.define(
            self.block_name(entry[calls.is_open & has_body]), Operator.CONSTANT, attribute=-1
        )
        closed = ~calls.is_open[calls.function]
        caller = self.block_name(self.table.block[calls.call[closed]])
        function = calls.function[closed]
        offsets, order = csr(function, len(has_body))
        caller = caller if order is None else caller[order]
        counts = np.diff(offsets)
        called = has_body & ~calls.is_open & (counts > 0)
        self.build.define(
            self.block_name(entry[called]),
            Operator.JOIN,
            caller,
            offsets=offsets_of(counts[called]),
        )

    # Instructions

    def _arithmetic(self) -> None:
        operators = np.zeros(len(Opcode), np.int64)
        operators[list(_ARITHMETIC)] = list(_ARITHMETIC.values())
        rows = self.rows(*_ARITHMETIC)
        pairs = np.stack([self.operand(rows, 0), self.operand(rows, 1)], axis=1)
        self._freeze_parts(rows, pairs)
        flags = np.zeros(len(rows), np.int64)
        if self.trusts_flags:
            given = self.table.flags[rows]
            flags |= np.where(given & ir.Flag.NUW, int(Flag.NUW), 0)
            flags |= np.where(given & ir.Flag.NSW, int(Flag.NSW), 0)
            flags |= int(Flag.IN_RANGE)
        self.define(rows, operators[self.table.opcode[rows]], pairs, flags)
        rows = np.flatnonzero(self.table.opcode == Opcode.ICMP)
        predicate = PREDICATE[self.table.sub[rows]]
        known = self.is_tracked[self.operand_value(rows, 0)] & (predicate >= 0)
        known &= self.is_tracked[self.name(rows)]
        rows, predicate = rows[known], predicate[known]
        pairs = np.stack([self.operand(rows, 0), self.operand(rows, 1)], axis=1)
        self.define(rows, Operator.COMPARE, pairs, predicate)

    def _freeze_parts(self, rows: I64, pairs: I64) -> None:
        """Let operands of `and`, `or` and `xor` be any value where they may be undefined in part.

        A bit-field of a struct that has no value yet is set by reading its word, clearing the
        field's bits, setting them and storing the word: `(undefined & ~255) | 3` is 3 in its low
        byte. Words of which only bits are undefined are those that are loaded and stored back by
        one function, and what is computed in registers from an undefined constant.
        """
        chosen = np.flatnonzero(np.isin(self.table.opcode[rows], _BITWISE))
        values = np.stack([self.operand_value(rows[chosen], k) for k in (0, 1)], axis=1)
        which, place = np.nonzero(partly_defined(self.program)[values])
        which = chosen[which]
        names = self.build.names(len(which))
        width = self.width[self.name(rows[which])]
        self.build.define(names, Operator.FREEZE, pairs[which, place][:, None], width=width)
        pairs[which, place] = names

    def _casts(self) -> None:
        operators = np.zeros(len(Opcode), np.int64)
        operators[list(_CASTS)] = list(_CASTS.values())
        rows = self.rows(*_CASTS)
        rows = rows[self.is_tracked[self.operand_value(rows, 0)]]
        positive = (self.table.flags[rows] & ir.Flag.NNEG != 0) & self.trusts_flags
        positive &= self.table.opcode[rows] == Opcode.ZEXT
        self.define(
            rows, operators[self.table.opcode[rows]], self.operand(rows, 0)[:, None],
            np.where(positive, int(Flag.NUW), 0),
        )  # fmt: skip
        rows = self.rows(*_SAME)
        same = self.width[self.operand_value(rows, 0)] == self.width[self.name(rows)]
        self.define(rows[same], Operator.JOIN, self.operand(rows[same], 0)[:, None], 0)

    def _others(self) -> None:
        rows = self.rows(Opcode.SELECT)
        rows = rows[self.is_tracked[self.operand_value(rows, 0)]]  # a vector of conditions is not
        self.define(
            rows, Operator.SELECT, np.stack([self.operand(rows, k) for k in range(3)], axis=1), 0
        )
        rows = self.rows(Opcode.FREEZE)
        self.define(rows, Operator.FREEZE, self.operand(rows, 0)[:, None], 0)

    def _phis(self) -> None:
        rows = self.rows(Opcode.PHI)
        places, edges = phi_edges(self.program, self.split.flow)
        guard = np.full(len(self.table.operands), -1, np.int64)
        guard[places] = self.edge_name[edges]
        starts, ends = self.table.offsets[rows], self.table.offsets[rows + 1]
        owner, flat = ragged(starts, ends)
        is_value = (flat - starts[owner]) % 2 == 0
        pairs = self.split.operand[flat].astype(np.int64)
        pairs[~is_value] = guard[flat[is_value]]
        names = self.name(rows)
        self.build.define(
            names, Operator.PHI, pairs, offsets=offsets_of(ends - starts), width=self.width[names]
        )

    def _addresses(self) -> None:
        """Locals are not null and aligned; an address inside an object that is not null is not."""
        rows = self.rows(Opcode.ALLOCA)
        n_zeros = np.maximum(self.table.align[rows].astype(np.int64) - 1, 0)
        for zeros in np.unique(n_zeros).tolist():
            self._give(self.name(rows[n_zeros == zeros]), _not_zero(64, zeros))
        rows = self.rows(Opcode.GETELEMENTPTR)
        base = self.operand(rows, 0)
        tracked = self.is_tracked[self.operand_value(rows, 0)]  # and no vector of pointers
        rows, base = rows[tracked], base[tracked]
        inside = (self.table.flags[rows] & ir.Flag.INBOUNDS != 0) & self.trusts_flags
        inside &= self.program.types.bits[self.table.type[rows]] == 0  # else 0 may be an address
        self.define(rows, Operator.ADDRESS, base[:, None], np.where(inside, 64, 0))
        same = self._adds_nothing(rows)
        self.define(rows[same], Operator.JOIN, base[same][:, None], 0)

    def _adds_nothing(self, rows: I64) -> Bools:
        """Return which address computations have indices that are all 0."""
        starts, ends = self.table.offsets[rows] + 1, self.table.offsets[rows + 1]
        owner, flat = ragged(starts, ends)
        constant = self.table.operands[flat] - self.bases[ValueKind.CONSTANT]
        constants = self.program.constants
        is_constant = (constant >= 0) & (constant < len(constants))
        is_zero = is_constant.copy()
        at = constant[is_constant]
        is_zero[is_constant] = (constants.kind[at] == ConstantKind.INT) & (
            constants.payload[at] == 0
        )
        n_others = np.bincount(owner[~is_zero], minlength=len(rows))
        found: Bools = n_others == 0
        return found

    # Calls

    def _calls(self) -> None:
        self._results()
        self._arguments()
        self._intrinsics()

    def _results(self) -> None:
        """A function returns one of its results; a call, what the functions it reaches do."""
        program, calls = self.program, self.calls
        n_functions = len(program.function_table)
        has_body = np.diff(program.function_table.block_offsets) > 0
        self.result_name = np.full(n_functions, -1, np.int64)
        returns = np.flatnonzero(
            (self.table.opcode == Opcode.RET) & (np.diff(self.table.offsets) == 1)
        )
        value = self.operand_value(returns, 0)
        returns = returns[self.is_tracked[value]]
        function = program.instruction_function[returns].astype(np.int64)
        width = np.zeros(n_functions, np.int64)
        width[function] = self.width[self.operand_value(returns, 0)]
        returning = np.flatnonzero(has_body & (width > 0))
        names = self.build.names(len(returning))
        self.result_name[returning] = names
        offsets, order = csr(function, n_functions)
        returns = returns if order is None else returns[order]
        pairs = np.stack(
            [self.operand(returns, 0), self.end_name[self.table.block[returns]]], axis=1
        )
        self.build.define(
            names, Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[returning]),
            width=width[returning],
        )  # fmt: skip
        usable = calls.keeps_result[calls.function] & ~calls.may_return_any[calls.call]
        call, reached = calls.call[usable], self.result_name[calls.function[usable]]
        is_wrong = reached < 0
        fits = ~is_wrong
        fits[fits] = width[calls.function[usable][fits]] == self.width[self.name(call[fits])]
        spoiled = np.zeros(len(self.table), bool)
        spoiled[call[~fits]] = True
        spoiled[calls.call[~calls.keeps_result[calls.function]]] = True
        keep = ~spoiled[call] & self.is_tracked[self.name(call)]
        call, reached = call[keep], reached[keep]
        offsets, order = csr(call, len(self.table))
        reached = reached if order is None else reached[order]
        rows = np.flatnonzero(np.diff(offsets) > 0)
        self.build.define(
            self.name(rows), Operator.JOIN, reached, offsets=offsets_of(np.diff(offsets)[rows]),
            width=self.width[self.name(rows)],
        )  # fmt: skip

    def _arguments(self) -> None:
        """An argument is what one of the calls passes; of an open function, anything."""
        program, calls = self.program, self.calls
        table = program.function_table
        first = table.argument_offsets[:-1].astype(np.int64)
        n_arguments = np.diff(table.argument_offsets).astype(np.int64)
        closed = ~calls.is_open[calls.function]
        call, function = calls.call[closed], calls.function[closed]
        n_passed = np.diff(self.table.offsets)[call] - 1
        n_passed -= 2 * (self.table.opcode[call] == Opcode.INVOKE)
        n_passed[self.table.opcode[call] == Opcode.CALLBR] = 0
        owner, nth = ragged(np.zeros(len(call), np.int64), n_arguments[function])
        argument = first[function[owner]] + nth
        name = argument + self.bases[ValueKind.ARGUMENT]
        has = nth < n_passed[owner]
        place = self.table.offsets[call[owner]] + 1 + np.where(has, nth, -1)
        actual, passed = self.split.operand[place].astype(np.int64), self.table.operands[place]
        has &= self.width[passed] == self.width[name]
        any_argument = np.zeros(len(program.arguments), bool)
        any_argument[argument[~has]] = True
        direct = program.arguments.passing == 0
        keep = has & ~any_argument[argument] & self.is_tracked[name] & direct[argument]
        argument, actual = argument[keep], actual[keep]
        guard = self.block_name(self.table.block[call[owner[keep]]])
        offsets, order = csr(argument, len(program.arguments))
        pairs = np.stack([actual, guard], axis=1)
        pairs = pairs if order is None else pairs[order]
        rows = np.flatnonzero(np.diff(offsets) > 0)
        names = rows + self.bases[ValueKind.ARGUMENT]
        self.build.define(
            names, Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[rows]),
            width=self.width[names],
        )  # fmt: skip
        self._promised_arguments(np.diff(offsets) > 0)

    def _promised_arguments(self, is_linked: Bools) -> None:
        """Open functions may rely on what attributes promise."""
        table = self.program.arguments
        not_null = (table.flags & ArgumentFlag.NONNULL != 0) | (table.passing != 0)
        chosen = not_null & ~is_linked & self.trusts_flags
        names = np.flatnonzero(chosen) + self.bases[ValueKind.ARGUMENT]
        self._give(names[self.width[names] == 64], _not_zero(64, 0))

    def _intrinsics(self) -> None:
        program = self.program
        table, strings = program.globals, program.strings
        is_call = np.flatnonzero(
            (self.table.opcode == Opcode.CALL)
            & self.is_tracked[self.bases[ValueKind.INSTRUCTION] :]
        )
        callee = self.operand_value(is_call, 0)
        is_call, callee = is_call[callee < len(table)], callee[callee < len(table)]
        symbols = table.name[callee]
        for prefix, operator in _INTRINSICS.items():
            rows = is_call[strings.begin_with(symbols, prefix)]
            pairs = np.stack([self.operand(rows, 1), self.operand(rows, 2)], axis=1)
            self.define(rows, operator, pairs, 0)
        for prefix in _COUNTS:
            rows = is_call[strings.begin_with(symbols, prefix)]
            for width in np.unique(self.width[self.name(rows)]).tolist():
                if width < 8:  # a count may be negative as a signed number of few bits
                    continue
                chosen = rows[self.width[self.name(rows)] == width]
                self._give(self.name(chosen), ValueFact(width, 0, width, 0, width, 0, 0))
        rows = is_call[strings.begin_with(symbols, b"llvm.expect.")]
        self.define(rows, Operator.JOIN, self.operand(rows, 1)[:, None], 0)

    # Memory

    def _memory(self) -> None:
        """A load reads one of its cells; a cell has what was there at the start, or is written."""
        cells = self.cells
        if cells is None:
            return
        usable = np.isin(cells.n_bytes, (1, 2, 4, 8))
        # What nothing writes and nothing has initialised is read by mistake, if at all: any value.
        is_written = np.zeros(len(usable), bool)
        is_written[cells.written_cell] = True
        usable[cells.start_cell[cells.start_value == UNDEFINED]] &= is_written[
            cells.start_cell[cells.start_value == UNDEFINED]
        ]
        names = self.build.names(len(cells.n_bytes))
        width = np.where(usable, 8 * cells.n_bytes, 64)
        keep = usable[cells.start_cell]
        start = [
            self._start_name(value, int(width[cell]))
            for cell, value in zip(
                cells.start_cell[keep].tolist(), cells.start_value[keep].tolist(), strict=True
            )
        ]
        owner = [cells.start_cell[keep]]
        part = [np.array(start, np.int64)]
        for cell, name in self._written(width):
            owner.append(cell)
            part.append(name)
        cell, operand = np.concatenate(owner), np.concatenate(part)
        offsets, order = csr(cell, len(names))
        operand = operand if order is None else operand[order]
        counts = np.diff(offsets)
        has = np.flatnonzero((counts > 0) & usable)
        _, place = ragged(offsets[has], offsets[has + 1])
        self.build.define(
            names[has], Operator.JOIN, operand[place], offsets=offsets_of(counts[has]),
            width=width[has],
        )  # fmt: skip
        self.build.define(names[~usable | (counts == 0)], Operator.ANY, width=64)
        self._loads(cells, names, width, usable & (counts > 0))

    def _loads(self, cells: Cells, names: I64, width: I64, usable: Bools) -> None:
        rows = cells.loads
        owner = np.repeat(np.arange(len(rows)), cells.read.lengths())
        wrong = ~usable[cells.read.values] | (
            width[cells.read.values] != self.width[self.name(rows)][owner]
        )
        chosen = np.flatnonzero(np.bincount(owner[wrong], minlength=len(rows)) == 0)
        begin = cells.read.offsets
        _, place = ragged(begin[chosen], begin[chosen + 1])
        loads = self.name(rows[chosen])
        self.build.define(
            loads, Operator.JOIN, names[cells.read.values[place]],
            offsets=offsets_of(np.diff(begin)[chosen]), width=self.width[loads],
        )  # fmt: skip

    def _written(self, width: I64) -> list[tuple[I64, I64]]:
        """Return pairs of a cell and the name of what is written to it."""
        cells = self.cells
        assert cells is not None
        stores = cells.stores
        is_value = stores.fill < 0
        row, group = stores.row[is_value], stores.group[is_value]
        is_store = self.table.opcode[row] == Opcode.STORE
        value = self.operand_value(row, 0)
        bits = np.where(is_store, self.width[value], 0)
        used, which = np.unique(cells.written_group, return_inverse=True)
        size = np.zeros(len(used), np.int64)
        size[which] = width[cells.written_cell]
        place = np.minimum(np.searchsorted(used, group), max(len(used) - 1, 0))
        keep = used[place] == group if len(used) else np.zeros(len(group), bool)
        row, place, bits = row[keep], place[keep], bits[keep]
        operand = self.operand(row, 0)
        for wide in distinct(size).tolist():
            strange = (size[place] == wide) & (bits != wide)
            operand[strange] = self._constant_name(_ANY_VALUE, 0, wide)
        guard = self.block_name(self.table.block[row])
        offsets, order = csr(place, len(used))
        pairs = np.stack([operand, guard], axis=1)
        pairs = pairs if order is None else pairs[order]
        has = np.flatnonzero(np.diff(offsets) > 0)
        groups = np.full(len(used), -1, np.int64)
        groups[has] = self.build.names(len(has))
        self.build.define(
            groups[has], Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[has]),
            width=size[has],
        )  # fmt: skip
        by_store = groups[which] >= 0
        found = [(cells.written_cell[by_store], groups[which[by_store]])]
        fills = np.unique(np.stack([stores.group, stores.fill])[:, ~is_value], axis=1)
        for filled, byte in fills.T.tolist():
            cell = cells.written_cell[cells.written_group == filled]
            number = [
                self._constant_name(_NUMBER, int.from_bytes(bytes([byte] * 8)), int(width[c]))
                for c in cell.tolist()
            ]
            found.append((cell, np.array(number, np.int64)))
        return found

    def _start_name(self, value: int, width: int) -> int:
        """Return the name of what a cell holds at the start."""
        if value >= 0:
            fits = self.width[value] == width
            return value if fits else self._constant_name(_ANY_VALUE, 0, width)
        if value == ZERO:
            return self._constant_name(_NUMBER, 0, width)
        if value == UNDEFINED:
            return self._constant_name(_NO_VALUE, 0, width)
        if value == UNKNOWN:
            return self._constant_name(_ANY_VALUE, 0, width)
        return self._constant_name(_NUMBER, byte_of(value), width)

    def _constant_name(self, kind: int, number: int, width: int) -> int:
        """Return the name of a number, of any value or of no value, made once."""
        pattern = number & ((1 << width) - 1)
        signed = pattern - (pattern >> (width - 1) << width)
        key = kind, signed, width
        if key not in self._shared:
            name = self.build.names(1)
            self._shared[key] = int(name[0])
            if kind == _NUMBER:
                self.build.define(name, Operator.CONSTANT, width=width, attribute=signed)
            elif kind == _ANY_VALUE:
                self.build.define(name, Operator.ANY, width=width)
            else:
                nothing = ValueFact(width, 0, 0, 0, 0, 0, 0, False, True)
                self._give(name, nothing)
        return self._shared[key]

    # New names

    def _new_names(self) -> None:
        split, first = self.split, self.program.n_values
        names = np.arange(split.n_new) + first
        width = self.width[split.value]
        wide = np.where(width > 0, width, 64)
        lengths = np.diff(split.offsets)
        self._inserted_phis(names, width, wide)
        rest = np.flatnonzero((split.kind != NameKind.PHI) & (lengths > 0))
        operand = split.operands[split.offsets[rest]].astype(np.int64)
        known = operand >= 0
        self.build.define(
            names[rest[known]], Operator.JOIN, operand[known][:, None], width=wide[rest[known]]
        )
        self._sigmas(names, width)
        self._refining_uses(names, width)

    def _inserted_phis(self, names: I64, width: I64, wide: I64) -> None:
        split, flow = self.split, self.split.flow
        rows = np.flatnonzero((split.kind == NameKind.PHI) & (width > 0))
        block = flow.node_of(split.point[rows])
        offsets, edges = flow.incoming
        owner, flat = ragged(split.offsets[rows], split.offsets[rows + 1])
        nth = flat - split.offsets[rows][owner]
        guard = self.edge_name[edges[offsets[block[owner]] + nth]]
        value = split.operands[flat].astype(np.int64)
        known = value >= 0
        pairs = np.stack([value[known], guard[known]], axis=1)
        counts = np.bincount(owner[known], minlength=len(rows))
        self.build.define(
            names[rows], Operator.PHI, pairs, offsets=offsets_of(2 * counts), width=wide[rows]
        )

    def _sigmas(self, names: I64, width: I64) -> None:
        """Behind a branch, what holds of a value before it and what the condition says."""
        split = self.split
        found = refinements(split, self.build, self.width, self.true, self.false)
        rows, site = split.sites
        rows, site = rows[width[rows] > 0], site[width[rows] > 0]
        self._meet(names, rows, site * self.program.n_values + split.value[rows], found)

    def _meet(self, names: I64, rows: I64, keys: I64, found: Refinements) -> None:
        """Give new names (rows) their operand and all facts whose edge and value is their key."""
        order = np.argsort(keys)
        rows, keys = rows[order], keys[order]
        wanted = found.edge * self.program.n_values + found.value
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        hits = keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)
        fact, place = found.fact[hits], place[hits]
        by_row = np.argsort(place, kind="stable")
        fact, place = fact[by_row], place[by_row]
        counts = np.bincount(place, minlength=len(rows))
        chosen = np.flatnonzero(counts > 0)
        # What holds of a value where it is defined holds of all its names. Around loops a name is
        # joined with those that come later, and would not find back to that by itself.
        offsets = offsets_of(counts[chosen] + 2)
        operands = np.empty(int(offsets[-1]), np.int64)
        is_fact = np.ones(len(operands), bool)
        is_fact[offsets[:-1]] = is_fact[offsets[:-1] + 1] = False
        operands[offsets[:-1]] = self.split.operands[self.split.offsets[rows[chosen]]]
        operands[offsets[:-1] + 1] = self.split.value[rows[chosen]]
        operands[is_fact] = fact
        reached = rows[chosen]
        self.build.define(
            names[reached], Operator.MEET, operands, offsets=offsets,
            width=self.width[self.split.value[reached]],
        )  # fmt: skip

    def _refining_uses(self, names: I64, width: I64) -> None:
        """Behind an access or a division, an address or divisor is not 0: else it did not go on."""
        split = self.split
        rows = np.flatnonzero((split.kind == NameKind.COPY) & (width > 0))
        rows = rows[split.point[rows] < split.flow.n_instructions]
        rows = rows[self.table.opcode[split.point[rows]] != Opcode.CALL]  # `llvm.assume`
        operand = split.operands[split.offsets[rows]].astype(np.int64)
        rows, operand = rows[operand >= 0], operand[operand >= 0]
        for wide in np.unique(width[rows]).tolist():
            chosen = width[rows] == wide
            zero = self.build.names(1)
            self.build.define(zero, Operator.CONSTANT, width=wide, attribute=0)
            pairs = np.stack([operand[chosen], np.full(int(chosen.sum()), zero[0])], axis=1)
            self.build.define(
                names[rows[chosen]], Operator.REFINE, pairs, width=wide, attribute=Predicate.NE
            )


def widths_of(program: Program) -> I64:
    """Return how many bits each value has: integers of up to 64 and addresses; 0 for others."""
    types = program.types
    width = np.zeros(len(types) + 1, np.int64)  # the last is for -1
    is_number = (types.kind == TypeKind.INT) & (types.bits >= 1) & (types.bits <= 64)
    width[:-1] = np.where(is_number, types.bits, 0)
    is_pointer = (types.kind == TypeKind.POINTER) & (types.size == 8)
    width[:-1][is_pointer] = 64
    return width[program.value_types]


def partly_defined(program: Program) -> Bools:
    """Return the values that may have bits that are defined beside others that are not."""
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    found = np.zeros(program.n_values, bool)
    constants = program.constants
    found[
        program.bases[ValueKind.CONSTANT] + np.flatnonzero(constants.kind == ConstantKind.UNDEF)
    ] = True
    loads, stores = (np.flatnonzero(table.opcode == o) for o in (Opcode.LOAD, Opcode.STORE))
    function = program.instruction_function.astype(np.int64)
    read = function[loads] << 32 | table.operands[table.offsets[loads]]
    written = function[stores] << 32 | table.operands[table.offsets[stores] + 1]
    found[first + loads[np.isin(read, written)]] = True
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    passes = np.isin(table.opcode[owner], _PASS_PARTS)
    source, target = table.operands[passes].astype(np.int64), first + owner[passes]
    while True:
        more = np.unique(target[found[source] & ~found[target]])
        if not len(more):
            return found
        found[more] = True


def _not_zero(width: int, n_zeros: int) -> ValueFact:
    """Return that a value is not 0 and a multiple of 2^n_zeros."""
    anything = ValueFact.any(width)
    zeros = (1 << n_zeros) - 1
    return ValueFact(width, anything.low, anything.high, 1, anything.most, zeros, 0)
