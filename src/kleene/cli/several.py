"""`--keep-going`: one command for several programs, past those that are at fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from kleene.base.errors import SourceError
from kleene.cli import output
from kleene.cli.exit_codes import ExitCode
from kleene.cli.options import UsageError


def run_each(run: Callable[..., None], argument: str, given: dict[str, Any]) -> None:
    """Run a command for each file of the sources in `given[argument]`, and end as the worst did.

    What is printed for a file comes after its name; as JSON, one object has an entry for each.

    Raises:
        UsageError: the command is to write a file: each program would write its own over it.
        SystemExit: a file is at fault, or something was found.
    """
    if writes := next(_files_to_write(given, argument), None):
        raise UsageError(f"{writes} is one file, and --keep-going takes several programs")
    sources, as_json = given[argument], given.get("as_json", False)
    answers: dict[str, object] = {}
    codes = [ExitCode.CLEAN]
    for file in sources.files:
        printed: list[object] = []
        if not as_json:
            output.emit([f"{file}:\n"])
        try:
            with output.json_to(printed):
                run(**{**given, argument: replace(sources, files=[file])})
        except SourceError as error:
            codes.append(ExitCode.INPUT_AT_FAULT)
            printed = [{"errors": [single.as_json() for single in error]}]
            if not as_json:
                output.say(error.render())
        except SystemExit as end:
            codes.append(ExitCode(end.code if isinstance(end.code, int) else 0))
        answers[file] = printed[-1] if printed else None
    if as_json:
        output.emit_json({"files": answers})
    worst = ExitCode.INPUT_AT_FAULT if ExitCode.INPUT_AT_FAULT in codes else max(codes)
    if worst:
        raise SystemExit(worst)


def _files_to_write(given: dict[str, Any], argument: str) -> Iterator[Path]:
    """Yield the files that options name for output: of a command, or of a group of options."""
    for name, value in given.items():
        if is_dataclass(value) and name != argument:
            inner = {one.name: getattr(value, one.name) for one in fields(value)}
            yield from _files_to_write(inner, argument)
        elif isinstance(value, Path) and (name.endswith("_file") or name == "output"):
            yield value
