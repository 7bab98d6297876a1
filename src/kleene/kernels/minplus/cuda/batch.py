"""The batched operations on GPUs; see `kleene.kernels.minplus.batch`.

All arrays are on the GPU, offsets too, and so is what is returned. Only `close` and `minimal` wait
for the GPU: they must know the largest octagon.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus.cuda import closure
from kleene.kernels.minplus.cuda.modules import arrays, run, run_blocks
from kleene.kernels.minplus.layout import Forms, infinity, n_variables


def close(m: Any, offsets: Any, tighten: bool) -> Any:
    """Close each; return which have a point."""
    xp = arrays(m, offsets)
    codes = xp.full(len(offsets) - 1, closure.WIDER, np.uint8)
    least, largest = _ends_of_sizes(offsets)
    small = range(least, min(largest, closure.LARGEST_TILE) + 1)
    closure.close_tiles(m, offsets, codes, small, tighten)
    for t, begin, end, n in _large(offsets, largest):
        codes[t] = closure.close_large(m[begin:end], n, tighten)
    return codes.view(np.bool_)


def strengthen(m: Any, offsets: Any, tighten: bool) -> Any:
    """Combine the unary bounds of each; return which have a point."""
    xp = arrays(m, offsets)
    n_octagons, found = _flags(xp, offsets)
    args = (m, offsets, np.int32(tighten), _room(xp, m, n_octagons), found)
    run_blocks("revise", "strengthen_each", m.dtype, n_octagons, len(m), *args)
    return found


def close_after(
    m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any, tighten: bool
) -> Any:
    """Add constraints to closed octagons and close each again; return which have a point."""
    xp = arrays(m, offsets, starts, rows, columns, bounds)
    n_octagons, found = _flags(xp, offsets)
    args = (m, offsets, starts, rows, columns, bounds, np.int32(tighten))
    room = _room(xp, m, n_octagons)
    run_blocks("revise", "close_after_each", m.dtype, n_octagons, len(m), *args, room, found)
    return found


def add(m: Any, offsets: Any, starts: Any, rows: Any, columns: Any, bounds: Any) -> None:
    """Add constraints to each."""
    arrays(m, offsets, starts, rows, columns, bounds)
    args = (m, offsets, starts, rows, columns, bounds)
    run("operations", "add", m.dtype, len(offsets) - 1, len(rows), *args)


def join(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the join of each pair."""
    arrays(out, a, b)
    run("operations", "join", a.dtype, 1, len(a), out, a, b, np.int64(len(a)))


def meet(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Write the meet of each pair."""
    arrays(out, a, b)
    run("operations", "meet", a.dtype, 1, len(a), out, a, b, np.int64(len(a)))


def widen(out: Any, a: Any, b: Any, offsets: Any, thresholds: Any) -> None:
    """Widen each pair."""
    xp = arrays(out, a, b, offsets)
    steps = thresholds if len(thresholds) else xp.zeros(0, a.dtype)
    arrays(steps)
    args = (out, a, b, offsets, _is_empty(xp, a, offsets), steps, np.int32(len(steps)))
    run("operations", "widen", a.dtype, len(offsets) - 1, len(a), *args)


def narrow(out: Any, a: Any, b: Any, offsets: Any) -> None:
    """Narrow each pair."""
    xp = arrays(out, a, b, offsets)
    args = (out, a, b, offsets, _is_empty(xp, b, offsets))
    run("operations", "narrow", a.dtype, len(offsets) - 1, len(a), *args)


def includes(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons of `a` include those of `b`."""
    return _compare(a, b, offsets, False)


def equals(a: Any, b: Any, offsets: Any) -> Any:
    """Return which octagons are equal."""
    return _compare(a, b, offsets, True)


def forget(m: Any, offsets: Any, variables: Any) -> None:
    """Forget a variable of each."""
    free = arrays(m).full(len(variables), infinity(m.dtype), m.dtype)
    assign_interval(m, offsets, variables, free, free)


def shift(m: Any, offsets: Any, variables: Any, negate: Any, up: Any, down: Any) -> None:
    """Assign x := ±x + d in each."""
    assign(m, offsets, variables, variables, negate, up, down)


def assign(
    m: Any, offsets: Any, targets: Any, sources: Any, negate: Any, up: Any, down: Any
) -> None:
    """Assign x := ±y + d in each."""
    args = (m, offsets, targets, sources, negate, up, down)
    arrays(*args)
    run("operations", "move_each", m.dtype, len(offsets) - 1, 0, *args)


def assign_interval(m: Any, offsets: Any, variables: Any, up: Any, down: Any) -> None:
    """Assign x := d in each."""
    args = (m, offsets, variables, up, down)
    arrays(*args)
    run("operations", "set_each", m.dtype, len(offsets) - 1, 0, *args)


def assign_linear(m: Any, offsets: Any, targets: Any, forms: Forms, tighten: bool) -> None:
    """Assign an interval linear form in each."""
    room = _room(arrays(m, offsets, targets, *forms), m, len(offsets) - 1)
    assign_forms(m, offsets, targets, forms, tighten, room, 0)


def assign_forms(
    m: Any, offsets: Any, targets: Any, forms: Forms, tighten: bool, room: Any, n_ends: int
) -> None:
    """Assign forms, by as many blocks as `n_ends` of variables in all ask for; see linear.cu."""
    kernel, flag = (m.dtype, len(offsets) - 1), np.int32(tighten)
    chosen, n_bounds = (forms.starts, forms.variables), 4 * len(forms.variables) + 2
    run("linear", "bound_form", *kernel, n_bounds, m, offsets, targets, *forms, flag, room)
    run("linear", "reach_form", *kernel, n_ends, m, offsets, *chosen, room)
    run("linear", "write_form", *kernel, n_ends, m, offsets, targets, *chosen, flag, room)


def unary(out: Any, starts: Any, m: Any, offsets: Any) -> None:
    """Read twice the bounds of each."""
    args = (out, starts, m, offsets)
    arrays(*args)
    run("operations", "unary", m.dtype, len(offsets) - 1, len(out), *args)


def select(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Read some variables of each."""
    args = (out, out_offsets, m, offsets, variables, starts)
    arrays(*args)
    run("operations", "select_rows", m.dtype, len(offsets) - 1, len(out), *args)


def place(out: Any, out_offsets: Any, m: Any, offsets: Any, variables: Any, starts: Any) -> None:
    """Write some variables of each."""
    xp = arrays(out, out_offsets, m, offsets, variables, starts)
    args = (m, offsets, variables, starts)
    is_empty = _is_empty(xp, out, out_offsets)
    kernel = ("operations", "place_rows", m.dtype, len(offsets) - 1, len(out))
    run(*kernel, out, out_offsets, is_empty, *args)


def minimal(out: Any, m: Any, offsets: Any) -> None:
    """Mark the constraints of each to keep."""
    is_lead = mark_small(out, m, offsets)
    for _, begin, end, n in _large(offsets, _ends_of_sizes(offsets)[1]):
        closure.mark_needed(out[begin:end], m[begin:end], n, is_lead[begin:end])


def mark_small(out: Any, m: Any, offsets: Any) -> Any:
    """Mark what keeps classes together, and all of small octagons; return which rows lead."""
    xp = arrays(out, m, offsets)
    n_octagons, out[...] = len(offsets) - 1, False
    leader, is_lead = xp.empty(len(m), np.int32), xp.zeros(len(m), np.uint8)
    kernel = (m.dtype, n_octagons, len(m))
    run("reduction", "find_leaders", *kernel, m, offsets, leader)
    run("reduction", "mark_classes", *kernel, out, m, offsets, leader, is_lead)
    largest = np.int32(closure.LARGEST_TILE)
    run("reduction", "mark_leads", *kernel, out, m, offsets, is_lead, largest)
    return is_lead


def relate(labels: Any, starts: Any, m: Any, offsets: Any) -> None:
    """Label the variables of octagon t by the least of each group, from labels[starts[t]] on.

    Labels are int32. Groups are as small as can be, if a bound between variables of two groups is
    to follow from the bounds on each.
    """
    arrays(labels, starts, m, offsets)
    kernel = (m.dtype, len(offsets) - 1)
    run("survey", "find_first", *kernel, len(m), labels, starts, m, offsets)
    run("survey", "relate", *kernel, len(m), labels, starts, m, offsets)
    run("survey", "name_groups", *kernel, len(labels), labels, starts)


def greatest(m: Any, offsets: Any) -> Any:
    """Return the greatest absolute value of a bound of each octagon of integers, as uint64."""
    found = arrays(m, offsets).zeros(len(offsets) - 1, np.uint64)
    run("survey", "find_greatest", m.dtype, len(found), len(m), found, m, offsets)
    return found


def divide(divisors: Any, m: Any, offsets: Any) -> None:
    """Lower divisors[t] (uint64, not 0) to the greatest that divides octagon t of integers too."""
    arrays(divisors, m, offsets)
    run("survey", "find_divisor", m.dtype, len(divisors), len(m), divisors, m, offsets)


def _compare(a: Any, b: Any, offsets: Any, for_equality: bool) -> Any:
    xp = arrays(a, b, offsets)
    found = xp.ones(len(offsets) - 1, np.bool_)
    args = (a, b, offsets, np.int32(for_equality), found)
    run("operations", "compare", a.dtype, len(offsets) - 1, len(a), *args)
    return found


def _is_empty(xp: Any, m: Any, offsets: Any) -> Any:
    """Return which octagons are empty, before they are written."""
    n_octagons, found = _flags(xp, offsets)
    args = (m, offsets, found, np.int32(n_octagons))
    run("operations", "find_empty", m.dtype, -(-n_octagons // 64), 0, *args)
    return found


def _flags(xp: Any, offsets: Any) -> tuple[int, Any]:
    return len(offsets) - 1, xp.empty(len(offsets) - 1, np.bool_)


def _room(xp: Any, m: Any, n_octagons: int) -> Any:
    """Return room for six vectors of each octagon; see revise.cu."""
    return xp.empty(len(m) + 12 * n_octagons, m.dtype)


def _ends_of_sizes(offsets: Any) -> tuple[int, int]:
    """Return the variables of the smallest and of the largest octagon."""
    if len(offsets) < 2:
        return 0, 0
    lengths = offsets[1:] - offsets[:-1]
    return n_variables(int(lengths.min())), n_variables(int(lengths.max()))


def _large(offsets: Any, largest: int) -> Any:
    """Yield those beyond a tile: which, where they begin and end, their variables."""
    if largest <= closure.LARGEST_TILE:
        return
    cut = [int(offset) for offset in offsets.tolist()]
    for t, (begin, end) in enumerate(pairwise(cut)):
        if (n := n_variables(end - begin)) > closure.LARGEST_TILE:
            yield t, begin, end, n
