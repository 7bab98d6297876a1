"""Comments silence findings of the rules they name, and are reported where they silence nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene.base.errors import Span
from kleene.results import Finding, Rule, Severity, apply_suppressions
from kleene.results.suppressions import suppressions_in

HERE = Rule("demo/here", Severity.WARNING, "A.", "A.")
THERE = Rule("demo/there", Severity.WARNING, "A.", "A.")
ELSEWHERE = Rule("other/rule", Severity.WARNING, "A.", "A.")


def applied(file: Path, *places: tuple[Rule, int]) -> list[Finding]:
    findings = [Finding(rule, Span(str(file), line, 1), "m") for rule, line in places]
    rules = [HERE, THERE]
    return apply_suppressions(findings, [str(file)], rules, lambda: [*rules, ELSEWHERE])


@pytest.mark.parametrize(
    ("name", "text", "silenced"),
    [
        ("a.c", "f(); // kleene: ignore[demo/here] known\n", {1: "known"}),
        ("a.c", "/* kleene: ignore[demo/here] known */\nf();\n", {2: "known"}),
        ("a.c", "// kleene: ignore[demo/here]\nf();\n", {2: ""}),
        ("a.c", "/* kleene: ignore[demo/here] a */ f();\ng();\n", {1: "a"}),
        ("a.c", "/* text\n   kleene: ignore[demo/here] b */\nf();\n", {3: "b"}),
        ("a.c", 'f("// kleene: ignore[demo/here] in a string");\n', {}),
        ("a.c", "char c = '\"'; f(); // kleene: ignore[demo/here] c\n", {1: "c"}),
        (
            "a.cpp",
            'f(R"(" // kleene: ignore[demo/here])"); // kleene: ignore[demo/here] d',
            {1: "d"},
        ),
        ("a.scm", "(f) ; kleene: ignore[demo/here] e\n", {1: "e"}),
        ("a.scm", ";; kleene: ignore[demo/here] e\n(f)\n", {2: "e"}),
        ("a.scm", '(f "; kleene: ignore[demo/here]" #\\; 1)\n', {}),
        ("a.scm", "(f |; kleene: ignore[demo/here]|)\n", {}),
    ],
)
def test_where_a_comment_counts(
    name: str, text: str, silenced: dict[int, str], tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(text)
    lines = range(1, text.count("\n") + 2)
    found = applied(file, *((HERE, line) for line in lines))
    by_line = {f.span.line: f.suppressed for f in found if f.span and f.suppressed is not None}
    assert by_line == silenced
    assert {f.rule for f in found} == {HERE}


def test_comments_may_be_stacked_and_name_several_rules(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("// kleene: ignore[demo/here] a\n// kleene: ignore[demo/there] b\nf();\n")
    found = applied(file, (HERE, 3), (THERE, 3))
    assert [one.suppressed for one in found] == ["a", "b"]
    file.write_text("f(); // kleene: ignore[demo/here, demo/there] both\n")
    assert [one.suppressed for one in applied(file, (HERE, 1), (THERE, 1))] == ["both", "both"]


def test_only_the_rules_named_are_silenced(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("f(); // kleene: ignore[demo/here]\n")
    there, here = sorted(applied(file, (THERE, 1), (HERE, 1)), key=lambda one: one.rule.id)[::-1]
    assert (there.suppressed, here.suppressed) == (None, "")


def test_what_silences_nothing_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "int a; // kleene: ignore[demo/here]\n"
        "int b; // kleene: ignore[demo/hero] misspelt\n"
        "int c; // kleene: ignore[other/rule] not looked for now\n"
        "int d; // kleene: ignore\n"
    )
    found = [(f.rule.id, f.span.line, f.message, f.fix) for f in applied(file) if f.span]
    assert found == [
        ("suppressions/unused", 1, "demo/here has no finding on line 1", ""),
        (
            "suppressions/unknown-rule",
            2,
            "there is no rule 'demo/hero'",
            "did you mean demo/here or demo/there?",
        ),
        (
            "suppressions/unknown-rule",
            4,
            "the comment names no rule",
            "write kleene: ignore[rule] and the reason",
        ),
    ]
    assert [f.span.column for f in applied(file) if f.span] == [11, 11, 11]


def test_all_rules_are_asked_for_only_if_needed(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int a; // kleene: ignore[demo/here]\n")

    def known() -> list[Rule]:
        raise AssertionError("no comment names another analysis's rule")

    apply_suppressions([], [str(file)], [HERE], known)


def test_files_that_cannot_be_read_have_no_comments(tmp_path: Path) -> None:
    assert suppressions_in(tmp_path / "absent.c") == []
    (tmp_path / "b.c").write_bytes(b"\xff\xfe // kleene: ignore[demo/here]\n")
    assert [one.rule for one in suppressions_in(tmp_path / "b.c")] == ["demo/here"]
