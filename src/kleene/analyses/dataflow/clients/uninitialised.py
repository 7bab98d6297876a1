"""Which variables are used before they have a value?

Evidence is an undefined value that reaches a use on some path. Locals whose address is not taken
become registers before the analysis, and LLVM then drops undefined values that meet others: sources
are to be compiled with `-ftrivial-auto-var-init=pattern`, by which locals start as bytes 0xAA: what
has these was not assigned. Constants of these bytes that are used as masks are left out.

A write that may assign a variable in memory, a call that gets its address among them, counts as an
assignment. A call that gets the variable's address, and whose callee reads and never writes it, is
a use. What a callee may read by ways through memory is none: an address that was once stored
somewhere would make every later call a use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.data_graph import EdgeKind
from kleene.analyses.dataflow.evidence import (
    Evidence,
    Path,
    span_of,
    steps,
    undefined_constants,
)
from kleene.base.arrays import I64, Bools, Ints, distinct, ragged
from kleene.ir.codes import BINARY, CALLS, CASTS, ConstantKind, Opcode, TypeKind, ValueKind
from kleene.results import Finding, Location
from kleene.transforms.memory_ssa import MemorySSA
from kleene.transforms.splitting import NameKind


def answer(context: Context) -> Answer:
    """Return the uses of variables that may have no value."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each use of what may be undefined."""
    graph, program, table = context.data, context.program, context.program.instructions
    gen = np.zeros(graph.n_names, bool)
    patterns = pattern_constants(context)
    gen[patterns] = True
    gen[_unwritten(context)] = True
    gen[_filled(context)] = True
    kill = _assigned(context)
    kill[program.bases[ValueKind.ARGUMENT] : program.bases[ValueKind.BLOCK]] = True
    kill[graph.first_result : graph.first_result + len(program.function_table)] = True
    along = EdgeKind.SAME | EdgeKind.CAST
    evidence = Evidence(context, graph, gen, kill, along)
    behind, before = _left_by_calls(context)
    if (left := evidence.has(before)).any():
        gen[behind[left]] = True
        evidence = Evidence(context, graph, gen, kill, along)
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    place = np.arange(len(owner)) - table.offsets[owner]
    opcode = table.opcode[owner]
    uses = np.isin(opcode, [*BINARY, *(CASTS - {Opcode.BITCAST}), Opcode.ICMP, Opcode.FCMP,
                            Opcode.GETELEMENTPTR])  # fmt: skip
    # What is switched on, not the cases: 0xAA may be one of them.
    uses |= np.isin(opcode, (Opcode.BR, Opcode.SWITCH, Opcode.SELECT)) & (place == 0)
    uses |= (opcode == Opcode.LOAD) | ((opcode == Opcode.STORE) & (place == 1))
    # Reading a variable to pass or return it is a use as well: what becomes of it is not followed.
    uses |= np.isin(opcode, list(CALLS)) & (place > 0) & ~_is_note(context)[owner]
    uses |= opcode == Opcode.RET
    names = context.split.operand.astype(np.int64)
    rows = np.flatnonzero(uses & context.block_is_reached[table.block[owner]])
    undefined = np.zeros(graph.n_names, bool)
    undefined[undefined_constants(context)] = True
    # Compilers pass and return undefined constants where nobody reads them.
    hands_on = np.isin(opcode, [*CALLS, Opcode.RET])
    rows = rows[evidence.has(names[rows]) | (undefined[names[rows]] & ~hands_on[rows])]
    kinds = program.types.kind[program.value_types[table.operands[rows]]]
    rows = rows[np.isin(kinds, (TypeKind.INT, TypeKind.POINTER, TypeKind.FLOAT))]
    # Masks of these bytes are not unusual.
    is_mask = np.isin(opcode, (Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.ICMP, Opcode.STORE))
    rows = rows[~(is_mask[rows] & np.isin(names[rows], patterns))]
    rows = rows[~_is_insertion(context)[owner[rows]]]
    uses_of = [(int(owner[at]), int(names[at])) for at in rows.tolist()]
    uses_of += _read_by_calls(context, evidence)
    seen = set()
    for row, name in sorted(uses_of):
        span = span_of(context, row)
        if span is None or (span.file, span.line) in seen:
            continue
        seen.add((span.file, span.line))
        is_known = name >= 0 and not undefined[name]
        way = evidence.path(name) if is_known else Path(name, [], [], {})
        path = [*steps(context, way, row, "no value"), Location(span, "it is used")]
        what = "a variable"
        if 0 <= name < context.split.n_names:
            what = _what(context, int(context.split.value_of(np.array([name]))[0]))
        function = program.functions[int(program.instruction_function[row])].name
        message = f"{what} may be used before it has a value"
        yield Finding(rules.UNINITIALISED, span, message, function, path=tuple(path))


def _what(context: Context, value: int) -> str:
    """Return what a value is in the source: a variable, or a part of one that is in memory."""
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    if called := program.variables_of(value):
        return f"'{called[0]}'"
    row, is_part = value - first, False
    if row >= 0 and table.opcode[row] == Opcode.LOAD:
        row = int(table.operands[table.offsets[row]]) - first
        while row >= 0 and table.opcode[row] == Opcode.GETELEMENTPTR:
            row, is_part = int(table.operands[table.offsets[row]]) - first, True
        is_local = row >= 0 and table.opcode[row] == Opcode.ALLOCA
        if is_local and (called := program.variables_of(first + row)):
            return f"a part of '{called[0]}'" if is_part else f"'{called[0]}'"
    return "a variable"


def _is_insertion(context: Context) -> Bools:
    """Return which instructions clear bits of a word for others to be put there.

    So bit-fields are assigned, and parts of a variable that is taken apart are put together, from
    a word of which nothing is defined yet: `(undef & 0xff) | (high << 8)`, then
    `(that & ~0xff) | low`.
    """
    program, table = context.program, context.program.instructions
    offsets, users = program.users
    is_or = np.concatenate((table.opcode == Opcode.OR, [False]))
    first = program.bases[ValueKind.INSTRUCTION]
    rows = np.flatnonzero(table.opcode == Opcode.AND)
    owner, place = ragged(offsets[first + rows], offsets[first + rows + 1])
    other = np.bincount(owner, ~is_or[users[place]], minlength=len(rows)) > 0
    found = np.zeros(len(table), bool)
    found[rows[~other]] = True
    return found


def pattern_constants(context: Context) -> I64:
    """Return the constants whose bytes are all 0xAA: what locals start as."""
    program, table = context.program, context.program.constants
    types = program.types
    bits = np.where(types.kind[table.type] == TypeKind.INT, types.bits[table.type], 0)
    mask = np.where(bits < 64, (1 << np.minimum(bits, 62)) - 1, -1)
    pattern = np.int64(-0x5555555555555556) & mask
    found = (table.kind == ConstantKind.INT) & (bits >= 8) & (table.payload & mask == pattern)
    expressions = np.flatnonzero(table.kind == ConstantKind.EXPRESSION)
    inner = table.operands[np.minimum(table.offsets[expressions], len(table.operands) - 1)]
    is_address = table.opcode[expressions] == Opcode.INTTOPTR
    first = program.bases[ValueKind.CONSTANT]
    inside = is_address & (inner >= first) & (inner < first + len(table))
    found[expressions[inside]] = found[inner[inside] - first]
    return first + np.flatnonzero(found)


def _assigned(context: Context) -> Bools:
    """Return the names that count as assigned.

    These are regions and groups of memory, which stand for any time, and what calls write.
    """
    graph, memory = context.data, context.data.memory
    first = memory.n_names - memory.memory.names.n_names
    found = np.zeros(graph.n_names, bool)
    found[graph.first_memory : graph.first_memory + first] = True
    found[graph.first_memory + memory.constant_names] = False  # what locals start as is among them
    row = memory.instruction[first:]
    is_call = np.zeros(len(row), bool)
    opcode = context.program.instructions.opcode
    is_call[row >= 0] = np.isin(opcode[row[row >= 0]], list(CALLS))
    is_call[is_call] = ~_fills_with_pattern(context)[row[is_call]]
    found[graph.first_memory + first + np.flatnonzero(is_call)] = True
    return found


def _left_by_calls(context: Context) -> tuple[I64, I64]:
    """Return names of memory behind calls that may leave it as it was, and the names before.

    Nobody asks how such a call ended, and one of the functions that it may reach has a path to its
    end on which it does not write there.
    """
    graph, memory = context.data, context.data.memory
    writes, table = memory.memory.writes, context.program.instructions
    first = graph.first_memory + memory.n_names - memory.memory.names.n_names
    is_call = np.isin(table.opcode[writes.instruction], list(CALLS)) & (writes.before >= 0)
    is_void = context.program.types.kind[table.type] == TypeKind.VOID
    n_users = np.diff(context.program.users[0])[context.program.bases[ValueKind.INSTRUCTION] :]
    is_call &= ~is_void[writes.instruction] & (n_users[writes.instruction] == 0)
    is_call &= ~context.calls.may_return_any[writes.instruction]
    found = np.flatnonzero(is_call)
    calls = context.calls
    order = np.argsort(calls.call, kind="stable")
    rows = writes.instruction[found]
    owner, place = ragged(
        np.searchsorted(calls.call[order], rows, side="left"),
        np.searchsorted(calls.call[order], rows, side="right"),
    )
    is_left = np.zeros(len(found), bool)
    function = calls.function[order[place]]
    for one in distinct(function).tolist():  # what its instructions write is looked up once
        leaves = _may_leave(context, one)
        for nth in owner[function == one].tolist():
            regions = memory.memory.locations[writes.variable[found[nth]]]
            is_left[nth] = is_left[nth] or leaves(regions)
    found = found[is_left]
    return first + writes.name[found], first + writes.before[found]


def _may_leave(context: Context, function: int) -> Callable[[Ints], bool]:
    """Return whether a function may end without writing to some regions of memory, as a test."""
    program, blocks = context.program, context.split.flow.blocks
    table = program.instructions
    start, end = program.function_table.block_offsets[function : function + 2].tolist()
    rows = np.arange(*program.blocks.instruction_offsets[[start, end]].tolist())
    _, written = context.points_to.effects.instruction_bits(rows)
    returns = set(table.block[rows[table.opcode[rows] == Opcode.RET]].tolist())

    def leaves(regions: Ints) -> bool:
        bits = np.uint64(1) << (regions & 63).astype(np.uint64)
        is_write = (written[:, regions >> 6] & bits != 0).any(axis=1)
        stops = set(table.block[rows[is_write]].tolist())
        waiting, seen = [start], {start}
        while waiting:
            block = waiting.pop()
            if block in stops:
                continue
            if block in returns:
                return True
            more = set(blocks.targets[blocks.offsets[block] : blocks.offsets[block + 1]].tolist())
            more -= seen
            seen |= more
            waiting += more
        return False

    return leaves


def _read_by_calls(context: Context, evidence: Evidence) -> list[tuple[int, int]]:
    """Return the calls that get the address of what has no value, read it and never write it.

    The names are -1.
    """
    points_to, table = context.points_to, context.program.instructions
    memory = points_to.memory_ssa(calls_read=True, only_overwritten=True)
    reads = memory.reads
    is_call = np.isin(table.opcode[reads.instruction], list(CALLS)) & (reads.name >= 0)
    is_call &= ~context.calls.may_return_any[reads.instruction]
    is_call &= context.block_is_reached[table.block[reads.instruction]]
    rows = distinct(reads.instruction[is_call])
    _, writes = points_to.effects.instruction_bits(rows)
    chosen = np.flatnonzero(is_call)
    variable, offsets = reads.variable[chosen], memory.locations.offsets
    owner, place = ragged(offsets[variable], offsets[variable + 1])
    region = memory.locations.values[place].astype(np.uint64)
    words = writes[np.searchsorted(rows, reads.instruction[chosen])[owner], region >> np.uint64(6)]
    is_written = words >> (region & np.uint64(63)) & np.uint64(1) != 0
    n_written = np.bincount(owner[is_written], minlength=len(chosen))
    found = []
    for index in chosen[n_written == 0].tolist():
        row = int(reads.instruction[index])
        locations = memory.locations[int(reads.variable[index])].tolist()
        if not _is_passed(context, row, locations):
            continue
        if _is_undefined(context, evidence, memory, int(reads.name[index])):
            found.append((row, -1))
    return found


def _is_passed(context: Context, call: int, regions: list[int]) -> bool:
    """Return whether an argument of a call is an address in the variable of regions, for sure."""
    points_to, table = context.points_to, context.program.instructions
    solution, allocation = points_to.solution, points_to.system.locations.allocation
    wanted = {int(allocation[o]) for region in regions for o in points_to.regions.members[region]}
    for value in table.operands_of(call)[1:].tolist():
        held = solution.rows.objects(int(solution.row_of[value]))
        if len(held) and not solution.unknown[value] and set(allocation[held].tolist()) <= wanted:
            return True
    return False


def _is_undefined(context: Context, evidence: Evidence, memory: MemorySSA, name: int) -> bool:
    """Return whether a name of memory may be that of a variable before it is assigned."""
    table, names = context.program.instructions, memory.names
    waiting, seen = [name], {-1}
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        if names.kind[one] != NameKind.PROGRAM:
            waiting += names.operands_of(one)
        elif one >= memory.n_variables:
            row = int(memory.writes.instruction[one - memory.n_variables])
            stored = int(context.split.operand[table.offsets[row]])
            if table.opcode[row] == Opcode.ALLOCA or _fills_with_pattern(context)[row]:
                return True
            if table.opcode[row] == Opcode.STORE and evidence.has(np.array([stored]))[0]:
                return True
    return False


def _fills_with_pattern(context: Context) -> Bools:
    """Return which instructions make a variable bytes of 0xAA."""
    if "fills_with_pattern" in context.__dict__:
        found: Bools = context.__dict__["fills_with_pattern"]
        return found
    program, table, known = context.program, context.program.instructions, context.program.constants
    rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callee = table.operands[table.offsets[rows]]
    rows, callee = rows[callee < len(program.globals)], callee[callee < len(program.globals)]
    rows = rows[program.strings.begin_with(program.globals.name[callee], b"llvm.memset.")]
    constant = table.operands[table.offsets[rows] + 2] - program.bases[ValueKind.CONSTANT]
    is_known = (constant >= 0) & (constant < len(known))
    rows, constant = rows[is_known], constant[is_known]
    is_fill = (known.kind[constant] == ConstantKind.INT) & (known.payload[constant] & 0xFF == 0xAA)
    found = np.zeros(len(table), bool)
    found[rows[is_fill]] = True
    context.__dict__["fills_with_pattern"] = found
    return found


def _filled(context: Context) -> I64:
    """Return the names of variables in memory that were filled with bytes of 0xAA."""
    graph, memory = context.data, context.data.memory
    first = memory.n_names - memory.memory.names.n_names
    rows = memory.instruction[first:]
    chosen = rows >= 0
    chosen[chosen] = _fills_with_pattern(context)[rows[chosen]]
    found: I64 = graph.first_memory + first + np.flatnonzero(chosen)
    return found


def _unwritten(context: Context) -> I64:
    """Return the names of local variables in memory before anything is written to them.

    Of a variable that is several locations, or elements of an array, only if nothing of it is ever
    written in its function: which ones are written is not known.
    """
    graph, memory = context.data, context.data.memory
    found = graph.undefined
    versions = memory.memory
    first = memory.n_names - versions.names.n_names
    variable = versions.names.variable[found - graph.first_memory - first]
    table = context.program.instructions
    is_write = table.opcode[versions.writes.instruction] != Opcode.ALLOCA
    written = np.zeros(versions.n_variables, bool)
    written[versions.writes.variable[is_write]] = True
    stride = context.points_to.system.locations.stride
    members = context.points_to.regions.members
    single = np.array(
        [
            len(versions.locations[v]) == 1
            and len(members[int(versions.locations[v][0])]) == 1
            and not stride[members[int(versions.locations[v][0])][0]]
            for v in variable.tolist()
        ],
        bool,
    )
    return found[single | ~written[variable]] if len(found) else found


def _is_note(context: Context) -> Bools:
    """Return which instructions are calls of LLVM's own functions."""
    program, table = context.program, context.program.instructions
    found = np.zeros(len(table), bool)
    rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callee = table.operands[table.offsets[rows]]
    rows, callee = rows[callee < len(program.globals)], callee[callee < len(program.globals)]
    found[rows[program.strings.begin_with(program.globals.name[callee], b"llvm.")]] = True
    return found


CLIENT = Client(
    "Which variables may be used before they have a value?",
    answer,
    flags=("-ftrivial-auto-var-init=pattern",),
)
