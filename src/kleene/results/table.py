"""Tables of facts: equally long columns, as NumPy arrays, JSON, Arrow or Parquet."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32
from kleene.base.errors import SourceError, Span
from kleene.base.files import write_file
from kleene.base.source_text import visible

if TYPE_CHECKING:
    from pyarrow import Table as ArrowTable

_FORMULA = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of texts that are kept once: row `i` is `texts[codes[i]]`.

    Millions of facts name thousands of things: a row costs the four bytes of its code.
    """

    codes: I32
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)

    def values(self) -> NDArray[Any]:
        """Return the text of each row."""
        texts = np.empty(len(self.texts), object)
        texts[:] = self.texts
        return texts[self.codes]


Column = Coded | NDArray[Any]


class Table:
    """Equally long columns by name, in a fixed order."""

    def __init__(self, columns: Mapping[str, Coded | Sequence[Any] | NDArray[Any]]) -> None:
        self.columns: dict[str, Column] = {
            name: column if isinstance(column, Coded) else _array(column)
            for name, column in columns.items()
        }
        lengths = {len(column) for column in self.columns.values()}
        assert len(lengths) <= 1, f"columns of different lengths: {sorted(lengths)}"
        self._n_rows = lengths.pop() if lengths else 0

    def __len__(self) -> int:
        return self._n_rows

    def __repr__(self) -> str:
        return f"<Table: {len(self)} rows of {', '.join(self.columns)}>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column as an array with a value for each row."""
        column = self.columns[name]
        return column.values() if isinstance(column, Coded) else column

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield the rows as tuples of plain Python values."""
        return zip(*(self[name].tolist() for name in self.columns), strict=True)

    def as_json(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain values, by name."""
        return {name: self[name].tolist() for name in self.columns}

    def to_csv(self) -> str:
        """Return lines of comma-separated values, the names of the columns first.

        Texts come from programs, and go to spreadsheets and terminals: control characters are
        written out, and a text that a spreadsheet would take for a formula begins with `'`.
        """
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(self.columns)
        lines.writerows(map(_cell, row) for row in self.rows())
        return text.getvalue()

    def to_arrow(self) -> ArrowTable:
        """Return the table for Arrow; coded columns become dictionary arrays.

        Raises:
            SourceError: the package pyarrow is absent (`results/needs-pyarrow`).
        """
        try:
            import pyarrow
        except ImportError:
            message = "Arrow and Parquet need the package pyarrow"
            note = "install it: pip install 'kleene[arrow]'; JSON and DOT need nothing"
            raise SourceError(None, "results/needs-pyarrow", message, note) from None
        return pyarrow.table(
            {name: _arrow(pyarrow, column) for name, column in self.columns.items()}
        )

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a Parquet file.

        Raises:
            SourceError: pyarrow is absent, or the file cannot be written
                (`results/cannot-write`).
        """
        table = self.to_arrow()
        from pyarrow import parquet

        written = io.BytesIO()
        parquet.write_table(table, written)
        try:
            write_file(path, written.getvalue())
        except OSError as error:
            cause = error.strerror or str(error)
            raise SourceError(Span(os.fspath(path)), "results/cannot-write", cause) from None


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.startswith(_FORMULA) else visible(value)


def _array(column: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return a column as an array; texts stay Python strings, whatever their lengths."""
    if isinstance(column, np.ndarray):
        return column
    if all(isinstance(value, int | float) for value in column) and len(column):
        return np.asarray(column)
    texts = np.empty(len(column), object)
    texts[:] = column
    return texts


def _arrow(pyarrow: Any, column: Column) -> Any:
    if isinstance(column, Coded):
        texts = pyarrow.array(list(column.texts), pyarrow.string())
        return pyarrow.DictionaryArray.from_arrays(pyarrow.array(column.codes), texts)
    return pyarrow.array(column)
