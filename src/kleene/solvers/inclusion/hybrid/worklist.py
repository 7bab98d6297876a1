"""One list of rules with two ends."""

from __future__ import annotations

from dataclasses import dataclass, field

KINDS = ("copy", "push", "pull", "offset")
ORDER = (3, 2, 1, 0)  # offset, pull, push, copy: from even work per rule to uneven
DEVICE_TAKES = 8192
HOST_TAKES = 128


@dataclass(frozen=True, slots=True)
class Part:
    """Active rules first..end of one kind, and who fires them."""

    kind: int
    first: int
    end: int
    for_device: bool


@dataclass(slots=True)
class Worklist:
    """The active rules of a round, by kind; each is handed out once, from one end or the other."""

    counts: list[int]
    _low: list[int] = field(init=False)
    _high: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._low, self._high = [0] * len(self.counts), list(self.counts)

    def low(self) -> Part | None:
        """Return the next rules at the even end, for the device; None if none are left."""
        for kind in ORDER:
            first, end = self._low[kind], self._high[kind]
            if first < end:
                self._low[kind] = min(first + DEVICE_TAKES, end)
                return Part(kind, first, self._low[kind], True)
        return None

    def high(self) -> Part | None:
        """Return the next rules at the uneven end, for the host; None if none are left."""
        for kind in reversed(ORDER):
            first, end = self._low[kind], self._high[kind]
            if first < end:
                self._high[kind] = max(end - HOST_TAKES, first)
                return Part(kind, self._high[kind], end, False)
        return None

    def share_of_device(self, kind: int) -> float:
        """Return which share of a kind's rules went to the device."""
        return self._low[kind] / max(1, self.counts[kind])
