"""Input that is wrong, odd or large: a clear error, or a sound answer in linear time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import kleene
from kleene import SourceError, cli
from kleene.analyses.dataflow import context
from kleene.analyses.dataflow.clients import available
from kleene.analyses.dataflow.context import Context
from kleene.ir import parse
from kleene.solvers.dataflow import ValueFacts

IS_DEEP = bool(os.environ.get("KLEENE_DEEP"))


def loaded(text: str, folder: Path) -> kleene.ir.Program:
    source = folder / "program.c"
    source.write_text(text)
    return kleene.load(source)


def test_a_client_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="there is no dataflow client 'nul'") as error:
        loaded("int main(void) { return 0; }", tmp_path).dataflow("nul")
    assert error.value.id == "dataflow/no-such-client"
    assert error.value.notes == ("did you mean null?",)


def test_models_with_a_mistake_have_a_place(tmp_path: Path) -> None:
    models = tmp_path / "models.txt"
    models.write_text("\nfetch: taints result\nquery: trusts nobody as query\n")
    with pytest.raises(SourceError) as error:
        loaded("int main(void) { return 0; }", tmp_path).dataflow("taint", models=(models,))
    assert error.value.id == "points-to/bad-model"
    assert error.value.span is not None
    assert (error.value.span.file, error.value.span.line) == (str(models), 3)


def test_ctrl_c_while_constraints_are_solved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command ends at once with 130, says nothing, and leaves the last answer as it was."""
    source, report = tmp_path / "program.c", tmp_path / "report.sarif"
    source.write_text("int main(int argc, char **argv) { return argc / 2; }")
    report.write_text("of the last run")

    def interrupted(*_: object, **__: object) -> ValueFacts:
        raise KeyboardInterrupt

    monkeypatch.setattr(context, "solve", interrupted)
    words = ["kleene", "dataflow", "ranges", str(source), "--sarif", str(report)]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert capfd.readouterr() == ("", "")
    assert report.read_text() == "of the last run"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.c", "report.sarif"]


@pytest.mark.parametrize("client", available())
def test_functions_without_bodies_and_assembly(client: str, tmp_path: Path) -> None:
    program = loaded(
        """
int outside(int); extern int table[];
static int given(int k) { int r = k; __asm__("addl $1, %0" : "+r"(r)); return r; }
int main(int argc, char **argv) {
  int r = given(argc);
  if (r > 100) return outside(table[r]);
  return r / (given(2) | 1);
}
""",
        tmp_path,
    )
    result = program.dataflow(client, device="cpu")
    assert result.statistics["unreachable_blocks"] == 0  # what assembly computes is any number


@pytest.mark.parametrize("client", available())
def test_a_program_with_nothing_in_it(client: str) -> None:
    program = parse("declare @f(%0: i32) -> i32\n")
    assert program.dataflow(client, library=True, device="cpu").findings() == []


def test_an_irreducible_graph() -> None:
    """Every block may go to two others, far away, so that no loop has one entry."""
    n = 100_000 if IS_DEEP else 3_000
    blocks = [f"^b0:\n  %c: i1 = icmp slt %x, i32 7\n  br %c, ^b1, ^b{n // 2}"]
    for k in range(1, n):
        there = (k * 7919 + 1) % n or 1
        blocks.append(f"^b{k}:\n  br %c, ^b{k + 1 if k + 1 < n else 1}, ^b{there}")
    text = "define @f(%x: i32) -> i32 {\n" + "\n".join(blocks) + "\n}\n"
    reached = Context(parse(text), library=True, device="cpu").block_is_reached
    assert reached[0]
    assert reached[1]
    assert reached[n // 2]


def test_a_long_function() -> None:
    n = 1_000_000 if IS_DEEP else 20_000
    lines = ["  %v0: i32 = add %x, 1"]
    lines += [f"  %v{k}: i32 = xor %v{k - 1}, {k % 100}" for k in range(1, n)]
    text = "\n".join(["define @f(%x: i32) -> i32 {", "^entry:", *lines, f"  ret %v{n - 1}", "}"])
    known = Context(parse(text), library=True, device="cpu")
    assert known.facts.n_evaluations[0] < 4 * known.values.constraints.n_names
    assert known.fact(known.program.n_values - 2).is_any
