"""0CFA by plain sets, as slow and as plain as it gets: what the engine's answer is judged by.

It knows lambdas, calls, `if`, `set!`, definitions, `letrec`, and of the primitives `cons`, `car`,
`cdr`, `set-car!` and `set-cdr!`. Values are lambdas (their rows) and pairs (the rows of `cons`).
"""

from __future__ import annotations

from collections import defaultdict

from kleene.ir.scheme import core as columns


class Reference:
    def __init__(self, core, reachable_only):
        self.core = core
        self.sets = defaultdict(set)  # by ("row", r), ("variable", v), ("car", r), ("cdr", r)
        self.targets = defaultdict(set)
        self.tops = [node.row for node in core.node(core.root).operands]
        self.reached = set() if reachable_only else set(lambdas(core))
        while self._pass():
            pass

    def _size(self):
        n_sets = sum(map(len, self.sets.values()))
        return n_sets, sum(map(len, self.targets.values())), len(self.reached)

    def _pass(self):
        before = self._size()
        for row in self.tops:
            self._visit(row)
        for row in sorted(self.reached):
            self._visit(self._operands(row)[0])
        return self._size() != before

    def _operands(self, row):
        return [node.row for node in self.core.node(row).operands]

    def _visit(self, row):
        """Apply the rules of a row and those below it that belong to the same procedure."""
        waiting = [row]
        while waiting:
            row = waiting.pop()
            self._apply(row)
            if self.core.kind[row] != columns.LAMBDA:
                waiting += self._operands(row)

    def _apply(self, row):
        kind, reference = self.core.kind[row], int(self.core.reference[row])
        operands, mine = self._operands(row), self.sets["row", row]
        if kind == columns.VARIABLE:
            mine |= self.sets["variable", reference]
        elif kind == columns.LAMBDA:
            mine.add(("lambda", row))
        elif kind == columns.IF:
            mine |= self.sets["row", operands[1]] | self.sets["row", operands[2]]
        elif kind in (columns.SET, columns.DEFINE):
            self.sets["variable", reference] |= self.sets["row", operands[0]]
        elif kind in (columns.SEQUENCE, columns.LETREC):
            mine |= self.sets["row", operands[-1]]
            for variable, value in zip(self.core.node(row).bound, operands, strict=False):
                self.sets["variable", variable] |= self.sets["row", value]
        elif kind == columns.CALL:
            self._call(row, operands, mine)

    def _call(self, row, operands, mine):
        operator, *arguments = operands
        values = [self.sets["row", argument] for argument in arguments]
        if self.core.kind[operator] == columns.PRIMITIVE:
            self._primitive(self.core.primitives[self.core.reference[operator]], row, values, mine)
            return
        for what, callee in sorted(self.sets["row", operator]):
            if what != "lambda":
                continue
            # A wrong number of arguments stops the call, but a result is not told apart by it.
            mine |= self.sets["row", self._operands(callee)[0]]
            formals = list(self.core.node(callee).bound)
            assert not self.core.has_rest[callee], "rests are not for the reference"
            if len(formals) == len(values):
                self.reached.add(callee)
                self.targets[row].add(callee)
                for formal, value in zip(formals, values, strict=True):
                    self.sets["variable", formal] |= value

    def _primitive(self, name, row, values, mine):
        if name == "cons":
            mine.add(("pair", row))
            self.sets["car", row] |= values[0]
            self.sets["cdr", row] |= values[1]
        elif name in ("car", "cdr"):
            for pair in self._pairs(values[0]):
                mine |= self.sets[name, pair]
        elif name in ("set-car!", "set-cdr!"):
            for pair in self._pairs(values[0]):
                self.sets[name[4:7], pair] |= values[1]
        else:
            assert name in ("+", "null?", "pair?"), name

    def _pairs(self, values):
        return [row for what, row in sorted(values) if what == "pair"]

    def held(self, variable):
        """Return the values of a variable, if the code that binds it is reached."""
        return self.sets["variable", variable]


def lambdas(core):
    return [row for row in range(core.n_rows) if core.kind[row] == columns.LAMBDA]
