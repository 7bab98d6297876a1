"""What the blocks of a function do to numbers: operations, compiled once from the IR.

Every operation has `apply`, which changes a value in place or returns another, and what a pass over
all of them must know: the variables it uses and the one it sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from kleene.algebra.machine_interval import MachineInterval
from kleene.analyses.invariants.expressions import (
    Condition,
    Form,
    Key,
    Kind,
    keys_of,
    negation,
    only,
    replaced,
)
from kleene.analyses.invariants.numbers import Numbers
from kleene.analyses.invariants.octagon_packs import Range
from kleene.analyses.invariants.transfer import assume, forget, set_form, set_range, set_templates

Rename = Callable[[Key], Form | None]
Observe = Callable[[int, Numbers, "Condition | None"], None]  # a check, what holds there


@dataclass(frozen=True)
class Operation:
    """One step of a block; its fields are variables, forms, conditions and plain data."""

    @property
    def sets(self) -> Key | None:
        """The variable that it sets, if it sets one."""
        return getattr(self, "target", None)

    def uses(self) -> Iterable[Key]:
        """Return the variables it reads."""
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Form):
                yield from value.keys
            elif isinstance(value, Condition):
                yield from keys_of(value)

    def renamed(self, forms: Rename) -> Self:
        """Return the same step on other variables."""
        changed: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "target":
                changed[one.name] = _name(forms, value)
            elif one.name == "variables":
                changed[one.name] = tuple(_name(forms, key) for key in value)
            elif isinstance(value, Form):
                changed[one.name] = value.replaced(forms)
            elif isinstance(value, Condition):
                changed[one.name] = replaced(value, forms)
        return replace(self, **changed)

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step; `observe` is told of checks."""
        raise NotImplementedError


def _name(forms: Rename, key: Key) -> Key:
    found = forms(key)
    return key if found is None else found.terms[0][0]


@dataclass(frozen=True)
class Assign(Operation):
    """Set a variable to a form of its kind."""

    target: Key
    form: Form

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        set_form(numbers, self.target, self.form)
        return numbers


@dataclass(frozen=True)
class Wrap(Operation):
    """Set a variable to a form modulo 2**width."""

    target: Key
    form: Form
    kind: Kind

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Keep the form where nothing wraps around, or where all values do so equally often."""
        low, high = numbers.bounds(self.form)
        kind, target = self.kind, self.target
        times = (low - kind.low) >> kind.width
        if (high - kind.low) >> kind.width == times:
            shifted = self.form.shifted(-times << kind.width)
            set_form(numbers, target, shifted)
            return numbers
        residue = numbers.residue(self.form)
        if residue is not None:  # modulo a power of two that divides m, wrapping changes nothing
            power = residue[0] & -residue[0] if residue[0] else 0
            power = min(power, 1 << kind.width)
            residue = (power, residue[1] % power) if power > 1 else None
        numbers.assign_wrapped(target, self.form, kind.low, kind.high, residue)
        set_templates(numbers, target)
        return numbers


@dataclass(frozen=True)
class AnyValue(Operation):
    """Set a variable to any value of a range, by default of its kind."""

    target: Key
    range: Range | None = None

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        kind = numbers.layout.kinds[self.target]
        set_range(numbers, self.target, self.range or (kind.low, kind.high))
        return numbers


@dataclass(frozen=True)
class Binary(Operation):
    """Set a variable to the result of one of LLVM's operations on machine integers."""

    target: Key
    operation: str
    left: Form
    right: Form
    left_kind: Kind
    right_kind: Kind
    kind: Kind

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        left, right = numbers.bounds(self.left), numbers.bounds(self.right)
        target: int = self.target
        if self.operation == "mul":
            for form, (low, high) in ((self.left, right), (self.right, left)):
                if low == high:  # linear after all
                    product = form.scaled(low)
                    return Wrap(target, product, self.kind).apply(numbers, observe)
        low, high = self._range(left, right)
        if low > high:
            numbers.is_empty = True
            return numbers
        residue = self._residue(numbers, left, right)
        if residue is not None and residue[0] == 0:
            low = high = residue[1]
        low, high = self._quotient(numbers, left, right, (low, high))
        exact = self._exact(numbers, left, right)
        order = list(self._order(left, right)) if not {target} & set(self.uses()) else []
        set_range(numbers, target, (low, high), residue)
        for form in order:
            if not numbers.is_empty:
                numbers.assume_at_most_zero(form)
        if exact is not None and order and not numbers.is_empty:
            numbers.assume_zero(exact)
        return numbers

    def _exact(self, numbers: Numbers, left: Range, right: Range) -> Form | None:
        """Return the form that is 0 after a division without remainder: k*q - a."""
        if self.operation not in ("sdiv", "udiv") or right[0] != right[1] or right[0] <= 0:
            return None
        known = numbers.residue(self.left)
        if known is None or not self._agree(left) or known[0] % right[0] or known[1] % right[0]:
            return None
        return only(self.target).scaled(right[0]).plus(self.left, -1)

    def _range(self, left: Range, right: Range) -> Range:
        """Return the least and the greatest result."""
        kind = self.kind
        if self.left_kind.is_unsigned and self.right_kind.is_unsigned and kind.is_unsigned:
            found = _unsigned(self.operation, left, right, kind)
            if found is not None:
                return found
        method = {"and": "and_", "or": "or_"}.get(self.operation, self.operation)
        made = getattr(_interval(left, self.left_kind), method)(_interval(right, self.right_kind))
        return _of_interval(made, kind)

    def _residue(self, numbers: Numbers, left: Range, right: Range) -> tuple[int, int] | None:
        """Return what residues say about a remainder by one number of a dividend not below 0."""
        if self.operation == "mul":
            found = numbers.residue(self.left), numbers.residue(self.right)
            powers = [(r[0] & -r[0]) for r in found if r is not None and r[0] and r[1] == 0]
            power = min(max(powers, default=1), 1 << self.kind.width)
            return (power, 0) if power > 1 else None
        if self.operation not in ("urem", "srem") or right[0] != right[1] or right[0] <= 0:
            return None
        if not (self._agree(left) and self._agree(right)):
            if left[0] >= 0 or self.left_kind.is_unsigned:
                return None
            known = numbers.residue(self.left)
            is_multiple = known is not None and known[1] == 0 and known[0] % right[0] == 0
            return (0, 0) if is_multiple and self.operation == "srem" else None
        known = numbers.residue(self.left)
        if known is None:
            return None
        if known[0] % right[0] == 0:
            return (0, known[1] % right[0])
        return None

    def _quotient(self, numbers: Numbers, left: Range, right: Range, ends: Range) -> Range:
        """Return bounds of a quotient a / b: k or less where a <= k*b, k or more where a >= k*b.

        The k that are tried are factors of `a`, and of templates that have `b` in them.
        """
        is_division = self.operation in ("sdiv", "udiv") and len(self.right.terms) == 1
        if not is_division or right[0] < 1 or not (self._agree(left) and self._agree(right)):
            return ends
        layout, key = numbers.layout, self.right.keys[0]
        tried = {abs(factor) for _, factor in self.left.terms}
        for template in layout.using.get(key, ()):
            tried.update(abs(factor) for _, factor in layout.templates[template].terms)
        low, high = ends
        for k in tried:
            least, most = numbers.bounds(self.left.plus(self.right, -k))
            low, high = max(low, k) if least >= 0 else low, min(high, k) if most <= 0 else high
        return low, high

    def _agree(self, one: Range) -> bool:
        """Return whether an operand is as the operation reads it, and not negative.

        What is kept as unsigned, and may be 2**(width-1) or more, a signed operation reads as
        negative; what is kept as signed and not negative, all operations read alike.
        """
        is_signed = self.operation in ("sdiv", "srem", "ashr")
        return one[0] >= 0 and not (is_signed and one[1] >> self.kind.width - 1)

    def _order(self, left: Range, right: Range) -> Iterable[Form]:
        """Yield forms of the result and the operands that are 0 or less.

        For 0 <= a: a / b, a % b, a >> b and a & b are at most a; for 0 < b, a % b < b. Half of a
        >= 1, rounded down, is less than a.
        """
        result = only(self.target)
        plain = self._agree(left), self._agree(right)
        if self.operation in ("udiv", "urem", "srem", "and", "lshr", "ashr") and all(plain):
            yield result.plus(self.left, -1)
        if self.operation == "sdiv" and all(plain):
            yield result.plus(self.left, -1)
        least = {"udiv": 2, "sdiv": 2, "lshr": 1, "ashr": 1}.get(self.operation)
        if least is not None and all(plain) and left[0] >= 1 and right[0] >= least:
            yield result.plus(self.left, -1).shifted(1)
        if self.operation in ("urem", "srem") and all(plain):
            yield result.plus(self.right, -1).shifted(1)
        if self.operation in ("sdiv", "udiv") and all(plain) and right[0] == right[1] > 0:
            # q = a / k: k*q <= a <= k*q + k - 1
            yield result.scaled(right[0]).plus(self.left, -1)
            yield self.left.plus(result.scaled(right[0]), -1).shifted(1 - right[0])


def _unsigned(operation: str, left: Range, right: Range, kind: Kind) -> Range | None:
    """Return the results of unsigned operands, if they are simple."""
    if operation == "udiv" and right[1] > 0:
        return left[0] // right[1], left[1] // max(right[0], 1)
    if operation == "urem" and right[1] > 0:
        if left[1] < right[0]:
            return left
        if right[0] == right[1] and left[0] // right[0] == left[1] // right[0]:
            return left[0] % right[0], left[1] % right[0]
        return 0, min(left[1], right[1] - 1)
    if operation == "lshr" and right[1] < kind.width:
        return left[0] >> right[1], left[1] >> right[0]
    if operation == "and":
        return 0, min(left[1], right[1])
    if operation == "mul" and left[1] * right[1] <= kind.high:
        return left[0] * right[0], left[1] * right[1]
    return None


def _interval(one: Range, kind: Kind) -> MachineInterval:
    return MachineInterval.of(kind.width, *one)


def _of_interval(one: MachineInterval, kind: Kind) -> Range:
    return one.unsigned() if kind.is_unsigned else (one.low, one.high)


@dataclass(frozen=True)
class Choose(Operation):
    """Set a variable to one of two forms; which one, a condition says."""

    target: Key
    condition: Condition
    left: Form
    right: Form

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        target: int = self.target
        one = assume(numbers.copy(), self.condition)
        other = assume(numbers, negation(self.condition))
        for made, form in ((one, self.left), (other, self.right)):
            if not made.is_empty:
                set_form(made, target, form)
        return other if one.is_empty else one if other.is_empty else one.join(other)


@dataclass(frozen=True)
class Guard(Operation):
    """Go on only where a condition holds."""

    condition: Condition

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        return assume(numbers, self.condition)


@dataclass(frozen=True)
class Check(Operation):
    """Ask whether a condition holds, and go on where it does, or everywhere if it is no `stop`."""

    check: int
    condition: Condition
    is_stop: bool = True

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        if observe is not None:
            observe(self.check, numbers, self.condition)
        return assume(numbers, self.condition) if self.is_stop else numbers


@dataclass(frozen=True)
class Havoc(Operation):
    """Let variables have any value: what others may have written to."""

    variables: tuple[Key, ...]

    def apply(self, numbers: Numbers, observe: Observe | None) -> Numbers:
        """Return what holds after the step."""
        for key in self.variables:
            forget(numbers, [key])
        return numbers
