"""Calls of the C library that are loops, and expressions whose value is dropped.

    memset(a, 0, n * sizeof *a);                for (t = 0; t < n; t++) a[t] = 0;
    memcpy(a, b, n * sizeof *a);                for (t = 0; t < n; t++) a[t] = b[t];
    (void)x;

What `memcpy` copies does not overlap, or the program is undefined; `memmove` stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.codegen.text import free_name, symbols_in
from kleene.codegen.trees import binary, mapped, number, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Function, Symbol, Type, Variable

_LONG = Type("int", "long", 64)


def with_library_loops(function: Function) -> Function:
    """Return a function with loops for `memset` and `memcpy` of numbers."""
    evaluated = [one for one in tree.walk(function.body) if isinstance(one, tree.Evaluate)]
    if not evaluated:
        return function
    taken = {one.name for one in symbols_in(function.body) | set(function.parameters)}

    def change(node: Any) -> Any:
        if not isinstance(node, tree.Evaluate):
            return node
        if not any(isinstance(one, tree.Call | tree.Unknown) for one in tree.walk(node.value)):
            return ()
        call = node.value
        while isinstance(call, tree.Convert):
            call = call.operand
        if not isinstance(call, tree.Call) or call.function not in ("memset", "memcpy"):
            return node
        made = _loop(call, free_name("copied" if call.function == "memcpy" else "set", taken))
        if made is None:
            return node
        assert isinstance(made[0], tree.Declare)
        taken.add(made[0].symbol.name)
        return made

    body = mapped(function.body, change)
    return function if body == function.body else replace(function, body=body)


def _loop(call: tree.Call, name: str) -> Block | None:
    if len(call.arguments) != 3:
        return None
    target, source, size = _pointer(call.arguments[0]), call.arguments[1], call.arguments[2]
    element = target.type.target
    if element is None or element.kind not in ("int", "float") or element.n_bytes is None:
        return None
    count = _count(size, element.n_bytes)
    if count is None:
        return None
    place = call.place
    counter = Symbol(name, _LONG, place)
    at = read(counter)
    value: Expression
    if call.function == "memcpy":
        pointer = _pointer(source)
        other = pointer.type.target
        if other is None or (other.kind, other.bits) != (element.kind, element.bits):
            return None
        value = tree.Read(other, place, Element(other, place, pointer, at))
        if other.signed != element.signed:
            value = tree.Convert(element, place, value)
    elif element.n_bytes == 1 and element.kind == "int" and element.bits == 8:
        value = tree.Convert(element, place, source)
    elif isinstance(source, tree.Literal) and source.value == 0:
        value = tree.Literal(element, place, 0)
    else:
        return None
    own = Variable(_LONG, place, counter)
    loop = tree.Loop(
        place,
        "for",
        place.line,
        (tree.Assign(place, own, number(0, _LONG)),),
        (),
        binary("<", at, count),
        (),
        (tree.Assign(place, own, binary("+", at, number(1, _LONG))),),
        (tree.Assign(place, Element(element, place, target, at), value),),
    )
    return (tree.Declare(place, counter), loop)


def _pointer(value: Expression) -> Expression:
    """Return a pointer as it was before it became one to void."""
    while isinstance(value, tree.Convert):
        value = value.operand
    return value


def _count(size: Expression, n_bytes: int) -> Expression | None:
    """Return how many elements of a size make so many bytes."""
    while isinstance(size, tree.Convert) and size.type.kind == "int":
        if n_bytes == 1 or size.operand.type.kind != "int":
            break
        size = size.operand
    if isinstance(size, tree.Literal):
        whole = int(size.value)
        return None if whole % n_bytes else number(whole // n_bytes, _LONG)
    if isinstance(size, tree.Binary) and size.operator == "+" and _is_zero(size.right):
        return _count(size.left, n_bytes)
    if n_bytes == 1:
        return _long(size)
    if isinstance(size, tree.Binary) and size.operator == "*":
        for one, other in ((size.left, size.right), (size.right, size.left)):
            factor = _plain(other)
            if isinstance(factor, tree.Literal) and not int(factor.value) % n_bytes:
                times = int(factor.value) // n_bytes
                number_of = _long(one)
                if times == 1:
                    return number_of
                return tree.Binary(_LONG, size.place, "*", number_of, number(times, _LONG))
    return None


def _is_zero(value: Expression) -> bool:
    """Return whether a value is 0 times something, as some macros check types by."""
    value = _plain(value)
    if isinstance(value, tree.Binary) and value.operator == "*":
        return _is_zero(value.left) or _is_zero(value.right)
    return isinstance(value, tree.Literal) and value.value == 0


def _plain(value: Expression) -> Expression:
    while isinstance(value, tree.Convert) and value.type.kind == "int":
        value = value.operand
    return value


def _long(value: Expression) -> Expression:
    """Return a size with 64 bits and a sign: one that was below 0 before copies nothing."""
    value = _plain(value)
    return value if value.type == _LONG else tree.Convert(_LONG, value.place, value)
