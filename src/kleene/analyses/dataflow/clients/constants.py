"""Which variables are always one number, though nothing in the source says so?

Conditional constants: a name is constant if all that reaches it along edges that can be taken is
one number. The lattice is that of the numbers themselves,

    no value  <  …, -1, 0, 1, …  <  any value

which is what bounds say where `low` is `high`: constants are read off the facts of `ranges`, and a
constant decides branches, and branches constants, as in "Constant propagation with conditional
branches". Names that are constants of the source (`n = 3`) are no news, and left out: told are
parameters, results, loads and what is computed.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.clients.ranges import decided_conditions
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.places import Places
from kleene.results import Table


def answer(context: Context) -> Answer:
    """Return the variables that are constant from some place on, and the decided conditions."""
    return Answer(list(decided_conditions(context)), {"constants": constants(context)})


def constants(context: Context) -> Table:
    """Return a row for each place from which on a variable is one number; a null pointer is 0.

    Of places on one line that say the same of a variable there is one row.
    """
    places, facts, program = Places(context), context.facts, context.program
    names, variable, line = places.names, places.variable, places.line
    keep = context.is_tracked(names) & (line > 0) & facts.is_constant[names]
    names, variable, line, why = names[keep], variable[keep], line[keep], places.why[keep]
    # A bit is 0 or 1 to its readers; as a signed number of one bit, 1 is -1.
    is_bit = context.values.width[context.split.value_of(names)] == 1
    number = np.where(is_bit, facts.low[names] & 1, facts.low[names])
    function = program.variables.function[variable].astype(np.int64)
    rows = np.unique(np.stack([function, line, variable, number, why], axis=1), axis=0)
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:, :4] != rows[:-1, :4]).any(axis=1)
    function, line, variable, number, why = rows[first].T
    return Table(
        {
            "function": [program.functions[f].name for f in function.tolist()],
            "variable": [program.strings[int(program.variables.name[v])] for v in variable],
            "line": line,
            "why": [Places.WHY[code] for code in why.tolist()],
            "constant": number,
        }
    )


CLIENT = Client("Which variables are always one number?", answer)
