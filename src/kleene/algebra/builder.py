"""The operations of a builder as users ask for them: with text, names and several at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from kleene.algebra import lattice_operations
from kleene.algebra.linear import Linear, Variable
from kleene.algebra.state import Condition, Expression, State, conditions, linear, unknown
from kleene.algebra.transfer import TransferFunctions
from kleene.base.errors import SourceError

Value = TypeVar("Value", bound=State)


class Builder(TransferFunctions, Generic[Value]):
    """A value under change: methods change it in place, `build` gives the value and ends it."""

    __slots__ = ()

    def build(self) -> Value:
        """Return the value as it is now."""
        if self.loose:
            self.tidy()
        made: Value = self.domain(
            self.variables,
            self.partition.tidied(),
            self.relations,
            is_empty=self.is_empty,
            is_float=self.is_float,
            device=self.device,
        )
        made.raw, made.exactness = self.raw, self.exactness
        del self.partition  # they are the value's now: further use of the builder fails
        return made

    def meet(self, *given: Condition | State) -> None:
        """Keep the points that meet the constraints and are in the values given."""
        for one in given:
            if isinstance(one, State):
                same_domain(self, one)
                self.variables = union(self, one)
                lattice_operations.meet(self, one)
            else:
                self.guard(*conditions([one]))

    def join(self, other: State, *, relate: bool = True) -> None:
        """Become the least value around this and another."""
        same_domain(self, other)
        self.variables = union(self, other)
        lattice_operations.join(self, self, other, relate=relate)

    def narrow(self, other: State) -> None:
        """Take the bounds of `other`, which is smaller, where there are none."""
        same_domain(self, other)
        self.variables = union(self, other)
        lattice_operations.narrow(self, other)

    def set(self, target: Variable | Mapping[Variable, Expression], value: Expression = 0) -> None:
        """Assign to one variable, or to several at once."""
        if isinstance(target, (str, int)):
            self.assign(target, value if isinstance(value, Linear) else linear(value))
        else:
            self._set_all({name: linear(one) for name, one in target.items()})

    def _set_all(self, values: Mapping[Variable, Linear]) -> None:
        fresh = {name: _after(name) for name in values}
        kinds = self.variables
        self.variables = {**kinds, **{fresh[name]: self.is_integer(name) for name in values}}
        for name, value in values.items():
            self.assign(fresh[name], value)
        for name in values:
            self.forget(name)
        self.tidy(exactly=True)
        self.rename({new: name for name, new in fresh.items()})
        self.variables = kinds

    def substitute(
        self, target: Variable | Mapping[Variable, Expression], value: Expression = 0
    ) -> None:
        """Become the points from which an assignment, or several at once, can lead here."""
        values = {target: value} if isinstance(target, (str, int)) else target
        asked = {name: linear(one) for name, one in values.items()}
        fresh, kinds = {name: _after(name) for name in asked}, self.variables
        self.variables = {**kinds, **{fresh[name]: self.is_integer(name) for name in asked}}
        self.rename(fresh)
        for name, one in asked.items():
            self.become(fresh[name], one)
        for name in asked:
            self.forget(fresh[name])
        self.tidy(exactly=True)
        self.variables = kinds

    def project(self, names: tuple[Variable, ...]) -> None:
        """Drop all variables but some."""
        kept = {name: self.is_integer(name) for name in names}
        for name in self.variables.keys() - kept.keys():
            self.forget(name)
        self.tidy(exactly=True)
        self.variables = kept

    def rename_variables(self, names: Mapping[Variable, Variable]) -> None:
        """Give variables other names, all at once.

        Raises:
            SourceError: `algebra/bad-variables`, when two would have one name.
        """
        for name in names:
            if name not in self.variables:
                raise unknown(name, self.variables)
        kinds = {names.get(name, name): kind for name, kind in self.variables.items()}
        if len(kinds) < len(self.variables):
            raise SourceError(None, "algebra/bad-variables", "two variables would have one name")
        self.rename(names)
        self.variables = kinds

    def expand(self, origin: State, name: Variable, copy: Variable) -> None:
        """Give a new variable all that `origin` says about another."""
        builder: Builder[State] = Builder(origin)
        builder.rename_variables({name: copy})
        self.meet(builder.build())


def _after(name: Variable) -> Variable:
    """Return a name or id for the value after an assignment that no variable has."""
    return ~name if isinstance(name, int) else f"\0{name}"


def same_domain(a: State, b: State) -> None:
    """Refuse two values that do not go together.

    Raises:
        SourceError: `algebra/mixed-domains`.
    """
    if not isinstance(b, State):
        raise SourceError(None, "algebra/mixed-domains", f"{b!r} is no value of a numeric domain")
    if a.relations != b.relations or a.is_float != b.is_float:
        message = "the two values are of different domains, or one has exact bounds, one floats"
        raise SourceError(None, "algebra/mixed-domains", message, "`of` converts between domains")


def union(a: State, b: State) -> Mapping[Variable, bool]:
    """Return the variables of both.

    Raises:
        SourceError: `algebra/bad-variables`, for one that is an integer here and a real there.
    """
    if a.variables is b.variables or a.variables == b.variables:
        return a.variables
    for name in a.variables.keys() & b.variables.keys():
        if a.variables[name] != b.variables[name]:
            message = f"{name!r} is an integer in one value and a real in the other"
            raise SourceError(None, "algebra/bad-variables", message)
    missing = b.variables.keys() - a.variables.keys()
    return one_kind({**a.variables, **b.variables}) if missing else a.variables


def one_kind(variables: Mapping[Variable, bool]) -> Mapping[Variable, bool]:
    """Return the variables, refusing names beside ids, and ids below 0.

    Raises:
        SourceError: `algebra/bad-variables`.
    """
    if len({isinstance(name, int) for name in variables}) > 1:
        message = "some variables have names, some ids"
        raise SourceError(None, "algebra/bad-variables", message)
    if any(isinstance(name, int) and name < 0 for name in variables):
        raise SourceError(None, "algebra/bad-variables", "ids are counted from 0")
    return variables
