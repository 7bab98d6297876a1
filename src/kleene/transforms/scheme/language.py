"""What of Scheme the paper's pipeline can carry: its language is lambdas, calls and basic values.

CPS can carry data: pairs and vectors just hold procedures that take a continuation. It cannot carry
primitives that call procedures, because those pass no continuation, and gives lambdas a fixed
number of formals. The abstract encodings make all basic values one: they know no data.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kleene.base.errors import SourceError
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import NONE, Core
from kleene.ir.scheme.primitives import table

CALL_CC = ("call/cc", "call-with-current-continuation")
_NOTE = "leave out the paper's pipeline: the analysis knows all of Scheme without it"
_DATA = ("make", "read", "write")


def objections(core: Core, with_data: bool) -> list[SourceError]:
    """Return what cannot be carried: to CPS with data, or without them on to lambdas and calls."""
    found = [*_globals(core), *_rests(core), *_primitives(core, with_data)]
    order = sorted(found, key=lambda each: (int(core.at[each[0]]), each[1]))
    return [SourceError(core.span(row), "cps/no-form", message, _NOTE) for row, message in order]


def _rests(core: Core) -> Iterator[tuple[int, str]]:
    for row in np.flatnonzero(core.has_rest).tolist():
        yield row, "a rest argument has no form in CPS"


def _globals(core: Core) -> Iterator[tuple[int, str]]:
    """Primitives that are assigned: what such a variable holds takes no continuation at first."""
    for row in np.flatnonzero(core.kind == columns.SET).tolist():
        variable = core.reference[row]
        if core.starts_as[variable] != NONE and not core.is_defined[variable]:
            yield row, f"the primitive {core.names[variable]} is assigned"


def _primitives(core: Core, with_data: bool) -> Iterator[tuple[int, str]]:
    calls = _called(core)
    for row in np.flatnonzero(core.kind == columns.PRIMITIVE).tolist():
        facts = table()[core.primitives[core.reference[row]]]
        call = calls.get(row)
        if facts.effect == "call" and not (facts.name in CALL_CC and _has_one(core, call)):
            yield row, f"{facts.name} calls procedures without a continuation"
        elif call is None and facts.n_least != facts.n_most:
            yield row, f"{facts.name} as a value takes no fixed number of arguments"
        elif not with_data and facts.effect in _DATA and not _is_case(core, facts.name, call):
            yield row, f"{facts.name} works on data, which the abstract encodings do not have"


def _called(core: Core) -> dict[int, int]:
    """Return the calls by the rows of their operators."""
    rows = np.flatnonzero(core.kind == columns.CALL)
    operators = core.operands[core.operand_offsets[rows]]
    return dict(zip(operators.tolist(), rows.tolist(), strict=True))


def _has_one(core: Core, call: int | None) -> bool:
    return call is not None and len(core.node(call).operands) == 2


def _is_case(core: Core, name: str, call: int | None) -> bool:
    """Return whether this is what `case` looks a constant up with."""
    if name != "memv" or call is None:
        return False
    operands = core.node(call).operands
    return len(operands) == 3 and operands[2].kind == columns.CONSTANT
