"""The questions that dataflow analysis answers, a file each: the file is the registration.

A client has a name, that of its module, and a `CLIENT` with what it says in one sentence and a
function from the `Context` to its `Answer`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module

from kleene.analyses.dataflow.context import Context
from kleene.base.errors import SourceError
from kleene.results import Finding, Table


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client found: about places of the program, and as tables of facts by name."""

    findings: list[Finding] = field(default_factory=list)
    tables: Mapping[str, Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Client:
    """A question: what it asks, in one sentence, and what answers it."""

    summary: str
    answer: Callable[[Context], Answer]


def available() -> list[str]:
    """Return the names of all clients, importing none."""
    found = (one.name.replace("_", "-") for one in pkgutil.iter_modules(__path__))
    return sorted(found)


def client(name: str) -> Client:
    """Return a client.

    Raises:
        SourceError: there is none of that name (`dataflow/no-such-client`).
    """
    if name not in available():
        near = get_close_matches(name, available(), n=1)
        note = f"did you mean {near[0]}?" if near else f"there are {', '.join(available())}"
        message = f"there is no dataflow client '{name}'"
        raise SourceError(None, "dataflow/no-such-client", message, note)
    found: Client = import_module(f"{__name__}.{name.replace('-', '_')}").CLIENT
    return found
