"""`kleene cache` shows and clears the cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene.base.cache import Cache, key_of
from tests.cli.conftest import Kleene


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own, with one entry in it."""
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path))
    Cache(tmp_path).put("ir", key_of("one"), b"payload")
    return tmp_path


def test_the_cache_is_shown(kleene: Kleene, folder: Path) -> None:
    shown = kleene("cache").stdout.splitlines()
    assert shown == [f"folder    {folder}", "entries   1 (0.0 MB)", "writable  yes"]


def test_the_cache_is_cleared(kleene: Kleene, folder: Path) -> None:
    facts = json.loads(kleene("cache", "--clear", "--json").stdout)
    assert facts == {
        "folder": str(folder),
        "entries": 0,
        "bytes": 0,
        "problem": None,
        "removed": 1,
    }
    assert Cache(folder).size() == (0, 0)


def test_an_unwritable_cache_is_shown_as_such(
    kleene: Kleene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KLEENE_CACHE_DIR", str(tmp_path / "file"))
    done = kleene("cache")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith(f"writable  no: {tmp_path / 'file'}: ")
