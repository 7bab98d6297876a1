"""Lines are those a compiler counts, and paths are those people read."""

from __future__ import annotations

from pathlib import Path

from kleene.base.source_text import relative_path, source_line, source_lines, visible


def test_lines_end_where_compilers_say(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_bytes(b"one\ftwo\r\nthree\rfour\xe2\x80\xa8five\nsix\xff")
    assert source_lines(str(file)) == ("one\ftwo", "three", "four\u2028five", "six\ufffd")
    assert [source_line(str(file), line) for line in (0, 1, 5)] == ["", "one\ftwo", ""]
    file.write_text("other")
    assert source_lines(str(file)) == ("other",)


def test_what_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    assert source_lines(str(tmp_path / "absent")) == source_lines(str(tmp_path)) == ()
    assert source_lines("a\0b") == ()


def test_paths_go_from_the_root_on() -> None:
    assert relative_path("/a/b/c.c", "/a") == "b/c.c"
    assert relative_path("/a/x/../b/c.c", "/a/b/") == "c.c"
    assert relative_path("/ab/c.c", "/a") == "/ab/c.c"


def test_hidden_characters_are_shown() -> None:
    assert visible("a\u202eb\tc\u2069é") == "a<U+202E>b\tc<U+2069>é"
