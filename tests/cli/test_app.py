"""The command line as a whole: help, versions, wrong usage, ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import kleene as package
from kleene.base.errors import SourceError, SourceErrors, Span
from kleene.cli import discover
from kleene.cli.app import app, load
from kleene.cli.guard import guarded
from kleene.cli.options import parsed
from tests.cli.conftest import COMMAND, Kleene


def test_version(kleene: Kleene) -> None:
    done = kleene("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kleene {package.__version__}\n", "")


def test_help_lists_every_command_and_where_to_start(kleene: Kleene) -> None:
    shown = kleene("--help").stdout
    assert all(f" {name} " in shown for name in discover.available())
    assert "kleene doctor" in shown
    assert "docs" in shown


@pytest.mark.parametrize("name", discover.available())
def test_every_command_teaches_and_speaks_json(name: str) -> None:
    command = load(name)
    assert command.help.splitlines()[0].endswith(".")
    assert f"Example: kleene {name}" in command.help
    assert "--json" in [option for parameter in command.params for option in parameter.opts]
    assert all(parameter.help for parameter in command.params)


def test_only_the_asked_for_command_is_imported() -> None:
    code = (
        "import sys\n"
        "from kleene.cli.app import app\n"
        "app(['cache'], standalone_mode=False)\n"
        "heavy = ['numpy', 'numba', 'llvmlite', 'rich', 'kleene.ir']\n"
        "names = [f'kleene.cli.commands.{name}' for name in ('cache', 'ir', 'doctor')]\n"
        "print([name for name in heavy + names if name in sys.modules])\n"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stdout.splitlines()[-1] == "['kleene.cli.commands.cache']"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [(["irr"], "Did you mean 'ir'?"), (["ir"], "FILES"), (["doctor", "--nonsense"], "nonsense")],
)
def test_wrong_usage_is_explained(kleene: Kleene, arguments: list[str], hint: str) -> None:
    done = kleene(*arguments)
    assert done.returncode == 2
    assert hint in done.stderr
    assert done.stdout == ""


def test_the_shell_completes_commands() -> None:
    asked = {"_KLEENE_COMPLETE": "complete_bash", "COMP_WORDS": "kleene do", "COMP_CWORD": "1"}
    done = subprocess.run(COMMAND, env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout.strip() == "doctor"


def test_a_closed_pipe_is_quiet() -> None:
    child = subprocess.Popen([*COMMAND, "cache"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait() == -signal.SIGPIPE
    child.stderr.close()


LINES = {
    "points-to": [
        "FILE --query main.p --query q --json",
        "FILE -DX -D Y=1 -I inc -Iother --std c11 -j 4 --jobs=3",
        "FILE --explain a b --stats -q --timeout 2.5 --memory 1.5G",
        "--device cpu --threads 2 FILE OTHER --models m.txt --call-graph g.svg",
        "FILE --device tpu",
        "FILE --threads 0",
        "FILE --threads",
        "FILE --timeout nan",
        "FILE --memory 4X",
        "FILE --query",
        "FILE --stats=1",
        "FILE --nonsense",
        "FILE -jx",
        "--stats",
        "",
    ],
    "cfa": ["FILE --m 2 --why 3:4 car --diff OLD", "FILE --m 3", "FILE --depth 2 --callers x"],
    "cache": ["--clear", "", "FILE"],
}


@pytest.mark.parametrize(
    ("name", "line"), [(name, line) for name, lines in LINES.items() for line in lines]
)
def test_a_command_line_means_what_typer_takes_it_for(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, seen = discover.load(name), {}
    watched = command._replace(run=lambda **given: seen.update(given))
    monkeypatch.setattr(discover, "load", lambda _name: watched)
    done = CliRunner().invoke(app, [name, *line.split()])
    found = parsed(line.split(), command.parameters)
    if done.exit_code:
        assert found is None
    else:
        assert found is not None
        assert {name: value or None for name, value in found.items()} == {
            name: value or None for name, value in seen.items()
        }


def test_a_plain_command_line_is_read_without_typer() -> None:
    code = (
        "import atexit, sys\nfrom kleene.cli import main\n"
        "heavy = ('typer', 'pydantic', 'rich')\n"
        "atexit.register(lambda: print([name for name in heavy if name in sys.modules]))\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "cache", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def ended_by(error: BaseException, *arguments: str) -> tuple[int, str, str]:
    """Return how a command ends that raises `error`: exit code, stdout, stderr."""
    app = typer.Typer(pretty_exceptions_enable=False)

    def run(as_json: bool = False) -> None:
        raise error

    run.__annotations__["as_json"] = Annotated[bool, typer.Option("--json")]
    app.command()(guarded(run))
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


ONE = SourceError(Span("a.c", 3, 7), "c/does-not-compile", "expected ';'")
TWO = SourceErrors([ONE, SourceError(None, "c/no-sources", "nothing here", "name a file")])


def test_an_error_of_the_input_is_printed_and_exits_1() -> None:
    assert ended_by(ONE) == (1, "", "a.c:3:7: error[c/does-not-compile]: expected ';'\n")
    code, stdout, stderr = ended_by(TWO)
    assert (code, stdout) == (1, "")
    assert stderr.splitlines()[1:] == ["error[c/no-sources]: nothing here", "note: name a file"]


def test_with_json_errors_are_json_too() -> None:
    code, stdout, stderr = ended_by(TWO, "--json")
    assert (code, stderr) == (1, "")
    assert json.loads(stdout) == {"errors": [error.as_json() for error in TWO]}


def test_an_interrupt_is_quiet() -> None:
    assert ended_by(KeyboardInterrupt()) == (130, "", "")


def test_a_fault_of_ours_is_not_hidden() -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    def run() -> None:
        raise AssertionError("a bug")

    app.command()(guarded(run))
    with pytest.raises(AssertionError, match="a bug"):
        CliRunner().invoke(app, [], catch_exceptions=False)
