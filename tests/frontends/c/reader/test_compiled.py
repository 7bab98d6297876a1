"""How compiled code is kept: only entries, and none that an edited source has outdated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kleene.frontends.c.reader import compiled, read

WARM = """\
from kleene.frontends.c.reader import instructions, module
print(len(module.read_module.overloads), len(instructions.instruction.overloads))
"""


def test_kept_entries_need_no_pieces() -> None:
    read(b"")  # compiles and keeps them, if nobody has
    answer = subprocess.run([sys.executable, "-c", WARM], capture_output=True, check=True)
    assert answer.stdout.split() == [b"1", b"0"]


def test_every_source_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py", "compiled.py"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "compiled.py"))
    before = compiled._sources()
    assert before == compiled._sources()
    (tmp_path / "b.py").write_text("changed")
    assert before != compiled._sources()


def test_nowhere_to_keep() -> None:
    names: dict[str, object] = {}
    exec("def double(count):\n    return 2 * count", names)  # a function without a file
    assert compiled.entry(names["double"])(21) == 42  # type: ignore[operator, type-var]
