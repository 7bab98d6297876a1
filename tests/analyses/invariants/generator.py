"""Random C functions with loops, branches, machine integers and assertions.

Every function comes twice, the second time with its assertions negated, so that whoever calls both
safe is wrong if any run comes there.
"""

from __future__ import annotations

import random

TYPES = ("int", "int", "int", "unsigned", "short", "unsigned char", "long")
HEAD = """#include <assert.h>
extern int unknown(void);
extern unsigned unknown_unsigned(void);
static int cells[8];
"""


def generated(n_functions: int, seed: int) -> str:
    """Return the text of as many functions and their twins."""
    parts = [HEAD]
    for number in range(n_functions):
        body = _Writer(random.Random(seed * 100_003 + number)).function()
        parts.append(f"void f{number}{body}".replace("CHECK", "assert"))
        parts.append(f"void g{number}{body}".replace("CHECK(", "assert(!"))
    return "\n".join(parts)


class _Writer:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.names = [f"v{k}" for k in range(source.randrange(2, 5))]
        self.types = [source.choice(TYPES) for _ in self.names]
        self.n_loops = 0

    def function(self) -> str:
        lines = [
            f"  {type} {name} = {self.first(place)};"
            for place, (name, type) in enumerate(zip(self.names, self.types, strict=True))
        ]
        lines += self.statements(3, 2)
        lines.append(f"  CHECK({self.condition()});")
        return "(int a, int b) {\n" + "\n".join(lines) + "\n}"

    def first(self, place: int) -> str:
        number = str(self.source.randrange(-3, 12))
        return self.source.choice((number, number, "a", "b", "unknown()", "unknown_unsigned()"))

    def atom(self) -> str:
        kind = self.source.random()
        if kind < 0.6:
            return self.source.choice(self.names)
        return str(self.source.choice((-1, 0, 1, 1, 2, 3, 7, 10, 100)))

    def expression(self) -> str:
        kind = self.source.random()
        if kind < 0.25:
            return self.atom()
        if kind < 0.7:
            return f"{self.atom()} {self.source.choice('+-')} {self.atom()}"
        if kind < 0.85:
            operation = self.source.choice(("*", "&", "|", "^"))
            return f"{self.atom()} {operation} {self.atom()}"
        if kind < 0.9:
            return f"{self.atom()} {self.source.choice('/%')} {self.source.randrange(1, 6)}"
        if kind < 0.94:
            return f"{self.atom()} {self.source.choice(('<<', '>>'))} {self.source.randrange(4)}"
        if kind < 0.97:
            return f"({self.source.choice(TYPES)}){self.atom()}"
        return f"{self.condition()} ? {self.atom()} : {self.atom()}"

    def condition(self) -> str:
        kind = self.source.random()
        if kind < 0.12:
            return f"({self.comparison()} && {self.comparison()})"
        if kind < 0.24:
            return f"({self.comparison()} || {self.comparison()})"
        return self.comparison()

    def comparison(self) -> str:
        kind = self.source.random()
        if kind < 0.1:
            rest = self.source.randrange(2)
            return f"({self.source.choice(self.names)} % {self.source.randrange(2, 4)} == {rest})"
        left = self.atom() if kind < 0.8 else self.expression()
        sign = self.source.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"({left} {sign} {self.atom()})"

    def statements(self, most: int, depth: int) -> list[str]:
        lines = []
        for _ in range(self.source.randrange(1, most + 1)):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        kind = self.source.random()
        if depth == 0 or kind < 0.45:
            return [f"  {self.source.choice(self.names)} = {self.expression()};"]
        if kind < 0.55:
            return [
                f"  cells[({self.atom()}) & 7] = {self.atom()};",
                "  cells[2] = 5;",
                f"  {self.source.choice(self.names)} = cells[{self.source.randrange(4)}];",
            ]
        if kind < 0.8:
            lines = [f"  if ({self.condition()}) {{", *self.statements(2, depth - 1)]
            if self.source.random() < 0.5:
                lines += ["  } else {", *self.statements(2, depth - 1)]
            return [*lines, "  }"]
        condition = self.source.choice((self.condition(), "unknown()", self.comparison()))
        return [f"  while ({condition}) {{", *self.statements(3, depth - 1), "  }"]
