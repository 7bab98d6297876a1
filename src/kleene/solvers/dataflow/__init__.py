"""Sparse dataflow: facts that belong to names, and follow from those of other names.

A *name* has one constraint: an operator, operands (names) and a number. `ConstraintBuilder`
collects constraints, many at a time; `solve` returns the fact of every name. There are three kinds:

- **Values** (`Constraints`, `solve`): bounds, signed and unsigned, known bits and definedness of
  integers and addresses of up to 64 bits, all in one row. Whether control reaches a block is such a
  fact too: blocks and edges are names of one bit that have a value where control comes, so that a
  `PHI` only joins what comes along edges that are taken.
- **Sets of bits** (`BitConstraints`, `solve_bits`): gen and kill, union or intersection.
- **Any lattice** (`solve_lattice`): a function in Python.

All three go component by component of the graph of operands, and depend on nothing but the table.
"""

from kleene.solvers.dataflow.codes import STRIDE, SWAPPED, Flag, Operator, Predicate
from kleene.solvers.dataflow.constraints import ConstraintBuilder, Constraints, Schedule
from kleene.solvers.dataflow.engine import BitConstraints, solve, solve_bits, solve_lattice
from kleene.solvers.dataflow.values import ValueFact, ValueFacts, packed

__all__ = [
    "STRIDE", "SWAPPED", "BitConstraints", "ConstraintBuilder", "Constraints", "Flag", "Operator",
    "Predicate", "Schedule", "ValueFact", "ValueFacts", "packed", "solve", "solve_bits",
    "solve_lattice",
]  # fmt: skip
