"""Every syntax error of a text is reported, by its place, and none that only follows from one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme import bulk, load, parse
from kleene.frontends.scheme.expansion import Expansion
from kleene.kernels.compiled import interpreted

FORMS = """\
(define (f x) (if) (let ((y)) y))
(define 3 4)
(display (lambda (z z) z))
(define-syntax broken (syntax-rules))
(broken 1 2)
(define (g) (broken (a . b)) (set! if 1))
(let loop () (guard))
(import (no such library))
"""
FOUND = [
    ("scheme/bad-syntax", "1:15"),
    ("scheme/bad-syntax", "1:26"),
    ("scheme/bad-syntax", "2:9"),
    ("scheme/bound-twice", "3:21"),
    ("scheme/bad-rules", "4:23"),
    ("scheme/keyword", "6:36"),
    ("scheme/bad-syntax", "7:14"),
    ("scheme/no-library", "8:9"),
]


def errors(text: str) -> list[tuple[str, str]]:
    with pytest.raises(SourceError) as caught:
        parse(text, "t.scm")
    return [(each.id, str(each.span).removeprefix("t.scm:")) for each in caught.value]


def test_forms() -> None:
    assert errors(FORMS) == FOUND


def test_forms_in_bulk() -> None:
    program = Expansion()
    source = program.sources.add("t.scm", FORMS.encode())
    with interpreted(), pytest.raises(SourceError) as caught:
        bulk.expand_source(program.expander, source, program.top)
    found = [(each.id, str(each.span).removeprefix("t.scm:")) for each in caught.value]
    assert found == FOUND


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(a 1/0)\n(b #\\nope) (if)", ["scheme/bad-number", "scheme/bad-character"]),
        ("a)\n(b]\n'", ["scheme/unopened", "scheme/mismatched", "scheme/missing-datum"]),
        ("(a . b c) ( . d) #u8(1 x) (if)", ["scheme/bad-dot", "scheme/bad-dot", "scheme/bad-byte"]),
        ("1/0 (a (b", ["scheme/bad-number", "scheme/unclosed"]),
        ('1/0 (a "b) (c', ["scheme/bad-number", "scheme/unclosed-string"]),
        ("1/0 (a #| b) (c", ["scheme/bad-number", "scheme/unclosed-comment"]),
        ("('a '", ["scheme/missing-datum"]),
        ("#!strange 1/0", ["scheme/bad-directive", "scheme/bad-number"]),
    ],
)
def test_text(text: str, found: list[str]) -> None:
    """Forms are looked at as well, but not where parentheses are wrong."""
    expected = found + ["scheme/bad-syntax"] * (found[-1] == "scheme/bad-character")
    assert [id for id, _ in errors(text)] == expected


def test_no_more_than_anyone_reads() -> None:
    assert len(errors("(if)\n" * 1000)) == 50
    assert len(errors("1/0\n" * 1000)) <= 51
    assert len(errors(")\n" * 1000)) <= 51


def test_a_library_with_errors(tmp_path: Path) -> None:
    """What imports it is not wrong for that."""
    text = "(define-library (l) (export f) (import (scheme base)) (begin (define (f) (if)) (let)))"
    (tmp_path / "l.sld").write_text(text)
    (tmp_path / "main.scm").write_text("(import (scheme base) (l))\n(f)\n(if)")
    with pytest.raises(SourceError) as caught:
        load(tmp_path / "main.scm")
    places = [Path(each.span.file).name for each in caught.value if each.span]
    assert places == ["main.scm", "l.sld", "l.sld"]
