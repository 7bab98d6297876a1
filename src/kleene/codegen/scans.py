"""Scans as CUDA C++: each block has a part of the iterations, and the results before each of them.

    1 2 3 4 | 5 6 7 8 | 9 ...      the terms of parts
      10        26                 NAME_totals: the total of each part, and before them the first
    0         10        36         NAME: what is before each part, and then all of it, part by part

A block takes four terms for each thread at a time, those of neighbours side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from kleene.codegen.arguments import OPERATORS, arguments, kernel_printer, neutral_text, signature
from kleene.codegen.plan import Plan, Scan
from kleene.codegen.text import type_name

_TERMS = 4  # of each thread at a time
_SCAN = """
// Combine the values of a block's threads before each: first all first ones, then all second ones.
// There are N of each thread, which get these results; N times the number of warps is at most 32.
template <int N, class T, class F> __device__ T so_far(T (&value)[N], T neutral, F combine) {
  __shared__ T of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int n = 0; n < N; n++) {
    for (int by = 1; by < 32; by *= 2) {
      const T other = __shfl_up_sync(0xffffffffu, value[n], by);
      if (lane >= by) value[n] = combine(other, value[n]);
    }
    if (lane == 31) of_warp[n * warps + warp] = value[n];
    value[n] = __shfl_up_sync(0xffffffffu, value[n], 1);
    if (lane == 0) value[n] = neutral;
  }
  __syncthreads();
  T all = lane < N * warps ? of_warp[lane] : neutral;
  for (int by = 1; by < 32; by *= 2) {
    const T other = __shfl_up_sync(0xffffffffu, all, by);
    if (lane >= by) all = combine(other, all);
  }
  for (int n = 0; n < N; n++) {
    const int own = n * warps + warp;
    const T before = __shfl_sync(0xffffffffu, all, own ? own - 1 : 0);
    if (own) value[n] = combine(before, value[n]);
  }
  __syncthreads();
  return __shfl_sync(0xffffffffu, all, 31);
}
"""


def shared_lines(plans: Sequence[Plan]) -> list[str]:
    """Return the function that scans call, besides those of reductions."""
    has_scans = any(True for plan in plans for _ in plan.scans())
    return _SCAN.strip("\n").split("\n") if has_scans else []


def kernel_lines(plan: Plan, kernel: Scan) -> list[str]:
    """Return the kernels of a scan, each block of which has a part of the iterations.

    The first leaves in `partial_` what the running value begins with, and then the result of each
    block's terms. The second combines those up to its own part, which is the running value there,
    and goes on through its part. With one block there is the second alone. The order is fixed.
    """
    passed = arguments(plan, kernel)
    printer = kernel_printer(passed, (kernel.axis,), kernel.body)
    kind, whole = type_name(kernel.running.type), type_name(kernel.axis.variable.type)
    functor, _ = OPERATORS[kernel.operator]
    neutral = f"({kind}){neutral_text(kernel.operator, kernel.running.type)}"
    variable, own = printer.name(kernel.axis.variable), kernel.running.name
    low, high = printer.operand(kernel.axis.low), printer.operand(kernel.axis.high)
    term, first = printer.expression(kernel.term), printer.expression(kernel.first)
    head = signature(plan, passed, [f"{kind} *partial_"])
    tile = f"({_TERMS} * (long long)blockDim.x)"
    part = [
        f"  const long long count_ = (long long){high} - {low}, tile_ = {tile};",
        "  const long long part_ = ((count_ + tile_ - 1) / tile_ + gridDim.x - 1) / gridDim.x;",
        "  const long long begin_ = blockIdx.x * part_ * tile_, end_ = begin_ + part_ * tile_;",
        "  const long long stop_ = end_ < count_ ? end_ : count_;",
    ]
    each = "long long at_ = begin_ + threadIdx.x; at_ < stop_; at_ += blockDim.x"
    lines = [f"// Line {kernel.line}: {kernel.operator} of all iterations so far; terms of parts."]
    lines.append(f'extern "C" __global__ void {kernel.name}_totals({head}) {{')
    lines += [*part, "  if (count_ <= 0) return;", f"  {kind} total_ = {neutral};"]
    lines += ["#pragma unroll 4", f"  for ({each}) {{"]
    lines.append(f"    const {whole} {variable} = {low} + ({whole})at_;")
    lines += [f"    total_ = {functor}()(total_, ({kind})({term}));", "  }"]
    lines.append(f"  total_ = in_block(total_, {neutral}, {functor}());")
    lines += ["  if (threadIdx.x > 0) return;", "  partial_[blockIdx.x + 1] = total_;"]
    lines += ["  if (blockIdx.x == 0) {", f"    const {whole} {variable} = {low};"]
    lines += [f"    partial_[0] = {first};", "  }", "}", ""]
    lines.append(f'extern "C" __global__ void {kernel.name}({head}) {{')
    lines += [*part, "  if (count_ <= 0) return;", f"  {kind} carry_ = {neutral};"]
    lines += ["  if (gridDim.x == 1) {", f"    const {whole} {variable} = {low};"]
    lines += [f"    carry_ = {first};", "  } else {", f"    __shared__ {kind} before_;"]
    each = "unsigned at_ = threadIdx.x; at_ <= blockIdx.x; at_ += blockDim.x"
    lines.append(f"    for ({each}) carry_ = {functor}()(carry_, partial_[at_]);")
    lines.append(f"    carry_ = in_block(carry_, {neutral}, {functor}());")
    lines += ["    if (threadIdx.x == 0) before_ = carry_;", "    __syncthreads();"]
    lines += ["    carry_ = before_;", "  }", "  __syncthreads();"]
    lines.append("  for (long long first_ = begin_; first_ < stop_; first_ += tile_) {")
    turns = f"int n_ = 0; n_ < {_TERMS}; n_++"
    at = "    const long long at_ = first_ + n_ * blockDim.x + threadIdx.x;"
    index = f"const {whole} {variable} = {low} + ({whole})at_;"
    lines += [f"    {kind} so_far_[{_TERMS}];", "#pragma unroll", f"    for ({turns}) {{"]
    lines += [f"  {at}", f"      so_far_[n_] = {neutral};", "      if (at_ < stop_) {"]
    lines += [f"        {index}", f"        so_far_[n_] = {term};", "      }", "    }"]
    lines.append(f"    const {kind} total_ = so_far(so_far_, {neutral}, {functor}());")
    lines += ["#pragma unroll", f"    for ({turns}) {{", f"  {at}"]
    lines += ["      if (at_ >= stop_) break;", f"      {index}"]
    lines.append(f"      {kind} {own} = {functor}()(carry_, so_far_[n_]);")
    lines += [*printer.block(kernel.body, 3), "    }"]
    lines += [f"    carry_ = {functor}()(carry_, total_);", "  }"]
    if kernel.last is not None:
        is_last = "blockIdx.x == gridDim.x - 1 && threadIdx.x == 0"
        lines.append(f"  if ({is_last}) {printer.location(kernel.last)} = carry_;")
    return [*lines, "}"]
