"""What analyses look for: rules with an id, a severity and a help text.

A rule is declared once, as a module-level `Rule`, by the analysis that checks it: in the module
`rules` of an analysis that is a package, else in the analysis's own module. There is no list of
rules; `discovered` finds them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*")


class Severity(StrEnum):
    """How bad a finding is; the words are those of SARIF's levels."""

    ERROR = "error"  # wrong on every run that comes here
    WARNING = "warning"  # wrong on some run, as far as is known
    NOTE = "note"  # worth knowing, and no fault

    @property
    def is_fault(self) -> bool:
        """Whether a command that was asked for findings ends with exit code 3."""
        return self is not Severity.NOTE


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that an analysis looks for.

    Attributes:
        id: `analysis/what`, in lower case with hyphens; stable, for suppressions and filters.
        severity: of every finding of this rule.
        summary: what a finding of this rule says, as one sentence.
        help: when it is reported, what it may miss, and how to mend it; Markdown, paragraphs
            separated by an empty line.
    """

    id: str
    severity: Severity
    summary: str
    help: str

    def __post_init__(self) -> None:
        assert _ID.fullmatch(self.id), f"a rule's id is analysis/what, not {self.id!r}"
        assert self.summary.endswith("."), f"the summary of {self.id} is no sentence"

    @property
    def anchor(self) -> str:
        """Where `docs/reference/findings.md` explains the rule: the heading's fragment."""
        return self.id.replace("/", "-")


def rules_in(module: ModuleType) -> tuple[Rule, ...]:
    """Return the rules that a module declares, by id."""
    found = {value.id: value for value in vars(module).values() if isinstance(value, Rule)}
    return tuple(found[id] for id in sorted(found))


def discovered(package: ModuleType) -> tuple[Rule, ...]:
    """Return the rules of every analysis in a package (`kleene.analyses`), by id.

    Raises:
        ValueError: two modules declare different rules by one id.
    """
    found: dict[str, Rule] = {}
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        name = f"{module.name}.rules" if module.ispkg else module.name
        for rule in rules_in(import_module(name)) if find_spec(name) else ():
            if found.setdefault(rule.id, rule) != rule:
                raise ValueError(f"two rules are called {rule.id}")
    return tuple(found[id] for id in sorted(found))
