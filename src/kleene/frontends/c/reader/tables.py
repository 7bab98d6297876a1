"""The program's tables while it is read: one array `m` of int64 that compiled loops fill.

`m` begins with single cells: counters, and the base address of each table. A row of a table is an
address, as in `m[row + I_OPCODE]`; `columns` makes a `Program` of it.

    m:  0          12        28          51        64
        | state    | N_…     | bases     | sizes   | hash tables | types | constants | …
                     counts    where each table begins           rows of WIDTH[table] cells

One array keeps Numba's signatures short: with one array a table, compiling took minutes.

No append can pass its table's end: each consumes a record or an operand of its own, and capacities
count those (`module`). Pages that are never touched cost nothing. Only the hash tables can fill up;
then reading stops with `FULL` set.

A value is *tagged* while its table still grows: kind * 2^40 + index, see `TAG_*`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kleene.base.arrays import I64
from kleene.ir.codes import TypeKind

# Single cells: the state of the reading, …
ERROR, FULL, TOP = range(3)
SOURCE_NAME, TRIPLE, LAYOUT = range(3, 6)
# … how many rows each table has, …
(
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
) = range(12, 27)
# … where it begins, …
(
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
    STACK,  # elements of a type or operands of a constant that is not yet made
    LIST_FLAGS,  # of the function, by attribute list
    TYPE_TABLE,
    CONSTANT_TABLE,
) = range(28, 47)
# … and the sizes that are looked up while reading.
TABLE_SIZE, N_LISTS = 51, 52
N_CELLS = 64

TAG_SHIFT = 40
TAG_MASK = (1 << TAG_SHIFT) - 1
(
    TAG_GLOBAL,  # index = symbol of its name
    TAG_CONSTANT,
    TAG_ARGUMENT,
    TAG_BLOCK,
    TAG_INSTRUCTION,
    TAG_NUMBERED,  # a local that is not yet defined: index = its number in the file
) = (k << TAG_SHIFT for k in range(6))

# Columns of the tables.
T_KIND, T_FLAGS, T_NAME, T_BITS, T_FIRST, T_COUNT, T_WIDTH = range(7)
C_KIND, C_OPCODE, C_FLAGS, C_TYPE, C_ABOUT, C_PAYLOAD, C_FIRST, C_COUNT, C_WIDTH = range(9)
I_OPCODE, I_SUB, I_ALIGN, I_FLAGS, I_TYPE, I_ABOUT = range(6)
I_BLOCK, I_NAME, I_DEBUG, I_FIRST, I_ATTRIBUTES, I_WIDTH = range(6, 12)
G_NAME, G_KIND, G_LINKAGE, G_FLAGS, G_TYPE, G_SPACE, G_ALIGN = range(7)
G_INITIALIZER, G_FUNCTION, G_DEBUG, G_ATTRIBUTES, G_SECTION, G_WIDTH = range(7, 13)
F_GLOBAL, F_PERSONALITY, F_FIRST_BLOCK, F_FIRST_ARGUMENT, F_WIDTH = range(5)
A_TYPE, A_NAME, A_FLAGS, A_PASSING, A_PASSED, A_WIDTH = range(6)
B_NAME, B_FUNCTION, B_FIRST, B_WIDTH = range(4)
V_KIND, V_EXACT, V_VALUE, V_BEFORE, V_VARIABLE, V_FUNCTION, V_WIDTH = range(7)
U_INSTRUCTION, U_TAG, U_FIRST, U_WIDTH = range(4)
P_OPERAND, P_PASSING, P_TYPE, P_WIDTH = range(4)
N_TEXT, N_COUNT, N_WIDTH = range(3)
WIDTH = {
    TYPES: T_WIDTH,
    CONSTANTS: C_WIDTH,
    GLOBALS: G_WIDTH,
    FUNCTIONS: F_WIDTH,
    ARGUMENTS: A_WIDTH,
    BLOCKS: B_WIDTH,
    INSTRUCTIONS: I_WIDTH,
    BINDINGS: V_WIDTH,
    BUNDLES: U_WIDTH,
    PASSED: P_WIDTH,
    NOTICES: N_WIDTH,
}  # columns of a table; 1 if it is not named here

# Instead of a symbol, where a text is asked for that `columns` is to write:
A_NODE = -1  # metadata that is a node, whose number names nothing here
VALUE_TEXT = -2  # minus a tagged value: the value as metadata
NAMELESS_TEXT = -(1 << 59)  # minus the row of metadata that is itself its only name
INSTRUCTION_TEXT = -(1 << 60)  # minus the code of a record of a body that is not understood
CONSTANT_TEXT = -(1 << 61)  # minus the code of a record of a constant
WRAPPERS = ("dso_local_equivalent", "no_cfi", "ptrauth")  # by the payload of a wrapped constant
MAX_NOTICES = 4096
SLACK = 64  # rows beyond what the records can fill

# The simple types are made first: their ids are their places here.
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
SIMPLE_TYPES = tuple(_SIMPLE_ROWS)
SIMPLE = {word: place for place, word in enumerate(SIMPLE_TYPES)}
VOID, PTR, I1, I32 = (SIMPLE[word] for word in ("void", "ptr", "i1", "i32"))
METADATA, TOKEN = SIMPLE["metadata"], SIMPLE["token"]


def allocate(n_places: int, n_lists: int, rows: Mapping[int, int]) -> I64:
    """Return the array with nothing read: `rows` says how many rows each table may get.

    A hash table has `n_places`, a power of two; there are `n_lists` attribute lists.
    """
    bases, place = {}, N_CELLS
    for table in (TYPE_TABLE, CONSTANT_TABLE):
        bases[table], place = place, place + n_places
    n_zeroed = place
    for table, count in rows.items():
        bases[table], place = place, place + (count + SLACK) * WIDTH.get(table, 1)
    m = np.empty(place, np.int64)
    m[:n_zeroed] = 0
    for table, base in bases.items():
        m[table] = base
    m[bases[LIST_FLAGS] : bases[LIST_FLAGS] + n_lists + SLACK] = 0
    m[TABLE_SIZE], m[N_LISTS] = n_places, n_lists
    m[N_TYPES] = len(SIMPLE_TYPES)
    for row, (kind, bits) in zip(
        table_of(m, TYPES, len(SIMPLE_TYPES)), _SIMPLE_ROWS.values(), strict=True
    ):
        row[:] = (kind, 0, 0, bits, 0, 0)
    return m


def table_of(m: I64, base: int, count: int) -> I64:
    """Return the first `count` rows of a table as a matrix."""
    width = WIDTH.get(base, 1)
    return m[m[base] : m[base] + count * width].reshape(count, width)
