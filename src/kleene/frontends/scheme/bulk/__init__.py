"""Large texts: data as columns, and the common forms expanded by compiled loops.

`expander` is the definition, and does everything: it answers small texts, which are done before
machine code is loaded, and all forms but the most common. What is here makes the same rows in the
same order (`tests/frontends/scheme/test_bulk.py` compares them), ten times as fast:

| module | what it does |
|---|---|
| `scan` | text to data as columns |
| `tables` | the state of an expansion, and its small steps |
| `checks` | whether a form is written as expected |
| `forms`, `bodies` | the common forms as rows |
| `expand` | the loop over forms; what it refuses comes here, and goes to the expander as objects |
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from itertools import islice, repeat
from typing import Any

import numpy as np

from kleene.base.arrays import I32
from kleene.base.errors import SourceError
from kleene.frontends.scheme.bulk import expand, scan, tables
from kleene.frontends.scheme.bulk.compiled import UNIT
from kleene.frontends.scheme.bulk.scan import (
    ATOM,
    BYTES,
    DOTTED,
    LABEL,
    LABELLED,
    LIST,
    VECTOR,
    Data,
)
from kleene.frontends.scheme.bulk.tables import (
    FALSE_VALUE,
    KEYWORDS,
    MACRO,
    NO_SYMBOL,
    OTHER,
    TRUE_VALUE,
    UNKNOWN,
    UNSPECIFIED_VALUE,
    WORDS,
    Tables,
)
from kleene.frontends.scheme.data import Datum, Dotted, Form, Identifier, Labelled, Literal, Vector
from kleene.frontends.scheme.expander.definitions import define
from kleene.frontends.scheme.expander.expand import Expander, Procedure
from kleene.frontends.scheme.expander.quoting import literal_value, value_of
from kleene.frontends.scheme.expander.scopes import (
    Binding,
    Primitive,
    Scope,
    Special,
    Top,
    Variable,
)
from kleene.frontends.scheme.reader import START
from kleene.frontends.scheme.reader.atoms import OBJECTS, Atom, Fault, label_of, parse
from kleene.ir.scheme.core import NONE
from kleene.ir.scheme.primitives import table as primitives
from kleene.ir.scheme.sources import Source
from kleene.ir.scheme.values import UNSPECIFIED

__all__ = ["UNIT", "expand_source"]

_VALUES = {UNSPECIFIED_VALUE: UNSPECIFIED, TRUE_VALUE: True, FALSE_VALUE: False}
_CODES = {name: -5 - i for i, name in enumerate(KEYWORDS)} | {"letrec*": tables.K_LETREC}
_LARGE = 48  # data: going from Python to compiled loops and back takes as long as half of them
_LABEL = re.compile("#[0-9]+=")
_PLAIN = frozenset(map(chr, range(33, 127))) - frozenset("()[]\";|'`,")


def expand_source(expander: Expander, source: Source, top: Top) -> bool:
    """Expand the forms of a source; return False, with nothing done, where its text is refused."""
    text = _Text.of(source, top)
    if text is None:
        return False
    _Bulk(expander, text, top).run()
    return True


class _Text:
    """The data of a text, and what its tokens are."""

    def __init__(self, data: Data, raw: bytes, source: Source, seeds: list[str]) -> None:
        n_tokens = int(data.counts[scan.N_TOKENS])
        self.n_nodes = int(data.counts[scan.N_NODES])
        self.data = data
        self.seeds = {name: token for token, name in enumerate(seeds)}
        first, end = data.token_first[:n_tokens].tolist(), data.token_end[:n_tokens].tolist()
        letters = raw.decode("latin-1")  # one for each byte: plain symbols are ASCII
        self.names = list(map(letters.__getitem__, map(slice, first, end)))
        self.atoms: dict[int, Atom] = {}  # of tokens that are not plain symbols
        self.is_symbol = data.is_plain[:n_tokens].astype(np.bool_)
        for token in np.flatnonzero(~self.is_symbol).tolist():
            spelled = raw[first[token] : end[token]].decode()
            is_label = _LABEL.fullmatch(spelled)
            atom: Any = (Labelled, label_of(spelled)) if is_label else parse(spelled, False)
            self.atoms[token] = atom
            if atom == OBJECTS[b"#!optional"] or atom == OBJECTS[b"#!rest"]:
                raise Fault(0, "", "formals that the reader's data are needed for")
            if atom[0] is Identifier:
                self.is_symbol[token] = True
                self.names[token] = str(atom[1])
        self._all: dict[str, int] | None = None
        self._merge()

    @classmethod
    def of(cls, source: Source, top: Top) -> _Text | None:
        """Return the text of a source, or None where it is refused."""
        words = dict.fromkeys(WORDS)
        words |= dict.fromkeys(name for name in top.names if type(name) is str and _is_plain(name))
        words |= dict.fromkeys(filter(_is_plain, top.imports))
        seeds = "".join(f"{word} " for word in words).encode()
        start = START.match(source.text)
        skipped = start.end() if start else 0
        raw = seeds + b" " * skipped + source.text[skipped:]
        data = scan.room_for(len(raw))
        codes = np.frombuffer(raw, np.uint8)
        if not scan.scan(data, codes, len(raw), len(seeds), source.base - len(seeds)):
            return None
        try:
            text = cls(data, raw, source, list(words))
        except Fault:
            return None
        return text if text.has_bytes() else None

    def has_bytes(self) -> bool:
        """Return whether every bytevector holds bytes."""
        for node in np.flatnonzero(self.data.kind[: self.n_nodes] == BYTES).tolist():
            inside = range(node + 1, int(self.data.after[node]))
            for each in inside:
                atom = self.atoms.get(int(self.data.token[each]), (None, None))
                is_byte = self.data.kind[each] == ATOM and type(atom[1]) is int
                if not is_byte or not 0 <= atom[1] <= 255:  # type: ignore[operator]
                    return False
        return True

    def _merge(self) -> None:
        """Let tokens that spell one symbol, such as `a` and `|a|`, be one."""
        same = {}
        for token, atom in self.atoms.items():
            if atom[0] is Identifier and (first := self.token_of(self.names[token])) != token:
                same[token] = first
        if same:
            renamed = np.arange(len(self.names), dtype=np.int32)
            renamed[list(same)] = list(same.values())
            self.data.token[: self.n_nodes] = renamed[self.data.token[: self.n_nodes]]

    def token_of(self, name: str) -> int:
        """Return the token of a symbol, or NONE."""
        if (seed := self.seeds.get(name)) is not None and self.is_symbol[seed]:
            return seed
        if self._all is None:
            symbols = np.flatnonzero(self.is_symbol)[::-1].tolist()  # the first of equals stays
            self._all = {self.names[token]: token for token in symbols}
        return self._all.get(name, NONE)

    def datum(self, root: int, large: dict[int, Datum] | None = None) -> Datum:
        """Return a datum as objects; note in `large` those that are large lists, by number."""
        d = self.data
        end, token = int(d.after[root]), int(d.token[root])
        if d.kind[root] == ATOM and self.is_symbol[token]:
            return Identifier(sys.intern(self.names[token]), int(d.at[root]), int(d.end[root]))
        kinds, tokens = d.kind[root:end].tolist(), d.token[root:end].tolist()
        places = zip(d.at[root:end].tolist(), d.end[root:end].tolist(), strict=True)
        after, n, at = d.after[root:end].tolist(), d.n[root:end].tolist(), list(places)
        made: list[Any] = [None] * len(kinds)
        for i in range(len(kinds) - 1, -1, -1):
            kind, token = kinds[i], tokens[i]
            if kind == ATOM and self.is_symbol[token]:
                made[i] = Identifier(sys.intern(self.names[token]), *at[i])
                continue
            if kind in (ATOM, LABEL):
                make, value = self.atoms[token]
                made[i] = make(value, *at[i])
                continue
            items, inside = [], i + 1
            for _ in repeat(None, n[i]):
                items.append(made[inside])
                inside = after[inside] - root
            if kind == LIST:
                made[i] = Form(items, *at[i])
                if large is not None and after[i] - root - i >= _LARGE:
                    large[root + i] = made[i]
            elif kind == VECTOR:
                made[i] = Vector(items, *at[i])
            elif kind == LABELLED:
                made[i] = Labelled(self.atoms[token][1], items[0], *at[i])  # type: ignore[arg-type]
            elif kind == DOTTED:
                made[i] = Dotted(items[:-1], items[-1], *at[i])
            else:
                made[i] = Literal(bytes(item.value for item in items), *at[i])
        return made[0]  # type: ignore[no-any-return]


def _is_plain(name: str) -> bool:
    """Return whether a name, written as it is, is one token."""
    return bool(name) and name[0] != "#" and _PLAIN.issuperset(name)


class _Bulk:
    """One expansion: goes back and forth between compiled loops and the expander."""

    def __init__(self, expander: Expander, text: _Text, top: Top) -> None:
        self.expander, self.text, self.top = expander, text, top
        self.builder = expander.builder
        self.primitives = {name: number for number, name in enumerate(primitives())}
        # Of the form of the top level that is expanded: its frames as scopes and back, large lists
        # that are objects, and objects that wait among the data.
        self.form = NONE
        self.scopes: dict[int, Scope] = {}
        self.frames: dict[int, int] = {}
        self.large: dict[int, Datum] = {}
        self.nodes: dict[int, int] = {}  # their numbers, by their ids
        self.objects: list[tuple[Any, Scope]] = []
        self.n_handed = self.n_refused = 0  # lists that went back to compiled loops, in vain too
        n, d = text.n_nodes, text.data
        arrays: dict[str, Any] = dict.fromkeys(Tables._fields, np.empty(0, np.int32))
        arrays["counts"] = self.count = np.zeros(tables.N_COUNTS, np.int64)
        arrays |= {"data_kind": d.kind[:n], "data_at": d.at[:n], "data_end": d.end[:n]}
        arrays |= {"token": d.token[:n], "after": d.after[:n], "n": d.n[:n]}
        for name in ("current", "shadow", "twice", "primitive"):
            arrays[name] = np.full(len(text.names), NONE, np.int32)
        for name in ("primitive_number", "primitives"):
            arrays[name] = np.full(len(self.primitives), NONE, np.int32)
        arrays["top"] = np.where(text.is_symbol, UNKNOWN, NO_SYMBOL).astype(np.int32)
        self.tables = Tables(**arrays)
        self.count[tables.EQV] = self.primitives["eqv?"]
        self.count[tables.MEMV] = self.primitives["memv"]
        self.count[tables.FRAMES], self.count[tables.END] = 1, n
        self._grow(max(1024, n // 4))
        self.tables.frame_parent[0] = self.tables.frame_depth[0] = self.tables.frame_n[0] = 0
        self.n_primitives = 0  # of the core, that are known here
        top.changed.clear()
        self._know([*top.imports, *top.names])

    def run(self) -> None:
        """Expand everything; raise all errors."""
        with self.expander.collecting():
            self._run()

    def _run(self) -> None:
        while True:
            self._give()
            why = expand.run(self.tables)
            self._take()
            if why == expand.DONE:
                return
            if why == expand.MORE_ROOM:
                self._grow(int(self.count[tables.NEEDED]))
                continue
            if (form := int(self.count[tables.NEXT])) != self.form:
                self.form, self.scopes, self.frames = form, {0: self.top}, {id(self.top): 0}
                self.large, self.nodes, self.objects = {}, {}, []
            item = int(self.count[tables.ITEM])
            if why == expand.TOP_FOR_PYTHON:
                try:
                    self.expander.program([self.text.datum(item)], self.top)
                except SourceError as error:
                    self.expander.fail(error)
                continue
            self._by_python(item)

    def _by_python(self, item: int) -> None:
        """Have an item expanded by Python; large lists in it go back to compiled loops."""
        x, slot = self.expander, int(self.count[tables.ITEM_SLOT])
        if item <= tables.OBJECT:
            datum: Any
            datum, scope = self.objects[tables.OBJECT - item]
            self._take_objects()
        else:
            node = item if item >= 0 else ~item
            if node in self.large:
                datum = self.large[node]
                self.n_refused += 1
            else:
                large: dict[int, Datum] = {}
                datum = self.text.datum(node, large)
                large[node] = datum
                self.large |= large
                self.nodes |= {id(each): number for number, each in large.items()}
            self.nodes.pop(id(datum), None)
            scope = self._scope(int(self.count[tables.ITEM_FRAME]))
            if item < 0:
                assert type(datum) is Form
                datum = define(x, datum, scope)[1]
        x.push(datum, scope, slot)
        x.drain(self._is_large)
        self._hand_over()

    def _is_large(self, datum: Any) -> bool:
        """Return whether a datum of Python's is a large list of the text, for compiled loops.

        It is not where these refuse most of them, as in a thousand `delay`s in each other.
        """
        if self.n_refused > 200 and 2 * self.n_refused > self.n_handed:
            return False
        return self._node(datum) is not None

    def _node(self, datum: Any) -> int | None:
        """Return the number of a large list, ~d for the procedure that one describes."""
        if type(datum) is Procedure:
            form = self.nodes.get(id(datum.form))
            return None if form is None else ~form
        return self.nodes.get(id(datum))

    def _take_objects(self) -> None:
        """Let objects that wait next wait with Python."""
        t, n, waiting = self.tables, int(self.count[tables.STACK]), []
        while n and t.stack_datum[n - 1] <= tables.OBJECT:
            n -= 1
            datum, scope = self.objects[tables.OBJECT - int(t.stack_datum[n])]
            waiting.append((datum, scope, int(t.stack_slot[n])))
        self.count[tables.STACK] = n
        self.expander.stack.extend(reversed(waiting))

    def _hand_over(self) -> None:
        """Let all that waits with Python wait with compiled loops, in the same order."""
        waiting = self.expander.stack
        self._grow(len(waiting))
        for datum, scope, slot in waiting:
            n = int(self.count[tables.STACK])
            node = self._node(datum) if scope.top is self.top else None
            if node is None:
                node = tables.OBJECT - len(self.objects)
                self.objects.append((datum, scope))
                frame = 0
            else:
                frame = self._frame(scope)
                self.n_handed += 1
            t = self.tables
            t.stack_datum[n], t.stack_frame[n], t.stack_slot[n] = node, frame, slot
            self.count[tables.STACK] = n + 1
        waiting.clear()

    def _frame(self, scope: Scope) -> int:
        """Return a scope of Python's as a frame."""
        path = []
        while id(scope) not in self.frames:
            path.append(scope)
            assert scope.parent is not None, "the top level is known"
            scope = scope.parent
        frame = self.frames[id(scope)]
        for inner in reversed(path):
            names = [
                (self.text.token_of(name), b)
                for name, b in inner.names.items()
                if type(name) is str
            ]
            bound = [(token, _code(b)) for token, b in names if token != NONE]
            self._grow(1 + len(bound))
            t, new = self.tables, int(self.count[tables.FRAMES])
            first = int(self.count[tables.BINDINGS])
            t.frame_parent[new], t.frame_depth[new] = frame, t.frame_depth[frame] + 1
            t.frame_first[new], t.frame_n[new] = first, len(bound)
            for b, (token, code) in enumerate(bound, first):
                t.binding_token[b], t.binding_variable[b] = token, code
            self.count[tables.FRAMES] = new + 1
            self.count[tables.BINDINGS] = first + len(bound)
            self._know_frame(new, inner)
            frame = new
        return frame

    def _know_frame(self, frame: int, scope: Scope) -> None:
        self.scopes[frame], self.frames[id(scope)] = scope, frame

    def _give(self) -> None:
        """Tell compiled loops what Python did."""
        builder, count = self.builder, self.count
        count[tables.ROWS], count[tables.SLOTS] = builder.n_rows, builder.n_slots
        count[tables.VARIABLES] = count[tables.OLD_VARIABLES] = builder.n_variables
        count[tables.CONSTANTS] = count[tables.OLD_CONSTANTS] = len(builder.constants)
        count[tables.PRIMITIVES] = count[tables.OLD_PRIMITIVES] = len(builder.primitives)
        count[tables.TOPS] = 0
        count[tables.ROWS_ROOM] = builder.room["rows"]
        count[tables.SLOTS_ROOM] = builder.room["slots"]
        count[tables.VARIABLES_ROOM] = builder.room["variables"]
        self.tables = self.tables._replace(**builder.columns)
        if len(builder.primitives) > self.n_primitives:
            for name, number in islice(builder.primitives.items(), self.n_primitives, None):
                self.tables.primitive_number[self.primitives[name]] = number
        if self.top.changed:
            self._know(self.top.changed)
            self.top.changed.clear()

    def _know(self, names: Iterable[Any]) -> None:
        """Note what names mean at the top level."""
        known, imports = self.top.names, self.top.imports
        for name in names:
            if type(name) is not str or (token := self.text.token_of(name)) == NONE:
                continue
            binding = known.get(name) or imports.get(name)
            is_primitive = type(binding) is Primitive
            self.tables.top[token] = _code(binding)
            self.tables.primitive[token] = self.primitives[binding.name] if is_primitive else NONE  # type: ignore[union-attr]

    def _take(self) -> None:
        """Tell Python what compiled loops did."""
        builder, count, text = self.builder, self.count, self.text
        builder.n_rows, builder.n_slots = int(count[tables.ROWS]), int(count[tables.SLOTS])
        builder.top_slots += self.tables.tops[: count[tables.TOPS]].tolist()
        old, new = int(count[tables.OLD_VARIABLES]), int(count[tables.VARIABLES])
        named = self.tables.named[: new - old]
        builder.n_variables = new
        builder.names += map(text.names.__getitem__, named.tolist())
        for i in np.flatnonzero(self.tables.top[named] == np.arange(old, new)).tolist():
            self.top.names[sys.intern(text.names[named[i]])] = Variable(old + i)
        n_constants = int(count[tables.CONSTANTS] - count[tables.OLD_CONSTANTS])
        builder.constants += map(self._constant, self.tables.constants[:n_constants].tolist())
        n_primitives = int(count[tables.PRIMITIVES] - count[tables.OLD_PRIMITIVES])
        names = list(self.primitives) if n_primitives else []
        for which in self.tables.primitives[:n_primitives].tolist():
            builder.primitive_number(names[which])
        self.n_primitives = len(builder.primitives)

    def _constant(self, code: int) -> Any:
        """Return the value of a new constant."""
        if code < 0:
            return _VALUES[code]
        if code & 1:
            try:
                return value_of(self.text.datum(code >> 1), self.expander.sources)
            except SourceError as error:
                return self.expander.fail(error)
        return literal_value(self.text.atoms[code >> 1][1])

    def _scope(self, frame: int) -> Scope:
        """Return a frame as a scope of Python's."""
        t, path = self.tables, []
        while frame not in self.scopes:
            path.append(frame)
            frame = int(t.frame_parent[frame])
        scope = self.scopes[frame]
        for inner in reversed(path):
            first = int(t.frame_first[inner])
            bound = range(first, first + int(t.frame_n[inner]))
            scope = Scope(
                scope,
                {
                    sys.intern(self.text.names[t.binding_token[b]]): Variable(
                        int(t.binding_variable[b])
                    )
                    for b in bound
                },
            )
            self._know_frame(inner, scope)
        return scope

    def _grow(self, n: int) -> None:
        """Make room for n more of everything."""
        builder, t = self.builder, self.tables
        builder.make_room("rows", builder.n_rows + n)
        builder.make_room("slots", builder.n_slots + n)
        builder.make_room("variables", builder.n_variables + n)
        lengths: dict[int, tuple[Any, int]] = {
            tables.STACK_ROOM: ("stack_", int(self.count[tables.STACK])),
            tables.FRAMES_ROOM: ("frame_", int(self.count[tables.FRAMES])),
            tables.BINDINGS_ROOM: ("binding_", int(self.count[tables.BINDINGS])),
            tables.NEW_ROOM: (("constants", "named", "tops", "flat", "pending"), 0),
        }
        for room, (prefix, n_used) in lengths.items():
            if n_used + n > self.count[room]:
                self.count[room] = size = max(n_used + n, 2 * int(self.count[room]))
                names = [name for name in t._fields if name.startswith(prefix)]
                larger: dict[str, Any] = {name: _enlarged(getattr(t, name), size) for name in names}
                self.tables = self.tables._replace(**larger)


def _enlarged(array: I32, n: int) -> I32:
    """Return an array with room for n entries."""
    larger = np.empty(n, np.int32)
    larger[: len(array)] = array
    return larger


def _code(binding: Binding | None) -> int:
    """Return what a binding is to compiled loops."""
    if binding is None or type(binding) is Primitive:
        return UNKNOWN
    if type(binding) is Variable:
        return binding.number
    if type(binding) is not Special:
        return MACRO
    return _CODES.get(binding.name, OTHER if binding.splice is None else MACRO)
