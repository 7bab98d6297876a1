"""Kernels whose threads sum products along a loop, by tiles in shared memory and registers.

    c[i][j] += alpha * a[i][k] * b[k][j]         for every k, in a thread of (i, j)

A block of 128 threads computes a tile of c, each thread 64 elements of it in registers. For 16
values of k at a time, the block brings what the sums need of each row i (`alpha * a[i][k]`) and of
each column j (`b[k][j]`) into shared memory: the values of the largest parts of the term that name
one of the two alone. While a block adds up 16 terms, its threads load the next ones into registers,
some after each term so that both overlap. Every element's terms are added in the order of the text,
so that results are those of the plain kernel, bit by bit, unless the compiler contracts operations
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from kleene.codegen.plan import Axis, Kernel, Plan
from kleene.codegen.text import (
    Printer,
    arrays_in,
    assigned_in,
    flattened,
    symbols_in,
    type_name,
)
from kleene.codegen.trees import Counted, binary, counted, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Symbol

_DEPTHS = 16, 8  # values of k in shared memory, if there is enough of it
_ROWS, _COLUMNS = 8, 16  # threads of a block
THREADS = _ROWS * _COLUMNS
# Rows of shared memory end with two more elements: threads that write one column of it then use
# different banks, and pairs of elements stay aligned to 16 bytes.
PAD = 2
_SHARED_BYTES = 48 << 10  # of a block that asks for no more
LEAST = 64  # rows, and columns, from which on tiles are used


@dataclass(frozen=True, slots=True)
class Contraction:
    """A kernel as sums: what is done before and after, and the term that is added.

    The term has variables in place of its largest parts that name rows or columns alone: those
    parts are `of_row` and `of_column`, by these variables.
    """

    rows: Axis
    columns: Axis
    loop: Counted
    target: Element
    term: Expression
    guard: Expression | None  # on the row and the column: whether anything is done
    test: Expression | None  # likewise, whether there is a sum
    before: Block
    after: Block
    of_row: dict[Symbol, Expression]
    of_column: dict[Symbol, Expression]

    @property
    def per_thread(self) -> tuple[int, int]:
        """The rows and columns of a thread: as many as fit its 255 registers."""
        return (8, 8)

    @property
    def tile(self) -> tuple[int, int]:
        """The rows and columns of a block."""
        return self.per_thread[0] * _ROWS, self.per_thread[1] * _COLUMNS

    @property
    def depth(self) -> int:
        """How many terms of each sum are in shared memory."""
        tall, wide = self.tile
        sizes = [(one, tall) for one in self.of_row] + [(one, wide) for one in self.of_column]
        each = sum((size + PAD) * one.type.bits // 8 for one, size in sizes)
        return next((n for n in _DEPTHS if n * each <= _SHARED_BYTES), _DEPTHS[-1])


def contraction_of(plan: Plan, kernel: Kernel) -> Contraction | None:
    """Return a kernel as a contraction, if it is one."""
    if len(kernel.axes) != 2 or kernel.private or any(axis.step != 1 for axis in kernel.axes):
        return None
    columns, rows = (kernel.axes[position] for position in kernel.mapping)
    body, guard = kernel.body, None
    first = body[0] if len(body) == 1 else None
    if isinstance(first, tree.If) and not first.otherwise:
        body, guard = first.then, first.condition
    loops = [one for one in body if isinstance(one, tree.Loop)]
    nested = [one for one in tree.walk(kernel.body) if isinstance(one, tree.Loop)]
    if len(loops) != 1 or len(nested) != 1:
        return None
    (loop,) = loops
    form, found = counted(loop), _sum(loop.body)
    if form is None or found is None or form.step != 1 or form.is_descending:
        return None
    test, target, term = found
    own = {form.variable}
    declared = any(isinstance(one, tree.Declare) for one in tree.walk(loop.body))
    if declared or assigned_in(kernel.body) - own:
        return None
    of_axes = {
        symbol: axis for axis in (rows, columns) for symbol in (axis.variable, *axis.aliases)
    }
    outside = (form.low, form.high, *(one for one in (test, guard) if one is not None))
    unknown = {*of_axes, *plan.device_scalars}
    if symbols_in((form.low, form.high)) & unknown or form.variable in symbols_in(target):
        return None
    if any(form.variable in symbols_in(one) for one in outside) or arrays_in(
        outside, written=False
    ):
        return None
    written = arrays_in(kernel.body, written=True)
    if arrays_in(term, written=False) & written:
        return None
    parts = _Parts(of_axes, rows, columns, form.variable)
    rest = parts.replaced(term)
    if not parts.is_product or symbols_in(rest) & {*of_axes, form.variable}:
        return None
    position = body.index(loop)
    before, after = body[:position], body[position + 1 :]
    ends = (before, after, parts.of_row, parts.of_column)
    return Contraction(rows, columns, form, target, rest, guard, test, *ends)


def _sum(body: Block) -> tuple[Expression | None, Element, Expression] | None:
    """Return the test, the target and the term of `if (test) target += term`."""
    if len(body) != 1:
        return None
    (one,) = body
    test = None
    if isinstance(one, tree.If) and not one.otherwise and len(one.then) == 1:
        test, (one,) = one.condition, one.then
    if not isinstance(one, tree.Assign) or not isinstance(one.target, Element):
        return None
    value = one.value
    if not isinstance(value, tree.Binary) or value.operator != "+" or value.type != one.target.type:
        return None
    if not isinstance(value.left, tree.Read) or value.left.location != one.target:
        return None
    return test, one.target, value.right


class _Parts:
    """The largest parts of a term that name rows or columns alone, and elements of arrays."""

    def __init__(
        self, of_axes: dict[Symbol, Axis], rows: Axis, columns: Axis, variable: Symbol
    ) -> None:
        self._of_axes, self._rows, self._columns, self._variable = of_axes, rows, columns, variable
        self.of_row: dict[Symbol, Expression] = {}
        self.of_column: dict[Symbol, Expression] = {}

    @property
    def is_product(self) -> bool:
        """Whether there are one or two parts of rows, and of columns, that change with the sum."""
        sides = [list(one.values()) for one in (self.of_row, self.of_column)]
        changing = all(self._variable in symbols_in(one) for side in sides for one in side)
        return changing and all(0 < len(side) <= 2 for side in sides)

    def replaced(self, node: Any) -> Any:
        """Return a part of a term with variables in place of the largest parts."""
        if isinstance(node, Expression):
            used = {self._of_axes[one] for one in symbols_in(node) if one in self._of_axes}
            if len(used) < 2 and any(isinstance(one, Element) for one in tree.walk(node)):
                return read(self._variable_of(node, self._rows in used))
        if isinstance(node, tuple):
            return tuple(map(self.replaced, node))
        if not isinstance(node, Expression):
            return node
        names = [one.name for one in fields(node) if one.name not in ("type", "place")]
        return replace(node, **{name: self.replaced(getattr(node, name)) for name in names})

    def _variable_of(self, part: Expression, is_row: bool) -> Symbol:
        known, name = (self.of_row, "row") if is_row else (self.of_column, "column")
        for symbol, other in known.items():
            if other == part:
                return symbol
        made = tree.Symbol(f"{name}{len(known)}_", part.type)
        known[made] = part
        return made


def lines(kernel: Kernel, sums: Contraction, signature: str, printer: Printer) -> list[str]:
    """Return the kernel as text, under its name with `_tiled`."""
    return _Text(kernel, sums, printer).lines(signature)


class _Text:
    """The text of a kernel on its way."""

    def __init__(self, kernel: Kernel, sums: Contraction, printer: Printer) -> None:
        self._name, self._sums, self._printer = kernel.name, sums, printer
        self._i, self._j, self._k = (
            printer.name(one.variable) for one in (sums.rows, sums.columns, sums.loop)
        )
        self._whole = type_name(sums.rows.variable.type)
        self._high_i, self._high_j, self._high_k = (
            printer.operand(one.high) for one in (sums.rows, sums.columns, sums.loop)
        )
        tall, wide = sums.tile
        self._operands = [
            *((one, value, "rows", tall) for one, value in sums.of_row.items()),
            *((one, value, "columns", wide) for one, value in sums.of_column.items()),
        ]
        self._depth = sums.depth

    def lines(self, signature: str) -> list[str]:
        sums, printer, whole = self._sums, self._printer, self._whole
        (tall, wide), (m, n) = sums.tile, sums.per_thread
        inside = f"{self._i} < {self._high_i} && {self._j} < {self._high_j}"
        if sums.guard is not None:
            inside += f" && ({printer.expression(sums.guard)})"
        active = inside if sums.test is None else f"{inside} && ({printer.expression(sums.test)})"
        bounds = f"{THREADS}, {256 // THREADS}"
        lines = [f"// The same by tiles of {tall} rows and {wide} columns."]
        lines.append(f'extern "C" __global__ void __launch_bounds__({bounds})')
        lines.append(f"{self._name}_tiled({signature}) {{")
        for symbol, _, name, size in self._operands:
            kind, own = type_name(symbol.type), f"{name}{symbol.name[-2:]}"
            shape = f"[{self._depth}][{size + PAD}]"
            lines.append(f"  __shared__ __align__(16) {kind} {own}{shape};")
            lines.append(f"  {kind} next_{own}[{size * self._depth // THREADS}];")
        low_i, low_j = printer.operand(sums.rows.low), printer.operand(sums.columns.low)
        lines.append(f"  const int x_ = threadIdx.x % {_COLUMNS}, y_ = threadIdx.x / {_COLUMNS};")
        lines.append(f"  const {whole} first_i_ = {low_i} + ({whole})blockIdx.y * {tall};")
        lines.append(f"  const {whole} first_j_ = {low_j} + ({whole})blockIdx.x * {wide};")
        lines.append(f"  {type_name(sums.target.type)} sum_[{m}][{n}];")
        lines.append("  bool any_ = false;")
        each = [
            "#pragma unroll",
            f"  for (int m_ = 0; m_ < {m}; m_++) {{",
            "#pragma unroll",
            f"    for (int n_ = 0; n_ < {n}; n_++) {{",
            f"      const {whole} {self._i} = first_i_ + {_at('y_', 'm_', _ROWS)};",
            f"      const {whole} {self._j} = first_j_ + {_at('x_', 'n_', _COLUMNS)};",
        ]
        target = printer.location(sums.target)
        lines += each
        if sums.before:
            lines += [f"      if ({inside}) {{", *printer.block(sums.before, 4), "      }"]
        lines += ["      sum_[m_][n_] = 0;", f"      if ({active}) {{"]
        lines += [f"        sum_[m_][n_] = {target};", "        any_ = true;"]
        lines += ["      }", "    }", "  }"]
        is_partial = sums.test is not None or sums.guard is not None
        if is_partial and (sums.test is None or not sums.after):
            lines.append("  if (!__syncthreads_or(any_)) return;")
        lines += self._loop()
        lines += [*each, f"      if ({active}) {target} = sum_[m_][n_];"]
        if sums.after:
            lines += [f"      if ({inside}) {{", *printer.block(sums.after, 4), "      }"]
        return [*lines, "    }", "  }", "}"]

    def _loop(self) -> list[str]:
        """Return the loop over parts of it: add one up while the next is loaded."""
        low, high, whole = self._printer.operand(self._sums.loop.low), self._high_k, self._whole
        depth = self._depth
        lines = [f"  if ({low} < {high}) {{"]
        lines += [*self._loaded(low, 2), *self._stored(2), "  }", "  __syncthreads();"]
        lines.append(f"  for ({whole} first_k_ = {low}; first_k_ < {high}; first_k_ += {depth}) {{")
        lines.append(f"    const bool more_ = {high} - first_k_ > {depth};")
        lines.append(f"    if ({high} - first_k_ >= {depth}) {{")
        lines += ["#pragma unroll", f"      for (int k_ = 0; k_ < {depth}; k_++) {{"]
        lines += [*self._loaded(f"first_k_ + {depth}", 4, is_part=True), *self._added()]
        lines += ["      }", "    } else {"]
        lines.append(f"      for (int k_ = 0; k_ < {high} - first_k_; k_++) {{")
        lines += [*self._added(), "      }", "    }"]
        lines += ["    __syncthreads();", "    if (more_) {", *self._stored(3), "    }"]
        return [*lines, "    __syncthreads();", "  }"]

    def _loaded(self, first_k: str, depth: int, *, is_part: bool = False) -> list[str]:
        """Return the lines that load a part of every operand into registers.

        A part of that is loaded while the terms of `k_` are added: an equal share for each.

        Threads that follow each other load what follows in memory: values of k if the last
        subscript has it, else rows or columns. Beyond the last row, column or k the last one is
        loaded again: what is computed of it is not kept.
        """
        pad, whole = "  " * depth, self._whole
        lines = []
        for symbol, value, name, size in self._operands:
            place = f"(threadIdx.x + at_ * {THREADS}) {{}} {self._line(value, size)}"
            at, deep = place.format("%"), place.format("/")
            if self._is_by_k(value):
                at, deep = deep, at
            own = f"{name}{symbol.name[-2:]}"
            is_row = name == "rows"
            axis, first = (self._i, "first_i_") if is_row else (self._j, "first_j_")
            high = self._high_i if is_row else self._high_j
            n_loads = size * self._depth // THREADS
            first_at, last_at = "0", str(n_loads)
            if is_part:
                share = f"* {n_loads} / {self._depth}"
                first_at, last_at = f"k_ {share}", f"(k_ + 1) {share}"
            lines += ["#pragma unroll"]
            lines.append(f"{pad}for (int at_ = {first_at}; at_ < {last_at}; at_++) {{")
            for variable, start, offset, end in (
                (axis, first, at, high),
                (self._k, first_k, deep, self._high_k),
            ):
                plain = f"{start} + ({whole})({offset})"
                lines.append(f"{pad}  {whole} {variable} = {plain};")
                lines.append(f"{pad}  if ({variable} >= {end}) {variable} = {end} - 1;")
            lines.append(f"{pad}  next_{own}[at_] = {self._printer.expression(value)};")
            lines.append(f"{pad}}}")
        return lines

    def _line(self, value: Expression, size: int) -> int:
        """Return how many threads load what follows in memory."""
        return self._depth if self._is_by_k(value) else size

    def _is_by_k(self, value: Expression) -> bool:
        variable = self._sums.loop.variable
        reads = [one.location for one in tree.walk(value) if isinstance(one, tree.Read)]
        elements = [one for one in reads if isinstance(one, Element)]
        return any(variable in symbols_in(flattened(one)[1][-1][0]) for one in elements)

    def _stored(self, depth: int) -> list[str]:
        """Return the lines that store what was loaded in shared memory."""
        pad = "  " * depth
        lines = []
        for symbol, value, name, size in self._operands:
            place = f"(threadIdx.x + at_ * {THREADS}) {{}} {self._line(value, size)}"
            at, deep = place.format("%"), place.format("/")
            if self._is_by_k(value):
                at, deep = deep, at
            own = f"{name}{symbol.name[-2:]}"
            lines += ["#pragma unroll"]
            lines.append(
                f"{pad}for (int at_ = 0; at_ < {size * self._depth // THREADS}; at_++)"
                f" {own}[{deep}][{at}] = next_{own}[at_];"
            )
        return lines

    def _added(self) -> list[str]:
        """Return the lines that add the terms of one k to a thread's sums."""
        m, n = self._sums.per_thread
        lines, values = [], {}
        for symbol, _, name, _ in self._operands:
            is_row = name == "rows"
            count, letter, thread = (m, "m_", "y_") if is_row else (n, "n_", "x_")
            apart = _ROWS if is_row else _COLUMNS
            lines.append(f"        {type_name(symbol.type)} {symbol.name}[{count}];")
            lines.append("#pragma unroll")
            own = f"{name}{symbol.name[-2:]}[k_][{_at(thread, letter, apart)}]"
            lines.append(
                f"        for (int {letter} = 0; {letter} < {count}; {letter}++)"
                f" {symbol.name}[{letter}] = {own};"
            )
            values[symbol] = f"{symbol.name}[{letter}]"
        names = {**self._printer.names, **values}
        term = Printer(self._printer.pointed, names).expression(self._sums.term)
        lines += ["#pragma unroll", f"        for (int m_ = 0; m_ < {m}; m_++)", "#pragma unroll"]
        lines.append(f"          for (int n_ = 0; n_ < {n}; n_++) sum_[m_][n_] += {term};")
        return lines


def _at(thread: str, letter: str, n_threads: int) -> str:
    """Return a thread's rows or columns: pairs of neighbours, those of other threads between."""
    return f"{thread} * 2 + {letter} % 2 + {letter} / 2 * {2 * n_threads}"


def depth_of(sums: Contraction) -> Expression:
    """Return how many terms each sum has."""
    return binary("-", sums.loop.high, sums.loop.low)
