"""Random C programs without undefined behaviour that tell what their variables are as they run.

Every function has integer parameters, locals, loops with bounds, branches, switches, and calls of
functions before it; memory is globals, arrays, structs, pointers to them, and the heap. At many
places `observe(id, value)` is called, which is defined elsewhere.
"""

from __future__ import annotations

import random

_TYPES = ["int", "unsigned", "long", "unsigned char", "short", "signed char", "unsigned long"]
_COMPARES = ["<", "<=", ">", ">=", "==", "!="]


class _Function:
    def __init__(self, chance: random.Random, number: int, program: RandomProgram) -> None:
        self.chance, self.number, self.program = chance, number, program
        self.parameters = [chance.choice(_TYPES) for _ in range(chance.randint(1, 3))]
        self.variables = [(f"p{k}", kind) for k, kind in enumerate(self.parameters)]
        self.lines: list[str] = []
        self.n_locals = 0

    def text(self) -> str:
        names = ", ".join(f"{kind} p{k}" for k, kind in enumerate(self.parameters))
        for _ in range(self.chance.randint(1, 3)):
            self.declare(1)
        self.statements(1, self.chance.randint(3, 7), 0)
        result = self.chance.choice(["int", "unsigned", "long"])
        body = "\n".join(self.lines)
        self.result = result
        linkage = "static " if self.chance.random() < 0.8 else ""
        return (
            f"{linkage}{result} f{self.number}({names}) {{\n"
            "  if (++depth > 40) { depth--; return 7; }\n"
            f"{body}\n  depth--;\n  return ({result})({self.number_expression(2)});\n}}\n"
        )

    def declare(self, indent: int) -> None:
        kind = self.chance.choice(_TYPES)
        name = f"v{self.n_locals}"
        self.n_locals += 1
        self.add(indent, f"{kind} {name} = ({kind})({self.number_expression(2)});")
        self.variables.append((name, kind))

    def add(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def variable(self) -> str:
        return self.chance.choice(self.variables)[0]

    def place(self) -> str:
        """Return something that can be read and written."""
        kinds = ["g0", "g1", "flag", "s.a", "s.b", "q->a", f"t[{self.index()}]", "heap->b"]
        return self.variable() if self.chance.random() < 0.6 else self.chance.choice(kinds)

    def index(self) -> str:
        return f"({self.variable()}) & 7"

    def number_expression(self, depth: int) -> str:
        """Return an expression without overflow of signed numbers, division by 0 and the like."""
        chance = self.chance
        if depth == 0 or chance.random() < 0.2:
            if chance.random() < 0.35:
                return str(chance.choice([0, 1, 2, 3, 7, 10, 100, 255, -1, -5, 1000, 65535]))
            return self.place()
        a, b = self.number_expression(depth - 1), self.number_expression(depth - 1)
        kind = chance.randrange(15)
        wide = f"((int)((unsigned)({a}) {chance.choice('+-*')} (unsigned)({b})))"
        small = f"((({a}) & 1023) {chance.choice('+-*')} (({b}) & 511))"
        texts = [
            wide, wide, small, small, small,
            f"(({a}) {chance.choice('&|^')} ({b}))",
            f"((unsigned)({a}) >> (({b}) & 31))", f"((int)({a}) >> (({b}) & 31))",
            f"((int)((unsigned)({a}) << (({b}) & 31)))",
            f"((unsigned)({a}) {chance.choice('/%')} ((unsigned)({b}) | 1u))",
            f"((({b}) & 255) ? (((int)({a}) & 65535) {chance.choice('/%')} (({b}) & 255)) : 3)",
            f"(({self.condition(0)}) ? ({a}) : ({b}))",
            f"(({chance.choice(_TYPES)})({a}))", f"(({a}) {chance.choice(_COMPARES)} ({b}))",
            f"({self.condition(2)})",
        ]  # fmt: skip
        return texts[kind]

    def condition(self, depth: int) -> str:
        chance = self.chance
        if depth > 0 and chance.random() < 0.4:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            return f"({left}) {chance.choice(['&&', '||'])} ({right})"
        number = str(chance.choice([0, 1, 5, 10, 64, 100, -1, -3, 250, 1000]))
        other = self.variable() if chance.random() < 0.3 else number
        left = chance.choice([self.variable(), self.variable(), f"({self.variable()} & 12)",
                              f"({self.variable()} + 3u)", self.place()])  # fmt: skip
        return f"{left} {chance.choice(_COMPARES)} {other}"

    def observe(self, indent: int) -> None:
        number = self.program.new_observation()
        self.add(indent, f"observe({number}, (long)({self.variable()}));")

    def statements(self, indent: int, count: int, nesting: int) -> None:
        for _ in range(count):
            self.statement(indent, nesting)
            if self.chance.random() < 0.5:
                self.observe(indent)

    def statement(self, indent: int, nesting: int) -> None:
        chance = self.chance
        kind = chance.random()
        if kind < 0.3 or nesting >= 3:
            self.add(indent, f"{self.place()} = {self.number_expression(2)};")
        elif kind < 0.4:
            self.declare(indent)
            if nesting:  # it is not in scope behind the block
                self.lines[-1] = self.lines[-1].replace(
                    self.lines[-1].split(" = ")[0], "  " * indent + "g1"
                )
                self.variables.pop()
        elif kind < 0.62:
            test = self.condition(1)
            if chance.random() < 0.3:
                self.add(indent, f"flag = {test};")
                test = chance.choice(
                    [f"({self.condition(1)}) ? ({test}) : 0", "flag", f"!({test})"]
                )
            self.add(indent, f"if ({test}) {{")
            self.statements(indent + 1, chance.randint(1, 3), nesting + 1)
            if chance.random() < 0.6:
                self.add(indent, "} else {")
                self.statements(indent + 1, chance.randint(1, 2), nesting + 1)
            self.add(indent, "}")
        elif kind < 0.76:
            name, step = f"i{len(self.lines)}", chance.choice([1, 1, 2, 3])
            bound = chance.choice(["4", "10", "17", f"(({self.variable()}) & 7)"])
            extra = f" && {self.condition(1)}" if chance.random() < 0.5 else ""
            test = f"{name} < {bound}{extra}"
            self.add(indent, f"for (int {name} = 0; {test}; {name} += {step}) {{")
            self.variables.append((name, "int"))
            kept = len(self.variables)
            before = [v for v in self.variables if v[0] != name]
            self.observe(indent + 1)
            saved, self.variables = self.variables, before  # the body does not change the counter
            self.statements(indent + 1, chance.randint(1, 2), nesting + 1)
            self.variables = saved[: kept - 1]
            self.add(indent, "}")
        elif kind < 0.84:
            self.add(indent, f"switch ({self.variable()}) {{")
            for case in chance.sample([0, 1, 2, 3, 9, 10, 100, -1], chance.randint(1, 4)):
                self.add(indent, f"case {case}:")
                self.statements(indent + 1, 1, nesting + 1)
                if chance.random() < 0.8:
                    self.add(indent + 1, "break;")
            self.add(indent, "default:")
            self.statements(indent + 1, 1, nesting + 1)
            self.add(indent, "}")
        elif kind < 0.94 and self.program.functions:
            callee = chance.choice(self.program.functions)
            given = ", ".join(
                f"({kind})({self.number_expression(1)})" for kind in callee.parameters
            )
            target = chance.choice([f"f{callee.number}"] * 2 + ["pointer"])
            if target == "pointer":
                self.add(
                    indent, f"g0 = (int)(g1 & 1 ? one : two)((int)({self.number_expression(1)}));"
                )
            else:
                self.add(indent, f"{self.variable()} = {target}({given});")
        elif kind < 0.97:
            self.add(indent, f"q = ({self.condition(0)}) ? &s : &r;")
        else:
            self.add(indent, f"memset(&r, {chance.choice([0, 0, 1])}, sizeof r);")


class RandomProgram:
    """One random program: `text`, and how many observations it has."""

    def __init__(self, seed: int, n_functions: int = 8) -> None:
        chance = random.Random(seed)
        self.n_observations = 0
        self.functions: list[_Function] = []
        texts = []
        for number in range(n_functions):
            function = _Function(chance, number, self)
            texts.append(function.text())
            self.functions.append(function)
        calls = []
        for _ in range(12):
            function = chance.choice(self.functions)
            given = ", ".join(
                f"({kind}){chance.choice(['in[k & 7]', 'k', '3', '-1', 'in[(k + 1) & 7]'])}"
                for kind in function.parameters
            )
            calls.append(f"    g1 += (int)f{function.number}({given}) & 1;")
        self.text = (
            "#include <stdlib.h>\n#include <string.h>\n"
            "extern void observe(long id, long value);\nextern long input(int k);\n"
            "struct pair { int a; unsigned char b; };\n"
            "static int g0 = 5, depth;\nint g1;\nstatic unsigned char flag;\n"
            "static struct pair s, r = {3, 4};\nstatic struct pair *q = &s, *heap;\n"
            "static short t[8] = {1, 2, 3};\n"
            "static int one(int x) { observe(0, x); return x > 3 ? 1 : 2; }\n"
            "static int two(int x) { return (x & 7) + 4; }\n"
            + "\n".join(texts)
            + "\nint main(void) {\n  long in[8];\n  heap = malloc(sizeof *heap);\n"
            "  if (!heap) return 1;\n  heap->a = 1; heap->b = 2;\n"
            "  for (int k = 0; k < 8; k++) in[k] = input(k);\n"
            "  for (int k = 0; k < 30; k++) {\n" + "\n".join(calls) + "\n  }\n  return 0;\n}\n"
        )

    def new_observation(self) -> int:
        self.n_observations += 1
        return self.n_observations


RUNTIME = """\
#include <stdio.h>
#include <stdlib.h>
static unsigned long seed;
static long n_left = 100000;
void observe(long id, long value) { printf("%ld %ld\\n", id, value); if (--n_left == 0) exit(0); }
long input(int k) {
  seed = seed * 6364136223846793005ul + 1442695040888963407ul;
  long wide = (long)(seed >> 20);
  int kind = (seed >> 60) & 3;
  return kind == 0 ? wide & 15 : kind == 1 ? wide & 255 : kind == 2 ? -(wide & 1023) : wide;
}
__attribute__((constructor)) static void start(void) {
  const char *text = getenv("SEED");
  seed = text ? strtoul(text, 0, 10) : 1;
}
"""
