"""The interpreter of the core: small, properly tail-calling, with first-class continuations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from kleene.base.errors import SourceError
from kleene.frontends.scheme.data import Datum
from kleene.frontends.scheme.expander.quoting import datum_of
from kleene.frontends.scheme.expander.scopes import Top
from kleene.frontends.scheme.expansion import Expansion
from kleene.frontends.scheme.interpreter.code import Code, Sequence, Simple, State
from kleene.frontends.scheme.interpreter.library import NATIVES
from kleene.frontends.scheme.interpreter.link import Linker
from kleene.frontends.scheme.interpreter.machine import (
    EXIT,
    Dynamic,
    Machine,
    Observer,
    StepLimit,
    Uncaught,
)
from kleene.frontends.scheme.interpreter.objects import (
    ErrorObject,
    InputPort,
    OutputPort,
    Parameter,
)
from kleene.frontends.scheme.interpreter.show import text_of
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import UNSPECIFIED

__all__ = ["Observer", "Outcome", "run", "run_text"]

# Every machine binds them to ports of its own.
_PORTS = {
    name: Parameter(None)
    for name in ("current-input-port", "current-output-port", "current-error-port")
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program left: the value of its last form, and what it printed."""

    value: Any
    output: str


class Interpreter(Machine):
    """A machine with a program in it, which `eval` may add to."""

    def __init__(
        self, program: Expansion, observer: Observer | None, max_steps: int | None, typed: str
    ) -> None:
        super().__init__(observer, max_steps)
        self.program = program
        self.output = OutputPort()
        ports = (InputPort(typed), self.output, OutputPort())
        bound = dict(zip(_PORTS.values(), ports, strict=True))
        self.dynamic = Dynamic(None, (), bound)
        self.linker = Linker(primitives(), observer.bound if observer is not None else None)

    def current(self, name: str) -> Any:
        """Return the current port of that name."""
        return self.dynamic.parameters[_PORTS[name]]

    def datum_of(self, value: Any) -> Datum:
        """Return a value as the datum of a program."""
        return datum_of(value, self.program.sources)

    def enter_more(self, data: list[Datum], top: Top, k: Any) -> State:
        """Return the first step of evaluating more forms of the program."""
        self.program.expander.program(data, top)
        return self._entered(k)

    def enter_file(self, name: str, k: Any) -> State:
        """Return the first step of evaluating the forms in a file."""
        self.program.add(self.program.sources.load(Path(name)))
        return self._entered(k)

    def _entered(self, k: Any) -> State:
        codes = self.linker.link(self.program.core())
        return _in_order(codes), [None, self.site], k


def _in_order(codes: list[Code]) -> Code:
    return Sequence(codes) if codes else Simple(lambda frame: UNSPECIFIED)


@cache
def primitives() -> dict[str, Any]:
    """Return every primitive by name: those written in Python, the ports, those in Scheme."""
    program = Expansion(is_internal=True)
    text = files(__package__).joinpath("prelude.scm").read_bytes()
    program.add(program.sources.add("prelude.scm", text))
    core = program.core()
    known: dict[str, Any] = {**NATIVES, **_PORTS}
    # The names that the prelude is about to define stand in the core's list as well.
    linker = Linker({name: known.get(name) for name in core.primitives}, is_prelude=True)
    Machine().run(_in_order(linker.link(core)), [None, -1])
    for variable, name in enumerate(core.names):
        if core.is_defined[variable] and name in table():
            closure = known[name] = linker.globals[variable]
            closure.code.n_least, closure.code.n_most = table()[name].n_least, table()[name].n_most
    return known


def run(
    program: Expansion,
    *,
    observer: Observer | None = None,
    max_steps: int | None = None,
    typed: str = "",
) -> Outcome:
    """Return what running the program leaves.

    Args:
        program: the program; `eval` and `load` add to it.
        observer: is told of every call of a closure of the program, and of every binding.
        max_steps: how many steps it may take; None: any number.
        typed: what the program finds on its standard input.

    Raises:
        SourceError: `scheme/uncaught` where a condition is not handled, `scheme/step-limit`.
    """
    machine = Interpreter(program, observer, max_steps, typed)
    try:
        value = machine.run(_in_order(machine.linker.link(program.core())), [None, -1])
    except Uncaught as uncaught:
        raise _uncaught(program.core(), machine, uncaught.args[0]) from None
    except StepLimit:
        place = _place(program.core(), machine)
        raise SourceError(place, "scheme/step-limit", f"more than {max_steps} steps") from None
    return Outcome(UNSPECIFIED if value is EXIT else value, "".join(machine.output.parts))


def run_text(text: str | bytes, file: str = "<text>", **options: Any) -> Outcome:
    """Return what running a program given as text leaves; the options are those of `run`."""
    return run(Expansion.of_text(text, file), **options)


def _place(core: Core, machine: Machine) -> Any:
    return core.span(machine.site) if machine.site >= 0 else None


def _uncaught(core: Core, machine: Machine, payload: Any) -> SourceError:
    place = _place(core, machine)
    if type(payload) is not ErrorObject:
        shown = text_of(payload, is_written=True)
        return SourceError(place, "scheme/uncaught", f"nothing handles the condition {shown}")
    irritants = [text_of(each, is_written=True) for each in payload.irritants]
    return SourceError(place, "scheme/uncaught", " ".join([payload.message, *irritants]))
