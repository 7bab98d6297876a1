"""Builds are watched: which sources a program is made of, each with its own command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c import compiler
from kleene.frontends.c.capture import Build, Call, build_of, captured


def build(folder: Path, *commands: str) -> Build:
    """Return what commands make whose sources are all there."""
    calls = [Call(str(folder), tuple(command.split())) for command in commands]
    for call in calls:
        for word in call.words:
            if word.endswith((".c", ".cc")):
                (folder / word).parent.mkdir(exist_ok=True)
                (folder / word).touch()
    return build_of(calls)


def sources(made: Build, folder: Path, name: str) -> list[str]:
    return [unit.file for unit in made.linked[str((folder / name).resolve())]]


@pytest.mark.parametrize(
    ("commands", "program", "files"),
    [
        (["cc -c a.c", "gcc -c b.c -o x.o", "cc -o p a.o x.o"], "p", ["a.c", "b.c"]),
        (["cc -DX=1 a.c b.cc -op -lm"], "p", ["a.c", "b.cc"]),
        (["cc a.c"], "a.out", ["a.c"]),
        (["cc -c a.c b.c", "ar rcs libq.a a.o", "ar q libq.a b.o", "cc -o p m.c libq.a"], "p",
         ["m.c", "a.c", "b.c"]),
        (["cc -c a.c", "cc -c b.c", "cc -shared -o l/libq.so a.o", "c++ -o p b.o -L l -lq -lm"],
         "p", ["b.c", "a.c"]),
        (["cc -c a.c", "x86_64-linux-gnu-gcc-12 -r -o part.o a.o", "clang-16 -o p part.o"], "p",
         ["a.c"]),
        (["cc -c old/a.c -o a.o", "cc -c new/a.c -o a.o", "cc -o p a.o a.o"], "p", ["new/a.c"]),
        (["cc -o p m.c libq.a", "gcc-ar rc libq.a a.o", "cc -c a.c"], "p", ["m.c", "a.c"]),
        (["cc -c a.c -o objs/a.o", "cc -o p a.lo"], "p", ["a.c"]),  # it was moved
        (["cc -I x.c -include y.c -c a.c -MF d.c", "cc -T z.c a.o -o p"], "p", ["a.c"]),
    ],
)  # fmt: skip
def test_the_sources_of_a_program(
    tmp_path: Path, commands: list[str], program: str, files: list[str]
) -> None:
    assert sources(build(tmp_path, *commands), tmp_path, program) == files


@pytest.mark.parametrize(
    "command", ["cc -E a.c", "cc -MM a.c", "cc -S a.c", "cc --version", "ar t libq.a", "cc -v a.c"]
)
def test_calls_that_make_nothing(tmp_path: Path, command: str) -> None:
    made = build(tmp_path, command)
    assert made.units == []
    assert made.linked == {}


def test_a_source_that_the_build_removes(tmp_path: Path) -> None:
    made = build_of([Call(str(tmp_path), ("cc", "-o", "conftest", "conftest.c"))])
    assert made.gone == ["conftest.c"]
    assert made.linked == {}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder that alone has compilers."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/nowhere")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's a.c").write_text("int main(void) { return VALUE; }\n")
    return folder


def write_tool(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_a_build_runs_as_it_would(tools: Path, tmp_path: Path) -> None:
    write_tool(tools, "gcc", 'printf "%s|" "$PATH" "$@" > seen')
    script = 'gcc -c "it\'s a.c" \'-DVALUE="x y"\'; gcc -o p "it\'s a.o"'
    made = captured(["/bin/sh", "-c", script])
    assert (tmp_path / "seen").read_text() == f"{tools}:/nowhere|-o|p|it's a.o|"
    (unit,) = made.linked[os.path.realpath(tmp_path / "p")]
    assert unit.as_json() == {
        "directory": str(tmp_path),
        "file": "it's a.c",
        "arguments": ["gcc", "-c", "it's a.c", '-DVALUE="x y"'],
        "output": "it's a.o",
    }


def test_many_calls_at_once(tools: Path, tmp_path: Path) -> None:
    write_tool(tools, "cc", "exit 0")
    for number in range(40):
        (tmp_path / f"f{number}.c").touch()
    text = "for i in 0 1 2 3; do for j in 0 1 2 3 4 5 6 7 8 9; do cc -c f$((10*i+j)).c & done; done"
    made = captured(["/bin/sh", "-c", f"{text}; wait"])
    assert sorted(unit.file for unit in made.units) == sorted(f"f{n}.c" for n in range(40))


@pytest.mark.skipif(compiler.find().home is None, reason="$KLEENE_CC names another compiler")
def test_a_machine_without_a_compiler(tools: Path) -> None:
    made = captured(["/bin/sh", "-c", 'gcc -DVALUE=0 -c "it\'s a.c" && ar rc libq.a "it\'s a.o"'])
    assert [name.rsplit("/")[-1] for name in made.linked] == ["libq.a"]
    assert os.path.exists("libq.a")
    assert not list(tools.iterdir())


@pytest.mark.parametrize(
    ("command", "id"),
    [
        (["/bin/sh", "-c", "exit 3"], "c/build-failed"),
        (["/nowhere/make"], "c/build-failed"),
        (["/bin/sh", "-c", ":"], "c/nothing-compiled"),
    ],
)
def test_a_build_at_fault(tools: Path, command: list[str], id: str) -> None:
    write_tool(tools, "cc", "exit 0")
    with pytest.raises(SourceError) as error:
        captured(command)
    assert error.value.id == id
