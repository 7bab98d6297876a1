"""The operations of PPL's octagons by the names of variables: oracle and rival of `algebra`."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_int, c_size_t, c_void_p
from typing import Any

from benchmarks import ppl
from kleene import Octagon
from kleene.algebra import Linear


class Rival:
    """An octagon of PPL over the variables of one of ours, by their order."""

    def __init__(self, inner: ppl.Octagon, names: tuple[str, ...]) -> None:
        self.inner, self.names = inner, names
        self.at = {name: k for k, name in enumerate(names)}

    @classmethod
    def of(cls, value: Octagon, kind: str) -> Rival:
        """Return the same points."""
        names = tuple(value.variables)
        handle = c_void_p()
        make = f"new_Octagonal_Shape_{kind}_from_space_dimension"
        ppl._call(make, byref(handle), c_size_t(len(names)), c_int(int(value.is_bottom())))
        made = cls(ppl.Octagon(handle, kind), names)
        if not value.is_bottom():
            for constraint in value.constraints(minimal=False):
                made.guard(constraint.linear * constraint.linear.low.denominator)
        return made

    def call(self, name: str, *arguments: Any) -> int:
        """Call an operation of PPL on this octagon."""
        return ppl._call(f"{self.inner.kind}_{name}", self.inner.handle, *arguments)

    def copy(self) -> Rival:
        """Return another of the same."""
        return Rival(self.inner.copy(), self.names)

    def close(self) -> bool:
        """Return whether there is a point."""
        return self.inner.close()

    def join(self, other: Rival) -> None:
        """Become the least octagon around both."""
        self.call("upper_bound_assign", other.inner.handle)

    def meet(self, other: Rival) -> None:
        """Keep the points of the other."""
        self.call("intersection_assign", other.inner.handle)

    def forget(self, name: str) -> None:
        """Drop what is known of a variable."""
        self.call("unconstrain_space_dimension", c_size_t(self.at[name]))

    def assign(self, target: str, value: Linear) -> None:
        """Assign a linear expression with whole coefficients and one constant."""
        self._image("affine_image", target, value)

    def substitute(self, target: str, value: Linear) -> None:
        """Become the points from which the assignment leads here."""
        self._image("affine_preimage", target, value)

    def _image(self, name: str, target: str, value: Linear) -> None:
        expression, one = self.expression(value), ppl._coefficient(1)
        self.call(name, c_size_t(self.at[target]), expression, one)
        ppl._call("delete_Coefficient", one)
        ppl._call("delete_Linear_Expression", expression)

    def prepared_image(self, target: str, value: Linear) -> Callable[[Rival], None]:
        """Return the assignment as a call on any octagon of these variables, ready to be timed."""
        at, expression, one = self.at[target], self.expression(value), ppl._coefficient(1)
        return lambda rival: rival.call("affine_image", c_size_t(at), expression, one) and None

    def prepared_guard(self, value: Linear) -> Callable[[Rival], None]:
        """Return the guard as a call on any octagon of these variables, ready to be timed."""
        expression, constraint = self.expression(value), c_void_p()
        ppl._call("new_Constraint", byref(constraint), expression, c_int(ppl._AT_MOST))
        return lambda rival: rival.call("refine_with_constraint", constraint) and None

    def expression(self, value: Linear) -> c_void_p:
        """Return a linear expression of PPL."""
        made = c_void_p()
        ppl._call("new_Linear_Expression_with_dimension", byref(made), c_size_t(len(self.names)))
        for name, factor in value.terms:
            whole = ppl._coefficient(int(factor))
            at = c_size_t(self.at[name])
            ppl._call("Linear_Expression_add_to_coefficient", made, at, whole)
            ppl._call("delete_Coefficient", whole)
        constant = ppl._coefficient(int(value.low))
        ppl._call("Linear_Expression_add_to_inhomogeneous", made, constant)
        ppl._call("delete_Coefficient", constant)
        return made

    def guard(self, value: Linear) -> None:
        """Keep the points where the expression is at most 0."""
        expression, constraint = self.expression(value), c_void_p()
        ppl._call("new_Constraint", byref(constraint), expression, c_int(ppl._AT_MOST))
        self.call("refine_with_constraint", constraint)
        ppl._call("delete_Constraint", constraint)
        ppl._call("delete_Linear_Expression", expression)

    def widen(self, smaller: Rival, name: str = "CC76_extrapolation_assign") -> None:
        """Widen from `smaller`, which is inside of this, to this."""
        self.call(name, smaller.inner.handle)

    def narrow(self, larger: Rival) -> None:
        """Become the narrowing of `larger` by this."""
        other = larger.copy()
        other.call("CC76_narrowing_assign", self.inner.handle)
        self.inner = other.inner

    def includes(self, other: Rival) -> bool:
        """Return whether every point of the other is in this."""
        kind = self.inner.kind
        return self.call(f"contains_{kind}", other.inner.handle) > 0

    def matrix(self) -> list[list[float]]:
        """Return the closed matrix, as `Octagon.to_matrix` does, with floats."""
        ends = range(2 * len(self.names))
        return [[self.inner.bound(i, j) if i != j else 0.0 for j in ends] for i in ends]
