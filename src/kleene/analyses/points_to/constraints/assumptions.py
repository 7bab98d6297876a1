"""What an answer rests on beyond the meaning of C: only what the program at hand makes use of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kleene.analyses.points_to.constraints.columns import THROUGH, Columns, spread
from kleene.analyses.points_to.constraints.functions import CallTable
from kleene.analyses.points_to.memory_model import External
from kleene.ir.codes import Opcode, ValueKind

_LOSSY = (Opcode.SUB, Opcode.MUL, Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_WHATEVER = "what unknown code might"


def assumptions_of(
    columns: Columns,
    calls: CallTable,
    externals: Sequence[External],
    named_by_user: Sequence[str],
    library_mode: bool,
) -> Iterator[str]:
    """Yield short sentences."""
    yield from _arithmetic(columns)
    if n_assembly := int(calls.is_assembly.sum()):
        yield f"inline assembly ({_times(n_assembly)}) does to its operands {_WHATEVER}"
    if n_opaque := len(columns.rows(Opcode.OPAQUE)):
        yield f"instructions not understood ({_times(n_opaque)}) do to their operands {_WHATEVER}"
    if n_modelled := sum(e.is_modelled for e in externals):
        yield f"functions outside the program ({n_modelled}) do what their models say"
    if n_unknown := sum(not e.is_modelled for e in externals):
        yield f"functions without a model ({n_unknown}) do to their arguments {_WHATEVER}"
        if not library_mode:
            yield "code outside the program refers to none of its symbols by name"
    for name in named_by_user:
        yield f"each call of {name} returns storage of its own, as its user says"


def _arithmetic(columns: Columns) -> Iterator[str]:
    """Yield what is taken to hold no address, though it is computed from one, or becomes one."""
    rows = columns.rows(*_LOSSY)
    operands = np.concatenate([columns.operand(rows, 0), columns.operand(rows, 1)])
    if (columns.opcode_of(operands) == Opcode.PTRTOINT).any():
        yield (
            "differences of two addresses, and products, quotients and remainders of addresses,"
            " are not turned back into pointers"
        )
    if _cuts_addresses(columns):
        yield "addresses cut to fewer bits are not put together again"
    if _has_constant_pointers(columns):
        yield "integer constants turned into pointers point to no object of the program"


def _cuts_addresses(columns: Columns) -> bool:
    """Return whether some number that comes from an address is cut to fewer bits."""
    program, wide = columns.program, 8 * columns.word_bytes
    constants = program.bases[ValueKind.CONSTANT] + columns.expressions(Opcode.PTRTOINT)
    cast = np.append(constants, columns.results(columns.rows(Opcode.PTRTOINT)))
    if (program.types.bits[program.value_types[cast]] < wide).any():
        return True
    is_address = np.zeros(program.n_values, bool)
    is_address[cast] = True
    rows, operand = columns.all_operands(columns.rows(*THROUGH))
    spread(is_address, columns.results(rows), operand)
    cuts = columns.operand(columns.rows(Opcode.TRUNC), 0)
    return bool(is_address[cuts].any())


def _has_constant_pointers(columns: Columns) -> bool:
    table = columns.program.constants
    constants = table.operands[table.offsets[columns.expressions(Opcode.INTTOPTR)]]
    operands = np.append(constants, columns.operand(columns.rows(Opcode.INTTOPTR), 0))
    return bool(columns.constant(operands)[0].any())


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
