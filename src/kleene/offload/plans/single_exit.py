"""Functions with one exit: what follows a return under a condition becomes the other branch.

    if (n <= 0) return -1;                      if (n <= 0) f_result = -1;
    for (...) a[i] = 0;                         else { for (...) a[i] = 0;  f_result = 0; }
    return 0;                                   return f_result;

Where a condition may return or not, what follows hangs on a flag that every return sets:

    if (a) { b(); if (c) return; d(); }         left = 0; if (a) { b(); if (c) left = 1; else d(); }
    e();                                        if (!left) e();

Returns inside of loops stay: such a loop has no number of iterations that is known before it.
"""

from __future__ import annotations

from dataclasses import replace

from kleene.base.errors import Span
from kleene.codegen.text import free_name, symbols_in
from kleene.codegen.trees import number, read
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Expression, Function, Statement, Symbol, Variable

_INT = tree.Type("int", "int", 32)
_NEVER, _MAYBE, _ALWAYS = range(3)  # whether a block returns


def with_single_exit(function: Function) -> Function:
    """Return a function that returns at its end alone, if it has no return inside of a loop."""
    body = function.body
    early = [one for one in tree.walk(body[:-1]) if isinstance(one, tree.Return)]
    if body and not isinstance(body[-1], tree.Return):
        early += [one for one in tree.walk(body[-1]) if isinstance(one, tree.Return)]
    if not early or _is_in_loop(body):
        return function
    if any(isinstance(one, tree.Label | tree.Irregular) for one in tree.walk(body)):
        return function
    return _Exits(function).function()


def _is_in_loop(body: Block) -> bool:
    loops = (one for one in tree.walk(body) if isinstance(one, tree.Loop))
    return any(isinstance(one, tree.Return) for loop in loops for one in tree.walk(loop))


class _Exits:
    """One function on its way."""

    def __init__(self, function: Function) -> None:
        self._function = function
        returns = [one for one in tree.walk(function.body) if isinstance(one, tree.Return)]
        values = [one.value for one in returns if one.value is not None]
        self._constant: Expression | None = None
        if values and isinstance(values[0], tree.Literal | tree.Convert):
            is_constant = not any(isinstance(e, tree.Location) for e in tree.walk(values[0]))
            is_same = len(values) == len(returns) and all(one == values[0] for one in values)
            self._constant = values[0] if is_constant and is_same else None
        has_result = bool(values) and self._constant is None
        named = symbols_in(function.body) | set(function.parameters)
        self._taken = {one.name for one in named}
        self._result = self._symbol("result", function.result) if has_result else None
        self._flag = self._symbol("left", _INT)
        self._needs_flag = False

    def _symbol(self, name: str, kind: tree.Type) -> Symbol:
        own = free_name(f"{self._function.name}_{name}", self._taken)
        return Symbol(own, kind, self._function.place)

    def function(self) -> Function:
        """Return the function with one exit."""
        body, _ = self._block(self._function.body)  # finds out whether the flag is needed
        if self._needs_flag:
            body, _ = self._block(self._function.body)
        place = self._function.place
        head: list[Statement] = []
        if self._result is not None:
            head.append(tree.Declare(place, self._result))
        if self._needs_flag:
            head += [tree.Declare(place, self._flag), self._set_flag(place, 0)]
        returned = self._constant if self._result is None else read(self._result)
        return replace(
            self._function, body=(*head, *body, tree.Return(self._function.place, returned))
        )

    def _set_flag(self, place: Span, value: int) -> Statement:
        target = Variable(self._flag.type, place, self._flag)
        return tree.Assign(place, target, number(value, self._flag.type))

    def _return(self, node: tree.Return) -> Block:
        made: list[Statement] = []
        if self._result is not None and node.value is not None:
            target = Variable(self._result.type, node.place, self._result)
            made.append(tree.Assign(node.place, target, node.value))
        if self._needs_flag:
            made.append(self._set_flag(node.place, 1))
        return tuple(made)

    def _block(self, block: Block) -> tuple[Block, int]:
        """Return statements without returns, and whether they return."""
        made: list[Statement] = []
        for position, one in enumerate(block):
            if isinstance(one, tree.Return):
                return (*made, *self._return(one)), _ALWAYS
            if not isinstance(one, tree.If):
                made.append(one)
                continue
            then, then_returns = self._block(one.then)
            otherwise, other_returns = self._block(one.otherwise)
            ends = {then_returns, other_returns}
            if ends == {_NEVER}:
                made.append(one)
                continue
            if ends == {_ALWAYS}:
                return (*made, replace(one, then=then, otherwise=otherwise)), _ALWAYS
            rest, rest_returns = self._block(block[position + 1 :])
            is_last = _ALWAYS if rest_returns == _ALWAYS else _MAYBE
            if _MAYBE not in ends:
                if then_returns == _ALWAYS:
                    otherwise = (*otherwise, *rest)
                else:
                    then = (*then, *rest)
                return (*made, replace(one, then=then, otherwise=otherwise)), is_last
            made.append(replace(one, then=then, otherwise=otherwise))
            if rest:
                self._needs_flag = True
                left = tree.Unary(_INT, one.place, "!", read(self._flag))
                made.append(tree.If(one.place, left, rest, ()))
            return tuple(made), is_last
        return tuple(made), _NEVER
