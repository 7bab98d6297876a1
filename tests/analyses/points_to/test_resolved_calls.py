"""Calls through pointers that reach one allocator alone make storage of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.results.call_graph import INDIRECT

PROGRAM = """
#include <stdlib.h>
struct stream {
  void *(*get)(void *context, int n, int size);
  void *context;
  void *(*plain)(size_t);
};
static void *take(void *context, int n, int size) { (void)context; return malloc(n * size); }
static void *zeros(void *context, int n, int size) { (void)context; return calloc(n, size); }
static char arena[64];
static void *from_arena(void *context, int n, int size) { (void)context; return arena + n * size; }
struct box { int *held; };
int g, h;
static struct box *box_of(struct stream *s) { return s->get(s->context, 1, sizeof(struct box)); }
int main(int argc, char **argv) {
  struct stream s = {take, 0, malloc};
  TWEAK
  struct box *p = s.get(s.context, 1, sizeof *p);
  struct box *q = s.get(s.context, 1, sizeof *q);
  struct box *r = box_of(&s), *t = box_of(&s);
  struct box *u = s.plain(sizeof *u), *v = s.plain(sizeof *v);
  p->held = &g; q->held = &h; r->held = &g; t->held = &h; u->held = &g; v->held = &h;
  int *a = p->held, *b = r->held, *c = u->held;
  return *a + *b + *c;
}
"""


def solved(tmp_path: Path, tweak: str = "", *, library: bool = False) -> PointsToResult:
    file = tmp_path / "boxes.c"
    file.write_text(PROGRAM.replace("TWEAK", tweak))
    result: PointsToResult = kleene.load(file).points_to(library=library)
    return result


def names(result: PointsToResult, pointer: str) -> set[str]:
    return set(str(result.of(pointer)).strip("{}").split(", "))


def test_calls_of_one_allocator_make_storage_of_their_own(tmp_path: Path) -> None:
    result = solved(tmp_path)
    for pointer in ("main.a", "main.b", "main.c"):
        assert names(result, pointer) == {"g"}
    assert names(result, "main.p").isdisjoint(names(result, "main.q"))
    table = result.system.allocations
    n_bytes = table.n_bytes[table.kind == AllocationKind.HEAP]
    assert sorted(n_bytes.tolist()).count(8) == 7  # products of constants: 1 * sizeof(struct box)


def test_calls_stay_calls_through_pointers(tmp_path: Path) -> None:
    graph = solved(tmp_path).call_graph()
    sites = [site for site in range(len(graph.call)) if graph.kind[site] == INDIRECT]
    targets = [graph.names(graph.targets_of(site)) for site in sites]
    assert sorted(targets) == [["malloc"]] * 2 + [["take"]] * 3


@pytest.mark.parametrize(
    "tweak",
    [
        "if (argc > 1) s.get = from_arena;",
        "if (argc > 1) s.get = zeros;",
    ],
)
def test_calls_that_may_return_other_storage_are_not_resolved(tmp_path: Path, tweak: str) -> None:
    result = solved(tmp_path, tweak)
    assert names(result, "main.a") != {"g"}
    assert names(result, "main.c") == {"g"}


def test_functions_from_outside_are_no_allocators(tmp_path: Path) -> None:
    file = tmp_path / "library.c"
    text = PROGRAM.replace("TWEAK", "").replace("int main(", "int enter(")
    file.write_text(text.replace("struct stream s = {take, 0, malloc};", "extern struct stream s;"))
    result = kleene.load(file).points_to(library=True)
    assert names(result, "enter.a") != {"g"}
