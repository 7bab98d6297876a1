"""What a function uses besides its arguments' own values: global variables, and fields of records.

    static const short window[160];                 f(state_gain, state_memory, x, window)
    void f(struct state *state, float *x) {
      ... state->gain * window[i] ... state->memory[i] ...

Each becomes a parameter of what is generated; a call names the record and the variable. Fields and
variables that are no arrays are passed by their values; what the function leaves in a field is put
into the record after the call, but global variables must not be assigned to. A parameter `int *n`
of which `*n` is read alone is passed by its value, too.

Storage is apart as it is in a call from Python, where no array overlaps the numbers of a record;
arrays of records and of globals may overlap others as parameters may, which each call checks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.codegen.plan import Field, FieldParameter, Given
from kleene.codegen.text import free_name, symbols_in
from kleene.codegen.trees import mapped, substituted, with_parts
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Function, Location, Member, Symbol, Type, Variable

Path = tuple[Field, ...]
_INT = Type("int", "int", 32)


def with_parameters(function: Function) -> tuple[Function, tuple[Given, ...]]:
    """Return a function with parameters for all that it uses, and what a call of it is given."""
    return _Outer(_with_records_named(function)).function()


def _with_records_named(function: Function) -> Function:
    """Return a function without pointers to records that others name.

    `const struct filter *f = &state->own; ... f->gain` is `state->own.gain`, if neither f nor state
    is assigned again.
    """
    values: dict[Symbol, list[tree.Expression]] = {}
    for one in tree.walk(function.body):
        if isinstance(one, tree.Assign) and isinstance(one.target, Variable):
            values.setdefault(one.target.symbol, []).append(one.value)
    targets = (one.target for one in tree.walk(function.body) if isinstance(one, tree.Assign))
    written = {one.name for one in targets if isinstance(one, Member)}
    found: dict[Symbol, tree.Expression] = {}
    for symbol, ones in values.items():
        target = symbol.type.target
        is_one = len(ones) == 1 and symbol.storage == "local" and not symbol.is_exposed
        if not is_one or target is None or target.kind != "record":
            continue
        value = ones[0]
        while isinstance(value, tree.Convert) and _is_same_record(value):
            if _is_untyped(value, values):
                found[symbol] = value
            value = value.operand
        location = value.location if isinstance(value, tree.AddressOf | tree.Read) else None
        path = None if location is None else _path(location)
        if path is None or path[0] in values or not path[1]:
            continue
        if path[1][-1].name not in written:
            found[symbol] = value
    if not found:
        return function
    body = function.body
    for _ in found:  # one may name another
        body = substituted(body, found)
    body = mapped(body, lambda node: () if _target(node) in found else _direct(node))
    body = mapped(body, lambda node: () if _declared(node) in found else node)
    return replace(function, body=body)


def _target(node: object) -> Symbol | None:
    is_assigned = isinstance(node, tree.Assign) and isinstance(node.target, Variable)
    return node.target.symbol if is_assigned else None  # type: ignore[attr-defined]


def _is_untyped(value: tree.Convert, values: dict[Symbol, list[tree.Expression]]) -> bool:
    """Return whether a value is a parameter `void *` that gets a type."""
    symbol, target = _named(value.operand), value.operand.type.target
    is_void = target is not None and target.kind == "void"
    return is_void and symbol is not None and symbol.storage == "parameter" and symbol not in values


def _direct(node: Any) -> Any:
    """Return x for `*&x`."""
    if isinstance(node, Element) and isinstance(node.pointer, tree.AddressOf):
        is_first = isinstance(node.index, tree.Literal) and node.index.value == 0
        return node.pointer.location if is_first else node
    return node


class _Outer:
    """The fields and global variables of one function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._taken = {one.name for one in symbols_in(function.body)}
        self._taken |= {one.name for one in function.parameters}
        self._made: dict[tuple[Symbol, tuple[str, ...]], FieldParameter] = {}
        self._left: dict[
            tuple[Symbol, tuple[str, ...]], tuple[FieldParameter, Symbol, FieldParameter]
        ] = {}
        self._paths, self._elsewhere = _paths_in(function.body)
        self._kinds: dict[tuple[Symbol, tuple[str, ...]], str] = {}
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
        self._values = {
            one: Symbol(one.name, one.type.target, one.place, "parameter")
            for one in function.parameters
            if one.type.target is not None and _points_to_one(one, function.body)
        }

    def function(self) -> tuple[Function, tuple[Given, ...]]:
        """Return the function, and its arguments."""
        body = self._rewritten(self._function.body)
        if self._left:
            body = self._with_left(body)
        if not self._made and not self._values and not self._left:
            own = tuple(Given(one.name, one) for one in self._function.parameters)
            is_same = body == self._function.body
            return self._function if is_same else replace(self._function, body=body), own
        records: dict[Symbol, list[FieldParameter]] = {}
        for (root, _), parameter in self._made.items():
            records.setdefault(root, []).append(parameter)
        for (root, _), (begun, _, left) in self._left.items():
            records.setdefault(root, []).extend([begun, left])
        gone = {root for (root, _), one in self._made.items() if not one.path}
        body = tuple(mapped(body, lambda one: () if _declared(one) in gone else one))
        named = symbols_in(body)
        given: list[Given] = []
        for one in self._function.parameters:
            found = records.pop(one, None)
            if one in self._values:
                given.append(Given(one.name, self._values[one], is_behind_pointer=True))
            elif found is None or one in named:  # a record that is used as a whole, too, is refused
                given.append(Given(one.name, one))
            else:
                given.append(Given(one.name, None, tuple(found)))
        for root in sorted(records, key=lambda one: one.name):
            found = records[root]
            if found[0].path:
                given.append(Given(root.name, None, tuple(found), is_global=True))
            else:
                (only,) = found
                one_given = Given(root.name, only.symbol, (), True, root.initial, only.n_elements)
                given.append(one_given)
        parameters = tuple(symbol for one in given for symbol in one.parameters)
        return replace(self._function, parameters=parameters, body=body), tuple(given)

    def _rewritten(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._rewritten(one) for one in node)
        match node:
            case Member() if (symbol := self._left_in(node)) is not None:
                return Variable(node.type, node.place, symbol)
            case tree.Read(location=Variable(symbol=Symbol(initial=(value,)))):
                return tree.Literal(node.type, node.place, value)
            case tree.Read(location=Element(pointer=pointer)):
                symbol = self._value_of(pointer)
                if symbol is not None:
                    return tree.Read(node.type, node.place, Variable(node.type, node.place, symbol))
            case tree.Read(location=Member() as member) if self._left_in(member) is not None:
                pass  # the variable that it is till the end of the call
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
        return with_parts(node, self._rewritten)

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
        record = _record_type(location)
        if self._kinds.setdefault((root, key[1][:-1]), record) != record:
            return None  # storage that is taken for records of two types
        if key not in self._made:
            name = free_name("_".join([root.name, *key[1]]), self._taken) if path else root.name
            self._taken.add(name)
            symbol = Symbol(name, kind, root.place, "parameter")
            self._made[key] = FieldParameter(path, symbol, _n_elements(location.type))
        return self._made[key].symbol

    def _value_of(self, pointer: tree.Expression) -> Symbol | None:
        """Return the parameter that is the integer behind a pointer."""
        symbol = _named(pointer)
        return None if symbol is None else self._values.get(symbol)

    def _left_in(self, location: Member) -> Symbol | None:
        """Return the variable that holds a number of a record until the function ends.

            s->n += k;                  now = s_n; ... now += k; ... s_n_left[0] = now;

        No other path of the function may lead to such a field: it could be the same record.
        """
        found = _path(location)
        kind = location.type
        if found is None or kind.kind not in ("int", "float") or kind.volatile:
            return None
        root, path = found
        key = (root, _names(path))
        if key not in self._assigned or root.storage != "parameter":
            return None
        if any((root, key[1][:n]) in self._assigned for n in range(len(key[1]))):
            return None
        same = (_record_type(location), location.name)
        if len(self._paths.get(same, ())) > 1 or _record_type(location) in self._elsewhere:
            return None
        if key not in self._left:
            name = "_".join([root.name, *key[1]])
            given, now, left = (
                free_name(each, self._taken) for each in (name, f"{name}_now", f"{name}_left")
            )
            self._taken |= {given, now, left}
            array = Type("pointer", f"{kind.name} *", 64, target=kind)
            self._left[key] = (
                FieldParameter(path, Symbol(given, kind, root.place, "parameter")),
                Symbol(now, kind, root.place),
                FieldParameter(path, Symbol(left, array, root.place, "parameter"), 1, True),
            )
        return self._left[key][1]

    def _with_left(self, body: tree.Block) -> tree.Block:
        """Return a body that begins with what fields held, and ends with what is left in them."""
        head: list[tree.Statement] = []
        tail: list[tree.Statement] = []
        place = self._function.place
        for given, now, left in self._left.values():
            own, kind = Variable(now.type, place, now), now.type
            value = tree.Read(kind, place, Variable(kind, place, given.symbol))
            head += [tree.Declare(place, now), tree.Assign(place, own, value)]
            whole = left.symbol.type
            pointer = tree.Read(whole, place, Variable(whole, place, left.symbol))
            zero = tree.Literal(_INT, place, 0)
            target = Element(kind, place, pointer, zero)
            tail.append(tree.Assign(place, target, tree.Read(kind, place, own)))
        last = body[-1:] if body and isinstance(body[-1], tree.Return) else ()
        return (*head, *(body[:-1] if last else body), *tail, *last)

    def _is_assigned(self, root: Symbol, names: tuple[str, ...]) -> bool:
        """Return whether a field, or a record that it is in, is assigned to."""
        return any((root, names[:n]) in self._assigned for n in range(len(names) + 1))


def _paths_in(
    body: tree.Block,
) -> tuple[dict[tuple[str, str], set[tuple[Symbol, tuple[str, ...]]]], set[str]]:
    """Return the paths to each field of each type of records, and the types reached otherwise."""
    paths: dict[tuple[str, str], set[tuple[Symbol, tuple[str, ...]]]] = {}
    elsewhere: set[str] = set()
    for one in tree.walk(body):
        if not isinstance(one, Member):
            continue
        found = _path(one)
        if found is None:
            elsewhere.add(one.record.type.name)
        else:
            key = (one.record.type.name, one.name)
            paths.setdefault(key, set()).add((found[0], _names(found[1])))
    return paths, elsewhere


def _points_to_one(symbol: Symbol, body: tree.Block) -> bool:
    """Return whether a parameter is a pointer to an integer that is read, and nothing else."""
    kind = symbol.type
    if kind.kind != "pointer" or kind.target is None or kind.target.kind != "int":
        return False
    if symbol.is_exposed or kind.target.volatile:
        return False
    n_named = n_read = 0
    for one in tree.walk(body):
        n_named += isinstance(one, Variable) and one.symbol is symbol
        location = one.location if isinstance(one, tree.Read) else None
        if isinstance(location, Element) and _named(location.pointer) is symbol:
            index = location.index
            n_read += isinstance(index, tree.Literal) and index.value == 0
    return 0 < n_read == n_named


def _named(pointer: tree.Expression) -> Symbol | None:
    """Return the variable that a pointer is."""
    if isinstance(pointer, tree.Read) and isinstance(pointer.location, Variable):
        return pointer.location.symbol
    return None


def _n_elements(kind: Type) -> int | None:
    """Return how many numbers an array has that is no pointer."""
    n, inner = 1, kind
    while inner.kind == "array" and isinstance(inner.extent, int) and inner.target is not None:
        n, inner = n * inner.extent, inner.target
    return n if kind.kind == "array" and inner.kind in ("int", "float") else None


def _record_type(location: Location) -> str:
    return location.record.type.name if isinstance(location, Member) else ""


def _declared(node: object) -> Symbol | None:
    return node.symbol if isinstance(node, tree.Declare) else None


def _is_of_numbers(kind: Type) -> bool:
    target = kind.target
    while target is not None and target.kind == "array":
        target = target.target
    return target is not None and target.kind in ("int", "float")


def _names(path: Path) -> tuple[str, ...]:
    return tuple(one.name for one in path)


def _is_same_record(pointer: tree.Convert) -> bool:
    """Return whether a conversion of a pointer changes no type, or gives one to `void *`."""
    old, new = pointer.operand.type.target, pointer.type.target
    if old is None or new is None:
        return False
    return old.kind == "void" or (old.kind, old.name) == (new.kind, new.name)


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
            while isinstance(pointer, tree.Convert) and _is_same_record(pointer):
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
