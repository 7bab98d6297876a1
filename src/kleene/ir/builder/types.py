"""Texts and types under construction: each once; named structs are found by name, filled later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kleene.base.arrays import offsets_of
from kleene.ir.codes import TypeFlag, TypeKind
from kleene.ir.layout import lay_out
from kleene.ir.tables import Strings, Types

Text = str | bytes
FLOAT_BITS = {
    "half": 16,
    "bfloat": 16,
    "float": 32,
    "double": 64,
    "x86_fp80": 80,
    "fp128": 128,
    "ppc_fp128": 128,
}
NO_TYPE = -1
_PLAIN = TypeFlag(0)


class Symbols:
    """Gives every text a number; symbol 0 is the empty text."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {b"": 0}

    def __getitem__(self, text: Text) -> int:
        return self._known.setdefault(symbol_bytes(text), len(self._known))

    def table(self) -> Strings:
        """Return all texts as columns."""
        return Strings.of(list(self._known))


def symbol_bytes(text: Text) -> bytes:
    """Return the bytes of a text."""
    return text.encode() if isinstance(text, str) else text


@dataclass(slots=True)
class _Row:
    kind: TypeKind
    flags: TypeFlag
    name: int
    bits: int
    elements: tuple[int, ...]
    source_type: int = NO_TYPE


class TypeMaker:
    """Makes types; a type is a plain number, equal types have equal numbers."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._rows: list[_Row] = []
        self._known: dict[object, int] = {}
        self.void = self._make(TypeKind.VOID)
        self.label = self._make(TypeKind.LABEL)
        self.metadata = self._make(TypeKind.METADATA)
        self.token = self._make(TypeKind.TOKEN)
        self.bit = self.integer(1)

    def integer(self, bits: int) -> int:
        """Return the integer type of that width."""
        return self._make(TypeKind.INT, bits=bits)

    def real(self, word: str = "double") -> int:
        """Return the floating-point type that LLVM calls `word`."""
        return self._make(TypeKind.FLOAT, name=word, bits=FLOAT_BITS[word])

    def pointer(self, space: int = 0) -> int:
        """Return the pointer type of an address space."""
        return self._make(TypeKind.POINTER, bits=space)

    def array(self, count: int, element: int) -> int:
        """Return the array of `count` elements."""
        return self._make(TypeKind.ARRAY, bits=count, elements=(element,))

    def vector(self, count: int, element: int, *, scalable: bool = False) -> int:
        """Return the vector of `count` elements, or of a run-time multiple of it."""
        flags = TypeFlag.SCALABLE if scalable else _PLAIN
        return self._make(TypeKind.VECTOR, flags, bits=count, elements=(element,))

    def struct(self, fields: Iterable[int], *, packed: bool = False) -> int:
        """Return the struct without a name that has these fields."""
        flags = TypeFlag.PACKED if packed else _PLAIN
        return self._make(TypeKind.STRUCT, flags, elements=tuple(fields))

    def named(self, name: Text) -> int:
        """Return the struct of that name: opaque until `fill` gives it fields."""
        key = (TypeKind.STRUCT, self._symbols[name])
        if key not in self._known:
            row = _Row(TypeKind.STRUCT, TypeFlag.OPAQUE, self._symbols[name], 0, ())
            self._rows.append(row)
            self._known[key] = len(self._rows) - 1
        return self._known[key]

    def fill(self, struct: int, fields: Iterable[int], *, packed: bool = False) -> int:
        """Return the named struct, now with these fields."""
        row = self._rows[struct]
        assert row.name, "only a named struct is filled later"
        row.elements, row.flags = tuple(fields), TypeFlag.PACKED if packed else _PLAIN
        return struct

    def function(self, result: int, parameters: Iterable[int], *, vararg: bool = False) -> int:
        """Return the function type."""
        flags = TypeFlag.VARARG if vararg else _PLAIN
        return self._make(TypeKind.FUNCTION, flags, elements=(result, *parameters))

    def other(self, text: Text) -> int:
        """Return a target's own type, written as LLVM writes it."""
        return self._make(TypeKind.OTHER, name=text)

    def describe(self, struct: int, source_type: int) -> None:
        """Say which of the source's types a struct is."""
        self._rows[struct].source_type = source_type

    def kind(self, of: int) -> TypeKind:
        """Return the kind of a type."""
        return self._rows[of].kind

    def elements(self, of: int) -> tuple[int, ...]:
        """Return the elements of a type."""
        return self._rows[of].elements

    def like(self, shape: int, element: int) -> int:
        """Return the vector of `element` as long as `shape`, or `element` if that is no vector."""
        row = self._rows[shape]
        if row.kind != TypeKind.VECTOR:
            return element
        return self._make(TypeKind.VECTOR, row.flags, bits=row.bits, elements=(element,))

    def element(self, of: int, index: int) -> int:
        """Return the type of element `index` of an array, vector or struct; -1 if it has none."""
        elements: Sequence[int] = self._rows[of].elements
        if self._rows[of].kind == TypeKind.STRUCT:
            return elements[index] if index < len(elements) else NO_TYPE
        return elements[0] if elements else NO_TYPE

    def table(self, data_layout: str) -> Types:
        """Return the columns, laid out for a target."""
        rows = self._rows
        kind = np.array([row.kind for row in rows], np.uint8)
        flags = np.array([row.flags for row in rows], np.uint8)
        bits = np.array([row.bits for row in rows], np.int64)
        offsets = offsets_of([len(row.elements) for row in rows]).astype(np.int32)
        elements = np.array([one for row in rows for one in row.elements], np.int32)
        size, align, field_offset = lay_out(kind, flags, bits, offsets, elements, data_layout)
        name = np.array([row.name for row in rows], np.int32)
        source = np.array([row.source_type for row in rows], np.int32)
        return Types(kind, flags, name, bits, size, align, offsets, elements, field_offset, source)

    def _make(
        self,
        kind: TypeKind,
        flags: TypeFlag = _PLAIN,
        *,
        name: Text = "",
        bits: int = 0,
        elements: tuple[int, ...] = (),
    ) -> int:
        key = (kind, flags, name, bits, elements)
        if key not in self._known:
            self._rows.append(_Row(kind, flags, self._symbols[name], bits, elements))
            self._known[key] = len(self._rows) - 1
        return self._known[key]
