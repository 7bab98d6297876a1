"""The core as text: what the expander made of a program, each variable with its number."""

from __future__ import annotations

from kleene.frontends.scheme.interpreter.show import text_of
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.core import Core, Node
from kleene.ir.scheme.values import NIL, UNSPECIFIED, Pair

_WORDS = {columns.IF: "if", columns.SET: "set!", columns.DEFINE: "define"}


def core_text(core: Core) -> str:
    """Return one line for each top-level form: variables are `name.number`, primitives bare."""
    return "\n".join(_form(node) for node in core.node(core.root).operands)


def _form(root: Node) -> str:
    out: list[str] = []
    waiting: list[Node | str] = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            out.append(part)
        else:
            waiting.extend(reversed(_parts(part)))
    return "".join(out)


def _parts(node: Node) -> list[Node | str]:
    """Return the text of a row, with the rows below still to be written."""
    kind, core = node.kind, node.core
    if kind == columns.VARIABLE:
        return [_name(core, node.reference)]
    if kind == columns.PRIMITIVE:
        return [core.primitives[node.reference]]
    if kind == columns.CONSTANT:
        return [_constant(core.constants[node.reference])]
    if kind == columns.LETREC:
        return _letrec(node)
    words: list[str] = []
    if kind == columns.LAMBDA:
        words = ["lambda", _formals(node)]
    elif kind == columns.SEQUENCE:
        words = ["begin"]
    elif kind != columns.CALL:
        words = [_WORDS[kind]]
        words += [] if kind == columns.IF else [_name(core, node.reference)]
    return _spaced([*words, *node.operands])


def _spaced(parts: list[Node | str]) -> list[Node | str]:
    spaced: list[Node | str] = ["("]
    for part in parts:
        spaced += [part, " "]
    return [*spaced[:-1], ")"]


def _letrec(node: Node) -> list[Node | str]:
    *values, body = node.operands
    parts: list[Node | str] = ["(letrec ("]
    for variable, value in zip(node.bound, values, strict=True):
        parts += ["(", _name(node.core, variable), " ", value, ")", " "]
    return [*(parts[:-1] if values else parts), ") ", body, ")"]


def _formals(node: Node) -> str:
    names = [_name(node.core, variable) for variable in node.bound]
    if not node.has_rest:
        return "(" + " ".join(names) + ")"
    return "(" + " ".join([*names[:-1], "."]).strip() + f" {names[-1]})" if names[1:] else names[0]


def _name(core: Core, variable: int) -> str:
    return f"{core.names[variable]}.{variable}"


def _constant(value: object) -> str:
    if value is UNSPECIFIED:
        return "unspecified"
    shown = text_of(value, is_written=True)
    is_quoted = value is NIL or type(value) in (Pair, list, str)
    return f"'{shown}" if is_quoted else shown
