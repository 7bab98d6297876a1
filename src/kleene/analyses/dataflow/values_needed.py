"""Which operands must have a value: C says that using one without is a fault.

Such are what is computed, compared, branched on, converted or used as an address; and of a local by
its name also what is passed to a parameter, returned or stored. A struct may be copied, passed and
returned with members that have no value: LLVM's `noundef` tells a parameter of a scalar type from
a part of such a struct.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kleene.base.arrays import I64, Bools, Ints, csr
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    ArgumentFlag,
    Binding,
    ConstantKind,
    GlobalFlag,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.ir.parts import EXTRACTS, INSERTS

_COMPUTES = (
    Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM,
    Opcode.XOR, Opcode.ASHR, Opcode.ICMP, Opcode.SEXT, Opcode.GETELEMENTPTR,
    Opcode.FADD, Opcode.FSUB, Opcode.FMUL, Opcode.FDIV, Opcode.FREM, Opcode.FNEG, Opcode.FCMP,
    Opcode.SITOFP, Opcode.UITOFP, Opcode.FPTOSI, Opcode.FPTOUI, Opcode.FPEXT, Opcode.FPTRUNC,
)  # fmt: skip
_FIRST = (Opcode.BR, Opcode.SWITCH, Opcode.SELECT, Opcode.LOAD)  # of these the first operand
# What has no value where an operand has none. LLVM puts parts of structs together by these, too.
PASSES_ON = (
    Opcode.TRUNC, Opcode.ZEXT, Opcode.AND, Opcode.OR, Opcode.SHL, Opcode.LSHR, Opcode.BITCAST,
    Opcode.PTRTOINT, Opcode.INTTOPTR,
)  # fmt: skip
_PARTS = (*EXTRACTS, *INSERTS, Opcode.SHUFFLEVECTOR)
_SCALARS = (TypeKind.INT, TypeKind.POINTER, TypeKind.FLOAT)


@lru_cache(maxsize=1)
def must_have_values(program: Program) -> Bools:
    """Return which operands of instructions must have a value."""
    table, value = program.instructions, program.instructions.operands
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    place, opcode = np.arange(len(owner)) - table.offsets[owner], table.opcode[owner]
    found = np.isin(opcode, _COMPUTES)
    found |= np.isin(opcode, _FIRST) & (place == 0)
    found |= (opcode == Opcode.STORE) & ((place == 1) | _is_variable(program, is_whole=True)[value])
    kind = program.types.kind[program.value_types[value]]
    found |= (opcode == Opcode.RET) & np.isin(kind, _SCALARS)
    calls = np.isin(opcode, list(CALLS))
    found[calls] = np.isin(kind[calls], _SCALARS) & _is_passed_whole(
        program, table.operands[table.offsets[owner[calls]]], place[calls]
    )
    return found


def _is_passed_whole(program: Program, callee: Ints, place: Ints) -> Bools:
    """Return which operands of calls are no parts of structs, of each the callee and its place."""
    found = np.ones(len(callee), bool)
    named = np.flatnonzero(callee < len(program.globals))
    symbol, row = program.globals.name[callee[named]], program.globals.function[callee[named]]
    is_llvm = program.strings.begin_with(symbol, b"llvm.")
    found[named] = ~is_llvm | program.strings.begin_with(symbol, b"llvm.mem")
    chosen = (row >= 0) & ~is_llvm & (place[named] > 0)
    named, row = named[chosen], row[chosen]
    offsets = program.function_table.argument_offsets
    formal = offsets[row] + place[named] - 1
    is_formal = formal < offsets[row + 1]
    flags = program.arguments.flags[formal[is_formal]]
    found[named[is_formal]] = flags & ArgumentFlag.NOUNDEF != 0
    return found


def _is_variable(program: Program, *, is_whole: bool) -> Bools:
    """Return which values are those of a variable by its name, or also of a part of one."""
    bindings = program.bindings
    found = np.zeros(program.n_values, bool)
    chosen = bindings.kind == Binding.VALUE
    if is_whole:
        chosen &= bindings.exact.astype(bool)
    found[bindings.value[chosen]] = True
    found[: program.bases[ValueKind.INSTRUCTION]] = False
    return found


@lru_cache(maxsize=1)
def temporaries(program: Program) -> Bools:
    """Return which φ, in C++, are not of a variable of the source.

    Where scopes are tidied up when they are left, the result of a function that goes on has no
    value yet, and gets one behind a test of where to go on: undefined constants in such a φ are
    not read. A function of C++ that ends without a result ends the run.
    """
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    flags = program.globals.flags[program.function_table.value[program.instruction_function]]
    found: Bools = (table.opcode == Opcode.PHI) & (flags & GlobalFlag.TYPE_TESTS != 0)
    found &= ~_is_variable(program, is_whole=False)[first : first + len(table)]
    return found


@lru_cache(maxsize=1)
def are_words(program: Program) -> Bools:
    """Return which instructions make room for parts in a word, or put them there.

    So bit-fields are assigned, and small structs passed: `(undef & 0xff) | (high << 8)`, then
    `(that & ~0xff) | low`. The other parts of such a word may have a value or none.
    """
    table = program.instructions
    offsets, users = program.users
    is_or = np.concatenate((table.opcode == Opcode.OR, [False]))
    first = program.bases[ValueKind.INSTRUCTION]
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    other = np.zeros(len(offsets) - 1, bool)
    other[owner[~is_or[users]]] = True
    found: Bools = (table.opcode == Opcode.AND) & ~other[first : first + len(table)]
    places = table.offsets[:-1][table.opcode == Opcode.OR]
    for place in (places, places + 1):
        inner = table.operands[place].astype(np.int64) - first
        is_room = (inner >= 0) & (table.opcode[np.maximum(inner, 0)] == Opcode.AND)
        is_room &= found[np.maximum(inner, 0)]
        found[np.flatnonzero(table.opcode == Opcode.OR)[is_room]] = True
    return found


@lru_cache(maxsize=1)
def may_lack_bits(program: Program) -> Bools:
    """Return the values that may lack bits: constants, parts of structs, what is made of these."""
    table, arguments = program.instructions, program.arguments
    found, first = np.zeros(program.n_values, bool), program.bases[ValueKind.INSTRUCTION]
    found[program.bases[ValueKind.CONSTANT] + np.flatnonzero(lack_bits(program))] = True
    is_part = arguments.flags & ArgumentFlag.NOUNDEF == 0
    found[program.bases[ValueKind.ARGUMENT] + np.flatnonzero(is_part)] = True
    calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    is_direct = table.operands[table.offsets[calls]] < len(program.globals)
    found[first + calls[~is_direct]] = True
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    passes = np.isin(table.opcode, (*PASSES_ON, *_PARTS, Opcode.PHI, Opcode.SELECT))[owner]
    returned, results = _returned(program, calls[is_direct])
    sources = np.concatenate((table.operands[passes].astype(np.int64), returned))
    targets = np.concatenate((first + owner[passes], first + results))
    while len(new := targets[found[sources] & ~found[targets]]):
        found[new] = True
    return found


def _returned(program: Program, calls: I64) -> tuple[I64, I64]:
    """Return the values that functions return, and the direct calls that get them."""
    table = program.instructions
    rows = np.flatnonzero((table.opcode == Opcode.RET) & (np.diff(table.offsets) > 0))
    given = table.operands[table.offsets[rows]].astype(np.int64)
    first, order = csr(program.instruction_function[rows], len(program.function_table))
    given = given if order is None else given[order]
    function = program.globals.function[table.operands[table.offsets[calls]]]
    calls, function = calls[function >= 0], function[function >= 0]
    count = np.diff(first)[function]
    place = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return given[np.repeat(first[function], count) + place], np.repeat(calls, count)


def lack_bits(program: Program) -> Bools:
    """Return which constants have no value, or have parts without one."""
    constants, first = program.constants, program.bases[ValueKind.CONSTANT]
    found: Bools = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
    owner = np.repeat(np.arange(len(constants)), np.diff(constants.offsets))
    given = constants.operands.astype(np.int64) - first
    is_part = (constants.kind[owner] == ConstantKind.AGGREGATE) & (given >= 0)
    owner, given = owner[is_part], given[is_part]
    while len(new := owner[found[given] & ~found[owner]]):
        found[new] = True
    return found
