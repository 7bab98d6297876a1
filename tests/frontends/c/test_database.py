"""Compilation databases: which entries, which of their flags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c.compiler import Options
from kleene.frontends.c.database import entries, kept
from kleene.frontends.c.source import Source
from tests.frontends.c.pipeline import problem, text_of


def write(path: Path, *found: object) -> Path:
    path.write_text(json.dumps(found))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose build folder holds a database, with paths relative to that folder."""
    for folder in ("src", "include", "build"):
        (tmp_path / folder).mkdir()
    (tmp_path / "include/size.h").write_text("#define SIZE (FACTOR * 2)\n")
    (tmp_path / "src/one.c").write_text('#include "size.h"\nint one(void) { return SIZE; }\n')
    (tmp_path / "src/two.cc").write_text('extern "C" int one(void);\nint two() { return one(); }\n')
    write(
        tmp_path / "build/compile_commands.json",
        {
            "directory": str(tmp_path / "build"),
            "command": "gcc -O3 -Wall -Werror -march=native -DFACTOR=21 -I../include"
            " -MD -MF one.d -o one.o -c ../src/one.c",
            "file": "../src/one.c",
        },
        {
            "directory": str(tmp_path / "build"),
            "arguments": ["g++", "-std=c++14", "-o", "two.o", "-c", "../src/two.cc"],
            "file": "../src/two.cc",
        },
    )
    return tmp_path


def test_entries_are_compiled_where_and_as_they_say(project: Path) -> None:
    text = text_of(project / "build/compile_commands.json")
    assert "ret i32 42" in text
    assert "@_Z3twov" in text
    assert sorted(path.name for path in (project / "build").iterdir()) == ["compile_commands.json"]


def test_an_error_names_the_file_as_seen_from_here(project: Path) -> None:
    (project / "src/one.c").write_text("int one(void) { return missing; }\n")
    error = problem(project / "build/compile_commands.json")
    assert error.id == "c/does-not-compile"
    assert error.span is not None
    assert (error.span.line, error.span.column) == (1, 24)
    assert Path(error.span.file).samefile(project / "src/one.c")
    assert "return missing" in error.render()


def test_the_users_options_come_on_top(project: Path) -> None:
    text = text_of(project / "build/compile_commands.json", options=Options(defines=("one=uno",)))
    assert "define i32 @uno(" in text


def test_a_file_that_is_not_there(project: Path) -> None:
    (project / "src/one.c").unlink()
    error = problem(project / "build/compile_commands.json")
    assert error.id == "c/no-such-file"
    assert error.span is not None
    assert error.span.file.endswith("src/one.c")


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(void) { return 1; }\n")
    row = {"directory": "gone", "file": str(tmp_path / "f.c"), "command": "cc f.c"}
    error = problem(write(tmp_path / "compile_commands.json", row))
    assert error.id == "c/no-such-file"
    assert str(error.span) == str(tmp_path / "gone")


def test_a_directory_may_be_seen_from_the_database(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/f.c").write_text("int f(void) { return 1; }\n")
    rows = [
        {"directory": "sub", "file": "f.c", "command": "cc f.c"},
        {"file": "g.c", "arguments": ["cc", "g.c"]},
    ]
    (tmp_path / "g.c").write_text("int g(void) { return 1; }\n")
    text = text_of(write(tmp_path / "compile_commands.json", *rows))
    assert "@f(" in text
    assert "@g(" in text


def test_a_file_built_twice_is_chosen_by_its_output(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(void) { return KIND; }\n")
    static = {"directory": str(tmp_path), "file": "f.c", "command": "cc -DKIND=1 -o static/f.o f.c"}
    shared = static | {"command": "cc -DKIND=2 f.c", "output": "shared/f.o"}
    path = write(tmp_path / "compile_commands.json", static, shared)
    assert "ret i32 1" in text_of(path, only=("static/*",))
    assert "ret i32 2" in text_of(path, only=("!static/*",))
    error = problem(path)
    assert error.id == "c/duplicate-symbol"
    assert "--only" in error.notes[-1]
    assert [one.id for one in problem(path, only=("other/*",))] == ["c/no-sources"]


def test_a_file_built_twice_alike_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(void) { return 1; }\n")
    entry = {"directory": str(tmp_path), "file": "f.c", "command": "cc -O1 -o one.o f.c"}
    path = write(tmp_path / "commands.json", entry, entry | {"command": "cc -O2 -o two.o f.c"})
    assert "define i32 @f(" in text_of(path)


def test_other_languages_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(void) { return 1; }\n")
    rows = [{"directory": str(tmp_path), "file": name, "command": "cc"} for name in ("f.c", "g.S")]
    assert [source.file for source in entries(str(write(tmp_path / "c.json", *rows)))] == ["f.c"]


def test_the_language_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("")
    row = {"directory": str(tmp_path), "file": "f.c", "arguments": ["cc", "-x", "c++", "f.c"]}
    (source,) = entries(str(write(tmp_path / "c.json", row)))
    assert source == Source("f.c", "c++", (), str(tmp_path))


KEPT = (
    "-DA -D B=1 -UC -Iinc -I inc -isystem inc -iquoteinc -include pre.h -std=c99 -m32 -mavx2"
    " -mno-sse3 -fsigned-char -fno-exceptions -fno-strict-aliasing -fms-extensions -ffreestanding"
    " -pthread --sysroot=/x --target=aarch64-linux-gnu -target arm-linux -fno-builtin-memcpy"
    " -fpack-struct=4"
)
DROPPED = (
    "cc f.c -c -o f.o -O2 -Os -g -g3 -Wall -Werror -Wl,-x -MD -MMD -MF x.d -MT y -MP -pipe -S -E -s"
    " -flto -fPIC -fsanitize=address -fopenmp -march=native -mtune=generic -L/lib -lm --coverage"
    " -Xclang -ast-dump -fno-semantic-interposition -fdiagnostics-color -x c -emit-llvm"
)


def test_flags_that_decide_the_meaning_are_kept() -> None:
    assert kept(KEPT.split(), ".") == tuple(KEPT.split())


def test_flags_that_do_not_are_dropped() -> None:
    assert kept(DROPPED.split(), ".") == ()


def test_a_response_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "flags.rsp").write_text("-DA='x y' -O2\n-DB")
    assert kept(["cc", "@flags.rsp", "-DC"], str(tmp_path)) == ("-DA=x y", "-DB", "-DC")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[\n  {]\n", 2),
        ("{}", 0),
        ("[1]", 0),
        ('[{"file": "a.c"}]', 0),
        ('[{"file": "a.c", "arguments": [1]}]', 0),
        ('[{"file": "a.c", "command": "cc \'a.c"}]', 0),
        ("\xff", 1),
        ('[{"file": "a.c", "arguments": []}]', 0),
        ('[{"file": "a.c", "command": ""}]', 0),
        ('[{"file": "a\\u0000.c", "command": "cc"}]', 0),
        ('[{"file": "a.c", "directory": "\\u0000", "command": "cc"}]', 0),
        ('[{"file": "a.c", "command": "cc -D\\u0000"}]', 0),
        ('[{"file": "a\\ud800.c", "command": "cc"}]', 0),
        ('[{"file": "a.c", "arguments": ["cc", "\\ud800"]}]', 0),
        ("[" * 100_000, 0),
        (f"[{'1' * 10_000}]", 0),
    ],
)
def test_a_bad_database(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(SourceError) as caught:
        list(entries(str(path)))
    assert caught.value.id == "c/bad-database"
    assert caught.value.span is not None
    assert caught.value.span.line == line


def test_every_flag_kept_is_known_to_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text("int f(void) { return 1; }\n")
    flags = (
        "-fsigned-char -fshort-enums -fno-short-wchar -fpack-struct=4 -fcommon -fno-builtin-memcpy"
        " -fno-exceptions -fno-rtti -fno-strict-aliasing -fwrapv -ftrapv -fms-extensions -fchar8_t"
        " -fgnu89-inline -fblocks -fasm -fno-delete-null-pointer-checks -fno-threadsafe-statics"
        " -fdeclspec -ffreestanding -fvisibility=hidden -mms-bitfields -mlong-double-128 -msse4.2"
        " -mavx2 -mfma -maes -mbmi2 -mpopcnt -mpclmul -mf16c -msha -mlzcnt -mmovbe -mrdrnd -madx"
        " -mxsave -mno-avx -pthread -trigraphs -undef -ansi -idirafter . -iquote ."
    )
    row = {"directory": str(tmp_path), "file": "f.c", "command": f"cc {flags} f.c"}
    path = write(tmp_path / "compile_commands.json", row)
    (source,) = entries(str(path))
    assert source.flags == tuple(flags.split())
    assert "@f(" in text_of(path)
