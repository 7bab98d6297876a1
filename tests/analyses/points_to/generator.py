"""Random C programs that are small, full of pointers, and defined: each ends, and every run is one.

No undefined behaviour, by construction: a pointer variable is null or points to an object of its
type; what is dereferenced is asked for first; objects are global, on the heap (and never freed) or
local to main; indices are masked by the length of the array; a union is read by its tag; calls stop
when a budget is spent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.analyses.points_to.generator_parts import HOLDERS, PRELUDE, Member, tools


@dataclass
class Scope:
    """The pointer variables that can be seen: by struct, and those to numbers."""

    structs: dict[int, list[str]]
    numbers: list[str]
    index: str = "n"

    def with_struct(self, struct: int, name: str) -> Scope:
        """Return the scope with one variable more."""
        structs = {t: list(names) for t, names in self.structs.items()}
        structs[struct].append(name)
        return Scope(structs, list(self.numbers), self.index)


@dataclass
class Generator:
    """One program; everything is decided by the seed."""

    seed: int
    n_structs: int = 3
    n_functions: int = 5
    n_statements: int = 6
    random: Random = field(init=False)
    members: list[list[Member]] = field(init=False)
    results: list[int] = field(init=False)  # per function: the struct it returns a pointer to

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.members = [self._members(struct) for struct in range(self.n_structs)]
        self.results = [self.random.randrange(self.n_structs) for _ in range(self.n_functions)]

    def text(self) -> str:
        """Return the program."""
        structs = range(self.n_structs)
        parts = [PRELUDE]
        parts += [f"struct S{s};" for s in structs]
        parts += [self._struct(s) for s in structs]
        parts += [tools(s, self._initial(s)) for s in structs]
        heads = [self._head(f) for f in range(self.n_functions)]
        parts += [f"{head};" for head in heads]
        parts += [f"{head} {self._body(f)}" for f, head in enumerate(heads)]
        return "\n".join([*parts, self._main(), ""])

    def _members(self, struct: int) -> list[Member]:
        kinds = ["int", "short", "number", "numbers", "pointer", "pointer", "pointers", "function"]
        kinds += ["union", "packed", "matrix", "cells", "bits"]
        kinds += ["nested", "nesteds"] if struct else []
        chosen = ["pointer", *self.random.choices(kinds, k=self.random.randint(2, 5))]
        self.random.shuffle(chosen)
        return [
            Member(
                f"m{i}",
                kind,
                self.random.randrange(struct if "nested" in kind else self.n_structs),
            )
            for i, kind in enumerate(chosen)
        ]

    def _struct(self, s: int) -> str:
        return f"struct S{s} {{ {' '.join(m.text() for m in self.members[s])} }};"

    def _initial(self, s: int) -> str:
        return self.random.choice(["", f" = &global{s}", f" = &array{s}[2]"])

    def _head(self, f: int) -> str:
        return f"static struct S{self.results[f]} *f{f}(struct S0 *a, int *b, int n)"

    def _body(self, f: int) -> str:
        result = self.results[f]
        scope = self._globals()
        scope.structs[0].append("a")
        scope.numbers.append("b")
        lines = ["{", "  if (budget-- <= 0) return NULL;"]
        for s in range(self.n_structs):
            lines.append(f"  struct S{s} *v{s} = NULL;")
            scope.structs[s].append(f"v{s}")
        lines += self._block(scope, self.n_statements, 2)
        return "\n".join([*lines, f"  return {self.pointer(scope, result, 2)};", "}"])

    def _main(self) -> str:
        scope = self._globals()
        lines = ["int main(void) {", "  int n = 1;"]
        for s in range(self.n_structs):
            lines += [f"  struct S{s} local{s} = {{0}};", f"  struct S{s} *here{s} = &local{s};"]
            scope.structs[s].append(f"here{s}")
        lines += self._block(scope, self.n_statements, 2)
        for f in range(self.n_functions):
            lines.append(f"  budget = 60; keep{self.results[f]}(f{f}(here0, &number, {f}));")
        lines += self._block(scope, self.n_statements, 2)
        return "\n".join([*lines, '  printf("%d %d\\n", number, numbers[1]);', "  return 0;", "}"])

    def _globals(self) -> Scope:
        structs = {s: [f"root{s}"] for s in range(self.n_structs)}
        return Scope(structs, [])

    def _block(self, scope: Scope, count: int, depth: int) -> list[str]:
        return ["  " + self.statement(scope, depth) for _ in range(count)]

    # Expressions: `variable` is a name, to be evaluated twice; the others are evaluated once.

    def variable(self, scope: Scope, s: int) -> str:
        """Return a pointer variable to the struct."""
        return self.random.choice(scope.structs[s])

    def _with(self, *kinds: str, target: int | None = None) -> tuple[int, Member] | None:
        """Return a struct and its member of one of the kinds, about `target`, if there is one."""
        found = [
            (s, m)
            for s, members in enumerate(self.members)
            for m in members
            if m.kind in kinds and target in (None, m.target)
        ]
        return self.random.choice(found) if found else None

    def pointer(self, scope: Scope, s: int, depth: int) -> str:
        """Return an expression that is null or points to such a struct."""
        t = f"struct S{s} *"
        simple: list[Callable[[], str]] = [
            lambda: self.variable(scope, s),
            lambda: f"&global{s}",
            lambda: f"&array{s}[{scope.index} & 3]",
            lambda: f"(array{s} + 4 - {self.random.randint(1, 4)})",
            lambda: f"make{s}()",
            lambda: f"in_row{s}({scope.index})",
            lambda: f"({t})take(sizeof(struct S{s}))",
            lambda: f"({t})((uintptr_t)array{s} + ({scope.index} & 3) * sizeof *array{s})",
            lambda: f"(&array{s}[3] - ({scope.index} & 3))",
            lambda: self._from_field(scope, s),
            lambda: self._from_field(scope, s),
            lambda: self._around(scope, s),
        ]
        deep: list[Callable[[], str]] = [
            lambda: f"({t})(void *){self.pointer(scope, s, depth - 1)}",
            lambda: f"({t})(uintptr_t){self.pointer(scope, s, depth - 1)}",
            lambda: f"({t})(((uintptr_t){self.pointer(scope, s, depth - 1)} | 1) & ~(uintptr_t)1)",
            lambda: f"({t})same({self.pointer(scope, s, depth - 1)})",
            lambda: f"keep{s}({self.pointer(scope, s, depth - 1)})",
            lambda: f"listed{s}({scope.index}, {self._two(scope, s, depth)})",
            lambda: f"both{s}({self.pointer(scope, s, depth - 1)}, {self.number(scope)}).p",
            lambda: f"pick{s}({scope.index}, {self._two(scope, s, depth)})",
            lambda: self._either(scope, s, depth),
            lambda: self._call(scope, s, depth),
        ]
        return self.random.choice(simple + deep if depth > 0 else simple)()

    def _two(self, scope: Scope, s: int, depth: int) -> str:
        left, right = (self.pointer(scope, s, depth - 1) for _ in range(2))
        return f"{left}, {right}"

    def _either(self, scope: Scope, s: int, depth: int) -> str:
        left, right = (self.pointer(scope, s, depth - 1) for _ in range(2))
        return f"({scope.index} & 1 ? {left} : {right})"

    def _from_field(self, scope: Scope, s: int) -> str:
        found = self._with(*HOLDERS, "nested", "nesteds", "union", target=s)
        if found is None:
            return self.variable(scope, s)
        owner, m = found
        v = self.variable(scope, owner)
        if m.kind in HOLDERS:
            by_offset = f"*(struct S{s} **)((char *){v} + offsetof(struct S{owner}, {m.name}))"
            use_offset = m.kind in ("pointer", "pointers") and self.random.random() < 0.3
            return f"({v} ? {by_offset if use_offset else f'{v}->{m.element(scope.index)}'} : NULL)"
        read = {
            "nested": f"&{v}->{m.name}",
            "nesteds": f"&{v}->{m.name}[{scope.index} & 1]",
            "union": f"({v}->{m.name}_tag == 1 ? {v}->{m.name}.p : NULL)",
        }[m.kind]
        return f"({v} ? {read} : NULL)"

    def _around(self, scope: Scope, s: int) -> str:
        nested = [m for m in self.members[s] if m.kind in ("nested", "int", "pointer")]
        v, m = self.variable(scope, s), self.random.choice(nested)
        return f"({v} ? CONTAINER(&{v}->{m.name}, struct S{s}, {m.name}) : NULL)"

    def _call(self, scope: Scope, s: int, depth: int) -> str:
        functions = [f for f, result in enumerate(self.results) if result == s]
        arguments = f"{self.pointer(scope, 0, depth - 1)}, {self.number(scope)}, {scope.index} + 1"
        found = self._with("function", target=s)
        if found and self.random.random() < 0.5:
            v, name = self.variable(scope, found[0]), found[1].name
            return f"({v} && {v}->{name} ? {v}->{name}({arguments}) : NULL)"
        return f"f{self.random.choice(functions)}({arguments})" if functions else f"make{s}()"

    def number(self, scope: Scope) -> str:
        """Return an expression that is null or points to a number."""
        plain = ["&number", f"&numbers[{scope.index} & 3]", "numbers", *scope.numbers]
        plain.append(f"pick_number({scope.index}, &numbers[1], &number)")
        found = self._with("number", "int", "numbers", "union")
        if found and self.random.random() < 0.6:
            v, m = self.variable(scope, found[0]), found[1]
            read = {
                "number": f"{v}->{m.name}",
                "int": f"&{v}->{m.name}",
                "numbers": f"&{v}->{m.name}[{scope.index} & 3]",
                "union": f"({v}->{m.name}_tag == 2 ? {v}->{m.name}.q : NULL)",
            }[m.kind]
            return f"({v} ? {read} : NULL)"
        return self.random.choice(plain)

    # Statements.

    def statement(self, scope: Scope, depth: int) -> str:
        """Return one statement."""
        plain = [self._assign, self._assign, self._set_field, self._set_field, self._set_field]
        plain += [self._copy, self._count, self._through]
        deep = [self._loop, self._walk, self._sort]
        return self.random.choice(plain + deep if depth > 0 else plain)(scope, depth)

    def _some(self) -> int:
        return self.random.randrange(self.n_structs)

    def _assign(self, scope: Scope, depth: int) -> str:
        s = self._some()
        return f"{self.variable(scope, s)} = {self.pointer(scope, s, 2)};"

    def _set_field(self, scope: Scope, depth: int) -> str:
        s = self._some()
        m = self.random.choice(self.members[s])
        value = self.pointer(scope, m.target, 1)
        functions = [f"f{f}" for f, result in enumerate(self.results) if result == m.target]
        if m.kind in HOLDERS:
            bits = f"w->{m.name}_low = {scope.index} & 31; " if m.kind == "bits" else ""
            return self._if_there(scope, s, f"{bits}w->{m.element(scope.index)} = {value};")
        written = {
            "int": f"w->{m.name} = {scope.index};",
            "short": f"w->{m.name} = (short)({scope.index} & 7);",
            "number": f"w->{m.name} = {self.number(scope)};",
            "numbers": f"w->{m.name}[{scope.index} & 3] = 1;",
            "nested": f"w->{m.name} = global{m.target};",
            "nesteds": f"w->{m.name}[{scope.index} & 1] = global{m.target};",
            "function": f"w->{m.name} = {self.random.choice([*functions, 'NULL'])};",
            "union": self._set_union(scope, m, value),
        }[m.kind]
        return self._if_there(scope, s, written)

    def _if_there(self, scope: Scope, s: int, then: str) -> str:
        """Return a statement about `w`; what it calls may change the variable that `w` is from."""
        return f"{{ struct S{s} *w = {self.variable(scope, s)}; if (w) {{ {then} }} }}"

    def _set_union(self, scope: Scope, m: Member, value: str) -> str:
        if self.random.random() < 0.5:
            return f"int *q = {self.number(scope)}; w->{m.name}.q = q; w->{m.name}_tag = 2;"
        t = f"struct S{m.target}"
        return f"{t} *p = {value}; w->{m.name}.p = p; w->{m.name}_tag = 1;"

    def _copy(self, scope: Scope, depth: int) -> str:
        s = self._some()
        v, w = self.variable(scope, s), self.variable(scope, s)
        m = self.random.choice([m for m in self.members[s] if m.kind == "pointer"])
        how = self.random.choice(
            [
                f"*{v} = *{w};",
                f"memmove({v}, {w}, sizeof *{v});",
                f"copy_bytes(&{v}->{m.name}, &{w}->{m.name}, sizeof {v}->{m.name});",
                f"copy_bytes({v}, {w}, sizeof *{v});",
                f"copy_words({v}, {w}, sizeof *{v});",
                f"{{ uintptr_t x; memcpy(&x, &{w}->{m.name}, sizeof x);"
                f" memcpy(&{v}->{m.name}, &x, sizeof x); }}",
                f"memmove(array{s}, array{s} + 1, ((size_t)n % 3 + 1) * sizeof *array{s});",
                f"memcpy(in_row{s}(0), array{s}, 4 * sizeof *array{s});",
                f"*{v} = changed{s}(*{v}, *{w});",
                f"{{ struct S{s} own = *{w}; own.{m.name} = {v}->{m.name}; *{v} = own; }}",
            ]
        )
        return f"if ({v} && {w}) {how}"

    def _count(self, scope: Scope, depth: int) -> str:
        return f"{{ int *q = {self.number(scope)}; if (q) *q = (*q + 1) & 1023; }}"

    def _through(self, scope: Scope, depth: int) -> str:
        s = self._some()
        found = self._with("pointer", target=s)
        value = self.pointer(scope, s, 1)
        if found is None:
            return f"set{s}(&{self.variable(scope, s)}, {value});"
        return self._if_there(scope, found[0], f"set{s}(&w->{found[1].name}, {value});")

    def _loop(self, scope: Scope, depth: int) -> str:
        inner = Scope(scope.structs, scope.numbers, f"i{depth}")
        body = " ".join(self._block(inner, 2, depth - 1))
        return f"for (int i{depth} = 0; i{depth} < 3; i{depth}++) {{ {body} }}"

    def _walk(self, scope: Scope, depth: int) -> str:
        s, p = self._some(), f"p{depth}"
        body = " ".join(self._block(scope.with_struct(s, f"q{depth}"), 2, depth - 1))
        move = f"struct S{s} *q{depth} = {p}; {body}"
        array = self.random.choice([f"array{s}", f"in_row{s}(0)"])
        if self.random.random() < 0.5:
            return f"for (struct S{s} *{p} = {array}; {p} != {array} + 4; {p}++) {{ {move} }}"
        return f"for (struct S{s} *{p} = {array} + 4; {p} != {array};) {{ {p}--; {move} }}"

    def _sort(self, scope: Scope, depth: int) -> str:
        s = self._some()
        values = ", ".join(self.pointer(scope, s, 1) for _ in range(3))
        return (
            f"{{ struct S{s} *some[3] = {{{values}}}; qsort(some, 3, sizeof *some, order{s});"
            f" {self.variable(scope, s)} = some[{scope.index} & 1]; }}"
        )
