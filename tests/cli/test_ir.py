"""`kleene ir` prints programs, counts and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene.base.demangling import demangled
from tests.cli.conftest import Kleene

ROOT = Path(__file__).resolve().parents[2]
SHAPES = ROOT / "examples" / "shapes"
ANIMALS = ROOT / "examples" / "animals" / "animals.cpp"


def test_the_bundled_example_is_printed(kleene: Kleene) -> None:
    done = kleene("ir", *sorted(SHAPES.glob("*.c")))
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("main", "largest", "push", "release", "area", "circle_area"):
        assert name in done.stdout


def test_one_function_can_be_picked(kleene: Kleene) -> None:
    whole = kleene("ir", SHAPES).stdout
    alone = kleene("ir", SHAPES, "--function", "release").stdout
    assert alone.startswith("define @release(")
    assert alone.count("define ") == 1
    assert alone in whole


def test_json_holds_functions_blocks_and_counts(kleene: Kleene) -> None:
    value = json.loads(kleene("ir", SHAPES, "--json", "--function", "release").stdout)
    (release,) = value["functions"]
    assert (release["name"], release["file"], release["line"]) == (
        "release",
        str(SHAPES / "list.c"),
        13,
    )
    first, header, body, end = release["blocks"]
    assert first["successors"] == body["successors"] == [header["name"]]
    assert header["successors"] == [body["name"], end["name"]]
    assert any("call @free" in instruction for instruction in body["instructions"])
    assert value["stats"]["functions"] == 8
    assert value["notices"] == []


def test_stats_count(kleene: Kleene) -> None:
    counts = dict(line.split() for line in kleene("ir", SHAPES, "--stats").stdout.splitlines())
    assert counts["functions"] == "8"
    assert set(json.loads(kleene("ir", SHAPES, "--stats", "--json").stdout)) == {"notices", "stats"}


def test_output_goes_to_a_file(kleene: Kleene, tmp_path: Path) -> None:
    out = tmp_path / "shapes.ir"
    done = kleene("ir", SHAPES, "-o", out)
    assert (done.returncode, done.stdout) == (0, "")
    assert out.read_text(encoding="utf-8") == kleene("ir", SHAPES).stdout


def test_the_cpp_example_loads(kleene: Kleene) -> None:
    done = kleene("ir", ANIMALS, "--stats")
    assert (done.returncode, done.stderr) == (0, "")


def test_options_reach_the_compiler(kleene: Kleene, tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("#define SIZE 3\n")
    source = tmp_path / "a.c"
    source.write_text(
        '#include "size.h"\n'
        "#if __STDC_VERSION__ != 199901L || !defined WANTED || VALUE != 7 || !__OPENMP\n"
        "#error options were lost\n"
        "#endif\n"
        "int size = SIZE;\n"
    )
    options = ["-DWANTED", "-D", "VALUE=7", "-I", tmp_path / "include", "--std", "c99"]
    assert "options were lost" in kleene("ir", source, *options).stderr
    done = kleene("ir", source, *options, "--flag", "-D__OPENMP=1", "--no-cache")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "id"),
    [
        (["absent.c"], "c/no-such-file"),
        (["{shapes}", "--function", "releas"], "cli/unknown-function"),
        (["{shapes}", "--cc", "no-such-clang"], "c/no-compiler"),
        (["{shapes}", "-o", "absent/out.ir"], "cli/cannot-write"),
    ],
)
def test_errors_exit_1_in_both_forms(
    kleene: Kleene, tmp_path: Path, arguments: list[str], id: str
) -> None:
    words = [word.format(shapes=SHAPES) for word in arguments]
    plain = kleene("ir", *words, cwd=tmp_path)
    assert (plain.returncode, plain.stdout) == (1, "")
    assert f"error[{id}]" in plain.stderr
    assert "Traceback" not in plain.stderr
    coded = kleene("ir", *words, "--json", cwd=tmp_path)
    assert (coded.returncode, coded.stderr) == (1, "")
    assert [error["id"] for error in json.loads(coded.stdout)["errors"]] == [id]
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_function_gets_a_hint(kleene: Kleene) -> None:
    assert "did you mean release" in kleene("ir", SHAPES, "--function", "releas").stderr
    assert "write Dog::speak or " in kleene("ir", ANIMALS, "--function", "speak").stderr
    assert "it defines 8 functions" in kleene("ir", SHAPES, "--function", "qqq").stderr


def test_functions_are_picked_as_people_write_them(kleene: Kleene, tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(
        "struct Dog { int bark(int n) { return n; } };\n"
        "int over(int n) { return n; } int over(char n) { return n; }\n"
        "int main() { Dog dog; return dog.bark(1) + over(1) + over('a'); }\n"
    )
    if demangled("_Z1fv") is None:
        pytest.skip("no C++ runtime is found here: symbols stay as they are")
    by_symbol = kleene("ir", source, "--function", "_ZN3Dog4barkEi").stdout
    assert by_symbol
    assert kleene("ir", source, "--function", "Dog::bark").stdout == by_symbol
    done = kleene("ir", source, "--function", "over")
    assert done.returncode == 1
    assert "cli/which-function" in done.stderr
    assert "over(int) or over(char)" in done.stderr
    assert "did you mean Dog::bark?" in kleene("ir", source, "--function", "Dog::brk").stderr
