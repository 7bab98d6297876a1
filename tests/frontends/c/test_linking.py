"""Many units, one module: what fits together, what does not, and LLVM's ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.frontends.c import linking
from kleene.frontends.c.compiler import Options
from tests.frontends.c.pipeline import problem, text_of


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def test_sources_bitcode_and_assembly_mix(here: Path, made: Path) -> None:
    write("main.c", "int square(int), cube(int);\nint main(void) { return square(2) + cube(2); }\n")
    write("cube.ll", "define i32 @cube(i32 %x) {\n  %y = mul i32 %x, %x\n  ret i32 %y\n}\n")
    text = text_of("main.c", made / "square.bc", "cube.ll")
    for name in ("main", "square", "cube"):
        assert text.count(f"@{name}(i32") + text.count(f"i32 @{name}()") >= 1
        assert f"declare i32 @{name}(" not in text


def test_the_target_is_that_of_the_first_unit_that_has_one(here: Path) -> None:
    write("a.ll", "@a = global i32 0\n")
    write("b.c", "int b;\n")
    assert 'target triple = "x86_64' in text_of("a.ll", "b.c")
    assert 'target datalayout = "e-' in text_of("a.ll", "b.c")


def test_given_bitcode_is_taken_as_it_is_unless_asked(made: Path) -> None:
    assert "alloca" in text_of(made / "plain.bc")
    assert "alloca" not in text_of(made / "plain.bc", normalise=True)
    assert "alloca" not in text_of(made / "square.bc")


def test_an_empty_file_beside_others_is_fine(here: Path) -> None:
    write("empty.c", "")
    write("f.c", "int f(void) { return 1; }\n")
    assert "@f(" in text_of("empty.c", "f.c")


@pytest.mark.parametrize("name", ["empty.c", "empty.cc", "empty.ll"])
def test_nothing_at_all(here: Path, name: str) -> None:
    write(name, "")
    error = problem(name)
    assert error.id == "c/empty-module"
    assert str(error.span) == name


# Symbols.


def test_two_definitions_are_reported_with_both_places(here: Path) -> None:
    write("one.c", "int n = 1;\n\nint f(void) { return 1; }\n")
    write("two.c", "int f(void) { return 2; }\nint g(void) { return 3; }\nint n = 2;\n")
    error = problem("one.c", "two.c")
    assert [one.id for one in error] == ["c/duplicate-symbol"] * 2
    assert [str(one.span) for one in error] == ["two.c:1", "two.c:3"]
    assert ["'f'" in one.message or "'n'" in one.message for one in error] == [True, True]
    assert [one.notes[0].rpartition(" ")[2] for one in error] == ["one.c:3", "one.c:1"]


def test_without_debug_information_the_files_are_named(here: Path) -> None:
    for name in ("one.ll", "two.ll"):
        write(name, "define void @f() {\n  ret void\n}\n")
    error = problem("one.ll", "two.ll")
    assert str(error.span) == "two.ll"
    assert error.notes == ("it is also defined at one.ll",)


def test_a_function_in_one_and_a_variable_in_the_other(here: Path) -> None:
    write("one.c", "extern int f;\nint g(void) { return f; }\n")
    write("two.c", "int f(void) { return 2; }\n")
    error = problem("one.c", "two.c")
    assert error.id == "c/mismatched-symbol"
    assert str(error.span) == "two.c:1"
    assert error.notes == ("it is a variable at one.c",)


@pytest.mark.parametrize(
    ("one", "two", "flags"),
    [
        (
            "static int f(void) { return 1; } int a(void) { return f(); }",
            "int f(void) { return 2; }",
            (),
        ),
        ("__attribute__((weak)) int f(void) { return 1; }", "int f(void) { return 2; }", ()),
        ("int f(void) { return 1; }", "__attribute__((weak)) int f(void) { return 2; }", ()),
        ("int n;", "int n = 3;", ("-fcommon",)),
        ("int n;", "int n;", ("-fcommon",)),
        ("int f(void); int a(void) { return f(); }", "long f(int x) { return x; }", ()),
        ("extern int n; int a(void) { return n; }", "int n = 1;", ()),
    ],
)
def test_what_linkers_allow(here: Path, one: str, two: str, flags: tuple[str, ...]) -> None:
    write("one.c", one)
    write("two.c", two)
    assert text_of("one.c", "two.c", options=Options(flags=flags))


def test_inline_functions_of_cxx_may_repeat(here: Path) -> None:
    write("f.h", "inline int f() { return 1; }\ntemplate <class T> T g(T x) { return x; }\n")
    for name in "ab":
        write(f"{name}.cc", f'#include "f.h"\nint {name}() {{ return f() + g(1); }}\n')
    lines = text_of("a.cc", "b.cc").splitlines()
    assert sum(line.startswith("define") and "@_Z1fv()" in line for line in lines) == 1


def test_what_only_llvm_sees_is_reported_in_its_words(here: Path) -> None:
    for name in ("one.ll", "two.ll"):
        write(name, "@x = internal global i32 0\n@y = alias i32, ptr @x\n")
    error = problem("one.ll", "two.ll")
    assert error.id == "c/cannot-link"
    assert "'y'" in error.message
    assert str(error.span) == "two.ll"


def test_a_flood_of_errors_is_dammed(here: Path) -> None:
    for name in ("one.c", "two.c"):
        write(name, "\n".join(f"int f{number}(void) {{ return 0; }}" for number in range(50)))
    assert len(list(problem("one.c", "two.c"))) == 20


# Targets.


def test_mixed_targets(here: Path, made: Path) -> None:
    write("f.c", "int f(void) { return 1; }\n")
    error = problem("f.c", made / "arm.bc")
    assert error.id == "c/mixed-targets"
    assert "aarch64" in error.message
    assert "f.c" in error.notes[0]


def test_another_version_of_the_same_system_is_the_same_target(here: Path, made: Path) -> None:
    layout = next(line for line in text_of(made / "square.bc").splitlines() if "datalayout" in line)
    write("f.ll", f'{layout}\ntarget triple = "x86_64-pc-linux-gnu"\n@n = global i32 1\n')
    assert "@n = global" in text_of(made / "square.bc", "f.ll")


# Assembly that is none.


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (b"define i32 @f() {\n  ret i32 %x\n}\n", "bad.ll:2:11"),
        (b"define i32 @f() {\n  ret i33 1\n}\n", "bad.ll:2:7"),
        (b"int main;\n", "bad.ll:1:1"),
        (b"; fine\n@n = global i32 0\n\0", "bad.ll:3"),
        (b"; fine\n; \xff\n", "bad.ll:2"),
    ],
)
def test_bad_assembly_has_llvms_place(here: Path, text: bytes, place: str) -> None:
    Path("bad.ll").write_bytes(text)
    error = problem("bad.ll")
    assert error.id == "c/bad-assembly"
    assert str(error.span) == place


def test_assembly_that_does_not_verify(here: Path) -> None:
    write("bad.ll", "define void @f() {\n  %x = add i32 %x, 1\n  ret void\n}\n")
    error = problem("bad.ll")
    assert error.id == "c/bad-assembly"
    assert error.message


def test_every_bad_file_is_reported(here: Path, made: Path) -> None:
    write("one.ll", "nonsense\n")
    write("two.ll", "@n = global i32 0\n")
    write("three.ll", "more nonsense\n")
    error = problem("one.ll", "two.ll", "three.ll")
    assert [str(one.span) for one in error] == ["one.ll:1:1", "three.ll:1:1"]


# The process that holds LLVM.


def test_a_crash_of_llvm_is_an_error_that_names_the_file(here: Path) -> None:
    write("good.ll", "@n = global i32 0\n")
    write("deep.ll", "@x = global " + "[1 x " * 1_000_000 + "i8")
    error = problem("good.ll", "deep.ll")
    assert error.id == "c/reader-crashed"
    assert str(error.span) == "deep.ll"
    assert "SIGSEGV" in error.message
    assert not list(here.glob("core*"))


def test_the_memory_is_bounded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("large.ll", "".join(f"@x{number} = global i32 0\n" for number in range(20_000)))
    assert "@x19999" in text_of("large.ll")
    monkeypatch.setattr(linking, "_MIN_MEMORY_BYTES", 1 << 20)
    monkeypatch.setattr(linking, "_MEMORY_PER_BYTE", 0)
    error = problem("large.ll")
    assert error.id == "c/reader-crashed"
    assert str(error.span) == "large.ll"
    assert "memory" in error.notes[0].lower()


def test_the_time_is_bounded(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("f.ll", "@n = global i32 0\n")
    monkeypatch.setattr(linking, "_MIN_TIME_S", 0.001)
    error = problem("f.ll")
    assert error.id == "c/reader-crashed"
    assert "took longer" in error.message


@pytest.mark.data
def test_the_measured_programs_become_text(shared_data: Path) -> None:
    for path in sorted((shared_data / "bitcode").glob("*.bc"))[:4]:
        assert "\ndefine " in text_of(path)
