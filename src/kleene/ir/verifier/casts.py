"""Round 3: casts go between the kinds and widths they are for."""

from __future__ import annotations

import numpy as np

from kleene.ir.codes import Opcode, TypeKind
from kleene.ir.verifier.report import Report
from kleene.ir.verifier.shapes import Shapes

_INT, _FLOAT, _POINTER = TypeKind.INT, TypeKind.FLOAT, TypeKind.POINTER
_KINDS = {  # from, to, and how the width changes
    Opcode.TRUNC: (_INT, _INT, -1),
    Opcode.ZEXT: (_INT, _INT, 1),
    Opcode.SEXT: (_INT, _INT, 1),
    Opcode.FPTRUNC: (_FLOAT, _FLOAT, -1),
    Opcode.FPEXT: (_FLOAT, _FLOAT, 1),
    Opcode.FPTOUI: (_FLOAT, _INT, 0),
    Opcode.FPTOSI: (_FLOAT, _INT, 0),
    Opcode.UITOFP: (_INT, _FLOAT, 0),
    Opcode.SITOFP: (_INT, _FLOAT, 0),
    Opcode.PTRTOINT: (_POINTER, _INT, 0),
    Opcode.PTRTOADDR: (_POINTER, _INT, 0),
    Opcode.INTTOPTR: (_INT, _POINTER, 0),
    Opcode.ADDRSPACECAST: (_POINTER, _POINTER, 0),
}


def check_casts(shapes: Shapes, report: Report) -> None:
    """Check operand and result of every cast."""
    types, result = shapes.program.types, shapes.program.instructions.type
    for opcode, (source_kind, target_kind, change) in _KINDS.items():
        rows = shapes.rows((opcode,))
        source, target = shapes.type(rows, 0), result[rows]
        fine = shapes.is_scalar(source, (source_kind,)) & shapes.is_scalar(target, (target_kind,))
        fine &= shapes.lanes[source] == shapes.lanes[target]
        if change:
            width = types.bits[shapes.scalar[target]] - types.bits[shapes.scalar[source]]
            fine &= np.sign(width) == change
        message = "cannot cast between these types"
        report.instructions("cast", rows[~fine], message)
    rows = shapes.rows((Opcode.BITCAST,))
    source, target = shapes.type(rows, 0), result[rows]
    fine = (types.size[source] == types.size[target]) & (types.size[source] >= 0)
    scalable = (shapes.lanes[source] < 0) | (shapes.lanes[target] < 0)
    report.instructions("cast", rows[~(fine | scalable)], "a bitcast must keep the size")
