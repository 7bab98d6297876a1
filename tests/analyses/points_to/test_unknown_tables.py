"""Virtual calls on unknown objects: the program's own functions at their slot are listed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.runtime import pointer_trace
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.observing import answer, instrumented, load

HIERARCHY = r"""
extern "C" void *through(void *);
struct Animal {
  virtual int speak(int) { return 1; }
  virtual int eat(int) { return 2; }
};
struct Machine { virtual int run(int) { return 3; } };
struct Other { virtual int own(int) { return 4; } };
namespace {
struct Given : Animal { int speak(int) override { return 5; } };
struct Kept : Animal { int speak(int) override { return 6; } };
struct Both : Machine, Animal { int eat(int) override { return 7; } };
}
struct Public : Animal { int speak(int) override { return 8; } };
struct Base { int base; virtual int low(int) { return 9; } };
struct Left : virtual Base { int low(int) override { return 10; } };
int ask(Animal *a) { return a->speak(1); }
int feed(Animal *a) { return a->eat(1); }
int start(Machine *m) { return m->run(1); }
int lower(Base *b) { return b->low(1); }
int by_member(Animal *a, int (Animal::*m)(int)) { return (a->*m)(1); }
int by_pointer(int (*f)(int)) { return f(1); }
int plain(int n) { return n; }
"""
MAIN = r"""
int main(int n, char **) {
  Given given;
  Kept kept;
  Both both;
  Public made;
  Other other;
  Left left;
  Animal *a = (Animal *)through(&given);
  Animal *b = (Animal *)through((Animal *)&both);
  Machine *m = (Machine *)through((Machine *)&both);
  Base *base = (Base *)through((Base *)&left);
  int sum = ask(a) + feed(b) + start(m) + lower(base) + by_member(b, &Animal::eat);
  sum += by_pointer((int (*)(int))through((void *)plain));
  return sum == 5 + 7 + 3 + 10 + 7 + 1 ? kept.speak(0) + made.speak(0) + other.own(0) - 18 : 1;
}
"""
SPOKEN = {"Animal::speak", "Given::speak", "Public::speak"}  # not Kept's: nobody outside has it
FED = {"Animal::eat", "Both::eat"}
LISTED = {
    "ask": SPOKEN,
    "feed": FED,
    "start": {"Machine::run"},
    "lower": {"Base::low", "Left::low"},
    # A pointer to a member of a derived class may be cast to one of the base.
    "by_member": SPOKEN | FED | {"Machine::run"},
    "by_pointer": set(),  # no table is read: what escaped is not listed one by one
}
ELSEWHERE = "void *through(void *p) { return p; }\n"


def listed(result, caller: str) -> set[str]:
    """Return what the calls through pointers in a function list; each must say that it leaves."""
    sites = [s for s in result.call_graph().sites if s.caller == caller and s.kind == "indirect"]
    assert sites, caller
    assert all(site.may_leave for site in sites)
    return {t.removeprefix("(anonymous namespace)::") for site in sites for t in site.known}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("unknown") / "unit.cpp"
    file.write_text(HIERARCHY + MAIN)
    return file


@pytest.fixture(scope="module")
def result(source: Path):
    return kleene.load([source]).points_to()


@pytest.mark.parametrize("caller", sorted(LISTED))
def test_functions_of_the_class_and_slot_are_listed(result, caller: str):
    assert listed(result, caller) == LISTED[caller]


def test_a_run_through_a_function_without_model_takes_listed_calls(source: Path, tmp_path: Path):
    loaded = load(source)
    system, solution = answer(loaded.program)
    outside = tmp_path / "outside.c"
    outside.write_text(ELSEWHERE)
    run = pointer_trace.run(instrumented(loaded, system, tmp_path, flags=(str(outside),)))
    assert run.status == 0
    coverage = Coverage(loaded.program, system, solution)
    assert "\n".join(coverage.misses(run)) == ""
    calls = [f for f in run.facts if f["what"] == pointer_trace.About.CALL]
    base = loaded.program.bases[kleene.ir.codes.ValueKind.INSTRUCTION]
    for fact in calls:
        caller = loaded.program.value_view(int(fact["value"])).function.name
        rules = (system.origins.call == int(fact["value"]) - base).nonzero()[0]
        if "by_pointer" not in caller:
            assert int(fact["at"]["site"]) in coverage.targets(rules), caller
    assert len(calls) >= 6


def test_the_reason_names_the_table(result):
    (site,) = (s for s in result.call_graph().sites if s.caller == "ask" and s.kind == "indirect")
    for target in site.known:
        assert f"vtable for {target.rpartition('::')[0]}+16" in str(site.why(target)), target


def test_what_exported_functions_are_given_may_be_of_any_class_that_others_see(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(HIERARCHY + "Animal a; Public one; Both two; Left three; Kept four;\n")
    result = kleene.load([source]).points_to(library=True)
    # A variable whose class has no name outside has none either, nor has its table.
    assert listed(result, "ask") == {"Animal::speak", "Public::speak"}
    assert listed(result, "feed") == {"Animal::eat"}
    assert listed(result, "lower") == {"Base::low", "Left::low"}


def test_an_object_that_a_constructor_gives_away_has_its_table(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(r"""
extern "C" void show(void *, int (*)(void *));
namespace {
int ask(void *);
struct Base { Base() { show(this, ask); } virtual int f() { return 1; } };
struct Derived : Base { int f() override { return 2; } };
int ask(void *p) { return ((Base *)p)->f(); }
}
int main() { Derived derived; return derived.f(); }
""")
    result = kleene.load([source]).points_to()
    assert "Base::f" in listed(result, "(anonymous namespace)::ask")


@pytest.mark.parametrize("flag", ["-frtti", "-fno-rtti"])
def test_without_type_metadata_all_tables_are_read(source: Path, tmp_path: Path, flag: str):
    text = tmp_path / "unit.ll"
    zig = [sys.executable, "-m", "ziglang", "c++", "-target", "x86_64-linux-gnu", "-w"]
    command = [*zig, "-fno-sanitize=undefined", flag, "-S", "-emit-llvm", "-O0", str(source)]
    subprocess.run([*command, "-o", str(text)], check=True, capture_output=True)
    assert not re.search("llvm.type.test", text.read_text())
    result = kleene.load([text]).points_to()
    for caller, expected in LISTED.items():
        assert listed(result, caller) >= expected, caller
    assert "Kept::speak" not in listed(result, "ask")
    assert "plain" not in listed(result, "ask")
