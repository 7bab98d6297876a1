"""Kernels whose threads sum products along a loop, by tiles in shared memory and registers.

    c[i][j] += alpha * a[i][k] * b[k][j]         for every k, in a thread of (i, j)

A block of 256 threads computes a tile of c, each thread several elements of it in registers. For 16
values of k at a time, the block brings what the sums read of each row i and of each column j into
shared memory. Every element's terms are added in the order of the text, so that results are those
of the plain kernel, bit by bit, unless the compiler contracts operations otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.codegen.plan import Axis, Kernel, Plan
from kleene.codegen.text import (
    Printer,
    arrays_in,
    assigned_in,
    flattened,
    safe,
    symbols_in,
    type_name,
)
from kleene.codegen.trees import Counted, binary, counted, mapped, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Symbol

DEPTH = 16  # values of k in shared memory
_THREADS = 16  # in each direction
LEAST = 64  # rows, and columns, from which on tiles are used


@dataclass(frozen=True, slots=True)
class Contraction:
    """A kernel as sums: what is done before and after, and the term that is added."""

    rows: Axis
    columns: Axis
    loop: Counted
    target: Element
    term: Expression
    guard: Expression | None  # on the row and the column: whether anything is done
    test: Expression | None  # likewise, whether there is a sum
    before: Block
    after: Block
    of_row: tuple[Element, ...]
    of_column: tuple[Element, ...]

    @property
    def per_thread(self) -> tuple[int, int]:
        """The rows and columns of a thread: fewer if the sums read more of each."""
        return (8, 4) if len(self.of_row) == len(self.of_column) == 1 else (4, 4)

    @property
    def tile(self) -> tuple[int, int]:
        """The rows and columns of a block."""
        return self.per_thread[0] * _THREADS, self.per_thread[1] * _THREADS


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
    operands = _operands(term, form.variable, of_axes, rows, columns)
    written = arrays_in(kernel.body, written=True)
    if operands is None or arrays_in(term, written=False) & written:
        return None
    position = body.index(loop)
    before, after = body[:position], body[position + 1 :]
    return Contraction(rows, columns, form, target, term, guard, test, before, after, *operands)


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


def _operands(
    term: Expression,
    variable: Symbol,
    of_axes: dict[Symbol, Axis],
    rows: Axis,
    columns: Axis,
) -> tuple[tuple[Element, ...], tuple[Element, ...]] | None:
    """Return what a term reads of each row, and of each column; None if it reads of both."""
    of_row: dict[Element, None] = {}
    of_column: dict[Element, None] = {}
    for one in tree.walk(term):
        if not isinstance(one, tree.Read) or not isinstance(one.location, Element):
            continue
        used = {of_axes[symbol] for symbol in symbols_in(one.location) if symbol in of_axes}
        if variable not in symbols_in(one.location) or len(used) > 1:
            return None
        (of_row if rows in used else of_column)[one.location] = None
    is_whole = of_row and of_column and len(of_row) <= 2 and len(of_column) <= 2
    return (tuple(of_row), tuple(of_column)) if is_whole else None


def lines(kernel: Kernel, sums: Contraction, signature: str, printer: Printer) -> list[str]:
    """Return the kernel as text, under its name with `_tiled`."""
    (tall, wide), (m, n) = sums.tile, sums.per_thread
    i, j, k = (safe(one.variable.name) for one in (sums.rows, sums.columns, sums.loop))
    kind = type_name(sums.target.type)
    whole = type_name(sums.rows.variable.type)
    low_i, low_j = _text(printer, sums.rows.low), _text(printer, sums.columns.low)
    high_i, high_j = _text(printer, sums.rows.high), _text(printer, sums.columns.high)
    low_k, high_k = _text(printer, sums.loop.low), _text(printer, sums.loop.high)
    inside = f"{i} < {high_i} && {j} < {high_j}"
    if sums.guard is not None:
        inside += f" && ({printer.expression(sums.guard)})"
    active = inside if sums.test is None else f"{inside} && ({printer.expression(sums.test)})"
    lines = [f"// The same by tiles of {tall} rows and {wide} columns."]
    lines.append(
        f'extern "C" __global__ void __launch_bounds__(256) {kernel.name}_tiled({signature}) {{'
    )
    for number, one in enumerate(sums.of_row):
        lines.append(f"  __shared__ {_kind(one)} rows{number}_[{DEPTH}][{tall} + 1];")
    for number, one in enumerate(sums.of_column):
        lines.append(f"  __shared__ {_kind(one)} columns{number}_[{DEPTH}][{wide} + 1];")
    lines.append(f"  const int x_ = threadIdx.x % {_THREADS}, y_ = threadIdx.x / {_THREADS};")
    lines.append(f"  const {whole} first_i_ = {low_i} + ({whole})blockIdx.y * {tall};")
    lines.append(f"  const {whole} first_j_ = {low_j} + ({whole})blockIdx.x * {wide};")
    lines.append(f"  {kind} sum_[{m}][{n}];")
    lines.append("  bool any_ = false;")
    each = [
        "#pragma unroll",
        f"  for (int m_ = 0; m_ < {m}; m_++) {{",
        "#pragma unroll",
        f"    for (int n_ = 0; n_ < {n}; n_++) {{",
        f"      const {whole} {i} = first_i_ + y_ + m_ * {_THREADS};",
        f"      const {whole} {j} = first_j_ + x_ + n_ * {_THREADS};",
    ]
    target = printer.location(sums.target)
    lines += each
    if sums.before:
        lines += [f"      if ({inside}) {{", *printer.block(sums.before, 4), "      }"]
    lines.append("      sum_[m_][n_] = 0;")
    lines.append(f"      if ({active}) {{")
    lines += [
        f"        sum_[m_][n_] = {target};",
        "        any_ = true;",
        "      }",
        "    }",
        "  }",
    ]
    is_partial = sums.test is not None or sums.guard is not None
    if is_partial and (sums.test is None or not sums.after):
        lines.append("  if (!__syncthreads_or(any_)) return;")
    lines.append(f"  for ({whole} first_k_ = {low_k}; first_k_ < {high_k}; first_k_ += {DEPTH}) {{")
    for number, one in enumerate(sums.of_row):
        place = ("rows", i, "first_i_", high_i, tall)
        lines += _brought(printer, one, number, place, k, high_k, sums.loop.variable, whole)
    for number, one in enumerate(sums.of_column):
        place = ("columns", j, "first_j_", high_j, wide)
        lines += _brought(printer, one, number, place, k, high_k, sums.loop.variable, whole)
    lines.append("    __syncthreads();")
    lines.append(f"    if ({high_k} - first_k_ >= {DEPTH}) {{")
    lines += ["#pragma unroll 4", f"      for (int k_ = 0; k_ < {DEPTH}; k_++) {{"]
    added = _added(sums, printer, kind)
    lines += [*added, "      }", "    } else {"]
    lines.append(f"      for (int k_ = 0; k_ < {high_k} - first_k_; k_++) {{")
    lines += [*added, "      }", "    }", "    __syncthreads();", "  }"]
    lines += each
    lines += [f"      if ({active}) {target} = sum_[m_][n_];"]
    if sums.after:
        lines += [f"      if ({inside}) {{", *printer.block(sums.after, 4), "      }"]
    return [*lines, "    }", "  }", "}"]


def _text(printer: Printer, value: Expression) -> str:
    text = printer.expression(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _kind(one: Element) -> str:
    return type_name(one.type)


def _brought(
    printer: Printer,
    one: Element,
    number: int,
    place: tuple[str, str, str, str, int],
    k: str,
    high_k: str,
    variable: Symbol,
    whole: str,
) -> list[str]:
    """Return the lines that bring a part of an operand into shared memory.

    Threads that follow each other bring what follows in memory: values of k if the last subscript
    has it, else rows or columns.
    """
    name, axis, first, high, size = place
    _, terms = flattened(one)
    by_k = variable in symbols_in(terms[-1][0])
    at, deep = ("at_ / 16", "at_ % 16") if by_k else (f"at_ % {size}", f"at_ / {size}")
    return [
        f"    for (int at_ = threadIdx.x; at_ < {size * DEPTH}; at_ += 256) {{",
        f"      const {whole} {axis} = {first} + {at}, {k} = first_k_ + {deep};",
        f"      {name}{number}_[{deep}][{at}] ="
        f" {axis} < {high} && {k} < {high_k} ? {printer.location(one)} : 0;",
        "    }",
    ]


def _added(sums: Contraction, printer: Printer, kind: str) -> list[str]:
    """Return the lines that add the terms of one k to a thread's sums."""
    m, n = sums.per_thread
    lines = []
    values: dict[Element, str] = {}
    for name, operands, count, letter, step in (
        ("rows", sums.of_row, m, "m_", "y_"),
        ("columns", sums.of_column, n, "n_", "x_"),
    ):
        for number, one in enumerate(operands):
            own = f"{name[:-1]}{number}_"
            lines.append(f"        {_kind(one)} {own}[{count}];")
            lines.append("#pragma unroll")
            lines.append(
                f"        for (int {letter} = 0; {letter} < {count}; {letter}++)"
                f" {own}[{letter}] = {name}{number}_[k_][{step} + {letter} * {_THREADS}];"
            )
            values[one] = f"{own}[{letter}]"
    symbols = {one: tree.Symbol(text, one.type) for one, text in values.items()}

    def change(node: object) -> object:
        if isinstance(node, tree.Read) and node.location in symbols:
            return read(symbols[node.location])
        return node

    term = printer.expression(mapped(sums.term, change))
    lines += ["#pragma unroll", f"        for (int m_ = 0; m_ < {m}; m_++)", "#pragma unroll"]
    lines.append(f"          for (int n_ = 0; n_ < {n}; n_++) sum_[m_][n_] += {term};")
    return lines


def depth_of(sums: Contraction) -> Expression:
    """Return how many terms each sum has."""
    return binary("-", sums.loop.high, sums.loop.low)
