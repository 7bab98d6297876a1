"""Kernels whose threads sum along a loop, by several threads for each sum.

    y[i] += a[i][j] * x[j]          for every j, in a thread of i: a warp for each i
    y[j] += a[i][j] * x[i]          for every i, in a thread of j: up to 32 threads for each j

In the first, threads that follow each other would read elements a row apart. With a warp for each
i, its lanes take every 32nd j and read what lies side by side; shuffles add what they have. In the
second they read side by side, but there may be few columns: a block takes 32 of them, each of its
warps every so many rows, and partial sums are added in shared memory in the order of the warps.

Either way the order is fixed, but not that of the text: of n terms t, two orders differ by at most
2 (n - 1) u sum |t| / (1 - (n - 1) u), with u the unit roundoff of the type. What stands before,
between and after such loops is done by the first thread of each sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from kleene.codegen.arguments import neutral_text
from kleene.codegen.plan import Axis, CannotError, Kernel, Plan, ReducedLoop
from kleene.codegen.text import (
    Printer,
    arrays_in,
    assigned_in,
    flattened,
    safe,
    symbols_in,
    type_name,
)
from kleene.codegen.trees import Counted, binary, choose, counted, number
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Location, Symbol, Variable

LEAST = 64  # terms from which on several threads are used for a sum
_MAX_SUMS = 4  # of one loop: each has partial sums in shared memory


@dataclass(frozen=True, slots=True)
class Sum:
    """`target += term`, or `-=`, or `target = min(target, term)`, or `max`."""

    target: Location
    operator: str
    term: Expression


@dataclass(frozen=True, slots=True)
class Summed:
    """A loop of sums."""

    loop: Counted
    sums: tuple[Sum, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """A kernel with one axis whose loops are sums; other statements stand between them.

    The sums go along "rows", so that a warp reads side by side what one of them needs, or down
    "columns", so that it reads side by side what neighbours need.
    """

    axis: Axis
    way: OneOf["rows", "columns"]
    parts: tuple[Block | Summed, ...]
    head: Block = ()  # what all threads of a sum compute first, and
    test: Expression | None = None  # whether they do the rest

    @property
    def depth(self) -> Expression:
        """How many terms the longest sum has, where the host knows."""
        found = None
        for part in self.parts:
            if isinstance(part, Summed) and self.head:
                return number(LEAST, part.loop.high.type)
            if isinstance(part, Summed):
                trips = binary("-", part.loop.high, part.loop.low)
                found = trips if found is None else choose(">", found, trips)
        assert found is not None
        return found


def sums_of(plan: Plan, kernel: Kernel) -> Sums | None:
    """Return a kernel as sums, if it is that, and all go one way."""
    if len(kernel.axes) != 1:
        return None
    (axis,) = kernel.axes
    own = {axis.variable, *axis.aliases}
    head, test, body = _front(kernel.body)
    # The values of other variables are the first thread's alone.
    of_first = {*kernel.private, *assigned_in(body)} - assigned_in(head)
    parts: list[Block | Summed] = []
    pending: list[tree.Statement] = []
    ways: list[str] = []
    for one in body:
        if not isinstance(one, tree.Loop):
            if any(isinstance(inner, tree.Loop | tree.Declare) for inner in tree.walk(one)):
                return None
            pending.append(one)
            continue
        found = _sums(one)
        if found is None:
            return None
        bounds = (found.loop.low, found.loop.high)
        unknown = {*plan.device_scalars} | (of_first if head else own | of_first)
        if symbols_in(bounds) & (unknown - {found.loop.variable}):
            return None
        if any(isinstance(e, Element) for e in tree.walk(bounds)):
            return None
        terms = tuple(each.term for each in found.sums)
        if symbols_in(terms) & (of_first - {found.loop.variable}):
            return None
        ways += ["rows"] if isinstance(one, ReducedLoop) else _ways(terms, found.loop.variable, own)
        if pending:
            parts.append(tuple(pending))
            pending = []
        parts.append(found)
    if pending:
        parts.append(tuple(pending))
    if len(set(ways)) != 1:
        return None
    way: OneOf["rows", "columns"] = "rows" if ways[0] == "rows" else "columns"
    return None if head and way == "columns" else Sums(axis, way, tuple(parts), head, test)


def _front(body: Block) -> tuple[Block, Expression | None, Block]:
    """Return what stands before the only condition of a body, that condition, and what is in it.

    A thread of a front computes a second variable by the first: `j = front - i; if (j < n) ...`.
    """
    if len(body) < 2 or not isinstance(body[-1], tree.If) or body[-1].otherwise:
        return (), None, body
    head, last = body[:-1], body[-1]
    is_plain = all(
        isinstance(one, tree.Declare)
        or (isinstance(one, tree.Assign) and isinstance(one.target, Variable))
        for one in head
    )
    has_elements = any(isinstance(one, Element) for one in tree.walk((*head, last.condition)))
    if not is_plain or has_elements or assigned_in(head) & assigned_in(last.then):
        return (), None, body
    return head, last.condition, last.then


def _sums(loop: tree.Loop) -> Summed | None:
    """Return a loop as sums into targets that it does not change otherwise, nor read."""
    form = counted(loop)
    if form is None or form.step != 1 or form.is_descending:
        return None
    if isinstance(loop, ReducedLoop):
        return Summed(form, (Sum(loop.target, loop.operator, loop.term),))
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
    is_whole = 0 < len(sums) <= _MAX_SUMS and not is_read and is_apart
    return Summed(form, tuple(sums)) if is_whole else None


def _base(location: Location) -> Symbol:
    return location.symbol if isinstance(location, Variable) else flattened(location)[0]


def _ways(terms: tuple[Expression, ...], variable: Symbol, own: set[Symbol]) -> list[str]:
    """Return the ways that the elements go which change with the loop and with the axis."""
    found = []
    for one in tree.walk(terms):
        if not isinstance(one, tree.Read) or not isinstance(one.location, Element):
            continue
        last = symbols_in(flattened(one.location)[1][-1][0])
        used = symbols_in(one.location)
        if variable in used and used & own:
            is_row, is_column = variable in last, bool(last & own)
            found.append("neither" if is_row == is_column else "rows" if is_row else "columns")
    return found


def lines(kernel: Kernel, sums: Sums, signature: str, printer: Printer) -> list[str]:
    """Return the kernel as text, under its name with `_rows` or `_columns`."""
    is_row = sums.way == "rows"
    each = "a warp for each of these" if is_row else "all warps of a block for 32 of these"
    bound = "" if is_row else "__launch_bounds__(1024) "
    lines = [f"// The same with {each}."]
    lines.append(f'extern "C" __global__ void {bound}{kernel.name}_{sums.way}({signature}) {{')
    first = "blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32" if is_row else "blockIdx.x * 32"
    lines += _Text(kernel, sums, printer).lines(first, 1)
    return [*lines, "}"]


def resident_lines(kernel: Kernel, sums: Sums, printer: Printer, depth: int) -> list[str]:
    """Return the sums as a step of a kernel with other steps; `x_` is how many there are."""
    pad = "  " * depth
    first, stride = "blockIdx.x * 32", "gridDim.x * 32"
    if sums.way == "rows":
        first = "blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32"
        stride = "gridDim.x * (blockDim.x / 32)"
    head = f"unsigned point_ = {first}; point_ < (unsigned)x_; point_ += {stride}"
    body = _Text(kernel, sums, printer).lines("point_", depth + 1)
    return [f"{pad}for ({head}) {{", *body, f"{pad}}}"]


class _Text:
    """The text of sums on its way."""

    def __init__(self, kernel: Kernel, sums: Sums, printer: Printer) -> None:
        self._kernel, self._sums, self._printer = kernel, sums, printer
        self._is_row = sums.way == "rows"
        self._first = "lane_ == 0" if self._is_row else "warp_ == 0"
        self._barrier = "__syncwarp();" if self._is_row else "__syncthreads();"

    def lines(self, first: str, depth: int) -> list[str]:
        """Return the sums of one warp, or of 32 columns from `first` on."""
        pad, axis, printer = "  " * depth, self._sums.axis, self._printer
        kind, name = type_name(axis.variable.type), printer.name(axis.variable)
        low, high = printer.operand(axis.low), printer.operand(axis.high)
        by = "" if axis.step == 1 else f"{axis.step} * "
        at = f"({first})" if self._is_row else f"({first} + threadIdx.x % 32)"
        lines = [
            "const int lane_ = threadIdx.x % 32, warp_ = threadIdx.x / 32;",
            f"const {kind} {name} = {low} + {by}({kind}){at};",
            *(f"{printer.declaration(one)};" for one in self._kernel.private),
        ]
        lines = [f"{pad}{line}" for line in lines] + printer.block(self._sums.head, depth)
        test = self._sums.test
        more = "" if test is None else f" && ({printer.expression(test)})"
        lines.append(f"{pad}const bool inside_ = {name} < {high}{more};")
        for part in self._sums.parts:
            if isinstance(part, Summed):
                lines += self._summed(part, depth)
            else:
                lines.append(f"{pad}if ({self._first} && inside_) {{")
                lines += [*printer.block(part, depth + 1), f"{pad}}}"]
            lines.append(f"{pad}{self._barrier}")
        return lines

    def _summed(self, part: Summed, depth: int) -> list[str]:
        pad, printer, form = "  " * (depth + 1), self._printer, part.loop
        variable, kind = safe(form.variable.name), type_name(form.variable.type)
        low, high = printer.operand(form.low), printer.operand(form.high)
        numbered = list(enumerate(part.sums))
        lines = []
        for n, one in numbered:
            own = type_name(one.target.type)
            lines.append(f"{own} sum{n}_ = {_neutral(one)};")
            if not self._is_row:
                lines.append(f"__shared__ {own} part{n}_[32][33];")
        start, stride = ("lane_", "32") if self._is_row else ("warp_", f"({kind})(blockDim.x / 32)")
        head = f"{kind} {variable} = {low} + {start}; {variable} < {high}; {variable} += {stride}"
        lines += ["if (inside_) {", "#pragma unroll 4", f"  for ({head}) {{"]
        lines += [f"    {_added(one, n, printer.expression(one.term))}" for n, one in numbered]
        lines += ["  }", "}"]
        if self._is_row:
            lines.append("for (int by_ = 16; by_; by_ /= 2) {")
            for n, one in numbered:
                other = f"__shfl_down_sync(0xffffffffu, sum{n}_, by_)"
                lines.append(f"  {_added(one, n, other)}")
            lines.append("}")
        else:
            lines += [f"part{n}_[warp_][lane_] = sum{n}_;" for n, _ in numbered]
            lines.append("__syncthreads();")
        lines.append(f"if ({self._first} && inside_) {{")
        for n, one in numbered:
            if not self._is_row:
                each = "int by_ = 1; by_ < (int)(blockDim.x / 32); by_++"
                lines.append(f"  for ({each}) sum{n}_ += part{n}_[by_][lane_];")
            lines.append(f"  {_ended(one, n, printer.location(one.target))}")
        lines.append("}")
        shifted = [line if line.startswith("#") else f"{pad}{line}" for line in lines]
        return [f"{'  ' * depth}{{", *shifted, f"{'  ' * depth}}}"]


def _neutral(one: Sum) -> str:
    return "0" if one.operator in "+-" else neutral_text(one.operator, one.target.type)


def _added(one: Sum, n: int, term: str) -> str:
    """Return the statement that adds a term to what a thread has."""
    if one.operator in "+-":
        return f"sum{n}_ += {term};"
    kind = type_name(one.target.type)
    sign = "<" if one.operator == "max" else ">"
    return f"{{ const {kind} term_ = {term}; if (sum{n}_ {sign} term_) sum{n}_ = term_; }}"


def _ended(one: Sum, n: int, target: str) -> str:
    """Return the statement that adds what all threads have to the target."""
    if one.operator in "+-":
        return f"{target} {one.operator}= sum{n}_;"
    return f"if ({target} {'<' if one.operator == 'max' else '>'} sum{n}_) {target} = sum{n}_;"
