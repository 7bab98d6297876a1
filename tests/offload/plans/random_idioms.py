"""Random functions of C with pointers that move, counters beside counters, returns and calls."""

from __future__ import annotations

import random

HEAD = """
static const int digits[8] = {3, 1, -4, 1, 5, -9, 2, 6};
static int low(int x, int y) { return x < y ? x : y; }
static int odd(int x) { if (x & 1) return x; x = x * 3; return x - 1; }
"""


def program(seed: int, n_functions: int) -> str:
    """Return a file of functions `f0`, `f1`, ... with the same parameters."""
    rng = random.Random(seed)
    return HEAD + "\n".join(_Function(rng, number).text() for number in range(n_functions))


class _Function:
    def __init__(self, rng: random.Random, number: int) -> None:
        self._rng, self._number, self._n_counters = rng, number, 0

    def text(self) -> str:
        """Return one function."""
        rng = self._rng
        lines = ["int s = 0, k = 0, e = n;", "const int *p = a + 2; int *q = b + 1;"]
        if rng.random() < 0.5:
            lines.append(
                rng.choice(["if (n > 8) return 5;", "if (m == 3) return -1;", "if (!a) return 2;"])
            )
        for _ in range(rng.randint(1, 2)):
            lines += self._loop(0)
        lines.append(f"return s + k + {rng.choice(['e', 'n', '(int)(q - b)', '0'])};")
        body = "\n  ".join(lines)
        head = f"int f{self._number}(int n, int m, const int *a, int *b, const int *c)"
        return f"{head} {{\n  {body}\n}}"

    def _loop(self, depth: int) -> list[str]:
        rng = self._rng
        self._n_counters += 1
        i = f"i{self._n_counters}"
        body = [f"  {line}" for _ in range(rng.randint(1, 3)) for line in self._statement(i, depth)]
        moves = [
            rng.choice(["p++;", "q += 2;", "k += 3;", "q++;", "p += m;", "k -= n;"])
            for _ in range(rng.randint(0, 2))
        ]
        for move in moves:
            body.insert(rng.randint(0, len(body)), f"  {move}")
        kind = rng.randint(0, 4) if not depth else rng.randint(0, 2)
        bound = rng.choice(["n", "m"])
        if kind == 0:
            return [f"for (int {i} = 0; {i} < {bound}; {i}++) {{", *body, "}"]
        if kind == 1:
            return [f"int {i} = 1;", f"while ({i} < {bound}) {{", *body, f"  {i}++;", "}"]
        if kind == 2:
            step = rng.choice(["k += 2", "q++", "p += 2"])
            return [f"for (int {i} = {bound}; {i} > 0; {i}--, {step}) {{", *body, "}"]
        if kind == 3:
            return [f"int {i} = 0;", "while (e-- > 0) {", *body, f"  {i} += 2;", "}"]
        return [f"int {i} = 0;", f"for (; {i} != {bound}; {i}++) {{", *body, "}", f"s += {i};"]

    def _statement(self, i: str, depth: int) -> list[str]:
        rng = self._rng
        value = rng.choice(
            [
                "*p",
                "p[1]",
                "odd(*p)",
                "low(c[0], k)",
                "k",
                f"c[{i}]",
                f"digits[{i} & 7]",
                f"{i} * 2",
            ]
        )
        choice = rng.randint(0, 5)
        if choice == 0 and not depth:
            return self._loop(depth + 1)
        if choice == 1:
            return [f"s += {value};"]
        if choice == 2:
            return [f"*q = {value} + {i};"]
        if choice == 3:
            return [f"if (c[{i}] > 2) q[0] = {value};"]
        if choice == 4:
            return [f"*q++ = {value};"]
        return [f"b[{i} + 40] = {value};"]
