"""What does each kernel take of a multiprocessor: registers, shared memory, spills?"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache

from kleene.base import tidy
from kleene.base.cache import Cache, default_folder, key_of
from kleene.codegen import cuda
from kleene.codegen.plan import Plan
from kleene.kernels.launch import Source
from kleene.kernels.launch import compile as compiling
from kleene.kernels.launch.compile import Resources
from kleene.offload.plans.machine import Machine

_WARP = 32


def resources_of(plan: Plan) -> dict[str, Resources]:
    """Return what ptxas says of each kernel of a plan, kept by its text; none where it is not."""
    if compiling.problem() is not None or not plan.steps:
        return {}
    return dict(_resources(cuda.source([plan])))


@cache
def _resources(text: str) -> tuple[tuple[str, Resources], ...]:
    kept, key = Cache(default_folder()), key_of("resources", text)
    found = kept.get("resources", key)
    if found is not None:
        return tuple((name, Resources(**one)) for name, one in json.loads(found).items())
    with tidy.scratch() as folder:
        path = folder / "kernels.cu"
        path.write_text(text, encoding="utf-8")
        made = compiling.resources(Source.of(path))
    kept.put("resources", key, json.dumps({n: asdict(one) for n, one in made.items()}).encode())
    return tuple(made.items())


def occupancy(machine: Machine, resources: Resources, n_threads: int) -> float:
    """Return the share of a multiprocessor's threads that blocks of a kernel can fill.

    Registers are given to warps, 256 at a time; a block also takes 1024 bytes of shared memory.
    """
    return (
        blocks_at_once(machine, resources, n_threads)
        * warps_of(n_threads)
        * _WARP
        / (machine.n_threads)
    )


def warps_of(n_threads: int) -> int:
    """Return the warps of so many threads of a block."""
    return -(-n_threads // _WARP)


def blocks_at_once(machine: Machine, resources: Resources | None, n_threads: int) -> int:
    """Return how many blocks of so many threads a multiprocessor has room for."""
    warps = warps_of(n_threads)
    limits = [machine.n_blocks, machine.n_threads // (warps * _WARP)]
    if resources is not None:
        per_warp = -(-resources.registers * _WARP // 256) * 256
        if per_warp:
            limits.append(machine.registers // (per_warp * warps))
        limits.append(machine.shared_bytes // (resources.shared_bytes + 1024))
    return min(limits)
