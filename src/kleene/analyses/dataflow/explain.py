"""Why is a value at most 100? The shortest chain of constraints behind a bound."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.refinements import PREDICATE
from kleene.base.errors import SourceError
from kleene.ir.codes import Opcode, ValueKind
from kleene.results import Location
from kleene.results.explanation import Explanation, Step
from kleene.solvers.dataflow import SWAPPED, Operator, Predicate

_BOUNDS = {"low": "at least", "high": "at most", "least": "at least", "most": "at most"}
_CHOICES = (Operator.JOIN, Operator.PHI, Operator.MEET, Operator.REFINE, Operator.EXCLUDE)


def explain(context: Context, name: int, bound: str) -> Explanation:
    """Return the steps that lead to a bound, first to last; `bound` is that of a `ValueFact`.

    Raises:
        SourceError: there is no such bound (`dataflow/no-such-bound`).
    """
    if bound not in _BOUNDS:
        message = f"there is no bound '{bound}'"
        note = f"there are {', '.join(_BOUNDS)}"
        raise SourceError(None, "dataflow/no-such-bound", message, note)
    return _Chain(context, bound).of(name)


def why_decided(context: Context, block: int, *, is_true: bool) -> list[Location]:
    """Return the steps behind a branch that always goes one way, its condition last.

    They are those of the bound of each compared variable that decides: of `x < y`, always true, the
    greatest x and the least y.
    """
    program, table = context.program, context.program.instructions
    last = int(program.blocks.instruction_offsets[block + 1]) - 1
    row = int(table.operands[table.offsets[last]]) - program.bases[ValueKind.INSTRUCTION]
    found: list[Location] = []
    if row >= 0 and table.opcode[row] == Opcode.ICMP and PREDICATE[table.sub[row]] >= 0:
        predicate = int(PREDICATE[table.sub[row]]) ^ (not is_true)
        for place in (0, 1):
            at = int(table.offsets[row]) + place
            name, value = int(context.split.operand[at]), int(table.operands[at])
            if value < program.bases[ValueKind.ARGUMENT] or not context.values.width[value]:
                continue
            bound = _DECIDING[Predicate(predicate if place == 0 else SWAPPED[predicate])]
            for step in explain(context, name, bound).steps:
                if step.span is not None and all(step.span != one.span for one in found):
                    found.append(Location(step.span, step.text))
    word = "true" if is_true else "false"
    where = program.instruction_view(last).span
    return [*found, Location(where, f"the condition is always {word}")]


# Which bound of x decides that `x P y` holds.
_DECIDING = {
    Predicate.EQ: "high", Predicate.NE: "low", Predicate.ULT: "most", Predicate.ULE: "most",
    Predicate.UGT: "least", Predicate.UGE: "least", Predicate.SLT: "high", Predicate.SLE: "high",
    Predicate.SGT: "low", Predicate.SGE: "low",
}  # fmt: skip


class _Chain:
    def __init__(self, context: Context, bound: str) -> None:
        self._context, self._bound = context, bound
        self._constraints = context.values.constraints

    def of(self, name: int) -> Explanation:
        """Return the shortest chain, breadth first from the name to a constraint without operands.

        Of a join or a meet only those operands count that have the same bound; of an operation
        those that are not constants, if there are any.
        """
        came_from = {name: -1}
        waiting = deque([name])
        end = name
        while waiting:
            end = waiting.popleft()
            behind = self._behind(end)
            if not behind:
                break
            for one in behind:
                if one not in came_from:
                    came_from[one] = end
                    waiting.append(one)
        steps: list[Step] = []
        at = end
        while at >= 0:
            step = self._step(at)
            if not steps or steps[-1] != step:
                steps.append(step)
            at = came_from[at]
        fact = self._context.fact(name)
        word = f"{_BOUNDS[self._bound]} {getattr(fact, self._bound)}"
        return Explanation(self._text(name), word, tuple(steps))

    def _behind(self, name: int) -> list[int]:
        operator = int(self._constraints.operator[name])
        operands = self._constraints.operands_of(name).tolist()
        if operator in (Operator.PHI, Operator.WHEN):
            operands = operands[:: 2 if operator == Operator.PHI else 1]
        facts = [self._context.fact(o) for o in operands]
        if operator in _CHOICES:
            wanted = getattr(self._context.fact(name), self._bound)
            slack = 1 if operator == Operator.REFINE else 0
            same = [
                o
                for o, fact in zip(operands, facts, strict=True)
                if fact.has_value and abs(getattr(fact, self._bound) - wanted) <= slack
            ]
            return same or operands
        varying = [o for o in operands if self._constraints.operator[o] != Operator.CONSTANT]
        return varying or operands

    def _step(self, name: int) -> Step:
        program = self._context.program
        span = None
        value = self._value(name)
        first = program.bases[ValueKind.INSTRUCTION]
        if value >= first and value < program.n_values:
            span = program.instruction_view(value - first).span
        if span is not None and not span.line:
            span = None
        location = None
        if span:
            location = f"{Path(span.file).name}:{span.line}"
            location += f":{span.column}" if span.column else ""
        fact = self._context.fact(name)
        operator = Operator(int(self._constraints.operator[name])).name.lower().replace("_", " ")
        return Step(location, f"{self._text(name)} is {fact}", self._text(name), operator, span)

    def _value(self, name: int) -> int:
        split = self._context.split
        if name < split.program.n_values:
            return name
        return int(split.value[name - split.program.n_values]) if name < split.n_names else -1

    def _text(self, name: int) -> str:
        """Return what a name is called in the source, or in the program."""
        program, value = self._context.program, self._value(name)
        if value < 0:
            operator = Operator(int(self._constraints.operator[name]))
            words = {Operator.CONSTANT: "a constant", Operator.REFINE: "what a condition says"}
            return words.get(operator, "a value in between")
        if called := program.variables_of(value):
            return called[0]
        row = value - program.bases[ValueKind.INSTRUCTION]
        if row >= 0 and program.instructions.opcode[row] == Opcode.LOAD:
            address = int(program.instructions.operands_of(row)[0])
            if address < len(program.globals):
                return program.strings[int(program.globals.name[address])]
        return str(program.value_view(value)) if row < 0 else "what is computed here"
