"""What is known of values that a function gets from outside: arguments, what it reads, results.

Where a function is analysed by itself, nothing is known of them but that pointers point into their
objects, or to their ends. What was found for the whole program tells more (`whole/second_look.py`).
"""

from __future__ import annotations

from kleene.analyses.invariants.flat import Base


class Outside:
    """What is known of values from outside of a function, where nothing else was analysed.

    Attributes:
        least_room: how many bytes there are at least from a pointer to the end of its object;
            negative if it may point behind that.
    """

    least_room = 0

    def bytes_before(self, pointer: Base, row: int) -> int | None:
        """Return how many bytes of its object are at least in front of where a pointer points.

        A negative number if the pointer may point in front of its object; None if nothing is known.

        Args:
            pointer: the value of a pointer whose object is not known.
            row: the instruction in front of which it is asked.
        """
        return 0

    def bytes_behind(self, pointer: Base, row: int) -> int:
        """Return how many bytes of its object are at least from where a pointer points on."""
        return 0
