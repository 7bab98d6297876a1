"""The loops of memory SSA: which locations no access of a function tells apart; who writes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, Bools
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__).parent)
entry_point, device_function = UNIT.entry_point, UNIT.device_function
_LARGE = 16  # locations of a group from which on it has a set of bits too


@device_function
def _grown(column: I64, n_used: int) -> I64:
    """Return the column, with more room if all of it is used."""
    if n_used < len(column):
        return column
    return np.concatenate((column, np.full(len(column), -1, np.int64)))


@entry_point
def partition(
    offsets: I64,
    group: I64,
    is_read: Bools,
    is_overwritten: Bools,
    is_exact: Bools,
    group_offsets: I64,
    locations: I32,
    n_locations: int,
    only_overwritten: bool,
) -> tuple[I64, I64, I64, I64, I64, Bools]:
    """Return the variables of each function: of its groups, and their locations.

    Function f has the groups `group[offsets[f] : offsets[f + 1]]`, each once. Locations of those
    that are read (and with `only_overwritten` are overwritten too) are in one class at first; each
    exact group splits every class that it has a part of. What remains together is in the same
    exact groups: a variable. Other groups have a variable if they have one location of it.

    Returns:
        rows (places in `group`) and variables of them; variables and locations of them; the
        function of each variable; and which rows have locations without a variable.
    """
    n_functions = len(offsets) - 1
    needed_by = np.full(n_locations, -1, np.int64)
    overwritten_by = np.full(n_locations, -1, np.int64)
    is_partial = np.zeros(len(group), np.bool_)
    class_of = np.zeros(n_locations, np.int64)
    needed = np.empty(n_locations, np.int64)
    moved_at, moved_to = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    numbered_for, number = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    row_of, variable_of = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    owner, owned = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    function_of, listed_at = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    n_rows = n_owned = n_variables = 0
    for function in range(n_functions):
        n_needed = 0
        for row in range(offsets[function], offsets[function + 1]):
            if is_overwritten[row]:
                for place in range(group_offsets[group[row]], group_offsets[group[row] + 1]):
                    overwritten_by[locations[place]] = function
        for row in range(offsets[function], offsets[function + 1]):
            if not is_read[row]:
                continue
            for place in range(group_offsets[group[row]], group_offsets[group[row] + 1]):
                location = locations[place]
                if only_overwritten and overwritten_by[location] != function:
                    is_partial[row] = True
                elif needed_by[location] != function:
                    needed_by[location] = function
                    class_of[location] = 0
                    needed[n_needed] = location
                    n_needed += 1
        n_classes = 1
        for row in range(offsets[function], offsets[function + 1]):
            if not is_exact[row]:
                continue
            for place in range(group_offsets[group[row]], group_offsets[group[row] + 1]):
                location = locations[place]
                if needed_by[location] != function:
                    continue
                before = class_of[location]
                if moved_at[before] != row:
                    moved_at[before] = row
                    moved_to[before] = n_classes
                    n_classes += 1
                    moved_at, moved_to = _grown(moved_at, n_classes), _grown(moved_to, n_classes)
                    numbered_for = _grown(numbered_for, n_classes)
                    number = _grown(number, n_classes)
                class_of[location] = moved_to[before]
        first_variable = n_variables
        for k in range(n_needed):
            found = class_of[needed[k]]
            if numbered_for[found] != function:
                numbered_for[found] = function
                number[found] = n_variables
                function_of = _grown(function_of, n_variables)
                listed_at = _grown(listed_at, n_variables)
                function_of[n_variables] = function
                n_variables += 1
            owner, owned = _grown(owner, n_owned), _grown(owned, n_owned)
            owner[n_owned], owned[n_owned] = number[found], needed[k]
            n_owned += 1
        for row in range(offsets[function], offsets[function + 1]):
            first_row = n_rows
            for place in range(group_offsets[group[row]], group_offsets[group[row] + 1]):
                if n_rows - first_row == n_variables - first_variable:
                    break  # it has all of them
                location = locations[place]
                if needed_by[location] != function:
                    continue
                variable = number[class_of[location]]
                if listed_at[variable] != row:
                    listed_at[variable] = row
                    row_of, variable_of = _grown(row_of, n_rows), _grown(variable_of, n_rows)
                    row_of[n_rows], variable_of[n_rows] = row, variable
                    n_rows += 1
    return (
        row_of[:n_rows].copy(),
        variable_of[:n_rows].copy(),
        owner[:n_owned].copy(),
        owned[:n_owned].copy(),
        function_of[:n_variables].copy(),
        is_partial,
    )


@entry_point
def large_groups(group_offsets: I64, locations: I32, n_locations: int) -> tuple[I64, I64]:
    """Return sets of bits for groups that have many locations: which set (-1: none), and these."""
    n_groups, n_words = len(group_offsets) - 1, (n_locations >> 5) + 1
    which = np.full(n_groups, -1, np.int64)
    n_large = 0
    for group in range(n_groups):
        if group_offsets[group + 1] - group_offsets[group] >= _LARGE:
            which[group] = n_large
            n_large += 1
    bits = np.zeros(n_large * n_words, np.int64)
    for group in range(n_groups):
        if which[group] >= 0:
            for place in range(group_offsets[group], group_offsets[group + 1]):
                location = locations[place]
                bits[which[group] * n_words + (location >> 5)] |= 1 << (location & 31)
    return which, bits


@device_function
def _meet(one: int, other: int, group_offsets: I64, locations: I32, large: I64, bits: I64,
          n_words: int) -> bool:  # fmt: skip
    """Return whether two groups have a location in common."""
    if large[one] >= 0 and large[other] >= 0:
        first, second = large[one] * n_words, large[other] * n_words
        for word in range(n_words):  # noqa: SIM110 -- compiled code has no generators
            if bits[first + word] & bits[second + word]:
                return True
        return False
    if large[one] >= 0:
        one, other = other, one  # the first has few locations
    for place in range(group_offsets[one], group_offsets[one + 1]):
        location = locations[place]
        if large[other] >= 0:
            if bits[large[other] * n_words + (location >> 5)] >> (location & 31) & 1:
                return True
            continue
        for at in range(group_offsets[other], group_offsets[other + 1]):
            if locations[at] == location:
                return True
    return False


@entry_point
def touched(
    variable_offsets: I64, group: I64, second: I64, write_offsets: I64, written: I64,
    group_offsets: I64, locations: I32, large: I64, bits: I64, n_words: int,
) -> tuple[I64, I64]:  # fmt: skip
    """Return which variables of its function each write may touch: places in `written`, variables.

    A variable is the locations of `group` and, where that is not -1, of `second`.
    """
    row_of, variable_of = np.full(16, -1, np.int64), np.full(16, -1, np.int64)
    n_rows = 0
    for function in range(len(variable_offsets) - 1):
        if variable_offsets[function] == variable_offsets[function + 1]:
            continue
        for row in range(write_offsets[function], write_offsets[function + 1]):
            for variable in range(variable_offsets[function], variable_offsets[function + 1]):
                if not _meet(
                    group[variable], written[row], group_offsets, locations, large, bits, n_words
                ) and (
                    second[variable] < 0
                    or not _meet(
                        second[variable], written[row], group_offsets, locations, large, bits,
                        n_words,
                    )
                ):  # fmt: skip
                    continue
                row_of, variable_of = _grown(row_of, n_rows), _grown(variable_of, n_rows)
                row_of[n_rows], variable_of[n_rows] = row, variable
                n_rows += 1
    return row_of[:n_rows].copy(), variable_of[:n_rows].copy()
