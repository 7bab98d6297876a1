"""Which procedures may reach each call? Control-flow analysis of Scheme programs."""

from kleene.analyses.cfa.analysis import CFA
from kleene.analyses.cfa.result import CFAResult

__all__ = ["ANALYSIS", "CFA", "CFAResult"]

ANALYSIS = CFA
