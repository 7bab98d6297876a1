"""What is known of a module while it is read: one array `h`, beside the tables `m`.

`h` begins with single cells: the record at hand, counters, and the base of each table. Tables are
sized before reading from the number of records; what could pass a table's end is a fault.

A value's number is the file's: globals, the module's constants, then each function's arguments,
constants and results. Metadata is numbered alike; `MD_SHIFT` takes a number of the function at hand
to its row among all nodes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

FAULT = 0
# The record at hand: its next operand, and the end.
AT, END, LAST_TYPE = 1, 2, 3
# Values and metadata.
N_VALUES, N_MODULE_VALUES, N_GLOBALS, MAX_VALUES = 4, 5, 6, 7
N_MD, N_MODULE_MD, MD_SHIFT, N_ROWS, MAX_ROWS, N_NODES, MAX_NODES = range(8, 15)
# The function at hand.
FUNCTION, N_BODIES, FIRST_BLOCK, END_BLOCK, IN_BLOCK, LAST_LOCATION, DECLARED = range(15, 22)
FIRST_OPERAND, FIRST_BUNDLED, FIRST_BINDING = 22, 23, 24
# The constants at hand.
CONSTANT_TYPE, FIRST_CONSTANT, N_WAITING = 25, 26, 27
# The module's head, and its globals.
N_TYPES, MAX_TYPES, TYPE_NAME, MAX_GROUPS, N_LISTS, MAX_LISTS = range(28, 34)
N_TAGS, MAX_TAGS, N_ORDERED, MAX_BODIES = range(34, 38)
# Whether a bundle waits for its call; which upgraded functions are called, and are so far.
BUNDLED, USED, N_CREATED = 38, 39, 40
N_NAMELESS = 41  # structs that have a number for a name
UNKNOWN, N_UNKNOWN = 42, 47  # whether the record at hand says what we do not know; how many did
ZERO_TEXTS = 43  # symbols of the zeros of the three wide reals
STRINGS_END = 46  # of the bytes that text may lie in
UNSET = 48  # the number of `@kleene.unset`, -1 if there is none
IS_LEFT_OUT = 49  # whether the last instruction is left out
# Where tables begin.
(
    TYPE_OF,  # by the file's number of a type, ours in `m`
    VALUES,  # tagged; -1 while a constant is not made
    VALUE_TYPES,
    VALUE_RECORDS,  # of constants
    WAITING,  # constants whose operands are to be made first
    MD_KIND,
    MD_DATA,
    GROUPS,  # attribute groups: rows of GROUP_WIDTH, by number
    LISTS,  # record of each attribute list
    LIST_PASSES,  # whether it tells how an argument travels
    ORDER,  # globals in the order of LLVM's print: rows of O_WIDTH
    GLOBAL_ROW,  # of each value that is a global
    UPGRADED,  # function type after an upgrade, by global value; -1 for none
    BODIES,  # function row of each body
    FIRST_BLOCKS,  # by function row, one more than there are
    TAGS,  # symbols of the bundles' tags
) = range(50, 66)
N_CELLS = 66

O_RECORD, O_SORT, O_VALUE, O_FIRST, O_END, O_WIDTH = range(6)
GR_INDEX, GR_FLAGS, GR_GLOBAL_FLAGS, GR_PASSING, GR_TYPE, GROUP_WIDTH = range(6)
# What a row of ORDER makes.
VARIABLE, ALIAS, IFUNC, PLAIN_FUNCTION, STRAY, LIFETIME = range(6)
# What metadata is, as far as it is asked for.
MD_NODE, MD_STRING, MD_VALUE, MD_EXPRESSION, MD_EMPTY_EXPRESSION, MD_LIST, MD_NAMELESS = range(7)

SLACK = 16  # cells behind each table
TEXT_SHIFT = 32  # a string in one number: first byte * 2^32 + length
TEXT_MASK = (1 << TEXT_SHIFT) - 1


def allocate(sizes: Mapping[int, int]) -> NDArray[np.int64]:
    """Return an array with tables of these sizes, by the cell that holds their base."""
    place = N_CELLS
    bases = {}
    for table, size in sizes.items():
        bases[table], place = place, place + size + SLACK
    cells = np.zeros(place, np.int64)
    for table, base in bases.items():
        cells[table] = base
    return cells
