"""Findings as SARIF 2.1.0, the format of code-scanning services and editors.

A log has one run. Its addresses are relative to the folder that was analysed (`SRCROOT`, whose own
address is left to the reader: section 3.14.14 of the standard allows that), so the same findings
give the same bytes on every machine. Files outside that folder have absolute `file` addresses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from urllib.parse import quote

from kleene.base.errors import Span
from kleene.base.source_text import relative_path, source_line
from kleene.results import Finding, Location, Rule, fingerprints

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT_ID = "SRCROOT"
_HELP_PAGE = "docs/reference/findings.md"
_LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cc": "cplusplus",
    ".cpp": "cplusplus",
    ".cxx": "cplusplus",
    ".hpp": "cplusplus",
    ".scm": "scheme",
}

Json = dict[str, object]


def log(
    found: Sequence[Finding],
    rules: Iterable[Rule],
    root: str | os.PathLike[str],
    *,
    analysis: str,
    version: str,
) -> Json:
    """Return a log of one run as plain data.

    Args:
        found: the findings; suppressed ones are listed as such.
        rules: what was looked for; rules of findings that are not among them are added.
        root: the folder that addresses are relative to.
        analysis: the command, such as `points-to`: services keep runs of others apart by it.
        version: of Kleene.
    """
    by_id = {rule.id: rule for rule in (*rules, *(finding.rule for finding in found))}
    ordered = [by_id[id] for id in sorted(by_id)]
    writer = _Writer(root, {rule.id: i for i, rule in enumerate(ordered)})
    results = [
        writer.result(finding, fingerprint)
        for finding, fingerprint in zip(found, fingerprints(found, root), strict=True)
    ]
    driver: Json = {
        "name": "Kleene",
        "version": version,
        "rules": [_descriptor(rule) for rule in ordered],
    }
    run: Json = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"kleene/{analysis}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT_ID: {"description": {"text": "the folder of the analysis"}}},
        "artifacts": writer.artifacts,
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(rule: Rule) -> Json:
    where = f"See {_HELP_PAGE}#{rule.anchor}."
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.help},
        "help": {"text": f"{rule.help}\n\n{where}", "markdown": f"{rule.help}\n\n{where}"},
        "defaultConfiguration": {"level": rule.severity.value},
    }


class _Writer:
    """Writes results, and numbers the files they name."""

    def __init__(self, root: str | os.PathLike[str], rule_index: dict[str, int]) -> None:
        self._root = root
        self._rule_index = rule_index
        self._file_index: dict[str, int] = {}
        self.artifacts: list[Json] = []

    def result(self, finding: Finding, fingerprint: str) -> Json:
        """Return one finding as a `result` object (section 3.27)."""
        found: Json = {
            "ruleId": finding.rule.id,
            "ruleIndex": self._rule_index[finding.rule.id],
            "level": finding.severity.value,
            "message": {"text": finding.message},
            "partialFingerprints": {"kleene/v1": fingerprint},
        }
        here = self._physical(finding.span)
        if finding.function:
            here["logicalLocations"] = [{"name": finding.function, "kind": "function"}]
        if here:
            found["locations"] = [here]
        if finding.related:
            found["relatedLocations"] = [
                {"id": i, **self._location(one)} for i, one in enumerate(finding.related)
            ]
        if finding.path:
            steps = [{"location": self._location(one)} for one in finding.path]
            found["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        if finding.fix:
            # A `fix` object must hold the changed text, which a hint does not have.
            found["properties"] = {"fix": finding.fix}
        if finding.suppressed is not None:
            suppression: Json = {"kind": "inSource"}
            if finding.suppressed:
                suppression["justification"] = finding.suppressed
            found["suppressions"] = [suppression]
        return found

    def _location(self, location: Location) -> Json:
        return {**self._physical(location.span), "message": {"text": location.message}}

    def _physical(self, span: Span | None) -> Json:
        if span is None:
            return {}
        place: Json = {"artifactLocation": self._artifact(span.file)}
        if span.line:
            place["region"] = _region(span)
        return {"physicalLocation": place}

    def _artifact(self, file: str) -> Json:
        path = relative_path(file, self._root)
        if path not in self._file_index:
            self._file_index[path] = len(self.artifacts)
            entry: Json = {"location": _address(path)}
            language = _LANGUAGES.get(PurePosixPath(path).suffix)
            self.artifacts.append(entry | ({"sourceLanguage": language} if language else {}))
        return {**_address(path), "index": self._file_index[path]}


def _address(path: str) -> Json:
    """Return a file's address: relative to the root, or absolute if it lies outside."""
    encoded = quote(path.encode(errors="surrogateescape"), safe="/-._~")
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{encoded}"}
    return {"uri": encoded, "uriBaseId": _ROOT_ID}


def _region(span: Span) -> Json:
    region: Json = {"startLine": span.line}
    if span.column:
        # A region must lie inside its line; the column after the last character ends it.
        end = span.column + max(1, span.length)
        text = source_line(span.file, span.line)
        region["startColumn"] = span.column
        region["endColumn"] = max(span.column, min(end, len(text) + 1)) if text else end
    return region
