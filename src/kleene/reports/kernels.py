"""Verdicts on loops as people read them: a line for each loop, and below it why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

_WORDS = {
    "PAR": "parallel",
    "PRIV": "parallel",
    "COPY": "parallel",
    "RED": "parallel",
    "SEQ": "sequential",
    "MAY": "not proved",
}


def lines(loops: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the text of loops, given as the JSON has them."""
    listed = list(loops)
    width = max((len(_place(one)) for one in listed), default=0)
    names = max((2 * one["depth"] + len(_name(one)) for one in listed), default=0)
    function = None
    for one in listed:
        if one["function"] != function:
            function = one["function"]
            yield f"{function}\n"
        name = "  " * one["depth"] + _name(one)
        yield f"  {_place(one):{width}}  {name:{names}}  {one['verdict']:4}  {verdict_text(one)}\n"
        for text in _notes(one):
            yield f"  {'':{width}}  {'':{names}}        {text}\n"


def _place(loop: dict[str, Any]) -> str:
    return f"{os.path.relpath(loop['file'])}:{loop['line']}"


def _name(loop: dict[str, Any]) -> str:
    return str(loop["variable"] or loop["kind"])


def verdict_text(loop: dict[str, Any]) -> str:
    """Return a verdict in words, with what it asks for."""
    return " ".join([_WORDS[loop["verdict"]], *loop["clauses"]])


def _pairs(loop: dict[str, Any]) -> str:
    return ", ".join(f"{one} and {other}" for one, other in loop["if_no_overlap"])


def _notes(loop: dict[str, Any]) -> Iterator[str]:
    if (witness := loop["witness"]) is not None:
        yield from _witness(witness)
    if loop["verdict"] == "MAY":
        for one in loop["reasons"]:
            yield f"{one['code']}: {one['detail']} (line {one['line']})"
    if (found := loop["conflicting_input"]) is not None:
        given = found["parameters"] | found["memory"]
        values = ", ".join(f"{name} = {value}" for name, value in given.items())
        first, second = found["first"], found["second"]
        yield (
            f"{found['element']} is used at {_iteration(first)} (line {first['line']})"
            f" and {_iteration(second)} (line {second['line']})"
            f"{f', for {values}' if values else ''}"
        )
    for one in loop["scans"]:
        rounding = ", which rounds differently" if one["is_floating"] else ""
        name = f"scan({one['operator']}:{one['name']})"
        yield f"{name}: parallel prefix algorithms compute it{rounding}"
    for one in loop["transformations"]:
        yield f"after {one['kind']}: {one['detail']}"
    if loop["if_no_overlap"] and (loop["scans"] or loop["transformations"]):
        yield f"that holds if no overlap of {_pairs(loop)}"
    if loop["verdict"] in ("SEQ", "MAY"):
        return
    for one, other in loop["apart_by_points_to"]:
        yield f"{one} and {other} point to different storage in every call of the program"
    for one in loop["overlap_checks"]:
        if one is not None:
            yield f"no overlap: {one}"
    for one in loop["reductions"]:
        if one["is_floating"]:
            yield f"{one['name']}: floating-point results are combined in another order"
        if one["kept"]:
            names = " and ".join(one["kept"])
            yield f"{names}: kept with {one['name']}; of equal values that of the {one['ties']}"
    for one in loop["private"]:
        if one["last"] and not one["is_counter"]:
            yield f"{one['name']}: keeps the value of the {one['last']}"
    for text in loop["assumptions"]:
        yield f"assumed: {text}"


def _witness(witness: dict[str, Any]) -> Iterator[str]:
    write, read = witness["write"], witness["read"]
    given = ", ".join(f"{name} = {value}" for name, value in witness["parameters"].items())
    yield (
        f"{witness['element']} written at {_iteration(write)} (line {write['line']}),"
        f" read at {_iteration(read)} (line {read['line']})"
        f"{f', for {given}' if given else ''}"
    )


def _iteration(instance: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in instance["iteration"].items())


# Kernels

_COPIES = {"in": "copyin", "out": "copyout", "inout": "copy"}  # as OpenACC calls them


def kernel_lines(kernels: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield the text of kernels, given as the JSON has them."""
    for one in kernels:
        block = " x ".join(str(size) for size in one["block"])
        yield f"\nkernel of {one['function']}, {_place(one)}: {grid_text(one)}; blocks of {block}\n"
        for text in _kernel_notes(one):
            yield f"  {text}\n"
        yield from _columns(_movements(one))
        yield from _columns(_accesses(one))
        for text in _shared(one):
            yield f"  {text}\n"


def grid_text(kernel: dict[str, Any]) -> str:
    """Return which loop is which coordinate of the grid, and how many iterations it has."""
    trips = {axis["variable"]: axis["trips"] for axis in kernel["grid"]}
    axes = (f"{axis} = {name} of {trips[name]}" for axis, name in kernel["mapping"].items())
    return ", ".join(axes)


def _kernel_notes(kernel: dict[str, Any]) -> Iterator[str]:
    if kernel["values"]:
        values = ", ".join(f"{name} = {value}" for name, value in kernel["values"].items())
        yield f"{kernel['basis']}: {values}"
    for one in kernel["reasons"]:
        yield f"no further loop on the grid: {one['code']}: {one['detail']} (line {one['line']})"
    if kernel["callees"]:
        yield f"device functions: {', '.join(kernel['callees'])}"


def _movements(kernel: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    scalars = [one for one in kernel["parameters"] if one["is_scalar"]]
    for one in scalars:
        yield ("scalar " + one["direction"], one["name"], "", "")
    for one in kernel["parameters"]:
        if one["is_scalar"]:
            continue
        moved = one["in"] if one["direction"] == "in" else one["out"] or one["in"]
        nested = f"through {one['nested_in']}" if one["nested_in"] else ""
        # Which pointers must not overlap stands with the loop.
        short = dict.fromkeys(text.partition(" of ")[0] for text in one["assumptions"])
        basis = f"{one['basis']}: {', '.join(short)}".rstrip(": ")
        section = section_text(moved)
        if one["direction"] == "inout" and section_text(one["in"]) != section:
            section = f"{section_text(one['in'])} in, {section} out"
        parts = nested, "" if basis == "proved" else basis
        notes = "; ".join(part for part in parts if part)
        yield (_COPIES[one["direction"]], one["name"], section, notes)


def section_text(section: dict[str, Any] | None) -> str:
    """Return a section as `[first, end) bytes`, with `~` if it may be larger than needed."""
    if section is None:
        return ""
    if section["first"] is None or section["end"] is None:
        return "unknown section"
    return f"{'' if section['is_exact'] else '~'}[{section['first']}, {section['end']})"


def _accesses(kernel: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    if kernel["accesses"]:
        yield ("access", "", "pattern", "stride", "lines", "sectors", "")
    for one in kernel["accesses"]:
        verb = "writes" if one["is_write"] else "reads"
        lines, sectors = requests_text(one)
        basis = f"assumed: {', '.join(one['assumptions'])}" if one["assumptions"] else ""
        stride = "" if one["stride"] is None else one["stride"]
        yield (verb, one["text"], one["pattern"], stride, lines, sectors, basis)


def requests_text(access: dict[str, Any]) -> tuple[str, str]:
    """Return the lines and sectors of a warp: numbers, or how they grow up to their limit."""
    if access["counted"]:
        return str(access["counted"]["lines"]), str(access["counted"]["sectors"])
    return tuple(
        access[name] if access[name].isdigit() else f"{limit} at most"
        for name, limit in (("lines", 32), ("sectors", 32 * -(-(access["bytes"] or 1) // 32)))
    )  # type: ignore[return-value]


def _shared(kernel: dict[str, Any]) -> Iterator[str]:
    for one in kernel["sharing"]:
        size = one["bytes"] or "an unknown number of"
        tile = " x ".join(one["tile"])
        if one["kind"] == "staging":
            yield (
                f"shared memory: stage {one['texts'][0]} through a tile of {tile} elements,"
                f" {size} bytes, without bank conflicts"
            )
            continue
        shape = f"a tile of {tile} elements, " if tile else ""
        common = ", ".join(
            f"{value or 'some'} along {name}"
            for name, value in one["overlaps"].items()
            if value != "0"
        )
        unit = "elements" if tile else "bytes"
        conflicts = (
            f"; bank conflicts: {one['bank_conflicts']}" if one["bank_conflicts"] > 1 else ""
        )
        yield (
            f"shared memory: {one['root']} as {shape}{size} bytes a block;"
            f" neighbours share {common} ({unit}){conflicts}"
        )


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows with aligned columns."""
    listed = list(rows)
    widths = (
        [max(len(row[place]) for row in listed) for place in range(len(listed[0]))]
        if listed
        else []
    )
    for row in listed:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip() + "\n"
