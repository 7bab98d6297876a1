"""The builder of a `FlatFunction`: what the lowering of calls and instructions has in common."""

from __future__ import annotations

from kleene.analyses.invariants.checks import UNKNOWN_OBJECT, CheckKind
from kleene.analyses.invariants.expressions import (
    Condition,
    Either,
    Form,
    Kind,
    Relation,
    Unknown,
    only,
)
from kleene.analyses.invariants.flat import Block, FlatFunction, Site, Source
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.objects import Address, Choice, Target
from kleene.analyses.invariants.operations import AnyValue, Check, Operation
from kleene.analyses.invariants.outside import Outside
from kleene.analyses.invariants.values import Values
from kleene.ir import Program
from kleene.ir.codes import ValueKind


class FlatFunctionBuilder:
    """Appends operations and checks to the blocks of one function and its inlined callees.

    Attributes:
        program: where the function is from.
        table: the program's instructions.
        first_instruction: the value id of instruction 0; instruction `row` has this plus `row`.
        first_block: the value id of block 0.
        flat: what is built.
        values: the expressions of values.
        wraps: whether signed overflow wraps around.
        outside: what is known of values from outside.
        origin: the context and the instruction that operations are from, from now on.
        places: offsets of pointers that are known, from now on.
        pointed: what pointers point into that are chosen, and at which offset, from now on.
    """

    def __init__(
        self, program: Program, name: str, readings: Readings, outside: Outside, *, wraps: bool
    ) -> None:
        self.program = program
        self.table = program.instructions
        self.first_instruction = program.bases[ValueKind.INSTRUCTION]
        self.first_block = program.bases[ValueKind.BLOCK]
        self.flat = FlatFunction(name)
        self.values = Values(program, self.flat, readings, wraps)
        self.wraps = wraps
        self.outside = outside
        self.origin = (0, 0)
        self.pointed: dict[Choice, tuple[Target, int | None]] = {}
        self.places: dict[int, Form] = {}
        self._sites: dict[tuple[CheckKind, int, str], int] = {}

    def emit(self, block: Block, operation: Operation) -> None:
        """Append an operation to a block."""
        block.operations.append(operation)
        block.origins.append(self.origin)

    def check(
        self,
        block: Block,
        kind: CheckKind,
        row: int,
        condition: Condition,
        message: str,
        *,
        is_stop: bool = True,
        part: str = "",
        reason: str = "",
    ) -> None:
        """Append a check of an instruction; behind it, its condition is assumed if it `is_stop`.

        An instruction that is inlined several times has one site for each kind of check, and part
        of it: what it reads, what it writes. `reason` says why no constraint would prove it.
        """
        place = self._sites.setdefault((kind, row, part), len(self.flat.sites))
        if place == len(self.flat.sites):
            self.flat.sites.append(Site(kind, row, message))
        if reason:
            self.flat.reasons.setdefault(place, reason)
        is_stop &= kind is not CheckKind.UNINITIALISED  # where it fails, any value is used
        self.emit(block, Check(place, condition, is_stop))

    def source(self, context: int, value: int, kind: Kind | None = None) -> Source:
        """Return a value as it is assigned: a flag as the condition that it stands for."""
        if self.values.is_pointer(value):
            self.expose(context, value)
            return self.values.address(context, value).is_present
        if self.values.width(value) == 1:
            return self.values.condition(context, value)
        form = self.values.number(context, value, kind or self.values.kind(value))
        if form is not None and len(form.terms) == 1 and form == only(form.terms[0][0]):
            return self.values.flags.get(form.terms[0][0], form)
        return form

    def address(self, context: int, value: int) -> Address:
        """Return where a pointer points, in the case that operations are appended for."""
        address = self.values.address(context, value)
        if value in self.places:
            return address._replace(offset=self.places[value])
        target = None if address.choice is None else self.pointed.get(address.choice)
        return address if target is None else address.into(*target)

    def named(self, context: int, value: int) -> str:
        """Return what a pointer points into: all that it may; empty if that is not known."""
        address = self.values.address(context, value)
        numbers = [address.object]
        if address.choice is not None and address.object is None:
            numbers = [one.object for one in address.choice.targets]
        names = [self.flat.objects[one].name or "an object" for one in numbers if one is not None]
        return ", or of ".join(dict.fromkeys(names)) if len(names) == len(numbers) else ""

    def expose(self, context: int, value: int) -> None:
        """Note that others may get to know where an object is."""
        if self.values.is_pointer(value):
            address = self.values.address(context, value)
            targets = () if address.choice is None else address.choice.targets
            for object in (address.object, *(one.object for one in targets)):
                if object is not None:
                    self.flat.objects[object].is_exposed = True
            return
        row = value - self.program.bases[ValueKind.CONSTANT]
        if 0 <= row < len(self.program.constants):
            for one in self.program.constants.operands_of(row).tolist():
                self.expose(context, one)

    def emit_any(self, block: Block, context: int, value: int) -> None:
        """Append that a number or pointer has any value; nothing for a value of another type."""
        if self.values.is_number(value) or self.values.is_pointer(value):
            self.emit(block, AnyValue(self.values.base(context, value)))

    def not_in_front(self, address: Address, row: int) -> Condition:
        """Return that an address is not in front of its object, where an instruction begins.

        Where the object is not known, an address may lie there anyhow: there may be more bytes in
        front of its root than are known of.
        """
        assert address.offset is not None
        if address.object is not None or address.root is None:
            return Relation(address.offset.scaled(-1), "le")
        n_bytes = self.outside.bytes_before(address.root, row)
        if n_bytes is None:
            return Unknown()
        return Either(Relation(address.offset.shifted(n_bytes).scaled(-1), "le"), Unknown())

    def not_known(self, address: Address) -> str:
        """Return why it cannot be told whether bytes at an address are inside of an object."""
        if address.object is None:
            names = self.program.variables_of(address.root.value) if address.root else []
            pointer = f"'{names[0]}'" if names else "the pointer"
            return f"{UNKNOWN_OBJECT} {pointer} points to"
        object = self.flat.objects[address.object]
        name = object.name or "the object"
        if object.size is None:
            return f"the size of {name} is not known"
        return f"it is not known which bytes of {name} these are" if address.offset is None else ""

    def truth(self, context: int, value: int) -> Condition:
        """Return the condition that a value is not 0 or null."""
        if self.values.width(value) == 1:
            return self.values.condition(context, value)
        source = self.source(context, value)
        if isinstance(source, Form):
            return Relation(source, "ne")
        return Unknown() if source is None else source
