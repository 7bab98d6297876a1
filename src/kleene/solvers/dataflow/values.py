"""The solution of constraints on values: bounds, known bits and definedness by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I64, U64, Bools
from kleene.solvers.dataflow.codes import (
    HAS_VALUE,
    HIGH,
    LEAST,
    LOW,
    MAY_BE_UNDEFINED,
    MOST,
    ONES,
    STATE,
    STRIDE,
    ZEROS,
)
from kleene.solvers.dataflow.constraints import Constraints


@dataclass(frozen=True, slots=True)
class ValueFact:
    """What is known of one value: every column holds.

    Attributes:
        width: in bits.
        low: its least signed number.
        high: its greatest signed number.
        least: its least unsigned number.
        most: its greatest unsigned number.
        zeros: bits that are 0.
        ones: bits that are 1.
        has_value: whether there is one at all; if not, it is never computed.
        may_be_undefined: whether it may be undef or poison.
    """

    width: int
    low: int
    high: int
    least: int
    most: int
    zeros: int
    ones: int
    has_value: bool = True
    may_be_undefined: bool = False

    @property
    def constant(self) -> int | None:
        """The one number it is, signed; None if it may be several or has no value."""
        return self.low if self.has_value and self.low == self.high else None

    @property
    def is_any(self) -> bool:
        """Whether nothing is known."""
        return self.has_value and self == ValueFact.any(
            self.width, may_be_undefined=self.may_be_undefined
        )

    @property
    def n_bits(self) -> int:
        """How many of the low bits hold the number, as unsigned one or in two's complement."""
        signed = max(self.low.bit_length(), (~self.high).bit_length(), self.high.bit_length()) + 1
        return min(self.most.bit_length(), signed) if self.has_value else 0

    def holds(self, number: int) -> bool:
        """Return whether a number, signed or unsigned, may be its value."""
        pattern = number & ((1 << self.width) - 1)
        signed = pattern - (pattern >> (self.width - 1) << self.width)
        return (
            self.has_value
            and self.low <= signed <= self.high
            and self.least <= pattern <= self.most
            and not pattern & self.zeros
            and not ~pattern & self.ones
        )

    @classmethod
    def any(cls, width: int, *, may_be_undefined: bool = False) -> ValueFact:
        """Return the fact that says nothing."""
        half = 1 << (width - 1)
        return cls(width, -half, half - 1, 0, 2 * half - 1, 0, 0, True, may_be_undefined)

    def __str__(self) -> str:
        """Return the value as text: `5`, `0..99`, `not 0`, `multiple of 8`, `any`."""
        if not self.has_value:
            return "undefined" if self.may_be_undefined else "never computed"
        if self.constant is not None:
            return str(self.constant if self.width > 1 else self.least)
        full = ValueFact.any(self.width)
        n_low = (~self.zeros & (self.zeros + 1)).bit_length() - 1
        words = []
        if self.high - self.low <= self.most - self.least and self.low != full.low:
            words.append(f"{self.low}..{self.high}")
        elif self.high - self.low <= self.most - self.least and self.high != full.high:
            words.append(f"at most {self.high}")
        elif (self.least, self.most) in (
            (1, full.most),
            (1 << n_low, full.most - (1 << n_low) + 1),
        ):
            words.append("not 0")
        elif (self.least, self.most) != (0, full.most - (1 << n_low) + 1):
            words.append(f"{self.least}..{self.most}")
        if n_low:
            words.append(f"multiple of {1 << n_low}")
        return ", ".join(words) or "any"


@dataclass(frozen=True, eq=False)
class ValueFacts:
    """Facts by name: rows of an array, as `rows` has them.

    Attributes:
        constraints: which were solved.
        rows: an array of shape (n_names, STRIDE).
        n_evaluations: how often constraints were evaluated, upwards and downwards.
    """

    constraints: Constraints
    rows: I64
    n_evaluations: tuple[int, int] = (0, 0)

    def __getitem__(self, name: int) -> ValueFact:
        row = self.rows[name].tolist()
        width = int(self.constraints.width[name])
        full = (1 << width) - 1
        return ValueFact(
            width, row[LOW], row[HIGH], row[LEAST] & full, row[MOST] & full, row[ZEROS] & full,
            row[ONES] & full, bool(row[STATE] & HAS_VALUE), bool(row[STATE] & MAY_BE_UNDEFINED),
        )  # fmt: skip

    @cached_property
    def has_value(self) -> Bools:
        """Which names have a value; of names for control, where it comes."""
        found: Bools = self.rows[:, STATE] & HAS_VALUE != 0
        return found

    @property
    def may_be_undefined(self) -> Bools:
        """Which names may be undef or poison."""
        found: Bools = self.rows[:, STATE] & MAY_BE_UNDEFINED != 0
        return found

    @property
    def is_constant(self) -> Bools:
        """Which names are one number: `low` then."""
        found: Bools = self.has_value & (self.rows[:, LOW] == self.rows[:, HIGH])
        return found

    @property
    def is_not_zero(self) -> Bools:
        """Which names have a value, and it is never 0."""
        found: Bools = self.has_value & (self.rows[:, LEAST] != 0)
        return found

    @property
    def low(self) -> I64:
        """The least signed number of each name."""
        return self.rows[:, LOW]

    @property
    def high(self) -> I64:
        """The greatest signed number of each name."""
        return self.rows[:, HIGH]

    @property
    def least(self) -> U64:
        """The least unsigned number of each name."""
        return self.rows[:, LEAST].view(np.uint64)

    @property
    def most(self) -> U64:
        """The greatest unsigned number of each name."""
        return self.rows[:, MOST].view(np.uint64)


def packed(facts: Iterable[ValueFact]) -> I64:
    """Return facts as rows, for `ConstraintBuilder.given`; they may say less than they know."""
    from kleene.solvers.dataflow import rows as row_functions

    wanted = list(facts)
    table: NDArray[np.int64] = np.zeros((len(wanted), STRIDE), np.int64)
    for number, fact in enumerate(wanted):
        state = HAS_VALUE * fact.has_value | MAY_BE_UNDEFINED * fact.may_be_undefined
        columns = (fact.low, fact.high, fact.least, fact.most, fact.zeros, fact.ones, state)
        row = [0] * STRIDE
        row[: len(columns)] = [value - (value >> 63 << 64) if value > 0 else value
                               for value in columns]  # fmt: skip
        row_functions.reduce(row, 0, fact.width)  # type: ignore[arg-type]
        table[number] = row
    return table
