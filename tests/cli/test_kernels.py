"""`kleene kernels` prints verdicts, witnesses and reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene import SourceError, load
from kleene.cli.commands.kernels import _print_times, numbers, shape
from kleene.cli.options import UsageError
from kleene.ir import Builder
from kleene.kernels.launch import gpu
from kleene.offload.plans.beside import beside
from kleene.offload.plans.machine import H200
from tests.cli.conftest import Kleene

pytest.importorskip("islpy", reason="verdicts need the package islpy")

STENCIL = Path(__file__).resolve().parents[2] / "examples" / "loops" / "stencil.c"


def test_a_line_for_each_loop_with_its_witness(kleene: Kleene) -> None:
    done = kleene("kernels", STENCIL)
    assert done.returncode == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    place = next(line for line in lines if "stencil.c:4" in line).split()[0]
    assert f"{place} t SEQ sequential" in lines
    assert (
        "signal[1] written at t=0, i=1 (line 8), read at t=1, i=2 (line 6), for n = 4, steps = 2"
        in lines
    )
    assert any("PAR parallel if no overlap of next and signal" in line for line in lines)
    assert any("reduction(max:best)" in line and "private(value)" in line for line in lines)
    assert any(line.startswith("NOT_AFFINE: signal[to[i]]") for line in lines)
    assert "6 loops: 2 PAR, 1 COPY, 1 RED, 1 SEQ, 1 MAY" in done.stderr


def test_json_has_everything(kleene: Kleene) -> None:
    done = kleene("kernels", STENCIL, "--json")
    value = json.loads(done.stdout)
    assert value["counts"] == {"PAR": 2, "PRIV": 0, "COPY": 1, "RED": 1, "SEQ": 1, "MAY": 1}
    first, second, *_, last = value["loops"]
    assert (first["verdict"], first["line"], first["column"], first["depth"]) == ("SEQ", 4, 3, 0)
    assert first["witness"]["element"] == "signal[1]"
    assert first["witness"]["read"]["iteration"] == {"t": 1, "i": 2}
    assert second["if_no_overlap"] == [["next", "signal"]]
    assert [one["code"] for one in last["reasons"]] == ["NOT_AFFINE"]


def test_assumptions_and_pointers_that_do_not_alias(kleene: Kleene, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "void f(int n, int m, double *a, double *b) {\n"
        "  for (int i = 0; i < n; i++)\n    for (int j = 0; j < n; j++) a[i * m + j] = b[j];\n}\n"
    )
    (outer, _) = json.loads(kleene("kernels", file, "--json").stdout)["loops"]
    assert (outer["verdict"], outer["reasons"][0]["code"]) == ("MAY", "LINEARISED")
    done = kleene("kernels", file, "--json", "--assume", "n <= m", "--no-alias")
    outer, inner = json.loads(done.stdout)["loops"]
    assert (outer["verdict"], inner["verdict"]) == ("PAR", "PAR")
    assert outer["if_no_overlap"] == []
    assert outer["assumptions"] == ["different pointers do not overlap"]
    assert json.loads(done.stdout)["assumptions"][1:] == ["n <= m"]


@pytest.mark.parametrize(
    ("words", "id"),
    [
        (["--assume", "n >"], "kernels/bad-assumption"),
        (["--assume", "f(n)"], "kernels/bad-assumption"),
        (["--assume", "n % 2 == 0"], "kernels/bad-assumption"),
        (["--assume", "nobody > 0"], "kernels/unknown-name"),
        (["--function", "smoth"], "cli/unknown-function"),
    ],
)
def test_what_cannot_be_asked(kleene: Kleene, words: list[str], id: str) -> None:
    done = kleene("kernels", STENCIL, "--json", *words)
    assert done.returncode == 1
    assert [one["id"] for one in json.loads(done.stdout)["errors"]] == [id]


def test_programs_have_the_same_answer() -> None:
    program = load(STENCIL)
    result = program.kernels(no_alias=True)
    assert [one.verdict.value for one in result.loops][:3] == ["SEQ", "PAR", "PAR"]
    assert result.at(23, "stencil.c")[0].copies == ["signal"]
    assert len(result.tables()["loops"]) == 6
    assert json.loads(result.to_json())["counts"]["MAY"] == 1


def test_programs_without_sources_have_no_loops(kleene: Kleene, tmp_path: Path) -> None:
    text = tmp_path / "a.ll"
    text.write_text("define void @f() {\n  ret void\n}\n")
    assert "error[kernels/no-source]" in kleene("kernels", text).stderr
    with pytest.raises(SourceError) as refused:
        Builder("empty").finish().kernels()
    assert refused.value.id == "kernels/no-source"


def test_kernels_say_what_moves_and_how_memory_is_accessed(kleene: Kleene) -> None:
    done = kleene("kernels", STENCIL, "--function", "smooth")
    words = " ".join(done.stdout.split())
    assert "x = i of max(2, n) - 2; blocks of 256 scalar in n" in words
    assert "copyin signal [0, 8*n) copyout next [8, 8*n - 8)" in words
    assert "reads signal[i - 1] coalesced 8 2 8" in words
    assert "signal as a tile of 258 elements, 2064 bytes a block; neighbours share 2" in words


def test_numbers_are_put_into_kernels(kleene: Kleene) -> None:
    arguments = ("kernels", STENCIL, "--function", "smooth", "--json", "--block", "128")
    given = json.loads(kleene(*arguments, "--set", "n=1000").stdout)["kernels"][0]
    assert (given["values"], given["basis"], given["block"]) == ({"n": 1000}, "assumed", [128])
    assert (given["bytes_in"], given["bytes_out"]) == ("8000", "7984")
    assert given["accesses"][0]["counted"] == {"lines": 2, "sectors": 8}
    profiled = json.loads(kleene(*arguments, "--trips", "5=98").stdout)["kernels"][0]
    assert (profiled["values"], profiled["basis"]) == ({"n": 100}, "observed")
    assert profiled["parameters"][1]["in"] == {
        "first": "0",
        "end": "800",
        "bytes": "800",
        "is_exact": True,
    }


@pytest.mark.parametrize("text", ["n", "=3", "n=x", "n="])
def test_a_size_is_a_name_and_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="write a name, '=' and a number"):
        numbers([text], "--set", str)
    assert numbers(["image->width=3", "a[0] = -2"], "--set", str) == {"image->width": 3, "a[0]": -2}
    assert numbers(["5=98"], "--trips", int) == {5: 98}


@pytest.mark.parametrize("text", ["", "0x3", "64x64", "8x8x8x2", "x", "-4"])
def test_a_block_has_at_most_1024_threads(text: str) -> None:
    with pytest.raises(UsageError, match="at most 1024 threads"):
        shape(text)
    assert shape("32X8") == (32, 8)


def test_names_of_no_size_and_lines_of_no_loop_are_errors(kleene: Kleene) -> None:
    done = kleene("kernels", STENCIL, "--set", "size=3")
    assert "kernels/unknown-name" in done.stderr
    assert "'size' names no size" in done.stderr
    result = load(STENCIL).kernels()
    with pytest.raises(SourceError, match="line 99 begins no loop"):
        result.kernels(trips={99: 3})


def test_a_page_and_sarif_notes(kleene: Kleene, tmp_path: Path) -> None:
    page, log = tmp_path / "loops.html", tmp_path / "loops.sarif"
    done = kleene("kernels", STENCIL, "--html", page, "--sarif", log)
    assert done.returncode == 0, "notes are no faults"
    assert "<h2>Data movement</h2>" in page.read_text()
    (run,) = json.loads(log.read_text())["runs"]
    assert {one["level"] for one in run["results"]} == {"note"}
    assert [one["ruleId"] for one in run["results"]].count("kernels/sequential") == 1
    sequential = next(one for one in run["results"] if one["ruleId"] == "kernels/sequential")
    steps = sequential["codeFlows"][0]["threadFlows"][0]["locations"]
    texts = [one["location"]["message"]["text"] for one in steps]
    assert texts == ["signal[1] written at t=0, i=1", "signal[1] read at t=1, i=2"]


def test_times_are_predicted_for_sizes(kleene: Kleene) -> None:
    words = ("kernels", STENCIL, "--function", "smooth", "--device", "h200")
    done = kleene(*words, "--set", "n=1000000", "--set", "steps=200")
    assert done.returncode == 0
    assert "call of smooth, n=1000000, steps=200\n  moving arrays to the GPU and back pays: " in (
        done.stdout
    )
    assert "200 launches, 999998 threads" in done.stdout
    done = kleene(*words, "--set", "n=50", "--set", "steps=2", "--json")
    (function,) = json.loads(done.stdout)["generated"]
    assert function["predicted"]["pays"] is False
    assert function["measured_s"] is None
    assert function["source"].startswith("void smooth(")
    assert function["source"].endswith("\n}")
    assert "__global__ void smooth_i(" in function["kernels"]


def test_sizes_that_are_missing_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    result = load(STENCIL).kernels().only(["smooth", "spread"])
    _print_times(beside(result, {"n": 50}, H200))
    told = capsys.readouterr()
    assert "smooth: no times without its sizes: --set steps=1000" in told.err
    assert "spread: no kernels: " in told.err
    assert not told.out


def test_too_many_launches_to_count_have_no_times(kleene: Kleene, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("kernels", STENCIL, "--function", "smooth", "--device", "h200", "--html", page)
    done = kleene(*words, "--set", "n=10000000", "--set", "steps=100000000")
    assert done.returncode == 0
    assert "smooth: no times: more than 300000 launches" in done.stderr
    assert "no times: more than 300000 launches" in page.read_text()


def test_a_gpu_that_does_not_answer_is_an_error_if_it_is_asked_for(kleene: Kleene) -> None:
    if gpu.problem() is None:
        pytest.skip("a GPU answers")
    done = kleene("kernels", STENCIL, "--device", "here")
    assert done.returncode == 1
    assert "kernels/no-gpu" in done.stderr


def test_directives_are_a_patch(kleene: Kleene) -> None:
    done = kleene("kernels", STENCIL, "--emit", "openmp")
    assert done.stdout.count("#pragma omp parallel for") == 3
    assert "private(value) reduction(+:sum[0:1]) reduction(max:best)" in done.stdout
    assert "no directive: it needs a snapshot of signal" in done.stderr
    assert "3 directives" in done.stderr
