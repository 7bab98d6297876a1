"""Faults of the machine: killed at any moment, a full disk, many at once, a clock set back.

Whatever happens, an answer is the right one or there is an error with an id, files that others read
are whole or as they were, and the next run is right. `KLEENE_DEEP=1` tries each write and 200
moments.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kleene
from kleene.base.cache import Cache
from kleene.frontends.c.compiler import find
from tests.cli.conftest import COMMAND

IS_DEEP = bool(os.environ.get("KLEENE_DEEP"))
N_KILLS = 200 if IS_DEEP else 2
needs_time = pytest.mark.skipif(not IS_DEEP, reason="takes minutes: KLEENE_DEEP=1")
MOMENTS_S = (0.05, 1.2)
SOURCES = {
    "a.c": '#include "a.h"\nint x, *p = &x;\nint main(void) { return *f(p) + g(&p); }\n',
    "b.c": '#include "a.h"\nint *f(int *q) { return q; }\nint g(int **r) { return **r; }\n',
    "a.h": "int *f(int *); int g(int **);\n",
}


class Project:
    """A small program, a cache of its own, and the right answer."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.output = folder, folder / "out.json"
        for name in ("source", "tmp"):
            (folder / name).mkdir()
        for name, text in SOURCES.items():
            (folder / "source" / name).write_text(text)
        self.environment = os.environ | {
            "TMPDIR": str(folder / "tmp"),
            "KLEENE_CACHE_DIR": str(folder / "cache"),
            "NUMBA_DISABLE_JIT": "1",  # what is compiled by Numba has its tests in tests/kernels
        }
        self.command = [
            *(*COMMAND, "points-to", "source", "--quiet"),
            *("--export", str(self.output), "--query", "f.q", "--query", "g.r"),
        ]
        self.right, _ = self.run()
        assert "x" in self.right
        self.exported = self.export()

    def start(self, **environment: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        whole = self.environment | environment
        return subprocess.Popen(
            self.command, cwd=self.folder, env=whole, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, **environment: str) -> tuple[str, str]:
        """Return what one run answers, and what it says beside that."""
        with self.start(**environment) as child:
            answer, beside = child.communicate(timeout=100)
        assert child.returncode in (0, 1), beside
        assert "Traceback" not in beside
        if child.returncode:
            assert "error[" in beside
        return answer, beside

    def forget(self) -> None:
        """Empty the cache, and remove the output."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self.output.unlink(missing_ok=True)

    def export(self) -> dict[str, object]:
        """Return what is in the output, but for times."""
        found = json.loads(self.output.read_text())
        del found["statistics"]
        return dict(found)

    def is_whole(self) -> bool:
        """Return whether the output is there as a whole, or not at all."""
        return not self.output.exists() or self.export() == self.exported


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("faults"))


def test_killed_at_any_moment(project: Project) -> None:
    chance = random.Random(1)
    for number in range(N_KILLS):
        if number % 3 == 0:
            project.forget()
        with project.start() as child:
            time.sleep(chance.uniform(*MOMENTS_S))
            child.kill()
        assert project.is_whole()
        if number % 5 == 4:
            assert project.run()[0] == project.right
            assert project.is_whole()
    assert project.run()[0] == project.right
    left = [path.name for path in project.folder.iterdir()]
    assert sorted(name for name in left if not name.startswith(".out.json.")) == [
        *("cache", "out.json", "source", "tmp")
    ]


def test_many_at_once_on_a_cold_cache(project: Project) -> None:
    for n_runs in range(2, 9) if IS_DEEP else (3,):
        project.forget()
        running = [project.start() for _ in range(n_runs)]
        answers = [child.communicate(timeout=200) for child in running]
        assert [answer for answer, _ in answers] == [project.right] * n_runs
        assert project.is_whole()


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes a disk full, built by the bundled compiler."""
    if sys.platform != "linux":
        pytest.skip("LD_PRELOAD is Linux's")
    folder = tmp_path_factory.mktemp("full_disk")
    source = Path(__file__).with_name("full_disk.c")
    library = folder / "full_disk.so"
    scratch = {name: str(folder) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    zig, kind = find().for_c[:2]
    words = [zig, kind, "-shared", "-fPIC", "-O1", str(source), "-o", str(library)]
    subprocess.run(words, check=True, env=os.environ | scratch, capture_output=True)
    return library


@needs_time
def test_a_disk_that_is_full_from_any_write_on(project: Project, full_disk: Path) -> None:
    counted = project.folder.parent / "counted"

    def run(after: int) -> tuple[str, str]:
        project.forget()
        told = {"FULL_AFTER": str(after), "FULL_COUNT": str(counted)}
        return project.run(LD_PRELOAD=str(full_disk), **told)

    assert run(1_000_000)[0] == project.right
    n_changes = max(map(int, counted.read_text().split()))
    assert n_changes > 10
    n_failed = 0
    for after in range(n_changes):
        answer, beside = run(after)
        n_failed += "error[" in beside
        assert answer == project.right or "error[" in beside
        assert project.is_whole()
        assert project.run()[0] == project.right
    assert n_failed


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX")
@pytest.mark.parametrize("n_bytes", [0, 3000, 10_000, 40_000] if IS_DEEP else [3000])
def test_files_that_cannot_grow(project: Project, n_bytes: int) -> None:
    """Every write beyond some bytes fails, those of compilers and of temporary files too."""
    project.forget()
    limit = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({n_bytes},) * 2)"
    words = [
        sys.executable,
        "-c",
        f"{limit}; os.execv(sys.argv[1], sys.argv[1:])",
        *project.command,
    ]
    done = subprocess.run(
        words, cwd=project.folder, env=project.environment, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert done.stdout == project.right or "error[" in done.stderr
    assert done.returncode == ("error[" in done.stderr)
    assert project.is_whole()
    assert project.run()[0] == project.right


@pytest.mark.parametrize("shift_s", [-86_400, 86_400, -0.5] if IS_DEEP else [-86_400])
def test_a_clock_that_is_set(
    tmp_path: Path, shift_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that is changed after the clock was set, in as many bytes, is read again."""
    file, cache = tmp_path / "a.c", Cache(tmp_path / "cache")
    clock = time.time_ns
    for number in range(3):
        file.write_text(f"int function_{number}(void) {{ return {number}; }}\n")
        now_ns = clock() + int(number * shift_s * 1e9)
        os.utime(file, ns=(now_ns - 5_000_000_000, now_ns - 5_000_000_000))
        monkeypatch.setattr(time, "time_ns", lambda now_ns=now_ns: now_ns)
        for _ in range(2):
            program = kleene.load(file, cache=cache)
            assert [one.name for one in program.functions] == [f"function_{number}"]


def test_what_a_killed_run_left_in_the_cache_is_no_entry(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("kind", "ab" * 32, b"payload")
    (tmp_path / "kind" / "ab" / ".tmp-killed").write_bytes(b"half")
    assert cache.get("kind", "ab" * 32) == b"payload"
    assert cache.clear() == 2
    assert list(tmp_path.glob("*/*/*")) == []
