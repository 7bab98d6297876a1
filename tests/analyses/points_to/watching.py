"""What the trace is to observe of a program, in the numbers of its tables and of the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

import numpy as np

from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I32
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Passing,
    TypeKind,
)
from kleene.ir.codes import ValueKind as Kind
from kleene.runtime.pointer_trace import Body, Event, Places, Symbol, Watch


def watch_of(program: Program, made: I32, made_kind: I32) -> Watch:
    """Return what to watch: every pointer, all storage, and what the calls `made` (values) make."""
    return Watch(
        _instructions(program, made, made_kind),
        _arguments(program),
        list(_symbols(program)),
        list(_bodies(program)),
    )


def callee_names(program: Program) -> dict[int, str]:
    """Return the name of the function that each direct call (a row) names."""
    table = program.instructions
    calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callees = table.operands[table.offsets[calls]]
    named = callees < len(program.globals)
    names = program.globals.name[callees[named]]
    return {
        int(row): program.strings[int(name)] for row, name in zip(calls[named], names, strict=True)
    }


def _places(program: Program, kind: Kind, types: I32) -> Places:
    """Return places where every pointer is a value."""
    is_pointer = program.types.kind[types] == TypeKind.POINTER
    event = np.where(is_pointer, Event.VALUE, Event.NONE).astype(np.int32)
    nothing = np.full(len(types), -1, np.int32)
    return Places(
        program.bases[kind], event, nothing, nothing.copy(), np.zeros(len(types), np.int64)
    )


def _instructions(program: Program, made: I32, made_kind: I32) -> Places:
    table = program.instructions
    places = _places(program, Kind.INSTRUCTION, table.type)
    local = np.flatnonzero(table.opcode == Opcode.ALLOCA)
    places.event[local] = Event.LOCAL
    places.kind[local] = AllocationKind.STACK
    places.site[local] = places.first_value + local
    places.n_bytes[local] = program.types.size[table.about[local]]
    rows = made - places.first_value
    places.event[rows] = Event.MADE
    places.kind[rows] = made_kind
    places.site[rows] = made
    places.event[_undefined_in_part(program)] = Event.NONE
    for row, name in callee_names(program).items():
        # Where the frame ends now: no storage begins there. A mark that nobody reads: no pointer.
        if name.startswith(("llvm.stacksave", "llvm.invariant.start")):
            places.event[row] = Event.NONE
        elif name.startswith("llvm.threadlocal.address"):
            variable = int(table.operands_of(row)[1])
            places.event[row] = Event.STORAGE
            places.kind[row] = AllocationKind.GLOBAL
            places.site[row] = variable
            places.n_bytes[row] = program.types.size[program.globals.type[variable]]
    return places


def _undefined_in_part(program: Program) -> list[int]:
    """Return the instructions (rows) whose pointers have bits that are undefined.

    Nobody looks at them there: at a φ on the way where they are undefined, or in one half of a word
    that the other half is still to be put into. What such bits are is up to chance.
    """
    constants, first = program.constants, program.bases
    undefined = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
    n_bits = 8 * np.maximum(program.types.size, 0)
    bits = {
        first[Kind.CONSTANT] + c: (1 << int(n_bits[constants.type[c]])) - 1
        for c in np.flatnonzero(undefined).tolist()
    }
    offsets, users = program.users
    waiting = list(bits)
    while waiting:
        value = waiting.pop()
        for row in users[offsets[value] : offsets[value + 1]].tolist():
            user, found = first[Kind.INSTRUCTION] + row, _undefined_bits(program, row, bits)
            if found | bits.get(user, 0) != bits.get(user, 0):
                bits[user] = found | bits.get(user, 0)
                waiting.append(user)
    return [value - first[Kind.INSTRUCTION] for value in bits if value >= first[Kind.INSTRUCTION]]


def _undefined_bits(program: Program, row: int, bits: dict[int, int]) -> int:
    """Return which bits of an instruction's result are undefined where those of `bits` are."""
    table = program.instructions
    operands = [int(operand) for operand in table.operands_of(row)]
    all_bits = (1 << 8 * max(int(program.types.size[table.type[row]]), 0)) - 1
    given = [bits.get(operand, 0) for operand in operands]
    match Opcode(int(table.opcode[row])):
        case Opcode.PHI:
            is_pointer = program.types.kind[table.type[row]] == TypeKind.POINTER
            direct = [o < program.bases[Kind.INSTRUCTION] for o in operands]
            rows = (g for g, d in zip(given, direct, strict=True) if d or not is_pointer)
            return _union(rows) & all_bits
        case Opcode.PTRTOINT | Opcode.INTTOPTR | Opcode.ZEXT | Opcode.TRUNC | Opcode.FREEZE:
            return given[0] & all_bits
        case Opcode.AND:
            return _union(g & _integer(program, o, -1) for g, o in _crossed(given, operands))
        case Opcode.OR:
            return _union(g & ~_integer(program, o, 0) for g, o in _crossed(given, operands))
        case Opcode.SHL:
            return given[0] << _integer(program, operands[1], 0) & all_bits
        case Opcode.LSHR:
            return given[0] >> _integer(program, operands[1], 0)
    return 0


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _crossed(given: list[int], operands: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the undefined bits of each of two operands, and the other operand."""
    return zip(given, reversed(operands), strict=True)


def _integer(program: Program, value: int, otherwise: int) -> int:
    """Return the number that a constant is."""
    row = value - program.bases[Kind.CONSTANT]
    is_constant = 0 <= row < len(program.constants)
    if is_constant and program.constants.kind[row] == ConstantKind.INT:
        return int(program.constants.payload[row])
    return otherwise


def _arguments(program: Program) -> Places:
    table = program.arguments
    places = _places(program, Kind.ARGUMENT, table.type)
    n_users = np.diff(program.users[0])[places.first_value :][: len(table)]
    places.event[n_users == 0] = Event.NONE  # optimised callers pass poison where nobody looks
    copied = np.flatnonzero(table.passing == Passing.BYVAL)
    places.event[copied] = Event.LOCAL
    places.kind[copied] = AllocationKind.COPY
    places.site[copied] = places.first_value + copied
    places.n_bytes[copied] = program.types.size[table.passed_type[copied]]
    return places


def _symbols(program: Program):
    table = program.globals
    has_body = np.diff(program.function_table.block_offsets) > 0
    absent = (Linkage.APPENDING, Linkage.AVAILABLE_EXTERNALLY)
    for value, name in enumerate(program.names.globals):
        if name.startswith(("__start_", "__stop_")):
            continue  # the linker's: the address of what lies there, or of what comes next
        flags = int(table.flags[value])
        if name.lstrip('"').startswith("llvm.") or table.linkage[value] in absent:
            continue
        if table.kind[value] == GlobalKind.FUNCTION:
            if has_body[table.function[value]] or flags & GlobalFlag.ADDRESS_TAKEN:
                yield Symbol(name, 1, AllocationKind.FUNCTION, value)
        elif table.kind[value] == GlobalKind.VARIABLE and not flags & GlobalFlag.THREAD_LOCAL:
            n_bytes = max(int(program.types.size[table.type[value]]), 0)
            yield Symbol(name, n_bytes, AllocationKind.GLOBAL, value)


def _bodies(program: Program):
    table = program.function_table
    for row in np.flatnonzero(np.diff(table.block_offsets) > 0).tolist():
        yield Body(int(table.value[row]), int(table.argument_offsets[row]))
