"""Virtual calls by the classes that their objects may be of."""

from __future__ import annotations

from pathlib import Path

import kleene

PROGRAM = """
struct Animal { virtual int legs() { return 4; } };
struct Bird : Animal { int legs() override { return 2; } };
struct Dog : Animal { };
static Bird bird;
static Dog dog;
static int of_birds(Animal *a) { return a->legs(); }
static int of_all(Animal *a) { return a->legs(); }
int main(int argc, char **) {
  return of_birds(&bird) + of_all(argc > 1 ? static_cast<Animal *>(&bird) : &dog);
}
"""


def test_calls_on_objects_of_one_class_have_one_target(tmp_path: Path) -> None:
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM)
    table = kleene.load(source).dataflow("classes", device="cpu").tables()["virtual_calls"]
    found = {row[1]: (row[2], row[5]) for row in table.rows()}
    assert found == {7: ("Bird::legs", True), 8: ("Animal::legs, Bird::legs", False)}


def test_a_c_program_has_none(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int (**t)(void); int main(void) { return t[0](); }")
    table = kleene.load(source).dataflow("classes", device="cpu").tables()["virtual_calls"]
    assert list(table.rows()) == []
