"""From clang's syntax tree to `kleene.ir.loops.tree`: what C's statements mean is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal as OneOf

from kleene.frontends.c.loops.ast import Node, beginning, children, end_line, place
from kleene.frontends.c.loops.declarations import FUNCTIONS, Declarations, linkage_of, type_text
from kleene.frontends.c.loops.expressions import (
    CASTS,
    TRANSPARENT,
    TWICE,
    Expressions,
    refused_loops,
    unknown,
)
from kleene.frontends.c.loops.switches import Arm, is_done_once, switch_arms
from kleene.frontends.c.loops.types import INT, OTHER
from kleene.ir.loops.tree import (
    Assign,
    Binary,
    Block,
    Declare,
    Evaluate,
    Expression,
    Function,
    If,
    Irregular,
    Jump,
    Label,
    Literal,
    Location,
    Loop,
    Read,
    Reason,
    Return,
    Statement,
    Symbol,
    Unit,
    Unknown,
    Variable,
)

_SCOPES = {"LinkageSpecDecl", "NamespaceDecl", "CXXRecordDecl"}
_STATEMENTS = {
    "BreakStmt": "_break_statement",
    "CaseStmt": "_case_statement",
    "CXXForRangeStmt": "_range_for_statement",
    "ContinueStmt": "_continue_statement",
    "DeclStmt": "_declaration",
    "DefaultStmt": "_case_statement",
    "DoStmt": "_do_statement",
    "ForStmt": "_for_statement",
    "IfStmt": "_if_statement",
    "LabelStmt": "_label_statement",
    "ReturnStmt": "_return_statement",
    "SwitchStmt": "_switch_statement",
    "WhileStmt": "_while_statement",
}


def lower(file: str, declarations: Iterable[Node]) -> Unit:
    """Return the functions with a body among `declarations`, in source order."""
    unit = Declarations(file)
    listed = list(_flattened(declarations))
    for node in listed:
        unit.learn(node)
    functions = []
    for node in listed:
        if _has_body(node):
            functions.append(_Statements(unit, node).function())
        elif node.get("kind") == "FunctionTemplateDecl":
            functions += [_template(one) for one in children(node) if _has_body(one)][:1]
    overloaded = {name for name, ids in unit.functions.items() if len(ids) > 1}
    return Unit(file, tuple(functions), frozenset(overloaded))


def _template(node: Node) -> Function:
    """Return the pattern of a function template: its loops are refused."""
    name, at = node.get("name", "?"), place(node)
    return Function(name, at, OTHER, (), tuple(refused_loops(node, "template")))


def _flattened(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        if node.get("kind") in _SCOPES:
            yield from _flattened(children(node))


def _has_body(node: Node) -> bool:
    return node.get("kind") in FUNCTIONS and any(
        one.get("kind") == "CompoundStmt" for one in children(node)
    )


class _Statements(Expressions):
    """One function."""

    def function(self) -> Function:
        """Return the function as a tree."""
        node = self._node
        parameters = [
            self._declare(one, "parameter")
            for one in children(node)
            if one.get("kind") == "ParmVarDecl"
        ]
        (body,) = (one for one in children(node) if one.get("kind") == "CompoundStmt")
        result = self._unit.types.parse(type_text(node).partition("(")[0])
        return Function(
            node.get("name", "?"),
            place(node),
            result,
            tuple(parameters),
            self._block(body),
            node.get("storageClass") == "static",
        )

    # Declarations

    def _declare(self, node: Node, storage: OneOf["local", "parameter", "static"]) -> Symbol:
        text = type_text(node)
        is_reference = text.rstrip().endswith("&")
        kind = self._unit.types.parse(text, self._by_name.get)
        if storage == "local" and node.get("storageClass") in ("static", "extern"):
            storage = "static"
        taken = node["id"] in self._exposed or storage == "static"
        linkage = linkage_of(node) if node.get("storageClass") == "extern" else ""
        initial = self._unit.initial(node, kind) if storage == "static" else ()
        symbol = Symbol(node.get("name", "?"), kind, place(node), storage, taken, linkage, initial)
        self._symbols[node["id"]] = self._by_name[symbol.name] = symbol
        if is_reference:
            self._references.add(symbol)
        return symbol

    def _declaration(self, node: Node) -> Block:
        made: list[Statement] = []
        for one in children(node):
            if one.get("kind") != "VarDecl":
                self._unit.learn(one)
                continue
            symbol = self._declare(one, "local")
            made.append(Declare(place(one), symbol))
            inner = [part for part in children(one) if _is_initialiser(part)]
            if not inner or symbol.storage == "static":
                continue
            target = Variable(symbol.type, place(one), symbol)
            if symbol in self._references or one.get("init") == "call":
                made.append(self._refusal(one, Reason.UNSUPPORTED, "C++ initialisation"))
            elif symbol.type.kind in ("array", "record"):
                made += self._effects(inner[0])
                made.append(Assign(place(one), target, unknown(symbol.type, one, "initialiser")))
            else:
                made += self._assignment(one, target, inner[0])
        return tuple(made)

    def _effects(self, node: Node) -> Block:
        """Return what happens when an initialiser list is evaluated."""
        made: list[Statement] = []
        for one in children(node) if node.get("kind") == "InitListExpr" else [node]:
            if one.get("kind") == "InitListExpr":
                made += self._effects(one)
            else:
                made += self._read_alone(one)
        return tuple(made)

    # Statements

    def _block(self, node: Node) -> Block:
        names = dict(self._by_name)
        kind = node.get("kind")
        parts = children(node) if kind == "CompoundStmt" else [node]
        made = [one for part in parts for one in self._statement(part)]
        self._by_name = names
        return tuple(made)

    def _statement(self, node: Node) -> Block:
        kind = node.get("kind", "")
        if kind in _STATEMENTS:
            made: Block = getattr(self, _STATEMENTS[kind])(node)
            return made
        if not kind or kind == "NullStmt":
            return ()
        if kind == "CompoundStmt":
            return self._block(node)
        if kind == "AttributedStmt":
            return self._statement(children(node)[-1])
        if kind.endswith("Stmt") and kind != "StmtExpr":
            return (self._refusal(node, *_refused_statement(kind)), *self._inside(node))
        return self._for_effect(node)

    def _inside(self, node: Node) -> Block:
        """Return the statements inside of one that is not understood: their loops are reported."""
        bodies = [one for one in children(node) if one.get("kind", "").endswith("Stmt")]
        return tuple(
            Irregular(place(one), (Label(place(one)), *self._block(one))) for one in bodies
        )

    def _if_statement(self, node: Node) -> Block:
        parts = children(node)
        made: list[Statement] = []
        while parts and parts[0].get("kind") == "DeclStmt":
            made += self._declaration(parts.pop(0))
        with self._collected() as effects:
            condition = self._expression(parts[0])
        then = self._block(parts[1])
        otherwise = self._block(parts[2]) if len(parts) > 2 else ()
        after = tuple(effects.after)
        whole = If(place(node), condition, (*after, *then), (*after, *otherwise))
        return (*made, *effects.before, whole)

    def _for_statement(self, node: Node) -> Block:
        init, variable, test, step, body = children(node)
        names = dict(self._by_name)
        made = self._statement(init) if init else ()
        if variable:
            made = (*made, self._refusal(variable, Reason.UNSUPPORTED, "declaration in a test"))
        loop = self._loop("for", node, test or None, body, self._statement(step) if step else ())
        self._by_name = names
        first: list[Statement] = [one for one in made if isinstance(one, Declare)]
        rest = tuple(one for one in made if not isinstance(one, Declare))
        return (*first, replace(loop, init=rest))

    def _range_for_statement(self, node: Node) -> Block:
        refused = self._refusal(node, Reason.UNSUPPORTED, "range-based for")
        body = (refused, *refused_loops({"inner": children(node)[-1:]}, "range-based for"))
        return (Loop(beginning(node), "for", end_line(node), (), (), None, (), (), body),)

    def _while_statement(self, node: Node) -> Block:
        *declared, test, body = children(node)
        loop = self._loop("while", node, test, body, ())
        if declared:
            refused = self._refusal(node, Reason.UNSUPPORTED, "declaration in a test")
            return (*self._declaration(declared[0]), replace(loop, body=(refused, *loop.body)))
        return (loop,)

    def _do_statement(self, node: Node) -> Block:
        body, test = children(node)
        if is_done_once(body, test):
            return self._block(body)
        return (self._loop("do", node, test, body, ()),)

    def _loop(
        self,
        kind: OneOf["for", "while", "do"],
        node: Node,
        test: Node | None,
        body: Node,
        step: Block,
    ) -> Loop:
        with self._collected() as effects:
            condition = None if test is None else self._expression(test)
        return Loop(
            beginning(node),
            kind,
            end_line(node),
            (),
            tuple(effects.before),
            condition,
            tuple(effects.after),
            step,
            self._block(body),
        )

    def _break_statement(self, node: Node) -> Block:
        return (Jump(place(node), "break"),)

    def _continue_statement(self, node: Node) -> Block:
        return (Jump(place(node), "continue"),)

    def _return_statement(self, node: Node) -> Block:
        parts = children(node)
        if not parts:
            return (Return(place(node), None),)
        with self._collected() as effects:
            value = self._expression(parts[0])
        made = tuple(effects.before)
        if effects.after:  # `return i++` gives the value from before the change
            kept = Symbol("returned", value.type, place(node))
            target = Variable(value.type, place(node), kept)
            made += (Declare(place(node), kept), Assign(place(node), target, value))
            made += tuple(effects.after)
            value = Read(value.type, place(node), target)
        return (*made, Return(place(node), value))

    def _switch_statement(self, node: Node) -> Block:
        *declared, test, body = children(node)
        arms = None if declared else switch_arms(body)
        if arms is not None:
            return self._chain(node, test, arms)
        refused = self._refusal(node, Reason.IRREGULAR_CONTROL, "switch")
        inside = Irregular(place(body), self._block(body))
        return (*self._read_alone(test), refused, inside)

    def _chain(self, node: Node, test: Node, arms: list[Arm]) -> Block:
        """Return a switch as `if (x == 1 || x == 2) ... else if (x == 3) ... else ...`."""
        with self._collected() as effects:
            value = self._expression(test)
        made: Block = ()
        for arm in sorted(arms, key=lambda one: one.is_default, reverse=True):
            body = tuple(one for part in arm.statements for one in self._statement(part))
            if arm.is_default:
                made = body
                continue
            at = place(test)
            tests = [Binary(INT, at, "==", value, self._expression(one)) for one in arm.values]
            condition: Expression = tests[0]
            for one in tests[1:]:
                condition = Binary(INT, at, "||", condition, one)
            made = (If(place(node), condition, body, made),)
        after = tuple(effects.after)
        return (*effects.before, *self._read_alone(test), *after, *made)

    def _case_statement(self, node: Node) -> Block:
        return (Label(place(node)), *self._statement(children(node)[-1]))

    def _label_statement(self, node: Node) -> Block:
        refused = self._refusal(node, Reason.GOTO, f"label '{node.get('name', '')}'")
        return (refused, Label(place(node)), *self._statement(children(node)[-1]))

    def _for_effect(self, node: Node) -> Block:
        """Return what evaluating an expression does; its value is dropped."""
        kind = node.get("kind", "")
        if kind in TRANSPARENT or (kind in CASTS and node.get("castKind") == "ToVoid"):
            return self._for_effect(children(node)[0])
        if kind == "BinaryOperator" and node.get("opcode") == "=":
            left, right = children(node)
            with self._collected() as effects:
                target = self._location(left)
            rest = self._assignment(node, target, right)
            made = (*effects.before, *rest, *effects.after)
            changed = [one.target for one in made if isinstance(one, Assign)]
            if len(set(changed)) < len(changed):
                refused = self._refusal(node, Reason.SIDE_EFFECT, TWICE)
                return (refused, Irregular(place(node), made))
            return made
        if kind == "UnaryOperator" and node.get("opcode") == "__extension__":
            return self._for_effect(children(node)[0])
        if kind == "StmtExpr":
            return self._block(children(node)[0])
        if kind == "BinaryOperator" and node.get("opcode") == ",":
            return tuple(one for part in children(node) for one in self._for_effect(part))
        if kind == "ConditionalOperator":  # c ? f() : g()
            test, *arms = children(node)
            with self._collected() as effects:
                condition = self._expression(test)
            then, otherwise = ((*effects.after, *self._for_effect(one)) for one in arms)
            return (*effects.before, If(place(node), condition, then, otherwise))
        with self._collected() as effects:
            value = self._expression(node)
        is_change = kind == "CompoundAssignOperator" or node.get("opcode") in ("++", "--")
        needed = (
            ()
            if is_change or isinstance(value, Literal | Unknown)
            else (Evaluate(place(node), value),)
        )
        return (*effects.before, *needed, *effects.after)

    def _read_alone(self, node: Node) -> Block:
        """Return the evaluation of an expression whose value is used, but not followed."""
        with self._collected() as effects:
            value = self._expression(node)
        return (*effects.before, Evaluate(place(node), value), *effects.after)

    def _assignment(self, node: Node, target: Location, value: Node) -> Block:
        with self._collected() as effects:
            held = self._expression(value)
        assign = Assign(place(node), target, held)
        return (*effects.before, assign, *effects.after)


def _is_initialiser(node: Node) -> bool:
    return not node.get("kind", "").endswith(("Attr", "Comment"))


def _refused_statement(kind: str) -> tuple[Reason, str]:
    if "Asm" in kind:
        return Reason.INLINE_ASSEMBLY, "asm"
    if "Goto" in kind:
        return Reason.GOTO, "goto"
    return Reason.UNSUPPORTED, kind
