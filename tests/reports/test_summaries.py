"""Summaries fit a screen: long lists are cut, and say how much is missing."""

from __future__ import annotations

from pathlib import Path

import kleene
from kleene.reports import cfa, points_to

N_FUNCTIONS, N_CALLS, N_EXTERNALS = 15, 4, 13


def c_program(folder: Path) -> Path:
    """Return a file with 4 calls that each reach one of 15 functions, and 13 unknown functions."""
    names = [f"f{k}" for k in range(N_FUNCTIONS)]
    text = "".join(f"static int {name}(void) {{ return 1; }}\n" for name in names)
    text += f"static int (*table[])(void) = {{{', '.join(names)}}};\n"
    text += "".join(f"void outside{k}(int *);\n" for k in range(N_EXTERNALS))
    body = "".join(f"  sum += table[n + {k}]();\n" for k in range(N_CALLS))
    body += "".join(f"  outside{k}(&sum);\n" for k in range(N_EXTERNALS))
    file = folder / "long.c"
    file.write_text(
        f"{text}int main(int n, char **v) {{\n  int sum = 0;\n{body}  return sum;\n}}\n"
    )
    return file


def test_long_lists_of_a_points_to_analysis_are_cut(tmp_path: Path) -> None:
    result = kleene.load(c_program(tmp_path)).points_to(device="cpu")
    text = "".join(points_to.summary(result, []))
    assert "\n4 calls through pointers, 60 known targets\n" in text
    assert ", and 3 calls like it" in text
    assert "f7, 7 more" in text
    assert "f8" not in text
    _, _, externals = text.partition("Functions without body or model")
    listed = externals.partition("\n\n")[0].splitlines()[1:]
    assert len(listed) == 11
    assert all(line.endswith("1 call, 1 object handed over") for line in listed[:-1])
    assert listed[-1] == "  and 3 more: see --json"


def test_long_lists_of_a_control_flow_analysis_are_cut(tmp_path: Path) -> None:
    calls = "".join(f"(define (g{k} f) (f))\n(g{k} one)\n(g{k} two)\n" for k in range(15))
    file = tmp_path / "long.scm"
    file.write_text(f"(define (one) 1)\n(define (two) 2)\n{calls}")
    text = "".join(cfa.summary(kleene.load(file).cfa(device="cpu")))
    _, _, several = text.partition("Calls that may reach several procedures\n")
    listed = several.partition("\n\n")[0].splitlines()
    assert len(listed) == 12 * 3 + 1  # a place and two targets each, and the rest
    assert listed[-1].strip().startswith("and 3 more")


def test_targets_of_a_call_stand_one_a_line_and_are_folded() -> None:
    n = 9
    procedures = "".join(f"(define (f{i} x) x)\n" for i in range(n))
    table = " ".join(f"f{i}" for i in range(n))
    text = f"{procedures}(define (pick i) (list-ref (list {table}) i))\n((pick 1) 2)\n"
    result = kleene.scheme.parse(text, "t.scm").cfa(device="cpu")
    lines = "".join(cfa.summary(result)).splitlines()
    at = lines.index(f"  t.scm:{n + 2}:1:")
    assert lines[at + 1 : at + 7] == [f"    f{i} at t.scm:{i + 1}:1" for i in range(6)]
    assert lines[at + 7] == f"    ... and 3 more: --calls t.scm:{n + 2}:1"
    inlined = lines.index("Calls that could have the procedure's body in their place")
    assert lines[inlined + 1] == f"  t.scm:{n + 2}:2: pick at t.scm:{n + 1}:1"
