"""Derived forms that turn into calls of internal primitives."""

from __future__ import annotations

from typing import Any

from kleene.frontends.scheme.data import Datum, Form, Identifier, Literal, Name, dotted
from kleene.frontends.scheme.expander.expand import Expander
from kleene.frontends.scheme.expander.forms import (
    cond_clauses,
    items_of,
    list_items,
    literal_text,
    pairs_of,
)
from kleene.frontends.scheme.expander.scopes import Alias, Scope
from kleene.ir.scheme.values import UNSPECIFIED


def _thunk(x: Expander, body: list[Datum], scope: Scope, slot: int, form: Any) -> None:
    """Put (lambda () body ...) into a slot."""
    _, inside = x.lambda_row([], form, slot)
    x.body(body, Scope(scope, {}), inside, form)


def delayed(word: str, x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(delay expression) and (delay-force expression): which, is `word`."""
    parts = items_of(x, form, 1, 1, f"({word} expression)")
    _thunk(x, parts, scope, x.primitive_call(f"%{word}", form, slot, 1), form)


def case_lambda(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(case-lambda (formals body ...) ...)."""
    first = x.primitive_call("%case-lambda", form, slot, len(form.items) - 1)
    for i, clause in enumerate(form.items[1:]):
        items = list_items(x, clause, "(formals body ...)", 2)
        x.procedure(items[0], items[1:], scope, first + i, clause)


def parameterize(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(parameterize ((parameter value) ...) body ...)."""
    parts = items_of(x, form, 2, None, "(parameterize ((parameter value) ...) body ...)")
    given = list_items(x, parts[0], "((parameter value) ...)")
    pairs = [list_items(x, each, "(parameter value)", 2, 2) for each in given]
    first = x.primitive_call("%parameterize", form, slot, 1 + 2 * len(pairs))
    _thunk(x, parts[1:], scope, first, form)
    x.push_all((datum for pair in pairs for datum in pair), scope, first + 1)


def guard(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(guard (name clause ...) body ...).

    The handler is given the condition and a procedure that raises it again where it was raised.
    """
    parts = items_of(x, form, 2, None, "(guard (name clause ...) body ...)")
    clauses = list_items(x, parts[0], "(name clause ...)")
    if not clauses or type(clauses[0]) is not Identifier:
        raise x.error(parts[0], "scheme/bad-syntax", "expected (name clause ...)")
    name = clauses[0]
    first = x.primitive_call("%guard", form, slot, 2)
    _thunk(x, parts[1:], scope, first, form)
    hidden = x.builtin("reraise", form)
    bindings, inside = x.lambda_row([(name.name, name), (hidden.name, form)], form, first + 1)
    again = x.builder.bound() + 1

    def raise_again(x: Expander, slot: int) -> None:
        x.variable_row(again, form, x.call_row(form, slot, 0))

    cond_clauses(x, clauses[1:], Scope(scope, bindings), inside, form, raise_again)


def let_values(is_sequential: bool, x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(let-values ((formals expression) ...) body ...), and let*-values, which is sequential."""
    parts = items_of(x, form, 2, None, "(let-values ((formals expression) ...) body ...)")
    inner = scope
    seen: set[Name] = set()
    for binding in list_items(x, parts[0], "((formals expression) ...)"):
        items = list_items(x, binding, "(formals expression)", 2, 2)
        names, has_rest = x.formals(items[0])
        # Rows name variables by number: expanding in the outer scope is all that let-values needs.
        where = inner if is_sequential else scope
        slot, bindings = _receive_values(x, items[1], names, has_rest, where, slot, form)
        if not is_sequential and not seen.isdisjoint(bindings):
            raise x.error(binding, "scheme/bound-twice", "a name is bound twice")
        seen.update(bindings)
        inner = Scope(inner, bindings)
    x.body(parts[1:], Scope(inner, {}), slot, form)


def _receive_values(
    x: Expander,
    expression: Datum,
    names: list[Any],
    has_rest: bool,
    scope: Scope,
    slot: int,
    form: Any,
) -> tuple[int, Any]:
    """Put (call-with-values (lambda () expression) (lambda formals ...)) into a slot.

    Return the slot of the inner body, and what the formals bind.
    """
    first = x.primitive_call("call-with-values", form, slot, 2)
    _thunk(x, [expression], scope, first, form)
    bindings, inside = x.lambda_row(names, form, first + 1, has_rest)
    return inside, bindings


def receive(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(receive formals expression body ...), of SRFI 8."""
    parts = items_of(x, form, 3, None, "(receive formals expression body ...)")
    names, has_rest = x.formals(parts[0])
    inside, bindings = _receive_values(x, parts[1], names, has_rest, scope, slot, form)
    x.body(parts[2:], Scope(scope, bindings), inside, form)


def cut(is_early: bool, x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(cut slot-or-expression ...), of SRFI 26; `cute` evaluates its expressions early, once."""
    parts = items_of(x, form, 1, None, "(cut slot-or-expression ...)")
    has_rest = x.is_word(parts[-1], scope, "<...>")
    formals: list[Datum] = []
    early: list[Datum] = []
    call: list[Datum] = []
    for part in parts[:-1] if has_rest else parts:
        is_slot = x.is_word(part, scope, "<>")
        if is_slot or is_early:
            name = Identifier(Alias("slot", scope), part.at, part.end)
            call.append(name)
            if is_slot:
                formals.append(name)
            else:
                early.append(_form(form, name, part))
        else:
            call.append(part)
    taken: Datum = _form(form, *formals)
    if has_rest:
        rest = Identifier(Alias("rest", scope), form.at, form.end)
        taken = dotted(formals, rest, form.at, form.end)
        call = [x.builtin("apply", form), *call, rest]
    made = _form(form, x.builtin("lambda", form), taken, _form(form, *call))
    x.push(_form(form, x.builtin("let", form), _form(form, *early), made), scope, slot)


def fluid_let(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(fluid-let ((name value) ...) body ...): assigned while control is in the body.

    (let ((other value) ...)
      (dynamic-wind SWAP (lambda () body ...) SWAP))  where SWAP exchanges name and other
    """
    parts = items_of(x, form, 2, None, "(fluid-let ((name value) ...) body ...)")
    pairs = pairs_of(x, parts[0])
    word = {name: x.builtin(name, form) for name in ("let", "lambda", "set!", "dynamic-wind")}
    others = [Identifier(Alias("other", scope), name.at, name.end) for name, _ in pairs]
    kept = Identifier(Alias("kept", scope), form.at, form.end)
    swaps = [
        _form(
            form,
            word["let"],
            _form(form, _form(form, kept, other)),
            _form(form, word["set!"], other, name),
            _form(form, word["set!"], name, kept),
        )
        for (name, _), other in zip(pairs, others, strict=True)
    ]
    none = _form(form)
    swap = _form(form, word["lambda"], none, *swaps, Literal(UNSPECIFIED, form.at, form.end))
    body = _form(form, word["lambda"], none, *parts[1:])
    bindings = [_form(form, other, value) for other, (_, value) in zip(others, pairs, strict=True)]
    wound = _form(form, word["dynamic-wind"], swap, body, swap)
    x.push(_form(form, word["let"], _form(form, *bindings), wound), scope, slot)


def _form(place: Datum, *items: Datum) -> Datum:
    return Form(list(items), place.at, place.end)


def syntax_error(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(syntax-error message datum ...): what a macro says of a wrong use."""
    parts = items_of(x, form, 1, None, "(syntax-error message datum ...)")
    raise x.error(form, "scheme/syntax-error", literal_text(x, parts[0], "the message"))


def word(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """Refuse an auxiliary keyword at the head of an expression."""
    raise x.error(form, "scheme/misplaced", "this keyword has a meaning inside other forms only")
