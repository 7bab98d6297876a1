"""What a kernel's wrapper sees of a place to run on: arrays, and modules that launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Dim = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A `.cu` file and the macros it is compiled with."""

    path: Path
    defines: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def of(path: Path, **defines: object) -> Source:
        """Return the source at `path` with `-DNAME=value` for each define."""
        return Source(path, tuple(sorted((name, str(value)) for name, value in defines.items())))

    def text(self) -> str:
        """Return the file's text."""
        return self.path.read_text(encoding="utf-8")

    def options(self) -> list[str]:
        """Return the compiler options every CUDA compiler takes for it."""
        return ["-std=c++17", *(f"-D{name}={value}" for name, value in self.defines)]

    def headers(self) -> list[Path]:
        """Return the headers it may include: the `.cuh` files beside it."""
        return sorted(self.path.parent.glob("*.cuh"))


class Module(Protocol):
    """A compiled `.cu` file."""

    def launch(
        self, name: str, grid: Dim, block: Dim, args: Sequence[Any], *, shared_bytes: int = 0
    ) -> None:
        """Run kernel `name`; arguments are arrays of the backend and NumPy scalars."""
        ...


class Backend(Protocol):
    """A place where `.cu` files run: a GPU, or the host runner; hashable, for caches."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """Return what it is, in words."""
        ...

    @property
    def xp(self) -> Any:
        """Return the array module whose arrays it takes: CuPy or NumPy."""
        ...

    def load(self, source: Source) -> Module:
        """Return the source compiled."""
        ...

    def to_host(self, array: Any, out: Any) -> None:
        """Copy an array of the backend into a NumPy array, unless they are the same."""
        ...
