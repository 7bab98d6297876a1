"""Debug metadata: the nodes that carry places and names, read straight from the text."""

from __future__ import annotations

import numpy as np

from kleene.frontends.c.reader.compiled import Cells, Nodes, Text, no_refcount, noinline
from kleene.frontends.c.reader.symbols import CLASS, name_end, symbol, word_number
from kleene.frontends.c.reader.words import NODE_COLUMN_OF

# Kinds of node that are kept.
OTHER, LOCATION, SUBPROGRAM, BLOCK, FILE, LOCAL, GLOBAL, GLOBAL_EXPRESSION = range(8)
# Columns of a node. References to nodes are kept plus one: 0 is none.
(
    M_KIND,
    M_NAME,
    M_LINKAGE,
    M_SCOPE,
    M_FILE,
    M_LINE,
    M_COLUMN,
    M_INLINED,
    M_VARIABLE,
    M_FILENAME,
    M_DIRECTORY,
    M_ARGUMENT,
) = range(12)
_LARGEST = (1 << 31) - 1
# What a column holds: a symbol, a node or a number; a value of another form is not kept.
_SYMBOL, _NODE, _NUMBER = range(3)
_FORM = np.full(12, _NUMBER)
_FORM[[M_NAME, M_LINKAGE, M_FILENAME, M_DIRECTORY]] = _SYMBOL
_FORM[[M_SCOPE, M_FILE, M_INLINED, M_VARIABLE]] = _NODE


@no_refcount
def node_kind(text: Text, i: int) -> int:
    """Return which kind of node the name at i (after `!`) is, by the letters that tell."""
    if text[i] != 68 or text[i + 1] != 73:  # DI
        return OTHER
    c = text[i + 2]
    if c == 76 and text[i + 3] == 111:  # DILocation, DILocalVariable
        if text[i + 6] == 116:
            return LOCATION
        return LOCAL if text[i + 7] == 86 else OTHER
    if c == 76:  # DILexicalBlock, DILexicalBlockFile
        return BLOCK if text[i + 9] == 66 else OTHER
    if c == 83:  # DISubprogram, not DISubroutineType or DISubrange
        return SUBPROGRAM if text[i + 5] == 112 else OTHER
    if c == 70:  # DIFile
        return FILE
    if c == 71 and text[i + 8] == 86:  # DIGlobalVariable, DIGlobalVariableExpression
        return GLOBAL_EXPRESSION if text[i + 16] == 69 else GLOBAL
    return OTHER


@no_refcount
def field(text: Text, s: Cells, nodes: Nodes, number: int, column: int, i: int) -> int:
    """Read a value: a string, a number or a reference; return its end."""
    noinline()
    form = _FORM[column]
    if text[i] == 34:
        end = name_end(text, i)
        if form == _SYMBOL:
            nodes[number, column] = symbol(text, s, i + 1, end - (text[end - 1] == 34), True)
        return end
    reference = text[i] == 33
    i += reference
    value, start = 0, i
    while CLASS[text[i]] & 4:
        value = min(value * 10 + (text[i] - 48), _LARGEST)
        i += 1
    is_there = value < len(nodes) - 1 or not reference
    if i > start and is_there and form == (_NODE if reference else _NUMBER):
        nodes[number, column] = value + reference
    return i


@no_refcount
def fields(text: Text, s: Cells, nodes: Nodes, number: int, i: int) -> int:
    """Read the keys and values between the parentheses at i; return the end of the line."""
    noinline()
    depth = 0
    while text[i] != 10 and text[i] != 0:
        c = text[i]
        if c == 34:  # the value of a key that is not kept
            i = name_end(text, i)
        elif c == 40 or c == 41:
            depth += 1 if c == 40 else -1
            i += 1
        elif depth == 1 and c >= 97 and c <= 122:
            start = i
            while CLASS[text[i]] & 2:
                i += 1
            column = NODE_COLUMN_OF[word_number(text, start, i)]
            if text[i] == 58 and text[i + 1] == 32 and column >= 0:
                i = field(text, s, nodes, number, column, i + 2)
        else:
            i += 1
    return i


@no_refcount
def node(text: Text, s: Cells, nodes: Nodes, i: int) -> int:
    """Read `!12 = [distinct] !DIKind(key: value, …)` at i; return a place in the same line."""
    noinline()
    i += 1
    if not CLASS[text[i]] & 4:
        return i
    number = 0
    while CLASS[text[i]] & 4:
        number = min(number * 10 + (text[i] - 48), _LARGEST)
        i += 1
    while text[i] == 32 or text[i] == 61:
        i += 1
    while CLASS[text[i]] & 2 or text[i] == 32:  # distinct
        i += 1
    if text[i] != 33 or number >= len(nodes) - 1:
        return i
    kind = node_kind(text, i + 1)
    if kind == OTHER:
        return i
    nodes[number, M_KIND] = kind
    while text[i] != 40 and text[i] != 10 and text[i] != 0:
        i += 1
    return fields(text, s, nodes, number, i)
