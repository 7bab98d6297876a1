"""Problems made by rule and seed, for tests and benchmarks: any size, the same on every machine."""

from kleene.solvers.inclusion.generate.closures import random_cps, van_horn_mairson

__all__ = ["random_cps", "van_horn_mairson"]
