"""Which numbers may each value be, and what follows from that? Sparse dataflow analysis."""

from kleene.analyses.dataflow.analysis import Dataflow
from kleene.analyses.dataflow.result import DataflowResult

__all__ = ["ANALYSIS", "Dataflow", "DataflowResult"]

ANALYSIS = Dataflow
