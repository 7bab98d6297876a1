"""The loops that solve constraints: component by component, upwards and then downwards."""

from __future__ import annotations

from kleene.base.arrays import I32, I64, U8
from kleene.solvers.dataflow.codes import STRIDE
from kleene.solvers.dataflow.compiled import device_function, entry_point
from kleene.solvers.dataflow.rows import copy, differ, join, meet, round_up
from kleene.solvers.dataflow.transfer import evaluate


@device_function
def _mark_users(
    place: int, start: int, end: int, user_offsets: I64, users: I32, is_due: U8, groups: int,
    first: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Note that the users of a place within a component are to be evaluated.

    The component has the places from `start` to `end`. Of each 64 places in turn, `is_due` says
    from `groups` on whether one may be due. Return how many more places are due behind this one,
    how many up to it, and the first of these, or `first` if that comes before.
    """
    n_behind, n_before = 0, 0
    for edge in range(user_offsets[place], user_offsets[place + 1]):
        user = users[edge]
        if start <= user < end and is_due[user] == 0:
            is_due[user] = 1
            is_due[groups + ((user - start) >> 6)] = 1
            if user > place:
                n_behind += 1
            else:
                n_before += 1
                first = min(first, user)
    return n_behind, n_before, first


@device_function
def _next_due(place: int, start: int, is_due: U8, groups: int) -> int:
    """Return the first place from `place` on that is due, which there must be, as due no more."""
    while True:
        if (place - start) & 63 == 0:
            group = groups + ((place - start) >> 6)
            if is_due[group] == 0:
                place += 64
                continue
            is_due[group] = 0
        if is_due[place] != 0:
            is_due[place] = 0
            return place
        place += 1


@device_function
def evaluate_up(
    facts: I64, name: int, result: int, operator: U8, width: U8, attribute: I64, offsets: I64,
    operands: I32, given: I64, threshold_set: I32, threshold_offsets: I64, signed: I64,
    unsigned: I64,
) -> bool:  # fmt: skip
    """Write at `result` what a name has and its constraint gives, rounded; return if that is more.

    Where `threshold_set` is not -1, bounds are rounded.
    """
    evaluate(facts, result, name, operator, width, attribute, offsets, operands, given)
    join(facts, result, name * STRIDE)
    chosen = threshold_set[name]
    if chosen >= 0:
        round_up(
            facts, result, width[name], signed, unsigned, threshold_offsets[chosen],
            threshold_offsets[chosen + 1],
        )  # fmt: skip
    return differ(facts, result, name * STRIDE)


@device_function
def evaluate_down(
    facts: I64, name: int, result: int, operator: U8, width: U8, attribute: I64, offsets: I64,
    operands: I32, given: I64,
) -> bool:  # fmt: skip
    """Write at `result` what of a name's fact its constraint still gives; return if it is less."""
    evaluate(facts, result, name, operator, width, attribute, offsets, operands, given)
    meet(facts, result, name * STRIDE, width[name])
    return differ(facts, result, name * STRIDE)


@device_function
def solve_component(
    facts: I64, result: int, start: int, end: int, operator: U8, width: U8, attribute: I64,
    offsets: I64, operands: I32, given: I64, user_offsets: I64, users: I32,
    threshold_set: I32, threshold_offsets: I64, signed: I64, unsigned: I64,
    narrowing: int, is_due: U8, groups: int, counts: I64, at: int,
) -> None:  # fmt: skip
    """Compute the facts of a component with cycles, the places from `start` to `end`.

    Upwards, it begins with nothing known to have a value, and names are evaluated until none
    changes. Downwards, every name is evaluated some times without rounding. The row `result` is
    for results; `is_due` has as many elements behind `groups` as the component has places, or
    fewer; `counts[at]` and `counts[at + 1]` grow by the number of evaluations.
    """
    for place in range(start, end):
        is_due[place] = 1
        is_due[groups + ((place - start) >> 6)] = 1
    n_due, first = end - start, start
    while n_due > 0:  # a sweep, from the first that is due to the last
        place, n_next, next_first = first - 1, 0, end
        while n_due > 0:
            place = _next_due(place + 1, start, is_due, groups)
            n_due -= 1
            counts[at] += 1
            if evaluate_up(
                facts, place, result, operator, width, attribute, offsets, operands, given,
                threshold_set, threshold_offsets, signed, unsigned,
            ):  # fmt: skip
                copy(facts, place * STRIDE, result)
                n_behind, n_before, next_first = _mark_users(
                    place, start, end, user_offsets, users, is_due, groups, next_first
                )
                n_due += n_behind
                n_next += n_before
        n_due, first = n_next, next_first
    for place in range(start, end):
        is_due[place] = 1
    for _ in range(narrowing):
        for place in range(start, end):
            if is_due[place] == 0:
                continue
            is_due[place] = 0
            counts[at + 1] += 1
            if evaluate_down(
                facts, place, result, operator, width, attribute, offsets, operands, given
            ):
                copy(facts, place * STRIDE, result)
                _mark_users(place, start, end, user_offsets, users, is_due, groups, end)


@entry_point
def solve(
    facts: I64, operator: U8, width: U8, attribute: I64, offsets: I64, operands: I32, given: I64,
    user_offsets: I64, users: I32, component_offsets: I64,
    is_cyclic: U8, threshold_set: I32, threshold_offsets: I64, signed: I64, unsigned: I64,
    narrowing: int, is_due: U8, components: I32, result: int, counts: I64,
) -> None:  # fmt: skip
    """Compute the facts of some components, whose operands are known or come first.

    The row `result` is for results. `counts` becomes the number of evaluations upwards and
    downwards. Several calls may run at once where none reads what another computes: what they
    write (facts, `is_due` and its groups) is then in different places.
    """
    for at in range(len(components)):
        component = components[at]
        start, end = component_offsets[component], component_offsets[component + 1]
        if is_cyclic[component] == 0:
            evaluate(
                facts, start * STRIDE, start, operator, width, attribute, offsets, operands, given
            )
            counts[0] += 1
            continue
        solve_component(
            facts, result, start, end, operator, width, attribute, offsets, operands, given,
            user_offsets, users, threshold_set, threshold_offsets, signed,
            unsigned, narrowing, is_due, len(operator) + start, counts, 0,
        )  # fmt: skip


@entry_point
def solve_bits(
    facts: I64, n_words: int, is_union: int, gen: I64, keep: I64, offsets: I64, operands: I32,
    user_offsets: I64, users: I32, component_offsets: I64,
    is_cyclic: U8, is_due: U8,
) -> None:  # fmt: skip
    """Compute sets of bits: `gen | (union or intersection of the operands) & keep`.

    Without operands a set is `gen`. All sets of a component begin empty, or, for intersections,
    full.
    """
    for component in range(len(component_offsets) - 1):
        start, end = component_offsets[component], component_offsets[component + 1]
        groups = component_offsets[-1] + start
        for place in range(start, end):
            is_due[place] = 1
            is_due[groups + ((place - start) >> 6)] = 1
        n_due, first = end - start, start
        while n_due > 0:  # a sweep, from the first that is due to the last
            place, n_next, next_first = first - 1, 0, end
            while n_due > 0:
                place = _next_due(place + 1, start, is_due, groups)
                n_due -= 1
                has_changed = False
                for word in range(n_words):
                    found = 0 if is_union or offsets[place] == offsets[place + 1] else -1
                    for at in range(offsets[place], offsets[place + 1]):
                        fact = facts[operands[at] * n_words + word]
                        found = found | fact if is_union else found & fact
                    found = (found & keep[place * n_words + word]) | gen[place * n_words + word]
                    if found != facts[place * n_words + word]:
                        facts[place * n_words + word] = found
                        has_changed = True
                if has_changed and is_cyclic[component]:
                    n_behind, n_before, next_first = _mark_users(
                        place, start, end, user_offsets, users, is_due, groups, next_first
                    )
                    n_due += n_behind
                    n_next += n_before
            n_due, first = n_next, next_first
