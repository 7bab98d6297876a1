"""What the benchmark of generated kernels measures, as files: where kleene is."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernels_cuda_programs import (
    BLOCKS,
    RANKED,
    functions_of,
)


def orders_of(plan: Any) -> list[Any]:
    """Return a plan with its kernels' axes in every order on x, y and z."""
    from kleene.codegen.plan import HostIf, HostLoop, Kernel

    def changed(steps: Any, number: int) -> Any:
        found = []
        for one in steps:
            if isinstance(one, Kernel) and len(one.axes) > 1:
                orders = list(itertools.permutations(range(len(one.axes))))
                one = replace(one, mapping=orders[number % len(orders)])
            elif isinstance(one, HostLoop):
                one = replace(one, steps=changed(one.steps, number))
            elif isinstance(one, HostIf):
                then, otherwise = (changed(part, number) for part in (one.then, one.otherwise))
                one = replace(one, then=then, otherwise=otherwise)
            found.append(one)
        return tuple(found)

    n_axes = max(len(one.axes) if isinstance(one, Kernel) else 1 for one in plan.kernels())
    count = len(list(itertools.permutations(range(n_axes))))
    return [replace(plan, steps=changed(plan.steps, n)) for n in range(count)]


def variants_of(plan: Any) -> dict[str, tuple[Any, tuple[int, ...] | None, bool]]:
    """Return plans by name, each with the shape of its blocks and whether sums are by tiles."""
    found: dict[str, tuple[Any, tuple[int, ...] | None, bool]] = {}
    source = set()
    for order in orders_of(plan):
        axes = max((one.mapping for one in order.kernels() if hasattr(one, "mapping")), key=len)
        if axes in source:
            continue
        source.add(axes)
        name = "order " + "".join(map(str, axes))
        from kleene.codegen import python

        text = python.source(order)
        if re.search(r"run\.(tiles|rows|columns|resident)\(", text):
            found[f"{name}, tiles"] = (order, None, True)
        for block in BLOCKS.get(len(axes), [None]):
            shape = "" if block is None else " " + "x".join(map(str, block))
            found[f"{name}, threads{shape}"] = (order, block, False)
    return found


def write(folder: Path, only: set[str]) -> None:
    """Generate everything into a folder, or `only` some computations."""
    from kleene.codegen import cuda, python, threads
    from kleene.codegen.text import extents_of
    from kleene.offload.plans import plan_of
    from kleene.offload.plans.call import parameters_of
    from kleene.offload.plans.machine import host_source

    folder.mkdir(parents=True, exist_ok=True)
    described: dict[str, Any] = {}
    plans, texts = [], []
    started = time.perf_counter()
    for file, function, verdicts in functions_of(folder):
        name = function.name
        if only and name not in only:
            continue
        start = time.perf_counter()
        plan = plan_of(function, verdicts)
        kinds = {"best": (plan, None, True), "naive": (naive_of(function, verdicts), None, False)}
        if name in RANKED:
            kinds |= variants_of(plan)
        written = {}
        for kind, (one, block, is_tiled) in kinds.items():
            stem = f"{name}_{len(written)}"
            (folder / f"{stem}.cu").write_text(cuda.source([one]))
            (folder / f"{stem}.py").write_text(python.source(one))
            written[kind] = {"stem": stem, "block": block, "is_tiled": is_tiled}
        generate_s = time.perf_counter() - start
        rows = {}
        for one in function.parameters:
            if one.type.kind == "pointer" and one.type.target is not None:
                extents = extents_of(one.type.target)
                rows[one.name] = [
                    e if isinstance(e, int) else e.location.symbol.name for e in extents
                ]
        plans.append(plan)
        texts.append(file.read_text())
        described[name] = {
            "file": file.stem,
            "parameters": parameters_of(plan),
            "overlaps": plan.overlaps,
            "rows": rows,
            "variants": written,
            "generate_s": generate_s,
            "axes": max((len(k.axes) for k in plan.kernels() if hasattr(k, "axes")), default=1),
        }
    print(f"{len(described)} programs, {time.perf_counter() - started:.1f} s")
    (folder / "threads.c").write_text(threads.source(plans))
    (folder / "written.c").write_text("\n".join(texts))
    (folder / "speeds.c").write_text(host_source())
    for stem in ("threads", "written", "speeds"):
        compile_c(folder, stem)
    (folder / "programs.json").write_text(json.dumps(described, indent=1))


def naive_of(function: Any, verdicts: Any) -> Any:
    """Return the plan with the outermost parallel loop of each nest alone on the grid."""
    from kleene.offload.plans import plan_of

    return plan_of(function, verdicts, n_axes=1)


def compile_c(folder: Path, stem: str) -> None:
    """Compile a file as a library for any machine with AVX2."""
    from kleene.kernels.launch.host_build import compiler

    command = [str(compiler()), "cc", "-target", "x86_64-linux-gnu.2.17", "-mcpu=x86_64_v3"]
    command += ["-O3", "-shared", "-fPIC", "-w", "-fno-sanitize=all", str(folder / f"{stem}.c")]
    command += ["-o", str(folder / f"{stem}.so"), "-lm", "-lpthread"]
    subprocess.run(command, check=True)
