"""Generated functions as files that stand alone: CUDA C++, C, or Python with CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from kleene.codegen import cuda, cuda_host, python, threads
from kleene.codegen.plan import CannotError, Plan
from kleene.offload.plans.call import parameters_of


def file_of(plans: Sequence[Plan], kind: str) -> str:
    """Return functions as one file; `kind` is "cuda", "c" or "python"."""
    with_kernels = [one for one in plans if one.steps]
    match kind:
        case "c":
            return threads.source(plans)
        case "cuda":
            return cuda_host.source(with_kernels)
        case "python":
            return _python(with_kernels)
    raise CannotError(f"files of kind {kind}")


def _python(plans: Sequence[Plan]) -> str:
    runtime = files("kleene.codegen").joinpath("runtime.py").read_text(encoding="utf-8")
    pieces = [runtime]
    for plan in plans:
        name = plan.function
        overlaps = ", ".join(map(repr, plan.overlaps))
        pieces.append(f'{name}_SOURCE = r"""\n{cuda.source([plan])}"""')
        pieces.append(python.source(plan, f"{name}_"))
        pieces.append(
            f"{name} = Called(\n"
            f'    "{name}", {parameters_of(plan)!r},\n'
            f"    [{overlaps}], {name}_sections, {name}_steps, {name}_SOURCE,\n)"
        )
    return "\n\n".join(pieces) + "\n"
