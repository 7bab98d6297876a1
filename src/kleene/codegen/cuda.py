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

from kleene.codegen import contractions, resident, rows
from kleene.codegen.arguments import (
    OPERATORS,
    Passed,
    arguments,
    axis_names,
    neutral_text,
    signature,
)
from kleene.codegen.plan import Axis, Kernel, Plan, Reduction, Scan
from kleene.codegen.text import Printer, type_name
from kleene.ir.loops import tree

REDUCTION_THREADS = 256
_SCAN = """
// Combine the values of the threads of a block before each one, and of all of them.
template <class T, class F> __device__ T so_far(T value, T neutral, T &total, F combine) {
  __shared__ T of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int by = 1; by < 32; by *= 2) {
    const T other = __shfl_up_sync(0xffffffffu, value, by);
    if (lane >= by) value = combine(other, value);
  }
  T before = __shfl_up_sync(0xffffffffu, value, 1);
  if (lane == 0) before = neutral;
  if (lane == 31) of_warp[warp] = value;
  __syncthreads();
  total = neutral;
  for (int w = 0; w < (int)(blockDim.x / 32); w++) {
    if (w == warp) before = combine(total, before);
    total = combine(total, of_warp[w]);
  }
  __syncthreads();
  return before;
}
"""
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


def source(plans: Sequence[Plan]) -> str:
    """Return the kernels of plans as one file."""
    kernels = [one for plan in plans for one in plan.kernels()]
    lines = []
    reductions = [one for one in kernels if isinstance(one, Reduction)]
    operators = {one.operator for one in reductions}
    operators |= {one.operator for plan in plans for one in plan.scans()}
    for operator in sorted(operators):
        name, text = OPERATORS[operator]
        inside = f"template <class T> __device__ T operator()(T a, T b) const {{ return {text}; }}"
        lines += [f"struct {name} {{", f"  {inside}", "};"]
    if lines:
        lines += _IN_BLOCK.strip("\n").split("\n")
    if any(True for plan in plans for _ in plan.scans()):
        lines += _SCAN.strip("\n").split("\n")
    loops = {plan.function: resident.loops_of(plan) for plan in plans}
    if any(loops.values()):
        lines += resident.BARRIER.strip("\n").split("\n")
    for plan in plans:
        lines += ["", f"// {plan.function} of {_file_name(plan.file)}, generated."]
        for one in plan.kernels():
            lines += _kernel(plan, one) if isinstance(one, Kernel) else _reduction(plan, one)
            lines.append("")
        for scan in plan.scans():
            lines += [*_scan(plan, scan), ""]
        for loop in loops[plan.function]:
            lines += [*resident.lines(plan, loop), ""]
    return "\n".join(lines).strip("\n") + "\n"


def _scan(plan: Plan, kernel: Scan) -> list[str]:
    """Return the kernel by which one block does a scan, a term for each thread at a time."""
    passed = arguments(plan, kernel)
    printer = _printer(passed, (kernel.axis,), kernel.body)
    kind, whole = type_name(kernel.running.type), type_name(kernel.axis.variable.type)
    functor, _ = OPERATORS[kernel.operator]
    neutral = neutral_text(kernel.operator, kernel.running.type)
    variable, own = printer.name(kernel.axis.variable), kernel.running.name
    low, high = _sum(printer, kernel.axis.low), _sum(printer, kernel.axis.high)
    lines = [f"// Line {kernel.line}: {kernel.operator} of all iterations so far."]
    lines.append(f'extern "C" __global__ void {kernel.name}({signature(plan, passed)}) {{')
    lines += [f"  if ({low} >= {high}) return;", f"  {kind} carry_;", "  {"]
    lines += [f"    const {whole} {variable} = {low};"]
    lines += [f"    carry_ = {printer.expression(kernel.first)};", "  }", "  __syncthreads();"]
    step = f"first_ += ({whole})blockDim.x"
    lines.append(f"  for ({whole} first_ = {low}; first_ < {high}; {step}) {{")
    lines.append(f"    const {whole} {variable} = first_ + ({whole})threadIdx.x;")
    lines.append(f"    {kind} term_ = {neutral}, total_;")
    lines.append(f"    if ({variable} < {high}) term_ = {printer.expression(kernel.term)};")
    given = f"term_, ({kind}){neutral}, total_, {functor}()"
    lines.append(f"    const {kind} before_ = so_far({given});")
    lines.append(f"    {kind} {own} = {functor}()(carry_, before_);")
    lines += [f"    if ({variable} < {high}) {{", *printer.block(kernel.body, 3), "    }"]
    lines += [f"    carry_ = {functor}()(carry_, total_);", "  }"]
    if kernel.last is not None:
        lines.append(f"  if (threadIdx.x == 0) {printer.location(kernel.last)} = carry_;")
    return [*lines, "}"]


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _printer(passed: list[Passed], axes: tuple[Axis, ...], body: tree.Block) -> Printer:
    names = axis_names(axes, body)
    return Printer(frozenset(one.symbol for one in passed if one.kind == "device"), names)


def _index(printer: Printer, axis: Axis, letter: str) -> str:
    """Return the declaration of an axis's variable: `low + step * thread`."""
    kind = type_name(axis.variable.type)
    thread = f"blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter}"
    text = f"({kind})({thread})"
    if axis.step != 1:
        text = f"{axis.step} * {text}"
    if not (isinstance(axis.low, tree.Literal) and axis.low.value == 0):
        text = f"{_sum(printer, axis.low)} + {text}"
    return f"const {kind} {printer.name(axis.variable)} = {text};"


def _sum(printer: Printer, value: tree.Expression) -> str:
    text = printer.expression(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _kernel(plan: Plan, kernel: Kernel) -> list[str]:
    passed = arguments(plan, kernel)
    printer = _printer(passed, kernel.axes, kernel.body)
    lines = [f"// Line {kernel.line}."]
    head = signature(plan, passed)
    lines.append(f'extern "C" __global__ void {kernel.name}({head}) {{')
    for letter, position in zip("xyz", kernel.mapping, strict=False):
        lines.append("  " + _index(printer, kernel.axes[position], letter))
    tests = [f"{printer.name(axis.variable)} >= {_sum(printer, axis.high)}" for axis in kernel.axes]
    if tests:
        lines.append(f"  if ({' || '.join(tests)}) return;")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    lines += [*printer.block(kernel.body, 1), "}"]
    tiled, sums = contractions.contraction_of(plan, kernel), rows.sums_of(plan, kernel)
    if tiled is not None:
        lines += ["", *contractions.lines(kernel, tiled, head, printer)]
    if sums is not None:
        lines += ["", *rows.lines(kernel, sums, head, printer)]
    return lines


def _reduction(plan: Plan, kernel: Reduction) -> list[str]:
    """Return the kernel whose blocks leave partial results, and the one that combines them."""
    passed = arguments(plan, kernel)
    printer = _printer(passed, (kernel.axis,), kernel.body)
    kind = type_name(kernel.target.type)
    functor, _ = OPERATORS[kernel.operator]
    own = kernel.accumulator.name
    neutral = neutral_text(kernel.operator, kernel.target.type)
    axis, variable = kernel.axis, printer.name(kernel.axis.variable)
    whole = type_name(axis.variable.type)
    lines = [f"// Line {kernel.line}: {kernel.operator} of all iterations."]
    head = signature(plan, passed, [f"{kind} *partial_"])
    lines.append(f'extern "C" __global__ void {kernel.name}({head}) {{')
    lines.append(f"  {kind} {own} = {neutral};")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    thread = f"({whole})(blockIdx.x * blockDim.x + threadIdx.x)"
    low, high = _sum(printer, axis.low), _sum(printer, axis.high)
    by = "" if axis.step == 1 else f"{axis.step} * "
    stride = f"{by}({whole})(gridDim.x * blockDim.x)"
    each = f"{whole} {variable} = {low} + {by}{thread}; {variable} < {high}; {variable} += {stride}"
    lines += [f"  for ({each}) {{", *printer.block(kernel.body, 2), "  }"]
    lines.append(f"  {own} = in_block({own}, ({kind}){neutral}, {functor}());")
    lines.append("  if (threadIdx.x > 0) return;")
    lines += ["  if (gridDim.x > 1) {", f"    partial_[blockIdx.x] = {own};", "    return;", "  }"]
    end = _end(printer, kernel, functor)
    lines += [*end, "}", ""]
    more = [f"const {kind} *partial_", "int n_partial_"]
    head = signature(plan, passed, more)
    lines.append(f'extern "C" __global__ void {kernel.name}_total({head}) {{')
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
