"""Parts of the C++ library that programs use through its own code: streams, locales, files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kleene
from kleene.frontends.c.compiler import Options
from kleene.runtime import pointer_trace
from kleene.runtime.pointer_trace import About
from tests.analyses.points_to.covering import Coverage
from tests.analyses.points_to.cpp_calls import Library, libstdcxx, with_own_copies
from tests.analyses.points_to.observing import answer, instrumented, load

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "cpp_library").glob("*.cpp"))
LIBRARIES = {"libc++": Library(), "libstdc++": libstdcxx()}


@pytest.mark.skipif(not os.environ.get("KLEENE_DEEP"), reason="takes long: KLEENE_DEEP=1")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_what_ran_is_known(
    source: Path, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found = LIBRARIES[library]
    if found is None:
        pytest.skip("no headers of libstdc++ are installed")
    loaded = load(source, options=Options(standards=("c++20",), flags=found.compiles))
    system, solution = answer(loaded.program)
    assert [e.name for e in system.externals if not e.is_modelled] == []
    own = replace(loaded, text=with_own_copies(loaded.text), needs_cxx=not found.links)
    program = instrumented(own, system, tmp_path, flags=found.links)
    monkeypatch.chdir(tmp_path)
    run = pointer_trace.run(program)
    assert run.status == 0, run.output
    assert "\n".join(Coverage(loaded.program, system, solution).misses(run)) == ""
    values = np.unique(run.facts["value"][run.facts["what"] == About.VALUE])
    assert not solution.unknown[values].any()


CALLS = r"""
#include <stddef.h>
typedef int unshift(void *facet, void *state, char *to, char *end, char **next);
void *_ZNKSt3__16locale9use_facetERNS0_2idE(void *locale, void *id);
void **_ZNSt3__18ios_base5pwordEi(void *stream, int n);
void _ZNSt3__16localeC1Ev(void *locale), _ZNSt3__16locale6globalERKS0_(void *old, void *locale);
void _ZNSt3__14__fs10filesystem14__current_pathEPNS_10error_codeE(void *path, void *code);
void *_ZNSt3__115system_categoryEv(void);
int x;
char text[8];
struct locale { void *implementation; } first, second, old;
struct code { int number; void *category; } code;
struct path { char *characters; size_t n_bytes, capacity; } path;
int main() {
  char *next;
  unshift **facet = *(unshift ***)_ZNKSt3__16locale9use_facetERNS0_2idE(&first, NULL);
  facet[5](facet, NULL, text, text + 8, &next);
  char *from = next;
  *_ZNSt3__18ios_base5pwordEi(&first, 1) = &x;
  void *kept = *_ZNSt3__18ios_base5pwordEi(&first, 1);
  first.implementation = &x;
  _ZNSt3__16locale6globalERKS0_(&old, &first);
  _ZNSt3__16localeC1Ev(&second);
  void *now = second.implementation;
  _ZNSt3__14__fs10filesystem14__current_pathEPNS_10error_codeE(&path, &code);
  char *characters = path.characters;
  void *category = code.category, *system = _ZNSt3__115system_categoryEv();
  return *from + *characters + (kept == now) + (category == system);
}
"""


def test_what_the_library_keeps_comes_back(tmp_path: Path):
    source = tmp_path / "unit.c"
    source.write_text(CALLS)
    result = kleene.load([source]).points_to()
    assert "text" in {name.partition("[")[0] for name in result.of("main.from").names}
    assert "x" in result.of("main.kept").names
    assert "x" in result.of("main.now").names
    assert result.of("main.characters").names
    assert result.may_alias("main.category", "main.system")
    names = ("from", "kept", "now", "characters", "category")
    assert not any(result.of(f"main.{name}").unknown for name in names)
