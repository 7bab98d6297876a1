"""Random systems of constraints on values."""

from __future__ import annotations

import random

from kleene.solvers.dataflow import ConstraintBuilder, Constraints, Flag, Operator, Predicate

_BINARY = [op for op in Operator if op >= Operator.ADD]


def random_system(seed: int, n_names: int = 24) -> Constraints:
    """Return constraints with cycles, control, refinements, constants and all widths."""
    chance = random.Random(seed)
    width = chance.choice([4, 8, 32, 64])
    build = ConstraintBuilder()
    values, bits = build.names(n_names).tolist(), build.names(n_names // 2).tolist()
    for name in values:
        kind = chance.random()
        pick = lambda: chance.choice(values)  # noqa: E731
        if kind < 0.2:
            number = chance.choice(
                [0, 1, -1, 3, 7, chance.randrange(1 << (width - 1)), -(1 << (width - 1))]
            )
            build.define([name], Operator.CONSTANT, width=width, attribute=number)
        elif kind < 0.25:
            build.define([name], Operator.ANY, width=width)
        elif kind < 0.45:
            pairs = [(pick(), chance.choice(bits)) for _ in range(chance.randint(1, 3))]
            operands = [one for pair in pairs for one in pair]
            operands += [pick()] * chance.randint(0, 1)  # met with it
            build.define([name], Operator.PHI, operands, offsets=[0, len(operands)], width=width)
        elif kind < 0.6:
            predicate = chance.choice(list(Predicate))
            build.define(
                [name], Operator.REFINE, [pick(), pick()], width=width, attribute=predicate
            )
        elif kind < 0.7:
            operator = chance.choice([Operator.JOIN, Operator.MEET])
            build.define([name], operator, [pick(), pick()], width=width)
        elif kind < 0.75:
            operands = [chance.choice(bits), pick(), pick()]
            build.define([name], Operator.SELECT, operands, width=width)
        elif kind < 0.78:
            build.define([name], Operator.FREEZE, [pick()], width=width)
        else:
            flags = chance.choice([0, Flag.NSW, Flag.NUW, Flag.IN_RANGE])
            operator = chance.choice(_BINARY)
            build.define([name], operator, [pick(), pick()], width=width, attribute=flags)
    for name in bits:
        kind = chance.random()
        x, y = chance.choice(values), chance.choice(values)
        if kind < 0.3:
            build.define([name], Operator.CONSTANT, attribute=1)
        elif kind < 0.6:
            attribute = chance.choice(list(Predicate))
            build.define([name], Operator.COMPARE, [x, y], attribute=attribute)
        elif kind < 0.8:
            number = chance.choice([0, 1, 3])
            build.define([name], Operator.WHEN, [chance.choice(bits), x], attribute=number)
        else:
            build.define([name], Operator.JOIN, [chance.choice(bits), chance.choice(bits)])
    return build.constraints()
