"""Pointers that move, as subscripts: `*p++` is `a[p_at]`, and `p_at` grows.

    const float *p = a + 1;                     long p_at = 1;
    while (p < a + n) s += *p++;                while (p_at < n) { s += a[p_at]; p_at = p_at + 1; }

A pointer is always one array and a subscript, if all that it is assigned begins at this array. It
then is the array's name and a variable of 64 bits. A parameter that moves begins at itself, with 0.
Pointers that are used otherwise (stored, passed on, compared with another array's) stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.codegen.text import assigned_in, free_name, symbols_in
from kleene.codegen.trees import binary, number, read, with_parts
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Element, Expression, Function, Symbol, Type, Variable

LONG = Type("int", "long", 64)
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def with_indexes(function: Function) -> Function:
    """Return a function whose pointers are arrays with subscripts, where that is known."""
    kept: set[Symbol] = set()
    while True:
        work = _Pointers(function, kept)
        made = work.function()
        if not work.left:
            return made
        kept |= work.left


class _Pointers:
    """The pointers of one function; `kept` are those that stay."""

    def __init__(self, function: Function, kept: set[Symbol]) -> None:
        self._function = function
        self._assigned = assigned_in(function.body)
        values: dict[Symbol, list[Expression]] = {}
        for one in tree.walk(function.body):
            if isinstance(one, tree.Assign) and isinstance(one.target, Variable):
                symbol = one.target.symbol
                if _is_plain(symbol.type) and not symbol.is_exposed and symbol not in kept:
                    values.setdefault(symbol, []).append(one.value)
        self._moving = {
            one for one in values if one.storage in ("local", "parameter") and not _is_array(one)
        }
        self.bases: dict[Symbol, Symbol] = {}
        self.left: set[Symbol] = set()  # pointers that are used otherwise
        self._find(values)
        taken = {one.name for one in symbols_in(function.body)}
        taken |= {one.name for one in function.parameters}
        self._at: dict[Symbol, Symbol] = {}
        for symbol in self.bases:
            name = free_name(f"{symbol.name}_at", taken)
            taken.add(name)
            self._at[symbol] = Symbol(name, LONG, symbol.place)

    def _find(self, values: dict[Symbol, list[Expression]]) -> None:
        """Find the array of each pointer: the same, by whatever assignment it is asked."""
        found: dict[Symbol, set[Symbol | None]] = {
            one: ({one} if one.storage == "parameter" else set()) for one in self._moving
        }
        while True:
            before = {one: set(bases) for one, bases in found.items()}
            for symbol, bases in found.items():
                for value in values[symbol]:
                    bases |= self._bases_of(value, found)
            if found == before:
                break
        for symbol, bases in found.items():
            if len(bases) == 1:
                (base,) = bases
                if base is not None and _element(base) == _element(symbol):
                    self.bases[symbol] = base

    def _bases_of(
        self, value: Expression, found: dict[Symbol, set[Symbol | None]]
    ) -> set[Symbol | None]:
        """Return the arrays that a pointer may point into; None for one that is not told."""
        match value:
            case tree.Read(location=Variable(symbol=symbol)):
                if symbol in found:
                    return set(found[symbol])
                is_fixed = _is_fixed(symbol) and symbol not in self._assigned
                return {symbol if _is_plain(symbol.type) and is_fixed else None}
            case tree.Decay(location=Variable(symbol=symbol)):
                return {symbol if _is_plain(symbol.type) else None}
            case tree.AddressOf(location=Element(pointer=pointer)):
                return self._bases_of(pointer, found)
            case tree.Convert(operand=operand):
                is_same = _pointed(value.type) == _pointed(operand.type)
                return self._bases_of(operand, found) if is_same else {None}
            case tree.Binary(operator="+" | "-", left=left, right=right):
                pointer = left if left.type.kind == "pointer" else right
                return self._bases_of(pointer, found)
            case tree.Choose(then=then, otherwise=otherwise):
                return self._bases_of(then, found) | self._bases_of(otherwise, found)
        return {None}

    def _base(self, value: Expression) -> Symbol | None:
        """Return the array that a pointer points into, where it is known."""
        known: dict[Symbol, set[Symbol | None]] = {
            one: {self.bases.get(one)} for one in self._moving
        }
        bases = self._bases_of(value, known)
        return bases.pop() if len(bases) == 1 else None

    def function(self) -> Function:
        """Return the function with subscripts."""
        head: list[tree.Statement] = []
        for one in self._function.parameters:
            if one in self.bases:
                at = self._at[one]
                target = Variable(LONG, one.place, at)
                head += [
                    tree.Declare(one.place, at),
                    tree.Assign(one.place, target, number(0, LONG)),
                ]
        body = self._rewritten(self._function.body)
        if not head and body == self._function.body:
            return self._function
        return replace(self._function, body=(*head, *body))

    def _rewritten(self, node: Any) -> Any:
        if isinstance(node, tuple):
            return tuple(self._rewritten(one) for one in node)
        match node:
            case Variable(symbol=symbol) if symbol in self.bases:
                self.left.add(symbol)
            case tree.Declare(symbol=symbol) if symbol in self.bases:
                return replace(node, symbol=self._at[symbol])
            case tree.Assign(target=Variable(symbol=symbol), value=value) if symbol in self.bases:
                target = Variable(LONG, node.target.place, self._at[symbol])
                return replace(node, target=target, value=self._index(value))
            case Element(pointer=pointer, index=index) if self._is_computed(pointer):
                base = self._base(pointer)
                if base is not None and _element(base) == _pointed(pointer.type):
                    at = sum_of(self._index(pointer), self._long(index))
                    return replace(node, pointer=_whole(base, node), index=at)
            case tree.Binary(operator=operator, left=left, right=right):
                both = left.type.kind == right.type.kind == "pointer"
                if both and (operator == "-" or operator in _COMPARISONS):
                    base = self._base(left)
                    if base is not None and base is self._base(right):
                        sides = self._index(left), self._index(right)
                        return replace(node, left=sides[0], right=sides[1])
        return with_parts(node, self._rewritten)

    def _is_computed(self, pointer: Expression) -> bool:
        """Return whether a pointer is more than the name of an array."""
        while isinstance(pointer, tree.Convert):
            pointer = pointer.operand
        if isinstance(pointer, tree.Read) and isinstance(pointer.location, Variable):
            return pointer.location.symbol in self.bases
        return not isinstance(pointer, tree.Decay | tree.Read)

    def _index(self, value: Expression) -> Expression:
        """Return how many elements behind the beginning of its array a pointer points."""
        match value:
            case tree.Read(location=Variable(symbol=symbol)):
                return read(self._at[symbol]) if symbol in self.bases else number(0, LONG)
            case tree.AddressOf(location=Element(pointer=pointer, index=index)):
                return sum_of(self._index(pointer), self._long(index))
            case tree.Convert(operand=operand):
                return self._index(operand)
            case tree.Binary(operator=operator, left=left, right=right):
                if left.type.kind == "pointer":
                    by = self._long(right)
                    if operator == "+":
                        return sum_of(self._index(left), by)
                    return binary("-", self._index(left), by)
                return sum_of(self._index(right), self._long(left))
            case tree.Choose(condition=condition, then=then, otherwise=otherwise):
                parts = self._rewritten(condition), self._index(then), self._index(otherwise)
                return tree.Choose(LONG, value.place, *parts)
        return number(0, LONG)

    def _long(self, value: Expression) -> Expression:
        """Return an integer with 64 bits: pointers move by its value, whatever its type."""
        made: Expression = self._rewritten(value)
        if isinstance(made, tree.Literal):
            return number(int(made.value), LONG)
        return made if made.type == LONG else tree.Convert(LONG, made.place, made)


def sum_of(one: Expression, other: Expression) -> Expression:
    """Return a sum of two integers of one type."""
    is_zero = isinstance(one, tree.Literal) and one.value == 0
    return other if is_zero else binary("+", one, other)


def _is_array(symbol: Symbol) -> bool:
    return symbol.type.kind == "array"


def _is_plain(kind: Type) -> bool:
    """Return whether a type is a pointer to numbers, or an array of them."""
    target = kind.target
    return (
        kind.kind in ("pointer", "array") and target is not None and target.kind in ("int", "float")
    )


def _is_fixed(symbol: Symbol) -> bool:
    """Return whether a name stands for one array all the time, if nothing assigns to it."""
    return symbol.storage == "parameter" and not symbol.is_exposed


def _pointed(kind: Type) -> tuple[str, int, bool] | None:
    target = kind.target
    return None if target is None else (target.kind, target.bits, target.signed)


def _element(symbol: Symbol) -> tuple[str, int, bool] | None:
    return _pointed(symbol.type)


def _whole(base: Symbol, node: Element) -> Expression:
    """Return the beginning of an array."""
    at = Variable(base.type, node.place, base)
    if base.type.kind == "pointer":
        return tree.Read(base.type, node.place, at)
    kind = Type("pointer", f"{base.type.name} *", 64, target=base.type.target)
    return tree.Decay(kind, node.place, at)
