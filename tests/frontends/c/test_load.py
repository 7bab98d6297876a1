"""`kleene.load` as a whole: what it takes, what it remembers, what it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

import kleene
from kleene.base import progress
from kleene.base.cache import Cache
from kleene.base.errors import SourceError
from kleene.frontends.c import driver, reader
from kleene.ir.store import dumps


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a program of two files, and a cache of its own."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/one.c").write_text("int two(int);\nint one(int x) { return two(x) + 1; }\n")
    (tmp_path / "src/two.c").write_text("int two(int x) { int y = x; return y + y; }\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KLEENE_CC", raising=False)
    return tmp_path


def same(one: kleene.Program, other: kleene.Program) -> bool:
    return dumps(one) == dumps(other)


def start(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_paths_may_be_one_or_many_of_any_kind(here: Path) -> None:
    whole = kleene.load("src")
    assert same(whole, kleene.load(Path("src")))
    assert same(whole, kleene.load(["src/one.c", Path("src/two.c")]))
    assert same(whole, kleene.load(iter(["src/*.c"])))


def test_options_may_be_one_or_many(here: Path) -> None:
    (here / "n.c").write_text("int f(void) { return A + B; }\n")
    both = kleene.load("n.c", defines=["A=1", "B=2"], cache=False)
    assert same(both, kleene.load("n.c", defines="A=1", flags="-DB=2 -fwrapv", cache=False))


def test_a_second_load_needs_neither_compiler_nor_llvm_nor_numba(here: Path, made: Path) -> None:
    bitcode = str(made / "square.bc")
    kleene.load(bitcode)
    code = f"import kleene, sys; kleene.load({bitcode!r}); print(*sys.modules)"
    again = start(code)
    modules = set(again.communicate()[0].split())
    assert again.returncode == 0
    assert "kleene.ir.store" in modules
    assert not modules & {"llvmlite.binding", "numba", "cupy"}


def test_llvm_is_asked_only_where_it_is_needed(
    here: Path, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bitcode = [str(made / name) for name in ("square.bc", "plain.bc")]
    through_llvm = kleene.load(bitcode[0], normalise=True, cache=False)

    def asked(_units: object) -> object:
        raise AssertionError("LLVM is asked")

    monkeypatch.setattr(driver, "linking", asked)
    program = kleene.load(bitcode[0], cache=False)
    assert len(program.instructions) == len(through_llvm.instructions)
    for paths, normalise in ((bitcode[0], True), (bitcode, False), ("src/two.c", False)):
        with pytest.raises(AssertionError, match="LLVM is asked"):
            kleene.load(paths, normalise=normalise, cache=False)


def test_what_another_llvm_would_upgrade_goes_through_ours(here: Path) -> None:
    module = llvm.parse_assembly("declare void @llvm.dbg_old()\n@x = global i32 7\n")
    raw = module.as_bitcode().replace(b"llvm.dbg_old", b"llvm.dbg.old")
    (here / "old.bc").write_bytes(raw)
    assert reader.read_given(raw) is None
    assert kleene.load("old.bc", cache=False).constants.payload.tolist().count(7) == 1


def test_columns_are_read_only_at_first_and_from_the_cache(here: Path) -> None:
    """Loops are compiled for arrays that may be written, and for others: once will do."""
    for program in (kleene.load("src"), kleene.load("src")):
        columns = [column for _, column in program.instructions.columns()]
        assert not any(column.flags.writeable for column in columns)


def test_what_is_remembered_is_what_is_made(here: Path) -> None:
    first = kleene.load("src")
    assert same(first, kleene.load("src"))
    assert same(first, kleene.load("src", cache=False))
    assert same(first, kleene.load("src", cache=Cache(here / "another")))
    assert (here / "another").is_dir()


def test_damaged_entries_are_made_again(here: Path) -> None:
    first = kleene.load("src")
    entries = [path for path in (here / "cache").rglob("*") if path.is_file()]
    assert len(entries) == 5, "two units, both normalised, and a program"
    for entry in entries:
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert same(first, kleene.load("src"))
    for entry in entries:
        entry.write_bytes(b"")
    assert same(first, kleene.load("src"))


def test_order_and_normal_form_are_part_of_the_key(here: Path, made: Path) -> None:
    plain = made / "plain.bc"
    assert not same(kleene.load(plain), kleene.load(plain, normalise=True))
    forth, back = ["src/one.c", "src/two.c"], ["src/two.c", "src/one.c"]
    assert not same(kleene.load(forth), kleene.load(back))


def test_two_processes_load_the_same_at_once(here: Path) -> None:
    code = (
        "import hashlib, kleene; from kleene.ir.store import dumps;"
        "print(hashlib.sha256(dumps(kleene.load('src'))).hexdigest())"
    )
    running = [start(code), start(code)]
    (one, two) = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert one == two
    assert not list((here / "cache").rglob(".tmp-*"))


def test_without_a_cache_nothing_is_written(here: Path) -> None:
    kleene.load("src", cache=False)
    assert sorted(os.listdir()) == ["src"]
    assert sorted(os.listdir("src")) == ["one.c", "two.c"]


def test_a_cache_that_cannot_be_written(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "file").write_text("")
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(here / "file" / "cache"))
    assert same(kleene.load("src"), kleene.load("src", cache=False))


def test_a_failed_load_leaves_nothing_half_done(here: Path, made: Path) -> None:
    (here / "bad.c").write_text("int f(void) { return x; }\n")
    before = set(os.listdir(here))
    for paths in ("bad.c", ["src", "src/absent.c"], [made / "native.o"], [made / "arm.bc", "src"]):
        with pytest.raises(kleene.SourceError):
            kleene.load(paths)
    assert set(os.listdir(here)) - before <= {"cache"}
    kinds = {path.parts[-3] for path in (here / "cache").rglob("*") if path.is_file()}
    assert kinds <= {"c-unit"}, "good units may be remembered, no program was made"


def test_progress_is_reported(here: Path) -> None:
    reported: list[tuple[str, int | None]] = []
    steps: list[int] = []

    @contextmanager
    def sink(title: str, total: int | None) -> Iterator[progress.Advance]:
        reported.append((title, total))
        yield steps.append

    with progress.showing(sink):
        kleene.load("src")
    assert reported[:2] == [("compiling", 2), ("linking", None)]
    assert ("reading", None) in reported
    assert sum(steps[:2]) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": -1},
        {"jobs": 0},
        {"flags": "'"},
        {"flags": ["\0"]},
        {"defines": "A=\0"},
        {"defines": "\ud800"},
        {"includes": "\0"},
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(SourceError) as caught:
        kleene.load(tmp_path / "a.c", cache=False, **options)
    assert caught.value.id == "c/bad-option"


@pytest.mark.parametrize("path", ["a\0.c", "\ud800.c", "", "x" * 5000 + ".c", "a.c/b.c", "\0*.c"])
def test_paths_that_cannot_be(path: str) -> None:
    with pytest.raises(SourceError):
        kleene.load(path)


def test_names_that_a_compiler_would_take_for_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["-x.c", "@y.c", "-", "--help.c"]
    for number, name in enumerate(names):
        suffix = "" if name.endswith(".c") else ".c"
        Path(name + suffix).write_text(f"int f{number}(void) {{ return 0; }}\n")
    files = [name if name.endswith(".c") else f"{name}.c" for name in names]
    for paths in (files, "."):
        found = kleene.load(paths, cache=False)
        assert sorted(one.name for one in found.functions) == ["f0", "f1", "f2", "f3"]


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xff.c")
    path.write_text("int main(void) { return 0; }\n")
    for cache in (False, True):
        assert [one.name for one in kleene.load(path, cache=cache).functions] == ["main"]


def test_a_crash_of_the_compiler_is_its_own_fault_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "a.c").write_text("#pragma clang __debug crash\nint x;\n")
    with pytest.raises(SourceError) as caught:
        kleene.load(tmp_path / "a.c", cache=False)
    assert caught.value.id == "c/compiler-crashed"
    assert list(scratch.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
@pytest.mark.parametrize("name", ["x.c", "x.cc", "x.ll", "x.bc", "x.json", "x", "x.scm", "in/x.c"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / name)
    for path in (tmp_path / name, tmp_path / name.partition("/")[0]):
        with pytest.raises(SourceError) as caught:
            kleene.load(path)
        assert caught.value.id in ("c/unreadable", "scheme/unreadable")
        assert caught.value.message == "it is a pipe, not a file"
