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
ARGUMENT_TYPE = Rule(
    "cfa/argument-type",
    Severity.WARNING,
    "A primitive, or a procedure of a record type, is given an argument of a wrong type.",
    "Whenever this call is made, it is an error: none of the values that can come to this argument"
    " has a type that is taken there. What is taken out of data may be of any type, and is not"
    " reported. Tests count: in the branches of `(if (pair? x) …)` it is known what x is.",
)
MAY_ARGUMENT_TYPE = Rule(
    "cfa/may-argument-type",
    Severity.NOTE,
    "An argument of a primitive may be of a wrong type; it may be of a right one, too.",
    "Some of the values that may come to this argument have a type that the primitive does not"
    " take. They may never do so at once: sets cover all runs, and hold more than any one of them.",
)
NOT_A_PROCEDURE = Rule(
    "cfa/not-a-procedure",
    Severity.WARNING,
    "A call is made of something that is never a procedure.",
    "Nothing that can be called ever comes to the head of this form: whenever the call is made, it"
    " is an error. The message names the data that it may be, or its type where that is known.",
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
UNUSED_DEFINITION = Rule(
    "cfa/unused-definition",
    Severity.NOTE,
    "A definition is never used.",
    "Nothing reads the variable that `define` defines here. Procedures that nothing calls are"
    " reported as such. A name that begins with an underscore is meant to be unused; with --library"
    " all that the file defines may be used outside.",
)
MAY = (MAY_CALL_ARITY, MAY_ARGUMENT_TYPE)  # what may be no fault at all: reported if asked for
