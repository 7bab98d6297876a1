"""From functions to machine code and back from disk, by Numba with some detours cut.

- A device function is optimised and made into machine code as a part of entry points alone. On the
  reader of C that halves the time, 27 s to 14 s, and the machine code is as fast.
- There it belongs to the entry point: LLVM may change how it is called, since nobody else calls it.
  The landings of a points-to analysis take a third less, its solver a tenth.
- Machine code on disk is loaded without making Numba ready to compile, without a look at what only
  the compiler needs, and without importing what inlined functions come from: 0.035 s for the 25
  entry points of a points-to analysis, not 0.6 s.

All of it reaches into Numba, whose version is fixed in pyproject.toml for that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from llvmlite import binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


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


class DeviceFunctionCompiler(Compiler):
    """What makes the code of a device function."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = _DeviceFunctionCode(target.codegen(), "device")  # type: ignore[no-untyped-call]
        super().__init__(typing, target, library, *rest)  # type: ignore[no-untyped-call]


class NoRefcountCompiler(DeviceFunctionCompiler):
    """What makes the code of a device function that counts no references."""

    def compile_extra(self, func: Any) -> Any:
        """Return the code of a function, which must not return what is only borrowed."""
        made = super().compile_extra(func)  # type: ignore[no-untyped-call]
        result = made.target_context.data_model_manager[made.signature.return_type]
        assert not result.contains_nrt_meminfo(), "a no_refcount function returns an array"
        return made


class _EntryPointCode(JITCodeLibrary):
    """The code of an entry point, to which its device functions belong: nobody else calls them."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.linkonce_odr and not function.is_declaration:
                function.linkage = "internal"
        super()._optimize_final_module()  # type: ignore[no-untyped-call]


class EntryPointCompiler(Compiler):
    """What makes the code of an entry point."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any) -> None:
        if library is None:
            library = _EntryPointCode(target.codegen(), "entry")  # type: ignore[no-untyped-call]
            library.enable_object_caching()
        super().__init__(typing, target, library, *rest)  # type: ignore[no-untyped-call]


class _MachineCode(CompileResultCacheImpl):
    """Numba's record of an entry point, of which all but the machine code is left alone.

    The record also has the code as LLVM knows it, for others to inline. Looking at it takes longer
    than the rest; here that waits until something that calls the entry point is compiled. And it
    has what each inlined function may ask of Python, its *environment*, for which modules are
    imported. One without constants is as good as any other, so it is kept by name, and the entry
    point's own is taken.
    """

    def reduce(self, compiled: Any) -> Any:
        """Return the record."""
        *rest, environments = super().reduce(compiled)  # type: ignore[no-untyped-call]
        full = tuple(environment for environment in environments if environment.consts)
        return (*rest, full), [e.env_name for e in environments if not e.consts]

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return the entry point, ready to be called."""
        ((name, kind, (code, bitcode)), descriptor, *rest), environments = payload
        codegen = target_context.codegen()
        codegen._engine._defined_symbols.add(descriptor.llvm_cpython_wrapper_name)
        light = ((name, kind, (code, llvm.parse_assembly("").as_bitcode())), descriptor, *rest)
        made = super().rebuild(target_context, light)  # type: ignore[no-untyped-call]
        made.library._get_module_for_linking = lambda: llvm.parse_bitcode(bitcode)
        for environment in environments:
            codegen.set_env(environment, made.environment)
        return made


class MachineCodeOnDisk(FunctionCache):
    """The machine code of an entry point on disk."""

    _impl_class = _MachineCode

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file._source_stamp = stamp

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for these types, or None if there is none."""
        _name_runtime()
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]


@cache
def _name_runtime() -> None:
    """Tell LLVM where the functions of Numba's runtime are: all of it that machine code needs."""
    runtime: Any = import_module("numba.core.runtime._nrt_python")
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def with_environments(compiled: Any) -> Any:
    """Return what was compiled, with its device functions' constants where machine code looks."""
    for environment in compiled._find_referenced_environments():
        compiled.library.codegen.set_env(environment.env_name, environment)
    return compiled
