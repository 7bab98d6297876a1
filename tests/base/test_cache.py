"""The cache gives back what was put, or nothing: never something else."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.cache import Cache, default_folder, key_of

KEY = key_of("what it was made from")


def entry_of(cache: Cache) -> Path:
    """Return the one file in the cache."""
    assert cache.folder is not None
    (path,) = (path for path in cache.folder.rglob("*") if path.is_file())
    return path


def test_an_entry_comes_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "made" / "on" / "demand")
    assert cache.get("ir", KEY) is None
    assert cache.put("ir", KEY, b"payload")
    assert cache.get("ir", KEY) == b"payload"
    assert cache.get("unit", KEY) is None
    assert cache.size() == (1, entry_of(cache).stat().st_size)


@given(parts=st.lists(st.binary(max_size=4), max_size=4), other=st.lists(st.binary(max_size=4)))
def test_keys_tell_boundaries_apart(parts: list[bytes], other: list[bytes]) -> None:
    assert (key_of(*parts) == key_of(*other)) == (parts == other)


@pytest.mark.parametrize("length", [0, 1, 20, 46, 47, 50])
def test_a_truncated_entry_is_a_miss_and_is_mended(tmp_path: Path, length: int) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", KEY, b"payload")
    path = entry_of(cache)
    assert path.stat().st_size > length
    path.write_bytes(path.read_bytes()[:length])
    assert cache.get("ir", KEY) is None
    assert cache.put("ir", KEY, b"payload")
    assert cache.get("ir", KEY) == b"payload"


@pytest.mark.parametrize("position", [0, 14, 15, 46, 47, 53])
def test_a_flipped_bit_is_a_miss(tmp_path: Path, position: int) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", KEY, b"payload")
    raw = bytearray(entry_of(cache).read_bytes())
    raw[position] ^= 1
    entry_of(cache).write_bytes(raw)
    assert cache.get("ir", KEY) is None


def test_an_entry_under_anothers_name_is_a_miss(tmp_path: Path) -> None:
    cache, keys = Cache(tmp_path), [key_of("a"), key_of("b")]
    for kind in ("kind", "other"):
        for key in keys:
            cache.put(kind, key, f"{kind} {key}".encode())
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()]
    contents = [file.read_bytes() for file in files]
    for file, raw in zip(files, contents[1:] + contents[:1], strict=True):
        file.write_bytes(raw)
    assert {cache.get(kind, key) for kind in ("kind", "other") for key in keys} == {None}


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("HOME", "XDG_CACHE_HOME", "KLEENE_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    cache = Cache(default_folder())
    assert not cache.put("kind", key_of("a"), b"payload")
    assert cache.get("kind", key_of("a")) is None
    assert "/dev/null" in str(cache.problem())


def test_names_that_are_no_text_have_keys(tmp_path: Path) -> None:
    assert len({key_of("\udcff"), key_of("\ud800"), key_of("?"), key_of("\xff")}) == 4


def test_a_folder_in_an_entrys_place_is_a_miss(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    (tmp_path / "ir" / KEY[:2] / KEY).mkdir(parents=True)
    assert cache.get("ir", KEY) is None
    assert not cache.put("ir", KEY, b"payload")
    assert cache.size() == (0, 0), "nothing half-written may stay"


def test_an_unwritable_folder_costs_no_answer(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    cache = Cache(blocked / "cache")
    assert not cache.put("ir", KEY, b"payload")
    assert cache.get("ir", KEY) is None
    assert cache.size() == (0, 0)
    assert cache.clear() == 0
    problem = cache.problem()
    assert problem is not None
    assert str(blocked) in problem


NOBODY = 65534


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder of our own that we cannot write to; root, who could, is nobody meanwhile."""
    folder = Path(tempfile.mkdtemp())  # others cannot even look into pytest's own folders
    folder.chmod(0o500)
    if is_root := os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    yield folder
    if is_root:
        os.seteuid(0)
    folder.rmdir()


def test_a_read_only_folder_is_named_as_the_problem(read_only: Path) -> None:
    cache = Cache(read_only)
    assert not cache.put("ir", KEY, b"payload")
    assert cache.problem() == f"{read_only}: Permission denied"


def test_no_cache_remembers_nothing() -> None:
    cache = Cache(None)
    assert not cache.put("ir", KEY, b"payload")
    assert cache.get("ir", KEY) is None
    assert cache.size() == (0, 0)
    assert cache.clear() == 0
    assert cache.problem() == "switched off"


def test_clearing_spares_files_that_are_not_ours(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", KEY, b"payload")
    cache.put("unit", KEY, b"payload")
    foreign = tmp_path / "a" / "b" / "c"
    foreign.parent.mkdir(parents=True)
    foreign.write_text("not an entry")
    assert cache.size()[0] == 2
    assert cache.clear() == 2
    assert foreign.exists()
    assert cache.get("ir", KEY) is None


def test_clearing_takes_what_a_killed_run_left(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("ir", KEY, b"payload")
    left = entry_of(cache).with_name(".tmp-left")
    left.write_bytes(b"half")
    assert cache.clear() == 2
    assert not left.exists()


def hammer(folder: Path, seed: int, n_rounds: int) -> int:
    """Write and read the same few keys; return how many reads were hits."""
    cache = Cache(folder)
    n_hits = 0
    for turn in range(n_rounds):
        key = key_of(str(turn % 3))
        assert cache.put("ir", key, key.encode() * 500)
        found = cache.get("ir", key_of(str((turn + seed) % 3)))
        n_hits += found is not None
        assert found in (None, key_of(str((turn + seed) % 3)).encode() * 500)
    return n_hits


def test_concurrent_writers_never_show_half_an_entry(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(3) as pool:
        hits = pool.starmap(hammer, [(tmp_path, seed, 200) for seed in range(3)])
    assert all(n_hits > 0 for n_hits in hits)
    assert Cache(tmp_path).size()[0] == 3, "no temporary file may stay behind"


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLEENE_CACHE_DIR", "chosen")
    assert default_folder() == Path("chosen")
    monkeypatch.delenv("KLEENE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_folder() == Path("/xdg/kleene")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", "/home/someone")
    assert default_folder() == Path("/home/someone/.cache/kleene")
