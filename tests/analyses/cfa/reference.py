"""m-CFA by plain sets, as slow and as plain as it gets: the oracle of the engine's answers.

It knows lambdas, calls, `if`, `set!`, definitions, `letrec`, and of the primitives `cons`, `car`,
`cdr`, `set-car!` and `set-cdr!`. A frame is a procedure and a context: the call that entered it,
then the context of that call's frame, cut to m. Values are lambdas and pairs, with their rows and
the frames they are made in, and boxes of variables that are assigned. A procedure that is called
gets the variables of the frame that made it into its own.
"""

from __future__ import annotations

from collections import defaultdict

from kleene.analyses.cfa.index import ROOT, Index
from kleene.ir.scheme import core as columns

TOP = (ROOT, ())


class Reference:
    def __init__(self, core, reachable_only, m=0):
        assert reachable_only or m == 0, "which frames there are without a call is not said"
        self.core, self.m, self.index = core, m, Index(core)
        self.sets = defaultdict(set)  # by (what, number, frame)
        self.targets = defaultdict(set)
        self.binder = [ROOT if o < 0 else self.index.inside(o) for o in core.owner.tolist()]
        self.binds_once = {ROOT} if reachable_only else {ROOT, *self.binder}
        self.frames = {TOP}
        if not reachable_only:
            self.frames |= {(row, ()) for row in lambdas(core) if not self.index.is_let[row]}
        while self._pass():
            pass

    def _size(self):
        n_sets = sum(map(len, self.sets.values()))
        return n_sets, sum(map(len, self.targets.values())), len(self.frames)

    def _pass(self):
        before = self._size()
        for frame in sorted(self.frames):
            procedure = frame[0]
            tops = self.index.below(self.core.root if procedure == ROOT else procedure)
            self._visit(tops, frame)
        return self._size() != before

    def _visit(self, rows, frame):
        """Apply the rules of rows and of those below them that belong to the same procedure."""
        waiting = list(rows)
        while waiting:
            row = waiting.pop()
            self._apply(row, frame)
            if self.core.kind[row] != columns.LAMBDA or self.index.is_let[row]:
                waiting += self.index.below(row)

    def _held(self, variable, frame):
        """Return the set that binding a variable adds to."""
        if self.binder[variable] in self.binds_once:
            return self.sets["variable", variable, TOP]
        if self.core.is_assigned[variable]:
            self.sets["variable", variable, frame].add(("box", variable, frame))
            return self.sets["box", variable, frame]
        return self.sets["variable", variable, frame]

    def _places(self, variable, frame):
        """Return the sets that a variable may stand for in a frame."""
        if (
            self.binder[variable] in {*self.binds_once, frame[0]}
            or not self.core.is_assigned[variable]
        ):
            return [self._held(variable, frame)]
        return [self.sets[box] for box in sorted(self.sets["variable", variable, frame])]

    def _apply(self, row, frame):
        kind, reference = self.core.kind[row], self.index.reference[row]
        operands, mine = self.index.below(row), self.sets["row", row, frame]
        values = [self.sets["row", operand, frame] for operand in operands]
        if kind == columns.VARIABLE:
            mine.update(*self._places(reference, frame))
        elif kind == columns.LAMBDA:
            mine.add(("lambda", row, frame))
        elif kind == columns.IF:
            mine |= values[1] | values[2]
        elif kind in (columns.SET, columns.DEFINE):
            for place in self._places(reference, frame):
                place |= values[0]
        elif kind in (columns.SEQUENCE, columns.LETREC):
            mine |= values[-1] if values else set()
            self._bind(row, values, frame)
        elif kind == columns.CALL:
            self._call(row, operands, values, mine, frame)

    def _bind(self, row, values, frame):
        for variable, value in zip(self.index.formals(row), values, strict=False):
            self._held(variable, frame).update(value)

    def _call(self, row, operands, values, mine, frame):
        operator, *arguments = values
        name = self.index.primitive(operands[0])
        if name is not None:
            self._primitive(name, row, arguments, mine, frame)
        elif self.index.is_let[operands[0]]:
            self._bind(operands[0], arguments, frame)
            self.targets[row].add(operands[0])
            mine |= self.sets["row", self.index.below(operands[0])[0], frame]
        else:
            for what, callee, maker in sorted(operator):
                if what == "lambda":
                    self._enter(row, callee, maker, arguments, mine, frame)

    def _enter(self, row, callee, maker, arguments, mine, frame):
        inside = (callee, (row, *frame[1])[: self.m])
        # A wrong number of arguments stops the call, but a result is not told apart by it.
        mine |= self.sets["row", self.index.below(callee)[0], inside]
        assert not self.core.has_rest[callee], "rests are not for the reference"
        if self.index.n_bound[callee] == len(arguments):
            self.frames.add(inside)
            self.targets[row].add(callee)
            self._bind(callee, arguments, inside)
            for variable in range(self.core.n_variables):
                if self.binder[variable] not in {*self.binds_once, callee}:
                    captured = self.sets["variable", variable, maker]
                    self.sets["variable", variable, inside] |= captured

    def _primitive(self, name, row, values, mine, frame):
        if name == "cons":
            mine.add(("pair", row, frame))
            self.sets["car", row, frame] |= values[0]
            self.sets["cdr", row, frame] |= values[1]
        elif name in ("car", "cdr"):
            for pair in self._pairs(values[0]):
                mine |= self.sets[name, *pair]
        elif name in ("set-car!", "set-cdr!"):
            for pair in self._pairs(values[0]):
                self.sets[name[4:7], *pair] |= values[1]
        else:
            assert name in ("+", "null?", "pair?"), name

    def _pairs(self, values):
        return [(row, frame) for what, row, frame in sorted(values) if what == "pair"]

    def held(self, variable):
        """Return the values of a variable, wherever it is bound: what, and the row."""
        found = set()
        for frame in self.frames:
            if frame[0] == self.binder[variable]:
                found |= self._held(variable, frame)
        return {(what, row) for what, row, _ in found}

    def reached(self):
        """Return the procedures that run."""
        return {procedure for procedure, _ in self.frames}


def lambdas(core):
    return [row for row in range(core.n_rows) if core.kind[row] == columns.LAMBDA]
