"""The same answer by another route: linked or not, optimised or not; real programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.points_to.constraints import generate
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.solvers.inclusion import BY_LAYOUT
from kleene.solvers.inclusion.check import check
from tests.analyses.points_to.oracle import OracleAnswer, oracle_answer

HEADER = """
#pragma once
#include <stdlib.h>
struct node { struct node *next; int *data; void (*visit)(int *); };
extern struct node *list;
extern int a, b, *seen, *last;
struct node *push(struct node *top, int *data, void (*visit)(int *));
void each(struct node *top);
"""
FIRST = """
#include "both.h"
struct node *list;
int a, b, *seen, *last;
static void see(int *data) { seen = data; }
static void keep(int *data) { last = data; }
int main(void) {
  list = push(list, &a, see);
  list = push(list, &b, keep);
  each(list);
  return 0;
}
"""
SECOND = """
#include "both.h"
struct node *push(struct node *top, int *data, void (*visit)(int *)) {
  struct node *made = malloc(sizeof *made);
  *made = (struct node){top, data, visit};
  return made;
}
void each(struct node *top) {
  for (; top; top = top->next) top->visit(top->data);
}
"""
VARIABLES = ("list", "seen", "last")


def folder_of(path: Path) -> Path:
    (path / "both.h").write_text(HEADER)
    (path / "first.c").write_text(FIRST)
    (path / "second.c").write_text(SECOND)
    (path / "whole.c").write_text('#include "first.c"\n#include "second.c"\n')
    return path


def answers(found: OracleAnswer) -> dict[str, set[str]]:
    return {name: found.holds(name) for name in VARIABLES}


def test_linked_or_not_is_one_answer(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    linked = oracle_answer(kleene.load([folder / "first.c", folder / "second.c"]))
    other = oracle_answer(kleene.load([folder / "second.c", folder / "first.c"]))
    whole = oracle_answer(kleene.load(folder / "whole.c"))
    assert answers(linked) == answers(whole) == answers(other)
    assert linked.targets("each") == whole.targets("each") == {"see", "keep"}
    assert linked.holds("seen") == {"a", "b"}


def test_optimised_code_says_no_more(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    plain = oracle_answer(kleene.load(folder / "whole.c"))
    optimised = oracle_answer(kleene.load(folder / "whole.c", flags="-O1 -fno-inline"))
    for name in VARIABLES:
        assert optimised.holds(name) <= plain.holds(name)
        assert optimised.holds(name)


def test_an_open_program_holds_what_the_closed_one_does(tmp_path: Path) -> None:
    program = kleene.load(folder_of(tmp_path) / "whole.c")
    closed, opened = oracle_answer(program), oracle_answer(program, library_mode=True)
    for name in VARIABLES:
        assert closed.holds(name) < opened.holds(name)
    assert opened.targets("each") >= closed.targets("each")


def test_stating_is_deterministic(tmp_path: Path) -> None:
    program = kleene.load(folder_of(tmp_path) / "whole.c")
    one, two = generate(program).problem.columns(), generate(program).problem.columns()
    assert all((one[name] == two[name]).all() for name in one)


def test_every_row_has_its_origin_and_every_site_its_value(tmp_path: Path) -> None:
    program = kleene.load(folder_of(tmp_path) / "whole.c")
    found = generate(program)
    problem, origins = found.problem, found.origins
    assert len(origins.address) == len(problem.address_node)
    assert len(origins.copy) == len(problem.copy_source)
    assert len(origins.load) == len(problem.load_pointer)
    assert len(origins.store) == len(problem.store_pointer)
    assert len(origins.offset) == len(problem.offset_amount)
    assert len(origins.call) == problem.n_calls
    names = [program.names.globals[v] for v in range(len(program.globals))]
    for row in range(len(found.allocations)):
        kind, site = AllocationKind(found.allocations.kind[row]), found.allocations.site[row]
        assert 0 <= site < program.n_values
        if kind == AllocationKind.HEAP:
            assert names[found.allocations.callee[row]] in ("malloc", "push")
    assert len(found.locations) == problem.n_objects
    assert (problem.offset_amount <= BY_LAYOUT).any()


PROGRAMS = ("dc", "bc", "curl", "htop", "lua", "libcurl.so", "nginx", "sqlite3")


@pytest.mark.data
@pytest.mark.parametrize("name", PROGRAMS)
def test_real_programs_give_checked_problems(name: str, shared_data: Path) -> None:
    program = kleene.load(shared_data / "bitcode" / f"{name}.bc")
    found = generate(program, library_mode=name in ("libcurl.so", "sqlite3"))
    check(found.problem)
    assert found.problem.n_constraints > len(program.instructions) // 4
    modelled = [external for external in found.externals if external.is_modelled]
    assert len(modelled) > 10
