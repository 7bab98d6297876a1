"""What is wrong with the calls of a program, as far as points-to sets show it.

Sets hold every address that may reach a pointer in any run, so *never* is sound: a call whose
pointer holds nothing has no target in any run, and a function that no chain of calls reaches is
never called. *May* would be a guess: where only some of the functions in a set do not fit a call,
or a pointer may be null besides, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kleene import analyses
from kleene.analyses.points_to import rules
from kleene.analyses.points_to.answers.sets import Solved
from kleene.analyses.points_to.entries import entries_of
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import Bools, Ints, distinct
from kleene.base.demangling import demangled, without_parameters
from kleene.base.errors import Span
from kleene.base.source_text import source_line
from kleene.ir import Block, Call, Constant, Function, Instruction, Program, Type, Value
from kleene.ir.codes import (
    CASTS,
    ConstantKind,
    GlobalKind,
    Linkage,
    Opcode,
    Predicate,
    TypeFlag,
    TypeKind,
    ValueKind,
)
from kleene.results import Finding, Location, Rule, apply_suppressions, rules_in
from kleene.results.call_graph import DIRECT, INDIRECT, CallGraph

_REPLACEABLE = frozenset(
    (
        Linkage.AVAILABLE_EXTERNALLY,
        Linkage.LINKONCE,
        Linkage.LINKONCE_ODR,
        Linkage.WEAK,
        Linkage.WEAK_ODR,
    )
)
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++")  # what headers define is used elsewhere
_SCALARS = (TypeKind.INT, TypeKind.FLOAT, TypeKind.POINTER)


def findings_of(solved: Solved, graph: CallGraph) -> list[Finding]:
    """Return all findings about code that can be reached, by place, suppressions applied."""
    found = _Findings(solved, graph)
    every = dict.fromkeys([*found.unreachable(), *found.without_target(), *found.misfits()])
    files = files_of(solved.program)
    return apply_suppressions(every, files, rules_in(rules), analyses.all_rules)


def files_of(program: Program) -> list[str]:
    """Return the paths of all files that code of the program comes from."""
    return [program.strings[symbol] for symbol in distinct(program.spans.file).tolist()]


class _Findings:
    def __init__(self, solved: Solved, graph: CallGraph) -> None:
        self._program, self._system = solved.program, solved.system
        self._solution, self._graph = solved.solution, graph
        self._reached = self._reached_functions()
        callers = graph.caller
        self._runs = (callers >= 0) & self._reached[np.maximum(callers, 0)] & (graph.call >= 0)

    def _reached_functions(self) -> Bools:
        """Return for each function whether it may be called, from main or from outside.

        The call graph leaves out functions that take another number of arguments. On most
        machines such a call runs them all the same, so here they count as called.
        """
        starts = [self._graph.n_functions]  # the outside
        starts += entries_of(self._program).tolist()
        starts += self._run_by_the_loader()
        found = np.zeros(self._graph.n_functions + 1, bool)
        while starts:
            for start in starts:
                if not found[start]:
                    found |= self._graph.reached(start)
            starts = [] if found.all() else self._held_by_calls(found)
        return found[:-1]

    def _held_by_calls(self, reached: Bools) -> list[int]:
        """Return the functions not reached yet whose addresses reached calls go through."""
        graph = self._graph
        runs = (graph.kind == INDIRECT) & (graph.caller >= 0) & reached[graph.caller]
        nodes = graph.callee[runs]
        rows = distinct(self._solution.row_of[nodes[nodes >= 0]])
        held = [self._solution.rows.objects(row) for row in rows.tolist()]
        objects = distinct(np.concatenate([np.empty(0, np.int64), *held]))
        return [row for row in self._functions_among(objects) if not reached[row]]

    def _run_by_the_loader(self) -> list[int]:
        """Return what must be kept, for others or for the loader: `llvm.used` and aliases too."""
        table = self._program.globals
        kept = np.isin(table.kind, (GlobalKind.ALIAS, GlobalKind.IFUNC))
        kept |= table.linkage == Linkage.APPENDING  # llvm.global_ctors and its like
        initial = table.initializer[kept]
        waiting = [self._program.value_view(v) for v in initial[initial >= 0].tolist()]
        found: list[int] = []
        while waiting:
            value = waiting.pop()
            if isinstance(value, Constant):
                waiting += value.operands
            elif value.kind == ValueKind.GLOBAL and (function := getattr(value, "function", None)):
                found.append(function.row)
        return found

    # Functions

    def unreachable(self) -> Iterator[Finding]:
        """Yield the functions that nothing calls."""
        for row in np.flatnonzero(~self._reached).tolist():
            function = self._program.functions[row]
            span = _in_characters(function.span)
            is_theirs = span is None or not span.file.endswith(SOURCES)
            if function.is_declaration or is_theirs or function.linkage in _REPLACEABLE:
                continue
            message = f"'{_name(function)}' is never called: no call that may run leads to it"
            yield Finding(rules.UNREACHABLE_FUNCTION, span, message, function.name)

    # Calls through pointers that hold no function

    def without_target(self) -> Iterator[Finding]:
        """Yield the calls through pointers that hold no function at all."""
        graph = self._graph
        empty = (graph.kind == INDIRECT) & (graph.n_targets == 0) & ~graph.may_leave & self._runs
        for site in np.flatnonzero(empty).tolist():
            node = int(graph.callee[site])
            objects = self._solution.of(node)
            if self._solution.unknown[node] or len(self._functions_among(objects)):
                continue  # not known, or a function that takes other arguments: see `misfits`
            call = self._call(site)
            name = self._pointer(call)
            if len(objects):
                held = ", ".join(graph.naming.object(int(o)) for o in objects[:3])
                more = f" and {len(objects) - 3} more" if len(objects) > 3 else ""
                message = f"what is called here is never a function, only {held}{more}"
                yield self._about(rules.NO_TARGET, site, message)
            elif _is_number(call.callee):
                continue
            elif _is_tested(call):
                message = f"this call is never made: {name} is tested, and nothing sets it"
                yield self._about(rules.DEAD_CALL, site, message)
            else:
                yield self._about(rules.NULL_CALL, site, _never_set(call.callee, name))

    def _pointer(self, call: Call) -> str:
        """Return what people call the pointer that is called: a variable, or where it is kept."""
        value = _stripped(call.callee)
        if getattr(value, "opcode", None) == Opcode.LOAD:
            value = value.operands[0]  # type: ignore[attr-defined]
        name = self._graph.naming.readable(value.id).removeprefix("&")
        return "the pointer" if "%" in name else f"'{name}'"

    def _functions_among(self, objects: Ints) -> list[int]:
        """Return the functions (rows) whose addresses are among objects."""
        problem = self._system.problem
        is_held = np.isin(problem.function_object, objects)
        allocation = self._system.locations.allocation[problem.function_object[is_held]]
        rows = self._program.globals.function[self._system.allocations.site[allocation]]
        is_own = self._system.allocations.kind[allocation] == AllocationKind.FUNCTION
        found: list[int] = rows[is_own].tolist()
        return found

    # Calls that do not fit what they call

    def misfits(self) -> Iterator[Finding]:
        """Yield the calls none of whose targets takes the arguments that they pass."""
        graph = self._graph
        written = self._runs & (graph.kind <= INDIRECT) & ~graph.may_leave & ~self._fits_exactly()
        for site in np.flatnonzero(written).tolist():
            targets = graph.targets_of(site).tolist()
            if not targets and graph.kind[site] != DIRECT:
                targets = self._functions_among(self._solution.of(int(graph.callee[site])))
            call = self._call(site)
            functions = [self._program.functions[row] for row in targets]
            faults = [_misfit(call, function) for function in functions]
            if faults and all(faults):
                rule, message = next(fault for fault in faults if fault)
                yield self._misfit(rule, message, site, functions[0])

    def _fits_exactly(self) -> Bools:
        """Return the sites that have a target of the very type that they call."""
        graph, program = self._graph, self._program
        types = program.globals.type[program.function_table.value]
        sites = np.repeat(np.arange(len(graph.call)), graph.n_targets)
        same = program.instructions.about[graph.call[sites]] == types[graph.targets]
        same &= graph.call[sites] >= 0
        return np.bincount(sites[same], minlength=len(graph.call)) > 0

    def _misfit(self, rule: Rule, message: str, site: int, function: Function) -> Finding:
        finding = self._about(rule, site, message)
        name = _name(function)
        if function.span is not None:
            what = "declared" if function.is_declaration else "defined"
            place = Location(_in_characters(function.span), f"'{name}' is {what} here")
            finding = replace(finding, related=(place,))
        if self._graph.kind[site] == DIRECT or not self._graph.n_targets[site]:
            return finding
        steps = self._graph.explain(site, self._graph.name(function.row)).steps
        return replace(
            finding,
            path=tuple(Location(_in_characters(step.span), step.text) for step in steps),
        )

    # What findings have in common

    def _about(self, rule: Rule, site: int, message: str) -> Finding:
        call = self._call(site)
        return Finding(rule, _in_characters(call.span), message, call.function.name)

    def _call(self, site: int) -> Call:
        call = self._program.instruction_view(int(self._graph.call[site]))
        assert isinstance(call, Call)
        return call


def _name(function: Function) -> str:
    name = demangled(function.name)
    return without_parameters(name) if name else function.source_name or function.name


def _in_characters(span: Span | None) -> Span | None:
    """Return a place of clang's, whose columns count bytes, with the column in characters."""
    if span is None or not span.column:
        return span
    before = source_line(span.file, span.line).encode()[: span.column - 1]
    return replace(span, column=len(before.decode(errors="ignore")) + 1) if before else span


# Pointers that hold nothing


def _stripped(value: Value) -> Value:
    """Return what a value is before casts."""
    while getattr(value, "opcode", None) in (*CASTS, Opcode.FREEZE):
        value = value.operands[0]  # type: ignore[attr-defined]
    return value


def _is_number(callee: Value) -> bool:
    """Return whether an address is called that the program writes as a number, such as a ROM's."""
    value = _stripped(callee)
    return isinstance(value, Constant) and bool(value.integer)


def _never_set(callee: Value, name: str) -> str:
    value = _stripped(callee)
    kind = value.constant_kind if isinstance(value, Constant) else None
    if kind in (ConstantKind.NULL, ConstantKind.INT):
        return "this call goes through a null pointer"
    if kind in (ConstantKind.UNDEF, ConstantKind.POISON):
        return "this call goes through a pointer that is not initialised"
    through = "it goes through a null or uninitialised pointer"
    return f"{name} is never set: if this call is made, {through}"


def _is_tested(call: Call) -> bool:
    """Return whether the way to a call leads through a test that its pointer is not null."""
    blocks = call.function.blocks
    edges = ((block, _where_set(block, call.callee)) for block in blocks)
    return any(
        then is not None and not _leads_to(blocks[0], call.block, without=(block, then))
        for block, then in edges
    )


def _leads_to(start: Block, end: Block, without: tuple[Block, Block]) -> bool:
    """Return whether control can get from one block to another without an edge."""
    seen, waiting = {start}, [start]
    while waiting:
        block = waiting.pop()
        if block == end:
            return True
        following = [b for b in block.successors if b not in seen and (block, b) != without]
        seen.update(following)
        waiting += following
    return False


def _where_set(block: Block, pointer: Value) -> Block | None:
    """Return where a block goes if a pointer is not null, if that is what it tests."""
    last = block.terminator
    if last is None or last.opcode != Opcode.BR or len(last.operands) != 3:
        return None
    test, then, other = last.operands
    if not isinstance(test, Instruction) or test.opcode != Opcode.ICMP or then == other:
        return None
    left, right = test.operands
    predicate = Predicate(test.program.instructions.sub[test.row])
    if predicate not in (Predicate.EQ, Predicate.NE):
        return None
    tested = left if _is_null(right) else right if _is_null(left) else None
    if tested is None or not _same(tested, pointer):
        return None
    found = then if predicate == Predicate.NE else other
    assert isinstance(found, Block)
    return found


def _is_null(value: Value) -> bool:
    return isinstance(value, Constant) and value.constant_kind == ConstantKind.NULL


def _same(left: Value, right: Value) -> bool:
    """Return whether two values are one register, or are loaded from one address."""
    left, right = _stripped(left), _stripped(right)
    if left == right:
        return True
    opcodes = {getattr(left, "opcode", None), getattr(right, "opcode", None)}
    if opcodes not in ({Opcode.LOAD}, {Opcode.GETELEMENTPTR}):
        return False
    mine, theirs = left.operands, right.operands  # type: ignore[attr-defined]
    return len(mine) == len(theirs) and all(map(_same, mine, theirs))


# Calls and what they call


def _misfit(call: Call, function: Function) -> tuple[Rule, str] | None:
    """Return why a call does not fit a function, or None if it does."""
    if function.name.startswith("llvm."):
        return None
    result, *parameters = function.type.elements
    takes_more = bool(function.program.types.flags[function.type.row] & TypeFlag.VARARG)
    given = [argument.type for argument in call.arguments]
    name, n = _name(function), len(parameters)
    if len(given) < n or (len(given) > n and not takes_more):
        least = "at least " if takes_more else ""
        takes = f"takes {least}{_arguments(n)}"
        return rules.CALL_ARITY, f"'{name}' {takes}, and {_passed(len(given))}"
    for i, (passed, taken) in enumerate(zip(given, parameters, strict=False), 1):
        if _differs(passed, taken):
            message = f"argument {i} of '{name}' is {_kind(taken)}, and {_kind(passed)} is passed"
            return rules.CALL_TYPE, message
    if call.users and _differs(call.type, result):
        message = f"'{name}' returns {_kind(result)}, and {_kind(call.type)} is taken back"
        return rules.CALL_TYPE, message
    return None


def _differs(left: Type, right: Type) -> bool:
    """Return whether two types travel differently; structs and vectors are not compared."""
    if left.row == right.row:
        return False
    kinds = left.kind, right.kind
    if TypeKind.VOID in kinds:
        return True
    if not all(kind in _SCALARS for kind in kinds):
        return False
    return kinds[0] != kinds[1] or (kinds[0] != TypeKind.POINTER and left.bits != right.bits)


def _kind(type: Type) -> str:
    if type.kind == TypeKind.VOID:
        return "nothing"
    if type.kind == TypeKind.POINTER:
        return "a pointer"
    words = {TypeKind.INT: "an integer", TypeKind.FLOAT: "a floating-point number"}
    return f"{words[type.kind]} of {type.bits} bits"


def _arguments(n: int) -> str:
    return "1 argument" if n == 1 else f"{n} arguments"


def _passed(n: int) -> str:
    return "1 is passed" if n == 1 else f"{n} are passed" if n else "none is passed"
