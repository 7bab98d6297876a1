"""Storage that pointers of a whole program may hold, and who ends it.

An allocation of points-to is a bit, and a set of allocations an integer: all storage of one site
together. One more bit is for storage outside: that of unknown pointers. What can be ended is

    the heap        by `free`, `realloc` and their like, and by functions outside that nobody knows
    locals          by the return of their function, if their address is kept in memory or returned;
                    and by `llvm.lifetime.end`, if they may be used behind that
    what is outside by `free` of an unknown pointer, and by functions that nobody knows

and `ended_by_call` is what a call may end, with all that it calls. A *root* of a pointer is what
its address is computed from: the pointer without additions of offsets and casts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.models import Model
from kleene.analyses.invariants.whole.scopes import uses_behind_end
from kleene.analyses.points_to.answers.sets import unpacked
from kleene.analyses.points_to.library.language import Calls as CallsEffect
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.base.arrays import I64, Bools
from kleene.graphs import Graph, strong_components
from kleene.ir.codes import CALLS, ConstantKind, Flag, GlobalKind, Opcode, ValueKind

_ADDS = (Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE)
_COMPUTED = (*_ADDS, Opcode.ALLOCA, Opcode.PHI, Opcode.SELECT)
_ENDS_FIRST = re.compile(r"free|cfree|realloc|reallocarray|fclose|pclose|closedir|_Zd[la]Pv.*")
# Of functions that points-to has a model of: those that may end storage by other ways.
_MAY_END = re.compile(
    r".*(free|Free|delete|Delete|destroy|Destroy|realloc|getline|getdelim|End$|_close|fcloseall)"
    r".*|tsearch|argz_.*|envz_.*|setvbuf|__cxa_end_catch|_ZNS.*|_ZNK?S.*"
)
_THREADS = ("pthread_create", "thrd_create")
ALIVE = -1  # a root that is always alive: a global, a constant, a local but those of `mortal`


class Storage:
    """The sets of allocations that values hold and calls end, as integers."""

    def __init__(self, context: Context) -> None:
        self._context, self.program = context, context.program
        self._table = self.program.instructions
        self._points_to = context.points_to
        self._allocations = self._points_to.system.allocations
        self._bases = self.program.bases
        self._first = self._bases[ValueKind.INSTRUCTION]
        self._is_heap = np.isin(
            self._allocations.kind, (AllocationKind.HEAP, AllocationKind.EXCEPTION)
        )
        self._is_stack = np.isin(
            self._allocations.kind, (AllocationKind.STACK, AllocationKind.COPY)
        )
        self._is_mortal = self._mortal_locals()
        self._is_kept = self._is_mortal | (self._is_stack & self._held_by(_COMPUTED))
        self._number = np.cumsum(self._is_heap | self._is_kept)
        self._outside = 1
        self._offsets: list[int] = self._table.offsets.tolist()
        self._operands: list[int] = self._table.operands.tolist()
        self._names_of: dict[int, str | None] = {}
        self._models: dict[int, Model] = {}
        self._row_sets = self._sets()

    def operands(self, row: int) -> list[int]:
        """Return the operands of an instruction."""
        return self._operands[self._offsets[row] : self._offsets[row + 1]]

    # What pointers hold

    def _held_by(self, others: tuple[Opcode, ...]) -> Bools:
        """Return the allocations that a pointer may hold that none of the `others` made.

        A local whose address may be found where its function is over is held by a pointer that
        comes from memory or from a call; else every pointer to it is computed in its function, or
        passed down by it.
        """
        points_to, table = self._points_to, self._table
        rows = np.flatnonzero(~np.isin(table.opcode, others))
        values = rows + self._first
        values = values[points_to.system.may_hold_pointer[values]]
        sets = np.unique(points_to.solution.row_of[values])
        objects = np.unique(unpacked(points_to.solution, sets).values)
        if points_to.solution.unknown[values].any():
            objects = np.union1d(objects, np.flatnonzero(points_to.known_outside))
        found = np.zeros(len(self._allocations), bool)
        found[points_to.system.locations.allocation[objects]] = True
        return found

    def _mortal_locals(self) -> Bools:
        """Return the locals that may be used where `llvm.lifetime.end` has ended them.

        They are used there by an address that is computed from the local alone, or by a pointer
        that may hold others, too.
        """
        scoped = self.program.scoped_locals
        found = np.isin(self._allocations.site, scoped) & self._is_stack
        late = uses_behind_end(self.program, self._origins, scoped)
        self._late_uses = {(row, local) for row, local in late}
        is_late = np.isin(self._allocations.site, [local for _, local in late])
        return found & (is_late | self._held_by((*_ADDS, Opcode.ALLOCA)))

    def is_late(self, row: int, pointer: int) -> bool:
        """Return whether an instruction may use a local, named by itself, behind its end."""
        return (row, self._origins[pointer]) in self._late_uses

    def _sets(self) -> list[int]:
        """Return the allocations of each set of points-to that values have."""
        solution, n_values = self._points_to.solution, self.program.n_values
        rows, which = np.unique(solution.row_of[:n_values], return_inverse=True)
        self._row_of: list[int] = which.tolist()
        self._is_unknown: list[bool] = solution.unknown[:n_values].tolist()
        held = unpacked(solution, rows)
        owner = np.repeat(np.arange(len(held)), held.lengths())
        allocation = self._points_to.system.locations.allocation[held.values]
        keep = (self._is_heap | self._is_kept)[allocation]
        owner, bit = owner[keep], self._number[allocation[keep]]
        pairs = np.unique(owner.astype(np.int64) << 32 | bit)
        found = [0] * len(held)
        for one, place in zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True):
            found[one] |= 1 << place
        return found

    def held(self, value: int) -> int:
        """Return the set of allocations that a pointer may hold."""
        found = self._row_sets[self._row_of[value]]
        return found | self.known_outside if self._is_unknown[value] else found

    @cached_property
    def known_outside(self) -> int:
        """What an unknown pointer may hold: storage outside, and what escaped."""
        allocation = self._points_to.system.locations.allocation[self._points_to.known_outside]
        found = self._outside
        for one in np.unique(allocation[(self._is_heap | self._is_kept)[allocation]]).tolist():
            found |= 1 << int(self._number[one])
        return found

    @cached_property
    def all_heap(self) -> int:
        """The heap, and storage outside."""
        found = self._outside
        for one in np.flatnonzero(self._is_heap).tolist():
            found |= 1 << int(self._number[one])
        return found

    def may_end(self, row: int, pointer: int) -> bool:
        """Return whether a pointer that an instruction uses may hold storage that can end."""
        root = self.root(pointer)
        if root == ALIVE or not self.held(pointer):
            return False
        return root not in self.mortal or self.is_late(row, pointer)

    def is_heap_alone(self, pointer: int) -> bool:
        """Return whether a pointer holds nothing but the heap, or null."""
        solution = self._points_to.solution
        if solution.unknown[pointer] or self.root(pointer) == ALIVE:
            return self._is_null(pointer)
        objects = solution.rows.objects(int(solution.row_of[pointer]))
        allocation = self._points_to.system.locations.allocation[objects]
        return bool((self._allocations.kind[allocation] == AllocationKind.HEAP).all())

    def _is_null(self, value: int) -> bool:
        row = value - self._bases[ValueKind.CONSTANT]
        is_constant = 0 <= row < len(self.program.constants)
        return is_constant and bool(self.program.constants.kind[row] == ConstantKind.NULL)

    def root(self, value: int) -> int:
        """Return what an address is computed from; `ALIVE` if that is always alive."""
        return self._roots[value]

    @cached_property
    def mortal(self) -> dict[int, int]:
        """The locals (alloca) that may be used behind their end, each as a set of allocations."""
        rows = np.flatnonzero(self._is_mortal)
        sites = self._allocations.site[rows].tolist()
        return {
            site: 1 << int(number) for site, number in zip(sites, self._number[rows], strict=True)
        }

    @cached_property
    def _roots(self) -> list[int]:
        rows = np.flatnonzero(self._table.opcode == Opcode.ALLOCA) + self._first
        is_alive = np.zeros(self.program.n_values + 1, bool)
        is_alive[rows] = ~np.isin(rows, list(self.mortal))
        is_alive[-1] = True
        roots: list[int] = np.where(is_alive[self._origins], ALIVE, self._origins).tolist()
        return roots

    @cached_property
    def _origins(self) -> I64:
        """What an address is computed from, by value; `n_values` of globals and constants."""
        program, table, constants = self.program, self._table, self.program.constants
        n_values, first = program.n_values, self._bases[ValueKind.CONSTANT]
        found = np.arange(n_values + 1)
        rows = np.flatnonzero(np.isin(table.opcode, _ADDS))
        found[rows + self._first] = table.operands[table.offsets[rows]]
        found[: len(program.globals)] = n_values
        rows = np.flatnonzero(constants.kind == ConstantKind.EXPRESSION)
        is_address = constants.opcode[rows] == Opcode.INTTOPTR
        found[first : first + len(constants)] = n_values
        found[first + rows] = constants.operands[constants.offsets[rows]]
        found[first + rows[is_address]] = first + rows[is_address]
        for _ in range(n_values.bit_length()):  # cycles are in code that nothing reaches
            found = found[found]
        return found[:-1]

    # Who ends it

    @cached_property
    def calls(self) -> I64:
        """The instructions that call something."""
        return np.flatnonzero(np.isin(self._table.opcode, tuple(CALLS)))

    @cached_property
    def targets(self) -> dict[int, list[int]]:
        """By call, the functions with a body that it may reach."""
        found: dict[int, list[int]] = {}
        calls = self._context.calls
        for call, function in zip(calls.call.tolist(), calls.function.tolist(), strict=True):
            found.setdefault(call, []).append(function)
        return found

    def callee(self, call: int) -> str | None:
        """Return the name of a function that a call names; None of a call through a pointer."""
        value = self._operands[self._offsets[call]]
        if value not in self._names_of:
            table = self.program.globals
            is_named = value < len(table) and table.kind[value] == GlobalKind.FUNCTION
            name = self.program.strings[int(table.name[value])] if is_named else None
            self._names_of[value] = name
        return self._names_of[value]

    def model(self, call: int) -> Model:
        """Return the model of what a call calls."""
        value = self._operands[self._offsets[call]]
        if value not in self._models:
            self._models[value] = model_of(self.program, value)
        return self._models[value]

    def is_new(self, call: int) -> bool:
        """Return whether a function outside returns storage that it has made."""
        return call + self._first in self._made

    @cached_property
    def _made(self) -> set[int]:
        return set(self._allocations.site[self._is_heap].tolist())

    def freed(self, call: int) -> int | None:
        """Return the number of the argument that a call of a function outside frees."""
        name = self.callee(call)
        if call in self.targets or name is None or not _ENDS_FIRST.fullmatch(name):
            return None
        return 0 if self._offsets[call + 1] - self._offsets[call] > 1 else None

    def _ended_outside(self, call: int) -> int:
        """Return what code outside may end that a call reaches, callbacks left out."""
        name = self.callee(call)
        arguments = self.operands(call)[1:]
        if name is not None:
            place = self.freed(call)
            if place is not None:
                return self.held(arguments[place])
            if not self.model(call).is_unknown:
                return 0
            known = self._context.roles.find(name)
            if known is not None and not _MAY_END.fullmatch(name):
                return 0
        found = self.known_outside
        for one in arguments:
            if self._points_to.system.may_hold_pointer[one]:
                found |= self.held(one)
        return found & self.all_heap

    def calls_back(self, call: int) -> bool:
        """Return whether functions that code outside calls may run during a call.

        Those of other threads run at any time, and a program that has no races knows of what they
        have done behind calls that wait for them: of functions that are not known to do no such.
        """
        name = self.callee(call)
        if name is None:
            return True
        if not self.model(call).is_unknown:
            return False
        known = self._context.roles.find(name)
        if known is None or self.has_threads:
            return True
        return any(isinstance(one, CallsEffect) for one in known)

    @cached_property
    def has_threads(self) -> bool:
        """Whether the program makes threads."""
        return not self._names.isdisjoint(_THREADS)

    @cached_property
    def _names(self) -> set[str]:
        return {self.program.strings[one] for one in self.program.globals.name.tolist()}

    @cached_property
    def _ended(self) -> dict[int, int]:
        """Return what each call may end, with all it calls."""
        own, directly = [*self.locals, 0], dict[int, int]()
        for call in self.calls.tolist():
            leaves = self._context.calls.may_return_any[call]
            if self.program.ends_storage[call]:
                directly[call] = self.mortal.get(self.operands(call)[1], 0)
            else:
                directly[call] = self._ended_outside(call) if leaves else 0
        found, _ = self.by_call(own, directly, self.calls_back)
        every = 0
        for one in found.values():
            every |= one
        # `setjmp` comes back after whatever was done since.
        for call in self.calls[self._table.flags[self.calls] & Flag.RETURNS_TWICE != 0].tolist():
            found[call] |= every
        return found

    def by_call(
        self, own: list[int], directly: dict[int, int], calls_back: Callable[[int], bool]
    ) -> tuple[dict[int, int], int]:
        """Return, by call, the union of the sets of all functions and calls that it may reach.

        And that of code outside, which may call all functions that it knows, but not `main`.

        Args:
            own: by function, a set; the last one is that of code outside.
            directly: by call, a set.
            calls_back: whether a call that leaves the program may come back into it meanwhile.
        """
        program, calls = self.program, self._context.calls
        outside = len(program.function_table)
        found = [*own]
        sources, targets = [], []
        reached: dict[int, list[int]] = {}
        for call in self.calls.tolist():
            caller = int(program.instruction_function[call])
            reached[call] = list(self.targets.get(call, ()))
            if calls.may_return_any[call] and calls_back(call):
                reached[call].append(outside)
            sources += [caller] * len(reached[call])
            targets += reached[call]
            found[caller] |= directly.get(call, 0)
        is_main = np.array([function.name == "main" for function in program.functions], bool)
        for one in np.flatnonzero(calls.is_open & ~is_main).tolist():
            sources.append(outside)
            targets.append(one)
        graph = Graph.from_edges(
            outside + 1, np.array(sources, np.int32), np.array(targets, np.int32)
        )
        found = _reached(graph, found)
        every = {}
        for call, functions in reached.items():
            every[call] = directly.get(call, 0)
            for one in functions:
                every[call] |= found[one]
        return every, found[outside]

    @cached_property
    def locals(self) -> list[int]:
        """By function, the locals that end where it returns, if pointers to them are kept."""
        found = [0] * len(self.program.function_table)
        for allocation in np.flatnonzero(self._is_kept).tolist():
            site = int(self._allocations.site[allocation])
            found[self._function_of(site)] |= 1 << int(self._number[allocation])
        return found

    def _function_of(self, value: int) -> int:
        if value >= self._first:
            return int(self.program.instruction_function[value - self._first])
        row = value - self._bases[ValueKind.ARGUMENT]
        offsets = self.program.function_table.argument_offsets
        return int(np.searchsorted(offsets, row, side="right")) - 1

    def ended_by_call(self, call: int) -> int:
        """Return what may have ended when a call comes back, or throws."""
        return self._ended[call]

    @cached_property
    def ended_before_entry(self) -> list[int]:
        """By function, what may have ended where code outside calls it.

        Before `main` nothing has, unless constructors run before it. Code outside passes storage
        that has not ended: that is assumed.
        """
        every = 0
        for one in self._ended.values():
            every |= one
        starts = "llvm.global_ctors" not in self._names
        found = []
        for row, function in enumerate(self.program.functions):
            is_start = function.name == "main" and starts
            is_open = bool(self._context.calls.is_open[row])
            found.append(every & ~self._outside if is_open and not is_start else 0)
        return found


def _reached(graph: Graph, own: list[int]) -> list[int]:
    """Return the union of sets over all nodes that each node leads to, itself among them."""
    members = strong_components(graph).members()
    found = list(own)
    for component in range(len(members) - 1, -1, -1):  # edges lead to later components
        whole, nodes = 0, members[component].tolist()
        for node in nodes:
            whole |= own[node]
            for target in graph.successors(node).tolist():
                whole |= found[target]
        for node in nodes:
            found[node] = whole
    return found
