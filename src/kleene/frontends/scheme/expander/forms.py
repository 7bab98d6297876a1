"""The forms that everything else is made of, and those common enough to be made into rows at once.

A variable that only the expansion knows has no name that a program could write, so nothing here
needs renaming.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kleene.frontends.scheme.data import Datum, Form, Identifier, Literal, Name
from kleene.frontends.scheme.expander.expand import Expander
from kleene.frontends.scheme.expander.quoting import value_of
from kleene.frontends.scheme.expander.scopes import Scope, Variable
from kleene.ir.scheme import core

Fallback = Callable[[Expander, int], None]  # puts what no clause gives into a slot


def items_of(x: Expander, form: Form, least: int, most: int | None, shape: str) -> list[Datum]:
    """Return the parts of a form after its keyword; refuse too few or too many."""
    n = len(form.items) - 1
    if n < least or (most is not None and n > most):
        raise x.error(form, "scheme/bad-syntax", f"expected {shape}")
    return form.items[1:]


def list_items(
    x: Expander, datum: Datum, shape: str, least: int = 0, most: int | None = None
) -> list[Datum]:
    """Return the items of a list; refuse too few or too many."""
    n = len(datum.items) if type(datum) is Form else -1
    if type(datum) is not Form or n < least or (most is not None and n > most):
        raise x.error(datum, "scheme/bad-syntax", f"expected {shape}")
    return datum.items


def pairs_of(x: Expander, datum: Datum) -> list[tuple[Identifier, Datum]]:
    """Return names and values of a list of bindings."""
    pairs = []
    for binding in list_items(x, datum, "a list of bindings"):
        items = list_items(x, binding, "(name value)", 2, 2)
        if type(items[0]) is not Identifier:
            raise x.error(binding, "scheme/bad-syntax", "expected (name value)")
        pairs.append((items[0], items[1]))
    return pairs


def _bindings(x: Expander, datum: Datum) -> tuple[list[tuple[Name, Any]], list[Datum]]:
    """Return the names of a list of bindings, each with its datum, and the values."""
    pairs = pairs_of(x, datum)
    return [(name.name, name) for name, _ in pairs], [value for _, value in pairs]


def quote(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(quote datum)."""
    (datum,) = items_of(x, form, 1, 1, "(quote datum)")
    x.builder.constant(value_of(datum, x.sources), form.at, form.end, slot)


def if_(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(if test consequent alternative)."""
    parts = items_of(x, form, 2, 3, "(if test consequent alternative)")
    first = x.builder.row(core.IF, form.at, form.end, slot, n_operands=3)
    x.push_all(parts, scope, first)
    if len(parts) == 2:
        x.unspecified(form, first + 2)


def set_(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(set! name value)."""
    name, value = items_of(x, form, 2, 2, "(set! name value)")
    if type(name) is not Identifier:
        raise x.error(name, "scheme/bad-syntax", "set! assigns to a name")
    binding = scope.lookup(name)
    if type(binding) is not Variable:
        raise x.error(name, "scheme/keyword", "a keyword cannot be assigned")
    x.builder.is_assigned[binding.number] = True
    inside = x.builder.row(core.SET, form.at, form.end, slot, binding.number, n_operands=1)
    x.push(value, scope, inside)


def lambda_(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(lambda formals body ...)."""
    parts = items_of(x, form, 2, None, "(lambda formals body ...)")
    x.procedure(parts[0], parts[1:], scope, slot, form)


def begin(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(begin expression ...)."""
    x.sequence(form.items[1:], scope, slot, form)


def let(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(let ((name value) ...) body ...) and (let name ((name value) ...) body ...)."""
    parts = items_of(x, form, 2, None, "(let ((name value) ...) body ...)")
    if type(parts[0]) is Identifier:
        return _named_let(x, form, scope, slot)
    names, values = _bindings(x, parts[0])
    first = x.call_row(form, slot, len(values))
    bindings, inside = x.lambda_row(names, form, first)
    x.body(parts[1:], Scope(scope, bindings), inside, form)
    x.push_all(values, scope, first + 1)


def _named_let(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    parts = items_of(x, form, 3, None, "(let name ((name value) ...) body ...)")
    loop = parts[0]
    assert type(loop) is Identifier
    names, values = _bindings(x, parts[1])
    first = x.call_row(form, slot, len(values))
    bindings, inside = x.letrec_row([(loop.name, loop)], form, first)
    inner = Scope(scope, bindings)
    x.push(loop, inner, inside + 1)
    formals, body = x.lambda_row(names, form, inside)
    x.body(parts[2:], Scope(inner, formals), body, form)
    x.push_all(values, scope, first + 1)


def let_star(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(let* ((name value) ...) body ...)."""
    parts = items_of(x, form, 2, None, "(let* ((name value) ...) body ...)")
    for name, value in pairs_of(x, parts[0]):
        first = x.call_row(form, slot, 1)
        bindings, slot = x.lambda_row([(name.name, name)], form, first)
        x.push(value, scope, first + 1)
        scope = Scope(scope, bindings)
    x.body(parts[1:], Scope(scope, {}), slot, form)


def letrec(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(letrec ((name value) ...) body ...), and letrec*."""
    parts = items_of(x, form, 2, None, "(letrec ((name value) ...) body ...)")
    names, values = _bindings(x, parts[0])
    bindings, first = x.letrec_row(names, form, slot)
    inner = Scope(scope, bindings)
    x.push_all(values, inner, first)
    x.body(parts[1:], Scope(inner, {}), first + len(values), form)


def do(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(do ((name init step) ...) (test expression ...) command ...)."""
    shape = "(do ((name init step) ...) (test expression ...) command ...)"
    parts = items_of(x, form, 2, None, shape)
    loops = list_items(x, parts[0], shape)
    clauses = [list_items(x, each, "(name init step)", 2, 3) for each in loops]
    for clause, datum in zip(clauses, loops, strict=True):
        if type(clause[0]) is not Identifier:
            raise x.error(datum, "scheme/bad-syntax", "expected (name init step)")
    test = list_items(x, parts[1], "(test expression ...)", 1)
    first = x.call_row(form, slot, len(clauses))
    _, inside = x.letrec_row([("do", form)], form, first)
    loop = x.builder.bound()
    x.variable_row(loop, form, inside + 1)
    names: list[tuple[Name, Any]] = [(clause[0].name, clause[0]) for clause in clauses]  # type: ignore[union-attr]
    bindings, body = x.lambda_row(names, form, inside)
    inner = Scope(scope, bindings)
    branch = x.builder.row(core.IF, form.at, form.end, body, n_operands=3)
    x.push(test[0], inner, branch)
    x.sequence(test[1:], inner, branch + 1, form)
    again = branch + 2
    if commands := parts[2:]:
        again = x.builder.row(core.SEQUENCE, form.at, form.end, again, n_operands=len(commands) + 1)
        x.push_all(commands, inner, again)
        again += len(commands)
    repeat = x.call_row(form, again, len(clauses))
    x.variable_row(loop, form, repeat)
    x.push_all((clause[1] for clause in clauses), scope, first + 1)
    steps = (clause[-1] if len(clause) == 3 else clause[0] for clause in clauses)
    x.push_all(steps, inner, repeat + 1)


def and_(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(and test ...)."""
    tests = form.items[1:]
    if not tests:
        return x.builder.constant(True, form.at, form.end, slot)
    for test in tests[:-1]:
        first = x.builder.row(core.IF, form.at, form.end, slot, n_operands=3)
        x.push(test, scope, first)
        x.builder.constant(False, form.at, form.end, first + 2)
        slot = first + 1
    x.push(tests[-1], scope, slot)


def or_(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(or test ...)."""
    tests = form.items[1:]
    if not tests:
        return x.builder.constant(False, form.at, form.end, slot)
    for test in tests[:-1]:
        slot = _if_value(x, test, scope, slot, form, _the_value)
    x.push(tests[-1], scope, slot)


def _if_value(
    x: Expander, test: Datum, scope: Scope, slot: int, form: Any, use: Callable[..., None]
) -> int:
    """Let `use` fill what happens where the test has a value; return the other slot.

    ((lambda (value) (if value USE OTHER)) test)
    """
    first = x.call_row(form, slot, 1)
    x.push(test, scope, first + 1)
    _, inside = x.lambda_row([("value", test)], form, first)
    value = x.builder.bound()
    branch = x.builder.row(core.IF, form.at, form.end, inside, n_operands=3)
    x.variable_row(value, test, branch)
    use(x, value, test, branch + 1)
    return branch + 2


def _the_value(x: Expander, value: int, test: Datum, slot: int) -> None:
    x.variable_row(value, test, slot)


def one_armed(word: str, x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(when test expression ...) and (unless test expression ...): which, is `word`."""
    parts = items_of(x, form, 2, None, f"({word} test expression ...)")
    first = x.builder.row(core.IF, form.at, form.end, slot, n_operands=3)
    arm, other = (1, 2) if word == "when" else (2, 1)
    x.push(parts[0], scope, first)
    x.sequence(parts[1:], scope, first + arm, form)
    x.unspecified(form, first + other)


def cond(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(cond (test expression ...) ... (else expression ...))."""
    items_of(x, form, 1, None, "(cond (test expression ...) ...)")
    cond_clauses(x, form.items[1:], scope, slot, form, lambda x, slot: x.unspecified(form, slot))


def cond_clauses(
    x: Expander, clauses: list[Datum], scope: Scope, slot: int, form: Any, fallback: Fallback
) -> None:
    """Put the clauses of a cond into a slot, and `fallback` where they have no else."""
    for i, clause in enumerate(clauses):
        items = list_items(x, clause, "(test expression ...)", 1)
        if x.is_word(items[0], scope, "else"):
            if i != len(clauses) - 1 or len(items) == 1:
                raise x.error(clause, "scheme/bad-syntax", "else is last and has an expression")
            return x.sequence(items[1:], scope, slot, clause)
        slot = _cond_clause(x, items, scope, slot, clause)
    fallback(x, slot)


def _cond_clause(x: Expander, items: list[Datum], scope: Scope, slot: int, clause: Datum) -> int:
    """Put one clause into a slot; return the slot of what follows it."""
    if len(items) == 1:
        return _if_value(x, items[0], scope, slot, clause, _the_value)
    if x.is_word(items[1], scope, "=>"):
        if len(items) != 3:
            raise x.error(clause, "scheme/bad-syntax", "expected (test => receiver)")

        def receive(x: Expander, value: int, test: Datum, slot: int) -> None:
            _receive(x, items[2], value, scope, slot, clause)

        return _if_value(x, items[0], scope, slot, clause, receive)
    first = x.builder.row(core.IF, clause.at, clause.end, slot, n_operands=3)
    x.push(items[0], scope, first)
    x.sequence(items[1:], scope, first + 1, clause)
    return first + 2


def _receive(
    x: Expander, receiver: Datum, value: int, scope: Scope, slot: int, clause: Datum
) -> None:
    first = x.call_row(clause, slot, 1)
    x.push(receiver, scope, first)
    x.variable_row(value, clause, first + 1)


def case(x: Expander, form: Form, scope: Scope, slot: int) -> None:
    """(case key ((datum ...) expression ...) ... (else expression ...))."""
    parts = items_of(x, form, 2, None, "(case key ((datum ...) expression ...) ...)")
    first = x.call_row(form, slot, 1)
    x.push(parts[0], scope, first + 1)
    _, slot = x.lambda_row([("key", parts[0])], form, first)
    key = x.builder.bound()
    for i, clause in enumerate(parts[1:]):
        items = list_items(x, clause, "((datum ...) expression ...)", 2)
        if x.is_word(items[0], scope, "else"):
            if i != len(parts) - 2:
                raise x.error(clause, "scheme/bad-syntax", "else is the last clause")
            return _case_body(x, items, key, scope, slot, clause)
        data = list_items(x, items[0], "((datum ...) expression ...)")
        branch = x.builder.row(core.IF, clause.at, clause.end, slot, n_operands=3)
        _case_test(x, items[0], data, key, branch)
        _case_body(x, items, key, scope, branch + 1, clause)
        slot = branch + 2
    x.unspecified(form, slot)


def _case_test(x: Expander, place: Datum, data: list[Datum], key: int, slot: int) -> None:
    """Put the test whether the key is one of the data into a slot."""
    name = "eqv?" if len(data) == 1 else "memv"
    first = x.primitive_call(name, place, slot, 2)
    x.variable_row(key, place, first)
    value = value_of(data[0] if len(data) == 1 else place, x.sources)
    x.builder.constant(value, place.at, place.end, first + 1)


def _case_body(
    x: Expander, items: list[Datum], key: int, scope: Scope, slot: int, clause: Datum
) -> None:
    if not x.is_word(items[1], scope, "=>"):
        return x.sequence(items[1:], scope, slot, clause)
    if len(items) != 3:
        raise x.error(clause, "scheme/bad-syntax", "expected (... => receiver)")
    _receive(x, items[2], key, scope, slot, clause)


def literal_text(x: Expander, datum: Datum, what: str) -> str:
    """Return the text of a literal string."""
    if type(datum) is not Literal or type(datum.value) is not str:
        raise x.error(datum, "scheme/bad-syntax", f"{what} is a string")
    return datum.value
