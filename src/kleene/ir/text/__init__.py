"""The text form: pleasant to read, and `parse(dump(program))` is the same program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kleene.ir.program import Program
from kleene.ir.text.parser import parse
from kleene.ir.text.printer import Printer

__all__ = ["chunks", "dump", "parse"]


def dump(program: Program, functions: Iterable[str | int] | None = None) -> str:
    """Return the program as text; with `functions`, given by name or row, only these."""
    return "".join(chunks(program, functions))


def chunks(program: Program, functions: Iterable[str | int] | None = None) -> Iterator[str]:
    """Yield the text of `dump` piece by piece, a function at most in each."""
    printer = Printer(program)
    if functions is None:
        yield from printer.program()
        return
    for place, function in enumerate(functions):
        yield ("\n" if place else "") + printer.function(program.functions[function].row)
