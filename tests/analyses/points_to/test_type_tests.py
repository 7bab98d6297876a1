"""Virtual calls by the class in the source: type metadata filters tables and functions."""

from __future__ import annotations

import pytest

import kleene

SOURCE = r"""
struct Animal { virtual int speak(int) { return 1; } virtual ~Animal() {} };
struct Dog : Animal { int speak(int) override { return 2; } };
struct Machine { virtual int run(int) { return 3; } virtual ~Machine() {} };
struct Car : Machine { int run(int) override { return 4; } };
namespace {
struct Hidden : Animal {
  int speak(int) override { return 5; }
  virtual int own(int) { return 6; }
};
struct Inner : Hidden { int own(int) override { return 7; } };
}
struct Abstract { virtual int pure() = 0; };
struct Concrete : Abstract { int pure() override { return 8; } };
static int plain(Animal *, int) { return 9; }
union Any { Animal *animal; Machine *machine; Hidden *hidden; Abstract *abstract;
            int (*function)(Animal *, int); void *table; };
Any all[9];
int by_animal() { return all[0].animal->speak(1); }
int by_machine() { return all[0].machine->run(1); }
int by_hidden() { return all[0].hidden->own(1); }
int by_abstract() { return all[0].abstract->pure(); }
int by_function() { return all[0].function(nullptr, 1); }
int by_member(int (Animal::*m)(int)) { return (all[0].animal->*m)(1); }
int main(int n, char **) {
  all[1].animal = new Animal;
  all[2].animal = new Dog;
  all[3].machine = new Machine;
  all[4].machine = new Car;
  all[5].hidden = new Hidden;
  all[6].hidden = new Inner;
  all[7].abstract = new Concrete;
  all[8].function = plain;
  for (int i = 1; i < 8; i++) all[0].table = *(void **)all[i].table;
  all[0] = all[n];
  return by_animal() + by_machine() + by_hidden() + by_abstract() + by_function()
       + by_member(&Animal::speak);
}
"""

EXPECTED = {
    "by_animal": {"Animal::speak", "Dog::speak", "Hidden::speak"},
    "by_machine": {"Machine::run", "Car::run"},
    "by_hidden": {"Hidden::own", "Inner::own"},
    "by_abstract": {"Concrete::pure"},
    "by_function": {"plain"},
    # A pointer to a member of a derived class may be cast to one of the base.
    "by_member": {"Animal::speak", "Dog::speak", "Hidden::speak", "Hidden::own", "Inner::own"},
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory):
    source = tmp_path_factory.mktemp("types") / "unit.cpp"
    source.write_text(SOURCE)
    return kleene.load([source])


def targets(result, caller: str) -> set[str]:
    """Return the functions that a caller calls through pointers, without parameters."""
    names = (str(function) for function in result.call_graph().callees(caller))
    return {name.removeprefix("(anonymous namespace)::") for name in names}


@pytest.mark.parametrize("caller", sorted(EXPECTED))
def test_a_call_reaches_functions_of_its_class_and_slot(program, caller: str):
    assert targets(program.points_to(), caller) == EXPECTED[caller]
