"""Tables that objects have while they are constructed or destroyed, and who may read them."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from tests.analyses.points_to.observing import answer, assert_covers, load, observe

CLASSES = r"""
struct Base;
Base *made, *in_whole, *second_time;
struct Base {
  Base() { early(); }
  Base(int) {}
  virtual ~Base() { late(); }
  void early() { begin(); }
  void late() { end(); }
  virtual int begin() { return 1; }
  virtual int end() { return 1; }
  virtual int get() { return 1; }
};
struct Derived : Base {
  int begin() override { return 2; }
  int end() override { return 2; }
  int get() override { return 2; }
};
struct Whole { Base base; };
struct Delegating : Base {
  Delegating(int) : Base(1) {}
  Delegating() : Delegating(1) {}
  int get() override { return 3; }
};
struct Other {
  Other(Base *first) { peek(first); }
  static int peek(Base *b) { return b->get(); }
  virtual void own() {}
};
struct Both : Base, Other { Both() : Base(1), Other(this) {} int get() override { return 4; } };
"""
MAIN = r"""
int later() { return made->get(); }
int of_whole() { return in_whole->get(); }
int again() { return second_time->get(); }
int main() {
  made = new Derived;
  in_whole = &(new Whole)->base;
  second_time = new Delegating;
  Both both;
  later();
  of_whole();
  again();
  delete made;
  return 0;
}
"""


def targets(folder: Path, text: str, caller: str) -> set[str]:
    source = folder / "unit.cpp"
    source.write_text(text)
    return set(kleene.load([source]).points_to().call_graph().callees(caller))


@pytest.mark.parametrize(
    ("caller", "expected"),
    [
        ("later", {"Derived::get"}),
        ("of_whole", {"Base::get"}),  # a member is whole: nothing sets its table again
        ("again", {"Delegating::get"}),
        ("Other::peek", {"Both::get"}),  # clang sets the table before `this` is used
        ("Base::early", {"Base::begin", "Derived::begin"}),
        ("Base::late", {"Base::end", "Derived::end"}),
    ],
)
def test_a_bases_table_is_read_while_it_is_there(tmp_path: Path, caller: str, expected: set[str]):
    assert targets(tmp_path, CLASSES + MAIN, caller) == expected


def test_whoever_may_be_called_meanwhile_reads_it(tmp_path: Path):
    text = CLASSES.replace("Base() { early(); }", "Base() { made = this; outside(later); }")
    declared = 'extern "C" void outside(int (*)());\nint later();\n'
    assert targets(tmp_path, declared + text + MAIN, "later") == {"Base::get", "Derived::get"}
    text = CLASSES.replace("Base() { early(); }", "Base() { made = this; call = later; call(); }")
    declared = "int later();\nint (*call)();\n"
    assert targets(tmp_path, declared + text + MAIN, "later") == {"Base::get", "Derived::get"}


def test_another_thread_may_read_it(tmp_path: Path):
    head = "#include <pthread.h>\nvoid *run(void *) { return nullptr; }\n"
    started = MAIN.replace(
        "made =", "pthread_t t; pthread_create(&t, nullptr, run, nullptr); made ="
    )
    assert targets(tmp_path, head + CLASSES + started, "later") == {"Base::get", "Derived::get"}


DIAMOND = r"""
struct Top { virtual ~Top() {} virtual int weigh() { return 1; } };
Top *kept;
int of_kept() { return kept->weigh(); }
int during(Top *t) { return t->weigh(); }
int early, late = 2;
struct Left : virtual Top {
  Left() { kept = this; early = during(this) + of_kept(); }
  virtual int paint() { return 10; }
  int weigh() override { return 2; }
};
struct Right : virtual Top { virtual int area() { return 20; } };
struct Both : Left, Right {
  int paint() override { return 30; }
  int area() override { return 40; }
  int weigh() override { return 3; }
};
int by_top(Top *t) { return t->weigh(); }
int by_left(Left *l) { return l->paint(); }
int by_right(Right *r) { return r->area(); }
int main() {
  int sum;
  { Both both; sum = by_top(&both) + by_left(&both) + by_right(&both); }
  return sum == 3 + 30 + 40 && early == 4 && late == 2 ? 0 : 1;
}
"""


def test_construction_tables_are_read_while_they_are_there(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(DIAMOND)
    graph = kleene.load([source]).points_to().call_graph()
    assert graph.callees("by_top") == ["Both::weigh"]
    assert graph.callees("by_left") == ["Both::paint"]
    assert graph.callees("by_right") == ["Both::area"]
    for caller in ("during", "of_kept"):
        assert set(graph.callees(caller)) >= {"Left::weigh", "Both::weigh"}


@pytest.mark.parametrize("destructor", ["", "~Left() { late = during(this); }"])
def test_a_run_reads_no_other_table(tmp_path: Path, destructor: str):
    source = tmp_path / "unit.cpp"
    source.write_text(
        DIAMOND.replace(
            "  virtual int paint() { return 10; }",
            destructor
            + r"""
  virtual int paint() { return 10; }""",
        )
    )
    loaded = load(source)
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0
    assert_covers(loaded, system, solution, run)


def test_others_may_construct_objects_of_a_library(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(DIAMOND.replace("int main", "int start"))
    graph = kleene.load([source]).points_to(library=True).call_graph()
    assert {"Left::paint", "Both::paint"} <= set(graph.callees("by_left"))


def test_a_table_of_tables_that_others_name_is_as_any(tmp_path: Path):
    """Whoever holds it may give it to a constructor."""
    shown = 'extern "C" void *_ZTT4Both[];\nvoid *shown = _ZTT4Both;\n'
    assert targets(tmp_path, DIAMOND + shown, "by_left") == {"Left::paint", "Both::paint"}
