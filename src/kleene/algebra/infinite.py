"""No bound, among integers of any size."""

from __future__ import annotations

from typing import Self


class _Infinity:
    """Greater than every integer, and unmoved by sums and multiples."""

    def _same(self, _other: object = None) -> Self:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __floordiv__ = __neg__ = _same

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __reduce__(self) -> str:
        return "INFINITY"  # there is one only, in every process


INFINITY = _Infinity()
