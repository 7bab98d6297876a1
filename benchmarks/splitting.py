"""How much does splitting live ranges add to a program, and how long does it take, beside SSI?

The rival is Singer's static single information form, which places φ for definitions and σ for uses
in turn until nothing changes ("Static Program Analysis Based on Virtual Register Renaming", 2006),
for all values; its steps are done by our compiled loops, which place nothing where a value is dead.
Ours splits integers at conditions of branches (e-SSA), or of those that ask for equality (ccp).
"Growth" is the number of φ and σ, one σ for all ways out of a branch, over that of instructions.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np
from harness import Table, measure

import kleene
from kleene.base.arrays import Bools
from kleene.ir.codes import TypeKind
from kleene.ir.program import Program
from kleene.transforms.splitting import (
    Accesses,
    NameKind,
    Points,
    Role,
    SplitProgram,
    Splitting,
    split_program,
)
from kleene.transforms.splitting.program import accesses_of, control_flow
from kleene.transforms.splitting.split import _placed, _pruned, _renamed, _without_definitions

DATA = Path(os.environ.get("KLEENE_DATA") or Path(__file__).parents[2] / "shared" / "data")
PROGRAMS = ("lua", "nginx", "sqlite3")
REPEATS = 5


def singer(program: Program) -> Splitting:
    """Return the names of all values in Singer's form."""
    flow, accesses = control_flow(program), accesses_of(program)
    rows = accesses.rows(Role.DEFINITION, Role.USE)
    accesses = Accesses(accesses.variable[rows], accesses.point[rows], accesses.role[rows])
    used = accesses.rows(Role.USE)
    variable, point = accesses.variable[used], accesses.point[used]
    nothing = np.empty(0, np.int32), np.empty(0, np.int64)
    n_inserted = -1
    while True:
        found, at = _placed(flow, accesses, Points(*nothing, variable, point))
        is_end = (at >= flow.into(0)) & (at < flow.along(0))
        found, at = _without_definitions(flow, accesses, found[is_end], at[is_end])
        if len(found) == n_inserted:
            return _pruned(_renamed(flow, accesses, found, at), accesses)
        n_inserted = len(found)
        joins = at < flow.out_of(0)  # a φ is one more use, on each edge into its block
        row, edge = flow.edges_into(at[joins] - flow.into(0))
        variable = np.concatenate([accesses.variable[used], found[joins][row].astype(np.int32)])
        point = np.concatenate([accesses.point[used], flow.along(0) + edge])


def growth(names: Splitting | SplitProgram, n_instructions: int) -> float:
    """Return how many φ and σ there are for each instruction."""
    variable = names.variable if isinstance(names, Splitting) else names.value
    sources, _ = names.flow.blocks.edges()
    is_sigma = names.kind == NameKind.SIGMA
    edge = names.point[is_sigma] - names.flow.along(0)
    forks = np.unique(np.stack([sources[edge], variable[is_sigma]]), axis=1).shape[1]
    return (int((names.kind == NameKind.PHI).sum()) + forks) / n_instructions


def integers(program: Program) -> Bools:
    types, of = program.types, program.value_types
    return (types.kind[of] == TypeKind.INT) & (types.bits[of] > 1)


def main() -> None:
    question = (__doc__ or "").splitlines()[0]
    table = Table("splitting", question)
    for name in PROGRAMS:
        program = kleene.load(DATA / "bitcode" / f"{name}.bc")
        n_instructions = len(program.instructions)
        theirs = measure(partial(singer, program), repeat=1)
        among = integers(program)
        for strategy in ("essa", "ccp", "bits"):
            ours = measure(partial(split_program, program, strategy, among=among), repeat=REPEATS)
            split: SplitProgram = ours.result
            agree = bool((split.value_of(split.operand) == program.instructions.operands).all())
            table.row(
                input=f"{name}, {strategy}",
                size=f"{n_instructions:,} instructions",
                ours=ours,
                rival="Singer's SSI",
                theirs=theirs,
                agree=agree,
                **{
                    "growth": f"{growth(split, n_instructions):.1%}",
                    "growth of SSI": f"{growth(theirs.result, n_instructions):.1%}",
                },
            )
    table.save()


if __name__ == "__main__":
    main()
