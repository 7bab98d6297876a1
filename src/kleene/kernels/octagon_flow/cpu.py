"""The fixed points of many small octagon problems, one after the other; `octagon_flow.cu` is alike.

A matrix of width w = 2n lies row by row in an array from `at` on: `m[at + i*w + j]` bounds
V'j - V'i, where V'2k = x_k and V'2k+1 = -x_k (Miné). Matrices are whole, not halves: n is small.
"""

from __future__ import annotations

from kleene.base.arrays import I32, I64, U8
from kleene.kernels.octagon_flow.codes import (
    ASSIGN,
    ASSUME,
    CHECK,
    ENDS,
    EXCLUDE,
    FAIL,
    INFINITE,
    LARGEST,
    LEAVES,
    SET,
    WIDEST,
)
from kleene.kernels.octagon_flow.compiled import device_function, entry_point


@device_function
def close(m: I64, at: int, w: int) -> bool:
    """Close a matrix strongly, over integers; return whether a point is left.

    Shortest paths, then unary bounds rounded to even numbers, then pairs of unary bounds: for
    integers that is the tight closure (Bagnara, Hill, Zaffanella, 2009).
    """
    for k in range(w):
        for i in range(w):
            left = m[at + i * w + k]
            if left >= INFINITE:
                continue
            for j in range(w):
                right = m[at + k * w + j]
                if right < INFINITE and left + right < m[at + i * w + j]:
                    m[at + i * w + j] = left + right
    for i in range(w):
        if m[at + i * w + i] < 0:
            return False
        if m[at + i * w + (i ^ 1)] < INFINITE:
            m[at + i * w + (i ^ 1)] = m[at + i * w + (i ^ 1)] & ~1
    for i in range(w):
        up, down = m[at + i * w + (i ^ 1)], m[at + (i ^ 1) * w + i]
        if up < INFINITE and down < INFINITE and up + down < 0:
            return False
    for i in range(w):
        up = m[at + i * w + (i ^ 1)]
        for j in range(w):
            found, down = m[at + i * w + j], m[at + (j ^ 1) * w + j]
            if up < INFINITE and down < INFINITE and (up + down) >> 1 < found:
                found = (up + down) >> 1
            m[at + i * w + j] = 0 if i == j else bounded(found)
    return True


@device_function
def bounded(bound: int) -> int:
    """Return a bound that says no more, and is not too large."""
    if bound > LARGEST:
        return INFINITE
    return max(bound, -LARGEST)


@device_function
def assume(m: I64, at: int, w: int, first: int, second: int, bound: int) -> None:
    """Add first + second <= bound; first <= bound if the second is -1."""
    if second < 0:
        i, j, value = first ^ 1, first, 2 * bound
        m[at + i * w + j] = min(m[at + i * w + j], bounded(value))
        return
    i, j = second ^ 1, first
    m[at + i * w + j] = min(m[at + i * w + j], bounded(bound))
    i, j = first ^ 1, second
    m[at + i * w + j] = min(m[at + i * w + j], bounded(bound))


@device_function
def assume_range(m: I64, at: int, w: int, variable: int, low: int, high: int) -> None:
    """Add low <= variable <= high, as far as these are not too wide."""
    if high < WIDEST:
        assume(m, at, w, 2 * variable, -1, high)
    if low > -WIDEST:
        assume(m, at, w, 2 * variable + 1, -1, -low)


@device_function
def forget(m: I64, at: int, w: int, variable: int) -> None:
    """Let a variable of a closed matrix have any value."""
    for end in range(2 * variable, 2 * variable + 2):
        for j in range(w):
            m[at + end * w + j] = INFINITE
            m[at + j * w + end] = INFINITE
    for end in range(2 * variable, 2 * variable + 2):
        m[at + end * w + end] = 0


@device_function
def shift(m: I64, at: int, w: int, variable: int, low: int, high: int) -> None:
    """Add to a variable any value from low to high: bounds of x rise by high, of -x by -low."""
    plus, minus = 2 * variable, 2 * variable + 1
    for j in range(w):
        raised = m[at + j * w + plus]
        if raised < INFINITE:
            m[at + j * w + plus] = bounded(raised + high)
        raised = m[at + j * w + minus]
        if raised < INFINITE:
            m[at + j * w + minus] = bounded(raised - low)
    for j in range(w):
        raised = m[at + plus * w + j]
        if raised < INFINITE:
            m[at + plus * w + j] = bounded(raised - low)
        raised = m[at + minus * w + j]
        if raised < INFINITE:
            m[at + minus * w + j] = bounded(raised + high)
    m[at + plus * w + plus] = 0
    m[at + minus * w + minus] = 0


@device_function
def negate(m: I64, at: int, w: int, variable: int) -> None:
    """Replace a variable by its negation."""
    plus, minus = 2 * variable, 2 * variable + 1
    for j in range(w):
        kept = m[at + plus * w + j]
        m[at + plus * w + j] = m[at + minus * w + j]
        m[at + minus * w + j] = kept
    for j in range(w):
        kept = m[at + j * w + plus]
        m[at + j * w + plus] = m[at + j * w + minus]
        m[at + j * w + minus] = kept


@device_function
def holds(m: I64, at: int, w: int, first: int, second: int, bound: int) -> bool:
    """Return whether a closed matrix implies first + second <= bound."""
    if second < 0:
        return bool(m[at + (first ^ 1) * w + first] <= 2 * bound)
    return bool(m[at + (second ^ 1) * w + first] <= bound)


@device_function
def exclude(m: I64, at: int, w: int, first: int, second: int, number: int) -> None:
    """Add to a closed matrix that first + second is not a number, where this is an end of it."""
    other = second ^ 1 if second >= 0 else -1
    is_high = holds(m, at, w, first, second, number)
    is_low = holds(m, at, w, first ^ 1, other, -number)
    if is_high:
        assume(m, at, w, first, second, number - 1)
    if is_low:
        assume(m, at, w, first ^ 1, other, -number - 1)


@device_function
def apply(
    m: I64, at: int, w: int, start: int, end: int,
    code: I64, first: I64, second: I64, low: I64, high: I64, proved: U8, asks: int,
) -> bool:  # fmt: skip
    """Change a closed matrix by operations, and close it; return whether a point is left."""
    is_closed = True
    for place in range(start, end):
        what = code[place]
        if what == FAIL:
            if not is_closed and not close(m, at, w):
                return False
            is_closed = True
            if asks:
                proved[low[place]] = 0
            continue
        if what != ASSUME and not is_closed:
            if not close(m, at, w):
                return False
            is_closed = True
        if what == CHECK:
            if asks and not holds(m, at, w, first[place], second[place], high[place]):
                proved[low[place]] = 0
            continue
        is_closed = False
        if what == ASSUME:
            assume(m, at, w, first[place], second[place], high[place])
        elif what == EXCLUDE:
            exclude(m, at, w, first[place], second[place], high[place])
        elif what == SET:
            forget(m, at, w, first[place])
            assume_range(m, at, w, first[place], low[place], high[place])
        elif what == ASSIGN:
            variable, literal = first[place], second[place]
            if literal >> 1 == variable:
                if literal & 1:
                    negate(m, at, w, variable)
                shift(m, at, w, variable, low[place], high[place])
            else:
                forget(m, at, w, variable)
                assume(m, at, w, 2 * variable, literal ^ 1, high[place])
                assume(m, at, w, 2 * variable + 1, literal, -low[place])
    return is_closed or close(m, at, w)


@device_function
def copy(m: I64, to: int, source: int, size: int) -> None:
    """Copy a matrix inside of an array."""
    for k in range(size):
        m[to + k] = m[source + k]


@device_function
def incoming_of(
    m: I64, work: int, w: int, after: int, node: int, here: int, edge_first: int,
    in_offsets: I64, edge_source: I32, reached: U8, at: int, edge_ops: int, op_offsets: I64,
    code: I64, first: I64, second: I64, low: I64, high: I64, proved: U8,
) -> bool:  # fmt: skip
    """Write the join of what comes along all edges to `work`; return whether anything does.

    The matrix behind `work` is used for what comes along one edge.
    """
    size = w * w
    found = False
    if node == 0:
        for k in range(size):
            m[work + k] = INFINITE
        for i in range(w):
            m[work + i * w + i] = 0
        found = True
    for edge in range(in_offsets[here], in_offsets[here + 1]):
        source = edge_source[edge]
        if reached[at + source] != LEAVES:
            continue
        came = work + size if found else work
        copy(m, came, after + source * size, size)
        place = edge_ops + edge - edge_first
        start, end = op_offsets[place], op_offsets[place + 1]
        if not apply(m, came, w, start, end, code, first, second, low, high, proved, 0):
            continue
        if found:
            for k in range(size):
                m[work + k] = max(m[work + k], m[came + k])
        found = True
    return found


@device_function
def leave(
    m: I64, after: int, before: int, w: int, ranges: int, range_low: I64, range_high: I64,
    start: int, end: int,
    code: I64, first: I64, second: I64, low: I64, high: I64, proved: U8, asks: int,
) -> bool:  # fmt: skip
    """Write to `after` what holds at the end of a node; return whether it is reached."""
    copy(m, after, before, w * w)
    for variable in range(w >> 1):
        assume_range(
            m, after, w, variable, range_low[ranges + variable], range_high[ranges + variable]
        )
    if not close(m, after, w):
        return False
    return apply(m, after, w, start, end, code, first, second, low, high, proved, asks)


@entry_point
def solve(
    begin: int, finish: int,
    pack_graph: I64, pack_variables: I64, pack_ranges: I64, range_low: I64, range_high: I64,
    pack_edge_ops: I64, edge_op_offsets: I64, pack_node_ops: I64, node_op_offsets: I64,
    code: I64, first: I64, second: I64, low: I64, high: I64,
    graph_nodes: I64, in_offsets: I64, edge_source: I32, out_offsets: I64, edge_target: I32,
    is_head: U8, pack_state: I64, pack_reached: I64, pack_budget: I64,
    m: I64, reached: U8, due: U8, visits: I64, proved: U8, is_given_up: U8, counts: I64,
) -> None:  # fmt: skip
    """Solve the packs from `begin` to `finish`; see `FlowProblem` for the columns.

    The states of a pack with N nodes of size s = w*w begin at `pack_state` in `m`: N before nodes,
    N behind them, and two to work with. `counts` gets the number of nodes evaluated.
    """
    for pack in range(begin, finish):
        graph, w = pack_graph[pack], 2 * pack_variables[pack]
        size, nodes = w * w, graph_nodes[graph]
        n_nodes = graph_nodes[graph + 1] - nodes
        before = pack_state[pack]
        after = before + n_nodes * size
        work = after + n_nodes * size
        at = pack_reached[pack]
        ranges, edge_ops, node_ops = pack_ranges[pack], pack_edge_ops[pack], pack_node_ops[pack]
        edge_first = in_offsets[nodes + graph]
        for node in range(n_nodes):
            reached[at + node] = 0
            due[at + node] = 0
            visits[at + node] = 0
        due[at] = 1
        left = pack_budget[pack]
        changed = True
        while changed and left > 0:
            changed = False
            for node in range(n_nodes):
                if due[at + node] == 0 or left <= 0:
                    continue
                due[at + node] = 0
                left -= 1
                counts[pack] += 1
                here = nodes + graph + node
                if not incoming_of(
                    m, work, w, after, node, here, edge_first, in_offsets, edge_source, reached,
                    at, edge_ops, edge_op_offsets, code, first, second, low, high, proved,
                ):  # fmt: skip
                    continue
                mine = before + node * size
                if reached[at + node] == 0:
                    copy(m, mine, work, size)
                else:
                    grows = False
                    visits[at + node] += 1
                    widens = is_head[nodes + node] != 0 and visits[at + node] > 2
                    for k in range(size):
                        if m[work + k] > m[mine + k]:
                            grows = True
                            m[mine + k] = INFINITE if widens else m[work + k]
                    if not grows:
                        continue
                changed = True
                start, end = node_op_offsets[node_ops + node], node_op_offsets[node_ops + node + 1]
                is_left = leave(
                    m, after + node * size, mine, w, ranges, range_low, range_high, start, end,
                    code, first, second, low, high, proved, 0,
                )  # fmt: skip
                reached[at + node] = LEAVES if is_left else ENDS
                for edge in range(out_offsets[here], out_offsets[here + 1]):
                    due[at + edge_target[edge]] = 1
        if changed or left <= 0:
            is_given_up[pack] = 1
            continue
        for _ in range(2):
            for node in range(n_nodes):
                if reached[at + node] == 0:
                    continue
                counts[pack] += 1
                here = nodes + graph + node
                found = incoming_of(
                    m, work, w, after, node, here, edge_first, in_offsets, edge_source, reached,
                    at, edge_ops, edge_op_offsets, code, first, second, low, high, proved,
                )  # fmt: skip
                if not found:
                    reached[at + node] = 0
                    continue
                mine = before + node * size
                copy(m, mine, work, size)
                start, end = node_op_offsets[node_ops + node], node_op_offsets[node_ops + node + 1]
                is_left = leave(
                    m, after + node * size, mine, w, ranges, range_low, range_high, start, end,
                    code, first, second, low, high, proved, 0,
                )  # fmt: skip
                reached[at + node] = LEAVES if is_left else ENDS
        for node in range(n_nodes):
            if reached[at + node] != 0:
                start, end = node_op_offsets[node_ops + node], node_op_offsets[node_ops + node + 1]
                leave(
                    m, work, before + node * size, w, ranges, range_low, range_high, start, end,
                    code, first, second, low, high, proved, 1,
                )  # fmt: skip
