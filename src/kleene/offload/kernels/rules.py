"""What is said of loops: notes, because a loop that is not parallel is no fault."""

from __future__ import annotations

from kleene.results import Rule, Severity

PARALLEL = Rule(
    "kernels/parallel",
    Severity.NOTE,
    "A loop may run in parallel.",
    "Its iterations may run in any order, under what the message lists: private copies, a snapshot,"
    " a reduction, pointers that must not overlap.\n\n"
    "`kleene kernels --emit openmp` writes the directives as a patch.",
)
SEQUENTIAL = Rule(
    "kernels/sequential",
    Severity.NOTE,
    "A value flows from one iteration of a loop to a later one.",
    "The two iterations and the element are a witness: they were put into the loop's guards and"
    " subscripts and checked. The loop must run in order as it is written.",
)
NOT_PROVED = Rule(
    "kernels/not-proved",
    Severity.NOTE,
    "A loop is neither proved to be parallel nor to be sequential.",
    "The message names what stands in the way, by a reason code that"
    " [the reference](kernels.md) explains. An assumption (`--assume 'n > 0'`, `--no-alias`) may"
    " help, or another way to write the subscript.",
)
