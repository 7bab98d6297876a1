"""The arrays that a file is read into, as large as its records can need."""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I64
from kleene.frontends.c.reader import state as heap_state
from kleene.frontends.c.reader.bits import blocks, state
from kleene.frontends.c.reader.bits.plan import Plan, Records, check
from kleene.frontends.c.reader.bits.stream import R_END, R_FIRST
from kleene.frontends.c.reader.metadata import M_ARGUMENT
from kleene.frontends.c.reader.symbols import N_SYMBOLS, S_WIDTH, START
from kleene.frontends.c.reader.symbols import TABLE_SIZE as SYMBOL_TABLE_SIZE

_MOST_GROUPS = 1 << 20
_HOLDING = (
    blocks.CONSTANT_AGGREGATE,
    blocks.CONSTANT_BINARY,
    blocks.CONSTANT_CAST,
    blocks.CONSTANT_RANGED_ADDRESS,
    blocks.CONSTANT_ADDRESS,
)


def heap(records: Records, plan: Plan) -> I64:
    """Return the text reader's heap: every row takes an operand, or a record, of its own."""
    data = records.of(blocks.CONSTANTS, blocks.CONSTANT_DATA)
    n_constants = records.count(blocks.CONSTANTS) + int(records.n_operands(data).sum()) + 1024
    calls = records.of(blocks.FUNCTION, blocks.CALL, blocks.INVOKE, blocks.CALL_BRANCH)
    n_operands = int((records.rows[:, R_END] - records.rows[:, R_FIRST]).sum())
    sizes = heap_state.Sizes(
        tokens=n_operands + len(records.rows),
        lines=len(records.rows) + len(plan.order),
        heads=len(plan.order),
        commas=plan.n_arguments,
        brackets=int(records.n_operands(calls).sum()),
        quotes=records.count(blocks.FUNCTION, blocks.BUNDLE),
        groups=records.count(blocks.ATTRIBUTE_LISTS) + 1,
        locals=0,
        symbols=0,
    )
    table_bits = (2 * max(n_constants, records.count(blocks.TYPES))).bit_length()
    return heap_state.allocate(sizes, table_bits)


def nodes(records: Records, plan: Plan) -> I64:
    """Return a row for each piece of metadata and for each place that is told in a body."""
    n_places = records.count(blocks.FUNCTION, blocks.NEW_PLACE)
    return np.zeros((plan.n_metadata + n_places + 1, M_ARGUMENT + 1), np.int64)


def known(records: Records, plan: Plan) -> I64:
    """Return the state of reading, with the plan in it."""
    n_values = plan.n_globals + plan.n_arguments + records.count(blocks.CONSTANTS)
    n_values += records.count(blocks.FUNCTION) + 16
    groups = records.operand(records.of_block(blocks.ATTRIBUTE_GROUPS), 0)
    n_groups = int(groups.max(initial=0)) + 1
    check(n_groups <= _MOST_GROUPS)
    n_types, n_tags = records.count(blocks.TYPES), records.count(blocks.BUNDLE_TAGS)
    n_lists = records.count(blocks.ATTRIBUTE_LISTS) + 1
    n_inner = int(records.n_operands(records.of(blocks.CONSTANTS, *_HOLDING)).sum())
    cells = state.allocate(
        {
            state.TYPE_OF: n_types,
            state.VALUES: n_values,
            state.VALUE_TYPES: n_values,
            state.VALUE_RECORDS: n_values,
            state.WAITING: n_inner + 1,
            state.MD_KIND: plan.n_metadata + 1,
            state.MD_DATA: plan.n_metadata + 1,
            state.GROUPS: n_groups * state.GROUP_WIDTH,
            state.LISTS: n_lists,
            state.LIST_PASSES: n_lists,
            state.ORDER: plan.order.size,
            state.GLOBAL_ROW: plan.n_globals,
            state.UPGRADED: plan.n_globals,
            state.BODIES: len(plan.bodies),
            state.FIRST_BLOCKS: len(plan.first_blocks),
            state.TAGS: n_tags,
        }
    )
    cells[state.MAX_VALUES], cells[state.MAX_TYPES], cells[state.MAX_TAGS] = (
        n_values,
        n_types,
        n_tags,
    )
    cells[state.MAX_GROUPS], cells[state.MAX_LISTS] = n_groups, n_lists
    cells[state.MAX_ROWS] = cells[state.N_NODES] = plan.n_metadata
    n_places = records.count(blocks.FUNCTION, blocks.NEW_PLACE)
    cells[state.MAX_NODES] = plan.n_metadata + n_places
    _put_plan(cells, plan)
    return cells


def _put_plan(cells: I64, plan: Plan) -> None:
    for table, column in (
        (state.ORDER, plan.order.ravel()),
        (state.BODIES, plan.bodies),
        (state.FIRST_BLOCKS, plan.first_blocks),
    ):
        cells[cells[table] : cells[table] + len(column)] = column
    cells[state.N_GLOBALS], cells[state.N_ORDERED] = plan.n_globals, len(plan.order)
    cells[state.MAX_BODIES] = len(plan.bodies)
    cells[state.N_CREATED] = int((plan.order[:, state.O_SORT] != state.LIFETIME).sum())


def symbols(records: Records, plan: Plan) -> I64:
    """Return a table of symbols, twice as large as there can be texts."""
    spelling = (blocks.TYPES, blocks.CONSTANTS, blocks.SYMBOLS, blocks.BUNDLE_TAGS)
    n_spelled = sum(records.count(block) for block in spelling)
    most = 2 * n_spelled + plan.n_metadata + len(plan.order) + 64
    bits = (2 * most).bit_length()
    table = np.zeros(START + (1 << bits) * (1 + S_WIDTH), np.int64)
    table[N_SYMBOLS], table[SYMBOL_TABLE_SIZE] = 1, 1 << bits  # symbol 0 is empty
    return table
