"""The values of a program, split: what each operand is called, and what defines the new names.

The program stays as it is, and its values keep their numbers as names. Beside it are the new names,
numbered behind the values, and for each operand the name it has there. Undoing a split is using
the operands of the program again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from kleene.base.arrays import I32, I64, U8, Bools, Ints, distinct, offsets_of, ragged
from kleene.graphs import Graph
from kleene.ir.codes import CASTS, Opcode, Predicate, TypeKind, ValueKind
from kleene.ir.program import Program
from kleene.kernels.threads import side_by_side
from kleene.transforms.splitting.flow import Accesses, ControlFlow, Role
from kleene.transforms.splitting.split import NameKind, Splitting, split
from kleene.transforms.splitting.strategies import Points, Strategy, strategy_named

_OF_CONDITIONS = (Opcode.AND, Opcode.OR, Opcode.XOR)
_ARITHMETIC = (Opcode.ADD, Opcode.SUB)
_DEEPEST = 9  # how many operations behind each other are looked through: long chains stay linear
_MOST_CONDITIONS = 6  # of `a && b && …`, from the last one back


@dataclass(frozen=True, eq=False)
class SplitProgram:
    """A program whose operands have names.

    Attributes:
        program: the program.
        flow: its control flow, with the numbers of points.
        operand: the name of each operand, parallel to `program.instructions.operands`; the operand
            itself where it is not split.
        value: for each new name, which value it is a version of.
        kind: what defines it, a `NameKind`.
        point: where.
        offsets: where its operands begin.
        operands: names; -1 for none.
    """

    program: Program
    flow: ControlFlow
    operand: I32
    value: I32
    kind: U8
    point: I64
    offsets: I64
    operands: I32

    @property
    def n_new(self) -> int:
        """How many names were added."""
        return len(self.value)

    @property
    def n_names(self) -> int:
        """How many names there are, values included."""
        return self.program.n_values + self.n_new

    def value_of(self, names: Ints) -> I64:
        """Return the value of which each name is a version."""
        first = self.program.n_values
        new = names >= first
        found = names.astype(np.int64)
        found[new] = self.value[names[new] - first]
        return found

    @cached_property
    def _sigmas(self) -> I64:
        """A site and a value as one number, ascending, for each σ and copy."""
        rows, sites = self.sites
        return np.sort(sites * self.program.n_values + self.value[rows])

    @cached_property
    def sites(self) -> tuple[I64, I64]:
        """The σ and the copies at instructions (rows of new names), and where they are.

        A site is an edge, or n_edges + the instruction.
        """
        at_code = self.point < self.flow.n_instructions
        rows = np.flatnonzero((self.kind == NameKind.SIGMA) | at_code)
        edge = self.point[rows] - self.flow.along(0)
        code = self.point[rows] + self.flow.blocks.n_edges
        return rows, np.where(at_code[rows], code, edge)

    def has_name(self, edge: I64, value: I64) -> Bools:
        """Return which of some values have a name of their own at some sites: see `sites`."""
        wanted = edge * self.program.n_values + value
        if not len(self._sigmas):
            return np.zeros(len(wanted), bool)
        place = np.minimum(np.searchsorted(self._sigmas, wanted), len(self._sigmas) - 1)
        found: Bools = self._sigmas[place] == wanted
        return found


def split_program(
    program: Program,
    strategy: str | Strategy | Points | Callable[[ControlFlow, Accesses], Points] = "essa",
    *,
    among: Bools | None = None,
    flow: ControlFlow | None = None,
    threads: int = 1,
) -> SplitProgram:
    """Return the program's values with names by a strategy.

    Only those values are split about which something is learnt elsewhere than at their
    definition: a value has one definition, and it dominates all uses.

    Args:
        program: the program.
        strategy: one of `STRATEGIES` by name, or where to split, or what returns that; variables
            are values.
        among: which values may be split; all by default.
        flow: the program's control flow, where the caller has it.
        threads: of the CPU, at most; one where more would not pay. The names are the same.
    """
    flow = flow or control_flow(program)
    accesses = accesses_of(program, flow, threads)
    chosen = strategy_named(strategy) if isinstance(strategy, str) else strategy
    if isinstance(chosen, Strategy):
        points = chosen.points(flow, accesses)
    else:
        points = chosen if isinstance(chosen, Points) else chosen(flow, accesses)
    defined_at = _defined_at(program, accesses)
    variables = distinct(
        np.concatenate(
            [
                points.up_variable,
                points.down_variable[points.down_point != defined_at[points.down_variable]],
            ]
        )
    )
    if among is not None:
        variables = variables[among[variables]]
    names = split(flow, *_only(variables, program.n_values, accesses, points), threads=threads)
    return _beside(program, flow, accesses, variables, names)


def control_flow(program: Program) -> ControlFlow:
    """Return the control flow of all functions; their points are numbered together."""
    offsets, targets = program.successors
    block_offsets = program.function_table.block_offsets
    entries = block_offsets[:-1][np.diff(block_offsets) > 0]
    first = program.blocks.instruction_offsets.astype(np.int64)
    return ControlFlow(Graph(offsets.astype(np.int64), targets), entries.astype(np.int32), first)


def accesses_of(program: Program, flow: ControlFlow | None = None, threads: int = 1) -> Accesses:
    """Return the definitions, uses and tests of all values that are computed.

    Uses come first, one for each operand that is an argument or the result of an instruction, by
    their rows in the table of operands.
    """
    flow = flow or control_flow(program)
    (rows, point), (tested, block, role) = side_by_side(
        threads, partial(_uses, program, flow), partial(values_tested, program)
    )
    arguments = np.arange(len(program.arguments))
    per_function = np.diff(program.function_table.argument_offsets)
    has_body = np.diff(program.function_table.block_offsets) > 0
    entry = np.repeat(program.function_table.block_offsets[:-1], per_function)
    arguments = arguments[np.repeat(has_body, per_function)]
    instructions = np.arange(len(program.instructions))
    is_phi = program.instructions.opcode == Opcode.PHI
    base = program.bases
    columns: list[tuple[Ints, Ints, Ints | int]] = [
        (program.instructions.operands[rows], point, Role.USE),
        (base[ValueKind.ARGUMENT] + arguments, flow.into(0) + entry[arguments], Role.DEFINITION),
        (
            base[ValueKind.INSTRUCTION] + instructions,
            np.where(is_phi, flow.into(0) + program.instructions.block, instructions),
            Role.DEFINITION,
        ),
        (tested, flow.out_of(0) + block, role),
    ]
    return Accesses(
        np.concatenate([column[0] for column in columns]).astype(np.int32),
        np.concatenate([column[1] for column in columns]).astype(np.int64),
        np.concatenate([np.full(len(c[0]), c[2], np.uint8) for c in columns]),
    )


def _is_computed(program: Program, values: Ints) -> Bools:
    """Return which values are arguments or results of instructions."""
    base = program.bases
    return (values >= base[ValueKind.INSTRUCTION]) | (
        (values >= base[ValueKind.ARGUMENT]) & (values < base[ValueKind.BLOCK])
    )


def _uses(program: Program, flow: ControlFlow) -> tuple[I64, I64]:
    """Return the rows of operands that are computed, and where they are used.

    A φ uses its operand on an edge.
    """
    table = program.instructions
    rows = np.flatnonzero(_is_computed(program, table.operands))
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    point = owner[rows].astype(np.int64)
    places, edges = phi_edges(program, flow)
    on_edge = np.full(len(table.operands), -1, np.int64)
    on_edge[places] = flow.along(0) + edges
    return rows, np.where(on_edge[rows] >= 0, on_edge[rows], point)


def phi_edges(program: Program, flow: ControlFlow) -> tuple[I64, I64]:
    """Return the rows of operands that are values of φ, and the edges along which they come.

    It is the edge from the block behind the value. Where several edges come from that block, as
    from a switch, the φ lists the block as often, and the k-th goes with the k-th edge.
    """
    table = program.instructions
    is_phi = table.opcode == Opcode.PHI
    pairs, places = ragged(table.offsets[:-1][is_phi], table.offsets[1:][is_phi])
    is_block = (places - table.offsets[:-1][is_phi][pairs]) % 2 == 1
    pairs, places = pairs[is_block], places[is_block]
    source = table.operands[places] - program.bases[ValueKind.BLOCK]
    target = table.block[np.flatnonzero(is_phi)[pairs]]
    sources, targets = flow.blocks.edges()
    edge_order = np.lexsort((targets, sources))
    # The k-th listing of a block in one φ, and the k-th edge between the two blocks.
    order = np.lexsort((places, source, pairs))
    same = (np.diff(source[order]) == 0) & (np.diff(pairs[order]) == 0)
    starts = np.flatnonzero(np.append(True, ~same)) if len(order) else np.empty(0, np.int64)
    nth = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    keys = sources[edge_order].astype(np.int64) * flow.blocks.n_nodes + targets[edge_order]
    wanted = source[order].astype(np.int64) * flow.blocks.n_nodes + target[order]
    edges = edge_order[np.searchsorted(keys, wanted) + nth] if len(order) else order
    return places[order] - 1, edges


def values_tested(program: Program) -> tuple[I64, I64, U8]:
    """Return the values that branches tell something about, the blocks, and a `Role` of tests.

    A condition is looked through: compares, `and`, `or` and `xor` of conditions, selects, casts,
    `freeze`; and, as derived tests, φ of conditions (`a && b`), with the conditions under which
    control comes to the φ, `(x & y) == 0`, `(x | y) == 0` and arithmetic with a constant, as in
    `x - 1 < 9`.
    """
    table = program.instructions
    last = program.blocks.instruction_offsets[1:] - 1
    opcode = table.opcode[last] if len(last) else np.empty(0, np.uint8)
    n_operands = np.diff(table.offsets)[last] if len(last) else np.empty(0, np.int64)
    branches = np.flatnonzero(
        ((opcode == Opcode.BR) & (n_operands == 3)) | (opcode == Opcode.SWITCH)
    )
    value = table.operands[table.offsets[:-1][last[branches]]].astype(np.int64)
    return _looked_through(program, value, branches, opcode[branches] == Opcode.SWITCH)


def values_assumed(program: Program) -> tuple[I64, I64]:
    """Return the values that calls of `llvm.assume` tell something about, and these instructions.

    Behind such a call its condition holds, and is looked through as those of branches are.
    """
    table, first = program.instructions, program.bases[ValueKind.ARGUMENT]
    calls = np.flatnonzero(table.opcode == Opcode.CALL)
    callee = table.operands[table.offsets[calls]]
    calls, callee = calls[callee < len(program.globals)], callee[callee < len(program.globals)]
    named = program.strings.begin_with(program.globals.name[callee], b"llvm.assume")
    rows = calls[named]
    condition = table.operands[table.offsets[rows] + 1].astype(np.int64)
    rows, condition = rows[condition >= first], condition[condition >= first]
    value, row, _ = _looked_through(program, condition, rows, np.zeros(len(rows), bool))
    return value, row


@dataclass(frozen=True, eq=False)
class EntryConditions:
    """The conditions under which blocks are entered that have one way in: by a branch.

    Attributes:
        value: of each block, the condition of that branch; -1 if there is none.
        holds: whether it holds in the block.
        before: the block that ends in the branch, or goes on to the block; -1 if there are several.
    """

    value: I64
    holds: Bools
    before: I64

    @classmethod
    def of(cls, program: Program) -> EntryConditions:
        """Return those of all blocks."""
        table = program.instructions
        offsets, sources = program.predecessors
        is_single = np.diff(offsets) == 1
        n_blocks = len(is_single)
        before = np.full(n_blocks, -1, np.int64)
        before[is_single] = sources[offsets[:-1][is_single]]
        inner = np.flatnonzero(is_single)
        last = program.blocks.instruction_offsets[before[inner] + 1].astype(np.int64) - 1
        is_branch = (table.opcode[last] == Opcode.BR) & (np.diff(table.offsets)[last] == 3)
        inner, at = inner[is_branch], table.offsets[last[is_branch]]
        value, holds = np.full(n_blocks, -1, np.int64), np.zeros(n_blocks, bool)
        value[inner] = table.operands[at]
        holds[inner] = table.operands[at + 1] == inner + program.bases[ValueKind.BLOCK]
        return cls(value, holds, before)

    def above(self, blocks: I64) -> tuple[I64, I64]:
        """Return which of the blocks, and blocks with a condition that it is entered under, too.

        These are the block itself and those before it, as long as there is one way in.
        """
        which, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        rows = np.arange(len(blocks))
        for _ in range(_MOST_CONDITIONS):
            known = self.value[blocks] >= 0
            which.append(rows[known])
            found.append(blocks[known])
            blocks = self.before[blocks]
            rows, blocks = rows[blocks >= 0], blocks[blocks >= 0]
        return np.concatenate(which), np.concatenate(found)


def _looked_through(
    program: Program, value: I64, place: Ints, equality: Bools
) -> tuple[I64, I64, U8]:
    """Return what conditions at places were computed from, the places, and roles of tests."""
    table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
    block = place.astype(np.int64)
    derived = np.zeros(len(block), bool)
    looked_through = np.zeros(len(Opcode), bool)
    looked_through[[
        *CASTS, Opcode.FREEZE, Opcode.ICMP, Opcode.FCMP, *_OF_CONDITIONS, Opcode.SELECT,
        *_ARITHMETIC,
    ]] = True  # fmt: skip
    looked_through[[Opcode.FPTOUI, Opcode.FPTOSI, Opcode.UITOFP, Opcode.SITOFP]] = False
    types = program.types
    is_condition = (types.kind == TypeKind.INT) & (types.bits == 1)
    found: list[tuple[I64, I64, U8]] = []
    is_choice = (table.opcode == Opcode.PHI) & is_condition[table.type]
    entries = EntryConditions.of(program)
    seen = np.empty(0, np.int64)
    low, high = program.bases[ValueKind.CONSTANT], program.bases[ValueKind.ARGUMENT]
    for _ in range(_DEEPEST):
        known = _is_computed(program, value)
        keys = 2 * (block[known] * program.n_values + value[known]) + derived[known]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        place = np.minimum(np.searchsorted(seen, keys), max(len(seen) - 1, 0))
        new &= seen[place] != keys if len(seen) else True
        seen = np.sort(np.concatenate([seen, keys[new]]), kind="stable")  # it merges the two
        rows = np.flatnonzero(known)[order[new]]
        block, value, equality, derived = block[rows], value[rows], equality[rows], derived[rows]
        role = np.where(equality, Role.EQUALITY_TEST, Role.TEST)
        found.append((value, block, np.where(derived, Role.DERIVED_TEST, role).astype(np.uint8)))
        row = value - first
        through = row >= 0
        through[through] = looked_through[table.opcode[row[through]]] | is_choice[row[through]]
        row, block, equality = row[through], block[through], equality[through]
        derived = derived[through]
        code = table.opcode[row]
        is_compare = (code == Opcode.ICMP) | (code == Opcode.FCMP)
        is_equal = (table.sub[row] == Predicate.EQ) | (table.sub[row] == Predicate.NE)
        equality = np.where(is_compare, is_equal, equality)
        computes = np.isin(code, _ARITHMETIC) | np.isin(code, _OF_CONDITIONS)
        derived = derived | (computes & ~is_condition[table.type[row]]) | is_choice[row]
        pair, place = ragged(table.offsets[:-1][row], table.offsets[1:][row])
        # Of `x + y` a bound tells nothing about either, if both are unknown. That `x | y` is 0, or
        # some bits of `x & y` are, tells of both.
        is_constant = (table.operands[place] >= low) & (table.operands[place] < high)
        has_constant = (code == Opcode.AND) | (code == Opcode.OR)
        has_constant[pair[is_constant]] = True
        keep = ~(computes & ~is_condition[table.type[row]] & ~has_constant)[pair]
        pair, place = pair[keep], place[keep]
        value = table.operands[place].astype(np.int64)
        # A φ has been reached along an edge: the conditions on the way to it count, too.
        comes_from = value - program.bases[ValueKind.BLOCK]
        is_edge = (comes_from >= 0) & (comes_from < len(program.blocks)) & is_choice[row[pair]]
        which, entered = entries.above(comes_from[is_edge])
        value = np.concatenate([value, entries.value[entered]])
        pair = np.concatenate([pair, pair[is_edge][which]])
        block, equality, derived = block[pair], equality[pair], derived[pair]
    parts = list(zip(*found, strict=True)) or [[np.empty(0, np.int64)]] * 2 + [
        [np.empty(0, np.uint8)]
    ]
    return tuple(np.concatenate(part) for part in parts)  # type: ignore[return-value]


def _defined_at(program: Program, accesses: Accesses) -> I64:
    """Return the point at which each value is defined; -1 for those that are not computed."""
    rows = accesses.rows(Role.DEFINITION)
    found = np.full(program.n_values, -1, np.int64)
    found[accesses.variable[rows]] = accesses.point[rows]
    return found


def _only(
    variables: I32, n_values: int, accesses: Accesses, points: Points
) -> tuple[Accesses, Points]:
    """Return the accesses and points of some variables, numbered by their place among these."""
    number = np.full(n_values, -1, np.int32)
    number[variables] = np.arange(len(variables))
    rows = number[accesses.variable] >= 0
    down, up = number[points.down_variable] >= 0, number[points.up_variable] >= 0
    return (
        Accesses(number[accesses.variable[rows]], accesses.point[rows], accesses.role[rows]),
        Points(
            number[points.down_variable[down]], points.down_point[down],
            number[points.up_variable[up]], points.up_point[up],
        ),
    )  # fmt: skip


def _beside(
    program: Program, flow: ControlFlow, accesses: Accesses, variables: I32, names: Splitting
) -> SplitProgram:
    """Return the names beside the program."""
    is_new = names.kind != NameKind.PROGRAM
    value = variables[names.variable]
    number = np.where(is_new, program.n_values + np.cumsum(is_new) - 1, value)
    number = np.append(number, -1).astype(np.int32)
    operand = program.instructions.operands.copy()
    rows = np.flatnonzero(_is_computed(program, operand))
    is_split = np.zeros(program.n_values, bool)
    is_split[variables] = True
    rows = rows[is_split[operand[rows]]]  # the uses among the accesses, in their order
    used = names.name[: len(rows)]
    operand[rows] = np.where(used >= 0, number[used], operand[rows])  # as it is in dead code
    lengths = np.diff(names.offsets)[is_new]
    return SplitProgram(
        program, flow, operand, value[is_new].astype(np.int32), names.kind[is_new],
        names.point[is_new], offsets_of(lengths), number[names.operands],
    )  # fmt: skip
