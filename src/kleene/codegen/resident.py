"""Loops of the host that one launch does whole, with barriers between steps.

    while (i < n) {                       lu_loop, on one block or on all multiprocessors
      while (j < i) { lu_a; j++; }        each step's points are divided among all threads,
      lu_j; i++;                          and then all threads wait for each other
    }

Every thread computes the host's scalars for itself. A launch costs microseconds, a barrier of one
block a tenth of that; so loops of many small steps are done this way. Blocks wait by a counter in
memory: all of them must be on the device at once, which a cooperative launch guarantees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from kleene.codegen import reductions, rows
from kleene.codegen.arguments import (
    Passed,
    arguments,
    axis_names,
    neutral_text,
    order,
    signature,
)
from kleene.codegen.contractions import contraction_of
from kleene.codegen.host import HostWriter
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
    Snapshot,
    Step,
    all_steps,
    launches,
)
from kleene.codegen.points import point_loop
from kleene.codegen.text import Printer, assigned_in, safe, symbols_in, type_name
from kleene.codegen.trees import binary, choose, counted, counted_head, first_use, number
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Expression, Symbol, Variable

_SHORT = 16  # iterations of a thread's loop
BARRIER = """
// Wait for all threads: of the block, or of all blocks, which add up to `round` times their number.
__device__ void all_threads(unsigned *barrier, unsigned &round) {
  __syncthreads();
  if (gridDim.x == 1) return;
  round += gridDim.x;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(barrier, 1u);
    while ((int)(*(volatile unsigned *)barrier - round) < 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
"""


@dataclass(frozen=True, slots=True)
class Resident:
    """A loop of the host as one launch: its name, what it is given, and how large its steps are.

    No step has work for more threads than the greatest of `points`.
    """

    name: str
    loop: HostLoop
    passed: tuple[Passed, ...]
    points: tuple[Expression, ...]


def loops_of(plan: Plan) -> list[Resident]:
    """Return the outermost loops of the host that can be one launch."""
    found: list[Resident] = []
    _find(plan, plan.steps, (), found)
    return found


def _find(plan: Plan, steps: Sequence[Step], after: tuple[Step, ...], into: list[Resident]) -> None:
    for position, one in enumerate(steps):
        rest = (*steps[position + 1 :], *after)
        if isinstance(one, HostIf):
            _find(plan, one.then, rest, into)
            _find(plan, one.otherwise, rest, into)
        elif isinstance(one, HostLoop):
            made = _resident(plan, one, rest, len(into))
            into += [] if made is None else [made]


def _resident(plan: Plan, loop: HostLoop, after: tuple[Step, ...], n: int) -> Resident | None:
    kernels = list(launches((loop,)))
    if not kernels:
        return None
    if any(isinstance(one, Kernel) and contraction_of(plan, one) is not None for one in kernels):
        return None  # tiles need a block of their own shape
    if any(isinstance(one, Snapshot | HostNest | Scan) for one in all_steps((loop,))):
        return None  # the device does not do these, or not in a kernel
    if any(isinstance(one, Reduction) and len(one.axes) > 1 for one in kernels):
        return None  # one block would have to do all of its points
    if any(_is_long(plan, one) for one in _deepest(loop) if isinstance(one, Kernel)):
        return None  # each step takes much longer than its launch
    points = _points(plan, (loop,), {}, _deepest(loop))
    used: dict[Symbol, Passed] = {one.symbol: one for k in kernels for one in arguments(plan, k)}
    for symbol in _host_symbols((loop,)):
        used.setdefault(symbol, Passed(symbol, "host"))
    changed = _assigned((loop,))
    if points is None or any(_use(after, one) == "read" for one in changed):
        return None
    if plan.returned is not None and symbols_in(plan.returned) & changed:
        return None
    written = {p.symbol for k in kernels for p in arguments(plan, k) if p.is_written}
    passed = [
        Passed(one.symbol, one.kind, one.symbol in written)
        for one in used.values()
        if one.kind != "host" or _use((loop,), one.symbol) == "read"
    ]
    name = f"{plan.function}_loop" + (f"_{n + 1}" if n else "")
    return Resident(name, loop, tuple(order(passed)), tuple(points))


def _is_long(plan: Plan, kernel: Kernel) -> bool:
    """Return whether threads of a kernel have loops of their own, of more than a few iterations."""
    if rows.sums_of(plan, kernel) is not None:
        return False
    for one in tree.walk(kernel.body):
        form = counted(one) if isinstance(one, tree.Loop) else None
        ends = () if form is None else (form.low, form.high)
        numbers = [end.value for end in ends if isinstance(end, tree.Literal)]
        if isinstance(one, tree.Loop) and (len(numbers) < 2 or numbers[1] - numbers[0] > _SHORT):
            return True
    return False


# What steps use


def _depths(steps: Sequence[Step], depth: int) -> Iterator[tuple[Kernel | Reduction, int]]:
    """Yield launches, and how many loops of the host are around each."""
    for one in steps:
        match one:
            case Kernel() | Reduction():
                yield one, depth
            case HostLoop(steps=inner):
                yield from _depths(inner, depth + 1)
            case HostIf(then=then, otherwise=otherwise):
                yield from _depths((*then, *otherwise), depth)


def _deepest(loop: HostLoop) -> list[Kernel | Reduction]:
    """Return the launches that are executed most often: those with most loops around."""
    depths = list(_depths((loop,), 0))
    most = max((depth for _, depth in depths), default=0)
    return [one for one, depth in depths if depth == most]


def _host_symbols(steps: Sequence[Step]) -> set[Symbol]:
    """Return the variables that the host's parts of steps name; arrays are not among them."""
    found: set[Symbol] = set()
    for one in all_steps(steps):
        match one:
            case HostLoop(init=init, test=test, step=step):
                found |= symbols_in((*init, test, *step))
            case HostIf(condition=condition):
                found |= symbols_in(condition)
            case HostBlock(statements=statements):
                found |= symbols_in(statements)
    return found


def _assigned(steps: Sequence[Step]) -> set[Symbol]:
    found: set[Symbol] = set()
    for one in all_steps(steps):
        match one:
            case HostLoop(init=init, step=step):
                found |= assigned_in((*init, *step))
            case HostBlock(statements=statements):
                found |= assigned_in(statements)
    return found


def _use(steps: Sequence[Step], symbol: Symbol) -> str:
    """Return "read" if steps may read a variable of the host before they assign it."""
    for one in steps:
        found = ""
        match one:
            case HostBlock(statements=statements):
                found = first_use(statements, symbol)
            case HostIf(condition=condition, then=then, otherwise=otherwise):
                uses = {_use(then, symbol), _use(otherwise, symbol)}
                is_read = symbol in symbols_in(condition) or "read" in uses
                found = "read" if is_read else "write" if uses == {"write"} else ""
            case HostLoop(init=init, test=test, step=step, steps=inner):
                found = first_use(init, symbol)
                if not found and symbol in symbols_in(test):
                    found = "read"
                if not found and _use((*inner, HostBlock(step)), symbol) == "read":
                    found = "read"
            case Kernel() | Reduction():
                found = "read" if symbol in _named(one) else ""
            case HostNest(body=body) | Scan(nest=HostNest(body=body)):
                found = "read" if symbol in symbols_in(body) else ""
        if found:
            return found
    return ""


def _named(kernel: Kernel | Reduction) -> set[Symbol]:
    if isinstance(kernel, Kernel):
        bounds = [bound for axis in kernel.axes for bound in (axis.low, axis.high)]
        own = {s for axis in kernel.axes for s in (axis.variable, *axis.aliases)}
        return symbols_in((*kernel.body, *bounds)) - own - set(kernel.private)
    bounds = [bound for axis in kernel.axes for bound in (axis.low, axis.high)]
    own = {s for axis in kernel.axes for s in (axis.variable, *axis.aliases)}
    target = tree.Read(kernel.target.type, tree.NOWHERE, kernel.target)
    last = () if kernel.located is None else kernel.located.last
    parts = (*kernel.body, *kernel.before, *last, *kernel.after, *bounds, target)
    return symbols_in(parts) - own - set(kernel.private)


# The largest step


Ranges = dict[Symbol, tuple[Expression, Expression]]


def _points(
    plan: Plan, steps: Sequence[Step], ranges: Ranges, deepest: Sequence[Kernel | Reduction]
) -> dict[Expression, None] | None:
    """Return bounds of the threads of steps, by the ranges of loops; None if one is not known."""
    found: dict[Expression, None] = {number(1, _LONG): None}
    for one in steps:
        bounds: dict[Expression, None] | None = {}
        match one:
            case HostLoop():
                bounds = _points(plan, one.steps, ranges | _range(one, ranges), deepest)
                changed = _assigned((one,))
                if bounds is None or any(symbols_in(each) & changed for each in bounds):
                    return None
            case HostIf(then=then, otherwise=otherwise):
                bounds = _points(plan, (*then, *otherwise), ranges, deepest)
            case Kernel() | Reduction():
                axes = one.axes
                total: Expression | None = number(1, _LONG)
                for axis in axes:
                    count = _count(axis, ranges)
                    total = None if total is None or count is None else _product(total, count)
                is_often = any(one is each for each in deepest)
                sums = rows.sums_of(plan, one) if isinstance(one, Kernel) and is_often else None
                if total is not None and sums is not None:
                    total = _product(number(32, _LONG), total)  # a warp for each
                bounds = None if total is None else {total: None}
        if bounds is None:
            return None
        found |= bounds
    return found


def _range(loop: HostLoop, ranges: Ranges) -> Ranges:
    form = counted_head(loop.init, loop.test, loop.step)
    if form is None or form.variable in _assigned(loop.steps):
        return {}
    low, high = _bound(form.low, ranges, -1), _bound(form.high, ranges, 1)
    if low is None or high is None:
        return {}
    return {form.variable: (low, binary("-", high, number(1, high.type)))}


_LONG = tree.Type("int", "long", 64)


def _product(one: Expression, other: Expression) -> Expression:
    if one == number(1, _LONG):
        return other
    return tree.Binary(_LONG, tree.NOWHERE, "*", one, other)


def _count(axis: Axis, ranges: Ranges) -> Expression | None:
    low, high = _bound(axis.low, ranges, -1), _bound(axis.high, ranges, 1)
    return None if low is None or high is None else binary("-", high, low)


def _bound(value: Expression, ranges: Ranges, way: int) -> Expression | None:
    """Return a bound of a value from below (-1) or above (1), over the ranges of variables.

    Each variable is taken on its own: the bound of `n - i` from above is n less the least i.
    """
    if not symbols_in(value) & set(ranges):
        return value
    match value:
        case tree.Read(location=Variable(symbol=symbol)):
            return ranges[symbol][0 if way < 0 else 1]
        case tree.Convert(operand=operand) if value.type.bits >= operand.type.bits:
            return _bound(operand, ranges, way)
        case tree.Binary(operator="+" | "-", left=left, right=right):
            first = _bound(left, ranges, way)
            second = _bound(right, ranges, way if value.operator == "+" else -way)
            if first is None or second is None:
                return None
            return binary(value.operator, first, second)
        case tree.Binary(operator="*", left=tree.Literal(value=factor), right=right):
            inner = _bound(right, ranges, way if factor >= 0 else -way)
            return None if inner is None else binary("*", value.left, inner)
        case tree.Choose(then=then, otherwise=otherwise):
            first, second = _bound(then, ranges, way), _bound(otherwise, ranges, way)
            if first is None or second is None:
                return None
            return choose("<" if way < 0 else ">", first, second)
    return None


# The text


def lines(plan: Plan, made: Resident) -> list[str]:
    """Return the launch that does a loop, as CUDA C++."""
    return _Text(plan, made).lines()


class _Text(HostWriter):
    """Steps as parts of one kernel."""

    def __init__(self, plan: Plan, made: Resident) -> None:
        super().__init__(plan)
        self._made = made

    def lines(self) -> list[str]:
        made = self._made
        more = ["unsigned *barrier_"]
        head = signature(self.plan, made.passed, more, names=self.names, is_one_step=False)
        lines = ["// All of a loop, with barriers between steps."]
        lines.append(f'extern "C" __global__ void __launch_bounds__(1024) {made.name}({head}) {{')
        given = {one.symbol for one in made.passed}
        own = sorted(_assigned((made.loop,)) - given, key=lambda one: self.names[one])
        lines += [f"  {type_name(one.type)} {self.names[one]};" for one in own]
        lines.append("  unsigned round_ = 0;")
        return [*lines, *self.steps((made.loop,), 1), "}"]

    def _printer(self, kernel: Kernel | Reduction) -> Printer:
        names = {**self.names, **axis_names(kernel.axes, kernel.body)}
        for array in self.plan.arrays.values():
            names[array.symbol] = safe(array.symbol.name)
        given = arguments(self.plan, kernel)
        return Printer(frozenset(one.symbol for one in given if one.kind == "device"), names)

    def _count(self, axis: Axis) -> str:
        low, high = self.printer.expression(axis.low), self.printer.expression(axis.high)
        count = f"({high})" if low == "0" else f"({high}) - ({low})"
        return count if axis.step == 1 else f"({count} + {axis.step - 1}) / {axis.step}"

    def test(self, step: HostIf, depth: int) -> Iterator[str]:
        """Yield a condition; all threads wait before they read an element that others wrote."""
        if step.fetched is not None:
            yield f"{'  ' * depth}all_threads(barrier_, round_);"
        yield from super().test(step, depth)

    def launch(self, kernel: Kernel, depth: int) -> Iterator[str]:
        """Yield a step whose points are divided among all threads."""
        pad = "  " * depth
        printer = self._printer(kernel)
        if kernel.waits:
            yield f"{pad}all_threads(barrier_, round_);"
        if not kernel.axes:
            yield f"{pad}if (blockIdx.x == 0 && threadIdx.x == 0) {{"
            yield from printer.block(kernel.body, depth + 1)
            yield f"{pad}}}"
            return
        sums = rows.sums_of(self.plan, kernel)
        yield f"{pad}{{"
        if sums is not None:
            yield f"{pad}  const int x_ = {self._count(kernel.axes[0])};"
            yield f"{pad}  if (x_ > 0) {{"
            yield from rows.resident_lines(kernel, sums, printer, depth + 2)
            yield f"{pad}  }}"
        else:
            yield from self._points_of(kernel, printer, depth + 1)
        yield f"{pad}}}"

    def _points_of(self, kernel: Kernel, printer: Printer, depth: int) -> list[str]:
        """Return the loop of a thread over its points: every so many of all threads."""

        def body(depth: int) -> list[str]:
            declared = [f"{'  ' * depth}{printer.declaration(one)};" for one in kernel.private]
            return [*declared, *printer.block(kernel.body, depth)]

        axes = [kernel.axes[position] for position in kernel.mapping]
        ends = "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"
        return point_loop(printer, axes, *ends, body, depth)

    def reduce(self, kernel: Reduction, depth: int) -> Iterator[str]:
        """Yield a reduction, which the first block does."""
        pad, own, located = "  " * depth, kernel.accumulator.name, kernel.located
        printer = self._printer(kernel)
        neutral = neutral_text(kernel.operator, kernel.target.type)
        yield f"{pad}all_threads(barrier_, round_);"
        yield f"{pad}if (blockIdx.x == 0) {{"
        yield f"{pad}  {type_name(kernel.target.type)} {own} = {neutral};"
        if located is not None:
            yield f"{pad}  long long {located.at.name} = -1;"
        for one in kernel.private:
            yield f"{pad}  {printer.declaration(one)};"
        point = "" if located is None else located.point.name
        ends, body = ("threadIdx.x", "blockDim.x"), partial(printer.block, kernel.body)
        yield from point_loop(printer, kernel.ordered, *ends, body, depth + 1, point)
        yield from reductions.combined_lines(kernel, depth + 1)
        yield f"{pad}  if (threadIdx.x == 0) {{"
        yield from reductions.end_lines(printer, kernel, depth + 2)
        yield f"{pad}  }}"
        yield f"{pad}}}"

    def copy(self, step: Snapshot, depth: int) -> Iterator[str]:
        """Refuse: copies are launches of their own."""
        raise CannotError(f"a copy of {step.array.name}")
