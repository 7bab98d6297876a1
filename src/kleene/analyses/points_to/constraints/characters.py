"""What is known of the C++ library's own code: what it counts, and where it moves characters.

A short `std::string` keeps its characters inside itself, so a pointer to characters may lead into
any storage that has a string in it, and a copy of an unknown number of characters would copy that
storage as a whole. What `std::char_traits` of a character type copies are characters: that no
pointer travels in them is an assumption, as it is for `strcpy`, and the answer says so.
"""

from __future__ import annotations

import re

import numpy as np

from kleene.base.arrays import I32, Bools
from kleene.ir.codes import CALLS, GlobalFlag
from kleene.ir.program import Program

# In libc++ and libstdc++: of char, wchar_t, char8_t, char16_t, char32_t
_TRAITS = re.compile(rb"_ZNSt(?:3__1)?11char_traitsI(?:c|w|D[usi])E(?:4copy|4move|6assign)")
_FIRST, _MANGLED = b"_ZNSt", b"_Z"
_OF_STD = re.compile(rb"_ZN?K?St")


def is_library_code(program: Program) -> Bools:
    """Return for each function whether it is one of the C++ library's, instantiated or inline.

    Its integers are counts and hashes: sums of them are taken to be no addresses.
    """
    return _named(program, _MANGLED, _OF_STD)


def moves_characters(program: Program) -> Bools:
    """Return for each function whether what it copies are characters.

    So do the functions that only such functions call: `char_traits<char>::move` calls a template
    that copies all kinds of elements, which is instantiated for it.
    """
    table = program.function_table
    found = _named(program, _FIRST, _TRAITS)
    if not found.any():
        return found
    caller, callee = _direct_calls(program)
    is_taken = program.globals.flags[table.value] & GlobalFlag.ADDRESS_TAKEN != 0
    is_called_by_others = is_taken.copy()
    is_called_by_others[callee[~found[caller]]] = True
    inner = callee[found[caller]]
    found[inner[~is_called_by_others[inner]]] = True
    return found


def _named(program: Program, prefix: bytes, pattern: re.Pattern[bytes]) -> Bools:
    """Return which functions have names that match a pattern, which begins with a prefix."""
    names = program.globals.name[program.function_table.value]
    found = program.strings.begin_with(names, prefix)
    for row in np.flatnonzero(found).tolist():
        found[row] = pattern.match(program.strings.raw(int(names[row]))) is not None
    return found


def _direct_calls(program: Program) -> tuple[I32, I32]:
    """Return the caller and the callee, functions both, of each call by name."""
    table, n_globals = program.instructions, len(program.globals)
    rows = np.flatnonzero(np.isin(table.opcode, list(CALLS)))
    callee = table.operands[table.offsets[rows]]
    rows, callee = rows[callee < n_globals], callee[callee < n_globals]
    function = program.globals.function[callee]
    known = function >= 0
    return program.instruction_function[rows[known]], function[known]
