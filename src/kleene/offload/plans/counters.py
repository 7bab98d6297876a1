"""Loops with one counter: other variables that grow by the same in each iteration are computed.

    for (i = 0, p = 0; i < n; i++, p += k)      p = 0;
      a[p] = 0;                                 for (i = 0; i < n; i++) a[p + i * k] = 0;
    use(p);                                     p = p + (n > 0 ? n : 0) * k;  use(p);

That is what the verdicts say of induction variables (`entry + step * counter`), as text. Heads of
loops that count in other words become those of `for` loops with one counter before:

    while (i < n) { ...; i++; }                 first = i; for (i = first; i < n; i++) ...
    while (n--) ...                             for (t = 0; t < n; t++) ... with n - 1 - t for n
    for (i = 0; i != n; i++)                    i < n: else i overflows, which is undefined
    for (i = 0; i < n; i++) ...; use(i);        for (t = 0; ...) ...; i = n > 0 ? n : 0; use(i);
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kleene.codegen.text import assigned_in, free_name, symbols_in
from kleene.codegen.trees import (
    Counted,
    binary,
    counted,
    is_live,
    is_read_of,
    mapped,
    number,
    read,
    reads,
    substituted,
)
from kleene.ir.loops import tree
from kleene.ir.loops.tree import Block, Element, Expression, Function, Statement, Symbol, Variable
from kleene.offload.plans.indexed import sum_of

_INT = tree.Type("int", "int", 32)
Following = tuple[tuple[Block, bool], ...]


def with_counters(function: Function) -> Function:
    """Return a function whose loops have one counter each, where that is known."""
    work = _Counters(function)
    end: Following = ()
    body, returned = function.body, function.body[-1:]
    if returned and isinstance(returned[0], tree.Return):
        body, value = body[:-1], returned[0].value
        end = () if value is None else (((tree.Evaluate(returned[0].place, value),), False),)
    else:
        returned = ()
    made = work.block(body, end)
    if made == body:
        return function
    made = mapped((*made, *returned), _with_known_trips)
    return replace(function, body=_without_dead(made, work.computed))


class _Counters:
    """The loops of one function."""

    def __init__(self, function: Function) -> None:
        self.computed: set[Symbol] = set()  # variables that are computed from counters
        self._taken = {one.name for one in symbols_in(function.body)}
        self._taken |= {one.name for one in function.parameters}
        declared = (one for one in tree.walk(function.body) if isinstance(one, tree.Declare))
        self._taken |= {one.symbol.name for one in declared}

    def _symbol(self, name: str, like: Symbol) -> Symbol:
        name = free_name(name, self._taken)
        self._taken.add(name)
        return Symbol(name, like.type, like.place)

    def block(self, block: Block, following: Following) -> Block:
        """Return statements with such loops; `following` is what is executed after them."""
        made: list[Statement] = []
        for position, one in enumerate(block):
            rest: Following = ((block[position + 1 :], False), *following)
            if isinstance(one, tree.If):
                then = self.block(one.then, rest)
                otherwise = self.block(one.otherwise, rest)
                is_same = then == one.then and otherwise == one.otherwise
                made.append(one if is_same else replace(one, then=then, otherwise=otherwise))
            elif isinstance(one, tree.Loop):
                made += self._loop(one, rest)
            else:
                made.append(one)
        return tuple(made)

    def _loop(self, loop: tree.Loop, following: Following) -> Block:
        head = () if loop.test is None else (tree.Evaluate(loop.place, loop.test),)
        again = (*loop.step, *loop.before, *head, *loop.after)
        body = self.block(loop.body, ((again, False), (loop.body, True), *following))
        if body != loop.body:
            loop = replace(loop, body=body)
        first, loop = self._tested_first(loop)
        before, loop, after = self._counting(loop, following)
        before = (*first, *before)
        before2, loop = self._with_one_head(loop)
        form = counted(loop)
        if form is None or _has_jumps(loop.body) or form.variable in assigned_in(loop.body):
            return (*before, *before2, loop, *after)
        loop, later = self._computed(loop, form, following)
        return (*before, *before2, loop, *later, *after)

    # Heads

    def _counting(self, loop: tree.Loop, following: Following) -> tuple[Block, tree.Loop, Block]:
        """Return `while (n--)` as a loop with a counter, and what is done before and after it."""
        nothing: Block = ()
        test, effects = loop.test, loop.after
        if loop.kind == "do" or loop.before or len(effects) != 1 or test is None:
            return nothing, loop, nothing
        (effect,) = effects
        tested = _tested(test)
        if tested is None or not isinstance(effect, tree.Assign) or _has_jumps(loop.body):
            return nothing, loop, nothing
        symbol, is_signed = tested, tested.type.signed
        if _step_of(effect, symbol) != -1 or not _is_counter(symbol):
            return nothing, loop, nothing
        if symbol in assigned_in((*loop.body, *loop.step)):
            return nothing, loop, nothing
        kind, place = symbol.type, loop.place
        counter = self._symbol(f"{symbol.name}_done", symbol)
        target = Variable(kind, place, counter)
        left = binary("-", binary("-", read(symbol), number(1, kind)), read(counter))
        changed = tree.Loop(
            place,
            "for",
            loop.end_line,
            (tree.Assign(place, target, number(0, kind)),),
            (),
            binary("<", read(counter), read(symbol)),
            (),
            (tree.Assign(place, target, binary("+", read(counter), number(1, kind))),),
            substituted((*loop.body, *loop.step), {symbol: left}),
        )
        # A signed number below 0 would be counted down until it overflows; `n-- > 0` leaves it.
        least: Expression = number(0, kind)
        if is_signed:
            test = binary("<", read(symbol), least)
            least = tree.Choose(kind, place, test, read(symbol), least)
        own = Variable(kind, place, symbol)
        last = tree.Assign(place, own, tree.Binary(kind, place, "-", least, number(1, kind)))
        after: Block = (last,) if is_live(following, symbol) else ()
        return (*loop.init, tree.Declare(place, counter)), changed, after

    def _tested_first(self, loop: tree.Loop) -> tuple[Block, tree.Loop]:
        """Return `do ... while (++i < n)` as a loop that is tested first, and what is before it.

        The first iteration happens in any case, with i = i0: i < (n > i0 + 1 ? n : i0 + 1).
        """
        test = loop.test
        if loop.kind != "do" or loop.after or not isinstance(test, tree.Binary):
            return (), loop
        counter = next(iter(_compared(test)), None)
        if test.operator != "<" or counter is None or not is_read_of(_plain(test.left), counter):
            return (), loop
        body, steps = loop.body, loop.before
        if not steps:
            body, steps = body[:-1], body[-1:]
        if len(steps) != 1 or _step_of(steps[0], counter) != 1 or not _is_counter(counter):
            return (), loop
        changed, bound, kind = assigned_in(body), test.right, counter.type
        if counter in changed or symbols_in(bound) & changed or not _is_pure(bound):
            return (), loop
        if bound.type != kind or _has_jumps(body):
            return (), loop
        first = self._symbol(f"{counter.name}_first", counter)
        place, own = loop.place, Variable(kind, loop.place, counter)
        start = tree.Assign(place, Variable(kind, place, first), read(counter))
        least = binary("+", read(first), number(1, kind))
        above = tree.Binary(_INT, place, ">", bound, least)
        high = tree.Choose(kind, place, above, bound, least)
        init = (*loop.init, tree.Assign(place, own, read(first)))
        made = replace(
            loop,
            kind="for",
            init=init,
            before=(),
            test=binary("<", read(counter), high),
            step=steps,
            body=body,
        )
        return (tree.Declare(place, first), start), made

    def _with_one_head(self, loop: tree.Loop) -> tuple[Block, tree.Loop]:
        """Return a loop whose head has its counter alone, and what is done before it."""
        if loop.kind == "do" or loop.before or loop.after or loop.test is None:
            return (), loop
        counter = self._counter(loop)
        if counter is None:
            return (), loop
        body, step = loop.body, loop.step
        own_step = [one for one in step if _step_of(one, counter) is not None]
        if not step:  # while (...) { ...; i++; ... }
            body, own_step = _without_step(body, counter)
        others = tuple(one for one in step if one not in own_step)
        if len(own_step) != 1 or (others and any(reads(one, counter) for one in others)):
            return (), loop
        if (others or body is not loop.body) and _has_jumps(loop.body):
            return (), loop
        starts = [one for one in loop.init if _target(one) is counter]
        rest = tuple(one for one in loop.init if one not in starts)
        if len(starts) > 1 or any(reads(one, counter) for one in rest):
            return (), loop
        test = _ordered(loop.test, counter, _step_of(own_step[0], counter) or 0)
        before: Block = rest
        init: Block = tuple(starts)
        if not starts:
            first = self._symbol(f"{counter.name}_first", counter)
            target = Variable(first.type, loop.place, first)
            own = Variable(counter.type, loop.place, counter)
            before = (
                *rest,
                tree.Declare(loop.place, first),
                tree.Assign(loop.place, target, read(counter)),
            )
            init = (tree.Assign(loop.place, own, read(first)),)
        changed = replace(
            loop, kind="for", init=init, test=test, step=tuple(own_step), body=(*body, *others)
        )
        if counted(changed) is None or (loop.kind == "for" and counted(loop) is not None):
            return (), loop
        return before, changed

    def _counter(self, loop: tree.Loop) -> Symbol | None:
        """Return the variable that a loop's test compares, and that one statement steps."""
        last = loop.body if not loop.step else ()
        for symbol in _compared(loop.test):
            n_steps = sum(_step_of(one, symbol) is not None for one in (*loop.step, *last))
            inside = [one for one in tree.walk((*loop.body, *loop.step)) if _target(one) is symbol]
            if n_steps == 1 and len(inside) == 1 and _is_counter(symbol):
                return symbol
        return None

    # Variables that are computed from the counter

    def _computed(
        self, loop: tree.Loop, form: Counted, following: Following
    ) -> tuple[tree.Loop, Block]:
        """Return a loop without other induction variables, and what they are after it."""
        changed = assigned_in(loop.body) | {form.variable}
        bounds = (form.low, form.high)
        if symbols_in(bounds) & changed or not all(map(_is_pure, bounds)):
            return loop, ()
        later: list[Statement] = []
        body = loop.body
        for symbol in sorted(_updated(body), key=lambda one: one.name):
            steps = self._steps(body, symbol, changed)
            after = _trips(form, symbol.type, loop) if steps else None
            done = _done(form, symbol.type) if steps else None
            if not steps or after is None or done is None:
                continue
            total = steps[0]
            for one in steps[1:]:
                total = binary("+", total, one)
            body = self._without_steps(body, symbol, binary_times(done, total))
            target = Variable(symbol.type, loop.place, symbol)
            value = binary("+", read(symbol), binary_times(after, total))
            if is_live(following, symbol):
                later.append(tree.Assign(loop.place, target, value))
            self.computed.add(symbol)
        if body is not loop.body:
            loop = replace(loop, body=body)
        if is_live(following, form.variable):
            loop, last = self._renamed(loop, form)
            later = [*last, *later]
        return loop, tuple(later)

    def _steps(self, body: Block, symbol: Symbol, changed: set[Symbol]) -> list[Expression]:
        """Return what each iteration adds to a variable, if it is always the same."""
        own = [one for one in body if _target(one) is symbol]
        everywhere = [one for one in tree.walk(body) if _target(one) is symbol]
        declared = [one for one in tree.walk(body) if isinstance(one, tree.Declare)]
        if len(own) != len(everywhere) or any(one.symbol is symbol for one in declared):
            return []
        found = [_added(one, symbol) for one in own]
        steps = [one for one in found if one is not None]
        if len(steps) < len(found) or not _is_counter(symbol):
            return []
        if any(symbols_in(one) & changed or not _is_pure(one) for one in steps):
            return []
        return steps

    def _without_steps(self, body: Block, symbol: Symbol, before: Expression) -> Block:
        """Return statements with a variable's value in its place; `before` was added till here."""
        made: list[Statement] = []
        held = binary("+", read(symbol), before)
        for one in body:
            step = _added(one, symbol) if _target(one) is symbol else None
            if step is None:
                made.append(substituted(one, {symbol: held}))
            else:
                held = binary("+", held, step)
        return tuple(made)

    def _renamed(self, loop: tree.Loop, form: Counted) -> tuple[tree.Loop, list[Statement]]:
        """Return a loop with a counter of its own, and what its variable is after it."""
        old, kind = form.variable, form.variable.type
        trips = _trips(form, kind, loop)
        if trips is None:
            return loop, []
        new = self._symbol(f"{old.name}_now", old)

        def change(node: Any) -> Any:
            is_old = isinstance(node, Variable) and node.symbol is old
            return replace(node, symbol=new) if is_old else node

        low = _as(form.low, kind)
        if form.is_descending:
            high = _as(form.high, kind)
            last = binary("-", binary("-", high, number(1, kind)), trips)
        else:
            last = sum_of(low, binary_times(trips, number(form.step, kind)))
        target = Variable(kind, loop.place, old)
        after = tree.Assign(loop.place, target, last)
        changed: tree.Loop = mapped(loop, change)
        return replace(changed, init=(tree.Declare(loop.place, new), *changed.init)), [after]


def binary_times(one: Expression, other: Expression) -> Expression:
    """Return a product; with 1 it is the other factor."""
    if isinstance(other, tree.Literal) and other.value == 1:
        return one
    if isinstance(one, tree.Literal) and one.value == 1:
        return other
    return tree.Binary(one.type, one.place, "*", one, other)


def _without_dead(body: Block, computed: set[Symbol]) -> Block:
    """Return statements without those that compute what nobody reads."""
    while True:
        named: dict[Symbol, int] = {}
        for one in tree.walk(body):
            if isinstance(one, Variable):
                named[one.symbol] = named.get(one.symbol, 0) + 1
        dead = set()
        for symbol in computed & named.keys():
            own = [one for one in tree.walk(body) if _target(one) is symbol]
            inside = sum(
                isinstance(e, Variable) and e.symbol is symbol
                for one in own
                for e in tree.walk(one)
            )
            if inside == named[symbol] and symbol.storage == "local":
                dead.add(symbol)
        if not dead:
            return body
        body = mapped(body, lambda node: () if _target(node) in dead else node)  # noqa: B023
        computed = computed - dead


def _with_known_trips(node: Any) -> Any:
    """Return a loop with n for `n > 0 ? n : 0` inside, if it has n iterations: n is above 0."""
    form = counted(node) if isinstance(node, tree.Loop) else None
    if form is None or symbols_in((form.low, form.high)) & assigned_in(node.body):
        return node
    kinds = {one.type for one in _choices(node.body)}
    trips = [_trips(form, kind, node) for kind in kinds]

    def change(inner: Any) -> Any:
        is_known = isinstance(inner, tree.Choose) and inner in trips
        return inner.then if is_known else inner

    body = mapped(node.body, change) if kinds else node.body
    return node if body == node.body else replace(node, body=body)


def _choices(body: Block) -> list[tree.Choose]:
    return [one for one in tree.walk(body) if isinstance(one, tree.Choose)]


def _trips(form: Counted, kind: tree.Type, loop: tree.Loop) -> Expression | None:
    """Return how many iterations a loop has, as a number of a type."""
    low, high = form.low, form.high
    if low.type.signed != high.type.signed and not isinstance(low, tree.Literal):
        return None
    if max(low.type.bits, high.type.bits) > kind.bits:
        return None
    left, right = _as(low, kind), _as(high, kind)
    if isinstance(left, tree.Literal) and isinstance(right, tree.Literal):
        n_all = -(-(int(right.value) - int(left.value)) // form.step)
        return number(max(n_all, 0), kind)
    apart = right if _is_zero(left) else binary("-", right, left)
    if form.step != 1:
        more = binary("+", apart, number(form.step - 1, kind))
        apart = tree.Binary(kind, loop.place, "/", more, number(form.step, kind))
    test = tree.Binary(_INT, loop.place, ">", right, left)
    return tree.Choose(kind, loop.place, test, apart, number(0, kind))


def _done(form: Counted, kind: tree.Type) -> Expression | None:
    """Return how many iterations are before this one."""
    at = read(form.variable)
    if (
        form.variable.type.bits > kind.bits
        or max(form.low.type.bits, form.high.type.bits) > kind.bits
    ):
        return None
    if form.is_descending:
        first = binary("-", _as(form.high, kind), number(1, kind))
        return binary("-", first, _as(at, kind))
    low = _as(form.low, kind)
    apart = _as(at, kind) if _is_zero(low) else binary("-", _as(at, kind), low)
    if form.step == 1:
        return apart
    return tree.Binary(kind, tree.NOWHERE, "/", apart, number(form.step, kind))


def _as(value: Expression, kind: tree.Type) -> Expression:
    if isinstance(value, tree.Literal):
        return number(int(value.value), kind)
    return value if value.type == kind else tree.Convert(kind, value.place, value)


def _is_zero(value: Expression) -> bool:
    return isinstance(value, tree.Literal) and value.value == 0


def _is_counter(symbol: Symbol) -> bool:
    kind = symbol.type
    is_own = symbol.storage in ("local", "parameter") and not symbol.is_exposed
    return is_own and kind.kind == "int" and kind.bits >= 32


def _is_pure(value: Expression) -> bool:
    """Return whether a value hangs on variables alone."""
    parts = (tree.Call, tree.Unknown, Element, tree.Member, tree.AddressOf, tree.Decay)
    return not any(isinstance(one, parts) for one in tree.walk(value))


def _has_jumps(block: Block) -> bool:
    """Return whether an iteration may be left before its end."""
    return any(isinstance(one, tree.Jump | tree.Return | tree.Refuse) for one in tree.walk(block))


def _target(node: object) -> Symbol | None:
    if isinstance(node, tree.Assign) and isinstance(node.target, Variable):
        return node.target.symbol
    return None


def _updated(body: Block) -> set[Symbol]:
    found = {_target(one) for one in body}
    return {one for one in found if one is not None}


def _added(statement: Statement, symbol: Symbol) -> Expression | None:
    """Return e of `x = x + e`, all of one type."""
    if not isinstance(statement, tree.Assign) or _target(statement) is not symbol:
        return None
    value = _plain(statement.value)
    if not isinstance(value, tree.Binary) or value.operator not in ("+", "-"):
        return None
    left, right = _plain(value.left), value.right
    if not is_read_of(left, symbol):
        if value.operator == "+" and is_read_of(_plain(right), symbol):
            left, right = right, value.left
        else:
            return None
    if value.type != symbol.type or right.type != symbol.type:
        if not isinstance(right, tree.Literal):
            return None
        right = number(int(right.value), symbol.type)
    if value.operator == "+":
        return right
    if isinstance(right, tree.Literal):
        return number(-int(right.value), symbol.type)
    return tree.Unary(right.type, right.place, "-", right)


def _step_of(statement: Statement, symbol: Symbol) -> int | None:
    added = _added(statement, symbol)
    return int(added.value) if isinstance(added, tree.Literal) and added.value else None


def _plain(value: Expression) -> Expression:
    while isinstance(value, tree.Convert) and value.type == value.operand.type:
        value = value.operand
    return value


def _compared(test: Expression | None) -> list[Symbol]:
    """Return the variables that a test compares with something."""
    if not isinstance(test, tree.Binary) or test.operator not in ("<", ">", "<=", ">=", "!="):
        return []
    found = []
    for side in (test.left, test.right):
        while isinstance(side, tree.Convert):
            side = side.operand
        if isinstance(side, tree.Read) and isinstance(side.location, Variable):
            found.append(side.location.symbol)
    return found


def _tested(test: Expression) -> Symbol | None:
    """Return n of the tests `n`, `n != 0` and `n > 0`."""
    if isinstance(test, tree.Binary) and test.operator in ("!=", ">"):
        if not _is_zero(test.right):
            return None
        test = test.left
    test = _plain(test)
    if isinstance(test, tree.Read) and isinstance(test.location, Variable):
        return test.location.symbol
    return None


def _without_step(body: Block, counter: Symbol) -> tuple[Block, list[Statement]]:
    """Return a body without the statement that steps its counter, and that statement.

    What comes after it reads the counter as it would be: `i + 1` for i after `i++`.
    """
    for position, one in enumerate(body):
        if _step_of(one, counter) is not None:
            assert isinstance(one, tree.Assign)
            later = substituted(body[position + 1 :], {counter: one.value})
            return (*body[:position], *later), [one]
    return body, []


def _ordered(test: Expression, counter: Symbol, step: int) -> Expression:
    """Return `i < n` for `i != n`, if i is stepped by 1: else it overflows, which is undefined."""
    if not isinstance(test, tree.Binary) or test.operator != "!=" or step not in (1, -1):
        return test
    if not counter.type.signed or test.left.type != counter.type:
        return test
    is_left = is_read_of(_plain(test.left), counter)
    operator = "<" if (step == 1) == is_left else ">"
    return replace(test, operator=operator)
