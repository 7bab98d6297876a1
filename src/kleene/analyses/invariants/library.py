"""What functions outside of the program do, as far as numbers and memory go: a table of models.

A line has names and effects: `read: fills $1 [$2]; result -1 .. $2`. `$k` is the k-th argument,
`room $k` the number of bytes from the place that it points to until the end of the object there,
`length $k` that of the string there.

    fails                 reports an error: the run was wrong to come here
    stops                 does not come back
    assumes               goes on only if its first argument is not 0
    checks                fails if its first argument is 0
    returns $k            returns that argument; `returns $k or null`
    returns inside $k     returns null, or a place in the object that the argument points to
    returns heap [n]      returns null, or a new object of n bytes; `zeros [n]` if these are 0
    reads $k [n]          reads n bytes at the argument: these are inside of an object
    writes $k [n]         writes n bytes there
    writes $k [n] with $j all of them are the value of $j
    fills $k [n]          writes n bytes there, or fewer
    fills … until $j*result   as many as the result says, each of so many bytes; `until result`
    reads $k              as many bytes as there are until something ends it: a string, which is
                          assumed to end inside of its object
    fills $k [any]        writes nobody knows how many bytes there
    fills $k? [n]         the argument may be null, and nothing is written then
    frees $k              ends the object that the argument points to
    keeps $k              a pointer to the object there is found in memory afterwards
    prints $k             writes what the format $k and the arguments behind it tell
    prints $k to $0       writes it to $0, with a null byte behind it
    scans $k              reads what the format $k tells into the arguments behind it
    result a .. b         returns an integer from a to b
    measures $k           returns the length of the string there
    string $k is n        there is a string of the length n afterwards
    string $k below n     there is one of less than n bytes, unless null is returned
    string $k copies $j [n]   there is the string of $j, if it has less than n bytes
    computes f            returns the result of the operation f of `FloatInterval`; of `class`,
                          whether $0 is of one of the classes that are bits of $1

A line that begins with `math` is also about the functions for `float` and `long double` (`sinf`,
`sinl`), and about LLVM's (`llvm.sin.f64`).

A function with a model writes to nothing else than what its model says, and keeps no pointers.
Functions without a model return anything, and write to everything they can reach; so do those whose
format is no constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kleene.base.arrays import I64
from kleene.ir import Program
from kleene.ir.codes import Flag, GlobalFlag, Opcode
from kleene.ir.views import Constant

_TABLE = """
__assert_fail __assert __assert_rtn reach_error __VERIFIER_error: fails
abort exit _exit _Exit quick_exit longjmp siglongjmp llvm.trap: stops
__VERIFIER_assume kleene_assume llvm.assume: assumes
__VERIFIER_assert kleene_check: checks
malloc: returns heap [$0]
calloc: returns zeros [$0*$1]
aligned_alloc memalign: returns heap [$1]
realloc: frees $0; returns heap [$1]
free: frees $0
llvm.dbg llvm.lifetime __VERIFIER_nondet: nothing
llvm.expect: returns $0

memcpy memmove __memcpy_chk __memmove_chk: writes $0 [$2]; reads $1 [$2]; returns $0; \
string $0 copies $1 [$2]
llvm.memcpy llvm.memmove: writes $0 [$2]; reads $1 [$2]; string $0 copies $1 [$2]
memset __memset_chk: writes $0 [$2] with $1; returns $0
llvm.memset: writes $0 [$2] with $1
memcmp bcmp: reads $0 [$2]; reads $1 [$2]
memchr: reads $0; returns inside $0
bzero: writes $0 [$1]

strlen: reads $0; result 0 .. room $0 - 1; measures $0
strnlen: reads $0; result 0 .. $1
strcmp strcasecmp strcoll: reads $0; reads $1
strncmp strncasecmp: reads $0; reads $1
strchr strrchr strpbrk: reads $0; returns inside $0
strstr: reads $0; reads $1; returns inside $0
strspn strcspn: reads $0; reads $1; result 0 .. room $0 - 1
strcpy __strcpy_chk: fills $0 [length $1 + 1]; reads $1; returns $0; string $0 is length $1
stpcpy __stpcpy_chk: fills $0 [length $1 + 1]; reads $1; returns inside $0; \
string $0 is length $1
strcat __strcat_chk: fills $0 [length $0 + length $1 + 1]; reads $0; reads $1; returns $0; \
string $0 is length $0 + length $1
strncat __strncat_chk: fills $0 [any]; reads $0; reads $1; returns $0
strncpy __strncpy_chk: writes $0 [$2]; reads $1; returns $0
stpncpy __stpncpy_chk: writes $0 [$2]; reads $1; returns inside $0
atoi atol atoll atof: reads $0
strtol strtoul strtoll strtoull strtod strtof: reads $0; fills $1? [8]; keeps $0
__isoc23_strtol __isoc23_strtoul __isoc23_strtoll: reads $0; fills $1? [8]; keeps $0
__isoc23_strtoull: reads $0; fills $1? [8]; keeps $0

read pread pread64: fills $1 [$2] until result; result -1 .. $2
recv: fills $1 [$2]
write pwrite send: reads $1 [$2]; result -1 .. $2
fread: fills $0 [$1*$2] until $1*result; result 0 .. $2
fwrite: reads $0 [$1*$2]; result 0 .. $2
fgets: fills $0 [$1]; returns $0 or null; string $0 below $1
gets: fills $0 [any]; returns $0 or null
printf vprintf: prints $0
fprintf dprintf vfprintf vdprintf __printf_chk __vprintf_chk: prints $1
__fprintf_chk __vfprintf_chk: prints $2
snprintf vsnprintf: prints $2; fills $0? [$1]; string $0 below $1
__snprintf_chk __vsnprintf_chk: prints $4; fills $0? [$1]; string $0 below $1
sprintf vsprintf: prints $1 to $0
__sprintf_chk __vsprintf_chk: prints $3 to $0
scanf __isoc99_scanf __isoc23_scanf: scans $0
fscanf __isoc99_fscanf __isoc23_fscanf sscanf __isoc99_sscanf __isoc23_sscanf: scans $1
getchar getc fgetc getchar_unlocked getc_unlocked: result -1 .. 255
putchar putc fputc: result -1 .. 255
puts fputs: reads $0
fflush fclose close: nothing

toupper tolower: result -128 .. 255
isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper: nothing
isxdigit: nothing
rand random: result 0 .. 2147483647
rand_r: fills $0 [4]; result 0 .. 2147483647
srand srandom: nothing
time: fills $0? [8]

math sqrt fabs floor ceil trunc round roundeven rint fmin fmax copysign fma: computes itself
math nearbyint: computes rint
llvm.fmuladd.: computes fma
llvm.is.fpclass.: computes class
llvm.minnum. llvm.minimum. llvm.minimumnum.: computes fmin
llvm.maxnum. llvm.maximum. llvm.maximumnum.: computes fmax
fmod fmodf fmodl: computes rem
math sin cos tanh erf exp exp2 exp10 cosh asin acos atan atan2 hypot log log2 log10: computes itself
math tan sinh asinh acosh atanh log1p expm1 cbrt pow fdim erfc: nothing
math remainder tgamma ldexp scalbn scalbln nextafter logb: nothing
lround lroundf llround llroundf lrint lrintf llrint llrintf ilogb ilogbf: nothing
frexp frexpf: fills $1 [4]
modf: fills $1 [8]
modff: fills $1 [4]
clock: result -1 .. 9223372036854775807
"""
_WHATEVER_THEY_DO = ("reach_error", "__VERIFIER_error", "kleene_assume", "kleene_check")
_FAMILIES = ("llvm.", "__VERIFIER_nondet")  # names of the table that others begin with
_BOUND = re.compile(r"(?:room \$(\d+)|((?:\$\d+\*?)+))? ?(-? ?\d+)?")


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
        size: how many bytes; None where that is not told.
        is_write: whether they are written.
        is_exact: whether all of them are touched, or perhaps fewer.
        may_be_null: whether the argument may be null.
        has_end: whether something ends it inside of its object, if there is no size.
        content: the argument that all bytes become.
        until: the arguments that, times the result, say how many bytes are written; None if those
            of `size` are.
    """

    argument: int
    size: Bound | None
    is_write: bool
    is_exact: bool
    may_be_null: bool = False
    has_end: bool = True
    content: int | None = None
    until: tuple[int, ...] | None = None


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
        heap: the bytes that it allocates.
        is_zero: whether these are 0.
        frees: the argument whose object it ends.
        keeps: the argument whose object memory points to afterwards.
        format: the argument that is a format, for the arguments behind it.
        is_scan: whether that format tells what is read into these.
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
    is_zero: bool = False
    frees: int | None = None
    keeps: int | None = None
    format: int | None = None
    is_scan: bool = False
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


def _bound(text: str) -> Bound:
    if text.startswith("length"):
        *lengths, last = text.split(" + ")
        if not last.isdigit():
            lengths, last = [*lengths, last], "0"
        return Bound(int(last), lengths=tuple(int(one.split("$")[1]) for one in lengths))
    found = _BOUND.fullmatch(text.strip())
    assert found is not None, text
    room, arguments, constant = found.groups()
    numbers = tuple(int(one) for one in re.findall(r"\d+", arguments or ""))
    return Bound(int((constant or "0").replace(" ", "")), numbers, int(room) if room else None)


def _with(model: Model, effect: str) -> Model:
    """Return a model with one more effect."""
    word, _, rest = effect.strip().partition(" ")
    if word == "nothing":
        return model
    if word in ("fails", "stops", "assumes", "checks"):
        return replace(model, effect=word)
    if word == "result":
        low, high = rest.split(" .. ")
        return replace(model, result=(_bound(low), _bound(high)))
    if word == "computes":
        return replace(model, computes=rest)
    place = re.search(r"\$(\d+)", rest)
    size = re.search(r"\[(.*)\]", rest)
    is_any = size is not None and size[1] == "any"
    given = _bound(size[1]) if size and not is_any else None
    if word == "string":
        assert place is not None
        how, _, more = rest.partition(" ")[2].partition(" ")
        source = re.match(r"\$(\d+) ", more) if how == "copies" else None
        bound = given if source else _bound(more)
        assert bound is not None
        made = MadeString(int(place[1]), how, bound, int(source[1]) if source else -1)
        return replace(model, string=made)
    if rest.startswith(("heap", "zeros")):
        return replace(model, heap=given, is_zero=rest.startswith("zeros"))
    assert place is not None, effect
    argument = int(place[1])
    if word == "returns":
        is_inside = rest.startswith("inside")
        may_be_null = is_inside or rest.endswith("or null")
        return replace(model, returns=argument, is_inside=is_inside, may_be_null=may_be_null)
    if word == "frees":
        return replace(model, frees=argument)
    if word == "measures":
        return replace(model, measures=argument)
    if word == "keeps":
        return replace(model, keeps=argument)
    if word in ("prints", "scans"):
        goes_to = 0 if rest.endswith("to $0") else None
        return replace(model, format=argument, is_scan=word == "scans", prints_to=goes_to)
    assert word in ("reads", "writes", "fills"), effect
    content = re.search(r"with \$(\d+)", rest)
    touch = Touch(argument, given, word != "reads", word != "fills", "?" in rest, not is_any)
    if content is not None:
        touch = replace(touch, content=int(content[1]))
    until = re.search(r"until (?:\$(\d+)\*)?result", rest)
    if until is not None:
        touch = replace(touch, until=(int(until[1]),) if until[1] else ())
    return replace(model, touches=(*model.touches, touch))


@cache
def models() -> dict[str, Model]:
    """Return the models of the table, by name."""
    found = {}
    for line in _TABLE.strip().splitlines():
        names, _, effects = line.partition(": ")
        model = PURE
        for effect in effects.split(";") if effects else ():
            model = _with(model, effect)
        if not names.startswith("math "):
            found.update(dict.fromkeys(names.split(), model))
            continue
        for name in names.split()[1:]:
            own = replace(model, computes=name) if model.computes == "itself" else model
            found.update(dict.fromkeys((name, f"{name}f", f"{name}l", f"llvm.{name}."), own))
    return found


def model_of(program: Program, callee: int) -> Model:
    """Return what a call does, from whom it calls; a function with a body has no model."""
    if callee >= len(program.globals) or (row := int(program.globals.function[callee])) < 0:
        return UNKNOWN
    offsets = program.function_table.block_offsets
    name = program.strings[int(program.globals.name[callee])]
    if offsets[row] < offsets[row + 1] and name not in _WHATEVER_THEY_DO:
        return UNKNOWN
    found = models().get(name)
    if found is not None:
        return found
    if name.startswith(_FAMILIES):
        for known, model in models().items():
            if known.startswith(_FAMILIES) and name.startswith(known):
                return model
    flags = int(program.globals.flags[callee])
    if flags & GlobalFlag.NORETURN:
        return STOP
    return PURE if flags & (GlobalFlag.READ_NONE | GlobalFlag.READ_ONLY) else UNKNOWN


def calls_by_model(program: Program) -> list[tuple[Model, I64]]:
    """Return the models of functions that are called by name, and the calls of each."""
    table = program.instructions
    calls = np.flatnonzero(np.isin(table.opcode, (Opcode.CALL, Opcode.INVOKE)))
    callee = table.operands[table.offsets[calls]].astype(np.int64)
    calls, callee = calls[callee < len(program.globals)], callee[callee < len(program.globals)]
    order = np.argsort(callee, kind="stable")
    called, first = np.unique(callee[order], return_index=True)
    parts = np.split(calls[order], first[1:]) if len(called) else []
    found: list[tuple[Model, I64]] = []
    for one, rows in zip(called.tolist(), parts, strict=True):
        model = model_of(program, one)
        if model.format is None:
            found.append((model, rows))
            continue
        by_format: dict[Model, list[int]] = {}
        for row in rows.tolist():
            given = table.operands_of(row)[1:].tolist()
            text = text_of(program, given[model.format]) if model.format < len(given) else None
            by_format.setdefault(with_format(model, text), []).append(row)
        found += [(each, np.array(mine, np.int64)) for each, mine in by_format.items()]
    return found


def is_noreturn(flags: int) -> bool:
    """Return whether a call instruction says that it does not come back."""
    return bool(flags & Flag.NORETURN)


# Formats


def text_of(program: Program, value: int) -> str | None:
    """Return the text that a constant pointer points to the start of."""
    if not 0 <= value < len(program.globals):
        return None
    initializer = int(program.globals.initializer[value])
    view = program.value_view(initializer) if initializer >= 0 else None
    if not isinstance(view, Constant) or view.string is None or b"\0" not in view.string:
        return None
    return view.string.split(b"\0")[0].decode("latin-1")


_LENGTHS = {"hh": 1, "h": 2, "": 4, "l": 8, "ll": 8, "z": 8, "j": 8, "t": 8, "q": 8, "L": 16}
_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<star>\*)?(?P<width>\d+)?(?:\.(?P<exact>\d+|\*)?)?"
    r"(?P<length>hh|h|ll|l|z|j|t|q|L)?(?P<kind>\[\^?\]?[^\]]*\]|[a-zA-Z%])"
)


def with_format(model: Model, text: str | None) -> Model:
    """Return the model of a call whose format is a constant; one that is none tells nothing."""
    if model.format is None:
        return model
    unknown = UNKNOWN
    if model.prints_to is not None:
        unknown = replace(
            unknown, touches=(Touch(model.prints_to, None, True, False, False, False),)
        )
    conversions = None if text is None else list(_CONVERSION.finditer(text))
    if (
        text is None
        or conversions is None
        or text.count("%") != sum(one[0].count("%") for one in conversions)
    ):
        return unknown
    if model.is_scan:
        return _scanned(model, conversions)
    if any(one["kind"] == "n" for one in conversions):
        return unknown
    if model.prints_to is None:
        return model
    n_bytes = _longest(text, conversions)
    touch = Touch(
        model.prints_to, None if n_bytes is None else Bound(n_bytes + 1), True, False, has_end=False
    )
    return replace(model, touches=(*model.touches, touch))


def _scanned(model: Model, conversions: list[re.Match[str]]) -> Model:
    """Return what the conversions of a format write: `%d` 4 bytes, `%9s` 10 at most, `%s` any."""
    assert model.format is not None
    argument, touches, n_counted = model.format, [], 0
    for one in conversions:
        kind = one["kind"]
        if kind == "%" or one["star"]:
            continue
        argument += 1
        n_counted += kind != "n"
        size: int | None = 8 if kind == "p" else _LENGTHS[one["length"] or ""]
        if kind in "aAeEfFgG":
            size = {"": 4, "l": 8, "L": 16}.get(one["length"] or "")
        elif kind in "cCsS" or kind[0] == "[":
            is_wide = one["length"] == "l" or kind in "CS"
            units = None if kind != "c" and one["width"] is None else int(one["width"] or 1)
            size = None if units is None or is_wide else units + (kind != "c")
        bound = None if size is None else Bound(size)
        touches.append(Touch(argument, bound, True, False, has_end=False))
    result = Bound(-1), Bound(n_counted)
    return replace(model, touches=tuple(touches), result=result)


def _longest(text: str, conversions: list[re.Match[str]]) -> int | None:
    """Return how many bytes a format prints at most, if that is known: `%d` at most 11."""
    n_bytes = len(text) - sum(len(one[0]) for one in conversions)
    for one in conversions:
        bits = 8 * _LENGTHS[one["length"] or ""]
        kind, exact = one["kind"], one["exact"]
        if one["star"] or exact == "*":
            return None
        if kind == "%":
            longest: int | None = 1
        elif kind == "c" and not one["length"]:
            longest = 1
        elif kind in "di":
            longest = max(len(str(1 << bits - 1)), int(exact or 0)) + 1
        elif kind in "uxXo":
            digits = len(format((1 << bits) - 1, kind.replace("u", "d")))
            longest = max(digits, int(exact or 0)) + 2  # with 0x in front
        elif kind == "p":
            longest = 18
        elif kind == "s" and exact is not None and not one["length"]:
            longest = int(exact)
        else:
            longest = None
        if longest is None or "'" in one["flags"]:
            return None
        n_bytes += max(longest, int(one["width"] or 0))
    return n_bytes
