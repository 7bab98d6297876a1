"""Compiled loops make the same core as the expander, or leave the text to it."""

from __future__ import annotations

import random
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.frontends.scheme import bulk, reader
from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter.show import text_of
from kleene.ir.scheme.core import Core
from kleene.kernels.compiled import interpreted

PROGRAMS = sorted((Path(__file__).parents[2] / "programs" / "scheme").glob("*.scm"))
TOKEN = re.compile(rb'[()\[\]]|"[^"]*"|[^\s()\[\]"]+|\s+')
WORDS = (
    b"( ) [ ] ' ` , ,@ . define lambda let if else => begin cond case x car #; #( #u8(1 #|x|# |car|"
    b' ... do and set! () #0= #0# quote let* letrec "a" 1.5 " | \xc3\xa9 #\\( #\\x define-syntax'
).split()
FORMS = [
    b"(define (if x) x)",
    b"(define else 1)",
    b"(begin (define q 1) q)",
    b"(let loop ((i 0)) (loop i))",
    b"(a . (b))",
    b"(define ((f x) . y) x)",
    b"(lambda (x . y) (define x 1) (begin (define z 2)) (g) (define w 3) x)",
]


def by_expander(text: bytes, folder: Path) -> Core | list[tuple[str, str]]:
    """Return the core of a text, or its errors."""
    program = Expansion(folder)
    source = program.sources.add("text.scm", text)
    try:
        program.expander.program(reader.read(program.sources, source), program.top)
        return program.core()
    except SourceError as error:
        return [(each.id, str(each.span)) for each in error]


def in_bulk(text: bytes, folder: Path) -> Core | list[tuple[str, str]] | None:
    """Return the same by compiled loops, or None where the text is refused."""
    program = Expansion(folder)
    source = program.sources.add("text.scm", text)
    try:
        is_taken = bulk.expand_source(program.expander, source, program.top)
        return program.core() if is_taken else None
    except SourceError as error:
        return [(each.id, str(each.span)) for each in error]


def check_same(found: object, expected: object) -> None:
    """Fail unless two cores, or two lists of errors, are equal."""
    if not isinstance(found, Core) or not isinstance(expected, Core):
        assert found == expected
        return
    for field in fields(Core):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other), field.name
        elif field.name == "constants":
            assert list(map(shown, one)) == list(map(shown, other))
        elif field.name != "sources":
            assert one == other, field.name


def shown(value: object) -> str:
    return text_of(value, is_written=True)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs(path: Path) -> None:
    text = path.read_bytes()
    with interpreted():
        found = in_bulk(text, path.parent)
    assert found is not None
    check_same(found, by_expander(text, path.parent))


@pytest.fixture(params=[4, 48])
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists of so many data go back from Python to compiled loops."""
    monkeypatch.setattr(bulk, "_LARGE", request.param)


@pytest.mark.usefixtures("large")
def test_damaged_programs() -> None:
    """Programs with tokens changed, moved and left out: equal cores, and equal errors."""
    rng, n_taken = random.Random(1), 0
    for _ in range(50):
        path = rng.choice(PROGRAMS)
        tokens = TOKEN.findall(path.read_bytes())
        for _ in range(rng.randint(1, 3)):
            i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
            kind = rng.random()
            if kind < 0.3:
                tokens[i] = rng.choice(WORDS)
            elif kind < 0.6:
                tokens.insert(i, b" %s " % rng.choice([*WORDS, *FORMS]))
            elif kind < 0.8:
                del tokens[i]
            else:
                tokens[i], tokens[j] = tokens[j], tokens[i]
        text = b"".join(tokens)
        with interpreted():
            found = in_bulk(text, path.parent)
        if found is not None:
            n_taken += 1
            check_same(found, by_expander(text, path.parent))
    assert n_taken > 15


@pytest.mark.parametrize(
    "text",
    [
        b"(define if list) (if 1 2 3)",
        b"(define (f define) (define x 1)) (f car)",
        b"(define (f x) (define begin x) (begin 1 2))",
        b"(import (rename (scheme base) (car kar) (if when))) (when 1 (kar x) car)",
        b"(let ((else #f)) (cond (else 1)))",
        b"(cond (1 => (lambda (x) x)) (2) (undefined 3) (else 4 5))",
        b"(case (car x) ((a) 1) ((b c) => f) (else => g))",
        b"(define |car| 1) car |a b| (quote |a b|)",
        b"(let* () 1) (let* ((x 1) (x x)) (define x 2) x)",
        b"(letrec ((f (lambda () g)) (g f)) (define f 1) f)",
        b"(do ((i 0 (+ i 1)) (j 2)) ((= i 3) i j) (display i))",
        b"(define (f . x) (begin (begin) (begin 1)) (let () (g (f x))) x)",
        b"'#0=(a . #0#) #(1 (2 . 3)) #u8(1 2) #;(a b) 'c `(1 ,@x)",
        b"(define-syntax m (syntax-rules () ((_ x) (define (x y) y)))) (m f) (lambda (z) (m g) z)",
        "(define (λ x) x) (λ 'ü)".encode(),
        b"\xef\xbb\xbf#!/usr/bin/scheme\n(display 1)",
        b"(if 1) (lambda (x x) x) (let ((1 2)) 3)",
    ],
)
def test_forms(text: bytes) -> None:
    with interpreted():
        found = in_bulk(text, Path())
    assert found is not None
    check_same(found, by_expander(text, Path()))


@pytest.mark.parametrize("text", [b"(a", b"a)", b"'", b"(. a)", b"(a . b c)", b'"a', b"[a)"])
def test_faults_are_left_to_the_reader(text: bytes) -> None:
    with interpreted():
        assert in_bulk(text, Path()) is None


def test_deep_forms_of_python() -> None:
    """Where compiled loops refuse one form in another again and again, Python goes on alone."""
    text = b"(delay " * 3000 + b"1" + b")" * 3000
    with interpreted():
        found = in_bulk(text, Path())
    check_same(found, by_expander(text, Path()))


def test_machine_code() -> None:
    """What is compiled makes the same core, with arrays that grow on the way."""
    parts = [path.read_bytes() for path in PROGRAMS if b"import" not in path.read_bytes()]
    inner = b"".join(b"(define (f%d y) (lambda (z) y x))" % i for i in range(900))
    text = b"\n".join([*parts * 3, b"(lambda (x) %s (f1 x))" % inner])
    with interpreted(False):
        found = in_bulk(text, Path())
    assert isinstance(found, Core)
    check_same(found, by_expander(text, Path()))
