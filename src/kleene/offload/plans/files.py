"""Generated functions as files that stand alone: CUDA C++, C, or Python with CuPy."""

from __future__ import annotations

from collections.abc import Sequence

from kleene.codegen import cuda, cuda_host, python, runtime, threads
from kleene.codegen.plan import CannotError, Plan
from kleene.offload.plans.call import given_of, parameters_of


def file_of(plans: Sequence[Plan], kind: str) -> tuple[str, list[str]]:
    """Return functions as one file, and why some are not in it.

    `kind` is "cuda", "c" or "python"; C has all functions, others those with kernels.
    """
    if kind == "c":
        return threads.source(plans), []
    with_kernels = [one for one in plans if one.steps]
    if kind == "python":
        alone = [one for one in with_kernels if not any(True for _ in one.host_nests())]
        left = [one.function for one in with_kernels if one not in alone]
        text = "{} is not in the file: it has a sequential loop, which needs compiled C"
        return _python(alone), [text.format(name) for name in left]
    chosen, reasons = [], []
    for one in with_kernels:
        try:
            cuda_host.source([one])
            chosen.append(one)
        except CannotError as error:
            reasons.append(f"{one.function} is not in the file: {error}")
    return cuda_host.source(chosen), reasons


def _python(plans: Sequence[Plan]) -> str:
    pieces = [runtime.text()]
    for plan in plans:
        name = plan.function
        overlaps = ", ".join(map(repr, plan.overlaps))
        pieces.append(f'{name}_SOURCE = r"""\n{cuda.source([plan])}"""')
        pieces.append(python.source(plan, f"{name}_"))
        pieces.append(
            f"{name} = Called(\n"
            f'    "{name}", {parameters_of(plan)!r},\n'
            f"    [{overlaps}], {name}_sections, {name}_steps, {name}_SOURCE{_given(plan)},\n)"
        )
    return "\n\n".join(pieces) + "\n"


def _given(plan: Plan) -> str:
    """Return what calls are given as the last argument, if that is not each parameter."""
    if not plan.given:
        return ""
    texts = []
    for name, is_global, initial, fields in given_of(plan):
        values = "None"
        if initial is not None:
            values = f"np.array({initial.tolist()!r}, {initial.dtype.name!r})"
        texts.append(f"({name!r}, {is_global}, {values}, {fields!r})")
    return f",\n    [{', '.join(texts)}]"
