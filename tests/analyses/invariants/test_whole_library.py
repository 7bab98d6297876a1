"""What whole programs keep across calls of the C library, and of what their allocators make."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.invariants import InvariantsResult, Verdict

PROGRAM = """
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct part { int divisor; };
struct box { struct part *part; int size; char text[16]; };
static void *taken(int n, int size) {
  void *p = ALLOCATE;
  if (!p) exit(1);
  return p;
}
static void *(*take)(int, int) = taken;
int main(int argc, char **argv) {
  struct box *b = take(1, sizeof *b);
  b->part = take(1, sizeof *b->part);
  b->part->divisor = 5;
  b->size = argc & 7;
  memset(b->text, 0, sizeof b->text);
  int number = 0;
  CALL;
  return 100 / b->part->divisor + b->text[b->size] + number;
}
"""
HARMLESS = (
    "fwrite(b->text, 1, 4, stdout)", "fputs(b->text, stderr)", 'printf("%s %d", b->text, 1)',
    "number = (int)strlen(b->text)", "fread(b->text, 1, 4, stdin)", 'sprintf(b->text, "%d", argc)',
    "number = (int)strtol(b->text, NULL, 10)", "errno = 0", "puts(b->text)",
)  # fmt: skip
HARMFUL = (
    'sscanf(argv[0], "%d", &b->part->divisor)', 'printf("%n", &b->part->divisor)',
    "printf(argv[0], &b->part->divisor)", "fread(b->part, 1, 4, stdin)",
    "setvbuf(stdout, (char *)b->part, _IOFBF, 4); puts(argv[0])",
    'FILE *f = fmemopen(b->part, 4, "w"); if (f) { b->part->divisor = 5; fputc(0, f); fclose(f); }',
)  # fmt: skip


def analysed(tmp_path: Path, call: str, allocate: str = "malloc(n * size)") -> InvariantsResult:
    file = tmp_path / "boxes.c"
    file.write_text(PROGRAM.replace("CALL", call).replace("ALLOCATE", allocate))
    return load(file).invariants(whole_program=True)


def divisions(result: InvariantsResult) -> list[Verdict]:
    return [one.verdict for one in result.check_results(["division"])]


@pytest.mark.parametrize("call", HARMLESS)
def test_calls_that_write_elsewhere_leave_what_is_known(tmp_path: Path, call: str) -> None:
    assert divisions(analysed(tmp_path, call)) == [Verdict.SAFE]


@pytest.mark.parametrize("call", HARMFUL)
def test_calls_that_may_write_there_do_not(tmp_path: Path, call: str) -> None:
    assert divisions(analysed(tmp_path, call)) == [Verdict.MAY_FAIL]


def test_a_call_of_an_allocator_has_the_size_it_asks_for(tmp_path: Path) -> None:
    result = analysed(tmp_path, "b->text[b->size] = 1")
    verdicts = {one.verdict for one in result.check_results(["bounds"])}
    assert verdicts == {Verdict.SAFE}


@pytest.mark.parametrize("allocate", ["malloc(size)", "malloc(n)", "malloc(n * size - 8)"])
def test_a_call_that_asks_for_less_is_noticed(tmp_path: Path, allocate: str) -> None:
    result = analysed(tmp_path, "b->text[15] = 1; b->size = 3", allocate)
    sizes = [one for one in result.check_results(["bounds"]) if one.verdict is Verdict.MAY_FAIL]
    assert bool(sizes) == (allocate != "malloc(size)")


def test_errors_are_told_by_errno(tmp_path: Path) -> None:
    call = "errno = 0; number = (int)strtol(argv[0], NULL, 10); if (errno) b->part->divisor = 0"
    result = analysed(tmp_path, call)
    assert divisions(result) == [Verdict.MAY_FAIL]
    assert not result.check_results(["dead-code"])
