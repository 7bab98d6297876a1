"""Random functions with loops over square arrays: nests, guards, reductions, histograms, copies.

A `Triangle` is a nest of up to three loops, whose bounds are others' variables, around updates of
two arrays: what factorizations of matrices look like.
"""

from __future__ import annotations

import random

HEAD = "double fabs(double);\n"
_PARAMETERS = ("a", "b", "c")


class Generator:
    """One function, drawn from a seed; all subscripts stay inside of n by n elements."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._counters: list[str] = []
        self._n_loops = self._n_locals = 0

    def function(self, name: str) -> str:
        star = self._random.choice(["restrict ", ""])
        arrays = ", ".join(f"double {one}[{star}n][n]" for one in _PARAMETERS)
        head = f"double {name}(int n, int m, {arrays}, double *{star}u, int *{star}h, int *{star}k)"
        locals_ = "  double s = 1, t = 0.5, top = 0, w[3];\n"
        locals_ += "  int c0 = 1, c1 = 2, c2 = 3, count = 0;\n"
        locals_ += "  for (int z = 0; z < n; z++) u[z] += 0.25 * z;\n"
        body = "".join(self._loop(1) for _ in range(self._random.choice([1, 1, 2])))
        if self._chance(20):
            body += "  s += c0 + c1;\n"
        if self._chance(30):
            body += "  s = 0.5 * s + u[1];\n" + self._loop(1)
        return f"{head} {{\n{locals_}{body}  return s + t + top + count;\n}}\n"

    def _chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def _loop(self, depth: int) -> str:
        self._n_loops += 1
        old = depth <= 3 and self._chance(25)
        variable = f"c{depth - 1}" if old else f"i{self._n_loops}"
        declared = "" if old else "int "
        pad = "  " * depth
        head = self._head(variable, declared)
        self._counters.append(variable)
        body = self._body(depth)
        self._counters.pop()
        return f"{pad}for ({head}) {{\n{body}{pad}}}\n"

    def _head(self, i: str, declared: str) -> str:
        outer = self._random.choice(self._counters or ["1"])
        draw = self._random.randrange(12)
        if draw == 0:
            return f"{declared}{i} = n - 2; {i} >= 1; {i}--"
        if draw == 1:
            return f"{declared}{i} = 1; {i} < n - 1; {i} += 2"
        if draw == 2:
            return f"{declared}{i} = {outer}; {i} < n - 1; {i}++"
        if draw == 3:
            return f"{declared}{i} = 1; {i} <= {outer}; {i}++"
        if draw == 4:
            return f"{declared}{i} = 1; {i} < m; {i}++"
        return f"{declared}{i} = 1; {i} < n - 1; {i}++"

    def _body(self, depth: int) -> str:
        made = "".join(self._statement(depth) for _ in range(self._random.choice([0, 1, 1, 2])))
        if depth < 3 and self._chance(60):
            inner = "".join(self._loop(depth + 1) for _ in range(self._random.choice([1, 1, 2])))
            made = made + inner if self._chance(60) else inner + made
        return made or self._statement(depth)

    def _statement(self, depth: int) -> str:
        pad = "  " * (depth + 1)
        text = self._plain()
        if self._chance(15):
            test = self._random.choice([f"{self._element()} > 1", f"{self._counters[-1]} % 2 == 0"])
            other = f" else {{ {self._plain()} }}" if self._chance(30) else ""
            return f"{pad}if ({test}) {{ {text} }}{other}\n"
        return f"{pad}{text}\n"

    def _plain(self) -> str:
        value, i = self._value(), self._random.choice(self._counters)
        draw = self._random.randrange(22)
        if draw < 8:
            return f"{self._element()} = {value};"
        if draw < 12:
            return f"{self._element()} += {value};"
        if draw == 12:
            return f"s += {value};"
        if draw == 13:
            return f"top = top < {value} ? {value} : top;"
        if draw == 14:
            return f"h[k[{i}]] += {i};"
        if draw == 15:
            return f"u[{i}] += {value};"
        if draw == 16:
            return f"t = {value}; {self._element()} = t + 1;"
        if draw == 17:
            return f"count += h[{i}] > 2;"
        if draw == 18:
            return f"w[0] = {value}; w[1] = 0.5 * w[0]; {self._element()} = w[1] + w[0];"
        if draw == 19:
            back = " - 1" if self._chance(30) else ""
            return f"u[{i}] = 0.5 * u[{i}{back}] + {value};"
        if draw == 20:
            self._n_locals += 1
            q = f"q{self._n_locals}"
            return f"{{ double {q} = {value}; {self._element()} = {q} - 0.25; }}"
        return f"{self._element()} *= 0.5;"

    def _index(self) -> str:
        i = self._random.choice(self._counters)
        return self._random.choice([i, i, i, i, f"{i} + 1", f"{i} - 1", "1", "n - 1", "m"])

    def _element(self) -> str:
        if self._chance(80) and len(self._counters) > 1:
            pair = self._random.sample(self._counters, 2)
            return f"{self._random.choice(_PARAMETERS)}[{pair[0]}][{pair[1]}]"
        name = self._random.choice(_PARAMETERS)
        if self._chance(50):
            return f"{name}[{self._counters[-1]}][{self._counters[0]}]"
        return f"{name}[{self._index()}][{self._index()}]"

    def _value(self) -> str:
        return self._random.choice(
            [
                f"0.5 * {self._element()}",
                f"0.25 * ({self._element()} + {self._element()})",
                f"0.5 * u[{self._index()}]",
                f"fabs({self._element()} - 1) * 0.5",
                f"0.125 * {self._counters[-1]}",
                f"0.5 * h[{self._index()}]",
                self._random.choice(["0.5 * t", "0.25 * s", "0.75", "0.5", "0.25"]),
            ]
        )


class Triangle:
    """One function, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def function(self, name: str) -> str:
        return (
            f"void {name}(int n, double a[restrict n][n], double b[restrict n][n]) {{\n"
            f"{self._head('i', [])} {{\n{self._body(['i'])}}}\n}}\n"
        )

    def _head(self, variable: str, outer: list[str]) -> str:
        near = [text for one in outer for text in (one, f"{one} + 1")]
        low = self._random.choice(["0", "1", *near])
        high = self._random.choice(["n", "n - 1", *near] if low in ("0", "1") else ["n", "n - 1"])
        return f"for (int {variable} = {low}; {variable} < {high}; {variable}++)"

    def _body(self, counters: list[str]) -> str:
        made = ""
        for _ in range(self._random.choice([1, 1, 2, 2])):
            if len(counters) < 3 and self._random.random() < 0.75:
                inner = "ijk"[len(counters)]
                head = self._head(inner, counters)
                made += f"{head} {{\n{self._body([*counters, inner])}}}\n"
            else:
                made += self._update(counters)
        return made

    def _update(self, counters: list[str]) -> str:
        def element() -> str:
            indices = "".join(f"[{self._random.choice(counters)}]" for _ in range(2))
            return self._random.choice("aaab") + indices

        target = element()
        value = self._random.choice(
            [
                f"-= 0.125 * {element()} * {element()}",
                f"= 0.5 * {target} + 0.25 * {element()}",
                f"/= 1.0 + {element()} * {element()}",
                f"+= 0.25 * {element()}",
            ]
        )
        return f"{target} {value};\n"


def triangles(seeds: range) -> str:
    return "\n".join(Triangle(seed).function(f"t{seed}") for seed in seeds)


def program(seeds: range) -> str:
    return HEAD + "\n".join(Generator(seed).function(f"f{seed}") for seed in seeds)
