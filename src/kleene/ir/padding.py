"""Which bytes of a type are in none of its members."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kleene.ir.codes import TypeKind
from kleene.ir.program import Program

_LARGEST = 4096  # bytes of a type that is looked into


@lru_cache(maxsize=256)
def padding_of(program: Program, type_id: int) -> frozenset[int]:
    """Return the bytes of a type that are in none of its members; of a large one, none.

    A union has none: what is padding in one of its members may be in another.
    """
    types = program.types
    size, kind = int(types.size[type_id]), int(types.kind[type_id])
    is_union = program.strings[int(types.name[type_id])].startswith("union.")
    if kind not in (TypeKind.STRUCT, TypeKind.ARRAY) or not 0 < size <= _LARGEST or is_union:
        return frozenset()
    members: list[int] = types.elements_of(type_id).tolist()
    starts: Sequence[int] = types.field_offsets_of(type_id).tolist()
    if kind == TypeKind.ARRAY:
        each = int(types.size[members[0]])
        starts = range(0, size, each)
        members *= len(starts)
    left = set(range(size))
    for start, member in zip(starts, members, strict=True):
        inside = {start + one for one in padding_of(program, member)}
        left -= set(range(start, start + int(types.size[member]))) - inside
    return frozenset(left)


__all__ = ["padding_of"]
