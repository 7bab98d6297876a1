"""The host's part of a plan as Python: two functions, `sections` and `steps`.

    def steps(run, ni, nj, nk, alpha, beta, c, a, b):
        run.grid("gemm_i_j", (nj - 0, ni - 0), (i32(ni), ..., c, a, b))

`run` is a `runtime.Run`, which knows where kernels run. Arrays are of the device.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from kleene.codegen.arguments import Passed, arguments
from kleene.codegen.bins import bins_of
from kleene.codegen.contractions import contraction_of, depth_of
from kleene.codegen.plan import (
    Axis,
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
from kleene.codegen.resident import loops_of
from kleene.codegen.rows import sums_of
from kleene.codegen.runtime.arithmetic import FUNCTIONS, NAMESPACE, single
from kleene.codegen.text import flattened, python_name, size_text
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Expression, Symbol, Type, Variable

_TYPES = {
    ("int", 1, False): "bool_",
    ("int", 8, True): "int8",
    ("int", 8, False): "uint8",
    ("int", 16, True): "int16",
    ("int", 16, False): "uint16",
    ("int", 32, True): "int32",
    ("int", 32, False): "uint32",
    ("int", 64, True): "int64",
    ("int", 64, False): "uint64",
    ("float", 32, True): "float32",
    ("float", 64, True): "float64",
}
_RESERVED = (
    "np",
    "math",
    "max",
    "run",
    "steps",
    "sections",
    *NAMESPACE,
    "abs",
    "bool",
    "float",
    "int",
)
_SAME = {"+", "-", "*", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<", ">>"}
_WRAPPING = {"+", "-", "*", "<<"}


def dtype_name(kind: Type) -> str:
    """Return an arithmetic type as NumPy names it."""
    found = _TYPES.get((kind.kind, kind.bits, kind.signed))
    if found is None:
        raise CannotError(f"the type {kind.name}")
    return found


@dataclass
class _Driver:
    """The text on its way; every host variable has a name of its own."""

    plan: Plan
    names: dict[Symbol, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def name(self, symbol: Symbol) -> str:
        if symbol not in self.names:
            taken = {*self.names.values(), *_RESERVED, *keyword.kwlist}
            made, count = symbol.name, 2
            while made in taken:
                made, count = f"{symbol.name}_{count}", count + 1
            self.names[symbol] = made
        return self.names[symbol]

    def array(self, symbol: Symbol) -> str:
        known = self.plan.arrays.get(symbol.name)
        return symbol.name if known is None else self.name(known.symbol)

    def write(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # Expressions

    def value(self, value: Expression) -> str:
        match value:
            case tree.Literal(value=number):
                return _number(number, value.type)
            case tree.Read(location=Variable(symbol=symbol)):
                return self.name(symbol)
            case tree.Read(location=tree.Element() as location):
                return self._element(location)
            case tree.Convert(operand=operand):
                return self._convert(value.type, operand)
            case tree.Unary(operator=operator, operand=operand):
                text = self.value(operand)
                if operator == "!":
                    return f"int(not {text})"
                return _wrapped(value.type, f"({operator}{text})")
            case tree.Binary(operator=operator, left=left, right=right):
                return self._binary(value.type, operator, self.value(left), self.value(right))
            case tree.Choose(condition=condition, then=then, otherwise=otherwise):
                parts = map(self.value, (then, condition, otherwise))
                return "({} if {} else {})".format(*parts)
            case tree.Call(function=function, arguments=given):
                return self._call(value.type, function, list(map(self.value, given)))
        raise CannotError(f"an expression of line {value.place.line}: {type(value).__name__}")

    def _element(self, location: tree.Element) -> str:
        """Return the value of an element, which is fetched."""
        base, terms = flattened(location)
        parts = []
        for index, extents in terms:
            by = [str(one) if isinstance(one, int) else self.value(one) for one in extents]
            parts.append(" * ".join([self.value(index), *by]))
        return f"run.element({self.array(base)}, {' + '.join(parts)})"

    def _call(self, kind: Type, function: str, given: list[str]) -> str:
        if function == "abs":
            return f"abs({', '.join(given)})"
        name = function if function in FUNCTIONS else function.removesuffix("f")
        if name not in FUNCTIONS:
            raise CannotError(f"a call of {function} by the host")
        return _wrapped(kind, f'called("{name}", {", ".join(given)})')

    def _convert(self, kind: Type, operand: Expression) -> str:
        text = self.value(operand)
        if kind.kind == "float":
            is_exact = operand.type.kind == "float" and operand.type.bits <= kind.bits
            return text if is_exact else _wrapped(kind, f"float({text})")
        if kind.bits == 1:
            return f"int({text} != 0)"
        if operand.type.kind == "float":
            return f"int({text})"
        if kind.bits >= operand.type.bits and (kind.signed or not operand.type.signed):
            return text
        return f"int(np.array({text}).astype(np.{dtype_name(kind)}))"

    def _binary(self, kind: Type, operator: str, left: str, right: str) -> str:
        if operator in ("&&", "||"):
            return f"int(bool({left} {'and' if operator == '&&' else 'or'} {right}))"
        if operator in ("/", "%") and kind.kind == "int":
            return f"{'quotient' if operator == '/' else 'remainder'}({left}, {right})"
        if operator == "/":
            return _wrapped(kind, f"divided({left}, {right})")
        if operator not in _SAME:
            raise CannotError(f"the operator {operator}")
        text = f"({left} {operator} {right})"
        return _wrapped(kind, text) if operator in _WRAPPING else text

    # Steps

    def steps(self, steps: tuple[Step, ...], depth: int) -> None:
        if not steps:
            self.write(depth, "pass")
        for one in steps:
            self._step(one, depth)

    def _step(self, step: Step, depth: int) -> None:
        match step:
            case Kernel():
                given = self._given(arguments(self.plan, step))
                counts = [self._count(step.axes[position]) for position in step.mapping]
                shape = f"({', '.join(counts)}{',' if len(counts) == 1 else ''})"
                tiled, sums = contraction_of(self.plan, step), sums_of(self.plan, step)
                if sums is not None:
                    more = self.value(sums.depth)
                    self.write(depth, f'run.{sums.way}("{step.name}", {shape}, {more}, ({given}))')
                elif tiled is None and (bins := bins_of(self.plan, step)) is not None:
                    array = self.array(bins.array)
                    self.write(depth, f'run.bins("{step.name}", {shape}, {array}, ({given}))')
                elif tiled is None:
                    self.write(depth, f'run.grid("{step.name}", {shape}, ({given}))')
                else:
                    more = f"{self.value(depth_of(tiled))}, {tiled.tile}"
                    self.write(depth, f'run.tiles("{step.name}", {shape}, {more}, ({given}))')
            case Reduction():
                given = self._given(arguments(self.plan, step))
                kind = f"np.{dtype_name(step.target.type)}"
                shape = "".join(f"{self._count(axis)}, " for axis in step.ordered)
                more = "" if step.located is None else ", True"
                text = f'run.reduce("{step.name}", ({shape}), ({given}), {kind}{more})'
                self.write(depth, text)
            case HostLoop():
                whole = [one for one in loops_of(self.plan) if one.loop is step]
                if whole:
                    given = self._given(list(whole[0].passed))
                    points = ", ".join(map(self.value, whole[0].points))
                    more = f"max({points}, 1)"
                    text = f'run.resident("{whole[0].name}", {more}, ({given}))'
                    self.write(depth, f"if not {text}:")
                    depth += 1
                self._assignments(step.init, depth)
                self.write(depth, f"while {self.value(step.test)}:")
                self.steps(step.steps, depth + 1)
                self._assignments(step.step, depth + 1)
            case HostIf():
                self.write(depth, f"if {self.value(step.condition)}:")
                self.steps(step.then, depth + 1)
                if step.otherwise:
                    self.write(depth, "else:")
                    self.steps(step.otherwise, depth + 1)
            case HostBlock():
                self._assignments(step.statements, depth)
            case Scan():
                given = self._given(arguments(self.plan, step))
                kind, count = dtype_name(step.running.type), self._count(step.axis)
                self.write(depth, f'run.scan("{step.name}", {count}, ({given}), np.{kind})')
            case HostNest():
                passed = arguments(self.plan, step)
                is_written = [one.is_written or one.kind == "device" for one in passed]
                flags = "".join("w" if each else "r" for each in is_written)
                self.write(depth, f'run.host("{step.name}", ({self._given(passed)}), "{flags}")')
            case Snapshot():
                self.write(depth, f"run.copy({step.copy.name}, {self.array(step.array)})")

    def _assignments(self, statements: tuple[tree.Statement, ...], depth: int) -> None:
        for one in statements:
            match one:
                case tree.Assign(target=Variable(symbol=symbol), value=value):
                    self.write(depth, f"{self.name(symbol)} = {self.value(value)}")
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    self.write(depth, f"if {self.value(condition)}:")
                    self._inside(then, depth + 1)
                    if otherwise:
                        self.write(depth, "else:")
                        self._inside(otherwise, depth + 1)
                case tree.Declare() | tree.Evaluate():
                    pass
                case _:
                    raise CannotError(f"a statement of line {one.place.line} of the host")

    def _inside(self, statements: tuple[tree.Statement, ...], depth: int) -> None:
        """Write statements under a condition: something, though none of them may be written."""
        n_lines = len(self.lines)
        self._assignments(statements, depth)
        if len(self.lines) == n_lines:
            self.write(depth, "pass")

    def _given(self, passed: list[Passed]) -> str:
        texts = []
        for one in passed:
            if one.kind == "host":
                texts.append(f"np.{dtype_name(one.symbol.type)}({self.name(one.symbol)})")
            elif one.kind == "device":
                texts.append(device_name(self.plan, one.symbol))
            else:
                texts.append(self.array(one.symbol))
        return "".join(f"{text}, " for text in texts)

    def _count(self, axis: Axis) -> str:
        low, high = self.value(axis.low), self.value(axis.high)
        if axis.step == 1:
            return high if low == "0" else f"{high} - {low}"
        return f"-(({low} - {high}) // {axis.step})"


def _number(value: float, kind: Type) -> str:
    if kind.kind != "float":
        return str(int(value))
    text = repr(single(value) if kind.bits == 32 else float(value))
    return text if math.isfinite(value) else f'float("{text}")'


def _wrapped(kind: Type, text: str) -> str:
    """Return the value of Python's operation on unbounded integers and doubles as C has it.

    Unsigned integers are modulo 2^bits, and a `float` is rounded after each operation. That signed
    integers do not overflow is an assumption of every plan.
    """
    if kind.kind == "float":
        return f"single({text})" if kind.bits == 32 else text
    return text if kind.signed else f"({text} & {(1 << kind.bits) - 1:#x})"


def device_name(plan: Plan, symbol: Symbol) -> str:
    """Return the name of the device's copy of a scalar in the text of the host."""
    return f"device_{symbol.name}_{plan.device_scalars.index(symbol)}"


def source(plan: Plan, prefix: str = "") -> str:
    """Return `sections` and `steps` of a plan, with a prefix to their names."""
    driver = _Driver(plan)
    names = [driver.name(one) for one in plan.parameters]
    for array in plan.arrays.values():
        driver.name(array.symbol)
    lines = _sections(plan, prefix)
    driver.write(0, f"def {prefix}steps({', '.join(['run', *names])}):")
    for symbol in plan.device_scalars:
        first = driver.name(symbol) if symbol in plan.parameters else "0"
        kind = dtype_name(symbol.type)
        driver.write(1, f"{device_name(plan, symbol)} = run.scalar({first}, np.{kind})")
    for array in plan.arrays.values():
        if array.extent is not None:
            size = array.extent if isinstance(array.extent, int) else driver.value(array.extent)
            driver.write(
                1,
                f"{driver.name(array.symbol)} = run.empty({size}, np.{dtype_name(array.element)})",
            )
    for copy, name in plan.snapshots.items():
        driver.write(1, f"{copy} = run.like({driver.array(plan.arrays[name].symbol)})")
    driver.steps(plan.steps, 1)
    if plan.returned is not None:
        driver.write(1, f"return {_Returned(plan, driver.names).value(plan.returned)}")
    return "\n".join([*lines, "", "", *driver.lines]) + "\n"


def values_source(plan: Plan, name: str, values: Sequence[Expression]) -> str:
    """Return a function that computes host expressions from the parameters of a plan."""
    driver = _Driver(plan)
    names = [driver.name(one) for one in plan.parameters]
    listed = "".join(f"{driver.value(one)}, " for one in values)
    return f"def {name}({', '.join(names)}):\n    return ({listed})\n"


class _Returned(_Driver):
    """What is returned: scalars of the device are fetched."""

    def value(self, value: Expression) -> str:
        match value:
            case tree.Read(location=Variable(symbol=symbol)) if symbol in self.plan.device_scalars:
                return f"run.fetch({device_name(self.plan, symbol)})"
        return super().value(value)


def _sections(plan: Plan, prefix: str) -> list[str]:
    """Return the function that tells the bytes of each array that go in, and that come out.

    The third are those that are used for sure: an array must have them.
    """
    names = [python_name(one.name) for one in plan.parameters if one.type.kind == "int"]
    if len(set(names)) < len(names):
        raise CannotError("two parameters that Python has one name for")
    lines = [f"def {prefix}sections({', '.join(names)}):", "    return {"]
    for name, array in plan.arrays.items():
        if array.symbol not in plan.parameters:
            continue
        moved = []
        for is_moved, pieces in (
            (array.is_read or array.is_written, array.copy_in),
            (array.is_written, array.copy_out),
        ):
            listed = _pieces(pieces) if is_moved else []
            moved.append("None" if listed is None else f"hull([{', '.join(listed)}])")
        exact = [one for one in array.copy_in or () if one.is_exact]
        moved.append(f"hull([{', '.join(_pieces(tuple(exact)) or ())}])")
        lines.append(f'        "{name}": ({", ".join(moved)}),')
    return [*lines, "    }"]


def _pieces(sections: tuple[Section, ...] | None) -> list[str] | None:
    if sections is None:
        return None
    return [
        f"(min({', '.join(['1', *(size_text(trips, True) for trips in one.trips)])}, 1),"
        f" {size_text(one.first, True)}, {size_text(one.end, True)})"
        for one in sections
    ]
