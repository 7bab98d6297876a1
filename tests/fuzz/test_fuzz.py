"""A sample of the bad inputs: `python -m tests.fuzz` has as many as one likes."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from kleene.base.errors import SourceError
from tests.fuzz.mutation import spoilt
from tests.fuzz.targets import TARGETS

N_CASES = 40
FAST = [name for name, target in TARGETS.items() if not target.is_slow and not target.may_crash]


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_good_enough_to_be_spoilt(name: str) -> None:
    """One at least is read to its end: what is refused at its first byte tries nothing."""
    n_read = 0
    for seed in TARGETS[name].seeds():
        with suppress(SourceError):
            TARGETS[name].case(seed)
            n_read += 1
    assert n_read


@pytest.mark.parametrize("name", FAST)
def test_bad_input_ends_in_an_error_with_an_id(name: str) -> None:
    target, chance = TARGETS[name], random.Random(name)
    seeds = target.seeds()
    refused: list[SourceError] = []
    for _ in range(N_CASES):
        data = spoilt(seeds, chance)
        try:
            target.case(data)
        except SourceError as error:
            refused.append(error)
        except BaseException as error:
            raise AssertionError(data) from error
    assert all(error.id in error.render() for error in refused)


# Inputs that once ended otherwise, smallest first
FOUND = {
    "scheme": [b"(import (scheme " + b"9" * 5000 + b"))", b"(import (scheme -1))"],
    "models": [
        b"f: returns 0099999999999999999999",
        b"f: " + b"*" * 5000 + b"0",
    ],
    "graph": [b"5" * 5000 + b" 1\n0 0 1 0 0\n", b"1 1\n0 0 0 0 " + b"9" * 5000],
    "ir": [b'program "a"\ntype $"" = {i32}\n', b'program "a"\ntype $ = {i32}\n'],
    "octagon": [
        b"[-inf, 2]x <= [1, 2]*1e300",
        b"x<5 y",
        b"x<=inf",
        b"(" * 5000,
        b"x <= 1e999999999",
    ],
    "database": [
        b"[" * 100_000,
        b'[{"file": "a.c", "arguments": []}]',
        b"[" + b"1" * 10_000 + b"]",
    ],
}


@pytest.mark.parametrize(("name", "data"), [(name, one) for name in FOUND for one in FOUND[name]])
def test_what_was_found(name: str, data: bytes) -> None:
    with pytest.raises(SourceError):
        TARGETS[name].case(data)


def test_a_size_that_is_not_passed_is_no_crash() -> None:
    TARGETS["models"].case(b"g: copy 0 <- 1[2]")  # g is called with two arguments
