"""Debug metadata: nodes that carry places and names, attachments, and debug records."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, Nodes, Text, no_refcount, noinline
from kleene.frontends.c.reader.bits.cursor import go_to, item, left
from kleene.frontends.c.reader.bits.state import (
    FAULT,
    FUNCTION,
    GLOBAL_ROW,
    MAX_ROWS,
    MD_DATA,
    MD_EMPTY_EXPRESSION,
    MD_EXPRESSION,
    MD_KIND,
    MD_LIST,
    MD_SHIFT,
    MD_STRING,
    MD_VALUE,
    N_GLOBALS,
    N_MD,
    N_MODULE_MD,
    N_ROWS,
    STRINGS_END,
)
from kleene.frontends.c.reader.bits.stream import R_CODE, R_WIDTH
from kleene.frontends.c.reader.metadata import (
    BLOCK,
    FILE,
    GLOBAL,
    GLOBAL_EXPRESSION,
    LOCAL,
    LOCATION,
    M_ARGUMENT,
    M_COLUMN,
    M_DIRECTORY,
    M_FILE,
    M_FILENAME,
    M_INLINED,
    M_KIND,
    M_LINE,
    M_NAME,
    M_SCOPE,
    M_VARIABLE,
    SUBPROGRAM,
)
from kleene.frontends.c.reader.state import (
    F_GLOBAL,
    F_WIDTH,
    FUNCTIONS,
    G_DEBUG,
    G_WIDTH,
    GLOBALS,
)
from kleene.frontends.c.reader.symbols import symbol

_LARGEST = (1 << 31) - 1
_EXPRESSION_VERSION, _VARIABLE_VERSION = 3, 2
_HAS_FLAGS = 4  # of a subprogram: since LLVM 8
# Records that take a number; the others name, attach or index.
TAKES_NUMBER = np.zeros(64, np.bool_)
TAKES_NUMBER[[blocks.MD_VALUE, blocks.MD_NODE, blocks.MD_DISTINCT, blocks.MD_LOCATION]] = True
TAKES_NUMBER[blocks.MD_GENERIC : blocks.MD_MACRO_FILE + 1] = True
TAKES_NUMBER[[37, 40, 41, 44, 45, 46, 47, 48, 49]] = True
_IS_PASSED_OVER = np.zeros(64, np.bool_)
_IS_PASSED_OVER[[blocks.MD_NAME, blocks.MD_NAMED, blocks.MD_INDEX, blocks.MD_INDEX_PLACE]] = True


@no_refcount
def row_of(h: Cells, number: int) -> int:
    """Return the row of the metadata of this number."""
    row = number if number < h[N_MODULE_MD] else number + h[MD_SHIFT]
    if number < 0 or row >= h[MAX_ROWS]:
        h[FAULT] = 1
        return 0
    return row


@no_refcount
def reference(c: Cells, h: Cells) -> int:
    """Return the row that the next operand refers to, plus one; 0 for none."""
    number = item(c, h)
    return row_of(h, number - 1) + 1 if number else 0


@no_refcount
def name(c: Cells, h: Cells) -> int:
    """Return the symbol of the text that the next operand refers to; 0 for none."""
    row = reference(c, h) - 1
    if row < 0:
        return 0
    if h[h[MD_KIND] + row] != MD_STRING:
        h[FAULT] = 1
        return 0
    return h[h[MD_DATA] + row]


@no_refcount
def count(c: Cells, h: Cells) -> int:
    """Return the next operand, a line or the like."""
    return min(max(item(c, h), 0), _LARGEST)


@no_refcount
def new_row(h: Cells) -> int:
    """Give the next number to a piece of metadata; return its row."""
    row = h[N_ROWS]
    if row >= h[MAX_ROWS]:
        h[FAULT] = 1
        return 0
    h[N_ROWS] += 1
    h[N_MD] += 1
    return row


@no_refcount
def length(text: Text, place: int) -> tuple[int, int]:
    """Return the number written at a place in bits, six at a time, and the place after it."""
    number, shift = 0, 0
    while True:
        window = text[place >> 3] | (np.int64(text[(place >> 3) + 1]) << 8)
        chunk = (window >> (place & 7)) & 63
        number |= (chunk & 31) << shift
        place += 6
        shift += 5
        if chunk < 32 or shift > 30:
            return number, place


@no_refcount
def strings(text: Text, s: Cells, c: Cells, h: Cells) -> None:
    """Number texts: in a blob their lengths, then their letters."""
    noinline()
    n_texts, offset = item(c, h), item(c, h)
    first, size = item(c, h), item(c, h)
    if n_texts < 0 or offset < 0 or size < 0 or offset > size or first + size > h[STRINGS_END]:
        h[FAULT] = 1
        return
    place, letters, end = 8 * first, first + offset, first + size
    for _ in range(n_texts):
        if place + 6 > 8 * (first + offset):
            h[FAULT] = 1
            return
        n_letters, place = length(text, place)
        row = new_row(h)
        if n_letters > end - letters or h[FAULT]:
            h[FAULT] = 1
            return
        h[h[MD_KIND] + row] = MD_STRING
        h[h[MD_DATA] + row] = symbol(text, s, letters, letters + n_letters, False)
        letters += n_letters


@no_refcount
def scope(c: Cells, h: Cells, nodes: Nodes, row: int, code: int) -> None:
    """Read a place or what surrounds one."""
    noinline()
    head = item(c, h)
    if code == blocks.MD_LOCATION:
        nodes[row, M_KIND] = LOCATION
        nodes[row, M_LINE], nodes[row, M_COLUMN] = count(c, h), count(c, h)
        nodes[row, M_SCOPE] = row_of(h, item(c, h)) + 1
        nodes[row, M_INLINED] = reference(c, h)
    elif code == blocks.MD_SUBPROGRAM:
        if not head & _HAS_FLAGS:
            h[FAULT] = 1
        nodes[row, M_KIND], nodes[row, M_SCOPE] = SUBPROGRAM, reference(c, h)
        nodes[row, M_NAME] = name(c, h)
        reference(c, h)  # the linker's name
        nodes[row, M_FILE], nodes[row, M_LINE] = reference(c, h), count(c, h)
    elif code == blocks.MD_FILE:
        nodes[row, M_KIND] = FILE
        nodes[row, M_FILENAME], nodes[row, M_DIRECTORY] = name(c, h), name(c, h)
    else:
        nodes[row, M_KIND], nodes[row, M_SCOPE] = BLOCK, reference(c, h)
        nodes[row, M_FILE] = reference(c, h)
        if code == blocks.MD_BLOCK:
            nodes[row, M_LINE], nodes[row, M_COLUMN] = count(c, h), count(c, h)


@no_refcount
def variable(c: Cells, h: Cells, nodes: Nodes, row: int, code: int) -> None:
    """Read a variable of the source, or what ties a global to one."""
    noinline()
    head = item(c, h)
    if code == blocks.MD_GLOBAL_EXPRESSION:
        nodes[row, M_KIND], nodes[row, M_VARIABLE] = GLOBAL_EXPRESSION, reference(c, h)
        return
    nodes[row, M_KIND] = LOCAL if code == blocks.MD_LOCAL else GLOBAL
    nodes[row, M_SCOPE], nodes[row, M_NAME] = reference(c, h), name(c, h)
    if code == blocks.MD_GLOBAL:
        reference(c, h)  # the linker's name
        if head >> 1 != _VARIABLE_VERSION:
            h[FAULT] = 1
    elif head >> 1 != 1:  # no alignment: long ago
        h[FAULT] = 1
    nodes[row, M_FILE], nodes[row, M_LINE] = reference(c, h), count(c, h)
    if code == blocks.MD_LOCAL:
        reference(c, h)  # type
        nodes[row, M_ARGUMENT] = count(c, h)


@no_refcount
def attach(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read pairs of kind and node; the first place among them is the global's in `row`."""
    while left(h) >= 2 and not h[FAULT]:
        kind, node = item(c, h), row_of(h, item(c, h))
        if kind == 0 and m[row + G_DEBUG] < 0:
            m[row + G_DEBUG] = node


@no_refcount
def metadata_record(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, record: int
) -> None:
    """Read one record of metadata."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    if code == blocks.MD_STRINGS:
        strings(text, s, c, h)
    elif code == blocks.MD_GLOBAL_ATTACHMENT:
        number = item(c, h)
        if number < 0 or number >= h[N_GLOBALS]:
            h[FAULT] = 1
            return
        attach(c, h, m, m[GLOBALS] + h[h[GLOBAL_ROW] + number] * G_WIDTH)
    elif 0 <= code < len(TAKES_NUMBER) and TAKES_NUMBER[code]:
        node(c, h, nodes, code)
    elif code < 0 or code >= len(TAKES_NUMBER) or not _IS_PASSED_OVER[code]:
        h[FAULT] = 1


@no_refcount
def node(c: Cells, h: Cells, nodes: Nodes, code: int) -> None:
    """Read metadata that takes a number."""
    noinline()
    row = new_row(h)
    if h[FAULT]:
        return
    if code == blocks.MD_VALUE:
        item(c, h)  # type
        h[h[MD_KIND] + row], h[h[MD_DATA] + row] = MD_VALUE, item(c, h)
    elif code == blocks.MD_EXPRESSION:
        if item(c, h) >> 1 != _EXPRESSION_VERSION:
            h[FAULT] = 1
        h[h[MD_KIND] + row] = MD_EXPRESSION if left(h) > 0 else MD_EMPTY_EXPRESSION
    elif code == blocks.MD_LIST:
        h[h[MD_KIND] + row] = MD_LIST
    elif (
        code == blocks.MD_LOCATION
        or code == blocks.MD_SUBPROGRAM
        or code == blocks.MD_FILE
        or code == blocks.MD_BLOCK
        or code == blocks.MD_BLOCK_FILE
    ):
        scope(c, h, nodes, row, code)
    elif code == blocks.MD_GLOBAL or code == blocks.MD_LOCAL or code == blocks.MD_GLOBAL_EXPRESSION:
        variable(c, h, nodes, row, code)


@no_refcount
def attachment(c: Cells, h: Cells, m: Cells) -> None:
    """Read an attachment; those of instructions are not about places."""
    if left(h) & 1 == 0:
        function = m[m[FUNCTIONS] + h[FUNCTION] * F_WIDTH + F_GLOBAL]
        attach(c, h, m, m[GLOBALS] + function * G_WIDTH)
