"""Sets of bytes behind the start of an object, as integers.

Bit k is for byte k. A negative number has all bits from some place on, as in two's complement: it
is of objects that are written to their end.
"""

from __future__ import annotations

ALL = -1
MOST = 1 << 16  # bytes from here on are in a set together, or not at all


def read_mask(low: int, high: int) -> int:
    """Return the bytes from `low` on and before `high`: perhaps more, as must be written."""
    return (1 << high) - (1 << low) if high <= MOST else -1 << min(low, MOST)


def written_mask(low: int, high: int) -> int:
    """Return the bytes from `low` on and before `high`: perhaps fewer, as are written."""
    return (1 << min(high, MOST)) - (1 << low) if low < MOST else 0


def behind(mask: int, offset: int) -> int:
    """Return the mask of a pointer `offset` bytes behind an origin with a mask."""
    if mask == ALL:
        return ALL
    return mask >> offset if offset >= 0 else 0


def before(mask: int, offset: int) -> int:
    """Return the mask of an origin, of which a pointer `offset` bytes behind it has a mask."""
    return mask << offset if 0 <= offset <= MOST else 0


def packed(mask: int, width: int) -> int:
    """Return a mask in so many bits and one more, which is for all bytes from there on."""
    return mask & (2 << width) - 1 if mask >> width in (0, -1) else mask & (1 << width) - 1


def unpacked(field: int, width: int) -> int:
    """Return the mask that has been packed."""
    return field - (2 << width) if field >> width else field
