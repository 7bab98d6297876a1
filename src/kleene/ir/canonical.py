"""One numbering for equal programs: rows that have no order of their own, by first appearance.

Globals, functions, arguments, blocks and instructions stand in the order of the program. Constants,
types, spans and text are only ever referred to: here each is numbered by where it is first needed,
and what nobody needs is dropped. Two programs are then the same if their columns are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kleene.base.arrays import offsets_of, ragged
from kleene.ir.codes import ConstantKind, Flag, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.ir.tables import Strings, To, meanings

Array = NDArray[Any]
Rows = NDArray[np.bool_] | slice
_ALL = slice(None)
_NUMBERS = (ConstantKind.INT, ConstantKind.FLOAT)
_TEXTS = (
    ConstantKind.STRING,
    ConstantKind.ASSEMBLY,
    ConstantKind.METADATA,
    ConstantKind.WRAPPED,
    ConstantKind.UNKNOWN,
)


def canonical(program: Program) -> Program:
    """Return the same program in the canonical numbering."""
    program = _by_appearance(_sort_rows(program), "value", "constants")
    program = _by_appearance(program, "type", "types")
    program = _by_appearance(program, "source_type", "source_types")
    program = _by_appearance(_merge_spans(program), "span", "spans")
    return _strings(program)


def without_unused_constants(program: Program) -> Program:
    """Return the program without the constants that nothing refers to; others keep their order."""
    used = np.sort(_used_rows(program, "value", "constants", np.unique))
    is_whole = len(used) == len(program.constants)
    return program if is_whole else _with_rows(program, "value", "constants", used)


def same(left: Program, right: Program) -> str | None:
    """Return the first difference between two programs, or None if they are the same."""
    for word in ("name", "triple", "data_layout"):
        if getattr(left, word) != getattr(right, word):
            return f"{word}: {getattr(left, word)!r} is not {getattr(right, word)!r}"
    theirs = canonical(right).tables()
    for name, table in canonical(left).tables().items():
        for column, mine in table.columns():
            if difference := _difference(mine, getattr(theirs[name], column)):
                return f"{name}.{column}{difference}"
    return None


def references(program: Program) -> Iterator[tuple[str, str, To, Rows]]:
    """Yield the columns of ids: table, column, of what, and the rows that have such an id.

    What the payload of a constant and its `about` are depends on its kind.
    """
    for name, table in program.tables().items():
        for column, meaning in meanings(type(table)).items():
            if isinstance(meaning, To):
                yield name, column, meaning, _ALL
    constants, symbol = program.constants, To("symbol")
    is_wide = np.isin(constants.kind, _NUMBERS) & ((constants.flags & Flag.WIDE) != 0)
    yield "constants", "payload", symbol, np.isin(constants.kind, _TEXTS) | is_wide
    yield "constants", "about", symbol, constants.kind == ConstantKind.ASSEMBLY
    is_comparison = np.isin(constants.opcode, [Opcode.ICMP, Opcode.FCMP])  # about: the predicate
    is_operation = (constants.kind == ConstantKind.EXPRESSION) & ~is_comparison
    yield "constants", "about", To("type"), is_operation & (constants.about >= 0)


def renumbered(program: Program, what: str, new_ids: Array) -> Program:
    """Return the program with `new_ids[id]` for every id of `what`; the last is for -1."""
    changed: dict[str, dict[str, Array]] = {}
    for name, column, meaning, rows in references(program):
        if meaning.what == what:
            ids = changed.setdefault(name, {}).setdefault(
                column, getattr(getattr(program, name), column).copy()
            )
            ids[rows] = new_ids[ids[rows]]
    tables: dict[str, Any] = program.tables()
    for name, columns in changed.items():
        tables[name] = replace(tables[name], **columns)
    return replace(program, **tables)


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
    program = renumbered(program, "variable", np.argsort(order))
    bindings, passed, bundles = program.bindings, program.passed, program.bundles
    return replace(
        program,
        variables=_take(program.variables, order),
        bindings=_take(bindings, np.argsort(bindings.before, kind="stable")),
        passed=_take(passed, np.argsort(passed.operand, kind="stable")),
        bundles=_take(bundles, np.argsort(bundles.instruction, kind="stable")),
    )


def _by_appearance(program: Program, what: str, name: str) -> Program:
    """Return the program with the rows of a table, whose ids are `what`, by first appearance."""
    return _with_rows(program, what, name, _used_rows(program, what, name, _unique_in_order))


def _used_rows(program: Program, what: str, name: str, distinct: Callable[[Array], Array]) -> Array:
    """Return the rows of a table that other tables refer to, then those that these refer to."""
    table, low = program.tables()[name], _first_id(program, what)
    roots: list[Array] = []
    own = []
    for of, column, meaning, rows in references(program):
        if meaning.what == what and of == name:
            own.append(column)
        elif meaning.what == what:
            roots.append(getattr(getattr(program, of), column)[rows])
    if what == "type":
        roots.append(program.value_types)  # those of globals' addresses and of labels, too
    seen = np.zeros(len(table), bool)
    levels, level = [np.empty(0, np.int64)], np.concatenate(roots)
    while len(level):
        level = distinct(level[(level >= low) & (level < low + len(table))] - low)
        levels.append(level[~seen[level]])
        seen[level] = True
        level = np.concatenate([_of_rows(table, column, levels[-1]) for column in own])
    return np.concatenate(levels)


def _with_rows(program: Program, what: str, name: str, order: Array) -> Program:
    """Return the program with these rows of a table, whose ids are `what`, in this order."""
    table, low = program.tables()[name], _first_id(program, what)
    n_ids = program.n_values if what == "value" else len(table)
    new_ids = np.arange(n_ids + 1)
    new_ids[low : low + len(table)] = -1
    new_ids[low + order] = low + np.arange(len(order))
    new_ids[low + len(table) :] -= len(table) - len(order)
    new_ids[-1] = -1
    kept: dict[str, Any] = {name: _take(table, order)}
    return renumbered(replace(program, **kept), what, new_ids)


def _first_id(program: Program, what: str) -> int:
    return program.bases[ValueKind.CONSTANT] if what == "value" else 0


def _merge_spans(program: Program) -> Program:
    """Return the program with equal spans made one: LLVM keeps an inlined call's copies apart."""
    table = program.spans
    rows = np.stack([column for _, column in table.columns()], axis=1).astype(np.int64)
    first = np.append(np.arange(len(rows)), -1)
    level = np.flatnonzero(table.inlined_at < 0)
    while len(level):  # those inlined one level deeper last
        content = rows[level]
        content[:, -1] = first[content[:, -1]]
        _, index, inverse = np.unique(content, axis=0, return_index=True, return_inverse=True)
        first[level] = level[index][inverse.ravel()]
        level = np.flatnonzero(np.isin(table.inlined_at, level) & (table.inlined_at >= 0))
    return renumbered(program, "span", first)


def _strings(program: Program) -> Program:
    """Return the program with each text once, by first use; symbol 0 is the empty text."""
    used = [
        getattr(getattr(program, name), column)[rows]
        for name, column, meaning, rows in references(program)
        if meaning.what == "symbol"
    ]
    symbols: dict[bytes, int] = {b"": 0}
    new_ids = np.zeros(len(program.strings) + 1, np.int32)
    for symbol in _unique_in_order(np.concatenate(used)).tolist():
        new_ids[symbol] = symbols.setdefault(program.strings.raw(symbol), len(symbols))
    return replace(renumbered(program, "symbol", new_ids), strings=Strings.of(list(symbols)))


def _unique_in_order(items: Array) -> Array:
    """Return each item once, in the order in which they first appear."""
    found, places = np.unique(items, return_index=True)
    return found[np.argsort(places, kind="stable")]


def _of_rows(table: Any, name: str, rows: Array) -> Array:
    """Return a column's cells of the given rows; behind `offsets`, one row after the other."""
    column: Array = getattr(table, name)
    into = meanings(type(table)).get("offsets")
    if into is None or name not in into.items:
        return column[rows]
    return column[ragged(table.offsets[rows], table.offsets[rows + 1])[1]]


def _take(table: Any, order: Array) -> Any:
    """Return the table with the given rows."""
    chosen = {
        name: _of_rows(table, name, order) for name, _ in table.columns() if name != "offsets"
    }
    if hasattr(table, "offsets"):
        chosen["offsets"] = offsets_of(np.diff(table.offsets)[order]).astype(np.int32)
    return type(table)(**chosen)
