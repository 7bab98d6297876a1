"""`kleene invariants` prints verdicts and what holds, and ends with the code for them."""

from __future__ import annotations

import json
from pathlib import Path

from kleene.cli.exit_codes import ExitCode
from tests.cli.conftest import Kleene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "invariants"


def test_what_is_proved_is_clean(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "search.c")
    assert done.returncode == ExitCode.CLEAN
    assert "search.c:13: safe: bounds: the access is inside of table [octagon]" in done.stdout
    assert "10 checks: 10 safe" in done.stderr


def test_what_may_fail_is_a_finding(kleene: Kleene, tmp_path: Path) -> None:
    page, log = tmp_path / "page.html", tmp_path / "log.sarif"
    words = ("--function", "sum_of_first", "--checks", "bounds", "--html", page, "--sarif", log)
    done = kleene("invariants", EXAMPLES / "ring.c", *words, "--json")
    assert done.returncode == ExitCode.FINDINGS
    (check,) = json.loads(done.stdout)["checks"]
    assert check["verdict"] == "may fail"
    assert "0 <= n" in check["state"]
    (found,) = json.loads(log.read_text())["runs"][0]["results"]
    assert found["ruleId"] == "invariants/may-fail"
    assert "i &lt;= 8" in page.read_text()


def test_verdicts_are_counted(kleene: Kleene) -> None:
    done = kleene("invariants", EXAMPLES / "ring.c", "--stats")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["check", "safe", "may", "fail"]
    counts = {row.split()[0]: sum(map(int, row.split()[1:])) for row in rows}
    assert f"{sum(counts.values())} checks" in done.stderr
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
