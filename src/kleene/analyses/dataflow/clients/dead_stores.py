"""Which values are computed, or stored in local variables, and never read?

**Registers**, backwards: a value is useful if an instruction with an effect uses it (a store, call,
return or branch), or a useful value is computed from it.

    useful[x] = used by an effect, or OR over users u of x: useful[u]      bits; least solution

**Memory**, by memory SSA with what calls read: a name is live if it is read, or if a live name may
still hold what it held (a φ, or a write that may leave it). A store to a local variable is dead if
no name that it defines is live. What others may reach by a pointer is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import span_of
from kleene.base.arrays import I64, Bools, csr, distinct, ragged
from kleene.ir.codes import (
    BINARY,
    CASTS,
    Binding,
    ConstantKind,
    Flag,
    Opcode,
    ValueKind,
)
from kleene.results import Finding, Location
from kleene.solvers.dataflow import BitConstraints, solve_bits

_PURE = (
    *BINARY, *CASTS, Opcode.PHI, Opcode.SELECT, Opcode.GETELEMENTPTR, Opcode.ICMP, Opcode.FCMP,
    Opcode.FREEZE, Opcode.FNEG, Opcode.LOAD, Opcode.EXTRACTVALUE, Opcode.INSERTVALUE,
    Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT, Opcode.SHUFFLEVECTOR,
)  # fmt: skip
_NO_VALUE_OF_THEIRS = (Opcode.PHI, Opcode.ALLOCA, Opcode.LOAD)


def answer(context: Context) -> Answer:
    """Return the values and stores that nothing reads."""
    return Answer([*dead_values(context), *dead_stores(context)])


def useful(context: Context) -> Bools:
    """Return which values an effect of the program depends on."""
    program, table = context.program, context.program.instructions
    first, n_values = program.bases[ValueKind.INSTRUCTION], program.n_values
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    is_pure = np.isin(table.opcode, _PURE) & ~_is_volatile(context)
    gen = np.zeros(n_values, np.uint64)
    gen[table.operands[~is_pure[owner]]] = 1
    pure = is_pure[owner]
    offsets, order = csr(table.operands[pure], n_values)
    users = first + owner[pure]
    users = users if order is None else users[order]
    bits = solve_bits(BitConstraints(gen, np.zeros_like(gen), offsets, users.astype(np.int32)))
    found: Bools = bits != 0
    return found


def _is_volatile(context: Context) -> Bools:
    found: Bools = context.program.instructions.flags & Flag.VOLATILE != 0
    return found


def dead_values(context: Context) -> Iterator[Finding]:
    """Yield a finding for each value that a variable gets and that nothing depends on."""
    program, table = context.program, context.program.instructions
    bindings, first = program.bindings, program.bases[ValueKind.INSTRUCTION]
    rows = np.flatnonzero((bindings.kind == Binding.VALUE) & (bindings.value >= first))
    rows = rows[~useful(context)[bindings.value[rows]] & (bindings.exact[rows] != 0)]
    seen = set()
    for row in rows.tolist():
        at = int(bindings.value[row]) - first
        if table.opcode[at] in _NO_VALUE_OF_THEIRS:
            continue
        if not context.block_is_reached[table.block[at]]:
            continue
        variable = program.strings[int(program.variables.name[bindings.variable[row]])]
        span = span_of(context, at)
        if span is None or not span.line or (span, variable) in seen:
            continue
        seen.add((span, variable))
        function = program.functions[int(program.instruction_function[at])].name
        message = f"the value that '{variable}' gets here is never used"
        step = Location(span, f"'{variable}' gets a value that nothing reads")
        yield Finding(rules.DEAD_STORE, span, message, function, path=(step,))


def unread(context: Context) -> Iterator[tuple[int, int, bool]]:
    """Yield stores that no load reads: instruction, local variable, whether others are read."""
    table = context.program.instructions
    memory = context.points_to.memory_ssa(calls_read=True)
    is_live = np.zeros(memory.names.n_names, bool)
    waiting = distinct(memory.reads.name[memory.reads.name >= 0])
    sources = memory.sources
    while len(waiting):
        is_live[waiting] = True
        _, place = ragged(sources.offsets[waiting], sources.offsets[waiting + 1])
        more = distinct(sources.values[place].astype(np.int64))
        waiting = more[~is_live[more]]
    is_used = np.zeros(len(table), bool)
    is_used[memory.writes.instruction[is_live[memory.writes.name]]] = True
    is_named = np.zeros(len(table), bool)
    is_named[memory.writes.instruction] = True
    for row, local in _stores_to_locals(context):
        if not is_used[row] and context.block_is_reached[table.block[row]]:
            yield row, local, bool(is_named[row])


def dead_stores(context: Context) -> Iterator[Finding]:
    """Yield a finding for each store to a local variable that no load reads."""
    program = context.program
    seen = set()
    for row, local, is_named in unread(context):
        names = program.variables_of(program.bases[ValueKind.INSTRUCTION] + local)
        span = span_of(context, row)
        if not names or span is None or not span.line or (span.file, span.line) in seen:
            continue
        if _is_habit(context, row, local, span.line):
            continue
        seen.add((span.file, span.line))
        function = program.functions[int(program.instruction_function[row])].name
        why = "is overwritten, or its function ends," if is_named else "is forgotten"
        message = f"what is stored in '{names[0]}' here is never read"
        step = Location(span, f"what is stored in '{names[0]}' {why} before anything reads it")
        yield Finding(rules.DEAD_STORE, span, message, function, path=(step,))


def _stores_to_locals(context: Context) -> Iterator[tuple[int, int]]:
    """Yield stores and fills, with the local variable of the same function that each is to.

    The address is that of the variable or of a part of it, as the instructions say: a pointer from
    elsewhere might lead to the variable of another activation. The variable has not escaped.
    """
    table = context.program.instructions
    escaped = _escaped_locals(context)
    plain = (table.opcode == Opcode.STORE) & ~_is_volatile(context)
    fills = _fills(context)
    for row in np.flatnonzero(plain).tolist() + fills:
        at = int(table.offsets[row]) + 1
        local = _variable_of(context, int(table.operands[at]))
        if local >= 0 and local not in escaped:
            yield row, local


def _fills(context: Context) -> list[int]:
    program, table = context.program, context.program.instructions
    calls = np.flatnonzero(table.opcode == Opcode.CALL)
    callee = table.operands[table.offsets[calls]]
    calls, callee = calls[callee < len(program.globals)], callee[callee < len(program.globals)]
    is_fill = program.strings.begin_with(program.globals.name[callee], b"llvm.memset.")
    return [int(row) for row in calls[is_fill]]


def _variable_of(context: Context, value: int) -> int:
    """Return the alloca that an address is of, or of a part of; -1."""
    program, table = context.program, context.program.instructions
    row = value - program.bases[ValueKind.INSTRUCTION]
    while row >= 0 and table.opcode[row] in (Opcode.GETELEMENTPTR, Opcode.BITCAST):
        row = int(table.operands[table.offsets[row]]) - program.bases[ValueKind.INSTRUCTION]
    return row if row >= 0 and table.opcode[row] == Opcode.ALLOCA else -1


def _escaped_locals(context: Context) -> set[int]:
    """Return the allocas whose storage code outside may reach."""
    system, solution = context.points_to.system, context.points_to.solution
    first = context.program.bases[ValueKind.INSTRUCTION]
    allocation = system.locations.allocation[np.flatnonzero(solution.escaped)]
    sites: I64 = system.allocations.site[allocation].astype(np.int64)
    return {int(site) - first for site in sites}


def _is_habit(context: Context, row: int, local: int, line: int) -> bool:
    """Return whether a store is an initialiser with a constant, as many write in any case."""
    program, table = context.program, context.program.instructions
    place = table.offsets[row] + (0 if table.opcode[row] == Opcode.STORE else 2)
    kind, constant = program.locate(int(table.operands[place]))
    if kind != ValueKind.CONSTANT or program.constants.kind[constant] == ConstantKind.EXPRESSION:
        return False
    rows = program.variable_rows_of(program.bases[ValueKind.INSTRUCTION] + local)
    spans = program.variables.span[rows]
    return bool((program.spans.line[spans[spans >= 0]] == line).any())


CLIENT = Client("Which values are stored and never read?", answer)
