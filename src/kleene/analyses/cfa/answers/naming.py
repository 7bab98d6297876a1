"""What procedures, variables and places are called.

A procedure is called after the variable it is the value of, else `lambda`; the top level is `top`.
A place is `file:line:column`, of the text without the folders it lies in.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

import numpy as np

from kleene.analyses.cfa.index import ROOT, Index
from kleene.base.arrays import offsets_of
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core

TOP = "top"


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """A procedure or data: what kind, its name, and where it is made."""

    kind: str  # "procedure", "primitive", "continuation", "pair", "vector", "record", ...
    name: str
    place: str
    row: int

    def __str__(self) -> str:
        return f"{self.name} at {self.place}" if self.place else self.name

    def as_json(self) -> dict[str, str]:
        """Return the value as plain data."""
        return {"kind": self.kind, "name": self.name, "place": self.place}


class Naming:
    """Names of the rows and variables of one core."""

    def __init__(self, core: Core, index: Index) -> None:
        self.core = core
        self.index = index
        texts = [np.frombuffer(source.text, np.uint8) for source in core.sources.all]
        self._lines = [np.flatnonzero(text == 10).tolist() for text in texts]
        # Characters before each byte: bytes that continue one do not begin one.
        self._characters = [offsets_of(text & 0xC0 != 0x80).astype(np.int32) for text in texts]
        self._bases = [source.base for source in core.sources.all]
        self._procedures: dict[int, Value] = {}

    @cached_property
    def names(self) -> dict[int, str]:
        """The names of the lambdas that have one: what they are the value of."""
        found: dict[int, str] = {}
        kind, reference = self.index.kind, self.index.reference
        for row in range(self.core.n_rows - 1):
            variables: list[int] = []
            operands = self.index.below(row)
            if kind[row] in (columns.DEFINE, columns.SET):
                variables = [reference[row]]
            elif kind[row] == columns.LETREC:
                variables = list(self.index.formals(row))
            elif kind[row] == columns.CALL and self.index.is_let[operands[0]]:
                variables = list(self.index.formals(operands[0]))
                operands = operands[1:]
            for variable, operand in zip(variables, operands, strict=False):
                if kind[operand] == columns.LAMBDA:
                    found.setdefault(operand, self.core.names[variable])
        return found

    def procedure(self, row: int) -> Value:
        """Return a lambda as a value, or the top level."""
        if row not in self._procedures:
            made = Value("procedure", self.names.get(row, "lambda"), self.place(row), row)
            self._procedures[row] = Value("top", TOP, "", ROOT) if row == ROOT else made
        return self._procedures[row]

    def place(self, row: int) -> str:
        """Return where a row is written, or nothing for none."""
        return self.at(int(self.core.at[row])) if row >= 0 else ""

    def at(self, at: int) -> str:
        """Return the place of a byte of the sources."""
        which = bisect_right(self._bases, at) - 1
        source, lines = self.core.sources.all[which], self._lines[which]
        offset = at - source.base
        line = bisect_left(lines, offset)
        first = lines[line - 1] + 1 if line else 0
        column = 1 + int(self._characters[which][offset] - self._characters[which][first])
        return f"{PurePath(source.file).name}:{line + 1}:{column}"

    def variable(self, variable: int) -> str:
        """Return a variable's name and the place where it is bound."""
        return f"{self.core.names[variable]} at {self.at(int(self.core.variable_at[variable]))}"
