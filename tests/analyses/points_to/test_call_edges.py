"""A call reaches functions that take as many arguments as it passes, and converted ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from kleene.analyses.points_to.constraints.functions import ArgumentRule
from kleene.analyses.points_to.images import LocationTable
from kleene.analyses.points_to.object_layout import ANY_CALL, ANY_SLOT, NO_TABLE
from kleene.analyses.points_to.offset_edges import EdgeKind, OffsetEdges
from kleene.base.errors import SourceError
from tests.analyses.points_to.memory_types import Memory
from tests.analyses.points_to.oracle import load, oracle_answer

PROGRAM = """
#include <stdarg.h>
int a, b, c;
int *one(int *p) { return &a; }
int *two(int *p, int *q) { return &b; }
int *many(int *p, ...) { return &c; }
void *any[4] = {(void *)one, (void *)two, (void *)many, &a};
int *of_one, *of_two, *of_many;
void call_one(int i) { of_one = ((int *(*)(int *))any[i])(&a); }
void call_two(int i) { of_two = ((int *(*)(int *, int *))any[i])(&a, &b); }
void call_many(int i) { of_many = ((int *(*)(int *, ...))any[i])(&a, &b); }
int main(int n, char **v) { call_one(n); call_two(n); call_many(n); return 0; }
"""
UNKNOWN = """
typedef void *(*callback)(void *, void *);
extern callback given(void);
static int *kept;
static void *own(void *p) { kept = p; return p; }
void escape(void *);
int x;
void *held;
int main(void) { escape((void *)own); held = given()(&x, &x); return 0; }
"""


def test_offset_edges_are_numbered_once() -> None:
    edges = OffsetEdges()
    assert edges.number(8) == edges.number(8, 0) == 0
    assert edges.number(8, -16, 4) == edges.number(8, 4, 16) == 1
    assert edges.called_with(2, ANY_SLOT) == edges.called_with(2, ANY_SLOT) == 2
    assert edges.number(0, 24) == 3
    assert edges.number(8, kind=EdgeKind.BYTES) == 4
    assert edges.number(-8) == edges.number(-8, kind=EdgeKind.BYTES) == 5
    assert (
        edges.number(20, 24, 16, kind=EdgeKind.EARLY_INDEX)
        == edges.number(4, 8, kind=EdgeKind.EARLY_INDEX)
        == 6
    )
    assert edges.calls() == {(2, ANY_SLOT): 2}
    constants, kinds, offsets, strides = edges.columns()
    assert constants.tolist() == [8, 8, 0, 0, 8, -8, 4]
    assert kinds.tolist() == [0, 0, 0, 0, 1, 0, 2]
    assert offsets.tolist() == [0, 0, 2, 2, 3, 3, 3, 4]
    assert strides.tolist() == [16, 4, 24, 8]


def _images(table: LocationTable, edge: int, layout: int) -> list[list[int]]:
    row = table.image_rows[edge * len(table.n_locations) + layout]
    offsets = table.image_offsets[row : row + table.n_locations[layout] + 1]
    return [table.images[a:b].tolist() for a, b in pairwise(offsets.tolist())]


def test_a_call_leaves_data_and_other_functions_behind() -> None:
    memory, edges = Memory(), OffsetEdges()
    pair = memory.type(("struct", ("ptr", ("array", 3, "ptr"))))
    layouts = memory.layouts()
    kinds = (
        layouts.plain(pair),
        layouts.function(1),
        layouts.function(2),
        layouts.function(3),
        layouts.function(ANY_CALL),
    )
    step, call = edges.number(8), edges.called_with(2, ANY_SLOT)
    table = layouts.finish(edges)
    data, one, two, three, several = (_images(table, call, layout) for layout in kinds)
    assert len(data) == table.n_locations[kinds[0]] > 1
    assert not any(data)
    assert (one, two, three, several) == ([[]], [[0]], [[]], [[0]])
    assert any(_images(table, step, kinds[0]))


def test_virtual_calls_reach_functions_at_their_slot() -> None:
    memory, edges = Memory(), OffsetEdges()
    memory.type("ptr")
    layouts = memory.layouts()
    at_slot = layouts.function(2, frozenset({7}), only_in_tables=True)
    elsewhere = layouts.function(2, frozenset({8}), only_in_tables=True)
    address_taken, of_library = layouts.function(2, frozenset()), layouts.function(2)
    reached = {slot: edges.called_with(2, slot) for slot in (NO_TABLE, ANY_SLOT, 7)}
    table = layouts.finish(edges)
    functions = (at_slot, elsewhere, address_taken, of_library)
    found = {
        slot: [any(_images(table, edge, function)) for function in functions]
        for slot, edge in reached.items()
    }
    assert found[NO_TABLE] == [False, False, True, True]
    assert found[ANY_SLOT] == [True, True, True, True]
    assert found[7] == [True, False, False, True]


def test_the_table_of_a_class_is_read_at_its_points() -> None:
    memory, edges = Memory(), OffsetEdges()
    words = memory.type(("struct", (("array", 5, "ptr"),)))
    layouts = memory.layouts()
    base, other = 3, 4
    described = layouts.virtual_table(words, [(16, base), (24, base), (8, other)])
    open_table = layouts.virtual_table(words, [])
    data, library = layouts.plain(words), layouts.unknown_table()
    edge = edges.of_class(base)
    table = layouts.finish(edges)
    exact = [i for i, images in enumerate(_images(table, edge, described)[:5]) if images == [i]]
    assert exact == [2, 3]
    unknown = _images(table, edge, described)[-1]
    assert unknown == [2, 3]  # whatever lies there is at one of the points
    assert not any(_images(table, edge, data))
    assert all(_images(table, edge, open_table))
    assert all(_images(table, edge, library))


def test_targets_take_what_is_passed(tmp_path: Path) -> None:
    program = load(tmp_path, PROGRAM)
    found = oracle_answer(program)
    assert found.targets("call_one") == {"one", "many"}
    assert found.targets("call_two") == {"two", "many"}
    assert found.targets("call_many") == {"one", "two", "many"}
    assert found.holds("of_one") == {"a", "c"}
    assert found.holds("of_two") == {"b", "c"}
    assert found.holds("of_many") == {"a", "b", "c"}
    said = "2 functions that calls of other numbers of arguments hold are not called there"
    assert said in program.points_to().statistics.assumptions
    assert said in program.points_to(arguments="exact").statistics.assumptions


def test_users_may_say_whom_calls_reach(tmp_path: Path) -> None:
    program = load(tmp_path, PROGRAM)
    found = oracle_answer(program, arguments=ArgumentRule.ANY)
    for caller in ("call_one", "call_two", "call_many"):
        assert found.targets(caller) == {"one", "two", "many"}
    assert not any(
        "called there" in a for a in program.points_to(arguments="any").statistics.assumptions
    )
    with pytest.raises(SourceError, match="no rule of arguments 'some'") as error:
        program.points_to(arguments="some")
    assert error.value.id == "points-to/no-such-rule"


def test_types_tell_functions_apart(tmp_path: Path) -> None:
    text = """
        long kept;
        static int by_int(int n) { return n; }
        static int by_long(long n) { return (int)n; }
        static void nothing(int n) { kept = n; }
        static int by_double(double n) { return (int)n; }
        void *any[4] = {(void *)by_int, (void *)by_long, (void *)nothing, (void *)by_double};
        int main(int n, char **v) { return ((int (*)(int))any[n])(n); }
    """
    program = load(tmp_path, text)
    every = {"by_int", "by_long", "nothing", "by_double"}
    assert oracle_answer(program).targets("main") == every
    found = oracle_answer(program, arguments=ArgumentRule.TYPES)
    assert found.targets("main") == {"by_int"}
    result = program.points_to(arguments="types")
    said = "3 functions that calls of other types hold are not called there"
    assert said in result.statistics.assumptions


def test_a_call_of_the_unknown_stays_one(tmp_path: Path) -> None:
    found = oracle_answer(load(tmp_path, UNKNOWN))
    assert found.targets("main") == {"own"}
    assert "?" in found.holds("held")
    assert found.solution.calls_outside.any()


def test_a_site_is_called_through_what_the_source_names(tmp_path: Path) -> None:
    graph = load(tmp_path, PROGRAM).points_to().call_graph()
    (site,) = [site for site in graph.indirect if site.caller == "call_two"]
    assert set(site.known) == {"two", "many"}
    assert "call_two" in site.through
    assert [step.text for step in site.why("two").steps][-1].startswith("call_two")


CONVERTED = """
typedef void (*visitor)(void *, void *);
typedef void (*destructor)(void *);
void *kept;
static void drop(void *p) { kept = p; }
static void both(void *p, void *q) { kept = q; }
static void lonely(void *p) { kept = p; }
static void three(void *p, void *q, void *r) { kept = r; }
static void one(void *p) { kept = p; }
static void visit(visitor each, void *p) { each(p, p); }
static void destroy(destructor each, void *p) { each(p); }
static void *by_two[3], *by_one[2], *by_none[2];
static void fill_two(void **t) { t[0] = (void *)lonely; t[1] = (void *)both; t[2] = (void *)one; }
static void fill_one(void **t) { t[0] = (void *)one; t[1] = (void *)drop; }
static void fill_none(void **t) { t[0] = (void *)three; t[1] = (void *)one; }
static void call_two(void **t, int i) { ((visitor)t[i])(kept, kept); }
static void call_one(void **t, int i) { ((destructor)t[i])(kept); }
static void call_none(void **t, int i) { ((int (*)(void))t[i])(); }
int main(int n, char **v) {
  visit((visitor)drop, v);
  visit(both, v);
  destroy(drop, v);
  fill_two(by_two);
  fill_one(by_one);
  fill_none(by_none);
  call_two(by_two, n);
  call_one(by_one, n);
  call_none(by_none, n);
  return 0;
}
"""


def test_converted_functions_are_found_by_their_calls(tmp_path: Path) -> None:
    result = load(tmp_path, CONVERTED).points_to(device="cpu")
    graph = result.call_graph()
    targets = {site.caller: set(site.known) for site in graph.indirect}
    # drop is given to who calls it with two: found before solving. lonely is held by no call of its
    # number. call_none holds no function of its number: it alone reaches what it holds.
    assert targets["visit"] == {"drop", "both"}
    assert targets["destroy"] == {"drop"}
    assert targets["call_two"] == {"lonely", "both"}  # one is called elsewhere
    assert targets["call_one"] == {"one", "drop"}
    assert targets["call_none"] == {"three", "one"}
    converted = [graph.name(f) for f in result.system.is_converted.nonzero()[0].tolist()]
    assert converted == ["drop", "lonely"]
    assert len(result.system.open_calls) == 1
    exact = load(tmp_path, CONVERTED).points_to(device="cpu", arguments="exact").call_graph()
    assert {s.caller for s in exact.indirect if not s.known} == {"call_none"}
