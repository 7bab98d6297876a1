"""Rules are declared by their analyses and found without a list."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from kleene.results import Rule, Severity, discovered

RULE = "from kleene.results import Rule, Severity\nA = Rule({id!r}, Severity.NOTE, {text!r}, 'H')\n"


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> ModuleType:
    for name, text in files.items():
        path = folder / "looked_in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == "looked_in"]:
        monkeypatch.delitem(sys.modules, name)
    __import__("looked_in")
    return sys.modules["looked_in"]


def test_modules_and_packages_are_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "__init__.py": "",
        "single.py": RULE.format(id="single/b", text="B."),
        "large/__init__.py": "",
        "large/rules.py": RULE.format(id="large/a", text="A."),
        "large/other.py": RULE.format(id="large/hidden", text="A."),
        "quiet/__init__.py": "",
    }
    rules = discovered(package(tmp_path, monkeypatch, files))
    assert [rule.id for rule in rules] == ["large/a", "single/b"]


def test_one_id_is_one_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "__init__.py": "",
        "a.py": RULE.format(id="x/a", text="A."),
        "b.py": RULE.format(id="x/a", text="B."),
    }
    with pytest.raises(ValueError, match="two rules are called x/a"):
        discovered(package(tmp_path, monkeypatch, files))


@pytest.mark.parametrize("id", ["plain", "a/b/c", "A/b", "a/b_c", "a/", "a/-b"])
def test_ids_have_one_form(id: str) -> None:
    with pytest.raises(AssertionError, match="analysis/what"):
        Rule(id, Severity.NOTE, "A.", "A.")
