"""Tables give the same values as arrays, rows, JSON, Arrow and Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kleene.base.errors import SourceError
from kleene.results import Coded, Table


def table() -> Table:
    codes = np.array([1, 0, 1], np.int32)
    return Table({"who": Coded(codes, ["a", "b"]), "n": np.arange(3), "text": ["x", "yy", "z"]})


ROWS = [("b", 0, "x"), ("a", 1, "yy"), ("b", 2, "z")]


def test_rows_and_json() -> None:
    assert list(table().rows()) == ROWS
    assert table().as_json() == {"who": ["b", "a", "b"], "n": [0, 1, 2], "text": ["x", "yy", "z"]}
    assert len(table()) == 3
    assert len(Table({})) == len(Table({"a": []})) == 0


def test_columns_are_equally_long() -> None:
    with pytest.raises(AssertionError, match="different lengths"):
        Table({"a": [1], "b": [1, 2]})


def test_parquet_has_the_same(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table().to_parquet(tmp_path / "t.parquet")
    read = parquet.read_table(tmp_path / "t.parquet")
    assert [tuple(row.values()) for row in read.to_pylist()] == ROWS
    with pytest.raises(SourceError) as raised:
        table().to_parquet(tmp_path / "absent" / "t.parquet")
    assert raised.value.id == "results/cannot-write"
    assert str(raised.value.span) == str(tmp_path / "absent" / "t.parquet")
