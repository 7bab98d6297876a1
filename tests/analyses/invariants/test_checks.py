"""Verdicts on checks are those that the comments of `checks.c` expect."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from kleene import SourceError, load
from kleene.analyses.invariants import InvariantsResult, Verdict
from kleene.analyses.invariants.instructions import PLAIN
from kleene.analyses.invariants.plan import DOMAINS
from kleene.ir import Program

from .conftest import CHECKS

PROVED = (Verdict.SAFE, Verdict.UNREACHABLE)
EXPECTED = re.compile(r"(safe|may fail|fails always|unreachable) (\w+)")


@pytest.fixture(scope="module")
def result(program: Program) -> InvariantsResult:
    return program.invariants()


def wrong_verdicts(result: InvariantsResult, file: Path) -> list[str]:
    """Return the verdicts that are other than what the comments of a file expect."""
    found: dict[tuple[int, str], set[str]] = defaultdict(set)
    for one in result.check_results():
        if one.span is not None:  # stores of parameters whose address is taken have no line
            found[one.span.line, one.kind.value].add(one.verdict.value)
    wrong = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        expected: dict[str, set[str]] = defaultdict(set)
        said = line.partition("// expect:")[2].partition("whole:")[0]
        for verdict, kind in EXPECTED.findall(said):
            expected[kind].add(verdict)
        for kind, verdicts in expected.items():
            if found[number, kind] != verdicts:
                wrong.append(
                    f"{number}: {kind}: {sorted(found[number, kind])}, not {sorted(verdicts)}"
                )
    return wrong


def test_verdicts_are_as_expected(result: InvariantsResult) -> None:
    assert not wrong_verdicts(result, CHECKS)


def test_storage_and_promises_of_cxx() -> None:
    file = CHECKS.with_name("cxx.cpp")
    result = load(file).invariants(whole_program=False)
    assert not wrong_verdicts(result, file)
    assert any("a reference, 'this'" in one for one in result.assumed)


@pytest.mark.parametrize("whole_program", [True, False])
@pytest.mark.parametrize(
    ("taken", "is_said"),
    [
        ("int *p = &g; { int x = 3; if (c) p = &x; }", True),
        ("int *p; { int x = 3; p = &x; }", True),
        ("int *p; for (int i = 0; i < 2; i++) { int x[2] = {3}; p = x + c; }", True),
        ("int *p; { int x; set(&p, &x); x = 3; }", True),
        ("int *p = &g;", False),
    ],
)
def test_uses_behind_the_end_of_a_block_are_said_to_be_unchecked(
    tmp_path: Path, taken: str, is_said: bool, whole_program: bool
) -> None:
    file = tmp_path / "scopes.c"
    file.write_text(
        "static inline __attribute__((always_inline)) void set(int **q, int *x) { *q = x; }\nint g;"
        f"int f(int c) {{ {taken} return *p; }}\nint main(int argc, char **v) {{ return f(argc); }}"
    )
    assumed = load(file).invariants(whole_program=whole_program, checks=("null",)).assumed
    assert any("locals live until" in one for one in assumed) == is_said


def test_uses_behind_the_end_of_a_scope() -> None:
    """Clang marks the ends of scopes of C++."""
    file = CHECKS.with_name("scopes.cpp")
    result = load(file).invariants(whole_program=False)
    assert not wrong_verdicts(result, file)
    freed = [one for one in result.check_results(["freed"]) if one.verdict not in PROVED]
    said = re.findall("expect:.*(?:fails always|may fail) freed", file.read_text())
    assert len(freed) == len(said)
    assert not any("locals live until" in one for one in result.assumed)
    assert any("the same one in each of its iterations" in one for one in result.assumed)


def test_locals_of_an_inlined_function_are_not_used_behind_it(tmp_path: Path) -> None:
    """The uses of what it returns, or has kept, are not proved to be inside of these locals."""
    file = tmp_path / "returned.c"
    file.write_text(
        "int *kept;\n"
        "static int *one(int *p) { int x = 3; if (!*p) p = &x; *p = 2; return p; }\n"
        "static void two(int **q) { int x = 3; *q = &x; }\n"
        "static int three(int n) { int x = n, y = kept ? *kept : 0;\n"
        "  kept = &x; return x ^ y; }\n"
        "int f(int n) { int *p = one(&n);\n"
        "  return *p; }\n"
        "int g(int n) { int *p = &n; if (n > 3) two(&p);\n"
        "  return *p; }\n"
        "int h(int n) { kept = 0; three(n); return three(n); }\n"
    )
    result = load(file).invariants(whole_program=False)
    unproved = [one for one in result.check_results(["bounds"]) if one.verdict not in PROVED]
    assert {one.span.line for one in unproved if one.span} == {4, 7, 9}


def test_accesses_outside_of_locals_are_seen() -> None:
    file = CHECKS.with_name("beyond_locals.c")
    program = load(file)
    assert not wrong_verdicts(program.invariants(whole_program=False), file)
    open_ = {
        one.span.line
        for one in program.invariants(whole_program=True).check_results(["bounds"])
        if one.span is not None and not one.is_proved
    }
    lines = file.read_text().splitlines()
    assert open_ == {n for n, line in enumerate(lines, 1) if re.search("fails|may fail", line)}


def test_what_some_caller_reaches_is_not_unreachable(tmp_path: Path) -> None:
    """Nor is a check that the argument of that caller answers: of a constant divisor, of null."""
    file = tmp_path / "reached.c"
    file.write_text(
        "int __VERIFIER_nondet_int(void);\n"
        "static int rest(int a, int b) { return a % b; }\n"
        "static int at(int *p, int i) { return p[i]; }\n"
        "int main(void) {\n"
        "  int here[4] = {1, 2, 3, 4}, *none = 0, k = __VERIFIER_nondet_int();\n"
        "  if (k > 5 && k < 3) return rest(k, -1) + at(none, 2);\n"
        "  return rest(k, 2) + at(here, 3); }\n"
    )
    result = load(file).invariants(whole_program=False)
    found = {
        (one.span.line, one.kind.value): one.verdict
        for one in result.check_results()
        if one.span is not None and one.span.line < 4
    }
    kinds = {(2, "division"), (2, "overflow"), (3, "bounds"), (3, "null"), (3, "uninitialised")}
    assert found == dict.fromkeys(kinds, Verdict.SAFE)


def test_nested_loops_over_a_pointer_and_unsigned_counters_are_reached(tmp_path: Path) -> None:
    """Templates are mined here that relate all of these."""
    file = tmp_path / "nested.c"
    file.write_text(
        "static char buffer[81];\n"
        "int main(void) {\n"
        "  for (unsigned long first = 0; first < 8; first++)\n"
        "    for (unsigned long length = 0; length < 64; length++) {\n"
        "      char *p = buffer;\n"
        "      for (unsigned long i = 0; i < first; i++) p++;\n"
        "      for (unsigned long i = 0; i < length; i++) p++;\n"
        "      p++;\n"
        "      for (unsigned long i = 0; i < 8; i++) p++;\n"
        "      *p = 1;\n"
        "    }\n"
        "  return 2; }\n"
    )
    (facts,) = load(file).invariants(domain="relational", whole_program=False).at("nested.c:10")
    assert facts.cases == (("first <= 7", "length <= 63"),)


def test_states_are_not_kept_apart_where_that_takes_long_unless_told(tmp_path: Path) -> None:
    loops = "".join(f"for (int {k} = 0; {k} < h(0) && {k} < 9; {k}++) " for k in "abcdef")
    file = tmp_path / "large.c"
    file.write_text(f"int h(int);\nint large(int x) {{\n{loops} x += h(a + f);\n  return x;\n}}\n")
    program = load(file)
    (found,) = program.invariants().functions
    assert found.domain == "relational"
    assert any("--domain" in note for note in found.notes)
    (told,) = program.invariants(domain="partitioned", time_s=0.01).functions
    assert any("given up" in note for note in told.notes)  # so it was tried


def test_cheaper_domains_prove_less_and_nothing_else(program: Program) -> None:
    before: set[tuple[int, str]] = set()
    found: list[int] = []
    names = ("count_up", "follow_limit", "linear", "first_round", "phases")
    for domain in DOMAINS:
        result = program.invariants(domain=domain, functions=names)
        proved = {(one.instruction, one.kind) for one in result.checks if one.is_proved}
        assert before <= proved
        found.append(len(before := proved))
    assert len(set(found)) >= 4


def test_signed_overflow_may_wrap(program: Program) -> None:
    result = program.invariants(functions=("any_sum",), wraps=True)
    assert not result.check_results(["overflow"])


def test_a_kind_of_checks_can_be_chosen(program: Program) -> None:
    result = program.invariants(functions=("heap_unchecked",), checks=("bounds",))
    assert [one.verdict for one in result.checks] == [Verdict.SAFE, Verdict.FAILS]
    assert "known there" in result.explain(result.checks[1])


def test_time_that_is_over_leaves_cheaper_results(program: Program) -> None:
    result = program.invariants(functions=("follow_limit",), time_s=1e-9)
    assert {one.verdict for one in result.checks} == {Verdict.MAY_FAIL}
    assert "was given up" in result.functions[0].notes[0]


def test_invariants_at_a_line(result: InvariantsResult, program: Program) -> None:
    line = next(
        number
        for number, text in enumerate(CHECKS.read_text().splitlines(), 1)
        if "assert(i == n);  // expect: safe" in text
    )
    (facts,) = program.invariants(domain="octagon", functions=("follow_limit",)).at(
        f"checks.c:{line}"
    )
    assert str(facts) == "0 <= i && 0 <= n && i - n == 0"
    with pytest.raises(SourceError) as refused:
        result.at("checks.c:1")
    assert refused.value.id == "invariants/no-such-place"


@pytest.mark.parametrize("time_s", [0.0, 1e-9])
def test_nothing_is_supposed_of_a_function_that_is_not_analysed(
    tmp_path: Path, time_s: float
) -> None:
    """`a` is tried as an array of `n` elements, in a check of its own, where there is a run."""
    file = tmp_path / "refused.c"
    test = "if (setjmp(j)) return 0; " if time_s == 0.0 else ""
    file.write_text(
        "#include <setjmp.h>\njmp_buf j;\nint sum(int *a, int n) { "
        f"{test}int s = 0; for (int i = 0; i < n; i++) s |= a[i]; return s; }}"
    )
    checks = load(file).invariants(time_s=time_s).check_results(["bounds"])
    assert [(one.verdict, one.message) for one in checks] == [(Verdict.MAY_FAIL, PLAIN)]


def test_whole_programs_say_that_all_strings_are_taken_to_end(tmp_path: Path) -> None:
    file = tmp_path / "strings.c"
    file.write_text(
        "#include <string.h>\nint main(int argc, char **argv)"
        " { char b[4]; strncpy(b, argv[0], 4); return (int)strlen(b); }"
    )
    whole, single = (load(file).invariants(whole_program=one) for one in (True, False))
    assert (
        "strings that the C library reads are terminated inside of their objects" in whole.assumed
    )
    assert (
        "strings that the C library reads are terminated inside of their objects"
        not in single.assumed
    )
    assert any("strings" in one and "unknown objects" in one for one in single.assumed)


@pytest.mark.parametrize(
    ("options", "id"),
    [
        ({"domain": "polyhedra"}, "invariants/no-such-domain"),
        ({"checks": ("luck",)}, "invariants/no-such-check"),
        ({"functions": ("nobody",)}, "invariants/no-such-function"),
    ],
)
def test_what_is_not_there_is_refused(program: Program, options: dict[str, str], id: str) -> None:
    with pytest.raises(SourceError) as refused:
        program.invariants(**options)  # type: ignore[arg-type]
    assert refused.value.id == id


@pytest.mark.parametrize("name", ["atomics.c", "exceptions.cpp"])
def test_programs_that_run_to_their_end_have_no_unreachable_checks(name: str) -> None:
    result = load(CHECKS.parents[2] / "programs" / "c" / name).invariants(domain="interval")
    wrong = {Verdict.FAILS, Verdict.UNREACHABLE}
    assert not [str(one) for one in result.checks if one.verdict in wrong]


@pytest.mark.parametrize(
    ("name", "needed", "why"),
    [
        ("count_too_far", "i <= 8", "an iteration of the loop may not preserve it"),
        ("any_division", "x != 0", "nothing is known of it when the function is entered"),
        ("global_changes", "", "code that is not followed may write to it here"),
        ("unsigned_below_zero", "", "it may wrap around here"),
        ("second_side_never_holds", "", ""),
    ],
)
def test_what_was_lost_is_told(result: InvariantsResult, name: str, needed: str, why: str) -> None:
    (check,) = [one for one in result.checks if one.function == name and not one.is_proved]
    assert needed in check.lost
    assert why in check.lost
    assert check.lost in result.explain(check)
    assert not why or str(check.span).split(":")[0].endswith("checks.c")
    assert "checks.c:" in check.lost


def test_dead_code_is_found_if_it_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "dead.c"
    file.write_text("""#include <assert.h>
extern int unknown(void);
static int limited(int x, int is_loud) {
  if (is_loud)
    return unknown();
  return x > 9 ? 9 : x;
}
int f(int x) {
  int y = limited(x, 0);
  if (y > 9)
    return unknown();
  if (x > 3 && x < 3) {
    x = unknown();
    while (x)
      x = unknown();
  }
  assert(y <= 9);
  return limited(y, 0);
}
""")
    program = load(file)
    found = program.invariants(checks=("dead-code",)).checks
    assert [(one.span.line, one.verdict) for one in found if one.span] == [
        (5, Verdict.FAILS), (11, Verdict.FAILS), (13, Verdict.FAILS),
    ]  # fmt: skip
    named = program.invariants(checks=("dead-code",), functions=("f",)).checks
    assert [one.span.line for one in named if one.span] == [11, 13]
    assert not program.invariants().check_results(["dead-code"])
