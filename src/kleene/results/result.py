"""What every answer of an analysis offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from kleene.results.finding import Finding
from kleene.results.table import Table


@runtime_checkable
class Result(Protocol):
    """The answer of an analysis: findings for people, tables for programs, plain data for JSON.

    What else an answer offers (points-to sets, call graphs) is its own. All three are the same on
    every run and on every device.
    """

    def findings(self) -> list[Finding]:
        """Return what the analysis has to say about places of the program, in their order."""

    def tables(self) -> Mapping[str, Table]:
        """Return the facts of the answer as tables, by name."""

    def as_json(self) -> dict[str, object]:
        """Return the answer as plain data: dictionaries, lists, text and numbers."""
