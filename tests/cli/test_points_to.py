"""`kleene points-to` answers on the command line, and says what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Kleene

EVENTS = Path(__file__).resolve().parents[2] / "examples" / "events"
CHECKED = """
void NOALIAS(void *, void *);
void MAYALIAS(void *, void *);
int a, b;
int main(void) {
  NOALIAS(&a, &b);
  MAYALIAS(&a, %s);
  return 0;
}
"""


def test_the_summary_is_worth_reading(kleene: Kleene) -> None:
    done = kleene("points-to", EVENTS)
    assert done.returncode == 0
    assert done.stderr.startswith("note: solving on cpu")
    lines = done.stdout.splitlines()
    assert "3 calls through pointers, 6 known targets" in lines
    assert "  main.c:29:5: handle(&events[i]);" in lines
    assert "    complain  main.c:25:3    on_error(complain);" in lines
    assert "    redraw  handlers.c:13:3  later(redraw, event->target);" in lines
    assert [line.split()[0] for line in lines[-3:]] == ["load", "constraints", "solve"]


def test_queries_and_explanations(kleene: Kleene) -> None:
    done = kleene("points-to", EVENTS, "--query", "fallback", "--query", "queue.c:25:entry")
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        "fallback may hold",
        "  ignore    function  handlers.c:21",
        "  complain  function  main.c:9",
        "queue.c:25:entry may hold",
    ]
    assert lines[4].split()[:3] == ["heap@queue.c:15:25", "heap", "queue.c:15:25"]
    done = kleene("points-to", EVENTS, "--explain", "fallback", "complain")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "main.c:25:3",
        "handlers.c:26:44",
    ]


def test_json_lists_what_code_outside_calls(kleene: Kleene, tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text(
        "void watch(void (*)(void)); void (*hook(void))(void);\n"
        "static void back(void) {}\n"
        "int main(void) { watch(back); hook()(); return 0; }\n"
    )
    data = json.loads(kleene("points-to", source, "--json").stdout)
    assert [site["may_leave"] for site in data["calls"]] == [True]
    assert data["escaped"] == ["back"]
    outside = {"calls": ["back", "main"], "called_by": ["main", "watch", "hook"]}
    assert data["outside"] == outside
    page, graph = tmp_path / "page.html", tmp_path / "graph.dot"
    assert kleene("points-to", source, "--html", page, "--call-graph", graph).returncode == 0
    assert "Called from outside" in page.read_text()
    assert '"(outside)" -> "back"' in graph.read_text()
    data = json.loads(kleene("points-to", EVENTS, "--json").stdout)
    assert (data["escaped"], data["outside"]) == ([], {"calls": ["main"], "called_by": []})


def test_json_has_the_same(kleene: Kleene) -> None:
    arguments = ("--query", "fallback", "--explain", "fallback", "complain", "--check", "--json")
    done = kleene("points-to", EVENTS, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    value = json.loads(done.stdout)
    assert [o["name"] for o in value["queries"]["fallback"]["objects"]] == ["ignore", "complain"]
    assert value["queries"]["fallback"]["unknown"] is False
    assert len(value["explanation"]["steps"]) == 2
    assert value["checks"] == []
    assert value["statistics"]["n_functions"] == 11
    assert [phase["name"] for phase in value["statistics"]["phases"]] == [
        "load",
        "constraints",
        "solve",
    ]
    assert {site["kind"] for site in value["calls"]} == {"indirect", "callback"}


def test_counts_only(kleene: Kleene) -> None:
    shown = dict(
        line.split() for line in kleene("points-to", EVENTS, "--stats").stdout.splitlines()
    )
    assert shown["n_functions"] == "11"
    assert float(shown["average_set"]) > 1


def test_files_are_written(kleene: Kleene, tmp_path: Path) -> None:
    dot, facts, sets = (tmp_path / name for name in ("g.dot", "g.json", "all.json"))
    assert kleene("points-to", EVENTS, "--call-graph", dot, "--export", sets).returncode == 0
    assert '"main" -> "on_key" [style="dashed"];' in dot.read_text(encoding="utf-8")
    assert "main.%11.handle" in json.loads(sets.read_text(encoding="utf-8"))["pointers"]
    assert kleene("points-to", EVENTS, "--call-graph", facts).returncode == 0
    assert "sites" in json.loads(facts.read_text(encoding="utf-8"))


def test_a_picture_without_graphviz_is_an_error(
    kleene: Kleene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = kleene("points-to", EVENTS, "--call-graph", tmp_path / "g.svg", "--stats")
    assert (done.returncode, done.stdout) == (1, "")
    assert "error[reports/no-svg]: Graphviz's 'dot' is not on the PATH" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.tools
@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws(kleene: Kleene, tmp_path: Path) -> None:
    assert kleene("points-to", EVENTS, "--call-graph", tmp_path / "g.svg").returncode == 0
    assert "on_key" in (tmp_path / "g.svg").read_text(encoding="utf-8")


def test_checks_are_one_line_each_and_a_failure_is_the_exit_code(
    kleene: Kleene, tmp_path: Path
) -> None:
    file = tmp_path / "t.c"
    file.write_text(CHECKED % "&a")
    done = kleene("points-to", file, "--check")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "t.c:6:3: passed: NOALIAS(&a, &b): no alias",
        "t.c:7:3: passed: MAYALIAS(&a, &a): must alias",
    ]
    file.write_text(CHECKED % "&b")
    done = kleene("points-to", file, "--check")
    assert done.returncode == 3
    assert "t.c:7:3: FAILED: MAYALIAS(&a, &b): no alias" in done.stdout
    assert "2 assertions, 1 failed" in done.stderr
    done = kleene("points-to", file, "--check", "--json")
    assert done.returncode == 3
    checks = json.loads(done.stdout)["checks"]
    assert [(check["kind"], check["passed"]) for check in checks] == [
        ("NOALIAS", True),
        ("MAYALIAS", False),
    ]


def test_a_library_and_its_wrappers(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "t.c"
    file.write_text(
        "#include <stdlib.h>\n"
        "static void *keep[9]; static int n;\n"
        "void *get(void) { return keep[n++] = malloc(8); }\n"
        "int *one(void) { return get(); }\n"
        "int *two(void) { return get(); }\n"
    )
    done = kleene("points-to", file)
    assert done.returncode == 1
    assert "error[points-to/no-main]" in done.stderr
    assert "--library" in done.stderr
    done = kleene("points-to", file, "--library", "--wrapper", "get", "--query", "one.return")
    assert done.returncode == 0
    assert "heap@t.c:4:25" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "id"),
    [
        (["--query", "main.handel"], "points-to/no-such-name"),
        (["--query", "main.i"], "points-to/not-a-pointer"),
        (["--explain", "fallback", "redraw"], "points-to/no-such-fact"),
        (["--call-graph", "graph.png"], "cli/unknown-format"),
        (["--export", "facts.csv"], "cli/unknown-format"),
        (["--wrapper", "nonsense"], "points-to/no-such-wrapper"),
        (["--models", "absent.models"], "points-to/no-models"),
    ],
)
def test_mistakes_are_named(kleene: Kleene, arguments: list[str], id: str) -> None:
    done = kleene("points-to", EVENTS, *arguments)
    assert done.returncode == 1
    assert f"error[{id}]" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_debug_information_it_works_and_says_so(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "t.ll"
    file.write_text(
        "@a = global i32 0\n@p = global ptr @a\n"
        "define i32 @main() {\n  %1 = load ptr, ptr @p\n  %2 = load i32, ptr %1\n  ret i32 %2\n}\n"
    )
    done = kleene("points-to", file, "--query", "main.%1")
    assert done.returncode == 0
    assert "no debug information" in done.stderr
    assert "  a  global  (i32)" in done.stdout


def test_the_help_of_all_commands_stays_light() -> None:
    code = (
        "import sys\nfrom kleene.cli.app import app\n"
        "try:\n  app(['points-to', '--help'], standalone_mode=False)\nexcept SystemExit:\n  pass\n"
        "print([n for n in ('numpy', 'numba', 'llvmlite', 'kleene.ir') if n in sys.modules])\n"
    )
    environment = {**os.environ, "TERM": "dumb"}
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert child.stdout.splitlines()[-1] == "[]"
