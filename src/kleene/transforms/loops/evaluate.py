"""Symbolic values of expressions and conditions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from kleene.base.expression import ZERO, Expression, of, quotient
from kleene.ir.loops import tree
from kleene.ir.loops.symbols import Choice, loops_of
from kleene.ir.loops.tables import (
    Both,
    Compare,
    Condition,
    Either,
    Maybe,
    comparisons,
    depth_of,
    negation,
)
from kleene.ir.loops.text import text
from kleene.ir.loops.tree import Type
from kleene.transforms.loops.recorder import Recorder
from kleene.transforms.loops.values import UNKNOWN, Place, Value, fitted, number

_MAX_CHOICES = 3  # inside of each other
_COMPARED = {"<", "<=", ">", ">=", "==", "!="}


class Evaluation(Recorder):
    """Expressions: what they read is recorded, their value is returned."""

    # Values

    def _value(self, node: tree.Expression) -> Value:
        self._count_steps(1)
        match node:
            case tree.Literal(value=value):
                return number(value) if isinstance(value, int) else UNKNOWN
            case tree.Read(location=location):
                return self._read(location)
            case tree.Decay(location=location):
                place, obligations = self._address(location)
                if isinstance(location, tree.Nowhere):
                    return UNKNOWN
                return Value(None, place.inside(ZERO, 0), obligations)
            case tree.AddressOf(location=location):
                place, obligations = self._address(location)
                return Value(None, place, obligations)
            case tree.Convert(operand=operand):
                return self._converted(self._value(operand), operand.type, node.type)
            case tree.Unary(operator="!"):
                return self._truth(node)
            case tree.Unary(operator=operator, operand=operand):
                return self._unary(operator, self._value(operand), node)
            case tree.Binary(operator=operator):
                if operator in ("&&", "||", "<", "<=", ">", ">=", "==", "!="):
                    return self._truth(node)
                return self._binary(node)
            case tree.Choose():
                return self._choice(node)
            case tree.Call():
                return self._call(node)
            case _:
                return UNKNOWN

    def _converted(self, value: Value, source: Type, target: Type) -> Value:
        if target.kind == "int" and value.number is not None and source.kind == "int":
            return fitted(value.number, value.obligations, target, source)
        if target.kind == "pointer" and value.place is not None:
            if _same_elements(source.target, target.target) or self._is_view(value.place, target):
                return value
            return _viewed(value, value.place, target)
        if target.kind == "int":
            return self._unfollowed("conversion", target)
        return UNKNOWN

    def _is_view(self, place: Place, target: Type) -> bool:
        """Return whether a cast tells the type of storage that had none.

        Subscripts then count elements of this type. Another cast gives addresses in bytes alone,
        which are taken to be anywhere where they are compared with subscripts.
        """
        kind = target.target
        if place.root.number not in self._views or place.path != (ZERO,) or place.offset != 0:
            return False
        if kind is None or kind.kind not in ("int", "float", "pointer", "record"):
            return False
        if self._views[place.root.number] is None:
            self._views[place.root.number] = kind
        return _same_elements(self._views[place.root.number], kind)

    def _unary(self, operator: str, value: Value, node: tree.Expression) -> Value:
        if value.number is None:
            return self._unfollowed(operator, node.type)
        result = -value.number if operator == "-" else -value.number - 1
        return fitted(result, value.obligations, node.type, None)

    def _binary(self, node: tree.Binary) -> Value:
        left, right = self._value(node.left), self._value(node.right)
        obligations = (*left.obligations, *right.obligations)
        operator = node.operator
        if node.type.kind == "pointer":
            pointer, by = (left, right) if left.place is not None else (right, left)
            if pointer.place is None:
                return self._unfollowed(text(node), node.type)
            amount = by.number
            if amount is not None and operator == "-":
                amount = -amount
            element = self._n_bytes(node.type.target, pointer.place)
            return Value(None, pointer.place.moved(amount, element), obligations)
        if node.type.kind != "int":
            return UNKNOWN
        if left.place is not None and right.place is not None and operator == "-":
            target = node.left.type.target
            apart = difference(left.place, right.place, target.n_bytes if target else None)
            return self._unfollowed(text(node), node.type) if apart is None else Value(apart)
        if left.number is None or right.number is None:
            return self._unfollowed(text(node), node.type)
        result = self._arithmetic(operator, left.number, right.number, node)
        return fitted(result, obligations, node.type, None)

    def _arithmetic(
        self, operator: str, left: Expression, right: Expression, node: tree.Binary
    ) -> Expression:
        by = right.integer
        if operator == "+":
            return left + right
        if operator == "-":
            return left - right
        if operator == "*":
            return left * right
        if operator == "<<" and by is not None and 0 <= by < node.type.bits:
            return left * (1 << by)
        if operator in ("/", "%") and by not in (None, 0):
            whole = quotient(left, right)
            return whole if operator == "/" else left - right * whole
        # A function of its operands: the same operands give the same value.
        key = (operator, left, right, node.type.name)
        name = f"({left} {operator} {right})"
        loops = loops_of(left) | loops_of(right)
        return of(self._atom(key, name, "value", loops, node.type))

    def _choice(self, node: tree.Choose) -> Value:
        condition = self._condition(node.condition)
        with self._under(condition):
            then = self._value(node.then)
        with self._under(negation(condition)):
            otherwise = self._value(node.otherwise)
        return self._either(condition, then, otherwise, text(node), node.type)

    def _truth(self, node: tree.Expression) -> Value:
        """Return the value of a condition: 1 or 0."""
        condition = self._condition(node)
        return self._either(condition, number(1), number(0), "condition", node.type)

    def _either(
        self, condition: Condition, then: Value, otherwise: Value, name: str, kind: Type
    ) -> Value:
        """Return one of two values, as a choice if neither the values nor the test can wrap."""
        if then == otherwise:
            return then
        wraps = (*then.obligations, *otherwise.obligations)
        wraps += tuple(one for part in comparisons(condition) for one in part.obligations)
        if kind.kind != "int" or then.number is None or otherwise.number is None or wraps:
            return self._unfollowed(name, kind)
        chosen = self._chosen(condition, then.number, otherwise.number, name, kind)
        return self._unfollowed(name, kind) if depth_of(chosen) > _MAX_CHOICES else Value(chosen)

    # Conditions

    @contextmanager
    def _under(self, *conditions: Condition) -> Iterator[None]:
        self._context += conditions
        yield
        del self._context[len(self._context) - len(conditions) :]

    def _maybe(self) -> Maybe:
        return Maybe(self._fresh("condition", None, "condition"))

    def _condition(self, node: tree.Expression) -> Condition:
        match node:
            case tree.Convert(operand=operand) if _keeps_truth(operand.type, node.type):
                return self._condition(operand)
            case tree.Unary(operator="!", operand=operand):
                return negation(self._condition(operand))
            case tree.Binary(operator="&&", left=left, right=right):
                first = self._condition(left)
                with self._under(first):
                    return Both((first, self._condition(right)))
            case tree.Binary(operator="||", left=left, right=right):
                first = self._condition(left)
                with self._under(negation(first)):
                    return Either((first, self._condition(right)))
            case tree.Binary(operator=operator, left=left, right=right) if operator in _COMPARED:
                return self._comparison(operator, self._value(left), self._value(right), left.type)
            case _:
                value = self._value(node)
                if node.type.kind != "int" or value.number is None:
                    return self._maybe()
                chosen = value.number.atom
                if isinstance(chosen, Choice) and chosen.then == 1 and chosen.otherwise == 0:
                    assert chosen.condition is not None
                    return chosen.condition
                return Compare("!=", value.number, value.obligations)

    def _comparison(self, operator: str, left: Value, right: Value, kind: Type) -> Condition:
        if left.place is not None and right.place is not None:
            n_bytes = None if kind.target is None else kind.target.n_bytes
            apart = difference(left.place, right.place, n_bytes)
            if apart is None:  # in bytes the order is the same
                apart = difference(left.place, right.place, 1)
        elif left.number is not None and right.number is not None:
            apart = left.number - right.number
        else:
            apart = None
        if apart is None:
            return self._maybe()
        obligations = (*left.obligations, *right.obligations)
        match operator:
            case "==":
                return Compare("==", apart, obligations)
            case "!=":
                return Compare("!=", apart, obligations)
            case "<":
                return Compare(">=", -apart - 1, obligations)
            case "<=":
                return Compare(">=", -apart, obligations)
            case ">":
                return Compare(">=", apart - 1, obligations)
            case _:
                return Compare(">=", apart, obligations)

    @abstractmethod
    def _call(self, node: tree.Call) -> Value:
        """Execute a call, and return what it gives."""


def _viewed(value: Value, place: Place, target: Type) -> Value:
    """Return a pointer into the same storage as elements of another type."""
    if target.target is not None and target.target.kind == "void":
        return value
    return Value(None, Place(place.root, None, place.offset), value.obligations)


def difference(left: Place, right: Place, n_bytes: int | None) -> Expression | None:
    """Return how many elements of `n_bytes` two addresses in the same storage are apart."""
    if left.root is not right.root:
        return None
    if left.path and right.path and left.path[:-1] == right.path[:-1]:
        first, second = left.path[-1], right.path[-1]
        if isinstance(first, str) or isinstance(second, str):
            return ZERO if first == second else None
        return first - second
    if left.offset is None or right.offset is None or n_bytes is None:
        return None
    apart = (left.offset - right.offset).over(n_bytes)
    return apart if apart.is_integer else None


def _same_elements(first: Type | None, second: Type | None) -> bool:
    if first is None or second is None:
        return False
    if "void" in (second.kind, first.kind):
        return second.kind == "void"
    return (first.kind, first.bits, first.kind == "record" and first.name) == (
        second.kind,
        second.bits,
        second.kind == "record" and second.name,
    ) and first.kind not in ("array", "other")


def _keeps_truth(source: Type, target: Type) -> bool:
    """Return whether a converted integer is zero exactly if it was before."""
    if source.kind != "int" or target.kind != "int":
        return False
    return target.bits == 1 or target.bits >= source.bits > 0
