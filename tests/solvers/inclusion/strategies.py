"""Small inclusion problems that use everything: by Hypothesis, and by seed for long runs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np
from hypothesis import strategies as st

from kleene.solvers.inclusion import ANY, BY_LAYOUT, NONE, Problem
from kleene.solvers.inclusion.check import check


def problem_of(n_nodes: int, **columns: object) -> Problem:
    """Return a checked problem; its columns may be lists, and `formals` and `actuals` nested."""
    contents = columns.setdefault("contents", [])
    columns.setdefault("allocation_offsets", range(len(contents) + 1))
    for name, offsets in (("formals", "formal_offsets"), ("actuals", "actual_offsets")):
        nested = columns.get(name, [])
        if offsets not in columns:
            columns[offsets] = [0, *accumulate(map(len, nested))]
            columns[name] = [node for row in nested for node in row]
    for name, table in (
        ("function_result", "function_object"),
        ("function_rest", "function_object"),
        ("call_result", "call_callee"),
    ):
        columns.setdefault(name, [NONE] * len(columns.get(table, [])))
    problem = Problem(n_nodes, **{n: np.array(c, np.int32) for n, c in columns.items()})
    check(problem)
    return problem


@st.composite
def problems(draw: st.DrawFn, calls: bool = True, flags: bool = True) -> Problem:
    """Draw a problem: few nodes and objects, so that rules meet."""
    n_nodes = draw(st.integers(1, 10))
    node = st.integers(0, n_nodes - 1)
    node_or_none = st.integers(NONE, n_nodes - 1)
    sizes = draw(st.lists(st.integers(0, 4), max_size=4))
    n_objects = sum(sizes)
    columns: dict[str, object] = {
        "contents": draw(st.lists(node_or_none, min_size=n_objects, max_size=n_objects)),
        "allocation_offsets": [0, *accumulate(sizes)],
    }

    def table(largest: int, **kinds: st.SearchStrategy[object]) -> None:
        rows = draw(st.lists(st.tuples(*kinds.values()), max_size=largest))
        columns.update({name: [row[i] for row in rows] for i, name in enumerate(kinds)})

    if n_objects:
        table(8, address_node=node, address_object=st.integers(0, n_objects - 1))
    table(6, copy_destination=node, copy_source=node)
    table(5, load_destination=node, load_pointer=node)
    table(5, store_pointer=node, store_source=node)
    n_offset_kinds = draw(st.integers(0, 2))
    columns |= image_columns(lambda low, high: draw(st.integers(low, high)), sizes, n_offset_kinds)
    amount = st.integers(BY_LAYOUT + 1 - (n_offset_kinds if n_objects else 0), 4)
    table(4, offset_destination=node, offset_source=node, offset_amount=amount)
    if calls:
        places = st.lists(st.integers(0, max(n_objects - 1, 0)), max_size=4, unique=True)
        functions = draw(places) if n_objects else []
        some = st.lists(node_or_none, max_size=3)
        columns["function_object"] = functions
        for name, kind in (
            ("function_result", node_or_none),
            ("function_rest", node_or_none),
            ("formals", some),
        ):
            columns[name] = [draw(kind) for _ in functions]
        table(
            3,
            call_callee=node,
            call_result=node_or_none,
            actuals=st.lists(node_or_none, max_size=4),
        )
    if n_objects:
        some = draw(st.lists(st.integers(0, n_objects - 1), max_size=3))
        columns["constant_object"] = sorted({*some} - {*columns.get("function_object", ())})
    if flags:
        table(3, flagged_node=node, flags=st.integers(0, 3))
    return problem_of(n_nodes, **columns)


def random_problem(seed: int, calls: bool = True, flags: bool = True) -> Problem:
    """Return problem number `seed`: kinds of rows are absent at times, some nodes popular."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(2, 16))
    sizes = rng.choice([1, 1, 1, 2, 3, 4], rng.integers(0, 10))
    n_objects = int(sizes.sum())
    n_popular = int(rng.integers(1, n_nodes + 1))

    def nodes(n: int, p_none: float = 0.0) -> list[int]:
        near = rng.random(n) < 0.5
        found = np.where(near, rng.integers(0, n_popular, n), rng.integers(0, n_nodes, n))
        return np.where(rng.random(n) < p_none, NONE, found).tolist()

    def count(most: int) -> int:
        return int(rng.integers(0, most + 1)) if rng.random() < 0.8 else 0

    columns: dict[str, object] = {
        "contents": nodes(n_objects, 0.15),
        "allocation_offsets": [0, *accumulate(sizes.tolist())],
    }
    if n_objects:
        n = 2 + count(4 + 2 * n_objects)
        columns |= {"address_node": nodes(n), "address_object": rng.integers(0, n_objects, n)}
    n = count(n_nodes + 2)
    columns |= {"copy_destination": nodes(n), "copy_source": nodes(n)}
    n = count(n_nodes)
    columns |= {"load_destination": nodes(n), "load_pointer": nodes(n)}
    n = count(n_nodes)
    columns |= {"store_pointer": nodes(n), "store_source": nodes(n)}
    n = count(4)
    columns |= {"offset_destination": nodes(n), "offset_source": nodes(n)}
    n_offset_kinds = int(rng.integers(0, 3)) if n_objects else 0
    columns |= image_columns(
        lambda low, high: int(rng.integers(low, high + 1)), sizes.tolist(), n_offset_kinds
    )
    columns |= {"offset_amount": rng.integers(BY_LAYOUT + 1 - n_offset_kinds, 4, n)}
    if calls:
        functions = rng.permutation(n_objects)[: count(6)]
        n = len(functions)
        columns |= {"function_object": functions, "function_result": nodes(n, 0.3)}
        columns |= {"function_rest": nodes(n, 0.6)}
        columns["formals"] = [nodes(int(rng.integers(0, 4)), 0.1) for _ in range(n)]
        n = count(5)
        columns |= {"call_callee": nodes(n), "call_result": nodes(n, 0.3)}
        columns["actuals"] = [nodes(int(rng.integers(0, 5)), 0.1) for _ in range(n)]
    if n_objects and rng.random() < 0.5:
        some = rng.integers(0, n_objects, count(4))
        columns["constant_object"] = np.setdiff1d(some, columns.get("function_object", []))
    if flags and rng.random() < 0.3:
        n = 1 + count(2)
        columns |= {"flagged_node": nodes(n), "flags": rng.integers(0, 4, n)}
    return problem_of(n_nodes, **columns)


def large_problem(seed: int) -> Problem:
    """Return problem number `seed` with sets of several words, and of up to hundreds of objects."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(60, 140))
    sizes = rng.choice([1, 1, 1, 2, 3, 9], rng.integers(70, 200))
    n_objects = int(sizes.sum())

    def nodes(n: int, p_none: float = 0.0) -> list[int]:
        return np.where(rng.random(n) < p_none, NONE, rng.integers(0, n_nodes, n)).tolist()

    def count(share: float) -> int:
        return int(rng.integers(0, int(share * n_nodes) + 1))

    functions = rng.permutation(n_objects)[: rng.integers(0, 60)]
    n_address, n_copies, n_loads, n_stores, n_offsets, n_calls, n_flags = map(
        count, (1.2, 0.8, 0.5, 0.4, 0.3, 0.3, 0.03)
    )
    return problem_of(
        n_nodes,
        contents=nodes(n_objects, 0.2),
        allocation_offsets=[0, *np.cumsum(sizes).tolist()],
        address_node=nodes(n_address),
        address_object=rng.integers(0, n_objects, n_address),
        copy_destination=nodes(n_copies),
        copy_source=nodes(n_copies),
        load_destination=nodes(n_loads),
        load_pointer=nodes(n_loads),
        store_pointer=nodes(n_stores),
        store_source=nodes(n_stores),
        offset_destination=nodes(n_offsets),
        offset_source=nodes(n_offsets),
        offset_amount=rng.choice([ANY, 0, 1, 2, 4], n_offsets),
        function_object=functions,
        function_result=nodes(len(functions), 0.3),
        function_rest=nodes(len(functions), 0.6),
        formals=[nodes(int(rng.integers(0, 5)), 0.1) for _ in functions],
        call_callee=nodes(n_calls),
        call_result=nodes(n_calls, 0.3),
        actuals=[nodes(int(rng.integers(0, 6)), 0.1) for _ in range(n_calls)],
        constant_object=np.setdiff1d(rng.integers(0, n_objects, count(0.2)), functions),
        flagged_node=nodes(n_flags),
        flags=rng.integers(1, 4, n_flags),
    )


def random_mixed(seed: int) -> Problem:
    """Return problem number `seed`: small, but for one in twenty."""
    return large_problem(seed) if seed % 20 == 19 else random_problem(seed)


def image_columns(
    pick: Callable[[int, int], int], sizes: list[int], n_offset_kinds: int
) -> dict[str, object]:
    """Return columns with some offset kinds: a layout has one size, some sizes two layouts."""
    if not n_offset_kinds or not sizes:
        return {}
    layouts = sorted({(size, pick(0, 1)) for size in sizes})
    by_size = {size: [i for i, layout in enumerate(layouts) if layout[0] == size] for size in sizes}
    layout_of = [by_size[size][pick(0, len(by_size[size]) - 1)] for size in sizes]
    used = sorted(set(layout_of))
    size_of = dict(zip(layout_of, sizes, strict=True))
    rows: list[int] = []
    rows_of_images: list[list[int]] = []
    for _ in range(n_offset_kinds):
        for layout in used:
            rows.append(NONE if pick(0, 5) == 0 else len(rows_of_images))
            if rows[-1] != NONE:
                places = range(size_of[layout])
                rows_of_images += [[i for i in places if pick(0, 2) == 0] for _ in places]
    return {
        "allocation_layout": [used.index(layout) for layout in layout_of],
        "image_rows": rows,
        "image_offsets": [0, *accumulate(map(len, rows_of_images))],
        "images": [place for row in rows_of_images for place in row],
    }


def random_closures(seed: int) -> Problem:
    """Return problem number `seed` of those with addresses, calls and functions alone."""
    rng = np.random.default_rng(seed)
    return _closures(lambda low, high: int(rng.integers(low, high + 1)))


@st.composite
def closures(draw: st.DrawFn) -> Problem:
    """Draw a problem with addresses, calls and functions alone."""
    return _closures(lambda low, high: draw(st.integers(low, high)))


def _closures(pick: Callable[[int, int], int]) -> Problem:
    """Return a program of binary functions: nodes are formals, then functions, then others."""
    n_functions = pick(1, 10)
    first = 2 * n_functions
    n_nodes = first + n_functions + pick(0, 2)
    n_calls = pick(0, 12)
    return problem_of(
        n_nodes,
        contents=[NONE] * n_functions,
        address_node=range(first, first + n_functions),
        address_object=range(n_functions),
        function_object=range(n_functions),
        formals=np.arange(first).reshape(-1, 2).tolist(),
        call_callee=[pick(0, n_nodes - 1) for _ in range(n_calls)],
        actuals=[[pick(0, n_nodes - 1) for _ in range(pick(0, 2))] for _ in range(n_calls)],
    )
