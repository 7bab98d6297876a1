"""Random structs that hold one pointer that matters, and the storage to put them in."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_FILLERS = (
    "char {n};",
    "char {n}[3];",
    "char {n}[13];",
    "short {n};",
    "int {n};",
    "float {n};",
    "long {n};",
    "unsigned {n} : 5, {n}h : 20;",
    "uint64_t {n} : 40;",
    "_Bool {n} : 1;",
    "long double {n};",
    "__int128 {n};",
    "struct {{ }} {n};",
    "int {n}[0];",
    "P$ {n};",
    "void *{n}[2];",
)
_ATTRIBUTES = ("", "", "__attribute__((packed))", "__attribute__((packed, aligned(2)))")


@dataclass(frozen=True)
class Layout:
    """The text of `struct S$`, and the path from such an object to its pointer `P$`."""

    text: str
    path: str
    is_flexible: bool

    @property
    def label(self) -> str:
        """Words for what is special in it."""
        words = {
            "packed": "packed",
            "union": "union",
            "pragma": "pack",
            " : ": "bits",
            "[i$]": "index",
        }
        found = [word for sign, word in words.items() if sign in self.text + self.path]
        return "+".join(found + ["flexible"] * self.is_flexible) or "plain"


class LayoutMaker:
    """Makes layouts; names of members are unique within one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._n_names = 0

    def make(self) -> Layout:
        """Return a random layout."""
        self._n_names = 0
        fillers = self._fillers()
        attribute = self._random.choice(_ATTRIBUTES)
        if self._random.random() < 0.12:
            text = f"struct {attribute} S$ {{ int first; {fillers} P$ tail[]; }};"
            return Layout(text, f".tail[{self._index(2)}]", True)
        member, path = self._member(self._random.randint(0, 3))
        text = f"struct {attribute} S$ {{ {fillers} {member} {self._fillers()} }};"
        if self._random.random() < 0.12:
            pack = self._random.choice([1, 2, 4])
            text = f"#pragma pack(push, {pack})\n{text}\n#pragma pack(pop)"
        return Layout(text, path, False)

    def _name(self) -> str:
        self._n_names += 1
        return f"m{self._n_names}"

    def _fillers(self) -> str:
        chosen = self._random.choices(_FILLERS, k=self._random.choice([0, 1, 1, 2]))
        return " ".join(filler.format(n=self._name()) for filler in chosen)

    def _index(self, length: int) -> str:
        return self._random.choice(["0", str(length - 1), "i$"])

    def _member(self, depth: int) -> tuple[str, str]:
        name = self._name()
        if depth == 0:
            if self._random.random() < 0.25:
                return f"P$ {name}[3];", f".{name}[{self._index(3)}]"
            return f"P$ {name};", f".{name}"
        inner, path = self._member(depth - 1)
        kind = self._random.choice(["struct", "struct", "rows", "union", "anonymous", "inside"])
        attribute = self._random.choice(_ATTRIBUTES)
        body = f"{{ {self._fillers()} {inner} {self._fillers()} }}"
        if kind == "struct":
            return f"struct {attribute} {body} {name};", f".{name}{path}"
        if kind == "rows":
            return f"struct {attribute} {body} {name}[2];", f".{name}[{self._index(2)}]{path}"
        if kind == "union":
            return f"union {body} {name};", f".{name}{path}"
        if kind == "anonymous":
            return f"{self._random.choice(['union', 'struct'])} {body};", path
        raw = f"unsigned char {self._name()}[24]; uint32_t {self._name()}[2];"
        return f"union {{ {raw} struct {attribute} {body} {name}; }};", f".{name}{path}"


@dataclass(frozen=True)
class Storage:
    """An object of type `struct S$`: top-level text, lines of the case, and its expression."""

    kind: str
    top: str
    lines: tuple[str, ...]
    expression: str


def storage(random: Random, name: str, layout: Layout, initial: str = "") -> Storage:
    """Return storage of `N$` bytes called `name`; with an initial value if it has one."""
    if initial:
        return Storage("initialised", f"static struct S$ {name}$ = {initial};", (), f"{name}$")
    raw = {
        "heap": ("", f"struct S$ *{name} = calloc(1, N$);", f"(*{name})"),
        "arena": ("", f"struct S$ *{name} = take(N$);", f"(*{name})"),
        "buffer": (f"static _Alignas(32) char {name}$[N$];", "", f"(*(struct S$ *){name}$)"),
        "alloca": ("", f"struct S$ *{name} = __builtin_alloca(N$);", f"(*{name})"),
    }
    typed = {
        "global": (f"static struct S$ {name}$;", "", f"{name}$"),
        "local": ("", f"struct S$ {name};", name),
        "static": ("", f"static struct S$ {name};", name),
        "thread": (f"static _Thread_local struct S$ {name}$;", "", f"{name}$"),
        "array": (f"static struct S$ {name}$[3];", "", f"{name}$[{random.choice('012')}]"),
        "index": (f"static struct S$ {name}$[3];", "", f"{name}$[i$]"),
        "union": (f"static union {{ struct S$ s; char r[N$]; }} {name}$;", "", f"{name}$.s"),
        "member": ("", f"struct {{ char c; struct S$ s; }} {name};", f"{name}.s"),
    }
    kinds = raw if layout.is_flexible else raw | typed
    kind = random.choice(sorted(kinds))
    top, line, expression = kinds[kind]
    return Storage(kind, top, (line,) if line else (), expression)
