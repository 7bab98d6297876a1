"""Whether control reaches blocks and edges, and comes back from calls."""

from __future__ import annotations

import numpy as np

from kleene.analyses.dataflow.constraints.writer import Writer
from kleene.analyses.dataflow.refinements import switch_cases
from kleene.base.arrays import I64, csr, offsets_of, ragged
from kleene.ir.codes import (
    Opcode,
    ValueKind,
)
from kleene.solvers.dataflow import (
    Operator,
)


def returns(w: Writer) -> None:
    """Control comes to the end of a block if it comes to the block and all calls in it return.

    A call returns if one of the functions that it reaches comes to a return; code outside may.
    Calls that end in an exception or a jump go on elsewhere: at an unwind edge or a `setjmp`.
    """
    program, calls = w.program, w.calls
    n_functions, n_blocks = len(program.function_table), len(program.blocks)
    w.end_name = w.block_name(np.arange(n_blocks))
    has_body = np.diff(program.function_table.block_offsets) > 0
    returns = np.full(n_functions, -1, np.int64)
    returns[has_body] = w.build.names(int(has_body.sum()))
    w.returns_name = returns
    usable = ~calls.may_return_any[calls.call] & calls.keeps_result[calls.function]
    spoiled = np.zeros(len(w.table), bool)
    spoiled[calls.call[~usable]] = True
    keep = ~spoiled[calls.call]
    call, function = calls.call[keep], calls.function[keep]
    rows, which = np.unique(call, return_inverse=True)
    offsets, order = csr(which, len(rows))
    function = function if order is None else function[order]
    counts = np.diff(offsets)
    returning = returns[function[offsets[:-1]]]
    several = np.flatnonzero(counts > 1)
    returning[several] = w.build.names(len(several))
    _, place = ragged(offsets[several], offsets[several + 1])
    w.build.define(
        returning[several], Operator.JOIN, returns[function[place]],
        offsets=offsets_of(counts[several]),
    )  # fmt: skip
    block = w.table.block[rows].astype(np.int64)
    offsets, order = csr(block, n_blocks)
    returning = returning if order is None else returning[order]
    counts = np.diff(offsets)
    with_calls = np.flatnonzero(counts > 0)
    begin = offsets_of(counts[with_calls] + 1)
    operands = np.empty(int(begin[-1]), np.int64)
    is_first = np.zeros(len(operands), bool)
    is_first[begin[:-1]] = True
    operands[is_first] = w.block_name(with_calls)
    operands[~is_first] = returning
    w.end_name[with_calls] = w.build.names(len(with_calls))
    w.build.define(w.end_name[with_calls], Operator.MEET, operands, offsets=begin)
    ends = np.flatnonzero(w.table.opcode == Opcode.RET)
    owner = program.instruction_function[ends].astype(np.int64)
    offsets, order = csr(owner, n_functions)
    ends = ends if order is None else ends[order]
    counts = np.diff(offsets)
    has = np.flatnonzero(has_body & (counts > 0))
    w.build.define(
        returns[has], Operator.JOIN, w.end_name[w.table.block[ends]],
        offsets=offsets_of(counts[has]),
    )  # fmt: skip
    never = returns[has_body & (counts == 0)]
    w.build.define(never, Operator.NOTHING)


def control(w: Writer) -> None:
    """Blocks are reached along edges, or by calls; edges if their condition may hold."""
    program, flow = w.program, w.split.flow
    sources = flow.sources
    last = program.blocks.instruction_offsets[1:].astype(np.int64) - 1
    opcode = w.table.opcode[last] if len(last) else np.empty(0, np.uint8)
    n_operands = np.diff(w.table.offsets)[last] if len(last) else np.empty(0, np.int64)
    w.edge_name = w.end_name[sources]
    first_edge = flow.blocks.offsets
    invokes = np.flatnonzero(opcode == Opcode.INVOKE)
    unwinds = first_edge[invokes] + 1  # the second way out is taken without a return
    w.edge_name[unwinds] = w.block_name(invokes)
    branches = np.flatnonzero((opcode == Opcode.BR) & (n_operands == 3))
    condition = w.operand(last[branches], 0)
    for nth, number in ((0, -1), (1, 0)):
        names = w.build.names(len(branches))
        w.edge_name[first_edge[branches] + nth] = names
        pairs = np.stack([w.end_name[branches], condition], axis=1)
        w.build.define(names, Operator.WHEN, pairs, attribute=number)
    _switches(w, np.flatnonzero(opcode == Opcode.SWITCH), last)
    offsets, edges = flow.incoming
    names = w.block_name(np.arange(len(program.blocks)))
    has_edge = np.diff(offsets) > 0
    w.build.define(
        names[has_edge], Operator.JOIN, w.edge_name[edges],
        offsets=offsets_of(np.diff(offsets)[has_edge]),
    )  # fmt: skip
    w.build.define(names[~has_edge], Operator.NOTHING)
    _entries(w)


def _switches(w: Writer, blocks: I64, last: I64) -> None:
    constants, first = w.program.constants, w.bases[ValueKind.CONSTANT]
    blocks = blocks[w.is_tracked[w.operand_value(last[blocks], 0)]]
    value, here = w.operand(last[blocks], 0), w.end_name[blocks]
    which, edge, case = switch_cases(w.program, w.split.flow, blocks)
    names = w.build.names(len(case))
    w.edge_name[edge] = names
    pairs = np.stack([here[which], value[which]], axis=1)
    payload = constants.payload[case - first]
    w.build.define(names, Operator.WHEN, pairs, attribute=payload)
    offsets = offsets_of(2 + np.bincount(which, minlength=len(blocks)))
    operands = np.empty(int(offsets[-1]), np.int64)
    is_case = np.ones(len(operands), bool)
    is_case[offsets[:-1]] = is_case[offsets[:-1] + 1] = False
    operands[offsets[:-1]], operands[offsets[:-1] + 1] = here, value
    operands[is_case] = case
    others = w.build.names(len(blocks))
    w.edge_name[w.split.flow.blocks.offsets[blocks]] = others
    w.build.define(others, Operator.WHEN_OTHER, operands, offsets=offsets)


def _entries(w: Writer) -> None:
    """The first block of a function is reached if code outside calls it, or a call here is."""
    table, calls = w.program.function_table, w.calls
    entry = table.block_offsets[:-1].astype(np.int64)
    has_body = np.diff(table.block_offsets) > 0
    w.build.define(w.block_name(entry[calls.is_open & has_body]), Operator.CONSTANT, attribute=-1)
    closed = ~calls.is_open[calls.function]
    caller = w.block_name(w.table.block[calls.call[closed]])
    function = calls.function[closed]
    offsets, order = csr(function, len(has_body))
    caller = caller if order is None else caller[order]
    counts = np.diff(offsets)
    called = has_body & ~calls.is_open & (counts > 0)
    w.build.define(
        w.block_name(entry[called]),
        Operator.JOIN,
        caller,
        offsets=offsets_of(counts[called]),
    )
