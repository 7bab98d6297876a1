"""What LLVM prints of a module, taken apart by a few patterns: what its objects do not tell."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NODE = re.compile(r"^!(\d+) = (?:distinct )?(.*)$")
_KEY = r"(?:^|[(, ]){}: (\"(?:[^\"]*)\"|!\d+|\d+)"
_GROUP = re.compile(r"^attributes #(\d+) = \{ (.*) \}$")
_RECORD = re.compile(r"^    #dbg_(declare|value|assign)\((.*)\)$")


@dataclass
class Body:
    """A function: its first line, each instruction's text, and the debug records before each."""

    head: str
    instructions: list[str] = field(default_factory=list)
    records: list[tuple[int, str, str]] = field(default_factory=list)  # before, kind, operands


class Printed:
    """A printed module."""

    def __init__(self, text: str) -> None:
        self.nodes: dict[int, str] = {}
        self.groups: dict[str, str] = {}
        self.globals: list[str] = []
        self.functions: list[Body] = []
        body: Body | None = None
        for line in text.split("\n"):
            if line.startswith(("define ", "declare ")):
                self.functions.append(Body(line))
                body = self.functions[-1] if line.startswith("define ") else None
            elif line == "}":
                body = None
            elif body is not None:
                _body_line(body, line)
            elif found := _NODE.match(line):
                self.nodes[int(found[1])] = found[2]
            elif found := _GROUP.match(line):
                self.groups[found[1]] = found[2]
            elif line.startswith("@"):
                self.globals.append(line)

    def value(self, node: int, key: str) -> str | None:
        """Return what a node says under a key: a text unquoted, a number, or another node."""
        found = re.search(_KEY.format(key), self.nodes[node])
        if not found:
            return None
        return unescaped(found[1][1:-1]) if found[1].startswith('"') else found[1]

    def reference(self, node: int, key: str) -> int | None:
        """Return the node that a node refers to under a key."""
        found = self.value(node, key)
        return int(found[1:]) if found and found.startswith("!") else None

    def subprogram(self, node: int) -> int:
        """Return the subprogram around a scope, or the outermost scope there is."""
        while not self.nodes[node].startswith("!DISubprogram("):
            outer = self.reference(node, "scope")
            if outer is None or not self.nodes[node].startswith("!DILexicalBlock"):
                return node
            node = outer
        return node


def _body_line(body: Body, line: str) -> None:
    if found := _RECORD.match(line):
        body.records.append((len(body.instructions), found[1], found[2]))
    elif line.startswith("    #dbg_"):
        return
    elif line.startswith(("   ", "  ]")):  # goes on: cases, targets, clauses
        body.instructions[-1] += "\n" + line
    elif line.startswith("  "):
        body.instructions.append(line[2:])


def unescaped(text: str) -> str:
    r"""Return a text without LLVM's escapes: `\22` is a quotation mark."""
    return re.sub(r"\\([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), text)


def parts(operands: str) -> list[str]:
    """Return what commas separate, outside of brackets."""
    found, depth, start = [], 0, 0
    for place, letter in enumerate(operands):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            found.append(operands[start:place].strip())
            start = place + 1
    return [*found, operands[start:].strip()]
