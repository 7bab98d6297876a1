"""The call graph: sites, what each may call, and the procedure each is in."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property

from kleene.analyses.cfa.answers.naming import Value


@dataclass(frozen=True, slots=True)
class Site:
    """A call: where it is, in which procedure, and which procedures it may call."""

    row: int
    place: str
    caller: Value
    targets: tuple[Value, ...]

    def as_json(self) -> dict[str, object]:
        """Return the site as plain data."""
        return {
            "place": self.place,
            "caller": str(self.caller),
            "targets": [str(target) for target in self.targets],
        }


@dataclass(frozen=True, eq=False)
class CallGraph:
    """Which procedures may call which, and where; what cannot be reached is not in it."""

    procedures: tuple[Value, ...]  # that can be reached, the top level first
    sites: tuple[Site, ...]

    @cached_property
    def edges(self) -> list[tuple[Value, Value]]:
        """The callers and callees, each pair once."""
        found = {(site.caller, target) for site in self.sites for target in site.targets}
        return sorted(found, key=lambda edge: (edge[0].row, edge[1].row))

    def callers(self, procedure: Value, depth: int = 1) -> list[tuple[int, Value]]:
        """Return who may call a procedure, through at most so many calls: (calls, caller)."""
        into: dict[Value, set[Value]] = {}
        for caller, target in self.edges:
            into.setdefault(target, set()).add(caller)
        level, seen, found = {procedure}, set[Value](), []
        for distance in range(1, depth + 1):
            level = {caller for callee in level for caller in into.get(callee, ())} - seen
            seen |= level
            found += [(distance, caller) for caller in sorted(level)]
        return found

    def as_json(self) -> dict[str, object]:
        """Return the graph as plain data."""
        return {
            "procedures": [procedure.as_json() for procedure in self.procedures],
            "sites": [site.as_json() for site in self.sites],
        }

    def to_csv(self) -> str:
        """Return a line for each call and target: caller, place, target."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(["caller", "call", "target"])
        for site in self.sites:
            lines.writerows([site.caller, site.place, target] for target in site.targets)
        return text.getvalue()

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT language."""
        ids = {procedure: f"p{i}" for i, procedure in enumerate(self.procedures)}
        lines = ["digraph calls {", '  node [shape=box, fontname="monospace"];']
        lines += [f'  {id} [label="{_quoted(str(value))}"];' for value, id in ids.items()]
        lines += [f"  {ids[caller]} -> {ids[target]};" for caller, target in self.edges]
        return "\n".join([*lines, "}"]) + "\n"

    def difference(self, new: CallGraph) -> dict[str, list[str]]:
        """Return the calls, as text, that a new graph has more and has no more.

        Procedures are known by their names alone, so that lines may move.
        """
        mine, others = self._named(), new._named()
        return {"added": sorted(others - mine), "removed": sorted(mine - others)}

    def _named(self) -> set[str]:
        return {f"{caller.name} -> {target.name}" for caller, target in self.edges}


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
