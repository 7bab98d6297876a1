"""Rows of a shard: sets as (index, word) pairs by rising index, made once and never changed.

A caller makes sure of space for what it makes: `room` says whether there is any.
"""

from __future__ import annotations

import numpy as np

from kleene.kernels.bits import lowest, mix, n_set
from kleene.solvers.inclusion.compiled import device_function, entry_point
from kleene.solvers.inclusion.cpu import state
from kleene.solvers.inclusion.cpu.constraints import Rules
from kleene.solvers.inclusion.cpu.state import Shard, new_shard, sized


@device_function
def room(s: Shard, n_words: int, n_rows: int) -> bool:
    """Return whether so many rows with so many words in all can be made."""
    fits: bool = s.n[state.WORDS] + n_words <= s.n[state.WORDS_ROOM]
    fits &= s.n[state.ROWS] + n_rows <= s.n[state.ROWS_ROOM]
    return fits


@device_function
def keep(s: Shard, end: int) -> int:
    """Return the row made of the words written behind the last one; 0 if there are none."""
    start = s.n[state.WORDS]
    if end == start:
        return 0
    row: int = s.n[state.ROWS]
    s.row_start[row] = start
    s.row_length[row] = end - start
    s.row_owned[row] = 0
    s.n[state.ROWS] = row + 1
    s.n[state.WORDS] = end
    return row


@device_function
def seek(s: Shard, at: int, end: int, index: int) -> int:
    """Return the first place from `at` to `end` with at least this index, by doubling steps."""
    if at >= end or s.indices[at] >= index:
        return at
    step = 1
    while at + step < end and s.indices[at + step] < index:
        at += step
        step *= 2
    end = min(at + step, end)
    while at + 1 < end:
        middle = (at + end) >> 1
        if s.indices[middle] < index:
            at = middle
        else:
            end = middle
    return end


@device_function
def minus(s: Shard, left: int, right: int, hide: bool) -> int:
    """Return a row for what `left` has and `right` has not; without what escaped, if to hide it."""
    i, j = s.row_start[left], s.row_start[right]
    i_end, j_end = i + s.row_length[left], j + s.row_length[right]
    at = s.n[state.WORDS]
    while i < i_end:
        index, word = s.indices[i], s.words[i]
        j = seek(s, j, j_end, index)
        if j < j_end and s.indices[j] == index:
            word &= ~s.words[j]
        if hide:
            word &= ~s.escaped[index]
        if word != 0:
            s.indices[at] = index
            s.words[at] = word
            at += 1
        i += 1
    return keep(s, at)


@device_function
def union(s: Shard, left: int, right: int) -> int:
    """Return a row for what either has."""
    i, j = s.row_start[left], s.row_start[right]
    i_end, j_end = i + s.row_length[left], j + s.row_length[right]
    at = s.n[state.WORDS]
    while j < j_end:
        index = s.indices[j]
        while i < i_end and s.indices[i] < index:
            s.indices[at] = s.indices[i]
            s.words[at] = s.words[i]
            i += 1
            at += 1
        word = s.words[j]
        if i < i_end and s.indices[i] == index:
            word |= s.words[i]
            i += 1
        s.indices[at] = index
        s.words[at] = word
        at += 1
        j += 1
    while i < i_end:
        s.indices[at] = s.indices[i]
        s.words[at] = s.words[i]
        i += 1
        at += 1
    return keep(s, at)


@device_function
def extend(s: Shard, row: int, new: int) -> bool:
    """Add a row to one that may change, if it has all the words; return whether it had."""
    start, end = s.row_start[row], s.row_start[row] + s.row_length[row]
    first, last = s.row_start[new], s.row_start[new] + s.row_length[new]
    at = start
    for i in range(first, last):
        at = seek(s, at, end, s.indices[i])
        if at == end or s.indices[at] != s.indices[i]:
            return False
    at = start
    for i in range(first, last):
        at = seek(s, at, end, s.indices[i])
        s.words[at] |= s.words[i]
    return True


@device_function
def gather(s: Shard, row: int) -> None:
    """Add a row to the scratch set."""
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        place = s.indices[i]
        s.scratch[place] |= s.words[i]
        s.touched[place >> 6] |= np.uint64(1) << np.uint64(place & 63)


@device_function
def take(s: Shard, known: int, hide: bool) -> int:
    """Return a row for what the scratch set has and `known` has not; empty the scratch set.

    If what escaped is to be hidden, the row is without it.
    """
    j = s.row_start[known]
    j_end = j + s.row_length[known]
    at = s.n[state.WORDS]
    for block in range((s.n[state.RANGE] >> 6) + 1):
        places = s.touched[block]
        s.touched[block] = 0
        while places != 0:
            place = (block << 6) + lowest(places)
            places &= places - np.uint64(1)
            word = s.scratch[place]
            s.scratch[place] = 0
            j = seek(s, j, j_end, place)
            if j < j_end and s.indices[j] == place:
                word &= ~s.words[j]
            if hide:
                word &= ~s.escaped[place]
            if word != 0:
                s.indices[at] = place
                s.words[at] = word
                at += 1
    return keep(s, at)


@device_function
def same(s: Shard, left: int, right: int) -> bool:
    """Return whether two rows hold the same set."""
    if left == right:
        return True
    if s.row_length[left] != s.row_length[right]:
        return False
    i, j = s.row_start[left], s.row_start[right]
    for k in range(s.row_length[left]):
        if s.indices[i + k] != s.indices[j + k] or s.words[i + k] != s.words[j + k]:
            return False
    return True


@device_function
def size(s: Shard, row: int) -> int:
    """Return how many objects a row has."""
    n = 0
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        n += n_set(s.words[i])
    return n


@device_function
def hash_of(s: Shard, row: int) -> int:
    """Return a number that equal rows share."""
    value = 0
    start = s.row_start[row]
    for i in range(start, start + s.row_length[row]):
        value = mix(mix(value, s.words[i]), s.indices[i])
    return value


@entry_point
def reclaim(s: Shard) -> None:
    """Move the rows still named together, and give them new numbers."""
    n_rows, n_classes = s.n[state.ROWS], s.n[state.CLASSES]
    number = np.zeros(n_rows, np.int32)
    for node in range(len(s.node_row)):
        number[s.node_row[node]] = 1
        cell = s.head[node]
        while cell >= 0:
            number[s.cell_row[cell]] = 1
            cell = s.cell_next[cell]
    number[s.pointer_row] = 1
    number[s.class_row[:n_classes]] = 1
    number[0] = 0
    n_kept, at = 1, 0
    for row in range(1, n_rows):  # starts rise with row numbers: words only move down
        if number[row] == 0:
            continue
        start, length = s.row_start[row], s.row_length[row]
        for i in range(length):
            s.indices[at + i] = s.indices[start + i]
            s.words[at + i] = s.words[start + i]
        s.row_start[n_kept] = at
        s.row_length[n_kept] = length
        s.row_owned[n_kept] = s.row_owned[row]
        number[row] = n_kept
        n_kept += 1
        at += length
    s.n[state.ROWS] = n_kept
    s.n[state.WORDS] = at
    for node in range(len(s.node_row)):
        s.node_row[node] = number[s.node_row[node]]
        cell = s.head[node]
        while cell >= 0:
            s.cell_row[cell] = number[s.cell_row[cell]]
            cell = s.cell_next[cell]
    for pointer in range(len(s.pointer_row)):
        s.pointer_row[pointer] = number[s.pointer_row[pointer]]
    for k in range(n_classes):
        s.class_row[k] = number[s.class_row[k]]


def more_words(s: Shard) -> Shard:
    """Return the shard with room for rows: those no longer named go, then arrays grow."""
    reclaim(s)
    sizes = {}
    if 2 * s.n[state.WORDS] > len(s.words):
        sizes["word"] = 2 * len(s.words)
    if 2 * s.n[state.ROWS] > len(s.row_start):
        sizes["row"] = 2 * len(s.row_start)
    return sized(s, sizes)


def part_of(s: Shard, rules: Rules, first: int, step: int) -> Shard:
    """Return the words `first`, `first + step`, … of a shard that has all, between iterations.

    Rows keep their numbers; those that are empty here become row 0. Classes do not come along: if
    two shards knew one class by its nodes, a pointer that joins it in the one, where its part of
    the set is equal, would be given what the other has added since. Edges made by classes stay
    in the graph, and a pointer that grows gets a class again, which makes its edges once more.
    """
    n_rows, n_words = int(s.n[state.ROWS]), int(s.n[state.WORDS])
    n_own = int(np.count_nonzero(s.indices[:n_words] % step == first))
    part = new_shard(rules, first, step, len(s.node_row), 2 * n_rows, 2 * n_own)
    part.row_owned[:n_rows] = s.row_owned[:n_rows]
    part.escaped[:] = s.escaped[first::step]
    part.n[state.ROWS] = n_rows
    _copy_words(s, part)
    for name in ("node_row", "pointer_row"):
        row = getattr(s, name)
        getattr(part, name)[:] = np.where(part.row_length[row] > 0, row, 0)
    return part


@entry_point
def _copy_words(s: Shard, part: Shard) -> None:
    """Copy to each row of a part the words that belong there."""
    at = 0
    for row in range(1, part.n[state.ROWS]):
        part.row_start[row] = at
        for i in range(s.row_start[row], s.row_start[row] + s.row_length[row]):
            if s.indices[i] % part.step == part.first:
                part.indices[at] = s.indices[i] // part.step
                part.words[at] = s.words[i]
                at += 1
        part.row_length[row] = at - part.row_start[row]
    part.n[state.WORDS] = at
