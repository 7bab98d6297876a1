"""Functions as plans are made of them: what people write otherwise, in the form that is generated.

| what is written | becomes |
|---|---|
| a call of the program's own function | what that does |
| `memset`, `memcpy` of numbers | loops |
| `if (!p)`, p an array or record | nothing: a call from Python gives every parameter something |
| `if (n <= 0) return -1;` | a condition around what follows |
| global variables, `state->gain` | parameters |
| `*p++`, `p += n`, `p < end` | subscripts |
| `while (n--)`, `i += 2` beside the counter | loops with one counter |

The verdicts are then asked for of the new form: what is generated is what was proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kleene.base.errors import Span
from kleene.base.expression import Atom, Expression, of
from kleene.codegen.plan import Given
from kleene.codegen.text import arrays_in, element_of, free_name, symbols_in, type_name
from kleene.codegen.trees import mapped
from kleene.ir.loops import tree
from kleene.ir.loops.tables import Both, Compare, Condition, Either
from kleene.ir.loops.tree import Function, Symbol, Variable
from kleene.offload.kernels.result import Analysed
from kleene.offload.kernels.verdicts import verdicts_of
from kleene.offload.plans.counters import with_counters
from kleene.offload.plans.indexed import with_indexes
from kleene.offload.plans.inlined import with_calls_inlined
from kleene.offload.plans.library_calls import with_library_loops
from kleene.offload.plans.outer import with_parameters
from kleene.offload.plans.schedule import check_written
from kleene.offload.plans.single_exit import with_single_exit
from kleene.transforms.loops import table_of

_INT = tree.Type("int", "int", 32)
_FAR = 1 << 24  # a column beyond all text, and beyond that of what is inlined


@dataclass(frozen=True)
class Normalised:
    """A function in the form that is generated, the verdicts on it, and what calls are given."""

    function: Function
    analysed: Analysed
    given: tuple[Given, ...]


def normalised(
    function: Function, analysed: Analysed, functions: Mapping[str, Function]
) -> Normalised | None:
    """Return a function in the form that is generated; None if it has that already.

    Raises:
        CannotError: something in it has no such form; that is told before loops are asked about.
    """
    made = with_library_loops(_without_null_tests(with_calls_inlined(function, functions)))
    made, given = with_parameters(with_single_exit(made))
    made = with_counters(with_indexes(made))
    made = _with_own_places(_with_own_names(_unexposed(made)))
    if made.body == function.body and made.parameters == function.parameters:
        return None
    _check(made)
    table = table_of(made, functions)
    old, new = analysed.table.parameters, table.parameters
    named: dict[Atom, Expression] = {
        symbol: of(new[name]) for name, symbol in old.items() if name in new
    }
    conditions = tuple(_about(one, named) for one in analysed.conditions)
    verdicts = tuple(verdicts_of(table, conditions))
    return Normalised(made, Analysed(table, conditions, verdicts), given)


def _check(function: Function) -> None:
    """Check what every plan needs: types that are generated, arrays by their names."""
    check_written(function)
    for one in function.parameters:
        type_name(element_of(one.type))
    arrays_in(function.body, written=False)
    arrays_in(function.body, written=True)


def _about(condition: Condition, named: dict[Atom, Expression]) -> Condition:
    """Return a condition on parameters with those of another table."""
    match condition:
        case Compare(operator, value, obligations):
            return Compare(operator, value.substitute(named), obligations)
        case Both(parts):
            return Both(tuple(_about(one, named) for one in parts))
        case Either(parts):
            return Either(tuple(_about(one, named) for one in parts))
    return condition


def _without_null_tests(function: Function) -> Function:
    """Return a function whose parameters are never null."""
    unknown = {
        one.target.symbol
        for one in tree.walk(function.body)
        if isinstance(one, tree.Assign) and isinstance(one.target, Variable)
        if any(isinstance(e, tree.Unknown) for e in tree.walk(one.value))
    }
    sure = {one for one in function.parameters if one.type.kind == "pointer" and one not in unknown}
    sure = {one for one in sure if not one.is_exposed}

    def is_sure(value: object) -> bool:
        while isinstance(value, tree.Convert) and value.type.kind == "pointer":
            value = value.operand
        if not isinstance(value, tree.Read) or not isinstance(value.location, Variable):
            return False
        return value.location.symbol in sure

    def change(node: Any) -> Any:
        match node:
            case tree.Binary(operator="==" | "!=" as operator, left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if is_sure(one) and _is_null(other):
                        return _truth(operator == "!=", node.place)
            case tree.Unary(operator="!", operand=operand):
                if is_sure(operand):
                    return _truth(False, node.place)
                if _known(operand) is not None:
                    return _truth(not _known(operand), node.place)
            case tree.Binary(operator="&&" | "||" as operator, left=left, right=right):
                sides = [_truth(True, node.place) if is_sure(one) else one for one in (left, right)]
                decides = operator == "||"
                for one, other in (sides, sides[::-1]):
                    if _known(one) is decides:
                        return _truth(decides, node.place)
                    if _known(one) is (not decides):
                        return _as_truth(other)
            case tree.If(condition=condition, then=then, otherwise=otherwise):
                known = True if is_sure(condition) else _known(condition)
                if known is not None:
                    return then if known else otherwise
            case tree.Choose(condition=condition, then=then, otherwise=otherwise):
                known = True if is_sure(condition) else _known(condition)
                if known is not None:
                    return then if known else otherwise
        return node

    if not any(
        isinstance(one, tree.Unknown | tree.Unary | tree.If | tree.Choose)
        for one in tree.walk(function.body)
    ):
        return function
    body = mapped(function.body, change)
    return function if body == function.body else replace(function, body=body)


def _is_null(value: tree.Expression) -> bool:
    while isinstance(value, tree.Convert):
        value = value.operand
    return isinstance(value, tree.Unknown) and value.detail == "NullToPointer"


def _truth(value: bool, place: Span) -> tree.Literal:
    return tree.Literal(_INT, place, int(value))


def _known(value: tree.Expression) -> bool | None:
    """Return whether a condition holds that one of the tests above has become."""
    is_known = isinstance(value, tree.Literal) and value.type == _INT and value.value in (0, 1)
    return bool(value.value) if is_known and isinstance(value, tree.Literal) else None


def _as_truth(value: tree.Expression) -> tree.Expression:
    if isinstance(value, tree.Binary) and value.operator in ("<", ">", "<=", ">=", "==", "!="):
        return value
    if isinstance(value, tree.Binary) and value.operator in ("&&", "||"):
        return value
    if isinstance(value, tree.Unary) and value.operator == "!":
        return value
    zero = tree.Literal(_INT, value.place, 0)
    if value.type.kind == "int":
        return tree.Binary(_INT, value.place, "!=", value, replace(zero, type=value.type))
    return value


def _unexposed(function: Function) -> Function:
    """Return a function with the addresses that nothing takes any more untold."""
    listed = {one for one in symbols_in(function.body) if one.storage in ("local", "parameter")}
    listed = {one for one in (*listed, *function.parameters) if one.is_exposed}
    if not listed:
        return function
    uses: dict[Symbol, int] = dict.fromkeys(listed, 0)
    for one in tree.walk(function.body):
        if isinstance(one, Variable) and one.symbol in uses:
            uses[one.symbol] += 1
        held = None
        if isinstance(one, tree.Read):
            held = one.location
        elif isinstance(one, tree.Assign):
            held = one.target
        elif isinstance(one, tree.Element) and isinstance(one.pointer, tree.Decay):
            held = one.pointer.location
        if isinstance(held, Variable) and held.symbol in uses:
            uses[held.symbol] -= 1
    told = {one for one, count in uses.items() if count}
    names = {one: replace(one, is_exposed=False) for one in listed - told}
    return _renamed(function, names)


def _with_own_names(function: Function) -> Function:
    """Return a function in which no two variables have one name."""
    taken: dict[str, Symbol] = {one.name: one for one in function.parameters}
    names: dict[Symbol, Symbol] = {}
    for one in tree.walk(function.body):
        if not isinstance(one, tree.Declare) or one.symbol in names:
            continue
        if taken.setdefault(one.symbol.name, one.symbol) is not one.symbol:
            name = free_name(one.symbol.name, taken)
            taken[name] = names[one.symbol] = replace(one.symbol, name=name)
    return _renamed(function, names)


def _renamed(function: Function, names: Mapping[Symbol, Symbol]) -> Function:
    """Return a function with other variables, but for those that are sizes of arrays."""
    used = {s for one in symbols_in(function.body) for s in _sizes(one.type)}
    used |= {s for one in function.parameters for s in _sizes(one.type)}
    names = {old: new for old, new in names.items() if old not in used}
    if not names:
        return function

    def change(node: Any) -> Any:
        if isinstance(node, Variable | tree.Declare) and node.symbol in names:
            return replace(node, symbol=names[node.symbol])
        return node

    parameters = tuple(names.get(one, one) for one in function.parameters)
    return replace(function, parameters=parameters, body=mapped(function.body, change))


def _sizes(kind: tree.Type | None) -> set[Symbol]:
    found: set[Symbol] = set()
    while kind is not None:
        if isinstance(kind.extent, tree.Expression):
            found |= symbols_in(kind.extent)
        kind = kind.target
    return found


def _with_own_places(function: Function) -> Function:
    """Return a function whose loops begin at different places: macros make several at one."""
    loops = [one.place for one in tree.walk(function.body) if isinstance(one, tree.Loop)]
    if len(set(loops)) == len(loops):
        return function
    return replace(function, body=_Places().moved(function.body, 0))


class _Places:
    """The places of loops that were seen."""

    def __init__(self) -> None:
        self._seen: set[Span] = set()
        self._n_moved = 0

    def moved(self, node: Any, by: int) -> Any:
        """Return a tree with places `by` columns further on, or more for a loop that was seen."""
        if isinstance(node, tuple):
            return tuple(self.moved(one, by) for one in node)
        if not isinstance(node, tree.Expression | tree.Location | tree.Statement):
            return node
        if isinstance(node, tree.Loop):
            if replace(node.place, column=node.place.column + by) in self._seen:
                self._n_moved += 1
                by = self._n_moved * _FAR
            self._seen.add(replace(node.place, column=node.place.column + by))
        changed: dict[str, Any] = {}
        if by and node.place.line:
            changed["place"] = replace(node.place, column=node.place.column + by)
        for one in fields(node):
            if one.name not in ("type", "place"):
                old = getattr(node, one.name)
                new = self.moved(old, by)
                if new is not old:
                    changed[one.name] = new
        return replace(node, **changed) if changed else node
