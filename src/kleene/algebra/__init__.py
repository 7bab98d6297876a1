"""Sets of numeric states as values: `Interval`, `Zone` and `Octagon` behind one protocol."""

from kleene.algebra.builder import Editor
from kleene.algebra.lattice import Lattice, Widening
from kleene.algebra.linear import Constraint, Linear, constraints, expression, variables
from kleene.algebra.machine_integers import MachineInterval
from kleene.algebra.octagon import Interval, Octagon, Shape, Zone
from kleene.algebra.state import Bounds, Exactness, Precision

__all__ = [
    "Bounds",
    "Constraint",
    "Editor",
    "Exactness",
    "Interval",
    "Lattice",
    "Linear",
    "MachineInterval",
    "Octagon",
    "Precision",
    "Shape",
    "Widening",
    "Zone",
    "constraints",
    "expression",
    "variables",
]
