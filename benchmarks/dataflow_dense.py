"""How much faster and smaller are facts by name than facts by program point, on large functions?

Generated functions of numbers of 4 bits: arithmetic, tests and loops over some variables, in SSA
form. Dense, a fact of every value is kept for the start of every block, and blocks are gone through
in their order until nothing changes; the loops are compiled, and the operators are the same. No
bound is rounded on either side, so that both find the least solution: the facts of all operands
must be equal. Ours is splitting, constraints, schedule and solving; the rival is solving alone.
"Memory" is that of facts, and for ours of names, constraints and schedule too.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from harness import Table, measure

from kleene.analyses.dataflow.calls import Calls
from kleene.analyses.dataflow.constraints import ValueConstraints, generate
from kleene.analyses.dataflow.splitting import split_for_values
from kleene.base.arrays import I32, I64, U8, csr
from kleene.ir import Program, parse
from kleene.ir.codes import Opcode, ValueKind
from kleene.kernels.compiled import CompilationUnit
from kleene.solvers import dataflow
from kleene.solvers.dataflow import STRIDE, SWAPPED, Constraints, solve
from kleene.solvers.dataflow.codes import HAS_VALUE, STATE
from kleene.solvers.dataflow.comparisons import refine
from kleene.solvers.dataflow.rows import copy, differ, holds, join, meet, reduce, set_constant
from kleene.solvers.dataflow.transfer import evaluate
from kleene.transforms.splitting import Points, SplitProgram, split_program
from kleene.transforms.splitting.program import phi_edges

SIZES = (2_000, 4_000, 8_000)
N_VARIABLES = 12
_OPERATIONS = ("mul", "or", "lshr", "udiv", "urem", "shl")  # no test tells what they were given
_PREDICATES = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
UNIT = CompilationUnit(Path(__file__), Path(dataflow.__file__).parent)


class _Function:
    """Writes one function, as text."""

    def __init__(self, n_instructions: int, seed: int) -> None:
        self._chance, self._n_values = random.Random(seed), 0
        self._blocks: list[list[str]] = [[]]
        self._at = 0
        names = [f"v{number}" for number in range(N_VARIABLES)]
        self._arguments = [f"%{name}: i4" for name in names]
        self._value = {name: f"%{name}" for name in names}
        while self._n_values < n_instructions:
            self._statement(0)
        self._blocks[self._at].append(f"ret {self._value['v0']}")

    @property
    def text(self) -> str:
        bodies = (
            f"^b{number}:\n" + "".join(f"  {line}\n" for line in lines)
            for number, lines in enumerate(self._blocks)
        )
        return f"define @f({', '.join(self._arguments)}) -> i4 {{\n{''.join(bodies)}}}\n"

    def _add(self, what: str, width: int = 4) -> str:
        self._n_values += 1
        name = f"%t{self._n_values}"
        self._blocks[self._at].append(f"{name}: i{width} = {what}")
        return name

    def _operand(self) -> str:
        if self._chance.random() < 0.4:
            return f"i4 {self._chance.choice([0, 1, 2, 3, 5, 7, -1, -3, -8])}"
        return self._value[self._chance.choice([*self._value])]

    def _statement(self, depth: int) -> None:
        kind = self._chance.random()
        if kind < 0.6 or depth > 2:
            where = self._chance.choice([*self._value])
            operation, right = self._chance.choice(_OPERATIONS), self._operand()
            if operation not in ("mul", "or"):  # dividing by 0 or shifting far has no result
                right = f"i4 {self._chance.randint(1, 3)}"
            self._value[where] = self._add(f"{operation} {self._value[where]}, {right}")
        elif kind < 0.9:
            self._if(depth)
        else:
            self._while(depth)

    def _condition(self) -> str:
        left, predicate = self._value[self._chance.choice([*self._value])], self._chance.choice
        return self._add(f"icmp {predicate(_PREDICATES)} {left}, {self._operand()}", 1)

    def _new_block(self) -> int:
        self._blocks.append([])
        return len(self._blocks) - 1

    def _if(self, depth: int) -> None:
        condition, start, before, ends = self._condition(), self._at, self._value, []
        arms = self._new_block(), self._new_block()
        self._blocks[start].append(f"br {condition}, ^b{arms[0]}, ^b{arms[1]}")
        for arm in arms:
            self._at, self._value = arm, dict(before)
            for _ in range(self._chance.randint(0, 3)):
                self._statement(depth + 1)
            ends.append((self._at, self._value))
        self._at, self._value = self._new_block(), dict(before)
        for block, _ in ends:
            self._blocks[block].append(f"br ^b{self._at}")
        (a, one), (b, other) = ends
        for name in before:
            if one[name] != other[name]:
                self._value[name] = self._add(f"phi [{one[name]}, ^b{a}], [{other[name]}, ^b{b}]")

    def _while(self, depth: int) -> None:
        start, before = self._at, self._value
        head = self._at = self._new_block()
        self._blocks[start].append(f"br ^b{head}")
        changed = self._chance.sample([*before], 4)
        self._value = {**before, **{name: self._add("") for name in changed}}
        at_head = dict(self._value)
        # Each loop asks about an argument of its own: nothing behind it is unreachable.
        self._arguments.append(f"%w{self._n_values}: i4")
        condition = self._add(f"icmp ne %w{self._n_values}, {self._value[changed[0]]}", 1)
        body, behind = self._new_block(), self._new_block()
        self._blocks[head].append(f"br {condition}, ^b{body}, ^b{behind}")
        self._at = body
        for name in changed:  # and no others: theirs have no φ
            self._value[name] = self._add(f"mul {self._value[name]}, {self._operand()}")
        self._blocks[body].append(f"br ^b{head}")
        for nth, name in enumerate(changed):
            pairs = f"[{before[name]}, ^b{start}], [{self._value[name]}, ^b{body}]"
            self._blocks[head][nth] = f"{at_head[name]}: i4 = phi {pairs}"
        self._at, self._value = behind, at_head


@dataclass(frozen=True, eq=False)
class Sparse:
    """The facts of all names."""

    split: SplitProgram
    constraints: Constraints
    rows: I64

    def at_operands(self) -> I64:
        """Return the facts of operands where they are used."""
        return self.rows[self.split.operand]

    def n_bytes(self) -> int:
        """Return how much memory facts, names, constraints and schedule take."""
        parts = (self.split, self.constraints, self.constraints.schedule)
        columns = [value for part in parts for value in vars(part).values()]
        columns = [column for column in columns if isinstance(column, np.ndarray)]
        return self.rows.nbytes + sum(column.nbytes for column in columns)


def sparse(program: Program) -> Sparse:
    """Return the facts by name."""
    values = _constraints(program, split_for_values(program, trusts_flags=False))
    constraints, none = values.constraints, np.zeros(0, np.int64)
    unrounded = np.full(constraints.n_names, -1, np.int32), np.zeros(1, np.int64), none, none
    constraints.__dict__["thresholds"] = unrounded
    return Sparse(values.split, constraints, solve(constraints, narrowing=0).rows)


def _constraints(program: Program, split: SplitProgram) -> ValueConstraints:
    return generate(split, Calls.within_functions(program), None, trusts_flags=False)


class Dense:
    """The facts of all values at the starts of blocks, and of operands where they are used."""

    def __init__(self, program: Program) -> None:
        plain = _constraints(program, split_program(program, Points.of()))
        table, flow, base = program.instructions, plain.split.flow, program.bases
        n_blocks = flow.blocks.n_nodes
        last = flow.first[1:] - 1
        at = table.offsets[last]
        is_test = np.diff(table.offsets)[last] == 3
        condition = np.where(is_test, table.operands[at], -1).astype(np.int64)
        place, edge = phi_edges(program, flow)
        owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))[place]
        phi_offsets, order = csr(edge, flow.blocks.n_edges)
        order = np.arange(len(edge)) if order is None else order
        is_plain = ~np.isin(table.opcode, (Opcode.PHI, Opcode.BR, Opcode.RET))
        c = plain.constraints
        self._columns = c.operator, c.width, c.attribute, c.offsets, c.operands, c.given
        self._flow = (
            flow.first, flow.blocks.offsets, flow.blocks.targets, condition,
            np.array(SWAPPED, np.int64), is_plain.astype(np.uint8), table.offsets, table.operands,
            phi_offsets, base[ValueKind.INSTRUCTION] + owner[order].astype(np.int64),
            table.operands[place[order]].astype(np.int64),
        )  # fmt: skip
        self._ends = base[ValueKind.ARGUMENT], base[ValueKind.BLOCK], base[ValueKind.INSTRUCTION]
        self._n_values, n_arguments = program.n_values, len(program.arguments)
        self._shape = n_blocks, (n_arguments + len(table)) * STRIDE
        self._found_shape = len(table.operands) * STRIDE

    def solve(self) -> tuple[I64, I64]:
        """Return the facts at the starts of blocks, and those of operands."""
        before, found = np.zeros(self._shape, np.int64), np.zeros(self._found_shape, np.int64)
        now, behind = np.zeros((2, (self._n_values + 1) * STRIDE), np.int64)
        _dense(before, found, now, behind, *self._ends, *self._flow, *self._columns)
        return before, found.reshape(-1, STRIDE)


@UNIT.device_function
def _moved(facts: I64, before: I64, block: int, argument: int, n_arguments: int, first: int,
           n: int, is_out: bool) -> None:  # fmt: skip
    """Copy the facts of arguments and instructions from a block's, or to them."""
    for nth in range(n * STRIDE):
        at = argument * STRIDE + nth if nth < n_arguments * STRIDE else 0
        if nth >= n_arguments * STRIDE:
            at = (first - n_arguments) * STRIDE + nth
        if is_out:
            before[block, nth] = facts[at]
        else:
            facts[at] = before[block, nth]


@UNIT.entry_point
def _dense(
    before: I64, found: I64, now: I64, behind: I64, argument: int, end_argument: int, first: int,
    block_first: I64, edge_offsets: I64, targets: I32, condition: I64, swapped: I64, is_plain: U8,
    operand_offsets: I64, used: I32, phi_offsets: I64, phi: I64, phi_source: I64, operator: U8,
    width: U8, attribute: I64, offsets: I64, operands: I32, given: I64,
) -> None:  # fmt: skip
    n_blocks, n = len(condition), before.shape[1] // STRIDE
    n_arguments, result = end_argument - argument, (len(now) // STRIDE - 1) * STRIDE
    for name in range(end_argument):
        evaluate(now, name * STRIDE, name, operator, width, attribute, offsets, operands, given)
    is_reached = np.zeros(n_blocks, np.uint8)
    is_reached[0] = 1
    _moved(now, before, 0, argument, n_arguments, first, n, True)
    has_changed = True
    while has_changed:
        has_changed = False
        for block in range(n_blocks):
            if is_reached[block] == 0:
                continue
            _moved(now, before, block, argument, n_arguments, first, n, False)
            for row in range(block_first[block], block_first[block + 1]):
                for at in range(operand_offsets[row], operand_offsets[row + 1]):
                    for column in range(STATE + 1):
                        found[at * STRIDE + column] = now[used[at] * STRIDE + column]
                if is_plain[row]:
                    name = first + row
                    evaluate(
                        now, name * STRIDE, name, operator, width, attribute, offsets, operands,
                        given,
                    )  # fmt: skip
            for edge in range(edge_offsets[block], edge_offsets[block + 1]):
                nth, test = edge - edge_offsets[block], condition[block]
                if test >= 0 and not holds(now, test * STRIDE, 1 - nth, 1):
                    continue
                behind[:] = now
                if test >= 0:
                    state = now[test * STRIDE + STATE]
                    set_constant(behind, test * STRIDE, 1, 1 - nth, HAS_VALUE | state)
                    a, b = operands[offsets[test]], operands[offsets[test] + 1]
                    predicate = attribute[test] ^ nth
                    refine(now, result, predicate, a * STRIDE, b * STRIDE, 4)
                    behind[result : result + STRIDE] = now[result : result + STRIDE]
                    meet(behind, a * STRIDE, result, 4)
                    if b >= argument:
                        refine(now, result, swapped[predicate], b * STRIDE, a * STRIDE, 4)
                        behind[result : result + STRIDE] = now[result : result + STRIDE]
                        meet(behind, b * STRIDE, result, 4)
                target = targets[edge]
                for at in range(phi_offsets[edge], phi_offsets[edge + 1]):
                    now[result : result + STRIDE] = behind[
                        phi_source[at] * STRIDE : phi_source[at] * STRIDE + STRIDE
                    ]
                    behind[phi[at] * STRIDE : phi[at] * STRIDE + STRIDE] = now[
                        result : result + STRIDE
                    ]
                if is_reached[target] == 0:
                    is_reached[target] = 1
                    has_changed = True
                    _moved(behind, before, target, argument, n_arguments, first, n, True)
                    continue
                state_of = before[target]
                for nth_value in range(n):
                    name = argument + nth_value
                    if nth_value >= n_arguments:
                        name = first + nth_value - n_arguments
                    for column in range(STATE + 1):
                        behind[result + column] = state_of[nth_value * STRIDE + column]
                    if not differ(behind, name * STRIDE, result):
                        continue
                    join(behind, result, name * STRIDE)
                    reduce(behind, result, width[name])
                    copy(behind, name * STRIDE, result)
                    for column in range(STATE + 1):
                        if state_of[nth_value * STRIDE + column] != behind[result + column]:
                            has_changed = True
                            state_of[nth_value * STRIDE + column] = behind[result + column]


def equal(program: Program, mine: Sparse, theirs: I64) -> bool:
    """Return whether the facts of all operands are equal where control comes."""
    table, base = program.instructions, program.bases
    used, owner = table.operands, np.repeat(np.arange(len(table)), np.diff(table.offsets))
    asked = (used >= base[ValueKind.INSTRUCTION]) | (
        (used >= base[ValueKind.ARGUMENT]) & (used < base[ValueKind.BLOCK])
    )
    asked &= table.opcode[owner] != Opcode.PHI
    reached = mine.rows[base[ValueKind.BLOCK] + table.block[owner], STATE] != 0
    known = asked & reached
    assert known.sum() > len(table) / 3
    assert not theirs[asked & ~reached].any(), "dense reaches more"
    return bool((mine.at_operands()[known, : STATE + 1] == theirs[known, : STATE + 1]).all())


def main() -> None:
    table = Table("dataflow_dense", (__doc__ or "").splitlines()[0])
    for size in SIZES:
        program = parse(_Function(size, seed=size).text)
        ours = measure(partial(sparse, program), repeat=5)
        theirs = measure(Dense(program).solve, repeat=1)
        mine: Sparse = ours.result
        before, found = theirs.result
        n_blocks = before.shape[0]
        table.row(
            input=f"function of {n_blocks:,} blocks",
            size=f"{len(program.instructions):,} instructions",
            ours=ours,
            rival="dense: value by block",
            theirs=theirs,
            agree=equal(program, mine, found),
            **{
                "memory": f"{mine.n_bytes() / 2**20:.1f} MiB",
                "dense memory": f"{before.nbytes / 2**20:.0f} MiB",
            },
        )
    table.save()


if __name__ == "__main__":
    main()
