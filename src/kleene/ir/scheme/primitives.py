"""The primitives as a table: what each is called, how many arguments it takes, what it does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LibraryName = tuple[str, ...]
INTERNAL: LibraryName = ("kleene", "internal")


@dataclass(frozen=True, slots=True)
class PrimitiveRow:
    """One line of `primitives.txt`, whose head explains the effects."""

    name: str
    library: LibraryName
    n_least: int
    n_most: int | None  # None: any number
    effect: str

    def accepts(self, n_arguments: int) -> bool:
        """Return whether the primitive may be called with so many arguments."""
        enough = n_arguments >= self.n_least
        return enough and (self.n_most is None or n_arguments <= self.n_most)


@cache
def table() -> dict[str, PrimitiveRow]:
    """Return every primitive by its name."""
    rows: dict[str, PrimitiveRow] = {}
    library: LibraryName = ()
    text = files(__package__).joinpath("primitives.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("("):
            library = tuple(line[1:-1].split())
        elif line and not line.startswith(";"):
            name, arity, effect = line.split()
            least, _, most = arity.rstrip("+").partition("-")
            upper = None if arity.endswith("+") else int(most or least)
            rows[name] = PrimitiveRow(name, library, int(least), upper, effect)
    return rows
