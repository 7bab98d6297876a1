"""Errors are rendered as a compiler would, and travel whole between processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from kleene.base.errors import SourceError, SourceErrors, Span, raise_all


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (Span("a.c"), "a.c"),
        (Span("a.c", 3), "a.c:3"),
        (Span("a.c", 3, 7), "a.c:3:7"),
    ],
)
def test_a_span_says_only_what_it_knows(span: Span, text: str) -> None:
    assert str(span) == text


def render(folder: Path, source: str, **place: int) -> list[str]:
    """Return the lines of an error at `place` in a file holding `source`."""
    file = folder / "a.c"
    file.write_text(source)
    error = SourceError(Span(str(file), **place), "room/id", "no good", "try this")
    return error.render().replace(str(file), "a.c").splitlines()


def test_the_caret_spans_the_culprit(tmp_path: Path) -> None:
    assert render(tmp_path, "int x;\ns += a[i];\n", line=2, column=6, length=4) == [
        "a.c:2:6: error[room/id]: no good",
        "   2 | s += a[i];",
        "     |      ^^^^",
        "note: try this",
    ]


def test_the_caret_stays_under_tabs(tmp_path: Path) -> None:
    shown = render(tmp_path, "\tif\tx;\n", line=1, column=5)
    assert shown[1:3] == ["   1 | \tif\tx;", "     | \t  \t^"]


def test_a_span_longer_than_its_line_is_cut(tmp_path: Path) -> None:
    assert render(tmp_path, "abc\n", line=1, column=2, length=99)[2] == "     |  ^^"


def test_a_column_beyond_the_line_points_at_its_end(tmp_path: Path) -> None:
    assert render(tmp_path, "abc\n", line=1, column=40, length=3)[2] == "     |    ^"


def test_a_line_without_column_has_no_caret(tmp_path: Path) -> None:
    assert render(tmp_path, "abc\n", line=1)[1:] == ["   1 | abc", "note: try this"]


def test_a_line_beyond_the_file_has_no_excerpt(tmp_path: Path) -> None:
    assert render(tmp_path, "abc\n", line=9, column=1)[1:] == ["note: try this"]


def test_bytes_that_are_no_text_are_shown_replaced(tmp_path: Path) -> None:
    file = tmp_path / "latin.c"
    file.write_bytes(b"caf\xe9;\n")
    error = SourceError(Span(str(file), 1, 5), "room/id", "no good")
    assert error.render().splitlines()[1:] == [
        "   1 | caf\N{REPLACEMENT CHARACTER};",
        "     |     ^",
    ]


def test_of_a_long_line_the_part_around_the_place_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "long.c"
    path.write_text("x" * 150_000 + "@" + "y" * 150_000)
    shown = SourceError(Span(str(path), 1, 150_001), "room/id", "bad " * 9_000).render()
    assert len(shown) < 1_500
    line, caret = shown.splitlines()[1:]
    assert line.startswith("   1 | …x")
    assert line.endswith("y…")
    assert line.index("@") == caret.index("^")


def test_nothing_in_an_error_reaches_a_terminal_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[2J\n.c"
    path.write_text("\x1b]0;title\x07 code\n")
    error = SourceError(Span(str(path), 1, 12), "room/id", "\x1b[31m", "a\x9bnote\u202e")
    assert all(c.isprintable() or c == "\n" for c in error.render())
    assert len(error.render().splitlines()) == 4


@pytest.mark.parametrize("name", ["absent.c", "", ".", "nul\0byte.c"])
def test_an_unreadable_file_has_no_excerpt(name: str, tmp_path: Path) -> None:
    span = Span(str(tmp_path / name), 1, 1)
    shown = str(span).replace("\0", "<U+0000>")
    assert SourceError(span, "room/id", "gone").render() == f"{shown}: error[room/id]: gone"


def test_an_error_without_a_place_has_no_head() -> None:
    assert str(SourceError(None, "room/id", "no good")) == "error[room/id]: no good"


def test_an_error_survives_pickling() -> None:
    error = SourceError(Span("a.c", 3, 7, 2), "room/id", "no good", "one", "two")
    again = pickle.loads(pickle.dumps(error))
    assert (again.span, again.id, again.message, again.notes) == (
        error.span,
        error.id,
        error.message,
        error.notes,
    )


def test_several_errors_survive_pickling_and_nest_flat() -> None:
    single = [SourceError(Span("a.c", n), "room/id", f"number {n}") for n in (1, 2, 3)]
    nested = SourceErrors([SourceErrors(single[:2]), single[2]])
    again = pickle.loads(pickle.dumps(nested))
    assert [error.message for error in again] == ["number 1", "number 2", "number 3"]
    assert again.render().splitlines() == [
        f"a.c:{n}: error[room/id]: number {n}" for n in (1, 2, 3)
    ]


def test_raise_all_raises_none_one_or_all() -> None:
    one, two = (SourceError(None, "room/id", word) for word in ("one", "two"))
    raise_all([])
    with pytest.raises(SourceError) as alone:
        raise_all([one])
    assert alone.value is one
    with pytest.raises(SourceErrors) as both:
        raise_all([one, two])
    assert list(both.value) == [one, two]


def test_json_says_what_is_unknown() -> None:
    assert SourceError(Span("a.c", 3, 7), "room/id", "no good", "try").as_json() == {
        "id": "room/id",
        "message": "no good",
        "file": "a.c",
        "line": 3,
        "column": 7,
        "notes": ["try"],
    }
    assert SourceError(None, "room/id", "no good").as_json()["file"] is None
    assert SourceError(Span("a.c"), "room/id", "no good").as_json()["line"] is None
