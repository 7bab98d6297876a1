"""Files are read without waiting, and written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.base.files import file_problem, read_file, write_file
from kleene.base.paths import paths_of


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\0b")
    assert read_file(tmp_path / "file") == b"a\0b"
    assert file_problem(tmp_path / "file") is None


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.c")
    for path in (tmp_path, tmp_path / "pipe.c", Path("/dev/zero"), tmp_path / "absent"):
        with pytest.raises(OSError, match=r".") as caught:
            read_file(path)
        assert caught.value.strerror
        assert file_problem(path)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_what_can_be_no_name_is_an_error_of_the_system(name: str) -> None:
    with pytest.raises(OSError, match="no name of a file"):
        read_file(name)
    assert "no name of a file" in str(file_problem(name))


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "file"
    write_file(place, b"before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", full)
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_file(place, b"after")
    assert place.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [place]


def test_one_path_or_several(tmp_path: Path) -> None:
    assert paths_of("ab") == ("ab",)
    assert paths_of(tmp_path) == (str(tmp_path),)
    assert paths_of(["a", Path("b")]) == ("a", "b")
    assert paths_of(()) == ()


@pytest.mark.parametrize("value", [5, None, [5], [b"a"], 1.5, object()])
def test_what_is_no_path(value: object) -> None:
    with pytest.raises(SourceError) as caught:
        paths_of(value)  # type: ignore[arg-type]
    assert caught.value.id == "load/not-a-path"
