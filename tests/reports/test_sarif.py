"""SARIF logs keep the standard's rules, name files by relative addresses, and never vary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base import json as plain
from kleene.base.errors import Span
from kleene.reports import sarif
from kleene.results import Finding, Location, Rule, Severity
from tests.reports.sarif_rules import faults

RULE = Rule("demo/null-call", Severity.ERROR, "A call never reaches.", "It is null.\n\nSet it.")
OTHER = Rule("demo/unused", Severity.NOTE, "Nobody calls it.", "Delete it.")


def log(found: list[Finding], root: Path) -> dict[str, Any]:
    made = sarif.log(found, [RULE, OTHER], root, analysis="demo", version="0.1")
    return json.loads(plain.dumps(made))  # type: ignore[no-any-return]


def full(root: Path) -> Finding:
    source = root / "src" / "a b#1.c"
    source.parent.mkdir(exist_ok=True)
    source.write_text("int x;\n  next();\n")
    return Finding(
        RULE,
        Span(str(source), 2, 3, 40),
        "next is null",
        function="main",
        related=(Location(Span("/usr/include/a.h", 4), "declared here"), Location(None, "nowhere")),
        path=(Location(Span(str(source), 1, 1, 3), "x is made"), Location(None, "it is lost")),
        fix="set it",
        suppressed="the loader does",
    )


def test_a_full_finding(tmp_path: Path) -> None:
    made = log([full(tmp_path)], tmp_path)
    assert list(faults(made)) == []
    run = made["runs"][0]
    (result,) = run["results"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [RULE.id, OTHER.id]
    assert (result["level"], result["ruleIndex"]) == ("error", 0)
    (here,) = result["locations"]
    address = {"uri": "src/a%20b%231.c", "uriBaseId": "SRCROOT", "index": 0}
    assert here["physicalLocation"]["artifactLocation"] == address
    # The region ends behind the last character of the line, however long the span claims to be.
    region = {"startLine": 2, "startColumn": 3, "endColumn": 10}
    assert here["physicalLocation"]["region"] == region
    assert here["logicalLocations"] == [{"name": "main", "kind": "function"}]
    related = result["relatedLocations"]
    assert related[0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///usr/include/a.h"
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["x is made", "it is lost"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "the loader does"}]


def test_nothing_of_the_machine_is_in_a_log(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    logs = []
    for folder in folders:
        folder.mkdir()
        logs.append(plain.dumps(log([full(folder)], folder)))
    assert logs[0] == logs[1]
    assert str(tmp_path) not in logs[0]


def test_a_log_without_findings(tmp_path: Path) -> None:
    made = log([], tmp_path)
    assert list(faults(made)) == []
    assert made["runs"][0]["results"] == []


texts = st.text(min_size=1, max_size=20)
spans = st.builds(
    Span,
    file=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
    line=st.integers(0, 9),
    column=st.integers(0, 9),
    length=st.integers(1, 9),
)
locations = st.builds(Location, st.none() | spans, texts)
findings = st.builds(
    Finding,
    rule=st.sampled_from([RULE, OTHER, Rule("x/y", Severity.WARNING, "Z.", "Z.")]),
    span=st.none() | spans,
    message=texts,
    function=st.text(max_size=5),
    related=st.lists(locations, max_size=2).map(tuple),
    path=st.lists(locations, max_size=2).map(tuple),
    fix=st.text(max_size=5),
    suppressed=st.none() | st.text(max_size=5),
)


@given(found=st.lists(findings, max_size=4))
def test_whatever_is_found_makes_a_log(found: list[Finding]) -> None:
    assert list(faults(log(found, Path("/somewhere")))) == []


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda run: run.pop("tool"), "lacks tool"),
        (lambda run: run["results"][0].update(ruleIndex=1), "ruleIndex and ruleId differ"),
        (lambda run: run["results"][0].update(kind="x"), "has kind"),
        (lambda run: run["results"][0]["message"].clear(), "has none of"),
        (lambda run: run.update(artifacts=[]), "no artifact 0"),
        (lambda run: run.update(originalUriBaseIds={}), "no base SRCROOT"),
        (lambda run: run["artifacts"][0]["location"].update(uri="a b.c"), "no URI"),
        (lambda run: run["results"][0]["codeFlows"][0].update(threadFlows=[]), "at least 1"),
    ],
)
def test_the_rules_can_fail(spoil: Any, fault: str, tmp_path: Path) -> None:
    made = log([full(tmp_path)], tmp_path)
    spoil(made["runs"][0])
    assert any(fault in one for one in faults(made))
