"""Reductions as CUDA C++: blocks leave partial results, and one block combines them.

    reduce_sum of a thread's points, then of a warp by shuffles, then of a block in shared memory

The order is fixed: it hangs on the number of points alone. Of an extremum with what goes with it,
`in_block_at` takes the number of the point along, by which ties are decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kleene.codegen.arguments import OPERATORS, arguments, kernel_printer, neutral_text, signature
from kleene.codegen.bins import bins_of
from kleene.codegen.plan import Kernel, Plan, Reduction
from kleene.codegen.points import indices_at, point_loop
from kleene.codegen.text import Printer, type_name

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
_LOCATED = """
// The same with the number of the point that a value is of; -1 is none.
template <class T, class F> __device__ void in_block_at(T &value, long long &at, F is_better) {
  __shared__ T of_warp[32];
  __shared__ long long at_of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int turn = 0; turn < 2; turn++) {
    for (int by = 16; by; by /= 2) {
      const T other = __shfl_down_sync(0xffffffffu, value, by);
      const long long other_at = __shfl_down_sync(0xffffffffu, at, by);
      if (is_better(other, other_at, value, at)) value = other, at = other_at;
    }
    if (turn) return;
    if (lane == 0) of_warp[warp] = value, at_of_warp[warp] = at;
    __syncthreads();
    at = -1;
    if (lane < blockDim.x / 32) value = of_warp[lane], at = at_of_warp[lane];
  }
}
"""


def shared_lines(plans: Sequence[Plan]) -> list[str]:
    """Return the functions that reductions, scans and bins of plans call."""
    lines: list[str] = []
    reductions = [k for plan in plans for k in plan.kernels() if isinstance(k, Reduction)]
    operators = {one.operator for one in reductions if one.located is None}
    operators |= {one.operator for plan in plans for one in plan.scans()}
    operators |= {
        found.operator
        for plan in plans
        for one in plan.kernels()
        if isinstance(one, Kernel) and (found := bins_of(plan, one)) is not None
    }
    for operator in sorted(operators):
        name, text = OPERATORS[operator]
        inside = f"template <class T> __device__ T operator()(T a, T b) const {{ return {text}; }}"
        lines += [f"struct {name} {{", f"  {inside}", "};"]
    if lines:
        lines += _IN_BLOCK.strip("\n").split("\n")
    located = sorted({better(one) for one in reductions if one.located is not None})
    for name in located:
        lines += _better_lines(name)
    return [*lines, *_LOCATED.strip("\n").split("\n")] if located else lines


def _better_lines(name: str) -> list[str]:
    """Return the structure whose function tells whether a, of point i, comes before b, of j."""
    which, _, extremum = name.partition("_")
    sign, order = ">" if extremum == "greatest" else "<", "<" if which == "first" else ">"
    given = "T a, long long i, T b, long long j"
    text = f"i >= 0 && (j < 0 || a {sign} b || (a == b && i {order} j))"
    head = f"  template <class T> __device__ bool operator()({given}) const {{"
    return [f"struct {name} {{", head, f"    return {text};", "  }", "};"]


def kernel_lines(plan: Plan, kernel: Reduction) -> list[str]:
    """Return the kernel whose blocks leave partial results, and the one that combines them."""
    passed = arguments(plan, kernel)
    printer = kernel_printer(passed, kernel.axes, kernel.body)
    kind = type_name(kernel.target.type)
    functor, _ = OPERATORS[kernel.operator]
    located = kernel.located
    own, at = kernel.accumulator.name, "" if located is None else located.at.name
    declared = [f"  {kind} {own} = {neutral_text(kernel.operator, kernel.target.type)};"]
    declared += [] if located is None else [f"  long long {at} = -1;"]
    declared += [f"  {printer.declaration(one)};" for one in kernel.private]
    what = kernel.operator if located is None else f"the place of the {kernel.operator}"
    lines = [f"// Line {kernel.line}: {what} of all iterations."]
    more = [f"{kind} *partial_", *([] if located is None else ["long long *partial_at_"])]
    lines.append(f'extern "C" __global__ void {kernel.name}({signature(plan, passed, more)}) {{')
    lines += declared
    lines += point_loop(
        printer,
        kernel.ordered,
        "blockIdx.x * blockDim.x + threadIdx.x",
        "gridDim.x * blockDim.x",
        partial(printer.block, kernel.body),
        1,
        "" if located is None else located.point.name,
    )
    lines += [*combined_lines(kernel, 1), "  if (threadIdx.x > 0) return;"]
    lines += ["  if (gridDim.x > 1) {", f"    partial_[blockIdx.x] = {own};"]
    lines += [] if located is None else [f"    partial_at_[blockIdx.x] = {at};"]
    end = end_lines(printer, kernel, 1)
    lines += ["    return;", "  }", *end, "}", ""]
    more = [f"const {one}" for one in more] + ["int n_partial_"]
    head = signature(plan, passed, more)
    lines.append(f'extern "C" __global__ void {kernel.name}_total({head}) {{')
    lines += declared
    lines.append("  for (int block_ = threadIdx.x; block_ < n_partial_; block_ += blockDim.x) {")
    if located is None:
        lines.append(f"    {own} = {functor}()({own}, partial_[block_]);")
    else:
        given = f"partial_[block_], partial_at_[block_], {own}, {at}"
        taken = f"{own} = partial_[block_], {at} = partial_at_[block_]"
        lines.append(f"    if ({better(kernel)}()({given})) {taken};")
    lines += ["  }", *combined_lines(kernel, 1), "  if (threadIdx.x > 0) return;"]
    return [*lines, *end, "}"]


def better(kernel: Reduction) -> str:
    """Return the function by which one of two extrema and the number of its point is chosen."""
    assert kernel.located is not None
    which = "first" if kernel.located.is_first else "last"
    return f"{which}_{'greatest' if kernel.operator == 'max' else 'least'}"


def combined_lines(kernel: Reduction, depth: int) -> list[str]:
    """Return the combination of what the threads of a block have."""
    pad, own = "  " * depth, kernel.accumulator.name
    if kernel.located is not None:
        return [f"{pad}in_block_at({own}, {kernel.located.at.name}, {better(kernel)}());"]
    kind, functor = type_name(kernel.target.type), OPERATORS[kernel.operator][0]
    neutral = neutral_text(kernel.operator, kernel.target.type)
    return [f"{pad}{own} = in_block({own}, ({kind}){neutral}, {functor}());"]


def end_lines(printer: Printer, kernel: Reduction, depth: int) -> list[str]:
    """Return what the thread does that has the total."""
    pad, located = "  " * depth, kernel.located
    lines = printer.block(kernel.before, depth)
    if located is None:
        target, functor = printer.location(kernel.target), OPERATORS[kernel.operator][0]
        lines.append(f"{pad}{target} = {functor}()({target}, {kernel.accumulator.name});")
    else:
        lines.append(f"{pad}if ({located.at.name} >= 0) {{")
        found = indices_at(printer, kernel.ordered, located.at.name)
        lines += [f"{pad}  {one}" for one in found]
        lines += [*printer.block(located.last, depth + 1), f"{pad}}}"]
    return [*lines, *printer.block(kernel.after, depth)]
