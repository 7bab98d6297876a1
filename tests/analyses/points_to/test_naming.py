"""Names of pointers and objects: of(name) understands whatever is printed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.naming import _suffixes
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
        is_element = name.endswith("]") and not re.search(r" \[[a-z]+\]$", name)  # no "f() [base]"
        placed = name if name.rfind("+") > name.rfind("@") or is_element else f"{name}+0"
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
        ("table+12", "table+8"),
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
    assert _suffixes(byte, stride) == ["", "[8]", "[24]", "+8[]", "+?"]
