"""One numbering for equal programs: rows that have no order of their own, by first appearance.

Globals, functions, arguments, blocks and instructions stand in the order of the program. Constants,
types, spans and text are only ever referred to: here each is numbered by where it is first needed,
and what nobody needs is dropped. Two programs are then the same if their columns are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import I32, I64, offsets_of, ragged
from kleene.ir.codes import ConstantKind, Flag, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.tables import Strings, Table

Array = NDArray[Any]
_TEXT_KINDS = (
    ConstantKind.STRING,
    ConstantKind.ASSEMBLY,
    ConstantKind.METADATA,
    ConstantKind.WRAPPED,
    ConstantKind.UNKNOWN,
)


def canonical(program: Program) -> Program:
    """Return the same program in the canonical numbering."""
    for step in (_sort_rows, _constants, _types, _spans, _strings):
        program = step(program)
    return program


def same(left: Program, right: Program) -> str | None:
    """Return the first difference between two programs, or None if they are the same."""
    for word in ("name", "triple", "data_layout"):
        if getattr(left, word) != getattr(right, word):
            return f"{word}: {getattr(left, word)!r} is not {getattr(right, word)!r}"
    left, right = canonical(left), canonical(right)
    for name, table in vars(left).items():
        if isinstance(table, Table):
            other = getattr(right, name)
            for column, mine in table.columns():
                if difference := _difference(mine, getattr(other, column)):
                    return f"{name}.{column}{difference}"
    return None


def holds_text(program: Program) -> NDArray[np.bool_]:
    """Return which constants have a symbol as payload."""
    table = program.constants
    is_number = np.isin(table.kind, [ConstantKind.INT, ConstantKind.FLOAT])
    is_wide = (table.flags & Flag.WIDE) != 0
    return np.asarray(np.isin(table.kind, _TEXT_KINDS) | (is_number & is_wide), bool)


def holds_type(program: Program) -> NDArray[np.bool_]:
    """Return which constants have a type as `about`; others have a symbol or predicate there."""
    table = program.constants
    is_predicate = np.isin(table.opcode, [Opcode.ICMP, Opcode.FCMP])
    is_expression = table.kind == ConstantKind.EXPRESSION
    return np.asarray(is_expression & ~is_predicate & (table.about >= 0), bool)


def _difference(mine: Array, theirs: Array) -> str | None:
    """Return where two columns differ, and how."""
    if len(mine) != len(theirs):
        return f": {len(mine)} rows are not {len(theirs)}"
    places = np.flatnonzero(mine != theirs)
    if not len(places):
        return None if mine.dtype == theirs.dtype else f": {mine.dtype} is not {theirs.dtype}"
    first = places[0]
    return f"[{first}]: {mine[first]} is not {theirs[first]}"


def _sort_rows(program: Program) -> Program:
    """Return the program with variables by function, and what hangs on instructions by these."""
    order = np.argsort(program.variables.function, kind="stable")
    bindings = replace(
        program.bindings, variable=_inverse(order)[program.bindings.variable].astype(np.int32)
    )
    return replace(
        program,
        variables=_take(program.variables, order),
        bindings=_take(bindings, np.argsort(bindings.before, kind="stable")),
        passed=_take(program.passed, np.argsort(program.passed.operand, kind="stable")),
        bundles=_take(program.bundles, np.argsort(program.bundles.instruction, kind="stable")),
    )


def _constants(program: Program) -> Program:
    base, end = program.bases[ValueKind.CONSTANT], program.bases[ValueKind.ARGUMENT]
    table = program.constants
    roots = [
        program.globals.initializer,
        program.function_table.personality,
        program.instructions.operands,
        program.bindings.value,
        program.bundles.operands,
    ]

    def constants_in(values: Array) -> Array:
        return values[(values >= base) & (values < end)] - base

    def needed(rows: Array) -> Array:
        return constants_in(_gather(table.offsets, table.operands, rows))

    order = _appearance(constants_in(np.concatenate(roots)), len(table), needed)
    values = np.arange(program.n_values + 1, dtype=np.int64)  # the last is for -1
    values[-1] = -1
    values[base:end] = base + _inverse(order, len(table))
    values[end:-1] += len(order) - len(table)

    def renumber(column: I32) -> I32:
        return values[column].astype(np.int32)

    kept = _take(table, order)
    return replace(
        program,
        globals=replace(program.globals, initializer=renumber(program.globals.initializer)),
        function_table=replace(
            program.function_table, personality=renumber(program.function_table.personality)
        ),
        instructions=replace(
            program.instructions, operands=renumber(program.instructions.operands)
        ),
        constants=replace(kept, operands=renumber(kept.operands)),
        bindings=replace(program.bindings, value=renumber(program.bindings.value)),
        bundles=replace(program.bundles, operands=renumber(program.bundles.operands)),
    )


def _types(program: Program) -> Program:
    table, constants = program.types, program.constants
    has_type = holds_type(program)
    roots = [
        program.globals.type,
        program.value_types,
        program.arguments.passed_type,
        program.instructions.about,
        constants.about[has_type],
        program.passed.type,
    ]

    def needed(rows: Array) -> Array:
        return _gather(table.offsets, table.elements, rows)

    order = _appearance(np.concatenate(roots), len(table), needed)
    renumber = _renumbering(order, len(table))
    about = constants.about.copy()
    about[has_type] = renumber(about[has_type])
    kept = _take(table, order)
    return replace(
        program,
        types=replace(kept, elements=renumber(kept.elements)),
        globals=replace(program.globals, type=renumber(program.globals.type)),
        arguments=replace(
            program.arguments,
            type=renumber(program.arguments.type),
            passed_type=renumber(program.arguments.passed_type),
        ),
        instructions=replace(
            program.instructions,
            type=renumber(program.instructions.type),
            about=renumber(program.instructions.about),
        ),
        constants=replace(constants, type=renumber(constants.type), about=about),
        passed=replace(program.passed, type=renumber(program.passed.type)),
    )


def _spans(program: Program) -> Program:
    """Return the program with equal spans made one: LLVM keeps an inlined call's copies apart."""
    table = program.spans
    first = _first_equal(_matrix(table), table.inlined_at)
    roots = [program.globals.span, program.instructions.span, program.variables.span]

    def needed(rows: Array) -> Array:
        return _pick(first, table.inlined_at[rows])

    order = _appearance(_pick(first, np.concatenate(roots)), len(table), needed)
    place = _renumbering(order, len(table))

    def renumber(column: I32) -> I32:
        return place(_pick(first, column))

    kept = _take(table, order)
    return replace(
        program,
        spans=replace(kept, inlined_at=renumber(kept.inlined_at)),
        globals=replace(program.globals, span=renumber(program.globals.span)),
        instructions=replace(program.instructions, span=renumber(program.instructions.span)),
        variables=replace(program.variables, span=renumber(program.variables.span)),
    )


def _first_equal(rows: I64, inlined_at: I32) -> Array:
    """Return for each span the first with its content, those inlined one level deeper last."""
    first = np.arange(len(rows))
    level = np.flatnonzero(inlined_at < 0)
    while len(level):
        content = rows[level]
        content[:, -1] = _pick(first, content[:, -1])
        _, index, inverse = np.unique(content, axis=0, return_index=True, return_inverse=True)
        first[level] = level[index][inverse.ravel()]
        level = np.flatnonzero(np.isin(inlined_at, level) & (inlined_at >= 0))
    return first


def _strings(program: Program) -> Program:
    """Return the program with each text once, by first use; symbol 0 is the empty text."""
    has_text = holds_text(program)
    is_assembly = program.constants.kind == ConstantKind.ASSEMBLY
    constants = program.constants
    payload, about = constants.payload.copy(), constants.about.copy()
    columns: list[Array] = [
        program.types.name,
        program.globals.name,
        program.globals.source_name,
        program.arguments.name,
        program.blocks.name,
        program.instructions.name,
        payload[has_text],
        about[is_assembly],
        program.spans.file,
        program.spans.scope,
        program.variables.name,
        program.bundles.tag,
        program.notice_table.text,
    ]
    strings, renumber = _intern(program.strings, np.concatenate(columns))
    payload[has_text] = renumber[payload[has_text]]
    about[is_assembly] = renumber[about[is_assembly]]

    def names(table: Any, *words: str) -> Any:
        return replace(table, **{word: renumber[getattr(table, word)] for word in words})

    return replace(
        program,
        strings=strings,
        types=names(program.types, "name"),
        globals=names(program.globals, "name", "source_name"),
        arguments=names(program.arguments, "name"),
        blocks=names(program.blocks, "name"),
        instructions=names(program.instructions, "name"),
        constants=replace(constants, payload=payload, about=about),
        spans=names(program.spans, "file", "scope"),
        variables=names(program.variables, "name"),
        bundles=names(program.bundles, "tag"),
        notice_table=names(program.notice_table, "text"),
    )


def _intern(strings: Strings, used: Array) -> tuple[Strings, I32]:
    """Return the texts used, each once, and the new symbol of every old one."""
    symbols: dict[bytes, int] = {b"": 0}
    renumber = np.zeros(len(strings), np.int32)
    for symbol in _unique_in_order(used).tolist():
        renumber[symbol] = symbols.setdefault(strings.raw(symbol), len(symbols))
    return Strings.of(list(symbols)), renumber


def _appearance(roots: Array, n_rows: int, needed: Callable[[Array], Array]) -> Array:
    """Return the rows reached from `roots`, by first appearance, then level by level."""
    seen = np.zeros(n_rows, bool)
    levels = [np.empty(0, np.int64)]
    level = roots
    while len(level):
        level = _unique_in_order(level[level >= 0])
        level = level[~seen[level]]
        seen[level] = True
        levels.append(level)
        level = needed(level)
    return np.concatenate(levels)


def _unique_in_order(items: Array) -> Array:
    """Return each item once, in the order in which they first appear."""
    found, places = np.unique(items, return_index=True)
    return found[np.argsort(places, kind="stable")]


def _inverse(order: Array, n_rows: int | None = None) -> Array:
    """Return the new place of each row, -1 where it is left out."""
    inverse = np.full(len(order) if n_rows is None else n_rows, -1, np.int64)
    inverse[order] = np.arange(len(order))
    return inverse


def _renumbering(order: Array, n_rows: int) -> Callable[[I32], I32]:
    """Return the function from old to new ids; -1 stays what it is."""
    places = np.append(_inverse(order, n_rows), -1).astype(np.int32)
    return lambda column: places[column]


def _pick(first: Array, column: Array) -> Array:
    """Return `first[column]`, where -1 stays what it is."""
    return np.append(first, -1)[column]


def _gather(offsets: I32, items: Array, rows: Array) -> Array:
    """Return the items of the given rows of a CSR, one row after the other."""
    _, places = ragged(offsets[rows], offsets[rows + 1])
    return np.asarray(items[places])


def _take(table: Any, order: Array) -> Any:
    """Return the table with the given rows; columns behind `offsets` follow their rows."""
    chosen = {}
    for name, column in table.columns():
        if name == "offsets":
            chosen[name] = offsets_of(np.diff(column)[order]).astype(column.dtype)
        elif name in ("operands", "elements", "field_offset"):
            chosen[name] = _gather(table.offsets, column, order)
        else:
            chosen[name] = column[order]
    return type(table)(**chosen)


def _matrix(table: Table) -> I64:
    """Return a table as one matrix, a column each."""
    return np.stack([column for _, column in table.columns()], axis=1).astype(np.int64)
