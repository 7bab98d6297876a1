"""Small functions of C++: each call has its own sets, and none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.analyses.points_to.constraints import accessors
from tests.analyses.points_to.observing import PROGRAMS, answer, assert_covers, load, observe

BOX = r"""
int a, b;
struct Box {
  long n;
  int *pointer;
  Box() = default;
  explicit Box(int *p) : pointer(p) {}
  int *get() const { return pointer; }
  int *&place() { return pointer; }
  int *operator->() const { return get(); }
  void set(int *p) { place() = p; }
  void take(Box &other) {
    pointer = other.pointer;
    other.pointer = nullptr;
  }
  int *either(int *p, bool first) { return first ? p : pointer; }
};
int *of_first, *of_second;
"""
USES = {
    "read": "Box x(&a), y(&b); of_first = x.get(); of_second = y.get();",
    "read by another": "Box x(&a), y(&b); of_first = x.operator->(); of_second = y.operator->();",
    "stored": "Box x, y; x.set(&a); y.set(&b); of_first = x.pointer; of_second = y.pointer;",
    "referred": "Box x, y; x.place() = &a; y.place() = &b;"
    " of_first = x.get(); of_second = y.get();",
    "moved": "Box v(&a), w(&b), x, y; x.take(v); y.take(w);"
    " of_first = x.get(); of_second = y.get();",
    "joined": "Box x, y; of_first = x.either(&a, n); x.set(&a); y.set(&b);"
    " of_second = y.either(&b, n);",
    "heap": "Box *x = new Box(&a), *y = new Box(&b); of_first = x->get(); of_second = y->get();",
}


def program_of(folder: Path, body: str, more: str = "") -> Path:
    source = folder / "unit.cpp"
    source.write_text(BOX + more + "int main(int n, char **) {" + body + "return 0; }\n")
    return source


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory):
    """Each use in a function of its own, with variables of its own."""
    more, calls = [], []
    for number, use in enumerate(USES.values()):
        body = use.replace("of_first", f"first_{number}").replace("of_second", f"second_{number}")
        more.append(f"int *first_{number}, *second_{number};\n")
        more.append(f"void use_{number}(int n) {{ {body} }}\n")
        calls.append(f"use_{number}(n);")
    source = program_of(tmp_path_factory.mktemp("uses"), "".join(calls), "".join(more))
    return kleene.load([source]).points_to()


@pytest.mark.parametrize("use", USES)
def test_calls_have_sets_of_their_own(result, use: str):
    number = list(USES).index(use)
    assert result.of(f"first_{number}").names == ["a"]
    assert result.of(f"second_{number}").names == ["b"]


def test_the_body_holds_what_all_calls_pass(result):
    number = list(USES).index("moved")
    assert set(result.of("Box::take.this").names) == {f"use_{number}.x", f"use_{number}.y"}
    assert set(result.of("Box::take.other").names) == {f"use_{number}.v", f"use_{number}.w"}


# How else a function may come to be called: then its stores are for all.
OTHERS = {
    "by address": ("", "void (Box::*m)(int *) = &Box::set; Box x; (x.*m)(&a); of_first = x.get();"),
    "by table": (
        "struct Base { int *own; virtual void keep(int *p) { own = p; } };\n"
        "struct Derived : Base { void keep(int *p) override { own = p; } };\n",
        "Derived d; Base *base = &d; base->keep(&a); of_first = d.own;",
    ),
    "in a cycle": (
        "struct List { List *next; int *own; void keep(int *p, int n) {\n"
        "  own = p; if (n && next) next->keep(p, n - 1); } };\n",
        "List one{nullptr, nullptr}, two{&one, nullptr}; two.keep(&a, 1); of_first = one.own;",
    ),
    "through a local": (
        "struct Inner { Box box; void keep(int *p) { Box own(p); box.take(own); } };\n",
        "Inner inner; inner.keep(&a); of_first = inner.box.get();",
    ),
    "at the end": (
        "static Box kept;\nstruct End { ~End() { of_first = kept.get(); } };\nstatic End end;\n",
        "kept.set(&a); of_first = kept.get();",
    ),
    "twice behind": (
        "struct Outer { Box *inner; Box *get() { return inner; } void keep(Outer &o) {\n"
        "  get()->take(*o.get()); } };\n",
        "Box x, y(&a); Outer p{&x}, q{&y}; p.keep(q); of_first = x.get();",
    ),
}


@pytest.mark.parametrize("way", OTHERS)
def test_nothing_is_lost_however_it_is_called(tmp_path: Path, way: str):
    more, body = OTHERS[way]
    loaded = load(program_of(tmp_path, body, more))
    system, solution = answer(loaded.program)
    assert_covers(loaded, system, solution, observe(loaded, system, tmp_path))
    assert "a" in kleene.load([tmp_path / "unit.cpp"]).points_to().of("of_first").names


def test_others_may_call_what_a_library_shows(tmp_path: Path):
    source = tmp_path / "unit.cpp"
    source.write_text(BOX + "void keep(Box *box, int *p) { box->set(p); }\nBox shown;\n")
    result = kleene.load([source]).points_to(library=True)
    assert result.of("Box::set.this").unknown
    assert result.of("shown+8").unknown


@pytest.mark.parametrize("name", ["intrusive_list", "out_parameters"])
def test_functions_of_c_would_lose_nothing_either(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Programs in C, whose runs are known, show that summaries of any function are right."""
    monkeypatch.setattr(accessors, "_MANGLED", b"")
    loaded = load(PROGRAMS / f"{name}.c")
    system, solution = answer(loaded.program)
    assert_covers(loaded, system, solution, observe(loaded, system, tmp_path))
