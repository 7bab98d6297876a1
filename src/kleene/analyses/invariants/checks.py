"""What is asked at places of a program, and the answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from kleene.base.errors import Span

UNKNOWN_OBJECT = "it is not known which object"  # and what points there
NOTHING_KNOWN = "nothing is known of it when the function is entered"


class CheckKind(StrEnum):
    """What a check is about."""

    ASSERT = "assert"  # an assertion holds; a call that reports an error is not reached
    OVERFLOW = "overflow"  # a signed operation does not overflow
    DIVISION = "division"  # no division by zero
    SHIFT = "shift"  # a shift is by at least 0 and less than the width
    CONVERSION = "conversion"  # a floating-point number fits the integer it is converted to
    BOUNDS = "bounds"  # an access stays inside of its object
    NULL = "null"  # an access is not through a null pointer
    UNINITIALISED = "uninitialised"  # what is read was written before
    FREED = "freed"  # storage that is used, or freed, was not freed before
    DEAD_CODE = "dead-code"  # some run comes here; asked only if it is named


class Verdict(StrEnum):
    """The answer to a check, for all runs."""

    SAFE = "safe"  # no run fails here
    MAY_FAIL = "may fail"  # not proved
    FAILS = "fails always"  # every run that comes here fails
    UNREACHABLE = "unreachable"  # no run comes here


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check and its answer.

    Attributes:
        kind: what it is about.
        verdict: the answer.
        span: where it is.
        function: the function that it stands in.
        message: what was asked, as a sentence without its full stop.
        proved_by: the domains that gave the answer; empty where it may fail.
        state: what was known where it may fail.
        instruction: its row in the IR.
        loss: what `lost` is, or what finds it when it is asked for.
    """

    kind: CheckKind
    verdict: Verdict
    span: Span | None
    function: str
    message: str
    proved_by: str
    state: str
    instruction: int
    loss: str | Callable[[], str] = field(default="", repr=False, compare=False)

    @property
    def lost(self) -> str:
        """The first constraint that would have proved it and was lost, where, and why.

        Empty where it is proved.
        """
        if self.is_proved:
            return ""
        return self.loss if isinstance(self.loss, str) else self.loss()

    @property
    def is_unknown(self) -> bool:
        """Whether it may fail only because nothing is known of a pointer from outside."""
        if self.verdict is not Verdict.MAY_FAIL:
            return False
        is_given = self.kind is CheckKind.NULL and self.lost.endswith(NOTHING_KNOWN)
        return is_given or self.lost.startswith(UNKNOWN_OBJECT)

    @property
    def is_proved(self) -> bool:
        """Whether no run fails here."""
        return self.verdict in (Verdict.SAFE, Verdict.UNREACHABLE)

    def __str__(self) -> str:
        head = f"{self.span}: " if self.span else ""
        by = f" ({self.proved_by})" if self.proved_by else ""
        return f"{head}{self.kind.value}: {self.verdict.value}: {self.message}{by}"


@dataclass(frozen=True, slots=True)
class Origin:
    """What leaves checks of a whole program open.

    Attributes:
        text: what it is.
        place: its file and line, if it has one.
        counts: how many checks of each kind it leaves open.
    """

    text: str
    place: tuple[str, int] | None
    counts: dict[str, int]

    @property
    def n_checks(self) -> int:
        """How many checks it leaves open."""
        return sum(self.counts.values())
