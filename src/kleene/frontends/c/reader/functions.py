"""Bodies of functions, and the order of everything."""

from __future__ import annotations

from kleene.frontends.c.reader import bitcodes, state, tables
from kleene.frontends.c.reader.attributes import attribute_group, attribute_list
from kleene.frontends.c.reader.bitstream import ENTER, LEAVE, R_BLOCK, R_CODE, R_WIDTH
from kleene.frontends.c.reader.calls import bundle
from kleene.frontends.c.reader.compiled import (
    Cells,
    Nodes,
    Text,
    device_function,
    entry_point,
    noinline,
)
from kleene.frontends.c.reader.constants import (
    EXPRESSION,
    GEP,
    POISON,
    UNDEF,
    UNSET_PAYLOAD,
    constant_row,
    declare,
    make_all,
    plain_constant,
)
from kleene.frontends.c.reader.cursor import (
    OPAQUE,
    below,
    define,
    go_to,
    item,
    left,
    new_instruction,
    notice,
    require,
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
from kleene.frontends.c.reader.strings import symbol_of
from kleene.frontends.c.reader.types import bundle_tag, type_record
from kleene.ir.codes import Opcode
from kleene.kernels.pointers import as_pointers

CALL, INVOKE, CALLBR = int(Opcode.CALL), int(Opcode.INVOKE), int(Opcode.CALLBR)
LOAD, STORE = int(Opcode.LOAD), int(Opcode.STORE)
LAST_TERMINATOR = int(Opcode.CATCHSWITCH)


@device_function
def enter_function(h: Cells, m: Cells) -> None:
    """Begin the next body: its arguments are the first values after the module's."""
    noinline()
    if h[state.N_BODIES] >= h[state.MAX_BODIES] or h[state.FUNCTION] >= 0:
        h[state.FAULT] = 1
        return
    if h[state.N_BODIES] == 0:
        h[state.N_MODULE_VALUES], h[state.N_MODULE_MD] = h[state.N_VALUES], h[state.N_MD]
    function = h[h[state.BODIES] + h[state.N_BODIES]]
    h[state.N_BODIES] += 1
    h[state.FUNCTION] = function
    h[state.FIRST_BLOCK] = h[h[state.FIRST_BLOCKS] + function]
    h[state.END_BLOCK] = h[h[state.FIRST_BLOCKS] + function + 1]
    h[state.IN_BLOCK] = h[state.DECLARED] = h[state.BUNDLED] = h[state.USED] = 0
    h[state.LAST_LOCATION] = -1
    h[state.N_VALUES], h[state.N_MD] = h[state.N_MODULE_VALUES], h[state.N_MODULE_MD]
    h[state.MD_SHIFT] = h[state.N_ROWS] - h[state.N_MODULE_MD]
    h[state.FIRST_OPERAND] = m[tables.N_OPERANDS]
    h[state.FIRST_BUNDLED] = m[tables.N_BUNDLE_OPERANDS]
    h[state.FIRST_BINDING] = m[tables.N_BINDINGS]
    row = m[tables.FUNCTIONS] + function * tables.F_WIDTH
    end = m[tables.N_ARGUMENTS]
    if function + 1 < m[tables.N_FUNCTIONS]:
        end = m[row + tables.F_WIDTH + tables.F_FIRST_ARGUMENT]
    for argument in range(m[row + tables.F_FIRST_ARGUMENT], end):
        define(
            h,
            tables.TAG_ARGUMENT + argument,
            m[m[tables.ARGUMENTS] + argument * tables.A_WIDTH + tables.A_TYPE],
        )
    require(h, m[tables.N_BLOCKS] == h[state.FIRST_BLOCK])


@device_function
def resolve(h: Cells, m: Cells, first: int, count: int, stride: int) -> None:
    """Turn numbers of values that were not yet defined into the values."""
    noinline()
    for cell in range(first, first + count * stride, stride):
        if m[cell] >= tables.TAG_NUMBERED:
            number = below(h, m[cell] & tables.TAG_MASK, h[state.N_VALUES])
            m[cell] = h[h[state.VALUES] + number]


@device_function
def created(h: Cells) -> None:
    """See that what was upgraded is first called in the order in which it stands."""
    for new in range(h[state.N_CREATED], h[state.N_ORDERED]):
        is_one = h[h[state.ORDER] + new * state.O_WIDTH + state.O_SORT] == state.LIFETIME
        if is_one and h[state.USED] & (1 << (new & 31)):
            require(h, new == h[state.N_CREATED])
            h[state.N_CREATED] = new + 1


@device_function
def leave_function(h: Cells, m: Cells) -> None:
    """End a body: every block is there, and every value that is used."""
    noinline()
    if (
        h[state.FUNCTION] < 0
        or h[state.IN_BLOCK]
        or not h[state.DECLARED]
        or m[tables.N_BLOCKS] != h[state.END_BLOCK]
        or h[state.BUNDLED]
    ):
        h[state.FAULT] = 1
        return
    operands, bundled = h[state.FIRST_OPERAND], h[state.FIRST_BUNDLED]
    bindings = h[state.FIRST_BINDING]
    resolve(h, m, m[tables.OPERANDS] + operands, m[tables.N_OPERANDS] - operands, 1)
    resolve(h, m, m[tables.BUNDLE_OPERANDS] + bundled, m[tables.N_BUNDLE_OPERANDS] - bundled, 1)
    values = m[tables.BINDINGS] + bindings * tables.V_WIDTH + tables.V_VALUE
    resolve(h, m, values, m[tables.N_BINDINGS] - bindings, tables.V_WIDTH)
    if h[state.USED]:
        created(h)
    h[state.N_VALUES], h[state.N_MD] = h[state.N_MODULE_VALUES], h[state.N_MODULE_MD]
    h[state.FUNCTION] = -1


@device_function
def open_block(h: Cells, m: Cells) -> None:
    """Begin the next block."""
    new = m[tables.N_BLOCKS]
    if new >= h[state.END_BLOCK]:
        h[state.FAULT] = 1
        return
    row = m[tables.BLOCKS] + new * tables.B_WIDTH
    m[row + tables.B_NAME], m[row + tables.B_FUNCTION] = 0, h[state.FUNCTION]
    m[row + tables.B_FIRST] = m[tables.N_INSTRUCTIONS]
    m[tables.N_BLOCKS] = new + 1
    h[state.IN_BLOCK] = 1


@device_function
def opaque(h: Cells, m: Cells, row: int, code: int) -> None:
    """Make the last instruction an opaque one: what it is, then every operand that was read."""
    noinline()
    first = m[tables.OPERANDS] + m[row + tables.I_FIRST]
    end = m[tables.OPERANDS] + m[tables.N_OPERANDS]
    for cell in range(end, first, -1):
        m[cell] = m[cell - 1]
    m[first] = plain_constant(m, METADATA_CONSTANT, tables.METADATA, tables.INSTRUCTION_TEXT - code)
    m[tables.N_OPERANDS] += 1
    m[row + tables.I_OPCODE] = OPAQUE
    m[row + tables.I_SUB] = 0
    m[row + tables.I_ALIGN] = 0
    m[row + tables.I_FLAGS] = 0
    m[row + tables.I_ABOUT] = -1
    h[state.N_UNKNOWN] += 1
    notice(m, tables.INSTRUCTION_TEXT - code)


@device_function
def reads_unset(m: Cells, row: int) -> bool:
    """Return whether an instruction loads from, or copies, `@kleene.unset` or bytes behind it.

    Or stores there, which keeps locals in memory (`frontends.c.kept`).
    """
    noinline()
    opcode = m[row + tables.I_OPCODE]
    place = 0 if opcode == LOAD else 1 if opcode == STORE else 2  # behind callee and destination
    if (opcode != LOAD and opcode != STORE and opcode != CALL) or (
        m[tables.N_OPERANDS] <= m[row + tables.I_FIRST] + place
    ):
        return False
    constant = constant_row(m, m[m[tables.OPERANDS] + m[row + tables.I_FIRST] + place])
    if constant >= 0 and m[constant + tables.C_KIND] == EXPRESSION:
        if m[constant + tables.C_OPCODE] != GEP:
            return False
        inner = m[m[tables.CONSTANT_OPERANDS] + m[constant + tables.C_FIRST]]
        constant = constant_row(m, inner)
    return (
        constant >= 0
        and m[constant + tables.C_KIND] == POISON
        and m[constant + tables.C_PAYLOAD] == UNSET_PAYLOAD
    )


@device_function
def instruction(c: Cells, h: Cells, m: Cells, code: int) -> None:
    """Append the instruction of the record at hand."""
    noinline()
    if not h[state.IN_BLOCK]:
        open_block(h, m)
        if h[state.FAULT]:
            return
    row = new_instruction(m)
    h[state.UNKNOWN] = 0
    instruction_record(c, h, m, row, code)
    if h[state.FAULT] or m[tables.ERROR]:
        return
    h[state.IS_LEFT_OUT] = h[state.UNSET] >= 0 and reads_unset(m, row)
    if h[state.IS_LEFT_OUT]:
        m[tables.N_OPERANDS] = m[row + tables.I_FIRST]
        if m[row + tables.I_OPCODE] == LOAD:
            type_id = m[row + tables.I_TYPE]
            define(h, plain_constant(m, UNDEF, type_id, 0), type_id)
        return
    is_last = m[row + tables.I_OPCODE] <= LAST_TERMINATOR
    opcode = m[row + tables.I_OPCODE]
    if h[state.UNKNOWN]:
        opaque(h, m, row, code)
    is_call = opcode == CALL or opcode == INVOKE or opcode == CALLBR
    require(h, is_call or not h[state.BUNDLED])
    h[state.BUNDLED] = 0
    if m[row + tables.I_TYPE] != tables.VOID:
        define(h, tables.TAG_INSTRUCTION + m[tables.N_INSTRUCTIONS], m[row + tables.I_TYPE])
    m[tables.N_INSTRUCTIONS] += 1
    if is_last:
        h[state.IN_BLOCK] = 0


@device_function
def function_record(c: Cells, h: Cells, m: Cells, nodes: Nodes, record: int) -> None:
    """Read one record of a body."""
    code = c[record * R_WIDTH + R_CODE]
    go_to(c, h, record)
    if h[state.FUNCTION] < 0:
        h[state.FAULT] = 1
    elif code == bitcodes.INST_DEBUG_LOC_AGAIN or code == bitcodes.INST_DEBUG_LOC:
        debug_location(c, h, m, nodes, code == bitcodes.INST_DEBUG_LOC)
    elif bitcodes.DEBUG_VALUE <= code <= bitcodes.DEBUG_DECLARE_VALUE:
        debug_record(c, h, m, code)
    elif code == bitcodes.INST_DECLAREBLOCKS:
        require(h, not h[state.DECLARED])
        require(h, item(c, h) == h[state.END_BLOCK] - h[state.FIRST_BLOCK])
        h[state.DECLARED] = 1
    elif code == bitcodes.INST_OPERAND_BUNDLE:
        bundle(c, h, m)
    elif code != bitcodes.INST_BLOCKADDR_USERS:
        instruction(c, h, m, code)


@device_function
def name_record(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, record: int) -> None:
    """Read the name of a value or block."""
    noinline()
    code = c[record * R_WIDTH + R_CODE]
    if code != bitcodes.VST_ENTRY and code != bitcodes.VST_BBENTRY:
        h[state.FAULT] = 1
        return
    go_to(c, h, record)
    number, name = item(c, h), symbol_of(text, s, item(c, h))
    if code == bitcodes.VST_BBENTRY:
        first = h[state.FIRST_BLOCK]
        row = first + below(h, number, m[tables.N_BLOCKS] - first)
        m[m[tables.BLOCKS] + row * tables.B_WIDTH + tables.B_NAME] = name
        return
    if number < h[state.N_MODULE_VALUES] or number >= h[state.N_VALUES]:
        h[state.FAULT] = 1
        return
    tagged = h[h[state.VALUES] + number]
    if tables.TAG_ARGUMENT <= tagged < tables.TAG_BLOCK:
        m[m[tables.ARGUMENTS] + (tagged & tables.TAG_MASK) * tables.A_WIDTH + tables.A_NAME] = name
    elif tagged >= tables.TAG_INSTRUCTION:
        m[m[tables.INSTRUCTIONS] + (tagged & tables.TAG_MASK) * tables.I_WIDTH + tables.I_NAME] = (
            name
        )
    elif constant_row(m, tagged) < 0:  # else of a load that is left out
        h[state.FAULT] = 1


@device_function
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
            h[state.FIRST_CONSTANT] = h[state.N_VALUES]
            h[state.CONSTANT_TYPE] = tables.VOID
        else:
            make_all(c, h, m)


@device_function
def read_head(text: Text, s: Cells, c: Cells, h: Cells, m: Cells, n_records: int) -> int:
    """Read types, attributes and tags; return the record where reading stopped, or how many."""
    noinline()
    for zero in range(state.ZERO_TEXTS, state.ZERO_TEXTS + 3):
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
        if h[state.FAULT] or m[tables.ERROR]:
            return record
    return n_records


@device_function
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
        if h[state.FUNCTION] < 0 or left(h) == 0:
            h[state.FAULT] = 1
            return
        attachment(c, h, m)
    elif block == bitcodes.CONSTANTS:
        declare(text, s, c, h, record)
    elif block == bitcodes.VALUE_SYMTAB and h[state.FUNCTION] >= 0:
        name_record(text, s, c, h, m, record)


@entry_point
def read_records(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, n_records: int
) -> int:
    """Read all records into the tables; return the one where reading stopped, or how many."""
    return _read_records(
        as_pointers(text),
        as_pointers(s),
        as_pointers(c),
        as_pointers(h),
        as_pointers(m),
        as_pointers(nodes),
        n_records,
    )


@device_function
def _read_records(
    text: Text, s: Cells, c: Cells, h: Cells, m: Cells, nodes: Nodes, n_records: int
) -> int:
    h[state.FUNCTION] = -1
    stopped = read_head(text, s, c, h, m, n_records)
    if h[state.FAULT] or m[tables.ERROR]:
        return stopped
    all_globals(text, s, c, h, m)
    for record in range(n_records):
        if h[state.FAULT] or m[tables.ERROR] or m[tables.FULL]:
            return record - 1
        code = c[record * R_WIDTH + R_CODE]
        if code == ENTER or code == LEAVE:
            block_end(h, m, c, c[record * R_WIDTH + R_BLOCK], code == ENTER)
        else:
            body_record(text, s, c, h, m, nodes, record)
    if h[state.N_BODIES] == 0:
        h[state.N_MODULE_VALUES] = h[state.N_VALUES]
    require(h, h[state.N_BODIES] == h[state.MAX_BODIES])
    initializers(h, m)
    return n_records
