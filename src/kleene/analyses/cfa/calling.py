"""How arguments are laid out, so that only calls with the right number of arguments get through.

The engine passes the i-th actual to the i-th formal. Here a call with n arguments puts them into
block n of the actuals, and a procedure that takes k has its formals in block k: what does not fit
meets nothing. Procedures with a rest have formals in every block from k on. From `N_EXACT`
arguments on there is one block for all. With `head` = 1, each block begins with the token of
reachability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kleene.solvers.inclusion.problem import NONE

N_EXACT = 8


@dataclass(frozen=True, slots=True)
class Layout:
    """Where arguments are put; `n_open` is how many a call of unknown length passes at most."""

    head: int
    n_open: int

    def start(self, n: int) -> int:
        """Return where block n begins."""
        n = min(n, N_EXACT)
        return n * (n - 1) // 2 + n * self.head

    def actuals(self, arguments: Sequence[int], here: int) -> list[int]:
        """Return the actuals of a call with exactly these arguments."""
        return [NONE] * self.start(len(arguments)) + [here] * self.head + list(arguments)

    def spread(self, arguments: Sequence[int], more: int, n_least: int, here: int) -> list[int]:
        """Return the actuals of a call with `n_least` arguments at least, `more` behind those."""
        every = list(arguments) + [more] * (self.n_open - len(arguments))
        actuals = [NONE] * self.start(n_least)
        for n in range(n_least, N_EXACT):
            actuals += [here] * self.head + every[:n]
        return actuals + [here] * self.head + every

    def formals(self, fixed: Sequence[int], here: int) -> list[int]:
        """Return the formals of a procedure that takes exactly these."""
        return self.actuals(fixed, here)

    def formals_with_rest(self, fixed: Sequence[int], rest: int, here: int) -> list[int]:
        """Return the formals of a procedure that takes more; the engine's rest is that as well."""
        k = len(fixed)
        formals = [NONE] * self.start(k)
        for n in range(k, N_EXACT):
            formals += [here] * self.head + list(fixed) + [rest] * (n - k)
        return formals + [here] * self.head + list(fixed)

    def formals_between(
        self, fixed: Sequence[int], n_least: int, n_most: int | None, here: int
    ) -> list[int]:
        """Return the formals of a procedure that takes from `n_least` to `n_most` arguments."""
        formals = [NONE] * self.start(n_least)
        last = N_EXACT - 1 if n_most is None else min(n_most, N_EXACT - 1)
        for n in range(n_least, last + 1):
            formals += [here] * self.head + list(fixed[:n])
        if n_most is None or n_most >= N_EXACT:
            formals += [here] * self.head + list(fixed)
        return formals
