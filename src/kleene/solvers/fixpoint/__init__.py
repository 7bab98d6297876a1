"""Fixed points of monotone equations over lattices: abstract interpretation without a language.

`solve` takes `Equations` and iterates them over a weak topological order with widening and
narrowing. `Forward` makes the equations of one control-flow graph, `Procedures` those of many that
call each other. Values follow the protocols `Lattice` and `Widening` of `kleene.algebra`.
"""

from kleene.solvers.fixpoint.engine import Solution, Strategy, solve, unstable
from kleene.solvers.fixpoint.equations import Equations, Flow, Forward
from kleene.solvers.fixpoint.procedures import CallSite, Effects, Procedure, Procedures

__all__ = [
    "CallSite",
    "Effects",
    "Equations",
    "Flow",
    "Forward",
    "Procedure",
    "Procedures",
    "Solution",
    "Strategy",
    "solve",
    "unstable",
]
