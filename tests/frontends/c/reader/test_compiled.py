"""How the reader is kept: its entries alone."""

from __future__ import annotations

import subprocess
import sys

from kleene.frontends.c.reader import read

WARM = """\
from kleene.frontends.c.reader import instructions, module, read
read(b"")
print(len(module.read_module.overloads), "dispatcher" in vars(instructions.instruction))
"""


def test_kept_entries_need_no_pieces() -> None:
    read(b"")  # compiles and keeps them, if nobody has
    answer = subprocess.run([sys.executable, "-c", WARM], capture_output=True, check=True)
    assert answer.stdout.split() == [b"1", b"False"]
