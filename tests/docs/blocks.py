"""The runnable blocks of a Markdown page: `python` as doctests, `console` as shell sessions."""

from __future__ import annotations

import doctest
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block, and the line of the page its text starts on."""

    language: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """A shell command and what it prints, both streams together."""

    command: str
    expected: str


def blocks_of(page: str) -> list[Block]:
    """Return the runnable blocks of a page, in order."""
    return [
        Block(found[1], found[2], page.count("\n", 0, found.start(2)) + 1)
        for found in _FENCE.finditer(page)
    ]


def steps_of(text: str) -> list[Step]:
    """Return the commands of a console block with their expected output."""
    assert text.startswith("$ "), "a console block starts with a command"
    return [Step(found[1], found[2]) for found in _COMMAND.finditer(text)]


def run(step: Step, folder: Path) -> tuple[int, str]:
    """Return the exit code of a command and what it prints."""
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, "\n".join(line.rstrip() for line in done.stdout.splitlines())


def matches(expected: str, got: str) -> bool:
    """Return whether `got` is what is expected.

    `...` stands for anything on one line; alone on a line, for any number of lines, or none: what
    one machine has to say, another has not.
    """
    return (
        re.fullmatch("".join(map(_pattern, _closed(expected).splitlines())), _closed(got))
        is not None
    )


def _pattern(line: str) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    return ".*".join(map(re.escape, line.split("..."))) + r"\n"


def check_python(block: Block, names: dict[str, object], page: str) -> list[str]:
    """Run a block of `>>>` examples in the namespace `names`; return what went wrong."""
    assert ">>>" in block.text, f"{page}:{block.line}: a python block holds >>> examples"
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line - 1)
    said: list[str] = []
    doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False
    ).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    return said


def renewed(page: str, outputs: dict[Step, str]) -> str:
    """Return the page with the outputs of these steps in place of the expected ones."""
    for step, got in outputs.items():
        page = page.replace(
            f"$ {step.command}\n{step.expected}", f"$ {step.command}\n{_closed(got)}"
        )
    return page


def _closed(text: str) -> str:
    return text + "\n" if text and not text.endswith("\n") else text
