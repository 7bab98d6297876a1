"""Thunks: calls that reach one are calls of the method that it goes on to."""

from __future__ import annotations

import pytest

import kleene

SOURCE = r"""
struct Animal {
  virtual Animal *self() { return this; }
};
struct Named {
  int *name;
  virtual Named *copy() { return this; }
  virtual int call() { return 1; }
};
struct Dog : Animal, Named {
  Dog *copy() override { return this; }  // adjusts what it is given, and what it returns
  int call() override { return 2; }      // adjusts what it is given
};
struct Bird : virtual Animal {
  Bird *self() override { return this; }  // by offsets in its table
};
Named *use(Named *named) {
  named->call();
  return named->copy();
}
Animal *use_animal(Animal *animal) { return animal->self(); }
int main() {
  Dog dog;
  Bird bird;
  use(&dog);
  return use_animal(&bird) != 0;
}
"""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory):
    source = tmp_path_factory.mktemp("thunks") / "unit.cpp"
    source.write_text(SOURCE)
    return kleene.load([source]).points_to(device="cpu").call_graph()


def test_calls_list_methods(graph):
    assert {"Dog::call", "Dog::copy"} <= set(graph.callees("use"))
    assert "Bird::self" in graph.callees("use_animal")
    assert not any("thunk" in edge.caller + edge.callee for edge in graph.edges)


def test_methods_have_their_callers(graph):
    assert graph.callers("Dog::call") == ["use"]
    assert graph.callers("Bird::self") == ["use_animal"]


def test_why_a_method_is_reached_is_told_by_its_thunk(graph):
    site = next(site for site in graph.indirect if "Dog::copy" in site.targets)
    assert "thunk to Dog::copy" in str(site.why("Dog::copy"))
