"""What depends on the table in an object: receivers of virtual calls, virtual bases, dynamic casts.

A virtual call loads a table from the object and a function from the table, and passes the object:

    %table = load %this        %slot = getelementptr %table, k       %f = load %slot
    call %f(%this, …)

Inclusion constraints alone pass every receiver to every target, and a few objects of every class
then have the fields of all. Here object o reaches `this` of function f only if some table v in the
contents of o has f at the slot: if a run passes an object at o to f, it has loaded such a v there.

    o ∈ pts(this), v ∈ pts(contents of o), f ∈ pts(contents of slot k of v)  ⇒  o ∈ pts(this of f)

The rule is monotone, so its least solution is found from below: solve without passing receivers,
add what the rule asks for as address-of constraints, and solve again until it asks for nothing new.
A location with unknown offset goes where any other location of its allocation in pts(this) goes.
Where the receiver, its table or the function may be unknown, it is passed to all, as other actuals;
which functions these are, `unknown_tables` says.

In the same way the address of a virtual base, which is the object's plus a number in its table, and
the result of a dynamic cast, which is where the run-time type in the table has such a base, follow
from the tables in each object. An object that holds anything else may lead anywhere in itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from kleene.analyses.points_to.class_tables import ClassTables
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.memory_model import AllocationKind, ConstraintSystem
from kleene.analyses.points_to.unknown_tables import Read, UnknownTables
from kleene.base.arrays import I32
from kleene.ir.codes import CALLS, Opcode, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import ANY, BY_LAYOUT, NONE, Problem, Solution
from kleene.solvers.inclusion.problem import images_of

_TABLE = b"_ZTV"


_MOST_ROUNDS = 40  # then every receiver is passed to every target


class VirtualCall(NamedTuple):
    """A call rule that calls what the table of one of its actuals leads to."""

    rule: int
    place: int  # of the receiver among the actuals
    table: int  # node of the table, which may be one of some classes alone; NONE if there is none
    amount: int  # from the table to the slot, as in a `Problem`


class Adjustment(NamedTuple):
    """An offset row that leads to a part of an object, which the table in the object tells."""

    row: int
    table_byte: int  # from the address point of the table to the number that is added
    base: int  # of a dynamic cast: the run-time type to find (a global); else -1


def solve(
    program: Program, system: ConstraintSystem, solve_plainly: Callable[[Problem], Solution]
) -> tuple[ConstraintSystem, Solution]:
    """Return the system with virtual calls by receiver, and its solution."""
    if not program.strings.begin_with(program.globals.name, _TABLE).any():
        return system, solve_plainly(system.problem)
    calls = list(_virtual_calls(program, system))
    passing = _Passing(program, system, calls, list(_adjustments(program, system)))
    for _ in range(_MOST_ROUNDS):
        refined = passing.system()
        solution = solve_plainly(refined.problem)
        if not passing.extend(solution):
            return replace(refined, overriders=passing.overriders(solution)), solution
    system = passing.with_all_tables()
    solution = solve_plainly(system.problem)
    return replace(system, overriders=passing.overriders(solution)), solution


def _virtual_calls(program: Program, system: ConstraintSystem) -> Iterator[VirtualCall]:
    """Yield the virtual calls of a program."""
    p, amounts = system.problem, _amounts(system.problem)
    callbacks = set(system.callbacks.reshape(-1, 2)[:, 1].tolist())
    for rule, row in enumerate(system.origins.call.tolist()):
        found = None
        if row >= 0 and rule not in callbacks:
            found = _receiver_and_slot(program, row)
        if found is not None:
            receiver, table, slot = found
            actuals = p.actuals[p.actual_offsets[rule] : p.actual_offsets[rule + 1]].tolist()
            amount = 0 if slot == table else amounts.get((slot, table))
            if receiver in actuals and amount is not None:
                yield VirtualCall(rule, actuals.index(receiver), table, amount)
    for rule, receiver in system.virtual_callbacks.tolist():
        actuals = p.actuals[p.actual_offsets[rule] : p.actual_offsets[rule + 1]].tolist()
        yield VirtualCall(rule, actuals.index(receiver), NONE, ANY)


def _amounts(p: Problem) -> dict[tuple[int, int], int]:
    """Return the amount of each offset, and 0 of each copy, by (destination, source)."""
    copies = zip(p.copy_destination.tolist(), p.copy_source.tolist(), strict=True)
    found = dict.fromkeys(copies, 0)
    edges = zip(p.offset_destination.tolist(), p.offset_source.tolist(), strict=True)
    return found | dict(zip(edges, p.offset_amount.tolist(), strict=True))


def _reads(program: Program, system: ConstraintSystem) -> Iterator[tuple[Read, bool]]:
    """Yield calls of what is loaded behind a loaded value, and whether that must be a table.

    It must if a member pointer is called: what is called is then loaded, or the pointer itself.
    """
    code, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    amounts, callbacks = _amounts(system.problem), set(system.callbacks[:, 1].tolist())
    for rule, row in enumerate(system.origins.call.tolist()):
        callee = int(code.operands_of(row)[0]) if row >= 0 and rule not in callbacks else -1
        is_member = callee >= base and code.opcode[callee - base] == Opcode.PHI
        loaded = code.operands_of(callee - base)[::2].tolist() if is_member else [callee]
        for value in loaded:
            if value < base or code.opcode[value - base] != Opcode.LOAD:
                continue
            slot = table = int(code.operands_of(value - base)[0])
            if slot >= base and code.opcode[slot - base] == Opcode.GETELEMENTPTR:
                table = int(code.operands_of(slot - base)[0])
            if table >= base and code.opcode[table - base] == Opcode.LOAD:
                amount = 0 if slot == table else amounts.get((slot, table), ANY)
                yield Read(rule, table, amount), is_member
            yield Read(rule, slot, 0), False


def _receiver_and_slot(program: Program, row: int) -> tuple[int, int, int] | None:
    """Return (receiver, table in it, pointer to the slot in that) of a virtual call."""
    code, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    callee = int(code.operands_of(row)[0]) - base
    if callee < 0 or code.opcode[callee] != Opcode.LOAD:
        return None
    slot = table = int(code.operands_of(callee)[0])
    if slot >= base and code.opcode[slot - base] == Opcode.GETELEMENTPTR:
        table = int(code.operands_of(slot - base)[0])
    if table < base or code.opcode[table - base] != Opcode.LOAD:
        return None
    return int(code.operands_of(table - base)[0]), table, slot


def _adjustments(program: Program, system: ConstraintSystem) -> Iterator[Adjustment]:
    """Yield the offsets that a table in the object tells."""
    code, base, p = program.instructions, program.bases[ValueKind.INSTRUCTION], system.problem
    cast = [v for v, name in enumerate(program.names.globals) if name == "__dynamic_cast"]
    origins = system.origins.offset
    is_call = np.isin(code.opcode[origins], list(CALLS)) & (p.offset_amount == ANY)
    is_address = code.opcode[origins] == Opcode.GETELEMENTPTR
    is_address &= p.offset_destination == base + origins
    for row in np.flatnonzero((origins >= 0) & (is_call | is_address)).tolist():
        operands = code.operands_of(int(origins[row])).tolist()
        if is_address[row]:
            byte = _byte_in_table(program, operands)
            if byte is not None:
                yield Adjustment(row, byte, -1)
            continue
        is_cast = operands[0] in cast and p.offset_source[row] == operands[1]
        if is_cast and operands[3] < len(program.globals):
            yield Adjustment(row, 0, operands[3])


def _byte_in_table(program: Program, operands: list[int]) -> int | None:
    """Return from where in the table of the base of an address computation its index comes."""
    code, base = program.instructions, program.bases[ValueKind.INSTRUCTION]
    if len(operands) != 2 or operands[1] < base or code.opcode[operands[1] - base] != Opcode.LOAD:
        return None
    at = int(code.operands_of(operands[1] - base)[0]) - base
    if at < 0 or code.opcode[at] != Opcode.GETELEMENTPTR:
        return None
    table, *indices = code.operands_of(at).tolist()
    known, amount = Columns(program).constant(np.array(indices))
    in_bytes = program.types.size[code.about[at]] == 1
    if table < base or len(indices) != 1 or not known[0] or not in_bytes:
        return None
    is_loaded = code.opcode[table - base] == Opcode.LOAD
    if not is_loaded or int(code.operands_of(table - base)[0]) != operands[0]:
        return None
    return int(amount[0])


class _Passing:
    """Which receivers are passed to which functions, and which parts are reached, so far."""

    def __init__(
        self,
        program: Program,
        system: ConstraintSystem,
        calls: list[VirtualCall],
        adjustments: list[Adjustment],
    ) -> None:
        self._program, self._system = program, system
        self._calls, self._adjustments = calls, adjustments
        self._plain: set[VirtualCall | Adjustment] = set()  # where anything may be meant
        self._origin: dict[tuple[int, int], int] = {}  # of each (node, object)
        self._parts = _Parts(program, system)
        self._windows = _Windows(program, system)
        reads = list(_reads(program, system))
        untested = {call.table for call in calls if call.table >= 0}
        untested |= {read.table for read, is_member in reads if is_member}
        self._unknown_tables = UnknownTables(program, system, untested)
        self._reads = [read for read, _ in reads if read.table in self._unknown_tables]

    def system(self) -> ConstraintSystem:
        """Return the constraints with the receivers found so far in the place of actuals."""
        system, p = self._system, self._system.problem
        actuals = p.actuals.copy()
        for call in self._calls:
            if call not in self._plain:
                actuals[p.actual_offsets[call.rule] + call.place] = NONE
        kept = np.ones(len(p.offset_source), bool)
        kept[[a.row for a in self._adjustments if a not in self._plain]] = False
        pairs = np.array(list(self._origin), np.int32).reshape(-1, 2)
        origins = np.array(list(self._origin.values()), np.int32)
        problem = replace(
            p,
            actuals=actuals,
            offset_destination=p.offset_destination[kept],
            offset_source=p.offset_source[kept],
            offset_amount=p.offset_amount[kept],
            address_node=np.append(p.address_node, pairs[:, 0]),
            address_object=np.append(p.address_object, pairs[:, 1]),
        )
        address = np.append(system.origins.address, origins)
        rows = system.origins._replace(address=address, offset=system.origins.offset[kept])
        return replace(system, problem=problem, origins=rows)

    def extend(self, solution: Solution) -> bool:
        """Add what a solution asks for; return whether that is anything new."""
        n_before = len(self._origin), len(self._plain)
        tables = _Tables(self._system.problem, solution)
        done: set[tuple[int, int, int]] = set()
        for call in self._calls:
            if call not in self._plain:
                self._extend(call, tables, done)
        for adjustment in self._adjustments:
            if adjustment not in self._plain:
                self._adjust(adjustment, tables)
        for value, o, origin in self._windows.read(tables):
            self._origin.setdefault((value, o), origin)
        base = self._program.bases[ValueKind.INSTRUCTION]
        for value, o in self._unknown_tables.held(solution):
            self._origin.setdefault((value, o), value - base)
        return n_before != (len(self._origin), len(self._plain))

    def with_all_tables(self) -> ConstraintSystem:
        """Return the constraints where every virtual call may read what the object ever had.

        Unknown tables are all that they may be.
        """
        p, tested, origins = self._system.problem, self._system.tested, self._system.origins
        pairs = np.array(list(self._unknown_tables.every()), np.int32).reshape(-1, 2)
        base = self._program.bases[ValueKind.INSTRUCTION]
        problem = replace(
            p,
            copy_destination=np.append(p.copy_destination, tested[:, 0]),
            copy_source=np.append(p.copy_source, tested[:, 1]),
            address_node=np.append(p.address_node, pairs[:, 0]),
            address_object=np.append(p.address_object, pairs[:, 1]),
        )
        rows = origins._replace(
            copy=np.append(origins.copy, tested[:, 0] - base),
            address=np.append(origins.address, pairs[:, 0] - base),
        )
        return replace(self._system, problem=problem, origins=rows)

    def overriders(self, solution: Solution) -> I32:
        """Return (call rule, function) of what calls may reach by unknown tables."""
        at_slot = _Tables(self._system.problem, solution).functions_at_slot
        return self._unknown_tables.overriders(self._reads, solution, at_slot)

    def _adjust(self, adjustment: Adjustment, tables: _Tables) -> None:
        p, row = self._system.problem, adjustment.row
        source, destination = int(p.offset_source[row]), int(p.offset_destination[row])
        if tables.unknown[source]:
            self._plain.add(adjustment)
            return
        origin = int(self._system.origins.offset[row])
        for o in tables.objects_in(int(tables.row_of[source])):
            for part in self._parts.reached(o, adjustment, tables):
                self._origin.setdefault((destination, part), origin)

    def _extend(self, call: VirtualCall, tables: _Tables, done: set[tuple[int, int, int]]) -> None:
        """Pass the objects of a call; `done` has what was passed to functions and formals."""
        p = self._system.problem
        receiver = int(p.actuals[p.actual_offsets[call.rule] + call.place])
        passed = tables.passed(receiver, call.table, call.amount)
        if passed is None or tables.solution.calls_outside[call.rule]:
            self._plain.add(call)
            return
        origin = int(self._system.origins.call[call.rule])
        for function in tables.targets[call.rule]:
            formals = p.formals[p.formal_offsets[function] : p.formal_offsets[function + 1]]
            rest = p.function_rest[function]
            formal = int(formals[call.place] if call.place < len(formals) else rest)
            if formal >= 0 and (id(passed), function, formal) not in done:
                done.add((id(passed), function, formal))  # kept, so no other has its id
                for o in passed.get(function, ()):
                    self._origin.setdefault((formal, o), origin)


class _Tables:
    """What a solution says of tables in objects: each question is answered once for equal sets."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self.solution, self.unknown = solution, solution.unknown
        self.contents, self.row_of = problem.contents.tolist(), solution.row_of
        self._function_of = problem.function_of()
        self.images = images_of(problem)
        self.targets: dict[int, list[int]] = defaultdict(list)
        for rule, function in solution.call_edges.tolist():
            self.targets[rule].append(function)
        self.objects_in = cache(lambda row: solution.rows.objects(row).tolist())
        self._functions_in = cache(self._functions_of_row)
        self._at_slot = cache(self._functions_at_slot)
        self._reached = cache(self._functions_of)
        self._passed = cache(self._passed_from)

    def passed(self, receiver: int, table: int, amount: int) -> dict[int, list[int]] | None:
        """Return for each function the objects that are passed to it; None if that is unknown."""
        if self.unknown[receiver]:
            return None
        read = int(self.row_of[table]) if table >= 0 else -1
        return self._passed(int(self.row_of[receiver]), read, amount)

    def _passed_from(self, row: int, read: int, amount: int) -> dict[int, list[int]] | None:
        found: dict[int, list[int]] = defaultdict(list)
        by_allocation: dict[int, set[int]] = defaultdict(set)
        inside = []  # locations with unknown offset
        for o in self.objects_in(row):
            contents = self.contents[o]
            if contents < 0:
                inside.append(o)
                continue
            functions = None
            if not self.unknown[contents]:
                functions = self._reached(int(self.row_of[contents]), read, amount)
            if functions is None:
                return None
            for function in functions:
                found[function].append(o)
            by_allocation[int(self.images.first[o])] |= functions
        for o in inside:
            for function in by_allocation[int(self.images.first[o])]:
                found[function].append(o)
        return found

    def _functions_of(self, row: int, read: int, amount: int) -> frozenset[int] | None:
        """Return the functions at a slot of the tables in a set, which the set `read` has too."""
        found: set[int] = set()
        tables = self.objects_in(row)
        if read >= 0:  # an unknown offset there may be any that is read
            exact, first = set(tables), self.images.first
            unknown = {int(first[o]) for o in tables if self.contents[o] < 0}
            allowed = self.objects_in(read)
            tables = [o for o in allowed if o in exact or int(first[o]) in unknown]
        for table in tables:
            functions = self._at_slot(table, amount)
            if functions is None:
                return None
            found |= functions
        return frozenset(found)

    def functions_at_slot(self, table: int, amount: int) -> frozenset[int]:
        """Return the known functions at a slot of a table."""
        slots = (self.contents[slot] for slot in self._images(table, amount))
        rows = (int(self.row_of[contents]) for contents in slots if contents >= 0)
        return frozenset[int]().union(*(self._functions_in(row) for row in rows))

    def _functions_at_slot(self, table: int, amount: int) -> frozenset[int] | None:
        found: set[int] = set()
        for slot in self._images(table, amount):
            contents = self.contents[slot]
            if contents >= 0:
                if self.unknown[contents]:
                    return None
                found |= self._functions_in(int(self.row_of[contents]))
        return frozenset(found)

    def _functions_of_row(self, row: int) -> frozenset[int]:
        functions = self._function_of[self.solution.rows.objects(row)]
        return frozenset(functions[functions >= 0].tolist())

    def _images(self, o: int, amount: int) -> Iterable[int]:
        """Return the objects `amount` behind o, as `Problem` says."""
        m, first, end = self.images, int(self.images.first[o]), int(self.images.end[o])
        if amount <= BY_LAYOUT and m.layout[o] >= 0:
            row = int(m.rows[(BY_LAYOUT - amount) * m.n_layouts + m.layout[o]])
            if row >= 0:
                at = row + o - first
                found: list[int] = (first + m.images[m.offsets[at] : m.offsets[at + 1]]).tolist()
                return found
        inside = 0 <= amount < end - o
        return [o + amount] if inside else range(first, end)


_ENDS = ("exit", "quick_exit")  # these call what was registered


class _Windows:
    """Which passing tables (`constraints.construction`) virtual calls may read."""

    def __init__(self, program: Program, system: ConstraintSystem) -> None:
        self._program, self._system = program, system
        self._number = np.full(len(system.allocations.site), -1)
        for number, table in enumerate(system.passing_tables):
            self._number[table.allocation] = number
        points = program.address_points
        columns = (points.table.tolist(), points.type.tolist(), points.byte.tolist())
        self._points: dict[tuple[int, int], set[int]] = defaultdict(set)
        for variable, class_, byte in zip(*columns, strict=True):
            self._points[variable, class_].add(byte)

    def read(self, tables: _Tables) -> Iterator[tuple[int, int, int]]:
        """Yield (tested value, location of a passing table, instruction) of what may be read."""
        if not self._system.passing_tables:
            return
        system, windows = self._system, self._functions(tables.solution)
        base = self._program.bases[ValueKind.INSTRUCTION]
        for value, raw, class_ in system.tested.tolist():
            reader = int(self._program.instruction_function[value - base])
            for o in tables.objects_in(int(tables.row_of[raw])):
                owner = int(system.locations.allocation[o])
                number = int(self._number[owner])
                if number < 0:
                    continue
                window = windows[number]
                if window is None or reader in window:
                    for at in self._at_points(owner, o, class_):
                        yield value, at, value - base

    def _at_points(self, owner: int, o: int, class_: int) -> Iterator[int]:
        """Yield o if it is an address point of a class; of an unknown offset, all of them."""
        byte, points = self._system.locations.byte, self._points
        bytes_ = points.get((int(self._system.allocations.site[owner]), class_), set())
        first, end = self._system.problem.allocation_offsets[owner : owner + 2].tolist()
        for at in range(first, end) if byte[o] < 0 else (o,):
            if int(byte[at]) in bytes_:
                yield at

    def _functions(self, solution: Solution) -> list[set[int] | None]:
        """Return for each passing table the functions in its window; None for all."""
        callees, leaving = self._callees(solution)
        caller = self._program.instruction_function
        called: dict[int, set[int]] = defaultdict(set)
        for row, targets in callees.items():
            called[int(caller[row])] |= targets
        leaves = {int(caller[row]) for row in leaving}
        found: list[set[int] | None] = []
        for table in self._system.passing_tables:
            seen = set(table.during) if table.in_calls else set()
            for row in table.calls:
                seen |= callees.get(row, set())
            waiting = list(seen)
            while waiting:
                new = called[waiting.pop()] - seen
                seen |= new
                waiting += new
            is_open = bool(seen & leaves) or any(row in leaving for row in table.calls)
            found.append(None if is_open else seen | table.during)
        return found

    def _callees(self, solution: Solution) -> tuple[dict[int, set[int]], set[int]]:
        """Return what each call (row) calls, and the calls that may call anything."""
        system, program = self._system, self._program
        callees: dict[int, set[int]] = defaultdict(set)
        for row, function in system.direct_calls.tolist():
            callees[row].add(function)
        allocation = system.locations.allocation[system.problem.function_object]
        site = system.allocations.site[allocation]
        is_global = (site >= 0) & (site < len(program.globals))
        rows = np.where(is_global, program.globals.function[np.where(is_global, site, 0)], -1)
        for rule, function in solution.call_edges.tolist():
            if system.origins.call[rule] >= 0 and rows[function] >= 0:
                callees[int(system.origins.call[rule])].add(int(rows[function]))
        leaving = set(system.origins.call[solution.calls_outside].tolist())
        unknown = {e.name for e in system.externals if not e.is_modelled} | set(_ENDS)
        names = program.globals.name[program.function_table.value].tolist()
        opaque = {f for f, name in enumerate(names) if program.strings[name] in unknown}
        leaving |= {row for row, targets in callees.items() if targets & opaque}
        return callees, leaving


class _Parts:
    """Where in objects the tables in them say that bases lie."""

    def __init__(self, program: Program, system: ConstraintSystem) -> None:
        self._tables = ClassTables(program)
        self._locations, self._allocations = system.locations, system.allocations
        self._offsets = system.problem.allocation_offsets
        columns = (self._locations.allocation, self._locations.byte, self._locations.stride)
        keys = zip(*(column.tolist() for column in columns), strict=True)
        self._at = {key: o for o, key in enumerate(keys)}
        self._told = cache(self._distances)
        self._asked: _Tables | None = None  # `_known` is for this solution
        self._known: dict[tuple[int, int, int], set[int | None]] = {}

    def reached(self, o: int, adjustment: Adjustment, tables: _Tables) -> Iterable[int]:
        """Return the parts of the object that o lies in which an adjustment of o leads to."""
        allocation = int(self._locations.allocation[o])
        everywhere = range(int(self._offsets[allocation]), int(self._offsets[allocation + 1]))
        contents = tables.contents[o]
        if contents < 0 or tables.unknown[contents]:
            return everywhere
        key = int(tables.row_of[contents]), adjustment.table_byte, adjustment.base
        if self._asked is not tables:
            self._asked, self._known = tables, {}
        if key not in self._known:
            held = tables.objects_in(key[0])
            self._known[key] = {d for v in held for d in self._told(v, *key[1:])}
        parts = {self._behind(o, d) for d in self._known[key] if d is not None}
        return everywhere if None in parts or None in self._known[key] else parts  # type: ignore[return-value]

    def _behind(self, o: int, n_bytes: int) -> int | None:
        """Return the location so many bytes behind o, in the same element of all arrays."""
        locations = self._locations
        owner, byte = int(locations.allocation[o]), int(locations.byte[o])
        return self._at.get((owner, byte + n_bytes, int(locations.stride[o])))

    def _distances(self, table: int, table_byte: int, base: int) -> list[int | None]:
        """Return how far a table says that the part is; None if it says nothing."""
        owner, at = int(self._locations.allocation[table]), int(self._locations.byte[table])
        variable = int(self._allocations.site[owner])
        is_global = self._allocations.kind[owner] == AllocationKind.GLOBAL
        if not is_global or at < 0:
            return [None]
        tables = self._tables
        if base < 0:
            return [tables.integer(variable, at + table_byte)]
        to_top, derived = tables.integer(variable, at - 16), tables.type_at(variable, at)
        if to_top is None or derived is None:
            return [None]
        whole = at if to_top == 0 else -1
        found = tables.offsets_of(base, derived, variable if whole >= 0 else -1, whole)
        return [None] if found is None else [to_top + offset for offset in found]
