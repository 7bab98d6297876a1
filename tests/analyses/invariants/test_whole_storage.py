"""Storage of whole programs: what has ended (`lifetimes.c`), what nobody wrote (`contents.c`)."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import InvariantsResult, Verdict
from kleene.analyses.invariants.whole import interpret
from kleene.ir import Program
from tests.seeds import IS_DEEP

from .test_whole_truth import WholeOracle

N_RUNS = 2000 if IS_DEEP else 120
N_CASES = 19
OF_OUTSIDE = 17  # in `contents.c`: what a function outside is handed is assumed to be written
FILES = {"freed": "lifetimes.c", "uninitialised": "contents.c"}


@pytest.fixture(scope="module")
def programs() -> dict[str, Program]:
    """The programs by kind of check."""
    folder = Path(__file__).parent
    return {kind: load(folder / name) for kind, name in FILES.items()}


def verdicts(result: InvariantsResult, kind: str) -> dict[int, set[Verdict]]:
    """Return the verdicts of checks of one kind, by line."""
    found: dict[int, set[Verdict]] = {}
    for one in result.check_results([kind]):
        assert one.span is not None
        found.setdefault(one.span.line, set()).add(one.verdict)
    return found


def lines(program: Program, word: str) -> list[int]:
    """Return the lines with a comment that begins with a word."""
    name = next(name for name in sorted(set(program.spans.file.tolist())) if name)
    text = Path(program.strings[name]).read_text().splitlines()
    return [number for number, line in enumerate(text, 1) if f"/* {word}" in line]


def chooser(seed: int) -> Callable[[int], int]:
    """Return what gives unknown integers: the case first, then small numbers."""
    source, asked = random.Random(seed), []

    def choose(width: int) -> int:
        if width == 32 and not asked:
            asked.append(width)
            return seed % N_CASES
        return source.randrange(2 if width == 32 else 1 << min(width, 8))

    return choose


@pytest.mark.parametrize("kind", FILES)
def test_verdicts_are_those_that_the_source_tells(programs: dict[str, Program], kind: str) -> None:
    program = programs[kind]
    found = verdicts(program.invariants(whole_program=True, domain="interval"), kind)
    safe = {line: found.get(line) for line in lines(program, "safe")}
    assert safe == {line: {Verdict.SAFE} for line in safe}
    for line in (*lines(program, "fails"), *lines(program, "may")):
        assert Verdict.MAY_FAIL in found.get(line, set()), f"line {line}: {found.get(line)}"


@pytest.mark.parametrize("kind", FILES)
def test_no_run_fails_where_it_was_called_safe(programs: dict[str, Program], kind: str) -> None:
    program = programs[kind]
    oracle = WholeOracle(program, interpret(program))
    main = next(one.row for one in program.functions if one.name == "main")
    for seed in range(N_RUNS):
        if kind == "freed" or seed % N_CASES != OF_OUTSIDE:
            oracle.execute(main, seed, chooser(seed))
    failed = [row for one, row in oracle.failed if one == kind]
    spans = [program.instruction_view(row).span for row in failed]
    assert {one.line for one in spans if one} >= set(lines(program, "fails"))


def test_a_thread_may_end_what_it_shares(tmp_path: Path) -> None:
    text = """
    #include <pthread.h>
    #include <stdlib.h>
    static int *shared;
    static void *body(void *given) { free(shared); return given; }
    int main(void) {
      int *own = malloc(4);
      shared = malloc(4);
      if (!shared || !own) return 0;
      pthread_t thread;
      *own = 1;
      pthread_create(&thread, 0, body, 0);
      *shared = 1;
      *shared = 2;
      return *own;
    }
    """
    file = tmp_path / "threads.c"
    file.write_text(text)
    result = load(file).invariants(whole_program=True)
    found = verdicts(result, "freed")
    assert found[13] == {Verdict.MAY_FAIL}
    assert found[14] == {Verdict.SAFE}  # there is no call in which it may have waited
    assert found[15] == {Verdict.SAFE}
    assert any("threads" in one for one in result.assumed)


def test_a_jump_comes_back_after_what_was_freed(tmp_path: Path) -> None:
    text = """
    #include <setjmp.h>
    #include <stdlib.h>
    static jmp_buf place;
    static void leave(int *p) { free(p); longjmp(place, 1); }
    int main(void) {
      int *p = malloc(4);
      if (!p) return 0;
      *p = 1;
      if (setjmp(place)) return *p;
      leave(p);
      return 0;
    }
    """
    file = tmp_path / "jumps.c"
    file.write_text(text)
    found = verdicts(load(file).invariants(whole_program=True), "freed")
    assert found[9] == {Verdict.SAFE}
    assert found[10] == {Verdict.MAY_FAIL}


def test_functions_outside_may_end_what_they_know(tmp_path: Path) -> None:
    text = """
    #include <stdlib.h>
    void unknown(void), keep(int *p);
    int main(void) {
      int *p = malloc(4), *q = malloc(4);
      if (!p || !q) return 0;
      keep(p);
      *p = *q = 1;
      unknown();
      return *q +
        *p;
    }
    """
    file = tmp_path / "outside.c"
    file.write_text(text)
    found = verdicts(load(file).invariants(whole_program=True), "freed")
    assert found[8] == {Verdict.SAFE, Verdict.MAY_FAIL}
    assert found[10] == {Verdict.SAFE}
    assert found[11] == {Verdict.MAY_FAIL}


def test_uses_behind_the_end_of_a_scope() -> None:
    """Clang marks the ends of scopes of C++: what may be used behind them is found."""
    file = Path(__file__).with_name("scopes.cpp")
    lines = enumerate(file.read_text().splitlines(), 1)
    said = {number for number, line in lines if "whole: may fail freed" in line}
    found = verdicts(load(file).invariants(whole_program=True), "freed")
    assert {line for line, one in found.items() if one != {Verdict.SAFE}} == said
    assert all(found[line] == {Verdict.MAY_FAIL} for line in said)
