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

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.dataflow.memory_names import UNDEFINED, ZERO, MemoryNames, memory_names
from kleene.analyses.points_to.library import Role
from kleene.base.arrays import I64, U64, Bools, Ints, csr, offsets_of, ragged
from kleene.base.errors import Span
from kleene.ir.codes import BINARY, CALLS, CASTS, ConstantKind, Opcode, TypeKind, ValueKind
from kleene.results import Location
from kleene.solvers.dataflow import BitConstraints, solve_bits
from kleene.solvers.dataflow.codes import HIGH, LEAST, LOW, MOST, ONES
from kleene.transforms.splitting import NameKind
from kleene.transforms.splitting.program import phi_edges

if TYPE_CHECKING:
    from kleene.analyses.dataflow.context import Context


class EdgeKind(IntFlag):
    """What a name has to do with one that it is computed from."""

    SAME = 1  # the very value: φ, copies, selects, memory, arguments, results
    CAST = 2  # extended or cut
    COMPUTED = 4  # by arithmetic
    FIELD = 8  # an address in what the other one points to
    INDEX = 16  # an address that far
    THROUGH = 32  # read from where the other one points to
    VAGUE = 64  # read from bytes that are written in other ways too
    WEAK = 128  # what a memory variable was before a write that may leave it
    PASSED = 256  # a function of the library passes it on


_SAME = (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE, Opcode.INTTOPTR, Opcode.PTRTOINT)
_WIDTHS = (Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT)
_PARTS = (Opcode.EXTRACTVALUE, Opcode.INSERTVALUE, Opcode.EXTRACTELEMENT, Opcode.INSERTELEMENT,
          Opcode.SHUFFLEVECTOR)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DataGraph:
    """Which names have their values from which: names of values, of memory, and results.

    Attributes:
        n_names: how many there are.
        source: names.
        target: names.
        kind: an `EdgeKind`.
        row: the instruction that makes the step; -1 for none.
        first_memory: names of memory begin here.
        first_result: those of the results of functions do.
        memory: what is in memory.
    """

    n_names: int
    source: I64
    target: I64
    kind: I64
    row: I64
    first_memory: int
    first_result: int
    memory: MemoryNames

    @cached_property
    def zeros(self) -> I64:
        """The names of memory that start as 0, because the program or `calloc` says so."""
        return self._special(ZERO)

    @cached_property
    def undefined(self) -> I64:
        """The names of memory that a local variable has before it is written."""
        memory = self.memory
        found = self._special(UNDEFINED)
        is_version = memory.instruction[found - self.first_memory] >= 0
        return found[is_version]

    def _special(self, code: int) -> I64:
        memory = self.memory
        owner = np.repeat(np.arange(memory.n_names), np.diff(memory.offsets))
        return self.first_memory + np.unique(owner[memory.operands == code])


def graph_of(context: Context) -> DataGraph:
    """Return which names of a program have their values from which."""
    return _Builder(context).graph()


class _Builder:
    def __init__(self, context: Context) -> None:
        self.context, self.program = context, context.program
        self.split, self.table = context.split, context.program.instructions
        self.first = self.program.bases[ValueKind.INSTRUCTION]
        self.is_reached = context.block_is_reached
        self.parts: list[tuple[I64, I64, I64, I64]] = []

    def graph(self) -> DataGraph:
        memory = memory_names(self.split, self.context.points_to)
        self.first_memory = self.split.n_names
        self.first_result = self.first_memory + memory.n_names
        n_names = self.first_result + len(self.program.function_table)
        self._instructions()
        self._versions()
        self._calls()
        self._memory(memory)
        source, target, kind, row = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        keep = row < 0
        keep[~keep] = self.is_reached[self.table.block[row[~keep]]]
        return DataGraph(
            n_names, source[keep], target[keep], kind[keep], row[keep],
            self.first_memory, self.first_result, memory,
        )  # fmt: skip

    def add(self, source: Ints, target: Ints, kind: Ints | int, row: Ints | int) -> None:
        columns = np.broadcast_arrays(source, target, kind, row)
        self.parts.append(tuple(c.astype(np.int64) for c in columns))  # type: ignore[arg-type]

    def _instructions(self) -> None:
        table = self.table
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
        place = np.arange(len(owner)) - table.offsets[owner]
        opcode = table.opcode[owner]
        kind = np.zeros(len(owner), np.int64)
        kind[np.isin(opcode, _SAME)] = EdgeKind.SAME
        kind[np.isin(opcode, _WIDTHS)] = EdgeKind.CAST
        others = sorted({*BINARY, *CASTS, Opcode.FNEG, *_PARTS} - {*_SAME, *_WIDTHS})
        kind[np.isin(opcode, others)] = EdgeKind.COMPUTED
        kind[(opcode == Opcode.SELECT) & (place > 0)] = EdgeKind.SAME
        is_address = opcode == Opcode.GETELEMENTPTR
        kind[is_address] = np.where(place[is_address] == 0, EdgeKind.FIELD, EdgeKind.INDEX)
        kind[(opcode == Opcode.LOAD) & (place == 0)] = EdgeKind.THROUGH
        intrinsic = self._is_intrinsic()[owner] & (place > 0)
        kind[intrinsic] = EdgeKind.COMPUTED
        places, edges = phi_edges(self.program, self.split.flow)
        taken = places[self.context.edge_is_reached[edges]]
        kind[taken] = EdgeKind.SAME
        rows = np.flatnonzero(kind)
        self.add(self.split.operand[rows], self.first + owner[rows], kind[rows], owner[rows])

    def _is_intrinsic(self) -> Bools:
        """Return which instructions call LLVM's own functions, whose results are computed."""
        program, table = self.program, self.table
        calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
        callee = table.operands[table.offsets[calls]]
        named = callee < len(program.globals)
        found = np.zeros(len(table), bool)
        symbols = program.globals.name[callee[named]]
        found[calls[named]] = program.strings.begin_with(symbols, b"llvm.")
        return found

    def _versions(self) -> None:
        split = self.split
        owner = np.repeat(np.arange(split.n_new), np.diff(split.offsets)) + self.program.n_values
        known = split.operands >= 0
        self.add(split.operands[known], owner[known], EdgeKind.SAME, -1)

    def _calls(self) -> None:
        calls, table = self.context.calls, self.program.function_table
        n_formals = np.diff(table.argument_offsets)[calls.function]
        n_passed = np.diff(self.table.offsets)[calls.call] - 1
        n_passed = n_passed - 2 * (self.table.opcode[calls.call] == Opcode.INVOKE)
        count = np.minimum(n_formals, np.maximum(n_passed, 0)).astype(np.int64)
        which, nth = ragged(np.zeros(len(count), np.int64), count)
        call, function = calls.call[which], calls.function[which]
        actual = self.split.operand[self.table.offsets[call] + 1 + nth]
        formal = self.program.bases[ValueKind.ARGUMENT] + table.argument_offsets[function] + nth
        self.add(actual, formal, EdgeKind.SAME, call)
        returns = np.flatnonzero(
            (self.table.opcode == Opcode.RET) & (np.diff(self.table.offsets) == 1)
        )
        function = self.program.instruction_function[returns].astype(np.int64)
        value = self.split.operand[self.table.offsets[returns]]
        self.add(value, self.first_result + function, EdgeKind.SAME, returns)
        result = self.first_result + calls.function
        self.add(result, self.first + calls.call, EdgeKind.SAME, calls.call)

    def _memory(self, memory: MemoryNames) -> None:
        owner = np.repeat(np.arange(memory.n_names), np.diff(memory.offsets))
        known = memory.operands >= 0
        n_blocks = len(self.program.blocks)
        guard = memory.guard
        is_block, is_edge = (guard >= 0) & (guard < n_blocks), guard >= n_blocks
        known[is_block] &= self.is_reached[guard[is_block]]
        known[is_edge] &= self.context.edge_is_reached[guard[is_edge] - n_blocks]
        operand, owner = memory.operands[known], owner[known]
        row = memory.instruction[owner]
        kind = np.full(len(owner), int(EdgeKind.SAME))
        # What was before a weak write, and what calls outside read.
        writes = memory.memory.writes
        first = memory.n_names - memory.memory.names.n_names
        is_weak = np.zeros(memory.n_names, bool)
        is_weak[first + writes.name[writes.before >= 0]] = True
        is_before = (operand >= self.first_memory + first) & is_weak[owner]
        kind[is_before] = EdgeKind.WEAK
        kind[memory.is_outside[owner]] = EdgeKind.PASSED
        self.add(operand, self.first_memory + owner, kind, np.where(is_before, -1, row))
        load = np.repeat(np.arange(len(memory.load)), np.diff(memory.load_offsets))
        kind = np.where(memory.is_exact[load], EdgeKind.SAME, EdgeKind.VAGUE)
        rows = memory.load[load]
        self.add(self.first_memory + memory.loaded, self.first + rows, kind, rows)


class Evidence:
    """Bits of names, and how they got there."""

    def __init__(
        self, context: Context, graph: DataGraph, gen: U64, kill: U64, kinds: EdgeKind
    ) -> None:
        self.context, self.graph = context, graph
        chosen = np.flatnonzero(graph.kind & int(kinds))
        target = graph.target[chosen]
        counts = np.bincount(target, minlength=graph.n_names)
        _, order = csr(target, graph.n_names)
        self._edges = chosen if order is None else chosen[order]
        self._offsets = offsets_of(counts)
        constraints = BitConstraints(
            gen, kill, self._offsets, graph.source[self._edges].astype(np.int32)
        )
        self._gen = gen
        self._known: dict[int, I64] = {}
        self.bits: U64 = solve_bits(constraints)

    def has(self, names: Ints, bit: int) -> Bools:
        """Return which names have a bit."""
        found: Bools = self.bits[names] & np.uint64(1 << bit) != 0
        return found

    def reaches(self, name: int, row: int, bit: int) -> bool:
        """Return whether a bit of a name gets to a use of it by an instruction.

        `while (p && p->n) p = p->next` joins p from before and behind `p->n` and then branches on
        φ(false, p->n): in the body only the one from behind is left. So a φ of a block that ends in
        a branch on a φ of conditions has, behind the branch, what comes along edges that fit.
        """
        if not self.bits[name] & np.uint64(1 << bit):
            return False
        operands = _fitting_operands(self.context, name, row)
        if operands is None:
            return True
        return any(bool(self.bits[one] & np.uint64(1 << bit)) for one in operands)

    def path(self, name: int, bit: int) -> tuple[list[int], int]:
        """Return the instructions on a shortest way of a bit to a name, and where it starts."""
        came = self._came_along(bit)
        rows: list[int] = []
        at = name
        while came[at] >= 0:
            edge = int(came[at])
            row = int(self.graph.row[edge])
            if row >= 0 and (not rows or rows[-1] != row):
                rows.append(row)
            at = int(self.graph.source[edge])
        return rows[::-1], at

    def _came_along(self, bit: int) -> I64:
        """Return for each name the edge by which a bit first gets there from where it starts; -1.

        Breadth first from all starts together, level by level.
        """
        if bit in self._known:
            return self._known[bit]
        graph, has = self.graph, self.bits & np.uint64(1 << bit) != 0
        source, target = graph.source[self._edges], graph.target[self._edges]
        useful = has[source] & has[target]
        edges, source, target = self._edges[useful], source[useful], target[useful]
        offsets, order = csr(source, graph.n_names)
        edges, target = (edges, target) if order is None else (edges[order], target[order])
        found = np.full(graph.n_names, -1, np.int64)
        seen = self._gen & np.uint64(1 << bit) != 0
        frontier = np.flatnonzero(seen & has)
        while len(frontier):
            _, place = ragged(offsets[frontier], offsets[frontier + 1])
            place = place[~seen[target[place]]]
            found[target[place]] = edges[place]
            frontier = np.unique(target[place])
            seen[frontier] = True
        self._known[bit] = found
        return found


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
    sources, _ = flow.blocks.edges()
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
    """Yield calls of functions by name that have roles: instruction, name, roles."""
    program, table = context.program, context.program.instructions
    library = context.roles
    calls = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    calls = calls[context.block_is_reached[table.block[calls]]]
    callee = table.operands[table.offsets[calls]]
    named = callee < len(program.globals)
    known: dict[int, tuple[str, tuple[Role, ...]]] = {}
    for row, value in zip(calls[named].tolist(), callee[named].tolist(), strict=True):
        if value not in known:
            name = program.strings[int(program.globals.name[value])]
            plain = _plain(name)
            known[value] = plain, library.roles_of(plain)
        name, roles = known[value]
        if roles:
            yield row, name, roles


def _plain(name: str) -> str:
    """Return the C function that an intrinsic of LLVM stands for."""
    for word in ("memcpy", "memmove", "memset"):
        if name.startswith(f"llvm.{word}."):
            return word
    return name


def span_of(context: Context, row: int) -> Span | None:
    """Return where an instruction is in the source."""
    return context.program.instruction_view(row).span


def steps(context: Context, rows: list[int], message: str) -> list[Location]:
    """Return the places of instructions on a way, each line once."""
    found: list[Location] = []
    table, program = context.program.instructions, context.program
    words = {Opcode.STORE: "is stored", Opcode.LOAD: "is read", Opcode.RET: "is returned",
             Opcode.PHI: "gets there from a branch"}  # fmt: skip
    for row in rows:
        span, opcode = span_of(context, row), int(table.opcode[row])
        is_silent = opcode == Opcode.GETELEMENTPTR or span is None or not span.line
        if is_silent or (found and found[-1].span == span):
            continue
        word = words.get(Opcode(opcode), "goes on")
        if opcode in CALLS:
            callee = program.instruction_view(row).operands[0]
            name = getattr(callee, "name", "") or "a function"
            word = f"is passed through {name}"
        found.append(Location(span, f"{message} {word}"))
    return found
