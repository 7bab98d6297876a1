"""What C and C++ say about pointers: one claim per rule, read from the contents of globals."""

from __future__ import annotations

import pytest

import kleene
from tests.analyses.points_to.oracle import OracleAnswer, load, oracle_answer

C = r"""
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int a, b, c, d;

/* structs, nested, with arrays, unions and containers */
struct Pair { int *x, *y; };
struct Outer { struct Pair inner; int *row[4]; struct Outer *self; } outer, *outer_at;
int **field, *from_field, *from_inner, *from_row, **into_row, *whole_row;
void fields(int n) {
  outer.inner.x = &a;
  outer.inner.y = &b;
  outer.row[n] = &c;
  field = &outer.inner.y;
  from_field = *field;
  from_inner = outer.inner.x;
  from_row = outer.row[n + 1];
  into_row = &outer.row[n];
  outer_at = (struct Outer *)((char *)field - offsetof(struct Outer, inner.y));
}
union View { int *pointer; uintptr_t bits; struct { int low, high; } halves; } view;
int *viewed;
void unions(void) { view.bits = (uintptr_t)&a; viewed = view.pointer; }

/* copies of memory */
struct Pair pair_a, pair_b, pair_c, pair_d, pairs_a[4], pairs_b[4];
int *bytewise_from, *bytewise_to;
void copies(int n) {
  pair_a.x = &a; pair_a.y = &b;
  pair_b = pair_a;
  memcpy(&pair_c, &pair_a, sizeof pair_c);
  memmove(&pair_d.y, &pair_a.y, sizeof(int *));
  pairs_a[n].x = &a; pairs_a[n].y = &b;
  memcpy(pairs_b, pairs_a, n * sizeof(struct Pair));
  bytewise_from = &c;
  for (unsigned i = 0; i < sizeof(int *); i++)
    ((char *)&bytewise_to)[i] = ((char *)&bytewise_from)[i];
}

/* constant storage */
int *const fixed[2] = {&a, &b};
int *loose[2], **either, *from_fixed;
void constants(int n) {
  either = n ? (int **)fixed : loose;
  either[n] = &c;
  from_fixed = fixed[n];
}

/* values */
int *chosen, *joined, *tagged, *untagged, *moved, *exchanged, *swapped, *old;
uintptr_t integer;
int *_Atomic atom;
void values(int n) {
  chosen = n ? &a : &b;
  int *p = &c;
  while (n--) p = &d;
  joined = p;
  integer = (uintptr_t)&a | 1;
  untagged = (int *)(integer & ~(uintptr_t)1);
  tagged = (int *)integer;
  moved = (int *)((uintptr_t)&outer + 8);
  exchanged = atomic_exchange(&atom, &a);
  int *expected = &b;
  atomic_compare_exchange_strong(&atom, &expected, &c);
  swapped = atom;
}

/* calls */
int *passed, *returned, *through_table, *variadic, *copied_x, *called_back;
static int *identity(int *p) { passed = p; return p; }
int *other(int *p) { through_table = p; return &d; }
int *(*table[])(int *) = {identity, other};
int *table_result;
int *last(int n, ...) {
  va_list list;
  va_start(list, n);
  int *found = 0;
  while (n--) found = va_arg(list, int *);
  va_end(list);
  return found;
}
struct Big { int *x, *y, *z; } big, big_result;
struct Big by_value(struct Big v) { v.y = v.x; copied_x = v.z; return v; }
int compare(const void *l, const void *r) { called_back = *(int *const *)l; return l == r; }
int *sorted[8];
void calls(int n) {
  returned = identity(&a);
  table_result = table[n](&b);
  variadic = last(2, &a, &b);
  big.x = &a; big.z = &c;
  big_result = by_value(big);
  sorted[n] = &d;
  qsort(sorted, 8, sizeof *sorted, compare);
}

/* storage of run time, and its wrappers */
void *first_block, *second_block, *grown, *wrapped_once, *wrapped_twice, *made_by_pool;
void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }
void *xcalloc(size_t n) { void *p = xmalloc(n); memset(p, 0, n); return p; }
void *xrealloc(void *p, size_t n) { p = realloc(p, n); if (!p) abort(); return p; }
struct Node { struct Node *next; int *data; } *list, *node_at;
struct Node *make(int *data) { struct Node *n = xmalloc(sizeof *n); n->data = data; return n; }
int *node_data;
static char *pool;
void *pool_take(size_t n) { char *p = pool; pool += n; return p; }
void heap(void) {
  first_block = malloc(8);
  second_block = xmalloc(8);
  grown = xrealloc(first_block, 16);
  wrapped_twice = xcalloc(4);
  list = make(&a);
  list->next = make(&b);
  node_data = list->next->data;
  pool = malloc(4096);
  made_by_pool = pool_take(8);
}

/* what runs otherwise */
jmp_buf environment;
int *after_jump;
void jumps(void) { int *p = &a; if (!setjmp(environment)) p = &b; after_jump = p; }
int *assembled;
void assembly(void) { int *p = &d; __asm__("" : "+r"(p)); assembled = p; }

/* initial values */
int *start = &a, **start_of_start = &start, *middle = &((int *)&outer)[2];
struct { int n; int *list[3]; struct Pair *nested; } initial =
  {1, {&a, 0, &b}, &(struct Pair){&c, &d}};
char *text = "text";
struct Pair *nested_at;
void (*functions_[])(void) = {jumps, assembly};

char **arguments, *argument;
int main(int argc, char **argv) {
  arguments = argv;
  argument = argv[argc];
  nested_at = initial.nested;
  fields(argc); unions(); copies(argc); constants(argc);
  values(argc); calls(argc); heap(); jumps(); assembly();
  return 0;
}
"""


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> OracleAnswer:
    return oracle_answer(load(tmp_path_factory.mktemp("museum"), C))


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("field", {"outer+8"}),
        ("from_field", {"b"}),
        ("from_inner", {"a"}),
        ("from_row", {"c"}),
        ("into_row", {"outer+16", "outer+24"}),
        ("outer_at", {"outer"}),
        ("viewed", {"a"}),
    ],
)
def test_fields_are_told_apart(museum: OracleAnswer, variable: str, held: set[str]) -> None:
    assert museum.holds(variable) == held


@pytest.mark.parametrize(
    ("variable", "first", "second"),
    [
        ("pair_b", {"a"}, {"b"}),
        ("pair_c", {"a"}, {"b"}),
        ("pair_d", set(), {"b"}),
        ("pairs_b", {"a"}, {"b"}),
    ],
)
def test_copies_of_memory_keep_fields_apart(
    museum: OracleAnswer, variable: str, first: set[str], second: set[str]
) -> None:
    assert museum.holds(variable) == first
    assert museum.holds(variable, 8) == second


def test_bytes_copied_one_by_one_are_a_pointer(museum: OracleAnswer) -> None:
    assert museum.holds("bytewise_to") == {"c"}


def test_constant_storage_takes_no_stores(museum: OracleAnswer) -> None:
    assert museum.holds("either") == {"fixed", "loose"}
    assert museum.holds("loose") == {"c"}
    assert museum.holds("from_fixed") == {"a", "b"}


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("chosen", {"a", "b"}),
        ("joined", {"c", "d"}),
        ("moved", {"outer+8"}),
        ("exchanged", {"a", "c"}),
        ("swapped", {"a", "c"}),
    ],
)
def test_values_flow(museum: OracleAnswer, variable: str, held: set[str]) -> None:
    assert museum.holds(variable) == held


def test_tags_come_off_again(museum: OracleAnswer) -> None:
    assert "a" in museum.holds("untagged")
    assert {name.split("+")[0] for name in museum.holds("untagged")} == {"a"}


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("returned", {"a", "b"}),  # one context: the table calls it too
        ("passed", {"a", "b"}),
        ("through_table", {"b"}),
        ("table_result", {"a", "b", "d"}),
        ("variadic", {"a", "b"}),
        ("copied_x", {"c"}),
        ("called_back", {"d"}),
    ],
)
def test_calls_pass_and_return(museum: OracleAnswer, variable: str, held: set[str]) -> None:
    assert museum.holds(variable) == held


def test_a_struct_by_value_is_a_copy(museum: OracleAnswer) -> None:
    assert museum.holds("big", 8) == set()
    assert museum.holds("big_result") == {"a"}
    assert museum.holds("big_result", 8) == {"a"}
    assert museum.holds("big_result", 16) == {"c"}


def test_tables_and_callbacks_are_called(museum: OracleAnswer) -> None:
    assert museum.targets("calls") == {"identity", "other", "compare"}
    assert [int(row) for row, _ in museum.system.callbacks]


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("first_block", {"malloc@heap"}),
        ("second_block", {"xmalloc@heap"}),
        ("grown", {"xrealloc@heap", "malloc@heap"}),
        ("wrapped_twice", {"xcalloc@heap"}),
        ("list", {"make@heap"}),
        ("node_data", {"a", "b"}),
    ],
)
def test_calls_of_wrappers_make_storage_of_their_own(
    museum: OracleAnswer, variable: str, held: set[str]
) -> None:
    assert museum.holds(variable) == held


def test_storage_of_a_wrapper_has_the_size_it_asks_for(museum: OracleAnswer) -> None:
    table = museum.system.allocations
    sizes = {museum.allocation(row): int(table.n_bytes[row]) for row in range(len(table))}
    assert sizes["xmalloc@heap"] == 8
    assert sizes["make@heap"] == 16
    assert sizes["xrealloc@heap"] == 16
    assert sizes["xmalloc@xcalloc"] == -1


def test_storage_of_a_wrapper_is_shaped_by_its_body(museum: OracleAnswer) -> None:
    locations = museum.system.locations
    names = [museum.allocation(int(row)) for row in locations.allocation]
    made = [int(b) for n, b in zip(names, locations.byte, strict=True) if n == "make@heap"]
    assert {0, 8} <= set(made)


def test_a_wrapper_can_be_named(museum: OracleAnswer) -> None:
    assert museum.holds("made_by_pool") != {"pool_take@heap"}
    named = oracle_answer(museum.program, wrappers=("pool_take",))
    assert named.holds("made_by_pool") == {"pool_take@heap"}
    assert any("pool_take" in sentence for sentence in named.system.assumptions)


def test_a_wrapper_that_is_none_is_refused(museum: OracleAnswer) -> None:
    with pytest.raises(kleene.SourceError) as caught:
        oracle_answer(museum.program, wrappers=("xmaloc",))
    assert caught.value.id == "points-to/no-such-wrapper"
    assert "xmalloc" in caught.value.notes[0]


def test_jumps_lose_nothing(museum: OracleAnswer) -> None:
    assert museum.holds("after_jump") == {"a", "b"}


def test_assembly_may_do_anything_to_its_operands(museum: OracleAnswer) -> None:
    assert museum.holds("assembled") >= {"?", "d"}
    assert any("assembly" in sentence for sentence in museum.system.assumptions)


@pytest.mark.parametrize(
    ("variable", "byte", "held"),
    [
        ("start", 0, {"a"}),
        ("start_of_start", 0, {"start"}),
        ("middle", 0, {"outer+8"}),
        ("initial", 8, {"a", "b"}),
        ("functions_", 0, {"jumps", "assembly"}),
        ("text", 0, {".str"}),
    ],
)
def test_initial_values_are_there(
    museum: OracleAnswer, variable: str, byte: int, held: set[str]
) -> None:
    assert museum.holds(variable, byte) == held


def test_main_gets_a_command_line(museum: OracleAnswer) -> None:
    assert museum.holds("arguments") == {"command_line main"}
    assert museum.holds("argument") == {"command_line main.1"}


CXX = r"""
struct ObjectLayout { virtual int *area() = 0; virtual ~ObjectLayout() {} };
int a, b, thrown;
struct Square : ObjectLayout { int *area() override { return &a; } };
struct Circle : ObjectLayout { int *r; int *area() override { return r; } };
struct Left { int *x; virtual void left() {} };
struct Right { int *y; virtual int *right() { return y; } };
struct Both : Left, Right { int *right() override { return x; } };
ObjectLayout *square, *circle;
int *area, *caught, *from_right;
Right *right;
void fail() { throw &thrown; }
int main(int argc, char **) {
  square = new Square;
  Circle *c = new Circle;
  c->r = &b;
  circle = c;
  area = (argc ? square : circle)->area();
  try { fail(); } catch (int *p) { caught = p; }
  Both *both = new Both;
  both->x = &a;
  both->y = &b;
  right = both;
  from_right = right->right();
  return 0;
}
"""


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> OracleAnswer:
    return oracle_answer(load(tmp_path_factory.mktemp("objects"), CXX, "unit.cpp"))


def test_virtual_calls_fall_out_of_tables(objects: OracleAnswer) -> None:
    assert objects.holds("area") == {"a", "b"}
    assert {name for name in objects.targets("main") if "area" in name} == {
        "_ZN6Square4areaEv",
        "_ZN6Circle4areaEv",
    }


def test_virtual_tables_are_kept_element_by_element(objects: OracleAnswer) -> None:
    assert not any("D0Ev" in name or "D2Ev" in name for name in objects.targets("main"))


def test_thunks_find_the_start_of_the_object(objects: OracleAnswer) -> None:
    assert objects.holds("from_right") >= {"a"}
    assert objects.holds("right") == {"_Znwm@main+16"}


def test_exceptions_reach_their_handlers(objects: OracleAnswer) -> None:
    assert "thrown" in objects.holds("caught")
