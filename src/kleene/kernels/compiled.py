"""How loops are compiled: by Numba, once each, kept on disk.

A `CompilationUnit` is a set of sources whose functions are compiled together. Python calls an
*entry point*, whose machine code is kept on disk with the device functions it calls inside. Only
compiled code calls a *device function*, which Numba sees when its caller is compiled: a process
that finds its entry points on disk pays for no device function. A *no-refcount* function is a
device function that leaves it to its callers to hold arrays.

Two things differ from a plain `njit(cache=True)`, and `machine_code` has two more:

- Numba looks for changes in the file of an entry point; here every source of the unit counts.
- Numba compiles anew for each constant and width of integer that a function is called with; here a
  unit says which types count (`wide`, `plain`, or a rule of its own).
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
    DeviceFunctionCompiler,
    EntryPointCompiler,
    MachineCodeOnDisk,
    NoRefcountCompiler,
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


class CompilationUnit:
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

    def entry_point(self, function: Function) -> Function:
        """Return a function that Python calls, kept on disk and free of Python's lock."""
        return cast(Function, self._entry_point(function))

    def parallel_entry_point(self, function: Function) -> Function:
        """Return an entry point whose `prange` runs on several threads."""
        return cast(Function, self._entry_point(function, parallel=True))

    def device_function(self, function: Function) -> Function:
        """Return a function that only compiled code calls."""
        return cast(Function, DeviceFunction(function, self))

    def no_refcount(self, function: Function) -> Function:
        """Return a device function that makes and returns no array and calls only no-refcount ones.

        Numba counts who holds an array, by atomic instructions: in the landings of a points-to
        analysis more than half of the time. Here the caller holds the arrays, uncounted.
        """
        return cast(
            Function, DeviceFunction(function, self, pipeline_class=NoRefcountCompiler, _nrt=False)
        )

    def _entry_point(self, function: Callable[..., Any], **options: Any) -> Any:
        made = self.compiled(function, nogil=True, pipeline_class=EntryPointCompiler, **options)
        with suppress(RuntimeError):  # nowhere to write: every process compiles
            made._cache = MachineCodeOnDisk(function, self.stamp)
        compile_ = made._compiler.compile

        def reported(*kinds: Any) -> Any:
            with progress.task(f"compiling {function.__name__}, this once"):
                return with_environments(compile_(*kinds))

        made._compiler.compile = reported
        return made

    def compiled(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return the function as Numba compiles it when it is first called."""
        made = _njit(no_cfunc_wrapper=True, **options)(function)
        made._compilation_chain_init_hook = lambda: None  # looks for plug-ins of Numba: none here
        compile_ = made.compile
        made.compile = lambda called_with: compile_(self.rule(function, called_with))
        made.unit = self
        return made


class DeviceFunction:
    """A function that is given to Numba when compiled code first names it."""

    def __init__(self, function: Callable[..., Any], unit: CompilationUnit, **options: Any) -> None:
        update_wrapper(cast(Any, self), function)
        self.py_func, self.unit = function, unit
        self._options = {
            "no_cpython_wrapper": True,
            "pipeline_class": DeviceFunctionCompiler,
        } | options

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own object."""
        return self.unit.compiled(self.py_func, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for where compiled code names it."""
        return self.dispatcher._numba_type_


def _noinline(_context: Any) -> Any:
    def build(context: Any, builder: ir.IRBuilder, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), build


noinline: Any = intrinsic(_noinline)  # keeps the calling function out of its callers' code
