"""The reader of R7RS-small: text to data, each with its place.

One regular expression finds the tokens, each different atom is understood once, and every datum is
made when its last token is met. Brackets are read as parentheses, as R6RS has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kleene.base.collector import paused_collector
from kleene.base.errors import SourceError
from kleene.frontends.scheme.data import Datum, Form, Identifier, Labelled, Literal, Vector, dotted
from kleene.frontends.scheme.reader.atoms import OBJECTS, Atom, Fault, label_of, parse
from kleene.ir.scheme.sources import Source, Sources

__all__ = ["read", "read_first"]

START = re.compile(rb"(?:\xef\xbb\xbf)?(?:#![/ ][^\n]*)?")  # a byte order mark, a line for a shell
_STOP = rb" \t\n\r\f()\[\]\";|'`,"  # an atom ends before one of these
_TOKEN = re.compile(  # what is skipped, and a token: every byte belongs to one, so no match fails
    rb"([ \t\n\r\f]*(?:;[^\n]*[ \t\n\r\f]*)*)"
    rb"([()\[\]'`]|[^#STOP][^STOP]*|,@?|#\(|#u8\(|#;|#\||#[0-9]+[=#]|#\\.[\x80-\xbf]*[^STOP]*|#[^STOP]*"
    rb'|"[^"\\]*(?:\\.[^"\\]*)*"|\|[^|\\]*(?:\\.[^|\\]*)*\||["|]|\Z)'.replace(b"STOP", _STOP),
    re.DOTALL,
)
_MARK = re.compile(rb"#\||\|#")  # where a block comment begins or ends: they nest
_LISTS, _OPENERS = (b"(", b"["), (b"[", b"#(", b"#u8(")
_WORDS = {b"'": "quote", b"`": "quasiquote", b",": "unquote", b",@": "unquote-splicing"}
_PREFIX = re.compile(rb"['`,]|,@|#;|#[0-9]+=")  # stands before one datum
_FOLDING = {b"#!fold-case": True, b"#!no-fold-case": False, b"#!r6rs": None}
_NO_DOT, _WAITS = -1, -2  # instead of how many items stand before the dot


def read(sources: Sources, source: Source, *, fold_case: bool = False) -> list[Datum]:
    """Return the data of a source; raise where the text is no sequence of data."""
    with paused_collector():
        return _read(sources, source, fold_case, False)[0]


def read_first(sources: Sources, source: Source) -> tuple[Datum | None, int]:
    """Return the first datum, None at the end of the text, and how many bytes it reaches to.

    What follows the datum is not looked at.
    """
    data, end = _read(sources, source, False, True)
    return (data[0], end - source.base) if data else (None, len(source.text))


def _read(
    sources: Sources, source: Source, folds: bool, is_one_enough: bool
) -> tuple[list[Datum], int]:
    """Return the data of the text, or the first of them, and the byte after the last token.

    What is open has its items so far, how many stand before its dot, its opener and the place of
    that; `stack` has what is around it. A prefix such as a quote is open until a datum is complete.
    """
    values: dict[bytes, Atom] = {}
    datum: Datum
    stack: list[tuple[list[Datum], int, bytes, int]] = []
    items, dot, opener, opened = list[Datum](), _NO_DOT, b"", source.base
    start = START.match(source.text)
    end = source.base + (start.end() if start else 0)
    pairs: Iterable[Any] | None = _TOKEN.findall(source.text, end - source.base)
    while pairs is not None:
        tokens, pairs = pairs, None
        for gap, token in tokens:
            first = end + len(gap)
            end = first + len(token)
            if token == b"(":
                stack.append((items, dot, opener, opened))
                items, dot, opener, opened = [], _NO_DOT, token, first
                continue
            if token == b")" and opener == b"(" and dot == _NO_DOT:
                datum = Form(items, opened, end)
                items, dot, opener, opened = stack.pop()
            elif atom := values.get(token):
                datum = atom[0](atom[1], first, end)
            elif not token:
                break
            elif token == b")" or token == b"]":
                _check_end(sources, token, first, items, dot, opener, opened)
                datum = _closed(sources, items, dot, opener, opened, end)
                items, dot, opener, opened = stack.pop()
            elif token[0] in b"[#'`," and (token in _OPENERS or _PREFIX.fullmatch(token)):
                stack.append((items, dot, opener, opened))
                items, opener, opened = [], token, first
                dot = _NO_DOT if token in _OPENERS else _WAITS
                continue
            elif token == b".":
                _check_end(sources, token, first, items, dot, opener, opened)
                dot = len(items)
                continue
            elif token[:2] == b"#|":
                end = _comment_end(sources, source, first)
                following = _TOKEN.finditer(source.text, end - source.base)
                pairs = map(re.Match.groups, following)  # no more at once: there may be many
                break
            elif token[:2] == b"#!" and token not in OBJECTS:
                folds = _folding(sources, token, first, folds)
                values.clear()
                continue
            else:
                try:
                    atom = values[token] = parse(token.decode(), folds)
                except Fault as fault:
                    raise _atom_error(sources, fault, token, first) from None
                datum = atom[0](atom[1], first, end)
            while dot == _WAITS:
                complete = _prefixed(sources, opener, opened, datum)
                items, dot, opener, opened = stack.pop()
                if complete is None:
                    break
                datum = complete
            else:
                items.append(datum)
                if is_one_enough and not stack:
                    return items, end
    if stack:
        if dot == _WAITS:
            raise _missing(sources, opener, opened)
        around = sources.span((*stack, (0, 0, b"", opened))[1][3], opened)
        note = f"the outermost unclosed one is at {around.line}:{around.column}"
        raise _error(sources, "scheme/unclosed", opened, "this is never closed", note, len(opener))
    return items, end


def _error(
    sources: Sources, id: str, at: int, message: str, note: str = "", length: int = 1
) -> SourceError:
    notes = [note] if note else []
    return SourceError(sources.span(at, at + length), id, message, *notes)


def _missing(sources: Sources, prefix: bytes, at: int) -> SourceError:
    message = "a datum is missing after this"
    return _error(sources, "scheme/missing-datum", at, message, length=len(prefix))


def _check_end(
    sources: Sources,
    token: bytes,
    at: int,
    items: list[Datum],
    dot: int,
    opener: bytes,
    opened: int,
) -> None:
    """Raise where a dot or a closing parenthesis has no place."""
    if dot == _WAITS:
        raise _missing(sources, opener, opened)
    if token == b".":
        if opener not in _LISTS or not items or dot != _NO_DOT:
            raise _error(sources, "scheme/bad-dot", at, "a dot stands before one last item")
    elif not opener:
        raise _error(sources, "scheme/unopened", at, "nothing is open here to close")
    elif (token == b"]") != (opener == b"["):
        place = sources.span(opened, opened + 1)
        note = f"it was opened at {place.line}:{place.column}"
        raise _error(sources, "scheme/mismatched", at, "closed by another kind", note)
    elif dot != _NO_DOT and len(items) != dot + 1:
        raise _error(sources, "scheme/bad-dot", at, "a dot stands before one last item")


def _closed(
    sources: Sources, items: list[Datum], dot: int, opener: bytes, at: int, end: int
) -> Datum:
    """Return a list, vector or bytevector that is complete."""
    if dot != _NO_DOT:
        return dotted(items[:-1], items[-1], at, end)
    if opener in _LISTS:
        return Form(items, at, end)
    if opener == b"#(":
        return Vector(items, at, end)
    values: list[Any] = [item.value if type(item) is Literal else None for item in items]
    for item, value in zip(items, values, strict=True):
        if type(value) is not int or not 0 <= value <= 255:
            place = sources.span(item.at, item.end)
            raise SourceError(place, "scheme/bad-byte", "a bytevector holds integers from 0 to 255")
    return Literal(bytes(values), at, end)


def _prefixed(sources: Sources, prefix: bytes, at: int, datum: Datum) -> Datum | None:
    """Return a datum with the prefix before it; None where that is a datum comment."""
    if prefix in _WORDS:
        word = Identifier(_WORDS[prefix], at, at + len(prefix))
        return Form([word, datum], at, datum.end)
    if prefix == b"#;":
        return None
    try:
        return Labelled(label_of(prefix.decode()), datum, at, datum.end)
    except Fault as fault:
        raise _atom_error(sources, fault, prefix, at) from None


def _folding(sources: Sources, directive: bytes, at: int, folds: bool) -> bool:
    """Return whether symbols are read without regard to case from a directive on."""
    if directive not in _FOLDING:
        raise _error(sources, "scheme/bad-directive", at, "there is no such directive")
    chosen = _FOLDING[directive]
    return folds if chosen is None else chosen


def _atom_error(sources: Sources, fault: Fault, token: bytes, at: int) -> SourceError:
    place = sources.span(at + fault.offset, at + len(token))
    return SourceError(place, fault.id, fault.message)


def _comment_end(sources: Sources, source: Source, first: int) -> int:
    """Return the byte after a block comment, with those inside it."""
    depth = 0
    for mark in _MARK.finditer(source.text, first - source.base):
        depth += 1 if mark[0] == b"#|" else -1
        if depth == 0:
            return source.base + mark.end()
    raise _error(sources, "scheme/unclosed-comment", first, "this comment is never closed")
