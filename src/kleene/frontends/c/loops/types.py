"""C's types from the text that clang prints: "double (*)[m]", "unsigned int", "struct node *".

The data model is that of the fixed target, LP64: int has 32 bits, long and pointers have 64.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kleene.ir.loops.tree import NOWHERE, Binary, Expression, Literal, Read, Symbol, Type, Variable

_SIGNED = {
    "signed char": 8,
    "char": 8,
    "short": 16,
    "int": 32,
    "long": 64,
    "long long": 64,
    "__int128": 128,
}
_INTEGERS: dict[str, tuple[int, bool]] = {
    **{name: (bits, True) for name, bits in _SIGNED.items()},
    "unsigned char": (8, False),
    "unsigned short": (16, False),
    "unsigned int": (32, False),
    "unsigned long": (64, False),
    "unsigned long long": (64, False),
    "unsigned __int128": (128, False),
    "_Bool": (1, False),
    "bool": (1, False),
    "size_t": (64, False),
    "__size_t": (64, False),
    "ssize_t": (64, True),
    "ptrdiff_t": (64, True),
    "__ptrdiff_t": (64, True),
    "intptr_t": (64, True),
    "uintptr_t": (64, False),
    **{f"int{bits}_t": (bits, True) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": (bits, False) for bits in (8, 16, 32, 64)},
}
_FLOATS = {"half": 16, "_Float16": 16, "float": 32, "double": 64, "long double": 128}
_QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict|_Atomic)\b")
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}

INT = Type("int", "int", 32)
LONG = Type("int", "long", 64)
OTHER = Type("other", "?")
Lookup = Callable[[str], Symbol | None]


@dataclass(frozen=True, slots=True)
class Layout:
    """The bytes of a record: its size, its alignment, and where each field begins."""

    n_bytes: int
    alignment: int
    offsets: tuple[int, ...]


class Types:
    """The types of a translation unit; its typedefs and records are learnt one by one."""

    def __init__(self) -> None:
        self._typedefs: dict[str, str] = {}
        self._layouts: dict[str, Layout | None] = {}  # None: two records of one name differ
        self._parsed: dict[str, Type] = {}

    def define(self, name: str, text: str) -> None:
        """Learn that `name` stands for the type `text`; of two that differ neither is believed."""
        known = self._typedefs.get(name)
        self._typedefs[name] = text if known in (None, text) else ""
        self._parsed.clear()

    def define_record(self, name: str, layout: Layout | None) -> None:
        """Learn the layout of the record `name`; of two that differ neither is believed."""
        known = self._layouts.get(name, layout)
        self._layouts[name] = layout if known == layout else None
        self._parsed.clear()

    def layout(self, fields: Sequence[str], *, is_union: bool) -> Layout | None:
        """Return how fields of these types are laid out, or None where one has an unknown size.

        Each begins at the next multiple of its alignment, and the record ends at a multiple of the
        greatest one, as the ABIs of 64-bit Unix systems have it.
        """
        offsets: list[int] = []
        n_bytes, alignment = 0, 1
        for text in fields:
            kind = self.parse(text)
            size, own = kind.n_bytes, self._alignment(kind)
            if size is None or own is None:
                return None
            begin = 0 if is_union else -(-n_bytes // own) * own
            offsets.append(begin)
            n_bytes, alignment = max(n_bytes, begin + size), max(alignment, own)
        if not offsets:
            return None
        return Layout(-(-n_bytes // alignment) * alignment, alignment, tuple(offsets))

    def _alignment(self, kind: Type) -> int | None:
        if kind.kind == "array":
            return None if kind.target is None else self._alignment(kind.target)
        if kind.kind == "record":
            found = self._layouts.get(kind.name)
            return None if found is None else found.alignment
        return kind.n_bytes

    def parse(self, text: str, lookup: Lookup | None = None) -> Type:
        """Return the type; `lookup` finds the variables in extents of variable-length arrays."""
        if lookup is not None and "[" in text:
            return self._parse(text, lookup)
        if text not in self._parsed:
            self._parsed[text] = self._parse(text, lambda name: None)
        return self._parsed[text]

    def _parse(self, text: str, lookup: Lookup) -> Type:
        text = text.strip()
        before = text.partition("[")[0]  # extents may have any expressions
        if found := re.search(r"\(\*([\w\s]*)\)", before):
            rest = text[: found.start()].rstrip() + text[found.end() :]
            target = OTHER if rest.endswith(")") else self._parse(rest, lookup)
            return _pointer(text, target, found[1])
        if text.endswith("]"):
            start = text.index("[")
            stop = _closing(text, start)
            target = self._parse(text[:start] + text[stop + 1 :], lookup)
            extent = _extent(text[start + 1 : stop], lookup)
            return Type("array", text, target=target, extent=extent, volatile=target.volatile)
        if found := re.fullmatch(r"(.*)([*&])([\w\s]*)", text):
            return _pointer(text, self._parse(found[1], lookup), found[3])
        return self._named(text, lookup)

    def _named(self, text: str, lookup: Lookup) -> Type:
        qualifiers = set(_QUALIFIERS.findall(text))
        name = " ".join(_QUALIFIERS.sub(" ", text).split())
        is_volatile = bool(qualifiers & {"volatile", "_Atomic"}) or "_Atomic(" in text
        if name in self._typedefs:
            meant = self._typedefs[name]
            found = self._parse(meant, lookup) if meant else OTHER
            return found if not is_volatile else Type("other", text, volatile=True)
        if name in _INTEGERS:
            bits, signed = _INTEGERS[name]
            return Type("int", name, bits, signed, volatile=is_volatile)
        if name in _FLOATS:
            return Type("float", name, _FLOATS[name], volatile=is_volatile)
        if name == "void":
            return Type("void", name)
        kind, _, _ = name.partition(" ")
        if kind in ("struct", "union", "class"):
            layout = self._layouts.get(name)
            bits = 0 if layout is None else 8 * layout.n_bytes
            return Type("record", name, bits, volatile=is_volatile)
        return Type("other", name, volatile=is_volatile)


def _closing(text: str, start: int) -> int:
    """Return where the bracket at `start` is closed: `int[n[0] + 1]` has one inside."""
    depth = 0
    for at in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if not depth:
            return at
    raise AssertionError(text)


def _pointer(text: str, target: Type, qualifiers: str) -> Type:
    words = set(qualifiers.split())
    return Type(
        "pointer",
        text,
        64,
        target=target,
        restrict=bool(words & {"restrict", "__restrict"}),
        volatile="volatile" in words,
    )


def _extent(text: str, lookup: Lookup) -> Expression | int | None:
    """Return an array's extent: a number, sums and products of variables, or None."""
    if text.isdigit():
        return int(text)
    try:
        return _expression(ast.parse(text.strip() or "None", mode="eval").body, lookup)
    except SyntaxError:
        return None


def _expression(node: ast.expr, lookup: Lookup) -> Expression | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Literal(LONG, NOWHERE, node.value)
    if isinstance(node, ast.Name) and (symbol := lookup(node.id)) is not None:
        return Read(symbol.type, NOWHERE, Variable(symbol.type, NOWHERE, symbol))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _expression(node.left, lookup), _expression(node.right, lookup)
        if left is not None and right is not None:
            return Binary(LONG, NOWHERE, _OPERATORS[type(node.op)], left, right)
    return None
