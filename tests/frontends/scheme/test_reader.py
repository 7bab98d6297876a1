"""The reader: every piece of R7RS-small's lexical syntax, with places, and what is refused."""

from __future__ import annotations

import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme.data import Form, Identifier
from kleene.frontends.scheme.reader import read, read_first
from kleene.frontends.scheme.reader.numbers import parse_number
from kleene.ir.scheme.sources import Sources
from tests.frontends.scheme.helpers import data_of, fault, shown

READS = [
    # lists
    ("()", "()"),
    ("(a b c)", "(a b c)"),
    ("(a . b)", "(a . b)"),
    ("(a b . c)", "(a b . c)"),
    ("(a . (b c))", "(a b c)"),
    ("(a . (b . c))", "(a b . c)"),
    ("[a (b) [c]]", "(a (b) (c))"),
    ("#(1 #(2) ())", "#(1 #(2) ())"),
    ("#u8(0 255 #xff)", "#u8(0 255 255)"),
    ("#u8()", "#u8()"),
    # abbreviations
    ("'a", "(quote a)"),
    ("`(a ,b ,@c)", "(quasiquote (a (unquote b) (unquote-splicing c)))"),
    ("''()", "(quote (quote ()))"),
    ("(a . 'b)", "(a quote b)"),
    # symbols
    ("... + - -> ->x 1+ +- .a a.b <=? !$%&*/:<=>?^_~", None),
    ("|odd name| |a\\x41;b| |a\\|b|", "|odd name| aAb |a\\|b|"),
    ("||", "||"),
    ("λ ∀x Größe", "λ ∀x Größe"),
    ("FooBar", "FooBar"),
    ("#!fold-case FooBar #\\A #\\SPACE #!no-fold-case FooBar", "foobar #\\A #\\space FooBar"),
    ("a'b", "a (quote b)"),
    # Booleans and characters
    ("#t #f #true #false #T", "#t #f #t #f #t"),
    ('#\\a #\\A #\\( #\\) #\\; #\\" #\\#', '#\\a #\\A #\\( #\\) #\\; #\\" #\\#'),
    (
        "#\\space #\\newline #\\tab #\\null #\\x41 #\\x3bb #\\λ",
        "#\\space #\\newline #\\tab #\\null #\\A #\\λ #\\λ",
    ),
    ("#\\alarm #\\backspace #\\delete #\\escape #\\return", None),
    ("(#\\a)", "(#\\a)"),
    # strings
    ('"abc"', '"abc"'),
    ('"a\\nb\\t\\"\\\\\\x41;\\a"', '"a\\nb\\t\\"\\\\A\\a"'),
    ('"one \\\n     two"', '"one two"'),
    ('"one \\  \n\t two"', '"one two"'),
    ('"two\nlines"', '"two\\nlines"'),
    ('"carriage\r\nreturn"', '"carriage\\nreturn"'),
    ('"a;b#|c"', '"a;b#|c"'),
    # comments
    ("a ; b\nc", "a c"),
    ("a #| b #| c |# d |# e", "a e"),
    ("(a #;b c)", "(a c)"),
    ("(a #;(b (c)) #;d)", "(a)"),
    ("(a #; #;b c d)", "(a d)"),
    ("'#;a b", "(quote b)"),
    ("(a . #;x b)", "(a . b)"),
    ("#|only a comment|#", ""),
    ("#!/usr/bin/env scheme\na", "a"),
    ("\ufeffa", "a"),
    # labels
    ("#0=(a . #0#)", "#0=(a . #0#)"),
    ("(#1=x #1# #12=#(#1#))", "(#1=x #1# #12=#(#1#))"),
    ("", ""),
    (" \t\r\n\f ", ""),
]

NUMBERS = [
    ("0", "0"), ("-0", "0"), ("+5", "5"), ("123456789012345678901234567890", None),
    ("1/2", "1/2"), ("-6/4", "-3/2"), ("4/2", "2"),
    ("1.5", "1.5"), (".5", "0.5"), ("-.5", "-0.5"), ("5.", "5.0"), ("1e3", "1000.0"),
    ("1E3", "1000.0"), ("1.5e-3", "0.0015"), ("1e400", "+inf.0"),
    ("+inf.0", "+inf.0"), ("-inf.0", "-inf.0"), ("+nan.0", "+nan.0"), ("-NaN.0", "+nan.0"),
    ("#xff", "255"), ("#XFF", "255"), ("#b-101", "-5"), ("#o17", "15"), ("#d10", "10"),
    ("#x1/2", "1/2"), ("#e1.5", "3/2"), ("#e1e3", "1000"), ("#i1/4", "0.25"), ("#i5", "5.0"),
    ("#x#e1f", "31"), ("#e#x1f", "31"), ("#i#b11", "3.0"), ("#e1.25e-2", "1/80"),
    ("1+2i", "1.0+2.0i"), ("-i", "0.0-1.0i"), ("+i", "0.0+1.0i"), ("1.5-2.5i", "1.5-2.5i"),
    ("1@0", "1"), ("+inf.0i", "0.0+inf.0i"), ("3+0i", "3"), ("#x1+ai", "1.0+10.0i"),
]  # fmt: skip

FAULTS = [
    ("(a (b)\n  (c", "scheme/unclosed", 2, 3),
    ("(a\n", "scheme/unclosed", 1, 1),
    ("x\n #(1", "scheme/unclosed", 2, 2),
    ("(a)\n )", "scheme/unopened", 2, 2),
    ("(a]", "scheme/mismatched", 1, 3),
    ("[a)", "scheme/mismatched", 1, 3),
    ("#(a]", "scheme/mismatched", 1, 4),
    ("(. a)", "scheme/bad-dot", 1, 2),
    ("(a .)", "scheme/bad-dot", 1, 5),
    ("(a . b c)", "scheme/bad-dot", 1, 9),
    ("(a . b . c)", "scheme/bad-dot", 1, 8),
    ("#(a . b)", "scheme/bad-dot", 1, 5),
    (". a", "scheme/bad-dot", 1, 1),
    ("(a\n ')", "scheme/missing-datum", 2, 2),
    ("a '", "scheme/missing-datum", 1, 3),
    ("#;", "scheme/missing-datum", 1, 1),
    ("#0=", "scheme/missing-datum", 1, 1),
    ('(a "b\nc', "scheme/unclosed-string", 1, 4),
    ("\n\n |a", "scheme/unclosed-symbol", 3, 2),
    ("a #| b #| |#", "scheme/unclosed-comment", 1, 3),
    ('"abc \\q"', "scheme/bad-escape", 1, 6),
    ('"λλ\\q"', "scheme/bad-escape", 1, 4),
    ('"\\xD800;"', "scheme/bad-character", 1, 2),
    ("#\\nothing", "scheme/bad-character", 1, 1),
    ("#\\x110000", "scheme/bad-character", 1, 3),
    ("#\\", "scheme/bad-character", 1, 1),
    ("(a #hello)", "scheme/bad-token", 1, 4),
    ("#x12g", "scheme/bad-token", 1, 1),
    ("#e+inf.0", "scheme/bad-token", 1, 1),
    ("#b#x1", "scheme/bad-token", 1, 1),
    ("1/0", "scheme/bad-number", 1, 1),
    ("#!nonsense", "scheme/bad-directive", 1, 1),
    ("#u8(1 256)", "scheme/bad-byte", 1, 7),
    ("#u8(1 x)", "scheme/bad-byte", 1, 7),
    ("'(a #3#)", "scheme/bad-label", 1, 5),
    ("#99999999999999=a", "scheme/bad-label", 1, 1),
    (b"abc\n x\xff", "scheme/bad-encoding", 2, 3),
    ("a\u00a0b", "scheme/bad-token", 1, 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), READS)
def test_reads(text, expected):
    data, _ = data_of(text)
    assert " ".join(map(shown, data)) == (text if expected is None else expected)


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_numbers(text, expected):
    data, _ = data_of(text)
    assert [shown(datum) for datum in data] == [expected or text]


@pytest.mark.parametrize(("text", "id", "line", "column"), FAULTS)
def test_faults(text, id, line, column):
    assert fault(text) == (id, line, column)


def test_the_byte_that_is_no_text_is_marked():
    with pytest.raises(SourceError, match="byte 0xff is not UTF-8") as caught:
        data_of(b"abc\n x\xffy")
    assert caught.value.span.length == 1


def test_every_datum_has_its_place():
    text = '(define (f x)\n  \'(λ . "two\nlines") #(1 2))\n  |a b|'
    data, sources = data_of(text)
    places = {}

    def note(datum):
        span = sources.span(datum.at, datum.end)
        places[(span.line, span.column)] = (span.length, type(datum).__name__)
        for inner in [*getattr(datum, "items", []), *filter(None, [getattr(datum, "tail", None)])]:
            note(inner)

    for datum in data:
        note(datum)
    assert places == {
        (1, 1): (13, "Form"),
        (1, 2): (6, "Identifier"),
        (1, 9): (5, "Form"),
        (1, 10): (1, "Identifier"),
        (1, 12): (1, "Identifier"),
        (2, 3): (1, "Identifier"),  # the quote sign itself, written over the form it begins
        (2, 4): (9, "Dotted"),
        (2, 5): (1, "Identifier"),
        (2, 9): (4, "Literal"),
        (3, 9): (6, "Vector"),
        (3, 11): (1, "Literal"),
        (3, 13): (1, "Literal"),
        (4, 3): (5, "Identifier"),
    }


def test_a_quotation_reaches_from_its_sign_to_the_end():
    (form,), sources = data_of("  '(a b)")
    assert type(form) is Form
    assert (form.at, form.end) == (2, 8)
    assert sources.span(form.at, form.end).column == 3


@pytest.mark.parametrize("opener", ["(", "'", "#(", "#;(", "[", "`,"])
def test_depth_costs_no_stack(opener):
    depth = 100_000
    closer = {"(": ")", "#(": ")", "#;(": ")", "[": "]"}.get(opener, "")
    data, _ = data_of(opener * depth + "x" + closer * depth)
    assert len(data) == (0 if opener == "#;(" else 1)


def test_depth_of_a_million_unclosed_is_a_fault():
    assert fault("(" * 1_000_000) == ("scheme/unclosed", 1, 1_000_000)


@pytest.mark.parametrize("text", ["{}x", "1.{}x", "{}.{}x", "1e{}x", "1/{}x", "{}+{}x", "#x{}x"])
def test_what_only_begins_as_a_number_is_read_in_one_pass(text):
    """Digits that are given back one by one took minutes at this length."""
    assert parse_number(text.format("9" * 100_000, "9" * 100_000)) is None


def test_long_numbers():
    digits = "7" * 20_000
    (literal,), _ = data_of(digits)
    assert literal.value % 10**9 == 777_777_777
    assert shown(literal) == digits


def test_huge_exponents_are_refused_where_exact():
    assert data_of("1e999999999")[0][0].value == float("inf")
    assert fault("#e1e999999999")[0] == "scheme/bad-token"


def test_texts_after_the_first_keep_their_own_places():
    sources = Sources()
    read(sources, sources.add("first.scm", b"(a b)"))
    (datum,) = read(sources, sources.add("second.scm", b"\n x"))
    assert isinstance(datum, Identifier)
    assert str(sources.span(datum.at, datum.end)) == "second.scm:2:2"


@pytest.mark.parametrize(
    ("text", "expected", "n_bytes"),
    [
        ("a b", "a", 1),
        ("(a (b)) )(", "(a (b))", 7),
        (" #;x 'y z", "(quote y)", 7),
        ('"λ" x', '"λ"', 4),
        ("  ", None, 2),
        ("#|x|#", None, 5),
    ],
)
def test_first_datum(text, expected, n_bytes):
    sources = Sources()
    datum, reached = read_first(sources, sources.add("p", text.encode()))
    assert (None if datum is None else shown(datum)) == expected
    assert reached == n_bytes


def test_first_datum_left_open():
    sources = Sources()
    with pytest.raises(SourceError, match="never closed"):
        read_first(sources, sources.add("p", b"(a"))
