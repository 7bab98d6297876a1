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
        yield f"  {_place(one):{width}}  {name:{names}}  {one['verdict']:4}  {_verdict(one)}\n"
        for text in _notes(one):
            yield f"  {'':{width}}  {'':{names}}        {text}\n"


def _place(loop: dict[str, Any]) -> str:
    return f"{os.path.relpath(loop['file'])}:{loop['line']}"


def _name(loop: dict[str, Any]) -> str:
    return str(loop["variable"] or loop["kind"])


def _verdict(loop: dict[str, Any]) -> str:
    parts = [_WORDS[loop["verdict"]]]
    if loop["verdict"] in ("SEQ", "MAY"):
        return parts[0]
    for one in loop["reductions"]:
        parts.append(f"reduction({one['operator']}:{one['name']})")
    private = [one["name"] for one in loop["private"] if not one["is_counter"]]
    if private:
        parts.append(f"private({', '.join(private)})")
    if loop["copy"]:
        parts.append(f"snapshot({', '.join(loop['copy'])})")
    if loop["inductions"]:
        parts.append(f"induction({', '.join(loop['inductions'])})")
    if loop["if_no_overlap"]:
        parts.append(f"if no overlap of {_pairs(loop)}")
    return " ".join(parts)


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
    for one in loop["reductions"]:
        if one["is_floating"]:
            yield f"{one['name']}: floating-point results are combined in another order"
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
