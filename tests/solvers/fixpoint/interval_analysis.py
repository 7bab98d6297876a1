"""A small interval analysis of the IR: which integers may each register hold, in every run?

It uses what a real analysis would: `fixpoint.Procedures` over the program's functions, machine
integers of `kleene.algebra`, branch conditions along edges, calls and recursion. It leaves out
memory: what is loaded may be any integer of its width.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kleene.algebra import MachineInterval, machine_integers
from kleene.graphs import Graph
from kleene.ir import Block, Call, Function, Instruction, Program, Value
from kleene.ir.codes import Flag, Opcode, Predicate, TypeKind
from kleene.ir.views import Constant
from kleene.solvers import fixpoint
from kleene.solvers.fixpoint import CallSite, Procedure, Procedures, Strategy

RESULT = -1  # what a function returns, among the registers of its exit

_BINARY = {
    Opcode.ADD: "add",
    Opcode.SUB: "sub",
    Opcode.MUL: "mul",
    Opcode.UDIV: "udiv",
    Opcode.SDIV: "sdiv",
    Opcode.UREM: "urem",
    Opcode.SREM: "srem",
    Opcode.AND: "and_",
    Opcode.OR: "or_",
    Opcode.XOR: "xor",
    Opcode.SHL: "shl",
    Opcode.LSHR: "lshr",
    Opcode.ASHR: "ashr",
}
_WRAPPING = (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL)
_CASTS = {Opcode.TRUNC: "trunc", Opcode.SEXT: "sext", Opcode.ZEXT: "zext"}


@dataclass(frozen=True)
class Registers:
    """An interval for each register that is set; None where no run comes.

    A register that is not set is read nowhere: definitions dominate uses. So a join keeps what one
    side has and the other has not.
    """

    intervals: dict[int, MachineInterval] | None

    def is_bottom(self) -> bool:
        return self.intervals is None

    def join(self, other: Registers) -> Registers:
        return self._pointwise(other, lambda a, b: a.join(b))

    def meet(self, other: Registers) -> Registers:
        raise NotImplementedError("the engine never meets")

    def widen(self, other: Registers, *, thresholds: Iterable[int] = ()) -> Registers:
        steps = list(thresholds)
        return self._pointwise(other, lambda a, b: a.widen(b, thresholds=steps))

    def narrow(self, other: Registers) -> Registers:
        return self._pointwise(other, lambda a, b: a.narrow(b))

    def __le__(self, other: Registers) -> bool:
        if self.intervals is None or other.intervals is None:
            return self.intervals is None
        theirs = other.intervals
        return all(r in theirs and mine <= theirs[r] for r, mine in self.intervals.items())

    def set(self, changed: dict[int, MachineInterval]) -> Registers:
        assert self.intervals is not None
        if any(interval.is_bottom() for interval in changed.values()):
            return NOWHERE
        return Registers(self.intervals | changed)

    def _pointwise(self, other: Registers, combine: object) -> Registers:
        if self.intervals is None or other.intervals is None:
            return other if self.intervals is None else self
        found = self.intervals | other.intervals
        for register in self.intervals.keys() & other.intervals.keys():
            pair = self.intervals[register], other.intervals[register]
            found[register] = combine(*pair)  # type: ignore[operator]
        return Registers(found)


NOWHERE = Registers(None)


def interval(value: Value, registers: Registers) -> MachineInterval:
    """Return the integers that an operand may be."""
    width = value.type.bits
    if isinstance(value, Constant):
        number = value.integer
        known = number is not None
        return MachineInterval.constant(width, number or 0) if known else MachineInterval.top(width)
    assert registers.intervals is not None
    return registers.intervals.get(value.id, MachineInterval.top(width))


def _is_integer(value: Value) -> bool:
    return value.type.kind == TypeKind.INT


def computed(instruction: Instruction, registers: Registers) -> MachineInterval:
    """Return the integers that an instruction may give."""
    opcode, operands = instruction.opcode, instruction.operands
    width = instruction.type.bits
    known = [interval(operand, registers) for operand in operands if _is_integer(operand)]
    if opcode in _BINARY:
        flags = instruction.flags
        trusted = {"nsw": Flag.NSW in flags, "nuw": Flag.NUW in flags}
        options = trusted if opcode in _WRAPPING else {}
        made: MachineInterval = getattr(known[0], _BINARY[opcode])(known[1], **options)
        return made
    if opcode in _CASTS:
        cast: MachineInterval = getattr(known[0], _CASTS[opcode])(width)
        return cast
    if opcode == Opcode.ICMP and len(known) == 2:
        answer = known[0].compare(_predicate(instruction), known[1])
        unsure = answer is None
        return MachineInterval.top(1) if unsure else MachineInterval.constant(1, int(bool(answer)))
    if opcode == Opcode.SELECT and len(known) == 3:
        return known[1].join(known[2])
    return MachineInterval.top(width)


def _predicate(instruction: Instruction) -> str:
    return Predicate(instruction.program.instructions.sub[instruction.row]).name.lower()


@dataclass(frozen=True)
class _Jump:
    """An edge between blocks: which successor it is, of which block."""

    source: Block
    place: int


class _Body:
    """A function as nodes: its blocks, cut before and after calls of functions with a body."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.nodes: list[list[Instruction]] = []
        self.calls: dict[int, Call] = {}
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        edges: list[tuple[int, int, _Jump | None]] = []
        for block in function.blocks:
            first[block.row] = len(self.nodes)
            self.nodes.append([])
            for instruction in block.instructions:
                if callee_of(instruction) is not None:
                    assert isinstance(instruction, Call)
                    n = len(self.nodes)
                    self.calls[n] = instruction
                    edges += [(n - 1, n, None), (n, n + 1, None)]
                    self.nodes += [[], []]
                else:
                    self.nodes[-1].append(instruction)
            last[block.row] = len(self.nodes) - 1
        for block in function.blocks:
            for place, successor in enumerate(block.successors):
                edges.append((last[block.row], first[successor.row], _Jump(block, place)))
        edges.sort(key=lambda edge: edge[0])  # stable: the order of the graph's edges
        self.jumps = [jump for _, _, jump in edges]
        ends = [last[b.row] for b in function.blocks if b.terminator and b.terminator.opcode == 0]
        graph = Graph.from_edges(len(self.nodes), [e[0] for e in edges], [e[1] for e in edges])
        self.procedure = Procedure(graph, exits=tuple(ends))


def callee_of(instruction: Instruction) -> Function | None:
    """Return the function with a body that a call calls by name."""
    if not isinstance(instruction, Call):
        return None
    function = getattr(instruction.callee, "function", None)
    is_known = isinstance(function, Function) and not function.is_declaration
    return function if is_known else None


class Intervals:
    """The analysis of a program that starts at `main`, and its answers."""

    def __init__(self, program: Program, strategy: Strategy | None = None) -> None:
        functions = [f for f in program.functions if not f.is_declaration]
        self.bodies = [_Body(function) for function in functions]
        self._index = {function.row: p for p, function in enumerate(functions)}
        sites = [
            CallSite(p, node, (self._index[self._callee(call).row],))
            for p, body in enumerate(self.bodies)
            for node, call in body.calls.items()
        ]
        main = next(p for p, f in enumerate(functions) if f.name == "main")
        procedures = [body.procedure for body in self.bodies]
        entry = {main: Registers({})}
        self.equations = Procedures(procedures, sites, self, entry, NOWHERE)
        self.values = fixpoint.solve(self.equations, strategy).values

    def passed(self, name: str) -> list[tuple[int | None, list[MachineInterval | None]]]:
        """Return for each call of an external its first argument, a constant, and all arguments."""
        found = []
        for p, body in enumerate(self.bodies):
            for node, instructions in enumerate(body.nodes):
                before = self.values[self.equations.node(p, node)]
                for instruction in instructions:
                    if isinstance(instruction, Call) and str(instruction.callee) == f"@{name}":
                        found.append(self._arguments(instruction, before))
                    before = self._execute(instruction, before)
        return found

    def after(self, procedure: int, node: int, before: Registers) -> Registers:
        for instruction in self.bodies[procedure].nodes[node]:
            before = self._execute(instruction, before)
        return before

    def along(self, procedure: int, edge: int, after: Registers) -> Registers:
        jump = self.bodies[procedure].jumps[edge]
        if jump is None or after.is_bottom():
            return after
        refined = self._branch(jump, after)
        return refined if refined.is_bottom() else self._phis(jump, refined)

    def enter(self, site: CallSite, callee: int, before: Registers) -> Registers:
        call, function = self.bodies[site.caller].calls[site.node], self.bodies[callee].function
        pairs = zip(function.arguments, call.arguments, strict=True)
        return Registers(
            {formal.id: interval(given, before) for formal, given in pairs if _is_integer(formal)}
        )

    def leave(self, site: CallSite, callee: int, before: Registers, result: Registers) -> Registers:
        call = self.bodies[site.caller].calls[site.node]
        assert result.intervals is not None
        return before.set({call.id: result.intervals[RESULT]}) if _is_integer(call) else before

    def _execute(self, instruction: Instruction, before: Registers) -> Registers:
        if before.is_bottom() or instruction.opcode == Opcode.PHI:
            return before
        if instruction.opcode == Opcode.RET and instruction.operands:
            (value,) = instruction.operands
            return before.set({RESULT: interval(value, before)}) if _is_integer(value) else before
        if _is_integer(instruction):
            return before.set({instruction.id: computed(instruction, before)})
        return before

    def _branch(self, jump: _Jump, after: Registers) -> Registers:
        """Return what holds where a branch went this way."""
        last = jump.source.terminator
        if last is None or last.opcode != Opcode.BR or len(last.operands) != 3:
            return after
        condition, holds = last.operands[0], jump.place == 0
        known = interval(condition, after)
        if known.is_constant() and (known.low != 0) != holds:
            return NOWHERE
        operands = getattr(condition, "operands", [])
        is_test = getattr(condition, "opcode", None) == Opcode.ICMP
        if not is_test or not all(map(_is_integer, operands)):
            return after
        assert isinstance(condition, Instruction)
        predicate = _predicate(condition)
        if not holds:
            predicate = machine_integers.negated(predicate)
        left, right = (interval(operand, after) for operand in operands)
        refined = zip(operands, left.assume(predicate, right), strict=True)
        return after.set({v.id: i for v, i in refined if not isinstance(v, Constant)} or {})

    def _phis(self, jump: _Jump, after: Registers) -> Registers:
        """Return what holds where a block begins, entered from the jump's block."""
        target = jump.source.successors[jump.place]
        chosen = {}
        for instruction in target.instructions:
            if instruction.opcode == Opcode.PHI and _is_integer(instruction):
                pairs = instruction.operands
                for value, block in zip(pairs[::2], pairs[1::2], strict=True):
                    if block == jump.source:
                        chosen[instruction.id] = interval(value, after)
        return after.set(chosen)

    @staticmethod
    def _callee(call: Call) -> Function:
        function = callee_of(call)
        assert function is not None
        return function

    @staticmethod
    def _arguments(
        call: Call, before: Registers
    ) -> tuple[int | None, list[MachineInterval | None]]:
        first = call.arguments[0]
        number = first.integer if isinstance(first, Constant) else None
        if before.is_bottom():
            return number, [None] * len(call.arguments)
        return number, [interval(argument, before) for argument in call.arguments]
