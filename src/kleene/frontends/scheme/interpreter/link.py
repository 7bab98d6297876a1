"""Linking: the rows of a core to code, inner rows first, without recursion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kleene.frontends.scheme.interpreter import code
from kleene.frontends.scheme.interpreter.code import N_HEAD, UNASSIGNED, Code, Frame
from kleene.frontends.scheme.interpreter.objects import Native, failure
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core
from kleene.ir.scheme.values import UNSPECIFIED

_MAX_VALUE_DEPTH = 40  # of plain functions inside each other, which use Python's stack

Bound = Callable[[int, Any], None]  # is told of a variable and the value that it is given


class Linker:
    """Makes code of a core that may grow; globals are cells that all of its code shares."""

    def __init__(
        self, primitives: dict[str, Any], bound: Bound | None = None, is_prelude: bool = False
    ) -> None:
        self.primitives = primitives
        self.bound = bound
        self.is_prelude = is_prelude
        self.globals: list[Any] = []
        self.n_top = 0  # top-level forms that are linked already

    def link(self, core: Core) -> list[Code]:
        """Return the code of the top-level forms that are new in `core`."""
        for variable in range(len(self.globals), core.n_variables):
            start = int(core.starts_as[variable])
            known = self.primitives[core.primitives[start]] if start >= 0 else UNASSIGNED
            self.globals.append(known)
        work = _Work(self, core)
        tops = core.node(core.root).operands[self.n_top :]
        rows = sorted(node.row for top in tops for node in top.walk())
        made = work.make(rows)
        self.n_top += len(tops)
        return [made[top.row] for top in tops]


class _Work:
    """One pass over rows. The columns are Python lists, which are faster to look into."""

    def __init__(self, linker: Linker, core: Core) -> None:
        self.linker = linker
        self.core = core
        self.kind = core.kind.tolist()
        self.reference = core.reference.tolist()
        self.offsets = core.operand_offsets.tolist()
        self.operands: list[int] = core.operands.tolist()
        self.owner = core.owner.tolist()
        self.n_bound = core.n_bound.tolist()
        self.binder: dict[int, int] = {}  # the row whose frame a row is evaluated in; -1: none
        self.level: dict[int, int] = {-1: 0}  # of a binder: how many frames are around
        self.depth: dict[int, int] = {}  # of plain functions inside each other

    def make(self, rows: list[int]) -> dict[int, Code]:
        """Return the code of each row; a row's operands have greater numbers than it."""
        for row in rows:
            around = self.binder.setdefault(row, -1)
            frame = around
            if self.kind[row] == columns.LAMBDA or (
                self.kind[row] == columns.LETREC and self.n_bound[row]
            ):
                frame = row
                self.level[row] = self.level[around] + 1
            for operand in self._below(row):
                self.binder[operand] = frame
        made: dict[int, Code] = {}
        for row in reversed(rows):
            made[row] = self._make(row, [made[operand] for operand in self._below(row)])
        return made

    def _below(self, row: int) -> list[int]:
        return self.operands[self.offsets[row] : self.offsets[row + 1]]

    def _make(self, row: int, parts: list[Code]) -> Code:
        kind, reference = self.kind[row], self.reference[row]
        if kind == columns.CONSTANT:
            constant = self.core.constants[reference]
            return code.Simple(lambda frame: constant)
        if kind == columns.VARIABLE:
            return code.Simple(self._read(row, reference))
        if kind == columns.PRIMITIVE:
            primitive = self.linker.primitives[self.core.primitives[reference]]
            return code.Simple(lambda frame: primitive)
        if kind == columns.CALL:
            return self._call(row, parts)
        if kind == columns.IF:
            return self._shallow(row, code.If(*parts))
        if kind == columns.LAMBDA:
            n_bound, has_rest = self.n_bound[row], bool(self.core.has_rest[row])
            number = -1 if self.linker.is_prelude else row
            return code.Lambda(number, reference, n_bound - has_rest, has_rest, parts[0])
        if kind == columns.LETREC:
            return self._letrec(row, parts)
        if kind == columns.SEQUENCE:
            return code.Sequence(parts)
        result = self.core.names[reference] if kind == columns.DEFINE else UNSPECIFIED
        store = self._write(row, reference, is_definition=kind == columns.DEFINE)
        return code.Assign(parts[0], store, UNSPECIFIED if kind == columns.SET else result)

    def _shallow(self, row: int, made: Code) -> Code:
        """Return the code, made to take steps where its plain function would nest too deep."""
        depth = 1 + max((self.depth.get(operand, 0) for operand in self._below(row)), default=0)
        if depth > _MAX_VALUE_DEPTH:
            made.value, depth = None, 0
        self.depth[row] = depth
        return made

    def _call(self, row: int, parts: list[Code]) -> Code:
        """Return a call; of a plain primitive with simple arguments, its plain function."""
        number = -1 if self.linker.is_prelude else row
        operator = self._below(row)[0]
        names_primitive = self.kind[operator] == columns.PRIMITIVE
        made = code.Call(number, parts, names_primitive)
        if made.simple is None or not names_primitive:
            return made
        native = self.linker.primitives[self.core.primitives[self.reference[operator]]]
        is_plain = type(native) is Native and native.kind == "plain"
        if is_plain and native.row.accepts(len(parts) - 1):
            made.value = _applied(native.function, made.simple[1:])
        return self._shallow(row, made)

    def _letrec(self, row: int, parts: list[Code]) -> Code:
        n_bound = len(parts) - 1
        if n_bound == 0:
            return parts[0]
        first = self.reference[row]
        inside: list[Code] = []
        for i, part in enumerate(parts[:-1]):
            store = self._store(N_HEAD + i, 0, first + i)
            inside.append(code.Assign(part, store, UNSPECIFIED))
        return code.Letrec(n_bound, code.Sequence([*inside, parts[-1]]))

    def _read(self, row: int, variable: int) -> Callable[[Frame], Any]:
        owner, name = self.owner[variable], self.core.names[variable]
        if owner == columns.NONE:
            cells = self.linker.globals

            def read(frame: Frame) -> Any:
                value = cells[variable]
                if value is UNASSIGNED:
                    raise failure("unbound variable", name)
                return value

            return read
        depth, index = self._place(row, variable)
        is_letrec = self.kind[owner] == columns.LETREC
        return code.local(depth, index, name, is_letrec)

    def _place(self, row: int, variable: int) -> tuple[int, int]:
        """Return how many frames out a variable is, and where in its frame."""
        owner = self.owner[variable]
        depth = self.level[self.binder[row]] - self.level[owner]
        return depth, N_HEAD + variable - self.reference[owner]

    def _write(self, row: int, variable: int, is_definition: bool) -> Callable[[Frame, Any], None]:
        if self.owner[variable] != columns.NONE:
            depth, index = self._place(row, variable)
            return self._store(index, depth, variable)
        cells, bound, name = self.linker.globals, self.linker.bound, self.core.names[variable]

        def write(frame: Frame, value: Any) -> None:
            if not is_definition and cells[variable] is UNASSIGNED:
                raise failure("an unbound variable is assigned", name)
            cells[variable] = value
            if bound is not None:
                bound(variable, value)

        return write

    def _store(self, index: int, depth: int, variable: int) -> Callable[[Frame, Any], None]:
        bound = self.linker.bound

        def store(frame: Frame, value: Any) -> None:
            for _ in range(depth):
                frame = frame[0]
            frame[index] = value
            if bound is not None:
                bound(variable, value)

        return store


def _applied(function: Callable[..., Any], values: list[Any]) -> Callable[[Frame], Any]:
    """Return the application of a plain primitive as a function of the frame."""
    if len(values) == 1:
        (a,) = values
        return lambda frame: function(a(frame))
    if len(values) == 2:
        a, b = values
        return lambda frame: function(a(frame), b(frame))
    return lambda frame: function(*[value(frame) for value in values])
