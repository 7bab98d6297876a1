"""The constraints of each row of a program, written down once for each context of its procedure.

Nodes are variables first, then expressions that may hold a procedure or data. Operands have greater
numbers than the rows they belong to, and so have the procedures in a procedure: walking backwards
meets operands first, and inner procedures before outer ones.

A *frame* is the code of a procedure in one context. The variables it binds are its own, if there
are other frames of the procedure. A closure that is made in a frame captures such variables: when
it is called, what they hold flows into the frame of the call, which has them as its own. Assigned
ones are captured as boxes, so that all who captured one see what is assigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kleene.analyses.cfa.builder import (
    CONTINUATION,
    EVERYWHERE,
    INSTANCE,
    LAMBDA,
    PARAMETER,
    TEXT,
    UNBOUND,
    SchemeBuilder,
)
from kleene.analyses.cfa.contexts import Context, Contexts, called, captures_of
from kleene.analyses.cfa.index import ROOT, Index
from kleene.analyses.cfa.layouts import N_EXACT, ArgumentLayout, Tag
from kleene.analyses.cfa.primitives import RAISE_AGAIN, Arguments, Primitives, Use, models
from kleene.base.arrays import I32, Bools
from kleene.base.collector import paused_collector
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import Pair
from kleene.solvers.inclusion import Problem, Solution
from kleene.solvers.inclusion.problem import NONE

# Targets that no row, primitive or variable stands for: a procedure of evaluated text, one that the
# code behind a name without definition returned, and continuations and parameters made nowhere.
UNSEEN = ("evaluated", "outside", "continuation", "parameter")


@dataclass(frozen=True, eq=False)
class ConstraintSystem:
    """What a program says about its procedures, and what the numbers in it stand for.

    A *site* is the row of a call. A primitive that is used as a value has a site of its own, n_rows
    and more: the calls it makes belong to whoever calls it.
    """

    core: Core
    index: Index
    problem: Problem
    nodes_of: list[list[int]]  # per variable: its nodes
    variable_of: dict[int, int]  # per node of a variable
    row_of: dict[int, int]  # per node of an expression: its row
    n_data: int  # objects but for the token's
    object_row: I32  # per object: the row that makes it, or NONE
    procedures: dict[int, tuple[int, int]]  # objects that are procedures: what a function is
    function_kind: I32  # LAMBDA, INSTANCE, ...: see `builder`
    function_which: I32  # the row; of an INSTANCE or TEXT the site, of UNBOUND the variable
    call_site: I32
    call_size: I32  # arguments, or NONE where that is not known
    call_operator: I32  # nodes
    lets: I32  # (n, 2): call and lambda rows
    instances: dict[int, str]  # primitives used as values, by their sites
    layouts: dict[tuple[Tag, int], int]  # of data, numbered
    counts_reachable: bool = False
    contexts: Contexts = field(default_factory=Contexts)
    here_of: dict[int, list[int]] = field(default_factory=dict)  # per closure: its tokens' nodes
    call_context: list[Context] = field(default_factory=list)  # the call, and that of its code
    call_procedure: list[int] = field(default_factory=list)  # whose code it is: a lambda, or ROOT
    evaluations: tuple[tuple[int, int], ...] = ()  # sites of `eval` and `load`, and of their texts
    outside_site: int = NONE  # of calls that the code behind unbound names makes
    hidden: frozenset[int] = frozenset()  # objects that are no values of the program

    @property
    def is_lambda(self) -> Bools:
        """Whether each function is a lambda of the program, in one of its contexts."""
        found: Bools = self.function_kind == LAMBDA
        return found

    @cached_property
    def target_of_function(self) -> I32:
        """What each function is called as a target, or NONE; the same with every m.

        Targets are numbers: first the rows of the program, which stand for the lambda there, or for
        the continuation or parameter that is made there; then its primitives; then its variables,
        for procedures that nothing defines; and last what `UNSEEN` names. No row makes a
        continuation where a redefined name begins as `call/cc`.
        """
        n_rows, kind, which = self.core.n_rows, self.function_kind, self.function_which
        found = np.where(np.isin(kind, (LAMBDA, CONTINUATION, PARAMETER)), which, NONE)
        primitives = {site: n_rows + self.primitive_number[n] for site, n in self.instances.items()}
        for function in np.flatnonzero(kind == INSTANCE).tolist():
            found[function] = primitives[int(which[function])]
        first_variable = n_rows + len(self.primitive_number)
        found[kind == UNBOUND] = first_variable + which[kind == UNBOUND]
        last = first_variable + self.core.n_variables
        found[kind == TEXT] = last + UNSEEN.index("evaluated")
        found[(kind == TEXT) & (which == self.outside_site)] = last + UNSEEN.index("outside")
        for made, name in ((CONTINUATION, "continuation"), (PARAMETER, "parameter")):
            found[(kind == made) & (which == NONE)] = last + UNSEEN.index(name)
        return found.astype(np.int32)

    @cached_property
    def primitive_number(self) -> dict[str, int]:
        """All primitives by their names: numbers of targets are compared between contexts."""
        return {name: number for number, name in enumerate([*table(), RAISE_AGAIN])}

    def foresaw(self, solution: Solution) -> bool:
        """Return whether the contexts of all calls of a solution had been found before."""
        return not self.contexts.depth or all(
            self.contexts.has(row, self.call_context[call]) for call, row in called(self, solution)
        )


def generate(
    index: Index, counts_reachable: bool, contexts: Contexts, is_library: bool = False
) -> ConstraintSystem:
    """Return the constraints of a program; see `CFA` for what the options mean."""
    with paused_collector():
        work = Frames(index, counts_reachable, contexts)
        work.write(is_library)
        return _system(work)


def _system(work: Frames) -> ConstraintSystem:
    """Return the constraints, and what their numbers stand for."""
    w, index = work.builder, work.index
    n_allocations = w.rules.n_allocations  # but for the token
    problem, origins = w.finish()
    function, call = w.rules.notes("function"), w.rules.notes("call")
    nodes_of = work.nodes_of()
    variable_of = {node: v for v, nodes in enumerate(nodes_of) for node in nodes}
    return ConstraintSystem(
        index.core,
        index,
        problem=problem,
        contexts=work.contexts,
        counts_reachable=work.counts_reachable,
        nodes_of=nodes_of,
        variable_of=variable_of,
        row_of={node: row for node, row in work.row_of.items() if node not in variable_of},
        here_of=work.here_of,
        n_data=int(problem.allocation_offsets[n_allocations]),
        object_row=w.rows_of_objects(problem),
        procedures=w.procedures(problem),
        function_kind=function["kind"].astype(np.int32),
        function_which=function["which"].astype(np.int32),
        call_site=origins.call,
        call_size=call["size"].astype(np.int32),
        call_operator=call["operator"].astype(np.int32),
        call_context=w.call_contexts(),
        call_procedure=call["procedure"].tolist(),
        lets=np.array(sorted(work.lets.items()), np.int32).reshape(-1, 2),
        evaluations=tuple(sorted(set(work.primitives.evaluations))),
        outside_site=outside.site if (outside := work.primitives.outside) else NONE,
        instances=work.primitives.instances,
        layouts=w.layouts.layouts,
    )


@dataclass(slots=True, eq=False)
class Frame:
    """A procedure's code in one context; nodes of variables that are not here are the common ones.

    What a variable holds is at its node in `held`, or in the box at its node in `boxes`.
    """

    procedure: int
    context: Context
    offset: int  # of its object in closures
    here: int  # the token's node, or EVERYWHERE
    held: dict[int, int] = field(default_factory=dict)
    boxes: dict[int, int] = field(default_factory=dict)
    formals: list[int] = field(default_factory=list)
    rest: int = NONE
    result: int = NONE


class Frames:
    """Writes the constraints of a program, frame by frame."""

    def __init__(self, index: Index, counts_reachable: bool, contexts: Contexts) -> None:
        core = index.core
        self.core = core
        self.index = index
        self.contexts = contexts
        self.counts_reachable = counts_reachable
        most = int(core.n_bound.max(initial=0))
        longest = int(np.diff(core.operand_offsets)[core.kind == columns.CALL].max(initial=0))
        has_token = counts_reachable or contexts.depth > 0
        layout = ArgumentLayout(int(has_token), max(N_EXACT, most + 1, longest))
        self.builder = SchemeBuilder(core, layout, contexts)
        self.primitives = Primitives(self.builder, index)
        self.captures = captures_of(index, contexts)
        self.frames: dict[int, list[Frame]] = {}
        self.closed: dict[int, int] = {}  # closures that capture nothing: one will do
        self.now = Frame(ROOT, (), 0, EVERYWHERE)
        self.node_of = [NONE] * core.n_rows  # in the frame that is written, and around it
        self.row_of: dict[int, int] = {}
        self.here_of: dict[int, list[int]] = {}
        self.lets: dict[int, int] = {}
        self.steps = {
            columns.CONSTANT: self._constant,
            columns.VARIABLE: self._variable,
            columns.PRIMITIVE: self._primitive,
            columns.LAMBDA: self._lambda,
            columns.CALL: self._call,
            columns.IF: self._if,
            columns.SET: self._set,
            columns.DEFINE: self._define,
            columns.LETREC: self._letrec,
            columns.SEQUENCE: self._sequence,
        }

    def write(self, is_library: bool) -> None:
        """Write everything."""
        self._globals()
        code, top = self._code(), self.now
        for procedure in sorted(code, reverse=True):  # ROOT is last
            frames = [top] if procedure == ROOT else self._open(procedure)
            self.frames[procedure] = frames
            for frame in frames:
                self._write(frame, code[procedure])
        self.row_of.pop(NONE, None)
        is_global = self.core.owner == NONE
        exported = is_global & self.core.is_defined if is_library else np.zeros_like(is_global)
        for variable in np.flatnonzero(exported).tolist():
            self.primitives.export(variable)
        self.primitives.finish(np.flatnonzero(is_global).tolist())

    def nodes_of(self) -> list[list[int]]:
        """Return the nodes of each variable in the frames that bind it."""
        found = [[variable] for variable in range(self.core.n_variables)]
        for procedure, variables in self.captures.own.items():
            for variable in variables:
                found[variable] = [frame.held[variable] for frame in self.frames[procedure]]
        return found

    def _code(self) -> dict[int, list[int]]:
        """Return the rows of each procedure, backwards, but for operators written right there."""
        index, found = self.index, dict[int, list[int]]()
        skipped = set(np.flatnonzero(index.is_let).tolist())
        for row in np.flatnonzero(self.core.kind == columns.CALL).tolist():
            operator = index.below(row)[0]
            if index.kind[operator] == columns.PRIMITIVE:
                skipped.add(operator)
        found[ROOT] = []
        for row in np.flatnonzero(self.core.kind == columns.LAMBDA).tolist():
            if not index.is_let[row]:
                found[row] = []
        for row in range(self.core.n_rows - 2, -1, -1):
            if row not in skipped:
                found[index.procedure[row]].append(row)
        return found

    def _globals(self) -> None:
        """Let globals begin as what they are before they are given a value.

        That is a primitive; or a procedure from outside of the program, where nothing defines it.
        """
        starts = self.core.starts_as
        changed = (starts != NONE) & (self.core.is_defined | self.core.is_assigned)
        for variable in np.flatnonzero(changed).tolist():
            name = self.core.primitives[starts[variable]]
            label = ~(self.core.n_rows + variable)
            self.builder.rules.address(variable, self.primitives.value(name, label, NONE))
        for variable in np.unique(self.core.reference[self.core.unbound()]).tolist():
            self.builder.rules.address(variable, self.primitives.unbound(variable))

    def _open(self, procedure: int) -> list[Frame]:
        """Return the frames of a lambda: none if nothing calls it, unless all code counts."""
        is_dead = self.contexts.depth and self.counts_reachable and not self.contexts.merged
        contexts = self.contexts.of.get(procedure, {} if is_dead else {(): 0})
        frames = [self._frame(procedure, *context) for context in contexts.items()]
        if self.counts_reachable:
            self.here_of[procedure] = [frame.here for frame in frames]
        return frames

    def _frame(self, procedure: int, context: Context, offset: int) -> Frame:
        w, captures = self.builder, self.captures
        here = w.node() if self.counts_reachable else EVERYWHERE
        frame = Frame(procedure, context, offset, here)
        for variable in captures.own.get(procedure, ()):
            frame.held[variable] = w.node()
            if variable in captures.boxed:
                box = w.box("variable", frame.held[variable])
                frame.boxes[variable] = w.held(box)
        for variable in captures.captured.get(procedure, ()):
            kept = frame.boxes if variable in captures.boxed else frame.held
            kept[variable] = w.node()
        frame.formals = [frame.held.get(v, v) for v in self.index.formals(procedure)]
        if self.index.has_rest[procedure]:
            frame.rest = w.node()
            w.copy(frame.formals.pop(), w.list_of(frame.rest, NONE, procedure))
        return frame

    def _write(self, frame: Frame, rows: list[int]) -> None:
        """Write the code of a frame."""
        self.now, self.builder.context = frame, frame.context
        self.builder.owner = frame.procedure
        kinds, node_of, row_of, steps = self.index.kind, self.node_of, self.row_of, self.steps
        for row in rows:
            node_of[row] = node = steps[kinds[row]](row)
            row_of[node] = row
        if frame.procedure != ROOT:  # calls with too few arguments do not return it
            body = self.index.below(frame.procedure)[0]
            frame.result = self.builder.gated(node_of[body], frame.here)

    def _constant(self, row: int) -> int:
        """Quoted data is followed because a program may put a procedure into it."""
        w, value = self.builder, self.core.constants[self.index.reference[row]]
        if type(value) not in (Pair, list):
            return NONE
        has_pair, has_vector, nests = _inside(value)
        nodes = [NONE]
        if has_pair:
            nodes.append(w.list_of(NONE, NONE, row))
        if has_vector:
            nodes.append(w.held(w.data("vector", [NONE], row)[0]))
        every = w.union(nodes)
        if nests:  # what is inside is any of it
            w.put("pair", 0, every, every)
            w.put("vector", 0, every, every)
        return every

    def _variable(self, row: int) -> int:
        variable, now = self.index.reference[row], self.now
        if variable in now.boxes and variable not in now.held:
            return self.builder.field("variable", 0, now.boxes[variable])
        return now.held.get(variable, variable)

    def _primitive(self, row: int) -> int:
        name = self.core.primitives[self.index.reference[row]]
        return self.builder.held(self.primitives.value(name, ~row, row))

    def _lambda(self, row: int) -> int:
        captured = self.captures.captured.get(row, ())
        if captured or row not in self.closed:
            w = self.builder
            object = w.procedure(self.contexts.n_objects.get(row, 1), (LAMBDA, row), row)
            for frame in self.frames[row]:
                self._function(object, frame, captured)
            if self.contexts.merged:  # where no context has its object, there is the common one
                taken = {frame.offset for frame in self.frames[row]}
                common = self.frames[row][0]
                for offset in range(self.contexts.n_objects.get(row, 1)):
                    if offset not in taken:
                        self._function(object, replace(common, offset=offset), captured)
            self.closed[row] = object
            return w.held(object)
        return self.builder.held(self.closed[row])

    def _function(self, object: int, frame: Frame, captured: Sequence[int]) -> None:
        """Let calls in a frame's context, of a closure that is made here, go to that frame."""
        w, token = self.builder, frame.here
        if captured:
            may_be_called = frame.procedure in self.contexts.of or self.contexts.merged
            token = w.node() if may_be_called else EVERYWHERE
            if self.counts_reachable:
                w.copy(frame.here, token)
            for variable in captured:
                inner, outer = frame.held, self.now.held
                if variable in self.captures.boxed:
                    inner, outer = frame.boxes, self.now.boxes
                w.copy(inner[variable], w.gated(outer[variable], token))
        formal = NONE if token == EVERYWHERE else token
        if self.index.has_rest[frame.procedure]:
            formals = w.layout.formals_with_rest(frame.formals, frame.rest, formal)
        else:
            formals = w.layout.actuals(frame.formals, formal)
        what = (LAMBDA, frame.procedure)
        w.function(object, frame.offset, formals, frame.result, frame.rest, what)

    def _call(self, row: int) -> int:
        operator, *operands = self.index.below(row)
        nodes = [self.node_of[operand] for operand in operands]
        name = self.index.primitive(operator)
        here = self.now.here
        if name is not None:
            if name not in models():
                return NONE
            arguments = Arguments(nodes, len(nodes))
            use = Use(arguments, row, here, row, tuple(operands))
            return self.primitives.result(name, use)
        if self.index.is_let[operator]:
            self.lets[row] = operator
            for variable, node in zip(self.index.formals(operator), nodes, strict=True):
                self._bind(variable, node)
            return self.node_of[self.index.below(operator)[0]]
        actuals = self.builder.layout.actuals(nodes, self.builder.token_at(here))
        result = self.builder.call(self.node_of[operator], actuals, row, len(nodes), here)
        procedure = self._record_procedure(operator)
        if procedure == NONE or self.index.n_bound[procedure] != len(nodes):
            return result
        return self._used_record(row, procedure, nodes)

    def _record_procedure(self, operator: int) -> int:
        """Return the procedure of `define-record-type` that is called, if it is known, or NONE."""
        if self.index.kind[operator] != columns.VARIABLE:
            return NONE
        return self.index.record_procedures.get(self.index.reference[operator], NONE)

    def _used_record(self, row: int, procedure: int, nodes: list[int]) -> int:
        """Return the result of such a call: what the procedure's body does with these arguments.

        So records are told apart by the calls of their constructors, and not by its one body.
        """
        operator, *operands = self.index.below(self.index.below(procedure)[0])
        given = dict(zip(self.index.formals(procedure), nodes, strict=True))
        arguments = [
            given.get(self.index.reference[operand], NONE)
            if self.index.kind[operand] == columns.VARIABLE
            else NONE
            for operand in operands
        ]
        use = Use(Arguments(arguments, len(arguments)), row, self.now.here, row, tuple(operands))
        name = self.index.primitive(operator)
        assert name is not None, "the body calls a primitive"
        return self.primitives.result(name, use)

    def _bind(self, variable: int, node: int) -> None:
        self.builder.copy(self.now.held.get(variable, variable), node)

    def _if(self, row: int) -> int:
        return self.builder.union(self.node_of[operand] for operand in self.index.below(row)[1:])

    def _set(self, row: int) -> int:
        variable, now = self.index.reference[row], self.now
        value = self.builder.gated(self.node_of[self.index.below(row)[0]], now.here)
        if variable in now.boxes and variable not in now.held:
            self.builder.put("variable", 0, now.boxes[variable], value)
        else:
            self._bind(variable, value)
        return NONE

    def _define(self, row: int) -> int:
        self._bind(self.index.reference[row], self.node_of[self.index.below(row)[0]])
        return NONE

    def _letrec(self, row: int) -> int:
        *values, body = self.index.below(row)
        for variable, value in zip(self.index.formals(row), values, strict=True):
            self._bind(variable, self.node_of[value])
        return self.node_of[body]

    def _sequence(self, row: int) -> int:
        return self.node_of[self.index.below(row)[-1]] if self.index.below(row) else NONE


def _inside(datum: object) -> tuple[bool, bool, bool]:
    """Return whether a datum has pairs, has vectors, and has either as an item."""
    waiting, seen = [datum], set[int]()
    has_pair = has_vector = nests = False
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if type(item) is Pair:
            has_pair = True
            nests |= type(item.car) in (Pair, list) or type(item.cdr) is list
            waiting += [item.car, item.cdr]
        elif type(item) is list:
            has_vector = True
            nests |= any(type(each) in (Pair, list) for each in item)
            waiting += item
    return has_pair, has_vector, nests
