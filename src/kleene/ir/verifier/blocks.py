"""Round 3: blocks end once, operands are of the right sort, phis match the edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import ragged
from kleene.ir.codes import BINARY, CASTS, TERMINATORS, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.verifier.operands import Uses
from kleene.ir.verifier.report import Message, Report

# The operands in their order, v(alues) and b(locks), as a regular expression.
_SHAPES: dict[str, Iterable[int]] = {
    "": (Opcode.UNREACHABLE, Opcode.FENCE),
    "v?": (Opcode.RET,),
    "v": {Opcode.RESUME, Opcode.FNEG, Opcode.ALLOCA, Opcode.LOAD, Opcode.VA_ARG, Opcode.FREEZE}
    | CASTS,
    "vv": {Opcode.STORE, Opcode.ATOMICRMW, Opcode.ICMP, Opcode.FCMP, Opcode.EXTRACTELEMENT}
    | BINARY,
    "vvv": (Opcode.CMPXCHG, Opcode.SELECT, Opcode.INSERTELEMENT, Opcode.SHUFFLEVECTOR),
    "v*": (Opcode.LANDINGPAD,),
    "v+": (Opcode.CALL, Opcode.GETELEMENTPTR, Opcode.CLEANUPPAD, Opcode.CATCHPAD),
    "vv+": (Opcode.EXTRACTVALUE,),
    "vvv+": (Opcode.INSERTVALUE,),
    "(vb)*": (Opcode.PHI,),
    "b|vbb": (Opcode.BR,),
    "vb(vb)*": (Opcode.SWITCH,),
    "vb*": (Opcode.INDIRECTBR,),
    "vb?": (Opcode.CLEANUPRET,),
    "vb": (Opcode.CATCHRET,),
    "vb+": (Opcode.CATCHSWITCH,),
    "v+bb": (Opcode.INVOKE,),
    "v+b+": (Opcode.CALLBR,),
}
_SHAPE_OF = {opcode: shape for shape, opcodes in _SHAPES.items() for opcode in opcodes}
_SHORT = 40  # operands: opcode, their number and the set of blocks among them fit one key


def check_blocks(program: Program, report: Report) -> None:
    """Check terminators, operand counts and sorts, entries and phis."""
    _terminators(program, report)
    uses = Uses.of(program)
    _shapes(program, report, uses)
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


def _shapes(program: Program, report: Report, uses: Uses) -> None:
    """Check that operands are as many as they can be, and blocks where blocks belong."""
    table = program.instructions
    counts = np.diff(table.offsets)
    is_short = counts <= _SHORT
    in_key = uses.is_block & (uses.count <= _SHORT)
    weights = np.ldexp(1.0, uses.place[in_key])
    blocks = np.bincount(uses.user[in_key], weights, len(table)).astype(np.int64)
    keys = ((table.opcode.astype(np.int64) * (_SHORT + 1) + counts) << _SHORT) + blocks
    wrong: dict[str, list[NDArray[Any]]] = {"operand-count": [], "operand-sort": []}
    for key in np.unique(keys[is_short]).tolist():
        opcode, count = divmod(key >> _SHORT, _SHORT + 1)
        if id := _wrong_shape(opcode, [key >> place & 1 for place in range(count)]):
            wrong[id].append(np.flatnonzero(is_short & (keys == key)))
    for row in np.flatnonzero(~is_short).tolist():
        is_block = uses.is_block[table.offsets[row] : table.offsets[row + 1]].tolist()
        if id := _wrong_shape(int(table.opcode[row]), is_block):
            wrong[id].append(np.array([row]))
    messages: dict[str, Message] = {
        "operand-count": lambda row: f"cannot have {counts[row]} operands",
        "operand-sort": "an operand is a block where a value belongs, or the other way round",
    }
    for id, rows in wrong.items():
        report.instructions(id, np.concatenate([[], *rows]), messages[id])


def _wrong_shape(opcode: int, is_block: Sequence[int]) -> str | None:
    """Return the id of what is wrong with operands of these sorts, None if nothing is."""
    shape = _SHAPE_OF.get(opcode)
    if shape is None or re.fullmatch(shape, "".join("vb"[sort] for sort in is_block)):
        return None
    is_counted = re.fullmatch(re.sub("[vb]", ".", shape), "v" * len(is_block))
    return "operand-sort" if is_counted else "operand-count"


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
