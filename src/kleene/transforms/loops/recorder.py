"""What a symbolic execution keeps: atoms, roots of addresses, and the accesses recorded so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal as OneOf

from kleene.base.expression import ZERO, Expression, of
from kleene.ir.loops import tree
from kleene.ir.loops.symbols import Choice, LoopSymbol, SymbolKind, loops_of
from kleene.ir.loops.tables import (
    SOMEWHERE,
    Access,
    Condition,
    LoopRow,
    Obligations,
    Path,
    Root,
    Together,
    loops_of_condition,
)
from kleene.ir.loops.text import text
from kleene.ir.loops.tree import Symbol, Type
from kleene.transforms.loops.values import UNKNOWN, Place, Value

Environment = dict[Symbol, Value]
Fields = tuple[str | None, ...] | None  # on the path to a part of a root; None for subscripts


@dataclass
class Frame:
    """What `break`, `continue` or `return` leave: a loop, a switch, or a called function."""

    kind: str  # "loop", "switch", "call"
    loop: LoopRow | None = None
    continued: list[Environment] = field(default_factory=list)
    returned: list[tuple[Environment, Value]] = field(default_factory=list)


class Recorder(ABC):
    """The state of one function's execution, and what becomes of reads and writes in it."""

    def __init__(self, function: tree.Function, functions: Mapping[str, tree.Function]) -> None:
        self._function = function
        self._functions = functions
        self._loops: list[LoopRow] = []
        self._accesses: list[Access] = []
        self._atoms: dict[object, LoopSymbol] = {}
        self._roots: dict[object, Root] = {}
        self._epochs: dict[int, dict[Fields, int]] = {}  # by root: how often parts were written
        self._epoch = 0
        self._environment: Environment = {}
        self._stack: list[LoopRow] = []
        self._context: list[Condition] = []
        self._frames: list[Frame] = []
        self._calls: list[str] = [function.name]
        self._has_statics: dict[str, bool] = {}  # by called function
        self._sequence = 0
        self._n_steps = 0
        self._n_inlined_steps = 0
        self._n_roots = 0
        self._n_loops = 0
        self._is_recording = True
        self._is_trial = False  # of an iteration, to see what a loop changes
        self._changed: dict[int, dict[int, set[Fields]]] = {}  # by loop and root: written parts
        self._loads: set[int] = set()  # roots that integers and pointers were loaded from
        self._parameters: dict[str, LoopSymbol] = {}
        self._load_places: dict[LoopSymbol, tuple[Root, Path]] = {}
        self._views: dict[int, Type | None] = {}  # of storage of type void: what it is cast to
        self._choice_of: Together | None = None  # of the updates that are recorded now
        self._has_jumps = _has_jumps(function)

    @abstractmethod
    def _value(self, node: tree.Expression) -> Value:
        """Record what an expression reads, and return its value."""

    def _count_steps(self, n: int) -> None:
        self._n_steps += n
        if len(self._calls) > 1:
            self._n_inlined_steps += n

    # Atoms and roots

    def _atom(
        self,
        key: object,
        name: str,
        kind: SymbolKind,
        loops: frozenset[int],
        type_: Type | None = None,
    ) -> LoopSymbol:
        if key not in self._atoms:
            is_ranged = type_ is not None and type_.kind == "int" and type_.bits > 0
            low, high = type_.range if is_ranged and type_ is not None else (None, None)
            self._atoms[key] = LoopSymbol(name, len(self._atoms), kind, loops, low, high)
        return self._atoms[key]

    def _chosen(
        self, condition: Condition, then: Expression, otherwise: Expression, name: str, type_: Type
    ) -> Expression:
        """Return the value that is `then` where a condition holds, and else `otherwise`."""
        if then == otherwise:
            return then
        key = ("choice", condition, then, otherwise, type_.name)
        if key not in self._atoms:
            low, high = type_.range if type_.bits > 0 else (None, None)
            loops = loops_of(then) | loops_of(otherwise) | loops_of_condition(condition)
            parts = condition, then, otherwise
            number = len(self._atoms)
            self._atoms[key] = Choice(name, number, "value", loops, low, high, *parts)
        return of(self._atoms[key])

    def _fresh(
        self, name: str, type_: Type | None = None, kind: SymbolKind = "value"
    ) -> LoopSymbol:
        """Return an atom for a value that is not followed: it changes in all loops around."""
        return self._atom(("fresh", len(self._atoms)), name, kind, self._around(), type_)

    def _around(self) -> frozenset[int]:
        return frozenset(row.number for row in self._stack)

    def _given(self, symbol: Symbol) -> Value:
        """Return the value of a parameter at the function's beginning."""
        if symbol.type.kind == "pointer":
            return Value(None, Place(self._pointer_root(symbol), (ZERO,), ZERO))
        if symbol.type.kind == "int" and not symbol.is_exposed:
            atom = self._atom(("given", symbol), symbol.name, "value", frozenset(), symbol.type)
            self._parameters.setdefault(symbol.name, atom)
            return Value(of(atom))
        return UNKNOWN

    def _pointer_root(self, symbol: Symbol) -> Root:
        target = symbol.type.target
        key = ("given", symbol)
        if key not in self._roots:
            self._roots[key] = Root(
                self._next_root(),
                symbol.name,
                "pointer",
                symbol,
                is_restrict=symbol.type.restrict,
                extents=self._extents(target),
                n_bytes=None if target is None else target.n_bytes,
            )
            self._see(self._roots[key], target)
        return self._roots[key]

    def _see(self, root: Root, target: Type | None) -> Root:
        """Note storage of which a pointer does not tell the type: the first cast does."""
        if target is not None and target.kind == "void":
            self._views.setdefault(root.number, None)
        return root

    def _variable_root(self, symbol: Symbol) -> Root:
        key = symbol.linkage or symbol
        if key not in self._roots:
            self._declare(symbol, frozenset())
        return self._roots[key]

    def _declare(self, symbol: Symbol, declared_in: frozenset[int]) -> None:
        is_array = symbol.type.kind == "array"
        extents = self._extents(symbol.type.target) if is_array else ()
        self._roots[symbol.linkage or symbol] = Root(
            self._next_root(),
            symbol.name,
            "variable",
            symbol,
            is_exposed=symbol.is_exposed,
            declared_in=declared_in if symbol.storage != "static" else frozenset(),
            extents=extents,
            n_bytes=symbol.type.target.n_bytes if symbol.type.target else symbol.type.n_bytes,
        )

    def _next_root(self) -> int:
        self._n_roots += 1
        return self._n_roots - 1

    def _extents(self, kind: Type | None) -> tuple[Expression | None, ...]:
        """Return the extents of the second and further subscripts."""
        found: list[Expression | None] = []
        while kind is not None and kind.kind == "array":
            if isinstance(kind.extent, int):
                found.append(of(kind.extent))
            elif kind.extent is None:
                found.append(None)
            else:
                value = self._value(kind.extent)
                found.append(value.number if not value.obligations else None)
            kind = kind.target
        return tuple(found)

    def _loaded_root(self, atom: LoopSymbol, source: Place, target: Type | None) -> Root:
        key = ("loaded", atom)
        if key not in self._roots:
            self._roots[key] = Root(
                self._next_root(),
                atom.name,
                "pointer",
                loops=atom.loops,
                source=source.root,
                source_byte=None if source.offset is None else source.offset.integer,
                n_bytes=None if target is None else target.n_bytes,
            )
            self._see(self._roots[key], target)
        return self._roots[key]

    def _n_bytes(self, kind: Type | None, place: Place) -> Expression | None:
        """Return the bytes of the elements that a pointer to `place` moves over.

        Those of rows of a variable-length array are told by its extents, which have the values
        from when it was declared.
        """
        if kind is None or kind.n_bytes is not None:
            return None if kind is None or kind.n_bytes is None else of(kind.n_bytes)
        n_dimensions, inner = 0, kind
        while inner.kind == "array" and inner.target is not None:
            n_dimensions, inner = n_dimensions + 1, inner.target
        if not place.path or any(isinstance(one, str) for one in place.path):
            return None
        extents = place.root.extents[len(place.path) - 1 :]
        if len(extents) != n_dimensions or inner.n_bytes is None:
            return None
        total = of(inner.n_bytes)
        for extent in extents:
            if extent is None:
                return None
            total *= extent
        return total

    def _unknown_root(self, name: str) -> Root:
        kind: OneOf["pointer", "unknown"] = "unknown" if self._stack else "pointer"
        return Root(self._next_root(), name, kind, loops=self._around())

    # Accesses

    @contextmanager
    def _silently(self) -> Iterator[None]:
        saved, self._is_recording = self._is_recording, False
        yield
        self._is_recording = saved

    def _record(
        self,
        place: Place,
        at: tree.Location,
        *,
        is_write: bool,
        update: str | None = None,
        obligations: Obligations = (),
        by_loop: bool = False,
    ) -> None:
        self._sequence += 1
        if is_write:
            made_here = place.root.declared_in | place.root.loops
            for row in self._stack:
                if row.number not in made_here:
                    roots = self._changed.setdefault(row.number, {})
                    roots.setdefault(place.root.number, set()).add(_fields(place))
        if not self._is_recording:
            return
        kind = at.type
        self._accesses.append(
            Access(
                place.root,
                place.path,
                obligations,
                kind.n_bytes,
                is_write,
                update,
                kind.kind == "float",
                tuple(row.number for row in self._stack),
                tuple(self._context),
                self._sequence,
                at.place,
                text(at),
                by_loop,
                _is_moved(at),
                offset=place.offset,
                together=self._choice_of if update is not None else None,
            )
        )

    def _is_followed(self, symbol: Symbol) -> bool:
        """Return whether assignments alone change the variable, so that its value is known."""
        is_own = symbol.storage in ("local", "parameter") and not symbol.is_exposed
        return is_own and symbol.type.kind in ("int", "float", "pointer")

    def _is_induction(self, symbol: Symbol) -> bool:
        return any(symbol in row.inductions for row in self._stack)

    def _address(self, location: tree.Location) -> tuple[Place, Obligations]:
        match location:
            case tree.Variable(symbol=symbol):
                return Place(self._variable_root(symbol), (), ZERO), ()
            case tree.Element(pointer=pointer, index=index):
                base, by = self._value(pointer), self._value(index)
                if base.place is None:
                    return Place(self._unknown_root(text(pointer)), None), ()
                obligations = (*base.obligations, *by.obligations)
                element = self._n_bytes(pointer.type.target, base.place)
                return base.place.moved(by.number, element), obligations
            case tree.Member(record=record, name=name, in_union=in_union, offset=offset):
                place, obligations = self._address(record)
                return place.inside(SOMEWHERE if in_union else name, offset), obligations
            case _:
                return Place(self._unknown_root(text(location)), None), ()

    def _read(self, location: tree.Location, update: str | None = None) -> Value:
        if isinstance(location, tree.Variable) and self._is_followed(location.symbol):
            symbol = location.symbol
            if not self._is_induction(symbol):
                root = self._variable_root(symbol)
                self._record(Place(root, (), ZERO), location, is_write=False, update=update)
            if symbol not in self._environment:
                self._environment[symbol] = self._opaque(symbol)
            return self._environment[symbol]
        if isinstance(location, tree.Nowhere) and location.detail == "StringLiteral":
            return UNKNOWN
        place, obligations = self._address(location)
        self._record(place, location, is_write=False, update=update, obligations=obligations)
        return self._loaded(place, location)

    def _loaded(self, place: Place, location: tree.Location) -> Value:
        """Return the atom, or the pointer, that a load gives."""
        kind = location.type
        if kind.kind not in ("int", "pointer") or place.path is None:
            return self._unfollowed(text(location), kind)
        if place.root.kind == "unknown":
            return self._unfollowed(text(location), kind)
        self._loads.add(place.root.number)
        loops = place.root.loops | Value(place=place).loops
        fields, root = _fields(place), place.root.number
        loops |= {
            row.number
            for row in self._stack
            if any(
                _may_touch(one, fields) for one in self._changed.get(row.number, {}).get(root, ())
            )
        }
        written = self._epochs.get(root, {})
        n_writes = sum(n for one, n in written.items() if _may_touch(one, fields))
        epoch = (self._epoch, n_writes)
        key = ("load", place.root.number, place.path, epoch, kind.name, loops)
        atom = self._atom(key, text(location), "load", loops, kind)
        self._load_places[atom] = (place.root, place.path)
        if kind.kind == "pointer":
            return Value(None, Place(self._loaded_root(atom, place, kind.target), (ZERO,), ZERO))
        return Value(of(atom))

    def _unfollowed(self, name: str, kind: Type) -> Value:
        if kind.kind == "int":
            return Value(of(self._fresh(name, kind)))
        if kind.kind == "pointer":
            root = Root(self._next_root(), name, "pointer", loops=self._around())
            return Value(None, Place(self._see(root, kind.target), (ZERO,), ZERO))
        return UNKNOWN

    def _opaque(self, symbol: Symbol) -> Value:
        """Return a new value for a variable, about which nothing is known."""
        return self._unfollowed(symbol.name, symbol.type)

    def _write(
        self,
        location: tree.Location,
        value: Value,
        update: str | None = None,
        address: tuple[Place, Obligations] | None = None,
    ) -> None:
        if isinstance(location, tree.Variable) and self._is_followed(location.symbol):
            symbol = location.symbol
            if not self._is_induction(symbol):
                root = self._variable_root(symbol)
                self._record(Place(root, (), ZERO), location, is_write=True, update=update)
            self._environment[symbol] = value
            return
        place, obligations = address or self._address(location)
        self._record(place, location, is_write=True, update=update, obligations=obligations)
        self._touch(place)

    def _touch(self, place: Place) -> None:
        """Note that storage was written; outside of loops, what may overlap with it too."""
        parts = self._epochs[place.root.number] = dict(self._epochs.get(place.root.number, {}))
        fields = _fields(place)
        parts[fields] = parts.get(fields, 0) + 1
        if not self._stack or place.root.kind == "unknown":
            self._epoch += 1


def _fields(place: Place) -> Fields:
    """Return the names of fields on the path to a part of its root, None for subscripts."""
    if place.path is None:
        return None
    return tuple(step if isinstance(step, str) else None for step in place.path)


def _may_touch(first: Fields, second: Fields) -> bool:
    """Return whether two parts of a root may overlap: they do not in different fields."""
    for one, other in zip(first or (), second or (), strict=False):
        if one is None and other is None:
            continue
        if one is None or other is None or SOMEWHERE in (one, other):
            return True
        if one != other:
            return False
    return True


def _is_moved(location: tree.Location) -> bool:
    """Return whether a location is reached by moving a pointer, not by subscripts of an array."""
    while isinstance(location, tree.Member):
        location = location.record
    return isinstance(location, tree.Element) and not isinstance(location.pointer, tree.Decay)


def _has_jumps(function: tree.Function) -> bool:
    """Return whether the function has labels other than those right in a switch."""
    direct = {
        id(one)
        for inner in tree.walk(function.body)
        if isinstance(inner, tree.Irregular)
        for one in inner.body
    }
    return any(
        isinstance(one, tree.Label) and id(one) not in direct for one in tree.walk(function.body)
    )
