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
NULL_DEREFERENCE = Rule(
    "dataflow/null-dereference",
    Severity.WARNING,
    "A pointer that may be null is dereferenced.",
    "A null pointer that the program makes, or that a function of the library may return, reaches"
    " an access without a test between: through variables, arguments, results, fields and"
    " globals. So does one that is read where nothing but null is ever stored. Pointers of which"
    " nothing is known are not reported, and neither are those that only start as null before"
    " anything is stored."
    "\n\nTest the pointer, or make sure that it is set on all paths.",
)
POSSIBLE_NULL = Rule(
    "dataflow/possible-null",
    Severity.NOTE,
    "A pointer that is null at other times is dereferenced.",
    "A null pointer is stored where several functions write, in a global, a field or an element,"
    " and an access reads the pointer from there without a test; or a function of the program"
    " returns it, whose results most callers do not test; or it is passed or returned by a call"
    " through a pointer that may reach several functions. Or something else is asked between where"
    " null comes in, from a branch or a caller, and the access; or a copy may be of no bytes. In"
    " which order functions run, and which arguments, results, functions or conditions go together,"
    " is not looked at: the pointer may be known not to be null for other reasons."
    "\n\nTest the pointer, or do not store or return null there.",
)
DIVISION_BY_ZERO = Rule(
    "dataflow/division-by-zero",
    Severity.WARNING,
    "A number that may be 0 divides.",
    "A 0 that the program makes, or a number from outside that was not tested, reaches a division"
    " or remainder of integers; or a test or a constant step leaves 0 at the end of the divisor's"
    " range, as `n >= 0` does.\n\nTest the divisor before.",
)
UNINITIALISED = Rule(
    "dataflow/uninitialised",
    Severity.WARNING,
    "A variable is used before it has a value.",
    "On some path from its declaration to the use nothing is assigned. A variable whose address is"
    " passed to a function counts as assigned there; so does an array of which one element is.",
)
TAINTED_USE = Rule(
    "dataflow/tainted-use",
    Severity.WARNING,
    "Data from outside is used where it must not be.",
    "What comes from the environment, the command line, files or the network reaches a command, a"
    " format, a library's name, or the size of a copy or allocation that no test bounds. The models"
    " say which functions bring such data in, pass it on, clean it, and must not get it: `taints`,"
    " `passes`, `cleans` and `trusts`.\n\nTest it, or pass it through a function that a model says"
    " `cleans`.",
)
DEAD_CODE = Rule(
    "dataflow/dead-code",
    Severity.NOTE,
    "Code is never reached.",
    "No run comes here: the conditions before it never hold, whatever the program is given."
    "\n\nWith `--library` every visible function may be called with any arguments.",
)
DEAD_STORE = Rule(
    "dataflow/dead-store",
    Severity.NOTE,
    "A value is stored and never read.",
    "Nothing reads what a variable gets here before it gets another value, or before its function"
    " ends. Of variables in memory, only local ones are looked at that code outside cannot reach;"
    " initialisers with a constant are left out. Compilers remove such stores, even those that"
    " clear a secret.\n\nUse the value, or do not compute it.",
)
OVERFLOWING_SIZE = Rule(
    "dataflow/overflowing-size",
    Severity.WARNING,
    "The size of an allocation may overflow.",
    "A number from outside is multiplied, added to or shifted on its way to the size of an"
    " allocation, on the heap or the stack, and the bounds that are known of it allow a result of"
    " more bits than the computation has, or than what it is stored in: less is allocated than was"
    " meant, and what is written there goes beyond."
    "\n\nTest the number first, or use `calloc`, or `reallocarray`, which test it.",
)
