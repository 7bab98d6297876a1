"""The rules of `syntax-rules`: patterns and templates, compiled once per definition.

Patterns and templates nest no deeper than `MAX_DEPTH`, which bounds the recursion of matching and
filling, however deep the data they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from kleene.frontends.scheme.data import (
    Datum,
    Dotted,
    Form,
    Identifier,
    Literal,
    Name,
    Vector,
    dotted,
    plain_name,
)

MAX_DEPTH = 100

Matches: TypeAlias = dict[Name, Any]  # a datum for a variable; under an ellipsis, a list of these
IsLiteral: TypeAlias = Callable[[Identifier, Name], bool]  # does the datum mean this literal?


class RuleFault(Exception):  # noqa: N818 - not an error yet: the expander gives it its place
    """What is wrong with a rule, and the datum to blame."""

    def __init__(self, datum: Datum, message: str) -> None:
        super().__init__(message)
        self.datum = datum
        self.message = message


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern; `kind` says which of the other fields are in use."""

    kind: str  # any, variable, literal, constant, list, vector
    name: Name = ""
    value: object = None
    before: tuple[Pattern, ...] = ()
    repeated: Pattern | None = None
    after: tuple[Pattern, ...] = ()
    tail: Pattern | None = None
    variables: tuple[Name, ...] = ()  # of `repeated`


@dataclass(frozen=True, slots=True)
class Template:
    """A template; `kind` says which of the other fields are in use."""

    kind: str  # variable, symbol, constant, list, vector
    name: Name = ""
    datum: Datum | None = None
    parts: tuple[tuple[Template, int], ...] = ()  # each with its number of ellipses
    tail: Template | None = None
    n_indices: int = 0  # of a variable: how many ellipses it matched under
    repeating: tuple[tuple[Name, int], ...] = ()  # variables inside, and how many levels each skips


@dataclass(frozen=True, slots=True)
class Rules:
    """The pairs of pattern and template of one macro, first match first."""

    pairs: tuple[tuple[Pattern, Template], ...]

    def find(self, form: Datum, is_literal: IsLiteral) -> tuple[Template, Matches] | None:
        """Return the template of the first rule that matches, and what its variables match."""
        for pattern, template in self.pairs:
            matches: Matches = {}
            if _match(pattern, form, matches, is_literal):
                return template, matches
        return None


@dataclass(frozen=True, slots=True)
class RuleCompiler:
    """What compiling the rules of one macro needs to know.

    A variable under more ellipses than it matched under repeats with the innermost of them.
    """

    ellipsis: Name | None
    literals: frozenset[Name]

    def pattern(self, datum: Datum, depths: dict[Name, int], depth: int, level: int) -> Pattern:
        """Return the pattern compiled; note its variables' depths of ellipsis in `depths`."""
        if level > MAX_DEPTH:
            raise RuleFault(datum, f"patterns nest at most {MAX_DEPTH} deep")
        kind = type(datum)
        if isinstance(datum, Identifier):
            return self._variable(datum, depths, depth)
        if isinstance(datum, Literal):
            return Pattern("constant", value=datum.value)
        if isinstance(datum, Form | Dotted | Vector):
            tail = datum.tail if isinstance(datum, Dotted) else None
            name = "vector" if kind is Vector else "list"
            return self._sequence(name, datum.items, tail, depths, depth, level + 1)
        raise RuleFault(datum, "a datum label in a pattern")

    def _variable(self, datum: Identifier, depths: dict[Name, int], depth: int) -> Pattern:
        name = datum.name
        if name in self.literals:
            return Pattern("literal", name)
        if self.is_ellipsis(datum):
            raise RuleFault(datum, "an ellipsis follows a pattern, once in a list")
        if plain_name(name) == "_":
            return Pattern("any")
        if name in depths:
            raise RuleFault(datum, "a pattern names this variable twice")
        depths[name] = depth
        return Pattern("variable", name)

    def _sequence(
        self,
        kind: str,
        items: list[Datum],
        tail: Datum | None,
        depths: dict[Name, int],
        depth: int,
        level: int,
    ) -> Pattern:
        end = None if tail is None else self.pattern(tail, depths, depth, level)
        i = next((i for i, item in enumerate(items) if self.is_ellipsis(item)), None)
        if i is None:
            before = tuple(self.pattern(item, depths, depth, level) for item in items)
            return Pattern(kind, before=before, tail=end)
        if i == 0:
            raise RuleFault(items[0], "an ellipsis follows a pattern")
        before = tuple(self.pattern(item, depths, depth, level) for item in items[: i - 1])
        inner: dict[Name, int] = {}
        repeated = self.pattern(items[i - 1], inner, depth + 1, level)
        for name in inner:
            if name in depths:
                raise RuleFault(items[i - 1], "a pattern names a variable twice")
        depths.update(inner)
        after = tuple(self.pattern(item, depths, depth, level) for item in items[i + 1 :])
        return Pattern(
            kind, before=before, repeated=repeated, after=after, tail=end, variables=tuple(inner)
        )

    def is_ellipsis(self, datum: Datum) -> bool:
        """Return whether the datum is the ellipsis, and is not also a literal."""
        if type(datum) is not Identifier or datum.name in self.literals:
            return False
        # The usual one may come out of a macro's template, and so be renamed.
        name = plain_name(datum.name) if self.ellipsis == "..." else datum.name
        return name == self.ellipsis

    def template(
        self, datum: Datum, depths: dict[Name, int], depth: int = 0, level: int = 0
    ) -> Template:
        """Return the template compiled; every variable under as many ellipses as it matched."""
        if level > MAX_DEPTH:
            raise RuleFault(datum, f"templates nest at most {MAX_DEPTH} deep")
        if isinstance(datum, Identifier):
            return self._symbol(datum, depths, depth)
        if isinstance(datum, Form | Dotted | Vector):
            if self._is_escape(datum):
                plain = RuleCompiler(None, self.literals)
                return plain.template(datum.items[1], depths, depth, level + 1)
            return self._parts(datum, depths, depth, level + 1)
        return Template("constant", datum=datum)

    def _is_escape(self, datum: Form | Dotted | Vector) -> bool:
        """Return whether this is `(... template)`: ellipses inside are symbols."""
        return type(datum) is Form and len(datum.items) == 2 and self.is_ellipsis(datum.items[0])

    def _symbol(self, datum: Identifier, depths: dict[Name, int], depth: int) -> Template:
        name = datum.name
        if name not in depths:
            if self.is_ellipsis(datum):
                raise RuleFault(datum, "an ellipsis follows a template")
            return Template("symbol", name)
        if depths[name] > depth:
            raise RuleFault(datum, "more ellipses follow this variable in the pattern")
        repeating = ((name, depth - depths[name]),) if depths[name] else ()
        return Template("variable", name, n_indices=depths[name], repeating=repeating)

    def _parts(
        self, datum: Form | Dotted | Vector, depths: dict[Name, int], depth: int, level: int
    ) -> Template:
        parts: list[tuple[Template, int]] = []
        items = datum.items
        i = 0
        while i < len(items):
            item = items[i]
            n_ellipses = 0
            while i + 1 < len(items) and self.is_ellipsis(items[i + 1]):
                n_ellipses += 1
                i += 1
            part = self.template(item, depths, depth + n_ellipses, level)
            if n_ellipses and all(skipped > depth for _, skipped in part.repeating):
                raise RuleFault(item, "nothing before this ellipsis repeats")
            parts.append((part, n_ellipses))
            i += 1
        tail = None
        if isinstance(datum, Dotted):
            tail = self.template(datum.tail, depths, depth, level)
        inside = [*(part for part, _ in parts), *([tail] if tail else [])]
        repeating = tuple(dict.fromkeys(pair for part in inside for pair in part.repeating))
        kind = "vector" if type(datum) is Vector else "list"
        return Template(kind, parts=tuple(parts), tail=tail, repeating=repeating)


def _match(pattern: Pattern, datum: Datum, matches: Matches, is_literal: IsLiteral) -> bool:
    kind = pattern.kind
    if kind == "variable":
        matches[pattern.name] = datum
        return True
    if kind == "list":
        return _match_list(pattern, datum, matches, is_literal)
    if kind == "literal":
        return type(datum) is Identifier and is_literal(datum, pattern.name)
    if kind == "any":
        return True
    if kind == "vector":
        return type(datum) is Vector and _match_items(
            pattern, datum.items, None, datum, matches, is_literal
        )
    return (
        type(datum) is Literal
        and type(datum.value) is type(pattern.value)
        and datum.value == pattern.value
    )


def _match_list(pattern: Pattern, datum: Datum, matches: Matches, is_literal: IsLiteral) -> bool:
    if type(datum) is Form:
        return _match_items(pattern, datum.items, None, datum, matches, is_literal)
    if type(datum) is Dotted:
        return pattern.tail is not None and _match_items(
            pattern, datum.items, datum.tail, datum, matches, is_literal
        )
    # A pattern such as (a ... . b) matches what is no list at all, with no a.
    least = len(pattern.before) + len(pattern.after)
    if pattern.tail is None or least:
        return False
    for name in pattern.variables:
        matches[name] = []
    return pattern.repeated is not None and _match(pattern.tail, datum, matches, is_literal)


def _match_items(
    pattern: Pattern,
    items: list[Datum],
    tail: Datum | None,
    datum: Datum,
    matches: Matches,
    is_literal: IsLiteral,
) -> bool:
    n_before, n_after = len(pattern.before), len(pattern.after)
    n_more = len(items) - n_before - n_after
    if n_more < 0 or (n_more and pattern.repeated is None and pattern.tail is None):
        return False
    for part, item in zip(pattern.before, items, strict=False):
        if not _match(part, item, matches, is_literal):
            return False
    last = len(items) - n_after if pattern.repeated is not None else n_before
    if pattern.repeated is not None:
        rows: list[Matches] = []
        for item in items[n_before:last]:
            inner: Matches = {}
            if not _match(pattern.repeated, item, inner, is_literal):
                return False
            rows.append(inner)
        for name in pattern.variables:
            matches[name] = [row[name] for row in rows]
    for part, item in zip(pattern.after, items[last:], strict=False):
        if not _match(part, item, matches, is_literal):
            return False
    if pattern.tail is None:
        return True
    rest = items[last + n_after :]
    remaining = Form(rest, datum.at, datum.end) if tail is None else tail
    if tail is not None and rest:
        remaining = dotted(rest, tail, datum.at, datum.end)
    return _match(pattern.tail, remaining, matches, is_literal)


@dataclass(slots=True)
class Filler:
    """One expansion: what variables match, how symbols are renamed, and the place of the use."""

    matches: Matches
    rename: Callable[[Name], Name]
    use: Datum
    budget: int  # how many more data may be made; below 0 there are too many

    def fill(self, template: Template, indices: tuple[int, ...] = ()) -> Datum:
        """Return the template with its variables replaced, inside repetitions number `indices`."""
        kind = template.kind
        self.budget -= 1
        if kind == "variable":
            n_skipped = len(indices) - template.n_indices
            return cast(Datum, self._matched(template.name, indices[n_skipped:]))
        at, end = self.use.at, self.use.end
        if kind == "symbol":
            return Identifier(self.rename(template.name), at, end)
        if kind == "constant":
            assert template.datum is not None
            return template.datum
        items: list[Datum] = []
        for part, n_ellipses in template.parts:
            if n_ellipses == 0:
                items.append(self.fill(part, indices))
            else:
                self._repeat(part, n_ellipses, indices, items)
        if kind == "vector":
            return Vector(items, at, end)
        if template.tail is None:
            return Form(items, at, end)
        return dotted(items, self.fill(template.tail, indices), at, end)

    def _repeat(
        self, part: Template, n_ellipses: int, indices: tuple[int, ...], items: list[Datum]
    ) -> None:
        """Add the part to `items` once for each item that its variables match at this level."""
        lengths = {
            len(self._matched(name, indices[n_skipped:]))
            for name, n_skipped in part.repeating
            if n_skipped <= len(indices)
        }
        if len(lengths) > 1:
            raise RuleFault(self.use, "an ellipsis repeats variables of different lengths")
        for i in range(lengths.pop()):
            if self.budget < 0:
                return
            if n_ellipses == 1:
                items.append(self.fill(part, (*indices, i)))
            else:
                self._repeat(part, n_ellipses - 1, (*indices, i), items)

    def _matched(self, name: Name, indices: tuple[int, ...]) -> Any:
        value = self.matches[name]
        for i in indices:
            value = value[i]
        return value
