"""Which storage do functions outside of the program write to, as roles of the library say?

Code outside the program writes to all that it is led to, in general. The library says of many
functions that they write to less. What it says does not hold

- of a function that writes to streams, where the program gives memory to streams (`setvbuf`,
  `fmemopen`);
- of one with a format, where a format is not constant or has `%n`;
- of one with a format or any number of arguments, where the program takes its address: then not all
  of its calls are known here.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.formats import letters_of, text_of
from kleene.analyses.points_to.constraints.functions import CallTable, FunctionTable
from kleene.analyses.points_to.library import Library
from kleene.analyses.points_to.library.language import Writes
from kleene.analyses.points_to.memory_model import Written
from kleene.ir.codes import GlobalFlag

_GIVE_BUFFERS = {
    *("setbuf", "setvbuf", "setbuffer", "fmemopen", "fopencookie", "funopen"),
    *("open_memstream", "open_wmemstream"),
}


def written_of(
    columns: Columns, functions: FunctionTable, calls: CallTable, library: Library
) -> Written:
    """Return which functions write to no more than the library says, and to what."""
    has_buffers = not _GIVE_BUFFERS.isdisjoint(functions.name)
    table, flags = columns.program.function_table, columns.program.globals.flags
    is_taken = flags[table.value] & GlobalFlag.ADDRESS_TAKEN != 0
    is_known = np.zeros(len(functions.name), bool)
    pairs: list[tuple[int, int]] = []
    for row in np.flatnonzero(~functions.is_defined).tolist():
        roles = [one for one in library.roles_of(functions.name[row]) if isinstance(one, Writes)]
        if not roles or (has_buffers and any(one.streams for one in roles)):
            continue
        if is_taken[row] and any(one.and_behind or one.format is not None for one in roles):
            continue
        own = calls.only(calls.function == row)
        if not all(_counts_nothing(columns, own, one.format) for one in roles):
            continue
        is_known[row] = True
        n_most = int(np.diff(own.offsets).max(initial=0))
        for one in roles:
            if one.argument is not None:
                end = n_most if one.and_behind else one.argument + 1
                pairs += [(row, position) for position in range(one.argument, end)]
    return Written(is_known, np.array(sorted(set(pairs)), np.int32).reshape(-1, 2))


def _counts_nothing(columns: Columns, calls: CallTable, position: int | None) -> bool:
    """Return whether the formats of all calls are constant and have no `%n`."""
    if position is None:
        return True
    at = calls.offsets[:-1] + position
    texts = [
        text_of(columns, value) for value in calls.actuals[at[at < calls.offsets[1:]]].tolist()
    ]
    letters = [None if text is None else letters_of(text) for text in texts]
    return all(one is not None and "n" not in one for one in letters)
