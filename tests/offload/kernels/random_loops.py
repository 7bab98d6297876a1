"""Random functions with loops: affine and not, guarded, nested, with pointers and wrap-around.

Arrays are global or given by pointers that may overlap; every construct that the front end reads is
among those drawn. Nothing keeps subscripts inside of arrays: the interpreter's memory has no end.
"""

from __future__ import annotations

import random

SIZE = 200
HEAD = """
int A[SIZE], B[SIZE], M[SIZE][SIZE], idx[SIZE];
double D[SIZE];
struct pair { int x, y; } S[SIZE];
int T;
static int next(void) { return T++; }
static int swap(int v) { int old = T; T = v; return old; }
static int twice(int v) { return 2 * v; }
static int keep(int v) { if (v < 2) return 1; return v; }
static void put(int *to, int at, int v) { to[at] = v; }
"""


class Generator:
    """One function, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._counters: list[str] = []
        self._n_loops = 0
        self._depth = 0
        self._in_loop = False

    def function(self, name: str) -> str:
        body = "".join(self._top() for _ in range(self._random.choice([1, 1, 2])))
        qualifier = self._random.choice(["", "", "restrict "])
        head = f"int {name}(int n, int m, unsigned u, int *{qualifier}p, int *q)"
        locals_ = "  int s = 1, t = 2, k = 3, c0, c1, c2, c3, c4, c5;\n  int w[10];\n  int *r;\n"
        return f"{head} {{\n{locals_}{body}  return s + t + k;\n}}\n"

    def _chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def _top(self) -> str:
        before = ""
        if self._chance(15):
            before = self._random.choice(
                [
                    "  k = n;\n",
                    "  t = m - 1;\n",
                    "  n = 5;\n",
                    "  if (m > 3) t = 0;\n",
                    "  s = A[0];\n",
                ]
            )
        return before + self._loop(1)

    def _loop(self, depth: int) -> str:
        self._n_loops += 1
        variable = f"c{depth - 1}" if self._chance(30) else f"i{self._n_loops}"
        pad = "  " * depth
        self._counters.append(variable)
        head, tail = self._head(variable)
        body = self._body(depth)
        if not head.startswith("for"):
            body += f"{pad}  {variable}++;\n"
        self._counters.pop()
        return f"{pad}{head} {{\n{body}{pad}}}{tail}\n"

    def _head(self, i: str) -> tuple[str, str]:
        declared = "" if i.startswith("c") else "int "
        low = self._random.choice(["0", "0", "0", "1", "2", self._outer("0"), "m - 2"])
        high = self._random.choice(["n", "n", "m", "4", "6", self._outer("5"), "n - 1", "n / 2"])
        form = self._random.randrange(12)
        if form < 7:
            step = self._random.choice(["++", "++", "++", " += 2", " += 3"])
            return f"for ({declared}{i} = {low}; {i} < {high}; {i}{step})", ""
        if form == 7:
            return f"for ({declared}{i} = {high}; {i} >= {low}; {i}--)", ""
        if form == 8:
            unsigned = "unsigned " if declared else ""
            bound = self._random.choice(["u", "4", "n"])
            return f"for ({unsigned}{i} = 0; {i} < {bound}; {i}++)", ""
        if form == 9 and i.startswith("c"):
            return f"{i} = {low}; while ({i} < {high})", ""
        if form == 10 and i.startswith("c"):
            return f"{i} = {low}; do", f" while ({i} < {high});"
        return f"for ({declared}{i} = {low}; {i} <= {high}; {i}++)", ""

    def _outer(self, otherwise: str) -> str:
        return self._random.choice(self._counters[:-1] or [otherwise])

    def _body(self, depth: int) -> str:
        made = "".join(self._statement(depth) for _ in range(self._random.choice([1, 1, 2, 2, 3])))
        if depth < 3 and self._chance(45):
            inner = self._loop(depth + 1)
            made = made + inner if self._chance(50) else inner + made
        return made

    def _statement(self, depth: int) -> str:
        pad = "  " * (depth + 1)
        text = self._plain()
        form = self._random.randrange(14)
        if form < 2:
            return f"{pad}if ({self._guard()}) {{ {text} }}\n"
        if form == 2:
            return f"{pad}if ({self._guard()}) {{ {text} }} else {{ {self._plain()} }}\n"
        if form == 3 and self._chance(50):
            return f"{pad}if ({self._guard()}) continue;\n{pad}{text}\n"
        if form == 4 and self._chance(30):
            return f"{pad}if ({self._guard()}) break;\n{pad}{text}\n"
        return f"{pad}{text}\n"

    def _plain(self) -> str:
        value = self._value()
        draw = self._random.randrange(20)
        if draw < 8:
            return f"{self._element()} = {value};"
        if draw < 10:
            element = self._element()
            operator = self._random.choice(["+", "+", "-", "*", "^", "|"])
            return f"{element} {operator}= {self._value()};"
        if draw == 10:
            return f"s {self._random.choice(['+', '-', '^'])}= {value};"
        if draw == 11:
            return f"t = {value}; {self._element()} = t;"
        if draw == 12:
            return self._random.choice(["k++;", "k += 2;", "k -= 1;", "k += n;"])
        if draw == 13:
            other = self._value()
            return self._random.choice(
                [f"if ({other} > s) s = {other};", f"s = s < {other} ? s : {other};"]
            )
        if draw == 14:
            return f"put({self._random.choice(['A', 'p', 'q'])}, {self._index()}, {value});"
        if draw == 15:
            return f"r = {self._random.choice(['A', 'p', 'q + 1'])}; r[{self._index()}] = {value};"
        if draw == 16:
            return f"w[{self._index()}] = {value}; {self._element()} = w[{self._index()}];"
        if draw == 17:
            return f"t = t + {value};"
        if draw == 18:
            return f"{{ int v = {value}; {self._element()} = v + v; }}"
        return f"D[{self._index()}] = D[{self._index()}] + 1;"

    def _element(self) -> str:
        draw = self._random.randrange(12)
        if draw < 5:
            return f"{self._random.choice(['A', 'A', 'B'])}[{self._index()}]"
        if draw < 7:
            return f"M[{self._affine()}][{self._affine()}]"
        if draw == 7:
            return f"S[{self._affine()}].{self._random.choice('xy')}"
        if draw == 8:
            return f"w[{self._affine()}]"
        return f"{self._random.choice('ppq')}[{self._index()}]"

    def _index(self) -> str:
        i, j = self._random.choice(self._counters), self._random.choice(self._counters)
        draw = self._random.randrange(24)
        if draw < 14:
            return self._affine()
        return [
            f"{i} * n + {j}",
            f"{i} * m + {j} + 1",
            f"idx[{i}]",
            f"{i} * {j}",
            f"{i} % 3",
            f"{i} / 2",
            "k",
            f"{i} * 8 + {j}",
            f"twice({i})",
            f"(unsigned){i} - 1u",
        ][draw - 14]

    def _affine(self) -> str:
        i = self._random.choice(self._counters)
        parts = [self._random.choice([i, i, i, f"2 * {i}", f"n - {i}", "3", f"-{i} + 9"])]
        if self._chance(20):
            parts.append(self._random.choice(self._counters))
        if self._chance(45):
            parts.append(self._random.choice(["1", "2", "-1", "-2", "n", "m", "10"]))
        return " + ".join(parts)

    def _guard(self) -> str:
        i = self._random.choice(self._counters)
        return self._random.choice(
            [
                f"{i} > 2",
                f"{i} < m",
                f"{i} == 3",
                f"{i} % 2 == 0",
                f"{self._element()} > 3",
                f"{i} != n - 1",
                f"{i} > 1 && {i} < 4",
                f"{i} < 1 || t > 2",
                f"!({i} & 1)",
                f"idx[{i}] == {i}",
                "s > 4",
            ]
        )

    def _value(self) -> str:
        i = self._random.choice(self._counters)
        return self._random.choice(
            [
                self._element(),
                f"{self._element()} + 1",
                f"{self._element()} + {self._element()}",
                i,
                "7",
                "t",
                "s",
                f"keep({self._element()})",
                self._random.choice(["next()", "T", f"swap({i})", self._element()]),
                f"({self._guard()} ? {self._element()} : {i})",
            ]
        )


def program(seed: int, n_functions: int) -> str:
    """Return a file of so many functions."""
    functions = [Generator(seed * 1000 + n).function(f"f{n}") for n in range(n_functions)]
    return HEAD.replace("SIZE", str(SIZE)) + "".join(functions)
