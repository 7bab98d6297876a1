"""Which objects may each pointer hold? Andersen's analysis of a whole program."""

from kleene.analyses.points_to.analysis import PointsTo
from kleene.analyses.points_to.result import PointsToResult

__all__ = ["ANALYSIS", "PointsTo", "PointsToResult"]

ANALYSIS = PointsTo
