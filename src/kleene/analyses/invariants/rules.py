"""What is said of checks that are not proved."""

from __future__ import annotations

from kleene.results import Rule, Severity

_HELP = (
    "The message says what was checked; the report adds what is known there. That a check may fail"
    " is no proof of a fault: the domains may have lost what makes it safe.\n\n"
    "State what you know with `kleene_assume(...)` from `kleene.h`, or test it."
)
MAY_FAIL = Rule(
    "invariants/may-fail",
    Severity.WARNING,
    "A check is not proved: some run may fail here.",
    _HELP,
)
UNKNOWN = Rule(
    "invariants/unknown-pointer",
    Severity.NOTE,
    "A check is not proved: nothing is known of the pointer that comes from outside.",
    "The pointer is a parameter, or was read from memory that others write, so it may be null or"
    " lead anywhere. That is no sign of a fault.\n\n"
    "State what callers guarantee with `kleene_assume(...)` from `kleene.h`, or analyse the program"
    " with its callers.",
)
FAILS = Rule(
    "invariants/fails",
    Severity.ERROR,
    "Every run that comes here fails.",
    "No value of the variables that is possible here meets the check. Whether a run comes here at"
    " all is not proved.",
)
