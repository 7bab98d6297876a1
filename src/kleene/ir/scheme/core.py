"""The core: a Scheme program as columns of integers, every variable with a number of its own.

A row is an expression; its operands are rows. What `reference` means depends on the kind:

| kind | operands | reference |
|---|---|---|
| CONSTANT | none | which of `constants` |
| VARIABLE | none | the variable read |
| PRIMITIVE | none | which of `primitives` |
| LAMBDA | body | its first formal; `n_bound` follow each other; see `has_rest` |
| CALL | operator, arguments | none |
| IF | test, consequent, alternative | none |
| SET | value | the variable assigned |
| DEFINE | value | the global variable defined |
| LETREC | values, body | its first variable; `n_bound` follow each other; evaluated in order |
| SEQUENCE | expressions | none |

A variable belongs to the LAMBDA or LETREC row that binds it, or to no row (-1): then it is global.
A global that the program neither defines nor assigns is a primitive, or it is unbound. One that it
assigns but does not define begins as the primitive of its name, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kleene.base.arrays import I32, U8, Bools
from kleene.base.errors import Span
from kleene.ir.analysis_methods import CoreAnalyses
from kleene.ir.scheme.sources import Sources

CONSTANT, VARIABLE, PRIMITIVE, LAMBDA, CALL, IF, SET, DEFINE, LETREC, SEQUENCE = range(10)
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Core(CoreAnalyses):
    """A program; `root` is the row of its top level, and has the top-level forms as operands."""

    sources: Sources
    root: int
    kind: U8
    at: I32
    end: I32
    reference: I32
    n_bound: I32
    has_rest: Bools  # whether a lambda's last formal takes the remaining arguments
    operand_offsets: I32
    operands: I32
    constants: tuple[Any, ...]
    primitives: tuple[str, ...]
    names: tuple[str, ...]  # of the variables, as written; the next six columns likewise
    variable_at: I32
    variable_end: I32
    owner: I32
    is_defined: Bools
    is_assigned: Bools
    starts_as: I32  # which of `primitives` a global is before it is assigned, or NONE

    @property
    def n_rows(self) -> int:
        """How many expressions there are."""
        return len(self.kind)

    @property
    def n_variables(self) -> int:
        """How many variables there are."""
        return len(self.names)

    def node(self, row: int) -> Node:
        """Return a view of a row."""
        return Node(self, row)

    def below(self, row: int) -> list[int]:
        """Return the operands of a row."""
        below: list[int] = self.operands[slice(*self.operand_offsets[row : row + 2])].tolist()
        return below

    def span(self, row: int) -> Span:
        """Return where a row is written; for what a macro made, where the macro is used."""
        return self.sources.span(int(self.at[row]), int(self.end[row]))

    def variable_span(self, variable: int) -> Span:
        """Return where a variable is bound, or first used if it is global and not defined."""
        return self.sources.span(int(self.variable_at[variable]), int(self.variable_end[variable]))

    def stats(self) -> dict[str, int]:
        """Return the sizes of the program."""
        return {
            "expressions": self.n_rows,
            "lambdas": int((self.kind == LAMBDA).sum()),
            "calls": int((self.kind == CALL).sum()),
            "variables": self.n_variables,
            "primitives": len(self.primitives),
            "constants": len(self.constants),
        }

    def is_bundled(self) -> Bools:
        """Return for each row whether it is code of a library that comes with Kleene."""
        found = np.zeros(self.n_rows, np.bool_)
        for source in self.sources.all:
            if source.is_bundled:
                end = source.base + len(source.text)
                found |= (self.at >= source.base) & (self.at <= end)
        found[self.root] = False
        return found

    def unbound(self) -> I32:
        """Return the rows that read or assign a global variable that nothing defines."""
        missing = (self.owner == NONE) & ~self.is_defined & (self.starts_as == NONE)
        uses = (self.kind == VARIABLE) | (self.kind == SET)
        rows = np.flatnonzero(uses).astype(np.int32)
        keep: Bools = missing[self.reference[rows]]
        return rows[keep]


@dataclass(frozen=True, slots=True)
class Node:
    """A view of one row."""

    core: Core
    row: int

    @property
    def kind(self) -> int:
        """What the row is."""
        return int(self.core.kind[self.row])

    @property
    def reference(self) -> int:
        """What the row refers to."""
        return int(self.core.reference[self.row])

    @property
    def operands(self) -> list[Node]:
        """The rows below, in order."""
        return [Node(self.core, row) for row in self.core.below(self.row)]

    @property
    def bound(self) -> range:
        """The variables that the row binds."""
        first = self.reference
        return range(first, first + int(self.core.n_bound[self.row]))

    @property
    def has_rest(self) -> bool:
        """Whether the last formal takes a list of the remaining arguments."""
        return bool(self.core.has_rest[self.row])

    @property
    def span(self) -> Span:
        """Where the row is written."""
        return self.core.span(self.row)

    def walk(self) -> Iterator[Node]:
        """Yield this row and all below it, each before its operands."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.operands))
