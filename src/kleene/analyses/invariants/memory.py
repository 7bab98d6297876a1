"""Which bytes of memory are followed, and what accesses are to them.

A cell is followed where all accesses to any of its bytes are to the whole of it, at a constant
offset of one object. Of objects of which there may be several at a time (heap, locals of a loop),
and of accesses at other offsets, nothing is known but that they stay inside.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from kleene.analyses.invariants.expressions import Form, Kind, only
from kleene.analyses.invariants.flat import Access, Cell, Escape, FlatFunction, Object, Unwritten
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.library import has_others
from kleene.analyses.invariants.operations import (
    AnyValue,
    Assign,
    Choose,
    Guard,
    Havoc,
    Operation,
    Wrap,
)
from kleene.analyses.invariants.values import rank_of_constant
from kleene.ir import Program
from kleene.ir.codes import REPLACEABLE, ConstantKind, Flag, GlobalFlag


def resolve(program: Program, flat: FlatFunction, readings: Readings, *, is_main: bool) -> None:
    """Replace accesses and escapes by operations on cells; give cells of globals first values."""
    cells = _cells(flat, has_others(program))
    by_object: dict[int, list[Cell]] = defaultdict(list)
    for cell, kind in cells.items():
        flat.kinds[cell] = kind
        by_object[cell.object].append(cell)
    written = {
        one.object
        for block in flat.blocks
        for one in block.operations
        if isinstance(one, Access) and one.is_store
    }
    for block in flat.blocks:
        operations: list[Operation] = []
        origins: list[tuple[int, int]] = []
        for operation, origin in zip(block.operations, block.origins, strict=True):
            if isinstance(operation, Unwritten):
                is_kept = operation.object not in written
                is_kept &= not flat.objects[operation.object].is_exposed
                made: list[Operation] = [Guard(operation.condition)] if is_kept else []
            else:
                made = _resolved(operation, flat, cells, by_object)
            operations += made
            origins += [origin] * len(made)
        block.operations, block.origins = operations, origins
    is_main = is_main and not _has_constructors(program)
    first = [_first_value(program, flat, cell, is_main) for cell in cells]
    entry = flat.blocks[0]
    entry.operations[:0] = first
    entry.origins[:0] = [(0, -1)] * len(first)


def _has_constructors(program: Program) -> bool:
    """Return whether code runs before `main`, which may change globals."""
    names = (program.strings[symbol] for symbol in program.globals.name.tolist())
    return "llvm.global_ctors" in names


def _cells(flat: FlatFunction, has_others: bool) -> dict[Cell, Kind]:
    """Return the cells that can be followed; none that others may write to at any time."""
    found: dict[int, dict[tuple[int, int], Kind | None]] = defaultdict(dict)
    for block in flat.blocks:
        for one in block.operations:
            if isinstance(one, Access) and one.object is not None:
                if one.offset is None or one.offset.terms:
                    continue
                place = one.offset.constant, one.size
                if found[one.object].get(place) is None:
                    found[one.object][place] = one.kind
    cells = {}
    for object, places in found.items():
        storage = flat.objects[object]
        is_shared = storage.is_global or storage.is_exposed
        if not storage.is_single or (has_others and is_shared):
            continue
        for (offset, size), kind in places.items():
            overlaps = any(
                (at, bytes) != (offset, size) and at < offset + size and offset < at + max(bytes, 1)
                for at, bytes in places
                if bytes >= 0
            )
            if kind is not None and size > 0 and size * 8 == kind.width and not overlaps:
                cells[Cell(object, offset, size)] = kind
    return cells


def _resolved(
    operation: Operation,
    flat: FlatFunction,
    cells: dict[Cell, Kind],
    by_object: dict[int, list[Cell]],
) -> list[Operation]:
    if isinstance(operation, Escape):
        return _havoc(
            flat,
            by_object,
            lambda one: operation.everything or one.is_exposed or one.is_global,
        )
    if not isinstance(operation, Access):
        return [operation]
    cell = _cell(operation, cells)
    if operation.is_store:
        if operation.object is None:
            return _havoc(flat, by_object, lambda one: one.is_exposed)
        made = [] if cell is None else [_store(operation, cell, cells[cell])]
        keys = tuple(
            key for key in by_object[operation.object] if key != cell and _touches(operation, key)
        )
        return [*made, Havoc(keys)] if keys else made
    if operation.target is None:  # what is read is known already
        return []
    if cell is None:
        return [AnyValue(operation.target)]
    if cells[cell] == operation.kind:
        return [Assign(operation.target, only(cell))]
    assert operation.kind is not None
    if cells[cell].format != operation.kind.format:  # a union: the bits of one as the other
        return [AnyValue(operation.target)]
    return [Wrap(operation.target, only(cell), operation.kind)]


def _touches(access: Access, cell: Cell) -> bool:
    """Return whether a store may write to the bytes of a cell, or of the pointer it is about."""
    if access.is_aspect:
        return access.offset is None or bool(access.offset.terms)
    if access.size < 0 or access.offset is None or access.offset.terms:
        return True
    start = access.offset.constant
    return start < cell.place + cell.size and cell.place < start + access.size


def _cell(access: Access, cells: dict[Cell, Kind]) -> Cell | None:
    if access.object is None or access.offset is None or access.offset.terms:
        return None
    cell = Cell(access.object, access.offset.constant, access.size)
    return cell if cell in cells else None


def _store(access: Access, cell: Cell, kind: Kind) -> Operation:
    given = None if access.kind is None else access.kind.format
    if access.source is None or kind.format != given:
        return AnyValue(cell)
    if not isinstance(access.source, Form):
        return Choose(cell, access.source, Form((), 1), Form())
    if access.kind == kind:
        return Assign(cell, access.source)
    return Wrap(cell, access.source, kind)


def _havoc(
    flat: FlatFunction, by_object: dict[int, list[Cell]], may_be: Callable[[Object], bool]
) -> list[Operation]:
    keys = [
        key for object, found in by_object.items() if may_be(flat.objects[object]) for key in found
    ]
    return [Havoc(tuple(keys))] if keys else []


def _first_value(program: Program, flat: FlatFunction, cell: Cell, is_main: bool) -> Operation:
    """Return what a cell holds where the root begins: of a global of `main` its initializer."""
    object = flat.objects[cell.object]
    if object.value < 0 or cell.is_aspect:
        return AnyValue(cell)
    table = program.globals
    flags = int(table.flags[object.value])
    is_known = is_main or object.is_constant
    initializer = int(table.initializer[object.value])
    is_other = (
        flags & GlobalFlag.EXTERNALLY_INITIALIZED or table.linkage[object.value] in REPLACEABLE
    )
    if not is_known or initializer < 0 or is_other:
        return AnyValue(cell)
    kind = flat.kinds[cell]
    number = _content(program, initializer, cell.offset, cell.size, kind.format is not None)
    if number is None:
        return AnyValue(cell)
    return Assign(cell, Form((), kind.wrap(number)))


def _content(program: Program, value: int, offset: int, size: int, is_float: bool) -> int | None:
    """Return the integer, or the rank of the floating-point number, at some bytes of a constant."""
    row = value - program.bases[1]
    table, types = program.constants, program.types
    if not 0 <= row < len(table):
        return None
    kind, type_id = int(table.kind[row]), int(table.type[row])
    if kind in (ConstantKind.ZERO, ConstantKind.NULL):
        return 0
    is_whole = offset == 0 and size == int(program.store_size[type_id])
    if is_float and kind == ConstantKind.FLOAT and is_whole:
        return rank_of_constant(program, row)
    if kind == ConstantKind.INT and is_whole and not is_float:
        payload = int(table.payload[row])
        return int(program.strings[payload]) if table.flags[row] & Flag.WIDE else payload
    if kind == ConstantKind.AGGREGATE:
        elements = table.operands_of(row).tolist()
        if len(elements) != len(types.field_offsets_of(type_id)):
            step = int(types.size[types.elements_of(type_id)[0]])
            places = [step * place for place in range(len(elements))]
        else:
            places = types.field_offsets_of(type_id).tolist()
        for place, element in reversed(list(zip(places, elements, strict=True))):
            if place <= offset:
                return _content(program, element, offset - place, size, is_float)
    return None
