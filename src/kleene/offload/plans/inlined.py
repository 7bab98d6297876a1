"""Calls of a program's own functions, replaced by what these do.

A function that assigns to nothing but its own variables, and has no loop, is one expression:

    static float clipped(float x) { if (x > 1) return 1; return x; }        x > 1 ? 1 : x

Others become statements before the one with the call, if the call is a statement or all that is
assigned, and their variables get names of their own. Parameters that the function does not assign
to are replaced by what is passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from kleene.base.errors import Span
from kleene.codegen.text import MATH, assigned_in, free_name, symbols_in
from kleene.codegen.trees import mapped, substituted
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Function, Statement, Symbol, Variable
from kleene.offload.plans.single_exit import with_single_exit

_MAX_DEPTH = 8  # calls inside of each other
_MAX_NODES = 400  # of an expression
_MAX_STATEMENTS = 4000  # nodes of all that is inserted
_FAR = 1 << 20  # a column beyond all text: what is inserted has places of its own
Functions = Mapping[str, Function]


def with_calls_inlined(function: Function, functions: Functions) -> Function:
    """Return a function without calls of those of `functions` that can be inlined."""
    called = {one.function for one in tree.walk(function.body) if isinstance(one, tree.Call)}
    if not any(name in functions and name not in MATH for name in called):
        return function
    return _Calls(function, functions).function()


class _NotInlinedError(Exception):
    """A call that stays."""


class _Calls:
    """The calls of one function."""

    def __init__(self, function: Function, functions: Functions) -> None:
        self._function, self._functions = function, functions
        self._stack = [function.name]
        self._taken = {one.name for one in symbols_in(function.body)}
        self._taken |= {one.name for one in function.parameters}
        self._n_inserted = 0
        self._n_copies = 0

    def function(self) -> Function:
        """Return the function with its calls inlined."""
        return replace(self._function, body=self._block(self._function.body))

    def _block(self, block: Block) -> Block:
        return tuple(made for one in block for made in self._statement(one))

    def _statement(self, node: Statement) -> Block:
        before: list[Statement] = []
        match node:
            case tree.If():
                condition = self._expression(node.condition, before)
                then, otherwise = self._block(node.then), self._block(node.otherwise)
                return (*before, replace(node, condition=condition, then=then, otherwise=otherwise))
            case tree.Loop():
                return (
                    replace(
                        node,
                        init=self._block(node.init),
                        before=self._block(node.before),
                        test=None if node.test is None else self._expression(node.test, None),
                        after=self._block(node.after),
                        step=self._block(node.step),
                        body=self._block(node.body),
                    ),
                )
            case tree.Evaluate(value=tree.Call() as call):
                try:
                    made, _ = self._inserted(call, is_whole=True)
                    return made
                except _NotInlinedError:
                    return (node,)
            case tree.Assign(target=target, value=value):
                whole, around = _whole_call(value)
                if whole is not None and self._one_expression(whole) is None:
                    try:
                        made, result = self._inserted(whole, is_whole=True)
                    except _NotInlinedError:
                        return (node,)
                    if result is None:
                        return (node,)
                    for kind, place in reversed(around):
                        result = tree.Convert(kind, place, result)
                    return (*made, replace(node, value=result))
                changed = self._expression(value, before)
                at = self._expression(target, before)
                return (*before, replace(node, target=at, value=changed))
            case tree.Evaluate(value=value) | tree.Return(value=value) if value is not None:
                changed = self._expression(value, before)
                return (*before, replace(node, value=changed))
        return (node,)

    def _expression(self, node: Any, before: list[Statement] | None) -> Any:
        """Return an expression without calls; statements that it needs are added to `before`.

        Without `before`, what is evaluated under a condition or again and again, calls that are no
        expressions stay.
        """
        if isinstance(node, tuple):
            return tuple(self._expression(one, before) for one in node)
        if not isinstance(node, tree.Expression | tree.Location):
            return node
        lazy = isinstance(node, tree.Choose) or (
            isinstance(node, tree.Binary) and node.operator in ("&&", "||")
        )
        changed = {}
        for number, one in enumerate(f for f in fields(node) if f.name not in ("type", "place")):
            old = getattr(node, one.name)
            is_lazy = lazy and one.name in ("then", "otherwise", "right") and number > 0
            new = self._expression(old, None if is_lazy else before)
            if new is not old and new != old:
                changed[one.name] = new
        made = replace(node, **changed) if changed else node
        if not isinstance(made, tree.Call):
            return made
        found = self._one_expression(made)
        if found is not None:
            return found
        if before is None:
            return made
        try:
            statements, result = self._inserted(made, is_whole=False)
        except _NotInlinedError:
            return made
        if result is None:
            return made
        before += statements
        return result

    def _callee(self, call: tree.Call) -> Function | None:
        callee = self._functions.get(call.function)
        if callee is None or call.function in self._stack or len(self._stack) > _MAX_DEPTH:
            return None
        if call.function in MATH or len(callee.parameters) != len(call.arguments):
            return None
        for taken, given in zip(callee.parameters, call.arguments, strict=True):
            if (taken.type.kind, taken.type.bits) != (given.type.kind, given.type.bits):
                return None
        return with_single_exit(callee)

    # A call that is an expression

    def _one_expression(self, call: tree.Call) -> Expression | None:
        callee = self._callee(call)
        if callee is None or self._functions[call.function].result.kind == "void":
            return None
        parameters = zip(callee.parameters, call.arguments, strict=True)
        self._stack.append(call.function)
        try:
            held = dict(parameters)
            _, value = self._run(self._functions[call.function].body, held)
            if value is None or sum(1 for _ in tree.walk(value)) > _MAX_NODES:
                return None
            found: Expression = self._expression(simplified(value), None)
            return found if _is_known(found) else None
        except _NotInlinedError:
            return None
        finally:
            self._stack.pop()

    def _run(
        self, block: Block, held: dict[Symbol, Expression]
    ) -> tuple[dict[Symbol, Expression], Expression | None]:
        """Return what variables hold after statements, and what is returned, if anything is."""
        for position, one in enumerate(block):
            match one:
                case tree.Declare(symbol=symbol) if symbol.type.kind in ("int", "float", "pointer"):
                    if symbol.storage != "local":
                        raise _NotInlinedError
                case tree.Assign(target=Variable(symbol=symbol), value=value):
                    if symbol.storage not in ("local", "parameter") or symbol.is_exposed:
                        raise _NotInlinedError
                    held = {**held, symbol: _replaced(value, held)}
                    if sum(1 for _ in tree.walk(held[symbol])) > _MAX_NODES:
                        raise _NotInlinedError
                case tree.Return(value=value):
                    if value is None:
                        raise _NotInlinedError
                    return held, _replaced(value, held)
                case tree.If(condition=condition, then=then, otherwise=otherwise):
                    test = _replaced(condition, held)
                    first, first_value = self._run(then, held)
                    second, second_value = self._run(otherwise, held)
                    rest = block[position + 1 :]
                    if first_value is None and second_value is None:
                        held = _merged(test, first, second, held)
                        continue
                    if first_value is None:
                        _, first_value = self._run(rest, first)
                    if second_value is None:
                        _, second_value = self._run(rest, second)
                    if first_value is None or second_value is None:
                        raise _NotInlinedError
                    return held, _chosen(test, first_value, second_value)
                case tree.Evaluate(value=tree.Call(effect="asserts")):
                    continue
                case _:
                    raise _NotInlinedError
        return held, None

    # A call that becomes statements

    def _inserted(self, call: tree.Call, *, is_whole: bool) -> tuple[Block, Expression | None]:
        """Return what a call does, and the value that it has after that."""
        callee = self._callee(call)
        if callee is None:
            raise _NotInlinedError
        body, last_one = callee.body, callee.body[-1:]
        returned: Expression | None = None
        if last_one and isinstance(last_one[0], tree.Return):
            body, returned = body[:-1], last_one[0].value
        if not _can_insert(body, callee):
            raise _NotInlinedError
        writes = any(
            isinstance(one, tree.Assign) and not isinstance(one.target, Variable)
            for one in tree.walk(body)
        )
        if writes and not is_whole:
            raise _NotInlinedError  # what else is in the expression may be read before or after
        self._n_inserted += sum(1 for _ in tree.walk(body))
        if self._n_inserted > _MAX_STATEMENTS:
            raise _NotInlinedError
        head: list[Statement] = []
        values: dict[Symbol, Expression] = {}
        names: dict[Symbol, Symbol] = {}
        changed = assigned_in(body)
        for taken, given in zip(callee.parameters, call.arguments, strict=True):
            is_simple = taken.type.kind == "pointer" or isinstance(given, tree.Literal)
            if taken not in changed and not taken.is_exposed and is_simple and _is_stable(given):
                values[taken] = given
                continue
            new = names[taken] = self._fresh(taken)
            target = Variable(new.type, call.place, new)
            head += [tree.Declare(call.place, new), tree.Assign(call.place, target, given)]
        for one in tree.walk(body):
            if isinstance(one, tree.Declare):
                names[one.symbol] = self._fresh(one.symbol)
        self._n_copies += 1
        copy = _copied(
            (*body, *(() if returned is None else (tree.Evaluate(call.place, returned),))),
            names,
            values,
            self._n_copies,
        )
        statements = tuple(mapped(copy, _simplify))
        self._stack.append(call.function)
        try:
            result: Expression | None = None
            if returned is not None:
                last = statements[-1]
                assert isinstance(last, tree.Evaluate)
                result, statements = last.value, statements[:-1]
                if not isinstance(result, tree.Literal):
                    kept = self._fresh(Symbol(f"{call.function}_value", call.type, call.place))
                    target = Variable(kept.type, call.place, kept)
                    tail = tree.Declare(call.place, kept), tree.Assign(call.place, target, result)
                    statements = (*statements, *tail)
                    result = tree.Read(kept.type, call.place, target)
            return self._block((*head, *statements)), result
        finally:
            self._stack.pop()

    def _fresh(self, symbol: Symbol) -> Symbol:
        name = free_name(symbol.name, self._taken)
        self._taken.add(name)
        return replace(symbol, name=name, storage="local")


def _whole_call(
    value: Expression,
) -> tuple[tree.Call | None, list[tuple[tree.Type, Span]]]:
    """Return the call that a value is, and the conversions around it, the outermost first."""
    around: list[tuple[tree.Type, Span]] = []
    while isinstance(value, tree.Convert):
        around.append((value.type, value.place))
        value = value.operand
    return (value, around) if isinstance(value, tree.Call) else (None, [])


def _can_insert(body: Block, callee: Function) -> bool:
    refused = (tree.Return, tree.Refuse, tree.Label, tree.Irregular)
    for one in tree.walk(body):
        if isinstance(one, refused):
            return False
        if isinstance(one, tree.Declare):
            kind = one.symbol.type
            if one.symbol.storage != "local" or _has_sizes(kind):
                return False
    return not any(_has_sizes(one.type) for one in callee.parameters)


def _has_sizes(kind: tree.Type | None) -> bool:
    """Return whether an extent of a type is a variable."""
    while kind is not None:
        if isinstance(kind.extent, Expression):
            return True
        kind = kind.target
    return False


def _is_stable(value: Expression) -> bool:
    """Return whether a value stays the same while arrays are written."""
    reads = (one.location for one in tree.walk(value) if isinstance(one, tree.Read))
    return all(isinstance(one, Variable) and not one.symbol.is_exposed for one in reads)


def _is_known(value: Expression) -> bool:
    return not any(isinstance(one, tree.Unknown) for one in tree.walk(value))


def _replaced(value: Expression, held: dict[Symbol, Expression]) -> Expression:
    for one in tree.walk(value):
        if isinstance(one, tree.AddressOf | tree.Decay | tree.Unknown):
            raise _NotInlinedError
        if not isinstance(one, Variable) or one.symbol in held:
            continue
        if one.symbol.storage in ("local", "parameter"):
            raise _NotInlinedError  # a variable without a value
    made: Expression = substituted(value, held)
    return made


def _merged(
    test: Expression,
    first: dict[Symbol, Expression],
    second: dict[Symbol, Expression],
    before: dict[Symbol, Expression],
) -> dict[Symbol, Expression]:
    made = {}
    for symbol in {*first, *second}:
        then, otherwise = first.get(symbol), second.get(symbol)
        if then is not None and otherwise is not None:
            made[symbol] = then if then == otherwise else _chosen(test, then, otherwise)
    return {**{s: e for s, e in before.items() if s in made}, **made}


def _chosen(test: Expression, then: Expression, otherwise: Expression) -> Expression:
    return tree.Choose(then.type, then.place, test, then, otherwise)


def _copied(
    node: Any, names: dict[Symbol, Symbol], values: dict[Symbol, Expression], number: int
) -> Any:
    """Return a tree with other variables, and with places of its own.

    Places of what is passed stay: the caller's.
    """
    if isinstance(node, tuple):
        return tuple(_copied(one, names, values, number) for one in node)
    if not isinstance(node, tree.Expression | tree.Location | tree.Statement):
        return node
    if isinstance(node, tree.Read) and isinstance(node.location, Variable):
        given = values.get(node.location.symbol)
        if given is not None:
            return given
    place = node.place
    changed: dict[str, Any] = {}
    if place.line:
        changed["place"] = replace(place, column=place.column + number * _FAR)
    for one in fields(node):
        if one.name in ("type", "place"):
            continue
        old = getattr(node, one.name)
        if isinstance(old, Symbol):
            changed[one.name] = names.get(old, old)
            continue
        new = _copied(old, names, values, number)
        if new is not old:
            changed[one.name] = new
    return replace(node, **changed)


def simplified(value: Expression) -> Expression:
    """Return an expression without pointers that are dereferenced where they are made."""
    made: Expression = mapped(value, _simplify)
    return made


def _simplify(node: Any) -> Any:
    """Return x for `*&x`, and `a[i + j]` for `(&a[i])[j]`, that of `*(a + i)`, too."""
    if isinstance(node, Element) and isinstance(node.pointer, tree.AddressOf):
        is_first = isinstance(node.index, tree.Literal) and node.index.value == 0
        if is_first and node.pointer.location.type == node.type:
            return node.pointer.location
    return node
