"""What instructions compute, and constants are."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer, not_zero
from kleene.analyses.dataflow.refinements import PREDICATE
from kleene.base.arrays import I64, Bools, offsets_of, ragged
from kleene.ir import Program
from kleene.ir import codes as ir
from kleene.ir.codes import (
    ConstantKind,
    GlobalKind,
    Linkage,
    Opcode,
    ValueKind,
)
from kleene.solvers.dataflow import (
    Flag,
    Operator,
)
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


def instructions(w: Writer) -> None:
    """Write the constraints of constants, arithmetic, casts, φ and addresses."""
    _globals_and_constants(w)
    _arithmetic(w)
    _casts(w)
    _others(w)
    _phis(w)
    _addresses(w)


def _globals_and_constants(w: Writer) -> None:
    program, table = w.program, w.program.globals
    can_be_null = (table.linkage == Linkage.EXTERN_WEAK) | (table.space != 0)
    can_be_null |= (table.kind == GlobalKind.ALIAS) | (table.kind == GlobalKind.IFUNC)
    is_function = table.kind == GlobalKind.FUNCTION
    n_zeros = np.where(is_function, 0, np.maximum(table.align.astype(np.int64) - 1, 0))
    for zeros in np.unique(n_zeros).tolist():
        chosen = np.flatnonzero(~can_be_null & (n_zeros == zeros))
        w.give(chosen, not_zero(64, zeros))
    constants = program.constants
    value = np.arange(len(constants)) + w.bases[ValueKind.CONSTANT]
    tracked = w.is_tracked[value]
    is_number = (constants.kind == ConstantKind.INT) & (constants.flags & ir.Flag.WIDE == 0)
    is_zero = (constants.kind == ConstantKind.NULL) | (constants.kind == ConstantKind.ZERO)
    chosen = tracked & (is_number | is_zero)
    number = np.where(is_number, constants.payload, 0)
    width = w.width[value]
    shift = 64 - np.maximum(width, 1)
    number = (number << shift) >> shift
    w.build.define(value[chosen], Operator.CONSTANT, width=width[chosen], attribute=number[chosen])
    # An address inside a global, by a constant expression.
    inside = tracked & (constants.kind == ConstantKind.EXPRESSION)
    inside &= (constants.opcode == Opcode.GETELEMENTPTR) & (constants.flags & ir.Flag.INBOUNDS != 0)
    rows = np.flatnonzero(inside)
    base = constants.operands[constants.offsets[rows]].astype(np.int64)
    is_global = base < len(table)
    rows, base = rows[is_global], base[is_global]
    known = ~can_be_null[base] & w.trusts_flags
    w.give(value[rows[known]], not_zero(64, 0))


def _arithmetic(w: Writer) -> None:
    operators = np.zeros(len(Opcode), np.int64)
    operators[list(_ARITHMETIC)] = list(_ARITHMETIC.values())
    rows = w.rows(*_ARITHMETIC)
    pairs = np.stack([w.operand(rows, 0), w.operand(rows, 1)], axis=1)
    _freeze_parts(w, rows, pairs)
    flags = np.zeros(len(rows), np.int64)
    if w.trusts_flags:
        given = w.table.flags[rows]
        flags |= np.where(given & ir.Flag.NUW, int(Flag.NUW), 0)
        flags |= np.where(given & ir.Flag.NSW, int(Flag.NSW), 0)
        flags |= int(Flag.IN_RANGE)
    w.define(rows, operators[w.table.opcode[rows]], pairs, flags)
    rows = np.flatnonzero(w.table.opcode == Opcode.ICMP)
    predicate = PREDICATE[w.table.sub[rows]]
    known = w.is_tracked[w.operand_value(rows, 0)] & (predicate >= 0)
    known &= w.is_tracked[w.name(rows)]
    rows, predicate = rows[known], predicate[known]
    pairs = np.stack([w.operand(rows, 0), w.operand(rows, 1)], axis=1)
    w.define(rows, Operator.COMPARE, pairs, predicate)


def _freeze_parts(w: Writer, rows: I64, pairs: I64) -> None:
    """Let operands of `and`, `or` and `xor` be any value where they may be undefined in part.

    A bit-field of a struct that has no value yet is set by reading its word, clearing the
    field's bits, setting them and storing the word: `(undefined & ~255) | 3` is 3 in its low
    byte. Words of which only bits are undefined are those that are loaded and stored back by
    one function, and what is computed in registers from an undefined constant.
    """
    chosen = np.flatnonzero(np.isin(w.table.opcode[rows], _BITWISE))
    values = np.stack([w.operand_value(rows[chosen], k) for k in (0, 1)], axis=1)
    which, place = np.nonzero(partly_defined(w.program)[values])
    which = chosen[which]
    names = w.build.names(len(which))
    width = w.width[w.name(rows[which])]
    w.build.define(names, Operator.FREEZE, pairs[which, place][:, None], width=width)
    pairs[which, place] = names


def _casts(w: Writer) -> None:
    operators = np.zeros(len(Opcode), np.int64)
    operators[list(_CASTS)] = list(_CASTS.values())
    rows = w.rows(*_CASTS)
    rows = rows[w.is_tracked[w.operand_value(rows, 0)]]
    positive = (w.table.flags[rows] & ir.Flag.NNEG != 0) & w.trusts_flags
    positive &= w.table.opcode[rows] == Opcode.ZEXT
    w.define(
        rows, operators[w.table.opcode[rows]], w.operand(rows, 0)[:, None],
        np.where(positive, int(Flag.NUW), 0),
    )  # fmt: skip
    rows = w.rows(*_SAME)
    same = w.width[w.operand_value(rows, 0)] == w.width[w.name(rows)]
    w.define(rows[same], Operator.JOIN, w.operand(rows[same], 0)[:, None], 0)


def _others(w: Writer) -> None:
    rows = w.rows(Opcode.SELECT)
    rows = rows[w.is_tracked[w.operand_value(rows, 0)]]  # a vector of conditions is not
    w.define(rows, Operator.SELECT, np.stack([w.operand(rows, k) for k in range(3)], axis=1), 0)
    rows = w.rows(Opcode.FREEZE)
    w.define(rows, Operator.FREEZE, w.operand(rows, 0)[:, None], 0)


def _phis(w: Writer) -> None:
    rows = w.rows(Opcode.PHI)
    places, edges = phi_edges(w.program, w.split.flow)
    guard = np.full(len(w.table.operands), -1, np.int64)
    guard[places] = w.edge_name[edges]
    starts, ends = w.table.offsets[rows], w.table.offsets[rows + 1]
    owner, flat = ragged(starts, ends)
    is_value = (flat - starts[owner]) % 2 == 0
    pairs = w.split.operand[flat].astype(np.int64)
    pairs[~is_value] = guard[flat[is_value]]
    names = w.name(rows)
    w.build.define(
        names, Operator.PHI, pairs, offsets=offsets_of(ends - starts), width=w.width[names]
    )


def _addresses(w: Writer) -> None:
    """Locals are not null and aligned; an address inside an object that is not null is not."""
    rows = w.rows(Opcode.ALLOCA)
    n_zeros = np.maximum(w.table.align[rows].astype(np.int64) - 1, 0)
    for zeros in np.unique(n_zeros).tolist():
        w.give(w.name(rows[n_zeros == zeros]), not_zero(64, zeros))
    rows = w.rows(Opcode.GETELEMENTPTR)
    base = w.operand(rows, 0)
    tracked = w.is_tracked[w.operand_value(rows, 0)]  # and no vector of pointers
    rows, base = rows[tracked], base[tracked]
    inside = (w.table.flags[rows] & ir.Flag.INBOUNDS != 0) & w.trusts_flags
    inside &= w.program.types.bits[w.table.type[rows]] == 0  # else 0 may be an address
    w.define(rows, Operator.ADDRESS, base[:, None], np.where(inside, 64, 0))
    same = _adds_nothing(w, rows)
    w.define(rows[same], Operator.JOIN, base[same][:, None], 0)


def _adds_nothing(w: Writer, rows: I64) -> Bools:
    """Return which address computations have indices that are all 0."""
    starts, ends = w.table.offsets[rows] + 1, w.table.offsets[rows + 1]
    owner, flat = ragged(starts, ends)
    constant = w.table.operands[flat] - w.bases[ValueKind.CONSTANT]
    constants = w.program.constants
    is_constant = (constant >= 0) & (constant < len(constants))
    is_zero = is_constant.copy()
    at = constant[is_constant]
    is_zero[is_constant] = (constants.kind[at] == ConstantKind.INT) & (constants.payload[at] == 0)
    n_others = np.bincount(owner[~is_zero], minlength=len(rows))
    found: Bools = n_others == 0
    return found


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
