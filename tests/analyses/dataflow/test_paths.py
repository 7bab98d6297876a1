"""Every finding of every client has its path, and SARIF has it as a code flow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kleene
from kleene.analyses.dataflow import rules
from kleene.analyses.dataflow.clients import available
from kleene.base import json as plain
from kleene.reports import sarif
from kleene.results import rules_in
from tests.reports.sarif_rules import faults

VALUES = Path(__file__).parents[1] / "findings" / "values.c"
# These answer with tables alone.
WITHOUT_FINDINGS = {"bit-widths", "bounds", "classes"}


@pytest.mark.parametrize("name", available())
def test_findings_have_their_path_in_sarif(name: str) -> None:
    program = kleene.load(VALUES)
    found = program.dataflow(name, device="cpu").findings()
    assert bool(found) == (name not in WITHOUT_FINDINGS)
    made = sarif.log(found, rules_in(rules), VALUES.parent, analysis="dataflow", version="0.1")
    log = json.loads(plain.dumps(made))
    assert list(faults(log)) == []
    for result, finding in zip(log["runs"][0]["results"], found, strict=True):
        steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
        assert len(steps) == len(finding.path) >= 1
        lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
        assert finding.span is not None
        assert finding.span.line in lines


def test_a_call_through_a_pointer_has_no_name(tmp_path: Path) -> None:
    source = tmp_path / "through.c"
    source.write_text(
        "int *none(int *given) { return given; }\n"
        "struct hooks { int *(*find)(int *); } hooks = {none};\n"
        "int main(void) { return *hooks.find(0); }\n"
    )
    (found,) = kleene.load(source).dataflow("null", device="cpu").findings()
    assert [step.message for step in found.path] == [
        "null comes from a function pointer",
        "the pointer is dereferenced",
    ]
