"""Which pointers that may be null are dereferenced?

Evidence is a null pointer that the program makes, or that a function of the library returns in runs
that happen (`may return null`). It flows as the pointer does, and ends behind tests and behind
accesses through the pointer. Globals and fields that merely start as null are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.data_graph import EdgeKind
from kleene.analyses.dataflow.evidence import (
    Evidence,
    Path,
    calls_with_roles,
    excludes_zero,
    null_constants,
    span_of,
    steps,
    trusted,
)
from kleene.analyses.dataflow.tested import Tested
from kleene.analyses.points_to.library.language import MayReturnNull
from kleene.base.arrays import I64
from kleene.ir.codes import ADDRESS_OPERAND, CALLS, Opcode, TypeKind, ValueKind
from kleene.results import Finding, Location
from kleene.solvers.dataflow.codes import MOST

_DEEPEST = 3  # φs of φs
_SUBJECT = "a pointer that may be null"
_COPIES = ("memcpy", "memmove", "memset")  # their third argument is a number of bytes


def answer(context: Context) -> Answer:
    """Return the accesses through pointers that may be null."""
    return Answer(list(findings(context.forwarded)))


def findings(context: Context) -> Iterator[Finding]:
    """Yield a finding for each access through what may be null, with the way it gets there."""
    graph, program, table = context.data, context.program, context.program.instructions
    gen = np.zeros(graph.n_names, bool)
    gen[null_constants(context)] = True
    always = _always_null(context)
    gen[always] = True
    first = program.bases[ValueKind.INSTRUCTION]
    passed: list[tuple[int, int]] = []  # a call, and which of its operands it trusts
    words: list[str] = []
    origins = dict.fromkeys(always.tolist(), "nothing but null is ever stored there")
    for row, called, roles in calls_with_roles(context):
        if MayReturnNull() in roles:
            gen[first + row] = True
            origins[first + row] = f"{called} may return null"
    for row, operand, called, role in trusted(context):
        if role.use == "address":
            passed.append((row, operand - int(table.offsets[row])))
            words.append(f"is passed to {called}")
    kill = excludes_zero(context, graph.n_names)
    gen &= ~kill
    kinds = EdgeKind.SAME | EdgeKind.FIELD | EdgeKind.WEAK
    evidence = Evidence(context, graph, gen, kill, kinds)
    parts = [np.array(passed, np.int64).reshape(-1, 2)]
    for opcode, place in ADDRESS_OPERAND.items():
        parts.append(_pairs(np.flatnonzero(table.opcode == opcode), place))
    parts.append(_pairs(np.flatnonzero(np.isin(table.opcode, list(CALLS))), 0))
    sinks = np.concatenate(parts)
    first_call = len(sinks) - len(parts[-1])
    at = table.offsets[sinks[:, 0]] + sinks[:, 1]
    useful = at < table.offsets[sinks[:, 0] + 1]
    useful &= context.block_is_reached[table.block[sinks[:, 0]]]
    bases = _bases(context)
    useful[useful] = evidence.has(bases[at[useful]])
    tree, tested = context.split.flow.tree, Tested(context)
    accessed: dict[int, list[int]] = {}
    seen = set()
    order = np.flatnonzero(useful)
    order = order[np.lexsort((sinks[order, 0], tree.pre[table.block[sinks[order, 0]]]))]
    for index in order.tolist():
        row = int(sinks[index, 0])
        what = "is called" if index >= first_call else "is dereferenced"
        what = words[index] if index < len(words) else what
        block = int(table.block[row])
        base = int(bases[at[index]])
        if not evidence.reaches(base, row) or not _survives(context, evidence, tested, base, block):
            continue
        value = int(context.split.value_of(np.array([base]))[0])
        before = accessed.setdefault(value, [])
        if any(tree.dominates(one, block) for one in before) or tested.is_not_null(value, block):
            continue  # the first access tells
        before.append(block)
        span, way = span_of(context, row), evidence.path(base)
        if span is None or (span.file, span.line, what) in seen:
            continue
        if _has_status(context, tested, way, row) or _is_excused(context, tested, way):
            continue
        seen.add((span.file, span.line, what))
        start = way.start
        origin = origins.get(start, "")
        begin = [start - first] if origin else []
        path = steps(context, way, row, "null", origin, begin)
        variables = program.variables_of(value)
        pointer = f"'{variables[0]}'" if variables else "the pointer"
        path.append(Location(span, f"{pointer} {what}"))
        function = program.functions[int(program.instruction_function[row])].name
        subject = f"'{variables[0]}', which may be null," if variables else _SUBJECT
        message = f"{subject} {what}"
        if origin:
            message += f": {origin}"
        is_likely = evidence.is_direct(base) and _is_expected(context, tested, way)
        is_likely = is_likely and not _is_called_back(context, way)
        is_likely = is_likely and not _is_conditional(context, [*way.rows, row])
        is_likely = is_likely and not _may_be_empty(context, row, what)
        rule = rules.NULL_DEREFERENCE if is_likely else rules.POSSIBLE_NULL
        yield Finding(rule, span, message, function, path=tuple(path))


def _always_null(context: Context) -> I64:
    """Return the loads of pointers that are null whenever they are read.

    Such is a field of what `calloc` returns that nothing ever stores to.
    """
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    is_pointer = program.types.kind[table.type] == TypeKind.POINTER
    names = first + np.flatnonzero((table.opcode == Opcode.LOAD) & is_pointer)
    found: I64 = names[context.facts.has_value[names] & (context.facts.rows[names, MOST] == 0)]
    return found


def _pairs(rows: I64, place: int) -> I64:
    """Return instructions beside the number of an operand."""
    return np.stack([rows, np.full(len(rows), place)], axis=1)


def _survives(
    context: Context, evidence: Evidence, tested: Tested, name: int, block: int, depth: int = 0
) -> bool:
    """Return whether one of the ways by which a φ gets null leads to a block."""
    program, table = context.program, context.program.instructions
    phi = name - program.bases[ValueKind.INSTRUCTION]
    if not evidence.has(np.array([name]))[0]:
        return False
    if name >= program.n_values or phi < 0 or depth > _DEEPEST:
        return True
    if table.opcode[phi] != Opcode.PHI:
        return True
    names = context.split.operand[table.offsets[phi] : table.offsets[phi + 1]].tolist()[::2]
    return any(
        _survives(context, evidence, tested, one, block, depth + 1)
        for nth, one in enumerate(names)
        if tested.may_come(nth, phi, block)
    )


def _has_status(context: Context, tested: Tested, way: Path, row: int) -> bool:
    """Return whether a test of a call's result tells that the call has not left a null pointer.

    Such a call has stored it, or left it where it was before. Which results go with null is not
    looked at: it is enough that the program asks.
    """
    program, table = context.program, context.program.instructions
    rows = np.array(way.rows, np.int64)
    loads = rows[table.opcode[rows] == Opcode.LOAD]
    place = int(loads[-1]) if len(loads) else row
    calls = tested.calls(int(table.block[place])) | tested.calls(int(table.block[row]))
    before = rows[: way.rows.index(place)] if len(loads) else rows[:0]
    is_pointer = program.types.kind[table.type[before]] == TypeKind.POINTER
    if calls & {*before[~is_pointer].tolist(), *way.left}:
        return True
    made = np.append(way.start - program.bases[ValueKind.INSTRUCTION], rows)
    made = made[made >= 0]
    of = program.instruction_function
    made = made[np.isin(table.opcode[made], list(CALLS)) & (of[made] == of[row])]
    if any(tested.is_status_of(one, int(table.block[row])) for one in made.tolist()):
        return True
    # Memory that several functions write does not tell by which store: it follows the step before.
    stored = {*of[before[-1:]].tolist()} - {int(of[place])}
    return any(tested.reaches(call, function) for function in stored for call in calls)


def _is_expected(context: Context, tested: Tested, way: Path) -> bool:
    """Return whether the calls that return null are of functions whose results are tested."""
    table, calls = context.program.instructions, context.calls
    rows = [one for one in way.rows if table.opcode[one] == Opcode.RET]
    functions = {int(context.program.instruction_function[one]) for one in rows}
    return len(calls.call) == 0 or all(tested.is_expected(one) for one in functions)


def _is_called_back(context: Context, way: Path) -> bool:
    """Return whether a way goes through a call that may reach several functions.

    `run(work, &data)` and `run(start, NULL)` both call `(*f)(p)` in `run`. Which p goes with which
    f is not looked at, so that null seems to be passed to `work`.
    """
    table, calls = context.program.instructions, context.calls
    rows = [one for one in way.rows if table.opcode[one] in CALLS]
    return any(int((calls.call == one).sum()) > 1 for one in rows)


def _is_excused(context: Context, tested: Tested, way: Path) -> bool:
    """Return whether what is stored was tested before it is read: `if (!(g = f())) return; *g`."""
    program, table = context.program, context.program.instructions
    for one, two in pairwise(way.rows):
        if table.opcode[one] != Opcode.STORE or table.opcode[two] != Opcode.LOAD:
            continue
        value, block = int(table.operands[table.offsets[one]]), int(table.block[two])
        is_here = program.instruction_function[one] == program.instruction_function[two]
        if is_here and tested.is_not_null(value, block):
            return True
    return False


def _is_conditional(context: Context, rows: list[int]) -> bool:
    """Return whether something is asked between where null joins, or is passed, and its use.

    Programs often set a pointer and use it under conditions that go together:
    `if (n) p = malloc(n); … if (n) *p = 0;`. What is used whatever is asked has no such reason.
    """
    program, table = context.program, context.program.instructions
    of = program.instruction_function
    for one, two in pairwise(rows):
        if table.opcode[one] == Opcode.PHI:
            start = int(table.block[one])
        elif table.opcode[one] in CALLS and of[one] != of[two]:
            start = int(program.function_table.block_offsets[of[two]])
        else:
            continue
        if program.blocks.function[start] == of[two] and _may_avoid(
            context, start, int(table.block[two])
        ):
            return True
    return False


def _may_avoid(context: Context, start: int, end: int) -> bool:
    """Return whether control may come from a block to the end of its function without another."""
    program, flow = context.program, context.split.flow.blocks
    table, reached = program.instructions, context.edge_is_reached
    seen, waiting = {start, end}, [start] if start != end else []
    while waiting:
        block = waiting.pop()
        last = int(program.blocks.instruction_offsets[block + 1]) - 1
        if table.opcode[last] == Opcode.RET:
            return True
        edges = range(int(flow.offsets[block]), int(flow.offsets[block + 1]))
        targets = {int(flow.targets[edge]) for edge in edges if reached[edge]} - seen
        seen |= targets
        waiting += targets
    return False


def _may_be_empty(context: Context, row: int, what: str) -> bool:
    """Return whether a copy of no bytes, which may be from or to null in C2y, is possible."""
    table = context.program.instructions
    if not what.endswith(_COPIES):
        return False
    return context.fact(int(context.split.operand[table.offsets[row] + 3])).least == 0


def _bases(context: Context) -> I64:
    """Return for each operand the pointer whose field it is, as that is called there."""
    table, first = context.program.instructions, context.program.bases[ValueKind.INSTRUCTION]
    found = context.split.operand.astype(np.int64)
    value = context.split.value_of(np.arange(context.split.n_names))
    is_address = value >= first
    is_address[is_address] = table.opcode[value[is_address] - first] == Opcode.GETELEMENTPTR
    places = np.flatnonzero(is_address[found])
    while len(places):
        found[places] = context.split.operand[table.offsets[value[found[places]] - first]]
        places = places[is_address[found[places]]]
    return found


CLIENT = Client("Which pointers that may be null are dereferenced?", answer)
