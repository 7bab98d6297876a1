"""How long do statements take on the CPU: on one core, or on all together?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kleene.ir.loops.tree import Element, Variable, walk
from kleene.offload.plans.machine import Machine
from kleene.offload.plans.work import Piece, base_of, footprint

_SECOND_CACHE = 2 << 20  # bytes, of a core
_THIRD_CACHE = 24 << 20  # bytes, of a CPU
_PAGES = 4096  # pages whose places a core remembers


def host_s(pieces: Sequence[Piece], on: Machine, prefix: str) -> float:
    """Return the seconds of statements, on one core ("core") or on all together ("cores")."""
    return sum(float(np.mean(one.times)) * _iteration(one, on, prefix) for one in pieces)


def _iteration(piece: Piece, on: Machine, prefix: str) -> float:
    """Return the seconds of one execution of a statement: of its operations, or of its accesses.

    An access that goes on by one element takes its bytes, another one a line. What the loop around
    comes back to, and what the second-level cache holds, takes nothing; what the third holds, half.
    """

    def speed(name: str) -> float:
        return float(getattr(on, f"{prefix}_{name}"))

    steps: dict[Any, tuple[Element, float, bool]] = {}
    for is_write, listed in ((False, piece.reads), (True, piece.writes)):
        for one in listed:
            step = piece.step_bytes(one)
            known = steps.get((base_of(one), is_write))
            if known is None or known[1] < step:
                steps[base_of(one), is_write] = (one, step, is_write)
    apart = [step for one, step, _ in steps.values() if step > one.type.bits // 8]
    n_accesses = len(piece.reads) + len(piece.writes)
    flops = (piece.flops + piece.n_whole + 0.5 * n_accesses) * (
        4.0 if apart else 1.0
    ) + 10 * piece.n_slow
    arithmetic = flops / speed("flops")
    if waits_for_writes(piece):  # each division for the one before
        arithmetic += 8 * piece.n_slow / speed("chain_flops")
    if piece.is_sum:
        arithmetic = max(arithmetic, 2 / speed("chain_flops"))
    memory = 0.0
    for one, step, is_write in steps.values():
        held = footprint([replace(piece, reads=(one,), writes=())], {})[0]
        if not step or held < _SECOND_CACHE or _comes_back(piece, one, step):
            continue
        size = one.type.bits // 8
        if step <= size:
            seconds = size / (2 * speed("bytes_s"))
        elif is_write and (base_of(one), False) in steps:
            seconds = 0.0  # its line is there by the read
        else:
            seconds = speed("page_s" if piece.trips > _PAGES else "line_s")
        memory += seconds * (0.5 if held < _THIRD_CACHE else 1.0)
    return max(arithmetic, memory)


def _comes_back(piece: Piece, one: Element, step: float) -> bool:
    """Return whether the loop around the innermost one touches the same elements, and few."""
    if len(piece.loops) < 2 or piece.trips * min(step, 64.0) > _SECOND_CACHE / 4:
        return False
    names = {p.symbol for p in walk(one) if isinstance(p, Variable)}
    return piece.loops[-2].variable not in names


def waits_for_writes(piece: Piece) -> bool:
    """Return whether loads of an array wait until the iteration before has written to it."""
    written = {base_of(one) for one in piece.writes}
    return not piece.is_sum and any(base_of(one) in written for one in piece.reads)
