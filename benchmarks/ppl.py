"""Octagons of the Parma Polyhedra Library through its C interface, as a rival and an oracle.

Debian: `apt-get install libppl-c4`. `problem()` says why it cannot be used where it is absent.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_long, c_size_t, c_void_p
from functools import cache
from typing import Any

from kleene.kernels import minplus

_AT_MOST = 1  # the constraint "expression <= 0"


class _Mpz(ctypes.Structure):
    _fields_ = [("alloc", c_int), ("size", c_int), ("limbs", c_void_p)]


@cache
def _libraries() -> tuple[Any, Any]:
    gmp, ppl = ctypes.CDLL("libgmp.so.10"), ctypes.CDLL("libppl_c.so.4")
    assert ppl.ppl_initialize() >= 0
    ppl.ppl_restore_pre_PPL_rounding()
    gmp.__gmpz_get_d.restype = ctypes.c_double
    return gmp, ppl


def problem() -> str | None:
    """Return why PPL cannot be used, or None if it can."""
    try:
        _libraries()
    except OSError as error:
        return f"PPL is not installed ({error})"
    return None


def _call(name: str, *arguments: Any) -> int:
    """Call PPL in the rounding that its doubles need: it must not be left to the process."""
    ppl = _libraries()[1]
    ppl.ppl_set_rounding_for_PPL()
    code = int(getattr(ppl, f"ppl_{name}")(*arguments))
    ppl.ppl_restore_pre_PPL_rounding()
    assert code >= 0, (name, code)
    return code


def _coefficient(value: int) -> c_void_p:
    gmp, _ = _libraries()
    integer, made = _Mpz(), c_void_p()
    gmp.__gmpz_init_set_si(byref(integer), c_long(value))
    _call("new_Coefficient_from_mpz_t", byref(made), byref(integer))
    gmp.__gmpz_clear(byref(integer))
    return made


def _expression(i: int, j: int, constant: int) -> c_void_p:
    """Return V'[j] - V'[i] - constant."""
    made = c_void_p()
    _call("new_Linear_Expression_with_dimension", byref(made), c_size_t(max(i, j) // 2 + 1))
    for end, sign in ((j, 1), (i, -1)):
        factor = _coefficient(sign if end % 2 == 0 else -sign)
        _call("Linear_Expression_add_to_coefficient", made, c_size_t(end // 2), factor)
        _call("delete_Coefficient", factor)
    shift = _coefficient(-constant)
    _call("Linear_Expression_add_to_inhomogeneous", made, shift)
    _call("delete_Coefficient", shift)
    return made


class Octagon:
    """An `Octagonal_Shape` of PPL, with bounds of the kind named: double, mpz_class, mpq_class."""

    def __init__(self, handle: c_void_p, kind: str) -> None:
        self.handle, self.kind = handle, f"Octagonal_Shape_{kind}"

    @classmethod
    def of(cls, m: Any, kind: str = "double") -> Octagon:
        """Return the octagon `m` of Kleene's, its bounds integers, not closed."""
        handle, n = c_void_p(), minplus.n_variables(len(m))
        make = f"new_Octagonal_Shape_{kind}_from_space_dimension"
        _call(make, byref(handle), c_size_t(n), c_int(0))
        made = cls(handle, kind)
        for i in range(2 * n):
            for j in range((i | 1) + 1):
                bound = m[minplus.cell(i, j)]
                if i != j and bound != minplus.infinity(m.dtype):
                    made.refine(i, j, int(bound))
        return made

    def __del__(self) -> None:
        _call(f"delete_{self.kind}", self.handle)

    def copy(self) -> Octagon:
        """Return another of the same."""
        handle = c_void_p()
        _call(f"new_{self.kind}_from_{self.kind}", byref(handle), self.handle)
        return Octagon(handle, self.kind.removeprefix("Octagonal_Shape_"))

    def refine(self, i: int, j: int, bound: int) -> None:
        """Add V'[j] - V'[i] <= bound."""
        expression, constraint = _expression(i, j, bound), c_void_p()
        _call("new_Constraint", byref(constraint), expression, c_int(_AT_MOST))
        _call(f"{self.kind}_refine_with_constraint", self.handle, constraint)
        _call("delete_Constraint", constraint)
        _call("delete_Linear_Expression", expression)

    def close(self) -> bool:
        """Return whether there is a point; PPL closes to know."""
        return _call(f"{self.kind}_is_empty", self.handle) == 0

    def bound(self, i: int, j: int) -> float:
        """Return the least upper bound of V'[j] - V'[i]."""
        top, bottom, is_reached = _coefficient(0), _coefficient(1), c_int()
        expression = _expression(i, j, 0)
        name = f"{self.kind}_maximize"
        found = _call(name, self.handle, expression, top, bottom, byref(is_reached))
        result = _value(top) / _value(bottom) if found else float("inf")
        for one in (top, bottom):
            _call("delete_Coefficient", one)
        _call("delete_Linear_Expression", expression)
        return result


def _value(coefficient: c_void_p) -> float:
    gmp, _ = _libraries()
    integer = _Mpz()
    gmp.__gmpz_init(byref(integer))
    _call("Coefficient_to_mpz_t", coefficient, byref(integer))
    value = float(gmp.__gmpz_get_d(byref(integer)))
    gmp.__gmpz_clear(byref(integer))
    return value
