"""The state of a compiled expansion, and the small steps that change it."""

from __future__ import annotations

from typing import NamedTuple

from kleene.base.arrays import I32, I64, U8
from kleene.frontends.scheme.bulk.compiled import device_function
from kleene.frontends.scheme.bulk.scan import ATOM, DOTTED, LIST
from kleene.ir.scheme.core import CALL, CONSTANT, IF, LAMBDA, LETREC, NONE, SEQUENCE, VARIABLE

# Tokens with fixed numbers, behind the four that the scanner knows.
ELSE, ARROW, UNDERSCORE, DO, VALUE, KEY = range(4, 10)
WORDS: tuple[str, ...] = ("quote", "quasiquote", "unquote", "unquote-splicing")
WORDS += ("else", "=>", "_", "do", "value", "key")

# What a token means at the top level: a variable (0 and more), nothing yet, no symbol at all, or a
# keyword. Of the last, MACRO stands for all that may define something, OTHER for expressions that
# are expanded by Python; the rest is in `KEYWORDS`.
UNKNOWN, NO_SYMBOL, MACRO, OTHER = -1, -2, -3, -4
KEYWORDS: tuple[str, ...] = (
    "quote",
    "if",
    "set!",
    "lambda",
    "begin",
    "let",
    "let*",
    "letrec",
    "do",
    "and",
    "or",
)
KEYWORDS += ("when", "unless", "cond", "case", "define", "else", "=>")
(
    K_QUOTE, K_IF, K_SET, K_LAMBDA, K_BEGIN, K_LET, K_LET_STAR, K_LETREC, K_DO, K_AND, K_OR,
    K_WHEN, K_UNLESS, K_COND, K_CASE, K_DEFINE, K_ELSE, K_ARROW,
) = range(-5, -23, -1)  # fmt: skip
ANY = 1 << 30  # items: no limit
OBJECT = -1 << 30  # and less: no datum of the text, but one of Python's
PENDING = 1 << 30  # the variable of a definition that is met, but has no number yet

# Counts. The first five are those of the core's builder; OLD is what Python knows already,
# EQV and MEMV are the numbers of the primitives that `case` uses, END how many data there are. ROOM
# is the length of arrays; NEW_ROOM that of `constants`, `named`, `tops`, `flat` and `pending`.
(
    ROWS, SLOTS, VARIABLES, CONSTANTS, PRIMITIVES, OLD_VARIABLES, OLD_CONSTANTS, OLD_PRIMITIVES,
    TOPS, STACK, FRAMES, BINDINGS, NEXT, FRAME, STAMP, FLAT, NEEDED, ITEM, ITEM_FRAME, ITEM_SLOT,
    EQV, MEMV, END, ROWS_ROOM, SLOTS_ROOM, VARIABLES_ROOM, STACK_ROOM, FRAMES_ROOM, BINDINGS_ROOM,
    NEW_ROOM, N_COUNTS,
) = range(31)  # fmt: skip

# Constants that no token is: see `Tables.constants`.
UNSPECIFIED_VALUE, TRUE_VALUE, FALSE_VALUE = -1, -2, -3


class Tables(NamedTuple):
    """Data, tokens, what is waiting, the scopes, and the columns of the core's builder.

    A scope is a *frame*: its bindings, and the frame around it; frame 0 is the top level. `current`
    has what each token means in the frame that is entered, NONE where that is what it means at the
    top level; a binding keeps what its token meant outside.
    """

    counts: I64
    data_kind: U8
    data_at: I32
    data_end: I32
    token: I32
    after: I32
    n: I32
    top: I32  # per token
    current: I32
    shadow: I32  # stamps: bound by the form that is looked at
    twice: I32  # stamps: bound by a list of names
    primitive: I32  # per token: which primitive of the imports it is, or NONE
    primitive_number: I32  # per primitive of the imports: which of the core's, or NONE
    stack_datum: I32  # a datum, ~d for the procedure of definition d, or an object of Python's
    stack_frame: I32
    stack_slot: I32
    frame_parent: I32
    frame_depth: I32
    frame_first: I32
    frame_n: I32
    frame_path: I32  # scratch
    binding_token: I32
    binding_variable: I32
    binding_saved: I32
    flat: I32  # the forms of a body, ~d for a definition
    pending: I32  # where `begin`s in it go on
    constants: I32  # new ones: a token times 2, a datum times 2 plus 1, or a value below 0
    primitives: I32  # new ones: primitives of the imports
    tops: I32  # new slots of the top level
    named: I32  # per new variable: its token
    kind: U8
    at: I32
    end: I32
    reference: I32
    n_bound: I32
    has_rest: U8
    first_slot: I32
    operands: I32
    variable_at: I32
    variable_end: I32
    owner: I32
    starts_as: I32
    is_defined: U8
    is_assigned: U8


@device_function
def row(p: Tables, kind: int, place: int, slot: int, reference: int, n_operands: int) -> int:
    """Put a new row, written where the datum `place` is, into a slot; return its first slot."""
    new, first = int(p.counts[ROWS]), int(p.counts[SLOTS])
    p.operands[slot] = new
    p.kind[new] = kind
    p.at[new] = p.data_at[place]
    p.end[new] = p.data_end[place]
    p.reference[new] = reference
    p.n_bound[new] = 0
    p.has_rest[new] = 0
    p.first_slot[new] = first
    p.counts[ROWS] = new + 1
    p.counts[SLOTS] = first + n_operands
    return first


@device_function
def push(p: Tables, datum: int, frame: int, slot: int) -> None:
    """Have a datum expanded into a slot."""
    top = int(p.counts[STACK])
    p.counts[STACK] = top + 1
    p.stack_datum[top] = datum
    p.stack_frame[top] = frame
    p.stack_slot[top] = slot


@device_function
def constant(p: Tables, value: int, place: int, slot: int) -> None:
    """Put a constant into a slot."""
    n = int(p.counts[CONSTANTS])
    p.counts[CONSTANTS] = n + 1
    p.constants[n - p.counts[OLD_CONSTANTS]] = value
    row(p, CONSTANT, place, slot, n, 0)


@device_function
def variable(p: Tables, token: int, place: int, starts_as: int) -> int:
    """Return a new variable that has the name of a token; it belongs to no row yet."""
    number = int(p.counts[VARIABLES])
    p.counts[VARIABLES] = number + 1
    p.variable_at[number] = p.data_at[place]
    p.variable_end[number] = p.data_end[place]
    p.owner[number] = NONE
    p.starts_as[number] = starts_as
    p.is_defined[number] = 0
    p.is_assigned[number] = 0
    p.named[number - p.counts[OLD_VARIABLES]] = token
    return number


@device_function
def primitive_number(p: Tables, which: int) -> int:
    """Return which of the core's primitives a primitive of the imports is."""
    number = int(p.primitive_number[which])
    if number == NONE:
        number = int(p.counts[PRIMITIVES])
        p.counts[PRIMITIVES] = number + 1
        p.primitives[number - p.counts[OLD_PRIMITIVES]] = which
        p.primitive_number[which] = number
    return number


@device_function
def binder(p: Tables, first: int, n: int, has_rest: bool) -> None:
    """Let the newest row bind n variables."""
    newest = int(p.counts[ROWS]) - 1
    if n == 0:
        return
    p.reference[newest] = first
    p.n_bound[newest] = n
    p.has_rest[newest] = 1 if has_rest else 0
    for number in range(first, first + n):
        p.owner[number] = newest


@device_function
def is_symbol(p: Tables, datum: int) -> bool:
    """Return whether a datum is a symbol."""
    return bool(p.data_kind[datum] == ATOM and p.top[p.token[datum]] != NO_SYMBOL)


@device_function
def meaning(p: Tables, token: int) -> int:
    """Return the variable or keyword that a symbol means in the frame that is entered."""
    local = int(p.current[token])
    return int(p.top[token]) if local == NONE else local


@device_function
def looked_up(p: Tables, datum: int) -> int:
    """Return what a symbol means; a name that nothing binds is a new global from now on."""
    token = int(p.token[datum])
    found = meaning(p, token)
    if found == UNKNOWN:
        which = int(p.primitive[token])
        starts_as = NONE if which == NONE else primitive_number(p, which)
        found = variable(p, token, datum, starts_as)
        p.top[token] = found
    return found


@device_function
def is_word(p: Tables, datum: int, keyword: int, token: int) -> bool:
    """Return whether a datum is an auxiliary keyword, whose usual symbol is `token`."""
    if not is_symbol(p, datum):
        return False
    found = meaning(p, int(p.token[datum]))
    if found < UNKNOWN:
        return found == keyword
    is_free = found == UNKNOWN or (p.owner[found] == NONE and not p.is_defined[found])
    return bool(is_free and p.token[datum] == token)


@device_function
def begins_with_symbol(p: Tables, datum: int) -> bool:
    """Return whether a datum is a list, proper or not, that begins with a symbol."""
    is_pair = p.data_kind[datum] == DOTTED or is_list(p, datum, 1, ANY)
    return is_pair and is_symbol(p, datum + 1)


@device_function
def head_meaning(p: Tables, datum: int) -> int:
    """Return the keyword that a list begins with; UNKNOWN where that is none."""
    if not begins_with_symbol(p, datum):
        return UNKNOWN
    found = meaning(p, int(p.token[datum + 1]))
    return UNKNOWN if found >= 0 else found


@device_function
def child(p: Tables, datum: int, number: int) -> int:
    """Return a datum inside a list."""
    found = datum + 1
    for _ in range(number):
        found = int(p.after[found])
    return found


@device_function
def has_room(p: Tables, n: int) -> bool:
    """Return whether n more of everything fit; if not, note how many are needed."""
    c = p.counts
    c[NEEDED] = n
    if c[ROWS] + n > c[ROWS_ROOM] or c[SLOTS] + n > c[SLOTS_ROOM]:
        return False
    if c[VARIABLES] + n > c[VARIABLES_ROOM] or c[STACK] + n > c[STACK_ROOM]:
        return False
    if c[FRAMES] + n > c[FRAMES_ROOM] or c[BINDINGS] + n > c[BINDINGS_ROOM]:
        return False
    new = max(c[VARIABLES] - c[OLD_VARIABLES], c[CONSTANTS] - c[OLD_CONSTANTS], c[TOPS])
    return bool(new + n <= c[NEW_ROOM])


# --- scopes --------------------------------------------------------------------------------------


@device_function
def new_frame(p: Tables, parent: int) -> int:
    """Return a frame inside another, without bindings yet."""
    frame = int(p.counts[FRAMES])
    p.counts[FRAMES] = frame + 1
    p.frame_parent[frame] = parent
    p.frame_depth[frame] = p.frame_depth[parent] + 1
    p.frame_first[frame] = p.counts[BINDINGS]
    p.frame_n[frame] = 0
    return frame


@device_function
def bind(p: Tables, frame: int, token: int, number: int) -> None:
    """Add a binding to the newest frame, which is not entered."""
    b = int(p.counts[BINDINGS])
    p.counts[BINDINGS] = b + 1
    p.binding_token[b] = token
    p.binding_variable[b] = number
    p.frame_n[frame] += 1


@device_function
def bind_here(p: Tables, frame: int, token: int, number: int) -> None:
    """Add a binding to the newest frame, which is entered."""
    b = int(p.counts[BINDINGS])
    bind(p, frame, token, number)
    p.binding_saved[b] = p.current[token]
    p.current[token] = number


@device_function
def _leave(p: Tables, frame: int) -> None:
    first = int(p.frame_first[frame])
    for b in range(first + int(p.frame_n[frame]) - 1, first - 1, -1):
        p.current[p.binding_token[b]] = p.binding_saved[b]


@device_function
def _enter(p: Tables, frame: int) -> None:
    first = int(p.frame_first[frame])
    for b in range(first, first + int(p.frame_n[frame])):
        p.binding_saved[b] = p.current[p.binding_token[b]]
        p.current[p.binding_token[b]] = p.binding_variable[b]


@device_function
def enter(p: Tables, frame: int) -> None:
    """Let `current` be that of a frame.

    Data are expanded depth first, so that few frames are left and entered on the way.
    """
    here, there, n = int(p.counts[FRAME]), frame, 0
    while here != there:
        if p.frame_depth[here] > p.frame_depth[there]:
            _leave(p, here)
            here = int(p.frame_parent[here])
        else:
            p.frame_path[n] = there
            n += 1
            there = int(p.frame_parent[there])
    for k in range(n - 1, -1, -1):
        _enter(p, int(p.frame_path[k]))
    p.counts[FRAME] = frame


# --- rows that several forms make ----------------------------------------------------------------


@device_function
def call_row(p: Tables, place: int, slot: int, n_arguments: int) -> int:
    """Put a call into a slot; return the slot of its operator, which the arguments follow."""
    return row(p, CALL, place, slot, NONE, n_arguments + 1)


@device_function
def variable_row(p: Tables, number: int, place: int, slot: int) -> None:
    """Put a reference to a variable into a slot."""
    row(p, VARIABLE, place, slot, number, 0)


@device_function
def if_row(p: Tables, place: int, slot: int) -> int:
    """Put an `if` into a slot; return the slot of its test."""
    return row(p, IF, place, slot, NONE, 3)


@device_function
def lambda_of_one(p: Tables, token: int, about: int, place: int, slot: int) -> int:
    """Put (lambda (name) ...) into a slot, its formal written at `about`; return the variable.

    The slot of its body is the newest one.
    """
    row(p, LAMBDA, place, slot, NONE, 1)
    number = variable(p, token, about, NONE)
    binder(p, number, 1, False)
    return number


@device_function
def letrec_of_one(p: Tables, token: int, about: int, place: int, slot: int) -> int:
    """Put (letrec ((name ...)) ...) into a slot; return the variable."""
    row(p, LETREC, place, slot, NONE, 2)
    number = variable(p, token, about, NONE)
    binder(p, number, 1, False)
    return number


@device_function
def push_siblings(p: Tables, first: int, n: int, frame: int, slot: int) -> None:
    """Have n data that follow each other expanded into slots that follow each other."""
    datum = first
    for k in range(n):
        push(p, datum, frame, slot + k)
        datum = int(p.after[datum])


@device_function
def sequence(p: Tables, first: int, n: int, frame: int, slot: int, form: int) -> None:
    """Put n expressions, evaluated in order, into a slot."""
    if n == 1:
        push(p, first, frame, slot)
    elif n == 0:
        constant(p, UNSPECIFIED_VALUE, form, slot)
    else:
        push_siblings(p, first, n, frame, row(p, SEQUENCE, form, slot, NONE, n))


@device_function
def is_list(p: Tables, datum: int, least: int, most: int) -> bool:
    """Return whether a datum is a proper list of so many items."""
    return bool(p.data_kind[datum] == LIST and least <= p.n[datum] <= most)
