"""Do the alias assertions of a program hold? Calls such as `MAYALIAS(p, q)` state what is expected.

Points-to analyses are may-analyses: they can refute that two pointers alias, not prove it. So
suites of such assertions count a MAYALIAS, PARTIALALIAS or MUSTALIAS as passed if the two are not
found apart, a NOALIAS if they are, and an EXPECTEDFAIL_X if X is not established. `answer` says
more where more is known: "must" is a proof.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kleene.base.errors import SourceError, raise_all
from kleene.ir import Call, Global, Program, Value
from kleene.ir.codes import Opcode, TypeKind

_ALIASED = ("may", "must")
_PASSING = {
    "MAYALIAS": _ALIASED,
    "MUSTALIAS": _ALIASED,
    "PARTIALALIAS": _ALIASED,
    "NOALIAS": ("no",),
    "EXPECTEDFAIL_MAYALIAS": ("no",),
    "EXPECTEDFAIL_NOALIAS": _ALIASED,
}
_SYMBOL = re.compile(r"(?:_Z\d+)?([A-Z_]*ALIAS)(?:[PKvS0_]*)")  # in C, or mangled by C++
Judge = Callable[[int, int], str]


@dataclass(frozen=True, slots=True)
class Check:
    """An assertion of the program and what the analysis says of it."""

    kind: str
    place: str  # file:line:column, or the function where there is no debug information
    function: str
    left: str
    right: str
    answer: str  # "no", "may" or "must"

    @property
    def passed(self) -> bool:
        """Whether the analysis gives the answer that is asserted."""
        return self.answer in _PASSING[self.kind]

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        what = f"{self.kind}({self.left}, {self.right})"
        return f"{self.place}: {verdict}: {what}: {self.answer} alias"

    def as_json(self) -> dict[str, object]:
        """Return the check as plain data."""
        return {
            "kind": self.kind,
            "place": self.place,
            "function": self.function,
            "left": self.left,
            "right": self.right,
            "answer": self.answer,
            "passed": self.passed,
        }


def checks_of(
    program: Program, judge: Judge, name: Callable[[int], str], place: Callable[[int], str | None]
) -> list[Check]:
    """Return every alias assertion of a program, judged, in the program's order.

    Raises:
        SourceError: an assertion has other arguments than two pointers (`points-to/bad-check`).
    """
    found = sorted(_assertions(program), key=lambda assertion: assertion[1].id)
    raise_all(error for kind, call in found if (error := _fault(kind, call)) is not None)
    return [
        Check(
            kind,
            place(call.id) or call.function.name,
            call.function.name,
            left=name(call.arguments[0].id),
            right=name(call.arguments[1].id),
            answer=_answer(judge, *call.arguments),
        )
        for kind, call in found
    ]


def _assertions(program: Program) -> Iterator[tuple[str, Call]]:
    for function in program.functions:
        found = _SYMBOL.fullmatch(function.name)
        kind = found[1] if found else ""
        for user in function.value.users if kind in _PASSING else ():
            if isinstance(user, Call) and user.callee == function.value:
                yield kind, user


def _fault(kind: str, call: Call) -> SourceError | None:
    arguments = call.arguments
    types = [str(argument.type) for argument in arguments]
    if len(arguments) == 2 and all(a.type.kind == TypeKind.POINTER for a in arguments):
        return None
    message = f"{kind} takes two pointers, not ({', '.join(types)})"
    note = f"declare it before use: void {kind}(void *, void *);"
    return SourceError(call.span, "points-to/bad-check", message, note)


def _answer(judge: Judge, left: Value, right: Value) -> str:
    """Return how two values alias; one value, cast or not, is one address."""
    plain, other = _stripped(left), _stripped(right)
    is_constant = not isinstance(plain, Global) and plain.kind.name == "CONSTANT"
    if plain == other and not is_constant:
        return "must"
    return judge(left.id, right.id)


def _stripped(value: Value) -> Value:
    """Return what a value is before casts that keep the address."""
    while getattr(value, "opcode", None) in (Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE):
        value = value.operands[0]  # type: ignore[attr-defined]
    return value
