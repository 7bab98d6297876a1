"""How many bytes a type takes, and where its fields lie: the rules of LLVM's data layout.

The layout string (`e-p:64:64-i64:64-…`) states alignments in bits per kind and width; what it
leaves out has LLVM's default. An integer takes the alignment of the next wider stated one, a vector
or odd float that of its size rounded up to a power of two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from kleene.base.arrays import I32, I64, Ints
from kleene.base.errors import SourceError
from kleene.ir.codes import TypeFlag, TypeKind

_LARGEST = (1 << 63) - 1
_ALIGNMENT = re.compile(r"([ifva])(\d*):(\d+)(?::\d+)?")
_POINTER = re.compile(r"p[eu]*(\d*):(\d+):(\d+)(?::\d+){0,2}")
_IGNORED = re.compile(r"|[eE]|[mSAPGFns].*")  # byte order, mangling, registers, stack: no layout


@dataclass(slots=True)
class DataLayout:
    """What a layout string says, alignments and sizes in bits."""

    ints: dict[int, int] = field(default_factory=lambda: {1: 8, 8: 8, 16: 16, 32: 32, 64: 32})
    floats: dict[int, int] = field(default_factory=lambda: {16: 16, 32: 32, 64: 64, 128: 128})
    vectors: dict[int, int] = field(default_factory=lambda: {64: 64, 128: 128})
    pointers: dict[int, tuple[int, int]] = field(default_factory=lambda: {0: (64, 64)})
    aggregate: int = 8

    @classmethod
    def parse(cls, text: str) -> DataLayout:
        """Return the layout that `text` states; `ir/data-layout` where it is not one."""
        layout = cls()
        for part in text.split("-"):
            if found := _ALIGNMENT.fullmatch(part):
                layout._align(found[1], int(found[2] or 0), int(found[3]))
            elif found := _POINTER.fullmatch(part):
                layout.pointers[int(found[1] or 0)] = int(found[2]), max(8, int(found[3]))
            elif not _IGNORED.fullmatch(part):
                message = f"'{part}' is no part of a data layout"
                raise SourceError(None, "ir/data-layout", message, f"the layout is '{text}'")
        return layout

    def _align(self, letter: str, width: int, bits: int) -> None:
        if letter == "a":
            self.aggregate = max(8, bits)
        else:
            {"i": self.ints, "f": self.floats, "v": self.vectors}[letter][width] = max(8, bits)

    def scalar(self, kind: int, bits: int) -> tuple[int, int]:
        """Return the size in bits and the alignment in bytes of an integer, float or pointer."""
        if kind == TypeKind.POINTER:
            size, align = self.pointers.get(bits, self.pointers[0])
            return size, align // 8
        if kind == TypeKind.FLOAT:
            return bits, self.floats.get(bits, 8 * _power_of_two(_bytes(bits))) // 8
        wider = [width for width in self.ints if width >= bits]
        return bits, self.ints[min(wider, default=max(self.ints))] // 8

    def vector(self, bits: int) -> int:
        """Return the alignment in bytes of a vector of `bits`."""
        return self.vectors.get(bits, 8 * _power_of_two(_bytes(bits))) // 8


def lay_out(
    kind: Ints, flags: Ints, bits: Ints, offsets: Ints, elements: Ints, data_layout: str
) -> tuple[I64, I32, I64]:
    """Return the columns `size`, `align` and `field_offset` of `tables.Types`.

    Elements may refer to later rows. Unsized are void, labels, functions, opaque structs, scalable
    vectors, whatever contains one of these or itself, and what 63 bits cannot count.
    """
    rows = _Rows(DataLayout.parse(data_layout), kind, flags, bits, offsets, elements)
    for row in range(len(kind)):
        rows.place(row)
    return (
        np.array(rows.size, np.int64),
        np.array(rows.align, np.int32),
        np.array(rows.field_offset, np.int64),
    )


class _Rows:
    """The sizes found so far; `width` is a scalar's size in bits, for vectors of it."""

    def __init__(
        self, layout: DataLayout, kind: Ints, flags: Ints, bits: Ints, offsets: Ints, elements: Ints
    ) -> None:
        self.layout = layout
        self.kind, self.flags, self.bits = kind.tolist(), flags.tolist(), bits.tolist()
        self.offsets: list[int] = offsets.tolist()
        self.elements: list[int] = elements.tolist()
        self.size = [-1] * len(kind)
        self.align = [0] * len(kind)
        self.width = [-1] * len(kind)
        self.seen = [False] * len(kind)
        self.field_offset = [0] * len(self.elements)

    def place(self, row: int) -> None:
        """Size `row` after all it contains; a type met again on its own path stays unsized."""
        stack = [row]
        while stack:
            top = stack[-1]
            waiting = [] if self.seen[top] else self._contained(top)
            self.seen[top] = True
            new = [other for other in waiting if not self.seen[other]]
            if new:
                stack += new
                continue
            stack.pop()
            if self.size[top] < 0:
                self._measure(top)

    def _contained(self, row: int) -> list[int]:
        if self.kind[row] not in (TypeKind.ARRAY, TypeKind.VECTOR, TypeKind.STRUCT):
            return []
        return self.elements[self.offsets[row] : self.offsets[row + 1]]

    def _measure(self, row: int) -> None:
        kind, flags, count = self.kind[row], self.flags[row], self.bits[row]
        parts = self._contained(row)
        if flags & (TypeFlag.OPAQUE | TypeFlag.SCALABLE) or any(self.size[p] < 0 for p in parts):
            return
        if kind in (TypeKind.INT, TypeKind.FLOAT, TypeKind.POINTER):
            self.width[row], align = self.layout.scalar(kind, count)
            self._set(row, _bytes(self.width[row]), align)
        elif kind == TypeKind.VECTOR:
            n_bits = count * self.width[parts[0]]
            self._set(row, _bytes(n_bits), self.layout.vector(n_bits))
        elif kind == TypeKind.ARRAY:
            self._set(row, count * self.size[parts[0]], self.align[parts[0]])
        elif kind == TypeKind.STRUCT:
            self._struct(row, parts, bool(flags & TypeFlag.PACKED))

    def _struct(self, row: int, parts: list[int], packed: bool) -> None:
        end, widest = 0, 1 if packed else self.layout.aggregate // 8
        first = self.offsets[row]
        for position, part in enumerate(parts, first):
            align = 1 if packed else self.align[part]
            end = _round_up(end, align)
            self.field_offset[position] = min(end, _LARGEST)
            end += self.size[part]
            widest = max(widest, align)
        self._set(row, end, widest)

    def _set(self, row: int, n_bytes: int, align: int) -> None:
        size = _round_up(n_bytes, align)
        if size <= _LARGEST:
            self.size[row], self.align[row] = size, align


def _bytes(n_bits: int) -> int:
    return (n_bits + 7) // 8


def _round_up(size: int, align: int) -> int:
    return -(-size // align) * align


def _power_of_two(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()
