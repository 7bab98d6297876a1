"""Why does a node hold an object? Flows of a solved problem, and the shortest chain of them."""

from kleene.solvers.inclusion.why.chain import chain
from kleene.solvers.inclusion.why.derivations import Derivations
from kleene.solvers.inclusion.why.flows import OUTSIDE, Flow, Flows, Rule

__all__ = ["OUTSIDE", "Derivations", "Flow", "Flows", "Rule", "chain"]
