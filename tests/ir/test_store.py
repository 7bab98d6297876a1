"""A program survives its bytes; bytes that are not one are refused."""

from __future__ import annotations

import numpy as np
import pytest

from kleene.ir.store import VERSION, dumps, loads
from tests.ir.museum import museum


def test_round_trip() -> None:
    program = museum()
    again = loads(dumps(program))
    assert again is not None
    assert (again.name, again.triple) == (program.name, program.triple)
    assert again.data_layout == program.data_layout
    for mine, theirs in zip(program.tables().values(), again.tables().values(), strict=True):
        for (name, left), (_, right) in zip(mine.columns(), theirs.columns(), strict=True):
            assert left.dtype == right.dtype, name
            assert np.array_equal(left, right), name


def test_columns_are_read_only() -> None:
    again = loads(dumps(museum()))
    assert again is not None
    with pytest.raises(ValueError, match="read-only"):
        again.instructions.opcode[0] = 0


def test_damaged_bytes_are_refused() -> None:
    raw = dumps(museum())
    for length in [*range(0, 200, 7), len(raw) // 2, len(raw) - 1]:
        assert loads(raw[:length]) is None, length
    assert loads(b"") is None
    assert loads(b"\0" * 1000) is None
    assert loads(raw + b"\0") is None


def test_another_version_is_refused() -> None:
    raw = dumps(museum())
    ours = b'"version": %d' % VERSION
    assert ours in raw
    assert loads(raw.replace(ours, b'"version": 1', 1)) is None
