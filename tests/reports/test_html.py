"""The page shows sources with notes beside their lines, and hostile text stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kleene.base.errors import Span
from kleene.reports import html
from kleene.reports.html import Badge, Link, Note, Section
from kleene.results import Finding, Location, Rule, Severity

ERROR = Rule("demo/null-call", Severity.ERROR, "A call is never right.", "H.")
NOTE = Rule("demo/unreachable", Severity.NOTE, "Nobody calls it.", "H.")
HOSTILE = "</code></script><script>document.title='owned'</script><img src=x onerror=alert(1)>'\"&"
BIDI = "access = \u202e'user'\u2066 // admin\u2069"


def project(folder: Path) -> list[str]:
    (folder / "src").mkdir()
    first, second = folder / "src" / "main.c", folder / "util.c"
    first.write_text(f"int main(void) {{\n\tnext();\n  return 0;\n}}\n// {HOSTILE}\n// {BIDI}\n")
    second.write_text("int unused(void) {\n  return 1;\n}\n")
    return [str(first), str(second)]


def made(folder: Path) -> str:
    first, second = project(folder)
    findings = [
        Finding(
            ERROR,
            Span(first, 2, 2, 4),
            f"next is null {HOSTILE}",
            function="main",
            related=(Location(Span(second, 1, 5), "a relative"),),
            path=(Location(Span(first, 1, 1), "it starts"), Location(None, "it ends")),
            fix="set it",
        ),
        Finding(NOTE, Span(second, 1, 5), "nobody calls it", suppressed="kept for tests"),
        Finding(NOTE, Span("/usr/include/a.h", 3), "far away"),
    ]
    notes = [Note(first, 2, "may call", (Link("unused", second, 1), Link("gone", "/no.c", 1)))]
    rows = [("main", Link("src/main.c:2", first, 2), (Link("here", first, 2), Link("x", "", 0)))]
    sections = [Section("Call graph", ("function", "call", "to"), rows, "Who calls whom.")]
    return html.page(
        f"Findings of {HOSTILE}",
        sources=[first, second, str(folder / "absent.c")],
        root=folder,
        notes=notes,
        findings=findings,
        sections=sections,
        subtitle=BIDI,
    )


class Reader(HTMLParser):
    """The tags of a page with their attributes, its text, and tags that do not match."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


TAGS = frozenset(
    re.findall(
        r"\w+",
        "html head meta title style body header h1 h2 p nav ul ol li details summary main section"
        " div a code aside mark span br input label table thead tbody tr th td",
    )
)


def check(text: str) -> Reader:
    """Check what holds of every page: no foreign tags, no addresses, no doubled or dead ids."""
    reader = read(text)
    assert (reader.wrong, reader.open) == ([], [])
    assert {tag for tag, _ in reader.tags} <= TAGS
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in reader.tags:
        assert not any(name.startswith("on") or name in ("src", "action") for name in attributes)
        if "href" in attributes:
            assert attributes["href"] is not None
            assert attributes["href"].startswith("#")
            assert attributes["href"][1:] in ids
    assert "url(" not in text.partition("</style>")[0]
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", text)
    return reader


def test_everything_is_on_the_page(tmp_path: Path) -> None:
    text = made(tmp_path)
    reader = check(text)
    words = "".join(reader.text)
    for expected in (HOSTILE, "next is null", "a relative", "it ends", "Help: set it", "may call"):
        assert expected in words
    assert "Suppressed: kept for tests" in words
    assert "<U+202E>" in words
    assert "absent.c" not in words
    assert '<a href="#f1-1">unused</a>, gone' in text  # what is not shown has no link
    assert '<td><a href="#f0-2">here</a>, x</td>' in text
    assert '\t<mark class="error">next</mark>();' in text
    lines = [attributes.get("id") for _, attributes in reader.tags]
    assert [line for line in lines if line and line.startswith("f1-")] == ["f1-1", "f1-2", "f1-3"]


def test_pages_never_vary(tmp_path: Path) -> None:
    pages = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        pages.append(made(tmp_path / name))
    assert pages[0] == pages[1]
    assert str(tmp_path) not in pages[0]


def test_long_files_are_folded(tmp_path: Path) -> None:
    file = tmp_path / "long.c"
    file.write_text("".join(f"int x{i};\n" for i in range(1, 5001)))
    note = Note(str(file), 3000, "here", (Link("there", str(file), 1), Link("x", str(file), 9000)))
    text = html.page("t", sources=[str(file)], root=tmp_path, notes=[note])
    check(text)
    folds = re.findall("lines [0-9]+ to [0-9]+", text)
    assert folds == ["lines 7 to 2994", "lines 3006 to 5000"]


def test_an_empty_page(tmp_path: Path) -> None:
    assert "Nothing was found." in "".join(check(html.page("t", sources=[], root=tmp_path)).text)


@given(text=st.text(max_size=40), column=st.integers(0, 20), length=st.integers(1, 9))
def test_any_text_stays_text(
    text: str, column: int, length: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = folder / "a.c"
    file.write_text(text, encoding="utf-8", newline="")
    finding = Finding(ERROR, Span(str(file), 1, column, length), text, fix=text)
    note = Note(str(file), 1, text, (Link(text, str(file), 1),))
    rows = Section(text, (text,), [(text,)], text)
    given_text = {"notes": [note], "findings": [finding], "sections": [rows]}
    check(html.page(text, sources=[str(file)], root=folder, **given_text))  # type: ignore[arg-type]


@pytest.mark.tools
def test_a_browser_shows_it(chromium: Callable[..., str], tmp_path: Path) -> None:
    """A real browser builds the same page, runs nothing, and draws it wide and narrow."""
    text = made(tmp_path)
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    shown = chromium(tmp_path, "--dump-dom", page.as_uri())
    assert [tag for tag, _ in read(shown).tags] == [tag for tag, _ in check(text).tags]
    assert "".join(read(shown).text).strip() == "".join(read(text).text).strip()
    assert "<title>Findings of &lt;/code&gt;&lt;/script&gt;" in shown
    for width in (1280, 420):
        picture = tmp_path / f"{width}.png"
        chromium(tmp_path, f"--screenshot={picture}", f"--window-size={width},800", page.as_uri())
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 10_000  # a blank page is far smaller


# A page around the report clicks its boxes: the report itself runs nothing.
CLICKS = """<!DOCTYPE html><iframe srcdoc="{page}"></iframe><pre></pre><script>
onload = () => {{
  const report = document.querySelector("iframe").contentDocument, seen = [];
  const rows = [...report.querySelectorAll("#findings tbody tr")];
  for (const label of {labels}) {{
    const named = [...report.querySelectorAll("label")].find(one => one.textContent === label);
    named.click();
    const shown = rows.filter(row => row.getClientRects().length);
    seen.push(shown.map(row => row.cells[2].textContent));
  }}
  document.querySelector("pre").textContent = JSON.stringify(seen);
}};
</script>"""


@pytest.mark.tools
def test_boxes_hide_and_show_rows(chromium: Callable[..., str], tmp_path: Path) -> None:
    """A row is shown while the boxes of its severity and of its rule are both checked."""
    arity = Rule("demo/arity", Severity.ERROR, "A call has too many arguments.", "H.")
    findings = [
        Finding(ERROR, None, "null"),
        Finding(arity, None, "arity"),
        Finding(NOTE, None, "unreachable"),
    ]
    report = html.page("t", sources=[], root=tmp_path, findings=findings)
    clicks = [
        ("demo/arity", ["null", "unreachable"]),
        ("note", ["null"]),
        ("error", []),
        ("demo/arity", []),  # checked again, and errors are still hidden
        ("error", ["null", "arity"]),
        ("note", ["null", "arity", "unreachable"]),
    ]
    labels = json.dumps([label for label, _ in clicks])
    page = tmp_path / "clicks.html"
    page.write_text(CLICKS.format(page=escape(report), labels=labels), encoding="utf-8")
    shown = re.search("<pre>(.*)</pre>", chromium(tmp_path, "--dump-dom", page.as_uri()))
    assert shown is not None
    assert json.loads(shown[1]) == [rows for _, rows in clicks]


@pytest.mark.tools
def test_boxes_hide_rows_and_notes(chromium: Callable[..., str], tmp_path: Path) -> None:
    """Of a section with filters: what stands in the margin goes with the rows."""
    file = tmp_path / "a.c"
    file.write_text("int a;\nint b;\n")
    rows = [("one", Badge("may fail", Severity.WARNING)), ("two", Badge("safe", "good"))]
    notes = [
        Note(str(file), line, name, badge=badge, shown_with=(badge.text,))
        for line, (name, badge) in enumerate(rows, 1)
    ]
    checks = Section("Checks", ("name", "verdict"), rows, filters=(1,))
    report = html.page("t", sources=[str(file)], root=tmp_path, notes=notes, sections=[checks])
    clicks = CLICKS.replace("#findings tbody tr", ".filtered tbody tr, aside > div")
    clicks = clicks.replace("row.cells[2].textContent", "row.textContent")
    page = tmp_path / "clicks.html"
    labels = json.dumps(["may fail", "safe", "may fail"])
    page.write_text(clicks.format(page=escape(report), labels=labels), encoding="utf-8")
    shown = re.search("<pre>(.*)</pre>", chromium(tmp_path, "--dump-dom", page.as_uri()))
    assert shown is not None
    assert json.loads(shown[1]) == [["twosafe", "safe two"], [], ["onemay fail", "may fail one"]]
