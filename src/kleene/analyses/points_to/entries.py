"""The functions that the system calls: main, and what the loader runs before and after it.

The loader runs constructors and destructors, which lie in tables: `llvm.global_ctors` and
`llvm.global_dtors`, and whatever a program puts into the sections that linkers make these tables
of (`.init_array`, with or without a priority behind it, and the like). It also runs the resolvers
of ifuncs. It passes all of them what it passes main.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32
from kleene.ir import Program
from kleene.ir.codes import GlobalKind, ValueKind

_TABLES = (b"llvm.global_ctors", b"llvm.global_dtors")
_SECTIONS = (
    *(b".init_array", b".preinit_array", b".fini_array", b".ctors", b".dtors"),
    *(b"__DATA,__mod_init_func", b"__DATA,__mod_term_func"),
    *(b".CRT$XC", b".CRT$XI", b".CRT$XT", b".CRT$XP"),
)


def entries_of(program: Program) -> I32:
    """Return the functions (rows) that are defined here and called by the system."""
    functions, table = program.function_table, program.globals
    strings, found = program.strings, set()
    columns = (table.name, table.section, table.kind, table.function, table.initializer)
    n_bytes = np.diff(strings.offsets)[table.name]  # most names differ from those wanted in this
    may_be = np.isin(n_bytes, [len(name) for name in (b"main", *_TABLES)])
    may_be |= (table.kind == GlobalKind.IFUNC) | (table.section > 0)
    for name, section, kind, function, initializer in zip(
        *(column[may_be].tolist() for column in columns), strict=True
    ):
        is_table = strings.raw(name) in _TABLES or kind == GlobalKind.IFUNC
        if section and kind == GlobalKind.VARIABLE:
            is_table = is_table or strings.raw(section).startswith(_SECTIONS)
        if is_table:
            found |= functions_in(program, initializer)
        elif function >= 0 and strings.raw(name) == b"main":
            found.add(function)
    is_defined = np.diff(functions.block_offsets) > 0
    return np.array([row for row in sorted(found) if is_defined[row]], np.int32)


def functions_in(program: Program, value: int) -> set[int]:
    """Return the functions (rows) whose addresses a constant contains."""
    found, waiting = set(), [value] if value >= 0 else []
    while waiting:
        kind, row = program.locate(waiting.pop())
        if kind == ValueKind.CONSTANT:
            waiting += program.constants.operands_of(row).tolist()
        elif kind == ValueKind.GLOBAL and program.globals.function[row] >= 0:
            found.add(int(program.globals.function[row]))
    return found
