"""Which kernels does a call launch, how often, and with how many threads?

The host's part of a plan is executed with a place that notes launches instead of executing them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kleene.codegen import runtime

_MAX_ON_HOST = 4  # loops in a call: with more, the call is the CPU's
_MAX_LAUNCHES = 300_000
_BARRIER_S = 1.8e-6  # of all blocks, between steps of a loop that is one launch
BLOCK_BARRIER_S = 0.3e-6  # the same if there is one block


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch that was noted."""

    name: str
    kind: str  # grid, tiles, rows or reduce
    counts: tuple[int, ...]
    args: tuple[Any, ...]


class Recorder(runtime.Run):
    """A place that notes launches instead of executing them."""

    def __init__(self) -> None:
        super().__init__(self._note, None)
        self.launches: list[Launch] = []
        self.most = _MAX_LAUNCHES
        self.n_on_host = self.n_fetched = 0
        self.whole: dict[str, tuple[float, int]] = {}  # loops that are one launch: the seconds
        # of a barrier, and the most threads that a step has work for

    def _note(self, *given: Any) -> None:
        raise AssertionError(given)

    def _add(self, name: str, kind: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        if all(count > 0 for count in counts):
            self.launches.append(Launch(name, kind, tuple(counts), tuple(args)))
        if len(self.launches) > self.most:
            raise OverflowError(f"more than {self.most} launches")

    def grid(self, name: str, counts: Sequence[int], args: Sequence[Any]) -> None:
        """Note a launch of a thread for each point."""
        self._add(name, "grid", counts, args)

    def tiles(self, name: str, counts: Any, depth: int, tile: Any, args: Any) -> None:
        """Note a launch by tiles, or by threads where there are too few rows, columns or terms."""
        is_tiled = min(*counts, depth) >= self.least_tiled
        self._add(name, "tiles" if is_tiled else "grid", counts, args)

    def rows(self, name: str, counts: Any, depth: int, args: Any) -> None:
        """Note a launch with a warp for each row, or by threads where sums are short."""
        self._add(name, "rows" if depth >= self.least_tiled else "grid", counts, args)

    def columns(self, name: str, counts: Any, depth: int, args: Any) -> None:
        """Note a launch with blocks for 32 columns, or by threads where sums are short."""
        self._add(name, "columns" if depth >= self.least_tiled else "grid", counts, args)

    def resident(self, name: str, points: int, args: Sequence[Any]) -> bool:
        """Note a loop that is one launch; its steps are counted as if they were launched."""
        if points <= self.most_resident:
            is_one = points <= runtime.ONE_RESIDENT
            self.whole[name] = (BLOCK_BARRIER_S if is_one else _BARRIER_S, points)
        return False

    def reduce(
        self,
        name: str,
        counts: Sequence[int],
        args: Sequence[Any],
        dtype: Any,
        is_located: bool = False,
    ) -> None:
        """Note a reduction."""
        self._add(name, "reduce", [max(one, 1) for one in counts], args)

    def scan(self, name: str, count: int, args: Sequence[Any], dtype: Any) -> None:
        """Note a scan."""
        self._add(name, "scan", (count,), args)

    def bins(self, name: str, counts: Sequence[int], array: Any, args: Sequence[Any]) -> None:
        """Note a histogram."""
        self._add(name, "bins", counts, args)

    def host(self, name: str, args: Sequence[Any], written: str) -> None:
        """Count what the host does between launches: each time, arrays are copied twice."""
        self.n_on_host += 1
        if self.n_on_host > _MAX_ON_HOST:
            raise OverflowError(f"more than {_MAX_ON_HOST} copies to the host and back")

    def scalar(self, value: Any, dtype: Any) -> Any:
        """Return nothing: no variable is there."""
        return None

    def empty(self, size: int, dtype: Any) -> Any:
        """Return nothing: no array is there."""
        return None

    def like(self, array: Any) -> Any:
        """Return nothing: no array is there."""
        return None

    def copy(self, to: Any, array: Any) -> None:
        """Copy nothing."""
        return None

    def fetch(self, scalar: Any) -> Any:
        """Return 0: what kernels compute is not known."""
        return 0

    def element(self, array: Any, index: int) -> Any:
        """Count the wait for the device; elements count as 0."""
        self.n_fetched += not self.whole
        return 0
