"""What follows from a program's tables, as arrays over the whole program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kleene.ir.codes import CALLS, Opcode
from kleene.ir.program import Program

_ADDRESS_PLACE = {Opcode.LOAD: 0, Opcode.STORE: 1, Opcode.CMPXCHG: 0, Opcode.ATOMICRMW: 0}


def address_taken(program: Program) -> NDArray[np.bool_]:
    """Return which globals are used other than as a callee or as the address of an access."""
    table = program.instructions
    owner = np.repeat(np.arange(len(table)), np.diff(table.offsets))
    position = np.arange(len(owner)) - table.offsets[owner]
    harmless_place = np.full(256, -1)
    harmless_place[list(CALLS)] = 0
    for opcode, place in _ADDRESS_PLACE.items():
        harmless_place[opcode] = place
    harmless = position == harmless_place[table.opcode[owner]]
    uses = [
        table.operands[~harmless],
        program.constants.operands,
        program.globals.initializer,
        program.bundles.operands,
    ]
    taken = np.zeros(len(program.globals), bool)
    values = np.concatenate(uses)
    taken[values[(values >= 0) & (values < len(taken))]] = True
    return taken
