"""From functions to machine code and back from disk, by Numba with some detours cut.

- A device function is optimised and made into machine code as a part of entry points alone. On the
  reader of C that takes 21 s where it took 34 s, and the machine code is as fast.
- There it belongs to the entry point: LLVM may change how it is called, since nobody else calls it.
  The offset images of a points-to analysis take a quarter less time.
- Machine code on disk is loaded without making Numba ready to compile, without a look at what only
  the compiler needs, and without importing what inlined functions come from: 0.19 s for a points-to
  analysis, not 0.6 s.

All of it reaches into Numba, whose version is fixed in pyproject.toml for that reason.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any
from zlib import crc32

import numba
from llvmlite import binding as llvm
from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.extending import intrinsic, typeof_impl

from kleene.base import progress
from kleene.base.cache import folder_problem, key_of, replace
from kleene.base.errors import KleeneWarning
from kleene.base.files import read_file
from kleene.kernels import compiled
from kleene.kernels.compiled import CompilationUnit, EntryPoint, Kinds

Function = Callable[..., Any]

_HEAD_BYTES = 64 + 8 + 16  # a digest, a checksum and a length in hexadecimal

_njit: Any = njit  # Numba publishes few types
_intrinsic: Any = intrinsic
_typeof: Any = typeof_impl


def entry_point(function: Function, unit: CompilationUnit) -> Any:
    """Return Numba's dispatcher of an entry point."""
    made = _njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=_EntryPoint)(function)
    on_disk = made._cache = _OnDisk(function, unit)
    compile_ = made.compile

    def compile_here(kinds: Kinds) -> Any:
        if kinds in made.overloads or on_disk.has(kinds):
            return compile_(kinds)
        if problem := folder_problem(unit.folder):
            _warn(problem)
        with progress.task(f"compiling {function.__name__}, this once"):
            return compile_(kinds)

    made.compile = lambda called_with: compile_here(unit.rule(function, called_with))
    return made


@cache
def _warn(problem: str) -> None:
    """Warn, once in a process, that others will have to compile the same again."""
    words = (
        f"machine code cannot be kept ({problem}): every run compiles it again, for about a minute"
    )
    way = "set KLEENE_CACHE_DIR to a folder that can be written"
    warnings.warn(f"{words}; {way}", KleeneWarning, stacklevel=2)


@cache
def device_function(function: Function) -> Any:
    """Return Numba's dispatcher of a device function."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = _njit(pipeline_class=_DeviceFunction, **options)(function)
    rule, compile_ = compiled.device_functions[function].rule, made.compile
    made.compile = lambda called_with: compile_(rule(function, called_with))
    return made


@_typeof.register(EntryPoint)
def _type_of_entry_point(value: EntryPoint[..., Any], _context: Any) -> Any:
    """Return what Numba takes an entry point for where compiled code names it."""
    return value.dispatcher._numba_type_


@_typeof.register(FunctionType)
def _type_of_function(value: FunctionType, context: Any) -> Any:
    """Return what Numba takes a device function for, or an intrinsic; else what it always does."""
    if value in compiled.device_functions:
        return device_function(value)._numba_type_
    if value in compiled.intrinsics:
        return _type_of_intrinsic(compiled.intrinsics[value])
    return _typeof.dispatch(object)(value, context)


@cache
def _type_of_intrinsic(build: Function) -> Any:
    made, typing = _intrinsic(build), cpu_target.typing_context
    typing.refresh()
    return typing.resolve_value_type(made)


class _DeviceFunctionCode(JITCodeLibrary):
    """The code of a device function, left alone until it is a part of its callers.

    Numba would optimise, and make machine code of, a device function with all that it calls: the
    innermost one anew for every one around it.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        """Where the code would be run: nowhere."""
        return _Nowhere()


class _Nowhere:
    def set_env(self, _name: str, _environment: Any) -> None:
        """Do nothing: the environment is set where the code is run."""


class _DeviceFunction(Compiler):
    """What makes the code of a device function."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = _DeviceFunctionCode(target.codegen(), "device")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, *rest)  # type: ignore[no-untyped-call]


class _EntryPointCode(JITCodeLibrary):
    """The code of an entry point, to which its device functions belong: nobody else calls them."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = "internal"
        super()._optimize_final_module()  # type: ignore[no-untyped-call]


class _EntryPoint(Compiler):
    """What makes the code of an entry point."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = _EntryPointCode(target.codegen(), "entry")  # type: ignore[no-untyped-call]
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)  # type: ignore[no-untyped-call]


class _OnDisk:
    """The machine code of an entry point on disk, as Numba's dispatcher asks for it.

    Numba's record of a compiled function also has the code as LLVM knows it, for others to inline.
    Looking at it takes longer than the rest; here that waits until something that calls the entry
    point is compiled. And it has what each inlined function may ask of Python, its *environment*,
    for which modules are imported. One without constants is as good as any other, so it is kept by
    name, and the entry point's own is taken.

    A file is a digest of the unit's stamp and its own name, a checksum of the record, the record.
    Where a function has no source among those of its unit, or names variables around it, nothing
    could tell whether a file is out of date: there is none, and every process compiles.
    """

    cache_path = None

    def __init__(self, function: Function, unit: CompilationUnit) -> None:
        self._function, self._unit = function, unit
        code = function.__code__
        self._is_kept = Path(code.co_filename) in unit.files and function.__closure__ is None

    def flush(self) -> None:
        """Do nothing: a file is replaced when its stamp is out of date."""

    def has(self, kinds: Kinds) -> bool:
        """Return whether there is machine code for these types."""
        return self._read(kinds) is not None

    def load_overload(self, kinds: Kinds, target_context: Any) -> Any:
        """Return the code for these types, ready to be called; None if there is none."""
        if (raw := self._read(kinds)) is None:
            return None
        self._unit.is_in_use = True
        _name_runtime()
        (((name, kind, (code, bitcode)), descriptor, *rest), environments) = pickle.loads(raw)
        codegen = target_context.codegen()
        codegen._engine._defined_symbols.add(descriptor.llvm_cpython_wrapper_name)
        light = (name, kind, (code, llvm.parse_assembly("").as_bitcode()))
        made = CompileResult._rebuild(target_context, light, descriptor, *rest)  # type: ignore[no-untyped-call]
        made.library._get_module_for_linking = lambda: llvm.parse_bitcode(bitcode)
        for environment in environments:
            codegen.set_env(environment, made.environment)
        return made

    def save_overload(self, kinds: Kinds, made: Any) -> None:
        """Keep the code for these types, and make its device functions' constants known to it."""
        self._unit.is_in_use = True
        *record, environments = made._reduce()
        for environment in environments:
            made.library.codegen.set_env(environment.env_name, environment)
        if not self._is_kept or made.library.has_dynamic_globals:
            return
        full = tuple(environment for environment in environments if environment.consts)
        names = [environment.env_name for environment in environments if not environment.consts]
        raw: bytes = dumps((((*record, full)), names))  # type: ignore[no-untyped-call]
        file = self._file(kinds)
        if replace(file, self._head(file, raw) + raw, mode=0o644):
            self._unit.mark_ready()

    def _read(self, kinds: Kinds) -> bytes | None:
        if not self._is_kept:
            return None
        file = self._file(kinds)
        try:
            found = read_file(file)
        except OSError:
            return None
        raw = found[_HEAD_BYTES:]
        return raw if found[:_HEAD_BYTES] == self._head(file, raw) else None

    def _head(self, file: Path, raw: bytes) -> bytes:
        """Return what a file begins with: it ties the record to the sources and to its name.

        A record under another's name would be run in its place, and a damaged one as it is. A
        checksum sees damage, and takes a tenth of the time of a digest: 5 MB are loaded at a start.
        """
        return f"{key_of(self._unit.stamp, file.name)}{crc32(raw):08x}{len(raw):016x}".encode()

    def _file(self, kinds: Kinds) -> Path:
        function, machine = self._function, cpu_target.target_context.codegen().magic_tuple()
        code = function.__code__.co_code
        key = key_of(numba.__version__, str(machine), str(kinds), code)
        return self._unit.folder / f"{function.__module__}.{function.__qualname__}.{key[:16]}"


@cache
def _name_runtime() -> None:
    """Tell LLVM where the functions of Numba's runtime are: all of it that machine code needs."""
    runtime: Any = import_module("numba.core.runtime._nrt_python")
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
