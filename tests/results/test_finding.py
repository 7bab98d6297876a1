"""Fingerprints survive moved lines, and tell findings apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kleene.base.errors import Span
from kleene.results import Finding, Rule, Severity, fingerprints

RULE = Rule("demo/rule", Severity.NOTE, "A.", "A.")
TEXT = "void f(void) {\n  call();\n  other();\n  call();\n}\n"


def found(file: Path, *lines: int, rule: Rule = RULE, function: str = "f") -> list[str]:
    findings = [Finding(rule, Span(str(file), line, 3), "m", function) for line in lines]
    return fingerprints(findings, file.parent)


def test_lines_may_move_and_be_indented(tmp_path: Path) -> None:
    before, after = tmp_path / "before" / "a.c", tmp_path / "after" / "a.c"
    for file in (before, after):
        file.parent.mkdir()
    before.write_text(TEXT)
    after.write_text("// new\n\n" + TEXT.replace("  ", "\t  "))
    assert found(before, 2, 3, 4) == found(after, 4, 5, 6)
    assert len(set(found(before, 2, 3, 4))) == 3  # lines 2 and 4 read the same


def test_the_order_of_findings_is_theirs(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(TEXT)
    assert found(file, 4, 2) == found(file, 2, 4)[::-1]


def test_everything_else_tells_apart(tmp_path: Path) -> None:
    file, same = tmp_path / "a.c", tmp_path / "b.c"
    for one in (file, same):
        one.write_text(TEXT)
    other = replace(RULE, id="demo/other")
    (mine,) = found(file, 2)
    assert found(same, 2) != [mine]
    assert found(file, 3) != [mine]
    assert found(file, 2, rule=other) != [mine]
    assert found(file, 2, function="g") != [mine]


def test_no_place_and_no_file_will_do() -> None:
    findings = [Finding(RULE, None, "m"), Finding(RULE, Span("/nowhere/x.c", 3), "m")]
    assert len(set(fingerprints(findings, "/"))) == 2
