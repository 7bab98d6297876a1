"""The loop of a thread over its points: every so many of all points of some axes.

    for (unsigned digit0_ = first; digit0_ < size0_; digit0_ += stride) {
      const int i = low + (int)digit0_;
      ...
    }

Of several axes, points are numbered with the first axis of the list counting fastest. A thread has
the digits of its point's number, and adds those of the stride: no point needs a division.

    digit 0 is of the first axis, below its count size0: number = digit0 + size0 * (digit1 + ...)

A count is below 2^31 if the variable has 32 bits, and a stride is: what is added to a digit below
its count, and a carry, is below 2^32. Of variables of 64 bits, so are the digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kleene.codegen.plan import Axis
from kleene.codegen.text import Printer, type_name


def point_loop(
    printer: Printer,
    axes: Sequence[Axis],
    first: str,
    stride: str,
    body: Callable[[int], Sequence[str]],
    depth: int,
    point: str = "",
) -> list[str]:
    """Return the loop as text.

    Args:
        printer: of expressions and names.
        axes: the first counts fastest.
        first: the number of the thread's first point.
        stride: from each of its points to the next.
        body: what it does with each, as lines of an indentation.
        depth: of the indentation.
        point: a variable of the body that is to have the point's number.
    """
    whole = "unsigned long long" if any(one.variable.type.bits > 32 for one in axes) else "unsigned"
    pad, last = "  " * depth, len(axes) - 1
    lines = []
    for n, one in enumerate(axes):
        lines.append(f"{pad}const {whole} size{n}_ = {_count(printer, one, whole)};")
    indices = [_index(printer, one, f"digit{n}_") for n, one in enumerate(axes)]
    if last == 0:
        indices += [f"const long long {point} = digit0_;"] if point else []
        head = f"for ({whole} digit0_ = {first}; digit0_ < size0_; digit0_ += {stride}) {{"
        lines += [pad + head, *(f"{pad}  {one}" for one in indices)]
        return [*lines, *body(depth + 1), f"{pad}}}"]
    lines.append(f"{pad}if ({' && '.join(f'size{n}_' for n in range(len(axes)))}) {{")
    for name, start in ((f"{whole} digit", first), (f"const {whole} by", stride)):
        rest = f"({whole})({start})"
        for n in range(last):
            lines.append(f"{pad}  {name}{n}_ = {rest} % size{n}_;")
            rest = f"{rest} / size{n}_"
        lines.append(f"{pad}  {name}{last}_ = {rest};")
    if point:
        lines.append(f"{pad}  long long {point} = {first};")
    lines.append(f"{pad}  while (digit{last}_ < size{last}_) {{")
    lines += [*(f"{pad}    {one}" for one in indices), *body(depth + 2)]
    if point:
        lines.append(f"{pad}    {point} += {stride};")
    for n in range(last):
        carried = f"digit{n}_ -= size{n}_, digit{n + 1}_++"
        lines.append(f"{pad}    if ((digit{n}_ += by{n}_) >= size{n}_) {carried};")
    return [*lines, f"{pad}    digit{last}_ += by{last}_;", f"{pad}  }}", f"{pad}}}"]


def indices_at(printer: Printer, axes: Sequence[Axis], point: str) -> list[str]:
    """Return the declarations of the axes' variables for the point of a number."""
    lines, rest = [], f"(unsigned long long){point}"
    for n, one in enumerate(axes):
        size = f"({_count(printer, one, 'unsigned long long')})"
        digit = rest if n == len(axes) - 1 else f"{rest} % {size}"
        lines.append(_index(printer, one, f"({digit})"))
        rest = f"{rest} / {size}"
    return lines


def _index(printer: Printer, axis: Axis, at: str) -> str:
    kind = type_name(axis.variable.type)
    by = "" if axis.step == 1 else f"{axis.step} * "
    low = printer.expression(axis.low)
    base = "" if low == "0" else f"{low} + " if low.isidentifier() else f"({low}) + "
    return f"const {kind} {printer.name(axis.variable)} = {base}{by}({kind}){at};"


def _count(printer: Printer, axis: Axis, whole: str) -> str:
    low, high = printer.expression(axis.low), printer.expression(axis.high)
    count = f"({whole})({high})" if low == "0" else f"({whole})({high}) - ({whole})({low})"
    if axis.step != 1:
        count = f"({count} + {axis.step - 1}) / {axis.step}"
    return f"({high}) > ({low}) ? {count} : 0"
