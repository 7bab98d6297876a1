"""The expander's engine: one stack of data still to be expanded, each with its scope and its slot.

Rows are made from the top down, so expanding a datum only pushes the data inside it: there is no
recursion, whatever the depth of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from kleene.base.errors import SourceError, Span, raise_all
from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Form,
    Identifier,
    Labelled,
    LabelUse,
    Literal,
    Name,
    Vector,
    after_first,
    dotted,
    plain_name,
)
from kleene.frontends.scheme.expander.quoting import literal_value, value_of
from kleene.frontends.scheme.expander.rules import Filler, RuleFault
from kleene.frontends.scheme.expander.scopes import (
    Alias,
    Binding,
    Macro,
    Scope,
    Special,
    Top,
    Variable,
)
from kleene.ir.scheme import core
from kleene.ir.scheme.builder import CoreBuilder
from kleene.ir.scheme.sources import Sources
from kleene.ir.scheme.values import UNSPECIFIED

if TYPE_CHECKING:
    from kleene.frontends.scheme.expander.libraries import Libraries

_OPTIONAL = ("#!optional", "#!rest")
_MOST_MADE = 1_000_000  # data that macros may make: a macro without end must stop
_MOST_ERRORS = 50  # of one text: nobody reads more


class _Enough(Exception):  # noqa: N818 - it ends an expansion whose errors are known
    """There are as many errors as are reported."""


def in_order(errors: Iterable[SourceError], sources: Sources) -> list[SourceError]:
    """Return errors by their places, each once."""
    number = {source.file: i for i, source in enumerate(sources.all)}

    def place(error: SourceError) -> tuple[int, int, int]:
        span = error.span or Span("")
        return number.get(span.file, len(number)), span.line, span.column

    return list({(e.id, e.span, e.message): e for e in sorted(errors, key=place)}.values())


class Procedure:
    """A lambda expression that was written as a definition: `form`, unless that is curried."""

    __slots__ = ("at", "body", "end", "form", "formals")

    def __init__(
        self, formals: Datum, body: list[Datum], at: int, end: int, form: Datum | None = None
    ) -> None:
        self.formals = formals
        self.body = body
        self.form = form
        self.at = at
        self.end = end


def _is_optional(datum: Datum) -> bool:
    return type(datum) is Identifier and datum.name in _OPTIONAL


class Expander:
    """The state of one expansion. The special forms are functions that are given it."""

    def __init__(
        self, sources: Sources, builtins: dict[str, Binding], libraries: Libraries
    ) -> None:
        self.sources = sources
        self.libraries = libraries
        self.builder = CoreBuilder()
        self.stack: list[tuple[Any, Scope, int]] = []
        self.builtins = Top(self.builder, builtins)  # what the symbols of derived forms mean
        self.n_made = 0
        self.errors: list[SourceError] = []  # those found so far, in no order

    # --- errors ---------------------------------------------------------------------------------

    def fail(self, error: SourceError) -> None:
        """Note what is wrong with a form; the others are expanded all the same."""
        self.errors += error
        if len(self.errors) >= _MOST_ERRORS:
            raise _Enough

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Raise all errors that are noted inside the block at its end, in the program's order."""
        outer, self.errors = self.errors, []
        try:
            with suppress(_Enough):
                yield
            found = self.errors
        finally:
            self.errors = outer
        if found:
            self.stack.clear()
            raise_all(in_order(found, self.sources))

    # --- what special forms use -----------------------------------------------------------------

    def error(self, datum: Any, id: str, message: str, *notes: str) -> SourceError:
        """Return an error about a datum."""
        return SourceError(self.sources.span(datum.at, datum.end), id, message, *notes)

    def push(self, datum: Any, scope: Scope, slot: int) -> None:
        """Have a datum expanded into a slot."""
        self.stack.append((datum, scope, slot))

    def push_all(self, data: Iterable[Any], scope: Scope, first: int) -> None:
        """Have data expanded into slots that follow each other."""
        self.stack.extend((datum, scope, slot) for slot, datum in enumerate(data, first))

    def unspecified(self, form: Any, slot: int) -> None:
        """Put the value of what has none into a slot."""
        self.builder.constant(UNSPECIFIED, form.at, form.end, slot)

    def builtin(self, name: str, place: Datum) -> Identifier:
        """Return an identifier that means the standard `name`, whatever the program does."""
        return Identifier(Alias(name, self.builtins), place.at, place.end)

    def is_word(self, datum: Datum, scope: Scope, word: str) -> bool:
        """Return whether the datum is an auxiliary keyword such as `else`."""
        if type(datum) is not Identifier:
            return False
        binding = scope.lookup(datum)
        if type(binding) is not Variable:
            return type(binding) is Special and binding.name == word
        # Not imported, yet meant, if nothing binds it.
        number = binding.number
        is_free = self.builder.owner[number] == core.NONE and not self.builder.is_defined[number]
        return is_free and plain_name(datum.name) == word

    def lambda_row(
        self, names: list[tuple[Name, Any]], form: Any, slot: int, has_rest: bool = False
    ) -> tuple[dict[Name, Binding], int]:
        """Put a lambda with these formals into a slot; return their bindings and the body's slot.

        Each formal comes with the datum whose place it has.
        """
        builder = self.builder
        body = builder.row(core.LAMBDA, form.at, form.end, slot, n_operands=1)
        return self._bind(names, has_rest), body

    def letrec_row(
        self, names: list[tuple[Name, Any]], form: Any, slot: int
    ) -> tuple[dict[Name, Binding], int]:
        """Put a letrec of these variables into a slot; return their bindings and the first slot."""
        n = len(names) + 1
        first = self.builder.row(core.LETREC, form.at, form.end, slot, n_operands=n)
        return self._bind(names, False), first

    def _bind(self, names: list[tuple[Name, Any]], has_rest: bool) -> dict[Name, Binding]:
        builder = self.builder
        bindings: dict[Name, Binding] = {}
        numbers = []
        for name, place in names:
            number = builder.variable(plain_name(name), place.at, place.end)
            if name in bindings:
                raise self.error(place, "scheme/bound-twice", "this name is bound twice")
            bindings[name] = Variable(number)
            numbers.append(number)
        builder.binder(numbers, has_rest)
        return bindings

    def call_row(self, form: Any, slot: int, n_arguments: int) -> int:
        """Put a call into a slot; return the slot of its operator, which the arguments follow."""
        return self.builder.row(core.CALL, form.at, form.end, slot, n_operands=n_arguments + 1)

    def primitive_call(self, name: str, form: Any, slot: int, n_arguments: int) -> int:
        """Put the call of a primitive into a slot; return the first argument's slot."""
        first = self.call_row(form, slot, n_arguments)
        self.builder.primitive(name, form.at, form.end, first)
        return first + 1

    def variable_row(self, variable: int, place: Any, slot: int) -> None:
        """Put a reference to a variable into a slot."""
        self.builder.row(core.VARIABLE, place.at, place.end, slot, variable)

    def procedure(self, formals: Datum, body: list[Datum], scope: Scope, slot: int, f: Any) -> None:
        """Put a lambda expression, written at `f`, into a slot."""
        if type(formals) is Form and any(map(_is_optional, formals.items)):
            formals, body = self._without_optional(formals, body)
        names, has_rest = self.formals(formals)
        bindings, inside = self.lambda_row(names, f, slot, has_rest)
        self.body(body, Scope(scope, bindings), inside, f)

    def _without_optional(self, formals: Form, body: list[Datum]) -> tuple[Datum, list[Datum]]:
        """Return formals without `#!optional` and `#!rest`, and the body that binds theirs.

        (a #!optional b #!rest c)   becomes   (a . rest) and, around the body,
        (let* ((b (if (pair? rest) (car rest) #!default)) (rest (if (pair? rest) (cdr rest) '()))
               (c rest)) ...)
        """

        def form(*items: Datum) -> Form:
            return Form(list(items), formals.at, formals.end)

        def word(name: str) -> Identifier:
            return self.builtin(name, formals)

        rest = Identifier(Alias("rest", self.builtins), formals.at, formals.end)
        fixed: list[Datum] = []
        bindings: list[Datum] = []
        now = ""
        unset, empty = Literal(UNSPECIFIED, formals.at, formals.end), form(word("quote"), form())
        for item in formals.items:
            if _is_optional(item):
                now = item.name  # type: ignore[union-attr,assignment]
            elif not now:
                fixed.append(item)
            elif now == "#!rest":
                bindings.append(form(item, rest))
            else:
                there = form(word("pair?"), rest)
                value = form(word("if"), there, form(word("car"), rest), unset)
                left = form(word("if"), there, form(word("cdr"), rest), empty)
                bindings += [form(item, value), form(rest, left)]
        inner = form(word("let*"), form(*bindings), *body)
        return dotted(fixed, rest, formals.at, formals.end) if fixed else rest, [inner]

    def formals(self, datum: Datum) -> tuple[list[tuple[Name, Any]], bool]:
        """Return the names that a list of formals binds, and whether the last is a rest."""
        if type(datum) is Identifier:
            return [(datum.name, datum)], True
        if type(datum) is not Form and type(datum) is not Dotted:
            raise self.error(datum, "scheme/bad-formals", "a list of names is expected here")
        items = [*datum.items, datum.tail] if type(datum) is Dotted else datum.items
        for item in items:
            if type(item) is not Identifier:
                raise self.error(item, "scheme/bad-formals", "a formal is a name")
        return [(item.name, item) for item in items], type(datum) is Dotted  # type: ignore[union-attr]

    def sequence(self, forms: list[Datum], scope: Scope, slot: int, form: Any) -> None:
        """Put expressions, evaluated in order, into a slot."""
        if len(forms) == 1:
            self.stack.append((forms[0], scope, slot))
            return
        if not forms:
            return self.unspecified(form, slot)
        first = self.builder.row(core.SEQUENCE, form.at, form.end, slot, n_operands=len(forms))
        self.push_all(forms, scope, first)

    # --- bodies and the top level ---------------------------------------------------------------

    def items(
        self, forms: list[Datum], scope: Scope
    ) -> Iterator[tuple[Identifier | None, Any, bool]]:
        """Yield the definitions and expressions of a body: a name or None, and a datum.

        The third value tells whether the same use of a macro may have more of them. The datum is
        None where such a use ends without one.
        """
        waiting = forms[::-1]
        end = -1  # how many forms wait behind a use of a macro; -1: there is none
        while waiting:
            form = waiting.pop()
            if end > len(waiting):
                end = -1
                yield None, None, False
            name: Identifier | None = None
            binding: Binding | None = None
            if type(form) is Dotted:
                binding = self._macro_of(form, scope)
            elif type(form) is Form and form.items and type(form.items[0]) is Identifier:
                binding = scope.lookup(form.items[0])
            try:
                if type(binding) is Macro:
                    end = len(waiting) if end < 0 else end
                    waiting.append(self.expanded(binding, form, scope))  # type: ignore[arg-type]
                    continue
                if type(binding) is Special and binding.splice is not None:
                    if binding.name != "define":
                        waiting.extend(reversed(binding.splice(self, form, scope)))
                        continue
                    name, form = binding.splice(self, form, scope)
            except SourceError as error:
                self.fail(error)
                continue
            has_more = 0 <= end < len(waiting)
            end = end if has_more else -1
            yield name, form, has_more

    def body(self, forms: list[Datum], scope: Scope, slot: int, form: Any) -> None:
        """Put a body into a slot; its definitions are bound in `scope`, which is its own."""
        defined: list[tuple[Name, Any, Any]] = []
        expressions: list[Any] = []
        n_errors = len(self.errors)
        for identifier, datum, _ in self.items(forms, scope):
            if identifier is None:
                expressions += [] if datum is None else [datum]
                continue
            for early in expressions:  # R7RS has definitions first; common practice does not
                defined.append((Alias("_", scope), early, early))
            expressions = []
            defined.append((identifier.name, identifier, datum))
            scope.bind(identifier.name, Variable(core.NONE))
        if not expressions and len(self.errors) == n_errors:
            raise self.error(form, "scheme/empty-body", "a body ends with an expression")
        if not defined:
            return self.sequence(expressions, scope, slot, form)
        names = [(name, place) for name, place, _ in defined]
        bindings, first = self.letrec_row(names, form, slot)
        for name, binding in bindings.items():
            scope.bind(name, binding)
        self.push_all((datum for _, _, datum in defined), scope, first)
        self.sequence(expressions, scope, first + len(defined), form)

    def program(self, forms: list[Datum], top: Top) -> None:
        """Expand the forms of a top level, each before the next is looked at.

        All names that one use of a macro defines are defined before any of its forms is expanded:
        those that its template inserts mean these definitions, which may come behind.
        """
        slots = self.builder.top_slots
        n_whole = len(slots)
        with self.collecting():
            try:
                for identifier, datum, has_more in self.items(forms, top):
                    if datum is not None:
                        self.stack.insert(0, (datum, top, self._top_slot(identifier, datum, top)))
                    if not has_more:
                        self.drain()
                        n_whole = n_whole if self.errors else len(slots)
                self.drain()
            finally:
                if self.errors:  # what `eval` cannot expand must not stay half made
                    del slots[n_whole:]

    def _top_slot(self, identifier: Identifier | None, datum: Any, top: Top) -> int:
        """Return the slot of one more form of the top level: of the value, if it defines one."""
        slot = self.builder.top_slot()
        if identifier is None:
            return slot
        number = self.define_global(identifier, top)
        return self.builder.row(core.DEFINE, identifier.at, datum.end, slot, number, n_operands=1)

    def define_global(self, identifier: Identifier, top: Top) -> int:
        """Return the variable that a top-level definition of `identifier` defines."""
        builder, name = self.builder, identifier.name
        binding = top.names.get(name)
        if binding is None and type(name) is str and name in top.imports:
            binding = top.free(name, identifier)
        if type(binding) is not Variable or builder.owner[binding.number] != core.NONE:
            binding = Variable(builder.variable(plain_name(name), identifier.at, identifier.end))
            top.bind(name, binding)
        number = binding.number
        if builder.is_defined[number]:
            builder.is_assigned[number] = True
        builder.is_defined[number] = True
        builder.variable_at[number], builder.variable_end[number] = identifier.at, identifier.end
        return number

    # --- the engine -----------------------------------------------------------------------------

    def drain(self, is_for_others: Callable[[Any], bool] | None = None) -> None:
        """Expand all that is waiting, or until a datum is next that is for others."""
        stack, constant = self.stack, self.builder.constant
        while stack:
            if is_for_others is not None and is_for_others(stack[-1][0]):
                return
            datum, scope, slot = stack.pop()
            kind = type(datum)
            try:
                if kind is Form:
                    self._form(datum, scope, slot)
                elif kind is Identifier:
                    self._reference(scope.lookup(datum), datum, slot)
                elif kind is Literal:
                    constant(literal_value(datum.value), datum.at, datum.end, slot)
                elif kind is Procedure:
                    self.procedure(datum.formals, datum.body, scope, slot, datum)
                elif kind is Vector:
                    constant(value_of(datum, self.sources), datum.at, datum.end, slot)
                elif kind is Dotted and (macro := self._macro_of(datum, scope)):
                    stack.append((self.expanded(macro, datum, scope), scope, slot))
                elif kind in (Dotted, Labelled, LabelUse):
                    raise self.error(datum, "scheme/bad-syntax", "this is no expression")
                else:
                    datum.expand(self, scope, slot)
            except SourceError as error:
                self.fail(error)

    def _form(self, form: Form, scope: Scope, slot: int) -> None:
        items = form.items
        if not items:
            raise self.error(
                form, "scheme/bad-syntax", "an empty list is no expression", "quote it"
            )
        head = items[0]
        if type(head) is Identifier:
            binding = scope.lookup(head)
            what = type(binding)
            if what is Special:
                binding.expand(self, form, scope, slot)  # type: ignore[union-attr]
                return
            if what is Macro:
                expanded = self.expanded(binding, form, scope)  # type: ignore[arg-type]
                return self.stack.append((expanded, scope, slot))
            first = self.call_row(form, slot, len(items) - 1)
            self._reference(binding, head, first)
        else:
            first = self.call_row(form, slot, len(items) - 1)
            self.stack.append((head, scope, first))
        row, stack = self.builder.row, self.stack
        for item in items[1:]:
            first += 1
            if type(item) is not Identifier:
                stack.append((item, scope, first))
            elif type(binding := scope.lookup(item)) is Variable:
                row(core.VARIABLE, item.at, item.end, first, binding.number)
            else:
                self._reference(binding, item, first)

    def _reference(self, binding: Binding, datum: Identifier, slot: int) -> None:
        if type(binding) is not Variable:
            name = plain_name(datum.name)
            raise self.error(datum, "scheme/keyword", f"the keyword '{name}' has no value")
        self.builder.row(core.VARIABLE, datum.at, datum.end, slot, binding.number)

    def _macro_of(self, datum: Dotted, scope: Scope) -> Macro | None:
        """Return the macro that an improper list uses, if it does."""
        head = datum.items[0]
        binding = scope.lookup(head) if type(head) is Identifier else None
        return binding if type(binding) is Macro else None

    def expanded(self, macro: Macro, form: Form | Dotted, scope: Scope) -> Datum:
        """Return what a use of a macro stands for."""

        def is_literal(identifier: Identifier, literal: Name) -> bool:
            there = macro.scope.lookup(Identifier(literal, form.at, form.end))
            return scope.lookup(identifier) is there

        aliases: dict[Name, Name] = {}

        def renamed(name: Name) -> Name:
            if name not in aliases:
                aliases[name] = Alias(name, macro.scope)
            return aliases[name]

        tail = form.tail if type(form) is Dotted else Form([], form.at, form.end)
        found = macro.rules.find(after_first(form.items, tail, form), is_literal)
        if found is None:
            raise self.error(form, "scheme/no-rule", "no rule of the macro matches this use")
        template, matches = found
        filler = Filler(matches, renamed, form, _MOST_MADE - self.n_made)
        try:
            result = filler.fill(template)
        except RuleFault as fault:
            raise self.error(fault.datum, "scheme/bad-ellipsis", fault.message) from None
        self.n_made = _MOST_MADE - filler.budget
        if filler.budget < 0:
            problem = f"macros make more than {_MOST_MADE} data here"
            raise self.error(form, "scheme/endless-macro", problem)
        return result
