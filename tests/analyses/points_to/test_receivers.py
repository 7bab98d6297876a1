"""Virtual calls by receiver: each object is passed to the functions of its own table."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene

SOURCE = r"""
int a, b, c;
struct Base {
  int *own;
  virtual int *get() = 0;
};
int *of_left, *of_right, *of_both;
struct Left : Base { int *get() override { return of_left = own; } };
struct Right : Base { int *get() override { return of_right = own; } };
struct Second { virtual int *other() { return &c; } };
struct Both : Left, Second {
  int *other() override { return of_both = own; }
};
Base *bases[2];
Second *second;
int main(int n, char **) {
  Left left;
  Right right;
  Both both;
  left.own = &a;
  right.own = &b;
  both.own = &c;
  bases[0] = &left;
  bases[1] = &right;
  second = &both;
  bases[n]->get();
  return second->other() == bases[0]->get();
}
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory):
    source = tmp_path_factory.mktemp("receivers") / "unit.cpp"
    source.write_text(SOURCE)
    return kleene.load([source]).points_to()


@pytest.mark.parametrize(
    ("variable", "held"), [("of_left", {"a"}), ("of_right", {"b"}), ("of_both", {"c"})]
)
def test_a_function_sees_objects_of_its_classes_alone(result, variable: str, held: set[str]):
    assert set(result.of(variable).names) == held


def test_an_unknown_receiver_is_passed_to_all(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    declared = SOURCE.replace("int main", 'extern "C" Base *elsewhere(Base *);\nint main')
    source.write_text(declared.replace("bases[n]->get()", "elsewhere(bases[n])->get()"))
    result = kleene.load([source]).points_to()
    assert result.of("of_left").unknown
