"""Bodies of functions, and the order of everything."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes
from kleene.frontends.c.reader.attributes import attribute_group, attribute_list
from kleene.frontends.c.reader.bitstream import ENTER, LEAVE, R_BLOCK, R_CODE, R_WIDTH
from kleene.frontends.c.reader.calls import bundle
from kleene.frontends.c.reader.compiled import (
    Cells,
    Nodes,
    Text,
    entry_point,
    no_refcount,
    noinline,
)
from kleene.frontends.c.reader.constants import declare, make_all, plain_constant
from kleene.frontends.c.reader.cursor import (
    OPAQUE,
    define,
    go_to,
    item,
    left,
    new_instruction,
    notice,
)
from kleene.frontends.c.reader.globals import all_globals, initializers
from kleene.frontends.c.reader.instructions import instruction_record
from kleene.frontends.c.reader.metadata import (
    METADATA_CONSTANT,
    attachment,
    debug_location,
    debug_record,
    metadata_record,
)
from kleene.frontends.c.reader.state import (
    BODIES,
    BUNDLED,
    CONSTANT_TYPE,
    DECLARED,
    END_BLOCK,
    FAULT,
    FIRST_BINDING,
    FIRST_BLOCK,
    FIRST_BLOCKS,
    FIRST_BUNDLED,
    FIRST_CONSTANT,
    FIRST_OPERAND,
    FUNCTION,
    IN_BLOCK,
    LAST_LOCATION,
    LIFETIME,
    MAX_BODIES,
    MD_SHIFT,
    N_BODIES,
    N_CREATED,
    N_MD,
    N_MODULE_MD,
    N_MODULE_VALUES,
    N_ORDERED,
    N_ROWS,
    N_UNKNOWN,
    N_VALUES,
    O_SORT,
    O_WIDTH,
    ORDER,
    UNKNOWN,
    USED,
    VALUES,
    ZERO_TEXTS,
)
from kleene.frontends.c.reader.strings import symbol_of
from kleene.frontends.c.reader.tables import (
    A_NAME,
    A_TYPE,
    A_WIDTH,
    ARGUMENTS,
    B_FIRST,
    B_FUNCTION,
    B_NAME,
    B_WIDTH,
    BINDINGS,
    BLOCKS,
    BUNDLE_OPERANDS,
    ERROR,
    F_FIRST_ARGUMENT,
    F_WIDTH,
    FULL,
    FUNCTIONS,
    I_ABOUT,
    I_ALIGN,
    I_FIRST,
    I_FLAGS,
    I_NAME,
    I_OPCODE,
    I_SUB,
    I_TYPE,
    I_WIDTH,
    INSTRUCTION_TEXT,
    INSTRUCTIONS,
    METADATA,
    N_ARGUMENTS,
    N_BINDINGS,
    N_BLOCKS,
    N_BUNDLE_OPERANDS,
    N_FUNCTIONS,
    N_INSTRUCTIONS,
    N_OPERANDS,
    OPERANDS,
    TAG_ARGUMENT,
    TAG_BLOCK,
    TAG_INSTRUCTION,
    TAG_MASK,
    TAG_NUMBERED,
    V_VALUE,
    V_WIDTH,
    VOID,
)
from kleene.frontends.c.reader.types import bundle_tag, type_record
from kleene.ir.codes import Opcode

CALL, INVOKE, CALLBR = int(Opcode.CALL), int(Opcode.INVOKE), int(Opcode.CALLBR)
LAST_TERMINATOR = int(Opcode.CATCHSWITCH)


@no_refcount
def enter_function(h: Cells, m: Cells) -> None:
    """Begin the next body: its arguments are the first values after the module's."""
    noinline()
    if h[N_BODIES] >= h[MAX_BODIES] or h[FUNCTION] >= 0:
        h[FAULT] = 1
        return
    if h[N_BODIES] == 0:
        h[N_MODULE_VALUES], h[N_MODULE_MD] = h[N_VALUES], h[N_MD]
    function = h[h[BODIES] + h[N_BODIES]]
    h[N_BODIES] += 1
    h[FUNCTION] = function
    h[FIRST_BLOCK] = h[h[FIRST_BLOCKS] + function]
    h[END_BLOCK] = h[h[FIRST_BLOCKS] + function + 1]
    h[IN_BLOCK] = h[DECLARED] = h[BUNDLED] = h[USED] = 0
    h[LAST_LOCATION] = -1
    h[N_VALUES], h[N_MD] = h[N_MODULE_VALUES], h[N_MODULE_MD]
    h[MD_SHIFT] = h[N_ROWS] - h[N_MODULE_MD]
    h[FIRST_OPERAND], h[FIRST_BUNDLED] = m[N_OPERANDS], m[N_BUNDLE_OPERANDS]
    h[FIRST_BINDING] = m[N_BINDINGS]
    row = m[FUNCTIONS] + function * F_WIDTH
    end = m[N_ARGUMENTS]
    if function + 1 < m[N_FUNCTIONS]:
        end = m[row + F_WIDTH + F_FIRST_ARGUMENT]
    for argument in range(m[row + F_FIRST_ARGUMENT], end):
        define(h, TAG_ARGUMENT + argument, m[m[ARGUMENTS] + argument * A_WIDTH + A_TYPE])
    if m[N_BLOCKS] != h[FIRST_BLOCK]:
        h[FAULT] = 1


@no_refcount
def resolve(h: Cells, m: Cells, first: int, count: int, stride: int) -> None:
    """Turn numbers of values that were not yet defined into the values."""
    noinline()
    for cell in range(first, first + count * stride, stride):
        if m[cell] >= TAG_NUMBERED:
            number = m[cell] & TAG_MASK
            if number >= h[N_VALUES]:
                h[FAULT] = 1
                return
            m[cell] = h[h[VALUES] + number]


@no_refcount
def created(h: Cells) -> None:
    """See that what was upgraded is first called in the order in which it stands."""
    for new in range(h[N_CREATED], h[N_ORDERED]):
        is_one = h[h[ORDER] + new * O_WIDTH + O_SORT] == LIFETIME
        if is_one and h[USED] & (1 << (new & 31)):
            if new != h[N_CREATED]:
                h[FAULT] = 1
            h[N_CREATED] = new + 1


@no_refcount
def leave_function(h: Cells, m: Cells) -> None:
    """End a body: every block is there, and every value that is used."""
    noinline()
    if (
        h[FUNCTION] < 0
        or h[IN_BLOCK]
        or not h[DECLARED]
        or m[N_BLOCKS] != h[END_BLOCK]
        or h[BUNDLED]
    ):
        h[FAULT] = 1
        return
    operands, bundled, bindings = h[FIRST_OPERAND], h[FIRST_BUNDLED], h[FIRST_BINDING]
    resolve(h, m, m[OPERANDS] + operands, m[N_OPERANDS] - operands, 1)
    resolve(h, m, m[BUNDLE_OPERANDS] + bundled, m[N_BUNDLE_OPERANDS] - bundled, 1)
    values = m[BINDINGS] + bindings * V_WIDTH + V_VALUE
    resolve(h, m, values, m[N_BINDINGS] - bindings, V_WIDTH)
    if h[USED]:
        created(h)
    h[N_VALUES], h[N_MD] = h[N_MODULE_VALUES], h[N_MODULE_MD]
    h[FUNCTION] = -1


@no_refcount
def open_block(h: Cells, m: Cells) -> None:
    """Begin the next block."""
    new = m[N_BLOCKS]
    if new >= h[END_BLOCK]:
        h[FAULT] = 1
        return
    row = m[BLOCKS] + new * B_WIDTH
    m[row + B_NAME], m[row + B_FUNCTION] = 0, h[FUNCTION]
    m[row + B_FIRST] = m[N_INSTRUCTIONS]
    m[N_BLOCKS] = new + 1
    h[IN_BLOCK] = 1


@no_refcount
def opaque(h: Cells, m: Cells, row: int, code: int) -> None:
    """Make the last instruction an opaque one: what it is, then every operand that was read."""
    noinline()
    first, end = m[OPERANDS] + m[row + I_FIRST], m[OPERANDS] + m[N_OPERANDS]
    for cell in range(end, first, -1):
        m[cell] = m[cell - 1]
    m[first] = plain_constant(m, METADATA_CONSTANT, METADATA, INSTRUCTION_TEXT - code)
    m[N_OPERANDS] += 1
    m[row + I_OPCODE], m[row + I_SUB], m[row + I_ALIGN], m[row + I_FLAGS] = OPAQUE, 0, 0, 0
    m[row + I_ABOUT] = -1
    h[N_UNKNOWN] += 1
    notice(m, INSTRUCTION_TEXT - code)


@no_refcount
def instruction(c: Cells, h: Cells, m: Cells, code: int) -> None:
    """Append the instruction of the record at hand."""
    noinline()
    if not h[IN_BLOCK]:
        open_block(h, m)
        if h[FAULT]:
            return
    row = new_instruction(m)
    h[UNKNOWN] = 0
    instruction_record(c, h, m, row, code)
    if h[FAULT] or m[ERROR]:
        return
    is_last = m[row + I_OPCODE] <= LAST_TERMINATOR
    opcode = m[row + I_OPCODE]
    if h[UNKNOWN]:
        opaque(h, m, row, code)
    if h[BUNDLED] and opcode != CALL and opcode != INVOKE and opcode != CALLBR:
        h[FAULT] = 1  # a bundle that belongs to no call
    h[BUNDLED] = 0
    if m[row + I_TYPE] != VOID:
        define(h, TAG_INSTRUCTION + m[N_INSTRUCTIONS], m[row + I_TYPE])
    m[N_INSTRUCTIONS] += 1
    if is_last:
        h[IN_BLOCK] = 0


@no_refcount
def function_record(c: Cells, h: Cells, m: Cells, nodes: Nodes, record: int) -> None:
    """Read one record of a body."""
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    if h[FUNCTION] < 0:
        h[FAULT] = 1
    elif code == bitcodes.INST_DEBUG_LOC_AGAIN or code == bitcodes.INST_DEBUG_LOC:
        debug_location(c, h, m, nodes, code == bitcodes.INST_DEBUG_LOC)
    elif bitcodes.DEBUG_VALUE <= code <= bitcodes.DEBUG_DECLARE_VALUE:
        debug_record(c, h, m, code)
    elif code == bitcodes.INST_DECLAREBLOCKS:
        if h[DECLARED] or item(c, h) != h[END_BLOCK] - h[FIRST_BLOCK]:
            h[FAULT] = 1
        h[DECLARED] = 1
    elif code == bitcodes.INST_OPERAND_BUNDLE:
        bundle(c, h, m)
    elif code != bitcodes.INST_BLOCKADDR_USERS:
        instruction(c, h, m, code)


@no_refcount
def name_record(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read the name of a value or block."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    if code != bitcodes.VST_ENTRY and code != bitcodes.VST_BBENTRY:
        h[FAULT] = 1
        return
    go_to(c, h, record)
    number, name = item(c, h), symbol_of(text, s, item(c, h))
    if code == bitcodes.VST_BBENTRY:
        if number < 0 or number >= m[N_BLOCKS] - h[FIRST_BLOCK]:
            h[FAULT] = 1
            return
        m[m[BLOCKS] + (h[FIRST_BLOCK] + number) * B_WIDTH + B_NAME] = name
        return
    if number < h[N_MODULE_VALUES] or number >= h[N_VALUES]:
        h[FAULT] = 1
        return
    tagged = h[h[VALUES] + number]
    if TAG_ARGUMENT <= tagged < TAG_BLOCK:
        m[m[ARGUMENTS] + (tagged & TAG_MASK) * A_WIDTH + A_NAME] = name
    elif tagged >= TAG_INSTRUCTION:
        m[m[INSTRUCTIONS] + (tagged & TAG_MASK) * I_WIDTH + I_NAME] = name
    else:
        h[FAULT] = 1


@no_refcount
def block_end(h: Cells, m: Cells, c: Cells, block: int, is_entered: bool) -> None:
    """Begin or end what a block of the file holds."""
    noinline()
    if block == bitcodes.FUNCTION:
        if is_entered:
            enter_function(h, m)
        else:
            leave_function(h, m)
    elif block == bitcodes.CONSTANTS:
        if is_entered:
            h[FIRST_CONSTANT] = h[N_VALUES]
            h[CONSTANT_TYPE] = VOID
        else:
            make_all(c, h, m)


@no_refcount
def read_head(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, n_records: int) -> int:
    """Read types, attributes and tags; return the record where reading stopped, or how many."""
    noinline()
    for zero in range(ZERO_TEXTS, ZERO_TEXTS + 3):
        h[zero] = symbol_of(text, s, h[zero])
    for record in range(n_records):
        block, code = c[record * R_WIDTH + R_BLOCK], c[record * R_WIDTH + R_CODE]
        if code >= 0:
            if block == bitcodes.TYPE_NEW:
                type_record(text, s, c, h, m, record)
            elif block == bitcodes.PARAMATTR_GROUP:
                attribute_group(c, h, record)
            elif block == bitcodes.PARAMATTR:
                attribute_list(c, h, m, record)
            elif block == bitcodes.OPERAND_BUNDLE_TAGS:
                bundle_tag(text, s, c, h, record)
        if h[FAULT] or m[ERROR]:
            return record
    return n_records


@no_refcount
def body_record(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, record: int
) -> None:
    """Read one record of constants, metadata, names or a body."""
    block = c[record * R_WIDTH + R_BLOCK]
    if block == bitcodes.FUNCTION:
        function_record(c, h, m, nodes, record)
    elif block == bitcodes.METADATA:
        metadata_record(text, s, c, h, m, nodes, record)
    elif block == bitcodes.METADATA_ATTACHMENT:
        go_to(c, h, record)
        if h[FUNCTION] < 0 or left(h) == 0:
            h[FAULT] = 1
            return
        attachment(c, h, m)
    elif block == bitcodes.CONSTANTS:
        declare(text, s, c, h, record)
    elif block == bitcodes.VALUE_SYMTAB and h[FUNCTION] >= 0:
        name_record(text, s, c, h, m, record)


@entry_point
def read_records(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, n_records: int
) -> int:
    """Read all records into the tables; return the one where reading stopped, or how many."""
    h[FUNCTION] = -1
    stopped = read_head(text, s, c, h, m, n_records)
    if h[FAULT] or m[ERROR]:
        return stopped
    all_globals(text, s, c, h, m)
    for record in range(n_records):
        if h[FAULT] or m[ERROR] or m[FULL]:
            return record - 1
        code = c[record * R_WIDTH + R_CODE]
        if code == ENTER or code == LEAVE:
            block_end(h, m, c, c[record * R_WIDTH + R_BLOCK], code == ENTER)
        else:
            body_record(text, s, c, h, m, nodes, record)
    if h[N_BODIES] == 0:
        h[N_MODULE_VALUES] = h[N_VALUES]
    if h[N_BODIES] != h[MAX_BODIES]:
        h[FAULT] = 1
    initializers(h, m)
    return n_records
