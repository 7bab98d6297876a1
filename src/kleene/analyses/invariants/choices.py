"""Pointers that are one of several others: into one object, or into one of several.

Where pointers join, at a loop or after `?:`, the offset is a variable. If they point into several
objects, a second variable says into which: `which`, the number of a `Target`. An access through
such a pointer is lowered once for each target, behind a test of `which` (`cases.py`). So one of
the targets is written to and the others are not; where the states of these cases are joined, each
holds what it held, or what was stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kleene.analyses.invariants.expressions import Always, Condition, Form, Kind, Relation, only
from kleene.analyses.invariants.flat import Base
from kleene.analyses.invariants.held import Held
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.objects import OTHER, Address, Choice, Target
from kleene.graphs import Graph, strong_components
from kleene.ir.codes import CALLS, REPLACEABLE, ConstantKind, Opcode, Passing, ValueKind

if TYPE_CHECKING:
    from kleene.analyses.invariants.values import Values

_WHICH = -(1 << 55)  # variables for the target of a pointer, by the pointer
_MOST_TARGETS = 6
_MOST_OFFSETS = 3  # of a target, that are told apart
_Steps = frozenset[int | None]  # how many bytes a pointer is behind its root; None: any number
_ANY: _Steps = frozenset((None,))
_NONE: _Steps = frozenset((0,))


class Choices:
    """The addresses of pointers that phis, `select`s and calls choose."""

    def __init__(self, values: Values) -> None:
        self._values, self._program = values, values.program
        self._table = values.program.instructions
        self.first = values.program.bases[ValueKind.INSTRUCTION]
        self._roots_of: dict[int, tuple[dict[int, _Steps], bool]] = {}
        self._numbers: dict[tuple[int | None, Base | None], int] = {}  # of targets
        self._made: dict[Base, Choice] = {}
        self.held = Held(values, self)
        self._returned_by: dict[int, tuple[dict[int, _Steps], bool] | None] = {}

    def of(self, context: int, value: int) -> Address | None:
        """Return the address that a phi, `select` or call is, if all that it is made from is known.

        Its offset is a variable of its own, and so is which object it points into, if there are
        several. That an object is the one which its root r stands for now, and no older one of the
        same call or `alloca`, needs a proof. There is only one if r is executed once: it is an
        argument or a global, or is in no loop. And if r alone is chosen, and strictly dominates a
        value x that is made from it, no run comes from a later execution of r to a use of x
        without executing x again. Else the way from the entry to the first r, where no x is yet,
        and from there to the use, would be one to the use without x, though x dominates its uses.
        """
        roots, may_be_null = self._roots(value)
        is_alone = len(roots) == 1 and not may_be_null
        found, is_other, presents = [], False, set()
        for root, steps in roots.items():
            address = self._values.address(context, root)
            into = self.targets_of(address)
            presents.add(address.is_present)
            is_other |= not into
            for one in into:
                if is_alone or (one.number != OTHER and self._is_lasting(root, one)):
                    found.append(_further(one, steps))
                else:
                    is_other = True
                    self._expose(one)
        targets = self.merged(found)
        if not self.are_few(targets) or (
            is_other and not any(one.object is not None for one in targets)
        ):
            return None
        if may_be_null or len(presents) > 1 or is_other:
            presents = {Relation(only(self._values.base(context, value)), "ne")}
        (present,) = presents
        return self._address(context, value, targets, present, is_other=is_other)

    def _expose(self, target: Target) -> None:
        """Note that pointers to what is not known may point to an object that is made again."""
        if target.object is not None:
            self._values.flat.objects[target.object].is_exposed = True

    def of_load(self, context: int, value: int, place: int) -> Address | None:
        """Return the address that a pointer is which is read from memory, if it may be known."""
        targets = self.held.targets(context, place)
        if not targets:
            return None
        present = Relation(only(self._values.base(context, value)), "ne")
        return self._address(context, value, targets, present, is_other=True)

    def _address(
        self, context: int, value: int, targets: tuple[Target, ...], present: Condition,
        *, is_other: bool,
    ) -> Address:  # fmt: skip
        """Return the address of a pointer into one of some targets, or of others, too."""
        key, which = Base(context, ~value), None
        self._values.flat.kinds[key] = Kind(64, False)
        if is_other:
            other = Target(OTHER, None, self._values.base(context, value), None, (0,))
            targets = (*targets, other)
        if len(targets) > 1:
            which = Base(context, _WHICH - value)
            self._values.flat.kinds[which] = Kind(64, False)
        choice = self._made[Base(context, value)] = Choice(key, which, targets)
        address = Address(None, only(key), present, choice=choice)
        if which is not None:
            return address
        address, (target,) = address.into(targets[0], None), targets
        if len(target.offsets) > 1 or target.is_open:
            return address._replace(choice=choice)
        offset = Form((), target.offsets[0]) if target.offsets else address.offset
        return address._replace(offset=offset)

    def merged(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return each target once."""
        found: dict[int, list[Target]] = {}
        for one in targets:
            found.setdefault(one.number, []).append(one)
        return tuple(map(_merged, found.values()))

    def are_few(self, targets: Collection[object]) -> bool:
        """Return whether there are some targets, and not too many."""
        return 0 < len(targets) <= _MOST_TARGETS

    def targets_of(self, address: Address) -> tuple[Target, ...]:
        """Return what an address may point into; nothing if that is not known."""
        offset, choice = address.offset, address.choice
        if choice is not None:
            steps = None if offset is None else offset.plus(only(choice.offset), -1)
            is_known = steps is not None and not steps.terms
            further = frozenset((steps.constant,)) if steps is not None and is_known else _ANY
            return tuple(_further(one, further) for one in choice.targets)
        if address.object is None and address.root is None:
            return ()
        key = address.object, address.root
        number = self._numbers.setdefault(key, len(self._numbers))
        is_known = offset is not None and not offset.terms
        offsets = (offset.constant,) if offset is not None and is_known else ()
        return (Target(number, *key, address.extent, offsets),)

    def made_from_nothing(self, value: int) -> list[int]:
        """Return the locals, globals, arguments and allocations that a pointer is made from."""
        return [
            one
            for one in self._roots(value)[0]
            if one < self.first
            or self._table.opcode[one - self.first] == Opcode.ALLOCA
            or (
                self._table.opcode[one - self.first] in CALLS
                and model_of(self._program, int(self._table.operands_of(one - self.first)[0])).heap
                is not None
            )
        ]

    def places_read(self, value: int) -> list[int]:
        """Return where the pointers are read that a pointer is made from."""
        rows = [one - self.first for one in self._roots(value)[0]]
        return [
            int(self._table.operands_of(row)[0])
            for row in rows
            if row >= 0 and self._table.opcode[row] == Opcode.LOAD
        ]

    def is_from_arguments(self, value: int) -> bool:
        """Return whether a call returns nothing but what it was given, globals and null."""
        return self._made_from(value) is not None

    def chosen(self, context: int, value: int) -> Choice | None:
        """Return what a phi, `select` or call chooses from, if that is followed."""
        self._values.of(context, value)
        return self._made.get(Base(context, value))

    def offset(self, choice: Choice, one: Address) -> Form | None:
        """Return the offset of a pointer that is chosen: of null, one that others have."""
        if self.targets_of(one):
            return one.offset
        return Form((), (*choice.targets[0].offsets, 0)[0])

    def which(self, choice: Choice, one: Address) -> Form | None:
        """Return the number of the target of a pointer that is chosen: of null, another one's."""
        numbers = {target.number for target in choice.targets}
        if any(target.number not in numbers for target in self.targets_of(one)):
            return Form((), OTHER) if OTHER in numbers and one.which is None else None
        if not self.targets_of(one) and one.is_present != Always(False):
            return Form((), OTHER)
        if one.choice is not None and one.choice.which is not None:
            return only(one.choice.which)
        return Form((), (*self.targets_of(one), *choice.targets)[0].number)

    # What pointers are made from

    def _is_lasting(self, root: int, target: Target) -> bool:
        """Return whether a root that points into a target stands for one object only.

        It does if the root is set at most once while its function runs, or the object is made once.
        """
        row = root - self.first
        is_once = row < 0 or not self.is_in_loop[int(self._table.block[row])]
        return is_once or self.held.is_made_once(target)

    @cached_property
    def is_in_loop(self) -> list[bool]:
        """Whether each block of the program may run again after it has run."""
        offsets, targets = self._program.successors
        found = strong_components(Graph(offsets.astype(np.int64), targets))
        in_loop: list[bool] = found.is_cyclic()[found.component].tolist()
        return in_loop

    def _roots(self, value: int) -> tuple[dict[int, _Steps], bool]:
        """Return the pointers that a pointer is made from, null apart: whether it may be that."""
        if value not in self._roots_of:
            steps: dict[int, _Steps] = {value: _NONE}
            todo, roots, may_be_null = [value], set(), False
            while todo:
                one = todo.pop()
                if self._is_null(one):
                    may_be_null = True
                    continue
                given = self._made_from(one)
                if given is None:
                    roots.add(one)
                    continue
                may_be_null |= self._may_give_null(one)
                for each, further in given.items():
                    known = steps.get(each, frozenset())
                    steps[each] = _few(known | _sums(steps[one], further))
                    if steps[each] != known:
                        todo.append(each)
            self._roots_of[value] = {one: steps[one] for one in sorted(roots)}, may_be_null
        return self._roots_of[value]

    def _made_from(self, value: int) -> dict[int, _Steps] | None:
        """Return the pointers that one is chosen from, or steps from; None if it is a root."""
        row = value - self.first
        if row < 0 or not self._values.is_pointer(value):
            return None
        opcode, operands = int(self._table.opcode[row]), self._table.operands_of(row).tolist()
        steps = _NONE
        if opcode == Opcode.PHI:
            found = operands[::2]
        elif opcode == Opcode.SELECT:
            found = operands[1:]
        elif opcode in (Opcode.BITCAST, Opcode.FREEZE):
            found = operands[:1]
        elif opcode == Opcode.GETELEMENTPTR:
            found, about = operands[:1], int(self._table.about[row])
            steps = frozenset((self._values.objects.constant_step(value, operands, about),))
        elif opcode == Opcode.LOAD and (other := self._values.repeated(value)) is not None:
            found = [other]
        elif opcode in CALLS:
            return self._made_by_call(row, operands)
        else:
            return None
        return dict.fromkeys(found, steps) if all(map(self._values.is_pointer, found)) else None

    def _made_by_call(self, row: int, operands: list[int]) -> dict[int, _Steps] | None:
        """Return what the result of a call is made from: arguments, or globals."""
        model, n_actuals = model_of(self._program, operands[0]), self._n_actuals(operands)
        if model.returns is not None and model.returns < n_actuals:
            given = {operands[1 + model.returns]: _NONE if model.is_copy else _ANY}
            return given if all(map(self._values.is_pointer, given)) else None
        callee = self._callee(operands[0])
        returned = None if callee is None else self._returned(callee)
        if callee is None or returned is None:
            return None
        first, end = self._program.function_table.argument_offsets[callee : callee + 2].tolist()
        if end - first != n_actuals:
            return None
        found: dict[int, _Steps] = {}
        for root, steps in returned[0].items():
            kind, place = self._program.locate(root)
            actual = operands[1 + place - first] if kind == ValueKind.ARGUMENT else root
            if not self._values.is_pointer(actual):
                return None
            found[actual] = _few(found.get(actual, frozenset()) | steps)
        return found

    def _n_actuals(self, operands: list[int]) -> int:
        low, high = self._program.bases[ValueKind.BLOCK], self.first
        return sum(not low <= one < high for one in operands[1:])

    def _callee(self, callee: int) -> int | None:
        """Return the function that a call runs, if it is one that is not replaced."""
        table = self._program.globals
        if callee >= len(table) or (row := int(table.function[callee])) < 0:
            return None
        blocks = self._program.function_table.block_offsets[row : row + 2].tolist()
        formals = self._program.function_table.argument_offsets[row : row + 2].tolist()
        passing = self._program.arguments.passing[formals[0] : formals[1]].tolist()
        is_plain = all(one in (Passing.DIRECT, Passing.SRET) for one in passing)
        is_known = is_plain and table.linkage[callee] not in REPLACEABLE and blocks[0] < blocks[1]
        return row if is_known and model_of(self._program, callee).is_unknown else None

    def _returned(self, function: int) -> tuple[dict[int, _Steps], bool] | None:
        """Return the arguments and globals that a function returns, null apart, and whether it may.

        None if it returns anything else. What a function returns that calls itself is not known.
        """
        if function not in self._returned_by:
            self._returned_by[function] = None
            blocks = self._program.function_table.block_offsets[function : function + 2]
            first, end = self._program.blocks.instruction_offsets[blocks].tolist()
            rows = np.flatnonzero(self._table.opcode[first:end] == Opcode.RET) + first
            given = [self._table.operands_of(int(row)).tolist() for row in rows]
            found: dict[int, _Steps] = {}
            may_be_null = False
            for one in (one for operands in given for one in operands):
                roots, is_null = self._roots(one)
                may_be_null |= is_null
                for root, steps in roots.items():
                    found[root] = _few(found.get(root, frozenset()) | steps)
            if all(one < self.first for one in found):
                self._returned_by[function] = found, may_be_null
        return self._returned_by[function]

    def _may_give_null(self, value: int) -> bool:
        row = value - self.first
        if row < 0 or self._table.opcode[row] not in CALLS:
            return False
        called = int(self._table.operands_of(row)[0])
        callee = self._callee(called)
        returned = None if callee is None else self._returned(callee)
        return model_of(self._program, called).may_be_null or bool(returned and returned[1])

    def _is_null(self, value: int) -> bool:
        row = value - self._program.bases[ValueKind.CONSTANT]
        kinds = self._program.constants.kind
        return 0 <= row < len(kinds) and kinds[row] == ConstantKind.NULL


def _sums(left: _Steps, right: _Steps) -> _Steps:
    """Return the sums of two numbers of bytes."""
    if None in left or None in right:
        return _ANY
    return frozenset(a + b for a in left for b in right if a is not None and b is not None)


def _few(steps: _Steps) -> _Steps:
    return _ANY if None in steps or len(steps) > _MOST_OFFSETS else steps


def _at(target: Target, offsets: _Steps) -> Target:
    """Return a target at some offsets, if these are few."""
    few = () if None in offsets or len(offsets) > _MOST_OFFSETS else offsets
    return target._replace(offsets=tuple(sorted(one for one in few if one is not None)))


def _further(target: Target, steps: _Steps) -> Target:
    """Return a target some bytes further."""
    return _at(target, _sums(frozenset(target.offsets) or _ANY, steps))


def _merged(found: list[Target]) -> Target:
    """Return one target for several that are the same object."""
    offsets: _Steps = frozenset()
    for one in found:
        offsets |= frozenset(one.offsets) or _ANY
    extent = found[0].extent if all(one.extent == found[0].extent for one in found) else None
    is_open = any(one.is_open for one in found)
    return _at(found[0]._replace(extent=extent, is_open=is_open), offsets)
