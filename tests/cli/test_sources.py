"""Every command says which language it reads, and what to use for others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kleene.cli.sources import CSources
from tests.cli.conftest import Kleene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHOP = EXAMPLES / "scheme" / "shop.scm"


@pytest.mark.parametrize(
    ("command", "file", "hint"),
    [
        ("points-to", SHOP, "use kleene cfa or kleene ir"),
        ("cfg", SHOP, "use kleene cfa or kleene ir"),
        ("cfa", EXAMPLES / "shapes", "use kleene dataflow or kleene invariants or "),
        ("cfa", "absent.c", "use kleene dataflow or kleene invariants or "),
    ],
)
def test_files_in_another_language_name_the_command_for_them(
    kleene: Kleene, command: str, file: str | Path, hint: str
) -> None:
    done = kleene(command, file, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    (error,) = json.loads(done.stdout)["errors"]
    assert (error["id"], error["file"]) == ("cli/wrong-language", str(file))
    assert error["notes"][0].startswith(hint)


def test_an_option_of_another_language_is_wrong_usage(kleene: Kleene) -> None:
    done = kleene("ir", SHOP, "-D", "N=1")
    assert done.returncode == 2
    assert "-D is not for files in Scheme" in done.stderr
    assert "--no-cache is not for" in kleene("ir", SHOP, "--no-cache").stderr


def test_the_core_of_a_scheme_program_is_printed(kleene: Kleene) -> None:
    text = kleene("ir", SHOP).stdout
    assert text.startswith("(define full.0 (lambda (price.1) price.1))\n")
    value = json.loads(kleene("ir", SHOP, "--json").stdout)
    assert value["forms"] == text.splitlines()
    assert value["stats"]["lambdas"] == 11
    assert kleene("ir", SHOP, "--function", "full").returncode == 2


def test_python_runs_the_package() -> None:
    import subprocess
    import sys

    command = [sys.executable, "-m", "kleene", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("kleene ")


def test_a_program_is_called_by_its_folder_or_its_files(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.c").write_text("int main(void) { return 0; }\n")

    def title(*files: str) -> str:
        return CSources(files=[str(tmp_path / file) for file in files]).title

    assert title("shop") == title("shop/.") == "shop"
    assert title("shop/cart.c") == "cart.c"
    assert title("shop/cart.c", "shop/b.c", "shop/c.c") == "cart.c and 2 more"
    assert title("shop/*.c") == title("shop/compile_commands.json") == "shop"
