"""Why does a constraint variable hold an object? The shortest derivation, checked, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kleene.base.errors import Span


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation: where it stands in the source, and what it does to the object."""

    location: str | None  # file:line:column
    text: str
    node: str  # the constraint variable that holds the object after this step, or nothing
    rule: str  # the inference rule behind it: address, copy, load, …; nothing if none was needed
    span: Span | None  # the same location, with the whole path of the file

    def __str__(self) -> str:
        return f"{self.location or '-'}: {self.text}"

    def as_json(self) -> dict[str, Any]:
        """Return the step as plain data."""
        return {
            "location": self.location,
            "text": self.text,
            "node": self.node,
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps by which an object reaches a constraint variable, first to last."""

    node: str
    object: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        width = max((len(step.location or "-") for step in self.steps), default=0)
        return "\n".join(f"{step.location or '-':{width}}  {step.text}" for step in self.steps)

    def as_json(self) -> dict[str, Any]:
        """Return the derivation as plain data."""
        steps = [step.as_json() for step in self.steps]
        return {"node": self.node, "object": self.object, "steps": steps}
