"""A generated function of a file that stands alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kleene.codegen.runtime.binding import Binding, Fields
from kleene.codegen.runtime.checks import ArgumentError, Arguments
from kleene.codegen.runtime.launching import Run, device_run
from kleene.codegen.runtime.transfers import NotExecutedError, executed


class Called:
    """A generated function on the GPU, by CuPy: call it with arrays of NumPy or CuPy."""

    def __init__(
        self,
        name: str,
        parameters: Sequence[tuple[str, str, str]],
        overlaps: Sequence[tuple[str, str]],
        sections: Callable[..., Any],
        steps: Callable[..., Any],
        source: str,
        given: Sequence[tuple[str, bool, Any, Fields | None]] = (),
    ) -> None:
        self.name, self.steps, self.source = name, steps, source
        plain = [(one, False, None, None) for one, _, _ in parameters]
        self.binding = Binding(name, given or plain)
        self.arguments = Arguments(name, parameters, overlaps, sections)
        self._run: Run | None = None

    def run(self) -> Run:
        """Return where kernels run: they are compiled at the first call."""
        if self._run is None:
            self._run = device_run(self.source)
        return self._run

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the function; arrays that it writes are changed in place."""
        args = self.binding(given, named)
        known = self.arguments.prepared(args)
        if known.overlap is not None:
            first, second = known.overlap
            message = f"{self.name}: arguments '{first}' and '{second}' overlap"
            hint = "pass a copy of one: this file has no sequential form"
            raise ArgumentError("kernels/arrays-overlap", message, hint, second)
        try:
            answer = executed(self.run(), self.steps, known, args)
        except NotExecutedError as error:
            kind = MemoryError if error.is_memory else OverflowError
            raise kind(f"{self.name}: {error}; no argument has changed") from error
        self.binding.leave(given, named, args)
        return answer
