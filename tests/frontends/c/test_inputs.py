"""Which files are meant by files, folders, globs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.c.inputs import Given, discover
from kleene.frontends.c.source import Source

FILES = """
    b.c a.c a.h sub/deep/d.cpp sub/e.cxx sub/f.C sub/g.cc .git/h.c build/i.c .hidden.c
    cmake-build-debug/j.c other/CMakeCache.txt other/k.c notes.txt
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with sources, headers, hidden and build folders."""
    for file in FILES.split():
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(*paths: str, only: tuple[str, ...] = ()) -> list[str]:
    return [entry.file for entry in discover(paths, only)]


def refusal(*paths: str, only: tuple[str, ...] = ()) -> SourceError:
    with pytest.raises(SourceError) as caught:
        discover(paths, only)
    return caught.value


def test_a_folder_means_its_sources_in_order(tree: Path) -> None:
    under_sub = ["./sub/e.cxx", "./sub/f.C", "./sub/g.cc", "./sub/deep/d.cpp"]
    assert files(".") == ["./a.c", "./b.c", *under_sub]


def test_a_build_folder_named_itself_is_searched(tree: Path) -> None:
    assert files("build") == ["build/i.c"]


def test_a_glob_means_its_matches_of_known_kinds(tree: Path) -> None:
    assert files("*") == ["a.c", "b.c"]
    assert files("sub/**/*.c*") == ["sub/deep/d.cpp", "sub/e.cxx", "sub/g.cc"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tree: Path) -> None:
    Path("x[1].c").write_text("")
    assert files("x[1].c") == ["x[1].c"]


def test_a_file_named_twice_is_taken_once(tree: Path) -> None:
    assert files("b.c", ".", os.path.abspath("a.c")).count("b.c") == 1
    assert len(files("b.c", ".", os.path.abspath("a.c"))) == 6


def test_the_order_of_the_paths_is_kept(tree: Path) -> None:
    assert files("b.c", "a.c") == ["b.c", "a.c"]


def test_patterns_choose(tree: Path) -> None:
    assert files(".", only=("!*/sub/*",)) == ["./a.c", "./b.c"]
    assert files(".", only=("*/sub/*", "!*.C", "!*/deep/*")) == ["./sub/e.cxx", "./sub/g.cc"]
    assert files("*.c", only=("!b.c",)) == ["a.c"]
    assert files("a.c", only=("nothing",)) == ["a.c"], "a file named itself is taken"
    refused = refusal(".", only=("nothing",))
    assert (refused.id, str(refused.span)) == ("c/no-sources", ".")
    assert refused.message.startswith("no C or C++ source that 'nothing' chooses")


def test_languages_and_forms(tree: Path) -> None:
    Path("m.ll").write_text("")
    Path("n.o").write_text("")
    assert discover(["a.c", "sub/f.C", "m.ll", "n.o"]) == [
        Source("a.c", "c"),
        Source("sub/f.C", "c++"),
        Given("m.ll", "assembly"),
        Given("n.o", "bitcode"),
    ]


def test_bitcode_without_a_suffix_is_known_by_its_first_bytes(tree: Path) -> None:
    Path("program").write_bytes(b"BC\xc0\xde....")
    assert discover(["program"]) == [Given("program", "bitcode")]


@pytest.mark.parametrize(
    ("path", "id"),
    [
        ("absent.c", "c/no-such-file"),
        ("absent/", "c/no-such-file"),
        ("*.zzz", "c/no-sources"),
        (".git/empty", "c/no-sources"),
        ("notes.txt", "c/unknown-input"),
        ("a.h", "c/unknown-input"),
        ("x" * 5000, "c/no-such-file"),
        ("nul\0byte.c", "c/no-such-file"),
    ],
)
def test_refusals(tree: Path, path: str, id: str) -> None:
    Path(".git/empty").mkdir()
    error = refusal(path)
    assert error.id == id
    assert error.span is not None
    assert error.span.file == path


def test_every_wrong_path_is_reported(tree: Path) -> None:
    refused = refusal("absent.c", "a.c", "*.zzz")
    assert [(error.id, str(error.span)) for error in refused] == [
        ("c/no-such-file", "absent.c"),
        ("c/no-sources", "*.zzz"),
    ]


def test_no_paths_at_all() -> None:
    assert (refusal().id, refusal().message) == ("c/no-sources", "no input files were named")
