"""Random programs of C that fill structs in every order, hand on their addresses, and read them.

What was written when is not told in the text: the interpreter of the IR knows it, byte by byte.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """
#include <stdlib.h>
#include <string.h>
extern int any(void);
struct part { int a; char b; struct part *next; int c[4]; long d; };
static struct part *known, *other, *table[3];
static int sum, fuel = 60;
static void *same(void *p) { return p; }
static struct part *raw(void) {
  struct part *p = malloc(sizeof *p);
  if (!p) exit(0);
  return p;
}
static struct part *listed(void) {
  struct part *p = raw();
  p->next = known;
  known = p;
  return p;
}
"""
_GLOBALS = ("known", "other", "table[0]", "table[1]")


@dataclass
class Writer:
    """Writes one function: it gets two structs, and may call those before it and itself."""

    chance: random.Random
    number: int
    care: float  # how likely a member of a new struct is written
    lines: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=lambda: ["p", "q"])  # of pointers that are not null
    n_names: int = 0
    depth: int = 1

    def text(self) -> str:
        """Return the function."""
        for _ in range(self.chance.randint(4, 12)):
            self.statement()
        head = f"static int f{self.number}(struct part *p, struct part *q) {{"
        guard = "  if (fuel-- < 0) exit(0);"
        return "\n".join([head, guard, *self.lines, f"  return {self.status()};", "}", ""])

    def add(self, line: str) -> None:
        """Append a line."""
        self.lines.append("  " * self.depth + line)

    def status(self) -> str:
        """Return what a function tells of how it went."""
        return self.chance.choice(["0", "1", "-1", "any() % 3 - 1", "5", "-3", "sum & 1"])

    def pointer(self) -> str:
        """Return the name of a pointer."""
        return self.chance.choice(self.names)

    def part(self) -> str:
        """Return a member that is a number, perhaps of an array."""
        index = self.chance.choice(["0", "1", "3", "any() & 3", "sum & 1"])
        return self.chance.choice(["a", "a", "a", "b", "d", f"c[{index}]"])

    def statement(self) -> None:
        """Write one statement."""
        kinds = [self.write] * 6 + [self.read] * 2 + [self.read_known] * 2 + [self.hand_on] * 4
        kinds += [self.declare] * 3 + [self.call] * 4 + [self.copy, self.clear, self.fill]
        kinds += [self.free, self.choose, self.jump]
        if self.depth < 4:
            kinds += [self.branch] * 2 + [self.loop]
        self.chance.choice(kinds)()

    def write(self) -> None:
        """Write a member."""
        self.add(f"{self.pointer()}->{self.part()} = {self.chance.randint(0, 3)};")

    def read(self) -> None:
        """Read a member."""
        self.add(f"sum ^= {self.pointer()}->{self.part()} & 3;")

    def read_known(self) -> None:
        """Read a member of what others made known."""
        place = self.chance.choice([*_GLOBALS, "known->next", f"{self.pointer()}->next"])
        base = "known && known->next" if place == "known->next" else place
        self.add(f"if ({base}) sum ^= {place}->{self.part()} & 3;")

    def hand_on(self) -> None:
        """Hand an address on."""
        place = self.chance.choice([*_GLOBALS, "table[any() & 1]", f"{self.pointer()}->next"])
        self.add(f"{place} = {self.pointer()};")

    def declare(self) -> None:
        """Make a struct."""
        name, self.n_names = f"v{self.n_names}", self.n_names + 1
        kind = self.chance.choice(["local", "zero", "raw", "listed", "calloc", "realloc", "outer"])
        if kind in ("local", "zero"):
            self.add(f"struct part {name}_s{' = {0}' if kind == 'zero' else ''};")
            self.add(f"same(&{name}_s);")
            self.add(f"struct part *{name} = &{name}_s;")
        elif kind == "calloc":
            self.add(f"struct part *{name} = calloc(1, sizeof *{name});")
            self.add(f"if (!{name}) exit(0);")
        elif kind == "realloc":
            self.add(f"struct part *{name} = realloc({self.made()}, 2 * sizeof *{name});")
            self.add(f"if (!{name}) exit(0);")
        elif kind == "outer":
            self.add(f"struct part *{name} = {self.chance.choice(_GLOBALS)};")
            self.add(f"if (!{name}) {name} = raw();")
        else:
            self.add(f"struct part *{name} = {kind}();")
        self.names.append(name)
        self.begin(name)

    def begin(self, name: str) -> None:
        """Write some members of a new struct, among other things."""
        parts = ["a", "b", "d", "next", "c[0]", "c[1]", "c[2]", "c[3]"]
        for part in parts:
            if self.chance.random() < 0.1:
                self.chance.choice([self.hand_on, self.call, self.read_known])()
            if self.chance.random() < self.care:
                self.add(f"{name}->{part} = 0;")

    def made(self) -> str:
        """Return something that `realloc` may be given."""
        return self.chance.choice(["0", "raw()", "listed()", "calloc(1, sizeof(struct part))"])

    def call(self) -> None:
        """Call a function, and perhaps test its result."""
        callee = self.chance.randint(0, self.number)
        called = f"f{callee}({self.pointer()}, {self.pointer()})"
        if callee == self.number:
            self.add(f"if (any() == 3) {called};")
            return
        if self.depth > 3 or self.chance.random() < 0.4:
            self.add(f"{called};")
            return
        test = self.chance.choice(["< 0", "== 0", "> 0", "!= 0", "<= 0", ">= 1", "== -1", "> 1"])
        self.block(f"if ({called} {test}) {{")
        if self.chance.random() < 0.5:
            self.block("else {")

    def copy(self) -> None:
        """Copy a struct, or a part of it."""
        to, source = self.pointer(), self.pointer()
        n_bytes = self.chance.choice(["4", "24", "any() & 15", "sizeof *p"])
        one = f"if ({to} != {source}) memcpy({to}, {source}, {n_bytes});"
        self.add(self.chance.choice([one, f"*{to} = *{source};"]))

    def clear(self) -> None:
        """Fill all bytes, or some."""
        n_bytes = self.chance.choice(["4", "24", "any() & 15", f"sizeof *{self.pointer()}"])
        self.add(f"memset({self.pointer()}, 0, {n_bytes});")

    def fill(self) -> None:
        """Fill an array in a loop, perhaps not all of it."""
        name, stop = self.pointer(), self.chance.choice(["4", "3", "4", "(any() & 3)", "0"])
        first, step = (
            self.chance.choice(["0", "0", "1"]),
            self.chance.choice(["i++", "i++", "i += 2"]),
        )
        leave = self.chance.choice(
            ["", "", "if (any() == 3) break; ", "if (any() == 3) continue; "]
        )
        self.add(f"for (int i = {first}; i < {stop}; {step}) {{ {leave}{name}->c[i] = 1; }}")

    def free(self) -> None:
        """End a new struct, perhaps one that others know."""
        name, self.n_names = f"v{self.n_names}", self.n_names + 1
        self.add(f"struct part *{name} = raw();")
        if self.chance.random() < 0.4:
            self.add(f"{self.chance.choice(_GLOBALS)} = {name};")
        if self.chance.random() < 0.5:
            self.add(f"if (any() == 1) {{ free({name}); return {self.status()}; }}")
            self.names.append(name)
        else:
            self.add(f"free({name});")

    def choose(self) -> None:
        """Choose among pointers."""
        name, self.n_names = f"v{self.n_names}", self.n_names + 1
        self.add(f"struct part *{name} = any() & 1 ? {self.pointer()} : {self.pointer()};")
        self.names.append(name)

    def jump(self) -> None:
        """Leave early."""
        self.add(f"if (any() == 2) return {self.status()};")

    def branch(self) -> None:
        """Write a branch."""
        self.block("if (any() & 1) {")
        if self.chance.random() < 0.4:
            self.block("else {")

    def loop(self) -> None:
        """Write a loop."""
        n_rounds = self.chance.choice(["2", "any() & 1", "(any() & 1) + 1"])
        self.block(f"for (int k = 0; k < {n_rounds}; k++) {{")

    def block(self, head: str) -> None:
        """Write a block with a scope of its own."""
        self.add(head)
        self.depth += 1
        n_names = len(self.names)
        for _ in range(self.chance.randint(1, 3)):
            self.statement()
        del self.names[n_names:]
        self.depth -= 1
        self.add("}")


def program(seed: int, n_functions: int = 5) -> str:
    """Return a program whose `main` calls random functions one after the other."""
    chance = random.Random(seed)
    text, care = HEAD, chance.choice([0.5, 0.9, 0.97, 1.0])
    for number in range(n_functions):
        text += Writer(chance, number, care).text()
    calls = "\n".join(
        f"    case {number}: f{number}(&x, made); break;" for number in range(n_functions)
    )
    return f"""{text}
int main(void) {{
  struct part x, *made = raw();
  same(&x);
  memset(made, 0, {chance.choice(["24", "sizeof *made", "sizeof *made"])});
  {chance.choice(["", "memset(&x, 0, sizeof x);", "memset(&x, 0, sizeof x);"])}
  x.a = 1;
  for (int i = 0; i < 4; i++) {{
    switch (any() % {n_functions}) {{
{calls}
    }}
  }}
  return sum;
}}
"""
