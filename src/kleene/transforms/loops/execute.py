"""The symbolic execution of one function, which records its loops and accesses.

Integer and pointer variables that no pointer can point to have a symbolic value: a polynomial over
what the function began with, over counters of loops, and over loads. A variable that changes by the
same amount in every iteration is an induction variable, and its value is `entry + step * counter`.
Whatever is not followed gets an atom of its own, which changes in every loop around it.

Loads are told apart by the address and by how often its storage may have been written. Inside of a
loop that writes to other storage through a pointer, a load is taken to stay the same: both accesses
are in the table, and whoever uses it must see to it that they do not overlap.
"""

from __future__ import annotations

from dataclasses import replace

from kleene.base.errors import Span
from kleene.base.expression import ZERO, Atom, Expression, of
from kleene.ir.loops import tree
from kleene.ir.loops.symbols import LoopSymbol, loops_of
from kleene.ir.loops.tables import (
    Both,
    Compare,
    Condition,
    Either,
    LoopRow,
    LoopTable,
    Obligations,
    Root,
    Together,
    negation,
)
from kleene.ir.loops.text import text
from kleene.ir.loops.tree import Reason, Symbol
from kleene.transforms.loops.conditions import at_counter, iterations
from kleene.transforms.loops.evaluate import Evaluation, difference
from kleene.transforms.loops.recorder import Environment, Fields, Frame
from kleene.transforms.loops.updates import (
    Extremum,
    expanded,
    extremum_with,
    guarded_update,
    recurrence_of,
    update_of,
)
from kleene.transforms.loops.values import UNKNOWN, Place, Value, substituted

# With these, parts of the source are missing in the tree, and may assign to any variable.
_HIDES = {Reason.INLINE_ASSEMBLY, Reason.SETJMP, Reason.SIDE_EFFECT, Reason.UNSUPPORTED}
_MAX_INLINED = 8  # calls inside of each other
# Statements and expressions that are executed symbolically, some of them several times:
MAX_INLINED_STEPS = 20_000  # of called functions, in one outermost loop: about half a second
MAX_STEPS = 300_000  # in one function: then the rest is not followed


class Execution(Evaluation):
    """One function, executed once from its beginning."""

    def table(self) -> LoopTable:
        """Return the loops and accesses of the function."""
        for symbol in self._function.parameters:
            self._environment[symbol] = self._given(symbol)
        self._block(self._function.body)
        self._loops.sort(key=lambda row: row.sequence)
        return LoopTable(
            self._function.name,
            self._function.place,
            tuple(self._loops),
            tuple(self._accesses),
            self._parameters,
            self._load_places,
        )

    # Calls

    def _call(self, node: tree.Call) -> Value:
        callee = self._functions.get(node.function)
        if node.effect == "asserts" and callee is None:
            for row in self._stack:
                row.assumptions.append("assertions hold")
            return UNKNOWN
        arguments = [self._value(one) for one in node.arguments]
        for row in self._stack:
            row.callees.add(node.function)
        if node.effect == "none" and callee is None:
            return self._unfollowed(text(node), node.type)
        if node.effect == "allocates" and callee is None and not self._stack:
            storage = Root(self._next_root(), text(node), "variable", is_exposed=True)
            return Value(None, Place(self._see(storage, node.type.target), (ZERO,), ZERO))
        if callee is None or not _fits(callee, node):
            self._refuse(Reason.CALL_NOT_ALLOWED, node.function, node.place)
            return self._anything(node)
        if node.function in self._calls or len(self._calls) > _MAX_INLINED:
            self._refuse(Reason.RECURSION, node.function, node.place)
            return self._anything(node)
        if self._n_inlined_steps > MAX_INLINED_STEPS:
            detail = f"the functions called before {node.function} are too large"
            self._refuse(Reason.BUDGET, detail, node.place)
            return self._anything(node)
        if callee.name not in self._has_statics:
            self._has_statics[callee.name] = _has_statics(callee)
        if self._has_statics[callee.name]:
            self._refuse(Reason.STATIC_IN_CALLEE, node.function, node.place)
        known = set(self._environment)
        for symbol, value in zip(callee.parameters, arguments, strict=True):
            self._declare(symbol, self._around())
            target = tree.Variable(symbol.type, node.place, symbol)
            self._environment.pop(symbol, None)
            self._write(target, value if self._is_followed(symbol) else UNKNOWN)
        held = self._called(callee, node)
        self._environment = {s: v for s, v in self._environment.items() if s in known}
        return held

    def _called(self, callee: tree.Function, node: tree.Call) -> Value:
        frame = Frame("call")
        self._frames.append(frame)
        self._calls.append(callee.name)
        falls_through = self._block(callee.body)
        self._calls.pop()
        self._frames.pop()
        ends = [environment for environment, _ in frame.returned]
        if falls_through is not None:
            ends.append(self._environment)
        self._environment = self._joined(ends) if ends else self._environment
        values = [value for _, value in frame.returned]
        if len(values) == 1 and falls_through is None:
            return values[0]
        return self._unfollowed(text(node), node.type)

    def _anything(self, node: tree.Call) -> Value:
        """Return the result of a call that may read and write whatever a pointer reaches."""
        at = tree.Nowhere(node.type, node.place, node.function)
        root = self._unknown_root(f"{node.function}()")
        self._record(Place(root, None), at, is_write=False)
        self._record(Place(root, None), at, is_write=True)
        self._touch(Place(root, None))
        return self._unfollowed(text(node), node.type)

    def _refuse(self, reason: Reason, detail: str, place: Span) -> None:
        for row in self._stack:
            row.refuse(reason, detail, place)

    # Statements: each returns the condition under which what follows it is executed, True for
    # always, None for never.

    def _block(self, block: tree.Block, row: LoopRow | None = None) -> Condition | bool | None:
        """Execute statements; `row` is the loop of which they are the body."""
        guards: list[Condition] = []
        is_reached = True
        for statement in block:
            if isinstance(statement, tree.Label):
                is_reached = True
            if not is_reached:
                continue
            if row is not None:
                row.statements.append(self._sequence)
            falls_through = self._statement(statement)
            if row is not None and falls_through is not True:
                row.is_straight = False
            if falls_through is None:
                is_reached = False
            elif not isinstance(falls_through, bool):
                guards.append(falls_through)
                self._context.append(falls_through)
        del self._context[len(self._context) - len(guards) :]
        if not is_reached:
            return None
        return Both(tuple(guards)) if guards else True

    def _statement(self, node: tree.Statement) -> Condition | bool | None:
        self._count_steps(1)
        if self._n_steps > MAX_STEPS:
            self._skip(node)
            return True
        match node:
            case tree.Declare(symbol=symbol):
                if symbol.storage == "static":
                    self._variable_root(symbol)  # the same whenever it is declared
                else:
                    self._declare(symbol, self._around())
                self._environment.pop(symbol, None)
            case tree.Assign(target=target, value=value):
                self._assign(target, value)
            case tree.Evaluate(value=value):
                self._value(value)
            case tree.If():
                return self._if(node)
            case tree.Loop():
                self._loop(node)
            case tree.Jump(kind=kind):
                self._jump(kind, node)
                return None
            case tree.Return(value=value):
                self._return(value, node)
                return None
            case tree.Refuse(reason=reason, detail=detail):
                self._refuse(reason, detail, node.place)
                if reason in _HIDES:
                    self._forget(set(self._environment))
                    self._epoch += 1
                if reason is Reason.GOTO and detail == "goto" and not self._stack:
                    return None
            case tree.Irregular(body=body):
                self._irregular(body)
            case tree.Label():
                self._forget(set(self._environment))
                self._epoch += 1
                if self._frames and self._frames[-1].kind == "loop":
                    self._refuse(Reason.IRREGULAR_CONTROL, "a jump into the loop", node.place)
        return True

    def _skip(self, node: tree.Statement) -> None:
        """Refuse the loops around a statement that is not executed, and those in it."""
        self._refuse(Reason.BUDGET, "too many statements", node.place)
        for one in tree.walk(node):
            if isinstance(one, tree.Loop) and self._is_recording:
                row = self._new_row(one)
                row.sequence = row.end_sequence = self._sequence = self._sequence + 1
                row.refuse(Reason.BUDGET, "too many statements", one.place)
                self._loops.append(row)

    def _assign(self, target: tree.Location, value: tree.Expression) -> None:
        found = update_of(target, expanded(value, self._functions, target))
        n_before = len(self._accesses)
        if found is None:
            self._write(target, self._value(value))
        else:
            operator, others = found
            self._write(target, self._updated(target, value, operator, others), operator)
        if (recurrence := recurrence_of(target, value)) is not None:
            self._mark(n_before, target, value, *recurrence)

    def _mark(
        self,
        first: int,
        target: tree.Location,
        value: tree.Expression,
        operator: str,
        other: tree.Location,
    ) -> None:
        """Note on the accesses of `a[i] = a[j] op e`, recorded since `first`, what they are."""
        places = {
            one.location.place
            for one in tree.walk(value)
            if isinstance(one, tree.Read) and one.location == other
        }
        for number in range(first, len(self._accesses)):
            one = self._accesses[number]
            if one.place == target.place if one.is_write else one.place in places:
                self._accesses[number] = replace(one, recurrence=operator)

    def _updated(
        self,
        target: tree.Location,
        value: tree.Expression,
        operator: str,
        others: tuple[tree.Expression, ...],
    ) -> Value:
        """Record the reads of an update, that of its target apart, and return the new value."""
        for one in others:
            self._value(one)
        self._read(target, operator)
        with self._silently():
            return self._value(value)

    def _choose(self, found: Extremum) -> None:
        """Record the choice of the least or greatest value, and of what is kept with it."""
        chosen = found.chosen.target
        assert isinstance(chosen, tree.Variable)
        roots = [self._variable_root(chosen.symbol)]
        for one in found.kept:
            assert isinstance(one.target, tree.Variable)
            roots.append(self._variable_root(one.target.symbol))
        self._choice_of = Together(tuple(roots), found.is_first)
        self._updated(chosen, found.chosen.value, found.operator, found.others)
        with self._under(self._maybe()):  # no write where the old values stay
            self._choice_of = None
            for one in found.kept:
                self._value(one.value)
            self._choice_of = Together(tuple(roots), found.is_first)
            for one in (found.chosen, *found.kept):
                value = self._unfollowed("extremum", one.target.type)
                self._write(one.target, value, found.operator)
        self._choice_of = None

    def _if(self, node: tree.If) -> Condition | bool | None:
        if (together := extremum_with(node)) is not None:
            self._choose(together)
            return True
        if (found := guarded_update(node)) is not None:
            assign, operator, others = found
            self._updated(assign.target, assign.value, operator, others)
            extremum = self._unfollowed("extremum", assign.target.type)
            with self._under(self._maybe()):  # no write where the old value stays
                self._write(assign.target, extremum, operator)
            return True
        condition = self._condition(node.condition)
        if self._has_jumps:  # a label may be inside of either part
            condition = self._maybe()
        before = dict(self._environment)
        with self._under(condition):
            then = self._block(node.then)
        after_then, self._environment = self._environment, before
        with self._under(negation(condition)):
            otherwise = self._block(node.otherwise)
        if then is None and otherwise is None:
            return None
        if then is None:
            return _conjunction(negation(condition), otherwise)
        if otherwise is None:
            self._environment = after_then
            return _conjunction(condition, then)
        if then is True and otherwise is True:
            self._environment = self._chosen_by(condition, after_then, self._environment)
            return True
        self._environment = self._joined([after_then, self._environment])
        return Either((_conjunction(condition, then), _conjunction(negation(condition), otherwise)))

    def _chosen_by(
        self, condition: Condition, then: Environment, otherwise: Environment
    ) -> Environment:
        """Return what is known after `if`: one of two values, by its condition."""
        joined = self._joined([then, otherwise])
        for symbol in joined:
            first, second = then.get(symbol), otherwise.get(symbol)
            if first != second and first is not None and second is not None:
                joined[symbol] = self._either(condition, first, second, symbol.name, symbol.type)
        return joined

    def _joined(self, environments: list[Environment]) -> Environment:
        """Return what is known on every way that leads here."""
        first, *others = environments
        joined: Environment = {}
        symbols = dict.fromkeys(symbol for one in environments for symbol in one)
        self._count_steps(len(symbols))
        for symbol in symbols:
            value = first.get(symbol)
            if value is not None and all(one.get(symbol) == value for one in others):
                joined[symbol] = value
            else:
                joined[symbol] = self._opaque(symbol)
        return joined

    def _jump(self, kind: str, node: tree.Statement) -> None:
        for frame in reversed(self._frames):
            if frame.kind == "call":
                break
            if frame.kind == "switch" and kind == "break":
                return
            if frame.kind == "loop":
                if kind == "continue":
                    frame.continued.append(dict(self._environment))
                elif frame.loop is not None:
                    frame.loop.refuse(Reason.EARLY_EXIT, "break", node.place)
                return

    def _return(self, value: tree.Expression | None, node: tree.Statement) -> None:
        held = self._value(value) if value is not None else UNKNOWN
        for frame in reversed(self._frames):
            if frame.kind == "call":
                frame.returned.append((dict(self._environment), held))
                return
            if frame.loop is not None:
                frame.loop.refuse(Reason.EARLY_EXIT, "return", node.place)

    def _irregular(self, body: tree.Block) -> None:
        changed = self._changed_by(body)
        self._forget(changed)
        self._frames.append(Frame("switch"))
        with self._under(self._maybe()):
            for statement in body:
                if isinstance(statement, tree.Label):
                    self._forget(changed)
                self._statement(statement)
        self._frames.pop()
        self._forget(changed)

    def _changed_by(self, block: tree.Block) -> set[Symbol]:
        """Return the variables that statements may assign to: all, if some are not told."""
        is_told = not any(
            isinstance(one, tree.Refuse) and one.reason in _HIDES for one in tree.walk(block)
        )
        return _assigned(block) if is_told else _assigned(block) | set(self._environment)

    def _forget(self, symbols: set[Symbol]) -> None:
        self._count_steps(len(symbols))
        for symbol in symbols:
            if self._is_followed(symbol):
                self._environment[symbol] = self._opaque(symbol)

    # Loops

    def _loop(self, node: tree.Loop) -> None:
        self._block(node.init)
        row = self._new_row(node)
        if not self._stack:
            self._n_inlined_steps = 0
        changed = {s for s in self._changed_by((node,)) if self._is_followed(s)}
        entry = {symbol: self._current(symbol) for symbol in changed}
        if node.test is not None:
            self._condition_outside(node)
        if self._is_trial:  # of a loop around: what this one changes is not known after it
            self._trial(node, row, changed, entry)
            self._forget(changed)
            return
        outer_loads = self._loads
        for _ in range(4):  # until the loop loads from no storage that it was found to write to
            known, self._loads = self._changed_by_loop(row), set()
            self._is_trial = True
            with self._silently():
                steps, conditions = self._trial(node, row, changed, entry)
            self._is_trial = False
            outer_loads |= self._loads
            if not any(number in self._loads for number, _ in self._changed_by_loop(row) - known):
                break
        else:
            row.refuse(Reason.UNSUPPORTED, "storage that is not followed", node.place)
        self._loads = outer_loads
        row.inductions = {symbol: step for symbol, (step, _) in steps.items()}
        row.obligations = tuple(one for _, (_, found) in steps.items() for one in found)
        happens = self._first_iteration(node, row, conditions)
        for symbol, step in row.inductions.items():
            self._record_counter(symbol, node, step, happens, is_write=False)
        row.sequence = self._sequence = self._sequence + 1
        if self._is_recording:
            self._loops.append(row)
        self._name(row, node, entry)
        self._begin(row, changed, entry, steps)
        self._iterate(node, row, conditions)
        row.end_sequence = self._sequence
        self._forget(changed)
        for symbol, step in row.inductions.items():
            self._record_counter(symbol, node, step, happens, is_write=True)
        if not self._stack:
            self._epoch += 1

    def _changed_by_loop(self, row: LoopRow) -> set[tuple[int, Fields]]:
        changed = self._changed.get(row.number, {})
        return {(root, one) for root, parts in changed.items() for one in parts}

    def _first_iteration(
        self, node: tree.Loop, row: LoopRow, conditions: tuple[list[Condition], bool]
    ) -> list[Condition]:
        """Return when the loop has an iteration: else it neither reads nor changes variables."""
        known, is_counted = conditions
        if not is_counted or _leaves_early(node.body):
            return [self._maybe()]
        return [at_counter(one, row.counter, ZERO) for one in known]

    def _record_counter(
        self,
        symbol: Symbol,
        node: tree.Loop,
        step: Expression,
        happens: list[Condition],
        *,
        is_write: bool,
    ) -> None:
        """Record that a loop uses, or leaves behind, the value of an induction variable."""
        if self._is_induction(symbol):
            return
        at = tree.Variable(symbol.type, node.place, symbol)
        # What adds nothing may be an assignment that is not always executed: `if (c) s = s;`.
        guards = happens if step != 0 else [self._maybe()]
        with self._under(*guards):
            root = self._variable_root(symbol)
            self._record(Place(root, (), ZERO), at, is_write=is_write, by_loop=True)

    def _new_row(self, node: tree.Loop) -> LoopRow:
        n = self._n_loops
        self._n_loops += 1
        parent = self._stack[-1].number if self._stack else -1
        name = f"#{node.place.line}"
        counter = self._atom(("counter", n), name, "counter", frozenset([n]))
        name = self._function.name
        row = LoopRow(n, parent, name, node.place, node.end_line, node.kind, counter, 0)
        row.is_inlined = len(self._calls) > 1
        return row

    def _current(self, symbol: Symbol) -> Value:
        if symbol not in self._environment:
            self._environment[symbol] = self._opaque(symbol)
        return self._environment[symbol]

    def _condition_outside(self, node: tree.Loop) -> None:
        """Record what the first test reads: it happens also if there is no iteration."""
        if node.kind != "do" and not node.before and node.test is not None:
            saved = dict(self._environment)
            self._condition(node.test)
            self._environment = saved

    def _trial(
        self, node: tree.Loop, row: LoopRow, changed: set[Symbol], entry: Environment
    ) -> tuple[dict[Symbol, tuple[Expression, Obligations]], tuple[list[Condition], bool]]:
        """Execute an iteration to find out what it adds to each variable.

        Return the induction variables with their steps, and the condition for an iteration if
        the loop is counted.
        """
        saved_environment, saved_sequence = dict(self._environment), self._sequence
        saved_refusals = {id(one): list(one.refusals) for one in (*self._stack, row)}
        saved_epochs, saved_epoch = dict(self._epochs), self._epoch
        starts: dict[Symbol, LoopSymbol] = {}
        self._stack.append(row)
        for symbol in changed:
            held = entry[symbol]
            if symbol.type.kind == "int" and held.number is not None:
                starts[symbol] = self._fresh(symbol.name, symbol.type)
                self._environment[symbol] = Value(of(starts[symbol]))
            elif symbol.type.kind == "pointer" and held.place is not None and _is_known(held.place):
                starts[symbol] = self._fresh(symbol.name)
                element = self._n_bytes(symbol.type.target, held.place)
                moved = held.place.moved(of(starts[symbol]), element)
                self._environment[symbol] = Value(None, moved, held.obligations)
            else:
                self._environment[symbol] = self._opaque(symbol)
        frame = Frame("loop", row)
        self._frames.append(frame)
        test = self._one_iteration(node, frame)
        self._frames.pop()
        self._stack.pop()
        ended = self._environment
        self._environment, self._sequence = saved_environment, saved_sequence
        self._epochs, self._epoch = saved_epochs, saved_epoch
        for one in (*self._stack, row):
            one.refusals[:] = saved_refusals[id(one)]
        steps = _steps(row, starts, entry, ended)
        conditions = iterations(node, row, test, starts, entry, steps)
        return steps, conditions

    def _one_iteration(self, node: tree.Loop, frame: Frame) -> Condition | None:
        """Execute test, body and step, and return the test."""
        test: Condition | None = None
        if node.kind != "do":
            self._block(node.before)
            test = self._condition(node.test) if node.test is not None else None
            self._block(node.after)
        with self._under(*([test] if test is not None else [])):
            falls_through = self._block(node.body)
        ends = frame.continued
        if falls_through is not None:
            ends = [*ends, self._environment]
        if ends:
            self._environment = self._joined(ends) if len(ends) > 1 else ends[0]
        self._block(node.step)
        if node.kind == "do":
            self._block(node.before)
            test = self._condition(node.test) if node.test is not None else None
            self._block(node.after)
        return test

    def _name(self, row: LoopRow, node: tree.Loop, entry: Environment) -> None:
        """Choose the variable that people call the loop by: the one that its test reads."""
        tested = [
            one.symbol
            for one in tree.walk(node.test or ())
            if isinstance(one, tree.Variable) and one.symbol in row.inductions
        ]
        chosen = next(iter([*tested, *row.inductions]), None)
        if chosen is not None:
            row.variable = chosen.name
            row.start, row.step = entry[chosen].number, row.inductions[chosen]

    def _begin(
        self,
        row: LoopRow,
        changed: set[Symbol],
        entry: Environment,
        steps: dict[Symbol, tuple[Expression, Obligations]],
    ) -> None:
        self._stack.append(row)
        for symbol in changed:
            self._environment[symbol] = self._opaque(symbol)
        for symbol, (step, _) in steps.items():
            self._environment[symbol] = self._advanced(
                symbol, entry[symbol], step * of(row.counter)
            )

    def _advanced(self, symbol: Symbol, entry: Value, by: Expression) -> Value:
        """Return what an induction variable holds after it was stepped `by` in all."""
        if entry.place is not None:
            element = self._n_bytes(symbol.type.target, entry.place)
            return Value(None, entry.place.moved(by, element), entry.obligations)
        assert entry.number is not None
        return Value(entry.number + by, None, entry.obligations)

    def _iterate(
        self, node: tree.Loop, row: LoopRow, conditions: tuple[list[Condition], bool]
    ) -> None:
        """Record one iteration, under the condition that it happens."""
        known, is_counted = conditions
        counted: list[Condition] = [Compare(">=", of(row.counter)), *known]
        if not is_counted:
            row.is_counted = False
            place = node.test.place if node.test is not None else node.place
            row.refuse(Reason.NOT_NORMALIZABLE, "no trip count", place)
            counted.append(self._maybe())
        if _leaves_early(node.body):
            row.is_counted = False
            counted.append(self._maybe())
        frame = Frame("loop", row)
        self._frames.append(frame)
        head = [counted[0], self._maybe()]
        if node.kind != "do":
            with self._under(*head):
                self._block(node.before)
                if node.test is not None:
                    self._condition(node.test)
                self._block(node.after)
        row.context = (*self._context, *counted)
        with self._under(*counted):
            self._block(node.body, row)
            row.statements.append(self._sequence)
            if frame.continued:
                ends = [*frame.continued, self._environment]
                self._environment = self._joined(ends)
            self._block(node.step)
        if node.kind == "do":
            with self._under(*head):
                self._block(node.before)
                if node.test is not None:
                    self._condition(node.test)
                self._block(node.after)
        self._frames.pop()
        self._stack.pop()


def _steps(
    row: LoopRow, starts: dict[Symbol, LoopSymbol], entry: Environment, ended: Environment
) -> dict[Symbol, tuple[Expression, Obligations]]:
    """Return the induction variables: those to which an iteration adds a constant.

    With the start s of an iteration as an atom, the end must be s + step, and the step must not
    change in the loop. The obligations of the addition are those with s = entry + step * counter.
    """
    found: dict[Symbol, tuple[Expression, Obligations]] = {}
    others = set(starts.values())
    for symbol, start in sorted(starts.items(), key=lambda one: _written_order(one[0])):
        end = ended[symbol]
        before = entry[symbol]
        if before.place is not None:
            apart = None
            if end.place is not None:
                target = symbol.type.target
                n_bytes = None if target is None else target.n_bytes
                begun = before.place.moved(of(start), None if n_bytes is None else of(n_bytes))
                apart = difference(end.place, begun, n_bytes)
        else:
            apart = None if end.number is None else end.number - of(start)
        if apart is None or row.number in loops_of(apart) or apart.symbols() & others:
            continue
        by_loop: dict[Atom, Expression] = {start: _entry_number(before) + apart * of(row.counter)}
        obligations = substituted(end.obligations, by_loop)
        if any(one.value.symbols() & others for one in obligations):
            continue
        found[symbol] = (apart, obligations)
    return found


def _written_order(symbol: Symbol) -> tuple[int, int, str]:
    """Return what orders variables as they are declared, in every run."""
    return symbol.place.line, symbol.place.column, symbol.name


def _is_known(place: Place) -> bool:
    return bool(place.path) or place.offset is not None


def _entry_number(entry: Value) -> Expression:
    return entry.number if entry.number is not None else ZERO


def _conjunction(condition: Condition, rest: Condition | bool | None) -> Condition:
    return condition if rest is None or isinstance(rest, bool) else Both((condition, rest))


def _assigned(block: tree.Block) -> set[Symbol]:
    """Return the variables that statements assign to as a whole."""
    return {
        one.target.symbol
        for one in tree.walk(block)
        if isinstance(one, tree.Assign) and isinstance(one.target, tree.Variable)
    }


def _fits(callee: tree.Function, call: tree.Call) -> bool:
    """Return whether a call passes what a function takes, as C's rules and overloading want it."""
    if len(callee.parameters) != len(call.arguments):
        return False
    return all(
        (taken.type.kind, taken.type.bits, taken.type.signed)
        == (given.type.kind, given.type.bits, given.type.signed)
        for taken, given in zip(callee.parameters, call.arguments, strict=True)
    )


def _has_statics(function: tree.Function) -> bool:
    return any(
        isinstance(one, tree.Declare) and one.symbol.storage == "static"
        for one in tree.walk(function.body)
    )


def _leaves_early(block: tree.Block) -> bool:
    """Return whether a statement of a loop's body may leave the loop."""
    for one in block:
        match one:
            case tree.Jump(kind="break") | tree.Return():
                return True
            case tree.Refuse(reason=Reason.GOTO | Reason.SETJMP | Reason.IRREGULAR_CONTROL):
                return True
            case tree.If(then=then, otherwise=otherwise):
                if _leaves_early(then) or _leaves_early(otherwise):
                    return True
            case tree.Loop(body=body):
                if any(isinstance(inner, tree.Return) for inner in tree.walk(body)):
                    return True
            case tree.Irregular(body=body):
                if any(isinstance(inner, tree.Return) for inner in tree.walk(body)):
                    return True
    return False
