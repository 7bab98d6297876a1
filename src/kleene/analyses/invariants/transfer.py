"""The transfer functions of conditions and assignments.

A condition keeps the points where it holds. An assignment keeps the templates of its variable: if
t = e(x) holds before, t is set to what e is afterwards.
"""

from __future__ import annotations

from kleene.algebra.machine_interval import SWAPPED
from kleene.analyses.invariants.expressions import (
    Always,
    Both,
    Compared,
    Condition,
    Congruent,
    Either,
    Form,
    Implied,
    Relation,
    Same,
    negation,
)
from kleene.analyses.invariants.layout import Templates
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.octagon_packs import Range


def assume(numbers: Numbers, condition: Condition) -> Numbers:
    """Return the points where a condition holds; the value given may be changed."""
    if isinstance(condition, Relation):
        if condition.sign == "le":
            numbers.assume_at_most_zero(condition.form)
        elif condition.sign == "eq":
            numbers.assume_zero(condition.form)
        else:
            numbers.assume_not_zero(condition.form)
    elif isinstance(condition, Compared):
        _assume_compared(numbers, condition)
    elif isinstance(condition, Congruent):
        _assume_congruent(numbers, condition)
    elif isinstance(condition, (Both, Same)):
        numbers = assume(numbers, condition.left)
        return numbers if numbers.is_empty else assume(numbers, condition.right)
    elif isinstance(condition, Implied):
        return assume(numbers, condition.left)
    elif isinstance(condition, Either):
        one = assume(numbers.copy(), condition.left)
        other = assume(numbers, condition.right)
        return other if one.is_empty else one if other.is_empty else one.join(other)
    elif isinstance(condition, Always) and not condition.holds:
        numbers.is_empty = True
    return numbers


def _assume_compared(numbers: Numbers, one: Compared) -> None:
    """Compare by the other reading of the bits than that which is kept.

    Below 2**(width-1) both readings agree, and beyond both orders do. `a ult b` of signed a and
    b >= 0 is 0 <= a < b; so is `a slt b` of unsigned b and a < 2**(width-1), which leaves b below
    2**(width-1).
    """
    if one.predicate in SWAPPED:
        one = Compared(SWAPPED[one.predicate], one.right, one.left, one.kind)
    strict = one.predicate.endswith("lt")
    half = (1 << one.kind.width - 1) - 1
    (left_low, left_high), (low, high) = numbers.bounds(one.left), numbers.bounds(one.right)
    plain = one.left.plus(one.right, -1).shifted(strict)
    if not one.kind.is_unsigned:
        if low >= 0:
            numbers.assume_at_most_zero(one.left.scaled(-1))
        if low >= 0 or (left_low >= 0 <= high and high <= half and low >= 0):
            if not numbers.is_empty:
                numbers.assume_at_most_zero(plain)
        elif left_high < 0 <= high:  # read as unsigned, left is beyond every right that is not
            numbers.assume_at_most_zero(one.right.shifted(1))
            if not numbers.is_empty:
                numbers.assume_at_most_zero(plain)
        return
    if left_low >= 0 and left_high <= half:  # read as signed, right is not below left, nor below 0
        numbers.assume_at_most_zero(one.right.shifted(-half))
        if not numbers.is_empty:
            numbers.assume_at_most_zero(plain)
    elif low > half:  # and left no more than right, which is negative
        numbers.assume_at_most_zero(one.left.scaled(-1).shifted(half + 1))
        if not numbers.is_empty:
            numbers.assume_at_most_zero(plain)


def _assume_congruent(numbers: Numbers, one: Congruent) -> None:
    known = numbers.residue(one.form)
    if known is not None and known[0] % one.modulus == 0:
        if (known[1] % one.modulus == one.rest) != one.holds:
            numbers.is_empty = True
        return
    if len(one.form.terms) != 1 or abs(one.form.terms[0][1]) != 1:
        return
    (key, sign), wanted = one.form.terms[0], one.rest
    if not one.holds:
        if one.modulus != 2:
            return
        wanted = 1 - wanted
    rest = sign * (wanted - one.form.constant) % one.modulus
    numbers.assume_residue(key, one.modulus, rest)


def always(numbers: Numbers, condition: Condition) -> bool:
    """Return whether a condition is known to hold at every point."""
    if isinstance(condition, Relation) and condition.sign == "le":
        return numbers.bounds(condition.form)[1] <= 0
    if isinstance(condition, Both):
        return always(numbers, condition.left) and always(numbers, condition.right)
    return assume(numbers.copy(), negation(condition)).is_empty


def forget(numbers: Numbers, keys: list[int]) -> None:
    """Let variables, and the templates of them, have any value."""
    using = numbers.layout.using
    more = [template for key in keys for template in using.get(key, ())]
    numbers.forget([*keys, *more])


def set_form(numbers: Numbers, key: int, form: Form) -> None:
    """Set one variable and the templates it occurs in."""
    if key not in numbers.layout.using:
        numbers.assign(key, form)
    else:
        set_all(numbers, ((key, form),))


def set_range(
    numbers: Numbers, key: int, ends: Range, residue: tuple[int, int] | None = None
) -> None:
    """Set one variable to any value of a range; what its templates then are."""
    numbers.assign_range(key, *ends, residue)
    set_templates(numbers, key)


def set_templates(numbers: Numbers, key: int) -> None:
    """Set the templates of a variable that was set on its own.

    Until then they are those of the old value, and may not be asked for what they stand for.
    """
    templates = numbers.layout.using.get(key, ())
    numbers.drop(templates)
    for template in templates:
        if not numbers.is_empty:
            numbers.assign(template, numbers.layout.templates[template], usable=frozenset())


def set_all(numbers: Numbers, assignments: tuple[tuple[int, Form], ...]) -> None:
    """Set several variables at once, one after the other: no form uses a variable set before.

    Spare variables are the exception: they keep what another one was (`x, y = y, x`). Templates
    come first, while their variables are as before: t = e(x) becomes e(σ(x)), which is often t plus
    something short.
    """
    before, layout = numbers.copy(), numbers.layout
    sources = dict(assignments)
    changed = dict.fromkeys(t for key, _ in assignments for t in layout.using.get(key, ()))
    usable = set(layout.templates)
    for template in changed:
        form = layout.templates[template].replaced(sources.get)
        numbers.assign(template, form, before, frozenset(usable))
        usable.discard(template)
        if numbers.is_empty:
            return
    left: Templates | None = frozenset() if changed else None
    for place, (key, form) in enumerate(assignments):
        numbers.assign(key, form, before, left)
        if numbers.is_empty:
            return
        if any(key in other.keys for _, other in assignments[place + 1 :]):
            before.assign(key, form)
