"""What control-flow analysis finds wrong with a Scheme program, or cannot know about it."""

from __future__ import annotations

from kleene.results import Rule, Severity

CALL_ARITY = Rule(
    "cfa/call-arity",
    Severity.WARNING,
    "A call passes a number of arguments that nothing it may call takes.",
    "Whenever this call is made, it is an error: no procedure, primitive or continuation that may"
    " be called here takes so many arguments. A clause of case-lambda that does not fit is no"
    " fault.",
)
MAY_CALL_ARITY = Rule(
    "cfa/may-call-arity",
    Severity.NOTE,
    "A procedure that may be called does not take so many arguments; others do.",
    "One of the procedures that may be called here takes another number of arguments. It may never"
    " come to be called with these: sets cover all runs, and hold more than any one of them."
    " Contexts (--m) tell more of them apart.",
)
NOT_A_PROCEDURE = Rule(
    "cfa/not-a-procedure",
    Severity.WARNING,
    "A call is made of something that is never a procedure.",
    "Nothing that can be called ever comes to the head of this form: whenever the call is made, it"
    " is an error, unless the head never gets a value at all. The message names the data that it"
    " may be; numbers, strings and the like are not followed, and go without a name.",
)
UNBOUND = Rule(
    "cfa/unbound",
    Severity.WARNING,
    "A variable is used that nothing defines.",
    "Whenever this code runs, it is an error. Definitions in text that is evaluated do not count.",
)
EVALUATES = Rule(
    "cfa/evaluates",
    Severity.NOTE,
    "Text is evaluated: it may do anything with what it sees.",
    "eval or load runs text that the analysis does not see. Answers cover it: it may call and"
    " change all that it is given and, unless it sees libraries only, all that global variables"
    " lead to.",
)
UNREACHABLE_PROCEDURE = Rule(
    "cfa/unreachable-procedure",
    Severity.NOTE,
    "A procedure is never called.",
    "No call that may run can reach it, calls through variables and data included.",
)
