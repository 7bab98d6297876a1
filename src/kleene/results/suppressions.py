"""Comments that silence findings: `// kleene: ignore[points-to/null-call] the loader sets it`.

In C and C++ the comment may be of either kind, in Scheme it begins with `;` or is `#| … |#`. It
silences findings of the rules it names on its own line; where it stands alone on its line, on the
next line that is no such comment. A comment that names no known rule, or silences nothing that was
looked for, is itself reported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from kleene.base.errors import Span
from kleene.base.files import read_file
from kleene.base.source_text import source_lines
from kleene.results.finding import Finding
from kleene.results.rules import Rule, Severity

UNKNOWN_RULE = Rule(
    "suppressions/unknown-rule",
    Severity.WARNING,
    "A comment suppresses findings of a rule that does not exist.",
    "The comment silences nothing: its rule is misspelt, or was never there."
    " The message names the nearest rules.",
)
UNUSED = Rule(
    "suppressions/unused",
    Severity.NOTE,
    "A comment suppresses a finding that is not there.",
    "The rule was looked for, and has no finding on the line that the comment is about."
    " The code may have been mended, or the comment may stand at the wrong line."
    " Comments about rules of analyses that did not run are left alone.",
)

# Comments, and before them what can look like one: strings, characters, quoted symbols.
# Python compiles a pattern when it is first used, and few files need these.
_C = r"""R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
        | (?P<comment>//[^\n]* | /\*.*?(?:\*/|\Z))"""
_SCHEME = r""""(?:\\.|[^"\\])*" | \#\\. | \|[^|]*\| | (?P<comment>;[^\n]* | \#\|.*?(?:\|\#|\Z))"""
_SCHEME_ENDINGS = (".scm", ".ss", ".sld", ".rkt")
_IGNORE = r"kleene:\s*ignore\b(?:\[(?P<rules>[^\]]*)\])?(?P<reason>[^\n]*)"
_WORD = b"kleene:"


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule that one comment silences, and the line it is about."""

    rule: str
    reason: str
    span: Span  # of the comment
    line: int  # whose findings it silences


def apply_suppressions(
    findings: Iterable[Finding],
    files: Iterable[str],
    checked: Sequence[Rule],
    known: Callable[[], Iterable[Rule]],
) -> list[Finding]:
    """Return the findings with those silenced that a comment is about, and findings about comments.

    Args:
        findings: what was found.
        files: the paths of the sources; those that cannot be read have no comments.
        checked: the rules that were looked for, so that a comment without a finding is unused.
        known: returns every rule there is; asked only if a comment names one not in `checked`.
    """
    comments = [one for file in sorted(set(files)) for one in suppressions_in(file)]
    by_target: dict[tuple[str, int, str], list[Suppression]] = {}
    for one in comments:
        by_target.setdefault((one.span.file, one.line, one.rule), []).append(one)
    used: set[Suppression] = set()
    found = []
    for finding in findings:
        span = finding.span or Span("")
        silencing = by_target.get((span.file, span.line, finding.rule.id), [])
        used.update(silencing)
        found.append(replace(finding, suppressed=silencing[0].reason) if silencing else finding)
    found += _about(comments, used, {rule.id for rule in checked}, known)
    return sorted(found, key=lambda finding: finding.order)


def _about(
    comments: list[Suppression],
    used: set[Suppression],
    checked: set[str],
    known: Callable[[], Iterable[Rule]],
) -> Iterable[Finding]:
    """Yield what is wrong with the comments themselves."""
    everything: set[str] | None = None
    for one in comments:
        if one in used:
            continue
        if one.rule in checked:
            yield Finding(UNUSED, one.span, f"{one.rule} has no finding on line {one.line}")
            continue
        if everything is None:
            everything = {rule.id for rule in known()} | checked
        if one.rule not in everything:
            yield _unknown(one, everything)


def _unknown(one: Suppression, everything: set[str]) -> Finding:
    if not one.rule:
        hint = "write kleene: ignore[rule] and the reason"
        return Finding(UNKNOWN_RULE, one.span, "the comment names no rule", fix=hint)
    near = get_close_matches(one.rule, sorted(everything), 2)
    hint = f"did you mean {' or '.join(near)}?" if near else ""
    return Finding(UNKNOWN_RULE, one.span, f"there is no rule '{one.rule}'", fix=hint)


def suppressions_in(file: str | os.PathLike[str]) -> list[Suppression]:
    """Return what the comments of a source file silence, in their order."""
    path = os.fspath(file)
    if not _mentions(path):
        return []
    lines = source_lines(path)
    text = "\n".join(lines)
    tokens = _SCHEME if path.endswith(_SCHEME_ENDINGS) else _C
    found: list[Suppression] = []
    for token in re.finditer(tokens, text, re.DOTALL | re.VERBOSE):
        for ignored in re.finditer(_IGNORE, token["comment"] or ""):
            found += _read(path, text, token, ignored)
    return _aimed(found, lines)


def _mentions(path: str) -> bool:
    """Return whether a file has such a comment at all: most have none, and are not taken apart."""
    try:
        return _WORD in read_file(path)
    except OSError:
        return False


def _read(
    path: str, text: str, token: re.Match[str], ignored: re.Match[str]
) -> Iterable[Suppression]:
    """Yield what one `kleene: ignore[…]` says, aimed at its own line."""
    start = token.start("comment") + ignored.start()
    line_start = text.rfind("\n", 0, start) + 1
    line = text.count("\n", 0, start) + 1
    length = len(ignored[0].rstrip())
    span = Span(path, line, start - line_start + 1, length)
    reason = ignored["reason"].strip().removesuffix("*/").removesuffix("|#").strip()
    for rule in (ignored["rules"] or "").split(","):
        yield Suppression(rule.strip(), reason, span, line)


_ALONE = r"\s*(//|/\*|;+|#\|)?\s*kleene:\s*ignore\b"


def _aimed(found: list[Suppression], lines: tuple[str, ...]) -> list[Suppression]:
    """Return suppressions with those that stand alone aimed at the next line that is none."""
    alone = {
        one.span.line
        for one in found
        if re.match(_ALONE, lines[one.span.line - 1]) and not _code_after(lines[one.span.line - 1])
    }
    aimed = []
    for one in found:
        line = one.line
        while line in alone:
            line += 1
        aimed.append(replace(one, line=line))
    return aimed


def _code_after(line: str) -> bool:
    """Return whether code follows a block comment on its line."""
    _, end, rest = line.partition("*/")
    return bool(end) and bool(rest.strip())
