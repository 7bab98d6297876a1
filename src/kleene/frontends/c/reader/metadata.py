"""Debug metadata: nodes with places and names, attachments, debug records; metadata operands."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.bitstream import R_CODE, R_WIDTH
from kleene.frontends.c.reader.compiled import Cells, Nodes, Text, device_function, noinline
from kleene.frontends.c.reader.constants import plain_constant
from kleene.frontends.c.reader.cursor import below, go_to, item, left, require, typed, value
from kleene.frontends.c.reader.strings import symbol
from kleene.ir.codes import Binding, ConstantKind

# Kinds of node that are kept.
OTHER, LOCATION, SUBPROGRAM, BLOCK, FILE, LOCAL, GLOBAL, GLOBAL_EXPRESSION, TYPE = range(9)
# Columns of a node. References to nodes are kept plus one: 0 is none.
M_KIND, M_NAME, M_SCOPE, M_FILE, M_LINE, M_COLUMN = range(6)
M_INLINED, M_VARIABLE, M_FILENAME, M_DIRECTORY, M_ARGUMENT = range(6, 11)
M_WIDTH = 12
# Columns of types and members; a variable has M_BASE too, its type. Sizes and offsets are in bits.
M_TAG, M_BASE, M_SIZE, M_OFFSET, M_IDENTIFIER, M_FLAGS, M_TABLE = range(5, 12)
_LARGEST, _LOW_HALF = (1 << 31) - 1, 0xFFFFFFFF
_IS_PASSED_OVER = np.zeros(64, np.bool_)
_IS_PASSED_OVER[
    [bitcodes.MD_NAME, bitcodes.MD_NAMED_NODE, bitcodes.MD_INDEX, bitcodes.MD_INDEX_OFFSET]
] = True


@device_function
def row_of(h: Cells, number: int) -> int:
    """Return the row of the metadata of this number."""
    require(h, number >= 0)
    row = number if number < h[state.N_MODULE_MD] else number + h[state.MD_SHIFT]
    return below(h, row, h[state.MAX_ROWS])


@device_function
def reference(c: Cells, h: Cells) -> int:
    """Return the row that the next operand refers to, plus one; 0 for none."""
    number = item(c, h)
    return row_of(h, number - 1) + 1 if number else 0


@device_function
def name(c: Cells, h: Cells) -> int:
    """Return the symbol of the text that the next operand refers to; 0 for none."""
    row = reference(c, h) - 1
    if row < 0:
        return 0
    require(h, h[h[state.MD_KIND] + row] == state.MD_STRING)
    return h[h[state.MD_DATA] + row]


@device_function
def count(c: Cells, h: Cells) -> int:
    """Return the next operand, a line or the like."""
    return min(max(item(c, h), 0), _LARGEST)


@device_function
def new_row(h: Cells) -> int:
    """Give the next number to a piece of metadata; return its row."""
    row = below(h, h[state.N_ROWS], h[state.MAX_ROWS])
    h[state.N_ROWS] += 1
    h[state.N_MD] += 1
    return row


@device_function
def length(text: Text, place: int) -> tuple[int, int]:
    """Return the number written at a place in bits, six at a time, and the place after it."""
    number, shift = 0, 0
    while True:
        window = int(text[place >> 3]) | int(text[(place >> 3) + 1]) << 8
        chunk = (window >> (place & 7)) & 63
        number |= (chunk & 31) << shift
        place += 6
        shift += 5
        if chunk < 32 or shift > 30:
            return number, place


@device_function
def strings(text: Text, s: Cells, c: Cells, h: Cells) -> None:
    """Number texts: in a blob their lengths, then their letters."""
    noinline()
    n_texts, offset = item(c, h), item(c, h)
    first, size = item(c, h), item(c, h)
    if (
        n_texts < 0
        or offset < 0
        or size < 0
        or offset > size
        or first + size > h[state.STRINGS_END]
    ):
        h[state.FAULT] = 1
        return
    place, letters, end = 8 * first, first + offset, first + size
    for _ in range(n_texts):
        if place + 6 > 8 * (first + offset):
            h[state.FAULT] = 1
            return
        n_letters, place = length(text, place)
        row = new_row(h)
        if n_letters > end - letters or h[state.FAULT]:
            h[state.FAULT] = 1
            return
        h[h[state.MD_KIND] + row] = state.MD_STRING
        h[h[state.MD_DATA] + row] = symbol(text, s, letters, letters + n_letters)
        letters += n_letters


@device_function
def scope(c: Cells, h: Cells, nodes: Nodes, row: int, code: int) -> None:
    """Read a place or what surrounds one."""
    noinline()
    at = row * M_WIDTH
    head = item(c, h)
    if code == bitcodes.MD_LOCATION:
        nodes[at + M_KIND] = LOCATION
        nodes[at + M_LINE], nodes[at + M_COLUMN] = count(c, h), count(c, h)
        nodes[at + M_SCOPE] = row_of(h, item(c, h)) + 1
        nodes[at + M_INLINED] = reference(c, h)
    elif code == bitcodes.MD_SUBPROGRAM:
        require(h, head & bitcodes.SUBPROGRAM_HAS_FLAGS)
        nodes[at + M_KIND], nodes[at + M_SCOPE] = SUBPROGRAM, reference(c, h)
        nodes[at + M_NAME] = name(c, h)
        reference(c, h)  # the linker's name
        nodes[at + M_FILE], nodes[at + M_LINE] = reference(c, h), count(c, h)
    elif code == bitcodes.MD_FILE:
        nodes[at + M_KIND] = FILE
        nodes[at + M_FILENAME], nodes[at + M_DIRECTORY] = name(c, h), name(c, h)
    else:
        nodes[at + M_KIND], nodes[at + M_SCOPE] = BLOCK, reference(c, h)
        nodes[at + M_FILE] = reference(c, h)
        if code == bitcodes.MD_LEXICAL_BLOCK:
            nodes[at + M_LINE], nodes[at + M_COLUMN] = count(c, h), count(c, h)


@device_function
def variable(c: Cells, h: Cells, nodes: Nodes, row: int, code: int) -> None:
    """Read a variable of the source, or what ties a global to one."""
    noinline()
    at = row * M_WIDTH
    head = item(c, h)
    if code == bitcodes.MD_GLOBAL_VAR_EXPR:
        nodes[at + M_KIND], nodes[at + M_VARIABLE] = GLOBAL_EXPRESSION, reference(c, h)
        return
    nodes[at + M_KIND] = LOCAL if code == bitcodes.MD_LOCAL_VAR else GLOBAL
    nodes[at + M_SCOPE], nodes[at + M_NAME] = reference(c, h), name(c, h)
    if code == bitcodes.MD_GLOBAL_VAR:
        reference(c, h)  # the linker's name
        require(h, head >> 1 == bitcodes.GLOBAL_VAR_VERSION)
    else:
        require(h, head >> 1 == bitcodes.LOCAL_VAR_VERSION)  # before, there was no alignment
    nodes[at + M_FILE], nodes[at + M_LINE] = reference(c, h), count(c, h)
    nodes[at + M_BASE] = reference(c, h)
    if code == bitcodes.MD_LOCAL_VAR:
        nodes[at + M_ARGUMENT] = count(c, h)


@device_function
def n_bits(c: Cells, h: Cells, m: Cells, is_metadata: bool) -> int:
    """Return a size or offset: a number, or metadata that is a constant; 0 if it is neither."""
    number = item(c, h)
    if not is_metadata or number == 0:
        return max(number, 0)
    row = row_of(h, number - 1)
    place = h[h[state.MD_DATA] + row]
    if h[h[state.MD_KIND] + row] != state.MD_VALUE or not 0 <= place < h[state.N_VALUES]:
        return 0
    tagged = h[h[state.VALUES] + place]
    if not tables.TAG_CONSTANT <= tagged < tables.TAG_ARGUMENT:
        return 0
    constant = m[tables.CONSTANTS] + (tagged & tables.TAG_MASK) * tables.C_WIDTH
    is_plain = m[constant + tables.C_KIND] == INTEGER and m[constant + tables.C_FLAGS] == 0
    return max(m[constant + tables.C_PAYLOAD], 0) if is_plain else 0


@device_function
def described_type(c: Cells, h: Cells, m: Cells, nodes: Nodes, row: int, code: int) -> None:
    """Read a type of the source, or a member of one."""
    noinline()
    at = row * M_WIDTH
    head = item(c, h)
    nodes[at + M_KIND], nodes[at + M_TAG], nodes[at + M_NAME] = TYPE, item(c, h), name(c, h)
    if code == bitcodes.MD_BASIC_TYPE:
        nodes[at + M_SIZE] = n_bits(c, h, m, head & bitcodes.DERIVED_SIZE_IS_METADATA != 0)
        return
    nodes[at + M_FILE], nodes[at + M_LINE] = reference(c, h), count(c, h)
    nodes[at + M_SCOPE], nodes[at + M_BASE] = reference(c, h), reference(c, h)
    is_composite = code == bitcodes.MD_COMPOSITE_TYPE
    bit = bitcodes.DERIVED_SIZE_IS_METADATA
    if is_composite:
        bit = bitcodes.COMPOSITE_SIZE_IS_METADATA
    nodes[at + M_SIZE] = n_bits(c, h, m, head & bit != 0)
    item(c, h)  # alignment
    nodes[at + M_OFFSET] = n_bits(c, h, m, head & bit != 0)
    nodes[at + M_FLAGS] = item(c, h)
    if is_composite:
        for _ in range(2):  # elements, the language
            item(c, h)
        nodes[at + M_TABLE] = reference(c, h)  # the class with the pointer to the virtual table
        item(c, h)  # template parameters
        nodes[at + M_IDENTIFIER] = name(c, h)


@device_function
def attach(c: Cells, h: Cells, m: Cells, row: int) -> None:
    """Read pairs of kind and node; the first place among them is the global's in `row`."""
    while left(h) >= 2 and not h[state.FAULT]:
        kind, node = item(c, h), row_of(h, item(c, h))
        if kind == 0 and m[row + tables.G_DEBUG] < 0:
            m[row + tables.G_DEBUG] = node


@device_function
def metadata_record(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, record: int
) -> None:
    """Read one record of metadata."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    if code == bitcodes.MD_STRINGS:
        strings(text, s, c, h)
    elif code == bitcodes.MD_GLOBAL_DECL_ATTACHMENT:
        row = h[h[state.GLOBAL_ROW] + below(h, item(c, h), h[state.N_GLOBALS])]
        attach(c, h, m, m[tables.GLOBALS] + row * tables.G_WIDTH)
    elif 0 <= code < len(bitcodes.TAKES_NUMBER) and bitcodes.TAKES_NUMBER[code]:
        node(c, h, m, nodes, code)
    elif code < 0 or code >= len(bitcodes.TAKES_NUMBER) or not _IS_PASSED_OVER[code]:
        h[state.FAULT] = 1


@device_function
def node(c: Cells, h: Cells, m: Cells, nodes: Nodes, code: int) -> None:
    """Read metadata that takes a number."""
    noinline()
    row = new_row(h)
    if h[state.FAULT]:
        return
    if code == bitcodes.MD_VALUE:
        item(c, h)  # type
        h[h[state.MD_KIND] + row], h[h[state.MD_DATA] + row] = state.MD_VALUE, item(c, h)
    elif code == bitcodes.MD_EXPRESSION:
        require(h, item(c, h) >> 1 == bitcodes.EXPRESSION_VERSION)
        h[h[state.MD_KIND] + row] = (
            state.MD_EXPRESSION if left(h) > 0 else state.MD_EMPTY_EXPRESSION
        )
    elif code == bitcodes.MD_ARG_LIST:
        h[h[state.MD_KIND] + row] = state.MD_LIST
    elif code == bitcodes.MD_DISTINCT_NODE and left(h) == 0:
        h[h[state.MD_KIND] + row] = state.MD_NAMELESS
    elif (
        code == bitcodes.MD_LOCATION
        or code == bitcodes.MD_SUBPROGRAM
        or code == bitcodes.MD_FILE
        or code == bitcodes.MD_LEXICAL_BLOCK
        or code == bitcodes.MD_LEXICAL_BLOCK_FILE
    ):
        scope(c, h, nodes, row, code)
    elif (
        code == bitcodes.MD_GLOBAL_VAR
        or code == bitcodes.MD_LOCAL_VAR
        or code == bitcodes.MD_GLOBAL_VAR_EXPR
    ):
        variable(c, h, nodes, row, code)
    elif (
        code == bitcodes.MD_BASIC_TYPE
        or code == bitcodes.MD_DERIVED_TYPE
        or code == bitcodes.MD_COMPOSITE_TYPE
    ):
        described_type(c, h, m, nodes, row, code)


@device_function
def attachment(c: Cells, h: Cells, m: Cells) -> None:
    """Read an attachment; those of instructions are not about places."""
    if left(h) & 1 == 0:
        function = m[m[tables.FUNCTIONS] + h[state.FUNCTION] * tables.F_WIDTH + tables.F_GLOBAL]
        attach(c, h, m, m[tables.GLOBALS] + function * tables.G_WIDTH)


ASSIGN, DECLARE, VALUE = int(Binding.ASSIGN), int(Binding.DECLARE), int(Binding.VALUE)
METADATA_CONSTANT, INTEGER = int(ConstantKind.METADATA), int(ConstantKind.INT)


@device_function
def debug_location(c: Cells, h: Cells, m: Cells, nodes: Nodes, is_new: bool) -> None:
    """Read where the last instruction comes from; it may be where the one before does."""
    noinline()
    if is_new:
        row = below(h, h[state.N_NODES], h[state.MAX_NODES])
        at = row * M_WIDTH
        nodes[at + M_KIND] = LOCATION
        nodes[at + M_LINE], nodes[at + M_COLUMN] = count(c, h), count(c, h)
        nodes[at + M_SCOPE], nodes[at + M_INLINED] = reference(c, h), reference(c, h)
        require(h, nodes[at + M_SCOPE] != 0)
        h[state.LAST_LOCATION] = row
        h[state.N_NODES] = row + 1
    if h[state.LAST_LOCATION] < 0 or m[tables.N_INSTRUCTIONS] + h[state.IS_LEFT_OUT] == 0:
        h[state.FAULT] = 1
        return
    if h[state.IS_LEFT_OUT]:
        return
    m[m[tables.INSTRUCTIONS] + (m[tables.N_INSTRUCTIONS] - 1) * tables.I_WIDTH + tables.I_DEBUG] = (
        h[state.LAST_LOCATION]
    )


@device_function
def bound_value(c: Cells, h: Cells) -> int:
    """Return the value behind the metadata that the next operand names, -1 if it is no value."""
    row = row_of(h, item(c, h))
    if h[h[state.MD_KIND] + row] != state.MD_VALUE:
        return -1
    return value(h, h[h[state.MD_DATA] + row])


@device_function
def metadata_constant(c: Cells, h: Cells, m: Cells) -> int:
    """Return the metadata that the next operand names as values are named: a text, or a node."""
    noinline()
    row = row_of(h, (h[state.N_VALUES] - item(c, h)) & _LOW_HALF)
    kind = h[h[state.MD_KIND] + row]
    if kind == state.MD_STRING:
        return plain_constant(m, METADATA_CONSTANT, tables.METADATA, h[h[state.MD_DATA] + row])
    text = tables.A_NODE
    if kind == state.MD_NAMELESS:
        text = tables.NAMELESS_TEXT - row
    if kind == state.MD_VALUE:
        inside = value(h, h[h[state.MD_DATA] + row])
        if inside < tables.TAG_NUMBERED:
            text = tables.VALUE_TEXT - inside
    return plain_constant(m, METADATA_CONSTANT, tables.METADATA, text)


@device_function
def debug_record(c: Cells, h: Cells, m: Cells, code: int) -> None:
    """Read which value a variable is from the last instruction on; it stands before that."""
    noinline()
    if code == bitcodes.DEBUG_LABEL or code == bitcodes.DEBUG_DECLARE_VALUE:
        return
    if m[tables.N_INSTRUCTIONS] + h[state.IS_LEFT_OUT] == 0:
        h[state.FAULT] = 1
        return
    row_of(h, item(c, h))  # where: the variable's scope, inlined
    variable_row, shape = row_of(h, item(c, h)), item(c, h)
    is_exact = h[h[state.MD_KIND] + row_of(h, shape)] == state.MD_EMPTY_EXPRESSION
    kind = VALUE
    bound = typed(c, h) if code == bitcodes.DEBUG_VALUE_SIMPLE else bound_value(c, h)
    if code == bitcodes.DEBUG_DECLARE:
        kind = DECLARE
    elif code == bitcodes.DEBUG_ASSIGN:
        kind = ASSIGN
        item(c, h)  # which assignment
        item(c, h)  # the address's expression
        if bound_value(c, h) < 0:
            bound = -1
    require(h, left(h) == 0)
    if bound < 0 or h[state.FAULT]:
        return
    row = m[tables.BINDINGS] + m[tables.N_BINDINGS] * tables.V_WIDTH
    m[row + tables.V_KIND], m[row + tables.V_EXACT], m[row + tables.V_VALUE] = kind, is_exact, bound
    m[row + tables.V_BEFORE] = m[tables.N_INSTRUCTIONS] - 1 + h[state.IS_LEFT_OUT]
    m[row + tables.V_FUNCTION] = h[state.FUNCTION]
    m[row + tables.V_VARIABLE] = variable_row
    m[tables.N_BINDINGS] += 1
