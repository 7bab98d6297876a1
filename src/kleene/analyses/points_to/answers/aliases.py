"""May, or must, two pointers lead to the same bytes?

A pointer is a set of objects and the bytes it is used for: the largest load or store made through
it directly, 1 if there is none. The unknown may be itself and all that code outside knows. Of
columns of pointers, equal pairs are looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.answers.geometry import Geometry
from kleene.analyses.points_to.answers.sets import (
    Sets,
    Solved,
    explicit,
    sets_of,
    singles,
    unpacked,
)
from kleene.analyses.points_to.memory_model import UNKNOWN_OFFSET, AllocationKind
from kleene.base.arrays import I32, I64, U8, Bools, distinct, offsets_of, ragged
from kleene.base.errors import SourceError, raise_all
from kleene.graphs import Graph, Rows, depth_first, strong_components
from kleene.ir import Call, Global, Program, Value
from kleene.ir.codes import ConstantKind, GlobalFlag, Opcode, TypeKind, ValueKind
from kleene.results.call_graph import CallGraph

# Which operand of an access is the address, and which has the type of what is accessed (-1: the
# result has it).
_ADDRESS = {Opcode.LOAD: 0, Opcode.STORE: 1, Opcode.ATOMICRMW: 0, Opcode.CMPXCHG: 0}
_ACCESSED = {Opcode.LOAD: -1, Opcode.STORE: 0, Opcode.ATOMICRMW: 1, Opcode.CMPXCHG: 2}


@dataclass(frozen=True, slots=True, eq=False)
class Accesses:
    """Every load, store and atomic instruction: its row, its address, and how many bytes it is."""

    row: I64
    opcode: U8
    pointer: I64  # a value
    n_bytes: I64  # at least 1


def accesses_of(program: Program) -> Accesses:
    """Return the instructions that read or write memory directly."""
    table = program.instructions
    row = np.flatnonzero(np.isin(table.opcode, list(_ADDRESS)))
    opcode = table.opcode[row]
    address, accessed = np.zeros((2, 256), np.int64)
    address[list(_ADDRESS)], accessed[list(_ACCESSED)] = [*_ADDRESS.values()], [*_ACCESSED.values()]
    first = table.offsets[row]
    pointer = table.operands[first + address[opcode]]
    value = table.operands[first + np.maximum(accessed[opcode], 0)]
    is_result = accessed[opcode] < 0
    types = np.where(is_result, table.type[row], program.value_types[value])
    n_bytes = np.maximum(program.store_size[types], 1)
    return Accesses(row, opcode, pointer.astype(np.int64), n_bytes)


@dataclass(frozen=True, slots=True, eq=False)
class Pointers:
    """Some pointers: what each may hold, and the bytes it is used for."""

    sets: Sets
    n_bytes: I64

    @classmethod
    def of(cls, solved: Solved, groups: Rows, n_bytes: I64) -> Pointers:
        """Return groups of nodes as pointers; `n_bytes` is per node."""
        owner = np.repeat(np.arange(len(groups)), groups.lengths())
        most = np.ones(len(groups), np.int64)
        np.maximum.at(most, owner, n_bytes[groups.values])
        return cls(sets_of(solved, groups), most)

    def may_hold(self, objects: Bools) -> Bools:
        """Return which of the pointers may hold one of the objects."""
        known = self.sets.known
        found: Bools = np.diff(offsets_of(objects[known.values])[known.offsets]) > 0
        return found


class Aliases:
    """Answers which pointers of one solved program may, or must, alias."""

    def __init__(self, solved: Solved, graph: Callable[[], CallGraph]) -> None:
        self._solved, self._graph = solved, graph
        self._program, self._system = solved.program, solved.system
        self._solution = solved.solution
        self.geometry = Geometry(solved.system)

    def may_alias(self, left: I32, right: I32) -> bool:
        """Return whether what two groups of nodes hold may overlap."""
        unknown, known_outside = self._solution.unknown, self._solved.known_outside
        is_unknown, other_unknown = unknown[left].any(), unknown[right].any()
        ours, theirs = explicit(self._solution, left), explicit(self._solution, right)
        if is_unknown and (other_unknown or known_outside[theirs].any()):
            return True
        if other_unknown and known_outside[ours].any():
            return True
        sizes = (int(self.accessed_bytes[nodes].max(initial=1)) for nodes in (left, right))
        return self.geometry.overlap(ours, next(sizes), theirs, next(sizes))

    def may_alias_columns(self, left: Rows, right: Rows) -> Bools:
        """Return for each i whether `may_alias` holds of two groups of nodes."""
        (a, i), (b, j) = self._classes(left), self._classes(right)
        pairs, which = np.unique(i << 32 | j, return_inverse=True)
        i, j = pairs >> 32, pairs & 0xFFFFFFFF
        a_unknown, b_unknown = a.sets.unknown[i], b.sets.unknown[j]
        outside = self._solved.known_outside
        found: Bools = a_unknown & (b_unknown | b.may_hold(outside)[j])
        found |= b_unknown & a.may_hold(outside)[i]
        rest = np.flatnonzero(~found)
        found[rest] = self.geometry.overlap_columns(
            *(a.sets.known, a.n_bytes, b.sets.known, b.n_bytes), (i[rest], j[rest])
        )
        return np.asarray(found[which])

    def must_alias(self, left: I32, right: I32) -> bool:
        """Return whether two groups of nodes, where they hold an address, hold the same one.

        Both must be the same single exact object, of storage that exists once at a time: a global
        that is not per thread, a function, or a local made once by a function that runs once at a
        time.
        """
        if self._solution.unknown[left].any() or self._solution.unknown[right].any():
            return False
        ours, theirs = explicit(self._solution, left), explicit(self._solution, right)
        return len(ours) == 1 and np.array_equal(ours, theirs) and self.is_one_address(ours[0])

    def must_alias_columns(self, left: Rows, right: Rows) -> Bools:
        """Return for each i whether `must_alias` holds of two groups of nodes."""
        a, b = sets_of(self._solved, left), sets_of(self._solved, right)
        single = (a.known.lengths() == 1) & (b.known.lengths() == 1) & ~a.unknown & ~b.unknown
        some = np.flatnonzero(single)
        ours, theirs = a.objects[a.offsets[some]], b.objects[b.offsets[some]]
        some, ours = some[ours == theirs], ours[ours == theirs]
        objects, which = np.unique(ours, return_inverse=True)
        found = np.zeros(len(left), bool)
        found[some] = np.array([self.is_one_address(o) for o in objects.tolist()], bool)[which]
        return found

    @cached_property
    def accessed_bytes(self) -> I64:
        """Per node: the most bytes loaded or stored directly through it, at least 1."""
        found = np.ones(self._system.problem.n_nodes, np.int64)
        accesses = accesses_of(self._program)
        np.maximum.at(found, accesses.pointer, accesses.n_bytes)
        return found

    def _classes(self, groups: Rows) -> tuple[Pointers, I64]:
        """Return pointers of which each of the groups is like one, and which one that is."""
        if not (groups.lengths() == 1).all():
            pointers = Pointers.of(self._solved, groups, self.accessed_bytes)
            return pointers, np.arange(len(groups))
        nodes = groups.values
        sizes, size = np.unique(self.accessed_bytes[nodes], return_inverse=True)
        key = self._solution.row_of[nodes].astype(np.int64) * 2 + self._solution.unknown[nodes]
        _, first, which = np.unique(key * len(sizes) + size, return_index=True, return_inverse=True)
        pointers = Pointers.of(self._solved, singles(nodes[first]), self.accessed_bytes)
        return pointers, which.astype(np.int64)

    def is_one_address(self, object: int) -> bool:
        """Return whether an object stands for one address at a time."""
        allocation = self._system.locations.allocation[object]
        return bool(self.is_exact[object]) and bool(self.is_made_once[allocation])

    @cached_property
    def is_exact(self) -> Bools:
        """Per object: whether it stands for one offset in its allocation."""
        table = self._system.locations
        found: Bools = (table.stride == 0) & (table.byte != UNKNOWN_OFFSET)
        return found

    @cached_property
    def own_local(self) -> I64:
        """Per allocation: the function that, where it holds its address, means its own local one.

        That is so of a local variable made once each time the function runs, if the function holds
        its address only as computed from the variable: it did not get it as an argument, from
        memory or from a call, by which it could be that of another activation. -1 for none.
        """
        return np.where(self._is_local & ~self._comes_back, self._maker, -1)

    @cached_property
    def _comes_back(self) -> Bools:
        """Per allocation: whether its function gets its address other than by computing it."""
        program, solution = self._program, self._solution
        base = program.bases[ValueKind.INSTRUCTION]
        table, kept, maker = self._system.allocations, program.instructions, self._maker
        is_stack = maker >= 0
        computed = np.isin(
            kept.opcode,
            (
                *(Opcode.ALLOCA, Opcode.GETELEMENTPTR, Opcode.PHI, Opcode.SELECT),
                *(Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE),
            ),
        )
        rows = np.flatnonzero(~computed & self._system.may_hold_pointer[base : program.n_values])
        per_function = np.diff(program.function_table.argument_offsets)
        formals = np.arange(len(program.arguments))
        nodes = np.concatenate([base + rows, program.bases[ValueKind.ARGUMENT] + formals])
        within = np.concatenate(
            [
                program.instruction_function[rows],
                np.repeat(np.arange(len(per_function)), per_function),
            ]
        )
        sets, which = np.unique(solution.row_of[nodes], return_inverse=True)
        held = unpacked(solution, sets)
        pairs = distinct(within.astype(np.int64) << 32 | which)
        owner, place = ragged(
            held.offsets[pairs & 0xFFFFFFFF], held.offsets[(pairs & 0xFFFFFFFF) + 1]
        )
        allocation = self._system.locations.allocation[held.values[place]]
        found = np.zeros(len(table), bool)
        found[allocation[maker[allocation] == (pairs >> 32)[owner]]] = True
        # An unknown pointer may be that of any local that escaped.
        outside = distinct(self._system.locations.allocation[self._solved.known_outside])
        has_unknown = np.zeros(len(per_function), bool)
        has_unknown[within[solution.unknown[nodes]]] = True
        local = outside[is_stack[outside]]
        found[local[has_unknown[maker[local]]]] = True
        return found

    @cached_property
    def is_made_once(self) -> Bools:
        """Per allocation: whether it stands for one allocation at a time."""
        program, table = self._program, self._system.allocations
        found: Bools = table.kind == AllocationKind.FUNCTION
        is_global = table.kind == AllocationKind.GLOBAL
        flags = program.globals.flags[table.site[is_global]]
        found[is_global] = flags & GlobalFlag.THREAD_LOCAL == 0
        local = self._is_local
        found[local] = self._runs_once_at_a_time[self._maker[local]]
        return found

    @cached_property
    def _maker(self) -> I64:
        """Per allocation: the function whose local variable it is, or -1."""
        program, table = self._program, self._system.allocations
        is_stack = table.kind == AllocationKind.STACK
        found = np.full(len(table), -1, np.int64)
        row = table.site[is_stack] - program.bases[ValueKind.INSTRUCTION]
        found[is_stack] = program.instruction_function[row]
        return found

    @cached_property
    def _is_local(self) -> Bools:
        """Per allocation: whether it is an alloca that runs once each time its function does.

        That is one in the entry block, of one element.
        """
        program, instructions = self._program, self._program.instructions
        constants, first = program.constants, program.bases[ValueKind.CONSTANT]
        found = self._maker >= 0
        row = self._system.allocations.site[found] - program.bases[ValueKind.INSTRUCTION]
        count = instructions.operands[instructions.offsets[row]] - first
        is_one = (count >= 0) & (count < len(constants))
        number = count[is_one]
        is_one[is_one] = (constants.kind[number] == ConstantKind.INT) & (
            constants.payload[number] == 1
        )
        entry = program.function_table.block_offsets[self._maker[found]]
        found[found] = is_one & (instructions.block[row] == entry)
        return found

    @cached_property
    def _runs_once_at_a_time(self) -> Bools:
        """Per function: whether no two activations of it can exist at one time.

        That is so where it is on no cycle of calls and is not reached from outside the program or
        from a callback: both may run it in several threads, or again while it runs.
        """
        n_functions = self._graph().n_functions
        links = self._graph().links(callbacks_from_outside=True)
        graph = Graph.from_edges(n_functions + 1, *links)
        components = strong_components(graph)
        once = ~components.is_cyclic()[components.component]
        once[depth_first(graph, [n_functions]).preorder] = False
        found: Bools = once[:-1]
        return found


# Alias assertions of a program: calls such as `MAYALIAS(p, q)` say what is expected. Points-to
# analyses are may-analyses: they can refute that two pointers alias, not prove it. So suites of
# such assertions count a MAYALIAS, PARTIALALIAS or MUSTALIAS as passed if the two are not found
# apart, a NOALIAS if they are, and an EXPECTEDFAIL_X if X is not established. `answer` says more
# where more is known: "must" is a proof.

_ALIASED = ("may", "must")
_PASSING = {
    "MAYALIAS": _ALIASED,
    "MUSTALIAS": _ALIASED,
    "PARTIALALIAS": _ALIASED,
    "NOALIAS": ("no",),
    "EXPECTEDFAIL_MAYALIAS": ("no",),
    "EXPECTEDFAIL_NOALIAS": _ALIASED,
}
_SYMBOL = re.compile(r"(?:_Z\d+)?([A-Z_]*ALIAS)(?:[PKvS0_]*)")  # in C, or mangled by C++
Classify = Callable[[int, int], str]


@dataclass(frozen=True, slots=True)
class Check:
    """An assertion of the program and what the analysis says of it."""

    kind: str
    location: str  # file:line:column, or the function where there is no debug information
    function: str
    left: str
    right: str
    answer: str  # "no", "may" or "must"

    @property
    def passed(self) -> bool:
        """Whether the analysis gives the answer that is asserted."""
        return self.answer in _PASSING[self.kind]

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        what = f"{self.kind}({self.left}, {self.right})"
        return f"{self.location}: {verdict}: {what}: {self.answer} alias"

    def as_json(self) -> dict[str, object]:
        """Return the check as plain data."""
        return {**asdict(self), "passed": self.passed}


def checks_of(solved: Solved, classify: Classify) -> list[Check]:
    """Return every alias assertion of a program, with the answer, in the program's order.

    Raises:
        SourceError: an assertion has other arguments than two pointers (`points-to/bad-check`).
    """
    naming = solved.naming
    found = sorted(_assertions(solved.program), key=lambda assertion: assertion[1].id)
    raise_all(error for kind, call in found if (error := _fault(kind, call)) is not None)
    return [
        Check(
            kind,
            naming.value_location(call.id) or call.function.name,
            call.function.name,
            left=naming.readable(call.arguments[0].id),
            right=naming.readable(call.arguments[1].id),
            answer=_answer(classify, *call.arguments),
        )
        for kind, call in found
    ]


def _assertions(program: Program) -> Iterator[tuple[str, Call]]:
    for function in program.functions:
        found = _SYMBOL.fullmatch(function.name)
        kind = found[1] if found else ""
        for user in function.value.users if kind in _PASSING else ():
            if isinstance(user, Call) and user.callee == function.value:
                yield kind, user


def _fault(kind: str, call: Call) -> SourceError | None:
    arguments = call.arguments
    types = [str(argument.type) for argument in arguments]
    if len(arguments) == 2 and all(a.type.kind == TypeKind.POINTER for a in arguments):
        return None
    message = f"{kind} takes two pointers, not ({', '.join(types)})"
    note = f"declare it before use: void {kind}(void *, void *);"
    return SourceError(call.span, "points-to/bad-check", message, note)


def _answer(classify: Classify, left: Value, right: Value) -> str:
    """Return how two values alias; one value, cast or not, is one address."""
    plain, other = _stripped(left), _stripped(right)
    is_constant = not isinstance(plain, Global) and plain.kind.name == "CONSTANT"
    if plain == other and not is_constant:
        return "must"
    return classify(left.id, right.id)


def _stripped(value: Value) -> Value:
    """Return what a value is before casts that keep the address."""
    while getattr(value, "opcode", None) in (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE):
        value = value.operands[0]  # type: ignore[attr-defined]
    return value
