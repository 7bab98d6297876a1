"""Which variables are used before they have a value?

Evidence is an undefined value that reaches a use on some path.

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
from kleene.analyses.dataflow.values_needed import (
    are_words,
    must_have_values,
    temporaries,
)
from kleene.base.arrays import I64, Bools, Ints, distinct, ragged
from kleene.ir.codes import BINARY, CALLS, CASTS, Opcode, TypeKind, ValueKind
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
    gen[undefined_constants(context)] = True
    gen[_unwritten(context)] = True
    kill = _assigned(context)
    kill[_temporaries(context)] = True
    kill[program.bases[ValueKind.ARGUMENT] : program.bases[ValueKind.BLOCK]] = True
    kill[graph.first_result : graph.first_result + len(program.function_table)] = True
    along = EdgeKind.SAME | EdgeKind.CAST
    evidence = Evidence(context, graph, gen, kill, along)
    behind, before = _left_by_calls(context)
    if (left := evidence.has(before)).any():
        gen[behind[left]] = True
        evidence = Evidence(context, graph, gen, kill, along)
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    computes = np.isin(table.opcode, [*BINARY, *(CASTS - {Opcode.BITCAST})])
    uses = must_have_values(program) | (computes & ~are_words(program))[owner]
    names = context.split.operand.astype(np.int64)
    rows = np.flatnonzero(uses & context.block_is_reached[table.block[owner]])
    rows = rows[evidence.has(names[rows])]
    kinds = program.types.kind[program.value_types[table.operands[rows]]]
    rows = rows[np.isin(kinds, (TypeKind.INT, TypeKind.POINTER, TypeKind.FLOAT))]
    uses_of = [(int(owner[at]), int(names[at])) for at in rows.tolist()]
    uses_of += _read_by_calls(context, evidence)
    seen = set()
    for row, name in sorted(uses_of):
        span = span_of(context, row)
        if span is None or (span.file, span.line) in seen:
            continue
        seen.add((span.file, span.line))
        way = evidence.path(name) if name >= 0 else Path(name, [], [], {})
        path = [*steps(context, way, row, "no value"), Location(span, "it is used")]
        what = "a variable"
        if 0 <= name < context.split.n_names:
            what = _what(context, row, int(context.split.value_of(np.array([name]))[0]))
        function = program.functions[int(program.instruction_function[row])].name
        message = f"{what} may be used before it has a value"
        yield Finding(rules.UNINITIALISED, span, message, function, path=tuple(path))


def _what(context: Context, user: int, value: int) -> str:
    """Return what a value is in the source: a variable, or a part of one that is in memory."""
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    if program.locate(value)[0] == ValueKind.CONSTANT:
        variables = np.array(program.variable_rows_of(value), np.int64)
        function = program.instruction_function[user]
        variables = variables[program.variables.function[variables] == function]
        symbols = program.variables.name[variables].tolist()
        return f"'{program.strings[symbols[0]]}'" if len(set(symbols)) == 1 else "a variable"
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
    is_call[is_call] = ~context.program.begins_storage[row[is_call]]
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
            if context.program.begins_storage[row]:
                return True
            if table.opcode[row] == Opcode.STORE and evidence.has(np.array([stored]))[0]:
                return True
    return False


def _temporaries(context: Context) -> I64:
    """Return the names of φ that LLVM made of what has no name in the source, and no value yet."""
    first, split = context.program.bases[ValueKind.INSTRUCTION], context.split
    values = split.value_of(np.arange(split.n_names))
    if not len(context.program.instructions):
        return np.empty(0, np.int64)
    rows = np.maximum(values - first, 0)
    is_one = (values >= first) & temporaries(context.program)[rows]
    return np.flatnonzero(is_one)


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
    is_write = ~context.program.begins_storage[versions.writes.instruction]
    written = np.zeros(versions.n_variables, bool)
    written[versions.writes.variable[is_write]] = True
    locations, members = context.points_to.system.locations, context.points_to.regions.members
    single, filled = np.zeros(len(found), bool), _filled_by_index(context)
    for place, one in enumerate(variable.tolist()):
        regions = versions.locations[one]
        objects = members[int(regions[0])] if len(regions) == 1 else regions[:0]
        if len(objects) == 1 and not locations.stride[objects[0]]:
            single[place] = int(locations.allocation[objects[0]]) not in filled
        elif len(regions) == 1:
            written[one] |= not filled.isdisjoint(locations.allocation[objects].tolist())
    return found[single | ~written[variable]] if len(found) else found


def _filled_by_index(context: Context) -> set[int]:
    """Return the allocations to elements of which something is stored by an index."""
    solution, locations = context.points_to.solution, context.points_to.system.locations
    table = context.program.instructions
    pointers = distinct(table.operands[table.offsets[:-1][table.opcode == Opcode.STORE] + 1])
    found: set[int] = set()
    for row in distinct(solution.row_of[pointers]).tolist():
        objects = solution.rows.objects(row)
        found.update(locations.allocation[objects[locations.stride[objects] != 0]].tolist())
    return found


CLIENT = Client("Which variables may be used before they have a value?", answer)
