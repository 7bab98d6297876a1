"""Findings stand on the very line that says `expect: rule`, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kleene
from kleene import analyses
from kleene.analyses.dataflow.clients import available
from kleene.results import Finding, Result, rules_in, suppressions

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAMS = [
    [HERE / "null_calls.c"],
    [HERE / "no_targets.c"],
    [HERE / "misfits.c", HERE / "misfits_other.c"],
    [HERE / "suppressed.c"],
    [HERE / "unproved.c"],
    [HERE / "values.c"],
    [HERE / "calls.scm"],
    [HERE / "evaluated.scm"],
]
CLIENTS = available()
EXPECTED = re.compile(r"expect: (\S+)")


def found_in(files: list[Path], **options: object) -> list[Finding]:
    program = kleene.load(files)
    if files[0].name == "values.c":
        results = [program.dataflow(client=client, device="cpu") for client in CLIENTS]
        return [finding for result in results for finding in result.findings()]
    is_scheme = files[0].suffix == ".scm"
    analysis = program.cfa if is_scheme else program.points_to
    if files[0].name == "unproved.c":
        analysis = program.invariants
    result = analysis(device="cpu", **options)
    assert isinstance(result, Result)
    findings = result.findings(may=True) if is_scheme else result.findings()
    assert findings == sorted(findings, key=lambda finding: finding.order)
    return findings


@pytest.mark.parametrize("files", PROGRAMS, ids=lambda files: files[0].name)
def test_findings_are_where_the_program_says(files: list[Path]) -> None:
    expected = {
        (str(file), number, rule)
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        for rule in EXPECTED.findall(line)
    }
    found = {
        (finding.span.file, finding.span.line, finding.rule.id)
        for finding in found_in(files)
        if finding.span and finding.suppressed is None
    }
    assert found == expected


def test_suppressed_findings_keep_the_reason() -> None:
    reasons = [f.suppressed for f in found_in([HERE / "suppressed.c"]) if f.suppressed is not None]
    assert reasons == ["for the debugger", "the loader sets it"]


def test_messages_name_what_is_meant() -> None:
    found = found_in([HERE / "null_calls.c"])
    messages = {finding.span.line: finding.message for finding in found if finding.span}
    text = (HERE / "null_calls.c").read_text().splitlines()
    line = text.index("    never(); // expect: points-to/null-call") + 1
    assert messages[line].startswith("'never' is never set: if this call is made,")
    assert "this call is never made: 'hook' is tested, and nothing sets it" in messages.values()
    fits = {f.message: f for f in found_in([HERE / "misfits.c", HERE / "misfits_other.c"])}
    assert "'elsewhere' takes 1 argument, and 2 are passed" in fits
    through = fits["'two' takes 2 arguments, and 1 is passed"]
    assert through.function == "apply"
    assert [one.message for one in through.related] == ["'two' is defined here"]
    typed = fits["argument 1 of 'address' is a pointer, and an integer of 32 bits is passed"]
    assert typed.path, "a call through a pointer shows how the function came there"


def test_a_library_calls_what_others_can_see() -> None:
    files = [HERE / "no_targets.c"]
    rule = "points-to/unreachable-function"
    names = [f.function for f in found_in(files, library=True) if f.rule.id == rule]
    assert names == ["also"]  # static, and nobody is given its address


def test_every_rule_is_found_somewhere_and_explained() -> None:
    """No rule without a program that shows it, and a section of the reference."""
    expected = {
        rule for files in PROGRAMS for f in files for rule in EXPECTED.findall(f.read_text())
    }
    every = {*analyses.all_rules(), *rules_in(suppressions)}
    assert expected == {rule.id for rule in every}
    page = " ".join((ROOT / "docs" / "reference" / "findings.md").read_text().split())
    for rule in every:
        words = " ".join(f"{rule.summary} {rule.help}".split())
        assert f"({rule.anchor})= ### {rule.id} *{rule.severity.value}.* {words}" in page


EXAMPLES = [ROOT / "examples" / name for name in ("shapes", "events", "animals")]
C_PROGRAMS = sorted((ROOT / "tests" / "programs" / "c").glob("*.c*"))
SCHEME_PROGRAMS = sorted((ROOT / "tests" / "programs" / "scheme").glob("*.scm"))
# What is truly wrong in the test programs, and meant so.
FAULTS = {
    # calls that must fail, and are caught
    "converted_functions.c": {"points-to/call-arity"},
    "conditions.scm": {
        "cfa/argument-type",
        "cfa/unbound",
        "cfa/call-arity",
        "cfa/not-a-procedure",
    },
    "records.scm": {"cfa/argument-type"},
}
UNCALLED = {"spare_arguments.c": {"three"}}  # a pointer to it is kept, and never called


@pytest.mark.parametrize("path", [*EXAMPLES, *C_PROGRAMS, *SCHEME_PROGRAMS], ids=lambda p: p.name)
def test_there_are_no_false_alarms(path: Path) -> None:
    """The examples and test programs run, so no fault may be found in what they do."""
    found = found_in([path])
    faults = {finding.rule.id for finding in found if finding.severity.is_fault}
    assert faults == FAULTS.get(path.name, set())
    uncalled = {f.function for f in found if f.rule.id == "points-to/unreachable-function"}
    assert uncalled == UNCALLED.get(path.name, set())
