"""Summaries by call site: what a call returns, given what that call passes (`--context 1`).

A function's constraints are copied for a call of it: the copy's arguments are what the call passes,
its entry is reached if the call is, and the call returns what the copy does.

    f(x) { return x < 0 ? 0 : x; }          f': x' = 7, result' = 7
    a = f(7); b = f(-3);                    f'': x'' = -3, result'' = 0
                                            f: x = -3..7, result = 0..7, as without copies

Only results and whether the call returns are read from a copy. Memory, and the arguments of what
the function calls itself, have their facts from the function's own names, which hold for all calls.
So it does no harm to leave names out of a copy: a copied constraint then reads the function's own.

Functions that call themselves are not copied: in a copy, the inner call would get the copy's
result, whose arguments are those of the outer call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kleene.analyses.dataflow.calls import Calls
from kleene.base.arrays import I64, Bools, csr, offsets_of, ragged
from kleene.ir.codes import Opcode, ValueKind
from kleene.solvers.dataflow import Constraints, Operator
from kleene.transforms.splitting import SplitProgram

_LARGEST = 400  # names of a function that is copied
_ALWAYS = 20_000  # names of all copies, however small the program is; else as many as it has
_DEEPEST = 12  # how many helpers, one behind the other, are found to be a function's


@dataclass(frozen=True, eq=False)
class Names:
    """What the names of constraints stand for, as far as copies need to know.

    Attributes:
        split: the program with its names.
        edge: of each edge of the control-flow graph.
        result: of each function's result; -1 for none.
        returns: of whether each function returns; -1 for a declaration.
        end: of whether control comes to the end of each block.
        width: of each value, in bits.
        is_shared: names that stand for what several calls have in common, as memory does.
    """

    split: SplitProgram
    edge: I64
    result: I64
    returns: I64
    end: I64
    width: I64
    is_shared: Bools


def by_call_site(constraints: Constraints, names: Names, calls: Calls) -> Constraints:
    """Return the constraints with copies of small functions behind them, one for each call."""
    owner = _owners(constraints, names)
    call, function = _chosen(owner, names, calls)
    if not len(call):
        return constraints
    offsets, order = csr(owner[owner >= 0], len(names.result))
    members = np.flatnonzero(owner >= 0)
    members = members if order is None else members[order]
    copy, place = ragged(offsets[function], offsets[function + 1])
    original = members[place]
    n = constraints.n_names
    nth = np.zeros(n, np.int64)  # of each name among those of its function
    nth[members] = np.arange(len(members)) - offsets[owner[members]]
    begin = n + offsets_of(np.diff(offsets)[function])
    lengths = np.diff(constraints.offsets)
    row, flat = ragged(constraints.offsets[original], constraints.offsets[original + 1])
    operand = constraints.operands[flat].astype(np.int64)
    inside = owner[operand] == function[copy[row]]
    operand[inside] = begin[copy[row[inside]]] + nth[operand[inside]]
    whole = Constraints(
        np.append(constraints.operator, constraints.operator[original]),
        np.append(constraints.width, constraints.width[original]),
        np.append(constraints.attribute, constraints.attribute[original]),
        offsets_of(np.append(lengths, lengths[original])),
        np.append(constraints.operands, operand).astype(np.int32),
        constraints.given,
    )
    return _bound(whole, n, names, call, function, begin, nth)


def _owners(constraints: Constraints, names: Names) -> I64:
    """Return the function of each name; -1 for those of none, or of several.

    A helper is the function's whose names are all that read it.
    """
    split, program = names.split, names.split.program
    base, table = program.bases, program.function_table
    owner = np.full(constraints.n_names, -1, np.int64)
    functions = np.arange(len(table))
    owner[base[ValueKind.ARGUMENT] : base[ValueKind.BLOCK]] = np.repeat(
        functions, np.diff(table.argument_offsets)
    )
    owner[base[ValueKind.BLOCK] : base[ValueKind.INSTRUCTION]] = program.blocks.function
    owner[base[ValueKind.INSTRUCTION] : program.n_values] = program.instruction_function
    owner[program.n_values : split.n_names] = owner[split.value]
    sources = split.flow.sources
    owner[names.edge] = program.blocks.function[sources]
    owner[names.end] = program.blocks.function
    for of_function in (names.result, names.returns):
        owner[of_function[of_function >= 0]] = functions[of_function >= 0]
    is_known = (owner >= 0) | names.is_shared
    owner[names.is_shared] = -1
    readers = np.repeat(np.arange(constraints.n_names), np.diff(constraints.offsets))
    open_ = ~is_known[constraints.operands]
    source, target = constraints.operands[open_], readers[open_]
    for _ in range(_DEEPEST):
        low, high = np.full(len(owner), 1 << 40), np.full(len(owner), -1)
        np.minimum.at(low, source, owner[target])
        np.maximum.at(high, source, owner[target])
        found = ~is_known & (low == high) & (low >= 0)
        if not found.any():
            break
        owner[found] = low[found]
        is_known |= found
    return owner


def _chosen(owner: I64, names: Names, calls: Calls) -> tuple[I64, I64]:
    """Return the calls for which functions are copied, the smallest functions first, and these."""
    n_functions = len(names.result)
    program = names.split.program
    opcode = program.instructions.opcode[calls.call]
    n_targets = np.bincount(calls.call, minlength=len(program.instructions))
    keep = (n_targets[calls.call] == 1) & ~calls.may_return_any[calls.call]
    keep &= calls.keeps_result[calls.function] & (names.result[calls.function] >= 0)
    keep &= (opcode == Opcode.CALL) & (owner[names.result[calls.function]] >= 0)
    n_calls = np.bincount(calls.function, minlength=n_functions)
    is_several = (n_calls > 1) | calls.is_open  # else the function's own names say as much
    size = np.bincount(owner[owner >= 0], minlength=n_functions)
    caller = program.instruction_function[calls.call]
    is_recursive = np.zeros(n_functions, bool)
    is_recursive[calls.function[caller == calls.function]] = True
    usable = is_several & (size <= _LARGEST) & ~is_recursive
    keep &= usable[calls.function]
    call, function = calls.call[keep], calls.function[keep]
    order = np.lexsort((call, size[function]))
    call, function = call[order], function[order]
    fits = np.cumsum(size[function]) <= max(_ALWAYS, len(owner))
    return call[fits], function[fits]


def _bound(
    whole: Constraints, n_old: int, names: Names, call: I64, function: I64, begin: I64, nth: I64
) -> Constraints:
    """Return the constraints with copies bound to their calls."""
    split, program = names.split, names.split.program
    table, functions, base = program.instructions, program.function_table, program.bases
    copies = np.arange(len(call))
    entry = base[ValueKind.BLOCK] + functions.block_offsets[function].astype(np.int64)
    block = table.block[call].astype(np.int64)
    # Entries are reached if calls are, and arguments are what they pass.
    rows = [begin[copies] + nth[entry]]
    values = [base[ValueKind.BLOCK] + block]
    first = functions.argument_offsets[:-1].astype(np.int64)[function]
    n_arguments = np.diff(functions.argument_offsets)[function]
    copy, which = ragged(np.zeros(len(call), np.int64), n_arguments.astype(np.int64))
    n_passed = np.diff(table.offsets)[call] - 1
    keep = which < n_passed[copy]
    copy, which = copy[keep], which[keep]
    formal = base[ValueKind.ARGUMENT] + first[copy] + which
    at = table.offsets[call[copy]] + 1 + which
    fits = (names.width[table.operands[at]] == names.width[formal]) & (names.width[formal] > 0)
    fits &= program.arguments.passing[first[copy] + which] == 0
    rows.append(begin[copy[fits]] + nth[formal[fits]])
    values.append(split.operand[at[fits]].astype(np.int64))
    whole = _joined(whole, np.concatenate(rows), np.concatenate(values))
    # Calls return what copies do, if that is what they returned before.
    operands = whole.operands.copy()
    name = base[ValueKind.INSTRUCTION] + call
    at = np.minimum(whole.offsets[name], max(len(operands) - 1, 0))
    single = (np.diff(whole.offsets)[name] == 1) & (whole.operator[name] == Operator.JOIN)
    single &= operands[at] == names.result[function]
    operands[at[single]] = (begin[:-1] + nth[names.result[function]])[single]
    # And they come back if copies do, where a block calls the function once.
    pair, count = np.unique(block << 32 | function, return_counts=True)
    once = count[np.searchsorted(pair, block << 32 | function)] == 1
    end, returns = names.end[block], names.returns[function]
    copy, at = ragged(whole.offsets[end], whole.offsets[end + 1])
    hit = once[copy] & (operands[at] == returns[copy])
    operands[at[hit]] = (begin[:-1] + nth[returns])[copy[hit]]
    return replace(whole, operands=operands)


def _joined(constraints: Constraints, names: I64, operand: I64) -> Constraints:
    """Return the constraints with some names equal to others."""
    n = constraints.n_names
    lengths = np.diff(constraints.offsets)
    kept = np.ones(n, bool)
    kept[names] = False
    owner = np.repeat(np.arange(n), lengths)
    lengths[names] = 1
    offsets = offsets_of(lengths)
    operands = np.empty(int(offsets[-1]), np.int32)
    of_kept = kept[owner]
    target = offsets[owner[of_kept]] + (np.arange(len(owner)) - constraints.offsets[owner])[of_kept]
    operands[target] = constraints.operands[of_kept]
    operands[offsets[names]] = operand
    operator = constraints.operator.copy()
    operator[names] = Operator.JOIN
    return replace(constraints, operator=operator, offsets=offsets, operands=operands)
