"""Output is aligned for people, and files are written whole or not at all."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.cli.output import megabytes, rows, write_whole


def test_rows_are_aligned() -> None:
    assert rows([("a", 1), ("long", "two"), ("x", "")]) == "a     1\nlong  two\nx\n"
    assert rows([]) == ""


def test_sizes_are_for_people() -> None:
    assert megabytes(1_260_000) == "1.3 MB"


def test_a_file_is_written_whole_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.ir"
    write_whole(path, "first\n")
    write_whole(path, "second é\n")
    assert path.read_text(encoding="utf-8") == "second é\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["absent/out.ir", "folder"])
def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError) as caught:
        write_whole(tmp_path / place, "text")
    assert caught.value.id == "cli/cannot-write"
    assert caught.value.span is not None
    assert caught.value.span.file == str(tmp_path / place)
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_a_link_keeps_pointing_to_what_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, "text")
    assert link.is_symlink()
    assert target.read_text() == "text"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_text)
        write_whole(pipe, "text")
        assert read.result(timeout=30) == "text"
    assert pipe.is_fifo()
