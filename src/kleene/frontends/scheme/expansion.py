"""A program as it is read: text to data to the core, one source after the other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kleene.base.collector import paused_collector
from kleene.base.errors import SourceError, raise_all
from kleene.frontends.scheme import reader
from kleene.frontends.scheme.data import Datum
from kleene.frontends.scheme.expander.expand import Expander, in_order
from kleene.frontends.scheme.expander.keywords import TOP_LEVEL, all_names, standard_libraries
from kleene.frontends.scheme.expander.libraries import Libraries, adopt
from kleene.frontends.scheme.expander.scopes import Top
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.sources import Source, Sources
from kleene.kernels import compiled

__all__ = ["Expansion"]

_LARGE = 20_000  # bytes of text: less is done in some hundredths of a second
_S_A_BYTE = 1e-6  # to read and expand a byte of text by plain Python


class Expansion:
    """A program that grows: forms are expanded one source after the other.

    `core()` may be asked for at any time. Rows and variables keep their numbers when more forms
    follow, which is what `eval` needs.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        libraries: Sequence[Path] = (),
        is_internal: bool = False,
    ) -> None:
        standard = standard_libraries()
        self.sources = Sources()
        builtins = all_names(with_internal=True)
        folders = [*([folder] if folder else []), *libraries]
        self.expander = Expander(self.sources, builtins, Libraries(standard, folders))
        self.top = self.new_top()
        self.top.imports = builtins if is_internal else all_names()
        self.top.sees_all = True

    def new_top(self) -> Top:
        """Return a top level that imports nothing yet."""
        top = Top(self.expander.builder, {})
        top.names.update({special.name: special for special in TOP_LEVEL})
        return top

    def add(self, source: Source) -> None:
        """Expand the forms of one more source."""
        with paused_collector():  # over all: at its end the data are gone
            if len(source.text) < _LARGE or not self._in_bulk(source):
                data, faults = reader.read_all(self.sources, source)
                self._expand(data, faults)
            if self.top.sees_all:
                adopt(self.expander)

    def _expand(self, data: list[Datum], faults: list[SourceError]) -> None:
        """Expand data; raise all errors, those of the reader among them.

        Where it is not known which parentheses belong together, those of the reader are all.
        """
        if all(fault.id in reader.ATOM_FAULTS for fault in faults):
            try:
                self.expander.program(data, self.top)
            except SourceError as error:
                faults += error
        raise_all(in_order(faults, self.sources))

    def _in_bulk(self, source: Source) -> bool:
        """Expand a source by compiled loops; return False where that is not sooner done."""
        from kleene.frontends.scheme import bulk

        with compiled.sized(_S_A_BYTE * len(source.text), bulk.UNIT):
            if compiled.is_interpreting():
                return False
            return bulk.expand_source(self.expander, source, self.top)

    @classmethod
    def of_text(cls, text: str | bytes, file: str, folder: Path | None = None) -> Expansion:
        """Return the program that a text is; `file` is its name in messages."""
        program = cls(folder)
        raw = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        program.add(program.sources.add(file, raw))
        return program

    def core(self) -> Core:
        """Return the program as it is now."""
        return self.expander.builder.finish(self.sources)
