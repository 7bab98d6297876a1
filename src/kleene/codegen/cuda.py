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

from kleene.codegen import bins, contractions, reductions, resident, rows, scans
from kleene.codegen.arguments import arguments, kernel_printer, signature
from kleene.codegen.plan import Axis, Kernel, Plan
from kleene.codegen.text import Printer, type_name
from kleene.ir.loops import tree


def source(plans: Sequence[Plan]) -> str:
    """Return the kernels of plans as one file."""
    lines = [*reductions.shared_lines(plans), *scans.shared_lines(plans)]
    loops = {plan.function: resident.loops_of(plan) for plan in plans}
    if any(loops.values()):
        lines += resident.BARRIER.strip("\n").split("\n")
    for plan in plans:
        lines += ["", f"// {plan.function} of {_file_name(plan.file)}, generated."]
        for one in plan.kernels():
            if isinstance(one, Kernel):
                lines += [*_kernel(plan, one), ""]
            else:
                lines += [*reductions.kernel_lines(plan, one), ""]
        for scan in plan.scans():
            lines += [*scans.kernel_lines(plan, scan), ""]
        for loop in loops[plan.function]:
            lines += [*resident.lines(plan, loop), ""]
    return "\n".join(lines).strip("\n") + "\n"


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _index(printer: Printer, axis: Axis, letter: str) -> str:
    """Return the declaration of an axis's variable: `low + step * thread`."""
    kind = type_name(axis.variable.type)
    thread = f"blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter}"
    text = f"({kind})({thread})"
    if axis.step != 1:
        text = f"{axis.step} * {text}"
    if not (isinstance(axis.low, tree.Literal) and axis.low.value == 0):
        text = f"{printer.operand(axis.low)} + {text}"
    return f"const {kind} {printer.name(axis.variable)} = {text};"


def _kernel(plan: Plan, kernel: Kernel) -> list[str]:
    passed = arguments(plan, kernel)
    printer = kernel_printer(passed, kernel.axes, kernel.body)
    lines = [f"// Line {kernel.line}."]
    head = signature(plan, passed)
    lines.append(f'extern "C" __global__ void {kernel.name}({head}) {{')
    for letter, position in zip("xyz", kernel.mapping, strict=False):
        lines.append("  " + _index(printer, kernel.axes[position], letter))
    ends = [(printer.name(axis.variable), printer.operand(axis.high)) for axis in kernel.axes]
    tests = [f"{name} >= {high}" for name, high in ends]
    if tests:
        lines.append(f"  if ({' || '.join(tests)}) return;")
    lines += [f"  {printer.declaration(one)};" for one in kernel.private]
    lines += [*printer.block(kernel.body, 1), "}"]
    tiled, sums = contractions.contraction_of(plan, kernel), rows.sums_of(plan, kernel)
    if tiled is not None:
        lines += ["", *contractions.lines(kernel, tiled, head, printer)]
    if sums is not None:
        lines += ["", *rows.lines(kernel, sums, head, printer)]
    if (updated := bins.bins_of(plan, kernel)) is not None:
        lines += ["", *bins.lines(plan, kernel, updated)]
    return lines
