"""Definitions: of variables, of records, of macros."""

from __future__ import annotations

from typing import Any

from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Form,
    Identifier,
    Literal,
    after_first,
    plain_name,
)
from kleene.frontends.scheme.expander.expand import Expander, Procedure
from kleene.frontends.scheme.expander.forms import items_of, list_items, pairs_of
from kleene.frontends.scheme.expander.rules import RuleCompiler, RuleFault, Rules
from kleene.frontends.scheme.expander.scopes import Alias, Macro, Scope, Special
from kleene.ir.scheme.values import UNSPECIFIED

_PROCEDURAL = frozenset(
    [
        "er-macro-transformer",
        "ir-macro-transformer",
        "sc-macro-transformer",
        "rsc-macro-transformer",
        "syntax-case",
        "lambda",
    ]
)


def misplaced(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """Refuse a definition where an expression is expected."""
    raise x.error(form, "scheme/misplaced", "a definition stands where an expression is expected")


def define(x: Expander, form: Form, scope: Scope) -> tuple[Identifier, Any]:
    """Return the name that a definition binds, and the datum of its value."""
    parts = items_of(x, form, 1, None, "(define name value)")
    target, body = parts[0], parts[1:]
    value: Any = None
    while type(target) is Form or type(target) is Dotted:
        items = target.items
        if not items or not body:
            raise x.error(form, "scheme/bad-syntax", "expected (define (name . formals) body ...)")
        tail: Datum = target.tail if type(target) is Dotted else Form([], target.at, target.end)
        is_plain = value is None and type(items[0]) is Identifier
        inside = after_first(items, tail, target)
        value = Procedure(inside, body, form.at, form.end, form if is_plain else None)
        target, body = items[0], [value]
    if type(target) is not Identifier:
        raise x.error(target, "scheme/bad-syntax", "define binds a name")
    if value is None and len(body) > 1:
        raise x.error(form, "scheme/bad-syntax", "expected (define name value)")
    if value is None:
        value = body[0] if body else Literal(UNSPECIFIED, form.at, form.end)
    return target, value


def define_values(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Return (define name) for each formal, then the assignment of them all."""
    formals, expression = items_of(x, form, 2, 2, "(define-values formals expression)")
    names, has_rest = x.formals(formals)
    holders = [Identifier(Alias(name, scope), place.at, place.end) for name, place in names]
    inner: Datum = Form([*holders], form.at, form.end)
    if has_rest:
        inner = Dotted([*holders[:-1]], holders[-1], form.at, form.end) if names[1:] else holders[0]
    unset = Literal(UNSPECIFIED, form.at, form.end)
    defines = [_list(form, x.builtin("define", form), place, unset) for _, place in names]
    assigns = [
        _list(form, x.builtin("set!", form), place, holder)
        for (_, place), holder in zip(names, holders, strict=True)
    ]
    word = x.builtin("lambda", form)
    producer = _list(form, word, Form([], form.at, form.end), expression)
    consumer = _list(form, word, inner, *assigns, unset)
    return [*defines, _list(form, x.builtin("call-with-values", form), producer, consumer)]


def _list(place: Datum, *items: Datum) -> Datum:
    return Form(list(items), place.at, place.end)


def define_record_type(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Return the definitions of a record type's name and procedures."""
    shape = "(define-record-type name (constructor field ...) predicate (field accessor) ...)"
    parts = items_of(x, form, 3, None, shape)
    name = parts[0].items[0] if type(parts[0]) is Form and parts[0].items else parts[0]
    fields = [_field(x, part) for part in parts[3:]]
    if type(name) is not Identifier:
        raise x.error(form, "scheme/bad-syntax", f"expected {shape}")
    number = {field[0].name: i for i, field in enumerate(fields)}
    if len(number) != len(fields):
        raise x.error(form, "scheme/bad-record", "a record names a field twice")
    quoted = [
        _list(form, x.builtin("quote", form), datum)
        for datum in (name, _list(form, *(field[0] for field in fields)))
    ]
    make_type = _list(form, x.builtin("%make-record-type", form), *quoted)
    defines = [_list(form, x.builtin("define", form), name, make_type)]
    defines += _constructor(x, parts[1], name, [field[0] for field in fields])
    record = Identifier(Alias("record", x.builtins), form.at, form.end)
    if type(parts[2]) is Identifier:
        test = _list(form, x.builtin("%record?", form), record, name)
        defines.append(_procedure(x, parts[2], [record], test))
    for i, field in enumerate(fields):
        index = Literal(i, field[0].at, field[0].end)
        for j, accessor in enumerate(field[1:]):
            value = [Identifier(Alias("value", x.builtins), form.at, form.end)][:j]
            word = x.builtin("%record-set!" if j else "%record-ref", accessor)
            access = _list(accessor, word, record, name, index, *value)
            defines.append(_procedure(x, accessor, [record, *value], access))
    return defines


def _field(x: Expander, datum: Datum) -> list[Identifier]:
    """Return a field's name, and those of its accessor and modifier if it has them."""
    items = [datum] if type(datum) is Identifier else list_items(x, datum, "(field accessor)")
    names = [item for item in items if type(item) is Identifier]
    if len(names) != len(items) or not 1 <= len(names) <= 3:
        raise x.error(datum, "scheme/bad-record", "expected (field accessor modifier)")
    return names


def _constructor(
    x: Expander, datum: Datum, name: Identifier, fields: list[Identifier]
) -> list[Datum]:
    if type(datum) is Literal and datum.value is False:
        return []
    if type(datum) is Identifier:
        return [_make_record(x, datum, datum, name, fields, fields)]
    items = list_items(x, datum, "(constructor field ...)")
    given = [item for item in items[1:] if type(item) is Identifier]
    known = {field.name for field in fields}
    if not items or len(given) != len(items) - 1 or type(items[0]) is not Identifier:
        raise x.error(datum, "scheme/bad-record", "expected (constructor field ...)")
    for field in given:
        if field.name not in known:
            raise x.error(field, "scheme/bad-record", "the record has no such field")
    return [_make_record(x, items[0], datum, name, fields, given)]


def _make_record(
    x: Expander,
    constructor: Identifier,
    place: Datum,
    name: Identifier,
    fields: list[Identifier],
    given: list[Identifier],
) -> Datum:
    """Return a constructor's definition; formals are renamed: one may be called as the type."""
    formals = {
        field.name: Identifier(Alias(field.name, x.builtins), field.at, field.end)
        for field in given
    }
    if len(formals) != len(given):
        raise x.error(place, "scheme/bad-record", "a constructor names a field twice")
    unset = Literal(False, place.at, place.end)
    values = [formals.get(field.name, unset) for field in fields]
    record = _list(place, x.builtin("%record", place), name, *values)
    return _procedure(x, constructor, list(formals.values()), record)


def _procedure(x: Expander, name: Identifier, formals: list[Any], body: Datum) -> Datum:
    return _list(name, x.builtin("define", name), _list(name, name, *formals), body)


def define_syntax(x: Expander, form: Form, scope: Scope) -> list[Datum]:
    """Bind a macro's name; return nothing to expand."""
    name, rules = items_of(x, form, 2, 2, "(define-syntax name (syntax-rules ...))")
    if type(name) is not Identifier:
        raise x.error(name, "scheme/bad-syntax", "define-syntax binds a name")
    scope.bind(name.name, UNKNOWN_MACRO)  # if its rules are wrong, its uses are not wrong as well
    scope.bind(name.name, transformer(x, rules, scope))
    return []


def _nothing(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    x.unspecified(form, slot)


UNKNOWN_MACRO = Special("a macro with wrong rules", _nothing, lambda x, form, scope: [])


def let_syntax(is_recursive: bool, x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(let-syntax ((name rules) ...) body ...), and letrec-syntax, whose rules see the names."""
    parts = items_of(x, form, 2, None, "(let-syntax ((name rules) ...) body ...)")
    inner = Scope(scope, {})
    for name, rules in pairs_of(x, parts[0]):
        inner.bind(name.name, transformer(x, rules, inner if is_recursive else scope))
    x.body(parts[1:], Scope(inner, {}), slot, form)


def transformer(x: Expander, datum: Datum, scope: Scope) -> Macro | Special:
    """Return the macro that (syntax-rules (literal ...) (pattern template) ...) describes."""
    if type(datum) is Identifier:  # (define-syntax name other-keyword)
        binding = scope.lookup(datum)
        if type(binding) is Macro or type(binding) is Special:
            return binding
    items = list_items(x, datum, "(syntax-rules (literal ...) (pattern template) ...)")
    if items and type(items[0]) is Identifier and plain_name(items[0].name) in _PROCEDURAL:
        message = f"{plain_name(items[0].name)} describes a macro by a procedure"
        note = "nothing of the program runs while it is expanded: write it with syntax-rules"
        raise x.error(datum, "scheme/procedural-macro", message, note)
    if len(items) < 2 or not x.is_word(items[0], scope, "syntax-rules"):
        raise x.error(datum, "scheme/bad-rules", "only syntax-rules describes a macro")
    ellipsis: Any = "..."
    rest = items[1:]
    if type(rest[0]) is Identifier:
        ellipsis, rest = rest[0].name, rest[1:]
    if not rest:
        raise x.error(datum, "scheme/bad-rules", "the list of literals is missing")
    literals = list_items(x, rest[0], "a list of literals")
    for literal in literals:
        if type(literal) is not Identifier:
            raise x.error(literal, "scheme/bad-rules", "a literal is a name")
    names = frozenset(literal.name for literal in literals)  # type: ignore[union-attr]
    compiler = RuleCompiler(ellipsis, names)
    pairs = tuple(_rule(x, compiler, rule) for rule in rest[1:])
    return Macro(Rules(pairs), scope)


def _rule(x: Expander, compiler: RuleCompiler, rule: Datum) -> Any:
    items = list_items(x, rule, "(pattern template)")
    if len(items) != 2 or type(items[0]) not in (Form, Dotted) or not items[0].items:  # type: ignore[union-attr]
        raise x.error(rule, "scheme/bad-rules", "expected (pattern template)")
    pattern: Any = items[0]
    tail: Datum = pattern.tail if type(pattern) is Dotted else Form([], pattern.at, pattern.end)
    inside = after_first(pattern.items, tail, pattern)
    depths: dict[Any, int] = {}
    try:
        compiled = compiler.pattern(inside, depths, 0, 0)
        return compiled, compiler.template(items[1], depths)
    except RuleFault as fault:
        raise x.error(fault.datum, "scheme/bad-rules", fault.message) from None
