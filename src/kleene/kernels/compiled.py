"""How loops are compiled: by Numba, once each, kept on disk; or run as the plain Python they are.

A `CompilationUnit` is a set of sources whose functions are compiled together. Python calls an
*entry point*, whose machine code is kept on disk with the device functions it calls inside. Only
compiled code calls a *device function*; its decorator returns the function as it was, and Numba
sees it when a caller is compiled.

Nothing here imports Numba: `machine_code` does, when an entry point first needs machine code. So a
small input is answered by plain Python before Numba is even imported. A caller that knows the size
of its input says so (`sized`), or the entry points of a unit look at their arguments
(`CompilationUnit.interpreted_s`). `interpreted` chooses for a block, and `NUMBA_DISABLE_JIT=1` for
a whole process.

Two things differ from a plain `njit(cache=True)`, and `machine_code` has two more:

- Numba looks for changes in the file of an entry point; here every source of the unit counts, and
  in it all but docstrings, comments and layout.
- Numba compiles anew for each constant and width of integer that a function is called with; here a
  unit says which types count (`wide`, `plain`, `by_name`).
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from pathlib import Path
from time import process_time
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from kleene.base.cache import key_of, replace
from kleene.kernels import stamps

P = ParamSpec("P")
R = TypeVar("R")
Function = TypeVar("Function", bound=Callable[..., Any])
Kinds = tuple[Any, ...]  # the types of arguments, as Numba has them
Rule = Callable[[Callable[..., Any], Kinds], Kinds]
Estimate = Callable[[tuple[Any, ...]], float]  # of the arguments of a call

_OWN = [Path(__file__), Path(__file__).with_name("machine_code.py")]
_LOADING_S = 0.2  # importing Numba and loading the machine code of an analysis
_PATIENCE_S = 5.0  # how long a process interprets before it compiles, which takes about a minute
_LOSS_S = 20.0  # what all processes may lose by interpreting before one of them compiles
_NOTED_S = 0.1  # losses are written down when they have become so large

_is_off = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
_interpreting: ContextVar[bool | None] = ContextVar("interpreting", default=_is_off or None)


def wide(_function: Callable[..., Any], called_with: Kinds) -> Kinds:
    """Return the types with all signed integers 64 bits wide, and no constant special."""
    types = _numba_types()

    def kind_of(given: Any) -> Any:
        kind = types.unliteral(given)
        return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind

    return tuple(map(kind_of, called_with))


def plain(_function: Callable[..., Any], called_with: Kinds) -> Kinds:
    """Return the types with constants 64 bits wide: where the width of an integer has a meaning."""
    types = _numba_types()
    return tuple(
        types.int64 if isinstance(kind, types.IntegerLiteral) else types.unliteral(kind)
        for kind in called_with
    )


class ArrayOf(NamedTuple):
    """The type of a contiguous array of one dimension."""

    dtype: str
    readonly: bool = False


def by_name(**arrays: ArrayOf) -> Rule:
    """Return the rule that a parameter's name fixes its type: an array of these, else int64.

    Device functions get the array's pointer (`kernels.pointers`).
    """

    def rule(function: Callable[..., Any], _called_with: Kinds) -> Kinds:
        types = _numba_types()

        def kind_of(name: str) -> Any:
            if (found := arrays.get(name)) is None:
                return types.int64
            dtype = getattr(types, found.dtype)
            if function in device_functions:
                return types.CPointer(dtype)
            return types.Array(dtype, 1, "C", readonly=found.readonly)

        return tuple(map(kind_of, inspect.signature(function).parameters))

    return rule


def _numba_types() -> Any:
    from numba import types

    return types  # Numba publishes few types of its own


@contextmanager
def interpreted(when: bool = True) -> Iterator[None]:
    """Run entry points called inside the block as plain Python, or else (False) as machine code."""
    before = _interpreting.set(when)
    try:
        yield
    finally:
        _interpreting.reset(before)


@contextmanager
def sized(seconds: float, *units: CompilationUnit) -> Iterator[None]:
    """Run entry points inside the block as plain Python where that is done sooner.

    Machine code that this process has in use is taken. What is on disk is loaded once this process
    has interpreted for as long as loading takes, the block included: so it never takes more than
    twice the time of whichever choice was right. What is not on disk is compiled once this process
    has interpreted for some seconds, or all processes together have lost more by it than people
    mind to wait once: each process that interpreted for longer than loading takes notes by how much
    beside the place of the machine code. Where nothing can be written there, nothing is noted.

    Args:
        seconds: about how long the block takes as plain Python.
        units: whose machine code it needs otherwise.
    """
    global _spent_s
    if _interpreting.get() is not None or seconds >= _until_ready_s(units):
        yield
        return
    start = process_time()  # and no clock on the wall: others may use the machine
    with interpreted():
        yield
    took_s = process_time() - start
    _spent_s += took_s
    for unit in units:
        unit.count_interpreted(took_s)


def linear(seconds: float) -> Estimate:
    """Return the estimate that a call takes so long for each element of its arrays."""
    return lambda args: seconds * sum(one.size for one in args if isinstance(one, np.ndarray))


def is_interpreting() -> bool:
    """Return whether entry points run as plain Python here."""
    return bool(_interpreting.get())


_spent_s = 0.0


def _until_ready_s(units: tuple[CompilationUnit, ...]) -> float:
    """Return how long machine code is worth waiting for."""
    waiting = [unit for unit in units if not unit.is_in_use]
    if not waiting:
        return 0.0
    if all(unit.is_ready() for unit in waiting):
        return _LOADING_S - _spent_s
    return 0.0 if max(unit.loss_s() for unit in waiting) > _LOSS_S else _PATIENCE_S - _spent_s


class CompilationUnit:
    """Sources whose functions are compiled together: files, and all of the folders.

    Args:
        sources: files, and folders with all that is in them.
        rule: which types of arguments count.
        only_indexes: whether functions index arrays and ask nothing else of them. Interpreted, they
            then get memory views, whose elements are Python's integers: three times as fast as
            NumPy's, and as wide as compiled code computes.
        interpreted_s: about how many seconds a call takes as plain Python, by its arguments. Where
            it is given, entry points decide call by call, as in `sized`, unless a caller has.
    """

    def __init__(
        self,
        *sources: str | Path,
        rule: Rule = wide,
        only_indexes: bool = False,
        interpreted_s: Estimate | None = None,
    ) -> None:
        self._sources = [Path(source) for source in sources]
        self.rule = rule
        self.only_indexes = only_indexes
        self.interpreted_s = interpreted_s
        self.is_in_use = False  # whether machine code of it was loaded or compiled in this process
        self._notes: dict[str, str | None] = {}
        self._unnoted_loss_s = -_LOADING_S

    @cached_property
    def stamp(self) -> str:
        """What the sources mean, as a digest."""
        return stamps.of(self.files, self.folder)

    @cached_property
    def folder(self) -> Path:
        """Where machine code is kept."""
        is_ours = all(source.is_relative_to(stamps.PACKAGE) for source in self._sources)
        return stamps.folder_of_package() if is_ours else stamps.folder_of_user()

    @cached_property
    def files(self) -> list[Path]:
        """The sources, file by file; how they are compiled is among them."""
        within = (source.rglob("*.py") if source.is_dir() else [source] for source in self._sources)
        return sorted([*_OWN, *(file for files in within for file in files)])

    def is_ready(self) -> bool:
        """Return whether machine code of the sources, as they are now, is on disk."""
        return self._noted("ready") is not None

    def mark_ready(self) -> None:
        """Note that machine code of the sources is on disk."""
        self._note("ready", "")

    def loss_s(self) -> float:
        """Return what was lost by interpreting the sources as they are now, by all processes."""
        return float(self._noted("loss") or 0)

    def add_loss(self, seconds: float) -> None:
        """Note that a process has lost so much; of two at once, one may go unnoted."""
        self._note("loss", f"{self.loss_s() + seconds:.2f}")

    def count_interpreted(self, seconds: float) -> None:
        """Count time for which this process has interpreted the sources."""
        self._unnoted_loss_s += seconds
        if self._unnoted_loss_s > _NOTED_S:
            self.add_loss(self._unnoted_loss_s)
            self._unnoted_loss_s = 0.0

    def _noted(self, what: str) -> str | None:
        """Return what was noted of the sources as they are now; each file is read once."""
        if what not in self._notes:
            self._notes[what] = None
            with suppress(OSError):
                stamp, _, value = self._note_file(what).read_text().partition(" ")
                self._notes[what] = value if stamp == self.stamp else None
        return self._notes[what]

    def _note(self, what: str, value: str) -> None:
        if replace(self._note_file(what), f"{self.stamp} {value}".encode(), mode=0o644):
            self._notes[what] = value

    def _note_file(self, what: str) -> Path:
        return self.folder / f"{what}.{key_of(*map(str, self._sources))[:16]}"

    def entry_point(self, function: Callable[P, R]) -> EntryPoint[P, R]:
        """Return a function that Python calls, kept on disk and free of Python's lock."""
        return EntryPoint(function, self)

    def device_function(self, function: Function) -> Function:
        """Return the function, which compiled code may call from now on."""
        device_functions[function] = self
        return function


class EntryPoint(Generic[P, R]):
    """A function that Python calls, as machine code or, where that is asked for, as it is."""

    def __init__(self, function: Callable[P, R], unit: CompilationUnit) -> None:
        update_wrapper(cast(Any, self), function)
        self.py_func, self.unit = function, unit

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return what the function returns."""
        unit = self.unit
        if unit.interpreted_s and not unit.is_in_use and _interpreting.get() is None:
            with sized(unit.interpreted_s(args), unit):
                return self._called(*args, **kwargs)
        return self._called(*args, **kwargs)

    def _called(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _interpreting.get():
            given = map(_view, args) if self.unit.only_indexes else args
            return self.py_func(*given, **kwargs)
        return cast(R, self.dispatcher(*args, **kwargs))

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's own object, which finds machine code by the types of arguments, or makes it."""
        from kleene.kernels import machine_code

        return machine_code.entry_point(self.py_func, self.unit)


def _view(value: Any) -> Any:
    return value.data if isinstance(value, np.ndarray) else value


def intrinsic(build: Callable[..., Any]) -> Callable[[Function], Function]:
    """Return a decorator of functions for which compiled code has instructions of its own.

    `build` takes Numba's typing context and the types of the arguments; it returns a signature, and
    what writes the instructions. The decorated function is what plain Python runs.
    """

    def named(function: Function) -> Function:
        intrinsics[function] = build
        return function

    return named


device_functions: dict[Callable[..., Any], CompilationUnit] = {}
intrinsics: dict[Callable[..., Any], Callable[..., Any]] = {}  # with what builds their instructions


def _noinline(_context: Any) -> Any:
    from numba import types

    def build(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), build


@intrinsic(_noinline)
def noinline() -> None:
    """Keep the calling function out of its callers' code."""
