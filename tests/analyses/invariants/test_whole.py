"""Whole programs: verdicts, what holds at lines, and what cannot be followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import InvariantsResult, Verdict
from kleene.analyses.invariants.whole import EVALUATIONS_A_SECOND
from tests.analyses.dataflow.outside import load as load_with_text

from .outside import check

PROGRAMS = Path(__file__).parents[2] / "programs" / "c"


def analysed(text: str, folder: Path, **options: object) -> InvariantsResult:
    file = folder / "program.c"
    file.write_text(text)
    return load(file).invariants(whole_program=True, **options)  # type: ignore[arg-type]


def verdicts(result: InvariantsResult, kind: str, function: str = "") -> list[Verdict]:
    return [one.verdict for one in result.check_results([kind]) if function in ("", one.function)]


CALLS = """
#include <stdlib.h>
static int table[16];
static int at(int i) { return table[i]; }
static int last(int *p, int n) { return p[n - 1]; }
int main(int argc, char **argv) {
  int local[4] = {argc};
  int sum = at(argc & 15) + last(local, 4);
  for (int i = 0; i < 16; i++) sum = (sum + at(i)) & 1023;
  return 100 / ((sum & 1023) + 1);
}
"""


def test_arguments_are_those_of_all_callers(tmp_path: Path) -> None:
    result = analysed(CALLS, tmp_path)
    assert set(verdicts(result, "bounds", "at")) == {Verdict.SAFE}
    assert set(verdicts(result, "bounds", "last")) == {Verdict.SAFE}
    assert set(verdicts(result, "division")) == {Verdict.SAFE}
    (facts,) = result.at("program.c:4")
    assert "0 <= i" in str(facts)
    assert "i <= 15" in str(facts)


HEAP = """
#include <stdlib.h>
struct list { struct list *next; int size; int *data; };
int *filled(int n) {
  int *p = malloc((unsigned long)n * sizeof *p);
  if (!p || n < 1) return 0;
  for (int i = 0; i < n; i++) p[i] = i;
  return p;
}
int main(int argc, char **argv) {
  struct list one = {0, 8, 0};
  int buffer[8];
  one.data = buffer;
  one.data[7] = 1;
  one.data[argc & 8] = 1;
  return filled(argc) != 0;
}
"""


def test_octagons_relate_an_index_to_the_size_of_the_heap(tmp_path: Path) -> None:
    result = analysed(HEAP, tmp_path, domain="octagon")
    found = [one for one in result.check_results(["bounds"]) if one.function == "filled"]
    assert [(one.verdict, one.proved_by) for one in found] == [(Verdict.SAFE, "octagon")]
    by_intervals = analysed(HEAP, tmp_path, domain="interval")
    assert verdicts(by_intervals, "bounds", "filled") == [Verdict.MAY_FAIL]


def test_offsets_go_through_fields_of_structs(tmp_path: Path) -> None:
    result = analysed(HEAP, tmp_path)
    lines = {one.span.line: one.verdict for one in result.check_results(["bounds"]) if one.span}
    assert lines[14] is Verdict.SAFE
    assert lines[15] is Verdict.MAY_FAIL  # argc & 8 is 0 or 8


def test_an_unproved_check_has_the_bounds_of_what_it_is_about(tmp_path: Path) -> None:
    text = """
    int main(int argc, char **argv) {
      int buffer[8] = {0}, n = argc & 31;
      buffer[argc & 8] = argc;
      if (argc > 3) n += argc * 3;
      return 100 / (buffer[1] & 7);
    }
    """
    result = analysed(text, tmp_path)
    found = {(one.kind.value, one.message[:3]): one for one in result.checks if not one.is_proved}
    assert {key: one.state for key, one in found.items()} == {
        ("bounds", "the"): "0 <= offset && offset <= 32 && size == 32",
        ("overflow", "'*'"): "4 <= argc",
        ("overflow", "'+'"): "0 <= n && n <= 31 && 12 <= the right operand",
        ("division", "the"): "0 <= the divisor && the divisor <= 7",
    }
    assert "known there: 4 <= argc" in result.explain(found["overflow", "'*'"])
    assert not any(one.state for one in result.checks if one.is_proved)


def test_a_pointer_out_of_its_object_stays_out(tmp_path: Path) -> None:
    """Points-to forgets where such a pointer points; its offset is still known."""
    text = """
    int main(int argc, char **argv) {
      int a[4] = {0}, b[4] = {0};
      int *p = argc > 1 ? a + 100 : b;
      int *q = p;
      return *q;
    }
    """
    assert Verdict.SAFE not in verdicts(analysed(text, tmp_path), "bounds", "main")[-1:]


ACCESSED = """
struct node { int first, second; struct node *next; };
int twice(struct node *p) {
  p->second = 1;
  p->first = 2;
  return p->second + p->first;
}
int between(char *p) {
  int s = p[8] + p[-3];
  return s + p[7] + p[0] + p[9] + p[-4];
}
int one_side(struct node *p, int c) {
  if (c) p->second = 1;
  return p->second;
}
int both_sides(struct node *p, int c) {
  if (c) p->second = 1; else p->second = 2;
  return p->second;
}
int list(struct node *p) {
  int n = 0;
  while (p) {
    n ^= p->second;
    n ^= p->second;
    p = p->next;
  }
  return n;
}
int other(struct node *p, struct node *q) {
  p->first = 1;
  return q->first;
}
static int callee(struct node *p) { return p->second; }
int caller(struct node *p) { p->second = 1; return callee(p); }
"""
MAY, YES = Verdict.MAY_FAIL, Verdict.SAFE


def test_bytes_between_two_that_were_accessed_are_inside(tmp_path: Path) -> None:
    """Whatever the object is: a run ends where the access before them fails its check."""
    result = analysed(ACCESSED, tmp_path, domain="interval")
    assert verdicts(result, "bounds", "twice") == [MAY, MAY, YES, YES]
    assert verdicts(result, "bounds", "between") == [MAY, MAY, YES, YES, MAY, MAY]
    assert verdicts(result, "bounds", "one_side") == [MAY, MAY]
    assert verdicts(result, "bounds", "both_sides") == [MAY, MAY, YES]
    assert verdicts(result, "bounds", "list") == [MAY, YES, MAY]  # `next` is behind `second`
    assert verdicts(result, "bounds", "other") == [MAY, MAY]
    assert verdicts(result, "bounds", "callee") == [YES]  # its only caller has been there


def test_accesses_tell_nothing_where_undefined_behaviour_goes_on(tmp_path: Path) -> None:
    result = analysed(ACCESSED, tmp_path, domain="interval", wraps=True)
    assert set(verdicts(result, "bounds")) == {MAY}


def test_room_behind_a_pointer_is_that_in_each_object(tmp_path: Path) -> None:
    """Offsets 0 to 24 and sizes 8 to 32 would leave no room."""
    text = """
    int main(int argc, char **argv) {
      int small[2] = {1, 2}, large[8] = {0};
      int *p = argc > 1 ? small : large + 6;
      return p[1] + p[2];
    }
    """
    result = analysed(text, tmp_path, domain="interval")
    assert verdicts(result, "bounds", "main")[-2:] == [YES, MAY]


def test_a_run_ends_where_it_reads_what_nobody_wrote(tmp_path: Path) -> None:
    text = """
    int main(int argc, char **argv) {
      int n[2];
      if (argc > 5) n[argc & 1] = 3;
      return 10 / n[argc & 1];
    }
    """
    result = analysed(text, tmp_path)
    assert verdicts(result, "uninitialised") == [Verdict.MAY_FAIL]
    assert verdicts(result, "division") == [Verdict.SAFE]
    assert any("reads uninitialised memory" in one for one in result.assumed)


BAD = {
    "assembly": 'int f(int n) { int r; __asm__("mov %1, %0" : "=r"(r) : "r"(n)); return 9 / r; }',
    "setjmp": (
        "#include <setjmp.h>\njmp_buf b; int f(int n) { if (setjmp(b)) return 9 / n; return 0; }"
    ),
    "threads": (
        "#include <pthread.h>\nstatic int g = 1; static void *t(void *p) { g = 0; return p; }\n"
        "int f(int n) { pthread_t h; pthread_create(&h, 0, t, 0); return 9 / g; }"
    ),
    "no target": "int (*nowhere)(int); int f(int n) { return 9 / nowhere(n); }",
    "recursion": "int f(int n) { return n ? 9 / (f(n - 1) - n) : 0; }",
    "missing body": "int missing(int); int f(int n) { return 9 / missing(n); }",
    "variadic": (
        "#include <stdarg.h>\nint f(int n, ...) { va_list v; va_start(v, n);"
        " int k = va_arg(v, int); va_end(v); return 9 / k; }"
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_followed_is_any_value_and_the_rest_is_answered(
    name: str, tmp_path: Path
) -> None:
    """The divisor of `f` is not known; `other` is safe all the same."""
    text = BAD[name] + "\nint other(int n) { return n > 0 && n < 5 ? 100 / n : 0; }\n"
    result = analysed(text, tmp_path, domain="octagon")
    assert verdicts(result, "division", "f") == [Verdict.MAY_FAIL]
    assert verdicts(result, "division", "other") == [Verdict.SAFE]


def test_functions_left_to_intervals_are_named(tmp_path: Path) -> None:
    text = """
    #include <setjmp.h>
    jmp_buf b;
    int f(int *p, int n, int m) {
      int s = 0;
      if (setjmp(b)) return n;
      for (int i = m; i < n; i++) s += i - m;
      return s;
    }
    """
    result = analysed(text, tmp_path, domain="octagon")
    assert any("setjmp" in note for one in result.functions for note in one.notes)


COMPOUND = """
int a[10];
int more(void);
int and(void) { int s = 0; for (int i = 0; i < 10 && more(); i++) s ^= a[i]; return s; }
int not_or(void) { int s = 0, i = 0; while (!(i >= 10 || more())) s ^= a[i++]; return s; }
int three(int n) {
  int s = 0, i = 0;
  while (i < 10 && more() && n != 7) { s ^= a[i]; i++; n = more(); }
  return s;
}
int related(int n) {
  int s = 0, i = 0;
  if (n < 10) while (i < n && more()) s ^= a[i++];
  return s;
}
int either(void) { int s = 0; for (int i = 0; i < 10 || more(); i++) s ^= a[i]; return s; }
int stale(void) {
  int s = 0, i = 0;
  _Bool c = 0;
  do {
    i = more();
    if (c) s ^= a[i];
    c = i >= 0 && i < 10;
  } while (more());
  return s;
}
int swapped(int i, int k) {
  int s = 0;
  while (k >= 0 && k < 10 && more()) { int t = i; i = k; k = t; s ^= a[k]; }
  return s;
}
"""


@pytest.mark.parametrize("domain", ["interval", "octagon"])
def test_conditions_on_the_way_to_a_choice_hold_behind_it(domain: str, tmp_path: Path) -> None:
    """`while (x && y)` is a branch on φ(false, y), and x is known no more where its edges meet."""
    result = analysed(COMPOUND, tmp_path, domain=domain)
    for function in ("and", "not_or", "three"):
        assert verdicts(result, "bounds", function) == [YES], function
    assert verdicts(result, "bounds", "related") == [YES if domain == "octagon" else MAY]
    for function in ("either", "stale", "swapped"):  # what was tested is another number by now
        assert verdicts(result, "bounds", function) == [MAY], function


def test_loops_until_two_numbers_are_equal(tmp_path: Path) -> None:
    """As optimised code has them: `i != n` leaves i < n where i <= n was known."""
    text = """
    int a[8];
    int until(int n) {
      int i = 0, s = 0;
      if (n < 1 || n > 8) return 0;
      do s ^= a[i]; while (++i != n);
      return s;
    }
    int past(int n) {
      int i = 0, s = 0;
      if (n < 0 || n > 8) return 0;
      do s ^= a[i]; while (++i != n);
      return s;
    }
    int wide(int n, long m) {
      int s = 0;
      for (long i = 0; i < n; i++) s ^= 1;
      for (long i = 0; i != m; i++) s ^= 1;
      return s;
    }
    """
    result = analysed(text, tmp_path, domain="octagon")
    assert verdicts(result, "bounds", "until") == [YES]
    assert verdicts(result, "bounds", "past") == [MAY]  # n may be 0
    assert verdicts(result, "overflow", "wide") == [YES, MAY]


STORES = """
int g, a[10], *where;
int more(void);
void give(int *p);
static int counted(void) { int s = 0; for (g = 0; g < 10; g++) s ^= a[g]; return s; }
static int chosen(int m) {
  int k, *p = &k;
  if (m) k = 3; else k = 7;
  int s = a[*p];
  give(p);
  return s;
}
static int by_address(int m) {
  int v[10] = {m}, k = 0, *p = &k;
  for (*p = 0; *p < 10; (*p)++) v[*p] = 1;
  give(p);
  return v[m & 7];
}
static int pointer(int m) {
  int v[10] = {m}, w[2] = {m, m};
  where = v;
  if (m) where = v + 2;
  int s = where[7];
  where = w;
  return s;
}
static int after_call(void) { g = 3; more(); return a[g]; }
static int weak(int m) {
  int k = 3, n = 100, *p = m ? &k : &n;
  *p = 5;
  int s = a[n];
  give(&n);
  return s;
}
static int before(void) { int s = a[g]; g = 3; return s; }
int main(int argc, char **argv) {
  g = argc;
  int s = counted() + chosen(argc) + by_address(argc) + pointer(argc);
  return s + after_call() + weak(argc) + before();
}
"""


def test_loads_read_what_was_stored_last(tmp_path: Path) -> None:
    """Whatever is stored there at other times: `g` gets any number in main, `where` two places."""
    result = analysed(STORES, tmp_path, domain="interval")
    for function in ("counted", "chosen", "by_address", "pointer"):
        assert set(verdicts(result, "bounds", function)) == {YES}, function
    for function in ("after_call", "weak", "before"):
        assert MAY in verdicts(result, "bounds", function), function


@pytest.mark.parametrize(
    "text",
    [
        "#include <setjmp.h>\nstatic int g; static jmp_buf b; static void h(void) { g = 0;"
        " longjmp(b, 1); }\nint f(void) { g = 1; if (setjmp(b)) return 9 / g; h(); return 0; }",
        "#include <pthread.h>\nstatic int g; pthread_mutex_t m; static void *t(void *p) { g = 0;"
        " return p; }\nint f(void) { pthread_t x; pthread_create(&x, 0, t, 0); g = 5;"
        " pthread_mutex_unlock(&m); pthread_mutex_lock(&m); return 9 / g; }",
        "#include <signal.h>\nstatic int g; static void h(int n) { g = 0; }\n"
        "int f(int n) { signal(2, h); g = 5; if (n) g = 6; return 9 / g; }",
        "#include <signal.h>\n#include <time.h>\nstatic int g;\n"
        "static void h(union sigval n) { g = 0; }\n"
        "int f(int n) { struct sigevent e = {.sigev_notify = SIGEV_THREAD}; timer_t t;"
        " e.sigev_notify_function = h; timer_create(0, &e, &t);"
        " g = 5; if (n) g = 6; return 9 / g; }",
    ],
    ids=["setjmp", "threads", "signals", "timers"],
)
def test_others_may_store_in_between(text: str, tmp_path: Path) -> None:
    assert verdicts(analysed(text, tmp_path), "division", "f") == [MAY]


def test_dead_code_is_found_in_whole_programs(tmp_path: Path) -> None:
    text = """
    #include <assert.h>
    static int level;
    static int never(int n) { return n + level; }
    static int twice(int n) {
      if (n > 7)
        return never(n);
      assert(n < 8);
      return 2 * n;
    }
    int main(int argc, char **argv) {
      if (level)
        level = 2;
      return twice(argc & 7);
    }
    """
    result = analysed(text, tmp_path, checks=("dead-code",))
    found = [(one.span.line, one.verdict) for one in result.checks if one.span]
    assert found == [(7, Verdict.FAILS), (13, Verdict.FAILS)]  # of `never`, its call is said
    assert not analysed(text, tmp_path, checks=("assert",)).check_results(["dead-code"])


def test_behind_a_check_only_that_holds_which_it_asks(tmp_path: Path) -> None:
    """It is asked for more where that is sure to be enough: of two sizes the least."""
    text = """
    #include <assert.h>
    static int small[4], big[100];
    int one(int i) { small[i] = 1; for (int k = 0; k <= i; k++) assert(k <= 3); return 0; }
    int two(int c, int i) {
      int *p = c ? small : big;
      p[i] = 1;
      for (int k = 0; k <= i; k++) assert(k <= 3);
      return 0;
    }
    int inner(int c, int i) {
      int *p = c ? big : big + 50;
      p[i] = 1;
      for (int k = 0; k >= i; k--) assert(k >= 0);
      return 0;
    }
    long far(long n) {
      long x = n + 1;
      for (long k = 0; k <= n; k++) assert(k <= 600000000000);
      return x;
    }
    """
    result = analysed(text, tmp_path, domain="octagon")
    found = {name: verdicts(result, "assert", name) for name in ("one", "two", "inner", "far")}
    assert found == {"one": [YES], "two": [MAY], "inner": [MAY], "far": [MAY]}


def test_counters_of_one_loop_are_related(tmp_path: Path) -> None:
    text = """
    int a[8];
    int both(void) { int s = 0; for (int i = 0, j = 0; i < 8; i++, j++) s ^= a[j]; return s; }
    int apart(int c) {
      int s = 0;
      for (int i = 0, j = 0; i < 8; i++, j += c) s ^= a[j];
      return s;
    }
    """
    result = analysed(text, tmp_path, domain="octagon")
    assert verdicts(result, "bounds", "both") == [YES]
    assert verdicts(result, "bounds", "apart") == [MAY]


LOOPS = """
int busy(int n, int m) {
  int a[8] = {0}, s = 0;
  for (int i = 0; i < n; i++) if (n < 8) s ^= a[i];
  for (int i = 0; i < m; i++) if (m < 8) s ^= a[i];
  return s;
}
int quick(int n) {
  int a[4] = {0};
  for (int i = 0; i < n; i++) if (n < 4) return a[i];
  return 0;
}
"""


def test_octagons_of_a_function_have_as_much_work_as_is_given(tmp_path: Path) -> None:
    """Work is counted, and no clock is read: what is given up does not depend on the machine."""
    free = analysed(LOOPS, tmp_path, domain="octagon")
    assert not any(one.notes for one in free.functions)
    most = 40 / EVALUATIONS_A_SECOND  # nodes of packs: enough for the one function
    short = analysed(LOOPS, tmp_path, domain="octagon", time_s=most)
    notes = [note for one in short.functions for note in one.notes]
    assert notes == ["octagons were given up in busy: the time for it is over; intervals stand"]
    by_interval = analysed(LOOPS, tmp_path, domain="interval")
    for function, expected in (("busy", by_interval), ("quick", free)):
        for kind in ("bounds", "overflow"):
            assert verdicts(short, kind, function) == verdicts(expected, kind, function)
    assert verdicts(short, "bounds", "busy") != verdicts(free, "bounds", "busy")
    enough = analysed(LOOPS, tmp_path, domain="octagon", time_s=1.0)
    assert [one.verdict for one in enough.checks] == [one.verdict for one in free.checks]


def test_large_programs_are_whole_by_themselves(tmp_path: Path) -> None:
    body = "\n".join(f"  s += a[{k} & 7] / (b | 1);" for k in range(600))
    text = f"int f(int *a, int b) {{\n int s = 0;\n{body}\n return s;\n}}\n"
    text += "int small(int n) { return n / 2; }"
    file = tmp_path / "large.c"
    file.write_text(text)
    program = load(file)
    assert len(program.instructions) > 3000
    result = program.invariants()
    assert result.whole is not None
    assert {one.domain for one in result.functions} == {"octagon"}
    assert program.invariants(functions=("small",), domain="interval").whole is None


@pytest.mark.parametrize("name", ["state_machine.c", "growing_array.c"])
def test_traced_runs_of_programs(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    text, program = load_with_text(PROGRAMS / name)
    _, n_seen, wrong = check(text, program, [[], ["x", "yy"]], tmp_path)
    assert n_seen > 50
    assert not wrong


def test_nothing_is_said_of_a_variable_before_it_has_a_value(tmp_path: Path) -> None:
    """In the first round the variable that the body sets has none."""
    text = """
    extern int any(void);
    int main(void) {
      int kind, n = 0;
      do {
        n ^= any();
        kind = any() & 3;
        n ^= kind;
      } while (any());
      return n;
    }
    """
    result = analysed(text, tmp_path)
    assert "kind" not in str(result.at("program.c:6")[0])
    assert "kind <= 3" in str(result.at("program.c:8")[0])


STREAMS = """
#include <stdio.h>
extern int sized[4], unsized[];
FILE *mine;
int main(int argc, char **argv) {
  fputs("a", stdout);
  fputs("b", mine);
  return sized[argc & 3] + unsized[0];
}
"""


def test_streams_are_not_null_and_declared_arrays_have_their_size(tmp_path: Path) -> None:
    result = analysed(STREAMS, tmp_path, domain="interval")
    calls = [one for one in result.check_results(["null"]) if one.message.endswith("not null")]
    found = {one.span.line: one.verdict for one in calls if one.span is not None}
    assert found[6] is Verdict.SAFE
    assert found[7] is not Verdict.SAFE
    at = {(one.state, one.verdict) for one in result.check_results(["bounds"])}
    assert ("offset == 0", Verdict.MAY_FAIL) in at  # of `unsized`
    assert sum(verdict is Verdict.MAY_FAIL for _, verdict in at) == 1


def test_a_stream_that_the_program_sets_may_be_null(tmp_path: Path) -> None:
    text = STREAMS.replace('fputs("a"', 'stdout = argc > 2 ? stdin : 0; fputs("a"')
    result = analysed(text, tmp_path, domain="interval")
    found = [one for one in result.check_results(["null"]) if one.span and one.span.line == 6]
    assert Verdict.MAY_FAIL in {one.verdict for one in found}


def test_arguments_of_main_are_as_many_as_argc_says(tmp_path: Path) -> None:
    """Also where argc is read as unsigned; a null pointer is behind them."""
    body = """
    int at(unsigned);
    int last(char **, int);
    int main(int argc, char **argv) {
      if (argc < 3) return argc > 0 ? argv[0] == 0 : argv[0] != 0;
      char *first = argv[1], *second = argv[2], *end = argv[3];
      char *none = argv[4];
      for (int i = argc - 1; i >= 0; i--)
        if (argv[i] == first) at(argc);
      return last(argv, argc) + (second == end) + (none == 0);
    }
    int last(char **given, int n) { return given[n] == 0; }
    """
    file = tmp_path / "main.c"
    file.write_text(body)
    for is_whole in (False, True):
        result = load(file).invariants(whole_program=is_whole, domain="octagon")
        bounds = result.check_results(["bounds", "null"])
        lines = {one.span.line for one in bounds if one.span and not one.is_proved}
        assert lines <= {7, 12}, is_whole
        assert 7 in lines


@pytest.mark.parametrize(
    "call", ["return argc == 7 ? main(3, argv + 4) : 0;", "return use(main);", "argv++; argc += 2;"]
)
def test_other_callers_of_main_pass_other_arguments(tmp_path: Path, call: str) -> None:
    file = tmp_path / "main.c"
    text = "int use(int (*)(int, char **));\nint main(int argc, char **argv) {\n"
    file.write_text(f"{text}  {call}\n  return argv[argc] != 0;\n}}\n")
    found = load(file).invariants(whole_program=True, domain="octagon").check_results(["bounds"])
    open_ = [one for one in found if not one.is_proved]
    assert open_ or call.startswith("return")  # behind a `return` is nothing
