"""What is learnt about values behind branches, accesses and assumptions."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer
from kleene.analyses.dataflow.refinements import Refinements, refinements
from kleene.base.arrays import I64, offsets_of, ragged
from kleene.ir.codes import (
    Opcode,
)
from kleene.solvers.dataflow import (
    Operator,
    Predicate,
)
from kleene.transforms.splitting import NameKind


def new_names(w: Writer) -> None:
    """Write the constraints of the names that live-range splitting adds."""
    split, first = w.split, w.program.n_values
    names = np.arange(split.n_new) + first
    width = w.width[split.value]
    wide = np.where(width > 0, width, 64)
    lengths = np.diff(split.offsets)
    _inserted_phis(w, names, width, wide)
    rest = np.flatnonzero((split.kind != NameKind.PHI) & (lengths > 0))
    operand = split.operands[split.offsets[rest]].astype(np.int64)
    known = operand >= 0
    w.build.define(
        names[rest[known]], Operator.JOIN, operand[known][:, None], width=wide[rest[known]]
    )
    _sigmas(w, names, width)
    _refining_uses(w, names, width)


def _inserted_phis(w: Writer, names: I64, width: I64, wide: I64) -> None:
    split, flow = w.split, w.split.flow
    rows = np.flatnonzero((split.kind == NameKind.PHI) & (width > 0))
    block = flow.node_of(split.point[rows])
    offsets, edges = flow.incoming
    owner, flat = ragged(split.offsets[rows], split.offsets[rows + 1])
    nth = flat - split.offsets[rows][owner]
    guard = w.edge_name[edges[offsets[block[owner]] + nth]]
    value = split.operands[flat].astype(np.int64)
    known = value >= 0
    counts = np.bincount(owner[known], minlength=len(rows))
    # Last the value itself: what holds where it is defined holds of all its names, and a name that
    # is joined with itself around a loop would keep what the definition has lost on the way down.
    starts = offsets_of(2 * counts + 1)
    operands = np.empty(int(starts[-1]), np.int64)
    is_pair = np.ones(len(operands), bool)
    is_pair[starts[1:] - 1] = False
    operands[is_pair] = np.stack([value[known], guard[known]], axis=1).ravel()
    operands[~is_pair] = split.value[rows]
    w.build.define(names[rows], Operator.PHI, operands, offsets=starts, width=wide[rows])


def _sigmas(w: Writer, names: I64, width: I64) -> None:
    """Behind a branch, what holds of a value before it and what the condition says."""
    split = w.split
    found = refinements(split, w.build, w.width, w.true, w.false)
    rows, site = split.sites
    rows, site = rows[width[rows] > 0], site[width[rows] > 0]
    _meet(w, names, rows, site * w.program.n_values + split.value[rows], found)


def _meet(w: Writer, names: I64, rows: I64, keys: I64, found: Refinements) -> None:
    """Give new names (rows) their operand and all facts whose edge and value is their key."""
    order = np.argsort(keys)
    rows, keys = rows[order], keys[order]
    wanted = found.edge * w.program.n_values + found.value
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    hits = keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)
    fact, place = found.fact[hits], place[hits]
    by_row = np.argsort(place, kind="stable")
    fact, place = fact[by_row], place[by_row]
    counts = np.bincount(place, minlength=len(rows))
    chosen = np.flatnonzero(counts > 0)
    # What holds of a value where it is defined holds of all its names. Around loops a name is
    # joined with those that come later, and would not find back to that by itw.
    offsets = offsets_of(counts[chosen] + 2)
    operands = np.empty(int(offsets[-1]), np.int64)
    is_fact = np.ones(len(operands), bool)
    is_fact[offsets[:-1]] = is_fact[offsets[:-1] + 1] = False
    operands[offsets[:-1]] = w.split.operands[w.split.offsets[rows[chosen]]]
    operands[offsets[:-1] + 1] = w.split.value[rows[chosen]]
    operands[is_fact] = fact
    reached = rows[chosen]
    w.build.define(
        names[reached], Operator.MEET, operands, offsets=offsets,
        width=w.width[w.split.value[reached]],
    )  # fmt: skip


def _refining_uses(w: Writer, names: I64, width: I64) -> None:
    """Behind an access or a division, an address or divisor is not 0: else it did not go on."""
    split = w.split
    rows = np.flatnonzero((split.kind == NameKind.COPY) & (width > 0))
    rows = rows[split.point[rows] < split.flow.n_instructions]
    rows = rows[w.table.opcode[split.point[rows]] != Opcode.CALL]  # `llvm.assume`
    operand = split.operands[split.offsets[rows]].astype(np.int64)
    rows, operand = rows[operand >= 0], operand[operand >= 0]
    for wide in np.unique(width[rows]).tolist():
        chosen = width[rows] == wide
        zero = w.build.names(1)
        w.build.define(zero, Operator.CONSTANT, width=wide, attribute=0)
        pairs = np.stack([operand[chosen], np.full(int(chosen.sum()), zero[0])], axis=1)
        w.build.define(
            names[rows[chosen]], Operator.REFINE, pairs, width=wide, attribute=Predicate.NE
        )
