"""Which locals must stay in memory, so that accesses outside of them are still there to be seen?

LLVM's SROA leaves out accesses that are outside of a local for certain, or cuts them off at its
end: of `int a[2]; a[2] = 1;` nothing is left. Of locals whose address others know it does not see
that. So the address of a local is stored in `@kleene.unset`, and the reader leaves that store out
again, wherever an access may be outside: if the address, or one that is computed from it,

- is stored, or chosen by a phi or a `select`: what is done with it is not followed here;
- is stepped from by other than 0 elements: `&x + 1`;
- is that of an element behind the last one of an array, or in front of the first;
- is used for more bytes than there are in the part of the local that it is the address of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kleene.frontends.c.exchange import UNSET

_NAME = r'%(?:"[^"]*"|[-\w.$]+)'
# One line each: address computations; loads; stores; copies and fills; choices of addresses.
_USE = re.compile(
    rf"^  (?:({_NAME}) = getelementptr (?:(?:inbounds|nusw|nuw) )*([^\n]+?), ptr ({_NAME})"
    r"((?:, i\d+ [^\s,]+)+)"
    rf"|{_NAME} = load (?:atomic |volatile )*([^\n]+?), ptr ({_NAME})"
    rf"|store (?:atomic |volatile )*ptr ({_NAME}), ptr ({_NAME})"
    rf"|store (?:atomic |volatile )*({_NAME}|[a-z]\w*|<[^>\n]*>|\[[^\n]*?\]|\{{[^\n]*?\}})"
    rf" [^\n]*?, ptr ({_NAME})"
    rf"|call void @llvm\.mem[^(]*\(ptr [^\n]*?({_NAME})((?:, [^\n]*)?), i\d+ (\d+), i1"
    rf"|{_NAME} = (?:phi ptr|select [^\n]*?, ptr) ([^\n]*))",
    re.MULTILINE,
)
_MENTION = re.compile(_NAME)
_ARRAY = re.compile(r"\[(\d+) x (.*)\]$", re.DOTALL)
_UNKNOWN = 1 << 62  # bytes of a type
_STRUCT = re.compile(rf"^({_NAME}) = type (<?\{{[^\n]*\}}>?)$", re.MULTILINE)


class _Part(NamedTuple):
    """What an address leads to: so many elements of a type in a local."""

    local: str
    n_elements: int
    type: str


class Fields:
    """The types of the fields of structs that have names."""

    def __init__(self, head: str) -> None:
        """`head` is the text of the module that defines them."""
        self._of = {
            name: tuple(_divided(text.strip("<{}> "))) for name, text in _STRUCT.findall(head)
        }

    def __getitem__(self, struct: str) -> tuple[str, ...]:
        return self._of.get(struct, ())


class Keeper:
    """Finds the locals of one function that must stay in memory."""

    def __init__(self, body: str, locals_: Mapping[str, str], fields: Fields) -> None:
        """Read the text of a function; of its locals, the types are given."""
        self._fields = fields
        self._kept: set[str] = set()
        self._asked: list[tuple[_Part, str | int]] = []
        if locals_:
            self._read(body, {name: _Part(name, 1, type_) for name, type_ in locals_.items()})

    @property
    def types(self) -> set[str]:
        """The types whose sizes `names` needs."""
        found = {part.type for part, _ in self._asked}
        return found | {used for _, used in self._asked if isinstance(used, str)}

    def names(self, sizes: Mapping[str, int]) -> list[str]:
        """Return the locals that must stay in memory, given the sizes of types."""
        found = set(self._kept)
        for part, used in self._asked:
            n_bytes = used if isinstance(used, int) else sizes.get(used, _UNKNOWN)
            if n_bytes > part.n_elements * sizes.get(part.type, 0):
                found.add(part.local)
        return sorted(found)

    def _read(self, body: str, parts: dict[str, _Part]) -> None:
        for (
            address, type_, base, indices, loaded, read, kept, to, stored, written, first, rest,
            size, chosen,
        ) in _USE.findall(body):  # fmt: skip
            if address:
                if base in parts:
                    self._step(parts, address, type_, parts[base], indices)
            elif loaded:
                self._use(parts.get(read), loaded)
            elif kept:
                self._keep(parts.get(kept))
                self._use(parts.get(to), "ptr")
            elif stored:
                self._use(parts.get(written), stored)
            elif size:
                for name in (first, *_MENTION.findall(rest)):
                    self._use(parts.get(name), int(size))
            else:
                for name in _MENTION.findall(chosen):
                    self._keep(parts.get(name))

    def _keep(self, part: _Part | None) -> None:
        if part is not None:
            self._kept.add(part.local)

    def _use(self, part: _Part | None, used: str | int) -> None:
        if part is not None and used != part.type:
            self._asked.append((part, used))

    def _step(
        self, parts: dict[str, _Part], address: str, type_: str, base: _Part, indices: str
    ) -> None:
        """Add the part of a local that an address leads to, or keep the local."""
        part = self._part(type_, base, [one.split(" ")[-1] for one in indices.split(", ")[1:]])
        if part is None:
            self._keep(base)
        else:
            parts[address] = part

    def _part(self, type_: str, base: _Part, indices: list[str]) -> _Part | None:
        """Return the part that indices lead to; None if it may be outside."""
        if indices[0] != "0":
            return None
        local, n_elements = base.local, base.n_elements if type_ == base.type else 1
        for index in indices[1:]:
            number = int(index) if index.isdigit() else -1
            if (array := _ARRAY.match(type_)) is not None:
                n_elements, type_ = int(array[1]) - number, array[2]
                if number < 0 or n_elements <= 0:
                    return None
            elif 0 <= number < len(self._fields[type_]):
                n_elements, type_ = 1, self._fields[type_][number]
            else:
                return None
        return _Part(local, n_elements, type_)


def with_marks(body: str, names: Iterable[str]) -> str:
    """Return the text of a function in which locals are told to stay in memory."""
    for name in names:
        place = body.index("\n", body.index(f"  {name} = alloca ")) + 1
        body = f"{body[:place]}  store ptr {name}, ptr @{UNSET}, align 8\n{body[place:]}"
    return body


def _divided(text: str) -> Iterable[str]:
    """Yield what commas divide, outside of brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[{<(") - (letter in "]}>)")
        if letter == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    if text.strip():
        yield text[start:].strip()
