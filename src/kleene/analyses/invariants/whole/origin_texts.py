"""Origins of lost bounds in words: what a value is read from, who passes it, what computes it."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from kleene.analyses.dataflow.context import Context
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.library import model_of
from kleene.analyses.invariants.whole.losses import Bound, Losses
from kleene.analyses.invariants.whole.program_names import ProgramNames
from kleene.analyses.points_to.memory_model import AllocationKind
from kleene.ir.codes import CALLS, ConstantKind, Opcode, ValueKind
from kleene.solvers.dataflow import Operator
from kleene.transforms.splitting import NameKind

_ANYTHING = "any value"
_SIGNS = {
    Opcode.ADD: "+", Opcode.SUB: "-", Opcode.MUL: "*", Opcode.SHL: "<<", Opcode.UDIV: "/",
    Opcode.SDIV: "/", Opcode.UREM: "%", Opcode.SREM: "%", Opcode.LSHR: ">>", Opcode.ASHR: ">>",
    Opcode.AND: "&", Opcode.OR: "|", Opcode.XOR: "^",
}  # fmt: skip


class System(IntEnum):
    """What a bound is about."""

    VALUES = 0
    OFFSETS = 1  # of pointers in their objects
    SIZES = 2  # of these objects


class End(NamedTuple):
    """The origin of a check in words.

    Attributes:
        sentence: why something is not known.
        group: the same without what differs between checks that have one origin.
        place: the file and line of the origin, if it has one.
    """

    sentence: str
    group: str
    place: tuple[str, int] | None


class OriginTexts(ProgramNames):
    """Says what the origins of one program are."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._known: dict[tuple[int, int, int], End] = {}
        self._freed_by: dict[str, int | None] = {}

    # Origins

    def of(
        self, system: System, end: int, anchor: int, asked: int, losses: Losses, row: int
    ) -> End:
        """Return the origin of a bound in words.

        Args:
            system: what the bound is about.
            end: the node of the origin.
            anchor: the nearest node to it that has a place, or -1.
            asked: the name whose bound it was.
            losses: where the nodes are from.
            row: the instruction of the check.
        """
        key = (system, end, anchor if anchor >= 0 else -2 - row)
        if key not in self._known:
            name = anchor % losses.n_names if anchor >= 0 else -1
            self._known[key] = self._describe(system, end, name, asked, losses, row)
        return self._known[key]

    def _describe(
        self, system: System, end: int, name: int, asked: int, losses: Losses, row: int
    ) -> End:
        constants = losses.constants_of(end)
        origin, bound = end % losses.n_names, Bound(end // losses.n_names)
        value = self.value_of(name) if name >= 0 else -1
        if name >= self._split.n_names:
            return self._written(name, constants, losses)
        if name < 0:
            return self._unplaced(system, origin, asked, losses, row)
        if name >= self._program.n_values:
            return self._renamed(name, bound, losses)
        if value < self._first:
            return self._argument(value, constants, losses)
        at = value - self._first
        opcode = int(self._table.opcode[at])
        if losses.widens[end]:
            called = self.quoted(name, "a value")
            text = f"the loop {self._at(at)} changes {called} each time around, with no limit"
            return End(text, text, self._place(at))
        if opcode == Opcode.LOAD:
            return self._loaded(at, name, end, losses)
        if opcode in CALLS:
            return self._called(at, origin, losses, system)
        if opcode == Opcode.ALLOCA or (system is System.SIZES and constants):
            return self._sized(name, at, losses)
        if opcode in (Opcode.PHI, Opcode.SELECT) and constants:
            return self._chosen(at, self._constant_text(constants, losses))
        return self._computed(system, name, at, opcode)

    def _constant_text(self, constants: list[int], losses: Losses) -> str:
        """Return a constant; of a pointer null, of what nobody gave that it is any value."""
        for one in constants:
            if losses.operator_of(one) != Operator.CONSTANT:
                continue
            if not self._bases[ValueKind.CONSTANT] <= one < self._bases[ValueKind.ARGUMENT]:
                return str(losses.low_of(one))
            kind = self._program.constants.kind[one - self._bases[ValueKind.CONSTANT]]
            return "an address" if kind == ConstantKind.EXPRESSION else self._number(one)
        return _ANYTHING

    def _written(self, name: int, constants: list[int], losses: Losses) -> End:
        """A store of a constant, or code outside, has written it."""
        values = self._context.values
        rows = values.written_row[values.written_name == name].tolist()
        operand = [
            one for one in rows
            if self._table.opcode[one] == Opcode.STORE
            and self._split.operand[self._table.offsets[one]] in constants
        ]  # fmt: skip
        row = (operand or rows)[0]
        if operand:
            text = f"{self._who(row)} stores {self._constant_text(constants, losses)}"
        elif self._table.opcode[row] in CALLS:
            text = f"the call of {self._callee(row)} {self._at(row)} may write any value"
        elif self._table.opcode[row] == Opcode.ALLOCA:
            text = f"it may not have been written since {self._who(row)}"
        else:
            text = f"{self._who(row)} may store any value"
        text += f" in {self._stored_in(row)}" if self._table.opcode[row] == Opcode.STORE else ""
        return End(text, text, self._place(row))

    def _stored_in(self, row: int) -> str:
        return self._storage(int(self._table.operands_of(row)[1])).text

    def _unplaced(self, system: System, origin: int, asked: int, losses: Losses, row: int) -> End:
        """An address of a global, or a constant, is used itself."""
        called = self.named(asked, "the pointer")
        if system is System.SIZES and losses.operator_of(origin) == Operator.ANY:
            text = f"the size of '{called}' is not known"
        elif system is System.SIZES:
            text = f"'{called}' is no larger"
        else:
            text = f"'{called}' is no more than that {self._at(row)}"
        return End(text, text, self._place(row))

    def _renamed(self, name: int, bound: Bound, losses: Losses) -> End:
        """A test, or an access, tells no more."""
        new = name - self._program.n_values
        point, flow = int(self._split.point[new]), self._split.flow
        called = self.named(name, "a value")
        if self._split.kind[new] == NameKind.SIGMA:
            sources, _ = flow.blocks.edges()
            block = int(sources[point - flow.along(0)])
            at = int(self._program.blocks.instruction_offsets[block + 1]) - 1
            text = f"the test {self._at(at)} bounds '{called}' by no more"
        elif point < flow.n_instructions:
            at = point
            text = f"the access {self._at(at)} tells no more of '{called}'"
        else:
            at = int(
                self._program.blocks.instruction_offsets[int(flow.node_of(np.array([point]))[0])]
            )
            text = f"ways meet {self._at(at)} on which '{called}' is bounded differently"
        return End(text, text, self._place(at))

    def _argument(self, value: int, constants: list[int], losses: Losses | None) -> End:
        row = value - self._bases[ValueKind.ARGUMENT]
        offsets = self._program.function_table.argument_offsets
        function = int(np.searchsorted(offsets, row, side="right")) - 1
        view = self._program.functions[function]
        called = view.source_name or view.name
        names = self._program.variables_of(value)
        parameter = (
            f"the parameter '{names[0]}' of {called}" if names else f"a parameter of {called}"
        )
        calls = self._context.calls
        mine = calls.call[calls.function == function]
        place = row - int(offsets[function])
        if constants and losses is not None:
            for call in mine.tolist():
                at = int(self._table.offsets[call]) + 1 + place
                is_there = at < self._table.offsets[call + 1]
                if is_there and int(self._split.operand[at]) in constants:
                    text = (
                        f"the call {self._at(call)} passes {self._constant_text(constants, losses)}"
                    )
                    text += f" as {parameter}"
                    return End(text, text, self._place(call))
        if called == "main":
            text = f"{parameter} is what the program is called with"
        elif self._context.calls.is_open[function]:
            text = f"{parameter} may be anything: code outside may call {called}"
        elif len(mine):
            text = f"{parameter} is passed by calls that are not followed"
            text += f", such as {self._who(int(mine[0]))}"
        else:
            text = f"{parameter}, and no call of {called} is known"
        first = view.blocks[0].instructions[0].row if len(view.blocks) else -1
        return End(text, text, self._place(first) if first >= 0 else None)

    def _called(self, row: int, origin: int, losses: Losses, system: System) -> End:
        callee = self._callee(row)
        result = self._context.values.result_name
        if system is System.VALUES and origin >= self._split.n_names:
            functions = np.flatnonzero(result == origin)
            if len(functions):
                return self._returned(int(functions[0]), origin, losses)
        if (
            system is not System.VALUES
            and model_of(self._program, int(self._table.operands_of(row)[0])).heap is not None
        ):
            text = f"how many bytes {callee} allocates {self._at(row)} is not known"
            return End(text, text, self._place(row))
        if callee == "a function pointer":
            text = f"it is what a function pointer returns that is called {self._at(row)}"
            return End(text, text, self._place(row))
        group = f"what {callee} returns, of which nothing more is known"
        return End(f"it is what {callee} returns {self._at(row)}", group, self._place(row))

    def _returned(self, function: int, origin: int, losses: Losses) -> End:
        """A function returns a constant itself."""
        view = self._program.functions[function]
        called = view.source_name or view.name
        for bound in Bound:
            constants = losses.constants_of(bound * losses.n_names + origin)
            for block in view.blocks:
                row = block.instructions[-1].row
                at = int(self._table.offsets[row])
                is_return = self._table.opcode[row] == Opcode.RET
                is_return &= at < self._table.offsets[row + 1]
                if is_return and int(self._split.operand[at]) in constants:
                    what = self._constant_text(constants, losses)
                    text = f"{called} returns {what} {self._at(row)}"
                    return End(text, text, self._place(row))
        text = f"it is what {called} returns"
        return End(text, text, None)

    def _sized(self, name: int, row: int, losses: Losses) -> End:
        called = self.named(name, "the object")
        text = f"'{called}' {self._at(row)} has no more bytes"
        return End(text, text, self._place(row))

    def _chosen(self, row: int, what: str) -> End:
        """One of several values is a constant: where control comes from then."""
        at = row
        if self._table.opcode[row] == Opcode.PHI:
            operands = self._table.operands_of(row).tolist()
            for one, block in zip(operands[::2], operands[1::2], strict=True):
                number = one - self._bases[ValueKind.CONSTANT]
                is_it = 0 <= number < len(self._program.constants) and self._number(one) == what
                if is_it:
                    last = block - self._bases[ValueKind.BLOCK]
                    at = int(self._program.blocks.instruction_offsets[last + 1]) - 1
                    break
        at = at if self._near(at) is not None else row
        text = f"it is {what} where control comes from {self._who(at)}"
        return End(text, text, self._place(at))

    def _computed(self, system: System, name: int, row: int, opcode: int) -> End:
        word = Opcode(opcode).name.lower()
        if opcode in _SIGNS:
            text = f"the '{_SIGNS[Opcode(opcode)]}' {self._at(row)} may give any value"
        elif opcode == Opcode.INTTOPTR:
            text = f"a number is made a pointer {self._at(row)}"
        elif opcode == Opcode.GETELEMENTPTR and system is System.VALUES:
            text = f"the address computed {self._at(row)} may wrap around to 0"
        elif opcode == Opcode.GETELEMENTPTR:
            text = f"the address computed {self._at(row)} is of elements whose place is not known"
        elif opcode == Opcode.PHI:
            text = f"ways meet {self._at(row)} on which it has different values"
        else:
            text = f"{word} {self._at(row)} may give any value"
        return End(text, text, self._place(row))

    def _loaded(self, row: int, name: int, end: int, losses: Losses) -> End:
        """A value is read from memory of which not all writes are known, or are too large."""
        address = int(self._table.operands_of(row)[0])
        origin, bound = end % losses.n_names, Bound(end // losses.n_names)
        constants = losses.constants_of(end)
        storage = self._storage(address).text
        head = f"{self.quoted(name, 'it')} is read {self._at(row)}"
        if bool(np.any(self._context.values.cell_name == origin)):
            what = self._constant_text(constants, losses)
            text = (
                f"{storage} begins as {what}"
                if what != _ANYTHING
                else (f"{storage} may not have been written before")
            )
            return End(f"{head} from {storage}; {text}", text, self._place(row))
        writer, is_any = self._writer_of(address, bound)
        if writer is None:
            by = "which code outside may have written"
        else:
            by = f"which {self._who(writer)} may have written{' with any value' * is_any}"
        group = f"memory of {storage}, which any store may have written"
        place = self._place(row) if writer is None else self._place(writer)
        return End(f"{head} from {storage}, {by}", group, place)

    # Checks that are not about bounds

    def of_check(self, kind: CheckKind, row: int, name: int) -> End:
        """Return why a check of storage, or of a floating-point number, is open."""
        if kind is CheckKind.FREED:
            return self._freed(row, name)
        if kind is CheckKind.UNINITIALISED:
            return self._unwritten(row)
        if kind is CheckKind.CONVERSION:
            name = int(self._split.operand[self._table.offsets[row]])
            return self._float(name, row)
        if kind is CheckKind.BOUNDS:
            text = f"no model says how many bytes {self._callee(row)} touches"
            return End(f"{text} {self._at(row)}", text, self._place(row))
        text = f"control may come {self._at(row)}"
        return End(text, text, self._place(row))

    def _freed(self, row: int, name: int) -> End:
        value = self.value_of(name)
        storage, objects, _ = self._storage(value)
        if storage not in self._freed_by:
            self._freed_by[storage] = self._freeing_call(objects)
        call = self._freed_by[storage]
        if call is None:
            system = self._points_to.system
            kinds = system.allocations.kind[system.locations.allocation[objects]]
            is_local = bool(np.isin(kinds, (AllocationKind.STACK, AllocationKind.COPY)).any())
            how = "ends where its function returns" if is_local else "code outside may end"
            text = f"it may be of {storage}, which {how}"
            return End(text, text, self._place(row))
        text = f"{self._callee(call)} {self._at(call)} may have freed {storage}"
        return End(text, text, self._place(call))

    def _unwritten(self, row: int) -> End:
        if self._table.opcode[row] != Opcode.LOAD:
            text = f"on some way {self._at(row)} nobody has given it a value"
            return End(text, text, self._place(row))
        storage = self._storage(int(self._table.operands_of(row)[0])).text
        text = f"{storage} begins with nothing written, and some way here may leave it so"
        group = f"storage of {storage}, which begins with nothing written"
        return End(text, group, self._place(row))

    def _float(self, name: int, row: int) -> End:
        value = self.value_of(name)
        at = value - self._first
        if at >= 0 and self._table.opcode[at] in CALLS:
            text = f"it is what {self._callee(at)} returns {self._at(at)}"
        elif at >= 0 and self._table.opcode[at] == Opcode.LOAD:
            text = f"it is read {self._at(at)}"
        elif at >= 0:
            text = f"it is computed {self._at(at)}"
        elif value >= self._bases[ValueKind.ARGUMENT]:
            return self._argument(value, [], None)
        else:
            text = f"the number {self._at(row)} does not"
        return End(text, text, self._place(max(at, 0)) if at >= 0 else self._place(row))
