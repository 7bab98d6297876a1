"""Coroutines: who resumes which, what they are given, and what they yield."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.exchange import COROUTINE
from kleene.frontends.c.inputs import discover
from kleene.frontends.c.units import gather
from tests.analyses.points_to.observing import answer, assert_covers, load, observe
from tests.frontends.c.pipeline import NO_CACHE

OPTIONS = Options(standards=("c++20",))

SOURCE = r"""
#include <coroutine>
int a, b;
struct Values {
  struct promise_type {
    int *current;
    Values get_return_object() {
      return Values{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int *p) { current = p; return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
Values two(int *x, int (*f)(int)) {
  co_yield x;
  f(3);
  co_yield &b;
}
int g(int n) { return n + 1; }
int *got;
int main() {
  Values values = two(&a, g);
  while (values.handle.resume(), !values.handle.done()) got = values.handle.promise().current;
  values.handle.destroy();
  return got != &b;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "values.cpp"
    file.write_text(SOURCE)
    return file


def assert_followed(result) -> None:
    """Fail if the answer does not say who resumes the coroutine, what it calls and yields."""
    assert str(result.of("got")) == "{a, b}"
    graph = result.call_graph()
    edges = {(edge.caller, edge.callee) for edge in graph.edges if "[clone" in str(edge)}
    assert any(target.endswith("[clone .resume]") for _, target in edges)
    assert any(target.endswith("[clone .destroy]") for _, target in edges)
    assert any(caller.endswith("[clone .resume]") and target == "g" for caller, target in edges)
    assert not any("coro" in text for text in result.statistics.assumptions)


def test_sources(source: Path):
    assert_followed(kleene.load([source], std="c++20").points_to(device="cpu"))


def test_bitcode_whose_coroutines_are_not_split_yet(source: Path):
    inputs = discover([str(source)])
    units = gather(inputs, options=OPTIONS, cc=None, cache=NO_CACHE, jobs=None, normalise=False)
    assert COROUTINE.encode() in units[0].raw
    given = source.with_suffix(".bc")
    given.write_bytes(units[0].raw)
    assert_followed(kleene.load([given]).points_to(device="cpu"))


def test_a_run_is_covered(source: Path, tmp_path: Path):
    loaded = load(source, options=OPTIONS)
    system, solution = answer(loaded.program)
    run = observe(loaded, system, tmp_path)
    assert run.status == 0
    assert_covers(loaded, system, solution, run)
