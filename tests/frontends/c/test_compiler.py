"""Compiling: which compiler, which flags, whose messages, what is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kleene.base.cache import Cache
from kleene.frontends.c import compiler
from kleene.frontends.c.compiler import Compiler, Options
from kleene.frontends.c.source import Source
from tests.frontends.c.pipeline import problem, text_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KLEENE_CC", raising=False)
    return tmp_path


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def counted(here: Path) -> tuple[str, Path]:
    """A compiler that notes each call in a file, and that file."""
    calls = here / "calls"
    calls.write_text("")
    command = f'echo "$@" >> {calls}; exec {sys.executable} -P -m ziglang cc "$@"'
    return str(script(here / "counted-clang", command)), calls


def n_compiled(calls: Path) -> int:
    return sum("-emit-llvm" in line for line in calls.read_text().splitlines())


# What comes out.


def test_locals_become_values_and_keep_names_and_lines(here: Path) -> None:
    write("a.c", "int f(int n) {\n  int twice = n + n;\n  return twice;\n}\n")
    text = text_of("a.c")
    assert "alloca" not in text
    assert 'DILocalVariable(name: "twice"' in text
    assert "DILocation(line: 2," in text


def test_nothing_of_zigs_own_is_in_it(here: Path) -> None:
    write("a.c", "int f(int *p, int i) { int b[4] = {i}; return p[i] << b[i]; }\n")
    text = text_of("a.c")
    for noise in ("ubsan", "ssp", "stack_chk", "optnone", "<4 x"):
        assert noise not in text


def test_nothing_is_written_beside_the_sources(here: Path) -> None:
    write("a.c", "int f(void) { return 1; }\n")
    write("b.cc", "int g() { return 1; }\n")
    text_of("a.c", "b.cc")
    assert sorted(os.listdir()) == ["a.c", "b.cc"]


def test_nothing_of_the_users_is_imported(here: Path) -> None:
    write("a.c", "int f(void) { return 1; }\n")
    write("os.py", "raise SystemExit('imported by mistake')\n")
    write("json.py", "raise SystemExit('imported by mistake')\n")
    assert "define i32 @f(" in text_of("a.c")


def test_three_files_make_one_program(here: Path) -> None:
    write("list.h", "struct node { int value; struct node *next; };\nint total(struct node *n);\n")
    write(
        "main.c",
        '#include "list.h"\nint add(int, int);\nint main(void) {\n'
        "  struct node a = {2, 0}, b = {3, &a};\n  return add(total(&b), 1);\n}\n",
    )
    write("add.c", "int add(int x, int y) { return x + y; }\n")
    write(
        "list.c",
        '#include "list.h"\nint total(struct node *n) {\n'
        "  int sum = 0;\n  for (; n; n = n->next) sum += n->value;\n  return sum;\n}\n",
    )
    text = text_of(".")
    for name in ("main", "add", "total"):
        assert f"define i32 @{name}(" in text
        assert f"declare i32 @{name}(" not in text


ANIMALS = """\
#include <stdexcept>
#include <string>
#include <vector>
struct Animal { virtual ~Animal() {} virtual int legs() const = 0; };
struct Dog : Animal { int legs() const override { return 4; } };
template <class T> T larger(T a, T b) { return a < b ? b : a; }
int count(const std::vector<Animal *> &all) {
  int most = 0;
  for (const Animal *one : all) most = larger(most, one->legs());
  if (most > 100) throw std::runtime_error(std::string("centipede"));
  return most;
}
int main() {
  Dog dog;
  try { return count({&dog}); } catch (const std::exception &) { return 1; }
}
"""


def test_cxx_with_virtual_calls_templates_and_exceptions(here: Path) -> None:
    write("animals.cpp", ANIMALS)
    text = text_of("animals.cpp")
    assert "@_ZTV3Dog = linkonce_odr" in text
    assert "define linkonce_odr noundef i32 @_Z6largerIiET_S0_S0_" in text
    for word in ("invoke ", "landingpad", "call void @__cxa_throw"):
        assert word in text


# Options.


def test_options_reach_the_compiler(here: Path) -> None:
    (here / "inc").mkdir()
    write("inc/n.h", "#define N 3\n")
    write("a.c", '#include "n.h"\nint f(void) { return N * A * B * C; }\n')
    options = Options(defines=("A", "B=5"), includes=("inc",), flags=("-DC=7",))
    assert "ret i32 105" in text_of("a.c", options=options)


@pytest.mark.parametrize(
    ("name", "flags", "is_kept"),
    [
        ("a.c", [], True),
        ("a.c", ["-O2"], True),
        ("a.cpp", [], True),
        ("a.cpp", ["-O3"], True),
        ("a.c", ["-O2", "-DNDEBUG"], False),
        ("a.cpp", ["-DNDEBUG"], False),
    ],
)
def test_assertions_are_there_unless_they_are_turned_off(
    here: Path, name: str, flags: list[str], is_kept: bool
) -> None:
    """Whoever optimises, and zig does for C++, has not said NDEBUG."""
    write(name, "#include <assert.h>\nint f(int n) { assert(n); return n; }\n")
    text = text_of(name, options=Options(flags=tuple(flags)))
    assert ("__assert_fail" in text) == is_kept


def test_a_standard_is_for_its_own_language(here: Path) -> None:
    write("a.c", "long f(void) { return __STDC_VERSION__; }\n")
    write("b.cc", "long g() { return __cplusplus; }\n")
    assert "ret i64 201710" in text_of("a.c")
    assert "ret i64 201703" in text_of("b.cc")
    text = text_of("a.c", "b.cc", options=Options(standards=("c11", "c++20")))
    assert "ret i64 201112" in text
    assert "ret i64 202002" in text
    assert "ret i64 201710" in text_of("a.c", options=Options(standards=("c++20",)))


def test_another_target_may_be_asked_for(here: Path) -> None:
    write("a.c", "int f(int x) { int y = x; return y; }\n")
    text = text_of("a.c", options=Options(flags=("-target", "aarch64-linux-gnu")))
    assert 'target triple = "aarch64-' in text
    assert "alloca" not in text, "SROA runs for any target"


# What the compiler says.


def test_a_mistake_has_clangs_place_and_words(here: Path) -> None:
    write("bad.c", "int f(void) {\n  return missing;\n}\n")
    error = problem("bad.c")
    assert [one.id for one in error] == ["c/does-not-compile"]
    assert str(error.span) == "bad.c:2:10"
    assert error.message == "use of undeclared identifier 'missing'"


def test_every_mistake_of_every_file_is_reported(here: Path) -> None:
    write("one.c", "int f(void) { return a; }\nint g(void) { return b; }\n")
    write("two.c", '#include "absent.h"\n')
    write("three.c", "int h(void) { return 1; }\n")
    error = problem("one.c", "two.c", "three.c")
    assert [str(one.span) for one in error] == ["one.c:1:22", "one.c:2:22", "two.c:1:10"]


def test_a_mistake_in_a_header_is_placed_there_with_clangs_notes(here: Path) -> None:
    write("h.h", "#define TWICE(x) ((x) + wrong)\n")
    write("a.c", '#include "h.h"\nint f(int x) { return TWICE(x); }\n')
    error = problem("a.c")
    assert str(error.span) == "a.c:2:23"
    assert error.notes == ("./h.h:1:25: expanded from macro 'TWICE'",)


def test_warnings_are_not_errors(here: Path) -> None:
    write("a.c", "int f(int unused) { int x; }\n#warning hello\n")
    assert "@f(" in text_of("a.c", options=Options(flags=("-Wall", "-Wextra", "-Werror")))


def test_words_without_a_place_are_kept(here: Path) -> None:
    write("a.c", "int f(void);\n")
    error = problem("a.c", options=Options(flags=("-fno-such-flag",)))
    assert error.id == "c/does-not-compile"
    assert str(error.span) == "a.c"
    assert "-fno-such-flag" in error.message


def test_a_compiler_that_dies_is_reported_by_its_last_words(here: Path) -> None:
    write("a.c", "int f(void);\n")
    dying = 'case "$*" in *--version) echo clang version 1;; *) echo goodbye >&2; exit 3;; esac'
    error = problem("a.c", cc=str(script(here / "dying", dying)))
    assert (error.id, error.message) == ("c/does-not-compile", "goodbye")


# Which compiler.


def test_the_compiler_may_be_named(
    here: Path, counted: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cc, calls = counted
    write("a.c", "int f(void) { return 1; }\n")
    assert "@f(" in text_of("a.c", cc=cc)
    assert n_compiled(calls) == 1
    monkeypatch.setenv("KLEENE_CC", f"{cc} -DX")
    assert "@f(" in text_of("a.c")
    assert n_compiled(calls) == 2
    assert "-DX" in calls.read_text()


@pytest.mark.parametrize("text", ["echo gcc version 12", "echo clang; exit 1", "", None])
def test_what_is_no_clang(here: Path, text: str | None) -> None:
    write("a.c", "int f(void);\n")
    cc = "no-such-compiler" if text is None else str(script(here / "cc", text))
    error = problem("a.c", cc=cc)
    assert error.id == "c/no-compiler"
    assert cc in error.message
    assert error.notes


def test_a_program_that_cannot_be_run(here: Path) -> None:
    broken = script(here / "broken", "")
    broken.write_bytes(b"\x7fELF but not really")
    write("a.c", "int f(void);\n")
    assert problem("a.c", cc=str(broken)).id == "c/no-compiler"


def test_ziglang_is_missed_by_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kleene.frontends.c import compiler

    write("a.c", "int f(void);\n")
    compiler._bundled.cache_clear()
    monkeypatch.setattr(compiler, "find_spec", lambda _name: None)
    error = problem("a.c")
    assert error.id == "c/no-compiler"
    assert "pip install ziglang" in error.notes[0]


def test_bitcode_needs_no_compiler(made: Path) -> None:
    assert "@square(" in text_of(made / "square.bc", cc="no-such-compiler")


# What is remembered.


def test_a_unit_is_compiled_once_for_its_content(here: Path, counted: tuple[str, Path]) -> None:
    cc, calls = counted
    cache = Cache(here / "cache")
    write("n.h", "#define N 1\n")
    write("a.c", '#include "n.h"\nint f(void) { return N; }\n')

    def text(**options: tuple[str, ...]) -> str:
        return text_of("a.c", cc=cc, cache=cache, options=Options(**options))

    first = text()
    assert text() == first
    assert n_compiled(calls) == 1
    write("n.h", "#define N 2\n")
    assert "ret i32 2" in text()
    assert n_compiled(calls) == 2, "a header changed"
    text(flags=("-fwrapv",))
    assert n_compiled(calls) == 3, "a flag changed"
    write("a.c", '#include "n.h"\nint f(void) { /* comment */ return N; }\n')
    assert "column: 29" in text(), "a comment moved a column"
    write("n.h", "#define N 1\n")
    write("a.c", '#include "n.h"\nint f(void) { return N; }\n')
    assert text() == first
    assert n_compiled(calls) == 4, "the first content is still known"


def test_another_folder_is_another_unit(
    here: Path, counted: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    cc, calls = counted
    cache = Cache(here / "cache")
    for name in ("one", "two"):
        (here / name).mkdir()
        monkeypatch.chdir(here / name)
        write("a.c", "int f(void) { return 1; }\n")
        assert f'directory: "{here / name}"' in text_of("a.c", cc=cc, cache=cache)
    assert n_compiled(calls) == 2


def test_a_damaged_entry_is_made_again(here: Path, counted: tuple[str, Path]) -> None:
    cc, calls = counted
    cache = Cache(here / "cache")
    write("a.c", "int f(void) { return 1; }\n")
    first = text_of("a.c", cc=cc, cache=cache)
    for entry in (here / "cache").rglob("*"):
        if entry.is_file():
            entry.write_bytes(entry.read_bytes()[:-7])
    assert text_of("a.c", cc=cc, cache=cache) == first
    assert n_compiled(calls) == 2
    assert text_of("a.c", cc=cc, cache=cache) == first
    assert n_compiled(calls) == 2


def test_a_cache_that_cannot_be_written_costs_only_time(here: Path) -> None:
    write("a.c", "int f(void) { return 1; }\n")
    write("file", "")
    assert "@f(" in text_of("a.c", cache=Cache(here / "file" / "cache"))


def test_a_file_edited_while_it_compiles_is_not_remembered(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.c", "int f(void) { return 1; }\n")
    cache = Cache(here / "cache")
    compile_ = Compiler.compile

    def edited(self: Compiler, *arguments: object) -> bytes:
        write("a.c", "int f(void) { return 2; }\n")
        return compile_(self, *arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Compiler, "compile", edited)
        assert "ret i32 2" in text_of("a.c", cache=cache)
    write("a.c", "int f(void) { return 1; }\n")
    assert "ret i32 1" in text_of("a.c", cache=cache)


def test_the_jobs_may_be_limited(here: Path) -> None:
    for name in "abc":
        write(f"{name}.c", f"int {name}(void) {{ return 1; }}\n")
    text = text_of(".", jobs=1)
    places = [text.index(f"@{name}(") for name in "abc"]
    assert places == sorted(places)


def test_a_source_is_seen_from_here() -> None:
    assert Source("f.c", "c").path == "f.c"
    assert Source("../f.c", "c", (), "build").path == "build/../f.c"


def test_headers_of_installed_libraries_are_found_after_the_bundled_ones(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "usr").mkdir()
    write("usr/installed.h", "int installed(void);\n")
    write("usr/stdio.h", "#error the bundled one comes first\n")
    monkeypatch.setattr(compiler, "_SYSTEM_FOLDERS", (str(here / "usr"), str(here / "absent")))
    compiler._bundled.cache_clear()
    monkeypatch.setattr(compiler, "_bundled", compiler._bundled.__wrapped__)
    write(
        "a.c", "#include <installed.h>\n#include <stdio.h>\nint f(void) { return installed(); }\n"
    )
    assert "@installed" in text_of("a.c")
