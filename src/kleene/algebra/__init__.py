"""Sets of numeric states as values: `Interval`, `Zone` and `Octagon` behind one protocol."""

from kleene.algebra.ask import Bounds
from kleene.algebra.domains import Interval, Octagon, Zone
from kleene.algebra.edit import Editor
from kleene.algebra.lattice import Lattice, Widening
from kleene.algebra.linear import Constraint, Linear, variables
from kleene.algebra.machine_integers import MachineInterval
from kleene.algebra.parse import constraints, expression
from kleene.algebra.shape import Shape
from kleene.algebra.state import Exactness, Precision

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
