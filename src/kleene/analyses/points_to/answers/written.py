"""Globals as people write them: one text for each symbol, and the symbols that a text may mean.

- A symbol of C++ is demangled: `Dog::speak`, or `Dog::speak(int)` where it is overloaded; of the
  symbols of a constructor or destructor the others are `Dog::Dog() [base]`, `Dog::~Dog()
  [deleting]`.
- Statics of one name, which LLVM tells apart as `helper` and `helper.1`, are told apart by their
  files: `a.c:helper`, `b.c:helper`. A function of that name that others can see is `helper`.
- Whatever else would share a name is written with its symbol: `Dog::speak() [_ZN3Dog5speakEv.1]`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property

from kleene.base.arrays import distinct
from kleene.base.demangling import demangled, structor_part, without_parameters
from kleene.ir import Program
from kleene.ir.codes import Linkage
from kleene.results.naming import Files

_NUMBERED = re.compile(r"(.+)\.\d+")
_OWN = (int(Linkage.INTERNAL), int(Linkage.PRIVATE))


def written_of(program: Program) -> Written:
    """Return the names of a program's globals, with the files of the program."""

    def files() -> Files:
        return Files(program.strings[symbol] for symbol in distinct(program.spans.file).tolist())

    return Written(program, files)


class Written:
    """The names of a program's globals (functions and variables), by row."""

    def __init__(self, program: Program, files: Callable[[], Files]) -> None:
        self._program, self._files = program, files

    @cached_property
    def names(self) -> list[str]:
        """What each global is called; no two share a name."""
        forms = self._forms
        shared = Counter(short for short, _ in forms)
        names = [self._told_apart(row, *form, shared) for row, form in enumerate(forms)]
        shared = Counter(names)
        for row, name in enumerate(names):
            if shared[name] > 1:
                names[row] = self._with_file(row, name) + structor_part(self._symbol(row))
        shared = Counter(names)
        symbols = self._program.names.globals
        return [
            f"{name} [{symbols[row]}]" if shared[name] > 1 else name
            for row, name in enumerate(names)
        ]

    def rows(self, text: str) -> list[int]:
        """Return the globals that a text may mean: one by what it is called here, or all others.

        A symbol, a name of the source, one with parameters and one without are understood.
        """
        named = self._by_name.get(text)
        return [named] if named is not None else self._by_any.get(text, [])

    @property
    def every(self) -> list[str]:
        """All texts that `rows` knows."""
        return [*self._by_name, *self._by_any]

    def symbols(self) -> dict[str, str]:
        """Return the symbol of each name that differs from it: what a linker knows it by."""
        pairs = zip(self.names, self._program.names.globals, strict=True)
        return {name: symbol for name, symbol in pairs if name != symbol}

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def _by_any(self) -> dict[str, list[int]]:
        found: dict[str, dict[int, None]] = {}
        for row, form in enumerate(self._forms):
            for text in (self._program.names.globals[row], *form, self._source(row)):
                if text:
                    found.setdefault(text, {})[row] = None
        return {text: list(rows) for text, rows in found.items()}

    @cached_property
    def _forms(self) -> list[tuple[str, str]]:
        """Each global without parameters, and with them."""
        return [self._form(row) for row in range(len(self._program.globals))]

    def _form(self, row: int) -> tuple[str, str]:
        symbol = self._symbol(row)
        if (full := demangled(symbol)) is not None:
            return without_parameters(full), full
        plain, source = self._program.names.globals[row], self._source(row)
        if symbol.startswith("_Z") and source:  # newer than the runtime's demangler
            return source, source
        numbered = _NUMBERED.fullmatch(symbol)
        if numbered is None or not source or not self._is_own(row):
            return plain, plain
        first = numbered[1]  # what it was called before LLVM met another of that name
        is_renamed = first == source or first.endswith(f".{source}")
        return (first, first) if is_renamed else (plain, plain)

    def _told_apart(self, row: int, short: str, full: str, shared: Counter[str]) -> str:
        if shared[short] == 1:
            return short
        if full != short:
            return full
        return self._with_file(row, short)

    def _with_file(self, row: int, name: str) -> str:
        """Return the name of a static with its file; others keep theirs."""
        span = int(self._program.globals.span[row])
        if span < 0 or not self._is_own(row) or ":" in name.replace("::", ""):
            return name
        path = self._program.strings[int(self._program.spans.file[span])]
        return f"{self._files().name(path)}:{name}"

    def _source(self, row: int) -> str:
        return self._program.strings[int(self._program.globals.source_name[row])]

    def _is_own(self, row: int) -> bool:
        return int(self._program.globals.linkage[row]) in _OWN

    def _symbol(self, row: int) -> str:
        return self._program.strings[int(self._program.globals.name[row])]
