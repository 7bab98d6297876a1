"""What every analysis answers with: findings by rules, tables, and the protocol of results.

Nothing here knows a language, a program or an analysis; `kleene.reports` writes it down.
"""

from kleene.results.call_graph import CallEdge, CallGraph, CallKind, CallSite
from kleene.results.explanation import Explanation, Step
from kleene.results.finding import Finding, Location, findings_json, fingerprints
from kleene.results.naming import Naming
from kleene.results.result import Result
from kleene.results.rules import Rule, Severity, discovered, rules_in
from kleene.results.suppressions import apply_suppressions
from kleene.results.table import Coded, Table

__all__ = [
    "CallEdge",
    "CallGraph",
    "CallKind",
    "CallSite",
    "Coded",
    "Explanation",
    "Finding",
    "Location",
    "Naming",
    "Result",
    "Rule",
    "Severity",
    "Step",
    "Table",
    "apply_suppressions",
    "discovered",
    "findings_json",
    "fingerprints",
    "rules_in",
]
