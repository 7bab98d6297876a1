"""Every call and binding of a real run lies in the answer."""

from __future__ import annotations

import pytest

from kleene.frontends.scheme.expansion import Expansion
from tests.analyses.cfa.observing import not_foreseen, observed, program_of
from tests.frontends.scheme.helpers import PROGRAMS, examples

PATHS = sorted(PROGRAMS.glob("*.scm"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_programs(path):
    program = Expansion(path.parent)
    program.add(program.sources.load(path))
    core, notes = observed(program)
    assert notes.calls
    assert not_foreseen(core, notes) == []
    assert not_foreseen(core, notes, reachable_only=False) == []
    for options in ({"m": 1}, {"m": 2}, {"polyvariant_let": True}):
        assert not_foreseen(core, notes, **options) == []


@pytest.mark.parametrize("name", ["calls.scm", "forms.scm", "libraries.scm"])
def test_examples_of_forms_and_primitives(name):
    for text, _ in examples(name):
        core, notes = observed(program_of(text))
        assert not_foreseen(core, notes) == [], text
