"""`kleene invariants` prints verdicts and what holds, and ends with the code for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene.cli.exit_codes import ExitCode
from kleene.reports.invariants import painted
from tests.cli.conftest import Kleene
from tests.reports.sarif_rules import faults

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "invariants"


def test_what_is_proved_is_clean(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "search.c")
    assert done.returncode == ExitCode.CLEAN
    assert "search.c:13: safe: bounds: the access is inside of table [octagon]" in done.stdout
    assert done.stdout.endswith("\n10 checks: 10 safe\n")
    assert "note: assumed: " in done.stderr


def test_what_may_fail_is_a_finding(kleene: Kleene, tmp_path: Path) -> None:
    page, log = tmp_path / "page.html", tmp_path / "log.sarif"
    words = ("--function", "sum_of_first", "--checks", "bounds", "--html", page, "--sarif", log)
    done = kleene("invariants", EXAMPLES / "ring.c", *words, "--json")
    assert done.returncode == ExitCode.FINDINGS
    (check,) = json.loads(done.stdout)["checks"]
    assert check["verdict"] == "may fail"
    assert "0 <= n" in check["state"]
    said = json.loads(log.read_text())
    assert not list(faults(said))
    (found,) = said["runs"][0]["results"]
    assert found["ruleId"] == "invariants/may-fail"
    text = page.read_text()
    assert "<code>0 &lt;= i &amp;&amp; i &lt;= 8" in text  # the invariant, in the margin
    assert '<span class="badge">may fail</span> bounds: the access is inside of ring' in text
    assert text.count('type="checkbox"') == 2  # one verdict, one kind
    assert "<script" not in text


def test_a_pointer_of_which_nothing_is_known_is_a_note(kleene: Kleene, tmp_path: Path) -> None:
    """No warning, but not proved either: the exit code says so."""
    file, log = tmp_path / "get.c", tmp_path / "log.sarif"
    file.write_text("int get(int *p, int i) {\n  int a[4] = {0};\n  return *p + a[i];\n}\n")
    done = kleene("invariants", file, "--checks", "bounds,null", "--sarif", log)
    assert done.returncode == ExitCode.FINDINGS
    said = json.loads(log.read_text())
    assert not list(faults(said))
    rules = [(one["ruleId"], one["level"]) for one in said["runs"][0]["results"]]
    pointer = ("invariants/unknown-pointer", "note")
    assert sorted(rules) == [("invariants/may-fail", "warning"), pointer, pointer]
    file.write_text("int get(int *p) {\n  return *p;\n}\n")
    assert kleene("invariants", file, "--checks", "null").returncode == ExitCode.FINDINGS


def test_verdicts_are_counted(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "ring.c", "--stats")
    head, *rows, summary = done.stdout.splitlines()
    assert head.split() == ["check", "safe", "may", "fail"]
    counts = {row.split()[0]: sum(map(int, row.split()[1:])) for row in rows}
    assert summary.startswith(f"{sum(counts.values())} checks: ")
    assert counts["bounds"] == 3


def test_what_holds_at_a_line(kleene: Kleene) -> None:
    words = ("--domain", "octagon", "--at", "search.c:12")
    done = kleene("invariants", EXAMPLES / "search.c", *words)
    assert done.returncode == ExitCode.CLEAN
    assert "search.c:12 (main > search): 0 <= high" in done.stdout


def test_a_wrong_name_is_refused(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "search.c", "--domain", "luck")
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert "error[invariants/no-such-domain]" in done.stderr


def test_what_is_not_proved_comes_first(kleene: Kleene, tmp_path: Path) -> None:
    """With its line and what is known there; checks that are proved are counted if many are."""
    sums = "".join(f"  a[{i}] = i;\n" for i in range(30))
    file = tmp_path / "many.c"
    file.write_text(f"void f(int i) {{\n  int a[30];\n{sums}  a[i] = 100 / (i - i);\n}}\n")
    done = kleene("invariants", file, "--quiet", "--checks", "bounds,division")
    first, line, caret, *_ = done.stdout.splitlines()
    assert "many.c:33:14: fails always: division: " in first
    assert line.endswith("| " + "  a[i] = 100 / (i - i);")
    assert caret.index("^") == line.index("/")
    assert ": safe: " not in done.stdout
    assert done.stdout.endswith("(--all-checks lists the proved ones)\n")
    done = kleene("invariants", file, "--quiet", "--checks", "bounds", "--all-checks")
    assert done.stdout.count(": safe: bounds: ") == 30


def test_colours_are_for_terminals() -> None:
    """And a name of a file colours nothing."""
    assert painted("a.c:1:2: may fail: null: x\n") == "a.c:1:2: \x1b[1;33mmay fail\x1b[m: null: x\n"
    assert painted("3 checks: 2 safe, 1 may fail\n") == "3 checks: 2 safe, 1 may fail\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--checks", "bound"), "did you mean bounds?"),
        (("--domain", "octagons"), "did you mean octagon?"),
        (("--function", "serch"), "did you mean search?"),
        (("--function", "serch", "--whole-program"), "did you mean search?"),
        (("--at", "search.c:7"), "the nearest lines with code: search.c:6 and search.c:8"),
        (("--at", "other.c:7"), "such as search.c:12"),
    ],
)
def test_what_may_have_been_meant(kleene: Kleene, words: tuple[str, ...], hint: str) -> None:
    done = kleene("invariants", EXAMPLES / "search.c", *words)
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert hint in done.stderr


def test_invariants_are_printed_in_other_forms(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "search.c", "--emit", "asserts")
    assert "assert(0 <= i && i <= 99); table[i]" in done.stdout
    done = kleene("invariants", EXAMPLES / "search.c", "--emit", "json")
    found = json.loads(done.stdout)
    assert {"file", "line", "column", "function", "is_loop", "expression"} == set(found[0])
    done = kleene("invariants", EXAMPLES / "search.c", "--emit", "witness")
    assert done.stdout.startswith("- entry_type: invariant_set\n")
    done = kleene("invariants", EXAMPLES / "search.c", "--emit", "acsl", "--whole-program")
    assert "/*@ loop invariant 0 <= i && i <= 100; */ for (int i = 0;" in done.stdout
    done = kleene("invariants", EXAMPLES / "search.c", "--emit", "poems")
    assert "error[invariants/no-such-form]" in done.stderr


def test_sources_with_asserts_are_written_to_a_folder(kleene: Kleene, tmp_path: Path) -> None:
    project, found = tmp_path / "project", tmp_path / "found"
    (project / "lib").mkdir(parents=True)
    (project / "main.c").write_text(
        "int half(int);\nint main(int n, char **names) {\n  return half(n);\n}\n"
    )
    (project / "lib" / "half.c").write_text(
        "int half(int n) {\n  int m = n & 15;\n  n = m / 2;\n  return n;\n}\n"
    )
    words = ("invariants", project / "main.c", project / "lib" / "half.c", "--whole-program")
    done = kleene(*words, "--emit", "asserts")
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert "--output FOLDER" in done.stderr
    done = kleene(*words, "--emit", "asserts", "--output", found)
    assert done.returncode == 0
    assert "2 sources are written" in done.stderr
    assert "assert(0 <= m && m <= 15); return n;" in (found / "lib" / "half.c").read_text()
    assert "half(n)" in (found / "main.c").read_text()
    done = kleene(*words, "--emit", "asserts", "--output", project)
    assert done.returncode == ExitCode.INPUT_AT_FAULT
    assert "error[invariants/over-source]" in done.stderr
    done = kleene(*words, "--emit", "json", "--output", found)
    assert done.returncode == ExitCode.WRONG_USAGE
