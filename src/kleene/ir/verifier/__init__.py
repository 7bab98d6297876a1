"""Is a program well formed? Every finding names the place and, where known, the source line.

The checks run over whole columns, in four rounds; a round is entered only if the ones before it
found nothing it could stumble over:

1. tables: lengths, offsets, codes, ids in range, order;
2. types and constants: no type inside itself, the layout is the target's, constants fit theirs;
3. blocks and operands: one terminator each, blocks only where blocks belong, phis, types;
4. SSA: a definition dominates its uses.

Opaque instructions are exempt from the checks of their shape: they may end a block, and who uses
their result is not asked about types. Code that cannot be reached is exempt from round 4.
"""

from __future__ import annotations

from kleene.base.errors import SourceError, raise_all
from kleene.ir.program import Program
from kleene.ir.verifier.blocks import check_blocks
from kleene.ir.verifier.constants import check_constants
from kleene.ir.verifier.dominance import check_dominance
from kleene.ir.verifier.instructions import check_instructions
from kleene.ir.verifier.report import Report
from kleene.ir.verifier.tables import check_tables
from kleene.ir.verifier.types import check_types

__all__ = ["problems", "verify"]

_ROUNDS = (
    (check_tables,),
    (check_types, check_constants),
    (check_blocks, check_instructions),
    (check_dominance,),
)


def verify(program: Program) -> None:
    """Raise what is wrong with the program, if anything is."""
    raise_all(problems(program))


def problems(program: Program) -> list[SourceError]:
    """Return what is wrong with the program, of each kind the first few."""
    report = Report(program)
    for checks in _ROUNDS:
        for check in checks:
            check(program, report)
        if report.errors:
            break
    return report.errors
