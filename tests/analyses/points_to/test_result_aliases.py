"""May and must alias: locations, access sizes, storage that exists once; and their laws."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.analyses.points_to import PointsToResult
from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET
from tests.analyses.points_to.compiled import solved

PROGRAM = """
#include <stdlib.h>
struct s { int first, second; char name[8]; long last; } one, two, rows[4];
int recursive(int n, int *p) {
  int local = n;
  int *mine = n ? &local : p;
  if (n) return recursive(n - 1, &local) + *mine;
  return *mine;
}
int main(int argc, char **argv) {
  int local = 0, other = 1;
  int *first = &one.first, *second = &one.second, *again = &one.first;
  char *name = one.name, *inside = &one.name[argc];
  long *last = &one.last;
  struct s *row0 = &rows[0], *row = &rows[argc];
  int *either = argc > 1 ? &local : &other;
  int *mine = &local;
  int *heap = malloc(4), *null = 0;
  char *wide = (char *)&two;
  int *narrow = &two.second, *apart = (int *)&two.name;
  *(long *)wide = 5;
  *first = *second = *again = *last = *name = *inside = row0->first = row->second = 1;
  *narrow = *apart = 1;
  return *either + *mine + *heap + recursive(3, heap) + (null == heap);
}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> PointsToResult:
    return solved(tmp_path_factory.mktemp("aliases"), PROGRAM)


@pytest.mark.parametrize(
    ("left", "right", "may"),
    [
        ("first", "again", True),
        ("first", "second", False),
        ("first", "name", False),
        ("name", "inside", True),
        ("inside", "last", False),
        ("row0", "row", True),
        ("row", "first", False),
        ("either", "mine", True),
        ("heap", "mine", False),
        ("null", "heap", False),
        ("null", "null", False),
        ("wide", "narrow", True),  # a store of 8 bytes at `wide` reaches it
        ("wide", "apart", False),
    ],
)
def test_fields_elements_and_the_bytes_of_accesses(
    result: PointsToResult, left: str, right: str, may: bool
) -> None:
    assert result.may_alias(f"main.{left}", f"main.{right}") is may
    assert result.may_alias(f"main.{right}", f"main.{left}") is may


def test_must_alias_needs_one_address(result: PointsToResult) -> None:
    assert result.must_alias("main.first", "main.again")
    assert result.must_alias("main.mine", "main.mine")
    assert not result.must_alias("main.first", "main.second")
    assert not result.must_alias("main.either", "main.mine")
    assert not result.must_alias("main.heap", "main.heap")  # one call may run many times
    assert not result.must_alias("main.row", "main.row")
    assert not result.must_alias("main.null", "main.null")


def test_a_local_of_a_recursive_function_is_many(result: PointsToResult) -> None:
    assert not result.must_alias("recursive.mine", "recursive.mine")
    address = "&recursive.local"
    assert result.of(address).names == ["recursive.local"]
    assert not result.must_alias(address, address)
    assert result.must_alias("&main.local", "main.mine")


def test_a_local_of_a_callback_is_many(tmp_path: Path) -> None:
    result = solved(
        tmp_path,
        "#include <pthread.h>\n"
        "typedef volatile int cell;\n"
        "static void *run(void *p) { cell mine; cell *q = &mine; *q = 1; return p; }\n"
        "int main(void) { pthread_t t; return pthread_create(&t, 0, run, &t); }\n",
    )
    assert result.of("run.q").names == ["run.mine"]
    assert not result.must_alias("run.q", "run.q")


def test_a_global_of_each_thread_is_many(tmp_path: Path) -> None:
    text = "_Thread_local int a; int b; int *p, *q; int main(void) { p = &a; q = &b; return *p; }\n"
    result = solved(tmp_path, text)
    assert result.must_alias("q", "q")
    assert not result.must_alias("p", "p")


def geometry_of(locations: list[tuple[int, int, int]]) -> Geometry:
    """The geometry of one allocation with these locations: byte, reach, stride."""
    byte, reach, stride = (np.array(column) for column in zip(*locations, strict=True))
    table = SimpleNamespace(
        allocation=np.zeros(len(byte), np.int32), byte=byte, n_bytes=reach, stride=stride
    )
    problem = SimpleNamespace(allocation_offsets=np.array([0, len(byte)], np.int32))
    return Geometry(SimpleNamespace(locations=table, problem=problem))  # type: ignore[arg-type]


def addresses(location: tuple[int, int, int], end: int, storage: range) -> set[int]:
    byte, _, stride = location
    if byte == UNKNOWN_OFFSET:
        return set(storage)
    return {byte} if not stride else set(range(byte, end, stride))


@given(data=st.data())
def test_overlap_covers_every_pair_of_concrete_accesses(data: st.DataObject) -> None:
    """Storage: fields, an array of elements with fields, fields; every address has one location."""
    before = data.draw(st.integers(0, 2)) * 4
    step = data.draw(st.sampled_from([1, 2, 4, 8]))
    count = data.draw(st.integers(2, 4))
    fields = sorted(data.draw(st.sets(st.integers(0, step - 1), min_size=1)))
    end = before + step * count
    locations = [(byte, 4, 0) for byte in range(0, before, 4)]
    rows = [(before + step + f, 1, step) for f in fields]
    locations += [(before + f, 1, 0) for f in fields] + rows + [(end, 4, 0), (end + 4, 0, 0)]
    locations.append((UNKNOWN_OFFSET, 0, 0))
    geometry = geometry_of(locations)
    left, right = (data.draw(st.integers(0, len(locations) - 1)) for _ in range(2))
    left_bytes, right_bytes = (data.draw(st.integers(1, 9)) for _ in range(2))
    storage = range(end + 5)
    touches = any(
        a < b + right_bytes and b < a + left_bytes
        for a in addresses(locations[left], end, storage)
        for b in addresses(locations[right], end, storage)
    )
    found, turned = geometry.meet(
        *(np.array(column) for column in zip(
            (left, left_bytes, right, right_bytes), (right, right_bytes, left, left_bytes),
            strict=True,
        ))
    ).tolist()  # fmt: skip
    assert found or not touches
    assert found == turned
    both_rows = bool(locations[left][2] and locations[right][2])
    if not both_rows:
        assert found == touches or UNKNOWN_OFFSET in (locations[left][0], locations[right][0])


OUTSIDE = """
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
extern int declared, own;
int own;
int main(int argc, char **argv) {
  void *found = dlsym(0, "elsewhere");
  void *function = (void *)getpid, *variable = &declared, *stream = stdout;
  void *time = localtime(0), *argument = argv[0], *mine = &own, *main_ = (void *)main;
  *(int *)found = 1;
  return !function + !variable + !stream + !time + !argument + !mine + !main_;
}
"""


def test_an_unknown_pointer_may_hold_what_is_the_outsides_own(tmp_path: Path):
    """Nothing of these escapes; who looks symbols up by name finds them all the same."""
    result = solved(tmp_path, OUTSIDE)
    for outside in ("function", "variable", "stream", "time", "argument"):
        assert result.may_alias("main.found", f"main.{outside}"), outside
        assert result.may_alias(["main.found"], [f"main.{outside}"])[0], outside
    for inside in ("mine", "main_"):
        assert not result.may_alias("main.found", f"main.{inside}"), inside
    assert "declared" in result.mod_ref("main").writes
