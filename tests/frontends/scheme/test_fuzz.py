"""Whatever the text: a core or a `SourceError`, never another exception, never a hang."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import SourceError
from kleene.frontends.scheme import parse
from kleene.frontends.scheme.expander.keywords import all_names
from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter import run
from kleene.frontends.scheme.text import core_text
from tests.frontends.scheme.helpers import PROGRAMS, data_of, examples

PIECES = [
    *("(", ")", "(", ")", "[", "]", "#(", "#u8(", "'", "`", ",", ",@", " . ", "#;", "#|", "|#"),
    *(";", "\n", '"', "\\", "|", "#0=", "#0#", "#\\", "#!fold-case ", "...", "_", "=>", "else "),
    *(" ", " x ", " y ", " f ", "(x y)", "()", "((x 1))", "(x . y)", "1/2", "1e3", "-i", "λ"),
]
KEYWORDS = sorted(name for name in all_names() if not name.startswith("%"))
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.glob("*.scm"))]
TEXTS += [program for name in ("forms.scm", "calls.scm") for program, _ in examples(name)]


def outcome(text: str | bytes, *, runs: bool = False) -> SourceError | None:
    """Return what is wrong with a text, after running it for a while if asked to."""
    program = Expansion()
    try:
        raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        program.add(program.sources.add("fuzz.scm", raw))
        core = program.core()
        assert core_text(core) is not None
        if runs:
            run(program, max_steps=20_000)
    except SourceError as error:
        return error
    return None


def is_said_well(error: SourceError | None) -> bool:
    """Return whether an error has a place; a condition of a running program may have none."""
    return error is None or error.span is not None or error.id == "scheme/uncaught"


@given(st.binary(max_size=80))
def test_bytes(text):
    assert is_said_well(outcome(text))


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_pieces(text):
    assert is_said_well(outcome(text))


@st.composite
def forms(draw, depth=4):
    """A random form: keywords and names in random places."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(
            st.sampled_from(["x", "y", "f", "1", '"s"', "#t", "()", "...", "_", "else", "=>"])
        )
    head = draw(st.sampled_from([*KEYWORDS, "x", "f", "(f x)", "((x 1))", "(x y)"]))
    items = draw(st.lists(forms(depth=depth - 1), max_size=4))
    tail = draw(st.sampled_from(["", "", "", " . x"]))
    return "(" + " ".join([head, *items]) + (tail if items else "") + ")"


@given(st.lists(forms(), min_size=1, max_size=4).map(" ".join))
def test_forms(text):
    assert is_said_well(outcome(text, runs="file" not in text and "load" not in text))


def mutated(text: str, seed: int) -> str:
    """Return the text with a few characters or stretches deleted, doubled, moved or replaced."""
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        i, j = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        j = min(j, i + rng.choice([1, 3, 40]))
        other = rng.randrange(len(text) + 1)
        text = rng.choice(
            [
                text[:i] + text[j:],
                text[:j] + text[i:j] + text[j:],
                text[:i] + rng.choice(PIECES) + text[j:],
                text[:i] + text[other : other + 5] + text[j:],
            ]
        )
    return text


@given(st.sampled_from(TEXTS), st.integers(0, 10**9))
def test_mutations(text, seed):
    assert is_said_well(
        outcome(mutated(text, seed), runs="file" not in text and "load" not in text)
    )


def spans(text: str) -> list[tuple[int, int]]:
    """Return the first byte and the end of every datum in a text; none if it cannot be read."""
    try:
        waiting, _ = data_of(text)
    except SourceError:
        return []
    found = []
    while waiting:
        datum = waiting.pop()
        found.append((datum.at, datum.end))
        waiting += getattr(datum, "items", [])
    return found


def grafted(text: str, other: str, seed: int) -> str:
    """Return the text with a few of its data replaced by data of another: mostly well formed."""
    rng = random.Random(seed)
    sources = [other, text]
    for _ in range(rng.randint(1, 3)):
        scion = rng.choice(sources)
        there, here = spans(scion), spans(text)
        if not there or not here:
            return text
        (i, j), (at, end) = rng.choice(there), rng.choice(here)
        raw = text.encode()
        text = (raw[:at] + b" " + scion.encode()[i:j] + b" " + raw[end:]).decode()
    return text


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.integers(0, 10**9))
def test_grafts(text, other, seed):
    changed = grafted(text, other, seed)
    assert is_said_well(outcome(changed, runs="file" not in changed and "load" not in changed))


@given(st.sampled_from(TEXTS), st.integers(0, 10**9))
def test_reading_again_gives_the_same(text, seed):
    """Expanding is a function of the text: two runs give one core."""
    changed = grafted(text, text, seed)
    assert shown_core(changed) == shown_core(changed)


def shown_core(text: str) -> str:
    """Return the core as text, or the error."""
    try:
        return core_text(parse(text))
    except SourceError as error:
        return str(error)
