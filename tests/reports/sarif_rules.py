"""What SARIF 2.1.0 asks of a log: the objects that Kleene writes, property by property.

Written from the standard's prose (OASIS, "Static Analysis Results Interchange Format (SARIF)
Version 2.1.0 plus Errata 01", the sections named). Objects take no other properties than those
listed: the standard's own schema forbids unknown ones, and a property that Kleene begins to write
must be added here together with its section.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

Fault = str
Kind = Callable[[Any, str], Iterator[Fault]]

_URI_CHARACTERS = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")


def _string(value: Any, at: str) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield f"{at}: not a string"


def _some_text(value: Any, at: str) -> Iterator[Fault]:
    if not isinstance(value, str) or not value:
        yield f"{at}: not a string with something in it"


def _reference(value: Any, at: str) -> Iterator[Fault]:
    """RFC 3986: a URI reference; a relative one has no colon in its first segment."""
    if not isinstance(value, str) or not _URI_CHARACTERS.fullmatch(value):
        yield f"{at}: no URI: {value!r}"
    elif not urlsplit(value).scheme and ":" in value.split("/")[0]:
        yield f"{at}: a relative URI that reads as one with a scheme: {value!r}"


def _absolute(value: Any, at: str) -> Iterator[Fault]:
    yield from _reference(value, at)
    if isinstance(value, str) and not urlsplit(value).scheme:
        yield f"{at}: not absolute: {value!r}"


def _one_of(*words: str) -> Kind:
    def check(value: Any, at: str) -> Iterator[Fault]:
        if value not in words:
            yield f"{at}: {value!r} is none of {words}"

    return check


def _at_least(least: int) -> Kind:
    def check(value: Any, at: str) -> Iterator[Fault]:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            yield f"{at}: {value!r} is no integer from {least} on"

    return check


def _is(name: str) -> Kind:
    return lambda value, at: faults(value, name, at)


def _list(kind: Kind, least: int = 0) -> Kind:
    def check(value: Any, at: str) -> Iterator[Fault]:
        if not isinstance(value, list) or len(value) < least:
            yield f"{at}: no list of at least {least}"
            return
        for i, one in enumerate(value):
            yield from kind(one, f"{at}[{i}]")

    return check


def _map(kind: Kind) -> Kind:
    def check(value: Any, at: str) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield f"{at}: no object"
            return
        for name, one in value.items():
            yield from kind(one, f"{at}.{name}")

    return check


def _anything(value: Any, at: str) -> Iterator[Fault]:
    return iter(())


@dataclass(frozen=True)
class _Object:
    properties: dict[str, Kind]
    required: set[str] = field(default_factory=set)
    either: tuple[str, ...] = ()  # at least one of these


_OBJECTS = {
    "log": _Object(  # 3.13
        {"$schema": _absolute, "version": _one_of("2.1.0"), "runs": _list(_is("run"))},
        {"version", "runs"},
    ),
    "run": _Object(  # 3.14
        {
            "tool": _is("tool"),
            "automationDetails": _is("automation"),
            "columnKind": _one_of("utf16CodeUnits", "unicodeCodePoints"),
            "originalUriBaseIds": _map(_is("artifactLocation")),
            "artifacts": _list(_is("artifact")),
            "results": _list(_is("result")),
        },
        {"tool"},
    ),
    "automation": _Object({"id": _some_text}),  # 3.17
    "tool": _Object({"driver": _is("component")}, {"driver"}),  # 3.18
    "component": _Object(  # 3.19
        {"name": _some_text, "version": _some_text, "rules": _list(_is("descriptor"))}, {"name"}
    ),
    "descriptor": _Object(  # 3.49
        {
            "id": _some_text,
            "shortDescription": _is("multiformat"),
            "fullDescription": _is("multiformat"),
            "help": _is("multiformat"),
            "helpUri": _absolute,
            "defaultConfiguration": _is("configuration"),
        },
        {"id"},
    ),
    "configuration": _Object({"level": _one_of("none", "note", "warning", "error")}),  # 3.50
    "multiformat": _Object({"text": _some_text, "markdown": _some_text}, {"text"}),  # 3.12
    "message": _Object(  # 3.11
        {"text": _some_text, "markdown": _some_text, "id": _some_text}, either=("text", "id")
    ),
    "artifact": _Object(  # 3.24
        {"location": _is("artifactLocation"), "sourceLanguage": _some_text}
    ),
    "artifactLocation": _Object(  # 3.4
        {
            "uri": _reference,
            "uriBaseId": _some_text,
            "index": _at_least(-1),
            "description": _is("message"),
        }
    ),
    "result": _Object(  # 3.27
        {
            "ruleId": _some_text,
            "ruleIndex": _at_least(-1),
            "level": _one_of("none", "note", "warning", "error"),
            "message": _is("message"),
            "locations": _list(_is("location")),
            "relatedLocations": _list(_is("location")),
            "codeFlows": _list(_is("codeFlow")),
            "partialFingerprints": _map(_string),
            "suppressions": _list(_is("suppression")),
            "properties": _map(_anything),
        },
        {"message"},
    ),
    "location": _Object(  # 3.28
        {
            "id": _at_least(-1),
            "physicalLocation": _is("physicalLocation"),
            "logicalLocations": _list(_is("logicalLocation")),
            "message": _is("message"),
        }
    ),
    "physicalLocation": _Object(  # 3.29
        {"artifactLocation": _is("artifactLocation"), "region": _is("region")},
        either=("artifactLocation", "address"),
    ),
    "region": _Object(  # 3.30
        {
            "startLine": _at_least(1),
            "startColumn": _at_least(1),
            "endLine": _at_least(1),
            "endColumn": _at_least(1),
        }
    ),
    "logicalLocation": _Object({"name": _some_text, "kind": _some_text}),  # 3.33
    "suppression": _Object(  # 3.35
        {"kind": _one_of("inSource", "external"), "justification": _some_text}, {"kind"}
    ),
    "codeFlow": _Object({"threadFlows": _list(_is("threadFlow"), 1)}, {"threadFlows"}),  # 3.36
    "threadFlow": _Object({"locations": _list(_is("step"), 1)}, {"locations"}),  # 3.37
    "step": _Object({"location": _is("location")}),  # 3.38
}


def faults(value: Any, name: str = "log", at: str = "$") -> Iterator[Fault]:
    """Yield what is wrong with `value` as an object of that name."""
    expected = _OBJECTS[name]
    if not isinstance(value, dict):
        yield f"{at}: no object"
        return
    for missing in sorted(expected.required - set(value)):
        yield f"{at}: lacks {missing}"
    if expected.either and not set(expected.either) & set(value):
        yield f"{at}: has none of {expected.either}"
    for key, one in value.items():
        if key not in expected.properties:
            yield f"{at}: has {key}, which a {name} has not"
        else:
            yield from expected.properties[key](one, f"{at}.{key}")
    if name == "run" and expected.required <= set(value):
        yield from _references(value, at)


def _references(run: dict[str, Any], at: str) -> Iterator[Fault]:
    """Yield the numbers and names in a run that lead nowhere (3.4.4, 3.4.5, 3.27.6, 3.52.4)."""
    rules = [rule.get("id") for rule in run["tool"]["driver"].get("rules", [])]
    if len(set(rules)) < len(rules):
        yield f"{at}: two rules of one id"
    for i, result in enumerate(run.get("results", [])):
        if "ruleIndex" in result and rules[result["ruleIndex"]] != result.get("ruleId"):
            yield f"{at}.results[{i}]: ruleIndex and ruleId differ"
    artifacts, bases = run.get("artifacts", []), run.get("originalUriBaseIds", {})
    for place in _artifact_locations(run.get("results", [])):
        index = place.get("index", -1)
        if index >= len(artifacts):
            yield f"{at}: no artifact {index}"
        elif index >= 0 and artifacts[index]["location"]["uri"] != place["uri"]:
            yield f"{at}: artifact {index} is another file"
        if "uriBaseId" in place and place["uriBaseId"] not in bases:
            yield f"{at}: no base {place['uriBaseId']}"
        if "uriBaseId" in place and urlsplit(place["uri"]).scheme:
            yield f"{at}: an absolute URI with a base"


def _artifact_locations(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "artifactLocation" in value:
            yield value["artifactLocation"]
        for one in value.values():
            yield from _artifact_locations(one)
    elif isinstance(value, list):
        for one in value:
            yield from _artifact_locations(one)
