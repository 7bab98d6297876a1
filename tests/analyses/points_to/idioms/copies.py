"""Ways in which a struct, or one pointer, gets from one place to another: read from texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(r"//: ([^\[\n]*?)(?: \[(.*)\])?\n")
_WORD = re.compile(r"\b([DS])\b(?!\$)")


@dataclass(frozen=True)
class Copy:
    """One way: text before the case, and statements in it, one to a line."""

    name: str
    top: str
    lines: str
    needs_type: bool  # takes structs by value: no flexible member
    is_outside: bool  # the bytes leave the program and come back

    def between(self, destination: str, source: str, hop: int) -> tuple[str, list[str]]:
        """Return both texts for two expressions."""
        words = {"D": destination, "S": source}
        lines = _WORD.sub(lambda found: words[found[1]], self.lines)
        return self.top.replace("#", str(hop)), lines.replace("#", str(hop)).split("\n")


def read(name: str) -> dict[str, Copy]:
    """Return the ways of a text file, by name."""
    text = (Path(__file__).parent / name).read_text()
    _, *parts = _HEAD.split(text)
    found = {}
    for title, flags, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        top, _, lines = body.strip().rpartition("\n//-\n")
        flags = flags or ""
        found[title] = Copy(title, top, lines, "by value" in flags, "outside" in flags)
    return found


STRUCT_COPIES = read("struct_copies.c.txt")
POINTER_COPIES = read("pointer_copies.c.txt")
