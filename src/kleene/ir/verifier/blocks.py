"""Round 3: blocks end once, operands are of the right sort, phis match the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import ragged
from kleene.ir.codes import BINARY, CASTS, TERMINATORS, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier.operands import Uses
from kleene.ir.verifier.report import Report

_MANY = 1 << 30
_EXACTLY = {
    Opcode.UNREACHABLE: 0,
    Opcode.FENCE: 0,
    Opcode.RESUME: 1,
    Opcode.CATCHRET: 2,
    Opcode.FNEG: 1,
    Opcode.ALLOCA: 1,
    Opcode.LOAD: 1,
    Opcode.STORE: 2,
    Opcode.CMPXCHG: 3,
    Opcode.ATOMICRMW: 2,
    Opcode.ICMP: 2,
    Opcode.FCMP: 2,
    Opcode.SELECT: 3,
    Opcode.VA_ARG: 1,
    Opcode.EXTRACTELEMENT: 2,
    Opcode.INSERTELEMENT: 3,
    Opcode.SHUFFLEVECTOR: 3,
    Opcode.FREEZE: 1,
}
_AT_LEAST = {
    Opcode.SWITCH: 2,
    Opcode.INDIRECTBR: 1,
    Opcode.INVOKE: 3,
    Opcode.CALLBR: 2,
    Opcode.CLEANUPRET: 1,
    Opcode.CATCHSWITCH: 2,
    Opcode.BR: 1,
    Opcode.GETELEMENTPTR: 1,
    Opcode.CALL: 1,
    Opcode.EXTRACTVALUE: 2,
    Opcode.INSERTVALUE: 3,
    Opcode.CLEANUPPAD: 1,
    Opcode.CATCHPAD: 1,
}
_AT_MOST = {Opcode.RET: 1, Opcode.BR: 3, Opcode.CLEANUPRET: 2}
_IN_PAIRS = (Opcode.SWITCH, Opcode.PHI)


def check_blocks(program: Program, report: Report) -> None:
    """Check terminators, operand counts and sorts, entries and phis."""
    _terminators(program, report)
    _counts(program, report)
    uses = Uses.of(program)
    _sorts(program, report, uses)
    if not report.errors:
        _owners(program, report, uses)
        _phis(program, report, uses)


def _terminators(program: Program, report: Report) -> None:
    offsets, opcode = program.blocks.instruction_offsets, program.instructions.opcode
    is_empty = np.diff(offsets) == 0
    report.blocks("terminator", is_empty, "the block is empty; it must end in a terminator")
    ends = np.isin(opcode, list(TERMINATORS))
    is_last = np.zeros(len(opcode), bool)
    is_last[offsets[1:][~is_empty] - 1] = True
    message = "the last instruction of a block must be a terminator"
    bad = is_last & ~ends & (opcode != Opcode.OPAQUE)
    report.instructions("terminator", np.flatnonzero(bad), message)
    message = "a terminator must be the last instruction of its block"
    report.instructions("terminator", np.flatnonzero(~is_last & ends), message)


def _counts(program: Program, report: Report) -> None:
    low, high = np.zeros(len(Opcode), int), np.full(len(Opcode), _MANY)
    for opcodes, count in ((BINARY, 2), (CASTS, 1)):
        low[list(opcodes)] = high[list(opcodes)] = count
    for opcode, count in _EXACTLY.items():
        low[opcode] = high[opcode] = count
    for opcode, count in _AT_LEAST.items():
        low[opcode] = count
    for opcode, count in _AT_MOST.items():
        high[opcode] = count
    table = program.instructions
    counts = np.diff(table.offsets)
    bad = (counts < low[table.opcode]) | (counts > high[table.opcode])
    bad |= np.isin(table.opcode, _IN_PAIRS) & (counts % 2 == 1)
    bad |= (table.opcode == Opcode.BR) & (counts == 2)
    report.instructions(
        "operand-count", np.flatnonzero(bad), lambda row: f"cannot have {counts[row]} operands"
    )


def _sorts(program: Program, report: Report, uses: Uses) -> None:
    """Check that blocks stand where blocks belong, and only there."""
    wanted = _wants_block(uses)
    exempt = np.isin(uses.opcode, [Opcode.OPAQUE, Opcode.CALLBR])
    message = "an operand is a block where a value belongs, or the other way round"
    report.instructions("operand-sort", uses.user[(wanted != uses.is_block) & ~exempt], message)
    # A callbr has values first, then at least one block.
    is_callbr = uses.opcode == Opcode.CALLBR
    is_last = uses.place == uses.count - 1
    after_block = np.concatenate([[False], uses.is_block[:-1]]) & (uses.place > 0)
    bad = is_callbr & ~uses.is_block & (is_last | after_block | (uses.place > uses.count))
    bad |= is_callbr & uses.is_block & (uses.place == 0)
    report.instructions("operand-sort", uses.user[bad], message)


def _wants_block(uses: Uses) -> NDArray[np.bool_]:
    place, count, opcode = uses.place, uses.count, uses.opcode
    is_odd = place % 2 == 1
    rules: list[tuple[tuple[Opcode, ...], NDArray[Any]]] = [
        ((Opcode.BR,), (count == 1) | (place > 0)),
        ((Opcode.SWITCH, Opcode.PHI), is_odd),
        ((Opcode.INDIRECTBR, Opcode.CLEANUPRET, Opcode.CATCHRET, Opcode.CATCHSWITCH), place > 0),
        ((Opcode.INVOKE,), place >= count - 2),
    ]
    wanted = np.zeros(len(place), bool)
    for opcodes, holds in rules:
        wanted |= np.isin(opcode, opcodes) & holds
    return wanted


def _owners(program: Program, report: Report, uses: Uses) -> None:
    """Check that locals are used in their own function, and that nobody jumps to an entry."""
    arguments = program.function_table.argument_offsets
    owner = np.full(program.n_values, -1)
    functions = np.arange(len(program.function_table))
    low, blocks, instructions = program.bases[2:5]
    owner[low:blocks] = np.repeat(functions, np.diff(arguments))
    owner[blocks:instructions] = program.blocks.function
    owner[instructions:] = program.instruction_function
    theirs = owner[uses.value]
    bad = (theirs >= 0) & (theirs != program.instruction_function[uses.user])
    report.instructions("foreign", uses.user[bad], "an operand belongs to another function")
    _bindings(program, report, np.append(owner, -1))
    starts = program.function_table.block_offsets
    is_entry = np.zeros(len(program.blocks) + 1, bool)
    is_entry[starts[:-1][np.diff(starts) > 0]] = True
    _, targets = program.successors
    entered = np.bincount(targets, minlength=len(program.blocks)) > 0
    report.blocks("entry", is_entry[:-1] & entered, "the entry of a function is jumped to")


def _bindings(program: Program, report: Report, owner: NDArray[Any]) -> None:
    """Check that a variable is bound in its function, to a value of it; `owner[-1]` is -1."""
    table = program.bindings
    here = program.instruction_function[table.before]
    theirs = owner[table.value]
    bad = (program.variables.function[table.variable] != here) | ((theirs >= 0) & (theirs != here))
    report.rows("foreign", "binding", bad, "ties a variable to a value of another function")


def _phis(program: Program, report: Report, uses: Uses) -> None:
    opcode, block = program.instructions.opcode, program.instructions.block
    is_phi = opcode == Opcode.PHI
    follows = is_phi[1:] & ~is_phi[:-1] & (block[1:] == block[:-1])
    message = "a phi must stand before all other instructions of its block"
    report.instructions("phi-place", np.flatnonzero(follows) + 1, message)
    phis, n_blocks = np.flatnonzero(is_phi), max(1, len(program.blocks))
    incoming = (uses.opcode == Opcode.PHI) & uses.is_block
    sources = uses.value[incoming] - program.bases[ValueKind.BLOCK]
    stated = uses.user[incoming].astype(np.int64) * n_blocks + sources
    offsets, predecessors = program.predecessors
    owner, places = ragged(offsets[block[phis]], offsets[block[phis] + 1])
    edges = phis[owner].astype(np.int64) * n_blocks + predecessors[places]
    pairs, inverse = np.unique(np.concatenate([stated, edges]), return_inverse=True)
    weight = np.repeat([1, -1], [len(stated), len(edges)])
    balance = np.bincount(inverse.ravel(), weights=weight, minlength=len(pairs))
    message = "the blocks of a phi must be the predecessors of its block, each once per edge"
    report.instructions("phi-edges", pairs[balance != 0] // n_blocks, message)
