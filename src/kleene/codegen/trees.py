"""Loop trees taken apart and put together: the form of counted loops, replacement, liveness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from kleene.base.errors import Span
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Expression, Symbol, Variable

_PLACED = (tree.Expression, tree.Location, tree.Statement)
_BOOLEAN = tree.Type("int", "int", 32)


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop whose variable takes `low`, `low + step`, ... below `high`, or these from the end."""

    variable: Symbol
    low: Expression
    high: Expression
    step: int
    is_descending: bool


def read(symbol: Symbol) -> Expression:
    """Return the value of a variable."""
    return tree.Read(symbol.type, tree.NOWHERE, Variable(symbol.type, tree.NOWHERE, symbol))


def number(value: int, kind: tree.Type) -> Expression:
    """Return an integer of a type."""
    return tree.Literal(kind, tree.NOWHERE, value)


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    """Return an operation on two integers of one type; constants are added at once."""
    if isinstance(right, tree.Literal) and operator in "+-":
        by = int(right.value) if operator == "+" else -int(right.value)
        if isinstance(left, tree.Literal):
            return number(int(left.value) + by, left.type)
        if isinstance(left, tree.Binary) and left.operator in "+-":
            inner = left.right
            if isinstance(inner, tree.Literal):
                by += int(inner.value) if left.operator == "+" else -int(inner.value)
                left = left.left
        if not by:
            return left
        operator, right = "+" if by > 0 else "-", number(abs(by), right.type)
    is_test = operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||")
    return tree.Binary(_BOOLEAN if is_test else left.type, left.place, operator, left, right)


def choose(operator: str, first: Expression, second: Expression) -> Expression:
    """Return the lesser ("<") or the greater (">") of two values."""
    if first == second:
        return first
    test = binary(operator, first, second)
    return tree.Choose(first.type, first.place, test, first, second)


def counted(loop: tree.Loop) -> Counted | None:
    """Return a `for` loop as its variable and bounds, or None if it has another form."""
    if loop.kind != "for" or loop.before or loop.after or loop.test is None:
        return None
    return counted_head(loop.init, loop.test, loop.step)


def counted_head(init: Block, test: Expression, step: Block) -> Counted | None:
    """Return the head of a loop as its variable and bounds, or None if it has another form."""
    start = [one for one in init if isinstance(one, tree.Assign)]
    others = [one for one in init if not isinstance(one, tree.Assign | tree.Declare)]
    if len(start) != 1 or others or len(step) != 1:
        return None
    target, first = start[0].target, start[0].value
    (one_step,) = step
    if not isinstance(target, Variable) or not isinstance(one_step, tree.Assign):
        return None
    symbol = target.symbol
    if symbol.type.kind != "int" or symbol.type.bits < 32 or symbol.is_exposed:
        return None
    by = _step(one_step, symbol)
    bound = _bound(test, symbol)
    if by is None or bound is None:
        return None
    operator, limit = bound
    one = number(1, limit.type)
    if by > 0 and operator in ("<", "<="):
        high = limit if operator == "<" else binary("+", limit, one)
        return Counted(symbol, first, high, by, False)
    if by == -1 and operator in (">", ">="):
        low = limit if operator == ">=" else binary("+", limit, one)
        return Counted(symbol, low, binary("+", first, number(1, first.type)), 1, True)
    return None


def _step(step: tree.Assign, symbol: Symbol) -> int | None:
    value = _plain(step.value)
    if not isinstance(step.target, Variable) or step.target.symbol is not symbol:
        return None
    if not isinstance(value, tree.Binary) or value.operator not in "+-":
        return None
    left, right = _plain(value.left), _plain(value.right)
    if not is_read_of(left, symbol) or not isinstance(right, tree.Literal):
        return None
    by = int(right.value) if isinstance(right.value, int) else 0
    return (by if value.operator == "+" else -by) or None


def _bound(test: Expression, symbol: Symbol) -> tuple[str, Expression] | None:
    test = _plain(test)
    if not isinstance(test, tree.Binary):
        return None
    if is_read_of(_plain(test.left), symbol) and test.operator in ("<", "<=", ">", ">="):
        return test.operator, test.right
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if is_read_of(_plain(test.right), symbol) and test.operator in mirrored:
        return mirrored[test.operator], test.left
    return None


def _plain(value: Expression) -> Expression:
    """Return an integer without conversions to other integer types."""
    while isinstance(value, tree.Convert) and value.type.kind == value.operand.type.kind == "int":
        value = value.operand
    return value


def is_read_of(value: Expression, symbol: Symbol) -> bool:
    """Return whether a value is that of a variable."""
    return (
        isinstance(value, tree.Read)
        and isinstance(value.location, Variable)
        and value.location.symbol is symbol
    )


def mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a tree with `change` applied to every node, inner ones first.

    A statement may become several, given as a tuple, where it stands in a block.
    """
    if isinstance(node, tuple):
        made: list[Any] = []
        for one in node:
            new = mapped(one, change)
            made += new if isinstance(new, tuple) else [new]
        return tuple(made)
    if not isinstance(node, tree.Expression | tree.Location | tree.Statement):
        return node
    return change(with_parts(node, lambda part: mapped(part, change)))


def with_parts(node: Any, change: Callable[[Any], Any]) -> Any:
    """Return a node with `change` applied to what it is made of; itself if nothing changes."""
    if not isinstance(node, tree.Expression | tree.Location | tree.Statement):
        return node
    changed = {}
    for one in fields(node):
        if one.name not in ("type", "place"):
            old = getattr(node, one.name)
            new = change(old)
            if new is not old and new != old:
                changed[one.name] = new
    return replace(node, **changed) if changed else node


def substituted(value: Any, values: dict[Symbol, Expression]) -> Any:
    """Return a tree with expressions in place of variables that are read."""

    def change(node: Any) -> Any:
        if isinstance(node, tree.Read) and isinstance(node.location, Variable):
            return values.get(node.location.symbol, node)
        return node

    return mapped(value, change)


def is_linear(value: Expression, symbol: Symbol) -> bool:
    """Return whether a value grows or falls with a variable all the way, by sums and products."""
    match value:
        case tree.Literal():
            return True
        case tree.Read(location=Variable()):
            return True
        case tree.Convert(operand=operand):
            return value.type.kind == "int" and is_linear(operand, symbol)
        case tree.Binary(operator="+" | "-", left=left, right=right):
            return is_linear(left, symbol) and is_linear(right, symbol)
        case tree.Binary(operator="*", left=left, right=right):
            sides = [one for one in (left, right) if reads(one, symbol)]
            return len(sides) < 2 and all(is_linear(one, symbol) for one in (left, right))
    return not reads(value, symbol)


def reads(node: object, symbol: Symbol) -> bool:
    """Return whether a variable is named in a tree."""
    return any(isinstance(one, Variable) and one.symbol is symbol for one in tree.walk(node))


# What is read first, of a variable: "read", "write" or neither


def first_use(node: object, symbol: Symbol) -> str:
    """Return "read" if a variable may be read before it is written, "write" if it is written."""
    match node:
        case tuple():
            for one in node:
                if found := first_use(one, symbol):
                    return found
            return ""
        case tree.Assign(target=target, value=value):
            if reads(value, symbol):
                return "read"
            if isinstance(target, Variable):
                return "write" if target.symbol is symbol else ""
            return "read" if reads(target, symbol) else ""
        case tree.If(condition=condition, then=then, otherwise=otherwise):
            if reads(condition, symbol):
                return "read"
            uses = {first_use(then, symbol), first_use(otherwise, symbol)}
            return "read" if "read" in uses else "write" if uses == {"write"} else ""
        case tree.Loop():
            head = first_use((*node.init, *node.before), symbol)
            if head or (node.test is not None and reads(node.test, symbol)):
                return head or "read"
            inner = first_use((*node.body, *node.step, *node.after), symbol)
            return "write" if inner == "write" and node.kind == "do" else "read" * (inner == "read")
        case tree.Declare(symbol=declared):
            return "write" if declared is symbol else ""
    return "read" if reads(node, symbol) else ""


def is_live(following: Sequence[tuple[Block, bool]], symbol: Symbol) -> bool:
    """Return whether what a variable holds may be read in the blocks that come next.

    Each says whether it may be left out, as the next iteration of a loop around.
    """
    for block, is_optional in following:
        found = first_use(block, symbol)
        if found == "read":
            return True
        if found == "write" and not is_optional:
            return False
    return False


def with_counters_inside(block: Block) -> Block:
    """Return a block with the declaration of a loop's variable in the loop.

    `for (int i...)` is a declaration and a loop in a tree, one after the other.
    """
    made: list[tree.Statement] = []
    moved: dict[Symbol, tree.Declare] = {}
    users_of: dict[Symbol, list[tree.Statement]] = {
        one.symbol: [] for one in block if isinstance(one, tree.Declare)
    }
    for one in block if users_of else ():
        named = {each.symbol for each in tree.walk(one) if isinstance(each, Variable)}
        for symbol in named & users_of.keys():
            users_of[symbol].append(one)
    for one in block:
        if isinstance(one, tree.Declare):
            users = users_of[one.symbol]
            form = counted(users[0]) if users and isinstance(users[0], tree.Loop) else None
            if len(users) == 1 and form is not None and form.variable is one.symbol:
                moved[one.symbol] = one
                continue
        if isinstance(one, tree.Loop):
            form = counted(one)
            own = moved.get(form.variable) if form is not None else None
            init = one.init if own is None else (own, *one.init)
            one = replace(one, init=init, body=with_counters_inside(one.body))
        elif isinstance(one, tree.If):
            then, otherwise = with_counters_inside(one.then), with_counters_inside(one.otherwise)
            one = replace(one, then=then, otherwise=otherwise)
        made.append(one)
    return tuple(made)


def with_bounds(loop: tree.Loop, variable: Symbol, low: Expression, high: Expression) -> tree.Loop:
    """Return an ascending loop with other bounds."""
    init = tuple(
        replace(one, value=low) if isinstance(one, tree.Assign) else one for one in loop.init
    )
    return replace(loop, init=init, test=binary("<", read(variable), high))


def places_in(node: object) -> set[Span]:
    """Return where the parts of a tree are written."""
    found = (one for one in tree.walk(node) if isinstance(one, _PLACED))
    return {one.place for one in found}
