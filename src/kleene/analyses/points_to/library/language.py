"""What a library function does to pointers, as a small language.

A *term* names pointers; an *effect* says where they go. The words, as a model file writes them:

| term | the pointers it stands for |
|---|---|
| `0`, `1`, … | that argument; for a variable, `0` is its address |
| `1+` | that argument and all behind it |
| `strings[1]` | the arguments behind 1 that 1, a format of printf, writes as texts: `%s` |
| `digits[1]` | the others behind 1 that it writes: as numbers |
| `heap[0*1]` | new storage for each call, of that many bytes: a product of arguments, or left out |
| `exception[0]` | the same, for an exception |
| `static` | storage that the function keeps for itself |
| `thrown` | every exception there is |
| `caught` | what the handler gets that the call begins |
| `variadic` | the arguments beyond the named ones, of the function that calls |
| `@name` | what all functions share under that name |
| `unknown` | anything the outside has |
| `&name` | a function of the library's own, by address: it does what the model of that name says |
| `_` | none |
| `t..` | anywhere in what t points to; `t..2`: in steps of so many bytes as argument 2 says |
| `text[t]` | from there on byte by byte: in the array that t points into, if it does |
| `mapped[4]` | what the call returns, if argument 4 may be a file: it is not the constant -1 |
| `symbol[1]` | what the program defines by the name that argument 1 points to |
| `t.8` | so many bytes behind what t points to |
| `*t` | what is in memory at t |

Effects: `returns t`; `*t <- t` (a store); `@name <- t`; `copy t <- t [2]` (memory, so many bytes);
`calls t(t, …)`, with `-> @name` for its result; `escapes t`; `throws t` (an exception: `as 1`, of
the type whose `std::type_info` argument 1 is; `as library`, of a class of the library; else of any
type); `nothing`. Of a variable, `holds t`; of a `std::type_info`, `derives name` of a base (`_` if
there is none).
`assumes …`, to the next `;`, tells what the model leaves out: a name of `Assumptions`, or words.

*Roles* say what a function does to data, for dataflow analysis; they are about functions that the
program defines, too, and change nothing of what pointers hold. `result` is the call's result.

| role | means |
|---|---|
| `taints 1`, `taints result` | what comes from outside is there: in memory, or the number itself |
| `taints *1`, `**1` | in what the pointers there lead to: in each buffer of an `iovec` |
| `taints 1+` | there, and in all arguments behind it, up to a null pointer |
| `trusts 0 as command` | a sink: neither it nor the text there may come from outside; any word |
| `passes 0 to result` | what comes from outside is passed on, as values or as texts |
| `cleans result`, `cleans 0` | what was tainted no longer is: a sanitiser |
| `may return null` | and does so in runs that happen |
| `writes 0, 2+` | to no other storage of the program than these arguments point to, and `errno` |
| `writes nothing`, `streams` | to none; to memory that `setvbuf` or `fmemopen` gave streams |
| `writes counts[1]` | to what conversions `%n` of the format that argument 1 is write to |

A model file has lines `names: effect; effect`; `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from kleene.base.errors import SourceError, Span


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the call, counted from 0."""

    position: int


@dataclass(frozen=True, slots=True)
class Following:
    """An argument and all behind it."""

    position: int


@dataclass(frozen=True, slots=True)
class Digits:
    """The arguments that a format, itself an argument, writes as numbers."""

    format: int


@dataclass(frozen=True, slots=True)
class Strings:
    """The arguments that a format, itself an argument, writes as texts."""

    format: int


@dataclass(frozen=True, slots=True)
class Heap:
    """New storage for each call; its size is the product of these arguments, if any."""

    factors: tuple[int, ...] = ()
    is_exception: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """`static`, `variadic`, `thrown`, `caught`, `unknown`, `_`, or a name that starts with `@`."""

    name: str


@dataclass(frozen=True, slots=True)
class Code:
    """The address of a function of the library, which does what the model of that name says."""

    name: str


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Anywhere in what the term points to, in steps of an argument's number of bytes if given."""

    term: Term
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """Every byte from the term on, of the array that it points into."""

    term: Term


@dataclass(frozen=True, slots=True)
class Mapped:
    """The call's result, where an argument that is a file is not the constant -1."""

    file: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """What the program defines by the name that an argument points to."""

    name: int


@dataclass(frozen=True, slots=True)
class Behind:
    """So many bytes behind what the term points to."""

    term: Term
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in memory at the term."""

    term: Term


Term = (
    Argument
    | Following
    | Digits
    | Strings
    | Heap
    | Named
    | Code
    | Anywhere
    | Behind
    | Text
    | Mapped
    | Symbol
    | Contents
)


@dataclass(frozen=True, slots=True)
class Returns:
    """The call's result includes the term."""

    term: Term


@dataclass(frozen=True, slots=True)
class Holds:
    """A declared variable contains the term; `at` is where the model says so."""

    term: Term
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Stores:
    """Memory at `pointer` receives the term."""

    pointer: Term
    term: Term


@dataclass(frozen=True, slots=True)
class Shares:
    """The shared name receives the term."""

    name: str
    term: Term


@dataclass(frozen=True, slots=True)
class Copies:
    """Memory at `to` receives the memory at `source`, as many bytes as argument `size` says."""

    to: Term
    source: Term
    size: int | None


@dataclass(frozen=True, slots=True)
class Calls:
    """What `callee` points to is called, its result goes to the shared name."""

    callee: Term
    arguments: tuple[Term, ...]
    result: str | None


@dataclass(frozen=True, slots=True)
class Escapes:
    """The outside learns the term."""

    term: Term


@dataclass(frozen=True, slots=True)
class Throws:
    """The term is an exception; the argument `type` is its type, or it is of the library's own."""

    term: Term
    type: int | None = None
    is_of_library: bool = False


@dataclass(frozen=True, slots=True)
class Derives:
    """The class whose `std::type_info` a variable is has a base, at its start, or no base."""

    base: str | None


@dataclass(frozen=True, slots=True)
class Assumes:
    """The model leaves something out."""

    text: str


RESULT = -1  # instead of the position of an argument


@dataclass(frozen=True, slots=True)
class Place:
    """An argument, or the result, of which a role speaks.

    Attributes:
        position: the argument's number, or RESULT.
        n_loads: how many pointers are followed first: 1 for `*1`, 2 for `**1`.
        and_behind: whether all further arguments are meant, too: `1+`.
    """

    position: int
    n_loads: int = 0
    and_behind: bool = False

    def positions(self, n_arguments: int) -> range:
        """Return the numbers of the arguments of a call that are meant."""
        end = n_arguments if self.and_behind else min(self.position + 1, n_arguments)
        return range(self.position, end)


@dataclass(frozen=True, slots=True)
class Taints:
    """What comes from outside is in what an argument, or the result, points to, or is it."""

    place: Place


@dataclass(frozen=True, slots=True)
class Trusts:
    """An argument must not come from outside: it is used as what the word says."""

    place: Place
    use: str
    at: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Passes:
    """What comes from outside is passed on."""

    source: Place
    to: Place


@dataclass(frozen=True, slots=True)
class Cleans:
    """What an argument points to, or the result, does not come from outside any more."""

    place: Place


@dataclass(frozen=True, slots=True)
class MayReturnNull:
    """The result may be null, in runs that happen."""


@dataclass(frozen=True, slots=True)
class Writes:
    """To which storage of the program a call writes, itself; further calls of it add up.

    Attributes:
        argument: what this argument points to.
        and_behind: and what all behind it point to.
        format: what the conversions `%n` of the format that this argument is write to.
        streams: the buffers that `setvbuf` gave to streams.
    """

    argument: int | None = None
    and_behind: bool = False
    format: int | None = None
    streams: bool = False


Role = Taints | Trusts | Passes | Cleans | MayReturnNull | Writes
Effect = Returns | Holds | Stores | Shares | Copies | Calls | Escapes | Throws | Derives | Assumes
Model = tuple[Effect, ...]
Line = tuple[Effect | Role, ...]  # of a file: both


def heap_of(model: Model) -> Heap | None:
    """Return the new storage that a function returns, if it does."""
    found = (e.term for e in model if isinstance(e, Returns) and isinstance(e.term, Heap))
    return next(found, None)


BYTES = "@bytes"  # what is among bytes that leave the program and come back
_TOKEN = re.compile(r"\s*(<-|->|\.\.|[*()\[\],]|&[\w.]+|@?\w+|\S)")
_ABOUT: dict[str, Callable[[Term], Effect]] = {
    "returns": Returns,
    "escapes": Escapes,
}
_DIGITS = 4  # no function has more than 9,999 arguments
_MOST_WORDS = 500  # each word may be in another, and Python's stack ends
_ROLES = ("taints", "trusts", "passes", "cleans", "may", "writes")
_NAMES = ("static", "variadic", "thrown", "caught", "unknown", "_")
_OF_ARGUMENT: dict[str, Callable[[int], Term]] = {
    "digits": Digits,
    "strings": Strings,
    "mapped": Mapped,
    "symbol": Symbol,
}


def parse_models(text: str, file: str) -> Iterator[tuple[list[str], Line]]:
    """Yield the names, and the model and roles, of each line.

    Raises:
        SourceError: `points-to/bad-model`, at the word that is not understood.
    """
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split("#")[0].rstrip()
        if not content.strip():
            continue
        names, colon, effects = content.partition(":")
        if not colon or not names.split():
            raise _error(file, number, 1, "a line is 'names: effects'")
        yield names.split(), tuple(_effects(effects, file, number, len(names) + 1))


def _effects(text: str, file: str, line: int, column: int) -> Iterator[Effect | Role]:
    for part in text.split(";"):
        word, _, rest = part.strip().partition(" ")
        if word == "assumes" and rest:
            yield Assumes(rest)
        elif part.strip() != "nothing":
            yield from _Line(part, file, line, column).effects()
        column += len(part) + 1


class _Line:
    """One effect, word by word."""

    def __init__(self, text: str, file: str, line: int, column: int) -> None:
        self._words = [(m[1], column + m.start(1) + 1) for m in _TOKEN.finditer(text)]
        self._words.append(("", column + len(text) + 1))
        self._at, self._file, self._line = 0, file, line

    def effects(self) -> Iterator[Effect | Role]:
        """Yield the effects: one, or one for each term of a list."""
        word, column = self._words[self._at]
        if word in _ROLES:
            self._at += 1
            yield from self._roles(word, Span(self._file, self._line, column))
            if self._peek():
                self._fail("';' or the end of the line")
            return
        if word in _ABOUT and self._takes(word):
            yield from (_ABOUT[word](term) for term in self._terms())
        elif self._takes("holds"):
            at = Span(self._file, self._line, column)
            yield from (Holds(term, at) for term in self._terms())
        elif self._takes("copy"):
            yield self._copy()
        elif self._takes("calls"):
            yield self._call()
        elif self._takes("throws"):
            yield self._throw()
        elif self._takes("derives"):
            yield self._derives()
        else:
            yield from self._assignments()
        if self._peek():
            self._fail("';' or the end of the line")

    def _roles(self, word: str, at: Span) -> Iterator[Role]:
        if word == "may":
            self._expect("return")
            self._expect("null")
            yield MayReturnNull()
            return
        if word == "writes":
            yield from self._written()
            return
        places = [self._place()]
        while self._takes(","):
            places.append(self._place())
        if word == "taints":
            yield from map(Taints, places)
        elif word == "cleans":
            yield from map(Cleans, places)
        elif word == "trusts":
            if any(place.position == RESULT for place in places):
                self._at -= 1
                self._fail("an argument's number")
            self._expect("as")
            use = self._peek()
            if not use.isidentifier():
                self._fail("a word such as 'command'")
            self._at += 1
            yield from (Trusts(place, use, at) for place in places)
        else:
            self._expect("to")
            to = self._place()
            yield from (Passes(place, to) for place in places)

    def _written(self) -> Iterator[Role]:
        """Yield what a call writes to."""
        if self._takes("nothing"):
            yield Writes()
            return
        while True:
            if self._takes("streams"):
                yield Writes(streams=True)
            elif self._takes("counts"):
                self._expect("[")
                yield Writes(format=self._number())
                self._expect("]")
            else:
                yield Writes(self._number("'nothing' or an argument's number"), self._takes("+"))
            if not self._takes(","):
                return

    def _place(self) -> Place:
        """Return an argument, the result, or what the pointers there lead to."""
        n_loads = 0
        while self._takes("*"):
            n_loads += 1
        if self._takes("result"):
            return Place(RESULT, n_loads)
        position = self._number("'result' or an argument's number")
        return Place(position, n_loads, self._takes("+"))

    def _copy(self) -> Effect:
        to = self._term()
        self._expect("<-")
        source = self._term()
        size = None
        if self._takes("["):
            size = self._number()
            self._expect("]")
        return Copies(to, source, size)

    def _call(self) -> Effect:
        callee = self._term()
        self._expect("(")
        arguments = [] if self._peek() == ")" else list(self._terms())
        self._expect(")")
        result = self._shared() if self._takes("->") else None
        return Calls(callee, tuple(arguments), result)

    def _throw(self) -> Effect:
        term = self._term()
        if not self._takes("as"):
            return Throws(term)
        if self._takes("library"):
            return Throws(term, is_of_library=True)
        return Throws(term, self._number())

    def _derives(self) -> Effect:
        if self._takes("_"):
            return Derives(None)
        base = self._peek()
        if not base.startswith("_ZTI"):
            self._fail("the name of a type, such as '_ZTISt9exception',")
        self._at += 1
        return Derives(base)

    def _assignments(self) -> Iterator[Effect]:
        if self._peek().startswith("@"):
            name = self._shared()
            self._expect("<-")
            yield from (Shares(name, term) for term in self._terms())
            return
        if not self._takes("*"):
            self._fail("an effect")
        pointer = self._term()
        self._expect("<-")
        yield from (Stores(pointer, term) for term in self._terms())

    def _terms(self) -> Iterator[Term]:
        yield self._term()
        while self._takes(","):
            yield self._term()

    def _term(self) -> Term:
        if len(self._words) > _MOST_WORDS:
            self._fail(f"an effect of at most {_MOST_WORDS} words")
        if self._takes("*"):
            return Contents(self._term())
        term = self._simple()
        while self._peek() in ("..", "."):
            if self._takes("."):
                term = Behind(term, self._number("a number of bytes"))
            else:
                self._takes("..")
                term = Anywhere(term, self._number() if _is_number(self._peek()) else None)
        return term

    def _simple(self) -> Term:
        word = self._peek()
        if self._takes("("):
            inner = self._term()
            self._expect(")")
            return inner
        if _is_number(word):
            position = self._number()
            return Following(position) if self._takes("+") else Argument(position)
        if word in _OF_ARGUMENT and self._takes(word):
            self._expect("[")
            position = self._number()
            self._expect("]")
            return _OF_ARGUMENT[word](position)
        if self._takes("text"):
            self._expect("[")
            term = self._term()
            self._expect("]")
            return Text(term)
        if self._takes("heap") or self._takes("exception"):
            return Heap(self._size(), word == "exception")
        if word.startswith("&") and len(word) > 1:
            self._at += 1
            return Code(word[1:])
        if word in _NAMES or word.startswith("@"):
            self._at += 1
            return Named(word)
        self._fail("a term")

    def _size(self) -> tuple[int, ...]:
        if not self._takes("["):
            return ()
        factors = [self._number()]
        while self._takes("*"):
            factors.append(self._number())
        self._expect("]")
        return tuple(factors)

    def _shared(self) -> str:
        word = self._peek()
        if not word.startswith("@"):
            self._fail("a name such as '@handlers'")
        self._at += 1
        return word

    def _number(self, wanted: str = "the number of an argument") -> int:
        word = self._peek()
        if not _is_number(word) or len(word.lstrip("0")) > _DIGITS:
            self._fail(wanted)
        self._at += 1
        return int(word)

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            self._fail(f"'{word}'")

    def _takes(self, word: str) -> bool:
        """Return whether a word comes next, and pass it if it does."""
        is_next = self._peek() == word
        self._at += is_next
        return is_next

    def _peek(self) -> str:
        return self._words[self._at][0]

    def _fail(self, wanted: str) -> NoReturn:
        word, column = self._words[self._at]
        found = f"'{word}'" if word else "the end"
        raise _error(self._file, self._line, column, f"{found} stands where {wanted} should")


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _error(file: str, line: int, column: int, message: str) -> SourceError:
    return SourceError(Span(file, line, column), "points-to/bad-model", message)
