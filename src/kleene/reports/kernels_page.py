"""The annotated-source page of loops: verdicts, witnesses, accesses, data movement, pictures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from kleene.base.source_text import relative_path
from kleene.reports import pictures
from kleene.reports.html import Cell, Code, Link, Note, Section, page
from kleene.reports.kernels import grid_text, requests_text, section_text, verdict_text
from kleene.reports.pictures import Svg
from kleene.results import Finding

_MOST_PICTURES = 24


def kernels_page(
    title: str,
    result: dict[str, Any],
    *,
    findings: Sequence[Finding],
    files: Iterable[str],
    root: str | os.PathLike[str],
    subtitle: str,
) -> str:
    """Return a page of loops and kernels, given as the JSON has them.

    Args:
        title: what was analysed.
        result: the JSON of `kleene kernels`.
        findings: a note for each loop.
        files: the sources; those outside `root` are not shown.
        root: the folder that paths are shown from.
        subtitle: one line of numbers.
    """
    kernels = result["kernels"]
    inside = [file for file in files if not os.path.isabs(relative_path(file, root))]
    return page(
        title,
        sources=inside,
        root=root,
        notes=[_access_note(access) for kernel in kernels for access in kernel["accesses"]],
        findings=findings,
        sections=[
            *_sections(result["loops"], kernels, root),
            *_generated(result.get("generated", []), root),
        ],
        subtitle=subtitle,
    )


def _sections(
    loops: list[dict[str, Any]], kernels: list[dict[str, Any]], root: str | os.PathLike[str]
) -> Iterable[Section]:
    rows: list[tuple[Cell, ...]] = [
        (_link(one, root), one["function"], one["variable"], one["verdict"], verdict_text(one))
        for one in loops
    ]
    drawn = tuple(
        pictures.dependence(one["witness"])
        for one in loops
        if one["witness"] is not None and one["witness"]["write"]["iteration"]
    )
    text = "Arrows lead from the iteration that writes an element to the one that reads it."
    columns = ("loop", "function", "variable", "verdict", "what it hangs on")
    yield Section("Loops", columns, rows, text if drawn else "", drawn[:_MOST_PICTURES])
    if not kernels:
        return
    yield _kernels(kernels, root)
    yield _movements(kernels, root)
    yield _accesses(kernels, root)
    yield from _sharing(kernels, root)


def _generated(functions: list[dict[str, Any]], root: str | os.PathLike[str]) -> Iterable[Section]:
    """Yield the C of functions beside their kernels, with the times of both."""
    rows: list[tuple[Cell, ...]] = []
    for one in functions:
        if one["kernels"]:
            rows.append((_link(one, root), Code(one["source"]), Code(one["kernels"]), _times(one)))
    if rows:
        columns = ("function", "as it is written", "its kernels", "times")
        text = "Kernels that are generated; times are of calls with the sizes that were given."
        yield Section("Generated kernels", columns, rows, text)


def _times(one: dict[str, Any]) -> Cell:
    told = one["predicted"]
    if one["no_times"]:
        return f"no times: {one['no_times']}"
    if told is None:
        return f"sizes are missing: {', '.join(one['missing'])}"
    sizes = ", ".join(f"{name}={value}" for name, value in one["sizes"].items())
    measured = one["measured_s"]
    lines = [f"for {sizes}", f"predicted: {1e3 * told['kernels_s']:.4g} ms"]
    lines.append("not measured" if measured is None else f"measured: {1e3 * measured:.4g} ms")
    return Code("\n".join([*lines, "", *told["lines"]]))


def _kernels(kernels: list[dict[str, Any]], root: str | os.PathLike[str]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for one in kernels:
        why = "; ".join(f"{reason['code']}: {reason['detail']}" for reason in one["reasons"])
        moved = f"{one['bytes_in'] or 'unknown'} in, {one['bytes_out'] or 'unknown'} out"
        block = " x ".join(map(str, one["block"]))
        rows.append((_link(one, root), grid_text(one), block, moved, why))
    columns = ("kernel", "grid", "block", "bytes", "why no further loop")
    return Section("Kernels", columns, rows, "Loops that may become GPU kernels.")


def _movements(kernels: list[dict[str, Any]], root: str | os.PathLike[str]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for kernel in kernels:
        for one in kernel["parameters"]:
            basis = "; ".join([one["basis"], *one["assumptions"]])
            where = _link(kernel, root)
            sections = section_text(one["in"]), section_text(one["out"])
            name = f"{one['name']} through {one['nested_in']}" if one["nested_in"] else one["name"]
            rows.append((where, name, one["direction"], *sections, basis))
    columns = ("kernel", "name", "direction", "goes in", "comes out", "basis")
    text = "Sections [first, end) are bytes from where a pointer points to; ~ may be too large."
    return Section("Data movement", columns, rows, text)


def _accesses(kernels: list[dict[str, Any]], root: str | os.PathLike[str]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    drawn: dict[tuple[int, int], Svg] = {}
    for kernel in kernels:
        for one in kernel["accesses"]:
            lines, sectors = requests_text(one)
            stride = one["stride"] if one["stride"] is not None else ""
            verb = "writes" if one["is_write"] else "reads"
            basis = "; ".join([one["basis"], *one["assumptions"]])
            where = _link(one, root)
            rows.append((where, verb, one["text"], one["pattern"], stride, lines, sectors, basis))
            if _is_number(stride) and one["bytes"]:
                key = int(stride), one["bytes"]
                text = f"{one['text']}, {stride} bytes from thread to thread"
                drawn.setdefault(key, pictures.warp(*key, text))
    columns = ("place", "", "access", "pattern", "stride", "lines", "sectors", "basis")
    text = "Requests of 32 threads in lines of 128 and sectors of 32 bytes, from an aligned start."
    shown = tuple(list(drawn.values())[:_MOST_PICTURES])
    return Section("Memory accesses", columns, rows, text, shown)


def _sharing(kernels: list[dict[str, Any]], root: str | os.PathLike[str]) -> Iterable[Section]:
    rows: list[tuple[Cell, ...]] = []
    drawn: list[Svg] = []
    for kernel in kernels:
        for one in kernel["sharing"]:
            overlap = ", ".join(f"{value} along {name}" for name, value in one["overlaps"].items())
            size = " x ".join(one["tile"])
            conflicts = str(one["bank_conflicts"])
            where = _link(kernel, root)
            texts = ", ".join(one["texts"])
            rows.append((where, texts, one["kind"], size, one["bytes"] or "", overlap, conflicts))
            if one["tile"] and all(_is_number(part) for part in one["tile"]):
                sizes = [int(part) for part in one["tile"]]
                text = f"{one['root']}: {size} elements, {one['bytes']} bytes a block"
                drawn.append(pictures.tile(sizes, kernel["block"], text))
    if rows:
        columns = ("kernel", "accesses", "kind", "elements", "bytes", "shared", "bank conflicts")
        text = "What threads of a block read in common; filled cells are the block's own."
        yield Section("Shared memory", columns, rows, text, tuple(drawn[:_MOST_PICTURES]))


def _access_note(access: dict[str, Any]) -> Note:
    lines, sectors = requests_text(access)
    stride = f", stride {access['stride']}" if access["stride"] not in (None, "0") else ""
    text = f"{access['text']}: {access['pattern']}{stride}; {lines} lines, {sectors} sectors"
    return Note(access["file"], access["line"], text)


def _link(one: dict[str, Any], root: str | os.PathLike[str]) -> Link:
    return Link(f"{relative_path(one['file'], root)}:{one['line']}", one["file"], one["line"])


def _is_number(text: str) -> bool:
    return bool(text) and text.removeprefix("-").isdigit()
