"""Measured times of generated kernels beside the predicted ones."""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

import harness
from kernels_cuda_programs import (
    ADDED,
    BOUND,
    functions_of,
)
from kernels_cuda_write import variants_of


def predictions(report: dict[str, Any]) -> dict[str, Any]:
    """Return what the model says of every program, and of the ranked variants."""
    from kleene.offload.plans import plan_of
    from kleene.offload.plans.cost import predict
    from kleene.offload.plans.machine import H200

    machine = H200  # these speeds are from a run of this benchmark
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _, function, verdicts in functions_of(Path(folder)):
            measured = report["programs"].get(function.name)
            if measured is None or "best_s" not in measured:
                continue
            plan = plan_of(function, verdicts)

            def sizes(numbers: Any, plan: Any = plan) -> dict[str, float]:
                whole = iter(numbers)
                kinds = [one for one in plan.parameters if one.type.kind in ("int", "float")]
                return {o.name: next(whole) if o.type.kind == "int" else 1.2 for o in kinds}

            told = predict(plan, sizes(measured["sizes"]), machine)
            found[function.name] = {
                "kernels_s": told.kernels_s,
                "transfer_s": told.transfer_s,
                "core_s": told.core_s,
                "threads_s": told.threads_s,
                "pays": told.pays,
                "axes": max((len(k.axes) for k in plan.kernels() if hasattr(k, "axes")), default=1),
                "bounds": {one.name: one.bound for one in told.kernels},
            }
            if "ranked" in measured:
                ranked = found[function.name]["ranked"] = {}
                for kind, (one, block, is_tiled) in variants_of(plan).items():
                    told = predict(
                        one,
                        sizes(measured["ranked_sizes"]),
                        machine,
                        least_tiled=None if is_tiled else 1 << 62,
                        blocks={len(block): block} if block else None,
                    )
                    # Launches that the host is too slow for are told apart by the GPU's time.
                    ranked[kind] = told.kernels_s + 0.01 * sum(k.seconds for k in told.kernels)
    return found


def fastest_cpu(one: dict[str, Any]) -> float:
    """Return the time of C on all cores, or on one if that is faster and the sizes are the same."""
    times = [one["threads_s"]] if "threads_s" in one else []
    if one.get("core_sizes") == one["sizes"]:
        times.append(one["core_s"])
    return min(times)


def summary(report: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers that the question asks for."""
    done = {n: one for n, one in report["programs"].items() if n in told}
    bench = {n: one for n, one in done.items() if n not in (*ADDED, "convolve")}
    found: dict[str, Any] = {"programs": len(bench), "right": len(bench)}
    ratios = [
        one["naive_s"] / one["best_s"]
        for name, one in bench.items()
        if "naive_s" in one and told[name]["axes"] > 1
    ]
    if ratios:
        found["naive_over_best"] = statistics.geometric_mean(ratios)
        found["naive_over_best_programs"] = len(ratios)
    faster = [one["threads_s"] / one["best_s"] for one in bench.values() if "threads_s" in one]
    if faster:
        found["threads_over_best"] = statistics.geometric_mean(faster)
    found["hand_over_best"] = {
        n: one["hand_s"] / one["best_s"] for n, one in done.items() if "hand_s" in one
    }
    if "gemm" in done:
        flops = 2 * 4096**3 / done["gemm"]["best_s"]
        found["gemm_flops"] = flops
        found["gemm_share_of_peak"] = flops / report["machine"]["double_flops"]
        found["gemm_share_of_data_sheet"] = flops / 33.5e12
        found["gemm_library_flops"] = 2 * 4096**3 / done["gemm"]["library_s"]
    if "ranked" in done.get("matrix_add", {}):
        times = done["matrix_add"]["ranked"]
        default = times["order 01, threads 32x8"]
        found["matrix_add_default_over_best"] = default / done["matrix_add"]["best_s"]
    errors = {n: told[n]["kernels_s"] / one["best_s"] - 1 for n, one in done.items()}
    found["predicted_median_error"] = statistics.median(abs(e) for e in errors.values())
    found["predicted_errors"] = errors
    answers = {
        n: told[n]["pays"] == (one["transfers_s"] < fastest_cpu(one))
        for n, one in done.items()
        if "transfers_s" in one
    }
    found["pays_right"] = sum(answers.values()) / max(len(answers), 1)
    found["pays_wrong"] = [n for n, is_right in answers.items() if not is_right]
    found["ranked"] = {n: ranking(one, told[n]) for n, one in done.items() if "ranked" in one}
    return found


def ranking(one: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return how well variants were ordered: those that differ by a tenth, and the first one."""
    times, predicted = one["ranked"], told["ranked"]
    pairs = [
        (predicted[a] < predicted[b]) == (times[a] < times[b])
        for a, b in itertools.combinations(times, 2)
        if abs(times[a] / times[b] - 1) > 0.1
    ]
    first = min(times, key=lambda kind: predicted[kind])
    return {
        "variants": len(times),
        "pairs": len(pairs),
        "right": sum(pairs),
        "chosen_over_best": times[first] / min(times.values()),
    }


def table(*outs: Path) -> None:
    """Predict, and write the results of one or several runs beside the other benchmarks'."""
    reports = [json.loads(one.read_text()) for one in outs]
    programs = {n: one for report in reports for n, one in report["programs"].items()}
    report = {**reports[0], "programs": dict(sorted(programs.items()))}
    told = predictions(report)
    rows = harness.Table(
        "kernels_cuda",
        "How fast are generated kernels, beside C on 16 threads? (arrays on the GPU)",
        machine=report["where"],
    )
    for name, one in report["programs"].items():
        if name not in told:
            continue
        guess = told[name]
        extra: dict[str, Any] = {
            "predicted": harness.seconds(guess["kernels_s"]),
            "with transfers": harness.seconds(one["transfers_s"]),
            "predicted with transfers": harness.seconds(guess["kernels_s"] + guess["transfer_s"]),
            "pays, predicted": "yes" if guess["pays"] else "no",
            "one core": _core(one),
        }
        for label, key in (
            ("naive mapping", "naive_s"),
            ("CuPy", "library_s"),
            ("by hand", "hand_s"),
        ):
            extra[label] = harness.seconds(one[key]) if key in one else "-"
        times = one["best_times"]
        later = times[1:] or times
        ours = harness.Measurement(times[0], statistics.median(later), min(later), max(later))
        c = one.get("threads_s")
        theirs = None if c is None else harness.Measurement(c, c, c, c)
        rival = None if c is None else "C, 16 threads"
        size = " x ".join(map(str, one["sizes"]))
        rows.row(
            input=name, size=size, ours=ours, rival=rival, theirs=theirs,
            agree=one["best_difference"] < BOUND, **extra,
        )  # fmt: skip
    rows.save()
    found = summary(report, told)
    (harness.RESULTS / "kernels_cuda_summary.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


def _core(one: dict[str, Any]) -> str:
    if "core_s" not in one:
        return "-"
    text = harness.seconds(one["core_s"])
    sizes = " x ".join(map(str, one["core_sizes"]))
    return text if one["core_sizes"] == one["sizes"] else f"{text} for {sizes}"
