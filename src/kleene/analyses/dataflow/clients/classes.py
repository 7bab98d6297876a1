"""Which classes may the object of a virtual call be of, and which calls have one target?

The lattice is that of sets of functions, by union; what an object is of follows from where it was
made, through all that points-to follows, and from tests of types on the way (`dynamic_cast`). A
call is virtual if its callee is read from a table that is itself read from the object.

The paper's class inference goes backwards, from the methods that are called to what an object must
be able to do: `tests/analyses/dataflow/test_examples.py` has it, by `BitConstraints`.
"""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.clients import Answer, Client
from kleene.analyses.dataflow.context import Context
from kleene.analyses.dataflow.evidence import span_of
from kleene.ir.codes import CALLS, Opcode, ValueKind
from kleene.results import Table


def answer(context: Context) -> Answer:
    """Return the virtual calls, whom they may reach, and whether that is all."""
    program, calls, naming = context.program, context.calls, context.points_to.naming
    rows = [row for row in virtual_calls(context) if span_of(context, row)]
    targets = [calls.function[calls.call == row].tolist() for row in rows]
    spans = [span_of(context, row) for row in rows]
    is_open = [bool(calls.may_return_any[row]) for row in rows]
    return Answer(
        [],
        {
            "virtual_calls": Table(
                {
                    "function": [
                        program.functions[int(program.instruction_function[row])].name
                        for row in rows
                    ],
                    "line": [span.line if span else 0 for span in spans],
                    "targets": [
                        ", ".join(sorted(naming.function(one) for one in some)) for some in targets
                    ],
                    "n_targets": [len(some) for some in targets],
                    "may_leave": is_open,
                    "one_target": [
                        len(some) == 1 and not leaves
                        for some, leaves in zip(targets, is_open, strict=True)
                    ],
                }
            )
        },
    )


def virtual_calls(context: Context) -> list[int]:
    """Return the calls whose callee is read from a table that is read from an object."""
    program, table = context.program, context.program.instructions
    first = program.bases[ValueKind.INSTRUCTION]
    found = []
    for row in np.flatnonzero(np.isin(table.opcode, list(CALLS))).tolist():
        callee = int(table.operands[table.offsets[row]]) - first
        if callee < 0 or table.opcode[callee] != Opcode.LOAD:
            continue
        address = int(table.operands[table.offsets[callee]]) - first
        while address >= 0 and table.opcode[address] in (Opcode.GETELEMENTPTR, Opcode.BITCAST):
            address = int(table.operands[table.offsets[address]]) - first
        if address >= 0 and table.opcode[address] == Opcode.LOAD:
            found.append(row)
    return found if _has_virtual_tables(context) else []


def _has_virtual_tables(context: Context) -> bool:
    program = context.program
    return bool(program.strings.begin_with(program.globals.name, b"_ZTV").any())


CLIENT = Client("Which virtual calls have one target?", answer)
