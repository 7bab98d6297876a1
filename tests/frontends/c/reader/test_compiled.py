"""How the reader is kept: its entry points alone."""

from __future__ import annotations

import subprocess
import sys

from kleene.frontends.c.reader import read

WARM = """\
from kleene.frontends.c.reader import module, read
from kleene.kernels import machine_code
read(b"")
n_device_functions = machine_code.device_function.cache_info().currsize
print(len(module.read_module.dispatcher.overloads), n_device_functions)
"""


def test_kept_entry_points_need_no_device_functions() -> None:
    read(b"")  # compiles and keeps them, if nobody has
    answer = subprocess.run([sys.executable, "-c", WARM], capture_output=True, check=True)
    assert answer.stdout.split() == [b"1", b"0"]
