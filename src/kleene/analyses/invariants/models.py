"""What a call of a function outside of the program does, as `library` says it and `formats`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that arguments give, plus a constant.

    It is their product, or the room behind one, or the sum of the lengths of strings.
    """

    constant: int
    arguments: tuple[int, ...] = ()
    room: int | None = None
    lengths: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Touch:
    """Bytes that a call reads or writes, at one argument.

    Attributes:
        argument: its number.
        size: how many bytes; None of a string, or where that is not told.
        is_write: whether they are written.
        is_exact: whether all of them are touched, or perhaps fewer.
        may_be_null: whether the argument may be null.
        has_end: whether something ends it inside of its object, if there is no size.
        content: the argument that all bytes become.
        until: the arguments that, times the result, say how many bytes are written; None if those
            of `size` are.
        limit: no more of a string are read than so many.
    """

    argument: int
    size: Bound | None
    is_write: bool
    is_exact: bool
    may_be_null: bool = False
    has_end: bool = True
    content: int | None = None
    until: tuple[int, ...] | None = None
    limit: Bound | None = None

    @property
    def is_string(self) -> bool:
        """Whether a string is read."""
        return self.size is None and self.has_end and not self.is_write


@dataclass(frozen=True, slots=True)
class MadeString:
    """The string that is at an argument behind a call.

    Attributes:
        argument: its number.
        how: "is": it is as long as `bound`; "below": it is shorter, unless null is returned;
            "copies": it is that of `source`, if that is shorter.
        bound: the length.
        source: the argument that is copied.
    """

    argument: int
    how: str
    bound: Bound
    source: int = -1


@dataclass(frozen=True, slots=True)
class Model:
    """What a call of a function does.

    Attributes:
        effect: "fails", "stops", "assumes" or "checks", or nothing of these.
        returns: the argument that it returns.
        is_inside: whether it returns another place of the object that this argument points to.
        may_be_null: whether it may return null instead.
        heap: the bytes that it allocates; a string, if there are lengths of one in it.
        heap_limit: the most bytes of that string.
        is_zero: whether these are 0.
        always_allocates: whether it never returns null instead.
        place: at least so many bytes are behind the pointer that it returns, of the library's own.
        reuses_place: whether earlier calls may have returned the same place, with other contents.
        frees: the argument whose object it ends.
        keeps: the argument whose object memory points to afterwards.
        format: the argument that is a format, for the arguments behind it.
        is_scan: whether that format tells what is read into these.
        has_list: whether these are in a `va_list`.
        prints_to: the argument that the text goes to.
        touches: the memory that it reads and writes.
        result: the least and the greatest value that it returns.
        measures: the argument whose string's length it returns.
        string: the string that it makes.
        computes: the operation of `FloatInterval` that it returns the result of.
        is_unknown: whether it may write to all that it can reach, besides.
    """

    effect: str = ""
    returns: int | None = None
    is_inside: bool = False
    may_be_null: bool = False
    heap: Bound | None = None
    heap_limit: Bound | None = None
    is_zero: bool = False
    always_allocates: bool = False
    place: int | None = None
    reuses_place: bool = False
    frees: int | None = None
    keeps: int | None = None
    format: int | None = None
    is_scan: bool = False
    has_list: bool = False
    prints_to: int | None = None
    touches: tuple[Touch, ...] = ()
    result: tuple[Bound, Bound] | None = None
    measures: int | None = None
    string: MadeString | None = None
    computes: str = ""
    is_unknown: bool = False

    @property
    def is_copy(self) -> bool:
        """Whether the result is one of the arguments and nothing else."""
        return self.returns is not None and not (self.may_be_null or self.is_inside)


UNKNOWN = Model(is_unknown=True)
PURE = Model()
STOP = Model("stops")
