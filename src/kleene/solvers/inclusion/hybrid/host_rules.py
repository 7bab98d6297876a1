"""The rules of cuda/rules.cu on the CPU: the same rows, masks and maps, some blocks a thread.

A thread owns the same blocks of every row, so no two write one word. Which objects a pointer holds
a thread may read while their owner adds to them: a bit seen too early is fresh, and has its turn
next round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kleene.kernels import compiled
from kleene.kernels.bits import lowest
from kleene.solvers.inclusion.cuda.tables import CONTENTS, RESULT
from kleene.solvers.inclusion.hybrid.compiled import (
    device_function,
    entry_point,
    parallel_entry_point,
)
from kleene.solvers.inclusion.problem import BY_LAYOUT

COPY, PUSH, PULL, OFFSET = range(4)
_ONE = np.uint64(1)


@device_function
def target(maps: Any, special: Any, map_: int, o: int, into: bool) -> Any:
    """Return the node that object o stands for in a map, or -1; see rules.cu."""
    contents, function_of, result, rest, formal_offsets, formals = maps
    if o == special[0]:
        return special[2] if into else special[1]
    if map_ == CONTENTS:
        return contents[o]
    function = function_of[o]
    if function < 0:
        return -1
    if map_ == RESULT:
        return result[function]
    at = formal_offsets[function] + map_
    return formals[at] if at < formal_offsets[function + 1] else rest[function]


@device_function
def flow(rows: Any, masks: Any, source: int, to: int, full: bool, mine: Any, gained: Any) -> None:
    """Add the blocks `mine` of row `source` to row `to`: all it holds, or what it gained."""
    every, delta, fresh, block_words = rows
    every_mask, delta_mask = masks
    blocks = mine & (every_mask[source] if full else delta_mask[source])
    while blocks:
        block = lowest(blocks)
        blocks &= blocks - _ONE
        found = False
        for w in range(block * block_words, min((block + 1) * block_words, every.shape[1])):
            new = (every[source, w] if full else delta[source, w]) & ~every[to, w]
            if new:
                every[to, w] |= new
                fresh[to, w] |= new
                found = True
        if found:
            gained[to] |= _ONE << np.uint64(block)


@device_function
def through(
    rows: Any, masks: Any, maps: Any, special: Any, rule: Any, push: bool, mine: Any, gained: Any
) -> None:
    """Fire one push or pull (pointer, other, map) on the blocks `mine` of what flows."""
    every, delta, _, block_words = rows
    every_mask, delta_mask = masks
    pointer, other, map_ = rule
    blocks = every_mask[pointer]
    if push and not delta_mask[other]:
        blocks = delta_mask[pointer]
    while blocks:
        block = lowest(blocks)
        blocks &= blocks - _ONE
        for w in range(block * block_words, min((block + 1) * block_words, every.shape[1])):
            held = every[pointer, w]
            while held:
                bit = lowest(held)
                held &= held - _ONE
                node = target(maps, special, map_, w * 64 + bit, push)
                if node < 0 or node == other:
                    continue
                is_new = (delta[pointer, w] >> np.uint64(bit)) & _ONE != 0
                source, to = (other, node) if push else (node, other)
                if is_new or delta_mask[source]:
                    flow(rows, masks, source, to, is_new, mine, gained)


@device_function
def gain(rows: Any, to: int, o: int, mine: Any, gained: Any) -> None:
    """Add object o to a row, if it lies in the blocks `mine`."""
    every, _, fresh, block_words = rows
    place, bit = o // 64, _ONE << np.uint64(o % 64)
    block = _ONE << np.uint64(place // block_words)
    if mine & block and not every[to, place] & bit:
        every[to, place] |= bit
        fresh[to, place] |= bit
        gained[to] |= block


@device_function
def offset(rows: Any, masks: Any, images: Any, rule: Any, mine: Any, gained: Any) -> None:
    """Fire one offset (source, to, amount) for the objects that land in the blocks `mine`."""
    every, delta, _, block_words = rows
    source, to, amount = rule
    blocks = masks[1][source]
    while blocks:
        from_block = lowest(blocks)
        blocks &= blocks - _ONE
        for w in range(
            from_block * block_words, min((from_block + 1) * block_words, every.shape[1])
        ):
            recent = delta[source, w]
            while recent:
                o = w * 64 + lowest(recent)
                recent &= recent - _ONE
                start, end = images.first[o], images.end[o]
                table = -1
                if amount <= BY_LAYOUT and images.layout[o] >= 0:
                    table = images.rows[(BY_LAYOUT - amount) * images.n_layouts + images.layout[o]]
                if table >= 0:
                    at = table + o - start
                    for i in range(images.offsets[at], images.offsets[at + 1]):
                        gain(rows, to, start + images.images[i], mine, gained)
                elif 0 <= amount < end - o:
                    gain(rows, to, o + amount, mine, gained)
                else:
                    for moved in range(start, end):
                        gain(rows, to, moved, mine, gained)


@parallel_entry_point
def fire(
    kind: int,
    rules: Any,
    active: Any,
    rows: Any,
    masks: Any,
    maps: Any,
    special: Any,
    images: Any,
    owned: Any,
    gained: Any,
) -> None:
    """Fire the active rules of one kind; thread i writes the blocks owned[i], notes gained[i]."""
    first, second, third = rules
    for thread in compiled.prange(len(owned)):
        mine, mask = owned[thread], gained[thread]
        for i in active:
            rule = (first[i], second[i], third[i])
            if kind == COPY:
                flow(rows, masks, rule[0], rule[1], False, mine, mask)
            elif kind == OFFSET:
                offset(rows, masks, images, rule, mine, mask)
            else:
                through(rows, masks, maps, special, rule, kind == PUSH, mine, mask)


@entry_point
def active_rules(kind: int, rules: Any, masks: Any, dirty: Any, out: Any) -> int:
    """Write the rules of one kind that have work to `out`; return how many."""
    first, second, third = rules
    every_mask, delta_mask = masks
    count = 0
    for i in range(len(first)):
        wanted = delta_mask[first[i]] != 0
        if kind == PUSH:
            wanted = wanted or delta_mask[second[i]] != 0
        elif kind == PULL:
            wanted = wanted or (every_mask[first[i]] & dirty[1 if third[i] == RESULT else 0]) != 0
        if wanted:
            out[count] = i
            count += 1
    return count


@entry_point
def dirty_blocks(maps: Any, special: Any, masks: Any, block_words: int, out: Any) -> None:
    """Set out[0], out[1]: the blocks with an object whose contents, whose result, gained."""
    contents, function_of, result = maps[0], maps[1], maps[2]
    out[:] = 0
    for o in range(len(contents)):
        block = _ONE << np.uint64(o // 64 // block_words)
        at = special[1] if o == special[0] else contents[o]
        if at >= 0 and masks[1][at]:
            out[0] |= block
        function = function_of[o]
        at = special[1] if o == special[0] else (result[function] if function >= 0 else -1)
        if at >= 0 and masks[1][at]:
            out[1] |= block
