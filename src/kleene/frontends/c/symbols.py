"""Do these modules fit together? Asked before LLVM links them, to name both places."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite.binding import Linkage

from kleene.base.errors import SourceError, Span

_LOCAL = (Linkage.internal, Linkage.private)
_MOST_ERRORS = 20


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that other modules can see."""

    name: str
    kind: str
    is_strong: bool  # a definition that tolerates no other
    module: int


def declares_anything(module: Any) -> bool:
    """Return whether the module declares or defines anything."""
    return any(True for _ in module.functions) or any(True for _ in module.global_variables)


def mixed_targets(files: Sequence[str], modules: Sequence[Any]) -> Iterator[SourceError]:
    """Yield an error for each module made for another machine than the first that names one.

    The machine is the data layout and the architecture: the system's version may differ.
    """
    named = [number for number, module in enumerate(modules) if module.data_layout]
    for number in named[1:]:
        first, other = modules[named[0]], modules[number]
        if _machine(first) != _machine(other):
            what = "data_layout" if first.triple == other.triple else "triple"
            yield SourceError(
                Span(files[number]),
                "c/mixed-targets",
                f"compiled for another machine than other files: {getattr(other, what)}",
                f"{files[named[0]]} is for {getattr(first, what)}",
            )


def conflicts(files: Sequence[str], modules: Sequence[Any]) -> list[SourceError]:
    """Return an error for each name that two modules define, or take for different things."""
    first: dict[str, Symbol] = {}
    clashes: list[tuple[Symbol, Symbol]] = []
    for number, module in enumerate(modules):
        for symbol in _visible(number, module):
            known = first.get(symbol.name)
            if known and (known.kind != symbol.kind or (known.is_strong and symbol.is_strong)):
                clashes.append((known, symbol))
            elif known is None or symbol.is_strong:
                first[symbol.name] = symbol
    shown = clashes[:_MOST_ERRORS]
    texts = {one.module: str(modules[one.module]) for pair in shown for one in pair}
    return [_clash(files, texts, *pair) for pair in shown]


def _machine(module: Any) -> tuple[str, str]:
    return module.data_layout, module.triple.partition("-")[0]


def _visible(number: int, module: Any) -> Iterator[Symbol]:
    for kind, values in (("function", module.functions), ("variable", module.global_variables)):
        for value in values:
            linkage, name = value.linkage, value.name
            if linkage in _LOCAL or name.startswith("llvm."):
                continue
            is_strong = linkage == Linkage.external and not value.is_declaration
            yield Symbol(name, kind, is_strong, number)


def _clash(
    files: Sequence[str], texts: dict[int, str], first: Symbol, second: Symbol
) -> SourceError:
    here, there = (_place(files[one.module], texts[one.module], one) for one in (second, first))
    if first.kind != second.kind:
        return SourceError(
            here,
            "c/mismatched-symbol",
            f"'{first.name}' is a {second.kind} here and a {first.kind} elsewhere",
            f"it is a {first.kind} at {there}",
        )
    notes = [f"it is also defined at {there}"]
    if here == there:
        notes.append("the file is compiled twice: choose one of its builds with only= (--only)")
    words = f"the {first.kind} '{first.name}' is defined twice"
    return SourceError(here, "c/duplicate-symbol", words, *notes)


def _place(file: str, text: str, symbol: Symbol) -> Span:
    """Return where debug information puts the symbol, else the file as a whole."""
    head = "@" if symbol.kind == "variable" else r"define [^\n]*@"
    tail = " = " if symbol.kind == "variable" else r"\("
    line = rf"^{head}{re.escape(symbol.name)}{tail}[^\n]*!dbg !(\d+)"
    node = _node(text, found[1]) if (found := re.search(line, text, re.MULTILINE)) else ""
    if variable := re.search(r"var: !(\d+)", node):
        node = _node(text, variable[1])
    number, owner = re.search(r"\bline: (\d+)", node), re.search(r"\bfile: !(\d+)", node)
    if not number or not owner:
        return Span(file)
    return Span(_file(_node(text, owner[1])) or file, int(number[1]))


def _node(text: str, number: str) -> str:
    found = re.search(rf"^!{number} = ([^\n]*)", text, re.MULTILINE)
    return found[1] if found else ""


def _file(node: str) -> str | None:
    name = re.search(r'filename: "([^"]*)"', node)
    folder = re.search(r'directory: "([^"]*)"', node)
    if name is None:
        return None
    if folder is None or folder[1] == os.getcwd():
        return name[1]
    return os.path.join(folder[1], name[1])
