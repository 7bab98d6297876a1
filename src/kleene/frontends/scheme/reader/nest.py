"""Nesting: tokens to nodes with parents, and equal texts to one number.

Nodes stand in the order of their first token. A node's parent is the list, or the prefix such as a
quote, around it; `ROOT` for the data of the text, `DROPPED` for what a datum comment hides.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, U8
from kleene.frontends.scheme.reader import scan
from kleene.frontends.scheme.reader.compiled import device_function, entry_point
from kleene.kernels.bits import mix

ROOT, DROPPED = -1, -2

# What can be wrong; 0 is nothing.
UNCLOSED, UNOPENED, MISMATCHED, MISPLACED_DOT, NO_DATUM = 11, 12, 13, 14, 15

_LABEL, _LABEL_USE = scan.LABEL, scan.LABEL_USE
_LIST, _SQUARE, _BYTES = scan.LIST, scan.SQUARE, scan.BYTES
_COMMENT, _CLOSE, _DOT = scan.COMMENT, scan.CLOSE, scan.DOT


@entry_point
def nest(
    kind: U8, start: I32, end: I32, token: I32, parent: I32, close: I32, dot: I32
) -> tuple[int, int, int, int]:
    """Return how many nodes there are, a fault or 0, its token, and the opener's token.

    Args:
        kind: of each token; the next two likewise.
        start: its first byte.
        end: the byte after its last.
        token: filled with the token that each node begins with; as long as the tokens.
        parent: filled with each node's parent.
        close: filled with the byte after each node's last.
        dot: filled with how many items stand before the dot in a list, or -1.
    """
    n_nodes, depth = 0, 0
    stack = np.empty(len(kind) + 1, np.int32)
    n_items = np.zeros(len(kind) + 1, np.int32)
    stack[0] = ROOT
    for t in range(len(kind)):
        k = kind[t]
        around = stack[depth]
        if k >= _CLOSE:
            if depth == 0:
                return n_nodes, (MISPLACED_DOT if k == _DOT else UNOPENED), t, t
            opener = kind[token[around]]
            if opener < _LIST or opener > _BYTES:
                return n_nodes, NO_DATUM, token[around], token[around]
            if k == _DOT:
                if opener > _SQUARE or n_items[around] == 0 or dot[around] >= 0:
                    return n_nodes, MISPLACED_DOT, t, token[around]
                dot[around] = n_items[around]
                continue
            if (k == _CLOSE) == (opener == _SQUARE):
                return n_nodes, MISMATCHED, t, token[around]
            if dot[around] >= 0 and n_items[around] != dot[around] + 1:
                return n_nodes, MISPLACED_DOT, t, token[around]
            close[around] = end[t]
            depth -= 1
        else:
            node = n_nodes
            n_nodes += 1
            token[node] = t
            dot[node] = -1
            close[node] = end[t]
            if k == _COMMENT:
                parent[node] = DROPPED
            else:
                parent[node] = around
                if around >= 0:
                    n_items[around] += 1
            if k >= _LIST or k == _LABEL:
                depth += 1
                stack[depth] = node
                continue
        # A datum is complete, and with it the prefixes that waited for it.
        while depth > 0:
            waiting = stack[depth]
            k = kind[token[waiting]]
            if k != _LABEL and k <= _BYTES:
                break
            close[waiting] = end[t]
            depth -= 1
            if k == _COMMENT:
                break
    if depth > 0:
        opener = token[stack[depth]]
        is_prefix = kind[opener] == _LABEL or kind[opener] > _BYTES
        return n_nodes, (NO_DATUM if is_prefix else UNCLOSED), opener, token[stack[1]]
    return n_nodes, 0, 0, 0


@entry_point
def intern(text: U8, kind: U8, start: I32, end: I32, number: I32, first: I32) -> int:
    """Return how many different texts the atoms have.

    Args:
        text: the bytes.
        kind: of each token; the next two likewise.
        start: its first byte.
        end: the byte after its last.
        number: filled with the number of each atom's text, -1 for other tokens.
        first: filled with the first token of each text.
    """
    n_slots = 16
    while n_slots < 2 * len(kind):
        n_slots *= 2
    slots = np.full(n_slots, -1, np.int32)
    n_texts = 0
    for t in range(len(kind)):
        number[t] = -1
        if kind[t] > _LABEL_USE:
            continue
        slot = _hash(text, kind[t], start[t], end[t]) & (n_slots - 1)
        while slots[slot] >= 0:
            other = first[slots[slot]]
            if kind[other] == kind[t] and _equal(text, start[other], start[t], end[other], end[t]):
                break
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = n_texts
            first[n_texts] = t
            n_texts += 1
        number[t] = slots[slot]
    return n_texts


@device_function
def _hash(text: U8, kind: int, i: int, j: int) -> int:
    """Return a hash of a text and its kind, below 2^30."""
    h = kind
    for k in range(i, j):
        h = mix(h, text[k])
    return h & 0x3FFFFFFF


@device_function
def _equal(text: U8, i: int, j: int, i_end: int, j_end: int) -> bool:
    if i_end - i != j_end - j:
        return False
    while i < i_end and text[i] == text[j]:
        i += 1
        j += 1
    return i == i_end
