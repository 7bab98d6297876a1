"""The loop of memory SSA: which locations no access of a function tells apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kleene.base.arrays import I32, I64, Bools
from kleene.kernels.compiled import CompilationUnit

UNIT = CompilationUnit(Path(__file__).parent)
entry_point, device_function = UNIT.entry_point, UNIT.device_function


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
