"""Generated functions, called from Python: on the GPU if one answers, else on the CPU's threads.

k = kleene.load("gemm.c").kernels()
k.gemm(ni, nj, nk, alpha, beta, c, a, b)      arrays of NumPy or CuPy
"""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kleene.base.errors import SourceError
from kleene.codegen import cuda, python, runtime, threads
from kleene.codegen.plan import CannotError, FieldParameter, Plan
from kleene.codegen.text import element_of
from kleene.kernels import launch
from kleene.offload.plans.built import compiled, written
from kleene.offload.plans.moved import sections_for
from kleene.offload.plans.parts import Part, executed, parts_of

if TYPE_CHECKING:
    from kleene.ir.loops.tree import Function
    from kleene.offload.kernels.result import Analysed
    from kleene.offload.plans.cost import Prediction
    from kleene.offload.plans.machine import Machine

    Planned = Callable[[Function, Analysed], Plan]

_UPDATE = "update the driver, or install a CuPy for it; the device 'cpu' needs neither"


class FallbackWarning(UserWarning):
    """A call was computed on the CPU, for the reason that the message says."""


class GeneratedFunction:
    """A function of C whose proven loops run in parallel.

    Attributes:
        plan: what it does step by step.
    """

    def __init__(self, plan: Plan, analysed: Analysed, planned: Planned) -> None:
        self.plan = plan
        self._analysed, self._planned = analysed, planned
        self._runs: dict[Any, runtime.Run] = {}
        self._choices: dict[tuple[Any, ...], str] = {}
        self.__name__ = plan.function
        self._parameters = parameters_of(plan)

    def __repr__(self) -> str:
        names = ", ".join(self._bound.own)
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

    def __call__(self, *given: Any, device: str = "auto", **named: Any) -> Any:
        """Call the function; arrays that it writes are changed in place.

        Args:
            given: one for each parameter of the C function, in order; for a pointer to a record, a
                dictionary or an object with its fields.
            named: arguments by name; a global variable that the function uses has its own.
            device: "cuda"; "cpu", all cores of it; or "auto": where it is predicted to be fastest,
                but always the GPU if arrays are there.

        Raises:
            ArgumentError: an argument does not fit; the message names the parameter.
            SourceError: `device` is "cuda" and no GPU answers.
        """
        if device not in ("auto", "cpu", "cuda"):
            message = f"{self.plan.function}: there is no device {device!r}"
            hint = "write 'auto', 'cpu' or 'cuda'"
            raise runtime.ArgumentError("kernels/unknown-device", message, hint, "device")
        args = self._bound(given, named)
        answer = self.with_values(args, device=device)
        self._bound.leave(given, named, args)
        return answer

    def with_values(self, args: Sequence[Any], *, device: str = "auto") -> Any:
        """Call the function with a value for each parameter of what is generated.

        Fields of records and global variables are such parameters, see `plan.parameters`.
        """
        known = self._arguments.prepared(args)
        if known.overlap is not None:
            self._warn("{} and {} overlap: computed in order, on the CPU".format(*known.overlap))
            return self._on_cpu(known.given(args), is_sequential=True)
        if not self.plan.steps:
            if device == "cuda":
                message = f"'{self.plan.function}' has no kernels: {self.plan.reason}"
                raise SourceError(None, "kernels/no-kernels", message)
            return self._on_cpu(known.given(args))
        if device == "auto" and not known.is_there and launch.chosen() is None:
            choice = self._choice(tuple(known.values))
            if choice != "cuda":
                return self._on_cpu(known.given(args), is_sequential=choice == "core")
        elif device == "cpu":
            return self._on_cpu(known.given(args))
        try:
            return self._on_device(known, args)
        except runtime.UnusableGpuError as error:
            if device == "cuda":
                message = f"'{self.plan.function}' cannot run on this GPU: {error}"
                raise SourceError(None, "kernels/unusable-gpu", message, _UPDATE) from None
            self._warn(f"computed on the CPU: kernels cannot run on this GPU, {error}")
        return self._on_cpu(known.given(args))

    def _choice(self, values: tuple[Any, ...]) -> str:
        """Return where a call with arrays of NumPy is fastest; kept for these values."""
        found = self._choices.get(values)
        if found is None:
            sizes = {
                one[0]: value
                for one, value in zip(self._parameters, values, strict=True)
                if value is not None
            }
            try:
                predicted = self._predicted(sizes, is_quick=True)
                found = _choice_of(predicted)
            except OverflowError:  # what the host computes with such sizes
                found = "threads"
            self._choices[values] = found
        return found

    @cached_property
    def _bound(self) -> runtime.Binding:
        """What makes parameters of arguments."""
        places = {one.name: str(one.place) for one in self.plan.parameters}
        places |= {
            one.name: str(symbol.place) for one in self.plan.given for symbol in one.parameters
        }
        return runtime.Binding(self.plan.function, given_of(self.plan), places)

    @cached_property
    def _arguments(self) -> runtime.Arguments:
        """The checks of arguments."""
        places = {one.name: str(one.place) for one in self.plan.parameters}
        found = (self._parameters, self.plan.overlaps, self._sections, places)
        return runtime.Arguments(self.plan.function, *found)

    def _sections(self, *sizes: int) -> dict[str, Any]:
        """Return the bytes of arrays that are used: by formulas, or else for these sizes."""
        if self._has_formulas:
            found: dict[str, Any] = self._driver[0](*sizes)
            return found
        by_name = dict(zip(self._integers, sizes, strict=True))
        return sections_for(self._analysed, self.plan, by_name)

    @cached_property
    def _has_formulas(self) -> bool:
        """Whether the sections of all arrays are known for all sizes, and exactly."""
        return all(
            array.copy_in is not None and all(one.is_exact for one in array.copy_in)
            for array in self.plan.arrays.values()
            if array.symbol in self.plan.parameters
        )

    def predict(self, machine: Machine | None = None, /, **sizes: float) -> Prediction:
        """Return how long a call would take, on the GPU and on the CPU, and by what.

        Args:
            machine: whose speeds to take; those of the GPU that answers if they were measured
                (`kleene kernels --device here`), else those of an H200.
            sizes: the values of the scalar parameters, by name.

        Raises:
            SourceError: `kernels/no-kernels`, no loop becomes a kernel.
            ArgumentError: `kernels/size-missing`, a size is not given.
        """
        return self._predicted(sizes, machine)

    def _predicted(
        self, sizes: dict[str, float], machine: Machine | None = None, is_quick: bool = False
    ) -> Prediction:
        from kleene.offload.plans.cost import predict

        if not self.plan.steps:
            message = f"'{self.plan.function}' has no kernels: {self.plan.reason}"
            raise SourceError(None, "kernels/no-kernels", message)
        for one in self.plan.parameters:
            if one.type.kind == "int" and one.name not in sizes:
                message = f"{self.plan.function}: the size '{one.name}' is not given"
                hint = f"pass {one.name}=1000, or what a call has"
                raise runtime.ArgumentError(
                    "kernels/size-missing", message, hint, one.name, str(one.place)
                )
        scalars = {one.name: 1.0 for one in self.plan.parameters if one.type.kind == "float"}
        return predict(self.plan, scalars | sizes, machine, is_quick=is_quick)

    def measured_s(self, **sizes: float) -> float:
        """Return the seconds of a call on the GPU with arrays of ones there, without the first.

        Args:
            sizes: the values of the scalar parameters, by name; floating-point ones may be missing.

        Raises:
            SourceError: `kernels/no-gpu`; `kernels/no-kernels`; `kernels/size-unknown`, it is not
                known how large an array must be.
        """
        backend = launch.current()
        self._predicted(dict(sizes), is_quick=True)
        scalars = {
            name: sizes.get(name, 1) for name, kind, _ in self._parameters if kind == "scalar"
        }
        sections = self._sections(*(int(scalars[name]) for name in self._integers))
        args: list[Any] = []
        for name, kind, dtype in self._parameters:
            if kind == "scalar":
                args.append(scalars[name])
                continue
            used = sections.get(name, ((0, 0), (0, 0), (0, 0)))
            if None in used[:2]:
                message = f"{self.plan.function}: how large '{name}' is hangs on data"
                raise SourceError(None, "kernels/size-unknown", message)
            n_bytes = max(end for _, end in used)
            args.append(backend.xp.ones(-(-n_bytes // np.dtype(dtype).itemsize) or 1, dtype))
        self(*args, device="cuda")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            self(*args, device="cuda")
            if backend.xp is not np:
                backend.xp.cuda.Device().synchronize()
            times.append(time.perf_counter() - start)
        return min(times)

    def explain(self, **sizes: float) -> str:
        """Return where a call with arrays of NumPy would run, and why, as text."""
        found = self.predict(**sizes)
        where = {"cuda": "on the GPU", "core": "on one core", "threads": "on all cores"}
        names = ", ".join(f"{name}={value:g}" for name, value in sizes.items())
        ends = where[_choice_of(found)]
        if found.pays and (reason := launch.gpu_problem()) is not None:
            ends += f": no GPU can be used, {reason}"
        return "\n".join([f"{self.plan.function}({names}) runs {ends}", *found.lines()])

    @cached_property
    def _integers(self) -> list[str]:
        return [one.name for one in self.plan.parameters if one.type.kind == "int"]

    def _warn(self, message: str, n_between: int = 0) -> None:
        """Warn the caller of `__call__`; `with_values` and `n_between` more are between."""
        text = f"{self.plan.function}: {message}"
        warnings.warn(text, FallbackWarning, stacklevel=4 + n_between)

    def _on_device(self, known: runtime.Prepared, args: Sequence[Any]) -> Any:
        try:
            return runtime.executed(self._run, self._driver[1], known, args)
        except runtime.NotExecutedError as error:
            reason, is_memory = str(error), error.is_memory
        # Arrays on the GPU were alive as long as the error was handled; they are gone here.
        if is_memory:
            parts, why_not = self._parts_or_reason
            if parts:
                left = executed(self.plan, parts, known.given(args))
                if left:
                    self._warn(f"partly computed on the CPU: not enough memory, {left}", 1)
                return None
            reason = f"not enough memory on the GPU, {reason}; not in parts: {why_not}"
        self._warn(f"computed on the CPU: {reason}", 1)
        return self._on_cpu(known.given(args))

    def execute_part(self, args: Sequence[Any]) -> None:
        """Call the function on the GPU, with memory there for the sections of NumPy's arrays alone.

        Raises:
            NotExecutedError: that is too much, too; no argument has changed.
        """
        runtime.parts_executed(self._run, self._driver[1], self._arguments.prepared(args), args)

    def _another(self, function: Function, analysed: Analysed) -> GeneratedFunction:
        return GeneratedFunction(self._planned(function, analysed), analysed, self._planned)

    @cached_property
    def _parts_or_reason(self) -> tuple[tuple[Part, ...], str]:
        try:
            return parts_of(self.plan, self._analysed, self._another), ""
        except CannotError as error:
            return (), str(error)

    @property
    def _run(self) -> runtime.Run:
        """Where kernels run now; they are compiled once for each place."""
        backend = launch.current()
        run = self._runs.get(backend)
        if run is None:
            run = self._runs[backend] = self._run_on(backend)
        return run

    def _run_on(self, backend: launch.Backend) -> runtime.Run:
        if launch.chosen() is None:
            run = runtime.device_run(self.cuda)
        else:
            run = runtime.Run(launch.load(written(self.cuda, ".cu")).launch, backend.xp)
        if any(True for _ in self.plan.host_nests()):
            run.on_cpu = partial(call_nest, self._library)
        return run

    def _on_cpu(self, given: list[Any], is_sequential: bool = False) -> Any:
        is_sequential = is_sequential or not self.plan.steps
        name = self.plan.function + ("_sequential" if is_sequential else "_parallel")
        by_name = {one[0]: value for one, value in zip(self._parameters, given, strict=True)}
        return call_c(self._library, name, self._parameters, result_of(self.plan), by_name)


def _choice_of(predicted: Prediction) -> str:
    """Return where a call with arrays of NumPy runs: "cuda", "core" or "threads".

    Without a GPU the speeds are those of another host, which may have more cores than this one: all
    cores together are not faster than so many times one.
    """
    if launch.gpu_problem() is None:
        return predicted.choice
    threads_s = max(predicted.threads_s, predicted.core_s / _n_cores())
    return "core" if predicted.core_s <= threads_s else "threads"


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def parameters_of(plan: Plan) -> list[tuple[str, str, str]]:
    """Return the parameters of a function: name, "array" or "scalar", and type in NumPy's words."""
    found = []
    for one in plan.parameters:
        is_array = one.name in plan.arrays
        kind = element_of(one.type) if is_array else one.type
        found.append((one.name, "array" if is_array else "scalar", python.dtype_name(kind)))
    return found


Fields = list[tuple[tuple[str, ...], str]]


def _result_type(field: FieldParameter) -> str:
    """Return the type of what a function leaves in a field, in NumPy's words; else nothing."""
    return python.dtype_name(element_of(field.symbol.type)) if field.is_result else ""


def given_of(plan: Plan) -> list[tuple[str, bool, Any, Fields | None]]:
    """Return the arguments of a call as `runtime.Binding` has them."""
    if not plan.given:
        return [(one.name, False, None, None) for one in plan.parameters]
    found: list[tuple[str, bool, Any, Fields | None]] = []
    for one in plan.given:
        fields = None
        if one.parameter is None:
            fields = [
                (tuple(step.name for step in each.path), _result_type(each)) for each in one.fields
            ]
        initial = None
        if one.initial and one.parameter is not None:
            dtype = python.dtype_name(element_of(one.parameter.type))
            initial = np.array(one.initial, dtype)
        found.append((one.name, one.is_global, initial, fields))
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
    arrays = on_host({own: given[own] for own, kind, _ in parameters if kind == "array"})
    values: list[Any] = []
    for own, kind, dtype in parameters:
        if kind == "array":
            values.append(ctypes.c_void_p(arrays[own].ctypes.data))
        else:
            values.append(np.ctypeslib.as_ctypes_type(np.dtype(dtype))(given[own]))
    function = library[name]
    function.restype = None if not result else np.ctypeslib.as_ctypes_type(np.dtype(result))
    answer = function(*values)
    for own, array in arrays.items():
        if array is not given[own]:
            given[own].set(array)
    return answer


def on_host(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return arrays in the host's memory: copies of those of CuPy, others as they are.

    Arrays that share storage share it in the copies, too: C's results hang on that.

        a  [0, 80)  |#####-----|          one copy of [0, 112), of which a is the first 80 bytes
        b [32, 112)    |##########|       and b the last 80
    """
    found = {name: one for name, one in arrays.items() if isinstance(one, np.ndarray)}
    others = {name: one for name, one in arrays.items() if name not in found}
    group: list[str] = []
    end = -1
    for name in sorted(others, key=lambda each: runtime.address_of(others[each])):
        start = runtime.address_of(others[name])
        if group and start >= end:
            found |= _together({each: others[each] for each in group})
            group = []
        group.append(name)
        end = max(end, start + others[name].nbytes)
    return found | _together({each: others[each] for each in group})


def _together(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies of CuPy's arrays in one storage, as far from each other as they are.

    It begins at a multiple of 16 bytes, as NumPy's storage does: all stay aligned.
    """
    if not arrays:
        return {}
    starts = {name: runtime.address_of(one) for name, one in arrays.items()}
    first = min(starts.values()) // 16 * 16
    end = max(starts[name] + one.nbytes for name, one in arrays.items())
    storage = np.zeros(end - first, np.uint8)
    found = {}
    for name, one in arrays.items():
        at = starts[name] - first
        view = storage[at : at + one.nbytes].view(one.dtype).reshape(one.shape)
        view[...] = one.get()
        found[name] = view
    return found


def call_nest(library: Any, name: str, args: Sequence[Any]) -> None:
    """Call a compiled sequential loop with arrays, and scalars of NumPy."""
    values: list[Any] = []
    for one in args:
        if isinstance(one, np.ndarray):
            values.append(ctypes.c_void_p(one.ctypes.data))
        else:
            values.append(np.ctypeslib.as_ctypes_type(one.dtype)(one.item()))
    function = library[name]
    function.restype = None
    function(*values)
