"""The reader of R7RS-small: text to data, each with its place.

One regular expression finds the tokens, each different atom is understood once, and every datum is
made when its last token is met. Brackets are read as parentheses, as R6RS has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kleene.base.collector import paused_collector
from kleene.base.errors import SourceError, raise_all
from kleene.frontends.scheme.data import Datum, Form, Identifier, Labelled, Literal, Vector, dotted
from kleene.frontends.scheme.reader.atoms import OBJECTS, Atom, Fault, label_of, parse
from kleene.ir.scheme.sources import Source, Sources
from kleene.ir.scheme.values import UNSPECIFIED

__all__ = ["ATOM_FAULTS", "read", "read_all", "read_first"]

# Errors after which it is still known which parentheses belong together.
ATOM_FAULTS = (
    *("scheme/bad-byte", "scheme/bad-character", "scheme/bad-directive", "scheme/bad-escape"),
    *("scheme/bad-label", "scheme/bad-number", "scheme/bad-token"),
)
_MOST_FAULTS = 50  # nobody reads more

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
    """Return the data of a source; raise all that keeps the text from being a sequence of data."""
    data, faults = read_all(sources, source, fold_case=fold_case)
    raise_all(faults)
    return data


def read_all(
    sources: Sources, source: Source, *, fold_case: bool = False
) -> tuple[list[Datum], list[SourceError]]:
    """Return the data of a source, and what is wrong with the text; it is read on behind that."""
    faults: list[SourceError] = []
    with paused_collector():
        data = _read(sources, source, fold_case, False, faults)[0]
    return data, faults


def read_first(sources: Sources, source: Source) -> tuple[Datum | None, int]:
    """Return the first datum, None at the end of the text, and how many bytes it reaches to.

    What follows the datum is not looked at.
    """
    faults: list[SourceError] = []
    data, end = _read(sources, source, False, True, faults)
    raise_all(faults)
    return (data[0], end - source.base) if data else (None, len(source.text))


def _read(
    sources: Sources, source: Source, folds: bool, is_one_enough: bool, faults: list[SourceError]
) -> tuple[list[Datum], int]:
    """Return the data of the text, or the first of them, and the byte after the last token.

    What is wrong is added to `faults`: a bad atom stands for a constant, a prefix without a datum
    and a dot in the wrong place are left out, and any closing parenthesis closes what is open.

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
    is_cut = False  # whether the rest of the text belongs to a string or comment without an end
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
                while dot == _WAITS:
                    faults.append(_missing(sources, opener, opened))
                    items, dot, opener, opened = stack.pop()
                if wrong := _bad_end(sources, token, first, items, dot, opener, opened):
                    faults.append(wrong)
                    dot = _NO_DOT
                if (is_one_enough and wrong) or len(faults) > _MOST_FAULTS:
                    return items, end
                if not opener:
                    continue
                datum = _closed(sources, items, dot, opener, opened, end, faults)
                items, dot, opener, opened = stack.pop()
            elif token[0] in b"[#'`," and (token in _OPENERS or _PREFIX.fullmatch(token)):
                stack.append((items, dot, opener, opened))
                items, opener, opened = [], token, first
                dot = _NO_DOT if token in _OPENERS else _WAITS
                continue
            elif token == b".":
                while dot == _WAITS:
                    faults.append(_missing(sources, opener, opened))
                    items, dot, opener, opened = stack.pop()
                if wrong := _bad_end(sources, token, first, items, dot, opener, opened):
                    faults.append(wrong)
                else:
                    dot = len(items)
                continue
            elif token[:2] == b"#|":
                end = _comment_end(source, first)
                if end < 0:
                    message, is_cut = "this comment is never closed", True
                    faults.append(_error(sources, "scheme/unclosed-comment", first, message))
                    break
                following = _TOKEN.finditer(source.text, end - source.base)
                pairs = map(re.Match.groups, following)  # no more at once: there may be many
                break
            elif token[:2] == b"#!" and token not in OBJECTS:
                if token not in _FOLDING:
                    message = "there is no such directive"
                    faults.append(_error(sources, "scheme/bad-directive", first, message))
                elif (chosen := _FOLDING[token]) is not None:
                    folds = chosen
                    values.clear()
                continue
            else:
                try:
                    atom = values[token] = parse(token.decode(), folds)
                except Fault as fault:
                    faults.append(_atom_error(sources, fault, token, first))
                    is_cut = fault.id in ("scheme/unclosed-string", "scheme/unclosed-symbol")
                    if is_cut or is_one_enough or len(faults) > _MOST_FAULTS:
                        break
                    atom = (Literal, UNSPECIFIED)
                datum = atom[0](atom[1], first, end)
            while dot == _WAITS:
                complete = _prefixed(sources, opener, opened, datum, faults)
                items, dot, opener, opened = stack.pop()
                if complete is None:
                    break
                datum = complete
            else:
                items.append(datum)
                if is_one_enough and not stack:
                    return items, end
    if dot == _WAITS and not is_cut:
        faults.append(_missing(sources, opener, opened))
    elif stack and not is_cut and not (is_one_enough and faults):
        around = sources.span((*stack, (0, 0, b"", opened))[1][3], opened)
        note = f"the outermost unclosed one is at {around.line}:{around.column}"
        message = "this is never closed"
        faults.append(_error(sources, "scheme/unclosed", opened, message, note, len(opener)))
    return items, end


def _error(
    sources: Sources, id: str, at: int, message: str, note: str = "", length: int = 1
) -> SourceError:
    notes = [note] if note else []
    return SourceError(sources.span(at, at + length), id, message, *notes)


def _missing(sources: Sources, prefix: bytes, at: int) -> SourceError:
    message = "a datum is missing after this"
    return _error(sources, "scheme/missing-datum", at, message, length=len(prefix))


def _bad_end(
    sources: Sources,
    token: bytes,
    at: int,
    items: list[Datum],
    dot: int,
    opener: bytes,
    opened: int,
) -> SourceError | None:
    """Return what is wrong with a dot or a closing parenthesis here."""
    if token == b".":
        if opener not in _LISTS or not items or dot != _NO_DOT:
            return _error(sources, "scheme/bad-dot", at, "a dot stands before one last item")
    elif not opener:
        return _error(sources, "scheme/unopened", at, "nothing is open here to close")
    elif (token == b"]") != (opener == b"["):
        place = sources.span(opened, opened + 1)
        note = f"it was opened at {place.line}:{place.column}"
        return _error(sources, "scheme/mismatched", at, "closed by another kind", note)
    elif dot != _NO_DOT and len(items) != dot + 1:
        return _error(sources, "scheme/bad-dot", at, "a dot stands before one last item")
    return None


def _closed(
    sources: Sources,
    items: list[Datum],
    dot: int,
    opener: bytes,
    at: int,
    end: int,
    faults: list[SourceError],
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
            message = "a bytevector holds integers from 0 to 255"
            faults.append(SourceError(place, "scheme/bad-byte", message))
            return Literal(b"", at, end)
    return Literal(bytes(values), at, end)


def _prefixed(
    sources: Sources, prefix: bytes, at: int, datum: Datum, faults: list[SourceError]
) -> Datum | None:
    """Return a datum with the prefix before it; None where that is a datum comment."""
    if prefix in _WORDS:
        word = Identifier(_WORDS[prefix], at, at + len(prefix))
        return Form([word, datum], at, datum.end)
    if prefix == b"#;":
        return None
    try:
        return Labelled(label_of(prefix.decode()), datum, at, datum.end)
    except Fault as fault:
        faults.append(_atom_error(sources, fault, prefix, at))
        return datum


def _atom_error(sources: Sources, fault: Fault, token: bytes, at: int) -> SourceError:
    place = sources.span(at + fault.offset, at + len(token))
    return SourceError(place, fault.id, fault.message)


def _comment_end(source: Source, first: int) -> int:
    """Return the byte after a block comment, with those inside it; -1 if it has no end."""
    depth = 0
    for mark in _MARK.finditer(source.text, first - source.base):
        depth += 1 if mark[0] == b"#|" else -1
        if depth == 0:
            return source.base + mark.end()
    return -1
