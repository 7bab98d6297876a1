"""What kernels are given, and how reductions combine values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from kleene.codegen.plan import Axis, HostNest, Kernel, Plan, Reduction, Scan
from kleene.codegen.text import Printer, arrays_in, safe, symbols_in, type_name
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Symbol

OPERATORS = {
    "+": ("reduce_sum", "a + b"),
    "*": ("reduce_product", "a * b"),
    "&": ("reduce_conjunction", "a & b"),
    "|": ("reduce_disjunction", "a | b"),
    "^": ("reduce_parity", "a ^ b"),
    "min": ("reduce_least", "b < a ? b : a"),
    "max": ("reduce_greatest", "a < b ? b : a"),
}


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument of a kernel."""

    symbol: Symbol
    kind: OneOf["array", "host", "device"]
    is_written: bool = False


def arguments(plan: Plan, kernel: Kernel | Reduction | HostNest | Scan) -> list[Passed]:
    """Return what a kernel is given, in order: scalars of the host, of the device, arrays."""
    parts = _parts(kernel)
    used = symbols_in(parts)
    written = arrays_in(parts, written=True)
    own = {one.symbol for one in tree.walk(parts) if isinstance(one, tree.Declare)}
    own |= {kernel.running} if isinstance(kernel, Scan) else set(kernel.private)
    axes = _axes(kernel)
    own |= {symbol for axis in axes for symbol in (axis.variable, *axis.aliases)}
    if isinstance(kernel, Reduction):
        own.add(kernel.accumulator)
        if kernel.located is not None:
            own |= {kernel.located.point, kernel.located.at}
        if isinstance(kernel.target, tree.Element):
            written |= arrays_in((tree.Assign(tree.NOWHERE, kernel.target, _ZERO),), written=True)
    device = set(plan.device_scalars)
    found: list[Passed] = []
    for symbol in used - own:
        if symbol.name in plan.arrays or symbol.name in plan.snapshots:
            found.append(Passed(symbol, "array", symbol in written))
        elif symbol in device:
            found.append(Passed(symbol, "device"))
        else:
            found.append(Passed(symbol, "host"))
    return order(found)


def axis_names(axes: Sequence[Axis], body: object) -> dict[Symbol, str]:
    """Return the names of axes in the text, each also that of its aliases.

    An alias may be read where another variable has the name of the axis:

        for (k...) a[k] = 0;   for (j...) for (k...) b[j][k] = 0;       axis k, alias j

    The axis then gets a name that no variable has.
    """
    found: dict[Symbol, str] = {}
    for axis in axes:
        own = {axis.variable, *axis.aliases}
        taken = {safe(one.name) for one in symbols_in(body) - own} | {*found.values()}
        name = safe(axis.variable.name)
        while axis.aliases and name in taken:
            name += "_axis"
        found |= dict.fromkeys(own, name)
    return found


def kernel_printer(passed: list[Passed], axes: Sequence[Axis], body: object) -> Printer:
    """Return what prints a kernel: scalars of the device are pointers, axes have their names."""
    pointed = frozenset(one.symbol for one in passed if one.kind == "device")
    return Printer(pointed, axis_names(axes, body))


def order(passed: Iterable[Passed]) -> list[Passed]:
    """Return arguments as kernels have them: scalars of the host, of the device, arrays."""
    kinds = {"host": 0, "device": 1, "array": 2}
    listed = sorted(passed, key=lambda one: (one.symbol.name, one.symbol.place.line))
    return sorted(listed, key=lambda one: kinds[one.kind])


_ZERO = tree.Literal(tree.Type("int", "int", 32), tree.NOWHERE, 0)


def _axes(kernel: Kernel | Reduction | HostNest | Scan) -> tuple[Axis, ...]:
    if isinstance(kernel, Kernel | Reduction):
        return kernel.axes
    return () if isinstance(kernel, HostNest) else (kernel.axis,)


def _parts(kernel: Kernel | Reduction | HostNest | Scan) -> tuple[object, ...]:
    if isinstance(kernel, Scan):
        last = () if kernel.last is None else (kernel.last,)
        return (kernel.axis.low, kernel.axis.high, kernel.term, kernel.first, *kernel.body, *last)
    if isinstance(kernel, HostNest):
        return kernel.body
    if isinstance(kernel, Kernel):
        bounds = [bound for axis in kernel.axes for bound in (axis.low, axis.high)]
        return (*kernel.body, *bounds)
    bounds = [bound for axis in kernel.axes for bound in (axis.low, axis.high)]
    ends = (*kernel.before, *kernel.after)
    if kernel.located is not None:
        ends = (*ends, *kernel.located.last)
    target = tree.Read(kernel.target.type, tree.NOWHERE, kernel.target)
    return (*kernel.body, *kernel.nest, *bounds, *ends, target)


def signature(
    plan: Plan,
    passed: Iterable[Passed],
    more: Sequence[str] = (),
    *,
    names: Mapping[Symbol, str] | None = None,
    is_one_step: bool = True,
) -> str:
    """Return the parameters of a kernel as text; `more` come last.

    Arrays are `restrict` if the kernel is one step. Where threads wait for others between steps,
    they read what these have written: no copy in a cache of read-only data may be used.
    """
    known = names or {}
    texts = []
    for one in passed:
        name = one.symbol.name
        if one.kind == "array":
            array = plan.arrays[plan.snapshots.get(name, name)]
            const = "" if one.is_written else "const "
            star = "*__restrict__" if is_one_step else "*"
            texts.append(f"{const}{type_name(array.element)} {star} {safe(name)}")
            continue
        star = "*" if one.kind == "device" else ""
        texts.append(f"{type_name(one.symbol.type)} {star}{known.get(one.symbol, safe(name))}")
    return ", ".join([*texts, *more])


def neutral_text(operator: str, kind: tree.Type) -> str:
    """Return the value that an operation changes nothing with."""
    if operator in ("+", "|", "^"):
        return "0"
    if operator == "*":
        return "1"
    if operator == "&":
        return "-1" if kind.signed else "~0ull"
    if kind.kind == "float":
        return "(1.0 / 0.0)" if operator == "min" else "(-1.0 / 0.0)"
    low, high = kind.range
    if operator == "min":
        return f"{high}{'ull' if not kind.signed else 'll' if kind.bits > 32 else ''}"
    return f"(-{high}{'ll' if kind.bits > 32 else ''} - 1)" if kind.signed else f"{low}"
