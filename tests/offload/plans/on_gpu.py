"""Generated functions on a GPU, on a machine without what generates them.

    python -m tests.offload.plans.on_gpu write FOLDER    here: kernels, arguments, and C's results
    python -m tests.offload.plans.on_gpu run FOLDER      there: NumPy and CuPy suffice

`run` calls every function in all its forms, and compares: integers bit for bit, sums of n
floating-point terms within 2 n u of the greatest one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {"scans": (1, 37, 4097, 300_001), "reductions": (1, 37, 211), "bins": (37, 700)}
MORE = {"s_running": 1, "m_at": 1, "m_point": 5}


def programs() -> dict[str, str]:
    """Return the C of the tests by what it is about."""
    from tests.offload.plans import test_bins, test_reductions, test_steps

    listed = test_reductions.NESTS | test_reductions.ONE_AXIS | test_reductions.PLACES
    bins = test_bins.BINS | test_bins.PLAIN
    return {
        "scans": test_steps.SCANS,
        "reductions": "\n".join(text.replace("@", name) for name, text in listed.items()),
        "bins": "\n".join(text.replace("@", name) for name, text in bins.items()),
    }


def write(folder: Path) -> None:
    """Generate the functions, and compute what C does with some arguments."""
    from kleene.codegen import cuda, python
    from kleene.offload.plans.built import compiled
    from kleene.offload.plans.call import call_c, parameters_of, result_of
    from tests.offload.kernels.loop_programs import unit
    from tests.offload.plans.generated import arguments, plans_of

    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for kind, code in programs().items():
        file = folder / f"{kind}.c"
        file.write_text(code)
        found, library = unit(file), compiled(code)
        plans = plans_of(found)
        (folder / f"{kind}.cu").write_text(cuda.source([p for p in plans.values() if p.steps]))
        for function in found.functions:
            plan = plans[function.name]
            (folder / f"{kind}_{function.name}.py").write_text(python.source(plan))
            is_of_gpu = plan.steps and not any(plan.host_nests())
            for n in SIZES[kind] if is_of_gpu else ():
                sizes = {**MORE, "n": n, "m": n + 3}
                dimensions = 3 if function.name == "cube" else 1
                args = arguments(function, sizes if dimensions == 1 else {"n": min(n, 60)})
                if kind == "bins":  # as many as there are rows, with keys of all of them
                    args[-1] = args[-1][: 4 * n].copy()
                names = [one.name for one in plan.parameters]
                given = dict(zip(names, args, strict=True))
                stem = f"{kind}_{function.name}_{n}"
                np.savez_compressed(folder / f"{stem}_in.npz", **given)
                answer = call_c(library, plan.function, parameters_of(plan), result_of(plan), given)
                np.savez_compressed(folder / f"{stem}_out.npz", **given)
                result = None if answer is None else float(answer)
                told.append([kind, function.name, names, stem, result])
    (folder / "told.json").write_text(json.dumps(told))


def run(folder: Path) -> None:
    """Call everything on the GPU, and compare."""
    import cupy

    from kleene.codegen import runtime

    places: dict[str, Any] = {}
    n_calls = 0
    for kind, name, names, stem, result in json.loads((folder / "told.json").read_text()):
        if kind not in places:
            places[kind] = runtime.device_run((folder / f"{kind}.cu").read_text())
        known: dict[str, Any] = dict(runtime.NAMESPACE)
        exec((folder / f"{kind}_{name}.py").read_text(), known)
        given, wanted = (np.load(folder / f"{stem}_{way}.npz") for way in ("in", "out"))
        for form in range(2):
            place = places[kind]
            place.one_scanned = 0 if form else runtime.ONE_SCAN
            place.least_tiled = 0 if form else 64
            args = [given[one] for one in names]
            args = [cupy.asarray(one.reshape(-1)) if one.ndim else one.item() for one in args]
            answer = known["steps"](place, *args)
            for one, value in zip(names, args, strict=True):
                if wanted[one].ndim:
                    compare(f"{stem}: {one}", value.get(), wanted[one].reshape(-1))
            if result is not None:
                kind_of = np.float64 if isinstance(answer, float) else np.int64
                compare(f"{stem}: result", np.array([answer], kind_of), np.array([result], kind_of))
            n_calls += 1
    print(f"{n_calls} calls are right")


def compare(what: str, value: np.ndarray, wanted: np.ndarray) -> None:
    """Refuse what differs from C's result."""
    if value.dtype.kind == "f":
        bound = 2 * 2e-16 * max(wanted.size, 50_000) * np.abs(wanted).max()
        np.testing.assert_allclose(value, wanted, rtol=0, atol=bound, err_msg=what)
    else:
        np.testing.assert_array_equal(value, wanted, err_msg=what)


if __name__ == "__main__":
    {"write": write, "run": run}[sys.argv[1]](Path(sys.argv[2]))
