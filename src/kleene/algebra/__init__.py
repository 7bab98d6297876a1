"""Sets of numeric states as values: `Interval`, `Zone` and `Octagon` behind one protocol."""

from kleene.algebra.builder import Builder
from kleene.algebra.float_interval import FloatFormat, FloatInterval
from kleene.algebra.lattice import Lattice, Widening
from kleene.algebra.linear import (
    Constraint,
    Linear,
    Variable,
    constraints,
    expression,
    variable,
    variables,
)
from kleene.algebra.machine_interval import MachineInterval
from kleene.algebra.octagon import Interval, NumericDomain, Octagon, Zone
from kleene.algebra.state import Bounds, Exactness, Precision

__all__ = [
    "Bounds", "Builder", "Constraint", "Exactness", "FloatFormat", "FloatInterval", "Interval",
    "Lattice", "Linear", "MachineInterval", "NumericDomain", "Octagon", "Precision", "Variable",
    "Widening", "Zone", "constraints", "expression", "variable", "variables",
]  # fmt: skip
