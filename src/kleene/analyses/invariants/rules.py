"""What is said of checks that are not proved."""

from __future__ import annotations

from kleene.results import Rule, Severity

_HELP = (
    "The message says what was asked; the report also what is known there. A may is"
    " no proof of a fault: the domains may have lost what makes it safe.\n\n"
    "State what you know with `kleene_assume(...)` from `kleene.h`, or test it."
)
MAY_FAIL = Rule(
    "invariants/may-fail",
    Severity.WARNING,
    "A check is not proved: some run may fail here.",
    _HELP,
)
FAILS = Rule(
    "invariants/fails",
    Severity.ERROR,
    "Every run that comes here fails.",
    "No value of the variables that is possible here meets the check. Whether a run comes here at"
    " all is not proved.",
)
