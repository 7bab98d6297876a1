"""Storage made at run time: who makes it, how large, of what shape; calls of wrappers."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from kleene.analyses.points_to.heap_types import heap_shapes
from kleene.analyses.points_to.library import Library, heap_of
from kleene.analyses.points_to.library.effects import Argument, Returns
from kleene.analyses.points_to.model import AllocationKind
from kleene.analyses.points_to.scan.calls import CallTable
from kleene.analyses.points_to.scan.columns import Bits, Columns
from kleene.analyses.points_to.scan.functions import FunctionTable
from kleene.analyses.points_to.scan.sheet import Sheet
from kleene.analyses.points_to.scan.wrappers import Allocator, find_wrappers
from kleene.analyses.points_to.shapes import Shapes
from kleene.base.errors import SourceError, raise_all
from kleene.ir.codes import Opcode
from kleene.ir.tables import I64


class Heap:
    """The calls and locals whose storage is shaped by its use, each with its size."""

    def __init__(
        self,
        columns: Columns,
        shapes: Shapes,
        functions: FunctionTable,
        calls: CallTable,
        library: Library,
        named: Sequence[str],
    ) -> None:
        self.columns, self.shapes, self.functions, self.calls = columns, shapes, functions, calls
        allocators = self._allocators(library)
        by_word = self._named(named, functions)
        self.wrappers = find_wrappers(columns, calls, allocators, functions.is_defined)
        self.taken_at_word = [f for f in by_word if f not in self.wrappers]
        self.wrappers |= {f: Allocator(None) for f in self.taken_at_word}
        n_instructions = len(columns.program.instructions)
        self.n_bytes = np.full(n_instructions, -1)
        for function, allocator in (allocators | self.wrappers).items():
            group = calls.only(calls.function == function)
            self.n_bytes[group.row] = self._product(group, allocator.factors)
        sized = [function for function, a in allocators.items() if a.factors]
        self._shape = self._shapes([*sized, *self.wrappers])

    def _allocators(self, library: Library) -> dict[int, Allocator]:
        """Return the modelled functions that return new storage."""
        found = {}
        for function in np.unique(self.calls.function[self.calls.function >= 0]).tolist():
            name = self.functions.name[function]
            inside = self.functions.is_defined[function]
            model = library.override(name) if inside else library.find(name)
            heap = heap_of(model or ())
            if heap is not None:
                returned = (e.term for e in model or () if isinstance(e, Returns))
                places = tuple(t.place for t in returned if isinstance(t, Argument))
                found[function] = Allocator(heap.factors or None, places)
        return found

    @staticmethod
    def _named(named: Sequence[str], functions: FunctionTable) -> list[int]:
        """Return the functions that the user calls wrappers."""
        errors, found = [], []
        defined = [n for n, d in zip(functions.name, functions.is_defined, strict=True) if d]
        for name in named:
            if name in defined:
                found.append(functions.name.index(name))
                continue
            near = get_close_matches(name, defined, n=1)
            notes = [f"did you mean '{near[0]}'?"] if near else []
            message = f"the program defines no function '{name}'"
            errors.append(SourceError(None, "points-to/no-such-wrapper", message, *notes))
        raise_all(errors)
        return found

    def _product(self, group: CallTable, factors: tuple[int, ...] | None) -> I64:
        """Return the size that each call asks for, -1 where it is no constant."""
        total = np.full(len(group), 1 if factors else -1)
        for place in factors or ():
            there = group.offsets[:-1] + place < group.offsets[1:]
            value = np.zeros(len(group), np.int64)
            value[there] = group.actuals[(group.offsets[:-1] + place)[there]]
            known, amount = self.columns.constant(value)
            total = np.where(known & (total > 0) & (amount > 0), total * amount, -1)
        return total

    def _shapes(self, makers: Sequence[int]) -> I64:
        """Return the shape of the storage that each instruction makes, -1 where it makes none.

        Storage of the library's own making (a file, a string) is not looked into: it is cells.
        """
        columns = self.columns
        locals_ = columns.rows(Opcode.ALLOCA)
        known, count = columns.constant(columns.operand(locals_, 0))
        locals_ = locals_[~(known & (count == 1))]
        rows = np.concatenate([self.calls.row[np.isin(self.calls.function, makers)], locals_])
        found = np.full(len(self.n_bytes), -1)
        found[rows] = heap_shapes(
            columns.program, self.shapes, columns.results(rows), self.n_bytes[rows]
        )
        return found

    def shape_of(self, rows: I64) -> I64:
        """Return the shape of the storage that instructions make."""
        found = self._shape[rows]
        if (found < 0).any():
            found = np.where(found < 0, self.shapes.cells(), found)
        return found

    def named(self) -> list[str]:
        """Return the functions that are wrappers because the user says so."""
        return [self.functions.name[function] for function in self.taken_at_word]

    def is_wrapped(self, calls: CallTable) -> Bits:
        """Return which calls are of wrappers."""
        found: Bits = np.isin(calls.function, list(self.wrappers))
        return found

    def state_clones(self, sheet: Sheet) -> None:
        """Write what calls of wrappers hold: storage of their own."""
        node = {function: sheet.node() for function in self.wrappers}
        for function, wrapper in self.wrappers.items():
            group = self.calls.only(self.calls.function == function)
            value = self.columns.results(group.row)
            own = sheet.allocate(
                *(AllocationKind.HEAP, value, self.shape_of(group.row)),
                callee=self.columns.program.function_table.value[function],
                n_bytes=self.n_bytes[group.row],
            )
            sheet.address(value, own, 0, group.row)
            sheet.address(node[function], own)
            self._inside(sheet, function, wrapper, node[function])
            for place in wrapper.returned:
                there = group.offsets[:-1] + place < group.offsets[1:]
                actual = group.actuals[(group.offsets[:-1] + place)[there]]
                sheet.copy(value[there], actual, group.row[there])
            for other in wrapper.others:
                sheet.copy(value, other, group.row)
            for maker in group.row:  # a wrapper's call of a wrapper makes what its own calls hold
                caller = int(self.columns.program.instruction_function[maker])
                if caller in self.wrappers and maker in self.wrappers[caller].makers:
                    sheet.copy(node[function], node[caller])

    def _inside(self, sheet: Sheet, function: int, wrapper: Allocator, clones: int) -> None:
        """Let the body of a wrapper work on the storage of all its calls."""
        if function not in self.taken_at_word:
            sheet.copy(self.columns.results(np.array(wrapper.makers, np.int64)), clones)
            return
        table = self.columns.program.instructions
        rets = self.columns.rows(Opcode.RET)
        rets = rets[self.columns.program.instruction_function[rets] == function]
        rets = rets[table.offsets[rets + 1] > table.offsets[rets]]
        returned = self.columns.operand(rets, 0)
        inside = returned >= self.columns.program.bases[2]  # constants stay what they are
        sheet.copy(returned[inside], clones)
