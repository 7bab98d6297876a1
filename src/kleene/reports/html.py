"""One annotated-source page for every analysis: findings, sources, notes in their margin.

The page is one file that loads nothing and runs nothing: filters are check boxes and style sheets,
and a content policy forbids scripts. All text comes from programs and is never trusted: it is
escaped, and characters that hide or reorder others are written out. The same input gives the same
bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal

from kleene.base.errors import Span
from kleene.base.source_text import relative_path, source_lines, visible
from kleene.reports.pictures import Svg
from kleene.results import Finding, Location, Severity

_WHOLE_LINES = 2000  # of a longer file only the lines near something to say are shown
_NEAR_LINES = 5


@dataclass(frozen=True, slots=True)
class Link:
    """Text that leads to a line of one of the page's sources, if the page shows it."""

    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Code:
    """A program in a cell, as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a cell or a margin, in the colour of a severity, or of what is good."""

    text: str
    kind: Severity | Literal["good"]


Cell = str | Code | Badge | Link | tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What stands in the margin beside a line: text, and links behind it.

    Attributes:
        file: that the line is in.
        line: counted from 1.
        text: what is said.
        links: behind the text.
        badge: in front of the text; the note gets its colour.
        span: is underlined in that colour.
        is_code: whether the text is a formula of the source's language.
        shown_with: values of filtered columns; the note is hidden with the rows of each.
    """

    file: str
    line: int
    text: str
    links: tuple[Link, ...] = ()
    badge: Badge | None = None
    span: Span | None = None
    is_code: bool = False
    shown_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A table of its own above the sources, such as a call graph, with pictures below it.

    Rows are hidden while the box of a value in one of the columns `filters` is not checked. A
    folded table is shown when it is asked for.
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    text: str = ""
    pictures: tuple[Svg, ...] = ()
    filters: tuple[int, ...] = ()
    is_folded: bool = False


def page(
    title: str,
    *,
    sources: Iterable[str],
    root: str | os.PathLike[str],
    notes: Iterable[Note] = (),
    findings: Iterable[Finding] = (),
    sections: Iterable[Section] = (),
    subtitle: str = "",
    lists_findings: bool = True,
) -> str:
    """Return a page as HTML text.

    Args:
        title: what the page is about.
        sources: the paths of the files to show; files that cannot be read are left out.
        root: the folder that paths are shown from.
        notes: for the margins.
        findings: for a table and the margins; suppressed ones are shown pale.
        sections: further tables.
        subtitle: one line below the title.
        lists_findings: whether there is a table of findings.
    """
    found, noted, tables = list(findings), list(notes), list(sections)
    shown = _Sources(sources, root, _lines_with(found, noted, tables))
    values = _filtered(tables)
    for note in noted:
        shown.annotate(note.file, note.line, _note(note, shown, values))
        if note.span and note.badge and isinstance(note.badge.kind, Severity):
            shown.mark(note.span, note.badge.kind)
    for finding in found:
        if finding.span:
            shown.annotate(finding.span.file, finding.span.line, _margin(finding, shown))
            shown.mark(finding.span, finding.severity)
    body = "".join(
        [
            f"<header><h1>{_text(title)}</h1>{_paragraph(subtitle)}</header>\n",
            f'<nav aria-label="Files">{_tree(shown.paths)}</nav>\n<main>\n',
            *(_findings(found, shown) if lists_findings else ()),
            *(_section(section, shown, values) for section in tables),
            *shown.written(),
            "</main>\n",
        ]
    )
    filters = _filters([*_names(found), *values.values()])
    return _FRAME.format(title=_text(title), style=_style(), filters=filters, body=body)


_FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}{filters}</style>
</head>
<body>
{body}</body>
</html>
"""


@cache
def _style() -> str:
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8")


def _text(text: str) -> str:
    """Return text of a program, safe between tags and in attributes."""
    return escape(visible(text).encode(errors="replace").decode(), quote=True)


def _paragraph(text: str) -> str:
    return f"<p>{_text(text)}</p>" if text else ""


def _lines_with(
    findings: list[Finding], notes: list[Note], sections: list[Section]
) -> set[tuple[str, int]]:
    """Return the lines that something is said about, or that something leads to."""
    cells = (cell for section in sections for row in section.rows for cell in row)
    links = [
        link for cell in cells if not isinstance(cell, str | Code | Badge) for link in _links(cell)
    ]
    links += [link for note in notes for link in note.links]
    spans = [place.span for finding in findings for place in (*finding.related, *finding.path)]
    spans += [finding.span for finding in findings]
    found = {(span.file, span.line) for span in spans if span}
    found |= {(note.file, note.line) for note in notes}
    return found | {(link.file, link.line) for link in links}


class _Sources:
    """The files of a page: their anchors, and what stands beside their lines."""

    def __init__(
        self, files: Iterable[str], root: str | os.PathLike[str], said: set[tuple[str, int]]
    ) -> None:
        by_path = {relative_path(file, root): file for file in files}
        readable = [path for path in sorted(by_path) if source_lines(by_path[path])]
        self._root = root
        self._number = {path: i for i, path in enumerate(readable)}
        self._lines = {path: source_lines(by_path[path]) for path in readable}
        self._margin: dict[tuple[str, int], list[str]] = {}
        self._marks: dict[tuple[str, int], list[tuple[int, int, Severity]]] = {}
        near: dict[str, set[int]] = {path: set() for path in readable}
        for file, line in said:
            path = relative_path(file, root)
            if path in near:
                near[path].update(range(line - _NEAR_LINES, line + _NEAR_LINES + 1))
        self._kept = {
            path: range(1, len(lines) + 1)
            if len(lines) <= _WHOLE_LINES
            else sorted(line for line in near[path] if 0 < line <= len(lines))
            for path, lines in self._lines.items()
        }
        self._kept_sets = {path: frozenset(kept) for path, kept in self._kept.items()}

    @property
    def paths(self) -> list[tuple[str, str, int]]:
        """The path, anchor and number of margin notes of each file."""
        counts = dict.fromkeys(self._number, 0)
        for (path, _), notes in self._margin.items():
            counts[path] += len(notes)
        return [(path, f"f{i}", counts[path]) for path, i in self._number.items()]

    def anchor(self, file: str, line: int) -> str | None:
        """Return where a line is shown, or None if it is not."""
        path = relative_path(file, self._root)
        if path not in self._number:
            return None
        if not line:
            return f"f{self._number[path]}"
        return f"f{self._number[path]}-{line}" if line in self._kept_sets[path] else None

    def link(self, file: str, line: int, text: str) -> str:
        """Return text that leads to a line, or plain text if the line is not shown."""
        anchor = self.anchor(file, line)
        return f'<a href="#{anchor}">{_text(text)}</a>' if anchor else _text(text)

    def linked(self, links: Iterable[Link]) -> str:
        """Return links with commas between them."""
        return ", ".join(self.link(one.file, one.line, one.text) for one in links)

    def place(self, span: Span | None) -> str:
        """Return a place that leads to its line."""
        if span is None:
            return ""
        short = Span(relative_path(span.file, self._root), span.line, span.column)
        return self.link(span.file, span.line, str(short))

    def annotate(self, file: str, line: int, note: str) -> None:
        """Put HTML into the margin beside a line, if it is shown."""
        if self.anchor(file, line):
            self._margin.setdefault((relative_path(file, self._root), line), []).append(note)

    def mark(self, span: Span, severity: Severity) -> None:
        """Underline a span."""
        if span.column:
            key = relative_path(span.file, self._root), span.line
            end = span.column - 1 + max(1, span.length)
            self._marks.setdefault(key, []).append((span.column - 1, end, severity))

    def written(self) -> Iterator[str]:
        """Yield the files as sections, in the order of their paths."""
        for path, i in self._number.items():
            yield f'<section class="file" id="f{i}"><h2>{_text(path)}</h2>\n<div class="code">'
            yield from self._code(path, f"f{i}")
            yield "</div></section>\n"

    def _code(self, path: str, anchor: str) -> Iterator[str]:
        lines, last = self._lines[path], 0
        for line in self._kept[path]:
            yield _fold(last + 1, line - 1)
            margin = "".join(self._margin.get((path, line), ()))
            aside = f"<aside>{margin}</aside>" if margin else ""
            code = _marked(lines[line - 1], self._marks.get((path, line), []))
            yield f'<div class="line" id="{anchor}-{line}"><a class="n" href="#{anchor}-{line}">'
            yield f'{line}</a><code dir="ltr">{code}</code>{aside}</div>\n'
            last = line
        yield _fold(last + 1, len(lines))


def _fold(first: int, last: int) -> str:
    """Return what stands for lines that are not shown."""
    return f'<div class="fold">… lines {first} to {last} …</div>\n' if first <= last else ""


def _marked(line: str, marks: list[tuple[int, int, Severity]]) -> str:
    """Return a line with its marks underlined; of overlapping ones the first counts."""
    parts, done = [], 0
    for start, end, severity in sorted(marks, key=lambda mark: (mark[0], mark[1], mark[2].value)):
        if done <= start < len(line):
            parts += [_text(line[done:start]), f'<mark class="{severity.value}">']
            parts += [_text(line[start:end]), "</mark>"]
            done = end
    return "".join(parts) + _text(line[done:])


def _links(cell: Link | tuple[Link, ...]) -> tuple[Link, ...]:
    return (cell,) if isinstance(cell, Link) else cell


def _note(note: Note, shown: _Sources, values: dict[str, str]) -> str:
    links = shown.linked(note.links)
    text = f"<code>{_text(note.text)}</code>" if note.is_code else _text(note.text)
    badge = f"{_badge_of(note.badge)} " if note.badge else ""
    classes: list[str] = [note.badge.kind] if note.badge else []
    classes += [values[value] for value in note.shown_with if value in values]
    given = f' class="{" ".join(classes)}"' if classes else ""
    return f"<div{given}>{badge}{text}{' ' if text and links else ''}{links}</div>"


def _badge_of(badge: Badge) -> str:
    return f'<span class="badge">{_text(badge.text)}</span>'


def _filtered(sections: list[Section]) -> dict[str, str]:
    """Return the class of the rows and notes with a value, by the value."""
    cells = [row[one] for section in sections for one in section.filters for row in section.rows]
    return {value: f"f-{i}" for i, value in enumerate(dict.fromkeys(map(_value, cells)))}


def _value(cell: Cell) -> str:
    """Return what a filter calls a cell."""
    return cell.text if isinstance(cell, Badge) else cell if isinstance(cell, str) else ""


def _margin(finding: Finding, shown: _Sources) -> str:
    """Return a finding as it stands beside its line."""
    parts = [f"{_badge(finding)} {_text(finding.message)}"]
    parts += [f"<br>{_located(one, shown)}" for one in finding.related]
    if finding.path:
        steps = "".join(f"<li>{_located(one, shown)}</li>" for one in finding.path)
        parts.append(f"<ol>{steps}</ol>")
    if finding.fix:
        parts.append(f"<br>Help: {_text(finding.fix)}")
    if finding.suppressed is not None:
        parts.append(f"<br>Suppressed: {_text(finding.suppressed or 'no reason given')}")
    return f'<div class="{_classes(finding)}">{"".join(parts)}</div>'


def _located(location: Location, shown: _Sources) -> str:
    place = shown.place(location.span)
    return f"{place}: {_text(location.message)}" if place else _text(location.message)


def _badge(finding: Finding) -> str:
    rule = finding.rule
    return f'<span class="badge" title="{_text(rule.summary)}">{_text(rule.id)}</span>'


def _classes(finding: Finding) -> str:
    silent = " suppressed" if finding.suppressed is not None else ""
    return f"{finding.severity.value}{silent}"


def _present(findings: list[Finding]) -> tuple[list[Severity], list[str]]:
    """Return the severities and rules that there are findings of."""
    severities = {finding.severity for finding in findings}
    return (
        [severity for severity in Severity if severity in severities],
        sorted({finding.rule.id for finding in findings}),
    )


def _names(findings: list[Finding]) -> list[str]:
    """Return the classes of rows of findings that boxes hide."""
    severities, rules = _present(findings)
    return [f"s-{severity.value}" for severity in severities] + [
        f"r-{i}" for i in range(len(rules))
    ]


def _filters(names: Iterable[str]) -> str:
    """Return the style sheet that hides rows and notes whose box is not checked."""
    return "".join(
        f"main:has(#{name}:not(:checked)) :is(tr, aside > div).{name} {{ display: none; }}\n"
        for name in names
    )


def _findings(findings: list[Finding], shown: _Sources) -> Iterator[str]:
    yield '<section id="findings"><h2>Findings</h2>\n'
    severities, rules = _present(findings)
    if not findings:
        yield "<p>Nothing was found.</p></section>\n"
        return
    for severity in severities:
        yield _box(f"s-{severity.value}", severity.value, severity.value)
    for i, rule in enumerate(rules):
        yield _box(f"r-{i}", rule, "rule")
    yield '<div class="scroll"><table><thead><tr><th>Place</th><th>Rule</th><th>Finding</th>'
    yield "</tr></thead><tbody>\n"
    index = {rule: i for i, rule in enumerate(rules)}
    for finding in findings:
        names = f"{_classes(finding)} s-{finding.severity.value} r-{index[finding.rule.id]}"
        yield f'<tr class="{names}"><td class="place">{shown.place(finding.span)}</td>'
        yield f"<td>{_badge(finding)}</td><td>{_text(finding.message)}</td></tr>\n"
    yield "</tbody></table></div></section>\n"


def _box(name: str, text: str, kind: str) -> str:
    box = f'<input type="checkbox" id="{name}" checked>'
    return f'<label class="{kind}">{box}{_text(text)}</label>\n'


def _section(section: Section, shown: _Sources, values: dict[str, str]) -> str:
    seen = {_value(row[column]) for row in section.rows for column in section.filters}
    mine = {value: name for value, name in values.items() if value in seen}

    def cell(value: Cell) -> str:
        if isinstance(value, Badge):
            return f'<span class="{value.kind}">{_badge_of(value)}</span>'
        if isinstance(value, Code):
            lines = value.text.expandtabs(4).split("\n")
            return "<pre>" + "\n".join(map(_text, lines)) + "</pre>"
        return _text(value) if isinstance(value, str) else shown.linked(_links(value))

    def classes(row: tuple[Cell, ...]) -> str:
        names = [mine[_value(row[column])] for column in section.filters]
        return f' class="{" ".join(names)}"' if names else ""

    head = "".join(f"<th>{_text(column)}</th>" for column in section.columns)
    rows = "".join(
        f"<tr{classes(row)}>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>\n"
        for row in section.rows
    )
    boxes = "".join(_box(name, value, "rule") for value, name in mine.items())
    table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}'
    pictures = "".join(f"<figure>{one}</figure>\n" for one in section.pictures)
    title = f"<h2>{_text(section.title)}</h2>"
    body = f"{_paragraph(section.text)}\n{boxes}{table}</tbody></table></div>\n{pictures}"
    if section.is_folded:
        return f"<section><details><summary>{title}</summary>{body}</details></section>\n"
    given = ' class="filtered"' if section.filters else ""
    return f"<section{given}>{title}{body}</section>\n"


def _tree(paths: list[tuple[str, str, int]]) -> str:
    """Return the files as nested lists by folder, folders first."""
    inside: dict[str, list[tuple[str, str, int]]] = {}
    items = []
    for path, anchor, n_notes in paths:
        folder, slash, rest = path.lstrip("/").partition("/")
        if slash:
            inside.setdefault(folder, []).append((rest, anchor, n_notes))
        else:
            count = f'<span class="n">{n_notes}</span>' if n_notes else ""
            items.append(f'<li><a href="#{anchor}">{_text(folder)}</a>{count}</li>')
    folders = [
        f"<li><details open><summary>{_text(folder)}/</summary>{_tree(rest)}</details></li>"
        for folder, rest in inside.items()
    ]
    return f"<ul>{''.join(folders + items)}</ul>"
