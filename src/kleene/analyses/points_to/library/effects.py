"""What a library function does to pointers, as a small language.

A *term* names pointers; an *effect* says where they go. The words, as a model file writes them:

| term | the pointers it stands for |
|---|---|
| `0`, `1`, … | that argument |
| `heap[0*1]` | new storage for each call, of that many bytes: a product of arguments, or left out |
| `exception[0]` | the same, for an exception |
| `static` | storage that the function keeps for itself |
| `variadic` | the arguments beyond the named ones, of the function that calls |
| `@name` | what all functions share under that name |
| `unknown` | anything the outside has |
| `_` | none |
| `t..` | anywhere in what t points to; `t..2`: in steps of so many bytes as argument 2 says |
| `*t` | what is in memory at t |

Effects: `returns t`; `*t <- t` (a store); `@name <- t`; `copy t <- t [2]` (memory, so many bytes);
`calls t(t, …)`, with `-> @name` for its result; `escapes t`; `nothing`; of a variable, `holds t`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the call, counted from 0."""

    place: int


@dataclass(frozen=True, slots=True)
class Heap:
    """New storage for each call; its size is the product of these arguments, if any."""

    factors: tuple[int, ...] = ()
    is_exception: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """`static`, `variadic`, `unknown`, `_`, or a name that starts with `@`."""

    name: str


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Anywhere in what the term points to, in steps of an argument's number of bytes if given."""

    term: Term
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in memory at the term."""

    term: Term


Term = Argument | Heap | Named | Anywhere | Contents


@dataclass(frozen=True, slots=True)
class Returns:
    """The call's result includes the term."""

    term: Term


@dataclass(frozen=True, slots=True)
class Holds:
    """A declared variable contains the term."""

    term: Term


@dataclass(frozen=True, slots=True)
class Stores:
    """Memory at `pointer` receives the term."""

    pointer: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Shares:
    """The shared name receives the term."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Copies:
    """Memory at `to` receives the memory at `source`, as many bytes as argument `size` says."""

    to: Term
    source: Term
    size: int | None


@dataclass(frozen=True, slots=True)
class Calls:
    """What `callee` points to is called, its result goes to the shared name."""

    callee: Term
    arguments: tuple[Term, ...]
    result: str | None


@dataclass(frozen=True, slots=True)
class Escapes:
    """The outside learns the term."""

    term: Term


Effect = Returns | Holds | Stores | Shares | Copies | Calls | Escapes
Model = tuple[Effect, ...]


def heap_of(model: Model) -> Heap | None:
    """Return the new storage that a function returns, if it does."""
    found = (e.term for e in model if isinstance(e, Returns) and isinstance(e.term, Heap))
    return next(found, None)
