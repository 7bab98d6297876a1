"""What isl may spend on one question, so that no loop takes long.

isl counts its operations and gives up above a limit; reading a formula costs it time before the
first of them, so that characters are counted too. Neither hangs on the machine: a loop has the same
verdict everywhere. Questions inside of others (a proof, while dependences are looked for) have a
budget of their own, because a limit of isl is one of a whole context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_VARIABLE = re.compile(r"\b[opvmcqw]\d+[xy]?\b")


class BudgetError(Exception):
    """A question asks more of isl than it is allowed."""


class Budget:
    """An isl context whose operations, and formulas, are limited until it is renewed."""

    def __init__(self, operations: int, characters: int) -> None:
        """Allow `operations` of isl, on formulas with `characters` in all."""
        import islpy as isl

        self._context = isl.Context()
        self._operations = operations
        self._characters = characters
        self.renew()

    def renew(self, operations: int | None = None) -> None:
        """Forget what was spent; `operations` is what may be spent from now on."""
        self._left = self._characters
        self._context.reset_operations()
        self._context.set_max_operations(operations or self._operations)

    def make_set(self, dims: list[str], hidden: Iterable[str], held: list[str]) -> Any:
        """Return the isl set of `dims` for which the constraints hold with some `hidden` values.

        Raises:
            BudgetError: the budget is spent. What is asked of the set later raises `isl.Error`.
        """
        import islpy as isl

        constraints = " and ".join(held) or "1 = 1"
        hidden = sorted(set(hidden) - set(dims))
        names = sorted(set(_VARIABLE.findall(constraints)) - set(dims) - set(hidden))
        if hidden:
            constraints = f"exists ({', '.join(hidden)} : {constraints})"
        text = f"[{', '.join(names)}] -> {{ [{', '.join(dims)}] : {constraints} }}"
        self._left -= len(text)
        if self._left < 0:
            raise BudgetError(f"formulas have more than {self._characters} characters")
        try:
            return isl.Set(text, self._context)
        except isl.Error as error:
            raise BudgetError(str(error)) from None
