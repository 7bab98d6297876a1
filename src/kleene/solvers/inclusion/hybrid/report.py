"""The columns of the points-to paper's table V, from a trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kleene.solvers.inclusion.hybrid.worklist import KINDS


def paper_columns(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return R of each kind of rules, where stores ran, and the share of rounds on the GPU alone.

    R is the GPU's time for a rule by the CPU's, each over the rules it was given; a kind that one
    side never fired has none. The paper's STORE is `push`, its LOAD `pull`.
    """
    table = [row for row in rows if "shared" in row]  # waves of the CPU alone have no part in it
    shared = [row for row in table if row["shared"]]
    columns: dict[str, float] = {}
    for kind in KINDS:
        on_gpu = sum(row[f"{kind}_rules"] * row[f"{kind}_on_gpu"] for row in shared)
        on_cpu = sum(row[f"{kind}_rules"] for row in shared) - on_gpu
        gpu_s = sum(row[f"gpu_{kind}_s"] for row in shared)
        cpu_s = sum(row[f"cpu_{kind}_s"] for row in shared)
        if on_gpu and on_cpu and cpu_s:
            columns[f"R_{kind}"] = (gpu_s / on_gpu) / (cpu_s / on_cpu)
    n_pushes = sum(row["push_rules"] for row in shared)
    if n_pushes:
        on_gpu = sum(row["push_rules"] * row["push_on_gpu"] for row in shared)
        columns["stores_on_gpu_share"] = on_gpu / n_pushes
    n_alone = sum(row["rounds"] for row in table if not row["shared"])
    columns["rounds_on_gpu_share"] = n_alone / max(1, n_alone + len(shared))
    return columns
