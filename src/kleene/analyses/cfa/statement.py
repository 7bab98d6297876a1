"""A core as an inclusion problem: one constraint or a few for each row of it, or of its copies.

Nodes are variables first, then expressions that may hold a procedure or data. Operands have greater
numbers than the rows they belong to, so that walking backwards meets operands first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kleene.analyses.cfa.calling import N_EXACT, Layout
from kleene.analyses.cfa.contexts import Cloned
from kleene.analyses.cfa.index import ROOT, Index
from kleene.analyses.cfa.primitives import Arguments, Primitives, Use, models
from kleene.analyses.cfa.shapes import Tag
from kleene.analyses.cfa.writer import EVERYWHERE, LAMBDA, Writer
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.values import Pair
from kleene.solvers.inclusion import Problem
from kleene.solvers.inclusion.problem import NONE

I32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """What a program says about its procedures, and what the numbers in it stand for.

    Rows and variables are those of the program itself, of which the problem may know copies. A
    *site* is the row of a call. A primitive that is used as a value has a site of its own, n_rows
    and more: the calls it makes belong to whoever calls it.
    """

    core: Core
    index: Index
    problem: Problem
    counts_reachable: bool
    variable_of: I32  # per variable of the copies, whose nodes are the first ones
    row_of: dict[int, int]  # per node of an expression: its row
    here_of: dict[int, list[int]]  # per lambda that makes closures: the nodes of its tokens
    object_row: I32  # per object: the row that makes it, or NONE
    function_kind: I32  # LAMBDA, INSTANCE, OTHER
    function_row: I32  # the lambda's row, or the instance's site
    call_site: I32
    call_size: I32  # arguments, or NONE where that is not known
    call_operator: I32  # nodes
    lets: I32  # (n, 2): call and lambda rows
    evaluations: tuple[int, ...]  # sites of `eval` and `load`
    evaluator: int  # the site of what evaluated text calls
    instances: dict[int, str]  # primitives used as values, by their sites
    shapes: dict[tuple[Tag, int], int]


def state(core: Core, counts_reachable: bool, copies: Cloned) -> Statement:
    """Return the constraints of a program; see `CFA` for what `counts_reachable` means."""
    work = _Work(copies.core, counts_reachable)
    work.write()
    return _Folding(core, copies, work).statement()


class _Work:
    """Writes the constraints of a core, row by row."""

    def __init__(self, core: Core, counts_reachable: bool) -> None:
        self.core = core
        self.index = Index(core)
        self.counts_reachable = counts_reachable
        most = int(core.n_bound.max(initial=0))
        longest = int(np.diff(core.operand_offsets)[core.kind == columns.CALL].max(initial=0))
        n_open = max(N_EXACT, most + 1, longest)
        self.writer = Writer(core.n_variables, Layout(int(counts_reachable), n_open))
        self.primitives = Primitives(self.writer, self.index)
        self.node_of = [NONE] * core.n_rows
        self.here_of: dict[int, int] = {}
        self.lets: list[tuple[int, int]] = []
        self.instances: dict[int, str] = {}
        self.evaluator = NONE
        self.n_sites = core.n_rows

    def write(self) -> None:
        """Write everything."""
        self._globals()
        steps = {
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
        kinds, node_of = self.index.kind, self.node_of
        called = self._called()
        for row in range(self.core.n_rows - 2, -1, -1):
            if row not in called:
                node_of[row] = steps[kinds[row]](row)
        self.evaluator = self._site()
        names = np.flatnonzero(self.core.owner == NONE).tolist()
        self.primitives.finish(names, self.evaluator)

    def _globals(self) -> None:
        """Let globals begin as the primitives that they are before they are given a value."""
        starts = self.core.starts_as
        changed = (starts != NONE) & (self.core.is_defined | self.core.is_assigned)
        for variable in np.flatnonzero(changed).tolist():
            name = self.core.primitives[starts[variable]]
            self.writer.addresses.append((variable, self._instance(name, NONE)))

    def _called(self) -> set[int]:
        """Return the rows that need no value of their own: operators written right there."""
        found = set(np.flatnonzero(self.index.is_let).tolist())
        for row in np.flatnonzero(self.core.kind == columns.CALL).tolist():
            operator = self.index.below(row)[0]
            if self.index.kind[operator] == columns.PRIMITIVE:
                found.add(operator)
        return found

    def _site(self) -> int:
        self.n_sites += 1
        return self.n_sites - 1

    def _here(self, row: int) -> int:
        procedure = self.index.procedure[row]
        if procedure == ROOT or not self.counts_reachable:
            return EVERYWHERE
        if procedure not in self.here_of:
            self.here_of[procedure] = self.writer.here()
        return self.here_of[procedure]

    def _constant(self, row: int) -> int:
        """Quoted data is followed because a program may put a procedure into it."""
        w, value = self.writer, self.core.constants[self.index.reference[row]]
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
        return self.index.reference[row]

    def _primitive(self, row: int) -> int:
        name = self.core.primitives[self.index.reference[row]]
        return self.writer.held(self._instance(name, row))

    def _instance(self, name: str, row: int) -> int:
        """Return the object of a primitive that is used as a value."""
        site = self._site()
        self.instances[site] = name
        return self.primitives.value(name, site, row)

    def _lambda(self, row: int) -> int:
        w, body = self.writer, self.index.below(row)[0]
        fixed = list(self.index.formals(row))
        here = self._inside(row)
        rest = NONE
        if self.index.has_rest[row]:
            rest = w.node()
            w.copy(fixed.pop(), w.list_of(rest, NONE, row))
            formals = w.layout.formals_with_rest(fixed, rest, here)
        else:
            formals = w.layout.formals(fixed, here)
        result = w.gated(self.node_of[body], here)  # calls with too few arguments do not return it
        return w.held(w.closure(formals, result, rest, (LAMBDA, row)))

    def _inside(self, row: int) -> int:
        """Return the node of a lambda's own token."""
        if self.counts_reachable and row not in self.here_of:
            self.here_of[row] = self.writer.here()
        return self.here_of.get(row, NONE)

    def _call(self, row: int) -> int:
        operator, *operands = self.index.below(row)
        nodes = [self.node_of[operand] for operand in operands]
        name = self.index.primitive(operator)
        if name is not None:
            if name not in models():
                return NONE
            arguments = Arguments(nodes, len(nodes))
            use = Use(arguments, row, self._here(row), row, tuple(operands))
            return self.primitives.result(name, use)
        if self.index.is_let[operator]:
            self.lets.append((row, operator))
            for variable, node in zip(self.index.formals(operator), nodes, strict=True):
                self.writer.copy(variable, node)
            return self.node_of[self.index.below(operator)[0]]
        here = self._here(row)
        actuals = self.writer.layout.actuals(nodes, self.writer.token_at(here))
        return self.writer.call(self.node_of[operator], actuals, row, len(nodes), here)

    def _if(self, row: int) -> int:
        return self.writer.union(self.node_of[operand] for operand in self.index.below(row)[1:])

    def _set(self, row: int) -> int:
        value = self.node_of[self.index.below(row)[0]]
        self.writer.copy(self.index.reference[row], self.writer.gated(value, self._here(row)))
        return NONE

    def _define(self, row: int) -> int:
        self.writer.copy(self.index.reference[row], self.node_of[self.index.below(row)[0]])
        return NONE

    def _letrec(self, row: int) -> int:
        *values, body = self.index.below(row)
        for variable, value in zip(self.index.formals(row), values, strict=True):
            self.writer.copy(variable, self.node_of[value])
        return self.node_of[body]

    def _sequence(self, row: int) -> int:
        return self.node_of[self.index.below(row)[-1]] if self.index.below(row) else NONE


class _Folding:
    """Turns rows and variables of copies into those of the program itself."""

    def __init__(self, core: Core, copies: Cloned, work: _Work) -> None:
        self.core = core
        self.copies = copies
        self.work = work

    def statement(self) -> Statement:
        w, work = self.work.writer, self.work
        functions = np.array(w.function_is, np.int32).reshape(-1, 2)
        row_of, here_of = dict[int, int](), dict[int, list[int]]()
        for row, node in enumerate(work.node_of):
            if node >= work.core.n_variables:
                row_of.setdefault(node, int(self.copies.row_origin[row]))
        for row, node in work.here_of.items():
            here_of.setdefault(int(self.copies.row_origin[row]), []).append(node)
        return Statement(
            core=self.core,
            index=work.index if work.core is self.core else Index(self.core),
            problem=w.problem(),
            counts_reachable=work.counts_reachable,
            variable_of=self.copies.variable_origin,
            row_of=row_of,
            here_of=here_of,
            object_row=self._rows(w.object_row),
            function_kind=functions[:, 0],
            function_row=self._rows(functions[:, 1]),
            call_site=self._rows(w.call_site),
            call_size=np.array(w.call_size, np.int32),
            call_operator=np.array(w.call_operator, np.int32),
            lets=np.unique(self._rows(work.lets).reshape(-1, 2), axis=0),
            evaluations=tuple(np.unique(self._rows(work.primitives.evaluations)).tolist()),
            evaluator=int(self._rows([work.evaluator])[0]),
            instances={int(self._rows([k])[0]): name for k, name in work.instances.items()},
            shapes=w.shapes.shapes,
        )

    def _rows(self, numbers: object) -> I32:
        """Return origins for the rows of copies; sites behind the rows stay behind them."""
        given = np.array(numbers, np.int32)
        n_copied, n_rows = self.work.core.n_rows, self.core.n_rows
        origin = self.copies.row_origin[np.clip(given, 0, n_copied - 1)]
        found: I32 = np.where(given < n_copied, origin, given - n_copied + n_rows)
        return np.where(given < 0, given, found).astype(np.int32)


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
