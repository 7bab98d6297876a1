"""From the IR to a `FlatFunction`: operations, edges, checks, callees inlined where called.

A callee is inlined once for each chain of calls that leads to it from the root, as long as it does
not call itself and there is room; its arguments are then expressions of its caller. Any other call
returns any value, and writes to all that it can reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kleene.analyses.invariants.builder import FlatFunctionBuilder
from kleene.analyses.invariants.calls import lower_call, model_of_call
from kleene.analyses.invariants.cases import complete, in_cases, reads_of_storage
from kleene.analyses.invariants.checks import CheckKind
from kleene.analyses.invariants.command_line import MOST_ARGUMENTS, is_called
from kleene.analyses.invariants.expressions import (
    ZERO,
    Always,
    Both,
    Condition,
    Form,
    Key,
    Relation,
    negation,
    only,
)
from kleene.analyses.invariants.flat import Base, Block, Edge, Escape, FlatFunction, Source
from kleene.analyses.invariants.instructions import ACCESSES, InstructionLowering
from kleene.analyses.invariants.kinds import Readings
from kleene.analyses.invariants.library import gives_memory_to_streams, is_noreturn
from kleene.analyses.invariants.memory import resolve
from kleene.analyses.invariants.objects import Address
from kleene.analyses.invariants.operations import AnyValue, Guard, Operation
from kleene.analyses.invariants.outside import Outside
from kleene.analyses.invariants.rooms import follow_rooms
from kleene.analyses.invariants.storage import MayFree, track
from kleene.analyses.invariants.strings import follow_lengths
from kleene.analyses.invariants.undefined import UndefinedValues
from kleene.analyses.invariants.values import Context, Expression
from kleene.ir import Program
from kleene.ir.codes import (
    CALLS,
    REPLACEABLE,
    ArgumentFlag,
    ConstantKind,
    Flag,
    Opcode,
    Passing,
    TypeFlag,
    TypeKind,
    ValueKind,
)

_MOST_BLOCKS = 400  # of a function with its callees; further calls are not inlined
_DEEPEST = 12


def lower(
    program: Program,
    function: int,
    *,
    wraps: bool = False,
    follows_calls: bool = True,
    outside: Outside | None = None,
) -> FlatFunction:
    """Return a function with its callees inlined.

    Args:
        program: where it is from.
        function: its row.
        wraps: whether signed overflow wraps around, as with `-fwrapv`; else it is checked, and
            assumed not to happen afterwards.
        follows_calls: whether callees are inlined; else calls return any value.
        outside: what is known of values from outside.
    """
    return _FunctionLowering(program, function, wraps, follows_calls, outside).flat


class _FunctionLowering:
    """Lays a function and its callees into one graph of blocks."""

    def __init__(
        self,
        program: Program,
        function: int,
        wraps: bool,
        follows_calls: bool,
        outside: Outside | None,
    ) -> None:
        name = program.functions[function].name
        self._knows_callers = outside is not None
        outside = outside or Outside()
        self._follows_calls = follows_calls
        readings = Readings(program, reachable(program, function, deep=follows_calls))
        self._builder = FlatFunctionBuilder(program, name, readings, outside, wraps=wraps)
        self._program, self._table = program, program.instructions
        self._values, self.flat = self._builder.values, self._builder.flat
        is_copied = program.passed.passing == Passing.BYVAL
        self._copied = set(program.passed.operand[is_copied].tolist())
        self._undefined = UndefinedValues(self._builder)
        self._instructions = InstructionLowering(self._builder, self._undefined)
        self._has_memory_streams = gives_memory_to_streams(program)
        self._lay(function, None, (), -1, None)
        self._enter_root(function)
        is_main = name == "main" and not is_called(program, function)
        follow_rooms(self.flat, outside.least_room)
        follow_lengths(program, self.flat, is_main=is_main)
        reads = reads_of_storage(self.flat)
        track(program, self.flat)
        resolve(program, self.flat, readings, is_main=is_main)
        complete(self.flat, reads)

    def _enter_root(self, function: int) -> None:
        """Let the arguments of the root have any value."""
        first, end = self._program.function_table.argument_offsets[function : function + 2].tolist()
        operations: list[Operation] = []
        for row in range(first, end):
            value = self._program.value(ValueKind.ARGUMENT, row)
            if self._values.is_number(value) or self._values.is_pointer(value):
                operations.append(AnyValue(self._values.base(0, value)))
            if self._is_promised(row):
                operations.append(Guard(Relation(only(self._values.base(0, value)), "ne")))
            address = self._values.of(0, value)
            if isinstance(address, Address) and address.object is not None:
                size = self.flat.objects[address.object].size
                assert size is not None
                ((argc, _),) = size.terms  # of argv
                operations.append(Guard(Relation(Form(((argc, -1),)), "le")))
                most = Form(((argc, 1),), -MOST_ARGUMENTS)  # also where it is read as unsigned
                operations.append(Guard(Relation(most, "le")))
        entry = self.flat.blocks[0]
        entry.operations[:0] = operations
        entry.origins[:0] = [(0, -1)] * len(operations)

    def _is_promised(self, argument: int) -> bool:
        """Return whether callers have to pass no null pointer: calls by name are checked."""
        flags = int(self._program.arguments.flags[argument])
        return bool(flags & ArgumentFlag.NONNULL) and not self._knows_callers

    def _check_promised(self, block: Block, context: int, row: int, callee: int) -> None:
        """Check that arguments are not null which the function called declares so."""
        program, operands = self._program, self._table.operands_of(row).tolist()
        if (
            callee >= len(program.globals)
            or (function := int(program.globals.function[callee])) < 0
        ):
            return
        first, end = program.function_table.argument_offsets[function : function + 2].tolist()
        for argument, value in zip(range(first, end), operands[1:], strict=False):
            if self._is_promised(argument) and self._values.is_pointer(value):
                present = self._values.address(context, value).is_present
                if present != Always(True):
                    message = "an argument that may not be null is not null"
                    self._builder.check(block, CheckKind.NULL, row, present, message)

    def _lay(
        self,
        function: int,
        arguments: list[Expression] | None,
        stack: tuple[int, ...],
        call: int,
        back: tuple[Block, int, Base | None] | None,
    ) -> None:
        """Inline a function; `back` says who called, where it goes on, what takes the result."""
        context = len(self._values.contexts)
        self._values.contexts.append(Context(function, arguments, (*stack, function)))
        self.flat.contexts.append((function, call, -1 if back is None else back[0].context))
        first = int(self._program.function_table.block_offsets[function])
        places = {}
        for row in self._reached(first):
            places[row] = len(self.flat.blocks)
            begin = int(self._program.blocks.instruction_offsets[row])
            self.flat.blocks.append(Block(context, row, begin))
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
            self._builder.origin = (context, place)
            operands = self._table.operands_of(place).tolist()
            if opcode == Opcode.PHI:
                self._instructions.restrict(block, context, place)
                continue
            self._undefined.check(block, context, place, operands)
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
            elif opcode in ACCESSES:
                pointers = [operands[1 if opcode == Opcode.STORE else 0]]
                lowered = partial(self._instructions.lower, context, place, opcode, operands)
                block = in_cases(
                    self._builder, block, pointers, lowered,
                    is_table=self._is_of_pointer(place, opcode, operands),
                )  # fmt: skip
            else:
                self._instructions.lower(context, place, opcode, operands, block)

    def _is_of_pointer(self, row: int, opcode: int, operands: list[int]) -> bool:
        """Return whether an instruction reads or writes a pointer that may be read again."""
        typed = operands[0] if opcode == Opcode.STORE else self._builder.first_instruction + row
        is_plain = opcode in (Opcode.LOAD, Opcode.STORE)
        return is_plain and self._values.is_pointer(typed) and self._values.choices.held.are_read

    def _throw(
        self, block: Block, context: int, row: int, operands: list[int], places: dict[int, int]
    ) -> None:
        """Add the ways out of a call that are not its normal one.

        A callee may throw anywhere, and may have written to anything before.
        """
        thrown = Block(context, row, int(self._program.blocks.instruction_offsets[row + 1]))
        block.edges.append(Edge(len(self.flat.blocks)))
        self.flat.blocks.append(thrown)
        self._builder.emit(thrown, Escape(everything=True))
        for one in self._blocks_in(operands)[1:]:
            thrown.edges.append(Edge(places[one], None, self._phis(context, row, one)))

    def _blocks_in(self, operands: list[int]) -> list[int]:
        found = (
            one - self._builder.first_block
            for one in operands
            if one < self._builder.first_instruction
        )
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
                if self._is_passed_on(back[2].value, operands[0]):
                    edge.assignments += self._chosen(back[2], (context, operands[0]))
                else:
                    edge.assignments.append((back[2], None))
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
        form = self._values.number(context, operands[0], kind)
        rest: Condition | None = None
        for case, target in zip(operands[2::2], operands[3::2], strict=True):
            number = self._values.constant(case)
            if form is None or number is None or kind.width == 1:
                yield target - self._builder.first_block, None
                continue
            equal = Relation(form.shifted(-kind.wrap(number)), "eq")
            rest = negation(equal) if rest is None else Both(rest, negation(equal))
            yield target - self._builder.first_block, equal
        yield operands[1] - self._builder.first_block, rest

    def _phis(self, context: int, source: int, target: int) -> list[tuple[Key, Source]]:
        found: list[tuple[Key, Source]] = []
        first, end = self._program.blocks.instruction_offsets[target : target + 2].tolist()
        for row in range(first, end):
            if self._table.opcode[row] != Opcode.PHI:
                break
            value = self._builder.first_instruction + row
            if not (self._values.is_number(value) or self._values.is_pointer(value)):
                continue
            operands = self._table.operands_of(row).tolist()
            for one, block in zip(operands[::2], operands[1::2], strict=True):
                if block == source + self._builder.first_block:
                    if row in self._undefined.phis(context):
                        flag = self._undefined.given(context, row, one)
                        found.append((self._undefined.flag(context, value), flag))
                    found += self._chosen((context, value), (context, one))
                    break
        return found

    def _chosen(
        self, chosen: tuple[int, int], given: tuple[int, int]
    ) -> Iterator[tuple[Key, Source]]:
        """Yield what a phi is where it is another value: of a pointer, where that points."""
        choices = self._values.choices
        choice, key = choices.chosen(*chosen), self._values.base(*chosen)
        if choice is None:
            yield key, self._builder.source(*given, self._values.kind(chosen[1]))
            return
        address = self._values.address(*given)
        yield choice.offset, choices.offset(choice, address)
        if choice.which is not None:
            yield choice.which, choices.which(choice, address)
        if self._values.address(*chosen).is_present == Relation(only(key), "ne"):
            yield key, address.is_present

    # Calls

    def _call(self, block: Block, context: int, row: int, operands: list[int]) -> Block | None:
        """Add a call; return the block where the caller goes on, or None if it does not."""
        value = self._builder.first_instruction + row
        arguments = [
            one
            for one in operands[1:]
            if not self._builder.first_block <= one < self._builder.first_instruction
        ]
        if self._program.begins_storage[row]:
            self._instructions.begin_storage(block, context, arguments[0])
            return block
        if self._program.ends_storage[row]:
            self._instructions.end_storage(block, context, arguments[0])
            return block
        self._check_callee(block, context, row, operands[0])
        model = model_of_call(self._program, operands[0], arguments)
        if self._table.flags[row] & Flag.RETURNS_TWICE:
            self.flat.refused = "it calls a function that may return twice (setjmp)"
        if self._values.is_pointer(value) and model.returns is None and model.heap is None:
            for one in arguments:  # the result may point to what an argument points to
                self._builder.expose(context, one)
        pointers = [one for one in arguments if self._values.is_pointer(one)]
        if not (model.is_unknown and not model.touches):
            block = in_cases(
                self._builder, block, pointers,
                lambda case: lower_call(self._builder, case, context, row, model, arguments),
            )  # fmt: skip
        if self._has_memory_streams:
            self._builder.emit(block, Escape())
        if not model.is_unknown:
            return block if model.effect not in ("fails", "stops") else None
        self._check_promised(block, context, row, operands[0])
        if is_noreturn(int(self._table.flags[row])):
            return None
        function = self._callee(operands[0], len(arguments), context)
        if function is not None:
            return self._lay_call(block, context, row, function, arguments)
        at = int(self._table.offsets[row]) + 1
        for place, one in enumerate(arguments, at):
            if place not in self._copied:  # a struct that is passed by value
                self._builder.expose(context, one)
        self._builder.emit(block, Escape())
        if operands[0] >= len(self._program.globals) or self._has_body(operands[0]):
            self._builder.emit(block, MayFree(None))
        self._builder.emit_any(block, context, value)
        if (choice := self._values.choices.chosen(context, value)) is not None:
            for key in (choice.offset, choice.which) if choice.which else (choice.offset,):
                self._builder.emit(block, AnyValue(key))
        return block

    def _check_callee(self, block: Block, context: int, row: int, callee: int) -> None:
        """Check that a pointer that is called through is not null; inline assembly is none."""
        kind, place = self._program.locate(callee)
        if kind == ValueKind.GLOBAL:
            return
        kinds = self._program.constants.kind
        if kind == ValueKind.CONSTANT and kinds[place] != ConstantKind.NULL:
            return
        present = self._values.address(context, callee).is_present
        if present == Always(False):  # which is how reports of errors are checked
            present = Relation(ZERO, "ne")
        message = "the pointer to a function is not null"
        self._builder.check(block, CheckKind.NULL, row, present, message)

    def _has_body(self, callee: int) -> bool:
        row = int(self._program.globals.function[callee])
        if row < 0:
            return False
        first, end = self._program.function_table.block_offsets[row : row + 2].tolist()
        return bool(first < end)

    def _callee(self, callee: int, n_arguments: int, context: int) -> int | None:
        """Return the function to inline for a call, if it is one."""
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
        name = program.functions[row].source_name or program.functions[row].name
        if blocks[0] == blocks[1] or not self._follows_calls:
            return None
        passing = program.arguments.passing[formals[0] : formals[1]].tolist()
        is_copied = any(one not in (Passing.DIRECT, Passing.SRET) for one in passing)
        is_other = program.globals.linkage[callee] in REPLACEABLE
        if is_other or is_variadic or is_copied or formals[1] - formals[0] != n_arguments:
            self.flat.not_followed[row] = None
            return None
        if row in stack:
            self.flat.notes[
                f"{name} is recursive: its inner calls are taken to return any value"
            ] = None
            self.flat.not_followed[row] = None
            return None
        if len(stack) > _DEEPEST or len(self.flat.blocks) + blocks[1] - blocks[0] > _MOST_BLOCKS:
            self.flat.notes[
                f"a call of {name} is not inlined, because the caller would have too many blocks"
            ] = None
            self.flat.not_followed[row] = None
            return None
        return row

    def _is_passed_on(self, value: int, given: int) -> bool:
        """Return whether a parameter, or a result, is what is given for it.

        It is not where a function is called as one of another type, or is called by another name,
        so that nobody has seen to it that numbers are read alike on both sides.
        """
        values = self._values
        if not values.is_copy(value, given):
            return False
        is_free = values.constant(given) is not None or values.is_pointer(value)
        return is_free or values.kind(value) == values.kind(given)

    def _lay_call(
        self, block: Block, context: int, row: int, function: int, arguments: list[int]
    ) -> Block:
        value = self._builder.first_instruction + row
        first = int(self._program.function_table.argument_offsets[function])
        expressions: list[Expression] = []
        for place, one in enumerate(arguments):
            formal = self._program.value(ValueKind.ARGUMENT, first + place)
            number = self._values.constant(one)
            if not self._is_passed_on(formal, one):
                expressions.append(None)
            elif self._values.width(formal) > 1 and number is not None:
                expressions.append(Form((), self._values.kind(formal).wrap(number)))
            else:
                expressions.append(self._values.of(context, one))
        after = Block(block.context, block.row, row + 1)
        place = len(self.flat.blocks)
        self.flat.blocks.append(after)
        has_result = self._values.is_number(value) or self._values.is_pointer(value)
        key = self._values.base(context, value) if has_result else None
        stack = self._values.contexts[context].stack
        self._lay(function, expressions, stack, row, (block, place, key))
        self._builder.origin = (context, row)
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
