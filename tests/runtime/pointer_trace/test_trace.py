"""What a run of a small program shows, fact by fact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.ir.codes import Opcode
from kleene.runtime import pointer_trace
from kleene.runtime.pointer_trace import NOTHING, NOWHERE, About, Event, Run
from tests.analyses.points_to.observing import Loaded, load
from tests.analyses.points_to.watching import callee_names, watch_of

Fact = tuple[str, str, str, int]


def _traced(tmp_path: Path, source: str, suffix: str = ".c") -> tuple[Loaded, Run]:
    file = tmp_path / f"program{suffix}"
    file.write_text(source)
    loaded = load(file)
    program = loaded.program
    rows = [r for r, n in callee_names(program).items() if n in ("malloc", "realloc", "_Znwm")]
    made = np.array(rows, np.int32) + np.int32(program.bases[4])
    watch = watch_of(program, made, np.full(len(made), AllocationKind.HEAP, np.int32))
    text = pointer_trace.instrument(loaded.text, watch)
    pointer_trace.build(text, tmp_path / "program", cxx=loaded.needs_cxx)
    return loaded, pointer_trace.run(tmp_path / "program")


def _name(loaded: Loaded, value: int) -> str:
    view = loaded.program.value_view(value)
    return view.variable or getattr(view, "name", "") or str(view)


def _facts(loaded: Loaded, run: Run, what: About) -> set[Fact]:
    """Return (value, kind, site, byte) in words, of one kind of fact."""
    found = set()
    for fact in run.facts[run.facts["what"] == what]:
        kind, site, byte = fact["at"].tolist()
        words = "nowhere" if kind == NOWHERE else AllocationKind(kind).name
        owner = _name(loaded, site) if site >= 0 else ""
        found.add((_name(loaded, int(fact["value"])), words, owner, byte))
    return found


def _values(loaded: Loaded, run: Run, name: str) -> set[tuple[str, str, int]]:
    return {fact[1:] for fact in _facts(loaded, run, About.VALUE) if fact[0] == name}


def test_storage_of_every_kind(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        #include <stdlib.h>
        struct pair { int a; int *b; };
        static struct pair global;
        static int *of_copy(struct pair p, long x[4]) { (void)x; return p.b; }
        struct large { long n[6]; int *p; };
        static int **inside(struct large given) { int **at = &given.p; **at = 3; return 0; }
        static _Thread_local int per_thread[2];
        int main(void) {
          struct pair local = {1, NULL};
          int **field = &local.b;
          struct pair *heap = malloc(3 * sizeof *heap);
          struct pair *second = heap + 1;
          *field = &second->a;
          int *loaded = *field;
          int *end = &per_thread[0] + 2;
          struct large large = {{0}, &local.a};
          inside(large);
          int (*compare)(const char *) = atoi;
          return of_copy(global, 0) || *loaded > end[-1] || !compare;
        }
        """,
    )
    assert run.status in (0, 1)
    assert _values(loaded, run, "field") == {("STACK", "local", 8)}
    assert _values(loaded, run, "second") == {("HEAP", "heap", 16)}
    assert _values(loaded, run, "loaded") == {("HEAP", "heap", 16)}
    assert _values(loaded, run, "end") == {("GLOBAL", "per_thread", 8)}
    assert _values(loaded, run, "at") == {("COPY", "0", 48)}


def test_frames_use_addresses_again(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        static int *volatile sink;
        static void one(void) { int first[16]; int *p = first; sink = p; }
        static void two(void) { int second[16]; int *q = second; sink = q; }
        int main(void) { one(); two(); one(); return 0; }
        """,
    )
    assert run.status == 0
    assert _facts(loaded, run, About.VALUE) >= {
        ("p", "STACK", "first", 0),
        ("q", "STACK", "second", 0),
    }
    assert ("p", "STACK", "second", 0) not in _facts(loaded, run, About.VALUE)


def test_calls_and_entries(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        #include <stdlib.h>
        static int up(const void *a, const void *b) { return *(int *)a - *(int *)b; }
        static int down(const void *a, const void *b) { return -up(a, b); }
        static int (*const table[])(const void *, const void *) = {up, down};
        int main(void) {
          int n[] = {3, 1, 2}, sum = 0;
          for (int i = 0; i < 2; i++) sum += table[i](&n[0], &n[1]);
          qsort(n, 3, sizeof *n, down);
          return n[0] != 3 || sum;
        }
        """,
    )
    assert run.status == 0
    calls = {fact[2] for fact in _facts(loaded, run, About.CALL)}
    assert calls == {"up", "down"}
    entered = {fact[0] for fact in _facts(loaded, run, About.ENTRY)}
    assert entered == {"main", "down"}  # `up` is called by the program only


def test_an_address_between_two_pieces_may_be_either(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        static char both[16];
        int main(int argc, char **argv) { char *end = both + argc + 15; return !argv || !end; }
        """,
    )
    facts = run.facts[run.facts["what"] == About.VALUE]
    (fact,) = [f for f in facts if _name(loaded, int(f["value"])) == "end"]
    sides = [fact["at"].tolist(), fact["or_at"].tolist()]
    both = next(v for v, n in enumerate(loaded.program.names.globals) if n == "both")
    assert (AllocationKind.GLOBAL, both, 16) in sides
    assert all(side[0] != NOTHING for side in sides)


def test_storage_of_a_size_known_at_run_time(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        int main(int argc, char **argv) {
          (void)argv;
          long numbers[argc + 3];
          long *last = &numbers[argc + 2];
          *last = 0;
          return (int)*last;
        }
        """,
    )
    assert run.status == 0
    assert _values(loaded, run, "last") == {("STACK", "numbers", 24)}


@pytest.mark.parametrize("how", ["abort()", "_Exit(3)", "__builtin_trap()"])
def test_a_program_that_dies_leaves_its_facts(tmp_path: Path, how: str):
    source = f"#include <stdlib.h>\nint main(void) {{ int x, *volatile p = &x; {how}; *p = 0; }}"
    loaded, run = _traced(tmp_path, source)
    assert run.status != 0
    assert ("x", "STACK", "x", 0) in _facts(loaded, run, About.VALUE)


def test_results_of_calls_that_may_throw(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        static int *pick(int n, int *p) { if (n > 2) throw p; return p; }
        int main() {
          int a = 0, b = 0, *last = nullptr;
          for (int i = 0; i < 4; i++) {
            int *got = nullptr;
            try {
              got = i ? pick(i, &a) : pick(i, &b);
            } catch (int *thrown) { last = thrown; }
            if (got) ++*got;
          }
          return last == &a && a == 2 && b == 1 ? 0 : 1;
        }
        """,
        ".cpp",
    )
    assert run.status == 0
    assert {fact[2] for fact in _facts(loaded, run, About.VALUE)} >= {"a", "b"}


def test_functions_that_must_be_inlined_end_no_frame_of_their_callers(tmp_path: Path):
    loaded, run = _traced(
        tmp_path,
        """
        static int *kept;
        static inline __attribute__((always_inline)) void note(int *p) { kept = p; }
        static int *passed(int *p) { return p; }
        int main(void) { int local = 0; note(&local); return *passed(&local); }
        """,
    )
    assert run.status == 0
    assert _values(loaded, run, "p") == {("STACK", "local", 0)}


def test_a_pointer_with_a_half_that_is_undefined_is_not_observed(tmp_path: Path):
    loaded, _ = _traced(
        tmp_path,
        """
        static int f(int n) { return n; }
        typedef int (*P)(int);
        int main(void) {
          P q = &f;
          union { P p; unsigned w[2]; } u, v;
          u.p = q;
          v.w[0] = u.w[0];
          v.w[1] = u.w[1];
          return v.p(0);
        }
        """,
    )
    program = loaded.program
    watch = watch_of(program, np.empty(0, np.int32), np.empty(0, np.int32))
    rows = np.flatnonzero(program.instructions.opcode == Opcode.INTTOPTR)
    assert [Event(int(watch.instructions.event[row])) for row in rows] == [Event.NONE, Event.VALUE]
