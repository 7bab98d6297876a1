"""Which accesses to arrays are inside, so that a check of their bounds is not needed?

ABCD (Bodík, Gupta and Sarkar 2000) on e-SSA names. An array has an extent, a constant or a value n
(`malloc(n * 4)`, `int a[n]`); an access needs 0 <= index and index <= extent - 1. What intervals
leave open is asked of the *inequality graph*: a name is at most others plus a constant.

    x = y + c           x <= y + c              x behind `y < z`      x <= y,  x <= z - 1
    x = φ(y, z)         x <= max(y, z)          x = y, extended       x <= y, if not negative

`x <= n + c` holds if it does for one of the bounds of x, and for a φ if it does for each operand.
A cycle that adds nothing, or takes something away, proves what is asked; one that adds disproves
it. A proof is the chain of inequalities, told as the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import span_of
from kleene.analyses.dataflow.refinements import PREDICATE
from kleene.ir.codes import Flag, GlobalKind, Opcode, TypeKind, ValueKind
from kleene.results import Table
from kleene.solvers.dataflow import SWAPPED, Predicate
from kleene.transforms.splitting import NameKind

_ACCESSES = {Opcode.LOAD: 0, Opcode.STORE: 1}
_DEEPEST = 60
# How much less than the other side a name is where a compare of it is true.
_LESS = {Predicate.SLT: 1, Predicate.SLE: 0, Predicate.ULT: 1, Predicate.ULE: 0, Predicate.EQ: 0}


@dataclass(frozen=True)
class Extent:
    """How many elements an array has: a constant, or a value of the program."""

    number: int = -1
    value: int = -1


@dataclass(frozen=True)
class Check:
    """An access to an element of an array.

    Attributes:
        row: the instruction.
        array: what the array is called, or what made it.
        index: the name of the index.
        extent: of the array.
        low: whether the index is not negative.
        high: why it is below the extent: "interval", "inequalities", or "" if that is not known.
        proof: the inequalities, first to last.
    """

    row: int
    array: str
    index: int
    extent: Extent
    low: bool
    high: str
    proof: tuple[str, ...]


def answer(context: Context) -> Answer:
    """Return all accesses to arrays of known extent, and which need no check."""
    program = context.program
    found = [one for one in checks(context) if span_of(context, one.row)]
    found.sort(key=lambda one: one.row)
    spans = [span_of(context, one.row) for one in found]
    functions = [int(program.instruction_function[one.row]) for one in found]
    return Answer(
        [],
        {
            "bounds": Table(
                {
                    "function": [program.functions[one].name for one in functions],
                    "line": [span.line if span else 0 for span in spans],
                    "array": [one.array for one in found],
                    "not_negative": [one.low for one in found],
                    "below_extent": [one.high for one in found],
                    "proof": ["; ".join(one.proof) for one in found],
                }
            )
        },
    )


def checks(context: Context) -> Iterator[Check]:
    """Yield the accesses to elements of arrays whose extent is known."""
    program, table = context.program, context.program.instructions
    first, graph = program.bases[ValueKind.INSTRUCTION], Inequalities(context)
    for opcode, place in _ACCESSES.items():
        for row in np.flatnonzero(table.opcode == opcode).tolist():
            address = int(table.operands[table.offsets[row] + place]) - first
            if address < 0 or table.opcode[address] != Opcode.GETELEMENTPTR:
                continue
            if not context.block_is_reached[table.block[row]]:
                continue
            element = _element(context, address)
            if element is not None:
                array, index, extent = element
                high, proof = graph.is_below(index, extent)
                low = context.fact(index).low >= 0
                yield Check(row, array, index, extent, low, high, proof)


def _element(context: Context, address: int) -> tuple[str, int, Extent] | None:
    """Return the array, the name of the index and the extent of a getelementptr's array."""
    program, table = context.program, context.program.instructions
    start, end = table.offsets[address : address + 2].tolist()
    base, *indices = table.operands[start:end].tolist()
    names = context.split.operand[start + 1 : end].tolist()
    types, about = program.types, int(table.about[address])
    if len(indices) == 2 and types.kind[about] == TypeKind.ARRAY:
        zero = context.fact(names[0])
        extent = Extent(int(types.bits[about]))
        if zero.constant == 0 and context.is_tracked(np.array(names[1:]))[0]:
            return _name_of(context, base), names[1], extent
        return None
    if len(indices) != 1 or not context.is_tracked(np.array(names))[0]:
        return None
    made = _made(context, base, int(types.size[about]))
    return None if made is None else (*made[:1], names[0], made[1])


def _made(context: Context, base: int, size: int) -> tuple[str, Extent] | None:
    """Return what is at an address: what it is called, and how many elements of a size it has."""
    program, table, types = context.program, context.program.instructions, context.program.types
    if size <= 0:
        return None
    kind, row = program.locate(base)
    if kind == ValueKind.GLOBAL and program.globals.kind[row] == GlobalKind.VARIABLE:
        n_bytes = int(types.size[program.globals.type[row]])
        return (_name_of(context, base), Extent(n_bytes // size)) if n_bytes > 0 else None
    if kind != ValueKind.INSTRUCTION:
        return None
    if table.opcode[row] == Opcode.ALLOCA:
        counted = int(table.operands[table.offsets[row]])
        n_bytes = int(types.size[table.about[row]])
        number = context.fact(counted).constant
        if number is not None:
            return _name_of(context, base), Extent(number * n_bytes // size)
        return (_name_of(context, base), _plain(context, counted)) if n_bytes == size else None
    if table.opcode[row] == Opcode.CALL:
        callee, *arguments = table.operands_of(row).tolist()
        is_named = callee < len(program.globals)
        symbol = program.strings[int(program.globals.name[callee])] if is_named else ""
        if symbol == "malloc" and arguments:
            extent = _divided(context, arguments[0], size)
            return None if extent is None else (_name_of(context, base), extent)
        is_calloc = symbol == "calloc" and len(arguments) == 2
        if is_calloc and context.fact(arguments[1]).constant == size:
            return _name_of(context, base), _plain(context, arguments[0])
    return None


def _plain(context: Context, value: int) -> Extent:
    """Return a count as an extent: a constant, or the value in front of casts."""
    number = context.fact(value).constant
    return Extent(number) if number is not None else Extent(value=_uncast(context, value))


def _uncast(context: Context, value: int) -> int:
    """Return the value that was extended, if it keeps its number: signed, or not negative."""
    program, table = context.program, context.program.instructions
    row = value - program.bases[ValueKind.INSTRUCTION]
    while row >= 0 and table.opcode[row] in (Opcode.ZEXT, Opcode.SEXT):
        inner = int(table.operands[table.offsets[row]])
        if table.opcode[row] == Opcode.ZEXT and context.fact(inner).low < 0:
            break
        value, row = inner, inner - program.bases[ValueKind.INSTRUCTION]
    return value


def _divided(context: Context, n_bytes: int, size: int) -> Extent | None:
    """Return how many elements of a size so many bytes are: `n * size` is n, if it cannot wrap.

    If n may be negative as a number of 32 bits, so many bytes are never allocated, and no index is
    below n.
    """
    program, table = context.program, context.program.instructions
    number = context.fact(n_bytes).constant
    if number is not None:
        return Extent(number // size)
    row = n_bytes - program.bases[ValueKind.INSTRUCTION]
    if size == 1:
        return _plain(context, n_bytes)
    if row < 0 or table.opcode[row] not in (Opcode.MUL, Opcode.SHL):
        return None
    left, right = table.operands_of(row).tolist()
    factor = context.fact(right).constant
    if factor is not None and table.opcode[row] == Opcode.SHL:
        factor = 1 << min(factor, 63)
    if factor != size:
        return None
    inner = _uncast(context, left)
    width = int(context.values.width[inner])
    if (1 << width) * size > 1 << 63 and context.fact(inner).high * size >= 1 << 63:
        return None
    return Extent(value=inner)


def _name_of(context: Context, value: int) -> str:
    names = context.program.variables_of(value)
    if names:
        return names[0]
    kind, row = context.program.locate(value)
    if kind == ValueKind.GLOBAL:
        return context.program.strings[int(context.program.globals.name[row])]
    return "an array"


@dataclass(frozen=True)
class _Proof:
    """A proof of an inequality.

    Attributes:
        lines: the inequalities, first to last.
        relies_on: the least depth of a name that is still being asked and was taken for proved.
    """

    lines: tuple[str, ...] = ()
    relies_on: int = 1 << 30


class Inequalities:
    """The inequality graph of a program's names, looked at on demand.

    What is proved, or cannot be, is kept for each target: without that, the ways through the φ of
    a large loop are as many as the paths.
    """

    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table, self._split = context.program.instructions, context.split
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._source = self._split.flow.sources
        self._facts = context.facts
        # By target and name: with which slack it is proved; with which slack, and how many steps
        # left, it is not.
        self._proved: dict[tuple[int, int], tuple[int, _Proof]] = {}
        self._failed: dict[tuple[int, int], tuple[int, int]] = {}

    def is_below(self, index: int, extent: Extent) -> tuple[str, tuple[str, ...]]:
        """Return why an index is below an extent, and the proof; nothing if that is not known."""
        fact = self._context.fact(index)
        if not fact.has_value:
            return "", ()
        if extent.number >= 0:
            if fact.high < extent.number:
                return "interval", (f"at most {fact.high}, below {extent.number}",)
            return "", ()
        length = self._context.fact(extent.value)
        if fact.high < length.low:
            return "interval", (f"at most {fact.high}, below {length.low}",)
        proof = self._proof(index, extent.value, -1, {}, 0)
        return ("", ()) if proof is None else ("inequalities", proof.lines)

    def _proof(
        self, name: int, target: int, slack: int, open_: dict[int, tuple[int, int]], depth: int
    ) -> _Proof | None:
        """Return a proof of `name <= target + slack`, or None.

        `open_` has what is being asked, with slack and depth: coming back to a name with at least
        as much slack means that the cycle adds nothing.
        """
        new = name - self._program.n_values
        value = int(self._split.value[new]) if new >= 0 else name
        if value == target and slack >= 0:
            return _Proof()
        if name in open_:
            asked, at = open_[name]
            return _Proof((), at) if slack >= asked else None
        if depth > _DEEPEST:
            return None
        high, low = int(self._facts.high[name]), int(self._facts.low[target])
        if self._facts.has_value[name] and high <= low + slack:
            return _Proof((f"{self._said(name)} <= {high}",))
        key = target, name
        if key in self._proved and slack >= self._proved[key][0]:
            return self._proved[key][1]
        if key in self._failed:
            failed, left = self._failed[key]
            if slack <= failed and _DEEPEST - depth <= left:
                return None
        open_[name] = slack, depth
        found = self._by_operands(name, target, slack, open_, depth)
        del open_[name]
        if found is None:
            # Sound wherever it is asked again: at worst another way is not looked for.
            self._failed[key] = slack, _DEEPEST - depth
        elif found.relies_on >= depth:  # on nothing that is still open: it holds by itself
            found = _Proof(found.lines)
            self._proved[key] = slack, found
        return found

    def _by_operands(
        self, name: int, target: int, slack: int, open_: dict[int, tuple[int, int]], depth: int
    ) -> _Proof | None:
        """Return a proof by all operands of a φ, or by one of the bounds of a name."""
        phi = self._phi(name)
        if phi is not None and self._stays(target, name):
            parts: list[_Proof] = []
            for one in phi:
                part = self._proof(one, target, slack, open_, depth + 1)
                if part is None:
                    break
                parts.append(part)
            else:
                told = dict.fromkeys(line for part in parts for line in part.lines)
                lines = (*told, f"{self._said(name)} joins these")
                return _Proof(lines, min((part.relies_on for part in parts), default=1 << 30))
        for other, less, words in self._bounds(name):
            part = self._proof(other, target, slack + less, open_, depth + 1)
            if part is not None:
                return _Proof((*part.lines, words()), part.relies_on)
        return None

    def _stays(self, target: int, phi: int) -> bool:
        """Return whether a value is the same in all rounds of a loop that a φ begins.

        What a name was in the round before is compared with the target: its definition must
        strictly dominate the φ, so that no way from the φ back to it computes the target anew
        without passing another φ that is asked the same.
        """
        if target < self._first:
            return True
        flow, here = self._split.flow, int(self._table.block[target - self._first])
        if phi >= self._program.n_values:
            point = self._split.point[phi - self._program.n_values :][:1]
            there = int(flow.node_of(point)[0])
        else:
            there = int(self._table.block[phi - self._first])
        return flow.tree.strictly_dominates(here, there)

    def _said(self, name: int) -> str:
        value = int(self._split.value_of(np.array([name]))[0])
        names = self._program.variables_of(value)
        number = self._context.fact(name).constant
        if not names and number is not None:
            return str(number)
        return names[0] if names else f"%{getattr(self._program.value_view(value), 'name', value)}"

    def _phi(self, name: int) -> list[int] | None:
        split, table = self._split, self._table
        if name >= self._program.n_values:
            new = name - self._program.n_values
            if split.kind[new] != NameKind.PHI:
                return None
            return [int(o) for o in split.operands[split.offsets[new] : split.offsets[new + 1]]]
        row = name - self._first
        if row < 0 or table.opcode[row] != Opcode.PHI:
            return None
        return [int(o) for o in split.operand[table.offsets[row] : table.offsets[row + 1] : 2]]

    def _bounds(self, name: int) -> Iterator[tuple[int, int, Callable[[], str]]]:
        """Yield (y, c, words) with name <= y - c."""
        if name >= self._program.n_values:
            yield from self._of_new(name - self._program.n_values)
            return
        row = name - self._first
        if row < 0:
            return
        opcode, start, said = self._table.opcode[row], int(self._table.offsets[row]), self._said
        operands = self._split.operand[start : int(self._table.offsets[row + 1])].tolist()
        if opcode in (Opcode.ADD, Opcode.SUB) and self._table.flags[row] & Flag.NSW:
            number = self._context.fact(operands[1]).constant
            if number is not None and not self._context.wraps:
                more = number if opcode == Opcode.ADD else -number
                yield operands[0], -more, lambda: f"{said(name)} = {said(operands[0])} + {more}"
        elif opcode in (Opcode.SEXT, Opcode.FREEZE) or (
            opcode == Opcode.ZEXT and self._context.fact(operands[0]).low >= 0
        ):
            yield operands[0], 0, lambda: f"{said(name)} = {said(operands[0])}"

    def _of_new(self, new: int) -> Iterator[tuple[int, int, Callable[[], str]]]:
        split, flow = self._split, self._split.flow
        name = self._program.n_values + new
        source = int(split.operands[split.offsets[new]])
        if split.kind[new] == NameKind.SIGMA:
            edge = int(flow.node_of(split.point[new : new + 1])[0]) - flow.blocks.n_nodes
            block = int(self._source[edge])
            yield from self._by_condition(int(split.value[new]), block, edge)
        if split.kind[new] != NameKind.PHI and source >= 0:
            yield source, 0, lambda: f"{self._said(name)} is the same behind a branch or access"

    def _by_condition(
        self, value: int, block: int, edge: int
    ) -> Iterator[tuple[int, int, Callable[[], str]]]:
        table, flow = self._table, self._split.flow
        last = int(self._program.blocks.instruction_offsets[block + 1]) - 1
        operands = table.operands_of(last).tolist()
        if table.opcode[last] != Opcode.BR or len(operands) != 3:
            return
        row = operands[0] - self._first
        if row < 0 or table.opcode[row] != Opcode.ICMP or PREDICATE[table.sub[row]] < 0:
            return
        predicate = int(PREDICATE[table.sub[row]])
        if edge != int(flow.blocks.offsets[block]):
            predicate ^= 1
        start = int(table.offsets[row])
        compared, names = table.operands[start : start + 2], self._split.operand[start : start + 2]
        for place in (0, 1):
            if int(compared[place]) != value:
                continue
            used = predicate if place == 0 else SWAPPED[predicate]
            other = int(names[1 - place])
            # An unsigned compare bounds the signed number where both are not negative.
            if used in (Predicate.ULT, Predicate.ULE) and self._context.fact(other).low < 0:
                continue
            if used in _LESS:
                sign = "<" if _LESS[Predicate(used)] else "<="
                words = partial(self._compared, value, sign, other)
                yield other, _LESS[Predicate(used)], words

    def _compared(self, value: int, sign: str, other: int) -> str:
        return f"{self._said(value)} {sign} {self._said(other)}"


CLIENT = Client("Which accesses to arrays need no check of their bounds?", answer)
