"""The kernels of a plan as CUDA C++.

    extern "C" __global__ void gemm_i_j(int ni, int nj, ..., double *__restrict__ c) {
      const int j = blockIdx.x * blockDim.x + threadIdx.x;
      const int i = blockIdx.y * blockDim.y + threadIdx.y;
      if (i >= ni || j >= nj) return;
      ...
    }

Scalars of the host are passed by value, those of the device as pointers to one element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from kleene.codegen import contractions, rows
from kleene.codegen.plan import Axis, Kernel, Plan, Reduction
from kleene.codegen.text import Printer, arrays_in, safe, symbols_in, type_name
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Symbol

REDUCTION_THREADS = 256
OPERATORS = {
    "+": ("reduce_sum", "a + b"),
    "*": ("reduce_product", "a * b"),
    "&": ("reduce_conjunction", "a & b"),
    "|": ("reduce_disjunction", "a | b"),
    "^": ("reduce_parity", "a ^ b"),
    "min": ("reduce_least", "b < a ? b : a"),
    "max": ("reduce_greatest", "a < b ? b : a"),
}
_IN_BLOCK = """
// Combine the values of all threads of a block; the result is the first thread's.
template <class T, class F> __device__ T in_block(T value, T neutral, F combine) {
  __shared__ T of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int by = 16; by; by /= 2) value = combine(value, __shfl_down_sync(0xffffffffu, value, by));
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? of_warp[lane] : neutral;
  for (int by = 16; by; by /= 2) value = combine(value, __shfl_down_sync(0xffffffffu, value, by));
  return value;
}
"""


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument of a kernel."""

    symbol: Symbol
    kind: OneOf["array", "host", "device"]
    is_written: bool = False


def arguments(plan: Plan, kernel: Kernel | Reduction) -> list[Passed]:
    """Return what a kernel is given, in order: scalars of the host, of the device, arrays."""
    parts = _parts(kernel)
    used = symbols_in(parts)
    written = arrays_in(parts, written=True)
    own = {one.symbol for one in tree.walk(parts) if isinstance(one, tree.Declare)}
    own |= set(kernel.private)
    axes = kernel.axes if isinstance(kernel, Kernel) else (kernel.axis,)
    own |= {symbol for axis in axes for symbol in (axis.variable, *axis.aliases)}
    if isinstance(kernel, Reduction):
        own.add(kernel.accumulator)
        if isinstance(kernel.target, tree.Element):
            written |= arrays_in((tree.Assign(tree.NOWHERE, kernel.target, _ZERO),), written=True)
    device = set(plan.device_scalars)
    found: list[Passed] = []
    for symbol in sorted(used - own, key=lambda one: (one.name, one.place.line)):
        if symbol.name in plan.arrays or symbol.name in plan.snapshots:
            found.append(Passed(symbol, "array", symbol in written))
        elif symbol in device:
            found.append(Passed(symbol, "device"))
        else:
            found.append(Passed(symbol, "host"))
    order = {"host": 0, "device": 1, "array": 2}
    return sorted(found, key=lambda one: order[one.kind])


_ZERO = tree.Literal(tree.Type("int", "int", 32), tree.NOWHERE, 0)


def _parts(kernel: Kernel | Reduction) -> tuple[object, ...]:
    if isinstance(kernel, Kernel):
        bounds = [bound for axis in kernel.axes for bound in (axis.low, axis.high)]
        return (*kernel.body, *bounds)
    bounds = [kernel.axis.low, kernel.axis.high]
    ends = (*kernel.before, *kernel.after)
    target = tree.Read(kernel.target.type, tree.NOWHERE, kernel.target)
    return (*kernel.body, *bounds, *ends, target)


def source(plans: Sequence[Plan]) -> str:
    """Return the kernels of plans as one file."""
    kernels = [one for plan in plans for one in plan.kernels()]
    lines = []
    for operator in sorted({one.operator for one in kernels if isinstance(one, Reduction)}):
        name, text = OPERATORS[operator]
        inside = f"template <class T> __device__ T operator()(T a, T b) const {{ return {text}; }}"
        lines += [f"struct {name} {{", f"  {inside}", "};"]
    if lines:
        lines += _IN_BLOCK.strip("\n").split("\n")
    for plan in plans:
        lines += ["", f"// {plan.function} of {_file_name(plan.file)}, generated."]
        for one in plan.kernels():
            lines += _kernel(plan, one) if isinstance(one, Kernel) else _reduction(plan, one)
            lines.append("")
    return "\n".join(lines).strip("\n") + "\n"


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _printer(passed: list[Passed], axes: tuple[Axis, ...]) -> Printer:
    names = {alias: safe(axis.variable.name) for axis in axes for alias in axis.aliases}
    return Printer(frozenset(one.symbol for one in passed if one.kind == "device"), names)


def _signature(plan: Plan, passed: list[Passed], more: list[str]) -> str:
    texts = []
    for one in passed:
        name = one.symbol.name
        if one.kind == "array":
            array = plan.arrays[plan.snapshots.get(name, name)]
            const = "" if one.is_written else "const "
            texts.append(f"{const}{type_name(array.element)} *__restrict__ {safe(name)}")
        elif one.kind == "device":
            texts.append(f"{type_name(one.symbol.type)} *{safe(name)}")
        else:
            texts.append(f"{type_name(one.symbol.type)} {safe(name)}")
    return ", ".join([*texts, *more])


def _index(printer: Printer, axis: Axis, letter: str) -> str:
    """Return the declaration of an axis's variable: `low + step * thread`."""
    kind = type_name(axis.variable.type)
    thread = f"blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter}"
    text = f"({kind})({thread})"
    if axis.step != 1:
        text = f"{axis.step} * {text}"
    if not (isinstance(axis.low, tree.Literal) and axis.low.value == 0):
        text = f"{_sum(printer, axis.low)} + {text}"
    return f"const {kind} {safe(axis.variable.name)} = {text};"


def _sum(printer: Printer, value: tree.Expression) -> str:
    text = printer.expression(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _kernel(plan: Plan, kernel: Kernel) -> list[str]:
    passed = arguments(plan, kernel)
    printer = _printer(passed, kernel.axes)
    lines = [f"// Line {kernel.line}."]
    lines.append(f'extern "C" __global__ void {kernel.name}({_signature(plan, passed, [])}) {{')
    for letter, position in zip("xyz", kernel.mapping, strict=False):
        lines.append("  " + _index(printer, kernel.axes[position], letter))
    tests = [f"{safe(axis.variable.name)} >= {_sum(printer, axis.high)}" for axis in kernel.axes]
    if tests:
        lines.append(f"  if ({' || '.join(tests)}) return;")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    lines += [*printer.block(kernel.body, 1), "}"]
    signature = _signature(plan, passed, [])
    sums, along = contractions.contraction_of(plan, kernel), rows.row_sums_of(plan, kernel)
    if sums is not None:
        lines += ["", *contractions.lines(kernel, sums, signature, printer)]
    if along is not None:
        lines += ["", *rows.lines(kernel, along, signature, printer)]
    return lines


def _reduction(plan: Plan, kernel: Reduction) -> list[str]:
    """Return the kernel whose blocks leave partial results, and the one that combines them."""
    passed = arguments(plan, kernel)
    printer = _printer(passed, (kernel.axis,))
    kind = type_name(kernel.target.type)
    functor, _ = OPERATORS[kernel.operator]
    own = kernel.accumulator.name
    neutral = neutral_text(kernel.operator, kernel.target.type)
    axis, variable = kernel.axis, safe(kernel.axis.variable.name)
    whole = type_name(axis.variable.type)
    lines = [f"// Line {kernel.line}: {kernel.operator} of all iterations."]
    signature = _signature(plan, passed, [f"{kind} *partial_"])
    lines.append(f'extern "C" __global__ void {kernel.name}({signature}) {{')
    lines.append(f"  {kind} {own} = {neutral};")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    thread = f"({whole})(blockIdx.x * blockDim.x + threadIdx.x)"
    low, high = _sum(printer, axis.low), _sum(printer, axis.high)
    by = "" if axis.step == 1 else f"{axis.step} * "
    stride = f"{by}({whole})(gridDim.x * blockDim.x)"
    head = f"{whole} {variable} = {low} + {by}{thread}; {variable} < {high}; {variable} += {stride}"
    lines += [f"  for ({head}) {{", *printer.block(kernel.body, 2), "  }"]
    lines.append(f"  {own} = in_block({own}, ({kind}){neutral}, {functor}());")
    lines.append("  if (threadIdx.x > 0) return;")
    lines += ["  if (gridDim.x > 1) {", f"    partial_[blockIdx.x] = {own};", "    return;", "  }"]
    end = _end(printer, kernel, functor)
    lines += [*end, "}", ""]
    more = [f"const {kind} *partial_", "int n_partial_"]
    signature = _signature(plan, passed, more)
    lines.append(f'extern "C" __global__ void {kernel.name}_total({signature}) {{')
    lines.append(f"  {kind} {own} = {neutral};")
    lines.append("  for (int block_ = threadIdx.x; block_ < n_partial_; block_ += blockDim.x) {")
    lines += [f"    {own} = {functor}()({own}, partial_[block_]);", "  }"]
    lines.append(f"  {own} = in_block({own}, ({kind}){neutral}, {functor}());")
    return [*lines, "  if (threadIdx.x > 0) return;", *end, "}"]


def _end(printer: Printer, kernel: Reduction, functor: str) -> list[str]:
    target = printer.location(kernel.target)
    combined = f"{functor}()({target}, {kernel.accumulator.name})"
    lines = printer.block(kernel.before, 1)
    return [*lines, f"  {target} = {combined};", *printer.block(kernel.after, 1)]


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
