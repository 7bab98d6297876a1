"""The small integers of octagon flow problems."""

from __future__ import annotations

# Operations. A literal 2*v is the variable v, 2*v + 1 is -v. `first`, `second` are variables or
# literals, `low` and `high` numbers.
SET = 0  # variable `first` gets any value from `low` to `high`
ASSIGN = 1  # variable `first` gets literal `second` plus any value from `low` to `high`
ASSUME = 2  # literal `first` plus literal `second`, if that is not -1, is at most `high`
CHECK = 3  # check `low`: literal `first` plus literal `second`, if not -1, is at most `high`
FAIL = 4  # check `low` does not hold: control comes here
EXCLUDE = 5  # literal `first` plus literal `second`, if that is not -1, is not `high`

# A bound from INFINITE on says nothing. Others are from -LARGEST to LARGEST: sums of two are exact,
# and so are those of a closure of an empty octagon, which at most doubles 2 * MOST_VARIABLES times.
INFINITE = 1 << 60
LARGEST = 1 << 44
WIDEST = 1 << 40  # larger ends of ranges are left out
MOST_VARIABLES = 6

# Whether control comes to a node: not at all, to its end too, or not to its end.
LEAVES, ENDS = 1, 2
