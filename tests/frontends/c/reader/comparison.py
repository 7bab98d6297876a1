"""A program beside LLVM's own objects of the same module: every value must be the same one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from ctypes import c_void_p, cast
from typing import Any

import numpy as np
from llvmlite.binding.value import ValueKind as LlvmKind

from kleene.ir import Program
from kleene.ir.codes import (
    ORDERING_SHIFT,
    AtomicOperation,
    Binding,
    ConstantKind,
    Flag,
    GlobalFlag,
    GlobalKind,
    Linkage,
    Opcode,
    Ordering,
    Predicate,
    ValueKind,
)
from tests.frontends.c.reader.llvm_text import LlvmText, escaped, normal
from tests.frontends.c.reader.printed import Body, Printed, parts

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
_GLOBAL_WORDS = {
    "hidden": GlobalFlag.HIDDEN,
    "dso_local": GlobalFlag.DSO_LOCAL,
    r"thread_local": GlobalFlag.THREAD_LOCAL,
    "unnamed_addr": GlobalFlag.UNNAMED_ADDRESS,
    "externally_initialized": GlobalFlag.EXTERNALLY_INITIALIZED,
}
_FUNCTION_WORDS = {
    "noreturn": GlobalFlag.NORETURN,
    "nounwind": GlobalFlag.NOUNWIND,
    "returns_twice": GlobalFlag.RETURNS_TWICE,
    "allockind": GlobalFlag.ALLOCATOR,
    "allocsize": GlobalFlag.ALLOCATOR,
}
_ORDERINGS = re.compile(r" (unordered|monotonic|acquire|release|acq_rel|seq_cst)\b")
_ATOMIC = (Opcode.LOAD, Opcode.STORE, Opcode.FENCE, Opcode.CMPXCHG, Opcode.ATOMICRMW)
_ALIGNED = (Opcode.ALLOCA, Opcode.LOAD, Opcode.STORE, Opcode.CMPXCHG, Opcode.ATOMICRMW)


class Comparison:
    """One module on both sides; `check` raises at the first difference."""

    def __init__(self, program: Program, module: Any, *, words: bool) -> None:
        """Take both; with `words`, flags too are compared, from each instruction's own text."""
        self.program, self.module, self.words = program, module, words
        self.text = LlvmText(program)
        self.printed = Printed(str(module))
        self.value_of: dict[int, int] = {}  # LLVM's address -> our value
        self.texts: dict[int, str] = {}  # of constants, by LLVM's address
        self.n_compared = self.n_places = self.n_bindings = 0

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
        for row, body in zip(rows, self.printed.functions, strict=True):
            self._function_words(row, body)
            if body.instructions:
                self._places(row, body)
                self._bindings(row, body)

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
        lines = self.printed.globals
        rows = [r for r in range(len(table)) if table.kind[r] != GlobalKind.FUNCTION]
        for row, line in zip(rows, lines, strict=True):
            written = self.text.bare(row)
            assert re.sub(r'@"?\d+"?$', "@", written) == re.sub(
                r"@\d+$", "@", line.partition(" = ")[0]
            )
            self._global_words(row, line.partition(" = ")[2])
            if table.initializer[row] >= 0:
                inner = self.text.bare(int(table.initializer[row]))
                wanted = normal(line)
                assert _numberless(inner) in _numberless(wanted), f"{inner}\n{wanted}"

    def _global_words(self, row: int, line: str) -> None:
        """Compare linkage, visibility and the like with the words before a global's type."""
        table = self.program.globals
        head = re.sub(r'"[^"]*"', '""', line)
        words = re.split(r" (?:global|constant|alias|ifunc) ", f" {head}", maxsplit=1)[0]
        flags = _flags_of(words.replace("local_unnamed_addr", ""))
        flags |= GlobalFlag.CONSTANT if re.match(r"(.* )?constant ", head) else 0
        is_variable = table.kind[row] == GlobalKind.VARIABLE
        if is_variable and table.initializer[row] < 0:
            flags |= GlobalFlag.DECLARATION
        assert GlobalFlag(int(table.flags[row])) & ~GlobalFlag.ADDRESS_TAKEN == flags, line
        assert Linkage(table.linkage[row]) == _linkage_of(words), line
        space = re.search(r"addrspace\((\d+)\)", words)
        assert int(table.space[row]) == (int(space[1]) if space else 0) or not is_variable, line
        if is_variable:
            align = re.search(r", align (\d+)", head)
            assert int(table.align[row]) == (int(align[1]).bit_length() if align else 0), line

    # ---- functions

    def _function_words(self, row: int, body: Body) -> None:
        """Compare linkage and attributes with a function's first line and attribute group."""
        value, table = int(self.program.function_table.value[row]), self.program.globals
        head = re.sub(r'"[^"]*"', '""', body.head)
        before, _, after = head.partition("@")
        groups = [self.printed.groups.get(number, "") for number in re.findall(r"#(\d+)", after)]
        words = re.sub(r'"[^"]*"', '""', " ".join(groups))
        flags = _flags_of(before) | (_flags_of(after) & GlobalFlag.UNNAMED_ADDRESS)
        flags |= GlobalFlag.DECLARATION if head.startswith("declare ") else 0
        for word, flag in _FUNCTION_WORDS.items():
            flags |= flag if re.search(rf"\b{word}\b", words) else 0
        if '"kleene-type-tests"' in " ".join(groups):
            flags |= GlobalFlag.TYPE_TESTS
        effects = re.search(r"\bmemory\(([^)]*)\)", words)
        if effects and "write" not in effects[1]:
            flags |= GlobalFlag.READ_ONLY if "read" in effects[1] else GlobalFlag.READ_NONE
        found = GlobalFlag(int(table.flags[value]))
        assert found & ~GlobalFlag.ADDRESS_TAKEN == flags, body.head
        assert Linkage(table.linkage[value]) == _linkage_of(f" {before}"), body.head

    def _places(self, row: int, body: Body) -> None:
        """Compare line, column, function and file of every instruction, and where it is inlined."""
        program = self.program
        blocks = program.function_table.block_offsets[row : row + 2]
        first, end = program.blocks.instruction_offsets[blocks].tolist()
        for instruction, text in zip(range(first, end), body.instructions, strict=True):
            found = re.findall(r"!dbg !(\d+)", text)
            span = int(program.instructions.span[instruction])
            node = int(found[-1]) if found else None
            while node is not None and span >= 0:
                self._same_place(span, node)
                span, node = (
                    int(program.spans.inlined_at[span]),
                    self.printed.reference(node, "inlinedAt"),
                )
            assert (node is None) == (span < 0), text
            self.n_places += bool(found)

    def _same_place(self, span: int, node: int) -> None:
        spans, strings, printed = self.program.spans, self.program.strings, self.printed
        for column, key in ((spans.line, "line"), (spans.column, "column")):
            assert int(column[span]) == int(printed.value(node, key) or 0)
        scope = printed.reference(node, "scope")
        assert scope is not None
        function = printed.subprogram(scope)
        assert strings[int(spans.scope[span])] == (printed.value(function, "name") or "")
        file = printed.reference(scope, "file")
        name = printed.value(file, "filename") if file is not None else ""
        assert os.path.basename(strings[int(spans.file[span])]) == os.path.basename(name or "")

    def _bindings(self, row: int, body: Body) -> None:
        """Compare which variables are bound before which instruction, and to named values."""
        program, table = self.program, self.program.bindings
        blocks = program.function_table.block_offsets[row : row + 2]
        first = int(program.blocks.instruction_offsets[blocks[0]])
        end = int(program.blocks.instruction_offsets[blocks[1]])
        inside = np.flatnonzero((table.before >= first) & (table.before < end))
        ours = [
            (
                int(table.before[binding]) - first,
                Binding(table.kind[binding]).name.lower(),
                program.strings[int(program.variables.name[table.variable[binding]])],
                bool(table.exact[binding]),
            )
            for binding in inside
        ]
        theirs = []
        for before, kind, operands in body.records:
            value, variable, expression, *rest = parts(operands)
            if value.startswith("!") or (kind == "assign" and rest[1].startswith("!")):
                continue  # of several values, or of none
            name = self.printed.value(int(variable[1:]), "name")
            theirs.append((before, kind, name, expression == "!DIExpression()"))
        assert ours == theirs
        self.n_bindings += len(ours)

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


def _flags_of(words: str) -> GlobalFlag:
    flags = GlobalFlag(0)
    for word, flag in _GLOBAL_WORDS.items():
        flags |= flag if re.search(rf"(?<![\w.]){word}(?![\w.])", words) else GlobalFlag(0)
    return flags


def _linkage_of(words: str) -> Linkage:
    named = [one for one in Linkage if re.search(rf" {one.name.lower()} ", f" {words} ")]
    return named[-1] if named else Linkage.EXTERNAL


def _address(value: Any) -> int:
    return cast(value._ptr, c_void_p).value or 0


def _same_name(ours: str, theirs: str) -> bool:
    return ours == theirs or (theirs == "" and ours.isdigit())


def _numberless(text: str) -> str:
    """Return a text without what depends on the numbering of nameless types, globals, blocks."""
    text = re.sub(r'%"type 0x[0-9a-f]+"|%\d+\b|%"?\?"?', "%?", text)
    return re.sub(r'@"\d+"|@\d+\b', "@?", text)
