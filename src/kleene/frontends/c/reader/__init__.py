"""LLVM's printed text to a `Program`: Numba over bytes, no Python object per instruction.

`tokens` takes the bytes apart, `module` parses the tokens into one heap of integers, `assemble`
turns that into columns. Only text that LLVM itself printed is to be read: what it means is taken
for granted, but nothing in it can make the reader leave its arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kleene.frontends.c.reader.faults import unread

if TYPE_CHECKING:
    from kleene.ir.program import Program

PADDING = b"\n" + bytes(64)  # what the scanners stop at; a text that brings it is not copied
VERSION = 3  # of the tables that come out: to be raised whenever they change for some text


def read(text: bytes) -> Program:
    """Return the program that LLVM printed as `text`.

    Raises:
        SourceError: `c/unread`; LLVM printed something else.
    """
    import numpy as np

    from kleene.frontends.c.reader import module, state, tokens
    from kleene.frontends.c.reader.assemble import assemble

    if not text.endswith(PADDING):
        text += PADDING
    if text.find(0) != len(text) - len(PADDING) + 1:
        raise unread("the module's text contains a NUL byte")
    taken = tokens.take_apart(np.frombuffer(text, np.uint8))
    sizes = taken.sizes()
    table_bits = max(10, (sizes.tokens // 16).bit_length())
    while True:
        heap = state.allocate(sizes, table_bits)
        stopped = module.read_module(taken.cells, heap)
        if not heap[state.FULL]:
            break
        table_bits += 2
    if stopped >= 0:
        place = int(taken.cells[2 * stopped + 1])
        line = text.count(b"\n", 0, place) + 1
        words = text[place : text.find(b"\n", place)][:200].decode(errors="replace")
        raise unread(f"line {line} of the module's text is not understood: {words}")

    def excerpt(number: int) -> bytes:
        rows = state.table_of(heap, state.EXCERPTS, int(heap[state.N_EXCERPTS]))
        first, end = (taken.cells[2 * token + 1] for token in rows[number])
        return text[first:end].rstrip()

    return assemble(taken.texts(text), taken.nodes, heap, excerpt)


__all__ = ["PADDING", "VERSION", "read"]
