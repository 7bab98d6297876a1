"""Functions that hand out what an allocator gave them: each of their calls makes its own storage.

A *wrapper* returns new storage from allocators or other wrappers, arguments of its own (as a
wrapper of realloc does), globals or null, and nothing else. Within it the pointer to new storage
may be compared, used to read and write there, and kept in local variables; it is stored nowhere
else, and given to no function of the program.

A call of a wrapper holds storage of its own. What the body does to new storage it does to that of
every call: so each call in the body that makes some holds the storage of all calls of the wrapper.

Libraries allocate through pointers (`s->alloc(s->context, n)`). Where a solution shows that such a
call reaches one allocator alone, the constraints are generated again with the call *resolved*: it
makes storage of its own, as a call by name does. That stands if the new solution, too, shows that
all resolved calls reach their allocators alone. It is sound then: as long as a run has called
nothing else there, the new constraints hold of it, and they say that it calls nothing else next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.functions import CallTable
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.base.arrays import I64, Bools
from kleene.ir.codes import CALLS, ConstantKind, Opcode, Passing, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import Solution

_COPIES = (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE, Opcode.PHI, Opcode.SELECT)
_EMPTY = (ConstantKind.NULL, ConstantKind.UNDEF, ConstantKind.POISON, ConstantKind.INT)


@dataclass(frozen=True, slots=True)
class Allocator:
    """Whose call makes new storage: a modelled function, or a wrapper."""

    factors: tuple[int, ...] | None  # arguments whose product is the size; None if not known
    scale: int = 1  # times this many bytes
    returned: tuple[int, ...] = ()  # arguments that it may return instead
    others: tuple[int, ...] = ()  # values of globals and constants that it may return instead
    makers: tuple[int, ...] = ()  # of a wrapper: the calls in its body that make storage


@dataclass(slots=True)
class _Sources:
    """Where a value comes from."""

    makers: set[int] = field(default_factory=set)
    arguments: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)
    has_number: bool = False


def find_wrappers(
    columns: Columns, calls: CallTable, allocators: dict[int, Allocator], defined: Bools
) -> dict[int, Allocator]:
    """Return the wrappers among the defined functions, given the allocators, both by function."""
    search = _Search(columns, calls, dict(allocators), defined)
    waiting = list(search.callers_of(allocators))
    while waiting:
        function = waiting.pop()
        if function in search.allocators or not defined[function]:
            continue
        found = search.wrapper(function)
        if found is not None:
            search.allocators[function] = found
            waiting += search.callers_of([function])
    return {f: a for f, a in search.allocators.items() if f not in allocators}


def resolvable(program: Program, system: ConstraintSystem, solution: Solution) -> I64:
    """Return the calls through pointers that reach one function alone, an allocator, and that one.

    Pairs (instruction, function row), in order.
    """
    rule, function = solution.call_edges.T
    n_targets = np.bincount(rule, minlength=system.problem.n_calls)
    call = system.origins.call
    is_plain = (n_targets == 1) & ~solution.calls_outside & (call >= 0)
    is_plain[system.callbacks.reshape(-1, 2)[:, 1]] = False
    is_plain[system.virtual_callbacks.reshape(-1, 2)[:, 0]] = False
    allocation = system.locations.allocation[system.problem.function_object[function]]
    target = program.globals.function[system.allocations.site[allocation]].astype(np.int64)
    is_own = system.allocations.kind[allocation] == AllocationKind.FUNCTION
    chosen = is_plain[rule] & is_own & np.isin(target, system.allocators)
    pairs = np.stack([call[rule[chosen]].astype(np.int64), target[chosen]], axis=1)
    return np.unique(pairs, axis=0)


class _Search:
    def __init__(
        self, columns: Columns, calls: CallTable, allocators: dict[int, Allocator], defined: Bools
    ) -> None:
        self.columns, self.allocators, self.defined = columns, allocators, defined
        self.program: Program = columns.program
        self.base = self.program.bases[ValueKind.INSTRUCTION]
        order = np.argsort(calls.function, kind="stable")
        self._callee = calls.function[order]
        self._caller = self.program.instruction_function[calls.row[order]]
        self._function_at = calls.function_at
        self._rets = columns.rows(Opcode.RET)
        self._returning = self.program.instruction_function[self._rets]

    def function_of(self, call: int) -> int:
        """Return the function that an instruction calls for certain, -1 if it calls none."""
        return int(self._function_at[call])

    def opcode_of(self, row: int) -> int:
        """Return the opcode of an instruction."""
        return int(self.program.instructions.opcode[row])

    def operands_of(self, row: int) -> list[int]:
        """Return the operands of an instruction."""
        operands: list[int] = self.program.instructions.operands_of(row).tolist()
        return operands

    def returns_of(self, function: int) -> list[int]:
        """Return the instructions with which a function returns."""
        rows: list[int] = self._rets[self._returning == function].tolist()
        return rows

    def callers_of(self, functions: Iterable[int]) -> Iterator[int]:
        """Yield every function that calls one of these."""
        for function in functions:
            low, high = np.searchsorted(self._callee, [function, function + 1])
            yield from sorted(set(self._caller[low:high].tolist()))

    def wrapper(self, function: int) -> Allocator | None:
        """Return what calls of a function make, or None if it is no wrapper."""
        found = _Sources()
        for row in self.returns_of(function):
            operands = self.operands_of(row)
            if not operands or not self.trace(operands[0], found, set()):
                return None
        if not found.makers or not all(self.stays(maker) for maker in found.makers):
            return None
        first = int(self.program.function_table.argument_offsets[function])
        by_value = self.program.arguments.passing[list(found.arguments)] == Passing.BYVAL
        if by_value.any():
            return None
        returned = tuple(sorted(a - first for a in found.arguments))
        makers = tuple(sorted(found.makers))
        factors, scale = self.size(makers, first)
        return Allocator(factors, scale, returned, tuple(sorted(found.others)), makers)

    def trace(self, value: int, found: _Sources, seen: set[int]) -> bool:
        """Collect where a value comes from; return whether all of that is known."""
        if value in seen:
            return True
        seen.add(value)
        _, constants, arguments, blocks, instructions, _ = self.program.bases
        if value >= blocks:
            is_instruction = value >= instructions
            return is_instruction and self._trace_instruction(value - instructions, found, seen)
        if value >= arguments:
            found.arguments.add(value - arguments)
            return True
        kind = int(self.program.constants.kind[value - constants]) if value >= constants else -1
        found.has_number |= kind == ConstantKind.INT
        if kind not in _EMPTY:
            found.others.add(value)
        return True

    def _trace_instruction(self, row: int, found: _Sources, seen: set[int]) -> bool:
        opcode = self.opcode_of(row)
        operands = self.operands_of(row)
        if opcode in _COPIES:
            values = operands[::2] if opcode == Opcode.PHI else operands
            values = values[1:] if opcode == Opcode.SELECT else values
            return all(self.trace(value, found, seen) for value in values)
        if opcode == Opcode.LOAD:
            stored = self.stored_in(operands[0])
            return stored is not None and all(self.trace(v, found, seen) for v in stored)
        allocator = self.allocators.get(self.function_of(row))
        if opcode not in CALLS or allocator is None:
            return False
        found.makers.add(row)
        found.others.update(allocator.others)
        return all(
            position + 1 < len(operands) and self.trace(operands[position + 1], found, seen)
            for position in allocator.returned
        )

    def stored_in(self, pointer: int) -> list[int] | None:
        """Return all that is ever stored in a local variable; None if it is none, or is shared."""
        row = pointer - self.base
        if row < 0 or self.opcode_of(row) != Opcode.ALLOCA:
            return None
        stored = []
        for user, opcode in self.users_of(pointer).items():
            if opcode == Opcode.STORE and self.operands_of(user)[0] != pointer:
                stored.append(self.operands_of(user)[0])
            elif opcode != Opcode.LOAD and not self._is_mark(user):
                return None
        return stored

    def stays(self, maker: int) -> bool:
        """Return whether the pointer that a call makes is kept in the function, or returned."""
        waiting, seen = [(self.base + maker, False)], set()
        while waiting:
            value, is_inside = waiting.pop()  # inside: somewhere in the storage, not its start
            if value in seen:
                continue
            seen.add(value)
            for user, opcode in self.users_of(value).items():
                if opcode == Opcode.GETELEMENTPTR:
                    waiting.append((self.base + user, True))
                elif opcode in _COPIES:
                    waiting.append((self.base + user, is_inside))
                elif opcode == Opcode.STORE and self.operands_of(user)[0] == value:
                    slot = self.operands_of(user)[1]
                    if is_inside or self.stored_in(slot) is None:
                        return False
                    users = self.users_of(slot).items()
                    waiting += [
                        (self.base + row, False) for row, code in users if code == Opcode.LOAD
                    ]
                elif not self._is_harmless(user, opcode):
                    return False
        return True

    def _is_harmless(self, user: int, opcode: int) -> bool:
        if opcode in (Opcode.LOAD, Opcode.STORE, Opcode.ICMP, Opcode.RET):
            return True
        function = self.function_of(user)
        return opcode in CALLS and function >= 0 and not self.defined[function]

    def _is_mark(self, user: int) -> bool:
        """Return whether an instruction only says from where to where a variable lives."""
        function = self.function_of(user)
        if function < 0:
            return False
        symbol = self.program.globals.name[self.program.function_table.value[function]]
        return self.program.strings.raw(int(symbol)).startswith((b"llvm.lifetime.", b"llvm.dbg."))

    def users_of(self, value: int) -> dict[int, int]:
        """Return the opcode of every instruction that uses a value."""
        offsets, users = self.program.users
        rows = users[offsets[value] : offsets[value + 1]]
        return dict(
            zip(rows.tolist(), self.program.instructions.opcode[rows].tolist(), strict=True)
        )

    def size(self, makers: tuple[int, ...], first: int) -> tuple[tuple[int, ...] | None, int]:
        """Return the arguments and the number whose product is the size; None if not plain.

        Several calls that make storage (one for each alignment, say) must agree.
        """
        sizes = {self._size_at(maker, first) for maker in makers}
        return sizes.pop() if len(sizes) == 1 else (None, 1)

    def _size_at(self, maker: int, first: int) -> tuple[tuple[int, ...] | None, int]:
        allocator = self.allocators[self.function_of(maker)]
        operands = self.operands_of(maker)
        factors, scale = [], allocator.scale
        for position in allocator.factors if allocator.factors is not None else (len(operands),):
            if position + 1 >= len(operands):
                return None, 1
            for value in self._factors(operands[position + 1]):
                known, amount = self.columns.constant(np.array([value]))
                if known[0]:
                    scale *= int(amount[0])
                    continue
                found = _Sources()
                is_plain = self.trace(value, found, set())
                is_plain &= not (found.makers or found.others or found.has_number)
                if not is_plain or len(found.arguments) != 1:
                    return None, 1
                factors.append(found.arguments.pop() - first)
        return (tuple(factors), scale) if scale > 0 else (None, 1)

    def _factors(self, value: int) -> list[int]:
        """Return values whose product a value is, read as numbers that are not negative.

        The product of constants is exact below 2^31: no factor of one or more lets a width of 32
        bits wrap around that its product does not.
        """
        row = value - self.base
        if row >= 0 and self.opcode_of(row) in (Opcode.SEXT, Opcode.ZEXT):
            return self._factors(self.operands_of(row)[0])
        if row < 0 or self.opcode_of(row) != Opcode.MUL:
            return [value]
        return [factor for one in self.operands_of(row) for factor in self._factors(one)]
