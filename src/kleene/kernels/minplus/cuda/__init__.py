"""The operations on GPUs; see `kleene.kernels.minplus`.

All arrays are on the GPU (`to_device`, `to_host` move them), offsets too, and stay there: so does
what is returned for a batch. What is returned for one octagon, without offsets, is waited for; of
batches, only `close` and `minimal` wait: they must know the largest octagon. For one octagon
numbers travel with the launch, and all of the GPU works where a batch gives a block to each.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kleene.kernels.minplus.cuda import closure
from kleene.kernels.minplus.cuda.modules import (
    arrays,
    ends,
    few,
    module,
    run,
    run_blocks,
    to_device,
    to_host,
)
from kleene.kernels.minplus.layout import Array, Each, Forms, infinity, n_variables

__all__ = ["to_device", "to_host"]


def _cut(m: Array, offsets: Array) -> Any:
    return ends(len(m)) if offsets is None else offsets


def close(m: Array, offsets: Array, tighten: bool) -> Any:
    """Close strongly."""
    if offsets is None:
        arrays(m)
        n = n_variables(len(m))
        close_one = closure.close_large if n > closure.LARGEST_ALONE else closure.close_tile
        return close_one(m, n, tighten)
    xp = arrays(m, offsets)
    codes = xp.full(len(offsets) - 1, closure.WIDER, np.uint8)
    least, largest = _ends_of_sizes(offsets)
    small = range(least, min(largest, closure.LARGEST_TILE) + 1)
    closure.close_tiles(m, offsets, codes, small, tighten)
    for t, begin, end, n in _large(offsets, largest):
        codes[t] = closure.close_large(m[begin:end], n, tighten)
    return codes.view(np.bool_)


def strengthen(m: Array, offsets: Array, tighten: bool) -> Any:
    """Combine unary bounds."""
    if offsets is None and n_variables(len(m)) > closure.LARGEST_TILE:
        return _revise(m, "prepare_given", [(np.int32(-1), np.int32(-1), m.dtype.type(0))], tighten)
    cut = _cut(m, offsets)
    xp = arrays(m, cut)
    n_octagons, found = _flags(xp, cut)
    args = (m, cut, np.int32(tighten), _scratch(xp, m, n_octagons), found)
    run_blocks("revise", "strengthen_each", m.dtype, n_octagons, len(m), *args)
    return found


def close_after(
    m: Array,
    offsets: Array,
    rows: Array,
    columns: Array,
    bounds: Array,
    starts: Array,
    tighten: bool,
) -> Any:
    """Add constraints to closed octagons and close them again."""
    if offsets is None and n_variables(len(m)) > closure.LARGEST_TILE:
        arrays(rows, columns, bounds)
        turns = [(rows, columns, bounds, np.int32(s)) for s in range(len(rows))]
        return _revise(m, "prepare_one", turns, tighten)
    cut, lists = _cut(m, offsets), (_cut(rows, starts), rows, columns, bounds)
    xp = arrays(m, cut, *lists)
    n_octagons, found = _flags(xp, cut)
    args = (m, cut, *lists, np.int32(tighten), _scratch(xp, m, n_octagons), found)
    run_blocks("revise", "close_after_each", m.dtype, n_octagons, len(m), *args)
    return found


def constrain(
    m: Array, rows: Sequence[int], columns: Sequence[int], bounds: Sequence[Any], tighten: bool
) -> bool:
    """Do what `close_after` does with constraints of the host: they travel with the launches."""
    cells = zip(rows, columns, bounds, strict=True)
    turns = [(np.int32(i), np.int32(j), m.dtype.type(bound)) for i, j, bound in cells]
    return _revise(m, "prepare_given", turns, tighten)


def _revise(m: Array, kernel: str, turns: list[Any], tighten: bool) -> bool:
    """Take up constraints, as `kernel` wants them, one after the other with all of the GPU."""
    xp, n = arrays(m), np.int32(n_variables(len(m)))
    if not turns or not n:
        return not (n and m[:1].item() < 0)
    scratch, code = xp.empty(12 * int(n), m.dtype), xp.ones(1, np.int32)
    kernels, flag = module("revise", m.dtype), np.int32(tighten)
    for constraint in turns:
        kernels.launch(kernel, (1,), (1024,), (m, n, *constraint, flag, scratch, code))
        run("revise", "apply_one", m.dtype, 1, len(m), m, n, flag, scratch, code)
    return bool(code.item() != closure.EMPTY)


def add(
    m: Array, offsets: Array, rows: Array, columns: Array, bounds: Array, starts: Array
) -> None:
    """Add constraints: two cells each, and nothing else is touched."""
    args = (m, _cut(m, offsets), _cut(rows, starts), rows, columns, bounds)
    arrays(*args)
    run("operations", "add", m.dtype, len(args[1]) - 1, len(rows), *args)


def join(out: Array, a: Array, b: Array) -> None:
    """Write the pointwise maximum."""
    arrays(out, a, b)
    run("operations", "join", a.dtype, 1, len(a), out, a, b, np.int64(len(a)))


def meet(out: Array, a: Array, b: Array) -> None:
    """Write the pointwise minimum."""
    arrays(out, a, b)
    run("operations", "meet", a.dtype, 1, len(a), out, a, b, np.int64(len(a)))


def widen(out: Array, a: Array, b: Array, offsets: Array, thresholds: Array) -> None:
    """Keep stable bounds."""
    cut = _cut(a, offsets)
    xp = arrays(out, a, b, cut)
    steps = thresholds if len(thresholds) else xp.zeros(0, a.dtype)
    arrays(steps)
    args = (out, a, b, cut, _is_empty(xp, a, cut), steps, np.int32(len(steps)))
    run("operations", "widen", a.dtype, len(cut) - 1, len(a), *args)


def narrow(out: Array, a: Array, b: Array, offsets: Array) -> None:
    """Refine missing bounds only."""
    cut = _cut(a, offsets)
    xp = arrays(out, a, b, cut)
    args = (out, a, b, cut, _is_empty(xp, b, cut))
    run("operations", "narrow", a.dtype, len(cut) - 1, len(a), *args)


def includes(a: Array, b: Array, offsets: Array) -> Any:
    """Return whether every bound of `a` is no tighter than that of `b`."""
    return _compare(a, b, _cut(a, offsets), False)


def equals(a: Array, b: Array, offsets: Array) -> Any:
    """Return whether all bounds are the same."""
    return _compare(a, b, _cut(a, offsets), True)


def forget(m: Array, offsets: Array, variable: Each) -> None:
    """Drop all bounds on a variable."""
    free = infinity(m.dtype)
    if offsets is not None:
        free = arrays(m).full(len(variable), free, m.dtype)
    assign_interval(m, offsets, variable, free, free)


def assign(
    m: Array, offsets: Array, target: Each, source: Each, negate: Each, up: Each, down: Each
) -> None:
    """Assign x := ±y + d."""
    if offsets is None:
        arrays(m)
        n = n_variables(len(m))
        args = (np.int32(n), np.int32(target), np.int32(source), np.int32(negate))
        run("operations", "move_one", m.dtype, 1, 2 * n, m, *args, *_two(m, up, down))
        return
    columns = (m, offsets, target, source, negate, up, down)
    arrays(*columns)
    run("operations", "move_each", m.dtype, len(offsets) - 1, 0, *columns)


def assign_interval(m: Array, offsets: Array, variable: Each, up: Each, down: Each) -> None:
    """Assign x := d."""
    if offsets is None:
        arrays(m)
        n = n_variables(len(m))
        args = (np.int32(n), np.int32(variable), *_two(m, up, down))
        run("operations", "set_one", m.dtype, 1, 2 * n, m, *args)
        return
    columns = (m, offsets, variable, up, down)
    arrays(*columns)
    run("operations", "set_each", m.dtype, len(offsets) - 1, 0, *columns)


def assign_linear(m: Array, offsets: Array, target: Each, forms: Forms, tighten: bool) -> None:
    """Assign an interval linear form; see linear.cu."""
    cut, n_ends, variables = _cut(m, offsets), 0, forms.variables
    limits = forms.up, forms.down
    if offsets is None:  # as many blocks as its variables ask for
        n_ends, target = 2 * n_variables(len(m)), few(target)
        both = to_device(np.array(limits, m.dtype))
        limits = both[:1], both[1:]
    starts = _cut(variables, forms.starts)
    lists = (starts, variables, forms.lows, forms.highs, *limits)
    xp = arrays(m, cut, target, *lists)
    scratch = _scratch(xp, m, len(cut) - 1) if n_ends == 0 else xp.empty(4 * n_ends + 2, m.dtype)
    kernel, flag = (m.dtype, len(cut) - 1), np.int32(tighten)
    n_bounds = 4 * len(variables) + 2
    run("linear", "bound_form", *kernel, n_bounds, m, cut, target, *lists, flag, scratch)
    run("linear", "reach_form", *kernel, n_ends, m, cut, starts, variables, scratch)
    run("linear", "write_form", *kernel, n_ends, m, cut, target, starts, variables, flag, scratch)


def unary(out: Array, m: Array, offsets: Array, starts: Array) -> None:
    """Read twice the bounds."""
    args = (out, _cut(out, starts), m, _cut(m, offsets))
    arrays(*args)
    run("operations", "unary", m.dtype, len(args[3]) - 1, len(out), *args)


def select(
    out: Array, m: Array, variables: Array, offsets: Array, out_offsets: Array, starts: Array
) -> None:
    """Read some variables."""
    both = (out, _cut(out, out_offsets), m, _cut(m, offsets))
    args = (*both, variables, _cut(variables, starts))
    arrays(*args)
    run("operations", "select_rows", m.dtype, len(both[3]) - 1, len(out), *args)


def place(
    out: Array, m: Array, variables: Array, offsets: Array, out_offsets: Array, starts: Array
) -> None:
    """Write some variables."""
    cut, cut_out = _cut(m, offsets), _cut(out, out_offsets)
    args = (m, cut, variables, _cut(variables, starts))
    is_empty = _is_empty(arrays(out, cut_out, *args), out, cut_out)
    kernel = ("operations", "place_rows", m.dtype, len(cut) - 1, len(out))
    run(*kernel, out, cut_out, is_empty, *args)


def minimal(out: Array, m: Array, offsets: Array) -> None:
    """Mark the constraints to keep."""
    is_lead = _mark_small(out, m, _cut(m, offsets))
    if offsets is not None:
        large = _large(offsets, _ends_of_sizes(offsets)[1])
    else:
        n = n_variables(len(m))
        large = [(0, 0, len(m), n)] if n > closure.LARGEST_TILE else []
    for _, begin, end, n in large:
        closure.mark_needed(out[begin:end], m[begin:end], n, is_lead[begin:end])


def _mark_small(out: Array, m: Array, offsets: Array) -> Any:
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


def labels(m: Array, offsets: Array = None, starts: Array = None) -> Any:
    """Return for each variable the least of its component, as int32; in a batch from starts[t] on.

    Components are as small as can be, if a bound between variables of two of them is to follow from
    the bounds on each.
    """
    cut = _cut(m, offsets)
    n = n_variables(len(m)) if starts is None else int(starts[-1])
    found, firsts = arrays(m, cut).empty(n, np.int32), ends(n) if starts is None else starts
    kernel = (m.dtype, len(cut) - 1)
    run("survey", "find_first", *kernel, len(m), found, firsts, m, cut)
    run("survey", "relate", *kernel, len(m), found, firsts, m, cut)
    run("survey", "name_groups", *kernel, len(found), found, firsts)
    return found


def greatest(m: Array) -> int:
    """Return the greatest absolute value of a bound, of one octagon of integers."""
    found = arrays(m).zeros(1, np.uint64)
    run("survey", "find_greatest", m.dtype, 1, len(m), found, m, ends(len(m)))
    return int(found.item())


def divisor(m: Array, of: int) -> int:
    """Return the greatest that divides all bounds of one octagon of integers, and `of`."""
    found = arrays(m).full(1, of, np.uint64)
    run("survey", "find_divisor", m.dtype, 1, len(m), found, m, ends(len(m)))
    return int(found.item())


def _compare(a: Array, b: Array, offsets: Array, for_equality: bool) -> Any:
    xp = arrays(a, b, offsets)
    found = xp.ones(len(offsets) - 1, np.bool_)
    args = (a, b, offsets, np.int32(for_equality), found)
    run("operations", "compare", a.dtype, len(offsets) - 1, len(a), *args)
    return found


def _is_empty(xp: Any, m: Array, offsets: Array) -> Any:
    """Return which octagons are empty, before they are written."""
    n_octagons, found = _flags(xp, offsets)
    args = (m, offsets, found, np.int32(n_octagons))
    run("operations", "find_empty", m.dtype, -(-n_octagons // 64), 0, *args)
    return found


def _flags(xp: Any, offsets: Array) -> tuple[int, Any]:
    return len(offsets) - 1, xp.empty(len(offsets) - 1, np.bool_)


def _scratch(xp: Any, m: Array, n_octagons: int) -> Any:
    """Return scratch space for six vectors of each octagon; see revise.cu."""
    return xp.empty(len(m) + 12 * n_octagons, m.dtype)


def _ends_of_sizes(offsets: Array) -> tuple[int, int]:
    """Return the variables of the smallest and of the largest octagon."""
    if len(offsets) < 2:
        return 0, 0
    lengths = offsets[1:] - offsets[:-1]
    return n_variables(int(lengths.min())), n_variables(int(lengths.max()))


def _large(offsets: Array, largest: int) -> Any:
    """Yield those beyond a tile: which, where they begin and end, their variables."""
    if largest <= closure.LARGEST_TILE:
        return
    cut = [int(offset) for offset in offsets.tolist()]
    for t, (begin, end) in enumerate(pairwise(cut)):
        if (n := n_variables(end - begin)) > closure.LARGEST_TILE:
            yield t, begin, end, n


def _two(m: Array, up: Each, down: Each) -> tuple[Any, Any]:
    return m.dtype.type(up), m.dtype.type(down)
