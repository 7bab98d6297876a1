"""Types: parsed from the text and made once each (hash-consed).

No function here calls itself (Numba does not cache such ones soundly): what is unfinished waits in
frames on the heap, so nesting of any depth is read.
"""

from __future__ import annotations

from kleene.frontends.c.reader.compiled import Cells, no_refcount, noinline
from kleene.frontends.c.reader.cursor import (
    accept,
    accept_word,
    advance,
    at_word,
    excerpt,
    expect,
    expect_word,
    integer,
    skip_group,
)
from kleene.frontends.c.reader.state import (
    AT,
    ELEMENTS,
    ERROR,
    FRAME,
    FRAMES,
    FULL,
    KIND,
    N_ELEMENTS,
    N_TYPES,
    SIMPLE,
    STACK,
    T_BITS,
    T_COUNT,
    T_FIRST,
    T_FLAGS,
    T_KIND,
    T_NAME,
    T_WIDTH,
    TABLE_SIZE,
    TOP,
    TYPE_TABLE,
    TYPES,
    VALUE,
    X_BASE,
    X_FLAGS,
    X_PAYLOAD,
    X_SORT,
    X_WIDTH,
)
from kleene.frontends.c.reader.tokens import (
    ELLIPSIS,
    INT_TYPE,
    INTEGER,
    NAMED,
    NUMBERED,
    WIDE,
    WORD,
)
from kleene.frontends.c.reader.words import SIMPLE_TYPE_OF, WORDS
from kleene.ir.codes import TypeFlag, TypeKind
from kleene.kernels.bits import mix

INT, POINTER, ARRAY = int(TypeKind.INT), int(TypeKind.POINTER), int(TypeKind.ARRAY)
VECTOR, STRUCT = int(TypeKind.VECTOR), int(TypeKind.STRUCT)
FUNCTION, OTHER = int(TypeKind.FUNCTION), int(TypeKind.OTHER)
PACKED, VARARG = int(TypeFlag.PACKED), int(TypeFlag.VARARG)
OPAQUE, SCALABLE = int(TypeFlag.OPAQUE), int(TypeFlag.SCALABLE)
VOID, PTR, I1, I32 = (SIMPLE[word] for word in ("void", "ptr", "i1", "i32"))
METADATA, TOKEN = SIMPLE["metadata"], SIMPLE["token"]
W_X, W_VSCALE, W_ADDRSPACE = WORDS["x"], WORDS["vscale"], WORDS["addrspace"]
W_TARGET, W_TYPE, W_OPAQUE = WORDS["target"], WORDS["type"], WORDS["opaque"]


@no_refcount
def push(m: Cells, item: int) -> None:
    """Put an item on the stack."""
    m[m[STACK] + m[TOP]] = item
    m[TOP] += 1


@no_refcount
def new_type(m: Cells, kind: int, flags: int, name: int, bits: int, base: int) -> int:
    """Append a type whose elements are the stack from `base` on; return its id."""
    noinline()
    new = m[N_TYPES]
    if (new + 2) * 10 > m[TABLE_SIZE] * 7:
        m[FULL] = 1
        m[ERROR] = 1
        return 0
    first, count = m[N_ELEMENTS], m[TOP] - base
    for i in range(count):
        m[m[ELEMENTS] + first + i] = m[m[STACK] + base + i]
    row = m[TYPES] + new * T_WIDTH
    m[row + T_KIND], m[row + T_FLAGS], m[row + T_NAME] = kind, flags, name
    m[row + T_BITS], m[row + T_FIRST], m[row + T_COUNT] = bits, first, count
    m[N_ELEMENTS] = first + count
    m[N_TYPES] = new + 1
    return new


@no_refcount
def same_type(m: Cells, row: int, kind: int, flags: int, name: int, bits: int, base: int) -> bool:
    """Return whether the type in `row` has this shape."""
    if m[row + T_KIND] != kind or m[row + T_NAME] != name or m[row + T_BITS] != bits:
        return False
    if name != 0:
        return True
    count = m[TOP] - base
    if m[row + T_FLAGS] != flags or m[row + T_COUNT] != count:
        return False
    first, stack = m[ELEMENTS] + m[row + T_FIRST], m[STACK] + base
    for i in range(count):  # noqa: SIM110 -- Numba compiles loops, not generators
        if m[first + i] != m[stack + i]:
            return False
    return True


@no_refcount
def intern_type(m: Cells, kind: int, flags: int, name: int, bits: int, base: int) -> int:
    """Return the type of this shape, its elements the stack from `base` on, which is popped.

    A type with a name is found by its name alone. While reading, the name of a struct is its symbol
    plus one, or minus its number less one; that of a target's type is its excerpt plus one.
    """
    noinline()
    if m[ERROR]:  # half a type is none
        m[TOP] = base
        return VOID
    value = mix(mix(kind, name), bits)
    if name == 0:
        value = mix(value, flags)
        for i in range(m[STACK] + base, m[STACK] + m[TOP]):
            value = mix(value, m[i])
    mask = m[TABLE_SIZE] - 1
    place = value & mask
    while m[m[TYPE_TABLE] + place] != 0:
        found = m[m[TYPE_TABLE] + place]
        if same_type(m, m[TYPES] + found * T_WIDTH, kind, flags, name, bits, base):
            m[TOP] = base
            return found
        place = (place + 1) & mask
    new = new_type(m, kind, flags, name, bits, base)
    m[m[TYPE_TABLE] + place] = new
    m[TOP] = base
    return new


@no_refcount
def plain_type(m: Cells, kind: int, bits: int) -> int:
    """Return the type of this kind that has no elements."""
    noinline()
    if kind == INT:
        if bits == 1:
            return I1
        if bits == 32:
            return I32
    if kind == POINTER and bits == 0:
        return PTR
    return intern_type(m, kind, 0, 0, bits, m[TOP])


@no_refcount
def vector_like(m: Cells, shape: int, element: int) -> int:
    """Return the vector of `element` as long as `shape`, or `element` if that is no vector."""
    noinline()
    row = m[TYPES] + shape * T_WIDTH
    if m[row + T_KIND] != VECTOR:
        return element
    base = m[TOP]
    push(m, element)
    return intern_type(m, VECTOR, m[row + T_FLAGS], 0, m[row + T_BITS], base)


@no_refcount
def element_type(m: Cells, type_id: int, index: int) -> int:
    """Return the type of an element: a struct's field, or any of an array or vector."""
    noinline()
    row = m[TYPES] + type_id * T_WIDTH
    kind, first, count = m[row + T_KIND], m[ELEMENTS] + m[row + T_FIRST], m[row + T_COUNT]
    if kind == STRUCT and 0 <= index < count:
        return m[first + index]
    if (kind == ARRAY or kind == VECTOR) and count == 1:
        return m[first]
    m[ERROR] = 1
    return VOID


@no_refcount
def address_space(t: Cells, m: Cells) -> int:
    """Return the number in `addrspace(N)` if it stands here, else 0."""
    noinline()
    if not accept_word(t, m, W_ADDRSPACE):
        return 0
    expect(t, m, 40)
    space = integer(m)
    expect(t, m, INTEGER)
    expect(t, m, 41)
    return space


@no_refcount
def starts_type(m: Cells) -> bool:
    """Return whether the present token can begin a type."""
    kind = m[KIND]
    if kind == WORD:
        return SIMPLE_TYPE_OF[m[VALUE]] >= 0 or m[VALUE] == W_TARGET
    if kind == INT_TYPE or kind == NAMED or kind == NUMBERED:
        return True
    return kind == 91 or kind == 60 or kind == 123


@no_refcount
def leaf_type(t: Cells, m: Cells) -> int:
    """Read a type that is one word or name; return -1 if none stands here."""
    noinline()
    kind, word, place = m[KIND], m[VALUE], m[AT]
    if kind == INT_TYPE:
        advance(t, m)
        return plain_type(m, INT, word)
    if kind == NAMED or kind == NUMBERED:  # a struct; one without a name has a number
        advance(t, m)
        return intern_type(m, STRUCT, OPAQUE, word + 1 if kind == NAMED else -word - 1, 0, m[TOP])
    if kind != WORD:
        return -1
    if SIMPLE_TYPE_OF[word] >= 0:
        advance(t, m)
        if SIMPLE_TYPE_OF[word] == PTR and at_word(m, W_ADDRSPACE):
            return plain_type(m, POINTER, address_space(t, m))
        return SIMPLE_TYPE_OF[word]
    if word == W_TARGET:
        advance(t, m)
        skip_group(t, m)
        return intern_type(m, OTHER, 0, excerpt(t, m, place) + 1, 0, m[TOP])
    m[ERROR] = 1
    return VOID


@no_refcount
def open_frame(m: Cells, sort: int) -> int:
    """Begin something unfinished; return its frame."""
    frame = m[FRAMES] + m[FRAME] * X_WIDTH
    m[FRAME] += 1
    m[frame : frame + X_WIDTH] = 0
    m[frame + X_SORT], m[frame + X_BASE] = sort, m[TOP]
    return frame


@no_refcount
def open_type(t: Cells, m: Cells) -> None:
    """Read the head of `[N x T]`, `<N x T>`, `{T, …}` or `<{T, …}>` and open its frame."""
    noinline()
    bracket = m[KIND]
    flags = 0
    if bracket == 60:
        advance(t, m)
    if m[KIND] == 123:
        advance(t, m)
        frame = open_frame(m, STRUCT)
        m[frame + X_FLAGS] = PACKED if bracket == 60 else 0
        return
    if bracket == 91:
        advance(t, m)
    elif accept_word(t, m, W_VSCALE):
        expect_word(t, m, W_X)
        flags = SCALABLE
    frame = open_frame(m, ARRAY if bracket == 91 else VECTOR)
    m[frame + X_FLAGS], m[frame + X_PAYLOAD] = flags, integer(m)
    if m[KIND] == WIDE:  # `assemble` turns the symbol into the number
        m[frame + X_PAYLOAD] = -m[VALUE] - 1
        advance(t, m)
    else:
        expect(t, m, INTEGER)
    expect_word(t, m, W_X)


@no_refcount
def close_type(t: Cells, m: Cells, frame: int) -> int:
    """Read the end of the type in `frame`; return it."""
    noinline()
    sort, flags = m[frame + X_SORT], m[frame + X_FLAGS]
    if sort == FUNCTION:
        if accept(t, m, ELLIPSIS):
            flags = VARARG
        expect(t, m, 41)
    elif sort == ARRAY:
        expect(t, m, 93)
    else:
        if sort == STRUCT:
            expect(t, m, 125)
        if sort == VECTOR or flags == PACKED:
            expect(t, m, 62)
    m[FRAME] -= 1
    return intern_type(m, sort, flags, 0, m[frame + X_PAYLOAD], m[frame + X_BASE])


@no_refcount
def parse_type(t: Cells, m: Cells) -> int:
    """Read a type; the token after it becomes the present one."""
    noinline()
    top, frames = m[TOP], m[FRAME]
    while not m[ERROR]:
        result = leaf_type(t, m)
        if result < 0:
            if m[KIND] != 91 and m[KIND] != 60 and m[KIND] != 123:
                m[ERROR] = 1
                break
            open_type(t, m)
            if m[KIND] != 125:
                continue  # to the first element
            result = close_type(t, m, m[FRAMES] + (m[FRAME] - 1) * X_WIDTH)  # {}
        while not m[ERROR]:
            if m[KIND] == 40:  # result (parameters)
                advance(t, m)
                frame = open_frame(m, FUNCTION)
                push(m, result)
                if m[KIND] != 41 and m[KIND] != ELLIPSIS:
                    break  # to the first parameter
                result = close_type(t, m, frame)
                continue
            if m[FRAME] == frames:
                return result
            frame = m[FRAMES] + (m[FRAME] - 1) * X_WIDTH
            push(m, result)
            if accept(t, m, 44) and m[KIND] != ELLIPSIS:
                break  # to the next element
            result = close_type(t, m, frame)
    m[TOP], m[FRAME] = top, frames
    return VOID


@no_refcount
def type_definition(t: Cells, m: Cells) -> None:
    """Read `%name = type …`, the name being the present token."""
    noinline()
    name = m[VALUE] + 1 if m[KIND] == NAMED else -m[VALUE] - 1
    advance(t, m)
    expect(t, m, 61)
    expect_word(t, m, W_TYPE)
    named = m[TYPES] + intern_type(m, STRUCT, OPAQUE, name, 0, m[TOP]) * T_WIDTH
    if accept_word(t, m, W_OPAQUE):
        return
    shape = m[TYPES] + parse_type(t, m) * T_WIDTH
    if m[ERROR]:
        return
    m[named + T_FLAGS] = m[shape + T_FLAGS]
    m[named + T_FIRST], m[named + T_COUNT] = m[shape + T_FIRST], m[shape + T_COUNT]
