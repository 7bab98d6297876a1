"""What primitives do, written as constraints where each is used.

A use of a primitive is an *instance*: the call of it, with the arguments there, or a reference to
it as a value, which is a procedure with formals of its own. Most are described in `models.txt`;
those whose effect depends on more than sets of values are written here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kleene.analyses.cfa import evaluated
from kleene.analyses.cfa.builder import CONTINUATION, INSTANCE, PARAMETER, UNBOUND, SchemeBuilder
from kleene.analyses.cfa.index import Index
from kleene.analyses.cfa.layouts import FIELDS, N_EXACT, Tag
from kleene.ir.scheme import core as columns
from kleene.ir.scheme.primitives import table
from kleene.ir.scheme.values import NIL, Pair
from kleene.solvers.inclusion.problem import NONE

Model = Any  # an integer, a word, a list of models; or a method
_MOST_EXACT = 64  # items of a list or vector that are told apart by their place


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of an instance: `n_least` at least, and `rest` are those behind the known."""

    nodes: list[int]
    n_least: int
    rest: int = NONE
    is_exact: bool = True

    def at(self, index: int) -> int:
        """Return the node of one argument."""
        return self.nodes[index] if index < len(self.nodes) else self.rest

    def since(self, index: int) -> list[int]:
        """Return the nodes of all arguments from an index on."""
        return [*self.nodes[index:], self.rest]


@dataclass(frozen=True, slots=True)
class Use:
    """Where an instance is: its arguments, its site, the token there, the row it is written at."""

    arguments: Arguments
    site: int
    here: int
    row: int
    operands: tuple[int, ...] = ()  # rows of the arguments, where it is a call


@cache
def models() -> dict[str, Model]:
    """Return the model of each primitive that has one, or the method of `Primitives` that is it."""
    text = files(__package__).joinpath("models.txt").read_text(encoding="utf-8")
    found: dict[str, Model] = {}
    for line in text.splitlines():
        if line.startswith("*"):
            name, method = line[1:].split()
            found[name] = getattr(Primitives, method)
        elif line and not line.startswith(";"):
            name, _, model = line.partition(" ")
            found[name] = _parsed(re.findall(r"[()]|[^\s()]+", model))
    return found


def _parsed(words: list[str]) -> Model:
    word = words.pop(0)
    if word != "(":
        return int(word) if word.isdigit() else word
    items = []
    while words[0] != ")":
        items.append(_parsed(words))
    words.pop(0)
    return items


def list_length(index: Index, row: int) -> int | None:
    """Return how many items the list has that an expression makes right there, or None.

    Nothing else has seen the list before it is used, so nothing can have changed its length.
    """
    n_items = 0
    while n_items < N_EXACT:
        if index.kind[row] == columns.CONSTANT:
            datum = index.core.constants[index.reference[row]]
            while type(datum) is Pair and n_items < N_EXACT:
                datum, n_items = datum.cdr, n_items + 1
            return n_items if datum is NIL else None
        if index.kind[row] != columns.CALL:
            return None
        operator, *operands = index.below(row)
        name = index.primitive(operator)
        if name == "list":
            return n_items + len(operands)
        if name != "cons" or len(operands) != 2:
            return None
        n_items, row = n_items + 1, operands[1]
    return None


RAISE_AGAIN = "raise-again"  # what a guard's handler is given: a procedure without arguments


class Primitives:
    """Writes instances; what handlers are given and return is shared by the whole program."""

    def __init__(self, builder: SchemeBuilder, index: Index) -> None:
        self.builder = builder
        self.index = index
        self.raised = builder.node()
        self.handled = builder.node()
        # What primitives raise themselves is taken to hold no procedure in its irritants.
        builder.copy(self.raised, builder.held(builder.data("condition", [NONE, NONE], NONE)[0]))
        self.instances: dict[int, str] = {}  # primitives used as values, by their sites
        self.text: evaluated.Text | None = None  # that sees all of the program
        self.outside: evaluated.Text | None = None  # the code behind names that nothing defines
        self.evaluations: list[tuple[int, int]] = []  # sites of `eval` and `load`, and of the text

    def named_site(self, name: str, label: int) -> int:
        """Return a new site that stands for the calls of a primitive that is used as a value."""
        site = self.builder.site(label)
        self.instances[site] = name
        return site

    def value(self, name: str, label: int, row: int) -> int:
        """Return the object of a primitive as a value; contexts know its calls by `label`."""
        w, facts, site = self.builder, table()[name], self.named_site(name, label)
        if name not in models():
            return w.closure([], NONE, NONE, (INSTANCE, site))
        here = w.here()
        n_fixed = N_EXACT if facts.n_most is None else min(facts.n_most, N_EXACT)
        fixed = [w.node() for _ in range(n_fixed)]
        has_more = facts.n_most is None or facts.n_most > N_EXACT
        rest = w.node() if has_more else NONE
        is_exact = facts.n_least == facts.n_most
        arguments = Arguments(fixed, facts.n_least, rest, is_exact)
        result = self.result(name, Use(arguments, site, here, row))
        formals = w.layout.formals_between(fixed, facts.n_least, facts.n_most, here)
        return w.closure(formals, result, rest, (INSTANCE, site))

    def result(self, name: str, use: Use) -> int:
        """Write what an instance does; return the node of its result."""
        model = models().get(name, "none")
        return model(self, use) if callable(model) else self._eval(model, use, NONE)

    def _eval(self, model: Model, use: Use, self_node: int) -> int:
        if isinstance(model, int):
            return use.arguments.at(model)
        if isinstance(model, str):
            known = {"none": NONE, "self": self_node, "raised": self.raised}
            return self.handled if model == "handled" else known[model]
        word, *parts = model
        if word == "call":
            return self._call(parts, use, self_node)
        if word in ("from", "last", "init"):
            return self._some_arguments(word, parts[0], use)
        if word == "fix":
            node = self.builder.node()
            for part in parts:
                self.builder.copy(node, self._eval(part, use, node))
            return node
        if word == "primitive":
            return self.builder.held(self.value(parts[0], ~use.row, use.row))
        if word == "new":
            values = [self._eval(part, use, self_node) for part in parts[1:]]
            tag: Tag = ("values", 2) if parts[0] == "values-2" else parts[0]
            return self.builder.held(self.builder.data(tag, values, use.row)[0])
        if word == "put":
            target, value = (self._eval(part, use, self_node) for part in parts[1:])
            self.builder.put(*FIELDS[parts[0]], self.builder.gated(target, use.here), value)
            return NONE
        return self._combine(word, [self._eval(part, use, self_node) for part in parts], use)

    def _combine(self, word: str, nodes: list[int], use: Use) -> int:
        w = self.builder
        if word == "either":
            return w.union(nodes)
        if word == "do":
            return nodes[-1]
        if word == "raise":
            w.copy(self.raised, w.gated(nodes[0], use.here))
            return NONE
        if word == "handle":
            w.copy(self.handled, self.called(nodes[0], [self.raised], use))
            return NONE
        if word == "look":
            return self._look(nodes[0], nodes[1], use)
        if word == "list":
            return w.list_of(nodes[0], NONE, use.row)
        if word == "list*":
            return w.union([w.list_of(nodes[0], nodes[1], use.row), nodes[1]])
        return self.select(word, nodes[0])

    def _look(self, table: int, key: int, use: Use) -> int:
        """Let a table's procedures be called with a key, and with those it has when it grows.

        The hash procedure is given a bound as well, or not.
        """
        w = self.builder
        key = w.union([key, w.get("key", table)])
        self.called(w.get("equivalence", table), [key, key], use)
        hashing = w.get("hashing", table)
        self.called(hashing, [key], use)
        self.called(hashing, [key, NONE], use)
        return NONE

    def select(self, word: str, node: int) -> int:
        """Return the node of a field, of a spine or of the items of a list."""
        if word == "none":
            return NONE
        if word == "spine":
            return self.builder.spine(node)
        if word == "items":
            return self.builder.get("car", self.builder.spine(node))
        return self.builder.get(word, node)

    def _some_arguments(self, word: str, first: int, use: Use) -> int:
        nodes = use.arguments.since(first)
        if use.arguments.is_exact and word != "from":
            nodes = nodes[:-1]  # there is no rest
            nodes = nodes[-1:] if word == "last" else nodes[:-1]
        return self.builder.union(nodes)

    def _call(self, parts: list[Model], use: Use, self_node: int) -> int:
        """Write a call; behind an `each` whose length is not known, any argument may be any."""
        callee, *arguments = parts
        before: list[int] = []
        behind: list[int] = []
        open_from: int | None = None
        for part in arguments:
            if isinstance(part, list) and part[0] == "each":
                chosen = use.arguments.since(part[1])
                if use.arguments.is_exact:
                    before += [self.select(part[2], node) for node in chosen[:-1]]
                    continue
                open_from = len(before)
                behind += [self.select(part[2], node) for node in chosen]
            elif open_from is None:
                before.append(self._eval(part, use, self_node))
            else:
                behind.append(self._eval(part, use, self_node))
        function = self._eval(callee, use, self_node)
        if open_from is None:
            return self.called(function, before, use)
        return self.spread(function, before, self.builder.union(behind), use)

    def called(self, callee: int, arguments: list[int], use: Use) -> int:
        """Write the call of what is at `callee` with these arguments."""
        w = self.builder
        actuals = w.layout.actuals(arguments, w.token_at(use.here))
        return w.call(callee, actuals, use.site, len(arguments), use.here)

    def spread(self, callee: int, first: list[int], more: int, use: Use) -> int:
        """Write a call with these arguments first, and any number of others."""
        w = self.builder
        actuals = w.layout.spread(first, more, len(first), w.token_at(use.here))
        return w.call(callee, actuals, use.site, NONE, use.here)

    def _list(self, use: Use) -> int:
        """A list of which the items are known has a pair for each of them."""
        nodes = use.arguments.nodes
        if not use.arguments.is_exact or len(nodes) > _MOST_EXACT:
            return self.builder.list_of(self._some_arguments("from", 0, use), NONE, use.row)
        return self._pairs(nodes, NONE, use)

    def _list_star(self, use: Use) -> int:
        nodes = use.arguments.nodes
        if use.arguments.is_exact and 0 < len(nodes) <= _MOST_EXACT:
            return self._pairs(nodes[:-1], nodes[-1], use)
        items, tail = (self._some_arguments(word, 0, use) for word in ("init", "last"))
        return self.builder.union([self.builder.list_of(items, tail, use.row), tail])

    def _pairs(self, items: list[int], tail: int, use: Use) -> int:
        w = self.builder
        for item in reversed(items):
            tail = w.held(w.data("pair", [item, tail], use.row)[0])
        return tail

    def _vector(self, use: Use) -> int:
        w, given = self.builder, use.arguments
        if given.is_exact and len(given.nodes) <= _MOST_EXACT:
            return w.held(w.data("vector", [NONE, *given.nodes], use.row)[0])
        return w.held(w.data("vector", [self._some_arguments("from", 0, use)], use.row)[0])

    def _vector_ref(self, use: Use) -> int:
        index = self._known_index(use)
        field: tuple[Tag, int] = FIELDS["item"] if index is None else ("vector-item", index)
        return self.builder.field(*field, use.arguments.at(0))

    def _vector_set(self, use: Use) -> int:
        index = self._known_index(use)
        field: tuple[Tag, int] = FIELDS["slot"] if index is None else ("vector-slot", index)
        target = self.builder.gated(use.arguments.at(0), use.here)
        self.builder.put(*field, target, use.arguments.at(2))
        return NONE

    def _known_index(self, use: Use) -> int | None:
        """Return the index of a call of `vector-ref` or `vector-set!`, if it is written there."""
        if len(use.operands) < 2 or self.index.kind[use.operands[1]] != columns.CONSTANT:
            return None
        value = self.index.core.constants[self.index.reference[use.operands[1]]]
        return value if type(value) is int and 0 <= value < _MOST_EXACT else None

    def _apply(self, use: Use) -> int:
        given = use.arguments
        nodes = given.since(1)
        if given.is_exact:
            first, last = nodes[:-2], nodes[-2] if len(nodes) > 1 else NONE
            n_items = list_length(self.index, use.operands[-1]) if len(use.operands) > 1 else None
            if n_items is not None and len(first) + n_items < N_EXACT:
                for _ in range(n_items):
                    first.append(self.select("car", last))
                    last = self.select("cdr", last)
                return self.called(given.at(0), first, use)
            return self.spread(given.at(0), first, self.select("items", last), use)
        every = self.builder.union(nodes)
        more = self.builder.union([every, self.select("items", every)])
        return self.spread(given.at(0), [], more, use)

    def _values(self, use: Use) -> int:
        given, w = use.arguments, self.builder
        if given.is_exact:
            if len(given.nodes) == 1:
                return given.nodes[0]
            return self.several(given.nodes, use)
        any_value = w.held(w.data("values", [w.union(given.since(0))], use.row)[0])
        return w.union([given.at(0), any_value])

    def several(self, nodes: list[int], use: Use) -> int:
        """Return the node of several values, or none."""
        w = self.builder
        return w.held(w.data(("values", len(nodes)), nodes, use.row)[0])

    def _call_with_values(self, use: Use) -> int:
        w, given = self.builder, use.arguments
        made = self.called(given.at(0), [], use)
        any_value = w.get("any-value", made)
        head = [w.token_at(use.here)] * w.layout.head
        several = {n: self._values_of(n, made) for n in self.index.value_sizes if n > 1}
        actuals = [*head, *head, w.union([made, any_value])]
        for n in range(2, N_EXACT):
            fields = several.get(n, [NONE] * n)
            actuals += head + [w.union([field, any_value]) for field in fields]
        longer = [field for n, fields in several.items() if n >= N_EXACT for field in fields]
        actuals += head + [w.union([any_value, *longer])] * w.layout.n_open
        return w.call(given.at(1), actuals, use.site, NONE, use.here)

    def _values_of(self, n: int, made: int) -> list[int]:
        """Return the nodes of n values."""
        return [self.builder.field(("values", n), i, made) for i in range(n)]

    def _call_cc(self, use: Use) -> int:
        w = self.builder
        one, others = w.node(), w.node()
        w.copy(one, w.held(w.data("values", [others], use.row)[0]))
        formals = w.layout.formals_with_rest([], others, NONE)
        formals[w.layout.start(1) + w.layout.head] = one
        continuation = w.held(w.closure(formals, NONE, others, (CONTINUATION, use.row)))
        return w.union([one, self.called(use.arguments.at(0), [continuation], use)])

    def _make_parameter(self, use: Use) -> int:
        w, given = self.builder, use.arguments
        converted = self.called(given.at(1), [given.at(0)], use)
        is_plain = given.is_exact and len(given.nodes) == 1
        value = given.at(0) if is_plain or not given.is_exact else NONE
        object, cells = w.data("parameter", [w.union([value, converted]), given.at(1)], use.row)
        for offset in (0, 1):  # calls in other contexts come by the second
            formals = w.layout.actuals([], NONE)
            w.function(object, offset, formals, cells[0], NONE, (PARAMETER, use.row))
        return w.held(object)

    def _parameterize(self, use: Use) -> int:
        w, nodes = self.builder, use.arguments.nodes
        for parameter, value in zip(nodes[1::2], nodes[2::2], strict=False):
            converted = self.called(w.get("converter", parameter), [value], use)
            target = w.gated(parameter, use.here)
            w.put(*FIELDS["current"], target, w.union([value, converted]))
        return self.called(use.arguments.at(0), [], use)

    def _force(self, use: Use) -> int:
        w = self.builder
        if use.arguments.at(0) == NONE:
            return NONE
        promises = w.node()
        w.copy(promises, use.arguments.at(0))
        w.copy(promises, self.called(w.get("chained", promises), [], use))
        made = self.called(w.get("delayed", promises), [], use)
        return w.union([promises, made, w.get("kept", promises)])

    def _guard(self, use: Use) -> int:
        """A guard's handler is given the condition, and a procedure that raises it again."""
        w, given = self.builder, use.arguments
        what = (INSTANCE, self.named_site(RAISE_AGAIN, ~use.row))
        again = w.held(w.closure(w.layout.actuals([], NONE), self.handled, NONE, what))
        handled = self.called(given.at(1), [self.raised, again], use)
        return w.union([self.called(given.at(0), [], use), handled])

    def _unfold(self, use: Use) -> int:
        w, given = self.builder, use.arguments
        seeds = w.node()
        w.copy(seeds, given.at(3))
        w.copy(seeds, self.called(given.at(2), [seeds], use))
        self.called(given.at(0), [seeds], use)
        tail = self.called(given.at(4), [seeds], use)
        items = self.called(given.at(1), [seeds], use)
        return w.union([w.list_of(items, tail, use.row), tail])

    def _record(self, use: Use) -> int:
        key = self.index.record_key(use.operands[0])
        object, _ = self.builder.data(("record", key), use.arguments.nodes[1:], use.row)
        return self.builder.held(object)

    def _record_field(self, use: Use) -> tuple[Tag, int]:
        return ("record", self.index.record_key(use.operands[1])), self.index.constant(
            use.operands[2]
        )

    def _record_ref(self, use: Use) -> int:
        return self.builder.field(*self._record_field(use), use.arguments.at(0))

    def _record_set(self, use: Use) -> int:
        target = self.builder.gated(use.arguments.at(0), use.here)
        self.builder.put(*self._record_field(use), target, use.arguments.at(3))
        return NONE

    def _evaluate(self, use: Use) -> int:
        w = self.builder
        is_closed = evaluated.sees_libraries_only(self.index, use.operands)
        if is_closed:
            text = evaluated.text(w, ~use.row)
        else:
            self.text = text = self.text or evaluated.text(
                w, ~(w.n_rows + len(self.index.core.names))
            )
        if w.layout.head:
            w.copy(text.here, w.token_at(use.here))
        w.copy(text.held, use.arguments.at(0))
        self.evaluations.append((use.site, text.site))
        if is_closed:
            evaluated.write(w, text, [self.raised, self.handled])
        return text.held

    def finish(self, globals: list[int]) -> None:
        """Write what text may do that is evaluated in the program's own environment."""
        if self.text is not None:
            evaluated.write(self.builder, self.text, [*globals, self.raised, self.handled])
        if self.outside is not None:
            evaluated.write(self.builder, self.outside, [self.raised, self.handled])

    def unbound(self, variable: int) -> int:
        """Return the object of a procedure that the program names and does not define.

        It may do whatever can be done with what it and others of its kind are given.
        """
        return evaluated.procedure(self.builder, self._outside(), (UNBOUND, variable))

    def export(self, variable: int) -> None:
        """Let code outside of the program, which runs from the start, use a variable."""
        w, outside = self.builder, self._outside()
        w.copy(outside.held, variable)
        if w.layout.head:
            w.copy(outside.here, w.token)

    def _outside(self) -> evaluated.Text:
        w = self.builder
        if self.outside is None:
            self.outside = evaluated.text(w, ~(w.n_rows + len(self.index.core.names) + 1))
        return self.outside
