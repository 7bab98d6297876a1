"""Histograms: blocks count in shared memory, and add what they have to the array at the end.

    h[k[i]] += e        atomicAdd(&bins_[k[i]], e) in each block; then h[b] += bins_[b] for all b

An atomic operation in shared memory takes a fraction of one on the device, and threads of other
blocks do not wait for it. Where there is room, warps of a block have bins of their own: fewer
threads meet in one. Each block adds every bin that it has changed to the array, so it pays if there
are several points for each bin of each block: `runtime.bins_blocks` tells.
"""

from __future__ import annotations

from dataclasses import dataclass

from kleene.codegen import runtime
from kleene.codegen.arguments import (
    OPERATORS,
    arguments,
    axis_names,
    neutral_text,
    signature,
)
from kleene.codegen.plan import Atomic, CannotError, Kernel, Plan
from kleene.codegen.points import point_loop
from kleene.codegen.text import Printer, arrays_in, atomic_text, flattened, safe, type_name
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Symbol, Type


@dataclass(frozen=True, slots=True)
class Bins:
    """An array that a kernel only updates, all updates by one operation."""

    array: Symbol
    element: Type
    operator: str


def bins_of(plan: Plan, kernel: Kernel) -> Bins | None:
    """Return the array that the threads of a kernel update, if they touch it in no other way."""
    found = [one for one in tree.walk(kernel.body) if isinstance(one, Atomic)]
    if not found or not kernel.axes or not isinstance(found[0].target, Element):
        return None
    try:
        arrays = {flattened(one.target)[0] for one in found}
        assigned = [one for one in tree.walk(kernel.body) if isinstance(one, tree.Assign)]
        touched = arrays_in(assigned, written=True) | arrays_in(kernel.body, written=False)
    except CannotError:
        return None
    operators = {one.operator for one in found}
    if len(arrays) != 1 or len(operators) != 1 or arrays & touched:
        return None
    (array,), (operator,) = arrays, operators
    if array.name not in plan.arrays:
        return None
    return Bins(array, plan.arrays[array.name].element, operator)


def is_of_one_thread(kernel: Kernel) -> bool:
    """Return whether a host does a kernel in one thread: it does little but update elements.

    Cores that update elements of one line wait for each other, a hundred times as long as one of
    them needs for an update that is not atomic. Loops and calls are worth several threads.
    """
    parts = list(tree.walk(kernel.body))
    is_long = any(isinstance(one, tree.Loop | tree.Call) for one in parts)
    return not is_long and any(isinstance(one, Atomic) for one in parts)


def lines(plan: Plan, kernel: Kernel, bins: Bins) -> list[str]:
    """Return the kernel as text, under its name with `_bins`."""
    passed = arguments(plan, kernel)
    kind, name = type_name(bins.element), safe(bins.array.name)
    pointed = frozenset(one.symbol for one in passed if one.kind == "device")
    names = axis_names(kernel.axes, kernel.body)
    printer = Printer(pointed, names)
    inside = Printer(pointed, {**names, bins.array: "bins_"})
    neutral = f"({kind}){neutral_text(bins.operator, bins.element)}"
    head = signature(plan, passed, ["int n_bins_"])
    n_most = runtime.BINS_BYTES // (bins.element.bits // 8)
    each = "int bin_ = threadIdx.x; bin_ < copies_ * n_bins_; bin_ += blockDim.x"

    def body(depth: int) -> list[str]:
        declared = [f"{'  ' * depth}{inside.declaration(one)};" for one in kernel.private]
        return [*declared, *inside.block(kernel.body, depth)]

    axes = [kernel.axes[position] for position in kernel.mapping]
    ends = "blockIdx.x * blockDim.x + threadIdx.x", "gridDim.x * blockDim.x"
    functor, _ = OPERATORS[bins.operator]
    added = atomic_text(bins.operator, bins.element, f"{name}[bin_]", "total_")
    return [
        "// The same with bins in shared memory.",
        f'extern "C" __global__ void {kernel.name}_bins({head}) {{',
        f"  __shared__ {kind} all_[{n_most}];",
        f"  const int fit_ = {n_most} / n_bins_, warps_ = blockDim.x / 32;",
        "  const int copies_ = fit_ < warps_ ? fit_ : warps_;",
        f"  {kind} *bins_ = all_ + threadIdx.x / 32 % copies_ * n_bins_;",
        f"  for ({each}) all_[bin_] = {neutral};",
        "  __syncthreads();",
        *point_loop(printer, axes, *ends, body, 1),
        "  __syncthreads();",
        "  for (int bin_ = threadIdx.x; bin_ < n_bins_; bin_ += blockDim.x) {",
        f"    {kind} total_ = {neutral};",
        "    for (int copy_ = 0; copy_ < copies_; copy_++) {",
        f"      total_ = {functor}()(total_, all_[copy_ * n_bins_ + bin_]);",
        "    }",
        f"    if (total_ != {neutral}) {added};",
        "  }",
        "}",
    ]
