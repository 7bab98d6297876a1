"""Every example in the documentation and the README does what it says."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import Block, Step, blocks_of, check_python, matches, renewed, run, steps_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if "_build" not in page.parts and blocks_of(page.read_text(encoding="utf-8"))
]


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, where the page's commands may leave files."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    scripts = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("KLEENE_CC", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, workshop: Path, update_golden: bool) -> None:
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    wrong: list[str] = []
    for block in blocks_of(text):
        if block.language == "python":
            wrong += check_python(block, names, str(page))
        elif update_golden:
            text = renewed(text, changed(block, workshop))
        else:
            wrong += check_console(block, workshop, str(page))
    if update_golden:
        page.write_text(text, encoding="utf-8")
    assert not wrong, "\n".join(wrong)


def changed(block: Block, folder: Path) -> dict[Step, str]:
    """Return the steps that print other than expected, and what, with paths as a page can show."""
    answers = {step: run(step, folder)[1] for step in steps_of(block.text)}
    return {
        step: got.replace(f"{folder}/", "...")
        for step, got in answers.items()
        if not matches(step.expected, got)
    }


def check_console(block: Block, folder: Path, page: str) -> list[str]:
    """Return what went wrong: other output, or a failure where no error is shown."""
    wrong = []
    for step in steps_of(block.text):
        code, got = run(step, folder)
        if not matches(step.expected, got):
            wrong.append(f"{page}:{block.line}: $ {step.command}\n{got}\nis not\n{step.expected}")
        if (code != 0) != bool(re.search(r'error\[|"errors"', step.expected)):
            wrong.append(f"{page}:{block.line}: $ {step.command}\nexit code {code}")
    return wrong
