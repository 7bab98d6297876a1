"""`kleene cfa` answers on the command line, and says what is wrong."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

import pytest

from tests.cli.conftest import Kleene
from tests.reports.conftest import chromium
from tests.reports.test_html import check

__all__ = ["chromium"]  # a fixture

SHOP = Path(__file__).resolve().parents[2] / "examples" / "scheme" / "shop.scm"


def test_the_summary_names_what_is_odd(kleene: Kleene) -> None:
    done = kleene("cfa", SHOP)
    assert done.returncode == 0
    assert done.stderr.startswith("note: solving on cpu")
    lines = done.stdout.splitlines()
    assert lines[0] == "procedures   10, of which 1 are never called"
    finding = next(line for line in lines if "shop.scm:19:1: note[" in line)
    assert finding.endswith(": gift is never called: no call that may run leads to it")
    assert lines[-1] == "  1 note"
    several = lines.index("  shop.scm:16:9:")
    assert lines[several + 1 : several + 4] == [
        "    full at shop.scm:2:1",
        "    half at shop.scm:3:1",
        "    lambda at shop.scm:11:3",
    ]
    assert "  shop.scm:21:18: both at shop.scm:10:1" in lines


def test_a_file_that_only_defines(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "t.scm"
    file.write_text("(define (f g) (g 1))\n((if 1 f car) 1)\n")
    first = kleene("cfa", file, "--library").stdout.splitlines()[0]
    assert first == "procedures   1, of which 0 are never called"
    assert "may-call-arity" not in kleene("cfa", file, "--findings").stdout


def test_questions(kleene: Kleene) -> None:
    done = kleene("cfa", SHOP, "--calls", "16:9", "--callers", "half", "--depth", 2)
    assert done.stdout.splitlines()[:4] == [
        "the call at 16:9 may reach",
        "  procedure  full at shop.scm:2:1",
        "  procedure  half at shop.scm:3:1",
        "  procedure  lambda at shop.scm:11:3",
    ]
    assert "  1  price-of at shop.scm:13:1" in done.stdout.splitlines()
    done = kleene("cfa", SHOP, "--why", "16:9", "half")
    last = done.stdout.splitlines()[-1]
    assert last.split(maxsplit=1)[0] == "shop.scm:16:10"
    assert last.endswith("is taken out of data             ((cdr rule) (cdr item))")


def page_of(kleene: Kleene, folder: Path) -> Path:
    page = folder / "page.html"
    assert kleene("cfa", SHOP, "--html", page).returncode == 0
    return page


def test_the_page_has_targets_in_the_margin_that_lead_to_their_definitions(
    kleene: Kleene, tmp_path: Path
) -> None:
    text = page_of(kleene, tmp_path).read_text(encoding="utf-8")
    check(text)  # every link leads to a line of the page
    lines = {int(n): line for n, line in re.findall('id="f0-([0-9]+)">(.*)\n', text)}
    assert len(lines) == len(SHOP.read_text().splitlines())
    margin = lines[16].partition("<aside>")[2]
    assert '<a href="#f0-2">full at shop.scm:2:1</a>' in margin
    assert '<a href="#f0-3">half at shop.scm:3:1</a>' in margin
    assert "(define (half price)" in unescape(lines[3])
    both = lines[21].partition("<aside>")[2]
    assert 'the call at 18 may call <a href="#f0-10">both at shop.scm:10:1</a>' in both
    assert "cfa/unreachable-procedure" in lines[19]


@pytest.mark.tools
def test_a_browser_follows_the_links_of_the_page(
    kleene: Kleene, chromium: Callable[..., str], tmp_path: Path
) -> None:
    """A click on a target in the margin leads to the line that defines it."""
    report = page_of(kleene, tmp_path).read_text(encoding="utf-8")
    outer = tmp_path / "outer.html"
    outer.write_text(FOLLOWS.format(page=escape(report)), encoding="utf-8")
    shown = re.search("<pre>(.*)</pre>", chromium(tmp_path, "--dump-dom", outer.as_uri()))
    assert shown is not None
    definitions = dict(json.loads(unescape(shown[1])))
    assert definitions["half at shop.scm:3:1"].startswith("3(define (half price)")
    assert definitions["lambda at shop.scm:11:3"].startswith("11  (lambda")


# A page around the report reads where its links lead: the report itself runs nothing.
FOLLOWS = """<!DOCTYPE html><iframe srcdoc="{page}"></iframe><pre></pre><script>
onload = () => {{
  const report = document.querySelector("iframe").contentDocument;
  const links = [...report.querySelectorAll("aside a")];
  const found = links.map(a => [a.textContent, report.getElementById(a.hash.slice(1)).textContent]);
  document.querySelector("pre").textContent = JSON.stringify(found);
}};
</script>"""


def test_json_has_the_same(kleene: Kleene) -> None:
    arguments = ("--flows", "first", "--why", "16:9", "half", "--json")
    value = json.loads(kleene("cfa", SHOP, *arguments).stdout)
    assert [held["name"] for held in value["flows"]["first"]] == ["half"]
    assert (value["why"]["node"], value["why"]["object"]) == ("16:9", "half")
    first = {"location": "shop.scm:3:1", "text": "is made", "node": "", "rule": "address"}
    assert value["why"]["steps"][0] == first
    everything = json.loads(kleene("cfa", SHOP, "--json").stdout)
    assert [dead["name"] for dead in everything["dead"]] == ["gift"]


def test_files_and_differences(kleene: Kleene, tmp_path: Path) -> None:
    graph, table = tmp_path / "calls.dot", tmp_path / "calls.csv"
    export = tmp_path / "all.json"
    assert kleene("cfa", SHOP, "--call-graph", graph, "--export", export).returncode == 0
    assert graph.read_text().startswith('digraph "call graph" {')
    (finding,) = json.loads(export.read_text())["findings"]
    assert (finding["rule"], finding["line"]) == ("cfa/unreachable-procedure", 19)
    assert kleene("cfa", SHOP, "--call-graph", table).returncode == 0
    assert table.read_text().startswith("caller,location,kind,target\n")
    new = tmp_path / "shop.scm"
    new.write_text(SHOP.read_text() + "(gift 1)\n")
    assert kleene("cfa", new, "--diff", SHOP).stdout == "+ top -> gift\n"


@pytest.mark.tools
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_drawing(kleene: Kleene, tmp_path: Path) -> None:
    drawing = tmp_path / "calls.svg"
    assert kleene("cfa", SHOP, "--call-graph", drawing).returncode == 0
    assert "price&#45;of at shop.scm:13:1" in drawing.read_text(encoding="utf-8")


def test_contexts(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "t.scm"
    file.write_text("(define (id x) x)\n((id (lambda () 1)))\n((id (lambda () 2)))\n")
    for m, n_targets in ((0, 2), (1, 1)):
        lines = kleene("cfa", file, "--calls", "2:1", "--m", m).stdout.splitlines()
        assert len(lines) == 1 + n_targets


def test_mistakes(kleene: Kleene, tmp_path: Path) -> None:
    done = kleene("cfa", SHOP, "--calls", "16:8")
    assert done.returncode == 1
    assert "error[cfa/no-such-call]" in done.stderr
    assert "there are calls at shop.scm:16:10" in done.stderr
    done = kleene("cfa", SHOP, "--call-graph", tmp_path / "calls.png")
    assert "error[cli/unknown-format]" in done.stderr
    broken = tmp_path / "broken.scm"
    broken.write_text("(define (f x)\n  (g x)")
    done = kleene("cfa", broken)
    assert done.returncode == 1
    assert "broken.scm:1:1: error[scheme/" in done.stderr
