"""Where does something bad come from, and where does it get to? Bits that flow along names.

Bounds say what a value may be as far as is known: a pointer of which nothing is known may be null,
and to report each of these would help nobody. Clients that report faults follow *evidence*: a bit
starts where a program, or a function of the library, really makes a null pointer, a zero, an
undefined value or data from outside; it flows along names, through memory, arguments and results;
and it ends where bounds exclude it, as behind a test. What arrives at a use has a path that can be
shown.

    p = malloc(n)        gen: may be null            p
    if (p)               bounds: p/2 is not 0        p/2    killed
      *p = 1;                                        use of p/2: nothing
    *p = 2;                                          use of p: a finding, with the path
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.dataflow.data_graph import DataGraph, EdgeKind
from kleene.analyses.points_to.library import Role
from kleene.analyses.points_to.library.language import Place, Trusts
from kleene.base.arrays import I64, Bools, Ints, csr, ragged
from kleene.base.demangling import demangled, without_parameters
from kleene.base.errors import Span
from kleene.ir import Global
from kleene.ir.codes import CALLS, ConstantKind, Opcode, TypeKind, ValueKind
from kleene.results import Location
from kleene.solvers.dataflow.codes import HIGH, LEAST, LOW, MOST, ONES
from kleene.transforms.splitting import NameKind

if TYPE_CHECKING:
    from kleene.analyses.dataflow.context import Context


_MOST_PARAMETERS = 64


class Layer(IntEnum):
    """How evidence got to a name: by calls that fit, and whether in memory that all may write."""

    HERE = 0  # from the name's own function, or from what it has called
    BELOW = 1  # from a caller
    STORED_HERE = 2  # read from memory, here or in what was called since
    STORED_BELOW = 3  # read from memory, by a caller


class _Step(IntEnum):
    """What an edge of the data graph does to the layer."""

    LOCAL = 0
    DOWN = 1  # from an argument to the parameter
    UP = 2  # from a function's result to a call
    STORED = 3  # to a name of memory that stands for any time


# The layer behind an edge, by its step and the layer before it; -1: that is no way. Who has come
# down from a call only leaves the function along the summary of its parameter, which is LOCAL.
_NEXT = np.array([[0, 1, 2, 3], [1, 1, 3, 3], [0, -1, 2, -1], [2, 2, 2, 2]])


@dataclass(frozen=True)
class Path:
    """A way of evidence.

    Attributes:
        start: the name at which it begins.
        rows: the instructions on it, first to last.
        left: writes on it that may have left memory as it was.
        branches: of a φ on it, the end of the block from which the way comes.
    """

    start: int
    rows: list[int]
    left: list[int]
    branches: dict[int, int]


class Evidence:
    """Which names something bad gets to, and how.

    A way enters and leaves functions as calls do: what one call passes does not come out of another
    one. Memory that all functions write forgets the calls, and has a layer of its own.

    Args:
        context: the program.
        graph: which names have their values from which.
        gen: the names at which evidence begins.
        kill: the names that do not take it over from others.
        kinds: the edges along which it flows.
    """

    def __init__(
        self, context: Context, graph: DataGraph, gen: Bools, kill: Bools, kinds: EdgeKind
    ) -> None:
        self.context, self.graph, self._gen = context, graph, gen
        self._n = graph.n_names
        chosen = np.flatnonzero(graph.kind & int(kinds))
        chosen = chosen[~kill[graph.target[chosen]]]
        source, target, row = graph.source[chosen], graph.target[chosen], graph.row[chosen]
        # Behind a write that may leave what was there: the instruction is no step of the way.
        is_weak = graph.kind[chosen] == EdgeKind.WEAK
        row = np.where(is_weak & (row >= 0), -2 - row, row)
        step = self._steps(source, target)
        more = _Summaries(context, graph, kill, source, target, step).edges()
        source, target, row = (
            np.concatenate([column, extra])
            for column, extra in zip((source, target, row), more, strict=True)
        )
        step = np.append(step, np.full(len(more[0]), _Step.LOCAL))
        self._offsets, order = csr(source, self._n)
        columns = (target, row, step)
        self._target, self._row, self._step = (
            columns if order is None else tuple(column[order] for column in columns)
        )
        self._came = np.full(len(Layer) * self._n, -1, np.int64)  # from which (layer, name)
        self._along = np.full(len(Layer) * self._n, -1, np.int64)  # the instruction of the step
        self._seen = np.zeros(len(Layer) * self._n, bool)
        self._search()
        layers = self._seen.reshape(len(Layer), self._n)
        self._found: Bools = np.logical_or.reduce(layers, axis=0)

    def _steps(self, source: I64, target: I64) -> I64:
        """Return what edges do to the layer."""
        program, graph = self.context.program, self.graph
        step = np.full(len(source), _Step.LOCAL)
        low, high = program.bases[ValueKind.ARGUMENT], program.bases[ValueKind.BLOCK]
        step[(target >= low) & (target < high)] = _Step.DOWN
        first, end = graph.first_result, graph.first_result + len(program.function_table)
        step[(source >= first) & (source < end)] = _Step.UP
        memory = graph.memory
        n_shared = memory.n_names - memory.memory.names.n_names
        begin = graph.first_memory
        step[(target >= begin) & (target < begin + n_shared)] = _Step.STORED
        return step

    def _search(self) -> None:
        """Go breadth first from all starts together; through memory only when all else is done."""
        waiting = np.flatnonzero(self._gen)
        self._seen[waiting] = True
        late: list[tuple[I64, I64, I64]] = []
        while len(waiting) or late:
            if not len(waiting):
                source, node, row = (np.concatenate(part) for part in zip(*late, strict=True))
                late = []
                waiting = self._reach(source, node, row)
                continue
            name, layer = waiting % self._n, waiting // self._n
            which, edge = ragged(self._offsets[name], self._offsets[name + 1])
            step = self._step[edge]
            to = _NEXT[step, layer[which]]
            node = to * self._n + self._target[edge]
            keep = to >= 0
            later = keep & (layer[which] < Layer.STORED_HERE) & (step == _Step.STORED)
            if later.any():
                late.append((waiting[which[later]], node[later], self._row[edge[later]]))
            keep &= ~later
            waiting = self._reach(waiting[which[keep]], node[keep], self._row[edge[keep]])

    def _reach(self, source: I64, node: I64, row: I64) -> I64:
        """Note how nodes are reached that were not yet, and return these."""
        new = ~self._seen[node]
        source, node, row = source[new], node[new], row[new]
        found, first = np.unique(node, return_index=True)
        self._seen[found] = True
        self._came[found], self._along[found] = source[first], row[first]
        return found

    def has(self, names: Ints) -> Bools:
        """Return which names evidence gets to."""
        found: Bools = self._found[names]
        return found

    def is_direct(self, name: int) -> bool:
        """Return whether evidence gets to a name without memory that other functions may write."""
        return bool(self._seen[name] or self._seen[self._n + name])

    def reaches(self, name: int, row: int) -> bool:
        """Return whether evidence for a name gets to a use of it by an instruction.

        `while (p && p->n) p = p->next` joins p from before and behind `p->n` and then branches on
        φ(false, p->n): in the body only the one from behind is left. So a φ of a block that ends in
        a branch on a φ of conditions has, behind the branch, what comes along edges that fit.
        """
        if not self._found[name]:
            return False
        operands = _fitting_operands(self.context, name, row)
        return True if operands is None else any(bool(self._found[one]) for one in operands)

    def path(self, name: int) -> Path:
        """Return a shortest way of evidence to a name."""
        layers = self._seen.reshape(len(Layer), self._n)[:, name]
        node = int(np.argmax(layers)) * self._n + name
        rows: list[int] = []
        left: list[int] = []
        branches: dict[int, int] = {}
        while self._came[node] >= 0:
            row, before = int(self._along[node]), int(self._came[node])
            if row <= -2:
                left.append(-2 - row)
            elif row >= 0 and (not rows or rows[-1] != row):
                rows.append(row)
                branches[row] = self._branch(row, before % self._n)
            node = before
        return Path(node % self._n, rows[::-1], left, branches)

    def _branch(self, row: int, name: int) -> int:
        """Return the end of the block from which a φ takes a name; any other row as it is."""
        program, table = self.context.program, self.context.program.instructions
        if table.opcode[row] != Opcode.PHI:
            return row
        start, end = table.offsets[row : row + 2].tolist()
        names = self.context.split.operand[start:end:2].tolist()
        if name not in names:
            return row
        block = int(table.operands[start + 1 + 2 * names.index(name)])
        block -= program.bases[ValueKind.BLOCK]
        return int(program.blocks.instruction_offsets[block + 1]) - 1


class _Summaries:
    """Which parameters get to the result of their function: edges from arguments to calls."""

    def __init__(
        self, context: Context, graph: DataGraph, kill: Bools, source: I64, target: I64, step: I64
    ) -> None:
        program, calls = context.program, context.calls
        table, functions = program.instructions, program.function_table
        local = step == _Step.LOCAL
        self._graph, self._n = graph, graph.n_names
        self._offsets, order = csr(source[local], self._n)
        self._target = target[local] if order is None else target[local][order]
        self._bits = np.zeros(self._n, np.uint64)
        # A bit for each parameter of its function; those behind the 64th have none.
        n_parameters = np.diff(functions.argument_offsets)
        nth = np.arange(int(n_parameters.sum())) - np.repeat(
            functions.argument_offsets[:-1], n_parameters
        )
        formal = program.bases[ValueKind.ARGUMENT] + np.flatnonzero(nth < _MOST_PARAMETERS)
        self._bits[formal] = np.uint64(1) << nth[nth < _MOST_PARAMETERS].astype(np.uint64)
        self._waiting = formal
        n_passed = np.diff(table.offsets)[calls.call] - 1
        n_passed = n_passed - 2 * (table.opcode[calls.call] == Opcode.INVOKE)
        count = np.minimum(n_parameters[calls.function], np.maximum(n_passed, 0))
        count = np.minimum(count, _MOST_PARAMETERS).astype(np.int64)
        which, self._nth = ragged(np.zeros(len(count), np.int64), count)
        self._call, self._function = calls.call[which], calls.function[which]
        self._actual = context.split.operand[table.offsets[self._call] + 1 + self._nth]
        self._result = program.bases[ValueKind.INSTRUCTION] + self._call
        usable = ~kill[self._result]
        self._nth, self._call, self._function, self._actual, self._result = (
            column[usable]
            for column in (self._nth, self._call, self._function, self._actual, self._result)
        )

    def edges(self) -> tuple[I64, I64, I64]:
        """Return arguments, the calls that pass them and get them back, and these instructions."""
        active = np.zeros(len(self._call), bool)
        while True:
            self._flow()
            returned = self._bits[self._graph.first_result + self._function]
            active = returned >> self._nth.astype(np.uint64) & np.uint64(1) != 0
            self._waiting = self._add(self._actual[active], self._result[active])
            if not len(self._waiting):
                break
        return self._actual[active].astype(np.int64), self._result[active], self._call[active]

    def _flow(self) -> None:
        while len(self._waiting):
            which, edge = ragged(self._offsets[self._waiting], self._offsets[self._waiting + 1])
            self._waiting = self._add(self._waiting[which], self._target[edge])

    def _add(self, source: Ints, target: I64) -> I64:
        """Give names the bits of others, and return those that have more now."""
        before = self._bits[target]
        useful = self._bits[source] & ~before != 0
        np.bitwise_or.at(self._bits, target[useful], self._bits[source[useful]])
        return np.unique(target[useful])


def _fitting_operands(context: Context, name: int, row: int) -> list[int] | None:
    """Return what a φ may be at an instruction behind the branch of its block; None for all."""
    program, split, flow = context.program, context.split, context.split.flow
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    places: list[int] = []
    if name >= program.n_values:
        new = name - program.n_values
        if split.kind[new] != NameKind.PHI:
            return None
        block = int(flow.node_of(split.point[new : new + 1])[0])
        places = split.operands[split.offsets[new] : split.offsets[new + 1]].tolist()
        offsets, edges = flow.incoming
        come = edges[offsets[block] : offsets[block + 1]].tolist()
    elif name >= first and table.opcode[name - first] == Opcode.PHI:
        block = int(table.block[name - first])
        begin, end = table.offsets[name - first : name - first + 2].tolist()
        places = split.operand[begin:end:2].tolist()
        come = table.operands[begin + 1 : end : 2].tolist()
    else:
        return None
    sources = flow.sources
    low = program.bases[ValueKind.BLOCK]
    of_edges = name >= program.n_values
    before = [int(sources[one]) if of_edges else one - low for one in come]
    wrong = _excluded(context, block, int(table.block[row]))
    if not wrong:
        return None
    return [one for one, at in zip(places, before, strict=True) if at not in wrong and one >= 0]


def _excluded(context: Context, block: int, below: int) -> set[int]:
    """Return the blocks before `block` from which its branch does not lead to `below`.

    The branch is on a φ of conditions in the block itself, some of which are constants.
    """
    program, flow = context.program, context.split.flow
    table, constants = program.instructions, program.constants
    last = int(program.blocks.instruction_offsets[block + 1]) - 1
    operands = table.operands_of(last).tolist()
    condition = operands[0] - program.bases[ValueKind.INSTRUCTION] if len(operands) == 3 else -1
    if condition < 0 or table.opcode[last] != Opcode.BR or table.opcode[condition] != Opcode.PHI:
        return set()
    if table.block[condition] != block:
        return set()
    node, n_blocks = below, flow.blocks.n_nodes
    first_edge = int(flow.blocks.offsets[block])
    while node >= 0 and node != block:
        if node in (n_blocks + first_edge, n_blocks + first_edge + 1):
            wanted = 1 if node == n_blocks + first_edge else 0
            given = table.operands_of(condition).tolist()
            low, base = program.bases[ValueKind.BLOCK], program.bases[ValueKind.CONSTANT]
            found = set()
            for value, at in zip(given[::2], given[1::2], strict=True):
                is_number = base <= value < program.bases[ValueKind.ARGUMENT] and (
                    constants.kind[value - base] == ConstantKind.INT
                )
                if is_number and int(constants.payload[value - base]) & 1 != wanted:
                    found.add(at - low)
            return found
        node = int(flow.tree.idom[node])
    return set()


def excludes_zero(context: Context, n_names: int) -> Bools:
    """Return which names cannot be 0, by their bounds or known bits, or have no value."""
    rows = context.facts.rows[: context.split.n_names]
    tracked = context.is_tracked(np.arange(context.split.n_names))
    found = (rows[:, LOW] > 0) | (rows[:, HIGH] < 0) | (rows[:, ONES] != 0) | (rows[:, LEAST] != 0)
    found |= ~context.facts.has_value[: context.split.n_names]
    return np.append(found & tracked, np.zeros(n_names - len(found), bool))


def is_bounded(context: Context, names: Ints, most: int) -> Bools:
    """Return which names are numbers from 0 to at most so many."""
    rows = context.facts.rows[names]
    tracked = context.is_tracked(names)
    unsigned = rows[:, MOST].astype(np.uint64)
    width = context.values.width[context.split.value_of(names)]
    mask = np.where(width < 64, (np.uint64(1) << np.minimum(width, 63).astype(np.uint64)), 0)
    unsigned = np.where(width < 64, unsigned & (mask - np.uint64(1)), unsigned)
    found: Bools = tracked & (unsigned <= np.uint64(most))
    return found


def null_constants(context: Context) -> I64:
    """Return the constants that are null pointers."""
    program = context.program
    return program.bases[ValueKind.CONSTANT] + np.flatnonzero(
        program.constants.kind == ConstantKind.NULL
    )


def zero_constants(context: Context) -> I64:
    """Return the constants that are the integer 0."""
    program, table = context.program, context.program.constants
    is_int = program.types.kind[table.type] == TypeKind.INT
    is_zero = (table.kind == ConstantKind.INT) & (table.payload == 0)
    is_zero |= table.kind == ConstantKind.ZERO
    return program.bases[ValueKind.CONSTANT] + np.flatnonzero(is_int & is_zero)


def undefined_constants(context: Context) -> I64:
    """Return the constants that are undefined."""
    program = context.program
    return program.bases[ValueKind.CONSTANT] + np.flatnonzero(
        np.isin(program.constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
    )


def calls_with_roles(context: Context) -> Iterator[tuple[int, str, tuple[Role, ...]]]:
    """Yield calls of functions that have roles, by name or through pointers: row, name, roles."""
    program, table = context.program, context.program.instructions
    library = context.roles
    calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callee = table.operands[table.offsets[calls]].astype(np.int64)
    named = callee < len(program.globals)
    pointed = context.calls.declared
    pointed = pointed[table.operands[table.offsets[pointed[:, 0]]] >= len(program.globals)]
    called = program.function_table.value[pointed[:, 1]]
    calls = np.concatenate([calls[named], pointed[:, 0]])
    callee = np.concatenate([callee[named], called])
    keep = context.block_is_reached[table.block[calls]]
    known: dict[int, tuple[str, tuple[Role, ...]]] = {}
    for row, value in zip(calls[keep].tolist(), callee[keep].tolist(), strict=True):
        if value not in known:
            plain = _plain(program.strings[int(program.globals.name[value])])
            known[value] = plain, library.roles_of(plain)
        name, roles = known[value]
        if roles:
            yield row, name, roles


def operands_of(context: Context, row: int, place: Place) -> list[int]:
    """Return the arguments of a call that a role is about, as places among all operands.

    A constant null pointer ends a list of arguments: what is behind it in `execle` is no word.
    """
    program, table = context.program, context.program.instructions
    start, end = table.offsets[row : row + 2].tolist()
    blocks = range(program.bases[ValueKind.BLOCK], program.bases[ValueKind.INSTRUCTION])
    while end > start and int(table.operands[end - 1]) in blocks:  # of invoke and callbr
        end -= 1
    found = []
    for position in place.positions(end - start - 1):
        at = start + 1 + position
        kind, constant = program.locate(int(table.operands[at]))
        is_null = kind == ValueKind.CONSTANT and (
            program.constants.kind[constant] == ConstantKind.NULL
        )
        if place.and_behind and is_null:
            break
        found.append(at)
    return found


def trusted(context: Context) -> Iterator[tuple[int, int, str, Trusts]]:
    """Yield uses that must not get just anything: instruction, place of the operand, name, role.

    They are arguments of functions that have such roles, and sizes of storage on the stack.
    """
    table = context.program.instructions
    for row, called, roles in calls_with_roles(context):
        for role in roles:
            if isinstance(role, Trusts):
                for at in operands_of(context, row, role.place):
                    yield row, at, called, role
    rows = np.flatnonzero(table.opcode == Opcode.ALLOCA)
    rows = rows[table.operands[table.offsets[rows]] >= context.program.bases[ValueKind.ARGUMENT]]
    rows = rows[context.block_is_reached[table.block[rows]]]
    for row in rows.tolist():
        yield row, int(table.offsets[row]), "alloca", Trusts(Place(0), "size")


def _plain(name: str) -> str:
    """Return the C function that an intrinsic of LLVM stands for."""
    for word in ("memcpy", "memmove", "memset"):
        if name.startswith(f"llvm.{word}."):
            return word
    return name


def span_of(context: Context, row: int) -> Span | None:
    """Return where an instruction is in the source."""
    return context.program.instruction_view(row).span


# Where headers of systems and compilers are: /usr/include, .../lib/clang/22/include, .../c++/v1.
_OF_LIBRARY = re.compile(r"/usr/(local/)?include/|/lib/(clang|gcc)/|/ziglang/lib/|/include/c\+\+/")


def is_of_library(span: Span) -> bool:
    """Return whether a place is in a header of a system or a compiler."""
    return _OF_LIBRARY.search(span.file) is not None


def steps(
    context: Context, way: Path, last: int, what: str, begin: str = "", before: Iterable[int] = ()
) -> list[Location]:
    """Return the places of instructions on a way, each line once.

    Args:
        context: the program.
        way: the instructions.
        last: the instruction at the end of the way, whose place is not among them.
        what: it is that flows, for "null is returned".
        begin: what is said of the first of them, as "malloc may return null".
        before: instructions in front of the way, such as the call that it starts with.
    """
    rows = [*before, *way.rows]
    of = context.program.instruction_function
    found: list[Location] = []
    table, program = context.program.instructions, context.program
    words = {Opcode.STORE: "is stored", Opcode.LOAD: "is read", Opcode.RET: "is returned",
             Opcode.PHI: "goes on from here"}  # fmt: skip
    for row, after in pairwise([*rows, last]):
        span, opcode = span_of(context, row), int(table.opcode[row])
        if span is None or not span.line:
            span = span_of(context, way.branches.get(row, row))
        is_silent = opcode == Opcode.GETELEMENTPTR or span is None or not span.line
        if is_silent or (found and found[-1].span == span):
            continue
        word = words.get(Opcode(opcode), "goes on")
        if opcode in CALLS:
            callee = program.instruction_view(row).operands[0]
            name = callee.name if isinstance(callee, Global) else "a function pointer"
            name = without_parameters(demangled(name) or name)
            word = f"is passed to {name}" if of[row] != of[after] else f"comes from {name}"
        is_first = bool(begin) and row == rows[0]
        found.append(Location(span, begin if is_first else f"{what} {word}"))
    return found
