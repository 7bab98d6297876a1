"""What holds at every point of a C program, and which checks are safe? Abstract interpretation."""

from kleene.analyses.invariants.analysis import Invariants
from kleene.analyses.invariants.checks import CheckKind, CheckResult, Verdict
from kleene.analyses.invariants.result import InvariantsResult

__all__ = ["ANALYSIS", "CheckKind", "CheckResult", "Invariants", "InvariantsResult", "Verdict"]

ANALYSIS = Invariants
