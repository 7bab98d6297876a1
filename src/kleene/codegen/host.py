"""The host's part of a plan as C: shared by what runs threads of the host and what launches CUDA.

Variables of the host are declared at the beginning, each with a name of its own. If two arrays
overlap of which one is written, the function is executed as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kleene.codegen.plan import (
    CannotError,
    HostBlock,
    HostIf,
    HostLoop,
    HostNest,
    Kernel,
    Plan,
    Reduction,
    Scan,
    Section,
    Snapshot,
    Step,
)
from kleene.codegen.text import Printer, safe, size_text, type_name
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Symbol, Variable


class HostWriter:
    """The text of one function on its way; a target says how kernels are launched."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.names: dict[Symbol, str] = {}
        for one in (*plan.parameters, *plan.device_scalars):
            self._add(one)
        for array in plan.arrays.values():
            self._add(array.symbol)
        for symbol in _variables(plan.steps):
            self._add(symbol)
        self.printer = Printer(names=self.names)

    def _add(self, symbol: Symbol) -> None:
        if symbol in self.names:
            return
        taken = {*self.names.values(), *self.plan.snapshots}
        made, count = safe(symbol.name), 2
        while made in taken:
            made, count = f"{symbol.name}_{count}", count + 1
        self.names[symbol] = made

    # What a target says

    def launch(self, kernel: Kernel, depth: int) -> Iterator[str]:
        """Yield the lines that launch a kernel."""
        raise NotImplementedError

    def reduce(self, kernel: Reduction, depth: int) -> Iterator[str]:
        """Yield the lines that launch a reduction."""
        raise NotImplementedError

    def copy(self, step: Snapshot, depth: int) -> Iterator[str]:
        """Yield the lines that copy an array."""
        raise NotImplementedError

    def nest(self, step: HostNest, depth: int) -> Iterator[str]:
        """Yield the lines that execute a sequential loop."""
        raise NotImplementedError

    def scan(self, step: Scan, depth: int) -> Iterator[str]:
        """Yield the lines that do a scan."""
        raise NotImplementedError

    def test(self, step: HostIf, depth: int) -> Iterator[str]:
        """Yield the lines up to the beginning of the steps under a condition."""
        yield f"{'  ' * depth}if ({self.printer.expression(step.condition)}) {{"

    # The text

    def head(self, suffix: str = "") -> str:
        """Return the beginning of the function's definition."""
        plan = self.plan
        result = "void" if plan.result.kind == "void" else type_name(plan.result)
        texts = [self.parameter(one) for one in plan.parameters]
        return f"{result} {plan.function}{suffix}({', '.join(texts)})"

    def parameter(self, symbol: Symbol) -> str:
        """Return the declaration of a parameter."""
        array = self.plan.arrays.get(symbol.name)
        if array is not None and array.symbol is symbol:
            const = "" if array.is_written else "const "
            return f"{const}{type_name(array.element)} *{safe(symbol.name)}"
        return f"{type_name(symbol.type)} {safe(symbol.name)}"

    def sequential(self) -> list[str]:
        """Return the function as it was written, under another name."""
        lines = [f"{self.head('_sequential')} {{"]
        lines += Printer().block(self.plan.body, 1)
        if self.plan.returned is not None:
            lines.append(f"  return {Printer().expression(self.plan.returned)};")
        return [*lines, "}"]

    def overlap_test(self) -> str:
        """Return the condition that arrays overlap; nothing if none can, or none are to."""
        by_name = {one.name: one for one in self.plan.parameters}
        tests = []
        for first, second in self.plan.overlaps:
            if by_name[first].type.restrict or by_name[second].type.restrict:
                continue
            pairs = product(*(self.used(name) for name in (first, second)))
            tests += [_meet(first, one, second, other) for one, other in pairs]
        return " || ".join(tests)

    def used(self, name: str, *, is_exact: bool = False) -> tuple[Section, ...]:
        """Return the sections of an array that are used; an exact one lies within the array."""
        found = self.plan.arrays[name].copy_in
        if found is None or (is_exact and not all(one.is_exact for one in found)):
            raise CannotError(f"no bounds of {name}")
        return found

    def declarations(self) -> list[str]:
        """Return the variables of the host."""
        known = {*self.plan.parameters, *(one.symbol for one in self.plan.arrays.values())}
        return [
            f"  {type_name(symbol.type)} {name};"
            for symbol, name in self.names.items()
            if symbol not in known and symbol not in self.plan.device_scalars
        ]

    def steps(self, steps: tuple[Step, ...], depth: int) -> Iterator[str]:
        """Yield the lines of steps."""
        pad = "  " * depth
        for one in steps:
            match one:
                case Kernel():
                    yield from self.launch(one, depth)
                case Reduction():
                    yield from self.reduce(one, depth)
                case Snapshot():
                    yield from self.copy(one, depth)
                case HostNest():
                    yield from self.nest(one, depth)
                case Scan():
                    yield from self.scan(one, depth)
                case HostBlock(statements=statements):
                    yield from self.printer.block(_without_declarations(statements), depth)
                case HostIf(then=then, otherwise=otherwise):
                    yield from self.test(one, depth)
                    yield from self.steps(then, depth + 1)
                    if otherwise:
                        yield f"{pad}}} else {{"
                        yield from self.steps(otherwise, depth + 1)
                    yield f"{pad}}}"
                case HostLoop():
                    yield from self.loop(one, depth)

    def loop(self, step: HostLoop, depth: int) -> Iterator[str]:
        """Yield a sequential loop around steps."""
        pad = "  " * depth
        yield from self.printer.block(_without_declarations(step.init), depth)
        yield f"{pad}while ({self.printer.expression(step.test)}) {{"
        yield from self.steps(step.steps, depth + 1)
        yield from self.printer.block(step.step, depth + 1)
        yield f"{pad}}}"


def _meet(first: str, one: Section, second: str, other: Section) -> str:
    """Return the condition that sections of two arrays have a byte in common."""
    trips = dict.fromkeys([*one.trips, *other.trips])
    parts = [f"{size_text(each)} > 0" for each in trips]
    for a, of_a, b, of_b in ((first, one, second, other), (second, other, first, one)):
        begin = f"(char *){safe(a)} + {size_text(of_a.first)}"
        parts.append(f"{begin} < (char *){safe(b)} + {size_text(of_b.end)}")
    return f"({' && '.join(parts)})"


def _variables(steps: tuple[Step, ...]) -> Iterator[Symbol]:
    for one in steps:
        match one:
            case HostBlock(statements=statements):
                yield from _assigned(statements)
            case HostIf(then=then, otherwise=otherwise):
                yield from _variables(then)
                yield from _variables(otherwise)
            case HostLoop(init=init, step=step, steps=inner):
                yield from _assigned((*init, *step))
                yield from _variables(inner)


def _assigned(statements: tuple[tree.Statement, ...]) -> Iterator[Symbol]:
    for one in tree.walk(statements):
        if isinstance(one, tree.Assign) and isinstance(one.target, Variable):
            yield one.target.symbol


def _without_declarations(statements: tuple[tree.Statement, ...]) -> tuple[tree.Statement, ...]:
    return tuple(one for one in statements if not isinstance(one, tree.Declare))
