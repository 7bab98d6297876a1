"""What is in memory, and what loads read of it."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer
from kleene.analyses.dataflow.memory import UNDEFINED, UNKNOWN, ZERO, Cells, byte_of
from kleene.analyses.dataflow.versions import Versions
from kleene.base.arrays import I64, Bools, csr, distinct, offsets_of, ragged
from kleene.ir.codes import (
    Opcode,
)
from kleene.solvers.dataflow import (
    Operator,
    ValueFact,
)
from kleene.transforms.splitting import NameKind

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
    names = w.cell_name = w.build.names(len(cells.n_bytes))
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
    rows, ever = _loads(w, cells, names, width, usable & (counts > 0))
    if w.versions is not None:
        _versions(w, w.versions, _ever(w, w.versions, cells, names), rows, ever)


def _loads(w: Writer, cells: Cells, names: I64, width: I64, usable: Bools) -> tuple[I64, I64]:
    """Define what loads read; return their rows, and the names of what is ever there."""
    rows = cells.loads
    owner = np.repeat(np.arange(len(rows)), cells.read.lengths())
    wrong = ~usable[cells.read.values] | (width[cells.read.values] != w.width[w.name(rows)][owner])
    chosen = np.flatnonzero(np.bincount(owner[wrong], minlength=len(rows)) == 0)
    begin = cells.read.offsets
    _, place = ragged(begin[chosen], begin[chosen + 1])
    loads = w.name(rows[chosen])
    found = loads if w.versions is None else w.build.names(len(loads))
    w.build.define(
        found, Operator.JOIN, names[cells.read.values[place]],
        offsets=offsets_of(np.diff(begin)[chosen]), width=w.width[loads],
    )  # fmt: skip
    if w.versions is not None:
        w.build.define(loads, Operator.JOIN, found[:, None], width=w.width[loads])
    return rows[chosen], found


def _versions(w: Writer, versions: Versions, ever: I64, cell_loads: I64, read: I64) -> None:
    """A load reads one of its versions; these are stored, meet, or are all that is ever there.

    Args:
        w: gets the constraints.
        versions: names of memory.
        ever: of each variable, the name of all that is ever there.
        cell_loads: loads of cells, ascending.
        read: of each of these, the name of all that it ever reads.
    """
    memory = versions.memory
    flow, splitting, writes = w.split.flow, memory.names, memory.writes
    is_followed = np.isin(versions.n_bytes, (1, 2, 4, 8))
    width = np.where(is_followed, 8 * versions.n_bytes, 64)
    names = w.build.names(splitting.n_names)
    variables = np.arange(memory.n_variables)
    # An entry has the number of its variable.
    w.build.define(names[variables], Operator.JOIN, ever[:, None], width=width)
    phis = np.flatnonzero(splitting.kind == NameKind.PHI)
    owner, place = ragged(splitting.offsets[phis], splitting.offsets[phis + 1])
    block = flow.node_of(splitting.point[phis])
    offsets, edges = flow.incoming
    edge = edges[offsets[block[owner]] + place - splitting.offsets[phis][owner]]
    known = splitting.operands[place] >= 0
    pairs = np.stack(
        [names[splitting.operands[place[known]]], w.edge_name[edge[known]]], axis=1
    ).astype(np.int64)
    counts = np.bincount(owner[known], minlength=len(phis))
    w.build.define(
        names[phis], Operator.PHI, pairs, offsets=offsets_of(2 * counts),
        width=width[splitting.variable[phis]],
    )  # fmt: skip
    is_store = w.table.opcode[writes.instruction] == Opcode.STORE
    written = ever[writes.variable]
    fits = is_store.copy()
    rows = writes.instruction[is_store]
    fits[is_store] = w.width[w.operand_value(rows, 0)] == width[writes.variable[is_store]]
    written[fits] = w.operand(writes.instruction[fits], 0)
    for wide in distinct(width).tolist():  # floating-point numbers, parts of structs
        strange = is_store & ~fits & (width[writes.variable] == wide)
        written[strange] = _constant_name(w, _ANY_VALUE, 0, wide)
        made = w.program.begins_storage[writes.instruction]
        made &= width[writes.variable] == wide
        written[made] = _constant_name(w, _NO_VALUE, 0, wide)
    w.written.append((names[writes.name], writes.instruction.astype(np.int64)))
    is_weak = writes.before >= 0
    for chosen, operands in (
        (~is_weak, written[:, None]),
        (is_weak, np.stack([written, names[np.maximum(writes.before, 0)]], axis=1)),
    ):
        wide = width[writes.variable[chosen]]
        w.build.define(names[writes.name[chosen]], Operator.JOIN, operands[chosen], width=wide)
    loads = w.name(versions.loads)
    n_bytes = w.program.store_size[w.table.type[versions.loads]]
    tracked = np.flatnonzero((w.width[loads] == 8 * n_bytes) & np.isin(n_bytes, (1, 2, 4, 8)))
    _, place = ragged(versions.read.offsets[tracked], versions.read.offsets[tracked + 1])
    lengths = np.diff(versions.read.offsets)[tracked]
    last = w.build.names(len(tracked))
    loads = loads[tracked]
    w.build.define(
        last, Operator.JOIN, names[versions.read.values[place]], offsets=offsets_of(lengths),
        width=w.width[loads],
    )  # fmt: skip
    w.build.define(loads, Operator.JOIN, last[:, None], width=w.width[loads])
    at = np.minimum(np.searchsorted(cell_loads, versions.loads[tracked]), len(cell_loads) - 1)
    both = np.flatnonzero(cell_loads[at] == versions.loads[tracked]) if len(cell_loads) else at[:0]
    pairs = np.stack([last[both], read[at[both]]], axis=1)
    w.build.define(loads[both], Operator.MEET, pairs, width=w.width[loads[both]])


def _ever(w: Writer, versions: Versions, cells: Cells, cell_names: I64) -> I64:
    """Return for each variable of memory SSA the name of all that is ever there."""
    is_followed = np.isin(versions.n_bytes, (1, 2, 4, 8))
    width = np.where(is_followed, 8 * versions.n_bytes, 64)
    locations = versions.memory.locations
    owner = np.repeat(np.arange(len(locations)), locations.lengths())
    keys = cells.region << 32 | cells.n_bytes
    order = np.argsort(keys)
    wanted = locations.values.astype(np.int64) << 32 | versions.n_bytes[owner]
    place = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    has = keys[order[place]] == wanted if len(keys) else np.zeros(len(wanted), bool)
    is_known = np.bincount(owner[~has], minlength=len(locations)) == 0
    is_known &= locations.lengths() > 0
    found = np.empty(len(locations), np.int64)
    for wide in distinct(width).tolist():
        found[width == wide] = _constant_name(w, _ANY_VALUE, 0, wide)
    known = np.flatnonzero(is_known & is_followed)
    keep = np.zeros(len(locations), bool)
    keep[known] = True
    operands = cell_names[order[place[keep[owner]]]]
    found[known] = w.build.names(len(known))
    w.build.define(
        found[known], Operator.JOIN, operands, offsets=offsets_of(locations.lengths()[known]),
        width=width[known],
    )  # fmt: skip
    return found


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
    row = row if order is None else row[order]
    has = np.flatnonzero(np.diff(offsets) > 0)
    groups = np.full(len(used), -1, np.int64)
    groups[has] = w.build.names(len(has))
    w.build.define(
        groups[has], Operator.PHI, pairs, offsets=offsets_of(2 * np.diff(offsets)[has]),
        width=size[has],
    )  # fmt: skip
    w.written.append((np.repeat(groups, np.diff(offsets)), row.astype(np.int64)))
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
