"""Quasi-affine functions of isl as expressions in the program's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kleene.base.expression import Expression, Symbol, of
from kleene.offload.kernels.dependences import Facts


def meanings_of(facts: Facts) -> dict[str, Expression]:
    """Return what the parameters of isl's formulas stand for: symbols, products, and counters."""
    found = {name: of(symbol) for name, symbol in facts.registry.items()}
    found |= {name: Expression({monomial: 1}) for monomial, name in facts.products.items()}
    return found | {f"o{loop.number}": of(loop.counter) for loop in facts.table.loops}


def variables_of(facts: Facts) -> dict[Symbol, Expression]:
    """Return the counters of loops that count up by 1 as differences of their variables."""
    return {
        loop.counter: of(loop.variable) - loop.start
        for loop in facts.table.loops
        if loop.step == 1 and loop.start is not None and loop.variable
    }


def expression_of(meanings: Mapping[str, Expression], value: Any) -> Expression:
    """Return an isl function of parameters as an expression, rounded down as isl's is."""
    import islpy as isl

    total = of(0)
    scale = value.get_denominator_val().to_python()
    for position in range(value.dim(isl.dim_type.param)):
        factor = value.get_coefficient_val(isl.dim_type.param, position)
        name = value.get_dim_name(isl.dim_type.param, position)
        if not factor.is_zero():
            total += meanings[name] * _scaled(factor, scale)
    for position in range(value.dim(isl.dim_type.div)):
        factor = value.get_coefficient_val(isl.dim_type.div, position)
        if not factor.is_zero():
            inside = expression_of(meanings, value.get_div(position))
            total += inside * _scaled(factor, scale)
    total += _scaled(value.get_constant_val(), scale)
    return total // int(scale)


def _scaled(value: Any, scale: int) -> int:
    """Return a rational number of isl times the common denominator."""
    return int(value.get_num_si()) * scale // int(value.get_den_val().to_python())
