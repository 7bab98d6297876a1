"""Tables that linkers make of sections are found: by their ends, and by who runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kleene import load
from kleene.analyses.points_to.entries import entries_of
from tests.analyses.points_to.test_constraints_ir import main_of

TABLE = """
@one = internal constant ptr @a, section "{section}", align 8
@two = internal constant ptr @b, section "{section}", align 8
@three = internal constant ptr @q, section "other", align 8
@"{start}" = external global ptr
@"{stop}" = extern_weak hidden global ptr
"""
NAMES = [
    ("x", "__start_x", "__stop_x"),
    ("__DATA,x,regular", "\\01section$start$__DATA$x", "\\01section$end$__DATA$x"),
]


@pytest.mark.parametrize(("section", "start", "stop"), NAMES)
@pytest.mark.parametrize(("symbol", "step"), [("start", 0), ("start", 8), ("stop", -8)])
def test_the_ends_of_a_section_lead_to_all_that_lies_in_it(
    tmp_path: Path, section: str, start: str, stop: str, symbol: str, step: int
) -> None:
    head = TABLE.format(section=section, start=start, stop=stop)
    name = {"start": start, "stop": stop}[symbol]
    text = f"""
  %x = load ptr, ptr getelementptr (i8, ptr @"{name}", i64 {step}), align 8
  store ptr %x, ptr @p, align 8
"""
    assert main_of(tmp_path, text, head=head).holds("p") == {"a", "b"}


@pytest.mark.parametrize(
    ("section", "is_run"),
    [(".init_array", True), (".fini_array.101", True), (".ctors", True), ("hooks", False)],
)
def test_the_loader_runs_what_lies_in_its_sections(
    tmp_path: Path, section: str, is_run: bool
) -> None:
    source = tmp_path / "unit.ll"
    source.write_text(
        f"""
@entry = internal constant ptr @before, section "{section}", align 8
@kept = global ptr null, align 8
@llvm.used = appending global [1 x ptr] [ptr @entry], section "llvm.metadata"
define internal void @before(i32 %n, ptr %arguments) {{
  store ptr %arguments, ptr @kept, align 8
  ret void
}}
define i32 @main() {{
  ret i32 0
}}
"""
    )
    program = load(source, cache=False)
    names = [program.functions[row].name for row in entries_of(program).tolist()]
    assert names == (["before", "main"] if is_run else ["main"])
    kept = program.points_to(device="cpu").of("kept")
    assert (len(kept) > 0) == is_run
