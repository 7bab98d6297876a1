"""Exceptions of C++: which objects a handler catches, by type.

A throw names the run-time type of its object, a landing pad those that its handlers catch, and the
handler itself is behind a test of the same type (the Itanium ABI, as LLVM writes it):

    pad:      %p = landingpad { ptr, i32 } cleanup catch ptr @_ZTI5Parse catch ptr @_ZTI5Error
    dispatch: br (%selector == llvm.eh.typeid.for(@_ZTI5Parse)), %handler, %next
    handler:  %e = call ptr @__cxa_begin_catch(ptr %exception)

`%e` points to the part of the object that is an `Error`; of a pointer that was thrown it is the
pointer itself, to the part of what that points to. The type of an exception never changes, so
whoever passes one on (`resume`, `throw;`, `std::rethrow_exception`) adds nothing to what was said
where it was made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, cached_property

import numpy as np

from kleene.analyses.points_to.class_tables import ClassTables
from kleene.analyses.points_to.constraints.builder import PointerBuilder
from kleene.analyses.points_to.library import Library
from kleene.analyses.points_to.library.language import Derives
from kleene.base.arrays import I64
from kleene.ir.codes import Flag, GlobalFlag, Opcode, Predicate, ValueKind
from kleene.ir.program import Program
from kleene.solvers.inclusion import FROM_OUTSIDE, TO_OUTSIDE

_TYPE, _TABLE = "_ZTI", "_ZTV"
_BUILTIN = re.compile(r"[a-z]$|D[a-zA-Z]$")  # mangled: int, char8_t, decltype(nullptr), …
_QUALIFIERS = re.compile(r"[rVK]*")
_RENAMED = re.compile(r"\.\d+$")  # what linking puts behind a name that several units have
_TYPEID_FOR = "llvm.eh.typeid.for"
_POINTEE = 24  # byte of a std::type_info of a pointer where that of its pointee is

Offsets = frozenset[int | None]  # of a base in an object; None where that is not known
_START: Offsets = frozenset({0})
_SOMEWHERE: Offsets = frozenset({None})
_NOWHERE: Offsets = frozenset()


class RunTimeTypes:
    """Which types a handler for a type catches, as the run-time types of a program say.

    A type is its mangled name: types of several units that have one name count as one.
    """

    def __init__(self, program: Program, library: Library) -> None:
        self._program, self._library = program, library
        self._tables = ClassTables(program)
        names = program.names.globals
        self._variable = {name: value for value, name in enumerate(names) if name[:3] == "_ZT"}
        self.caught = cache(self._caught)
        self.surely_caught = cache(self._surely_caught)

    def name(self, variable: int) -> str:
        """Return the type whose `std::type_info` a global is."""
        name = _RENAMED.sub("", self._program.names.globals[variable].strip('"'))
        return name.removeprefix(_TYPE)

    def is_of_library(self, name: str) -> bool:
        """Return whether a type is a class that the program does not have."""
        return _is_class(name) and not self.is_defined(name)

    def is_defined(self, name: str) -> bool:
        """Return whether the program has the `std::type_info` of a type."""
        variable = self._variable.get(_TYPE + name, -1)
        flags = self._program.globals.flags
        return variable >= 0 and not flags[variable] & GlobalFlag.DECLARATION

    def _caught(self, wanted: str, thrown: str) -> Offsets:
        """Return where in what was thrown the part is that a handler of type `wanted` gets.

        Of pointers, it is where in what they point to. Nothing, if the handler does not catch it.
        """
        if wanted == thrown:
            return _START
        if is_pointer(wanted):
            if thrown == "Dn":  # a null pointer
                return _START
            return self._pointee_caught(*map(self._pointee, (wanted, thrown)))
        if wanted[:1] == thrown[:1] == "M":  # pointers to members may differ in qualifiers
            return _START
        if _is_class(wanted) and _is_class(thrown):
            return self._offsets(wanted, thrown)
        return _NOWHERE

    def _pointee_caught(self, wanted: str | None, thrown: str | None) -> Offsets:
        if thrown is None or wanted is None:
            return _NOWHERE
        if wanted in ("v", thrown):
            return _START
        if is_pointer(wanted) or is_pointer(thrown):  # several levels: qualifiers may differ
            return _START if is_pointer(wanted) and is_pointer(thrown) else _NOWHERE
        if _is_class(wanted) and _is_class(thrown):
            return self._offsets(wanted, thrown)
        functions = [re.match(r"(Do)?F|Dx", name) for name in (wanted, thrown)]
        return _START if all(functions) else _NOWHERE

    def _pointee(self, name: str) -> str | None:
        """Return what a pointer type points to, without qualifiers; None if it is no pointer."""
        if not is_pointer(name):
            return None
        if _TYPE + name in self._variable:
            word = self._tables.words(self._variable[_TYPE + name]).get(_POINTEE)
            if isinstance(word, tuple):
                return self.name(word[0])
        return _QUALIFIERS.sub("", name[1:], count=1)

    def _offsets(self, base: str, whole: str) -> Offsets:
        """Return where in an object of a class its bases of a class lie."""
        found: set[int | None] = set()
        waiting: list[tuple[str, int | None]] = [(whole, 0)]
        while waiting:
            part, at = waiting.pop()
            if part == base:
                found.add(at)
                continue
            bases = self._bases(part)
            if bases is None:  # it may be one of them
                return _SOMEWHERE
            for other, offset, is_virtual in bases:
                inside: int | None = offset
                if is_virtual and at is not None:
                    inside = self._virtual(whole, at, offset)
                waiting.append((other, None if at is None or inside is None else at + inside))
        return frozenset(found)

    def _bases(self, derived: str) -> list[tuple[str, int, bool]] | None:
        """Return the bases of a class as `ClassTables` does; None if they are not known."""
        if not self.is_defined(derived):
            model = self._library.find(_TYPE + derived) or ()
            known = [effect.base for effect in model if isinstance(effect, Derives)]
            found = [(base.removeprefix(_TYPE), 0, False) for base in known if base]
            return found if known else None
        bases = self._tables.bases(self._variable[_TYPE + derived])
        if bases is None:
            return None
        return [(self.name(base), offset, is_virtual) for base, offset, is_virtual in bases]

    def _virtual(self, whole: str, part: int, offset: int) -> int | None:
        """Return how far behind a part of a whole object a virtual base of the part lies.

        The part's table says so, `offset` bytes behind its address point: that of the tables of the
        whole class, in `{…, -part, type │ functions, …}`, which has the offset to the top.
        """
        table = self._variable.get(_TABLE + whole, -1)
        if table < 0:
            return None
        words, type_info = self._tables.words(table), (self._variable[_TYPE + whole], 0)
        tops = [at for at, word in words.items() if word == type_info]
        points = [at + 8 for at in tops if words.get(at - 8) == -part]
        return self._tables.integer(table, points[0] + offset) if len(points) == 1 else None

    def _surely_caught(self, wanted: str, thrown: str) -> bool:
        """Return whether a handler for `wanted` catches whatever is thrown as `thrown`.

        A way of single public bases from one to the other is what it takes here: bases that are
        private, or that an object has twice, are not caught.
        """
        while thrown != wanted:
            if not _is_class(thrown):
                return False
            if self.is_defined(thrown) and not self._tables.has_single_base(
                self._variable[_TYPE + thrown]
            ):
                return False
            bases = self._bases(thrown)
            if bases is None or len(bases) != 1:
                return False
            thrown = bases[0][0]
        return True


def is_pointer(name: str) -> bool:
    """Return whether a mangled type is a pointer, to an object or a function."""
    return name[:1] == "P"


def _is_class(name: str) -> bool:
    """Return whether a mangled type has a name of its own: it is a class, or an enumeration."""
    return name[:1] not in ("P", "M", "F", "A") and name[:2] != "Do" and not _BUILTIN.match(name)


class Exceptions:
    """What a program throws, by type, and what its handlers catch."""

    def __init__(self, builder: PointerBuilder, library: Library) -> None:
        self._builder, self._columns = builder, builder.columns
        self._program = builder.columns.program
        self._library = library
        self._as_type: dict[str, int] = {}  # node of what is thrown as a type
        self._handlers: list[tuple[I64, I64]] = []  # (calls that begin one, nodes they return)
        self._known: dict[tuple[str | None, frozenset[str]], int] = {}  # what handlers get
        self._thrown = self._untyped = self._of_library = -1

    @cached_property
    def _types(self) -> RunTimeTypes:
        """The types of the program, made for those that throw or catch."""
        return RunTimeTypes(self._program, self._library)

    def thrown(self) -> int:
        """Return the node of all that is thrown."""
        if self._thrown < 0:
            self._thrown = self._builder.node()
            self._untyped, self._of_library = self._builder.nodes(2).tolist()
            self._builder.copy(self._thrown, np.array([self._untyped, self._of_library]))
        return self._thrown

    def throw(self, node: I64, types: I64, origin: I64) -> None:
        """Add that nodes are thrown, as the types that values are: any, where that is not known."""
        for at, variable in enumerate(types.tolist()):
            self._builder.copy(self._node_of(variable), node[at], origin[at])

    def throw_from_library(self, node: I64, origin: I64) -> None:
        """Add that the library throws nodes, as whatever class of its own."""
        self.thrown()
        self._builder.copy(self._of_library, node, origin)

    def _node_of(self, variable: int) -> int:
        """Return the node of what is thrown as the type whose `std::type_info` a value is."""
        everything = self.thrown()
        if not 0 <= variable < len(self._program.globals):
            return self._untyped
        name = self._types.name(variable)
        if name not in self._as_type:
            self._as_type[name] = self._builder.node()
            self._builder.copy(everything, self._as_type[name])
        return self._as_type[name]

    def caught(self, calls: I64) -> I64:
        """Return nodes of what handlers get, at the calls (instructions, -1) that begin them."""
        self.thrown()
        nodes = self._builder.nodes(len(calls))
        self._handlers.append((calls, nodes))
        return nodes

    def generate(self, *, may_come_from_outside: bool) -> None:
        """Add what landing pads and handlers catch, when all that is thrown is known."""
        builder, columns = self._builder, self._columns
        pads = columns.rows(Opcode.LANDINGPAD, Opcode.CATCHPAD)
        if not len(pads) and self._thrown < 0:
            return
        everything = self.thrown()
        # Unwinders pass the address of a header in front of the object, which some code adds to.
        builder.unknown_offset(columns.results(pads), self._at_pads(pads), pads)
        for calls, nodes in self._handlers:
            clauses = [self._clause_of(row) for row in calls.tolist()]
            builder.copy(nodes, np.array([self._in_handler(*c) for c in clauses], np.int64), calls)
        if may_come_from_outside:
            builder.flag(self._untyped, FROM_OUTSIDE)
            builder.flag(everything, TO_OUTSIDE)

    def _at_pads(self, pads: I64) -> I64:
        """Return the node of the objects that reach each landing pad."""
        table, n_globals = self._program.instructions, len(self._program.globals)
        by_clauses: dict[frozenset[int], int] = {}
        found = np.full(len(pads), self.thrown())
        for at, row in enumerate(pads.tolist()):
            clauses = frozenset(table.operands_of(row).tolist())
            cleans = table.opcode[row] == Opcode.CATCHPAD or table.flags[row] & Flag.CLEANUP
            if cleans or any(clause >= n_globals for clause in clauses):  # a filter, or all
                continue
            if clauses not in by_clauses:
                by_clauses[clauses] = self._builder.node()
                kinds = {self._types.name(c) for c in clauses}
                sources = {node for kind in kinds for node in self._sources(kind)}
                self._builder.copy(by_clauses[clauses], np.array(sorted(sources)))
            found[at] = by_clauses[clauses]
        return found

    def _sources(self, wanted: str) -> Iterator[int]:
        """Yield the nodes of what handlers for a type may catch."""
        yield self._untyped
        if self._types.is_of_library(wanted):
            yield self._of_library
        for thrown, node in self._as_type.items():
            if self._types.caught(wanted, thrown):
                yield node

    def _in_handler(self, wanted: str | None, before: frozenset[str] = frozenset()) -> int:
        """Return the node of what a handler for a type gets, behind handlers for others."""
        key = wanted, before
        if key not in self._known:
            self._known[key] = self._builder.node()
            if wanted is None:
                self._add(self._known[key], self.thrown(), _SOMEWHERE, is_pointer=False)
                self._add(self._known[key], self.thrown(), _SOMEWHERE, is_pointer=True)
            else:
                self._add_typed(self._known[key], wanted, before)
        return self._known[key]

    def _add_typed(self, node: int, wanted: str, before: frozenset[str]) -> None:
        is_of_pointer = is_pointer(wanted)
        self._add(node, self._untyped, _SOMEWHERE, is_pointer=is_of_pointer)
        if self._types.is_of_library(wanted):
            self._builder.copy(node, self._of_library)
        for thrown, source in self._as_type.items():
            if not any(self._types.surely_caught(other, thrown) for other in before):
                offsets = self._types.caught(wanted, thrown)
                self._add(node, source, offsets, is_pointer=is_of_pointer)

    def _add(self, node: int, source: int, offsets: Offsets, *, is_pointer: bool) -> None:
        """Add that a handler gets the parts of what is thrown, or of what that points to."""
        builder = self._builder
        if is_pointer and offsets:
            source = int(builder.loaded(source)[0])
        for offset in sorted(offset for offset in offsets if offset is not None):
            builder.byte_offset(node, source, offset)
        if None in offsets:
            builder.unknown_offset(node, source)

    def _clause_of(self, call: int) -> tuple[str | None, frozenset[str]]:
        """Return the type that the handler of a call tests for, and those tested before.

        The tests lie on the only way from a landing pad to the call. No type, if there is none that
        must hold there: the handler may get anything.
        """
        if call < 0:
            return None, frozenset()
        program = self._program
        offsets, sources = program.predecessors
        block, wanted, before = int(program.instructions.block[call]), None, []
        seen: set[int] = set()
        while offsets[block + 1] - offsets[block] == 1 and block not in self._pads_of_block:
            seen.add(block)
            source = int(sources[offsets[block]])
            if source in seen:
                break
            if (test := self._test_at_end(source)) is not None:
                kind, if_equal, if_not = test
                if wanted is None and block == if_equal:
                    wanted = kind
                elif block == if_not:
                    before.append(kind)
            block = source
        if wanted is None:
            return None, frozenset()
        function = int(program.blocks.function[block])
        return wanted, frozenset(b for b in before if self._comes_first(b, wanted, function))

    def _test_at_end(self, block: int) -> tuple[str, int, int] | None:
        """Return (type, block if it is selected, block if not) of the test that ends a block."""
        program = self._program
        table, first = program.instructions, program.bases[ValueKind.INSTRUCTION]
        end = int(program.blocks.instruction_offsets[block + 1]) - 1
        operands = table.operands_of(end)
        if table.opcode[end] != Opcode.BR or len(operands) != 3 or operands[0] < first:
            return None
        condition = int(operands[0]) - first
        is_equal = table.sub[condition] == Predicate.EQ
        if table.opcode[condition] != Opcode.ICMP:
            return None
        if not is_equal and table.sub[condition] != Predicate.NE:
            return None
        calls = table.operands_of(condition).astype(np.int64) - first
        kinds = [self._tested[c] for c in calls.tolist() if c in self._tested]
        targets = (operands[1:] - program.bases[ValueKind.BLOCK]).tolist()
        if len(kinds) != 1 or targets[0] == targets[1]:
            return None
        return (kinds[0], *targets) if is_equal else (kinds[0], *reversed(targets))

    @cached_property
    def _tested(self) -> dict[int, str]:
        """The type that each call (an instruction) of llvm.eh.typeid.for asks for."""
        columns, names = self._columns, self._program.names.globals
        asked = [value for value, name in enumerate(names) if name.startswith(_TYPEID_FOR)]
        calls = columns.calls[np.isin(columns.operand(columns.calls, 0), asked)]
        types = columns.operand(calls, 1)
        is_known = types < len(names)
        pairs = zip(calls[is_known].tolist(), types[is_known].tolist(), strict=True)
        return {call: self._types.name(variable) for call, variable in pairs}

    @cached_property
    def _pads_of_block(self) -> dict[int, int]:
        """The landing pad (an instruction) of each block that has one."""
        pads = self._columns.rows(Opcode.LANDINGPAD)
        return dict(
            zip(self._program.instructions.block[pads].tolist(), pads.tolist(), strict=True)
        )

    @cached_property
    def _clauses(self) -> dict[int, list[list[str | None]]]:
        """The types that the landing pads of each function name, in their order."""
        program, found = self._program, defaultdict(list)
        for block, pad in self._pads_of_block.items():
            clauses = program.instructions.operands_of(pad).tolist()
            named = [self._types.name(c) if c < len(program.globals) else None for c in clauses]
            found[int(program.blocks.function[block])].append(named)
        return found

    def _comes_first(self, first: str, other: str, function: int) -> bool:
        """Return whether every landing pad of a function that names `other` names `first` before.

        An unwinder selects the first that catches: then it never selects `other` for what `first`
        catches.
        """
        named = [pad for pad in self._clauses[function] if other in pad]
        return all(first in pad[: pad.index(other)] for pad in named)
