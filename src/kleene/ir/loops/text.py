"""Expressions and locations of loop trees as people write them."""

from __future__ import annotations

from kleene.ir.loops import tree


def text(node: tree.Expression | tree.Location) -> str:
    """Return the text of an expression, without the conversions that C adds."""
    match node:
        case tree.Literal(value=value):
            return str(value)
        case tree.Read(location=location) | tree.Decay(location=location):
            return text(location)
        case tree.AddressOf(location=location):
            return f"&{text(location)}"
        case tree.Unary(operator=operator, operand=operand):
            return f"{operator}{_inner(operand)}"
        case tree.Binary(operator=operator, left=left, right=right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case tree.Convert(operand=operand):
            return text(operand)
        case tree.Choose(condition=condition, then=then, otherwise=otherwise):
            return f"{_inner(condition)} ? {_inner(then)} : {_inner(otherwise)}"
        case tree.Call(function=function, arguments=arguments):
            return f"{function}({', '.join(text(one) for one in arguments)})"
        case tree.Variable(symbol=symbol):
            return symbol.name
        case tree.Element(pointer=pointer, index=index):
            return f"{_inner(pointer)}[{text(index)}]"
        case tree.Member(record=tree.Element(pointer=pointer, index=tree.Literal(value=0))):
            return f"{_inner(pointer)}->{node.name}"
        case tree.Member(record=record):
            return f"{text(record)}.{node.name}"
        case _:
            return "?"


def _inner(node: tree.Expression) -> str:
    while isinstance(node, tree.Convert):
        node = node.operand
    is_compound = isinstance(node, tree.Binary | tree.Choose)
    return f"({text(node)})" if is_compound else text(node)
