"""From the IR to a `FlatFunction`: operations, edges, checks, callees laid in where called.

A callee is laid in once for each chain of calls that leads to it from the root, as long as it does
not call itself and there is room; its arguments are then expressions of its caller. Any other call
returns any value, and writes to all that it can reach.
"""

from __future__ import annotations

from collections.abc import Iterable

from kleene.analyses.invariants.calls import lower_call
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.expressions import (
    BOOL,
    ONE,
    ZERO,
    Always,
    Both,
    Condition,
    Form,
    Key,
    Kind,
    Relation,
    Unknown,
    negation,
    only,
)
from kleene.analyses.invariants.flat import (
    Access,
    Base,
    Block,
    Edge,
    Escape,
    FlatFunction,
    Site,
    Source,
)
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.library import is_noreturn, model_of
from kleene.analyses.invariants.memory import resolve
from kleene.analyses.invariants.operations import (
    AnyValue,
    Assign,
    Binary,
    Check,
    Choose,
    Operation,
    Wrap,
)
from kleene.analyses.invariants.storage import MayFree, track
from kleene.analyses.invariants.values import Address, Context, Expression, Values
from kleene.ir import Program
from kleene.ir.codes import (
    BINARY,
    CALLS,
    ConstantKind,
    Flag,
    Opcode,
    Passing,
    TypeFlag,
    TypeKind,
    ValueKind,
)
from kleene.ir.views import Constant

MOST_BLOCKS = 400  # of a function with its callees; further calls are not laid in
_DEEPEST = 12
_NAMES = {
    Opcode.UDIV: "udiv", Opcode.SDIV: "sdiv", Opcode.UREM: "urem", Opcode.SREM: "srem",
    Opcode.SHL: "shl", Opcode.LSHR: "lshr", Opcode.ASHR: "ashr", Opcode.AND: "and",
    Opcode.OR: "or", Opcode.XOR: "xor", Opcode.MUL: "mul", Opcode.ADD: "add", Opcode.SUB: "sub",
}  # fmt: skip
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "shl": "<<", "sdiv": "/", "srem": "%"}
_TELL_NOBODY = (Opcode.ICMP, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE, Opcode.FENCE)
_DIVISIONS = (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)
SUPPOSED = "the access is inside, if "  # how messages of checks begin that suppose something
_DEFINED = -(1 << 60)  # variables for whether a phi has a value, by the phi
_COMPUTES = {
    Opcode.ADD, Opcode.SUB, Opcode.MUL, *_DIVISIONS, Opcode.XOR, Opcode.ASHR, Opcode.ICMP,
    Opcode.SEXT, Opcode.GETELEMENTPTR, Opcode.BR, Opcode.SWITCH, Opcode.FADD, Opcode.FSUB,
    Opcode.FMUL, Opcode.FDIV, Opcode.FCMP, Opcode.SITOFP, Opcode.UITOFP,
}  # fmt: skip


def lower(program: Program, function: int, *, wraps: bool = False) -> FlatFunction:
    """Return a function with its callees laid in.

    Args:
        program: where it is from.
        function: its row.
        wraps: whether signed overflow wraps around, as with `-fwrapv`; else it is checked, and
            assumed not to happen afterwards.
    """
    return _Lowering(program, function, wraps).flat


class _Lowering:
    def __init__(self, program: Program, function: int, wraps: bool) -> None:
        self._program = program
        self._table = program.instructions
        self._base = program.bases[ValueKind.INSTRUCTION]
        self._blocks_base = program.bases[ValueKind.BLOCK]
        self.flat = FlatFunction(program.functions[function].name)
        self._readings = Readings(program, reachable(program, function))
        self._values = Values(program, self.flat, self._readings, wraps)
        self._sites: dict[tuple[CheckKind, int], int] = {}
        self._wraps = wraps
        self._now = (0, 0)
        self._undefined: dict[int, set[int]] = {}
        self._lay(function, None, (), -1, None)
        self._enter_root(function)
        track(program, self.flat)
        is_main = program.functions[function].name == "main"
        resolve(program, self.flat, self._readings, is_main=is_main)

    # Functions

    def _enter_root(self, function: int) -> None:
        """Let the arguments of the root have any value."""
        first, end = self._program.function_table.argument_offsets[function : function + 2].tolist()
        operations: list[Operation] = []
        for row in range(first, end):
            value = self._program.value(ValueKind.ARGUMENT, row)
            if self._values.width(value) or self._values.is_pointer(value):
                operations.append(AnyValue(self._values.base(0, value)))
        entry = self.flat.blocks[0]
        entry.operations[:0] = operations
        entry.origins[:0] = [(0, -1)] * len(operations)

    def _lay(
        self,
        function: int,
        arguments: list[Expression] | None,
        stack: tuple[int, ...],
        call: int,
        back: tuple[Block, int, Base | None] | None,
    ) -> None:
        """Lay in a function; `back` says who called, where it goes on, what takes the result."""
        context = len(self._values.contexts)
        self._values.contexts.append(Context(function, arguments, (*stack, function)))
        self.flat.contexts.append((function, call, -1 if back is None else back[0].context))
        first = int(self._program.function_table.block_offsets[function])
        places = {}
        for row in self._reached(first):
            places[row] = len(self.flat.blocks)
            self.flat.blocks.append(Block(context, row))
        if back is not None:
            back[0].edges.append(Edge(places[first]))
        for row in places:
            self._lay_block(context, row, places, back)

    def _reached(self, first: int) -> list[int]:
        offsets, targets = self._program.successors
        found, todo = {first: None}, [first]
        while todo:
            row = todo.pop()
            for target in targets[offsets[row] : offsets[row + 1]].tolist():
                if target not in found:
                    found[target] = None
                    todo.append(target)
        return list(found)

    def _lay_block(
        self,
        context: int,
        row: int,
        places: dict[int, int],
        back: tuple[Block, int, Base | None] | None,
    ) -> None:
        block = self.flat.blocks[places[row]]
        first, end = self._program.blocks.instruction_offsets[row : row + 2].tolist()
        opcodes = self._table.opcode[first:end].tolist()
        for place, opcode in enumerate(opcodes, first):
            self._now = (context, place)
            operands = self._table.operands_of(place).tolist()
            if opcode == Opcode.PHI:
                continue
            self._check_defined(block, context, place, opcode, operands)
            if opcode in (Opcode.INVOKE, Opcode.CALLBR):
                self._throw(block, context, row, operands, places)
            if opcode in CALLS:
                found = self._call(block, context, place, operands)
                if found is None:
                    return
                block = found
                if opcode == Opcode.CALL:
                    continue
            if place == end - 1:
                self._leave(block, context, row, opcode, operands, places, back)
            else:
                self._instruction(block, context, place, opcode, operands)

    def _throw(
        self, block: Block, context: int, row: int, operands: list[int], places: dict[int, int]
    ) -> None:
        """Add the ways out of a call that are not its normal one.

        A callee may throw anywhere, and may have written to anything before.
        """
        thrown = Block(context, row)
        block.edges.append(Edge(len(self.flat.blocks)))
        self.flat.blocks.append(thrown)
        self._emit(thrown, Escape(everything=True))
        for one in self._blocks_in(operands)[1:]:
            thrown.edges.append(Edge(places[one], None, self._phis(context, row, one)))

    def _blocks_in(self, operands: list[int]) -> list[int]:
        found = (one - self._blocks_base for one in operands if one < self._base)
        return [one for one in found if one >= 0]

    def _leave(
        self,
        block: Block,
        context: int,
        row: int,
        opcode: int,
        operands: list[int],
        places: dict[int, int],
        back: tuple[Block, int, Base | None] | None,
    ) -> None:
        """Add the edges of a block's last instruction."""
        for target, condition in self._targets(context, opcode, operands):
            edge = Edge(places[target], condition, self._phis(context, row, target))
            block.edges.append(edge)
        if opcode == Opcode.RET and back is not None:
            edge = Edge(back[1])
            if back[2] is not None:
                edge.assignments.append((back[2], self._source(context, operands[0])))
            block.edges.append(edge)

    def _targets(
        self, context: int, opcode: int, operands: list[int]
    ) -> Iterable[tuple[int, Condition | None]]:
        targets = self._blocks_in(operands)
        if opcode in (Opcode.INVOKE, Opcode.CALLBR):
            return [(targets[0], None)]  # for the others see `_throw`
        if opcode == Opcode.BR and len(operands) == 3:
            condition = self._values.condition(context, operands[0])
            return [(targets[0], condition), (targets[1], negation(condition))]
        if opcode == Opcode.SWITCH:
            return self._cases(context, operands)
        return [(target, None) for target in targets]

    def _cases(self, context: int, operands: list[int]) -> Iterable[tuple[int, Condition | None]]:
        kind = self._values.kind(operands[0])
        form = self._values.integer(context, operands[0], kind)
        rest: Condition | None = None
        for case, target in zip(operands[2::2], operands[3::2], strict=True):
            number = self._values.constant(case)
            if form is None or number is None or kind.width == 1:
                yield target - self._blocks_base, None
                continue
            equal = Relation(form.shifted(-kind.wrap(number)), "eq")
            rest = negation(equal) if rest is None else Both(rest, negation(equal))
            yield target - self._blocks_base, equal
        yield operands[1] - self._blocks_base, rest

    def _phis(self, context: int, source: int, target: int) -> list[tuple[Key, Source]]:
        found: list[tuple[Key, Source]] = []
        first, end = self._program.blocks.instruction_offsets[target : target + 2].tolist()
        for row in range(first, end):
            if self._table.opcode[row] != Opcode.PHI:
                break
            value = self._base + row
            if not (self._values.width(value) or self._values.is_pointer(value)):
                continue
            operands = self._table.operands_of(row).tolist()
            for one, block in zip(operands[::2], operands[1::2], strict=True):
                if block == source + self._blocks_base:
                    if row in self._undefined_phis(context):
                        flag = self._defined(context, one)
                        found.append((self._defined_key(context, value), flag))
                    key = self._values.base(context, value)
                    found.append((key, self._source(context, one, self._values.kind(value))))
                    break
        return found

    # Values that nobody gave

    def _undefined_phis(self, context: int) -> set[int]:
        """Return the phis of a function that may have no value: one of theirs is undefined."""
        function = self._values.contexts[context].function
        if function not in self._undefined:
            found: set[int] = set()
            blocks = self._program.function_table.block_offsets[function : function + 2]
            first, end = self._program.blocks.instruction_offsets[blocks].tolist()
            opcodes = self._table.opcode[first:end]
            phis = [first + int(one) for one in (opcodes == Opcode.PHI).nonzero()[0]]
            given = {row: self._table.operands_of(row).tolist()[::2] for row in phis}
            changed = True
            while changed:
                more = {
                    row
                    for row, values in given.items()
                    if row not in found
                    and any(self._is_undefined(one) or one - self._base in found for one in values)
                }
                found |= more
                changed = bool(more)
            self._undefined[function] = found
        return self._undefined[function]

    def _is_undefined(self, value: int) -> bool:
        row = value - self._program.bases[ValueKind.CONSTANT]
        kinds = self._program.constants.kind
        return 0 <= row < len(kinds) and kinds[row] in (ConstantKind.UNDEF, ConstantKind.POISON)

    def _defined_key(self, context: int, value: int) -> Base:
        """Return the variable that is 1 where a phi has a value."""
        key = Base(context, _DEFINED - value)
        self.flat.kinds[key] = BOOL
        return key

    def _defined(self, context: int, value: int) -> Form:
        """Return 1 where a value is defined, else 0."""
        if self._is_undefined(value):
            return ZERO
        row = value - self._base
        if row >= 0 and row in self._undefined_phis(context):
            return only(self._defined_key(context, value))
        return ONE

    def _check_defined(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        """Check that what something is computed from has a value.

        Masks and shifts are left out: LLVM puts small integers into the undefined bits of larger
        ones by them.
        """
        if opcode not in _COMPUTES:
            return
        used = operands[:1] if opcode in (Opcode.BR, Opcode.SWITCH) else operands
        flags = [
            self._defined(context, one)
            for one in used
            if one < self._blocks_base or (one >= self._base)
        ]
        missing = [Relation(flag, "ne") for flag in flags if flag != ONE]
        if missing:
            condition: Condition = missing[0]
            for one in missing[1:]:
                condition = Both(condition, one)
            message = "what is used has a value"
            self._check(block, CheckKind.UNINITIALISED, row, condition, message)

    def _source(self, context: int, value: int, kind: Kind | None = None) -> Source:
        """Return a value as it is assigned: a flag as the condition that it stands for."""
        if self._values.is_pointer(value):
            self._expose(context, value)
            return self._values.address(context, value).is_present
        if self._values.width(value) == 1:
            return self._values.condition(context, value)
        form = self._values.integer(context, value, kind or self._values.kind(value))
        if form is not None and len(form.terms) == 1 and form == only(form.terms[0][0]):
            return self._values.flags.get(form.terms[0][0], form)
        return form

    # Instructions

    def _emit(self, block: Block, operation: Operation) -> None:
        block.operations.append(operation)
        block.origins.append(self._now)

    def _check(
        self,
        block: Block,
        kind: CheckKind,
        row: int,
        condition: Condition,
        message: str,
        *,
        is_stop: bool = True,
    ) -> None:
        place = self._sites.setdefault((kind, row), len(self.flat.sites))
        if place == len(self.flat.sites):
            self.flat.sites.append(Site(kind, row, message))
        is_stop &= kind is not CheckKind.UNINITIALISED  # where it fails, any value is used
        self._emit(block, Check(place, condition, is_stop))

    def _instruction(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        value = self._base + row
        if opcode in BINARY and self._values.width(value):
            self._binary(block, context, row, opcode, operands)
        elif opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC) and self._values.width(value):
            self._cast(block, context, row, opcode, operands)
        elif opcode == Opcode.SELECT:
            self._select(block, context, row, operands)
        elif opcode in (Opcode.LOAD, Opcode.STORE, Opcode.ATOMICRMW, Opcode.CMPXCHG):
            self._access(block, context, row, opcode, operands)
        elif opcode == Opcode.ALLOCA:  # a new object: whatever it held before
            address = self._values.address(context, value)
            self._emit(block, Access(None, address.object, ZERO, -1, True, is_new=True))
        elif opcode == Opcode.GETELEMENTPTR:
            self._indices(block, context, value, operands)
        else:
            if opcode not in _TELL_NOBODY:
                for one in operands:
                    self._expose(context, one)
            self._any(block, context, value)

    def _indices(self, block: Block, context: int, value: int, operands: list[int]) -> None:
        """Set the variables for unsigned indices of an element's address."""
        self._values.of(context, value)
        for place, index in enumerate(operands[1:]):
            key = self._values.index(context, value, place)
            if key in self.flat.kinds:
                form = self._values.integer(context, index, self._values.kind(index))
                assert form is not None
                self._emit(block, Wrap(key, form, self.flat.kinds[key]))

    def _any(self, block: Block, context: int, value: int) -> None:
        """Give a variable that no operation sets any value."""
        key = Base(context, value)
        expression = self._values.of(context, value)
        if key in self.flat.kinds and expression is not None:
            self._emit(block, AnyValue(key))

    def _binary(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        value, name = self._base + row, _NAMES.get(Opcode(opcode), "")
        kind = self._values.kind(value)
        if kind.width == 1 or not name:
            return
        left_kind, right_kind = (self._kind_of(one, kind) for one in operands)
        left = self._values.integer(context, operands[0], left_kind)
        right = self._values.integer(context, operands[1], right_kind)
        key = self._values.base(context, value)
        if left is None or right is None:
            self._emit(block, AnyValue(key))
            return
        self._checks(block, row, opcode, (left, right), right_kind)
        exact = self._values.unbounded(context, value, opcode, operands)
        is_signed = bool(self._table.flags[row] & Flag.NSW) and not self._wraps
        if is_signed and exact is not None and not kind.is_unsigned:
            self._check(block, CheckKind.OVERFLOW, row, within(exact, kind), _overflow(name, kind))
        if self._values.of(context, value) != only(key):
            return
        if exact is not None:
            self._emit(block, Wrap(key, exact, kind))
            return
        made = Binary(key, name, left, right, left_kind, right_kind, kind)
        if is_signed and name in ("mul", "shl") and not kind.is_unsigned:
            wide = Base(context, ~value)  # the product before it is known to fit
            self.flat.kinds[wide] = Kind(2 * kind.width, False)
            self._emit(block, Binary(wide, name, left, right, *(Kind(2 * kind.width, False),) * 3))
            condition = within(only(wide), kind)
            self._check(block, CheckKind.OVERFLOW, row, condition, _overflow(name, kind))
            self._emit(block, Assign(key, only(wide)))
            return
        self._emit(block, made)

    def _kind_of(self, value: int, kind: Kind) -> Kind:
        return kind if self._values.constant(value) is not None else self._values.kind(value)

    def _checks(
        self, block: Block, row: int, opcode: int, forms: tuple[Form, Form], kind: Kind
    ) -> None:
        """Add what must hold before a division or shift."""
        left, right = forms
        if opcode in _DIVISIONS:
            self._check(
                block, CheckKind.DIVISION, row, Relation(right, "ne"), "the divisor is not 0"
            )
            least = Relation(left.shifted(1 << kind.width - 1), "ne")
            may_be = opcode in (Opcode.SDIV, Opcode.SREM) and not kind.is_unsigned
            if may_be and (right.terms or right.constant == -1):
                either = negation(Both(negation(least), Relation(right.shifted(1), "eq")))
                self._check(block, CheckKind.OVERFLOW, row, either, _overflow("sdiv", kind))
        elif opcode in _SHIFTS:
            inside = Both(
                Relation(right.scaled(-1), "le"), Relation(right.shifted(1 - kind.width), "le")
            )
            message = f"the shift is by 0 to {kind.width - 1} bits"
            self._check(block, CheckKind.SHIFT, row, inside, message)

    def _cast(self, block: Block, context: int, row: int, opcode: int, operands: list[int]) -> None:
        value = self._base + row
        key = Base(context, value)
        if key in self._values.flags or self._values.of(context, value) is None:
            condition = self._values.flags.get(key, Unknown())
            self._emit(block, Choose(key, condition, Form((), 1), ZERO))
            return
        if self._values.of(context, value) != only(key):
            return
        source, kind = self._values.kind(operands[0]), self._values.kind(value)
        form = self._values.integer(context, operands[0], source)
        if form is None or source.width == 1:
            self._emit(block, AnyValue(key))
        elif opcode == Opcode.ZEXT and not source.is_unsigned:
            unsigned = Base(context, ~value)  # the unsigned reading of the bits
            self.flat.kinds[unsigned] = Kind(source.width, True)
            self._emit(block, Wrap(unsigned, form, Kind(source.width, True)))
            self._emit(block, Assign(key, only(unsigned)))
        elif opcode == Opcode.SEXT and source.is_unsigned:
            signed = Base(context, ~value)
            self.flat.kinds[signed] = Kind(source.width, False)
            self._emit(block, Wrap(signed, form, Kind(source.width, False)))
            self._emit(block, Wrap(key, only(signed), kind))
        else:
            self._emit(block, Wrap(key, form, kind))

    def _select(self, block: Block, context: int, row: int, operands: list[int]) -> None:
        value = self._base + row
        if self._values.is_pointer(value):
            for one in operands[1:]:
                self._expose(context, one)
            self._emit(block, AnyValue(self._values.base(context, value)))
            return
        kind = self._values.kind(value)
        if kind.width <= 1:
            return
        left, right = (self._values.integer(context, one, kind) for one in operands[1:])
        key = self._values.base(context, value)
        if left is None or right is None:
            self._emit(block, AnyValue(key))
        else:
            condition = self._values.condition(context, operands[0])
            self._emit(block, Choose(key, condition, left, right))

    # Memory

    def _access(
        self, block: Block, context: int, row: int, opcode: int, operands: list[int]
    ) -> None:
        value = self._base + row
        stored = operands[0] if opcode == Opcode.STORE else None
        place = operands[1] if opcode == Opcode.STORE else operands[0]
        address = self._values.address(context, place)
        typed = value if stored is None else stored
        if opcode in (Opcode.ATOMICRMW, Opcode.CMPXCHG):
            typed = operands[1]
        type_id = int(self._program.value_types[typed])
        size = int(self._program.types.size[type_id])
        self._check_address(block, row, address, size)
        if stored is not None:
            self._expose(context, stored)
            kind = self._values.kind(stored) if self._values.width(stored) > 1 else None
            source = self._source(context, stored, kind) if kind is not None else None
            self._emit(
                block, Access(None, address.object, address.offset, size, True, source, kind)
            )
            return
        is_plain = opcode == Opcode.LOAD and not self._table.flags[row] & Flag.VOLATILE
        if opcode != Opcode.LOAD:
            for one in operands[1:]:
                self._expose(context, one)
            self._emit(block, Access(None, address.object, address.offset, size, True))
        if not (self._values.width(value) or self._values.is_pointer(value)):
            return
        key = self._values.base(context, value)
        if is_plain and self._values.width(value) > 1:
            kind = self._values.kind(value)
            self._emit(block, Access(key, address.object, address.offset, size, False, None, kind))
        else:
            self._emit(block, AnyValue(key))

    def _check_address(self, block: Block, row: int, address: Address, size: int) -> None:
        if address.is_present != Always(True):
            self._check(block, CheckKind.NULL, row, address.is_present, "the pointer is not null")
        if address.object is not None:
            object = self.flat.objects[address.object]
            extent, message = object.size, f"the access is inside of {object.name or 'an object'}"
        elif address.extent is not None:
            extent, message = address.extent.size, f"{SUPPOSED}{address.extent.text}"
        else:
            return
        if extent is None or size < 0:
            return
        if address.offset is None:
            self._check(block, CheckKind.BOUNDS, row, Unknown(), message)
            return
        low = Relation(address.offset.scaled(-1), "le")
        high = Relation(address.offset.shifted(size).plus(extent, -1), "le")
        is_stop = address.object is not None  # what is supposed is no reason for others to hold
        self._check(block, CheckKind.BOUNDS, row, Both(low, high), message, is_stop=is_stop)

    def _expose(self, context: int, value: int) -> None:
        """Note that others may get to know where an object is."""
        if self._values.is_pointer(value):
            address = self._values.address(context, value)
            if address.object is not None:
                self.flat.objects[address.object].is_exposed = True
            return
        row = value - self._program.bases[ValueKind.CONSTANT]
        if 0 <= row < len(self._program.constants):
            for one in self._program.constants.operands_of(row).tolist():
                self._expose(context, one)

    # Calls

    def _call(self, block: Block, context: int, row: int, operands: list[int]) -> Block | None:
        """Add a call; return the block where the caller goes on, or None if it does not."""
        value = self._base + row
        arguments = [one for one in operands[1:] if not self._blocks_base <= one < self._base]
        model = model_of(self._program, operands[0])
        if self._table.flags[row] & Flag.RETURNS_TWICE:
            self.flat.refused = "a call may return twice (setjmp)"
        if self._values.is_pointer(value) and model.returns is None and model.heap is None:
            for one in arguments:  # the result may point to what an argument points to
                self._expose(context, one)
        model = lower_call(self, block, context, row, model, arguments)
        if not model.is_unknown:
            return block if model.effect not in ("fails", "stops") else None
        if is_noreturn(int(self._table.flags[row])):
            return None
        function = self._callee(operands[0], len(arguments), context)
        if function is not None:
            return self._lay_call(block, context, row, function, arguments)
        for one in arguments:
            self._expose(context, one)
        self._emit(block, Escape())
        if operands[0] >= len(self._program.globals) or self._has_body(operands[0]):
            self._emit(block, MayFree(None))
        self._result(block, context, value)
        return block

    def _has_body(self, callee: int) -> bool:
        row = int(self._program.globals.function[callee])
        if row < 0:
            return False
        first, end = self._program.function_table.block_offsets[row : row + 2].tolist()
        return bool(first < end)

    def _result(self, block: Block, context: int, value: int) -> None:
        if self._values.width(value) or self._values.is_pointer(value):
            self._emit(block, AnyValue(self._values.base(context, value)))

    def _truth(self, context: int, value: int) -> Condition:
        if self._values.width(value) == 1:
            return self._values.condition(context, value)
        source = self._source(context, value)
        if isinstance(source, Form):
            return Relation(source, "ne")
        return Unknown() if source is None else source

    def _assertion(self, arguments: list[int]) -> str:
        """Return the text of an assertion, which glibc's `assert` passes first."""
        table = self._program.globals
        if len(arguments) == 4 and arguments[0] < len(table):
            text = int(table.initializer[arguments[0]])
            view = self._program.value_view(text) if text >= 0 else None
            if isinstance(view, Constant) and view.string is not None:
                return "assertion " + view.string.split(b"\0")[0].decode("utf-8", "replace")
        return "the error is not reached"

    def _callee(self, callee: int, n_arguments: int, context: int) -> int | None:
        """Return the function to lay in for a call, if it is one."""
        program = self._program
        if callee >= len(program.globals) or (row := int(program.globals.function[callee])) < 0:
            return None
        blocks = program.function_table.block_offsets[row : row + 2].tolist()
        formals = program.function_table.argument_offsets[row : row + 2].tolist()
        stack = self._values.contexts[context].stack
        type_id = int(program.globals.type[callee])
        is_variadic = program.types.kind[type_id] == TypeKind.FUNCTION and bool(
            program.types.flags[type_id] & TypeFlag.VARARG
        )
        name = program.functions[row].name
        if blocks[0] == blocks[1]:
            return None
        passing = program.arguments.passing[formals[0] : formals[1]].tolist()
        is_copied = any(one not in (Passing.DIRECT, Passing.SRET) for one in passing)
        if is_variadic or is_copied or formals[1] - formals[0] != n_arguments:
            self.flat.not_followed[row] = None
            return None
        if row in stack:
            self.flat.notes[f"{name} calls itself: the inner call returns any value"] = None
            self.flat.not_followed[row] = None
            return None
        if len(stack) > _DEEPEST or len(self.flat.blocks) + blocks[1] - blocks[0] > MOST_BLOCKS:
            self.flat.notes[f"{name} is not followed: there are too many blocks"] = None
            self.flat.not_followed[row] = None
            return None
        return row

    def _lay_call(
        self, block: Block, context: int, row: int, function: int, arguments: list[int]
    ) -> Block:
        value = self._base + row
        first = int(self._program.function_table.argument_offsets[function])
        expressions: list[Expression] = []
        for place, one in enumerate(arguments):
            formal = self._program.value(ValueKind.ARGUMENT, first + place)
            width = self._values.width(formal)
            number = self._values.constant(one)
            if width > 1 and number is not None:
                expressions.append(Form((), self._values.kind(formal).wrap(number)))
            else:
                expressions.append(self._values.of(context, one))
        after = Block(block.context, block.row)
        place = len(self.flat.blocks)
        self.flat.blocks.append(after)
        has_result = self._values.width(value) or self._values.is_pointer(value)
        key = self._values.base(context, value) if has_result else None
        stack = self._values.contexts[context].stack
        self._lay(function, expressions, stack, row, (block, place, key))
        self._now = (context, row)
        return after


def reachable(program: Program, function: int, *, deep: bool = True) -> list[int]:
    """Return a function and those with bodies that it calls by name, directly or (`deep`) not."""
    found, todo = {function: None}, [function]
    table = program.instructions
    while todo:
        one = todo.pop()
        blocks = program.function_table.block_offsets[one : one + 2]
        first, end = program.blocks.instruction_offsets[blocks].tolist()
        for row, opcode in enumerate(table.opcode[first:end].tolist(), first):
            if opcode in CALLS:
                callee = int(table.operands[table.offsets[row]])
                if callee < len(program.globals):
                    target = int(program.globals.function[callee])
                    if target >= 0 and target not in found:
                        found[target] = None
                        if deep and len(program.functions[target].blocks):
                            todo.append(target)
    offsets = program.function_table.block_offsets
    return [one for one in found if offsets[one] < offsets[one + 1]]


def within(form: Form, kind: Kind) -> Condition:
    """Return the condition that the value of a form is one of a kind."""
    low = Relation(form.scaled(-1).shifted(kind.low), "le")
    return Both(low, Relation(form.shifted(-kind.high), "le"))


def _overflow(name: str, kind: Kind) -> str:
    return f"'{_SIGNS[name]}' of {kind.width} bits does not overflow"
