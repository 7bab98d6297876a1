"""The libraries beyond R7RS-small: what they do, and that they are whole."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from kleene import scheme
from kleene.frontends.scheme.data import Identifier
from kleene.frontends.scheme.expander.libraries import bundled_libraries
from kleene.frontends.scheme.expansion import Expansion
from kleene.ir.scheme.primitives import table
from tests.frontends.scheme.helpers import examples, fault, value

EXAMPLES = examples("libraries.scm")
GUILE = shutil.which("guile")


def documented() -> dict[tuple[str, ...], set[str]]:
    """Return the names that each library exports by its document."""
    found: dict[tuple[str, ...], set[str]] = {}
    text = Path(__file__).with_name("exports.txt").read_text(encoding="utf-8")
    for line in text.splitlines()[1:]:
        if line.startswith("("):
            names = found.setdefault(tuple(line[1:-1].split()), set())
        else:
            names.update(line.split())
    return found


DOCUMENTED = documented()
# Libraries that have more than their documents say: what R5RS and R6RS programs expect.
WIDE = {("scheme", "r5rs")}
AUXILIARY = {("srfi", "26"): {"<>", "<...>"}}
GUILE_ADDS = {
    ("scheme", "inexact"): {"exact", "inexact"},
    ("srfi", "39"): {
        *("current-error-port", "current-input-port", "current-output-port"),
        "with-parameters*",
    },
}
NOT_IN_GUILE = {("srfi", number) for number in ("23", "95", "113", "125", "128", "130", "132")}


@pytest.mark.parametrize("library", sorted(DOCUMENTED), ids=" ".join)
def test_a_library_is_whole(library):
    expander = Expansion().expander
    exports = set(expander.libraries.find(expander, library, Identifier("x", 0, 0)) or ())
    assert DOCUMENTED[library] <= exports
    if library not in WIDE:
        assert exports == DOCUMENTED[library] | AUXILIARY.get(library, set())


def test_every_library_is_compared():
    known = {row.library for row in table().values()} | set(bundled_libraries())
    assert {library for library in known if library[0] != "kleene"} <= set(DOCUMENTED)


EXPORTS = """(for-each (lambda (symbol) (display symbol) (newline))
          (module-map (lambda (symbol variable) symbol) (resolve-interface '({})))) """


@pytest.mark.tools
@pytest.mark.skipif(GUILE is None, reason="guile is not installed")
@pytest.mark.parametrize("library", sorted(set(DOCUMENTED) - NOT_IN_GUILE), ids=" ".join)
def test_guile_exports_the_same(library):
    first, second = library
    module = f"srfi srfi-{second}" if first == "srfi" else f"scheme {second}"
    command = [GUILE, "--no-auto-compile", "-c", EXPORTS.format(module)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    expected = set(done.stdout.split()) - GUILE_ADDS.get(library, set())
    assert DOCUMENTED[library] == expected


@pytest.mark.parametrize(("text", "expected"), EXAMPLES)
def test_examples(text, expected):
    assert value(text) == expected


def test_code_of_bundled_libraries_is_no_code_of_the_program():
    text = "(import (scheme base) (srfi 1))\n(define (p x) #t)\n(take-while p '(1))\n(car)\n"
    result = scheme.parse(text, "t.scm").cfa()
    assert [procedure.name for procedure in result.procedures] == ["p"]
    assert result.dead == []
    assert [str(finding.span) for finding in result.findings()] == ["t.scm:4:1"]
    assert next(str(target) for target in result.calls("3:1")).startswith(
        "take-while at srfi-1.sld:"
    )


@pytest.mark.parametrize("word", ["er-macro-transformer", "ir-macro-transformer", "lambda"])
def test_macros_by_procedures_are_refused(word):
    text = f"(define-syntax m\n  ({word} (lambda (f r c) f)))"
    assert fault(text) == ("scheme/procedural-macro", 2, 3)
