"""A program beside LLVM's own objects of the same module: every value must be the same one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import c_void_p, cast
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.value import ValueKind as LlvmKind

from kleene.ir import Program
from kleene.ir.codes import (
    ORDERING_SHIFT,
    AtomicOperation,
    ConstantKind,
    Flag,
    GlobalKind,
    Opcode,
    Ordering,
    Predicate,
    ValueKind,
)
from tests.frontends.c.reader.llvm_text import LlvmText, escaped, normal

_NAMES = {GlobalKind.ALIAS: LlvmKind.global_alias, GlobalKind.IFUNC: LlvmKind.global_ifunc}
_FLAGS = {
    flag.name.lower(): flag
    for flag in Flag
    if flag.name and flag not in (Flag.CLEANUP, Flag.UNWINDS, Flag.SCOPED, Flag.WIDE)
}
_FAST = Flag.NNAN | Flag.NINF | Flag.NSZ | Flag.ARCP | Flag.CONTRACT | Flag.AFN | Flag.REASSOC
_FLAGS["fast"] = _FAST
_SEEN_IN_WORDS = Flag(0)
for _flag in _FLAGS.values():
    _SEEN_IN_WORDS |= _flag
_SEEN_IN_WORDS &= ~(Flag.NORETURN | Flag.RETURNS_TWICE)
_ORDERINGS = re.compile(r" (unordered|monotonic|acquire|release|acq_rel|seq_cst)\b")
_ATOMIC = (Opcode.LOAD, Opcode.STORE, Opcode.FENCE, Opcode.CMPXCHG, Opcode.ATOMICRMW)
_ALIGNED = (Opcode.ALLOCA, Opcode.LOAD, Opcode.STORE, Opcode.CMPXCHG, Opcode.ATOMICRMW)


class Comparison:
    """One module on both sides; `check` raises at the first difference."""

    def __init__(self, program: Program, module: Any, *, words: bool) -> None:
        """Take both; with `words`, flags too are compared, from each instruction's own text."""
        self.program, self.module, self.words = program, module, words
        self.text = LlvmText(program)
        self.value_of: dict[int, int] = {}  # LLVM's address -> our value
        self.texts: dict[int, str] = {}  # of constants, by LLVM's address
        self.n_compared = 0

    def check(self, n_functions: int | None = None) -> None:
        """Compare globals, and the bodies of the first functions (None: of all)."""
        self._globals()
        functions = list(self.module.functions)
        rows = range(len(self.program.function_table))
        assert len(functions) == len(rows)
        for row, function in zip(rows, functions, strict=True):
            self._signature(row, function)
        defined = [(r, f) for r, f in zip(rows, functions, strict=True) if not f.is_declaration]
        for row, function in defined[:n_functions]:
            self._body(row, function)

    # ---- globals

    def _globals(self) -> None:
        program, kinds = self.program, self.program.globals.kind
        variables = [row for row in range(len(kinds)) if kinds[row] == GlobalKind.VARIABLE]
        for row, variable in zip(variables, self.module.global_variables, strict=True):
            name = program.strings.raw(int(program.globals.name[row])).decode("utf-8", "replace")
            assert _same_name(name, variable.name)
            self.value_of[_address(variable)] = row
            assert self._type(int(program.globals.type[row]), variable.global_value_type)
        others = [row for row in range(len(kinds)) if kinds[row] in _NAMES]
        by_name = {program.strings[int(program.globals.name[row])]: row for row in others}
        self.others = by_name
        self._initializers()

    def _initializers(self) -> None:
        """Compare each initialiser with the line that LLVM prints for its global."""
        table = self.program.globals
        lines = [line for line in str(self.module).split("\n") if line.startswith("@")]
        rows = [r for r in range(len(table)) if table.kind[r] != GlobalKind.FUNCTION]
        for row, line in zip(rows, lines, strict=True):
            written = self.text.bare(row)
            assert re.sub(r'@"?\d+"?$', "@", written) == re.sub(
                r"@\d+$", "@", line.partition(" = ")[0]
            )
            if table.initializer[row] >= 0:
                inner = self.text.bare(int(table.initializer[row]))
                wanted = normal(line)
                assert _numberless(inner) in _numberless(wanted), f"{inner}\n{wanted}"

    # ---- functions

    def _signature(self, row: int, function: Any) -> None:
        program, table = self.program, self.program.function_table
        value = int(table.value[row])
        assert _same_name(program.strings[int(program.globals.name[value])], function.name)
        self.value_of[_address(function)] = value
        assert self._type(int(program.globals.type[value]), function.global_value_type)
        first, end = table.argument_offsets[row : row + 2].tolist()
        for argument, theirs in zip(range(first, end), function.arguments, strict=True):
            assert _same_name(program.strings[int(program.arguments.name[argument])], theirs.name)
            assert self._type(int(program.arguments.type[argument]), theirs.type)
            self.value_of[_address(theirs)] = program.value(ValueKind.ARGUMENT, argument)

    def _body(self, row: int, function: Any) -> None:
        program = self.program
        first, end = program.function_table.block_offsets[row : row + 2].tolist()
        pairs = []
        for block, theirs in zip(range(first, end), function.blocks, strict=True):
            assert _same_name(program.strings[int(program.blocks.name[block])], theirs.name)
            self.value_of[_address(theirs)] = program.value(ValueKind.BLOCK, block)
            low, high = program.blocks.instruction_offsets[block : block + 2].tolist()
            pairs += list(zip(range(low, high), theirs.instructions, strict=True))
        for instruction, theirs in pairs:
            self.value_of[_address(theirs)] = program.value(ValueKind.INSTRUCTION, instruction)
        for instruction, theirs in pairs:
            self._instruction(instruction, theirs)

    def _instruction(self, row: int, theirs: Any) -> None:
        table = self.program.instructions
        opcode = Opcode(table.opcode[row])
        assert opcode.name.lower() == theirs.opcode
        assert _same_name(self.program.strings[int(table.name[row])], theirs.name)
        assert self._type(int(table.type[row]), theirs.type)
        operands = table.operands_of(row).tolist()
        expected = list(self._in_their_order(row, opcode, operands))
        found = list(theirs.operands)
        if opcode == Opcode.PHI:
            found = [v for pair in zip(found, theirs.incoming_blocks, strict=True) for v in pair]
        assert len(expected) == len(found), str(theirs)
        for ours, operand in zip(expected, found, strict=True):
            assert self._same(ours, operand), f"{self.program.value_view(ours)}\n{theirs}"
        if self.words:
            self._compare_words(row, opcode, str(theirs).strip())
        self.n_compared += 1

    def _in_their_order(self, row: int, opcode: Opcode, ours: list[int]) -> Iterator[int]:
        """Yield our operands in LLVM's order, without those that are none there."""
        bundles = self.program.bundles
        match opcode:
            case Opcode.CALL | Opcode.INVOKE | Opcode.CALLBR:
                low, high = self.program.bases[ValueKind.BLOCK : ValueKind.BLOCK + 2]
                n_blocks = sum(low <= value < high for value in ours)
                end = len(ours) - n_blocks
                yield from ours[1:end]
                for bundle in (b for b, i in enumerate(bundles.instruction.tolist()) if i == row):
                    first, last = bundles.offsets[bundle : bundle + 2]
                    yield from bundles.operands[first:last].tolist()
                yield from ours[end:]
                yield ours[0]
            case Opcode.BR if len(ours) == 3:
                yield from (ours[0], ours[2], ours[1])
            case Opcode.SWITCH:
                yield from (ours[0], *ours[1::2])
            case Opcode.EXTRACTVALUE:
                yield ours[0]
            case Opcode.INSERTVALUE | Opcode.SHUFFLEVECTOR:
                yield from ours[:2]
            case Opcode.CATCHSWITCH if self.program.instructions.flags[row] & Flag.UNWINDS:
                yield from (ours[0], ours[-1], *ours[1:-1])
            case Opcode.CATCHPAD | Opcode.CLEANUPPAD:
                yield from (*ours[1:], ours[0])
            case _:
                yield from ours

    # ---- single things

    def _same(self, ours: int, theirs: Any) -> bool:
        """Return whether both are the same value."""
        address = _address(theirs)
        if address in self.value_of:
            return self.value_of[address] == ours
        if theirs.value_kind in _NAMES.values():
            return self.others[theirs.name] == ours
        kind, row = self.program.locate(ours)
        assert kind == ValueKind.CONSTANT, str(theirs)
        if theirs.value_kind == LlvmKind.metadata_as_value:
            return self.program.constants.kind[row] == ConstantKind.METADATA
        if theirs.value_kind == LlvmKind.inline_asm:
            return self._same_assembly(row, str(theirs))
        if address not in self.texts:
            self.texts[address] = normal(str(theirs))
        return _numberless(self.text.value(ours)) == _numberless(self.texts[address])

    def _same_assembly(self, row: int, theirs: str) -> bool:
        constants, strings = self.program.constants, self.program.strings
        code, constraints = int(constants.payload[row]), int(constants.about[row])
        words = {"sideeffect"} if constants.flags[row] & Flag.SIDE_EFFECT else set()
        head, _, tail = theirs.partition(' "')
        parts = [escaped(strings.raw(symbol)) for symbol in (code, constraints)]
        written = f'{parts[0]}", "{parts[1]}"'
        return tail == written and words == {"sideeffect"} & set(head.split())

    def _type(self, ours: int, theirs: Any) -> bool:
        """Return whether both are the same type, by their text; a named struct by its name."""
        return _numberless(self.text.type(ours)) == _numberless(str(theirs).partition(" = type")[0])

    def _compare_words(self, row: int, opcode: Opcode, text: str) -> None:
        table = self.program.instructions
        words = re.sub(r'"[^"]*"', '""', text).partition(" = ")[2] or text
        flags, rest = Flag(0), words.split()
        while rest and (rest[0] in _FLAGS or rest[0] == opcode.name.lower()):
            flags |= _FLAGS.get(rest.pop(0), Flag(0))
        assert Flag(int(table.flags[row])) & _SEEN_IN_WORDS == flags, text
        sub = int(table.sub[row])
        if opcode in (Opcode.ICMP, Opcode.FCMP):
            assert Predicate(sub).name.lower() == rest[0]
        if opcode == Opcode.ATOMICRMW:
            assert AtomicOperation(sub).name.lower() == rest[0]
        if opcode in _ATOMIC:
            stated = _ORDERINGS.findall(words) or ["none"]
            ordering = Ordering((int(table.flags[row]) >> ORDERING_SHIFT) & 7)
            assert ordering.name.lower() == stated[0]
            assert opcode != Opcode.CMPXCHG or Ordering(sub).name.lower() == stated[1]
            assert bool(table.flags[row] & Flag.SCOPED) == ("syncscope" in words)
        if opcode in _ALIGNED:
            align = re.search(r", align (\d+)", words)
            assert int(table.align[row]) == (int(align[1]).bit_length() if align else 0)
        self._compare_rest(row, opcode, text)

    def _compare_rest(self, row: int, opcode: Opcode, text: str) -> None:
        """Compare what LLVM's objects do not tell: source types, cases, indices, masks."""
        table = self.program.instructions
        operands = table.operands_of(row).tolist()
        about = int(table.about[row])
        if opcode in (Opcode.GETELEMENTPTR, Opcode.ALLOCA):
            assert f" {self.text.type(about)}" in text
        if opcode in (Opcode.EXTRACTVALUE, Opcode.INSERTVALUE):
            indices = operands[1 if opcode == Opcode.EXTRACTVALUE else 2 :]
            stated = re.search(r"((?:, \d+)+)(?:, !|$)", text)
            assert stated
            assert stated[1] == "".join(f", {self.text.bare(index)}" for index in indices)
        if opcode == Opcode.SWITCH:
            cases = [self.text.value(case) for case in operands[2::2]]
            assert re.findall(r"^ +(i\d+ \S+), label", text, re.MULTILINE) == cases
        if opcode == Opcode.SHUFFLEVECTOR:
            assert f", {self.text.value(operands[2])}" in text


def _address(value: Any) -> int:
    return cast(value._ptr, c_void_p).value or 0


def _same_name(ours: str, theirs: str) -> bool:
    return ours == theirs or (theirs == "" and ours.isdigit())


def _numberless(text: str) -> str:
    """Return a text without what depends on the numbering of nameless types, globals, blocks."""
    text = re.sub(r'%"type 0x[0-9a-f]+"|%\d+\b|%"?\?"?', "%?", text)
    return re.sub(r'@"\d+"|@\d+\b', "@?", text)


def parsed(text: str) -> Any:
    """Return LLVM's module of a text."""
    return llvm.parse_assembly(text, llvm.create_context())
