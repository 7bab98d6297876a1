"""Printed invariants compile, hold on runs of the compiled program, and are in the right form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kleene import SourceError, load
from kleene.analyses.invariants.annotations import Annotations
from kleene.analyses.invariants.statements import Shape
from tests.seeds import seeds

from .generator import generated

ROOT = Path(__file__).resolve().parents[3]
SEARCH = ROOT / "examples" / "invariants" / "search.c"
FUNCTIONS = seeds(8, deep=60)
# Runs end where C does not say what happens: at a trap of the sanitizer, or in an endless loop.
HARNESS = """
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static sigjmp_buf back;
static unsigned state;
static long steps;
static void stop(int number) { siglongjmp(back, 1); }
#define HOLDS(e) do { if (++steps > 20000) siglongjmp(back, 1); \\
  if (!(e)) { printf("line %d: %s\\n", __LINE__, #e); exit(1); } n_holds++; } while (0)
static long n_holds;
unsigned unknown_unsigned(void) {
  state = state * 1664525u + 1013904223u;
  if (++steps > 20000) siglongjmp(back, 1);
  return state >> 28 > 2 ? (state >> 20) % 23 - 5u : state;
}
int unknown(void) { return (int)unknown_unsigned(); }
double unknown_double(void) {
  int x = unknown();
  return x % 7 == 1 ? 0.0 / 0.0 : x % 7 == 2 ? x / 0.0 : x / 8.0;
}
void __assert_fail(const char *a, const char *b, unsigned c, const char *d) { siglongjmp(back, 1); }
"""
MAIN = """
static void (*const functions[])(int, int) = {FUNCTIONS};
int main(void) {
  signal(SIGILL, stop); signal(SIGTRAP, stop); signal(SIGFPE, stop); signal(SIGSEGV, stop);
  signal(SIGABRT, stop); signal(SIGALRM, stop);
  for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
    for (unsigned seed = 0; seed < 200; seed++) {
      state = seed * 7919u + k; steps = 0;
      if (sigsetjmp(back, 1)) continue;
      int a = unknown(), b = unknown();
      functions[k](a, b);
    }
  printf("%ld\\n", n_holds);
}
"""


def compiled(file: Path, *words: str) -> Path:
    pytest.importorskip("ziglang", reason="the package ziglang compiles and links")
    binary = file.with_suffix("")
    cc = [sys.executable, "-m", "ziglang", "cc", "-w", "-O1", *words, str(file), "-o", str(binary)]
    subprocess.run(cc, check=True, timeout=300)
    return binary


def test_asserts_hold_in_compiled_programs(tmp_path: Path) -> None:
    """Those of functions by themselves and those of the whole program, in one text."""
    text = generated(FUNCTIONS, seed=11)
    text = re.sub(r"(while \([^{]*\{)$", r"\1\n  tick();", text, flags=re.MULTILINE)
    text = text.replace("static int cells[8];", "static int cells[8];\nextern void tick(void);")
    file = tmp_path / "generated.c"
    file.write_text(text)
    loaded = load(file)
    found, others = (
        loaded.invariants(domain="octagon", whole_program=one).annotations()
        for one in (False, True)
    )
    assert len(found.invariants) > 2 * len(FUNCTIONS)
    assert len(others.invariants) > 2 * len(FUNCTIONS)
    assert any(one.is_loop for one in others.invariants)
    found.invariants.extend(others.invariants)
    source = found.asserts(str(file), call="HOLDS").partition("\n#line 1\n")[2]
    names = [f"{name}{k}" for k in FUNCTIONS for name in "fg"]
    tick = "void tick(void) { if (++steps > 20000) siglongjmp(back, 1); }\n"
    program = HARNESS + tick + source + MAIN.replace("FUNCTIONS", ", ".join(names))
    whole = tmp_path / "whole.c"
    whole.write_text(program)
    checked = "undefined,float-cast-overflow"
    binary = compiled(whole, f"-fsanitize={checked}", f"-fsanitize-trap={checked}", "-lm")
    done = subprocess.run([binary], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 500


def test_what_holds_behind_a_call_that_is_followed(tmp_path: Path) -> None:
    """The block of the caller is in parts there, each with states of its own."""
    file = tmp_path / "behind.c"
    file.write_text("""static int depth;
static int down(int k) {
  depth++;
  return k > 2 ? 1 : 2;
}
int main(void) {
  int first = down(4);
  int seen = depth;
  down(3);
  return first + seen + depth;
}
""")
    result = load(file).invariants()
    assert [str(result.at(f"behind.c:{line}")[0]) for line in (7, 8, 9, 10)] == [
        "depth == 0",
        "depth == 1 && first == 1",
        "depth == 1 && first == 1 && seen == 1",
        "depth == 2 && first == 1 && seen == 1",
    ]


def test_asserts_of_the_example_compile_and_hold(tmp_path: Path) -> None:
    found = load(SEARCH).invariants().annotations()
    (file,) = [one for one in found.files if one.endswith("search.c")]
    text = found.asserts(file)
    assert "assert(0 <= i && i <= 99); table[i]" in text
    target = tmp_path / "search.c"
    more = "#include <stdlib.h>\nint next_value(void) { return rand() % 50; }\n"
    target.write_text(text.replace("extern int next_value(void);", more))
    assert subprocess.run([compiled(target)], timeout=60).returncode >= 0  # no abort


def test_a_witness_has_the_published_form() -> None:
    found = load(SEARCH).invariants().annotations()
    text = found.witness("2026-01-01T00:00:00Z", "1.0", ROOT)
    assert text == found.witness("2026-01-01T00:00:00Z", "1.0", ROOT)
    (entry,) = parsed(text)
    assert entry["entry_type"] == "invariant_set"
    metadata = entry["metadata"]
    assert set(metadata) == {"format_version", "uuid", "creation_time", "producer", "task"}
    assert metadata["format_version"] == "2.0"
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uuid"])
    task = metadata["task"]
    assert set(task) == {
        "input_files", "input_file_hashes", "specification", "data_model", "language",
    }  # fmt: skip
    assert task["input_files"] == ["examples/invariants/search.c"]
    assert re.fullmatch("[0-9a-f]{64}", task["input_file_hashes"]["examples/invariants/search.c"])
    assert task["data_model"] in ("ILP32", "LP64")
    for one in entry["content"]:
        invariant = one["invariant"]
        assert set(invariant) == {"type", "location", "value", "format"}
        assert invariant["type"] in ("loop_invariant", "location_invariant")
        assert invariant["format"] == "c_expression"
        location = invariant["location"]
        assert set(location) == {"file_name", "line", "column", "function"}
        line = SEARCH.read_text().splitlines()[location["line"] - 1]
        word = line[location["column"] - 1 :]
        assert line[: location["column"] - 1].strip() == ""
        if invariant["type"] == "loop_invariant":
            assert word.startswith(("for", "while"))
    kinds = [one["invariant"]["type"] for one in entry["content"]]
    assert kinds.count("loop_invariant") == 2


def parsed(text: str) -> list[dict[str, object]]:
    """Read the part of YAML that witnesses are written in: mappings, lists, JSON's scalars."""
    lines = [(len(one) - len(one.lstrip()), one.strip()) for one in text.splitlines()]

    def value(word: str) -> object:
        return json.loads(word) if word[:1] in '"[' or word.isdigit() else word

    def block(at: int, depth: int) -> tuple[object, int]:
        if lines[at][1].startswith("- "):
            items: list[object] = []
            while at < len(lines) and lines[at][0] == depth and lines[at][1].startswith("- "):
                word = lines[at][1][2:]
                if re.match(r"\w+:", word):
                    lines[at] = (depth + 2, word)
                    item, at = block(at, depth + 2)
                else:
                    item, at = value(word), at + 1
                items.append(item)
            return items, at
        found: dict[str, object] = {}
        while at < len(lines) and lines[at][0] == depth and not lines[at][1].startswith("- "):
            key, _, rest = lines[at][1].partition(": ")
            if rest:
                found[str(value(key))] = value(rest)
                at += 1
            else:
                inner = lines[at + 1][0]
                found[str(value(key.rstrip(":")))], at = block(at + 1, inner)
        return found, at

    whole, end = block(0, 0)
    assert end == len(lines)
    assert isinstance(whole, list)
    return whole


def test_acsl_has_loop_invariants_in_front_of_loops() -> None:
    found = load(SEARCH).invariants().annotations()
    (file,) = [one for one in found.files if one.endswith("search.c")]
    text = found.acsl(file)
    assert "/*@ loop invariant 0 <= i && i <= 100; */ for (int i = 0" in text
    assert "/*@ assert 0 <= i && i <= 99; */ table[i]" in text
    assert "__int128" not in text
    assert len(text.splitlines()) == len(SEARCH.read_text().splitlines())


SHAPES = """int g = 3;
struct s { int a; };
int table[] = { 1,
  2 };
int f(int n) {
  int x = 1; /* { */
  for (int i = 0; i < n; i++)
    x += i;
  if (n)
    x--;
  else
    x++;
  do {
    x++;
  } while (x < 3);
  do
    x++;
  while (x < 9);
  switch (n) {
    case 1:
      x = 2;
    default: x = 3;
  }
  struct s local = {
    1 };
again:
  x = g(1,
    2);
  while (x) { int y = 2;
    x -= y;
  }
#define MACRO(a) { a; \\
  a; }
  return x + local.a;
}
"""


def test_statements_are_found_where_they_begin() -> None:
    shape = Shape(SHAPES)
    lines = SHAPES.splitlines()
    found = [lines[line - 1].split()[0] for line in sorted(shape.statements)]
    assert found == [
        "int", "for", "if", "do", "x++;", "do", "switch", "struct", "while", "x", "return",
    ]  # fmt: skip
    last = {line: place.last for line, place in shape.statements.items()}
    assert (last[6], last[7], last[9], last[13], last[19], last[24]) == (6, 8, 10, 13, 19, 25)


def test_each_branch_of_a_condition_goes_on_from_the_front() -> None:
    shape = Shape("""int f(int x) {
  x = x > 3 ?
#ifdef TWICE
    2 * x;
#elif defined THRICE
    3 * x;
#else
    x;
#endif
#if LATER
  if (x > 5) {
#else
  if (x > 4) {
#endif
    x++;
  }
  return x;
}
int g(int x) {
  return x;
}
""")
    assert sorted(shape.statements) == [2, 11, 13, 15, 17, 20]
    assert shape.statements[2].last == 8
    assert [len(shape.statements[line].scope) for line in (2, 15, 17, 20)] == [1, 2, 1, 1]


def test_names_are_used_only_where_they_are_visible(tmp_path: Path) -> None:
    file = tmp_path / "names.c"
    file.write_text("""extern int unknown(void);
int f(int n) {
  if (n < 0 || n > 9) return 0;
  for (int i = 0; i < n; i++) {
    int inner = unknown() & 7;
    unknown();
    n = n + inner / 8;
  }
  unknown();
  { int n = 77; unknown(); }
  unknown();
  return n;
}
""")
    found = Annotations(load(file).invariants())
    by_line = {one.line: one.expression() for one in found.invariants if not one.is_loop}
    assert "inner <= 7" in by_line[7]
    for line, text in by_line.items():
        assert "n " not in text  # two variables are called so
        assert ("inner" in text) <= (line in (6, 7))
        assert not re.search(r"\bi\b", text) or line in (5, 6, 7)


def test_a_declaration_is_not_where_its_values_meet(tmp_path: Path) -> None:
    """Phis have the place of a declaration: what holds where they stand is not said of it."""
    file = tmp_path / "places.c"
    file.write_text("""extern int unknown(void);
int g(int n) {
  unknown();
  int x = 0;
  if (n > 3) {
    if (unknown()) {
      if (unknown())
        unknown();
      else
        x = unknown();
    }
    return x ^ n;
  }
  return 2;
}
""")
    result = load(file).invariants()
    assert not [one for one in Annotations(result).invariants if one.line in (3, 4, 5)]
    with pytest.raises(SourceError):
        result.at("places.c:4")


def test_what_a_statement_sets_is_not_said_in_front_of_it(tmp_path: Path) -> None:
    file = tmp_path / "sets.c"
    file.write_text("""extern int unknown(void);
int f(int n, int x) {
  if (n < 3 || n > 8 || x > 20 || x < 12) return 0;\f
  unknown();
  x = n; unknown();
  unknown();
  return 100 / (x + n);
}
""")
    found = Annotations(load(file).invariants())
    by_line = {one.line: one.expression() for one in found.invariants}
    assert "x" not in by_line[5]
    assert "n" in by_line[5]
    assert "(long long)n - (long long)x == 0" in by_line[6]
    text = found.asserts(str(file)).split("\n")
    assert text[6].startswith("  assert(")
    assert text[6].endswith("x = n; unknown();")


def test_what_later_lines_of_a_statement_set_is_not_said_in_front_of_it(tmp_path: Path) -> None:
    file = tmp_path / "lines.c"
    file.write_text("""extern int unknown(void), two(int, int);
int returned(int n, int x) {
  unknown();
  return two(
    x = n & 7,
    unknown()) + x;
}
int added(int n, int x) {
  unknown();
  n += 2 *
    ((x = n & 7) + unknown());
  return x + n;
}
int declared(int n, int x) {
  int y = two(
    x = n & 7,
    unknown());
  return x + y;
}
int looped(int n) {
  int x;
  for (x = n & 7;
       x < 9;
       x++) {
    unknown();
  }
  return x;
}
""")
    found = Annotations(load(file).invariants())
    by_line = {one.line: one.expression() for one in found.invariants if not one.is_loop}
    assert not by_line.keys() & {4, 10, 15, 21}
    assert "x <= 7" in by_line[12]
    assert "x <= 7" in by_line[18]
    assert "x <= 8" in by_line[25]


@pytest.mark.parametrize("is_whole", [False, True])
def test_variables_that_macros_declare_are_not_named(tmp_path: Path, is_whole: bool) -> None:
    file = tmp_path / "macros.c"
    file.write_text(
        """#define SWAP(a, b) { int hidden = a; a = b; b = hidden; }
extern int any(void);
int main(void) {
  int x = any() & 7, y = 3;
  SWAP(x, y)
  any();
  return x / 2 + y;
}
"""
    )
    found = load(file).invariants(domain="octagon", whole_program=is_whole).annotations()
    text = found.asserts(str(file))
    assert "y <= 7" in text
    assert "assert(hidden" not in text.replace("(signed int)", "")
    assert not re.search(r"assert\([^;]*hidden", text)


def test_at_is_in_front_of_all_lines_of_a_statement(tmp_path: Path) -> None:
    """The index is computed on the second line, before the access on the first."""
    file = tmp_path / "lines.c"
    file.write_text(
        "int cells[8];\nint f(int k) {\n  if (k < 0 || k > 9) return 0;\n"
        "  return cells[\n    k & 7];\n}\n"
    )
    (facts,) = load(file).invariants().at("lines.c:4")
    assert str(facts) == "0 <= k && k <= 9"


@pytest.mark.parametrize("is_whole", [False, True])
def test_references_and_structs_are_not_named_as_scalars(tmp_path: Path, is_whole: bool) -> None:
    """The name of a reference is what it refers to, and a struct of one number is no number."""
    file = tmp_path / "references.cpp"
    file.write_text(
        """struct entry { int length; };
void any(int);
static int first(const entry &one, const entry *other, int n) {
  int from = n & 7;
  any(from);
  return one.length + other->length / 2 + from;
}
int main(int n, char **) {
  entry x = {n & 15};
  return first(x, &x, n);
}
"""
    )
    result = load(file).invariants(domain="octagon", whole_program=is_whole)
    text = result.annotations().asserts(str(file))
    assert re.search(r"assert\(.*\bfrom <= 7", text)
    assert not re.search(r"assert\([^;]*\b(one|x)\b", text)


@pytest.mark.parametrize("is_whole", [False, True])
def test_only_scalars_that_are_visible_are_named(tmp_path: Path, is_whole: bool) -> None:
    """Not arrays or structs of one element, hidden globals, storage of alloca or callers' names."""
    file = tmp_path / "visible.c"
    file.write_text(
        """#include <alloca.h>
extern int any(void);
struct one { int number; };
static struct one single;
static int several[1], heap, shadowed = 3;
__attribute__((always_inline)) static inline int callee(int inner) {
  int result = inner + 1;
  any();
  return result;
}
static int hidden(double shadowed) {
  any();
  return shadowed > 2;
}
int main(int argc, char **argv) {
  int array[1] = {5}, *storage = alloca(4), *made = __builtin_malloc(4), outer = argc & 7;
  struct one local = {6};
  *storage = 7;
  if (made) *made = 8;
  several[0] = single.number = heap = 9;
  outer = outer + heap - several[0];
  int got = callee(outer) + hidden(1.5);
  any();
  return got + array[0] + *storage + local.number + (made ? *made : 0) + shadowed + heap;
}
"""
    )
    result = load(file).invariants(domain="octagon", whole_program=is_whole)
    text = result.annotations().asserts(str(file))
    asserted = {
        number: line.partition(";")[0]
        for number, line in enumerate(text.partition("\n#line 1\n")[2].splitlines(), 1)
        if line.lstrip().startswith("assert(")
    }
    said = " ".join(asserted.values())
    assert not re.search(r"\b(single|several|array|local|made|storage == 7)\b", said)
    assert "outer <= 7" in said
    assert is_whole or "heap == 9" in asserted[21]
    assert "inner <= 7" in asserted[8]
    assert not re.search(r"\b(argc|outer)\b", asserted[8])
    assert "shadowed" not in asserted.get(12, "")
    assert "shadowed" not in "".join(map(str, result.at("visible.c:12")))
    assert is_whole or "shadowed == 3" in asserted[21]
