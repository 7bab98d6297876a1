"""Roles that users give to functions: sources, sinks and sanitisers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

import kleene
from kleene import SourceError

PROGRAM = """
#include <stdlib.h>
char *fetch(void);
void query(const char *text);
char *escaped(char *text);
int main(void) {
  query(fetch());
  query(escaped(fetch()));
  query("constant");
  system(escaped(getenv("X")));
  return 0;
}
char *escaped(char *text) { return text; }
"""
ROLES = """
fetch: taints result
query: trusts 0 as query
escaped: cleans result
"""


def lines(folder: Path, roles: str | None) -> list[tuple[int, str]]:
    source = folder / "program.c"
    source.write_text(PROGRAM)
    models = folder / "roles.txt"
    models.write_text(roles or "")
    result = kleene.load(source).dataflow(client="taint", models=models, device="cpu")
    return [(one.span.line, one.message) for one in result.findings() if one.span]


def test_sources_sinks_and_sanitisers_of_ones_own(tmp_path: Path) -> None:
    assert lines(tmp_path, ROLES) == [(7, "data from fetch is used as a query by query")]


def test_without_roles_only_those_of_the_library_count(tmp_path: Path) -> None:
    assert lines(tmp_path, None) == [(10, "data from getenv is used as a command by system")]


def test_a_mistake_in_the_roles_has_a_place(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="stands where") as error:
        lines(tmp_path, "fetch: taints nobody")
    assert error.value.id == "points-to/bad-model"
    assert error.value.span is not None
    assert error.value.span.line == 1


WRITERS = """
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char *command = 0, a[20], b[20], c[20], d[20], e[20], f[20], g[20], h[20];
  if (asprintf(&command, "ls %s", getenv("HOME")) < 0) return 1;
  system(command); /* BAD */
  if (scanf("%19s%19s%19s%19s%19s%19s%19s%19s", a, b, c, d, e, f, g, h) != 8) return 1;
  system(h); /* BAD */
  char *p = getpass("x");
  if (p) system(p); /* BAD */
  char text[40], first[20], fifth[20];
  if (!fgets(text, sizeof text, stdin)) return 1;
  int n, m, k;
  if (sscanf(text, "%19s %d %d %d %19s", first, &n, &m, &k, fifth) == 5) system(fifth); /* BAD */
  return 0;
}
"""


def test_functions_that_write_what_comes_from_outside_through_pointers(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(WRITERS)
    found = kleene.load(source).dataflow(client="taint", device="cpu").findings()
    bad = [number for number, line in enumerate(WRITERS.splitlines(), 1) if "BAD" in line]
    assert [one.span.line for one in found if one.span] == bad
