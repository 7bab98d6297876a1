"""What holds of the source's variables, and of what a check is about, in a whole program."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.facts import Facts, Reaching
from kleene.analyses.invariants.whole.pointers import Pointers
from kleene.base.arrays import I64
from kleene.ir.codes import ADDRESS_OPERAND, Opcode, TypeKind, ValueKind
from kleene.solvers.dataflow import ValueFact

WORDS = {8: "char", 16: "short", 32: "int", 64: "long"}  # of C, by width
_LARGEST = 1 << 40  # ends of offsets from here on say nothing
_OPERANDS = {  # what a check of arithmetic is about, by place, and what it is called
    CheckKind.OVERFLOW: ((0, "the left operand"), (1, "the right operand")),
    CheckKind.DIVISION: ((1, "the divisor"),),
    CheckKind.SHIFT: ((1, "the shift"),),
}


class PlaceFacts:
    """Facts on names, looked up by place.

    A name of a value holds from where it is defined on, wherever that place dominates: a run that
    computes the value anew passes there again before it comes to what is dominated.
    """

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._by_value = np.argsort(context.split.value, kind="stable")
        self._values = context.split.value[self._by_value]
        self._reaching: dict[int, Reaching] = {}

    def at(self, instruction: int) -> Facts:
        """Return what holds in front of an instruction."""
        program = self._program
        block = int(program.instructions.block[instruction])
        function = int(program.blocks.function[block])
        name = program.functions[function].name
        if not self._context.block_is_reached[block]:
            return Facts(name, (), ())
        texts: list[str] = []
        for called, value in self.variables(instruction):
            texts += self._constraints(called, value, instruction)
        return Facts(name, (), (tuple(dict.fromkeys(texts)),))

    def variables(self, instruction: int) -> Iterator[tuple[str, int]]:
        """Yield the variables that have values of their own in front of an instruction.

        The value was computed on every way there: in the first iteration of a loop, a variable that
        is set in its body may have none yet.
        """
        program = self._program
        function = int(program.instruction_function[instruction])
        if function not in self._reaching:
            self._reaching[function] = Reaching(program, function)
        for variable, value in sorted(self._reaching[function].at(instruction).items()):
            if value >= program.bases[ValueKind.ARGUMENT] and self._is_above(value, instruction):
                yield program.strings[int(program.variables.name[variable])], value

    def _is_above(self, value: int, instruction: int) -> bool:
        """Return whether every way to an instruction passes where a value is computed."""
        row = value - self._program.bases[ValueKind.INSTRUCTION]
        block = self._program.instructions.block
        if row < 0 or block[row] == block[instruction]:
            return row < instruction
        tree = self._context.split.flow.tree
        return bool(tree.dominates(int(block[row]), int(block[instruction])))

    def is_reached(self, instruction: int) -> bool:
        """Return whether a run may come to an instruction."""
        return bool(self._context.block_is_reached[self._program.instructions.block[instruction]])

    def in_c(self, called: str, value: int, instruction: int) -> Iterator[str]:
        """Yield what holds of a variable as expressions of C: it is cast to how its bits are read.

        Nothing of one with a width that no type of C has.
        """
        width = int(self._context.values.width[value])
        kind = self._program.types.kind[self._program.value_types[value]]
        if kind == TypeKind.POINTER:
            yield from self._constraints(called, value, instruction)
        elif width in WORDS:
            facts = [self._context.fact(int(name)) for name in self.names_at(value, instruction)]
            facts = [fact for fact in facts if fact.has_value]
            if facts and max(one.low for one in facts) < 0:  # its sign matters
                texts = _range(
                    f"(signed {WORDS[width]}){called}", facts, f"(unsigned {WORDS[width]}){called}"
                )
            else:
                texts = _range(called, facts) if facts else iter(())
            is_long = re.compile(r"\b\d{19,}\b")  # may be more than a number of C without suffix
            yield from (text for text in texts if not is_long.search(text))

    def names_at(self, value: int, instruction: int) -> I64:
        """Return the names of a value that hold in front of an instruction, itself among them."""
        split = self._context.split
        flow, tree = split.flow, split.flow.tree
        low, high = np.searchsorted(self._values, [value, value + 1])
        new = self._by_value[low:high]
        points = split.point[new]
        node, here = flow.node_of(points), int(self._program.instructions.block[instruction])
        above = (tree.pre[node] <= tree.pre[here]) & (tree.pre[here] <= tree.last[node])
        is_inside = (node == here) & (points < flow.n_instructions)
        is_end = (node == here) & (points >= flow.n_instructions + flow.blocks.n_nodes)
        above &= ~is_inside | (points < instruction)
        above &= ~is_end
        return np.concatenate([[value], new[above] + self._program.n_values]).astype(np.int64)

    def _constraints(self, called: str, value: int, instruction: int) -> Iterator[str]:
        if not self._context.values.width[value]:
            return
        facts = [self._context.fact(int(name)) for name in self.names_at(value, instruction)]
        facts = [fact for fact in facts if fact.has_value]
        kind = self._program.types.kind[self._program.value_types[value]]
        if kind == TypeKind.POINTER:
            if any(fact.least for fact in facts):
                yield f"{called} != 0"
        elif facts:
            yield from _range(called, facts)


def _range(called: str, facts: list[ValueFact], unsigned: str = "") -> Iterator[str]:
    """Yield the ends of a variable, signed where that says something."""
    unsigned = unsigned or f"(unsigned){called}"
    full = ValueFact.any(facts[0].width)
    low, high = max(one.low for one in facts), min(one.high for one in facts)
    least, most = max(one.least for one in facts), min(one.most for one in facts)
    if low == high:
        yield f"{called} == {low}"
    elif low < 0 <= high and most - least < high - low:  # unsigned ends say more
        if least > 0:
            yield f"{least} <= {unsigned}"
        if most < full.most:
            yield f"{unsigned} <= {most}"
    else:
        if low > full.low:
            yield f"{low} <= {called}"
        if high < full.high:
            yield f"{called} <= {high}"


def state_of(context: Context, pointers: Pointers, kind: CheckKind, row: int) -> str:
    """Return the bounds of what a check of an instruction is about; empty where there are none.

    Of arithmetic these are the operands, of loads and stores the offset of the pointer and the
    size of its object, in bytes: `0 <= offset && offset <= 8 && size == 8`.
    """
    if kind is not CheckKind.BOUNDS and kind not in _OPERANDS:
        return ""
    program = context.program
    first, texts = int(program.instructions.offsets[row]), list[str]()
    for place, called in _OPERANDS.get(kind, ()):
        name = int(context.split.operand[first + place])
        value = int(context.split.value_of(np.array([name]))[0])
        fact = context.fact(name)
        if value >= program.bases[ValueKind.ARGUMENT] and fact.width and fact.has_value:
            named = program.variables_of(value)
            texts += _range(named[0] if named else called, [fact])
    address = ADDRESS_OPERAND.get(Opcode(int(program.instructions.opcode[row])))
    if kind is CheckKind.BOUNDS and address is not None:
        name = int(context.split.operand[first + address])
        for facts, called in ((pointers.offset, "offset"), (pointers.size, "size")):
            fact = facts[name]
            if fact.has_value and max(-fact.low, fact.high) < _LARGEST:
                is_one = fact.low == fact.high
                ends = (f"{fact.low} <= {called}", f"{called} <= {fact.high}")
                texts += (f"{called} == {fact.low}",) if is_one else ends
    return " && ".join(dict.fromkeys(texts))
