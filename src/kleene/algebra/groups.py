"""Disjoint sets of things that turn out to belong together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Groups:
    """Disjoint sets of things."""

    def __init__(self) -> None:
        self.parent: dict[Any, Any] = {}

    def find(self, one: Any) -> Any:
        """Return the thing that stands for the set of `one`."""
        root = one
        while (above := self.parent.get(root, root)) != root:
            root = above
        while (above := self.parent.get(one, one)) != root:
            self.parent[one], one = root, above
        return root

    def unite(self, things: Iterable[Any]) -> None:
        """Make one set of the sets of all these."""
        first: Any = None
        for thing in things:
            root = self.find(thing)
            self.parent.setdefault(root, root)
            if first is None:
                first = root
            else:
                self.parent[root] = first
