"""Call graphs by number: columns, reachability, parts and drawings, against a plain definition."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.arrays import offsets_of
from kleene.base.errors import SourceError, Span
from kleene.results.call_graph import (
    CALLBACK,
    DIRECT,
    INDIRECT,
    OUTSIDE,
    CallGraph,
    grouped_targets,
)
from kleene.results.explanation import Explanation, Step
from kleene.results.naming import Files, Naming


class Numbered(Naming):
    """Functions are called f0, f1, …; call c stands in line c + 1 of a file."""

    @property
    def files(self) -> Files:
        return Files(["/a/b.c"])

    def function(self, function: int) -> str:
        return f"f{function}"

    def node(self, node: int) -> str | None:
        return f"n{node}"

    def readable(self, node: int) -> str:
        return f"n{node}"

    def object(self, object: int) -> str:
        return f"o{object}"

    def call_location(self, call: int) -> int:
        return call

    def span(self, location: int) -> Span | None:
        return Span("/a/b.c", location + 1, 2) if location >= 0 else None


def explained(site: int, target: str) -> Explanation:
    return Explanation(f"site {site}", target, (Step("b.c:1:2", "gets it", "n", "copy", None),))


def find(text: str) -> int:
    """Functions are written in upper case, too."""
    if text[:1] != "F":
        raise SourceError(None, "test/no-such-name", f"no function is called '{text}'")
    return int(text[1:])


@st.composite
def graphs(draw: st.DrawFn) -> CallGraph:
    n = draw(st.integers(1, 6))
    functions = st.integers(0, n - 1)
    sites = draw(
        st.lists(
            st.tuples(
                st.integers(-1, n - 1),
                st.sampled_from([DIRECT, INDIRECT, CALLBACK]),
                st.lists(functions, max_size=3, unique=True),
                st.booleans(),
            ),
            max_size=8,
        )
    )
    caller, kind, targets, leaves = zip(*sites, strict=True) if sites else ((), (), (), ())
    flat = [function for row in targets for function in row]
    return CallGraph(
        Numbered(),
        n,
        call=np.array([i if c >= 0 else -1 for i, c in enumerate(caller)], np.int32),
        caller=np.array(caller, np.int32),
        kind=np.array(kind, np.uint8),
        callee=np.array([-1 if k == DIRECT else i for i, k in enumerate(kind)], np.int32),
        target_offsets=offsets_of([len(row) for row in targets]),
        targets=np.array(flat, np.int32),
        may_leave=np.array(leaves, bool) & (np.array(kind) != DIRECT)
        if sites
        else np.empty(0, bool),
        escaped_ids=np.array(sorted(draw(st.sets(functions))), np.int32),
        entries=np.array(sorted(draw(st.sets(functions, max_size=1))), np.int32),
        opaque=np.array(sorted(draw(st.sets(functions, max_size=1))), np.int32),
        explain=explained,
        find=find,
    )


def steps(graph: CallGraph) -> set[tuple[str, str]]:
    """Who calls whom in one step, entries left out."""
    found = {(OUTSIDE, name) for name in graph.escaped}
    found |= {(graph.name(f), OUTSIDE) for f in graph.opaque.tolist()}
    for site in graph.sites:
        found |= {(site.caller, target) for target in site.known}
        if site.may_leave:
            found.add((site.caller, OUTSIDE))
    return found


@given(graph=graphs())
def test_what_is_reached_is_what_steps_reach(graph: CallGraph) -> None:
    pairs = steps(graph)
    for start in (*graph.functions, OUTSIDE):
        found = {start, *(graph.names(graph.entries) if start == OUTSIDE else ())}
        while more := {b for a, b in pairs if a in found} - found:
            found |= more
        assert graph.reachable(start) == [name for name in graph.functions if name in found]
        assert graph.reached(graph.id(start))[-1] == (OUTSIDE in found)


@given(graph=graphs())
def test_callers_and_callees_are_the_ends_of_edges(graph: CallGraph) -> None:
    edges = {(edge.caller, edge.callee) for edge in graph.edges}
    assert {(OUTSIDE, name) for name in graph.names(graph.entries)} <= edges
    edges -= {(OUTSIDE, OUTSIDE)}
    assert edges >= steps(graph) - {(OUTSIDE, OUTSIDE)}
    for name in (*graph.functions, OUTSIDE):
        callees, callers = graph.callees(name), graph.callers(name)
        assert set(callees) == {b for a, b in edges if a == name}
        assert set(callers) == {a for a, b in edges if b == name}
        assert len(set(callees)) == len(callees)
        assert len(set(callers)) == len(callers)
        distances = graph.callers_by_distance([graph.id(name)], 1)
        assert {graph.name(f) for f in distances} == set(callers)


@given(graph=graphs())
def test_what_escaped_is_called_from_outside(graph: CallGraph) -> None:
    drawn, plain, rows = graph.to_dot(), graph.as_json(), graph.to_csv().splitlines()
    for name in (*graph.escaped, *graph.names(graph.entries)):
        assert OUTSIDE in graph.callers(name)
        assert name in graph.callees(OUTSIDE)
        assert f'"{OUTSIDE}" -> "{name}" [style="dotted"]' in drawn
        assert name in plain["outside"]["calls"]  # type: ignore[index]
        assert f"{OUTSIDE},,callback,{name}" in rows
    for site in graph.sites:
        if site.may_leave:
            assert f'"{site.caller}" -> "{OUTSIDE}"' in drawn


@given(graph=graphs())
def test_names_and_numbers_of_nothing_are_refused(graph: CallGraph) -> None:
    for question in (graph.callees, graph.callers, graph.reachable, graph.within):
        assert question("F0") is not None  # what `find` knows
        with pytest.raises(SourceError, match="no function is called 'nothing'"):
            question("nothing")
        for number in (-1, graph.n_functions + 1):
            with pytest.raises(IndexError):
                question(number)


@given(graph=graphs())
def test_distances_are_the_shortest(graph: CallGraph) -> None:
    for function in range(graph.n_functions + 1):
        level, expected = {function}, dict[int, int]()
        for distance in range(1, graph.n_functions + 2):
            level = {c for f in level for c in graph.caller_ids(f).tolist()}
            for caller in level:
                expected.setdefault(caller, distance)
        assert graph.callers_by_distance([function], graph.n_functions + 1) == expected


@given(graph=graphs())
def test_a_part_has_the_edges_of_what_a_function_reaches(graph: CallGraph) -> None:
    for name in graph.functions:
        part, reached = graph.within(name), set(graph.reachable(name))
        reached |= {OUTSIDE} if graph.reached(graph.id(name))[-1] else set()
        every = replace(graph, entries=graph.entries[:0]).edges
        assert set(part.edges) == {edge for edge in every if edge.caller in reached}
        for site in part.sites:
            if (call := int(part.call[site.id])) >= 0:
                assert site.why("f0").node == f"site {graph.call.tolist().index(call)}"


@given(graph=graphs())
def test_text_has_every_edge(graph: CallGraph) -> None:
    rows = list(csv.reader(io.StringIO(graph.to_csv())))
    known = [(s.caller, s.location or "", s.kind.value, t) for s in graph.sites for t in s.known]
    assert [tuple(row) for row in rows[1 : len(known) + 1]] == known
    assert all(OUTSIDE in row for row in rows[len(known) + 1 :])
    drawn = graph.to_dot()
    for caller, _, kind, callee in rows[1:]:
        style = {"direct": "solid", "indirect": "dashed", "callback": "dotted"}[kind]
        assert f'"{caller}" -> "{callee}" [style="{style}"]' in drawn
    assert len(graph.as_json()["sites"]) == len(graph.sites)  # type: ignore[arg-type]
    new = graph.within(0)
    difference = graph.difference(new)
    assert difference["added"] == []
    assert graph.difference(graph) == {"added": [], "removed": []}


def test_sites_say_what_their_columns_say() -> None:
    graph = CallGraph(
        Numbered(), 3,
        call=np.array([4, 7], np.int32), caller=np.array([0, 0], np.int32),
        kind=np.array([DIRECT, INDIRECT], np.uint8), callee=np.array([-1, 9], np.int32),
        target_offsets=np.array([0, 1, 1]), targets=np.array([1], np.int32),
        may_leave=np.array([False, False]), escaped_ids=np.array([2], np.int32),
        entries=np.array([0], np.int32), opaque=np.empty(0, np.int32), explain=explained,
        find=find,
    )  # fmt: skip
    direct, indirect = graph.sites
    assert graph.indirect == (indirect,)
    assert (direct.location, direct.through, direct.known) == ("b.c:5:2", "", ("f1",))
    assert (indirect.location, indirect.through, indirect.is_unresolved) == ("b.c:8:2", "n9", True)
    assert graph.at("b.c:8") == [indirect]
    assert graph.at("b.c:8:2") == [indirect]
    for wrong, meant in (("b.c:9", "b.c:8 or b.c:5"), ("b.c:8:1", "b.c:8:2"), ("bc:8", "b.c:8")):
        with pytest.raises(SourceError, match="no call is at") as error:
            graph.at(wrong)
        assert f"did you mean {meant}" in str(error.value)
    assert str(direct.why("f1")) == "b.c:1:2  gets it"
    assert graph.links()[0].tolist() == [0, 3]  # f0 calls f1; the outside calls what escaped


@pytest.mark.parametrize(
    ("sites", "functions", "offsets", "targets"),
    [([], [], [0, 0, 0], []), ([0, 0, 0, 1], [5, 2, 5, 5], [0, 2, 3], [5, 2, 5])],
)
def test_targets_are_grouped_in_their_order_and_once(
    sites: list[int], functions: list[int], offsets: list[int], targets: list[int]
) -> None:
    found = grouped_targets(2, np.array(sites, np.int64), np.array(functions, np.int64))
    assert [column.tolist() for column in found] == [offsets, targets]
