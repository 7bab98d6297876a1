"""What is known at a place of the source, in terms of its variables.

A variable of the source has a value of the IR from one binding to the next. Where bindings of
several ways meet and no phi says which one holds, nothing is said of the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kleene.algebra import FloatFormat, FloatInterval
from kleene.analyses.invariants.compile import Code, before, needed_at_end
from kleene.analyses.invariants.expressions import BOOL, Form, Key, only
from kleene.analyses.invariants.flat import Base, Cell
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.solve import Run
from kleene.ir import Program
from kleene.ir.codes import Binding, Opcode

_MOST_PAIRS = 8  # variables of which pairs are compared
_CONFLICT = -1


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds in front of an instruction, on one chain of calls.

    Attributes:
        function: the function that the instruction stands in.
        calls: the functions on the way there, outermost first; empty in the analysed one itself.
        cases: constraints that hold together, for each of several cases; no case if no run comes
            there.
    """

    function: str
    calls: tuple[str, ...]
    cases: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        if not self.cases:
            return "unreachable"
        if any(not case for case in self.cases):
            return "true"
        return " || ".join(" && ".join(case) for case in self.cases)


def facts_at(program: Program, run: Run, block: int, instruction: int) -> Facts:
    """Return what holds in front of an instruction of one block of the code."""
    code = run.code
    flat = code.flat.blocks[block]
    position = position_of(run, block, instruction)
    bound, _ = variables_at(program, run, block, instruction)
    cases: dict[tuple[str, ...], None] = {}
    for numbers in run.values[block]:
        made = numbers.copy()
        for operation in code.operations[block][:position]:
            made = operation.apply(made, None)
            if made.is_empty:
                break
        else:
            cases[tuple(constraints(made, bound))] = None
    names = []
    context = flat.context
    while context >= 0:
        names.append(program.functions[code.flat.contexts[context][0]].name)
        context = code.flat.contexts[context][2]
    return Facts(names[0], tuple(reversed(names[1:])), tuple(cases))


def position_of(run: Run, block: int, instruction: int) -> int:
    """Return the first operation of a block that belongs to an instruction, or to one behind it."""
    context, origins = run.code.flat.blocks[block].context, run.code.origins[block]
    key = (context, instruction)
    position = next((i for i, one in enumerate(origins) if one == key), None)
    if position is None:
        after = [i for i, one in enumerate(origins) if one[0] == context and one[1] > instruction]
        position = after[0] if after else len(origins)
    return position


def variables_at(
    program: Program, run: Run, block: int, instruction: int
) -> tuple[dict[str, Form], dict[str, int]]:
    """Return what variables of the source are in front of an instruction, and their bits."""
    live = _live_before(run.code, block, position_of(run, block, instruction))
    return _bound(program, run.code, run.code.flat.blocks[block].context, instruction, live)


def _live_before(code: Code, block: int, position: int) -> frozenset[Key]:
    needed = needed_at_end(code.flat, block, code.live_keys)
    for operation in reversed(code.flat.blocks[block].operations[position:]):
        before(operation, needed)
    return frozenset(needed)


def _bound(
    program: Program, code: Code, context: int, instruction: int, live: frozenset[Key]
) -> tuple[dict[str, Form], dict[str, int]]:
    """Return the source's variables that are forms of variables known there, and their bits."""
    found: dict[str, Form] = {}
    bits: dict[str, int] = {}
    forms = {key: only(code.number[key]) for key in live if key in code.number}
    function = code.flat.contexts[context][0]
    if function not in code.reaching:
        code.reaching[function] = Reaching(program, function)
    for variable, value in code.reaching[function].at(instruction).items():
        expression = code.flat.expressions.get(Base(context, value))
        if value == _CONFLICT or not isinstance(expression, Form) or not expression.terms:
            continue
        if all(key in forms for key in expression.keys):
            name = program.strings[int(program.variables.name[variable])]
            if name not in found and not name.startswith("__vla_expr"):
                found[name] = expression.replaced(forms.get)
                bits[name] = int(program.types.bits[program.value_types[value]])
    for key in live:
        if isinstance(key, Cell) and key.is_aspect:
            continue
        if code.flat.kinds[key] == BOOL:  # flags of the analysis' own: was it written, or freed
            continue
        if not isinstance(key, Cell) or not _is_of(code, key, context):
            continue
        name, is_global = code.names[code.number[key]], code.flat.objects[key.object].base is None
        if name and not (is_global and name in code.reaching[function].names):  # a local hides it
            found.setdefault(name, forms[key])
            bits.setdefault(name, 8 * key.size)
    return found, bits


def _is_of(code: Code, cell: Cell, context: int) -> bool:
    """Return whether a cell is one of a global, or of storage that this context has made."""
    base = code.flat.objects[cell.object].base
    return base is None or base.context == context


class Reaching:
    """The values that the source's variables have in a function, by place."""

    def __init__(self, program: Program, function: int) -> None:
        self._block = program.instructions.block
        mine = program.variables.name[program.variables.function == function]
        self.names = {program.strings[one] for one in mine.tolist()}
        first, end = program.function_table.block_offsets[function : function + 2].tolist()
        starts = program.blocks.instruction_offsets
        self._bindings: dict[int, list[tuple[int, int, int]]] = {}
        table = program.bindings
        low, high = int(starts[first]), int(starts[end])
        inside = (table.before >= low) & (table.before < high) & (table.kind != Binding.DECLARE)
        for row in inside.nonzero()[0].tolist():
            point = int(table.before[row])
            value = int(table.value[row]) if table.exact[row] else _CONFLICT
            bound = (point, int(table.variable[row]), value)
            self._bindings.setdefault(int(self._block[point]), []).append(bound)
        for found in self._bindings.values():
            found.sort(key=lambda one: one[0])
        self._into: dict[int, dict[int, int]] = {first: {}}
        todo = [first]
        offsets, targets = program.successors
        while todo:
            block = todo.pop()
            state = dict(self._into[block])
            for _, variable, value in self._bindings.get(block, ()):
                state[variable] = value
            for target in targets[offsets[block] : offsets[block + 1]].tolist():
                old = self._into.get(target)
                new = state if old is None else _met(old, state)
                if old is None or new != old:
                    self._into[target] = new
                    todo.append(target)

    def at(self, instruction: int) -> dict[int, int]:
        """Return the value that each variable has in front of an instruction."""
        block = int(self._block[instruction])
        state = dict(self._into.get(block, {}))
        for point, variable, value in self._bindings.get(block, ()):
            if point <= instruction:
                state[variable] = value
        return state


def _met(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    return {key: value if b.get(key, value) == value else _CONFLICT for key, value in a.items()} | {
        key: value for key, value in b.items() if key not in a
    }


def constraints(
    numbers: Numbers, bound: dict[str, Form], *, ranges: bool = True, relations: bool = True
) -> Iterator[str]:
    """Yield constraints on named forms: ranges, differences and sums that say more, remainders."""
    named = [one for one in sorted(bound.items()) if not _is_of_none(numbers, bound, one[0])]
    floats = {name: format for name, form in named if (format := _format(numbers, form))}
    for name, form in named if ranges else ():
        if name in floats:
            yield from _float_range(numbers.floats(form, floats[name]), name)
        else:
            yield from _range(numbers, name, form)
    if not relations:
        return
    named = [one for one in named if one[0] not in floats]
    for (x, a), (y, b) in combinations(named[:_MOST_PAIRS], 2):
        yield from _pair(numbers, f"{x} - {y}", a, b, -1)
        yield from _pair(numbers, f"{x} + {y}", a, b, 1)
    yield from _equalities(numbers, named)


def _is_of_none(numbers: Numbers, bound: dict[str, Form], name: str) -> bool:
    """Return whether a name is `each(a)` where no element of `a` was written yet."""
    written = bound.get(name.replace("each(", "written(", 1)) if name.startswith("each(") else None
    return written is not None and numbers.bounds(written)[1] <= 0


def _format(numbers: Numbers, form: Form) -> FloatFormat | None:
    return numbers.layout.kinds[form.keys[0]].format


def _float_range(given: FloatInterval, name: str) -> Iterator[str]:
    """Yield what is known of a number, as C writes it: `!(x < 0.0)` where it may be NaN."""
    format, low, high, most = given.format, given.low, given.high, given.format.infinity
    if not given.has_number:
        yield f"{name} != {name}"
    elif given.has_nan:
        if -most < low < most:
            yield f"!({name} < {format.show(low)})"
        if -most < high < most:
            yield f"!({name} > {format.show(high)})"
    elif low == high and -most < low < most:
        yield f"{name} == {format.show(low)}"
    elif low == -most and high == most:
        yield f"{name} == {name}"
    else:
        if low > -most:
            is_infinite = low == most
            yield f"{format.show(low - is_infinite)} {'<' if is_infinite else '<='} {name}"
        if high < most:
            is_infinite = high == -most
            yield f"{name} {'<' if is_infinite else '<='} {format.show(high + is_infinite)}"


def _range(numbers: Numbers, name: str, form: Form) -> Iterator[str]:
    low, high = numbers.bounds(form)
    kinds = [numbers.layout.kinds[key] for key in form.keys]
    if low == high:
        yield f"{name} == {low}"
        return
    if all(low > kind.low for kind in kinds):
        yield f"{low} <= {name}"
    if all(high < kind.high for kind in kinds):
        yield f"{name} <= {high}"
    residue = numbers.residue(form)
    if residue is not None and residue[0] > 1:
        yield (
            f"{name} % {residue[0]} == {residue[1]}"
            if low >= 0
            else (f"({name} - {residue[1]}) % {residue[0]} == 0")
        )


def _pair(numbers: Numbers, text: str, a: Form, b: Form, sign: int) -> Iterator[str]:
    """Yield the bounds of a sum or difference that ranges do not imply."""
    (a_low, a_high), (b_low, b_high) = numbers.bounds(a), numbers.bounds(b.scaled(sign))
    if a_low == a_high or b_low == b_high:
        return
    low, high = numbers.bounds(a.plus(b, sign))
    if low == high:
        yield f"{text} == {low}"
        return
    widths = [numbers.layout.kinds[key].width for key in (*a.keys, *b.keys)]
    large = 1 << max(min(widths) - 2, 0)  # what follows from the ends of types is not worth a line
    if low > a_low + b_low and abs(low) < large:
        yield f"{low} <= {text}"
    if high < a_high + b_high and abs(high) < large:
        yield f"{text} <= {high}"


def _equalities(numbers: Numbers, named: Iterable[tuple[str, Form]]) -> Iterator[str]:
    """Yield the equalities of three variables or more, or with factors, that names suffice for."""
    plain: dict[object, tuple[str, int]] = {}
    for name, form in named:
        if len(form.terms) == 1 and form.terms[0][1] == 1:
            plain.setdefault(form.terms[0][0], (name, form.constant))
    for row in numbers.equalities.rows.values():
        is_octagonal = len(row.terms) <= 2 and all(abs(factor) == 1 for _, factor in row.terms)
        if is_octagonal or not all(key in plain for key in row.keys):
            continue
        shifted = row
        for key, factor in row.terms:
            shifted = shifted.shifted(-factor * plain[key][1])
        yield f"{shifted.show(lambda key: plain[key][0])} == 0"


def lines_of(
    program: Program, run: Run, file: str, line: int, last: int = 0
) -> Iterator[tuple[int, int]]:
    """Yield the blocks that a line, or lines up to the last, begin in, with the first instruction.

    A statement of several lines may begin behind its first: `f(` with `x = 4, g())` on the next
    line calls f behind g, where x is 4 already.
    """
    spans, table = program.spans, program.instructions
    wanted = {
        row
        for row in range(len(spans))
        if line <= int(spans.line[row]) <= max(line, last)
        and program.strings[int(spans.file[row])].endswith(file)
    }
    parts: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for block, flat in enumerate(run.code.flat.blocks):
        parts.setdefault((flat.context, flat.row), []).append((flat.first, block))
    found: dict[int, int] = {}
    for (_, at), blocks in parts.items():
        first, end = program.blocks.instruction_offsets[at : at + 2].tolist()
        rows = [
            row  # a phi has the place of a declaration, and stands where values meet
            for row in range(first, end)
            if int(table.span[row]) in wanted and table.opcode[row] != Opcode.PHI
        ]
        if rows:
            _, block = max(one for one in blocks if one[0] <= rows[0])
            found[block] = rows[0]
    before: dict[int, set[int]] = {block: set() for block in found}
    for step in run.code.steps:
        if step.target in before:
            before[step.target].add(step.source)
    for block, row in found.items():
        if not before[block] or not before[block] <= found.keys():
            yield block, row


def first_of_line(program: Program, file: str, line: int) -> list[int]:
    """Return the first instruction of a line in each function that has some of it."""
    spans, table = program.spans, program.instructions
    files = {symbol: program.strings[symbol].endswith(file) for symbol in set(spans.file.tolist())}
    wanted = [row for row in (spans.line == line).nonzero()[0].tolist() if files[spans.file[row]]]
    rows = np.flatnonzero(np.isin(table.span, wanted) & (table.opcode != Opcode.PHI))
    _, first = np.unique(program.instruction_function[rows], return_index=True)
    return [int(one) for one in rows[first].tolist()]


__all__ = [
    "Facts", "Reaching", "constraints", "facts_at", "first_of_line", "lines_of", "position_of",
    "variables_at",
]  # fmt: skip
