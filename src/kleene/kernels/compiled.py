"""How loops are compiled: by Numba, once each, kept on disk.

A `Room` is some sources whose functions are compiled together. An *entry* is called by Python and
kept on disk, with the pieces it calls inside; a *piece* is called by compiled code alone, and made
ready when that is compiled: a process that finds its entries on disk pays for no piece. A
*borrower* is a piece that leaves it to its callers to hold arrays.

Two things differ from a plain `njit(cache=True)`, and `machine_code` has two more:

- Numba looks for changes in the file of an entry; here every source of the room counts.
- Numba compiles anew for each constant and width of integer that a function is called with; here a
  room says which types count (`wide`, `plain`, or a rule of its own).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from kleene.base import progress
from kleene.base.cache import key_of
from kleene.kernels import machine_code
from kleene.kernels.machine_code import (
    BorrowerCompiler,
    EntryCompiler,
    Kept,
    PieceCompiler,
    with_environments,
)

Function = TypeVar("Function", bound=Callable[..., Any])
Kinds = tuple[Any, ...]  # the types of arguments, as Numba has them
Rule = Callable[[Callable[..., Any], Kinds], Kinds]

_njit: Any = njit  # Numba publishes no types
_types: Any = types
_OWN = [Path(__file__), Path(machine_code.__file__)]


def wide(_function: Callable[..., Any], called_with: Kinds) -> Kinds:
    """Return the types with all signed integers 64 bits wide, and no constant special."""
    kinds = map(_types.unliteral, called_with)
    return tuple(types.int64 if _is_signed(kind) else kind for kind in kinds)


def plain(_function: Callable[..., Any], called_with: Kinds) -> Kinds:
    """Return the types with constants 64 bits wide: where the width of an integer has a meaning."""
    return tuple(
        types.int64 if isinstance(kind, _types.IntegerLiteral) else _types.unliteral(kind)
        for kind in called_with
    )


def _is_signed(kind: Any) -> bool:
    return isinstance(kind, _types.Integer) and kind.signed


class Room:
    """Sources whose functions are compiled together: files, and all of the folders."""

    def __init__(self, *sources: str | Path, rule: Rule = wide) -> None:
        self._sources = [Path(source) for source in sources]
        self.rule = rule

    @cached_property
    def stamp(self) -> str:
        """What the sources contain, as a digest."""
        return key_of(*(file.read_bytes() for file in self.files))

    @property
    def files(self) -> list[Path]:
        """The sources, file by file; how they are compiled is among them."""
        within = (source.rglob("*.py") if source.is_dir() else [source] for source in self._sources)
        return sorted([*_OWN, *(file for files in within for file in files)])

    def entry(self, function: Function) -> Function:
        """Return a function that Python calls, kept on disk and free of Python's lock."""
        return cast(Function, self._kept(function))

    def parallel_entry(self, function: Function) -> Function:
        """Return an entry whose `prange` runs on several threads."""
        return cast(Function, self._kept(function, parallel=True))

    def piece(self, function: Function) -> Function:
        """Return a function that only compiled code calls."""
        return cast(Function, Piece(function, self))

    def borrower(self, function: Function) -> Function:
        """Return a piece that makes no array and returns none, and calls none but borrowers.

        Numba counts who holds an array, by atomic instructions: in the landings of a points-to
        analysis more than half of the time. What is borrowed is held by the caller, uncounted.
        """
        return cast(Function, Piece(function, self, pipeline_class=BorrowerCompiler, _nrt=False))

    def _kept(self, function: Callable[..., Any], **options: Any) -> Any:
        made = self.compiled(function, nogil=True, pipeline_class=EntryCompiler, **options)
        with suppress(RuntimeError):  # nowhere to write: every process compiles
            made._cache = Kept(function, self.stamp)
        compile_ = made._compiler.compile

        def told(*kinds: Any) -> Any:
            with progress.task(f"compiling {function.__name__}, this once"):
                return with_environments(compile_(*kinds))

        made._compiler.compile = told
        return made

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return the function as Numba compiles it when it is first called."""
        made = _njit(no_cfunc_wrapper=True, **options)(function)
        made._compilation_chain_init_hook = lambda: None  # looks for plug-ins of Numba: none here
        compile_ = made.compile
        made.compile = lambda called_with: compile_(self.rule(function, called_with))
        made.room = self
        return made


class Piece:
    """A function that is given to Numba when compiled code first names it."""

    def __init__(self, function: Callable[..., Any], room: Room, **options: Any) -> None:
        update_wrapper(cast(Any, self), function)
        self.py_func, self.room = function, room
        self._options = {"no_cpython_wrapper": True, "pipeline_class": PieceCompiler} | options

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own object."""
        return self.room.compiled(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for where compiled code names it."""
        return self.dispatcher._numba_type_


def _apart(_context: Any) -> Any:
    def build(context: Any, builder: ir.IRBuilder, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), build


apart: Any = intrinsic(_apart)  # keeps the calling function out of its callers' code
