"""What dataflow analysis finds worth saying about a program."""

from __future__ import annotations

from kleene.results import Rule, Severity

DECIDED_CONDITION = Rule(
    "dataflow/decided-condition",
    Severity.NOTE,
    "A condition is always true, or always false.",
    "Whenever the branch is reached, its condition has the same value, whatever the program is"
    " given: by the bounds of the values it compares, followed through arguments, results and"
    " memory whose writes are all known. Conditions that are constants in the source, such as"
    " `while (1)`, are not reported, and neither is code that is never reached."
    "\n\nOften a test is made twice, or a flag is never set. With `--library` every visible"
    " function may be called with any arguments.",
)
