"""Expressions and locations of C, from clang's syntax tree.

Side effects inside an expression become statements. C leaves their order open wherever a variable
would be both changed and used otherwise (that is undefined), so `a[i++] = b[j--]` is `a[i] = b[j]`
followed by both changes, and `++i` happens before. Where the order is fixed (`&&`, `||`, `?:`) an
effect in a part that may not be evaluated is refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal as OneOf

from kleene.frontends.c.loops.ast import Node, beginning, children, end_line, place
from kleene.frontends.c.loops.declarations import Declarations, type_text
from kleene.frontends.c.loops.exposure import exposed
from kleene.frontends.c.loops.library import IO, SETJMP, effect_of
from kleene.frontends.c.loops.types import INT, OTHER
from kleene.ir.loops.tree import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Choose,
    Convert,
    Decay,
    Element,
    Evaluate,
    Expression,
    Irregular,
    Literal,
    Location,
    Loop,
    Member,
    Nowhere,
    Read,
    Reason,
    Refuse,
    Statement,
    Symbol,
    Type,
    Unary,
    Unknown,
    Variable,
)

TRANSPARENT = {"ParenExpr", "ConstantExpr", "ExprWithCleanups", "MaterializeTemporaryExpr"}
CASTS = {"ImplicitCastExpr", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"}
_CONVERSIONS = {
    "BitCast",
    "BooleanToSignedIntegral",
    "FloatingCast",
    "FloatingToBoolean",
    "FloatingToIntegral",
    "IntegralCast",
    "IntegralToBoolean",
    "IntegralToFloating",
    "NoOp",
    "PointerToBoolean",
    "ToVoid",
}
LOOPS: dict[str, OneOf["for", "while", "do"]] = {
    "CXXForRangeStmt": "for",
    "DoStmt": "do",
    "ForStmt": "for",
    "WhileStmt": "while",
}

TWICE = "one variable is changed twice"
_EXPRESSIONS = {
    "BinaryOperator": "_binary",
    "CXXBoolLiteralExpr": "_boolean",
    "CXXNullPtrLiteralExpr": "_constant",
    "CXXThisExpr": "_constant",
    "CallExpr": "_call",
    "CharacterLiteral": "_integer",
    "CompoundAssignOperator": "_compound_assignment",
    "ConditionalOperator": "_choice",
    "DeclRefExpr": "_reference",
    "FloatingLiteral": "_floating",
    "ImplicitValueInitExpr": "_constant",
    "IntegerLiteral": "_integer",
    "PredefinedExpr": "_constant",
    "StringLiteral": "_constant",
    "UnaryExprOrTypeTraitExpr": "_size",
    "UnaryOperator": "_unary",
}


@dataclass
class Effects:
    """Statements that are part of an expression: before it, and after it."""

    before: list[Statement]
    after: list[Statement]


class Expressions(ABC):
    """The expressions of one function."""

    def __init__(self, unit: Declarations, node: Node) -> None:
        self._unit = unit
        self._node = node
        self._symbols = dict(unit.symbols)
        self._by_name: dict[str, Symbol] = {one.name: one for one in unit.symbols.values()}
        self._references: set[Symbol] = set()
        self._exposed = exposed(node)
        self._before: list[Statement] = []
        self._after: list[Statement] = []

    @abstractmethod
    def _for_effect(self, node: Node) -> Block:
        """Return what evaluating an expression does; its value is dropped."""

    def _refusal(self, node: Node, reason: Reason, detail: str) -> Refuse:
        return Refuse(place(node), reason, detail)

    # Side effects

    @contextmanager
    def _collected(self) -> Iterator[Effects]:
        saved = self._before, self._after
        effects = Effects([], [])
        self._before, self._after = effects.before, effects.after
        yield effects
        self._before, self._after = saved

    def _conditional(self, node: Node) -> Expression:
        """Return an expression that may not be evaluated; it must have no side effects."""
        with self._collected() as effects:
            value = self._expression(node)
        if effects.before or effects.after:
            detail = "inside of && || ?:"
            self._before.append(self._refusal(node, Reason.SIDE_EFFECT, detail))
            hidden = (*effects.before, *effects.after)
            self._before.append(Irregular(place(node), hidden))  # it may happen or not
        return value

    # Expressions

    def _type(self, node: Node) -> Type:
        return self._unit.types.parse(type_text(node))

    def _expression(self, node: Node) -> Expression:
        kind = node.get("kind", "")
        if kind in TRANSPARENT:
            return self._expression(children(node)[0])
        if kind in CASTS:
            return self._cast(node)
        if kind not in _EXPRESSIONS:
            return self._not_understood(node)
        value: Expression = getattr(self, _EXPRESSIONS[kind])(node)
        return value

    def _not_understood(self, node: Node, detail: str | None = None) -> Expression:
        kind = node.get("kind", "")
        reason = Reason.INLINE_ASSEMBLY if "Asm" in kind else Reason.UNSUPPORTED
        self._before.append(self._refusal(node, reason, detail or kind))
        loops = {one.place: one for one in refused_loops(node, detail or kind)}
        self._before += loops.values()  # clang shows the body of a lambda twice
        return unknown(self._type(node), node, kind)

    def _cast(self, node: Node) -> Expression:
        kind, inner = node.get("castKind"), children(node)[-1]
        if kind == "LValueToRValue":
            return Read(self._type(node), place(node), self._location(inner))
        if kind == "ArrayToPointerDecay":
            return Decay(self._type(node), place(node), self._location(inner))
        if kind in ("NullToPointer", "FunctionToPointerDecay", "BuiltinFnToFnPtr"):
            return unknown(self._type(node), node, str(kind))
        value = self._expression(inner)
        if kind not in _CONVERSIONS:
            self._before.append(Evaluate(place(node), value))  # it is read all the same
            return unknown(self._type(node), node, str(kind))
        return Convert(self._type(node), place(node), value)

    def _integer(self, node: Node) -> Expression:
        return Literal(self._type(node), place(node), int(node["value"]))

    def _floating(self, node: Node) -> Expression:
        try:
            return Literal(self._type(node), place(node), float(node["value"]))
        except ValueError:
            return unknown(self._type(node), node, "literal")

    def _boolean(self, node: Node) -> Expression:
        return Literal(self._type(node), place(node), int(node["value"]))

    def _constant(self, node: Node) -> Expression:
        return unknown(self._type(node), node, node["kind"])

    def _size(self, node: Node) -> Expression:
        inner = children(node)
        text = node["argType"]["qualType"] if "argType" in node else type_text(inner[0])
        n_bytes = self._unit.types.parse(text).n_bytes
        if node.get("name") != "sizeof" or n_bytes is None:
            return unknown(self._type(node), node, "sizeof")
        return Literal(self._type(node), place(node), n_bytes)

    def _reference(self, node: Node) -> Expression:
        meant = node.get("referencedDecl", {})
        if meant.get("kind") == "EnumConstantDecl" and meant["id"] in self._unit.constants:
            return Literal(INT, place(node), self._unit.constants[meant["id"]])
        return unknown(self._type(node), node, meant.get("name", "?"))

    def _choice(self, node: Node) -> Expression:
        condition, then, otherwise = children(node)
        return Choose(
            self._type(node),
            place(node),
            self._expression(condition),
            self._conditional(then),
            self._conditional(otherwise),
        )

    def _binary(self, node: Node) -> Expression:
        operator, (left, right) = node["opcode"], children(node)
        if operator == "=":
            self._before += self._for_effect(node)
            location = self._location(left)
            return Read(self._type(node), place(node), location)
        if operator == ",":
            self._before += self._for_effect(left)
            return self._expression(right)
        first = self._expression(left)
        lazy = operator in ("&&", "||")
        second = self._conditional(right) if lazy else self._expression(right)
        return Binary(self._type(node), place(node), operator, first, second)

    def _compound_assignment(self, node: Node) -> Expression:
        left, right = children(node)
        target = self._location(left)
        computed = self._unit.types.parse(type_text({"type": node["computeResultType"]}))
        value = self._expression(right)
        held: Expression = Read(target.type, place(left), target)
        wide = self._unit.types.parse(type_text({"type": node["computeLHSType"]}))
        if wide != target.type:
            held = Convert(wide, place(left), held)
        whole: Expression = Binary(computed, place(node), node["opcode"][:-1], held, value)
        if computed != target.type:
            whole = Convert(target.type, place(node), whole)
        if target in _assigned(tuple(self._after)):
            self._before.append(self._refusal(node, Reason.SIDE_EFFECT, TWICE))
        self._before.append(Assign(place(node), target, whole))
        return Read(target.type, place(node), target)

    def _unary(self, node: Node) -> Expression:
        operator, (inner,) = node["opcode"], children(node)
        if operator in ("++", "--"):
            return self._step(node, inner)
        if operator == "&":
            return AddressOf(self._type(node), place(node), self._location(inner))
        if operator in ("+", "__extension__"):
            return self._expression(inner)
        if operator in ("-", "~", "!"):
            return Unary(self._type(node), place(node), operator, self._expression(inner))
        return self._not_understood(node, operator)

    def _step(self, node: Node, inner: Node) -> Expression:
        target = self._location(inner)
        kind = target.type
        one = Literal(INT if kind.kind in ("int", "pointer") else kind, place(node), 1)
        value: Expression = Read(kind, place(node), target)
        # `++` on a type narrower than int computes in int and converts back.
        wide = INT if kind.kind == "int" and 0 < kind.bits < INT.bits else kind
        if wide != kind:
            value = Convert(wide, place(node), value)
        if kind.kind == "int" and wide != INT:
            one = Literal(wide, place(node), 1)
        value = Binary(wide, place(node), node["opcode"][0], value, one)
        if wide != kind:
            value = Convert(kind, place(node), value)
        change = Assign(place(node), target, value)
        if target in _assigned((*self._before, *self._after)):
            self._before.append(self._refusal(node, Reason.SIDE_EFFECT, TWICE))
        (self._after if node.get("isPostfix") else self._before).append(change)
        return Read(kind, place(node), target)

    def _call(self, node: Node) -> Expression:
        callee, *arguments = children(node)
        name = _callee_name(callee)
        values = tuple(self._expression(one) for one in arguments)
        if name is None:
            detail = "call through a pointer"
            self._before.append(self._refusal(node, Reason.FUNCTION_POINTER, detail))
            return unknown(self._type(node), node, "call")
        if name in SETJMP:
            self._before.append(self._refusal(node, Reason.SETJMP, name))
        elif name in IO:
            self._before.append(self._refusal(node, Reason.IO, name))
        return Call(self._type(node), place(node), name, values, effect_of(name))

    # Locations

    def _location(self, node: Node) -> Location:
        kind = node.get("kind", "")
        if kind in TRANSPARENT or (kind in CASTS and node.get("castKind") == "NoOp"):
            return self._location(children(node)[-1])
        if kind == "DeclRefExpr":
            return self._named(node)
        if kind == "UnaryOperator" and node["opcode"] == "__extension__":
            return self._location(children(node)[0])
        found = Nowhere(self._type(node), place(node), kind)
        if kind == "ArraySubscriptExpr":
            base, index = children(node)
            pointer = self._expression(base)
            found_at = self._expression(index)
            return self._checked(Element(self._type(node), place(node), pointer, found_at), node)
        if kind == "UnaryOperator" and node["opcode"] == "*":
            pointer = self._expression(children(node)[0])
            zero = Literal(INT, place(node), 0)
            return self._checked(Element(self._type(node), place(node), pointer, zero), node)
        if kind == "UnaryOperator" and node["opcode"] in ("++", "--"):  # C++: (++i) = 2
            self._expression(node)
            return found
        if kind == "MemberExpr":
            return self._checked(self._member(node), node)
        if kind not in ("StringLiteral", "PredefinedExpr"):
            self._not_understood(node)
        return found

    def _member(self, node: Node) -> Location:
        (base,) = children(node) or ({},)
        if not base:
            return Nowhere(self._type(node), place(node), "member")
        if node.get("isArrow"):
            pointer = self._expression(base)
            target = pointer.type.target or OTHER
            zero = Literal(INT, place(node), 0)
            record: Location = Element(target, place(node), pointer, zero)
        else:
            record = self._location(base)
        meant = node.get("referencedMemberDecl", "")
        name, apart = node.get("name", ""), meant in self._unit.fields_apart
        offset = self._unit.offsets.get(meant)
        return Member(self._type(node), place(node), record, name, not apart, offset)

    def _named(self, node: Node) -> Location:
        meant = node.get("referencedDecl", {})
        symbol = self._symbols.get(meant.get("id", ""))
        if symbol is None:
            return Nowhere(self._type(node), place(node), meant.get("name", "?"))
        if symbol in self._references:
            target = symbol.type.target or OTHER
            pointer = Read(symbol.type, place(node), Variable(symbol.type, place(node), symbol))
            return Element(target, place(node), pointer, Literal(INT, place(node), 0))
        return self._checked(Variable(symbol.type, place(node), symbol), node)

    def _checked(self, location: Location, node: Node) -> Location:
        if location.type.volatile:
            self._before.append(self._refusal(node, Reason.VOLATILE, location.type.name))
        return location


def _assigned(block: Block) -> set[Location]:
    return {one.target for one in block if isinstance(one, Assign)}


def unknown(kind: Type, node: Node, detail: str) -> Unknown:
    """Return a value of which nothing but its type is known."""
    return Unknown(kind, place(node), detail)


def refused_loops(node: Node, detail: str) -> Iterator[Loop]:
    """Yield the loops inside of what is not lowered, each with the reason in its body."""
    for one in children(node):
        if one.get("kind") not in LOOPS:
            yield from refused_loops(one, detail)
            continue
        refused = Refuse(place(one), Reason.UNSUPPORTED, detail)
        body = (refused, *refused_loops(one, detail))
        kind = LOOPS[one["kind"]]
        yield Loop(beginning(one), kind, end_line(one), (), (), None, (), (), body)


def _callee_name(node: Node) -> str | None:
    while node.get("kind") in TRANSPARENT or node.get("castKind") in (
        "FunctionToPointerDecay",
        "BuiltinFnToFnPtr",
    ):
        node = children(node)[0]
    meant = node.get("referencedDecl", {})
    is_function = node.get("kind") == "DeclRefExpr" and meant.get("kind") == "FunctionDecl"
    return str(meant["name"]) if is_function else None
