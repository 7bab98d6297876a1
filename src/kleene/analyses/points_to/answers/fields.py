"""Fields as people write them: which member of the source's type lies at a byte, and back.

    struct { int kind; union { void *data; int fd; }; struct { char *k, *v; } slot[3]; } event;

    byte      name                    byte, stride      name
    0         (nothing: the start)    40, 16            .slot[].k  (of all elements but the first)
    8         .data                   12                .data+4
    16        .slot[0].k              4                 none: padding

- Anonymous structs and base classes add nothing to a name.
- Of union members at one byte it is the first that begins or ends an access there: a pointer, if
  there is one. All of them are understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

from kleene.ir import Program

_STEP = re.compile(r"\.(?P<name>[^.\[\]+#]+)|\[(?P<index>\d*)\]")
_Step = tuple[str | None, str | None]  # a member's name, or an index as written
_MOST_STEPS = 16  # into one another
_MOST_ELEMENTS = 1 << 14  # more are never told apart


class Path(NamedTuple):
    """The way to a byte: text with `{}` for each index; indices with the bytes of an element."""

    text: str
    indices: tuple[tuple[int, int], ...]
    rest: int  # bytes behind the beginning of what is named


class Place(NamedTuple):
    """Bytes of a type, with the first and the second element standing for arrays."""

    byte: int
    n_bytes: int


class _Type(NamedTuple):
    size: int
    element_bytes: int
    members: tuple[tuple[str, int, int, int], ...]  # name, byte, size, type


class Fields:
    """The members of a program's source types."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[int, _Type] = {}

    def size(self, source_type: int) -> int:
        """Return the bytes of a type."""
        return self._type(source_type).size

    def suffix(
        self, source_type: int, byte: int, stride: int, *, is_many: bool = False
    ) -> str | None:
        """Return the name of what lies at a byte (in element 1 of arrays that `stride` is of).

        With `is_many` the storage is elements of this type, the first without an index. It is None
        where nothing lies there, and where `stride` is of no array of the source.
        """
        kind = self._type(source_type)
        index = byte // kind.size if is_many else 0
        path = self._path(source_type, byte - index * kind.size, 0)
        if path is None or (index and not stride):  # it may be one larger thing
            return None
        text, indices, rest = path
        if kind.element_bytes and byte % kind.element_bytes == 0:
            text, indices, rest = "[{}]", indices[:1], 0  # an element, and not what it begins with
        if index:
            text = "[{}]" + ("" if byte % kind.size == 0 else text)
            indices = ((index, kind.size), *indices)
        if stride and gcd(*(n_bytes for index, n_bytes in indices if index)) != stride:
            return None
        shown = ("" if stride and index else index for index, _ in indices)
        return text.format(*shown) + (f"+{rest}" if rest else "")

    def places(
        self, source_type: int, suffix: str, *, is_many: bool = False, is_folded: bool = False
    ) -> list[Place]:
        """Return the bytes that a name means; none if it is no name in this type.

        With `is_folded` element 1 of an array stands for all but the first.
        """
        steps: list[re.Match[str]] = []
        at = 0
        while found := _STEP.match(suffix, at):
            steps.append(found)
            at = found.end()
        if at < len(suffix) or not steps:
            return []
        written = [(found["name"], found["index"]) for found in steps]
        if is_folded:
            written = [(name, "1" if index and int(index) else index) for name, index in written]
        if not is_many or written[0][1] is None:
            return list(dict.fromkeys(self._places(source_type, 0, written)))
        n_bytes = self._type(source_type).size
        element = ("", 0, n_bytes, source_type)
        return [
            place
            for index in _elements(written[0][1], 0)
            for place in self._inside(element, index * n_bytes, written[1:], 0)
        ]

    def _path(self, source_type: int, byte: int, depth: int) -> Path | None:
        if source_type < 0 or depth > _MOST_STEPS:
            return Path("", (), byte)
        kind = self._type(source_type)
        if kind.element_bytes:
            index, byte = divmod(byte, kind.element_bytes)
            inside = self._path(kind.members[0][-1], byte, depth + 1)
            if inside is None or 0 < kind.size <= index * kind.element_bytes:
                return None
            text, indices, rest = inside
            return Path("[{}]" + text, ((index, kind.element_bytes), *indices), rest)
        first: Path | None = None
        for name, begin, n_bytes, inner in kind.members:
            is_open = not n_bytes and inner >= 0 and self._type(inner).element_bytes > 0
            if not begin <= byte < begin + n_bytes and not (is_open and begin <= byte):
                continue
            if (inside := self._path(inner, byte - begin, depth + 1)) is not None:
                shown = f".{name}".replace("{", "{{").replace("}", "}}") if name else ""
                found = Path(shown + inside.text, inside.indices, inside.rest)
                if not found.rest:
                    return found
                first = first or found
        return first

    def _places(
        self, source_type: int, byte: int, steps: list[_Step], depth: int = 0
    ) -> Iterator[Place]:
        """Yield where the steps lead from a type that begins at `byte`."""
        if source_type < 0 or depth > _MOST_STEPS:
            return
        kind = self._type(source_type)
        if kind.element_bytes:
            if (index := steps[0][1]) is None:
                return
            for element in _elements(index, kind.size // kind.element_bytes):
                there = byte + element * kind.element_bytes
                yield from self._inside(kind.members[0], there, steps[1:], depth)
            return
        for member in kind.members:
            if not member[0]:
                yield from self._places(member[-1], byte + member[1], steps, depth + 1)
            elif member[0] == steps[0][0]:
                yield from self._inside(member, byte + member[1], steps[1:], depth)

    def _inside(
        self, member: tuple[str, int, int, int], byte: int, steps: list[_Step], depth: int
    ) -> Iterator[Place]:
        if steps:
            yield from self._places(member[-1], byte, steps, depth + 1)
        else:
            yield Place(byte, member[2])

    def _type(self, source_type: int) -> _Type:
        if source_type not in self._known:
            table, strings = self._program.source_types, self._program.strings
            part = slice(*table.offsets[source_type : source_type + 2].tolist())
            rows = zip(
                (strings[symbol] for symbol in table.member_name[part].tolist()),
                table.member_byte[part].tolist(),
                table.member_bytes[part].tolist(),
                table.member_type[part].tolist(),
                strict=True,
            )
            sizes = int(table.size[source_type]), int(table.element_bytes[source_type])
            self._known[source_type] = _Type(*sizes, tuple(rows))
        return self._known[source_type]


def _elements(index: str, count: int) -> range:
    """Return the elements that an index as written stands for; of `count`, 0 if that is unknown."""
    if index:
        return range(int(index), int(index) + 1)
    return range(1, min(max(count, 2), _MOST_ELEMENTS))
