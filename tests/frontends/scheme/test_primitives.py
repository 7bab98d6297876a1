"""The primitives: the table and the interpreter agree, and each does what R7RS says."""

from __future__ import annotations

import pytest

from kleene.frontends.scheme.interpreter import primitives
from kleene.frontends.scheme.interpreter.objects import Closure, Native, Parameter
from kleene.ir.scheme.primitives import table
from tests.frontends.scheme.helpers import examples, value


def test_every_primitive_of_the_table_exists_and_no_other():
    assert set(primitives()) == set(table())
    assert all(isinstance(known, Native | Closure | Parameter) for known in primitives().values())


def test_prelude_procedures_take_what_the_table_says():
    for name, known in primitives().items():
        if isinstance(known, Closure):
            row, code = table()[name], known.code
            assert code.n_fixed <= row.n_least, name
            assert code.has_rest or row.n_most == code.n_fixed, name


def test_effects_are_known_words():
    effects = {"pure", "make", "read", "write", "call", "raise", "port"}
    assert {row.effect for row in table().values()} == effects


def test_what_calls_is_in_the_prelude_or_controls():
    """A primitive that calls its arguments cannot be a plain Python function."""
    for name, known in primitives().items():
        calls = table()[name].effect == "call"
        assert not (calls and isinstance(known, Native) and known.kind != "control"), name


@pytest.mark.parametrize("name", [name for name, row in table().items() if row.n_most is not None])
def test_too_many_arguments_are_a_condition(name):
    if name.startswith("%"):
        return
    row = table()[name]
    arguments = " ".join(["1"] * (row.n_most + 1))
    assert value(f"(guard (e ((error-object? e) 'refused)) ({name} {arguments}))") == "refused"


CALLS = examples("calls.scm")


@pytest.mark.parametrize(("text", "expected"), CALLS)
def test_calls(text, expected):
    assert value(text) == expected


def test_primitives_refuse_too_few_arguments():
    for call in ("(count (lambda () #f))", "(map car)", "(append-map list)", "(vector-map list)"):
        assert value(f"(guard (e (#t 'refused)) {call})") == "refused", call
