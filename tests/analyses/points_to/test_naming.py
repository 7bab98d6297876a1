"""Names of pointers and objects: of(name) understands whatever is printed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.naming import offset_suffixes
from kleene.ir.codes import ValueKind
from kleene.results.naming import short_names
from tests.analyses.points_to.compiled import solved

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROGRAM = """
#include <stdlib.h>
struct pair { int *left, *right; };
struct row { struct pair pairs[2]; void *tail; };
static int one, two;
struct row table[3] = {{{{&one, &two}}, &table}};
static struct pair *make(int *p) { struct pair *q = malloc(sizeof *q); q->left = p; return q; }
int take(struct row row, ...) { return *row.pairs[0].left; }
int main(int argc, char **argv) {
  struct pair local[2] = {{&one, 0}, {0, &two}};
  { int *x = &one; { int x = 2; two = x; } *x = 1; }
  struct pair *made = make(&two), *other = make(&one);
  int *chosen = argc > 1 ? made->left : local[argc].right;
  static int *kept;
  kept = chosen;
  return *chosen + take(table[0], argv) + (other != made) + (kept == other->left);
}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> PointsToResult:
    return solved(tmp_path_factory.mktemp("naming"), PROGRAM)


@pytest.fixture(scope="module", params=["events", "shapes", "animals"])
def example(request: pytest.FixtureRequest) -> PointsToResult:
    found: PointsToResult = kleene.load(EXAMPLES / request.param).points_to(device="cpu")
    return found


def check_objects(result: PointsToResult) -> None:
    """Every object has a name of its own that means it, and nothing else."""
    names = [result.naming.object(o) for o in range(result.system.problem.n_objects)]
    assert len(set(names)) == len(names)
    for object, name in enumerate(names):
        allocation = int(result.system.locations.allocation[object])
        placed = f"{name}+0" if name == result.naming.allocation(allocation) else name
        assert result._lookup.objects(placed) == [object], name


def check_registers(result: PointsToResult) -> None:
    """Every register has a name of its own, and asking for it gives its set."""
    program = result.program
    first = program.bases[ValueKind.ARGUMENT]
    pointer_typed = first + np.flatnonzero(result.system.may_hold_pointer[first : program.n_values])
    values = [v for v in pointer_typed.tolist() if program.locate(v)[0] != ValueKind.BLOCK]
    names = [result.naming.value(value) for value in values]
    assert len(set(names)) == len(names)
    for value, name in zip(values, names, strict=True):
        held = result.of(value)
        if len(held) or held.unknown:
            assert result._lookup.pointer(name) == [value], name


def test_printed_names_are_understood(result: PointsToResult) -> None:
    check_objects(result)
    check_registers(result)


def test_printed_names_of_the_examples_are_understood(example: PointsToResult) -> None:
    check_objects(example)
    check_registers(example)


def test_storage_is_called_by_its_variable_or_by_who_made_it_and_where(
    result: PointsToResult,
) -> None:
    assert result.of("main.made").names == ["heap@t.c:12:23"]
    assert result.of("main.other").names == ["heap@t.c:12:44"]
    assert result.of("heap@t.c:12:23").names == ["one", "two"]  # whatever `make` was given
    assert result.of("heap@t.c:12:23+8").names == []
    assert result.of("main.local").names == ["one", "two"]


def test_a_name_without_a_place_means_all_of_it(result: PointsToResult) -> None:
    assert set(result.of("table").names) == {"one", "two", "table"}
    assert result.of("table+0").names == ["one"]
    assert result.of("table+8").names == ["two"]
    assert result.of("table+32").names == ["table"]
    assert result.of("table+*") == result.of("table")
    assert result.of("&table").names == ["table"]


def test_elements_behind_the_first(result: PointsToResult) -> None:
    assert set(result.of("main.local[]").names) == {"one"}  # one element stands for all
    assert set(result.of("main.local+8[]").names) == {"two"}


def test_variables_by_line_and_by_function(result: PointsToResult) -> None:
    assert result.of("t.c:13:chosen") == result.of("main.chosen")
    assert result.of("t.c:7:p").names == ["one", "two"]
    assert result.of("t.c:7:q").names == result.of("make.q").names
    assert result.of("make.return") == result.of("make.q")
    assert result.of("t.c:16:kept") == result.of("main.kept") == result.of("kept")


def test_variables_of_one_name_are_told_apart_by_line(result: PointsToResult) -> None:
    assert result.of("t.c:11:x").names == ["one"]
    assert result.of("main.x").names == ["one"]


def test_a_local_of_a_function_that_ended_is_not_meant(tmp_path: Path) -> None:
    text = "int a, b, *p = &b;\nint f(void) { int *p = &a; return *p; }\n\n"
    result = solved(tmp_path, text + "int main(void) {\n  return f() + *p;\n}\n")
    assert result.of("t.c:2:p").names == ["a"]
    assert result.of("t.c:5:p").names == ["b"]
    assert result.of("t.c:1:p").names == ["b"]


def test_a_variable_that_was_split_names_its_parts(tmp_path: Path) -> None:
    text = "int a, b; struct s { int *p, *q; };\nint main(int n, char **v) {\n"
    body = "  struct s s = {&a, n ? &a : &b};\n  return *s.p + *s.q;\n}\n"
    result = solved(tmp_path, text + body)
    with pytest.raises(kleene.SourceError) as error:
        result.of("main.s")
    assert error.value.id == "points-to/no-such-name"
    assert "split" in error.value.message
    assert "main.%" in error.value.notes[0]


def test_a_register_may_go_without_its_variable(result: PointsToResult) -> None:
    value = result._lookup.pointer("make.q")[0]
    plain = result.naming.value(value).rsplit(".", 1)[0]
    assert result.of(plain) == result.of("make.q")


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("main.chosne", "main.chosen"),
        ("tabel", "table"),
        ("mian.made", "main.made"),
        ("heap@t.c:12:24", "heap@t.c:12:23"),
        ("table+12", "table[0].pairs"),
        ("main.%nonsense", ""),
        ("", ""),
    ],
)
def test_what_names_nothing_is_an_error_that_suggests(
    result: PointsToResult, asked: str, hint: str
) -> None:
    with pytest.raises(kleene.SourceError) as error:
        result.of(asked)
    assert error.value.id == "points-to/no-such-name"
    assert hint in error.value.notes[0]


@pytest.mark.parametrize("asked", ["main.argc", "two", "make"])
def test_what_is_no_pointer_is_an_error(result: PointsToResult, asked: str) -> None:
    with pytest.raises(kleene.SourceError) as error:
        result.of(asked)
    assert error.value.id == "points-to/not-a-pointer"
    assert error.value.message.startswith(f"'{asked}'")
    assert error.value.message.endswith("never holds an address")


def test_a_source_name_of_several_symbols_is_ambiguous(tmp_path: Path) -> None:
    text = "int a; int f(int *p) { return *p; } int f(int *p, int) { return *p; }\n"
    result = solved(tmp_path, text + "int main() { return f(&a) + f(&a, 1); }\n", "t.cpp")
    with pytest.raises(kleene.SourceError) as error:
        result.mod_ref("f")
    assert error.value.id == "points-to/ambiguous-name"
    assert error.value.message == "'f' may be any of 2 names"
    assert error.value.notes == ("write f(int*) or f(int*, int)",)
    assert result.of("_Z1fPi.p").names == ["a"]


def test_without_debug_information_registers_are_the_names(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        "declare ptr @malloc(i64)\n"
        "@g = global ptr null\n"
        "define i32 @main() {\n"
        "  %p = call ptr @malloc(i64 8)\n  store ptr %p, ptr @g\n  ret i32 0\n}\n",
        "t.ll",
    )
    assert result.of("g").names == result.of("main.%p").names == ["heap@main.%p"]


def test_files_go_by_the_shortest_tail_that_tells_them_apart() -> None:
    paths = ["/a/net/list.c", "/a/disk/list.c", "/a/main.c", "list.h"]
    found = short_names(paths)
    assert [found[path] for path in paths] == ["net/list.c", "disk/list.c", "main.c", "list.h"]
    both = short_names(["/list.c", "/a/list.c"])
    assert both == {"/list.c": "/list.c", "/a/list.c": "a/list.c"}


def test_two_arrays_at_one_place_are_told_apart_by_their_elements() -> None:
    byte, stride = [0, 8, 24, 32, -1], [0, 8, 24, 24, 0]
    assert offset_suffixes(byte, stride) == ["", "[8]", "[24]", "+8[]", "+?"]


FIELDS = """
#include <stdlib.h>
typedef void handler(void *);
typedef struct { char *text; int *number; } label;
struct inner { int n; int *p; };
struct event {
  int kind;
  handler *target;
  union { int fd; void *ptr; long wide; };
  union { double real; struct { int low; int *high; } pair; } value;
  struct inner in[3];
  unsigned x : 3, y : 7;
  label label;
  char buffer[16];
};
static int one, two;
static void on(void *p) { (void)p; }
struct event event = {1, on, {.ptr = &one}, {0}, {{0, &one}, {0, &two}}};
struct event table[4];
int main(int argc, char **argv) {
  struct event local = event, *made = malloc(sizeof *made), *many = calloc(argc, sizeof *many);
  label *named = malloc(sizeof *named);
  event.value.pair.high = &two;
  event.label.number = &one;
  table[argc].in[argc].p = &one;
  local.label.text = event.buffer;
  made->in[argc].p = &two;
  many[argc].target = on;
  named->number = &one;
  on(&local), on(made), on(many), on(named);
  return 0;
}
"""


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> PointsToResult:
    return solved(tmp_path_factory.mktemp("fields"), FIELDS)


def test_printed_names_of_fields_are_understood(fields: PointsToResult) -> None:
    check_objects(fields)


@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("event.target", ["on"]),
        ("event.ptr", ["one"]),
        ("event.fd", ["one"]),  # the union's other members mean the same bytes
        ("event.wide", ["one"]),
        ("event.value.pair.high", ["two"]),
        ("event.value", ["two"]),
        ("event.in[0].p", ["one"]),
        ("event.in[1].p", ["two"]),
        ("event.in[].p", ["two"]),
        ("event.label.number", ["one"]),
        ("event.label", ["one"]),
        ("table[0].in[0].p", ["one"]),
        ("table[].in[].p", ["one"]),
        ("table[3].in[0].p", ["one"]),
        ("main.local.target", ["on"]),
        ("main.local.label.text", ["event.buffer[0]"]),
        ("heap@t.c:21:39.in[].p", ["two"]),
        ("heap@t.c:21:69[].target", ["on"]),
        ("heap@t.c:21:69.target", ["on"]),
        ("heap@t.c:22:18.number", ["one"]),
        ("event+8", ["on"]),  # offsets are understood, too
    ],
)
def test_fields_by_name(fields: PointsToResult, name: str, held: list[str]) -> None:
    assert fields.of(name).names == held


def test_names_of_fields_are_those_of_the_source(fields: PointsToResult) -> None:
    names = {fields.naming.object(o) for o in range(fields.system.problem.n_objects)}
    kept = {
        *("event", "event.target", "event.ptr", "event.ptr+4", "event.value.pair.high"),
        *("event.in[0].n", "event.in[2].p", "event.x", "event.label.text", "event.buffer[]"),
        *("table", "table[]", "table[].target", "table[0].in[].p", "heap@t.c:21:69[]"),
    }
    assert kept <= names
    assert not any("+8" in name for name in names if name.startswith(("event", "table", "main.l")))


def test_a_field_that_is_not_there_suggests_others(fields: PointsToResult) -> None:
    with pytest.raises(kleene.SourceError) as error:
        fields.of("event.tagret")
    assert error.value.id == "points-to/no-such-name"
    assert "event.target" in error.value.notes[0]


def test_without_debug_information_fields_are_offsets(tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(FIELDS)
    result = kleene.load(tmp_path / "t.c", flags=["-g0"]).points_to(device="cpu")
    assert result.of("event+8").names == ["on"]
    names = {result.naming.object(o) for o in range(result.system.problem.n_objects)}
    assert "event+8" in names
    with pytest.raises(kleene.SourceError):
        result.of("event.target")


def test_structs_of_one_name_in_two_files_do_not_mix(tmp_path: Path) -> None:
    body = "\n#include <stdlib.h>\nstatic struct node n, *h;\nint {0};\nvoid f_{0}(void) {{\n"
    body += (
        "  struct node *made = malloc(sizeof *made);\n  h = made, n.{0} = made->{0} = &{0};\n}}\n"
    )
    (tmp_path / "a.c").write_text("struct node { int *first, *a; };" + body.format("a"))
    (tmp_path / "b.c").write_text("struct node { int *other, *b; };" + body.format("b"))
    (tmp_path / "main.c").write_text(
        "void f_a(void), f_b(void);\nint main(void) { f_a(), f_b(); return 0; }"
    )
    result = kleene.load(tmp_path).points_to(device="cpu")
    assert result.of("a.c:n.a").names == result.of("heap@a.c:6:23.a").names == ["a"]
    assert result.of("b.c:n.b").names == result.of("heap@b.c:6:23.b").names == ["b"]
    with pytest.raises(kleene.SourceError):
        result.of("a.c:n.b")


CLASSES = """
struct Base { virtual ~Base() {} int *base = nullptr; };
struct Other { virtual void run() {} int *other = nullptr; };
namespace ns {
struct Derived : Base, Other { static int *shared; int *own = nullptr; void set(int *p); };
int *Derived::shared;
void Derived::set(int *p) { own = base = other = shared = p; }
}
int x;
static ns::Derived global;
int main() {
  auto *made = new ns::Derived();
  made->set(&x), global.set(&x);
  return 0;
}
"""


def test_fields_of_classes_are_named_without_the_base(tmp_path: Path) -> None:
    result = solved(tmp_path, CLASSES, "t.cpp")
    for storage in ("global", "heap@t.cpp:12:16"):
        assert "ns::Derived::set" not in result.of(f"{storage}._vptr").names
        for field in ("base", "other", "own"):
            assert result.of(f"{storage}.{field}").names == ["x"], (storage, field)
    assert result.of("ns::Derived::shared").names == ["x"]
    assert result.of("ns::Derived::set.this").names == ["global", "heap@t.cpp:12:16"]
    names = {result.naming.object(o) for o in range(result.system.problem.n_objects)}
    assert {"global.base", "global._vptr", "global.other", "global.own"} <= names
