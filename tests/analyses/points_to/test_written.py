"""Functions and variables are called as people write them, and understood so."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.points_to import PointsToResult
from kleene.base.demangling import demangled
from kleene.base.errors import SourceError

CPP = """
struct Animal { virtual int speak(int *) = 0; int *last = nullptr; virtual ~Animal() {} };
struct Dog : Animal { int speak(int *p) override { last = p; return 1; } };
struct Cat : Animal { int speak(int *p) override { return *p; } };
namespace { int hidden(int *p) { return *p; } }
int over(int *p) { return *p; }
int over(int **p) { return **p; }
int main(int n, char **) {
  int x = 1, *y = &x;
  Animal *animal = n > 1 ? (Animal *)new Dog : new Cat;
  return animal->speak(&x) + over(&x) + over(&y) + hidden(&x);
}
"""
ONE = """
static int counter;
static int *helper(void) { static int n; n++; return &counter; }
int *from_two(void);
int *seen(void) { return 0; }
int main(void) { return *helper() + *from_two() + !seen(); }
"""
TWO = """
static int counter;
static int *helper(void) { static int n; n++; return &counter; }
static int *seen(void) { return &counter; }
int *from_two(void) { return *helper() ? seen() : 0; }
"""


@pytest.fixture(scope="module")
def animals(tmp_path_factory: pytest.TempPathFactory) -> PointsToResult:
    if demangled("_Z1fv") is None:
        pytest.skip("no C++ runtime is found here: symbols stay as they are")
    path = tmp_path_factory.mktemp("cpp") / "animals.cpp"
    path.write_text(CPP)
    result: PointsToResult = kleene.load(path).points_to(device="cpu")
    return result


@pytest.fixture(scope="module")
def statics(tmp_path_factory: pytest.TempPathFactory) -> PointsToResult:
    folder = tmp_path_factory.mktemp("statics")
    (folder / "one.c").write_text(ONE)
    (folder / "two.c").write_text(TWO)
    result: PointsToResult = kleene.load(folder).points_to(device="cpu")
    return result


def test_names_of_cpp_are_written_and_read(animals: PointsToResult) -> None:
    graph = animals.call_graph()
    (site,) = [site for site in graph.indirect if site.caller == "main"]
    assert site.known == ("Dog::speak", "Cat::speak")  # and no __cxa_pure_virtual
    assert graph.callers("Dog::speak") == ["main"]
    assert {"over(int*)", "over(int**)", "(anonymous namespace)::hidden"} <= set(graph.functions)
    assert {o.kind for o in animals.of("Dog::speak.this")} == {"heap"}
    assert animals.of("Dog::speak.p") == {"main.x"}
    assert animals.of("_ZN3Dog5speakEPi.p") == {"main.x"}
    assert animals.of("Dog::speak(int*).p") == {"main.x"}
    assert animals.as_json()["symbols"]["Dog::speak"] == "_ZN3Dog5speakEPi"
    assert site.why("Dog::speak").steps


def test_names_of_several_things_are_refused_and_listed(animals: PointsToResult) -> None:
    with pytest.raises(SourceError, match="may be any of 2 names") as error:
        animals.call_graph().callees("over")
    assert error.value.id == "points-to/ambiguous-name"
    assert "over(int*) or over(int**)" in error.value.notes[0]
    with pytest.raises(SourceError, match="did you mean Dog::speak"):
        animals.mod_ref("Dog::speek")


def test_statics_of_one_name_are_told_apart_by_their_files(statics: PointsToResult) -> None:
    graph = statics.call_graph()
    assert graph.callees("main")[:2] == ["one.c:helper", "from_two"]
    assert graph.callees("from_two") == ["two.c:helper", "two.c:seen"]
    assert graph.callers("seen") == ["main"]  # the one that others can see
    assert statics.of("one.c:helper.return") == {"one.c:counter"}
    assert statics.of("two.c:helper.return") == {"two.c:counter"}
    symbols = statics.as_json()["symbols"]
    assert symbols["one.c:helper"] == "helper"
    assert graph.callees(symbols["two.c:helper"]) == graph.callees("two.c:helper")
    with pytest.raises(SourceError, match="may be any of 2 names") as error:
        graph.callers("helper")
    assert "one.c:helper or two.c:helper" in error.value.notes[0]


def test_no_two_globals_share_a_name(animals: PointsToResult, statics: PointsToResult) -> None:
    for result in (animals, statics):
        names = result.naming.written.names
        assert len(set(names)) == len(names) == len(result.program.globals)
        for row, (name, symbol) in enumerate(zip(names, result.program.names.globals, strict=True)):
            assert result.naming.written.rows(name) == [row]
            assert row in result.naming.written.rows(symbol)


def test_wrappers_are_named_as_people_write_them(tmp_path: Path) -> None:
    if demangled("_Z1fv") is None:
        pytest.skip("no C++ runtime is found here: symbols stay as they are")
    path = tmp_path / "pool.cpp"
    path.write_text(
        "static char cells[64]; static int used;\n"
        "struct Pool { static void *get(int n) { used += n; return cells + used; } };\n"
        "int main() { void *a = Pool::get(8), *b = Pool::get(8); return a == b; }\n"
    )
    program = kleene.load(path)
    for name in ("Pool::get", "Pool::get(int)", "_ZN4Pool3getEi"):
        found = program.points_to(wrappers=(name,), device="cpu")
        assert not found.may_alias("main.a", "main.b")
    assert program.points_to(device="cpu").may_alias("main.a", "main.b")
    with pytest.raises(SourceError, match="did you mean 'Pool::get'"):
        program.points_to(wrappers=("Pool::got",))
