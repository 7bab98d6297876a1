"""From debug metadata to the types of the source: members by name, each distinct type once.

A file compiled a hundred times describes a header's struct a hundred times. Types are one here if
their names, files, lines and sizes are equal, and so are those of their members, some levels deep:
two structs of one name that differ in any of these stay two.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I64, Bools, offsets_of, ragged
from kleene.base.demangling import demangled
from kleene.frontends.c.reader.metadata import (
    M_BASE,
    M_FILE,
    M_FLAGS,
    M_IDENTIFIER,
    M_KIND,
    M_LINE,
    M_NAME,
    M_OFFSET,
    M_SCOPE,
    M_SIZE,
    M_TABLE,
    M_TAG,
    TYPE,
)
from kleene.ir.tables import SourceTypes

# Tags of DWARF.
_ARRAY, _CLASS, _MEMBER, _POINTER, _REFERENCE, _STRUCT = 0x01, 0x02, 0x0D, 0x0F, 0x10, 0x13
_TYPEDEF, _UNION, _INHERITANCE, _TO_MEMBER, _RVALUE = 0x16, 0x17, 0x1C, 0x1F, 0x42
_CONST, _VOLATILE, _RESTRICT, _ALIAS, _ATOMIC = 0x26, 0x35, 0x37, 0x43, 0x47
_N_TAGS = 0x100  # more than there are of these
# Flags of types: declared only; of a base class: its place is known at run time; of a member: it is
# no part of the object.
_DECLARED, _VIRTUAL, _STATIC = 1 << 2, 1 << 5, 1 << 12
_LEVELS = 4  # of types in types whose differences are looked for
_MOST_HOPS = 64  # typedefs of typedefs
_PRIMES = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
_MOST_BITS = (1 << 31) - 1  # offsets behind are not told apart
_BYTE = 8  # bits
_LOW = (1 << 32) - 1
_NAMED_STRUCT = re.compile(rb"(?:struct|class|union)\.(?P<name>.+?)(?:\.\d+)?(?:\.base)?")
_QUALIFIED = re.compile(rb"(?:.*::)?([^:]+)", re.DOTALL)
_TABLE = "_vptr"  # what the pointer to a class's table of virtual functions is called
_WORD = 8  # its bytes


def _tags(*tags: int) -> Bools:
    table = np.zeros(_N_TAGS, bool)
    table[list(tags)] = True
    return table


_IS_RECORD = _tags(_STRUCT, _CLASS, _UNION)
_IS_SYNONYM = _tags(_TYPEDEF, _CONST, _VOLATILE, _RESTRICT, _ALIAS, _ATOMIC)
_IS_POINTER = _tags(_POINTER, _REFERENCE, _RVALUE, _TO_MEMBER)
_IS_PART = _tags(_MEMBER, _INHERITANCE)


class SourceTypeBuilder:
    """The types that metadata describes; those asked for become rows of a table.

    Types are counted from 0 here, members among them; the last cell of a column by type is for -1.
    """

    def __init__(self, nodes: I64, texts: list[bytes], add: Callable[[str], int]) -> None:
        """Take the nodes of metadata, all texts by symbol, and a way to make a symbol."""
        self._texts, self._add = texts, add
        self._nodes, self._rows = nodes, np.flatnonzero(nodes[:, M_KIND] == TYPE)
        self._place = np.full(len(nodes) + 1, -1, np.int64)
        self._place[self._rows] = np.arange(len(self._rows))
        tag = self._column(M_TAG)
        self._tag = np.where((tag >= 0) & (tag < _N_TAGS), tag, 0)
        self._name, self._size = self._column(M_NAME), self._column(M_SIZE)
        self._flags, self._offset = self._column(M_FLAGS), self._column(M_OFFSET)
        self._direct = self._place[self._column(M_BASE) - 1]  # a member's type, …
        self._is_defined = _IS_RECORD[self._tag] & (self._flags & _DECLARED == 0)
        self._row_of: dict[int, int] = {}

    def _column(self, column: int) -> I64:
        found = np.zeros(len(self._rows) + 1, np.int64)
        found[:-1] = self._nodes[self._rows, column]
        return found

    @cached_property
    def _meant(self) -> I64:
        """Per type: what its name stands for, behind typedefs and qualifiers.

        A class that is declared only stands for its definition, if one has its identifier.
        """
        meant = np.where(_IS_SYNONYM[self._tag], self._direct, np.arange(len(self._tag)))
        meant[-1] = -1
        declared = np.flatnonzero(_IS_RECORD[self._tag] & ~self._is_defined)
        identifier = self._nodes[self._rows[declared], M_IDENTIFIER]
        if identifier.any():
            defined = np.flatnonzero(self._is_defined)
            of_defined = self._nodes[self._rows[defined], M_IDENTIFIER]
            found = dict(zip(of_defined[::-1].tolist(), defined[::-1].tolist(), strict=True))
            for row, symbol in zip(declared.tolist(), identifier.tolist(), strict=True):
                meant[row] = found.get(symbol, row) if symbol else row
        for _ in range(_MOST_HOPS.bit_length()):
            further = meant[meant]
            if np.array_equal(further, meant):
                break
            meant = further
        return meant

    @cached_property
    def _base(self) -> I64:
        """Per type: what it is an array of or points to; per member: its type; or -1."""
        return self._meant[self._direct]

    @cached_property
    def _is_shaped(self) -> Bools:
        """Per type: it is an array, or a struct whose members are known."""
        return (self._tag == _ARRAY) | self._is_defined

    @cached_property
    def _members(self) -> tuple[I64, I64]:
        """CSR: offsets per type, and the members that lie in it, in the order of the table."""
        is_virtual = (self._tag == _INHERITANCE) & (self._flags & _VIRTUAL != 0)
        part = np.flatnonzero(_IS_PART[self._tag] & (self._flags & _STATIC == 0) & ~is_virtual)
        scope = self._place[self._nodes[self._rows[part], M_SCOPE] - 1]
        part, scope = part[scope >= 0], scope[scope >= 0]
        is_other = ~_IS_POINTER[self._tag[self._base[part]]]
        key = scope << 33 | np.minimum(self._offset[part], _MOST_BITS) << 1 | is_other
        counts = np.bincount(scope, minlength=len(self._rows))
        return offsets_of(counts), part[np.argsort(key, kind="stable")]

    @cached_property
    def _first(self) -> I64:
        """Per type: the first one that is the same."""
        shaped, (offsets, member) = np.flatnonzero(self._is_shaped), self._members
        node, starts, ends = self._rows[shaped], offsets[shaped], offsets[shaped + 1]
        place = self._nodes[node, M_FILE] << 32 | self._nodes[node, M_LINE]
        own = _mixed(place, 0) + _mixed(self._size[shaped] << 32 | self._name[shaped], 1)
        inside = member[ragged(starts, ends)[1]]
        part = _mixed(self._offset[inside] << 32 | self._name[inside], 2)
        has_members = ends > starts
        first_member = (np.cumsum(ends - starts) - (ends - starts))[has_members]
        number = (self._tag + (self._size << 8)).view(np.uint64)
        of_member, of_array = self._base[inside], self._base[shaped]
        for _ in range(_LEVELS):
            sums = np.zeros(len(shaped), np.uint64)  # modulo 2^64
            if len(first_member):
                mixed = _mixed((part + number[of_member]).view(np.int64), 0)
                sums[has_members] = np.add.reduceat(mixed, first_member)
            number[shaped] = _mixed((own + sums + number[of_array]).view(np.int64), 1)
        first = np.arange(len(self._tag))
        first[-1] = -1
        _, index, inverse = np.unique(number[shaped], return_index=True, return_inverse=True)
        first[shaped] = shaped[index][inverse]
        return first

    def of_variables(self, nodes: I64) -> tuple[I64, Bools]:
        """Return the row of each type node, or else of what it points to, and which it is.

        That is -1 for numbers, and for arrays of these and of pointers: they have no names.
        """
        types = self._meant[self._place[nodes]]
        is_pointer = _IS_POINTER[self._tag[types]]
        types = np.where(is_pointer, self._base[types], types)
        has_names = self._is_defined[self._innermost(types)]
        found = self._numbered(np.where(has_names, types, -1))
        return found, is_pointer & (found >= 0)

    def of_globals(self, nodes: I64) -> I64:
        """Return the row of each type node; -1 as above, and for pointers."""
        found, is_pointer = self.of_variables(nodes)
        return np.where(is_pointer, -1, found)

    def of_struct(self, name: bytes, n_bytes: int) -> int:
        """Return the row of the source's struct that an IR struct of this name is, or -1.

        That is the only one of its name and size; it is none where several have other members.
        """
        match = _NAMED_STRUCT.fullmatch(name)
        if match is None:
            return -1
        short = _QUALIFIED.fullmatch(match["name"])
        found = self._by_name.get(short[1] if short else match["name"], [])
        found = [row for row in found if int(self._size[row]) == n_bytes * _BYTE]
        if short and b"::" in match["name"]:
            found = [row for row in found if self._qualified(row) in (b"", _plain(match["name"]))]
        if not found or any(self._names(row) != self._names(found[0]) for row in found[1:]):
            return -1
        return self._row_of.setdefault(found[0], len(self._row_of))

    @cached_property
    def _by_name(self) -> dict[bytes, list[int]]:
        """Structs by their names in the source, without what templates are instantiated with."""
        found: dict[bytes, list[int]] = {}
        rows = np.flatnonzero(self._is_defined & (self._first == np.arange(len(self._first))))
        for row, symbol in zip(rows.tolist(), self._name[rows].tolist(), strict=True):
            if symbol:
                found.setdefault(self._texts[symbol].partition(b"<")[0], []).append(row)
        named = np.flatnonzero(self._tag == _TYPEDEF)
        record = self._direct[named]
        is_unnamed = self._is_defined[record] & (self._name[record] == 0)
        pairs = np.unique((self._name[named] << 32 | self._first[record])[is_unnamed])
        for symbol, row in zip((pairs >> 32).tolist(), (pairs & _LOW).tolist(), strict=True):
            found.setdefault(self._texts[symbol], []).append(row)  # typedef struct { … } name;
        return found

    def _qualified(self, row: int) -> bytes:
        """Return the name of a class with its namespaces, by its identifier; empty without one."""
        symbol = int(self._nodes[self._rows[row], M_IDENTIFIER])
        identifier = self._texts[symbol].decode(errors="replace") if symbol else ""
        found = demangled(f"_Z{identifier.removeprefix('_ZTS')}") if identifier else None
        return _plain(found.encode()) if found else b""

    def _names(self, row: int) -> list[list[int]]:
        """Return name and offset of each member."""
        offsets, member = self._members
        inside = member[offsets[row] : offsets[row + 1]]
        return [self._name[inside].tolist(), self._offset[inside].tolist()]

    def _numbered(self, types: I64) -> I64:
        """Return a row of the table for each type that is a struct or array, -1 for others."""
        first = np.where(self._is_shaped[types], self._first[types], -1)
        unique, inverse = np.unique(first, return_inverse=True)
        rows = [
            -1 if one < 0 else self._row_of.setdefault(one, len(self._row_of))
            for one in unique.tolist()
        ]
        return np.array(rows, np.int64)[inverse]

    def table(self) -> SourceTypes:
        """Return the types asked for, and those of their members."""
        types, counts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        parts = [np.empty((0, 4), np.int64)]
        n_done = 0
        while n_done < len(self._row_of):
            new = np.array(list(self._row_of)[n_done:], np.int64)
            n_done = len(self._row_of)
            owner, rows = self._parts(new)
            rows[:, -1] = self._numbered(rows[:, -1])
            types.append(new)
            counts.append(np.bincount(owner, minlength=len(new)))
            parts.append(rows)
        chosen = np.concatenate(types)
        is_array = self._tag[chosen] == _ARRAY
        return SourceTypes.of_columns(
            self._name[chosen],
            self._size[chosen] // _BYTE,
            np.where(is_array, self._n_bytes(self._innermost(chosen)), 0),
            offsets_of(np.concatenate(counts)),
            *np.concatenate(parts).T,
        )

    def _parts(self, types: I64) -> tuple[I64, I64]:
        """Return which of the types each member is in, and its name, byte, size and type.

        The pointer to a class's table is in no scope of the class; it comes first.
        """
        offsets, member = self._members
        in_struct, inside = ragged(offsets[types], offsets[types + 1])
        inside = member[inside]
        bit, own = self._offset[inside], self._size[inside]
        size = np.where(own > 0, own, self._size[self._base[inside]])
        n_bytes = (bit % _BYTE + size + _BYTE - 1) // _BYTE  # a bit-field lies across bytes
        members = np.stack([self._name[inside], bit // _BYTE, n_bytes, self._base[inside]], axis=1)
        in_array = np.flatnonzero(self._tag[types] == _ARRAY)
        element = self._innermost(types[in_array])
        zero = np.zeros(len(element), np.int64)
        elements = np.stack([zero, zero, self._n_bytes(element), element], axis=1)
        node = self._rows[types]
        in_class = np.flatnonzero(self._nodes[node, M_TABLE] == node + 1)
        table = [self._add(_TABLE), 0, _WORD, -1] if len(in_class) else [0, 0, 0, -1]
        tables = np.tile(np.array(table, np.int64), (len(in_class), 1))
        owner = np.concatenate([in_class, in_struct, in_array])
        order = np.argsort(owner, kind="stable")
        return owner[order], np.concatenate([tables, members, elements])[order]

    def _innermost(self, types: I64) -> I64:
        """Return what arrays of arrays are arrays of; other types stay."""
        for _ in range(_MOST_HOPS):
            is_array = self._tag[types] == _ARRAY
            if not is_array.any():
                break
            types = np.where(is_array, self._base[types], types)
        return types

    def _n_bytes(self, types: I64) -> I64:
        return np.maximum(self._size[types] // _BYTE, 1)


def _plain(name: bytes) -> bytes:
    """Return the name of a class as people write it, without template arguments."""
    return name.partition(b"<")[0].replace(b"std::__1::", b"std::")


def _mixed(numbers: I64, which: int) -> NDArray[np.uint64]:
    """Return numbers with their bits spread."""
    spread = (numbers.view(np.uint64) + _PRIMES[which]) * _PRIMES[which - 1]
    return spread ^ spread >> np.uint64(29)
