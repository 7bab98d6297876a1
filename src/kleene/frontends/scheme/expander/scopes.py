"""Scopes: what an identifier means where it stands.

Hygiene by renaming: a symbol that a macro inserts is an `Alias`, new for each expansion, of the
name in the scope of the macro's definition. A binding form binds the alias itself, so it captures
no symbol of the user's and is captured by none; an alias that nothing binds means what its name
means where the macro was defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from kleene.frontends.scheme.data import Identifier, Name
from kleene.frontends.scheme.expander.rules import Rules

if TYPE_CHECKING:
    from kleene.ir.scheme.builder import CoreBuilder

_FEW = 64  # names: an inner scope copies so many rather than ask its parent for each


class Alias:
    """A renamed identifier: `name` as it is seen from `scope`, and unlike any other alias."""

    __slots__ = ("name", "scope")

    def __init__(self, name: Name, scope: Scope) -> None:
        self.name = name
        self.scope = scope


class Variable:
    """A variable of the core."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Special:
    """A form that the expander knows.

    `expand(expander, form, scope, slot)` makes its rows where it stands as an expression. If it may
    define something, `splice(expander, form, scope)` returns the forms to put in its place in a
    body or at the top level.
    """

    __slots__ = ("expand", "name", "splice")

    def __init__(
        self, name: str, expand: Callable[..., None], splice: Callable[..., list[Any]] | None = None
    ) -> None:
        self.name = name
        self.expand = expand
        self.splice = splice


class Macro:
    """The rules of a macro, and the scope that its templates' symbols are seen from."""

    __slots__ = ("rules", "scope")

    def __init__(self, rules: Rules, scope: Scope) -> None:
        self.rules = rules
        self.scope = scope


class Primitive:
    """A procedure of the standard library, before any program has redefined it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


Binding: TypeAlias = Variable | Special | Macro | Primitive


class Scope:
    """Names and their bindings, then those of the scope around."""

    __slots__ = ("names", "parent", "top")

    def __init__(self, parent: Scope, names: dict[Name, Binding]) -> None:
        self.top: Top = parent.top
        self.top.local.update(names)
        self.names = names
        self.parent: Scope | None = parent
        if parent.parent is not None and len(parent.names) < _FEW:
            self.names = {**parent.names, **names}
            self.parent = parent.parent

    def bind(self, name: Name, binding: Binding) -> None:
        """Let a name mean something here."""
        self.names[name] = binding
        self.top.local.add(name)

    def lookup(self, identifier: Identifier) -> Binding:
        """Return what the identifier means here; a name that nothing binds is a new global."""
        name = identifier.name
        if (known := self.names.get(name)) is not None:
            return known
        scope: Scope | None = self
        while True:
            assert scope is not None
            top = scope.top
            if name not in top.local:  # most are not: no need to go through the scopes
                scope = top
            while scope is not None:
                binding = scope.names.get(name)
                if binding is not None:
                    return binding
                scope = scope.parent
            if type(name) is str:
                return top.free(name, identifier)
            name, scope = name.name, name.scope  # type: ignore[union-attr]


class Top(Scope):
    """The top level of a program or library: what it imports, and what it defines.

    A program without imports sees everything; its first import ends that (`sees_all`). `changed`
    has the names whose meaning changed since whoever keeps a copy (`bulk`) last looked.
    """

    __slots__ = ("builder", "changed", "imports", "local", "sees_all")

    def __init__(self, builder: CoreBuilder, imports: dict[str, Binding]) -> None:
        self.top = self
        self.names = {}
        self.parent = None
        self.local: set[Name] = set()  # the names that some scope inside binds
        self.builder = builder
        self.imports = imports
        self.sees_all = False
        self.changed: list[Name] = []

    def bind(self, name: Name, binding: Binding) -> None:
        """Let a name mean something at the top level."""
        self.names[name] = binding
        self.changed.append(name)

    def free(self, name: str, identifier: Identifier) -> Binding:
        """Return the binding of a name that is not defined here yet, and remember it."""
        binding = self.imports.get(name)
        if binding is None or type(binding) is Primitive:
            builder = self.builder
            starts_as = builder.primitive_number(binding.name) if binding else -1
            number = builder.variable(name, identifier.at, identifier.end, starts_as)
            binding = Variable(number)
        self.bind(name, binding)
        return binding
