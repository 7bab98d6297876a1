"""What points-to analysis finds wrong with the calls of a program."""

from __future__ import annotations

from kleene.results import Rule, Severity

NULL_CALL = Rule(
    "points-to/null-call",
    Severity.WARNING,
    "A call goes through a pointer that is never set.",
    "No address ever reaches the pointer, on any path: whenever this call is made, it goes through"
    " null, an uninitialised pointer, or a number that was made a pointer."
    " A call of which only some runs go through null is not reported, and neither is one behind a"
    " test of the same pointer (points-to/dead-call) or in a function that is never called."
    "\n\nSet the pointer before the call, or test it.",
)
DEAD_CALL = Rule(
    "points-to/dead-call",
    Severity.NOTE,
    "A call behind a test for null is never made.",
    "The pointer is tested before the call, and nothing in the program ever sets it: the call and"
    " all that only it leads to are dead code, unless code outside the analysis sets the pointer.",
)
NO_TARGET = Rule(
    "points-to/no-target",
    Severity.WARNING,
    "A call goes through a pointer that never holds a function.",
    "The pointer holds addresses of data only, on all paths: whenever this call is made, it jumps"
    " into data, or goes through null. The message names what it holds."
    "\n\nA cast or a union may have put the wrong pointer there: ask with --explain.",
)
CALL_ARITY = Rule(
    "points-to/call-arity",
    Severity.WARNING,
    "A call passes another number of arguments than what it calls takes.",
    "C leaves such a call undefined: what is not passed is read from wherever it would be. A call"
    " through a pointer is reported only if none of the functions that the pointer may hold takes"
    " so many; where some do, the others may never be called here."
    "\n\nOften two files declare the function differently: include one header in both.",
)
CALL_TYPE = Rule(
    "points-to/call-type",
    Severity.WARNING,
    "A call passes or takes back values of other types than what it calls.",
    "Arguments and results travel in registers by their types: an integer passed for a pointer is"
    " cut or extended, a float for an integer is read from elsewhere. A call through a pointer is"
    " reported only if no function that the pointer may hold fits. Pointers of different types are"
    " one type here, and structs passed by value are not compared."
    "\n\nOften a cast of the function pointer, or two declarations that differ, hide the difference"
    " from the compiler.",
)
UNREACHABLE_FUNCTION = Rule(
    "points-to/unreachable-function",
    Severity.NOTE,
    "A function is never called.",
    "No chain of calls leads to it from main, constructors or code outside the program, calls"
    " through pointers and callbacks included. Functions in headers, and those that others may"
    " replace (inline and weak ones), are not reported. In a library every visible function counts"
    " as called.",
)
