"""0CFA of lambdas, calls and basic values by plain sets, where every call counts.

A call with a wrong number of arguments does nothing at all. This is the oracle of the EigenCFA
pipeline alone, so it knows nothing of data, primitives or reachability.
"""

from __future__ import annotations

from collections import defaultdict

from kleene.ir.scheme import core as columns
from kleene.transforms.scheme.language import CALL_CC


def flow_sets(core):
    """Return what each variable may hold: lambdas, primitives and escapes, by their rows."""
    sets = defaultdict(set)  # by ("row", r) and ("variable", v)
    size = -1
    while size != (size := sum(map(len, sets.values()))):
        for row in range(core.n_rows):
            _apply(core, core.node(row), sets)
    return {v: sets["variable", v] for v in range(core.n_variables)}


def _apply(core, node, sets):
    mine = sets["row", node.row]
    below = [operand.row for operand in node.operands]
    if node.kind == columns.VARIABLE:
        mine |= sets["variable", node.reference]
    elif node.kind in (columns.LAMBDA, columns.PRIMITIVE):
        mine.add(node.row)
    elif node.kind == columns.IF:
        mine |= sets["row", below[1]] | sets["row", below[2]]
    elif node.kind in (columns.SET, columns.DEFINE):
        sets["variable", node.reference] |= sets["row", below[0]]
    elif node.kind in (columns.SEQUENCE, columns.LETREC):
        mine |= sets["row", below[-1]] if below else set()
        for variable, value in zip(node.bound, below, strict=False):
            sets["variable", variable] |= sets["row", value]
    elif node.kind == columns.CALL:
        _call(core, node, below, sets)


def _call(core, node, below, sets):
    mine = sets["row", node.row]
    operator, arguments = below[0], [sets["row", row] for row in below[1:]]
    if core.kind[operator] == columns.PRIMITIVE:
        if core.primitives[core.reference[operator]] not in CALL_CC:
            return
        operator, arguments = below[1], [{node.row}]  # the call stands for the escape it makes
    for callee in sorted(sets["row", operator]):
        if core.kind[callee] == columns.CALL and len(arguments) == 1:
            sets["row", callee] |= arguments[0]
        elif core.kind[callee] == columns.LAMBDA:
            formals = list(core.node(callee).bound)
            if len(formals) == len(arguments):
                mine |= sets["row", core.node(callee).operands[0].row]
                for formal, argument in zip(formals, arguments, strict=True):
                    sets["variable", formal] |= argument
