"""Where pointers point inside of their objects, and how large these are.

Three further systems of constraints have the names of those on values (`dataflow.constraints`). In
the first, the fact of a pointer is its offset in bytes from the start of the object it was made
from; in the second, the size of that object; in the third, its room, which is size - offset:

    p = malloc(n)        offset 0              size n         room n
    q = &p[i]            offset(p) + 4 * i     size(p)        room(p) - 4 * i
    r = φ(q, s)          either                either         either
    r = *cell            what was stored there
    *(int *)(p + 8)      behind it, offset(p) >= -8, size(p) >= 4 and room(p) >= 12

An access of k bytes is inside if its address has offset >= 0 and room >= k. Of r above, the room is
known better than the bounds of offset and size tell: those of one operand do not meet those of the
other. Behind an access its bytes were inside, since a run ends where its check fails; whatever the
object is, all bytes between two that were accessed are inside, too.

Of what is no pointer, all that is known of the values is given. Points-to tells which stores a load
may read, and no more: a pointer out of its object keeps its offset, so that an access through
it is noticed. Null has no offset, size or room; whether a pointer may be null is another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.command_line import POINTER_BYTES, command_line
from kleene.analyses.invariants.library import calls_by_model, character_loads
from kleene.analyses.invariants.models import Bound
from kleene.analyses.invariants.whole.addresses import (
    accesses,
    address_sums,
    constant_numbers,
)
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, Bools, offsets_of, ragged
from kleene.ir.codes import (
    REPLACEABLE,
    ConstantKind,
    GlobalFlag,
    GlobalKind,
    Opcode,
    TypeKind,
    ValueKind,
)
from kleene.solvers.dataflow import (
    ConstraintBuilder,
    Constraints,
    Operator,
    ValueFact,
    ValueFacts,
    solve,
)
from kleene.solvers.dataflow.codes import HAS_VALUE, STATE, STRIDE
from kleene.solvers.dataflow.values import packed
from kleene.transforms.splitting import NameKind

_DEEPEST = 4  # how many fields of fields an access tells about
_LARGEST = 1 << 62  # no object has as many bytes
_COPIES = (Operator.JOIN, Operator.FREEZE)
_FIRST_ONLY = (Operator.REFINE, Operator.EXCLUDE)


@dataclass(frozen=True, eq=False)
class Pointers:
    """Facts on the pointers of a program, by name.

    Attributes:
        offset: bytes from the start of the object that a pointer was made from.
        size: bytes of that object.
        room: bytes from the pointer to the end of that object.
    """

    offset: ValueFacts
    size: ValueFacts
    room: ValueFacts


class _About(Enum):
    """What a system's facts on pointers are about."""

    OFFSET = "offset"
    SIZE = "size"
    ROOM = "room"


def pointers_of(context: Context) -> Pointers:
    """Return what is known of all pointers."""
    writer = _Writer(context)
    return Pointers(*(solve(writer.system(about)) for about in _About))


def pointer_names(context: Context) -> Bools:
    """Return which names of constraints on values are pointers."""
    return _Writer(context).is_pointer


class _Writer:
    def __init__(self, context: Context) -> None:
        self._context, self._program = context, context.program
        self._table = self._program.instructions
        self._first = self._program.bases[ValueKind.INSTRUCTION]
        self._values = context.values.constraints
        self.is_pointer = self._pointers()

    def _pointers(self) -> Bools:
        """Return which names are pointers; of helpers, those that pointers are read from."""
        split, program, table = self._context.split, self._program, self._values
        types = program.value_types[split.value_of(np.arange(split.n_names))]
        found = np.zeros(table.n_names, bool)
        found[: split.n_names] = program.types.kind[types] == TypeKind.POINTER
        found &= table.width == 64
        owner = np.repeat(np.arange(table.n_names), np.diff(table.offsets))
        is_source = self._is_source(owner) & (table.operands >= split.n_names)
        owner, operand = owner[is_source], table.operands[is_source]
        while True:
            new = operand[found[owner] & ~found[operand]]
            if not len(new):
                return found
            found[new] = True

    def _has_none(self) -> Bools:
        """Return which names are of storage that begins with nothing written."""
        table, found = self._values, np.zeros(self._values.n_names, bool)
        rows = np.flatnonzero(table.operator == Operator.GIVEN)
        given = table.given.reshape(-1, STRIDE)[table.attribute[rows]]
        found[rows] = given[:, STATE] & HAS_VALUE == 0
        return found

    def _is_source(self, owner: I64) -> Bools:
        """Return which operands hand their pointer over to a pointer."""
        table = self._values
        code = table.operator[owner]
        nth = np.arange(len(owner)) - table.offsets[owner]
        found: Bools = np.isin(code, _COPIES) | (code == Operator.PHI) & (nth % 2 == 0)
        found |= (code == Operator.SELECT) & (nth > 0)
        found |= np.isin(code, _FIRST_ONLY) & (nth == 0) | (code == Operator.MEET) & (nth < 2)
        return found

    def system(self, about: _About) -> Constraints:
        """Return the constraints on offsets, sizes or rooms."""
        table, facts = self._values, self._context.facts
        build = ConstraintBuilder()
        names = build.names(table.n_names)
        others = np.flatnonzero(~self.is_pointer)
        given = build.given(facts.rows[others])
        build.define(others, Operator.GIVEN, width=table.width[others], attribute=given)
        build.define(np.flatnonzero(self.is_pointer), Operator.ANY, width=64)
        unwritten = np.flatnonzero(self.is_pointer & self._has_none())
        build.define(unwritten, Operator.NOTHING, width=64)
        self._any = int(build.names(1)[0])
        build.define([self._any], Operator.ANY, width=64)
        self._copy(build, names)
        self._accessed(build, about)
        self._constants(build, about)
        self._made(build, about)
        self._of_library(build, about)
        self._command_line(build, about)
        self._elements(build, about)
        return build.constraints()

    def _copy(self, build: ConstraintBuilder, names: I64) -> None:
        """Take over the constraints that hand pointers on; what is no pointer may point anywhere.

        Of a pointer that was compared, no more is kept than that it is the same. The first two
        operands of a MEET are names of it; others say what it is compared with.
        """
        table = self._values
        owner = np.repeat(np.arange(table.n_names), np.diff(table.offsets))
        nth = np.arange(len(owner)) - table.offsets[owner]
        is_guard = (table.operator[owner] == Operator.PHI) & (nth % 2 == 1)
        is_guard |= (table.operator[owner] == Operator.SELECT) & (nth == 0)
        operand = table.operands.astype(np.int64)
        operand = np.where(is_guard | self.is_pointer[operand], operand, self._any)
        kept = np.isin(table.operator, (*_COPIES, Operator.PHI, Operator.SELECT))
        rows = np.flatnonzero(kept & self.is_pointer)
        _, place = ragged(table.offsets[rows], table.offsets[rows + 1])
        lengths = np.diff(table.offsets)[rows]
        build.define(
            names[rows], table.operator[rows], operand[place], offsets=offsets_of(lengths), width=64
        )
        rows = np.flatnonzero(np.isin(table.operator, _FIRST_ONLY) & self.is_pointer)
        build.define(names[rows], Operator.JOIN, operand[table.offsets[rows]][:, None], width=64)
        rows = np.flatnonzero((table.operator == Operator.MEET) & self.is_pointer)
        begin = table.offsets[rows]
        pairs = np.stack([operand[begin], operand[begin + 1]], axis=1)
        build.define(names[rows], Operator.MEET, pairs, width=64)

    def _accessed(self, build: ConstraintBuilder, about: _About) -> None:
        """Say that the bytes of an access were inside of its object, for the names behind it.

        Let the address be p + d, with d constant. The access of k bytes passed its check: so
        0 <= offset(p) + d and k <= size - (offset(p) + d), which is room(p) - d.
        """
        names, operand, distance, n_bytes = self._behind_accesses
        least = {
            _About.OFFSET: -distance, _About.SIZE: n_bytes, _About.ROOM: n_bytes + distance,
        }[about]  # fmt: skip
        distinct, which = np.unique(least, return_inverse=True)
        facts = [
            ValueFact(64, low, _LARGEST, max(low, 0), _LARGEST if low >= 0 else (1 << 64) - 1, 0, 0)
            for low in distinct.tolist()
        ]
        known = build.names(len(distinct))
        build.define(known, Operator.GIVEN, width=64, attribute=build.given(packed(facts)))
        operand = np.where(self.is_pointer[operand], operand, self._any)
        pairs = np.stack([operand, known[which.reshape(-1)]], axis=1)
        build.define(names, Operator.MEET, pairs, width=64)

    @cached_property
    def _behind_accesses(self) -> tuple[I64, I64, I64, I64]:
        """Return names of pointers behind accesses that these tell about.

        The columns are the names, what they are called before, how many bytes behind the pointer
        the access begins, and how many it has.
        """
        split, table = self._context.split, self._table
        renamed = np.flatnonzero(
            (split.kind == NameKind.COPY) & (split.point < split.flow.n_instructions)
        )
        keys = split.point[renamed] * self._program.n_values + split.value[renamed]
        order = np.argsort(keys)
        renamed, keys = renamed[order], keys[order]
        row, place, n_bytes = accesses(self._program)
        is_known = n_bytes >= 0
        row, place, n_bytes = row[is_known], place[is_known], n_bytes[is_known]
        value = table.operands[place].astype(np.int64)
        distance = np.zeros(len(row), np.int64)
        plain, added = self._constant_elements()
        found: list[tuple[I64, I64, I64]] = []
        for _ in range(_DEEPEST):
            wanted = row * self._program.n_values + value
            at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            hits = keys[at] == wanted if len(keys) else np.zeros(len(at), bool)
            found.append((renamed[at[hits]], distance[hits], n_bytes[hits]))
            inner = value - self._first
            goes_on = inner >= 0
            goes_on[goes_on] = plain[inner[goes_on]]
            row, inner, n_bytes = row[goes_on], inner[goes_on], n_bytes[goes_on]
            distance = distance[goes_on] + added[inner]
            value = table.operands[table.offsets[inner]].astype(np.int64)
        names, distance, n_bytes = (np.concatenate(part) for part in zip(*found, strict=True))
        operand = split.operands[split.offsets[names]].astype(np.int64)
        names += self._program.n_values
        keep = self.is_pointer[names] & (operand >= 0) & (np.abs(distance) < _LARGEST // 2)
        return names[keep], operand[keep], distance[keep], n_bytes[keep]

    def _constant_elements(self) -> tuple[Bools, I64]:
        """Return which instructions add constants alone to an address, and how many bytes."""
        table = self._table
        rows = np.flatnonzero(table.opcode == Opcode.GETELEMENTPTR)
        starts, ends = table.offsets[rows].astype(np.int64), table.offsets[rows + 1]
        sums = address_sums(self._program, table.operands, starts, ends, table.about[rows])
        is_plain = sums.is_known.copy()
        is_plain[sums.row] = False
        plain, added = np.zeros(len(table), bool), np.zeros(len(table), np.int64)
        plain[rows], added[rows] = is_plain, sums.constant
        return plain, added

    # What makes pointers

    def _constants(self, build: ConstraintBuilder, about: _About) -> None:
        program, table = self._program, self._program.constants
        is_null = self.is_pointer & (self._values.operator == Operator.CONSTANT)
        is_null &= self._values.attribute == 0
        build.define(np.flatnonzero(is_null), Operator.NOTHING, width=64)
        size = self._global_sizes()
        is_variable = program.globals.kind == GlobalKind.VARIABLE
        known = np.flatnonzero(is_variable if about is _About.OFFSET else size >= 0)
        number = np.zeros(len(known), np.int64) if about is _About.OFFSET else size[known]
        build.define(known, Operator.CONSTANT, width=64, attribute=number)
        rows = np.flatnonzero(
            (table.kind == ConstantKind.EXPRESSION) & (table.opcode == Opcode.GETELEMENTPTR)
        )
        starts, ends = table.offsets[rows].astype(np.int64), table.offsets[rows + 1]
        base = table.operands[starts].astype(np.int64)
        sums = address_sums(program, table.operands, starts, ends, table.about[rows])
        plain = sums.is_known & (base < len(size))
        plain[sums.row] = False
        plain[plain] = size[base[plain]] >= 0
        names = rows[plain] + program.bases[ValueKind.CONSTANT]
        offset, whole = sums.constant[plain], size[base[plain]]
        number = {
            _About.OFFSET: offset, _About.SIZE: whole, _About.ROOM: whole - offset,
        }[about]  # fmt: skip
        inside = self.is_pointer[names]
        build.define(names[inside], Operator.CONSTANT, width=64, attribute=number[inside])

    def _global_sizes(self) -> I64:
        """Return how many bytes each global has; -1 where that is not known here.

        One that is only declared has the size of its type, but an array without a length.
        """
        program, table = self._program, self._program.globals
        size = program.types.size[table.type].astype(np.int64)
        is_open = (table.flags & GlobalFlag.DECLARATION != 0) & (size <= 0)  # `extern int a[];`
        is_open |= table.kind != GlobalKind.VARIABLE
        is_open |= np.isin(table.linkage, list(REPLACEABLE))
        return np.where(is_open, -1, size)

    def _made(self, build: ConstraintBuilder, about: _About) -> None:
        """Locals and what allocators return begin at their first byte."""
        made = self._locals(build), self._allocated(build), self._wrapped(build)
        rows, sizes = (np.concatenate(column) for column in zip(*made, strict=True))
        names = rows + self._first
        keep = self.is_pointer[names]
        if about is _About.OFFSET:
            build.define(names[keep], Operator.CONSTANT, width=64, attribute=0)
        else:
            build.define(names[keep], Operator.JOIN, sizes[keep][:, None], width=64)

    def _locals(self, build: ConstraintBuilder) -> tuple[I64, I64]:
        table = self._table
        rows = np.flatnonzero(table.opcode == Opcode.ALLOCA)
        each = self._program.types.size[table.about[rows]].astype(np.int64)
        rows, each = rows[each >= 0], each[each >= 0]
        sizes = self._numbers(build, each)
        has_count = np.flatnonzero(np.diff(table.offsets)[rows] > 0)
        counts = self._wide(build, table.offsets[rows[has_count]].astype(np.int64))
        products = build.names(len(has_count))
        pairs = np.stack([counts, sizes[has_count]], axis=1)
        build.define(products, Operator.MULTIPLY, pairs, width=64)
        sizes[has_count] = products
        return rows, sizes

    def _allocated(self, build: ConstraintBuilder) -> tuple[I64, I64]:
        """Return the calls that allocate, by their models, and names of how many bytes."""
        table = self._table
        found, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for model, rows in calls_by_model(self._program):
            if model.heap is None or not model.heap.arguments or model.heap.room is not None:
                continue
            mine = rows[np.diff(table.offsets)[rows] > 1 + max(model.heap.arguments)]
            found.append(mine)
            sizes.append(self._product(build, mine, model.heap))
        return np.concatenate(found), np.concatenate(sizes)

    def _wrapped(self, build: ConstraintBuilder) -> tuple[I64, I64]:
        """Return calls of wrappers that return new storage or null, and names of how many bytes.

        Points-to knows the size where it is a product of constants, which is exact below 2^31
        (`points_to.constraints.wrappers`). Of other sizes, what flows out of the wrapper stands.
        """
        points_to, program = self._context.points_to, self._program
        table = points_to.system.allocations
        wrappers = program.function_table.value[points_to.system.returning_new]
        chosen = (table.kind == AllocationKind.HEAP) & np.isin(table.callee, wrappers)
        chosen &= (table.n_bytes > 0) & (table.n_bytes < 1 << 31) & (table.site >= self._first)
        sizes = self._numbers(build, table.n_bytes[chosen].astype(np.int64))
        return table.site[chosen].astype(np.int64) - self._first, sizes

    def _of_library(self, build: ConstraintBuilder, about: _About) -> None:
        """Places that the C library returns, of so many bytes or more; its character tables."""
        for model, rows in calls_by_model(self._program):
            names = rows + self._first
            if model.place is None or not self.is_pointer[names].all():
                continue
            if about is _About.OFFSET:
                build.define(names, Operator.CONSTANT, width=64, attribute=0)
            else:
                fact = ValueFact(64, model.place, _LARGEST, model.place, _LARGEST, 0, 0)
                given = build.given(packed([fact] * len(names)))
                build.define(names, Operator.GIVEN, width=64, attribute=given)
        for row, (behind, size) in character_loads(self._program).items():
            number = {_About.OFFSET: behind, _About.SIZE: size, _About.ROOM: size - behind}[about]
            if self.is_pointer[row + self._first]:
                build.define([row + self._first], Operator.CONSTANT, width=64, attribute=number)

    def _command_line(self, build: ConstraintBuilder, about: _About) -> None:
        """`argv` of `main` points to the first of `argc` pointers and a null pointer."""
        found = command_line(self._program)
        if found is None or not self.is_pointer[found[1]]:
            return
        argc, argv = found
        if about is _About.OFFSET:
            build.define([argv], Operator.CONSTANT, width=64, attribute=0)
            return
        wide, pointers = build.names(1), build.names(1)
        each = self._numbers(build, np.array([POINTER_BYTES]))
        build.define(wide, Operator.SIGN_EXTEND, [[argc]], width=64)
        build.define(pointers, Operator.MULTIPLY, np.stack([wide, each], axis=1), width=64)
        build.define([argv], Operator.ADD, np.stack([pointers, each], axis=1), width=64)

    def _product(self, build: ConstraintBuilder, calls: I64, bound: Bound) -> I64:
        """Return names of the product of arguments, plus a constant."""
        at = self._table.offsets[calls].astype(np.int64) + 1
        size = self._wide(build, at + bound.arguments[0])
        others = [self._wide(build, at + place) for place in bound.arguments[1:]]
        operators = [Operator.MULTIPLY] * len(others)
        if bound.constant:
            others.append(self._numbers(build, np.full(len(calls), bound.constant)))
            operators.append(Operator.ADD)
        for operator, other in zip(operators, others, strict=True):
            pairs = np.stack([size, other], axis=1)
            size = build.names(len(calls))
            build.define(size, operator, pairs, width=64)
        return size

    def _elements(self, build: ConstraintBuilder, about: _About) -> None:
        """An element's address is that of the base plus each index times a size.

        There is as much less room behind it.

        The machine adds modulo 2^64, and so do these names: nothing is assumed about overflow.
        """
        table, operator = self._table, self._values.operator
        rows = np.flatnonzero(table.opcode == Opcode.GETELEMENTPTR)
        rows = rows[operator[rows + self._first] == Operator.ADDRESS]
        rows = rows[self.is_pointer[rows + self._first]]
        starts, ends = table.offsets[rows].astype(np.int64), table.offsets[rows + 1]
        base = self._context.split.operand[starts].astype(np.int64)
        base = np.where(self.is_pointer[base], base, self._any)
        if about is _About.SIZE:
            build.define(rows + self._first, Operator.JOIN, base[:, None], width=64)
            return
        step = Operator.ADD if about is _About.OFFSET else Operator.SUBTRACT
        sums = address_sums(self._program, table.operands, starts, ends, table.about[rows])
        total = base
        for nth in range(int(np.bincount(sums.row, minlength=1).max(initial=0))):
            order = np.argsort(sums.row, kind="stable")
            count = np.bincount(sums.row, minlength=len(rows))
            has = np.flatnonzero(count > nth)
            term = order[offsets_of(count)[:-1][has] + nth]
            index = self._wide(build, sums.place[term])
            product, made = build.names(len(has)), build.names(len(has))
            stride = self._numbers(build, sums.stride[term])
            pairs = np.stack([index, stride], axis=1)
            build.define(product, Operator.MULTIPLY, pairs, width=64)
            pairs = np.stack([total[has], product], axis=1)
            build.define(made, step, pairs, width=64)
            total = total.copy()
            total[has] = made
        pairs = np.stack([total, self._numbers(build, sums.constant)], axis=1)
        names = rows + self._first
        build.define(names[sums.is_known], step, pairs[sums.is_known], width=64)

    def _numbers(self, build: ConstraintBuilder, numbers: I64) -> I64:
        """Return names of numbers."""
        distinct, which = np.unique(numbers, return_inverse=True)
        names = build.names(len(distinct))
        build.define(names, Operator.CONSTANT, width=64, attribute=distinct)
        return names[which.reshape(-1)]

    def _wide(self, build: ConstraintBuilder, places: I64) -> I64:
        """Return operands, read as signed, as names of 64 bits."""
        operands = self._context.split.operand[places].astype(np.int64)
        width = self._context.values.width[self._table.operands[places]]
        names = np.where(width == 64, operands, self._any)
        narrow = np.flatnonzero((width > 0) & (width < 64))
        made = build.names(len(narrow))
        build.define(made, Operator.SIGN_EXTEND, operands[narrow][:, None], width=64)
        names[narrow] = made
        is_number, number = constant_numbers(
            self._program, self._table.operands[places].astype(np.int64)
        )
        is_number &= width > 0
        names[is_number] = self._numbers(build, number[is_number])
        return names
