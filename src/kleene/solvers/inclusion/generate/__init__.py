"""Problems made by rule and seed, for tests and benchmarks: any size, the same on every machine."""

from kleene.solvers.inclusion.generate.closures import random_cps, van_horn_mairson
from kleene.solvers.inclusion.generate.points_to import TABLE_IV, points_to_like

__all__ = ["TABLE_IV", "points_to_like", "random_cps", "van_horn_mairson"]
