"""The formats of printf, where they are constant: which arguments become numbers or texts.

A pointer written as a number (`%p`, or an integer conversion of one that was cast) can be read back
by scanf or strtoul. One written by `%s` cannot: its text is what it points to.
"""

from __future__ import annotations

import re

import numpy as np

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.base.arrays import I64, Bools
from kleene.ir.codes import ConstantKind, GlobalFlag, GlobalKind, ValueKind

_CONVERSION = re.compile(
    rb"%(?:%|(?P<place>\d+\$)?[-+ #0'I]*(?P<width>\*|\d*)"
    rb"(?:\.(?P<precision>\*|\d*))?(?:hh|h|ll|l|j|z|t|L|q|w\d+|wf\d+)?(?P<letter>[A-Za-z]))"
)
_LETTERS = b"diouxXcCpaAeEfFgGbBsSnm"


def converted(
    columns: Columns, offsets: I64, formats: I64, position: int, *, to_text: bool
) -> Bools:
    """Return which arguments of calls may be written as texts, or else as numbers.

    All may, those up to the format aside, where the format is not known.

    Args:
        columns: of the program.
        offsets: where the arguments of each call begin, n + 1.
        formats: the value that is the format of each call.
        position: which argument it is.
        to_text: whether by `%s`, whose text is what the argument points to; else by the others.
    """
    found = np.zeros(int(offsets[-1]), bool)
    for call, value in enumerate(formats.tolist()):
        text = text_of(columns, value)
        letters = None if text is None else letters_of(text)
        first, end = int(offsets[call]) + position + 1, int(offsets[call + 1])
        if letters is None:
            found[first:end] = True
            continue
        written = [(letter in "sS") == to_text and letter != "n" for letter in letters]
        found[first:end] = (written + [False] * (end - first))[: max(end - first, 0)]
    return found


def letters_of(text: bytes) -> str | None:
    """Return what converts each argument behind a format.

    None stands for a format that says it otherwise: by numbers of arguments, or in unknown words.
    """
    found, at = "", text.find(b"%")
    while at >= 0:
        match = _CONVERSION.match(text, at)
        if match is None or match["place"] or (match["letter"] or b"d") not in _LETTERS:
            return None
        found += "d" * sum(match[part] == b"*" for part in ("width", "precision"))
        if match["letter"] and match["letter"] != b"m":  # that is strerror(errno)
            found += match["letter"].decode()
        at = text.find(b"%", match.end())
    return found


def text_of(columns: Columns, value: int) -> bytes | None:
    """Return the text of a constant string, up to its first null byte."""
    program = columns.program
    if not 0 <= value < len(program.globals) or program.globals.kind[value] != GlobalKind.VARIABLE:
        return None
    row = int(program.globals.initializer[value]) - program.bases[ValueKind.CONSTANT]
    is_constant = program.globals.flags[value] & GlobalFlag.CONSTANT
    if not is_constant or row < 0:
        return None
    element = program.types.elements_of(int(program.constants.type[row]))
    if program.constants.kind[row] != ConstantKind.STRING or program.types.size[element[0]] != 1:
        return None
    return program.strings.raw(int(program.constants.payload[row])).split(b"\0")[0]
