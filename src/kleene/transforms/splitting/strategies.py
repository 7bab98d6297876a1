"""Where the live ranges of variables are to be split: strategies by name, or point by point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from kleene.base.arrays import I32, I64
from kleene.base.errors import SourceError
from kleene.transforms.splitting.flow import Accesses, ControlFlow, Role


class Where(Enum):
    """The points at which an analysis learns something about a variable."""

    DEFINITIONS = "definitions"
    USES = "uses"
    LAST_USES = "last uses"  # after which the variable is dead
    TESTS = "tests"
    EQUALITY_TESTS = "equality tests"
    DERIVED_TESTS = "derived tests"


_D, _U, _L = Where.DEFINITIONS, Where.USES, Where.LAST_USES
_T, _E, _C = Where.TESTS, Where.EQUALITY_TESTS, Where.DERIVED_TESTS


@dataclass(frozen=True)
class Strategy:
    """Points whose information flows down (with control flow), and up (against it)."""

    down: frozenset[Where] = frozenset()
    up: frozenset[Where] = frozenset()

    def points(self, flow: ControlFlow, accesses: Accesses) -> Points:
        """Return the points themselves."""
        return Points(
            *_rows_at(flow, accesses, self.down),
            *_rows_at(flow, accesses, self.up),
        )


STRATEGIES = {
    # Reaching definitions, constants.
    "ssa": Strategy(frozenset({_D})),
    # Ranges, taint, bounds checks.
    "essa": Strategy(frozenset({_D, _T})),
    # Known bits and congruences besides: `(x & 3) == 0` tells something about x.
    "bits": Strategy(frozenset({_D, _T, _C})),
    # Constants, if a variable that was compared with a constant may be replaced by it.
    "ccp": Strategy(frozenset({_D, _E})),
    # Partial redundancies.
    "ssi": Strategy(frozenset({_D}), frozenset({_L})),
    # Types and classes by what is done with a value.
    "ssu": Strategy(frozenset(), frozenset({_U})),
    "hochstadt": Strategy(frozenset(), frozenset({_U, _T})),
    # Bit-widths, by Mahlke and by Stephenson.
    "mahlke": Strategy(frozenset({_D}), frozenset({_U})),
    "stephenson": Strategy(frozenset({_D, _T}), frozenset({_U})),
    # Null pointers: what was dereferenced is not null from there on.
    "null": Strategy(frozenset({_D, _U})),
}


def strategy_named(name: str) -> Strategy:
    """Return one of `STRATEGIES`.

    Raises:
        SourceError: there is none of that name (`splitting/no-such-strategy`).
    """
    if name not in STRATEGIES:
        message = f"there is no strategy '{name}' of live-range splitting"
        note = f"there are {', '.join(STRATEGIES)}"
        raise SourceError(None, "splitting/no-such-strategy", message, note)
    return STRATEGIES[name]


@dataclass(frozen=True, eq=False)
class Points:
    """A strategy point by point: variables, and points at which they are to be split."""

    down_variable: I32
    down_point: I64
    up_variable: I32
    up_point: I64

    @classmethod
    def of(cls, down: Iterable[tuple[int, int]] = (), up: Iterable[tuple[int, int]] = ()) -> Points:
        """Return the points of pairs of a variable and a point."""
        return cls(*_columns(down), *_columns(up))


def _columns(pairs: Iterable[tuple[int, int]]) -> tuple[I32, I64]:
    columns = np.array(list(pairs), np.int64).reshape(-1, 2)
    return columns[:, 0].astype(np.int32), columns[:, 1]


def _rows_at(flow: ControlFlow, accesses: Accesses, wheres: frozenset[Where]) -> tuple[I32, I64]:
    roles = {
        _D: (Role.DEFINITION,), _U: (Role.USE,), _T: (Role.TEST, Role.EQUALITY_TEST),
        _E: (Role.EQUALITY_TEST,), _C: (Role.DERIVED_TEST,),
    }  # fmt: skip
    chosen = accesses.rows(*(role for where in wheres - {_L} for role in roles[where]))
    if _L in wheres:
        chosen = np.concatenate([chosen, last_uses(flow, accesses)])
    return accesses.variable[chosen], accesses.point[chosen]


def last_uses(flow: ControlFlow, accesses: Accesses) -> I64:
    """Return the rows of uses after which their variables are dead."""
    from kleene.transforms.splitting import cpu

    back = flow.nodes.reverse()
    rows, variable, node, is_definition = flow.ordered(accesses)
    slot = flow.slot_of(accesses.point[rows], is_definition)
    is_last = cpu.last_uses(back.offsets, back.targets, variable, node, slot, is_definition)
    return np.sort(rows[is_last])
