"""Quasi-affine functions of isl as expressions in the program's words."""

from __future__ import annotations

from typing import Any

from kleene.base.expression import Expression, of
from kleene.offload.kernels.dependences import Facts


def expression_of(facts: Facts, value: Any) -> Expression | None:
    """Return an isl function of parameters as an expression; None if one of them has no name.

    Counters of loops around are written with the variable, if it counts up by 1.
    """
    import islpy as isl

    meaning: dict[str, Expression] = {name: of(symbol) for name, symbol in facts.registry.items()}
    for loop in facts.table.loops:
        if loop.step == 1 and loop.start is not None and loop.variable:
            meaning[f"o{loop.number}"] = of(loop.variable) - loop.start
    total = of(0)
    scale = value.get_denominator_val().to_python()
    for position in range(value.dim(isl.dim_type.param)):
        factor = value.get_coefficient_val(isl.dim_type.param, position)
        name = value.get_dim_name(isl.dim_type.param, position)
        if factor.is_zero():
            continue
        if name not in meaning:
            return None
        total += meaning[name] * _scaled(factor, scale)
    for position in range(value.dim(isl.dim_type.div)):
        factor = value.get_coefficient_val(isl.dim_type.div, position)
        if factor.is_zero():
            continue
        inside = expression_of(facts, value.get_div(position))
        if inside is None:
            return None
        total += inside * _scaled(factor, scale)
    total += _scaled(value.get_constant_val(), scale)
    return total // int(scale)


def _scaled(value: Any, scale: int) -> int:
    """Return a rational number of isl times the common denominator."""
    return int(value.get_num_si()) * scale // int(value.get_den_val().to_python())
