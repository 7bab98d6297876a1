"""Random small programs, well formed by construction."""

from __future__ import annotations

from hypothesis import strategies as st

from kleene.ir import Builder, Program
from kleene.ir.builder import Function, Value
from kleene.ir.codes import BINARY, Binding, Flag, Opcode, Predicate

INT_OPCODES = sorted(op for op in BINARY if op < Opcode.FADD)
NAMES = st.sampled_from(["", "", "x", "y", "a b", "\u03c0", "7", 'q"', "entry", "i32", "null"])


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Draw a program of a few functions that call each other."""
    builder = Builder(draw(NAMES))
    i32 = builder.types.integer(32)
    functions = [
        builder.function(f"f{n}", [(draw(NAMES), i32) for _ in range(draw(st.integers(0, 3)))], i32)
        for n in range(draw(st.integers(1, 3)))
    ]
    for function in functions:
        _Body(draw, builder, function, functions).fill()
    return builder.finish()


class _Body:
    """Fills a function: every block computes from what its dominators left, then jumps."""

    def __init__(
        self, draw: st.DrawFn, builder: Builder, function: Function, functions: list[Function]
    ) -> None:
        self.draw, self.builder, self.function, self.functions = draw, builder, function, functions
        self.i32 = builder.types.integer(32)
        self.blocks = [function.block(draw(NAMES)) for _ in range(draw(st.integers(1, 5)))]
        self.span = builder.span(draw(NAMES) or "file.c", 3, 4)
        if draw(st.booleans()):
            function.span, function.source_name = self.span, draw(NAMES)

    def fill(self) -> None:
        """Chain the blocks, so that each dominates the next; add side jumps with phis."""
        values: list[Value] = list(self.function.arguments)
        jumps: dict[int, list[int]] = {n: [] for n in range(len(self.blocks))}
        for n in range(len(self.blocks) - 1):
            jumps[n + 1].append(n)
            if self.draw(st.booleans()):
                jumps[self.draw(st.integers(n + 1, len(self.blocks) - 1))].append(n)
        extra = {n: [t for t in jumps for s in jumps[t] if s == n and t != n + 1] for n in jumps}
        for n, block in enumerate(self.blocks):
            # A side jump may come round a block: only arguments and constants reach everywhere.
            if any(source != n - 1 for source in jumps[n]):
                values = list(self.function.arguments)
            if jumps[n] and self.draw(st.booleans()):
                phi = block.add(Opcode.PHI, type=self.i32, name=self.draw(NAMES))
                for source in self._edges(n, jumps, extra):
                    phi.incoming(self._constant(), self.blocks[source])
                values.append(phi)
            self._instructions(block, values)
            self._jump(n, block, values, extra[n])

    def _edges(self, n: int, jumps: dict[int, list[int]], extra: dict[int, list[int]]) -> list[int]:
        """Return the source of each edge into a block: with a side jump a branch has two."""
        edges = []
        for source in sorted(set(jumps[n])):
            targets = [source + 1, *extra[source]] if extra[source] else [source + 1]
            edges += [source] * max(1, targets.count(n))
        return edges

    def _instructions(self, block, values: list[Value]) -> None:
        for _ in range(self.draw(st.integers(0, 4))):
            opcode = Opcode(self.draw(st.sampled_from([*INT_OPCODES, Opcode.CALL])))
            span = self.draw(st.sampled_from([-1, self.span]))
            if opcode == Opcode.CALL:
                callee = self.draw(st.sampled_from(self.functions))
                passed = [self._value(values) for _ in callee.arguments]
                made = block.add(opcode, callee, *passed, name=self.draw(NAMES), span=span)
            else:
                flags = self.draw(st.sampled_from([0, Flag.NSW, Flag.NUW | Flag.EXACT]))
                operands = self._value(values), self._value(values)
                made = block.add(opcode, *operands, flags=flags, name=self.draw(NAMES), span=span)
            values.append(made)
            if self.draw(st.booleans()):
                variable = self.function.variable(self.draw(NAMES), span=span)
                kind = self.draw(st.sampled_from([Binding.VALUE, Binding.ASSIGN]))
                block.bind(variable, self._value(values), kind, exact=self.draw(st.booleans()))

    def _jump(self, n: int, block, values: list[Value], extra: list[int]) -> None:
        if n == len(self.blocks) - 1:
            block.add(Opcode.RET, self._value(values))
        elif extra:
            predicate = self.draw(st.sampled_from([Predicate.EQ, Predicate.SLT]))
            bit = block.add(Opcode.ICMP, self._value(values), self._constant(), sub=predicate)
            block.add(Opcode.BR, bit, self.blocks[n + 1], self.blocks[extra[0]])
        else:
            block.add(Opcode.BR, self.blocks[n + 1])

    def _value(self, values: list[Value]) -> Value:
        use_constant = not values or self.draw(st.booleans())
        return self._constant() if use_constant else self.draw(st.sampled_from(values))

    def _constant(self) -> Value:
        return self.builder.integer(self.i32, self.draw(st.integers(-(1 << 31), (1 << 31) - 1)))
