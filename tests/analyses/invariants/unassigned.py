"""Random functions of C whose locals may have no value, with flags beside them that know.

One text is two programs. `U(x)` is a use of `x`: as Kleene reads it, it is `x`; with `-DSHADOW` it
also tells its line if `x` has no value. `RESULT(x)` also tells the last line of the function,
where several returns are one. `COPY` and `SET` assign and `BEGIN` declares; with
`-DSHADOW` they keep a flag for each scalar, member and element, and a copy of nothing tells its
line as a negative number, a call as 0. The flag of a declaration that is jumped over keeps what it
had, as storage does: the function begins with all flags down.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """
#ifdef SHADOW
#include <stdio.h>
#include <stdlib.h>
static int tell(int line, int end) { printf("%d %d\\n", line, end); return 0; }
#define U(x, d) (*((d) ? 0 : tell(__LINE__, __LINE__), &(x)))
#define RESULT(x, d, end) (*((d) ? 0 : tell(__LINE__, end), &(x)))
#define SET(x, d, e) do { (x) = (e); (d) = 1; } while (0)
#define COPY(x, d, y, c) do { if (!(c)) tell(-__LINE__, 0); (x) = (y); (d) = (c); } while (0)
#define BEGIN(x, d) ((x) = rand(), (d) = 0)
int outside(int x) { return x & 1 ? rand() % 7 - 3 : rand() % 3; }
#else
#define U(x, d) (x)
#define RESULT(x, d, end) (x)
#define SET(x, d, e) ((x) = (e))
#define COPY(x, d, y, c) ((x) = (y))
int outside(int);
#endif
struct pair { int a, b; };
"""


_MOST_LINES = 60  # of a function


@dataclass
class Writer:
    """Writes one function."""

    chance: random.Random
    name: str
    first: int  # its line in the program
    lines: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    scopes: list[list[tuple[str, str]]] = field(default_factory=lambda: [[]])
    n_names: int = 0
    n_labels: int = 0
    depth: int = 0

    def text(self) -> str:
        """Return the function."""
        self.declare()
        self.declare()
        self.statements(6)
        self.add(f"return {self.result()};")
        flags = "".join(f" int {flag};" for flag in self.flags)
        zeros = "".join(f" {flag} = 0;" for flag in self.flags)
        head = [f"enum {{ {self.name}_end = {self.first + len(self.lines) + 6} }};",
                f"int {self.name}(int p, int q) {{", "  int fuel = 9;", "#ifdef SHADOW",
                f"  {flags}{zeros} tell(0, 0);", "#endif"]  # fmt: skip
        return "\n".join([*head, *self.lines, "}", ""])

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.append("  " * (self.depth + 1) + line)

    def visible(self) -> list[tuple[str, str]]:
        """Return the places that may be named here, each with its flag."""
        return [one for scope in self.scopes for one in scope]

    def declare(self) -> None:
        """Declare a scalar, a struct or an array without a value."""
        name, self.n_names = f"v{self.n_names}", self.n_names + 1
        kind = self.chance.choice(["int", "int", "int", "struct", "array", "kept"])
        if kind == "struct":
            parts = [(f"{name}.a", f"{name}_a"), (f"{name}.b", f"{name}_b")]
            self.begin(f"struct pair {name};", parts)
        elif kind == "array":
            parts = [(f"{name}[{i}]", f"{name}_{i}") for i in range(3)]
            self.begin(f"int {name}[3];", parts)
        else:
            self.begin(f"int {name};", [(name, f"{name}_")])
            if kind == "kept":  # in memory
                self.add(f"int *k{name} = &{name}; (void)k{name};")

    def begin(self, declaration: str, parts: list[tuple[str, str]]) -> None:
        """Write a declaration, and that its parts have no value."""
        self.add(declaration)
        self.flags += [flag for _, flag in parts]
        self.lines.append("#ifdef SHADOW")
        self.add(" ".join(f"BEGIN({place}, {flag});" for place, flag in parts))
        self.lines.append("#endif")
        self.scopes[-1] += parts
        for place, flag in parts:
            if self.chance.random() < 0.5:
                self.add(f"SET({place}, {flag}, {self.chance.randint(0, 3)});")

    def use(self) -> str:
        """Return an expression."""
        kind = self.chance.random()
        if kind < 0.45 and self.visible():
            return "U({}, {})".format(*self.chance.choice(self.visible()))
        if kind < 0.6:
            return f"(int)((unsigned){self.use()} + {self.use()})"
        if kind < 0.75:
            return f"outside({self.use()})"
        return self.chance.choice(["p", "q", "1", "(p > q)", "(q & 3)", "fuel"])

    def result(self) -> str:
        """Return what a function is to return."""
        if self.chance.random() < 0.6 and self.visible():
            place, flag = self.chance.choice(self.visible())
            return f"RESULT({place}, {flag}, {self.name}_end)"
        return self.computed()

    def computed(self) -> str:
        """Return an expression that is no copy."""
        found = self.use()
        return f"(int)((unsigned){found} + 1)" if found.startswith("U(") else found

    def condition(self) -> str:
        """Return a condition, more often one of what has a value."""
        known = self.chance.choice(["p > 0", "q > p", "outside(p)", "p & 4", "q < 2"])
        if self.chance.random() < 0.2:
            return f"{known} && {self.use()}"
        return known if self.chance.random() < 0.8 else self.use()

    def statements(self, most: int) -> None:
        """Write some statements."""
        for _ in range(self.chance.randint(2, most)):
            if len(self.lines) < _MOST_LINES:
                self.statement()

    def block(self, head: str, tail: str = "}") -> None:
        """Write a block with a scope of its own."""
        self.add(head)
        self.depth += 1
        self.scopes.append([])
        if self.chance.random() < 0.5:
            self.declare()
        self.statements(3)
        self.scopes.pop()
        self.depth -= 1
        self.add(tail)

    def statement(self) -> None:
        """Write one statement."""
        kind = self.chance.random()
        if kind < 0.35 or self.depth > 3:
            self.assign()
        elif kind < 0.5:
            self.block(f"if ({self.condition()}) {{")
        elif kind < 0.6:
            self.block(f"if ({self.condition()}) {{", "} else {")
            self.block("{")
            self.add("}")
        elif kind < 0.75:
            self.block(f"while (fuel-- > 0 && {self.condition()}) {{")
        elif kind < 0.82:
            self.switch()
        elif kind < 0.89:
            self.jump()
        elif kind < 0.94 and self.depth:
            self.add(f"if ({self.condition()}) return {self.result()};")
        else:
            self.declare()

    def assign(self) -> None:
        """Write an assignment or a copy."""
        if not self.visible():
            return
        place, flag = self.chance.choice(self.visible())
        if self.chance.random() < 0.3:
            other, its = self.chance.choice(self.visible())
            self.add(f"COPY({place}, {flag}, {other}, {its});")
        else:
            self.add(f"SET({place}, {flag}, {self.computed()});")

    def switch(self) -> None:
        """Write a switch whose cases share a scope; a declaration in it is jumped over."""
        self.add(f"switch ({self.chance.choice(['p & 3', 'q & 1', 'outside(q)'])}) {{")
        self.depth += 1
        self.scopes.append([])
        self.add("case 0:;")
        self.declare()
        self.statements(2)
        for case in (1, 2):
            self.add(f"case {case}:;")
            self.statements(2)
            if self.chance.random() < 0.5:
                self.add("break;")
        self.scopes.pop()
        self.depth -= 1
        self.add("}")

    def jump(self) -> None:
        """Write a jump over statements, and over the declaration of what is used behind them."""
        label, self.n_labels = f"l{self.n_labels}", self.n_labels + 1
        self.add("{")
        self.depth += 1
        self.scopes.append([])
        self.add(f"if ({self.condition()}) goto {label};")
        self.declare()
        self.statements(2)
        self.add(f"{label}:;")
        self.statements(2)
        self.scopes.pop()
        self.depth -= 1
        self.add("}")


def program(seed: int, n_functions: int) -> str:
    """Return a program of random functions; with `-DSHADOW` it calls them and tells lines."""
    chance = random.Random(seed)
    names = [f"f{number}" for number in range(n_functions)]
    calls = " ".join(f"{name}(rand() % 9 - 4, rand() % 9 - 4);" for name in names)
    main = "#ifdef SHADOW\nint main(void) {\n  for (int i = 0; i < 3000; i++) {\n"
    main += f"    {calls}\n  }}\n  return 0;\n}}\n#endif\n"
    text = HEAD
    for name in names:
        text += Writer(chance, name, text.count("\n") + 1).text()
    return text + main
