r"""What values are called, in views and in text.

- A value that has a name keeps it; where two of a function share one, the later are `x~2`, `x~3`.
  A name that starts with a dot was made up by a compiler: the variable of the source that the value
  is, if known, follows as in `.013~sum`.
- A local without a name is called by its number: arguments, blocks and results without a name are
  counted together, function by function, as LLVM's own text counts them. If a variable of the
  source is known to be that value, its name follows: `7.sum`.
- A name that is not a plain word, or starts with a digit, stands in quotes, bytes as `\xx`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from kleene.base.arrays import I32, csr
from kleene.ir.codes import Binding, Opcode, TypeKind, ValueKind

if TYPE_CHECKING:
    from kleene.ir.program import Program

_BARE = re.compile(rb"[A-Za-z_.$-][A-Za-z0-9_.$-]*")
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")  # neither printable ASCII, nor one of " and \
_REMEMBERED_FUNCTIONS = 64


@dataclass(frozen=True, slots=True)
class Locals:
    """The names of one function's values, in the order of their tables."""

    arguments: list[str]
    blocks: list[str]
    instructions: list[str]  # empty where there is no result
    variables: list[str]


class Names:
    """The names of a program's values, found when asked for."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._quoted: dict[int, str] = {0: ""}
        self.of_function = lru_cache(_REMEMBERED_FUNCTIONS)(self._of_function)

    def symbol(self, symbol: int) -> str:
        """Return a symbol as it is written: bare or in quotes, empty if it is."""
        if symbol not in self._quoted:
            self._quoted[symbol] = quoted_name(self._program.strings.raw(symbol))
        return self._quoted[symbol]

    @cached_property
    def globals(self) -> list[str]:
        """The name of each global; those without one are numbered."""
        counter = _Counter()
        symbols = self._program.globals.name.tolist()
        return [counter.name(self.symbol(symbol)) for symbol in symbols]

    def _of_function(self, function: int) -> Locals:
        program, table = self._program, self._program.function_table
        argument, end_argument = table.argument_offsets[function : function + 2].tolist()
        block, end_block = table.block_offsets[function : function + 2].tolist()
        starts = program.blocks.instruction_offsets[block : end_block + 1].tolist()
        first, last = (starts[0], starts[-1]) if block < end_block else (0, 0)
        known = self._variables_of(function, first, last)
        arguments = range(argument, end_argument)
        values, counter = _Counter(), _Counter()
        symbols = program.arguments.name
        return Locals(
            [
                values.name(
                    self.symbol(symbols[a]), known.get(program.bases[ValueKind.ARGUMENT] + a, "")
                )
                for a in arguments
            ],
            *self._of_body(values, block, starts, known),
            [
                counter.name(self.symbol(symbol), empty='""')
                for symbol in program.variables.name[self.variable_rows(function)].tolist()
            ],
        )

    def _of_body(
        self, values: _Counter, block: int, starts: list[int], known: dict[int, str]
    ) -> tuple[list[str], list[str]]:
        """Return the names of the blocks from `block` on, and of their instructions."""
        program = self._program
        first, last = starts[0], starts[-1]
        symbols = program.instructions.name[first:last].tolist()
        types = program.instructions.type[first:last]
        has_result = (program.types.kind[types] != TypeKind.VOID).tolist()
        blocks, instructions = [], []
        labels = _Counter(values)
        base = program.bases[ValueKind.INSTRUCTION]
        for row in range(len(starts) - 1):
            blocks.append(labels.name(self.symbol(int(program.blocks.name[block + row]))))
            for i in range(starts[row], starts[row + 1]):
                symbol = symbols[i - first]
                if has_result[i - first] or symbol:
                    decoration = known.get(base + i, "")
                    instructions.append(values.name(self.symbol(symbol), decoration))
                else:
                    instructions.append("")
        return blocks, instructions

    def binding_rows(self, first: int, last: int) -> I32:
        """Return the bindings in front of the instructions from `first` to before `last`."""
        offsets, rows = self._bindings
        return rows[offsets[first] : offsets[last]]

    def variable_rows(self, function: int) -> I32:
        """Return the variables of a function."""
        offsets, rows = self._variables
        return rows[offsets[function] : offsets[function + 1]]

    @cached_property
    def _bindings(self) -> tuple[I32, I32]:
        before = self._program.bindings.before
        rows = np.arange(len(before), dtype=np.int32)
        return grouped(before, rows, len(self._program.instructions))

    @cached_property
    def _variables(self) -> tuple[I32, I32]:
        function = self._program.variables.function
        rows = np.arange(len(function), dtype=np.int32)
        return grouped(function, rows, len(self._program.function_table))

    def _variables_of(self, function: int, first: int, last: int) -> dict[int, str]:
        """Return the variable that each value of a function first is, where that is plain."""
        table, rows = self._program.bindings, self.binding_rows(first, last)
        rows = rows[table.exact[rows] != 0]
        value = table.value[rows]
        instruction = value - self._program.bases[ValueKind.INSTRUCTION]
        opcode = self._program.instructions.opcode[np.maximum(instruction, 0)]
        is_alloca = (instruction >= 0) & (opcode == Opcode.ALLOCA)
        plain = (table.kind[rows] != Binding.DECLARE) | is_alloca
        symbols = self._program.variables.name[table.variable[rows]]
        found: dict[int, str] = {}
        for one, symbol in zip(value[plain].tolist(), symbols[plain].tolist(), strict=True):
            name = self.symbol(symbol)
            if name and not name.startswith('"'):
                found.setdefault(one, name)
        return found


def grouped(keys: I32, items: I32, n_keys: int) -> tuple[I32, I32]:
    """Return the items of each key, in their order: CSR (offsets, items)."""
    offsets, order = csr(keys, n_keys)
    return offsets.astype(np.int32), items if order is None else items[order]


class _Counter:
    """Names given so far, of one namespace; namespaces may share their numbers."""

    def __init__(self, shared: _Counter | None = None) -> None:
        self._next: list[int] = shared._next if shared else [0]
        self._times: dict[str, int] = {}

    def name(self, name: str, decoration: str = "", *, empty: str = "") -> str:
        """Return `name` made unique, or a number where there is none."""
        name = name or empty
        if not name:
            number = self._next[0]
            self._next[0] += 1
            return f"{number}.{decoration}" if decoration else str(number)
        times = self._times[name] = self._times.get(name, 0) + 1
        if times > 1:
            return f"{name}~{times}"
        return f"{name}~{decoration}" if decoration and name[0] == "." else name


def default_source_name(name: bytes, has_place: bool) -> bytes:
    """Return what a global is most likely called in the source; text leaves it out then."""
    return name if has_place and not name.startswith(b".") else b""


def quoted_name(raw: bytes) -> str:
    """Return a name as it is written: bare if it can be, else in quotes."""
    return raw.decode() if _BARE.fullmatch(raw) or not raw else quoted(raw)


def quoted(raw: bytes) -> str:
    r"""Return bytes in quotes: printable ASCII as it is, the rest, `"` and `\` as `\xx`."""
    return '"' + _SPECIAL.sub(lambda m: b"\\%02x" % m[0][0], raw).decode() + '"'


def unquoted(text: str) -> bytes:
    """Return the bytes that `quoted` wrote as `text`."""
    inside = text[1:-1].encode()
    return re.sub(rb"\\([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), inside)


def joined(words: Iterable[str]) -> str:
    """Return the words that are not empty, with spaces between."""
    return " ".join(word for word in words if word)
