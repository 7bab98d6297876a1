"""How many iterations does a loop have?"""

from __future__ import annotations

from kleene.algebra.symbolic import maximum, minimum
from kleene.base.expression import Expression, of
from kleene.ir.loops.tables import Compare, LoopRow


def trip_count(row: LoopRow) -> Expression | None:
    """Return how many iterations a loop has, if that is known before it.

    `for (i = -n; i <= n; i++)` has max(0, 2*n + 1): none for n below 0.
    """
    found = trips_if_any(row)
    return None if found is None else maximum([of(0), found])


def trips_if_any(row: LoopRow) -> Expression | None:
    """Return how many iterations a loop has if it has one."""
    lasts = last_values(row)
    return minimum(lasts) + 1 if lasts and row.is_counted else None


def last_values(row: LoopRow) -> list[Expression]:
    """Return what the counter of a loop does not exceed, each without the counter.

    `a - c*k >= 0` with c > 0 is k <= floor(a / c).
    """
    found = []
    for one in row.context:
        if not isinstance(one, Compare) or one.operator != ">=" or one.obligations:
            continue
        factor = one.value.coefficient(row.counter)
        by = None if factor is None else factor.integer
        if by is not None and by < 0:
            found.append((one.value - of(row.counter) * by) // -by)
    return found
