"""Generated functions, called from Python: on the GPU if one answers, else on the CPU's threads.

k = kleene.load("gemm.c").kernels()
k.gemm(ni, nj, nk, alpha, beta, c, a, b)      arrays of NumPy or CuPy
"""

from __future__ import annotations

import atexit
import ctypes
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.base import tidy
from kleene.base.cache import Cache, default_folder, key_of
from kleene.base.errors import SourceError
from kleene.codegen import cuda, python, runtime, threads
from kleene.codegen.plan import Plan
from kleene.codegen.text import element_of
from kleene.kernels import launch
from kleene.offload.plans.moved import sections_for

if TYPE_CHECKING:
    from kleene.offload.kernels.result import Analysed
    from kleene.offload.plans.cost import Prediction

_OPTIONS = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-fno-sanitize=all"]


class FallbackWarning(UserWarning):
    """A call was computed on the CPU, for the reason that the message says."""


class GeneratedFunction:
    """A function of C whose proven loops run in parallel.

    Attributes:
        plan: what it does step by step.
    """

    def __init__(self, plan: Plan, analysed: Analysed) -> None:
        self.plan = plan
        self._analysed = analysed
        self._known_sections: dict[tuple[int, ...], dict[str, Any]] = {}
        self.__name__ = plan.function
        self._parameters = parameters_of(plan)

    def __repr__(self) -> str:
        names = ", ".join(name for name, _, _ in self._parameters)
        return f"<generated {self.plan.function}({names})>"

    @cached_property
    def cuda(self) -> str:
        """The kernels as CUDA C++."""
        return cuda.source([self.plan])

    @cached_property
    def c(self) -> str:
        """The function as C for threads of the host."""
        return threads.source([self.plan])

    @cached_property
    def python(self) -> str:
        """What the host does, as Python."""
        return python.source(self.plan)

    @cached_property
    def _driver(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        names: dict[str, Any] = dict(runtime.NAMESPACE)
        exec(compile(self.python, f"<generated {self.plan.function}>", "exec"), names)
        return names["sections"], names["steps"]

    @cached_property
    def _library(self) -> Any:
        return compiled(self.c)

    def __call__(self, *args: Any, device: str = "auto") -> Any:
        """Call the function; arrays that it writes are changed in place.

        Args:
            args: one for each parameter of the C function, in order.
            device: "cuda", "cpu", or "auto": the GPU if one answers.

        Raises:
            ArgumentError: an argument does not fit; the message names the parameter.
            SourceError: `device` is "cuda" and no GPU answers.
        """
        if device not in ("auto", "cpu", "cuda"):
            raise runtime.ArgumentError(f"device is 'auto', 'cpu' or 'cuda', not {device!r}")
        given = runtime.checked(self.plan.function, self._parameters, args)
        sections = self._sections(tuple(given[name] for name in self._integers))
        runtime.check_sections(self.plan.function, sections, given)
        pair = runtime.overlapping(self.plan.overlaps, given)
        if pair is not None:
            self._warn(f"{pair[0]} and {pair[1]} overlap: computed in order, on the CPU")
            return self._on_cpu(given, is_sequential=True)
        if not self.plan.steps:
            if device == "cuda":
                message = f"'{self.plan.function}' has no kernels: {self.plan.reason}"
                raise SourceError(None, "kernels/no-kernels", message)
            return self._on_cpu(given)
        if device == "cpu" or (device == "auto" and _no_gpu()):
            return self._on_cpu(given)
        return self._on_device(given, sections)

    def _sections(self, sizes: tuple[int, ...]) -> dict[str, Any]:
        """Return the bytes of arrays that are used: by formulas, or else for these sizes."""
        if self._has_formulas:
            found: dict[str, Any] = self._driver[0](*sizes)
            return found
        known = self._known_sections.get(sizes)
        if known is None:
            by_name = dict(zip(self._integers, sizes, strict=True))
            known = sections_for(self._analysed, self.plan, by_name)
            self._known_sections[sizes] = known
        return known

    @cached_property
    def _has_formulas(self) -> bool:
        """Whether the sections of all arrays are known for all sizes, and exactly."""
        return all(
            array.copy_in is not None and all(one.is_exact for one in array.copy_in)
            for array in self.plan.arrays.values()
            if array.symbol in self.plan.parameters
        )

    def predict(self, **sizes: float) -> Prediction:
        """Return how long a call would take, on the GPU and on the CPU, and by what.

        Args:
            sizes: the values of the scalar parameters, by name.

        Raises:
            SourceError: `kernels/no-kernels`, no loop becomes a kernel.
        """
        from kleene.offload.plans.cost import predict

        if not self.plan.steps:
            message = f"'{self.plan.function}' has no kernels: {self.plan.reason}"
            raise SourceError(None, "kernels/no-kernels", message)
        return predict(self.plan, sizes)

    @cached_property
    def _integers(self) -> list[str]:
        return [one.name for one in self.plan.parameters if one.type.kind == "int"]

    def _warn(self, message: str) -> None:
        warnings.warn(f"{self.plan.function}: {message}", FallbackWarning, stacklevel=3)

    def _on_device(self, given: dict[str, Any], sections: dict[str, Any]) -> Any:
        backend = launch.current()
        run = self._runs.get(backend)
        if run is None:
            module = launch.load(_written(self.cuda, ".cu"))
            run = self._runs[backend] = runtime.Run(module.launch, backend.xp)
        try:
            moved = dict(given)
            for name, one in sections.items():
                moved[name] = runtime.moved_in(run, given[name], one)
        except MemoryError:  # CuPy's is one
            self._warn("not enough memory on the GPU: computed on the CPU")
            return self._on_cpu(given)
        result = self._driver[1](run, *moved.values())
        for name, one in sections.items():
            runtime.moved_out(run, given[name], moved[name], one)
        return result

    @cached_property
    def _runs(self) -> dict[Any, runtime.Run]:
        return {}

    def _on_cpu(self, given: dict[str, Any], is_sequential: bool = False) -> Any:
        is_sequential = is_sequential or not self.plan.steps
        name = self.plan.function + ("_sequential" if is_sequential else "_parallel")
        return call_c(self._library, name, self._parameters, result_of(self.plan), given)


def parameters_of(plan: Plan) -> list[tuple[str, str, str]]:
    """Return the parameters of a function: name, "array" or "scalar", and type in NumPy's words."""
    found = []
    for one in plan.parameters:
        is_array = one.name in plan.arrays
        kind = element_of(one.type) if is_array else one.type
        found.append((one.name, "array" if is_array else "scalar", python.dtype_name(kind)))
    return found


def result_of(plan: Plan) -> str:
    """Return the type of what a function returns in NumPy's words; nothing for `void`."""
    return "" if plan.result.kind == "void" else python.dtype_name(plan.result)


def call_c(
    library: Any,
    name: str,
    parameters: list[tuple[str, str, str]],
    result: str,
    given: dict[str, Any],
) -> Any:
    """Call a compiled function; arrays of CuPy are copied to the host and back.

    `result` is the type of what it returns in NumPy's words, or nothing.
    """
    arrays: dict[str, Any] = {}
    values: list[Any] = []
    for own, kind, dtype in parameters:
        value = given[own]
        if kind == "array":
            arrays[own] = value if isinstance(value, np.ndarray) else value.get()
            values.append(ctypes.c_void_p(arrays[own].ctypes.data))
        else:
            values.append(np.ctypeslib.as_ctypes_type(np.dtype(dtype))(value))
    function = library[name]
    function.restype = None if not result else np.ctypeslib.as_ctypes_type(np.dtype(result))
    answer = function(*values)
    for own, array in arrays.items():
        if array is not given[own]:
            given[own].set(array)
    return answer


def _no_gpu() -> bool:
    return launch.chosen() is None and launch.gpu_problem() is not None


@cache
def _folder() -> Path:
    """Return this process's folder of generated files; it goes when the process does."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(tidy.scratch())


def _written(text: str, suffix: str) -> Path:
    folder = _folder() / key_of(text)
    folder.mkdir(exist_ok=True)
    path = folder / f"kernels{suffix}"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def compiled(text: str, options: tuple[str, ...] = ()) -> Any:
    """Return C as a library of this process, compiled by the bundled compiler; cached by content.

    Raises:
        SourceError: the compiler is not installed.
    """
    path = library_of(text, options)
    return ctypes.CDLL(str(path))


def library_of(text: str, options: tuple[str, ...] = ()) -> Path:
    """Return the file of a library made from C."""
    from kleene.kernels.launch.host_build import compiler

    zig = compiler()
    if zig is None:
        message = "the package 'ziglang' is not installed"
        raise SourceError(None, "kernels/no-compiler", message, "pip install ziglang")
    key = key_of(text, *_OPTIONS, *options)
    path = _folder() / f"{key}.so"
    if path.exists():
        return path
    cache_ = Cache(default_folder())
    payload = cache_.get("generated", key)
    if payload is None:
        with tidy.scratch() as scratch:
            (scratch / "generated.c").write_text(text, encoding="utf-8")
            command = [str(zig), "cc", *_OPTIONS, *options, "generated.c", "-o", "generated.so"]
            done = tidy.run([*command, "-lm", "-lpthread"], cwd=str(scratch))
            if done.returncode:
                raise AssertionError(done.stderr.decode(errors="replace"))
            payload = (scratch / "generated.so").read_bytes()
        cache_.put("generated", key, payload)
    path.write_bytes(payload)
    return path
