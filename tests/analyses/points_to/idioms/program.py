"""Programs of many cases: each moves a pointer in its own way and then uses it.

A case is a function `case_N` with names of its own; it prints nothing, since the trace tells what
its pointers held. Everything is decided by the seed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from tests.analyses.points_to.idioms.copies import POINTER_COPIES, STRUCT_COPIES, Copy
from tests.analyses.points_to.idioms.layouts import Layout, LayoutMaker, Storage, storage

_HERE = Path(__file__).parent
PRELUDE = (_HERE / "prelude.c.txt").read_text()
_CHOICE = re.compile(r"@\[(.*?)\]@", re.DOTALL)


@dataclass(frozen=True)
class Case:
    """A numbered function, and what stands before it."""

    number: int
    label: tuple[str, ...]
    text: str  # defines case_N

    @property
    def call(self) -> str:
        """The statement that runs it."""
        return f"case_{self.number}();"


def program(cases: Iterable[Case]) -> str:
    """Return the program that runs the cases in order."""
    cases = list(cases)
    calls = [f"  {case.call}" for case in cases]
    main = ["int main(int n, char **arguments) {", "  n_arguments = n, given = arguments;", *calls]
    texts = [f"// case {case.number}: {', '.join(case.label)}\n{case.text}" for case in cases]
    return "\n".join([PRELUDE, *texts, *main, "  return 0;", "}", ""])


def case_of(text: str, line: int) -> int:
    """Return the number of the case in whose text a line of a program is, or -1."""
    before = re.findall(r"^// case (\d+):", "\n".join(text.split("\n")[:line]), re.MULTILINE)
    return int(before[-1]) if before else -1


_TARGETS = {
    "global": ("static int g$ = 1;", "", "&g$"),
    "element": ("static int g$[4] = {1, 2, 3, 4};", "", "&g$[2]"),
    "field": ("static struct { char c; int n; } g$ = {0, 1};", "", "&g$.n"),
    "heap": ("", "int *h = malloc(sizeof *h); *h = 1;", "h"),
    "local": ("", "int l = 1;", "&l"),
    "function": ("static int f$(int n) {\n  return n;\n}", "", "f$"),
    "function taken": ("static int f$(int n) {\n  return n;\n}", "", "&f$"),
}


@dataclass(frozen=True)
class Plan:
    """What a case does: where the pointer is put, how it moves on, how it is taken out."""

    layout: Layout
    target: str
    places: Sequence[Storage]
    put: Copy
    hops: Sequence[Copy]
    take: Copy
    is_initialised: bool

    def case(self, number: int) -> Case:
        """Return its text."""
        target_top, target_line, target = _TARGETS[self.target]
        is_code = "function" in self.target
        tops = [
            "typedef int (*P$)(int);" if is_code else "typedef int *P$;",
            "static volatile int i$ = 1;",
            target_top,
            self.layout.text,
            f"enum {{ N$ = sizeof(struct S$) + {16 if self.layout.is_flexible else 0} }};",
            *(place.top for place in self.places),
        ]
        lines = [target_line, *(line for place in self.places for line in place.lines)]
        path, first, last = self.layout.path, self.places[0], self.places[-1]
        steps: list[tuple[Copy, str, str]] = []
        if not self.is_initialised:
            lines.append(f"P$ q = {target};")
            steps.append((self.put, first.expression + path, "q"))
        ways = zip(self.hops, self.places[1:], self.places, strict=False)
        steps += [(way, to.expression, source.expression) for way, to, source in ways]
        lines.append("P$ p = (P$)0;")
        steps.append((self.take, "p", last.expression + path))
        for hop, (way, to, source) in enumerate(steps):
            top, more = way.between(to, source, hop)
            tops.append(top)
            lines += more
        lines.append("number += p(1);" if is_code else "number += *p;")
        body = "\n".join(f"  {line}" for line in lines if line)
        whole = [*(top for top in tops if top), f"static void case_$(void) {{\n{body}\n}}"]
        kinds = [place.kind for place in self.places]
        label = (self.layout.label, *kinds, self.target, *(way.name for way, _, _ in steps))
        return Case(number, label, "\n".join(whole).replace("$", str(number)))


def layout_case(
    number: int, seed: object, *, outside: bool = False, without: Collection[str] = ()
) -> Case:
    """Return a pointer in a random struct, copied with it up to twice, taken out and used.

    Args:
        number: of the case.
        seed: decides it, together with the number.
        outside: whether bytes may leave the program and come back.
        without: ways of copying that are not taken.
    """
    random = Random(f"layout {seed} {number}")

    def usable(ways: Mapping[str, Copy]) -> list[Copy]:
        some = (way for name, way in ways.items() if name not in without)
        return [way for way in some if outside or not way.is_outside]

    layout = LayoutMaker(random).make()
    target = random.choice(sorted(_TARGETS))
    structs = [c for c in usable(STRUCT_COPIES) if not (layout.is_flexible and c.needs_type)]
    pointers, plain = usable(POINTER_COPIES), POINTER_COPIES["assignment"]
    is_constant = target not in ("heap", "local") and not layout.is_flexible
    is_initialised = is_constant and random.random() < 0.4
    initial = f"{{{layout.path.replace('i$', '1')} = {_TARGETS[target][2]}}}"
    first = storage(random, "a", layout, initial if is_initialised else "")
    put = random.choice(pointers) if random.random() < 0.25 else plain
    hops = random.choices(structs, k=random.choice([0, 1, 1, 1, 2]))
    take = random.choice(pointers) if random.random() < 0.5 else plain
    places = [first, *(storage(random, "bcd"[i], layout) for i in range(len(hops)))]
    return Plan(layout, target, places, put, hops, take, is_initialised).case(number)


def way_cases(target: str = "function") -> list[Case]:
    """Return each way of copying on its own, between two global structs, labelled by its name."""
    layout = Layout("struct S$ { int n; P$ p; char m; };", ".p", False)
    places = [Storage("global", f"static struct S$ {name}$;", (), f"{name}$") for name in "ab"]
    plain, whole = POINTER_COPIES["assignment"], STRUCT_COPIES["assignment"]
    ways = [("struct", name, way, plain) for name, way in STRUCT_COPIES.items()]
    ways += [("pointer", name, whole, way) for name, way in POINTER_COPIES.items()]
    found = []
    for number, (kind, name, hop, take) in enumerate(ways):
        case = Plan(layout, target, places, plain, [hop], take, False).case(number)
        found.append(replace(case, label=(f"{kind}: {name}",)))
    return found


def templates(*names: str) -> dict[str, str]:
    """Return the idioms of text files by name; each is C text that defines `case_$`."""
    found = {}
    for name in names or ("callbacks.c.txt", "library.c.txt", "conversions.c.txt"):
        parts = re.split(r"^//: (.*)\n", (_HERE / name).read_text(), flags=re.MULTILINE)[1:]
        found.update(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    return found


def template_case(number: int, seed: object, name: str, text: str) -> Case:
    """Return one idiom, with a random one of the words in each `@[one|other]@`."""
    random = Random(f"template {seed} {number}")
    chosen: list[str] = []

    def one(found: re.Match[str]) -> str:
        chosen.append(random.choice(found[1].split("|")))
        return chosen[-1]

    text = _CHOICE.sub(one, text).replace("$", str(number))
    return Case(number, (name, *chosen), text)


def template_cases(seed: object, n_cases: int, *files: str) -> Sequence[Case]:
    """Return cases of every idiom in turn."""
    idioms = list(templates(*files).items())
    return [template_case(n, seed, *idioms[n % len(idioms)]) for n in range(n_cases)]
