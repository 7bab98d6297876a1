"""Front ends are found by their files; a path goes to the one that claims its suffix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import kleene
from kleene.frontends import available, front_end_of
from kleene.ir.scheme import Core

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_suffixes_belong_to_one_front_end_each() -> None:
    suffixes = [suffix for one in available() for suffix in one.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert [one.name for one in available() if one.takes_folders] == ["c"]


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["a.c", "b.cpp"], "c"),
        (["build/compile_commands.json"], "c"),
        (["a.scm"], "scheme"),
        (["folder", "*.c", "program"], "c"),
        ([], "c"),
    ],
)
def test_paths_go_to_the_front_end_of_their_suffix(paths: list[str], name: str) -> None:
    assert front_end_of(paths).name == name


def test_a_folder_is_c_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "project.scm"
    folder.mkdir()
    assert front_end_of([folder]).name == "c"


def test_one_load_for_every_language() -> None:
    assert isinstance(kleene.load(EXAMPLES / "scheme" / "shop.scm"), Core)
    assert isinstance(kleene.load(EXAMPLES / "shapes"), kleene.Program)
    assert "defines" in front_end_of(["a.c"]).options
    assert front_end_of(["a.scm"]).options == {"libraries"}


def test_languages_are_not_mixed() -> None:
    with pytest.raises(kleene.SourceError) as refused:
        kleene.load(["a.c", "b.scm"])
    assert (refused.value.id, str(refused.value.span)) == ("load/mixed-languages", "b.scm")


def test_a_scheme_program_is_one_file() -> None:
    with pytest.raises(kleene.SourceError) as refused:
        kleene.load(["a.scm", "b.scm"])
    assert (refused.value.id, str(refused.value.span)) == ("scheme/several-files", "b.scm")


def test_asking_which_front_end_imports_nothing_heavy() -> None:
    code = (
        "import sys; from kleene.frontends import front_end_of; front_end_of(['a.scm']);"
        "print([name for name in ('numpy', 'numba', 'llvmlite') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
