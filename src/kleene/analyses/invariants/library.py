"""What functions outside of the program do, as far as numbers and memory go: a table of models.

A line has names and effects: `read: fills $1 [$2]; result -1 .. $2`. `$k` is the k-th argument,
`room $k` the number of bytes from the place that it points to until the end of the object there,
`length $k` that of the string there.

    fails                 reports an error: the run was wrong to come here
    stops                 does not come back
    assumes               goes on only if its first argument is not 0
    checks                fails if its first argument is 0
    returns $k            returns that argument; `returns $k or null`
    returns inside $k     returns null, or a place in the object that the argument points to: in the
                          string there, its end included, if that is read
    returns heap [n]      returns null, or a new object of n bytes; `zeros [n]` if these are 0,
                          `always [n]` if it never returns null
    returns place [n]     returns a pointer to storage of the library's own, of n bytes or more;
                          `or null` if there may be none
    reuses                and what earlier calls have returned may change
    duplicates $k         returns null, or a new object with the string of $k, and of its size
    duplicates $k to [n]  with no more than n of its bytes, and 0
    reads $k [n]          reads n bytes at the argument: these are inside of an object; `[0]` says
                          that it is not null
    writes $k [n]         writes n bytes there
    writes $k [n] with $j all of them are the value of $j
    fills $k [n]          writes n bytes there, or fewer
    fills … until $j*result   as many as the result says, each of so many bytes; `until result`
    searches $k [n]       reads n bytes there, or fewer
    reads $k              reads a string: it ends inside of its object, which is checked where the
                          object and its size are known, and assumed elsewhere
    reads $k to [n]       reads a string there, but no more than n bytes
    fills $k [any]        writes nobody knows how many bytes there
    fills $k? [n]         the argument may be null, and nothing is written then
    frees $k              ends the object that the argument points to
    keeps $k              a pointer to the object there is found in memory afterwards
    prints $k             writes what the format $k and the arguments behind it tell: strings, too;
                          `prints list $k` if these are a `va_list`
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
from dataclasses import replace
from functools import cache

import numpy as np

from kleene.analyses.invariants.formats import text_of, with_format
from kleene.analyses.invariants.models import (
    PURE,
    STOP,
    UNKNOWN,
    Bound,
    MadeString,
    Model,
    Touch,
)
from kleene.base.arrays import I64
from kleene.ir import Program
from kleene.ir.codes import ADDRESS_OPERAND, Flag, GlobalFlag, Opcode, ValueKind

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
_Znwm _Znwj _Znam _Znaj: returns always [$0]
_ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwjSt11align_val_t _ZnajSt11align_val_t: \
returns always [$0]
_ZnwmRKSt9nothrow_t _ZnwjRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnajRKSt9nothrow_t: returns heap [$0]
_ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t: returns heap [$0]
_ZdlPv _ZdaPv: frees $0
llvm.dbg llvm.lifetime __VERIFIER_nondet: nothing
llvm.expect: returns $0

memcpy memmove __memcpy_chk __memmove_chk: writes $0 [$2]; reads $1 [$2]; returns $0; \
string $0 copies $1 [$2]
llvm.memcpy llvm.memmove: writes $0 [$2]; reads $1 [$2]; string $0 copies $1 [$2]
memset __memset_chk: writes $0 [$2] with $1; returns $0
llvm.memset: writes $0 [$2] with $1
memcmp bcmp: reads $0 [$2]; reads $1 [$2]
memchr: searches $0 [$2]; returns inside $0
bzero: writes $0 [$1]

strlen: reads $0; result 0 .. room $0 - 1; measures $0
strnlen: reads $0 to [$1]; result 0 .. $1
strcmp strcasecmp strcoll: reads $0; reads $1
strncmp strncasecmp: reads $0 to [$2]; reads $1 to [$2]
strchr strrchr: reads $0; returns inside $0
strpbrk strstr: reads $0; reads $1; returns inside $0
strspn strcspn: reads $0; reads $1; result 0 .. room $0 - 1
strcpy __strcpy_chk: fills $0 [length $1 + 1]; reads $1; returns $0; string $0 is length $1
stpcpy __stpcpy_chk: fills $0 [length $1 + 1]; reads $1; returns inside $0; \
string $0 is length $1
strcat __strcat_chk: fills $0 [length $0 + length $1 + 1]; reads $0; reads $1; returns $0; \
string $0 is length $0 + length $1
strncat __strncat_chk: fills $0 [any]; reads $0; reads $1 to [$2]; returns $0
strncpy __strncpy_chk: writes $0 [$2]; reads $1 to [$2]; returns $0
stpncpy __stpncpy_chk: writes $0 [$2]; reads $1 to [$2]; returns inside $0
strdup __strdup: reads $0; duplicates $0
strndup __strndup: reads $0 to [$1]; duplicates $0 to [$1]
getenv secure_getenv: reads $0
atoi atol atoll atof: reads $0
strtol strtoul strtoll strtoull strtod strtof: reads $0; fills $1? [8]; keeps $0
__isoc23_strtol __isoc23_strtoul __isoc23_strtoll: reads $0; fills $1? [8]; keeps $0
__isoc23_strtoull: reads $0; fills $1? [8]; keeps $0

read pread pread64: fills $1 [$2] until result; result -1 .. $2
recv: fills $1 [$2]
write pwrite send: reads $1 [$2]; result -1 .. $2
fread: fills $0 [$1*$2] until $1*result; reads $3 [0]; result 0 .. $2
fwrite: reads $0 [$1*$2]; reads $3 [0]; result 0 .. $2
fgets: fills $0 [$1]; reads $2 [0]; returns $0 or null; string $0 below $1
gets: fills $0 [any]; returns $0 or null
printf: prints $0
fprintf: prints $1; reads $0 [0]
dprintf __printf_chk: prints $1
__fprintf_chk: prints $2; reads $0 [0]
snprintf: prints $2; fills $0? [$1]; string $0 below $1
__snprintf_chk: prints $4; fills $0? [$1]; string $0 below $1
sprintf: prints $1 to $0
__sprintf_chk: prints $3 to $0
vprintf: prints list $0
vfprintf: prints list $1; reads $0 [0]
vdprintf __vprintf_chk: prints list $1
__vfprintf_chk: prints list $2; reads $0 [0]
vsnprintf: prints list $2; fills $0? [$1]; string $0 below $1
__vsnprintf_chk: prints list $4; fills $0? [$1]; string $0 below $1
vsprintf: prints list $1 to $0
__vsprintf_chk: prints list $3 to $0
scanf __isoc99_scanf __isoc23_scanf: scans $0
fscanf __isoc99_fscanf __isoc23_fscanf: scans $1; reads $0 [0]
sscanf __isoc99_sscanf __isoc23_sscanf: scans $1; reads $0
getchar getchar_unlocked: result -1 .. 255
getc fgetc getc_unlocked: reads $0 [0]; result -1 .. 255
putchar: result -1 .. 255
putc fputc: reads $1 [0]; result -1 .. 255
ungetc: reads $1 [0]; result -1 .. 255
puts: reads $0
fputs: reads $0; reads $1 [0]
feof ferror clearerr rewind fileno ftell fseek fclose: reads $0 [0]
fflush close: nothing

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

__errno_location __h_errno_location: returns place [4]
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc: returns place [8]
strerror strsignal: returns place [1]; reuses
localtime gmtime: reads $0 [8]; returns place [56] or null; reuses
asctime: reads $0 [56]; returns place [26] or null; reuses
ctime: reads $0 [8]; returns place [26] or null; reuses
setlocale: returns place [1] or null; reuses
localeconv: returns place [96]; reuses
difftime: nothing
mktime timegm: fills $0 [56]
strftime: fills $0 [$1]; reads $2; reads $3 [56]; result 0 .. $1
gettimeofday: fills $0? [16]; fills $1? [8]; result -1 .. 0
clock_gettime: fills $1 [16]; result -1 .. 0
fopen fopen64: reads $0; reads $1; returns place [1] or null
fdopen: reads $1; returns place [1] or null
open open64 creat: reads $0; result -1 .. 2147483647
openat openat64: reads $1; result -1 .. 2147483647
lseek lseek64: nothing
dup dup2: result -1 .. 2147483647
isatty: result 0 .. 1
fsync fdatasync ftruncate ftruncate64 fchmod fchown: result -1 .. 0
unlink rmdir chdir access mkdir chmod chown remove: reads $0; result -1 .. 0
rename link symlink: reads $0; reads $1; result -1 .. 0
stat stat64 lstat lstat64: reads $0; fills $1 [144]; result -1 .. 0
fstat fstat64: fills $1 [144]; result -1 .. 0
readlink: reads $0; fills $1 [$2] until result; result -1 .. $2
pipe: fills $0 [8]; result -1 .. 0
getpid getppid: result 1 .. 2147483647
getuid geteuid getgid getegid umask sleep: nothing
"""
_GIVE_MEMORY = {"setbuf", "setvbuf", "setbuffer", "fmemopen", "open_memstream", "fopencookie"}
_STREAMS = ("stdin", "stdout", "stderr", "__stdinp", "__stdoutp", "__stderrp")
# What glibc's macros of <ctype.h> read: a pointer to its element 0, in a table of 384 elements from
# -128 on. Bytes in front of that element, and of the table.
CHARACTER_TABLES = {
    "__ctype_b_loc": (128 * 2, 384 * 2),
    "__ctype_tolower_loc": (128 * 4, 384 * 4),
    "__ctype_toupper_loc": (128 * 4, 384 * 4),
}
_WHATEVER_THEY_DO = ("reach_error", "__VERIFIER_error", "kleene_assume", "kleene_check")
# Names of the table that others begin with; `operator delete` has many lists of parameters.
_FAMILIES = ("llvm.", "__VERIFIER_nondet", "_ZdlPv", "_ZdaPv")
_ALSO_IN_CXX = ("reach_error", "__VERIFIER_", "kleene_")  # whatever the language of their linkage
# Of POSIX, C11, GNU and OpenMP: whoever calls one has threads, or handlers of signals.
_OTHERS = {
    *("pthread_create", "thrd_create", "clone", "timer_create", "mq_notify", "lio_listio"),
    *("aio_read", "aio_write", "getaddrinfo_a", "GOMP_parallel", "__kmpc_fork_call"),
    *("signal", "bsd_signal", "sysv_signal", "__sysv_signal", "ssignal", "sigset", "sigaction"),
}
_BOUND = re.compile(r"(?:room \$(\d+)|((?:\$\d+\*?)+))? ?(-? ?\d+)?")


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
    if word == "reuses":
        return replace(model, reuses_place=True)
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
    if rest.startswith(("heap", "zeros", "always")):
        is_zero, always = rest.startswith("zeros"), rest.startswith("always")
        return replace(model, heap=given, is_zero=is_zero, always_allocates=always)
    if rest.startswith("place"):
        assert given is not None, effect
        return replace(model, place=given.constant, may_be_null=rest.endswith("or null"))
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
        return replace(
            model, format=argument, is_scan=word == "scans", prints_to=goes_to,
            has_list=rest.startswith("list"),
        )  # fmt: skip
    limit, given = (given, None) if " to [" in rest else (None, given)
    if word == "duplicates":
        return replace(model, heap=Bound(1, lengths=(argument,)), heap_limit=limit)
    assert word in ("reads", "searches", "writes", "fills"), effect
    content = re.search(r"with \$(\d+)", rest)
    is_write, is_exact = word in ("writes", "fills"), word in ("writes", "reads")
    touch = Touch(argument, given, is_write, is_exact, "?" in rest, not is_any, limit=limit)
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
    name = _plain(program.strings[int(program.globals.name[callee])])
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


def _plain(symbol: str) -> str:
    """Return a function's name without the types that C++ adds, where it means the same there."""
    found = re.match(r"_Z(\d+)", symbol)
    name = symbol[found.end() :][: int(found[1])] if found else symbol
    return name if name.startswith(_ALSO_IN_CXX) else symbol


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


def character_table(program: Program, address: int) -> tuple[int, int] | None:
    """Return where a pointer points in a character table of the library, if it is read from there.

    `address` is where the pointer is read from. Bytes behind the table's first one, and of all.
    """
    row = address - program.bases[ValueKind.INSTRUCTION]
    if row < 0 or program.instructions.opcode[row] not in (Opcode.CALL, Opcode.INVOKE):
        return None
    callee = int(program.instructions.operands_of(row)[0])
    if callee >= len(program.globals):
        return None
    return CHARACTER_TABLES.get(program.strings[int(program.globals.name[callee])])


def character_loads(program: Program) -> dict[int, tuple[int, int]]:
    """Return the loads of pointers into character tables, and what `character_table` says."""
    table = program.instructions
    loads = np.flatnonzero(table.opcode == Opcode.LOAD)
    addresses = table.operands[table.offsets[loads]]
    pairs = zip(loads.tolist(), addresses.tolist(), strict=True)
    return {row: found for row, at in pairs if (found := character_table(program, at))}


def stored_to(program: Program) -> frozenset[int]:
    """Return the globals that some instruction writes to by name."""
    table, found = program.instructions, set[int]()
    for opcode, place in ADDRESS_OPERAND.items():
        if opcode != Opcode.LOAD:
            rows = np.flatnonzero(table.opcode == opcode)
            found.update(table.operands[table.offsets[rows] + place].tolist())
    return frozenset(one for one in found if one < len(program.globals))


def streams(program: Program) -> frozenset[int]:
    """Return the globals `stdin`, `stdout` and `stderr`, unless the program sets them."""
    table, stored = program.globals, stored_to(program)
    is_plain = table.flags & (GlobalFlag.DECLARATION | GlobalFlag.ADDRESS_TAKEN)
    declared = np.flatnonzero(is_plain == GlobalFlag.DECLARATION).tolist()
    names = {one: program.strings[int(table.name[one])] for one in declared}
    return frozenset(one for one, name in names.items() if name in _STREAMS and one not in stored)


def gives_memory_to_streams(program: Program) -> bool:
    """Return whether calls that write to streams may write to memory of the program."""
    names = (program.strings[symbol] for symbol in program.globals.name.tolist())
    return any(name in _GIVE_MEMORY for name in names)


def is_noreturn(flags: int) -> bool:
    """Return whether a call instruction says that it does not come back."""
    return bool(flags & Flag.NORETURN)


def has_others(program: Program) -> bool:
    """Return whether threads or signal handlers may run in between."""
    names = (program.strings[symbol] for symbol in program.globals.name.tolist())
    return any(name in _OTHERS for name in names)
