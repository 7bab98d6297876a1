"""Kernels whose threads sum along rows, by a warp for each row.

    y[i] += a[i][j] * x[j]          for every j, in a thread of i

Threads that follow each other would read elements a row apart. With a warp for each i, its lanes
take every 32nd j and read what lies side by side; shuffles add what they have. The terms are added
in another order, as by any parallel sum. What stands before, between and after such loops is done
by the first lane.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.codegen.plan import Axis, CannotError, Kernel, Plan
from kleene.codegen.text import (
    Printer,
    arrays_in,
    assigned_in,
    flattened,
    safe,
    symbols_in,
    type_name,
)
from kleene.codegen.trees import Counted, binary, choose, counted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Location, Symbol, Variable

LEAST = 64  # terms from which on warps are used


@dataclass(frozen=True, slots=True)
class Sum:
    """`target += term`, or `-=`."""

    target: Location
    operator: str
    term: Expression


@dataclass(frozen=True, slots=True)
class Summed:
    """A loop of sums."""

    loop: Counted
    sums: tuple[Sum, ...]


@dataclass(frozen=True, slots=True)
class RowSums:
    """A kernel with one axis whose loops are sums; other statements stand between them."""

    axis: Axis
    parts: tuple[Block | Summed, ...]

    @property
    def depth(self) -> Expression:
        """How many terms the longest sum has, where the host knows."""
        found = None
        for part in self.parts:
            if isinstance(part, Summed):
                trips = binary("-", part.loop.high, part.loop.low)
                found = trips if found is None else choose(">", found, trips)
        assert found is not None
        return found


def row_sums_of(plan: Plan, kernel: Kernel) -> RowSums | None:
    """Return a kernel as sums along rows, if it is that, and warps read side by side."""
    if len(kernel.axes) != 1:
        return None
    (axis,) = kernel.axes
    own = {axis.variable, *axis.aliases}
    unknown = own | {*kernel.private, *plan.device_scalars}
    parts: list[Block | Summed] = []
    pending: list[tree.Statement] = []
    n_sums = n_along = 0
    for one in kernel.body:
        if not isinstance(one, tree.Loop):
            if any(isinstance(inner, tree.Loop | tree.Declare) for inner in tree.walk(one)):
                return None
            pending.append(one)
            continue
        found = _sums(one)
        if found is None or symbols_in((found.loop.low, found.loop.high)) & unknown:
            return None
        if any(isinstance(e, Element) for e in tree.walk((found.loop.low, found.loop.high))):
            return None
        along = _along(found, own)
        if along is None:
            return None
        n_sums, n_along = n_sums + 1, n_along + along
        if pending:
            parts.append(tuple(pending))
            pending = []
        parts.append(found)
    if pending:
        parts.append(tuple(pending))
    return RowSums(axis, tuple(parts)) if n_sums and n_along else None


def _sums(loop: tree.Loop) -> Summed | None:
    """Return a loop as sums into targets that it does not change otherwise, nor read."""
    form = counted(loop)
    if form is None or form.step != 1 or form.is_descending:
        return None
    sums = []
    for one in loop.body:
        if not isinstance(one, tree.Assign) or not isinstance(one.value, tree.Binary):
            return None
        value, target = one.value, one.target
        is_own = isinstance(value.left, tree.Read) and value.left.location == target
        if not is_own or value.operator not in "+-" or value.type != target.type:
            return None
        if form.variable in symbols_in(target):
            return None
        sums.append(Sum(target, value.operator, value.right))
    terms = tuple(one.term for one in sums)
    written = arrays_in(loop.body, written=True) | assigned_in(loop.body)
    try:
        is_read = bool((arrays_in(terms, written=False) | symbols_in(terms)) & written)
    except CannotError:
        return None
    targets = [one.target for one in sums]
    is_apart = len({_base(one) for one in targets}) == len(targets)
    return Summed(form, tuple(sums)) if sums and not is_read and is_apart else None


def _base(location: Location) -> Symbol:
    return location.symbol if isinstance(location, Variable) else flattened(location)[0]


def _along(found: Summed, own: set[Symbol]) -> int | None:
    """Return how many reads go along rows; None if one goes along the axis."""
    form, n = found.loop, 0
    for one in tree.walk(tuple(each.term for each in found.sums)):
        if not isinstance(one, tree.Read) or not isinstance(one.location, Element):
            continue
        last = symbols_in(flattened(one.location)[1][-1][0])
        used = symbols_in(one.location)
        if last & own and form.variable in used and form.variable not in last:
            return None
        n += form.variable in last and bool(used & own)
    return n


def lines(kernel: Kernel, rows: RowSums, signature: str, printer: Printer) -> list[str]:
    """Return the kernel as text, under its name with `_rows`."""
    axis = rows.axis
    kind, name = type_name(axis.variable.type), safe(axis.variable.name)
    low, high = _text(printer, axis.low), _text(printer, axis.high)
    by = "" if axis.step == 1 else f"{axis.step} * "
    warp = "blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32"
    lines = ["// The same with a warp for each of these."]
    lines.append(f'extern "C" __global__ void {kernel.name}_rows({signature}) {{')
    lines.append(f"  const {kind} {name} = {low} + {by}({kind})({warp});")
    lines.append("  const int lane_ = threadIdx.x % 32;")
    lines.append(f"  if ({name} >= {high}) return;")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    for part in rows.parts:
        if isinstance(part, Summed):
            lines += _summed(printer, part.loop, part.sums)
        else:
            lines += ["  if (lane_ == 0) {", *printer.block(part, 2), "  }"]
        lines.append("  __syncwarp();")
    return [*lines[:-1], "}"]


def _summed(printer: Printer, form: Counted, sums: tuple[Sum, ...]) -> list[str]:
    variable, kind = safe(form.variable.name), type_name(form.variable.type)
    low, high = _text(printer, form.low), _text(printer, form.high)
    lines = ["  {"]
    for number, one in enumerate(sums):
        lines.append(f"    {type_name(one.target.type)} sum{number}_ = 0;")
    head = f"{kind} {variable} = {low} + lane_; {variable} < {high}; {variable} += 32"
    lines.append(f"    for ({head}) {{")
    for number, one in enumerate(sums):
        lines.append(f"      sum{number}_ += {printer.expression(one.term)};")
    lines.append("    }")
    lines.append("    for (int by_ = 16; by_; by_ /= 2) {")
    for number, _ in enumerate(sums):
        taken = f"__shfl_down_sync(0xffffffffu, sum{number}_, by_)"
        lines.append(f"      sum{number}_ += {taken};")
    lines += ["    }", "    if (lane_ == 0) {"]
    for number, one in enumerate(sums):
        lines.append(f"      {printer.location(one.target)} {one.operator}= sum{number}_;")
    return [*lines, "    }", "  }"]


def _text(printer: Printer, value: Expression) -> str:
    text = printer.expression(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"
