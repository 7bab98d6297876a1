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
