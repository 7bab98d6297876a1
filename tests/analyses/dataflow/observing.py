"""Programs that show what their values were: a call behind each definition of a name.

Each name of a split program has a slot, and so has each block. A slot keeps the least and the
greatest number that the name has been, signed and unsigned, and the bits that were always 1 or
ever. A fact that does not hold of all of these is wrong.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kleene.analyses.dataflow.constraints import partly_defined
from kleene.analyses.dataflow.context import Context
from kleene.ir.codes import CALLS, ConstantKind, Opcode, TypeKind, ValueKind
from kleene.transforms.splitting import NameKind

_LABEL = re.compile(r'(?:[-\w.$]+|"[^"]*"):')
_RESULT = re.compile(r'  (%(?:[-\w.$]+|"[^"]*")) = ')
_DEBUG = re.compile(r",? !dbg !\d+")
_UNDEFINED = re.compile(r"\[ (?:undef|poison), %")
ROW = np.dtype(
    [("n_seen", "<i8"), ("low", "<i8"), ("high", "<i8"),
     ("least", "<u8"), ("most", "<u8"), ("all", "<u8"), ("any", "<u8")]
)  # fmt: skip
_AFTER_TERMINATOR = (Opcode.INVOKE, Opcode.CALLBR)


class Observed:
    """Where the names of a program are observed: after which instruction, or at which entry."""

    def __init__(self, context: Context) -> None:
        self.context, self.program = context, context.program
        program, split = self.program, context.split
        self.width = np.concatenate(
            [context.values.width[split.value_of(np.arange(split.n_names))],
             np.ones(len(program.blocks), np.int64)]
        )  # fmt: skip
        self.first_block_slot = split.n_names
        self.after: dict[int, list[int]] = {}  # instruction: names
        self.at_start: dict[int, list[int]] = {}  # block: names, behind its φs
        table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
        silent = self._undefined()
        for row in range(len(table)):
            if (
                self._is_observed(first + row, silent)
                and table.opcode[row] not in _AFTER_TERMINATOR
            ):
                self.after.setdefault(row, []).append(first + row)
        starts = program.function_table.block_offsets
        for function in range(len(program.function_table)):
            if starts[function] == starts[function + 1]:
                continue
            low, high = program.function_table.argument_offsets[function : function + 2].tolist()
            for argument in range(low, high):
                value = argument + program.bases[ValueKind.ARGUMENT]
                if self._is_observed(value, silent):
                    self.at_start.setdefault(int(starts[function]), []).append(value)
        self._new_names(silent)

    def _is_observed(self, value: int, silent: set[int]) -> bool:
        return 0 < self.width[value] <= 64 and value not in silent

    def _new_names(self, silent: set[int]) -> None:
        program, split, flow = self.program, self.context.split, self.context.split.flow
        n_incoming = np.diff(flow.incoming[0])
        n_blocks, table = len(program.blocks), program.instructions
        for new in range(split.n_new):
            name = program.n_values + new
            value = int(split.value_of(np.array([name]))[0])
            if not self._is_observed(name, silent) or value in silent:
                continue
            if value < program.bases[ValueKind.ARGUMENT]:
                continue
            kind = split.kind[new]
            if kind == NameKind.COPY:
                row = int(split.point[new])
                if row < len(table) and table.opcode[row] not in _AFTER_TERMINATOR:
                    self.after.setdefault(row, []).append(name)
                continue
            node = int(flow.node_of(split.point[new : new + 1])[0])
            if node >= n_blocks:  # σ: observed where its edge is the only one that leads there
                node = int(flow.blocks.targets[node - n_blocks])
                if n_incoming[node] != 1:
                    continue
            self.at_start.setdefault(node, []).append(name)

    def _undefined(self) -> set[int]:
        """Return what is computed from undefined values in registers: chance decides what it is.

        So are words that are loaded to set bits of them.
        """
        program, table = self.program, self.program.instructions
        constants, first = program.constants, program.bases[ValueKind.INSTRUCTION]
        undefined = np.isin(constants.kind, (ConstantKind.UNDEF, ConstantKind.POISON))
        waiting = (np.flatnonzero(undefined) + program.bases[ValueKind.CONSTANT]).tolist()
        offsets, users = program.users
        is_load = np.zeros(program.n_values, bool)
        is_load[first:] = table.opcode == Opcode.LOAD
        found = set(np.flatnonzero(partly_defined(program) & is_load).tolist())
        while waiting:
            value = waiting.pop()
            for row in users[offsets[value] : offsets[value + 1]].tolist():
                opcode = table.opcode[row]
                stops = opcode in CALLS or opcode in (Opcode.LOAD, Opcode.STORE)
                if not stops and first + row not in found:
                    found.add(first + row)
                    waiting.append(first + row)
        return found

    def instrumented(self, text: str) -> str:
        """Return the program's text with calls in it."""
        lines = iter(text.rstrip("\0\n").split("\n"))
        width = ", ".join(f"i8 {max(int(w), 1)}" for w in self.width)
        out = ["declare void @kleene_seen(i32, i64)",
               f"@kleene_seen_width = constant [{len(self.width)} x i8] [{width}]",
               f"@kleene_seen_n_slots = constant i64 {len(self.width)}"]  # fmt: skip
        functions = iter(np.flatnonzero(np.diff(self.program.function_table.block_offsets)))
        head: list[str] = []
        body: list[str] = []
        for line in lines:
            if line.startswith("define "):
                body += self._function(_plain([line]), lines, int(next(functions)))
            elif line.startswith(("source_filename", "target ", "; ModuleID")):
                head.append(line)
            else:
                body += _plain([line])
        return "\n".join([*head, *out, *body, ""])

    def _function(self, head: list[str], lines: Iterator[str], function: int) -> Iterator[str]:
        program = self.program
        block = int(program.function_table.block_offsets[function])
        first, arguments = (program.bases[k] for k in (ValueKind.INSTRUCTION, ValueKind.ARGUMENT))
        row = int(program.blocks.instruction_offsets[block])
        low, high = program.function_table.argument_offsets[function : function + 2].tolist()
        words = dict(
            zip(
                range(arguments + low, arguments + high),
                _arguments(head[0]),
                strict=True,
            )
        )  # fmt: skip
        yield head[0]
        body: list[str] = []
        for line in lines:
            body += _plain([line])
            if line == "}":
                break
        at = row
        for line in body:  # a block may stand before those that define what it reads
            if line.startswith("  ") and line[2] not in " ]":
                if found := _RESULT.match(line):
                    words[first + at] = found[1]
                at += 1
        waiting = [(self.first_block_slot + block, -1)]
        waiting += [(name, -1) for name in self.at_start.get(block, [])]
        is_first = True
        for line in body:
            if line == "}":
                yield line
                return
            if _LABEL.match(line):
                if not is_first:
                    block += 1
                    waiting = [(self.first_block_slot + block, -1)]
                    waiting += [(name, -1) for name in self.at_start.get(block, [])]
                yield line
                is_first = False
                continue
            if not (line.startswith("  ") and line[2] not in " ]"):
                yield line
                continue
            is_first = False
            found = _RESULT.match(line)
            opcode = line[found.end() if found else 2 :].partition(" ")[0]
            if opcode not in ("phi", "landingpad"):
                for slot, at in waiting:
                    yield from self._call(slot, at, row, words)
                waiting = []
            yield line
            if "musttail" not in line:
                waiting += [(name, row) for name in self.after.get(row, [])]
            row += 1

    def _call(self, slot: int, at: int, row: int, words: dict[int, str]) -> Iterator[str]:
        if slot >= self.first_block_slot:
            yield f"  call void @kleene_seen(i32 {slot}, i64 1)"
            return
        program = self.program
        value = int(self.context.split.value_of(np.array([slot]))[0])
        types, type_id = program.types, int(program.value_types[value])
        wide = f"%kleene.{slot}"
        if types.kind[type_id] == TypeKind.POINTER:
            yield f"  {wide} = ptrtoint ptr {words[value]} to i64"
        elif types.bits[type_id] == 64:
            wide = words[value]
        else:
            yield f"  {wide} = zext i{types.bits[type_id]} {words[value]} to i64"
        yield f"  call void @kleene_seen(i32 {slot}, i64 {wide})"

    def wrong(self, rows: np.ndarray) -> Iterator[str]:
        """Yield the facts that do not hold of what was seen, and the blocks that ran."""
        program, context = self.program, self.context
        for slot in np.flatnonzero(rows["n_seen"]).tolist():
            seen = rows[slot]
            if slot >= self.first_block_slot:
                block = slot - self.first_block_slot
                if not context.block_is_reached[block]:
                    row = int(program.blocks.instruction_offsets[block])
                    yield f"block {block} ran: {self._place(row)}"
                continue
            fact = context.fact(slot)
            holds = (
                fact.has_value and fact.low <= seen["low"] and seen["high"] <= fact.high
                and fact.least <= seen["least"] and seen["most"] <= fact.most
                and not int(seen["any"]) & fact.zeros and not fact.ones & ~int(seen["all"])
            )  # fmt: skip
            if not holds:
                value = int(context.split.value_of(np.array([slot]))[0])
                row = value - program.bases[ValueKind.INSTRUCTION]
                place = self._place(row) if row >= 0 else f"argument {value}"
                yield (
                    f"name {slot} of {value}: {fact} [{fact.low}..{fact.high}]"
                    f" but was {seen['low']}..{seen['high']} ({seen['n_seen']} times): {place}"
                )

    def _place(self, row: int) -> str:
        view = self.program.instruction_view(row)
        function = self.program.functions[int(self.program.instruction_function[row])].name
        return f"{function} {view.span}: {view}"


_STORE = re.compile(r"  store ((?:i\d+|ptr|float|double)) (?:[^,()]+|[^,]*\([^)]*\)), ptr ")
_FILL = re.compile(r"(call void @llvm\.memset\.[^(]*\([^,]*, i8) [^,]+,")


def spoiled(text: str, rows: set[int]) -> tuple[str, int]:
    """Return a program's text with other values at some stores and fills, and their number."""
    out, row, n_spoiled, is_inside = [], 0, 0, False
    for line in _plain(text.rstrip("\0\n").split("\n")):
        is_inside = line.startswith("define ") or (is_inside and line != "}")
        if is_inside and line.startswith("  ") and line[2] not in " ]":
            if row in rows:
                before = line
                line = _STORE.sub(lambda m: f"  store {m[1]} {_OTHER.get(m[1][0], 85)}, ptr ", line)
                line = _FILL.sub(r"\1 85,", line)
                n_spoiled += line != before
            row += 1
        out.append(line)
    return "\n".join([*out, ""]), n_spoiled


_OTHER = {"p": "inttoptr (i64 85 to ptr)", "f": "8.5", "d": "8.5"}


def _plain(lines: Iterator[str] | list[str]) -> Iterator[str] | list[str]:
    found = (
        _UNDEFINED.sub("[ zeroinitializer, %", _DEBUG.sub("", line) if "!dbg" in line else line)
        for line in lines
        if not line.startswith(("    #dbg_", "!llvm.dbg.cu"))
    )
    return list(found) if isinstance(lines, list) else found


def _arguments(line: str) -> list[str]:
    from kleene.runtime.pointer_trace.instrument import _head

    return _head(line)[1]


def build(text: str, program: Path, flags: Sequence[str] = (), *, cxx: bool = False) -> None:
    """Make an executable of an instrumented text."""
    runtime, source = program.parent / "seen.o", Path(__file__).with_name("seen.c")
    words = [sys.executable, "-m", "ziglang", "cc", "-O2", "-fno-sanitize=undefined", "-c"]
    subprocess.run([*words, str(source), "-o", str(runtime)], check=True)
    compiled(text, program, [str(runtime), *flags], cxx=cxx)


def compiled(text: str, program: Path, flags: Sequence[str] = (), *, cxx: bool = False) -> None:
    """Make an executable of a module's text."""
    module = program.with_suffix(".ll")
    module.write_text(text)
    compiler = [sys.executable, "-m", "ziglang", "c++" if cxx else "cc", "-w",
                "-fno-sanitize=undefined"]  # fmt: skip
    words = [*compiler, "-O0", str(module), *flags, "-o", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def result_of(program: Path, *words: str, limit_s: float = 120) -> tuple[int, bytes]:
    """Return the exit status and output of a run; a last word `<FILE` is its input."""
    given, arguments = b"", words
    if words and words[-1].startswith("<"):
        given, arguments = Path(words[-1][1:]).read_bytes(), words[:-1]
    command = [str(program.resolve()), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, timeout=limit_s, check=False)
    return done.returncode, done.stdout


def run(
    program: Path, file: Path, *arguments: str, given: bytes = b"", limit_s: float = 120
) -> tuple[int, np.ndarray]:
    """Return the exit status of a run, and what all runs so far with this file have shown."""
    done = subprocess.run(
        [str(program.resolve()), *arguments], input=given, capture_output=True,
        timeout=limit_s, env=os.environ | {"KLEENE_SEEN": str(file)}, check=False,
    )  # fmt: skip
    return done.returncode, np.fromfile(file, ROW)
