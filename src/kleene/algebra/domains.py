"""The three domains: bounds on variables, on their differences, and on their sums too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from kleene.algebra import matrix
from kleene.algebra.ask import Names, named
from kleene.algebra.linear import Bound
from kleene.algebra.shape import Shape
from kleene.algebra.state import Relations


class Interval(Shape):
    """Bounds on each variable: a box. Operations cost O(1) a variable."""

    __slots__ = ()
    _RELATIONS = Relations.NONE


class Zone(Shape):
    """Bounds on variables and their differences: x <= c, x - y <= c.

    A zone is an octagon whose bounds on sums say no more than those on single variables; that is
    kept by every operation, and costs what the octagon costs.
    """

    __slots__ = ()
    _RELATIONS = Relations.DIFFERENCES


class Octagon(Shape):
    """Bounds on variables, their differences and sums: ±x <= c, ±x ± y <= c (Miné, 2006)."""

    __slots__ = ()
    _RELATIONS = Relations.ALL

    @classmethod
    def of_matrix(cls, names: Names, square: Any, **options: Any) -> Self:
        """Return the octagon of a coherent square matrix; variables not in `reals` are integers.

        Entry [i][j] bounds V'[j] - V'[i], where V'[2k] is variable k and V'[2k+1] its negation.

        Raises:
            SourceError: `algebra/bad-matrix` or `algebra/bad-number`.
        """
        chosen, reals = named(names), named(options.get("reals", ()))
        draft = cls.top([name for name in chosen if name not in reals], **options).edit()
        matrix.read(draft, chosen, square)
        return draft.done()

    def to_matrix(self, names: Names | None = None) -> list[list[Bound]]:
        """Return the closed square matrix of some variables, or of all."""
        chosen: Sequence[str] = tuple(self.variables) if names is None else named(names)
        self.are_integers(chosen)
        return matrix.write(self, chosen)
