"""What a function uses besides its arguments' own values: global variables, and fields of records.

    static const short window[160];                 f(state_gain, state_memory, x, window)
    void f(struct state *state, float *x) {
      ... state->gain * window[i] ... state->memory[i] ...

Each becomes a parameter of what is generated; a call names the record and the variable. Fields and
variables that are no arrays are passed by their values, so the function must not assign to them.
Storage is apart as it is in a call from Python, where no array overlaps the numbers of a record;
arrays of records and of globals may overlap others as parameters may, which each call checks.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from kleene.codegen.plan import Field, Given
from kleene.codegen.text import free_name, symbols_in
from kleene.codegen.trees import mapped
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Function, Location, Member, Symbol, Type, Variable

Path = tuple[Field, ...]
Parameter = tuple[Path, Symbol, int | None]  # and the elements of an array inside of a record


def with_parameters(function: Function) -> tuple[Function, tuple[Given, ...]]:
    """Return a function with parameters for all that it uses, and what a call of it is given."""
    return _Outer(function).function()


class _Outer:
    """The fields and global variables of one function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._taken = {one.name for one in symbols_in(function.body)}
        self._taken |= {one.name for one in function.parameters}
        self._made: dict[tuple[Symbol, tuple[str, ...]], Parameter] = {}
        self._assigned: set[tuple[Symbol, tuple[str, ...]]] = set()
        self._kept: set[Symbol] = set()  # static variables of the function: from call to call
        for one in tree.walk(function.body):
            if isinstance(one, tree.Declare) and not one.symbol.initial:
                self._kept.add(one.symbol)
            target = one.target if isinstance(one, tree.Assign) else None
            if isinstance(target, Variable):
                self._assigned.add((target.symbol, ()))
            elif (found := None if target is None else _path(target)) is not None:
                self._assigned.add((found[0], _names(found[1])))

    def function(self) -> tuple[Function, tuple[Given, ...]]:
        """Return the function, and its arguments."""
        body = self._rewritten(self._function.body)
        own = [Given(one.name, one) for one in self._function.parameters]
        if not self._made:
            is_same = body == self._function.body
            changed = self._function if is_same else replace(self._function, body=body)
            return changed, tuple(own)
        records: dict[Symbol, list[Parameter]] = {}
        for (root, _), parameter in self._made.items():
            records.setdefault(root, []).append(parameter)
        gone = {root for (root, _), (path, _, _) in self._made.items() if not path}
        body = tuple(mapped(body, lambda one: () if _declared(one) in gone else one))
        left = symbols_in(body)
        given: list[Given] = []
        for one in self._function.parameters:
            found = records.pop(one, None)
            if found is None or one in left:  # a record that is used as a whole, too, is refused
                given.append(Given(one.name, one))
            else:
                given.append(Given(one.name, None, tuple(found)))
        for root in sorted(records, key=lambda one: one.name):
            found = records[root]
            if found[0][0]:
                given.append(Given(root.name, None, tuple(found), is_global=True))
            else:
                ((_, symbol, n_elements),) = found
                given.append(Given(root.name, symbol, (), True, root.initial, n_elements))
        parameters = tuple(symbol for one in given for symbol in one.parameters)
        return replace(self._function, parameters=parameters, body=body), tuple(given)

    def _rewritten(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._rewritten(one) for one in node)
        match node:
            case tree.Read(location=Variable(symbol=Symbol(initial=(value,)))):
                return tree.Literal(node.type, node.place, value)
            case tree.Read(location=location):
                symbol = self._parameter(location, location.type)
                if symbol is not None:
                    return tree.Read(node.type, node.place, Variable(node.type, node.place, symbol))
            case tree.Decay(location=location) if location.type.target is not None:
                target = location.type.target
                kind = Type("pointer", f"{target.name} *", 64, target=target)
                symbol = self._parameter(location, kind)
                if symbol is not None:
                    return tree.Read(kind, node.place, Variable(kind, node.place, symbol))
        if not isinstance(node, tree.Expression | tree.Location | tree.Statement):
            return node
        changed = {}
        for one in fields(node):
            if one.name not in ("type", "place"):
                old = getattr(node, one.name)
                new = self._rewritten(old)
                if new is not old and new != old:
                    changed[one.name] = new
        return replace(node, **changed) if changed else node

    def _parameter(self, location: Location, kind: Type) -> Symbol | None:
        """Return the parameter that stands for a field or a global variable, if it can."""
        found = _path(location)
        if found is None or kind.volatile or found[0] in self._kept:
            return None
        root, path = found
        key = (root, _names(path))
        if kind.kind not in ("int", "float", "pointer") or self._is_assigned(*key):
            return None
        if kind.kind == "pointer" and not _is_of_numbers(kind):
            return None
        if key not in self._made:
            name = free_name("_".join([root.name, *key[1]]), self._taken) if path else root.name
            self._taken.add(name)
            symbol = Symbol(name, kind, root.place, "parameter")
            self._made[key] = (path, symbol, _n_elements(location.type))
        return self._made[key][1]

    def _is_assigned(self, root: Symbol, names: tuple[str, ...]) -> bool:
        """Return whether a field, or a record that it is in, is assigned to."""
        return any((root, names[:n]) in self._assigned for n in range(len(names) + 1))


def _n_elements(kind: Type) -> int | None:
    """Return how many numbers an array has that is no pointer."""
    n, inner = 1, kind
    while inner.kind == "array" and isinstance(inner.extent, int) and inner.target is not None:
        n, inner = n * inner.extent, inner.target
    return n if kind.kind == "array" and inner.kind in ("int", "float") else None


def _declared(node: object) -> Symbol | None:
    return node.symbol if isinstance(node, tree.Declare) else None


def _is_of_numbers(kind: Type) -> bool:
    target = kind.target
    while target is not None and target.kind == "array":
        target = target.target
    return target is not None and target.kind in ("int", "float")


def _names(path: Path) -> tuple[str, ...]:
    return tuple(one.name for one in path)


def _path(location: Location) -> tuple[Symbol, Path] | None:
    """Return `p->a.b->c` as p and its fields; of a global variable the path may be empty."""
    path: list[Field] = []
    here: Location = location
    while isinstance(here, Member):
        if here.in_union:
            return None
        record = here.record
        is_behind = isinstance(record, Element)
        path.append(Field(here.name, here.offset, is_behind))
        if isinstance(record, Element):
            if not isinstance(record.index, tree.Literal) or record.index.value != 0:
                return None
            pointer = record.pointer
            while isinstance(pointer, tree.Convert) and pointer.type == pointer.operand.type:
                pointer = pointer.operand
            if not isinstance(pointer, tree.Read):
                return None
            record = pointer.location
        here = record
    if not isinstance(here, Variable):
        return None
    root, found = here.symbol, tuple(reversed(path))
    if root.storage == "parameter" and found and found[0].is_behind and not root.is_exposed:
        return root, found
    if root.storage in ("global", "static") and not (found and found[0].is_behind):
        return root, found
    return None
