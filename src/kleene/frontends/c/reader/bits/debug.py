"""Where instructions come from, which value is which variable, and metadata in operands."""

from __future__ import annotations

from kleene.frontends.c.reader.bits import blocks
from kleene.frontends.c.reader.bits.compiled import Cells, Nodes, no_refcount, noinline
from kleene.frontends.c.reader.bits.cursor import item, left, typed, value
from kleene.frontends.c.reader.bits.metadata import count, reference, row_of
from kleene.frontends.c.reader.bits.state import (
    FAULT,
    FUNCTION,
    LAST_PLACE,
    MAX_NODES,
    MD_DATA,
    MD_EMPTY_EXPRESSION,
    MD_KIND,
    MD_STRING,
    MD_VALUE,
    N_NODES,
    N_VALUES,
)
from kleene.frontends.c.reader.interned import plain_constant
from kleene.frontends.c.reader.metadata import (
    LOCATION,
    M_COLUMN,
    M_INLINED,
    M_KIND,
    M_LINE,
    M_SCOPE,
)
from kleene.frontends.c.reader.state import (
    A_NODE,
    BINDINGS,
    I_DEBUG,
    I_WIDTH,
    INSTRUCTIONS,
    N_BINDINGS,
    N_INSTRUCTIONS,
    TAG_NUMBERED,
    V_BEFORE,
    V_EXACT,
    V_FUNCTION,
    V_KIND,
    V_PLACE,
    V_VALUE,
    V_VARIABLE,
    V_WIDTH,
    VALUE_TEXT,
)
from kleene.frontends.c.reader.types import METADATA
from kleene.ir.codes import Binding, ConstantKind

ASSIGN, DECLARE, VALUE = int(Binding.ASSIGN), int(Binding.DECLARE), int(Binding.VALUE)
METADATA_CONSTANT = int(ConstantKind.METADATA)


@no_refcount
def place(c: Cells, h: Cells, m: Cells, nodes: Nodes, is_new: bool) -> None:
    """Read where the last instruction comes from; it may be where the one before does."""
    noinline()
    if is_new:
        row = h[N_NODES]
        if row >= h[MAX_NODES]:
            h[FAULT] = 1
            return
        nodes[row, M_KIND] = LOCATION
        nodes[row, M_LINE], nodes[row, M_COLUMN] = count(c, h), count(c, h)
        nodes[row, M_SCOPE], nodes[row, M_INLINED] = reference(c, h), reference(c, h)
        if nodes[row, M_SCOPE] == 0:
            h[FAULT] = 1
        h[LAST_PLACE] = row
        h[N_NODES] = row + 1
    if h[LAST_PLACE] < 0 or m[N_INSTRUCTIONS] == 0:
        h[FAULT] = 1
        return
    m[m[INSTRUCTIONS] + (m[N_INSTRUCTIONS] - 1) * I_WIDTH + I_DEBUG] = h[LAST_PLACE]


@no_refcount
def bound_value(c: Cells, h: Cells) -> int:
    """Return the value behind the metadata that the next operand names, -1 if it is no value."""
    row = row_of(h, item(c, h))
    if h[h[MD_KIND] + row] != MD_VALUE:
        return -1
    return value(h, h[h[MD_DATA] + row])


@no_refcount
def metadata_constant(c: Cells, h: Cells, m: Cells) -> int:
    """Return the metadata that the next operand names as values are named: a text, or a node."""
    noinline()
    row = row_of(h, (h[N_VALUES] - item(c, h)) & 0xFFFFFFFF)
    kind = h[h[MD_KIND] + row]
    if kind == MD_STRING:
        return plain_constant(m, METADATA_CONSTANT, METADATA, h[h[MD_DATA] + row])
    text = A_NODE
    if kind == MD_VALUE:
        inside = value(h, h[h[MD_DATA] + row])
        if inside < TAG_NUMBERED:
            text = VALUE_TEXT - inside
    return plain_constant(m, METADATA_CONSTANT, METADATA, text)


@no_refcount
def debug_record(c: Cells, h: Cells, m: Cells, code: int) -> None:
    """Read which value a variable is from the last instruction on; it stands before that."""
    noinline()
    if code == blocks.DEBUG_LABEL or code == blocks.DEBUG_DECLARE_VALUE:
        return
    if m[N_INSTRUCTIONS] == 0:
        h[FAULT] = 1
        return
    where, variable_row, shape = row_of(h, item(c, h)), row_of(h, item(c, h)), item(c, h)
    is_exact = h[h[MD_KIND] + row_of(h, shape)] == MD_EMPTY_EXPRESSION
    kind = VALUE
    bound = typed(c, h) if code == blocks.DEBUG_SIMPLE else bound_value(c, h)
    if code == blocks.DEBUG_DECLARE:
        kind = DECLARE
    elif code == blocks.DEBUG_ASSIGN:
        kind = ASSIGN
        item(c, h)  # which assignment
        item(c, h)  # the address's expression
        if bound_value(c, h) < 0:
            bound = -1
    if left(h) != 0:
        h[FAULT] = 1
    if bound < 0 or h[FAULT]:
        return
    row = m[BINDINGS] + m[N_BINDINGS] * V_WIDTH
    m[row + V_KIND], m[row + V_EXACT], m[row + V_VALUE] = kind, is_exact, bound
    m[row + V_BEFORE], m[row + V_FUNCTION] = m[N_INSTRUCTIONS] - 1, h[FUNCTION]
    m[row + V_VARIABLE], m[row + V_PLACE] = variable_row, where
    m[N_BINDINGS] += 1
