"""The reader of R7RS-small: text to data, each with its place.

Two compiled sweeps find the tokens and how they nest; each different atom is understood once; then
every datum becomes one small object. Brackets are read as parentheses, as R6RS has it.
"""

from __future__ import annotations

import numpy as np

from kleene.base.arrays import I32, U8
from kleene.base.collector import paused_collector
from kleene.base.errors import SourceError
from kleene.frontends.scheme.data import Datum
from kleene.frontends.scheme.reader import atoms, scan
from kleene.frontends.scheme.reader import nest as nesting
from kleene.frontends.scheme.reader.build import Nodes, build
from kleene.frontends.scheme.reader.compiled import UNIT
from kleene.ir.scheme.sources import Source, Sources
from kleene.kernels import compiled

__all__ = ["read", "read_first", "tokens"]

_INTERPRETED_S_A_BYTE = 5e-6  # of text, read by plain Python


def read(sources: Sources, source: Source, *, fold_case: bool = False) -> list[Datum]:
    """Return the data of a source; raise where the text is no sequence of data."""
    with compiled.sized(len(source.text) * _INTERPRETED_S_A_BYTE, UNIT):
        nodes = _nodes(sources, source, fold_case)
    with paused_collector():
        return build(nodes, sources)


def _nodes(sources: Sources, source: Source, fold_case: bool) -> Nodes:
    """Return the data of a source as columns."""
    kind, start, end = tokens(sources, source, fold_case=fold_case)
    n = len(kind)
    token, parent, close, dot = (np.empty(n, np.int32) for _ in range(4))
    n_nodes, fault, faulty, opener = nesting.nest(kind, start, end, token, parent, close, dot)
    if fault:
        raise _nesting_error(sources, source, fault, (start[faulty], end[faulty]), start[opener])
    number, first = np.empty(n, np.int32), np.empty(n, np.int32)
    n_texts = nesting.intern(_bytes(source), kind, start, end, number, first)
    values = _values(sources, source, kind, start, end, first[:n_texts])
    token = token[:n_nodes]
    return Nodes(
        kind=kind[token],
        number=number[token],
        at=start[token] + np.int32(source.base),
        end=close[:n_nodes] + np.int32(source.base),
        parent=parent[:n_nodes],
        dot=dot[:n_nodes],
        values=values,
    )


def read_first(sources: Sources, source: Source) -> tuple[Datum | None, int]:
    """Return the first datum, None at the end of the text, and how many bytes it reaches to.

    What follows the datum is not looked at, except for its tokens.
    """
    with compiled.sized(len(source.text) * _INTERPRETED_S_A_BYTE, UNIT):
        kind, _, end = tokens(sources, source)
    depth = 0
    for i, k in enumerate(kind.tolist()):
        depth += (scan.LIST <= k <= scan.BYTES) - (k in (scan.CLOSE, scan.CLOSE_SQUARE))
        is_prefix = k == scan.LABEL or scan.QUOTE <= k <= scan.COMMENT
        if depth <= 0 and not is_prefix:
            n_bytes = int(end[i])
            data = read(sources, sources.add(source.file, source.text[:n_bytes]))
            if data:  # else all so far was a comment
                return data[0], n_bytes
    read(sources, source)  # complains if something is left open
    return None, len(source.text)


def tokens(sources: Sources, source: Source, *, fold_case: bool = False) -> tuple[U8, I32, I32]:
    """Return each token's kind, first byte, and the byte after its last."""
    text = _bytes(source)
    kind = np.empty(len(text), np.uint8)
    start, end = np.empty(len(text), np.int32), np.empty(len(text), np.int32)
    n_tokens, fault, at = scan.scan(text, fold_case, kind, start, end)
    if fault:
        raise _token_error(sources, source.base + at, fault)
    return kind[:n_tokens], start[:n_tokens], end[:n_tokens]


def _bytes(source: Source) -> U8:
    return np.frombuffer(source.text, np.uint8)


def _values(
    sources: Sources, source: Source, kind: U8, start: I32, end: I32, first: I32
) -> list[atoms.Atom]:
    """Return the value of each different text."""
    values = []
    columns = (kind[first].tolist(), start[first].tolist(), end[first].tolist())
    for k, i, j in zip(*columns, strict=True):
        try:
            values.append(atoms.parse(k, source.text[i:j].decode()))
        except atoms.Fault as fault:
            at = source.base + i + fault.offset
            place = sources.span(at, source.base + j)
            raise SourceError(place, fault.id, fault.message) from None
    return values


def _token_error(sources: Sources, at: int, fault: int) -> SourceError:
    place = sources.span(at, at + 1)
    if fault == scan.OPEN_STRING:
        return SourceError(place, "scheme/unclosed-string", "this string is never closed")
    if fault == scan.OPEN_BAR:
        return SourceError(place, "scheme/unclosed-symbol", "this symbol is never closed")
    if fault == scan.OPEN_COMMENT:
        return SourceError(place, "scheme/unclosed-comment", "this comment is never closed")
    if fault == scan.BAD_DIRECTIVE:
        return SourceError(place, "scheme/bad-directive", "there is no such directive")
    return SourceError(place, "scheme/bad-character", "a character is missing")


def _nesting_error(
    sources: Sources, source: Source, fault: int, at: tuple[int, int], opener: int
) -> SourceError:
    place = sources.span(int(source.base + at[0]), int(source.base + at[1]))
    around = sources.span(int(source.base + opener), int(source.base + opener) + 1)
    if fault == nesting.UNCLOSED:
        note = f"the outermost unclosed one is at {around.line}:{around.column}"
        return SourceError(place, "scheme/unclosed", "this is never closed", note)
    if fault == nesting.UNOPENED:
        return SourceError(place, "scheme/unopened", "nothing is open here to close")
    if fault == nesting.MISMATCHED:
        note = f"it was opened at {around.line}:{around.column}"
        return SourceError(place, "scheme/mismatched", "closed by another kind", note)
    if fault == nesting.MISPLACED_DOT:
        return SourceError(place, "scheme/bad-dot", "a dot stands before one last item")
    return SourceError(place, "scheme/missing-datum", "a datum is missing after this")
