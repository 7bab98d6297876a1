"""An unchanged source is not even preprocessed; whatever changes what it means is seen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import kleene
from kleene.base import tidy
from kleene.base.cache import Cache

AN_HOUR_AGO = 3600


class Project:
    """Files that were written an hour ago, the folders above them too, and a cache."""

    def __init__(self, folder: Path, starts: list[object]) -> None:
        self.folder, self._starts = folder, starts
        self._cache = Cache(folder.parent / "cache")

    def write(self, **texts: str) -> None:
        """Write files: `inc__a_h` is inc/a.h."""
        for name, text in texts.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def age(self) -> None:
        """Let everything be as old as if nobody had touched it for an hour."""
        for path in [self.folder, *self.folder.rglob("*")]:
            status = path.stat()
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - AN_HOUR_AGO * 10**9))

    def load(self, **options: object) -> tuple[list[str], int]:
        """Return the functions of main.c as it is now, and how many processes that started."""
        before = len(self._starts)
        file = self.folder / "main.c"
        program = kleene.load(file, cache=self._cache, **options)  # type: ignore[arg-type]
        names = [function.name for function in program.functions]
        return names, len(self._starts) - before


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    starts: list[object] = []
    run = tidy.run

    def counted(command: list[str], **settings: object) -> object:
        starts.append(command)
        return run(command, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(tidy, "run", counted)
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder, starts)


def test_an_unchanged_source_starts_no_process(project: Project) -> None:
    project.write(main_c='#include "a.h"\nint first(void) { return A; }\n', a_h="#define A 1\n")
    project.age()
    assert project.load() == (["first"], 2)  # preprocessed, then compiled
    assert project.load() == (["first"], 0)
    assert project.load(defines="A=1")[1] > 0


def test_a_file_written_a_moment_ago_is_preprocessed_again(project: Project) -> None:
    project.write(main_c="int first(void) { return 1; }\n")
    assert [project.load()[1] for _ in range(3)] == [2, 1, 1]
    project.age()
    assert [project.load()[1] for _ in range(2)] == [1, 0]


def _edit_the_source(project: Project) -> None:
    project.write(main_c='#include "x/a.h"\nint second(void) { return 1; }\n')


def _edit_the_header(project: Project) -> None:
    project.write(inc__x__a_h="#define NAME second\n")


def _shadow_in_the_first_folder(project: Project) -> None:
    project.write(first__x__a_h="#define NAME second\n")


def _shadow_beside_the_source(project: Project) -> None:
    project.write(x__a_h="#define NAME second\n")


@pytest.mark.parametrize(
    "change",
    [_edit_the_source, _edit_the_header, _shadow_in_the_first_folder, _shadow_beside_the_source],
)
@pytest.mark.parametrize("is_there", [False, True])
def test_a_change_is_seen(
    project: Project, change: Callable[[Project], None], is_there: bool
) -> None:
    project.write(main_c='#include "x/a.h"\nint NAME(void) { return 1; }\n')
    project.write(inc__x__a_h="#define NAME first\n", first__other_h="")
    if is_there:  # the folders that a new header comes into
        project.write(first__x__b_h="", x__b_h="")
    project.age()
    includes = [str(project.folder / name) for name in ("first", "inc")]
    assert [project.load(includes=includes) for _ in range(2)] == [(["first"], 2), (["first"], 0)]
    change(project)
    names, n_started = project.load(includes=includes)
    assert (names, n_started > 0) == (["second"], True)


@pytest.mark.parametrize(
    "text",
    [
        '#if __has_include("b/c.h")\n#endif\nint first(void) { return 1; }\n',
        "const char *first(void) { return __TIME__; }\n",
    ],
)
def test_what_looks_elsewhere_is_preprocessed_each_time(project: Project, text: str) -> None:
    project.write(main_c=text)
    project.age()
    project.load()
    assert project.load()[1] > 0


def test_flags_and_variables_that_may_mean_anything(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(main_c="int first(void) { return 1; }\n", b_h="")
    project.age()
    flags = ["-include", str(project.folder / "b.h")]
    assert [project.load(flags=flags)[1] for _ in range(2)] == [2, 1]
    assert [project.load()[1] for _ in range(2)] == [2, 0]
    monkeypatch.setenv("CPATH", str(project.folder))
    assert project.load()[1] == 1
