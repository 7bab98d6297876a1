"""Virtual tables that an object has only while it is constructed, or destroyed.

The constructor of a base sets the base's table, and that of the derived class then its own:

    Derived(this):  Base(this);  this->table = Derived's;  …       ~Base(this): this->table = Base's

Once constructed, no object that is a Derived has Base's table, and once ~Base has begun, only what
that calls may call functions of it (C++, [class.cdtor]). So the table that a base's constructor
sets, where it is called for a base, and that a destructor sets, is a *passing table*: an allocation
of its own with the same contents. A virtual call reads it (`type_tests`) only in functions that may
run meanwhile: in the *window*. That is

- of a constructor called for a base: the constructor, the derived one, and whatever is called from
  the first call on to the store of the derived table, directly or not;
- of a destructor: it, and whatever it calls.

A class with virtual bases has *construction tables* (`_ZTC…`), which lie in its table of tables
(`_ZTT…`) and which the constructors and destructors of its bases set that are given the latter. No
whole object has one (Itanium ABI, 2.6): they are passing tables themselves, for the window of all
functions that name the table of tables (the constructors and destructors of whole objects) and of
what these call. In a library others may construct such objects, too: there they are tables as any.

A call is for a base if behind it, on the only way that does not throw, the caller stores tables at
all the places where the constructor has stored some. A member of a class, and an object made by
`new`, is not set again: there the table stays. If the way throws, the object never comes to be;
what is called then is in the window, too.

What is called is known when the constraints are solved, so windows grow with the solution
(`receivers`). Another thread may see the table in the window too, if the two wait for each other;
so may a signal handler, and a context that is swapped in. In programs with these there are no
passing tables.

To aliases a passing table is storage of its own, although it lies where the table lies: tables are
constant, and only pointers to tables, which no source names, are called different for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.constraints.columns import Columns
from kleene.analyses.points_to.constraints.heap import locals_stored_once
from kleene.analyses.points_to.constraints.storage import leaves_of, pure_functions
from kleene.analyses.points_to.constraints.values import gep_offsets
from kleene.analyses.points_to.memory_model import AllocationKind, PassingTable
from kleene.base.arrays import I64
from kleene.base.demangling import demangled, without_parameters
from kleene.ir.codes import CALLS, Opcode, ValueKind

_ELSEWHERE = (  # functions that let code run which no call in the window leads to
    *("signal", "sigaction", "bsd_signal", "sysv_signal", "__sysv_signal", "sigset", "sigvec"),
    *("swapcontext", "setcontext", "makecontext", "pthread_create", "thrd_create", "clone"),
    *("timer_create", "aio_", "lio_listio", "mq_notify", "_ZNSt6thread15_M_start_thread"),
)
_CONSTRUCTION_TABLE, _TABLE_OF_TABLES = b"_ZTC", b"_ZTT"
_MOST_BLOCKS = 64  # that are followed behind a call

Place = tuple[int, int]  # value, bytes behind it


@dataclass(frozen=True, slots=True)
class _TableStore:
    row: int
    place: Place
    variable: int  # the table, -1 where the store takes one from a table of tables
    byte: int


class Construction:
    """The stores of tables in constructors and destructors, and the calls for bases."""

    def __init__(self, columns: Columns) -> None:
        self._columns, self._program = columns, columns.program
        self._base = columns.program.bases[ValueKind.INSTRUCTION]
        self.complete_this: dict[int, int] = {}  # per constructor: the node of whole objects
        self.base_this: dict[int, int] = {}  # and that of bases
        self._n_copies: Counter[int] = Counter()  # by table

    @cached_property
    def _is_followed(self) -> bool:
        """Whether there are tables with metadata, and nothing runs but what calls lead to."""
        program = self._program
        names = program.globals.name
        found = [program.strings.begin_with(names, name.encode()) for name in _ELSEWHERE]
        return len(program.address_points.table) > 0 and not np.logical_or.reduce(found).any()

    @cached_property
    def _offsets(self) -> dict[int, Place]:
        """For each address computed by adding a constant: (base, constant)."""
        program, found = self._program, dict[int, Place]()
        for first, table in (
            (program.bases[ValueKind.CONSTANT], program.constants),
            (self._base, program.instructions),
        ):
            rows = np.flatnonzero(table.opcode == Opcode.GETELEMENTPTR)
            starts, ends = table.offsets[rows], table.offsets[rows + 1]
            about = table.about[rows]
            constant, strides, _ = gep_offsets(program, starts, ends, table.operands, about)
            plain = ~strides.any(axis=1)
            bases = table.operands[starts[plain]].tolist()
            added = zip(bases, constant[plain].tolist(), strict=True)
            found |= dict(zip((first + rows[plain]).tolist(), added, strict=True))
        return found

    @cached_property
    def _kept_in(self) -> dict[int, int]:
        """For each local that is stored to once: what is stored."""
        columns = self._columns
        stores = columns.rows(Opcode.STORE)
        pointers = columns.operand(stores, 1)
        chosen = locals_stored_once(self._program)[pointers]
        values = columns.operand(stores, 0)[chosen].tolist()
        return dict(zip(pointers[chosen].tolist(), values, strict=True))

    def _place(self, value: int) -> Place:
        """Return from which value, and how far behind it, an address is."""
        table, total = self._program.instructions, 0
        while True:
            row = value - self._base
            if value in self._offsets:
                value, more = self._offsets[value]
                total += more
            elif row >= 0 and table.opcode[row] == Opcode.LOAD:
                slot = int(table.operands_of(row)[0])
                if slot not in self._kept_in:
                    return value, total
                value = self._kept_in[slot]
            else:
                return value, total

    @cached_property
    def _stores(self) -> dict[int, _TableStore]:
        """The stores of tables, by their rows."""
        if not self._is_followed:
            return {}
        columns, program = self._columns, self._program
        described = set(program.address_points.table.tolist())
        found = {}
        rows = columns.rows(Opcode.STORE)
        for row, value, pointer in zip(
            *(rows.tolist(), columns.operand(rows, 0).tolist(), columns.operand(rows, 1).tolist()),
            strict=True,
        ):
            if value < program.bases[ValueKind.ARGUMENT]:
                variable, byte = self._offsets.get(value, (value, 0))
                if variable in described:
                    found[row] = _TableStore(row, self._place(pointer), variable, byte)
            elif self._is_from_table_of_tables(value):
                found[row] = _TableStore(row, self._place(pointer), -1, 0)
        return found

    def _is_from_table_of_tables(self, value: int) -> bool:
        """Return whether a value is loaded from the second argument of a function, or behind it."""
        table, program = self._program.instructions, self._program
        row = value - self._base
        if row < 0 or table.opcode[row] != Opcode.LOAD:
            return False
        source, _ = self._place(int(table.operands_of(row)[0]))
        function = int(program.instruction_function[row])
        first, end = program.function_table.argument_offsets[function : function + 2].tolist()
        return bool(first + 1 < end and source == program.bases[ValueKind.ARGUMENT] + first + 1)

    def _this(self, function: int) -> int:
        """Return the first argument of a function, -1 if it has none."""
        first, end = self._program.function_table.argument_offsets[function : function + 2].tolist()
        return self._program.bases[ValueKind.ARGUMENT] + first if first < end else -1

    @cached_property
    def _setters(self) -> dict[int, list[_TableStore]]:
        """The functions that store tables of their own in their first argument, and the stores."""
        found: dict[int, list[_TableStore]] = {}
        for store in self._stores.values():
            function = int(self._program.instruction_function[store.row])
            if store.variable >= 0 and store.place[0] == self._this(function):
                found.setdefault(function, []).append(store)
        return found

    def _is_destructor(self, function: int) -> bool:
        program = self._program
        symbol = program.strings[int(program.globals.name[program.function_table.value[function]])]
        text = without_parameters(demangled(symbol) or "")
        return text.rpartition("::")[2].startswith("~")

    @cached_property
    def destructors(self) -> list[int]:
        """The destructors that store tables."""
        return [f for f in self._setters if self._is_destructor(f)]

    @cached_property
    def base_calls(self) -> dict[int, list[int]]:
        """For each call (row) of a constructor for a base: the calls up to the derived table."""
        found = {}
        constructors = {f for f in self._setters if not self._is_destructor(f)}
        of_value = {int(self._program.function_table.value[f]): f for f in constructors}
        table = self._program.instructions
        callees = self._columns.operand(self._columns.calls, 0)
        for row in self._columns.calls[np.isin(callees, list(of_value))].tolist():
            operands = table.operands_of(row)
            function = of_value.get(int(operands[0]))
            if function is not None and len(operands) > 1:
                value, byte = self._place(int(operands[1]))
                offsets = {store.place[1] for store in self._setters[function]}
                window = self._up_to(row, {(value, byte + offset) for offset in offsets})
                if window is not None:
                    found[row] = window
        return found

    def _up_to(self, row: int, places: set[Place]) -> list[int] | None:
        """Return the calls from a call on, until tables are stored at all the places, if so."""
        program, table = self._program, self._program.instructions
        low, high = program.bases[ValueKind.BLOCK], self._base
        ends = program.blocks.instruction_offsets
        open_, calls = set(places), [row]
        at = row
        for _ in range(_MOST_BLOCKS):
            end = int(ends[table.block[at] + 1])
            for i in range(at, end):
                if i in self._stores:
                    open_.discard(self._stores[i].place)
                elif int(table.opcode[i]) in CALLS and i != row:
                    calls.append(i)
                if not open_:
                    return calls
            last = end - 1
            blocks = [int(o) - low for o in table.operands_of(last) if low <= o < high]
            is_plain = table.opcode[last] == Opcode.BR and len(blocks) == 1
            if not is_plain and table.opcode[last] != Opcode.INVOKE:
                return None
            at = int(ends[blocks[0]])
            calls += self._calls_from(blocks[1:])
        return None

    def _calls_from(self, blocks: list[int]) -> list[int]:
        """Return the calls that may run from the beginning of some blocks on: after a throw."""
        offsets, targets = self._program.successors
        seen, waiting, found = set(blocks), list(blocks), list[int]()
        while waiting:
            block = waiting.pop()
            first, end = self._program.blocks.instruction_offsets[block : block + 2].tolist()
            opcodes = self._program.instructions.opcode[first:end]
            found += (first + np.flatnonzero(np.isin(opcodes, list(CALLS)))).tolist()
            new = set(targets[offsets[block] : offsets[block + 1]].tolist()) - seen
            seen |= new
            waiting += new
        return found

    @cached_property
    def construction_tables(self) -> dict[int, frozenset[int]]:
        """The construction tables (globals), and the functions that name their tables of tables."""
        program, found = self._program, dict[int, frozenset[int]]()
        if not self._is_followed:
            return found
        for variable in np.unique(program.address_points.table).tolist():
            name = program.strings.raw(int(program.globals.name[variable]))
            if name.startswith(_CONSTRUCTION_TABLE):
                functions = self._naming(variable)
                found |= {variable: functions} if functions is not None else {}
        return found

    def _naming(self, variable: int) -> frozenset[int] | None:
        """Return the functions that name a global or tables of tables with it; None: others do."""
        program, seen, waiting = self._program, {variable}, [variable]
        offsets, users = program.users
        found: set[int] = set()
        while waiting:
            value = waiting.pop()
            rows = users[offsets[value] : offsets[value + 1]]
            found |= set(program.instruction_function[rows].tolist())
            holders = self._constants_with.get(value, [])
            for holder in self._globals_with.get(value, []):
                name = program.strings.raw(int(program.globals.name[holder]))
                if not name.startswith(_TABLE_OF_TABLES):
                    return None
                holders = [*holders, holder]
            waiting += [holder for holder in holders if holder not in seen]
            seen |= set(holders)
        return frozenset(found)

    @cached_property
    def _constants_with(self) -> dict[int, list[int]]:
        """For each value the constants that it is an operand of."""
        table, first = self._program.constants, self._program.bases[ValueKind.CONSTANT]
        owner = first + np.repeat(np.arange(len(table.kind)), np.diff(table.offsets))
        found: dict[int, list[int]] = {}
        for value, holder in zip(table.operands.tolist(), owner.tolist(), strict=True):
            found.setdefault(value, []).append(holder)
        return found

    @cached_property
    def _globals_with(self) -> dict[int, list[int]]:
        """For each value the globals that begin with it, or stand for it."""
        found: dict[int, list[int]] = {}
        for holder, value in enumerate(self._program.globals.initializer.tolist()):
            found.setdefault(value, []).append(holder)
        return found

    def declare(self, builder: PointerBuilder, formal: I64) -> None:
        """Divide what constructors called for bases are given: whole objects, and bases."""
        table = self._program.instructions
        called = {int(table.operands_of(row)[0]) for row in self.base_calls}
        for function in self._setters:
            if int(self._program.function_table.value[function]) not in called:
                continue
            argument = int(self._program.function_table.argument_offsets[function])
            this = int(formal[argument])
            if this < 0:
                continue
            whole, base = builder.nodes(2).tolist()
            self.complete_this[function], self.base_this[function] = whole, base
            builder.copy([this, this], [whole, base])
            formal[argument] = whole

    @cached_property
    def replaced(self) -> I64:
        """The stores that `generate` adds, and others need not."""
        chosen = [*self.complete_this, *self.destructors]
        rows = [store.row for function in chosen for store in self._setters[function]]
        return np.array(sorted(rows), np.int64)

    def generate(self, builder: PointerBuilder) -> tuple[PassingTable, ...]:
        """Add stores of constructors called for bases, and of destructors; return their tables."""
        found, table = [], self._program.instructions
        for function in [*self.complete_this, *self.destructors]:
            own = self._program.function_table.value[function]
            is_destructor = function not in self.complete_this
            calls, during = [], {function}
            for row, window in self.base_calls.items():
                if int(table.operands_of(row)[0]) == own:
                    calls += window
                    during.add(int(self._program.instruction_function[row]))
            for store in self._setters[function]:
                made = self._copy_of(builder, store.variable)
                node = builder.node()
                builder.address(node, made, store.byte, store.row)
                if is_destructor:
                    pointer = int(table.operands_of(store.row)[1])
                    builder.store(pointer, node, store.row)
                else:
                    nodes = [self.complete_this[function], self.base_this[function]]
                    at = builder.at_offset(np.array(nodes), store.place[1], 0, store.row)
                    value = int(table.operands_of(store.row)[0])
                    builder.store(at, np.array([value, node]), store.row)
                found.append(PassingTable(made, frozenset(during), tuple(calls), is_destructor))
        return tuple(found)

    def _copy_of(self, builder: PointerBuilder, variable: int) -> int:
        """Return a new allocation that holds what a table holds."""
        program = self._program
        self._n_copies[variable] += 1
        type_id = int(program.globals.type[variable])
        layout = builder.object_layouts.unrolled(type_id)
        (made,) = builder.allocate(
            *(AllocationKind.GLOBAL, [variable], layout),
            type=type_id,
            n_bytes=program.types.size[type_id],
            part=self._n_copies[variable],
        ).tolist()
        initial = program.globals.initializer[[variable]]
        _, byte, value = leaves_of(self._columns, initial)
        kept = ~np.isin(value, pure_functions(program))
        builder.fill(made, byte[kept], value[kept])
        builder.constant(np.array([made]))
        return int(made)
