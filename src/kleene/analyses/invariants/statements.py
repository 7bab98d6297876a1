"""Where the statements of a C source begin, and which declarations reach them, by its tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<gap>\s+|//(?:[^\n\\]|\\.)*|/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<word>\w+)|(?P<sign>.)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_BRANCH = re.compile(r"\s*#\s*(?:(if(?:n?def)?)|(el(?:se|if\w*))|endif)\b")
_NOT_STATEMENTS = ("else", "case", "default", ")", "}", "]")


class Place(NamedTuple):
    """Where a statement begins: line and column from 1, its first word, the blocks around it.

    Its lines go on to `last`, where the first semicolon or brace outside parentheses stands.
    """

    line: int
    column: int
    word: str
    scope: tuple[int, ...]
    last: int


class Shape:
    """Where statements of a source begin, and which declarations reach them.

    A scope is the chain of braces, and of `for` statements, that are open. The scope of a `for`
    without braces ends with the next semicolon: too early at times, but never too late. Each branch
    of `#if` goes on from what is in front of it, and what comes behind all from the last one.
    """

    def __init__(self, text: str) -> None:
        self.statements: dict[int, Place] = {}
        self.scopes: list[tuple[int, tuple[int, ...]]] = []  # from an offset on
        self._text = text
        self._starts = [0, *(one.end() for one in re.finditer("\n", text))]
        self._read(text)

    def _read(self, text: str) -> None:
        stack: list[tuple[str, int]] = []  # what is open: its kind and its offset
        before, n_dos, closed = ";", 0, ""
        words: set[str] = set()
        open_line = 0  # of the statement whose end has not come yet
        branches = []  # what was so in front of each `#if` that is open
        for token in _TOKEN.finditer(text):
            if token.lastgroup == "directive":
                found = _BRANCH.match(token[0])
                if found is not None and found[1]:
                    branches.append((list(stack), before, n_dos, closed, words, open_line))
                elif found is not None and found[2] and branches:
                    stack[:], before, n_dos, closed, words, open_line = branches[-1]
                elif found is not None and branches:
                    branches.pop()
            if token.lastgroup in ("gap", "directive"):
                continue
            word, at = token[0], token.start()
            is_inside = bool(stack) and all(kind in ("code", "do", "for") for kind, _ in stack)
            if (
                is_inside
                and before in ";{}"
                and not (word == "while" and (n_dos or closed == "do"))
            ):
                open_line = self._statement(at, word, text, stack) or open_line
            if word == "while" and n_dos and before == ";":
                n_dos -= 1
            if before == "do" and word != "{":
                n_dos += 1
            closed = ""
            if word == "for":
                stack.append(("for", at))
            elif word == "(":
                stack.append(("(", at))
            elif word in ")]":
                if stack and stack[-1][0] in "([":
                    stack.pop()
            elif word == "[":
                stack.append(("[", at))
            elif word == "{":
                is_data = before in ("=", ",", "(", "return") or (
                    bool(words & {"struct", "union", "enum"}) and before != ")"
                )
                if stack and stack[-1][0] == "data":
                    is_data = True
                stack.append(("data" if is_data else "do" if before == "do" else "code", at))
            elif word == "}":
                while stack and stack[-1][0] in ("for", "(", "["):
                    stack.pop()
                closed = stack.pop()[0] if stack else ""
                while stack and stack[-1][0] == "for":
                    stack.pop()
            elif word == ";":
                while stack and stack[-1][0] == "for":
                    stack.pop()
            words = set() if word in ";{}" else words | {word}
            before = word
            if word in ";{}" and all(kind in ("code", "do", "for") for kind, _ in stack):
                if open_line:
                    place = self.statements[open_line]
                    self.statements[open_line] = place._replace(last=self._line(at))
                open_line = 0
            scope = tuple(place for kind, place in stack if kind not in "([")
            self.scopes.append((token.end(), scope))

    def _statement(self, at: int, word: str, text: str, stack: list[tuple[str, int]]) -> int:
        """Add the statement of a token if it is the first of its line; return the line, else 0."""
        line = self._line(at)
        start = self._starts[line - 1]
        is_label = re.match(r"\w+\s*:(?!:)", text[at:]) is not None
        if text[start:at].strip() or word in _NOT_STATEMENTS or is_label:
            return 0
        scope = tuple(place for _, place in stack)
        self.statements[line] = Place(line, at - start + 1, word, scope, len(self._starts))
        return line

    def _line(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def offset(self, place: Place) -> int:
        """Return how many characters are in front of a place."""
        return self._starts[place.line - 1] + place.column - 1

    def is_indirect(self, line: int, name: str) -> bool:
        """Return whether a line declares a reference of C++ or an array, so far as its text tells.

        Of an array with one element the name is a pointer, and of a reference what it refers to.
        """
        pattern, (start, end) = re.escape(name), self._line_ends(line)
        return re.search(rf"&\s*{pattern}\b|\b{pattern}\s*\[", self._text[start:end]) is not None

    def scope_of(self, line: int, name: str) -> tuple[int, ...]:
        """Return the scope of a declaration: the innermost in which its line has the name."""
        scopes = [self.scopes[place - 1][1] if place else () for place in self._places(line, name)]
        return max([(), *scopes], key=len)

    def is_inside_function(self, line: int, parameter: str, scope: tuple[int, ...]) -> bool:
        """Return whether a scope is in the function that a line declares a parameter of.

        The body is the first scope that opens behind the parameter.
        """
        for place in self._places(line, parameter):
            around = self.scopes[place - 1][1] if place else ()
            behind = (one for _, one in self.scopes[place:] if one[: len(around)] == around)
            body = next((one for one in behind if len(one) > len(around)), None)
            if body is not None and scope[: len(around) + 1] == body[: len(around) + 1]:
                return True
        return False

    def _places(self, line: int, name: str) -> list[int]:
        """Return how many tokens end in front of each place of a line that has a name."""
        start, end = self._line_ends(line)
        found = re.finditer(rf"\b{re.escape(name)}\b", self._text[start:end])
        return [bisect_right(self.scopes, start + one.start(), key=itemgetter(0)) for one in found]

    def _line_ends(self, line: int) -> tuple[int, int]:
        end = self._starts[line] if line < len(self._starts) else len(self._text)
        return self._starts[min(line, len(self._starts)) - 1], end
