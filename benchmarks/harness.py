"""Measure one question at a time: ours beside a rival, wrong answers refused.

A benchmark is a file `benchmarks/NAME.py`, run as `python benchmarks/NAME.py`. It fills one
`Table` and saves it, which leaves NAME.json, NAME.md and NAME.png in `benchmarks/results`.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kleene.kernels.compiled import interpreted

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Measurement:
    """How long a call took, in seconds: the first one apart, then the repeats."""

    first_s: float
    median_s: float
    min_s: float
    max_s: float
    result: Any = field(repr=False, default=None)

    def times(self) -> dict[str, float]:
        """Return the four times by name."""
        names = ("first_s", "median_s", "min_s", "max_s")
        return {name: getattr(self, name) for name in names}


def measure(
    fn: Callable[..., Any], *, repeat: int = 7, setup: Callable[[], Any] | None = None
) -> Measurement:
    """Return the times of `fn()` and the result of its last call.

    The first call stands apart: it may compile, or fill a cache. Loops run as machine code, however
    small the input. The collector is off while the clock runs. With `setup`, each call is
    `fn(setup())` and making the argument is not timed: for a `fn` that changes what it is given.
    """
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        with interpreted(False):
            first_s, result = _timed(fn, setup)
            times = []
            for _ in range(repeat):
                result = None  # do not hold two results at once
                seconds, result = _timed(fn, setup)
                times.append(seconds)
    finally:
        if was_on:
            gc.enable()
    return Measurement(first_s, statistics.median(times), min(times), max(times), result)


def _timed(fn: Callable[..., Any], setup: Callable[[], Any] | None) -> tuple[float, Any]:
    arguments = () if setup is None else (setup(),)
    start = time.perf_counter()
    result = fn(*arguments)
    return time.perf_counter() - start, result


def machine() -> str:
    """Return the machine in one line: CPU, cores, GPU, and the versions that matter."""
    parts = [_cpu(), f"{len(os.sched_getaffinity(0))} cores", _gpu() or "no GPU"]
    parts.append(f"Python {platform.python_version()}")
    parts += [f"{name} {version(name)}" for name in ("numpy", "numba")]
    return ", ".join(parts)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def _gpu() -> str | None:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip().replace(", ", " driver ").replace("\n", "; ") or None


@dataclass(slots=True)
class Table:
    """The rows that answer one question."""

    name: str
    question: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    machine: str | None = None  # where it was measured, if not here

    def row(
        self,
        *,
        input: str,
        size: str | int,
        ours: Measurement,
        rival: str | None = None,
        theirs: Measurement | None = None,
        agree: bool | None = None,
        **extra: str | int | float,
    ) -> None:
        """Add one row; raise if the answers disagree, or were not compared with the rival's.

        Args:
            input: what was measured, and where it comes from.
            size: how big it is, with its unit.
            ours: our times.
            rival: the other system; None where none applies.
            theirs: its times in this same run.
            agree: whether both gave the same answer.
            **extra: more columns, shown under their names.
        """
        if theirs is not None and rival is None:
            raise ValueError(f"{self.name}: the rival has times but no name")
        if agree is False or (theirs is not None and agree is not True):
            raise ValueError(f"{self.name}: the answers on {input} ({size}) disagree: no row")
        ratio = theirs.median_s / ours.median_s if theirs else None
        self.rows.append(
            {
                "input": input,
                "size": size,
                **extra,
                "ours": ours.times(),
                "rival": rival,
                "theirs": theirs.times() if theirs else None,
                "ratio": ratio,
            }
        )
        print(f"{self.name}: {len(self.rows)} rows, last: {input} ({size})", file=sys.stderr)

    def save(self, folder: Path = RESULTS) -> None:
        """Write NAME.json, NAME.md and NAME.png, and print the Markdown."""
        folder.mkdir(parents=True, exist_ok=True)
        head = {
            "name": self.name,
            "question": self.question,
            "machine": self.machine or machine(),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        }
        record = json.dumps({**head, "rows": self.rows}, indent=1)
        (folder / f"{self.name}.json").write_text(record + "\n")
        text = _markdown(head, self.rows)
        (folder / f"{self.name}.md").write_text(text)
        _plot(folder / f"{self.name}.png", head, self.rows)
        print(text)


_FIXED = ("input", "size", "ours", "rival", "theirs", "ratio")


def _markdown(head: dict[str, str], rows: list[dict[str, Any]]) -> str:
    extra = list(dict.fromkeys(key for row in rows for key in row if key not in _FIXED))
    names = ["input", "size", *extra, "first call", "ours: median [min..max]"]
    names += ["rival", "rival: median [min..max]", "rival / ours"]
    lines = [f"# {head['question']}", ""]
    lines += [f"`python benchmarks/{head['name']}.py`, {head['date']}, on {head['machine']}.", ""]
    lines += [_line(names), _line(["---"] * len(names))]
    lines += [_line(_cells(row, extra)) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: dict[str, Any], extra: list[str]) -> list[str]:
    def times(record: dict[str, float] | None) -> str:
        if record is None:
            return "-"
        low, high = seconds(record["min_s"]), seconds(record["max_s"])
        return f"{seconds(record['median_s'])} [{low}..{high}]"

    values = [row["input"], row["size"], *(row.get(key, "-") for key in extra)]
    shown = [f"{value:.3g}" if isinstance(value, float) else str(value) for value in values]
    shown += [seconds(row["ours"]["first_s"]), times(row["ours"])]
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3g}x"
    return [*shown, row["rival"] or "-", times(row["theirs"]), ratio]


def seconds(value: float) -> str:
    """Return a duration with three digits and a fitting unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _plot(path: Path, head: dict[str, str], rows: list[dict[str, Any]]) -> None:
    """Draw one pair of bars a row, ours above the rival's, on a log scale of seconds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 1.5 + 0.5 * len(rows)), layout="constrained")
    _bars(axes, rows)
    axes.set(xscale="log", xlabel="median seconds (less is better)")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.5)  # room for the rivals' names
    axes.set_yticks(range(len(rows)), [_label(row) for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.legend(fontsize=8)
    figure.suptitle(textwrap.fill(head["question"], 90), fontsize=11)
    figure.supxlabel(f"{head['machine']}, {head['date']}", fontsize=6)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _label(row: dict[str, Any]) -> str:
    extra = [row[key] for key in row if key not in _FIXED and isinstance(row[key], str)]
    return textwrap.fill(", ".join([row["input"], str(row["size"]), *extra]), 55)


def _bars(axes: Any, rows: list[dict[str, Any]]) -> None:
    ours = [row["ours"]["median_s"] for row in rows]
    places = [place - 0.2 for place in range(len(rows))]
    axes.barh(places, ours, height=0.38, label="Kleene", color="#2a6f97")
    rivals = [(place + 0.2, row) for place, row in enumerate(rows) if row["theirs"]]
    theirs = [row["theirs"]["median_s"] for _, row in rivals]
    axes.barh([place for place, _ in rivals], theirs, height=0.38, label="rival", color="#c8b6a6")
    for (place, row), value in zip(rivals, theirs, strict=True):
        axes.text(value, place, f" {row['rival']}, {row['ratio']:.3g}x", va="center", fontsize=8)
