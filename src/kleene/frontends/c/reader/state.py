"""The reader's working memory: one heap of int64 that Numba fills, sized before it starts.

The heap `m` begins with single cells: the present token, counters, and the base address of each
table. A row of a table is an address, as in `m[row + I_OPCODE]`; `assemble` makes columns of it.
One heap keeps Numba's signatures to two arguments: with one array a table, compiling took minutes.

No append can pass its table's end: each consumes a token of its own, and capacities count tokens
(`Sizes`). Pages that are never touched cost nothing. Only the hash tables can fill up; then the
reader stops with `FULL` set and is started again with larger ones.

A value is *tagged* while its table still grows: kind * 2^40 + index, see `TAG_*`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kleene.frontends.c.reader.words import SIMPLE_TYPES
from kleene.ir.codes import TypeKind

# Single cells. First the present token, …
AT, KIND, VALUE, TOKEN_END = range(4)  # the last: the place of the last token
# … then the state of the reading and scratch results, …
ERROR, FULL, TOP, FRAME, LAST_TYPE, NEXT_NUMBER = range(4, 10)
ATTRIBUTE_FLAGS, ATTRIBUTE_PASSING, ATTRIBUTE_TYPE = range(10, 13)
SOURCE_NAME, TRIPLE, LAYOUT = range(13, 16)
# … how many rows each table has, …
(
    N_EXCERPTS,
    N_TYPES,
    N_ELEMENTS,
    N_CONSTANTS,
    N_CONSTANT_OPERANDS,
    N_GLOBALS,
    N_FUNCTIONS,
    N_ARGUMENTS,
    N_BLOCKS,
    N_INSTRUCTIONS,
    N_OPERANDS,
    N_BINDINGS,
    N_BUNDLES,
    N_BUNDLE_OPERANDS,
    N_PASSED,
    N_NOTICES,
) = range(16, 32)
# … where it begins, …
(
    EXCERPTS,
    TYPES,
    ELEMENTS,
    CONSTANTS,
    CONSTANT_OPERANDS,
    GLOBALS,
    FUNCTIONS,
    ARGUMENTS,
    BLOCKS,
    INSTRUCTIONS,
    OPERANDS,
    BINDINGS,
    BUNDLES,
    BUNDLE_OPERANDS,
    PASSED,
    NOTICES,
    STACK,
    FRAMES,
    GROUPS,
    NUMBERED_LOCALS,
    NAMED_LOCALS,
    TYPE_TABLE,
    CONSTANT_TABLE,
    EXCERPT_TABLE,
) = range(32, 56)
# … and the sizes that are looked up while reading.
TABLE_SIZE, N_GROUPS, N_NUMBERED = range(56, 59)
NOTHING = 59  # the constant `none`, once an opaque instruction needed it
N_CELLS = 64

TAG_SHIFT = 40
TAG_MASK = (1 << TAG_SHIFT) - 1
(
    TAG_GLOBAL,  # index = symbol of its name
    TAG_CONSTANT,
    TAG_ARGUMENT,
    TAG_BLOCK,
    TAG_INSTRUCTION,
    TAG_NUMBERED,  # a local, not yet resolved: index = its number
    TAG_NAMED,  # a local, not yet resolved: index = symbol of its name
    TAG_FOREIGN,  # a block of another function, in a blockaddress: index = numbered? * 2^39 + …
) = (k << TAG_SHIFT for k in range(8))
FOREIGN_NUMBER = 1 << (TAG_SHIFT - 1)
MAYBE = 1 << (TAG_SHIFT - 1)  # with TAG_NUMBERED or TAG_NAMED: it may name nothing

# Columns of the tables.
E_FIRST, E_END = range(2)
T_KIND, T_FLAGS, T_NAME, T_BITS, T_FIRST, T_COUNT = range(6)
C_KIND, C_OPCODE, C_FLAGS, C_TYPE, C_ABOUT, C_PAYLOAD, C_FIRST, C_COUNT = range(8)
(
    I_OPCODE,
    I_SUB,
    I_ALIGN,
    I_FLAGS,
    I_TYPE,
    I_ABOUT,
    I_BLOCK,
    I_NAME,
    I_DEBUG,
    I_FIRST,
    I_GROUP,
) = range(11)
(
    G_NAME,
    G_KIND,
    G_LINKAGE,
    G_FLAGS,
    G_TYPE,
    G_SPACE,
    G_ALIGN,
    G_INITIALIZER,
    G_FUNCTION,
    G_DEBUG,
    G_GROUP,
) = range(11)
F_GLOBAL, F_PERSONALITY, F_FIRST_BLOCK, F_FIRST_ARGUMENT, F_END_BLOCK = range(5)
A_TYPE, A_NAME, A_FLAGS, A_PASSING, A_PASSED = range(5)
B_NAME, B_FUNCTION, B_FIRST, B_NUMBER = range(4)
V_KIND, V_EXACT, V_VALUE, V_BEFORE, V_VARIABLE, V_PLACE, V_FUNCTION = range(7)
U_INSTRUCTION, U_TAG, U_FIRST = range(3)
P_OPERAND, P_PASSING, P_TYPE = range(3)
N_TEXT, N_COUNT = range(2)
WIDTH = {
    EXCERPTS: 2,
    TYPES: 6,
    CONSTANTS: 8,
    GLOBALS: 11,
    FUNCTIONS: 5,
    ARGUMENTS: 5,
    BLOCKS: 4,
    INSTRUCTIONS: 11,
    BINDINGS: 7,
    BUNDLES: 3,
    PASSED: 3,
    NOTICES: 2,
    FRAMES: 8,
}  # columns of a table; 1 if it is not named here
E_WIDTH, T_WIDTH, C_WIDTH, G_WIDTH = (WIDTH[t] for t in (EXCERPTS, TYPES, CONSTANTS, GLOBALS))
F_WIDTH, A_WIDTH, B_WIDTH = (WIDTH[t] for t in (FUNCTIONS, ARGUMENTS, BLOCKS))
I_WIDTH, V_WIDTH, U_WIDTH = (WIDTH[t] for t in (INSTRUCTIONS, BINDINGS, BUNDLES))
P_WIDTH, N_WIDTH, X_WIDTH = (WIDTH[t] for t in (PASSED, NOTICES, FRAMES))
# Columns of a frame: an unfinished type or constant.
X_SORT, X_BASE, X_TYPE, X_OPCODE, X_FLAGS, X_ABOUT, X_PAYLOAD, X_CLOSE = range(8)

# Instead of a symbol, where a text is asked for that `assemble` is to write:
A_NODE = -1  # metadata that is a node, whose number names nothing here
VALUE_TEXT = -2  # minus a tagged value: the value as metadata
INSTRUCTION_TEXT = -(1 << 60)  # minus the code of a record of a body that is not understood
CONSTANT_TEXT = -(1 << 61)  # minus the code of a record of a constant
MAX_NOTICES = 4096
SLACK = 64  # rows beyond what the text can fill
SIMPLE = {word: place for place, word in enumerate(SIMPLE_TYPES)}
_SIMPLE_ROWS = {
    "void": (TypeKind.VOID, 0),
    "half": (TypeKind.FLOAT, 16),
    "bfloat": (TypeKind.FLOAT, 16),
    "float": (TypeKind.FLOAT, 32),
    "double": (TypeKind.FLOAT, 64),
    "x86_fp80": (TypeKind.FLOAT, 80),
    "fp128": (TypeKind.FLOAT, 128),
    "ppc_fp128": (TypeKind.FLOAT, 128),
    "ptr": (TypeKind.POINTER, 0),
    "label": (TypeKind.LABEL, 0),
    "metadata": (TypeKind.METADATA, 0),
    "token": (TypeKind.TOKEN, 0),
    "x86_amx": (TypeKind.OTHER, 0),
    "i1": (TypeKind.INT, 1),
    "i32": (TypeKind.INT, 32),
}


class Sizes(NamedTuple):
    """What bounds the tables: how many tokens of a kind there are."""

    tokens: int
    lines: int
    heads: int  # the words `define` and `declare`
    commas: int
    brackets: int  # opening ones
    quotes: int
    groups: int  # one more than the largest attribute group
    locals: int  # one more than the largest number of a local
    symbols: int


def allocate(sizes: Sizes, table_bits: int) -> NDArray[np.int64]:
    """Return a heap for a text of these sizes, with hash tables of 2^table_bits cells."""
    cells, tokens = 1 << table_bits, sizes.tokens
    lines, heads = sizes.lines, sizes.heads
    rows = {
        EXCERPTS: cells,
        TYPES: cells,
        ELEMENTS: 2 * tokens,  # a call makes a type of its result's and arguments' types
        CONSTANTS: cells,
        CONSTANT_OPERANDS: 2 * tokens,  # an initialiser that is not understood is read twice
        GLOBALS: lines,
        FUNCTIONS: heads,
        ARGUMENTS: sizes.commas + sizes.brackets,
        BLOCKS: lines + heads,
        INSTRUCTIONS: lines,
        OPERANDS: tokens + lines,
        BINDINGS: lines,
        BUNDLES: sizes.quotes,
        BUNDLE_OPERANDS: tokens,
        PASSED: sizes.brackets,
        NOTICES: MAX_NOTICES,
        STACK: tokens,
        FRAMES: sizes.brackets,
        GROUPS: sizes.groups,
        NUMBERED_LOCALS: sizes.locals,
        NAMED_LOCALS: sizes.symbols,
    }
    bases, place = {}, N_CELLS
    for table in (TYPE_TABLE, CONSTANT_TABLE, EXCERPT_TABLE):
        bases[table], place = place, place + cells
    zeroed = place
    for table, count in rows.items():
        bases[table], place = place, place + (count + SLACK) * WIDTH.get(table, 1)
    heap = np.empty(place, np.int64)
    heap[:zeroed] = 0
    for table, base in bases.items():
        heap[table] = base
    for table, value in ((GROUPS, 0), (NUMBERED_LOCALS, -1), (NAMED_LOCALS, -1)):
        heap[bases[table] : bases[table] + rows[table] + SLACK] = value
    heap[TABLE_SIZE], heap[N_GROUPS], heap[N_NUMBERED] = cells, sizes.groups, sizes.locals
    heap[TOKEN_END] = tokens - 1
    _seed(heap)
    return heap


def table_of(heap: NDArray[np.int64], base: int, count: int) -> NDArray[np.int64]:
    """Return the first `count` rows of a table as a matrix."""
    width = WIDTH.get(base, 1)
    return heap[heap[base] : heap[base] + count * width].reshape(count, width)


def _seed(heap: NDArray[np.int64]) -> None:
    """Make the simple types, whose ids are their places in SIMPLE_TYPES."""
    heap[N_TYPES] = len(SIMPLE_TYPES)
    rows = table_of(heap, TYPES, len(SIMPLE_TYPES))
    for place, word in enumerate(SIMPLE_TYPES):
        kind, bits = _SIMPLE_ROWS[word]
        rows[place] = (kind, 0, 0, bits, 0, 0)
