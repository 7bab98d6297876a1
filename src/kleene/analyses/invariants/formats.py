"""Formats of `printf` and `scanf`: how many bytes they write, and to which arguments."""

from __future__ import annotations

import re
from dataclasses import replace

from kleene.analyses.invariants.models import UNKNOWN, Bound, MadeString, Model, Touch
from kleene.ir import Program
from kleene.ir.codes import GlobalFlag
from kleene.ir.views import Constant


def text_of(program: Program, value: int) -> str | None:
    """Return the text of the constant that a pointer points to the start of."""
    if not 0 <= value < len(program.globals):
        return None
    if not program.globals.flags[value] & GlobalFlag.CONSTANT:
        return None  # somebody may have written another text there
    initializer = int(program.globals.initializer[value])
    view = program.value_view(initializer) if initializer >= 0 else None
    if not isinstance(view, Constant) or view.string is None or b"\0" not in view.string:
        return None
    return view.string.split(b"\0")[0].decode("latin-1")


_LENGTHS = {"hh": 1, "h": 2, "": 4, "l": 8, "ll": 8, "z": 8, "j": 8, "t": 8, "q": 8, "L": 16}
_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<star>\*)?(?P<width>\d+)?(?:\.(?P<exact>\d+|\*)?)?"
    r"(?P<length>hh|h|ll|l|z|j|t|q|L)?(?P<kind>\[\^?\]?[^\]]*\]|[a-zA-Z%])"
)


def with_format(model: Model, text: str | None) -> Model:
    """Return the model of a call whose format is a constant; one that is none tells nothing."""
    if model.format is None:
        return model
    unknown = UNKNOWN
    if model.prints_to is not None:
        unknown = replace(
            unknown, touches=(Touch(model.prints_to, None, True, False, False, False),)
        )
    conversions = None if text is None else list(_CONVERSION.finditer(text))
    if (
        text is None
        or conversions is None
        or text.count("%") != sum(one[0].count("%") for one in conversions)
    ):
        return unknown
    if model.is_scan:
        return _scanned(model, conversions)
    if any(one["kind"] == "n" for one in conversions):
        return unknown
    read, longest = _printed(model, text, conversions)
    result = Bound(-1), Bound((1 << 31) - 1 if longest is None else longest.constant)
    if longest is not None and longest.lengths:
        result = Bound(-1), Bound((1 << 31) - 1)
    model = replace(model, touches=(*read, *model.touches), result=result)
    if model.prints_to is None:
        return model
    if longest is None:
        touch = Touch(model.prints_to, None, True, False, has_end=False)
        return replace(model, touches=(*model.touches, touch))
    behind = replace(longest, constant=longest.constant + 1)
    touch = Touch(model.prints_to, behind, True, False, has_end=False)
    string = MadeString(model.prints_to, "below", behind)
    return replace(model, touches=(*model.touches, touch), string=string)


def _scanned(model: Model, conversions: list[re.Match[str]]) -> Model:
    """Return what the conversions of a format write: `%d` 4 bytes, `%9s` 10 at most, `%s` any."""
    assert model.format is not None
    argument, touches, n_counted = model.format, [], 0
    for one in conversions:
        kind = one["kind"]
        if kind == "%" or one["star"]:
            continue
        argument += 1
        n_counted += kind != "n"
        size: int | None = 8 if kind == "p" else _LENGTHS[one["length"] or ""]
        if kind in "aAeEfFgG":
            size = {"": 4, "l": 8, "L": 16}.get(one["length"] or "")
        elif kind in "cCsS" or kind[0] == "[":
            is_wide = one["length"] == "l" or kind in "CS"
            units = None if kind != "c" and one["width"] is None else int(one["width"] or 1)
            size = None if units is None or is_wide else units + (kind != "c")
        bound = None if size is None else Bound(size)
        touches.append(Touch(argument, bound, True, False, has_end=False))
    result = Bound(-1), Bound(n_counted)
    return replace(model, touches=tuple(touches), result=result)


def _printed(
    model: Model, text: str, conversions: list[re.Match[str]]
) -> tuple[list[Touch], Bound | None]:
    """Return the strings that a format reads, and how many bytes it prints at most.

    `%d` prints at most 11, `%s` as many as its string has; None if that is not known. A null string
    is undefined; usual libraries print "(null)", so it is let pass where nobody counts bytes.
    """
    assert model.format is not None
    argument, read = model.format, []
    n_bytes: int | None = len(text) - sum(len(one[0]) for one in conversions)
    lengths: list[int] = []
    for one in conversions:
        kind, exact = one["kind"], one["exact"]
        if kind == "%":
            n_bytes = None if n_bytes is None else n_bytes + 1
            continue
        argument += 1 + (one["star"] is not None) + (exact == "*")
        is_text = kind == "s" and not one["length"]
        if is_text and not model.has_list and exact != "*":
            limit = Bound(int(exact or 0)) if "." in one[0] else None
            is_let = model.prints_to is None
            read.append(Touch(argument, None, False, True, is_let, limit=limit))
        longest = _longest(one)
        if is_text and "." not in one[0] and not (one["star"] or model.has_list):
            lengths.append(argument)
            longest = int(one["width"] or 0)
        n_bytes = None if n_bytes is None or longest is None else n_bytes + longest
    return read, None if n_bytes is None else Bound(n_bytes, lengths=tuple(lengths))


def _longest(one: re.Match[str]) -> int | None:
    """Return how many bytes a conversion prints at most, if that is known: `%d` at most 11."""
    bits = 8 * _LENGTHS[one["length"] or ""]
    kind, exact = one["kind"], one["exact"]
    longest: int | None = None
    if one["star"] or exact == "*" or "'" in one["flags"]:
        return None
    if kind == "c" and not one["length"]:
        longest = 1
    elif kind in "di":
        longest = max(len(str(1 << bits - 1)), int(exact or 0)) + 1
    elif kind in "uxXo":
        digits = len(format((1 << bits) - 1, kind.replace("u", "d")))
        longest = max(digits, int(exact or 0)) + 2  # with 0x in front
    elif kind == "p":
        longest = 18
    elif kind == "s" and exact is not None and not one["length"]:
        longest = int(exact)
    return None if longest is None else max(longest, int(one["width"] or 0))
