"""Findings read like a compiler's messages, and hostile text cannot change what is shown."""

from __future__ import annotations

from pathlib import Path

from kleene.base.errors import Span
from kleene.reports import text
from kleene.results import Finding, Location, Rule, Severity, findings_json

RULE = Rule("demo/null-call", Severity.ERROR, "A.", "A.")
NOTE = Rule("demo/note", Severity.NOTE, "A.", "A.")


def test_a_finding_with_everything(tmp_path: Path) -> None:
    file = tmp_path / "src" / "a.c"
    file.parent.mkdir()
    file.write_text("int x;\n\tnext();\n")
    finding = Finding(
        RULE,
        Span(str(file), 2, 2, 4),
        "next is null",
        related=(Location(Span(str(file), 1, 5), "x is declared here"),),
        path=(Location(None, "it is lost"),),
        fix="set it",
    )
    silent = Finding(NOTE, None, "hidden", suppressed="known")
    assert "".join(text.findings([finding, silent], tmp_path)) == (
        "src/a.c:2:2: error[demo/null-call]: next is null\n"
        "   2 | \tnext();\n"
        "     | \t^^^^\n"
        "note: src/a.c:1:5: x is declared here\n"
        "step 1: it is lost\n"
        "help: set it\n"
        "1 error, 1 suppressed\n"
    )


def test_a_path_that_is_the_place_itself_is_not_told_again(tmp_path: Path) -> None:
    place = Span(str(tmp_path / "a.c"), 3, 1)
    dead = Finding(NOTE, place, "never read", path=(Location(place, "this is never read"),))
    assert text.rendered(dead, tmp_path) == "a.c:3:1: note[demo/note]: never read"


def test_nothing_found() -> None:
    assert "".join(text.findings([], ".")) == "no findings\n"


def test_controls_are_written_out(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("x\u202e\x1b[31m y;\n")
    shown = text.rendered(Finding(RULE, Span(str(file), 1, 9), "a\x1b[2Jb\nc"), tmp_path)
    assert shown == (
        "a.c:1:9: error[demo/null-call]: a<U+001B>[2Jb<U+000A>c\n"
        "   1 | x<U+202E><U+001B>[31m y;\n"
        "     |                       ^"
    )


def test_plain_data_has_the_same(tmp_path: Path) -> None:
    found = [
        Finding(RULE, Span(str(tmp_path / "a.c"), 2), "m", "f", path=(Location(None, "s"),)),
        Finding(NOTE, None, "hidden", suppressed=""),
    ]
    first, second = findings_json(found, tmp_path)
    assert first == {
        **{"file": "a.c", "line": 2, "column": None, "function": "f", "message": "m"},
        **{"rule": "demo/null-call", "severity": "error", "related": [], "fix": None},
        "path": [{"file": None, "line": None, "column": None, "message": "s"}],
        **{"suppressed": None, "fingerprint": first["fingerprint"]},
    }
    assert (second["file"], second["suppressed"]) == (None, "")
    assert first["fingerprint"] != second["fingerprint"]
