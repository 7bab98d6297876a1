"""What the tests of the Scheme front end share."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme import parse
from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Identifier,
    Labelled,
    LabelUse,
    Literal,
    Vector,
    plain_name,
)
from kleene.frontends.scheme.expander.quoting import literal_value
from kleene.frontends.scheme.interpreter import run_text
from kleene.frontends.scheme.interpreter.show import text_of
from kleene.frontends.scheme.reader import read
from kleene.ir.scheme.sources import Sources

PROGRAMS = Path(__file__).resolve().parents[2] / "programs" / "scheme"


def data_of(text: str | bytes) -> tuple[list[Datum], Sources]:
    """Return the data of a text, and the sources their places are in."""
    sources = Sources()
    raw = text.encode() if isinstance(text, str) else text
    return read(sources, sources.add("t.scm", raw)), sources


def shown(datum: Datum) -> str:
    """Return a datum as text, without abbreviations."""
    if isinstance(datum, Identifier):
        return text_of(plain_name(datum.name), is_written=True)
    if isinstance(datum, Literal):
        return text_of(literal_value(datum.value), is_written=True)
    if isinstance(datum, Labelled):
        return f"#{datum.label}={shown(datum.datum)}"
    if isinstance(datum, LabelUse):
        return f"#{datum.label}#"
    inside = " ".join(shown(item) for item in datum.items)
    if isinstance(datum, Dotted):
        return f"({inside} . {shown(datum.tail)})"
    return f"#({inside})" if isinstance(datum, Vector) else f"({inside})"


def fault(text: str | bytes) -> tuple[str, int, int]:
    """Return the id, line and column of what is wrong with a program."""
    with pytest.raises(SourceError) as caught:
        parse(text, "t.scm")
    span = caught.value.span
    assert span is not None
    return caught.value.id, span.line, span.column


def output(text: str, **options: object) -> str:
    """Return what a program prints."""
    return run_text(text, max_steps=2_000_000, **options).output


def value(expression: str) -> str:
    """Return the value of the last form of a program, written."""
    return text_of(run_text(expression, max_steps=2_000_000).value, is_written=True)


def examples(name: str) -> list[tuple[str, str]]:
    """Return the programs of a file beside this one, each with the value written after `;=> `."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    blocks = (block.rpartition("\n;=> ") for block in text.strip().split("\n\n"))
    return [(program, expected.strip()) for program, _, expected in blocks]
