"""Tables that objects have while they are constructed or destroyed, and who may read them."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene

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
