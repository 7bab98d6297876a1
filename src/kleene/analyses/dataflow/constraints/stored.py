"""What is in memory, and what loads read of it."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer
from kleene.analyses.dataflow.memory import UNDEFINED, UNKNOWN, ZERO, Cells, byte_of
from kleene.base.arrays import I64, Bools, csr, distinct, offsets_of, ragged
from kleene.ir.codes import (
    Opcode,
)
from kleene.solvers.dataflow import (
    Operator,
    ValueFact,
)

_NUMBER, _ANY_VALUE, _NO_VALUE = range(3)


def memory(w: Writer) -> None:
    """A load reads one of its cells; a cell has what was there at the start, or is written."""
    cells = w.cells
    if cells is None:
        return
    usable = np.isin(cells.n_bytes, (1, 2, 4, 8))
    # What nothing writes and nothing has initialised is read by mistake, if at all: any value.
    is_written = np.zeros(len(usable), bool)
    is_written[cells.written_cell] = True
    usable[cells.start_cell[cells.start_value == UNDEFINED]] &= is_written[
        cells.start_cell[cells.start_value == UNDEFINED]
    ]
    names = w.build.names(len(cells.n_bytes))
    width = np.where(usable, 8 * cells.n_bytes, 64)
    keep = usable[cells.start_cell]
    start = [
        _start_name(w, value, int(width[cell]))
        for cell, value in zip(
            cells.start_cell[keep].tolist(), cells.start_value[keep].tolist(), strict=True
        )
    ]
    owner = [cells.start_cell[keep]]
    part = [np.array(start, np.int64)]
    for cell, name in _written(w, width):
        owner.append(cell)
        part.append(name)
    cell, operand = np.concatenate(owner), np.concatenate(part)
    offsets, order = csr(cell, len(names))
    operand = operand if order is None else operand[order]
    counts = np.diff(offsets)
    has = np.flatnonzero((counts > 0) & usable)
    _, place = ragged(offsets[has], offsets[has + 1])
    w.build.define(
        names[has], Operator.JOIN, operand[place], offsets=offsets_of(counts[has]),
        width=width[has],
    )  # fmt: skip
    w.build.define(names[~usable | (counts == 0)], Operator.ANY, width=64)
    _loads(w, cells, names, width, usable & (counts > 0))


def _loads(w: Writer, cells: Cells, names: I64, width: I64, usable: Bools) -> None:
    rows = cells.loads
    owner = np.repeat(np.arange(len(rows)), cells.read.lengths())
    wrong = ~usable[cells.read.values] | (width[cells.read.values] != w.width[w.name(rows)][owner])
    chosen = np.flatnonzero(np.bincount(owner[wrong], minlength=len(rows)) == 0)
    begin = cells.read.offsets
    _, place = ragged(begin[chosen], begin[chosen + 1])
    loads = w.name(rows[chosen])
    w.build.define(
        loads, Operator.JOIN, names[cells.read.values[place]],
        offsets=offsets_of(np.diff(begin)[chosen]), width=w.width[loads],
    )  # fmt: skip


def _written(w: Writer, width: I64) -> list[tuple[I64, I64]]:
    """Return pairs of a cell and the name of what is written to it."""
    cells = w.cells
    assert cells is not None
    stores = cells.stores
    is_value = stores.fill < 0
    row, group = stores.row[is_value], stores.group[is_value]
    is_store = w.table.opcode[row] == Opcode.STORE
    value = w.operand_value(row, 0)
    bits = np.where(is_store, w.width[value], 0)
    used, which = np.unique(cells.written_group, return_inverse=True)
    size = np.zeros(len(used), np.int64)
    size[which] = width[cells.written_cell]
    place = np.minimum(np.searchsorted(used, group), max(len(used) - 1, 0))
    keep = used[place] == group if len(used) else np.zeros(len(group), bool)
    row, place, bits = row[keep], place[keep], bits[keep]
    operand = w.operand(row, 0)
    for wide in distinct(size).tolist():
        strange = (size[place] == wide) & (bits != wide)
        operand[strange] = _constant_name(w, _ANY_VALUE, 0, wide)
    guard = w.block_name(w.table.block[row])
    offsets, order = csr(place, len(used))
    pairs = np.stack([operand, guard], axis=1)
    pairs = pairs if order is None else pairs[order]
    has = np.flatnonzero(np.diff(offsets) > 0)
    groups = np.full(len(used), -1, np.int64)
    groups[has] = w.build.names(len(has))
    w.build.define(
        groups[has], Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[has]),
        width=size[has],
    )  # fmt: skip
    by_store = groups[which] >= 0
    found = [(cells.written_cell[by_store], groups[which[by_store]])]
    fills = np.unique(np.stack([stores.group, stores.fill])[:, ~is_value], axis=1)
    for filled, byte in fills.T.tolist():
        cell = cells.written_cell[cells.written_group == filled]
        number = [
            _constant_name(w, _NUMBER, int.from_bytes(bytes([byte] * 8)), int(width[c]))
            for c in cell.tolist()
        ]
        found.append((cell, np.array(number, np.int64)))
    return found


def _start_name(w: Writer, value: int, width: int) -> int:
    """Return the name of what a cell holds at the start."""
    if value >= 0:
        fits = w.width[value] == width
        return value if fits else _constant_name(w, _ANY_VALUE, 0, width)
    if value == ZERO:
        return _constant_name(w, _NUMBER, 0, width)
    if value == UNDEFINED:
        return _constant_name(w, _NO_VALUE, 0, width)
    if value == UNKNOWN:
        return _constant_name(w, _ANY_VALUE, 0, width)
    return _constant_name(w, _NUMBER, byte_of(value), width)


def _constant_name(w: Writer, kind: int, number: int, width: int) -> int:
    """Return the name of a number, of any value or of no value, made once."""
    pattern = number & ((1 << width) - 1)
    signed = pattern - (pattern >> (width - 1) << width)
    key = kind, signed, width
    if key not in w.shared:
        name = w.build.names(1)
        w.shared[key] = int(name[0])
        if kind == _NUMBER:
            w.build.define(name, Operator.CONSTANT, width=width, attribute=signed)
        elif kind == _ANY_VALUE:
            w.build.define(name, Operator.ANY, width=width)
        else:
            nothing = ValueFact(width, 0, 0, 0, 0, 0, 0, False, True)
            w.give(name, nothing)
    return w.shared[key]
