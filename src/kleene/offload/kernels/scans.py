"""Which sequential loops are scans: prefix sums, products, minima and maxima?

    s += a[i]; b[i] = s;             every iteration uses the sum so far
    b[i] = b[i - 1] + a[i];          the same, with the sums in an array

Such a loop is sequential as it is written, and parallel prefix algorithms compute it, if what each
iteration adds does not hang on the sum. No value flows between iterations but by scans, so it is
enough to see that within one iteration the sum does not get into what is added: the sum is read
only after the addition, or what is added is read from nothing that was written before it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from kleene.ir.loops.tables import Access, LoopRow, Root
from kleene.offload.kernels.dependences import LoopDependences


@dataclass(frozen=True, slots=True)
class Scan:
    """A variable or array whose values are the results so far of an operation."""

    operator: str
    name: str
    is_array: bool
    is_floating: bool  # another order of operations rounds differently


def scan_of(loop: LoopDependences, root: Root) -> Scan | None:
    """Return the scan that makes the accesses to `root` sequential."""
    accesses = [one for one in loop.accesses if one.root is root]
    if all(one.path == () for one in accesses):
        operator = _running_value(loop, accesses)
    else:
        operator = _running_array(loop, root)
    if operator is None:
        return None
    is_array = any(one.path != () for one in accesses)
    is_floating = any(one.is_floating for one in accesses)
    return Scan(operator, root.name, is_array, is_floating)


def _running_value(loop: LoopDependences, accesses: list[Access]) -> str | None:
    row = loop.row
    updates = [one for one in accesses if one.update is not None]
    uses = [one for one in accesses if one.update is None]
    operators = {one.update for one in updates}
    if any(one.together is not None for one in updates):
        return None  # what goes with an extremum has no operation of its own
    if len(operators) != 1 or not uses or any(one.is_write or one.by_loop for one in uses):
        return None
    is_read_after = all(_is_after(row, use, update) for use in uses for update in updates)
    if is_read_after or _adds_what_is_given(loop, uses, updates):
        return operators.pop()
    return None


def _statement(row: LoopRow, access: Access) -> int:
    return bisect_left(row.statements, access.sequence) - 1


def _is_after(row: LoopRow, use: Access, update: Access) -> bool:
    """Return whether, within an iteration, a use comes after an update for sure."""
    first, second = _statement(row, update), _statement(row, use)
    if first != second:
        return first < second
    is_direct = update.loops[-1] == use.loops[-1] == row.number
    return is_direct and update.sequence < use.sequence


def _adds_what_is_given(loop: LoopDependences, uses: list[Access], updates: list[Access]) -> bool:
    """Return whether the update reads nothing that an earlier statement of the iteration wrote.

    The uses are in other statements, none of which decides whether the update is executed.
    """
    row = loop.row
    numbers = {_statement(row, one) for one in updates}
    if len(numbers) != 1 or not row.is_straight:
        return False
    (number,) = numbers
    if any(_statement(row, one) == number for one in uses):
        return False
    before = {one.root for one in loop.accesses if one.is_write and _statement(row, one) < number}
    read = {
        one.root
        for one in loop.accesses
        if _statement(row, one) == number and one.root is not updates[0].root
    }
    return not before & read


def _running_array(loop: LoopDependences, root: Root) -> str | None:
    """Return the operation of `b[i] = b[i - 1] op e`: each value flows to the next iteration."""
    import islpy as isl

    operators = set()
    for one in loop.conflicts(root):
        if not one.first.is_write or one.second.is_write:
            if one.first.is_write:
                return None
            continue
        pairs = loop.flow(one)
        if pairs.is_empty():
            continue
        operators.add(one.first.recurrence)
        is_plain = one.first.loops[-1] == loop.row.number and not (
            set(one.first.context) - set(loop.row.context)
        )
        if not is_plain or one.second.recurrence != one.first.recurrence:
            return None
        step = isl.Constraint.equality_alloc(isl.LocalSpace.from_space(pairs.get_space()))
        step = step.set_coefficient_val(isl.dim_type.set, 0, -1)
        step = step.set_coefficient_val(isl.dim_type.set, 1, 1)
        step = step.set_constant_val(-1)
        if not pairs.is_subset(isl.Set.universe(pairs.get_space()).add_constraint(step)):
            return None
    return operators.pop() if len(operators) == 1 else None
