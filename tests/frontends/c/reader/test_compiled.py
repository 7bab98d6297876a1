"""How the reader is kept: its entry points alone; and that it runs as plain Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kleene.frontends.c import reader
from kleene.ir.canonical import same
from kleene.kernels.compiled import interpreted
from tests.frontends.c.pipeline import bitcode
from tests.frontends.c.reader.test_against_llvm import MUSEUM
from tests.frontends.c.reader.test_given import VALUES

WARM = """\
from kleene.frontends.c.reader import functions, warm
from kleene.kernels import machine_code
warm()
n_device_functions = machine_code.device_function.cache_info().currsize
print(len(functions.read_records.dispatcher.overloads), n_device_functions)
"""
PLAIN = """\
import sys
from pathlib import Path
from kleene.frontends.c import reader
from kleene.ir.store import dumps
Path(sys.argv[2]).write_bytes(dumps(reader.read(Path(sys.argv[1]).read_bytes())))
print(*sys.modules)
"""


def test_kept_entry_points_need_no_device_functions() -> None:
    reader.warm()  # compiles and keeps them, if nobody has
    answer = subprocess.run([sys.executable, "-c", WARM], capture_output=True, check=True)
    assert answer.stdout.split() == [b"1", b"0"]


@pytest.mark.parametrize("text", [MUSEUM.read_text(), VALUES], ids=["museum", "values"])
def test_uncompiled_it_reads_the_same(text: str) -> None:
    raw = bitcode(text)
    with interpreted():
        plain = reader.read(raw)
    with interpreted(False):
        assert same(plain, reader.read(raw)) is None


def test_a_process_without_numba_reads_the_same(made: Path, tmp_path: Path) -> None:
    from kleene.ir.store import loads

    source, target = made / "square.bc", tmp_path / "program"
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAIN, source, target],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=True,
    )
    assert b"numba" not in answer.stdout.split()
    plain = loads(target.read_bytes())
    assert plain is not None
    assert same(plain, reader.read(source.read_bytes())) is None
