"""From clang's syntax tree to `kleene.ir.loops.tree`: what C means is decided here.

Side effects inside an expression become statements. C leaves their order open wherever a variable
would be both changed and used otherwise (that is undefined), so `a[i++] = b[j--]` is `a[i] = b[j]`
followed by both changes, and `++i` happens before. Where the order is fixed (`&&`, `||`, `?:`) an
effect in a part that may not be evaluated is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from kleene.frontends.c.loops.ast import Node, beginning, children, end_line, place
from kleene.frontends.c.loops.exposure import exposed
from kleene.frontends.c.loops.library import IO, SETJMP, effect_of
from kleene.frontends.c.loops.switches import Arm, is_done_once, switch_arms
from kleene.frontends.c.loops.types import INT, OTHER, Layout, Types
from kleene.ir.loops.tree import (
    AddressOf,
    Assign,
    Binary,
    Block,
    Call,
    Choose,
    Convert,
    Decay,
    Declare,
    Element,
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
    Member,
    Nowhere,
    Read,
    Reason,
    Refuse,
    Return,
    Statement,
    Symbol,
    Type,
    Unary,
    Unit,
    Unknown,
    Variable,
)

_TRANSPARENT = {"ParenExpr", "ConstantExpr", "ExprWithCleanups", "MaterializeTemporaryExpr"}
_CASTS = {"ImplicitCastExpr", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr"}
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
_LOOPS: dict[str, OneOf["for", "while", "do"]] = {
    "CXXForRangeStmt": "for",
    "DoStmt": "do",
    "ForStmt": "for",
    "WhileStmt": "while",
}
_SCOPES = {"LinkageSpecDecl", "NamespaceDecl", "CXXRecordDecl"}
_FUNCTIONS = {"FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXConversionDecl"}

_TWICE = "one variable is changed twice"
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


def lower(file: str, declarations: Iterable[Node]) -> Unit:
    """Return the functions with a body among `declarations`, in source order."""
    unit = _Unit(file)
    listed = list(_flattened(declarations))
    for node in listed:
        unit.learn(node)
    functions = []
    for node in listed:
        if _has_body(node):
            functions.append(_Lowering(unit, node).function())
        elif node.get("kind") == "FunctionTemplateDecl":
            functions += [_template(one) for one in children(node) if _has_body(one)][:1]
    overloaded = {name for name, ids in unit.functions.items() if len(ids) > 1}
    return Unit(file, tuple(functions), frozenset(overloaded))


def _template(node: Node) -> Function:
    """Return the pattern of a function template: its loops are refused."""
    name, at = node.get("name", "?"), place(node)
    return Function(name, at, OTHER, (), tuple(_refused_loops(node, "template")))


def _refused_loops(node: Node, detail: str) -> Iterator[Loop]:
    """Yield the loops inside of what is not lowered, each with the reason in its body."""
    for one in children(node):
        if one.get("kind") not in _LOOPS:
            yield from _refused_loops(one, detail)
            continue
        refused = Refuse(place(one), Reason.UNSUPPORTED, detail)
        body = (refused, *_refused_loops(one, detail))
        kind = _LOOPS[one["kind"]]
        yield Loop(beginning(one), kind, end_line(one), (), (), None, (), (), body)


def _flattened(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        yield node
        if node.get("kind") in _SCOPES:
            yield from _flattened(children(node))


def _has_body(node: Node) -> bool:
    return node.get("kind") in _FUNCTIONS and any(
        one.get("kind") == "CompoundStmt" for one in children(node)
    )


@dataclass
class _Unit:
    """What is declared outside of functions."""

    file: str
    types: Types = field(default_factory=Types)
    symbols: dict[str, Symbol] = field(default_factory=dict)  # by clang's id
    constants: dict[str, int] = field(default_factory=dict)  # of enumerations, by clang's id
    fields_apart: set[str] = field(default_factory=set)  # ids of fields with storage of their own
    offsets: dict[str, int] = field(default_factory=dict)  # in bytes, of fields by clang's id
    layouts: dict[str, Layout | None] = field(default_factory=dict)  # of records by clang's id
    functions: dict[str, set[str]] = field(default_factory=dict)  # by name: ids of what it means
    first_ids: dict[str, str] = field(default_factory=dict)  # of declarations: the first one's

    def learn(self, node: Node) -> None:
        """Take note of a declaration."""
        kind = node.get("kind")
        if kind in ("TypedefDecl", "TypeAliasDecl"):
            shown = node["type"]
            text = shown.get("desugaredQualType", shown["qualType"])
            for one in children(node):  # `typedef struct { ... } name`: the record has no other
                if (meant := one.get("decl", {}).get("id")) in self.layouts:
                    self.types.define_record(text, self.layouts[meant])
            self.types.define(node["name"], text)
        elif kind == "VarDecl":
            is_static = node.get("storageClass") == "static"
            storage: OneOf["global", "static"] = "static" if is_static else "global"
            first = self.first_ids.get(node.get("previousDecl", ""), node["id"])
            self.first_ids[node["id"]] = first
            linkage = f"{self.file} {first}" if is_static else _linkage(node)
            kind = self.types.parse(_type_text(node))
            self.symbols[node["id"]] = Symbol(
                node["name"], kind, place(node), storage, True, linkage
            )
        elif kind == "EnumDecl":
            self._enumeration(node)
        elif kind in ("RecordDecl", "CXXRecordDecl"):
            self._record(node)
        elif kind in _FUNCTIONS:
            first = self.first_ids.get(node.get("previousDecl", ""), node["id"])
            self.first_ids[node["id"]] = first
            self.functions.setdefault(node.get("name", "?"), set()).add(first)

    def _enumeration(self, node: Node) -> None:
        value = -1
        for one in children(node):
            if one.get("kind") != "EnumConstantDecl":
                continue
            inner = children(one)
            value = int(inner[0]["value"]) if inner and "value" in inner[0] else value + 1
            self.constants[one["id"]] = value

    def _record(self, node: Node) -> None:
        is_union = node.get("tagUsed") == "union"
        fields: list[Node] = []
        unnamed: str | None = None
        for one in children(node):
            if one.get("kind") in ("RecordDecl", "CXXRecordDecl"):
                self._record(one)
                unnamed = None if "name" in one else one["id"]
            elif one.get("kind") == "FieldDecl":
                fields.append(one)
                if unnamed is not None:  # it is the type of the field that follows
                    self.types.define_record(_type_text(one), self.layouts.get(unnamed))
                    unnamed = None
                if not is_union and not one.get("isBitfield", False):
                    self.fields_apart.add(one["id"])
        if not node.get("completeDefinition"):
            return
        layout = None
        if _has_plain_layout(node, fields):
            layout = self.types.layout([_type_text(one) for one in fields], is_union=is_union)
        if layout is not None:
            begins = zip(fields, layout.offsets, strict=True)
            self.offsets |= {one["id"]: offset for one, offset in begins}
        self.layouts[node["id"]] = layout
        if "name" in node:
            self.types.define_record(f"{node.get('tagUsed', 'struct')} {node['name']}", layout)


def _has_plain_layout(node: Node, fields: list[Node]) -> bool:
    """Return whether the fields alone, in their order, decide where each of them is.

    Bit-fields, attributes (packed, aligned), base classes and tables of virtual functions do too.
    """
    parts = [*children(node), *(inner for one in fields for inner in children(one))]
    return (
        not any(one.get("isBitfield", False) for one in fields)
        and not any(one.get("kind", "").endswith("Attr") for one in parts)
        and not node.get("bases")
        and node.get("definitionData", {}).get("isStandardLayout", "definitionData" not in node)
    )


def _linkage(node: Node) -> str:
    """Return the name by which the linker knows a variable."""
    name: str = node.get("mangledName", node.get("name", "?"))
    return name


def _type_text(node: Node) -> str:
    shown = node.get("type", {})
    text: str = shown.get("desugaredQualType", shown.get("qualType", "?"))
    return text


class _Lowering:
    """One function."""

    def __init__(self, unit: _Unit, node: Node) -> None:
        self._unit = unit
        self._node = node
        self._symbols = dict(unit.symbols)
        self._by_name: dict[str, Symbol] = {one.name: one for one in unit.symbols.values()}
        self._references: set[Symbol] = set()
        self._exposed = exposed(node)
        self._before: list[Statement] = []
        self._after: list[Statement] = []

    def function(self) -> Function:
        """Return the function as a tree."""
        node = self._node
        parameters = [
            self._declare(one, "parameter")
            for one in children(node)
            if one.get("kind") == "ParmVarDecl"
        ]
        (body,) = (one for one in children(node) if one.get("kind") == "CompoundStmt")
        result = self._unit.types.parse(_type_text(node).partition("(")[0])
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
        text = _type_text(node)
        is_reference = text.rstrip().endswith("&")
        kind = self._unit.types.parse(text, self._by_name.get)
        if storage == "local" and node.get("storageClass") in ("static", "extern"):
            storage = "static"
        taken = node["id"] in self._exposed or storage == "static"
        linkage = _linkage(node) if node.get("storageClass") == "extern" else ""
        symbol = Symbol(node.get("name", "?"), kind, place(node), storage, taken, linkage)
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
                made.append(Assign(place(one), target, _unknown(symbol.type, one, "initialiser")))
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
        body = (refused, *_refused_loops({"inner": children(node)[-1:]}, "range-based for"))
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
        if kind in _TRANSPARENT or (kind in _CASTS and node.get("castKind") == "ToVoid"):
            return self._for_effect(children(node)[0])
        if kind == "BinaryOperator" and node.get("opcode") == "=":
            left, right = children(node)
            with self._collected() as effects:
                target = self._location(left)
            rest = self._assignment(node, target, right)
            made = (*effects.before, *rest, *effects.after)
            changed = [one.target for one in made if isinstance(one, Assign)]
            if len(set(changed)) < len(changed):
                refused = self._refusal(node, Reason.SIDE_EFFECT, _TWICE)
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

    def _refusal(self, node: Node, reason: Reason, detail: str) -> Refuse:
        return Refuse(place(node), reason, detail)

    # Side effects

    @contextmanager
    def _collected(self) -> Iterator[_Effects]:
        saved = self._before, self._after
        effects = _Effects([], [])
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
        return self._unit.types.parse(_type_text(node))

    def _expression(self, node: Node) -> Expression:
        kind = node.get("kind", "")
        if kind in _TRANSPARENT:
            return self._expression(children(node)[0])
        if kind in _CASTS:
            return self._cast(node)
        if kind not in _EXPRESSIONS:
            return self._not_understood(node)
        value: Expression = getattr(self, _EXPRESSIONS[kind])(node)
        return value

    def _not_understood(self, node: Node, detail: str | None = None) -> Expression:
        kind = node.get("kind", "")
        reason = Reason.INLINE_ASSEMBLY if "Asm" in kind else Reason.UNSUPPORTED
        self._before.append(self._refusal(node, reason, detail or kind))
        loops = {one.place: one for one in _refused_loops(node, detail or kind)}
        self._before += loops.values()  # clang shows the body of a lambda twice
        return _unknown(self._type(node), node, kind)

    def _cast(self, node: Node) -> Expression:
        kind, inner = node.get("castKind"), children(node)[-1]
        if kind == "LValueToRValue":
            return Read(self._type(node), place(node), self._location(inner))
        if kind == "ArrayToPointerDecay":
            return Decay(self._type(node), place(node), self._location(inner))
        if kind in ("NullToPointer", "FunctionToPointerDecay", "BuiltinFnToFnPtr"):
            return _unknown(self._type(node), node, str(kind))
        value = self._expression(inner)
        if kind not in _CONVERSIONS:
            self._before.append(Evaluate(place(node), value))  # it is read all the same
            return _unknown(self._type(node), node, str(kind))
        return Convert(self._type(node), place(node), value)

    def _integer(self, node: Node) -> Expression:
        return Literal(self._type(node), place(node), int(node["value"]))

    def _floating(self, node: Node) -> Expression:
        try:
            return Literal(self._type(node), place(node), float(node["value"]))
        except ValueError:
            return _unknown(self._type(node), node, "literal")

    def _boolean(self, node: Node) -> Expression:
        return Literal(self._type(node), place(node), int(node["value"]))

    def _constant(self, node: Node) -> Expression:
        return _unknown(self._type(node), node, node["kind"])

    def _size(self, node: Node) -> Expression:
        inner = children(node)
        text = node["argType"]["qualType"] if "argType" in node else _type_text(inner[0])
        n_bytes = self._unit.types.parse(text).n_bytes
        if node.get("name") != "sizeof" or n_bytes is None:
            return _unknown(self._type(node), node, "sizeof")
        return Literal(self._type(node), place(node), n_bytes)

    def _reference(self, node: Node) -> Expression:
        meant = node.get("referencedDecl", {})
        if meant.get("kind") == "EnumConstantDecl" and meant["id"] in self._unit.constants:
            return Literal(INT, place(node), self._unit.constants[meant["id"]])
        return _unknown(self._type(node), node, meant.get("name", "?"))

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
        computed = self._unit.types.parse(_type_text({"type": node["computeResultType"]}))
        value = self._expression(right)
        held: Expression = Read(target.type, place(left), target)
        wide = self._unit.types.parse(_type_text({"type": node["computeLHSType"]}))
        if wide != target.type:
            held = Convert(wide, place(left), held)
        whole: Expression = Binary(computed, place(node), node["opcode"][:-1], held, value)
        if computed != target.type:
            whole = Convert(target.type, place(node), whole)
        if target in _assigned(tuple(self._after)):
            self._before.append(self._refusal(node, Reason.SIDE_EFFECT, _TWICE))
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
            self._before.append(self._refusal(node, Reason.SIDE_EFFECT, _TWICE))
        (self._after if node.get("isPostfix") else self._before).append(change)
        return Read(kind, place(node), target)

    def _call(self, node: Node) -> Expression:
        callee, *arguments = children(node)
        name = _callee_name(callee)
        values = tuple(self._expression(one) for one in arguments)
        if name is None:
            detail = "call through a pointer"
            self._before.append(self._refusal(node, Reason.FUNCTION_POINTER, detail))
            return _unknown(self._type(node), node, "call")
        if name in SETJMP:
            self._before.append(self._refusal(node, Reason.SETJMP, name))
        elif name in IO:
            self._before.append(self._refusal(node, Reason.IO, name))
        return Call(self._type(node), place(node), name, values, effect_of(name))

    # Locations

    def _location(self, node: Node) -> Location:
        kind = node.get("kind", "")
        if kind in _TRANSPARENT or (kind in _CASTS and node.get("castKind") == "NoOp"):
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


@dataclass
class _Effects:
    """Statements that are part of an expression: before it, and after it."""

    before: list[Statement]
    after: list[Statement]


def _is_initialiser(node: Node) -> bool:
    return not node.get("kind", "").endswith(("Attr", "Comment"))


def _assigned(block: Block) -> set[Location]:
    return {one.target for one in block if isinstance(one, Assign)}


def _unknown(kind: Type, node: Node, detail: str) -> Unknown:
    return Unknown(kind, place(node), detail)


def _callee_name(node: Node) -> str | None:
    while node.get("kind") in _TRANSPARENT or node.get("castKind") in (
        "FunctionToPointerDecay",
        "BuiltinFnToFnPtr",
    ):
        node = children(node)[0]
    meant = node.get("referencedDecl", {})
    is_function = node.get("kind") == "DeclRefExpr" and meant.get("kind") == "FunctionDecl"
    return str(meant["name"]) if is_function else None


def _refused_statement(kind: str) -> tuple[Reason, str]:
    if "Asm" in kind:
        return Reason.INLINE_ASSEMBLY, "asm"
    if "Goto" in kind:
        return Reason.GOTO, "goto"
    return Reason.UNSUPPORTED, kind
